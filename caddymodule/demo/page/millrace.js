// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var f=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(t,e="\
the edge says so",s={}){let n=["tenant","channel","pattern"].map(o=>s[o]===void 0?"":` (${o} ${JSON.stringify(s[o])})`),
r=t==="unreachable"?Zt(s.cause):"";super(`${t}${n.join("")}: ${e}${r&&`: ${r}`}`,"cause"in s?{cause:s.cause}:void 0),this.
code=t,this.tenant=s.tenant,this.pattern=s.pattern,this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode,
this.retryAfter=s.retryAfter}};function Zt(i){let{message:t,code:e,cause:s}=i??{};return`${(s?Zt(s):"")||t||e||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function Qt(i,t){let e=i===401?"unauthorized":/^(429|50[234])$/.test(`${i}`)?"u\
navailable":"unreachable",s=`HTTP status ${i}, and the answer is no edge's: is the address right?`;return new f(e,s,{status:i,
retryAfter:t})}var Tt=class extends Error{name="LoggedOutError"};function M(i,t,e){return i instanceof f?i:new f(t,e,{cause:i})}
function k(i){return new f("disconnected","there is no connection to an edge",i===void 0?{}:{cause:i})}var te=64;function Re(i){if(typeof i!="string"||/\p{Surrogate}/u.test(i))throw new f("bad_option","a channel's token is \
made of a string without lone surrogates");let t=i.replace(/[^\w\-@]+/g,qe)||"~";if(t.length<=te)return t;let e="each by\
te of the text but a-z A-Z 0-9 _ - @ needs three";throw new f("bad_option",`a channel's token has at most ${te} bytes; ${e}`)}
function qe(i){let t="";for(let e of new TextEncoder().encode(i))t+=`~${e.toString(16).toUpperCase().padStart(2,"0")}`;return t}function F(i,t){let e=URL.canParse(i)?new URL(i):void 0;if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.
search||e.hash)throw new f("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!Ge(e.hostname))throw new f("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function Ge(i){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(i)}var d=()=>performance.now();function E(i,t,e=new Set){return new Promise((s,n)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),n(t.reason)},h=()=>{r(),s()},a=setTimeout(h,i);e.add(h),t.addEventListener("abort",o),
t.aborted&&o()})}async function P(i,...t){let e,s=new Promise(n=>{e=setTimeout(n,i)});await Promise.race([s,...t]).catch(
()=>{}),clearTimeout(e)}async function $(i,t,e){i.throwIfAborted();let s=new AbortController,n=()=>s.abort(i.reason),r=setTimeout(
()=>s.abort(new f("timeout","the edge does not answer")),t);i.addEventListener("abort",n);try{return await e(s.signal)}finally{
clearTimeout(r),i.removeEventListener("abort",n),s.abort()}}function _(i,t){return new Promise((e,s)=>{let n=()=>s(t.reason);
t.aborted&&n(),t.addEventListener("abort",n),i.then(e,s).finally(()=>t.removeEventListener("abort",n))})}function A(i,t){
return i<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(i-2,30))}var De=1e5,Et=0;async function ee(i,t,e,s){Et=Et+1>>>0;let n=Et,r=t(n),o=!1,h=u=>new f("outcome_unknown","no edge has sa\
id whether the message is stored",{...s,cause:u}),a=new AbortController,l=setTimeout(()=>a.abort(o?h():k()),De),c;try{for(let u=2;;u++){
c=await We(i,e,a.signal,s);let p=c.confirm(r,n);o=!0;try{return await _(p,a.signal)}catch(w){a.signal.throwIfAborted();let{
code:m}=w;if(m!=="disconnected"&&(m!=="unconfirmed"||!e))throw new f(m,void 0,s);if(!e)throw h(w);m==="unconfirmed"&&await E(
A(u,i.settings),a.signal)}}}catch(u){let{code:p}=u;throw o&&(p==="disconnected"||p==="closed")?h(u):u}finally{clearTimeout(
l),c?.forgetConfirm(n)}}async function We(i,t,e,s){for(;;){if(i.over)throw i.over;if(i.gate){await _(new Promise(r=>i.gate?.
push(r)),e);continue}let n=i.publishOn??i.current;if(n?.alive)if(n.histories===void 0)await _(n.featured,e);else{if(n.histories)
return n;throw new f("no_history","the edge has no histories, and confirms nothing",s)}else{if(!t)throw k();await _(i.changed(),
e)}}}var je=new TextEncoder,ze=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),At=1024,Fe=["PING","PONG","RECONNECT","OK:AUT\
H"],He=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,Ke=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,I=i=>je.
encode(i);function N(i){try{return ze.decode(i)}catch(t){throw new f("protocol","text that is not UTF-8",{cause:t})}}var Xe=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function L(i,t){let[e,s,...n]=i.split(":"),r=Xe.get(e);
if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new f(`${s}_not_allowed`,n.join(":")||void 0,o):new f(
e,void 0,o)}function St(i){if(Fe.includes(i))return{kind:i};if(/^LINK:(up|down)$/.test(i))return{kind:"LINK",up:i==="LIN\
K:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(i)?.[1];if(t&&i.length<=At)return{kind:"FEATURES",features:t};
let e=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(i),s=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(i);if((e||s)&&
(i.length<=At/3||I(i).length<=At)&&!i.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}let n=Ve(
i);if(n)return n;throw new f("protocol","a line that is none")}function Ve(i){let[,t,e="",s="",n="",r]=He.exec(i)??[];if(t&&
H(n)&&t==="OK:RSUB"==(r!==void 0))return r?{kind:t,tenant:e,pattern:s,position:n,how:r}:{kind:t,tenant:e,pattern:s,position:n};
let[,o,h]=Ke.exec(i)??[];if(!(o===void 0||Number(o)>4294967295||h!==void 0&&!H(h)))return h===void 0?{kind:"OK:PUB",id:Number(
o)}:{kind:"OK:PUB",id:Number(o),position:h}}function H(i){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(i)??[];return t!==void 0&&e!==void 0&&se(t)&&se(e)}var se=i=>i.length<20||i<="18446744073709551615";function ie(i){
try{return St(i)}catch{return}}var _t=["broadcast","one-nearest","one-random"];function Ot(i,t,e,s,n){let r=typeof e=="string"?I(e):e,o=n?7+n.key.length:
s===void 0?0:2,h=new Uint8Array(o+4+i.length+t.length+r.length);return o>0&&(h[0]=n?3:2,h[1]=s??0),n&&(new DataView(h.buffer).
setUint32(2,n.id),h[6]=n.key.length,h.set(n.key,7)),h.set(r,ne(h,ne(h,o,i),t)),h}function ne(i,t,e){i[t++]=e.length>>8,i[t++]=
e.length;for(let s=0;s<e.length;s++)i[t++]=e.charCodeAt(s);return t}var he=1,ae=2,Mt=24,Ye=128;function Pt(i,t,e){return t===
e||i[t]===1?!1:i[t]!==4||t+1<e&&(i[t+1]&~(he|ae))!==0}var K=class{#t=new W;#e=new W;#s=new W;#i={};decode(t,e,s){let n=g=>{
g>s&&B()},r=g=>(n(g+2),t[g]<<8|t[g+1]);(e===s||Pt(t,e,s))&&B();let o,h="";if(t[e]===4){let g=r(e)&255;if(g===0&&B(),e++,
g&he&&(n(e+1+Mt),o=Je(t,e+1),e+=Mt),g&ae){n(e+2);let v=e+2;e=v+t[e+1]-1,e-v>=Ye&&B(),n(e+1),h=this.#s.of(t,v,e+1,()=>N(t.
subarray(v,e+1)))}}let a=o!==void 0,l=e+3+r(e+1),c=l+2+r(l),u=c+4;n(u);let p=u+r(c)*65536+r(c+2);(r(p)===0||a&&r(p)!==1)&&
B();let w=this.#t.of(t,e+1,c,()=>[N(t.subarray(e+3,l)),N(t.subarray(l+2,c))]),m=this.#i;return m.tenant=w[0],m.channel=w[1],
m.payload=t.subarray(u,p),m.route=this.#e.of(t,p,s,()=>{let g=[],v=p+2;for(let x=r(p);x>0;x--){let T=v+2+r(v);n(T),g.push(
N(t.subarray(v+2,T))),v=T}return v!==s&&B(),{patterns:Object.freeze(g),note:void 0}}),m.position=o,m.sender=h,m}};function Je(i,t){
let e=new DataView(i.buffer,i.byteOffset+t,Mt);return`${re(e,0)}${re(e,4)}.${oe(e,8)}.${oe(e,16)}`}var re=(i,t)=>i.getUint32(
t).toString(16).padStart(8,"0");function oe(i,t){let e=i.getUint32(t);return e<2097152?String(e*4294967296+i.getUint32(t+
4)):String(i.getBigUint64(t))}function B(){throw new f("protocol","a frame that is none")}var Ze=256,Qe=1024,W=class{#t=[];of(t,e,s,n){
let r=0;for(let l=e;l<s;l++)r=Math.imul(r,31)+t[l]|0;let o=(r^r>>>8)&Ze-1,h=this.#t[o];if(h&&ts(h.bytes,t,e,s))return h.
value;let a=n();return s-e<=Qe&&(this.#t[o]={bytes:t.slice(e,s),value:a}),a}};function ts(i,t,e,s){if(i.length!==s-e)return!1;
for(let n=0;n<i.length;n++)if(i[n]!==t[e+n])return!1;return!0}function C(i,t,e){let s=typeof t=="object"&&t!==null,n=s?Object.keys(t).find(o=>!e.split(" ").includes(o)):"";if(n===void 0)
return;let r=s?`has no ${JSON.stringify(n.slice(0,32))}`:"must be an object";throw new f("bad_option",`${i} ${r}: allowe\
d are ${e.replaceAll(" ",", ")}`)}var es=["drop-oldest","drop-newest","end"],ce=["webtransport","websocket"];function y(i){throw new f("bad_option",i)}function U(i,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&y(`${i} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function fe(i,t,e){return e.includes(t)||y(`${i}: allowed are ${e.join(", ")}`),t}function It(i,t){return{queue:Math.ceil(
U("queue",i.queue,t.queue)),queuePolicy:fe("queuePolicy",i.queuePolicy??t.queuePolicy,es)}}var ss="token tokenProvider t\
ransports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintex\
t serverCertificateHashes sender signal on";function le(i){C("the object of options",i,ss),C("paths",i.paths??{},"webSoc\
ket webTransport ping");let{token:t,tokenProvider:e,transports:s=ce,sender:n=!1}=i;t===void 0==(e===void 0)&&y("one of t\
oken and tokenProvider is needed"),e!==void 0&&typeof e!="function"&&y("tokenProvider must be a function"),typeof n!="bo\
olean"&&y("sender must be true or false"),s.length===0&&y("transports must not be empty");for(let o of s)fe("transports",
o,ce);let r=U("minBackOff",i.minBackOff,250);return{token:t===void 0?void 0:Nt(t),tokenProvider:e,transports:[...new Set(
s)],fallbackAfter:U("fallbackAfter",i.fallbackAfter,2e3),connectTimeout:U("connectTimeout",i.connectTimeout,1e4),keepAlive:U(
"keepAlive",i.keepAlive,25e3,-1/0),pongTimeout:U("pongTimeout",i.pongTimeout,1e4),minBackOff:r,maxBackOff:Math.max(r,U("\
maxBackOff",i.maxBackOff,15e3)),...It(i,{queue:1024,queuePolicy:"drop-oldest"}),sender:n,paths:{webSocket:$t(i.paths?.webSocket??
"/ws"),webTransport:$t(i.paths?.webTransport??"/wt"),ping:$t(i.paths?.ping??"/ping")},allowPlaintext:i.allowPlaintext===
!0,hashes:i.serverCertificateHashes}}function $t(i){return/^\/[^?#]*$/.test(i)||y("paths must start with a slash"),i}var is="\
a token is a string of 1 to 512 letters, digits and .~_+-, and this is none";function Nt(i){return(typeof i!="string"||!/^[\w.~+-]{1,512}$/.
test(i))&&y(is),i}var ue=1e5;function de(i,t){if(i===void 0||i==="now"||i==="last")return i;let{last:e,after:s}=i;return typeof s=="string"&&
e===void 0&&H(s)?s:((!Number.isInteger(e)||e<1||e>ue||s!==void 0)&&y(`history is "now", "last", { last: 1 to ${ue} } or \
{ after: position }`),/[*>#]/.test(t)&&y("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}
var X=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){this.from=t}begin(t){
this.on=t,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(t,e){
return this.on===t&&this.open&&!this.plain&&!ns(e,this.from)}};function ns(i,t){let[e,s=""]=i.split("."),[n,r]=t.split("\
.");return e===n&&r!==void 0&&(s.length===r.length?s<=r:s.length<r.length)}var V="[\\w\\-~@]+",rs=/^[\w\-~@.]{1,128}$/,os=new RegExp(`^(?=.{1,256}$)${V}(\\.${V}){0,31}$`),hs=new RegExp(`^(?=.{1,2\
56}$)((${V}\\*?|\\*)\\.){0,31}(${V}[*>#]?|[*>#])$`),as=i=>rs.test(i),cs=i=>os.test(i),fs=i=>hs.test(i),ls="~";function Ut(i){
return Lt("tenant",as,i===""?ls:i)}function pe(i){return Lt("channel",cs,i)}function me(i){return Lt("pattern",fs,i)}function Lt(i,t,e){
if(typeof e!="string"||!t(e)){let s={[i]:String(e).slice(0,256)};throw new f(`bad_${i}`,"not a legal name, see docs/prot\
ocol.md, Names",s)}return e}var us=new TextDecoder("windows-1252");function O(i){return`${i.tenant}:${i.channel}:${us.decode(i.payload)}`}var S=class{size=0;#t=0;#e=[];#s=0;#i=new Map;get oldest(){
for(;this.#e[this.#s]?.entry===void 0&&this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.
flatMap(({entry:t})=>t??[])}put(t,e,s){this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=
0);let n={entry:{key:t,time:e,message:s}};this.#e.push(n);let r=this.#i.get(t);return r?r.push(n):this.#i.set(t,[n]),this.
size++,this.#t+=t.length,this.size>65536||this.#t>16777216?this.drop():void 0}take(t){let e=this.#i.get(t),s=e?.shift();
return!e||!s?!1:(e.length===0&&this.#i.delete(t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;
return t&&this.take(t.key),t}dropUntil(t){let e=[];for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&
e.push(s.message);return e}};var we=1e3,ds=1e4,R=class{#t=new S;#e=new S;#s=new S;#i=we;#n;joined(t){this.#n=t}left(t){this.#i+=this.#r(t),this.#n=void 0}#r(t){
return this.#n===void 0?0:Math.min(t-this.#n,ds-we)}fromCurrent(t,e){let s=O(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(O(t),e),t;let n=this.#e.put(
O(t),e,{...t});return n&&this.#s.put(n.key,e),n?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(O(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new S;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#n=void 0,this.#t=new S;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new S}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#i-this.#r(
t))}};var ge=250,Bt=2e3;async function j(i,t,e,s,n){for(;i.merger&&!i.merger.done(d());)await E(50,s);i.merger=new R,i.both=!0;
let r=n!==void 0;i.tentative=r;let{place:o}=i,h=!1,a=()=>{h||i.events.emit("moving",{...o,reason:e}),h=!0};r||a();let l=0;
for await(let c of i.searcher.order(t.edge,e!=="drain",s)){let u=n;if(n=void 0,!u){await i.pause(Math.max(A(++l,i.settings),
i.searcher.wait(c)),s);try{u=await i.searcher.open(c,s)}catch(p){if(s.throwIfAborted(),!(p instanceof f)||i.searcher.hopeless(
c,p,!0))throw p;continue}}if(s.aborted)return void u.close();if(u.alive){i.next=u,i.merger.joined(d()),i.merger.release();
let p=i.subscriber.restore(u);i.tentative&&u.ping(!0).catch(()=>{}),await p}if(i.tentative){if(s.throwIfAborted(),i.next!==
u)return i.keepCurrent();i.tentative=!1}if(u.alive){if(await ps(i,t,u,a,s),s.throwIfAborted(),i.current!==u){if(r)return i.
keepCurrent();continue}u.alive&&(a(),i.since=d(),i.events.emit("moved",{...i.place,reason:e}));return}}}async function ps(i,t,e,s,n){
let r=()=>i.next===e&&i.current===t;if(!r())return;i.gate??=[];let o=P(Bt,t.ping()).then(()=>{r()&&i.openGate(e)}),h=3;do
await E(ge,n);while(--h&&i.merger?.behind);for(await P(Bt,Promise.all(i.subscriber.asking));r()&&e.postponed.size>0;)await E(
ge,n);if(!r())return;s(),i.leaving=!0;let a=[...t.asked].map(l=>t.leave(l));await P(Bt,t.ended,Promise.allSettled([...a,
t.ping(),t.confirmedAll()])),await o,r()&&i.promote(),i.leaving=!1}var ms=1e4;async function be(i,t,e,s){let{lastByte:n}=t;i.reconnecting=!0,i.current=void 0,i.merger=void 0,i.both=i.leaving=
i.tentative=i.gaps=!1,i.openGate(void 0);for(let r of i.subscriber.interests.all)r.confirmed=!1;i.events.emit("disconnec\
ted",{...i.place,error:e}),e.code==="token_expired"&&t.token===i.tokens.token&&i.tokens.expire(),d()-i.since>ms&&(i.attempts=
0);for await(let r of i.searcher.order(t.edge,!1,s)){let o=++i.attempts,h=Math.max(A(o,i.settings),i.searcher.wait(r));i.
events.emit("reconnecting",{attempt:o,delay:h}),await i.pause(h,s);try{let a=await i.searcher.open(r,s);if(s.aborted)return void a.
close();if(i.setCurrent(a),await i.subscriber.restore(a),s.throwIfAborted(),!a.alive)continue;i.reconnecting=!1,i.since=
d();let l=!i.gaps&&i.subscriber.interests.all.every(c=>c.history);return i.events.emit("reconnected",{...i.place,away:d()-
n,complete:l})}catch(a){if(s.throwIfAborted(),!(a instanceof f)||i.searcher.hopeless(r,a,!1))throw a}}}var ws=4096,Y=class{#t=new Map;#e=[];#s=0;#i;add(t,e){return this.note(e),new Promise((s,n)=>{this.#t.set(t,{resolve:s,reject:n,
size:e})})}note(t,e){t<=ws||t<this.#s||(this.#i=t>this.#s?e:this.#i??e,this.#s=t)}tooLarge(){for(let[t,{size:e}]of this.#t)
e===this.#s&&this.error("payload_too_large",`PUB:${t}`);return this.#i}settle(t,e=()=>{}){let s=this.#t.get(t);if(s&&e(s),
this.#t.delete(t),this.#t.size===0)for(let n of this.#e.splice(0))n()}error(t,e){let s=/^PUB:(\d+)$/.exec(e)?.[1];return s===
void 0?!1:(this.settle(Number(s),n=>n.reject(new f(t))),!0)}idle(){return this.#t.size===0?Promise.resolve():new Promise(
t=>{this.#e.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(k()))}};async function J(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"omit",signal:t});return await e.arrayBuffer(),
e.ok}catch{return!1}}async function ye(i,t){try{return await fetch(i,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:t}),!0}catch{return!1}}var Z=class{#t;#e=0;#s=0;#i=0;#n=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#i=this.#n=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#n=this.#i,this.#i=0,this.#e=
t),e>this.#i&&(this.#i=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.max(1e3,3*
Math.max(this.#i,this.#n))}};var tt=2e3,ve=1e3,Q=new Set,Ct,Rt=0,qt=0;function gs(i,t){return i>=ve+tt||t-i>=tt}function Dt(){let i=d()-Rt,t=Date.now()-
qt;Rt+=i,qt+=t,gs(i,t)&&Gt("slept")}function ke(i){return Q.add(i),Ct??=bs(),()=>{!Q.delete(i)||Q.size>0||(Ct?.(),Ct=void 0)}}
function Gt(i){for(let t of[...Q])t[i]()}function bs(){Rt=d(),qt=Date.now();let i=setInterval(Dt,ve),t=globalThis,{document:e,
navigator:s}=t,n=()=>Gt("slept"),r=()=>{e?.visibilityState==="visible"&&n()},o=()=>Gt("networkChanged"),h=s?.connection,
a=h?.type,c=[[t,"online",o],[h,"change",()=>{h?.type!==a&&(a=h?.type,o())}],[t,"pageshow",n],[e,"resume",n],[e,"visibili\
tychange",r]];for(let[u,p,w]of c)u?.addEventListener?.(p,w);return()=>{clearInterval(i);for(let[u,p,w]of c)u?.removeEventListener?.(
p,w)}}var et=1e3,Wt=1e3,ys=3,vs=2**31-1,jt=50,st=class{heard=d();#t;#e;#s=new Z(this.heard);#i=1+Math.random()/16;#n=!1;#r=!1;#o;#h=0;#f=0;#c=0;#a=-1/0;#l=-1/0;#u;#d;#m;#p=!1;constructor(t,e){
this.#t=t,this.#e=e}arrived(t){this.heard=t,this.#u=void 0,this.#d?.abort(),this.#d=void 0,((this.#r?this.#s.skip(t):this.#s.
arrived(t))||this.#n)&&(this.#n=!1,this.arm()),this.#r&&(this.#r=!1,this.#t.woke())}ponged(t,e){this.#n=e,this.#c=0;let s=Math.
min(t,2*this.#g);this.#o===void 0?(this.#o=s,this.#h=s/2):(this.#h+=(Math.abs(this.#o-s)-this.#h)/4,this.#o+=(s-this.#o)/
8),this.arm()}awake(t){let e=d();this.#w||(this.#c=0),!(this.#p||this.#c++>=ys)&&(this.#f=e,this.#e.keepAlive>0&&!this.#w&&
(t||e-this.heard>=et)&&this.#x(e),this.arm())}stop(){this.#p=!0,this.#d?.abort(),clearTimeout(this.#m)}get#w(){return this.#t.
unanswered??this.#u}get#g(){return Math.max(et,(this.#o??0)+4*this.#h)}get askAt(){let{keepAlive:t}=this.#e;if(t<0)return 1/0;
let e=this.#n?t:Math.min(t,this.#s.unusual);return this.heard+e*this.#i}suspectAt({at:t,sendTime:e}){return Math.max(t,this.
heard,this.#f)+(this.#u?et:this.#g)+e}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:n}=this.#e;if(s<0)return 1/0;
let r=Math.max(this.heard,this.#f);return Math.max(t+n,r+s+n)+e}arm(){clearTimeout(this.#m);let t=this.#w,e=t?Math.min(this.#r?
1/0:this.#y(t),this.lostAt(t),this.#a+Wt):this.askAt;if(this.#p||e===1/0)return;let s=d(),n=Math.max(e,s+1);this.#m=setTimeout(
()=>this.#v(n),Math.min(n-s,vs))}#y(t){return Math.max(this.suspectAt(t),this.#l+Wt)}#v(t,e=!1){Dt();let s=d();if(s-t>=tt&&
this.awake(!1),this.#p)return;if(!e&&s-t>jt){clearTimeout(this.#m),this.#m=setTimeout(()=>this.#v(s+jt,!0),jt);return}let n=this.#w;
if(!n)s>=this.askAt&&this.#x(s);else{if(s>=this.lostAt(n))return this.#t.over();!this.#r&&s>=this.#y(n)&&this.#k(s),this.#p||
this.probe()}this.arm()}#k(t){this.#r=this.#t.silent(),this.#r||(this.#l=t)}#x(t){if(this.#t.pingFirst===void 0)return this.#t.
ask();this.#u={at:t,sendTime:0},this.#a=-1/0,this.probe()}probe(){let t=d();t-this.#a<Wt||(this.#a=t,this.#t.pingFirst!==
void 0&&(this.#r||this.#u)?this.#b(this.#t.pingFirst):this.#t.probe())}async#b(t){if(this.#d)return;let e=new AbortController;
this.#d=e;let s=setTimeout(()=>e.abort(),et),n=await ye(t,e.signal);clearTimeout(s),!(this.#p||this.#d!==e)&&(this.#d=void 0,
n?(this.#u=void 0,this.#t.unanswered?this.#t.probe():this.#t.ask()):this.#u&&(this.#u={at:-1/0,sendTime:0}),this.arm())}};var it=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),n=s?.
shift();return n?(s?.length===0&&this.#t.delete(t),e(n),!0):!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();
for(let s of e)s.reject(t)}};var ks=1.024,xs=32,nt=class{edge;transport;token;begun=d();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;histories;featured;ending=new Map;error;ended;#t;#e;#s;#i=new K;#n=new it;#r=new Y;#o;#h=[];#f=new Set;#c=0;#a=!1;#l=!0;#u=!0;#d;constructor(t,e,s,n,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=n;let o=this;this.#s=new st({get unanswered(){return o.#h[0]},
pingFirst:e.fragile?t+r.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.silent(
this),woke:()=>this.#e.woke(this),over:()=>this.fail(new f("timeout","the edge does not answer"))},r),this.featured=new Promise(
a=>{this.#o=a});let h;this.ended=new Promise(a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#s.arrived(d())},line:a=>this.#v(
()=>this.#w(a)),frame:(a,l,c)=>{if(!this.alive||(this.#s.arrived(d()),Pt(a,l,c)))return;let u;try{u=this.#i.decode(a,l,c)}catch(p){
return this.#k(p)}this.#e.delivered(this,u)},ended:a=>{h(),this.#x(a)}}),this.#a=!0,this.alive&&this.#p(`FEATURES:link${r.
sender?",sender":""}`),this.alive&&this.#s.arm()}get lastByte(){return this.#s.heard}request(t,e){t==="SUB"&&this.asked.
add(e);let s=`${t}:${e}`,n=this.#m(s);return this.alive&&this.#p(s),n}resume(t,e){let s=this.#m(`RSUB:${t}`);return this.
alive&&this.#p(`RSUB:${t}:${e}`),s}leave(t){let s=this.request("UNSUB",t).catch(()=>{}).then(()=>{this.ending.get(t)===s&&
this.ending.delete(t)});return this.ending.set(t,s),s}confirm(t,e){if(!this.alive)return Promise.reject(k());let s=this.#r.
add(e,t.length);return this.#p(t),s}forgetConfirm(t){this.#r.settle(t)}confirmedAll(){return this.#r.idle()}postpone(t,e){
this.postponed.add(t);let s=`AGAIN:${t}`,n=setTimeout(()=>this.#n.answer(s,r=>r.resolve()),e);return this.#m(s).finally(
()=>clearTimeout(n))}#m(t){return new Promise((e,s)=>{this.alive?this.#n.add(t,{resolve:e,reject:s}):s(k())})}forget(t){
return this.confirmed.delete(t),this.postponed.delete(t),this.#n.answer(`AGAIN:${t}`,e=>e.reject(k())),this.asked.delete(
t)}ping(t=!1){return new Promise((e,s)=>{if(!this.alive)return s(k());this.#h.push({at:d(),sendTime:this.#c/ks,own:t,resolve:e,
reject:s}),this.#t.send("PING"),this.#c=0,this.#s.probe(),this.#h.length===1&&this.#s.arm()})}publish(t,e){this.#r.note(
t.length,e),this.#p(t);let s=this.#t.sent();return s&&new Promise(n=>{let r=()=>{this.#f.delete(r),n()};this.#f.add(r),s.
then(r,r)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=t,this.#s.stop(),this.#n.reject(k()),this.#r.fail();for(let e of this.#h)
e.reject(k());for(let e of this.#f)e()}#p(t){this.#c+=t.length+xs,this.#t.send(t)}close(){return this.alive&&(this.#b(k()),
this.#t.close()),this.ended}#w(t){this.#s.arrived(d());let e=ie(t);if(e)if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;
if(this.#n.answer(`${e.verb}:${s}`,n=>n.resolve())&&e.verb==="SUB"&&(this.confirmed.add(s),this.postponed.delete(s)),e.verb===
"UNSUB")for(;this.#n.answer(`RSUB:${s}`,n=>n.reject(k())););}else if(e.kind==="OK:PUB")this.#r.settle(e.id,s=>s.resolve(
e.position));else if(e.kind==="OK:RSUB"||e.kind==="AT"||e.kind==="GAP")this.#e.reached(this,e),e.kind==="OK:RSUB"&&this.#n.
answer(`RSUB:${e.tenant}:${e.pattern}`,s=>s.resolve());else if(e.kind==="ERR")this.#y(e.code,e.detail,t.slice(4));else if(e.
kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#h.shift();if(!s)return;let n=d()-s.at;s.resolve(
n),this.#s.ponged(n,s.own),this.#e.roundTrip(n)}else e.kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#e.draining(
this)):e.kind==="FEATURES"?this.#g(e.features.split(",").includes("history")):e.kind==="LINK"&&(this.#u=e.up,this.#l||this.#g())}#g(t=this.
histories??!1){this.#l=!1,this.histories=t,this.#o(),this.link=this.#u,this.#e.linked()}#y(t,e,s){if(this.#l&&t==="bad_r\
equest")return this.#g();let n=L(s);if(n&&(this.#d=s),this.#r.error(t,e))return;let[,r,o]=/^(?:UN|R)?SUB:([^:]+):(.+)$/s.
exec(e)??[];!(r!==void 0&&o!==void 0&&t!=="broker_unavailable"&&this.#n.answer(e,a=>a.reject(new f(t,void 0,{tenant:r,pattern:o}))))&&
!/^(token_|unauthorized|forbidden|closed_by)/.test(t)&&this.#e.errorLine(t,e),(t==="token_revoked"||t==="token_expired")&&
this.fail(n)}#v(t){if(this.alive)try{t()}catch(e){this.#k(e)}}#k(t){this.fail(M(t,"protocol","the edge broke the protoco\
l"))}fail(t){this.#b(t),this.#t.close(),this.#a&&this.#e.lost(this,t)}#x({closeCode:t,error:e}){if(!this.alive)return;let s=this.#d===
void 0?void 0:L(this.#d,t),n=t===4401?"token_expired":t===4403?"token_revoked":"disconnected",r=s?.code!=="slow_consumer"||
t===4429,o="the connection has ended";if(t===1009){o="a message was too large for the edge";let a=this.#r.tooLarge();a&&
this.#e.errorLine("payload_too_large",`PUB:${a.tenant}:${a.channel}`)}let h=s&&r?s:e??new f(n,o,{closeCode:t});this.#b(h),
this.#a&&this.#e.lost(this,h)}#b(t){this.alive=!1,this.error=t,this.#s.stop();let e=k(t);this.#o(),this.#n.reject(e),this.#r.
fail();for(let s of this.#h)s.reject(e);this.#h=[]}};var q=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(n=>n.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var G=globalThis,rt=G.process?.versions,Ts=G.Deno!==void 0||rt?.bun!==void 0||rt?.node!==void 0,xe=rt?.node!==void 0&&rt.
bun===void 0&&G.Deno===void 0&&G.document===void 0,Te=!Ts&&(G.document!==void 0||G.WorkerGlobalScope!==void 0);var zt=32<<20,Ee=(i,t,e)=>e>t&&i[t]<32,ot=class{#t;#e=[];#s=0;constructor(t=zt){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#i(t,e),this.#s>0))){for(;t.length-s>=4;){let n=s+4+this.#o(t,s);if(n>t.length)break;e(t,
s+4,n),s=n}s<t.length&&this.#n(t.slice(s))}}#i(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#n(t.slice(
0,s)),this.#s<4))return s;let n=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(n,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#n(t.slice(s,s+o)),this.#s===r){let h=this.#r();this.#e=[],this.#s=0,e(h,4,r)}return s+o}#n(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new f("protocol","a message that is to\
o long");return s}};var Ae=1<<20,Es=1e3;async function Se({edge:i,token:t,signal:e},{paths:s}){let n=i.replace("http","ws")+s.webSocket,{promise:r,
resolve:o,reject:h}=_s(),a=await As("ws");e.throwIfAborted();let l,c=a?new a(n,{headers:{Authorization:`Bearer ${t}`},perMessageDeflate:!1,
maxPayload:zt}):new WebSocket(n,["llps.v1",`at.${t}`]);a||(c.binaryType="arraybuffer");let u=()=>c.terminate?c.terminate():
c.close(),p=()=>{h(e.reason),u()};e.addEventListener("abort",p);let w=new q,m=!1,g,v;c.on?.("unexpected-response",(b,Ce)=>{
l=Ss(Ce).finally(()=>b.destroy()),l.then(h)});let x;c.on?.("upgrade",b=>{x=b.socket}),c.onerror=({error:b})=>{g=b},c.onopen=
()=>{m=!0,x?.prependListener("data",()=>w.bytes()),e.removeEventListener("abort",p),o({transport:"websocket",fragile:!1,
start:b=>w.start(b),send:b=>m&&c.send(b),sent:()=>m&&c.bufferedAmount>Ae?T():void 0,probe(){},close(){c.close(1e3),v??=setTimeout(
()=>{u(),w.ended({})},Es)}})},c.onclose=({code:b})=>{clearTimeout(v),m?(m=!1,w.ended({closeCode:b})):l||Ms(i+s.ping,a!==
void 0,e,g).then(h,h),e.removeEventListener("abort",p)},c.onmessage=({data:b})=>{typeof b=="string"?w.line(b):b instanceof
ArrayBuffer?w.frame(new Uint8Array(b),0,b.byteLength):w.frame(new Uint8Array(b.buffer,b.byteOffset,b.length),0,b.length)};
async function T(){for(;m&&c.bufferedAmount>Ae;)await new Promise(b=>setTimeout(b,5))}return r}async function As(i){if(xe)
try{let{WebSocket:t}=await import(i);return t}catch(t){if("WebSocket"in globalThis)return;throw new f("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:t})}}async function Ss(i){let t=i.statusCode,e=Number(i.headers["re\
try-after"]),s={status:t,retryAfter:e>0?e*1e3:void 0},n="";try{let r=new TextDecoder;for await(let a of i)if(n+=r.decode(
a,{stream:!0}),n.length>65536)break;let{code:o,detail:h}=JSON.parse(n);if(o==="unauthorized")return new f(o,"the edge do\
es not accept the token",s);if(typeof o=="string")return new f(o,h,s)}catch{}return Qt(t,s.retryAfter)}async function Ms(i,t,e,s){
return!t&&await J(i,e)?new f("refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's o\
rigin"):new f("unreachable","no WebSocket to the edge",{cause:s})}function _s(){let i,t;return{promise:new Promise((s,n)=>{
i=s,t=n}),resolve:i,reject:t}}var Me=1e3,Os=43,Ps=2e3,_e=()=>"WebTransport"in globalThis;async function Oe(i,{paths:t,hashes:e}){let{signal:s}=i,n=[],
r,o=()=>{clearTimeout(r),n.forEach(ht)};s.addEventListener("abort",o);try{let h=await new Promise((l,c)=>{let u=()=>{let p=new WebTransport(
i.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});n.push(p),p.closed.catch(()=>{}),p.ready.then(()=>l(p),c)};
u(),r=setTimeout(u,Ps)});for(let l of n)l!==h&&ht(l);let a=h.closed.then(({closeCode:l,reason:c})=>({closeCode:l,error:L(
`${c}`)}),()=>({}));return await $s(h,a,i.token)}catch(h){throw o(),s.throwIfAborted(),M(h,"unreachable","no WebTranspor\
t to the edge")}finally{clearTimeout(r),s.removeEventListener("abort",o)}}async function $s(i,t,e){let s=await i.createBidirectionalStream(),
n=new q,r=new Ft(s.writable.getWriter()),o=s.readable.getReader(),h,a,l=Is(i);r.send(`AUTH:${e}`);let c=new ot,u=(m,g,v)=>{
if(Ee(m,g,v))return n.frame(m,g,v);let x=N(m.subarray(g,v));if(a)return n.line(x);let T=St(x);T.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:Te,start:b=>n.start(b),send:b=>r.send(b),sent:()=>r.sent,probe:l,close:()=>{r.close().then(()=>ht(
i))}}:T.kind==="ERR"&&(h??=L(x.slice(4))??new f(T.code))},p=async()=>{let{value:m,done:g}=await o.read();return m&&(n.bytes(),
c.push(m,u)),!g},w;for(;!a;)if(!await p().catch(g=>{if(g instanceof f)throw g;return!1}))throw h??Ns(await t);return(async()=>{
try{for(;await p(););}catch(v){v instanceof f&&(w=v)}r.close();let m={error:w},g=t.then(v=>m=v);w||await P(Me,g),ht(i),n.
ended(m)})(),a}function Is(i){let t,e=!1,s=async()=>{let{writable:n,createWritable:r}=i.datagrams;t??=(n??r?.call(i.datagrams))?.
getWriter(),await t?.write(new Uint8Array(Os))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function Ns({
closeCode:i,error:t}){let e=i===4401?"unauthorized":i===1001?"draining":i===1013?"unavailable":"unreachable";return t??new f(
e,"the connection has ended",{closeCode:i})}function ht(i){try{i.close({closeCode:1e3,reason:""})}catch{}}var Ft=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?I(t):t,s=e.length,n=this.#s+
4+s;if(n>this.#e.length){let r=new Uint8Array(Math.max(n,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=n,this.sent??=this.#i()}async#i(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await P(Me,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var Us=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Ht=i=>_e()&&i.startsWith(
"https:"),at=class{#t;#e=new Map;#s=new Set;constructor(t){this.#t=t}forget(){this.#s.clear()}prefer(t,e){this.#e.set(t,
e)}async open(t,e,s,n={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=n,a=o.filter(u=>u===
"websocket"||Ht(t));a.length===0&&y("there is no WebTransport here, or not for http:// addresses");let l=a.filter(u=>!this.#s.
has(u));if(l.length===0)throw new f("protocol_not_allowed");this.#e.get(t)===l[1]&&l.reverse();let c=await $(s,r.connectTimeout,
u=>this.#i(l,t,e,h,u));return this.#e.set(t,c.transport),c}#i(t,e,s,n,r){return new Promise((o,h)=>{let a,l=0,c=0,u,p=!1,
w=()=>{p=!0,clearTimeout(a)},m=()=>{clearTimeout(a);let g=t[c++];if(!g||p)return;let v=g==="websocket"?Se:Oe;l++,v({edge:e,
token:s,signal:r},this.#t).then(x=>{if(p)return Ls(x);w(),o(x)},x=>{l--;let T=M(x,"unreachable","the edge does not answe\
r");if(T.code==="protocol_not_allowed"&&this.#s.add(g),(!u||z(T)>z(u))&&(u=T),!Us.test(T.code)&&(l>0||c<t.length))return m();
w(),h(u)}),c<t.length&&(a=setTimeout(m,n))};r.addEventListener("abort",()=>{w(),h(r.reason)}),m()})}};function Ls(i){i.start(
{bytes(){},line(){},frame(){},ended(){}}),i.close()}function z({code:i}){return["unreachable","timeout","refused","proto\
col_not_allowed"].indexOf(i)>>>0}var Pe=3,Bs=500;async function Kt(i,t,e){let s,n=await Promise.all(i.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await $(e,t.connectTimeout,h=>Cs(o,h))}catch(h){return s=h,[]}})),r=[...new Set(n.flat())];if(e.throwIfAborted(),
r.length===0)throw s??new f("unreachable","the list has no edge");return r.length>1&&(await $(e,t.connectTimeout,o=>Rs(r,
t.paths.ping,o)).catch(()=>{}),e.throwIfAborted()),r}async function Cs(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"\
omit",signal:t});if(!e.ok)throw new f("unreachable",`the list of edges: HTTP status ${e.status}`,{status:e.status});let{
edges:s}=await e.json();return s.map(({host:n})=>F(`https://${n}`,!1).origin)}catch(e){throw M(e,"unreachable","the list\
 of edges")}}async function Rs(i,t,e){let s=new Map,n=async l=>{let c=[];for(;c.length<Pe;){let u=d();if(!await J(l+t,e))
return;c.push(d()-u)}c.sort((u,p)=>u-p),s.set(l,c[Pe>>1])},r=i.map(n),h=Promise.any(r.map((l,c)=>l.then(()=>s.get(i[c])??
Promise.reject()))).then(()=>E(Bs,e));await Promise.race([Promise.all(r),h.catch(()=>Promise.all(r))]);let a=l=>s.get(l)??
Number.MAX_VALUE;i.sort((l,c)=>a(l)-a(c))}var $e=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,qs=/^(unauthorized|token_expired|region_not|protocol_not)/,
Gs=5,Ds=6e4,Ws=12e4,ct=class{#t;#e;#s;#i;#n;#r=[];#o=new Map;#h;#f=0;#c=0;#a=new Map;drained=new Set;constructor(t,e,s,n){
this.#t=t,this.#e=e,this.#s=s,this.#i=n,this.#n=new at(e)}async first(t){await _(this.#s.get(),t),this.#r=await Kt(this.#t,
this.#e,t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(n){if(!(n instanceof f)||$e.test(n.code)||n.
code==="token_provider")throw n;(!e||z(n)>z(e))&&(e=n)}throw e}async*order(t,e,s){for(;;){let n=this.#r.filter(o=>o!==t),
r=e?[t,...n]:n.length<this.#r.length?[...n,t]:n;for(let o of r)r.some(h=>this.wait(h)<this.wait(o))||(yield o);if(this.#t.
some(o=>o.pathname!=="/"))try{this.#r=await Kt(this.#t,this.#e,s)}catch{s.throwIfAborted()}}}wait(t){return Math.max(0,(this.#a.
get(t)??0)-d())}async open(t,e,s){let n=await this.#s.get();try{return await this.#l(t,n,e,s)}catch(r){if(!(r instanceof
f&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;let h=await this.#s.ask();if(h===n)
throw r;return this.#l(t,h,e,s)}}async#l(t,e,s,n){e!==this.#h&&(this.#h=e,this.#o.clear(),this.#n.forget());let r=await this.#n.
open(t,e,s,n).catch(h=>{let{retryAfter:a=0}=h;throw this.#a.set(t,d()+Math.min(a,this.#e.maxBackOff)),h});this.drained.delete(
t),this.#a.delete(t);let o=new nt(t,r,e,this.#i,this.#e);if(o.error)throw o.error;return this.#f=0,this.#o.clear(),o}noteSilent({
edge:t,transport:e,begun:s},n=!1){e!=="webtransport"||!n&&d()-s>=Ws||this.#n.prefer(t,n?e:"websocket")}hopeless(t,e,s){let{
code:n}=e;if(n==="unreachable"&&this.drained.delete(t),n!=="refused")this.#f=0;else{if(s||this.drained.has(t))return!1;this.#f++===
0&&(this.#c=d())}return $e.test(n)||this.#f>=Gs&&d()-this.#c>=Ds?!0:qs.test(n)?(this.#o.set(t,e),this.#r.every(r=>this.#o.
has(r))):!1}};var js=1024,ft=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){if(typeof e!=
"function")throw new f("bad_option",`the handler of ${t} must be a function`);let s=r=>e(r),n=this.#t.get(t)??new Set;return this.#t.
set(t,n.add(s)),()=>{n.delete(s)}}emit(t,e){this.#e.push([t,e])>js&&this.#e.shift(),this.#s||this.#i()}async#i(){this.#s=
!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.get(t[0])??[]])try{await e(t[1])}catch(s){
lt(s)}this.#s=!1}};function lt(i){queueMicrotask(()=>{throw i})}var zs=new TextDecoder,D=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(t,e,s,n,r,o,h,a=""){
this.tenant=t,this.channel=e,this.payload=s,this.pattern=n,this.patterns=r,this.late=o,this.position=h,this.sender=a}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return zs.decode(this.payload)}json(){
return JSON.parse(this.text())}};var ut=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,n=`${e}:${s}`,r=this.#t.
get(n),{history:o}=t,h=r??{name:n,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o};return h.subs.push(t),this.#t.
set(n,h),this.#e++,{interest:h,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){return this.#t.get(t.name)===t}remove(t){
let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.subs.splice(s,1),e.subs.length===
0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(t.name)}dispatch(t,e=!1){let{tenant:s,
channel:n,payload:r,route:o,sender:h}=t,a=o.note?.tenant===s&&o.note.version===this.#e?o.note:this.#s(s,o);for(let{pattern:l,
subs:c,history:u}of a.interests){if(u&&!u.plain)continue;let p=new D(s,n,r,l,o.patterns,e,void 0,h);if(c.length===1)c[0].
push(p);else for(let w of[...c])w.push(p)}}#s(t,e){let s=e.patterns.map(n=>this.#t.get(`${t}:${n}`)).filter(n=>n!==void 0);
return e.note={tenant:t,version:this.#e,interests:s},e.note}};var dt=class{interests=new ut;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){let e=this.interests.all;e.some(
n=>n.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(n=>!n.history);await Promise.all(s.map(n=>this.ask(
t,n)))}async resume(t){await Promise.all(this.interests.all.filter(({history:e})=>e).map(e=>this.ask(t,e)))}stored(t,e,s){
let{tenant:n,channel:r,payload:o,route:h,sender:a}=e,{patterns:l}=h,c=l[0],u=this.interests.of(n,c),{history:p}=u??{};if(!u||
!p?.takes(t,s))return;p.from=s,u.subs[0]?.pushStored(new D(n,r,o,c,l,!1,s,a))===!1&&this.interests.has(u)&&(p.pause(),t.
leave(u.name)),this.#i(u)}reached(t,e){let{kind:s,tenant:n,pattern:r,position:o}=e,h=this.interests.of(n,r),{history:a}=h??
{};if(!(!h||a?.on!==t||!a.open||a.plain)){if(s==="GAP"||a.takes(t,o)){a.from=o;for(let l of h.subs)l.reach(o)}s==="GAP"?
(a.told=!0,this.#e(n,r,o)):s==="OK:RSUB"&&(this.#i(h),e.how==="gap"&&!a.told?this.#e(n,r,o):a.lossy&&this.#e(n,r))}}#e(t,e,s){
this.#t.gaps=!0,this.#t.events.emit("gap",{tenant:t,pattern:e,before:s})}wasRead(t){let e=this.interests.of(t.tenant,t.pattern),
{current:s}=this.#t;!e?.history||e.history!==t.history||(e.history.paused=!1,s&&this.ask(s,e))}ask(t,e){let s=this.#s(t,
e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.history?await this.#n(t,e,e.history):
(await this.#r(t,e),this.#i(e))}catch(s){let n=M(s,"internal","a fault of this client");if(n.code==="disconnected")return;
if(e.confirmed&&this.#t.suspected&&t===this.#t.next)return t.fail(n);this.#o(e,n)}}#i(t){t.confirmed=!0;for(let{resolve:e}of t.
waiting.splice(0))e()}async#n(t,e,s){let{name:n,tenant:r,pattern:o}=e;if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===
t)){s.begin(t);for(let h=2;;){if(await t.featured,await t.ending.get(n),!t.alive||s.on!==t||!this.interests.has(e))return;
let a=!t.histories||s.unwanted,l=s.forbidden?"now":s.from,c=Xt(e);s.lossy=a?c||l!=="now":s.forbidden||c&&l==="now",s.plain=
a,s.open=!0,a&&(s.from="now");try{if(!a)return await t.resume(n,l);if(await t.request("SUB",n),!this.interests.has(e))return;
this.#i(e),s.lossy&&this.#e(r,o);return}catch(u){let p=u;if(p.code==="history_unavailable")return this.#t.gaps=!0,this.#t.
events.emit("edgeError",{code:p.code,detail:`RSUB:${n}`});if(s.open=!1,p.code==="permission_denied"&&!a&&l!=="now")s.forbidden=
!0;else if(p.code==="no_history"&&c)s.unwanted=!0;else if(p.code==="try_later"&&c)h===2&&this.#t.events.emit("subscripti\
onError",{tenant:r,pattern:o,code:p.code}),await t.postpone(n,A(h++,this.#t.settings)),t.postponed.delete(n);else throw p}}}}async#r(t,e){
let{name:s,tenant:n,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){let a=h;if(a.code!=="try\
_later"||!Xt(e))throw a;o===2&&this.#t.events.emit("subscriptionError",{tenant:n,pattern:r,code:a.code})}await t.postpone(
s,A(o,this.#t.settings))}}#o(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:n,subs:r,waiting:o}=t;for(let h of[
this.#t.current,this.#t.next])h?.forget(t.name)&&h.leave(t.name);Xt(t)&&this.#t.events.emit("subscriptionError",{tenant:s,
pattern:n,code:e.code});for(let h of r)h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){let{tenant:e,pattern:s}=t,
n;for(;;){if(this.#t.over)throw this.#t.over;n=this.interests.of(e,s);let a=c=>c?.ending.get(`${e}:${s}`),l=a(this.#t.current)??
a(this.#t.next);if(n||!l)break;await l}if(n&&(n.history||t.history)){let a="the client has a subscription to this patter\
n, and one with a history is alone";throw new f("bad_option",a,n)}let{interest:r,isNew:o}=this.interests.add(t);if(r.confirmed)
return;let h=new Promise((a,l)=>{r.waiting.push({resolve:a,reject:l})});return o&&(this.#t.current&&!this.#t.leaving&&this.
ask(this.#t.current,r),this.#t.next&&!r.history&&this.ask(this.#t.next,r)),h}async leave(t){let e=this.interests.remove(
t);if(!e)return;for(let{resolve:h}of e.waiting.splice(0))h();let{name:s,history:n}=e,o=[this.#t.current,this.#t.next].filter(
h=>h?.forget(s)||h&&n?.on===h).map(h=>h.leave(s));await(this.#t.suspected&&o.length>0?Promise.race(o):Promise.all(o))}queueFull({
tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){for(let s of this.interests.
all){this.interests.drop(s);for(let n of s.subs)n.end(t);for(let{reject:n}of s.waiting.splice(0))n(t??e)}}};function Xt({
subs:i,waiting:t}){return i.length>t.length}var Vt=1e3,pt=class{#t=new S;#e=new S;#s=new S;constructor(t,e,s){for(let{key:n}of t)this.#t.put(n,e);if(s){for(let{key:n,
time:r,message:o}of s.#e.all)this.#e.put(n,r,o);for(let{key:n,time:r}of s.#s.all)this.#s.put(n,r)}}fromCurrent(t,e){let s=O(
t);return this.#s.dropUntil(e-Vt),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=O(t);if(this.#t.
take(s))return;let n=this.#e.put(s,e,{...t});return n&&this.#s.put(n.key,n.time),n?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-Vt)}get nextDue(){let t=this.#e.oldest;return t&&t.time+Vt}};var Ie=15e3,Fs=6e4,mt=class{#t;late;#e;#s;#i=!0;#n=!1;#r=d();#o;#h;constructor(t,e,s,n,r){this.#t=t,this.late=new pt(e,d(),
r?.late),this.#e=s,this.#s=n,this.#o=setTimeout(()=>this.#f(),Ie),r?.stop(),t.handTo(this),t.alive?this.#a():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,d())}hold(t){t!==this.#n&&(this.#n=t,t||this.late.renew(d()),this.#a())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#i=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#f(){let t=Math.
min(this.#t.lastByte+Ie,this.#r+Fs)-d();t>0?this.#o=setTimeout(()=>this.#f(),t):this.#c()}#c(){this.#i&&(this.stop(),this.#a())}#a(){
if(clearTimeout(this.#h),this.#n)return;let{nextDue:t}=this.late;if(t===void 0){this.#i||this.#s();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(d()))this.#e(e);this.#a()},Math.max(1,t-d()))}delivered(t,e){if(e.position!==void 0)return;
let s=this.late.nextDue===void 0,n=this.late.fromTrail(e,d());n&&this.#e(n),s&&this.#a()}woke(t){for(let s of t.asked)t.
request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){return!1}reached(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var wt=class{settings;events;subscriber=new dt(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t){this.settings=le(t),this.
events=new ft(t.on)}setCurrent(t){this.current=t,this.place={edge:t.edge,transport:t.transport},this.linked(),this.#i()}#i(){
for(let t of this.#s.splice(0))t()}changed(){return new Promise(t=>{this.#s.push(t)})}linked(){let{link:t,edge:e}=this.current??
{};!this.since||!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"linkDown",{edge:e}))}reached(t,e){this.
subscriber.reached(t,e)}delivered(t,e){if(e.position!==void 0)return this.subscriber.stored(t,e,e.position);if(!this.merger)
return this.#n(e);let s=d();if(t===this.next){let n=this.current?.confirmed,r=!e.route.patterns.some(h=>n?.has(`${e.tenant}\
:${h}`)),o=this.merger.fromNext(e,s,r);o&&this.#n(o)}else this.both?this.merger.fromCurrent(e,s)&&this.#n(e):(this.merger.
late(e,s)||this.#n(e),this.merger?.done(s)&&(this.merger=void 0))}#n(t){(!this.trail||this.trail.fromCurrent(t))&&this.subscriber.
interests.dispatch(t)}promote(){let{current:t,next:e}=this;e&&(this.setCurrent(e),this.next=void 0,this.merger?.left(d()),
this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),t?.close(),this.subscriber.resume(e))}takeOver(t,e){this.
trail?.hold(!1);let s=new mt(t,this.merger?.given??[],r=>this.subscriber.interests.dispatch(r,!0),()=>{this.trail===s&&(this.
trail=void 0)},this.trail);this.trail=s;let n=d()-t.lastByte;this.suspected=this.next=void 0,this.merger?.left(d()),this.
both=this.tentative=!1,this.setCurrent(e),this.since=d(),this.events.emit("recovered",{...this.place,away:n}),this.giveHeld(),
this.openGate(void 0),this.subscriber.resume(e)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.
merger?.keepCurrent(d()),this.both=this.tentative=!1}giveHeld(){for(let t of this.merger?.release()??[])this.#n(t)}pause(t,e){
return E(t,e,this.#e)}get waits(){return this.#e.size>0}hurry(){for(let t of[...this.#e])t()}openGate(t){this.publishOn=
t;let e=this.gate??[];this.gate=void 0;for(let s of e)s();this.over&&this.#i()}publishConnection(){if(this.over)throw this.
over;let t=this.publishOn??this.current;if(!t?.alive)throw k();return t}};var Hs=500;async function Ne(i,t,e){for(i.events.emit("suspect",i.place),i.gate??=[];i.merger&&!i.merger.done(d());)await E(
50,e);i.merger=new R,i.both=i.tentative=!0;let s=0;for await(let n of i.searcher.order(t.edge,!1,e)){await i.pause(Math.
max(A(++s,i.settings),i.searcher.wait(n)),e);let r;try{r=await i.searcher.open(n,e,{fallbackAfter:Hs})}catch(h){if(e.throwIfAborted(),
h instanceof f)continue;throw h}if(e.aborted)return void r.close();if(!r.alive)continue;i.next=r,i.merger.joined(d());let o=i.
subscriber.restore(r);if(r.ping(!0).catch(()=>{}),await o,e.throwIfAborted(),i.next===r)return i.takeOver(t,r)}}function Ue(i){if(typeof i=="number")return i;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(i);if(!t){let r='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new f("bad_option",r)}let[e=0,s=0,n=0]=t.
slice(1).map(r=>Number(r??0));return(e*60+s)*60+n}var Yt=2**31-1,Le=1e3;function Ks(i,t){return i===1/0?i:Math.max(0,Math.min(i*.9,i>5e3?i-5e3:i)-t*i/10)}var gt=class{#t;#e;#s;#i=new AbortController;#n;#r=d;#o=1/0;#h;#f=!1;#c;#a=-1/0;#l;#u=0;constructor(t,e,s){
this.#t=t,this.#n=t.token,this.#e=e,this.#s=s}get token(){return this.#n}get provided(){return this.#t.tokenProvider!==void 0}get(){
return this.#n!==void 0&&this.#r()<this.#o?Promise.resolve(this.#n):this.ask()}ask(){return this.#h??=this.#d().finally(
()=>{this.#h=void 0,this.#f=!1}),this.#h}async renew(){this.#h&&this.#f&&(this.#c??=this.#h.catch(()=>{}).then(()=>(this.#c=
void 0,this.ask()))),await(this.#c??this.ask()),this.#e()}async#d(){clearTimeout(this.#l);let{tokenProvider:t,connectTimeout:e,
minBackOff:s}=this.#t,{signal:n}=this.#i;try{let r=this.#a+Le-d();r>0&&await E(r,n),this.#f=!0;let h=await $(n,e,a=>_(Promise.
resolve(t?.()),a)).finally(()=>{this.#a=d()});return this.#m(typeof h=="object"?h:{token:h}),this.#n}catch(r){this.#o>0&&
this.#o<1/0&&this.#p(Math.max(s,A(++this.#u+1,this.#t)));let h=r?.name==="LoggedOutError"?new f("logged_out","the token \
provider says that there will be no token",{cause:r}):new f("token_provider","the token provider gave no token",{cause:r});
throw this.#n!==void 0&&!n.aborted&&this.#s(h),h}}#m({token:t,expiresAt:e,expiresIn:s}){let n=s===void 0?1/0:Ue(s)*1e3;n>
0||y("expiresIn must be more than 0");let r=e===void 0||s!==void 0?1/0:new Date(e).getTime();Number.isNaN(r)&&y("expires\
At is no time"),this.#n=Nt(t),this.#r=n<1/0?d:Date.now,this.#o=n<1/0?d()+n:r>Date.now()?r:1/0,this.#u=0,this.#p(Math.max(
Le,Ks(this.#o-this.#r(),Math.random())))}#p(t){this.#i.signal.aborted||!(t<1/0)||(this.#l=setTimeout(()=>{if(t>Yt)return this.#p(
t-Yt);let e=this.#n;this.ask().then(s=>s!==e&&this.#e(),()=>{})},Math.min(Math.max(t,0),Yt)))}expire(){this.provided&&(this.#o=
-1)}stop(){this.#i.abort(),clearTimeout(this.#l)}};var Jt=6e4,Xs=60*Jt,Vs=2*Jt,Ys=1e4,Js=2e3;function Be(i,t){return Math.min((4+2*t)*Jt*2**i,Xs)}var bt=class{#t;#e=0;#s;#i;#n;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#i),t.transport==="webtransport"?(this.stop(),this.#i=setTimeout(()=>{this.#e=0},Vs)):
!this.#s&&this.#r(t)&&this.#o(Be(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
Js,!1)}stop(){this.#n?.abort(),this.#n=void 0,clearTimeout(this.#s),clearTimeout(this.#i),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&Ht(e)}#o(t,e=!0){
clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#n)
return this.#o(Ys,t);if(!this.#r(s)){this.#s=void 0;return}let n=this.#e+Number(t);this.#o(Be(n,Math.random()));let r=new AbortController;
this.#n=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#n===r&&(this.#n=
void 0),r.signal.aborted||(this.#e=n),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>j(e,s,"transport",h,o)):(o?.close(),
e.moveIfDue())}};var Zs=3e3,yt=class extends wt{tokens;searcher;closed;#t;#e=new bt(this);#s;#i;constructor(t,e){super(e),this.tokens=new gt(
this.settings,()=>this.moveIfDue(),s=>this.#n(s)),this.searcher=new ct(t,this.settings,this.tokens,this),this.closed=new Promise(
s=>{this.#i=s})}#n(t){let{code:e,cause:s}=t;e!=="logged_out"?this.events.emit("edgeError",{code:e,detail:"the token prov\
ider gave no token",cause:s}):this.since&&this.finish(t)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||
y("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(t){throw this.over&&t.code!==
"logged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(t){try{let e=await this.
searcher.first(t);if(this.setCurrent(e),t.throwIfAborted(),e.error)throw e.error;this.since=d(),this.#s=ke(this),this.#e.
follow(e),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.
current?.close(),e}}setCurrent(t){super.setCurrent(t),this.since&&this.#e.follow(t)}moveIfDue(){let{current:t}=this;this.#t||
this.over||!t?.alive||(t.drains?this.run(e=>j(this,t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>j(this,t,"toke\
n",e)))}get idle(){let{current:t,merger:e}=this;return!this.#t&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(d()))}run(t){
this.#t?.abort();let e=new AbortController;this.#t=e,t(e.signal).then(()=>{this.#t===e&&(this.#t=void 0,this.current?.alive&&
this.moveIfDue())},s=>{this.#t===e&&this.finish(M(s,"internal","a fault of this client"))})}draining(t){this.searcher.drained.
add(t.edge),t===this.current&&this.moveIfDue()}errorLine(t,e){let[,s,n]=/^PUB:([^:]+):(.+)$/s.exec(e)??[];t==="slow_cons\
umer"?this.events.emit("slowConsumer",{dropped:Number(e)}):t==="egress_limited"?this.events.emit("egressLimited",{delay:Number(
e)*1e3}):s&&n&&t!=="broker_unavailable"?this.events.emit("publishError",{tenant:s,channel:n,code:t}):this.events.emit("e\
dgeError",{code:t,detail:e})}roundTrip(t){this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){let{current:e}=this;
return t===this.next&&this.tentative&&d()-t.lastByte>=Zs&&t.fail(new f("timeout","the edge does not answer")),t!==e||this.#t||
this.gate||this.over||this.reconnecting||!this.since||e.drains?!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.noteSilent(
t),this.run(s=>Ne(this,t,s)),!0)}woke(t){t===this.suspected&&(this.searcher.noteSilent(t,!0),this.#t?.abort(),this.#t=void 0,
this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(
void 0),this.moveIfDue())}lost(t,e){let s=t.token===this.tokens.token,n=/_not_allowed$|^token_revoked$/.test(e.code)||e.
code==="token_expired"&&!this.tokens.provided,r=t===this.next&&this.suspected!==void 0;if(n&&s&&!r)return this.finish(e);
e.closeCode===void 0&&/^(disconnected|timeout)$/.test(e.code)&&this.searcher.noteSilent(t),t===this.next&&!this.leaving?
(this.next=void 0,r?this.merger?.orphan():this.openGate(void 0)):t===this.current&&!this.suspected&&(this.gate||this.publishOn)?
this.promote():(t===this.current||t===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.
close(),this.next=void 0,this.giveHeld()),this.promote(),this.reconnecting||this.run(o=>be(this,t,e,o)))}slept(){for(let t of[
this.current,this.next])t?.awake(!1);this.hurry()}networkChanged(){for(let t of[this.current,this.next])t?.awake(!0);this.
hurry(),this.#e.soon()}finish(t){if(this.over)return;this.over=new f("closed","the client has been closed",t?{cause:t}:{}),
this.#t?.abort(),this.tokens.stop(),this.#e.stop(),this.#s?.();let e=[this.current?.close(),this.next?.close(),this.trail?.
stop()];this.openGate(void 0),t&&(this.giveHeld(),this.trail?.flush()),this.subscriber.end(t,this.over),this.events.emit(
"closed",{error:t}),Promise.all(e).then(()=>this.#i(t))}};var vt=class{#t;#e=new Array(16);#s=0;#i=0;constructor(t){this.#t=t}get size(){return this.#i}get full(){return this.#i>=
this.#t}push(t){let e=this.#e;this.#i===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#i++&this.#e.length-1]=t}shift(){if(this.#i===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#i--,t}clear(){this.#e=new Array(16),this.#s=this.#i=0}};var Qs=1e3,kt=class{tenant;pattern;history;ended;#t;#e;#s;#i=[];#n=!1;#r;#o;#h=0;#f=-1/0;#c;#a;#l;constructor(t,e,s,n){this.
tenant=t,this.pattern=e,this.#t=s,this.#e=n,this.#s=new vt(n.queue);let{from:r}=n;this.history=r===void 0?void 0:new X(r),
r?.includes(".")&&!r.startsWith("last")&&(this.#a=this.#l=r),this.ended=new Promise(o=>{this.#o=o})}get position(){return this.#s.
size===0?this.#a:this.#l}async unsubscribe(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.
onMessage)throw new f("bad_option","a subscription with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.
resolve({done:t,value:void 0});let e=this.#s.shift();return e?(this.#l=e.position??this.#l,this.history?.paused&&this.#s.
size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve({done:!1,value:e})):this.#n?(t=!0,this.#r?Promise.reject(this.#r):
Promise.resolve({done:t,value:void 0})):new Promise((s,n)=>{this.#i.push({resolve:s,reject:n})})},return:async()=>(t=!0,
await this.unsubscribe(),{done:t,value:void 0})}}#u(t){let{onMessage:e}=this.#e;if(e){try{let n=e(t);n instanceof Promise&&
n.catch(lt)}catch(n){lt(n)}return!0}let s=this.#i.shift();return s?.resolve({done:!1,value:t}),s!==void 0}pushStored(t){
if(this.#n)return!0;let e=this.#u(t);return!e&&this.#s.full?(this.#d(),!0):(this.#a=t.position,e?this.#l=t.position:this.#s.
push(t),!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#a=t}#d(){this.end(new f("queue_full","messages were n\
ot read in time",this)),this.#t.leave(this)}push(t){if(this.#n||this.#u(t))return;let{queuePolicy:e}=this.#e;if(!this.#s.
full)return this.#s.push(t);if(e==="end")return this.#d();e==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#h++,
this.#c??=setTimeout(()=>this.#m(),Math.max(0,this.#f+Qs-d()))}#m(){clearTimeout(this.#c),this.#c=void 0,this.#f=d(),this.#h>
0&&this.#t.queueFull(this,this.#h),this.#h=0}end(t){if(!this.#n){this.#n=!0,this.#r=t,t||this.#s.clear(),this.#m();for(let e of this.#i.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#o(t)}}};async function ti(i,t){let e=typeof i=="string"?[i]:i;(!t||!e?.length)&&y("connect needs an address and options");let s=new yt(
e.map(r=>F(r,t.allowPlaintext===!0)),t),{signal:n=new AbortController().signal}=t;return n.throwIfAborted(),await _(s.start(
n),n),new xt(s)}var xt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let n=this.#t;C("the object of options",s,"onMessage history queue queuePolicy");let{onMessage:r}=s;r&&typeof r!="functi\
on"&&y("onMessage must be a function");let o=new kt(Ut(t),me(e),n.subscriber,{...It(s,n.settings),onMessage:r,from:de(s.
history,e)});return await n.subscriber.subscribe(o),o}async publish(t,e,s,n){let r=this.#t;n!==void 0&&C("the object of \
options",n,"delivery confirm key");let{delivery:o="broadcast",confirm:h=!1,key:a}=n??{},l=_t.indexOf(o);l<0&&y(`delivery\
: allowed are ${_t.join(", ")}`),typeof s!="string"&&s?.[Symbol.toStringTag]!=="Uint8Array"&&y("the payload must be a Ui\
nt8Array or a string");let c={tenant:Ut(t),channel:pe(e)};if(h){let p=I(a??"");return a!==void 0&&!(p.length>0&&p.length<=
64)&&y("a key has 1 to 64 bytes"),ee(r,m=>Ot(c.tenant,c.channel,s,l,{id:m,key:p}),a!==void 0,c)}a!==void 0&&y("a key is \
for a publish that is confirmed");let u=Ot(c.tenant,c.channel,s,l||void 0);return r.publishConnection(),r.gate?new Promise(
(p,w)=>{r.gate?.push(()=>{try{p(r.publishConnection().publish(u,c))}catch(m){w(m)}})}):r.publishConnection().publish(u,c)}async flush(){
let t=this.#t;t.publishConnection(),t.gate&&await new Promise(e=>t.gate?.push(e)),await t.publishConnection().ping()}renewToken(){
return this.#t.renewToken()}retry(){this.#t.retry()}async close(){this.#t.finish(void 0),await this.closed}[Symbol.asyncDispose](){
return this.close()}};export{xt as Client,Tt as LoggedOutError,f as MillraceError,Re as channelToken,ti as connect};
