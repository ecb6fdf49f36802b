// Generated from sdk/js by `npm run build && npm run embed` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var V=(n,t,e)=>{if(e<0||!n||!t)return n.length+t.length<=e;let[s,i]=[n.slice(1),t.slice(1)];return n[0]===t[0]&&V(s,i,e)||
V(s,t,e-1)||V(n,i,e-1)||V(s,i,e-1)},Ns=[[/^$/,"this is empty. Is a variable of the environment missing?"],[/^bearer/i,'l\
eave out "Bearer"'],[/^\s*[{[]/,"this is JSON. Pass its member token"],[/^(undefined|null|NaN)$|[${}<>%]|^your/i,"this i\
s a placeholder that nothing has replaced"],[/\s/,"this one has white space, such as a line break from a file"],[/^MT_/,
"this is a master token, which stays on the backend. Issue an access token with it"],[/^AT_/,"this is an access token. T\
okenAdmin needs the master token"]],Oe="tokens of A-Z a-z 0-9 - _ ~ @ with a dot between them, at most 32 and 256 bytes",
Us={tenant:"a tenant has 1 to 128 of A-Z a-z 0-9 - _ ~ @ and dots",channel:`a channel has ${Oe}, and no wildcard; channe\
lToken(text) makes a token of any text`,pattern:`a pattern has ${Oe}, * for one of them, a* for its beginning, and # or \
> for the rest, as the last`},Is=n=>n===null?"null":typeof n,_e={nearest(n,t){let e=[0,1,2].map(s=>t.find(i=>V(i.toLowerCase(),
n.toLowerCase(),s))).find(Boolean);return e?`. Did you mean ${JSON.stringify(e)}?`:""},secret(n){return typeof n!="strin\
g"?`this is no string (${Is(n)})`:Ns.find(([t])=>t.test(n))?.[1]??"this is none"},rule:n=>Us[n]};var l=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(t,e="\
the edge says so",s={}){let i=["tenant","channel","pattern"].map(o=>s[o]===void 0?"":` (${o} ${JSON.stringify(s[o])})`),
r=/^(unreachable|token_provider|logged_out)$/.test(t)?$e(s.cause):"";super(`${t}${i.join("")}: ${e}${r&&`: ${r}`}`,"caus\
e"in s?{cause:s.cause}:void 0),this.code=t,this.tenant=s.tenant,this.pattern=s.pattern,this.channel=s.channel,this.status=
s.status,this.closeCode=s.closeCode,this.retryAfter=s.retryAfter}};function $e(n){let{message:t,code:e,cause:s}=n??{};return`${(s?
$e(s):"")||t||e||""}`.slice(0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function Ae(n,t,e){let s=t===401?"unauthorized":/^(429|50[234])$/.
test(`${t}`)?"unavailable":"unreachable",{origin:i}=new URL(n.replace(/^ws/,"http")),r=t<500?"it is not a Millrace edge:\
 check host and port":"no edge answers behind it";return new l(s,`${i} answers with HTTP status ${t}, ${r}`,{status:t,retryAfter:e})}
var Z=({code:n,status:t=500})=>n==="unreachable"&&t<500,Y=class extends Error{name="LoggedOutError"};function _(n,t,e){return n instanceof
l?n:new l(t,e,{cause:n})}function E(n){return new l("disconnected","there is no connection to an edge",n===void 0?{}:{cause:n})}var d=()=>performance.now(),L=n=>n.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function v(n){
if(n.aborted)throw L(n)}function O(n,t,e=new Set){return new Promise((s,i)=>{let r=()=>{clearTimeout(h),t.removeEventListener(
"abort",o),e.delete(a)},o=()=>{r(),i(L(t))},a=()=>{r(),s()},h=setTimeout(a,n);e.add(a),t.addEventListener("abort",o),t.aborted&&
o()})}async function N(n,...t){let e,s=new Promise(i=>{e=setTimeout(i,n)});await Promise.race([s,...t]).catch(()=>{}),clearTimeout(
e)}async function U(n,t,e,s="the edge does not answer"){v(n);let i=new AbortController,r=h=>{"reason"in i.signal||Object.
assign(i.signal,{reason:h}),i.abort(h)},o=()=>r(L(n)),a=setTimeout(()=>r(new l("timeout",s)),t);n.addEventListener("abor\
t",o);try{return await e(i.signal)}finally{clearTimeout(a),n.removeEventListener("abort",o),i.abort()}}function M(n,t){return new Promise(
(e,s)=>{let i=()=>s(L(t));t.aborted&&i(),t.addEventListener("abort",i),n.then(e,s).finally(()=>t.removeEventListener("ab\
ort",i))})}function T(n,t){return n<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(n-2,30))}var Ls=1e5,Bs=new Set(["unconfirmed","history_unavailable","try_later"]),Zt=0;async function Me(n,t,e,s,i){let r=e.length>
0;Zt=Zt+1>>>0;let o=Zt,a=t(o),h=!1,c=new AbortController,u=setTimeout(()=>c.abort(E()),Ls),f;try{for(let p=2;;p++){f=await js(
n,r,s,c.signal,i);try{return await M(Rs(f,a,o),c.signal)}catch(m){let{code:g,message:y}=m,k=g==="disconnected";if(h||=k||
g==="unconfirmed",v(c.signal),!(h&&r&&(k||Bs.has(g))))throw new l(g,y.slice(g.length+2),i);k||await O(T(p,n.settings),c.
signal)}}}catch(p){throw h?new l("outcome_unknown","no edge has said whether the message is stored",{...i,cause:p}):p}finally{
clearTimeout(u),f?.confirms?.settle(o)}}async function Rs(n,t,e){if(!n.alive||!n.confirms)throw E();let s=n.confirms.add(
e,t.length);return n.send(t),s}async function js(n,t,e,s,i){for(;;){if(n.over)throw n.over;if(n.held){await M(Promise.resolve(
n.whenOpen(()=>{})),s);continue}let r=n.out;if(r?.alive)if(r.features===void 0)await M(r.featured,s);else{if(r.features.
includes("history")||e&&r.features.includes("work_queue"))return r;throw new l("no_history","the edge has no histories, \
and confirms nothing",i)}else{if(!t)throw E();await M(n.changed(),s)}}}var Cs=4096,nt=class{#t=new Map;#e=[];#s=0;#i;add(t,e){return this.note(e),new Promise((s,i)=>{this.#t.set(t,{resolve:s,
reject:i,size:e})})}note(t,e){t<=Cs||t<this.#s||(this.#i=t>this.#s?e:this.#i??e,this.#s=t)}tooLarge(){for(let[t,{size:e}]of this.#t)
e===this.#s&&this.error("payload_too_large",`PUB:${t}`);return this.#i}settle(t,e=()=>{}){let s=this.#t.get(t);if(s&&e(s),
this.#t.delete(t),this.#t.size===0)for(let i of this.#e.splice(0))i()}error(t,e,s){let i=/^PUB:(\d+)$/.exec(e)?.[1];return i===
void 0?!1:(this.settle(Number(i),r=>r.reject(new l(t,s))),!0)}get owed(){return this.#t.size>0}idle(){return this.#t.size===
0?Promise.resolve():new Promise(t=>{this.#e.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(E()))}};function b(n){throw new l("bad_option",n)}var Ws=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::([a-z_]+))?$/,qs=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function Ne(n){
let[,t,e="",s="",i="",r]=Ws.exec(n)??[];if(t&&Q(i)){let h={kind:t,tenant:e,pattern:s,position:i};if(t==="OK:RSUB")return/^(complete|gap)$/.
test(`${r}`)?{...h,how:r}:void 0;if(r===void 0||t==="GAP")return r?{...h,reason:r}:h}let[,o,a]=qs.exec(n)??[];if(!(o===void 0||
Number(o)>4294967295||a!==void 0&&!Q(a)))return a===void 0?{kind:"OK:PUB",id:Number(o)}:{kind:"OK:PUB",id:Number(o),position:a}}
function Q(n){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.exec(n)??[];return t!==void 0&&e!==void 0&&
Pe(t)&&Pe(e)}var Pe=n=>n.length<20||n<="18446744073709551615";var Ue=1e5;function Ie(n,t){if(n==="now"||n==="last")return n;let{last:e,after:s}=n;return typeof s=="string"&&e===void 0&&
Q(s)?s:((!Number.isInteger(e)||e<1||e>Ue||s!==void 0)&&b(`history is "now", "last", { last: 1 to ${Ue} } or { after: pos\
ition }`),/[*>#]/.test(t)&&b("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}var rt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){
this.from=t}get position(){return Q(this.from)?this.from:void 0}get refusal(){return this.forbidden?"no_right":this.plain?
"no_history":void 0}begin(t){this.on=t,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=
void 0,this.open=!1}takes(t,e){return this.on===t&&this.open&&!this.plain&&!Ds(e,this.from)}};function Ds(n,t){let[e,s=""]=n.
split("."),[i,r]=t.split(".");return e===i&&r!==void 0&&(s.length===r.length?s<=r:s.length<r.length)}var Le;function Be(n){return Le??=new TextDecoder("utf-8",{ignoreBOM:!0}),Le.decode(n)}var C=class{tenant;channel;payload;pattern;patterns;late;position;sender;own;toOne;#t;constructor(t,e,s,i,r,o,a,h="",c,u=!1){
this.tenant=t,this.channel=e,this.payload=s,this.pattern=i,this.patterns=r,this.late=o,this.position=a,this.sender=h,this.
own=c!==void 0,this.toOne=u,this.#t=c}get key(){return this.#t?.length?Be(this.#t):void 0}get time(){return this.position===
void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Be(this.payload)}json(){return JSON.parse(this.
text().replace(/^\uFEFF/,""))}};var ot=class{#t=new Map;#e=new Map;#s=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,i=`${e}:${s}`,
r=this.#t.get(i),{history:o}=t,a=r??{name:i,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o,credit:new WeakMap,
lost:0};return a.subs.push(t),this.#t.set(i,a),this.#s++,{interest:a,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){
return this.#t.get(t.name)===t}remove(t){let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||
s<0))return e.subs.splice(s,1),e.subs.length===0&&this.drop(e)?e:void 0}drop(t){this.#s++;let e=this.has(t)&&this.#t.delete(
t.name);return e&&this.#e.set(t.name,t),e}ended(t){this.#s++,this.#e.get(t.name)===t&&this.#e.delete(t.name)}dispatch(t,e=!1,s){
let{tenant:i,channel:r,payload:o,route:a,sender:h,own:c,toOne:u=!1}=t,f=a.note?.tenant===i&&a.note.version===this.#s?a.note:
this.#i(i,a);for(let p of f.interests){let{pattern:m,subs:g,history:y,credit:k}=p;if(y&&!y.plain)continue;if(u){let w=s&&
k.get(s);w&&k.set(s,w-1),g.length===0&&p.lost++}let x=new C(i,r,o,m,a.patterns,e,void 0,h,c,u);if(g.length===1)g[0].push(
x);else for(let w of[...g])w.push(x)}}#i(t,e){let s=e.patterns.map(i=>this.#t.get(`${t}:${i}`)??this.#e.get(`${t}:${i}`)).
filter(i=>i!==void 0);return e.note={tenant:t,version:this.#s,interests:s},e.note}};var at=class{interests=new ot;asking=new Set;#t;#e=new Set;constructor(t){this.#t=t}async restore(t){let e=this.interests.
all;e.some(i=>i.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(i=>!i.history);await Promise.all(s.map(i=>this.
ask(t,i)))}ask(t,e){let s=this.#s(t,e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.
history?await this.#t.histories?.ask(t,e,e.history):(await this.#i(t,e),this.confirm(e),this.credit(e))}catch(s){let i=_(
s,"internal","a fault of this client");if(i.code==="disconnected")return;if(e.confirmed&&this.#t.suspected&&t===this.#t.
next)return t.fail(i);this.#n(e,i)}}confirm(t){t.confirmed=!0;for(let{resolve:e}of t.waiting.splice(0))e()}async#i(t,e){
let{name:s,tenant:i,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(a){let h=a;if(h.code!=="try\
_later"||!ht(e))throw h;o===2&&this.#t.events.emit("subscriptionError",{tenant:i,pattern:r,code:h.code})}await t.postpone(
s,T(o,this.#t.settings))}}#n(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:i,subs:r,waiting:o}=t;for(let a of[
this.#t.current,this.#t.next])a?.forget(t.name)&&a.leave(t.name);ht(t)&&this.#t.events.emit("subscriptionError",{tenant:s,
pattern:i,code:e.code});for(let a of r)a.end(e);for(let{reject:a}of o.splice(0))a(e);this.interests.ended(t)}async subscribe(t){
let{tenant:e,pattern:s}=t,i;for(;;){if(this.#t.over)throw this.#t.over;i=this.interests.of(e,s);let h=u=>u?.ending.get(`\
UNSUB:${e}:${s}`),c=h(this.#t.current)??h(this.#t.next);if(i||!c)break;await c}if(i&&(i.history||t.history)){let h="the \
client has a subscription to this pattern, and one with a history is alone";throw new l("bad_option",h,i)}let{interest:r,
isNew:o}=this.interests.add(t);if(r.confirmed)return;let a=new Promise((h,c)=>{r.waiting.push({resolve:h,reject:c})});return o&&
(this.#t.current&&!this.#t.leaving&&this.ask(this.#t.current,r),this.#t.next&&!r.history&&this.ask(this.#t.next,r)),a}async leave(t){
let e=this.interests.remove(t);e&&await this.#r(e)}async drain(t){this.#e.add(t),t.ended.then(()=>this.#e.delete(t));let e=this.
interests.of(t.tenant,t.pattern);if(e?.subs.length!==1||e.subs[0]!==t)return this.leave(t);this.interests.drop(e)&&await this.#r(
e)}async drainAll(){for(let{subs:t}of this.interests.all)for(let e of[...t])e.drain();await Promise.all([...this.#e].map(
({ended:t})=>t))}async#r(t){for(let{resolve:h}of t.waiting.splice(0))h();let{name:e,tenant:s,pattern:i,history:r}=t,a=[this.#t.
current,this.#t.next].filter(h=>h?.forget(e)||h&&r?.on===h).map(h=>h.leave(e));await(this.#t.suspected&&a.length>0?Promise.
race(a):Promise.all(a)),this.interests.ended(t),this.discarded({tenant:s,pattern:i},t.lost)}credit(t){let{current:e,leaving:s}=this.#t,
{name:i,subs:r,history:o}=t;if(!e?.alive||s||o||!e.confirmed.has(i)||!e.features?.includes("work_queue"))return;let a=t.
credit.get(e)??0,h=Math.min(...r.map(u=>u.window)),c=h-a-Math.max(...r.map(u=>u.jobs));c<1||2*c<h||(t.credit.set(e,a+c),
e.tell(`CREDIT:${i}:${c}`))}follow(){for(let t of this.interests.all)this.credit(t)}took({tenant:t,pattern:e}){let s=this.
interests.of(t,e);s&&this.credit(s)}discarded({tenant:t,pattern:e},s){s>0&&this.#t.events.emit("discarded",{tenant:t,pattern:e,
count:s})}wasRead(t){this.#t.histories?.wasRead(t)}queueFull({tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,
pattern:e,dropped:s})}end(t,e){for(let s of this.interests.all){this.interests.drop(s);for(let i of s.subs)i.end(t);for(let{
reject:i}of s.waiting.splice(0))i(t??e);this.interests.ended(s)}}};function ht({subs:n,waiting:t}){return n.length>t.length}var Gs=new Set(["expired","purged","late","lost","behind","no_right","no_history"]),zs=1024,ct=class{#t;#e=new Map;constructor(t){
this.#t=t}begin(t,e){return new rt(Ie(t,e))}async publish(t,e,s,i){let r=await Me(this.#t,t,e,s,i);return r!==void 0&&(this.#e.
set(r,e),this.#e.size>zs&&this.#e.delete(this.#e.keys().next().value)),r}confirms(){return new nt}line(t,e){let s=Ne(e);
s?.kind==="OK:PUB"?t.confirms?.settle(s.id,i=>i.resolve(s.position)):s&&(this.#s(t,s),s.kind==="OK:RSUB"&&t.resumed(`${s.
tenant}:${s.pattern}`))}async resume(t){let{interests:e}=this.#t.subscriber,s=e.all.filter(({history:i})=>i);await Promise.
all(s.map(i=>this.#t.subscriber.ask(t,i)))}stored(t,e,s){let{tenant:i,channel:r,payload:o,route:a,sender:h,own:c=this.#e.
get(s)}=e,{patterns:u}=a,f=u[0],p=this.#t.subscriber.interests.of(i,f),{history:m}=p??{};if(!p||!m?.takes(t,s))return;m.
from=s,p.subs[0]?.pushStored(new C(i,r,o,f,u,!1,s,h,c))===!1&&this.#t.subscriber.interests.has(p)&&(m.pause(),t.leave(p.
name)),this.#t.subscriber.confirm(p)}#s(t,e){let{kind:s,tenant:i,pattern:r,position:o}=e,a=this.#t.subscriber.interests.
of(i,r),{history:h}=a??{};if(!(!a||!h||h.plain)){if(h.on!==t||!h.open){s==="GAP"&&h.paused&&t===this.#t.current&&this.#i(
i,r,o,e.reason);return}if(s==="GAP"||h.takes(t,o)){h.from=o;for(let c of a.subs)c.reach(o)}s==="GAP"?(h.told=!0,this.#i(
i,r,o,e.reason)):s==="OK:RSUB"&&(this.#t.subscriber.confirm(a),e.how==="gap"&&!h.told?this.#i(i,r,o):h.lossy&&this.#i(i,
r,void 0,h.refusal))}}#i(t,e,s,i="unknown"){this.#t.gaps=!0,this.#t.events.emit("gap",{tenant:t,pattern:e,before:s,reason:Gs.
has(i)?i:"unknown"})}wasRead(t){let e=this.#t.subscriber.interests.of(t.tenant,t.pattern),{current:s}=this.#t;!e?.history||
e.history!==t.history||(e.history.paused=!1,s&&this.#t.subscriber.ask(s,e))}async ask(t,e,s){let{name:i,tenant:r,pattern:o}=e;
if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===t)){s.begin(t);for(let a=2;;){if(await t.featured,await t.ending.get(`\
UNSUB:${i}`),!t.alive||s.on!==t||!this.#t.subscriber.interests.has(e))return;let h=!t.features?.includes("history")||s.unwanted,
c=s.forbidden?"now":s.from,u=ht(e);s.lossy=h?u||c!=="now":s.forbidden||u&&c==="now",s.plain=h,s.open=!0,h&&(s.from="now");
try{if(!h)return await t.resume(i,c);if(await t.request("SUB",i),!this.#t.subscriber.interests.has(e))return;this.#t.subscriber.
confirm(e),s.lossy&&this.#i(r,o,void 0,s.refusal);return}catch(f){let p=f;if(p.code==="history_unavailable")return this.#t.
gaps=!0,this.#t.events.emit("edgeError",{code:p.code,detail:`RSUB:${i}`});if(s.open=!1,p.code==="permission_denied"&&!h&&
c!=="now")s.forbidden=!0;else if(p.code==="no_history"&&u)s.unwanted=!0;else if(p.code==="try_later"&&u)a===2&&this.#t.events.
emit("subscriptionError",{tenant:r,pattern:o,code:p.code}),await t.postpone(i,T(a++,this.#t.settings)),t.postponed.delete(
i);else throw p}}}}};function ft(n,t){let e;try{e=new URL(n)}catch{}(e?.username||e?.password||e?.search||e?.hash)&&b("an address has no user\
, no query and no fragment: the token is an option");let s=JSON.stringify(String(n).slice(0,256));(typeof n!="string"||!/^[a-z]+:\/\//i.
test(n))&&b(`the address ${s} must be a URL with https:// or http://, such as "https://edge.example.com"`),e||b(`the add\
ress ${s} is not a legal URL: look for spaces, and a port above 65535`);let{protocol:i,host:r,hostname:o,pathname:a}=e;return(/^wss?:$/.
test(i)||/^\/w[st]$/.test(a))&&b(`the address ${s} is that of a socket: pass the origin, "${i.replace("ws","http")}//${r}\
"`),/^https?:$/.test(i)||b(`the address ${s} must begin with https:// or http://`),i==="http:"&&!t&&!Fs(o)&&b(`the addre\
ss ${s} would show the token on the way: use https://, or set allowPlaintext where that is safe`),e}function Fs(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.
test(n)}async function Re(n,t,e){try{let s=await t.runtime.fetch(n,t,{cache:"no-store",credentials:"omit",signal:e});return{status:s.
status,pong:s.ok&&(await s.text()).trim()==="pong"}}catch{return{status:0,pong:!1}}}async function je(n,t,e){try{let s=await t.
runtime.fetch(n,t,{cache:"no-store",credentials:"omit",signal:e});return await s.arrayBuffer(),s.ok}catch{return!1}}async function Ce(n,t,e){
try{return await t.runtime.fetch(n,t,{cache:"no-store",credentials:"omit",mode:"no-cors",signal:e}),!0}catch{return!1}}var We=3,Hs=500;async function qe(n,t,e){let s,i=await Promise.all(n.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await U(e,t.connectTimeout,a=>Ks(o,t,a))}catch(a){return s=a,[]}})),r=[...new Set(i.flat())];if(v(e),r.length===
0)throw s??new l("unreachable","the list has no edge");return r.length>1&&(await U(e,t.connectTimeout,o=>Js(r,t,o)).catch(
()=>{}),v(e)),r}async function Ks(n,t,e){try{let s=await t.runtime.fetch(n.href,t,{cache:"no-store",credentials:"omit",signal:e});
if(!s.ok)throw new l("unreachable",`the list of edges: HTTP status ${s.status}`,{status:s.status});let{edges:i}=await s.
json();return i.map(({host:r})=>ft(`https://${r}`,!1).origin)}catch(s){throw _(s,"unreachable","the list of edges")}}async function Js(n,t,e){
let s=new Map,i,r=new Promise(c=>{i=c}),o=async c=>{let u=[];for(;u.length<We;){let f=d();if(!await je(c+t.paths.ping,t,
e))return;u.push(d()-f)}u.sort((f,p)=>f-p),s.set(c,u[We>>1]),i()},a=n.map(o);await Promise.race([Promise.all(a),r.then(()=>O(
Hs,e))]);let h=c=>s.get(c)??Number.MAX_VALUE;n.sort((c,u)=>h(c)-h(u))}var Xs=.9765625,Vs=1e3,Ys=32,lt=class{#t=0;#e=0;#s=0;#i=0;#n;#r;#o=Xs;publish(t,e){let s=this.#t++===this.#e;return this.#a(
t,e,s),s}request(t,e,s){let i=this.waits(s)===void 0;return this.#a(t,e,i),i}#a(t,e,s){this.#i+=t+Ys,this.#r??=e,s&&(this.#n=
e)}waits(t){return this.#t===this.#e&&t>=(this.#n??t)?void 0:this.#n}mark(){let t={publishes:this.#t,bytes:this.#i,first:this.#r};
return this.#e=this.#t,this.#i=0,this.#n=this.#r=void 0,t}proven({publishes:t,bytes:e,first:s},i){this.#s=Math.max(this.#s,
t),s!==void 0&&(this.#o=Math.min(this.#o,(i-s+Vs)/e))}sendTime({bytes:t}){return t*this.#o}told(){this.#s++}take(){let t=this.#t-
this.#s;return this.#s=this.#t,t}};var tt=1e3,Zs=3,Qs=2**31-1,ut=2e3,Qt=50,W=class{heard=d();c;settings;spread=1+Math.random()/16;woken=0;over=!1;#t=0;#e;constructor(t,e){
this.c=t,this.settings=e}arrived(t){this.heard=t}active(t){}ponged(t){this.#t=0,this.arm()}awake(t){let e=d();this.asking||
(this.#t=0),!(this.over||this.#t++>=Zs)&&(this.woken=e,this.settings.keepAlive>0&&!this.asking&&(t||e-this.heard>=tt)&&this.
ask(e),this.arm())}stop(){this.over=!0,clearTimeout(this.#e)}get asking(){return this.c.unanswered}get patience(){return this.
settings.keepAlive}get askAt(){let{keepAlive:t}=this.settings;if(t<0)return 1/0;let e=this.c.unreadSince??1/0;return Math.
min(this.heard+this.patience*this.spread,e+Math.min(1e3,t))}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:i}=this.
settings;return s<0?1/0:Math.max(t,this.heard,this.woken)+i+e}dueAt(t){return this.lostAt(t)}arm(){clearTimeout(this.#e);
let t=this.asking,e=t?this.dueAt(t):this.askAt;if(this.over||e===1/0)return;let s=d(),i=Math.max(e,s+1);this.#e=setTimeout(
()=>this.#s(i),Math.min(i-s,Qs))}#s(t,e=!1){this.look();let s=d();if(s-t>=ut&&this.awake(!1),this.over)return;if(!e&&s-t>
Qt){clearTimeout(this.#e),this.#e=setTimeout(()=>this.#s(s+Qt,!0),Qt);return}let i=this.asking;if(!i)s>=this.askAt&&this.
ask(s);else{if(s>=this.lostAt(i))return this.c.over();this.judge(i,s)}this.arm()}look(){}judge(t,e){}ask(t){this.c.ask()}probe(){
this.c.probe()}};var dt=class{#t;#e=0;#s=0;#i=0;#n=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#i=this.#n=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#n=this.#i,this.#i=0,this.#e=
t),e>this.#i&&(this.#i=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#i,this.#n)))}};var ne=1e3,pt=new Set,te,wt=0,ee=0,se=0,De=-1/0,Ge=n=>n>se&&n<De+ne?se:n;function ti(n,t){return n>=ne+ut||t-n>=ut}function re(){
let n=d()-wt,t=Date.now()-ee;ti(n,t)&&(mt.document?.visibilityState==="hidden"?gt("slept"):ie()),wt+=n,ee+=t}function ze(n){
return pt.add(n),te??=ei(),()=>{!pt.delete(n)||pt.size>0||(te?.(),te=void 0)}}function ie(){se=wt,De=d(),gt("slept")}function gt(n){
for(let t of[...pt])t[n]()}var mt=globalThis;function ei(){wt=d(),ee=Date.now();let n=setInterval(re,ne),{document:t,navigator:e}=mt,
s=()=>{t?.visibilityState==="visible"&&gt("slept")},i=()=>gt("networkChanged"),r=e?.connection,o=r?.type,h=[[mt,"online",
i],[r,"change",()=>{r?.type!==o&&(o=r?.type,i())}],[mt,"pageshow",ie],[t,"resume",ie],[t,"visibilitychange",s]];for(let[
c,u,f]of h)c?.addEventListener?.(u,f);return()=>{clearInterval(n);for(let[c,u,f]of h)c?.removeEventListener?.(u,f)}}var oe=1e3,bt=class extends W{#t=new dt(this.heard);#e=-1/0;#s=!1;#i;#n=0;#r=-1/0;#o=-1/0;#a;#h;arrived(t){super.arrived(
t),this.#a=void 0,this.#h?.abort(),this.#h=void 0,(this.#s?this.#t.skip(t):this.#t.arrived(t))&&this.arm(),this.#s&&(this.#s=
!1,this.c.woke())}active(t){let e=this.#c;this.#e=t,e||this.arm()}get#c(){return this.heard-this.#e<1e4}ponged(t){let e=Math.
min(t,2*this.#f);this.#i===void 0?(this.#i=e,this.#n=e/2):(this.#n+=(Math.abs(this.#i-e)-this.#n)/4,this.#i+=(e-this.#i)/
8),super.ponged(t)}stop(){super.stop(),this.#h?.abort()}get asking(){return super.asking??this.#a}get#f(){return Math.max(
tt,(this.#i??0)+4*this.#n)}get patience(){let t=this.#c?this.#t.unusual:1/0;return Math.min(super.patience,t,this.c.owed?
3e3:1/0)}suspectAt({at:t,sendTime:e}){return Math.max(t,this.heard,this.woken)+(this.#a?tt:this.#f)+e}lostAt({at:t,sendTime:e}){
let{keepAlive:s,pongTimeout:i}=this.settings;if(s<0)return 1/0;let r=Math.max(this.heard,this.woken);return Math.max(t+i,
r+s+i)+e}look(){re()}dueAt(t){return Math.min(this.#s?1/0:this.#l(t),super.dueAt(t),this.#r+oe)}#l(t){return Math.max(this.
suspectAt(t),this.#o+oe)}judge(t,e){!this.#s&&e>=this.#l(t)&&this.#u(e),this.over||this.probe()}#u(t){this.#s=this.c.silent(),
this.#s||(this.#o=t)}ask(t){if(this.c.pingFirst===void 0||this.c.unreadSince!==void 0)return this.c.ask();this.#a={at:t,
sendTime:0},this.#r=-1/0,this.probe()}probe(){let t=d();t-this.#r<oe||(this.#r=t,this.c.pingFirst!==void 0&&(this.#s||this.#a)?
this.#d(this.c.pingFirst):this.c.probe())}async#d(t){if(this.#h)return;let e=new AbortController;this.#h=e;let s=setTimeout(
()=>e.abort(),tt),i=await Ce(t,this.settings,e.signal);clearTimeout(s),!(this.over||this.#h!==e)&&(this.#h=void 0,i?(this.#a=
void 0,this.c.unanswered?this.c.probe():this.c.ask()):this.#a&&(this.#a={at:-1/0,sendTime:0}),this.arm())}};function B({tenant:n,channel:t,payload:e}){let s=`${n}:${t}:`;for(let i=0;i<e.length;i+=1024)s+=String.fromCharCode(...e.
subarray(i,i+1024));return s}var $=class{size=0;#t=0;#e=[];#s=0;#i=new Map;get oldest(){for(;this.#e[this.#s]?.entry===void 0&&
this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.flatMap(({entry:t})=>t??[])}put(t,e,s){
this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=0);let i={entry:{key:t,time:e,message:s}};
this.#e.push(i);let r=this.#i.get(t);return r?r.push(i):this.#i.set(t,[i]),this.size++,this.#t+=t.length,this.size>65536||
this.#t>16777216?this.drop():void 0}take(t){let e=this.#i.get(t),s=e?.shift();return!e||!s?!1:(e.length===0&&this.#i.delete(
t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;return t&&this.take(t.key),t}dropUntil(t){let e=[];
for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&e.push(s.message);return e}};var Fe=1e3,ni=1e4,q=class{#t=new $;#e=new $;#s=new $;#i=Fe;#n;joined(t){this.#n=t}left(t){this.#i+=this.#r(t),this.#n=void 0}#r(t){
return this.#n===void 0?0:Math.min(t-this.#n,ni-Fe)}fromCurrent(t,e){let s=B(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(B(t),e),t;let i=this.#e.put(
B(t),e,{...t});return i&&this.#s.put(i.key,e),i?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(B(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new $;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#n=void 0,this.#t=new $;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new $}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#i-this.#r(
t))}};var yt=250,kt=2e3;async function vt(n,t,e,s,i){for(;n.merger&&!n.merger.done(d());)await O(50,s);n.merger=new q,n.both=!0;
let r=i!==void 0;n.tentative=r;let{place:o}=n,a=!1,h=()=>{a||n.events.emit("moving",{...o,reason:e}),a=!0};r||h();let c=0;
for await(let u of n.searcher.order(t.edge,e!=="drain",s)){let f=i;if(i=void 0,!f){await n.pause(Math.max(T(++c,n.settings),
n.searcher.wait(u)),s);try{f=await n.searcher.open(u,s)}catch(p){if(v(s),!(p instanceof l)||n.searcher.hopeless(u,p,!0))
throw p;continue}}if(s.aborted)return void f.close();if(f.alive){n.next=f,n.merger.joined(d()),n.merger.release();let p=n.
restore(f);n.tentative&&f.ping().catch(()=>{}),await p}if(n.tentative){if(v(s),n.next!==f)return n.keepCurrent();n.tentative=
!1}if(f.alive){if(await ri(n,t,f,h,s),v(s),n.current!==f){if(r)return n.keepCurrent();continue}f.alive&&(h(),n.since=d(),
n.events.emit("moved",{...n.place,reason:e}));return}}}async function ri(n,t,e,s,i){let r=()=>n.next===e&&n.current===t;
if(!r())return;n.gate??=[];let o=N(kt,t.ping()).then(()=>{r()&&n.openGate(e)}),a=3;do await O(yt,i);while(--a&&n.merger?.
behind);await N(kt,Promise.all([...n.subscriber.asking,...n.presences?.asking??[]]));for(let c=kt;c>0&&r()&&n.presences&&
!n.presences.hasSynced(e);c-=yt)await O(yt,i);for(;r()&&e.postponed.size>0;)await O(yt,i);if(!r())return;s(),n.leaving=!0;
let h=[...t.asked].map(c=>t.leave(c));await N(kt,t.ended,Promise.allSettled([...h,t.ping(),t.confirms?.idle()])),await o,
r()&&n.promote(),n.leaving=!1}var D=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(i=>i.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var He=1<<20,oi=1e3;async function xt({edge:n,token:t,signal:e},s){let{paths:i,runtime:r}=s,{promise:o,resolve:a,reject:h}=hi(),
c=new D,u=!1,f=await r.socket(n.replace("http","ws")+i.webSocket,t,s,{refused(w){u=!0,h(w)},bytes:()=>c.bytes()});f.binaryType!==
"nodebuffer"&&(f.binaryType="arraybuffer");let p=()=>f.terminate?f.terminate():f.close(),m=()=>{h(L(e)),p()};e.addEventListener(
"abort",m),e.aborted&&m();let g=!1,y,k;f.onerror=({error:w})=>{y=w},f.onopen=()=>{if(f.protocol==="refusal.v1"){f.onmessage=
({data:w})=>{let[,S,it]=/^ERR:([a-z_]+)(?::(.*?))?(?::connection=.*)?$/s.exec(String(w))??[];S&&(u=!0,h(new l(S,it)))};return}
g=!0,e.removeEventListener("abort",m),a({transport:"websocket",fragile:!1,start:w=>c.start(w),send:w=>g&&f.send(w),sent:()=>g&&
f.bufferedAmount>He?x():void 0,probe(){},close(){f.close(1e3),k??=setTimeout(()=>{p(),c.ended({})},oi)}})},f.onclose=({code:w})=>{
clearTimeout(k),g?(g=!1,c.ended({closeCode:w})):u||ai(n+i.ping,s,e,y).then(h,h),e.removeEventListener("abort",m)},f.onmessage=
({data:w})=>{typeof w=="string"?c.line(w):ArrayBuffer.isView(w)?c.frame(new Uint8Array(w.buffer,w.byteOffset,w.byteLength),
0,w.byteLength):c.frame(new Uint8Array(w),0,w.byteLength)};async function x(){for(;g&&f.bufferedAmount>He;)await new Promise(
w=>setTimeout(w,5))}return o}async function ai(n,t,e,s){let{status:i,pong:r}=await Re(n,t,e);return i&&!r?Ae(n,i):r?new l(
"refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's origin"):new l("unreachable","\
no WebSocket to the edge",{cause:s})}function hi(){let n,t;return{promise:new Promise((s,i)=>{n=s,t=i}),resolve:n,reject:t}}var G=class{settings;constructor(t){this.settings=t}canWebTransport(t){return!1}forget(){}noteSilent(t,e=!1){}async open(t,e,s,i){
let{transports:r,connectTimeout:o}=this.settings;return r.includes("websocket")||b('transports: WebTransport needs impor\
t "@millrace/client/webtransport"'),U(s,o,a=>xt({edge:t,token:e,signal:a},this.settings))}};function z({code:n,status:t}){
return t&&n==="unreachable"?1.5:["unreachable","timeout","refused","protocol_not_allowed"].indexOf(n)>>>0}var ci=1e4;async function Ke(n,t,e,s){n.reconnecting=!0,n.lose();for(let i of n.subscriber.interests.all)i.confirmed=!1;
n.events.emit("disconnected",{...n.place,error:e}),e.code==="token_expired"&&t.token===n.tokens.token&&n.tokens.expire(),
d()-n.since>ci&&(n.attempts=0);for await(let i of n.searcher.order(t.edge,!1,s)){let r=++n.attempts,o=Math.max(T(r,n.settings),
n.searcher.wait(i));n.events.emit("reconnecting",{attempt:r,delay:o}),await n.pause(o,s);try{let a=await n.searcher.open(
i,s);if(s.aborted)return void a.close();if(n.setCurrent(a),await n.restore(a),v(s),!a.alive)continue;n.reconnecting=!1,n.
since=d();let h=!n.gaps&&n.subscriber.interests.all.every(c=>c.history);return n.events.emit("reconnected",{...n.place,away:d()-
n.heard(t),complete:h})}catch(a){if(v(s),!(a instanceof l)||n.searcher.hopeless(i,a,!1))throw a}}}var Je,Xe,ae=1024,fi=["PING","PONG","RECONNECT","OK:AUTH"];function R(n){return Je??=new TextEncoder,Je.encode(n)}function I(n){
Xe??=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0});try{return Xe.decode(n)}catch(t){throw new l("protocol","text that\
 is not UTF-8",{cause:t})}}var li=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revok\
ed",4403],["token_unverifiable",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function F(n,t){
let[e,s,...i]=n.split(":"),r=li.get(e);if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new l(`${s}_no\
t_allowed`,i.join(":")||void 0,o):new l(e,void 0,o)}function he(n){if(fi.includes(n))return{kind:n};if(/^LINK:(up|down)$/.
test(n))return{kind:"LINK",up:n==="LINK:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(t&&n.length<=
ae)return{kind:"FEATURES",features:t};let e=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),s=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(n);if((e||s)&&(n.length<=ae/3||R(n).length<=ae)&&!n.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return ui(s[1],s[2]??"")}throw new l("protocol","a li\
ne that is none")}function ui(n,t){let[,e,s,i]=n==="permission_denied"&&/^(.*):(allowed|tenants|by)=([^:]*)(?::connection=.*)?$/s.
exec(t)||[];return e===void 0?{kind:"ERR",code:n,detail:t}:{kind:"ERR",code:n,detail:e,denial:s,names:i?i.split(","):[]}}
function Ve({denial:n,names:t=[]}){let e=t.join(", ");return n==="allowed"?e?`the token allows there only ${e}`:"the tok\
en allows nothing there":n==="tenants"?`the token is for the tenants ${e}`:n&&"a hook of the edge refuses it"}function Ye(n){
try{return he(n)}catch{return}}var fe=["broadcast","one-nearest","one-random"];function le(n,t,e,s,i){let r=typeof e=="string"?R(e):e,o=i?7+i.key.length:
s===void 0?0:2,a=new Uint8Array(o+4+n.length+t.length+r.length);return o>0&&(a[0]=i?3:2,a[1]=s??0),i&&(new DataView(a.buffer).
setUint32(2,i.id),a[6]=i.key.length,a.set(i.key,7)),a.set(r,Ze(a,Ze(a,o,n),t)),a}function Ze(n,t,e){n[t++]=e.length>>8,n[t++]=
e.length;for(let s=0;s<e.length;s++)n[t++]=e.charCodeAt(s);return t}var es=1,ss=2,is=4,ns=8,ce=24,di=128,pi=64,mi={4:es|
ss|is|ns,5:7};function ue(n,t,e){if(t===e||n[t]===1)return!1;let s=mi[n[t]];return s===void 0||t+1<e&&(n[t+1]&~s)!==0}var Tt=class{#t=new et;#e=new et;#s=new et;#i={};decode(t,e,s){
let i=w=>{w>s&&P()},r=w=>(i(w+2),t[w]<<8|t[w+1]);(e===s||t[e]===5||ue(t,e,s))&&P();let o,a="",h,c=0,u=w=>{i(e+2);let S=e+
2;return e=S+t[e+1]-1,e-S>=w&&P(),i(e+1),S};if(t[e]===4){if(c=r(e)&255,c===0&&P(),e++,c&es&&(i(e+1+ce),o=wi(t,e+1),e+=ce),
c&ss){let w=u(di);a=this.#s.of(t,w,e+1,()=>I(t.subarray(w,e+1)))}c&ns&&(h=t.slice(u(pi),e+1))}let f=o!==void 0,p=e+3+r(e+
1),m=p+2+r(p),g=m+4;i(g);let y=g+r(m)*65536+r(m+2);(r(y)===0||f&&r(y)!==1)&&P();let k=this.#t.of(t,e+1,m,()=>[I(t.subarray(
e+3,p)),I(t.subarray(p+2,m))]),x=this.#i;return x.tenant=k[0],x.channel=k[1],x.payload=t.subarray(g,y),x.route=this.#e.of(
t,y,s,()=>{let w=[],S=y+2;for(let it=r(y);it>0;it--){let Yt=S+2+r(S);i(Yt),w.push(I(t.subarray(S+2,Yt))),S=Yt}return S!==
s&&P(),{patterns:Object.freeze(w),note:void 0}}),x.position=o,x.sender=a,x.toOne=(c&is)!==0,x.own=h,x}};function wi(n,t){
let e=new DataView(n.buffer,n.byteOffset+t,ce);return`${Qe(e,0)}${Qe(e,4)}.${ts(e,8)}.${ts(e,16)}`}var Qe=(n,t)=>n.getUint32(
t).toString(16).padStart(8,"0");function ts(n,t){let e=n.getUint32(t);return e<2097152?String(e*4294967296+n.getUint32(t+
4)):String(n.getBigUint64(t))}function P(){throw new l("protocol","a frame that is none")}var gi=256,bi=1024,et=class{#t=[];of(t,e,s,i){
let r=0;for(let c=e;c<s;c++)r=Math.imul(r,31)+t[c]|0;let o=(r^r>>>8)&gi-1,a=this.#t[o];if(a&&yi(a.bytes,t,e,s))return a.
value;let h=i();return s-e<=bi&&(this.#t[o]={bytes:t.slice(e,s),value:h}),h}};function yi(n,t,e,s){if(n.length!==s-e)return!1;
for(let i=0;i<n.length;i++)if(n[i]!==t[e+i])return!1;return!0}var Et=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),i=s?.
shift();return i?(s?.length===0&&this.#t.delete(t),e(i),!0):!1}get owed(){for(let t of this.#t.keys())if(!/^(RSUB|AGAIN):/.
test(t))return!0;return!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();for(let s of e)s.reject(t)}};var St=class{edge;transport;token;begun=d();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;confirms;error;ended;#t;#e;#s;#i=new Tt;#n=new Et;#r;#o=[];#a=new Set;#h=new lt;#c=!1;#f=!0;#l=!0;#u;constructor(t,e,s,i,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.confirms=i.confirms(),this.#e=i;let o=this;this.#s=i.
watch({get unanswered(){return o.#o[0]},get unreadSince(){return o.#h.waits(o.lastByte)},get owed(){return o.#n.owed||o.
confirms?.owed===!0},pingFirst:e.fragile?t+r.paths.ping:void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.
silent(this),woke:()=>this.#e.woke(this),over:()=>this.fail(new l("timeout","the edge does not answer"))}),this.featured=
new Promise(h=>{this.#r=h});let a;this.ended=new Promise(h=>{a=h}),e.start({bytes:()=>{this.alive&&this.#s.arrived(d())},
line:h=>this.#b(()=>this.#g(h)),frame:(h,c,u)=>{if(!this.alive||(this.#p(),ue(h,c,u)))return;let f;try{if(h[c]===5)return this.#e.
presence(this,h,c,u);f=this.#i.decode(h,c,u)}catch(p){return this.#y(p)}this.#e.delivered(this,f)},ended:h=>{a(),this.#v(
h)}}),this.#c=!0,this.alive&&this.send(`FEATURES:link,work_queue,own,reasons${r.sender?",sender":""}`),this.alive&&this.#s.
arm()}get lastByte(){return this.#s.heard}request(t,e,s=""){t==="SUB"&&this.asked.add(e);let i=`${t}:${e}`,r=this.#d(i);
return this.alive&&this.send(i+s),r}resume(t,e){let s=this.#d(`RSUB:${t}`);return this.alive&&this.send(`RSUB:${t}:${e}`),
s}leave(t,e="UNSUB"){let s=`${e}:${t}`,r=this.request(e,t).catch(()=>{}).then(()=>{this.ending.get(s)===r&&this.ending.delete(
s)});return this.ending.set(s,r),r}resumed(t){this.#n.answer(`RSUB:${t}`,e=>e.resolve())}postpone(t,e){this.postponed.add(
t);let s=`AGAIN:${t}`,i=setTimeout(()=>this.#n.answer(s,r=>r.resolve()),e);return this.#d(s).finally(()=>clearTimeout(i))}#d(t){
return new Promise((e,s)=>{this.alive?this.#n.add(t,{resolve:e,reject:s}):s(E())})}forget(t){return this.confirmed.delete(
t),this.postponed.delete(t),this.#n.answer(`AGAIN:${t}`,e=>e.reject(E())),this.asked.delete(t)}ping(){return new Promise(
(t,e)=>{if(!this.alive)return e(E());let s=this.#h.mark();this.#o.push({at:d(),sendTime:this.#h.sendTime(s),mark:s,resolve:t,
reject:e}),this.#t.send("PING"),this.#s.probe(),this.#o.length===1&&this.#s.arm()})}publish(t,e){this.confirms?.note(t.length,
e);let s=this.#h.publish(t.length,d());this.#t.send(t),s&&this.#s.arm();let i=this.#t.sent();return i&&new Promise(r=>{let o=()=>{
this.#a.delete(o),r()};this.#a.add(o),i.then(o,o)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=t,this.#s.stop(),this.#n.
reject(E()),this.confirms?.fail();for(let e of this.#o)e.reject(E());for(let e of this.#a)e()}tell(t){this.#t.send(t)}send(t){
let e=this.#h.request(t.length,d(),this.lastByte);this.#t.send(t),e&&this.#s.arm()}takeUnread(){return this.#h.take()}close(){
return this.alive&&(this.#w(E()),this.#t.close()),this.ended}#p(){let t=d();this.#s.arrived(t),this.#s.active(t)}#g(t){t===
"PONG"?this.#s.arrived(d()):this.#p();let e=Ye(t);if(!e)return this.#e.line(this,t);if(e.kind==="OK"){let s=`${e.tenant}\
:${e.pattern}`;if(this.#n.answer(`${e.verb}:${s}`,i=>i.resolve())&&e.verb==="SUB"&&(this.confirmed.add(s),this.postponed.
delete(s)),e.verb==="UNSUB")for(;this.#n.answer(`RSUB:${s}`,i=>i.reject(E())););}else if(e.kind==="ERR")this.#k(e.code,e.
detail,t.slice(4),Ve(e));else if(e.kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#o.shift();if(!s)
return;let i=d()-s.at;this.#h.proven(s.mark,d()),s.resolve(i),this.#s.ponged(i),this.#e.roundTrip(i)}else e.kind==="RECO\
NNECT"&&!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATURES"?this.#m(e.features.split(",")):e.kind===
"LINK"&&(this.#l=e.up,this.#f||this.#m())}#m(t=this.features??[]){this.#f=!1,this.features=t,this.#r(),this.link=this.#l,
this.#e.linked()}#k(t,e,s,i){if(this.#f&&t==="bad_request")return this.#m();let r=F(s);if(r&&(this.#u=s),this.confirms?.
error(t,e,i))return;let[,o,a,h]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(e)??[];!(a!==void 0&&h!==
void 0&&t!=="broker_unavailable"&&this.#n.answer(e,u=>u.reject(new l(t,i,o?{tenant:a,channel:h}:{tenant:a,pattern:h}))))&&
!/^(token_|unauthorized|forbidden|closed_by)/.test(t)&&this.#e.errorLine(this,t,e,i),(t==="token_revoked"||t==="token_ex\
pired")&&this.fail(r)}#b(t){if(this.alive)try{t()}catch(e){this.#y(e)}}#y(t){this.fail(_(t,"protocol","the edge broke th\
e protocol"))}fail(t){this.#w(t),this.#t.close(),this.#c&&this.#e.lost(this,t)}#v({closeCode:t,error:e}){if(!this.alive)
return;let s=this.#u===void 0?void 0:F(this.#u,t),i=t===4401?"token_expired":t===4403?"token_revoked":"disconnected",r=s?.
code!=="slow_consumer"||t===4429,o="the connection has ended";if(t===1009){o="a message was too large for the edge";let h=this.
confirms?.tooLarge();h&&(this.#h.told(),this.#e.errorLine(this,"payload_too_large",`PUB:${h.tenant}:${h.channel}`))}let a=s&&
r?s:e??new l(i,o,{closeCode:t});this.#w(a),this.#c&&this.#e.lost(this,a)}#w(t){this.alive=!1,this.error=t,this.#s.stop();
let e=E(t);this.#r(),this.#n.reject(e),this.confirms?.fail();for(let s of this.#o)s.reject(e);this.#o=[]}};var de=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,ki=/^(unauthorized|token_expired|region_not|protocol_not)/,
vi=5,xi=6e4,Ot=class{#t;#e;#s;#i;dialer;#n=[];#r=new Map;#o;#a=!1;#h=!1;#c=0;#f=0;#l=new Map;drained=new Set;constructor(t,e,s,i,r){
this.#t=t,this.#e=e,this.#s=s,this.#i=i,this.dialer=r}async first(t){await M(this.#s.get(),t),this.#n=await this.#i.edges(
this.#t,t);let e;for(let s of this.#n)try{return await this.open(s,t)}catch(i){if(!(i instanceof l)||de.test(i.code)||i.
code==="token_provider")throw i;(!e||z(i)>z(e))&&(e=i),this.#a=Z(i)?this.#d(s,i):this.hopeless(s,i,!1)}throw e}final(t){
return!(t instanceof l)||de.test(t.code)||this.#a?!0:t.code==="token_provider"?t.cause?.code==="bad_option":this.#n.length===
0&&Z(t)}async*order(t,e,s){for(;;){let i=this.#n.filter(o=>o!==t),r=e?[t,...i]:i.length<this.#n.length?[...i,t]:i;for(let o of r)
r.some(a=>this.wait(a)<this.wait(o))||(yield o);if(this.#t.some(o=>o.pathname!=="/"))try{this.#n=await this.#i.edges(this.#t,
s)}catch{v(s)}}}wait(t){return Math.max(0,(this.#l.get(t)??0)-d())}async open(t,e,s){let i=await this.#s.get();try{return await this.#u(
t,i,e,s)}catch(r){if(!(r instanceof l&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;
let a=await this.#s.ask();if(a===i)throw r;return this.#u(t,a,e,s)}}async#u(t,e,s,i){e!==this.#o&&(this.#o=e,this.#r.clear(),
this.dialer.forget());let r=await this.dialer.open(t,e,s,i).catch(a=>{let{retryAfter:h=0}=a;throw this.#l.set(t,d()+Math.
min(h,this.#e.maxBackOff)),a});this.#h=!0,this.drained.delete(t),this.#l.delete(t);let o=new St(t,r,e,this.#i,this.#e);if(o.
error)throw o.error;return this.#c=0,this.#r.clear(),o}hopeless(t,e,s){let{code:i}=e;i==="unreachable"&&this.drained.delete(
t);let r=i==="unauthorized"&&this.#s.provided;return r&&this.#h&&this.#s.failed(e),r||i==="refused"?s||this.drained.has(
t)?!1:(this.#c++===0&&(this.#f=d()),this.#c>=vi&&d()-this.#f>=xi):(this.#c=0,de.test(i)?!0:ki.test(i)&&this.#d(t,e))}#d(t,e){
return this.#r.set(t,e),this.#n.every(s=>this.#r.has(s))}};var rs;function os(n){rs=n}var H=()=>rs;function st(n,t,e){let s=e.split(" ");if(s.includes(t))return;let i=String(t).slice(0,32),r=H()?.nearest(i,s)??"";throw new l(
"bad_option",`${n} ${JSON.stringify(i)}: allowed are ${s.join(", ")}${r}`)}function A(n,t,e){if(typeof t!="object"||t===
null)throw new l("bad_option",`${n} must be an object: allowed are ${e.replaceAll(" ",", ")}`);for(let s of Object.keys(
t))st(`${n} has no`,s,e)}var as="connecting connected disconnected reconnecting reconnected gap suspect recovered moving moved publishError publi\
shUnknown subscriptionError slowConsumer limited discarded linkDown linkUp queueFull edgeError roundTrip closed",pe=Symbol.
for("millrace.quiet"),Ti=1024,_t=class{#t=new Map;#e=[];#s=!1;#i;constructor(t,e){this.#i=e,t&&A("on",t,as);for(let[s,i]of Object.
entries(t??{}))i&&this.on(s,i)}on(t,e){if(st("there is no event",t,as),typeof e!="function")throw new l("bad_option",`th\
e handler of ${t} must be a function`);let s=r=>e(r);pe in e&&Object.assign(s,{[pe]:!0});let i=this.#t.get(t)??new Set;return this.#t.
set(t,i.add(s)),()=>{i.delete(s)}}emit(t,e){this.#e.push([t,e])>Ti&&this.#e.shift(),this.#s||this.#n()}async#n(){this.#s=
!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift()){let e=[...this.#t.get(t[0])??[]];e.every(s=>pe in s)&&this.#i.
event(t[0],t[1]);for(let s of e)try{await s(t[1])}catch(i){K(i)}}this.#s=!1}};function K(n){queueMicrotask(()=>{throw n})}var Ei="https://github.com/millrace/millrace/blob/main/docs/errors.md#",Si={publishError:[],publishUnknown:["outcome_unk\
nown","they may be lost: publish with confirm and a key"],subscriptionError:[],edgeError:[],gap:["gap","messages may be \
missing: load the state again"],queueFull:["queue_full","messages were dropped: read faster, or set a larger queue"],slowConsumer:[
"slow_consumer","the edge has dropped messages: read faster"],limited:["limited","messages wait for the bandwidth of the\
 token: raise it, or send less"],discarded:["queue_full","jobs that nobody had read were thrown away: drain() before the\
 end"],connecting:[],closed:[]},$t=class{#t;#e=new Set;constructor(t=console){this.#t=t}event(t,e){let{error:s,code:i,detail:r,
why:o,tenant:a,pattern:h,channel:c}=e,u=Si[t];if(!u||t==="closed"&&!s)return;let f=s?.code??u[0]??i??"",p=a===void 0?"":
` of ${a} ${c??h}`,m=s?.message??`${i??f}: ${u[1]??(o||r||"the edge refuses it")}`;this.say(`${t}${p}: ${m}`,f,t)}say(t,e,s=""){
let i=s+e;if(!(this.#e.has(i)||this.#e.size>99)){this.#e.add(i);try{this.#t?.warn(`millrace: ${t} ${Ei}${e}`)}catch{}}}};var At={options:"",socket:(n,t,{webSocket:e=WebSocket})=>new e(n,["llps.v1","refusal.v1",`at.${t}`]),fetch:(n,t,e)=>fetch(
n,e),proxied:()=>!1};function Mt(n,t="access"){let e=t==="access"?"AT_":"MT_";if(typeof n=="string"&&n.startsWith(e)&&/^[\w.~+-]{4,512}$/.test(
n))return n;let s=H()?.secret(n)??"this is none";throw new l("bad_option",`the ${t} token begins with ${e}, as the edge \
gave it: ${s}`)}var Oi=["drop-oldest","drop-newest","end"],hs=["webtransport","websocket"];function j(n,t,e,s=0){return t!==void 0&&!(Number.
isFinite(t)&&t>=s&&t<2**31)&&b(`${n} must be a number below 2^31${s<0?"":", 0 or more"}, not ${JSON.stringify(t)}`),t||e}
function cs(n,t,e){return st(`${n}:`,t,e.join(" ")),t}function we(n,t){return{queue:Math.ceil(j("queue",n.queue,t.queue)),
queuePolicy:cs("queuePolicy",n.queuePolicy??t.queuePolicy,Oi)}}var _i="token tokenProvider transports fallbackAfter conn\
ectTimeout failFast keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintext serverCertificate\
Hashes sender signal on logger webSocket";function fs(n,t=At){A("the object of options",n,_i+t.options),A("paths",n.paths??
{},"webSocket webTransport ping");let{token:e,tokenProvider:s,transports:i=hs,sender:r=!1,webSocket:o}=n;e===void 0==(s===
void 0)&&b("give one of token and tokenProvider, not both"),s!==void 0&&typeof s!="function"&&b("tokenProvider must be a\
 function"),typeof r!="boolean"&&b("sender must be true or false"),o!==void 0&&typeof o!="function"&&b("webSocket must b\
e a class"),n.logger&&typeof n.logger.warn!="function"&&b("logger must have a function warn, or be null"),i.length===0&&
b("transports must not be empty");for(let h of i)cs("transports",h,hs);"TextEncoder"in globalThis&&"TextDecoder"in globalThis||
b("TextEncoder and TextDecoder are missing");let a=j("minBackOff",n.minBackOff,250);return{token:e===void 0?void 0:Mt(e),
tokenProvider:s,transports:[...new Set(i)],fallbackAfter:j("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:j("connec\
tTimeout",n.connectTimeout,1e4),keepAlive:j("keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:j("pongTimeout",n.pongTimeout,
1e4),minBackOff:a,maxBackOff:Math.max(a,j("maxBackOff",n.maxBackOff,15e3)),...we(n,{queue:1024,queuePolicy:"drop-oldest"}),
sender:r,failFast:n.failFast===!0,paths:{webSocket:me(n.paths?.webSocket??"/ws"),webTransport:me(n.paths?.webTransport??
"/wt"),ping:me(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===!0,hashes:n.serverCertificateHashes,webSocket:o,
proxy:n.proxy,runtime:t}}function me(n){return/^\/[^?#]*$/.test(n)||b("paths must start with a slash"),n}var Pt=class{settings;events;loud;subscriber=new at(this);current;next;suspected;leaving=!1;gaps=!1;reconnecting=!1;place={
edge:"",transport:"websocket"};rtt;limitedUntil=0;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t,e){this.settings=
fs(t,e),this.loud=new $t(t.logger),this.events=new _t(t.on,this.loud)}setCurrent(t){this.current=t,this.place={edge:t.edge,
transport:t.transport},this.presences?.follow(),this.linked(),this.change(),this.since&&this.follow(t)}follow(t){}change(){
for(let t of this.#s.splice(0))t()}changed(){return new Promise(t=>{this.#s.push(t)})}lose(){this.current=void 0,this.gaps=
!1,this.presences?.follow()}async restore(t){await Promise.all([this.subscriber.restore(t),this.presences?.restore(t)])}delivered(t,e){
e.position===void 0?this.subscriber.interests.dispatch(e,!1,t):this.histories?.stored(t,e,e.position)}presence(t,e,s,i){
this.presences?.frame(t,e,s,i)}line(t,e){this.histories?.line(t,e)}linked(){let{link:t,edge:e}=this.current??{};!this.since||
!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"linkDown",{edge:e}))}reportUnread(t){let e=t.takeUnread(),
{edge:s,transport:i}=t;e>0&&this.events.emit("publishUnknown",{edge:s,transport:i,count:e})}get waits(){return this.#e.size>
0}hurry(){for(let t of[...this.#e])t()}heard(t){return t.lastByte}pause(t,e){return O(t,e,this.#e)}get out(){return this.
current}publishConnection(){if(this.over)throw this.over;let{out:t}=this;if(!t?.alive)throw E();return t}get held(){return!1}whenOpen(t){
return t()}};function ls(n){if(typeof n=="number")return n;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!t){let r='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new l("bad_option",r)}let[e=0,s=0,i=0]=t.slice(1).map(r=>Number(
r??0));return(e*60+s)*60+i}var $i=2**31-1,us=1e3,Ai="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function Mi(n,t){return n===
1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-t*n/10)}var Nt=class{#t;#e;failed;#s=new AbortController;#i;#n=1/0;#r;#o=!1;#a=-1/0;#h;#c=0;constructor(t,e,s){
this.#t=t,this.#i=t.token,this.#e=e,this.failed=s}get token(){return this.#i}get provided(){return this.#t.tokenProvider!==
void 0}get(){return this.#i!==void 0&&d()<this.#n?Promise.resolve(this.#i):this.ask()}ask(){return this.#r??=this.#f().finally(
()=>{this.#r=void 0,this.#o=!1}),this.#r}async renew(){this.#o&&await this.#r?.catch(()=>{}),await this.ask(),this.#e()}async#f(){
clearTimeout(this.#h);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,{signal:i}=this.#s;try{let r=this.#a+us;
for(;d()<r;)await O(r-d(),i);this.#o=!0;let a=await U(i,e,h=>M(Promise.resolve(t?.()),h),`it does not answer within ${e}\
 ms`).finally(()=>{this.#a=d()});return this.#l(typeof a=="object"?a:{token:a}),this.#i}catch(r){this.#n>0&&this.#n<1/0&&
this.#u(Math.max(s,T(++this.#c+1,this.#t)));let o=r?.name==="LoggedOutError",a=`the token provider ${o?"says that there \
will be":"gave"} no token`,h=new l(o?"logged_out":"token_provider",a,{cause:r});throw this.#i!==void 0&&!i.aborted&&this.
failed(h),h}}#l(t){A("the token provider's answer",t,Ai);let e=t.expiresIn??t.expires_in,s=t.expiresAt??t.expires_at,i=1/0;
e!=null?i=ls(e)*1e3:s!=null&&(i=new Date(s).getTime()-Date.now()),e==null&&i<=0&&(i=1/0),i>0||b("expiresIn must be above\
 0, expiresAt a time"),this.#i=Mt(t.token),this.#n=d()+i,this.#c=0,this.#u(Math.max(us,Mi(i,Math.random())))}#u(t){if(this.#s.
signal.aborted||!(t<1/0))return;let e=this.#i;this.#h=setTimeout(()=>this.ask().then(s=>s!==e&&this.#e(),()=>{}),Math.min(
t,$i))}expire(){this.provided&&(this.#n=-1)}stop(){this.#s.abort(),clearTimeout(this.#h)}};var Pi=6e4,Ni=2e3,J=class extends Pt{tokens;searcher;histories;presences;closed;task;#t;constructor(t,e,s,i={}){super(e,
s),this.histories=i.history&&new i.history(this),this.presences=i.presence&&new i.presence(this),this.tokens=new Nt(this.
settings,()=>this.moveIfDue(),r=>this.#e(r)),this.searcher=new Ot(t,this.settings,this.tokens,this,new(i.webtransport??G)(
this.settings)),this.closed=new Promise(r=>{this.#t=r})}#e(t){let{code:e,message:s,cause:i}=t;e!=="logged_out"?this.events.
emit("edgeError",{code:e,detail:s.slice(e.length+2),cause:i}):this.since&&this.finish(t)}async renewToken(){if(this.over)
throw this.over;this.tokens.provided||b("there is no tokenProvider that could give another token");try{await this.tokens.
renew()}catch(t){throw this.over&&t.code!=="logged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=
1,this.hurry())}async start(t){try{let e=await this.#s(t);if(this.setCurrent(e),v(t),e.error)throw e.error;this.since=d(),
this.follow(e),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),
this.current?.close(),e}}async#s(t){for(let e=2;;e++)try{return await this.searcher.first(t)}catch(s){let{failFast:i,maxBackOff:r}=this.
settings;if(i||t.aborted||this.searcher.final(s))throw s;let o=s,a=Math.max(T(e,this.settings),Math.min(o.retryAfter??0,
r));this.events.emit("connecting",{attempt:e,delay:a,error:o}),await this.pause(a,t)}}moveIfDue(){let{current:t}=this;this.
task||this.over||!t?.alive||(t.drains?this.run(e=>this.leave(t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>this.
leave(t,"token",e)))}async leave(t,e,s){await N(Ni,t.ping(),t.ended),v(s);let i=e==="drain";t.fail(new l(i?"draining":"d\
isconnected",i?"the edge asks to leave":"another token"))}run(t){this.task?.abort();let e=new AbortController;this.task=
e,t(e.signal).then(()=>{this.task===e&&(this.task=void 0,this.current?.alive&&this.moveIfDue())},s=>{this.task===e&&this.
finish(_(s,"internal","a fault of this client"))})}watch(t){return new W(t,this.settings)}async edges(t,e){return t.some(
({pathname:s})=>s!=="/")&&b('a list of edges needs import "@millrace/client/moves"'),t.map(({origin:s})=>s)}confirms(){return this.
histories?.confirms()}draining(t){this.searcher.drained.add(t.edge),t===this.current&&this.moveIfDue()}errorLine(t,e,s,i){
this.presences?.ended(t,e,s);let[,r,o]=/^PUB:([^:]+):(.+)$/s.exec(s)??[];if(e==="slow_consumer")this.events.emit("slowCo\
nsumer",{dropped:Number(s)});else if(/^(in|e)gress_limited$/.test(e)){this.limitedUntil=d()+Pi;let a=e[0]==="e"?"in":"ou\
t";this.events.emit("limited",{direction:a,delay:Number(s)*1e3})}else r&&o&&e!=="broker_unavailable"?this.events.emit("p\
ublishError",{tenant:r,channel:o,code:e,...i&&{detail:i}}):this.events.emit("edgeError",{code:e,detail:s})}roundTrip(t){
this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){return!1}woke(t){}lost(t,e){this.reportUnread(t);let s=t.token===
this.tokens.token;if((/_not_allowed$|^token_revoked$/.test(e.code)||e.code==="token_expired"&&!this.tokens.provided)&&s&&
!this.spare(t))return this.finish(e);e.closeCode===void 0&&/^(disconnected|timeout)$/.test(e.code)&&this.searcher.dialer.
noteSilent(t),this.replace(t,e)}spare(t){return!1}replace(t,e){t===this.current&&!this.reconnecting&&this.run(s=>Ke(this,
t,e,s))}finish(t){if(this.over)return;this.over=new l("closed","the client has been closed",t?{cause:t}:{}),this.task?.abort(),
this.tokens.stop(),t||this.presences?.leaveAll();let e=this.end(t);this.change(),this.subscriber.end(t,this.over),this.presences?.
end(t,this.over),this.events.emit("closed",{error:t}),Promise.all(e).then(()=>this.#t(t))}end(t){let{current:e}=this;return e&&
t&&this.reportUnread(e),[e?.close()]}};var Ui=500;async function ds(n,t,e){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(d());)await O(
50,e);n.merger=new q,n.both=n.tentative=!0;let s=0;for await(let i of n.searcher.order(t.edge,!1,e)){await n.pause(Math.
max(T(++s,n.settings),n.searcher.wait(i)),e);let r;try{r=await n.searcher.open(i,e,{fallbackAfter:Ui})}catch(a){if(v(e),
a instanceof l)continue;throw a}if(e.aborted)return void r.close();if(!r.alive)continue;n.next=r,n.merger.joined(d());let o=n.
restore(r);if(r.ping().catch(()=>{}),await o,v(e),n.next===r)return n.takeOver(t,r)}}var ge=1e3,Ut=class{#t=new $;#e=new $;#s=new $;constructor(t,e,s){for(let{key:i}of t)this.#t.put(i,e);if(s){for(let{key:i,
time:r,message:o}of s.#e.all)this.#e.put(i,r,o);for(let{key:i,time:r}of s.#s.all)this.#s.put(i,r)}}fromCurrent(t,e){let s=B(
t);return this.#s.dropUntil(e-ge),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=B(t);if(this.#t.
take(s))return;let i=this.#e.put(s,e,{...t});return i&&this.#s.put(i.key,i.time),i?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-ge)}get nextDue(){let t=this.#e.oldest;return t&&t.time+ge}};var ps=15e3,Ii=6e4,It=class{#t;late;#e;#s;#i=!0;#n=!1;#r=d();#o;#a;constructor(t,e,s,i,r){this.#t=t,this.late=new Ut(e,d(),
r?.late),this.#e=s,this.#s=i,this.#o=setTimeout(()=>this.#h(),ps),r?.stop(),t.handTo(this),t.alive?this.#f():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,d())}hold(t){t!==this.#n&&(this.#n=t,t||this.late.renew(d()),this.#f())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#i=!1,clearTimeout(this.#o),clearTimeout(this.#a),this.#t.close()}#h(){let t=Math.
min(this.#t.lastByte+ps,this.#r+Ii)-d();t>0?this.#o=setTimeout(()=>this.#h(),t):this.#c()}#c(){this.#i&&(this.stop(),this.#f())}#f(){
if(clearTimeout(this.#a),this.#n)return;let{nextDue:t}=this.late;if(t===void 0){this.#i||this.#s();return}this.#a=setTimeout(
()=>{for(let e of this.late.due(d()))this.#e(e);this.#f()},Math.max(1,t-d()))}delivered(t,e){if(e.position!==void 0)return;
if(e.toOne)return this.#e(e);let s=this.late.nextDue===void 0,i=this.late.fromTrail(e,d());i&&this.#e(i),s&&this.#f()}woke(t){
for(let s of t.asked)t.request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){
return!1}line(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var be=6e4,Li=60*be,Bi=2*be,Ri=1e4,ji=2e3;function ms(n,t){return Math.min((4+2*t)*be*2**n,Li)}var Lt=class{#t;#e=0;#s;#i;#n;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#i),t.transport==="webtransport"?(this.stop(),this.#i=setTimeout(()=>{this.#e=0},Bi)):
!this.#s&&this.#r(t)&&this.#o(ms(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
ji,!1)}stop(){this.#n?.abort(),this.#n=void 0,clearTimeout(this.#s),clearTimeout(this.#i),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&this.#t.searcher.
dialer.canWebTransport(e)}#o(t,e=!0){clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#a(e)},t)}async#a(t){let e=this.#t,
{current:s}=e;if(!s||!e.idle||this.#n)return this.#o(Ri,t);if(!this.#r(s)){this.#s=void 0;return}let i=this.#e+Number(t);
this.#o(ms(i,Math.random()));let r=new AbortController;this.#n=r;let o=await e.searcher.open(s.edge,r.signal,{transports:[
"webtransport"]}).catch(()=>{});this.#n===r&&(this.#n=void 0),r.signal.aborted||(this.#e=i),o&&!r.signal.aborted&&e.current===
s&&e.idle?e.run(a=>vt(e,s,"transport",a,o)):(o?.close(),e.moveIfDue())}};var Ci=3e3,Bt=class extends J{tentative=!1;trail;publishOn;gate;merger;both=!1;#t=new Lt(this);#e;async start(t){this.#e=
ze(this),await super.start(t).catch(e=>{throw this.#e?.(),e})}follow(t){this.#t.follow(t)}leave(t,e,s){return vt(this,t,
e,s)}get idle(){let{current:t,merger:e}=this;return!this.task&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(d()))}watch(t){
return new bt(t,this.settings)}edges(t,e){return qe(t,this.settings,e)}delivered(t,e){if(e.position!==void 0||e.toOne)return super.
delivered(t,e);if(!this.merger)return this.#s(e);let s=d();if(t===this.next){let i=this.current?.confirmed,r=!e.route.patterns.
some(a=>i?.has(`${e.tenant}:${a}`)),o=this.merger.fromNext(e,s,r);o&&this.#s(o)}else this.both?this.merger.fromCurrent(e,
s)&&this.#s(e):(this.merger.late(e,s)||this.#s(e),this.merger?.done(s)&&(this.merger=void 0))}#s(t){(!this.trail||this.trail.
fromCurrent(t))&&this.subscriber.interests.dispatch(t)}silent(t){let{current:e}=this;return t===this.next&&this.tentative&&
d()-t.lastByte>=Ci&&t.fail(new l("timeout","the edge does not answer")),t!==e||this.task||this.gate||this.over||this.reconnecting||
!this.since||e.drains?!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.dialer.noteSilent(t),this.run(s=>ds(this,t,
s)),!0)}woke(t){t===this.suspected&&(this.searcher.dialer.noteSilent(t,!0),this.task?.abort(),this.task=void 0,this.next?.
close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.
moveIfDue())}spare(t){return t===this.next&&this.suspected!==void 0}replace(t,e){if(t===this.next&&!this.leaving){let s=this.
spare(t);this.next=void 0,s?this.merger?.orphan():this.openGate(void 0)}else t===this.current&&!this.suspected&&(this.gate||
this.publishOn)?this.promote():(t===this.current||t===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&
(this.next?.close(),this.next=void 0,this.#r()),this.promote(),super.replace(t,e))}lose(){super.lose(),this.merger=void 0,
this.both=this.leaving=this.tentative=!1,this.openGate(void 0)}heard(t){return Ge(t.lastByte)}slept(){this.#i(!1)}networkChanged(){
this.#i(!0),this.#t.soon()}#i(t){for(let e of[this.current,this.next])e?.awake(t);this.hurry()}promote(){let{current:t,next:e}=this;
e&&(t&&this.reportUnread(t),this.setCurrent(e),this.next=void 0,this.merger?.left(d()),this.both=this.leaving=!1,this.openGate(
void 0),this.#r(),t?.close(),this.#n(e))}takeOver(t,e){this.trail?.hold(!1);let s=new It(t,this.merger?.given??[],r=>this.
subscriber.interests.dispatch(r,!0),()=>{this.trail===s&&(this.trail=void 0)},this.trail);this.trail=s;let i=d()-this.heard(
t);this.reportUnread(t),this.suspected=this.next=void 0,this.merger?.left(d()),this.both=this.tentative=!1,this.setCurrent(
e),this.since=d(),this.events.emit("recovered",{...this.place,away:i}),this.#r(),this.openGate(void 0),this.#n(e)}#n(t){
this.histories?.resume(t),this.subscriber.follow()}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.
merger?.keepCurrent(d()),this.both=this.tentative=!1}#r(){for(let t of this.merger?.release()??[])this.#s(t)}get out(){return this.
publishOn??this.current}get held(){return this.gate!==void 0}whenOpen(t){return this.gate?new Promise((e,s)=>{this.gate?.
push(()=>{try{e(t())}catch(i){s(i)}})}):t()}openGate(t){this.publishOn=t;let e=this.gate??[];this.gate=void 0;for(let s of e)
s()}end(t){let{current:e,next:s,trail:i}=this;this.#e?.(),this.#t.stop();for(let o of[e,s])o&&(t||o===this.suspected)&&this.
reportUnread(o);let r=[e?.close(),s?.close(),i?.stop()];return this.openGate(void 0),t&&(this.#r(),i?.flush()),r}};var Rt=class{tenant;channel;ended;verb="JOIN";#t;#e;constructor(t,e,s){this.tenant=t,this.channel=e,this.#t=s,this.ended=
new Promise(i=>{this.#e=i})}async leave(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(t){this.#e(t)}};var jt=(n,t)=>n===t||typeof n=="object"&&typeof t=="object"&&n.text===t.text,ye=n=>n.includes(":"),Ct=class{members=new Map;counts=new Map;get(t){
return ye(t)?this.members.get(t):this.counts.get(t)??0}count({channel:t,members:e}){e>0?this.counts.set(t,e):this.counts.
delete(t)}put(t,e){let{channel:s,subject:i,here:r,since:o,info:a}=e,h=this.members.size;if(r){let u={channel:s,subject:i,
info:Wi(a),since:new Date(o)};this.members.set(t,{member:u,text:`${o} ${a}`})}else this.members.delete(t);let c=(this.counts.
get(s)??0)+this.members.size-h;this.count({channel:s,members:c})}};function Wi(n){try{return n?JSON.parse(n):void 0}catch{
return}}var Wt=class{#t;#e=new WeakMap;#s=new Ct;#i=new Map;#n;#r;constructor(t){this.#t=t}get members(){return this.#n??=
Object.freeze([...this.#s.members.values()].map(({member:t})=>t).sort((t,e)=>ws(t.channel,e.channel)||ws(t.subject,e.subject))),
this.#n}get counts(){return this.#r??=new Map([...this.#s.counts,...this.#i].filter(([,t])=>t>0)),this.#r}get(t){return this.#i.
get(t)??this.#s.get(t)}begin(t){this.#e.set(t,{roster:void 0,next:void 0})}end(t){this.#e.delete(t)}hasSynced(t){return this.#e.
get(t)?.roster!==void 0}take(t,e,s,i){let r=this.#e.get(t);if(!r)return;let{first:o,synced:a,counts:h,channels:c,members:u}=s;
if(h&&!i){if(t===e)for(let m of c)this.#h(m.channel,!0,()=>this.#o(m));return}o&&(r.next=new Ct);let f=r.next??r.roster;
if(!f)return;let p=(m,g)=>{f===this.#s?this.#h(m,!1,g):g()};for(let m of c)p(m.channel,()=>f.count(m));for(let m of u){let{
channel:g,subject:y}=m,k=`${g}:${y}`;p(g,()=>p(k,()=>f.put(k,m))),f===this.#s&&f.get(g)===this.#i.get(g)&&this.#i.delete(
g)}a&&(r.roster=f,r.next=void 0,t===e&&(this.follow(t),this.#a()))}follow(t){let e=this.#e.get(t)?.roster,s=this.#s;if(!(!e||
e===s)){this.#s=e,this.#c();for(let{members:i,counts:r}of[s,e])for(let o of[...i.keys(),...r.keys()])!this.#i.has(o)&&!jt(
s.get(o),e.get(o))&&this.#f(o,s.get(o),!1);this.#a()}}#o({channel:t,members:e}){e===this.#s.get(t)?this.#i.delete(t):this.#i.
set(t,e)}#a(){for(let t of[...this.#i.keys()])this.#h(t,!0,()=>this.#i.delete(t))}#h(t,e,s){let i=this.get(t);s(),this.#c(),
jt(i,this.get(t))||this.#f(t,i,e)}#c(){this.#n=this.#r=void 0}#f(t,e,s){for(let i of this.#t)i.note(t,e,s)}},ws=(n,t)=>n<
t?-1:n>t?1:0;var qi=Object.freeze([]),qt=class{tenant;pattern;ended;verb="WHO";count;watch;#t;#e;#s=new Map;#i=[];#n=!1;#r=!1;#o=!1;#a=!1;#h;#c;constructor(t,e,s,{
count:i=!1,onChange:r}){this.tenant=t,this.pattern=e,this.count=i,this.#t=s,this.#e=r,this.ended=new Promise(o=>{this.#c=
o})}get members(){return this.count?qi:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#t.isSynced(this)}async close(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let t=!1;return{next:()=>{let e=t?void 0:this.#f();if(e)return Promise.resolve({done:!1,value:e});if(!t&&
!this.#a)return new Promise((i,r)=>{this.#i.push({resolve:i,reject:r})});let s=t?void 0:this.#h;return t=!0,s?Promise.reject(
s):Promise.resolve({done:t,value:void 0})},return:async()=>(t=!0,await this.close(),{done:t,value:void 0})}}#f(){for(let[
t,e]of this.#s){this.#s.delete(t);let s=this.watch.get(t);if(typeof s=="number")return{type:"counts",channel:t,count:s};
let{member:i}=s??e;return{type:s?e?"changed":"joined":"left",channel:i.channel,member:i}}}note(t,e,s){this.#r=!0,!(!this.#n||
!(ye(t)?!this.count:this.count||s))&&(this.#s.has(t)?jt(this.#s.get(t),this.watch.get(t))&&this.#s.delete(t):this.#s.set(
t,e))}opened(){this.#n=this.#o=!0,this.#r=!1}update(){for(;this.#i.length>0;){let s=this.#f();if(!s)break;this.#i.shift()?.
resolve({done:!1,value:s})}let{synced:t}=this,e=this.#a&&!this.#h;if(this.#n&&!e&&(this.#r||t!==this.#o))try{this.#e?.(this)}catch(s){
K(s)}this.#r=!1,this.#o=t}end(t){if(!this.#a){this.#a=!0,this.#h=t,t||this.#s.clear(),this.update();for(let e of this.#i.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};function gs(n,t,e){let s=new DataView(n.buffer,n.byteOffset,e),i=t+1,r=f=>(i+=f,i>e&&P(),i-f),o=()=>s.getUint8(r(1)),a=()=>s.
getUint16(r(2)),h=f=>I(n.subarray(r(f),i)),c=o(),u={first:(c&1)!==0,synced:(c&2)!==0,counts:(c&4)!==0,tenant:h(a()),pattern:h(
a()),members:[],channels:[]};for(let f=a();f>0;f--)if(u.counts)u.channels.push({channel:h(a()),members:s.getUint32(r(4))});else{
let p=o();p>1&&P();let m={channel:h(a()),subject:h(o()),here:p===1,since:0,info:""};m.here&&(m.since=Number(s.getBigUint64(
r(8))),m.info=h(a())),u.members.push(m)}return i!==e&&P(),u}var bs=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,ks=n=>n.verb==="WHO"&&n.count,ke=({holders:n,waiting:t})=>n.
length>t.size,Dt=class{asking=new Set;#t=new Map;#e;constructor(t){this.#e=t}get#s(){return[this.#e.current,this.#e.next].
filter(t=>t!==void 0)}async join(t,e){let s=new Rt(t,e,this);return await this.add(s),s}async watch(t,e,s){A("the object\
 of options",s,"count onChange");let{count:i=!1,onChange:r}=s;typeof i!="boolean"&&b("count must be true or false"),r&&typeof r!=
"function"&&b("onChange must be a function");let o=new qt(t,e,this,s);return await this.add(o),o}async add(t){let{current:e,
leaving:s,over:i}=this.#e;if(i)throw i;let r=bs(t),o=this.#t.get(r)??Di(t,r);if(o.counting&&!ks(t))throw new l("bad_opti\
on","the client counts the members of this pattern, and can only do that",o.about);this.#t.set(r,o),o.holders.push(t),t.
verb==="WHO"&&(t.watch=o.watch);let a=new Promise((h,c)=>{o.waiting.set(t,{resolve:h,reject:c})});this.#l(o);for(let h of this.#s)
!o.on.has(h)&&!(s&&h===e)&&this.#o(h,o);return a}async restore(t){await Promise.all([...this.#t.values()].map(e=>this.#o(
t,e)))}hasSynced(t){return[...this.#t.values()].every(({watch:e,on:s})=>!e||!s.has(t)||e.hasSynced(t))}isSynced(t){let{current:e}=this.#e;
return e?.alive===!0&&t.watch.hasSynced(e)}frame(t,e,s,i){this.#i(t,gs(e,s,i))}#i(t,e){let s=this.#t.get(`WHO:${e.tenant}\
:${e.pattern}`);s?.watch?.take(t,this.#e.current,e,s.counting),s&&this.#l(s)}follow(){let{current:t}=this.#e;for(let e of this.#t.
values())t&&e.watch?.follow(t),this.#l(e)}ended(t,e,s){let i=this.#t.get(s);!i||e!=="no_presence"||(this.#c(t,i),this.#l(
i))}async leave(t){let e=this.#t.get(bs(t)),s=e?.holders.indexOf(t)??-1;if(!e||s<0||(e.holders.splice(s,1),e.holders.length>
0))return;let i=this.#r(e);await(this.#e.suspected&&i.length>0?Promise.race(i):Promise.all(i))}leaveAll(){for(let t of this.#t.
values())t.verb==="JOIN"&&this.#n(t)}end(t,e){for(let{key:s,holders:i,waiting:r}of this.#t.values()){this.#t.delete(s);for(let o of i)
o.end(t);for(let{reject:o}of r.values())o(t??e)}}#n({key:t,name:e,undo:s,on:i,watch:r}){return this.#s.flatMap(o=>{let a=i.
get(o);return i.delete(o),r?.end(o),o.forget(t),a===void 0||a==="wanted"?[]:o.leave(e,s)})}#r(t){return this.#t.delete(t.
key),this.#n(t)}#o(t,e){e.on.set(t,"wanted");let s=this.#a(t,e).finally(()=>this.asking.delete(s));return this.asking.add(
s),s}async#a(t,e){let{verb:s,name:i,key:r,about:o,on:a,counting:h}=e,c=()=>this.#t.get(r)===e,{settings:u,events:f}=this.#e;
try{await t.featured,await t.ending.get(`${e.undo}:${i}`);for(let p=2;;p++){if(!t.alive||!c())return;if(!t.features?.includes(
"presence"))throw new l("no_presence","the edge has none",o);a.set(t,"sent"),e.watch?.begin(t);try{await t.request(s,i,h?
":count":"");break}catch(m){let{code:g}=m;if(g!=="try_later"||!ke(e))throw m;p===2&&f.emit("subscriptionError",{...ys(e),
code:g})}if(!c())return;a.set(t,"wanted"),await t.postpone(r,T(p,u))}if(!c())return;t.postponed.delete(r),a.set(t,"held"),
this.#l(e)}catch(p){let m=_(p,"internal","a fault of this client");m.code!=="disconnected"&&c()&&this.#h(t,e,m)}}#h(t,e,s){
let{holders:i,waiting:r,on:o,key:a}=e,{suspected:h,next:c,current:u}=this.#e,{code:f}=s;if(f==="no_presence"&&ke(e)){for(let[
p,{reject:m}]of r)i.splice(i.indexOf(p),1),m(s);r.clear(),this.#c(t,e),this.#e.events.emit("edgeError",{code:f,detail:a})}else
h&&t===c&&u&&o.get(u)==="held"?t.fail(s):this.#f(e,s)}#c(t,{on:e,watch:s}){e.delete(t),s?.end(t)}#f(t,e){this.#r(t),ke(t)&&
this.#e.events.emit("subscriptionError",{...ys(t),code:e.code});for(let s of t.holders)s.end(e);for(let{reject:s}of t.waiting.
values())s(e)}#l(t){let{holders:e,waiting:s,on:i}=t;for(let r of[...e])(r.verb==="WHO"?this.isSynced(r):this.#s.some(a=>i.
get(a)==="held"))&&s.has(r)?(s.get(r)?.resolve(),s.delete(r),r.verb==="WHO"&&r.opened()):r.verb==="WHO"&&r.update()}};function Di(n,t){
let{verb:e,tenant:s}=n,i=[];return{verb:e,undo:e==="WHO"?"UNWHO":"LEAVE",name:t.slice(e.length+1),key:t,about:e==="WHO"?
{tenant:s,pattern:n.pattern}:{tenant:s,channel:n.channel},holders:i,waiting:new Map,on:new WeakMap,watch:e==="WHO"?new Wt(
i):void 0,counting:ks(n)}}var ys=({about:n})=>({pattern:"",...n});var Gt=globalThis,Gi=Gt.Deno!==void 0||Gt.process?.versions?.node!==void 0,vs=!Gi&&(Gt.document!==void 0||Gt.WorkerGlobalScope!==
void 0);var zi=32<<20,xs=(n,t,e)=>e>t&&n[t]<32,zt=class{#t;#e=[];#s=0;constructor(t=zi){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#i(t,e),this.#s>0))){for(;t.length-s>=4;){let i=s+4+this.#o(t,s);if(i>t.length)break;e(t,
s+4,i),s=i}s<t.length&&this.#n(t.slice(s))}}#i(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#n(t.slice(
0,s)),this.#s<4))return s;let i=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(i,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#n(t.slice(s,s+o)),this.#s===r){let a=this.#r();this.#e=[],this.#s=0,e(a,4,r)}return s+o}#n(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new l("protocol","a message that is to\
o long");return s}};var Ts=1e3,Fi=43,Hi=2e3,Es=()=>"WebTransport"in globalThis;async function Ss(n,{paths:t,hashes:e}){let{signal:s}=n,i=[],
r,o=()=>{clearTimeout(r),i.forEach(Ft)};s.addEventListener("abort",o);try{let a=await new Promise((c,u)=>{let f=()=>{let p=new WebTransport(
n.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});i.push(p),p.closed.catch(()=>{}),p.ready.then(()=>c(p),u)};
f(),r=setTimeout(f,Hi)});for(let c of i)c!==a&&Ft(c);let h=a.closed.then(({closeCode:c,reason:u})=>({closeCode:c,error:F(
`${u}`)}),()=>({}));return await Ki(a,h,n.token)}catch(a){throw o(),v(s),_(a,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(r),s.removeEventListener("abort",o)}}async function Ki(n,t,e){let s=await n.createBidirectionalStream(),i=new D,
r=new ve(s.writable.getWriter()),o=s.readable.getReader(),a,h,c=Ji(n);r.send(`AUTH:${e}`);let u=new zt,f=(g,y,k)=>{if(xs(
g,y,k))return i.frame(g,y,k);let x=I(g.subarray(y,k));if(h)return i.line(x);let w=he(x);w.kind==="OK:AUTH"?h={transport:"\
webtransport",fragile:vs,start:S=>i.start(S),send:S=>r.send(S),sent:()=>r.sent,probe:c,close:()=>{r.close().then(()=>Ft(
n))}}:w.kind==="ERR"&&(a??=F(x.slice(4))??new l(w.code))},p=async()=>{let{value:g,done:y}=await o.read();return g&&(i.bytes(),
u.push(g,f)),!y},m;for(;!h;)if(!await p().catch(y=>{if(y instanceof l)throw y;return!1}))throw a??Xi(await t);return(async()=>{
try{for(;await p(););}catch(k){k instanceof l&&(m=k)}r.close();let g={error:m},y=t.then(k=>g=k);m||await N(Ts,y),Ft(n),i.
ended(g)})(),h}function Ji(n){let t,e=!1,s=async()=>{let{writable:i,createWritable:r}=n.datagrams;t??=(i??r?.call(n.datagrams))?.
getWriter(),await t?.write(new Uint8Array(Fi))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function Xi({
closeCode:n,error:t}){let e=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return t??new l(
e,"the connection has ended",{closeCode:n})}function Ft(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var ve=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?R(t):t,s=e.length,i=this.#s+
4+s;if(i>this.#e.length){let r=new Uint8Array(Math.max(i,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=i,this.sent??=this.#i()}async#i(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await N(Ts,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var Os=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Vi=12e4,Ht=class extends G{#t=new Map;#e=new Set;canWebTransport(t){
let{settings:e}=this;return Es()&&t.startsWith("https:")&&!e.runtime.proxied(t,e)}forget(){this.#e.clear()}noteSilent({edge:t,
transport:e,begun:s},i=!1){e!=="webtransport"||!i&&d()-s>=Vi||this.#t.set(t,i?e:"websocket")}async open(t,e,s,i={}){let r=this.
settings,{transports:o=r.transports,fallbackAfter:a=r.fallbackAfter}=i,h=o.filter(f=>f==="websocket"||this.canWebTransport(
t));h.length===0&&b("there is no WebTransport here, not for http:// addresses, and not through a proxy");let c=h.filter(
f=>!this.#e.has(f));if(c.length===0)throw new l("protocol_not_allowed");this.#t.get(t)===c[1]&&c.reverse();let u=await U(
s,r.connectTimeout,f=>this.#s(c,t,e,a,f));return this.#t.set(t,u.transport),u}#s(t,e,s,i,r){return new Promise((o,a)=>{let h,
c=0,u=0,f,p=!1,m=()=>{p=!0,clearTimeout(h)},g=()=>{clearTimeout(h);let y=t[u++];if(!y||p)return;let k=y==="websocket"?xt:
Ss;c++,k({edge:e,token:s,signal:r},this.settings).then(x=>{if(p)return Yi(x);m(),o(x)},x=>{c--;let w=_(x,"unreachable","\
the edge does not answer");if(w.code==="protocol_not_allowed"&&this.#e.add(y),(!f||z(w)>z(f))&&(f=w),!Os.test(w.code)&&u<
t.length)return g();!Os.test(w.code)&&c>0&&!Z(w)||(m(),a(f))}),u<t.length&&(h=setTimeout(g,i))};r.addEventListener("abor\
t",()=>{m(),a(L(r))}),g()})}};function Yi(n){n.start({bytes(){},line(){},frame(){},ended(){}}),n.close()}var _s={history:ct,presence:Dt,advice:_e,moves:Bt,webtransport:Ht};var $s={};function xe(n,t,e){return n??b(`${e}: add import "@millrace/client/${t}", or import all from "@millrace/client\
"`)}var Kt="[\\w\\-~@]+",Zi=/^[\w\-~@.]{1,128}$/,Qi=new RegExp(`^(?=.{1,256}$)${Kt}(\\.${Kt}){0,31}$`),tn=new RegExp(`^(?=.{\
1,256}$)((${Kt}\\*?|\\*)\\.){0,31}(${Kt}[*>#]?|[*>#])$`),en=n=>Zi.test(n),sn=n=>Qi.test(n),nn=n=>tn.test(n),rn="~";function X(n){
return Se("tenant",en,n===""?rn:n)}function Te(n,t){return Se("channel",sn,n,t)}function Ee(n,t){return Se("pattern",nn,
n,t)}function Se(n,t,e,s){if(typeof e!="string"||!t(e)){let i={...s===void 0?{}:{tenant:s},[n]:String(e).slice(0,256)};throw new l(
`bad_${n}`,H()?.rule(n)??"not a legal name, see docs/protocol.md, Names",i)}return e}function As(n){let t=Object.prototype.toString.call(n).slice(8,-1);if(t==="String"||t==="Uint8Array")return n;let e=t;try{
if(/^(Object|Array|Number|Boolean|Null|Date)$/.test(t)&&(t!=="Number"||Number.isFinite(n)))return JSON.stringify(n)}catch(s){
e=s.message.slice(0,99)}b(`a payload is a Uint8Array, a text, or what becomes JSON, not this: ${e}`)}var Jt=class{#t;#e=new Array(16);#s=0;#i=0;constructor(t){this.#t=t}get size(){return this.#i}get full(){return this.#i>=
this.#t}push(t){let e=this.#e;this.#i===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#i++&this.#e.length-1]=t}shift(){if(this.#i===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#i--,t}drop(t){let e=s=>this.#s+s&this.#e.length-1;for(let s=0;s<this.#i;s++)
if(t(this.#e[e(s)])){for(;s>0;s--)this.#e[e(s)]=this.#e[e(s-1)];return this.shift(),!0}return!1}clear(){this.#e=new Array(
16),this.#s=this.#i=0}};var on=1e3,Xt=class{tenant;pattern;history;ended;#t;#e;#s;#i=[];jobs=0;#n=0;#r=!1;#o=!1;#a=!1;#h;#c;#f=0;#l=-1/0;#u;#d;#p;constructor(t,e,s,i){
this.tenant=t,this.pattern=e,this.#t=s,this.#e=i,this.#s=new Jt(i.queue),this.history=i.history,this.#d=this.#p=i.history?.
position,this.ended=new Promise(r=>{this.#c=r})}get position(){return this.#s.size===0?this.#d:this.#p}get window(){return this.#e.
queue}async unsubscribe(){this.end(void 0),await this.#t.leave(this)}async drain(){await this.#t.drain(this),this.#o=!0,
this.#g(),await this.ended}#g(){this.#o&&this.#s.size===0&&this.#n===0&&!this.#r&&this.end(void 0)}[Symbol.asyncIterator](){
if(this.#e.onMessage)throw new l("bad_option","a subscription with a callback cannot be iterated");let t=!1;return{next:()=>{
if(t)return Promise.resolve({done:t,value:void 0});let e=this.#s.shift();return this.#r=e!==void 0,e?(this.#b(e),this.#p=
e.position??this.#p,this.history?.paused&&this.#s.size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve({done:!1,
value:e})):(this.#g(),this.#a?(t=!0,this.#h?Promise.reject(this.#h):Promise.resolve({done:t,value:void 0})):new Promise(
(s,i)=>{this.#i.push({resolve:s,reject:i})}))},return:async()=>(t=!0,await this.unsubscribe(),{done:t,value:void 0})}}#m(t){
let{onMessage:e}=this.#e;if(e){this.#n++;let i;try{i=e(t)}catch(r){K(r)}return i instanceof Promise?i.catch(K).then(()=>this.#k(
t)):this.#k(t),!0}let s=this.#i.shift();return s?(this.#r=!0,s.resolve({done:!1,value:t}),this.#b(t),!0):!1}#k(t){this.#n--,
this.#b(t),this.#g()}#b({toOne:t}){t&&(this.jobs--,this.#t.took(this))}#y({own:t,toOne:e}){return t&&!e&&!this.#e.echo}pushStored(t){
if(this.#a)return!0;if(this.#y(t))return this.#d=t.position,!0;let e=this.#m(t);return!e&&this.#s.full?(this.#v(),!0):(this.#d=
t.position,e?this.#p=t.position:this.#s.push(t),!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#d=t}#v(){this.
end(new l("queue_full","messages were not read in time",this)),this.#t.leave(this)}push(t){let{toOne:e}=t;if(this.#a||this.#y(
t)||(e&&this.jobs++,this.#m(t)))return;let{queuePolicy:s}=this.#e;if(e||!this.#s.full)return this.#s.push(t);if(s==="end")
return this.#v();s==="drop-oldest"&&this.#s.drop(i=>!i.toOne)&&this.#s.push(t),this.#f++,this.#u??=setTimeout(()=>this.#w(),
Math.max(0,this.#l+on-d()))}#w(){clearTimeout(this.#u),this.#u=void 0,this.#l=d(),this.#f>0&&this.#t.queueFull(this,this.#f),
this.#f=0}end(t){if(!this.#a){this.#a=!0,this.#h=t,t||(this.#e.onMessage||this.#t.discarded(this,this.jobs),this.#s.clear()),
this.#w();for(let e of this.#i.splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};async function Ms(n,t,e,s=$s){s.advice&&os(s.advice);let i=typeof t=="string"?[t]:t;(!e||!i?.length)&&b("connect needs a\
n address and options");let r=new(s.moves??J)(i.map(a=>ft(a,e.allowPlaintext===!0)),e,n,s),{signal:o=new AbortController().
signal}=e;return v(o),await M(r.start(o),o),new Vt(r)}var Vt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get#e(){
return xe(this.#t.histories,"history","histories and confirmed publishes")}get#s(){return xe(this.#t.presences,"presence",
"presence")}get edge(){return this.#t.place.edge}get transport(){return this.#t.place.transport}get rtt(){return this.#t.
rtt}get limited(){return d()<this.#t.limitedUntil}on(t,e){return this.#t.events.on(t,e)}tenant(t){let e=X(t);return{name:e,
subscribe:(s,i)=>this.subscribe(e,s,i),publish:(s,i,r)=>this.publish(e,s,i,r),join:s=>this.join(e,s),presence:(s,i)=>this.
presence(e,s,i)}}async subscribe(t,e,s={}){let i=this.#t;A("the object of options",s,"onMessage history queue queuePolic\
y echo");let{onMessage:r,echo:o=!0}=s;typeof o!="boolean"&&b("echo must be true or false"),r&&typeof r!="function"&&b("o\
nMessage must be a function");let a=new Xt(X(t),Ee(e),i.subscriber,{...we(s,i.settings),onMessage:r,echo:o,history:s.history===
void 0?void 0:this.#e.begin(s.history,e)});return await i.subscriber.subscribe(a),a}async publish(t,e,s,i){let r=this.#t;
i!==void 0&&A("the object of options",i,"delivery confirm key");let{delivery:o="broadcast",confirm:a=!1,key:h}=i??{},c=fe.
indexOf(o);c<0&&b(`delivery: allowed are ${fe.join(", ")}`),s===void 0&&b("publish takes a tenant, a channel and a paylo\
ad");let u=As(s),f={tenant:X(t),channel:Te(e)};if(a){let m=R(h??"");h!==void 0&&!(m.length>0&&m.length<=64)&&b("a key ha\
s 1 to 64 bytes");let g=y=>le(f.tenant,f.channel,u,c,{id:y,key:m});return this.#e.publish(g,m,c>0,f)}h!==void 0&&b("a ke\
y is for a publish that is confirmed");let p=le(f.tenant,f.channel,u,c||void 0);return r.publishConnection(),r.whenOpen(
()=>r.publishConnection().publish(p,f))}async join(t,e){let s=X(t);return this.#s.join(s,Te(e,s))}async presence(t,e,s={}){
let i=X(t);return this.#s.watch(i,Ee(e,i),s)}async flush(){let t=this.#t;t.publishConnection(),await t.whenOpen(()=>t.publishConnection().
ping())}renewToken(){return this.#t.renewToken()}retry(){this.#t.retry()}async drain(){await this.#t.subscriber.drainAll(),
await this.close()}async close(){this.#t.finish(void 0),await this.closed}[Symbol.asyncDispose](){return this.close()}};var Ps=64;function an(n){if(typeof n!="string"||/[\uD800-\uDFFF]/u.test(n))throw new l("bad_option","a channel's token i\
s made of a string without lone surrogates");let t=i=>`%${i.charCodeAt(0).toString(16).toUpperCase()}`,e=encodeURIComponent(
n).replace(/[.!~*'()]/g,t).replaceAll("%40","@").replaceAll("%","~")||"~";if(e.length<=Ps)return e;let s="each byte of t\
he text but letters, digits and _-@ needs three";throw new l("bad_option",`a channel's token has at most ${Ps} bytes; ${s}`)}var hn=(n,t)=>async()=>{let e=await fetch(n,{method:"POST",cache:"no-store",...t}),s=(await e.text()).trim(),i=String(n).
replace(/[?#].*/s,"");if(!e.ok){let r=s[0]==="<"?"":s.slice(0,200),o=`${i} answers with HTTP status ${e.status}${r&&`: ${r}`}`;
throw/40[13]/.test(`${e.status}`)?new Y(o):new Error(o)}try{return JSON.parse(s)}catch{b(`${i} answers with ${s[0]==="<"?
"a page":"a text"}, not with a token as JSON`)}};var Ah=(n,t)=>Ms(At,n,t,_s);export{Vt as Client,Y as LoggedOutError,l as MillraceError,an as channelToken,Ah as connect,hn as tokenFrom};
