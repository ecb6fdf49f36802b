// Generated from sdk/js by `npm run build && npm run embed` there. Do not edit.
// The package @millrace/client, Apache-2.0.
"use strict";var millrace=(()=>{var ee=Object.defineProperty;var qs=Object.getOwnPropertyDescriptor;var zs=Object.getOwnPropertyNames;var Gs=Object.prototype.hasOwnProperty;var Fs=(n,t)=>{for(var e in t)ee(n,e,{get:t[e],enumerable:!0})},Hs=(n,t,e,s)=>{if(t&&typeof t=="object"||typeof t=="func\
tion")for(let i of zs(t))!Gs.call(n,i)&&i!==e&&ee(n,i,{get:()=>t[i],enumerable:!(s=qs(t,i))||s.enumerable});return n};var Ks=n=>Hs(ee({},"__esModule",{value:!0}),n);var Ei={};Fs(Ei,{Client:()=>it,LoggedOutError:()=>q,MillraceError:()=>u,channelToken:()=>Ds,connect:()=>_i,tokenFrom:()=>Ws});var se;function Be(n){se?.remedy||(se=n)}var O=()=>se;var u=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;told;constructor(t,e="",s={}){
let i=["tenant","channel","pattern"].map(h=>s[h]===void 0?"":` (${h} ${JSON.stringify(s[h])})`),r=/^(unreachable|token_provider|logged_out)$/.
test(t)?Js(s.cause):"",o=O()?.remedy?.(t,e,r),a=[e,(t!=="unreachable"||!o)&&r,o].filter(Boolean).join(": ");super(ne(`${t}${i.
join("")}: ${a||"the edge says so"}`),"cause"in s?{cause:s.cause}:void 0),this.code=t,this.told={code:t,...e&&{detail:e}},
this.tenant=s.tenant,this.pattern=s.pattern,this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode,this.
retryAfter=s.retryAfter}},ne=n=>n.replace(/\p{Cc}/gu," ");function Js(n){return(O()?.cause?.(n)??`${n?.message??""}`).slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function Le(n,t,e){let s=t===401?"unauthorized":/^(429|50[234])$/.test(`${t}`)?
"unavailable":"unreachable",{origin:i}=new URL(n.replace(/^ws/,"http")),r=t<500?"it is not a Millrace edge":"no edge ans\
wers behind it";return new u(s,`${i} answers with HTTP status ${t}, ${r}`,{status:t,retryAfter:e})}var Q=({code:n,status:t=500})=>n===
"unreachable"&&t<500,q=class extends Error{name="LoggedOutError"};function $(n,t,e){return n instanceof u?n:new u(t,e,{cause:n})}
function _(n){return new u("disconnected","no connection to an edge",n===void 0?{}:{cause:n})}var d=()=>performance.now(),L=n=>n.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function x(n){
if(n.aborted)throw L(n)}function S(n,t,e=new Set){return new Promise((s,i)=>{let r=()=>{clearTimeout(h),t.removeEventListener(
"abort",o),e.delete(a)},o=()=>{r(),i(L(t))},a=()=>{r(),s()},h=setTimeout(a,n);e.add(a),t.addEventListener("abort",o),t.aborted&&
o()})}async function I(n,...t){let e,s=new Promise(i=>{e=setTimeout(i,n)});await Promise.race([s,...t]).catch(()=>{}),clearTimeout(
e)}async function R(n,t,e,s="the edge does not answer"){x(n);let i=new AbortController,r=h=>{"reason"in i.signal||Object.
assign(i.signal,{reason:h}),i.abort(h)},o=()=>r(L(n)),a=setTimeout(()=>r(new u("timeout",s)),t);n.addEventListener("abor\
t",o);try{return await e(i.signal)}finally{clearTimeout(a),n.removeEventListener("abort",o),i.abort()}}function M(n,t){return new Promise(
(e,s)=>{let i=()=>s(L(t));t.aborted&&i(),t.addEventListener("abort",i),n.then(e,s).finally(()=>t.removeEventListener("ab\
ort",i))})}function T(n,t){return n<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(n-2,30))}var Xs=1e5,Vs=new Set(["unconfirmed","history_unavailable","try_later"]),ie=0,re=class{#t=[];#e=new Map;enter(t){let e=this.#t.
length;for(;e>0&&this.#t[e-1]>t;)e--;return this.#t[e-1]!==t&&this.#t.splice(e,0,t),this.#t[0]===t}turn(t){return new Promise(
e=>{this.#e.set(t,e)})}leave(t){let e=this.#t.indexOf(t);e>=0&&this.#t.splice(e,1),this.#e.delete(t),this.#e.get(this.#t[0])?.()}},
je=new WeakMap;async function Ce(n,t,e,s,i){let r=e.length>0;ie=ie+1>>>0;let o=ie,a=t(o),h=!1,c=je.get(n)??new re;je.set(
n,c);let l=new AbortController,f=setTimeout(()=>l.abort(_()),Xs),p;try{for(let m=2;;m++){p=await Zs(n,c,o,r,s,l.signal,i);
try{let w=Ys(p,a,o,i);return c.leave(o),await M(w,l.signal)}catch(w){let{code:b}=w,k=b==="disconnected";if(h||=k||b==="u\
nconfirmed",x(l.signal),!(h&&r&&(k||Vs.has(b))))throw w;k||await S(T(m,n.settings),l.signal)}}}catch(m){throw h?new u("o\
utcome_unknown","no edge has said whether the message is stored",{...i,cause:m}):m}finally{clearTimeout(f),c.leave(o),p?.
confirms?.settle(o)}}async function Ys(n,t,e,s){if(!n.alive||!n.confirms)throw _();let i=n.confirms.add(e,t.length,s);return n.
send(t),i}async function Zs(n,t,e,s,i,r,o){for(;;){if(n.over)throw n.over;let a=t.enter(e);if(n.held){await M(Promise.resolve(
n.whenOpen(()=>{})),r);continue}let h=n.out;if(h?.alive)if(h.features===void 0)await M(h.featured,r);else{if(!h.features.
includes("history")&&!(i&&h.features.includes("work_queue")))throw new u("no_history","the edge has no histories, and co\
nfirms nothing",o);if(a)return h;await M(t.turn(e),r)}else{if(!s)throw _();await M(n.changed(),r)}}}var De,We,oe=1024,Qs=["PING","PONG","RECONNECT","OK:AUTH"];function C(n){return De??=new TextEncoder,De.encode(n)}function B(n){
We??=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0});try{return We.decode(n)}catch(t){throw new u("protocol","not UTF-8",
{cause:t})}}var tn=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["tok\
en_unverifiable",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function z(n,t){let[e,s,...i]=n.
split(":"),r=tn.get(e);if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new u(`${s}_not_allowed`,i.join(
":")||void 0,o):new u(e,void 0,o)}function ae(n){if(Qs.includes(n))return{kind:n};if(/^LINK:(up|down)$/.test(n))return{kind:"\
LINK",up:n==="LINK:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(t&&n.length<=oe)return{kind:"FEA\
TURES",features:t};let e=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),s=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(n);if((e||s)&&(n.length<=oe/3||C(n).length<=oe)&&!n.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return en(s[1],ne(s[2]??""))}}function en(n,t){let[,e,
s,i]=n==="permission_denied"&&/^(.*):(allowed|tenants|by)=([^:]*)(?::connection=.*)?$/s.exec(t)||[];return e===void 0?{kind:"\
ERR",code:n,detail:t}:{kind:"ERR",code:n,detail:e,denial:s,names:i?i.split(","):[]}}function ot({denial:n,names:t=[]},e){
return n==="by"?"a hook of the edge refuses it":n&&(O()?.denied?.(e,t,n)??`${n}: ${t.join(", ")}`)}function qe(n){let t=ae(
n);if(!t)throw new u("protocol","an invalid line");return t}var sn=4096,at=class{#t=new Map;#e=[];#s=0;#n;add(t,e,s){return this.note(e),new Promise((i,r)=>{this.#t.set(t,{resolve:i,
reject:r,size:e,about:s})})}note(t,e){t<=sn||t<this.#s||(this.#n=t>this.#s?e:this.#n??e,this.#s=t)}tooLarge(){for(let[t,
{size:e}]of this.#t)e===this.#s&&this.error("payload_too_large",`PUB:${t}`);return this.#n}settle(t,e=()=>{}){let s=this.#t.
get(t);if(s&&e(s,s.about),this.#t.delete(t),this.#t.size===0)for(let i of this.#e.splice(0))i()}error(t,e,s){let i=/^PUB:(\d+)$/.
exec(e)?.[1];return i===void 0?!1:(this.settle(Number(i),(r,o)=>r.reject(new u(t,s&&ot(s,`PUB:${o.tenant}:${o.channel}`),
o))),!0)}get owed(){return this.#t.size>0}idle(){return this.#t.size===0?Promise.resolve():new Promise(t=>{this.#e.push(
t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(_()))}};function N(n,t,e){t!==void 0&&typeof t!==e&&y(`${n} must be a ${e}`)}function y(n){throw new u("bad_option",n)}var nn=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::([a-z_]+))?$/,rn=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function Ge(n){
let[,t,e="",s="",i="",r]=nn.exec(n)??[];if(t&&tt(i)){let h={kind:t,tenant:e,pattern:s,position:i};if(t==="OK:RSUB")return/^(complete|gap)$/.
test(`${r}`)?{...h,how:r}:void 0;if(r===void 0||t==="GAP")return r?{...h,reason:r}:h}let[,o,a]=rn.exec(n)??[];if(!(o===void 0||
Number(o)>4294967295||a!==void 0&&!tt(a)))return a===void 0?{kind:"OK:PUB",id:Number(o)}:{kind:"OK:PUB",id:Number(o),position:a}}
function tt(n){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.exec(n)??[];return t!==void 0&&e!==void 0&&
ze(t)&&ze(e)}var ze=n=>n.length<20||n<="18446744073709551615";var Fe=1e5;function He(n,t){if(n==="now"||n==="last")return n;let{last:e,after:s}=n;if(typeof s=="string"&&e===void 0&&tt(
s))return s;if(!Number.isInteger(e)||e<1||e>Fe||s!==void 0){let i=JSON.stringify(n)?.slice(0,99);y(`history is "now", "l\
ast", { last: 1 to ${Fe} } or { after: position }, not ${i}`)}return/[*>#]/.test(t)&&y(`history: { last } is for one cha\
nnel, and ${t} has a wildcard: begin with "last", or behind a position`),`last.${e}`}var ht=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){
this.from=t}get position(){return tt(this.from)?this.from:void 0}get refusal(){return this.forbidden?"no_right":this.plain?
"no_history":void 0}begin(t){this.on=t,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=
void 0,this.open=!1}takes(t,e){return this.on===t&&this.open&&!this.plain&&!on(e,this.from)}};function on(n,t){let[e,s=""]=n.
split("."),[i,r]=t.split(".");return e===i&&r!==void 0&&(s.length===r.length?s<=r:s.length<r.length)}var Ke;function Je(n){return Ke??=new TextDecoder("utf-8",{ignoreBOM:!0}),Ke.decode(n)}var G=class{tenant;channel;payload;pattern;patterns;late;position;get sender(){
return this.#s?.(),this.#e}own;toOne;#t;#e;#s;constructor(t,e,s,i,r,o,a,h="",c,l=!1,f){this.tenant=t,this.channel=e,this.
payload=s,this.pattern=i,this.patterns=r,this.late=o,this.position=a,this.#e=h,this.#s=f,this.own=c!==void 0,this.toOne=
l,this.#t=c}get key(){return this.#t?.length?Je(this.#t):void 0}get time(){return this.position===void 0?void 0:new Date(
Number(this.position.split(".")[2]))}text(){return Je(this.payload)}json(){try{return JSON.parse(this.text().replace(/^\uFEFF/,
""))}catch{throw new SyntaxError("the message is not JSON: use text()")}}};var ct=class{#t=new Map;#e=new Map;#s=0;unasked;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,i=`${e}\
:${s}`,r=this.#t.get(i),{history:o}=t,a=r??{name:i,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o,credit:new WeakMap,
lost:0};return a.subs.push(t),this.#t.set(i,a),this.#s++,{interest:a,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){
return this.#t.get(t.name)===t}remove(t){let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||
s<0))return e.subs.splice(s,1),e.subs.length===0&&this.drop(e)?e:void 0}drop(t){this.#s++;let e=this.has(t)&&this.#t.delete(
t.name);return e&&this.#e.set(t.name,t),e}ended(t){this.#s++,this.#e.get(t.name)===t&&this.#e.delete(t.name)}dispatch(t,e=!1,s){
let{tenant:i,channel:r,payload:o,route:a,sender:h,own:c,toOne:l=!1}=t,f=a.note?.tenant===i&&a.note.version===this.#s?a.note:
this.#n(i,a);for(let p of f.interests){let{pattern:m,subs:w,history:b,credit:k}=p;if(b&&!b.plain)continue;if(l){let g=s&&
k.get(s);g&&k.set(s,g-1),w.length===0&&p.lost++}let v=new G(i,r,o,m,a.patterns,e,void 0,h,c,l,this.unasked);if(w.length===
1)w[0].push(v);else for(let g of[...w])g.push(v)}}#n(t,e){let s=e.patterns.map(i=>this.#t.get(`${t}:${i}`)??this.#e.get(
`${t}:${i}`)).filter(i=>i!==void 0);return e.note={tenant:t,version:this.#s,interests:s},e.note}};var ft=class{interests=new ct;asking=new Set;#t;#e=new Set;constructor(t){this.#t=t}async restore(t){let e=this.interests.
all;e.some(i=>i.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(i=>!i.history);await Promise.all(s.map(i=>this.
ask(t,i)))}ask(t,e){let s=this.#s(t,e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.
history?await this.#t.histories?.ask(t,e,e.history):(await this.#n(t,e),this.confirm(e),this.credit(e))}catch(s){let i=$(
s,"internal","a fault of this client");if(i.code==="disconnected")return;if(e.confirmed&&this.#t.suspected&&t===this.#t.
next)return t.fail(i);this.#i(e,i)}}confirm(t){t.confirmed=!0;for(let{resolve:e}of t.waiting.splice(0))e()}async#n(t,e){
let{name:s,tenant:i,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(a){let h=a;if(h.code!=="try\
_later"||!lt(e))throw h;o===2&&this.#t.events.emit("subscriptionError",{tenant:i,pattern:r,code:h.code})}await t.postpone(
s,T(o,this.#t.settings))}}#i(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:i,subs:r,waiting:o}=t;for(let a of[
this.#t.current,this.#t.next])a?.forget(t.name)&&a.leave(t.name);lt(t)&&this.#t.events.emit("subscriptionError",{tenant:s,
pattern:i,...e.told});for(let a of r)a.end(e);for(let{reject:a}of o.splice(0))a(e);this.interests.ended(t)}async subscribe(t){
let{tenant:e,pattern:s}=t,i;for(;;){if(this.#t.over)throw this.#t.over;i=this.interests.of(e,s);let h=l=>l?.ending.get(`\
UNSUB:${e}:${s}`),c=h(this.#t.current)??h(this.#t.next);if(i||!c)break;await c}if(i&&(i.history||t.history)){let h="one \
with a history is alone: unsubscribe first";throw new u("bad_option",h,i)}let{interest:r,isNew:o}=this.interests.add(t);
if(r.confirmed)return;let a=new Promise((h,c)=>{r.waiting.push({resolve:h,reject:c})});return o&&(this.#t.current&&!this.#t.
leaving&&this.ask(this.#t.current,r),this.#t.next&&!r.history&&this.ask(this.#t.next,r)),a}async leave(t){let e=this.interests.
remove(t);return e?this.#r(e):0}async drain(t){this.#e.add(t),t.ended.then(()=>this.#e.delete(t));let e=this.interests.of(
t.tenant,t.pattern);if(e?.subs.length!==1||e.subs[0]!==t)return void await this.leave(t);this.interests.drop(e)&&await this.#r(
e)}async drainAll(){for(let{subs:t}of this.interests.all)for(let e of[...t])e.drain();await Promise.all([...this.#e].map(
({ended:t})=>t))}async#r(t){for(let{resolve:o}of t.waiting.splice(0))o();let{name:e,history:s}=t,r=[this.#t.current,this.#t.
next].filter(o=>o?.forget(e)||o&&s?.on===o).map(o=>o.leave(e));return await(this.#t.suspected&&r.length>0?Promise.race(r):
Promise.all(r)),this.interests.ended(t),this.discarded(t,t.lost),t.lost}credit(t){let{current:e,leaving:s}=this.#t,{name:i,
subs:r,history:o}=t;if(!e?.alive||s||o||!e.confirmed.has(i)||!e.features?.includes("work_queue"))return;let a=t.credit.get(
e)??0,h=Math.min(...r.map(l=>l.window)),c=h-a-Math.max(...r.map(l=>l.jobs));c<1||2*c<h||(t.credit.set(e,a+c),e.tell(`CRE\
DIT:${i}:${c}`))}follow(){for(let t of this.interests.all)this.credit(t)}took({tenant:t,pattern:e}){let s=this.interests.
of(t,e);s&&this.credit(s)}wasRead(t){this.#t.histories?.wasRead(t)}discarded({tenant:t,pattern:e},s){s>0&&this.#t.events.
emit("discarded",{tenant:t,pattern:e,count:s})}queueFull({tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,
pattern:e,dropped:s})}end(t,e){for(let s of this.interests.all){this.interests.drop(s);for(let i of s.subs)i.end(t);for(let{
reject:i}of s.waiting.splice(0))i(t??e);this.interests.ended(s)}}};function lt({subs:n,waiting:t}){return n.length>t.length}var an=new Set(["expired","purged","late","lost","behind","no_right","no_history"]),hn=1024,ut=class{#t;#e=new Map;constructor(t){
this.#t=t}begin(t,e){return new ht(He(t,e))}async publish(t,e,s,i){let r=await Ce(this.#t,t,e,s,i);return r!==void 0&&(this.#e.
set(r,e),this.#e.size>hn&&this.#e.delete(this.#e.keys().next().value)),r}confirms(){return new at}line(t,e){let s=Ge(e);
s?.kind==="OK:PUB"?t.confirms?.settle(s.id,i=>i.resolve(s.position)):s&&(this.#s(t,s),s.kind==="OK:RSUB"&&t.resumed(`${s.
tenant}:${s.pattern}`))}async resume(t){let{interests:e}=this.#t.subscriber,s=e.all.filter(({history:i})=>i);await Promise.
all(s.map(i=>this.#t.subscriber.ask(t,i)))}stored(t,e,s){let{tenant:i,channel:r,payload:o,route:a,sender:h,own:c=this.#e.
get(s)}=e,{patterns:l}=a,f=l[0],{interests:p}=this.#t.subscriber,m=p.of(i,f),{history:w}=m??{};if(!m||!w?.takes(t,s))return;
w.from=s,m.subs[0]?.pushStored(new G(i,r,o,f,l,!1,s,h,c,!1,p.unasked))===!1&&this.#t.subscriber.interests.has(m)&&(w.pause(),
t.leave(m.name)),this.#t.subscriber.confirm(m)}#s(t,e){let{kind:s,tenant:i,pattern:r,position:o}=e,a=this.#t.subscriber.
interests.of(i,r),{history:h}=a??{};if(!(!a||!h||h.plain)){if(h.on!==t||!h.open){s==="GAP"&&h.paused&&t===this.#t.current&&
this.#n(i,r,o,e.reason);return}if(s==="GAP"||h.takes(t,o)){h.from=o;for(let c of a.subs)c.reach(o)}s==="GAP"?(h.told=!0,
this.#n(i,r,o,e.reason)):s==="OK:RSUB"&&(this.#t.subscriber.confirm(a),e.how==="gap"&&!h.told?this.#n(i,r,o):h.lossy&&this.#n(
i,r,void 0,h.refusal))}}#n(t,e,s,i="unknown"){this.#t.gaps=!0,this.#t.events.emit("gap",{tenant:t,pattern:e,before:s,reason:an.
has(i)?i:"unknown"})}wasRead(t){let e=this.#t.subscriber.interests.of(t.tenant,t.pattern),{current:s}=this.#t;!e?.history||
e.history!==t.history||(e.history.paused=!1,s&&this.#t.subscriber.ask(s,e))}async ask(t,e,s){let{name:i,tenant:r,pattern:o}=e;
if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===t)){s.begin(t);for(let a=2;;){if(await t.featured,await t.ending.get(`\
UNSUB:${i}`),!t.alive||s.on!==t||!this.#t.subscriber.interests.has(e))return;let h=!t.features?.includes("history")||s.unwanted,
c=s.forbidden?"now":s.from,l=lt(e);s.lossy=h?l||c!=="now":s.forbidden||l&&c==="now",s.plain=h,s.open=!0,h&&(s.from="now");
try{if(!h)return await t.resume(i,c);if(await t.request("SUB",i),!this.#t.subscriber.interests.has(e))return;this.#t.subscriber.
confirm(e),s.lossy&&this.#n(r,o,void 0,s.refusal);return}catch(f){let p=f;if(p.code==="history_unavailable")return this.#t.
gaps=!0,this.#t.events.emit("edgeError",{code:p.code,detail:`RSUB:${i}`});if(s.open=!1,p.code==="permission_denied"&&!h&&
c!=="now")s.forbidden=!0;else if(p.code==="no_history"&&l)s.unwanted=!0;else if(p.code==="try_later"&&l)a===2&&this.#t.events.
emit("subscriptionError",{tenant:r,pattern:o,code:p.code}),await t.postpone(i,T(a++,this.#t.settings)),t.postponed.delete(
i);else throw p}}}}};function dt(n,t){let e;try{e=new URL(n)}catch{}let{username:s,password:i,search:r,hash:o,protocol:a,hostname:h="",pathname:c=""}=e??
{},l=typeof n=="string"&&!(s||i||r||o||/^\/w[st]$/.test(c))&&(a==="https:"||a==="http:"&&(t||cn(h)));if(e&&l)return e;y(
O()?.address(n,e)??"an address is an origin: https://, or http:// on this machine")}function cn(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.
test(n)}async function Xe(n,t,e){try{let s=await t.runtime.fetch(n,t,{cache:"no-store",credentials:"omit",signal:e});return{status:s.
status,pong:s.ok&&(await s.text()).trim()==="pong"}}catch{return{status:0,pong:!1}}}async function Ve(n,t,e){try{let s=await t.
runtime.fetch(n,t,{cache:"no-store",credentials:"omit",signal:e});return await s.arrayBuffer(),s.ok}catch{return!1}}async function Ye(n,t,e){
try{return await t.runtime.fetch(n,t,{cache:"no-store",credentials:"omit",mode:"no-cors",signal:e}),!0}catch{return!1}}var Ze=3,fn=500;async function Qe(n,t,e){let s,i=await Promise.all(n.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await R(e,t.connectTimeout,a=>ln(o,t,a))}catch(a){return s=a,[]}})),r=[...new Set(i.flat())];if(x(e),r.length===
0)throw s??new u("unreachable","the list has no edge");return r.length>1&&(await R(e,t.connectTimeout,o=>un(r,t,o)).catch(
()=>{}),x(e)),r}async function ln(n,t,e){try{let s=await t.runtime.fetch(n.href,t,{cache:"no-store",credentials:"omit",signal:e});
if(!s.ok)throw new u("unreachable",`the list of edges: HTTP status ${s.status}`,{status:s.status});let{edges:i}=await s.
json();return i.map(({host:r})=>dt(`https://${r}`,!1).origin)}catch(s){throw $(s,"unreachable","the list of edges")}}async function un(n,t,e){
let s=new Map,i,r=new Promise(c=>{i=c}),o=async c=>{let l=[];for(;l.length<Ze;){let f=d();if(!await Ve(c+t.paths.ping,t,
e))return;l.push(d()-f)}l.sort((f,p)=>f-p),s.set(c,l[Ze>>1]),i()},a=n.map(o);await Promise.race([Promise.all(a),r.then(()=>S(
fn,e))]);let h=c=>s.get(c)??Number.MAX_VALUE;n.sort((c,l)=>h(c)-h(l))}var dn=.9765625,pn=1e3,mn=32,pt=class{#t=0;#e=0;#s=0;#n=0;#i;#r;#o=dn;publish(t,e){let s=this.#t++===this.#e;return this.#a(
t,e,s),s}request(t,e,s){let i=this.waits(s)===void 0;return this.#a(t,e,i),i}#a(t,e,s){this.#n+=t+mn,this.#r??=e,s&&(this.#i=
e)}waits(t){return this.#t===this.#e&&t>=(this.#i??t)?void 0:this.#i}mark(){let t={publishes:this.#t,bytes:this.#n,first:this.#r};
return this.#e=this.#t,this.#n=0,this.#i=this.#r=void 0,t}proven({publishes:t,bytes:e,first:s},i){this.#s=Math.max(this.#s,
t),s!==void 0&&(this.#o=Math.min(this.#o,(i-s+pn)/e))}sendTime({bytes:t}){return t*this.#o}told(){this.#s++}take(){let t=this.#t-
this.#s;return this.#s=this.#t,t}};var et=1e3,wn=3,gn=2**31-1,mt=2e3,he=50,F=class{heard=d();c;settings;spread=1+Math.random()/16;woken=0;over=!1;#t=0;#e;constructor(t,e){
this.c=t,this.settings=e}arrived(t){this.heard=t}active(t){}ponged(t){this.#t=0,this.arm()}awake(t){let e=d();this.asking||
(this.#t=0),!(this.over||this.#t++>=wn)&&(this.woken=e,this.settings.keepAlive>0&&!this.asking&&(t||e-this.heard>=et)&&this.
ask(e),this.arm())}stop(){this.over=!0,clearTimeout(this.#e)}get asking(){return this.c.unanswered}get patience(){return this.
settings.keepAlive}get askAt(){let{keepAlive:t}=this.settings;if(t<0)return 1/0;let e=this.c.unreadSince??1/0;return Math.
min(this.heard+this.patience*this.spread,e+Math.min(1e3,t))}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:i}=this.
settings;return s<0?1/0:Math.max(t,this.heard,this.woken)+i+e}dueAt(t){return this.lostAt(t)}arm(){clearTimeout(this.#e);
let t=this.asking,e=t?this.dueAt(t):this.askAt;if(this.over||e===1/0)return;let s=d(),i=Math.max(e,s+1);this.#e=setTimeout(
()=>this.#s(i),Math.min(i-s,gn))}#s(t,e=!1){this.look();let s=d();if(s-t>=mt&&this.awake(!1),this.over)return;if(!e&&s-t>
he){clearTimeout(this.#e),this.#e=setTimeout(()=>this.#s(s+he,!0),he);return}let i=this.asking;if(!i)s>=this.askAt&&this.
ask(s);else{if(s>=this.lostAt(i))return this.c.over();this.judge(i,s)}this.arm()}look(){}judge(t,e){}ask(t){this.c.ask()}probe(){
this.c.probe()}};var wt=class{#t;#e=0;#s=0;#n=0;#i=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#n=this.#i=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#i=this.#n,this.#n=0,this.#e=
t),e>this.#n&&(this.#n=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#n,this.#i)))}};var de=1e3,gt=new Set,ce,yt=0,fe=0,le=0,ts=-1/0,es=n=>n>le&&n<ts+de?le:n;function bn(n,t){return n>=de+mt||t-n>=mt}function pe(){
let n=d()-yt,t=Date.now()-fe;bn(n,t)&&(bt.document?.visibilityState==="hidden"?kt("slept"):ue()),yt+=n,fe+=t}function ss(n){
return gt.add(n),ce??=yn(),()=>{!gt.delete(n)||gt.size>0||(ce?.(),ce=void 0)}}function ue(){le=yt,ts=d(),kt("slept")}function kt(n){
for(let t of[...gt])t[n]()}var bt=globalThis;function yn(){yt=d(),fe=Date.now();let n=setInterval(pe,de),{document:t,navigator:e}=bt,
s=()=>{t?.visibilityState==="visible"&&kt("slept")},i=()=>kt("networkChanged"),r=e?.connection,o=r?.type,h=[[bt,"online",
i],[r,"change",()=>{r?.type!==o&&(o=r?.type,i())}],[bt,"pageshow",ue],[t,"resume",ue],[t,"visibilitychange",s]];for(let[
c,l,f]of h)c?.addEventListener?.(l,f);return()=>{clearInterval(n);for(let[c,l,f]of h)c?.removeEventListener?.(l,f)}}var me=1e3,vt=class extends F{#t=new wt(this.heard);#e=-1/0;#s=!1;#n;#i=0;#r=-1/0;#o=-1/0;#a;#h;arrived(t){super.arrived(
t),this.#a=void 0,this.#h?.abort(),this.#h=void 0,(this.#s?this.#t.skip(t):this.#t.arrived(t))&&this.arm(),this.#s&&(this.#s=
!1,this.c.woke())}active(t){let e=this.#c;this.#e=t,e||this.arm()}get#c(){return this.heard-this.#e<1e4}ponged(t){let e=Math.
min(t,2*this.#f);this.#n===void 0?(this.#n=e,this.#i=e/2):(this.#i+=(Math.abs(this.#n-e)-this.#i)/4,this.#n+=(e-this.#n)/
8),super.ponged(t)}stop(){super.stop(),this.#h?.abort()}get asking(){return super.asking??this.#a}get#f(){return Math.max(
et,(this.#n??0)+4*this.#i)}get patience(){let t=this.#c?this.#t.unusual:1/0;return Math.min(super.patience,t,this.c.owed?
3e3:1/0)}suspectAt({at:t,sendTime:e}){return Math.max(t,this.heard,this.woken)+(this.#a?et:this.#f)+e}lostAt({at:t,sendTime:e}){
let{keepAlive:s,pongTimeout:i}=this.settings;if(s<0)return 1/0;let r=Math.max(this.heard,this.woken);return Math.max(t+i,
r+s+i)+e}look(){pe()}dueAt(t){return Math.min(this.#s?1/0:this.#l(t),super.dueAt(t),this.#r+me)}#l(t){return Math.max(this.
suspectAt(t),this.#o+me)}judge(t,e){!this.#s&&e>=this.#l(t)&&this.#u(e),this.over||this.probe()}#u(t){this.#s=this.c.silent(),
this.#s||(this.#o=t)}ask(t){if(this.c.pingFirst===void 0||this.c.unreadSince!==void 0)return this.c.ask();this.#a={at:t,
sendTime:0},this.#r=-1/0,this.probe()}probe(){let t=d();t-this.#r<me||(this.#r=t,this.c.pingFirst!==void 0&&(this.#s||this.#a)?
this.#d(this.c.pingFirst):this.c.probe())}async#d(t){if(this.#h)return;let e=new AbortController;this.#h=e;let s=setTimeout(
()=>e.abort(),et),i=await Ye(t,this.settings,e.signal);clearTimeout(s),!(this.over||this.#h!==e)&&(this.#h=void 0,i?(this.#a=
void 0,this.c.unanswered?this.c.probe():this.c.ask()):this.#a&&(this.#a={at:-1/0,sendTime:0}),this.arm())}};function j({tenant:n,channel:t,payload:e}){let s=`${n}:${t}:`;for(let i=0;i<e.length;i+=1024)s+=String.fromCharCode(...e.
subarray(i,i+1024));return s}var A=class{size=0;#t=0;#e=[];#s=0;#n=new Map;get oldest(){for(;this.#e[this.#s]?.entry===void 0&&
this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.flatMap(({entry:t})=>t??[])}put(t,e,s){
this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=0);let i={entry:{key:t,time:e,message:s}};
this.#e.push(i);let r=this.#n.get(t);return r?r.push(i):this.#n.set(t,[i]),this.size++,this.#t+=t.length,this.size>65536||
this.#t>16777216?this.drop():void 0}take(t){let e=this.#n.get(t),s=e?.shift();return!e||!s?!1:(e.length===0&&this.#n.delete(
t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;return t&&this.take(t.key),t}dropUntil(t){let e=[];
for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&e.push(s.message);return e}};var ns=1e3,xn=1e4,H=class{#t=new A;#e=new A;#s=new A;#n=ns;#i;joined(t){this.#i=t}left(t){this.#n+=this.#r(t),this.#i=void 0}#r(t){
return this.#i===void 0?0:Math.min(t-this.#i,xn-ns)}fromCurrent(t,e){let s=j(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(j(t),e),t;let i=this.#e.put(
j(t),e,{...t});return i&&this.#s.put(i.key,e),i?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(j(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new A;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#i=void 0,this.#t=new A;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new A}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#n-this.#r(
t))}};var xt=250,Tt=2e3;async function _t(n,t,e,s,i){for(;n.merger&&!n.merger.done(d());)await S(50,s);n.merger=new H,n.both=!0;
let r=i!==void 0;n.tentative=r;let{place:o}=n,a=!1,h=()=>{a||n.events.emit("moving",{...o,reason:e}),a=!0};r||h();let c=0;
for await(let l of n.searcher.order(t.edge,e!=="drain",s)){let f=i;if(i=void 0,!f){await n.pause(Math.max(T(++c,n.settings),
n.searcher.wait(l)),s);try{f=await n.searcher.open(l,s)}catch(p){if(x(s),!(p instanceof u)||n.searcher.hopeless(l,p,!0))
throw p;continue}}if(s.aborted)return void f.close();if(f.alive){n.next=f,n.merger.joined(d()),n.merger.release();let p=n.
restore(f);n.tentative&&f.ping().catch(()=>{}),await p}if(n.tentative){if(x(s),n.next!==f)return n.keepCurrent();n.tentative=
!1}if(f.alive){if(await Tn(n,t,f,h,s),x(s),n.current!==f){if(r)return n.keepCurrent();continue}f.alive&&(h(),n.since=d(),
n.events.emit("moved",{...n.place,reason:e}));return}}}async function Tn(n,t,e,s,i){let r=()=>n.next===e&&n.current===t;
if(!r())return;n.gate??=[];let o=I(Tt,t.ping()).then(()=>{r()&&n.openGate(e)}),a=3;do await S(xt,i);while(--a&&n.merger?.
behind);await I(Tt,Promise.all([...n.subscriber.asking,...n.presences?.asking??[]]));for(let c=Tt;c>0&&r()&&n.presences&&
!n.presences.hasSynced(e);c-=xt)await S(xt,i);for(;r()&&e.postponed.size>0;)await S(xt,i);if(!r())return;s(),n.leaving=!0;
let h=[...t.asked].map(c=>t.leave(c));await I(Tt,t.ended,Promise.allSettled([...h,t.ping(),t.confirms?.idle()])),await o,
r()&&n.promote(),n.leaving=!1}var K=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(i=>i.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var is=1<<20,_n=1e3;async function Et({edge:n,token:t,signal:e},s){let{paths:i,runtime:r}=s,{promise:o,resolve:a,reject:h}=Sn(),
c=new K,l=!1,f=await r.socket(n.replace("http","ws")+i.webSocket,t,s,{refused(g){l=!0,h(g)},bytes:()=>c.bytes()});f.binaryType!==
"nodebuffer"&&(f.binaryType="arraybuffer");let p=()=>f.terminate?f.terminate():f.close(),m=()=>{h(L(e)),p()};e.addEventListener(
"abort",m),e.aborted&&m();let w=!1,b,k;f.onerror=({error:g})=>{b=g},f.onopen=()=>{if(f.protocol==="refusal.v1"){f.onmessage=
({data:g})=>{let[,E,rt]=/^ERR:([a-z_]+)(?::(.*?))?(?::( in|connection=).*)?$/s.exec(String(g))??[];E&&(l=!0,h(new u(E,rt)))};
return}w=!0,e.removeEventListener("abort",m),a({transport:"websocket",fragile:!1,start:g=>c.start(g),send:g=>w&&f.send(g),
sent:()=>w&&f.bufferedAmount>is?v():void 0,probe(){},close(){f.close(1e3),k??=setTimeout(()=>{p(),c.ended({})},_n)}})},f.
onclose=({code:g})=>{clearTimeout(k),w?(w=!1,c.ended({closeCode:g})):l||En(n,s,e,b).then(h,h),e.removeEventListener("abo\
rt",m)},f.onmessage=({data:g})=>{typeof g=="string"?c.line(g):ArrayBuffer.isView(g)?c.frame(new Uint8Array(g.buffer,g.byteOffset,
g.byteLength),0,g.byteLength):c.frame(new Uint8Array(g),0,g.byteLength)};async function v(){for(;w&&f.bufferedAmount>is;)
await new Promise(g=>setTimeout(g,5))}return o}async function En(n,t,e,s){let{status:i,pong:r}=await Xe(n+t.paths.ping,t,
e);return i&&!r?Le(n,i):r?new u("refused","the edge refuses the WebSocket"):new u("unreachable",`no WebSocket at ${n}${t.
paths.webSocket}`,{cause:s})}function Sn(){let n,t;return{promise:new Promise((s,i)=>{n=s,t=i}),resolve:n,reject:t}}var J=class{settings;constructor(t){this.settings=t}canWebTransport(t){return!1}forget(){}noteSilent(t,e=!1){}async open(t,e,s,i){
let{transports:r,connectTimeout:o}=this.settings;return r.includes("websocket")||y('WebTransport: add import "@millrace/\
client/webtransport"'),R(s,o,a=>Et({edge:t,token:e,signal:a},this.settings))}};function X({code:n,status:t}){return t&&n===
"unreachable"?1.5:["unreachable","timeout","refused","protocol_not_allowed"].indexOf(n)>>>0}var $n=1e4;async function rs(n,t,e,s){n.reconnecting=!0,n.lose();for(let i of n.subscriber.interests.all)i.confirmed=!1;
n.events.emit("disconnected",{...n.place,error:e}),e.code==="token_expired"&&t.token===n.tokens.token&&n.tokens.expire(),
d()-n.since>$n&&(n.attempts=0);for await(let i of n.searcher.order(t.edge,!1,s)){let r=++n.attempts,o=Math.max(T(r,n.settings),
n.searcher.wait(i));n.events.emit("reconnecting",{attempt:r,delay:o}),await n.pause(o,s);try{let a=await n.searcher.open(
i,s);if(s.aborted)return void a.close();if(n.setCurrent(a),await n.restore(a),x(s),!a.alive)continue;n.reconnecting=!1,n.
since=d();let h=!n.gaps&&n.subscriber.interests.all.every(c=>c.history);return n.events.emit("reconnected",{...n.place,away:d()-
n.heard(t),complete:h})}catch(a){if(x(s),!(a instanceof u)||n.searcher.hopeless(i,a,!1))throw a}}}var ge=["broadcast","one-nearest","one-random"];function be(n,t,e,s,i){let r=typeof e=="string"?C(e):e,o=i?7+i.key.length:
s===void 0?0:2,a=new Uint8Array(o+4+n.length+t.length+r.length);return o>0&&(a[0]=i?3:2,a[1]=s??0),i&&(new DataView(a.buffer).
setUint32(2,i.id),a[6]=i.key.length,a.set(i.key,7)),a.set(r,os(a,os(a,o,n),t)),a}function os(n,t,e){n[t++]=e.length>>8,n[t++]=
e.length;for(let s=0;s<e.length;s++)n[t++]=e.charCodeAt(s);return t}var cs=1,fs=2,ls=4,us=8,we=24,On=128,An=64,Mn={4:cs|
fs|ls|us,5:7};function ye(n,t,e){if(t===e||n[t]===1)return!1;let s=Mn[n[t]];return s===void 0||t+1<e&&(n[t+1]&~s)!==0}var St=class{#t=new st;#e=new st;#s=new st;#n={};decode(t,e,s){
let i=g=>{g>s&&U()},r=g=>(i(g+2),t[g]<<8|t[g+1]);(e===s||t[e]===5||ye(t,e,s))&&U();let o,a="",h,c=0,l=g=>{i(e+2);let E=e+
2;return e=E+t[e+1]-1,e-E>=g&&U(),i(e+1),E};if(t[e]===4){if(c=r(e)&255,c===0&&U(),e++,c&cs&&(i(e+1+we),o=Pn(t,e+1),e+=we),
c&fs){let g=l(On);a=this.#s.of(t,g,e+1,()=>B(t.subarray(g,e+1)))}c&us&&(h=t.slice(l(An),e+1))}let f=o!==void 0,p=e+3+r(e+
1),m=p+2+r(p),w=m+4;i(w);let b=w+r(m)*65536+r(m+2);(r(b)===0||f&&r(b)!==1)&&U();let k=this.#t.of(t,e+1,m,()=>[B(t.subarray(
e+3,p)),B(t.subarray(p+2,m))]),v=this.#n;return v.tenant=k[0],v.channel=k[1],v.payload=t.subarray(w,b),v.route=this.#e.of(
t,b,s,()=>{let g=[],E=b+2;for(let rt=r(b);rt>0;rt--){let te=E+2+r(E);i(te),g.push(B(t.subarray(E+2,te))),E=te}return E!==
s&&U(),{patterns:Object.freeze(g),note:void 0}}),v.position=o,v.sender=a,v.toOne=(c&ls)!==0,v.own=h,v}};function Pn(n,t){
let e=new DataView(n.buffer,n.byteOffset+t,we);return`${as(e,0)}${as(e,4)}.${hs(e,8)}.${hs(e,16)}`}var as=(n,t)=>n.getUint32(
t).toString(16).padStart(8,"0");function hs(n,t){let e=n.getUint32(t);return e<2097152?String(e*4294967296+n.getUint32(t+
4)):String(n.getBigUint64(t))}function U(){throw new u("protocol","a broken frame")}var Nn=256,Un=1024,st=class{#t=[];of(t,e,s,i){
let r=0;for(let c=e;c<s;c++)r=Math.imul(r,31)+t[c]|0;let o=(r^r>>>8)&Nn-1,a=this.#t[o];if(a&&In(a.bytes,t,e,s))return a.
value;let h=i();return s-e<=Un&&(this.#t[o]={bytes:t.slice(e,s),value:h}),h}};function In(n,t,e,s){if(n.length!==s-e)return!1;
for(let i=0;i<n.length;i++)if(n[i]!==t[e+i])return!1;return!0}var $t=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),i=s?.
shift();return i?(s?.length===0&&this.#t.delete(t),e(i),!0):!1}get owed(){for(let t of this.#t.keys())if(!/^(RSUB|AGAIN):/.
test(t))return!0;return!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();for(let s of e)s.reject(t)}};var Ot=class{edge;transport;token;begun=d();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;confirms;error;ended;#t;#e;#s;#n=new St;#i=new $t;#r;#o=[];#a=new Set;#h=new pt;#c=!1;#f=!0;#l=!0;#u;constructor(t,e,s,i,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.confirms=i.confirms(),this.#e=i;let o=this;this.#s=i.
watch({get unanswered(){return o.#o[0]},get unreadSince(){return o.#h.waits(o.lastByte)},get owed(){return o.#i.owed||o.
confirms?.owed===!0},pingFirst:e.fragile?t+r.paths.ping:void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.
silent(this),woke:()=>this.#e.woke(this),over:()=>this.fail(new u("timeout","the edge does not answer"))}),this.featured=
new Promise(h=>{this.#r=h});let a;this.ended=new Promise(h=>{a=h}),e.start({bytes:()=>{this.alive&&this.#s.arrived(d())},
line:h=>this.#k(()=>this.#m(h)),frame:(h,c,l)=>{if(!this.alive||(this.#p(),ye(h,c,l)))return;let f;try{if(h[c]===5)return this.#e.
presence(this,h,c,l);f=this.#n.decode(h,c,l)}catch(p){return this.#g(p)}this.#e.delivered(this,f)},ended:h=>{a(),this.#v(
h)}}),this.#c=!0,this.alive&&this.send(`FEATURES:link,work_queue,own,reasons${r.sender?",sender":""}`),this.alive&&this.#s.
arm()}get lastByte(){return this.#s.heard}request(t,e,s=""){t==="SUB"&&this.asked.add(e);let i=`${t}:${e}`,r=this.#d(i);
return this.alive&&this.send(i+s),r}resume(t,e){let s=this.#d(`RSUB:${t}`);return this.alive&&this.send(`RSUB:${t}:${e}`),
s}leave(t,e="UNSUB"){let s=`${e}:${t}`,r=this.request(e,t).catch(()=>{}).then(()=>{this.ending.get(s)===r&&this.ending.delete(
s)});return this.ending.set(s,r),r}resumed(t){this.#i.answer(`RSUB:${t}`,e=>e.resolve())}postpone(t,e){this.postponed.add(
t);let s=`AGAIN:${t}`,i=setTimeout(()=>this.#i.answer(s,r=>r.resolve()),e);return this.#d(s).finally(()=>clearTimeout(i))}#d(t){
return new Promise((e,s)=>{this.alive?this.#i.add(t,{resolve:e,reject:s}):s(_())})}forget(t){return this.confirmed.delete(
t),this.postponed.delete(t),this.#i.answer(`AGAIN:${t}`,e=>e.reject(_())),this.asked.delete(t)}ping(){return new Promise(
(t,e)=>{if(!this.alive)return e(_());let s=this.#h.mark();this.#o.push({at:d(),sendTime:this.#h.sendTime(s),mark:s,resolve:t,
reject:e}),this.#t.send("PING"),this.#s.probe(),this.#o.length===1&&this.#s.arm()})}publish(t,e){this.confirms?.note(t.length,
e);let s=this.#h.publish(t.length,d());this.#t.send(t),s&&this.#s.arm();let i=this.#t.sent();return i&&new Promise(r=>{let o=()=>{
this.#a.delete(o),r()};this.#a.add(o),i.then(o,o)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=t,this.#s.stop(),this.#i.
reject(_()),this.confirms?.fail();for(let e of this.#o)e.reject(_());for(let e of this.#a)e()}tell(t){this.#t.send(t)}send(t){
let e=this.#h.request(t.length,d(),this.lastByte);this.#t.send(t),e&&this.#s.arm()}takeUnread(){return this.#h.take()}close(){
return this.alive&&(this.#b(_()),this.#t.close()),this.ended}#p(){let t=d();this.#s.arrived(t),this.#s.active(t)}#m(t){t===
"PONG"?this.#s.arrived(d()):this.#p();let e=ae(t);if(!e)return this.#e.line(this,t);if(e.kind==="OK"){let s=`${e.tenant}\
:${e.pattern}`;if(this.#i.answer(`${e.verb}:${s}`,i=>i.resolve())&&e.verb==="SUB"&&(this.confirmed.add(s),this.postponed.
delete(s)),e.verb==="UNSUB")for(;this.#i.answer(`RSUB:${s}`,i=>i.reject(_())););}else if(e.kind==="ERR")this.#y(e.code,e.
detail,t.slice(4),e);else if(e.kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#o.shift();if(!s)return;
let i=d()-s.at;this.#h.proven(s.mark,d()),s.resolve(i),this.#s.ponged(i),this.#e.roundTrip(i)}else e.kind==="RECONNECT"&&
!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATURES"?this.#w(e.features.split(",")):e.kind==="LINK"&&
(this.#l=e.up,this.#f||this.#w())}#w(t=this.features??[]){this.#f=!1,this.features=t,this.#r(),this.link=this.#l,this.#e.
linked()}#y(t,e,s,i){if(this.#f&&t==="bad_request")return this.#w();let r=z(s);if(r&&(this.#u=s),this.confirms?.error(t,
e,i))return;let o=ot(i,e),[,a,h,c]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(e)??[];!(h!==void 0&&
c!==void 0&&t!=="broker_unavailable"&&this.#i.answer(e,f=>f.reject(new u(t,o,a?{tenant:h,channel:c}:{tenant:h,pattern:c}))))&&
!/^(token_|unauthorized|forbidden|closed_by)/.test(t)&&this.#e.errorLine(this,t,e,o),(t==="token_revoked"||t==="token_ex\
pired")&&this.fail(r)}#k(t){if(this.alive)try{t()}catch(e){this.#g(e)}}#g(t){this.fail($(t,"protocol","the edge broke th\
e protocol"))}fail(t){this.#b(t),this.#t.close(),this.#c&&this.#e.lost(this,t)}#v({closeCode:t,error:e}){if(!this.alive)
return;let s=this.#u===void 0?void 0:z(this.#u,t),i=t===4401?"token_expired":t===4403?"token_revoked":"disconnected",r=s?.
code!=="slow_consumer"||t===4429,o="the connection has ended";if(t===1009){o="a message was too large";let h=this.confirms?.
tooLarge();h&&(this.#h.told(),this.#e.errorLine(this,"payload_too_large",`PUB:${h.tenant}:${h.channel}`))}let a=s&&r?s:e??
new u(i,o,{closeCode:t});this.#b(a),this.#c&&this.#e.lost(this,a)}#b(t){this.alive=!1,this.error=t,this.#s.stop();let e=_(
t);this.#r(),this.#i.reject(e),this.confirms?.fail();for(let s of this.#o)s.reject(e);this.#o=[]}};var ke=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,Rn=/^(unauthorized|token_expired|region_not|protocol_not)/,
Bn=5,Ln=6e4,At=class{#t;#e;#s;#n;dialer;#i=[];#r=new Map;#o;#a=!1;#h=!1;#c=0;#f=0;#l=new Map;drained=new Set;constructor(t,e,s,i,r){
this.#t=t,this.#e=e,this.#s=s,this.#n=i,this.dialer=r}async first(t){await M(this.#s.get(),t),this.#i=await this.#n.edges(
this.#t,t);let e;for(let s of this.#i)try{return await this.open(s,t)}catch(i){if(!(i instanceof u)||ke.test(i.code)||i.
code==="token_provider")throw i;(!e||X(i)>X(e))&&(e=i),this.#a=Q(i)?this.#d(s,i):this.hopeless(s,i,!1)}throw e}final(t){
return!(t instanceof u)||ke.test(t.code)||this.#a?!0:t.code==="token_provider"?t.cause?.code==="bad_option":this.#i.length===
0&&Q(t)}async*order(t,e,s){for(;;){let i=this.#i.filter(o=>o!==t),r=e?[t,...i]:i.length<this.#i.length?[...i,t]:i;for(let o of r)
r.some(a=>this.wait(a)<this.wait(o))||(yield o);if(this.#t.some(o=>o.pathname!=="/"))try{this.#i=await this.#n.edges(this.#t,
s)}catch{x(s)}}}wait(t){return Math.max(0,(this.#l.get(t)??0)-d())}async open(t,e,s){let i=await this.#s.get();try{return await this.#u(
t,i,e,s)}catch(r){if(!(r instanceof u&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;
let a=await this.#s.ask();if(a===i)throw r;return this.#u(t,a,e,s)}}async#u(t,e,s,i){e!==this.#o&&(this.#o=e,this.#r.clear(),
this.dialer.forget());let r=await this.dialer.open(t,e,s,i).catch(a=>{let{retryAfter:h=0}=a;throw this.#l.set(t,d()+Math.
min(h,this.#e.maxBackOff)),a});this.#h=!0,this.drained.delete(t),this.#l.delete(t);let o=new Ot(t,r,e,this.#n,this.#e);if(o.
error)throw o.error;return this.#c=0,this.#r.clear(),o}hopeless(t,e,s){let{code:i}=e;i==="unreachable"&&this.drained.delete(
t);let r=i==="unauthorized"&&this.#s.provided;return r&&this.#h&&this.#s.failed(e),r||i==="refused"?s||this.drained.has(
t)?!1:(this.#c++===0&&(this.#f=d()),this.#c>=Bn&&d()-this.#f>=Ln):(this.#c=0,ke.test(i)?!0:Rn.test(i)&&this.#d(t,e))}#d(t,e){
return this.#r.set(t,e),this.#i.every(s=>this.#r.has(s))}};function D(n,t,e){let s=e.split(" ");if(s.includes(t))return;let i=String(t).slice(0,32),r=O()?.nearest(i,s)??"";throw new u(
"bad_option",`${n} ${JSON.stringify(i)}: allowed are ${s.join(", ")}${r}`)}function P(n,t,e){if(typeof t!="object"||t===
null)throw new u("bad_option",`${n} must be an object: allowed are ${e}`);for(let s of Object.keys(t))D(`${n} has no`,s,
e)}var ds="connecting connected disconnected reconnecting reconnected gap suspect recovered moving moved publishError publi\
shUnknown subscriptionError slowConsumer limited discarded linkDown linkUp queueFull edgeError roundTrip closed",ve=Symbol.
for("millrace.quiet"),jn=1024,Mt=class{#t=new Map;#e=[];#s=!1;#n;constructor(t,e){this.#n=e,t&&P("on",t,ds);for(let[s,i]of Object.
entries(t??{}))i&&this.on(s,i)}on(t,e){D("there is no event",t,ds),N(`the handler of ${t}`,e??0,"function");let s=r=>e(r);
ve in e&&Object.assign(s,{[ve]:!0});let i=this.#t.get(t)??new Set;return this.#t.set(t,i.add(s)),()=>{i.delete(s)}}emit(t,e){
this.#e.push([t,e])>jn&&this.#e.shift(),this.#s||this.#i()}async#i(){this.#s=!0,await null;for(let t=this.#e.shift();t;t=
this.#e.shift()){let e=[...this.#t.get(t[0])??[]];e.every(s=>ve in s)&&this.#n.event(t[0],t[1]);for(let s of e)try{await s(
t[1])}catch(i){V(i)}}this.#s=!1}};function V(n){queueMicrotask(()=>{throw n})}var Cn="https://github.com/millrace/millrace/blob/main/docs/errors.md#",Dn={publishError:"",publishUnknown:"outcome_unkn\
own",subscriptionError:"",edgeError:"",gap:"gap",queueFull:"queue_full",discarded:"queue_full",slowConsumer:"slow_consum\
er",limited:"limited",connecting:"",closed:""},Pt=class{#t;#e=new Set;constructor(t=console){this.#t=t}event(t,e){let{error:s,
code:i,tenant:r,pattern:o,channel:a,detail:h,cause:c,before:l,...f}=e,p=Dn[t];if(p===void 0||t==="closed"&&!s)return;let m=Object.
entries(f).flatMap(([k,v])=>v===void 0?[]:`${k} ${v}`),w={...r&&{tenant:r},...a&&{channel:a},...o&&{pattern:o}},b=s??new u(
p||i,h??m.join(", "),w);this.say(`${p?"":`${t}: `}${b.message}`,b.code,t)}say(t,e,s=""){let i=s+e;if(!(this.#e.has(i)||this.#e.
size>99)){this.#e.add(i);try{this.#t?.warn(`millrace: ${t} ${Cn}${e}`)}catch{}}}};var Nt={options:"",socket:(n,t,{webSocket:e=WebSocket})=>new e(n,["llps.v1","refusal.v1",`at.${t}`]),fetch:(n,t,e)=>fetch(
n,e),proxied:()=>!1};function Ut(n,t="access"){let e=t==="access"?"AT_":"MT_";if(typeof n=="string"&&n.startsWith(e)&&/^[\w.~+-]{4,512}$/.test(
n))return n;let s=O()?.secret(n,t)??"this does not";throw new u("bad_option",`the ${t} token begins with ${e}: ${s}`)}var Wn=["drop-oldest","drop-newest","end"],ps=["webtransport","websocket"];function W(n,t,e,s=0){return t!==void 0&&!(Number.
isFinite(t)&&t>=s&&t<2**31)&&y(`${n} must be a number below 2^31${s<0?"":", 0 or more"}, not ${JSON.stringify(t)}`),t||e}
function ms(n,t,e){return D(`${n}:`,t,e.join(" ")),t}function Te(n,t){return{queue:Math.ceil(W("queue",n.queue,t.queue)),
queuePolicy:ms("queuePolicy",n.queuePolicy??t.queuePolicy,Wn)}}var qn="token tokenProvider transports fallbackAfter conn\
ectTimeout failFast keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintext serverCertificate\
Hashes sender signal on logger webSocket";function ws(n,t=Nt){P("the object of options",n,qn+t.options),P("paths",n.paths??
{},"webSocket webTransport ping");let{token:e,tokenProvider:s,transports:i=ps,sender:r=!1,webSocket:o}=n;e===void 0==(s===
void 0)&&y(`give one of token and tokenProvider: ${e===void 0?"none is set":"not both"}`),N("tokenProvider",s,"function"),
N("sender",r,"boolean"),N("webSocket",o,"function"),N("logger.warn",n.logger?n.logger.warn??0:void 0,"function"),i.length===
0&&y("transports must not be empty");for(let h of i)ms("transports",h,ps);"TextEncoder"in globalThis&&"TextDecoder"in globalThis||
y("no TextEncoder or TextDecoder");let a=W("minBackOff",n.minBackOff,250);return{token:e===void 0?void 0:Ut(e),tokenProvider:s,
transports:[...new Set(i)],fallbackAfter:W("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:W("connectTimeout",n.connectTimeout,
1e4),keepAlive:W("keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:W("pongTimeout",n.pongTimeout,1e4),minBackOff:a,maxBackOff:Math.
max(a,W("maxBackOff",n.maxBackOff,15e3)),...Te(n,{queue:1024,queuePolicy:"drop-oldest"}),sender:r,failFast:n.failFast===
!0,paths:{webSocket:xe(n.paths?.webSocket??"/ws"),webTransport:xe(n.paths?.webTransport??"/wt"),ping:xe(n.paths?.ping??"\
/ping")},allowPlaintext:n.allowPlaintext===!0,hashes:n.serverCertificateHashes,webSocket:o,proxy:n.proxy,runtime:t}}function xe(n){
return/^\/[^?#]*$/.test(n)||y("paths must start with a slash"),n}var It=class{settings;events;loud;subscriber=new ft(this);current;next;suspected;leaving=!1;gaps=!1;reconnecting=!1;place={
edge:"",transport:"websocket"};rtt;limitedUntil=0;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t,e){this.settings=
ws(t,e),this.loud=new Pt(t.logger),this.events=new Mt(t.on,this.loud)}setCurrent(t){this.current=t,this.place={edge:t.edge,
transport:t.transport},this.presences?.follow(),this.linked(),this.change(),this.since&&this.follow(t)}follow(t){}change(){
for(let t of this.#s.splice(0))t()}changed(){return new Promise(t=>{this.#s.push(t)})}lose(){this.current=void 0,this.gaps=
!1,this.presences?.follow()}async restore(t){await Promise.all([this.subscriber.restore(t),this.presences?.restore(t)])}delivered(t,e){
e.position===void 0?this.subscriber.interests.dispatch(e,!1,t):this.histories?.stored(t,e,e.position)}presence(t,e,s,i){
this.presences?.frame(t,e,s,i)}line(t,e){this.histories?.line(t,e)}linked(){let{link:t,edge:e}=this.current??{};!this.since||
!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"linkDown",{edge:e}))}reportUnread(t){let e=t.takeUnread(),
{edge:s,transport:i}=t;e>0&&this.events.emit("publishUnknown",{edge:s,transport:i,count:e})}get waits(){return this.#e.size>
0}hurry(){for(let t of[...this.#e])t()}heard(t){return t.lastByte}pause(t,e){return S(t,e,this.#e)}get out(){return this.
current}publishConnection(){if(this.over)throw this.over;let{out:t}=this;if(!t?.alive)throw _();return t}get held(){return!1}whenOpen(t){
return t()}};function gs(n){if(typeof n=="number")return n;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!t){let r='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new u("bad_option",r)}let[e=0,s=0,i=0]=t.slice(1).map(r=>Number(
r??0));return(e*60+s)*60+i}var zn=2**31-1,bs=1e3,Gn="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function Fn(n,t){return n===
1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-t*n/10)}var Rt=class{#t;#e;failed;#s=new AbortController;#n;#i=1/0;#r;#o=!1;#a=-1/0;#h;#c=0;constructor(t,e,s){
this.#t=t,this.#n=t.token,this.#e=e,this.failed=s}get token(){return this.#n}get provided(){return this.#t.tokenProvider!==
void 0}get(){return this.#n!==void 0&&d()<this.#i?Promise.resolve(this.#n):this.ask()}ask(){return this.#r??=this.#f().finally(
()=>{this.#r=void 0,this.#o=!1}),this.#r}async renew(){this.#o&&await this.#r?.catch(()=>{}),await this.ask(),this.#e()}async#f(){
clearTimeout(this.#h);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,{signal:i}=this.#s;try{let r=this.#a+bs;
for(;d()<r;)await S(r-d(),i);this.#o=!0;let a=await R(i,e,h=>M(Promise.resolve(t?.()),h),`no answer within ${e} ms`).finally(
()=>{this.#a=d()});return this.#l(a&&typeof a=="object"?a:{token:a}),this.#n}catch(r){this.#i>0&&this.#i<1/0&&this.#u(Math.
max(s,T(++this.#c+1,this.#t)));let o=r?.name==="LoggedOutError",a=`the token provider ${o?"will give":"gave"} no token`,
h=new u(o?"logged_out":"token_provider",a,{cause:r});throw this.#n!==void 0&&!i.aborted&&this.failed(h),h}}#l(t){P("the \
token provider's answer",t,Gn);let e=t.expiresIn??t.expires_in,s=t.expiresAt??t.expires_at,i=1/0;e!=null?i=gs(e)*1e3:s!=
null&&(i=new Date(s).getTime()-Date.now()),e==null&&i<=0&&(i=1/0),i>0||y("expiresIn must be above 0, expiresAt a time"),
this.#n=Ut(t.token??t),this.#i=d()+i,this.#c=0,this.#u(Math.max(bs,Fn(i,Math.random())))}#u(t){if(this.#s.signal.aborted||
!(t<1/0))return;let e=this.#n;this.#h=setTimeout(()=>this.ask().then(s=>s!==e&&this.#e(),()=>{}),Math.min(t,zn))}expire(){
this.provided&&(this.#i=-1)}stop(){this.#s.abort(),clearTimeout(this.#h)}};var Hn=6e4,Kn=2e3,Y=class extends It{tokens;searcher;histories;presences;closed;task;#t;constructor(t,e,s,i={}){super(e,
s),this.histories=i.history&&new i.history(this),this.presences=i.presence&&new i.presence(this),this.tokens=new Rt(this.
settings,()=>this.moveIfDue(),r=>this.#e(r)),this.searcher=new At(t,this.settings,this.tokens,this,new(i.webtransport??J)(
this.settings)),this.closed=new Promise(r=>{this.#t=r})}#e(t){let{code:e,message:s,cause:i}=t;e!=="logged_out"?this.events.
emit("edgeError",{code:e,detail:s.slice(e.length+2),cause:i}):this.since&&this.finish(t)}async renewToken(){if(this.over)
throw this.over;this.tokens.provided||y("there is no tokenProvider");try{await this.tokens.renew()}catch(t){throw this.over&&
t.code!=="logged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(t){
try{let e=await this.#s(t);if(this.setCurrent(e),x(t),e.error)throw e.error;this.since=d(),this.follow(e),this.events.emit(
"connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.current?.close(),e}}async#s(t){
for(let e=2;;e++)try{return await this.searcher.first(t)}catch(s){let{failFast:i,maxBackOff:r}=this.settings;if(i||t.aborted||
this.searcher.final(s))throw s;let o=s,a=Math.max(T(e,this.settings),Math.min(o.retryAfter??0,r));this.events.emit("conn\
ecting",{attempt:e,delay:a,error:o}),await this.pause(a,t)}}moveIfDue(){let{current:t}=this;this.task||this.over||!t?.alive||
(t.drains?this.run(e=>this.leave(t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>this.leave(t,"token",e)))}async leave(t,e,s){
await I(Kn,t.ping(),t.ended),x(s);let i=e==="drain";t.fail(new u(i?"draining":"disconnected",i?void 0:"another token"))}run(t){
this.task?.abort();let e=new AbortController;this.task=e,t(e.signal).then(()=>{this.task===e&&(this.task=void 0,this.current?.
alive&&this.moveIfDue())},s=>{this.task===e&&this.finish($(s,"internal","a fault of this client"))})}watch(t){return new F(
t,this.settings)}async edges(t,e){return t.some(({pathname:s})=>s!=="/")&&y('a list of edges: add import "@millrace/clie\
nt/moves"'),t.map(({origin:s})=>s)}confirms(){return this.histories?.confirms()}draining(t){this.searcher.drained.add(t.
edge),t===this.current&&this.moveIfDue()}errorLine(t,e,s,i){this.presences?.ended(t,e,s);let[,r,o]=/^PUB:([^:]+):(.+)$/s.
exec(s)??[];if(e==="slow_consumer")this.events.emit("slowConsumer",{dropped:Number(s)});else if(/^(in|e)gress_limited$/.
test(e)){this.limitedUntil=d()+Hn;let a=e[0]==="e"?"in":"out";this.events.emit("limited",{direction:a,delay:Number(s)*1e3})}else
r&&o&&e!=="broker_unavailable"?this.events.emit("publishError",{tenant:r,channel:o,code:e,...i&&{detail:i}}):this.events.
emit("edgeError",{code:e,detail:s})}roundTrip(t){this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){return!1}woke(t){}lost(t,e){
this.reportUnread(t);let s=t.token===this.tokens.token;if((/_not_allowed$|^token_revoked$/.test(e.code)||e.code==="token\
_expired"&&!this.tokens.provided)&&s&&!this.spare(t))return this.finish(e);e.closeCode===void 0&&/^(disconnected|timeout)$/.
test(e.code)&&this.searcher.dialer.noteSilent(t),this.replace(t,e)}spare(t){return!1}replace(t,e){t===this.current&&!this.
reconnecting&&this.run(s=>rs(this,t,e,s))}finish(t){if(this.over)return;this.over=new u("closed","the client has been cl\
osed",t?{cause:t}:{}),this.task?.abort(),this.tokens.stop(),t||this.presences?.leaveAll();let e=this.end(t);this.change(),
this.subscriber.end(t,this.over),this.presences?.end(t,this.over),this.events.emit("closed",{error:t}),Promise.all(e).then(
()=>this.#t(t))}end(t){let{current:e}=this;return e&&t&&this.reportUnread(e),[e?.close()]}};var Jn=500;async function ys(n,t,e){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(d());)await S(
50,e);n.merger=new H,n.both=n.tentative=!0;let s=0;for await(let i of n.searcher.order(t.edge,!1,e)){await n.pause(Math.
max(T(++s,n.settings),n.searcher.wait(i)),e);let r;try{r=await n.searcher.open(i,e,{fallbackAfter:Jn})}catch(a){if(x(e),
a instanceof u)continue;throw a}if(e.aborted)return void r.close();if(!r.alive)continue;n.next=r,n.merger.joined(d());let o=n.
restore(r);if(r.ping().catch(()=>{}),await o,x(e),n.next===r)return n.takeOver(t,r)}}var _e=1e3,Bt=class{#t=new A;#e=new A;#s=new A;constructor(t,e,s){for(let{key:i}of t)this.#t.put(i,e);if(s){for(let{key:i,
time:r,message:o}of s.#e.all)this.#e.put(i,r,o);for(let{key:i,time:r}of s.#s.all)this.#s.put(i,r)}}fromCurrent(t,e){let s=j(
t);return this.#s.dropUntil(e-_e),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=j(t);if(this.#t.
take(s))return;let i=this.#e.put(s,e,{...t});return i&&this.#s.put(i.key,i.time),i?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-_e)}get nextDue(){let t=this.#e.oldest;return t&&t.time+_e}};var ks=15e3,Xn=6e4,Lt=class{#t;late;#e;#s;#n=!0;#i=!1;#r=d();#o;#a;constructor(t,e,s,i,r){this.#t=t,this.late=new Bt(e,d(),
r?.late),this.#e=s,this.#s=i,this.#o=setTimeout(()=>this.#h(),ks),r?.stop(),t.handTo(this),t.alive?this.#f():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,d())}hold(t){t!==this.#i&&(this.#i=t,t||this.late.renew(d()),this.#f())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#n=!1,clearTimeout(this.#o),clearTimeout(this.#a),this.#t.close()}#h(){let t=Math.
min(this.#t.lastByte+ks,this.#r+Xn)-d();t>0?this.#o=setTimeout(()=>this.#h(),t):this.#c()}#c(){this.#n&&(this.stop(),this.#f())}#f(){
if(clearTimeout(this.#a),this.#i)return;let{nextDue:t}=this.late;if(t===void 0){this.#n||this.#s();return}this.#a=setTimeout(
()=>{for(let e of this.late.due(d()))this.#e(e);this.#f()},Math.max(1,t-d()))}delivered(t,e){if(e.position!==void 0)return;
if(e.toOne)return this.#e(e);let s=this.late.nextDue===void 0,i=this.late.fromTrail(e,d());i&&this.#e(i),s&&this.#f()}woke(t){
for(let s of t.asked)t.request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){
return!1}line(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var Ee=6e4,Vn=60*Ee,Yn=2*Ee,Zn=1e4,Qn=2e3;function vs(n,t){return Math.min((4+2*t)*Ee*2**n,Vn)}var jt=class{#t;#e=0;#s;#n;#i;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#n),t.transport==="webtransport"?(this.stop(),this.#n=setTimeout(()=>{this.#e=0},Yn)):
!this.#s&&this.#r(t)&&this.#o(vs(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
Qn,!1)}stop(){this.#i?.abort(),this.#i=void 0,clearTimeout(this.#s),clearTimeout(this.#n),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&this.#t.searcher.
dialer.canWebTransport(e)}#o(t,e=!0){clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#a(e)},t)}async#a(t){let e=this.#t,
{current:s}=e;if(!s||!e.idle||this.#i)return this.#o(Zn,t);if(!this.#r(s)){this.#s=void 0;return}let i=this.#e+Number(t);
this.#o(vs(i,Math.random()));let r=new AbortController;this.#i=r;let o=await e.searcher.open(s.edge,r.signal,{transports:[
"webtransport"]}).catch(()=>{});this.#i===r&&(this.#i=void 0),r.signal.aborted||(this.#e=i),o&&!r.signal.aborted&&e.current===
s&&e.idle?e.run(a=>_t(e,s,"transport",a,o)):(o?.close(),e.moveIfDue())}};var ti=3e3,Ct=class extends Y{tentative=!1;trail;publishOn;gate;merger;both=!1;#t=new jt(this);#e;constructor(...t){super(
...t),!this.settings.sender&&(this.subscriber.interests.unasked=()=>this.loud.say("message.sender is empty: connect with\
 the option sender: true","bad_option","sender"))}async start(t){this.#e=ss(this),await super.start(t).catch(e=>{throw this.#e?.(),
e})}follow(t){this.#t.follow(t)}leave(t,e,s){return _t(this,t,e,s)}get idle(){let{current:t,merger:e}=this;return!this.task&&
!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(d()))}watch(t){return new vt(t,this.settings)}edges(t,e){return Qe(t,this.
settings,e)}delivered(t,e){if(e.position!==void 0||e.toOne)return super.delivered(t,e);if(!this.merger)return this.#s(e);
let s=d();if(t===this.next){let i=this.current?.confirmed,r=!e.route.patterns.some(a=>i?.has(`${e.tenant}:${a}`)),o=this.
merger.fromNext(e,s,r);o&&this.#s(o)}else this.both?this.merger.fromCurrent(e,s)&&this.#s(e):(this.merger.late(e,s)||this.#s(
e),this.merger?.done(s)&&(this.merger=void 0))}#s(t){(!this.trail||this.trail.fromCurrent(t))&&this.subscriber.interests.
dispatch(t)}silent(t){let{current:e}=this;return t===this.next&&this.tentative&&d()-t.lastByte>=ti&&t.fail(new u("timeou\
t","the edge does not answer")),t!==e||this.task||this.gate||this.over||this.reconnecting||!this.since||e.drains?!1:(this.
suspected=t,this.trail?.hold(!0),this.searcher.dialer.noteSilent(t),this.run(s=>ys(this,t,s)),!0)}woke(t){t===this.suspected&&
(this.searcher.dialer.noteSilent(t,!0),this.task?.abort(),this.task=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),
this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}spare(t){return t===this.next&&
this.suspected!==void 0}replace(t,e){if(t===this.next&&!this.leaving){let s=this.spare(t);this.next=void 0,s?this.merger?.
orphan():this.openGate(void 0)}else t===this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(t===this.
current||t===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.close(),this.next=void 0,
this.#r()),this.promote(),super.replace(t,e))}lose(){super.lose(),this.merger=void 0,this.both=this.leaving=this.tentative=
!1,this.openGate(void 0)}heard(t){return es(t.lastByte)}slept(){this.#n(!1)}networkChanged(){this.#n(!0),this.#t.soon()}#n(t){
for(let e of[this.current,this.next])e?.awake(t);this.hurry()}promote(){let{current:t,next:e}=this;e&&(t&&this.reportUnread(
t),this.setCurrent(e),this.next=void 0,this.merger?.left(d()),this.both=this.leaving=!1,this.openGate(void 0),this.#r(),
t?.close(),this.#i(e))}takeOver(t,e){this.trail?.hold(!1);let s=new Lt(t,this.merger?.given??[],r=>this.subscriber.interests.
dispatch(r,!0),()=>{this.trail===s&&(this.trail=void 0)},this.trail);this.trail=s;let i=d()-this.heard(t);this.reportUnread(
t),this.suspected=this.next=void 0,this.merger?.left(d()),this.both=this.tentative=!1,this.setCurrent(e),this.since=d(),
this.events.emit("recovered",{...this.place,away:i}),this.#r(),this.openGate(void 0),this.#i(e)}#i(t){this.histories?.resume(
t),this.subscriber.follow()}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(
d()),this.both=this.tentative=!1}#r(){for(let t of this.merger?.release()??[])this.#s(t)}get out(){return this.publishOn??
this.current}get held(){return this.gate!==void 0}whenOpen(t){return this.gate?new Promise((e,s)=>{this.gate?.push(()=>{
try{e(t())}catch(i){s(i)}})}):t()}openGate(t){this.publishOn=t;let e=this.gate??[];this.gate=void 0;for(let s of e)s()}end(t){
let{current:e,next:s,trail:i}=this;this.#e?.(),this.#t.stop();for(let o of[e,s])o&&(t||o===this.suspected)&&this.reportUnread(
o);let r=[e?.close(),s?.close(),i?.stop()];return this.openGate(void 0),t&&(this.#r(),i?.flush()),r}};var Dt=class{tenant;channel;ended;verb="JOIN";#t;#e;constructor(t,e,s){this.tenant=t,this.channel=e,this.#t=s,this.ended=
new Promise(i=>{this.#e=i})}async leave(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(t){this.#e(t)}};var Wt=(n,t)=>n===t||typeof n=="object"&&typeof t=="object"&&n.text===t.text,Se=n=>n.includes(":"),qt=class{members=new Map;counts=new Map;get(t){
return Se(t)?this.members.get(t):this.counts.get(t)??0}count({channel:t,members:e}){e>0?this.counts.set(t,e):this.counts.
delete(t)}put(t,e){let{channel:s,subject:i,here:r,since:o,info:a}=e,h=this.members.size;if(r){let l={channel:s,subject:i,
info:ei(a),since:new Date(o)};this.members.set(t,{member:l,text:`${o} ${a}`})}else this.members.delete(t);let c=(this.counts.
get(s)??0)+this.members.size-h;this.count({channel:s,members:c})}};function ei(n){try{return n?JSON.parse(n):void 0}catch{
return}}var zt=class{#t;#e=new WeakMap;#s=new qt;#n=new Map;#i;#r;constructor(t){this.#t=t}get members(){return this.#i??=
Object.freeze([...this.#s.members.values()].map(({member:t})=>t).sort((t,e)=>xs(t.channel,e.channel)||xs(t.subject,e.subject))),
this.#i}get counts(){return this.#r??=new Map([...this.#s.counts,...this.#n].filter(([,t])=>t>0)),this.#r}get(t){return this.#n.
get(t)??this.#s.get(t)}begin(t){this.#e.set(t,{roster:void 0,next:void 0})}end(t){this.#e.delete(t)}hasSynced(t){return this.#e.
get(t)?.roster!==void 0}take(t,e,s,i){let r=this.#e.get(t);if(!r)return;let{first:o,synced:a,counts:h,channels:c,members:l}=s;
if(h&&!i){if(t===e)for(let m of c)this.#h(m.channel,!0,()=>this.#o(m));return}o&&(r.next=new qt);let f=r.next??r.roster;
if(!f)return;let p=(m,w)=>{f===this.#s?this.#h(m,!1,w):w()};for(let m of c)p(m.channel,()=>f.count(m));for(let m of l){let{
channel:w,subject:b}=m,k=`${w}:${b}`;p(w,()=>p(k,()=>f.put(k,m))),f===this.#s&&f.get(w)===this.#n.get(w)&&this.#n.delete(
w)}a&&(r.roster=f,r.next=void 0,t===e&&(this.follow(t),this.#a()))}follow(t){let e=this.#e.get(t)?.roster,s=this.#s;if(!(!e||
e===s)){this.#s=e,this.#c();for(let{members:i,counts:r}of[s,e])for(let o of[...i.keys(),...r.keys()])!this.#n.has(o)&&!Wt(
s.get(o),e.get(o))&&this.#f(o,s.get(o),!1);this.#a()}}#o({channel:t,members:e}){e===this.#s.get(t)?this.#n.delete(t):this.#n.
set(t,e)}#a(){for(let t of[...this.#n.keys()])this.#h(t,!0,()=>this.#n.delete(t))}#h(t,e,s){let i=this.get(t);s(),this.#c(),
Wt(i,this.get(t))||this.#f(t,i,e)}#c(){this.#i=this.#r=void 0}#f(t,e,s){for(let i of this.#t)i.note(t,e,s)}},xs=(n,t)=>n<
t?-1:n>t?1:0;var si=Object.freeze([]),Gt=class{tenant;pattern;ended;verb="WHO";count;watch;#t;#e;#s=new Map;#n=[];#i=!1;#r=!1;#o=!1;#a=!1;#h;#c;constructor(t,e,s,{
count:i=!1,onChange:r}){this.tenant=t,this.pattern=e,this.count=i,this.#t=s,this.#e=r,this.ended=new Promise(o=>{this.#c=
o})}get members(){return this.count?si:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#t.isSynced(this)}async close(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let t=!1;return{next:()=>{let e=t?void 0:this.#f();if(e)return Promise.resolve({done:!1,value:e});if(!t&&
!this.#a)return new Promise((i,r)=>{this.#n.push({resolve:i,reject:r})});let s=t?void 0:this.#h;return t=!0,s?Promise.reject(
s):Promise.resolve({done:t,value:void 0})},return:async()=>(t=!0,await this.close(),{done:t,value:void 0})}}#f(){for(let[
t,e]of this.#s){this.#s.delete(t);let s=this.watch.get(t);if(typeof s=="number")return{type:"counts",channel:t,count:s};
let{member:i}=s??e;return{type:s?e?"changed":"joined":"left",channel:i.channel,member:i}}}note(t,e,s){this.#r=!0,!(!this.#i||
!(Se(t)?!this.count:this.count||s))&&(this.#s.has(t)?Wt(this.#s.get(t),this.watch.get(t))&&this.#s.delete(t):this.#s.set(
t,e))}opened(){this.#i=this.#o=!0,this.#r=!1}update(){for(;this.#n.length>0;){let s=this.#f();if(!s)break;this.#n.shift()?.
resolve({done:!1,value:s})}let{synced:t}=this,e=this.#a&&!this.#h;if(this.#i&&!e&&(this.#r||t!==this.#o))try{this.#e?.(this)}catch(s){
V(s)}this.#r=!1,this.#o=t}end(t){if(!this.#a){this.#a=!0,this.#h=t,t||this.#s.clear(),this.update();for(let e of this.#n.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};function Ts(n,t,e){let s=new DataView(n.buffer,n.byteOffset,e),i=t+1,r=f=>(i+=f,i>e&&U(),i-f),o=()=>s.getUint8(r(1)),a=()=>s.
getUint16(r(2)),h=f=>B(n.subarray(r(f),i)),c=o(),l={first:(c&1)!==0,synced:(c&2)!==0,counts:(c&4)!==0,tenant:h(a()),pattern:h(
a()),members:[],channels:[]};for(let f=a();f>0;f--)if(l.counts)l.channels.push({channel:h(a()),members:s.getUint32(r(4))});else{
let p=o();p>1&&U();let m={channel:h(a()),subject:h(o()),here:p===1,since:0,info:""};m.here&&(m.since=Number(s.getBigUint64(
r(8))),m.info=h(a())),l.members.push(m)}return i!==e&&U(),l}var _s=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,Ss=n=>n.verb==="WHO"&&n.count,$e=({holders:n,waiting:t})=>n.
length>t.size,Ft=class{asking=new Set;#t=new Map;#e;constructor(t){this.#e=t}get#s(){return[this.#e.current,this.#e.next].
filter(t=>t!==void 0)}async join(t,e){let s=new Dt(t,e,this);return await this.add(s),s}async watch(t,e,s){P("the object\
 of options",s,"count onChange");let{count:i=!1,onChange:r}=s;typeof i!="boolean"&&y("count must be true or false"),r&&typeof r!=
"function"&&y("onChange must be a function");let o=new Gt(t,e,this,s);return await this.add(o),o}async add(t){let{current:e,
leaving:s,over:i}=this.#e;if(i)throw i;let r=_s(t),o=this.#t.get(r)??ni(t,r);if(o.counting&&!Ss(t))throw new u("bad_opti\
on","the client counts the members of this pattern, and can only do that",o.about);this.#t.set(r,o),o.holders.push(t),t.
verb==="WHO"&&(t.watch=o.watch);let a=new Promise((h,c)=>{o.waiting.set(t,{resolve:h,reject:c})});this.#l(o);for(let h of this.#s)
!o.on.has(h)&&!(s&&h===e)&&this.#o(h,o);return a}async restore(t){await Promise.all([...this.#t.values()].map(e=>this.#o(
t,e)))}hasSynced(t){return[...this.#t.values()].every(({watch:e,on:s})=>!e||!s.has(t)||e.hasSynced(t))}isSynced(t){let{current:e}=this.#e;
return e?.alive===!0&&t.watch.hasSynced(e)}frame(t,e,s,i){this.#n(t,Ts(e,s,i))}#n(t,e){let s=this.#t.get(`WHO:${e.tenant}\
:${e.pattern}`);s?.watch?.take(t,this.#e.current,e,s.counting),s&&this.#l(s)}follow(){let{current:t}=this.#e;for(let e of this.#t.
values())t&&e.watch?.follow(t),this.#l(e)}ended(t,e,s){let i=this.#t.get(s);!i||e!=="no_presence"||(this.#c(t,i),this.#l(
i))}async leave(t){let e=this.#t.get(_s(t)),s=e?.holders.indexOf(t)??-1;if(!e||s<0||(e.holders.splice(s,1),e.holders.length>
0))return;let i=this.#r(e);await(this.#e.suspected&&i.length>0?Promise.race(i):Promise.all(i))}leaveAll(){for(let t of this.#t.
values())t.verb==="JOIN"&&this.#i(t)}end(t,e){for(let{key:s,holders:i,waiting:r}of this.#t.values()){this.#t.delete(s);for(let o of i)
o.end(t);for(let{reject:o}of r.values())o(t??e)}}#i({key:t,name:e,undo:s,on:i,watch:r}){return this.#s.flatMap(o=>{let a=i.
get(o);return i.delete(o),r?.end(o),o.forget(t),a===void 0||a==="wanted"?[]:o.leave(e,s)})}#r(t){return this.#t.delete(t.
key),this.#i(t)}#o(t,e){e.on.set(t,"wanted");let s=this.#a(t,e).finally(()=>this.asking.delete(s));return this.asking.add(
s),s}async#a(t,e){let{verb:s,name:i,key:r,about:o,on:a,counting:h}=e,c=()=>this.#t.get(r)===e,{settings:l,events:f}=this.#e;
try{await t.featured,await t.ending.get(`${e.undo}:${i}`);for(let p=2;;p++){if(!t.alive||!c())return;if(!t.features?.includes(
"presence"))throw new u("no_presence","the edge has none",o);a.set(t,"sent"),e.watch?.begin(t);try{await t.request(s,i,h?
":count":"");break}catch(m){let{code:w}=m;if(w!=="try_later"||!$e(e))throw m;p===2&&f.emit("subscriptionError",{...Es(e),
code:w})}if(!c())return;a.set(t,"wanted"),await t.postpone(r,T(p,l))}if(!c())return;t.postponed.delete(r),a.set(t,"held"),
this.#l(e)}catch(p){let m=$(p,"internal","a fault of this client");m.code!=="disconnected"&&c()&&this.#h(t,e,m)}}#h(t,e,s){
let{holders:i,waiting:r,on:o,key:a}=e,{suspected:h,next:c,current:l}=this.#e,{code:f}=s;if(f==="no_presence"&&$e(e)){for(let[
p,{reject:m}]of r)i.splice(i.indexOf(p),1),m(s);r.clear(),this.#c(t,e),this.#e.events.emit("edgeError",{code:f,detail:a})}else
h&&t===c&&l&&o.get(l)==="held"?t.fail(s):this.#f(e,s)}#c(t,{on:e,watch:s}){e.delete(t),s?.end(t)}#f(t,e){this.#r(t),$e(t)&&
this.#e.events.emit("subscriptionError",{...Es(t),...e.told});for(let s of t.holders)s.end(e);for(let{reject:s}of t.waiting.
values())s(e)}#l(t){let{holders:e,waiting:s,on:i}=t;for(let r of[...e])(r.verb==="WHO"?this.isSynced(r):this.#s.some(a=>i.
get(a)==="held"))&&s.has(r)?(s.get(r)?.resolve(),s.delete(r),r.verb==="WHO"&&r.opened()):r.verb==="WHO"&&r.update()}};function ni(n,t){
let{verb:e,tenant:s}=n,i=[];return{verb:e,undo:e==="WHO"?"UNWHO":"LEAVE",name:t.slice(e.length+1),key:t,about:e==="WHO"?
{tenant:s,pattern:n.pattern}:{tenant:s,channel:n.channel},holders:i,waiting:new Map,on:new WeakMap,watch:e==="WHO"?new zt(
i):void 0,counting:Ss(n)}}var Es=({about:n})=>({pattern:"",...n});var Ht=globalThis,ii=Ht.Deno!==void 0||Ht.process?.versions?.node!==void 0,$s=!ii&&(Ht.document!==void 0||Ht.WorkerGlobalScope!==
void 0);var ri=32<<20,Os=(n,t,e)=>e>t&&n[t]<32,Kt=class{#t;#e=[];#s=0;constructor(t=ri){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#n(t,e),this.#s>0))){for(;t.length-s>=4;){let i=s+4+this.#o(t,s);if(i>t.length)break;e(t,
s+4,i),s=i}s<t.length&&this.#i(t.slice(s))}}#n(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#i(t.slice(
0,s)),this.#s<4))return s;let i=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(i,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#i(t.slice(s,s+o)),this.#s===r){let a=this.#r();this.#e=[],this.#s=0,e(a,4,r)}return s+o}#i(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new u("protocol","a message that is to\
o long");return s}};var As=1e3,oi=43,ai=2e3,Ms=()=>"WebTransport"in globalThis;async function Ps(n,{paths:t,hashes:e}){let{signal:s}=n,i=[],
r,o=()=>{clearTimeout(r),i.forEach(Jt)};s.addEventListener("abort",o);try{let a=await new Promise((c,l)=>{let f=()=>{let p=new WebTransport(
n.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});i.push(p),p.closed.catch(()=>{}),p.ready.then(()=>c(p),l)};
f(),r=setTimeout(f,ai)});for(let c of i)c!==a&&Jt(c);let h=a.closed.then(({closeCode:c,reason:l})=>({closeCode:c,error:z(
`${l}`)}),()=>({}));return await hi(a,h,n.token)}catch(a){throw o(),x(s),$(a,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(r),s.removeEventListener("abort",o)}}async function hi(n,t,e){let s=await n.createBidirectionalStream(),i=new K,
r=new Oe(s.writable.getWriter()),o=s.readable.getReader(),a,h,c=ci(n);r.send(`AUTH:${e}`);let l=new Kt,f=(w,b,k)=>{if(Os(
w,b,k))return i.frame(w,b,k);let v=B(w.subarray(b,k));if(h)return i.line(v);let g=qe(v);g.kind==="OK:AUTH"?h={transport:"\
webtransport",fragile:$s,start:E=>i.start(E),send:E=>r.send(E),sent:()=>r.sent,probe:c,close:()=>{r.close().then(()=>Jt(
n))}}:g.kind==="ERR"&&(a??=z(v.slice(4))??new u(g.code))},p=async()=>{let{value:w,done:b}=await o.read();return w&&(i.bytes(),
l.push(w,f)),!b},m;for(;!h;)if(!await p().catch(b=>{if(b instanceof u)throw b;return!1}))throw a??fi(await t);return(async()=>{
try{for(;await p(););}catch(k){k instanceof u&&(m=k)}r.close();let w={error:m},b=t.then(k=>w=k);m||await I(As,b),Jt(n),i.
ended(w)})(),h}function ci(n){let t,e=!1,s=async()=>{let{writable:i,createWritable:r}=n.datagrams;t??=(i??r?.call(n.datagrams))?.
getWriter(),await t?.write(new Uint8Array(oi))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function fi({
closeCode:n,error:t}){let e=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return t??new u(
e,"the connection has ended",{closeCode:n})}function Jt(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var Oe=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?C(t):t,s=e.length,i=this.#s+
4+s;if(i>this.#e.length){let r=new Uint8Array(Math.max(i,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=i,this.sent??=this.#n()}async#n(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await I(As,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var Ns=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,li=12e4,Xt=class extends J{#t=new Map;#e=new Set;canWebTransport(t){
let{settings:e}=this;return Ms()&&t.startsWith("https:")&&!e.runtime.proxied(t,e)}forget(){this.#e.clear()}noteSilent({edge:t,
transport:e,begun:s},i=!1){e!=="webtransport"||!i&&d()-s>=li||this.#t.set(t,i?e:"websocket")}async open(t,e,s,i={}){let r=this.
settings,{transports:o=r.transports,fallbackAfter:a=r.fallbackAfter}=i,h=o.filter(f=>f==="websocket"||this.canWebTransport(
t));h.length===0&&y("there is no WebTransport here, not for http:// addresses, and not through a proxy");let c=h.filter(
f=>!this.#e.has(f));if(c.length===0)throw new u("protocol_not_allowed");this.#t.get(t)===c[1]&&c.reverse();let l=await R(
s,r.connectTimeout,f=>this.#s(c,t,e,a,f));return this.#t.set(t,l.transport),l}#s(t,e,s,i,r){return new Promise((o,a)=>{let h,
c=0,l=0,f,p=!1,m=()=>{p=!0,clearTimeout(h)},w=()=>{clearTimeout(h);let b=t[l++];if(!b||p)return;let k=b==="websocket"?Et:
Ps;c++,k({edge:e,token:s,signal:r},this.settings).then(v=>{if(p)return ui(v);m(),o(v)},v=>{c--;let g=$(v,"unreachable","\
the edge does not answer");if(g.code==="protocol_not_allowed"&&this.#e.add(b),(!f||X(g)>X(f))&&(f=g),!Ns.test(g.code)&&l<
t.length)return w();!Ns.test(g.code)&&c>0&&!Q(g)||(m(),a(f))}),l<t.length&&(h=setTimeout(w,i))};r.addEventListener("abor\
t",()=>{m(),a(L(r))}),w()})}};function ui(n){n.start({bytes(){},line(){},frame(){},ended(){}}),n.close()}var Vt="[\\w\\-~@]+",di=/^[\w\-~@.]{1,128}$/,pi=new RegExp(`^(?=.{1,256}$)${Vt}(\\.${Vt}){0,31}$`),mi=new RegExp(`^(?=.{\
1,256}$)((${Vt}\\*?|\\*)\\.){0,31}(${Vt}[*>#]?|[*>#])$`),Ae=n=>di.test(n),Me=n=>pi.test(n),Pe=n=>mi.test(n),wi="~";function Z(n){
return Ie("tenant",Ae,n===""?wi:n)}function Ne(n,t){return Ie("channel",Me,n,t)}function Ue(n,t){return Ie("pattern",Pe,
n,t)}function Ie(n,t,e,s){if(typeof e!="string"||!t(e)){let i={...s===void 0?{}:{tenant:s},[n]:String(e).slice(0,256)};throw new u(
`bad_${n}`,O()?.rule(n,String(e))??"not a legal name",i)}return e}var nt=(n,t,e)=>{if(e<0||!n||!t)return n.length+t.length<=e;let[s,i]=[n.slice(1),t.slice(1)];return n[0]===t[0]&&nt(s,i,
e)||nt(s,t,e-1)||nt(n,i,e-1)||nt(s,i,e-1)},gi=(n,t)=>[0,1,2].flatMap(e=>t.filter(s=>2*e<n.length&&nt(s.toLowerCase(),n.toLowerCase(),
e))),bi=[[/^$/,"this is empty. Is a variable of the environment missing?"],[/^bearer/i,'leave out "Bearer"'],[/^\s*[{[]/,
"this is JSON. Pass its member token"],[/^(undefined|null|NaN)$|[${}<>%]|^your/i,"this is a placeholder that nothing has\
 replaced"],[/\s/,"this one has white space, such as a line break from a file"],[/^MT_/,"this is a master token, which s\
tays on the backend. Issue an access token with it"],[/^AT_/,"this is an access token. A TokenAdmin needs a master token"]],
Us="tokens of A-Z a-z 0-9 - _ ~ @ with a dot between them, at most 32 and 256 bytes",yi={tenant:["a tenant has 1 to 128 \
of A-Z a-z 0-9 - _ ~ @ and dots, and no wildcard",Ae],channel:[`a channel has ${Us}, and no wildcard; channelToken(text)\
 makes a token of any text`,Me],pattern:[`a pattern has ${Us}, * for one of them, a* for its beginning, and # or > for t\
he rest, as the last`,Pe]},Yt={nearest(n,t){let e=[...t.filter(s=>s.endsWith(`.${n}`)),...gi(n,t)][0];return e?`. Did yo\
u mean ${JSON.stringify(e)}?`:""},secret(n,t){let e=Object.prototype.toString.call(n).slice(8,-1);return e==="Response"?
"this is a Response. Return await response.json()":typeof n!="string"?`there is none here (${e}). Is a return or await m\
issing?`:new RegExp(`^${t[0]}T_\\S+$`,"i").test(n)?"this has characters that no token has":bi.find(([s])=>s.test(n))?.[1]??
"this does not"},address(n,t){if(t?.username||t?.password||t?.search||t?.hash)return"an address has no user, no query an\
d no fragment: the token is an option";let e=`the address ${JSON.stringify(String(n).slice(0,256))}`;if(typeof n!="strin\
g"||!/^[a-z]+:\/\//i.test(n))return`${e} must be a URL with https:// or http://, such as "https://edge.example.com"`;if(!t)
return`${e} is not a legal URL: look for spaces, and a port above 65535`;let{protocol:s,host:i,pathname:r}=t;return/^wss?:$/.
test(s)||/^\/w[st]$/.test(r)?`${e} is that of a socket: pass the origin, "${s.replace("ws","http")}//${i}"`:/^https?:$/.
test(s)?`${e} would show the token on the way: use https://, or set allowPlaintext where that is safe`:`${e} must begin \
with https:// or http://`},cause(n){let{message:t,code:e,cause:s}=n??{};return`${(s?Yt.cause?.(s):"")||t||e||""}`},rule(n,t){
let[e,s]=yi[n],i=t.replace(/^[/:.]+|[/:.]+$/g,"").replace(/[/:.]+/g,"."),r=n==="pattern"?i.replace(/\+/g,"*"):i;return`${e}${s(
r)?`. Did you mean ${JSON.stringify(r)}?`:""}`}};var ki=[["unauthorized","a tokenProvider asks for it in time",/expired/],["unauthorized","ask the backend whether this u\
ser may have another one",/revoked/],["unauthorized","it is incomplete, or of another edge: edges that share a token sto\
re take the same tokens"],["token_expired","a tokenProvider gives the next one in time"],["token_revoked","ask the backe\
nd whether this user may have another one"],["ip_not_allowed","look at ipMasks of its issue; behind a proxy, the edge ne\
eds trusted_proxies"],["origin_not_allowed","issue it with the origin of this page in origins, scheme and port included"],
["region_not_allowed","look at regions of its issue, or connect to an edge elsewhere"],["protocol_not_allowed","look at \
protocols of its issue, or allow the other one in transports"],["tls_required","use https://, or for a test allow_plaint\
ext of the edge"],["permission_denied","have it issued with a grant that contains it",/^the token(?!.*mean)/],["payload_\
too_large","it is over max_payload of the edge: send a link to the data, or raise the option"],["no_history","no history\
 of the edge keeps all channels of it: its operator adds one, or leave history and key out"],["no_subscriber","nobody su\
bscribes to it, and nobody has got the message: start a worker, or publish it again later"],["subscribers_busy","all hav\
e as many as they asked for, and nobody has got it: publish it again later, or start more"],["too_many_subscriptions","i\
t would be over max_subscriptions of the edge: use a pattern for many channels"],["no_subject","the token has no subject\
: have it issued with one, such as the id of the user"],["no_presence","no presence of the edge contains it: its operato\
r adds one"],["disconnected","publish again after the event reconnected, or with confirm and a key, which waits",/no connection/],
["closed","connect gives another one",/client/],["queue_full","read faster, set a larger queue, or drain() before the en\
d"],["slow_consumer","the edge has dropped messages: read faster, or subscribe with a history"],["outcome_unknown","publ\
ishes may be lost: publish with confirm and a key"],["limited","raise egressKBps or ingressKBps of the token, or the edg\
e's bandwidth",/./],["gap","the token may not read the past: issue it with a grant whose history contains the pattern",/no_right/],
["gap","messages may be missing: load the state again, in a handler of the event gap"],["refused","perhaps the token, or\
 the origin of this page"],["unreachable","check host and port",/not a Millrace edge/],["unreachable","nothing listens a\
t this port; is it running?",/ECONNREFUSED/],["unreachable","no name server knows the host; is it spelled right?",/ENOTFOUND|EAI_AGAIN/],
["unreachable","the server does not speak TLS; pass http:// if it is on this machine",/wrong version number/],["unreacha\
ble","the server does not speak HTTP; does the address begin with https://?",/Parse Error|hang up|ECONNRESET/],["unreach\
able","its certificate is not trusted; NODE_EXTRA_CA_CERTS names the authority's file",/certificate/i]],vi={PUB:["publis\
h","to"],RSUB:["read the past","of"],WHO:["see who is present","in"]},Is={...Yt,denied(n,t,e){let[s,i="",r]=n.split(":"),
o=t.join(", ");if(e==="tenants")return`the token is for ${o}, not for ${i}${Yt.nearest(i,t)}`;let[a,h]=vi[s]??["subscrib\
e","to"],c=`${a} in ${i}`;return o?`the token may ${c} only ${h} ${o}, not ${h} ${r}`:`the token may not ${c}`},remedy(n,t,e){
let s=ki.find(([i,,r])=>i===n&&(!r||r.test(e||t)))?.[1]??"";return t.includes(s)?"":s}};var Rs={history:ut,presence:Ft,advice:Is,moves:Ct,webtransport:Xt};var Bs={};function Re(n,t,e){return n??y(`${e}: add import "@millrace/client/${t}"`)}function Ls(n){let t=Object.prototype.toString.call(n).slice(8,-1);if(t==="String"||t==="Uint8Array")return n;let e=t;try{
if(/^(Object|Array|Number|Boolean|Null|Date)$/.test(t)&&(t!=="Number"||Number.isFinite(n)))return JSON.stringify(n)}catch(s){
e=s.message.split(`
`)[0]}y(`a payload is a Uint8Array, text or JSON, not ${e}`)}var Zt=class{#t;#e=new Array(16);#s=0;#n=0;constructor(t){this.#t=t}get size(){return this.#n}get full(){return this.#n>=
this.#t}push(t){let e=this.#e;this.#n===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#n++&this.#e.length-1]=t}shift(){if(this.#n===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#n--,t}drop(t){let e=s=>this.#s+s&this.#e.length-1;for(let s=0;s<this.#n;s++)
if(t(this.#e[e(s)])){for(;s>0;s--)this.#e[e(s)]=this.#e[e(s-1)];return this.shift(),!0}return!1}clear(){this.#e=new Array(
16),this.#s=this.#n=0}};var xi=1e3,Qt=class{tenant;pattern;history;ended;#t;#e;#s;#n=[];jobs=0;#i=0;#r=!1;#o=!1;#a=!1;#h;#c;#f=0;#l=0;#u=-1/0;#d;#p;#m;constructor(t,e,s,i){
this.tenant=t,this.pattern=e,this.#t=s,this.#e=i,this.#s=new Zt(i.queue),this.history=i.history,this.#p=this.#m=i.history?.
position,this.ended=new Promise(r=>{this.#c=r})}get position(){return this.#s.size===0?this.#p:this.#m}get window(){return this.#e.
queue}async unsubscribe(){this.end(void 0);let t=this.#l;return this.#l=0,t+await this.#t.leave(this)}async drain(){await this.#t.
drain(this),this.#o=!0,this.#w(),await this.ended}#w(){this.#o&&this.#s.size===0&&this.#i===0&&!this.#r&&this.end(void 0)}[Symbol.
asyncIterator](){if(this.#e.onMessage)throw new u("bad_option","one with a callback cannot be iterated");let t=!1;return{
next:()=>{if(t)return Promise.resolve({done:t,value:void 0});let e=this.#s.shift();return this.#r=e!==void 0,e?(this.#g(
e),this.#m=e.position??this.#m,this.history?.paused&&this.#s.size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve(
{done:!1,value:e})):(this.#w(),this.#a?(t=!0,this.#h?Promise.reject(this.#h):Promise.resolve({done:t,value:void 0})):new Promise(
(s,i)=>{this.#n.push({resolve:s,reject:i})}))},return:async()=>(t=!0,await this.unsubscribe(),{done:t,value:void 0})}}#y(t){
let{onMessage:e}=this.#e;if(e){this.#i++;let i;try{i=e(t)}catch(r){V(r)}return i instanceof Promise?i.catch(V).then(()=>this.#k(
t)):this.#k(t),!0}let s=this.#n.shift();return s?(this.#r=!0,s.resolve({done:!1,value:t}),this.#g(t),!0):!1}#k(t){this.#i--,
this.#g(t),this.#w()}#g({toOne:t}){t&&(this.jobs--,this.#t.took(this))}#v({own:t,toOne:e}){return t&&!e&&!this.#e.echo}pushStored(t){
if(this.#a)return!0;if(this.#v(t))return this.#p=t.position,!0;let e=this.#y(t);return!e&&this.#s.full?(this.#b(),!0):(this.#p=
t.position,e?this.#m=t.position:this.#s.push(t),!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#p=t}#b(){this.
end(new u("queue_full","messages were not read in time",this)),this.#t.leave(this)}push(t){let{toOne:e}=t;if(this.#a||this.#v(
t)||(e&&this.jobs++,this.#y(t)))return;let{queuePolicy:s}=this.#e;if(e||!this.#s.full)return this.#s.push(t);if(s==="end")
return this.#b();s==="drop-oldest"&&this.#s.drop(i=>!i.toOne)&&this.#s.push(t),this.#f++,this.#d??=setTimeout(()=>this.#x(),
Math.max(0,this.#u+xi-d()))}#x(){clearTimeout(this.#d),this.#d=void 0,this.#u=d(),this.#f>0&&this.#t.queueFull(this,this.#f),
this.#f=0}end(t){if(!this.#a){this.#a=!0,this.#h=t,t||(this.#e.onMessage||(this.#l=this.jobs,this.#t.discarded(this,this.#l)),
this.#s.clear()),this.#x();for(let e of this.#n.splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};async function js(n,t,e,s=Bs){s.advice&&Be(s.advice);let i=typeof t=="string"?[t]:t;(!e||!i?.length)&&y("connect needs a\
n address and options");let r=new(s.moves??Y)(i.map(a=>dt(a,e.allowPlaintext===!0)),e,n,s),{signal:o=new AbortController().
signal}=e;return x(o),await M(r.start(o),o),new it(r)}var it=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get#e(){
return Re(this.#t.histories,"history","history and confirm")}get#s(){return Re(this.#t.presences,"presence","presence")}get edge(){
return this.#t.place.edge}get transport(){return this.#t.place.transport}get rtt(){return this.#t.rtt}get limited(){return d()<
this.#t.limitedUntil}on(t,e){return this.#t.events.on(t,e)}tenant(t){let e=Z(t),s=i=>(...r)=>this[i](e,...r);return{name:e,
subscribe:s("subscribe"),publish:s("publish"),join:s("join"),presence:s("presence")}}async subscribe(t,e,s={}){let i=this.#t;
P("the object of options",s,"onMessage history queue queuePolicy echo");let{onMessage:r,echo:o=!0}=s;N("echo",o,"boolean"),
N("onMessage",r,"function");let a=new Qt(Z(t),Ue(e),i.subscriber,{...Te(s,i.settings),onMessage:r,echo:o,history:s.history===
void 0?void 0:this.#e.begin(s.history,e)});return await i.subscriber.subscribe(a),a}async publish(t,e,s,i){let r=this.#t;
i!==void 0&&P("the object of options",i,"delivery confirm key");let{delivery:o="broadcast",confirm:a=!1,key:h}=i??{};D("\
delivery:",o,ge.join(" "));let c=ge.indexOf(o);s===void 0&&y("publish needs tenant, channel, payload");let l=Ls(s),f={tenant:Z(
t),channel:Ne(e)};if(a){let m=C(h??"");h!==void 0&&!(m.length>0&&m.length<=64)&&y(`a key has 1 to 64 bytes, not ${m.length}\
: take a hash`);let w=b=>be(f.tenant,f.channel,l,c,{id:b,key:m});return this.#e.publish(w,m,c>0,f)}h!==void 0&&y("a key \
needs confirm: true");let p=be(f.tenant,f.channel,l,c||void 0);return r.publishConnection(),r.whenOpen(()=>r.publishConnection().
publish(p,f))}async join(t,e){let s=Z(t);return this.#s.join(s,Ne(e,s))}async presence(t,e,s={}){let i=Z(t);return this.#s.
watch(i,Ue(e,i),s)}async flush(){let t=this.#t;t.publishConnection(),await t.whenOpen(()=>t.publishConnection().ping())}renewToken(){
return this.#t.renewToken()}retry(){this.#t.retry()}async drain(){await this.#t.subscriber.drainAll(),await this.close()}async close(){
this.#t.finish(void 0),await this.closed}[Symbol.asyncDispose](){return this.close()}};var Cs=64;function Ds(n){if(typeof n!="string"||/[\uD800-\uDFFF]/u.test(n))throw new u("bad_option","a channel's token i\
s made of a string without lone surrogates");let t=i=>`%${i.charCodeAt(0).toString(16).toUpperCase()}`,e=encodeURIComponent(
n).replace(/[.!~*'()]/g,t).replaceAll("%40","@").replaceAll("%","~")||"~";if(e.length<=Cs)return e;let s="each byte of t\
he text but letters, digits and _-@ needs three";throw new u("bad_option",`a channel's token has at most ${Cs} bytes; ${s}`)}var Ws=(n,t)=>async()=>{let e=String(n).replace(/[?#].*/s,"");/\/\/[^/]*@/.test(e)&&y("the URL of a token endpoint has n\
o user or password: pass headers");let s=await fetch(n,{method:"POST",cache:"no-store",...t}),i=(await Ti(s)).trim();if(!s.
ok){let r=i[0]==="<"?"":i.slice(0,200),o=`${e} answers with HTTP status ${s.status}${r&&`: ${r}`}`;throw/40[13]/.test(`${s.
status}`)?new q(o):new Error(o)}try{return JSON.parse(i)}catch{y(`${e} answers with ${i[0]==="<"?"a page":"a text"}, not\
 with a token as JSON`)}};async function Ti(n){let t=n.body?.getReader();if(!t)return n.text();let e=new TextDecoder,s="";
for(;;){let{done:i,value:r}=await t.read();if(i)return s;if(s+=e.decode(r,{stream:!0}),s.length>65536)return t.cancel(),
s.slice(0,65536)}}var _i=(n,t)=>js(Nt,n,t,Rs);return Ks(Ei);})();
