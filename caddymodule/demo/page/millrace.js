// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var c=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(t,e="\
the edge says so",s={}){let n=["tenant","channel","pattern"].map(r=>s[r]===void 0?"":` (${r} ${JSON.stringify(s[r])})`);
super(`${t}${n.join("")}: ${e}`,"cause"in s?{cause:s.cause}:void 0),this.code=t,this.tenant=s.tenant,this.pattern=s.pattern,
this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode,this.retryAfter=s.retryAfter}},xt=class extends Error{name="\
LoggedOutError"};function M(i,t,e){return i instanceof c?i:new c(t,e,{cause:i})}function k(i){return new c("disconnected",
"there is no connection to an edge",i===void 0?{}:{cause:i})}var Jt=64;function Le(i){if(typeof i!="string"||/\p{Surrogate}/u.test(i))throw new c("bad_option","a channel's token is \
made of a string without lone surrogates");let t=i.replace(/[^\w\-@]+/g,Be)||"~";if(t.length<=Jt)return t;let e="each by\
te of the text but a-z A-Z 0-9 _ - @ needs three";throw new c("bad_option",`a channel's token has at most ${Jt} bytes; ${e}`)}
function Be(i){let t="";for(let e of new TextEncoder().encode(i))t+=`~${e.toString(16).toUpperCase().padStart(2,"0")}`;return t}function j(i,t){let e=URL.canParse(i)?new URL(i):void 0;if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.
search||e.hash)throw new c("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!Ce(e.hostname))throw new c("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function Ce(i){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(i)}var d=()=>performance.now();function E(i,t,e=new Set){return new Promise((s,n)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),n(t.reason)},h=()=>{r(),s()},a=setTimeout(h,i);e.add(h),t.addEventListener("abort",o),
t.aborted&&o()})}async function P(i,...t){let e,s=new Promise(n=>{e=setTimeout(n,i)});await Promise.race([s,...t]).catch(
()=>{}),clearTimeout(e)}async function $(i,t,e){i.throwIfAborted();let s=new AbortController,n=()=>s.abort(i.reason),r=setTimeout(
()=>s.abort(new c("timeout","the edge does not answer")),t);i.addEventListener("abort",n);try{return await e(s.signal)}finally{
clearTimeout(r),i.removeEventListener("abort",n),s.abort()}}function _(i,t){return new Promise((e,s)=>{let n=()=>s(t.reason);
t.aborted&&n(),t.addEventListener("abort",n),i.then(e,s).finally(()=>t.removeEventListener("abort",n))})}function A(i,t){
return i<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(i-2,30))}var Re=1e5,Tt=0;async function Zt(i,t,e,s){Tt=Tt+1>>>0;let n=Tt,r=t(n),o=!1,h=u=>new c("outcome_unknown","no edge has sa\
id whether the message is stored",{...s,cause:u}),a=new AbortController,l=setTimeout(()=>a.abort(o?h():k()),Re),f;try{for(let u=2;;u++){
f=await Ge(i,e,a.signal,s);let p=f.confirm(r,n);o=!0;try{return await _(p,a.signal)}catch(w){a.signal.throwIfAborted();let{
code:m}=w;if(m!=="disconnected"&&(m!=="unconfirmed"||!e))throw new c(m,void 0,s);if(!e)throw h(w);m==="unconfirmed"&&await E(
A(u,i.settings),a.signal)}}}catch(u){let{code:p}=u;throw o&&(p==="disconnected"||p==="closed")?h(u):u}finally{clearTimeout(
l),f?.forgetConfirm(n)}}async function Ge(i,t,e,s){for(;;){if(i.over)throw i.over;if(i.gate){await _(new Promise(r=>i.gate?.
push(r)),e);continue}let n=i.publishOn??i.current;if(n?.alive)if(n.histories===void 0)await _(n.featured,e);else{if(n.histories)
return n;throw new c("no_history","the edge has no histories, and confirms nothing",s)}else{if(!t)throw k();await _(i.changed(),
e)}}}var qe=new TextEncoder,De=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Et=1024,ze=["PING","PONG","RECONNECT","OK:AUT\
H"],We=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,je=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,I=i=>qe.
encode(i);function N(i){try{return De.decode(i)}catch(t){throw new c("protocol","text that is not UTF-8",{cause:t})}}var Fe=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function L(i,t){let[e,s,...n]=i.split(":"),r=Fe.get(e);
if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new c(`${s}_not_allowed`,n.join(":")||void 0,o):new c(
e,void 0,o)}function At(i){if(ze.includes(i))return{kind:i};if(/^LINK:(up|down)$/.test(i))return{kind:"LINK",up:i==="LIN\
K:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(i)?.[1];if(t&&i.length<=Et)return{kind:"FEATURES",features:t};
let e=/^OK:(SUB|UNSUB):([^:]+):(.+)$/su.exec(i),s=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(i);if((e||s)&&(i.length<=Et/3||I(i).
length<=Et)&&!i.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}let n=Ke(
i);if(n)return n;throw new c("protocol","a line that is none")}function Ke(i){let[,t,e="",s="",n="",r]=We.exec(i)??[];if(t&&
F(n)&&t==="OK:RSUB"==(r!==void 0))return r?{kind:t,tenant:e,pattern:s,position:n,how:r}:{kind:t,tenant:e,pattern:s,position:n};
let[,o,h]=je.exec(i)??[];if(!(o===void 0||Number(o)>4294967295||h!==void 0&&!F(h)))return h===void 0?{kind:"OK:PUB",id:Number(
o)}:{kind:"OK:PUB",id:Number(o),position:h}}function F(i){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(i)??[];return t!==void 0&&e!==void 0&&Qt(t)&&Qt(e)}var Qt=i=>i.length<20||i<="18446744073709551615";function te(i){
try{return At(i)}catch{return}}var Mt=["broadcast","one-nearest","one-random"];function _t(i,t,e,s,n){let r=typeof e=="string"?I(e):e,o=n?7+n.key.length:
s===void 0?0:2,h=new Uint8Array(o+4+i.length+t.length+r.length);return o>0&&(h[0]=n?3:2,h[1]=s??0),n&&(new DataView(h.buffer).
setUint32(2,n.id),h[6]=n.key.length,h.set(n.key,7)),h.set(r,ee(h,ee(h,o,i),t)),h}function ee(i,t,e){i[t++]=e.length>>8,i[t++]=
e.length;for(let s=0;s<e.length;s++)i[t++]=e.charCodeAt(s);return t}var ne=1,re=2,St=24,He=128;function Ot(i,t,e){return t===
e||i[t]===1?!1:i[t]!==4||t+1<e&&(i[t+1]&~(ne|re))!==0}var K=class{#t=new D;#e=new D;#s=new D;#n={};decode(t,e,s){let n=g=>{
g>s&&B()},r=g=>(n(g+2),t[g]<<8|t[g+1]);(e===s||Ot(t,e,s))&&B();let o,h="";if(t[e]===4){let g=r(e)&255;if(g===0&&B(),e++,
g&ne&&(n(e+1+St),o=Xe(t,e+1),e+=St),g&re){n(e+2);let y=e+2;e=y+t[e+1]-1,e-y>=He&&B(),n(e+1),h=this.#s.of(t,y,e+1,()=>N(t.
subarray(y,e+1)))}}let a=o!==void 0,l=e+3+r(e+1),f=l+2+r(l),u=f+4;n(u);let p=u+r(f)*65536+r(f+2);(r(p)===0||a&&r(p)!==1)&&
B();let w=this.#t.of(t,e+1,f,()=>[N(t.subarray(e+3,l)),N(t.subarray(l+2,f))]),m=this.#n;return m.tenant=w[0],m.channel=w[1],
m.payload=t.subarray(u,p),m.route=this.#e.of(t,p,s,()=>{let g=[],y=p+2;for(let x=r(p);x>0;x--){let T=y+2+r(y);n(T),g.push(
N(t.subarray(y+2,T))),y=T}return y!==s&&B(),{patterns:Object.freeze(g),note:void 0}}),m.position=o,m.sender=h,m}};function Xe(i,t){
let e=new DataView(i.buffer,i.byteOffset+t,St);return`${se(e,0)}${se(e,4)}.${ie(e,8)}.${ie(e,16)}`}var se=(i,t)=>i.getUint32(
t).toString(16).padStart(8,"0");function ie(i,t){let e=i.getUint32(t);return e<2097152?String(e*4294967296+i.getUint32(t+
4)):String(i.getBigUint64(t))}function B(){throw new c("protocol","a frame that is none")}var Ye=256,Ve=1024,D=class{#t=[];of(t,e,s,n){
let r=0;for(let l=e;l<s;l++)r=Math.imul(r,31)+t[l]|0;let o=(r^r>>>8)&Ye-1,h=this.#t[o];if(h&&Je(h.bytes,t,e,s))return h.
value;let a=n();return s-e<=Ve&&(this.#t[o]={bytes:t.slice(e,s),value:a}),a}};function Je(i,t,e,s){if(i.length!==s-e)return!1;
for(let n=0;n<i.length;n++)if(i[n]!==t[e+n])return!1;return!0}var Ze=["drop-oldest","drop-newest","end"],oe=["webtransport","websocket"];function v(i){throw new c("bad_option",i)}function U(i,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&v(`${i} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function he(i,t,e){return e.includes(t)||v(`${i}: allowed are ${e.join(", ")}`),t}function $t(i,t){return{queue:Math.ceil(
U("queue",i.queue,t.queue)),queuePolicy:he("queuePolicy",i.queuePolicy??t.queuePolicy,Ze)}}function ae(i){let{token:t,tokenProvider:e,
transports:s=oe,sender:n=!1}=i;t===void 0==(e===void 0)&&v("one of token and tokenProvider is needed"),e!==void 0&&typeof e!=
"function"&&v("tokenProvider must be a function"),typeof n!="boolean"&&v("sender must be true or false"),s.length===0&&v(
"transports must not be empty");for(let o of s)he("transports",o,oe);let r=U("minBackOff",i.minBackOff,250);return{token:t===
void 0?void 0:It(t),tokenProvider:e,transports:[...new Set(s)],fallbackAfter:U("fallbackAfter",i.fallbackAfter,2e3),connectTimeout:U(
"connectTimeout",i.connectTimeout,1e4),keepAlive:U("keepAlive",i.keepAlive,25e3,-1/0),pongTimeout:U("pongTimeout",i.pongTimeout,
1e4),minBackOff:r,maxBackOff:Math.max(r,U("maxBackOff",i.maxBackOff,15e3)),...$t(i,{queue:1024,queuePolicy:"drop-oldest"}),
sender:n,paths:{webSocket:Pt(i.paths?.webSocket??"/ws"),webTransport:Pt(i.paths?.webTransport??"/wt"),ping:Pt(i.paths?.ping??
"/ping")},allowPlaintext:i.allowPlaintext===!0,hashes:i.serverCertificateHashes}}function Pt(i){return/^\/[^?#]*$/.test(
i)||v("paths must start with a slash"),i}var Qe="a token is a string of 1 to 512 letters, digits and .~_+-, and this is \
none";function It(i){return(typeof i!="string"||!/^[\w.~+-]{1,512}$/.test(i))&&v(Qe),i}var ce=1e5;function fe(i,t){if(i===void 0||i==="now"||i==="last")return i;let{last:e,after:s}=i;return typeof s=="string"&&
e===void 0&&F(s)?s:((!Number.isInteger(e)||e<1||e>ce||s!==void 0)&&v(`history is "now", "last", { last: 1 to ${ce} } or \
{ after: position }`),/[*>#]/.test(t)&&v("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}
var H=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){this.from=t}begin(t){
this.on=t,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(t,e){
return this.on===t&&this.open&&!this.plain&&!ts(e,this.from)}};function ts(i,t){let[e,s=""]=i.split("."),[n,r]=t.split("\
.");return e===n&&r!==void 0&&(s.length===r.length?s<=r:s.length<r.length)}var X="[\\w\\-~@]+",es=/^[\w\-~@.]{1,128}$/,ss=new RegExp(`^(?=.{1,256}$)${X}(\\.${X}){0,31}$`),is=new RegExp(`^(?=.{1,2\
56}$)((${X}\\*?|\\*)\\.){0,31}(${X}[*>#]?|[*>#])$`),ns=i=>es.test(i),rs=i=>ss.test(i),os=i=>is.test(i),hs="~";function Nt(i){
return Ut("tenant",ns,i===""?hs:i)}function ue(i){return Ut("channel",rs,i)}function le(i){return Ut("pattern",os,i)}function Ut(i,t,e){
if(typeof e!="string"||!t(e)){let s={[i]:String(e).slice(0,256)};throw new c(`bad_${i}`,"not a legal name, see docs/prot\
ocol.md, Names",s)}return e}var as=new TextDecoder("windows-1252");function O(i){return`${i.tenant}:${i.channel}:${as.decode(i.payload)}`}var S=class{size=0;#t=0;#e=[];#s=0;#n=new Map;get oldest(){
for(;this.#e[this.#s]?.entry===void 0&&this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.
flatMap(({entry:t})=>t??[])}put(t,e,s){this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=
0);let n={entry:{key:t,time:e,message:s}};this.#e.push(n);let r=this.#n.get(t);return r?r.push(n):this.#n.set(t,[n]),this.
size++,this.#t+=t.length,this.size>65536||this.#t>16777216?this.drop():void 0}take(t){let e=this.#n.get(t),s=e?.shift();
return!e||!s?!1:(e.length===0&&this.#n.delete(t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;
return t&&this.take(t.key),t}dropUntil(t){let e=[];for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&
e.push(s.message);return e}};var de=1e3,cs=1e4,C=class{#t=new S;#e=new S;#s=new S;#n=de;#i;joined(t){this.#i=t}left(t){this.#n+=this.#r(t),this.#i=void 0}#r(t){
return this.#i===void 0?0:Math.min(t-this.#i,cs-de)}fromCurrent(t,e){let s=O(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(O(t),e),t;let n=this.#e.put(
O(t),e,{...t});return n&&this.#s.put(n.key,e),n?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(O(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new S;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#i=void 0,this.#t=new S;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new S}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#n-this.#r(
t))}};var pe=250,Lt=2e3;async function z(i,t,e,s,n){for(;i.merger&&!i.merger.done(d());)await E(50,s);i.merger=new C,i.both=!0;
let r=n!==void 0;i.tentative=r;let{place:o}=i,h=!1,a=()=>{h||i.events.emit("moving",{...o,reason:e}),h=!0};r||a();let l=0;
for await(let f of i.searcher.order(t.edge,e!=="drain",s)){let u=n;if(n=void 0,!u){await i.pause(Math.max(A(++l,i.settings),
i.searcher.wait(f)),s);try{u=await i.searcher.open(f,s)}catch(p){if(s.throwIfAborted(),!(p instanceof c)||i.searcher.hopeless(
f,p,!0))throw p;continue}}if(s.aborted)return void u.close();if(u.alive){i.next=u,i.merger.joined(d()),i.merger.release();
let p=i.subscriber.restore(u);i.tentative&&u.ping(!0).catch(()=>{}),await p}if(i.tentative){if(s.throwIfAborted(),i.next!==
u)return i.keepCurrent();i.tentative=!1}if(u.alive){if(await fs(i,t,u,a,s),s.throwIfAborted(),i.current!==u){if(r)return i.
keepCurrent();continue}u.alive&&(a(),i.since=d(),i.events.emit("moved",{...i.place,reason:e}));return}}}async function fs(i,t,e,s,n){
let r=()=>i.next===e&&i.current===t;if(!r())return;i.gate??=[];let o=P(Lt,t.ping()).then(()=>{r()&&i.openGate(e)}),h=3;do
await E(pe,n);while(--h&&i.merger?.behind);for(await P(Lt,Promise.all(i.subscriber.asking));r()&&e.postponed.size>0;)await E(
pe,n);if(!r())return;s(),i.leaving=!0;let a=[...t.asked].map(l=>t.request("UNSUB",l));await P(Lt,t.ended,Promise.allSettled(
[...a,t.ping(),t.confirmedAll()])),await o,r()&&i.promote(),i.leaving=!1}var us=1e4;async function me(i,t,e,s){let{lastByte:n}=t;i.reconnecting=!0,i.current=void 0,i.merger=void 0,i.both=i.leaving=
i.tentative=i.gaps=!1,i.openGate(void 0);for(let r of i.subscriber.interests.all)r.confirmed=!1;i.events.emit("disconnec\
ted",{...i.place,error:e}),e.code==="token_expired"&&t.token===i.tokens.token&&i.tokens.expire(),d()-i.since>us&&(i.attempts=
0);for await(let r of i.searcher.order(t.edge,!1,s)){let o=++i.attempts,h=Math.max(A(o,i.settings),i.searcher.wait(r));i.
events.emit("reconnecting",{attempt:o,delay:h}),await i.pause(h,s);try{let a=await i.searcher.open(r,s);if(s.aborted)return void a.
close();if(i.setCurrent(a),await i.subscriber.restore(a),s.throwIfAborted(),!a.alive)continue;i.reconnecting=!1,i.since=
d();let l=!i.gaps&&i.subscriber.interests.all.every(f=>f.history);return i.events.emit("reconnected",{...i.place,away:d()-
n,complete:l})}catch(a){if(s.throwIfAborted(),!(a instanceof c)||i.searcher.hopeless(r,a,!1))throw a}}}var Y=class{#t=new Map;#e=[];add(t){return new Promise((e,s)=>{this.#t.set(t,{resolve:e,reject:s})})}settle(t,e=()=>{}){
let s=this.#t.get(t);if(s&&e(s),this.#t.delete(t),this.#t.size===0)for(let n of this.#e.splice(0))n()}error(t,e){let s=/^PUB:(\d+)$/.
exec(e)?.[1];return s===void 0?!1:(this.settle(Number(s),n=>n.reject(new c(t))),!0)}idle(){return this.#t.size===0?Promise.
resolve():new Promise(t=>{this.#e.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(k()))}};async function V(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"omit",signal:t});return await e.arrayBuffer(),
e.ok}catch{return!1}}async function we(i,t){try{return await fetch(i,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:t}),!0}catch{return!1}}var J=class{#t;#e=0;#s=0;#n=0;#i=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#n=this.#i=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#i=this.#n,this.#n=0,this.#e=
t),e>this.#n&&(this.#n=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.max(1e3,3*
Math.max(this.#n,this.#i))}};var Q=2e3,ge=1e3,Z=new Set,Bt,Ct=0,Rt=0;function ls(i,t){return i>=ge+Q||t-i>=Q}function qt(){let i=d()-Ct,t=Date.now()-
Rt;Ct+=i,Rt+=t,ls(i,t)&&Gt("slept")}function be(i){return Z.add(i),Bt??=ds(),()=>{!Z.delete(i)||Z.size>0||(Bt?.(),Bt=void 0)}}
function Gt(i){for(let t of[...Z])t[i]()}function ds(){Ct=d(),Rt=Date.now();let i=setInterval(qt,ge),t=globalThis,{document:e,
navigator:s}=t,n=()=>Gt("slept"),r=()=>{e?.visibilityState==="visible"&&n()},o=()=>Gt("networkChanged"),h=s?.connection,
a=h?.type,f=[[t,"online",o],[h,"change",()=>{h?.type!==a&&(a=h?.type,o())}],[t,"pageshow",n],[e,"resume",n],[e,"visibili\
tychange",r]];for(let[u,p,w]of f)u?.addEventListener?.(p,w);return()=>{clearInterval(i);for(let[u,p,w]of f)u?.removeEventListener?.(
p,w)}}var tt=1e3,Dt=1e3,ps=3,ms=2**31-1,zt=50,et=class{heard=d();#t;#e;#s=new J(this.heard);#n=1+Math.random()/16;#i=!1;#r=!1;#o;#h=0;#f=0;#c=0;#a=-1/0;#u=-1/0;#l;#d;#m;#p=!1;constructor(t,e){
this.#t=t,this.#e=e}arrived(t){this.heard=t,this.#l=void 0,this.#d?.abort(),this.#d=void 0,((this.#r?this.#s.skip(t):this.#s.
arrived(t))||this.#i)&&(this.#i=!1,this.arm()),this.#r&&(this.#r=!1,this.#t.woke())}ponged(t,e){this.#i=e,this.#c=0;let s=Math.
min(t,2*this.#g);this.#o===void 0?(this.#o=s,this.#h=s/2):(this.#h+=(Math.abs(this.#o-s)-this.#h)/4,this.#o+=(s-this.#o)/
8),this.arm()}awake(t){let e=d();this.#w||(this.#c=0),!(this.#p||this.#c++>=ps)&&(this.#f=e,this.#e.keepAlive>0&&!this.#w&&
(t||e-this.heard>=tt)&&this.#x(e),this.arm())}stop(){this.#p=!0,this.#d?.abort(),clearTimeout(this.#m)}get#w(){return this.#t.
unanswered??this.#l}get#g(){return Math.max(tt,(this.#o??0)+4*this.#h)}get askAt(){let{keepAlive:t}=this.#e;if(t<0)return 1/0;
let e=this.#i?t:Math.min(t,this.#s.unusual);return this.heard+e*this.#n}suspectAt({at:t,sendTime:e}){return Math.max(t,this.
heard,this.#f)+(this.#l?tt:this.#g)+e}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:n}=this.#e;if(s<0)return 1/0;
let r=Math.max(this.heard,this.#f);return Math.max(t+n,r+s+n)+e}arm(){clearTimeout(this.#m);let t=this.#w,e=t?Math.min(this.#r?
1/0:this.#v(t),this.lostAt(t),this.#a+Dt):this.askAt;if(this.#p||e===1/0)return;let s=d(),n=Math.max(e,s+1);this.#m=setTimeout(
()=>this.#y(n),Math.min(n-s,ms))}#v(t){return Math.max(this.suspectAt(t),this.#u+Dt)}#y(t,e=!1){qt();let s=d();if(s-t>=Q&&
this.awake(!1),this.#p)return;if(!e&&s-t>zt){clearTimeout(this.#m),this.#m=setTimeout(()=>this.#y(s+zt,!0),zt);return}let n=this.#w;
if(!n)s>=this.askAt&&this.#x(s);else{if(s>=this.lostAt(n))return this.#t.over();!this.#r&&s>=this.#v(n)&&this.#k(s),this.#p||
this.probe()}this.arm()}#k(t){this.#r=this.#t.silent(),this.#r||(this.#u=t)}#x(t){if(this.#t.pingFirst===void 0)return this.#t.
ask();this.#l={at:t,sendTime:0},this.#a=-1/0,this.probe()}probe(){let t=d();t-this.#a<Dt||(this.#a=t,this.#t.pingFirst!==
void 0&&(this.#r||this.#l)?this.#b(this.#t.pingFirst):this.#t.probe())}async#b(t){if(this.#d)return;let e=new AbortController;
this.#d=e;let s=setTimeout(()=>e.abort(),tt),n=await we(t,e.signal);clearTimeout(s),!(this.#p||this.#d!==e)&&(this.#d=void 0,
n?(this.#l=void 0,this.#t.unanswered?this.#t.probe():this.#t.ask()):this.#l&&(this.#l={at:-1/0,sendTime:0}),this.arm())}};var st=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),n=s?.
shift();return n?(s?.length===0&&this.#t.delete(t),e(n),!0):!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();
for(let s of e)s.reject(t)}};var ws=1.024,gs=32,it=class{edge;transport;token;begun=d();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;histories;featured;ending=new Map;error;ended;#t;#e;#s;#n=new K;#i=new st;#r=new Y;#o;#h=[];#f=new Set;#c=0;#a=!1;#u=!0;#l=!0;#d;constructor(t,e,s,n,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=n;let o=this;this.#s=new et({get unanswered(){return o.#h[0]},
pingFirst:e.fragile?t+r.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.silent(
this),woke:()=>this.#e.woke(this),over:()=>this.fail(new c("timeout","the edge does not answer"))},r),this.featured=new Promise(
a=>{this.#o=a});let h;this.ended=new Promise(a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#s.arrived(d())},line:a=>this.#y(
()=>this.#w(a)),frame:(a,l,f)=>{if(!this.alive||(this.#s.arrived(d()),Ot(a,l,f)))return;let u;try{u=this.#n.decode(a,l,f)}catch(p){
return this.#k(p)}this.#e.delivered(this,u)},ended:a=>{h(),this.#x(a)}}),this.#a=!0,this.alive&&this.#p(`FEATURES:link${r.
sender?",sender":""}`),this.alive&&this.#s.arm()}get lastByte(){return this.#s.heard}request(t,e){t==="SUB"&&this.asked.
add(e);let s=`${t}:${e}`,n=this.#m(s);return this.alive&&this.#p(s),n}resume(t,e){let s=this.#m(`RSUB:${t}`);return this.
alive&&this.#p(`RSUB:${t}:${e}`),s}leave(t){let s=this.request("UNSUB",t).catch(()=>{}).then(()=>{this.ending.get(t)===s&&
this.ending.delete(t)});return this.ending.set(t,s),s}confirm(t,e){if(!this.alive)return Promise.reject(k());let s=this.#r.
add(e);return this.#p(t),s}forgetConfirm(t){this.#r.settle(t)}confirmedAll(){return this.#r.idle()}postpone(t,e){this.postponed.
add(t);let s=`AGAIN:${t}`,n=setTimeout(()=>this.#i.answer(s,r=>r.resolve()),e);return this.#m(s).finally(()=>clearTimeout(
n))}#m(t){return new Promise((e,s)=>{this.alive?this.#i.add(t,{resolve:e,reject:s}):s(k())})}forget(t){return this.confirmed.
delete(t),this.postponed.delete(t),this.#i.answer(`AGAIN:${t}`,e=>e.reject(k())),this.asked.delete(t)}ping(t=!1){return new Promise(
(e,s)=>{if(!this.alive)return s(k());this.#h.push({at:d(),sendTime:this.#c/ws,own:t,resolve:e,reject:s}),this.#t.send("P\
ING"),this.#c=0,this.#s.probe(),this.#h.length===1&&this.#s.arm()})}publish(t){this.#p(t);let e=this.#t.sent();return e&&
new Promise(s=>{let n=()=>{this.#f.delete(n),s()};this.#f.add(n),e.then(n,n)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=
t,this.#s.stop(),this.#i.reject(k()),this.#r.fail();for(let e of this.#h)e.reject(k());for(let e of this.#f)e()}#p(t){this.#c+=
t.length+gs,this.#t.send(t)}close(){return this.alive&&(this.#b(k()),this.#t.close()),this.ended}#w(t){this.#s.arrived(d());
let e=te(t);if(e)if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;if(this.#i.answer(`${e.verb}:${s}`,n=>n.resolve())&&
e.verb==="SUB"&&(this.confirmed.add(s),this.postponed.delete(s)),e.verb==="UNSUB")for(;this.#i.answer(`RSUB:${s}`,n=>n.reject(
k())););}else if(e.kind==="OK:PUB")this.#r.settle(e.id,s=>s.resolve(e.position));else if(e.kind==="OK:RSUB"||e.kind==="A\
T"||e.kind==="GAP")this.#e.reached(this,e),e.kind==="OK:RSUB"&&this.#i.answer(`RSUB:${e.tenant}:${e.pattern}`,s=>s.resolve());else if(e.
kind==="ERR")this.#v(e.code,e.detail,t.slice(4));else if(e.kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#h.
shift();if(!s)return;let n=d()-s.at;s.resolve(n),this.#s.ponged(n,s.own),this.#e.roundTrip(n)}else e.kind==="RECONNECT"&&
!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATURES"?this.#g(e.features.split(",").includes("history")):
e.kind==="LINK"&&(this.#l=e.up,this.#u||this.#g())}#g(t=this.histories??!1){this.#u=!1,this.histories=t,this.#o(),this.link=
this.#l,this.#e.linked()}#v(t,e,s){if(this.#u&&t==="bad_request")return this.#g();let n=L(s);if(n&&(this.#d=s),this.#r.error(
t,e))return;let[,r,o]=/^(?:UN|R)?SUB:([^:]+):(.+)$/s.exec(e)??[];!(r!==void 0&&o!==void 0&&t!=="broker_unavailable"&&this.#i.
answer(e,a=>a.reject(new c(t,void 0,{tenant:r,pattern:o}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.test(t)&&this.#e.
errorLine(t,e),(t==="token_revoked"||t==="token_expired")&&this.fail(n)}#y(t){if(this.alive)try{t()}catch(e){this.#k(e)}}#k(t){
this.fail(M(t,"protocol","the edge broke the protocol"))}fail(t){this.#b(t),this.#t.close(),this.#a&&this.#e.lost(this,t)}#x({
closeCode:t,error:e}){if(!this.alive)return;let s=this.#d===void 0?void 0:L(this.#d,t),n=t===4401?"token_expired":t===4403?
"token_revoked":"disconnected",r=s?.code!=="slow_consumer"||t===4429,o=t===1009?"a message was too large for the edge":"\
the connection has ended",h=s&&r?s:e??new c(n,o,{closeCode:t});this.#b(h),this.#a&&this.#e.lost(this,h)}#b(t){this.alive=
!1,this.error=t,this.#s.stop();let e=k(t);this.#o(),this.#i.reject(e),this.#r.fail();for(let s of this.#h)s.reject(e);this.#h=
[]}};var R=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(n=>n.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var G=globalThis,nt=G.process?.versions,bs=G.Deno!==void 0||nt?.bun!==void 0||nt?.node!==void 0,ve=nt?.node!==void 0&&nt.
bun===void 0&&G.Deno===void 0&&G.document===void 0,ye=!bs&&(G.document!==void 0||G.WorkerGlobalScope!==void 0);var Wt=32<<20,ke=(i,t,e)=>e>t&&i[t]<32,rt=class{#t;#e=[];#s=0;constructor(t=Wt){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#n(t,e),this.#s>0))){for(;t.length-s>=4;){let n=s+4+this.#o(t,s);if(n>t.length)break;e(t,
s+4,n),s=n}s<t.length&&this.#i(t.slice(s))}}#n(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#i(t.slice(
0,s)),this.#s<4))return s;let n=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(n,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#i(t.slice(s,s+o)),this.#s===r){let h=this.#r();this.#e=[],this.#s=0,e(h,4,r)}return s+o}#i(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new c("protocol","a message that is to\
o long");return s}};var xe=1<<20,vs=1e3;async function Te({edge:i,token:t,signal:e},{paths:s}){let n=i.replace("http","ws")+s.webSocket,{promise:r,
resolve:o,reject:h}=Ts(),a=await ys("ws");e.throwIfAborted();let l,f=a?new a(n,{headers:{Authorization:`Bearer ${t}`},perMessageDeflate:!1,
maxPayload:Wt}):new WebSocket(n,["llps.v1",`at.${t}`]);a||(f.binaryType="arraybuffer");let u=()=>f.terminate?f.terminate():
f.close(),p=()=>{h(e.reason),u()};e.addEventListener("abort",p);let w=new R,m=!1,g,y;f.on?.("unexpected-response",(b,Ue)=>{
l=ks(Ue).finally(()=>b.destroy()),l.then(h)});let x;f.on?.("upgrade",b=>{x=b.socket}),f.onerror=({error:b})=>{g=b},f.onopen=
()=>{m=!0,x?.prependListener("data",()=>w.bytes()),e.removeEventListener("abort",p),o({transport:"websocket",fragile:!1,
start:b=>w.start(b),send:b=>m&&f.send(b),sent:()=>m&&f.bufferedAmount>xe?T():void 0,probe(){},close(){f.close(1e3),y??=setTimeout(
()=>{u(),w.ended({})},vs)}})},f.onclose=({code:b})=>{clearTimeout(y),m?(m=!1,w.ended({closeCode:b})):l||xs(i+s.ping,a!==
void 0,e,g).then(h,h),e.removeEventListener("abort",p)},f.onmessage=({data:b})=>{typeof b=="string"?w.line(b):b instanceof
ArrayBuffer?w.frame(new Uint8Array(b),0,b.byteLength):w.frame(new Uint8Array(b.buffer,b.byteOffset,b.length),0,b.length)};
async function T(){for(;m&&f.bufferedAmount>xe;)await new Promise(b=>setTimeout(b,5))}return r}async function ys(i){if(ve)
try{let{WebSocket:t}=await import(i);return t}catch(t){if("WebSocket"in globalThis)return;throw new c("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:t})}}async function ks(i){let t=i.statusCode,e=Number(i.headers["re\
try-after"]),s={status:t,retryAfter:e>0?e*1e3:void 0},n="";try{let r=new TextDecoder;for await(let a of i)if(n+=r.decode(
a,{stream:!0}),n.length>65536)break;let{code:o,detail:h}=JSON.parse(n);if(o==="unauthorized")return new c(o,"the edge do\
es not accept the token",s);if(typeof o=="string")return new c(o,h,s)}catch{}return new c(t>=500?"unreachable":"refused",
`HTTP status ${t}`,s)}async function xs(i,t,e,s){return!t&&await V(i,e)?new c("refused","the edge answers, and refuses t\
he WebSocket: perhaps the token, or this page's origin"):new c("unreachable","no WebSocket to the edge",{cause:s})}function Ts(){
let i,t;return{promise:new Promise((s,n)=>{i=s,t=n}),resolve:i,reject:t}}var Ee=1e3,Es=43,As=2e3,Ae=()=>"WebTransport"in globalThis;async function Se(i,{paths:t,hashes:e}){let{signal:s}=i,n=[],
r,o=()=>{clearTimeout(r),n.forEach(ot)};s.addEventListener("abort",o);try{let h=await new Promise((l,f)=>{let u=()=>{let p=new WebTransport(
i.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});n.push(p),p.closed.catch(()=>{}),p.ready.then(()=>l(p),f)};
u(),r=setTimeout(u,As)});for(let l of n)l!==h&&ot(l);let a=h.closed.then(({closeCode:l,reason:f})=>({closeCode:l,error:L(
`${f}`)}),()=>({}));return await Ss(h,a,i.token)}catch(h){throw o(),s.throwIfAborted(),M(h,"unreachable","no WebTranspor\
t")}finally{clearTimeout(r),s.removeEventListener("abort",o)}}async function Ss(i,t,e){let s=await i.createBidirectionalStream(),
n=new R,r=new jt(s.writable.getWriter()),o=s.readable.getReader(),h,a,l=Ms(i);r.send(`AUTH:${e}`);let f=new rt,u=(m,g,y)=>{
if(ke(m,g,y))return n.frame(m,g,y);let x=N(m.subarray(g,y));if(a)return n.line(x);let T=At(x);T.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:ye,start:b=>n.start(b),send:b=>r.send(b),sent:()=>r.sent,probe:l,close:()=>{r.close().then(()=>ot(
i))}}:T.kind==="ERR"&&(h??=L(x.slice(4))??new c(T.code))},p=async()=>{let{value:m,done:g}=await o.read();return m&&(n.bytes(),
f.push(m,u)),!g},w;for(;!a;)if(!await p().catch(g=>{if(g instanceof c)throw g;return!1}))throw h??_s(await t);return(async()=>{
try{for(;await p(););}catch(y){y instanceof c&&(w=y)}r.close();let m={error:w},g=t.then(y=>m=y);w||await P(Ee,g),ot(i),n.
ended(m)})(),a}function Ms(i){let t,e=!1,s=async()=>{let{writable:n,createWritable:r}=i.datagrams;t??=(n??r?.call(i.datagrams))?.
getWriter(),await t?.write(new Uint8Array(Es))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function _s({
closeCode:i,error:t}){let e=i===4401?"unauthorized":i===1001?"draining":i===1013?"unavailable":"unreachable";return t??new c(
e,"the connection has ended",{closeCode:i})}function ot(i){try{i.close({closeCode:1e3,reason:""})}catch{}}var jt=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?I(t):t,s=e.length,n=this.#s+
4+s;if(n>this.#e.length){let r=new Uint8Array(Math.max(n,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=n,this.sent??=this.#n()}async#n(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await P(Ee,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var Os=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Ft=i=>Ae()&&i.startsWith(
"https:"),ht=class{#t;#e=new Map;#s=new Set;constructor(t){this.#t=t}forget(){this.#s.clear()}prefer(t,e){this.#e.set(t,
e)}async open(t,e,s,n={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=n,a=o.filter(u=>u===
"websocket"||Ft(t));a.length===0&&v("there is no WebTransport here, or not for http:// addresses");let l=a.filter(u=>!this.#s.
has(u));if(l.length===0)throw new c("protocol_not_allowed");this.#e.get(t)===l[1]&&l.reverse();let f=await $(s,r.connectTimeout,
u=>this.#n(l,t,e,h,u));return this.#e.set(t,f.transport),f}#n(t,e,s,n,r){return new Promise((o,h)=>{let a,l=0,f=0,u,p=!1,
w=()=>{p=!0,clearTimeout(a)},m=()=>{clearTimeout(a);let g=t[f++];if(!g||p)return;let y=g==="websocket"?Te:Se;l++,y({edge:e,
token:s,signal:r},this.#t).then(x=>{if(p)return Ps(x);w(),o(x)},x=>{l--;let T=M(x,"unreachable","the edge does not answe\
r");if(T.code==="protocol_not_allowed"&&this.#s.add(g),(!u||W(T)>W(u))&&(u=T),!Os.test(T.code)&&(l>0||f<t.length))return m();
w(),h(u)}),f<t.length&&(a=setTimeout(m,n))};r.addEventListener("abort",()=>{w(),h(r.reason)}),m()})}};function Ps(i){i.start(
{bytes(){},line(){},frame(){},ended(){}}),i.close()}function W({code:i}){return["unreachable","timeout","refused","proto\
col_not_allowed"].indexOf(i)>>>0}var Me=3,$s=500;async function Kt(i,t,e){let s,n=await Promise.all(i.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await $(e,t.connectTimeout,h=>Is(o,h))}catch(h){return s=h,[]}})),r=[...new Set(n.flat())];if(e.throwIfAborted(),
r.length===0)throw s??new c("unreachable","the list has no edge");return r.length>1&&(await $(e,t.connectTimeout,o=>Ns(r,
t.paths.ping,o)).catch(()=>{}),e.throwIfAborted()),r}async function Is(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"\
omit",signal:t});if(!e.ok)throw new c("unreachable",`the list of edges: HTTP status ${e.status}`,{status:e.status});let{
edges:s}=await e.json();return s.map(({host:n})=>j(`https://${n}`,!1).origin)}catch(e){throw M(e,"unreachable","the list\
 of edges")}}async function Ns(i,t,e){let s=new Map,n=async l=>{let f=[];for(;f.length<Me;){let u=d();if(!await V(l+t,e))
return;f.push(d()-u)}f.sort((u,p)=>u-p),s.set(l,f[Me>>1])},r=i.map(n),h=Promise.any(r.map((l,f)=>l.then(()=>s.get(i[f])??
Promise.reject()))).then(()=>E($s,e));await Promise.race([Promise.all(r),h.catch(()=>Promise.all(r))]);let a=l=>s.get(l)??
Number.MAX_VALUE;i.sort((l,f)=>a(l)-a(f))}var _e=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,Us=/^(unauthorized|token_expired|region_not|protocol_not)/,
Ls=5,Bs=6e4,Cs=12e4,at=class{#t;#e;#s;#n;#i;#r=[];#o=new Map;#h;#f=0;#c=0;#a=new Map;drained=new Set;constructor(t,e,s,n){
this.#t=t,this.#e=e,this.#s=s,this.#n=n,this.#i=new ht(e)}async first(t){await _(this.#s.get(),t),this.#r=await Kt(this.#t,
this.#e,t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(n){if(!(n instanceof c)||_e.test(n.code)||n.
code==="token_provider")throw n;(!e||W(n)>W(e))&&(e=n)}throw e}async*order(t,e,s){for(;;){let n=this.#r.filter(o=>o!==t),
r=e?[t,...n]:n.length<this.#r.length?[...n,t]:n;for(let o of r)r.some(h=>this.wait(h)<this.wait(o))||(yield o);if(this.#t.
some(o=>o.pathname!=="/"))try{this.#r=await Kt(this.#t,this.#e,s)}catch{s.throwIfAborted()}}}wait(t){return Math.max(0,(this.#a.
get(t)??0)-d())}async open(t,e,s){let n=await this.#s.get();try{return await this.#u(t,n,e,s)}catch(r){if(!(r instanceof
c&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;let h=await this.#s.ask();if(h===n)
throw r;return this.#u(t,h,e,s)}}async#u(t,e,s,n){e!==this.#h&&(this.#h=e,this.#o.clear(),this.#i.forget());let r=await this.#i.
open(t,e,s,n).catch(h=>{let{retryAfter:a=0}=h;throw this.#a.set(t,d()+Math.min(a,this.#e.maxBackOff)),h});this.drained.delete(
t),this.#a.delete(t);let o=new it(t,r,e,this.#n,this.#e);if(o.error)throw o.error;return this.#f=0,this.#o.clear(),o}noteSilent({
edge:t,transport:e,begun:s},n=!1){e!=="webtransport"||!n&&d()-s>=Cs||this.#i.prefer(t,n?e:"websocket")}hopeless(t,e,s){let{
code:n}=e;if(n==="unreachable"&&this.drained.delete(t),n!=="refused")this.#f=0;else{if(s||this.drained.has(t))return!1;this.#f++===
0&&(this.#c=d())}return _e.test(n)||this.#f>=Ls&&d()-this.#c>=Bs?!0:Us.test(n)?(this.#o.set(t,e),this.#r.every(r=>this.#o.
has(r))):!1}};var Rs=1024,ct=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){if(typeof e!=
"function")throw new c("bad_option",`the handler of ${t} must be a function`);let s=r=>e(r),n=this.#t.get(t)??new Set;return this.#t.
set(t,n.add(s)),()=>{n.delete(s)}}emit(t,e){this.#e.push([t,e])>Rs&&this.#e.shift(),this.#s||this.#n()}async#n(){this.#s=
!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.get(t[0])??[]])try{await e(t[1])}catch(s){
ft(s)}this.#s=!1}};function ft(i){queueMicrotask(()=>{throw i})}var Gs=new TextDecoder,q=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(t,e,s,n,r,o,h,a=""){
this.tenant=t,this.channel=e,this.payload=s,this.pattern=n,this.patterns=r,this.late=o,this.position=h,this.sender=a}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Gs.decode(this.payload)}json(){
return JSON.parse(this.text())}};var ut=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,n=`${e}:${s}`,r=this.#t.
get(n),{history:o}=t,h=r??{name:n,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o};return h.subs.push(t),this.#t.
set(n,h),this.#e++,{interest:h,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){return this.#t.get(t.name)===t}remove(t){
let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.subs.splice(s,1),e.subs.length===
0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(t.name)}dispatch(t,e=!1){let{tenant:s,
channel:n,payload:r,route:o,sender:h}=t,a=o.note?.tenant===s&&o.note.version===this.#e?o.note:this.#s(s,o);for(let{pattern:l,
subs:f,history:u}of a.interests){if(u&&!u.plain)continue;let p=new q(s,n,r,l,o.patterns,e,void 0,h);if(f.length===1)f[0].
push(p);else for(let w of[...f])w.push(p)}}#s(t,e){let s=e.patterns.map(n=>this.#t.get(`${t}:${n}`)).filter(n=>n!==void 0);
return e.note={tenant:t,version:this.#e,interests:s},e.note}};var lt=class{interests=new ut;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){let e=this.interests.all;e.some(
n=>n.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(n=>!n.history);await Promise.all(s.map(n=>this.ask(
t,n)))}async resume(t){await Promise.all(this.interests.all.filter(({history:e})=>e).map(e=>this.ask(t,e)))}stored(t,e,s){
let{tenant:n,channel:r,payload:o,route:h,sender:a}=e,{patterns:l}=h,f=l[0],u=this.interests.of(n,f),{history:p}=u??{};if(!u||
!p?.takes(t,s))return;p.from=s,u.subs[0]?.pushStored(new q(n,r,o,f,l,!1,s,a))===!1&&this.interests.has(u)&&(p.pause(),t.
leave(u.name)),this.#n(u)}reached(t,e){let{kind:s,tenant:n,pattern:r,position:o}=e,h=this.interests.of(n,r),{history:a}=h??
{};if(!(!h||a?.on!==t||!a.open||a.plain)){if(s==="GAP"||a.takes(t,o)){a.from=o;for(let l of h.subs)l.reach(o)}s==="GAP"?
(a.told=!0,this.#e(n,r,o)):s==="OK:RSUB"&&(this.#n(h),e.how==="gap"&&!a.told?this.#e(n,r,o):a.lossy&&this.#e(n,r))}}#e(t,e,s){
this.#t.gaps=!0,this.#t.events.emit("gap",{tenant:t,pattern:e,before:s})}wasRead(t){let e=this.interests.of(t.tenant,t.pattern),
{current:s}=this.#t;!e?.history||e.history!==t.history||(e.history.paused=!1,s&&this.ask(s,e))}ask(t,e){let s=this.#s(t,
e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.history?await this.#i(t,e,e.history):
(await this.#r(t,e),this.#n(e))}catch(s){let n=M(s,"internal","a fault of this client");if(n.code==="disconnected")return;
if(e.confirmed&&this.#t.suspected&&t===this.#t.next)return t.fail(n);this.#o(e,n)}}#n(t){t.confirmed=!0;for(let{resolve:e}of t.
waiting.splice(0))e()}async#i(t,e,s){let{name:n,tenant:r,pattern:o}=e;if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===
t)){s.begin(t);for(let h=2;;){if(await t.featured,await t.ending.get(n),!t.alive||s.on!==t||!this.interests.has(e))return;
let a=!t.histories||s.unwanted,l=s.forbidden?"now":s.from,f=Ht(e);s.lossy=a?f||l!=="now":s.forbidden||f&&l==="now",s.plain=
a,s.open=!0,a&&(s.from="now");try{if(!a)return await t.resume(n,l);if(await t.request("SUB",n),!this.interests.has(e))return;
this.#n(e),s.lossy&&this.#e(r,o);return}catch(u){let p=u;if(p.code==="history_unavailable")return this.#t.gaps=!0,this.#t.
events.emit("edgeError",{code:p.code,detail:`RSUB:${n}`});if(s.open=!1,p.code==="permission_denied"&&!a&&l!=="now")s.forbidden=
!0;else if(p.code==="no_history"&&f)s.unwanted=!0;else if(p.code==="try_later"&&f)h===2&&this.#t.events.emit("subscripti\
onError",{tenant:r,pattern:o,code:p.code}),await t.postpone(n,A(h++,this.#t.settings)),t.postponed.delete(n);else throw p}}}}async#r(t,e){
let{name:s,tenant:n,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){let a=h;if(a.code!=="try\
_later"||!Ht(e))throw a;o===2&&this.#t.events.emit("subscriptionError",{tenant:n,pattern:r,code:a.code})}await t.postpone(
s,A(o,this.#t.settings))}}#o(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:n,subs:r,waiting:o}=t;for(let h of[
this.#t.current,this.#t.next])h?.forget(t.name)&&h.leave(t.name);Ht(t)&&this.#t.events.emit("subscriptionError",{tenant:s,
pattern:n,code:e.code});for(let h of r)h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){if(this.#t.over)
throw this.#t.over;let e=this.interests.of(t.tenant,t.pattern);if(e&&(e.history||t.history)){let o="the client has a sub\
scription to this pattern, and one with a history is alone";throw new c("bad_option",o,e)}let{interest:s,isNew:n}=this.interests.
add(t);if(s.confirmed)return;let r=new Promise((o,h)=>{s.waiting.push({resolve:o,reject:h})});return n&&(this.#t.current&&
!this.#t.leaving&&this.ask(this.#t.current,s),this.#t.next&&!s.history&&this.ask(this.#t.next,s)),r}async leave(t){let e=this.
interests.remove(t);if(!e)return;for(let{resolve:h}of e.waiting.splice(0))h();let{name:s,history:n}=e,o=[this.#t.current,
this.#t.next].filter(h=>h?.forget(s)||h&&n?.on===h).map(h=>h.leave(s));await(this.#t.suspected&&o.length>0?Promise.race(
o):Promise.all(o))}queueFull({tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){
for(let s of this.interests.all){this.interests.drop(s);for(let n of s.subs)n.end(t);for(let{reject:n}of s.waiting.splice(
0))n(t??e)}}};function Ht({subs:i,waiting:t}){return i.length>t.length}var Xt=1e3,dt=class{#t=new S;#e=new S;#s=new S;constructor(t,e,s){for(let{key:n}of t)this.#t.put(n,e);if(s){for(let{key:n,
time:r,message:o}of s.#e.all)this.#e.put(n,r,o);for(let{key:n,time:r}of s.#s.all)this.#s.put(n,r)}}fromCurrent(t,e){let s=O(
t);return this.#s.dropUntil(e-Xt),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=O(t);if(this.#t.
take(s))return;let n=this.#e.put(s,e,{...t});return n&&this.#s.put(n.key,n.time),n?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-Xt)}get nextDue(){let t=this.#e.oldest;return t&&t.time+Xt}};var Oe=15e3,qs=6e4,pt=class{#t;late;#e;#s;#n=!0;#i=!1;#r=d();#o;#h;constructor(t,e,s,n,r){this.#t=t,this.late=new dt(e,d(),
r?.late),this.#e=s,this.#s=n,this.#o=setTimeout(()=>this.#f(),Oe),r?.stop(),t.handTo(this),t.alive?this.#a():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,d())}hold(t){t!==this.#i&&(this.#i=t,t||this.late.renew(d()),this.#a())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#n=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#f(){let t=Math.
min(this.#t.lastByte+Oe,this.#r+qs)-d();t>0?this.#o=setTimeout(()=>this.#f(),t):this.#c()}#c(){this.#n&&(this.stop(),this.#a())}#a(){
if(clearTimeout(this.#h),this.#i)return;let{nextDue:t}=this.late;if(t===void 0){this.#n||this.#s();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(d()))this.#e(e);this.#a()},Math.max(1,t-d()))}delivered(t,e){if(e.position!==void 0)return;
let s=this.late.nextDue===void 0,n=this.late.fromTrail(e,d());n&&this.#e(n),s&&this.#a()}woke(t){for(let s of t.asked)t.
request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){return!1}reached(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var mt=class{settings;events;subscriber=new lt(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t){this.settings=ae(t),this.
events=new ct(t.on)}setCurrent(t){this.current=t,this.place={edge:t.edge,transport:t.transport},this.linked(),this.#n()}#n(){
for(let t of this.#s.splice(0))t()}changed(){return new Promise(t=>{this.#s.push(t)})}linked(){let{link:t,edge:e}=this.current??
{};!this.since||!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"linkDown",{edge:e}))}reached(t,e){this.
subscriber.reached(t,e)}delivered(t,e){if(e.position!==void 0)return this.subscriber.stored(t,e,e.position);if(!this.merger)
return this.#i(e);let s=d();if(t===this.next){let n=this.current?.confirmed,r=!e.route.patterns.some(h=>n?.has(`${e.tenant}\
:${h}`)),o=this.merger.fromNext(e,s,r);o&&this.#i(o)}else this.both?this.merger.fromCurrent(e,s)&&this.#i(e):(this.merger.
late(e,s)||this.#i(e),this.merger?.done(s)&&(this.merger=void 0))}#i(t){(!this.trail||this.trail.fromCurrent(t))&&this.subscriber.
interests.dispatch(t)}promote(){let{current:t,next:e}=this;e&&(this.setCurrent(e),this.next=void 0,this.merger?.left(d()),
this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),t?.close(),this.subscriber.resume(e))}takeOver(t,e){this.
trail?.hold(!1);let s=new pt(t,this.merger?.given??[],r=>this.subscriber.interests.dispatch(r,!0),()=>{this.trail===s&&(this.
trail=void 0)},this.trail);this.trail=s;let n=d()-t.lastByte;this.suspected=this.next=void 0,this.merger?.left(d()),this.
both=this.tentative=!1,this.setCurrent(e),this.since=d(),this.events.emit("recovered",{...this.place,away:n}),this.giveHeld(),
this.openGate(void 0),this.subscriber.resume(e)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.
merger?.keepCurrent(d()),this.both=this.tentative=!1}giveHeld(){for(let t of this.merger?.release()??[])this.#i(t)}pause(t,e){
return E(t,e,this.#e)}get waits(){return this.#e.size>0}hurry(){for(let t of[...this.#e])t()}openGate(t){this.publishOn=
t;let e=this.gate??[];this.gate=void 0;for(let s of e)s();this.over&&this.#n()}publishConnection(){if(this.over)throw this.
over;let t=this.publishOn??this.current;if(!t?.alive)throw k();return t}};var Ds=500;async function Pe(i,t,e){for(i.events.emit("suspect",i.place),i.gate??=[];i.merger&&!i.merger.done(d());)await E(
50,e);i.merger=new C,i.both=i.tentative=!0;let s=0;for await(let n of i.searcher.order(t.edge,!1,e)){await i.pause(Math.
max(A(++s,i.settings),i.searcher.wait(n)),e);let r;try{r=await i.searcher.open(n,e,{fallbackAfter:Ds})}catch(h){if(e.throwIfAborted(),
h instanceof c)continue;throw h}if(e.aborted)return void r.close();if(!r.alive)continue;i.next=r,i.merger.joined(d());let o=i.
subscriber.restore(r);if(r.ping(!0).catch(()=>{}),await o,e.throwIfAborted(),i.next===r)return i.takeOver(t,r)}}function $e(i){if(typeof i=="number")return i;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(i);if(!t){let r='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new c("bad_option",r)}let[e=0,s=0,n=0]=t.
slice(1).map(r=>Number(r??0));return(e*60+s)*60+n}var Yt=2**31-1,Ie=1e3;function zs(i,t){return i===1/0?i:Math.max(0,Math.min(i*.9,i>5e3?i-5e3:i)-t*i/10)}var wt=class{#t;#e;#s;#n=new AbortController;#i;#r=d;#o=1/0;#h;#f=!1;#c;#a=-1/0;#u;#l=0;constructor(t,e,s){
this.#t=t,this.#i=t.token,this.#e=e,this.#s=s}get token(){return this.#i}get provided(){return this.#t.tokenProvider!==void 0}get(){
return this.#i!==void 0&&this.#r()<this.#o?Promise.resolve(this.#i):this.ask()}ask(){return this.#h??=this.#d().finally(
()=>{this.#h=void 0,this.#f=!1}),this.#h}async renew(){this.#h&&this.#f&&(this.#c??=this.#h.catch(()=>{}).then(()=>(this.#c=
void 0,this.ask()))),await(this.#c??this.ask()),this.#e()}async#d(){clearTimeout(this.#u);let{tokenProvider:t,connectTimeout:e,
minBackOff:s}=this.#t,{signal:n}=this.#n;try{let r=this.#a+Ie-d();r>0&&await E(r,n),this.#f=!0;let h=await $(n,e,a=>_(Promise.
resolve(t?.()),a)).finally(()=>{this.#a=d()});return this.#m(typeof h=="object"?h:{token:h}),this.#i}catch(r){this.#o>0&&
this.#o<1/0&&this.#p(Math.max(s,A(++this.#l+1,this.#t)));let h=r?.name==="LoggedOutError"?new c("logged_out","the token \
provider says that there will be no token",{cause:r}):new c("token_provider","the token provider gave no token",{cause:r});
throw this.#i!==void 0&&!n.aborted&&this.#s(h),h}}#m({token:t,expiresAt:e,expiresIn:s}){let n=s===void 0?1/0:$e(s)*1e3;n>
0||v("expiresIn must be more than 0");let r=e===void 0||s!==void 0?1/0:new Date(e).getTime();Number.isNaN(r)&&v("expires\
At is no time"),this.#i=It(t),this.#r=n<1/0?d:Date.now,this.#o=n<1/0?d()+n:r>Date.now()?r:1/0,this.#l=0,this.#p(Math.max(
Ie,zs(this.#o-this.#r(),Math.random())))}#p(t){this.#n.signal.aborted||!(t<1/0)||(this.#u=setTimeout(()=>{if(t>Yt)return this.#p(
t-Yt);let e=this.#i;this.ask().then(s=>s!==e&&this.#e(),()=>{})},Math.min(Math.max(t,0),Yt)))}expire(){this.provided&&(this.#o=
-1)}stop(){this.#n.abort(),clearTimeout(this.#u)}};var Vt=6e4,Ws=60*Vt,js=2*Vt,Fs=1e4,Ks=2e3;function Ne(i,t){return Math.min((4+2*t)*Vt*2**i,Ws)}var gt=class{#t;#e=0;#s;#n;#i;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#n),t.transport==="webtransport"?(this.stop(),this.#n=setTimeout(()=>{this.#e=0},js)):
!this.#s&&this.#r(t)&&this.#o(Ne(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
Ks,!1)}stop(){this.#i?.abort(),this.#i=void 0,clearTimeout(this.#s),clearTimeout(this.#n),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&Ft(e)}#o(t,e=!0){
clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#i)
return this.#o(Fs,t);if(!this.#r(s)){this.#s=void 0;return}let n=this.#e+Number(t);this.#o(Ne(n,Math.random()));let r=new AbortController;
this.#i=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#i===r&&(this.#i=
void 0),r.signal.aborted||(this.#e=n),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>z(e,s,"transport",h,o)):(o?.close(),
e.moveIfDue())}};var Hs=3e3,bt=class extends mt{tokens;searcher;closed;#t;#e=new gt(this);#s;#n;constructor(t,e){super(e),this.tokens=new wt(
this.settings,()=>this.moveIfDue(),s=>this.#i(s)),this.searcher=new at(t,this.settings,this.tokens,this),this.closed=new Promise(
s=>{this.#n=s})}#i(t){let{code:e,cause:s}=t;e!=="logged_out"?this.events.emit("edgeError",{code:e,detail:"the token prov\
ider gave no token",cause:s}):this.since&&this.finish(t)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||
v("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(t){throw this.over&&t.code!==
"logged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(t){try{let e=await this.
searcher.first(t);if(this.setCurrent(e),t.throwIfAborted(),e.error)throw e.error;this.since=d(),this.#s=be(this),this.#e.
follow(e),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.
current?.close(),e}}setCurrent(t){super.setCurrent(t),this.since&&this.#e.follow(t)}moveIfDue(){let{current:t}=this;this.#t||
this.over||!t?.alive||(t.drains?this.run(e=>z(this,t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>z(this,t,"toke\
n",e)))}get idle(){let{current:t,merger:e}=this;return!this.#t&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(d()))}run(t){
this.#t?.abort();let e=new AbortController;this.#t=e,t(e.signal).then(()=>{this.#t===e&&(this.#t=void 0,this.current?.alive&&
this.moveIfDue())},s=>{this.#t===e&&this.finish(M(s,"internal","a fault of this client"))})}draining(t){this.searcher.drained.
add(t.edge),t===this.current&&this.moveIfDue()}errorLine(t,e){let[,s,n]=/^PUB:([^:]+):(.+)$/s.exec(e)??[];t==="slow_cons\
umer"?this.events.emit("slowConsumer",{dropped:Number(e)}):t==="egress_limited"?this.events.emit("egressLimited",{delay:Number(
e)*1e3}):s&&n&&t!=="broker_unavailable"?this.events.emit("publishError",{tenant:s,channel:n,code:t}):this.events.emit("e\
dgeError",{code:t,detail:e})}roundTrip(t){this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){let{current:e}=this;
return t===this.next&&this.tentative&&d()-t.lastByte>=Hs&&t.fail(new c("timeout","the edge does not answer")),t!==e||this.#t||
this.gate||this.over||this.reconnecting||!this.since||e.drains?!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.noteSilent(
t),this.run(s=>Pe(this,t,s)),!0)}woke(t){t===this.suspected&&(this.searcher.noteSilent(t,!0),this.#t?.abort(),this.#t=void 0,
this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(
void 0),this.moveIfDue())}lost(t,e){let s=t.token===this.tokens.token,n=/_not_allowed$|^token_revoked$/.test(e.code)||e.
code==="token_expired"&&!this.tokens.provided,r=t===this.next&&this.suspected!==void 0;if(n&&s&&!r)return this.finish(e);
e.closeCode===void 0&&/^(disconnected|timeout)$/.test(e.code)&&this.searcher.noteSilent(t),t===this.next&&!this.leaving?
(this.next=void 0,r?this.merger?.orphan():this.openGate(void 0)):t===this.current&&!this.suspected&&(this.gate||this.publishOn)?
this.promote():(t===this.current||t===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.
close(),this.next=void 0,this.giveHeld()),this.promote(),this.reconnecting||this.run(o=>me(this,t,e,o)))}slept(){for(let t of[
this.current,this.next])t?.awake(!1);this.hurry()}networkChanged(){for(let t of[this.current,this.next])t?.awake(!0);this.
hurry(),this.#e.soon()}finish(t){if(this.over)return;this.over=new c("closed","the client has been closed",t?{cause:t}:{}),
this.#t?.abort(),this.tokens.stop(),this.#e.stop(),this.#s?.();let e=[this.current?.close(),this.next?.close(),this.trail?.
stop()];this.openGate(void 0),t&&(this.giveHeld(),this.trail?.flush()),this.subscriber.end(t,this.over),this.events.emit(
"closed",{error:t}),Promise.all(e).then(()=>this.#n(t))}};var vt=class{#t;#e=new Array(16);#s=0;#n=0;constructor(t){this.#t=t}get size(){return this.#n}get full(){return this.#n>=
this.#t}push(t){let e=this.#e;this.#n===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#n++&this.#e.length-1]=t}shift(){if(this.#n===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#n--,t}clear(){this.#e=new Array(16),this.#s=this.#n=0}};var Xs=1e3,yt=class{tenant;pattern;history;ended;#t;#e;#s;#n=[];#i=!1;#r;#o;#h=0;#f=-1/0;#c;#a;#u;constructor(t,e,s,n){this.
tenant=t,this.pattern=e,this.#t=s,this.#e=n,this.#s=new vt(n.queue);let{from:r}=n;this.history=r===void 0?void 0:new H(r),
r?.includes(".")&&!r.startsWith("last")&&(this.#a=this.#u=r),this.ended=new Promise(o=>{this.#o=o})}get position(){return this.#s.
size===0?this.#a:this.#u}async unsubscribe(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.
onMessage)throw new c("bad_option","a subscription with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.
resolve({done:t,value:void 0});let e=this.#s.shift();return e?(this.#u=e.position??this.#u,this.history?.paused&&this.#s.
size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve({done:!1,value:e})):this.#i?(t=!0,this.#r?Promise.reject(this.#r):
Promise.resolve({done:t,value:void 0})):new Promise((s,n)=>{this.#n.push({resolve:s,reject:n})})},return:async()=>(t=!0,
await this.unsubscribe(),{done:t,value:void 0})}}#l(t){let{onMessage:e}=this.#e;if(e){try{let n=e(t);n instanceof Promise&&
n.catch(ft)}catch(n){ft(n)}return!0}let s=this.#n.shift();return s?.resolve({done:!1,value:t}),s!==void 0}pushStored(t){
if(this.#i)return!0;let e=this.#l(t);return!e&&this.#s.full?(this.#d(),!0):(this.#a=t.position,e?this.#u=t.position:this.#s.
push(t),!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#a=t}#d(){this.end(new c("queue_full","messages were n\
ot read in time",this)),this.#t.leave(this)}push(t){if(this.#i||this.#l(t))return;let{queuePolicy:e}=this.#e;if(!this.#s.
full)return this.#s.push(t);if(e==="end")return this.#d();e==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#h++,
this.#c??=setTimeout(()=>this.#m(),Math.max(0,this.#f+Xs-d()))}#m(){clearTimeout(this.#c),this.#c=void 0,this.#f=d(),this.#h>
0&&this.#t.queueFull(this,this.#h),this.#h=0}end(t){if(!this.#i){this.#i=!0,this.#r=t,t||this.#s.clear(),this.#m();for(let e of this.#n.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#o(t)}}};async function Ys(i,t){let e=typeof i=="string"?[i]:i;(!t||!e?.length)&&v("connect needs an address and options");let s=new bt(
e.map(r=>j(r,t.allowPlaintext===!0)),t),{signal:n=new AbortController().signal}=t;return n.throwIfAborted(),await _(s.start(
n),n),new kt(s)}var kt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let n=this.#t,{onMessage:r}=s;r&&typeof r!="function"&&v("onMessage must be a function");let o=new yt(Nt(t),le(e),n.subscriber,
{...$t(s,n.settings),onMessage:r,from:fe(s.history,e)});return await n.subscriber.subscribe(o),o}async publish(t,e,s,{delivery:n="\
broadcast",confirm:r=!1,key:o}={}){let h=this.#t,a=Mt.indexOf(n);a<0&&v(`delivery: allowed are ${Mt.join(", ")}`),typeof s!=
"string"&&s?.[Symbol.toStringTag]!=="Uint8Array"&&v("the payload must be a Uint8Array or a string");let l={tenant:Nt(t),
channel:ue(e)};if(r){let u=I(o??"");return o!==void 0&&!(u.length>0&&u.length<=64)&&v("a key has 1 to 64 bytes"),Zt(h,w=>_t(
l.tenant,l.channel,s,a,{id:w,key:u}),o!==void 0,l)}o!==void 0&&v("a key is for a publish that is confirmed");let f=_t(l.
tenant,l.channel,s,a||void 0);return h.publishConnection(),h.gate?new Promise((u,p)=>{h.gate?.push(()=>{try{u(h.publishConnection().
publish(f))}catch(w){p(w)}})}):h.publishConnection().publish(f)}async flush(){let t=this.#t;t.publishConnection(),t.gate&&
await new Promise(e=>t.gate?.push(e)),await t.publishConnection().ping()}renewToken(){return this.#t.renewToken()}retry(){
this.#t.retry()}async close(){this.#t.finish(void 0),await this.closed}[Symbol.asyncDispose](){return this.close()}};export{kt as Client,xt as LoggedOutError,c as MillraceError,Le as channelToken,Ys as connect};
