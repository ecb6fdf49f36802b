// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var l=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(t,e="\
the edge says so",s={}){let i=["tenant","channel","pattern"].map(o=>s[o]===void 0?"":` (${o} ${JSON.stringify(s[o])})`),
r=t==="unreachable"?ce(s.cause):"";super(`${t}${i.join("")}: ${e}${r&&`: ${r}`}`,"cause"in s?{cause:s.cause}:void 0),this.
code=t,this.tenant=s.tenant,this.pattern=s.pattern,this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode,
this.retryAfter=s.retryAfter}};function ce(n){let{message:t,code:e,cause:s}=n??{};return`${(s?ce(s):"")||t||e||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function fe(n,t){let e=n===401?"unauthorized":/^(429|50[234])$/.test(`${n}`)?"u\
navailable":"unreachable",s=`HTTP status ${n}, and the answer is no edge's: is the address right?`;return new l(e,s,{status:n,
retryAfter:t})}var It=class extends Error{name="LoggedOutError"};function A(n,t,e){return n instanceof l?n:new l(t,e,{cause:n})}
function k(n){return new l("disconnected","there is no connection to an edge",n===void 0?{}:{cause:n})}var ue=64;function Ze(n){if(typeof n!="string"||/\p{Surrogate}/u.test(n))throw new l("bad_option","a channel's token is \
made of a string without lone surrogates");let t=n.replace(/[^\w\-@]+/g,Qe)||"~";if(t.length<=ue)return t;let e="each by\
te of the text but a-z A-Z 0-9 _ - @ needs three";throw new l("bad_option",`a channel's token has at most ${ue} bytes; ${e}`)}
function Qe(n){let t="";for(let e of new TextEncoder().encode(n))t+=`~${e.toString(16).toUpperCase().padStart(2,"0")}`;return t}function K(n,t){let e=URL.canParse(n)?new URL(n):void 0;if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.
search||e.hash)throw new l("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!ts(e.hostname))throw new l("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function ts(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(n)}var p=()=>performance.now();function x(n,t,e=new Set){return new Promise((s,i)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),i(t.reason)},h=()=>{r(),s()},a=setTimeout(h,n);e.add(h),t.addEventListener("abort",o),
t.aborted&&o()})}async function I(n,...t){let e,s=new Promise(i=>{e=setTimeout(i,n)});await Promise.race([s,...t]).catch(
()=>{}),clearTimeout(e)}async function N(n,t,e){n.throwIfAborted();let s=new AbortController,i=()=>s.abort(n.reason),r=setTimeout(
()=>s.abort(new l("timeout","the edge does not answer")),t);n.addEventListener("abort",i);try{return await e(s.signal)}finally{
clearTimeout(r),n.removeEventListener("abort",i),s.abort()}}function O(n,t){return new Promise((e,s)=>{let i=()=>s(t.reason);
t.aborted&&i(),t.addEventListener("abort",i),n.then(e,s).finally(()=>t.removeEventListener("abort",i))})}function T(n,t){
return n<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(n-2,30))}var es=1e5,ss=new Set(["unconfirmed","history_unavailable","try_later"]),Nt=0;async function le(n,t,e,s){Nt=Nt+1>>>0;let i=Nt,
r=t(i),o=!1,h=new AbortController,a=setTimeout(()=>h.abort(k()),es),c;try{for(let f=2;;f++){c=await ns(n,e,h.signal,s);try{
return await O(c.confirm(r,i),h.signal)}catch(u){let{code:d}=u,m=d==="disconnected";if(o||=m||d==="unconfirmed",h.signal.
throwIfAborted(),!(o&&e&&(m||ss.has(d))))throw new l(d,void 0,s);m||await x(T(f,n.settings),h.signal)}}}catch(f){throw o?
new l("outcome_unknown","no edge has said whether the message is stored",{...s,cause:f}):f}finally{clearTimeout(a),c?.forgetConfirm(
i)}}async function ns(n,t,e,s){for(;;){if(n.over)throw n.over;if(n.gate){await O(new Promise(r=>n.gate?.push(r)),e);continue}
let i=n.publishOn??n.current;if(i?.alive)if(i.features===void 0)await O(i.featured,e);else{if(i.features.includes("histo\
ry"))return i;throw new l("no_history","the edge has no histories, and confirms nothing",s)}else{if(!t)throw k();await O(
n.changed(),e)}}}var is=new TextEncoder,rs=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Bt=1024,os=["PING","PONG","RECONNECT","OK:AUT\
H"],hs=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,as=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,B=n=>is.
encode(n);function P(n){try{return rs.decode(n)}catch(t){throw new l("protocol","text that is not UTF-8",{cause:t})}}var cs=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function C(n,t){let[e,s,...i]=n.split(":"),r=cs.get(e);
if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new l(`${s}_not_allowed`,i.join(":")||void 0,o):new l(
e,void 0,o)}function Lt(n){if(os.includes(n))return{kind:n};if(/^LINK:(up|down)$/.test(n))return{kind:"LINK",up:n==="LIN\
K:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(t&&n.length<=Bt)return{kind:"FEATURES",features:t};
let e=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),s=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(n);if((e||s)&&
(n.length<=Bt/3||B(n).length<=Bt)&&!n.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}let i=fs(
n);if(i)return i;throw new l("protocol","a line that is none")}function fs(n){let[,t,e="",s="",i="",r]=hs.exec(n)??[];if(t&&
X(i)&&t==="OK:RSUB"==(r!==void 0))return r?{kind:t,tenant:e,pattern:s,position:i,how:r}:{kind:t,tenant:e,pattern:s,position:i};
let[,o,h]=as.exec(n)??[];if(!(o===void 0||Number(o)>4294967295||h!==void 0&&!X(h)))return h===void 0?{kind:"OK:PUB",id:Number(
o)}:{kind:"OK:PUB",id:Number(o),position:h}}function X(n){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(n)??[];return t!==void 0&&e!==void 0&&de(t)&&de(e)}var de=n=>n.length<20||n<="18446744073709551615";function pe(n){
try{return Lt(n)}catch{return}}var Rt=["broadcast","one-nearest","one-random"];function jt(n,t,e,s,i){let r=typeof e=="string"?B(e):e,o=i?7+i.key.length:
s===void 0?0:2,h=new Uint8Array(o+4+n.length+t.length+r.length);return o>0&&(h[0]=i?3:2,h[1]=s??0),i&&(new DataView(h.buffer).
setUint32(2,i.id),h[6]=i.key.length,h.set(i.key,7)),h.set(r,me(h,me(h,o,n),t)),h}function me(n,t,e){n[t++]=e.length>>8,n[t++]=
e.length;for(let s=0;s<e.length;s++)n[t++]=e.charCodeAt(s);return t}var be=1,ye=2,Ct=24,us=128,ls={4:be|ye,5:7};function Wt(n,t,e){
if(t===e||n[t]===1)return!1;let s=ls[n[t]];return s===void 0||t+1<e&&(n[t+1]&~s)!==0}var J=class{#t=new D;#e=new D;#s=new D;#n={};decode(t,e,s){
let i=g=>{g>s&&_()},r=g=>(i(g+2),t[g]<<8|t[g+1]);(e===s||t[e]===5||Wt(t,e,s))&&_();let o,h="";if(t[e]===4){let g=r(e)&255;
if(g===0&&_(),e++,g&be&&(i(e+1+Ct),o=ds(t,e+1),e+=Ct),g&ye){i(e+2);let b=e+2;e=b+t[e+1]-1,e-b>=us&&_(),i(e+1),h=this.#s.
of(t,b,e+1,()=>P(t.subarray(b,e+1)))}}let a=o!==void 0,c=e+3+r(e+1),f=c+2+r(c),u=f+4;i(u);let d=u+r(f)*65536+r(f+2);(r(d)===
0||a&&r(d)!==1)&&_();let m=this.#t.of(t,e+1,f,()=>[P(t.subarray(e+3,c)),P(t.subarray(c+2,f))]),w=this.#n;return w.tenant=
m[0],w.channel=m[1],w.payload=t.subarray(u,d),w.route=this.#e.of(t,d,s,()=>{let g=[],b=d+2;for(let E=r(d);E>0;E--){let S=b+
2+r(b);i(S),g.push(P(t.subarray(b+2,S))),b=S}return b!==s&&_(),{patterns:Object.freeze(g),note:void 0}}),w.position=o,w.
sender=h,w}};function ds(n,t){let e=new DataView(n.buffer,n.byteOffset+t,Ct);return`${we(e,0)}${we(e,4)}.${ge(e,8)}.${ge(
e,16)}`}var we=(n,t)=>n.getUint32(t).toString(16).padStart(8,"0");function ge(n,t){let e=n.getUint32(t);return e<2097152?
String(e*4294967296+n.getUint32(t+4)):String(n.getBigUint64(t))}function _(){throw new l("protocol","a frame that is non\
e")}var ps=256,ms=1024,D=class{#t=[];of(t,e,s,i){let r=0;for(let c=e;c<s;c++)r=Math.imul(r,31)+t[c]|0;let o=(r^r>>>8)&ps-
1,h=this.#t[o];if(h&&ws(h.bytes,t,e,s))return h.value;let a=i();return s-e<=ms&&(this.#t[o]={bytes:t.slice(e,s),value:a}),
a}};function ws(n,t,e,s){if(n.length!==s-e)return!1;for(let i=0;i<n.length;i++)if(n[i]!==t[e+i])return!1;return!0}function $(n,t,e){let s=typeof t=="object"&&t!==null,i=s?Object.keys(t).find(o=>!e.split(" ").includes(o)):"";if(i===void 0)
return;let r=s?`has no ${JSON.stringify(i.slice(0,32))}`:"must be an object";throw new l("bad_option",`${n} ${r}: allowe\
d are ${e.replaceAll(" ",", ")}`)}var gs=["drop-oldest","drop-newest","end"],ve=["webtransport","websocket"];function v(n){throw new l("bad_option",n)}function L(n,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&v(`${n} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function ke(n,t,e){return e.includes(t)||v(`${n}: allowed are ${e.join(", ")}`),t}function qt(n,t){return{queue:Math.ceil(
L("queue",n.queue,t.queue)),queuePolicy:ke("queuePolicy",n.queuePolicy??t.queuePolicy,gs)}}var bs="token tokenProvider t\
ransports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintex\
t serverCertificateHashes sender signal on";function xe(n){$("the object of options",n,bs),$("paths",n.paths??{},"webSoc\
ket webTransport ping");let{token:t,tokenProvider:e,transports:s=ve,sender:i=!1}=n;t===void 0==(e===void 0)&&v("one of t\
oken and tokenProvider is needed"),e!==void 0&&typeof e!="function"&&v("tokenProvider must be a function"),typeof i!="bo\
olean"&&v("sender must be true or false"),s.length===0&&v("transports must not be empty");for(let o of s)ke("transports",
o,ve);let r=L("minBackOff",n.minBackOff,250);return{token:t===void 0?void 0:Dt(t),tokenProvider:e,transports:[...new Set(
s)],fallbackAfter:L("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:L("connectTimeout",n.connectTimeout,1e4),keepAlive:L(
"keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:L("pongTimeout",n.pongTimeout,1e4),minBackOff:r,maxBackOff:Math.max(r,L("\
maxBackOff",n.maxBackOff,15e3)),...qt(n,{queue:1024,queuePolicy:"drop-oldest"}),sender:i,paths:{webSocket:Gt(n.paths?.webSocket??
"/ws"),webTransport:Gt(n.paths?.webTransport??"/wt"),ping:Gt(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===
!0,hashes:n.serverCertificateHashes}}function Gt(n){return/^\/[^?#]*$/.test(n)||v("paths must start with a slash"),n}var ys="\
a token is a string of 1 to 512 letters, digits and .~_+-";function Dt(n){return(typeof n!="string"||!/^[\w.~+-]{1,512}$/.
test(n))&&v(ys),n}var Te=1e5;function Ee(n,t){if(n===void 0||n==="now"||n==="last")return n;let{last:e,after:s}=n;return typeof s=="string"&&
e===void 0&&X(s)?s:((!Number.isInteger(e)||e<1||e>Te||s!==void 0)&&v(`history is "now", "last", { last: 1 to ${Te} } or \
{ after: position }`),/[*>#]/.test(t)&&v("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}
var V=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){this.from=t}get refusal(){
return this.forbidden?"permission_denied":this.plain?"no_history":void 0}begin(t){this.on=t,this.open=this.forbidden=this.
unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(t,e){return this.on===t&&this.open&&!this.
plain&&!vs(e,this.from)}};function vs(n,t){let[e,s=""]=n.split("."),[i,r]=t.split(".");return e===i&&r!==void 0&&(s.length===
r.length?s<=r:s.length<r.length)}var Y=class{tenant;channel;ended;verb="JOIN";#t;#e;constructor(t,e,s){this.tenant=t,this.channel=e,this.#t=s,this.ended=
new Promise(i=>{this.#e=i})}async leave(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(t){this.#e(t)}};var Z="[\\w\\-~@]+",ks=/^[\w\-~@.]{1,128}$/,xs=new RegExp(`^(?=.{1,256}$)${Z}(\\.${Z}){0,31}$`),Ts=new RegExp(`^(?=.{1,2\
56}$)((${Z}\\*?|\\*)\\.){0,31}(${Z}[*>#]?|[*>#])$`),Es=n=>ks.test(n),Ss=n=>xs.test(n),As=n=>Ts.test(n),Ms="~";function H(n){
return Ft("tenant",Es,n===""?Ms:n)}function Ht(n,t){return Ft("channel",Ss,n,t)}function zt(n,t){return Ft("pattern",As,
n,t)}function Ft(n,t,e,s){if(typeof e!="string"||!t(e)){let i={...s===void 0?{}:{tenant:s},[n]:String(e).slice(0,256)};throw new l(
`bad_${n}`,"not a legal name, see docs/protocol.md, Names",i)}return e}var Os=1024,Q=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){if(typeof e!=
"function")throw new l("bad_option",`the handler of ${t} must be a function`);let s=r=>e(r),i=this.#t.get(t)??new Set;return this.#t.
set(t,i.add(s)),()=>{i.delete(s)}}emit(t,e){this.#e.push([t,e])>Os&&this.#e.shift(),this.#s||this.#n()}async#n(){this.#s=
!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.get(t[0])??[]])try{await e(t[1])}catch(s){
R(s)}this.#s=!1}};function R(n){queueMicrotask(()=>{throw n})}var tt=(n,t)=>n===t||typeof n=="object"&&typeof t=="object"&&n.text===t.text,Kt=n=>n.includes(":"),et=class{members=new Map;counts=new Map;get(t){
return Kt(t)?this.members.get(t):this.counts.get(t)??0}count({channel:t,members:e}){e>0?this.counts.set(t,e):this.counts.
delete(t)}put(t,e){let{channel:s,subject:i,here:r,since:o,info:h}=e,a=this.members.size;if(r){let f={channel:s,subject:i,
info:_s(h),since:new Date(o)};this.members.set(t,{member:f,text:`${o} ${h}`})}else this.members.delete(t);let c=(this.counts.
get(s)??0)+this.members.size-a;this.count({channel:s,members:c})}};function _s(n){try{return n?JSON.parse(n):void 0}catch{
return}}var st=class{#t;#e=new WeakMap;#s=new et;#n=new Map;#i;#r;constructor(t){this.#t=t}get members(){return this.#i??=
Object.freeze([...this.#s.members.values()].map(({member:t})=>t).sort((t,e)=>Se(t.channel,e.channel)||Se(t.subject,e.subject))),
this.#i}get counts(){return this.#r??=new Map([...this.#s.counts,...this.#n].filter(([,t])=>t>0)),this.#r}get(t){return this.#n.
get(t)??this.#s.get(t)}begin(t){this.#e.set(t,{roster:void 0,next:void 0})}end(t){this.#e.delete(t)}hasSynced(t){return this.#e.
get(t)?.roster!==void 0}take(t,e,s,i){let r=this.#e.get(t);if(!r)return;let{first:o,synced:h,counts:a,channels:c,members:f}=s;
if(a&&!i){if(t===e)for(let m of c)this.#f(m.channel,!0,()=>this.#o(m));return}o&&(r.next=new et);let u=r.next??r.roster;
if(!u)return;let d=(m,w)=>{u===this.#s?this.#f(m,!1,w):w()};for(let m of c)d(m.channel,()=>u.count(m));for(let m of f){let{
channel:w,subject:g}=m,b=`${w}:${g}`;d(w,()=>d(b,()=>u.put(b,m))),u===this.#s&&u.get(w)===this.#n.get(w)&&this.#n.delete(
w)}h&&(r.roster=u,r.next=void 0,t===e&&(this.follow(t),this.#h()))}follow(t){let e=this.#e.get(t)?.roster,s=this.#s;if(!(!e||
e===s)){this.#s=e,this.#c();for(let{members:i,counts:r}of[s,e])for(let o of[...i.keys(),...r.keys()])!this.#n.has(o)&&!tt(
s.get(o),e.get(o))&&this.#a(o,s.get(o),!1);this.#h()}}#o({channel:t,members:e}){e===this.#s.get(t)?this.#n.delete(t):this.#n.
set(t,e)}#h(){for(let t of[...this.#n.keys()])this.#f(t,!0,()=>this.#n.delete(t))}#f(t,e,s){let i=this.get(t);s(),this.#c(),
tt(i,this.get(t))||this.#a(t,i,e)}#c(){this.#i=this.#r=void 0}#a(t,e,s){for(let i of this.#t)i.note(t,e,s)}},Se=(n,t)=>n<
t?-1:n>t?1:0;var Ps=Object.freeze([]),nt=class{tenant;pattern;ended;verb="WHO";count;watch;#t;#e;#s=new Map;#n=[];#i=!1;#r=!1;#o=!1;#h=!1;#f;#c;constructor(t,e,s,{
count:i=!1,onChange:r}){this.tenant=t,this.pattern=e,this.count=i,this.#t=s,this.#e=r,this.ended=new Promise(o=>{this.#c=
o})}get members(){return this.count?Ps:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#h&&
this.#t.isSynced(this)}async close(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let t=!1;return{next:()=>{let e=t?void 0:this.#a();if(e)return Promise.resolve({done:!1,value:e});if(!t&&
!this.#h)return new Promise((i,r)=>{this.#n.push({resolve:i,reject:r})});let s=t?void 0:this.#f;return t=!0,s?Promise.reject(
s):Promise.resolve({done:t,value:void 0})},return:async()=>(t=!0,await this.close(),{done:t,value:void 0})}}#a(){for(let[
t,e]of this.#s){this.#s.delete(t);let s=this.watch.get(t);if(typeof s=="number")return{type:"counts",channel:t,count:s};
let{member:i}=s??e;return{type:s?e?"changed":"joined":"left",channel:i.channel,member:i}}}note(t,e,s){this.#r=!0,!(!this.#i||
!(Kt(t)?!this.count:this.count||s))&&(this.#s.has(t)?tt(this.#s.get(t),this.watch.get(t))&&this.#s.delete(t):this.#s.set(
t,e))}opened(){this.#i=this.#o=!0,this.#r=!1}update(){for(;this.#n.length>0;){let s=this.#a();if(!s)break;this.#n.shift()?.
resolve({done:!1,value:s})}let{synced:t}=this,e=this.#h&&!this.#f;if(this.#i&&!e&&(this.#r||t!==this.#o))try{this.#e?.(this)}catch(s){
R(s)}this.#r=!1,this.#o=t}end(t){if(!this.#h){this.#h=!0,this.#f=t,t||this.#s.clear(),this.update();for(let e of this.#n.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#c(t)}}};var $s=new TextDecoder("windows-1252");function U(n){return`${n.tenant}:${n.channel}:${$s.decode(n.payload)}`}var M=class{size=0;#t=0;#e=[];#s=0;#n=new Map;get oldest(){
for(;this.#e[this.#s]?.entry===void 0&&this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.
flatMap(({entry:t})=>t??[])}put(t,e,s){this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=
0);let i={entry:{key:t,time:e,message:s}};this.#e.push(i);let r=this.#n.get(t);return r?r.push(i):this.#n.set(t,[i]),this.
size++,this.#t+=t.length,this.size>65536||this.#t>16777216?this.drop():void 0}take(t){let e=this.#n.get(t),s=e?.shift();
return!e||!s?!1:(e.length===0&&this.#n.delete(t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;
return t&&this.take(t.key),t}dropUntil(t){let e=[];for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&
e.push(s.message);return e}};var Ae=1e3,Us=1e4,j=class{#t=new M;#e=new M;#s=new M;#n=Ae;#i;joined(t){this.#i=t}left(t){this.#n+=this.#r(t),this.#i=void 0}#r(t){
return this.#i===void 0?0:Math.min(t-this.#i,Us-Ae)}fromCurrent(t,e){let s=U(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(U(t),e),t;let i=this.#e.put(
U(t),e,{...t});return i&&this.#s.put(i.key,e),i?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(U(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new M;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#i=void 0,this.#t=new M;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new M}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#n-this.#r(
t))}};var it=250,rt=2e3;async function z(n,t,e,s,i){for(;n.merger&&!n.merger.done(p());)await x(50,s);n.merger=new j,n.both=!0;
let r=i!==void 0;n.tentative=r;let{place:o}=n,h=!1,a=()=>{h||n.events.emit("moving",{...o,reason:e}),h=!0};r||a();let c=0;
for await(let f of n.searcher.order(t.edge,e!=="drain",s)){let u=i;if(i=void 0,!u){await n.pause(Math.max(T(++c,n.settings),
n.searcher.wait(f)),s);try{u=await n.searcher.open(f,s)}catch(d){if(s.throwIfAborted(),!(d instanceof l)||n.searcher.hopeless(
f,d,!0))throw d;continue}}if(s.aborted)return void u.close();if(u.alive){n.next=u,n.merger.joined(p()),n.merger.release();
let d=n.restore(u);n.tentative&&u.ping().catch(()=>{}),await d}if(n.tentative){if(s.throwIfAborted(),n.next!==u)return n.
keepCurrent();n.tentative=!1}if(u.alive){if(await Is(n,t,u,a,s),s.throwIfAborted(),n.current!==u){if(r)return n.keepCurrent();
continue}u.alive&&(a(),n.since=p(),n.events.emit("moved",{...n.place,reason:e}));return}}}async function Is(n,t,e,s,i){let r=()=>n.
next===e&&n.current===t;if(!r())return;n.gate??=[];let o=I(rt,t.ping()).then(()=>{r()&&n.openGate(e)}),h=3;do await x(it,
i);while(--h&&n.merger?.behind);await I(rt,Promise.all([...n.subscriber.asking,...n.presences.asking]));for(let c=rt;c>0&&
r()&&!n.presences.hasSynced(e);c-=it)await x(it,i);for(;r()&&e.postponed.size>0;)await x(it,i);if(!r())return;s(),n.leaving=
!0;let a=[...t.asked].map(c=>t.leave(c));await I(rt,t.ended,Promise.allSettled([...a,t.ping(),t.confirmedAll()])),await o,
r()&&n.promote(),n.leaving=!1}var Ns=1e4;async function Me(n,t,e,s){let{lastByte:i}=t;n.reconnecting=!0,n.current=void 0,n.merger=void 0,n.both=n.leaving=
n.tentative=n.gaps=!1,n.openGate(void 0);for(let r of n.subscriber.interests.all)r.confirmed=!1;n.presences.follow(),n.events.
emit("disconnected",{...n.place,error:e}),e.code==="token_expired"&&t.token===n.tokens.token&&n.tokens.expire(),p()-n.since>
Ns&&(n.attempts=0);for await(let r of n.searcher.order(t.edge,!1,s)){let o=++n.attempts,h=Math.max(T(o,n.settings),n.searcher.
wait(r));n.events.emit("reconnecting",{attempt:o,delay:h}),await n.pause(h,s);try{let a=await n.searcher.open(r,s);if(s.
aborted)return void a.close();if(n.setCurrent(a),await n.restore(a),s.throwIfAborted(),!a.alive)continue;n.reconnecting=
!1,n.since=p();let c=!n.gaps&&n.subscriber.interests.all.every(f=>f.history);return n.events.emit("reconnected",{...n.place,
away:p()-i,complete:c})}catch(a){if(s.throwIfAborted(),!(a instanceof l)||n.searcher.hopeless(r,a,!1))throw a}}}var Bs=4096,ot=class{#t=new Map;#e=[];#s=0;#n;add(t,e){return this.note(e),new Promise((s,i)=>{this.#t.set(t,{resolve:s,
reject:i,size:e})})}note(t,e){t<=Bs||t<this.#s||(this.#n=t>this.#s?e:this.#n??e,this.#s=t)}tooLarge(){for(let[t,{size:e}]of this.#t)
e===this.#s&&this.error("payload_too_large",`PUB:${t}`);return this.#n}settle(t,e=()=>{}){let s=this.#t.get(t);if(s&&e(s),
this.#t.delete(t),this.#t.size===0)for(let i of this.#e.splice(0))i()}error(t,e){let s=/^PUB:(\d+)$/.exec(e)?.[1];return s===
void 0?!1:(this.settle(Number(s),i=>i.reject(new l(t))),!0)}get owed(){return this.#t.size>0}idle(){return this.#t.size===
0?Promise.resolve():new Promise(t=>{this.#e.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(k()))}};async function ht(n,t){try{let e=await fetch(n,{cache:"no-store",credentials:"omit",signal:t});return await e.arrayBuffer(),
e.ok}catch{return!1}}async function Oe(n,t){try{return await fetch(n,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:t}),!0}catch{return!1}}var at=class{#t;#e=0;#s=0;#n=0;#i=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#n=this.#i=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#i=this.#n,this.#n=0,this.#e=
t),e>this.#n&&(this.#n=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#n,this.#i)))}};var Ls=.9765625,Cs=1e3,Rs=32,ct=class{#t=0;#e=0;#s=0;#n=0;#i;#r;#o=Ls;publish(t,e){let s=this.#t++===this.#e;return this.#h(
t,e,s),s}request(t,e,s){let i=this.waits(s)===void 0;return this.#h(t,e,i),i}#h(t,e,s){this.#n+=t+Rs,this.#r??=e,s&&(this.#i=
e)}waits(t){return this.#t===this.#e&&t>=(this.#i??t)?void 0:this.#i}mark(){let t={publishes:this.#t,bytes:this.#n,first:this.#r};
return this.#e=this.#t,this.#n=0,this.#i=this.#r=void 0,t}proven({publishes:t,bytes:e,first:s},i){this.#s=Math.max(this.#s,
t),s!==void 0&&(this.#o=Math.min(this.#o,(i-s+Cs)/e))}sendTime({bytes:t}){return t*this.#o}told(){this.#s++}take(){let t=this.#t-
this.#s;return this.#s=this.#t,t}};var ut=2e3,_e=1e3,ft=new Set,Xt,Jt=0,Vt=0;function js(n,t){return n>=_e+ut||t-n>=ut}function Zt(){let n=p()-Jt,t=Date.now()-
Vt;Jt+=n,Vt+=t,js(n,t)&&Yt("slept")}function Pe(n){return ft.add(n),Xt??=Ws(),()=>{!ft.delete(n)||ft.size>0||(Xt?.(),Xt=
void 0)}}function Yt(n){for(let t of[...ft])t[n]()}function Ws(){Jt=p(),Vt=Date.now();let n=setInterval(Zt,_e),t=globalThis,
{document:e,navigator:s}=t,i=()=>Yt("slept"),r=()=>{e?.visibilityState==="visible"&&i()},o=()=>Yt("networkChanged"),h=s?.
connection,a=h?.type,f=[[t,"online",o],[h,"change",()=>{h?.type!==a&&(a=h?.type,o())}],[t,"pageshow",i],[e,"resume",i],[
e,"visibilitychange",r]];for(let[u,d,m]of f)u?.addEventListener?.(d,m);return()=>{clearInterval(n);for(let[u,d,m]of f)u?.
removeEventListener?.(d,m)}}var lt=1e3,Qt=1e3,Ds=3,Hs=2**31-1,te=50,dt=class{heard=p();#t;#e;#s=new at(this.heard);#n=1+Math.random()/16;#i=-1/0;#r=!1;#o;#h=0;#f=0;#c=0;#a=-1/0;#u=-1/0;#l;#d;#p;#m=!1;constructor(t,e){
this.#t=t,this.#e=e}arrived(t){this.heard=t,this.#l=void 0,this.#d?.abort(),this.#d=void 0,(this.#r?this.#s.skip(t):this.#s.
arrived(t))&&this.arm(),this.#r&&(this.#r=!1,this.#t.woke())}active(t){let e=this.#y;this.#i=t,e||this.arm()}get#y(){return this.
heard-this.#i<1e4}ponged(t){this.#c=0;let e=Math.min(t,2*this.#v);this.#o===void 0?(this.#o=e,this.#h=e/2):(this.#h+=(Math.
abs(this.#o-e)-this.#h)/4,this.#o+=(e-this.#o)/8),this.arm()}awake(t){let e=p();this.#w||(this.#c=0),!(this.#m||this.#c++>=
Ds)&&(this.#f=e,this.#e.keepAlive>0&&!this.#w&&(t||e-this.heard>=lt)&&this.#b(e),this.arm())}stop(){this.#m=!0,this.#d?.
abort(),clearTimeout(this.#p)}get#w(){return this.#t.unanswered??this.#l}get#v(){return Math.max(lt,(this.#o??0)+4*this.#h)}get askAt(){
let{keepAlive:t}=this.#e;if(t<0)return 1/0;let e=this.#y?this.#s.unusual:1/0,s=Math.min(t,e,this.#t.owed?3e3:1/0),i=this.#t.
unreadSince??1/0;return Math.min(this.heard+s*this.#n,i+Math.min(1e3,t))}suspectAt({at:t,sendTime:e}){return Math.max(t,
this.heard,this.#f)+(this.#l?lt:this.#v)+e}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:i}=this.#e;if(s<0)return 1/0;
let r=Math.max(this.heard,this.#f);return Math.max(t+i,r+s+i)+e}arm(){clearTimeout(this.#p);let t=this.#w,e=t?Math.min(this.#r?
1/0:this.#g(t),this.lostAt(t),this.#a+Qt):this.askAt;if(this.#m||e===1/0)return;let s=p(),i=Math.max(e,s+1);this.#p=setTimeout(
()=>this.#k(i),Math.min(i-s,Hs))}#g(t){return Math.max(this.suspectAt(t),this.#u+Qt)}#k(t,e=!1){Zt();let s=p();if(s-t>=ut&&
this.awake(!1),this.#m)return;if(!e&&s-t>te){clearTimeout(this.#p),this.#p=setTimeout(()=>this.#k(s+te,!0),te);return}let i=this.#w;
if(!i)s>=this.askAt&&this.#b(s);else{if(s>=this.lostAt(i))return this.#t.over();!this.#r&&s>=this.#g(i)&&this.#x(s),this.#m||
this.probe()}this.arm()}#x(t){this.#r=this.#t.silent(),this.#r||(this.#u=t)}#b(t){if(this.#t.pingFirst===void 0||this.#t.
unreadSince!==void 0)return this.#t.ask();this.#l={at:t,sendTime:0},this.#a=-1/0,this.probe()}probe(){let t=p();t-this.#a<
Qt||(this.#a=t,this.#t.pingFirst!==void 0&&(this.#r||this.#l)?this.#T(this.#t.pingFirst):this.#t.probe())}async#T(t){if(this.#d)
return;let e=new AbortController;this.#d=e;let s=setTimeout(()=>e.abort(),lt),i=await Oe(t,e.signal);clearTimeout(s),!(this.#m||
this.#d!==e)&&(this.#d=void 0,i?(this.#l=void 0,this.#t.unanswered?this.#t.probe():this.#t.ask()):this.#l&&(this.#l={at:-1/0,
sendTime:0}),this.arm())}};var $e=(n,t,e)=>t<e&&n[t]===5;function Ue(n,t,e){let s=new DataView(n.buffer,n.byteOffset,e),i=t+1,r=u=>(i+=u,i>e&&_(),i-
u),o=()=>s.getUint8(r(1)),h=()=>s.getUint16(r(2)),a=u=>P(n.subarray(r(u),i)),c=o(),f={first:(c&1)!==0,synced:(c&2)!==0,counts:(c&
4)!==0,tenant:a(h()),pattern:a(h()),members:[],channels:[]};for(let u=h();u>0;u--)if(f.counts)f.channels.push({channel:a(
h()),members:s.getUint32(r(4))});else{let d=o();d>1&&_();let m={channel:a(h()),subject:a(o()),here:d===1,since:0,info:""};
m.here&&(m.since=Number(s.getBigUint64(r(8))),m.info=a(h())),f.members.push(m)}return i!==e&&_(),f}var pt=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),i=s?.
shift();return i?(s?.length===0&&this.#t.delete(t),e(i),!0):!1}get owed(){for(let t of this.#t.keys())if(!/^(RSUB|AGAIN):/.
test(t))return!0;return!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();for(let s of e)s.reject(t)}};var mt=class{edge;transport;token;begun=p();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#t;#e;#s;#n=new J;#i=new pt;#r=new ot;#o;#h=[];#f=new Set;#c=new ct;#a=!1;#u=!0;#l=!0;#d;constructor(t,e,s,i,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=i;let o=this;this.#s=new dt({get unanswered(){return o.#h[0]},
get unreadSince(){return o.#c.waits(o.lastByte)},get owed(){return o.#i.owed||o.#r.owed},pingFirst:e.fragile?t+r.paths.ping:
void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.silent(this),woke:()=>this.#e.woke(this),
over:()=>this.fail(new l("timeout","the edge does not answer"))},r),this.featured=new Promise(a=>{this.#o=a});let h;this.
ended=new Promise(a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#s.arrived(p())},line:a=>this.#x(()=>this.#v(a)),frame:(a,c,f)=>{
if(!this.alive||(this.#w(),Wt(a,c,f)))return;if($e(a,c,f))return this.#y(a,c,f);let u;try{u=this.#n.decode(a,c,f)}catch(d){
return this.#b(d)}this.#e.delivered(this,u)},ended:a=>{h(),this.#T(a)}}),this.#a=!0,this.alive&&this.#m(`FEATURES:link${r.
sender?",sender":""}`),this.alive&&this.#s.arm()}get lastByte(){return this.#s.heard}request(t,e,s=""){t==="SUB"&&this.asked.
add(e);let i=`${t}:${e}`,r=this.#p(i);return this.alive&&this.#m(i+s),r}resume(t,e){let s=this.#p(`RSUB:${t}`);return this.
alive&&this.#m(`RSUB:${t}:${e}`),s}leave(t,e="UNSUB"){let s=`${e}:${t}`,r=this.request(e,t).catch(()=>{}).then(()=>{this.
ending.get(s)===r&&this.ending.delete(s)});return this.ending.set(s,r),r}confirm(t,e){if(!this.alive)return Promise.reject(
k());let s=this.#r.add(e,t.length);return this.#m(t),s}forgetConfirm(t){this.#r.settle(t)}confirmedAll(){return this.#r.
idle()}postpone(t,e){this.postponed.add(t);let s=`AGAIN:${t}`,i=setTimeout(()=>this.#i.answer(s,r=>r.resolve()),e);return this.#p(
s).finally(()=>clearTimeout(i))}#p(t){return new Promise((e,s)=>{this.alive?this.#i.add(t,{resolve:e,reject:s}):s(k())})}forget(t){
return this.confirmed.delete(t),this.postponed.delete(t),this.#i.answer(`AGAIN:${t}`,e=>e.reject(k())),this.asked.delete(
t)}ping(){return new Promise((t,e)=>{if(!this.alive)return e(k());let s=this.#c.mark();this.#h.push({at:p(),sendTime:this.#c.
sendTime(s),mark:s,resolve:t,reject:e}),this.#t.send("PING"),this.#s.probe(),this.#h.length===1&&this.#s.arm()})}publish(t,e){
this.#r.note(t.length,e);let s=this.#c.publish(t.length,p());this.#t.send(t),s&&this.#s.arm();let i=this.#t.sent();return i&&
new Promise(r=>{let o=()=>{this.#f.delete(o),r()};this.#f.add(o),i.then(o,o)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=
t,this.#s.stop(),this.#i.reject(k()),this.#r.fail();for(let e of this.#h)e.reject(k());for(let e of this.#f)e()}#m(t){let e=this.#c.
request(t.length,p(),this.lastByte);this.#t.send(t),e&&this.#s.arm()}takeUnread(){return this.#c.take()}close(){return this.
alive&&(this.#E(k()),this.#t.close()),this.ended}#y(t,e,s){let i;try{i=Ue(t,e,s)}catch(r){return this.#b(r)}this.#e.presence(
this,i)}#w(){let t=p();this.#s.arrived(t),this.#s.active(t)}#v(t){t==="PONG"?this.#s.arrived(p()):this.#w();let e=pe(t);
if(e)if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;if(this.#i.answer(`${e.verb}:${s}`,i=>i.resolve())&&e.verb==="SU\
B"&&(this.confirmed.add(s),this.postponed.delete(s)),e.verb==="UNSUB")for(;this.#i.answer(`RSUB:${s}`,i=>i.reject(k()));)
;}else if(e.kind==="OK:PUB")this.#r.settle(e.id,s=>s.resolve(e.position));else if(e.kind==="OK:RSUB"||e.kind==="AT"||e.kind===
"GAP")this.#e.reached(this,e),e.kind==="OK:RSUB"&&this.#i.answer(`RSUB:${e.tenant}:${e.pattern}`,s=>s.resolve());else if(e.
kind==="ERR")this.#k(e.code,e.detail,t.slice(4));else if(e.kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#h.
shift();if(!s)return;let i=p()-s.at;this.#c.proven(s.mark,p()),s.resolve(i),this.#s.ponged(i),this.#e.roundTrip(i)}else e.
kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATURES"?this.#g(e.features.split(",")):
e.kind==="LINK"&&(this.#l=e.up,this.#u||this.#g())}#g(t=this.features??[]){this.#u=!1,this.features=t,this.#o(),this.link=
this.#l,this.#e.linked()}#k(t,e,s){if(this.#u&&t==="bad_request")return this.#g();let i=C(s);if(i&&(this.#d=s),this.#r.error(
t,e))return;let[,r,o,h]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(e)??[];!(o!==void 0&&h!==void 0&&
t!=="broker_unavailable"&&this.#i.answer(e,c=>c.reject(new l(t,void 0,r?{tenant:o,channel:h}:{tenant:o,pattern:h}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.
test(t)&&this.#e.errorLine(this,t,e),(t==="token_revoked"||t==="token_expired")&&this.fail(i)}#x(t){if(this.alive)try{t()}catch(e){
this.#b(e)}}#b(t){this.fail(A(t,"protocol","the edge broke the protocol"))}fail(t){this.#E(t),this.#t.close(),this.#a&&this.#e.
lost(this,t)}#T({closeCode:t,error:e}){if(!this.alive)return;let s=this.#d===void 0?void 0:C(this.#d,t),i=t===4401?"toke\
n_expired":t===4403?"token_revoked":"disconnected",r=s?.code!=="slow_consumer"||t===4429,o="the connection has ended";if(t===
1009){o="a message was too large for the edge";let a=this.#r.tooLarge();a&&(this.#c.told(),this.#e.errorLine(this,"paylo\
ad_too_large",`PUB:${a.tenant}:${a.channel}`))}let h=s&&r?s:e??new l(i,o,{closeCode:t});this.#E(h),this.#a&&this.#e.lost(
this,h)}#E(t){this.alive=!1,this.error=t,this.#s.stop();let e=k(t);this.#o(),this.#i.reject(e),this.#r.fail();for(let s of this.#h)
s.reject(e);this.#h=[]}};var W=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(i=>i.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var G=globalThis,wt=G.process?.versions,zs=G.Deno!==void 0||wt?.bun!==void 0||wt?.node!==void 0,Ie=wt?.node!==void 0&&wt.
bun===void 0&&G.Deno===void 0&&G.document===void 0,Ne=!zs&&(G.document!==void 0||G.WorkerGlobalScope!==void 0);var ee=32<<20,Be=(n,t,e)=>e>t&&n[t]<32,gt=class{#t;#e=[];#s=0;constructor(t=ee){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#n(t,e),this.#s>0))){for(;t.length-s>=4;){let i=s+4+this.#o(t,s);if(i>t.length)break;e(t,
s+4,i),s=i}s<t.length&&this.#i(t.slice(s))}}#n(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#i(t.slice(
0,s)),this.#s<4))return s;let i=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(i,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#i(t.slice(s,s+o)),this.#s===r){let h=this.#r();this.#e=[],this.#s=0,e(h,4,r)}return s+o}#i(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new l("protocol","a message that is to\
o long");return s}};var Le=1<<20,Fs=1e3;async function Ce({edge:n,token:t,signal:e},{paths:s}){let i=n.replace("http","ws")+s.webSocket,{promise:r,
resolve:o,reject:h}=Vs(),a=await Ks("ws");e.throwIfAborted();let c,f=a?new a(i,{headers:{Authorization:`Bearer ${t}`},perMessageDeflate:!1,
maxPayload:ee}):new WebSocket(i,["llps.v1",`at.${t}`]);a||(f.binaryType="arraybuffer");let u=()=>f.terminate?f.terminate():
f.close(),d=()=>{h(e.reason),u()};e.addEventListener("abort",d);let m=new W,w=!1,g,b;f.on?.("unexpected-response",(y,Ye)=>{
c=Xs(Ye).finally(()=>y.destroy()),c.then(h)});let E;f.on?.("upgrade",y=>{E=y.socket}),f.onerror=({error:y})=>{g=y},f.onopen=
()=>{w=!0,E?.prependListener("data",()=>m.bytes()),e.removeEventListener("abort",d),o({transport:"websocket",fragile:!1,
start:y=>m.start(y),send:y=>w&&f.send(y),sent:()=>w&&f.bufferedAmount>Le?S():void 0,probe(){},close(){f.close(1e3),b??=setTimeout(
()=>{u(),m.ended({})},Fs)}})},f.onclose=({code:y})=>{clearTimeout(b),w?(w=!1,m.ended({closeCode:y})):c||Js(n+s.ping,a!==
void 0,e,g).then(h,h),e.removeEventListener("abort",d)},f.onmessage=({data:y})=>{typeof y=="string"?m.line(y):y instanceof
ArrayBuffer?m.frame(new Uint8Array(y),0,y.byteLength):m.frame(new Uint8Array(y.buffer,y.byteOffset,y.length),0,y.length)};
async function S(){for(;w&&f.bufferedAmount>Le;)await new Promise(y=>setTimeout(y,5))}return r}async function Ks(n){if(Ie)
try{let{WebSocket:t}=await import(n);return t}catch(t){if("WebSocket"in globalThis)return;throw new l("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:t})}}async function Xs(n){let t=n.statusCode,e=Number(n.headers["re\
try-after"]),s={status:t,retryAfter:e>0?e*1e3:void 0},i="";try{let r=new TextDecoder;for await(let a of n)if(i+=r.decode(
a,{stream:!0}),i.length>65536)break;let{code:o,detail:h}=JSON.parse(i);if(o==="unauthorized")return new l(o,"the edge do\
es not accept the token",s);if(typeof o=="string")return new l(o,h,s)}catch{}return fe(t,s.retryAfter)}async function Js(n,t,e,s){
return!t&&await ht(n,e)?new l("refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's \
origin"):new l("unreachable","no WebSocket to the edge",{cause:s})}function Vs(){let n,t;return{promise:new Promise((s,i)=>{
n=s,t=i}),resolve:n,reject:t}}var Re=1e3,Ys=43,Zs=2e3,je=()=>"WebTransport"in globalThis;async function We(n,{paths:t,hashes:e}){let{signal:s}=n,i=[],
r,o=()=>{clearTimeout(r),i.forEach(bt)};s.addEventListener("abort",o);try{let h=await new Promise((c,f)=>{let u=()=>{let d=new WebTransport(
n.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});i.push(d),d.closed.catch(()=>{}),d.ready.then(()=>c(d),f)};
u(),r=setTimeout(u,Zs)});for(let c of i)c!==h&&bt(c);let a=h.closed.then(({closeCode:c,reason:f})=>({closeCode:c,error:C(
`${f}`)}),()=>({}));return await Qs(h,a,n.token)}catch(h){throw o(),s.throwIfAborted(),A(h,"unreachable","no WebTranspor\
t to the edge")}finally{clearTimeout(r),s.removeEventListener("abort",o)}}async function Qs(n,t,e){let s=await n.createBidirectionalStream(),
i=new W,r=new se(s.writable.getWriter()),o=s.readable.getReader(),h,a,c=tn(n);r.send(`AUTH:${e}`);let f=new gt,u=(w,g,b)=>{
if(Be(w,g,b))return i.frame(w,g,b);let E=P(w.subarray(g,b));if(a)return i.line(E);let S=Lt(E);S.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:Ne,start:y=>i.start(y),send:y=>r.send(y),sent:()=>r.sent,probe:c,close:()=>{r.close().then(()=>bt(
n))}}:S.kind==="ERR"&&(h??=C(E.slice(4))??new l(S.code))},d=async()=>{let{value:w,done:g}=await o.read();return w&&(i.bytes(),
f.push(w,u)),!g},m;for(;!a;)if(!await d().catch(g=>{if(g instanceof l)throw g;return!1}))throw h??en(await t);return(async()=>{
try{for(;await d(););}catch(b){b instanceof l&&(m=b)}r.close();let w={error:m},g=t.then(b=>w=b);m||await I(Re,g),bt(n),i.
ended(w)})(),a}function tn(n){let t,e=!1,s=async()=>{let{writable:i,createWritable:r}=n.datagrams;t??=(i??r?.call(n.datagrams))?.
getWriter(),await t?.write(new Uint8Array(Ys))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function en({
closeCode:n,error:t}){let e=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return t??new l(
e,"the connection has ended",{closeCode:n})}function bt(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var se=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?B(t):t,s=e.length,i=this.#s+
4+s;if(i>this.#e.length){let r=new Uint8Array(Math.max(i,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=i,this.sent??=this.#n()}async#n(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await I(Re,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var sn=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,ne=n=>je()&&n.startsWith(
"https:"),yt=class{#t;#e=new Map;#s=new Set;constructor(t){this.#t=t}forget(){this.#s.clear()}prefer(t,e){this.#e.set(t,
e)}async open(t,e,s,i={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=i,a=o.filter(u=>u===
"websocket"||ne(t));a.length===0&&v("there is no WebTransport here, or not for http:// addresses");let c=a.filter(u=>!this.#s.
has(u));if(c.length===0)throw new l("protocol_not_allowed");this.#e.get(t)===c[1]&&c.reverse();let f=await N(s,r.connectTimeout,
u=>this.#n(c,t,e,h,u));return this.#e.set(t,f.transport),f}#n(t,e,s,i,r){return new Promise((o,h)=>{let a,c=0,f=0,u,d=!1,
m=()=>{d=!0,clearTimeout(a)},w=()=>{clearTimeout(a);let g=t[f++];if(!g||d)return;let b=g==="websocket"?Ce:We;c++,b({edge:e,
token:s,signal:r},this.#t).then(E=>{if(d)return nn(E);m(),o(E)},E=>{c--;let S=A(E,"unreachable","the edge does not answe\
r");if(S.code==="protocol_not_allowed"&&this.#s.add(g),(!u||F(S)>F(u))&&(u=S),!sn.test(S.code)&&(c>0||f<t.length))return w();
m(),h(u)}),f<t.length&&(a=setTimeout(w,i))};r.addEventListener("abort",()=>{m(),h(r.reason)}),w()})}};function nn(n){n.start(
{bytes(){},line(){},frame(){},ended(){}}),n.close()}function F({code:n}){return["unreachable","timeout","refused","proto\
col_not_allowed"].indexOf(n)>>>0}var Ge=3,rn=500;async function ie(n,t,e){let s,i=await Promise.all(n.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await N(e,t.connectTimeout,h=>on(o,h))}catch(h){return s=h,[]}})),r=[...new Set(i.flat())];if(e.throwIfAborted(),
r.length===0)throw s??new l("unreachable","the list has no edge");return r.length>1&&(await N(e,t.connectTimeout,o=>hn(r,
t.paths.ping,o)).catch(()=>{}),e.throwIfAborted()),r}async function on(n,t){try{let e=await fetch(n,{cache:"no-store",credentials:"\
omit",signal:t});if(!e.ok)throw new l("unreachable",`the list of edges: HTTP status ${e.status}`,{status:e.status});let{
edges:s}=await e.json();return s.map(({host:i})=>K(`https://${i}`,!1).origin)}catch(e){throw A(e,"unreachable","the list\
 of edges")}}async function hn(n,t,e){let s=new Map,i=async c=>{let f=[];for(;f.length<Ge;){let u=p();if(!await ht(c+t,e))
return;f.push(p()-u)}f.sort((u,d)=>u-d),s.set(c,f[Ge>>1])},r=n.map(i),h=Promise.any(r.map((c,f)=>c.then(()=>s.get(n[f])??
Promise.reject()))).then(()=>x(rn,e));await Promise.race([Promise.all(r),h.catch(()=>Promise.all(r))]);let a=c=>s.get(c)??
Number.MAX_VALUE;n.sort((c,f)=>a(c)-a(f))}var qe=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,an=/^(unauthorized|token_expired|region_not|protocol_not)/,
cn=5,fn=6e4,un=12e4,vt=class{#t;#e;#s;#n;#i;#r=[];#o=new Map;#h;#f=0;#c=0;#a=new Map;drained=new Set;constructor(t,e,s,i){
this.#t=t,this.#e=e,this.#s=s,this.#n=i,this.#i=new yt(e)}async first(t){await O(this.#s.get(),t),this.#r=await ie(this.#t,
this.#e,t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(i){if(!(i instanceof l)||qe.test(i.code)||i.
code==="token_provider")throw i;(!e||F(i)>F(e))&&(e=i)}throw e}async*order(t,e,s){for(;;){let i=this.#r.filter(o=>o!==t),
r=e?[t,...i]:i.length<this.#r.length?[...i,t]:i;for(let o of r)r.some(h=>this.wait(h)<this.wait(o))||(yield o);if(this.#t.
some(o=>o.pathname!=="/"))try{this.#r=await ie(this.#t,this.#e,s)}catch{s.throwIfAborted()}}}wait(t){return Math.max(0,(this.#a.
get(t)??0)-p())}async open(t,e,s){let i=await this.#s.get();try{return await this.#u(t,i,e,s)}catch(r){if(!(r instanceof
l&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;let h=await this.#s.ask();if(h===i)
throw r;return this.#u(t,h,e,s)}}async#u(t,e,s,i){e!==this.#h&&(this.#h=e,this.#o.clear(),this.#i.forget());let r=await this.#i.
open(t,e,s,i).catch(h=>{let{retryAfter:a=0}=h;throw this.#a.set(t,p()+Math.min(a,this.#e.maxBackOff)),h});this.drained.delete(
t),this.#a.delete(t);let o=new mt(t,r,e,this.#n,this.#e);if(o.error)throw o.error;return this.#f=0,this.#o.clear(),o}noteSilent({
edge:t,transport:e,begun:s},i=!1){e!=="webtransport"||!i&&p()-s>=un||this.#i.prefer(t,i?e:"websocket")}hopeless(t,e,s){let{
code:i}=e;i==="unreachable"&&this.drained.delete(t);let r=i==="unauthorized"&&this.#s.provided;return r&&this.#s.failed(
e),r||i==="refused"?s||this.drained.has(t)?!1:(this.#f++===0&&(this.#c=p()),this.#f>=cn&&p()-this.#c>=fn):(this.#f=0,qe.
test(i)?!0:an.test(i)?(this.#o.set(t,e),this.#r.every(o=>this.#o.has(o))):!1)}};var De=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,ze=n=>n.verb==="WHO"&&n.count,re=({holders:n,waiting:t})=>n.
length>t.size,kt=class{asking=new Set;#t=new Map;#e;constructor(t){this.#e=t}get#s(){return[this.#e.current,this.#e.next].
filter(t=>t!==void 0)}async add(t){let{current:e,leaving:s,over:i}=this.#e;if(i)throw i;let r=De(t),o=this.#t.get(r)??ln(
t,r);if(o.counting&&!ze(t))throw new l("bad_option","the client counts the members of this pattern, and can only do that",
o.about);this.#t.set(r,o),o.holders.push(t),t.verb==="WHO"&&(t.watch=o.watch);let h=new Promise((a,c)=>{o.waiting.set(t,
{resolve:a,reject:c})});this.#a(o);for(let a of this.#s)!o.on.has(a)&&!(s&&a===e)&&this.#r(a,o);return h}async restore(t){
await Promise.all([...this.#t.values()].map(e=>this.#r(t,e)))}hasSynced(t){return[...this.#t.values()].every(({watch:e,on:s})=>!e||
!s.has(t)||e.hasSynced(t))}isSynced(t){let{current:e}=this.#e;return e?.alive===!0&&t.watch.hasSynced(e)}take(t,e){let s=this.#t.
get(`WHO:${e.tenant}:${e.pattern}`);s?.watch?.take(t,this.#e.current,e,s.counting),s&&this.#a(s)}follow(){let{current:t}=this.#e;
for(let e of this.#t.values())t&&e.watch?.follow(t),this.#a(e)}ended(t,e,s){let i=this.#t.get(s);!i||e!=="no_presence"||
(this.#f(t,i),this.#a(i))}async leave(t){let e=this.#t.get(De(t)),s=e?.holders.indexOf(t)??-1;if(!e||s<0||(e.holders.splice(
s,1),e.holders.length>0))return;let i=this.#i(e);await(this.#e.suspected&&i.length>0?Promise.race(i):Promise.all(i))}leaveAll(){
for(let t of this.#t.values())t.verb==="JOIN"&&this.#n(t)}end(t,e){for(let{key:s,holders:i,waiting:r}of this.#t.values()){
this.#t.delete(s);for(let o of i)o.end(t);for(let{reject:o}of r.values())o(t??e)}}#n({key:t,name:e,undo:s,on:i,watch:r}){
return this.#s.flatMap(o=>{let h=i.get(o);return i.delete(o),r?.end(o),o.forget(t),h===void 0||h==="wanted"?[]:o.leave(e,
s)})}#i(t){return this.#t.delete(t.key),this.#n(t)}#r(t,e){e.on.set(t,"wanted");let s=this.#o(t,e).finally(()=>this.asking.
delete(s));return this.asking.add(s),s}async#o(t,e){let{verb:s,name:i,key:r,about:o,on:h,counting:a}=e,c=()=>this.#t.get(
r)===e,{settings:f,events:u}=this.#e;try{await t.featured,await t.ending.get(`${e.undo}:${i}`);for(let d=2;;d++){if(!t.alive||
!c())return;if(!t.features?.includes("presence"))throw new l("no_presence","the edge has none",o);h.set(t,"sent"),e.watch?.
begin(t);try{await t.request(s,i,a?":count":"");break}catch(m){let{code:w}=m;if(w!=="try_later"||!re(e))throw m;d===2&&u.
emit("subscriptionError",{...He(e),code:w})}if(!c())return;h.set(t,"wanted"),await t.postpone(r,T(d,f))}if(!c())return;t.
postponed.delete(r),h.set(t,"held"),this.#a(e)}catch(d){let m=A(d,"internal","a fault of this client");m.code!=="disconn\
ected"&&c()&&this.#h(t,e,m)}}#h(t,e,s){let{holders:i,waiting:r,on:o,key:h}=e,{suspected:a,next:c,current:f}=this.#e,{code:u}=s;
if(u==="no_presence"&&re(e)){for(let[d,{reject:m}]of r)i.splice(i.indexOf(d),1),m(s);r.clear(),this.#f(t,e),this.#e.events.
emit("edgeError",{code:u,detail:h})}else a&&t===c&&f&&o.get(f)==="held"?t.fail(s):this.#c(e,s)}#f(t,{on:e,watch:s}){e.delete(
t),s?.end(t)}#c(t,e){this.#i(t),re(t)&&this.#e.events.emit("subscriptionError",{...He(t),code:e.code});for(let s of t.holders)
s.end(e);for(let{reject:s}of t.waiting.values())s(e)}#a(t){let{holders:e,waiting:s,on:i}=t;for(let r of[...e])(r.verb===
"WHO"?this.isSynced(r):this.#s.some(h=>i.get(h)==="held"))&&s.has(r)?(s.get(r)?.resolve(),s.delete(r),r.verb==="WHO"&&r.
opened()):r.verb==="WHO"&&r.update()}};function ln(n,t){let{verb:e,tenant:s}=n,i=[];return{verb:e,undo:e==="WHO"?"UNWHO":
"LEAVE",name:t.slice(e.length+1),key:t,about:e==="WHO"?{tenant:s,pattern:n.pattern}:{tenant:s,channel:n.channel},holders:i,
waiting:new Map,on:new WeakMap,watch:e==="WHO"?new st(i):void 0,counting:ze(n)}}var He=({about:n})=>({pattern:"",...n});var dn=new TextDecoder,q=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(t,e,s,i,r,o,h,a=""){
this.tenant=t,this.channel=e,this.payload=s,this.pattern=i,this.patterns=r,this.late=o,this.position=h,this.sender=a}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return dn.decode(this.payload)}json(){
return JSON.parse(this.text())}};var xt=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,i=`${e}:${s}`,r=this.#t.
get(i),{history:o}=t,h=r??{name:i,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o};return h.subs.push(t),this.#t.
set(i,h),this.#e++,{interest:h,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){return this.#t.get(t.name)===t}remove(t){
let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.subs.splice(s,1),e.subs.length===
0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(t.name)}dispatch(t,e=!1){let{tenant:s,
channel:i,payload:r,route:o,sender:h}=t,a=o.note?.tenant===s&&o.note.version===this.#e?o.note:this.#s(s,o);for(let{pattern:c,
subs:f,history:u}of a.interests){if(u&&!u.plain)continue;let d=new q(s,i,r,c,o.patterns,e,void 0,h);if(f.length===1)f[0].
push(d);else for(let m of[...f])m.push(d)}}#s(t,e){let s=e.patterns.map(i=>this.#t.get(`${t}:${i}`)).filter(i=>i!==void 0);
return e.note={tenant:t,version:this.#e,interests:s},e.note}};var Tt=class{interests=new xt;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){let e=this.interests.all;e.some(
i=>i.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(i=>!i.history);await Promise.all(s.map(i=>this.ask(
t,i)))}async resume(t){await Promise.all(this.interests.all.filter(({history:e})=>e).map(e=>this.ask(t,e)))}stored(t,e,s){
let{tenant:i,channel:r,payload:o,route:h,sender:a}=e,{patterns:c}=h,f=c[0],u=this.interests.of(i,f),{history:d}=u??{};if(!u||
!d?.takes(t,s))return;d.from=s,u.subs[0]?.pushStored(new q(i,r,o,f,c,!1,s,a))===!1&&this.interests.has(u)&&(d.pause(),t.
leave(u.name)),this.#n(u)}reached(t,e){let{kind:s,tenant:i,pattern:r,position:o}=e,h=this.interests.of(i,r),{history:a}=h??
{};if(!(!h||!a||a.plain)){if(a.on!==t||!a.open){s==="GAP"&&a.paused&&t===this.#t.current&&this.#e(i,r,o);return}if(s==="\
GAP"||a.takes(t,o)){a.from=o;for(let c of h.subs)c.reach(o)}s==="GAP"?(a.told=!0,this.#e(i,r,o)):s==="OK:RSUB"&&(this.#n(
h),e.how==="gap"&&!a.told?this.#e(i,r,o):a.lossy&&this.#e(i,r,void 0,a.refusal))}}#e(t,e,s,i){this.#t.gaps=!0,this.#t.events.
emit("gap",{tenant:t,pattern:e,before:s,code:i})}wasRead(t){let e=this.interests.of(t.tenant,t.pattern),{current:s}=this.#t;
!e?.history||e.history!==t.history||(e.history.paused=!1,s&&this.ask(s,e))}ask(t,e){let s=this.#s(t,e).finally(()=>this.
asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.history?await this.#i(t,e,e.history):(await this.#r(t,e),
this.#n(e))}catch(s){let i=A(s,"internal","a fault of this client");if(i.code==="disconnected")return;if(e.confirmed&&this.#t.
suspected&&t===this.#t.next)return t.fail(i);this.#o(e,i)}}#n(t){t.confirmed=!0;for(let{resolve:e}of t.waiting.splice(0))
e()}async#i(t,e,s){let{name:i,tenant:r,pattern:o}=e;if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===t)){s.begin(t);for(let h=2;;){
if(await t.featured,await t.ending.get(`UNSUB:${i}`),!t.alive||s.on!==t||!this.interests.has(e))return;let a=!t.features?.
includes("history")||s.unwanted,c=s.forbidden?"now":s.from,f=oe(e);s.lossy=a?f||c!=="now":s.forbidden||f&&c==="now",s.plain=
a,s.open=!0,a&&(s.from="now");try{if(!a)return await t.resume(i,c);if(await t.request("SUB",i),!this.interests.has(e))return;
this.#n(e),s.lossy&&this.#e(r,o,void 0,s.refusal);return}catch(u){let d=u;if(d.code==="history_unavailable")return this.#t.
gaps=!0,this.#t.events.emit("edgeError",{code:d.code,detail:`RSUB:${i}`});if(s.open=!1,d.code==="permission_denied"&&!a&&
c!=="now")s.forbidden=!0;else if(d.code==="no_history"&&f)s.unwanted=!0;else if(d.code==="try_later"&&f)h===2&&this.#t.events.
emit("subscriptionError",{tenant:r,pattern:o,code:d.code}),await t.postpone(i,T(h++,this.#t.settings)),t.postponed.delete(
i);else throw d}}}}async#r(t,e){let{name:s,tenant:i,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){
let a=h;if(a.code!=="try_later"||!oe(e))throw a;o===2&&this.#t.events.emit("subscriptionError",{tenant:i,pattern:r,code:a.
code})}await t.postpone(s,T(o,this.#t.settings))}}#o(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:i,subs:r,
waiting:o}=t;for(let h of[this.#t.current,this.#t.next])h?.forget(t.name)&&h.leave(t.name);oe(t)&&this.#t.events.emit("s\
ubscriptionError",{tenant:s,pattern:i,code:e.code});for(let h of r)h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){
let{tenant:e,pattern:s}=t,i;for(;;){if(this.#t.over)throw this.#t.over;i=this.interests.of(e,s);let a=f=>f?.ending.get(`\
UNSUB:${e}:${s}`),c=a(this.#t.current)??a(this.#t.next);if(i||!c)break;await c}if(i&&(i.history||t.history)){let a="the \
client has a subscription to this pattern, and one with a history is alone";throw new l("bad_option",a,i)}let{interest:r,
isNew:o}=this.interests.add(t);if(r.confirmed)return;let h=new Promise((a,c)=>{r.waiting.push({resolve:a,reject:c})});return o&&
(this.#t.current&&!this.#t.leaving&&this.ask(this.#t.current,r),this.#t.next&&!r.history&&this.ask(this.#t.next,r)),h}async leave(t){
let e=this.interests.remove(t);if(!e)return;for(let{resolve:h}of e.waiting.splice(0))h();let{name:s,history:i}=e,o=[this.#t.
current,this.#t.next].filter(h=>h?.forget(s)||h&&i?.on===h).map(h=>h.leave(s));await(this.#t.suspected&&o.length>0?Promise.
race(o):Promise.all(o))}queueFull({tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){
for(let s of this.interests.all){this.interests.drop(s);for(let i of s.subs)i.end(t);for(let{reject:i}of s.waiting.splice(
0))i(t??e)}}};function oe({subs:n,waiting:t}){return n.length>t.length}var he=1e3,Et=class{#t=new M;#e=new M;#s=new M;constructor(t,e,s){for(let{key:i}of t)this.#t.put(i,e);if(s){for(let{key:i,
time:r,message:o}of s.#e.all)this.#e.put(i,r,o);for(let{key:i,time:r}of s.#s.all)this.#s.put(i,r)}}fromCurrent(t,e){let s=U(
t);return this.#s.dropUntil(e-he),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=U(t);if(this.#t.
take(s))return;let i=this.#e.put(s,e,{...t});return i&&this.#s.put(i.key,i.time),i?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-he)}get nextDue(){let t=this.#e.oldest;return t&&t.time+he}};var Fe=15e3,pn=6e4,St=class{#t;late;#e;#s;#n=!0;#i=!1;#r=p();#o;#h;constructor(t,e,s,i,r){this.#t=t,this.late=new Et(e,p(),
r?.late),this.#e=s,this.#s=i,this.#o=setTimeout(()=>this.#f(),Fe),r?.stop(),t.handTo(this),t.alive?this.#a():this.#c()}fromCurrent(t){
return this.late.fromCurrent(t,p())}hold(t){t!==this.#i&&(this.#i=t,t||this.late.renew(p()),this.#a())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#n=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#f(){let t=Math.
min(this.#t.lastByte+Fe,this.#r+pn)-p();t>0?this.#o=setTimeout(()=>this.#f(),t):this.#c()}#c(){this.#n&&(this.stop(),this.#a())}#a(){
if(clearTimeout(this.#h),this.#i)return;let{nextDue:t}=this.late;if(t===void 0){this.#n||this.#s();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(p()))this.#e(e);this.#a()},Math.max(1,t-p()))}delivered(t,e){if(e.position!==void 0)return;
let s=this.late.nextDue===void 0,i=this.late.fromTrail(e,p());i&&this.#e(i),s&&this.#a()}woke(t){for(let s of t.asked)t.
request("UNSUB",s).catch(()=>{});let e=()=>this.#c();t.ping().then(e,e)}lost(){this.#c()}silent(){return!1}reached(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var At=class{settings;events;subscriber=new Tt(this);presences=new kt(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t){this.settings=xe(t),this.
events=new Q(t.on)}setCurrent(t){this.current=t,this.place={edge:t.edge,transport:t.transport},this.presences.follow(),this.
linked(),this.#n()}#n(){for(let t of this.#s.splice(0))t()}changed(){return new Promise(t=>{this.#s.push(t)})}linked(){let{
link:t,edge:e}=this.current??{};!this.since||!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"linkDo\
wn",{edge:e}))}reached(t,e){this.subscriber.reached(t,e)}presence(t,e){this.presences.take(t,e)}async restore(t){await Promise.
all([this.subscriber.restore(t),this.presences.restore(t)])}delivered(t,e){if(e.position!==void 0)return this.subscriber.
stored(t,e,e.position);if(!this.merger)return this.#i(e);let s=p();if(t===this.next){let i=this.current?.confirmed,r=!e.
route.patterns.some(h=>i?.has(`${e.tenant}:${h}`)),o=this.merger.fromNext(e,s,r);o&&this.#i(o)}else this.both?this.merger.
fromCurrent(e,s)&&this.#i(e):(this.merger.late(e,s)||this.#i(e),this.merger?.done(s)&&(this.merger=void 0))}#i(t){(!this.
trail||this.trail.fromCurrent(t))&&this.subscriber.interests.dispatch(t)}reportUnread(t){let e=t.takeUnread(),{edge:s,transport:i}=t;
e>0&&this.events.emit("publishUnknown",{edge:s,transport:i,count:e})}promote(){let{current:t,next:e}=this;e&&(t&&this.reportUnread(
t),this.setCurrent(e),this.next=void 0,this.merger?.left(p()),this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),
t?.close(),this.subscriber.resume(e))}takeOver(t,e){this.trail?.hold(!1);let s=new St(t,this.merger?.given??[],r=>this.subscriber.
interests.dispatch(r,!0),()=>{this.trail===s&&(this.trail=void 0)},this.trail);this.trail=s;let i=p()-t.lastByte;this.reportUnread(
t),this.suspected=this.next=void 0,this.merger?.left(p()),this.both=this.tentative=!1,this.setCurrent(e),this.since=p(),
this.events.emit("recovered",{...this.place,away:i}),this.giveHeld(),this.openGate(void 0),this.subscriber.resume(e)}keepCurrent(){
this.suspected=void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(p()),this.both=this.tentative=!1}giveHeld(){
for(let t of this.merger?.release()??[])this.#i(t)}pause(t,e){return x(t,e,this.#e)}get waits(){return this.#e.size>0}hurry(){
for(let t of[...this.#e])t()}openGate(t){this.publishOn=t;let e=this.gate??[];this.gate=void 0;for(let s of e)s();this.over&&
this.#n()}publishConnection(){if(this.over)throw this.over;let t=this.publishOn??this.current;if(!t?.alive)throw k();return t}};var mn=500;async function Ke(n,t,e){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(p());)await x(
50,e);n.merger=new j,n.both=n.tentative=!0;let s=0;for await(let i of n.searcher.order(t.edge,!1,e)){await n.pause(Math.
max(T(++s,n.settings),n.searcher.wait(i)),e);let r;try{r=await n.searcher.open(i,e,{fallbackAfter:mn})}catch(h){if(e.throwIfAborted(),
h instanceof l)continue;throw h}if(e.aborted)return void r.close();if(!r.alive)continue;n.next=r,n.merger.joined(p());let o=n.
restore(r);if(r.ping().catch(()=>{}),await o,e.throwIfAborted(),n.next===r)return n.takeOver(t,r)}}function Xe(n){if(typeof n=="number")return n;let t=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!t){let r='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new l("bad_option",r)}let[e=0,s=0,i=0]=t.
slice(1).map(r=>Number(r??0));return(e*60+s)*60+i}var wn=2**31-1,Je=1e3,gn="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function bn(n,t){return n===
1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-t*n/10)}var Mt=class{#t;#e;failed;#s=new AbortController;#n;#i=1/0;#r;#o=!1;#h=-1/0;#f;#c=0;constructor(t,e,s){
this.#t=t,this.#n=t.token,this.#e=e,this.failed=s}get token(){return this.#n}get provided(){return this.#t.tokenProvider!==
void 0}get(){return this.#n!==void 0&&p()<this.#i?Promise.resolve(this.#n):this.ask()}ask(){return this.#r??=this.#a().finally(
()=>{this.#r=void 0,this.#o=!1}),this.#r}async renew(){this.#o&&await this.#r?.catch(()=>{}),await this.ask(),this.#e()}async#a(){
clearTimeout(this.#f);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,{signal:i}=this.#s;try{let r=this.#h+Je;
for(;p()<r;)await x(r-p(),i);this.#o=!0;let h=await N(i,e,a=>O(Promise.resolve(t?.()),a)).finally(()=>{this.#h=p()});return this.#u(
typeof h=="object"?h:{token:h}),this.#n}catch(r){this.#i>0&&this.#i<1/0&&this.#l(Math.max(s,T(++this.#c+1,this.#t)));let o=r?.
name==="LoggedOutError",h=`the token provider ${o?"says that there will be":"gave"} no token`,a=new l(o?"logged_out":"to\
ken_provider",h,{cause:r});throw this.#n!==void 0&&!i.aborted&&this.failed(a),a}}#u(t){$("the token provider's answer",t,
gn);let e=t.expiresIn??t.expires_in,s=t.expiresAt??t.expires_at,i=1/0;e!=null?i=Xe(e)*1e3:s!=null&&(i=new Date(s).getTime()-
Date.now()),e==null&&i<=0&&(i=1/0),i>0||v("expiresIn must be above 0, expiresAt a time"),this.#n=Dt(t.token),this.#i=p()+
i,this.#c=0,this.#l(Math.max(Je,bn(i,Math.random())))}#l(t){if(this.#s.signal.aborted||!(t<1/0))return;let e=this.#n;this.#f=
setTimeout(()=>this.ask().then(s=>s!==e&&this.#e(),()=>{}),Math.min(t,wn))}expire(){this.provided&&(this.#i=-1)}stop(){this.#s.
abort(),clearTimeout(this.#f)}};var ae=6e4,yn=60*ae,vn=2*ae,kn=1e4,xn=2e3;function Ve(n,t){return Math.min((4+2*t)*ae*2**n,yn)}var Ot=class{#t;#e=0;#s;#n;#i;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#n),t.transport==="webtransport"?(this.stop(),this.#n=setTimeout(()=>{this.#e=0},vn)):
!this.#s&&this.#r(t)&&this.#o(Ve(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
xn,!1)}stop(){this.#i?.abort(),this.#i=void 0,clearTimeout(this.#s),clearTimeout(this.#n),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&ne(e)}#o(t,e=!0){
clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#i)
return this.#o(kn,t);if(!this.#r(s)){this.#s=void 0;return}let i=this.#e+Number(t);this.#o(Ve(i,Math.random()));let r=new AbortController;
this.#i=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#i===r&&(this.#i=
void 0),r.signal.aborted||(this.#e=i),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>z(e,s,"transport",h,o)):(o?.close(),
e.moveIfDue())}};var Tn=3e3,_t=class extends At{tokens;searcher;closed;#t;#e=new Ot(this);#s;#n;constructor(t,e){super(e),this.tokens=new Mt(
this.settings,()=>this.moveIfDue(),s=>this.#i(s)),this.searcher=new vt(t,this.settings,this.tokens,this),this.closed=new Promise(
s=>{this.#n=s})}#i(t){let{code:e,message:s,cause:i}=t;e!=="logged_out"?this.events.emit("edgeError",{code:e,detail:s.slice(
e.length+2),cause:i}):this.since&&this.finish(t)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||v(
"there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(t){throw this.over&&t.code!==
"logged_out"?this.over:t}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(t){try{let e=await this.
searcher.first(t);if(this.setCurrent(e),t.throwIfAborted(),e.error)throw e.error;this.since=p(),this.#s=Pe(this),this.#e.
follow(e),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.
current?.close(),e}}setCurrent(t){super.setCurrent(t),this.since&&this.#e.follow(t)}moveIfDue(){let{current:t}=this;this.#t||
this.over||!t?.alive||(t.drains?this.run(e=>z(this,t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>z(this,t,"toke\
n",e)))}get idle(){let{current:t,merger:e}=this;return!this.#t&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(p()))}run(t){
this.#t?.abort();let e=new AbortController;this.#t=e,t(e.signal).then(()=>{this.#t===e&&(this.#t=void 0,this.current?.alive&&
this.moveIfDue())},s=>{this.#t===e&&this.finish(A(s,"internal","a fault of this client"))})}draining(t){this.searcher.drained.
add(t.edge),t===this.current&&this.moveIfDue()}errorLine(t,e,s){this.presences.ended(t,e,s);let[,i,r]=/^PUB:([^:]+):(.+)$/s.
exec(s)??[];e==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(s)}):e==="egress_limited"?this.events.emit(
"egressLimited",{delay:Number(s)*1e3}):i&&r&&e!=="broker_unavailable"?this.events.emit("publishError",{tenant:i,channel:r,
code:e}):this.events.emit("edgeError",{code:e,detail:s})}roundTrip(t){this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){
let{current:e}=this;return t===this.next&&this.tentative&&p()-t.lastByte>=Tn&&t.fail(new l("timeout","the edge does not \
answer")),t!==e||this.#t||this.gate||this.over||this.reconnecting||!this.since||e.drains?!1:(this.suspected=t,this.trail?.
hold(!0),this.searcher.noteSilent(t),this.run(s=>Ke(this,t,s)),!0)}woke(t){t===this.suspected&&(this.searcher.noteSilent(
t,!0),this.#t?.abort(),this.#t=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",
{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(t,e){this.reportUnread(t);let s=t.token===this.tokens.
token,i=/_not_allowed$|^token_revoked$/.test(e.code)||e.code==="token_expired"&&!this.tokens.provided,r=t===this.next&&this.
suspected!==void 0;if(i&&s&&!r)return this.finish(e);e.closeCode===void 0&&/^(disconnected|timeout)$/.test(e.code)&&this.
searcher.noteSilent(t),t===this.next&&!this.leaving?(this.next=void 0,r?this.merger?.orphan():this.openGate(void 0)):t===
this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(t===this.current||t===this.next)&&(this.suspected=
void 0,this.trail?.hold(!1),t===this.current&&(this.next?.close(),this.next=void 0,this.giveHeld()),this.promote(),this.
reconnecting||this.run(o=>Me(this,t,e,o)))}slept(){for(let t of[this.current,this.next])t?.awake(!1);this.hurry()}networkChanged(){
for(let t of[this.current,this.next])t?.awake(!0);this.hurry(),this.#e.soon()}finish(t){if(this.over)return;this.over=new l(
"closed","the client has been closed",t?{cause:t}:{}),this.#t?.abort(),this.tokens.stop(),this.#e.stop(),this.#s?.(),t||
this.presences.leaveAll();for(let s of[this.current,this.next])s&&(t||s===this.suspected)&&this.reportUnread(s);let e=[this.
current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),t&&(this.giveHeld(),this.trail?.flush()),this.
subscriber.end(t,this.over),this.presences.end(t,this.over),this.events.emit("closed",{error:t}),Promise.all(e).then(()=>this.#n(
t))}};var Pt=class{#t;#e=new Array(16);#s=0;#n=0;constructor(t){this.#t=t}get size(){return this.#n}get full(){return this.#n>=
this.#t}push(t){let e=this.#e;this.#n===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#n++&this.#e.length-1]=t}shift(){if(this.#n===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#n--,t}clear(){this.#e=new Array(16),this.#s=this.#n=0}};var En=1e3,$t=class{tenant;pattern;history;ended;#t;#e;#s;#n=[];#i=!1;#r;#o;#h=0;#f=-1/0;#c;#a;#u;constructor(t,e,s,i){this.
tenant=t,this.pattern=e,this.#t=s,this.#e=i,this.#s=new Pt(i.queue);let{from:r}=i;this.history=r===void 0?void 0:new V(r),
r?.includes(".")&&!r.startsWith("last")&&(this.#a=this.#u=r),this.ended=new Promise(o=>{this.#o=o})}get position(){return this.#s.
size===0?this.#a:this.#u}async unsubscribe(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.
onMessage)throw new l("bad_option","a subscription with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.
resolve({done:t,value:void 0});let e=this.#s.shift();return e?(this.#u=e.position??this.#u,this.history?.paused&&this.#s.
size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve({done:!1,value:e})):this.#i?(t=!0,this.#r?Promise.reject(this.#r):
Promise.resolve({done:t,value:void 0})):new Promise((s,i)=>{this.#n.push({resolve:s,reject:i})})},return:async()=>(t=!0,
await this.unsubscribe(),{done:t,value:void 0})}}#l(t){let{onMessage:e}=this.#e;if(e){try{let i=e(t);i instanceof Promise&&
i.catch(R)}catch(i){R(i)}return!0}let s=this.#n.shift();return s?.resolve({done:!1,value:t}),s!==void 0}pushStored(t){if(this.#i)
return!0;let e=this.#l(t);return!e&&this.#s.full?(this.#d(),!0):(this.#a=t.position,e?this.#u=t.position:this.#s.push(t),
!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#a=t}#d(){this.end(new l("queue_full","messages were not read \
in time",this)),this.#t.leave(this)}push(t){if(this.#i||this.#l(t))return;let{queuePolicy:e}=this.#e;if(!this.#s.full)return this.#s.
push(t);if(e==="end")return this.#d();e==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#h++,this.#c??=setTimeout(
()=>this.#p(),Math.max(0,this.#f+En-p()))}#p(){clearTimeout(this.#c),this.#c=void 0,this.#f=p(),this.#h>0&&this.#t.queueFull(
this,this.#h),this.#h=0}end(t){if(!this.#i){this.#i=!0,this.#r=t,t||this.#s.clear(),this.#p();for(let e of this.#n.splice(
0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#o(t)}}};async function Sn(n,t){let e=typeof n=="string"?[n]:n;(!t||!e?.length)&&v("connect needs an address and options");let s=new _t(
e.map(r=>K(r,t.allowPlaintext===!0)),t),{signal:i=new AbortController().signal}=t;return i.throwIfAborted(),await O(s.start(
i),i),new Ut(s)}var Ut=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let i=this.#t;$("the object of options",s,"onMessage history queue queuePolicy");let{onMessage:r}=s;r&&typeof r!="functi\
on"&&v("onMessage must be a function");let o=new $t(H(t),zt(e),i.subscriber,{...qt(s,i.settings),onMessage:r,from:Ee(s.history,
e)});return await i.subscriber.subscribe(o),o}async publish(t,e,s,i){let r=this.#t;i!==void 0&&$("the object of options",
i,"delivery confirm key");let{delivery:o="broadcast",confirm:h=!1,key:a}=i??{},c=Rt.indexOf(o);c<0&&v(`delivery: allowed\
 are ${Rt.join(", ")}`),typeof s!="string"&&s?.[Symbol.toStringTag]!=="Uint8Array"&&v("the payload must be a Uint8Array \
or a string");let f={tenant:H(t),channel:Ht(e)};if(h){let d=B(a??"");return a!==void 0&&!(d.length>0&&d.length<=64)&&v("\
a key has 1 to 64 bytes"),le(r,w=>jt(f.tenant,f.channel,s,c,{id:w,key:d}),a!==void 0,f)}a!==void 0&&v("a key is for a pu\
blish that is confirmed");let u=jt(f.tenant,f.channel,s,c||void 0);return r.publishConnection(),r.gate?new Promise((d,m)=>{
r.gate?.push(()=>{try{d(r.publishConnection().publish(u,f))}catch(w){m(w)}})}):r.publishConnection().publish(u,f)}async join(t,e){
let{presences:s}=this.#t,i=H(t),r=new Y(i,Ht(e,i),s);return await s.add(r),r}async presence(t,e,s={}){let{presences:i}=this.#t;
$("the object of options",s,"count onChange");let{count:r=!1,onChange:o}=s;typeof r!="boolean"&&v("count must be true or\
 false"),o&&typeof o!="function"&&v("onChange must be a function");let h=H(t),a=new nt(h,zt(e,h),i,s);return await i.add(
a),a}async flush(){let t=this.#t;t.publishConnection(),t.gate&&await new Promise(e=>t.gate?.push(e)),await t.publishConnection().
ping()}renewToken(){return this.#t.renewToken()}retry(){this.#t.retry()}async close(){this.#t.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};export{Ut as Client,It as LoggedOutError,l as MillraceError,Ze as channelToken,Sn as connect};
