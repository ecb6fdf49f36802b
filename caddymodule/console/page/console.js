// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var R,Ko,Ai,Ce,In,kt,Qo,wt,Vo,Dn,Rn,Yo,it=Symbol.for("pv"),xt={},St=[],Mi=/^m(i|n|o|s|text|space)$/,Fn=Array.isArray,Zo=St.
slice,Fe=Object.assign;function De(n){n&&n.parentNode&&n.remove()}function vt(n,e,t,o,r){var i={type:n,props:e,key:t,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:it,__v:r||
++Ko,__i:-1,__u:0};return!r&&R.vnode&&R.vnode(i),i}function E(n){return n.children}function He(n,e){this.props=n,this.context=e,this.__g=0}function Pe(n,e){if(e==null)return n.
__&&Pe(n.__,n.__i+1);for(var t;e<n.__k.length;e++)if((t=n.__k[e])&&t.__e)return t.__e;return typeof n.type!="function"||
n.props.__P?null:Pe(n)}function $i(n){var e,t=n.__v,o=t.__e,r=[],i=[],a=n.__P;a&&((e=Fe({constructor:it},t)).__v=t.__v+1,
R.vnode&&R.vnode(e),jn(a,e,t,n.__n,a.namespaceURI,32&t.__u?[o]:null,r,o||Pe(t),32&t.__u,i),e.__v=t.__v,e.__.__k[e.__i]=e,
sr(r,e,i),t.__=t.__e=null,e.__e!=o&&er(e))}function er(n){if((n=n.__)&&n.__c&&!n.props.__P)return n.__e=null,n.__k.some(
function(e){return e&&(n.__e=e.__e)}),er(n)}function Nn(n){(8&n.__g||(n.__g|=8,Ce.push(n),kt++))&&In==R.debounceRendering||
((In=R.debounceRendering)||queueMicrotask)(tr)}function tr(){try{for(var n,e=1;Ce.length;)Ce.length>e&&Ce.sort(Qo),n=Ce.
shift(),e=Ce.length,8&n.__g&&$i(n)}finally{(kt=Ce.length)&&(In||queueMicrotask)(tr)}}function nr(n,e,t,o,r,i,a,l,c,u,d){
var f,p,h,m,w,v,b=o.__k||St,k=e.length;for(c=Oi(t,e,b,c,k),f=0;f<k;f++)(h=t.__k[f])!=null&&(p=~h.__i&&b[h.__i]||xt,h.__i=
f,v=jn(n,h,p,r,i,a,l,c,u,d),m=h.__e,(p.ref!=h.ref||8&p.__u)&&(p.ref&&Ln(p.ref,null,h,p),h.ref&&d.push(h.ref,h.__c||m,h)),
w=w||m,4&h.__u?(c=or(h,c,n,!p.__v),p.__e&&(p.__e=null)):typeof h.type=="function"&&v!==void 0?c=v:m&&(c=m.nextSibling),h.
__u&=-21);return t.__e=w,c}function Oi(n,e,t,o,r){var i,a,l,c,u,d,f,p,h,m=t.length,w=m,v=0,b=0,k=n.__k=Array(r);for(i=0;i<
r;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=k[i]=vt(null,
a):Fn(a)?a=k[i]=vt(E,{children:a}):a.constructor===it&&a.__b?a=k[i]=vt(a.type,a.props,a.key,a.ref,a.__v):k[i]=a,c=i+v,a.
__=n,a.__b=n.__b+1,l=null,~(u=a.__i=Ii(a,t,c,w))&&(w--,(l=t[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?v--:u==c+1?v++:u!=
c&&(u>c?v--:v++,b=1)):(~u||(r>m?v--:r<m&&v++),typeof a.type!="function"&&(a.__u|=4))):k[i]=null;if(b){for(d=[],f=[],i=0;i<
r;i++)if((a=k[i])&&16&a.__u){for(v=0,p=d.length;v<p;)d[h=v+p>>1]<a.__i?v=h+1:p=h;d[v]=a.__i,f[i]=v+1}for(v=d.length;i--;)
f[i]&&(f[i]==v?v--:k[i].__u|=4)}if(w)for(i=0;i<m;i++)!(l=t[i])||2&l.__u||(l.__e==o&&(o=Pe(l)),Xn(l,l));return o}function or(n,e,t,o){
var r,i,a,l;if(typeof n.type=="function"){if(n.props.__P)return e;if(r=n.__k)for(i=0;i<r.length;i++)r[i]&&(r[i].__=n,e=or(
r[i],e,t,!1));return e}for(e&&!e.parentNode&&(e=Pe(n))&&!e.parentNode&&(e=null),a=n.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&t.moveBefore&&a.parentNode?t.moveBefore(a,e):t.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function Ii(n,e,t,o){var r,i=n.key,a=n.type,l=e[t],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return t;
if(o>(c?1:0)){for(r=t-1;r>=0;r--)if((l=e[r])&&!(2&l.__u)&&i==l.key&&a==l.type)return r;for(r=t+1;r<e.length;r++)if((l=e[r])&&
!(2&l.__u)&&i==l.key&&a==l.type)return r}return-1}function Go(n,e,t){t==null&&(t=""),e[0]=="-"?n.setProperty(e,t):n[e]=t}
function bt(n,e,t,o,r){var i,a;if(e=="style")if(typeof t=="string")n.style.cssText=t;else{if(typeof o=="string"&&(n.style.
cssText=o=""),o)for(e in o)t&&e in t||Go(n.style,e);if(t)for(e in t)o&&t[e]==o[e]||Go(n.style,e,t[e])}else if(e[0]=="o"&&
e[1]=="n")typeof t!="function"&&(t=null),typeof o!="function"&&(o=null),(n.__e||(n.__e={}))[e]=t,t&&o||(a=Rn[e]||(Rn[e]=
Ri(e)),(n.__a||(n.__a={}))[e]=Dn,i=e!=(e=e.replace(Vo,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),t?n.addEventListener(
e,a,i):n.removeEventListener(e,a,i));else{if(r=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in n)try{return void(n[e]=t??"")}catch{}if(typeof t=="function")return;t==null||t===
!1&&e[4]!="-"?n.removeAttribute(e):n.setAttribute(e,e=="popover"&&t==1?"":t)}}function Ri(n){return function(e){var t=this.
__e;if(t){if(t=t[n],e[wt]==null)e[wt]=Dn++;else if(e[wt]<this.__a[n])return;return t(R.event?R.event(e):e)}}}function jn(n,e,t,o,r,i,a,l,c,u){
var d,f,p,h,m,w,v,b,k,y,T,D,te,Ee,he,ie,V,Ne,Se=e.type;if(e.constructor!==it)return null;128&t.__u&&(c=32&t.__u,d=t.__c.
__z)&&(e.__u|=c,f=i=[],d.nodeType==8?l=_t(d,i):i.push(d),l=i[0]||l),(d=R.__b)&&d(e);e:if(typeof Se=="function"){p=a.length;
try{if(b=e.props,k=(d=Se.prototype)&&d.render,y=(d=Se.contextType)&&o[d.__c],T=d?y?y.props.value:d.__:o,(h=t.__c)?(e.__c=
h,2&h.__g&&(h.__g|=1)):(k?e.__c=h=new Se(b,T):(e.__c=h=new He(b,T),h.constructor=Se,h.render=Di),y&&y.sub(h),h.state||(h.
state={}),h.__n=o,h.__g|=8,h.__h=[],h.__k=[]),k&&(h.__s||(h.__s=h.state),Se.getDerivedStateFromProps&&(h.__s==h.state&&(h.
__s=Fe({},h.__s)),Fe(h.__s,Se.getDerivedStateFromProps(b,h.__s)))),m=h.props,w=h.state,h.__v=e,t.__c){if(b!==m&&k&&!Se.getDerivedStateFromProps&&
h.componentWillReceiveProps&&h.componentWillReceiveProps(b,T),e.__v==t.__v&&!(8&h.__g)||!(4&h.__g)&&h.shouldComponentUpdate&&
h.shouldComponentUpdate(b,h.__s,T)===!1){e.__v!=t.__v&&(h.props=b,h.state=h.__s,h.__g&=-9),e.__e=t.__e,e.__k=t.__k,e.__k.
some(function(ye){ye&&(ye.__=e)}),St.push.apply(h.__h,h.__k),h.__k=[],h.__h.length&&a.push(h),l=Pe(t);break e}h.componentWillUpdate&&
h.componentWillUpdate(b,h.__s,T),k&&h.componentDidUpdate&&h.__h.push(function(){h.componentDidUpdate(m,w,v)})}else k&&!Se.
getDerivedStateFromProps&&h.componentWillMount&&h.componentWillMount(),k&&h.componentDidMount&&h.__h.push(h.componentDidMount);
h.context=T,h.props=b,h.__P=n,h.__g&=-5,D=R.__r,te=k?25:0;do h.__g&=-9,D&&D(e),d=h.render(h.props,h.state=h.__s,h.context);while(8&
h.__g&&++te<25);k&&(St.push.apply(h.__h,h.__k),h.__k=[]),h.state=h.__s,h.getChildContext&&(o=Fe({},o,h.getChildContext())),
k&&t.__c&&h.getSnapshotBeforeUpdate&&(v=h.getSnapshotBeforeUpdate(m,w)),Ee=d&&d.type===E&&d.key==null?d.props.children:d,
b.__P&&(d=l,r=(n=b.__P).namespaceURI,c=i=null,t.props&&t.props.__P!=n&&(t.__k.some(function(ye){ye&&Xn(ye,ye)}),t.__k=null),
l=t.__k?Pe(t,0):null),l=nr(n,Fn(Ee)?Ee:[Ee],e,t,o,r,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,f&&f.some(De),h.__h.length&&
a.push(h),1&h.__g&&(h.__g&=-4)}catch(ye){if(a.length=p,e.__v=null,c||i)if(ye&&ye.then){if(e.__u|=128|c,i){for(~(V=i.indexOf(
l||void 0))||(V=i.length);(Ne=i[V-1])&&Ne.nodeType==8;)V--;for(;V<i.length;V++)if(Ne=i[V])if(i[V]=null,he){if(Ne==ie)break}else{
if(Ne.nodeType!=8)break;Ne.data.startsWith("$s")&&(ie=_t(he=Ne))}}if(!he){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;
he=l}(d=_t(he=e.__c.__z||(e.__c.__z=he)))?(e.__e=he,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(De);else e.__e=t.__e;
e.__k||(e.__k=t.__k||[]),ye&&ye.then||rr(e),R.__e(ye,e,t)}}else l=e.__e=Ni(t.__e,e,t,o,r,i,a,c,u,n);return(d=R.diffed)&&
d(e),l}function _t(n,e){if(n&&n.nodeType==8&&n.data.startsWith("$s"))for(var t=1;n=n.nextSibling;){if(n.nodeType==8){if(n.
data.startsWith("$s"))t++;else if(n.data.startsWith("/$s")&&!--t)return n}e&&e.push(n)}}function rr(n){n&&(n.__c&&(n.__c.
__g|=4),n.__k&&n.__k.some(rr))}function sr(n,e,t){for(var o=0;o<t.length;)Ln(t[o++],t[o++],t[o++]);R.__c&&R.__c(e,n),n.some(
function(r){try{n=r.__h,r.__h=[],n.some(function(i){i.call(r)})}catch(i){R.__e(i,r.__v)}})}function Ni(n,e,t,o,r,i,a,l,c,u){
var d,f,p,h,m,w,v,b,k=t.props||xt,y=e.props,T=e.type;if(T=="svg"?r="http://www.w3.org/2000/svg":T=="math"?r="http://www.\
w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(T?m.localName==T:
m.nodeType==3)){n=m,i[d]=null;break}}if(!n){if(b=u.ownerDocument||document,!T)return b.createTextNode(y);n=b.createElementNS(
r,T,y.is?y:u),l&&(R.__m&&R.__m(e,i),l=!1),i=null}if(T){if(u=T=="template"&&n.content||n,i=T=="textarea"&&y.defaultValue!=
null?null:i&&Zo.call(u.childNodes),!l&&i)for(k={},d=0;d<n.attributes.length;d++)k[(m=n.attributes[d]).name]=m.value;for(d in k)
m=k[d],d=="dangerouslySetInnerHTML"?p=m:d=="children"||d in y||d=="value"&&"defaultValue"in y||d=="checked"&&"defaultChe\
cked"in y||bt(n,d,null,m,r);for(d in y)m=y[d],d=="children"?h=m:d=="dangerouslySetInnerHTML"?f=m:d=="value"?w=m:d=="chec\
ked"?v=m:l&&typeof m!="function"||k[d]===m||bt(n,d,m,k[d],r);f?(l||p&&(f.__html==p.__html||f.__html==n.innerHTML)||(n.innerHTML=
f.__html),e.__k=[]):(p&&(n.textContent=""),(T=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Mi.test(T))&&(r=
"http://www.w3.org/1999/xhtml"),nr(u,Fn(h)?h:[h],e,t,o,r,i,a,i?i[0]:t.__k&&Pe(t,0),l,c),i&&i.some(De)),l&&T!="textarea"||
(d="value",T=="progress"&&w==null?n.removeAttribute(d):w==null||w===n[d]&&(T!="progress"||w)||bt(n,d,w,k[d],r),d="checke\
d",v!=null&&v!=n[d]&&bt(n,d,v,k[d],r))}else k===y||l&&n.data==y||(n.data=y);return n}function Ln(n,e,t,o){try{typeof n==
"function"?e?e.__x=n(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():n(null)):n.current=e}catch(r){
R.__e(r,t)}}function Xn(n,e,t){var o,r,i,a;if(R.unmount&&R.unmount(n),!(o=n.ref)||o.current&&o.current!=n.__e||Ln(o,null,
e,n),o=n.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){R.__e(l,e)}o.__P=o.__n=null}if(o=n.__k)for(a=
0;a<o.length;a++)o[a]&&Xn(o[a],e,typeof n.type!="function"||t&&!n.props.__P);!t&&(o=n.__c)&&(o=o.__z)&&(r=_t(o,i=[]))&&(o==
n.__e&&i.some(De),De(r),De(o)),t||De(n.__e),n.__e=n.__c=n.__=null}function Di(n,e,t){return this.constructor(n,t)}function ir(n,e){
var t,o,r,i;R.__&&R.__(n,e),e.nodeType==9&&(e=e.documentElement),o=(t=n&&32&n.__u)?null:e.__k,e.__k=vt(E,{children:[n]}),
r=[],i=[],jn(e,e.__k,o||xt,xt,e.namespaceURI,o?null:e.firstChild?Zo.call(e.childNodes):null,r,o?o.__e:e.firstChild,t,i),
sr(r,e.__k,i),e.__k.props.children=null}function ar(n){function e(t){var o,r;return this.getChildContext||(o=new Set,(r={})[e.__c]=this,this.getChildContext=function(){
return r},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,Nn(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),t.children}
return e.__c="__cC"+Yo++,e.__=n,e.Provider=(e.Consumer=function(t,o){return t.children(o)}).contextType=e,e}R={__e:function(n,e,t,o){for(var r,i,a;e=e.__;)if((r=e.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(i=r.constructor)&&i.getDerivedStateFromError)&&
r.setState(i.getDerivedStateFromError(n)),r.componentDidCatch&&(r.componentDidCatch(n,o||{}),a=1),a&&8&r.__g)return void(r.
__g|=2)}catch(l){n=l}}throw kt=0,n}},Ko=0,Ai=function(n){return n!=null&&n.constructor===it},He.prototype.setState=function(n,e){
var t=this.__s;t&&t!=this.state||(t=this.__s=Fe({},this.state)),typeof n=="function"&&(n=n(Fe({},t),this.props)),n&&(Fe(
t,n),this.__v&&(e&&this.__k.push(e),Nn(this)))},He.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.
push(n),Nn(this))},He.prototype.render=E,Ce=[],kt=0,Qo=function(n,e){return n.__v.__b-e.__v.__b},wt=Symbol(),Vo=/(PointerCapture)$|Capture$/i,
Dn=0,Rn={},Yo=0;var Ae,L,Un,lr,Bn=Object.is,lt=0,yr=[],Jn=[],U=R,cr=U.__b,dr=U.__r,ur=U.diffed,hr=U.__c,fr=U.unmount,pr=U.__;function We(n,e){
U.__h&&U.__h(L,n,lt||e),lt=0;var t=L.__H||(L.__H={__:[],__h:[]});return n>=t.__.length&&t.__.push({}),t.__[n]}function g(n){
return lt=1,Fi(wr,n)}function Fi(n,e,t){var o=We(Ae++,2);if(o.t=n,!o.__c&&(o.__=[t?t(e):wr(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);Bn(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=L,!L.__f)){L.__f=!0;var r=L.shouldComponentUpdate;
L.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(p){
p.__N&&(u=!0,Bn(p.__[0],p.__N[0])||(d=!0))}),r){var f=r.call(this,i,a,l);return u?f||d:f}return!u||d}}return o.__}function I(n,e){
var t=We(Ae++,3);!U.__s&&Wn(t.__H,e)&&(t.__P=!0,t.__=n,t.u=e,L.__H.__h.push(t))}function ae(n,e){var t=We(Ae++,4);!U.__s&&
Wn(t.__H,e)&&(t.__P=!1,t.__=n,t.u=e,L.__h.push(t))}function G(n){return lt=5,ct(function(){return{current:n}},[])}function ct(n,e){var t=We(Ae++,7);return Wn(t.__H,e)&&(t.__=n(),t.__H=e),t.__}function fe(n,e){return lt=8,ct(function(){
return n},e)}function br(n){var e=L.context[n.__c],t=We(Ae++,9);return t.c=n,e?(t.__==null&&(t.__=!0,e.sub(L)),e.props.value):
n.__}function qe(){var n=We(Ae++,11);if(!n.__){for(var e=L.__v;!e.__m&&e.__;)e=e.__;var t=e.__m||(e.__m=[0,0]);n.__="P"+t[0]+
"-"+t[1]++}return n.__}function ji(){var n;do{for(;n=Jn.shift();)try{at(n)}catch(t){U.__e(t,{__:(n=n.__P)&&n.__v})}for(;n=
yr.shift();){var e=n.__H;if(n.__P&&e)try{e.__h.some(at),e.__h.some(Hn),e.__h=[]}catch(t){e.__h=[],U.__e(t,n.__v)}}}while(Jn.
length)}U.__b=function(n){L=null,cr&&cr(n)},U.__=function(n,e){n&&e.__k&&e.__k.__m&&(n.__m=e.__k.__m),pr&&pr(n,e)},U.__r=
function(n){dr&&dr(n),Ae=0;var e=(L=n.__c).__H;e&&(Un==L?L.__h=[]:(e.__h.some(at),e.__h.some(Hn),Ae=0),e.__h=[],e.__.some(
function(t){t.__N&&(t.__=t.__N),t.u=t.__N=void 0})),Un=L},U.diffed=function(n){ur&&ur(n);var e=n.__c;e&&e.__H&&(e.__H.__h.
length&&gr(yr.push(e)),e.__H.__.some(function(t){t.u&&(t.__H=t.u)})),Un=L=null},U.__c=function(n,e){e.some(function(t){try{
t.__h.some(at),t.__h=t.__h.filter(function(o){return!o.__||Hn(o)})}catch(o){t.__h=[function(){throw o}]}}),hr&&hr(n,e)},
U.unmount=function(n){fr&&fr(n);var e,t,o=n.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(t===void 0){
for(t=n.__;t&&(!t.__c||!t.__c.__P);)t=t.__;t=t&&t.__c}r.__P=t,gr(Jn.push(r))}else at(r)}catch(i){e=i}}),o.__H=void 0,e&&
U.__e(e,o.__v))};var mr=typeof requestAnimationFrame=="function";function Li(n){var e,t=function(){clearTimeout(o),mr&&cancelAnimationFrame(
e),setTimeout(n)},o=setTimeout(t,35);mr&&(e=requestAnimationFrame(t))}function gr(n){n!=1&&lr==U.requestAnimationFrame||
((lr=U.requestAnimationFrame)||Li)(ji)}function at(n){var e=L,t=n.__c;typeof t=="function"&&(n.__c=void 0,t()),L=e}function Hn(n){
var e=L;n.__c=n.__(),L=e}function Wn(n,e){return!n||n.length!=e.length||e.some(function(t,o){return!Bn(t,n[o])})}function wr(n,e){
return typeof e=="function"?e(n):e}var q=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,t,o,r=0){super(o),this.code=e,this.status=
t,this.retryAfter=r}};async function vr(n){let e=Number(n.headers.get("Retry-After"))||0,t;try{t=await n.json()}catch{t=
void 0}let{code:o,detail:r,title:i}=t??{},a=[r,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${n.status}`;return new q(typeof o=="string"?o:"unknown",n.status,l,e)}function K(n){let e=n instanceof
Error?n.message:String(n),t=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(t)?t:`${t}.`}var Xi=4,qn=new q("no_session",401,"you are signed out; sign in to go on"),Tt=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,t={})=>this.call("GET",e,t);async call(e,t,o={}){let{gate:r}=this.#e;for(let i=0;;i++){if(o.
background&&r.ended)throw qn;let a=await this.#n(e,t,o);if(a.ok)return await this.#o(a);let l=await vr(a);if(o.bare||i>=
Xi)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&r.ended)
throw qn;let u=await(c==="no_session"?r.signIn():r.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?qn:
new q(c,403,"the password was not given, so nothing was changed")}}async#n(e,t,{body:o,background:r,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();r&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(t,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new q("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new q("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var Et=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let t=this.#e;t&&(this.#e=void 0,t.question==="sign-in"&&(this.ended=
!e),t.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let t=this.#e;if(t&&t.question!==e)return e==="si\
gn-in"&&(this.#e={...t,question:e}),this.#t(),t.answered;if(t)return t.answered;let o=()=>{},r=new Promise(i=>{o=i});return this.#e=
{question:e,answered:r,answer:o},this.#t(),r}};function zn(n){let[e="",t=""]=n.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
t))}}function $(n,e={}){let t=B(e);return`#/${n}${t}`}var Ui=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function B(n){let e=new URLSearchParams;
for(let[o,r]of Object.entries(n))r!==void 0&&r!==""&&e.set(o,String(r).replace(Ui,"$1"));let t=e.toString().replaceAll("\
+","%20");return t===""?"":`?${t}`}var Bi=new Intl.NumberFormat("en",{maximumFractionDigits:0}),Ji=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
Hi=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),_r=["bytes","KiB","MiB","GiB","TiB","PiB"],A=n=>Bi.format(n),Ct=n=>n===0||n>=10?A(n):Ji.format(
n);function O(n,e,t=`${e}s`){return`${A(n)} ${n===1?e:t}`}function J(n){let e=0,t=n;for(;t>=1024&&e<_r.length-1;)t/=1024,
e++;return`${e===0||t>=100?A(t):t.toFixed(1)} ${_r[e]}`}function Gn(n){let e=Math.round(Math.abs(n)/1e3),t=[];for(let[o,
r]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/r);if(e-=i*r,i>0)t.push(`${i} ${o}`);else if(t.length>
0)break;if(t.length===2)break}return t.join(" ")||"0 s"}function dt(n,e){let t=(typeof n=="number"?n:Date.parse(n))-e;if(Number.
isNaN(t))return"";let o=Math.abs(t)<6e4?1e3:Math.abs(t)<864e5?6e4:36e5,r=Gn(Math.trunc(t/o)*o);return t>=0?`in ${r}`:`${r}\
 ago`}function ve(n){let e=new Date(n);if(Number.isNaN(e.getTime()))return"";let t=Object.fromEntries(Hi.formatToParts(e).
map(({type:o,value:r})=>[o,r]));return`${t.year}-${t.month}-${t.day} ${t.hour}:${t.minute}:${t.second} UTC`}function Me(n){let e=0;for(let t of n)e++;return e}function Kn(n){return new TextEncoder().encode(n).length}function ne(n){
return n.split(/[\s,]+/).filter(e=>e!=="")}function $e(n,e){if(n.length<=e)return n;let t=[...n];return t.length<=e?n:`${t.
slice(0,e-1).join("")}…`}function je(n,e="and"){return n.length<2?n[0]??"":`${n.slice(0,-1).join(", ")} ${e} ${n[n.length-
1]}`}var ze=/^[0-9a-f]{0,32}$/;function Ge(n){return/^[AM]T_([0-9a-f]{0,32})/.exec(n)?.[1]??n}var Qn=ar(void 0);function M(){let n=br(Qn);if(!n)throw new Error("there is no console here");return n}function H(){return M().
session.role==="manager"}var Wi=Symbol.for("pv"),qi=0;function s(n,e,t,o,r,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof n!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:n,props:c,key:t,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Wi,__v:--qi,__i:-1,__u:0};return(r||
i)&&(u.__source=r,u.__self=i),R.vnode&&R.vnode(u),u}function C({text:n,most:e=80}){let t=$e(n,e);return s("bdi",{class:"name",...t===n?{}:{title:n},children:t})}function P({
text:n,most:e=256}){let t=$e(n,e);return s("bdi",{children:s("code",{...t===n?{}:{title:n},children:t})})}function j({at:n,
plain:e}){let{api:t}=M();return n?s("time",{dateTime:n,title:e?dt(n,t.serverNow()):ve(n),children:e?ve(n):dt(n,t.serverNow())}):
s("span",{children:"–"})}function N({mood:n="plain",children:e}){return s("span",{class:`badge ${n}`,children:e})}function Oe({
text:n}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:n})})}function Y({error:n,
known:e}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:[n," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function W({what:n}){return s("p",{class:"quiet",role:"\
status",children:["Loading ",n,"…"]})}function X({children:n}){return s("div",{class:"empty",children:n})}function le({
of:n}){return s("dl",{class:"facts",children:n.map(e=>e&&s("div",{class:e[2]?"whole":"",children:[s("dt",{children:e[0]}),
s("dd",{children:e[1]})]},e[0]))})}function kr({text:n,label:e,onCopied:t}){let[o,r]=g("");return I(()=>{if(o==="")return;
let a=setTimeout(()=>r(""),4e3);return()=>clearTimeout(a)},[o]),s("span",{class:"copy",children:[s("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(n),r("Copied."),t?.()}catch{r("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),s("span",{role:"status",class:"quiet",children:o})]})}function Z({text:n,
children:e}){return s("div",{class:"heading",children:[s("h1",{tabIndex:-1,children:n}),e&&s("div",{class:"buttons",children:e})]})}var Pt=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#c())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#c(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#c();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#c()},this.pause)}}};function oe(){let[n,e]=g(!1),[t,o]=g(),r=G({busy:!1,mounted:!0}).current;I(()=>(r.mounted=!0,()=>{r.mounted=!1}),[r]);let i=fe(
async a=>{if(!r.busy){r.busy=!0,e(!0),o(void 0);try{await a()}catch(l){r.mounted&&o(K(l))}r.busy=!1,r.mounted&&e(!1)}},[
r]);return{busy:n,error:t,run:i,fail:o}}function ee(n,e,t,o=!1){let[r,i]=g({key:n}),a=G(t);a.current=t;let l=G(void 0);I(
()=>{let u=new Pt({every:e,hidden:()=>document.hidden,ask:async(f,p)=>{try{let h=await a.current({background:f,signal:p});
p.aborted||i({key:n,data:h})}catch(h){throw p.aborted||i(m=>({...m,error:K(h)})),h}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[n,
e]),I(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,n,e]);let c=fe(()=>l.current?.refresh(),[]);return{data:r.
data,stale:r.key!==n||r.data===void 0,error:r.error,refresh:c}}function ce({label:n,columns:e,rows:t,keyOf:o,detail:r,busy:i}){return s("div",{class:"scroll",children:s("table",{role:"\
table","aria-label":n,"aria-busy":i??!1,children:[s("thead",{role:"rowgroup",children:s("tr",{role:"row",children:e.map(
a=>s("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),s("tbody",{role:"r\
owgroup",children:t.map(a=>{let l=r?.(a);return s(E,{children:[s("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>zi(
c,a,u===0))}),l&&s("tr",{role:"row",class:"detail",children:s("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function zi(n,e,t){let o={"data-label":n.label,class:n.number?"number":""},r=s("div",{children:n.cell(e)});return t?s("t\
h",{...o,role:"rowheader",scope:"row",children:r},n.label):s("td",{...o,role:"cell",children:r},n.label)}function Ke(n){
return s("button",{type:"button",class:"expand","aria-expanded":n.open,"aria-label":n.label,onClick:n.onToggle,children:n.
children})}function be({page:n,more:e,onPrevious:t,onNext:o}){return n===1&&!e?null:s("nav",{class:"pages","aria-label":"\
Pages",children:[s("button",{type:"button",disabled:n===1,onClick:t,children:"Previous page"}),s("span",{children:["Page\
 ",n]}),s("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function ut({status:n}){if(!n)return s("span",{children:"–"});let{driver:e,usable:t,error:o,writable:r,replicas:i}=n.store;
return s("span",{class:"state",children:[s("span",{children:e}),t?r?s(N,{mood:"good",children:"ready"}):s(N,{mood:"warn",
children:"read only"}):s(N,{mood:"bad",children:"not usable"}),i&&s("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&s(C,{text:o,most:200})]})}function ht({status:n}){return n?s("span",{class:"\
state",children:[s("span",{children:n.broker.driver}),n.broker.linked?s(N,{mood:"good",children:"linked"}):s(N,{mood:"ba\
d",children:"link lost"})]}):s("span",{children:"–"})}function xr({status:n}){let e=(n.links??[]).filter(t=>t.code);return e.
length===0?null:s("ul",{children:e.map(t=>s("li",{class:"wrong",children:[s(C,{text:t.of}),": ",s(C,{text:t.reason??"",most:200}),
t.error&&s(E,{children:[" ","(",s(C,{text:t.error,most:200}),")"]}),t.since&&s(E,{children:[", ",s(j,{at:t.since})]})]},
t.of))})}var Gi={websocket:"WebSocket",webtransport:"WebTransport"},Qe=n=>Gi[n]??n;function At({edge:n}){return n.self&&
n.name!=="this edge"?s(N,{children:"this edge"}):null}function Ve(n){let e=n.edges.filter(t=>!t.answered);return s("div",
{role:"alert",class:"errors",children:e.length>0&&s("div",{class:"note warn",children:[s("p",{children:[e.length===1?"An\
 edge does not answer":`${e.length} edges do not answer`,"."," ",n.missing[e.length===1?0:1]]}),s("ul",{children:[e.slice(
0,20).map(t=>s("li",{children:[s(C,{text:t.name}),t.error&&s(E,{children:[": ",s(C,{text:t.error,most:200})]})]},t.id)),
e.length>20&&s("li",{children:["and ",e.length-20," more"]})]})]})})}function x(n){let{label:e,value:t,onInput:o,hint:r,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:f,
options:p}=n,h=qe();ae(()=>{n.autoFocus&&document.getElementById(h)?.focus()},[]);let m=f&&f.now>f.most,w=i??(m?`At most\
 ${f.most} ${f.unit}.`:void 0),v={id:h,value:t,readOnly:d??!1,class:c?"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,
autofocus:n.autoFocus??!1,"aria-invalid":w!==void 0,"aria-describedby":`${h}-help`,onInput:b=>o(b.currentTarget.value)};
return s("div",{class:"field",children:[s("label",{for:h,children:e}),l?s("textarea",{...v,rows:l}):a==="password"?s("in\
put",{...v,type:"password"}):s("input",{...v,type:"text",list:p&&`${h}-list`}),p&&s("datalist",{id:`${h}-list`,children:p.
map(b=>s("option",{value:b},b))}),s("div",{id:`${h}-help`,class:"help",children:[r&&s("p",{children:r}),f&&s("p",{class:m?
"wrong":"",children:[f.now," of ",f.most," ",f.unit]}),w&&s("p",{class:"wrong",children:w})]})]})}function z({label:n,value:e,
onInput:t,hint:o,options:r}){let i=qe();return s("div",{class:"field",children:[s("label",{for:i,children:n}),s("select",
{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>t(a.currentTarget.value),children:r.map(([a,l])=>s("option",{value:a,
children:l},a))}),s("div",{id:`${i}-help`,class:"help",children:o&&s("p",{children:o})})]})}function ke({label:n,checked:e,
onChange:t,hint:o}){let r=qe();return s("div",{class:"check",children:[s("input",{id:r,type:"checkbox",checked:e,"aria-d\
escribedby":`${r}-help`,onChange:i=>t(i.currentTarget.checked)}),s("label",{for:r,children:n}),s("p",{id:`${r}-help`,class:"\
help",children:o})]})}function we({title:n,onClose:e,children:t,wide:o}){let r=G(null),i=G(!1),a=qe();return ae(()=>{let l=r.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),s("dialog",{ref:r,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===r.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&r.current?.open===!1&&r.current.showModal()}))},children:[s("h2",{id:a,children:n}),t]})}function pe({action:n,
submit:e,danger:t,disabled:o,onSubmit:r,onCancel:i,children:a,extra:l}){return s("form",{noValidate:!0,"aria-busy":n.busy,
onSubmit:c=>{c.preventDefault(),o||n.run(r)},children:[a,s(Oe,{text:n.error}),s("div",{class:"buttons",children:[s("butt\
on",{type:"submit",class:t?"danger":"primary",disabled:o,"aria-disabled":n.busy,children:e}),i&&s("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function Mt({title:n,label:e,secret:t,onClose:o,children:r}){let[i,a]=g(!1),[l,c]=g(!1);return s(we,{title:n,wide:!0,onClose:()=>i||
l?o():a(!0),children:[s("p",{class:"note warn",children:[s("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),s($t,{label:e,text:t,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),r,s("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),s("div",{class:"buttons",children:s("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function $t({
label:n,text:e,copy:t,onCopied:o}){return s("div",{class:"snippet",children:[s("div",{class:"snippet-head",children:[s("\
h3",{children:n}),s(kr,{text:e,label:t,onCopied:o})]}),s("pre",{tabIndex:0,"aria-label":n,role:"region",children:e})]})}var Ki=20;function Tr(n,e=""){let t=[];for(let[o,r]of(n.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=Ye(r.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=r.allow_channels_pub??[],c=r.allow_channels_sub??[];l.length>0&&t.push(
["may publish to ",...Ye(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&t.push(["may subscribe to ",...Ye(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=r.allow_channels_history??[];u.length>0&&t.push(["may read stored messages o\
f ",...Ye(u,`${i}.allow_channels_history`,e)," in ",...a]);let d=r.allow_channels_presence??[];d.length>0&&t.push(["may \
see who is present in ",...Ye(d,`${i}.allow_channels_presence`,e)," in ",...a]),l.length+c.length===0&&t.push(["may neit\
her publish nor subscribe in ",...a])}return t.push(Ot("from ",n.allow_ip_masks,"right.allow_ip_masks",e,"any address")),
n.allowed_ws_origin?.length&&t.push(Ot("from pages of ",n.allowed_ws_origin,"right.allowed_ws_origin",e,"")),n.allow_regions?.
length&&t.push(Ot("at edges in ",n.allow_regions,"right.allow_regions",e,"")),t.push(Ot("by ",n.allow_protocols,"right.a\
llow_protocols",e,"WebSocket or WebTransport")),t.push([`may send ${Sr(n.ingress_kb_per_sec)} and receive ${Sr(n.egress_kb_per_sec)}\
 on each connection`]),t}function Er(n){return/^right\.[\w.[\]]+/.exec(n??"")?.[0]??""}function Cr(n,e){return e!==""&&(n===e||n.startsWith(`${e}\
[`))}function Sr(n){return n===void 0?"as much as the edge's default":`${n.toLocaleString("en")} KB/s`}function Ot(n,e,t,o,r){
return e?.length?[n,...Ye(e,t,o,"or")]:[n+r]}function Ye(n,e,t,o="and"){let r=n.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=r.filter((c,u)=>u<Ki||c.path===t),a=r.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${O(a,"other")}`),l}function Pr({token:n,onAction:e}){let t=H(),o=n.token_id.slice(0,12),r=(i,a)=>s("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return s("div",{class:"token-detail",children:[s("div",{children:[s("h2",{children:"\
What it allows"}),s(Vn,{right:n.right,mark:""})]}),s(le,{of:[["Id",s(P,{text:n.token_id},"id"),"wide"],n.subject?["Subje\
ct",s(C,{text:n.subject,most:128},"subject")]:void 0,n.info?["Info",s(P,{text:JSON.stringify(n.info),most:1024},"info"),
"wide"]:void 0,n.description?["Description",s(C,{text:n.description,most:512},"description")]:void 0,["Made",s(j,{at:n.created_at,
plain:!0},"made")],["Ends",s(j,{at:n.expires_at,plain:!0},"ends")],n.revoked_at?["Revoked",s(j,{at:n.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",n.master_id?s(P,{text:n.master_id},"master"):"the console or the admin API"]]}),s("div",
{class:"buttons",children:[t&&n.status==="valid"&&r("refresh","Refresh"),t&&n.status!=="revoked"&&r("revoke","Revoke"),r(
"explain","Explain"),s("a",{class:"button",href:$("connections",{token_id:n.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),n.subject&&s("a",{class:"button",href:$("tokens",{subject:n.subject}),"aria-label":`All of its \
subject, of token ${o}`,children:"All of its subject"})]})]})}function Vn({right:n,mark:e}){return s("ul",{class:"right",
children:Tr(n,e).map((t,o)=>s("li",{children:s(Qi,{sentence:t,mark:e})},o))})}function Qi({sentence:n,mark:e}){return s(
E,{children:n.map(t=>{if(typeof t=="string")return t;let o=s(P,{text:t.rule},t.path);return Cr(t.path,e)?s("mark",{children:o},
t.path):o})})}var Vi=[["subscribe","subscribe"],["history","read stored messages"],["presence","see who is present"],["publish","publi\
sh"],["connect","connect"]],Yi=[["","not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Ar({
token:n,onClose:e}){let{api:t}=M(),o=oe(),[r,i]=g(n),[a,l]=g(),[c,u]=g({token_id:n?.token_id??"",action:"subscribe",tenant:n?.
right.tenant_grants?.[0]?.tenant_ids?.[0]??"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=h=>m=>u(w=>({...w,[h]:m.
trim()})),f=c.action==="connect";return s(we,{title:"Explain",wide:!0,onClose:e,children:[s("p",{class:"quiet",children:"\
Asks the edge whether a token allows something, and by which of its rules."}),s(pe,{action:o,submit:"Explain",onSubmit:async()=>{
let{token_id:h}=c;if(!/^[0-9a-f]{32}$/.test(h))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secr\
et does not belong here");l(void 0);let m=Object.entries(c).filter(([,b])=>b!==""),w=Object.fromEntries(m.filter(([b])=>!f||
b!=="tenant"&&b!=="channel")),v=await t.call("POST","explain",{body:w});if(r?.token_id!==h){let b=await t.get(`tokens${B(
{id:h,limit:1})}`);i(b.tokens?.find(k=>k.token_id===h))}l(v)},extra:s("button",{type:"button",onClick:e,children:"Close"}),
children:[s(x,{label:"Token id",value:c.token_id,onInput:h=>d("token_id")(Ge(h.trim())),mono:!0,autoFocus:!n}),s("div",{
class:"row",children:[s(z,{label:"Action",value:c.action,onInput:d("action"),options:Vi}),!f&&s(x,{label:"Tenant",value:c.
tenant,onInput:d("tenant"),mono:!0,autoFocus:n!==void 0}),!f&&s(x,{label:c.action==="publish"?"Channel":"Pattern",value:c.
channel,onInput:d("channel"),mono:!0})]}),s("div",{class:"row",children:[s(x,{label:"Address",value:c.ip,onInput:d("ip"),
mono:!0,hint:"Of the client, if it matters."}),s(x,{label:"Origin",value:c.origin,onInput:d("origin"),mono:!0,hint:"Of i\
ts page."}),s(z,{label:"Transport",value:c.protocol,onInput:d("protocol"),options:Yi}),s(x,{label:"Region",value:c.region,
onInput:d("region"),mono:!0,hint:"Of the edge."})]}),s("div",{role:"status",class:"answer",children:a&&s(Zi,{answer:a,token:r})})]})]})}
function Zi({answer:n,token:e}){let t=Er(n.rule);return s(E,{children:[s("p",{children:[s(N,{mood:n.allowed?"good":"bad",
children:n.allowed?"allowed":"not allowed"})," ",s("bdi",{children:n.reason}),"."]}),n.rule&&s("p",{children:["Rule: ",s(
P,{text:n.rule,most:600})]}),e&&s(Vn,{right:e.right,mark:t})]})}var ea={s:1e3,m:6e4,h:36e5,d:864e5},ta=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
Mr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function Yn(n,e){let t=n.trim();
if(t==="")return{error:Mr};let o=na(t),r=o===void 0?oa(t):e+o;return r===void 0?{error:Mr}:r<=e?{error:"This is over alr\
eady. The end must be in the future."}:r>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
r/1e3)*1e3)}}function na(n){let e=n,t=0;for(;e!=="";){let o=ta.exec(e),r=ea[o?.[2]?.toLowerCase()??""];if(!o||r===void 0)
return;t+=Number(o[1])*r,e=e.slice(o[0].length)}return t}function oa(n){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(n))return;let e=Date.parse(n.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function me({title:n,submit:e,danger:t,disabled:o,onClose:r,onConfirm:i,children:a}){let l=oe();return s(we,{title:n,onClose:r,
children:s(pe,{action:l,submit:e,danger:t,disabled:o,onSubmit:i,onCancel:r,children:a})})}var $r=50,ra=20;async function sa(n,e,t,o,r){let i={tokens:[],next:t,asked:0};do{let a={limit:$r-i.tokens.length,cursor:i.
next},l=await n.get(`tokens${B({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},r(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<$r);return i}async function Or(n,e,t){
let o=0,r="";for(let i=0;i<ra;i++){let a=B({subject:e,status:"valid",limit:1e3,cursor:r}),l=await n.get(`tokens${a}`,{signal:t});
if(o+=l.tokens?.length??0,r=l.next_cursor??"",r==="")return{count:o,all:!0}}return{count:o,all:!1}}function Ir(n,e){let[
t,o]=g([""]),[r,i]=g(),[a,l]=g(!1),[c,u]=g(),d=G(void 0),f=JSON.stringify(e),p=G(e);p.current=e;let h=fe(async w=>{d.current?.
abort();let v=new AbortController;d.current=v;let b=()=>d.current===v;l(!0),u(void 0);try{await sa(n,p.current,w,v.signal,
k=>b()&&i(k))}catch(k){b()&&u(K(k))}b()&&l(!1)},[n]);I(()=>(o([""]),i(void 0),h(""),()=>{d.current?.abort(),d.current=void 0}),
[f,h]);let m=w=>{o(w),h(w[w.length-1]??"")};return{found:r,busy:a,error:c,page:t.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...t.slice(0,-1),r?.next??""]),refresh:()=>m(t),next:()=>m([...t,r?.next??""]),previous:()=>m(t.slice(0,-1))}}var Rr=n=>`tokens/${encodeURIComponent(n.token_id)}`;function Zn({label:n,value:e,onInput:t}){let{api:o}=M(),r=o.serverNow(),
i=Yn(e,r);return s(x,{label:n,value:e,onInput:t,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${ve(i.at.getTime())}, ${dt(i.at.getTime(),r)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function eo(n,e){let t=Yn(n,e);if(!t.at)throw new Error(t.error);return t.at.toISOString().replace(/\.\d+Z$/,"Z")}
function Nr({token:n,onClose:e,onDone:t}){let{api:o}=M(),[r,i]=g("1h");return s(me,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:eo(r,o.serverNow())},{new_expires_at:c}=await o.call("PUT",Rr(n),
{body:l});t(`The token ${n.token_id.slice(0,12)}… now ends ${ve(c)}.`)},children:[s("p",{children:["The token ",s(P,{text:n.
token_id})," of ",s(C,{text:n.created_by,most:40})," ends"," ",s(j,{at:n.expires_at}),". Its open connections go on unti\
l the new end."]}),s(Zn,{label:"New end",value:r,onInput:i})]})}function Dr({token:n,onClose:e,onDone:t}){let{api:o}=M(),
[r,i]=g("The connections that end are being counted…");return I(()=>{let l=new AbortController;return ia(n.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${K(c)}`)),
()=>l.abort()},[o,n.token_id]),s(me,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",Rr(n),{body:{}}),t(`The token ${n.token_id.slice(0,12)}… was revoked.`)},children:[s("p",{children:[
"The token ",s(P,{text:n.token_id})," of ",s(C,{text:n.created_by,most:40})," stops working at once, for good."]}),s("p",
{role:"status",children:r})]})}function Fr({subject:n,onClose:e,onDone:t}){let{api:o}=M(),[r,i]=g("Its tokens are being \
counted…");return I(()=>{let l=new AbortController;return Or(o,n,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${O(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${K(c)}`)),()=>l.abort()},[o,n]),s(me,{title:"Revoke all tokens of this subject",submit:"Re\
voke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(n)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});t(`${O(c,"token")} revoked.`)},children:[s("p",{children:["All tokens of ",s(C,{text:n,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),s("p",{role:"status",children:r})]})}function ia(n){
return async(e,t)=>{let r=(await e.get(`connections${B({token_id:n,limit:1})}`,{signal:t})).edges??[],i=r.reduce((c,u)=>c+
u.matching,0),a=r.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${O(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${je(a.slice(0,10))}, which did not answe\
r.`}}var jr=/^[\w\-~@.]*$/;function ft(n){let e=/[A-Za-z0-9]$/.test(n)?`${n}.`:n;return jr.test(e)&&e.length<=127?e:void 0}var Lr="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function de(n){return n.length>0&&n.length<=128&&jr.
test(n)}function It(n){let e=n.indexOf("/"),t=e<0?n:n.slice(0,e);if(t.includes("%"))return"has a zone, which a mask may not have";
let o=Xr(t),r=o?void 0:aa(t);if(!o&&!r)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(r&&ca(r))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=n.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function Xr(n){let e=n.split(".");return e.length===
4&&e.every(t=>/^(0|[1-9]\d{0,2})$/.test(t)&&Number(t)<=255)}function aa(n){let e=n.split("::");if(e.length>2)return;let[
t,o]=e.map((i,a)=>la(i,a===e.length-1));if(!t||e.length===2&&!o)return;if(!o)return t.length===8?t:void 0;let r=8-t.length-
o.length;return r<1?void 0:[...t,...new Array(r).fill(0),...o]}function la(n,e){if(n==="")return[];let t=[],o=n.split(":");
for(let[r,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))t.push(Number.parseInt(i,16));else if(e&&r===o.length-1&&Xr(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);t.push(a*256+l,c*256+u)}else return;return t}function ca(n){return n.slice(
0,5).every(e=>e===0)&&n[5]===65535}var no=64,oo=512,Ur=256,da=2**40,to=n=>n?String(n):"";function Br(n){return{name:n?.name??"",description:n?.description??
"",prefix:n?.tenant_prefix??"",masks:(n?.allow_ip_masks??[]).join(`
`),maxTokens:to(n?.max_tokens),maxBytes:to(n?.max_bytes),calls:to(n?.calls_per_second)}}function ro(n){return{prefix:ft(
n.prefix)===void 0?Lr:void 0,masks:Nt(ne(n.masks)),maxTokens:Ie(n.maxTokens),maxBytes:Ie(n.maxBytes),calls:Ie(n.calls)}}
function Jr(n){let e=Me(n.name);return e<1||e>no||Me(n.description)>oo?!1:Object.values(ro(n)).every(t=>t===void 0)}function Rt(n){
return{name:n.name,description:n.description,tenant_prefix:ft(n.prefix)??n.prefix,allow_ip_masks:ne(n.masks),max_tokens:Number(
n.maxTokens),max_bytes:Number(n.maxBytes),calls_per_second:Number(n.calls)}}function Hr(n,e){let t=Rt(n),o=Object.entries(
Rt(e)).filter(([r,i])=>JSON.stringify(i)!==JSON.stringify(t[r]));return Object.fromEntries(o)}function Nt(n){if(n.length>
Ur)return`At most ${Ur} masks.`;for(let e of n){let t=It(e);if(t)return`${e} ${t}.`}}function Ie(n,e=da){if(!(n===""||/^\d{1,13}$/.
test(n)&&Number(n)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var ua=256,ha=128,Wr=2**31;function qr({onClose:n,onIssued:e}){let{api:t,session:o}=M(),r=oe(),[i,a]=g({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",presence:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",
egress:"",websocket:!0,webtransport:!0}),l=d=>f=>a(p=>({...p,[d]:f})),c=ne(i.tenants).find(d=>!de(d));return s(we,{title:"\
Issue a trial token",onClose:n,children:[s("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend,\
 which holds a master token."}),s(pe,{action:r,submit:"Issue",onSubmit:async()=>{let d=ne(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||Nt(ne(i.masks))||Ie(i.ingress)||Ie(i.egress))throw new Error("correct the fields t\
hat are marked");let f=m=>m===""?void 0:Number(m),p=i.websocket!==i.webtransport,h={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:ne(i.pub),allow_channels_sub:ne(
i.sub),allow_channels_history:ne(i.history),allow_channels_presence:ne(i.presence)}],allow_ip_masks:ne(i.masks),allowed_ws_origin:ne(
i.origins),allow_regions:ne(i.regions),allow_protocols:p?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:f(
i.ingress),egress_kb_per_sec:f(i.egress),expires_at:eo(i.end,t.serverNow())}};e(await t.call("POST","tokens",{body:h}))},
onCancel:n,children:[s(x,{label:"Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c}\
 is no tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),s("div",{class:"row",children:[
s(x,{label:"May publish to",value:i.pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),s(x,{label:"\
May subscribe to",value:i.sub,onInput:l("sub"),rows:2,mono:!0,hint:"# is every channel."})]}),s("div",{class:"row",children:[
s(x,{label:"May read stored messages of",value:i.history,onInput:l("history"),rows:2,mono:!0,hint:"Of what it may subscr\
ibe to. Nothing: subscriptions begin now."}),s(x,{label:"May see who is present in",value:i.presence,onInput:l("presence"),
rows:2,mono:!0,hint:"To join needs no more than to subscribe, and a subject."})]}),s(Zn,{label:"Valid until",value:i.end,
onInput:l("end")}),s("div",{class:"row",children:[s(x,{label:"Created by",value:i.createdBy,onInput:l("createdBy"),count:{
now:Kn(i.createdBy),most:ua,unit:"bytes"}}),s(x,{label:"Description",value:i.description,onInput:l("description"),count:{
now:Me(i.description),most:512,unit:"characters"}})]}),s(x,{label:"Subject",value:i.subject,onInput:l("subject"),count:{
now:Kn(i.subject),most:ha,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),s("details",{children:[s("summary",
{children:"More limits"}),s(x,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:Nt(ne(i.masks))}),s(
x,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.com"}),s(x,{label:"\
Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),s("fieldset",{children:[s("legend",{children:"\
Transports"}),s(ke,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),s(ke,{label:"WebTransport",checked:i.
webtransport,onChange:l("webtransport")})]}),s("div",{class:"row",children:[s(x,{label:"May send, KB/s",value:i.ingress,
onInput:l("ingress"),error:Ie(i.ingress,Wr)}),s(x,{label:"May receive, KB/s",value:i.egress,onInput:l("egress"),error:Ie(
i.egress,Wr)})]})]})]})]})}var fa=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],pa={valid:"good",expired:"plain",revoked:"\
bad"};function zr({query:n}){let{api:e,notify:t}=M(),o=H(),[r,i]=g(),a={id:n.id??"",tenant:n.tenant??"",subject:n.subject??
"",created_by:n.created_by??"",status:n.status??""},l=Ir(e,a),c=()=>i(void 0),u=d=>{c(),t(d),l.refresh()};return s(E,{children:[
s(Z,{text:"Access tokens",children:[s("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Exp\
lain"}),o&&a.subject!==""&&s("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&s("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),s(ma,{query:a,onSearchAgain:l.refresh}),s(Y,{error:l.error,known:!1}),s(ga,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,f)=>i({what:d,token:f})}),r?.what==="issue"&&s(qr,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),r?.what==="issued"&&s(Mt,{title:"The access token",label:"Access token",secret:r.issued.
token,onClose:c,children:s("p",{children:["Its id is ",s(P,{text:r.issued.token_id}),". It expires ",ve(r.issued.expires_at),
"."]})}),r?.what==="explain"&&s(Ar,{token:r.token,onClose:c}),r?.what==="refresh"&&s(Nr,{token:r.token,onClose:c,onDone:u}),
r?.what==="revoke"&&s(Dr,{token:r.token,onClose:c,onDone:u}),r?.what==="revoke subject"&&s(Fr,{subject:r.subject,onClose:c,
onDone:u})]})}function ma({query:n,onSearchAgain:e}){let[t,o]=g(n),r=JSON.stringify(n);ae(()=>o(n),[r]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return s("search",{children:s("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!ze.test(t.id))return;let l=$("tokens",t);l===$("tokens",n)?e():location.hash=l},children:[s(x,{label:"\
Id",value:t.id,onInput:a=>i("id")(Ge(a.trim())),mono:!0,error:ze.test(t.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),s(x,{label:"Tenant",value:t.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),s(x,{label:"Subject",value:t.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),s(x,{label:"\
Created by",value:t.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),s(z,{label:"State",value:t.
status,onInput:i("status"),options:fa}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"\
Search"}),s("a",{class:"button",href:$("tokens"),children:"Clear"})]})]})})}function ga({search:n,filtered:e,onAction:t}){
let[o,r]=g(),i=H(),{found:a,busy:l}=n,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return s(E,{children:[
s("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&s("span",{children:["Still searching: ",O(c.length,
"token")," found so far."]}),u&&s("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&s("but\
ton",{type:"button",onClick:n.stop,children:"Stop the search"}),u&&s("button",{type:"button",onClick:n.goOn,children:"Se\
arch on"}),l&&!a&&s(W,{what:"the access tokens"}),c.length>0&&s(ce,{label:"Access tokens",columns:ya(o,r),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&s(Pr,{token:d,onAction:f=>t(f,d)})}),!l&&a&&c.length===0&&a.next===""&&s(X,{children:e?
s("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):s("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),s(be,{page:n.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:n.previous,onNext:n.next})]})}
function ya(n,e){return[{label:"Id",cell:({token_id:t})=>s(Ke,{open:n===t,label:`Details of token ${t.slice(0,12)}`,onToggle:()=>e(
n===t?void 0:t),children:s("code",{children:t.slice(0,12)})})},{label:"Subject",cell:({subject:t})=>t?s(C,{text:t,most:40}):
s(E,{children:"–"})},{label:"Created by",cell:({created_by:t})=>s(C,{text:t,most:40})},{label:"Tenants",cell:({right:t})=>s(
so,{names:(t.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:t})=>s(N,{mood:pa[t]??"plai\
n",children:t})},{label:"Made",cell:({created_at:t})=>s(j,{at:t})},{label:"Ends",cell:({expires_at:t})=>s(j,{at:t})}]}function so({
names:n}){let e=[...new Set(n)];return e.length===0?s(E,{children:"–"}):s("span",{class:"list",title:e.length>2?je(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(t=>s(P,{text:t,most:40},t)),e.length>2&&s("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var Ze=n=>`${n.edge}:${n.id}`,Gr=n=>n?A(n):"none";function Kr(n,e,t){return[{label:"Connection",cell:r=>{let i=Ze(r);return s(
Ke,{open:e===i,label:`Details of connection ${r.id} at ${r.edge_name}`,onToggle:()=>t(e===i?void 0:i),children:r.id})}},
...n?[{label:"Edge",cell:r=>s(C,{text:r.edge_name,most:40})}]:[],{label:"Token",cell:r=>s("a",{href:$("tokens",{id:r.token_id}),
"aria-label":`Token ${r.token_id.slice(0,8)}`,children:s("code",{children:r.token_id.slice(0,8)})})},{label:"Subject",cell:({
subject:r})=>r?s(C,{text:r,most:40}):s(E,{children:"–"})},{label:"Tenants",cell:r=>s(so,{names:r.tenants??[]})},{label:"\
Address",cell:r=>s("span",{class:"address",children:r.ip?s(P,{text:r.ip}):"unknown"})},{label:"Transport",cell:r=>s(E,{children:[
Qe(r.transport)," ",r.draining&&s(N,{mood:"warn",children:"draining"})]})},{label:"Since",cell:r=>s(j,{at:r.since})},{label:"\
Subscriptions",number:!0,cell:r=>A(r.subscriptions)},{label:"Queue",number:!0,cell:r=>J(r.queued_bytes)},{label:"Caps, K\
B/s",cell:r=>`in ${Gr(r.ingress_kb_per_sec)}, out ${Gr(r.egress_kb_per_sec)}`},{label:"Dropped",number:!0,cell:r=>A(r.dropped)}]}var ba=5e3,io=200;function Qr({connection:n,onDisconnect:e}){let{api:t}=M(),o=H(),r=`connections/${encodeURIComponent(n.
edge)}/${n.id}`,{data:i,error:a}=ee(Ze(n),ba,async d=>{try{return await t.get(r,d)}catch(f){if(f instanceof q&&f.status===
404&&f.code!=="not_found")return"gone";throw f}}),l=i==="gone"?void 0:i,c=l??n,u=`connection ${c.id} at ${c.edge_name}`;
return s("div",{class:"connection-detail",children:[i==="gone"&&s("p",{role:"status",children:"It is closed now."}),s(Oe,
{text:a}),s(le,{of:[["Token",s(P,{text:c.token_id},"token"),"wide"],c.issuer?["Issuer",s(P,{text:c.issuer},"issuer"),"wi\
de"]:void 0,c.subject?["Subject",s(C,{text:c.subject,most:128},"subject")]:void 0,["Token ends",s(j,{at:c.expires_at},"e\
xpires")],["Waiting in its queue",J(c.queued_bytes)],["Dropped deliveries",A(c.dropped)]]}),s("h2",{children:"Subscripti\
ons"}),!i&&!a&&s(W,{what:"the subscriptions"}),l&&s(wa,{detail:l}),s("div",{class:"buttons",children:[o&&i!=="gone"&&s("\
button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,children:"Disconnect"}),s("a",{class:"button",href:$("co\
nnections",{token_id:c.token_id}),children:"All of its token"}),c.subject&&s("a",{class:"button",href:$("connections",{subject:c.
subject}),children:"All of its subject"}),s("a",{class:"button",href:$("tokens",{id:c.token_id}),children:"Its token"})]})]})}
function wa({detail:n}){let e=n.patterns??[],t=e.length-io+(n.more_patterns??0);return e.length===0?s("p",{children:"It \
is subscribed to nothing."}):s("ul",{class:"chips patterns","aria-label":"Subscriptions",tabIndex:0,children:[e.slice(0,
io).map(({tenant:o,pattern:r})=>s("li",{children:[s(P,{text:r})," in ",s(P,{text:o})]},`${o} ${r}`)),e.length<io?(n.more_patterns??
0)>0&&s("li",{children:["and ",O(n.more_patterns??0,"more","more")]}):t>0&&s("li",{children:["and ",A(t)," more"]})]})}var va=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Vr({query:n,edges:e,onAgain:t}){let[
o,r]=g(n),i=JSON.stringify(n);ae(()=>r(n),[i]);let a=d=>f=>r(p=>({...p,[d]:f.trim()})),l=o.ip===""?void 0:It(o.ip),c=e.map(
d=>[d.id,$e(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,$e(o.edge,60)]]:[];return s("search",{children:s(
"form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{if(d.preventDefault(),l||!ze.test(o.token_id))return;
let f=$("connections",o);f===$("connections",n)?t():location.hash=f},children:[s(x,{label:"Token id",value:o.token_id,onInput:d=>a(
"token_id")(Ge(d.trim())),mono:!0,error:ze.test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole\
 id."}),s(x,{label:"Subject",value:o.subject,onInput:d=>r(f=>({...f,subject:d})),hint:"The whole subject."}),s(x,{label:"\
Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),s(x,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`I\
t ${l}.`,hint:"One, or a CIDR."}),s(z,{label:"Transport",value:o.transport,onInput:a("transport"),options:va}),s(z,{label:"\
Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"\
submit",class:"primary",children:"Filter"}),s("a",{class:"button",href:$("connections"),children:"Clear"})]})]})})}function Yr({target:n,onClose:e,onDone:t}){let{api:o}=M(),{connection:r,tokenID:i}=n,[a,l]=g(r===void 0);return s(me,{title:r?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!r?{token_id:i}:{edge:r.edge,id:r.id},{disconnected:d,unanswered:f,silent:p}=await o.call("POST","connections/d\
isconnect",{body:u}),h=f??[],m=h.length>0?` Not reached: ${je(h.slice(0,10))}, which did not answer. Try again later.`:"",
w=p?.length?` Silent, and so not asked: ${je(p.slice(0,10))}.`:"";t(`${O(d,"connection")} disconnected.${m}${w}`)},children:[
r&&s("p",{children:["Connection ",r.id," at ",s(C,{text:r.edge_name})," is closed."]}),r&&s(ke,{label:"All connections o\
f its token",checked:a,onChange:l,hint:"At every edge."}),!r&&s("p",{children:["All connections of the token ",s(P,{text:i}),
" are closed, at every edge."]}),s("p",{children:["A client may come back while its token is valid. To keep it away,"," ",
s("a",{href:$("tokens",{id:i}),children:"revoke the token"})," in place of this."]})]})}var _a=100,ka=3e3;function Zr({query:n}){let{api:e,notify:t}=M(),o=H(),[r,i]=g(!1),[a,l]=g([""]),[c,u]=g(),d={token_id:n.
token_id??"",subject:n.subject??"",tenant:n.tenant??"",ip:n.ip??"",transport:n.transport??"",edge:n.edge??""},f=B(d);I(()=>l(
[""]),[f]);let p=`connections${B({...d,limit:_a,cursor:a[a.length-1]})}`,{data:h,stale:m,error:w,refresh:v}=ee(p,ka,y=>e.
get(p,y),r),b=h?.edges??[],k=h?.connections??[];return s(E,{children:[s(Z,{text:"Connections",children:[s("button",{type:"\
button","aria-pressed":r,onClick:()=>i(!r),children:r?"Resume":"Pause"}),o&&d.token_id!==""&&s("button",{type:"button",onClick:()=>u(
{tokenID:d.token_id}),children:"Disconnect all of this token"})]}),s(Vr,{query:d,edges:b,onAgain:v}),s(Y,{error:w,known:h!==
void 0}),s(Ve,{edges:b,missing:["Its connections are not listed.","Their connections are not listed."]}),!h&&!w&&s(W,{what:"\
the connections"}),h&&s(xa,{edges:b,paused:r}),k.length>0&&s(Sa,{rows:k,several:b.length>1,busy:m,onDisconnect:y=>u({connection:y,
tokenID:y.token_id})}),h&&!m&&k.length===0&&a.length===1&&s(X,{children:f===""?s("p",{children:"No client is connected. \
Clients appear here as they connect with an access token."}):s("p",{children:"No connection matches. Ask for less, or cl\
ear the filters."})}),s(be,{page:a.length,more:!m&&(h?.next_cursor??"")!=="",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l(
[...a,h?.next_cursor??""])}),c&&s(Yr,{target:c,onClose:()=>u(void 0),onDone:y=>{u(void 0),t(y),v()}})]})}function xa({edges:n,
paused:e}){let t=n.reduce((r,i)=>r+i.total,0),o=n.reduce((r,i)=>r+i.matching,0);return s("div",{class:"totals",children:[
s("p",{children:[o===t?`${O(t,"connection")}.`:`${A(o)} of ${O(t,"connection")} match.`,e&&s("strong",{children:" Paused\
: the list is as it was."})]}),n.length>1&&s("ul",{class:"chips","aria-label":"By edge",children:n.slice(0,50).map(r=>s(
"li",{children:[s(C,{text:r.name,most:40})," ",r.answered?A(r.matching):"no answer"]},r.id))})]})}function Sa({rows:n,several:e,
busy:t,onDisconnect:o}){let[r,i]=g();return s(ce,{label:"Connections",columns:Kr(e,r,i),rows:n,keyOf:Ze,busy:t,detail:a=>r===
Ze(a)&&s(Qr,{connection:a,onDisconnect:()=>o(a)})})}function es(){let{api:n}=M(),[e,t]=g(),{data:o,error:r,refresh:i}=ee("edges",5e3,l=>n.get("edges",l)),a=o?.edges??[];return s(
E,{children:[s(Z,{text:"Edges"}),s(Y,{error:r,known:o!==void 0}),!o&&!r&&s(W,{what:"the edges"}),s(Ve,{edges:a,missing:[
"What it does is not known.","What they do is not known."]}),o&&a.length===0&&s(X,{children:s("p",{children:"No edge is \
known yet. This one appears within seconds."})}),s("div",{class:"cards",children:a.map(l=>s(Ta,{edge:l,onDrain:()=>t(l)},
l.id))}),a.length===1&&s("p",{class:"quiet",children:"This edge is alone. Edges that share a broker, such as NATS, appea\
r here together."}),e&&s(Ca,{edge:e,onClose:()=>t(void 0),onDone:i})]})}function Ta({edge:n,onDrain:e}){let t=H(),{status:o}=n,
r=n.state==="draining"||o?.draining===!0;return s("article",{class:"card","aria-label":`Edge ${n.name}`,children:[s("div",
{class:"card-head",children:[s("h2",{children:s(C,{text:n.name})}),s(At,{edge:n}),r&&s(N,{mood:"warn",children:"draining"}),
n.state==="silent"&&s(N,{mood:"bad",children:"silent"}),!n.answered&&s(N,{mood:"bad",children:"no answer"}),n.answered&&
!r&&n.state!=="silent"&&s(N,{mood:"good",children:"serving"})]}),s(le,{of:[["Id",s(P,{text:n.id},"id"),"wide"],["Host",n.
host?s(C,{text:n.host}):"none announced"],["Region",n.region?s(C,{text:n.region}):"none"],!n.self&&["Last heard of",s(j,
{at:n.seen_at},"seen")],...o?Ea(o):[]]}),t&&n.answered&&!r&&s("div",{class:"buttons",children:s("button",{type:"button",
"aria-label":`Drain ${n.name}`,onClick:e,children:"Drain"})})]})}function Ea(n){let e=Object.entries(n.connections??{}),
t=e.reduce((r,[,i])=>r+i,0),o=e.map(([r,i])=>`${Qe(r)} ${A(i)}`).join(", ");return[["Connections",`${A(t)}${n.max_connections>
0?` of ${A(n.max_connections)}`:""}${o?` (${o})`:""}`],["Subscriptions",`${A(n.subscriptions)} to ${A(n.patterns)} patte\
rns`],["Waiting in queues",J(n.queued_bytes)],["Memory",J(n.memory_bytes)],["Token store",s(ut,{status:n},"store"),"wide"],
["Broker",s(ht,{status:n},"broker"),"wide"],(n.links??[]).some(r=>r.code)&&["Trouble",s(xr,{status:n},"links"),"wide"],[
"Started",s(j,{at:n.started_at},"started")],["Version",s(C,{text:`${n.version}, Caddy ${n.caddy}, ${n.go}`},"version"),"\
wide"]]}function Ca({edge:n,onClose:e,onDone:t}){let{api:o,notify:r}=M();return s(me,{title:"Drain this edge",submit:"Dr\
ain",danger:!0,onClose:e,onConfirm:async()=>{await o.call("POST",`edges/${encodeURIComponent(n.id)}/drain`,{body:{}}),e(),
r(`${n.name} is draining.`),t()},children:[s("p",{children:[s(C,{text:n.name})," will take no new connections, and ask i\
ts clients to move to another edge. Those that stay are closed when the time of its drain is over."]}),s("p",{children:[
s("strong",{children:"Only a restart of the edge ends a drain."}),n.self&&" It is the edge that serves this page; the co\
nsole goes on while it runs."]})]})}function ts({query:n,names:e,onAgain:t}){let[o,r]=g(n),i=JSON.stringify(n);ae(()=>r(n),[i]);let a=d=>f=>r(p=>({...p,[d]:f.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!de(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return s(
"search",{children:s("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let f=$("histories",o);f===$("histories",n)?t():location.hash=f},children:[s(z,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),s(x,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"\
button",href:$("histories"),children:"Clear"})]})]})})}function ns({target:n,onClose:e,onDone:t}){let{api:o}=M(),{history:r,tenant:i}=n,[a,l]=g(""),[c,u]=g(""),d=i?"tenant":"h\
istory";return s(me,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??r))throw new Error(`what you typed is not the name of the ${d}`);let p=i?{history:r,tenant:i,channel:a||void 0}:
{history:r,all:!0},{removed:h}=await o.call("POST","histories/purge",{body:p}),w=[a&&`channel ${a}`,i&&`tenant ${i}`,`hi\
story ${r}`].filter(v=>v).join(", ");t(`${h===1?"1 message was":`${A(h)} messages were`} removed: ${w}.`)},children:[s("\
p",{children:[i?s(E,{children:["All messages that the history ",s(C,{text:r})," keeps of ",s(P,{text:i})," are deleted f\
or good."]}):s(E,{children:["All messages that the history ",s(C,{text:r})," keeps are deleted for good, of all tenants."]}),
" ","Clients that come back from before are told of a gap."]}),i&&s(x,{label:"Only this channel",value:a,onInput:p=>l(p.
trim()),mono:!0,hint:"Its whole name. Empty: all channels."}),s(x,{label:"Type the name to confirm",value:c,onInput:u,hint:`\
The name of the ${d}.`})]})}var Pa=/[^\P{Cc}\t\n\r]/u;function os(n){return{bytes:n.slice(0,16384),size:n.length}}function rs(n){let e=n.endsWith("==")?2:n.endsWith("=")?1:0,
t=atob(n.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(t.slice(0,16384),r=>r.charCodeAt(0)),size:n.length/
4*3-e}}function ss({bytes:n,size:e}){try{let t=new TextDecoder("utf-8",{fatal:!0}).decode(n,{stream:e>n.length});return Pa.
test(t)?"hex":"text"}catch{return"hex"}}function is({bytes:n,size:e},t){let o=e>n.length,r=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(t==="hex")return{text:Oa(n),...r};let i=as(n);if(t==="text")return{
text:i,...r};if(o)return{text:i,note:`${r.note} It is cut, so it is not formatted as JSON.`};let a=Aa(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function Dt({bytes:n,size:e},t,o=160){if(e===
0)return"(empty)";let r=n.subarray(0,o),i=e>r.length?"…":"";return t==="hex"?ls(r.subarray(0,32))+(e>32?" …":""):as(
r).replace(/\s+/g," ")+i}function as(n){return new TextDecoder().decode(n)}function Aa(n){if(!(Ma(n)>64))try{return JSON.
stringify(JSON.parse(n),void 0,2)}catch{return}}function Ma(n){let e=0,t=0,o=!1;for(let r=0;r<n.length;r++){let i=n[r];o?
i==="\\"?r++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?t=Math.max(t,++e):(i==="]"||i==="}")&&e--}return t}var $a=n=>n.
toString(16).padStart(2,"0");function ls(n){return Array.from(n,$a).join(" ")}function Oa(n){let e=[];for(let t=0;t<n.length;t+=
16){let o=n.subarray(t,t+16),r=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${t.toString(16).
padStart(4,"0")}  ${ls(o).padEnd(47)}  ${r}`)}return e.join(`
`)}var Ia=500;function ao({messages:n,omitted:e},t){let o=[...n,...t.map(i=>({...i,payload:rs(i.payload)}))],r=Math.max(0,o.
length-Ia);return{messages:o.slice(r),omitted:e+r}}var Ft=n=>n.split(".")[1]??n;function jt({of:n,format:e,label:t}){let{text:o,note:r}=is(n,e);return s("div",{class:"whole",children:[r&&s("p",{class:"\
quiet",children:r}),s("pre",{tabIndex:0,role:"region","aria-label":t,dir:"auto",children:o})]})}var Ra=50,Na=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function cs({names:n,target:e,
purges:t}){let{api:o}=M(),[r,i]=g(n[0]??""),[a,l]=g(""),[c,u]=g("#"),[d,f]=g("auto"),[p,h]=g(),m=oe(),w=G(null),v=async(T,D)=>o.
call("POST","histories/read",{body:{...T,after:D,limit:Ra}}),b=T=>m.run(async()=>{if(!de(T.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(T.pattern==="")throw new Error("name a pattern; # is every ch\
annel");h(void 0);let D=await v(T,"");h({...ao({messages:[],omitted:0},D.messages??[]),query:T,next:D.next})}),k=T=>m.run(
async()=>{let D=await v(T.query,T.next);h({...ao(T,D.messages??[]),query:T.query,next:D.next})});I(()=>{e&&(i(e.history),
l(e.tenant),w.current?.focus(),b({...e,pattern:c}))},[e]),I(()=>{p&&w.current?.scrollIntoView()},[p?.query]),I(()=>h(void 0),
[t]);let y=n.includes(r)?r:n[0]??"";return s("section",{"aria-labelledby":"kept-messages",children:[s("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:w,children:"Messages"}),s("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),s("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:T=>{T.preventDefault(),b(
{history:y,tenant:a,pattern:c})},children:[s(z,{label:"History",value:y,onInput:i,options:n.map(T=>[T,T])}),s(x,{label:"\
Tenant",value:a,onInput:T=>l(T.trim()),mono:!0}),s(x,{label:"Pattern",value:c,onInput:T=>u(T.trim()),mono:!0,hint:"news.\
# for example"}),s(z,{label:"Payload as",value:d,onInput:T=>f(T),options:Na}),s("div",{class:"buttons",children:s("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),s(Oe,{text:m.error}),m.busy&&!p&&s(W,{what:"\
the messages"}),p&&s(Da,{found:p,format:d,busy:m.busy,onMore:()=>{k(p)}})]})}function Da({found:n,format:e,busy:t,onMore:o}){
let[r,i]=g(),{query:a,messages:l,omitted:c,next:u}=n,d=({payload:f})=>e==="auto"?ss(f):e;return s(E,{children:[s("p",{role:"\
status","aria-label":"What was read",children:[O(c+l.length,"message")," of ",s(P,{text:a.pattern})," in ",s(P,{text:a.tenant}),
", history ",s(C,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${A(c)} are not shown an\
y more.`]}),l.length===0&&u===""?s(X,{children:s("p",{children:"No message of this pattern is kept."})}):s(ce,{label:"Me\
ssages that are kept",columns:Fa(d,r,i),rows:l,keyOf:({position:f})=>f,busy:t,detail:f=>r===f.position&&s(ja,{message:f,
format:d(f)})}),u!==""&&s("button",{type:"button","aria-disabled":t,onClick:o,children:"More messages"})]})}function Fa(n,e,t){
return[{label:"Number",cell:({position:o,channel:r})=>s(Ke,{open:e===o,label:`Message ${Ft(o)} to ${r}`,onToggle:()=>t(e===
o?void 0:o),children:Ft(o)})},{label:"Stored",cell:({time:o})=>s("time",{dateTime:o,children:ve(o)})},{label:"Channel",cell:({
channel:o})=>s(P,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>J(o.size)},{label:"Payload",cell:o=>s("\
bdi",{class:"preview",children:Dt(o.payload,n(o))})}]}function ja({message:n,format:e}){let{position:t,time:o,payload:r}=n;
return s("div",{class:"message-detail",children:[s(le,{of:[["Position",s(P,{text:t},"position"),"wide"],["Stored",s("tim\
e",{dateTime:o,children:o})],["Size",`${A(r.size)} bytes`]]}),s(jt,{of:r,format:e,label:`Payload of message ${Ft(t)}`})]})}var La=50,Xa=8,Ua=1e4;function ds({query:n}){let{api:e,session:t,notify:o}=M(),r=H(),i=r&&t.tail===!0,[a,l]=g([""]),[c,u]=g(),
[d,f]=g(),[p,h]=g(0),m={history:n.history??"",tenant:n.tenant??""},w=B(m);I(()=>l([""]),[w]);let v=`histories${B({...m,limit:La,
cursor:a[a.length-1]})}`,{data:b,stale:k,error:y,refresh:T}=ee(v,Ua,async ie=>{try{return await e.get(v,ie)}catch(V){if(V instanceof
q&&V.code==="no_histories")return"none";throw V}}),D=b==="none"?void 0:b,te=D?.totals??[],Ee=te.reduce((ie,V)=>ie+V.tenants,
0),he=D?.histories??[];return s(E,{children:[s(Z,{text:"Histories"}),s("p",{class:"quiet",children:"What this edge keeps\
 of messages, so that clients that come back get what they have missed."}),s(Y,{error:y,known:b!==void 0}),!b&&!y&&s(W,{
what:"the histories"}),(b==="none"||D&&te.length===0)&&s(Ba,{}),D&&te.length>0&&s(E,{children:[s(Ja,{totals:te,onPurge:ie=>f(
{history:ie})}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(w!==""||
Ee>Xa)&&s(ts,{query:m,names:te.map(({history:ie})=>ie),onAgain:T}),he.length>0&&s(ce,{label:"What is kept",columns:Wa(r?
{read:i?u:void 0,purge:f}:void 0),rows:he,keyOf:Ha,busy:k}),!k&&he.length===0&&a.length===1&&s(X,{children:w===""?s("p",
{children:"Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):s("p",{children:"\
Nothing that is kept matches. Ask for less, or clear the filters."})}),s(be,{page:a.length,more:!k&&(D.next_cursor??"")!==
"",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l([...a,D.next_cursor??""])})]}),i&&s(cs,{names:te.map(({history:ie})=>ie),
target:c,purges:p}),r&&!i&&s("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",s("cod\
e",{children:"tail off"}),"."]})]}),d&&s(ns,{target:d,onClose:()=>f(void 0),onDone:ie=>{f(void 0),h(V=>V+1),o(ie),T()}})]})}
function Ba(){return s(X,{children:[s("p",{children:"No history is configured at this edge: a message is delivered at mo\
st once, and forgotten."}),s("p",{children:["A history keeps the messages of some channels: ",s("code",{children:"histor\
y <name> { channels … }"})," in the block ",s("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says wha\
t it promises."]})]})}function Ja({totals:n,onPurge:e}){let t=H();return s("div",{class:"cards",children:n.map(o=>s("art\
icle",{class:"card","aria-label":`History ${o.history}`,children:[s("div",{class:"card-head",children:[s("h2",{children:s(
C,{text:o.history})}),!o.configured&&s(N,{mood:"warn",children:"not configured any more"})]}),s(le,{of:[["Tenants",A(o.tenants)],
["Channels",A(o.channels)],["Messages",A(o.messages)],["Size",J(o.bytes)],["Oldest message",s(j,{at:o.oldest},"oldest")]]}),
t&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`Purge the history ${o.history}`,onClick:()=>e(
o.history),children:"Purge"})})]},o.history))})}var Ha=({history:n,tenant:e})=>`${n}:${e}`;function Wa(n){let e=[{label:"\
Tenant",cell:({tenant:r})=>s(P,{text:r})},{label:"History",cell:({history:r})=>s(C,{text:r})},{label:"Channels",number:!0,
cell:({channels:r})=>A(r)},{label:"Messages",number:!0,cell:({messages:r})=>A(r)},{label:"Size",number:!0,cell:({bytes:r})=>J(
r)},{label:"Oldest message",cell:({oldest:r})=>s(j,{at:r})}];if(!n)return e;let{read:t,purge:o}=n;return e.push({label:"\
Actions",cell:({history:r,tenant:i})=>s("div",{class:"buttons",children:[t&&s("button",{type:"button","aria-label":`Read\
 ${i} in ${r}`,onClick:()=>t({history:r,tenant:i}),children:"Read"}),s("button",{type:"button","aria-label":`Purge ${i} \
in ${r}`,onClick:()=>o({history:r,tenant:i}),children:"Purge"})]})}),e}var us=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function hs({
messages:n,format:e}){let[t,o]=g();return s("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:n.map(r=>s(
qa,{message:r,format:e,open:t===r.number,onToggle:()=>o(t===r.number?void 0:r.number)},r.number))})}function qa({message:n,
format:e,open:t,onToggle:o}){let{channel:r,payload:i,at:a,late:l,number:c}=n;return s("li",{children:[s("button",{type:"\
button",class:"expand","aria-expanded":t,"aria-label":`${us.format(a)}, message ${c} to ${r}`,onClick:o,children:s("time",
{dateTime:new Date(a).toISOString(),children:us.format(a)})}),s("span",{children:[s(P,{text:r,most:120})," ",l&&s(N,{mood:"\
warn",children:"late"})]}),s("span",{class:"quiet",children:J(i.size)}),t?s(jt,{of:i,format:e,label:`Payload of message ${c}`}):
s("bdi",{class:"preview",children:Dt(i,e)})]})}var za=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function fs({tail:n}){let e=oe(),[t,o]=g(""),[r,i]=g(""),[a,l]=g("broadcast"),[c,u]=g(0);return s("section",{
class:"card","aria-labelledby":"test-publish",children:[s("h2",{id:"test-publish",children:"Test publish"}),s(pe,{action:e,
submit:"Publish",onSubmit:async()=>{if(t==="")throw new Error("name the channel");await n.publish(t,r,a),u(f=>f+1)},children:[
s("div",{class:"row",children:[s(x,{label:"Channel",value:t,onInput:f=>o(f.trim()),mono:!0}),s(z,{label:"To",value:a,onInput:f=>l(
f),options:za})]}),s(x,{label:"Payload",value:r,onInput:i,rows:2,mono:!0}),s("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var _=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(e,t="\
the edge says so",o={}){let r=["tenant","channel","pattern"].map(a=>o[a]===void 0?"":` (${a} ${JSON.stringify(o[a])})`),
i=e==="unreachable"?ps(o.cause):"";super(`${e}${r.join("")}: ${t}${i&&`: ${i}`}`,"cause"in o?{cause:o.cause}:void 0),this.
code=e,this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,
this.retryAfter=o.retryAfter}};function ps(n){let{message:e,code:t,cause:o}=n??{};return`${(o?ps(o):"")||e||t||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function ms(n,e){let t=n===401?"unauthorized":/^(429|50[234])$/.test(`${n}`)?"u\
navailable":"unreachable",o=`HTTP status ${n}, and the answer is no edge's: is the address right?`;return new _(t,o,{status:n,
retryAfter:e})}function ue(n,e,t){return n instanceof _?n:new _(e,t,{cause:n})}function Q(n){return new _("disconnected","there is no c\
onnection to an edge",n===void 0?{}:{cause:n})}function Lt(n,e){let t=URL.canParse(n)?new URL(n):void 0;if(!t||!/^https?:$/.test(t.protocol)||t.username||t.password||t.
search||t.hash)throw new _("bad_option","an address is a URL with https:// and without user, query and fragment");if(t.protocol===
"http:"&&!e&&!Ga(t.hostname))throw new _("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return t}function Ga(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(n)}var S=()=>performance.now();function re(n,e,t=new Set){return new Promise((o,r)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),t.delete(l)},a=()=>{i(),r(e.reason)},l=()=>{i(),o()},c=setTimeout(l,n);t.add(l),e.addEventListener("abort",a),
e.aborted&&a()})}async function Le(n,...e){let t,o=new Promise(r=>{t=setTimeout(r,n)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(t)}async function Xe(n,e,t){n.throwIfAborted();let o=new AbortController,r=()=>o.abort(n.reason),i=setTimeout(
()=>o.abort(new _("timeout","the edge does not answer")),e);n.addEventListener("abort",r);try{return await t(o.signal)}finally{
clearTimeout(i),n.removeEventListener("abort",r),o.abort()}}function _e(n,e){return new Promise((t,o)=>{let r=()=>o(e.reason);
e.aborted&&r(),e.addEventListener("abort",r),n.then(t,o).finally(()=>e.removeEventListener("abort",r))})}function se(n,e){
return n<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*2**Math.min(n-2,30))}var Ka=1e5,Qa=new Set(["unconfirmed","history_unavailable","try_later"]),lo=0;async function gs(n,e,t,o){lo=lo+1>>>0;let r=lo,
i=e(r),a=!1,l=new AbortController,c=setTimeout(()=>l.abort(Q()),Ka),u;try{for(let d=2;;d++){u=await Va(n,t,l.signal,o);try{
return await _e(u.confirm(i,r),l.signal)}catch(f){let{code:p}=f,h=p==="disconnected";if(a||=h||p==="unconfirmed",l.signal.
throwIfAborted(),!(a&&t&&(h||Qa.has(p))))throw new _(p,void 0,o);h||await re(se(d,n.settings),l.signal)}}}catch(d){throw a?
new _("outcome_unknown","no edge has said whether the message is stored",{...o,cause:d}):d}finally{clearTimeout(c),u?.forgetConfirm(
r)}}async function Va(n,e,t,o){for(;;){if(n.over)throw n.over;if(n.gate){await _e(new Promise(i=>n.gate?.push(i)),t);continue}
let r=n.publishOn??n.current;if(r?.alive)if(r.features===void 0)await _e(r.featured,t);else{if(r.features.includes("hist\
ory"))return r;throw new _("no_history","the edge has no histories, and confirms nothing",o)}else{if(!e)throw Q();await _e(
n.changed(),t)}}}var Ya=new TextEncoder,Za=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),co=1024,el=["PING","PONG","RECONNECT","OK:AUT\
H"],tl=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,nl=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,Ue=n=>Ya.
encode(n);function Te(n){try{return Za.decode(n)}catch(e){throw new _("protocol","text that is not UTF-8",{cause:e})}}var ol=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function et(n,e){let[t,o,...r]=n.split(":"),i=ol.get(
t);if(i===void 0)return;let a={closeCode:e??i};return t==="forbidden"?new _(`${o}_not_allowed`,r.join(":")||void 0,a):new _(
t,void 0,a)}function uo(n){if(el.includes(n))return{kind:n};if(/^LINK:(up|down)$/.test(n))return{kind:"LINK",up:n==="LIN\
K:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(e&&n.length<=co)return{kind:"FEATURES",features:e};
let t=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),o=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(n);if((t||o)&&
(n.length<=co/3||Ue(n).length<=co)&&!n.endsWith(`
`)){if(t)return{kind:"OK",verb:t[1],tenant:t[2],pattern:t[3]};if(o)return{kind:"ERR",code:o[1],detail:o[2]??""}}let r=rl(
n);if(r)return r;throw new _("protocol","a line that is none")}function rl(n){let[,e,t="",o="",r="",i]=tl.exec(n)??[];if(e&&
Xt(r)&&e==="OK:RSUB"==(i!==void 0))return i?{kind:e,tenant:t,pattern:o,position:r,how:i}:{kind:e,tenant:t,pattern:o,position:r};
let[,a,l]=nl.exec(n)??[];if(!(a===void 0||Number(a)>4294967295||l!==void 0&&!Xt(l)))return l===void 0?{kind:"OK:PUB",id:Number(
a)}:{kind:"OK:PUB",id:Number(a),position:l}}function Xt(n){let[,e,t]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(n)??[];return e!==void 0&&t!==void 0&&ys(e)&&ys(t)}var ys=n=>n.length<20||n<="18446744073709551615";function bs(n){
try{return uo(n)}catch{return}}var fo=["broadcast","one-nearest","one-random"];function po(n,e,t,o,r){let i=typeof t=="string"?Ue(t):t,a=r?7+r.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+n.length+e.length+i.length);return a>0&&(l[0]=r?3:2,l[1]=o??0),r&&(new DataView(l.buffer).
setUint32(2,r.id),l[6]=r.key.length,l.set(r.key,7)),l.set(i,ws(l,ws(l,a,n),e)),l}function ws(n,e,t){n[e++]=t.length>>8,n[e++]=
t.length;for(let o=0;o<t.length;o++)n[e++]=t.charCodeAt(o);return e}var ks=1,xs=2,ho=24,sl=128,il={4:ks|xs,5:7};function mo(n,e,t){
if(e===t||n[e]===1)return!1;let o=il[n[e]];return o===void 0||e+1<t&&(n[e+1]&~o)!==0}var Ut=class{#e=new pt;#t=new pt;#n=new pt;#o={};decode(e,t,o){
let r=w=>{w>o&&xe()},i=w=>(r(w+2),e[w]<<8|e[w+1]);(t===o||e[t]===5||mo(e,t,o))&&xe();let a,l="";if(e[t]===4){let w=i(t)&
255;if(w===0&&xe(),t++,w&ks&&(r(t+1+ho),a=al(e,t+1),t+=ho),w&xs){r(t+2);let v=t+2;t=v+e[t+1]-1,t-v>=sl&&xe(),r(t+1),l=this.#n.
of(e,v,t+1,()=>Te(e.subarray(v,t+1)))}}let c=a!==void 0,u=t+3+i(t+1),d=u+2+i(u),f=d+4;r(f);let p=f+i(d)*65536+i(d+2);(i(
p)===0||c&&i(p)!==1)&&xe();let h=this.#e.of(e,t+1,d,()=>[Te(e.subarray(t+3,u)),Te(e.subarray(u+2,d))]),m=this.#o;return m.
tenant=h[0],m.channel=h[1],m.payload=e.subarray(f,p),m.route=this.#t.of(e,p,o,()=>{let w=[],v=p+2;for(let b=i(p);b>0;b--){
let k=v+2+i(v);r(k),w.push(Te(e.subarray(v+2,k))),v=k}return v!==o&&xe(),{patterns:Object.freeze(w),note:void 0}}),m.position=
a,m.sender=l,m}};function al(n,e){let t=new DataView(n.buffer,n.byteOffset+e,ho);return`${vs(t,0)}${vs(t,4)}.${_s(t,8)}.${_s(
t,16)}`}var vs=(n,e)=>n.getUint32(e).toString(16).padStart(8,"0");function _s(n,e){let t=n.getUint32(e);return t<2097152?
String(t*4294967296+n.getUint32(e+4)):String(n.getBigUint64(e))}function xe(){throw new _("protocol","a frame that is no\
ne")}var ll=256,cl=1024,pt=class{#e=[];of(e,t,o,r){let i=0;for(let u=t;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&
ll-1,l=this.#e[a];if(l&&dl(l.bytes,e,t,o))return l.value;let c=r();return o-t<=cl&&(this.#e[a]={bytes:e.slice(t,o),value:c}),
c}};function dl(n,e,t,o){if(n.length!==o-t)return!1;for(let r=0;r<n.length;r++)if(n[r]!==e[t+r])return!1;return!0}function Be(n,e,t){let o=typeof e=="object"&&e!==null,r=o?Object.keys(e).find(a=>!t.split(" ").includes(a)):"";if(r===void 0)
return;let i=o?`has no ${JSON.stringify(r.slice(0,32))}`:"must be an object";throw new _("bad_option",`${n} ${i}: allowe\
d are ${t.replaceAll(" ",", ")}`)}var ul=["drop-oldest","drop-newest","end"],Ss=["webtransport","websocket"];function F(n){throw new _("bad_option",n)}function Je(n,e,t,o=0){
return e!==void 0&&!(Number.isFinite(e)&&e>=o&&e<2**31)&&F(`${n} must be a number below 2^31${o<0?"":", 0 or more"}`),e||
t}function Ts(n,e,t){return t.includes(e)||F(`${n}: allowed are ${t.join(", ")}`),e}function yo(n,e){return{queue:Math.ceil(
Je("queue",n.queue,e.queue)),queuePolicy:Ts("queuePolicy",n.queuePolicy??e.queuePolicy,ul)}}var hl="token tokenProvider \
transports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlainte\
xt serverCertificateHashes sender signal on";function Es(n){Be("the object of options",n,hl),Be("paths",n.paths??{},"web\
Socket webTransport ping");let{token:e,tokenProvider:t,transports:o=Ss,sender:r=!1}=n;e===void 0==(t===void 0)&&F("one o\
f token and tokenProvider is needed"),t!==void 0&&typeof t!="function"&&F("tokenProvider must be a function"),typeof r!=
"boolean"&&F("sender must be true or false"),o.length===0&&F("transports must not be empty");for(let a of o)Ts("transpor\
ts",a,Ss);let i=Je("minBackOff",n.minBackOff,250);return{token:e===void 0?void 0:bo(e),tokenProvider:t,transports:[...new Set(
o)],fallbackAfter:Je("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:Je("connectTimeout",n.connectTimeout,1e4),keepAlive:Je(
"keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:Je("pongTimeout",n.pongTimeout,1e4),minBackOff:i,maxBackOff:Math.max(i,Je(
"maxBackOff",n.maxBackOff,15e3)),...yo(n,{queue:1024,queuePolicy:"drop-oldest"}),sender:r,paths:{webSocket:go(n.paths?.webSocket??
"/ws"),webTransport:go(n.paths?.webTransport??"/wt"),ping:go(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===
!0,hashes:n.serverCertificateHashes}}function go(n){return/^\/[^?#]*$/.test(n)||F("paths must start with a slash"),n}var fl="\
a token is a string of 1 to 512 letters, digits and .~_+-, and this is none";function bo(n){return(typeof n!="string"||!/^[\w.~+-]{1,512}$/.
test(n))&&F(fl),n}var Cs=1e5;function Ps(n,e){if(n===void 0||n==="now"||n==="last")return n;let{last:t,after:o}=n;return typeof o=="string"&&
t===void 0&&Xt(o)?o:((!Number.isInteger(t)||t<1||t>Cs||o!==void 0)&&F(`history is "now", "last", { last: 1 to ${Cs} } or\
 { after: position }`),/[*>#]/.test(e)&&F("history: { last } is for one channel: the pattern has no wildcard"),`last.${t}`)}
var Bt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){this.from=e}get refusal(){
return this.forbidden?"permission_denied":this.plain?"no_history":void 0}begin(e){this.on=e,this.open=this.forbidden=this.
unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(e,t){return this.on===e&&this.open&&!this.
plain&&!pl(t,this.from)}};function pl(n,e){let[t,o=""]=n.split("."),[r,i]=e.split(".");return t===r&&i!==void 0&&(o.length===
i.length?o<=i:o.length<i.length)}var Jt=class{tenant;channel;ended;verb="JOIN";#e;#t;constructor(e,t,o){this.tenant=e,this.channel=t,this.#e=o,this.ended=
new Promise(r=>{this.#t=r})}async leave(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(e){this.#t(e)}};var Ht="[\\w\\-~@]+",ml=/^[\w\-~@.]{1,128}$/,gl=new RegExp(`^(?=.{1,256}$)${Ht}(\\.${Ht}){0,31}$`),yl=new RegExp(`^(?=.{\
1,256}$)((${Ht}\\*?|\\*)\\.){0,31}(${Ht}[*>#]?|[*>#])$`),bl=n=>ml.test(n),wl=n=>gl.test(n),vl=n=>yl.test(n),_l="~";function mt(n){
return _o("tenant",bl,n===""?_l:n)}function wo(n,e){return _o("channel",wl,n,e)}function vo(n,e){return _o("pattern",vl,
n,e)}function _o(n,e,t,o){if(typeof t!="string"||!e(t)){let r={...o===void 0?{}:{tenant:o},[n]:String(t).slice(0,256)};throw new _(
`bad_${n}`,"not a legal name, see docs/protocol.md, Names",r)}return t}var kl=1024,Wt=class{#e=new Map;#t=[];#n=!1;constructor(e={}){for(let[t,o]of Object.entries(e))o&&this.on(t,o)}on(e,t){if(typeof t!=
"function")throw new _("bad_option",`the handler of ${e} must be a function`);let o=i=>t(i),r=this.#e.get(e)??new Set;return this.#e.
set(e,r.add(o)),()=>{r.delete(o)}}emit(e,t){this.#t.push([e,t])>kl&&this.#t.shift(),this.#n||this.#o()}async#o(){this.#n=
!0,await null;for(let e=this.#t.shift();e;e=this.#t.shift())for(let t of[...this.#e.get(e[0])??[]])try{await t(e[1])}catch(o){
tt(o)}this.#n=!1}};function tt(n){queueMicrotask(()=>{throw n})}var qt=(n,e)=>n===e||typeof n=="object"&&typeof e=="object"&&n.text===e.text,ko=n=>n.includes(":"),zt=class{members=new Map;counts=new Map;get(e){
return ko(e)?this.members.get(e):this.counts.get(e)??0}count({channel:e,members:t}){t>0?this.counts.set(e,t):this.counts.
delete(e)}put(e,t){let{channel:o,subject:r,here:i,since:a,info:l}=t,c=this.members.size;if(i){let d={channel:o,subject:r,
info:xl(l),since:new Date(a)};this.members.set(e,{member:d,text:`${a} ${l}`})}else this.members.delete(e);let u=(this.counts.
get(o)??0)+this.members.size-c;this.count({channel:o,members:u})}};function xl(n){try{return n?JSON.parse(n):void 0}catch{
return}}var Gt=class{#e;#t=new WeakMap;#n=new zt;#o=new Map;#r;#s;constructor(e){this.#e=e}get members(){return this.#r??=
Object.freeze([...this.#n.members.values()].map(({member:e})=>e).sort((e,t)=>As(e.channel,t.channel)||As(e.subject,t.subject))),
this.#r}get counts(){return this.#s??=new Map([...this.#n.counts,...this.#o].filter(([,e])=>e>0)),this.#s}get(e){return this.#o.
get(e)??this.#n.get(e)}begin(e){this.#t.set(e,{roster:void 0,next:void 0})}end(e){this.#t.delete(e)}hasSynced(e){return this.#t.
get(e)?.roster!==void 0}take(e,t,o,r){let i=this.#t.get(e);if(!i)return;let{first:a,synced:l,counts:c,channels:u,members:d}=o;
if(c&&!r){if(e===t)for(let h of u)this.#c(h.channel,!0,()=>this.#i(h));return}a&&(i.next=new zt);let f=i.next??i.roster;
if(!f)return;let p=(h,m)=>{f===this.#n?this.#c(h,!1,m):m()};for(let h of u)p(h.channel,()=>f.count(h));for(let h of d){let{
channel:m,subject:w}=h,v=`${m}:${w}`;p(m,()=>p(v,()=>f.put(v,h))),f===this.#n&&f.get(m)===this.#o.get(m)&&this.#o.delete(
m)}l&&(i.roster=f,i.next=void 0,e===t&&(this.follow(e),this.#a()))}follow(e){let t=this.#t.get(e)?.roster,o=this.#n;if(!(!t||
t===o)){this.#n=t,this.#d();for(let{members:r,counts:i}of[o,t])for(let a of[...r.keys(),...i.keys()])!this.#o.has(a)&&!qt(
o.get(a),t.get(a))&&this.#l(a,o.get(a),!1);this.#a()}}#i({channel:e,members:t}){t===this.#n.get(e)?this.#o.delete(e):this.#o.
set(e,t)}#a(){for(let e of[...this.#o.keys()])this.#c(e,!0,()=>this.#o.delete(e))}#c(e,t,o){let r=this.get(e);o(),this.#d(),
qt(r,this.get(e))||this.#l(e,r,t)}#d(){this.#r=this.#s=void 0}#l(e,t,o){for(let r of this.#e)r.note(e,t,o)}},As=(n,e)=>n<
e?-1:n>e?1:0;var Sl=Object.freeze([]),Kt=class{tenant;pattern;ended;verb="WHO";count;watch;#e;#t;#n=new Map;#o=[];#r=!1;#s=!1;#i=!1;#a=!1;#c;#d;constructor(e,t,o,{
count:r=!1,onChange:i}){this.tenant=e,this.pattern=t,this.count=r,this.#e=o,this.#t=i,this.ended=new Promise(a=>{this.#d=
a})}get members(){return this.count?Sl:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#e.isSynced(this)}async close(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let e=!1;return{next:()=>{let t=e?void 0:this.#l();if(t)return Promise.resolve({done:!1,value:t});if(!e&&
!this.#a)return new Promise((r,i)=>{this.#o.push({resolve:r,reject:i})});let o=e?void 0:this.#c;return e=!0,o?Promise.reject(
o):Promise.resolve({done:e,value:void 0})},return:async()=>(e=!0,await this.close(),{done:e,value:void 0})}}#l(){for(let[
e,t]of this.#n){this.#n.delete(e);let o=this.watch.get(e);if(typeof o=="number")return{type:"counts",channel:e,count:o};
let{member:r}=o??t;return{type:o?t?"changed":"joined":"left",channel:r.channel,member:r}}}note(e,t,o){this.#s=!0,!(!this.#r||
!(ko(e)?!this.count:this.count||o))&&(this.#n.has(e)?qt(this.#n.get(e),this.watch.get(e))&&this.#n.delete(e):this.#n.set(
e,t))}opened(){this.#r=this.#i=!0,this.#s=!1}update(){for(;this.#o.length>0;){let o=this.#l();if(!o)break;this.#o.shift()?.
resolve({done:!1,value:o})}let{synced:e}=this,t=this.#a&&!this.#c;if(this.#r&&!t&&(this.#s||e!==this.#i))try{this.#t?.(this)}catch(o){
tt(o)}this.#s=!1,this.#i=e}end(e){if(!this.#a){this.#a=!0,this.#c=e,e||this.#n.clear(),this.update();for(let t of this.#o.
splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#d(e)}}};var Tl=new TextDecoder("windows-1252");function Re(n){return`${n.tenant}:${n.channel}:${Tl.decode(n.payload)}`}var ge=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){
for(;this.#t[this.#n]?.entry===void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.
flatMap(({entry:e})=>e??[])}put(e,t,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=
0);let r={entry:{key:e,time:t,message:o}};this.#t.push(r);let i=this.#o.get(e);return i?i.push(r):this.#o.set(e,[r]),this.
size++,this.#e+=e.length,this.size>65536||this.#e>16777216?this.drop():void 0}take(e){let t=this.#o.get(e),o=t?.shift();
return!t||!o?!1:(t.length===0&&this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;
return e&&this.take(e.key),e}dropUntil(e){let t=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&
t.push(o.message);return t}};var Ms=1e3,El=1e4,nt=class{#e=new ge;#t=new ge;#n=new ge;#o=Ms;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,El-Ms)}fromCurrent(e,t){let o=Re(e);return this.#i(t),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromNext(e,t,o){if(this.late(e,t))return;if(o)return this.#n.put(Re(e),
t),e;let r=this.#t.put(Re(e),t,{...e});return r&&this.#n.put(r.key,t),r?.message}late(e,t){return this.#i(t),this.#e.size>
0&&this.#e.take(Re(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new ge;
for(let{key:e,time:t}of this.#t.all)this.#e.put(e,t)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new ge;for(let{
key:t}of this.given)this.#e.put(t,e);this.#n=new ge}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var Qt=250,Vt=2e3;async function gt(n,e,t,o,r){for(;n.merger&&!n.merger.done(S());)await re(50,o);n.merger=new nt,n.both=
!0;let i=r!==void 0;n.tentative=i;let{place:a}=n,l=!1,c=()=>{l||n.events.emit("moving",{...a,reason:t}),l=!0};i||c();let u=0;
for await(let d of n.searcher.order(e.edge,t!=="drain",o)){let f=r;if(r=void 0,!f){await n.pause(Math.max(se(++u,n.settings),
n.searcher.wait(d)),o);try{f=await n.searcher.open(d,o)}catch(p){if(o.throwIfAborted(),!(p instanceof _)||n.searcher.hopeless(
d,p,!0))throw p;continue}}if(o.aborted)return void f.close();if(f.alive){n.next=f,n.merger.joined(S()),n.merger.release();
let p=n.restore(f);n.tentative&&f.ping().catch(()=>{}),await p}if(n.tentative){if(o.throwIfAborted(),n.next!==f)return n.
keepCurrent();n.tentative=!1}if(f.alive){if(await Cl(n,e,f,c,o),o.throwIfAborted(),n.current!==f){if(i)return n.keepCurrent();
continue}f.alive&&(c(),n.since=S(),n.events.emit("moved",{...n.place,reason:t}));return}}}async function Cl(n,e,t,o,r){let i=()=>n.
next===t&&n.current===e;if(!i())return;n.gate??=[];let a=Le(Vt,e.ping()).then(()=>{i()&&n.openGate(t)}),l=3;do await re(
Qt,r);while(--l&&n.merger?.behind);await Le(Vt,Promise.all([...n.subscriber.asking,...n.presences.asking]));for(let u=Vt;u>
0&&i()&&!n.presences.hasSynced(t);u-=Qt)await re(Qt,r);for(;i()&&t.postponed.size>0;)await re(Qt,r);if(!i())return;o(),n.
leaving=!0;let c=[...e.asked].map(u=>e.leave(u));await Le(Vt,e.ended,Promise.allSettled([...c,e.ping(),e.confirmedAll()])),
await a,i()&&n.promote(),n.leaving=!1}var Pl=1e4;async function $s(n,e,t,o){let{lastByte:r}=e;n.reconnecting=!0,n.current=void 0,n.merger=void 0,n.both=n.leaving=
n.tentative=n.gaps=!1,n.openGate(void 0);for(let i of n.subscriber.interests.all)i.confirmed=!1;n.presences.follow(),n.events.
emit("disconnected",{...n.place,error:t}),t.code==="token_expired"&&e.token===n.tokens.token&&n.tokens.expire(),S()-n.since>
Pl&&(n.attempts=0);for await(let i of n.searcher.order(e.edge,!1,o)){let a=++n.attempts,l=Math.max(se(a,n.settings),n.searcher.
wait(i));n.events.emit("reconnecting",{attempt:a,delay:l}),await n.pause(l,o);try{let c=await n.searcher.open(i,o);if(o.
aborted)return void c.close();if(n.setCurrent(c),await n.restore(c),o.throwIfAborted(),!c.alive)continue;n.reconnecting=
!1,n.since=S();let u=!n.gaps&&n.subscriber.interests.all.every(d=>d.history);return n.events.emit("reconnected",{...n.place,
away:S()-r,complete:u})}catch(c){if(o.throwIfAborted(),!(c instanceof _)||n.searcher.hopeless(i,c,!1))throw c}}}var Al=4096,Yt=class{#e=new Map;#t=[];#n=0;#o;add(e,t){return this.note(t),new Promise((o,r)=>{this.#e.set(e,{resolve:o,
reject:r,size:t})})}note(e,t){e<=Al||e<this.#n||(this.#o=e>this.#n?t:this.#o??t,this.#n=e)}tooLarge(){for(let[e,{size:t}]of this.#e)
t===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,t=()=>{}){let o=this.#e.get(e);if(o&&t(o),
this.#e.delete(e),this.#e.size===0)for(let r of this.#t.splice(0))r()}error(e,t){let o=/^PUB:(\d+)$/.exec(t)?.[1];return o===
void 0?!1:(this.settle(Number(o),r=>r.reject(new _(e))),!0)}get owed(){return this.#e.size>0}idle(){return this.#e.size===
0?Promise.resolve():new Promise(e=>{this.#t.push(e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,t=>t.reject(Q()))}};async function Zt(n,e){try{let t=await fetch(n,{cache:"no-store",credentials:"omit",signal:e});return await t.arrayBuffer(),
t.ok}catch{return!1}}async function Os(n,e){try{return await fetch(n,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:e}),!0}catch{return!1}}var en=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let t=e-this.#e;if(t<1)return!1;if(this.#e=
e,t>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),t>this.#o&&(this.#o=t),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#o,this.#r)))}};var Ml=.9765625,$l=1e3,Ol=32,tn=class{#e=0;#t=0;#n=0;#o=0;#r;#s;#i=Ml;publish(e,t){let o=this.#e++===this.#t;return this.#a(
e,t,o),o}request(e,t,o){let r=this.waits(o)===void 0;return this.#a(e,t,r),r}#a(e,t,o){this.#o+=e+Ol,this.#s??=t,o&&(this.#r=
t)}waits(e){return this.#e===this.#t&&e>=(this.#r??e)?void 0:this.#r}mark(){let e={publishes:this.#e,bytes:this.#o,first:this.#s};
return this.#t=this.#e,this.#o=0,this.#r=this.#s=void 0,e}proven({publishes:e,bytes:t,first:o},r){this.#n=Math.max(this.#n,
e),o!==void 0&&(this.#i=Math.min(this.#i,(r-o+$l)/t))}sendTime({bytes:e}){return e*this.#i}told(){this.#n++}take(){let e=this.#e-
this.#n;return this.#n=this.#e,e}};var on=2e3,Is=1e3,nn=new Set,xo,So=0,To=0;function Il(n,e){return n>=Is+on||e-n>=on}function Co(){let n=S()-So,e=Date.now()-
To;So+=n,To+=e,Il(n,e)&&Eo("slept")}function Rs(n){return nn.add(n),xo??=Rl(),()=>{!nn.delete(n)||nn.size>0||(xo?.(),xo=
void 0)}}function Eo(n){for(let e of[...nn])e[n]()}function Rl(){So=S(),To=Date.now();let n=setInterval(Co,Is),e=globalThis,
{document:t,navigator:o}=e,r=()=>Eo("slept"),i=()=>{t?.visibilityState==="visible"&&r()},a=()=>Eo("networkChanged"),l=o?.
connection,c=l?.type,d=[[e,"online",a],[l,"change",()=>{l?.type!==c&&(c=l?.type,a())}],[e,"pageshow",r],[t,"resume",r],[
t,"visibilitychange",i]];for(let[f,p,h]of d)f?.addEventListener?.(p,h);return()=>{clearInterval(n);for(let[f,p,h]of d)f?.
removeEventListener?.(p,h)}}var rn=1e3,Po=1e3,Fl=3,jl=2**31-1,Ao=50,sn=class{heard=S();#e;#t;#n=new en(this.heard);#o=1+Math.random()/16;#r=-1/0;#s=!1;#i;#a=0;#c=0;#d=0;#l=-1/0;#u=-1/0;#h;#f;#m;#p=!1;constructor(e,t){
this.#e=e,this.#t=t}arrived(e){this.heard=e,this.#h=void 0,this.#f?.abort(),this.#f=void 0,(this.#s?this.#n.skip(e):this.#n.
arrived(e))&&this.arm(),this.#s&&(this.#s=!1,this.#e.woke())}active(e){let t=this.#w;this.#r=e,t||this.arm()}get#w(){return this.
heard-this.#r<1e4}ponged(e){this.#d=0;let t=Math.min(e,2*this.#v);this.#i===void 0?(this.#i=t,this.#a=t/2):(this.#a+=(Math.
abs(this.#i-t)-this.#a)/4,this.#i+=(t-this.#i)/8),this.arm()}awake(e){let t=S();this.#g||(this.#d=0),!(this.#p||this.#d++>=
Fl)&&(this.#c=t,this.#t.keepAlive>0&&!this.#g&&(e||t-this.heard>=rn)&&this.#b(t),this.arm())}stop(){this.#p=!0,this.#f?.
abort(),clearTimeout(this.#m)}get#g(){return this.#e.unanswered??this.#h}get#v(){return Math.max(rn,(this.#i??0)+4*this.#a)}get askAt(){
let{keepAlive:e}=this.#t;if(e<0)return 1/0;let t=this.#w?this.#n.unusual:1/0,o=Math.min(e,t,this.#e.owed?3e3:1/0),r=this.#e.
unreadSince??1/0;return Math.min(this.heard+o*this.#o,r+Math.min(1e3,e))}suspectAt({at:e,sendTime:t}){return Math.max(e,
this.heard,this.#c)+(this.#h?rn:this.#v)+t}lostAt({at:e,sendTime:t}){let{keepAlive:o,pongTimeout:r}=this.#t;if(o<0)return 1/0;
let i=Math.max(this.heard,this.#c);return Math.max(e+r,i+o+r)+t}arm(){clearTimeout(this.#m);let e=this.#g,t=e?Math.min(this.#s?
1/0:this.#y(e),this.lostAt(e),this.#l+Po):this.askAt;if(this.#p||t===1/0)return;let o=S(),r=Math.max(t,o+1);this.#m=setTimeout(
()=>this.#_(r),Math.min(r-o,jl))}#y(e){return Math.max(this.suspectAt(e),this.#u+Po)}#_(e,t=!1){Co();let o=S();if(o-e>=on&&
this.awake(!1),this.#p)return;if(!t&&o-e>Ao){clearTimeout(this.#m),this.#m=setTimeout(()=>this.#_(o+Ao,!0),Ao);return}let r=this.#g;
if(!r)o>=this.askAt&&this.#b(o);else{if(o>=this.lostAt(r))return this.#e.over();!this.#s&&o>=this.#y(r)&&this.#k(o),this.#p||
this.probe()}this.arm()}#k(e){this.#s=this.#e.silent(),this.#s||(this.#u=e)}#b(e){if(this.#e.pingFirst===void 0||this.#e.
unreadSince!==void 0)return this.#e.ask();this.#h={at:e,sendTime:0},this.#l=-1/0,this.probe()}probe(){let e=S();e-this.#l<
Po||(this.#l=e,this.#e.pingFirst!==void 0&&(this.#s||this.#h)?this.#x(this.#e.pingFirst):this.#e.probe())}async#x(e){if(this.#f)
return;let t=new AbortController;this.#f=t;let o=setTimeout(()=>t.abort(),rn),r=await Os(e,t.signal);clearTimeout(o),!(this.#p||
this.#f!==t)&&(this.#f=void 0,r?(this.#h=void 0,this.#e.unanswered?this.#e.probe():this.#e.ask()):this.#h&&(this.#h={at:-1/0,
sendTime:0}),this.arm())}};var Ns=(n,e,t)=>e<t&&n[e]===5;function Ds(n,e,t){let o=new DataView(n.buffer,n.byteOffset,t),r=e+1,i=f=>(r+=f,r>t&&xe(),
r-f),a=()=>o.getUint8(i(1)),l=()=>o.getUint16(i(2)),c=f=>Te(n.subarray(i(f),r)),u=a(),d={first:(u&1)!==0,synced:(u&2)!==
0,counts:(u&4)!==0,tenant:c(l()),pattern:c(l()),members:[],channels:[]};for(let f=l();f>0;f--)if(d.counts)d.channels.push(
{channel:c(l()),members:o.getUint32(i(4))});else{let p=a();p>1&&xe();let h={channel:c(l()),subject:c(a()),here:p===1,since:0,
info:""};h.here&&(h.since=Number(o.getBigUint64(i(8))),h.info=c(l())),d.members.push(h)}return r!==t&&xe(),d}var an=class{#e=new Map;add(e,t){let o=this.#e.get(e);o?o.push(t):this.#e.set(e,[t])}answer(e,t){let o=this.#e.get(e),r=o?.
shift();return r?(o?.length===0&&this.#e.delete(e),t(r),!0):!1}get owed(){for(let e of this.#e.keys())if(!/^(RSUB|AGAIN):/.
test(e))return!0;return!1}reject(e){let t=[...this.#e.values()].flat();this.#e.clear();for(let o of t)o.reject(e)}};var ln=class{edge;transport;token;begun=S();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#e;#t;#n;#o=new Ut;#r=new an;#s=new Yt;#i;#a=[];#c=new Set;#d=new tn;#l=!1;#u=!0;#h=!0;#f;constructor(e,t,o,r,i){
this.edge=e,this.transport=t.transport,this.token=o,this.#e=t,this.#t=r;let a=this;this.#n=new sn({get unanswered(){return a.#a[0]},
get unreadSince(){return a.#d.waits(a.lastByte)},get owed(){return a.#r.owed||a.#s.owed},pingFirst:t.fragile?e+i.paths.ping:
void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>t.probe(),silent:()=>this.#t.silent(this),woke:()=>this.#t.woke(this),
over:()=>this.fail(new _("timeout","the edge does not answer"))},i),this.featured=new Promise(c=>{this.#i=c});let l;this.
ended=new Promise(c=>{l=c}),t.start({bytes:()=>{this.alive&&this.#n.arrived(S())},line:c=>this.#k(()=>this.#v(c)),frame:(c,u,d)=>{
if(!this.alive||(this.#g(),mo(c,u,d)))return;if(Ns(c,u,d))return this.#w(c,u,d);let f;try{f=this.#o.decode(c,u,d)}catch(p){
return this.#b(p)}this.#t.delivered(this,f)},ended:c=>{l(),this.#x(c)}}),this.#l=!0,this.alive&&this.#p(`FEATURES:link${i.
sender?",sender":""}`),this.alive&&this.#n.arm()}get lastByte(){return this.#n.heard}request(e,t,o=""){e==="SUB"&&this.asked.
add(t);let r=`${e}:${t}`,i=this.#m(r);return this.alive&&this.#p(r+o),i}resume(e,t){let o=this.#m(`RSUB:${e}`);return this.
alive&&this.#p(`RSUB:${e}:${t}`),o}leave(e,t="UNSUB"){let o=`${t}:${e}`,i=this.request(t,e).catch(()=>{}).then(()=>{this.
ending.get(o)===i&&this.ending.delete(o)});return this.ending.set(o,i),i}confirm(e,t){if(!this.alive)return Promise.reject(
Q());let o=this.#s.add(t,e.length);return this.#p(e),o}forgetConfirm(e){this.#s.settle(e)}confirmedAll(){return this.#s.
idle()}postpone(e,t){this.postponed.add(e);let o=`AGAIN:${e}`,r=setTimeout(()=>this.#r.answer(o,i=>i.resolve()),t);return this.#m(
o).finally(()=>clearTimeout(r))}#m(e){return new Promise((t,o)=>{this.alive?this.#r.add(e,{resolve:t,reject:o}):o(Q())})}forget(e){
return this.confirmed.delete(e),this.postponed.delete(e),this.#r.answer(`AGAIN:${e}`,t=>t.reject(Q())),this.asked.delete(
e)}ping(){return new Promise((e,t)=>{if(!this.alive)return t(Q());let o=this.#d.mark();this.#a.push({at:S(),sendTime:this.#d.
sendTime(o),mark:o,resolve:e,reject:t}),this.#e.send("PING"),this.#n.probe(),this.#a.length===1&&this.#n.arm()})}publish(e,t){
this.#s.note(e.length,t);let o=this.#d.publish(e.length,S());this.#e.send(e),o&&this.#n.arm();let r=this.#e.sent();return r&&
new Promise(i=>{let a=()=>{this.#c.delete(a),i()};this.#c.add(a),r.then(a,a)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=
e,this.#n.stop(),this.#r.reject(Q()),this.#s.fail();for(let t of this.#a)t.reject(Q());for(let t of this.#c)t()}#p(e){let t=this.#d.
request(e.length,S(),this.lastByte);this.#e.send(e),t&&this.#n.arm()}takeUnread(){return this.#d.take()}close(){return this.
alive&&(this.#S(Q()),this.#e.close()),this.ended}#w(e,t,o){let r;try{r=Ds(e,t,o)}catch(i){return this.#b(i)}this.#t.presence(
this,r)}#g(){let e=S();this.#n.arrived(e),this.#n.active(e)}#v(e){e==="PONG"?this.#n.arrived(S()):this.#g();let t=bs(e);
if(t)if(t.kind==="OK"){let o=`${t.tenant}:${t.pattern}`;if(this.#r.answer(`${t.verb}:${o}`,r=>r.resolve())&&t.verb==="SU\
B"&&(this.confirmed.add(o),this.postponed.delete(o)),t.verb==="UNSUB")for(;this.#r.answer(`RSUB:${o}`,r=>r.reject(Q()));)
;}else if(t.kind==="OK:PUB")this.#s.settle(t.id,o=>o.resolve(t.position));else if(t.kind==="OK:RSUB"||t.kind==="AT"||t.kind===
"GAP")this.#t.reached(this,t),t.kind==="OK:RSUB"&&this.#r.answer(`RSUB:${t.tenant}:${t.pattern}`,o=>o.resolve());else if(t.
kind==="ERR")this.#_(t.code,t.detail,e.slice(4));else if(t.kind==="PING")this.#e.send("PONG");else if(t.kind==="PONG"){let o=this.#a.
shift();if(!o)return;let r=S()-o.at;this.#d.proven(o.mark,S()),o.resolve(r),this.#n.ponged(r),this.#t.roundTrip(r)}else t.
kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#t.draining(this)):t.kind==="FEATURES"?this.#y(t.features.split(",")):
t.kind==="LINK"&&(this.#h=t.up,this.#u||this.#y())}#y(e=this.features??[]){this.#u=!1,this.features=e,this.#i(),this.link=
this.#h,this.#t.linked()}#_(e,t,o){if(this.#u&&e==="bad_request")return this.#y();let r=et(o);if(r&&(this.#f=o),this.#s.
error(e,t))return;let[,i,a,l]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(t)??[];!(a!==void 0&&l!==void 0&&
e!=="broker_unavailable"&&this.#r.answer(t,u=>u.reject(new _(e,void 0,i?{tenant:a,channel:l}:{tenant:a,pattern:l}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.
test(e)&&this.#t.errorLine(this,e,t),(e==="token_revoked"||e==="token_expired")&&this.fail(r)}#k(e){if(this.alive)try{e()}catch(t){
this.#b(t)}}#b(e){this.fail(ue(e,"protocol","the edge broke the protocol"))}fail(e){this.#S(e),this.#e.close(),this.#l&&
this.#t.lost(this,e)}#x({closeCode:e,error:t}){if(!this.alive)return;let o=this.#f===void 0?void 0:et(this.#f,e),r=e===4401?
"token_expired":e===4403?"token_revoked":"disconnected",i=o?.code!=="slow_consumer"||e===4429,a="the connection has ende\
d";if(e===1009){a="a message was too large for the edge";let c=this.#s.tooLarge();c&&(this.#d.told(),this.#t.errorLine(this,
"payload_too_large",`PUB:${c.tenant}:${c.channel}`))}let l=o&&i?o:t??new _(r,a,{closeCode:e});this.#S(l),this.#l&&this.#t.
lost(this,l)}#S(e){this.alive=!1,this.error=e,this.#n.stop();let t=Q(e);this.#i(),this.#r.reject(t),this.#s.fail();for(let o of this.#a)
o.reject(t);this.#a=[]}};var ot=class{#e;#t=[];start(e){let t=this.#t;this.#t=[],this.#e=e;for(let o of t)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(t=>t.line(e))}frame(e,t,o){this.#e?this.#e.frame(e,t,o):this.#t.push(r=>r.frame(e,t,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(t=>t.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var rt=globalThis,cn=rt.process?.versions,Ll=rt.Deno!==void 0||cn?.bun!==void 0||cn?.node!==void 0,Fs=cn?.node!==void 0&&
cn.bun===void 0&&rt.Deno===void 0&&rt.document===void 0,js=!Ll&&(rt.document!==void 0||rt.WorkerGlobalScope!==void 0);var Mo=32<<20,Ls=(n,e,t)=>t>e&&n[e]<32,dn=class{#e;#t=[];#n=0;constructor(e=Mo){this.#e=e}get held(){return this.#n}push(e,t){
let o=0;if(!(this.#n>0&&(o=this.#o(e,t),this.#n>0))){for(;e.length-o>=4;){let r=o+4+this.#i(e,o);if(r>e.length)break;t(e,
o+4,r),o=r}o<e.length&&this.#r(e.slice(o))}}#o(e,t){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let r=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(r,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,t(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),t=0;for(let o of this.#t)e.set(o,t),t+=o.length;return this.#t=[
e],e}#i(e,t){let o=e[t]*16777216+(e[t+1]<<16|e[t+2]<<8|e[t+3]);if(o>this.#e)throw new _("protocol","a message that is to\
o long");return o}};var Xs=1<<20,Xl=1e3;async function Us({edge:n,token:e,signal:t},{paths:o}){let r=n.replace("http","ws")+o.webSocket,{promise:i,
resolve:a,reject:l}=Hl(),c=await Ul("ws");t.throwIfAborted();let u,d=c?new c(r,{headers:{Authorization:`Bearer ${e}`},perMessageDeflate:!1,
maxPayload:Mo}):new WebSocket(r,["llps.v1",`at.${e}`]);c||(d.binaryType="arraybuffer");let f=()=>d.terminate?d.terminate():
d.close(),p=()=>{l(t.reason),f()};t.addEventListener("abort",p);let h=new ot,m=!1,w,v;d.on?.("unexpected-response",(y,T)=>{
u=Bl(T).finally(()=>y.destroy()),u.then(l)});let b;d.on?.("upgrade",y=>{b=y.socket}),d.onerror=({error:y})=>{w=y},d.onopen=
()=>{m=!0,b?.prependListener("data",()=>h.bytes()),t.removeEventListener("abort",p),a({transport:"websocket",fragile:!1,
start:y=>h.start(y),send:y=>m&&d.send(y),sent:()=>m&&d.bufferedAmount>Xs?k():void 0,probe(){},close(){d.close(1e3),v??=setTimeout(
()=>{f(),h.ended({})},Xl)}})},d.onclose=({code:y})=>{clearTimeout(v),m?(m=!1,h.ended({closeCode:y})):u||Jl(n+o.ping,c!==
void 0,t,w).then(l,l),t.removeEventListener("abort",p)},d.onmessage=({data:y})=>{typeof y=="string"?h.line(y):y instanceof
ArrayBuffer?h.frame(new Uint8Array(y),0,y.byteLength):h.frame(new Uint8Array(y.buffer,y.byteOffset,y.length),0,y.length)};
async function k(){for(;m&&d.bufferedAmount>Xs;)await new Promise(y=>setTimeout(y,5))}return i}async function Ul(n){if(Fs)
try{let{WebSocket:e}=await import(n);return e}catch(e){if("WebSocket"in globalThis)return;throw new _("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:e})}}async function Bl(n){let e=n.statusCode,t=Number(n.headers["re\
try-after"]),o={status:e,retryAfter:t>0?t*1e3:void 0},r="";try{let i=new TextDecoder;for await(let c of n)if(r+=i.decode(
c,{stream:!0}),r.length>65536)break;let{code:a,detail:l}=JSON.parse(r);if(a==="unauthorized")return new _(a,"the edge do\
es not accept the token",o);if(typeof a=="string")return new _(a,l,o)}catch{}return ms(e,o.retryAfter)}async function Jl(n,e,t,o){
return!e&&await Zt(n,t)?new _("refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's \
origin"):new _("unreachable","no WebSocket to the edge",{cause:o})}function Hl(){let n,e;return{promise:new Promise((o,r)=>{
n=o,e=r}),resolve:n,reject:e}}var Bs=1e3,Wl=43,ql=2e3,Js=()=>"WebTransport"in globalThis;async function Hs(n,{paths:e,hashes:t}){let{signal:o}=n,r=[],
i,a=()=>{clearTimeout(i),r.forEach(un)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let f=()=>{let p=new WebTransport(
n.edge+e.webTransport,t?{serverCertificateHashes:[...t]}:{});r.push(p),p.closed.catch(()=>{}),p.ready.then(()=>u(p),d)};
f(),i=setTimeout(f,ql)});for(let u of r)u!==l&&un(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:et(
`${d}`)}),()=>({}));return await zl(l,c,n.token)}catch(l){throw a(),o.throwIfAborted(),ue(l,"unreachable","no WebTranspo\
rt to the edge")}finally{clearTimeout(i),o.removeEventListener("abort",a)}}async function zl(n,e,t){let o=await n.createBidirectionalStream(),
r=new ot,i=new $o(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=Gl(n);i.send(`AUTH:${t}`);let d=new dn,f=(m,w,v)=>{
if(Ls(m,w,v))return r.frame(m,w,v);let b=Te(m.subarray(w,v));if(c)return r.line(b);let k=uo(b);k.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:js,start:y=>r.start(y),send:y=>i.send(y),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>un(
n))}}:k.kind==="ERR"&&(l??=et(b.slice(4))??new _(k.code))},p=async()=>{let{value:m,done:w}=await a.read();return m&&(r.bytes(),
d.push(m,f)),!w},h;for(;!c;)if(!await p().catch(w=>{if(w instanceof _)throw w;return!1}))throw l??Kl(await e);return(async()=>{
try{for(;await p(););}catch(v){v instanceof _&&(h=v)}i.close();let m={error:h},w=e.then(v=>m=v);h||await Le(Bs,w),un(n),
r.ended(m)})(),c}function Gl(n){let e,t=!1,o=async()=>{let{writable:r,createWritable:i}=n.datagrams;e??=(r??i?.call(n.datagrams))?.
getWriter(),await e?.write(new Uint8Array(Wl))};return()=>{t||(t=!0,o().catch(()=>{}).finally(()=>{t=!1}))}}function Kl({
closeCode:n,error:e}){let t=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return e??new _(
t,"the connection has ended",{closeCode:n})}function un(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var $o=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let t=typeof e=="string"?Ue(e):e,o=t.length,r=this.#n+
4+o;if(r>this.#t.length){let i=new Uint8Array(Math.max(r,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(t,this.#n+4),this.#n=r,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await Le(Bs,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var Ql=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Oo=n=>Js()&&n.startsWith(
"https:"),hn=class{#e;#t=new Map;#n=new Set;constructor(e){this.#e=e}forget(){this.#n.clear()}prefer(e,t){this.#t.set(e,
t)}async open(e,t,o,r={}){let i=this.#e,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=r,c=a.filter(f=>f===
"websocket"||Oo(e));c.length===0&&F("there is no WebTransport here, or not for http:// addresses");let u=c.filter(f=>!this.#n.
has(f));if(u.length===0)throw new _("protocol_not_allowed");this.#t.get(e)===u[1]&&u.reverse();let d=await Xe(o,i.connectTimeout,
f=>this.#o(u,e,t,l,f));return this.#t.set(e,d.transport),d}#o(e,t,o,r,i){return new Promise((a,l)=>{let c,u=0,d=0,f,p=!1,
h=()=>{p=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let w=e[d++];if(!w||p)return;let v=w==="websocket"?Us:Hs;u++,v({edge:t,
token:o,signal:i},this.#e).then(b=>{if(p)return Vl(b);h(),a(b)},b=>{u--;let k=ue(b,"unreachable","the edge does not answ\
er");if(k.code==="protocol_not_allowed"&&this.#n.add(w),(!f||yt(k)>yt(f))&&(f=k),!Ql.test(k.code)&&(u>0||d<e.length))return m();
h(),l(f)}),d<e.length&&(c=setTimeout(m,r))};i.addEventListener("abort",()=>{h(),l(i.reason)}),m()})}};function Vl(n){n.start(
{bytes(){},line(){},frame(){},ended(){}}),n.close()}function yt({code:n}){return["unreachable","timeout","refused","prot\
ocol_not_allowed"].indexOf(n)>>>0}var Ws=3,Yl=500;async function Io(n,e,t){let o,r=await Promise.all(n.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await Xe(t,e.connectTimeout,l=>Zl(a,l))}catch(l){return o=l,[]}})),i=[...new Set(r.flat())];if(t.throwIfAborted(),
i.length===0)throw o??new _("unreachable","the list has no edge");return i.length>1&&(await Xe(t,e.connectTimeout,a=>ec(
i,e.paths.ping,a)).catch(()=>{}),t.throwIfAborted()),i}async function Zl(n,e){try{let t=await fetch(n,{cache:"no-store",
credentials:"omit",signal:e});if(!t.ok)throw new _("unreachable",`the list of edges: HTTP status ${t.status}`,{status:t.
status});let{edges:o}=await t.json();return o.map(({host:r})=>Lt(`https://${r}`,!1).origin)}catch(t){throw ue(t,"unreach\
able","the list of edges")}}async function ec(n,e,t){let o=new Map,r=async u=>{let d=[];for(;d.length<Ws;){let f=S();if(!await Zt(
u+e,t))return;d.push(S()-f)}d.sort((f,p)=>f-p),o.set(u,d[Ws>>1])},i=n.map(r),l=Promise.any(i.map((u,d)=>u.then(()=>o.get(
n[d])??Promise.reject()))).then(()=>re(Yl,t));await Promise.race([Promise.all(i),l.catch(()=>Promise.all(i))]);let c=u=>o.
get(u)??Number.MAX_VALUE;n.sort((u,d)=>c(u)-c(d))}var qs=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,tc=/^(unauthorized|token_expired|region_not|protocol_not)/,
nc=5,oc=6e4,rc=12e4,fn=class{#e;#t;#n;#o;#r;#s=[];#i=new Map;#a;#c=0;#d=0;#l=new Map;drained=new Set;constructor(e,t,o,r){
this.#e=e,this.#t=t,this.#n=o,this.#o=r,this.#r=new hn(t)}async first(e){await _e(this.#n.get(),e),this.#s=await Io(this.#e,
this.#t,e);let t;for(let o of this.#s)try{return await this.open(o,e)}catch(r){if(!(r instanceof _)||qs.test(r.code)||r.
code==="token_provider")throw r;(!t||yt(r)>yt(t))&&(t=r)}throw t}async*order(e,t,o){for(;;){let r=this.#s.filter(a=>a!==
e),i=t?[e,...r]:r.length<this.#s.length?[...r,e]:r;for(let a of i)i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.
some(a=>a.pathname!=="/"))try{this.#s=await Io(this.#e,this.#t,o)}catch{o.throwIfAborted()}}}wait(e){return Math.max(0,(this.#l.
get(e)??0)-S())}async open(e,t,o){let r=await this.#n.get();try{return await this.#u(e,r,t,o)}catch(i){if(!(i instanceof
_&&/^(unauthorized|token_expired|refused)$/.test(i.code))||!this.#n.provided)throw i;let l=await this.#n.ask();if(l===r)
throw i;return this.#u(e,l,t,o)}}async#u(e,t,o,r){t!==this.#a&&(this.#a=t,this.#i.clear(),this.#r.forget());let i=await this.#r.
open(e,t,o,r).catch(l=>{let{retryAfter:c=0}=l;throw this.#l.set(e,S()+Math.min(c,this.#t.maxBackOff)),l});this.drained.delete(
e),this.#l.delete(e);let a=new ln(e,i,t,this.#o,this.#t);if(a.error)throw a.error;return this.#c=0,this.#i.clear(),a}noteSilent({
edge:e,transport:t,begun:o},r=!1){t!=="webtransport"||!r&&S()-o>=rc||this.#r.prefer(e,r?t:"websocket")}hopeless(e,t,o){let{
code:r}=t;if(r==="unreachable"&&this.drained.delete(e),r!=="refused")this.#c=0;else{if(o||this.drained.has(e))return!1;this.#c++===
0&&(this.#d=S())}return qs.test(r)||this.#c>=nc&&S()-this.#d>=oc?!0:tc.test(r)?(this.#i.set(e,t),this.#s.every(i=>this.#i.
has(i))):!1}};var zs=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,Ks=n=>n.verb==="WHO"&&n.count,Ro=({holders:n,waiting:e})=>n.
length>e.size,pn=class{asking=new Set;#e=new Map;#t;constructor(e){this.#t=e}get#n(){return[this.#t.current,this.#t.next].
filter(e=>e!==void 0)}async add(e){let{current:t,leaving:o,over:r}=this.#t;if(r)throw r;let i=zs(e),a=this.#e.get(i)??sc(
e,i);if(a.counting&&!Ks(e))throw new _("bad_option","the client counts the members of this pattern, and can only do that",
a.about);this.#e.set(i,a),a.holders.push(e),e.verb==="WHO"&&(e.watch=a.watch);let l=new Promise((c,u)=>{a.waiting.set(e,
{resolve:c,reject:u})});this.#l(a);for(let c of this.#n)!a.on.has(c)&&!(o&&c===t)&&this.#s(c,a);return l}async restore(e){
await Promise.all([...this.#e.values()].map(t=>this.#s(e,t)))}hasSynced(e){return[...this.#e.values()].every(({watch:t,on:o})=>!t||
!o.has(e)||t.hasSynced(e))}isSynced(e){let{current:t}=this.#t;return t?.alive===!0&&e.watch.hasSynced(t)}take(e,t){let o=this.#e.
get(`WHO:${t.tenant}:${t.pattern}`);o?.watch?.take(e,this.#t.current,t,o.counting),o&&this.#l(o)}follow(){let{current:e}=this.#t;
for(let t of this.#e.values())e&&t.watch?.follow(e),this.#l(t)}ended(e,t,o){let r=this.#e.get(o);!r||t!=="no_presence"||
(this.#c(e,r),this.#l(r))}async leave(e){let t=this.#e.get(zs(e)),o=t?.holders.indexOf(e)??-1;if(!t||o<0||(t.holders.splice(
o,1),t.holders.length>0))return;let r=this.#r(t);await(this.#t.suspected&&r.length>0?Promise.race(r):Promise.all(r))}leaveAll(){
for(let e of this.#e.values())e.verb==="JOIN"&&this.#o(e)}end(e,t){for(let{key:o,holders:r,waiting:i}of this.#e.values()){
this.#e.delete(o);for(let a of r)a.end(e);for(let{reject:a}of i.values())a(e??t)}}#o({key:e,name:t,undo:o,on:r,watch:i}){
return this.#n.flatMap(a=>{let l=r.get(a);return r.delete(a),i?.end(a),a.forget(e),l===void 0||l==="wanted"?[]:a.leave(t,
o)})}#r(e){return this.#e.delete(e.key),this.#o(e)}#s(e,t){t.on.set(e,"wanted");let o=this.#i(e,t).finally(()=>this.asking.
delete(o));return this.asking.add(o),o}async#i(e,t){let{verb:o,name:r,key:i,about:a,on:l,counting:c}=t,u=()=>this.#e.get(
i)===t,{settings:d,events:f}=this.#t;try{await e.featured,await e.ending.get(`${t.undo}:${r}`);for(let p=2;;p++){if(!e.alive||
!u())return;if(!e.features?.includes("presence"))throw new _("no_presence","the edge has none",a);l.set(e,"sent"),t.watch?.
begin(e);try{await e.request(o,r,c?":count":"");break}catch(h){let{code:m}=h;if(m!=="try_later"||!Ro(t))throw h;p===2&&f.
emit("subscriptionError",{...Gs(t),code:m})}if(!u())return;l.set(e,"wanted"),await e.postpone(i,se(p,d))}if(!u())return;
e.postponed.delete(i),l.set(e,"held"),this.#l(t)}catch(p){let h=ue(p,"internal","a fault of this client");h.code!=="disc\
onnected"&&u()&&this.#a(e,t,h)}}#a(e,t,o){let{holders:r,waiting:i,on:a,key:l}=t,{suspected:c,next:u,current:d}=this.#t,{
code:f}=o;if(f==="no_presence"&&Ro(t)){for(let[p,{reject:h}]of i)r.splice(r.indexOf(p),1),h(o);i.clear(),this.#c(e,t),this.#t.
events.emit("edgeError",{code:f,detail:l})}else c&&e===u&&d&&a.get(d)==="held"?e.fail(o):this.#d(t,o)}#c(e,{on:t,watch:o}){
t.delete(e),o?.end(e)}#d(e,t){this.#r(e),Ro(e)&&this.#t.events.emit("subscriptionError",{...Gs(e),code:t.code});for(let o of e.
holders)o.end(t);for(let{reject:o}of e.waiting.values())o(t)}#l(e){let{holders:t,waiting:o,on:r}=e;for(let i of[...t])(i.
verb==="WHO"?this.isSynced(i):this.#n.some(l=>r.get(l)==="held"))&&o.has(i)?(o.get(i)?.resolve(),o.delete(i),i.verb==="W\
HO"&&i.opened()):i.verb==="WHO"&&i.update()}};function sc(n,e){let{verb:t,tenant:o}=n,r=[];return{verb:t,undo:t==="WHO"?
"UNWHO":"LEAVE",name:e.slice(t.length+1),key:e,about:t==="WHO"?{tenant:o,pattern:n.pattern}:{tenant:o,channel:n.channel},
holders:r,waiting:new Map,on:new WeakMap,watch:t==="WHO"?new Gt(r):void 0,counting:Ks(n)}}var Gs=({about:n})=>({pattern:"",
...n});var ic=new TextDecoder,st=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(e,t,o,r,i,a,l,c=""){
this.tenant=e,this.channel=t,this.payload=o,this.pattern=r,this.patterns=i,this.late=a,this.position=l,this.sender=c}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return ic.decode(this.payload)}json(){
return JSON.parse(this.text())}};var mn=class{#e=new Map;#t=0;get all(){return[...this.#e.values()]}add(e){let{tenant:t,pattern:o}=e,r=`${t}:${o}`,i=this.#e.
get(r),{history:a}=e,l=i??{name:r,tenant:t,pattern:o,subs:[],confirmed:!1,waiting:[],history:a};return l.subs.push(e),this.#e.
set(r,l),this.#t++,{interest:l,isNew:!i}}of(e,t){return this.#e.get(`${e}:${t}`)}has(e){return this.#e.get(e.name)===e}remove(e){
let t=this.#e.get(`${e.tenant}:${e.pattern}`),o=t?.subs.indexOf(e)??-1;if(!(!t||o<0))return t.subs.splice(o,1),t.subs.length===
0&&this.drop(t)?t:void 0}drop(e){return this.#t++,this.#e.get(e.name)===e&&this.#e.delete(e.name)}dispatch(e,t=!1){let{tenant:o,
channel:r,payload:i,route:a,sender:l}=e,c=a.note?.tenant===o&&a.note.version===this.#t?a.note:this.#n(o,a);for(let{pattern:u,
subs:d,history:f}of c.interests){if(f&&!f.plain)continue;let p=new st(o,r,i,u,a.patterns,t,void 0,l);if(d.length===1)d[0].
push(p);else for(let h of[...d])h.push(p)}}#n(e,t){let o=t.patterns.map(r=>this.#e.get(`${e}:${r}`)).filter(r=>r!==void 0);
return t.note={tenant:e,version:this.#t,interests:o},t.note}};var gn=class{interests=new mn;asking=new Set;#e;constructor(e){this.#e=e}async restore(e){let t=this.interests.all;t.some(
r=>r.history)&&await e.featured;let o=e===this.#e.current?t:t.filter(r=>!r.history);await Promise.all(o.map(r=>this.ask(
e,r)))}async resume(e){await Promise.all(this.interests.all.filter(({history:t})=>t).map(t=>this.ask(e,t)))}stored(e,t,o){
let{tenant:r,channel:i,payload:a,route:l,sender:c}=t,{patterns:u}=l,d=u[0],f=this.interests.of(r,d),{history:p}=f??{};if(!f||
!p?.takes(e,o))return;p.from=o,f.subs[0]?.pushStored(new st(r,i,a,d,u,!1,o,c))===!1&&this.interests.has(f)&&(p.pause(),e.
leave(f.name)),this.#o(f)}reached(e,t){let{kind:o,tenant:r,pattern:i,position:a}=t,l=this.interests.of(r,i),{history:c}=l??
{};if(!(!l||!c||c.plain)){if(c.on!==e||!c.open){o==="GAP"&&c.paused&&e===this.#e.current&&this.#t(r,i,a);return}if(o==="\
GAP"||c.takes(e,a)){c.from=a;for(let u of l.subs)u.reach(a)}o==="GAP"?(c.told=!0,this.#t(r,i,a)):o==="OK:RSUB"&&(this.#o(
l),t.how==="gap"&&!c.told?this.#t(r,i,a):c.lossy&&this.#t(r,i,void 0,c.refusal))}}#t(e,t,o,r){this.#e.gaps=!0,this.#e.events.
emit("gap",{tenant:e,pattern:t,before:o,code:r})}wasRead(e){let t=this.interests.of(e.tenant,e.pattern),{current:o}=this.#e;
!t?.history||t.history!==e.history||(t.history.paused=!1,o&&this.ask(o,t))}ask(e,t){let o=this.#n(e,t).finally(()=>this.
asking.delete(o));return this.asking.add(o),o}async#n(e,t){try{t.history?await this.#r(e,t,t.history):(await this.#s(e,t),
this.#o(t))}catch(o){let r=ue(o,"internal","a fault of this client");if(r.code==="disconnected")return;if(t.confirmed&&this.#e.
suspected&&e===this.#e.next)return e.fail(r);this.#i(t,r)}}#o(e){e.confirmed=!0;for(let{resolve:t}of e.waiting.splice(0))
t()}async#r(e,t,o){let{name:r,tenant:i,pattern:a}=t;if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===e)){o.begin(e);for(let l=2;;){
if(await e.featured,await e.ending.get(`UNSUB:${r}`),!e.alive||o.on!==e||!this.interests.has(t))return;let c=!e.features?.
includes("history")||o.unwanted,u=o.forbidden?"now":o.from,d=No(t);o.lossy=c?d||u!=="now":o.forbidden||d&&u==="now",o.plain=
c,o.open=!0,c&&(o.from="now");try{if(!c)return await e.resume(r,u);if(await e.request("SUB",r),!this.interests.has(t))return;
this.#o(t),o.lossy&&this.#t(i,a,void 0,o.refusal);return}catch(f){let p=f;if(p.code==="history_unavailable")return this.#e.
gaps=!0,this.#e.events.emit("edgeError",{code:p.code,detail:`RSUB:${r}`});if(o.open=!1,p.code==="permission_denied"&&!c&&
u!=="now")o.forbidden=!0;else if(p.code==="no_history"&&d)o.unwanted=!0;else if(p.code==="try_later"&&d)l===2&&this.#e.events.
emit("subscriptionError",{tenant:i,pattern:a,code:p.code}),await e.postpone(r,se(l++,this.#e.settings)),e.postponed.delete(
r);else throw p}}}}async#s(e,t){let{name:o,tenant:r,pattern:i}=t;for(let a=2;;a++){try{return await e.request("SUB",o)}catch(l){
let c=l;if(c.code!=="try_later"||!No(t))throw c;a===2&&this.#e.events.emit("subscriptionError",{tenant:r,pattern:i,code:c.
code})}await e.postpone(o,se(a,this.#e.settings))}}#i(e,t){if(!this.interests.drop(e))return;let{tenant:o,pattern:r,subs:i,
waiting:a}=e;for(let l of[this.#e.current,this.#e.next])l?.forget(e.name)&&l.leave(e.name);No(e)&&this.#e.events.emit("s\
ubscriptionError",{tenant:o,pattern:r,code:t.code});for(let l of i)l.end(t);for(let{reject:l}of a.splice(0))l(t)}async subscribe(e){
let{tenant:t,pattern:o}=e,r;for(;;){if(this.#e.over)throw this.#e.over;r=this.interests.of(t,o);let c=d=>d?.ending.get(`\
UNSUB:${t}:${o}`),u=c(this.#e.current)??c(this.#e.next);if(r||!u)break;await u}if(r&&(r.history||e.history)){let c="the \
client has a subscription to this pattern, and one with a history is alone";throw new _("bad_option",c,r)}let{interest:i,
isNew:a}=this.interests.add(e);if(i.confirmed)return;let l=new Promise((c,u)=>{i.waiting.push({resolve:c,reject:u})});return a&&
(this.#e.current&&!this.#e.leaving&&this.ask(this.#e.current,i),this.#e.next&&!i.history&&this.ask(this.#e.next,i)),l}async leave(e){
let t=this.interests.remove(e);if(!t)return;for(let{resolve:l}of t.waiting.splice(0))l();let{name:o,history:r}=t,a=[this.#e.
current,this.#e.next].filter(l=>l?.forget(o)||l&&r?.on===l).map(l=>l.leave(o));await(this.#e.suspected&&a.length>0?Promise.
race(a):Promise.all(a))}queueFull({tenant:e,pattern:t},o){this.#e.events.emit("queueFull",{tenant:e,pattern:t,dropped:o})}end(e,t){
for(let o of this.interests.all){this.interests.drop(o);for(let r of o.subs)r.end(e);for(let{reject:r}of o.waiting.splice(
0))r(e??t)}}};function No({subs:n,waiting:e}){return n.length>e.length}var Do=1e3,yn=class{#e=new ge;#t=new ge;#n=new ge;constructor(e,t,o){for(let{key:r}of e)this.#e.put(r,t);if(o){for(let{key:r,
time:i,message:a}of o.#t.all)this.#t.put(r,i,a);for(let{key:r,time:i}of o.#n.all)this.#n.put(r,i)}}fromCurrent(e,t){let o=Re(
e);return this.#n.dropUntil(t-Do),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromTrail(e,t){let o=Re(e);if(this.#e.
take(o))return;let r=this.#t.put(o,t,{...e});return r&&this.#n.put(r.key,r.time),r?.message}renew(e){for(let t of this.#t.
all)t.time=e}due(e){return this.#t.dropUntil(e-Do)}get nextDue(){let e=this.#t.oldest;return e&&e.time+Do}};var Qs=15e3,ac=6e4,bn=class{#e;late;#t;#n;#o=!0;#r=!1;#s=S();#i;#a;constructor(e,t,o,r,i){this.#e=e,this.late=new yn(t,S(),
i?.late),this.#t=o,this.#n=r,this.#i=setTimeout(()=>this.#c(),Qs),i?.stop(),e.handTo(this),e.alive?this.#l():this.#d()}fromCurrent(e){
return this.late.fromCurrent(e,S())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(S()),this.#l())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#c(){let e=Math.
min(this.#e.lastByte+Qs,this.#s+ac)-S();e>0?this.#i=setTimeout(()=>this.#c(),e):this.#d()}#d(){this.#o&&(this.stop(),this.#l())}#l(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let t of this.late.due(S()))this.#t(t);this.#l()},Math.max(1,e-S()))}delivered(e,t){if(t.position!==void 0)return;
let o=this.late.nextDue===void 0,r=this.late.fromTrail(t,S());r&&this.#t(r),o&&this.#l()}woke(e){for(let o of e.asked)e.
request("UNSUB",o).catch(()=>{});let t=()=>this.#d();e.ping().then(t,t)}lost(){this.#d()}silent(){return!1}reached(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var wn=class{settings;events;subscriber=new gn(this);presences=new pn(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e){this.settings=Es(e),this.
events=new Wt(e.on)}setCurrent(e){this.current=e,this.place={edge:e.edge,transport:e.transport},this.presences.follow(),
this.linked(),this.#o()}#o(){for(let e of this.#n.splice(0))e()}changed(){return new Promise(e=>{this.#n.push(e)})}linked(){
let{link:e,edge:t}=this.current??{};!this.since||!t||e===void 0||e===this.#e||(this.#e=e,this.events.emit(e?"linkUp":"li\
nkDown",{edge:t}))}reached(e,t){this.subscriber.reached(e,t)}presence(e,t){this.presences.take(e,t)}async restore(e){await Promise.
all([this.subscriber.restore(e),this.presences.restore(e)])}delivered(e,t){if(t.position!==void 0)return this.subscriber.
stored(e,t,t.position);if(!this.merger)return this.#r(t);let o=S();if(e===this.next){let r=this.current?.confirmed,i=!t.
route.patterns.some(l=>r?.has(`${t.tenant}:${l}`)),a=this.merger.fromNext(t,o,i);a&&this.#r(a)}else this.both?this.merger.
fromCurrent(t,o)&&this.#r(t):(this.merger.late(t,o)||this.#r(t),this.merger?.done(o)&&(this.merger=void 0))}#r(e){(!this.
trail||this.trail.fromCurrent(e))&&this.subscriber.interests.dispatch(e)}reportUnread(e){let t=e.takeUnread(),{edge:o,transport:r}=e;
t>0&&this.events.emit("publishUnknown",{edge:o,transport:r,count:t})}promote(){let{current:e,next:t}=this;t&&(e&&this.reportUnread(
e),this.setCurrent(t),this.next=void 0,this.merger?.left(S()),this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),
e?.close(),this.subscriber.resume(t))}takeOver(e,t){this.trail?.hold(!1);let o=new bn(e,this.merger?.given??[],i=>this.subscriber.
interests.dispatch(i,!0),()=>{this.trail===o&&(this.trail=void 0)},this.trail);this.trail=o;let r=S()-e.lastByte;this.reportUnread(
e),this.suspected=this.next=void 0,this.merger?.left(S()),this.both=this.tentative=!1,this.setCurrent(t),this.since=S(),
this.events.emit("recovered",{...this.place,away:r}),this.giveHeld(),this.openGate(void 0),this.subscriber.resume(t)}keepCurrent(){
this.suspected=void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(S()),this.both=this.tentative=!1}giveHeld(){
for(let e of this.merger?.release()??[])this.#r(e)}pause(e,t){return re(e,t,this.#t)}get waits(){return this.#t.size>0}hurry(){
for(let e of[...this.#t])e()}openGate(e){this.publishOn=e;let t=this.gate??[];this.gate=void 0;for(let o of t)o();this.over&&
this.#o()}publishConnection(){if(this.over)throw this.over;let e=this.publishOn??this.current;if(!e?.alive)throw Q();return e}};var lc=500;async function Vs(n,e,t){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(S());)await re(
50,t);n.merger=new nt,n.both=n.tentative=!0;let o=0;for await(let r of n.searcher.order(e.edge,!1,t)){await n.pause(Math.
max(se(++o,n.settings),n.searcher.wait(r)),t);let i;try{i=await n.searcher.open(r,t,{fallbackAfter:lc})}catch(l){if(t.throwIfAborted(),
l instanceof _)continue;throw l}if(t.aborted)return void i.close();if(!i.alive)continue;n.next=i,n.merger.joined(S());let a=n.
restore(i);if(i.ping().catch(()=>{}),await a,t.throwIfAborted(),n.next===i)return n.takeOver(e,i)}}function Ys(n){if(typeof n=="number")return n;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!e){let i='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new _("bad_option",i)}let[t=0,o=0,r=0]=e.
slice(1).map(i=>Number(i??0));return(t*60+o)*60+r}var Fo=2**31-1,Zs=1e3;function cc(n,e){return n===1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-e*n/10)}var vn=class{#e;#t;#n;#o=new AbortController;#r;#s=S;#i=1/0;#a;#c=!1;#d;#l=-1/0;#u;#h=0;constructor(e,t,o){
this.#e=e,this.#r=e.token,this.#t=t,this.#n=o}get token(){return this.#r}get provided(){return this.#e.tokenProvider!==void 0}get(){
return this.#r!==void 0&&this.#s()<this.#i?Promise.resolve(this.#r):this.ask()}ask(){return this.#a??=this.#f().finally(
()=>{this.#a=void 0,this.#c=!1}),this.#a}async renew(){this.#a&&this.#c&&(this.#d??=this.#a.catch(()=>{}).then(()=>(this.#d=
void 0,this.ask()))),await(this.#d??this.ask()),this.#t()}async#f(){clearTimeout(this.#u);let{tokenProvider:e,connectTimeout:t,
minBackOff:o}=this.#e,{signal:r}=this.#o;try{let i=this.#l+Zs;for(;S()<i;)await re(i-S(),r);this.#c=!0;let l=await Xe(r,
t,c=>_e(Promise.resolve(e?.()),c)).finally(()=>{this.#l=S()});return this.#m(typeof l=="object"?l:{token:l}),this.#r}catch(i){
this.#i>0&&this.#i<1/0&&this.#p(Math.max(o,se(++this.#h+1,this.#e)));let l=i?.name==="LoggedOutError"?new _("logged_out",
"the token provider says that there will be no token",{cause:i}):new _("token_provider","the token provider gave no toke\
n",{cause:i});throw this.#r!==void 0&&!r.aborted&&this.#n(l),l}}#m({token:e,expiresAt:t,expiresIn:o}){let r=o===void 0?1/0:
Ys(o)*1e3;r>0||F("expiresIn must be more than 0");let i=t===void 0||o!==void 0?1/0:new Date(t).getTime();Number.isNaN(i)&&
F("expiresAt is no time"),this.#r=bo(e),this.#s=r<1/0?S:Date.now,this.#i=r<1/0?S()+r:i>Date.now()?i:1/0,this.#h=0,this.#p(
Math.max(Zs,cc(this.#i-this.#s(),Math.random())))}#p(e){this.#o.signal.aborted||!(e<1/0)||(this.#u=setTimeout(()=>{if(e>
Fo)return this.#p(e-Fo);let t=this.#r;this.ask().then(o=>o!==t&&this.#t(),()=>{})},Math.min(Math.max(e,0),Fo)))}expire(){
this.provided&&(this.#i=-1)}stop(){this.#o.abort(),clearTimeout(this.#u)}};var jo=6e4,dc=60*jo,uc=2*jo,hc=1e4,fc=2e3;function ei(n,e){return Math.min((4+2*e)*jo*2**n,dc)}var _n=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},uc)):
!this.#n&&this.#s(e)&&this.#i(ei(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
fc,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:t}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&Oo(t)}#i(e,t=!0){
clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(t)},e)}async#a(e){let t=this.#e,{current:o}=t;if(!o||!t.idle||this.#r)
return this.#i(hc,e);if(!this.#s(o)){this.#n=void 0;return}let r=this.#t+Number(e);this.#i(ei(r,Math.random()));let i=new AbortController;
this.#r=i;let a=await t.searcher.open(o.edge,i.signal,{transports:["webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=
void 0),i.signal.aborted||(this.#t=r),a&&!i.signal.aborted&&t.current===o&&t.idle?t.run(l=>gt(t,o,"transport",l,a)):(a?.
close(),t.moveIfDue())}};var pc=3e3,kn=class extends wn{tokens;searcher;closed;#e;#t=new _n(this);#n;#o;constructor(e,t){super(t),this.tokens=new vn(
this.settings,()=>this.moveIfDue(),o=>this.#r(o)),this.searcher=new fn(e,this.settings,this.tokens,this),this.closed=new Promise(
o=>{this.#o=o})}#r(e){let{code:t,cause:o}=e;t!=="logged_out"?this.events.emit("edgeError",{code:t,detail:"the token prov\
ider gave no token",cause:o}):this.since&&this.finish(e)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||
F("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(e){throw this.over&&e.code!==
"logged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){try{let t=await this.
searcher.first(e);if(this.setCurrent(t),e.throwIfAborted(),t.error)throw t.error;this.since=S(),this.#n=Rs(this),this.#t.
follow(t),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(t){throw this.tokens.stop(),this.
current?.close(),t}}setCurrent(e){super.setCurrent(e),this.since&&this.#t.follow(e)}moveIfDue(){let{current:e}=this;this.#e||
this.over||!e?.alive||(e.drains?this.run(t=>gt(this,e,"drain",t)):e.token!==this.tokens.token&&this.run(t=>gt(this,e,"to\
ken",t)))}get idle(){let{current:e,merger:t}=this;return!this.#e&&!this.over&&e?.alive===!0&&!e.drains&&(!t||t.done(S()))}run(e){
this.#e?.abort();let t=new AbortController;this.#e=t,e(t.signal).then(()=>{this.#e===t&&(this.#e=void 0,this.current?.alive&&
this.moveIfDue())},o=>{this.#e===t&&this.finish(ue(o,"internal","a fault of this client"))})}draining(e){this.searcher.drained.
add(e.edge),e===this.current&&this.moveIfDue()}errorLine(e,t,o){this.presences.ended(e,t,o);let[,r,i]=/^PUB:([^:]+):(.+)$/s.
exec(o)??[];t==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(o)}):t==="egress_limited"?this.events.emit(
"egressLimited",{delay:Number(o)*1e3}):r&&i&&t!=="broker_unavailable"?this.events.emit("publishError",{tenant:r,channel:i,
code:t}):this.events.emit("edgeError",{code:t,detail:o})}roundTrip(e){this.rtt=e,this.events.emit("roundTrip",{rtt:e})}silent(e){
let{current:t}=this;return e===this.next&&this.tentative&&S()-e.lastByte>=pc&&e.fail(new _("timeout","the edge does not \
answer")),e!==t||this.#e||this.gate||this.over||this.reconnecting||!this.since||t.drains?!1:(this.suspected=e,this.trail?.
hold(!0),this.searcher.noteSilent(e),this.run(o=>Vs(this,e,o)),!0)}woke(e){e===this.suspected&&(this.searcher.noteSilent(
e,!0),this.#e?.abort(),this.#e=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",
{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(e,t){this.reportUnread(e);let o=e.token===this.tokens.
token,r=/_not_allowed$|^token_revoked$/.test(t.code)||t.code==="token_expired"&&!this.tokens.provided,i=e===this.next&&this.
suspected!==void 0;if(r&&o&&!i)return this.finish(t);t.closeCode===void 0&&/^(disconnected|timeout)$/.test(t.code)&&this.
searcher.noteSilent(e),e===this.next&&!this.leaving?(this.next=void 0,i?this.merger?.orphan():this.openGate(void 0)):e===
this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(e===this.current||e===this.next)&&(this.suspected=
void 0,this.trail?.hold(!1),e===this.current&&(this.next?.close(),this.next=void 0,this.giveHeld()),this.promote(),this.
reconnecting||this.run(a=>$s(this,e,t,a)))}slept(){for(let e of[this.current,this.next])e?.awake(!1);this.hurry()}networkChanged(){
for(let e of[this.current,this.next])e?.awake(!0);this.hurry(),this.#t.soon()}finish(e){if(this.over)return;this.over=new _(
"closed","the client has been closed",e?{cause:e}:{}),this.#e?.abort(),this.tokens.stop(),this.#t.stop(),this.#n?.(),e||
this.presences.leaveAll();for(let o of[this.current,this.next])o&&(e||o===this.suspected)&&this.reportUnread(o);let t=[this.
current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),e&&(this.giveHeld(),this.trail?.flush()),this.
subscriber.end(e,this.over),this.presences.end(e,this.over),this.events.emit("closed",{error:e}),Promise.all(t).then(()=>this.#o(
e))}};var xn=class{#e;#t=new Array(16);#n=0;#o=0;constructor(e){this.#e=e}get size(){return this.#o}get full(){return this.#o>=
this.#e}push(e){let t=this.#t;this.#o===t.length&&(this.#t=[...t.slice(this.#n),...t.slice(0,this.#n),...new Array(t.length)],
this.#n=0),this.#t[this.#n+this.#o++&this.#t.length-1]=e}shift(){if(this.#o===0)return;let e=this.#t[this.#n];return this.#t[this.#n]=
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}clear(){this.#t=new Array(16),this.#n=this.#o=0}};var mc=1e3,Sn=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];#r=!1;#s;#i;#a=0;#c=-1/0;#d;#l;#u;constructor(e,t,o,r){this.
tenant=e,this.pattern=t,this.#e=o,this.#t=r,this.#n=new xn(r.queue);let{from:i}=r;this.history=i===void 0?void 0:new Bt(
i),i?.includes(".")&&!i.startsWith("last")&&(this.#l=this.#u=i),this.ended=new Promise(a=>{this.#i=a})}get position(){return this.#n.
size===0?this.#l:this.#u}async unsubscribe(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncIterator](){if(this.#t.
onMessage)throw new _("bad_option","a subscription with a callback cannot be iterated");let e=!1;return{next:()=>{if(e)return Promise.
resolve({done:e,value:void 0});let t=this.#n.shift();return t?(this.#u=t.position??this.#u,this.history?.paused&&this.#n.
size*2<=this.#t.queue&&this.#e.wasRead(this),Promise.resolve({done:!1,value:t})):this.#r?(e=!0,this.#s?Promise.reject(this.#s):
Promise.resolve({done:e,value:void 0})):new Promise((o,r)=>{this.#o.push({resolve:o,reject:r})})},return:async()=>(e=!0,
await this.unsubscribe(),{done:e,value:void 0})}}#h(e){let{onMessage:t}=this.#t;if(t){try{let r=t(e);r instanceof Promise&&
r.catch(tt)}catch(r){tt(r)}return!0}let o=this.#o.shift();return o?.resolve({done:!1,value:e}),o!==void 0}pushStored(e){
if(this.#r)return!0;let t=this.#h(e);return!t&&this.#n.full?(this.#f(),!0):(this.#l=e.position,t?this.#u=e.position:this.#n.
push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){this.#l=e}#f(){this.end(new _("queue_full","messages were n\
ot read in time",this)),this.#e.leave(this)}push(e){if(this.#r||this.#h(e))return;let{queuePolicy:t}=this.#t;if(!this.#n.
full)return this.#n.push(e);if(t==="end")return this.#f();t==="drop-oldest"&&(this.#n.shift(),this.#n.push(e)),this.#a++,
this.#d??=setTimeout(()=>this.#m(),Math.max(0,this.#c+mc-S()))}#m(){clearTimeout(this.#d),this.#d=void 0,this.#c=S(),this.#a>
0&&this.#e.queueFull(this,this.#a),this.#a=0}end(e){if(!this.#r){this.#r=!0,this.#s=e,e||this.#n.clear(),this.#m();for(let t of this.#o.
splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#i(e)}}};async function Lo(n,e){let t=typeof n=="string"?[n]:n;(!e||!t?.length)&&F("connect needs an address and options");let o=new kn(
t.map(i=>Lt(i,e.allowPlaintext===!0)),e),{signal:r=new AbortController().signal}=e;return r.throwIfAborted(),await _e(o.
start(r),r),new Tn(o)}var Tn=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get edge(){return this.#e.place.
edge}get transport(){return this.#e.place.transport}get rtt(){return this.#e.rtt}on(e,t){return this.#e.events.on(e,t)}async subscribe(e,t,o={}){
let r=this.#e;Be("the object of options",o,"onMessage history queue queuePolicy");let{onMessage:i}=o;i&&typeof i!="funct\
ion"&&F("onMessage must be a function");let a=new Sn(mt(e),vo(t),r.subscriber,{...yo(o,r.settings),onMessage:i,from:Ps(o.
history,t)});return await r.subscriber.subscribe(a),a}async publish(e,t,o,r){let i=this.#e;r!==void 0&&Be("the object of\
 options",r,"delivery confirm key");let{delivery:a="broadcast",confirm:l=!1,key:c}=r??{},u=fo.indexOf(a);u<0&&F(`deliver\
y: allowed are ${fo.join(", ")}`),typeof o!="string"&&o?.[Symbol.toStringTag]!=="Uint8Array"&&F("the payload must be a U\
int8Array or a string");let d={tenant:mt(e),channel:wo(t)};if(l){let p=Ue(c??"");return c!==void 0&&!(p.length>0&&p.length<=
64)&&F("a key has 1 to 64 bytes"),gs(i,m=>po(d.tenant,d.channel,o,u,{id:m,key:p}),c!==void 0,d)}c!==void 0&&F("a key is \
for a publish that is confirmed");let f=po(d.tenant,d.channel,o,u||void 0);return i.publishConnection(),i.gate?new Promise(
(p,h)=>{i.gate?.push(()=>{try{p(i.publishConnection().publish(f,d))}catch(m){h(m)}})}):i.publishConnection().publish(f,d)}async join(e,t){
let{presences:o}=this.#e,r=mt(e),i=new Jt(r,wo(t,r),o);return await o.add(i),i}async presence(e,t,o={}){let{presences:r}=this.#e;
Be("the object of options",o,"count onChange");let{count:i=!1,onChange:a}=o;typeof i!="boolean"&&F("count must be true o\
r false"),a&&typeof a!="function"&&F("onChange must be a function");let l=mt(e),c=new Kt(l,vo(t,l),r,o);return await r.add(
c),c}async flush(){let e=this.#e;e.publishConnection(),e.gate&&await new Promise(t=>e.gate?.push(t)),await e.publishConnection().
ping()}renewToken(){return this.#e.renewToken()}retry(){this.#e.retry()}async close(){this.#e.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};var ti=500,gc=250;function oi(n,e){let[t,o]=g({state:"off",note:""}),[r,i]=g(!1),[,a]=g(0),l=G(void 0),c=G({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=fe(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=fe(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:os(b.payload),late:b.late}),c.messages.length>ti&&c.messages.splice(0,c.messages.length-ti),c.timer===0&&(c.timer=
window.setTimeout(u,gc))},[c,u]),f=fe(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);I(()=>()=>{clearTimeout(c.timer),f()},[c,f]),I(()=>(addEventListener("pagehide",f),()=>removeEventListener(
"pagehide",f)),[f]);let p=fe(async b=>{f();let k={query:b,end:new AbortController};l.current=k;let y=()=>l.current===k,T=D=>{
y()&&o(D)};T({state:"connecting",note:""});try{let D=await ni(n,b,!1),te=await Lo(e,{transports:["websocket","webtranspo\
rt"],tokenProvider:async()=>{let{token:Ee,expires_at:he}=D??await ni(n,b,!0);return D=void 0,{token:Ee,expiresAt:he}},signal:k.
end.signal});if(!y())return void te.close();k.client=te,yc(te,T),await te.subscribe(b.tenant,b.pattern,{onMessage:d}),T(
{state:"on",note:ri(te)})}catch(D){if(!y())return;f(),o({state:"off",error:`The tail did not start. ${En(D)}`,note:""})}},
[n,e,d,f]),h=fe(async(b,k,y)=>{let T=l.current;if(!T?.client)throw new Error("there is no connection; start the tail fir\
st");try{await T.client.publish(T.query.tenant,b,k,{delivery:y}),await T.client.flush()}catch(D){throw new Error(En(D))}},
[]),m=()=>{c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},w=()=>{c.paused=!c.paused,i(c.paused),u()},v=l.current?.
query.publish===!0;return{...t,error:t.error,messages:c.shown,received:c.received,held:c.held,paused:r,publishes:v,start:p,
stop:f,pause:w,clear:m,publish:h}}var ri=n=>`by ${n.transport==="websocket"?"WebSocket":"WebTransport"} at ${n.edge}`,ni=(n,e,t)=>n.
call("POST","live-token",{body:e,background:t});function yc(n,e){let t=(r="")=>e({state:"on",note:`${ri(n)}${r}`}),o=r=>e(
{state:"broken",note:r});n.on("disconnected",({error:r})=>o(`The connection is lost: ${En(r)} Messages of this time are \
missed.`)),n.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),n.on("recovered",()=>t()),n.on(
"reconnected",({away:r})=>t(`, after ${(r/1e3).toFixed(1)} s without a connection`)),n.on("moved",()=>t()),n.on("slowCon\
sumer",({dropped:r})=>t(`; the edge dropped ${r} messages, since this page reads too slowly`)),n.on("egressLimited",()=>t(
"; messages come late, since there are more than the tail may receive")),n.on("linkDown",()=>t("; the edge has lost the \
other edges, and nothing comes from there")),n.on("linkUp",()=>t()),n.on("publishError",({channel:r,code:i})=>t(`; the e\
dge refused the message to ${r}: ${i}`)),n.on("subscriptionError",({code:r})=>o(`The edge refuses the subscription: ${r}\
.`)),n.on("edgeError",({code:r,detail:i})=>t(`; ${r} ${i}`)),n.on("closed",({error:r})=>{r&&e({state:"off",error:`The ta\
il has ended. ${En(r)}`,note:""})})}var bc={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no lega\
l name of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"Th\
e edge does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its\
 token was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function En(n){return n instanceof _?n.cause instanceof q?K(n.cause):`${bc[n.code]??
K(n)} (${n.code})`:K(n)}var wc=[["text","text"],["json","JSON"],["hex","hex"]],vc={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function si({query:n}){let{api:e,session:t}=M(),o=H(),[r,i]=g(n.tenant??
""),[a,l]=g(n.pattern??"#"),[c,u]=g(!1),[d,f]=g("text"),[p,h]=g(),m=oi(e,t.live_url||location.origin),[w,v]=vc[m.state],
b=m.state!=="off",k=()=>{if(!de(r))return h("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return h(
"Name a pattern; # is every channel.");h(void 0),history.replaceState(null,"",$("live",{tenant:r,pattern:a})),m.start({tenant:r,
pattern:a,publish:c&&o})};return s(E,{children:[s(Z,{text:"Live"}),s("p",{class:"quiet",children:"Shows messages as they\
 come. Each use is noted by the audit hook."}),s("form",{class:"filters","aria-label":"Live messages",onSubmit:y=>{y.preventDefault(),
b||k()},children:[s(x,{label:"Tenant",value:r,onInput:y=>i(y.trim()),mono:!0,readOnly:b}),s(x,{label:"Pattern",value:a,onInput:y=>l(
y.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&s(ke,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),s("div",{class:"buttons",children:[b?s("button",{type:"button",onClick:m.
stop,children:"Stop"}):s("button",{type:"submit",class:"primary",children:"Start"}),b&&s("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),s(Oe,{text:p??m.error}),s("p",{role:"status",
"aria-label":"Connection",children:[s(N,{mood:w,children:v})," ",m.note]}),b&&m.publishes&&s(fs,{tail:m}),s("section",{"\
aria-labelledby":"messages",children:[s("div",{class:"card-head",children:[s("h2",{id:"messages",children:"Messages"}),s(
"span",{class:"quiet",children:[O(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${O(m.held,"message")} since the pause not shown`:""]}),s(z,{label:"Payload as",value:d,
onInput:y=>f(y),options:wc}),s("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?s(X,{
children:s("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):s(hs,{messages:m.messages,format:d})]})]})}function ii(n){let e=[],t=(o,r)=>{r!==void 0&&e.push(`	${o} ${r}`)};t("name",Cn(n.name)),n.description&&t("description",
Cn(n.description)),n.tenant_prefix&&t("tenant_prefix",n.tenant_prefix),n.allow_ip_masks?.length&&t("allow_ip_masks",n.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])n[o]&&t(o,String(n[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function Cn(n){if(/^[\w.@~:/+-]+$/.test(n))return n;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(n))return/["\\]/.test(n)?n.includes("`")?void 0:`\`${n}\``:`"${n}"`}var ai="Revoke the access tokens that it issued",li="Their connections end at once. Otherwise they stay valid until they\
 expire.",ci=n=>`master-tokens/${encodeURIComponent(n.id)}`;function di({master:n,onClose:e,onDone:t}){let{api:o}=M(),[r,
i]=g(!1);return s(me,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>t(await o.call("POST",
`${ci(n)}/rotate`,{body:{revoke_tokens:r}})),children:[s("p",{children:[s(C,{text:n.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),s(ke,{label:ai,checked:r,onChange:i,hint:li})]})}function ui({master:n,
onClose:e,onDone:t}){let{api:o}=M(),[r,i]=g(!1),[a,l]=g("");return s(me,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==n.name&&a!==n.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",ci(n),{body:{revoke_tokens:r}});t(`${n.name} was deleted.${r?` ${O(
u,"access token")} revoked with it.`:""}`)},children:[s("p",{children:[s(C,{text:n.name})," stops working at once, for g\
ood. Its id is ",s(P,{text:n.id}),"."]}),s(ke,{label:ai,checked:r,onChange:i,hint:li}),s(x,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function hi({made:n,rotated:e,onClose:t}){let o=[n.name,n.description??
""].some(r=>r!==""&&Cn(r)===void 0);return s(Mt,{title:e?"The new secret":"The master token",label:"Master token",secret:n.
token,onClose:t,children:[s("p",{children:["It is the ",e?"new ":"","secret of ",s(C,{text:n.name}),".",e&&n.revoked_tokens?
` ${O(n.revoked_tokens,"access token")} that it issued revoked.`:""]}),s($t,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${n.token}`,copy:"Copy the environment line"}),s("details",{children:[s("summary",{children:"For a Caddyfile"}),
s("p",{children:["Only to keep it in the configuration in place of the store, in the block ",s("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",s("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&s("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),s($t,{label:"Lines for a Caddyfile",text:ii(n),copy:"C\
opy the Caddyfile lines"})]})]})}function Xo({master:n,onClose:e,onCreated:t,onSaved:o}){let{api:r}=M(),i=oe(),[a]=g(()=>Br(n)),[l,c]=g(a),u=ro(l),d=h=>m=>c(
w=>({...w,[h]:m})),f=ft(l.prefix);return s(we,{title:n?"Edit the master token":"New master token",onClose:e,children:s(pe,
{action:i,submit:n?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!Jr(l))throw new Error("correct the fields that are marked");if(!n)return t(await r.call("POST","m\
aster-tokens",{body:Rt(l)}));let h=Hr(a,l);Object.keys(h).length>0&&await r.call("PATCH",`master-tokens/${encodeURIComponent(
n.id)}`,{body:h}),o(l.name)},onCancel:e,children:[s(x,{label:"Name",value:l.name,onInput:d("name"),count:{now:Me(l.name),
most:no,unit:"characters"},autoFocus:!0}),s(x,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Me(l.description),most:oo,unit:"characters"}}),s(x,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:f===""?"The app's namespace. Empty: every tenant of the overlay.":f===void 0?void 0:`Stored as ${f} \
– for tenants such as ${f}room`}),s(x,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),s("fieldset",{children:[s("legend",{children:"\
Quotas"}),s("p",{class:"help",children:"Left empty, the default of the edge applies."}),s("div",{class:"row",children:[s(
x,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),s(x,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),s(x,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var Pn=25,_c=3e4;function fi(){let{api:n,notify:e}=M(),t=H(),[o,r]=g(),i=ee("masters",_c,u=>n.get("master-tokens",u)),a=()=>r(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{r({what:"secret",made:u,rotated:d}),i.refresh()};return s(E,{children:[s(Z,
{text:"Master tokens",children:t&&s("button",{type:"button",class:"primary",onClick:()=>r({what:"new"}),children:"New ma\
ster token"})}),s("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),s(Y,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&s(W,{what:"the master tokens"}),i.data&&s(kc,{masters:i.
data.master_tokens??[],onOpen:r}),o?.what==="new"&&s(Xo,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&s(Xo,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&s(di,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&s(ui,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&s(hi,{made:o.made,rotated:o.rotated,onClose:a})]})}function kc({masters:n,onOpen:e}){let t=H(),[o,r]=g(""),[i,
a]=g(1);if(n.length===0)return s(X,{children:[s("p",{children:"There is no master token yet."}),s("p",{children:t?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=n.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/Pn)));return s(E,{children:[n.
length>8&&s("div",{class:"filters",children:[s(x,{label:"Find",value:o,onInput:r,hint:"By name, prefix or id."}),s("p",{
class:"quiet",role:"status",children:[c.length," of ",O(n.length,"master token")]})]}),s("div",{class:"cards",children:c.
slice((u-1)*Pn,u*Pn).map(d=>s(xc,{master:d,onOpen:e},d.id))}),c.length===0&&s(X,{children:"None has this in its name, pr\
efix or id. Type less of it."}),s(be,{page:u,more:u*Pn<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function xc({
master:n,onOpen:e}){let t=H(),{name:o}=n;return s("article",{class:"card","aria-label":`Master token ${o}`,children:[s("\
div",{class:"card-head",children:[s("h2",{children:s(C,{text:o,most:64})}),n.static&&s(N,{children:"in the Caddyfile"})]}),
n.description&&s("p",{children:s(C,{text:n.description,most:200})}),s(le,{of:[["Tenant prefix",n.tenant_prefix?s(P,{text:n.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",s(Sc,{masks:n.allow_ip_masks??[]},"masks")],["Quotas",Tc(
n),"wide"],!n.static&&["Made",s(j,{at:n.created_at},"made")],["Id",s(P,{text:n.id},"id"),"wide"]]}),n.static?s("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):t&&s("div",{class:"butto\
ns",children:[s("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:n}),children:"Edit"}),
s("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:n}),children:"Rotate"}),s("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:n}),children:"Delete"})]})]})}function Sc({
masks:n}){return n.length===0?s(E,{children:"none: every address"}):s("span",{class:"list",children:[n.slice(0,8).map(e=>s(
P,{text:e},e)),n.length>8&&s("span",{children:["and ",n.length-8," more"]})]})}function Tc(n){let e=[n.max_tokens&&O(n.max_tokens,
"access token"),n.max_bytes&&`${J(n.max_bytes)} in the store`,n.calls_per_second&&`${A(n.calls_per_second)} calls a seco\
nd`].filter(t=>t);return e.length===0?"the edge's defaults":e.join(", ")}function pi(n,e,t=180){let o=n.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),r=new Array(t).fill(null);if(o.length===
0)return r;let i=Ec(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),f=u[e];for(let p=t-1;p>=0;p--){let h=f[f.length-1-d-(t-1-p)];if(h===void 0)
break;r[p]=(r[p]??0)+h}}return r}function Ec(n){let e=[...n].sort((t,o)=>t-o);return e[Math.floor(e.length/2)]??0}function Uo(n){
return n?.[n.length-1]??0}function mi(n){let e=n.filter(o=>o!==null),t=e[e.length-1];if(t!==void 0)return{min:Math.min(...e),
now:t,max:Math.max(...e)}}function Bo(n){let e=new Map;for(let t of n)for(let[o,r]of Object.entries(t??{}))e.set(o,(e.get(
o)??0)+r);return[...e].sort((t,o)=>o[1]-t[1]||t[0].localeCompare(o[0]))}var Jo=40;function Cc(n,e){let t="",o=!1;for(let[r,i]of n.entries()){if(i===null){o=!1;continue}let a=Jo-i/e*(Jo-2)-1;t+=
`${o?"L":"M"}${r} ${a.toFixed(1)}`,o=!0}return t}function gi({label:n,series:e,format:t}){let o=mi(e);if(!o)return s("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let r=Cc(e,o.max||1),i=`min ${t(o.min)}, now ${t(
o.now)}, max ${t(o.max)}`;return s("figure",{class:"chart",children:[s("svg",{viewBox:`0 0 ${e.length-1} ${Jo}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${n}, the last 15 minutes: ${i}`,children:s("path",{d:r,class:"line"})}),s("figcaption",{
"aria-hidden":"true",children:i})]})}function bi(){let{api:n}=M(),{data:e,error:t}=ee("overview",5e3,r=>n.get("overview",r)),o=e?.edges??[];return s(E,{children:[
s(Z,{text:"Overview"}),s(Y,{error:t,known:e!==void 0}),e?s(Pc,{edges:o}):!t&&s(W,{what:"the figures"})]})}function Pc({edges:n}){
let e=n.filter(c=>c.answered&&c.status),t=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),r=c=>Bo(e.map(u=>u.
recent?.[c]??void 0)),i=Bo(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(wi);return s(
E,{children:[s(Ve,{edges:n,missing:["The figures leave it out.","The figures leave them out."]}),s("div",{class:"tiles",
children:[s(Wo,{title:"Connections",value:A(l),chart:{samples:t,figure:"connections",format:A},note:s(E,{children:[i.map(
([c,u])=>s("span",{children:[Qe(c)," ",A(u)]},c)),a>0&&s("span",{children:["of ",A(a)," at most"]})]})}),s(Mn,{title:"Me\
ssages a second",figure:"messages_in",samples:t,note:"published by clients"}),s(Mn,{title:"Deliveries a second",figure:"\
deliveries",samples:t,note:"to subscribers"}),s(Mn,{title:"Drops a second",figure:"dropped",samples:t,note:"deliveries t\
hat were dropped"}),s(Mn,{title:"Refusals a second",figure:"refused",samples:t,note:"ERR lines to clients"}),s(Wo,{title:"\
Memory",value:J(o(c=>c.status?.memory_bytes??0)),chart:{samples:t,figure:"memory_bytes",format:J},note:s("span",{children:e.
length===1?"of the process":`of ${O(e.length,"process","processes")}`})}),s(yi,{title:"Token store",edges:e,state:c=>s(ut,
{status:c.status})}),s(yi,{title:"Broker",edges:e,state:c=>s(ht,{status:c.status})})]}),s("div",{class:"columns",children:[
s($n,{title:"Dropped deliveries",counts:r("dropped"),none:"None was dropped."}),s($n,{title:"Refusals by code",counts:r(
"refused"),none:"Nothing was refused."}),s($n,{title:"Refused handshakes",counts:r("handshakes_refused"),none:"No client\
 was turned away."}),s($n,{title:"Slow clients disconnected",counts:r("slow_disconnects"),none:"No client was too slow."})]}),
s("section",{"aria-labelledby":"by-edge",children:[s("h2",{id:"by-edge",children:"By edge"}),n.length===0?s(X,{children:s(
"p",{children:"No edge is known yet. This one appears within seconds."})}):s(ce,{label:"Figures by edge",columns:Ac,rows:n,
keyOf:c=>c.id})]})]})}var Ho=3;function yi(n){let{title:e,edges:t,state:o}=n;return s("section",{class:"card tile","aria\
-label":e,children:[s("h2",{children:e}),t.slice(0,Ho).map(r=>s("div",{class:"state-line",children:[t.length>1&&s("p",{class:"\
quiet",children:s(C,{text:r.name,most:40})}),o(r)]},r.id)),t.length>Ho&&s("p",{class:"quiet",children:["and ",t.length-Ho,
" more, see below"]})]})}var wi=n=>Object.values(n.status?.connections??{}).reduce((e,t)=>e+t,0);function An(n,e){return n.
answered&&n.samples?Ct(Uo(n.samples[e])):"–"}var Ac=[{label:"Edge",cell:n=>s(E,{children:[s(C,{text:n.name})," ",s(At,
{edge:n}),!n.answered&&s(N,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:n=>n.status?A(wi(n)):
"–"},{label:"Messages/s",number:!0,cell:n=>An(n,"messages_in")},{label:"Deliveries/s",number:!0,cell:n=>An(n,"deliveri\
es")},{label:"Drops/s",number:!0,cell:n=>An(n,"dropped")},{label:"Refusals/s",number:!0,cell:n=>An(n,"refused")},{label:"\
Memory",number:!0,cell:n=>n.status?J(n.status.memory_bytes):"–"},{label:"Token store",cell:n=>s(ut,{status:n.status})},
{label:"Broker",cell:n=>s(ht,{status:n.status})}];function Wo({title:n,value:e,note:t,chart:o}){return s("section",{class:"\
card tile","aria-label":n,children:[s("h2",{children:n}),s("p",{class:"value",children:e}),s("p",{class:"note-line",children:t}),
s(gi,{label:n,series:pi(o.samples,o.figure),format:o.format})]})}function Mn({title:n,figure:e,samples:t,note:o}){let r=t.
reduce((i,a)=>i+Uo(a[e]),0);return s(Wo,{title:n,value:Ct(r),note:s("span",{children:o}),chart:{samples:t,figure:e,format:Ct}})}
function $n({title:n,counts:e,none:t}){return s("section",{class:"card reasons","aria-label":n,children:[s("h2",{children:n}),
s("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?s("p",{children:t}):s("dl",{class:"counts",children:e.
map(([o,r])=>s("div",{children:[s("dt",{children:s("code",{children:o})}),s("dd",{children:A(r)})]},o))})]})}function vi({query:n,names:e,onAgain:t}){let{presence:o,among:r}=n,[i,a]=g({presence:o,among:r});ae(()=>a({presence:o,among:r}),
[o,r]);let l=f=>p=>a(h=>({...h,[f]:p.trim()})),c=i.among.replace(/\*$/,""),u=c!==""&&!de(c),d=i.presence!==""&&!e.includes(
i.presence)?[i.presence]:[];return s("search",{children:s("form",{class:"filters","aria-label":"Filter tenants",onSubmit:f=>{
if(f.preventDefault(),u)return;let p=$("presence",{...n,...i});p===$("presence",n)?t():location.hash=p},children:[s(z,{label:"\
In presence",value:i.presence,onInput:l("presence"),options:[["","all"],...[...e,...d].map(f=>[f,f])]}),s(x,{label:"Of t\
enant",value:i.among,onInput:l("among"),mono:!0,error:u?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,
hint:"The whole name, or its beginning and *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"pri\
mary",children:"Filter"}),s("a",{class:"button",href:$("presence",{...n,presence:"",among:""}),children:"Clear"})]})]})})}var Mc=100,$c=5e3;function _i({query:n}){let e=G(null),[t,o]=g(0),{tenant:r}=n;return I(()=>{r!==""&&e.current?.focus()},
[r]),s("section",{"aria-labelledby":"members",children:[s("h2",{id:"members",tabIndex:-1,ref:e,children:"Members"}),s(Oc,
{query:n,onAgain:()=>o(i=>i+1)}),de(r)&&s(Ic,{query:n},B({tenant:r,pattern:n.pattern,subject:n.subject,again:t}))]})}function Oc({
query:n,onAgain:e}){let{tenant:t,pattern:o,subject:r}=n,[i,a]=g({tenant:t,pattern:o,subject:r}),[l,c]=g(!1);ae(()=>a({tenant:t,
pattern:o,subject:r}),[t,o,r]);let u=f=>p=>a(h=>({...h,[f]:p})),d=i.tenant===""?l:!de(i.tenant);return s("search",{children:s(
"form",{class:"filters","aria-label":"Who is present",onSubmit:f=>{if(f.preventDefault(),c(i.tenant===""),!de(i.tenant))
return;let p=$("presence",{...n,...i});p===$("presence",n)?e():location.hash=p},children:[s(x,{label:"Tenant",value:i.tenant,
onInput:f=>u("tenant")(f.trim()),mono:!0,error:d?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0}),s(x,{
label:"Pattern",value:i.pattern,onInput:f=>u("pattern")(f.trim()),mono:!0,hint:"room.* for example; nothing: all."}),s(x,
{label:"Subject",value:i.subject,onInput:u("subject"),hint:"The whole subject."}),s("div",{class:"buttons",children:s("b\
utton",{type:"submit",class:"primary",children:"Show"})})]})})}function Ic({query:n}){let{api:e}=M(),[t,o]=g([""]),{tenant:r,
pattern:i,subject:a}=n,l=`presences/members${B({tenant:r,pattern:i,subject:a,limit:Mc,cursor:t[t.length-1]})}`,{data:c,stale:u,
error:d}=ee(l,$c,p=>e.get(l,p)),f=c?.members??[];return s(E,{children:[s(Y,{error:d,known:c!==void 0}),!c&&!d&&s(W,{what:"\
the members"}),c&&s("p",{children:[O(c.total.members,"member")," in ",O(c.total.channels,"channel")," of"," ",s(P,{text:i===
""?"#":i})," in ",s(P,{text:r}),", the oldest first.",a!==""&&s(E,{children:[" ","Only ",s(C,{text:a,most:128})," is lis\
ted."]})]}),f.length>0&&s(ce,{label:"Members",columns:Nc,rows:f,keyOf:Rc,busy:u}),c&&!u&&f.length===0&&t.length===1&&s(X,
{children:s("p",{children:a===""?"Nobody is present there now.":"This subject is not present there now."})}),s(be,{page:t.
length,more:!u&&(c?.next_cursor??"")!=="",onPrevious:()=>o(t.slice(0,-1)),onNext:()=>o([...t,c?.next_cursor??""])})]})}var Rc=({
channel:n,subject:e})=>`${n}
${e}`,Nc=[{label:"Channel",cell:({channel:n})=>s(P,{text:n,most:120})},{label:"Subject",cell:({subject:n})=>s("a",{href:$(
"connections",{subject:n}),"aria-label":`Connections of ${$e(n,60)}`,children:s(C,{text:n,most:60})})},{label:"Since",cell:({
since:n})=>s(j,{at:n})},{label:"Info",cell:({info:n})=>n?s(P,{text:JSON.stringify(n)}):s(E,{children:"–"})}];var Dc=50,Fc=8,jc=1e4;function ki({query:n}){let{api:e}=M(),[t,o]=g([""]),r={presence:n.presence??"",among:n.among??"",tenant:n.
tenant??"",pattern:n.pattern??"",subject:n.subject??""},i=B({presence:r.presence,tenant:r.among});I(()=>o([""]),[i]);let a=`\
presences${B({presence:r.presence,tenant:r.among,limit:Dc,cursor:t[t.length-1]})}`,{data:l,stale:c,error:u,refresh:d}=ee(
a,jc,async w=>{try{return await e.get(a,w)}catch(v){if(v instanceof q&&v.code==="no_presences")return"none";throw v}}),f=l===
"none"?void 0:l,p=f?.totals??[],h=p.reduce((w,v)=>w+v.tenants,0),m=f?.presences??[];return s(E,{children:[s(Z,{text:"Pre\
sence"}),s("p",{class:"quiet",children:"Who has said that they are in a channel, at all edges: each edge knows that of t\
he others."}),s(Y,{error:u,known:l!==void 0}),!l&&!u&&s(W,{what:"who is present"}),l==="none"&&s(Lc,{}),f&&s(E,{children:[
s(Xc,{totals:p}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(i!==""||
h>Fc)&&s(vi,{query:r,names:p.map(({presence:w})=>w),onAgain:d}),m.length>0&&s(ce,{label:"Where somebody is present",columns:Bc(
r,p),rows:m,keyOf:Uc,busy:c}),!c&&m.length===0&&t.length===1&&s(X,{children:i===""?s("p",{children:"Nobody is present no\
w. Clients appear here when they join a channel of a presence."}):s("p",{children:"Nobody is present there. Ask for less\
, or clear the filters."})}),s(be,{page:t.length,more:!c&&(f.next_cursor??"")!=="",onPrevious:()=>o(t.slice(0,-1)),onNext:()=>o(
[...t,f.next_cursor??""])})]}),s(_i,{query:r})]})]})}function Lc(){return s(X,{children:[s("p",{children:"No presence is\
 configured at this edge: it does not know who is where."}),s("p",{children:["Clients may say that they are in the chann\
els of a presence:"," ",s("code",{children:"presence <name> { channels … }"})," in the block ",s("code",{children:"pub\
sub"})," of the Caddyfile. docs/configuration.md has its options."]})]})}function Xc({totals:n}){return s("div",{class:"\
cards",children:n.map(e=>s("article",{class:"card","aria-label":`Presence ${e.presence}`,children:[s("div",{class:"card-\
head",children:s("h2",{children:s(C,{text:e.presence})})}),s(le,{of:[["Tenants",A(e.tenants)],["Members",A(e.members)],[
"At most of a tenant",A(e.max_members)]]})]},e.presence))})}var Uc=({presence:n,tenant:e})=>`${n}:${e}`;function Bc(n,e){
let t=new Map(e.map(o=>[o.presence,o.max_members]));return[{label:"Tenant",cell:({tenant:o})=>s(P,{text:o})},{label:"Pre\
sence",cell:({presence:o})=>s(C,{text:o})},{label:"Members",number:!0,cell:({presence:o,members:r})=>`${A(r)} of ${A(t.get(
o)??r)}`},{label:"Who",cell:({tenant:o})=>s("a",{class:"button","aria-label":`Show who is present in ${o}`,href:$("prese\
nce",{presence:n.presence,among:n.among,tenant:o}),children:"Show"})}]}var xi=[{name:"overview",label:"Overview",component:bi},{name:"master-tokens",label:"Master tokens",component:fi},{name:"\
tokens",label:"Access tokens",component:zr},{name:"connections",label:"Connections",component:Zr},{name:"presence",label:"\
Presence",component:ki},{name:"live",label:"Live",component:si,tail:!0},{name:"histories",label:"Histories",component:ds},
{name:"edges",label:"Edges",component:es}];var On=class extends He{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:s("div",{role:"alert",class:"errors",children:[s("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",K(this.state.error)]}),s("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function Si(n){let{base:e,session:t,links:o,current:r,result:i,ended:a,children:l}=n;return s(E,{children:[s("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),s("header",{class:"top",children:[s("a",{class:"brand",href:$("overview"),children:[s("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),s("span",{children:"Millrace"})]}),s("nav",{"aria-label":"Screens",children:s("u\
l",{children:o.map(({screen:c,label:u})=>s("li",{children:s("a",{href:$(c),...c===r?{"aria-current":"page"}:{},children:u})},
c))})}),s("div",{class:"who",children:[s("span",{children:[s(C,{text:t.operator??"",most:32})," ",s("span",{class:"quiet",
children:t.role})]}),s("button",{type:"button",onClick:n.onSignOut,children:"Sign out"})]})]}),s("main",{id:"main",tabIndex:-1,
children:[a&&s("p",{class:"note warn with-button",children:[s("span",{children:"Your session has ended, so nothing here \
is up to date."}),s("button",{type:"button",onClick:n.onSignIn,children:"Sign in"})]}),s("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&s("p",{class:"note good with-button",children:[s("span",{children:i}),s("button",
{type:"button",class:"link",onClick:n.onDismiss,children:"Dismiss"})]})}),l]})]})}async function qo(n,e,t){try{return await n.call("POST",e,{body:t,bare:!0})}catch(o){throw o instanceof q&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${Gn(o.retryAfter*1e3)}`):o}}function Ti({
api:n,session:e,onSession:t}){let[o,r]=g(""),[i,a]=g(""),l=oe(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{t(await qo(n,"session",c?{}:{name:o,password:i}))}finally{a("")}};return s("main",
{id:"main",class:"sign-in",children:s("section",{class:"card",children:[s("h1",{tabIndex:-1,children:"Sign in"}),s("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?s("p",{children:["The authe\
ntication in front of the console names you ",s(C,{text:e.user}),"."]}):null,c&&!e.user?s("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,s(pe,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&s(E,{children:[s(x,{label:"Name",value:o,onInput:r,autoComplete:"username",autoFocus:!0}),
s(x,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function Ei({api:n,gate:e,
session:t,onSession:o,onLeave:r}){let{question:i}=e;return i?s(Jc,{api:n,gate:e,session:t,onSession:o,onLeave:r,again:i===
"sign-in"},i):null}function Jc({api:n,gate:e,session:t,onSession:o,onLeave:r,again:i}){let[a,l]=g(""),c=oe(),u=t.auth===
"caddy",d=t.operator??"";return s(we,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[s("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),s(pe,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let p;try{i?p=await qo(
n,"session",u?{}:{name:d,password:a}):p=await qo(n,"session/confirm",{password:a})}catch(h){if(l(""),!i&&h instanceof q&&
h.code==="no_session")return void e.signIn();throw h}o(p),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&s("button",{type:"\
button",class:"link",onClick:r,children:"Sign in as somebody else"}),children:[s(x,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&s(x,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function Ci({base:n,takeActivity:e}){let[,t]=g(0),[o,r]=g(),[i,a]=g(),[l,c]=g(""),u=ct(()=>new Et(()=>t(y=>y+1)),[]),d=ct(
()=>new Tt({base:new URL("api/",n),gate:u,takeActivity:e}),[n,u,e]),f=Wc(),p=fe(()=>{a(void 0),d.get("session",{bare:!0}).
then(r,y=>a(K(y)))},[d]);I(p,[p]);let h=xi.filter(({tail:y})=>!y||o?.tail===!0),m=h.find(({name:y})=>y===f.screen)??h[0];
I(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:y}=document;
y instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let w=y=>{r(y),u.opened()},
v=()=>{u.answer(!1),r(y=>y&&{auth:y.auth,signed_in:!1,...y.user?{user:y.user}:{}})},b=async()=>{try{let y=await d.call("\
DELETE","session",{bare:!0});u.opened(),r(y)}catch(y){y instanceof Error&&"code"in y&&y.code==="no_session"?v():c(`Signi\
ng out failed: ${K(y)} You are still signed in.`)}};if(!o)return s(Hc,{error:i,onRetry:p});if(!o.signed_in)return s(Ti,{
api:d,session:o,onSession:w});let k=m?.component;return s(Qn.Provider,{value:{api:d,session:o,base:n,notify:c},children:[
s(Si,{base:n,session:o,links:h.map(({name:y,label:T})=>({screen:y,label:T})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:k&&s(On,{children:s(k,{query:f.query})},`${m.
name} ${o.operator}`)}),s(Ei,{api:d,gate:u,session:o,onSession:w,onLeave:v})]})}function Hc({error:n,onRetry:e}){return s(
"main",{id:"main",class:"sign-in",children:[s("h1",{children:"Millrace console"}),s("p",{role:"status",children:n?"":"Lo\
ading…"}),s("div",{role:"alert",children:n&&s(E,{children:[s("p",{class:"note bad",children:n}),s("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function Wc(){let[n,e]=g(()=>zn(location.hash));return I(()=>{
let t=()=>e(zn(location.hash));return addEventListener("hashchange",t),()=>removeEventListener("hashchange",t)},[]),n}var qc=new URL(".",import.meta.url),zo=!0;for(let n of["keydown","pointerdown","pointermove","wheel"])addEventListener(n,
()=>zo=!0,{capture:!0,passive:!0});var zc=()=>{let n=zo;return zo=!1,n},Pi=document.getElementById("app");Pi&&ir(s(Ci,{base:qc,
takeActivity:zc}),Pi);
