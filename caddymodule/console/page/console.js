// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var N,Zo,Ui,$e,Xn,Tt,er,kt,tr,Jn,Un,nr,ct=Symbol.for("pv"),Et={},Ct=[],Bi=/^m(i|n|o|s|text|space)$/,Hn=Array.isArray,or=Ct.
slice,He=Object.assign;function Je(t){t&&t.parentNode&&t.remove()}function xt(t,e,n,o,r){var i={type:t,props:e,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ct,__v:r||
++Zo,__i:-1,__u:0};return!r&&N.vnode&&N.vnode(i),i}function T(t){return t.children}function Qe(t,e){this.props=t,this.context=e,this.__g=0}function Me(t,e){if(e==null)return t.
__&&Me(t.__,t.__i+1);for(var n;e<t.__k.length;e++)if((n=t.__k[e])&&n.__e)return n.__e;return typeof t.type!="function"||
t.props.__P?null:Me(t)}function Ji(t){var e,n=t.__v,o=n.__e,r=[],i=[],a=t.__P;a&&((e=He({constructor:ct},n)).__v=n.__v+1,
N.vnode&&N.vnode(e),Wn(a,e,n,t.__n,a.namespaceURI,32&n.__u?[o]:null,r,o||Me(n),32&n.__u,i),e.__v=n.__v,e.__.__k[e.__i]=e,
cr(r,e,i),n.__=n.__e=null,e.__e!=o&&rr(e))}function rr(t){if((t=t.__)&&t.__c&&!t.props.__P)return t.__e=null,t.__k.some(
function(e){return e&&(t.__e=e.__e)}),rr(t)}function Bn(t){(8&t.__g||(t.__g|=8,$e.push(t),Tt++))&&Xn==N.debounceRendering||
((Xn=N.debounceRendering)||queueMicrotask)(sr)}function sr(){try{for(var t,e=1;$e.length;)$e.length>e&&$e.sort(er),t=$e.
shift(),e=$e.length,8&t.__g&&Ji(t)}finally{(Tt=$e.length)&&(Xn||queueMicrotask)(sr)}}function ir(t,e,n,o,r,i,a,l,c,u,d){
var f,p,h,m,y,_,b=o.__k||Ct,w=e.length;for(c=Hi(n,e,b,c,w),f=0;f<w;f++)(h=n.__k[f])!=null&&(p=~h.__i&&b[h.__i]||Et,h.__i=
f,_=Wn(t,h,p,r,i,a,l,c,u,d),m=h.__e,(p.ref!=h.ref||8&p.__u)&&(p.ref&&qn(p.ref,null,h,p),h.ref&&d.push(h.ref,h.__c||m,h)),
y=y||m,4&h.__u?(c=ar(h,c,t,!p.__v),p.__e&&(p.__e=null)):typeof h.type=="function"&&_!==void 0?c=_:m&&(c=m.nextSibling),h.
__u&=-21);return n.__e=y,c}function Hi(t,e,n,o,r){var i,a,l,c,u,d,f,p,h,m=n.length,y=m,_=0,b=0,w=t.__k=Array(r);for(i=0;i<
r;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=w[i]=xt(null,
a):Hn(a)?a=w[i]=xt(T,{children:a}):a.constructor===ct&&a.__b?a=w[i]=xt(a.type,a.props,a.key,a.ref,a.__v):w[i]=a,c=i+_,a.
__=t,a.__b=t.__b+1,l=null,~(u=a.__i=Wi(a,n,c,y))&&(y--,(l=n[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?_--:u==c+1?_++:u!=
c&&(u>c?_--:_++,b=1)):(~u||(r>m?_--:r<m&&_++),typeof a.type!="function"&&(a.__u|=4))):w[i]=null;if(b){for(d=[],f=[],i=0;i<
r;i++)if((a=w[i])&&16&a.__u){for(_=0,p=d.length;_<p;)d[h=_+p>>1]<a.__i?_=h+1:p=h;d[_]=a.__i,f[i]=_+1}for(_=d.length;i--;)
f[i]&&(f[i]==_?_--:w[i].__u|=4)}if(y)for(i=0;i<m;i++)!(l=n[i])||2&l.__u||(l.__e==o&&(o=Me(l)),zn(l,l));return o}function ar(t,e,n,o){
var r,i,a,l;if(typeof t.type=="function"){if(t.props.__P)return e;if(r=t.__k)for(i=0;i<r.length;i++)r[i]&&(r[i].__=t,e=ar(
r[i],e,n,!1));return e}for(e&&!e.parentNode&&(e=Me(t))&&!e.parentNode&&(e=null),a=t.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,e):n.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function Wi(t,e,n,o){var r,i=t.key,a=t.type,l=e[n],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return n;
if(o>(c?1:0)){for(r=n-1;r>=0;r--)if((l=e[r])&&!(2&l.__u)&&i==l.key&&a==l.type)return r;for(r=n+1;r<e.length;r++)if((l=e[r])&&
!(2&l.__u)&&i==l.key&&a==l.type)return r}return-1}function Yo(t,e,n){n==null&&(n=""),e[0]=="-"?t.setProperty(e,n):t[e]=n}
function vt(t,e,n,o,r){var i,a;if(e=="style")if(typeof n=="string")t.style.cssText=n;else{if(typeof o=="string"&&(t.style.
cssText=o=""),o)for(e in o)n&&e in n||Yo(t.style,e);if(n)for(e in n)o&&n[e]==o[e]||Yo(t.style,e,n[e])}else if(e[0]=="o"&&
e[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(t.__e||(t.__e={}))[e]=n,n&&o||(a=Un[e]||(Un[e]=
qi(e)),(t.__a||(t.__a={}))[e]=Jn,i=e!=(e=e.replace(tr,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),n?t.addEventListener(
e,a,i):t.removeEventListener(e,a,i));else{if(r=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in t)try{return void(t[e]=n??"")}catch{}if(typeof n=="function")return;n==null||n===
!1&&e[4]!="-"?t.removeAttribute(e):t.setAttribute(e,e=="popover"&&n==1?"":n)}}function qi(t){return function(e){var n=this.
__e;if(n){if(n=n[t],e[kt]==null)e[kt]=Jn++;else if(e[kt]<this.__a[t])return;return n(N.event?N.event(e):e)}}}function Wn(t,e,n,o,r,i,a,l,c,u){
var d,f,p,h,m,y,_,b,w,k,C,F,se,Ae,me,de,ne,Be,Ee=e.type;if(e.constructor!==ct)return null;128&n.__u&&(c=32&n.__u,d=n.__c.
__z)&&(e.__u|=c,f=i=[],d.nodeType==8?l=St(d,i):i.push(d),l=i[0]||l),(d=N.__b)&&d(e);e:if(typeof Ee=="function"){p=a.length;
try{if(b=e.props,w=(d=Ee.prototype)&&d.render,k=(d=Ee.contextType)&&o[d.__c],C=d?k?k.props.value:d.__:o,(h=n.__c)?(e.__c=
h,2&h.__g&&(h.__g|=1)):(w?e.__c=h=new Ee(b,C):(e.__c=h=new Qe(b,C),h.constructor=Ee,h.render=Gi),k&&k.sub(h),h.state||(h.
state={}),h.__n=o,h.__g|=8,h.__h=[],h.__k=[]),w&&(h.__s||(h.__s=h.state),Ee.getDerivedStateFromProps&&(h.__s==h.state&&(h.
__s=He({},h.__s)),He(h.__s,Ee.getDerivedStateFromProps(b,h.__s)))),m=h.props,y=h.state,h.__v=e,n.__c){if(b!==m&&w&&!Ee.getDerivedStateFromProps&&
h.componentWillReceiveProps&&h.componentWillReceiveProps(b,C),e.__v==n.__v&&!(8&h.__g)||!(4&h.__g)&&h.shouldComponentUpdate&&
h.shouldComponentUpdate(b,h.__s,C)===!1){e.__v!=n.__v&&(h.props=b,h.state=h.__s,h.__g&=-9),e.__e=n.__e,e.__k=n.__k,e.__k.
some(function(_e){_e&&(_e.__=e)}),Ct.push.apply(h.__h,h.__k),h.__k=[],h.__h.length&&a.push(h),l=Me(n);break e}h.componentWillUpdate&&
h.componentWillUpdate(b,h.__s,C),w&&h.componentDidUpdate&&h.__h.push(function(){h.componentDidUpdate(m,y,_)})}else w&&!Ee.
getDerivedStateFromProps&&h.componentWillMount&&h.componentWillMount(),w&&h.componentDidMount&&h.__h.push(h.componentDidMount);
h.context=C,h.props=b,h.__P=t,h.__g&=-5,F=N.__r,se=w?25:0;do h.__g&=-9,F&&F(e),d=h.render(h.props,h.state=h.__s,h.context);while(8&
h.__g&&++se<25);w&&(Ct.push.apply(h.__h,h.__k),h.__k=[]),h.state=h.__s,h.getChildContext&&(o=He({},o,h.getChildContext())),
w&&n.__c&&h.getSnapshotBeforeUpdate&&(_=h.getSnapshotBeforeUpdate(m,y)),Ae=d&&d.type===T&&d.key==null?d.props.children:d,
b.__P&&(d=l,r=(t=b.__P).namespaceURI,c=i=null,n.props&&n.props.__P!=t&&(n.__k.some(function(_e){_e&&zn(_e,_e)}),n.__k=null),
l=n.__k?Me(n,0):null),l=ir(t,Hn(Ae)?Ae:[Ae],e,n,o,r,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,f&&f.some(Je),h.__h.length&&
a.push(h),1&h.__g&&(h.__g&=-4)}catch(_e){if(a.length=p,e.__v=null,c||i)if(_e&&_e.then){if(e.__u|=128|c,i){for(~(ne=i.indexOf(
l||void 0))||(ne=i.length);(Be=i[ne-1])&&Be.nodeType==8;)ne--;for(;ne<i.length;ne++)if(Be=i[ne])if(i[ne]=null,me){if(Be==
de)break}else{if(Be.nodeType!=8)break;Be.data.startsWith("$s")&&(de=St(me=Be))}}if(!me){for(;l&&l.nodeType==8&&l.nextSibling;)
l=l.nextSibling;me=l}(d=St(me=e.__c.__z||(e.__c.__z=me)))?(e.__e=me,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(Je);else
e.__e=n.__e;e.__k||(e.__k=n.__k||[]),_e&&_e.then||lr(e),N.__e(_e,e,n)}}else l=e.__e=zi(n.__e,e,n,o,r,i,a,c,u,t);return(d=
N.diffed)&&d(e),l}function St(t,e){if(t&&t.nodeType==8&&t.data.startsWith("$s"))for(var n=1;t=t.nextSibling;){if(t.nodeType==
8){if(t.data.startsWith("$s"))n++;else if(t.data.startsWith("/$s")&&!--n)return t}e&&e.push(t)}}function lr(t){t&&(t.__c&&
(t.__c.__g|=4),t.__k&&t.__k.some(lr))}function cr(t,e,n){for(var o=0;o<n.length;)qn(n[o++],n[o++],n[o++]);N.__c&&N.__c(e,
t),t.some(function(r){try{t=r.__h,r.__h=[],t.some(function(i){i.call(r)})}catch(i){N.__e(i,r.__v)}})}function zi(t,e,n,o,r,i,a,l,c,u){
var d,f,p,h,m,y,_,b,w=n.props||Et,k=e.props,C=e.type;if(C=="svg"?r="http://www.w3.org/2000/svg":C=="math"?r="http://www.\
w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(C?m.localName==C:
m.nodeType==3)){t=m,i[d]=null;break}}if(!t){if(b=u.ownerDocument||document,!C)return b.createTextNode(k);t=b.createElementNS(
r,C,k.is?k:u),l&&(N.__m&&N.__m(e,i),l=!1),i=null}if(C){if(u=C=="template"&&t.content||t,i=C=="textarea"&&k.defaultValue!=
null?null:i&&or.call(u.childNodes),!l&&i)for(w={},d=0;d<t.attributes.length;d++)w[(m=t.attributes[d]).name]=m.value;for(d in w)
m=w[d],d=="dangerouslySetInnerHTML"?p=m:d=="children"||d in k||d=="value"&&"defaultValue"in k||d=="checked"&&"defaultChe\
cked"in k||vt(t,d,null,m,r);for(d in k)m=k[d],d=="children"?h=m:d=="dangerouslySetInnerHTML"?f=m:d=="value"?y=m:d=="chec\
ked"?_=m:l&&typeof m!="function"||w[d]===m||vt(t,d,m,w[d],r);f?(l||p&&(f.__html==p.__html||f.__html==t.innerHTML)||(t.innerHTML=
f.__html),e.__k=[]):(p&&(t.textContent=""),(C=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Bi.test(C))&&(r=
"http://www.w3.org/1999/xhtml"),ir(u,Hn(h)?h:[h],e,n,o,r,i,a,i?i[0]:n.__k&&Me(n,0),l,c),i&&i.some(Je)),l&&C!="textarea"||
(d="value",C=="progress"&&y==null?t.removeAttribute(d):y==null||y===t[d]&&(C!="progress"||y)||vt(t,d,y,w[d],r),d="checke\
d",_!=null&&_!=t[d]&&vt(t,d,_,w[d],r))}else w===k||l&&t.data==k||(t.data=k);return t}function qn(t,e,n,o){try{typeof t==
"function"?e?e.__x=t(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():t(null)):t.current=e}catch(r){
N.__e(r,n)}}function zn(t,e,n){var o,r,i,a;if(N.unmount&&N.unmount(t),!(o=t.ref)||o.current&&o.current!=t.__e||qn(o,null,
e,t),o=t.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){N.__e(l,e)}o.__P=o.__n=null}if(o=t.__k)for(a=
0;a<o.length;a++)o[a]&&zn(o[a],e,typeof t.type!="function"||n&&!t.props.__P);!n&&(o=t.__c)&&(o=o.__z)&&(r=St(o,i=[]))&&(o==
t.__e&&i.some(Je),Je(r),Je(o)),n||Je(t.__e),t.__e=t.__c=t.__=null}function Gi(t,e,n){return this.constructor(t,n)}function dr(t,e){
var n,o,r,i;N.__&&N.__(t,e),e.nodeType==9&&(e=e.documentElement),o=(n=t&&32&t.__u)?null:e.__k,e.__k=xt(T,{children:[t]}),
r=[],i=[],Wn(e,e.__k,o||Et,Et,e.namespaceURI,o?null:e.firstChild?or.call(e.childNodes):null,r,o?o.__e:e.firstChild,n,i),
cr(r,e.__k,i),e.__k.props.children=null}function ur(t){function e(n){var o,r;return this.getChildContext||(o=new Set,(r={})[e.__c]=this,this.getChildContext=function(){
return r},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,Bn(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),n.children}
return e.__c="__cC"+nr++,e.__=t,e.Provider=(e.Consumer=function(n,o){return n.children(o)}).contextType=e,e}N={__e:function(t,e,n,o){for(var r,i,a;e=e.__;)if((r=e.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(i=r.constructor)&&i.getDerivedStateFromError)&&
r.setState(i.getDerivedStateFromError(t)),r.componentDidCatch&&(r.componentDidCatch(t,o||{}),a=1),a&&8&r.__g)return void(r.
__g|=2)}catch(l){t=l}}throw Tt=0,t}},Zo=0,Ui=function(t){return t!=null&&t.constructor===ct},Qe.prototype.setState=function(t,e){
var n=this.__s;n&&n!=this.state||(n=this.__s=He({},this.state)),typeof t=="function"&&(t=t(He({},n),this.props)),t&&(He(
n,t),this.__v&&(e&&this.__k.push(e),Bn(this)))},Qe.prototype.forceUpdate=function(t){this.__v&&(this.__g|=4,t&&this.__h.
push(t),Bn(this))},Qe.prototype.render=T,$e=[],Tt=0,er=function(t,e){return t.__v.__b-e.__v.__b},kt=Symbol(),tr=/(PointerCapture)$|Capture$/i,
Jn=0,Un={},nr=0;var Oe,U,Gn,fr,Kn=Object.is,ut=0,vr=[],Qn=[],H=N,hr=H.__b,pr=H.__r,mr=H.diffed,gr=H.__c,br=H.unmount,yr=H.__;function Ve(t,e){
H.__h&&H.__h(U,t,ut||e),ut=0;var n=U.__H||(U.__H={__:[],__h:[]});return t>=n.__.length&&n.__.push({}),n.__[t]}function g(t){
return ut=1,Ki(xr,t)}function Ki(t,e,n){var o=Ve(Oe++,2);if(o.t=t,!o.__c&&(o.__=[n?n(e):xr(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);Kn(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=U,!U.__f)){U.__f=!0;var r=U.shouldComponentUpdate;
U.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(p){
p.__N&&(u=!0,Kn(p.__[0],p.__N[0])||(d=!0))}),r){var f=r.call(this,i,a,l);return u?f||d:f}return!u||d}}return o.__}function O(t,e){
var n=Ve(Oe++,3);!H.__s&&Yn(n.__H,e)&&(n.__P=!0,n.__=t,n.u=e,U.__H.__h.push(n))}function oe(t,e){var n=Ve(Oe++,4);!H.__s&&
Yn(n.__H,e)&&(n.__P=!1,n.__=t,n.u=e,U.__h.push(n))}function Z(t){return ut=5,ft(function(){return{current:t}},[])}function ft(t,e){var n=Ve(Oe++,7);return Yn(n.__H,e)&&(n.__=t(),n.__H=e),n.__}function ge(t,e){return ut=8,ft(function(){
return t},e)}function kr(t){var e=U.context[t.__c],n=Ve(Oe++,9);return n.c=t,e?(n.__==null&&(n.__=!0,e.sub(U)),e.props.value):
t.__}function Ye(){var t=Ve(Oe++,11);if(!t.__){for(var e=U.__v;!e.__m&&e.__;)e=e.__;var n=e.__m||(e.__m=[0,0]);t.__="P"+n[0]+
"-"+n[1]++}return t.__}function Qi(){var t;do{for(;t=Qn.shift();)try{dt(t)}catch(n){H.__e(n,{__:(t=t.__P)&&t.__v})}for(;t=
vr.shift();){var e=t.__H;if(t.__P&&e)try{e.__h.some(dt),e.__h.some(Vn),e.__h=[]}catch(n){e.__h=[],H.__e(n,t.__v)}}}while(Qn.
length)}H.__b=function(t){U=null,hr&&hr(t)},H.__=function(t,e){t&&e.__k&&e.__k.__m&&(t.__m=e.__k.__m),yr&&yr(t,e)},H.__r=
function(t){pr&&pr(t),Oe=0;var e=(U=t.__c).__H;e&&(Gn==U?U.__h=[]:(e.__h.some(dt),e.__h.some(Vn),Oe=0),e.__h=[],e.__.some(
function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Gn=U},H.diffed=function(t){mr&&mr(t);var e=t.__c;e&&e.__H&&(e.__H.__h.
length&&_r(vr.push(e)),e.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Gn=U=null},H.__c=function(t,e){e.some(function(n){try{
n.__h.some(dt),n.__h=n.__h.filter(function(o){return!o.__||Vn(o)})}catch(o){n.__h=[function(){throw o}]}}),gr&&gr(t,e)},
H.unmount=function(t){br&&br(t);var e,n,o=t.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){
for(n=t.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,_r(Qn.push(r))}else dt(r)}catch(i){e=i}}),o.__H=void 0,e&&
H.__e(e,o.__v))};var wr=typeof requestAnimationFrame=="function";function Vi(t){var e,n=function(){clearTimeout(o),wr&&cancelAnimationFrame(
e),setTimeout(t)},o=setTimeout(n,35);wr&&(e=requestAnimationFrame(n))}function _r(t){t!=1&&fr==H.requestAnimationFrame||
((fr=H.requestAnimationFrame)||Vi)(Qi)}function dt(t){var e=U,n=t.__c;typeof n=="function"&&(t.__c=void 0,n()),U=e}function Vn(t){
var e=U;t.__c=t.__(),U=e}function Yn(t,e){return!t||t.length!=e.length||e.some(function(n,o){return!Kn(n,t[o])})}function xr(t,e){
return typeof e=="function"?e(t):e}var G=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,n,o,r=0){super(o),this.code=e,this.status=
n,this.retryAfter=r}};async function Sr(t){let e=Number(t.headers.get("Retry-After"))||0,n;try{n=await t.json()}catch{n=
void 0}let{code:o,detail:r,title:i}=n??{},a=[r,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${t.status}`;return new G(typeof o=="string"?o:"unknown",t.status,l,e)}function ee(t){let e=t instanceof
Error?t.message:String(t),n=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(n)?n:`${n}.`}var Yi=4,Zn=new G("no_session",401,"you are signed out; sign in to go on"),Pt=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,n={})=>this.call("GET",e,n);async call(e,n,o={}){let{gate:r}=this.#e;for(let i=0;;i++){if(o.
background&&r.ended)throw Zn;let a=await this.#n(e,n,o);if(a.ok)return await this.#o(a);let l=await Sr(a);if(o.bare||i>=
Yi)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&r.ended)
throw Zn;let u=await(c==="no_session"?r.signIn():r.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?Zn:
new G(c,403,"the password was not given, so nothing was changed")}}async#n(e,n,{body:o,background:r,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();r&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(n,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new G("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new G("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var At=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let n=this.#e;n&&(this.#e=void 0,n.question==="sign-in"&&(this.ended=
!e),n.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let n=this.#e;if(n&&n.question!==e)return e==="si\
gn-in"&&(this.#e={...n,question:e}),this.#t(),n.answered;if(n)return n.answered;let o=()=>{},r=new Promise(i=>{o=i});return this.#e=
{question:e,answered:r,answer:o},this.#t(),r}};function eo(t){let[e="",n=""]=t.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
n))}}function M(t,e={}){let n=B(e);return`#/${t}${n}`}var Zi=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function B(t){let e=new URLSearchParams;
for(let[o,r]of Object.entries(t))r!==void 0&&r!==""&&e.set(o,String(r).replace(Zi,"$1"));let n=e.toString().replaceAll("\
+","%20");return n===""?"":`?${n}`}var ea=new Intl.NumberFormat("en",{maximumFractionDigits:0}),ta=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
na=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),Tr=["bytes","KiB","MiB","GiB","TiB","PiB"],A=t=>ea.format(t),$t=t=>t===0||t>=10?A(t):ta.format(
t);function R(t,e,n=`${e}s`){return`${A(t)} ${t===1?e:n}`}function W(t){let e=0,n=t;for(;n>=1024&&e<Tr.length-1;)n/=1024,
e++;return`${e===0||n>=100?A(n):n.toFixed(1)} ${Tr[e]}`}function Ze(t){let e=Math.round(Math.abs(t)/1e3),n=[];for(let[o,
r]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/r);if(e-=i*r,i>0)n.push(`${i} ${o}`);else if(n.length>
0)break;if(n.length===2)break}return n.join(" ")||"0 s"}function ht(t,e){let n=(typeof t=="number"?t:Date.parse(t))-e;if(Number.
isNaN(n))return"";let o=Math.abs(n)<6e4?1e3:Math.abs(n)<864e5?6e4:36e5,r=Ze(Math.trunc(n/o)*o);return n>=0?`in ${r}`:`${r}\
 ago`}function ke(t){let e=new Date(t);if(Number.isNaN(e.getTime()))return"";let n=Object.fromEntries(na.formatToParts(e).
map(({type:o,value:r})=>[o,r]));return`${n.year}-${n.month}-${n.day} ${n.hour}:${n.minute}:${n.second} UTC`}function Ie(t){let e=0;for(let n of t)e++;return e}function to(t){return new TextEncoder().encode(t).length}function ie(t){
return t.split(/[\s,]+/).filter(e=>e!=="")}function be(t,e){if(t.length<=e)return t;let n=[...t];return n.length<=e?t:`${n.
slice(0,e-1).join("")}…`}function We(t,e="and"){return t.length<2?t[0]??"":`${t.slice(0,-1).join(", ")} ${e} ${t[t.length-
1]}`}var Re=/^[0-9a-f]{0,32}$/;function Ne(t){return/^[AM]T_([0-9a-f]{0,32})/.exec(t)?.[1]??t}var no=ur(void 0);function $(){let t=kr(no);if(!t)throw new Error("there is no console here");return t}function z(){return $().
session.role==="manager"}var oa=Symbol.for("pv"),ra=0;function s(t,e,n,o,r,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof t!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:t,props:c,key:n,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:oa,__v:--ra,__i:-1,__u:0};return(r||
i)&&(u.__source=r,u.__self=i),N.vnode&&N.vnode(u),u}function S({text:t,most:e=80}){let n=be(t,e);return s("bdi",{class:"name",...n===t?{}:{title:t},children:n})}function P({
text:t,most:e=256}){let n=be(t,e);return s("bdi",{children:s("code",{...n===t?{}:{title:t},children:n})})}function D({at:t,
plain:e}){let{api:n}=$();return t?s("time",{dateTime:t,title:e?ht(t,n.serverNow()):ke(t),children:e?ke(t):ht(t,n.serverNow())}):
s("span",{children:"–"})}function I({mood:t="plain",children:e}){return s("span",{class:`badge ${t}`,children:e})}function De({
text:t}){return s("div",{role:"alert",class:"errors",children:t&&s("p",{class:"note bad",children:t})})}function K({error:t,
known:e}){return s("div",{role:"alert",class:"errors",children:t&&s("p",{class:"note bad",children:[t," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function J({what:t}){return s("p",{class:"quiet",role:"\
status",children:["Loading ",t,"…"]})}function L({children:t}){return s("div",{class:"empty",children:t})}function re({
of:t}){return s("dl",{class:"facts",children:t.map(e=>e&&s("div",{class:e[2]?"whole":"",children:[s("dt",{children:e[0]}),
s("dd",{children:e[1]})]},e[0]))})}function Er({text:t,label:e,onCopied:n}){let[o,r]=g("");return O(()=>{if(o==="")return;
let a=setTimeout(()=>r(""),4e3);return()=>clearTimeout(a)},[o]),s("span",{class:"copy",children:[s("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(t),r("Copied."),n?.()}catch{r("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),s("span",{role:"status",class:"quiet",children:o})]})}function Q({text:t,
children:e}){return s("div",{class:"heading",children:[s("h1",{tabIndex:-1,children:t}),e&&s("div",{class:"buttons",children:e})]})}var Mt=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#l())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#l(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#l();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#l()},this.pause)}}};function ae(){let[t,e]=g(!1),[n,o]=g(),r=Z({busy:!1,mounted:!0}).current;O(()=>(r.mounted=!0,()=>{r.mounted=!1}),[r]);let i=ge(
async a=>{if(!r.busy){r.busy=!0,e(!0),o(void 0);try{await a()}catch(l){r.mounted&&o(ee(l))}r.busy=!1,r.mounted&&e(!1)}},
[r]);return{busy:t,error:n,run:i,fail:o}}function V(t,e,n,o=!1){let[r,i]=g({key:t}),a=Z(n);a.current=n;let l=Z(void 0);O(
()=>{let u=new Mt({every:e,hidden:()=>document.hidden,ask:async(f,p)=>{try{let h=await a.current({background:f,signal:p});
p.aborted||i({key:t,data:h})}catch(h){throw p.aborted||i(m=>({...m,error:ee(h)})),h}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[t,
e]),O(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,t,e]);let c=ge(()=>l.current?.refresh(),[]);return{data:r.
data,stale:r.key!==t||r.data===void 0,error:r.error,refresh:c}}function Y({label:t,columns:e,rows:n,keyOf:o,detail:r,busy:i}){return s("div",{class:"scroll",children:s("table",{role:"\
table","aria-label":t,"aria-busy":i??!1,children:[s("thead",{role:"rowgroup",children:s("tr",{role:"row",children:e.map(
a=>s("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),s("tbody",{role:"r\
owgroup",children:n.map(a=>{let l=r?.(a);return s(T,{children:[s("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>sa(
c,a,u===0))}),l&&s("tr",{role:"row",class:"detail",children:s("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function sa(t,e,n){let o={"data-label":t.label,class:t.number?"number":""},r=s("div",{children:t.cell(e)});return n?s("t\
h",{...o,role:"rowheader",scope:"row",children:r},t.label):s("td",{...o,role:"cell",children:r},t.label)}function et(t){
return s("button",{type:"button",class:"expand","aria-expanded":t.open,"aria-label":t.label,onClick:t.onToggle,children:t.
children})}function ue({page:t,more:e,onPrevious:n,onNext:o}){return t===1&&!e?null:s("nav",{class:"pages","aria-label":"\
Pages",children:[s("button",{type:"button",disabled:t===1,onClick:n,children:"Previous page"}),s("span",{children:["Page\
 ",t]}),s("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function pt({status:t}){if(!t)return s("span",{children:"–"});let{driver:e,usable:n,error:o,writable:r,replicas:i}=t.store;
return s("span",{class:"state",children:[s("span",{children:e}),n?r?s(I,{mood:"good",children:"ready"}):s(I,{mood:"warn",
children:"read only"}):s(I,{mood:"bad",children:"not usable"}),i&&s("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&s(S,{text:o,most:200})]})}function mt({status:t}){return t?s("span",{class:"\
state",children:[s("span",{children:t.broker.driver}),t.broker.linked?s(I,{mood:"good",children:"linked"}):s(I,{mood:"ba\
d",children:"link lost"})]}):s("span",{children:"–"})}function Cr({status:t}){let e=(t.links??[]).filter(n=>n.code);return e.
length===0?null:s("ul",{children:e.map(n=>s("li",{class:"wrong",children:[s(S,{text:n.of}),": ",s(S,{text:n.reason??"",most:200}),
n.error&&s(T,{children:[" ","(",s(S,{text:n.error,most:200}),")"]}),n.since&&s(T,{children:[", ",s(D,{at:n.since})]})]},
n.of))})}var ia={websocket:"WebSocket",webtransport:"WebTransport"},Fe=t=>ia[t]??t;function Ot({edge:t}){return t.self&&
t.name!=="this edge"?s(I,{children:"this edge"}):null}function je(t){let e=t.edges.filter(n=>!n.answered);return s("div",
{role:"alert",class:"errors",children:e.length>0&&s("div",{class:"note warn",children:[s("p",{children:[e.length===1?"An\
 edge does not answer":`${e.length} edges do not answer`,"."," ",t.missing[e.length===1?0:1]]}),s("ul",{children:[e.slice(
0,20).map(n=>s("li",{children:[s(S,{text:n.name}),n.error&&s(T,{children:[": ",s(S,{text:n.error,most:200})]})]},n.id)),
e.length>20&&s("li",{children:["and ",e.length-20," more"]})]})]})})}function x(t){let{label:e,value:n,onInput:o,hint:r,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:f,
options:p}=t,h=Ye();oe(()=>{t.autoFocus&&document.getElementById(h)?.focus()},[]);let m=f&&f.now>f.most,y=i??(m?`At most\
 ${f.most} ${f.unit}.`:void 0),_={id:h,value:n,readOnly:d??!1,class:c?"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,
autofocus:t.autoFocus??!1,"aria-invalid":y!==void 0,"aria-describedby":`${h}-help`,onInput:b=>o(b.currentTarget.value)};
return s("div",{class:"field",children:[s("label",{for:h,children:e}),l?s("textarea",{..._,rows:l}):a==="password"?s("in\
put",{..._,type:"password"}):s("input",{..._,type:"text",list:p&&`${h}-list`}),p&&s("datalist",{id:`${h}-list`,children:p.
map(b=>s("option",{value:b},b))}),s("div",{id:`${h}-help`,class:"help",children:[r&&s("p",{children:r}),f&&s("p",{class:m?
"wrong":"",children:[f.now," of ",f.most," ",f.unit]}),y&&s("p",{class:"wrong",children:y})]})]})}function q({label:t,value:e,
onInput:n,hint:o,options:r}){let i=Ye();return s("div",{class:"field",children:[s("label",{for:i,children:t}),s("select",
{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>n(a.currentTarget.value),children:r.map(([a,l])=>s("option",{value:a,
children:l},a))}),s("div",{id:`${i}-help`,class:"help",children:o&&s("p",{children:o})})]})}function Se({label:t,checked:e,
onChange:n,hint:o}){let r=Ye();return s("div",{class:"check",children:[s("input",{id:r,type:"checkbox",checked:e,"aria-d\
escribedby":`${r}-help`,onChange:i=>n(i.currentTarget.checked)}),s("label",{for:r,children:t}),s("p",{id:`${r}-help`,class:"\
help",children:o})]})}function ve({title:t,onClose:e,children:n,wide:o}){let r=Z(null),i=Z(!1),a=Ye();return oe(()=>{let l=r.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),s("dialog",{ref:r,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===r.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&r.current?.open===!1&&r.current.showModal()}))},children:[s("h2",{id:a,children:t}),n]})}function ye({action:t,
submit:e,danger:n,disabled:o,onSubmit:r,onCancel:i,children:a,extra:l}){return s("form",{noValidate:!0,"aria-busy":t.busy,
onSubmit:c=>{c.preventDefault(),o||t.run(r)},children:[a,s(De,{text:t.error}),s("div",{class:"buttons",children:[s("butt\
on",{type:"submit",class:n?"danger":"primary",disabled:o,"aria-disabled":t.busy,children:e}),i&&s("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function It({title:t,label:e,secret:n,onClose:o,children:r}){let[i,a]=g(!1),[l,c]=g(!1);return s(ve,{title:t,wide:!0,onClose:()=>i||
l?o():a(!0),children:[s("p",{class:"note warn",children:[s("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),s(Rt,{label:e,text:n,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),r,s("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),s("div",{class:"buttons",children:s("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function Rt({
label:t,text:e,copy:n,onCopied:o}){return s("div",{class:"snippet",children:[s("div",{class:"snippet-head",children:[s("\
h3",{children:t}),s(Er,{text:e,label:n,onCopied:o})]}),s("pre",{tabIndex:0,"aria-label":t,role:"region",children:e})]})}var aa=20;function Ar(t,e=""){let n=[];for(let[o,r]of(t.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=tt(r.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=r.allow_channels_pub??[],c=r.allow_channels_sub??[];l.length>0&&n.push(
["may publish to ",...tt(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&n.push(["may subscribe to ",...tt(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=r.allow_channels_history??[];u.length>0&&n.push(["may read stored messages o\
f ",...tt(u,`${i}.allow_channels_history`,e)," in ",...a]);let d=r.allow_channels_presence??[];d.length>0&&n.push(["may \
see who is present in ",...tt(d,`${i}.allow_channels_presence`,e)," in ",...a]),l.length+c.length===0&&n.push(["may neit\
her publish nor subscribe in ",...a])}return n.push(Nt("from ",t.allow_ip_masks,"right.allow_ip_masks",e,"any address")),
t.allowed_ws_origin?.length&&n.push(Nt("from pages of ",t.allowed_ws_origin,"right.allowed_ws_origin",e,"")),t.allow_regions?.
length&&n.push(Nt("at edges in ",t.allow_regions,"right.allow_regions",e,"")),n.push(Nt("by ",t.allow_protocols,"right.a\
llow_protocols",e,"WebSocket or WebTransport")),n.push([`may send ${Pr(t.ingress_kb_per_sec)} and receive ${Pr(t.egress_kb_per_sec)}\
 on each connection`]),n}function $r(t){return/^right\.[\w.[\]]+/.exec(t??"")?.[0]??""}function Mr(t,e){return e!==""&&(t===e||t.startsWith(`${e}\
[`))}function Pr(t){return t===void 0?"as much as the edge's default":`${t.toLocaleString("en")} KB/s`}function Nt(t,e,n,o,r){
return e?.length?[t,...tt(e,n,o,"or")]:[t+r]}function tt(t,e,n,o="and"){let r=t.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=r.filter((c,u)=>u<aa||c.path===n),a=r.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${R(a,"other")}`),l}function Or({token:t,onAction:e}){let n=z(),o=t.token_id.slice(0,12),r=(i,a)=>s("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return s("div",{class:"token-detail",children:[s("div",{children:[s("h2",{children:"\
What it allows"}),s(oo,{right:t.right,mark:""})]}),s(re,{of:[["Id",s(P,{text:t.token_id},"id"),"wide"],t.subject?["Subje\
ct",s(S,{text:t.subject,most:128},"subject")]:void 0,t.info?["Info",s(P,{text:JSON.stringify(t.info),most:1024},"info"),
"wide"]:void 0,t.description?["Description",s(S,{text:t.description,most:512},"description")]:void 0,["Made",s(D,{at:t.created_at,
plain:!0},"made")],["Ends",s(D,{at:t.expires_at,plain:!0},"ends")],t.revoked_at?["Revoked",s(D,{at:t.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",t.master_id?s(P,{text:t.master_id},"master"):"the console or the admin API"]]}),s("div",
{class:"buttons",children:[n&&t.status==="valid"&&r("refresh","Refresh"),n&&t.status!=="revoked"&&r("revoke","Revoke"),r(
"explain","Explain"),s("a",{class:"button",href:M("connections",{token_id:t.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),s("a",{class:"button",href:M("refused",{token_id:t.token_id}),"aria-label":`Refused of ${o}`,children:"\
Refused"}),t.subject&&s("a",{class:"button",href:M("tokens",{subject:t.subject}),"aria-label":`All of its subject, of to\
ken ${o}`,children:"All of its subject"})]})]})}function oo({right:t,mark:e}){return s("ul",{class:"right",children:Ar(t,
e).map((n,o)=>s("li",{children:s(la,{sentence:n,mark:e})},o))})}function la({sentence:t,mark:e}){return s(T,{children:t.
map(n=>{if(typeof n=="string")return n;let o=s(P,{text:n.rule},n.path);return Mr(n.path,e)?s("mark",{children:o},n.path):
o})})}var ca=[["subscribe","subscribe"],["history","read stored messages"],["presence","see who is present"],["publish","publi\
sh"],["connect","connect"]],da=[["","not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Ir({
token:t,onClose:e}){let{api:n}=$(),o=ae(),[r,i]=g(t),[a,l]=g(),[c,u]=g({token_id:t?.token_id??"",action:"subscribe",tenant:t?.
right.tenant_grants?.[0]?.tenant_ids?.[0]??"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=h=>m=>u(y=>({...y,[h]:m.
trim()})),f=c.action==="connect";return s(ve,{title:"Explain",wide:!0,onClose:e,children:[s("p",{class:"quiet",children:"\
Asks the edge whether a token allows something, and by which of its rules."}),s(ye,{action:o,submit:"Explain",onSubmit:async()=>{
let{token_id:h}=c;if(!/^[0-9a-f]{32}$/.test(h))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secr\
et does not belong here");l(void 0);let m=Object.entries(c).filter(([,b])=>b!==""),y=Object.fromEntries(m.filter(([b])=>!f||
b!=="tenant"&&b!=="channel")),_=await n.call("POST","explain",{body:y});if(r?.token_id!==h){let b=await n.get(`tokens${B(
{id:h,limit:1})}`);i(b.tokens?.find(w=>w.token_id===h))}l(_)},extra:s("button",{type:"button",onClick:e,children:"Close"}),
children:[s(x,{label:"Token id",value:c.token_id,onInput:h=>d("token_id")(Ne(h.trim())),mono:!0,autoFocus:!t}),s("div",{
class:"row",children:[s(q,{label:"Action",value:c.action,onInput:d("action"),options:ca}),!f&&s(x,{label:"Tenant",value:c.
tenant,onInput:d("tenant"),mono:!0,autoFocus:t!==void 0}),!f&&s(x,{label:c.action==="publish"?"Channel":"Pattern",value:c.
channel,onInput:d("channel"),mono:!0})]}),s("div",{class:"row",children:[s(x,{label:"Address",value:c.ip,onInput:d("ip"),
mono:!0,hint:"Of the client, if it matters."}),s(x,{label:"Origin",value:c.origin,onInput:d("origin"),mono:!0,hint:"Of i\
ts page."}),s(q,{label:"Transport",value:c.protocol,onInput:d("protocol"),options:da}),s(x,{label:"Region",value:c.region,
onInput:d("region"),mono:!0,hint:"Of the edge."})]}),s("div",{role:"status",class:"answer",children:a&&s(ua,{answer:a,token:r})})]})]})}
function ua({answer:t,token:e}){let n=$r(t.rule);return s(T,{children:[s("p",{children:[s(I,{mood:t.allowed?"good":"bad",
children:t.allowed?"allowed":"not allowed"})," ",s("bdi",{children:t.reason}),"."]}),t.rule&&s("p",{children:["Rule: ",s(
P,{text:t.rule,most:600})]}),t.token&&s("p",{children:["Subject: ",t.token.subject?s(S,{text:t.token.subject,most:128}):
"none",". Issued with"," ",t.token.master_id?s(S,{text:t.token.master_name??`${t.token.master_id}, which is deleted`,most:128}):
"the console or the admin API",", for ",s(S,{text:t.token.created_by,most:128}),"."]}),e&&s(oo,{right:e.right,mark:n}),t.
limits&&s(fa,{limits:t.limits})]})}function fa({limits:t}){return s(re,{of:t.map(({name:e,of:n,limit:o,used:r})=>[n?`${e}\
 of ${be(n,40)}`:e,`${e.startsWith("max_connections")||e==="issuer_share"?`${A(r??0)} of `:""}${o?A(o):"no limit"}`])})}var ha={s:1e3,m:6e4,h:36e5,d:864e5},pa=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
Rr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function ro(t,e){let n=t.trim();
if(n==="")return{error:Rr};let o=ma(n),r=o===void 0?ga(n):e+o;return r===void 0?{error:Rr}:r<=e?{error:"This is over alr\
eady. The end must be in the future."}:r>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
r/1e3)*1e3)}}function ma(t){let e=t,n=0;for(;e!=="";){let o=pa.exec(e),r=ha[o?.[2]?.toLowerCase()??""];if(!o||r===void 0)
return;n+=Number(o[1])*r,e=e.slice(o[0].length)}return n}function ga(t){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(t))return;let e=Date.parse(t.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function fe({title:t,submit:e,danger:n,disabled:o,onClose:r,onConfirm:i,children:a}){let l=ae();return s(ve,{title:t,onClose:r,
children:s(ye,{action:l,submit:e,danger:n,disabled:o,onSubmit:i,onCancel:r,children:a})})}var Nr=50,ba=20;async function ya(t,e,n,o,r){let i={tokens:[],next:n,asked:0};do{let a={limit:Nr-i.tokens.length,cursor:i.
next},l=await t.get(`tokens${B({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},r(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<Nr);return i}async function Dr(t,e,n){
let o=0,r="";for(let i=0;i<ba;i++){let a=B({subject:e,status:"valid",limit:1e3,cursor:r}),l=await t.get(`tokens${a}`,{signal:n});
if(o+=l.tokens?.length??0,r=l.next_cursor??"",r==="")return{count:o,all:!0}}return{count:o,all:!1}}function Fr(t,e){let[
n,o]=g([""]),[r,i]=g(),[a,l]=g(!1),[c,u]=g(),d=Z(void 0),f=JSON.stringify(e),p=Z(e);p.current=e;let h=ge(async y=>{d.current?.
abort();let _=new AbortController;d.current=_;let b=()=>d.current===_;l(!0),u(void 0);try{await ya(t,p.current,y,_.signal,
w=>b()&&i(w))}catch(w){b()&&u(ee(w))}b()&&l(!1)},[t]);O(()=>(o([""]),i(void 0),h(""),()=>{d.current?.abort(),d.current=void 0}),
[f,h]);let m=y=>{o(y),h(y[y.length-1]??"")};return{found:r,busy:a,error:c,page:n.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...n.slice(0,-1),r?.next??""]),refresh:()=>m(n),next:()=>m([...n,r?.next??""]),previous:()=>m(n.slice(0,-1))}}var jr=t=>`tokens/${encodeURIComponent(t.token_id)}`;function so({label:t,value:e,onInput:n}){let{api:o}=$(),r=o.serverNow(),
i=ro(e,r);return s(x,{label:t,value:e,onInput:n,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${ke(i.at.getTime())}, ${ht(i.at.getTime(),r)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function io(t,e){let n=ro(t,e);if(!n.at)throw new Error(n.error);return n.at.toISOString().replace(/\.\d+Z$/,"Z")}
function Lr({token:t,onClose:e,onDone:n}){let{api:o}=$(),[r,i]=g("1h");return s(fe,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:io(r,o.serverNow())},{new_expires_at:c}=await o.call("PUT",jr(t),
{body:l});n(`The token ${t.token_id.slice(0,12)}… now ends ${ke(c)}.`)},children:[s("p",{children:["The token ",s(P,{text:t.
token_id})," of ",s(S,{text:t.created_by,most:40})," ends"," ",s(D,{at:t.expires_at}),". Its open connections go on unti\
l the new end."]}),s(so,{label:"New end",value:r,onInput:i})]})}function Xr({token:t,onClose:e,onDone:n}){let{api:o}=$(),
[r,i]=g("The connections that end are being counted…");return O(()=>{let l=new AbortController;return wa(t.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${ee(c)}`)),
()=>l.abort()},[o,t.token_id]),s(fe,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",jr(t),{body:{}}),n(`The token ${t.token_id.slice(0,12)}… was revoked.`)},children:[s("p",{children:[
"The token ",s(P,{text:t.token_id})," of ",s(S,{text:t.created_by,most:40})," stops working at once, for good."]}),s("p",
{role:"status",children:r})]})}function Ur({subject:t,onClose:e,onDone:n}){let{api:o}=$(),[r,i]=g("Its tokens are being \
counted…");return O(()=>{let l=new AbortController;return Dr(o,t,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${R(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${ee(c)}`)),()=>l.abort()},[o,t]),s(fe,{title:"Revoke all tokens of this subject",submit:"R\
evoke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(t)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});n(`${R(c,"token")} revoked.`)},children:[s("p",{children:["All tokens of ",s(S,{text:t,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),s("p",{role:"status",children:r})]})}function wa(t){
return async(e,n)=>{let r=(await e.get(`connections${B({token_id:t,limit:1})}`,{signal:n})).edges??[],i=r.reduce((c,u)=>c+
u.matching,0),a=r.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${R(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${We(a.slice(0,10))}, which did not answe\
r.`}}var Br=/^[\w\-~@.]*$/;function gt(t){let e=/[A-Za-z0-9]$/.test(t)?`${t}.`:t;return Br.test(e)&&e.length<=127?e:void 0}var Jr="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function he(t){return t.length>0&&t.length<=128&&Br.
test(t)}function nt(t){let e=t.indexOf("/"),n=e<0?t:t.slice(0,e);if(n.includes("%"))return"has a zone, which a mask may not have";
let o=Hr(n),r=o?void 0:_a(n);if(!o&&!r)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(r&&ka(r))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=t.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function Hr(t){let e=t.split(".");return e.length===
4&&e.every(n=>/^(0|[1-9]\d{0,2})$/.test(n)&&Number(n)<=255)}function _a(t){let e=t.split("::");if(e.length>2)return;let[
n,o]=e.map((i,a)=>va(i,a===e.length-1));if(!n||e.length===2&&!o)return;if(!o)return n.length===8?n:void 0;let r=8-n.length-
o.length;return r<1?void 0:[...n,...new Array(r).fill(0),...o]}function va(t,e){if(t==="")return[];let n=[],o=t.split(":");
for(let[r,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))n.push(Number.parseInt(i,16));else if(e&&r===o.length-1&&Hr(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);n.push(a*256+l,c*256+u)}else return;return n}function ka(t){return t.slice(
0,5).every(e=>e===0)&&t[5]===65535}var lo=64,co=512,Wr=256,xa=2**40,ao=t=>t?String(t):"";function qr(t){return{name:t?.name??"",description:t?.description??
"",prefix:t?.tenant_prefix??"",masks:(t?.allow_ip_masks??[]).join(`
`),maxTokens:ao(t?.max_tokens),maxBytes:ao(t?.max_bytes),calls:ao(t?.calls_per_second)}}function uo(t){return{prefix:gt(
t.prefix)===void 0?Jr:void 0,masks:Ft(ie(t.masks)),maxTokens:Le(t.maxTokens),maxBytes:Le(t.maxBytes),calls:Le(t.calls)}}
function zr(t){let e=Ie(t.name);return e<1||e>lo||Ie(t.description)>co?!1:Object.values(uo(t)).every(n=>n===void 0)}function Dt(t){
return{name:t.name,description:t.description,tenant_prefix:gt(t.prefix)??t.prefix,allow_ip_masks:ie(t.masks),max_tokens:Number(
t.maxTokens),max_bytes:Number(t.maxBytes),calls_per_second:Number(t.calls)}}function Gr(t,e){let n=Dt(t),o=Object.entries(
Dt(e)).filter(([r,i])=>JSON.stringify(i)!==JSON.stringify(n[r]));return Object.fromEntries(o)}function Ft(t){if(t.length>
Wr)return`At most ${Wr} masks.`;for(let e of t){let n=nt(e);if(n)return`${e} ${n}.`}}function Le(t,e=xa){if(!(t===""||/^\d{1,13}$/.
test(t)&&Number(t)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var Sa=256,Ta=128,Kr=2**31;function Qr({onClose:t,onIssued:e}){let{api:n,session:o}=$(),r=ae(),[i,a]=g({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",presence:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",
egress:"",websocket:!0,webtransport:!0}),l=d=>f=>a(p=>({...p,[d]:f})),c=ie(i.tenants).find(d=>!he(d));return s(ve,{title:"\
Issue a trial token",onClose:t,children:[s("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend,\
 which holds a master token."}),s(ye,{action:r,submit:"Issue",onSubmit:async()=>{let d=ie(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||Ft(ie(i.masks))||Le(i.ingress)||Le(i.egress))throw new Error("correct the fields t\
hat are marked");let f=m=>m===""?void 0:Number(m),p=i.websocket!==i.webtransport,h={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:ie(i.pub),allow_channels_sub:ie(
i.sub),allow_channels_history:ie(i.history),allow_channels_presence:ie(i.presence)}],allow_ip_masks:ie(i.masks),allowed_ws_origin:ie(
i.origins),allow_regions:ie(i.regions),allow_protocols:p?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:f(
i.ingress),egress_kb_per_sec:f(i.egress),expires_at:io(i.end,n.serverNow())}};e(await n.call("POST","tokens",{body:h}))},
onCancel:t,children:[s(x,{label:"Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c}\
 is no tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),s("div",{class:"row",children:[
s(x,{label:"May publish to",value:i.pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),s(x,{label:"\
May subscribe to",value:i.sub,onInput:l("sub"),rows:2,mono:!0,hint:"# is every channel."})]}),s("div",{class:"row",children:[
s(x,{label:"May read stored messages of",value:i.history,onInput:l("history"),rows:2,mono:!0,hint:"Of what it may subscr\
ibe to. Nothing: subscriptions begin now."}),s(x,{label:"May see who is present in",value:i.presence,onInput:l("presence"),
rows:2,mono:!0,hint:"To join needs no more than to subscribe, and a subject."})]}),s(so,{label:"Valid until",value:i.end,
onInput:l("end")}),s("div",{class:"row",children:[s(x,{label:"Created by",value:i.createdBy,onInput:l("createdBy"),count:{
now:to(i.createdBy),most:Sa,unit:"bytes"}}),s(x,{label:"Description",value:i.description,onInput:l("description"),count:{
now:Ie(i.description),most:512,unit:"characters"}})]}),s(x,{label:"Subject",value:i.subject,onInput:l("subject"),count:{
now:to(i.subject),most:Ta,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),s("details",{children:[s("summary",
{children:"More limits"}),s(x,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:Ft(ie(i.masks))}),s(
x,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.com"}),s(x,{label:"\
Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),s("fieldset",{children:[s("legend",{children:"\
Transports"}),s(Se,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),s(Se,{label:"WebTransport",checked:i.
webtransport,onChange:l("webtransport")})]}),s("div",{class:"row",children:[s(x,{label:"May send, KB/s",value:i.ingress,
onInput:l("ingress"),error:Le(i.ingress,Kr)}),s(x,{label:"May receive, KB/s",value:i.egress,onInput:l("egress"),error:Le(
i.egress,Kr)})]})]})]})]})}var Ea=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],Ca={valid:"good",expired:"plain",revoked:"\
bad"};function Vr({query:t}){let{api:e,notify:n}=$(),o=z(),[r,i]=g(),a={id:t.id??"",tenant:t.tenant??"",subject:t.subject??
"",created_by:t.created_by??"",status:t.status??""},l=Fr(e,a),c=()=>i(void 0),u=d=>{c(),n(d),l.refresh()};return s(T,{children:[
s(Q,{text:"Access tokens",children:[s("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Exp\
lain"}),o&&a.subject!==""&&s("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&s("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),s(Pa,{query:a,onSearchAgain:l.refresh}),s(K,{error:l.error,known:!1}),s(Aa,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,f)=>i({what:d,token:f})}),r?.what==="issue"&&s(Qr,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),r?.what==="issued"&&s(It,{title:"The access token",label:"Access token",secret:r.issued.
token,onClose:c,children:s("p",{children:["Its id is ",s(P,{text:r.issued.token_id}),". It expires ",ke(r.issued.expires_at),
"."]})}),r?.what==="explain"&&s(Ir,{token:r.token,onClose:c}),r?.what==="refresh"&&s(Lr,{token:r.token,onClose:c,onDone:u}),
r?.what==="revoke"&&s(Xr,{token:r.token,onClose:c,onDone:u}),r?.what==="revoke subject"&&s(Ur,{subject:r.subject,onClose:c,
onDone:u})]})}function Pa({query:t,onSearchAgain:e}){let[n,o]=g(t),r=JSON.stringify(t);oe(()=>o(t),[r]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return s("search",{children:s("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!Re.test(n.id))return;let l=M("tokens",n);l===M("tokens",t)?e():location.hash=l},children:[s(x,{label:"\
Id",value:n.id,onInput:a=>i("id")(Ne(a.trim())),mono:!0,error:Re.test(n.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),s(x,{label:"Tenant",value:n.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),s(x,{label:"Subject",value:n.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),s(x,{label:"\
Created by",value:n.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),s(q,{label:"State",value:n.
status,onInput:i("status"),options:Ea}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"\
Search"}),s("a",{class:"button",href:M("tokens"),children:"Clear"})]})]})})}function Aa({search:t,filtered:e,onAction:n}){
let[o,r]=g(),i=z(),{found:a,busy:l}=t,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return s(T,{children:[
s("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&s("span",{children:["Still searching: ",R(c.length,
"token")," found so far."]}),u&&s("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&s("but\
ton",{type:"button",onClick:t.stop,children:"Stop the search"}),u&&s("button",{type:"button",onClick:t.goOn,children:"Se\
arch on"}),l&&!a&&s(J,{what:"the access tokens"}),c.length>0&&s(Y,{label:"Access tokens",columns:$a(o,r),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&s(Or,{token:d,onAction:f=>n(f,d)})}),!l&&a&&c.length===0&&a.next===""&&s(L,{children:e?
s("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):s("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),s(ue,{page:t.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:t.previous,onNext:t.next})]})}
function $a(t,e){return[{label:"Id",cell:({token_id:n})=>s(et,{open:t===n,label:`Details of token ${n.slice(0,12)}`,onToggle:()=>e(
t===n?void 0:n),children:s("code",{children:n.slice(0,12)})})},{label:"Subject",cell:({subject:n})=>n?s(S,{text:n,most:40}):
s(T,{children:"–"})},{label:"Created by",cell:({created_by:n})=>s(S,{text:n,most:40})},{label:"Tenants",cell:({right:n})=>s(
fo,{names:(n.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:n})=>s(I,{mood:Ca[n]??"plai\
n",children:n})},{label:"Made",cell:({created_at:n})=>s(D,{at:n})},{label:"Ends",cell:({expires_at:n})=>s(D,{at:n})}]}function fo({
names:t}){let e=[...new Set(t)];return e.length===0?s(T,{children:"–"}):s("span",{class:"list",title:e.length>2?We(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(n=>s(P,{text:n,most:40},n)),e.length>2&&s("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var ot=t=>`${t.edge}:${t.id}`,Yr=t=>t?A(t):"none";function Zr(t,e,n){return[{label:"Connection",cell:r=>{let i=ot(r);return s(
et,{open:e===i,label:`Details of connection ${r.id} at ${r.edge_name}`,onToggle:()=>n(e===i?void 0:i),children:r.id})}},
...t?[{label:"Edge",cell:r=>s(S,{text:r.edge_name,most:40})}]:[],{label:"Token",cell:r=>s("a",{href:M("tokens",{id:r.token_id}),
"aria-label":`Token ${r.token_id.slice(0,8)}`,children:s("code",{children:r.token_id.slice(0,8)})})},{label:"Subject",cell:({
subject:r})=>r?s(S,{text:r,most:40}):s(T,{children:"–"})},{label:"Tenants",cell:r=>s(fo,{names:r.tenants??[]})},{label:"\
Address",cell:r=>s("span",{class:"address",children:r.ip?s(P,{text:r.ip}):"unknown"})},{label:"Transport",cell:r=>s(T,{children:[
Fe(r.transport)," ",r.draining&&s(I,{mood:"warn",children:"draining"})]})},{label:"Since",cell:r=>s(D,{at:r.since})},{label:"\
Subscriptions",number:!0,cell:r=>A(r.subscriptions)},{label:"Queue",number:!0,cell:r=>W(r.queued_bytes)},{label:"Caps, K\
B/s",cell:r=>`in ${Yr(r.ingress_kb_per_sec)}, out ${Yr(r.egress_kb_per_sec)}`},{label:"Dropped",number:!0,cell:r=>A(r.dropped)}]}var Ma=5e3,ho=200;function es({connection:t,onDisconnect:e}){let{api:n}=$(),o=z(),r=`connections/${encodeURIComponent(t.
edge)}/${t.id}`,{data:i,error:a}=V(ot(t),Ma,async d=>{try{return await n.get(r,d)}catch(f){if(f instanceof G&&f.status===
404&&f.code!=="not_found")return"gone";throw f}}),l=i==="gone"?void 0:i,c=l??t,u=`connection ${c.id} at ${c.edge_name}`;
return s("div",{class:"connection-detail",children:[i==="gone"&&s("p",{role:"status",children:"It is closed now."}),s(De,
{text:a}),s(re,{of:[["Token",s(P,{text:c.token_id},"token"),"wide"],c.connection_id?["Connection id",s(P,{text:c.connection_id},
"connection")]:void 0,c.issuer?["Issuer",s(P,{text:c.issuer},"issuer"),"wide"]:void 0,c.subject?["Subject",s(S,{text:c.subject,
most:128},"subject")]:void 0,["Token ends",s(D,{at:c.expires_at},"expires")],["Waiting in its queue",W(c.queued_bytes)],
["Dropped deliveries",A(c.dropped)]]}),s("h2",{children:"Subscriptions"}),!i&&!a&&s(J,{what:"the subscriptions"}),l&&s(Oa,
{detail:l}),s("div",{class:"buttons",children:[o&&i!=="gone"&&s("button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,
children:"Disconnect"}),s("a",{class:"button",href:M("connections",{token_id:c.token_id}),children:"All of its token"}),
c.subject&&s("a",{class:"button",href:M("connections",{subject:c.subject}),children:"All of its subject"}),s("a",{class:"\
button",href:M("tokens",{id:c.token_id}),children:"Its token"})]})]})}function Oa({detail:t}){let e=t.patterns??[],n=e.length-
ho+(t.more_patterns??0);return e.length===0?s("p",{children:"It is subscribed to nothing."}):s("ul",{class:"chips patter\
ns","aria-label":"Subscriptions",tabIndex:0,children:[e.slice(0,ho).map(({tenant:o,pattern:r})=>s("li",{children:[s(P,{text:r}),
" in ",s(P,{text:o})]},`${o} ${r}`)),e.length<ho?(t.more_patterns??0)>0&&s("li",{children:["and ",R(t.more_patterns??0,"\
more","more")]}):n>0&&s("li",{children:["and ",A(n)," more"]})]})}var Ia=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]];function ts({query:t,edges:e,onAgain:n}){let[
o,r]=g(t),i=JSON.stringify(t);oe(()=>r(t),[i]);let a=d=>f=>r(p=>({...p,[d]:f.trim()})),l=o.ip===""?void 0:nt(o.ip),c=e.map(
d=>[d.id,be(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,be(o.edge,60)]]:[];return s("search",{children:s(
"form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{if(d.preventDefault(),l||!Re.test(o.token_id))return;
let f=M("connections",o);f===M("connections",t)?n():location.hash=f},children:[s(x,{label:"Token id",value:o.token_id,onInput:d=>a(
"token_id")(Ne(d.trim())),mono:!0,error:Re.test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole\
 id."}),s(x,{label:"Subject",value:o.subject,onInput:d=>r(f=>({...f,subject:d})),hint:"The whole subject."}),s(x,{label:"\
Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),s(x,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`I\
t ${l}.`,hint:"One, or a CIDR."}),s(q,{label:"Transport",value:o.transport,onInput:a("transport"),options:Ia}),s(q,{label:"\
Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"\
submit",class:"primary",children:"Filter"}),s("a",{class:"button",href:M("connections"),children:"Clear"})]})]})})}function ns({target:t,onClose:e,onDone:n}){let{api:o}=$(),{connection:r,tokenID:i}=t,[a,l]=g(r===void 0);return s(fe,{title:r?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!r?{token_id:i}:{edge:r.edge,id:r.id},{disconnected:d,unanswered:f,silent:p}=await o.call("POST","connections/d\
isconnect",{body:u}),h=f??[],m=h.length>0?` Not reached: ${We(h.slice(0,10))}, which did not answer. Try again later.`:"",
y=p?.length?` Silent, and so not asked: ${We(p.slice(0,10))}.`:"";n(`${R(d,"connection")} disconnected.${m}${y}`)},children:[
r&&s("p",{children:["Connection ",r.id," at ",s(S,{text:r.edge_name})," is closed."]}),r&&s(Se,{label:"All connections o\
f its token",checked:a,onChange:l,hint:"At every edge."}),!r&&s("p",{children:["All connections of the token ",s(P,{text:i}),
" are closed, at every edge."]}),s("p",{children:["A client may come back while its token is valid. To keep it away,"," ",
s("a",{href:M("tokens",{id:i}),children:"revoke the token"})," in place of this."]})]})}var Ra=100,Na=3e3;function os({query:t}){let{api:e,notify:n}=$(),o=z(),[r,i]=g(!1),[a,l]=g([""]),[c,u]=g(),d={token_id:t.
token_id??"",subject:t.subject??"",tenant:t.tenant??"",ip:t.ip??"",transport:t.transport??"",edge:t.edge??""},f=B(d);O(()=>l(
[""]),[f]);let p=`connections${B({...d,limit:Ra,cursor:a[a.length-1]})}`,{data:h,stale:m,error:y,refresh:_}=V(p,Na,k=>e.
get(p,k),r),b=h?.edges??[],w=h?.connections??[];return s(T,{children:[s(Q,{text:"Connections",children:[s("button",{type:"\
button","aria-pressed":r,onClick:()=>i(!r),children:r?"Resume":"Pause"}),o&&d.token_id!==""&&s("button",{type:"button",onClick:()=>u(
{tokenID:d.token_id}),children:"Disconnect all of this token"})]}),s(ts,{query:d,edges:b,onAgain:_}),s(K,{error:y,known:h!==
void 0}),s(je,{edges:b,missing:["Its connections are not listed.","Their connections are not listed."]}),!h&&!y&&s(J,{what:"\
the connections"}),h&&s(Da,{edges:b,paused:r}),w.length>0&&s(Fa,{rows:w,several:b.length>1,busy:m,onDisconnect:k=>u({connection:k,
tokenID:k.token_id})}),h&&!m&&w.length===0&&a.length===1&&s(L,{children:f===""?s("p",{children:"No client is connected. \
Clients appear here as they connect with an access token."}):s("p",{children:"No connection matches. Ask for less, or cl\
ear the filters."})}),s(ue,{page:a.length,more:!m&&(h?.next_cursor??"")!=="",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l(
[...a,h?.next_cursor??""])}),c&&s(ns,{target:c,onClose:()=>u(void 0),onDone:k=>{u(void 0),n(k),_()}})]})}function Da({edges:t,
paused:e}){let n=t.reduce((r,i)=>r+i.total,0),o=t.reduce((r,i)=>r+i.matching,0);return s("div",{class:"totals",children:[
s("p",{children:[o===n?`${R(n,"connection")}.`:`${A(o)} of ${R(n,"connection")} match.`,e&&s("strong",{children:" Paused\
: the list is as it was."})]}),t.length>1&&s("ul",{class:"chips","aria-label":"By edge",children:t.slice(0,50).map(r=>s(
"li",{children:[s(S,{text:r.name,most:40})," ",r.answered?A(r.matching):"no answer"]},r.id))})]})}function Fa({rows:t,several:e,
busy:n,onDisconnect:o}){let[r,i]=g();return s(Y,{label:"Connections",columns:Zr(e,r,i),rows:t,keyOf:ot,busy:n,detail:a=>r===
ot(a)&&s(es,{connection:a,onDisconnect:()=>o(a)})})}function rs({members:t,leader:e,needed:n,running:o}){let r=t?.length??0,i=o-n,a=`${o} of ${r} members run, and ${n} must`;
return r===0?{text:"No member leads yet: the first start needs all edges that routes lists.",wrong:!0}:i<0?{text:`${a}: \
nothing can be stored. Start the offline members.`,wrong:!0}:e===""?{text:`${a}, but none leads: nothing can be stored. \
An election takes seconds.`,wrong:!0}:i>0?{text:`${a}: ${i} more may be lost.`,wrong:!1}:o===r?{text:`${a}: a loss stops\
 the cluster.`,wrong:!1}:{text:`${a}: one more loss stops the cluster. Start the offline members, or remove those that d\
o not come back, with millrace pubsub edges remove.`,wrong:!0}}var ja={leader:"good",current:"good",lagging:"warn",offline:"bad"},La=[{label:"Member",cell:t=>s(S,{text:t.name})},{label:"\
State",cell:t=>s(I,{mood:ja[t.state]??"plain",children:t.state})},{label:"Since",cell:t=>s(D,{at:t.since})},{label:"Behi\
nd",number:!0,cell:t=>A(t.behind)},{label:"Replicas",number:!0,cell:t=>A(t.replicas)+(t.lagging>0?`, ${A(t.lagging)} lag\
ging`:"")}];function ss({quorum:t}){let{text:e,wrong:n}=rs(t);return s("section",{"aria-labelledby":"members",children:[
s("h2",{id:"members",children:"Members of the NATS cluster inside edges"}),n?s("div",{class:"note warn",role:"alert",children:s(
"p",{children:e})}):s("p",{class:"quiet",children:e}),s(Y,{label:"Members",columns:La,rows:t.members??[],keyOf:o=>o.name})]})}function is(){let{api:t}=$(),[e,n]=g(),{data:o,error:r,refresh:i}=V("edges",5e3,c=>t.get("edges",c)),a=o?.edges??[],l=a.
find(c=>c.status?.quorum)?.status?.quorum;return s(T,{children:[s(Q,{text:"Edges"}),s(K,{error:r,known:o!==void 0}),!o&&
!r&&s(J,{what:"the edges"}),s(je,{edges:a,missing:["What it does is not known.","What they do is not known."]}),o&&a.length===
0&&s(L,{children:s("p",{children:"No edge is known yet. This one appears within seconds."})}),s("div",{class:"cards",children:a.
map(c=>s(Xa,{edge:c,onDrain:()=>n(c)},c.id))}),l&&s(ss,{quorum:l}),a.length===1&&s("p",{class:"quiet",children:"This edg\
e is alone. Edges that share a broker, such as NATS, appear here together."}),e&&s(Ba,{edge:e,onClose:()=>n(void 0),onDone:i})]})}
var as=t=>t.state==="draining"||t.status?.draining===!0;function Xa({edge:t,onDrain:e}){let n=z(),{status:o}=t,r=as(t),i=r?
"Undrain":"Drain";return s("article",{class:"card","aria-label":`Edge ${t.name}`,children:[s("div",{class:"card-head",children:[
s("h2",{children:s(S,{text:t.name})}),s(Ot,{edge:t}),r&&s(I,{mood:"warn",children:"draining"}),t.state==="silent"&&s(I,{
mood:"bad",children:"silent"}),!t.answered&&s(I,{mood:"bad",children:"no answer"}),t.answered&&!r&&t.state!=="silent"&&s(
I,{mood:"good",children:"serving"})]}),s(re,{of:[["Id",s(P,{text:t.id},"id"),"wide"],["Host",t.host?s(S,{text:t.host}):"\
none announced"],["Region",t.region?s(S,{text:t.region}):"none"],!t.self&&["Last heard of",s(D,{at:t.seen_at},"seen")],...o?
Ua(o):[]]}),n&&t.answered&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`${i} ${t.name}`,onClick:e,
children:i})})]})}function Ua(t){let e=Object.entries(t.connections??{}),n=e.reduce((r,[,i])=>r+i,0),o=e.map(([r,i])=>`${Fe(
r)} ${A(i)}`).join(", ");return[["Connections",`${A(n)}${t.max_connections>0?` of ${A(t.max_connections)}`:""}${o?` (${o}\
)`:""}`],["Subscriptions",`${A(t.subscriptions)} to ${A(t.patterns)} patterns`],["Waiting in queues",W(t.queued_bytes)],
["Memory",W(t.memory_bytes)],["Token store",s(pt,{status:t},"store"),"wide"],["Broker",s(mt,{status:t},"broker"),"wide"],
(t.links??[]).some(r=>r.code)&&["Trouble",s(Cr,{status:t},"links"),"wide"],["Started",s(D,{at:t.started_at},"started")],
["Version",s(S,{text:`${t.version}, Caddy ${t.caddy}, ${t.go}`},"version"),"wide"]]}function Ba({edge:t,onClose:e,onDone:n}){
let{api:o,notify:r}=$(),i=as(t),a=async()=>{await o.call(i?"DELETE":"POST",`edges/${encodeURIComponent(t.id)}/drain`,{body:{}}),
e(),r(i?`${t.name} takes clients.`:`${t.name} is draining.`),n()};return i?s(fe,{title:"Undrain this edge",submit:"Undra\
in",onClose:e,onConfirm:a,children:s("p",{children:[s(S,{text:t.name})," will take new connections again, and ask no mor\
e clients to move. Those that it has asked still go. An edge that is stopping refuses this."]})}):s(fe,{title:"Drain thi\
s edge",submit:"Drain",danger:!0,onClose:e,onConfirm:a,children:[s("p",{children:[s(S,{text:t.name})," will take no new \
connections, and ask its clients to move to another edge. Those that stay are closed when the time of its drain is over."]}),
s("p",{children:[s("strong",{children:"Undrain takes this back, but not the moves of clients that were asked before."}),
t.self&&" It is the edge that serves this page; the console goes on while it runs."]})]})}function ls({query:t,names:e,onAgain:n}){let[o,r]=g(t),i=JSON.stringify(t);oe(()=>r(t),[i]);let a=d=>f=>r(p=>({...p,[d]:f.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!he(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return s(
"search",{children:s("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let f=M("histories",o);f===M("histories",t)?n():location.hash=f},children:[s(q,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),s(x,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"\
button",href:M("histories"),children:"Clear"})]})]})})}function cs({target:t,onClose:e,onDone:n}){let{api:o}=$(),{history:r,tenant:i}=t,[a,l]=g(""),[c,u]=g(""),d=i?"tenant":"h\
istory";return s(fe,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??r))throw new Error(`what you typed is not the name of the ${d}`);let p=i?{history:r,tenant:i,channel:a||void 0}:
{history:r,all:!0},{removed:h}=await o.call("POST","histories/purge",{body:p}),y=[a&&`channel ${a}`,i&&`tenant ${i}`,`hi\
story ${r}`].filter(_=>_).join(", ");n(`${h===1?"1 message was":`${A(h)} messages were`} removed: ${y}.`)},children:[s("\
p",{children:[i?s(T,{children:["All messages that the history ",s(S,{text:r})," keeps of ",s(P,{text:i})," are deleted f\
or good."]}):s(T,{children:["All messages that the history ",s(S,{text:r})," keeps are deleted for good, of all tenants."]}),
" ","Clients that come back from before are told of a gap."]}),i&&s(x,{label:"Only this channel",value:a,onInput:p=>l(p.
trim()),mono:!0,hint:"Its whole name. Empty: all channels."}),s(x,{label:"Type the name to confirm",value:c,onInput:u,hint:`\
The name of the ${d}.`})]})}var Ja=/[^\P{Cc}\t\n\r]/u;function ds(t){return{bytes:t.slice(0,16384),size:t.length}}function us(t){let e=t.endsWith("==")?2:t.endsWith("=")?1:0,
n=atob(t.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(n.slice(0,16384),r=>r.charCodeAt(0)),size:t.length/
4*3-e}}function fs({bytes:t,size:e}){try{let n=new TextDecoder("utf-8",{fatal:!0}).decode(t,{stream:e>t.length});return Ja.
test(n)?"hex":"text"}catch{return"hex"}}function hs({bytes:t,size:e},n){let o=e>t.length,r=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(n==="hex")return{text:za(t),...r};let i=ps(t);if(n==="text")return{
text:i,...r};if(o)return{text:i,note:`${r.note} It is cut, so it is not formatted as JSON.`};let a=Ha(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function jt({bytes:t,size:e},n,o=160){if(e===
0)return"(empty)";let r=t.subarray(0,o),i=e>r.length?"…":"";return n==="hex"?ms(r.subarray(0,32))+(e>32?" …":""):ps(
r).replace(/\s+/g," ")+i}function ps(t){return new TextDecoder().decode(t)}function Ha(t){if(!(Wa(t)>64))try{return JSON.
stringify(JSON.parse(t),void 0,2)}catch{return}}function Wa(t){let e=0,n=0,o=!1;for(let r=0;r<t.length;r++){let i=t[r];o?
i==="\\"?r++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?n=Math.max(n,++e):(i==="]"||i==="}")&&e--}return n}var qa=t=>t.
toString(16).padStart(2,"0");function ms(t){return Array.from(t,qa).join(" ")}function za(t){let e=[];for(let n=0;n<t.length;n+=
16){let o=t.subarray(n,n+16),r=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${n.toString(16).
padStart(4,"0")}  ${ms(o).padEnd(47)}  ${r}`)}return e.join(`
`)}var Ga=500;function po({messages:t,omitted:e},n){let o=[...t,...n.map(i=>({...i,payload:us(i.payload)}))],r=Math.max(0,o.
length-Ga);return{messages:o.slice(r),omitted:e+r}}var Lt=t=>t.split(".")[1]??t;function Xt({of:t,format:e,label:n}){let{text:o,note:r}=hs(t,e);return s("div",{class:"whole",children:[r&&s("p",{class:"\
quiet",children:r}),s("pre",{tabIndex:0,role:"region","aria-label":n,dir:"auto",children:o})]})}var Ka=50,Qa=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function gs({names:t,target:e,
purges:n}){let{api:o}=$(),[r,i]=g(t[0]??""),[a,l]=g(""),[c,u]=g("#"),[d,f]=g("auto"),[p,h]=g(),m=ae(),y=Z(null),_=async(C,F)=>o.
call("POST","histories/read",{body:{...C,after:F,limit:Ka}}),b=C=>m.run(async()=>{if(!he(C.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(C.pattern==="")throw new Error("name a pattern; # is every ch\
annel");h(void 0);let F=await _(C,"");h({...po({messages:[],omitted:0},F.messages??[]),query:C,next:F.next})}),w=C=>m.run(
async()=>{let F=await _(C.query,C.next);h({...po(C,F.messages??[]),query:C.query,next:F.next})});O(()=>{e&&(i(e.history),
l(e.tenant),y.current?.focus(),b({...e,pattern:c}))},[e]),O(()=>{p&&y.current?.scrollIntoView()},[p?.query]),O(()=>h(void 0),
[n]);let k=t.includes(r)?r:t[0]??"";return s("section",{"aria-labelledby":"kept-messages",children:[s("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:y,children:"Messages"}),s("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),s("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:C=>{C.preventDefault(),b(
{history:k,tenant:a,pattern:c})},children:[s(q,{label:"History",value:k,onInput:i,options:t.map(C=>[C,C])}),s(x,{label:"\
Tenant",value:a,onInput:C=>l(C.trim()),mono:!0}),s(x,{label:"Pattern",value:c,onInput:C=>u(C.trim()),mono:!0,hint:"news.\
# for example"}),s(q,{label:"Payload as",value:d,onInput:C=>f(C),options:Qa}),s("div",{class:"buttons",children:s("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),s(De,{text:m.error}),m.busy&&!p&&s(J,{what:"\
the messages"}),p&&s(Va,{found:p,format:d,busy:m.busy,onMore:()=>{w(p)}})]})}function Va({found:t,format:e,busy:n,onMore:o}){
let[r,i]=g(),{query:a,messages:l,omitted:c,next:u}=t,d=({payload:f})=>e==="auto"?fs(f):e;return s(T,{children:[s("p",{role:"\
status","aria-label":"What was read",children:[R(c+l.length,"message")," of ",s(P,{text:a.pattern})," in ",s(P,{text:a.tenant}),
", history ",s(S,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${A(c)} are not shown an\
y more.`]}),l.length===0&&u===""?s(L,{children:s("p",{children:"No message of this pattern is kept."})}):s(Y,{label:"Mes\
sages that are kept",columns:Ya(d,r,i),rows:l,keyOf:({position:f})=>f,busy:n,detail:f=>r===f.position&&s(Za,{message:f,format:d(
f)})}),u!==""&&s("button",{type:"button","aria-disabled":n,onClick:o,children:"More messages"})]})}function Ya(t,e,n){return[
{label:"Number",cell:({position:o,channel:r})=>s(et,{open:e===o,label:`Message ${Lt(o)} to ${r}`,onToggle:()=>n(e===o?void 0:
o),children:Lt(o)})},{label:"Stored",cell:({time:o})=>s("time",{dateTime:o,children:ke(o)})},{label:"Channel",cell:({channel:o})=>s(
P,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>W(o.size)},{label:"Payload",cell:o=>s("bdi",{class:"pr\
eview",children:jt(o.payload,t(o))})}]}function Za({message:t,format:e}){let{position:n,time:o,payload:r}=t;return s("di\
v",{class:"message-detail",children:[s(re,{of:[["Position",s(P,{text:n},"position"),"wide"],["Stored",s("time",{dateTime:o,
children:o})],["Size",`${A(r.size)} bytes`]]}),s(Xt,{of:r,format:e,label:`Payload of message ${Lt(n)}`})]})}var el=50,tl=8,nl=1e4;function bs({query:t}){let{api:e,session:n,notify:o}=$(),r=z(),i=r&&n.tail===!0,[a,l]=g([""]),[c,u]=g(),
[d,f]=g(),[p,h]=g(0),m={history:t.history??"",tenant:t.tenant??""},y=B(m);O(()=>l([""]),[y]);let _=`histories${B({...m,limit:el,
cursor:a[a.length-1]})}`,{data:b,stale:w,error:k,refresh:C}=V(_,nl,async de=>{try{return await e.get(_,de)}catch(ne){if(ne instanceof
G&&ne.code==="no_histories")return"none";throw ne}}),F=b==="none"?void 0:b,se=F?.totals??[],Ae=se.reduce((de,ne)=>de+ne.
tenants,0),me=F?.histories??[];return s(T,{children:[s(Q,{text:"Histories"}),s("p",{class:"quiet",children:"What this ed\
ge keeps of messages, so that clients that come back get what they have missed."}),s(K,{error:k,known:b!==void 0}),!b&&!k&&
s(J,{what:"the histories"}),(b==="none"||F&&se.length===0)&&s(ol,{}),F&&se.length>0&&s(T,{children:[s(rl,{totals:se,onPurge:de=>f(
{history:de})}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(y!==""||
Ae>tl)&&s(ls,{query:m,names:se.map(({history:de})=>de),onAgain:C}),me.length>0&&s(Y,{label:"What is kept",columns:ll(r?{
read:i?u:void 0,purge:f}:void 0),rows:me,keyOf:al,busy:w}),!w&&me.length===0&&a.length===1&&s(L,{children:y===""?s("p",{
children:"Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):s("p",{children:"\
Nothing that is kept matches. Ask for less, or clear the filters."})}),s(ue,{page:a.length,more:!w&&(F.next_cursor??"")!==
"",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l([...a,F.next_cursor??""])})]}),i&&s(gs,{names:se.map(({history:de})=>de),
target:c,purges:p}),r&&!i&&s("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",s("cod\
e",{children:"tail off"}),"."]})]}),d&&s(cs,{target:d,onClose:()=>f(void 0),onDone:de=>{f(void 0),h(ne=>ne+1),o(de),C()}})]})}
function ol(){return s(L,{children:[s("p",{children:"No history is configured at this edge: a message is delivered at mo\
st once, and forgotten."}),s("p",{children:["A history keeps the messages of some channels: ",s("code",{children:"histor\
y <name> { channels … }"})," in the block ",s("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says wha\
t it promises."]})]})}function rl({totals:t,onPurge:e}){let n=z();return s("div",{class:"cards",children:t.map(o=>s("art\
icle",{class:"card","aria-label":`History ${o.history}`,children:[s("div",{class:"card-head",children:[s("h2",{children:s(
S,{text:o.history})}),!o.configured&&s(I,{mood:"warn",children:o.effective?"not configured here":"not configured any mor\
e"}),o.error&&s(I,{mood:"bad",children:"cannot be used"}),o.configured&&(o.drift??[]).length>0&&s(I,{mood:"warn",children:"\
drift"})]}),o.error&&s("p",{class:"note bad",children:s(S,{text:o.error,most:500})}),s(il,{of:o}),s(re,{of:[["Tenants",A(
o.tenants)],["Channels",A(o.channels)],["Messages",A(o.messages)],["Size",W(o.bytes)],["Oldest message",s(D,{at:o.oldest},
"oldest")],...sl(o.effective)]}),n&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`Purge the \
history ${o.history}`,onClick:()=>e(o.history),children:"Purge"})})]},o.history))})}function sl(t){return t?[["Version",
String(t.version)],["Messages of a channel",`up to ${A(t.messages)}`],["Age",`up to ${Ze(t.age_seconds*1e3)}`],["Size at\
 most",W(t.size)],["Lag",t.max_lag_seconds===0?"any":`up to ${Ze(t.max_lag_seconds*1e3)}`]]:[]}function il({of:{drift:t,
remedy:e}}){return!t||t.length===0?null:s("div",{class:"note",children:[s("p",{children:"The edges do not follow this ed\
ge’s file:"}),s("ul",{children:t.map(({field:n,configured:o,effective:r})=>s("li",{children:[n,": ",s(P,{text:r}),", i\
n the file ",s(P,{text:o})]},n))}),e&&s("p",{children:["To change this: ",s(S,{text:e,most:500}),"."]})]})}var al=({history:t,
tenant:e})=>`${t}:${e}`;function ll(t){let e=[{label:"Tenant",cell:({tenant:r})=>s(P,{text:r})},{label:"History",cell:({
history:r})=>s(S,{text:r})},{label:"Channels",number:!0,cell:({channels:r})=>A(r)},{label:"Messages",number:!0,cell:({messages:r})=>A(
r)},{label:"Size",number:!0,cell:({bytes:r})=>W(r)},{label:"Oldest message",cell:({oldest:r})=>s(D,{at:r})}];if(!t)return e;
let{read:n,purge:o}=t;return e.push({label:"Actions",cell:({history:r,tenant:i})=>s("div",{class:"buttons",children:[n&&
s("button",{type:"button","aria-label":`Read ${i} in ${r}`,onClick:()=>n({history:r,tenant:i}),children:"Read"}),s("butt\
on",{type:"button","aria-label":`Purge ${i} in ${r}`,onClick:()=>o({history:r,tenant:i}),children:"Purge"})]})}),e}var ys=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function ws({
messages:t,format:e}){let[n,o]=g();return s("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:t.map(r=>s(
cl,{message:r,format:e,open:n===r.number,onToggle:()=>o(n===r.number?void 0:r.number)},r.number))})}function cl({message:t,
format:e,open:n,onToggle:o}){let{channel:r,payload:i,at:a,late:l,number:c}=t;return s("li",{children:[s("button",{type:"\
button",class:"expand","aria-expanded":n,"aria-label":`${ys.format(a)}, message ${c} to ${r}`,onClick:o,children:s("time",
{dateTime:new Date(a).toISOString(),children:ys.format(a)})}),s("span",{children:[s(P,{text:r,most:120})," ",l&&s(I,{mood:"\
warn",children:"late"})]}),s("span",{class:"quiet",children:W(i.size)}),n?s(Xt,{of:i,format:e,label:`Payload of message ${c}`}):
s("bdi",{class:"preview",children:jt(i,e)})]})}var dl=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function _s({tail:t}){let e=ae(),[n,o]=g(""),[r,i]=g(""),[a,l]=g("broadcast"),[c,u]=g(0);return s("section",{
class:"card","aria-labelledby":"test-publish",children:[s("h2",{id:"test-publish",children:"Test publish"}),s(ye,{action:e,
submit:"Publish",onSubmit:async()=>{if(n==="")throw new Error("name the channel");await t.publish(n,r,a),u(f=>f+1)},children:[
s("div",{class:"row",children:[s(x,{label:"Channel",value:n,onInput:f=>o(f.trim()),mono:!0}),s(q,{label:"To",value:a,onInput:f=>l(
f),options:dl})]}),s(x,{label:"Payload",value:r,onInput:i,rows:2,mono:!0}),s("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var v=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(e,n="\
the edge says so",o={}){let r=["tenant","channel","pattern"].map(a=>o[a]===void 0?"":` (${a} ${JSON.stringify(o[a])})`),
i=e==="unreachable"?vs(o.cause):"";super(`${e}${r.join("")}: ${n}${i&&`: ${i}`}`,"cause"in o?{cause:o.cause}:void 0),this.
code=e,this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,
this.retryAfter=o.retryAfter}};function vs(t){let{message:e,code:n,cause:o}=t??{};return`${(o?vs(o):"")||e||n||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function pe(t,e,n){return t instanceof v?t:new v(e,n,{cause:t})}function te(t){return new v("disconnected","there is no \
connection to an edge",t===void 0?{}:{cause:t})}function Ut(t,e){let n;try{n=new URL(t)}catch{}if(!n||!/^https?:$/.test(n.protocol)||n.username||n.password||n.search||n.
hash)throw new v("bad_option","an address is a URL with https:// and without user, query and fragment");if(n.protocol===
"http:"&&!e&&!ul(n.hostname))throw new v("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return n}function ul(t){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(t)}var E=()=>performance.now(),Xe=t=>t.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function X(t){
if(t.aborted)throw Xe(t)}function le(t,e,n=new Set){return new Promise((o,r)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),n.delete(l)},a=()=>{i(),r(Xe(e))},l=()=>{i(),o()},c=setTimeout(l,t);n.add(l),e.addEventListener("abort",a),e.
aborted&&a()})}async function qe(t,...e){let n,o=new Promise(r=>{n=setTimeout(r,t)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(n)}async function ze(t,e,n){X(t);let o=new AbortController,r=l=>{"reason"in o.signal||Object.assign(
o.signal,{reason:l}),o.abort(l)},i=()=>r(Xe(t)),a=setTimeout(()=>r(new v("timeout","the edge does not answer")),e);t.addEventListener(
"abort",i);try{return await n(o.signal)}finally{clearTimeout(a),t.removeEventListener("abort",i),o.abort()}}function xe(t,e){
return new Promise((n,o)=>{let r=()=>o(Xe(e));e.aborted&&r(),e.addEventListener("abort",r),t.then(n,o).finally(()=>e.removeEventListener(
"abort",r))})}function ce(t,e){return t<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*2**Math.min(t-2,30))}var fl=1e5,hl=new Set(["unconfirmed","history_unavailable","try_later"]),mo=0;async function ks(t,e,n,o){mo=mo+1>>>0;let r=mo,
i=e(r),a=!1,l=new AbortController,c=setTimeout(()=>l.abort(te()),fl),u;try{for(let d=2;;d++){u=await pl(t,n,l.signal,o);
try{return await xe(u.confirm(i,r),l.signal)}catch(f){let{code:p}=f,h=p==="disconnected";if(a||=h||p==="unconfirmed",X(l.
signal),!(a&&n&&(h||hl.has(p))))throw new v(p,void 0,o);h||await le(ce(d,t.settings),l.signal)}}}catch(d){throw a?new v(
"outcome_unknown","no edge has said whether the message is stored",{...o,cause:d}):d}finally{clearTimeout(c),u?.forgetConfirm(
r)}}async function pl(t,e,n,o){for(;;){if(t.over)throw t.over;if(t.gate){await xe(new Promise(i=>t.gate?.push(i)),n);continue}
let r=t.publishOn??t.current;if(r?.alive)if(r.features===void 0)await xe(r.featured,n);else{if(r.features.includes("hist\
ory"))return r;throw new v("no_history","the edge has no histories, and confirms nothing",o)}else{if(!e)throw te();await xe(
t.changed(),n)}}}var xs,Ss,go=1024,ml=["PING","PONG","RECONNECT","OK:AUTH"],gl=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,
bl=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function Ge(t){return xs??=new TextEncoder,xs.encode(t)}function Ce(t){Ss??=
new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0});try{return Ss.decode(t)}catch(e){throw new v("protocol","text that is n\
ot UTF-8",{cause:e})}}var yl=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],
["token_unverifiable",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function rt(t,e){let[
n,o,...r]=t.split(":"),i=yl.get(n);if(i===void 0)return;let a={closeCode:e??i};return n==="forbidden"?new v(`${o}_not_al\
lowed`,r.join(":")||void 0,a):new v(n,void 0,a)}function bo(t){if(ml.includes(t))return{kind:t};if(/^LINK:(up|down)$/.test(
t))return{kind:"LINK",up:t==="LINK:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(t)?.[1];if(e&&t.length<=go)
return{kind:"FEATURES",features:e};let n=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(t),o=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(t);if((n||o)&&(t.length<=go/3||Ge(t).length<=go)&&!t.endsWith(`
`)){if(n)return{kind:"OK",verb:n[1],tenant:n[2],pattern:n[3]};if(o)return{kind:"ERR",code:o[1],detail:o[2]??""}}let r=wl(
t);if(r)return r;throw new v("protocol","a line that is none")}function wl(t){let[,e,n="",o="",r="",i]=gl.exec(t)??[];if(e&&
Bt(r)&&e==="OK:RSUB"==(i!==void 0))return i?{kind:e,tenant:n,pattern:o,position:r,how:i}:{kind:e,tenant:n,pattern:o,position:r};
let[,a,l]=bl.exec(t)??[];if(!(a===void 0||Number(a)>4294967295||l!==void 0&&!Bt(l)))return l===void 0?{kind:"OK:PUB",id:Number(
a)}:{kind:"OK:PUB",id:Number(a),position:l}}function Bt(t){let[,e,n]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(t)??[];return e!==void 0&&n!==void 0&&Ts(e)&&Ts(n)}var Ts=t=>t.length<20||t<="18446744073709551615";function Es(t){
try{return bo(t)}catch{return}}var wo=["broadcast","one-nearest","one-random"];function _o(t,e,n,o,r){let i=typeof n=="string"?Ge(n):n,a=r?7+r.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+t.length+e.length+i.length);return a>0&&(l[0]=r?3:2,l[1]=o??0),r&&(new DataView(l.buffer).
setUint32(2,r.id),l[6]=r.key.length,l.set(r.key,7)),l.set(i,Cs(l,Cs(l,a,t),e)),l}function Cs(t,e,n){t[e++]=n.length>>8,t[e++]=
n.length;for(let o=0;o<n.length;o++)t[e++]=n.charCodeAt(o);return e}var $s=1,Ms=2,yo=24,_l=128,vl={4:$s|Ms,5:7};function vo(t,e,n){
if(e===n||t[e]===1)return!1;let o=vl[t[e]];return o===void 0||e+1<n&&(t[e+1]&~o)!==0}var Jt=class{#e=new bt;#t=new bt;#n=new bt;#o={};decode(e,n,o){
let r=y=>{y>o&&Te()},i=y=>(r(y+2),e[y]<<8|e[y+1]);(n===o||e[n]===5||vo(e,n,o))&&Te();let a,l="";if(e[n]===4){let y=i(n)&
255;if(y===0&&Te(),n++,y&$s&&(r(n+1+yo),a=kl(e,n+1),n+=yo),y&Ms){r(n+2);let _=n+2;n=_+e[n+1]-1,n-_>=_l&&Te(),r(n+1),l=this.#n.
of(e,_,n+1,()=>Ce(e.subarray(_,n+1)))}}let c=a!==void 0,u=n+3+i(n+1),d=u+2+i(u),f=d+4;r(f);let p=f+i(d)*65536+i(d+2);(i(
p)===0||c&&i(p)!==1)&&Te();let h=this.#e.of(e,n+1,d,()=>[Ce(e.subarray(n+3,u)),Ce(e.subarray(u+2,d))]),m=this.#o;return m.
tenant=h[0],m.channel=h[1],m.payload=e.subarray(f,p),m.route=this.#t.of(e,p,o,()=>{let y=[],_=p+2;for(let b=i(p);b>0;b--){
let w=_+2+i(_);r(w),y.push(Ce(e.subarray(_+2,w))),_=w}return _!==o&&Te(),{patterns:Object.freeze(y),note:void 0}}),m.position=
a,m.sender=l,m}};function kl(t,e){let n=new DataView(t.buffer,t.byteOffset+e,yo);return`${Ps(n,0)}${Ps(n,4)}.${As(n,8)}.${As(
n,16)}`}var Ps=(t,e)=>t.getUint32(e).toString(16).padStart(8,"0");function As(t,e){let n=t.getUint32(e);return n<2097152?
String(n*4294967296+t.getUint32(e+4)):String(t.getBigUint64(e))}function Te(){throw new v("protocol","a frame that is no\
ne")}var xl=256,Sl=1024,bt=class{#e=[];of(e,n,o,r){let i=0;for(let u=n;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&
xl-1,l=this.#e[a];if(l&&Tl(l.bytes,e,n,o))return l.value;let c=r();return o-n<=Sl&&(this.#e[a]={bytes:e.slice(n,o),value:c}),
c}};function Tl(t,e,n,o){if(t.length!==o-n)return!1;for(let r=0;r<t.length;r++)if(t[r]!==e[n+r])return!1;return!0}function Pe(t,e,n){let o=typeof e=="object"&&e!==null,r=o?Object.keys(e).find(a=>!n.split(" ").includes(a)):"";if(r===void 0)
return;let i=o?`has no ${JSON.stringify(r.slice(0,32))}`:"must be an object";throw new v("bad_option",`${t} ${i}: allowe\
d are ${n.replaceAll(" ",", ")}`)}var Ht={options:"",socket:(t,e,{webSocket:n=WebSocket})=>new n(t,["llps.v1",`at.${e}`]),fetch:(t,e,n)=>fetch(t,n),proxied:()=>!1};function Wt(t,e="token"){if(typeof t=="string"&&/^[\w.~+-]{1,512}$/.test(t))return t;let n=`a ${e} is a string of 1 to 5\
12 letters, digits and .~_+-`,o=/\s/.test(`${t}`)?": this one has white space, such as a line break from a file":"";throw new v(
"bad_option",n+o)}var El=["drop-oldest","drop-newest","end"],Os=["webtransport","websocket"];function j(t){throw new v("bad_option",t)}function Ke(t,e,n,o=0){
return e!==void 0&&!(Number.isFinite(e)&&e>=o&&e<2**31)&&j(`${t} must be a number below 2^31${o<0?"":", 0 or more"}`),e||
n}function Is(t,e,n){return n.includes(e)||j(`${t}: allowed are ${n.join(", ")}`),e}function xo(t,e){return{queue:Math.ceil(
Ke("queue",t.queue,e.queue)),queuePolicy:Is("queuePolicy",t.queuePolicy??e.queuePolicy,El)}}var Cl="token tokenProvider \
transports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlainte\
xt serverCertificateHashes sender signal on webSocket";function Rs(t,e=Ht){Pe("the object of options",t,Cl+e.options),Pe(
"paths",t.paths??{},"webSocket webTransport ping");let{token:n,tokenProvider:o,transports:r=Os,sender:i=!1,webSocket:a}=t;
n===void 0==(o===void 0)&&j("one of token and tokenProvider is needed"),o!==void 0&&typeof o!="function"&&j("tokenProvid\
er must be a function"),typeof i!="boolean"&&j("sender must be true or false"),a!==void 0&&typeof a!="function"&&j("webS\
ocket must be a class"),r.length===0&&j("transports must not be empty");for(let c of r)Is("transports",c,Os);"TextEncode\
r"in globalThis&&"TextDecoder"in globalThis||j("TextEncoder and TextDecoder are missing");let l=Ke("minBackOff",t.minBackOff,
250);return{token:n===void 0?void 0:Wt(n),tokenProvider:o,transports:[...new Set(r)],fallbackAfter:Ke("fallbackAfter",t.
fallbackAfter,2e3),connectTimeout:Ke("connectTimeout",t.connectTimeout,1e4),keepAlive:Ke("keepAlive",t.keepAlive,25e3,-1/0),
pongTimeout:Ke("pongTimeout",t.pongTimeout,1e4),minBackOff:l,maxBackOff:Math.max(l,Ke("maxBackOff",t.maxBackOff,15e3)),...xo(
t,{queue:1024,queuePolicy:"drop-oldest"}),sender:i,paths:{webSocket:ko(t.paths?.webSocket??"/ws"),webTransport:ko(t.paths?.
webTransport??"/wt"),ping:ko(t.paths?.ping??"/ping")},allowPlaintext:t.allowPlaintext===!0,hashes:t.serverCertificateHashes,
webSocket:a,proxy:t.proxy,runtime:e}}function ko(t){return/^\/[^?#]*$/.test(t)||j("paths must start with a slash"),t}var Ns=1e5;function Ds(t,e){if(t===void 0||t==="now"||t==="last")return t;let{last:n,after:o}=t;return typeof o=="string"&&
n===void 0&&Bt(o)?o:((!Number.isInteger(n)||n<1||n>Ns||o!==void 0)&&j(`history is "now", "last", { last: 1 to ${Ns} } or\
 { after: position }`),/[*>#]/.test(e)&&j("history: { last } is for one channel: the pattern has no wildcard"),`last.${n}`)}
var qt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){this.from=e}get refusal(){
return this.forbidden?"permission_denied":this.plain?"no_history":void 0}begin(e){this.on=e,this.open=this.forbidden=this.
unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(e,n){return this.on===e&&this.open&&!this.
plain&&!Pl(n,this.from)}};function Pl(t,e){let[n,o=""]=t.split("."),[r,i]=e.split(".");return n===r&&i!==void 0&&(o.length===
i.length?o<=i:o.length<i.length)}var zt=class{tenant;channel;ended;verb="JOIN";#e;#t;constructor(e,n,o){this.tenant=e,this.channel=n,this.#e=o,this.ended=
new Promise(r=>{this.#t=r})}async leave(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(e){this.#t(e)}};var Gt="[\\w\\-~@]+",Al=/^[\w\-~@.]{1,128}$/,$l=new RegExp(`^(?=.{1,256}$)${Gt}(\\.${Gt}){0,31}$`),Ml=new RegExp(`^(?=.{\
1,256}$)((${Gt}\\*?|\\*)\\.){0,31}(${Gt}[*>#]?|[*>#])$`),Ol=t=>Al.test(t),Il=t=>$l.test(t),Rl=t=>Ml.test(t),Nl="~";function yt(t){
return Eo("tenant",Ol,t===""?Nl:t)}function So(t,e){return Eo("channel",Il,t,e)}function To(t,e){return Eo("pattern",Rl,
t,e)}function Eo(t,e,n,o){if(typeof n!="string"||!e(n)){let r={...o===void 0?{}:{tenant:o},[t]:String(n).slice(0,256)};throw new v(
`bad_${t}`,"not a legal name, see docs/protocol.md, Names",r)}return n}var Dl=1024,Kt=class{#e=new Map;#t=[];#n=!1;constructor(e={}){for(let[n,o]of Object.entries(e))o&&this.on(n,o)}on(e,n){if(typeof n!=
"function")throw new v("bad_option",`the handler of ${e} must be a function`);let o=i=>n(i),r=this.#e.get(e)??new Set;return this.#e.
set(e,r.add(o)),()=>{r.delete(o)}}emit(e,n){this.#t.push([e,n])>Dl&&this.#t.shift(),this.#n||this.#o()}async#o(){this.#n=
!0,await null;for(let e=this.#t.shift();e;e=this.#t.shift())for(let n of[...this.#e.get(e[0])??[]])try{await n(e[1])}catch(o){
st(o)}this.#n=!1}};function st(t){queueMicrotask(()=>{throw t})}var Qt=(t,e)=>t===e||typeof t=="object"&&typeof e=="object"&&t.text===e.text,Co=t=>t.includes(":"),Vt=class{members=new Map;counts=new Map;get(e){
return Co(e)?this.members.get(e):this.counts.get(e)??0}count({channel:e,members:n}){n>0?this.counts.set(e,n):this.counts.
delete(e)}put(e,n){let{channel:o,subject:r,here:i,since:a,info:l}=n,c=this.members.size;if(i){let d={channel:o,subject:r,
info:Fl(l),since:new Date(a)};this.members.set(e,{member:d,text:`${a} ${l}`})}else this.members.delete(e);let u=(this.counts.
get(o)??0)+this.members.size-c;this.count({channel:o,members:u})}};function Fl(t){try{return t?JSON.parse(t):void 0}catch{
return}}var Yt=class{#e;#t=new WeakMap;#n=new Vt;#o=new Map;#r;#s;constructor(e){this.#e=e}get members(){return this.#r??=
Object.freeze([...this.#n.members.values()].map(({member:e})=>e).sort((e,n)=>Fs(e.channel,n.channel)||Fs(e.subject,n.subject))),
this.#r}get counts(){return this.#s??=new Map([...this.#n.counts,...this.#o].filter(([,e])=>e>0)),this.#s}get(e){return this.#o.
get(e)??this.#n.get(e)}begin(e){this.#t.set(e,{roster:void 0,next:void 0})}end(e){this.#t.delete(e)}hasSynced(e){return this.#t.
get(e)?.roster!==void 0}take(e,n,o,r){let i=this.#t.get(e);if(!i)return;let{first:a,synced:l,counts:c,channels:u,members:d}=o;
if(c&&!r){if(e===n)for(let h of u)this.#l(h.channel,!0,()=>this.#i(h));return}a&&(i.next=new Vt);let f=i.next??i.roster;
if(!f)return;let p=(h,m)=>{f===this.#n?this.#l(h,!1,m):m()};for(let h of u)p(h.channel,()=>f.count(h));for(let h of d){let{
channel:m,subject:y}=h,_=`${m}:${y}`;p(m,()=>p(_,()=>f.put(_,h))),f===this.#n&&f.get(m)===this.#o.get(m)&&this.#o.delete(
m)}l&&(i.roster=f,i.next=void 0,e===n&&(this.follow(e),this.#a()))}follow(e){let n=this.#t.get(e)?.roster,o=this.#n;if(!(!n||
n===o)){this.#n=n,this.#d();for(let{members:r,counts:i}of[o,n])for(let a of[...r.keys(),...i.keys()])!this.#o.has(a)&&!Qt(
o.get(a),n.get(a))&&this.#c(a,o.get(a),!1);this.#a()}}#i({channel:e,members:n}){n===this.#n.get(e)?this.#o.delete(e):this.#o.
set(e,n)}#a(){for(let e of[...this.#o.keys()])this.#l(e,!0,()=>this.#o.delete(e))}#l(e,n,o){let r=this.get(e);o(),this.#d(),
Qt(r,this.get(e))||this.#c(e,r,n)}#d(){this.#r=this.#s=void 0}#c(e,n,o){for(let r of this.#e)r.note(e,n,o)}},Fs=(t,e)=>t<
e?-1:t>e?1:0;var jl=Object.freeze([]),Zt=class{tenant;pattern;ended;verb="WHO";count;watch;#e;#t;#n=new Map;#o=[];#r=!1;#s=!1;#i=!1;#a=!1;#l;#d;constructor(e,n,o,{
count:r=!1,onChange:i}){this.tenant=e,this.pattern=n,this.count=r,this.#e=o,this.#t=i,this.ended=new Promise(a=>{this.#d=
a})}get members(){return this.count?jl:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#e.isSynced(this)}async close(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let e=!1;return{next:()=>{let n=e?void 0:this.#c();if(n)return Promise.resolve({done:!1,value:n});if(!e&&
!this.#a)return new Promise((r,i)=>{this.#o.push({resolve:r,reject:i})});let o=e?void 0:this.#l;return e=!0,o?Promise.reject(
o):Promise.resolve({done:e,value:void 0})},return:async()=>(e=!0,await this.close(),{done:e,value:void 0})}}#c(){for(let[
e,n]of this.#n){this.#n.delete(e);let o=this.watch.get(e);if(typeof o=="number")return{type:"counts",channel:e,count:o};
let{member:r}=o??n;return{type:o?n?"changed":"joined":"left",channel:r.channel,member:r}}}note(e,n,o){this.#s=!0,!(!this.#r||
!(Co(e)?!this.count:this.count||o))&&(this.#n.has(e)?Qt(this.#n.get(e),this.watch.get(e))&&this.#n.delete(e):this.#n.set(
e,n))}opened(){this.#r=this.#i=!0,this.#s=!1}update(){for(;this.#o.length>0;){let o=this.#c();if(!o)break;this.#o.shift()?.
resolve({done:!1,value:o})}let{synced:e}=this,n=this.#a&&!this.#l;if(this.#r&&!n&&(this.#s||e!==this.#i))try{this.#t?.(this)}catch(o){
st(o)}this.#s=!1,this.#i=e}end(e){if(!this.#a){this.#a=!0,this.#l=e,e||this.#n.clear(),this.update();for(let n of this.#o.
splice(0))e?n.reject(e):n.resolve({done:!0,value:void 0});this.#d(e)}}};function Ue({tenant:t,channel:e,payload:n}){let o=`${t}:${e}:`;for(let r=0;r<n.length;r+=1024)o+=String.fromCharCode(...n.
subarray(r,r+1024));return o}var we=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){for(;this.#t[this.#n]?.entry===
void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.flatMap(({entry:e})=>e??
[])}put(e,n,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=0);let r={entry:{key:e,time:n,
message:o}};this.#t.push(r);let i=this.#o.get(e);return i?i.push(r):this.#o.set(e,[r]),this.size++,this.#e+=e.length,this.
size>65536||this.#e>16777216?this.drop():void 0}take(e){let n=this.#o.get(e),o=n?.shift();return!n||!o?!1:(n.length===0&&
this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;return e&&this.take(e.key),e}dropUntil(e){
let n=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&n.push(o.message);return n}};var js=1e3,Ll=1e4,it=class{#e=new we;#t=new we;#n=new we;#o=js;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,Ll-js)}fromCurrent(e,n){let o=Ue(e);return this.#i(n),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,n),!0)}fromNext(e,n,o){if(this.late(e,n))return;if(o)return this.#n.put(Ue(e),
n),e;let r=this.#t.put(Ue(e),n,{...e});return r&&this.#n.put(r.key,n),r?.message}late(e,n){return this.#i(n),this.#e.size>
0&&this.#e.take(Ue(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new we;
for(let{key:e,time:n}of this.#t.all)this.#e.put(e,n)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new we;for(let{
key:n}of this.given)this.#e.put(n,e);this.#n=new we}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var en=250,tn=2e3;async function wt(t,e,n,o,r){for(;t.merger&&!t.merger.done(E());)await le(50,o);t.merger=new it,t.both=
!0;let i=r!==void 0;t.tentative=i;let{place:a}=t,l=!1,c=()=>{l||t.events.emit("moving",{...a,reason:n}),l=!0};i||c();let u=0;
for await(let d of t.searcher.order(e.edge,n!=="drain",o)){let f=r;if(r=void 0,!f){await t.pause(Math.max(ce(++u,t.settings),
t.searcher.wait(d)),o);try{f=await t.searcher.open(d,o)}catch(p){if(X(o),!(p instanceof v)||t.searcher.hopeless(d,p,!0))
throw p;continue}}if(o.aborted)return void f.close();if(f.alive){t.next=f,t.merger.joined(E()),t.merger.release();let p=t.
restore(f);t.tentative&&f.ping().catch(()=>{}),await p}if(t.tentative){if(X(o),t.next!==f)return t.keepCurrent();t.tentative=
!1}if(f.alive){if(await Xl(t,e,f,c,o),X(o),t.current!==f){if(i)return t.keepCurrent();continue}f.alive&&(c(),t.since=E(),
t.events.emit("moved",{...t.place,reason:n}));return}}}async function Xl(t,e,n,o,r){let i=()=>t.next===n&&t.current===e;
if(!i())return;t.gate??=[];let a=qe(tn,e.ping()).then(()=>{i()&&t.openGate(n)}),l=3;do await le(en,r);while(--l&&t.merger?.
behind);await qe(tn,Promise.all([...t.subscriber.asking,...t.presences.asking]));for(let u=tn;u>0&&i()&&!t.presences.hasSynced(
n);u-=en)await le(en,r);for(;i()&&n.postponed.size>0;)await le(en,r);if(!i())return;o(),t.leaving=!0;let c=[...e.asked].
map(u=>e.leave(u));await qe(tn,e.ended,Promise.allSettled([...c,e.ping(),e.confirmedAll()])),await a,i()&&t.promote(),t.
leaving=!1}var rn=2e3,Oo=1e3,nn=new Set,Po,sn=0,Ao=0,$o=0,Ls=-1/0,ln=t=>t>$o&&t<Ls+Oo?$o:t;function Ul(t,e){return t>=Oo+rn||e-t>=rn}
function Io(){let t=E()-sn,e=Date.now()-Ao;Ul(t,e)&&(on.document?.visibilityState==="hidden"?an("slept"):Mo()),sn+=t,Ao+=
e}function Xs(t){return nn.add(t),Po??=Bl(),()=>{!nn.delete(t)||nn.size>0||(Po?.(),Po=void 0)}}function Mo(){$o=sn,Ls=E(),
an("slept")}function an(t){for(let e of[...nn])e[t]()}var on=globalThis;function Bl(){sn=E(),Ao=Date.now();let t=setInterval(
Io,Oo),{document:e,navigator:n}=on,o=()=>{e?.visibilityState==="visible"&&an("slept")},r=()=>an("networkChanged"),i=n?.connection,
a=i?.type,c=[[on,"online",r],[i,"change",()=>{i?.type!==a&&(a=i?.type,r())}],[on,"pageshow",Mo],[e,"resume",Mo],[e,"visi\
bilitychange",o]];for(let[u,d,f]of c)u?.addEventListener?.(d,f);return()=>{clearInterval(t);for(let[u,d,f]of c)u?.removeEventListener?.(
d,f)}}var Jl=1e4;async function Us(t,e,n,o){let{lastByte:r}=e;t.reconnecting=!0,t.current=void 0,t.merger=void 0,t.both=t.leaving=
t.tentative=t.gaps=!1,t.openGate(void 0);for(let i of t.subscriber.interests.all)i.confirmed=!1;t.presences.follow(),t.events.
emit("disconnected",{...t.place,error:n}),n.code==="token_expired"&&e.token===t.tokens.token&&t.tokens.expire(),E()-t.since>
Jl&&(t.attempts=0);for await(let i of t.searcher.order(e.edge,!1,o)){let a=++t.attempts,l=Math.max(ce(a,t.settings),t.searcher.
wait(i));t.events.emit("reconnecting",{attempt:a,delay:l}),await t.pause(l,o);try{let c=await t.searcher.open(i,o);if(o.
aborted)return void c.close();if(t.setCurrent(c),await t.restore(c),X(o),!c.alive)continue;t.reconnecting=!1,t.since=E();
let u=!t.gaps&&t.subscriber.interests.all.every(d=>d.history);return t.events.emit("reconnected",{...t.place,away:E()-ln(
r),complete:u})}catch(c){if(X(o),!(c instanceof v)||t.searcher.hopeless(i,c,!1))throw c}}}var Hl=4096,cn=class{#e=new Map;#t=[];#n=0;#o;add(e,n){return this.note(n),new Promise((o,r)=>{this.#e.set(e,{resolve:o,
reject:r,size:n})})}note(e,n){e<=Hl||e<this.#n||(this.#o=e>this.#n?n:this.#o??n,this.#n=e)}tooLarge(){for(let[e,{size:n}]of this.#e)
n===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,n=()=>{}){let o=this.#e.get(e);if(o&&n(o),
this.#e.delete(e),this.#e.size===0)for(let r of this.#t.splice(0))r()}error(e,n){let o=/^PUB:(\d+)$/.exec(n)?.[1];return o===
void 0?!1:(this.settle(Number(o),r=>r.reject(new v(e))),!0)}get owed(){return this.#e.size>0}idle(){return this.#e.size===
0?Promise.resolve():new Promise(e=>{this.#t.push(e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,n=>n.reject(te()))}};async function dn(t,e,n){try{let o=await e.runtime.fetch(t,e,{cache:"no-store",credentials:"omit",signal:n});return await o.
arrayBuffer(),o.ok}catch{return!1}}async function Bs(t,e,n){try{return await e.runtime.fetch(t,e,{cache:"no-store",credentials:"\
omit",mode:"no-cors",signal:n}),!0}catch{return!1}}var un=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let n=e-this.#e;if(n<1)return!1;if(this.#e=
e,n>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),n>this.#o&&(this.#o=n),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#o,this.#r)))}};var Wl=.9765625,ql=1e3,zl=32,fn=class{#e=0;#t=0;#n=0;#o=0;#r;#s;#i=Wl;publish(e,n){let o=this.#e++===this.#t;return this.#a(
e,n,o),o}request(e,n,o){let r=this.waits(o)===void 0;return this.#a(e,n,r),r}#a(e,n,o){this.#o+=e+zl,this.#s??=n,o&&(this.#r=
n)}waits(e){return this.#e===this.#t&&e>=(this.#r??e)?void 0:this.#r}mark(){let e={publishes:this.#e,bytes:this.#o,first:this.#s};
return this.#t=this.#e,this.#o=0,this.#r=this.#s=void 0,e}proven({publishes:e,bytes:n,first:o},r){this.#n=Math.max(this.#n,
e),o!==void 0&&(this.#i=Math.min(this.#i,(r-o+ql)/n))}sendTime({bytes:e}){return e*this.#i}told(){this.#n++}take(){let e=this.#e-
this.#n;return this.#n=this.#e,e}};var hn=1e3,Ro=1e3,Ql=3,Vl=2**31-1,No=50,pn=class{heard=E();#e;#t;#n=new un(this.heard);#o=1+Math.random()/16;#r=-1/0;#s=!1;#i;#a=0;#l=0;#d=0;#c=-1/0;#u=-1/0;#f;#h;#p;#m=!1;constructor(e,n){
this.#e=e,this.#t=n}arrived(e){this.heard=e,this.#f=void 0,this.#h?.abort(),this.#h=void 0,(this.#s?this.#n.skip(e):this.#n.
arrived(e))&&this.arm(),this.#s&&(this.#s=!1,this.#e.woke())}active(e){let n=this.#w;this.#r=e,n||this.arm()}get#w(){return this.
heard-this.#r<1e4}ponged(e){this.#d=0;let n=Math.min(e,2*this.#_);this.#i===void 0?(this.#i=n,this.#a=n/2):(this.#a+=(Math.
abs(this.#i-n)-this.#a)/4,this.#i+=(n-this.#i)/8),this.arm()}awake(e){let n=E();this.#g||(this.#d=0),!(this.#m||this.#d++>=
Ql)&&(this.#l=n,this.#t.keepAlive>0&&!this.#g&&(e||n-this.heard>=hn)&&this.#y(n),this.arm())}stop(){this.#m=!0,this.#h?.
abort(),clearTimeout(this.#p)}get#g(){return this.#e.unanswered??this.#f}get#_(){return Math.max(hn,(this.#i??0)+4*this.#a)}get askAt(){
let{keepAlive:e}=this.#t;if(e<0)return 1/0;let n=this.#w?this.#n.unusual:1/0,o=Math.min(e,n,this.#e.owed?3e3:1/0),r=this.#e.
unreadSince??1/0;return Math.min(this.heard+o*this.#o,r+Math.min(1e3,e))}suspectAt({at:e,sendTime:n}){return Math.max(e,
this.heard,this.#l)+(this.#f?hn:this.#_)+n}lostAt({at:e,sendTime:n}){let{keepAlive:o,pongTimeout:r}=this.#t;if(o<0)return 1/0;
let i=Math.max(this.heard,this.#l);return Math.max(e+r,i+o+r)+n}arm(){clearTimeout(this.#p);let e=this.#g,n=e?Math.min(this.#s?
1/0:this.#b(e),this.lostAt(e),this.#c+Ro):this.askAt;if(this.#m||n===1/0)return;let o=E(),r=Math.max(n,o+1);this.#p=setTimeout(
()=>this.#v(r),Math.min(r-o,Vl))}#b(e){return Math.max(this.suspectAt(e),this.#u+Ro)}#v(e,n=!1){Io();let o=E();if(o-e>=rn&&
this.awake(!1),this.#m)return;if(!n&&o-e>No){clearTimeout(this.#p),this.#p=setTimeout(()=>this.#v(o+No,!0),No);return}let r=this.#g;
if(!r)o>=this.askAt&&this.#y(o);else{if(o>=this.lostAt(r))return this.#e.over();!this.#s&&o>=this.#b(r)&&this.#k(o),this.#m||
this.probe()}this.arm()}#k(e){this.#s=this.#e.silent(),this.#s||(this.#u=e)}#y(e){if(this.#e.pingFirst===void 0||this.#e.
unreadSince!==void 0)return this.#e.ask();this.#f={at:e,sendTime:0},this.#c=-1/0,this.probe()}probe(){let e=E();e-this.#c<
Ro||(this.#c=e,this.#e.pingFirst!==void 0&&(this.#s||this.#f)?this.#x(this.#e.pingFirst):this.#e.probe())}async#x(e){if(this.#h)
return;let n=new AbortController;this.#h=n;let o=setTimeout(()=>n.abort(),hn),r=await Bs(e,this.#t,n.signal);clearTimeout(
o),!(this.#m||this.#h!==n)&&(this.#h=void 0,r?(this.#f=void 0,this.#e.unanswered?this.#e.probe():this.#e.ask()):this.#f&&
(this.#f={at:-1/0,sendTime:0}),this.arm())}};var Js=(t,e,n)=>e<n&&t[e]===5;function Hs(t,e,n){let o=new DataView(t.buffer,t.byteOffset,n),r=e+1,i=f=>(r+=f,r>n&&Te(),
r-f),a=()=>o.getUint8(i(1)),l=()=>o.getUint16(i(2)),c=f=>Ce(t.subarray(i(f),r)),u=a(),d={first:(u&1)!==0,synced:(u&2)!==
0,counts:(u&4)!==0,tenant:c(l()),pattern:c(l()),members:[],channels:[]};for(let f=l();f>0;f--)if(d.counts)d.channels.push(
{channel:c(l()),members:o.getUint32(i(4))});else{let p=a();p>1&&Te();let h={channel:c(l()),subject:c(a()),here:p===1,since:0,
info:""};h.here&&(h.since=Number(o.getBigUint64(i(8))),h.info=c(l())),d.members.push(h)}return r!==n&&Te(),d}var mn=class{#e=new Map;add(e,n){let o=this.#e.get(e);o?o.push(n):this.#e.set(e,[n])}answer(e,n){let o=this.#e.get(e),r=o?.
shift();return r?(o?.length===0&&this.#e.delete(e),n(r),!0):!1}get owed(){for(let e of this.#e.keys())if(!/^(RSUB|AGAIN):/.
test(e))return!0;return!1}reject(e){let n=[...this.#e.values()].flat();this.#e.clear();for(let o of n)o.reject(e)}};var gn=class{edge;transport;token;begun=E();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#e;#t;#n;#o=new Jt;#r=new mn;#s=new cn;#i;#a=[];#l=new Set;#d=new fn;#c=!1;#u=!0;#f=!0;#h;constructor(e,n,o,r,i){
this.edge=e,this.transport=n.transport,this.token=o,this.#e=n,this.#t=r;let a=this;this.#n=new pn({get unanswered(){return a.#a[0]},
get unreadSince(){return a.#d.waits(a.lastByte)},get owed(){return a.#r.owed||a.#s.owed},pingFirst:n.fragile?e+i.paths.ping:
void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>n.probe(),silent:()=>this.#t.silent(this),woke:()=>this.#t.woke(this),
over:()=>this.fail(new v("timeout","the edge does not answer"))},i),this.featured=new Promise(c=>{this.#i=c});let l;this.
ended=new Promise(c=>{l=c}),n.start({bytes:()=>{this.alive&&this.#n.arrived(E())},line:c=>this.#k(()=>this.#_(c)),frame:(c,u,d)=>{
if(!this.alive||(this.#g(),vo(c,u,d)))return;if(Js(c,u,d))return this.#w(c,u,d);let f;try{f=this.#o.decode(c,u,d)}catch(p){
return this.#y(p)}this.#t.delivered(this,f)},ended:c=>{l(),this.#x(c)}}),this.#c=!0,this.alive&&this.#m(`FEATURES:link${i.
sender?",sender":""}`),this.alive&&this.#n.arm()}get lastByte(){return this.#n.heard}request(e,n,o=""){e==="SUB"&&this.asked.
add(n);let r=`${e}:${n}`,i=this.#p(r);return this.alive&&this.#m(r+o),i}resume(e,n){let o=this.#p(`RSUB:${e}`);return this.
alive&&this.#m(`RSUB:${e}:${n}`),o}leave(e,n="UNSUB"){let o=`${n}:${e}`,i=this.request(n,e).catch(()=>{}).then(()=>{this.
ending.get(o)===i&&this.ending.delete(o)});return this.ending.set(o,i),i}confirm(e,n){if(!this.alive)return Promise.reject(
te());let o=this.#s.add(n,e.length);return this.#m(e),o}forgetConfirm(e){this.#s.settle(e)}confirmedAll(){return this.#s.
idle()}postpone(e,n){this.postponed.add(e);let o=`AGAIN:${e}`,r=setTimeout(()=>this.#r.answer(o,i=>i.resolve()),n);return this.#p(
o).finally(()=>clearTimeout(r))}#p(e){return new Promise((n,o)=>{this.alive?this.#r.add(e,{resolve:n,reject:o}):o(te())})}forget(e){
return this.confirmed.delete(e),this.postponed.delete(e),this.#r.answer(`AGAIN:${e}`,n=>n.reject(te())),this.asked.delete(
e)}ping(){return new Promise((e,n)=>{if(!this.alive)return n(te());let o=this.#d.mark();this.#a.push({at:E(),sendTime:this.#d.
sendTime(o),mark:o,resolve:e,reject:n}),this.#e.send("PING"),this.#n.probe(),this.#a.length===1&&this.#n.arm()})}publish(e,n){
this.#s.note(e.length,n);let o=this.#d.publish(e.length,E());this.#e.send(e),o&&this.#n.arm();let r=this.#e.sent();return r&&
new Promise(i=>{let a=()=>{this.#l.delete(a),i()};this.#l.add(a),r.then(a,a)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=
e,this.#n.stop(),this.#r.reject(te()),this.#s.fail();for(let n of this.#a)n.reject(te());for(let n of this.#l)n()}#m(e){
let n=this.#d.request(e.length,E(),this.lastByte);this.#e.send(e),n&&this.#n.arm()}takeUnread(){return this.#d.take()}close(){
return this.alive&&(this.#S(te()),this.#e.close()),this.ended}#w(e,n,o){let r;try{r=Hs(e,n,o)}catch(i){return this.#y(i)}
this.#t.presence(this,r)}#g(){let e=E();this.#n.arrived(e),this.#n.active(e)}#_(e){e==="PONG"?this.#n.arrived(E()):this.#g();
let n=Es(e);if(n)if(n.kind==="OK"){let o=`${n.tenant}:${n.pattern}`;if(this.#r.answer(`${n.verb}:${o}`,r=>r.resolve())&&
n.verb==="SUB"&&(this.confirmed.add(o),this.postponed.delete(o)),n.verb==="UNSUB")for(;this.#r.answer(`RSUB:${o}`,r=>r.reject(
te())););}else if(n.kind==="OK:PUB")this.#s.settle(n.id,o=>o.resolve(n.position));else if(n.kind==="OK:RSUB"||n.kind==="\
AT"||n.kind==="GAP")this.#t.reached(this,n),n.kind==="OK:RSUB"&&this.#r.answer(`RSUB:${n.tenant}:${n.pattern}`,o=>o.resolve());else if(n.
kind==="ERR")this.#v(n.code,n.detail,e.slice(4));else if(n.kind==="PING")this.#e.send("PONG");else if(n.kind==="PONG"){let o=this.#a.
shift();if(!o)return;let r=E()-o.at;this.#d.proven(o.mark,E()),o.resolve(r),this.#n.ponged(r),this.#t.roundTrip(r)}else n.
kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#t.draining(this)):n.kind==="FEATURES"?this.#b(n.features.split(",")):
n.kind==="LINK"&&(this.#f=n.up,this.#u||this.#b())}#b(e=this.features??[]){this.#u=!1,this.features=e,this.#i(),this.link=
this.#f,this.#t.linked()}#v(e,n,o){if(this.#u&&e==="bad_request")return this.#b();let r=rt(o);if(r&&(this.#h=o),this.#s.
error(e,n))return;let[,i,a,l]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(n)??[];!(a!==void 0&&l!==void 0&&
e!=="broker_unavailable"&&this.#r.answer(n,u=>u.reject(new v(e,void 0,i?{tenant:a,channel:l}:{tenant:a,pattern:l}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.
test(e)&&this.#t.errorLine(this,e,n),(e==="token_revoked"||e==="token_expired")&&this.fail(r)}#k(e){if(this.alive)try{e()}catch(n){
this.#y(n)}}#y(e){this.fail(pe(e,"protocol","the edge broke the protocol"))}fail(e){this.#S(e),this.#e.close(),this.#c&&
this.#t.lost(this,e)}#x({closeCode:e,error:n}){if(!this.alive)return;let o=this.#h===void 0?void 0:rt(this.#h,e),r=e===4401?
"token_expired":e===4403?"token_revoked":"disconnected",i=o?.code!=="slow_consumer"||e===4429,a="the connection has ende\
d";if(e===1009){a="a message was too large for the edge";let c=this.#s.tooLarge();c&&(this.#d.told(),this.#t.errorLine(this,
"payload_too_large",`PUB:${c.tenant}:${c.channel}`))}let l=o&&i?o:n??new v(r,a,{closeCode:e});this.#S(l),this.#c&&this.#t.
lost(this,l)}#S(e){this.alive=!1,this.error=e,this.#n.stop();let n=te(e);this.#i(),this.#r.reject(n),this.#s.fail();for(let o of this.#a)
o.reject(n);this.#a=[]}};var at=class{#e;#t=[];start(e){let n=this.#t;this.#t=[],this.#e=e;for(let o of n)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(n=>n.line(e))}frame(e,n,o){this.#e?this.#e.frame(e,n,o):this.#t.push(r=>r.frame(e,n,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(n=>n.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var Ws=1<<20,Yl=1e3;async function qs({edge:t,token:e,signal:n},o){let{paths:r,runtime:i}=o,{promise:a,resolve:l,reject:c}=ec(),
u=new at,d=!1,f=await i.socket(t.replace("http","ws")+r.webSocket,e,o,{refused(w){d=!0,c(w)},bytes:()=>u.bytes()});f.binaryType!==
"nodebuffer"&&(f.binaryType="arraybuffer");let p=()=>f.terminate?f.terminate():f.close(),h=()=>{c(Xe(n)),p()};n.addEventListener(
"abort",h),n.aborted&&h();let m=!1,y,_;f.onerror=({error:w})=>{y=w},f.onopen=()=>{m=!0,n.removeEventListener("abort",h),
l({transport:"websocket",fragile:!1,start:w=>u.start(w),send:w=>m&&f.send(w),sent:()=>m&&f.bufferedAmount>Ws?b():void 0,
probe(){},close(){f.close(1e3),_??=setTimeout(()=>{p(),u.ended({})},Yl)}})},f.onclose=({code:w})=>{clearTimeout(_),m?(m=
!1,u.ended({closeCode:w})):d||Zl(t+r.ping,o,n,y).then(c,c),n.removeEventListener("abort",h)},f.onmessage=({data:w})=>{typeof w==
"string"?u.line(w):ArrayBuffer.isView(w)?u.frame(new Uint8Array(w.buffer,w.byteOffset,w.byteLength),0,w.byteLength):u.frame(
new Uint8Array(w),0,w.byteLength)};async function b(){for(;m&&f.bufferedAmount>Ws;)await new Promise(w=>setTimeout(w,5))}
return a}async function Zl(t,e,n,o){return await dn(t,e,n)?new v("refused","the edge answers, and refuses the WebSocket:\
 perhaps the token, or this page's origin"):new v("unreachable","no WebSocket to the edge",{cause:o})}function ec(){let t,
e;return{promise:new Promise((o,r)=>{t=o,e=r}),resolve:t,reject:e}}var bn=globalThis,tc=bn.Deno!==void 0||bn.process?.versions?.node!==void 0,zs=!tc&&(bn.document!==void 0||bn.WorkerGlobalScope!==
void 0);var nc=32<<20,Gs=(t,e,n)=>n>e&&t[e]<32,yn=class{#e;#t=[];#n=0;constructor(e=nc){this.#e=e}get held(){return this.#n}push(e,n){
let o=0;if(!(this.#n>0&&(o=this.#o(e,n),this.#n>0))){for(;e.length-o>=4;){let r=o+4+this.#i(e,o);if(r>e.length)break;n(e,
o+4,r),o=r}o<e.length&&this.#r(e.slice(o))}}#o(e,n){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let r=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(r,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,n(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),n=0;for(let o of this.#t)e.set(o,n),n+=o.length;return this.#t=[
e],e}#i(e,n){let o=e[n]*16777216+(e[n+1]<<16|e[n+2]<<8|e[n+3]);if(o>this.#e)throw new v("protocol","a message that is to\
o long");return o}};var Ks=1e3,oc=43,rc=2e3,Qs=()=>"WebTransport"in globalThis;async function Vs(t,{paths:e,hashes:n}){let{signal:o}=t,r=[],
i,a=()=>{clearTimeout(i),r.forEach(wn)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let f=()=>{let p=new WebTransport(
t.edge+e.webTransport,n?{serverCertificateHashes:[...n]}:{});r.push(p),p.closed.catch(()=>{}),p.ready.then(()=>u(p),d)};
f(),i=setTimeout(f,rc)});for(let u of r)u!==l&&wn(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:rt(
`${d}`)}),()=>({}));return await sc(l,c,t.token)}catch(l){throw a(),X(o),pe(l,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(i),o.removeEventListener("abort",a)}}async function sc(t,e,n){let o=await t.createBidirectionalStream(),r=new at,
i=new Do(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=ic(t);i.send(`AUTH:${n}`);let d=new yn,f=(m,y,_)=>{if(Gs(
m,y,_))return r.frame(m,y,_);let b=Ce(m.subarray(y,_));if(c)return r.line(b);let w=bo(b);w.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:zs,start:k=>r.start(k),send:k=>i.send(k),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>wn(
t))}}:w.kind==="ERR"&&(l??=rt(b.slice(4))??new v(w.code))},p=async()=>{let{value:m,done:y}=await a.read();return m&&(r.bytes(),
d.push(m,f)),!y},h;for(;!c;)if(!await p().catch(y=>{if(y instanceof v)throw y;return!1}))throw l??ac(await e);return(async()=>{
try{for(;await p(););}catch(_){_ instanceof v&&(h=_)}i.close();let m={error:h},y=e.then(_=>m=_);h||await qe(Ks,y),wn(t),
r.ended(m)})(),c}function ic(t){let e,n=!1,o=async()=>{let{writable:r,createWritable:i}=t.datagrams;e??=(r??i?.call(t.datagrams))?.
getWriter(),await e?.write(new Uint8Array(oc))};return()=>{n||(n=!0,o().catch(()=>{}).finally(()=>{n=!1}))}}function ac({
closeCode:t,error:e}){let n=t===4401?"unauthorized":t===1001?"draining":t===1013?"unavailable":"unreachable";return e??new v(
n,"the connection has ended",{closeCode:t})}function wn(t){try{t.close({closeCode:1e3,reason:""})}catch{}}var Do=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let n=typeof e=="string"?Ge(e):e,o=n.length,r=this.#n+
4+o;if(r>this.#t.length){let i=new Uint8Array(Math.max(r,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(n,this.#n+4),this.#n=r,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await qe(Ks,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var lc=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Fo=(t,e)=>Qs()&&t.
startsWith("https:")&&!e.runtime.proxied(t,e),_n=class{#e;#t=new Map;#n=new Set;constructor(e){this.#e=e}forget(){this.#n.
clear()}prefer(e,n){this.#t.set(e,n)}async open(e,n,o,r={}){let i=this.#e,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=r,
c=a.filter(f=>f==="websocket"||Fo(e,i));c.length===0&&j("there is no WebTransport here, not for http:// addresses, and n\
ot through a proxy");let u=c.filter(f=>!this.#n.has(f));if(u.length===0)throw new v("protocol_not_allowed");this.#t.get(
e)===u[1]&&u.reverse();let d=await ze(o,i.connectTimeout,f=>this.#o(u,e,n,l,f));return this.#t.set(e,d.transport),d}#o(e,n,o,r,i){
return new Promise((a,l)=>{let c,u=0,d=0,f,p=!1,h=()=>{p=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let y=e[d++];if(!y||
p)return;let _=y==="websocket"?qs:Vs;u++,_({edge:n,token:o,signal:i},this.#e).then(b=>{if(p)return cc(b);h(),a(b)},b=>{u--;
let w=pe(b,"unreachable","the edge does not answer");if(w.code==="protocol_not_allowed"&&this.#n.add(y),(!f||_t(w)>_t(f))&&
(f=w),!lc.test(w.code)&&(u>0||d<e.length))return m();h(),l(f)}),d<e.length&&(c=setTimeout(m,r))};i.addEventListener("abo\
rt",()=>{h(),l(Xe(i))}),m()})}};function cc(t){t.start({bytes(){},line(){},frame(){},ended(){}}),t.close()}function _t({
code:t}){return["unreachable","timeout","refused","protocol_not_allowed"].indexOf(t)>>>0}var Ys=3,dc=500;async function jo(t,e,n){let o,r=await Promise.all(t.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await ze(n,e.connectTimeout,l=>uc(a,e,l))}catch(l){return o=l,[]}})),i=[...new Set(r.flat())];if(X(n),i.length===
0)throw o??new v("unreachable","the list has no edge");return i.length>1&&(await ze(n,e.connectTimeout,a=>fc(i,e,a)).catch(
()=>{}),X(n)),i}async function uc(t,e,n){try{let o=await e.runtime.fetch(t.href,e,{cache:"no-store",credentials:"omit",signal:n});
if(!o.ok)throw new v("unreachable",`the list of edges: HTTP status ${o.status}`,{status:o.status});let{edges:r}=await o.
json();return r.map(({host:i})=>Ut(`https://${i}`,!1).origin)}catch(o){throw pe(o,"unreachable","the list of edges")}}async function fc(t,e,n){
let o=new Map,r,i=new Promise(u=>{r=u}),a=async u=>{let d=[];for(;d.length<Ys;){let f=E();if(!await dn(u+e.paths.ping,e,
n))return;d.push(E()-f)}d.sort((f,p)=>f-p),o.set(u,d[Ys>>1]),r()},l=t.map(a);await Promise.race([Promise.all(l),i.then(()=>le(
dc,n))]);let c=u=>o.get(u)??Number.MAX_VALUE;t.sort((u,d)=>c(u)-c(d))}var Zs=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,hc=/^(unauthorized|token_expired|region_not|protocol_not)/,
pc=5,mc=6e4,gc=12e4,vn=class{#e;#t;#n;#o;#r;#s=[];#i=new Map;#a;#l=0;#d=0;#c=new Map;drained=new Set;constructor(e,n,o,r){
this.#e=e,this.#t=n,this.#n=o,this.#o=r,this.#r=new _n(n)}async first(e){await xe(this.#n.get(),e),this.#s=await jo(this.#e,
this.#t,e);let n;for(let o of this.#s)try{return await this.open(o,e)}catch(r){if(!(r instanceof v)||Zs.test(r.code)||r.
code==="token_provider")throw r;(!n||_t(r)>_t(n))&&(n=r)}throw n}async*order(e,n,o){for(;;){let r=this.#s.filter(a=>a!==
e),i=n?[e,...r]:r.length<this.#s.length?[...r,e]:r;for(let a of i)i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.
some(a=>a.pathname!=="/"))try{this.#s=await jo(this.#e,this.#t,o)}catch{X(o)}}}wait(e){return Math.max(0,(this.#c.get(e)??
0)-E())}async open(e,n,o){let r=await this.#n.get();try{return await this.#u(e,r,n,o)}catch(i){if(!(i instanceof v&&/^(unauthorized|token_expired|refused)$/.
test(i.code))||!this.#n.provided)throw i;let l=await this.#n.ask();if(l===r)throw i;return this.#u(e,l,n,o)}}async#u(e,n,o,r){
n!==this.#a&&(this.#a=n,this.#i.clear(),this.#r.forget());let i=await this.#r.open(e,n,o,r).catch(l=>{let{retryAfter:c=0}=l;
throw this.#c.set(e,E()+Math.min(c,this.#t.maxBackOff)),l});this.drained.delete(e),this.#c.delete(e);let a=new gn(e,i,n,
this.#o,this.#t);if(a.error)throw a.error;return this.#l=0,this.#i.clear(),a}noteSilent({edge:e,transport:n,begun:o},r=!1){
n!=="webtransport"||!r&&E()-o>=gc||this.#r.prefer(e,r?n:"websocket")}hopeless(e,n,o){let{code:r}=n;r==="unreachable"&&this.
drained.delete(e);let i=r==="unauthorized"&&this.#n.provided;return i&&this.#n.failed(n),i||r==="refused"?o||this.drained.
has(e)?!1:(this.#l++===0&&(this.#d=E()),this.#l>=pc&&E()-this.#d>=mc):(this.#l=0,Zs.test(r)?!0:hc.test(r)?(this.#i.set(e,
n),this.#s.every(a=>this.#i.has(a))):!1)}};var ei=t=>`${t.verb}:${t.tenant}:${t.verb==="JOIN"?t.channel:t.pattern}`,ni=t=>t.verb==="WHO"&&t.count,Lo=({holders:t,waiting:e})=>t.
length>e.size,kn=class{asking=new Set;#e=new Map;#t;constructor(e){this.#t=e}get#n(){return[this.#t.current,this.#t.next].
filter(e=>e!==void 0)}async add(e){let{current:n,leaving:o,over:r}=this.#t;if(r)throw r;let i=ei(e),a=this.#e.get(i)??bc(
e,i);if(a.counting&&!ni(e))throw new v("bad_option","the client counts the members of this pattern, and can only do that",
a.about);this.#e.set(i,a),a.holders.push(e),e.verb==="WHO"&&(e.watch=a.watch);let l=new Promise((c,u)=>{a.waiting.set(e,
{resolve:c,reject:u})});this.#c(a);for(let c of this.#n)!a.on.has(c)&&!(o&&c===n)&&this.#s(c,a);return l}async restore(e){
await Promise.all([...this.#e.values()].map(n=>this.#s(e,n)))}hasSynced(e){return[...this.#e.values()].every(({watch:n,on:o})=>!n||
!o.has(e)||n.hasSynced(e))}isSynced(e){let{current:n}=this.#t;return n?.alive===!0&&e.watch.hasSynced(n)}take(e,n){let o=this.#e.
get(`WHO:${n.tenant}:${n.pattern}`);o?.watch?.take(e,this.#t.current,n,o.counting),o&&this.#c(o)}follow(){let{current:e}=this.#t;
for(let n of this.#e.values())e&&n.watch?.follow(e),this.#c(n)}ended(e,n,o){let r=this.#e.get(o);!r||n!=="no_presence"||
(this.#l(e,r),this.#c(r))}async leave(e){let n=this.#e.get(ei(e)),o=n?.holders.indexOf(e)??-1;if(!n||o<0||(n.holders.splice(
o,1),n.holders.length>0))return;let r=this.#r(n);await(this.#t.suspected&&r.length>0?Promise.race(r):Promise.all(r))}leaveAll(){
for(let e of this.#e.values())e.verb==="JOIN"&&this.#o(e)}end(e,n){for(let{key:o,holders:r,waiting:i}of this.#e.values()){
this.#e.delete(o);for(let a of r)a.end(e);for(let{reject:a}of i.values())a(e??n)}}#o({key:e,name:n,undo:o,on:r,watch:i}){
return this.#n.flatMap(a=>{let l=r.get(a);return r.delete(a),i?.end(a),a.forget(e),l===void 0||l==="wanted"?[]:a.leave(n,
o)})}#r(e){return this.#e.delete(e.key),this.#o(e)}#s(e,n){n.on.set(e,"wanted");let o=this.#i(e,n).finally(()=>this.asking.
delete(o));return this.asking.add(o),o}async#i(e,n){let{verb:o,name:r,key:i,about:a,on:l,counting:c}=n,u=()=>this.#e.get(
i)===n,{settings:d,events:f}=this.#t;try{await e.featured,await e.ending.get(`${n.undo}:${r}`);for(let p=2;;p++){if(!e.alive||
!u())return;if(!e.features?.includes("presence"))throw new v("no_presence","the edge has none",a);l.set(e,"sent"),n.watch?.
begin(e);try{await e.request(o,r,c?":count":"");break}catch(h){let{code:m}=h;if(m!=="try_later"||!Lo(n))throw h;p===2&&f.
emit("subscriptionError",{...ti(n),code:m})}if(!u())return;l.set(e,"wanted"),await e.postpone(i,ce(p,d))}if(!u())return;
e.postponed.delete(i),l.set(e,"held"),this.#c(n)}catch(p){let h=pe(p,"internal","a fault of this client");h.code!=="disc\
onnected"&&u()&&this.#a(e,n,h)}}#a(e,n,o){let{holders:r,waiting:i,on:a,key:l}=n,{suspected:c,next:u,current:d}=this.#t,{
code:f}=o;if(f==="no_presence"&&Lo(n)){for(let[p,{reject:h}]of i)r.splice(r.indexOf(p),1),h(o);i.clear(),this.#l(e,n),this.#t.
events.emit("edgeError",{code:f,detail:l})}else c&&e===u&&d&&a.get(d)==="held"?e.fail(o):this.#d(n,o)}#l(e,{on:n,watch:o}){
n.delete(e),o?.end(e)}#d(e,n){this.#r(e),Lo(e)&&this.#t.events.emit("subscriptionError",{...ti(e),code:n.code});for(let o of e.
holders)o.end(n);for(let{reject:o}of e.waiting.values())o(n)}#c(e){let{holders:n,waiting:o,on:r}=e;for(let i of[...n])(i.
verb==="WHO"?this.isSynced(i):this.#n.some(l=>r.get(l)==="held"))&&o.has(i)?(o.get(i)?.resolve(),o.delete(i),i.verb==="W\
HO"&&i.opened()):i.verb==="WHO"&&i.update()}};function bc(t,e){let{verb:n,tenant:o}=t,r=[];return{verb:n,undo:n==="WHO"?
"UNWHO":"LEAVE",name:e.slice(n.length+1),key:e,about:n==="WHO"?{tenant:o,pattern:t.pattern}:{tenant:o,channel:t.channel},
holders:r,waiting:new Map,on:new WeakMap,watch:n==="WHO"?new Yt(r):void 0,counting:ni(t)}}var ti=({about:t})=>({pattern:"",
...t});var oi,lt=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(e,n,o,r,i,a,l,c=""){this.tenant=
e,this.channel=n,this.payload=o,this.pattern=r,this.patterns=i,this.late=a,this.position=l,this.sender=c}get time(){return this.
position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return oi??=new TextDecoder("utf-8",{ignoreBOM:!0}),
oi.decode(this.payload)}json(){return JSON.parse(this.text().replace(/^\uFEFF/,""))}};var xn=class{#e=new Map;#t=0;get all(){return[...this.#e.values()]}add(e){let{tenant:n,pattern:o}=e,r=`${n}:${o}`,i=this.#e.
get(r),{history:a}=e,l=i??{name:r,tenant:n,pattern:o,subs:[],confirmed:!1,waiting:[],history:a};return l.subs.push(e),this.#e.
set(r,l),this.#t++,{interest:l,isNew:!i}}of(e,n){return this.#e.get(`${e}:${n}`)}has(e){return this.#e.get(e.name)===e}remove(e){
let n=this.#e.get(`${e.tenant}:${e.pattern}`),o=n?.subs.indexOf(e)??-1;if(!(!n||o<0))return n.subs.splice(o,1),n.subs.length===
0&&this.drop(n)?n:void 0}drop(e){return this.#t++,this.#e.get(e.name)===e&&this.#e.delete(e.name)}dispatch(e,n=!1){let{tenant:o,
channel:r,payload:i,route:a,sender:l}=e,c=a.note?.tenant===o&&a.note.version===this.#t?a.note:this.#n(o,a);for(let{pattern:u,
subs:d,history:f}of c.interests){if(f&&!f.plain)continue;let p=new lt(o,r,i,u,a.patterns,n,void 0,l);if(d.length===1)d[0].
push(p);else for(let h of[...d])h.push(p)}}#n(e,n){let o=n.patterns.map(r=>this.#e.get(`${e}:${r}`)).filter(r=>r!==void 0);
return n.note={tenant:e,version:this.#t,interests:o},n.note}};var Sn=class{interests=new xn;asking=new Set;#e;constructor(e){this.#e=e}async restore(e){let n=this.interests.all;n.some(
r=>r.history)&&await e.featured;let o=e===this.#e.current?n:n.filter(r=>!r.history);await Promise.all(o.map(r=>this.ask(
e,r)))}async resume(e){await Promise.all(this.interests.all.filter(({history:n})=>n).map(n=>this.ask(e,n)))}stored(e,n,o){
let{tenant:r,channel:i,payload:a,route:l,sender:c}=n,{patterns:u}=l,d=u[0],f=this.interests.of(r,d),{history:p}=f??{};if(!f||
!p?.takes(e,o))return;p.from=o,f.subs[0]?.pushStored(new lt(r,i,a,d,u,!1,o,c))===!1&&this.interests.has(f)&&(p.pause(),e.
leave(f.name)),this.#o(f)}reached(e,n){let{kind:o,tenant:r,pattern:i,position:a}=n,l=this.interests.of(r,i),{history:c}=l??
{};if(!(!l||!c||c.plain)){if(c.on!==e||!c.open){o==="GAP"&&c.paused&&e===this.#e.current&&this.#t(r,i,a);return}if(o==="\
GAP"||c.takes(e,a)){c.from=a;for(let u of l.subs)u.reach(a)}o==="GAP"?(c.told=!0,this.#t(r,i,a)):o==="OK:RSUB"&&(this.#o(
l),n.how==="gap"&&!c.told?this.#t(r,i,a):c.lossy&&this.#t(r,i,void 0,c.refusal))}}#t(e,n,o,r){this.#e.gaps=!0,this.#e.events.
emit("gap",{tenant:e,pattern:n,before:o,code:r})}wasRead(e){let n=this.interests.of(e.tenant,e.pattern),{current:o}=this.#e;
!n?.history||n.history!==e.history||(n.history.paused=!1,o&&this.ask(o,n))}ask(e,n){let o=this.#n(e,n).finally(()=>this.
asking.delete(o));return this.asking.add(o),o}async#n(e,n){try{n.history?await this.#r(e,n,n.history):(await this.#s(e,n),
this.#o(n))}catch(o){let r=pe(o,"internal","a fault of this client");if(r.code==="disconnected")return;if(n.confirmed&&this.#e.
suspected&&e===this.#e.next)return e.fail(r);this.#i(n,r)}}#o(e){e.confirmed=!0;for(let{resolve:n}of e.waiting.splice(0))
n()}async#r(e,n,o){let{name:r,tenant:i,pattern:a}=n;if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===e)){o.begin(e);for(let l=2;;){
if(await e.featured,await e.ending.get(`UNSUB:${r}`),!e.alive||o.on!==e||!this.interests.has(n))return;let c=!e.features?.
includes("history")||o.unwanted,u=o.forbidden?"now":o.from,d=Xo(n);o.lossy=c?d||u!=="now":o.forbidden||d&&u==="now",o.plain=
c,o.open=!0,c&&(o.from="now");try{if(!c)return await e.resume(r,u);if(await e.request("SUB",r),!this.interests.has(n))return;
this.#o(n),o.lossy&&this.#t(i,a,void 0,o.refusal);return}catch(f){let p=f;if(p.code==="history_unavailable")return this.#e.
gaps=!0,this.#e.events.emit("edgeError",{code:p.code,detail:`RSUB:${r}`});if(o.open=!1,p.code==="permission_denied"&&!c&&
u!=="now")o.forbidden=!0;else if(p.code==="no_history"&&d)o.unwanted=!0;else if(p.code==="try_later"&&d)l===2&&this.#e.events.
emit("subscriptionError",{tenant:i,pattern:a,code:p.code}),await e.postpone(r,ce(l++,this.#e.settings)),e.postponed.delete(
r);else throw p}}}}async#s(e,n){let{name:o,tenant:r,pattern:i}=n;for(let a=2;;a++){try{return await e.request("SUB",o)}catch(l){
let c=l;if(c.code!=="try_later"||!Xo(n))throw c;a===2&&this.#e.events.emit("subscriptionError",{tenant:r,pattern:i,code:c.
code})}await e.postpone(o,ce(a,this.#e.settings))}}#i(e,n){if(!this.interests.drop(e))return;let{tenant:o,pattern:r,subs:i,
waiting:a}=e;for(let l of[this.#e.current,this.#e.next])l?.forget(e.name)&&l.leave(e.name);Xo(e)&&this.#e.events.emit("s\
ubscriptionError",{tenant:o,pattern:r,code:n.code});for(let l of i)l.end(n);for(let{reject:l}of a.splice(0))l(n)}async subscribe(e){
let{tenant:n,pattern:o}=e,r;for(;;){if(this.#e.over)throw this.#e.over;r=this.interests.of(n,o);let c=d=>d?.ending.get(`\
UNSUB:${n}:${o}`),u=c(this.#e.current)??c(this.#e.next);if(r||!u)break;await u}if(r&&(r.history||e.history)){let c="the \
client has a subscription to this pattern, and one with a history is alone";throw new v("bad_option",c,r)}let{interest:i,
isNew:a}=this.interests.add(e);if(i.confirmed)return;let l=new Promise((c,u)=>{i.waiting.push({resolve:c,reject:u})});return a&&
(this.#e.current&&!this.#e.leaving&&this.ask(this.#e.current,i),this.#e.next&&!i.history&&this.ask(this.#e.next,i)),l}async leave(e){
let n=this.interests.remove(e);if(!n)return;for(let{resolve:l}of n.waiting.splice(0))l();let{name:o,history:r}=n,a=[this.#e.
current,this.#e.next].filter(l=>l?.forget(o)||l&&r?.on===l).map(l=>l.leave(o));await(this.#e.suspected&&a.length>0?Promise.
race(a):Promise.all(a))}queueFull({tenant:e,pattern:n},o){this.#e.events.emit("queueFull",{tenant:e,pattern:n,dropped:o})}end(e,n){
for(let o of this.interests.all){this.interests.drop(o);for(let r of o.subs)r.end(e);for(let{reject:r}of o.waiting.splice(
0))r(e??n)}}};function Xo({subs:t,waiting:e}){return t.length>e.length}var Uo=1e3,Tn=class{#e=new we;#t=new we;#n=new we;constructor(e,n,o){for(let{key:r}of e)this.#e.put(r,n);if(o){for(let{key:r,
time:i,message:a}of o.#t.all)this.#t.put(r,i,a);for(let{key:r,time:i}of o.#n.all)this.#n.put(r,i)}}fromCurrent(e,n){let o=Ue(
e);return this.#n.dropUntil(n-Uo),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,n),!0)}fromTrail(e,n){let o=Ue(e);if(this.#e.
take(o))return;let r=this.#t.put(o,n,{...e});return r&&this.#n.put(r.key,r.time),r?.message}renew(e){for(let n of this.#t.
all)n.time=e}due(e){return this.#t.dropUntil(e-Uo)}get nextDue(){let e=this.#t.oldest;return e&&e.time+Uo}};var ri=15e3,yc=6e4,En=class{#e;late;#t;#n;#o=!0;#r=!1;#s=E();#i;#a;constructor(e,n,o,r,i){this.#e=e,this.late=new Tn(n,E(),
i?.late),this.#t=o,this.#n=r,this.#i=setTimeout(()=>this.#l(),ri),i?.stop(),e.handTo(this),e.alive?this.#c():this.#d()}fromCurrent(e){
return this.late.fromCurrent(e,E())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(E()),this.#c())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#l(){let e=Math.
min(this.#e.lastByte+ri,this.#s+yc)-E();e>0?this.#i=setTimeout(()=>this.#l(),e):this.#d()}#d(){this.#o&&(this.stop(),this.#c())}#c(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let n of this.late.due(E()))this.#t(n);this.#c()},Math.max(1,e-E()))}delivered(e,n){if(n.position!==void 0)return;
let o=this.late.nextDue===void 0,r=this.late.fromTrail(n,E());r&&this.#t(r),o&&this.#c()}woke(e){for(let o of e.asked)e.
request("UNSUB",o).catch(()=>{});let n=()=>this.#d();e.ping().then(n,n)}lost(){this.#d()}silent(){return!1}reached(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var Cn=class{settings;events;subscriber=new Sn(this);presences=new kn(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e,n){this.settings=Rs(e,n),
this.events=new Kt(e.on)}setCurrent(e){this.current=e,this.place={edge:e.edge,transport:e.transport},this.presences.follow(),
this.linked(),this.#o()}#o(){for(let e of this.#n.splice(0))e()}changed(){return new Promise(e=>{this.#n.push(e)})}linked(){
let{link:e,edge:n}=this.current??{};!this.since||!n||e===void 0||e===this.#e||(this.#e=e,this.events.emit(e?"linkUp":"li\
nkDown",{edge:n}))}reached(e,n){this.subscriber.reached(e,n)}presence(e,n){this.presences.take(e,n)}async restore(e){await Promise.
all([this.subscriber.restore(e),this.presences.restore(e)])}delivered(e,n){if(n.position!==void 0)return this.subscriber.
stored(e,n,n.position);if(!this.merger)return this.#r(n);let o=E();if(e===this.next){let r=this.current?.confirmed,i=!n.
route.patterns.some(l=>r?.has(`${n.tenant}:${l}`)),a=this.merger.fromNext(n,o,i);a&&this.#r(a)}else this.both?this.merger.
fromCurrent(n,o)&&this.#r(n):(this.merger.late(n,o)||this.#r(n),this.merger?.done(o)&&(this.merger=void 0))}#r(e){(!this.
trail||this.trail.fromCurrent(e))&&this.subscriber.interests.dispatch(e)}reportUnread(e){let n=e.takeUnread(),{edge:o,transport:r}=e;
n>0&&this.events.emit("publishUnknown",{edge:o,transport:r,count:n})}promote(){let{current:e,next:n}=this;n&&(e&&this.reportUnread(
e),this.setCurrent(n),this.next=void 0,this.merger?.left(E()),this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),
e?.close(),this.subscriber.resume(n))}takeOver(e,n){this.trail?.hold(!1);let o=new En(e,this.merger?.given??[],i=>this.subscriber.
interests.dispatch(i,!0),()=>{this.trail===o&&(this.trail=void 0)},this.trail);this.trail=o;let r=E()-ln(e.lastByte);this.
reportUnread(e),this.suspected=this.next=void 0,this.merger?.left(E()),this.both=this.tentative=!1,this.setCurrent(n),this.
since=E(),this.events.emit("recovered",{...this.place,away:r}),this.giveHeld(),this.openGate(void 0),this.subscriber.resume(
n)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(E()),this.both=this.tentative=
!1}giveHeld(){for(let e of this.merger?.release()??[])this.#r(e)}pause(e,n){return le(e,n,this.#t)}get waits(){return this.#t.
size>0}hurry(){for(let e of[...this.#t])e()}openGate(e){this.publishOn=e;let n=this.gate??[];this.gate=void 0;for(let o of n)
o();this.over&&this.#o()}publishConnection(){if(this.over)throw this.over;let e=this.publishOn??this.current;if(!e?.alive)
throw te();return e}};var wc=500;async function si(t,e,n){for(t.events.emit("suspect",t.place),t.gate??=[];t.merger&&!t.merger.done(E());)await le(
50,n);t.merger=new it,t.both=t.tentative=!0;let o=0;for await(let r of t.searcher.order(e.edge,!1,n)){await t.pause(Math.
max(ce(++o,t.settings),t.searcher.wait(r)),n);let i;try{i=await t.searcher.open(r,n,{fallbackAfter:wc})}catch(l){if(X(n),
l instanceof v)continue;throw l}if(n.aborted)return void i.close();if(!i.alive)continue;t.next=i,t.merger.joined(E());let a=t.
restore(i);if(i.ping().catch(()=>{}),await a,X(n),t.next===i)return t.takeOver(e,i)}}function ii(t){if(typeof t=="number")return t;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(t);if(!e){let i='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new v("bad_option",i)}let[n=0,o=0,r=0]=e.slice(1).map(i=>Number(
i??0));return(n*60+o)*60+r}var _c=2**31-1,ai=1e3,vc="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function kc(t,e){return t===
1/0?t:Math.max(0,Math.min(t*.9,t>5e3?t-5e3:t)-e*t/10)}var Pn=class{#e;#t;failed;#n=new AbortController;#o;#r=1/0;#s;#i=!1;#a=-1/0;#l;#d=0;constructor(e,n,o){
this.#e=e,this.#o=e.token,this.#t=n,this.failed=o}get token(){return this.#o}get provided(){return this.#e.tokenProvider!==
void 0}get(){return this.#o!==void 0&&E()<this.#r?Promise.resolve(this.#o):this.ask()}ask(){return this.#s??=this.#c().finally(
()=>{this.#s=void 0,this.#i=!1}),this.#s}async renew(){this.#i&&await this.#s?.catch(()=>{}),await this.ask(),this.#t()}async#c(){
clearTimeout(this.#l);let{tokenProvider:e,connectTimeout:n,minBackOff:o}=this.#e,{signal:r}=this.#n;try{let i=this.#a+ai;
for(;E()<i;)await le(i-E(),r);this.#i=!0;let l=await ze(r,n,c=>xe(Promise.resolve(e?.()),c)).finally(()=>{this.#a=E()});
return this.#u(typeof l=="object"?l:{token:l}),this.#o}catch(i){this.#r>0&&this.#r<1/0&&this.#f(Math.max(o,ce(++this.#d+
1,this.#e)));let a=i?.name==="LoggedOutError",l=`the token provider ${a?"says that there will be":"gave"} no token`,c=new v(
a?"logged_out":"token_provider",l,{cause:i});throw this.#o!==void 0&&!r.aborted&&this.failed(c),c}}#u(e){Pe("the token p\
rovider's answer",e,vc);let n=e.expiresIn??e.expires_in,o=e.expiresAt??e.expires_at,r=1/0;n!=null?r=ii(n)*1e3:o!=null&&(r=
new Date(o).getTime()-Date.now()),n==null&&r<=0&&(r=1/0),r>0||j("expiresIn must be above 0, expiresAt a time"),this.#o=Wt(
e.token),this.#r=E()+r,this.#d=0,this.#f(Math.max(ai,kc(r,Math.random())))}#f(e){if(this.#n.signal.aborted||!(e<1/0))return;
let n=this.#o;this.#l=setTimeout(()=>this.ask().then(o=>o!==n&&this.#t(),()=>{}),Math.min(e,_c))}expire(){this.provided&&
(this.#r=-1)}stop(){this.#n.abort(),clearTimeout(this.#l)}};var Bo=6e4,xc=60*Bo,Sc=2*Bo,Tc=1e4,Ec=2e3;function li(t,e){return Math.min((4+2*e)*Bo*2**t,xc)}var An=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},Sc)):
!this.#n&&this.#s(e)&&this.#i(li(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
Ec,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:n}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&Fo(n,this.#e.settings)}#i(e,n=!0){
clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(n)},e)}async#a(e){let n=this.#e,{current:o}=n;if(!o||!n.idle||this.#r)
return this.#i(Tc,e);if(!this.#s(o)){this.#n=void 0;return}let r=this.#t+Number(e);this.#i(li(r,Math.random()));let i=new AbortController;
this.#r=i;let a=await n.searcher.open(o.edge,i.signal,{transports:["webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=
void 0),i.signal.aborted||(this.#t=r),a&&!i.signal.aborted&&n.current===o&&n.idle?n.run(l=>wt(n,o,"transport",l,a)):(a?.
close(),n.moveIfDue())}};var Cc=3e3,$n=class extends Cn{tokens;searcher;closed;#e;#t=new An(this);#n;#o;constructor(e,n,o){super(n,o),this.tokens=
new Pn(this.settings,()=>this.moveIfDue(),r=>this.#r(r)),this.searcher=new vn(e,this.settings,this.tokens,this),this.closed=
new Promise(r=>{this.#o=r})}#r(e){let{code:n,message:o,cause:r}=e;n!=="logged_out"?this.events.emit("edgeError",{code:n,
detail:o.slice(n.length+2),cause:r}):this.since&&this.finish(e)}async renewToken(){if(this.over)throw this.over;this.tokens.
provided||j("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(e){throw this.
over&&e.code!=="logged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){
try{let n=await this.searcher.first(e);if(this.setCurrent(n),X(e),n.error)throw n.error;this.since=E(),this.#n=Xs(this),
this.#t.follow(n),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(n){throw this.tokens.stop(),
this.current?.close(),n}}setCurrent(e){super.setCurrent(e),this.since&&this.#t.follow(e)}moveIfDue(){let{current:e}=this;
this.#e||this.over||!e?.alive||(e.drains?this.run(n=>wt(this,e,"drain",n)):e.token!==this.tokens.token&&this.run(n=>wt(this,
e,"token",n)))}get idle(){let{current:e,merger:n}=this;return!this.#e&&!this.over&&e?.alive===!0&&!e.drains&&(!n||n.done(
E()))}run(e){this.#e?.abort();let n=new AbortController;this.#e=n,e(n.signal).then(()=>{this.#e===n&&(this.#e=void 0,this.
current?.alive&&this.moveIfDue())},o=>{this.#e===n&&this.finish(pe(o,"internal","a fault of this client"))})}draining(e){
this.searcher.drained.add(e.edge),e===this.current&&this.moveIfDue()}errorLine(e,n,o){this.presences.ended(e,n,o);let[,r,
i]=/^PUB:([^:]+):(.+)$/s.exec(o)??[];n==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(o)}):n==="egres\
s_limited"?this.events.emit("egressLimited",{delay:Number(o)*1e3}):r&&i&&n!=="broker_unavailable"?this.events.emit("publ\
ishError",{tenant:r,channel:i,code:n}):this.events.emit("edgeError",{code:n,detail:o})}roundTrip(e){this.rtt=e,this.events.
emit("roundTrip",{rtt:e})}silent(e){let{current:n}=this;return e===this.next&&this.tentative&&E()-e.lastByte>=Cc&&e.fail(
new v("timeout","the edge does not answer")),e!==n||this.#e||this.gate||this.over||this.reconnecting||!this.since||n.drains?
!1:(this.suspected=e,this.trail?.hold(!0),this.searcher.noteSilent(e),this.run(o=>si(this,e,o)),!0)}woke(e){e===this.suspected&&
(this.searcher.noteSilent(e,!0),this.#e?.abort(),this.#e=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),this.
events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(e,n){this.reportUnread(e);let o=e.
token===this.tokens.token,r=/_not_allowed$|^token_revoked$/.test(n.code)||n.code==="token_expired"&&!this.tokens.provided,
i=e===this.next&&this.suspected!==void 0;if(r&&o&&!i)return this.finish(n);n.closeCode===void 0&&/^(disconnected|timeout)$/.
test(n.code)&&this.searcher.noteSilent(e),e===this.next&&!this.leaving?(this.next=void 0,i?this.merger?.orphan():this.openGate(
void 0)):e===this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(e===this.current||e===this.next)&&
(this.suspected=void 0,this.trail?.hold(!1),e===this.current&&(this.next?.close(),this.next=void 0,this.giveHeld()),this.
promote(),this.reconnecting||this.run(a=>Us(this,e,n,a)))}slept(){for(let e of[this.current,this.next])e?.awake(!1);this.
hurry()}networkChanged(){for(let e of[this.current,this.next])e?.awake(!0);this.hurry(),this.#t.soon()}finish(e){if(this.
over)return;this.over=new v("closed","the client has been closed",e?{cause:e}:{}),this.#e?.abort(),this.tokens.stop(),this.#t.
stop(),this.#n?.(),e||this.presences.leaveAll();for(let o of[this.current,this.next])o&&(e||o===this.suspected)&&this.reportUnread(
o);let n=[this.current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),e&&(this.giveHeld(),this.trail?.
flush()),this.subscriber.end(e,this.over),this.presences.end(e,this.over),this.events.emit("closed",{error:e}),Promise.all(
n).then(()=>this.#o(e))}};var Mn=class{#e;#t=new Array(16);#n=0;#o=0;constructor(e){this.#e=e}get size(){return this.#o}get full(){return this.#o>=
this.#e}push(e){let n=this.#t;this.#o===n.length&&(this.#t=[...n.slice(this.#n),...n.slice(0,this.#n),...new Array(n.length)],
this.#n=0),this.#t[this.#n+this.#o++&this.#t.length-1]=e}shift(){if(this.#o===0)return;let e=this.#t[this.#n];return this.#t[this.#n]=
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}clear(){this.#t=new Array(16),this.#n=this.#o=0}};var Pc=1e3,On=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];#r=!1;#s;#i;#a=0;#l=-1/0;#d;#c;#u;constructor(e,n,o,r){this.
tenant=e,this.pattern=n,this.#e=o,this.#t=r,this.#n=new Mn(r.queue);let{from:i}=r;this.history=i===void 0?void 0:new qt(
i),i?.includes(".")&&!i.startsWith("last")&&(this.#c=this.#u=i),this.ended=new Promise(a=>{this.#i=a})}get position(){return this.#n.
size===0?this.#c:this.#u}async unsubscribe(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncIterator](){if(this.#t.
onMessage)throw new v("bad_option","a subscription with a callback cannot be iterated");let e=!1;return{next:()=>{if(e)return Promise.
resolve({done:e,value:void 0});let n=this.#n.shift();return n?(this.#u=n.position??this.#u,this.history?.paused&&this.#n.
size*2<=this.#t.queue&&this.#e.wasRead(this),Promise.resolve({done:!1,value:n})):this.#r?(e=!0,this.#s?Promise.reject(this.#s):
Promise.resolve({done:e,value:void 0})):new Promise((o,r)=>{this.#o.push({resolve:o,reject:r})})},return:async()=>(e=!0,
await this.unsubscribe(),{done:e,value:void 0})}}#f(e){let{onMessage:n}=this.#t;if(n){try{let r=n(e);r instanceof Promise&&
r.catch(st)}catch(r){st(r)}return!0}let o=this.#o.shift();return o?.resolve({done:!1,value:e}),o!==void 0}pushStored(e){
if(this.#r)return!0;let n=this.#f(e);return!n&&this.#n.full?(this.#h(),!0):(this.#c=e.position,n?this.#u=e.position:this.#n.
push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){this.#c=e}#h(){this.end(new v("queue_full","messages were n\
ot read in time",this)),this.#e.leave(this)}push(e){if(this.#r||this.#f(e))return;let{queuePolicy:n}=this.#t;if(!this.#n.
full)return this.#n.push(e);if(n==="end")return this.#h();n==="drop-oldest"&&(this.#n.shift(),this.#n.push(e)),this.#a++,
this.#d??=setTimeout(()=>this.#p(),Math.max(0,this.#l+Pc-E()))}#p(){clearTimeout(this.#d),this.#d=void 0,this.#l=E(),this.#a>
0&&this.#e.queueFull(this,this.#a),this.#a=0}end(e){if(!this.#r){this.#r=!0,this.#s=e,e||this.#n.clear(),this.#p();for(let n of this.#o.
splice(0))e?n.reject(e):n.resolve({done:!0,value:void 0});this.#i(e)}}};async function ci(t,e,n){let o=typeof e=="string"?[e]:e;(!n||!o?.length)&&j("connect needs an address and options");let r=new $n(
o.map(a=>Ut(a,n.allowPlaintext===!0)),n,t),{signal:i=new AbortController().signal}=n;return X(i),await xe(r.start(i),i),
new Jo(r)}var Jo=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get edge(){return this.#e.place.edge}get transport(){
return this.#e.place.transport}get rtt(){return this.#e.rtt}on(e,n){return this.#e.events.on(e,n)}async subscribe(e,n,o={}){
let r=this.#e;Pe("the object of options",o,"onMessage history queue queuePolicy");let{onMessage:i}=o;i&&typeof i!="funct\
ion"&&j("onMessage must be a function");let a=new On(yt(e),To(n),r.subscriber,{...xo(o,r.settings),onMessage:i,from:Ds(o.
history,n)});return await r.subscriber.subscribe(a),a}async publish(e,n,o,r){let i=this.#e;r!==void 0&&Pe("the object of\
 options",r,"delivery confirm key");let{delivery:a="broadcast",confirm:l=!1,key:c}=r??{},u=wo.indexOf(a);u<0&&j(`deliver\
y: allowed are ${wo.join(", ")}`),typeof o!="string"&&o?.[Symbol.toStringTag]!=="Uint8Array"&&j("the payload must be a U\
int8Array or a string");let d={tenant:yt(e),channel:So(n)};if(l){let p=Ge(c??"");return c!==void 0&&!(p.length>0&&p.length<=
64)&&j("a key has 1 to 64 bytes"),ks(i,m=>_o(d.tenant,d.channel,o,u,{id:m,key:p}),c!==void 0,d)}c!==void 0&&j("a key is \
for a publish that is confirmed");let f=_o(d.tenant,d.channel,o,u||void 0);return i.publishConnection(),i.gate?new Promise(
(p,h)=>{i.gate?.push(()=>{try{p(i.publishConnection().publish(f,d))}catch(m){h(m)}})}):i.publishConnection().publish(f,d)}async join(e,n){
let{presences:o}=this.#e,r=yt(e),i=new zt(r,So(n,r),o);return await o.add(i),i}async presence(e,n,o={}){let{presences:r}=this.#e;
Pe("the object of options",o,"count onChange");let{count:i=!1,onChange:a}=o;typeof i!="boolean"&&j("count must be true o\
r false"),a&&typeof a!="function"&&j("onChange must be a function");let l=yt(e),c=new Zt(l,To(n,l),r,o);return await r.add(
c),c}async flush(){let e=this.#e;e.publishConnection(),e.gate&&await new Promise(n=>e.gate?.push(n)),await e.publishConnection().
ping()}renewToken(){return this.#e.renewToken()}retry(){this.#e.retry()}async close(){this.#e.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};var di=(t,e)=>ci(Ht,t,e);var ui=500,Ac=250;function hi(t,e){let[n,o]=g({state:"off",note:""}),[r,i]=g(!1),[,a]=g(0),l=Z(void 0),c=Z({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=ge(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=ge(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:ds(b.payload),late:b.late}),c.messages.length>ui&&c.messages.splice(0,c.messages.length-ui),c.timer===0&&(c.timer=
window.setTimeout(u,Ac))},[c,u]),f=ge(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);O(()=>()=>{clearTimeout(c.timer),f()},[c,f]),O(()=>(addEventListener("pagehide",f),()=>removeEventListener(
"pagehide",f)),[f]);let p=ge(async b=>{f();let w={query:b,end:new AbortController};l.current=w;let k=()=>l.current===w,C=F=>{
k()&&o(F)};C({state:"connecting",note:""});try{let F=await fi(t,b,!1),se=await di(e,{transports:["websocket","webtranspo\
rt"],tokenProvider:async()=>{let{token:Ae,expires_in:me}=F??await fi(t,b,!0);return F=void 0,{token:Ae,expiresIn:me}},signal:w.
end.signal});if(!k())return void se.close();w.client=se,$c(se,C),await se.subscribe(b.tenant,b.pattern,{onMessage:d}),C(
{state:"on",note:pi(se)})}catch(F){if(!k())return;f(),o({state:"off",error:`The tail did not start. ${In(F)}`,note:""})}},
[t,e,d,f]),h=ge(async(b,w,k)=>{let C=l.current;if(!C?.client)throw new Error("there is no connection; start the tail fir\
st");try{await C.client.publish(C.query.tenant,b,w,{delivery:k}),await C.client.flush()}catch(F){throw new Error(In(F))}},
[]),m=()=>{c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},y=()=>{c.paused=!c.paused,i(c.paused),u()},_=l.current?.
query.publish===!0;return{...n,error:n.error,messages:c.shown,received:c.received,held:c.held,paused:r,publishes:_,start:p,
stop:f,pause:y,clear:m,publish:h}}var pi=t=>`by ${t.transport==="websocket"?"WebSocket":"WebTransport"} at ${t.edge}`,fi=(t,e,n)=>t.
call("POST","live-token",{body:e,background:n});function $c(t,e){let n=(r="")=>e({state:"on",note:`${pi(t)}${r}`}),o=r=>e(
{state:"broken",note:r});t.on("disconnected",({error:r})=>o(`The connection is lost: ${In(r)} Messages of this time are \
missed.`)),t.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),t.on("recovered",()=>n()),t.on(
"reconnected",({away:r})=>n(`, after ${(r/1e3).toFixed(1)} s without a connection`)),t.on("moved",()=>n()),t.on("slowCon\
sumer",({dropped:r})=>n(`; the edge dropped ${r} messages, since this page reads too slowly`)),t.on("egressLimited",()=>n(
"; messages come late, since there are more than the tail may receive")),t.on("linkDown",()=>n("; the edge has lost the \
other edges, and nothing comes from there")),t.on("linkUp",()=>n()),t.on("publishError",({channel:r,code:i})=>n(`; the e\
dge refused the message to ${r}: ${i}`)),t.on("subscriptionError",({code:r})=>o(`The edge refuses the subscription: ${r}\
.`)),t.on("edgeError",({code:r,detail:i})=>n(`; ${r} ${i}`)),t.on("closed",({error:r})=>{r&&e({state:"off",error:`The ta\
il has ended. ${In(r)}`,note:""})})}var Mc={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no lega\
l name of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"Th\
e edge does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its\
 token was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function In(t){return t instanceof v?t.cause instanceof G?ee(t.cause):`${Mc[t.
code]??ee(t)} (${t.code})`:ee(t)}var Oc=[["text","text"],["json","JSON"],["hex","hex"]],Ic={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function mi({query:t}){let{api:e,session:n}=$(),o=z(),[r,i]=g(t.tenant??
""),[a,l]=g(t.pattern??"#"),[c,u]=g(!1),[d,f]=g("text"),[p,h]=g(),m=hi(e,n.live_url||location.origin),[y,_]=Ic[m.state],
b=m.state!=="off",w=()=>{if(!he(r))return h("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return h(
"Name a pattern; # is every channel.");h(void 0),history.replaceState(null,"",M("live",{tenant:r,pattern:a})),m.start({tenant:r,
pattern:a,publish:c&&o})};return s(T,{children:[s(Q,{text:"Live"}),s("p",{class:"quiet",children:"Shows messages as they\
 come. Each use is noted by the audit hook."}),s("form",{class:"filters","aria-label":"Live messages",onSubmit:k=>{k.preventDefault(),
b||w()},children:[s(x,{label:"Tenant",value:r,onInput:k=>i(k.trim()),mono:!0,readOnly:b}),s(x,{label:"Pattern",value:a,onInput:k=>l(
k.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&s(Se,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),s("div",{class:"buttons",children:[b?s("button",{type:"button",onClick:m.
stop,children:"Stop"}):s("button",{type:"submit",class:"primary",children:"Start"}),b&&s("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),s(De,{text:p??m.error}),s("p",{role:"status",
"aria-label":"Connection",children:[s(I,{mood:y,children:_})," ",m.note]}),b&&m.publishes&&s(_s,{tail:m}),s("section",{"\
aria-labelledby":"messages",children:[s("div",{class:"card-head",children:[s("h2",{id:"messages",children:"Messages"}),s(
"span",{class:"quiet",children:[R(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${R(m.held,"message")} since the pause not shown`:""]}),s(q,{label:"Payload as",value:d,
onInput:k=>f(k),options:Oc}),s("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?s(L,{
children:s("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):s(ws,{messages:m.messages,format:d})]})]})}function gi(t){let e=[],n=(o,r)=>{r!==void 0&&e.push(`	${o} ${r}`)};n("name",Rn(t.name)),t.description&&n("description",
Rn(t.description)),t.tenant_prefix&&n("tenant_prefix",t.tenant_prefix),t.allow_ip_masks?.length&&n("allow_ip_masks",t.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])t[o]&&n(o,String(t[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function Rn(t){if(/^[\w.@~:/+-]+$/.test(t))return t;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(t))return/["\\]/.test(t)?t.includes("`")?void 0:`\`${t}\``:`"${t}"`}var bi="Revoke the access tokens that it issued",yi="Their connections end at once. Otherwise they stay valid until they\
 expire.",wi=t=>`master-tokens/${encodeURIComponent(t.id)}`;function _i({master:t,onClose:e,onDone:n}){let{api:o}=$(),[r,
i]=g(!1);return s(fe,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>n(await o.call("POST",
`${wi(t)}/rotate`,{body:{revoke_tokens:r}})),children:[s("p",{children:[s(S,{text:t.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),s(Se,{label:bi,checked:r,onChange:i,hint:yi})]})}function vi({master:t,
onClose:e,onDone:n}){let{api:o}=$(),[r,i]=g(!1),[a,l]=g("");return s(fe,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==t.name&&a!==t.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",wi(t),{body:{revoke_tokens:r}});n(`${t.name} was deleted.${r?` ${R(
u,"access token")} revoked with it.`:""}`)},children:[s("p",{children:[s(S,{text:t.name})," stops working at once, for g\
ood. Its id is ",s(P,{text:t.id}),"."]}),s(Se,{label:bi,checked:r,onChange:i,hint:yi}),s(x,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function ki({made:t,rotated:e,onClose:n}){let o=[t.name,t.description??
""].some(r=>r!==""&&Rn(r)===void 0);return s(It,{title:e?"The new secret":"The master token",label:"Master token",secret:t.
token,onClose:n,children:[s("p",{children:["It is the ",e?"new ":"","secret of ",s(S,{text:t.name}),".",e&&t.revoked_tokens?
` ${R(t.revoked_tokens,"access token")} that it issued revoked.`:""]}),s(Rt,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${t.token}`,copy:"Copy the environment line"}),s("details",{children:[s("summary",{children:"For a Caddyfile"}),
s("p",{children:["Only to keep it in the configuration in place of the store, in the block ",s("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",s("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&s("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),s(Rt,{label:"Lines for a Caddyfile",text:gi(t),copy:"C\
opy the Caddyfile lines"})]})]})}function Ho({master:t,onClose:e,onCreated:n,onSaved:o}){let{api:r}=$(),i=ae(),[a]=g(()=>qr(t)),[l,c]=g(a),u=uo(l),d=h=>m=>c(
y=>({...y,[h]:m})),f=gt(l.prefix);return s(ve,{title:t?"Edit the master token":"New master token",onClose:e,children:s(ye,
{action:i,submit:t?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!zr(l))throw new Error("correct the fields that are marked");if(!t)return n(await r.call("POST","m\
aster-tokens",{body:Dt(l)}));let h=Gr(a,l);Object.keys(h).length>0&&await r.call("PATCH",`master-tokens/${encodeURIComponent(
t.id)}`,{body:h}),o(l.name)},onCancel:e,children:[s(x,{label:"Name",value:l.name,onInput:d("name"),count:{now:Ie(l.name),
most:lo,unit:"characters"},autoFocus:!0}),s(x,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Ie(l.description),most:co,unit:"characters"}}),s(x,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:f===""?"The app's namespace. Empty: every tenant of the overlay.":f===void 0?void 0:`Stored as ${f} \
– for tenants such as ${f}room`}),s(x,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),s("fieldset",{children:[s("legend",{children:"\
Quotas"}),s("p",{class:"help",children:"Left empty, the default of the edge applies."}),s("div",{class:"row",children:[s(
x,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),s(x,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),s(x,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var Nn=25,Rc=3e4;function xi(){let{api:t,notify:e}=$(),n=z(),[o,r]=g(),i=V("masters",Rc,u=>t.get("master-tokens",u)),a=()=>r(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{r({what:"secret",made:u,rotated:d}),i.refresh()};return s(T,{children:[s(Q,
{text:"Master tokens",children:n&&s("button",{type:"button",class:"primary",onClick:()=>r({what:"new"}),children:"New ma\
ster token"})}),s("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),s(K,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&s(J,{what:"the master tokens"}),i.data&&s(Nc,{masters:i.
data.master_tokens??[],onOpen:r}),o?.what==="new"&&s(Ho,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&s(Ho,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&s(_i,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&s(vi,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&s(ki,{made:o.made,rotated:o.rotated,onClose:a})]})}function Nc({masters:t,onOpen:e}){let n=z(),[o,r]=g(""),[i,
a]=g(1);if(t.length===0)return s(L,{children:[s("p",{children:"There is no master token yet."}),s("p",{children:n?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=t.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/Nn)));return s(T,{children:[t.
length>8&&s("div",{class:"filters",children:[s(x,{label:"Find",value:o,onInput:r,hint:"By name, prefix or id."}),s("p",{
class:"quiet",role:"status",children:[c.length," of ",R(t.length,"master token")]})]}),s("div",{class:"cards",children:c.
slice((u-1)*Nn,u*Nn).map(d=>s(Dc,{master:d,onOpen:e},d.id))}),c.length===0&&s(L,{children:"None has this in its name, pr\
efix or id. Type less of it."}),s(ue,{page:u,more:u*Nn<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function Dc({
master:t,onOpen:e}){let n=z(),{name:o}=t;return s("article",{class:"card","aria-label":`Master token ${o}`,children:[s("\
div",{class:"card-head",children:[s("h2",{children:s(S,{text:o,most:64})}),t.static&&s(I,{children:"in the Caddyfile"})]}),
t.description&&s("p",{children:s(S,{text:t.description,most:200})}),s(re,{of:[["Tenant prefix",t.tenant_prefix?s(P,{text:t.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",s(Fc,{masks:t.allow_ip_masks??[]},"masks")],["Quotas",jc(
t),"wide"],!t.static&&["Made",s(D,{at:t.created_at},"made")],["Id",s(P,{text:t.id},"id"),"wide"]]}),t.static?s("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):n&&s("div",{class:"butto\
ns",children:[s("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:t}),children:"Edit"}),
s("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:t}),children:"Rotate"}),s("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:t}),children:"Delete"})]})]})}function Fc({
masks:t}){return t.length===0?s(T,{children:"none: every address"}):s("span",{class:"list",children:[t.slice(0,8).map(e=>s(
P,{text:e},e)),t.length>8&&s("span",{children:["and ",t.length-8," more"]})]})}function jc(t){let e=[t.max_tokens&&R(t.max_tokens,
"access token"),t.max_bytes&&`${W(t.max_bytes)} in the store`,t.calls_per_second&&`${A(t.calls_per_second)} calls a seco\
nd`].filter(n=>n);return e.length===0?"the edge's defaults":e.join(", ")}function Si(t,e,n=180){let o=t.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),r=new Array(n).fill(null);if(o.length===
0)return r;let i=Lc(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),f=u[e];for(let p=n-1;p>=0;p--){let h=f[f.length-1-d-(n-1-p)];if(h===void 0)
break;r[p]=(r[p]??0)+h}}return r}function Lc(t){let e=[...t].sort((n,o)=>n-o);return e[Math.floor(e.length/2)]??0}function Wo(t){
return t?.[t.length-1]??0}function Ti(t){let e=t.filter(o=>o!==null),n=e[e.length-1];if(n!==void 0)return{min:Math.min(...e),
now:n,max:Math.max(...e)}}function qo(t){let e=new Map;for(let n of t)for(let[o,r]of Object.entries(n??{}))e.set(o,(e.get(
o)??0)+r);return[...e].sort((n,o)=>o[1]-n[1]||n[0].localeCompare(o[0]))}var zo=40;function Xc(t,e){let n="",o=!1;for(let[r,i]of t.entries()){if(i===null){o=!1;continue}let a=zo-i/e*(zo-2)-1;n+=
`${o?"L":"M"}${r} ${a.toFixed(1)}`,o=!0}return n}function Ei({label:t,series:e,format:n}){let o=Ti(e);if(!o)return s("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let r=Xc(e,o.max||1),i=`min ${n(o.min)}, now ${n(
o.now)}, max ${n(o.max)}`;return s("figure",{class:"chart",children:[s("svg",{viewBox:`0 0 ${e.length-1} ${zo}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${t}, the last 15 minutes: ${i}`,children:s("path",{d:r,class:"line"})}),s("figcaption",{
"aria-hidden":"true",children:i})]})}function Pi(){let{api:t}=$(),{data:e,error:n}=V("overview",5e3,r=>t.get("overview",r)),o=e?.edges??[];return s(T,{children:[
s(Q,{text:"Overview"}),s(K,{error:n,known:e!==void 0}),e?s(Uc,{edges:o}):!n&&s(J,{what:"the figures"})]})}function Uc({edges:t}){
let e=t.filter(c=>c.answered&&c.status),n=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),r=c=>qo(e.map(u=>u.
recent?.[c]??void 0)),i=qo(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(Ai);return s(
T,{children:[s(je,{edges:t,missing:["The figures leave it out.","The figures leave them out."]}),s("div",{class:"tiles",
children:[s(Ko,{title:"Connections",value:A(l),chart:{samples:n,figure:"connections",format:A},note:s(T,{children:[i.map(
([c,u])=>s("span",{children:[Fe(c)," ",A(u)]},c)),a>0&&s("span",{children:["of ",A(a)," at most"]})]})}),s(Fn,{title:"Me\
ssages a second",figure:"messages_in",samples:n,note:"published by clients"}),s(Fn,{title:"Deliveries a second",figure:"\
deliveries",samples:n,note:"to subscribers"}),s(Fn,{title:"Drops a second",figure:"dropped",samples:n,note:"deliveries t\
hat were dropped"}),s(Fn,{title:"Refusals a second",figure:"refused",samples:n,note:"ERR lines to clients"}),s(Ko,{title:"\
Memory",value:W(o(c=>c.status?.memory_bytes??0)),chart:{samples:n,figure:"memory_bytes",format:W},note:s("span",{children:e.
length===1?"of the process":`of ${R(e.length,"process","processes")}`})}),s(Ci,{title:"Token store",edges:e,state:c=>s(pt,
{status:c.status})}),s(Ci,{title:"Broker",edges:e,state:c=>s(mt,{status:c.status})})]}),s("div",{class:"columns",children:[
s(jn,{title:"Dropped deliveries",counts:r("dropped"),none:"None was dropped."}),s(jn,{title:"Refusals by code",counts:r(
"refused"),none:"Nothing was refused."}),s(jn,{title:"Refused handshakes",counts:r("handshakes_refused"),none:"No client\
 was turned away."}),s(jn,{title:"Slow clients disconnected",counts:r("slow_disconnects"),none:"No client was too slow."})]}),
s("section",{"aria-labelledby":"by-edge",children:[s("h2",{id:"by-edge",children:"By edge"}),t.length===0?s(L,{children:s(
"p",{children:"No edge is known yet. This one appears within seconds."})}):s(Y,{label:"Figures by edge",columns:Bc,rows:t,
keyOf:c=>c.id})]})]})}var Go=3;function Ci(t){let{title:e,edges:n,state:o}=t;return s("section",{class:"card tile","aria\
-label":e,children:[s("h2",{children:e}),n.slice(0,Go).map(r=>s("div",{class:"state-line",children:[n.length>1&&s("p",{class:"\
quiet",children:s(S,{text:r.name,most:40})}),o(r)]},r.id)),n.length>Go&&s("p",{class:"quiet",children:["and ",n.length-Go,
" more, see below"]})]})}var Ai=t=>Object.values(t.status?.connections??{}).reduce((e,n)=>e+n,0);function Dn(t,e){return t.
answered&&t.samples?$t(Wo(t.samples[e])):"–"}var Bc=[{label:"Edge",cell:t=>s(T,{children:[s(S,{text:t.name})," ",s(Ot,
{edge:t}),!t.answered&&s(I,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:t=>t.status?A(Ai(t)):
"–"},{label:"Messages/s",number:!0,cell:t=>Dn(t,"messages_in")},{label:"Deliveries/s",number:!0,cell:t=>Dn(t,"deliveri\
es")},{label:"Drops/s",number:!0,cell:t=>Dn(t,"dropped")},{label:"Refusals/s",number:!0,cell:t=>Dn(t,"refused")},{label:"\
Memory",number:!0,cell:t=>t.status?W(t.status.memory_bytes):"–"},{label:"Token store",cell:t=>s(pt,{status:t.status})},
{label:"Broker",cell:t=>s(mt,{status:t.status})}];function Ko({title:t,value:e,note:n,chart:o}){return s("section",{class:"\
card tile","aria-label":t,children:[s("h2",{children:t}),s("p",{class:"value",children:e}),s("p",{class:"note-line",children:n}),
s(Ei,{label:t,series:Si(o.samples,o.figure),format:o.format})]})}function Fn({title:t,figure:e,samples:n,note:o}){let r=n.
reduce((i,a)=>i+Wo(a[e]),0);return s(Ko,{title:t,value:$t(r),note:s("span",{children:o}),chart:{samples:n,figure:e,format:$t}})}
function jn({title:t,counts:e,none:n}){return s("section",{class:"card reasons","aria-label":t,children:[s("h2",{children:t}),
s("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?s("p",{children:n}):s("dl",{class:"counts",children:e.
map(([o,r])=>s("div",{children:[s("dt",{children:s("code",{children:o})}),s("dd",{children:A(r)})]},o))})]})}function $i({query:t,names:e,onAgain:n}){let{presence:o,among:r}=t,[i,a]=g({presence:o,among:r});oe(()=>a({presence:o,among:r}),
[o,r]);let l=f=>p=>a(h=>({...h,[f]:p.trim()})),c=i.among.replace(/\*$/,""),u=c!==""&&!he(c),d=i.presence!==""&&!e.includes(
i.presence)?[i.presence]:[];return s("search",{children:s("form",{class:"filters","aria-label":"Filter tenants",onSubmit:f=>{
if(f.preventDefault(),u)return;let p=M("presence",{...t,...i});p===M("presence",t)?n():location.hash=p},children:[s(q,{label:"\
In presence",value:i.presence,onInput:l("presence"),options:[["","all"],...[...e,...d].map(f=>[f,f])]}),s(x,{label:"Of t\
enant",value:i.among,onInput:l("among"),mono:!0,error:u?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,
hint:"The whole name, or its beginning and *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"pri\
mary",children:"Filter"}),s("a",{class:"button",href:M("presence",{...t,presence:"",among:""}),children:"Clear"})]})]})})}var Jc=100,Hc=5e3;function Mi({query:t}){let e=Z(null),[n,o]=g(0),{tenant:r}=t;return O(()=>{r!==""&&e.current?.focus()},
[r]),s("section",{"aria-labelledby":"members",children:[s("h2",{id:"members",tabIndex:-1,ref:e,children:"Members"}),s(Wc,
{query:t,onAgain:()=>o(i=>i+1)}),he(r)&&s(qc,{query:t},B({tenant:r,pattern:t.pattern,subject:t.subject,again:n}))]})}function Wc({
query:t,onAgain:e}){let{tenant:n,pattern:o,subject:r}=t,[i,a]=g({tenant:n,pattern:o,subject:r}),[l,c]=g(!1);oe(()=>a({tenant:n,
pattern:o,subject:r}),[n,o,r]);let u=f=>p=>a(h=>({...h,[f]:p})),d=i.tenant===""?l:!he(i.tenant);return s("search",{children:s(
"form",{class:"filters","aria-label":"Who is present",onSubmit:f=>{if(f.preventDefault(),c(i.tenant===""),!he(i.tenant))
return;let p=M("presence",{...t,...i});p===M("presence",t)?e():location.hash=p},children:[s(x,{label:"Tenant",value:i.tenant,
onInput:f=>u("tenant")(f.trim()),mono:!0,error:d?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0}),s(x,{
label:"Pattern",value:i.pattern,onInput:f=>u("pattern")(f.trim()),mono:!0,hint:"room.* for example; nothing: all."}),s(x,
{label:"Subject",value:i.subject,onInput:u("subject"),hint:"The whole subject."}),s("div",{class:"buttons",children:s("b\
utton",{type:"submit",class:"primary",children:"Show"})})]})})}function qc({query:t}){let{api:e}=$(),[n,o]=g([""]),{tenant:r,
pattern:i,subject:a}=t,l=`presences/members${B({tenant:r,pattern:i,subject:a,limit:Jc,cursor:n[n.length-1]})}`,{data:c,stale:u,
error:d}=V(l,Hc,p=>e.get(l,p)),f=c?.members??[];return s(T,{children:[s(K,{error:d,known:c!==void 0}),!c&&!d&&s(J,{what:"\
the members"}),c&&s("p",{children:[R(c.total.members,"member")," in ",R(c.total.channels,"channel")," of"," ",s(P,{text:i===
""?"#":i})," in ",s(P,{text:r}),", the oldest first.",a!==""&&s(T,{children:[" ","Only ",s(S,{text:a,most:128})," is lis\
ted."]})]}),f.length>0&&s(Y,{label:"Members",columns:Gc,rows:f,keyOf:zc,busy:u}),c&&!u&&f.length===0&&n.length===1&&s(L,
{children:s("p",{children:a===""?"Nobody is present there now.":"This subject is not present there now."})}),s(ue,{page:n.
length,more:!u&&(c?.next_cursor??"")!=="",onPrevious:()=>o(n.slice(0,-1)),onNext:()=>o([...n,c?.next_cursor??""])})]})}var zc=({
channel:t,subject:e})=>`${t}
${e}`,Gc=[{label:"Channel",cell:({channel:t})=>s(P,{text:t,most:120})},{label:"Subject",cell:({subject:t})=>s("a",{href:M(
"connections",{subject:t}),"aria-label":`Connections of ${be(t,60)}`,children:s(S,{text:t,most:60})})},{label:"Since",cell:({
since:t})=>s(D,{at:t})},{label:"Info",cell:({info:t})=>t?s(P,{text:JSON.stringify(t)}):s(T,{children:"–"})}];var Kc=50,Qc=8,Vc=1e4;function Oi({query:t}){let{api:e}=$(),[n,o]=g([""]),r={presence:t.presence??"",among:t.among??"",tenant:t.
tenant??"",pattern:t.pattern??"",subject:t.subject??""},i=B({presence:r.presence,tenant:r.among});O(()=>o([""]),[i]);let a=`\
presences${B({presence:r.presence,tenant:r.among,limit:Kc,cursor:n[n.length-1]})}`,{data:l,stale:c,error:u,refresh:d}=V(
a,Vc,async y=>{try{return await e.get(a,y)}catch(_){if(_ instanceof G&&_.code==="no_presences")return"none";throw _}}),f=l===
"none"?void 0:l,p=f?.totals??[],h=p.reduce((y,_)=>y+_.tenants,0),m=f?.presences??[];return s(T,{children:[s(Q,{text:"Pre\
sence"}),s("p",{class:"quiet",children:"Who has said that they are in a channel, at all edges: each edge knows that of t\
he others."}),s(K,{error:u,known:l!==void 0}),!l&&!u&&s(J,{what:"who is present"}),l==="none"&&s(Yc,{}),f&&s(T,{children:[
s(Zc,{totals:p}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(i!==""||
h>Qc)&&s($i,{query:r,names:p.map(({presence:y})=>y),onAgain:d}),m.length>0&&s(Y,{label:"Where somebody is present",columns:td(
r,p),rows:m,keyOf:ed,busy:c}),!c&&m.length===0&&n.length===1&&s(L,{children:i===""?s("p",{children:"Nobody is present no\
w. Clients appear here when they join a channel of a presence."}):s("p",{children:"Nobody is present there. Ask for less\
, or clear the filters."})}),s(ue,{page:n.length,more:!c&&(f.next_cursor??"")!=="",onPrevious:()=>o(n.slice(0,-1)),onNext:()=>o(
[...n,f.next_cursor??""])})]}),s(Mi,{query:r})]})]})}function Yc(){return s(L,{children:[s("p",{children:"No presence is\
 configured at this edge: it does not know who is where."}),s("p",{children:["Clients may say that they are in the chann\
els of a presence:"," ",s("code",{children:"presence <name> { channels … }"})," in the block ",s("code",{children:"pub\
sub"})," of the Caddyfile. docs/configuration.md has its options."]})]})}function Zc({totals:t}){return s("div",{class:"\
cards",children:t.map(e=>s("article",{class:"card","aria-label":`Presence ${e.presence}`,children:[s("div",{class:"card-\
head",children:s("h2",{children:s(S,{text:e.presence})})}),s(re,{of:[["Tenants",A(e.tenants)],["Members",A(e.members)],[
"At most of a tenant",A(e.max_members)]]})]},e.presence))})}var ed=({presence:t,tenant:e})=>`${t}:${e}`;function td(t,e){
let n=new Map(e.map(o=>[o.presence,o.max_members]));return[{label:"Tenant",cell:({tenant:o})=>s(P,{text:o})},{label:"Pre\
sence",cell:({presence:o})=>s(S,{text:o})},{label:"Members",number:!0,cell:({presence:o,members:r})=>`${A(r)} of ${A(n.get(
o)??r)}`},{label:"Who",cell:({tenant:o})=>s("a",{class:"button","aria-label":`Show who is present in ${o}`,href:M("prese\
nce",{presence:t.presence,among:t.among,tenant:o}),children:"Show"})}]}var nd=/^([0-9a-f]{16})?$/;function Ii({query:t,edges:e,onAgain:n}){let[o,r]=g(t),i=JSON.stringify(t);oe(()=>r(t),[i]);let a=d=>f=>r(
p=>({...p,[d]:f.trim()})),l={connection_id:nd.test(o.connection_id)?void 0:"It has 16 digits of 0-9 and a-f.",token_id:Re.
test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",ip:o.ip===""?void 0:nt(o.ip)},c=e.map(d=>[d.id,be(d.name,60)]),
u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,be(o.edge,60)]]:[];return s("search",{children:s("form",{class:"fi\
lters","aria-label":"Filter what was refused",onSubmit:d=>{if(d.preventDefault(),l.connection_id||l.token_id||l.ip)return;
let f=M("refused",o);f===M("refused",t)?n():location.hash=f},children:[s(x,{label:"Subject",value:o.subject,onInput:d=>r(
f=>({...f,subject:d})),hint:"The whole subject."}),s(x,{label:"Token id",value:o.token_id,onInput:d=>a("token_id")(Ne(d.
trim())),mono:!0,error:l.token_id,hint:"The whole id."}),s(x,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l.
ip&&`It ${l.ip}.`,hint:"One, or a CIDR."}),s(x,{label:"Connection id",value:o.connection_id,onInput:a("connection_id"),mono:!0,
error:l.connection_id,hint:"That the client was answered."}),s(q,{label:"Edge",value:o.edge,onInput:a("edge"),options:[[
"","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),
s("a",{class:"button",href:M("refused"),children:"Clear"})]})]})})}var od=100,rd=5e3;function Ri({query:t}){let{api:e}=$(),[n,o]=g([""]),r={connection_id:t.connection_id??"",token_id:t.token_id??
"",subject:t.subject??"",ip:t.ip??"",edge:t.edge??""},i=B(r);O(()=>o([""]),[i]);let a=`refused${B({...r,limit:od,cursor:n[n.
length-1]})}`,{data:l,stale:c,error:u,refresh:d}=V(a,rd,h=>e.get(a,h)),f=l?.edges??[],p=l?.refused??[];return s(T,{children:[
s(Q,{text:"Refused"}),s("p",{class:"quiet",children:"What edges refused last, newest first, and the whole reason, which \
clients are not told. Each edge keeps some 4,000, shared fairly among tokens and addresses, until it restarts."}),s(Ii,{
query:r,edges:f,onAgain:d}),s(K,{error:u,known:l!==void 0}),s(je,{edges:f,missing:["What it refused is not listed.","Wha\
t they refused is not listed."]}),!l&&!u&&s(J,{what:"what was refused"}),p.length>0&&s(Y,{label:"Refused",columns:sd(f.length>
1),rows:p,keyOf:h=>`${h.edge}:${h.time}`,busy:c}),l&&!c&&p.length===0&&n.length===1&&s(L,{children:i===""?s("p",{children:"\
Nothing was refused since the edges started."}):s("p",{children:"Nothing that was refused matches. Ask for less, or clea\
r the filters: the client may not reach the edge."})}),s(ue,{page:n.length,more:!c&&(l?.next_cursor??"")!=="",onPrevious:()=>o(
n.slice(0,-1)),onNext:()=>o([...n,l?.next_cursor??""])})]})}function sd(t){return[{label:"When",cell:n=>s(D,{at:n.time})},
...t?[{label:"Edge",cell:n=>s(S,{text:n.edge_name,most:40})}]:[],{label:"What",cell:n=>s(T,{children:[n.action," ",n.tenant&&
s(P,{text:`${n.tenant}:${n.channel??""}`,most:80})]})},{label:"Why",cell:n=>s(T,{children:[s(P,{text:n.code}),": ",s("bd\
i",{children:n.reason}),n.rule&&s("p",{children:["Rule: ",s(P,{text:n.rule,most:200})]})]})},{label:"Subject",cell:({subject:n})=>n?
s(S,{text:n,most:40}):s(T,{children:"–"})},{label:"Token",cell:n=>n.token_id?s(T,{children:[s("a",{href:M("tokens",{id:n.
token_id}),"aria-label":`Token ${n.token_id.slice(0,8)}`,children:s("code",{children:n.token_id.slice(0,8)})})," ",!n.verified&&
s("span",{class:"quiet",children:"not proven"})]}):s(T,{children:"–"})},{label:"Client",cell:n=>s(T,{children:[s("span",
{class:"address",children:n.ip?s(P,{text:n.ip}):"unknown address"})," ",s("span",{class:"quiet",children:Fe(n.transport)})]})},
{label:"Connection id",cell:n=>n.connection_id?s(P,{text:n.connection_id}):s(T,{children:"–"})}]}var Ni=[{name:"overview",label:"Overview",component:Pi},{name:"master-tokens",label:"Master tokens",component:xi},{name:"\
tokens",label:"Access tokens",component:Vr},{name:"connections",label:"Connections",component:os},{name:"refused",label:"\
Refused",component:Ri},{name:"presence",label:"Presence",component:Oi},{name:"live",label:"Live",component:mi,tail:!0},{
name:"histories",label:"Histories",component:bs},{name:"edges",label:"Edges",component:is}];var Ln=class extends Qe{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:s("div",{role:"alert",class:"errors",children:[s("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",ee(this.state.error)]}),s("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function Di(t){let{base:e,session:n,links:o,current:r,result:i,ended:a,children:l}=t;return s(T,{children:[s("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),s("header",{class:"top",children:[s("a",{class:"brand",href:M("overview"),children:[s("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),s("span",{children:"Millrace"})]}),s("nav",{"aria-label":"Screens",children:s("u\
l",{children:o.map(({screen:c,label:u})=>s("li",{children:s("a",{href:M(c),...c===r?{"aria-current":"page"}:{},children:u})},
c))})}),s("div",{class:"who",children:[s("span",{children:[s(S,{text:n.operator??"",most:32})," ",s("span",{class:"quiet",
children:n.role})]}),s("button",{type:"button",onClick:t.onSignOut,children:"Sign out"})]})]}),s("main",{id:"main",tabIndex:-1,
children:[a&&s("p",{class:"note warn with-button",children:[s("span",{children:"Your session has ended, so nothing here \
is up to date."}),s("button",{type:"button",onClick:t.onSignIn,children:"Sign in"})]}),s("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&s("p",{class:"note good with-button",children:[s("span",{children:i}),s("button",
{type:"button",class:"link",onClick:t.onDismiss,children:"Dismiss"})]})}),l]})]})}async function Qo(t,e,n){try{return await t.call("POST",e,{body:n,bare:!0})}catch(o){throw o instanceof G&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${Ze(o.retryAfter*1e3)}`):o}}function Fi({
api:t,session:e,onSession:n}){let[o,r]=g(""),[i,a]=g(""),l=ae(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{n(await Qo(t,"session",c?{}:{name:o,password:i}))}finally{a("")}};return s("main",
{id:"main",class:"sign-in",children:s("section",{class:"card",children:[s("h1",{tabIndex:-1,children:"Sign in"}),s("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?s("p",{children:["The authe\
ntication in front of the console names you ",s(S,{text:e.user}),"."]}):null,c&&!e.user?s("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,s(ye,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&s(T,{children:[s(x,{label:"Name",value:o,onInput:r,autoComplete:"username",autoFocus:!0}),
s(x,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function ji({api:t,gate:e,
session:n,onSession:o,onLeave:r}){let{question:i}=e;return i?s(id,{api:t,gate:e,session:n,onSession:o,onLeave:r,again:i===
"sign-in"},i):null}function id({api:t,gate:e,session:n,onSession:o,onLeave:r,again:i}){let[a,l]=g(""),c=ae(),u=n.auth===
"caddy",d=n.operator??"";return s(ve,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[s("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),s(ye,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let p;try{i?p=await Qo(
t,"session",u?{}:{name:d,password:a}):p=await Qo(t,"session/confirm",{password:a})}catch(h){if(l(""),!i&&h instanceof G&&
h.code==="no_session")return void e.signIn();throw h}o(p),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&s("button",{type:"\
button",class:"link",onClick:r,children:"Sign in as somebody else"}),children:[s(x,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&s(x,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function Li({base:t,takeActivity:e}){let[,n]=g(0),[o,r]=g(),[i,a]=g(),[l,c]=g(""),u=ft(()=>new At(()=>n(k=>k+1)),[]),d=ft(
()=>new Pt({base:new URL("api/",t),gate:u,takeActivity:e}),[t,u,e]),f=ld(),p=ge(()=>{a(void 0),d.get("session",{bare:!0}).
then(r,k=>a(ee(k)))},[d]);O(p,[p]);let h=Ni.filter(({tail:k})=>!k||o?.tail===!0),m=h.find(({name:k})=>k===f.screen)??h[0];
O(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:k}=document;
k instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let y=k=>{r(k),u.opened()},
_=()=>{u.answer(!1),r(k=>k&&{auth:k.auth,signed_in:!1,...k.user?{user:k.user}:{}})},b=async()=>{try{let k=await d.call("\
DELETE","session",{bare:!0});u.opened(),r(k)}catch(k){k instanceof Error&&"code"in k&&k.code==="no_session"?_():c(`Signi\
ng out failed: ${ee(k)} You are still signed in.`)}};if(!o)return s(ad,{error:i,onRetry:p});if(!o.signed_in)return s(Fi,
{api:d,session:o,onSession:y});let w=m?.component;return s(no.Provider,{value:{api:d,session:o,base:t,notify:c},children:[
s(Di,{base:t,session:o,links:h.map(({name:k,label:C})=>({screen:k,label:C})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:w&&s(Ln,{children:s(w,{query:f.query})},`${m.
name} ${o.operator}`)}),s(ji,{api:d,gate:u,session:o,onSession:y,onLeave:_})]})}function ad({error:t,onRetry:e}){return s(
"main",{id:"main",class:"sign-in",children:[s("h1",{children:"Millrace console"}),s("p",{role:"status",children:t?"":"Lo\
ading…"}),s("div",{role:"alert",children:t&&s(T,{children:[s("p",{class:"note bad",children:t}),s("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function ld(){let[t,e]=g(()=>eo(location.hash));return O(()=>{
let n=()=>e(eo(location.hash));return addEventListener("hashchange",n),()=>removeEventListener("hashchange",n)},[]),t}var cd=new URL(".",import.meta.url),Vo=!0;for(let t of["keydown","pointerdown","pointermove","wheel"])addEventListener(t,
()=>Vo=!0,{capture:!0,passive:!0});var dd=()=>{let t=Vo;return Vo=!1,t},Xi=document.getElementById("app");Xi&&dr(s(Li,{base:cd,
takeActivity:dd}),Xi);
