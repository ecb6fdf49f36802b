// Generated from sdk/js by `npm run build && npm run demo` there. Do not edit.
// The package @millrace/client, Apache-2.0.
var h=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;constructor(t,e,s={}){super(
`${t}: ${e??"the edge says so"}`,"cause"in s?{cause:s.cause}:void 0),this.code=t,this.tenant=s.tenant,this.pattern=s.pattern,
this.channel=s.channel,this.status=s.status,this.closeCode=s.closeCode}};function y(n,t,e){return n instanceof h?n:new h(
t,e,{cause:n})}function R(n,t){let e=URL.canParse(n)?new URL(n):void 0;if(!e||!/^https?:$/.test(e.protocol)||e.username||e.password||e.
search||e.hash)throw new h("bad_option","an address is a URL with https:// and without user, query and fragment");if(e.protocol===
"http:"&&!t&&!qt(e.hostname))throw new h("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return e}function qt(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(n)}var zt=new TextEncoder,Gt=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),ot=1024,Wt=["PING","PONG","RECONNECT","OK:AUT\
H"],L=n=>zt.encode(n);function P(n){try{return Gt.decode(n)}catch(t){throw new h("protocol","text that is not UTF-8",{cause:t})}}
var Ct=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifia\
ble",1013],["internal",1011],["slow_consumer",4429]]);function I(n,t){let e=Ct.get(n);if(e!==void 0)return new h(n==="fo\
rbidden"?`${t}_not_allowed`:n,void 0,{closeCode:e})}function B(n){if(Wt.includes(n))return{kind:n};if(/^LINK:(up|down)$/.
test(n))return{kind:"LINK",up:n==="LINK:up"};let t=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(t&&n.length<=
ot)return{kind:"FEATURES",features:t};let e=/^OK:(SUB|UNSUB):([^:]+):(.+)$/su.exec(n),s=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(
n);if((e||s)&&(n.length<=ot/3||L(n).length<=ot)&&!n.endsWith(`
`)){if(e)return{kind:"OK",verb:e[1],tenant:e[2],pattern:e[3]};if(s)return{kind:"ERR",code:s[1],detail:s[2]??""}}throw new h(
"protocol","a line that is none")}var at=["broadcast","one-nearest","one-random"];function yt(n,t,e,s){let i=typeof e=="string"?L(e):e,r=s===void 0?0:2,o=new Uint8Array(
r+4+n.length+t.length+i.length);return s!==void 0&&(o[0]=2,o[1]=s),o.set(i,kt(o,kt(o,r,n),t)),o}function kt(n,t,e){n[t++]=
e.length>>8,n[t++]=e.length;for(let s=0;s<e.length;s++)n[t++]=e.charCodeAt(s);return t}var z=class{#t=new G;#e=new G;#s={};decode(t,e,s){
let i=w=>{w>s&&q()},r=w=>(i(w+2),t[w]<<8|t[w+1]);(e===s||t[e]!==1)&&q();let o=e+3+r(e+1),a=o+2+r(o),c=a+4;i(c);let d=c+r(
a)*65536+r(a+2);r(d)===0&&q();let l=this.#t.of(t,e+1,a,()=>[P(t.subarray(e+3,o)),P(t.subarray(o+2,a))]),b=this.#s;return b.
tenant=l[0],b.channel=l[1],b.payload=t.subarray(c,d),b.route=this.#e.of(t,d,s,()=>{let w=[],f=d+2;for(let m=r(d);m>0;m--){
let g=f+2+r(f);i(g),w.push(P(t.subarray(f+2,g))),f=g}return f!==s&&q(),{patterns:Object.freeze(w),note:void 0}}),b}};function q(){
throw new h("protocol","a frame that is none")}var Dt=256,Ft=1024,G=class{#t=[];of(t,e,s,i){let r=0;for(let d=e;d<s;d++)
r=Math.imul(r,31)+t[d]|0;let o=(r^r>>>8)&Dt-1,a=this.#t[o];if(a&&jt(a.bytes,t,e,s))return a.value;let c=i();return s-e<=
Ft&&(this.#t[o]={bytes:t.slice(e,s),value:c}),c}};function jt(n,t,e,s){if(n.length!==s-e)return!1;for(let i=0;i<n.length;i++)
if(n[i]!==t[e+i])return!1;return!0}var W="[\\w\\-~@]+",Ht=/^[\w\-~@.]{1,128}$/,Xt=new RegExp(`^(?=.{1,256}$)${W}(\\.${W}){0,31}$`),Kt=new RegExp(`^(?=.{1,2\
56}$)((${W}\\*?|\\*)\\.){0,31}(${W}[*>#]?|[*>#])$`),Yt=n=>Ht.test(n),Jt=n=>Xt.test(n),Vt=n=>Kt.test(n),Qt="~";function ht(n){
return ct("bad_tenant",Yt,n===""?Qt:n)}function xt(n){return ct("bad_channel",Jt,n)}function Tt(n){return ct("bad_patter\
n",Vt,n)}function ct(n,t,e){if(typeof e!="string"||!t(e))throw new h(n,"not a legal name, see docs/protocol.md, Names");
return e}var Zt=["drop-oldest","drop-newest","end"],Et=["webtransport","websocket"];function v(n){throw new h("bad_option",n)}function E(n,t,e,s=0){
return t!==void 0&&!(Number.isFinite(t)&&t>=s&&t<2**31)&&v(`${n} must be a number below 2^31${s<0?"":", 0 or more"}`),t||
e}function At(n,t,e){return e.includes(t)||v(`${n}: allowed are ${e.join(", ")}`),t}function dt(n,t){return{queue:Math.ceil(
E("queue",n.queue,t.queue)),queuePolicy:At("queuePolicy",n.queuePolicy??t.queuePolicy,Zt)}}function _t(n){let{token:t,tokenProvider:e,
transports:s=Et}=n;t===void 0==(e===void 0)&&v("one of token and tokenProvider is needed"),e!==void 0&&typeof e!="functi\
on"&&v("tokenProvider must be a function"),s.length===0&&v("transports must not be empty");for(let r of s)At("transports",
r,Et);let i=E("minBackOff",n.minBackOff,250);return{token:t===void 0?void 0:ft(t),tokenProvider:e,transports:[...new Set(
s)],fallbackAfter:E("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:E("connectTimeout",n.connectTimeout,1e4),keepAlive:E(
"keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:E("pongTimeout",n.pongTimeout,1e4),minBackOff:i,maxBackOff:Math.max(i,E("\
maxBackOff",n.maxBackOff,15e3)),...dt(n,{queue:1024,queuePolicy:"drop-oldest"}),paths:{webSocket:lt(n.paths?.webSocket??
"/ws"),webTransport:lt(n.paths?.webTransport??"/wt"),ping:lt(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===
!0,hashes:n.serverCertificateHashes}}function lt(n){return/^\/[^?#]*$/.test(n)||v("paths must start with a slash"),n}function ft(n){
return(typeof n!="string"||!/^[\w.~+-]{1,512}$/.test(n))&&v("the token is not a token"),n}var u=()=>performance.now();function T(n,t){return new Promise((e,s)=>{let i=()=>{clearTimeout(r),s(t.reason)},r=setTimeout(
()=>{t.removeEventListener("abort",i),e()},n);t.aborted&&i(),t.addEventListener("abort",i)})}async function A(n,...t){let e,
s=new Promise(i=>{e=setTimeout(i,n)});await Promise.race([s,...t]).catch(()=>{}),clearTimeout(e)}async function _(n,t,e){
n.throwIfAborted();let s=new AbortController,i=()=>s.abort(n.reason),r=setTimeout(()=>s.abort(new h("timeout","the edge \
does not answer")),t);n.addEventListener("abort",i);try{return await e(s.signal)}finally{clearTimeout(r),n.removeEventListener(
"abort",i),s.abort()}}function M(n,t){return new Promise((e,s)=>{let i=()=>s(t.reason);t.aborted&&i(),t.addEventListener(
"abort",i),n.then(e,s).finally(()=>t.removeEventListener("abort",i))})}function S(n,t){return n<=1?0:Math.random()*Math.
min(t.maxBackOff,t.minBackOff*2**Math.min(n-2,30))}var te=1e3,ee=1.024,se=32,ne=2**31-1,C=class{edge;transport;token;lastByte=u();asked=new Set;drains=!1;alive=!0;link;error;ended;#t;#e;#s;#n=new z;#i=new Map;#r=[];#o=0;#a=0;#h=!1;#c=!0;#l=!0;#d;#w;constructor(t,e,s,i,r){
this.edge=t,this.transport=e.transport,this.token=s,this.#t=e,this.#e=i,this.#s=r;let o;this.ended=new Promise(a=>{o=a}),
e.start({line:a=>this.#T(()=>this.#y(a)),frame:(a,c,d)=>{if(this.lastByte=u(),!this.alive)return;let l;try{l=this.#n.decode(
a,c,d)}catch(b){return this.#k(b)}i.delivered(this,l)},ended:a=>{o(),this.#E(a)}}),this.#h=!0,this.alive&&this.#f("FEATU\
RES:link"),this.alive&&r.keepAlive>0&&this.#v()}request(t,e){return t==="SUB"&&this.asked.add(e),new Promise((s,i)=>{if(!this.
alive)return i(O());let r=`${t}:${e}`,o=this.#i.get(r);o?o.push({resolve:s,reject:i}):this.#i.set(r,[{resolve:s,reject:i}]),
this.#f(r)})}ping(){return new Promise((t,e)=>{if(!this.alive)return e(O());this.#r.push({at:u(),patience:this.#o/ee,resolve:t,
reject:e}),this.#t.send("PING"),this.#o=0})}publish(t){return this.#f(t),this.#t.sent()}#f(t){this.#o+=t.length+se,this.#t.
send(t)}close(){return this.alive&&(this.#m(O()),this.#t.close()),this.ended}#y(t){this.lastByte=u();let e=ie(t);if(e)if(e.
kind==="OK")this.#b(`${e.verb}:${e.tenant}:${e.pattern}`,s=>s.resolve());else if(e.kind==="ERR")this.#x(e.code,e.detail);else if(e.
kind==="PING")this.#t.send("PONG");else if(e.kind==="PONG"){let s=this.#r.shift();if(!s)return;let i=u()-s.at;s.resolve(
i),this.#e.roundTrip(i)}else e.kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#e.draining(this)):e.kind==="FEATUR\
ES"?this.#u():e.kind==="LINK"&&(this.#l=e.up,this.#c||this.#u())}#u(){this.#c=!1,this.link=this.#l,this.#e.linked()}#x(t,e){
if(this.#c&&t==="bad_request")return this.#u();this.#d=I(t,e)??this.#d;let[,s,i]=/^(?:UN)?SUB:([^:]+):(.+)$/s.exec(e)??[];
!(s!==void 0&&i!==void 0&&t!=="broker_unavailable"&&this.#b(e,o=>o.reject(new h(t,void 0,{tenant:s,pattern:i}))))&&!/^(token_|unauthorized|forbidden)/.
test(t)&&this.#e.told(t,e),(t==="token_revoked"||t==="token_expired")&&this.#p(this.#d)}#b(t,e){let s=this.#i.get(t),i=s?.
shift();return i?(s?.length===0&&this.#i.delete(t),e(i),!0):!1}#g(){let{keepAlive:t,pongTimeout:e}=this.#s,s=this.#r[0];
return s?Math.max(this.lastByte,s.at,this.#a)+e+s.patience:this.lastByte+t}#v(){let t=this.#g(),e=()=>{let s=u();if(s-t>=
te&&(this.#a=s),s>=this.#g()){if(this.#r.length>0)return this.#p(new h("timeout","the edge does not answer"));this.ping().
catch(()=>{})}this.#v()};this.#w=setTimeout(e,Math.min(Math.max(t-u(),1),ne))}#T(t){if(this.alive)try{t()}catch(e){this.#k(
e)}}#k(t){this.#p(y(t,"protocol","the edge broke the protocol"))}#p(t){this.#m(t),this.#t.close(),this.#h&&this.#e.lost(
this,t)}#E({closeCode:t,error:e}){if(!this.alive)return;let s=this.#d,i=t===4401?"token_expired":t===4403?"token_revoked":
"disconnected",r=s?.code!=="slow_consumer"||t===4429,o=s&&r?new h(s.code,void 0,{closeCode:t??s.closeCode}):e??new h(i,"\
the connection has ended",{closeCode:t});this.#m(o),this.#h&&this.#e.lost(this,o)}#m(t){this.alive=!1,this.error=t,clearTimeout(
this.#w);let e=[...this.#i.values()].flat();this.#i.clear();let s=O(t);for(let i of[...e,...this.#r])i.reject(s);this.#r=
[]}};function ie(n){try{return B(n)}catch{return}}function O(n){return new h("disconnected","there is no connection to a\
n edge",n===void 0?{}:{cause:n})}var D=class{#t=new Map;#e=[];#s=!1;constructor(t={}){for(let[e,s]of Object.entries(t))s&&this.on(e,s)}on(t,e){let s=r=>e(
r),i=this.#t.get(t)??new Set;return this.#t.set(t,i.add(s)),()=>{i.delete(s)}}emit(t,e){this.#e.push([t,e])>1024&&this.#e.
shift(),this.#s||this.#n()}async#n(){this.#s=!0,await null;for(let t=this.#e.shift();t;t=this.#e.shift())for(let e of[...this.#t.
get(t[0])??[]])try{await e(t[1])}catch(s){F(s)}this.#s=!1}};function F(n){queueMicrotask(()=>{throw n})}var re=new TextDecoder,j=class{tenant;channel;payload;pattern;patterns;constructor(t,e,s,i,r){this.tenant=t,this.channel=
e,this.payload=s,this.pattern=i,this.patterns=r}text(){return re.decode(this.payload)}json(){return JSON.parse(this.text())}};var H=class{#t=new Map;#e=0;get all(){return[...this.#t.values()]}add(t){let{tenant:e,pattern:s}=t,i=`${e}:${s}`,r=this.#t.
get(i),o=r??{name:i,tenant:e,pattern:s,subs:[],confirmed:!1,waiting:[]};return o.subs.push(t),this.#t.set(i,o),this.#e++,
{interest:o,isNew:!r}}remove(t){let e=this.#t.get(`${t.tenant}:${t.pattern}`),s=e?.subs.indexOf(t)??-1;if(!(!e||s<0))return e.
subs.splice(s,1),e.subs.length===0&&this.drop(e)?e:void 0}drop(t){return this.#e++,this.#t.get(t.name)===t&&this.#t.delete(
t.name)}dispatch(t){let{tenant:e,channel:s,payload:i,route:r}=t,o=r.note?.tenant===e&&r.note.version===this.#e?r.note:this.#s(
e,r);for(let{pattern:a,subs:c}of o.interests){let d=new j(e,s,i,a,r.patterns);if(c.length===1)c[0].push(d);else for(let l of[
...c])l.push(d)}}#s(t,e){let s=e.patterns.map(i=>this.#t.get(`${t}:${i}`)).filter(i=>i!==void 0);return e.note={tenant:t,
version:this.#e,interests:s},e.note}};var oe=new TextDecoder("windows-1252"),X=class{#t=new K;#e=new K;first(t,e){let s=ut(t);this.#s(e),!this.#e.take(s)&&(this.#t.
put({key:s,time:e,size:s.length,message:void 0,gone:!1}),this.#t.over&&this.#t.drop())}second(t,e,s){if(this.late(t,e))return;
if(s)return t;let i=ut(t);return this.#e.put({key:i,time:e,size:i.length,message:{...t},gone:!1}),this.#e.over?this.#e.drop()?.
message:void 0}late(t,e){return this.#s(e),this.#t.size>0&&this.#t.take(ut(t))}get behind(){return this.#e.size}release(){
let t=[];for(let e=this.#e.drop();e;e=this.#e.drop())t.push(e.message);return t}done(t){return this.#s(t),this.#t.size===
0}#s(t){for(let e=this.#t.oldest;e&&t-e.time>=1e3;e=this.#t.oldest)this.#t.drop()}};function ut(n){return`${n.tenant}:${n.
channel}:${oe.decode(n.payload)}`}var K=class{size=0;#t=0;#e=[];#s=0;#n=new Map;get over(){return this.size>65536||this.#t>
16777216}get oldest(){for(;this.#e[this.#s]?.gone;)this.#s++;return this.#s>1024&&this.#s*2>this.#e.length&&(this.#e=this.#e.
slice(this.#s),this.#s=0),this.#e[this.#s]}put(t){this.#e.push(t);let e=this.#n.get(t.key);e?e.push(t):this.#n.set(t.key,
[t]),this.size++,this.#t+=t.size}take(t){let e=this.#n.get(t),s=e?.shift();return!e||!s?!1:(e.length===0&&this.#n.delete(
t),s.gone=!0,this.size--,this.#t-=s.size,!0)}drop(){let t=this.oldest;return t&&this.take(t.key),t}};var ae=250,pt=2e3;async function mt(n,t,e,s){for(;n.mover&&!n.mover.done(u());)await T(50,s);n.mover=new X,n.both=!0,n.events.
emit("moving",{...n.place,reason:e});let i=0;for await(let r of n.search.order(t.edge,e==="token",s)){await T(S(++i,n.settings),
s);let o;try{o=await n.search.open(r,s)}catch(a){if(s.throwIfAborted(),!(a instanceof h)||n.search.hopeless(r,a,!0))throw a;
continue}if(s.aborted)return void o.close();if(o.alive&&(n.second=o,n.mover.release(),await n.restore(o),await he(n,t,o,
s),s.throwIfAborted(),n.lead===o)){o.alive&&(n.since=u(),n.events.emit("moved",{...n.place,reason:e}));return}}}async function he(n,t,e,s){
let i=()=>n.second===e&&n.lead===t;if(!i())return;n.gate??=[];let r=A(pt,t.ping()).then(()=>{i()&&n.openGate(e)}),o=3;do
await T(ae,s);while(--o&&n.mover?.behind);if(await A(pt,Promise.all(n.asking)),!i())return;n.leaving=!0;let a=[...t.asked].
map(c=>t.request("UNSUB",c));await A(pt,t.ended,Promise.allSettled([...a,t.ping()])),await r,i()&&n.promote(),n.leaving=
!1}var ce=1e4;async function Pt(n,t,e,s){let{lastByte:i}=t;n.reconnecting=!0,n.lead=void 0,n.mover=void 0,n.both=n.leaving=
!1,n.openGate(void 0);for(let r of n.interests.all)r.confirmed=!1;n.events.emit("disconnected",{...n.place,error:e}),e.code===
"token_expired"&&t.token===n.clock.token&&n.clock.expire(),u()-n.since>ce&&(n.attempts=0);for await(let r of n.search.order(
t.edge,!1,s)){let o=++n.attempts,a=S(o,n.settings);n.events.emit("reconnecting",{attempt:o,delay:a}),await T(a,s);try{let c=await n.
search.open(r,s);if(s.aborted)return void c.close();if(n.follow(c),await n.restore(c),s.throwIfAborted(),!c.alive)continue;
return n.reconnecting=!1,n.since=u(),n.events.emit("reconnected",{...n.place,away:u()-i})}catch(c){if(s.throwIfAborted(),
!(c instanceof h)||n.search.hopeless(r,c,!1))throw c}}}var $=class{#t;#e=[];start(t){let e=this.#e;this.#e=[],this.#t=t;for(let s of e)s(t)}line(t){this.#t?this.#t.line(t):this.#e.
push(e=>e.line(t))}frame(t,e,s){this.#t?this.#t.frame(t,e,s):this.#e.push(i=>i.frame(t,e,s))}ended(t){this.#t?this.#t.ended(
t):this.#e.push(e=>e.ended(t)),this.frame=this.line=this.ended=()=>{}}};async function Y(n,t){try{let e=await fetch(n,{cache:"no-store",credentials:"omit",signal:t});return await e.arrayBuffer(),
e.ok}catch{return!1}}var N=globalThis,J=N.process?.versions,le=N.Deno!==void 0||J?.bun!==void 0||J?.node!==void 0,Mt=J?.node!==void 0&&J.bun===
void 0&&N.Deno===void 0&&N.document===void 0,cs=!le&&(N.document!==void 0||N.WorkerGlobalScope!==void 0);var wt=32<<20,St=(n,t,e)=>e>t&&n[t]<32,V=class{#t;#e=[];#s=0;constructor(t=wt){this.#t=t}get held(){return this.#s}push(t,e){
let s=0;if(!(this.#s>0&&(s=this.#n(t,e),this.#s>0))){for(;t.length-s>=4;){let i=s+4+this.#o(t,s);if(i>t.length)break;e(t,
s+4,i),s=i}s<t.length&&this.#i(t.slice(s))}}#n(t,e){let s=0;if(this.#s<4&&(s=Math.min(4-this.#s,t.length),this.#i(t.slice(
0,s)),this.#s<4))return s;let i=this.#e[0].length<4?this.#r():this.#e[0],r=4+this.#o(i,0),o=Math.min(r-this.#s,t.length-
s);if(o>0&&this.#i(t.slice(s,s+o)),this.#s===r){let a=this.#r();this.#e=[],this.#s=0,e(a,4,r)}return s+o}#i(t){this.#e.push(
t),this.#s+=t.length}#r(){let t=new Uint8Array(this.#s),e=0;for(let s of this.#e)t.set(s,e),e+=s.length;return this.#e=[
t],t}#o(t,e){let s=t[e]*16777216+(t[e+1]<<16|t[e+2]<<8|t[e+3]);if(s>this.#t)throw new h("protocol","a message that is to\
o long");return s}};var Ot=1<<20,de=1e3;async function $t({edge:n,token:t,signal:e},{paths:s}){let i=n.replace("http","ws")+s.webSocket,{promise:r,
resolve:o,reject:a}=me(),c=await fe("ws");e.throwIfAborted();let d,l=c?new c(i,{headers:{Authorization:`Bearer ${t}`},perMessageDeflate:!1,
maxPayload:wt}):new WebSocket(i,["llps.v1",`at.${t}`]);c||(l.binaryType="arraybuffer");let b=()=>l.terminate?l.terminate():
l.close(),w=()=>{a(e.reason),b()};e.addEventListener("abort",w);let f=new $,m=!1,g,x;l.on?.("unexpected-response",(p,Bt)=>{
d=ue(Bt).finally(()=>p.destroy()),d.then(a)}),l.onerror=({error:p})=>{g=p},l.onopen=()=>{m=!0,e.removeEventListener("abo\
rt",w),o({transport:"websocket",start:p=>f.start(p),send:p=>m&&l.send(p),sent:()=>m&&l.bufferedAmount>Ot?k():void 0,close(){
l.close(1e3),x??=setTimeout(()=>{b(),f.ended({})},de)}})},l.onclose=({code:p})=>{clearTimeout(x),m?(m=!1,f.ended({closeCode:p})):
d||pe(n+s.ping,c!==void 0,e,g).then(a,a),e.removeEventListener("abort",w)},l.onmessage=({data:p})=>{typeof p=="string"?f.
line(p):p instanceof ArrayBuffer?f.frame(new Uint8Array(p),0,p.byteLength):f.frame(new Uint8Array(p.buffer,p.byteOffset,
p.length),0,p.length)};async function k(){for(;m&&l.bufferedAmount>Ot;)await new Promise(p=>setTimeout(p,5))}return r}async function fe(n){
if(Mt)try{let{WebSocket:t}=await import(n);return t}catch(t){if("WebSocket"in globalThis)return;throw new h("bad_option",
"Node 20 has no WebSocket: install the package ws",{cause:t})}}async function ue(n){let t=n.statusCode,e="";try{let s=new TextDecoder;
for await(let o of n)if(e+=s.decode(o,{stream:!0}),e.length>65536)break;let{code:i,detail:r}=JSON.parse(e);if(typeof i==
"string")return new h(i,String(r),{status:t})}catch{}return new h(t>=500?"unreachable":"refused",`HTTP status ${t}`,{status:t})}
async function pe(n,t,e,s){return!t&&await Y(n,e)?new h("refused","the edge answers, and refuses the WebSocket: perhaps \
the token"):new h("unreachable","no WebSocket to the edge",{cause:s})}function me(){let n,t;return{promise:new Promise((s,i)=>{
n=s,t=i}),resolve:n,reject:t}}var Nt=1e3,Lt=()=>"WebTransport"in globalThis;async function It(n,{paths:t,hashes:e}){let{signal:s}=n,i=new WebTransport(
n.edge+t.webTransport,e?{serverCertificateHashes:[...e]}:{}),r=i.closed.then(({closeCode:a,reason:c})=>({closeCode:a,error:I(
...`${c}`.split(":"))}),()=>({})),o=()=>Q(i);s.addEventListener("abort",o);try{return await i.ready,await we(i,r,n.token)}catch(a){
throw Q(i),s.throwIfAborted(),y(a,"unreachable","no WebTransport")}finally{s.removeEventListener("abort",o)}}async function we(n,t,e){
let s=await n.createBidirectionalStream(),i=new $,r=new bt(s.writable.getWriter()),o=s.readable.getReader(),a,c;r.send(`\
AUTH:${e}`);let d=new V,l=(f,m,g)=>{if(St(f,m,g))return i.frame(f,m,g);let x=P(f.subarray(m,g));if(c)return i.line(x);let k=B(
x);k.kind==="OK:AUTH"?c={transport:"webtransport",start:p=>i.start(p),send:p=>r.send(p),sent:()=>r.sent,close:()=>{r.close().
then(()=>Q(n))}}:k.kind==="ERR"&&(a??=I(k.code,k.detail)??new h(k.code))},b=async()=>{let{value:f,done:m}=await o.read();
return f&&d.push(f,l),!m},w;for(;!c;)if(!await b().catch(m=>{if(m instanceof h)throw m;return!1}))throw a??be(await t);return(async()=>{
try{for(;await b(););}catch(g){g instanceof h&&(w=g)}r.close();let f={error:w},m=t.then(g=>f=g);w||await A(Nt,m),Q(n),i.
ended(f)})(),c}function be({closeCode:n,error:t}){let e=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailabl\
e":"unreachable";return t??new h(e,"the connection has ended",{closeCode:n})}function Q(n){try{n.close({closeCode:1e3,reason:""})}catch{}}
var bt=class{#t;#e=new Uint8Array(4096);#s=0;sent;constructor(t){this.#t=t,t.closed.catch(()=>{})}send(t){let e=typeof t==
"string"?L(t):t,s=e.length,i=this.#s+4+s;if(i>this.#e.length){let r=new Uint8Array(Math.max(i,this.#e.length*2));r.set(this.#e.
subarray(0,this.#s)),this.#e=r}this.#e.set([s>>>24,s>>>16,s>>>8,s],this.#s),this.#e.set(e,this.#s+4),this.#s=i,this.sent??=
this.#n()}async#n(){try{do{await this.#t.ready;let t=this.#e.subarray(0,this.#s);this.#e=new Uint8Array(4096),this.#s=0,
this.#t.write(t).catch(()=>{})}while(this.#s>0)}catch{this.#s=0}this.sent=void 0}async close(){await A(Nt,(this.sent??Promise.
resolve()).then(()=>this.#t.close()))}};var ge=/^(unauthorized|token_|(ip|origin|region)_not|tls_required|draining|too_many)/,Z=class{#t;#e=new Map;#s=new Set;constructor(t){
this.#t=t}forget(){this.#s.clear()}async open(t,e,s){let i=this.#t,r=i.transports.filter(c=>c==="websocket"||Lt()&&t.startsWith(
"https:"));r.length===0&&v("there is no WebTransport here, or not for http:// addresses");let o=r.filter(c=>!this.#s.has(
c));if(o.length===0)throw new h("protocol_not_allowed");this.#e.get(t)===o[1]&&o.reverse();let a=await _(s,i.connectTimeout,
c=>this.#n(o,t,e,c));return this.#e.set(t,a.transport),a}#n(t,e,s,i){return new Promise((r,o)=>{let a,c=0,d=0,l,b=!1,w=()=>{
b=!0,clearTimeout(a)},f=()=>{clearTimeout(a);let m=t[d++];if(!m||b)return;let g=m==="websocket"?$t:It;c++,g({edge:e,token:s,
signal:i},this.#t).then(x=>{if(b)return ve(x);w(),r(x)},x=>{c--;let k=y(x,"unreachable","the edge does not answer");if(k.
code==="protocol_not_allowed"&&this.#s.add(m),(!l||U(k)>U(l))&&(l=k),!ge.test(k.code)&&(c>0||d<t.length))return f();w(),
o(l)}),d<t.length&&(a=setTimeout(f,this.#t.fallbackAfter))};i.addEventListener("abort",()=>{w(),o(i.reason)}),f()})}};function ve(n){
n.start({line(){},frame(){},ended(){}}),n.close()}function U({code:n}){return["unreachable","timeout","refused","protoco\
l_not_allowed"].indexOf(n)>>>0}var Ut=3,ke=500;async function gt(n,t,e){let s,i=await Promise.all(n.map(async o=>{if(o.pathname==="/")return[o.origin];
try{return await _(e,t.connectTimeout,a=>ye(o,a))}catch(a){return s=a,[]}})),r=[...new Set(i.flat())];if(e.throwIfAborted(),
r.length===0)throw s??new h("unreachable","the list has no edge");return r.length>1&&(await _(e,t.connectTimeout,o=>xe(r,
t.paths.ping,o)).catch(()=>{}),e.throwIfAborted()),r}async function ye(n,t){try{let e=await fetch(n,{cache:"no-store",credentials:"\
omit",signal:t});if(!e.ok)throw new h("unreachable",`the list of edges: HTTP status ${e.status}`,{status:e.status});let{
edges:s}=await e.json();return s.map(({host:i})=>R(`https://${i}`,!1).origin)}catch(e){throw y(e,"unreachable","the list\
 of edges")}}async function xe(n,t,e){let s=new Map,i=async d=>{let l=[];for(;l.length<Ut;){let b=u();if(!await Y(d+t,e))
return;l.push(u()-b)}l.sort((b,w)=>b-w),s.set(d,l[Ut>>1])},r=n.map(i),a=Promise.any(r.map((d,l)=>d.then(()=>s.get(n[l])??
Promise.reject()))).then(()=>T(ke,e));await Promise.race([Promise.all(r),a.catch(()=>Promise.all(r))]);let c=d=>s.get(d)??
Number.MAX_VALUE;n.sort((d,l)=>c(d)-c(l))}var Rt=/^(ip_not|origin_not|tls_required|token_revoked|bad_option)/,Te=/^(unauthorized|token_expired|region_not|protocol_not)/,
Ee=5,Ae=6e4,tt=class{#t;#e;#s;#n;#i;#r=[];#o=new Map;#a;#h=0;#c=0;drained=new Set;constructor(t,e,s,i){this.#t=t,this.#e=
e,this.#s=s,this.#n=i,this.#i=new Z(e)}async first(t){await M(this.#s.get(),t),this.#r=await gt(this.#t,this.#e,t);let e;
for(let s of this.#r)try{return await this.open(s,t)}catch(i){if(!(i instanceof h)||Rt.test(i.code)||i.code==="token_pro\
vider")throw i;(!e||U(i)>U(e))&&(e=i)}throw e}async*order(t,e,s){for(;;){let i=this.#r.filter(r=>r!==t);if(yield*e?[t,...i]:
i.length<this.#r.length?[...i,t]:i,this.#t.some(r=>r.pathname!=="/"))try{this.#r=await gt(this.#t,this.#e,s)}catch{s.throwIfAborted()}}}async open(t,e){
let s=await this.#s.get();try{return await this.#l(t,s,e)}catch(i){if(!(i instanceof h&&/^(unauthorized|token_expired|refused)$/.
test(i.code))||!this.#s.provided)throw i;let o=await this.#s.ask();if(o===s)throw i;return this.#l(t,o,e)}}async#l(t,e,s){
e!==this.#a&&(this.#a=e,this.#o.clear(),this.#i.forget());let i=await this.#i.open(t,e,s);this.drained.delete(t);let r=new C(
t,i,e,this.#n,this.#e);if(r.error)throw r.error;return this.#h=0,this.#o.clear(),r}hopeless(t,e,s){let{code:i}=e;if(i===
"unreachable"&&this.drained.delete(t),i!=="refused")this.#h=0;else{if(s||this.drained.has(t))return!1;this.#h++===0&&(this.#c=
u())}return Rt.test(i)||this.#h>=Ee&&u()-this.#c>=Ae?!0:Te.test(i)?(this.#o.set(t,e),this.#r.every(r=>this.#o.has(r))):!1}};var vt=2**31-1,_e=1e3;function Pe(n,t){return n===1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-t*n/10)}var et=class{#t;#e;#s;#n=new AbortController;#i;#r=1/0;#o;#a;#h=0;constructor(t,e,s){
this.#t=t,this.#i=t.token,this.#e=e,this.#s=s}get token(){return this.#i}get provided(){return this.#t.tokenProvider!==void 0}get(){
return this.#i!==void 0&&Date.now()<this.#r?Promise.resolve(this.#i):this.ask()}ask(){return this.#o??=this.#c().finally(
()=>{this.#o=void 0}),this.#o}async#c(){clearTimeout(this.#a);let{tokenProvider:t,connectTimeout:e,minBackOff:s}=this.#t,
{signal:i}=this.#n;try{let r=await _(i,e,d=>M(Promise.resolve(t?.()),d)),{token:o,expiresAt:a}=typeof r=="object"?r:{token:r},
c=a===void 0?1/0:new Date(a).getTime();return Number.isNaN(c)&&v("expiresAt is no time"),this.#i=ft(o),this.#r=c>Date.now()?
c:1/0,this.#h=0,this.#l(Math.max(_e,Pe(this.#r-Date.now(),Math.random()))),this.#i}catch(r){this.#r<1/0&&Date.now()<this.#r&&
this.#l(Math.max(s,S(++this.#h+1,this.#t)));let o=new h("token_provider","the token provider failed",{cause:r});throw this.#i!==
void 0&&!i.aborted&&this.#s(o),o}}#l(t){this.#n.signal.aborted||!(t<1/0)||(this.#a=setTimeout(()=>{if(t>vt)return this.#l(
t-vt);let e=this.#i;this.ask().then(s=>s!==e&&this.#e(),()=>{})},Math.min(Math.max(t,0),vt)))}expire(){this.provided&&(this.#r=
0)}stop(){this.#n.abort(),clearTimeout(this.#a)}};var st=class{settings;events;clock;search;interests=new H;closed;lead;second;out;gate;mover;both=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;asking=new Set;over;#t=!0;#e;#s;constructor(t,e){this.settings=_t(
e),this.events=new D(e.on),this.clock=new et(this.settings,()=>this.next(),({code:s,message:i})=>this.told(s,i)),this.search=
new tt(t,this.settings,this.clock,this),this.closed=new Promise(s=>{this.#s=s})}async start(t){try{let e=await this.search.
first(t);if(this.follow(e),t.throwIfAborted(),e.error)throw e.error;this.since=u(),this.events.emit("connected",this.place),
this.linked(),this.next()}catch(e){throw this.clock.stop(),this.lead?.close(),e}}follow(t){this.lead=t,this.place={edge:t.
edge,transport:t.transport},this.linked()}next(){let{lead:t}=this;this.#e||this.over||!t?.alive||(t.drains?this.#n(e=>mt(
this,t,"drain",e)):t.token!==this.clock.token&&this.#n(e=>mt(this,t,"token",e)))}#n(t){this.#e?.abort();let e=new AbortController;
this.#e=e,t(e.signal).then(()=>{this.#e===e&&(this.#e=void 0,this.lead?.alive&&this.next())},s=>{this.#e===e&&this.finish(
y(s,"internal","a fault of this client"))})}delivered(t,e){if(!this.mover)return this.interests.dispatch(e);let s=u();if(t===
this.second){let i=this.lead?.asked,r=!e.route.patterns.some(a=>i?.has(`${e.tenant}:${a}`)),o=this.mover.second(e,s,r);o&&
this.interests.dispatch(o)}else this.both?(this.mover.first(e,s),this.interests.dispatch(e)):(this.mover.late(e,s)||this.
interests.dispatch(e),this.mover.done(s)&&(this.mover=void 0))}draining(t){this.search.drained.add(t.edge),t===this.lead&&
this.next()}told(t,e){let[,s,i]=/^PUB:([^:]+):(.+)$/s.exec(e)??[];t==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(
e)}):t==="egress_limited"?this.events.emit("egressLimited",{delay:Number(e)*1e3}):s&&i&&t!=="broker_unavailable"?this.events.
emit("publishError",{tenant:s,channel:i,code:t}):this.events.emit("edgeError",{code:t,detail:e})}roundTrip(t){this.rtt=t,
this.events.emit("roundTrip",{rtt:t})}linked(){let{link:t,edge:e}=this.lead??{};!this.since||!e||t===void 0||t===this.#t||
(this.#t=t,this.events.emit(t?"linkUp":"linkDown",{edge:e}))}lost(t,e){let s=t.token===this.clock.token;if((/_not_allowed$|^token_revoked$/.
test(e.code)||e.code==="token_expired"&&!this.clock.provided)&&s)return this.finish(e);t===this.second&&!this.leaving?(this.
second=void 0,this.openGate(void 0)):t===this.lead&&(this.gate||this.out)?this.promote():(t===this.lead||t===this.second)&&
(t===this.lead&&(this.second?.close(),this.second=void 0,this.#i()),this.promote(),this.reconnecting||this.#n(r=>Pt(this,
t,e,r)))}promote(){let{lead:t,second:e}=this;e&&(this.follow(e),this.second=void 0,this.both=this.leaving=!1,this.openGate(
void 0),this.#i(),t?.close())}#i(){for(let t of this.mover?.release()??[])this.interests.dispatch(t)}openGate(t){this.out=
t;let e=this.gate??[];this.gate=void 0;for(let s of e)s()}async restore(t){await Promise.all(this.interests.all.map(e=>this.
ask(t,e)))}ask(t,e){let s=this.#r(t,e).finally(()=>this.asking.delete(s));return this.asking.add(s),s}async#r(t,e){try{await t.
request("SUB",e.name),e.confirmed=!0;for(let{resolve:s}of e.waiting.splice(0))s()}catch(s){let i=y(s,"internal","a fault\
 of this client");i.code!=="disconnected"&&this.#o(e,i)}}#o(t,e){if(!this.interests.drop(t))return;let{tenant:s,pattern:i,
subs:r,waiting:o}=t;for(let a of[this.lead,this.second])a?.asked.delete(t.name)&&this.#a(a,t);r.length>o.length&&this.events.
emit("subscriptionError",{tenant:s,pattern:i,code:e.code});for(let a of r)a.end(e);for(let{reject:a}of o.splice(0))a(e)}async subscribe(t){
if(this.over)throw this.over;let{interest:e,isNew:s}=this.interests.add(t);if(e.confirmed)return;let i=new Promise((r,o)=>{
e.waiting.push({resolve:r,reject:o})});return s&&(this.lead&&!this.leaving&&this.ask(this.lead,e),this.second&&this.ask(
this.second,e)),i}async leave(t){let e=this.interests.remove(t);if(!e)return;for(let{resolve:i}of e.waiting.splice(0))i();
let s=[this.lead,this.second].filter(i=>i?.asked.delete(e.name));await Promise.all(s.map(i=>this.#a(i,e)))}#a(t,{name:e}){
return t.request("UNSUB",e).catch(()=>{})}queueFull({tenant:t,pattern:e},s){this.events.emit("queueFull",{tenant:t,pattern:e,
dropped:s})}exit(){if(this.over)throw this.over;let t=this.out??this.lead;if(!t?.alive)throw O();return t}finish(t){if(this.
over)return;this.over=new h("closed","the client has been closed",t?{cause:t}:{}),this.#e?.abort(),this.clock.stop();let e=[
this.lead,this.second].map(s=>s?.close());this.openGate(void 0),t&&this.#i();for(let s of this.interests.all){this.interests.
drop(s);for(let i of s.subs)i.end(t);for(let{reject:i}of s.waiting.splice(0))i(t??this.over)}this.events.emit("closed",{
error:t}),Promise.all(e).then(()=>this.#s(t))}};var nt=class{#t;#e=new Array(16);#s=0;#n=0;constructor(t){this.#t=t}get full(){return this.#n>=this.#t}push(t){let e=this.#e;
this.#n===e.length&&(this.#e=[...e.slice(this.#s),...e.slice(0,this.#s),...new Array(e.length)],this.#s=0),this.#e[this.#s+
this.#n++&this.#e.length-1]=t}shift(){if(this.#n===0)return;let t=this.#e[this.#s];return this.#e[this.#s]=void 0,this.#s=
this.#s+1&this.#e.length-1,this.#n--,t}clear(){this.#e=new Array(16),this.#s=this.#n=0}};var Me=1e3,it=class{tenant;pattern;ended;#t;#e;#s;#n=[];#i=!1;#r;#o;#a=0;#h=-1/0;#c;constructor(t,e,s,i){this.tenant=t,this.
pattern=e,this.#t=s,this.#e=i,this.#s=new nt(i.queue),this.ended=new Promise(r=>{this.#o=r})}async unsubscribe(){this.end(
void 0),await this.#t.leave(this)}[Symbol.asyncIterator](){if(this.#e.onMessage)throw new h("bad_option","a subscription\
 with a callback cannot be iterated");let t=!1;return{next:()=>{if(t)return Promise.resolve({done:t,value:void 0});let e=this.#s.
shift();return e?Promise.resolve({done:!1,value:e}):this.#i?(t=!0,this.#r?Promise.reject(this.#r):Promise.resolve({done:t,
value:void 0})):new Promise((s,i)=>{this.#n.push({resolve:s,reject:i})})},return:async()=>(t=!0,await this.unsubscribe(),
{done:t,value:void 0})}}push(t){if(this.#i)return;let{onMessage:e,queuePolicy:s}=this.#e;if(e){try{let r=e(t);r instanceof
Promise&&r.catch(F)}catch(r){F(r)}return}let i=this.#n.shift();if(i)return i.resolve({done:!1,value:t});if(!this.#s.full)
return this.#s.push(t);if(s==="end"){this.end(new h("queue_full","messages were not read in time",this)),this.#t.leave(this);
return}s==="drop-oldest"&&(this.#s.shift(),this.#s.push(t)),this.#a++,this.#c??=setTimeout(()=>this.#l(),Math.max(0,this.#h+
Me-u()))}#l(){clearTimeout(this.#c),this.#c=void 0,this.#h=u(),this.#a>0&&this.#t.queueFull(this,this.#a),this.#a=0}end(t){
if(!this.#i){this.#i=!0,this.#r=t,t||this.#s.clear(),this.#l();for(let e of this.#n.splice(0))t?e.reject(t):e.resolve({done:!0,
value:void 0});this.#o(t)}}};async function Se(n,t){let e=typeof n=="string"?[n]:n;(!t||!e?.length)&&v("connect needs an address and options");let s=new st(
e.map(r=>R(r,t.allowPlaintext===!0)),t),{signal:i=new AbortController().signal}=t;return i.throwIfAborted(),await M(s.start(
i),i),new rt(s)}var rt=class{#t;closed;constructor(t){this.#t=t,this.closed=t.closed}get edge(){return this.#t.place.edge}get transport(){
return this.#t.place.transport}get rtt(){return this.#t.rtt}on(t,e){return this.#t.events.on(t,e)}async subscribe(t,e,s={}){
let i=this.#t,{onMessage:r}=s;r&&typeof r!="function"&&v("onMessage must be a function");let o=new it(ht(t),Tt(e),i,{...dt(
s,i.settings),onMessage:r});return await i.subscribe(o),o}async publish(t,e,s,{delivery:i="broadcast"}={}){let r=this.#t,
o=at.indexOf(i);o<0&&v(`delivery: allowed are ${at.join(", ")}`),typeof s!="string"&&s?.[Symbol.toStringTag]!=="Uint8Arr\
ay"&&v("the payload must be a Uint8Array or a string");let a=yt(ht(t),xt(e),s,o||void 0);return r.exit(),r.gate?new Promise(
(c,d)=>{r.gate?.push(()=>{try{c(r.exit().publish(a))}catch(l){d(l)}})}):r.exit().publish(a)}async flush(){let t=this.#t;
t.exit(),t.gate&&await new Promise(e=>t.gate?.push(e)),await t.exit().ping()}async close(){this.#t.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};export{rt as Client,h as MillraceError,Se as connect};
