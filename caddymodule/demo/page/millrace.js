// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var u=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(t,e="\
the edge says so",s={}){let n=["tenant","channel","pattern"].map(o=>s[o]===void 0?"":` (${o} ${JSON.stringify(s[o])})`),
r=t==="unreachable"?me(s.cause):"";super(`${t}${n.join("")}: ${e}${r&&`: ${r}`}`,"cause"in s?{cause:s.cause}:void 0),this.
code=t,this.tenant=s.tenant,this.pattern=s.pattern,this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode,
this.retryAfter=s.retryAfter}};function me(i){let{message:t,code:e,cause:s}=i??{};return`${(s?me(s):"")||t||e||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}var Wt=class extends Error{name="LoggedOutError"};function S(i,t,e){return i instanceof u?i:new u(t,e,{cause:i})}function x(i){
return new u("disconnected","there is no connection to an edge",i===void 0?{}:{cause:i})}function K(i,t){let e;try{e=new URL(i)}catch{}if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.search||e.
hash)throw new u("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!rs(e.hostname))throw new u("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function rs(i){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(i)}var p=()=>performance.now(),U=i=>i.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function k(i){
if(i.aborted)throw U(i)}function T(i,t,e=new Set){return new Promise((s,n)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),n(U(t))},h=()=>{r(),s()},a=setTimeout(h,i);e.add(h),t.addEventListener("abort",o),t.aborted&&
o()})}async function N(i,...t){let e,s=new Promise(n=>{e=setTimeout(n,i)});await Promise.race([s,...t]).catch(()=>{}),clearTimeout(
e)}async function B(i,t,e){k(i);let s=new AbortController,n=h=>{"reason"in s.signal||Object.assign(s.signal,{reason:h}),
s.abort(h)},r=()=>n(U(i)),o=setTimeout(()=>n(new u("timeout","the edge does not answer")),t);i.addEventListener("abort",
r);try{return await e(s.signal)}finally{clearTimeout(o),i.removeEventListener("abort",r),s.abort()}}function M(i,t){return new Promise(
(e,s)=>{let n=()=>s(U(t));t.aborted&&n(),t.addEventListener("abort",n),i.then(e,s).finally(()=>t.removeEventListener("ab\
ort",n))})}function E(i,t){return i<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(i-2,30))}var os=1e5,hs=new Set(["unconfirmed","history_unavailable","try_later"]),qt=0;async function we(i,t,e,s){qt=qt+1>>>0;let n=qt,
r=t(n),o=!1,h=new AbortController,a=setTimeout(()=>h.abort(x()),os),c;try{for(let l=2;;l++){c=await as(i,e,h.signal,s);try{
return await M(c.confirm(r,n),h.signal)}catch(f){let{code:d}=f,m=d==="disconnected";if(o||=m||d==="unconfirmed",k(h.signal),
!(o&&e&&(m||hs.has(d))))throw new u(d,void 0,s);m||await T(E(l,i.settings),h.signal)}}}catch(l){throw o?new u("outcome_u\
nknown","no edge has said whether the message is stored",{...s,cause:l}):l}finally{clearTimeout(a),c?.forgetConfirm(n)}}
async function as(i,t,e,s){for(;;){if(i.over)throw i.over;if(i.gate){await M(new Promise(r=>i.gate?.push(r)),e);continue}
let n=i.publishOn??i.current;if(n?.alive)if(n.features===void 0)await M(n.featured,e);else{if(n.features.includes("histo\
ry"))return n;throw new u("no_history","the edge has no histories, and confirms nothing",s)}else{if(!t)throw x();await M(
i.changed(),e)}}}var ge,be,Dt=1024,cs=["PING","PONG","RECONNECT","OK:AUTH"],fs=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,
ls=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function L(i){return ge??=new TextEncoder,ge.encode(i)}function P(i){be??=new TextDecoder(
"utf-8",{fatal:!0,ignoreBOM:!0});try{return be.decode(i)}catch(t){throw new u("protocol","text that is not UTF-8",{cause:t})}}
var us=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifia\
ble",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function R(i,t){let[e,s,...n]=i.split(
":"),r=us.get(e);if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new u(`${s}_not_allowed`,n.join(":")||
void 0,o):new u(e,void 0,o)}function Gt(i){if(cs.includes(i))return{kind:i};if(/^LINK:(up|down)$/.test(i))return{kind:"L\
INK",up:i==="LINK:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(i)?.[1];if(t&&i.length<=Dt)return{kind:"FEAT\
URES",features:t};let e=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(i),s=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(
i);if((e||s)&&(i.length<=Dt/3||L(i).length<=Dt)&&!i.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}let n=ds(
i);if(n)return n;throw new u("protocol","a line that is none")}function ds(i){let[,t,e="",s="",n="",r]=fs.exec(i)??[];if(t&&
X(n)&&t==="OK:RSUB"==(r!==void 0))return r?{kind:t,tenant:e,pattern:s,position:n,how:r}:{kind:t,tenant:e,pattern:s,position:n};
let[,o,h]=ls.exec(i)??[];if(!(o===void 0||Number(o)>4294967295||h!==void 0&&!X(h)))return h===void 0?{kind:"OK:PUB",id:Number(
o)}:{kind:"OK:PUB",id:Number(o),position:h}}function X(i){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(i)??[];return t!==void 0&&e!==void 0&&ye(t)&&ye(e)}var ye=i=>i.length<20||i<="18446744073709551615";function ve(i){
try{return Gt(i)}catch{return}}var zt=["broadcast","one-nearest","one-random"];function Ft(i,t,e,s,n){let r=typeof e=="string"?L(e):e,o=n?7+n.key.length:
s===void 0?0:2,h=new Uint8Array(o+4+i.length+t.length+r.length);return o>0&&(h[0]=n?3:2,h[1]=s??0),n&&(new DataView(h.buffer).
setUint32(2,n.id),h[6]=n.key.length,h.set(n.key,7)),h.set(r,ke(h,ke(h,o,i),t)),h}function ke(i,t,e){i[t++]=e.length>>8,i[t++]=
e.length;for(let s=0;s<e.length;s++)i[t++]=e.charCodeAt(s);return t}var Ee=1,Se=2,Ht=24,ps=128,ms={4:Ee|Se,5:7};function Kt(i,t,e){
if(t===e||i[t]===1)return!1;let s=ms[i[t]];return s===void 0||t+1<e&&(i[t+1]&~s)!==0}var V=class{#t=new G;#e=new G;#s=new G;#i={};decode(t,e,s){
let n=b=>{b>s&&_()},r=b=>(n(b+2),t[b]<<8|t[b+1]);(e===s||t[e]===5||Kt(t,e,s))&&_();let o,h="";if(t[e]===4){let b=r(e)&255;
if(b===0&&_(),e++,b&Ee&&(n(e+1+Ht),o=ws(t,e+1),e+=Ht),b&Se){n(e+2);let y=e+2;e=y+t[e+1]-1,e-y>=ps&&_(),n(e+1),h=this.#s.
of(t,y,e+1,()=>P(t.subarray(y,e+1)))}}let a=o!==void 0,c=e+3+r(e+1),l=c+2+r(c),f=l+4;n(f);let d=f+r(l)*65536+r(l+2);(r(d)===
0||a&&r(d)!==1)&&_();let m=this.#t.of(t,e+1,l,()=>[P(t.subarray(e+3,c)),P(t.subarray(c+2,l))]),w=this.#i;return w.tenant=
m[0],w.channel=m[1],w.payload=t.subarray(f,d),w.route=this.#e.of(t,d,s,()=>{let b=[],y=d+2;for(let A=r(d);A>0;A--){let g=y+
2+r(y);n(g),b.push(P(t.subarray(y+2,g))),y=g}return y!==s&&_(),{patterns:Object.freeze(b),note:void 0}}),w.position=o,w.
sender=h,w}};function ws(i,t){let e=new DataView(i.buffer,i.byteOffset+t,Ht);return`${xe(e,0)}${xe(e,4)}.${Te(e,8)}.${Te(
e,16)}`}var xe=(i,t)=>i.getUint32(t).toString(16).padStart(8,"0");function Te(i,t){let e=i.getUint32(t);return e<2097152?
String(e*4294967296+i.getUint32(t+4)):String(i.getBigUint64(t))}function _(){throw new u("protocol","a frame that is non\
e")}var gs=256,bs=1024,G=class{#t=[];of(t,e,s,n){let r=0;for(let c=e;c<s;c++)r=Math.imul(r,31)+t[c]|0;let o=(r^r>>>8)&gs-
1,h=this.#t[o];if(h&&ys(h.bytes,t,e,s))return h.value;let a=n();return s-e<=bs&&(this.#t[o]={bytes:t.slice(e,s),value:a}),
a}};function ys(i,t,e,s){if(i.length!==s-e)return!1;for(let n=0;n<i.length;n++)if(i[n]!==t[e+n])return!1;return!0}function $(i,t,e){let s=typeof t=="object"&&t!==null,n=s?Object.keys(t).find(o=>!e.split(" ").includes(o)):"";if(n===void 0)
return;let r=s?`has no ${JSON.stringify(n.slice(0,32))}`:"must be an object";throw new u("bad_option",`${i} ${r}: allowe\
d are ${e.replaceAll(" ",", ")}`)}var J={options:"",socket:(i,t,{webSocket:e=WebSocket})=>new e(i,["llps.v1",`at.${t}`]),fetch:(i,t,e)=>fetch(i,e),proxied:()=>!1};function Y(i,t="token"){if(typeof i=="string"&&/^[\w.~+-]{1,512}$/.test(i))return i;let e=`a ${t} is a string of 1 to 51\
2 letters, digits and .~_+-`,s=/\s/.test(`${i}`)?": this one has white space, such as a line break from a file":"";throw new u(
"bad_option",e+s)}var vs=["drop-oldest","drop-newest","end"],Ae=["webtransport","websocket"];function v(i){throw new u("bad_option",i)}function C(i,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&v(`${i} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function Oe(i,t,e){return e.includes(t)||v(`${i}: allowed are ${e.join(", ")}`),t}function Vt(i,t){return{queue:Math.ceil(
C("queue",i.queue,t.queue)),queuePolicy:Oe("queuePolicy",i.queuePolicy??t.queuePolicy,vs)}}var ks="token tokenProvider t\
ransports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintex\
t serverCertificateHashes sender signal on webSocket";function Me(i,t=J){$("the object of options",i,ks+t.options),$("pa\
ths",i.paths??{},"webSocket webTransport ping");let{token:e,tokenProvider:s,transports:n=Ae,sender:r=!1,webSocket:o}=i;e===
void 0==(s===void 0)&&v("one of token and tokenProvider is needed"),s!==void 0&&typeof s!="function"&&v("tokenProvider m\
ust be a function"),typeof r!="boolean"&&v("sender must be true or false"),o!==void 0&&typeof o!="function"&&v("webSocke\
t must be a class"),n.length===0&&v("transports must not be empty");for(let a of n)Oe("transports",a,Ae);"TextEncoder"in
globalThis&&"TextDecoder"in globalThis||v("TextEncoder and TextDecoder are missing");let h=C("minBackOff",i.minBackOff,250);
return{token:e===void 0?void 0:Y(e),tokenProvider:s,transports:[...new Set(n)],fallbackAfter:C("fallbackAfter",i.fallbackAfter,
2e3),connectTimeout:C("connectTimeout",i.connectTimeout,1e4),keepAlive:C("keepAlive",i.keepAlive,25e3,-1/0),pongTimeout:C(
"pongTimeout",i.pongTimeout,1e4),minBackOff:h,maxBackOff:Math.max(h,C("maxBackOff",i.maxBackOff,15e3)),...Vt(i,{queue:1024,
queuePolicy:"drop-oldest"}),sender:r,paths:{webSocket:Xt(i.paths?.webSocket??"/ws"),webTransport:Xt(i.paths?.webTransport??
"/wt"),ping:Xt(i.paths?.ping??"/ping")},allowPlaintext:i.allowPlaintext===!0,hashes:i.serverCertificateHashes,webSocket:o,
proxy:i.proxy,runtime:t}}function Xt(i){return/^\/[^?#]*$/.test(i)||v("paths must start with a slash"),i}var _e=1e5;function Pe(i,t){if(i===void 0||i==="now"||i==="last")return i;let{last:e,after:s}=i;return typeof s=="string"&&
e===void 0&&X(s)?s:((!Number.isInteger(e)||e<1||e>_e||s!==void 0)&&v(`history is "now", "last", { last: 1 to ${_e} } or \
{ after: position }`),/[*>#]/.test(t)&&v("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}
var Z=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){this.from=t}get refusal(){
return this.forbidden?"permission_denied":this.plain?"no_history":void 0}begin(t){this.on=t,this.open=this.forbidden=this.
unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(t,e){return this.on===t&&this.open&&!this.
plain&&!xs(e,this.from)}};function xs(i,t){let[e,s=""]=i.split("."),[n,r]=t.split(".");return e===n&&r!==void 0&&(s.length===
r.length?s<=r:s.length<r.length)}var Q=class{tenant;channel;ended;verb="JOIN";#t;#e;constructor(t,e,s){this.tenant=t,this.channel=e,this.#t=s,this.ended=
new Promise(n=>{this.#e=n})}async leave(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(t){this.#e(t)}};var tt="[\\w\\-~@]+",Ts=/^[\w\-~@.]{1,128}$/,Es=new RegExp(`^(?=.{1,256}$)${tt}(\\.${tt}){0,31}$`),Ss=new RegExp(`^(?=.{\
1,256}$)((${tt}\\*?|\\*)\\.){0,31}(${tt}[*>#]?|[*>#])$`),As=i=>Ts.test(i),Os=i=>Es.test(i),Ms=i=>Ss.test(i),_s="~";function H(i){
return Zt("tenant",As,i===""?_s:i)}function Jt(i,t){return Zt("channel",Os,i,t)}function Yt(i,t){return Zt("pattern",Ms,
i,t)}function Zt(i,t,e,s){if(typeof e!="string"||!t(e)){let n={...s===void 0?{}:{tenant:s},[i]:String(e).slice(0,256)};throw new u(
`bad_${i}`,"not a legal name, see docs/protocol.md, Names",n)}return e}var Ps=1024,et=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){if(typeof e!=
"function")throw new u("bad_option",`the handler of ${t} must be a function`);let s=r=>e(r),n=this.#t.get(t)??new Set;return this.#t.
set(t,n.add(s)),()=>{n.delete(s)}}emit(t,e){this.#e.push([t,e])>Ps&&this.#e.shift(),this.#s||this.#i()}async#i(){this.#s=
!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.get(t[0])??[]])try{await e(t[1])}catch(s){
j(s)}this.#s=!1}};function j(i){queueMicrotask(()=>{throw i})}var st=(i,t)=>i===t||typeof i=="object"&&typeof t=="object"&&i.text===t.text,Qt=i=>i.includes(":"),it=class{members=new Map;counts=new Map;get(t){
return Qt(t)?this.members.get(t):this.counts.get(t)??0}count({channel:t,members:e}){e>0?this.counts.set(t,e):this.counts.
delete(t)}put(t,e){let{channel:s,subject:n,here:r,since:o,info:h}=e,a=this.members.size;if(r){let l={channel:s,subject:n,
info:$s(h),since:new Date(o)};this.members.set(t,{member:l,text:`${o} ${h}`})}else this.members.delete(t);let c=(this.counts.
get(s)??0)+this.members.size-a;this.count({channel:s,members:c})}};function $s(i){try{return i?JSON.parse(i):void 0}catch{
return}}var nt=class{#t;#e=new WeakMap;#s=new it;#i=new Map;#n;#r;constructor(t){this.#t=t}get members(){return this.#n??=
Object.freeze([...this.#s.members.values()].map(({member:t})=>t).sort((t,e)=>$e(t.channel,e.channel)||$e(t.subject,e.subject))),
this.#n}get counts(){return this.#r??=new Map([...this.#s.counts,...this.#i].filter(([,t])=>t>0)),this.#r}get(t){return this.#i.
get(t)??this.#s.get(t)}begin(t){this.#e.set(t,{roster:void 0,next:void 0})}end(t){this.#e.delete(t)}hasSynced(t){return this.#e.
get(t)?.roster!==void 0}take(t,e,s,n){let r=this.#e.get(t);if(!r)return;let{first:o,synced:h,counts:a,channels:c,members:l}=s;
if(a&&!n){if(t===e)for(let m of c)this.#f(m.channel,!0,()=>this.#o(m));return}o&&(r.next=new it);let f=r.next??r.roster;
if(!f)return;let d=(m,w)=>{f===this.#s?this.#f(m,!1,w):w()};for(let m of c)d(m.channel,()=>f.count(m));for(let m of l){let{
channel:w,subject:b}=m,y=`${w}:${b}`;d(w,()=>d(y,()=>f.put(y,m))),f===this.#s&&f.get(w)===this.#i.get(w)&&this.#i.delete(
w)}h&&(r.roster=f,r.next=void 0,t===e&&(this.follow(t),this.#h()))}follow(t){let e=this.#e.get(t)?.roster,s=this.#s;if(!(!e||
e===s)){this.#s=e,this.#c();for(let{members:n,counts:r}of[s,e])for(let o of[...n.keys(),...r.keys()])!this.#i.has(o)&&!st(
s.get(o),e.get(o))&&this.#a(o,s.get(o),!1);this.#h()}}#o({channel:t,members:e}){e===this.#s.get(t)?this.#i.delete(t):this.#i.
set(t,e)}#h(){for(let t of[...this.#i.keys()])this.#f(t,!0,()=>this.#i.delete(t))}#f(t,e,s){let n=this.get(t);s(),this.#c(),
st(n,this.get(t))||this.#a(t,n,e)}#c(){this.#n=this.#r=void 0}#a(t,e,s){for(let n of this.#t)n.note(t,e,s)}},$e=(i,t)=>i<
t?-1:i>t?1:0;var Us=Object.freeze([]),rt=class{tenant;pattern;ended;verb="WHO";count;watch;#t;#e;#s=new Map;#i=[];#n=!1;#r=!1;#o=!1;#h=!1;#f;#c;constructor(t,e,s,{
count:n=!1,onChange:r}){this.tenant=t,this.pattern=e,this.count=n,this.#t=s,this.#e=r,this.ended=new Promise(o=>{this.#c=
o})}get members(){return this.count?Us:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#h&&
this.#t.isSynced(this)}async close(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let t=!1;return{next:()=>{let e=t?void 0:this.#a();if(e)return Promise.resolve({done:!1,value:e});if(!t&&
!this.#h)return new Promise((n,r)=>{this.#i.push({resolve:n,reject:r})});let s=t?void 0:this.#f;return t=!0,s?Promise.reject(
s):Promise.resolve({done:t,value:void 0})},return:async()=>(t=!0,await this.close(),{done:t,value:void 0})}}#a(){for(let[
t,e]of this.#s){this.#s.delete(t);let s=this.watch.get(t);if(typeof s=="number")return{type:"counts",channel:t,count:s};
let{member:n}=s??e;return{type:s?e?"changed":"joined":"left",channel:n.channel,member:n}}}note(t,e,s){this.#r=!0,!(!this.#n||
!(Qt(t)?!this.count:this.count||s))&&(this.#s.has(t)?st(this.#s.get(t),this.watch.get(t))&&this.#s.delete(t):this.#s.set(
t,e))}opened(){this.#n=this.#o=!0,this.#r=!1}update(){for(;this.#i.length>0;){let s=this.#a();if(!s)break;this.#i.shift()?.
resolve({done:!1,value:s})}let{synced:t}=this,e=this.#h&&!this.#f;if(this.#n&&!e&&(this.#r||t!==this.#o))try{this.#e?.(this)}catch(s){
j(s)}this.#r=!1,this.#o=t}end(t){if(!this.#h){this.#h=!0,this.#f=t,t||this.#s.clear(),this.update();for(let e of this.#i.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};function I({tenant:i,channel:t,payload:e}){let s=`${i}:${t}:`;for(let n=0;n<e.length;n+=1024)s+=String.fromCharCode(...e.
subarray(n,n+1024));return s}var O=class{size=0;#t=0;#e=[];#s=0;#i=new Map;get oldest(){for(;this.#e[this.#s]?.entry===void 0&&
this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.flatMap(({entry:t})=>t??[])}put(t,e,s){
this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=0);let n={entry:{key:t,time:e,message:s}};
this.#e.push(n);let r=this.#i.get(t);return r?r.push(n):this.#i.set(t,[n]),this.size++,this.#t+=t.length,this.size>65536||
this.#t>16777216?this.drop():void 0}take(t){let e=this.#i.get(t),s=e?.shift();return!e||!s?!1:(e.length===0&&this.#i.delete(
t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;return t&&this.take(t.key),t}dropUntil(t){let e=[];
for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&e.push(s.message);return e}};var Ue=1e3,Is=1e4,W=class{#t=new O;#e=new O;#s=new O;#i=Ue;#n;joined(t){this.#n=t}left(t){this.#i+=this.#r(t),this.#n=void 0}#r(t){
return this.#n===void 0?0:Math.min(t-this.#n,Is-Ue)}fromCurrent(t,e){let s=I(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(I(t),e),t;let n=this.#e.put(
I(t),e,{...t});return n&&this.#s.put(n.key,e),n?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(I(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new O;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#n=void 0,this.#t=new O;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new O}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#i-this.#r(
t))}};var ot=250,ht=2e3;async function z(i,t,e,s,n){for(;i.merger&&!i.merger.done(p());)await T(50,s);i.merger=new W,i.both=!0;
let r=n!==void 0;i.tentative=r;let{place:o}=i,h=!1,a=()=>{h||i.events.emit("moving",{...o,reason:e}),h=!0};r||a();let c=0;
for await(let l of i.searcher.order(t.edge,e!=="drain",s)){let f=n;if(n=void 0,!f){await i.pause(Math.max(E(++c,i.settings),
i.searcher.wait(l)),s);try{f=await i.searcher.open(l,s)}catch(d){if(k(s),!(d instanceof u)||i.searcher.hopeless(l,d,!0))
throw d;continue}}if(s.aborted)return void f.close();if(f.alive){i.next=f,i.merger.joined(p()),i.merger.release();let d=i.
restore(f);i.tentative&&f.ping().catch(()=>{}),await d}if(i.tentative){if(k(s),i.next!==f)return i.keepCurrent();i.tentative=
!1}if(f.alive){if(await Ns(i,t,f,a,s),k(s),i.current!==f){if(r)return i.keepCurrent();continue}f.alive&&(a(),i.since=p(),
i.events.emit("moved",{...i.place,reason:e}));return}}}async function Ns(i,t,e,s,n){let r=()=>i.next===e&&i.current===t;
if(!r())return;i.gate??=[];let o=N(ht,t.ping()).then(()=>{r()&&i.openGate(e)}),h=3;do await T(ot,n);while(--h&&i.merger?.
behind);await N(ht,Promise.all([...i.subscriber.asking,...i.presences.asking]));for(let c=ht;c>0&&r()&&!i.presences.hasSynced(
e);c-=ot)await T(ot,n);for(;r()&&e.postponed.size>0;)await T(ot,n);if(!r())return;s(),i.leaving=!0;let a=[...t.asked].map(
c=>t.leave(c));await N(ht,t.ended,Promise.allSettled([...a,t.ping(),t.confirmedAll()])),await o,r()&&i.promote(),i.leaving=
!1}var ft=2e3,ne=1e3,at=new Set,te,lt=0,ee=0,se=0,Ie=-1/0,dt=i=>i>se&&i<Ie+ne?se:i;function Bs(i,t){return i>=ne+ft||t-i>=ft}
function re(){let i=p()-lt,t=Date.now()-ee;Bs(i,t)&&(ct.document?.visibilityState==="hidden"?ut("slept"):ie()),lt+=i,ee+=
t}function Ne(i){return at.add(i),te??=Ls(),()=>{!at.delete(i)||at.size>0||(te?.(),te=void 0)}}function ie(){se=lt,Ie=p(),
ut("slept")}function ut(i){for(let t of[...at])t[i]()}var ct=globalThis;function Ls(){lt=p(),ee=Date.now();let i=setInterval(
re,ne),{document:t,navigator:e}=ct,s=()=>{t?.visibilityState==="visible"&&ut("slept")},n=()=>ut("networkChanged"),r=e?.connection,
o=r?.type,a=[[ct,"online",n],[r,"change",()=>{r?.type!==o&&(o=r?.type,n())}],[ct,"pageshow",ie],[t,"resume",ie],[t,"visi\
bilitychange",s]];for(let[c,l,f]of a)c?.addEventListener?.(l,f);return()=>{clearInterval(i);for(let[c,l,f]of a)c?.removeEventListener?.(
l,f)}}var Cs=1e4;async function Be(i,t,e,s){let{lastByte:n}=t;i.reconnecting=!0,i.current=void 0,i.merger=void 0,i.both=i.leaving=
i.tentative=i.gaps=!1,i.openGate(void 0);for(let r of i.subscriber.interests.all)r.confirmed=!1;i.presences.follow(),i.events.
emit("disconnected",{...i.place,error:e}),e.code==="token_expired"&&t.token===i.tokens.token&&i.tokens.expire(),p()-i.since>
Cs&&(i.attempts=0);for await(let r of i.searcher.order(t.edge,!1,s)){let o=++i.attempts,h=Math.max(E(o,i.settings),i.searcher.
wait(r));i.events.emit("reconnecting",{attempt:o,delay:h}),await i.pause(h,s);try{let a=await i.searcher.open(r,s);if(s.
aborted)return void a.close();if(i.setCurrent(a),await i.restore(a),k(s),!a.alive)continue;i.reconnecting=!1,i.since=p();
let c=!i.gaps&&i.subscriber.interests.all.every(l=>l.history);return i.events.emit("reconnected",{...i.place,away:p()-dt(
n),complete:c})}catch(a){if(k(s),!(a instanceof u)||i.searcher.hopeless(r,a,!1))throw a}}}var Rs=4096,pt=class{#t=new Map;#e=[];#s=0;#i;add(t,e){return this.note(e),new Promise((s,n)=>{this.#t.set(t,{resolve:s,
reject:n,size:e})})}note(t,e){t<=Rs||t<this.#s||(this.#i=t>this.#s?e:this.#i??e,this.#s=t)}tooLarge(){for(let[t,{size:e}]of this.#t)
e===this.#s&&this.error("payload_too_large",`PUB:${t}`);return this.#i}settle(t,e=()=>{}){let s=this.#t.get(t);if(s&&e(s),
this.#t.delete(t),this.#t.size===0)for(let n of this.#e.splice(0))n()}error(t,e){let s=/^PUB:(\d+)$/.exec(e)?.[1];return s===
void 0?!1:(this.settle(Number(s),n=>n.reject(new u(t))),!0)}get owed(){return this.#t.size>0}idle(){return this.#t.size===
0?Promise.resolve():new Promise(t=>{this.#e.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(x()))}};async function mt(i,t,e){try{let s=await t.runtime.fetch(i,t,{cache:"no-store",credentials:"omit",signal:e});return await s.
arrayBuffer(),s.ok}catch{return!1}}async function Le(i,t,e){try{return await t.runtime.fetch(i,t,{cache:"no-store",credentials:"\
omit",mode:"no-cors",signal:e}),!0}catch{return!1}}var wt=class{#t;#e=0;#s=0;#i=0;#n=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#i=this.#n=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#n=this.#i,this.#i=0,this.#e=
t),e>this.#i&&(this.#i=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#i,this.#n)))}};var js=.9765625,Ws=1e3,qs=32,gt=class{#t=0;#e=0;#s=0;#i=0;#n;#r;#o=js;publish(t,e){let s=this.#t++===this.#e;return this.#h(
t,e,s),s}request(t,e,s){let n=this.waits(s)===void 0;return this.#h(t,e,n),n}#h(t,e,s){this.#i+=t+qs,this.#r??=e,s&&(this.#n=
e)}waits(t){return this.#t===this.#e&&t>=(this.#n??t)?void 0:this.#n}mark(){let t={publishes:this.#t,bytes:this.#i,first:this.#r};
return this.#e=this.#t,this.#i=0,this.#n=this.#r=void 0,t}proven({publishes:t,bytes:e,first:s},n){this.#s=Math.max(this.#s,
t),s!==void 0&&(this.#o=Math.min(this.#o,(n-s+Ws)/e))}sendTime({bytes:t}){return t*this.#o}told(){this.#s++}take(){let t=this.#t-
this.#s;return this.#s=this.#t,t}};var bt=1e3,oe=1e3,Hs=3,zs=2**31-1,he=50,yt=class{heard=p();#t;#e;#s=new wt(this.heard);#i=1+Math.random()/16;#n=-1/0;#r=!1;#o;#h=0;#f=0;#c=0;#a=-1/0;#l=-1/0;#u;#d;#p;#m=!1;constructor(t,e){
this.#t=t,this.#e=e}arrived(t){this.heard=t,this.#u=void 0,this.#d?.abort(),this.#d=void 0,(this.#r?this.#s.skip(t):this.#s.
arrived(t))&&this.arm(),this.#r&&(this.#r=!1,this.#t.woke())}active(t){let e=this.#y;this.#n=t,e||this.arm()}get#y(){return this.
heard-this.#n<1e4}ponged(t){this.#c=0;let e=Math.min(t,2*this.#v);this.#o===void 0?(this.#o=e,this.#h=e/2):(this.#h+=(Math.
abs(this.#o-e)-this.#h)/4,this.#o+=(e-this.#o)/8),this.arm()}awake(t){let e=p();this.#w||(this.#c=0),!(this.#m||this.#c++>=
Hs)&&(this.#f=e,this.#e.keepAlive>0&&!this.#w&&(t||e-this.heard>=bt)&&this.#b(e),this.arm())}stop(){this.#m=!0,this.#d?.
abort(),clearTimeout(this.#p)}get#w(){return this.#t.unanswered??this.#u}get#v(){return Math.max(bt,(this.#o??0)+4*this.#h)}get askAt(){
let{keepAlive:t}=this.#e;if(t<0)return 1/0;let e=this.#y?this.#s.unusual:1/0,s=Math.min(t,e,this.#t.owed?3e3:1/0),n=this.#t.
unreadSince??1/0;return Math.min(this.heard+s*this.#i,n+Math.min(1e3,t))}suspectAt({at:t,sendTime:e}){return Math.max(t,
this.heard,this.#f)+(this.#u?bt:this.#v)+e}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:n}=this.#e;if(s<0)return 1/0;
let r=Math.max(this.heard,this.#f);return Math.max(t+n,r+s+n)+e}arm(){clearTimeout(this.#p);let t=this.#w,e=t?Math.min(this.#r?
1/0:this.#g(t),this.lostAt(t),this.#a+oe):this.askAt;if(this.#m||e===1/0)return;let s=p(),n=Math.max(e,s+1);this.#p=setTimeout(
()=>this.#k(n),Math.min(n-s,zs))}#g(t){return Math.max(this.suspectAt(t),this.#l+oe)}#k(t,e=!1){re();let s=p();if(s-t>=ft&&
this.awake(!1),this.#m)return;if(!e&&s-t>he){clearTimeout(this.#p),this.#p=setTimeout(()=>this.#k(s+he,!0),he);return}let n=this.#w;
if(!n)s>=this.askAt&&this.#b(s);else{if(s>=this.lostAt(n))return this.#t.over();!this.#r&&s>=this.#g(n)&&this.#x(s),this.#m||
this.probe()}this.arm()}#x(t){this.#r=this.#t.silent(),this.#r||(this.#l=t)}#b(t){if(this.#t.pingFirst===void 0||this.#t.
unreadSince!==void 0)return this.#t.ask();this.#u={at:t,sendTime:0},this.#a=-1/0,this.probe()}probe(){let t=p();t-this.#a<
oe||(this.#a=t,this.#t.pingFirst!==void 0&&(this.#r||this.#u)?this.#T(this.#t.pingFirst):this.#t.probe())}async#T(t){if(this.#d)
return;let e=new AbortController;this.#d=e;let s=setTimeout(()=>e.abort(),bt),n=await Le(t,this.#e,e.signal);clearTimeout(
s),!(this.#m||this.#d!==e)&&(this.#d=void 0,n?(this.#u=void 0,this.#t.unanswered?this.#t.probe():this.#t.ask()):this.#u&&
(this.#u={at:-1/0,sendTime:0}),this.arm())}};var Ce=(i,t,e)=>t<e&&i[t]===5;function Re(i,t,e){let s=new DataView(i.buffer,i.byteOffset,e),n=t+1,r=f=>(n+=f,n>e&&_(),n-
f),o=()=>s.getUint8(r(1)),h=()=>s.getUint16(r(2)),a=f=>P(i.subarray(r(f),n)),c=o(),l={first:(c&1)!==0,synced:(c&2)!==0,counts:(c&
4)!==0,tenant:a(h()),pattern:a(h()),members:[],channels:[]};for(let f=h();f>0;f--)if(l.counts)l.channels.push({channel:a(
h()),members:s.getUint32(r(4))});else{let d=o();d>1&&_();let m={channel:a(h()),subject:a(o()),here:d===1,since:0,info:""};
m.here&&(m.since=Number(s.getBigUint64(r(8))),m.info=a(h())),l.members.push(m)}return n!==e&&_(),l}var vt=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),n=s?.
shift();return n?(s?.length===0&&this.#t.delete(t),e(n),!0):!1}get owed(){for(let t of this.#t.keys())if(!/^(RSUB|AGAIN):/.
test(t))return!0;return!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();for(let s of e)s.reject(t)}};var kt=class{edge;transport;token;begun=p();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#t;#e;#s;#i=new V;#n=new vt;#r=new pt;#o;#h=[];#f=new Set;#c=new gt;#a=!1;#l=!0;#u=!0;#d;constructor(t,e,s,n,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=n;let o=this;this.#s=new yt({get unanswered(){return o.#h[0]},
get unreadSince(){return o.#c.waits(o.lastByte)},get owed(){return o.#n.owed||o.#r.owed},pingFirst:e.fragile?t+r.paths.ping:
void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.silent(this),woke:()=>this.#e.woke(this),
over:()=>this.fail(new u("timeout","the edge does not answer"))},r),this.featured=new Promise(a=>{this.#o=a});let h;this.
ended=new Promise(a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#s.arrived(p())},line:a=>this.#x(()=>this.#v(a)),frame:(a,c,l)=>{
if(!this.alive||(this.#w(),Kt(a,c,l)))return;if(Ce(a,c,l))return this.#y(a,c,l);let f;try{f=this.#i.decode(a,c,l)}catch(d){
return this.#b(d)}this.#e.delivered(this,f)},ended:a=>{h(),this.#T(a)}}),this.#a=!0,this.alive&&this.#m(`FEATURES:link${r.
sender?",sender":""}`),this.alive&&this.#s.arm()}get lastByte(){return this.#s.heard}request(t,e,s=""){t==="SUB"&&this.asked.
add(e);let n=`${t}:${e}`,r=this.#p(n);return this.alive&&this.#m(n+s),r}resume(t,e){let s=this.#p(`RSUB:${t}`);return this.
alive&&this.#m(`RSUB:${t}:${e}`),s}leave(t,e="UNSUB"){let s=`${e}:${t}`,r=this.request(e,t).catch(()=>{}).then(()=>{this.
ending.get(s)===r&&this.ending.delete(s)});return this.ending.set(s,r),r}confirm(t,e){if(!this.alive)return Promise.reject(
x());let s=this.#r.add(e,t.length);return this.#m(t),s}forgetConfirm(t){this.#r.settle(t)}confirmedAll(){return this.#r.
idle()}postpone(t,e){this.postponed.add(t);let s=`AGAIN:${t}`,n=setTimeout(()=>this.#n.answer(s,r=>r.resolve()),e);return this.#p(
s).finally(()=>clearTimeout(n))}#p(t){return new Promise((e,s)=>{this.alive?this.#n.add(t,{resolve:e,reject:s}):s(x())})}forget(t){
return this.confirmed.delete(t),this.postponed.delete(t),this.#n.answer(`AGAIN:${t}`,e=>e.reject(x())),this.asked.delete(
t)}ping(){return new Promise((t,e)=>{if(!this.alive)return e(x());let s=this.#c.mark();this.#h.push({at:p(),sendTime:this.#c.
sendTime(s),mark:s,resolve:t,reject:e}),this.#t.send("PING"),this.#s.probe(),this.#h.length===1&&this.#s.arm()})}publish(t,e){
this.#r.note(t.length,e);let s=this.#c.publish(t.length,p());this.#t.send(t),s&&this.#s.arm();let n=this.#t.sent();return n&&
new Promise(r=>{let o=()=>{this.#f.delete(o),r()};this.#f.add(o),n.then(o,o)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=
t,this.#s.stop(),this.#n.reject(x()),this.#r.fail();for(let e of this.#h)e.reject(x());for(let e of this.#f)e()}#m(t){let e=this.#c.
request(t.length,p(),this.lastByte);this.#t.send(t),e&&this.#s.arm()}takeUnread(){return this.#c.take()}close(){return this.
alive&&(this.#E(x()),this.#t.close()),this.ended}#y(t,e,s){let n;try{n=Re(t,e,s)}catch(r){return this.#b(r)}this.#e.presence(
this,n)}#w(){let t=p();this.#s.arrived(t),this.#s.active(t)}#v(t){t==="PONG"?this.#s.arrived(p()):this.#w();let e=ve(t);
if(e)if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;if(this.#n.answer(`${e.verb}:${s}`,n=>n.resolve())&&e.verb==="SU\
B"&&(this.confirmed.add(s),this.postponed.delete(s)),e.verb==="UNSUB")for(;this.#n.answer(`RSUB:${s}`,n=>n.reject(x()));)
;}else if(e.kind==="OK:PUB")this.#r.settle(e.id,s=>s.resolve(e.position));else if(e.kind==="OK:RSUB"||e.kind==="AT"||e.kind===
"GAP")this.#e.reached(this,e),e.kind==="OK:RSUB"&&this.#n.answer(`RSUB:${e.tenant}:${e.pattern}`,s=>s.resolve());else if(e.
kind==="ERR")this.#k(e.code,e.detail,t.slice(4));else if(e.kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#h.
shift();if(!s)return;let n=p()-s.at;this.#c.proven(s.mark,p()),s.resolve(n),this.#s.ponged(n),this.#e.roundTrip(n)}else e.
kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATURES"?this.#g(e.features.split(",")):
e.kind==="LINK"&&(this.#u=e.up,this.#l||this.#g())}#g(t=this.features??[]){this.#l=!1,this.features=t,this.#o(),this.link=
this.#u,this.#e.linked()}#k(t,e,s){if(this.#l&&t==="bad_request")return this.#g();let n=R(s);if(n&&(this.#d=s),this.#r.error(
t,e))return;let[,r,o,h]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(e)??[];!(o!==void 0&&h!==void 0&&
t!=="broker_unavailable"&&this.#n.answer(e,c=>c.reject(new u(t,void 0,r?{tenant:o,channel:h}:{tenant:o,pattern:h}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.
test(t)&&this.#e.errorLine(this,t,e),(t==="token_revoked"||t==="token_expired")&&this.fail(n)}#x(t){if(this.alive)try{t()}catch(e){
this.#b(e)}}#b(t){this.fail(S(t,"protocol","the edge broke the protocol"))}fail(t){this.#E(t),this.#t.close(),this.#a&&this.#e.
lost(this,t)}#T({closeCode:t,error:e}){if(!this.alive)return;let s=this.#d===void 0?void 0:R(this.#d,t),n=t===4401?"toke\
n_expired":t===4403?"token_revoked":"disconnected",r=s?.code!=="slow_consumer"||t===4429,o="the connection has ended";if(t===
1009){o="a message was too large for the edge";let a=this.#r.tooLarge();a&&(this.#c.told(),this.#e.errorLine(this,"paylo\
ad_too_large",`PUB:${a.tenant}:${a.channel}`))}let h=s&&r?s:e??new u(n,o,{closeCode:t});this.#E(h),this.#a&&this.#e.lost(
this,h)}#E(t){this.alive=!1,this.error=t,this.#s.stop();let e=x(t);this.#o(),this.#n.reject(e),this.#r.fail();for(let s of this.#h)
s.reject(e);this.#h=[]}};var q=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(n=>n.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var je=1<<20,Fs=1e3;async function We({edge:i,token:t,signal:e},s){let{paths:n,runtime:r}=s,{promise:o,resolve:h,reject:a}=Xs(),
c=new q,l=!1,f=await r.socket(i.replace("http","ws")+n.webSocket,t,s,{refused(g){l=!0,a(g)},bytes:()=>c.bytes()});f.binaryType!==
"nodebuffer"&&(f.binaryType="arraybuffer");let d=()=>f.terminate?f.terminate():f.close(),m=()=>{a(U(e)),d()};e.addEventListener(
"abort",m),e.aborted&&m();let w=!1,b,y;f.onerror=({error:g})=>{b=g},f.onopen=()=>{w=!0,e.removeEventListener("abort",m),
h({transport:"websocket",fragile:!1,start:g=>c.start(g),send:g=>w&&f.send(g),sent:()=>w&&f.bufferedAmount>je?A():void 0,
probe(){},close(){f.close(1e3),y??=setTimeout(()=>{d(),c.ended({})},Fs)}})},f.onclose=({code:g})=>{clearTimeout(y),w?(w=
!1,c.ended({closeCode:g})):l||Ks(i+n.ping,s,e,b).then(a,a),e.removeEventListener("abort",m)},f.onmessage=({data:g})=>{typeof g==
"string"?c.line(g):ArrayBuffer.isView(g)?c.frame(new Uint8Array(g.buffer,g.byteOffset,g.byteLength),0,g.byteLength):c.frame(
new Uint8Array(g),0,g.byteLength)};async function A(){for(;w&&f.bufferedAmount>je;)await new Promise(g=>setTimeout(g,5))}
return o}async function Ks(i,t,e,s){return await mt(i,t,e)?new u("refused","the edge answers, and refuses the WebSocket:\
 perhaps the token, or this page's origin"):new u("unreachable","no WebSocket to the edge",{cause:s})}function Xs(){let i,
t;return{promise:new Promise((s,n)=>{i=s,t=n}),resolve:i,reject:t}}var xt=globalThis,Vs=xt.Deno!==void 0||xt.process?.versions?.node!==void 0,qe=!Vs&&(xt.document!==void 0||xt.WorkerGlobalScope!==
void 0);var Js=32<<20,De=(i,t,e)=>e>t&&i[t]<32,Tt=class{#t;#e=[];#s=0;constructor(t=Js){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#i(t,e),this.#s>0))){for(;t.length-s>=4;){let n=s+4+this.#o(t,s);if(n>t.length)break;e(t,
s+4,n),s=n}s<t.length&&this.#n(t.slice(s))}}#i(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#n(t.slice(
0,s)),this.#s<4))return s;let n=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(n,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#n(t.slice(s,s+o)),this.#s===r){let h=this.#r();this.#e=[],this.#s=0,e(h,4,r)}return s+o}#n(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new u("protocol","a message that is to\
o long");return s}};var Ge=1e3,Ys=43,Zs=2e3,He=()=>"WebTransport"in globalThis;async function ze(i,{paths:t,hashes:e}){let{signal:s}=i,n=[],
r,o=()=>{clearTimeout(r),n.forEach(Et)};s.addEventListener("abort",o);try{let h=await new Promise((c,l)=>{let f=()=>{let d=new WebTransport(
i.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});n.push(d),d.closed.catch(()=>{}),d.ready.then(()=>c(d),l)};
f(),r=setTimeout(f,Zs)});for(let c of n)c!==h&&Et(c);let a=h.closed.then(({closeCode:c,reason:l})=>({closeCode:c,error:R(
`${l}`)}),()=>({}));return await Qs(h,a,i.token)}catch(h){throw o(),k(s),S(h,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(r),s.removeEventListener("abort",o)}}async function Qs(i,t,e){let s=await i.createBidirectionalStream(),n=new q,
r=new ae(s.writable.getWriter()),o=s.readable.getReader(),h,a,c=ti(i);r.send(`AUTH:${e}`);let l=new Tt,f=(w,b,y)=>{if(De(
w,b,y))return n.frame(w,b,y);let A=P(w.subarray(b,y));if(a)return n.line(A);let g=Gt(A);g.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:qe,start:jt=>n.start(jt),send:jt=>r.send(jt),sent:()=>r.sent,probe:c,close:()=>{r.close().then(()=>Et(
i))}}:g.kind==="ERR"&&(h??=R(A.slice(4))??new u(g.code))},d=async()=>{let{value:w,done:b}=await o.read();return w&&(n.bytes(),
l.push(w,f)),!b},m;for(;!a;)if(!await d().catch(b=>{if(b instanceof u)throw b;return!1}))throw h??ei(await t);return(async()=>{
try{for(;await d(););}catch(y){y instanceof u&&(m=y)}r.close();let w={error:m},b=t.then(y=>w=y);m||await N(Ge,b),Et(i),n.
ended(w)})(),a}function ti(i){let t,e=!1,s=async()=>{let{writable:n,createWritable:r}=i.datagrams;t??=(n??r?.call(i.datagrams))?.
getWriter(),await t?.write(new Uint8Array(Ys))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function ei({
closeCode:i,error:t}){let e=i===4401?"unauthorized":i===1001?"draining":i===1013?"unavailable":"unreachable";return t??new u(
e,"the connection has ended",{closeCode:i})}function Et(i){try{i.close({closeCode:1e3,reason:""})}catch{}}var ae=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?L(t):t,s=e.length,n=this.#s+
4+s;if(n>this.#e.length){let r=new Uint8Array(Math.max(n,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=n,this.sent??=this.#i()}async#i(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await N(Ge,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var si=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,ce=(i,t)=>He()&&i.
startsWith("https:")&&!t.runtime.proxied(i,t),St=class{#t;#e=new Map;#s=new Set;constructor(t){this.#t=t}forget(){this.#s.
clear()}prefer(t,e){this.#e.set(t,e)}async open(t,e,s,n={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=n,
a=o.filter(f=>f==="websocket"||ce(t,r));a.length===0&&v("there is no WebTransport here, not for http:// addresses, and n\
ot through a proxy");let c=a.filter(f=>!this.#s.has(f));if(c.length===0)throw new u("protocol_not_allowed");this.#e.get(
t)===c[1]&&c.reverse();let l=await B(s,r.connectTimeout,f=>this.#i(c,t,e,h,f));return this.#e.set(t,l.transport),l}#i(t,e,s,n,r){
return new Promise((o,h)=>{let a,c=0,l=0,f,d=!1,m=()=>{d=!0,clearTimeout(a)},w=()=>{clearTimeout(a);let b=t[l++];if(!b||
d)return;let y=b==="websocket"?We:ze;c++,y({edge:e,token:s,signal:r},this.#t).then(A=>{if(d)return ii(A);m(),o(A)},A=>{c--;
let g=S(A,"unreachable","the edge does not answer");if(g.code==="protocol_not_allowed"&&this.#s.add(b),(!f||F(g)>F(f))&&
(f=g),!si.test(g.code)&&(c>0||l<t.length))return w();m(),h(f)}),l<t.length&&(a=setTimeout(w,n))};r.addEventListener("abo\
rt",()=>{m(),h(U(r))}),w()})}};function ii(i){i.start({bytes(){},line(){},frame(){},ended(){}}),i.close()}function F({code:i}){
return["unreachable","timeout","refused","protocol_not_allowed"].indexOf(i)>>>0}var Fe=3,ni=500;async function fe(i,t,e){let s,n=await Promise.all(i.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await B(e,t.connectTimeout,h=>ri(o,t,h))}catch(h){return s=h,[]}})),r=[...new Set(n.flat())];if(k(e),r.length===
0)throw s??new u("unreachable","the list has no edge");return r.length>1&&(await B(e,t.connectTimeout,o=>oi(r,t,o)).catch(
()=>{}),k(e)),r}async function ri(i,t,e){try{let s=await t.runtime.fetch(i.href,t,{cache:"no-store",credentials:"omit",signal:e});
if(!s.ok)throw new u("unreachable",`the list of edges: HTTP status ${s.status}`,{status:s.status});let{edges:n}=await s.
json();return n.map(({host:r})=>K(`https://${r}`,!1).origin)}catch(s){throw S(s,"unreachable","the list of edges")}}async function oi(i,t,e){
let s=new Map,n,r=new Promise(c=>{n=c}),o=async c=>{let l=[];for(;l.length<Fe;){let f=p();if(!await mt(c+t.paths.ping,t,
e))return;l.push(p()-f)}l.sort((f,d)=>f-d),s.set(c,l[Fe>>1]),n()},h=i.map(o);await Promise.race([Promise.all(h),r.then(()=>T(
ni,e))]);let a=c=>s.get(c)??Number.MAX_VALUE;i.sort((c,l)=>a(c)-a(l))}var Ke=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,hi=/^(unauthorized|token_expired|region_not|protocol_not)/,
ai=5,ci=6e4,fi=12e4,At=class{#t;#e;#s;#i;#n;#r=[];#o=new Map;#h;#f=0;#c=0;#a=new Map;drained=new Set;constructor(t,e,s,n){
this.#t=t,this.#e=e,this.#s=s,this.#i=n,this.#n=new St(e)}async first(t){await M(this.#s.get(),t),this.#r=await fe(this.#t,
this.#e,t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(n){if(!(n instanceof u)||Ke.test(n.code)||n.
code==="token_provider")throw n;(!e||F(n)>F(e))&&(e=n)}throw e}async*order(t,e,s){for(;;){let n=this.#r.filter(o=>o!==t),
r=e?[t,...n]:n.length<this.#r.length?[...n,t]:n;for(let o of r)r.some(h=>this.wait(h)<this.wait(o))||(yield o);if(this.#t.
some(o=>o.pathname!=="/"))try{this.#r=await fe(this.#t,this.#e,s)}catch{k(s)}}}wait(t){return Math.max(0,(this.#a.get(t)??
0)-p())}async open(t,e,s){let n=await this.#s.get();try{return await this.#l(t,n,e,s)}catch(r){if(!(r instanceof u&&/^(unauthorized|token_expired|refused)$/.
test(r.code))||!this.#s.provided)throw r;let h=await this.#s.ask();if(h===n)throw r;return this.#l(t,h,e,s)}}async#l(t,e,s,n){
e!==this.#h&&(this.#h=e,this.#o.clear(),this.#n.forget());let r=await this.#n.open(t,e,s,n).catch(h=>{let{retryAfter:a=0}=h;
throw this.#a.set(t,p()+Math.min(a,this.#e.maxBackOff)),h});this.drained.delete(t),this.#a.delete(t);let o=new kt(t,r,e,
this.#i,this.#e);if(o.error)throw o.error;return this.#f=0,this.#o.clear(),o}noteSilent({edge:t,transport:e,begun:s},n=!1){
e!=="webtransport"||!n&&p()-s>=fi||this.#n.prefer(t,n?e:"websocket")}hopeless(t,e,s){let{code:n}=e;n==="unreachable"&&this.
drained.delete(t);let r=n==="unauthorized"&&this.#s.provided;return r&&this.#s.failed(e),r||n==="refused"?s||this.drained.
has(t)?!1:(this.#f++===0&&(this.#c=p()),this.#f>=ai&&p()-this.#c>=ci):(this.#f=0,Ke.test(n)?!0:hi.test(n)?(this.#o.set(t,
e),this.#r.every(o=>this.#o.has(o))):!1)}};var Xe=i=>`${i.verb}:${i.tenant}:${i.verb==="JOIN"?i.channel:i.pattern}`,Je=i=>i.verb==="WHO"&&i.count,le=({holders:i,waiting:t})=>i.
length>t.size,Ot=class{asking=new Set;#t=new Map;#e;constructor(t){this.#e=t}get#s(){return[this.#e.current,this.#e.next].
filter(t=>t!==void 0)}async add(t){let{current:e,leaving:s,over:n}=this.#e;if(n)throw n;let r=Xe(t),o=this.#t.get(r)??li(
t,r);if(o.counting&&!Je(t))throw new u("bad_option","the client counts the members of this pattern, and can only do that",
o.about);this.#t.set(r,o),o.holders.push(t),t.verb==="WHO"&&(t.watch=o.watch);let h=new Promise((a,c)=>{o.waiting.set(t,
{resolve:a,reject:c})});this.#a(o);for(let a of this.#s)!o.on.has(a)&&!(s&&a===e)&&this.#r(a,o);return h}async restore(t){
await Promise.all([...this.#t.values()].map(e=>this.#r(t,e)))}hasSynced(t){return[...this.#t.values()].every(({watch:e,on:s})=>!e||
!s.has(t)||e.hasSynced(t))}isSynced(t){let{current:e}=this.#e;return e?.alive===!0&&t.watch.hasSynced(e)}take(t,e){let s=this.#t.
get(`WHO:${e.tenant}:${e.pattern}`);s?.watch?.take(t,this.#e.current,e,s.counting),s&&this.#a(s)}follow(){let{current:t}=this.#e;
for(let e of this.#t.values())t&&e.watch?.follow(t),this.#a(e)}ended(t,e,s){let n=this.#t.get(s);!n||e!=="no_presence"||
(this.#f(t,n),this.#a(n))}async leave(t){let e=this.#t.get(Xe(t)),s=e?.holders.indexOf(t)??-1;if(!e||s<0||(e.holders.splice(
s,1),e.holders.length>0))return;let n=this.#n(e);await(this.#e.suspected&&n.length>0?Promise.race(n):Promise.all(n))}leaveAll(){
for(let t of this.#t.values())t.verb==="JOIN"&&this.#i(t)}end(t,e){for(let{key:s,holders:n,waiting:r}of this.#t.values()){
this.#t.delete(s);for(let o of n)o.end(t);for(let{reject:o}of r.values())o(t??e)}}#i({key:t,name:e,undo:s,on:n,watch:r}){
return this.#s.flatMap(o=>{let h=n.get(o);return n.delete(o),r?.end(o),o.forget(t),h===void 0||h==="wanted"?[]:o.leave(e,
s)})}#n(t){return this.#t.delete(t.key),this.#i(t)}#r(t,e){e.on.set(t,"wanted");let s=this.#o(t,e).finally(()=>this.asking.
delete(s));return this.asking.add(s),s}async#o(t,e){let{verb:s,name:n,key:r,about:o,on:h,counting:a}=e,c=()=>this.#t.get(
r)===e,{settings:l,events:f}=this.#e;try{await t.featured,await t.ending.get(`${e.undo}:${n}`);for(let d=2;;d++){if(!t.alive||
!c())return;if(!t.features?.includes("presence"))throw new u("no_presence","the edge has none",o);h.set(t,"sent"),e.watch?.
begin(t);try{await t.request(s,n,a?":count":"");break}catch(m){let{code:w}=m;if(w!=="try_later"||!le(e))throw m;d===2&&f.
emit("subscriptionError",{...Ve(e),code:w})}if(!c())return;h.set(t,"wanted"),await t.postpone(r,E(d,l))}if(!c())return;t.
postponed.delete(r),h.set(t,"held"),this.#a(e)}catch(d){let m=S(d,"internal","a fault of this client");m.code!=="disconn\
ected"&&c()&&this.#h(t,e,m)}}#h(t,e,s){let{holders:n,waiting:r,on:o,key:h}=e,{suspected:a,next:c,current:l}=this.#e,{code:f}=s;
if(f==="no_presence"&&le(e)){for(let[d,{reject:m}]of r)n.splice(n.indexOf(d),1),m(s);r.clear(),this.#f(t,e),this.#e.events.
emit("edgeError",{code:f,detail:h})}else a&&t===c&&l&&o.get(l)==="held"?t.fail(s):this.#c(e,s)}#f(t,{on:e,watch:s}){e.delete(
t),s?.end(t)}#c(t,e){this.#n(t),le(t)&&this.#e.events.emit("subscriptionError",{...Ve(t),code:e.code});for(let s of t.holders)
s.end(e);for(let{reject:s}of t.waiting.values())s(e)}#a(t){let{holders:e,waiting:s,on:n}=t;for(let r of[...e])(r.verb===
"WHO"?this.isSynced(r):this.#s.some(h=>n.get(h)==="held"))&&s.has(r)?(s.get(r)?.resolve(),s.delete(r),r.verb==="WHO"&&r.
opened()):r.verb==="WHO"&&r.update()}};function li(i,t){let{verb:e,tenant:s}=i,n=[];return{verb:e,undo:e==="WHO"?"UNWHO":
"LEAVE",name:t.slice(e.length+1),key:t,about:e==="WHO"?{tenant:s,pattern:i.pattern}:{tenant:s,channel:i.channel},holders:n,
waiting:new Map,on:new WeakMap,watch:e==="WHO"?new nt(n):void 0,counting:Je(i)}}var Ve=({about:i})=>({pattern:"",...i});var Ye,D=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(t,e,s,n,r,o,h,a=""){this.tenant=
t,this.channel=e,this.payload=s,this.pattern=n,this.patterns=r,this.late=o,this.position=h,this.sender=a}get time(){return this.
position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Ye??=new TextDecoder("utf-8",{ignoreBOM:!0}),
Ye.decode(this.payload)}json(){return JSON.parse(this.text().replace(/^\uFEFF/,""))}};var Mt=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,n=`${e}:${s}`,r=this.#t.
get(n),{history:o}=t,h=r??{name:n,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o};return h.subs.push(t),this.#t.
set(n,h),this.#e++,{interest:h,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){return this.#t.get(t.name)===t}remove(t){
let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.subs.splice(s,1),e.subs.length===
0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(t.name)}dispatch(t,e=!1){let{tenant:s,
channel:n,payload:r,route:o,sender:h}=t,a=o.note?.tenant===s&&o.note.version===this.#e?o.note:this.#s(s,o);for(let{pattern:c,
subs:l,history:f}of a.interests){if(f&&!f.plain)continue;let d=new D(s,n,r,c,o.patterns,e,void 0,h);if(l.length===1)l[0].
push(d);else for(let m of[...l])m.push(d)}}#s(t,e){let s=e.patterns.map(n=>this.#t.get(`${t}:${n}`)).filter(n=>n!==void 0);
return e.note={tenant:t,version:this.#e,interests:s},e.note}};var _t=class{interests=new Mt;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){let e=this.interests.all;e.some(
n=>n.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(n=>!n.history);await Promise.all(s.map(n=>this.ask(
t,n)))}async resume(t){await Promise.all(this.interests.all.filter(({history:e})=>e).map(e=>this.ask(t,e)))}stored(t,e,s){
let{tenant:n,channel:r,payload:o,route:h,sender:a}=e,{patterns:c}=h,l=c[0],f=this.interests.of(n,l),{history:d}=f??{};if(!f||
!d?.takes(t,s))return;d.from=s,f.subs[0]?.pushStored(new D(n,r,o,l,c,!1,s,a))===!1&&this.interests.has(f)&&(d.pause(),t.
leave(f.name)),this.#i(f)}reached(t,e){let{kind:s,tenant:n,pattern:r,position:o}=e,h=this.interests.of(n,r),{history:a}=h??
{};if(!(!h||!a||a.plain)){if(a.on!==t||!a.open){s==="GAP"&&a.paused&&t===this.#t.current&&this.#e(n,r,o);return}if(s==="\
GAP"||a.takes(t,o)){a.from=o;for(let c of h.subs)c.reach(o)}s==="GAP"?(a.told=!0,this.#e(n,r,o)):s==="OK:RSUB"&&(this.#i(
h),e.how==="gap"&&!a.told?this.#e(n,r,o):a.lossy&&this.#e(n,r,void 0,a.refusal))}}#e(t,e,s,n){this.#t.gaps=!0,this.#t.events.
emit("gap",{tenant:t,pattern:e,before:s,code:n})}wasRead(t){let e=this.interests.of(t.tenant,t.pattern),{current:s}=this.#t;
!e?.history||e.history!==t.history||(e.history.paused=!1,s&&this.ask(s,e))}ask(t,e){let s=this.#s(t,e).finally(()=>this.
asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.history?await this.#n(t,e,e.history):(await this.#r(t,e),
this.#i(e))}catch(s){let n=S(s,"internal","a fault of this client");if(n.code==="disconnected")return;if(e.confirmed&&this.#t.
suspected&&t===this.#t.next)return t.fail(n);this.#o(e,n)}}#i(t){t.confirmed=!0;for(let{resolve:e}of t.waiting.splice(0))
e()}async#n(t,e,s){let{name:n,tenant:r,pattern:o}=e;if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===t)){s.begin(t);for(let h=2;;){
if(await t.featured,await t.ending.get(`UNSUB:${n}`),!t.alive||s.on!==t||!this.interests.has(e))return;let a=!t.features?.
includes("history")||s.unwanted,c=s.forbidden?"now":s.from,l=ue(e);s.lossy=a?l||c!=="now":s.forbidden||l&&c==="now",s.plain=
a,s.open=!0,a&&(s.from="now");try{if(!a)return await t.resume(n,c);if(await t.request("SUB",n),!this.interests.has(e))return;
this.#i(e),s.lossy&&this.#e(r,o,void 0,s.refusal);return}catch(f){let d=f;if(d.code==="history_unavailable")return this.#t.
gaps=!0,this.#t.events.emit("edgeError",{code:d.code,detail:`RSUB:${n}`});if(s.open=!1,d.code==="permission_denied"&&!a&&
c!=="now")s.forbidden=!0;else if(d.code==="no_history"&&l)s.unwanted=!0;else if(d.code==="try_later"&&l)h===2&&this.#t.events.
emit("subscriptionError",{tenant:r,pattern:o,code:d.code}),await t.postpone(n,E(h++,this.#t.settings)),t.postponed.delete(
n);else throw d}}}}async#r(t,e){let{name:s,tenant:n,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){
let a=h;if(a.code!=="try_later"||!ue(e))throw a;o===2&&this.#t.events.emit("subscriptionError",{tenant:n,pattern:r,code:a.
code})}await t.postpone(s,E(o,this.#t.settings))}}#o(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:n,subs:r,
waiting:o}=t;for(let h of[this.#t.current,this.#t.next])h?.forget(t.name)&&h.leave(t.name);ue(t)&&this.#t.events.emit("s\
ubscriptionError",{tenant:s,pattern:n,code:e.code});for(let h of r)h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){
let{tenant:e,pattern:s}=t,n;for(;;){if(this.#t.over)throw this.#t.over;n=this.interests.of(e,s);let a=l=>l?.ending.get(`\
UNSUB:${e}:${s}`),c=a(this.#t.current)??a(this.#t.next);if(n||!c)break;await c}if(n&&(n.history||t.history)){let a="the \
client has a subscription to this pattern, and one with a history is alone";throw new u("bad_option",a,n)}let{interest:r,
isNew:o}=this.interests.add(t);if(r.confirmed)return;let h=new Promise((a,c)=>{r.waiting.push({resolve:a,reject:c})});return o&&
(this.#t.current&&!this.#t.leaving&&this.ask(this.#t.current,r),this.#t.next&&!r.history&&this.ask(this.#t.next,r)),h}async leave(t){
let e=this.interests.remove(t);if(!e)return;for(let{resolve:h}of e.waiting.splice(0))h();let{name:s,history:n}=e,o=[this.#t.
current,this.#t.next].filter(h=>h?.forget(s)||h&&n?.on===h).map(h=>h.leave(s));await(this.#t.suspected&&o.length>0?Promise.
race(o):Promise.all(o))}queueFull({tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){
for(let s of this.interests.all){this.interests.drop(s);for(let n of s.subs)n.end(t);for(let{reject:n}of s.waiting.splice(
0))n(t??e)}}};function ue({subs:i,waiting:t}){return i.length>t.length}var de=1e3,Pt=class{#t=new O;#e=new O;#s=new O;constructor(t,e,s){for(let{key:n}of t)this.#t.put(n,e);if(s){for(let{key:n,
time:r,message:o}of s.#e.all)this.#e.put(n,r,o);for(let{key:n,time:r}of s.#s.all)this.#s.put(n,r)}}fromCurrent(t,e){let s=I(
t);return this.#s.dropUntil(e-de),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=I(t);if(this.#t.
take(s))return;let n=this.#e.put(s,e,{...t});return n&&this.#s.put(n.key,n.time),n?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-de)}get nextDue(){let t=this.#e.oldest;return t&&t.time+de}};var Ze=15e3,ui=6e4,$t=class{#t;late;#e;#s;#i=!0;#n=!1;#r=p();#o;#h;constructor(t,e,s,n,r){this.#t=t,this.late=new Pt(e,p(),
r?.late),this.#e=s,this.#s=n,this.#o=setTimeout(()=>this.#f(),Ze),r?.stop(),t.handTo(this),t.alive?this.#a():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,p())}hold(t){t!==this.#n&&(this.#n=t,t||this.late.renew(p()),this.#a())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#i=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#f(){let t=Math.
min(this.#t.lastByte+Ze,this.#r+ui)-p();t>0?this.#o=setTimeout(()=>this.#f(),t):this.#c()}#c(){this.#i&&(this.stop(),this.#a())}#a(){
if(clearTimeout(this.#h),this.#n)return;let{nextDue:t}=this.late;if(t===void 0){this.#i||this.#s();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(p()))this.#e(e);this.#a()},Math.max(1,t-p()))}delivered(t,e){if(e.position!==void 0)return;
let s=this.late.nextDue===void 0,n=this.late.fromTrail(e,p());n&&this.#e(n),s&&this.#a()}woke(t){for(let s of t.asked)t.
request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){return!1}reached(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var Ut=class{settings;events;subscriber=new _t(this);presences=new Ot(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t,e){this.settings=Me(t,e),
this.events=new et(t.on)}setCurrent(t){this.current=t,this.place={edge:t.edge,transport:t.transport},this.presences.follow(),
this.linked(),this.#i()}#i(){for(let t of this.#s.splice(0))t()}changed(){return new Promise(t=>{this.#s.push(t)})}linked(){
let{link:t,edge:e}=this.current??{};!this.since||!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"li\
nkDown",{edge:e}))}reached(t,e){this.subscriber.reached(t,e)}presence(t,e){this.presences.take(t,e)}async restore(t){await Promise.
all([this.subscriber.restore(t),this.presences.restore(t)])}delivered(t,e){if(e.position!==void 0)return this.subscriber.
stored(t,e,e.position);if(!this.merger)return this.#n(e);let s=p();if(t===this.next){let n=this.current?.confirmed,r=!e.
route.patterns.some(h=>n?.has(`${e.tenant}:${h}`)),o=this.merger.fromNext(e,s,r);o&&this.#n(o)}else this.both?this.merger.
fromCurrent(e,s)&&this.#n(e):(this.merger.late(e,s)||this.#n(e),this.merger?.done(s)&&(this.merger=void 0))}#n(t){(!this.
trail||this.trail.fromCurrent(t))&&this.subscriber.interests.dispatch(t)}reportUnread(t){let e=t.takeUnread(),{edge:s,transport:n}=t;
e>0&&this.events.emit("publishUnknown",{edge:s,transport:n,count:e})}promote(){let{current:t,next:e}=this;e&&(t&&this.reportUnread(
t),this.setCurrent(e),this.next=void 0,this.merger?.left(p()),this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),
t?.close(),this.subscriber.resume(e))}takeOver(t,e){this.trail?.hold(!1);let s=new $t(t,this.merger?.given??[],r=>this.subscriber.
interests.dispatch(r,!0),()=>{this.trail===s&&(this.trail=void 0)},this.trail);this.trail=s;let n=p()-dt(t.lastByte);this.
reportUnread(t),this.suspected=this.next=void 0,this.merger?.left(p()),this.both=this.tentative=!1,this.setCurrent(e),this.
since=p(),this.events.emit("recovered",{...this.place,away:n}),this.giveHeld(),this.openGate(void 0),this.subscriber.resume(
e)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(p()),this.both=this.tentative=
!1}giveHeld(){for(let t of this.merger?.release()??[])this.#n(t)}pause(t,e){return T(t,e,this.#e)}get waits(){return this.#e.
size>0}hurry(){for(let t of[...this.#e])t()}openGate(t){this.publishOn=t;let e=this.gate??[];this.gate=void 0;for(let s of e)
s();this.over&&this.#i()}publishConnection(){if(this.over)throw this.over;let t=this.publishOn??this.current;if(!t?.alive)
throw x();return t}};var di=500;async function Qe(i,t,e){for(i.events.emit("suspect",i.place),i.gate??=[];i.merger&&!i.merger.done(p());)await T(
50,e);i.merger=new W,i.both=i.tentative=!0;let s=0;for await(let n of i.searcher.order(t.edge,!1,e)){await i.pause(Math.
max(E(++s,i.settings),i.searcher.wait(n)),e);let r;try{r=await i.searcher.open(n,e,{fallbackAfter:di})}catch(h){if(k(e),
h instanceof u)continue;throw h}if(e.aborted)return void r.close();if(!r.alive)continue;i.next=r,i.merger.joined(p());let o=i.
restore(r);if(r.ping().catch(()=>{}),await o,k(e),i.next===r)return i.takeOver(t,r)}}function ts(i){if(typeof i=="number")return i;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(i);if(!t){let r='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new u("bad_option",r)}let[e=0,s=0,n=0]=t.slice(1).map(r=>Number(
r??0));return(e*60+s)*60+n}var pi=2**31-1,es=1e3,mi="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function wi(i,t){return i===
1/0?i:Math.max(0,Math.min(i*.9,i>5e3?i-5e3:i)-t*i/10)}var It=class{#t;#e;failed;#s=new AbortController;#i;#n=1/0;#r;#o=!1;#h=-1/0;#f;#c=0;constructor(t,e,s){
this.#t=t,this.#i=t.token,this.#e=e,this.failed=s}get token(){return this.#i}get provided(){return this.#t.tokenProvider!==
void 0}get(){return this.#i!==void 0&&p()<this.#n?Promise.resolve(this.#i):this.ask()}ask(){return this.#r??=this.#a().finally(
()=>{this.#r=void 0,this.#o=!1}),this.#r}async renew(){this.#o&&await this.#r?.catch(()=>{}),await this.ask(),this.#e()}async#a(){
clearTimeout(this.#f);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,{signal:n}=this.#s;try{let r=this.#h+es;
for(;p()<r;)await T(r-p(),n);this.#o=!0;let h=await B(n,e,a=>M(Promise.resolve(t?.()),a)).finally(()=>{this.#h=p()});return this.#l(
typeof h=="object"?h:{token:h}),this.#i}catch(r){this.#n>0&&this.#n<1/0&&this.#u(Math.max(s,E(++this.#c+1,this.#t)));let o=r?.
name==="LoggedOutError",h=`the token provider ${o?"says that there will be":"gave"} no token`,a=new u(o?"logged_out":"to\
ken_provider",h,{cause:r});throw this.#i!==void 0&&!n.aborted&&this.failed(a),a}}#l(t){$("the token provider's answer",t,
mi);let e=t.expiresIn??t.expires_in,s=t.expiresAt??t.expires_at,n=1/0;e!=null?n=ts(e)*1e3:s!=null&&(n=new Date(s).getTime()-
Date.now()),e==null&&n<=0&&(n=1/0),n>0||v("expiresIn must be above 0, expiresAt a time"),this.#i=Y(t.token),this.#n=p()+
n,this.#c=0,this.#u(Math.max(es,wi(n,Math.random())))}#u(t){if(this.#s.signal.aborted||!(t<1/0))return;let e=this.#i;this.#f=
setTimeout(()=>this.ask().then(s=>s!==e&&this.#e(),()=>{}),Math.min(t,pi))}expire(){this.provided&&(this.#n=-1)}stop(){this.#s.
abort(),clearTimeout(this.#f)}};var pe=6e4,gi=60*pe,bi=2*pe,yi=1e4,vi=2e3;function ss(i,t){return Math.min((4+2*t)*pe*2**i,gi)}var Nt=class{#t;#e=0;#s;#i;#n;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#i),t.transport==="webtransport"?(this.stop(),this.#i=setTimeout(()=>{this.#e=0},bi)):
!this.#s&&this.#r(t)&&this.#o(ss(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
vi,!1)}stop(){this.#n?.abort(),this.#n=void 0,clearTimeout(this.#s),clearTimeout(this.#i),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&ce(e,this.#t.settings)}#o(t,e=!0){
clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#n)
return this.#o(yi,t);if(!this.#r(s)){this.#s=void 0;return}let n=this.#e+Number(t);this.#o(ss(n,Math.random()));let r=new AbortController;
this.#n=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#n===r&&(this.#n=
void 0),r.signal.aborted||(this.#e=n),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>z(e,s,"transport",h,o)):(o?.close(),
e.moveIfDue())}};var ki=3e3,Bt=class extends Ut{tokens;searcher;closed;#t;#e=new Nt(this);#s;#i;constructor(t,e,s){super(e,s),this.tokens=
new It(this.settings,()=>this.moveIfDue(),n=>this.#n(n)),this.searcher=new At(t,this.settings,this.tokens,this),this.closed=
new Promise(n=>{this.#i=n})}#n(t){let{code:e,message:s,cause:n}=t;e!=="logged_out"?this.events.emit("edgeError",{code:e,
detail:s.slice(e.length+2),cause:n}):this.since&&this.finish(t)}async renewToken(){if(this.over)throw this.over;this.tokens.
provided||v("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(t){throw this.
over&&t.code!=="logged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(t){
try{let e=await this.searcher.first(t);if(this.setCurrent(e),k(t),e.error)throw e.error;this.since=p(),this.#s=Ne(this),
this.#e.follow(e),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),
this.current?.close(),e}}setCurrent(t){super.setCurrent(t),this.since&&this.#e.follow(t)}moveIfDue(){let{current:t}=this;
this.#t||this.over||!t?.alive||(t.drains?this.run(e=>z(this,t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>z(this,
t,"token",e)))}get idle(){let{current:t,merger:e}=this;return!this.#t&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(
p()))}run(t){this.#t?.abort();let e=new AbortController;this.#t=e,t(e.signal).then(()=>{this.#t===e&&(this.#t=void 0,this.
current?.alive&&this.moveIfDue())},s=>{this.#t===e&&this.finish(S(s,"internal","a fault of this client"))})}draining(t){
this.searcher.drained.add(t.edge),t===this.current&&this.moveIfDue()}errorLine(t,e,s){this.presences.ended(t,e,s);let[,n,
r]=/^PUB:([^:]+):(.+)$/s.exec(s)??[];e==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(s)}):e==="egres\
s_limited"?this.events.emit("egressLimited",{delay:Number(s)*1e3}):n&&r&&e!=="broker_unavailable"?this.events.emit("publ\
ishError",{tenant:n,channel:r,code:e}):this.events.emit("edgeError",{code:e,detail:s})}roundTrip(t){this.rtt=t,this.events.
emit("roundTrip",{rtt:t})}silent(t){let{current:e}=this;return t===this.next&&this.tentative&&p()-t.lastByte>=ki&&t.fail(
new u("timeout","the edge does not answer")),t!==e||this.#t||this.gate||this.over||this.reconnecting||!this.since||e.drains?
!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.noteSilent(t),this.run(s=>Qe(this,t,s)),!0)}woke(t){t===this.suspected&&
(this.searcher.noteSilent(t,!0),this.#t?.abort(),this.#t=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),this.
events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(t,e){this.reportUnread(t);let s=t.
token===this.tokens.token,n=/_not_allowed$|^token_revoked$/.test(e.code)||e.code==="token_expired"&&!this.tokens.provided,
r=t===this.next&&this.suspected!==void 0;if(n&&s&&!r)return this.finish(e);e.closeCode===void 0&&/^(disconnected|timeout)$/.
test(e.code)&&this.searcher.noteSilent(t),t===this.next&&!this.leaving?(this.next=void 0,r?this.merger?.orphan():this.openGate(
void 0)):t===this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(t===this.current||t===this.next)&&
(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.close(),this.next=void 0,this.giveHeld()),this.
promote(),this.reconnecting||this.run(o=>Be(this,t,e,o)))}slept(){for(let t of[this.current,this.next])t?.awake(!1);this.
hurry()}networkChanged(){for(let t of[this.current,this.next])t?.awake(!0);this.hurry(),this.#e.soon()}finish(t){if(this.
over)return;this.over=new u("closed","the client has been closed",t?{cause:t}:{}),this.#t?.abort(),this.tokens.stop(),this.#e.
stop(),this.#s?.(),t||this.presences.leaveAll();for(let s of[this.current,this.next])s&&(t||s===this.suspected)&&this.reportUnread(
s);let e=[this.current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),t&&(this.giveHeld(),this.trail?.
flush()),this.subscriber.end(t,this.over),this.presences.end(t,this.over),this.events.emit("closed",{error:t}),Promise.all(
e).then(()=>this.#i(t))}};var Lt=class{#t;#e=new Array(16);#s=0;#i=0;constructor(t){this.#t=t}get size(){return this.#i}get full(){return this.#i>=
this.#t}push(t){let e=this.#e;this.#i===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#i++&this.#e.length-1]=t}shift(){if(this.#i===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#i--,t}clear(){this.#e=new Array(16),this.#s=this.#i=0}};var xi=1e3,Ct=class{tenant;pattern;history;ended;#t;#e;#s;#i=[];#n=!1;#r;#o;#h=0;#f=-1/0;#c;#a;#l;constructor(t,e,s,n){this.
tenant=t,this.pattern=e,this.#t=s,this.#e=n,this.#s=new Lt(n.queue);let{from:r}=n;this.history=r===void 0?void 0:new Z(r),
r?.includes(".")&&!r.startsWith("last")&&(this.#a=this.#l=r),this.ended=new Promise(o=>{this.#o=o})}get position(){return this.#s.
size===0?this.#a:this.#l}async unsubscribe(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.
onMessage)throw new u("bad_option","a subscription with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.
resolve({done:t,value:void 0});let e=this.#s.shift();return e?(this.#l=e.position??this.#l,this.history?.paused&&this.#s.
size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve({done:!1,value:e})):this.#n?(t=!0,this.#r?Promise.reject(this.#r):
Promise.resolve({done:t,value:void 0})):new Promise((s,n)=>{this.#i.push({resolve:s,reject:n})})},return:async()=>(t=!0,
await this.unsubscribe(),{done:t,value:void 0})}}#u(t){let{onMessage:e}=this.#e;if(e){try{let n=e(t);n instanceof Promise&&
n.catch(j)}catch(n){j(n)}return!0}let s=this.#i.shift();return s?.resolve({done:!1,value:t}),s!==void 0}pushStored(t){if(this.#n)
return!0;let e=this.#u(t);return!e&&this.#s.full?(this.#d(),!0):(this.#a=t.position,e?this.#l=t.position:this.#s.push(t),
!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#a=t}#d(){this.end(new u("queue_full","messages were not read \
in time",this)),this.#t.leave(this)}push(t){if(this.#n||this.#u(t))return;let{queuePolicy:e}=this.#e;if(!this.#s.full)return this.#s.
push(t);if(e==="end")return this.#d();e==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#h++,this.#c??=setTimeout(
()=>this.#p(),Math.max(0,this.#f+xi-p()))}#p(){clearTimeout(this.#c),this.#c=void 0,this.#f=p(),this.#h>0&&this.#t.queueFull(
this,this.#h),this.#h=0}end(t){if(!this.#n){this.#n=!0,this.#r=t,t||this.#s.clear(),this.#p();for(let e of this.#i.splice(
0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#o(t)}}};async function is(i,t,e){let s=typeof t=="string"?[t]:t;(!e||!s?.length)&&v("connect needs an address and options");let n=new Bt(
s.map(o=>K(o,e.allowPlaintext===!0)),e,i),{signal:r=new AbortController().signal}=e;return k(r),await M(n.start(r),r),new Rt(
n)}var Rt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let n=this.#t;$("the object of options",s,"onMessage history queue queuePolicy");let{onMessage:r}=s;r&&typeof r!="functi\
on"&&v("onMessage must be a function");let o=new Ct(H(t),Yt(e),n.subscriber,{...Vt(s,n.settings),onMessage:r,from:Pe(s.history,
e)});return await n.subscriber.subscribe(o),o}async publish(t,e,s,n){let r=this.#t;n!==void 0&&$("the object of options",
n,"delivery confirm key");let{delivery:o="broadcast",confirm:h=!1,key:a}=n??{},c=zt.indexOf(o);c<0&&v(`delivery: allowed\
 are ${zt.join(", ")}`),typeof s!="string"&&s?.[Symbol.toStringTag]!=="Uint8Array"&&v("the payload must be a Uint8Array \
or a string");let l={tenant:H(t),channel:Jt(e)};if(h){let d=L(a??"");return a!==void 0&&!(d.length>0&&d.length<=64)&&v("\
a key has 1 to 64 bytes"),we(r,w=>Ft(l.tenant,l.channel,s,c,{id:w,key:d}),a!==void 0,l)}a!==void 0&&v("a key is for a pu\
blish that is confirmed");let f=Ft(l.tenant,l.channel,s,c||void 0);return r.publishConnection(),r.gate?new Promise((d,m)=>{
r.gate?.push(()=>{try{d(r.publishConnection().publish(f,l))}catch(w){m(w)}})}):r.publishConnection().publish(f,l)}async join(t,e){
let{presences:s}=this.#t,n=H(t),r=new Q(n,Jt(e,n),s);return await s.add(r),r}async presence(t,e,s={}){let{presences:n}=this.#t;
$("the object of options",s,"count onChange");let{count:r=!1,onChange:o}=s;typeof r!="boolean"&&v("count must be true or\
 false"),o&&typeof o!="function"&&v("onChange must be a function");let h=H(t),a=new rt(h,Yt(e,h),n,s);return await n.add(
a),a}async flush(){let t=this.#t;t.publishConnection(),t.gate&&await new Promise(e=>t.gate?.push(e)),await t.publishConnection().
ping()}renewToken(){return this.#t.renewToken()}retry(){this.#t.retry()}async close(){this.#t.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};var ns=64;function Ti(i){if(typeof i!="string"||/[\uD800-\uDFFF]/u.test(i))throw new u("bad_option","a channel's token i\
s made of a string without lone surrogates");let t=n=>`%${n.charCodeAt(0).toString(16).toUpperCase()}`,e=encodeURIComponent(
i).replace(/[.!~*'()]/g,t).replaceAll("%40","@").replaceAll("%","~")||"~";if(e.length<=ns)return e;let s="each byte of t\
he text but letters, digits and _-@ needs three";throw new u("bad_option",`a channel's token has at most ${ns} bytes; ${s}`)}var Qo=(i,t)=>is(J,i,t);export{Rt as Client,Wt as LoggedOutError,u as MillraceError,Ti as channelToken,Qo as connect};
