// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var c=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;constructor(t,e,s={}){super(
`${t}: ${e??"the edge says so"}`,"cause"in s?{cause:s.cause}:void 0),this.code=t,this.tenant=s.tenant,this.pattern=s.pattern,
this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode}};function x(i,t,e){return i instanceof c?i:new c(
t,e,{cause:i})}function A(i){return new c("disconnected","there is no connection to an edge",i===void 0?{}:{cause:i})}function W(i,t){let e=URL.canParse(i)?new URL(i):void 0;if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.
search||e.hash)throw new c("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!we(e.hostname))throw new c("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function we(i){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(i)}var be=new TextEncoder,ge=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),vt=1024,ve=["PING","PONG","RECONNECT","OK:AUT\
H"],B=i=>be.encode(i);function N(i){try{return ge.decode(i)}catch(t){throw new c("protocol","text that is not UTF-8",{cause:t})}}
var ke=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifia\
ble",1013],["internal",1011],["slow_consumer",4429]]);function L(i,t){let[e,s,...n]=i.split(":"),r=ke.get(e);if(r===void 0)
return;let o={closeCode:t??r};return e==="forbidden"?new c(`${s}_not_allowed`,n.join(":")||void 0,o):new c(e,void 0,o)}function kt(i){
if(ve.includes(i))return{kind:i};if(/^LINK:(up|down)$/.test(i))return{kind:"LINK",up:i==="LINK:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.
exec(i)?.[1];if(t&&i.length<=vt)return{kind:"FEATURES",features:t};let e=/^OK:(SUB|UNSUB):([^:]+):(.+)$/su.exec(i),s=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(i);if((e||s)&&(i.length<=vt/3||B(i).length<=vt)&&!i.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}throw new c(
"protocol","a line that is none")}function Dt(i){try{return kt(i)}catch{return}}var yt=["broadcast","one-nearest","one-random"];function jt(i,t,e,s){let n=typeof e=="string"?B(e):e,r=s===void 0?0:2,o=new Uint8Array(
r+4+i.length+t.length+n.length);return s!==void 0&&(o[0]=2,o[1]=s),o.set(n,zt(o,zt(o,r,i),t)),o}function zt(i,t,e){i[t++]=
e.length>>8,i[t++]=e.length;for(let s=0;s<e.length;s++)i[t++]=e.charCodeAt(s);return t}var z=class{#t=new j;#e=new j;#s={};decode(t,e,s){
let n=p=>{p>s&&D()},r=p=>(n(p+2),t[p]<<8|t[p+1]);(e===s||t[e]!==1)&&D();let o=e+3+r(e+1),h=o+2+r(o),a=h+4;n(a);let f=a+r(
h)*65536+r(h+2);r(f)===0&&D();let u=this.#t.of(t,e+1,h,()=>[N(t.subarray(e+3,o)),N(t.subarray(o+2,h))]),d=this.#s;return d.
tenant=u[0],d.channel=u[1],d.payload=t.subarray(a,f),d.route=this.#e.of(t,f,s,()=>{let p=[],w=f+2;for(let b=r(f);b>0;b--){
let g=w+2+r(w);n(g),p.push(N(t.subarray(w+2,g))),w=g}return w!==s&&D(),{patterns:Object.freeze(p),note:void 0}}),d}};function D(){
throw new c("protocol","a frame that is none")}var ye=256,xe=1024,j=class{#t=[];of(t,e,s,n){let r=0;for(let f=e;f<s;f++)
r=Math.imul(r,31)+t[f]|0;let o=(r^r>>>8)&ye-1,h=this.#t[o];if(h&&Te(h.bytes,t,e,s))return h.value;let a=n();return s-e<=
xe&&(this.#t[o]={bytes:t.slice(e,s),value:a}),a}};function Te(i,t,e,s){if(i.length!==s-e)return!1;for(let n=0;n<i.length;n++)
if(i[n]!==t[e+n])return!1;return!0}var H="[\\w\\-~@]+",Ee=/^[\w\-~@.]{1,128}$/,Ae=new RegExp(`^(?=.{1,256}$)${H}(\\.${H}){0,31}$`),Se=new RegExp(`^(?=.{1,2\
56}$)((${H}\\*?|\\*)\\.){0,31}(${H}[*>#]?|[*>#])$`),Me=i=>Ee.test(i),_e=i=>Ae.test(i),Oe=i=>Se.test(i),Ie="~";function xt(i){
return Tt("bad_tenant",Me,i===""?Ie:i)}function Ht(i){return Tt("bad_channel",_e,i)}function Ft(i){return Tt("bad_patter\
n",Oe,i)}function Tt(i,t,e){if(typeof e!="string"||!t(e))throw new c(i,"not a legal name, see docs/protocol.md, Names");
return e}var Pe=["drop-oldest","drop-newest","end"],Kt=["webtransport","websocket"];function v(i){throw new c("bad_option",i)}function O(i,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&v(`${i} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function Xt(i,t,e){return e.includes(t)||v(`${i}: allowed are ${e.join(", ")}`),t}function At(i,t){return{queue:Math.ceil(
O("queue",i.queue,t.queue)),queuePolicy:Xt("queuePolicy",i.queuePolicy??t.queuePolicy,Pe)}}function Yt(i){let{token:t,tokenProvider:e,
transports:s=Kt}=i;t===void 0==(e===void 0)&&v("one of token and tokenProvider is needed"),e!==void 0&&typeof e!="functi\
on"&&v("tokenProvider must be a function"),s.length===0&&v("transports must not be empty");for(let r of s)Xt("transports",
r,Kt);let n=O("minBackOff",i.minBackOff,250);return{token:t===void 0?void 0:St(t),tokenProvider:e,transports:[...new Set(
s)],fallbackAfter:O("fallbackAfter",i.fallbackAfter,2e3),connectTimeout:O("connectTimeout",i.connectTimeout,1e4),keepAlive:O(
"keepAlive",i.keepAlive,25e3,-1/0),pongTimeout:O("pongTimeout",i.pongTimeout,1e4),minBackOff:n,maxBackOff:Math.max(n,O("\
maxBackOff",i.maxBackOff,15e3)),...At(i,{queue:1024,queuePolicy:"drop-oldest"}),paths:{webSocket:Et(i.paths?.webSocket??
"/ws"),webTransport:Et(i.paths?.webTransport??"/wt"),ping:Et(i.paths?.ping??"/ping")},allowPlaintext:i.allowPlaintext===
!0,hashes:i.serverCertificateHashes}}function Et(i){return/^\/[^?#]*$/.test(i)||v("paths must start with a slash"),i}function St(i){
return(typeof i!="string"||!/^[\w.~+-]{1,512}$/.test(i))&&v("the token is not a token"),i}var Ne=new TextDecoder("windows-1252");function _(i){return`${i.tenant}:${i.channel}:${Ne.decode(i.payload)}`}var y=class{size=0;#t=0;#e=[];#s=0;#i=new Map;get oldest(){
for(;this.#e[this.#s]?.entry===void 0&&this.#s<this.#e.length;)this.#s++;return this.#e[this.#s]?.entry}get all(){return this.#e.
flatMap(({entry:t})=>t??[])}put(t,e,s){this.#e.length>2*this.size+1024&&(this.#e=this.#e.filter(({entry:o})=>o),this.#s=
0);let n={entry:{key:t,time:e,message:s}};this.#e.push(n);let r=this.#i.get(t);return r?r.push(n):this.#i.set(t,[n]),this.
size++,this.#t+=t.length,this.size>65536||this.#t>16777216?this.drop():void 0}take(t){let e=this.#i.get(t),s=e?.shift();
return!e||!s?!1:(e.length===0&&this.#i.delete(t),s.entry=void 0,this.size--,this.#t-=t.length,!0)}drop(){let t=this.oldest;
return t&&this.take(t.key),t}dropUntil(t){let e=[];for(let s=this.oldest;s&&s.time<=t;s=this.oldest)this.drop(),s.message&&
e.push(s.message);return e}};var Le=1e3,$=class{#t=new y;#e=new y;#s=new y;fromCurrent(t,e){let s=_(t);return this.#i(e),this.#s.take(s)?!1:(this.#e.
take(s)||this.#t.put(s,e),!0)}fromNext(t,e,s){if(this.late(t,e))return;if(s)return this.#s.put(_(t),e),t;let n=this.#e.put(
_(t),e,{...t});return n&&this.#s.put(n.key,e),n?.message}late(t,e){return this.#i(e),this.#t.size>0&&this.#t.take(_(t))}get behind(){
return this.#e.size}release(){return this.#e.dropUntil(1/0)}orphan(){this.#t=new y;for(let{key:t,time:e}of this.#e.all)this.#t.
put(t,e)}keepCurrent(t){this.release(),this.#t=new y;for(let{key:e}of this.given)this.#t.put(e,t);this.#s=new y}get given(){
return this.#s.all}done(t){return this.#i(t),this.#t.size===0}#i(t){this.#t.dropUntil(t-Le)}};var l=()=>performance.now();function S(i,t,e=new Set){return new Promise((s,n)=>{let r=()=>{clearTimeout(a),t.removeEventListener(
"abort",o),e.delete(h)},o=()=>{r(),n(t.reason)},h=()=>{r(),s()},a=setTimeout(h,i);e.add(h),t.addEventListener("abort",o),
t.aborted&&o()})}async function I(i,...t){let e,s=new Promise(n=>{e=setTimeout(n,i)});await Promise.race([s,...t]).catch(
()=>{}),clearTimeout(e)}async function P(i,t,e){i.throwIfAborted();let s=new AbortController,n=()=>s.abort(i.reason),r=setTimeout(
()=>s.abort(new c("timeout","the edge does not answer")),t);i.addEventListener("abort",n);try{return await e(s.signal)}finally{
clearTimeout(r),i.removeEventListener("abort",n),s.abort()}}function U(i,t){return new Promise((e,s)=>{let n=()=>s(t.reason);
t.aborted&&n(),t.addEventListener("abort",n),i.then(e,s).finally(()=>t.removeEventListener("abort",n))})}function M(i,t){
return i<=1?0:Math.random()*Math.min(t.maxBackOff,t.minBackOff*2**Math.min(i-2,30))}var Jt=250,Mt=2e3;async function q(i,t,e,s,n){for(;i.merger&&!i.merger.done(l());)await S(50,s);i.merger=new $,i.both=!0;
let r=n!==void 0;i.tentative=r;let{place:o}=i,h=!1,a=()=>{h||i.events.emit("moving",{...o,reason:e}),h=!0};r||a();let f=0;
for await(let u of i.searcher.order(t.edge,e!=="drain",s)){let d=n;if(n=void 0,!d){await i.pause(M(++f,i.settings),s);try{
d=await i.searcher.open(u,s)}catch(p){if(s.throwIfAborted(),!(p instanceof c)||i.searcher.hopeless(u,p,!0))throw p;continue}}
if(s.aborted)return void d.close();if(d.alive){i.next=d,i.merger.release();let p=i.subscriber.restore(d);i.tentative&&d.
ping(!0).catch(()=>{}),await p}if(i.tentative){if(s.throwIfAborted(),i.next!==d)return i.keepCurrent();i.tentative=!1}if(d.
alive){if(await $e(i,t,d,a,s),s.throwIfAborted(),i.current!==d){if(r)return i.keepCurrent();continue}d.alive&&(a(),i.since=
l(),i.events.emit("moved",{...i.place,reason:e}));return}}}async function $e(i,t,e,s,n){let r=()=>i.next===e&&i.current===
t;if(!r())return;i.gate??=[];let o=I(Mt,t.ping()).then(()=>{r()&&i.openGate(e)}),h=3;do await S(Jt,n);while(--h&&i.merger?.
behind);for(await I(Mt,Promise.all(i.subscriber.asking));r()&&e.postponed.size>0;)await S(Jt,n);if(!r())return;s(),i.leaving=
!0;let a=[...t.asked].map(f=>t.request("UNSUB",f));await I(Mt,t.ended,Promise.allSettled([...a,t.ping()])),await o,r()&&
i.promote(),i.leaving=!1}var Ue=1e4;async function Vt(i,t,e,s){let{lastByte:n}=t;i.reconnecting=!0,i.current=void 0,i.merger=void 0,i.both=i.leaving=
i.tentative=!1,i.openGate(void 0);for(let r of i.subscriber.interests.all)r.confirmed=!1;i.events.emit("disconnected",{...i.
place,error:e}),e.code==="token_expired"&&t.token===i.tokens.token&&i.tokens.expire(),l()-i.since>Ue&&(i.attempts=0);for await(let r of i.
searcher.order(t.edge,!1,s)){let o=++i.attempts,h=M(o,i.settings);i.events.emit("reconnecting",{attempt:o,delay:h}),await i.
pause(h,s);try{let a=await i.searcher.open(r,s);if(s.aborted)return void a.close();if(i.setCurrent(a),await i.subscriber.
restore(a),s.throwIfAborted(),!a.alive)continue;return i.reconnecting=!1,i.since=l(),i.events.emit("reconnected",{...i.place,
away:l()-n})}catch(a){if(s.throwIfAborted(),!(a instanceof c)||i.searcher.hopeless(r,a,!1))throw a}}}async function F(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"omit",signal:t});return await e.arrayBuffer(),
e.ok}catch{return!1}}async function Zt(i,t){try{return await fetch(i,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:t}),!0}catch{return!1}}var K=class{#t;#e=0;#s=0;#i=0;#n=0;constructor(t){this.#t=this.#e=t}arrived(t){let e=t-this.#t;if(e<1)return!1;if(this.#t=
t,e>1e4)return this.#s=this.#i=this.#n=0,this.#e=t,!1;let s=t-this.#e>=5e3;return s&&(this.#n=this.#i,this.#i=0,this.#e=
t),e>this.#i&&(this.#i=e),++this.#s===4||s}skip(t){return this.#t=t,!0}get unusual(){return this.#s<4?1/0:Math.max(1e3,3*
Math.max(this.#i,this.#n))}};var Y=2e3,Qt=1e3,X=new Set,_t,Ot=0,It=0;function Ce(i,t){return i>=Qt+Y||t-i>=Y}function Nt(){let i=l()-Ot,t=Date.now()-
It;Ot+=i,It+=t,Ce(i,t)&&Pt("slept")}function te(i){return X.add(i),_t??=Re(),()=>{!X.delete(i)||X.size>0||(_t?.(),_t=void 0)}}
function Pt(i){for(let t of[...X])t[i]()}function Re(){Ot=l(),It=Date.now();let i=setInterval(Nt,Qt),t=globalThis,{document:e,
navigator:s}=t,n=()=>Pt("slept"),r=()=>{e?.visibilityState==="visible"&&n()},o=()=>Pt("networkChanged"),h=s?.connection,
a=h?.type,u=[[t,"online",o],[h,"change",()=>{h?.type!==a&&(a=h?.type,o())}],[t,"pageshow",n],[e,"resume",n],[e,"visibili\
tychange",r]];for(let[d,p,w]of u)d?.addEventListener?.(p,w);return()=>{clearInterval(i);for(let[d,p,w]of u)d?.removeEventListener?.(
p,w)}}var J=1e3,Lt=1e3,Be=3,qe=2**31-1,$t=50,V=class{heard=l();#t;#e;#s=new K(this.heard);#i=1+Math.random()/16;#n=!1;#r=!1;#o;#h=0;#c=0;#f=0;#a=-1/0;#m=-1/0;#l;#u;#p;#d=!1;constructor(t,e){
this.#t=t,this.#e=e}arrived(t){this.heard=t,this.#l=void 0,this.#u?.abort(),this.#u=void 0,((this.#r?this.#s.skip(t):this.#s.
arrived(t))||this.#n)&&(this.#n=!1,this.arm()),this.#r&&(this.#r=!1,this.#t.woke())}ponged(t,e){this.#n=e,this.#f=0;let s=Math.
min(t,2*this.#v);this.#o===void 0?(this.#o=s,this.#h=s/2):(this.#h+=(Math.abs(this.#o-s)-this.#h)/4,this.#o+=(s-this.#o)/
8),this.arm()}awake(t){let e=l();this.#w||(this.#f=0),!(this.#d||this.#f++>=Be)&&(this.#c=e,this.#e.keepAlive>0&&!this.#w&&
(t||e-this.heard>=J)&&this.#y(e),this.arm())}stop(){this.#d=!0,this.#u?.abort(),clearTimeout(this.#p)}get#w(){return this.#t.
unanswered??this.#l}get#v(){return Math.max(J,(this.#o??0)+4*this.#h)}get askAt(){let{keepAlive:t}=this.#e;if(t<0)return 1/0;
let e=this.#n?t:Math.min(t,this.#s.unusual);return this.heard+e*this.#i}suspectAt({at:t,sendTime:e}){return Math.max(t,this.
heard,this.#c)+(this.#l?J:this.#v)+e}lostAt({at:t,sendTime:e}){let{keepAlive:s,pongTimeout:n}=this.#e;if(s<0)return 1/0;
let r=Math.max(this.heard,this.#c);return Math.max(t+n,r+s+n)+e}arm(){clearTimeout(this.#p);let t=this.#w,e=t?Math.min(this.#r?
1/0:this.#b(t),this.lostAt(t),this.#a+Lt):this.askAt;if(this.#d||e===1/0)return;let s=l(),n=Math.max(e,s+1);this.#p=setTimeout(
()=>this.#k(n),Math.min(n-s,qe))}#b(t){return Math.max(this.suspectAt(t),this.#m+Lt)}#k(t,e=!1){Nt();let s=l();if(s-t>=Y&&
this.awake(!1),this.#d)return;if(!e&&s-t>$t){clearTimeout(this.#p),this.#p=setTimeout(()=>this.#k(s+$t,!0),$t);return}let n=this.#w;
if(!n)s>=this.askAt&&this.#y(s);else{if(s>=this.lostAt(n))return this.#t.over();!this.#r&&s>=this.#b(n)&&this.#g(s),this.#d||
this.probe()}this.arm()}#g(t){this.#r=this.#t.silent(),this.#r||(this.#m=t)}#y(t){if(this.#t.pingFirst===void 0)return this.#t.
ask();this.#l={at:t,sendTime:0},this.#a=-1/0,this.probe()}probe(){let t=l();t-this.#a<Lt||(this.#a=t,this.#t.pingFirst!==
void 0&&(this.#r||this.#l)?this.#x(this.#t.pingFirst):this.#t.probe())}async#x(t){if(this.#u)return;let e=new AbortController;
this.#u=e;let s=setTimeout(()=>e.abort(),J),n=await Zt(t,e.signal);clearTimeout(s),!(this.#d||this.#u!==e)&&(this.#u=void 0,
n?(this.#l=void 0,this.#t.unanswered?this.#t.probe():this.#t.ask()):this.#l&&(this.#l={at:-1/0,sendTime:0}),this.arm())}};var Z=class{#t=new Map;add(t,e){let s=this.#t.get(t);s?s.push(e):this.#t.set(t,[e])}answer(t,e){let s=this.#t.get(t),n=s?.
shift();return n?(s?.length===0&&this.#t.delete(t),e(n),!0):!1}reject(t){let e=[...this.#t.values()].flat();this.#t.clear();
for(let s of e)s.reject(t)}};var Ge=1.024,We=32,Q=class{edge;transport;token;begun=l();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;error;ended;#t;#e;#s;#i=new z;#n=new Z;#r=[];#o=new Set;#h=0;#c=!1;#f=!0;#a=!0;#m;constructor(t,e,s,n,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=n;let o=this;this.#s=new V({get unanswered(){return o.#r[0]},
pingFirst:e.fragile?t+r.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>e.probe(),silent:()=>this.#e.silent(
this),woke:()=>this.#e.woke(this),over:()=>this.fail(new c("timeout","the edge does not answer"))},r);let h;this.ended=new Promise(
a=>{h=a}),e.start({bytes:()=>{this.alive&&this.#s.arrived(l())},line:a=>this.#v(()=>this.#p(a)),frame:(a,f,u)=>{if(!this.
alive)return;this.#s.arrived(l());let d;try{d=this.#i.decode(a,f,u)}catch(p){return this.#b(p)}this.#e.delivered(this,d)},
ended:a=>{h(),this.#k(a)}}),this.#c=!0,this.alive&&this.#u("FEATURES:link"),this.alive&&this.#s.arm()}get lastByte(){return this.#s.
heard}request(t,e){t==="SUB"&&this.asked.add(e);let s=`${t}:${e}`,n=this.#l(s);return this.alive&&this.#u(s),n}postpone(t,e){
this.postponed.add(t);let s=`AGAIN:${t}`,n=setTimeout(()=>this.#n.answer(s,r=>r.resolve()),e);return this.#l(s).finally(
()=>clearTimeout(n))}#l(t){return new Promise((e,s)=>{this.alive?this.#n.add(t,{resolve:e,reject:s}):s(A())})}forget(t){
return this.confirmed.delete(t),this.postponed.delete(t),this.#n.answer(`AGAIN:${t}`,e=>e.reject(A())),this.asked.delete(
t)}ping(t=!1){return new Promise((e,s)=>{if(!this.alive)return s(A());this.#r.push({at:l(),sendTime:this.#h/Ge,own:t,resolve:e,
reject:s}),this.#t.send("PING"),this.#h=0,this.#s.probe(),this.#r.length===1&&this.#s.arm()})}publish(t){this.#u(t);let e=this.#t.
sent();return e&&new Promise(s=>{let n=()=>{this.#o.delete(n),s()};this.#o.add(n),e.then(n,n)})}awake(t){this.#s.awake(t)}handTo(t){
this.#e=t,this.#s.stop(),this.#n.reject(A());for(let e of this.#r)e.reject(A());for(let e of this.#o)e()}#u(t){this.#h+=
t.length+We,this.#t.send(t)}close(){return this.alive&&(this.#g(A()),this.#t.close()),this.ended}#p(t){this.#s.arrived(l());
let e=Dt(t);if(e)if(e.kind==="OK"){let s=`${e.tenant}:${e.pattern}`;this.#n.answer(`${e.verb}:${s}`,n=>n.resolve())&&e.verb===
"SUB"&&(this.confirmed.add(s),this.postponed.delete(s))}else if(e.kind==="ERR")this.#w(e.code,e.detail,t.slice(4));else if(e.
kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#r.shift();if(!s)return;let n=l()-s.at;s.resolve(
n),this.#s.ponged(n,s.own),this.#e.roundTrip(n)}else e.kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#e.draining(
this)):e.kind==="FEATURES"?this.#d():e.kind==="LINK"&&(this.#a=e.up,this.#f||this.#d())}#d(){this.#f=!1,this.link=this.#a,
this.#e.linked()}#w(t,e,s){if(this.#f&&t==="bad_request")return this.#d();let n=L(s);n&&(this.#m=s);let[,r,o]=/^(?:UN)?SUB:([^:]+):(.+)$/s.
exec(e)??[];!(r!==void 0&&o!==void 0&&t!=="broker_unavailable"&&this.#n.answer(e,a=>a.reject(new c(t,void 0,{tenant:r,pattern:o}))))&&
!/^(token_|unauthorized|forbidden)/.test(t)&&this.#e.errorLine(t,e),(t==="token_revoked"||t==="token_expired")&&this.fail(
n)}#v(t){if(this.alive)try{t()}catch(e){this.#b(e)}}#b(t){this.fail(x(t,"protocol","the edge broke the protocol"))}fail(t){
this.#g(t),this.#t.close(),this.#c&&this.#e.lost(this,t)}#k({closeCode:t,error:e}){if(!this.alive)return;let s=this.#m===
void 0?void 0:L(this.#m,t),n=t===4401?"token_expired":t===4403?"token_revoked":"disconnected",r=s?.code!=="slow_consumer"||
t===4429,o=s&&r?s:e??new c(n,"the connection has ended",{closeCode:t});this.#g(o),this.#c&&this.#e.lost(this,o)}#g(t){this.
alive=!1,this.error=t,this.#s.stop();let e=A(t);this.#n.reject(e);for(let s of this.#r)s.reject(e);this.#r=[]}};var C=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}bytes(){this.#t?.bytes()}line(t){this.#t?
this.#t.line(t):this.#e.push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(n=>n.frame(t,e,s))}ended(t){
this.#t?this.#t.ended(t):this.#e.push(e=>e.ended(t)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var R=globalThis,tt=R.process?.versions,De=R.Deno!==void 0||tt?.bun!==void 0||tt?.node!==void 0,ee=tt?.node!==void 0&&tt.
bun===void 0&&R.Deno===void 0&&R.document===void 0,se=!De&&(R.document!==void 0||R.WorkerGlobalScope!==void 0);var Ut=32<<20,ie=(i,t,e)=>e>t&&i[t]<32,et=class{#t;#e=[];#s=0;constructor(t=Ut){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#i(t,e),this.#s>0))){for(;t.length-s>=4;){let n=s+4+this.#o(t,s);if(n>t.length)break;e(t,
s+4,n),s=n}s<t.length&&this.#n(t.slice(s))}}#i(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#n(t.slice(
0,s)),this.#s<4))return s;let n=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(n,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#n(t.slice(s,s+o)),this.#s===r){let h=this.#r();this.#e=[],this.#s=0,e(h,4,r)}return s+o}#n(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new c("protocol","a message that is to\
o long");return s}};var ne=1<<20,ze=1e3;async function re({edge:i,token:t,signal:e},{paths:s}){let n=i.replace("http","ws")+s.webSocket,{promise:r,
resolve:o,reject:h}=Ke(),a=await je("ws");e.throwIfAborted();let f,u=a?new a(n,{headers:{Authorization:`Bearer ${t}`},perMessageDeflate:!1,
maxPayload:Ut}):new WebSocket(n,["llps.v1",`at.${t}`]);a||(u.binaryType="arraybuffer");let d=()=>u.terminate?u.terminate():
u.close(),p=()=>{h(e.reason),d()};e.addEventListener("abort",p);let w=new C,b=!1,g,k;u.on?.("unexpected-response",(m,me)=>{
f=He(me).finally(()=>m.destroy()),f.then(h)});let T;u.on?.("upgrade",m=>{T=m.socket}),u.onerror=({error:m})=>{g=m},u.onopen=
()=>{b=!0,T?.prependListener("data",()=>w.bytes()),e.removeEventListener("abort",p),o({transport:"websocket",fragile:!1,
start:m=>w.start(m),send:m=>b&&u.send(m),sent:()=>b&&u.bufferedAmount>ne?E():void 0,probe(){},close(){u.close(1e3),k??=setTimeout(
()=>{d(),w.ended({})},ze)}})},u.onclose=({code:m})=>{clearTimeout(k),b?(b=!1,w.ended({closeCode:m})):f||Fe(i+s.ping,a!==
void 0,e,g).then(h,h),e.removeEventListener("abort",p)},u.onmessage=({data:m})=>{typeof m=="string"?w.line(m):m instanceof
ArrayBuffer?w.frame(new Uint8Array(m),0,m.byteLength):w.frame(new Uint8Array(m.buffer,m.byteOffset,m.length),0,m.length)};
async function E(){for(;b&&u.bufferedAmount>ne;)await new Promise(m=>setTimeout(m,5))}return r}async function je(i){if(ee)
try{let{WebSocket:t}=await import(i);return t}catch(t){if("WebSocket"in globalThis)return;throw new c("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:t})}}async function He(i){let t=i.statusCode,e="";try{let s=new TextDecoder;
for await(let o of i)if(e+=s.decode(o,{stream:!0}),e.length>65536)break;let{code:n,detail:r}=JSON.parse(e);if(typeof n==
"string")return new c(n,String(r),{status:t})}catch{}return new c(t>=500?"unreachable":"refused",`HTTP status ${t}`,{status:t})}
async function Fe(i,t,e,s){return!t&&await F(i,e)?new c("refused","the edge answers, and refuses the WebSocket: perhaps \
the token"):new c("unreachable","no WebSocket to the edge",{cause:s})}function Ke(){let i,t;return{promise:new Promise((s,n)=>{
i=s,t=n}),resolve:i,reject:t}}var oe=1e3,Xe=43,Ye=2e3,he=()=>"WebTransport"in globalThis;async function ae(i,{paths:t,hashes:e}){let{signal:s}=i,n=[],
r,o=()=>{clearTimeout(r),n.forEach(st)};s.addEventListener("abort",o);try{let h=await new Promise((f,u)=>{let d=()=>{let p=new WebTransport(
i.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{});n.push(p),p.closed.catch(()=>{}),p.ready.then(()=>f(p),u)};
d(),r=setTimeout(d,Ye)});for(let f of n)f!==h&&st(f);let a=h.closed.then(({closeCode:f,reason:u})=>({closeCode:f,error:L(
`${u}`)}),()=>({}));return await Je(h,a,i.token)}catch(h){throw o(),s.throwIfAborted(),x(h,"unreachable","no WebTranspor\
t")}finally{clearTimeout(r),s.removeEventListener("abort",o)}}async function Je(i,t,e){let s=await i.createBidirectionalStream(),
n=new C,r=new Ct(s.writable.getWriter()),o=s.readable.getReader(),h,a,f=Ve(i);r.send(`AUTH:${e}`);let u=new et,d=(b,g,k)=>{
if(ie(b,g,k))return n.frame(b,g,k);let T=N(b.subarray(g,k));if(a)return n.line(T);let E=kt(T);E.kind==="OK:AUTH"?a={transport:"\
webtransport",fragile:se,start:m=>n.start(m),send:m=>r.send(m),sent:()=>r.sent,probe:f,close:()=>{r.close().then(()=>st(
i))}}:E.kind==="ERR"&&(h??=L(T.slice(4))??new c(E.code))},p=async()=>{let{value:b,done:g}=await o.read();return b&&(n.bytes(),
u.push(b,d)),!g},w;for(;!a;)if(!await p().catch(g=>{if(g instanceof c)throw g;return!1}))throw h??Ze(await t);return(async()=>{
try{for(;await p(););}catch(k){k instanceof c&&(w=k)}r.close();let b={error:w},g=t.then(k=>b=k);w||await I(oe,g),st(i),n.
ended(b)})(),a}function Ve(i){let t,e=!1,s=async()=>{let{writable:n,createWritable:r}=i.datagrams;t??=(n??r?.call(i.datagrams))?.
getWriter(),await t?.write(new Uint8Array(Xe))};return()=>{e||(e=!0,s().catch(()=>{}).finally(()=>{e=!1}))}}function Ze({
closeCode:i,error:t}){let e=i===4401?"unauthorized":i===1001?"draining":i===1013?"unavailable":"unreachable";return t??new c(
e,"the connection has ended",{closeCode:i})}function st(i){try{i.close({closeCode:1e3,reason:""})}catch{}}var Ct=class{#t;#e=new Uint8Array(
4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t=="string"?B(t):t,s=e.length,n=this.#s+
4+s;if(n>this.#e.length){let r=new Uint8Array(Math.max(n,this.#e.length*2));r.set(this.#e.subarray(0,this.#s)),this.#e=r}
this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=n,this.sent??=this.#i()}async#i(){try{do{await this.#t.
ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,this.#t.write(t).catch(()=>{})}while(this.#s>
0)}catch{this.#s=0}this.sent=void 0}async close(){await I(oe,(this.sent??Promise.resolve()).then(()=>this.#t.close()))}};var Qe=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Rt=i=>he()&&i.startsWith(
"https:"),it=class{#t;#e=new Map;#s=new Set;constructor(t){this.#t=t}forget(){this.#s.clear()}prefer(t,e){this.#e.set(t,
e)}async open(t,e,s,n={}){let r=this.#t,{transports:o=r.transports,fallbackAfter:h=r.fallbackAfter}=n,a=o.filter(d=>d===
"websocket"||Rt(t));a.length===0&&v("there is no WebTransport here, or not for http:// addresses");let f=a.filter(d=>!this.#s.
has(d));if(f.length===0)throw new c("protocol_not_allowed");this.#e.get(t)===f[1]&&f.reverse();let u=await P(s,r.connectTimeout,
d=>this.#i(f,t,e,h,d));return this.#e.set(t,u.transport),u}#i(t,e,s,n,r){return new Promise((o,h)=>{let a,f=0,u=0,d,p=!1,
w=()=>{p=!0,clearTimeout(a)},b=()=>{clearTimeout(a);let g=t[u++];if(!g||p)return;let k=g==="websocket"?re:ae;f++,k({edge:e,
token:s,signal:r},this.#t).then(T=>{if(p)return ts(T);w(),o(T)},T=>{f--;let E=x(T,"unreachable","the edge does not answe\
r");if(E.code==="protocol_not_allowed"&&this.#s.add(g),(!d||G(E)>G(d))&&(d=E),!Qe.test(E.code)&&(f>0||u<t.length))return b();
w(),h(d)}),u<t.length&&(a=setTimeout(b,n))};r.addEventListener("abort",()=>{w(),h(r.reason)}),b()})}};function ts(i){i.start(
{bytes(){},line(){},frame(){},ended(){}}),i.close()}function G({code:i}){return["unreachable","timeout","refused","proto\
col_not_allowed"].indexOf(i)>>>0}var ce=3,es=500;async function Bt(i,t,e){let s,n=await Promise.all(i.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await P(e,t.connectTimeout,h=>ss(o,h))}catch(h){return s=h,[]}})),r=[...new Set(n.flat())];if(e.throwIfAborted(),
r.length===0)throw s??new c("unreachable","the list has no edge");return r.length>1&&(await P(e,t.connectTimeout,o=>is(r,
t.paths.ping,o)).catch(()=>{}),e.throwIfAborted()),r}async function ss(i,t){try{let e=await fetch(i,{cache:"no-store",credentials:"\
omit",signal:t});if(!e.ok)throw new c("unreachable",`the list of edges: HTTP status ${e.status}`,{status:e.status});let{
edges:s}=await e.json();return s.map(({host:n})=>W(`https://${n}`,!1).origin)}catch(e){throw x(e,"unreachable","the list\
 of edges")}}async function is(i,t,e){let s=new Map,n=async f=>{let u=[];for(;u.length<ce;){let d=l();if(!await F(f+t,e))
return;u.push(l()-d)}u.sort((d,p)=>d-p),s.set(f,u[ce>>1])},r=i.map(n),h=Promise.any(r.map((f,u)=>f.then(()=>s.get(i[u])??
Promise.reject()))).then(()=>S(es,e));await Promise.race([Promise.all(r),h.catch(()=>Promise.all(r))]);let a=f=>s.get(f)??
Number.MAX_VALUE;i.sort((f,u)=>a(f)-a(u))}var fe=/^(ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,ns=/^(unauthorized|token_expired|region_not|protocol_not)/,
rs=5,os=6e4,hs=12e4,nt=class{#t;#e;#s;#i;#n;#r=[];#o=new Map;#h;#c=0;#f=0;drained=new Set;constructor(t,e,s,n){this.#t=t,
this.#e=e,this.#s=s,this.#i=n,this.#n=new it(e)}async first(t){await U(this.#s.get(),t),this.#r=await Bt(this.#t,this.#e,
t);let e;for(let s of this.#r)try{return await this.open(s,t)}catch(n){if(!(n instanceof c)||fe.test(n.code)||n.code==="\
token_provider")throw n;(!e||G(n)>G(e))&&(e=n)}throw e}async*order(t,e,s){for(;;){let n=this.#r.filter(r=>r!==t);if(yield*e?
[t,...n]:n.length<this.#r.length?[...n,t]:n,this.#t.some(r=>r.pathname!=="/"))try{this.#r=await Bt(this.#t,this.#e,s)}catch{
s.throwIfAborted()}}}async open(t,e,s){let n=await this.#s.get();try{return await this.#a(t,n,e,s)}catch(r){if(!(r instanceof
c&&/^(unauthorized|token_expired|refused)$/.test(r.code))||!this.#s.provided)throw r;let h=await this.#s.ask();if(h===n)
throw r;return this.#a(t,h,e,s)}}async#a(t,e,s,n){e!==this.#h&&(this.#h=e,this.#o.clear(),this.#n.forget());let r=await this.#n.
open(t,e,s,n);this.drained.delete(t);let o=new Q(t,r,e,this.#i,this.#e);if(o.error)throw o.error;return this.#c=0,this.#o.
clear(),o}noteSilent({edge:t,transport:e,begun:s},n=!1){e!=="webtransport"||!n&&l()-s>=hs||this.#n.prefer(t,n?e:"websock\
et")}hopeless(t,e,s){let{code:n}=e;if(n==="unreachable"&&this.drained.delete(t),n!=="refused")this.#c=0;else{if(s||this.
drained.has(t))return!1;this.#c++===0&&(this.#f=l())}return fe.test(n)||this.#c>=rs&&l()-this.#f>=os?!0:ns.test(n)?(this.#o.
set(t,e),this.#r.every(r=>this.#o.has(r))):!1}};var rt=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){let s=r=>e(
r),n=this.#t.get(t)??new Set;return this.#t.set(t,n.add(s)),()=>{n.delete(s)}}emit(t,e){this.#e.push([t,e])>1024&&this.#e.
shift(),this.#s||this.#i()}async#i(){this.#s=!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.
get(t[0])??[]])try{await e(t[1])}catch(s){ot(s)}this.#s=!1}};function ot(i){queueMicrotask(()=>{throw i})}var as=new TextDecoder,ht=class{tenant;channel;payload;pattern;patterns;late;constructor(t,e,s,n,r,o){this.tenant=t,this.
channel=e,this.payload=s,this.pattern=n,this.patterns=r,this.late=o}text(){return as.decode(this.payload)}json(){return JSON.
parse(this.text())}};var at=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,n=`${e}:${s}`,r=this.#t.
get(n),o=r??{name:n,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[]};return o.subs.push(t),this.#t.set(n,o),this.#e++,
{interest:o,isNew:!r}}remove(t){let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.
subs.splice(s,1),e.subs.length===0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(
t.name)}dispatch(t,e=!1){let{tenant:s,channel:n,payload:r,route:o}=t,h=o.note?.tenant===s&&o.note.version===this.#e?o.note:
this.#s(s,o);for(let{pattern:a,subs:f}of h.interests){let u=new ht(s,n,r,a,o.patterns,e);if(f.length===1)f[0].push(u);else
for(let d of[...f])d.push(u)}}#s(t,e){let s=e.patterns.map(n=>this.#t.get(`${t}:${n}`)).filter(n=>n!==void 0);return e.note=
{tenant:t,version:this.#e,interests:s},e.note}};var ct=class{interests=new at;asking=new Set;#t;constructor(t){this.#t=t}async restore(t){await Promise.all(this.interests.
all.map(e=>this.ask(t,e)))}ask(t,e){let s=this.#e(t,e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#e(t,e){
try{await this.#s(t,e),e.confirmed=!0;for(let{resolve:s}of e.waiting.splice(0))s()}catch(s){let n=x(s,"internal","a faul\
t of this client");if(n.code==="disconnected")return;if(e.confirmed&&this.#t.suspected&&t===this.#t.next)return t.fail(n);
this.#i(e,n)}}async#s(t,e){let{name:s,tenant:n,pattern:r}=e;for(let o=2;;o++){try{return await t.request("SUB",s)}catch(h){
let a=h;if(a.code!=="try_later"||!le(e))throw a;o===2&&this.#t.events.emit("subscriptionError",{tenant:n,pattern:r,code:a.
code})}await t.postpone(s,M(o,this.#t.settings))}}#i(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:n,subs:r,
waiting:o}=t;for(let h of[this.#t.current,this.#t.next])h?.forget(t.name)&&this.#n(h,t);le(t)&&this.#t.events.emit("subs\
criptionError",{tenant:s,pattern:n,code:e.code});for(let h of r)h.end(e);for(let{reject:h}of o.splice(0))h(e)}async subscribe(t){
if(this.#t.over)throw this.#t.over;let{interest:e,isNew:s}=this.interests.add(t);if(e.confirmed)return;let n=new Promise(
(r,o)=>{e.waiting.push({resolve:r,reject:o})});return s&&(this.#t.current&&!this.#t.leaving&&this.ask(this.#t.current,e),
this.#t.next&&this.ask(this.#t.next,e)),n}async leave(t){let e=this.interests.remove(t);if(!e)return;for(let{resolve:r}of e.
waiting.splice(0))r();let n=[this.#t.current,this.#t.next].filter(r=>r?.forget(e.name)).map(r=>this.#n(r,e));await(this.#t.
suspected&&n.length>0?Promise.race(n):Promise.all(n))}#n(t,{name:e}){return t.request("UNSUB",e).catch(()=>{})}queueFull({
tenant:t,pattern:e},s){this.#t.events.emit("queueFull",{tenant:t,pattern:e,dropped:s})}end(t,e){for(let s of this.interests.
all){this.interests.drop(s);for(let n of s.subs)n.end(t);for(let{reject:n}of s.waiting.splice(0))n(t??e)}}};function le({
subs:i,waiting:t}){return i.length>t.length}var qt=1e3,ft=class{#t=new y;#e=new y;#s=new y;constructor(t,e,s){for(let{key:n}of t)this.#t.put(n,e);if(s){for(let{key:n,
time:r,message:o}of s.#e.all)this.#e.put(n,r,o);for(let{key:n,time:r}of s.#s.all)this.#s.put(n,r)}}fromCurrent(t,e){let s=_(
t);return this.#s.dropUntil(e-qt),this.#s.take(s)?!1:(this.#e.take(s)||this.#t.put(s,e),!0)}fromTrail(t,e){let s=_(t);if(this.#t.
take(s))return;let n=this.#e.put(s,e,{...t});return n&&this.#s.put(n.key,n.time),n?.message}renew(t){for(let e of this.#e.
all)e.time=t}due(t){return this.#e.dropUntil(t-qt)}get nextDue(){let t=this.#e.oldest;return t&&t.time+qt}};var ue=15e3,cs=6e4,lt=class{#t;late;#e;#s;#i=!0;#n=!1;#r=l();#o;#h;constructor(t,e,s,n,r){this.#t=t,this.late=new ft(e,l(),
r?.late),this.#e=s,this.#s=n,this.#o=setTimeout(()=>this.#c(),ue),r?.stop(),t.handTo(this),t.alive?this.#a():this.#f()}fromCurrent(t){
return this.late.fromCurrent(t,l())}hold(t){t!==this.#n&&(this.#n=t,t||this.late.renew(l()),this.#a())}flush(){for(let t of this.
late.due(1/0))this.#e(t)}stop(){return this.#i=!1,clearTimeout(this.#o),clearTimeout(this.#h),this.#t.close()}#c(){let t=Math.
min(this.#t.lastByte+ue,this.#r+cs)-l();t>0?this.#o=setTimeout(()=>this.#c(),t):this.#f()}#f(){this.#i&&(this.stop(),this.#a())}#a(){
if(clearTimeout(this.#h),this.#n)return;let{nextDue:t}=this.late;if(t===void 0){this.#i||this.#s();return}this.#h=setTimeout(
()=>{for(let e of this.late.due(l()))this.#e(e);this.#a()},Math.max(1,t-l()))}delivered(t,e){let s=this.late.nextDue===void 0,
n=this.late.fromTrail(e,l());n&&this.#e(n),s&&this.#a()}woke(t){for(let s of t.asked)t.request("UNSUB",s).catch(()=>{});
let e=()=>this.#f();t.ping().then(e,e)}lost(){this.#f()}silent(){return!1}draining(){}errorLine(){}roundTrip(){}linked(){}};var ut=class{settings;events;subscriber=new ct(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#t=!0;#e=new Set;constructor(t){this.settings=Yt(t),this.events=
new rt(t.on)}setCurrent(t){this.current=t,this.place={edge:t.edge,transport:t.transport},this.linked()}linked(){let{link:t,
edge:e}=this.current??{};!this.since||!e||t===void 0||t===this.#t||(this.#t=t,this.events.emit(t?"linkUp":"linkDown",{edge:e}))}delivered(t,e){
if(!this.merger)return this.#s(e);let s=l();if(t===this.next){let n=this.current?.confirmed,r=!e.route.patterns.some(h=>n?.
has(`${e.tenant}:${h}`)),o=this.merger.fromNext(e,s,r);o&&this.#s(o)}else this.both?this.merger.fromCurrent(e,s)&&this.#s(
e):(this.merger.late(e,s)||this.#s(e),this.merger?.done(s)&&(this.merger=void 0))}#s(t){(!this.trail||this.trail.fromCurrent(
t))&&this.subscriber.interests.dispatch(t)}promote(){let{current:t,next:e}=this;e&&(this.setCurrent(e),this.next=void 0,
this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),t?.close())}takeOver(t,e){this.trail?.hold(!1);let s=new lt(
t,this.merger?.given??[],r=>this.subscriber.interests.dispatch(r,!0),()=>{this.trail===s&&(this.trail=void 0)},this.trail);
this.trail=s;let n=l()-t.lastByte;this.suspected=this.next=void 0,this.both=this.tentative=!1,this.setCurrent(e),this.since=
l(),this.events.emit("recovered",{...this.place,away:n}),this.giveHeld(),this.openGate(void 0)}keepCurrent(){this.suspected=
void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(l()),this.both=this.tentative=!1}giveHeld(){for(let t of this.
merger?.release()??[])this.#s(t)}pause(t,e){return S(t,e,this.#e)}hurry(){for(let t of[...this.#e])t()}openGate(t){this.
publishOn=t;let e=this.gate??[];this.gate=void 0;for(let s of e)s()}publishConnection(){if(this.over)throw this.over;let t=this.
publishOn??this.current;if(!t?.alive)throw A();return t}};var fs=500;async function de(i,t,e){for(i.events.emit("suspect",i.place),i.gate??=[];i.merger&&!i.merger.done(l());)await S(
50,e);i.merger=new $,i.both=i.tentative=!0;let s=0;for await(let n of i.searcher.order(t.edge,!1,e)){await i.pause(M(++s,
i.settings),e);let r;try{r=await i.searcher.open(n,e,{fallbackAfter:fs})}catch(h){if(e.throwIfAborted(),h instanceof c)continue;
throw h}if(e.aborted)return void r.close();if(!r.alive)continue;i.next=r;let o=i.subscriber.restore(r);if(r.ping(!0).catch(
()=>{}),await o,e.throwIfAborted(),i.next===r)return i.takeOver(t,r)}}var Gt=2**31-1,ls=1e3;function us(i,t){return i===1/0?i:Math.max(0,Math.min(i*.9,i>5e3?i-5e3:i)-t*i/10)}var dt=class{#t;#e;#s;#i=new AbortController;#n;#r=1/0;#o;#h;#c=0;constructor(t,e,s){
this.#t=t,this.#n=t.token,this.#e=e,this.#s=s}get token(){return this.#n}get provided(){return this.#t.tokenProvider!==void 0}get(){
return this.#n!==void 0&&Date.now()<this.#r?Promise.resolve(this.#n):this.ask()}ask(){return this.#o??=this.#f().finally(
()=>{this.#o=void 0}),this.#o}async#f(){clearTimeout(this.#h);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,
{signal:n}=this.#i;try{let r=await P(n,e,f=>U(Promise.resolve(t?.()),f)),{token:o,expiresAt:h}=typeof r=="object"?r:{token:r},
a=h===void 0?1/0:new Date(h).getTime();return Number.isNaN(a)&&v("expiresAt is no time"),this.#n=St(o),this.#r=a>Date.now()?
a:1/0,this.#c=0,this.#a(Math.max(ls,us(this.#r-Date.now(),Math.random()))),this.#n}catch(r){this.#r<1/0&&Date.now()<this.#r&&
this.#a(Math.max(s,M(++this.#c+1,this.#t)));let o=new c("token_provider","the token provider failed",{cause:r});throw this.#n!==
void 0&&!n.aborted&&this.#s(o),o}}#a(t){this.#i.signal.aborted||!(t<1/0)||(this.#h=setTimeout(()=>{if(t>Gt)return this.#a(
t-Gt);let e=this.#n;this.ask().then(s=>s!==e&&this.#e(),()=>{})},Math.min(Math.max(t,0),Gt)))}expire(){this.provided&&(this.#r=
0)}stop(){this.#i.abort(),clearTimeout(this.#h)}};var Wt=6e4,ds=60*Wt,ps=2*Wt,ms=1e4,ws=2e3;function pe(i,t){return Math.min((4+2*t)*Wt*2**i,ds)}var pt=class{#t;#e=0;#s;#i;#n;constructor(t){
this.#t=t}follow(t){clearTimeout(this.#i),t.transport==="webtransport"?(this.stop(),this.#i=setTimeout(()=>{this.#e=0},ps)):
!this.#s&&this.#r(t)&&this.#o(pe(this.#e,Math.random()))}soon(){let{current:t}=this.#t;t&&this.#r(t)&&this.#o(Math.random()*
ws,!1)}stop(){this.#n?.abort(),this.#n=void 0,clearTimeout(this.#s),clearTimeout(this.#i),this.#s=void 0}#r({transport:t,
edge:e}){let{transports:s}=this.#t.settings;return s[0]==="webtransport"&&s.length>1&&t==="websocket"&&Rt(e)}#o(t,e=!0){
clearTimeout(this.#s),this.#s=setTimeout(()=>{this.#h(e)},t)}async#h(t){let e=this.#t,{current:s}=e;if(!s||!e.idle||this.#n)
return this.#o(ms,t);if(!this.#r(s)){this.#s=void 0;return}let n=this.#e+Number(t);this.#o(pe(n,Math.random()));let r=new AbortController;
this.#n=r;let o=await e.searcher.open(s.edge,r.signal,{transports:["webtransport"]}).catch(()=>{});this.#n===r&&(this.#n=
void 0),r.signal.aborted||(this.#e=n),o&&!r.signal.aborted&&e.current===s&&e.idle?e.run(h=>q(e,s,"transport",h,o)):(o?.close(),
e.moveIfDue())}};var bs=3e3,mt=class extends ut{tokens;searcher;closed;#t;#e=new pt(this);#s;#i;constructor(t,e){super(e),this.tokens=new dt(
this.settings,()=>this.moveIfDue(),({code:s,message:n})=>this.errorLine(s,n)),this.searcher=new nt(t,this.settings,this.
tokens,this),this.closed=new Promise(s=>{this.#i=s})}async start(t){try{let e=await this.searcher.first(t);if(this.setCurrent(
e),t.throwIfAborted(),e.error)throw e.error;this.since=l(),this.#s=te(this),this.#e.follow(e),this.events.emit("connecte\
d",this.place),this.linked(),this.moveIfDue()}catch(e){throw this.tokens.stop(),this.current?.close(),e}}setCurrent(t){super.
setCurrent(t),this.since&&this.#e.follow(t)}moveIfDue(){let{current:t}=this;this.#t||this.over||!t?.alive||(t.drains?this.
run(e=>q(this,t,"drain",e)):t.token!==this.tokens.token&&this.run(e=>q(this,t,"token",e)))}get idle(){let{current:t,merger:e}=this;
return!this.#t&&!this.over&&t?.alive===!0&&!t.drains&&(!e||e.done(l()))}run(t){this.#t?.abort();let e=new AbortController;
this.#t=e,t(e.signal).then(()=>{this.#t===e&&(this.#t=void 0,this.current?.alive&&this.moveIfDue())},s=>{this.#t===e&&this.
finish(x(s,"internal","a fault of this client"))})}draining(t){this.searcher.drained.add(t.edge),t===this.current&&this.
moveIfDue()}errorLine(t,e){let[,s,n]=/^PUB:([^:]+):(.+)$/s.exec(e)??[];t==="slow_consumer"?this.events.emit("slowConsume\
r",{dropped:Number(e)}):t==="egress_limited"?this.events.emit("egressLimited",{delay:Number(e)*1e3}):s&&n&&t!=="broker_u\
navailable"?this.events.emit("publishError",{tenant:s,channel:n,code:t}):this.events.emit("edgeError",{code:t,detail:e})}roundTrip(t){
this.rtt=t,this.events.emit("roundTrip",{rtt:t})}silent(t){let{current:e}=this;return t===this.next&&this.tentative&&l()-
t.lastByte>=bs&&t.fail(new c("timeout","the edge does not answer")),t!==e||this.#t||this.gate||this.over||this.reconnecting||
!this.since||e.drains?!1:(this.suspected=t,this.trail?.hold(!0),this.searcher.noteSilent(t),this.run(s=>de(this,t,s)),!0)}woke(t){
t===this.suspected&&(this.searcher.noteSilent(t,!0),this.#t?.abort(),this.#t=void 0,this.next?.close(),this.next=void 0,
this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(t,e){
let s=t.token===this.tokens.token,n=/_not_allowed$|^token_revoked$/.test(e.code)||e.code==="token_expired"&&!this.tokens.
provided,r=t===this.next&&this.suspected!==void 0;if(n&&s&&!r)return this.finish(e);e.closeCode===void 0&&/^(disconnected|timeout)$/.
test(e.code)&&this.searcher.noteSilent(t),t===this.next&&!this.leaving?(this.next=void 0,r?this.merger?.orphan():this.openGate(
void 0)):t===this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(t===this.current||t===this.next)&&
(this.suspected=void 0,this.trail?.hold(!1),t===this.current&&(this.next?.close(),this.next=void 0,this.giveHeld()),this.
promote(),this.reconnecting||this.run(o=>Vt(this,t,e,o)))}slept(){for(let t of[this.current,this.next])t?.awake(!1);this.
hurry()}networkChanged(){for(let t of[this.current,this.next])t?.awake(!0);this.hurry(),this.#e.soon()}finish(t){if(this.
over)return;this.over=new c("closed","the client has been closed",t?{cause:t}:{}),this.#t?.abort(),this.tokens.stop(),this.#e.
stop(),this.#s?.();let e=[this.current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),t&&(this.giveHeld(),
this.trail?.flush()),this.subscriber.end(t,this.over),this.events.emit("closed",{error:t}),Promise.all(e).then(()=>this.#i(
t))}};var wt=class{#t;#e=new Array(16);#s=0;#i=0;constructor(t){this.#t=t}get full(){return this.#i>=this.#t}push(t){let e=this.#e;
this.#i===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],this.#s=0),this.#e[this.#s+
this.#i++&this.#e.length-1]=t}shift(){if(this.#i===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=void 0,this.#s=
this.#s+1&this.#e.length-1,this.#i--,t}clear(){this.#e=new Array(16),this.#s=this.#i=0}};var gs=1e3,bt=class{tenant;pattern;ended;#t;#e;#s;#i=[];#n=!1;#r;#o;#h=0;#c=-1/0;#f;constructor(t,e,s,n){this.tenant=t,this.
pattern=e,this.#t=s,this.#e=n,this.#s=new wt(n.queue),this.ended=new Promise(r=>{this.#o=r})}async unsubscribe(){this.end(
void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.onMessage)throw new c("bad_option","a subscription\
 with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.resolve({done:t,value:void 0});let e=this.#s.
shift();return e?Promise.resolve({done:!1,value:e}):this.#n?(t=!0,this.#r?Promise.reject(this.#r):Promise.resolve({done:t,
value:void 0})):new Promise((s,n)=>{this.#i.push({resolve:s,reject:n})})},return:async()=>(t=!0,await this.unsubscribe(),
{done:t,value:void 0})}}push(t){if(this.#n)return;let{onMessage:e,queuePolicy:s}=this.#e;if(e){try{let r=e(t);r instanceof
Promise&&r.catch(ot)}catch(r){ot(r)}return}let n=this.#i.shift();if(n)return n.resolve({done:!1,value:t});if(!this.#s.full)
return this.#s.push(t);if(s==="end"){this.end(new c("queue_full","messages were not read in time",this)),this.#t.leave(this);
return}s==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#h++,this.#f??=setTimeout(()=>this.#a(),Math.max(0,this.#c+
gs-l()))}#a(){clearTimeout(this.#f),this.#f=void 0,this.#c=l(),this.#h>0&&this.#t.queueFull(this,this.#h),this.#h=0}end(t){
if(!this.#n){this.#n=!0,this.#r=t,t||this.#s.clear(),this.#a();for(let e of this.#i.splice(0))t?e.reject(t):e.resolve({done:!0,
value:void 0});this.#o(t)}}};async function vs(i,t){let e=typeof i=="string"?[i]:i;(!t||!e?.length)&&v("connect needs an address and options");let s=new mt(
e.map(r=>W(r,t.allowPlaintext===!0)),t),{signal:n=new AbortController().signal}=t;return n.throwIfAborted(),await U(s.start(
n),n),new gt(s)}var gt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let n=this.#t,{onMessage:r}=s;r&&typeof r!="function"&&v("onMessage must be a function");let o=new bt(xt(t),Ft(e),n.subscriber,
{...At(s,n.settings),onMessage:r});return await n.subscriber.subscribe(o),o}async publish(t,e,s,{delivery:n="broadcast"}={}){
let r=this.#t,o=yt.indexOf(n);o<0&&v(`delivery: allowed are ${yt.join(", ")}`),typeof s!="string"&&s?.[Symbol.toStringTag]!==
"Uint8Array"&&v("the payload must be a Uint8Array or a string");let h=jt(xt(t),Ht(e),s,o||void 0);return r.publishConnection(),
r.gate?new Promise((a,f)=>{r.gate?.push(()=>{try{a(r.publishConnection().publish(h))}catch(u){f(u)}})}):r.publishConnection().
publish(h)}async flush(){let t=this.#t;t.publishConnection(),t.gate&&await new Promise(e=>t.gate?.push(e)),await t.publishConnection().
ping()}async close(){this.#t.finish(void 0),await this.closed}[Symbol.asyncDispose](){return this.close()}};export{gt as Client,c as MillraceError,vs as connect};
