// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var l=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;constructor(t,e,s={}){super(
`${t}: ${e??"the edge says so"}`,"cause"in s?{cause:s.cause}:void 0),this.code=t,this.tenant=s.tenant,this.pattern=s.pattern,
this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode}};function A(i,t,e){return i instanceof l?i:new l(
t,e,{cause:i})}function y(i){return new l("disconnected","there is no connection to an edge",i===void 0?{}:{cause:i})}function z(i,t){let e=URL.canParse(i)?new URL(i):void 0;if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.
search||e.hash)throw new l("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!Pe(e.hostname))throw new l("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function Pe(i){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(i)}var d=()=>performance.now();function S(i,t,e=new Set){return new Promise((s,n)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),n(t.reason)},h=()=>{r(),s()},a=setTimeout(h,i);e.add(h),t.addEventListener("abort",o),
t.aborted&&o()})}async function P(i,...t){let e,s=new Promise(n=>{e=setTimeout(n,i)});await Promise.race([s,...t]).catch(
()=>{}),clearTimeout(e)}async function I(i,t,e){i.throwIfAborted();let s=new AbortController,n=()=>s.abort(i.reason),r=setTimeout(
()=>s.abort(new l("timeout","the edge does not answer")),t);i.addEventListener("abort",n);try{return await e(s.signal)}finally{
clearTimeout(r),i.removeEventListener("abort",n),s.abort()}}function M(i,t){return new Promise((e,s)=>{let n=()=>s(t.reason);
t.aborted&&n(),t.addEventListener("abort",n),i.then(e,s).finally(()=>t.removeEventListener("abort",n))})}function T(i,t){
return i<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(i-2,30))}var Ie=1e5,xt=0;async function Yt(i,t,e,s){xt=xt+1>>>0;let n=xt,r=t(n),o=!1,h=u=>new l("outcome_unknown","no edge has sa\
id whether the message is stored",{...s,cause:u}),a=new AbortController,c=setTimeout(()=>a.abort(o?h():y()),Ie),f;try{for(let u=2;;u++){
f=await Ne(i,e,a.signal);let p=f.confirm(r,n);o=!0;try{return await M(p,a.signal)}catch(w){a.signal.throwIfAborted();let{
code:m}=w;if(m!=="disconnected"&&(m!=="unconfirmed"||!e))throw new l(m,void 0,s);if(!e)throw h(w);m==="unconfirmed"&&await S(
T(u,i.settings),a.signal)}}}catch(u){let{code:p}=u;throw o&&(p==="disconnected"||p==="closed")?h(u):u}finally{clearTimeout(
c),f?.forgetConfirm(n)}}async function Ne(i,t,e){for(;;){if(i.over)throw i.over;if(i.gate){await M(new Promise(n=>i.gate?.
push(n)),e);continue}let s=i.publishOn??i.current;if(s?.alive)if(s.histories===void 0)await M(s.featured,e);else{if(s.histories)
return s;throw new l("no_history","the edge has no histories, and confirms nothing")}else{if(!t)throw y();await M(i.changed(),
e)}}}var Ue=new TextEncoder,$e=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Tt=1024,Le=["PING","PONG","RECONNECT","OK:AUT\
H"],Be=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,Ce=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,N=i=>Ue.
encode(i);function $(i){try{return $e.decode(i)}catch(t){throw new l("protocol","text that is not UTF-8",{cause:t})}}var Re=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function L(i,t){let[e,s,...n]=i.split(":"),r=Re.get(e);
if(r===void 0)return;let o={closeCode:t??r};return e==="forbidden"?new l(`${s}_not_allowed`,n.join(":")||void 0,o):new l(
e,void 0,o)}function Et(i){if(Le.includes(i))return{kind:i};if(/^LINK:(up|down)$/.test(i))return{kind:"LINK",up:i==="LIN\
K:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(i)?.[1];if(t&&i.length<=Tt)return{kind:"FEATURES",features:t};
let e=/^OK:(SUB|UNSUB):([^:]+):(.+)$/su.exec(i),s=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(i);if((e||s)&&(i.length<=Tt/3||N(i).
length<=Tt)&&!i.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}let n=Ge(
i);if(n)return n;throw new l("protocol","a line that is none")}function Ge(i){let[,t,e="",s="",n="",r]=Be.exec(i)??[];if(t&&
j(n)&&t==="OK:RSUB"==(r!==void 0))return r?{kind:t,tenant:e,pattern:s,position:n,how:r}:{kind:t,tenant:e,pattern:s,position:n};
let[,o,h]=Ce.exec(i)??[];if(!(o===void 0||Number(o)>4294967295||h!==void 0&&!j(h)))return h===void 0?{kind:"OK:PUB",id:Number(
o)}:{kind:"OK:PUB",id:Number(o),position:h}}function j(i){let[,t,e]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(i)??[];return t!==void 0&&e!==void 0&&Vt(t)&&Vt(e)}var Vt=i=>i.length<20||i<="18446744073709551615";function Jt(i){
try{return Et(i)}catch{return}}var St=["broadcast","one-nearest","one-random"];function Mt(i,t,e,s,n){let r=typeof e=="string"?N(e):e,o=n?7+n.key.length:
s===void 0?0:2,h=new Uint8Array(o+4+i.length+t.length+r.length);return o>0&&(h[0]=n?3:2,h[1]=s??0),n&&(new DataView(h.buffer).
setUint32(2,n.id),h[6]=n.key.length,h.set(n.key,7)),h.set(r,Zt(h,Zt(h,o,i),t)),h}function Zt(i,t,e){i[t++]=e.length>>8,i[t++]=
e.length;for(let s=0;s<e.length;s++)i[t++]=e.charCodeAt(s);return t}var ee=1,At=24;function se(i,t,e){return t===e||i[t]===
1?!1:i[t]!==4||t+1<e&&(i[t+1]&~ee)!==0}var F=class{#t=new K;#e=new K;#s={};decode(t,e,s){let n=t[e]===4,r=m=>{m>s&&q()},
o=m=>(r(m+2),t[m]<<8|t[m+1]);(e===s||t[e]!==1&&!n)&&q();let h=e;n&&(r(e+2+At),t[e+1]!==ee&&q(),e+=1+At);let a=e+3+o(e+1),
c=a+2+o(a),f=c+4;r(f);let u=f+o(c)*65536+o(c+2);(o(u)===0||n&&o(u)!==1)&&q();let p=this.#t.of(t,e+1,c,()=>[$(t.subarray(
e+3,a)),$(t.subarray(a+2,c))]),w=this.#s;return w.tenant=p[0],w.channel=p[1],w.payload=t.subarray(f,u),w.route=this.#e.of(
t,u,s,()=>{let m=[],b=u+2;for(let k=o(u);k>0;k--){let x=b+2+o(b);r(x),m.push($(t.subarray(b+2,x))),b=x}return b!==s&&q(),
{patterns:Object.freeze(m),note:void 0}}),w.position=n?qe(t,h+2):void 0,w}};function qe(i,t){let e=new DataView(i.buffer,
i.byteOffset+t,At);return`${Qt(e,0)}${Qt(e,4)}.${te(e,8)}.${te(e,16)}`}var Qt=(i,t)=>i.getUint32(t).toString(16).padStart(
8,"0");function te(i,t){let e=i.getUint32(t);return e<2097152?String(e*4294967296+i.getUint32(t+4)):String(i.getBigUint64(
t))}function q(){throw new l("protocol","a frame that is none")}var De=256,We=1024,K=class{#t=[];of(t,e,s,n){let r=0;for(let c=e;c<
s;c++)r=Math.imul(r,31)+t[c]|0;let o=(r^r>>>8)&De-1,h=this.#t[o];if(h&&ze(h.bytes,t,e,s))return h.value;let a=n();return s-
e<=We&&(this.#t[o]={bytes:t.slice(e,s),value:a}),a}};function ze(i,t,e,s){if(i.length!==s-e)return!1;for(let n=0;n<i.length;n++)
if(i[n]!==t[e+n])return!1;return!0}var je=["drop-oldest","drop-newest","end"],ie=["webtransport","websocket"];function v(i){throw new l("bad_option",i)}function U(i,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&v(`${i} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function ne(i,t,e){return e.includes(t)||v(`${i}: allowed are ${e.join(", ")}`),t}function Ot(i,t){return{queue:Math.ceil(
U("queue",i.queue,t.queue)),queuePolicy:ne("queuePolicy",i.queuePolicy??t.queuePolicy,je)}}function re(i){let{token:t,tokenProvider:e,
transports:s=ie}=i;t===void 0==(e===void 0)&&v("one of token and tokenProvider is needed"),e!==void 0&&typeof e!="functi\
on"&&v("tokenProvider must be a function"),s.length===0&&v("transports must not be empty");for(let r of s)ne("transports",
r,ie);let n=U("minBackOff",i.minBackOff,250);return{token:t===void 0?void 0:Pt(t),tokenProvider:e,transports:[...new Set(
s)],fallbackAfter:U("fallbackAfter",i.fallbackAfter,2e3),connectTimeout:U("connectTimeout",i.connectTimeout,1e4),keepAlive:U(
"keepAlive",i.keepAlive,25e3,-1/0),pongTimeout:U("pongTimeout",i.pongTimeout,1e4),minBackOff:n,maxBackOff:Math.max(n,U("\
maxBackOff",i.maxBackOff,15e3)),...Ot(i,{queue:1024,queuePolicy:"drop-oldest"}),paths:{webSocket:_t(i.paths?.webSocket??
"/ws"),webTransport:_t(i.paths?.webTransport??"/wt"),ping:_t(i.paths?.ping??"/ping")},allowPlaintext:i.allowPlaintext===
!0,hashes:i.serverCertificateHashes}}function _t(i){return/^\/[^?#]*$/.test(i)||v("paths must start with a slash"),i}function Pt(i){
return(typeof i!="string"||!/^[\w.~+-]{1,512}$/.test(i))&&v("the token is not a token"),i}var oe=1e5;function he(i,t){if(i===void 0||i==="now"||i==="last")return i;let{last:e,after:s}=i;return typeof s=="string"&&
e===void 0&&j(s)?s:((!Number.isInteger(e)||e<1||e>oe||s!==void 0)&&v(`history is "now", "last", { last: 1 to ${oe} } or \
{ after: position }`),/[*>#]/.test(t)&&v("history: { last } is for one channel: the pattern has no wildcard"),`last.${e}`)}
var H=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(t){this.from=t}begin(t){
this.on=t,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(t,e){
return this.on===t&&this.open&&!this.plain&&!Fe(e,this.from)}};function Fe(i,t){let[e,s=""]=i.split("."),[n,r]=t.split("\
.");return e===n&&r!==void 0&&(s.length===r.length?s<=r:s.length<r.length)}var X="[\\w\\-~@]+",Ke=/^[\w\-~@.]{1,128}$/,He=new RegExp(`^(?=.{1,256}$)${X}(\\.${X}){0,31}$`),Xe=new RegExp(`^(?=.{1,2\
56}$)((${X}\\*?|\\*)\\.){0,31}(${X}[*>#]?|[*>#])$`),Ye=i=>Ke.test(i),Ve=i=>He.test(i),Je=i=>Xe.test(i),Ze="~";function It(i){
return Nt("bad_tenant",Ye,i===""?Ze:i)}function ae(i){return Nt("bad_channel",Ve,i)}function ce(i){return Nt("bad_patter\
n",Je,i)}function Nt(i,t,e){if(typeof e!="string"||!t(e))throw new l(i,"not a legal name, see docs/protocol.md, Names");
return e}var Qe=new TextDecoder("windows-1252");function O(i){return`${i.tenant}:${i.channel}:${Qe.decode(i.payload)}`}var E=class{size=0;#t=0;#e=[];#s=0;#n=new Map;get oldest(){
for(;this.#e[this.#s]?.entry===void 0&&this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.
flatMap(({entry:t})=>t??[])}put(t,e,s){this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=
0);let n={entry:{key:t,time:e,message:s}};this.#e.push(n);let r=this.#n.get(t);return r?r.push(n):this.#n.set(t,[n]),this.
size++,this.#t+=t.length,this.size>65536||this.#t>16777216?this.drop():void 0}take(t){let e=this.#n.get(t),s=e?.shift();
return!e||!s?!1:(e.length===0&&this.#n.delete(t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;
return t&&this.take(t.key),t}dropUntil(t){let e=[];for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&
e.push(s.message);return e}};var fe=1e3,ts=1e4,B=class{#t=new E;#e=new E;#s=new E;#n=fe;#i;joined(t){this.#i=t}left(t){this.#n+=this.#r(t),this.#i=void 0}#r(t){
return this.#i===void 0?0:Math.min(t-this.#i,ts-fe)}fromCurrent(t,e){let s=O(t);return this.#o(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(O(t),e),t;let n=this.#e.put(
O(t),e,{...t});return n&&this.#s.put(n.key,e),n?.message}late(t,e){return this.#o(e),this.#t.size>0&&this.#t.take(O(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new E;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#i=void 0,this.#t=new E;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=
new E}get given(){return this.#s.all}done(t){return this.#o(t),this.#t.size===0}#o(t){this.#t.dropUntil(t-this.#n-this.#r(
t))}};var ue=250,Ut=2e3;async function D(i,t,e,s,n){for(;i.merger&&!i.merger.done(d());)await S(50,s);i.merger=new B,i.both=!0;
let r=n!==void 0;i.tentative=r;let{place:o}=i,h=!1,a=()=>{h||i.events.emit("moving",{...o,reason:e}),h=!0};r||a();let c=0;
for await(let f of i.searcher.order(t.edge,e!=="drain",s)){let u=n;if(n=void 0,!u){await i.pause(T(++c,i.settings),s);try{
u=await i.searcher.open(f,s)}catch(p){if(s.throwIfAborted(),!(p instanceof l)||i.searcher.hopeless(f,p,!0))throw p;continue}}
if(s.aborted)return void u.close();if(u.alive){i.next=u,i.merger.joined(d()),i.merger.release();let p=i.subscriber.restore(
u);i.tentative&&u.ping(!0).catch(()=>{}),await p}if(i.tentative){if(s.throwIfAborted(),i.next!==u)return i.keepCurrent();
i.tentative=!1}if(u.alive){if(await es(i,t,u,a,s),s.throwIfAborted(),i.current!==u){if(r)return i.keepCurrent();continue}
u.alive&&(a(),i.since=d(),i.events.emit("moved",{...i.place,reason:e}));return}}}async function es(i,t,e,s,n){let r=()=>i.
next===e&&i.current===t;if(!r())return;i.gate??=[];let o=P(Ut,t.ping()).then(()=>{r()&&i.openGate(e)}),h=3;do await S(ue,
n);while(--h&&i.merger?.behind);for(await P(Ut,Promise.all(i.subscriber.asking));r()&&e.postponed.size>0;)await S(ue,n);
if(!r())return;s(),i.leaving=!0;let a=[...t.asked].map(c=>t.request("UNSUB",c));await P(Ut,t.ended,Promise.allSettled([...a,
t.ping(),t.confirmedAll()])),await o,r()&&i.promote(),i.leaving=!1}var ss=1e4;async function le(i,t,e,s){let{lastByte:n}=t;i.reconnecting=!0,i.current=void 0,i.merger=void 0,i.both=i.leaving=
i.tentative=i.gaps=!1,i.openGate(void 0);for(let r of i.subscriber.interests.all)r.confirmed=!1;i.events.emit("disconnec\
ted",{...i.place,error:e}),e.code==="token_expired"&&t.token===i.tokens.token&&i.tokens.expire(),d()-i.since>ss&&(i.attempts=
0);for await(let r of i.searcher.order(t.edge,!1,s)){let o=++i.attempts,h=T(o,i.settings);i.events.emit("reconnecting",{
attempt:o,delay:h}),await i.pause(h,s);try{let a=await i.searcher.open(r,s);if(s.aborted)return void a.close();if(i.setCurrent(
a),await i.subscriber.restore(a),s.throwIfAborted(),!a.alive)continue;i.reconnecting=!1,i.since=d();let c=!i.gaps&&i.subscriber.
interests.all.every(f=>f.history);return i.events.emit("reconnected",{...i.place,away:d()-n,complete:c})}catch(a){if(s.throwIfAborted(),
!(a instanceof l)||i.searcher.hopeless(r,a,!1))throw a}}}var Y=class{#t=new Map;#e=[];add(t){return new Promise((e,s)=>{this.#t.set(t,{resolve:e,reject:s})})}settle(t,e=()=>{}){
let s=this.#t.get(t);if(s&&e(s),this.#t.delete(t),this.#t.size===0)for(let n of this.#e.splice(0))n()}error(t,e){let s=/^PUB:(\d+)$/.
exec(e)?.[1];return s===void 0?!1:(this.settle(Number(s),n=>n.reject(new l(t))),!0)}idle(){return this.#t.size===0?Promise.
resolve():new Promise(t=>{this.#e.push(t)})}fail(){for(let t of[...this.#t.keys()])this.settle(t,e=>e.reject(y()))}};async function V(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"omit",signal:t});return await e.arrayBuffer(),
e.ok}catch{return!1}}async function de(i,t){try{return await fetch(i,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:t}),!0}catch{return!1}}var J=class{#t;#e=0;#s=0;#n=0;#i=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#n=this.#i=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#i=this.#n,this.#n=0,this.#e=
t),e>this.#n&&(this.#n=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.max(1e3,3*
Math.max(this.#n,this.#i))}};var Q=2e3,pe=1e3,Z=new Set,$t,Lt=0,Bt=0;function is(i,t){return i>=pe+Q||t-i>=Q}function Rt(){let i=d()-Lt,t=Date.now()-
Bt;Lt+=i,Bt+=t,is(i,t)&&Ct("slept")}function me(i){return Z.add(i),$t??=ns(),()=>{!Z.delete(i)||Z.size>0||($t?.(),$t=void 0)}}
function Ct(i){for(let t of[...Z])t[i]()}function ns(){Lt=d(),Bt=Date.now();let i=setInterval(Rt,pe),t=globalThis,{document:e,
navigator:s}=t,n=()=>Ct("slept"),r=()=>{e?.visibilityState==="visible"&&n()},o=()=>Ct("networkChanged"),h=s?.connection,
a=h?.type,f=[[t,"online",o],[h,"change",()=>{h?.type!==a&&(a=h?.type,o())}],[t,"pageshow",n],[e,"resume",n],[e,"visibili\
tychange",r]];for(let[u,p,w]of f)u?.addEventListener?.(p,w);return()=>{clearInterval(i);for(let[u,p,w]of f)u?.removeEventListener?.(
p,w)}}var tt=1e3,Gt=1e3,rs=3,os=2**31-1,qt=50,et=class{heard=d();#t;#e;#s=new J(this.heard);#n=1+Math.random()/16;#i=!1;#r=!1;#o;#h=0;#c=0;#f=0;#a=-1/0;#d=-1/0;#u;#l;#p;#m=!1;constructor(t,e){
this.#t=t,this.#e=e}arrived(t){this.heard=t,this.#u=void 0,this.#l?.abort(),this.#l=void 0,((this.#r?this.#s.skip(t):this.#s.
arrived(t))||this.#i)&&(this.#i=!1,this.arm()),this.#r&&(this.#r=!1,this.#t.woke())}ponged(t,e){this.#i=e,this.#f=0;let s=Math.
min(t,2*this.#g);this.#o===void 0?(this.#o=s,this.#h=s/2):(this.#h+=(Math.abs(this.#o-s)-this.#h)/4,this.#o+=(s-this.#o)/
8),this.arm()}awake(t){let e=d();this.#w||(this.#f=0),!(this.#m||this.#f++>=rs)&&(this.#c=e,this.#e.keepAlive>0&&!this.#w&&
(t||e-this.heard>=tt)&&this.#x(e),this.arm())}stop(){this.#m=!0,this.#l?.abort(),clearTimeout(this.#p)}get#w(){return this.#t.
unanswered??this.#u}get#g(){return Math.max(tt,(this.#o??0)+4*this.#h)}get askAt(){let{keepAlive:t}=this.#e;if(t<0)return 1/0;
let e=this.#i?t:Math.min(t,this.#s.unusual);return this.heard+e*this.#n}suspectAt({at:t,sendTime:e}){return Math.max(t,this.
heard,this.#c)+(this.#u?tt:this.#g)+e}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:n}=this.#e;if(s<0)return 1/0;
let r=Math.max(this.heard,this.#c);return Math.max(t+n,r+s+n)+e}arm(){clearTimeout(this.#p);let t=this.#w,e=t?Math.min(this.#r?
1/0:this.#v(t),this.lostAt(t),this.#a+Gt):this.askAt;if(this.#m||e===1/0)return;let s=d(),n=Math.max(e,s+1);this.#p=setTimeout(
()=>this.#y(n),Math.min(n-s,os))}#v(t){return Math.max(this.suspectAt(t),this.#d+Gt)}#y(t,e=!1){Rt();let s=d();if(s-t>=Q&&
this.awake(!1),this.#m)return;if(!e&&s-t>qt){clearTimeout(this.#p),this.#p=setTimeout(()=>this.#y(s+qt,!0),qt);return}let n=this.#w;
if(!n)s>=this.askAt&&this.#x(s);else{if(s>=this.lostAt(n))return this.#t.over();!this.#r&&s>=this.#v(n)&&this.#k(s),this.#m||
this.probe()}this.arm()}#k(t){this.#r=this.#t.silent(),this.#r||(this.#d=t)}#x(t){if(this.#t.pingFirst===void 0)return this.#t.
ask();this.#u={at:t,sendTime:0},this.#a=-1/0,this.probe()}probe(){let t=d();t-this.#a<Gt||(this.#a=t,this.#t.pingFirst!==
void 0&&(this.#r||this.#u)?this.#b(this.#t.pingFirst):this.#t.probe())}async#b(t){if(this.#l)return;let e=new AbortController;
this.#l=e;let s=setTimeout(()=>e.abort(),tt),n=await de(t,e.signal);clearTimeout(s),!(this.#m||this.#l!==e)&&(this.#l=void 0,
n?(this.#u=void 0,this.#t.unanswered?this.#t.probe():this.#t.ask()):this.#u&&(this.#u={at:-1/0,sendTime:0}),this.arm())}};var st=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),n=s?.
shift();return n?(s?.length===0&&this.#t.delete(t),e(n),!0):!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();
for(let s of e)s.reject(t)}};var hs=1.024,as=32,it=class{edge;transport;token;begun=d();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;histories;featured;ending=new Map;error;ended;#t;#e;#s;#n=new F;#i=new st;#r=new Y;#o;#h=[];#c=new Set;#f=0;#a=!1;#d=!0;#u=!0;#l;constructor(t,e,s,n,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=n;let o=this;this.#s=new et({get unanswered(){return o.#h[0]},
pingFirst:e.fragile?t+r.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.silent(
this),woke:()=>this.#e.woke(this),over:()=>this.fail(new l("timeout","the edge does not answer"))},r),this.featured=new Promise(
a=>{this.#o=a});let h;this.ended=new Promise(a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#s.arrived(d())},line:a=>this.#y(
()=>this.#w(a)),frame:(a,c,f)=>{if(!this.alive||(this.#s.arrived(d()),se(a,c,f)))return;let u;try{u=this.#n.decode(a,c,f)}catch(p){
return this.#k(p)}this.#e.delivered(this,u)},ended:a=>{h(),this.#x(a)}}),this.#a=!0,this.alive&&this.#m("FEATURES:link"),
this.alive&&this.#s.arm()}get lastByte(){return this.#s.heard}request(t,e){t==="SUB"&&this.asked.add(e);let s=`${t}:${e}`,
n=this.#p(s);return this.alive&&this.#m(s),n}resume(t,e){let s=this.#p(`RSUB:${t}`);return this.alive&&this.#m(`RSUB:${t}\
:${e}`),s}leave(t){let s=this.request("UNSUB",t).catch(()=>{}).then(()=>{this.ending.get(t)===s&&this.ending.delete(t)});
return this.ending.set(t,s),s}confirm(t,e){if(!this.alive)return Promise.reject(y());let s=this.#r.add(e);return this.#m(
t),s}forgetConfirm(t){this.#r.settle(t)}confirmedAll(){return this.#r.idle()}postpone(t,e){this.postponed.add(t);let s=`\
AGAIN:${t}`,n=setTimeout(()=>this.#i.answer(s,r=>r.resolve()),e);return this.#p(s).finally(()=>clearTimeout(n))}#p(t){return new Promise(
(e,s)=>{this.alive?this.#i.add(t,{resolve:e,reject:s}):s(y())})}forget(t){return this.confirmed.delete(t),this.postponed.
delete(t),this.#i.answer(`AGAIN:${t}`,e=>e.reject(y())),this.asked.delete(t)}ping(t=!1){return new Promise((e,s)=>{if(!this.
alive)return s(y());this.#h.push({at:d(),sendTime:this.#f/hs,own:t,resolve:e,reject:s}),this.#t.send("PING"),this.#f=0,this.#s.
probe(),this.#h.length===1&&this.#s.arm()})}publish(t){this.#m(t);let e=this.#t.sent();return e&&new Promise(s=>{let n=()=>{
this.#c.delete(n),s()};this.#c.add(n),e.then(n,n)})}awake(t){this.#s.awake(t)}handTo(t){this.#e=t,this.#s.stop(),this.#i.
reject(y()),this.#r.fail();for(let e of this.#h)e.reject(y());for(let e of this.#c)e()}#m(t){this.#f+=t.length+as,this.#t.
send(t)}close(){return this.alive&&(this.#b(y()),this.#t.close()),this.ended}#w(t){this.#s.arrived(d());let e=Jt(t);if(e)
if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;if(this.#i.answer(`${e.verb}:${s}`,n=>n.resolve())&&e.verb==="SUB"&&(this.
confirmed.add(s),this.postponed.delete(s)),e.verb==="UNSUB")for(;this.#i.answer(`RSUB:${s}`,n=>n.reject(y())););}else if(e.
kind==="OK:PUB")this.#r.settle(e.id,s=>s.resolve(e.position));else if(e.kind==="OK:RSUB"||e.kind==="AT"||e.kind==="GAP")
this.#e.reached(this,e),e.kind==="OK:RSUB"&&this.#i.answer(`RSUB:${e.tenant}:${e.pattern}`,s=>s.resolve());else if(e.kind===
"ERR")this.#v(e.code,e.detail,t.slice(4));else if(e.kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#h.
shift();if(!s)return;let n=d()-s.at;s.resolve(n),this.#s.ponged(n,s.own),this.#e.roundTrip(n)}else e.kind==="RECONNECT"&&
!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATURES"?this.#g(e.features.split(",").includes("history")):
e.kind==="LINK"&&(this.#u=e.up,this.#d||this.#g())}#g(t=this.histories??!1){this.#d=!1,this.histories=t,this.#o(),this.link=
this.#u,this.#e.linked()}#v(t,e,s){if(this.#d&&t==="bad_request")return this.#g();let n=L(s);if(n&&(this.#l=s),this.#r.error(
t,e))return;let[,r,o]=/^(?:UN|R)?SUB:([^:]+):(.+)$/s.exec(e)??[];!(r!==void 0&&o!==void 0&&t!=="broker_unavailable"&&this.#i.
answer(e,a=>a.reject(new l(t,void 0,{tenant:r,pattern:o}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.test(t)&&this.#e.
errorLine(t,e),(t==="token_revoked"||t==="token_expired")&&this.fail(n)}#y(t){if(this.alive)try{t()}catch(e){this.#k(e)}}#k(t){
this.fail(A(t,"protocol","the edge broke the protocol"))}fail(t){this.#b(t),this.#t.close(),this.#a&&this.#e.lost(this,t)}#x({
closeCode:t,error:e}){if(!this.alive)return;let s=this.#l===void 0?void 0:L(this.#l,t),n=t===4401?"token_expired":t===4403?
"token_revoked":"disconnected",r=s?.code!=="slow_consumer"||t===4429,o=s&&r?s:e??new l(n,"the connection has ended",{closeCode:t});
this.#b(o),this.#a&&this.#e.lost(this,o)}#b(t){this.alive=!1,this.error=t,this.#s.stop();let e=y(t);this.#o(),this.#i.reject(
e),this.#r.fail();for(let s of this.#h)s.reject(e);this.#h=[]}};var C=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(n=>n.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var R=globalThis,nt=R.process?.versions,cs=R.Deno!==void 0||nt?.bun!==void 0||nt?.node!==void 0,we=nt?.node!==void 0&&nt.
bun===void 0&&R.Deno===void 0&&R.document===void 0,ge=!cs&&(R.document!==void 0||R.WorkerGlobalScope!==void 0);var Dt=32<<20,be=(i,t,e)=>e>t&&i[t]<32,rt=class{#t;#e=[];#s=0;constructor(t=Dt){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#n(t,e),this.#s>0))){for(;t.length-s>=4;){let n=s+4+this.#o(t,s);if(n>t.length)break;e(t,
s+4,n),s=n}s<t.length&&this.#i(t.slice(s))}}#n(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#i(t.slice(
0,s)),this.#s<4))return s;let n=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(n,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#i(t.slice(s,s+o)),this.#s===r){let h=this.#r();this.#e=[],this.#s=0,e(h,4,r)}return s+o}#i(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new l("protocol","a message that is to\
o long");return s}};var ve=1<<20,fs=1e3;async function ye({edge:i,token:t,signal:e},{paths:s}){let n=i.replace("http","ws")+s.webSocket,{promise:r,
resolve:o,reject:h}=ps(),a=await us("ws");e.throwIfAborted();let c,f=a?new a(n,{headers:{Authorization:`Bearer ${t}`},perMessageDeflate:!1,
maxPayload:Dt}):new WebSocket(n,["llps.v1",`at.${t}`]);a||(f.binaryType="arraybuffer");let u=()=>f.terminate?f.terminate():
f.close(),p=()=>{h(e.reason),u()};e.addEventListener("abort",p);let w=new C,m=!1,b,k;f.on?.("unexpected-response",(g,Oe)=>{
c=ls(Oe).finally(()=>g.destroy()),c.then(h)});let x;f.on?.("upgrade",g=>{x=g.socket}),f.onerror=({error:g})=>{b=g},f.onopen=
()=>{m=!0,x?.prependListener("data",()=>w.bytes()),e.removeEventListener("abort",p),o({transport:"websocket",fragile:!1,
start:g=>w.start(g),send:g=>m&&f.send(g),sent:()=>m&&f.bufferedAmount>ve?_():void 0,probe(){},close(){f.close(1e3),k??=setTimeout(
()=>{u(),w.ended({})},fs)}})},f.onclose=({code:g})=>{clearTimeout(k),m?(m=!1,w.ended({closeCode:g})):c||ds(i+s.ping,a!==
void 0,e,b).then(h,h),e.removeEventListener("abort",p)},f.onmessage=({data:g})=>{typeof g=="string"?w.line(g):g instanceof
ArrayBuffer?w.frame(new Uint8Array(g),0,g.byteLength):w.frame(new Uint8Array(g.buffer,g.byteOffset,g.length),0,g.length)};
async function _(){for(;m&&f.bufferedAmount>ve;)await new Promise(g=>setTimeout(g,5))}return r}async function us(i){if(we)
try{let{WebSocket:t}=await import(i);return t}catch(t){if("WebSocket"in globalThis)return;throw new l("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:t})}}async function ls(i){let t=i.statusCode,e="";try{let s=new TextDecoder;
for await(let o of i)if(e+=s.decode(o,{stream:!0}),e.length>65536)break;let{code:n,detail:r}=JSON.parse(e);if(typeof n==
"string")return new l(n,String(r),{status:t})}catch{}return new l(t>=500?"unreachable":"refused",`HTTP status ${t}`,{status:t})}
async function ds(i,t,e,s){return!t&&await V(i,e)?new l("refused","the edge answers, and refuses the WebSocket: perhaps \
the token"):new l("unreachable","no WebSocket to the edge",{cause:s})}function ps(){let i,t;return{promise:new Promise((s,n)=>{
i=s,t=n}),resolve:i,reject:t}}var ke=1e3,ms=43,ws=2e3,xe=()=>"WebTransport"in globalThis;async function Te(i,{paths:t,hashes:e}){let{signal:s}=i,n=[],
r,o=()=>{clearTimeout(r),n.forEach(ot)};s.addEventListener("abort",o);try{let h=await new Promise((c,f)=>{let u=()=>{let p=new WebTransport(
i.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});n.push(p),p.closed.catch(()=>{}),p.ready.then(()=>c(p),f)};
u(),r=setTimeout(u,ws)});for(let c of n)c!==h&&ot(c);let a=h.closed.then(({closeCode:c,reason:f})=>({closeCode:c,error:L(
`${f}`)}),()=>({}));return await gs(h,a,i.token)}catch(h){throw o(),s.throwIfAborted(),A(h,"unreachable","no WebTranspor\
t")}finally{clearTimeout(r),s.removeEventListener("abort",o)}}async function gs(i,t,e){let s=await i.createBidirectionalStream(),
n=new C,r=new Wt(s.writable.getWriter()),o=s.readable.getReader(),h,a,c=bs(i);r.send(`AUTH:${e}`);let f=new rt,u=(m,b,k)=>{
if(be(m,b,k))return n.frame(m,b,k);let x=$(m.subarray(b,k));if(a)return n.line(x);let _=Et(x);_.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:ge,start:g=>n.start(g),send:g=>r.send(g),sent:()=>r.sent,probe:c,close:()=>{r.close().then(()=>ot(
i))}}:_.kind==="ERR"&&(h??=L(x.slice(4))??new l(_.code))},p=async()=>{let{value:m,done:b}=await o.read();return m&&(n.bytes(),
f.push(m,u)),!b},w;for(;!a;)if(!await p().catch(b=>{if(b instanceof l)throw b;return!1}))throw h??vs(await t);return(async()=>{
try{for(;await p(););}catch(k){k instanceof l&&(w=k)}r.close();let m={error:w},b=t.then(k=>m=k);w||await P(ke,b),ot(i),n.
ended(m)})(),a}function bs(i){let t,e=!1,s=async()=>{let{writable:n,createWritable:r}=i.datagrams;t??=(n??r?.call(i.datagrams))?.
getWriter(),await t?.write(new Uint8Array(ms))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function vs({
closeCode:i,error:t}){let e=i===4401?"unauthorized":i===1001?"draining":i===1013?"unavailable":"unreachable";return t??new l(
e,"the connection has ended",{closeCode:i})}function ot(i){try{i.close({closeCode:1e3,reason:""})}catch{}}var Wt=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?N(t):t,s=e.length,n=this.#s+
4+s;if(n>this.#e.length){let r=new Uint8Array(Math.max(n,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=n,this.sent??=this.#n()}async#n(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await P(ke,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var ys=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,zt=i=>xe()&&i.startsWith(
"https:"),ht=class{#t;#e=new Map;#s=new Set;constructor(t){this.#t=t}forget(){this.#s.clear()}prefer(t,e){this.#e.set(t,
e)}async open(t,e,s,n={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=n,a=o.filter(u=>u===
"websocket"||zt(t));a.length===0&&v("there is no WebTransport here, or not for http:// addresses");let c=a.filter(u=>!this.#s.
has(u));if(c.length===0)throw new l("protocol_not_allowed");this.#e.get(t)===c[1]&&c.reverse();let f=await I(s,r.connectTimeout,
u=>this.#n(c,t,e,h,u));return this.#e.set(t,f.transport),f}#n(t,e,s,n,r){return new Promise((o,h)=>{let a,c=0,f=0,u,p=!1,
w=()=>{p=!0,clearTimeout(a)},m=()=>{clearTimeout(a);let b=t[f++];if(!b||p)return;let k=b==="websocket"?ye:Te;c++,k({edge:e,
token:s,signal:r},this.#t).then(x=>{if(p)return ks(x);w(),o(x)},x=>{c--;let _=A(x,"unreachable","the edge does not answe\
r");if(_.code==="protocol_not_allowed"&&this.#s.add(b),(!u||W(_)>W(u))&&(u=_),!ys.test(_.code)&&(c>0||f<t.length))return m();
w(),h(u)}),f<t.length&&(a=setTimeout(m,n))};r.addEventListener("abort",()=>{w(),h(r.reason)}),m()})}};function ks(i){i.start(
{bytes(){},line(){},frame(){},ended(){}}),i.close()}function W({code:i}){return["unreachable","timeout","refused","proto\
col_not_allowed"].indexOf(i)>>>0}var Ee=3,xs=500;async function jt(i,t,e){let s,n=await Promise.all(i.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await I(e,t.connectTimeout,h=>Ts(o,h))}catch(h){return s=h,[]}})),r=[...new Set(n.flat())];if(e.throwIfAborted(),
r.length===0)throw s??new l("unreachable","the list has no edge");return r.length>1&&(await I(e,t.connectTimeout,o=>Es(r,
t.paths.ping,o)).catch(()=>{}),e.throwIfAborted()),r}async function Ts(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"\
omit",signal:t});if(!e.ok)throw new l("unreachable",`the list of edges: HTTP status ${e.status}`,{status:e.status});let{
edges:s}=await e.json();return s.map(({host:n})=>z(`https://${n}`,!1).origin)}catch(e){throw A(e,"unreachable","the list\
 of edges")}}async function Es(i,t,e){let s=new Map,n=async c=>{let f=[];for(;f.length<Ee;){let u=d();if(!await V(c+t,e))
return;f.push(d()-u)}f.sort((u,p)=>u-p),s.set(c,f[Ee>>1])},r=i.map(n),h=Promise.any(r.map((c,f)=>c.then(()=>s.get(i[f])??
Promise.reject()))).then(()=>S(xs,e));await Promise.race([Promise.all(r),h.catch(()=>Promise.all(r))]);let a=c=>s.get(c)??
Number.MAX_VALUE;i.sort((c,f)=>a(c)-a(f))}var Ae=/^(ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,As=/^(unauthorized|token_expired|region_not|protocol_not)/,
Ss=5,Ms=6e4,_s=12e4,at=class{#t;#e;#s;#n;#i;#r=[];#o=new Map;#h;#c=0;#f=0;drained=new Set;constructor(t,e,s,n){this.#t=t,
this.#e=e,this.#s=s,this.#n=n,this.#i=new ht(e)}async first(t){await M(this.#s.get(),t),this.#r=await jt(this.#t,this.#e,
t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(n){if(!(n instanceof l)||Ae.test(n.code)||n.code==="\
token_provider")throw n;(!e||W(n)>W(e))&&(e=n)}throw e}async*order(t,e,s){for(;;){let n=this.#r.filter(r=>r!==t);if(yield*e?
[t,...n]:n.length<this.#r.length?[...n,t]:n,this.#t.some(r=>r.pathname!=="/"))try{this.#r=await jt(this.#t,this.#e,s)}catch{
s.throwIfAborted()}}}async open(t,e,s){let n=await this.#s.get();try{return await this.#a(t,n,e,s)}catch(r){if(!(r instanceof
l&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;let h=await this.#s.ask();if(h===n)
throw r;return this.#a(t,h,e,s)}}async#a(t,e,s,n){e!==this.#h&&(this.#h=e,this.#o.clear(),this.#i.forget());let r=await this.#i.
open(t,e,s,n);this.drained.delete(t);let o=new it(t,r,e,this.#n,this.#e);if(o.error)throw o.error;return this.#c=0,this.#o.
clear(),o}noteSilent({edge:t,transport:e,begun:s},n=!1){e!=="webtransport"||!n&&d()-s>=_s||this.#i.prefer(t,n?e:"websock\
et")}hopeless(t,e,s){let{code:n}=e;if(n==="unreachable"&&this.drained.delete(t),n!=="refused")this.#c=0;else{if(s||this.
drained.has(t))return!1;this.#c++===0&&(this.#f=d())}return Ae.test(n)||this.#c>=Ss&&d()-this.#f>=Ms?!0:As.test(n)?(this.#o.
set(t,e),this.#r.every(r=>this.#o.has(r))):!1}};var ct=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){let s=r=>e(
r),n=this.#t.get(t)??new Set;return this.#t.set(t,n.add(s)),()=>{n.delete(s)}}emit(t,e){this.#e.push([t,e])>1024&&this.#e.
shift(),this.#s||this.#n()}async#n(){this.#s=!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.
get(t[0])??[]])try{await e(t[1])}catch(s){ft(s)}this.#s=!1}};function ft(i){queueMicrotask(()=>{throw i})}var Os=new TextDecoder,G=class{tenant;channel;payload;pattern;patterns;late;position;constructor(t,e,s,n,r,o,h){this.tenant=
t,this.channel=e,this.payload=s,this.pattern=n,this.patterns=r,this.late=o,this.position=h}get time(){return this.position===
void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Os.decode(this.payload)}json(){return JSON.parse(
this.text())}};var ut=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,n=`${e}:${s}`,r=this.#t.
get(n),{history:o}=t,h=r??{name:n,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[],history:o};return h.subs.push(t),this.#t.
set(n,h),this.#e++,{interest:h,isNew:!r}}of(t,e){return this.#t.get(`${t}:${e}`)}has(t){return this.#t.get(t.name)===t}remove(t){
let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.subs.splice(s,1),e.subs.length===
0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(t.name)}dispatch(t,e=!1){let{tenant:s,
channel:n,payload:r,route:o}=t,h=o.note?.tenant===s&&o.note.version===this.#e?o.note:this.#s(s,o);for(let{pattern:a,subs:c,
history:f}of h.interests){if(f&&!f.plain)continue;let u=new G(s,n,r,a,o.patterns,e);if(c.length===1)c[0].push(u);else for(let p of[
...c])p.push(u)}}#s(t,e){let s=e.patterns.map(n=>this.#t.get(`${t}:${n}`)).filter(n=>n!==void 0);return e.note={tenant:t,
version:this.#e,interests:s},e.note}};var lt=class{interests=new ut;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){let e=this.interests.all;e.some(
n=>n.history)&&await t.featured;let s=t===this.#t.current?e:e.filter(n=>!n.history);await Promise.all(s.map(n=>this.ask(
t,n)))}async resume(t){await Promise.all(this.interests.all.filter(({history:e})=>e).map(e=>this.ask(t,e)))}stored(t,e,s){
let{tenant:n,channel:r,payload:o,route:h}=e,{patterns:a}=h,c=a[0],f=this.interests.of(n,c),{history:u}=f??{};if(!f||!u?.
takes(t,s))return;u.from=s,f.subs[0]?.pushStored(new G(n,r,o,c,a,!1,s))===!1&&this.interests.has(f)&&(u.pause(),t.leave(
f.name)),this.#n(f)}reached(t,e){let{kind:s,tenant:n,pattern:r,position:o}=e,h=this.interests.of(n,r),{history:a}=h??{};
if(!(!h||a?.on!==t||!a.open||a.plain)){if(s==="GAP"||a.takes(t,o)){a.from=o;for(let c of h.subs)c.reach(o)}s==="GAP"?(a.
told=!0,this.#e(n,r,o)):s==="OK:RSUB"&&(this.#n(h),e.how==="gap"&&!a.told?this.#e(n,r,o):a.lossy&&this.#e(n,r))}}#e(t,e,s){
this.#t.gaps=!0,this.#t.events.emit("gap",{tenant:t,pattern:e,before:s})}wasRead(t){let e=this.interests.of(t.tenant,t.pattern),
{current:s}=this.#t;!e?.history||e.history!==t.history||(e.history.paused=!1,s&&this.ask(s,e))}ask(t,e){let s=this.#s(t,
e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#s(t,e){try{e.history?await this.#i(t,e,e.history):
(await this.#r(t,e),this.#n(e))}catch(s){let n=A(s,"internal","a fault of this client");if(n.code==="disconnected")return;
if(e.confirmed&&this.#t.suspected&&t===this.#t.next)return t.fail(n);this.#o(e,n)}}#n(t){t.confirmed=!0;for(let{resolve:e}of t.
waiting.splice(0))e()}async#i(t,e,s){let{name:n,tenant:r,pattern:o}=e;if(s.paused&&(this.#t.gaps=!0),!(s.paused||s.on===
t)){s.begin(t);for(let h=2;;){if(await t.featured,await t.ending.get(n),!t.alive||s.on!==t||!this.interests.has(e))return;
let a=!t.histories||s.unwanted,c=s.forbidden?"now":s.from,f=Ft(e);s.lossy=a?f||c!=="now":s.forbidden||f&&c==="now",s.plain=
a,s.open=!0,a&&(s.from="now");try{if(!a)return await t.resume(n,c);if(await t.request("SUB",n),!this.interests.has(e))return;
this.#n(e),s.lossy&&this.#e(r,o);return}catch(u){let p=u;if(p.code==="history_unavailable")return this.#t.gaps=!0,this.#t.
events.emit("edgeError",{code:p.code,detail:`RSUB:${n}`});if(s.open=!1,p.code==="permission_denied"&&!a&&c!=="now")s.forbidden=
!0;else if(p.code==="no_history"&&f)s.unwanted=!0;else if(p.code==="try_later"&&f)h===2&&this.#t.events.emit("subscripti\
onError",{tenant:r,pattern:o,code:p.code}),await t.postpone(n,T(h++,this.#t.settings)),t.postponed.delete(n);else throw p}}}}async#r(t,e){
let{name:s,tenant:n,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){let a=h;if(a.code!=="try\
_later"||!Ft(e))throw a;o===2&&this.#t.events.emit("subscriptionError",{tenant:n,pattern:r,code:a.code})}await t.postpone(
s,T(o,this.#t.settings))}}#o(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:n,subs:r,waiting:o}=t;for(let h of[
this.#t.current,this.#t.next])h?.forget(t.name)&&h.leave(t.name);Ft(t)&&this.#t.events.emit("subscriptionError",{tenant:s,
pattern:n,code:e.code});for(let h of r)h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){if(this.#t.over)
throw this.#t.over;let e=this.interests.of(t.tenant,t.pattern);e&&(e.history||t.history)&&v("the client has a subscripti\
on to this pattern, and one with a history is alone");let{interest:s,isNew:n}=this.interests.add(t);if(s.confirmed)return;
let r=new Promise((o,h)=>{s.waiting.push({resolve:o,reject:h})});return n&&(this.#t.current&&!this.#t.leaving&&this.ask(
this.#t.current,s),this.#t.next&&!s.history&&this.ask(this.#t.next,s)),r}async leave(t){let e=this.interests.remove(t);if(!e)
return;for(let{resolve:h}of e.waiting.splice(0))h();let{name:s,history:n}=e,o=[this.#t.current,this.#t.next].filter(h=>h?.
forget(s)||h&&n?.on===h).map(h=>h.leave(s));await(this.#t.suspected&&o.length>0?Promise.race(o):Promise.all(o))}queueFull({
tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){for(let s of this.interests.
all){this.interests.drop(s);for(let n of s.subs)n.end(t);for(let{reject:n}of s.waiting.splice(0))n(t??e)}}};function Ft({
subs:i,waiting:t}){return i.length>t.length}var Kt=1e3,dt=class{#t=new E;#e=new E;#s=new E;constructor(t,e,s){for(let{key:n}of t)this.#t.put(n,e);if(s){for(let{key:n,
time:r,message:o}of s.#e.all)this.#e.put(n,r,o);for(let{key:n,time:r}of s.#s.all)this.#s.put(n,r)}}fromCurrent(t,e){let s=O(
t);return this.#s.dropUntil(e-Kt),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=O(t);if(this.#t.
take(s))return;let n=this.#e.put(s,e,{...t});return n&&this.#s.put(n.key,n.time),n?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-Kt)}get nextDue(){let t=this.#e.oldest;return t&&t.time+Kt}};var Se=15e3,Ps=6e4,pt=class{#t;late;#e;#s;#n=!0;#i=!1;#r=d();#o;#h;constructor(t,e,s,n,r){this.#t=t,this.late=new dt(e,d(),
r?.late),this.#e=s,this.#s=n,this.#o=setTimeout(()=>this.#c(),Se),r?.stop(),t.handTo(this),t.alive?this.#a():this.#f()}fromCurrent(t){
return this.late.fromCurrent(t,d())}hold(t){t!==this.#i&&(this.#i=t,t||this.late.renew(d()),this.#a())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#n=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#c(){let t=Math.
min(this.#t.lastByte+Se,this.#r+Ps)-d();t>0?this.#o=setTimeout(()=>this.#c(),t):this.#f()}#f(){this.#n&&(this.stop(),this.#a())}#a(){
if(clearTimeout(this.#h),this.#i)return;let{nextDue:t}=this.late;if(t===void 0){this.#n||this.#s();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(d()))this.#e(e);this.#a()},Math.max(1,t-d()))}delivered(t,e){if(e.position!==void 0)return;
let s=this.late.nextDue===void 0,n=this.late.fromTrail(e,d());n&&this.#e(n),s&&this.#a()}woke(t){for(let s of t.asked)t.
request("UNSUB",s).catch(()=>{});let e=()=>this.#f();t.ping().then(e,e)}lost(){this.#f()}silent(){return!1}reached(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var mt=class{settings;events;subscriber=new lt(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#e=new Set;#s=[];constructor(t){this.settings=re(t),this.
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
return S(t,e,this.#e)}hurry(){for(let t of[...this.#e])t()}openGate(t){this.publishOn=t;let e=this.gate??[];this.gate=void 0;
for(let s of e)s();this.over&&this.#n()}publishConnection(){if(this.over)throw this.over;let t=this.publishOn??this.current;
if(!t?.alive)throw y();return t}};var Is=500;async function Me(i,t,e){for(i.events.emit("suspect",i.place),i.gate??=[];i.merger&&!i.merger.done(d());)await S(
50,e);i.merger=new B,i.both=i.tentative=!0;let s=0;for await(let n of i.searcher.order(t.edge,!1,e)){await i.pause(T(++s,
i.settings),e);let r;try{r=await i.searcher.open(n,e,{fallbackAfter:Is})}catch(h){if(e.throwIfAborted(),h instanceof l)continue;
throw h}if(e.aborted)return void r.close();if(!r.alive)continue;i.next=r,i.merger.joined(d());let o=i.subscriber.restore(
r);if(r.ping(!0).catch(()=>{}),await o,e.throwIfAborted(),i.next===r)return i.takeOver(t,r)}}var Ht=2**31-1,Ns=1e3;function Us(i,t){return i===1/0?i:Math.max(0,Math.min(i*.9,i>5e3?i-5e3:i)-t*i/10)}var wt=class{#t;#e;#s;#n=new AbortController;#i;#r=1/0;#o;#h;#c=0;constructor(t,e,s){
this.#t=t,this.#i=t.token,this.#e=e,this.#s=s}get token(){return this.#i}get provided(){return this.#t.tokenProvider!==void 0}get(){
return this.#i!==void 0&&Date.now()<this.#r?Promise.resolve(this.#i):this.ask()}ask(){return this.#o??=this.#f().finally(
()=>{this.#o=void 0}),this.#o}async#f(){clearTimeout(this.#h);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,
{signal:n}=this.#n;try{let r=await I(n,e,c=>M(Promise.resolve(t?.()),c)),{token:o,expiresAt:h}=typeof r=="object"?r:{token:r},
a=h===void 0?1/0:new Date(h).getTime();return Number.isNaN(a)&&v("expiresAt is no time"),this.#i=Pt(o),this.#r=a>Date.now()?
a:1/0,this.#c=0,this.#a(Math.max(Ns,Us(this.#r-Date.now(),Math.random()))),this.#i}catch(r){this.#r<1/0&&Date.now()<this.#r&&
this.#a(Math.max(s,T(++this.#c+1,this.#t)));let o=new l("token_provider","the token provider failed",{cause:r});throw this.#i!==
void 0&&!n.aborted&&this.#s(o),o}}#a(t){this.#n.signal.aborted||!(t<1/0)||(this.#h=setTimeout(()=>{if(t>Ht)return this.#a(
t-Ht);let e=this.#i;this.ask().then(s=>s!==e&&this.#e(),()=>{})},Math.min(Math.max(t,0),Ht)))}expire(){this.provided&&(this.#r=
0)}stop(){this.#n.abort(),clearTimeout(this.#h)}};var Xt=6e4,$s=60*Xt,Ls=2*Xt,Bs=1e4,Cs=2e3;function _e(i,t){return Math.min((4+2*t)*Xt*2**i,$s)}var gt=class{#t;#e=0;#s;#n;#i;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#n),t.transport==="webtransport"?(this.stop(),this.#n=setTimeout(()=>{this.#e=0},Ls)):
!this.#s&&this.#r(t)&&this.#o(_e(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
Cs,!1)}stop(){this.#i?.abort(),this.#i=void 0,clearTimeout(this.#s),clearTimeout(this.#n),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&zt(e)}#o(t,e=!0){
clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#i)
return this.#o(Bs,t);if(!this.#r(s)){this.#s=void 0;return}let n=this.#e+Number(t);this.#o(_e(n,Math.random()));let r=new AbortController;
this.#i=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#i===r&&(this.#i=
void 0),r.signal.aborted||(this.#e=n),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>D(e,s,"transport",h,o)):(o?.close(),
e.moveIfDue())}};var Rs=3e3,bt=class extends mt{tokens;searcher;closed;#t;#e=new gt(this);#s;#n;constructor(t,e){super(e),this.tokens=new wt(
this.settings,()=>this.moveIfDue(),({code:s,message:n})=>this.errorLine(s,n)),this.searcher=new at(t,this.settings,this.
tokens,this),this.closed=new Promise(s=>{this.#n=s})}async start(t){try{let e=await this.searcher.first(t);if(this.setCurrent(
e),t.throwIfAborted(),e.error)throw e.error;this.since=d(),this.#s=me(this),this.#e.follow(e),this.events.emit("connecte\
d",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.current?.close(),e}}setCurrent(t){super.
setCurrent(t),this.since&&this.#e.follow(t)}moveIfDue(){let{current:t}=this;this.#t||this.over||!t?.alive||(t.drains?this.
run(e=>D(this,t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>D(this,t,"token",e)))}get idle(){let{current:t,merger:e}=this;
return!this.#t&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(d()))}run(t){this.#t?.abort();let e=new AbortController;
this.#t=e,t(e.signal).then(()=>{this.#t===e&&(this.#t=void 0,this.current?.alive&&this.moveIfDue())},s=>{this.#t===e&&this.
finish(A(s,"internal","a fault of this client"))})}draining(t){this.searcher.drained.add(t.edge),t===this.current&&this.
moveIfDue()}errorLine(t,e){let[,s,n]=/^PUB:([^:]+):(.+)$/s.exec(e)??[];t==="slow_consumer"?this.events.emit("slowConsume\
r",{dropped:Number(e)}):t==="egress_limited"?this.events.emit("egressLimited",{delay:Number(e)*1e3}):s&&n&&t!=="broker_u\
navailable"?this.events.emit("publishError",{tenant:s,channel:n,code:t}):this.events.emit("edgeError",{code:t,detail:e})}roundTrip(t){
this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){let{current:e}=this;return t===this.next&&this.tentative&&d()-
t.lastByte>=Rs&&t.fail(new l("timeout","the edge does not answer")),t!==e||this.#t||this.gate||this.over||this.reconnecting||
!this.since||e.drains?!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.noteSilent(t),this.run(s=>Me(this,t,s)),!0)}woke(t){
t===this.suspected&&(this.searcher.noteSilent(t,!0),this.#t?.abort(),this.#t=void 0,this.next?.close(),this.next=void 0,
this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(t,e){
let s=t.token===this.tokens.token,n=/_not_allowed$|^token_revoked$/.test(e.code)||e.code==="token_expired"&&!this.tokens.
provided,r=t===this.next&&this.suspected!==void 0;if(n&&s&&!r)return this.finish(e);e.closeCode===void 0&&/^(disconnected|timeout)$/.
test(e.code)&&this.searcher.noteSilent(t),t===this.next&&!this.leaving?(this.next=void 0,r?this.merger?.orphan():this.openGate(
void 0)):t===this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(t===this.current||t===this.next)&&
(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.close(),this.next=void 0,this.giveHeld()),this.
promote(),this.reconnecting||this.run(o=>le(this,t,e,o)))}slept(){for(let t of[this.current,this.next])t?.awake(!1);this.
hurry()}networkChanged(){for(let t of[this.current,this.next])t?.awake(!0);this.hurry(),this.#e.soon()}finish(t){if(this.
over)return;this.over=new l("closed","the client has been closed",t?{cause:t}:{}),this.#t?.abort(),this.tokens.stop(),this.#e.
stop(),this.#s?.();let e=[this.current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),t&&(this.giveHeld(),
this.trail?.flush()),this.subscriber.end(t,this.over),this.events.emit("closed",{error:t}),Promise.all(e).then(()=>this.#n(
t))}};var vt=class{#t;#e=new Array(16);#s=0;#n=0;constructor(t){this.#t=t}get size(){return this.#n}get full(){return this.#n>=
this.#t}push(t){let e=this.#e;this.#n===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],
this.#s=0),this.#e[this.#s+this.#n++&this.#e.length-1]=t}shift(){if(this.#n===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=
void 0,this.#s=this.#s+1&this.#e.length-1,this.#n--,t}clear(){this.#e=new Array(16),this.#s=this.#n=0}};var Gs=1e3,yt=class{tenant;pattern;history;ended;#t;#e;#s;#n=[];#i=!1;#r;#o;#h=0;#c=-1/0;#f;#a;#d;constructor(t,e,s,n){this.
tenant=t,this.pattern=e,this.#t=s,this.#e=n,this.#s=new vt(n.queue);let{from:r}=n;this.history=r===void 0?void 0:new H(r),
r?.includes(".")&&!r.startsWith("last")&&(this.#a=this.#d=r),this.ended=new Promise(o=>{this.#o=o})}get position(){return this.#s.
size===0?this.#a:this.#d}async unsubscribe(){this.end(void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.
onMessage)throw new l("bad_option","a subscription with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.
resolve({done:t,value:void 0});let e=this.#s.shift();return e?(this.#d=e.position??this.#d,this.history?.paused&&this.#s.
size*2<=this.#e.queue&&this.#t.wasRead(this),Promise.resolve({done:!1,value:e})):this.#i?(t=!0,this.#r?Promise.reject(this.#r):
Promise.resolve({done:t,value:void 0})):new Promise((s,n)=>{this.#n.push({resolve:s,reject:n})})},return:async()=>(t=!0,
await this.unsubscribe(),{done:t,value:void 0})}}#u(t){let{onMessage:e}=this.#e;if(e){try{let n=e(t);n instanceof Promise&&
n.catch(ft)}catch(n){ft(n)}return!0}let s=this.#n.shift();return s?.resolve({done:!1,value:t}),s!==void 0}pushStored(t){
if(this.#i)return!0;let e=this.#u(t);return!e&&this.#s.full?(this.#l(),!0):(this.#a=t.position,e?this.#d=t.position:this.#s.
push(t),!this.#s.full||this.#e.queuePolicy==="end")}reach(t){this.#a=t}#l(){this.end(new l("queue_full","messages were n\
ot read in time",this)),this.#t.leave(this)}push(t){if(this.#i||this.#u(t))return;let{queuePolicy:e}=this.#e;if(!this.#s.
full)return this.#s.push(t);if(e==="end")return this.#l();e==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#h++,
this.#f??=setTimeout(()=>this.#p(),Math.max(0,this.#c+Gs-d()))}#p(){clearTimeout(this.#f),this.#f=void 0,this.#c=d(),this.#h>
0&&this.#t.queueFull(this,this.#h),this.#h=0}end(t){if(!this.#i){this.#i=!0,this.#r=t,t||this.#s.clear(),this.#p();for(let e of this.#n.
splice(0))t?e.reject(t):e.resolve({done:!0,value:void 0});this.#o(t)}}};async function qs(i,t){let e=typeof i=="string"?[i]:i;(!t||!e?.length)&&v("connect needs an address and options");let s=new bt(
e.map(r=>z(r,t.allowPlaintext===!0)),t),{signal:n=new AbortController().signal}=t;return n.throwIfAborted(),await M(s.start(
n),n),new kt(s)}var kt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let n=this.#t,{onMessage:r}=s;r&&typeof r!="function"&&v("onMessage must be a function");let o=new yt(It(t),ce(e),n.subscriber,
{...Ot(s,n.settings),onMessage:r,from:he(s.history,e)});return await n.subscriber.subscribe(o),o}async publish(t,e,s,{delivery:n="\
broadcast",confirm:r=!1,key:o}={}){let h=this.#t,a=St.indexOf(n);a<0&&v(`delivery: allowed are ${St.join(", ")}`),typeof s!=
"string"&&s?.[Symbol.toStringTag]!=="Uint8Array"&&v("the payload must be a Uint8Array or a string");let c={tenant:It(t),
channel:ae(e)};if(r){let u=N(o??"");return o!==void 0&&!(u.length>0&&u.length<=64)&&v("a key has 1 to 64 bytes"),Yt(h,w=>Mt(
c.tenant,c.channel,s,a,{id:w,key:u}),o!==void 0,c)}o!==void 0&&v("a key is for a publish that is confirmed");let f=Mt(c.
tenant,c.channel,s,a||void 0);return h.publishConnection(),h.gate?new Promise((u,p)=>{h.gate?.push(()=>{try{u(h.publishConnection().
publish(f))}catch(w){p(w)}})}):h.publishConnection().publish(f)}async flush(){let t=this.#t;t.publishConnection(),t.gate&&
await new Promise(e=>t.gate?.push(e)),await t.publishConnection().ping()}async close(){this.#t.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};export{kt as Client,l as MillraceError,qs as connect};
