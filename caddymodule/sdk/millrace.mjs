// Generated from sdk/js by `npm run build && npm run embed` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var u=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(t,e="\
the edge says so",s={}){let i=["tenant","channel","pattern"].map(o=>s[o]===void 0?"":` (${o} ${JSON.stringify(s[o])})`),
r=t==="unreachable"?ye(s.cause):"";super(`${t}${i.join("")}: ${e}${r&&`: ${r}`}`,"cause"in s?{cause:s.cause}:void 0),this.
code=t,this.tenant=s.tenant,this.pattern=s.pattern,this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode,
this.retryAfter=s.retryAfter}};function ye(n){let{message:t,code:e,cause:s}=n??{};return`${(s?ye(s):"")||t||e||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}var Ht=class extends Error{name="LoggedOutError"};function S(n,t,e){return n instanceof u?n:new u(t,e,{cause:n})}function x(n){
return new u("disconnected","there is no connection to an edge",n===void 0?{}:{cause:n})}var p=()=>performance.now(),I=n=>n.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function k(n){
if(n.aborted)throw I(n)}function E(n,t,e=new Set){return new Promise((s,i)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),i(I(t))},h=()=>{r(),s()},a=setTimeout(h,n);e.add(h),t.addEventListener("abort",o),t.aborted&&
o()})}async function P(n,...t){let e,s=new Promise(i=>{e=setTimeout(i,n)});await Promise.race([s,...t]).catch(()=>{}),clearTimeout(
e)}async function L(n,t,e){k(n);let s=new AbortController,i=h=>{"reason"in s.signal||Object.assign(s.signal,{reason:h}),
s.abort(h)},r=()=>i(I(n)),o=setTimeout(()=>i(new u("timeout","the edge does not answer")),t);n.addEventListener("abort",
r);try{return await e(s.signal)}finally{clearTimeout(o),n.removeEventListener("abort",r),s.abort()}}function M(n,t){return new Promise(
(e,s)=>{let i=()=>s(I(t));t.aborted&&i(),t.addEventListener("abort",i),n.then(e,s).finally(()=>t.removeEventListener("ab\
ort",i))})}function T(n,t){return n<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(n-2,30))}var ls=1e5,us=new Set(["unconfirmed","history_unavailable","try_later"]),zt=0;async function ve(n,t,e,s){zt=zt+1>>>0;let i=zt,
r=t(i),o=!1,h=new AbortController,a=setTimeout(()=>h.abort(x()),ls),c;try{for(let l=2;;l++){c=await ds(n,e,h.signal,s);try{
return await M(c.confirm(r,i),h.signal)}catch(f){let{code:d}=f,m=d==="disconnected";if(o||=m||d==="unconfirmed",k(h.signal),
!(o&&e&&(m||us.has(d))))throw new u(d,void 0,s);m||await E(T(l,n.settings),h.signal)}}}catch(l){throw o?new u("outcome_u\
nknown","no edge has said whether the message is stored",{...s,cause:l}):l}finally{clearTimeout(a),c?.forgetConfirm(i)}}
async function ds(n,t,e,s){for(;;){if(n.over)throw n.over;if(n.held){await M(Promise.resolve(n.whenOpen(()=>{})),e);continue}
let i=n.out;if(i?.alive)if(i.features===void 0)await M(i.featured,e);else{if(i.features.includes("history"))return i;throw new u(
"no_history","the edge has no histories, and confirms nothing",s)}else{if(!t)throw x();await M(n.changed(),e)}}}var ps=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,ms=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function xe(n){
let[,t,e="",s="",i="",r]=ps.exec(n)??[];if(t&&z(i)&&t==="OK:RSUB"==(r!==void 0))return r?{kind:t,tenant:e,pattern:s,position:i,
how:r}:{kind:t,tenant:e,pattern:s,position:i};let[,o,h]=ms.exec(n)??[];if(!(o===void 0||Number(o)>4294967295||h!==void 0&&
!z(h)))return h===void 0?{kind:"OK:PUB",id:Number(o)}:{kind:"OK:PUB",id:Number(o),position:h}}function z(n){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(n)??[];return t!==void 0&&e!==void 0&&ke(t)&&ke(e)}var ke=n=>n.length<20||n<="18446744073709551615";function _(n,t,e){let s=typeof t=="object"&&t!==null,i=s?Object.keys(t).find(o=>!e.split(" ").includes(o)):"";if(i===void 0)
return;let r=s?`has no ${JSON.stringify(i.slice(0,32))}`:"must be an object";throw new u("bad_option",`${n} ${r}: allowe\
d are ${e.replaceAll(" ",", ")}`)}var J={options:"",socket:(n,t,{webSocket:e=WebSocket})=>new e(n,["llps.v1",`at.${t}`]),fetch:(n,t,e)=>fetch(n,e),proxied:()=>!1};function Y(n,t="token"){if(typeof n=="string"&&/^[\w.~+-]{1,512}$/.test(n))return n;let e=`a ${t} is a string of 1 to 51\
2 letters, digits and .~_+-`,s=/\s/.test(`${n}`)?": this one has white space, such as a line break from a file":"";throw new u(
"bad_option",e+s)}var ws=["drop-oldest","drop-newest","end"],Te=["webtransport","websocket"];function y(n){throw new u("bad_option",n)}function B(n,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&y(`${n} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function Ee(n,t,e){return e.includes(t)||y(`${n}: allowed are ${e.join(", ")}`),t}function Kt(n,t){return{queue:Math.ceil(
B("queue",n.queue,t.queue)),queuePolicy:Ee("queuePolicy",n.queuePolicy??t.queuePolicy,ws)}}var gs="token tokenProvider t\
ransports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintex\
t serverCertificateHashes sender signal on webSocket";function Se(n,t=J){_("the object of options",n,gs+t.options),_("pa\
ths",n.paths??{},"webSocket webTransport ping");let{token:e,tokenProvider:s,transports:i=Te,sender:r=!1,webSocket:o}=n;e===
void 0==(s===void 0)&&y("one of token and tokenProvider is needed"),s!==void 0&&typeof s!="function"&&y("tokenProvider m\
ust be a function"),typeof r!="boolean"&&y("sender must be true or false"),o!==void 0&&typeof o!="function"&&y("webSocke\
t must be a class"),i.length===0&&y("transports must not be empty");for(let a of i)Ee("transports",a,Te);"TextEncoder"in
globalThis&&"TextDecoder"in globalThis||y("TextEncoder and TextDecoder are missing");let h=B("minBackOff",n.minBackOff,250);
return{token:e===void 0?void 0:Y(e),tokenProvider:s,transports:[...new Set(i)],fallbackAfter:B("fallbackAfter",n.fallbackAfter,
2e3),connectTimeout:B("connectTimeout",n.connectTimeout,1e4),keepAlive:B("keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:B(
"pongTimeout",n.pongTimeout,1e4),minBackOff:h,maxBackOff:Math.max(h,B("maxBackOff",n.maxBackOff,15e3)),...Kt(n,{queue:1024,
queuePolicy:"drop-oldest"}),sender:r,paths:{webSocket:Ft(n.paths?.webSocket??"/ws"),webTransport:Ft(n.paths?.webTransport??
"/wt"),ping:Ft(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===!0,hashes:n.serverCertificateHashes,webSocket:o,
proxy:n.proxy,runtime:t}}function Ft(n){return/^\/[^?#]*$/.test(n)||y("paths must start with a slash"),n}var Ae=1e5;function Oe(n,t){if(n==="now"||n==="last")return n;let{last:e,after:s}=n;return typeof s=="string"&&e===void 0&&
z(s)?s:((!Number.isInteger(e)||e<1||e>Ae||s!==void 0)&&y(`history is "now", "last", { last: 1 to ${Ae} } or { after: pos\
ition }`),/[*>#]/.test(t)&&y("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}var Z=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){
this.from=t}get position(){return z(this.from)?this.from:void 0}get refusal(){return this.forbidden?"permission_denied":
this.plain?"no_history":void 0}begin(t){this.on=t,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=
!0,this.on=void 0,this.open=!1}takes(t,e){return this.on===t&&this.open&&!this.plain&&!bs(e,this.from)}};function bs(n,t){
let[e,s=""]=n.split("."),[i,r]=t.split(".");return e===i&&r!==void 0&&(s.length===r.length?s<=r:s.length<r.length)}var Me,R=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(t,e,s,i,r,o,h,a=""){this.tenant=
t,this.channel=e,this.payload=s,this.pattern=i,this.patterns=r,this.late=o,this.position=h,this.sender=a}get time(){return this.
position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Me??=new TextDecoder("utf-8",{ignoreBOM:!0}),
Me.decode(this.payload)}json(){return JSON.parse(this.text().replace(/^\uFEFF/,""))}};var Q=class{#t=new Map;#s=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,i=`${e}:${s}`,r=this.#t.
get(i),{history:o}=t,h=r??{name:i,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o};return h.subs.push(t),this.#t.
set(i,h),this.#s++,{interest:h,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){return this.#t.get(t.name)===t}remove(t){
let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.subs.splice(s,1),e.subs.length===
0&&this.drop(e)?e:void 0}drop(t){return this.#s++,this.#t.get(t.name)===t&&this.#t.delete(t.name)}dispatch(t,e=!1){let{tenant:s,
channel:i,payload:r,route:o,sender:h}=t,a=o.note?.tenant===s&&o.note.version===this.#s?o.note:this.#e(s,o);for(let{pattern:c,
subs:l,history:f}of a.interests){if(f&&!f.plain)continue;let d=new R(s,i,r,c,o.patterns,e,void 0,h);if(l.length===1)l[0].
push(d);else for(let m of[...l])m.push(d)}}#e(t,e){let s=e.patterns.map(i=>this.#t.get(`${t}:${i}`)).filter(i=>i!==void 0);
return e.note={tenant:t,version:this.#s,interests:s},e.note}};var tt=class{interests=new Q;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){let e=this.interests.all;e.some(
i=>i.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(i=>!i.history);await Promise.all(s.map(i=>this.ask(
t,i)))}ask(t,e){let s=this.#s(t,e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.history?
await this.#t.histories?.ask(t,e,e.history):(await this.#e(t,e),this.confirm(e))}catch(s){let i=S(s,"internal","a fault \
of this client");if(i.code==="disconnected")return;if(e.confirmed&&this.#t.suspected&&t===this.#t.next)return t.fail(i);
this.#i(e,i)}}confirm(t){t.confirmed=!0;for(let{resolve:e}of t.waiting.splice(0))e()}async#e(t,e){let{name:s,tenant:i,pattern:r}=e;
for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){let a=h;if(a.code!=="try_later"||!et(e))throw a;o===2&&this.#t.
events.emit("subscriptionError",{tenant:i,pattern:r,code:a.code})}await t.postpone(s,T(o,this.#t.settings))}}#i(t,e){if(!this.
interests.drop(t))return;let{tenant:s,pattern:i,subs:r,waiting:o}=t;for(let h of[this.#t.current,this.#t.next])h?.forget(
t.name)&&h.leave(t.name);et(t)&&this.#t.events.emit("subscriptionError",{tenant:s,pattern:i,code:e.code});for(let h of r)
h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){let{tenant:e,pattern:s}=t,i;for(;;){if(this.#t.over)throw this.#t.
over;i=this.interests.of(e,s);let a=l=>l?.ending.get(`UNSUB:${e}:${s}`),c=a(this.#t.current)??a(this.#t.next);if(i||!c)break;
await c}if(i&&(i.history||t.history)){let a="the client has a subscription to this pattern, and one with a history is al\
one";throw new u("bad_option",a,i)}let{interest:r,isNew:o}=this.interests.add(t);if(r.confirmed)return;let h=new Promise(
(a,c)=>{r.waiting.push({resolve:a,reject:c})});return o&&(this.#t.current&&!this.#t.leaving&&this.ask(this.#t.current,r),
this.#t.next&&!r.history&&this.ask(this.#t.next,r)),h}async leave(t){let e=this.interests.remove(t);if(!e)return;for(let{
resolve:h}of e.waiting.splice(0))h();let{name:s,history:i}=e,o=[this.#t.current,this.#t.next].filter(h=>h?.forget(s)||h&&
i?.on===h).map(h=>h.leave(s));await(this.#t.suspected&&o.length>0?Promise.race(o):Promise.all(o))}wasRead(t){this.#t.histories?.
wasRead(t)}queueFull({tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){for(let s of this.
interests.all){this.interests.drop(s);for(let i of s.subs)i.end(t);for(let{reject:i}of s.waiting.splice(0))i(t??e)}}};function et({
subs:n,waiting:t}){return n.length>t.length}var st=class{#t;constructor(t){this.#t=t}begin(t,e){return new Z(Oe(t,e))}publish(t,e,s){return ve(this.#t,t,e,s)}line(t,e){
let s=xe(e);s?.kind==="OK:PUB"?t.published(s.id,s.position):s&&(this.#s(t,s),s.kind==="OK:RSUB"&&t.resumed(`${s.tenant}:${s.
pattern}`))}async resume(t){let{interests:e}=this.#t.subscriber,s=e.all.filter(({history:i})=>i);await Promise.all(s.map(
i=>this.#t.subscriber.ask(t,i)))}stored(t,e,s){let{tenant:i,channel:r,payload:o,route:h,sender:a}=e,{patterns:c}=h,l=c[0],
f=this.#t.subscriber.interests.of(i,l),{history:d}=f??{};if(!f||!d?.takes(t,s))return;d.from=s,f.subs[0]?.pushStored(new R(
i,r,o,l,c,!1,s,a))===!1&&this.#t.subscriber.interests.has(f)&&(d.pause(),t.leave(f.name)),this.#t.subscriber.confirm(f)}#s(t,e){
let{kind:s,tenant:i,pattern:r,position:o}=e,h=this.#t.subscriber.interests.of(i,r),{history:a}=h??{};if(!(!h||!a||a.plain)){
if(a.on!==t||!a.open){s==="GAP"&&a.paused&&t===this.#t.current&&this.#e(i,r,o);return}if(s==="GAP"||a.takes(t,o)){a.from=
o;for(let c of h.subs)c.reach(o)}s==="GAP"?(a.told=!0,this.#e(i,r,o)):s==="OK:RSUB"&&(this.#t.subscriber.confirm(h),e.how===
"gap"&&!a.told?this.#e(i,r,o):a.lossy&&this.#e(i,r,void 0,a.refusal))}}#e(t,e,s,i){this.#t.gaps=!0,this.#t.events.emit("\
gap",{tenant:t,pattern:e,before:s,code:i})}wasRead(t){let e=this.#t.subscriber.interests.of(t.tenant,t.pattern),{current:s}=this.#t;
!e?.history||e.history!==t.history||(e.history.paused=!1,s&&this.#t.subscriber.ask(s,e))}async ask(t,e,s){let{name:i,tenant:r,
pattern:o}=e;if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===t)){s.begin(t);for(let h=2;;){if(await t.featured,await t.
ending.get(`UNSUB:${i}`),!t.alive||s.on!==t||!this.#t.subscriber.interests.has(e))return;let a=!t.features?.includes("hi\
story")||s.unwanted,c=s.forbidden?"now":s.from,l=et(e);s.lossy=a?l||c!=="now":s.forbidden||l&&c==="now",s.plain=a,s.open=
!0,a&&(s.from="now");try{if(!a)return await t.resume(i,c);if(await t.request("SUB",i),!this.#t.subscriber.interests.has(
e))return;this.#t.subscriber.confirm(e),s.lossy&&this.#e(r,o,void 0,s.refusal);return}catch(f){let d=f;if(d.code==="hist\
ory_unavailable")return this.#t.gaps=!0,this.#t.events.emit("edgeError",{code:d.code,detail:`RSUB:${i}`});if(s.open=!1,d.
code==="permission_denied"&&!a&&c!=="now")s.forbidden=!0;else if(d.code==="no_history"&&l)s.unwanted=!0;else if(d.code===
"try_later"&&l)h===2&&this.#t.events.emit("subscriptionError",{tenant:r,pattern:o,code:d.code}),await t.postpone(i,T(h++,
this.#t.settings)),t.postponed.delete(i);else throw d}}}}};var ys=.9765625,vs=1e3,ks=32,it=class{#t=0;#s=0;#e=0;#i=0;#n;#r;#o=ys;publish(t,e){let s=this.#t++===this.#s;return this.#h(
t,e,s),s}request(t,e,s){let i=this.waits(s)===void 0;return this.#h(t,e,i),i}#h(t,e,s){this.#i+=t+ks,this.#r??=e,s&&(this.#n=
e)}waits(t){return this.#t===this.#s&&t>=(this.#n??t)?void 0:this.#n}mark(){let t={publishes:this.#t,bytes:this.#i,first:this.#r};
return this.#s=this.#t,this.#i=0,this.#n=this.#r=void 0,t}proven({publishes:t,bytes:e,first:s},i){this.#e=Math.max(this.#e,
t),s!==void 0&&(this.#o=Math.min(this.#o,(i-s+vs)/e))}sendTime({bytes:t}){return t*this.#o}told(){this.#e++}take(){let t=this.#t-
this.#e;return this.#e=this.#t,t}};var ot=2e3,Zt=1e3,nt=new Set,Xt,ht=0,Vt=0,Jt=0,_e=-1/0,ct=n=>n>Jt&&n<_e+Zt?Jt:n;function xs(n,t){return n>=Zt+ot||t-n>=ot}
function Qt(){let n=p()-ht,t=Date.now()-Vt;xs(n,t)&&(rt.document?.visibilityState==="hidden"?at("slept"):Yt()),ht+=n,Vt+=
t}function $e(n){return nt.add(n),Xt??=Ts(),()=>{!nt.delete(n)||nt.size>0||(Xt?.(),Xt=void 0)}}function Yt(){Jt=ht,_e=p(),
at("slept")}function at(n){for(let t of[...nt])t[n]()}var rt=globalThis;function Ts(){ht=p(),Vt=Date.now();let n=setInterval(
Qt,Zt),{document:t,navigator:e}=rt,s=()=>{t?.visibilityState==="visible"&&at("slept")},i=()=>at("networkChanged"),r=e?.connection,
o=r?.type,a=[[rt,"online",i],[r,"change",()=>{r?.type!==o&&(o=r?.type,i())}],[rt,"pageshow",Yt],[t,"resume",Yt],[t,"visi\
bilitychange",s]];for(let[c,l,f]of a)c?.addEventListener?.(l,f);return()=>{clearInterval(n);for(let[c,l,f]of a)c?.removeEventListener?.(
l,f)}}var F=1e3,Es=3,Ss=2**31-1,te=50,j=class{heard=p();c;settings;spread=1+Math.random()/16;woken=0;over=!1;#t=0;#s;constructor(t,e){
this.c=t,this.settings=e}arrived(t){this.heard=t}active(t){}ponged(t){this.#t=0,this.arm()}awake(t){let e=p();this.asking||
(this.#t=0),!(this.over||this.#t++>=Es)&&(this.woken=e,this.settings.keepAlive>0&&!this.asking&&(t||e-this.heard>=F)&&this.
ask(e),this.arm())}stop(){this.over=!0,clearTimeout(this.#s)}get asking(){return this.c.unanswered}get patience(){return this.
settings.keepAlive}get askAt(){let{keepAlive:t}=this.settings;if(t<0)return 1/0;let e=this.c.unreadSince??1/0;return Math.
min(this.heard+this.patience*this.spread,e+Math.min(1e3,t))}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:i}=this.
settings;if(s<0)return 1/0;let r=Math.max(this.heard,this.woken);return Math.max(t+i,r+s+i)+e}dueAt(t){return this.lostAt(
t)}arm(){clearTimeout(this.#s);let t=this.asking,e=t?this.dueAt(t):this.askAt;if(this.over||e===1/0)return;let s=p(),i=Math.
max(e,s+1);this.#s=setTimeout(()=>this.#e(i),Math.min(i-s,Ss))}#e(t,e=!1){Qt();let s=p();if(s-t>=ot&&this.awake(!1),this.
over)return;if(!e&&s-t>te){clearTimeout(this.#s),this.#s=setTimeout(()=>this.#e(s+te,!0),te);return}let i=this.asking;if(!i)
s>=this.askAt&&this.ask(s);else{if(s>=this.lostAt(i))return this.c.over();this.judge(i,s)}this.arm()}judge(t,e){}ask(t){
this.c.ask()}probe(){this.c.probe()}};async function ft(n,t,e){try{let s=await t.runtime.fetch(n,t,{cache:"no-store",credentials:"omit",signal:e});return await s.
arrayBuffer(),s.ok}catch{return!1}}async function Pe(n,t,e){try{return await t.runtime.fetch(n,t,{cache:"no-store",credentials:"\
omit",mode:"no-cors",signal:e}),!0}catch{return!1}}var lt=class{#t;#s=0;#e=0;#i=0;#n=0;constructor(t){this.#t=this.#s=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#e=this.#i=this.#n=0,this.#s=t,!1;let s=t-this.#s>=5e3;return s&&(this.#n=this.#i,this.#i=0,this.#s=
t),e>this.#i&&(this.#i=e),++this.#e===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#e<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#i,this.#n)))}};var ee=1e3,ut=class extends j{#t=new lt(this.heard);#s=-1/0;#e=!1;#i;#n=0;#r=-1/0;#o=-1/0;#h;#a;arrived(t){super.arrived(
t),this.#h=void 0,this.#a?.abort(),this.#a=void 0,(this.#e?this.#t.skip(t):this.#t.arrived(t))&&this.arm(),this.#e&&(this.#e=
!1,this.c.woke())}active(t){let e=this.#c;this.#s=t,e||this.arm()}get#c(){return this.heard-this.#s<1e4}ponged(t){let e=Math.
min(t,2*this.#f);this.#i===void 0?(this.#i=e,this.#n=e/2):(this.#n+=(Math.abs(this.#i-e)-this.#n)/4,this.#i+=(e-this.#i)/
8),super.ponged(t)}stop(){super.stop(),this.#a?.abort()}get asking(){return super.asking??this.#h}get#f(){return Math.max(
F,(this.#i??0)+4*this.#n)}get patience(){let t=this.#c?this.#t.unusual:1/0;return Math.min(super.patience,t,this.c.owed?
3e3:1/0)}suspectAt({at:t,sendTime:e}){return Math.max(t,this.heard,this.woken)+(this.#h?F:this.#f)+e}dueAt(t){return Math.
min(this.#e?1/0:this.#l(t),super.dueAt(t),this.#r+ee)}#l(t){return Math.max(this.suspectAt(t),this.#o+ee)}judge(t,e){!this.#e&&
e>=this.#l(t)&&this.#u(e),this.over||this.probe()}#u(t){this.#e=this.c.silent(),this.#e||(this.#o=t)}ask(t){if(this.c.pingFirst===
void 0||this.c.unreadSince!==void 0)return this.c.ask();this.#h={at:t,sendTime:0},this.#r=-1/0,this.probe()}probe(){let t=p();
t-this.#r<ee||(this.#r=t,this.c.pingFirst!==void 0&&(this.#e||this.#h)?this.#d(this.c.pingFirst):this.c.probe())}async#d(t){
if(this.#a)return;let e=new AbortController;this.#a=e;let s=setTimeout(()=>e.abort(),F),i=await Pe(t,this.settings,e.signal);
clearTimeout(s),!(this.over||this.#a!==e)&&(this.#a=void 0,i?(this.#h=void 0,this.c.unanswered?this.c.probe():this.c.ask()):
this.#h&&(this.#h={at:-1/0,sendTime:0}),this.arm())}};function N({tenant:n,channel:t,payload:e}){let s=`${n}:${t}:`;for(let i=0;i<e.length;i+=1024)s+=String.fromCharCode(...e.
subarray(i,i+1024));return s}var O=class{size=0;#t=0;#s=[];#e=0;#i=new Map;get oldest(){for(;this.#s[this.#e]?.entry===void 0&&
this.#e<this.#s.length;)this.#e++;return this.#s[this.#e]?.entry}get all(){return this.#s.flatMap(({entry:t})=>t??[])}put(t,e,s){
this.#s.length>2*this.size+1024&&(this.#s=this.#s.filter(({entry:o})=>o),this.#e=0);let i={entry:{key:t,time:e,message:s}};
this.#s.push(i);let r=this.#i.get(t);return r?r.push(i):this.#i.set(t,[i]),this.size++,this.#t+=t.length,this.size>65536||
this.#t>16777216?this.drop():void 0}take(t){let e=this.#i.get(t),s=e?.shift();return!e||!s?!1:(e.length===0&&this.#i.delete(
t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;return t&&this.take(t.key),t}dropUntil(t){let e=[];
for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&e.push(s.message);return e}};var Ue=1e3,Ms=1e4,W=class{#t=new O;#s=new O;#e=new O;#i=Ue;#n;joined(t){this.#n=t}left(t){this.#i+=this.#r(t),this.#n=void 0}#r(t){
return this.#n===void 0?0:Math.min(t-this.#n,Ms-Ue)}fromCurrent(t,e){let s=N(t);return this.#o(e),this.#e.take(s)?!1:(this.#s.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#e.put(N(t),e),t;let i=this.#s.put(
N(t),e,{...t});return i&&this.#e.put(i.key,e),i?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(N(t))}get behind(){
return this.#s.size}release(){return this.#s.dropUntil(1/0)}orphan(){this.#t=new O;for(let{key:t,time:e}of this.#s.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#n=void 0,this.#t=new O;for(let{key:e}of this.given)this.#t.put(e,t);this.#e=
new O}get given(){return this.#e.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#i-this.#r(
t))}};var dt=250,pt=2e3;async function mt(n,t,e,s,i){for(;n.merger&&!n.merger.done(p());)await E(50,s);n.merger=new W,n.both=!0;
let r=i!==void 0;n.tentative=r;let{place:o}=n,h=!1,a=()=>{h||n.events.emit("moving",{...o,reason:e}),h=!0};r||a();let c=0;
for await(let l of n.searcher.order(t.edge,e!=="drain",s)){let f=i;if(i=void 0,!f){await n.pause(Math.max(T(++c,n.settings),
n.searcher.wait(l)),s);try{f=await n.searcher.open(l,s)}catch(d){if(k(s),!(d instanceof u)||n.searcher.hopeless(l,d,!0))
throw d;continue}}if(s.aborted)return void f.close();if(f.alive){n.next=f,n.merger.joined(p()),n.merger.release();let d=n.
restore(f);n.tentative&&f.ping().catch(()=>{}),await d}if(n.tentative){if(k(s),n.next!==f)return n.keepCurrent();n.tentative=
!1}if(f.alive){if(await _s(n,t,f,a,s),k(s),n.current!==f){if(r)return n.keepCurrent();continue}f.alive&&(a(),n.since=p(),
n.events.emit("moved",{...n.place,reason:e}));return}}}async function _s(n,t,e,s,i){let r=()=>n.next===e&&n.current===t;
if(!r())return;n.gate??=[];let o=P(pt,t.ping()).then(()=>{r()&&n.openGate(e)}),h=3;do await E(dt,i);while(--h&&n.merger?.
behind);await P(pt,Promise.all([...n.subscriber.asking,...n.presences?.asking??[]]));for(let c=pt;c>0&&r()&&n.presences&&
!n.presences.hasSynced(e);c-=dt)await E(dt,i);for(;r()&&e.postponed.size>0;)await E(dt,i);if(!r())return;s(),n.leaving=!0;
let a=[...t.asked].map(c=>t.leave(c));await P(pt,t.ended,Promise.allSettled([...a,t.ping(),t.confirmedAll()])),await o,r()&&
n.promote(),n.leaving=!1}var $s=1e4;async function Ie(n,t,e,s){let{lastByte:i}=t;n.reconnecting=!0,n.lose();for(let r of n.subscriber.interests.all)
r.confirmed=!1;n.events.emit("disconnected",{...n.place,error:e}),e.code==="token_expired"&&t.token===n.tokens.token&&n.
tokens.expire(),p()-n.since>$s&&(n.attempts=0);for await(let r of n.searcher.order(t.edge,!1,s)){let o=++n.attempts,h=Math.
max(T(o,n.settings),n.searcher.wait(r));n.events.emit("reconnecting",{attempt:o,delay:h}),await n.pause(h,s);try{let a=await n.
searcher.open(r,s);if(s.aborted)return void a.close();if(n.setCurrent(a),await n.restore(a),k(s),!a.alive)continue;n.reconnecting=
!1,n.since=p();let c=!n.gaps&&n.subscriber.interests.all.every(l=>l.history);return n.events.emit("reconnected",{...n.place,
away:p()-ct(i),complete:c})}catch(a){if(k(s),!(a instanceof u)||n.searcher.hopeless(r,a,!1))throw a}}}var Ps=4096,wt=class{#t=new Map;#s=[];#e=0;#i;add(t,e){return this.note(e),new Promise((s,i)=>{this.#t.set(t,{resolve:s,
reject:i,size:e})})}note(t,e){t<=Ps||t<this.#e||(this.#i=t>this.#e?e:this.#i??e,this.#e=t)}tooLarge(){for(let[t,{size:e}]of this.#t)
e===this.#e&&this.error("payload_too_large",`PUB:${t}`);return this.#i}settle(t,e=()=>{}){let s=this.#t.get(t);if(s&&e(s),
this.#t.delete(t),this.#t.size===0)for(let i of this.#s.splice(0))i()}error(t,e){let s=/^PUB:(\d+)$/.exec(e)?.[1];return s===
void 0?!1:(this.settle(Number(s),i=>i.reject(new u(t))),!0)}get owed(){return this.#t.size>0}idle(){return this.#t.size===
0?Promise.resolve():new Promise(t=>{this.#s.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(x()))}};var Ne,Le,se=1024,Us=["PING","PONG","RECONNECT","OK:AUTH"];function C(n){return Ne??=new TextEncoder,Ne.encode(n)}function U(n){
Le??=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0});try{return Le.decode(n)}catch(t){throw new u("protocol","text that\
 is not UTF-8",{cause:t})}}var Is=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revok\
ed",4403],["token_unverifiable",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function D(n,t){
let[e,s,...i]=n.split(":"),r=Is.get(e);if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new u(`${s}_no\
t_allowed`,i.join(":")||void 0,o):new u(e,void 0,o)}function ie(n){if(Us.includes(n))return{kind:n};if(/^LINK:(up|down)$/.
test(n))return{kind:"LINK",up:n==="LINK:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(t&&n.length<=
se)return{kind:"FEATURES",features:t};let e=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),s=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(n);if((e||s)&&(n.length<=se/3||C(n).length<=se)&&!n.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}throw new u(
"protocol","a line that is none")}function Be(n){try{return ie(n)}catch{return}}var re=["broadcast","one-nearest","one-random"];function oe(n,t,e,s,i){let r=typeof e=="string"?C(e):e,o=i?7+i.key.length:
s===void 0?0:2,h=new Uint8Array(o+4+n.length+t.length+r.length);return o>0&&(h[0]=i?3:2,h[1]=s??0),i&&(new DataView(h.buffer).
setUint32(2,i.id),h[6]=i.key.length,h.set(i.key,7)),h.set(r,Ce(h,Ce(h,o,n),t)),h}function Ce(n,t,e){n[t++]=e.length>>8,n[t++]=
e.length;for(let s=0;s<e.length;s++)n[t++]=e.charCodeAt(s);return t}var We=1,De=2,ne=24,Ns=128,Ls={4:We|De,5:7};function he(n,t,e){
if(t===e||n[t]===1)return!1;let s=Ls[n[t]];return s===void 0||t+1<e&&(n[t+1]&~s)!==0}var gt=class{#t=new K;#s=new K;#e=new K;#i={};decode(t,e,s){
let i=b=>{b>s&&$()},r=b=>(i(b+2),t[b]<<8|t[b+1]);(e===s||t[e]===5||he(t,e,s))&&$();let o,h="";if(t[e]===4){let b=r(e)&255;
if(b===0&&$(),e++,b&We&&(i(e+1+ne),o=Bs(t,e+1),e+=ne),b&De){i(e+2);let v=e+2;e=v+t[e+1]-1,e-v>=Ns&&$(),i(e+1),h=this.#e.
of(t,v,e+1,()=>U(t.subarray(v,e+1)))}}let a=o!==void 0,c=e+3+r(e+1),l=c+2+r(c),f=l+4;i(f);let d=f+r(l)*65536+r(l+2);(r(d)===
0||a&&r(d)!==1)&&$();let m=this.#t.of(t,e+1,l,()=>[U(t.subarray(e+3,c)),U(t.subarray(c+2,l))]),w=this.#i;return w.tenant=
m[0],w.channel=m[1],w.payload=t.subarray(f,d),w.route=this.#s.of(t,d,s,()=>{let b=[],v=d+2;for(let A=r(d);A>0;A--){let g=v+
2+r(v);i(g),b.push(U(t.subarray(v+2,g))),v=g}return v!==s&&$(),{patterns:Object.freeze(b),note:void 0}}),w.position=o,w.
sender=h,w}};function Bs(n,t){let e=new DataView(n.buffer,n.byteOffset+t,ne);return`${Re(e,0)}${Re(e,4)}.${je(e,8)}.${je(
e,16)}`}var Re=(n,t)=>n.getUint32(t).toString(16).padStart(8,"0");function je(n,t){let e=n.getUint32(t);return e<2097152?
String(e*4294967296+n.getUint32(t+4)):String(n.getBigUint64(t))}function $(){throw new u("protocol","a frame that is non\
e")}var Cs=256,Rs=1024,K=class{#t=[];of(t,e,s,i){let r=0;for(let c=e;c<s;c++)r=Math.imul(r,31)+t[c]|0;let o=(r^r>>>8)&Cs-
1,h=this.#t[o];if(h&&js(h.bytes,t,e,s))return h.value;let a=i();return s-e<=Rs&&(this.#t[o]={bytes:t.slice(e,s),value:a}),
a}};function js(n,t,e,s){if(n.length!==s-e)return!1;for(let i=0;i<n.length;i++)if(n[i]!==t[e+i])return!1;return!0}var bt=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),i=s?.
shift();return i?(s?.length===0&&this.#t.delete(t),e(i),!0):!1}get owed(){for(let t of this.#t.keys())if(!/^(RSUB|AGAIN):/.
test(t))return!0;return!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();for(let s of e)s.reject(t)}};var yt=class{edge;transport;token;begun=p();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#t;#s;#e;#i=new gt;#n=new bt;#r=new wt;#o;#h=[];#a=new Set;#c=new it;#f=!1;#l=!0;#u=!0;#d;constructor(t,e,s,i,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#s=i;let o=this;this.#e=i.watch({get unanswered(){return o.#h[0]},
get unreadSince(){return o.#c.waits(o.lastByte)},get owed(){return o.#n.owed||o.#r.owed},pingFirst:e.fragile?t+r.paths.ping:
void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#s.silent(this),woke:()=>this.#s.woke(this),
over:()=>this.fail(new u("timeout","the edge does not answer"))}),this.featured=new Promise(a=>{this.#o=a});let h;this.ended=
new Promise(a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#e.arrived(p())},line:a=>this.#x(()=>this.#v(a)),frame:(a,c,l)=>{
if(!this.alive||(this.#b(),he(a,c,l)))return;let f;try{if(a[c]===5)return this.#s.presence(this,a,c,l);f=this.#i.decode(
a,c,l)}catch(d){return this.#y(d)}this.#s.delivered(this,f)},ended:a=>{h(),this.#T(a)}}),this.#f=!0,this.alive&&this.#m(
`FEATURES:link${r.sender?",sender":""}`),this.alive&&this.#e.arm()}get lastByte(){return this.#e.heard}request(t,e,s=""){
t==="SUB"&&this.asked.add(e);let i=`${t}:${e}`,r=this.#p(i);return this.alive&&this.#m(i+s),r}resume(t,e){let s=this.#p(
`RSUB:${t}`);return this.alive&&this.#m(`RSUB:${t}:${e}`),s}leave(t,e="UNSUB"){let s=`${e}:${t}`,r=this.request(e,t).catch(
()=>{}).then(()=>{this.ending.get(s)===r&&this.ending.delete(s)});return this.ending.set(s,r),r}resumed(t){this.#n.answer(
`RSUB:${t}`,e=>e.resolve())}confirm(t,e){if(!this.alive)return Promise.reject(x());let s=this.#r.add(e,t.length);return this.#m(
t),s}published(t,e){this.#r.settle(t,s=>s.resolve(e))}forgetConfirm(t){this.#r.settle(t)}confirmedAll(){return this.#r.idle()}postpone(t,e){
this.postponed.add(t);let s=`AGAIN:${t}`,i=setTimeout(()=>this.#n.answer(s,r=>r.resolve()),e);return this.#p(s).finally(
()=>clearTimeout(i))}#p(t){return new Promise((e,s)=>{this.alive?this.#n.add(t,{resolve:e,reject:s}):s(x())})}forget(t){
return this.confirmed.delete(t),this.postponed.delete(t),this.#n.answer(`AGAIN:${t}`,e=>e.reject(x())),this.asked.delete(
t)}ping(){return new Promise((t,e)=>{if(!this.alive)return e(x());let s=this.#c.mark();this.#h.push({at:p(),sendTime:this.#c.
sendTime(s),mark:s,resolve:t,reject:e}),this.#t.send("PING"),this.#e.probe(),this.#h.length===1&&this.#e.arm()})}publish(t,e){
this.#r.note(t.length,e);let s=this.#c.publish(t.length,p());this.#t.send(t),s&&this.#e.arm();let i=this.#t.sent();return i&&
new Promise(r=>{let o=()=>{this.#a.delete(o),r()};this.#a.add(o),i.then(o,o)})}awake(t){this.#e.awake(t)}handTo(t){this.#s=
t,this.#e.stop(),this.#n.reject(x()),this.#r.fail();for(let e of this.#h)e.reject(x());for(let e of this.#a)e()}#m(t){let e=this.#c.
request(t.length,p(),this.lastByte);this.#t.send(t),e&&this.#e.arm()}takeUnread(){return this.#c.take()}close(){return this.
alive&&(this.#g(x()),this.#t.close()),this.ended}#b(){let t=p();this.#e.arrived(t),this.#e.active(t)}#v(t){t==="PONG"?this.#e.
arrived(p()):this.#b();let e=Be(t);if(!e)return this.#s.line(this,t);if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;
if(this.#n.answer(`${e.verb}:${s}`,i=>i.resolve())&&e.verb==="SUB"&&(this.confirmed.add(s),this.postponed.delete(s)),e.verb===
"UNSUB")for(;this.#n.answer(`RSUB:${s}`,i=>i.reject(x())););}else if(e.kind==="ERR")this.#k(e.code,e.detail,t.slice(4));else if(e.
kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#h.shift();if(!s)return;let i=p()-s.at;this.#c.proven(
s.mark,p()),s.resolve(i),this.#e.ponged(i),this.#s.roundTrip(i)}else e.kind==="RECONNECT"&&!this.drains?(this.drains=!0,
this.#s.draining(this)):e.kind==="FEATURES"?this.#w(e.features.split(",")):e.kind==="LINK"&&(this.#u=e.up,this.#l||this.#w())}#w(t=this.
features??[]){this.#l=!1,this.features=t,this.#o(),this.link=this.#u,this.#s.linked()}#k(t,e,s){if(this.#l&&t==="bad_req\
uest")return this.#w();let i=D(s);if(i&&(this.#d=s),this.#r.error(t,e))return;let[,r,o,h]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.
exec(e)??[];!(o!==void 0&&h!==void 0&&t!=="broker_unavailable"&&this.#n.answer(e,c=>c.reject(new u(t,void 0,r?{tenant:o,
channel:h}:{tenant:o,pattern:h}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.test(t)&&this.#s.errorLine(this,t,e),
(t==="token_revoked"||t==="token_expired")&&this.fail(i)}#x(t){if(this.alive)try{t()}catch(e){this.#y(e)}}#y(t){this.fail(
S(t,"protocol","the edge broke the protocol"))}fail(t){this.#g(t),this.#t.close(),this.#f&&this.#s.lost(this,t)}#T({closeCode:t,
error:e}){if(!this.alive)return;let s=this.#d===void 0?void 0:D(this.#d,t),i=t===4401?"token_expired":t===4403?"token_re\
voked":"disconnected",r=s?.code!=="slow_consumer"||t===4429,o="the connection has ended";if(t===1009){o="a message was t\
oo large for the edge";let a=this.#r.tooLarge();a&&(this.#c.told(),this.#s.errorLine(this,"payload_too_large",`PUB:${a.tenant}\
:${a.channel}`))}let h=s&&r?s:e??new u(i,o,{closeCode:t});this.#g(h),this.#f&&this.#s.lost(this,h)}#g(t){this.alive=!1,this.
error=t,this.#e.stop();let e=x(t);this.#o(),this.#n.reject(e),this.#r.fail();for(let s of this.#h)s.reject(e);this.#h=[]}};var G=class{#t;#s=[];start(t){let e=this.#s;this.#s=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#s.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#s.push(i=>i.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#s.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var Ge=1<<20,Ws=1e3;async function qe({edge:n,token:t,signal:e},s){let{paths:i,runtime:r}=s,{promise:o,resolve:h,reject:a}=Gs(),
c=new G,l=!1,f=await r.socket(n.replace("http","ws")+i.webSocket,t,s,{refused(g){l=!0,a(g)},bytes:()=>c.bytes()});f.binaryType!==
"nodebuffer"&&(f.binaryType="arraybuffer");let d=()=>f.terminate?f.terminate():f.close(),m=()=>{a(I(e)),d()};e.addEventListener(
"abort",m),e.aborted&&m();let w=!1,b,v;f.onerror=({error:g})=>{b=g},f.onopen=()=>{w=!0,e.removeEventListener("abort",m),
h({transport:"websocket",fragile:!1,start:g=>c.start(g),send:g=>w&&f.send(g),sent:()=>w&&f.bufferedAmount>Ge?A():void 0,
probe(){},close(){f.close(1e3),v??=setTimeout(()=>{d(),c.ended({})},Ws)}})},f.onclose=({code:g})=>{clearTimeout(v),w?(w=
!1,c.ended({closeCode:g})):l||Ds(n+i.ping,s,e,b).then(a,a),e.removeEventListener("abort",m)},f.onmessage=({data:g})=>{typeof g==
"string"?c.line(g):ArrayBuffer.isView(g)?c.frame(new Uint8Array(g.buffer,g.byteOffset,g.byteLength),0,g.byteLength):c.frame(
new Uint8Array(g),0,g.byteLength)};async function A(){for(;w&&f.bufferedAmount>Ge;)await new Promise(g=>setTimeout(g,5))}
return o}async function Ds(n,t,e,s){return await ft(n,t,e)?new u("refused","the edge answers, and refuses the WebSocket:\
 perhaps the token, or this page's origin"):new u("unreachable","no WebSocket to the edge",{cause:s})}function Gs(){let n,
t;return{promise:new Promise((s,i)=>{n=s,t=i}),resolve:n,reject:t}}var vt=globalThis,qs=vt.Deno!==void 0||vt.process?.versions?.node!==void 0,He=!qs&&(vt.document!==void 0||vt.WorkerGlobalScope!==
void 0);var Hs=32<<20,ze=(n,t,e)=>e>t&&n[t]<32,kt=class{#t;#s=[];#e=0;constructor(t=Hs){this.#t=t}get held(){return this.#e}push(t,e){
let s=0;if(!(this.#e>0&&(s=this.#i(t,e),this.#e>0))){for(;t.length-s>=4;){let i=s+4+this.#o(t,s);if(i>t.length)break;e(t,
s+4,i),s=i}s<t.length&&this.#n(t.slice(s))}}#i(t,e){let s=0;if(this.#e<4&&(s=Math.min(4-this.#e,t.length),this.#n(t.slice(
0,s)),this.#e<4))return s;let i=this.#s[0].length<4?this.#r():this.#s[0],r=4+this.#o(i,0),o=Math.min(r-this.#e,t.length-
s);if(o>0&&this.#n(t.slice(s,s+o)),this.#e===r){let h=this.#r();this.#s=[],this.#e=0,e(h,4,r)}return s+o}#n(t){this.#s.push(
t),this.#e+=t.length}#r(){let t=new Uint8Array(this.#e),e=0;for(let s of this.#s)t.set(s,e),e+=s.length;return this.#s=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new u("protocol","a message that is to\
o long");return s}};var Fe=1e3,zs=43,Fs=2e3,Ke=()=>"WebTransport"in globalThis;async function Xe(n,{paths:t,hashes:e}){let{signal:s}=n,i=[],
r,o=()=>{clearTimeout(r),i.forEach(xt)};s.addEventListener("abort",o);try{let h=await new Promise((c,l)=>{let f=()=>{let d=new WebTransport(
n.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});i.push(d),d.closed.catch(()=>{}),d.ready.then(()=>c(d),l)};
f(),r=setTimeout(f,Fs)});for(let c of i)c!==h&&xt(c);let a=h.closed.then(({closeCode:c,reason:l})=>({closeCode:c,error:D(
`${l}`)}),()=>({}));return await Ks(h,a,n.token)}catch(h){throw o(),k(s),S(h,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(r),s.removeEventListener("abort",o)}}async function Ks(n,t,e){let s=await n.createBidirectionalStream(),i=new G,
r=new ae(s.writable.getWriter()),o=s.readable.getReader(),h,a,c=Xs(n);r.send(`AUTH:${e}`);let l=new kt,f=(w,b,v)=>{if(ze(
w,b,v))return i.frame(w,b,v);let A=U(w.subarray(b,v));if(a)return i.line(A);let g=ie(A);g.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:He,start:qt=>i.start(qt),send:qt=>r.send(qt),sent:()=>r.sent,probe:c,close:()=>{r.close().then(()=>xt(
n))}}:g.kind==="ERR"&&(h??=D(A.slice(4))??new u(g.code))},d=async()=>{let{value:w,done:b}=await o.read();return w&&(i.bytes(),
l.push(w,f)),!b},m;for(;!a;)if(!await d().catch(b=>{if(b instanceof u)throw b;return!1}))throw h??Vs(await t);return(async()=>{
try{for(;await d(););}catch(v){v instanceof u&&(m=v)}r.close();let w={error:m},b=t.then(v=>w=v);m||await P(Fe,b),xt(n),i.
ended(w)})(),a}function Xs(n){let t,e=!1,s=async()=>{let{writable:i,createWritable:r}=n.datagrams;t??=(i??r?.call(n.datagrams))?.
getWriter(),await t?.write(new Uint8Array(zs))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function Vs({
closeCode:n,error:t}){let e=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return t??new u(
e,"the connection has ended",{closeCode:n})}function xt(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var ae=class{#t;#s=new Uint8Array(
4096);#e=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?C(t):t,s=e.length,i=this.#e+
4+s;if(i>this.#s.length){let r=new Uint8Array(Math.max(i,this.#s.length*2));r.set(this.#s.subarray(0,this.#e)),this.#s=r}
this.#s.set([s>>>24,s>>>16,s>>>8,s],this.#e),this.#s.set(e,this.#e+4),this.#e=i,this.sent??=this.#i()}async#i(){try{do{await this.#t.
ready;let t=this.#s.subarray(0,this.#e);this.#s=new Uint8Array(4096),this.#e=0,this.#t.write(t).catch(()=>{})}while(this.#e>
0)}catch{this.#e=0}this.sent=void 0}async close(){await P(Fe,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var Js=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,ce=(n,t)=>Ke()&&n.
startsWith("https:")&&!t.runtime.proxied(n,t),Tt=class{#t;#s=new Map;#e=new Set;constructor(t){this.#t=t}forget(){this.#e.
clear()}prefer(t,e){this.#s.set(t,e)}async open(t,e,s,i={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=i,
a=o.filter(f=>f==="websocket"||ce(t,r));a.length===0&&y("there is no WebTransport here, not for http:// addresses, and n\
ot through a proxy");let c=a.filter(f=>!this.#e.has(f));if(c.length===0)throw new u("protocol_not_allowed");this.#s.get(
t)===c[1]&&c.reverse();let l=await L(s,r.connectTimeout,f=>this.#i(c,t,e,h,f));return this.#s.set(t,l.transport),l}#i(t,e,s,i,r){
return new Promise((o,h)=>{let a,c=0,l=0,f,d=!1,m=()=>{d=!0,clearTimeout(a)},w=()=>{clearTimeout(a);let b=t[l++];if(!b||
d)return;let v=b==="websocket"?qe:Xe;c++,v({edge:e,token:s,signal:r},this.#t).then(A=>{if(d)return Ys(A);m(),o(A)},A=>{c--;
let g=S(A,"unreachable","the edge does not answer");if(g.code==="protocol_not_allowed"&&this.#e.add(b),(!f||X(g)>X(f))&&
(f=g),!Js.test(g.code)&&(c>0||l<t.length))return w();m(),h(f)}),l<t.length&&(a=setTimeout(w,i))};r.addEventListener("abo\
rt",()=>{m(),h(I(r))}),w()})}};function Ys(n){n.start({bytes(){},line(){},frame(){},ended(){}}),n.close()}function X({code:n}){
return["unreachable","timeout","refused","protocol_not_allowed"].indexOf(n)>>>0}function Et(n,t){let e;try{e=new URL(n)}catch{}if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.search||e.
hash)throw new u("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!Zs(e.hostname))throw new u("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function Zs(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(n)}var Ve=3,Qs=500;async function fe(n,t,e){let s,i=await Promise.all(n.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await L(e,t.connectTimeout,h=>ti(o,t,h))}catch(h){return s=h,[]}})),r=[...new Set(i.flat())];if(k(e),r.length===
0)throw s??new u("unreachable","the list has no edge");return r.length>1&&(await L(e,t.connectTimeout,o=>ei(r,t,o)).catch(
()=>{}),k(e)),r}async function ti(n,t,e){try{let s=await t.runtime.fetch(n.href,t,{cache:"no-store",credentials:"omit",signal:e});
if(!s.ok)throw new u("unreachable",`the list of edges: HTTP status ${s.status}`,{status:s.status});let{edges:i}=await s.
json();return i.map(({host:r})=>Et(`https://${r}`,!1).origin)}catch(s){throw S(s,"unreachable","the list of edges")}}async function ei(n,t,e){
let s=new Map,i,r=new Promise(c=>{i=c}),o=async c=>{let l=[];for(;l.length<Ve;){let f=p();if(!await ft(c+t.paths.ping,t,
e))return;l.push(p()-f)}l.sort((f,d)=>f-d),s.set(c,l[Ve>>1]),i()},h=n.map(o);await Promise.race([Promise.all(h),r.then(()=>E(
Qs,e))]);let a=c=>s.get(c)??Number.MAX_VALUE;n.sort((c,l)=>a(c)-a(l))}var Je=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,si=/^(unauthorized|token_expired|region_not|protocol_not)/,
ii=5,ni=6e4,ri=12e4,St=class{#t;#s;#e;#i;#n;#r=[];#o=new Map;#h;#a=0;#c=0;#f=new Map;drained=new Set;constructor(t,e,s,i){
this.#t=t,this.#s=e,this.#e=s,this.#i=i,this.#n=new Tt(e)}async first(t){await M(this.#e.get(),t),this.#r=await fe(this.#t,
this.#s,t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(i){if(!(i instanceof u)||Je.test(i.code)||i.
code==="token_provider")throw i;(!e||X(i)>X(e))&&(e=i)}throw e}async*order(t,e,s){for(;;){let i=this.#r.filter(o=>o!==t),
r=e?[t,...i]:i.length<this.#r.length?[...i,t]:i;for(let o of r)r.some(h=>this.wait(h)<this.wait(o))||(yield o);if(this.#t.
some(o=>o.pathname!=="/"))try{this.#r=await fe(this.#t,this.#s,s)}catch{k(s)}}}wait(t){return Math.max(0,(this.#f.get(t)??
0)-p())}async open(t,e,s){let i=await this.#e.get();try{return await this.#l(t,i,e,s)}catch(r){if(!(r instanceof u&&/^(unauthorized|token_expired|refused)$/.
test(r.code))||!this.#e.provided)throw r;let h=await this.#e.ask();if(h===i)throw r;return this.#l(t,h,e,s)}}async#l(t,e,s,i){
e!==this.#h&&(this.#h=e,this.#o.clear(),this.#n.forget());let r=await this.#n.open(t,e,s,i).catch(h=>{let{retryAfter:a=0}=h;
throw this.#f.set(t,p()+Math.min(a,this.#s.maxBackOff)),h});this.drained.delete(t),this.#f.delete(t);let o=new yt(t,r,e,
this.#i,this.#s);if(o.error)throw o.error;return this.#a=0,this.#o.clear(),o}noteSilent({edge:t,transport:e,begun:s},i=!1){
e!=="webtransport"||!i&&p()-s>=ri||this.#n.prefer(t,i?e:"websocket")}hopeless(t,e,s){let{code:i}=e;i==="unreachable"&&this.
drained.delete(t);let r=i==="unauthorized"&&this.#e.provided;return r&&this.#e.failed(e),r||i==="refused"?s||this.drained.
has(t)?!1:(this.#a++===0&&(this.#c=p()),this.#a>=ii&&p()-this.#c>=ni):(this.#a=0,Je.test(i)?!0:si.test(i)?(this.#o.set(t,
e),this.#r.every(o=>this.#o.has(o))):!1)}};var oi=1024,At=class{#t=new Map;#s=[];#e=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){if(typeof e!=
"function")throw new u("bad_option",`the handler of ${t} must be a function`);let s=r=>e(r),i=this.#t.get(t)??new Set;return this.#t.
set(t,i.add(s)),()=>{i.delete(s)}}emit(t,e){this.#s.push([t,e])>oi&&this.#s.shift(),this.#e||this.#i()}async#i(){this.#e=
!0,await null;for(let t=this.#s.shift();t;t=this.#s.shift())for(let e of[...this.#t.get(t[0])??[]])try{await e(t[1])}catch(s){
q(s)}this.#e=!1}};function q(n){queueMicrotask(()=>{throw n})}var Ot=class{settings;events;subscriber=new tt(this);current;next;suspected;leaving=!1;gaps=!1;reconnecting=!1;place={edge:"",
transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#s=new Set;#e=[];constructor(t,e){this.settings=Se(t,e),this.events=
new At(t.on)}setCurrent(t){this.current=t,this.place={edge:t.edge,transport:t.transport},this.presences?.follow(),this.linked(),
this.change(),this.since&&this.follow(t)}follow(t){}change(){for(let t of this.#e.splice(0))t()}changed(){return new Promise(
t=>{this.#e.push(t)})}lose(){this.current=void 0,this.gaps=!1,this.presences?.follow()}async restore(t){await Promise.all(
[this.subscriber.restore(t),this.presences?.restore(t)])}delivered(t,e){e.position===void 0?this.subscriber.interests.dispatch(
e):this.histories?.stored(t,e,e.position)}presence(t,e,s,i){this.presences?.frame(t,e,s,i)}line(t,e){this.histories?.line(
t,e)}linked(){let{link:t,edge:e}=this.current??{};!this.since||!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(
t?"linkUp":"linkDown",{edge:e}))}reportUnread(t){let e=t.takeUnread(),{edge:s,transport:i}=t;e>0&&this.events.emit("publ\
ishUnknown",{edge:s,transport:i,count:e})}get waits(){return this.#s.size>0}hurry(){for(let t of[...this.#s])t()}pause(t,e){
return E(t,e,this.#s)}get out(){return this.current}publishConnection(){if(this.over)throw this.over;let{out:t}=this;if(!t?.
alive)throw x();return t}get held(){return!1}whenOpen(t){return t()}};function Ye(n){if(typeof n=="number")return n;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!t){let r='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new u("bad_option",r)}let[e=0,s=0,i=0]=t.slice(1).map(r=>Number(
r??0));return(e*60+s)*60+i}var hi=2**31-1,Ze=1e3,ai="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function ci(n,t){return n===
1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-t*n/10)}var Mt=class{#t;#s;failed;#e=new AbortController;#i;#n=1/0;#r;#o=!1;#h=-1/0;#a;#c=0;constructor(t,e,s){
this.#t=t,this.#i=t.token,this.#s=e,this.failed=s}get token(){return this.#i}get provided(){return this.#t.tokenProvider!==
void 0}get(){return this.#i!==void 0&&p()<this.#n?Promise.resolve(this.#i):this.ask()}ask(){return this.#r??=this.#f().finally(
()=>{this.#r=void 0,this.#o=!1}),this.#r}async renew(){this.#o&&await this.#r?.catch(()=>{}),await this.ask(),this.#s()}async#f(){
clearTimeout(this.#a);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,{signal:i}=this.#e;try{let r=this.#h+Ze;
for(;p()<r;)await E(r-p(),i);this.#o=!0;let h=await L(i,e,a=>M(Promise.resolve(t?.()),a)).finally(()=>{this.#h=p()});return this.#l(
typeof h=="object"?h:{token:h}),this.#i}catch(r){this.#n>0&&this.#n<1/0&&this.#u(Math.max(s,T(++this.#c+1,this.#t)));let o=r?.
name==="LoggedOutError",h=`the token provider ${o?"says that there will be":"gave"} no token`,a=new u(o?"logged_out":"to\
ken_provider",h,{cause:r});throw this.#i!==void 0&&!i.aborted&&this.failed(a),a}}#l(t){_("the token provider's answer",t,
ai);let e=t.expiresIn??t.expires_in,s=t.expiresAt??t.expires_at,i=1/0;e!=null?i=Ye(e)*1e3:s!=null&&(i=new Date(s).getTime()-
Date.now()),e==null&&i<=0&&(i=1/0),i>0||y("expiresIn must be above 0, expiresAt a time"),this.#i=Y(t.token),this.#n=p()+
i,this.#c=0,this.#u(Math.max(Ze,ci(i,Math.random())))}#u(t){if(this.#e.signal.aborted||!(t<1/0))return;let e=this.#i;this.#a=
setTimeout(()=>this.ask().then(s=>s!==e&&this.#s(),()=>{}),Math.min(t,hi))}expire(){this.provided&&(this.#n=-1)}stop(){this.#e.
abort(),clearTimeout(this.#a)}};var fi=2e3,H=class extends Ot{tokens;searcher;histories;presences;closed;task;#t;#s;constructor(t,e,s,i={}){super(e,s),this.
histories=i.history&&new i.history(this),this.presences=i.presence&&new i.presence(this),this.tokens=new Mt(this.settings,
()=>this.moveIfDue(),r=>this.#e(r)),this.searcher=new St(t,this.settings,this.tokens,this),this.closed=new Promise(r=>{this.#s=
r})}#e(t){let{code:e,message:s,cause:i}=t;e!=="logged_out"?this.events.emit("edgeError",{code:e,detail:s.slice(e.length+
2),cause:i}):this.since&&this.finish(t)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||y("there i\
s no tokenProvider that could give another token");try{await this.tokens.renew()}catch(t){throw this.over&&t.code!=="log\
ged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(t){try{let e=await this.
searcher.first(t);if(this.setCurrent(e),k(t),e.error)throw e.error;this.since=p(),this.#t=$e(this),this.follow(e),this.events.
emit("connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.current?.close(),e}}moveIfDue(){
let{current:t}=this;this.task||this.over||!t?.alive||(t.drains?this.run(e=>this.leave(t,"drain",e)):t.token!==this.tokens.
token&&this.run(e=>this.leave(t,"token",e)))}async leave(t,e,s){await P(fi,t.ping(),t.ended),k(s);let i=e==="drain";t.fail(
new u(i?"draining":"disconnected",i?"the edge asks to leave":"another token"))}run(t){this.task?.abort();let e=new AbortController;
this.task=e,t(e.signal).then(()=>{this.task===e&&(this.task=void 0,this.current?.alive&&this.moveIfDue())},s=>{this.task===
e&&this.finish(S(s,"internal","a fault of this client"))})}watch(t){return new j(t,this.settings)}draining(t){this.searcher.
drained.add(t.edge),t===this.current&&this.moveIfDue()}errorLine(t,e,s){this.presences?.ended(t,e,s);let[,i,r]=/^PUB:([^:]+):(.+)$/s.
exec(s)??[];e==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(s)}):e==="egress_limited"?this.events.emit(
"egressLimited",{delay:Number(s)*1e3}):i&&r&&e!=="broker_unavailable"?this.events.emit("publishError",{tenant:i,channel:r,
code:e}):this.events.emit("edgeError",{code:e,detail:s})}roundTrip(t){this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){
return!1}woke(t){}lost(t,e){this.reportUnread(t);let s=t.token===this.tokens.token;if((/_not_allowed$|^token_revoked$/.test(
e.code)||e.code==="token_expired"&&!this.tokens.provided)&&s&&!this.spare(t))return this.finish(e);e.closeCode===void 0&&
/^(disconnected|timeout)$/.test(e.code)&&this.searcher.noteSilent(t),this.replace(t,e)}spare(t){return!1}replace(t,e){t===
this.current&&!this.reconnecting&&this.run(s=>Ie(this,t,e,s))}slept(){this.#i(!1)}networkChanged(){this.#i(!0)}#i(t){for(let e of[
this.current,this.next])e?.awake(t);this.hurry()}finish(t){if(this.over)return;this.over=new u("closed","the client has \
been closed",t?{cause:t}:{}),this.task?.abort(),this.tokens.stop(),this.#t?.(),t||this.presences?.leaveAll();let e=this.
end(t);this.change(),this.subscriber.end(t,this.over),this.presences?.end(t,this.over),this.events.emit("closed",{error:t}),
Promise.all(e).then(()=>this.#s(t))}end(t){let{current:e}=this;return e&&t&&this.reportUnread(e),[e?.close()]}};var li=500;async function Qe(n,t,e){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(p());)await E(
50,e);n.merger=new W,n.both=n.tentative=!0;let s=0;for await(let i of n.searcher.order(t.edge,!1,e)){await n.pause(Math.
max(T(++s,n.settings),n.searcher.wait(i)),e);let r;try{r=await n.searcher.open(i,e,{fallbackAfter:li})}catch(h){if(k(e),
h instanceof u)continue;throw h}if(e.aborted)return void r.close();if(!r.alive)continue;n.next=r,n.merger.joined(p());let o=n.
restore(r);if(r.ping().catch(()=>{}),await o,k(e),n.next===r)return n.takeOver(t,r)}}var le=1e3,_t=class{#t=new O;#s=new O;#e=new O;constructor(t,e,s){for(let{key:i}of t)this.#t.put(i,e);if(s){for(let{key:i,
time:r,message:o}of s.#s.all)this.#s.put(i,r,o);for(let{key:i,time:r}of s.#e.all)this.#e.put(i,r)}}fromCurrent(t,e){let s=N(
t);return this.#e.dropUntil(e-le),this.#e.take(s)?!1:(this.#s.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=N(t);if(this.#t.
take(s))return;let i=this.#s.put(s,e,{...t});return i&&this.#e.put(i.key,i.time),i?.message}renew(t){for(let e of this.#s.
all)e.time=t}due(t){return this.#s.dropUntil(t-le)}get nextDue(){let t=this.#s.oldest;return t&&t.time+le}};var ts=15e3,ui=6e4,$t=class{#t;late;#s;#e;#i=!0;#n=!1;#r=p();#o;#h;constructor(t,e,s,i,r){this.#t=t,this.late=new _t(e,p(),
r?.late),this.#s=s,this.#e=i,this.#o=setTimeout(()=>this.#a(),ts),r?.stop(),t.handTo(this),t.alive?this.#f():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,p())}hold(t){t!==this.#n&&(this.#n=t,t||this.late.renew(p()),this.#f())}flush(){for(let t of this.
late.due(1/0))this.#s(t)}stop(){return this.#i=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#a(){let t=Math.
min(this.#t.lastByte+ts,this.#r+ui)-p();t>0?this.#o=setTimeout(()=>this.#a(),t):this.#c()}#c(){this.#i&&(this.stop(),this.#f())}#f(){
if(clearTimeout(this.#h),this.#n)return;let{nextDue:t}=this.late;if(t===void 0){this.#i||this.#e();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(p()))this.#s(e);this.#f()},Math.max(1,t-p()))}delivered(t,e){if(e.position!==void 0)return;
let s=this.late.nextDue===void 0,i=this.late.fromTrail(e,p());i&&this.#s(i),s&&this.#f()}woke(t){for(let s of t.asked)t.
request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){return!1}line(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var ue=6e4,di=60*ue,pi=2*ue,mi=1e4,wi=2e3;function es(n,t){return Math.min((4+2*t)*ue*2**n,di)}var Pt=class{#t;#s=0;#e;#i;#n;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#i),t.transport==="webtransport"?(this.stop(),this.#i=setTimeout(()=>{this.#s=0},pi)):
!this.#e&&this.#r(t)&&this.#o(es(this.#s,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
wi,!1)}stop(){this.#n?.abort(),this.#n=void 0,clearTimeout(this.#e),clearTimeout(this.#i),this.#e=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&ce(e,this.#t.settings)}#o(t,e=!0){
clearTimeout(this.#e),this.#e=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#n)
return this.#o(mi,t);if(!this.#r(s)){this.#e=void 0;return}let i=this.#s+Number(t);this.#o(es(i,Math.random()));let r=new AbortController;
this.#n=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#n===r&&(this.#n=
void 0),r.signal.aborted||(this.#s=i),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>mt(e,s,"transport",h,o)):(o?.
close(),e.moveIfDue())}};var gi=3e3,Ut=class extends H{tentative=!1;trail;publishOn;gate;merger;both=!1;#t=new Pt(this);follow(t){this.#t.follow(
t)}leave(t,e,s){return mt(this,t,e,s)}get idle(){let{current:t,merger:e}=this;return!this.task&&!this.over&&t?.alive===!0&&
!t.drains&&(!e||e.done(p()))}watch(t){return new ut(t,this.settings)}delivered(t,e){if(e.position!==void 0)return super.
delivered(t,e);if(!this.merger)return this.#s(e);let s=p();if(t===this.next){let i=this.current?.confirmed,r=!e.route.patterns.
some(h=>i?.has(`${e.tenant}:${h}`)),o=this.merger.fromNext(e,s,r);o&&this.#s(o)}else this.both?this.merger.fromCurrent(e,
s)&&this.#s(e):(this.merger.late(e,s)||this.#s(e),this.merger?.done(s)&&(this.merger=void 0))}#s(t){(!this.trail||this.trail.
fromCurrent(t))&&this.subscriber.interests.dispatch(t)}silent(t){let{current:e}=this;return t===this.next&&this.tentative&&
p()-t.lastByte>=gi&&t.fail(new u("timeout","the edge does not answer")),t!==e||this.task||this.gate||this.over||this.reconnecting||
!this.since||e.drains?!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.noteSilent(t),this.run(s=>Qe(this,t,s)),!0)}woke(t){
t===this.suspected&&(this.searcher.noteSilent(t,!0),this.task?.abort(),this.task=void 0,this.next?.close(),this.next=void 0,
this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}spare(t){
return t===this.next&&this.suspected!==void 0}replace(t,e){if(t===this.next&&!this.leaving){let s=this.spare(t);this.next=
void 0,s?this.merger?.orphan():this.openGate(void 0)}else t===this.current&&!this.suspected&&(this.gate||this.publishOn)?
this.promote():(t===this.current||t===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.
close(),this.next=void 0,this.#e()),this.promote(),super.replace(t,e))}lose(){super.lose(),this.merger=void 0,this.both=
this.leaving=this.tentative=!1,this.openGate(void 0)}networkChanged(){super.networkChanged(),this.#t.soon()}promote(){let{
current:t,next:e}=this;e&&(t&&this.reportUnread(t),this.setCurrent(e),this.next=void 0,this.merger?.left(p()),this.both=
this.leaving=!1,this.openGate(void 0),this.#e(),t?.close(),this.histories?.resume(e))}takeOver(t,e){this.trail?.hold(!1);
let s=new $t(t,this.merger?.given??[],r=>this.subscriber.interests.dispatch(r,!0),()=>{this.trail===s&&(this.trail=void 0)},
this.trail);this.trail=s;let i=p()-ct(t.lastByte);this.reportUnread(t),this.suspected=this.next=void 0,this.merger?.left(
p()),this.both=this.tentative=!1,this.setCurrent(e),this.since=p(),this.events.emit("recovered",{...this.place,away:i}),
this.#e(),this.openGate(void 0),this.histories?.resume(e)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.
both&&this.merger?.keepCurrent(p()),this.both=this.tentative=!1}#e(){for(let t of this.merger?.release()??[])this.#s(t)}get out(){
return this.publishOn??this.current}get held(){return this.gate!==void 0}whenOpen(t){return this.gate?new Promise((e,s)=>{
this.gate?.push(()=>{try{e(t())}catch(i){s(i)}})}):t()}openGate(t){this.publishOn=t;let e=this.gate??[];this.gate=void 0;
for(let s of e)s()}end(t){let{current:e,next:s,trail:i}=this;this.#t.stop();for(let o of[e,s])o&&(t||o===this.suspected)&&
this.reportUnread(o);let r=[e?.close(),s?.close(),i?.stop()];return this.openGate(void 0),t&&(this.#e(),i?.flush()),r}};var It=class{tenant;channel;ended;verb="JOIN";#t;#s;constructor(t,e,s){this.tenant=t,this.channel=e,this.#t=s,this.ended=
new Promise(i=>{this.#s=i})}async leave(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(t){this.#s(t)}};var Nt=(n,t)=>n===t||typeof n=="object"&&typeof t=="object"&&n.text===t.text,de=n=>n.includes(":"),Lt=class{members=new Map;counts=new Map;get(t){
return de(t)?this.members.get(t):this.counts.get(t)??0}count({channel:t,members:e}){e>0?this.counts.set(t,e):this.counts.
delete(t)}put(t,e){let{channel:s,subject:i,here:r,since:o,info:h}=e,a=this.members.size;if(r){let l={channel:s,subject:i,
info:bi(h),since:new Date(o)};this.members.set(t,{member:l,text:`${o} ${h}`})}else this.members.delete(t);let c=(this.counts.
get(s)??0)+this.members.size-a;this.count({channel:s,members:c})}};function bi(n){try{return n?JSON.parse(n):void 0}catch{
return}}var Bt=class{#t;#s=new WeakMap;#e=new Lt;#i=new Map;#n;#r;constructor(t){this.#t=t}get members(){return this.#n??=
Object.freeze([...this.#e.members.values()].map(({member:t})=>t).sort((t,e)=>ss(t.channel,e.channel)||ss(t.subject,e.subject))),
this.#n}get counts(){return this.#r??=new Map([...this.#e.counts,...this.#i].filter(([,t])=>t>0)),this.#r}get(t){return this.#i.
get(t)??this.#e.get(t)}begin(t){this.#s.set(t,{roster:void 0,next:void 0})}end(t){this.#s.delete(t)}hasSynced(t){return this.#s.
get(t)?.roster!==void 0}take(t,e,s,i){let r=this.#s.get(t);if(!r)return;let{first:o,synced:h,counts:a,channels:c,members:l}=s;
if(a&&!i){if(t===e)for(let m of c)this.#a(m.channel,!0,()=>this.#o(m));return}o&&(r.next=new Lt);let f=r.next??r.roster;
if(!f)return;let d=(m,w)=>{f===this.#e?this.#a(m,!1,w):w()};for(let m of c)d(m.channel,()=>f.count(m));for(let m of l){let{
channel:w,subject:b}=m,v=`${w}:${b}`;d(w,()=>d(v,()=>f.put(v,m))),f===this.#e&&f.get(w)===this.#i.get(w)&&this.#i.delete(
w)}h&&(r.roster=f,r.next=void 0,t===e&&(this.follow(t),this.#h()))}follow(t){let e=this.#s.get(t)?.roster,s=this.#e;if(!(!e||
e===s)){this.#e=e,this.#c();for(let{members:i,counts:r}of[s,e])for(let o of[...i.keys(),...r.keys()])!this.#i.has(o)&&!Nt(
s.get(o),e.get(o))&&this.#f(o,s.get(o),!1);this.#h()}}#o({channel:t,members:e}){e===this.#e.get(t)?this.#i.delete(t):this.#i.
set(t,e)}#h(){for(let t of[...this.#i.keys()])this.#a(t,!0,()=>this.#i.delete(t))}#a(t,e,s){let i=this.get(t);s(),this.#c(),
Nt(i,this.get(t))||this.#f(t,i,e)}#c(){this.#n=this.#r=void 0}#f(t,e,s){for(let i of this.#t)i.note(t,e,s)}},ss=(n,t)=>n<
t?-1:n>t?1:0;var yi=Object.freeze([]),Ct=class{tenant;pattern;ended;verb="WHO";count;watch;#t;#s;#e=new Map;#i=[];#n=!1;#r=!1;#o=!1;#h=!1;#a;#c;constructor(t,e,s,{
count:i=!1,onChange:r}){this.tenant=t,this.pattern=e,this.count=i,this.#t=s,this.#s=r,this.ended=new Promise(o=>{this.#c=
o})}get members(){return this.count?yi:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#h&&
this.#t.isSynced(this)}async close(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let t=!1;return{next:()=>{let e=t?void 0:this.#f();if(e)return Promise.resolve({done:!1,value:e});if(!t&&
!this.#h)return new Promise((i,r)=>{this.#i.push({resolve:i,reject:r})});let s=t?void 0:this.#a;return t=!0,s?Promise.reject(
s):Promise.resolve({done:t,value:void 0})},return:async()=>(t=!0,await this.close(),{done:t,value:void 0})}}#f(){for(let[
t,e]of this.#e){this.#e.delete(t);let s=this.watch.get(t);if(typeof s=="number")return{type:"counts",channel:t,count:s};
let{member:i}=s??e;return{type:s?e?"changed":"joined":"left",channel:i.channel,member:i}}}note(t,e,s){this.#r=!0,!(!this.#n||
!(de(t)?!this.count:this.count||s))&&(this.#e.has(t)?Nt(this.#e.get(t),this.watch.get(t))&&this.#e.delete(t):this.#e.set(
t,e))}opened(){this.#n=this.#o=!0,this.#r=!1}update(){for(;this.#i.length>0;){let s=this.#f();if(!s)break;this.#i.shift()?.
resolve({done:!1,value:s})}let{synced:t}=this,e=this.#h&&!this.#a;if(this.#n&&!e&&(this.#r||t!==this.#o))try{this.#s?.(this)}catch(s){
q(s)}this.#r=!1,this.#o=t}end(t){if(!this.#h){this.#h=!0,this.#a=t,t||this.#e.clear(),this.update();for(let e of this.#i.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};function is(n,t,e){let s=new DataView(n.buffer,n.byteOffset,e),i=t+1,r=f=>(i+=f,i>e&&$(),i-f),o=()=>s.getUint8(r(1)),h=()=>s.
getUint16(r(2)),a=f=>U(n.subarray(r(f),i)),c=o(),l={first:(c&1)!==0,synced:(c&2)!==0,counts:(c&4)!==0,tenant:a(h()),pattern:a(
h()),members:[],channels:[]};for(let f=h();f>0;f--)if(l.counts)l.channels.push({channel:a(h()),members:s.getUint32(r(4))});else{
let d=o();d>1&&$();let m={channel:a(h()),subject:a(o()),here:d===1,since:0,info:""};m.here&&(m.since=Number(s.getBigUint64(
r(8))),m.info=a(h())),l.members.push(m)}return i!==e&&$(),l}var ns=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,os=n=>n.verb==="WHO"&&n.count,pe=({holders:n,waiting:t})=>n.
length>t.size,Rt=class{asking=new Set;#t=new Map;#s;constructor(t){this.#s=t}get#e(){return[this.#s.current,this.#s.next].
filter(t=>t!==void 0)}async join(t,e){let s=new It(t,e,this);return await this.add(s),s}async watch(t,e,s){_("the object\
 of options",s,"count onChange");let{count:i=!1,onChange:r}=s;typeof i!="boolean"&&y("count must be true or false"),r&&typeof r!=
"function"&&y("onChange must be a function");let o=new Ct(t,e,this,s);return await this.add(o),o}async add(t){let{current:e,
leaving:s,over:i}=this.#s;if(i)throw i;let r=ns(t),o=this.#t.get(r)??vi(t,r);if(o.counting&&!os(t))throw new u("bad_opti\
on","the client counts the members of this pattern, and can only do that",o.about);this.#t.set(r,o),o.holders.push(t),t.
verb==="WHO"&&(t.watch=o.watch);let h=new Promise((a,c)=>{o.waiting.set(t,{resolve:a,reject:c})});this.#l(o);for(let a of this.#e)
!o.on.has(a)&&!(s&&a===e)&&this.#o(a,o);return h}async restore(t){await Promise.all([...this.#t.values()].map(e=>this.#o(
t,e)))}hasSynced(t){return[...this.#t.values()].every(({watch:e,on:s})=>!e||!s.has(t)||e.hasSynced(t))}isSynced(t){let{current:e}=this.#s;
return e?.alive===!0&&t.watch.hasSynced(e)}frame(t,e,s,i){this.#i(t,is(e,s,i))}#i(t,e){let s=this.#t.get(`WHO:${e.tenant}\
:${e.pattern}`);s?.watch?.take(t,this.#s.current,e,s.counting),s&&this.#l(s)}follow(){let{current:t}=this.#s;for(let e of this.#t.
values())t&&e.watch?.follow(t),this.#l(e)}ended(t,e,s){let i=this.#t.get(s);!i||e!=="no_presence"||(this.#c(t,i),this.#l(
i))}async leave(t){let e=this.#t.get(ns(t)),s=e?.holders.indexOf(t)??-1;if(!e||s<0||(e.holders.splice(s,1),e.holders.length>
0))return;let i=this.#r(e);await(this.#s.suspected&&i.length>0?Promise.race(i):Promise.all(i))}leaveAll(){for(let t of this.#t.
values())t.verb==="JOIN"&&this.#n(t)}end(t,e){for(let{key:s,holders:i,waiting:r}of this.#t.values()){this.#t.delete(s);for(let o of i)
o.end(t);for(let{reject:o}of r.values())o(t??e)}}#n({key:t,name:e,undo:s,on:i,watch:r}){return this.#e.flatMap(o=>{let h=i.
get(o);return i.delete(o),r?.end(o),o.forget(t),h===void 0||h==="wanted"?[]:o.leave(e,s)})}#r(t){return this.#t.delete(t.
key),this.#n(t)}#o(t,e){e.on.set(t,"wanted");let s=this.#h(t,e).finally(()=>this.asking.delete(s));return this.asking.add(
s),s}async#h(t,e){let{verb:s,name:i,key:r,about:o,on:h,counting:a}=e,c=()=>this.#t.get(r)===e,{settings:l,events:f}=this.#s;
try{await t.featured,await t.ending.get(`${e.undo}:${i}`);for(let d=2;;d++){if(!t.alive||!c())return;if(!t.features?.includes(
"presence"))throw new u("no_presence","the edge has none",o);h.set(t,"sent"),e.watch?.begin(t);try{await t.request(s,i,a?
":count":"");break}catch(m){let{code:w}=m;if(w!=="try_later"||!pe(e))throw m;d===2&&f.emit("subscriptionError",{...rs(e),
code:w})}if(!c())return;h.set(t,"wanted"),await t.postpone(r,T(d,l))}if(!c())return;t.postponed.delete(r),h.set(t,"held"),
this.#l(e)}catch(d){let m=S(d,"internal","a fault of this client");m.code!=="disconnected"&&c()&&this.#a(t,e,m)}}#a(t,e,s){
let{holders:i,waiting:r,on:o,key:h}=e,{suspected:a,next:c,current:l}=this.#s,{code:f}=s;if(f==="no_presence"&&pe(e)){for(let[
d,{reject:m}]of r)i.splice(i.indexOf(d),1),m(s);r.clear(),this.#c(t,e),this.#s.events.emit("edgeError",{code:f,detail:h})}else
a&&t===c&&l&&o.get(l)==="held"?t.fail(s):this.#f(e,s)}#c(t,{on:e,watch:s}){e.delete(t),s?.end(t)}#f(t,e){this.#r(t),pe(t)&&
this.#s.events.emit("subscriptionError",{...rs(t),code:e.code});for(let s of t.holders)s.end(e);for(let{reject:s}of t.waiting.
values())s(e)}#l(t){let{holders:e,waiting:s,on:i}=t;for(let r of[...e])(r.verb==="WHO"?this.isSynced(r):this.#e.some(h=>i.
get(h)==="held"))&&s.has(r)?(s.get(r)?.resolve(),s.delete(r),r.verb==="WHO"&&r.opened()):r.verb==="WHO"&&r.update()}};function vi(n,t){
let{verb:e,tenant:s}=n,i=[];return{verb:e,undo:e==="WHO"?"UNWHO":"LEAVE",name:t.slice(e.length+1),key:t,about:e==="WHO"?
{tenant:s,pattern:n.pattern}:{tenant:s,channel:n.channel},holders:i,waiting:new Map,on:new WeakMap,watch:e==="WHO"?new Bt(
i):void 0,counting:os(n)}}var rs=({about:n})=>({pattern:"",...n});var hs={history:st,presence:Rt,moves:Ut};var as={};function me(n,t,e){return n??y(`${e}: add import "@millrace/client/${t}", or import all from "@millrace/client\
"`)}var jt="[\\w\\-~@]+",ki=/^[\w\-~@.]{1,128}$/,xi=new RegExp(`^(?=.{1,256}$)${jt}(\\.${jt}){0,31}$`),Ti=new RegExp(`^(?=.{\
1,256}$)((${jt}\\*?|\\*)\\.){0,31}(${jt}[*>#]?|[*>#])$`),Ei=n=>ki.test(n),Si=n=>xi.test(n),Ai=n=>Ti.test(n),Oi="~";function V(n){
return be("tenant",Ei,n===""?Oi:n)}function we(n,t){return be("channel",Si,n,t)}function ge(n,t){return be("pattern",Ai,
n,t)}function be(n,t,e,s){if(typeof e!="string"||!t(e)){let i={...s===void 0?{}:{tenant:s},[n]:String(e).slice(0,256)};throw new u(
`bad_${n}`,"not a legal name, see docs/protocol.md, Names",i)}return e}var Wt=class{#t;#s=new Array(16);#e=0;#i=0;constructor(t){this.#t=t}get size(){return this.#i}get full(){return this.#i>=
this.#t}push(t){let e=this.#s;this.#i===e.length&&(this.#s=[...e.slice(this.#e),...e.slice(0,this.#e),...new Array(e.length)],
this.#e=0),this.#s[this.#e+this.#i++&this.#s.length-1]=t}shift(){if(this.#i===0)return;let t=this.#s[this.#e];return this.#s[this.#e]=
void 0,this.#e=this.#e+1&this.#s.length-1,this.#i--,t}clear(){this.#s=new Array(16),this.#e=this.#i=0}};var Mi=1e3,Dt=class{tenant;pattern;history;ended;#t;#s;#e;#i=[];#n=!1;#r;#o;#h=0;#a=-1/0;#c;#f;#l;constructor(t,e,s,i){this.
tenant=t,this.pattern=e,this.#t=s,this.#s=i,this.#e=new Wt(i.queue),this.history=i.history,this.#f=this.#l=i.history?.position,
this.ended=new Promise(r=>{this.#o=r})}get position(){return this.#e.size===0?this.#f:this.#l}async unsubscribe(){this.end(
void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#s.onMessage)throw new u("bad_option","a subscription\
 with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.resolve({done:t,value:void 0});let e=this.#e.
shift();return e?(this.#l=e.position??this.#l,this.history?.paused&&this.#e.size*2<=this.#s.queue&&this.#t.wasRead(this),
Promise.resolve({done:!1,value:e})):this.#n?(t=!0,this.#r?Promise.reject(this.#r):Promise.resolve({done:t,value:void 0})):
new Promise((s,i)=>{this.#i.push({resolve:s,reject:i})})},return:async()=>(t=!0,await this.unsubscribe(),{done:t,value:void 0})}}#u(t){
let{onMessage:e}=this.#s;if(e){try{let i=e(t);i instanceof Promise&&i.catch(q)}catch(i){q(i)}return!0}let s=this.#i.shift();
return s?.resolve({done:!1,value:t}),s!==void 0}pushStored(t){if(this.#n)return!0;let e=this.#u(t);return!e&&this.#e.full?
(this.#d(),!0):(this.#f=t.position,e?this.#l=t.position:this.#e.push(t),!this.#e.full||this.#s.queuePolicy==="end")}reach(t){
this.#f=t}#d(){this.end(new u("queue_full","messages were not read in time",this)),this.#t.leave(this)}push(t){if(this.#n||
this.#u(t))return;let{queuePolicy:e}=this.#s;if(!this.#e.full)return this.#e.push(t);if(e==="end")return this.#d();e==="\
drop-oldest"&&(this.#e.shift(),this.#e.push(t)),this.#h++,this.#c??=setTimeout(()=>this.#p(),Math.max(0,this.#a+Mi-p()))}#p(){
clearTimeout(this.#c),this.#c=void 0,this.#a=p(),this.#h>0&&this.#t.queueFull(this,this.#h),this.#h=0}end(t){if(!this.#n){
this.#n=!0,this.#r=t,t||this.#e.clear(),this.#p();for(let e of this.#i.splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});
this.#o(t)}}};async function cs(n,t,e,s=as){let i=typeof t=="string"?[t]:t;(!e||!i?.length)&&y("connect needs an address and options");
let r=new(s.moves??H)(i.map(h=>Et(h,e.allowPlaintext===!0)),e,n,s),{signal:o=new AbortController().signal}=e;return k(o),
await M(r.start(o),o),new Gt(r)}var Gt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get#s(){return me(this.#t.
histories,"history","histories and confirmed publishes")}get#e(){return me(this.#t.presences,"presence","presence")}get edge(){
return this.#t.place.edge}get transport(){return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.
events.on(t,e)}async subscribe(t,e,s={}){let i=this.#t;_("the object of options",s,"onMessage history queue queuePolicy");
let{onMessage:r}=s;r&&typeof r!="function"&&y("onMessage must be a function");let o=new Dt(V(t),ge(e),i.subscriber,{...Kt(
s,i.settings),onMessage:r,history:s.history===void 0?void 0:this.#s.begin(s.history,e)});return await i.subscriber.subscribe(
o),o}async publish(t,e,s,i){let r=this.#t;i!==void 0&&_("the object of options",i,"delivery confirm key");let{delivery:o="\
broadcast",confirm:h=!1,key:a}=i??{},c=re.indexOf(o);c<0&&y(`delivery: allowed are ${re.join(", ")}`),typeof s!="string"&&
s?.[Symbol.toStringTag]!=="Uint8Array"&&y("the payload must be a Uint8Array or a string");let l={tenant:V(t),channel:we(
e)};if(h){let d=C(a??"");a!==void 0&&!(d.length>0&&d.length<=64)&&y("a key has 1 to 64 bytes");let m=w=>oe(l.tenant,l.channel,
s,c,{id:w,key:d});return this.#s.publish(m,a!==void 0,l)}a!==void 0&&y("a key is for a publish that is confirmed");let f=oe(
l.tenant,l.channel,s,c||void 0);return r.publishConnection(),r.whenOpen(()=>r.publishConnection().publish(f,l))}async join(t,e){
let s=V(t);return this.#e.join(s,we(e,s))}async presence(t,e,s={}){let i=V(t);return this.#e.watch(i,ge(e,i),s)}async flush(){
let t=this.#t;t.publishConnection(),await t.whenOpen(()=>t.publishConnection().ping())}renewToken(){return this.#t.renewToken()}retry(){
this.#t.retry()}async close(){this.#t.finish(void 0),await this.closed}[Symbol.asyncDispose](){return this.close()}};var fs=64;function _i(n){if(typeof n!="string"||/[\uD800-\uDFFF]/u.test(n))throw new u("bad_option","a channel's token i\
s made of a string without lone surrogates");let t=i=>`%${i.charCodeAt(0).toString(16).toUpperCase()}`,e=encodeURIComponent(
n).replace(/[.!~*'()]/g,t).replaceAll("%40","@").replaceAll("%","~")||"~";if(e.length<=fs)return e;let s="each byte of t\
he text but letters, digits and _-@ needs three";throw new u("bad_option",`a channel's token has at most ${fs} bytes; ${s}`)}var Ah=(n,t)=>cs(J,n,t,hs);export{Gt as Client,Ht as LoggedOutError,u as MillraceError,_i as channelToken,Ah as connect};
