// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var O,zo,Si,Se,$n,_t,Go,bt,Ko,Rn,On,Qo,rt=Symbol.for("pv"),kt={},xt=[],Ti=/^m(i|n|o|s|text|space)$/,Nn=Array.isArray,Vo=xt.
slice,Ne=Object.assign;function Re(n){n&&n.parentNode&&n.remove()}function wt(n,e,t,o,r){var i={type:n,props:e,key:t,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:rt,__v:r||
++zo,__i:-1,__u:0};return!r&&O.vnode&&O.vnode(i),i}function E(n){return n.children}function Ue(n,e){this.props=n,this.context=e,this.__g=0}function Te(n,e){if(e==null)return n.
__&&Te(n.__,n.__i+1);for(var t;e<n.__k.length;e++)if((t=n.__k[e])&&t.__e)return t.__e;return typeof n.type!="function"||
n.props.__P?null:Te(n)}function Ei(n){var e,t=n.__v,o=t.__e,r=[],i=[],a=n.__P;a&&((e=Ne({constructor:rt},t)).__v=t.__v+1,
O.vnode&&O.vnode(e),Dn(a,e,t,n.__n,a.namespaceURI,32&t.__u?[o]:null,r,o||Te(t),32&t.__u,i),e.__v=t.__v,e.__.__k[e.__i]=e,
or(r,e,i),t.__=t.__e=null,e.__e!=o&&Yo(e))}function Yo(n){if((n=n.__)&&n.__c&&!n.props.__P)return n.__e=null,n.__k.some(
function(e){return e&&(n.__e=e.__e)}),Yo(n)}function In(n){(8&n.__g||(n.__g|=8,Se.push(n),_t++))&&$n==O.debounceRendering||
(($n=O.debounceRendering)||queueMicrotask)(Zo)}function Zo(){try{for(var n,e=1;Se.length;)Se.length>e&&Se.sort(Go),n=Se.
shift(),e=Se.length,8&n.__g&&Ei(n)}finally{(_t=Se.length)&&($n||queueMicrotask)(Zo)}}function er(n,e,t,o,r,i,a,l,c,u,d){
var f,p,h,m,w,v,b=o.__k||xt,k=e.length;for(c=Ci(t,e,b,c,k),f=0;f<k;f++)(h=t.__k[f])!=null&&(p=~h.__i&&b[h.__i]||kt,h.__i=
f,v=Dn(n,h,p,r,i,a,l,c,u,d),m=h.__e,(p.ref!=h.ref||8&p.__u)&&(p.ref&&Fn(p.ref,null,h,p),h.ref&&d.push(h.ref,h.__c||m,h)),
w=w||m,4&h.__u?(c=tr(h,c,n,!p.__v),p.__e&&(p.__e=null)):typeof h.type=="function"&&v!==void 0?c=v:m&&(c=m.nextSibling),h.
__u&=-21);return t.__e=w,c}function Ci(n,e,t,o,r){var i,a,l,c,u,d,f,p,h,m=t.length,w=m,v=0,b=0,k=n.__k=Array(r);for(i=0;i<
r;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=k[i]=wt(null,
a):Nn(a)?a=k[i]=wt(E,{children:a}):a.constructor===rt&&a.__b?a=k[i]=wt(a.type,a.props,a.key,a.ref,a.__v):k[i]=a,c=i+v,a.
__=n,a.__b=n.__b+1,l=null,~(u=a.__i=Pi(a,t,c,w))&&(w--,(l=t[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?v--:u==c+1?v++:u!=
c&&(u>c?v--:v++,b=1)):(~u||(r>m?v--:r<m&&v++),typeof a.type!="function"&&(a.__u|=4))):k[i]=null;if(b){for(d=[],f=[],i=0;i<
r;i++)if((a=k[i])&&16&a.__u){for(v=0,p=d.length;v<p;)d[h=v+p>>1]<a.__i?v=h+1:p=h;d[v]=a.__i,f[i]=v+1}for(v=d.length;i--;)
f[i]&&(f[i]==v?v--:k[i].__u|=4)}if(w)for(i=0;i<m;i++)!(l=t[i])||2&l.__u||(l.__e==o&&(o=Te(l)),jn(l,l));return o}function tr(n,e,t,o){
var r,i,a,l;if(typeof n.type=="function"){if(n.props.__P)return e;if(r=n.__k)for(i=0;i<r.length;i++)r[i]&&(r[i].__=n,e=tr(
r[i],e,t,!1));return e}for(e&&!e.parentNode&&(e=Te(n))&&!e.parentNode&&(e=null),a=n.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&t.moveBefore&&a.parentNode?t.moveBefore(a,e):t.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function Pi(n,e,t,o){var r,i=n.key,a=n.type,l=e[t],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return t;
if(o>(c?1:0)){for(r=t-1;r>=0;r--)if((l=e[r])&&!(2&l.__u)&&i==l.key&&a==l.type)return r;for(r=t+1;r<e.length;r++)if((l=e[r])&&
!(2&l.__u)&&i==l.key&&a==l.type)return r}return-1}function qo(n,e,t){t==null&&(t=""),e[0]=="-"?n.setProperty(e,t):n[e]=t}
function yt(n,e,t,o,r){var i,a;if(e=="style")if(typeof t=="string")n.style.cssText=t;else{if(typeof o=="string"&&(n.style.
cssText=o=""),o)for(e in o)t&&e in t||qo(n.style,e);if(t)for(e in t)o&&t[e]==o[e]||qo(n.style,e,t[e])}else if(e[0]=="o"&&
e[1]=="n")typeof t!="function"&&(t=null),typeof o!="function"&&(o=null),(n.__e||(n.__e={}))[e]=t,t&&o||(a=On[e]||(On[e]=
Ai(e)),(n.__a||(n.__a={}))[e]=Rn,i=e!=(e=e.replace(Ko,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),t?n.addEventListener(
e,a,i):n.removeEventListener(e,a,i));else{if(r=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in n)try{return void(n[e]=t??"")}catch{}if(typeof t=="function")return;t==null||t===
!1&&e[4]!="-"?n.removeAttribute(e):n.setAttribute(e,e=="popover"&&t==1?"":t)}}function Ai(n){return function(e){var t=this.
__e;if(t){if(t=t[n],e[bt]==null)e[bt]=Rn++;else if(e[bt]<this.__a[n])return;return t(O.event?O.event(e):e)}}}function Dn(n,e,t,o,r,i,a,l,c,u){
var d,f,p,h,m,w,v,b,k,g,S,D,Q,xe,ie,te,G,Ie,_e=e.type;if(e.constructor!==rt)return null;128&t.__u&&(c=32&t.__u,d=t.__c.__z)&&
(e.__u|=c,f=i=[],d.nodeType==8?l=vt(d,i):i.push(d),l=i[0]||l),(d=O.__b)&&d(e);e:if(typeof _e=="function"){p=a.length;try{
if(b=e.props,k=(d=_e.prototype)&&d.render,g=(d=_e.contextType)&&o[d.__c],S=d?g?g.props.value:d.__:o,(h=t.__c)?(e.__c=h,2&
h.__g&&(h.__g|=1)):(k?e.__c=h=new _e(b,S):(e.__c=h=new Ue(b,S),h.constructor=_e,h.render=$i),g&&g.sub(h),h.state||(h.state=
{}),h.__n=o,h.__g|=8,h.__h=[],h.__k=[]),k&&(h.__s||(h.__s=h.state),_e.getDerivedStateFromProps&&(h.__s==h.state&&(h.__s=
Ne({},h.__s)),Ne(h.__s,_e.getDerivedStateFromProps(b,h.__s)))),m=h.props,w=h.state,h.__v=e,t.__c){if(b!==m&&k&&!_e.getDerivedStateFromProps&&
h.componentWillReceiveProps&&h.componentWillReceiveProps(b,S),e.__v==t.__v&&!(8&h.__g)||!(4&h.__g)&&h.shouldComponentUpdate&&
h.shouldComponentUpdate(b,h.__s,S)===!1){e.__v!=t.__v&&(h.props=b,h.state=h.__s,h.__g&=-9),e.__e=t.__e,e.__k=t.__k,e.__k.
some(function(ue){ue&&(ue.__=e)}),xt.push.apply(h.__h,h.__k),h.__k=[],h.__h.length&&a.push(h),l=Te(t);break e}h.componentWillUpdate&&
h.componentWillUpdate(b,h.__s,S),k&&h.componentDidUpdate&&h.__h.push(function(){h.componentDidUpdate(m,w,v)})}else k&&!_e.
getDerivedStateFromProps&&h.componentWillMount&&h.componentWillMount(),k&&h.componentDidMount&&h.__h.push(h.componentDidMount);
h.context=S,h.props=b,h.__P=n,h.__g&=-5,D=O.__r,Q=k?25:0;do h.__g&=-9,D&&D(e),d=h.render(h.props,h.state=h.__s,h.context);while(8&
h.__g&&++Q<25);k&&(xt.push.apply(h.__h,h.__k),h.__k=[]),h.state=h.__s,h.getChildContext&&(o=Ne({},o,h.getChildContext())),
k&&t.__c&&h.getSnapshotBeforeUpdate&&(v=h.getSnapshotBeforeUpdate(m,w)),xe=d&&d.type===E&&d.key==null?d.props.children:d,
b.__P&&(d=l,r=(n=b.__P).namespaceURI,c=i=null,t.props&&t.props.__P!=n&&(t.__k.some(function(ue){ue&&jn(ue,ue)}),t.__k=null),
l=t.__k?Te(t,0):null),l=er(n,Nn(xe)?xe:[xe],e,t,o,r,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,f&&f.some(Re),h.__h.length&&
a.push(h),1&h.__g&&(h.__g&=-4)}catch(ue){if(a.length=p,e.__v=null,c||i)if(ue&&ue.then){if(e.__u|=128|c,i){for(~(G=i.indexOf(
l||void 0))||(G=i.length);(Ie=i[G-1])&&Ie.nodeType==8;)G--;for(;G<i.length;G++)if(Ie=i[G])if(i[G]=null,ie){if(Ie==te)break}else{
if(Ie.nodeType!=8)break;Ie.data.startsWith("$s")&&(te=vt(ie=Ie))}}if(!ie){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;
ie=l}(d=vt(ie=e.__c.__z||(e.__c.__z=ie)))?(e.__e=ie,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(Re);else e.__e=t.__e;
e.__k||(e.__k=t.__k||[]),ue&&ue.then||nr(e),O.__e(ue,e,t)}}else l=e.__e=Mi(t.__e,e,t,o,r,i,a,c,u,n);return(d=O.diffed)&&
d(e),l}function vt(n,e){if(n&&n.nodeType==8&&n.data.startsWith("$s"))for(var t=1;n=n.nextSibling;){if(n.nodeType==8){if(n.
data.startsWith("$s"))t++;else if(n.data.startsWith("/$s")&&!--t)return n}e&&e.push(n)}}function nr(n){n&&(n.__c&&(n.__c.
__g|=4),n.__k&&n.__k.some(nr))}function or(n,e,t){for(var o=0;o<t.length;)Fn(t[o++],t[o++],t[o++]);O.__c&&O.__c(e,n),n.some(
function(r){try{n=r.__h,r.__h=[],n.some(function(i){i.call(r)})}catch(i){O.__e(i,r.__v)}})}function Mi(n,e,t,o,r,i,a,l,c,u){
var d,f,p,h,m,w,v,b,k=t.props||kt,g=e.props,S=e.type;if(S=="svg"?r="http://www.w3.org/2000/svg":S=="math"?r="http://www.\
w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(S?m.localName==S:
m.nodeType==3)){n=m,i[d]=null;break}}if(!n){if(b=u.ownerDocument||document,!S)return b.createTextNode(g);n=b.createElementNS(
r,S,g.is?g:u),l&&(O.__m&&O.__m(e,i),l=!1),i=null}if(S){if(u=S=="template"&&n.content||n,i=S=="textarea"&&g.defaultValue!=
null?null:i&&Vo.call(u.childNodes),!l&&i)for(k={},d=0;d<n.attributes.length;d++)k[(m=n.attributes[d]).name]=m.value;for(d in k)
m=k[d],d=="dangerouslySetInnerHTML"?p=m:d=="children"||d in g||d=="value"&&"defaultValue"in g||d=="checked"&&"defaultChe\
cked"in g||yt(n,d,null,m,r);for(d in g)m=g[d],d=="children"?h=m:d=="dangerouslySetInnerHTML"?f=m:d=="value"?w=m:d=="chec\
ked"?v=m:l&&typeof m!="function"||k[d]===m||yt(n,d,m,k[d],r);f?(l||p&&(f.__html==p.__html||f.__html==n.innerHTML)||(n.innerHTML=
f.__html),e.__k=[]):(p&&(n.textContent=""),(S=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Ti.test(S))&&(r=
"http://www.w3.org/1999/xhtml"),er(u,Nn(h)?h:[h],e,t,o,r,i,a,i?i[0]:t.__k&&Te(t,0),l,c),i&&i.some(Re)),l&&S!="textarea"||
(d="value",S=="progress"&&w==null?n.removeAttribute(d):w==null||w===n[d]&&(S!="progress"||w)||yt(n,d,w,k[d],r),d="checke\
d",v!=null&&v!=n[d]&&yt(n,d,v,k[d],r))}else k===g||l&&n.data==g||(n.data=g);return n}function Fn(n,e,t,o){try{typeof n==
"function"?e?e.__x=n(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():n(null)):n.current=e}catch(r){
O.__e(r,t)}}function jn(n,e,t){var o,r,i,a;if(O.unmount&&O.unmount(n),!(o=n.ref)||o.current&&o.current!=n.__e||Fn(o,null,
e,n),o=n.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){O.__e(l,e)}o.__P=o.__n=null}if(o=n.__k)for(a=
0;a<o.length;a++)o[a]&&jn(o[a],e,typeof n.type!="function"||t&&!n.props.__P);!t&&(o=n.__c)&&(o=o.__z)&&(r=vt(o,i=[]))&&(o==
n.__e&&i.some(Re),Re(r),Re(o)),t||Re(n.__e),n.__e=n.__c=n.__=null}function $i(n,e,t){return this.constructor(n,t)}function rr(n,e){
var t,o,r,i;O.__&&O.__(n,e),e.nodeType==9&&(e=e.documentElement),o=(t=n&&32&n.__u)?null:e.__k,e.__k=wt(E,{children:[n]}),
r=[],i=[],Dn(e,e.__k,o||kt,kt,e.namespaceURI,o?null:e.firstChild?Vo.call(e.childNodes):null,r,o?o.__e:e.firstChild,t,i),
or(r,e.__k,i),e.__k.props.children=null}function sr(n){function e(t){var o,r;return this.getChildContext||(o=new Set,(r={})[e.__c]=this,this.getChildContext=function(){
return r},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,In(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),t.children}
return e.__c="__cC"+Qo++,e.__=n,e.Provider=(e.Consumer=function(t,o){return t.children(o)}).contextType=e,e}O={__e:function(n,e,t,o){for(var r,i,a;e=e.__;)if((r=e.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(i=r.constructor)&&i.getDerivedStateFromError)&&
r.setState(i.getDerivedStateFromError(n)),r.componentDidCatch&&(r.componentDidCatch(n,o||{}),a=1),a&&8&r.__g)return void(r.
__g|=2)}catch(l){n=l}}throw _t=0,n}},zo=0,Si=function(n){return n!=null&&n.constructor===rt},Ue.prototype.setState=function(n,e){
var t=this.__s;t&&t!=this.state||(t=this.__s=Ne({},this.state)),typeof n=="function"&&(n=n(Ne({},t),this.props)),n&&(Ne(
t,n),this.__v&&(e&&this.__k.push(e),In(this)))},Ue.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.
push(n),In(this))},Ue.prototype.render=E,Se=[],_t=0,Go=function(n,e){return n.__v.__b-e.__v.__b},bt=Symbol(),Ko=/(PointerCapture)$|Capture$/i,
Rn=0,On={},Qo=0;var Ee,j,Xn,ir,Ln=Object.is,it=0,mr=[],Un=[],X=O,ar=X.__b,lr=X.__r,cr=X.diffed,dr=X.__c,ur=X.unmount,hr=X.__;function Be(n,e){
X.__h&&X.__h(j,n,it||e),it=0;var t=j.__H||(j.__H={__:[],__h:[]});return n>=t.__.length&&t.__.push({}),t.__[n]}function y(n){
return it=1,Oi(br,n)}function Oi(n,e,t){var o=Be(Ee++,2);if(o.t=n,!o.__c&&(o.__=[t?t(e):br(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);Ln(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=j,!j.__f)){j.__f=!0;var r=j.shouldComponentUpdate;
j.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(p){
p.__N&&(u=!0,Ln(p.__[0],p.__N[0])||(d=!0))}),r){var f=r.call(this,i,a,l);return u?f||d:f}return!u||d}}return o.__}function $(n,e){
var t=Be(Ee++,3);!X.__s&&Jn(t.__H,e)&&(t.__P=!0,t.__=n,t.u=e,j.__H.__h.push(t))}function gr(n,e){var t=Be(Ee++,4);!X.__s&&
Jn(t.__H,e)&&(t.__P=!1,t.__=n,t.u=e,j.__h.push(t))}function V(n){return it=5,at(function(){return{current:n}},[])}function at(n,e){var t=Be(Ee++,7);return Jn(t.__H,e)&&(t.__=n(),t.__H=e),t.__}function ae(n,e){return it=8,at(function(){
return n},e)}function yr(n){var e=j.context[n.__c],t=Be(Ee++,9);return t.c=n,e?(t.__==null&&(t.__=!0,e.sub(j)),e.props.value):
n.__}function Je(){var n=Be(Ee++,11);if(!n.__){for(var e=j.__v;!e.__m&&e.__;)e=e.__;var t=e.__m||(e.__m=[0,0]);n.__="P"+t[0]+
"-"+t[1]++}return n.__}function Ii(){var n;do{for(;n=Un.shift();)try{st(n)}catch(t){X.__e(t,{__:(n=n.__P)&&n.__v})}for(;n=
mr.shift();){var e=n.__H;if(n.__P&&e)try{e.__h.some(st),e.__h.some(Bn),e.__h=[]}catch(t){e.__h=[],X.__e(t,n.__v)}}}while(Un.
length)}X.__b=function(n){j=null,ar&&ar(n)},X.__=function(n,e){n&&e.__k&&e.__k.__m&&(n.__m=e.__k.__m),hr&&hr(n,e)},X.__r=
function(n){lr&&lr(n),Ee=0;var e=(j=n.__c).__H;e&&(Xn==j?j.__h=[]:(e.__h.some(st),e.__h.some(Bn),Ee=0),e.__h=[],e.__.some(
function(t){t.__N&&(t.__=t.__N),t.u=t.__N=void 0})),Xn=j},X.diffed=function(n){cr&&cr(n);var e=n.__c;e&&e.__H&&(e.__H.__h.
length&&pr(mr.push(e)),e.__H.__.some(function(t){t.u&&(t.__H=t.u)})),Xn=j=null},X.__c=function(n,e){e.some(function(t){try{
t.__h.some(st),t.__h=t.__h.filter(function(o){return!o.__||Bn(o)})}catch(o){t.__h=[function(){throw o}]}}),dr&&dr(n,e)},
X.unmount=function(n){ur&&ur(n);var e,t,o=n.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(t===void 0){
for(t=n.__;t&&(!t.__c||!t.__c.__P);)t=t.__;t=t&&t.__c}r.__P=t,pr(Un.push(r))}else st(r)}catch(i){e=i}}),o.__H=void 0,e&&
X.__e(e,o.__v))};var fr=typeof requestAnimationFrame=="function";function Ri(n){var e,t=function(){clearTimeout(o),fr&&cancelAnimationFrame(
e),setTimeout(n)},o=setTimeout(t,35);fr&&(e=requestAnimationFrame(t))}function pr(n){n!=1&&ir==X.requestAnimationFrame||
((ir=X.requestAnimationFrame)||Ri)(Ii)}function st(n){var e=j,t=n.__c;typeof t=="function"&&(n.__c=void 0,t()),j=e}function Bn(n){
var e=j;n.__c=n.__(),j=e}function Jn(n,e){return!n||n.length!=e.length||e.some(function(t,o){return!Ln(t,n[o])})}function br(n,e){
return typeof e=="function"?e(n):e}var H=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,t,o,r=0){super(o),this.code=e,this.status=
t,this.retryAfter=r}};async function wr(n){let e=Number(n.headers.get("Retry-After"))||0,t;try{t=await n.json()}catch{t=
void 0}let{code:o,detail:r,title:i}=t??{},a=[r,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${n.status}`;return new H(typeof o=="string"?o:"unknown",n.status,l,e)}function W(n){let e=n instanceof
Error?n.message:String(n),t=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(t)?t:`${t}.`}var Ni=4,Hn=new H("no_session",401,"you are signed out; sign in to go on"),St=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,t={})=>this.call("GET",e,t);async call(e,t,o={}){let{gate:r}=this.#e;for(let i=0;;i++){if(o.
background&&r.ended)throw Hn;let a=await this.#n(e,t,o);if(a.ok)return await this.#o(a);let l=await wr(a);if(o.bare||i>=
Ni)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&r.ended)
throw Hn;let u=await(c==="no_session"?r.signIn():r.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?Hn:
new H(c,403,"the password was not given, so nothing was changed")}}async#n(e,t,{body:o,background:r,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();r&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(t,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new H("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new H("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var Tt=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let t=this.#e;t&&(this.#e=void 0,t.question==="sign-in"&&(this.ended=
!e),t.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let t=this.#e;if(t&&t.question!==e)return e==="si\
gn-in"&&(this.#e={...t,question:e}),this.#t(),t.answered;if(t)return t.answered;let o=()=>{},r=new Promise(i=>{o=i});return this.#e=
{question:e,answered:r,answer:o},this.#t(),r}};function Wn(n){let[e="",t=""]=n.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
t))}}function I(n,e={}){let t=ne(e);return`#/${n}${t}`}var Di=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function ne(n){let e=new URLSearchParams;
for(let[o,r]of Object.entries(n))r!==void 0&&r!==""&&e.set(o,String(r).replace(Di,"$1"));let t=e.toString();return t===""?
"":`?${t}`}var Fi=new Intl.NumberFormat("en",{maximumFractionDigits:0}),ji=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
Xi=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),vr=["bytes","KiB","MiB","GiB","TiB","PiB"],M=n=>Fi.format(n),Et=n=>n===0||n>=10?M(n):ji.format(
n);function R(n,e,t=`${e}s`){return`${M(n)} ${n===1?e:t}`}function U(n){let e=0,t=n;for(;t>=1024&&e<vr.length-1;)t/=1024,
e++;return`${e===0||t>=100?M(t):t.toFixed(1)} ${vr[e]}`}function qn(n){let e=Math.round(Math.abs(n)/1e3),t=[];for(let[o,
r]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/r);if(e-=i*r,i>0)t.push(`${i} ${o}`);else if(t.length>
0)break;if(t.length===2)break}return t.join(" ")||"0 s"}function lt(n,e){let t=(typeof n=="number"?n:Date.parse(n))-e;if(Number.
isNaN(t))return"";let o=Math.abs(t)<6e4?1e3:Math.abs(t)<864e5?6e4:36e5,r=qn(Math.trunc(t/o)*o);return t>=0?`in ${r}`:`${r}\
 ago`}function ge(n){let e=new Date(n);if(Number.isNaN(e.getTime()))return"";let t=Object.fromEntries(Xi.formatToParts(e).
map(({type:o,value:r})=>[o,r]));return`${t.year}-${t.month}-${t.day} ${t.hour}:${t.minute}:${t.second} UTC`}function Ce(n){let e=0;for(let t of n)e++;return e}function zn(n){return new TextEncoder().encode(n).length}function oe(n){
return n.split(/[\s,]+/).filter(e=>e!=="")}function He(n,e){if(n.length<=e)return n;let t=[...n];return t.length<=e?n:`${t.
slice(0,e-1).join("")}…`}function We(n,e="and"){return n.length<2?n[0]??"":`${n.slice(0,-1).join(", ")} ${e} ${n[n.length-
1]}`}var qe=/^[0-9a-f]{0,32}$/;function ze(n){return/^[AM]T_([0-9a-f]{0,32})/.exec(n)?.[1]??n}var Gn=sr(void 0);function P(){let n=yr(Gn);if(!n)throw new Error("there is no console here");return n}function B(){return P().
session.role==="manager"}var Li=Symbol.for("pv"),Ui=0;function s(n,e,t,o,r,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof n!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:n,props:c,key:t,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Li,__v:--Ui,__i:-1,__u:0};return(r||
i)&&(u.__source=r,u.__self=i),O.vnode&&O.vnode(u),u}function C({text:n,most:e=80}){let t=He(n,e);return s("bdi",{class:"name",...t===n?{}:{title:n},children:t})}function A({
text:n,most:e=256}){let t=He(n,e);return s("bdi",{children:s("code",{...t===n?{}:{title:n},children:t})})}function L({at:n,
plain:e}){let{api:t}=P();return n?s("time",{dateTime:n,title:e?lt(n,t.serverNow()):ge(n),children:e?ge(n):lt(n,t.serverNow())}):
s("span",{children:"–"})}function N({mood:n="plain",children:e}){return s("span",{class:`badge ${n}`,children:e})}function Pe({
text:n}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:n})})}function he({error:n,
known:e}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:[n," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function K({what:n}){return s("p",{class:"quiet",role:"\
status",children:["Loading ",n,"…"]})}function J({children:n}){return s("div",{class:"empty",children:n})}function fe({
of:n}){return s("dl",{class:"facts",children:n.map(e=>e&&s("div",{class:e[2]?"whole":"",children:[s("dt",{children:e[0]}),
s("dd",{children:e[1]})]},e[0]))})}function _r({text:n,label:e,onCopied:t}){let[o,r]=y("");return $(()=>{if(o==="")return;
let a=setTimeout(()=>r(""),4e3);return()=>clearTimeout(a)},[o]),s("span",{class:"copy",children:[s("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(n),r("Copied."),t?.()}catch{r("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),s("span",{role:"status",class:"quiet",children:o})]})}function re({text:n,
children:e}){return s("div",{class:"heading",children:[s("h1",{tabIndex:-1,children:n}),e&&s("div",{class:"buttons",children:e})]})}var Ct=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#c())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#c(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#c();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#c()},this.pause)}}};function Y(){let[n,e]=y(!1),[t,o]=y(),r=V({busy:!1,mounted:!0}).current;$(()=>(r.mounted=!0,()=>{r.mounted=!1}),[r]);let i=ae(
async a=>{if(!r.busy){r.busy=!0,e(!0),o(void 0);try{await a()}catch(l){r.mounted&&o(W(l))}r.busy=!1,r.mounted&&e(!1)}},[
r]);return{busy:n,error:t,run:i,fail:o}}function pe(n,e,t,o=!1){let[r,i]=y({key:n}),a=V(t);a.current=t;let l=V(void 0);$(
()=>{let u=new Ct({every:e,hidden:()=>document.hidden,ask:async(f,p)=>{try{let h=await a.current({background:f,signal:p});
p.aborted||i({key:n,data:h})}catch(h){throw p.aborted||i(m=>({...m,error:W(h)})),h}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[n,
e]),$(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,n,e]);let c=ae(()=>l.current?.refresh(),[]);return{data:r.
data,stale:r.key!==n||r.data===void 0,error:r.error,refresh:c}}function be({label:n,columns:e,rows:t,keyOf:o,detail:r,busy:i}){return s("div",{class:"scroll",children:s("table",{role:"\
table","aria-label":n,"aria-busy":i??!1,children:[s("thead",{role:"rowgroup",children:s("tr",{role:"row",children:e.map(
a=>s("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),s("tbody",{role:"r\
owgroup",children:t.map(a=>{let l=r?.(a);return s(E,{children:[s("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>Bi(
c,a,u===0))}),l&&s("tr",{role:"row",class:"detail",children:s("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function Bi(n,e,t){let o={"data-label":n.label,class:n.number?"number":""},r=s("div",{children:n.cell(e)});return t?s("t\
h",{...o,role:"rowheader",scope:"row",children:r},n.label):s("td",{...o,role:"cell",children:r},n.label)}function Ge(n){
return s("button",{type:"button",class:"expand","aria-expanded":n.open,"aria-label":n.label,onClick:n.onToggle,children:n.
children})}function Ae({page:n,more:e,onPrevious:t,onNext:o}){return n===1&&!e?null:s("nav",{class:"pages","aria-label":"\
Pages",children:[s("button",{type:"button",disabled:n===1,onClick:t,children:"Previous page"}),s("span",{children:["Page\
 ",n]}),s("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function ct({status:n}){if(!n)return s("span",{children:"–"});let{driver:e,usable:t,error:o,writable:r,replicas:i}=n.store;
return s("span",{class:"state",children:[s("span",{children:e}),t?r?s(N,{mood:"good",children:"ready"}):s(N,{mood:"warn",
children:"read only"}):s(N,{mood:"bad",children:"not usable"}),i&&s("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&s(C,{text:o,most:200})]})}function dt({status:n}){return n?s("span",{class:"\
state",children:[s("span",{children:n.broker.driver}),n.broker.linked?s(N,{mood:"good",children:"linked"}):s(N,{mood:"ba\
d",children:"link lost"})]}):s("span",{children:"–"})}var Ji={websocket:"WebSocket",webtransport:"WebTransport"},Ke=n=>Ji[n]??
n;function Pt({edge:n}){return n.self&&n.name!=="this edge"?s(N,{children:"this edge"}):null}function Qe(n){let e=n.edges.
filter(t=>!t.answered);return s("div",{role:"alert",class:"errors",children:e.length>0&&s("div",{class:"note warn",children:[
s("p",{children:[e.length===1?"An edge does not answer":`${e.length} edges do not answer`,"."," ",n.missing[e.length===1?
0:1]]}),s("ul",{children:[e.slice(0,20).map(t=>s("li",{children:[s(C,{text:t.name}),t.error&&s(E,{children:[": ",s(C,{text:t.
error,most:200})]})]},t.id)),e.length>20&&s("li",{children:["and ",e.length-20," more"]})]})]})})}function T(n){let{label:e,value:t,onInput:o,hint:r,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:f,
options:p}=n,h=Je(),m=f&&f.now>f.most,w=i??(m?`At most ${f.most} ${f.unit}.`:void 0),v={id:h,value:t,readOnly:d??!1,class:c?
"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,autofocus:n.autoFocus??!1,"aria-invalid":w!==void 0,"aria-de\
scribedby":`${h}-help`,onInput:b=>o(b.currentTarget.value)};return s("div",{class:"field",children:[s("label",{for:h,children:e}),
l?s("textarea",{...v,rows:l}):a==="password"?s("input",{...v,type:"password"}):s("input",{...v,type:"text",list:p&&`${h}\
-list`}),p&&s("datalist",{id:`${h}-list`,children:p.map(b=>s("option",{value:b},b))}),s("div",{id:`${h}-help`,class:"hel\
p",children:[r&&s("p",{children:r}),f&&s("p",{class:m?"wrong":"",children:[f.now," of ",f.most," ",f.unit]}),w&&s("p",{class:"\
wrong",children:w})]})]})}function q({label:n,value:e,onInput:t,hint:o,options:r}){let i=Je();return s("div",{class:"fie\
ld",children:[s("label",{for:i,children:n}),s("select",{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>t(a.currentTarget.
value),children:r.map(([a,l])=>s("option",{value:a,children:l},a))}),s("div",{id:`${i}-help`,class:"help",children:o&&s(
"p",{children:o})})]})}function we({label:n,checked:e,onChange:t,hint:o}){let r=Je();return s("div",{class:"check",children:[
s("input",{id:r,type:"checkbox",checked:e,"aria-describedby":`${r}-help`,onChange:i=>t(i.currentTarget.checked)}),s("lab\
el",{for:r,children:n}),s("p",{id:`${r}-help`,class:"help",children:o})]})}function me({title:n,onClose:e,children:t,wide:o}){let r=V(null),i=V(!1),a=Je();return gr(()=>{let l=r.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),s("dialog",{ref:r,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===r.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&r.current?.open===!1&&r.current.showModal()}))},children:[s("h2",{id:a,children:n}),t]})}function le({action:n,
submit:e,danger:t,disabled:o,onSubmit:r,onCancel:i,children:a,extra:l}){return s("form",{noValidate:!0,"aria-busy":n.busy,
onSubmit:c=>{c.preventDefault(),o||n.run(r)},children:[a,s(Pe,{text:n.error}),s("div",{class:"buttons",children:[s("butt\
on",{type:"submit",class:t?"danger":"primary",disabled:o,"aria-disabled":n.busy,children:e}),i&&s("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function At({title:n,label:e,secret:t,onClose:o,children:r}){let[i,a]=y(!1),[l,c]=y(!1);return s(me,{title:n,wide:!0,onClose:()=>i||
l?o():a(!0),children:[s("p",{class:"note warn",children:[s("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),s(Mt,{label:e,text:t,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),r,s("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),s("div",{class:"buttons",children:s("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function Mt({
label:n,text:e,copy:t,onCopied:o}){return s("div",{class:"snippet",children:[s("div",{class:"snippet-head",children:[s("\
h3",{children:n}),s(_r,{text:e,label:t,onCopied:o})]}),s("pre",{tabIndex:0,"aria-label":n,role:"region",children:e})]})}var Hi=20;function xr(n,e=""){let t=[];for(let[o,r]of(n.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=ut(r.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=r.allow_channels_pub??[],c=r.allow_channels_sub??[];l.length>0&&t.push(
["may publish to ",...ut(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&t.push(["may subscribe to ",...ut(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=r.allow_channels_history??[];u.length>0&&t.push(["may read stored messages o\
f ",...ut(u,`${i}.allow_channels_history`,e)," in ",...a]),l.length+c.length===0&&t.push(["may neither publish nor subsc\
ribe in ",...a])}return t.push($t("from ",n.allow_ip_masks,"right.allow_ip_masks",e,"any address")),n.allowed_ws_origin?.
length&&t.push($t("from pages of ",n.allowed_ws_origin,"right.allowed_ws_origin",e,"")),n.allow_regions?.length&&t.push(
$t("at edges in ",n.allow_regions,"right.allow_regions",e,"")),t.push($t("by ",n.allow_protocols,"right.allow_protocols",
e,"WebSocket or WebTransport")),t.push([`may send ${kr(n.ingress_kb_per_sec)} and receive ${kr(n.egress_kb_per_sec)} on \
each connection`]),t}function Sr(n){return/^right\.[\w.[\]]+/.exec(n??"")?.[0]??""}function Tr(n,e){return e!==""&&(n===e||n.startsWith(`${e}\
[`))}function kr(n){return n===void 0?"as much as the edge's default":`${n.toLocaleString("en")} KB/s`}function $t(n,e,t,o,r){
return e?.length?[n,...ut(e,t,o,"or")]:[n+r]}function ut(n,e,t,o="and"){let r=n.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=r.filter((c,u)=>u<Hi||c.path===t),a=r.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${R(a,"other")}`),l}function Er({token:n,onAction:e}){let t=B(),o=n.token_id.slice(0,12),r=(i,a)=>s("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return s("div",{class:"token-detail",children:[s("div",{children:[s("h2",{children:"\
What it allows"}),s(Kn,{right:n.right,mark:""})]}),s(fe,{of:[["Id",s(A,{text:n.token_id},"id"),"wide"],n.subject?["Subje\
ct",s(C,{text:n.subject,most:128},"subject")]:void 0,n.info?["Info",s(A,{text:JSON.stringify(n.info),most:1024},"info"),
"wide"]:void 0,n.description?["Description",s(C,{text:n.description,most:512},"description")]:void 0,["Made",s(L,{at:n.created_at,
plain:!0},"made")],["Ends",s(L,{at:n.expires_at,plain:!0},"ends")],n.revoked_at?["Revoked",s(L,{at:n.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",n.master_id?s(A,{text:n.master_id},"master"):"the console or the admin API"]]}),s("div",
{class:"buttons",children:[t&&n.status==="valid"&&r("refresh","Refresh"),t&&n.status!=="revoked"&&r("revoke","Revoke"),r(
"explain","Explain"),s("a",{class:"button",href:I("connections",{token_id:n.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),n.subject&&s("a",{class:"button",href:I("tokens",{subject:n.subject}),"aria-label":`All of the \
subject of ${o}`,children:"All of its subject"})]})]})}function Kn({right:n,mark:e}){return s("ul",{class:"right",children:xr(
n,e).map((t,o)=>s("li",{children:s(Wi,{sentence:t,mark:e})},o))})}function Wi({sentence:n,mark:e}){return s(E,{children:n.
map(t=>{if(typeof t=="string")return t;let o=s(A,{text:t.rule},t.path);return Tr(t.path,e)?s("mark",{children:o},t.path):
o})})}var qi=[["subscribe","subscribe"],["history","read stored messages"],["publish","publish"],["connect","connect"]],zi=[["",
"not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Cr({token:n,onClose:e}){let{api:t}=P(),
o=Y(),[r,i]=y(n),[a,l]=y(),[c,u]=y({token_id:n?.token_id??"",action:"subscribe",tenant:n?.right.tenant_grants?.[0]?.tenant_ids?.[0]??
"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=h=>m=>u(w=>({...w,[h]:m.trim()})),f=c.action==="connect";return s(
me,{title:"Explain",wide:!0,onClose:e,children:[s("p",{class:"quiet",children:"Asks the edge whether a token allows some\
thing, and by which of its rules."}),s(le,{action:o,submit:"Explain",onSubmit:async()=>{let{token_id:h}=c;if(!/^[0-9a-f]{32}$/.
test(h))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secret does not belong here");let{tenant:m,
channel:w,...v}=c;l(void 0);let b=f?v:{...v,tenant:m,channel:w},k=await t.call("POST","explain",{body:b});if(r?.token_id!==
h){let g=await t.get(`tokens${ne({id:h,limit:1})}`);i(g.tokens?.find(S=>S.token_id===h))}l(k)},extra:s("button",{type:"b\
utton",onClick:e,children:"Close"}),children:[s(T,{label:"Token id",value:c.token_id,onInput:h=>d("token_id")(ze(h.trim())),
mono:!0,autoFocus:!n}),s("div",{class:"row",children:[s(q,{label:"Action",value:c.action,onInput:d("action"),options:qi}),
!f&&s(T,{label:"Tenant",value:c.tenant,onInput:d("tenant"),mono:!0,autoFocus:n!==void 0}),!f&&s(T,{label:c.action==="pub\
lish"?"Channel":"Pattern",value:c.channel,onInput:d("channel"),mono:!0})]}),s("div",{class:"row",children:[s(T,{label:"A\
ddress",value:c.ip,onInput:d("ip"),mono:!0,hint:"Of the client, if it matters."}),s(T,{label:"Origin",value:c.origin,onInput:d(
"origin"),mono:!0,hint:"Of its page."}),s(q,{label:"Transport",value:c.protocol,onInput:d("protocol"),options:zi}),s(T,{
label:"Region",value:c.region,onInput:d("region"),mono:!0,hint:"Of the edge."})]}),s("div",{role:"status",class:"answer",
children:a&&s(Gi,{answer:a,token:r})})]})]})}function Gi({answer:n,token:e}){let t=Sr(n.rule);return s(E,{children:[s("p",
{children:[s(N,{mood:n.allowed?"good":"bad",children:n.allowed?"allowed":"not allowed"})," ",s("bdi",{children:n.reason}),
"."]}),n.rule&&s("p",{children:["Rule: ",s(A,{text:n.rule,most:600})]}),e&&s(Kn,{right:e.right,mark:t})]})}var Ki={s:1e3,m:6e4,h:36e5,d:864e5},Qi=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
Pr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function Qn(n,e){let t=n.trim();
if(t==="")return{error:Pr};let o=Vi(t),r=o===void 0?Yi(t):e+o;return r===void 0?{error:Pr}:r<=e?{error:"This is over alr\
eady. The end must be in the future."}:r>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
r/1e3)*1e3)}}function Vi(n){let e=n,t=0;for(;e!=="";){let o=Qi.exec(e),r=Ki[o?.[2]?.toLowerCase()??""];if(!o||r===void 0)
return;t+=Number(o[1])*r,e=e.slice(o[0].length)}return t}function Yi(n){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(n))return;let e=Date.parse(n.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function ce({title:n,submit:e,danger:t,disabled:o,onClose:r,onConfirm:i,children:a}){let l=Y();return s(me,{title:n,onClose:r,
children:s(le,{action:l,submit:e,danger:t,disabled:o,onSubmit:i,onCancel:r,children:a})})}var Ar=50,Zi=20;async function ea(n,e,t,o,r){let i={tokens:[],next:t,asked:0};do{let a={limit:Ar-i.tokens.length,cursor:i.
next},l=await n.get(`tokens${ne({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},r(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<Ar);return i}async function Mr(n,e,t){
let o=0,r="";for(let i=0;i<Zi;i++){let a=ne({subject:e,status:"valid",limit:1e3,cursor:r}),l=await n.get(`tokens${a}`,{signal:t});
if(o+=l.tokens?.length??0,r=l.next_cursor??"",r==="")return{count:o,all:!0}}return{count:o,all:!1}}function $r(n,e){let[
t,o]=y([""]),[r,i]=y(),[a,l]=y(!1),[c,u]=y(),d=V(void 0),f=JSON.stringify(e),p=V(e);p.current=e;let h=ae(async w=>{d.current?.
abort();let v=new AbortController;d.current=v;let b=()=>d.current===v;l(!0),u(void 0);try{await ea(n,p.current,w,v.signal,
k=>b()&&i(k))}catch(k){b()&&u(W(k))}b()&&l(!1)},[n]);$(()=>(o([""]),i(void 0),h(""),()=>{d.current?.abort(),d.current=void 0}),
[f,h]);let m=w=>{o(w),h(w[w.length-1]??"")};return{found:r,busy:a,error:c,page:t.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...t.slice(0,-1),r?.next??""]),refresh:()=>m(t),next:()=>m([...t,r?.next??""]),previous:()=>m(t.slice(0,-1))}}var Or=n=>`tokens/${encodeURIComponent(n.token_id)}`;function Vn({label:n,value:e,onInput:t}){let{api:o}=P(),r=o.serverNow(),
i=Qn(e,r);return s(T,{label:n,value:e,onInput:t,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${ge(i.at.getTime())}, ${lt(i.at.getTime(),r)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function Yn(n,e){let t=Qn(n,e);if(!t.at)throw new Error(t.error);return t.at.toISOString().replace(/\.\d+Z$/,"Z")}
function Ir({token:n,onClose:e,onDone:t}){let{api:o}=P(),[r,i]=y("1h");return s(ce,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:Yn(r,o.serverNow())},{new_expires_at:c}=await o.call("PUT",Or(n),
{body:l});t(`The token ${n.token_id.slice(0,12)}… now ends ${ge(c)}.`)},children:[s("p",{children:["The token ",s(A,{text:n.
token_id})," of ",s(C,{text:n.created_by,most:40})," ends"," ",s(L,{at:n.expires_at}),". Its open connections go on unti\
l the new end."]}),s(Vn,{label:"New end",value:r,onInput:i})]})}function Rr({token:n,onClose:e,onDone:t}){let{api:o}=P(),
[r,i]=y("The connections that end are being counted…");return $(()=>{let l=new AbortController;return ta(n.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${W(c)}`)),
()=>l.abort()},[o,n.token_id]),s(ce,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",Or(n),{body:{}}),t(`The token ${n.token_id.slice(0,12)}… was revoked.`)},children:[s("p",{children:[
"The token ",s(A,{text:n.token_id})," of ",s(C,{text:n.created_by,most:40})," stops working at once, for good."]}),s("p",
{role:"status",children:r})]})}function Nr({subject:n,onClose:e,onDone:t}){let{api:o}=P(),[r,i]=y("Its tokens are being \
counted…");return $(()=>{let l=new AbortController;return Mr(o,n,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${R(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${W(c)}`)),()=>l.abort()},[o,n]),s(ce,{title:"Revoke all tokens of this subject",submit:"Re\
voke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(n)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});t(`${R(c,"token")} revoked.`)},children:[s("p",{children:["All tokens of ",s(C,{text:n,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),s("p",{role:"status",children:r})]})}function ta(n){
return async(e,t)=>{let r=(await e.get(`connections${ne({token_id:n,limit:1})}`,{signal:t})).edges??[],i=r.reduce((c,u)=>c+
u.matching,0),a=r.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${R(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${We(a.slice(0,10))}, which did not answe\
r.`}}var Dr=/^[\w\-~@.]*$/;function ht(n){let e=/[A-Za-z0-9]$/.test(n)?`${n}.`:n;return Dr.test(e)&&e.length<=127?e:void 0}var Fr="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function Me(n){return n.length>0&&n.length<=128&&Dr.
test(n)}function Ot(n){let e=n.indexOf("/"),t=e<0?n:n.slice(0,e);if(t.includes("%"))return"has a zone, which a mask may not have";
let o=jr(t),r=o?void 0:na(t);if(!o&&!r)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(r&&ra(r))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=n.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function jr(n){let e=n.split(".");return e.length===
4&&e.every(t=>/^(0|[1-9]\d{0,2})$/.test(t)&&Number(t)<=255)}function na(n){let e=n.split("::");if(e.length>2)return;let[
t,o]=e.map((i,a)=>oa(i,a===e.length-1));if(!t||e.length===2&&!o)return;if(!o)return t.length===8?t:void 0;let r=8-t.length-
o.length;return r<1?void 0:[...t,...new Array(r).fill(0),...o]}function oa(n,e){if(n==="")return[];let t=[],o=n.split(":");
for(let[r,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))t.push(Number.parseInt(i,16));else if(e&&r===o.length-1&&jr(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);t.push(a*256+l,c*256+u)}else return;return t}function ra(n){return n.slice(
0,5).every(e=>e===0)&&n[5]===65535}var eo=64,to=512,Xr=256,sa=2**40,Zn=n=>n?String(n):"";function Lr(n){return{name:n?.name??"",description:n?.description??
"",prefix:n?.tenant_prefix??"",masks:(n?.allow_ip_masks??[]).join(`
`),maxTokens:Zn(n?.max_tokens),maxBytes:Zn(n?.max_bytes),calls:Zn(n?.calls_per_second)}}function no(n){return{prefix:ht(
n.prefix)===void 0?Fr:void 0,masks:Rt(oe(n.masks)),maxTokens:$e(n.maxTokens),maxBytes:$e(n.maxBytes),calls:$e(n.calls)}}
function Ur(n){let e=Ce(n.name);return e<1||e>eo||Ce(n.description)>to?!1:Object.values(no(n)).every(t=>t===void 0)}function It(n){
return{name:n.name,description:n.description,tenant_prefix:ht(n.prefix)??n.prefix,allow_ip_masks:oe(n.masks),max_tokens:Number(
n.maxTokens),max_bytes:Number(n.maxBytes),calls_per_second:Number(n.calls)}}function Br(n,e){let t=It(n),o=Object.entries(
It(e)).filter(([r,i])=>JSON.stringify(i)!==JSON.stringify(t[r]));return Object.fromEntries(o)}function Rt(n){if(n.length>
Xr)return`At most ${Xr} masks.`;for(let e of n){let t=Ot(e);if(t)return`${e} ${t}.`}}function $e(n,e=sa){if(!(n===""||/^\d{1,13}$/.
test(n)&&Number(n)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var ia=256,aa=128,Jr=2**31;function Hr({onClose:n,onIssued:e}){let{api:t,session:o}=P(),r=Y(),[i,a]=y({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",egress:"",
websocket:!0,webtransport:!0}),l=d=>f=>a(p=>({...p,[d]:f})),c=oe(i.tenants).find(d=>!Me(d));return s(me,{title:"Issue a \
trial token",onClose:n,children:[s("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend, which h\
olds a master token."}),s(le,{action:r,submit:"Issue",onSubmit:async()=>{let d=oe(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||Rt(oe(i.masks))||$e(i.ingress)||$e(i.egress))throw new Error("correct the fields t\
hat are marked");let f=m=>m===""?void 0:Number(m),p=i.websocket!==i.webtransport,h={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:oe(i.pub),allow_channels_sub:oe(
i.sub),allow_channels_history:oe(i.history)}],allow_ip_masks:oe(i.masks),allowed_ws_origin:oe(i.origins),allow_regions:oe(
i.regions),allow_protocols:p?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:f(i.ingress),egress_kb_per_sec:f(
i.egress),expires_at:Yn(i.end,t.serverNow())}};e(await t.call("POST","tokens",{body:h}))},onCancel:n,children:[s(T,{label:"\
Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c} is no tenant: 1 to 128 of a-z A\
-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),s("div",{class:"row",children:[s(T,{label:"May publish to",value:i.
pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),s(T,{label:"May subscribe to",value:i.sub,onInput:l(
"sub"),rows:2,mono:!0,hint:"# is every channel."})]}),s(T,{label:"May read stored messages of",value:i.history,onInput:l(
"history"),rows:2,mono:!0,hint:"Of what it may subscribe to. Nothing: subscriptions begin now."}),s(Vn,{label:"Valid unt\
il",value:i.end,onInput:l("end")}),s("div",{class:"row",children:[s(T,{label:"Created by",value:i.createdBy,onInput:l("c\
reatedBy"),count:{now:zn(i.createdBy),most:ia,unit:"bytes"}}),s(T,{label:"Description",value:i.description,onInput:l("de\
scription"),count:{now:Ce(i.description),most:512,unit:"characters"}})]}),s(T,{label:"Subject",value:i.subject,onInput:l(
"subject"),count:{now:zn(i.subject),most:aa,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),s("details",{children:[
s("summary",{children:"More limits"}),s(T,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:Rt(oe(i.
masks))}),s(T,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.c\
om"}),s(T,{label:"Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),s("fieldset",{children:[
s("legend",{children:"Transports"}),s(we,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),s(we,{label:"W\
ebTransport",checked:i.webtransport,onChange:l("webtransport")})]}),s("div",{class:"row",children:[s(T,{label:"May send,\
 KB/s",value:i.ingress,onInput:l("ingress"),error:$e(i.ingress,Jr)}),s(T,{label:"May receive, KB/s",value:i.egress,onInput:l(
"egress"),error:$e(i.egress,Jr)})]})]})]})]})}var la=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],ca={valid:"good",expired:"plain",revoked:"\
bad"};function Wr({query:n}){let{api:e,notify:t}=P(),o=B(),[r,i]=y(),a={id:n.id??"",tenant:n.tenant??"",subject:n.subject??
"",created_by:n.created_by??"",status:n.status??""},l=$r(e,a),c=()=>i(void 0),u=d=>{c(),t(d),l.refresh()};return s(E,{children:[
s(re,{text:"Access tokens",children:[s("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Ex\
plain"}),o&&a.subject!==""&&s("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&s("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),s(da,{query:a,onSearchAgain:l.refresh}),s(he,{error:l.error,known:!1}),s(ua,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,f)=>i({what:d,token:f})}),r?.what==="issue"&&s(Hr,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),r?.what==="issued"&&s(At,{title:"The access token",label:"Access token",secret:r.issued.
token,onClose:c,children:s("p",{children:["Its id is ",s(A,{text:r.issued.token_id}),". It expires ",ge(r.issued.expires_at),
"."]})}),r?.what==="explain"&&s(Cr,{token:r.token,onClose:c}),r?.what==="refresh"&&s(Ir,{token:r.token,onClose:c,onDone:u}),
r?.what==="revoke"&&s(Rr,{token:r.token,onClose:c,onDone:u}),r?.what==="revoke subject"&&s(Nr,{subject:r.subject,onClose:c,
onDone:u})]})}function da({query:n,onSearchAgain:e}){let[t,o]=y(n),r=JSON.stringify(n);$(()=>o(n),[r]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return s("search",{children:s("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!qe.test(t.id))return;let l=I("tokens",t);l===I("tokens",n)?e():location.hash=l},children:[s(T,{label:"\
Id",value:t.id,onInput:a=>i("id")(ze(a.trim())),mono:!0,error:qe.test(t.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),s(T,{label:"Tenant",value:t.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),s(T,{label:"Subject",value:t.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),s(T,{label:"\
Created by",value:t.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),s(q,{label:"State",value:t.
status,onInput:i("status"),options:la}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"\
Search"}),s("a",{class:"button",href:I("tokens"),children:"Clear"})]})]})})}function ua({search:n,filtered:e,onAction:t}){
let[o,r]=y(),i=B(),{found:a,busy:l}=n,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return s(E,{children:[
s("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&s("span",{children:["Still searching: ",R(c.length,
"token")," found so far."]}),u&&s("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&s("but\
ton",{type:"button",onClick:n.stop,children:"Stop the search"}),u&&s("button",{type:"button",onClick:n.goOn,children:"Se\
arch on"}),l&&!a&&s(K,{what:"the access tokens"}),c.length>0&&s(be,{label:"Access tokens",columns:ha(o,r),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&s(Er,{token:d,onAction:f=>t(f,d)})}),!l&&a&&c.length===0&&a.next===""&&s(J,{children:e?
s("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):s("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),s(Ae,{page:n.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:n.previous,onNext:n.next})]})}
function ha(n,e){return[{label:"Id",cell:({token_id:t})=>s(Ge,{open:n===t,label:`Details of token ${t.slice(0,12)}`,onToggle:()=>e(
n===t?void 0:t),children:s("code",{children:t.slice(0,12)})})},{label:"Subject",cell:({subject:t})=>t?s(C,{text:t,most:40}):
s(E,{children:"–"})},{label:"Created by",cell:({created_by:t})=>s(C,{text:t,most:40})},{label:"Tenants",cell:({right:t})=>s(
oo,{names:(t.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:t})=>s(N,{mood:ca[t]??"plai\
n",children:t})},{label:"Made",cell:({created_at:t})=>s(L,{at:t})},{label:"Ends",cell:({expires_at:t})=>s(L,{at:t})}]}function oo({
names:n}){let e=[...new Set(n)];return e.length===0?s(E,{children:"–"}):s("span",{class:"list",title:e.length>2?We(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(t=>s(A,{text:t,most:40},t)),e.length>2&&s("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var Ve=n=>`${n.edge}:${n.id}`,qr=n=>n?M(n):"none";function zr(n,e,t){return[{label:"Connection",cell:r=>{let i=Ve(r);return s(
Ge,{open:e===i,label:`Details of connection ${r.id} at ${r.edge_name}`,onToggle:()=>t(e===i?void 0:i),children:r.id})}},
...n?[{label:"Edge",cell:r=>s(C,{text:r.edge_name,most:40})}]:[],{label:"Token",cell:r=>s("a",{href:I("tokens",{id:r.token_id}),
"aria-label":`Token ${r.token_id.slice(0,8)}`,children:s("code",{children:r.token_id.slice(0,8)})})},{label:"Subject",cell:({
subject:r})=>r?s(C,{text:r,most:40}):s(E,{children:"–"})},{label:"Tenants",cell:r=>s(oo,{names:r.tenants??[]})},{label:"\
Address",cell:r=>s("span",{class:"address",children:r.ip?s(A,{text:r.ip}):"unknown"})},{label:"Transport",cell:r=>s(E,{children:[
Ke(r.transport)," ",r.draining&&s(N,{mood:"warn",children:"draining"})]})},{label:"Since",cell:r=>s(L,{at:r.since})},{label:"\
Subscriptions",number:!0,cell:r=>M(r.subscriptions)},{label:"Queue",number:!0,cell:r=>U(r.queued_bytes)},{label:"Caps, K\
B/s",cell:r=>`in ${qr(r.ingress_kb_per_sec)}, out ${qr(r.egress_kb_per_sec)}`},{label:"Dropped",number:!0,cell:r=>M(r.dropped)}]}var fa=5e3,ro=200;function Gr({connection:n,onDisconnect:e}){let{api:t}=P(),o=B(),r=`connections/${encodeURIComponent(n.
edge)}/${n.id}`,{data:i,error:a}=pe(Ve(n),fa,async d=>{try{return await t.get(r,d)}catch(f){if(f instanceof H&&f.status===
404&&f.code!=="not_found")return"gone";throw f}}),l=i==="gone"?void 0:i,c=l??n,u=`connection ${c.id} at ${c.edge_name}`;
return s("div",{class:"connection-detail",children:[i==="gone"&&s("p",{role:"status",children:"It is closed now."}),s(Pe,
{text:a}),s(fe,{of:[["Token",s(A,{text:c.token_id},"token"),"wide"],c.subject?["Subject",s(C,{text:c.subject,most:128},"\
subject")]:void 0,["Token ends",s(L,{at:c.expires_at},"expires")],["Waiting in its queue",U(c.queued_bytes)],["Dropped d\
eliveries",M(c.dropped)]]}),s("h2",{children:"Subscriptions"}),!i&&!a&&s(K,{what:"the subscriptions"}),l&&s(pa,{detail:l}),
s("div",{class:"buttons",children:[o&&i!=="gone"&&s("button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,children:"\
Disconnect"}),s("a",{class:"button",href:I("connections",{token_id:c.token_id}),children:"All of its token"}),c.subject&&
s("a",{class:"button",href:I("connections",{subject:c.subject}),children:"All of its subject"}),s("a",{class:"button",href:I(
"tokens",{id:c.token_id}),children:"Its token"})]})]})}function pa({detail:n}){let e=n.patterns??[],t=e.length-ro+(n.more_patterns??
0);return e.length===0?s("p",{children:"It is subscribed to nothing."}):s("ul",{class:"chips patterns","aria-label":"Sub\
scriptions",tabIndex:0,children:[e.slice(0,ro).map(({tenant:o,pattern:r})=>s("li",{children:[s(A,{text:r})," in ",s(A,{text:o})]},
`${o} ${r}`)),e.length<ro?(n.more_patterns??0)>0&&s("li",{children:["and ",R(n.more_patterns??0,"more","more")]}):t>0&&s(
"li",{children:["and ",M(t)," more"]})]})}var ma=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Kr({query:n,edges:e,onAgain:t}){let[
o,r]=y(n),i=JSON.stringify(n);$(()=>r(n),[i]);let a=d=>f=>r(p=>({...p,[d]:f.trim()})),l=o.ip===""?void 0:Ot(o.ip),c=e.map(
d=>[d.id,He(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,He(o.edge,60)]]:[];return s("search",{children:s(
"form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{if(d.preventDefault(),l||!qe.test(o.token_id))return;
let f=I("connections",o);f===I("connections",n)?t():location.hash=f},children:[s(T,{label:"Token id",value:o.token_id,onInput:d=>a(
"token_id")(ze(d.trim())),mono:!0,error:qe.test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole\
 id."}),s(T,{label:"Subject",value:o.subject,onInput:d=>r(f=>({...f,subject:d})),hint:"The whole subject."}),s(T,{label:"\
Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),s(T,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`I\
t ${l}.`,hint:"One, or a CIDR."}),s(q,{label:"Transport",value:o.transport,onInput:a("transport"),options:ma}),s(q,{label:"\
Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"\
submit",class:"primary",children:"Filter"}),s("a",{class:"button",href:I("connections"),children:"Clear"})]})]})})}function Qr({target:n,onClose:e,onDone:t}){let{api:o}=P(),{connection:r,tokenID:i}=n,[a,l]=y(r===void 0);return s(ce,{title:r?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!r?{token_id:i}:{edge:r.edge,id:r.id},{disconnected:d,unanswered:f}=await o.call("POST","connections/disconnect",
{body:u}),p=f??[],h=p.length>0?` Not reached: ${We(p.slice(0,10))}, which did not answer. Try again later.`:"";t(`${R(d,
"connection")} disconnected.${h}`)},children:[r&&s("p",{children:["Connection ",r.id," at ",s(C,{text:r.edge_name})," is\
 closed."]}),r&&s(we,{label:"All connections of its token",checked:a,onChange:l,hint:"At every edge."}),!r&&s("p",{children:[
"All connections of the token ",s(A,{text:i})," are closed, at every edge."]}),s("p",{children:["A client may come back \
while its token is valid. To keep it away,"," ",s("a",{href:I("tokens",{id:i}),children:"revoke the token"})," in place \
of this."]})]})}var ga=100,ya=3e3;function Vr({query:n}){let{api:e,notify:t}=P(),o=B(),[r,i]=y(!1),[a,l]=y([""]),[c,u]=y(),d={token_id:n.
token_id??"",subject:n.subject??"",tenant:n.tenant??"",ip:n.ip??"",transport:n.transport??"",edge:n.edge??""},f=ne(d);$(
()=>l([""]),[f]);let p=`connections${ne({...d,limit:ga,cursor:a[a.length-1]})}`,{data:h,stale:m,error:w,refresh:v}=pe(p,
ya,g=>e.get(p,g),r),b=h?.edges??[],k=h?.connections??[];return s(E,{children:[s(re,{text:"Connections",children:[s("butt\
on",{type:"button","aria-pressed":r,onClick:()=>i(!r),children:r?"Resume":"Pause"}),o&&d.token_id!==""&&s("button",{type:"\
button",onClick:()=>u({tokenID:d.token_id}),children:"Disconnect all of this token"})]}),s(Kr,{query:d,edges:b,onAgain:v}),
s(he,{error:w,known:h!==void 0}),s(Qe,{edges:b,missing:["Its connections are not listed.","Their connections are not lis\
ted."]}),!h&&!w&&s(K,{what:"the connections"}),h&&s(ba,{edges:b,paused:r}),k.length>0&&s(wa,{rows:k,several:b.length>1,busy:m,
onDisconnect:g=>u({connection:g,tokenID:g.token_id})}),h&&!m&&k.length===0&&a.length===1&&s(J,{children:f===""?s("p",{children:"\
No client is connected. Clients appear here as they connect with an access token."}):s("p",{children:"No connection matc\
hes. Ask for less, or clear the filters."})}),s(Ae,{page:a.length,more:!m&&(h?.next_cursor??"")!=="",onPrevious:()=>l(a.
slice(0,-1)),onNext:()=>l([...a,h?.next_cursor??""])}),c&&s(Qr,{target:c,onClose:()=>u(void 0),onDone:g=>{u(void 0),t(g),
v()}})]})}function ba({edges:n,paused:e}){let t=n.reduce((r,i)=>r+i.total,0),o=n.reduce((r,i)=>r+i.matching,0);return s(
"div",{class:"totals",children:[s("p",{children:[o===t?`${R(t,"connection")}.`:`${M(o)} of ${R(t,"connection")} match.`,
e&&s("strong",{children:" Paused: the list is as it was."})]}),n.length>1&&s("ul",{class:"chips","aria-label":"By edge",
children:n.slice(0,50).map(r=>s("li",{children:[s(C,{text:r.name,most:40})," ",r.answered?M(r.matching):"no answer"]},r.
id))})]})}function wa({rows:n,several:e,busy:t,onDisconnect:o}){let[r,i]=y();return s(be,{label:"Connections",columns:zr(
e,r,i),rows:n,keyOf:Ve,busy:t,detail:a=>r===Ve(a)&&s(Gr,{connection:a,onDisconnect:()=>o(a)})})}function Yr(){let{api:n}=P(),[e,t]=y(),{data:o,error:r,refresh:i}=pe("edges",5e3,l=>n.get("edges",l)),a=o?.edges??[];return s(
E,{children:[s(re,{text:"Edges"}),s(he,{error:r,known:o!==void 0}),!o&&!r&&s(K,{what:"the edges"}),s(Qe,{edges:a,missing:[
"What it does is not known.","What they do is not known."]}),o&&a.length===0&&s(J,{children:s("p",{children:"No edge is \
known yet. This one appears within seconds."})}),s("div",{class:"cards",children:a.map(l=>s(va,{edge:l,onDrain:()=>t(l)},
l.id))}),a.length===1&&s("p",{class:"quiet",children:"This edge is alone. Edges that share a broker, such as NATS, appea\
r here together."}),e&&s(ka,{edge:e,onClose:()=>t(void 0),onDone:i})]})}function va({edge:n,onDrain:e}){let t=B(),{status:o}=n,
r=n.state==="draining"||o?.draining===!0;return s("article",{class:"card","aria-label":`Edge ${n.name}`,children:[s("div",
{class:"card-head",children:[s("h2",{children:s(C,{text:n.name})}),s(Pt,{edge:n}),r&&s(N,{mood:"warn",children:"draining"}),
n.state==="silent"&&s(N,{mood:"bad",children:"silent"}),!n.answered&&s(N,{mood:"bad",children:"no answer"}),n.answered&&
!r&&n.state!=="silent"&&s(N,{mood:"good",children:"serving"})]}),s(fe,{of:[["Id",s(A,{text:n.id},"id"),"wide"],["Host",n.
host?s(C,{text:n.host}):"none announced"],["Region",n.region?s(C,{text:n.region}):"none"],!n.self&&["Last heard of",s(L,
{at:n.seen_at},"seen")],...o?_a(o):[]]}),t&&n.answered&&!r&&s("div",{class:"buttons",children:s("button",{type:"button",
"aria-label":`Drain ${n.name}`,onClick:e,children:"Drain"})})]})}function _a(n){let e=Object.entries(n.connections??{}),
t=e.reduce((r,[,i])=>r+i,0),o=e.map(([r,i])=>`${Ke(r)} ${M(i)}`).join(", ");return[["Connections",`${M(t)}${n.max_connections>
0?` of ${M(n.max_connections)}`:""}${o?` (${o})`:""}`],["Subscriptions",`${M(n.subscriptions)} to ${M(n.patterns)} patte\
rns`],["Waiting in queues",U(n.queued_bytes)],["Memory",U(n.memory_bytes)],["Token store",s(ct,{status:n},"store"),"wide"],
["Broker",s(dt,{status:n},"broker"),"wide"],["Started",s(L,{at:n.started_at},"started")],["Version",s(C,{text:`${n.version}\
, Caddy ${n.caddy}, ${n.go}`},"version"),"wide"]]}function ka({edge:n,onClose:e,onDone:t}){let{api:o,notify:r}=P();return s(
ce,{title:"Drain this edge",submit:"Drain",danger:!0,onClose:e,onConfirm:async()=>{await o.call("POST",`edges/${encodeURIComponent(
n.id)}/drain`,{body:{}}),e(),r(`${n.name} is draining.`),t()},children:[s("p",{children:[s(C,{text:n.name})," will take \
no new connections, and ask its clients to move to another edge. Those that stay are closed when the time of its drain i\
s over."]}),s("p",{children:[s("strong",{children:"Only a restart of the edge ends a drain."}),n.self&&" It is the edge \
that serves this page; the console goes on while it runs."]})]})}function Zr({query:n,names:e,onAgain:t}){let[o,r]=y(n),i=JSON.stringify(n);$(()=>r(n),[i]);let a=d=>f=>r(p=>({...p,[d]:f.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!Me(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return s(
"search",{children:s("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let f=I("histories",o);f===I("histories",n)?t():location.hash=f},children:[s(q,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),s(T,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"\
button",href:I("histories"),children:"Clear"})]})]})})}function es({target:n,onClose:e,onDone:t}){let{api:o}=P(),{history:r,tenant:i}=n,[a,l]=y(""),[c,u]=y(""),d=i?"tenant":"h\
istory";return s(ce,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??r))throw new Error(`what you typed is not the name of the ${d}`);let p=i?{history:r,tenant:i,channel:a}:{history:r,
all:!0},{removed:h}=await o.call("POST","histories/purge",{body:p}),w=[a&&`channel ${a}`,i&&`tenant ${i}`,`history ${r}`].
filter(v=>v).join(", ");t(`${h===1?"1 message was":`${M(h)} messages were`} removed: ${w}.`)},children:[s("p",{children:[
i?s(E,{children:["All messages that the history ",s(C,{text:r})," keeps of ",s(A,{text:i})," are deleted for good."]}):s(
E,{children:["All messages that the history ",s(C,{text:r})," keeps are deleted for good, of all tenants."]})," ","Clien\
ts that come back from before are told of a gap."]}),i&&s(T,{label:"Only this channel",value:a,onInput:p=>l(p.trim()),mono:!0,
hint:"Its whole name. Empty: all channels."}),s(T,{label:"Type the name to confirm",value:c,onInput:u,hint:`The name of \
the ${d}.`})]})}var xa=/[^\P{Cc}\t\n\r]/u;function ts(n){return{bytes:n.slice(0,16384),size:n.length}}function ns(n){let e=n.endsWith("==")?2:n.endsWith("=")?1:0,
t=atob(n.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(t.slice(0,16384),r=>r.charCodeAt(0)),size:n.length/
4*3-e}}function os({bytes:n,size:e}){try{let t=new TextDecoder("utf-8",{fatal:!0}).decode(n,{stream:e>n.length});return xa.
test(t)?"hex":"text"}catch{return"hex"}}function rs({bytes:n,size:e},t){let o=e>n.length,r=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(t==="hex")return{text:Ca(n),...r};let i=ss(n);if(t==="text")return{
text:i,...r};if(o)return{text:i,note:`${r.note} It is cut, so it is not formatted as JSON.`};let a=Sa(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function Nt({bytes:n,size:e},t,o=160){if(e===
0)return"(empty)";let r=n.subarray(0,o),i=e>r.length?"…":"";return t==="hex"?is(r.subarray(0,32))+(e>32?" …":""):ss(
r).replace(/\s+/g," ")+i}function ss(n){return new TextDecoder().decode(n)}function Sa(n){if(!(Ta(n)>64))try{return JSON.
stringify(JSON.parse(n),void 0,2)}catch{return}}function Ta(n){let e=0,t=0,o=!1;for(let r=0;r<n.length;r++){let i=n[r];o?
i==="\\"?r++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?t=Math.max(t,++e):(i==="]"||i==="}")&&e--}return t}var Ea=n=>n.
toString(16).padStart(2,"0");function is(n){return Array.from(n,Ea).join(" ")}function Ca(n){let e=[];for(let t=0;t<n.length;t+=
16){let o=n.subarray(t,t+16),r=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${t.toString(16).
padStart(4,"0")}  ${is(o).padEnd(47)}  ${r}`)}return e.join(`
`)}var Pa=500;function so({messages:n,omitted:e},t){let o=[...n,...t.map(i=>({...i,payload:ns(i.payload)}))],r=Math.max(0,o.
length-Pa);return{messages:o.slice(r),omitted:e+r}}var Dt=n=>n.split(".")[1]??n;function Ft({of:n,format:e,label:t}){let{text:o,note:r}=rs(n,e);return s("div",{class:"whole",children:[r&&s("p",{class:"\
quiet",children:r}),s("pre",{tabIndex:0,role:"region","aria-label":t,dir:"auto",children:o})]})}var Aa=50,Ma=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function as({names:n,target:e,
purges:t}){let{api:o}=P(),[r,i]=y(n[0]??""),[a,l]=y(""),[c,u]=y("#"),[d,f]=y("auto"),[p,h]=y(),m=Y(),w=V(null),v=async(S,D)=>o.
call("POST","histories/read",{body:{...S,after:D,limit:Aa}}),b=S=>m.run(async()=>{if(!Me(S.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(S.pattern==="")throw new Error("name a pattern; # is every ch\
annel");h(void 0);let D=await v(S,"");h({...so({messages:[],omitted:0},D.messages??[]),query:S,next:D.next})}),k=S=>m.run(
async()=>{let D=await v(S.query,S.next);h({...so(S,D.messages??[]),query:S.query,next:D.next})});$(()=>{e&&(i(e.history),
l(e.tenant),w.current?.focus(),b({...e,pattern:c}))},[e]),$(()=>{p&&w.current?.scrollIntoView()},[p?.query]),$(()=>h(void 0),
[t]);let g=n.includes(r)?r:n[0]??"";return s("section",{"aria-labelledby":"kept-messages",children:[s("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:w,children:"Messages"}),s("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),s("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:S=>{S.preventDefault(),b(
{history:g,tenant:a,pattern:c})},children:[s(q,{label:"History",value:g,onInput:i,options:n.map(S=>[S,S])}),s(T,{label:"\
Tenant",value:a,onInput:S=>l(S.trim()),mono:!0}),s(T,{label:"Pattern",value:c,onInput:S=>u(S.trim()),mono:!0,hint:"news.\
# for example"}),s(q,{label:"Payload as",value:d,onInput:S=>f(S),options:Ma}),s("div",{class:"buttons",children:s("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),s(Pe,{text:m.error}),m.busy&&!p&&s(K,{what:"\
the messages"}),p&&s($a,{found:p,format:d,busy:m.busy,onMore:()=>{k(p)}})]})}function $a({found:n,format:e,busy:t,onMore:o}){
let[r,i]=y(),{query:a,messages:l,omitted:c,next:u}=n,d=({payload:f})=>e==="auto"?os(f):e;return s(E,{children:[s("p",{role:"\
status","aria-label":"What was read",children:[R(c+l.length,"message")," of ",s(A,{text:a.pattern})," in ",s(A,{text:a.tenant}),
", history ",s(C,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${M(c)} are not shown an\
y more.`]}),l.length===0&&u===""?s(J,{children:s("p",{children:"No message of this pattern is kept."})}):s(be,{label:"Me\
ssages that are kept",columns:Oa(d,r,i),rows:l,keyOf:({position:f})=>f,busy:t,detail:f=>r===f.position&&s(Ia,{message:f,
format:d(f)})}),u!==""&&s("button",{type:"button","aria-disabled":t,onClick:o,children:"More messages"})]})}function Oa(n,e,t){
return[{label:"Number",cell:({position:o,channel:r})=>s(Ge,{open:e===o,label:`Message ${Dt(o)} to ${r}`,onToggle:()=>t(e===
o?void 0:o),children:Dt(o)})},{label:"Stored",cell:({time:o})=>s("time",{dateTime:o,children:ge(o)})},{label:"Channel",cell:({
channel:o})=>s(A,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>U(o.size)},{label:"Payload",cell:o=>s("\
bdi",{class:"preview",children:Nt(o.payload,n(o))})}]}function Ia({message:n,format:e}){let{position:t,time:o,payload:r}=n;
return s("div",{class:"message-detail",children:[s(fe,{of:[["Position",s(A,{text:t},"position"),"wide"],["Stored",s("tim\
e",{dateTime:o,children:o})],["Size",`${M(r.size)} bytes`]]}),s(Ft,{of:r,format:e,label:`Payload of message ${Dt(t)}`})]})}var Ra=50,Na=8,Da=1e4;function ls({query:n}){let{api:e,session:t,notify:o}=P(),r=B(),i=r&&t.tail===!0,[a,l]=y([""]),[c,u]=y(),
[d,f]=y(),[p,h]=y(0),m={history:n.history??"",tenant:n.tenant??""},w=ne(m);$(()=>l([""]),[w]);let v=`histories${ne({...m,
limit:Ra,cursor:a[a.length-1]})}`,{data:b,stale:k,error:g,refresh:S}=pe(v,Da,async te=>{try{return await e.get(v,te)}catch(G){
if(G instanceof H&&G.code==="no_histories")return"none";throw G}}),D=b==="none"?void 0:b,Q=D?.totals??[],xe=Q.reduce((te,G)=>te+
G.tenants,0),ie=D?.histories??[];return s(E,{children:[s(re,{text:"Histories"}),s("p",{class:"quiet",children:"What this\
 edge keeps of messages, so that clients that come back get what they have missed."}),s(he,{error:g,known:b!==void 0}),!b&&
!g&&s(K,{what:"the histories"}),(b==="none"||D&&Q.length===0)&&s(Fa,{}),D&&Q.length>0&&s(E,{children:[s(ja,{totals:Q,onPurge:te=>f(
{history:te})}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(w!==""||
xe>Na)&&s(Zr,{query:m,names:Q.map(({history:te})=>te),onAgain:S}),ie.length>0&&s(be,{label:"What is kept",columns:La(r?{
read:i?u:void 0,purge:f}:void 0),rows:ie,keyOf:Xa,busy:k}),!k&&ie.length===0&&a.length===1&&s(J,{children:w===""?s("p",{
children:"Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):s("p",{children:"\
Nothing that is kept matches. Ask for less, or clear the filters."})}),s(Ae,{page:a.length,more:!k&&(D.next_cursor??"")!==
"",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l([...a,D.next_cursor??""])})]}),i&&s(as,{names:Q.map(({history:te})=>te),
target:c,purges:p}),r&&!i&&s("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",s("cod\
e",{children:"tail off"}),"."]})]}),d&&s(es,{target:d,onClose:()=>f(void 0),onDone:te=>{f(void 0),h(G=>G+1),o(te),S()}})]})}
function Fa(){return s(J,{children:[s("p",{children:"No history is configured at this edge: a message is delivered at mo\
st once, and forgotten."}),s("p",{children:["A history keeps the messages of some channels: ",s("code",{children:"histor\
y <name> { channels … }"})," in the block ",s("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says wha\
t it promises."]})]})}function ja({totals:n,onPurge:e}){let t=B();return s("div",{class:"cards",children:n.map(o=>s("art\
icle",{class:"card","aria-label":`History ${o.history}`,children:[s("div",{class:"card-head",children:[s("h2",{children:s(
C,{text:o.history})}),!o.configured&&s(N,{mood:"warn",children:"not configured any more"})]}),s(fe,{of:[["Tenants",M(o.tenants)],
["Channels",M(o.channels)],["Messages",M(o.messages)],["Size",U(o.bytes)],["Oldest message",s(L,{at:o.oldest},"oldest")]]}),
t&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`Purge the history ${o.history}`,onClick:()=>e(
o.history),children:"Purge"})})]},o.history))})}var Xa=({history:n,tenant:e})=>`${n}:${e}`;function La(n){let e=[{label:"\
Tenant",cell:({tenant:r})=>s(A,{text:r})},{label:"History",cell:({history:r})=>s(C,{text:r})},{label:"Channels",number:!0,
cell:({channels:r})=>M(r)},{label:"Messages",number:!0,cell:({messages:r})=>M(r)},{label:"Size",number:!0,cell:({bytes:r})=>U(
r)},{label:"Oldest message",cell:({oldest:r})=>s(L,{at:r})}];if(!n)return e;let{read:t,purge:o}=n;return e.push({label:"\
Actions",cell:({history:r,tenant:i})=>s("div",{class:"buttons",children:[t&&s("button",{type:"button","aria-label":`Read\
 ${i} in ${r}`,onClick:()=>t({history:r,tenant:i}),children:"Read"}),s("button",{type:"button","aria-label":`Purge ${i} \
in ${r}`,onClick:()=>o({history:r,tenant:i}),children:"Purge"})]})}),e}var cs=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function ds({
messages:n,format:e}){let[t,o]=y();return s("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:n.map(r=>s(
Ua,{message:r,format:e,open:t===r.number,onToggle:()=>o(t===r.number?void 0:r.number)},r.number))})}function Ua({message:n,
format:e,open:t,onToggle:o}){let{channel:r,payload:i,at:a,late:l,number:c}=n;return s("li",{children:[s("button",{type:"\
button",class:"expand","aria-expanded":t,"aria-label":`${cs.format(a)}, message ${c} to ${r}`,onClick:o,children:s("time",
{dateTime:new Date(a).toISOString(),children:cs.format(a)})}),s("span",{children:[s(A,{text:r,most:120})," ",l&&s(N,{mood:"\
warn",children:"late"})]}),s("span",{class:"quiet",children:U(i.size)}),t?s(Ft,{of:i,format:e,label:`Payload of message ${c}`}):
s("bdi",{class:"preview",children:Nt(i,e)})]})}var Ba=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function us({tail:n}){let e=Y(),[t,o]=y(""),[r,i]=y(""),[a,l]=y("broadcast"),[c,u]=y(0);return s("section",{class:"\
card","aria-labelledby":"test-publish",children:[s("h2",{id:"test-publish",children:"Test publish"}),s(le,{action:e,submit:"\
Publish",onSubmit:async()=>{if(t==="")throw new Error("name the channel");await n.publish(t,r,a),u(f=>f+1)},children:[s(
"div",{class:"row",children:[s(T,{label:"Channel",value:t,onInput:f=>o(f.trim()),mono:!0}),s(q,{label:"To",value:a,onInput:f=>l(
f),options:Ba})]}),s(T,{label:"Payload",value:r,onInput:i,rows:2,mono:!0}),s("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var _=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(e,t="\
the edge says so",o={}){let r=["tenant","channel","pattern"].map(a=>o[a]===void 0?"":` (${a} ${JSON.stringify(o[a])})`),
i=e==="unreachable"?hs(o.cause):"";super(`${e}${r.join("")}: ${t}${i&&`: ${i}`}`,"cause"in o?{cause:o.cause}:void 0),this.
code=e,this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,
this.retryAfter=o.retryAfter}};function hs(n){let{message:e,code:t,cause:o}=n??{};return`${(o?hs(o):"")||e||t||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function fs(n,e){let t=n===401?"unauthorized":/^(429|50[234])$/.test(`${n}`)?"u\
navailable":"unreachable",o=`HTTP status ${n}, and the answer is no edge's: is the address right?`;return new _(t,o,{status:n,
retryAfter:e})}function se(n,e,t){return n instanceof _?n:new _(e,t,{cause:n})}function z(n){return new _("disconnected","there is no c\
onnection to an edge",n===void 0?{}:{cause:n})}function jt(n,e){let t=URL.canParse(n)?new URL(n):void 0;if(!t||!/^https?:$/.test(t.protocol)||t.username||t.password||t.
search||t.hash)throw new _("bad_option","an address is a URL with https:// and without user, query and fragment");if(t.protocol===
"http:"&&!e&&!Ja(t.hostname))throw new _("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return t}function Ja(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(n)}var x=()=>performance.now();function Z(n,e,t=new Set){return new Promise((o,r)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),t.delete(l)},a=()=>{i(),r(e.reason)},l=()=>{i(),o()},c=setTimeout(l,n);t.add(l),e.addEventListener("abort",a),
e.aborted&&a()})}async function De(n,...e){let t,o=new Promise(r=>{t=setTimeout(r,n)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(t)}async function Fe(n,e,t){n.throwIfAborted();let o=new AbortController,r=()=>o.abort(n.reason),i=setTimeout(
()=>o.abort(new _("timeout","the edge does not answer")),e);n.addEventListener("abort",r);try{return await t(o.signal)}finally{
clearTimeout(i),n.removeEventListener("abort",r),o.abort()}}function ye(n,e){return new Promise((t,o)=>{let r=()=>o(e.reason);
e.aborted&&r(),e.addEventListener("abort",r),n.then(t,o).finally(()=>e.removeEventListener("abort",r))})}function ee(n,e){
return n<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*2**Math.min(n-2,30))}var Ha=1e5,io=0;async function ps(n,e,t,o){io=io+1>>>0;let r=io,i=e(r),a=!1,l=f=>new _("outcome_unknown","no edge has sa\
id whether the message is stored",{...o,cause:f}),c=new AbortController,u=setTimeout(()=>c.abort(a?l():z()),Ha),d;try{for(let f=2;;f++){
d=await Wa(n,t,c.signal,o);let p=d.confirm(i,r);a=!0;try{return await ye(p,c.signal)}catch(h){c.signal.throwIfAborted();
let{code:m}=h;if(m!=="disconnected"&&(m!=="unconfirmed"||!t))throw new _(m,void 0,o);if(!t)throw l(h);m==="unconfirmed"&&
await Z(ee(f,n.settings),c.signal)}}}catch(f){let{code:p}=f;throw a&&(p==="disconnected"||p==="closed")?l(f):f}finally{clearTimeout(
u),d?.forgetConfirm(r)}}async function Wa(n,e,t,o){for(;;){if(n.over)throw n.over;if(n.gate){await ye(new Promise(i=>n.gate?.
push(i)),t);continue}let r=n.publishOn??n.current;if(r?.alive)if(r.features===void 0)await ye(r.featured,t);else{if(r.features.
includes("history"))return r;throw new _("no_history","the edge has no histories, and confirms nothing",o)}else{if(!e)throw z();
await ye(n.changed(),t)}}}var qa=new TextEncoder,za=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),ao=1024,Ga=["PING","PONG","RECONNECT","OK:AUT\
H"],Ka=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,Qa=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,je=n=>qa.
encode(n);function ke(n){try{return za.decode(n)}catch(e){throw new _("protocol","text that is not UTF-8",{cause:e})}}var Va=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function Ye(n,e){let[t,o,...r]=n.split(":"),i=Va.get(
t);if(i===void 0)return;let a={closeCode:e??i};return t==="forbidden"?new _(`${o}_not_allowed`,r.join(":")||void 0,a):new _(
t,void 0,a)}function lo(n){if(Ga.includes(n))return{kind:n};if(/^LINK:(up|down)$/.test(n))return{kind:"LINK",up:n==="LIN\
K:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(e&&n.length<=ao)return{kind:"FEATURES",features:e};
let t=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),o=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(n);if((t||o)&&
(n.length<=ao/3||je(n).length<=ao)&&!n.endsWith(`
`)){if(t)return{kind:"OK",verb:t[1],tenant:t[2],pattern:t[3]};if(o)return{kind:"ERR",code:o[1],detail:o[2]??""}}let r=Ya(
n);if(r)return r;throw new _("protocol","a line that is none")}function Ya(n){let[,e,t="",o="",r="",i]=Ka.exec(n)??[];if(e&&
Xt(r)&&e==="OK:RSUB"==(i!==void 0))return i?{kind:e,tenant:t,pattern:o,position:r,how:i}:{kind:e,tenant:t,pattern:o,position:r};
let[,a,l]=Qa.exec(n)??[];if(!(a===void 0||Number(a)>4294967295||l!==void 0&&!Xt(l)))return l===void 0?{kind:"OK:PUB",id:Number(
a)}:{kind:"OK:PUB",id:Number(a),position:l}}function Xt(n){let[,e,t]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(n)??[];return e!==void 0&&t!==void 0&&ms(e)&&ms(t)}var ms=n=>n.length<20||n<="18446744073709551615";function gs(n){
try{return lo(n)}catch{return}}var uo=["broadcast","one-nearest","one-random"];function ho(n,e,t,o,r){let i=typeof t=="string"?je(t):t,a=r?7+r.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+n.length+e.length+i.length);return a>0&&(l[0]=r?3:2,l[1]=o??0),r&&(new DataView(l.buffer).
setUint32(2,r.id),l[6]=r.key.length,l.set(r.key,7)),l.set(i,ys(l,ys(l,a,n),e)),l}function ys(n,e,t){n[e++]=t.length>>8,n[e++]=
t.length;for(let o=0;o<t.length;o++)n[e++]=t.charCodeAt(o);return e}var vs=1,_s=2,co=24,Za=128,el={4:vs|_s,5:7};function fo(n,e,t){
if(e===t||n[e]===1)return!1;let o=el[n[e]];return o===void 0||e+1<t&&(n[e+1]&~o)!==0}var Lt=class{#e=new ft;#t=new ft;#n=new ft;#o={};decode(e,t,o){
let r=w=>{w>o&&ve()},i=w=>(r(w+2),e[w]<<8|e[w+1]);(t===o||e[t]===5||fo(e,t,o))&&ve();let a,l="";if(e[t]===4){let w=i(t)&
255;if(w===0&&ve(),t++,w&vs&&(r(t+1+co),a=tl(e,t+1),t+=co),w&_s){r(t+2);let v=t+2;t=v+e[t+1]-1,t-v>=Za&&ve(),r(t+1),l=this.#n.
of(e,v,t+1,()=>ke(e.subarray(v,t+1)))}}let c=a!==void 0,u=t+3+i(t+1),d=u+2+i(u),f=d+4;r(f);let p=f+i(d)*65536+i(d+2);(i(
p)===0||c&&i(p)!==1)&&ve();let h=this.#e.of(e,t+1,d,()=>[ke(e.subarray(t+3,u)),ke(e.subarray(u+2,d))]),m=this.#o;return m.
tenant=h[0],m.channel=h[1],m.payload=e.subarray(f,p),m.route=this.#t.of(e,p,o,()=>{let w=[],v=p+2;for(let b=i(p);b>0;b--){
let k=v+2+i(v);r(k),w.push(ke(e.subarray(v+2,k))),v=k}return v!==o&&ve(),{patterns:Object.freeze(w),note:void 0}}),m.position=
a,m.sender=l,m}};function tl(n,e){let t=new DataView(n.buffer,n.byteOffset+e,co);return`${bs(t,0)}${bs(t,4)}.${ws(t,8)}.${ws(
t,16)}`}var bs=(n,e)=>n.getUint32(e).toString(16).padStart(8,"0");function ws(n,e){let t=n.getUint32(e);return t<2097152?
String(t*4294967296+n.getUint32(e+4)):String(n.getBigUint64(e))}function ve(){throw new _("protocol","a frame that is no\
ne")}var nl=256,ol=1024,ft=class{#e=[];of(e,t,o,r){let i=0;for(let u=t;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&
nl-1,l=this.#e[a];if(l&&rl(l.bytes,e,t,o))return l.value;let c=r();return o-t<=ol&&(this.#e[a]={bytes:e.slice(t,o),value:c}),
c}};function rl(n,e,t,o){if(n.length!==o-t)return!1;for(let r=0;r<n.length;r++)if(n[r]!==e[t+r])return!1;return!0}function Xe(n,e,t){let o=typeof e=="object"&&e!==null,r=o?Object.keys(e).find(a=>!t.split(" ").includes(a)):"";if(r===void 0)
return;let i=o?`has no ${JSON.stringify(r.slice(0,32))}`:"must be an object";throw new _("bad_option",`${n} ${i}: allowe\
d are ${t.replaceAll(" ",", ")}`)}var sl=["drop-oldest","drop-newest","end"],ks=["webtransport","websocket"];function F(n){throw new _("bad_option",n)}function Le(n,e,t,o=0){
return e!==void 0&&!(Number.isFinite(e)&&e>=o&&e<2**31)&&F(`${n} must be a number below 2^31${o<0?"":", 0 or more"}`),e||
t}function xs(n,e,t){return t.includes(e)||F(`${n}: allowed are ${t.join(", ")}`),e}function mo(n,e){return{queue:Math.ceil(
Le("queue",n.queue,e.queue)),queuePolicy:xs("queuePolicy",n.queuePolicy??e.queuePolicy,sl)}}var il="token tokenProvider \
transports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlainte\
xt serverCertificateHashes sender signal on";function Ss(n){Xe("the object of options",n,il),Xe("paths",n.paths??{},"web\
Socket webTransport ping");let{token:e,tokenProvider:t,transports:o=ks,sender:r=!1}=n;e===void 0==(t===void 0)&&F("one o\
f token and tokenProvider is needed"),t!==void 0&&typeof t!="function"&&F("tokenProvider must be a function"),typeof r!=
"boolean"&&F("sender must be true or false"),o.length===0&&F("transports must not be empty");for(let a of o)xs("transpor\
ts",a,ks);let i=Le("minBackOff",n.minBackOff,250);return{token:e===void 0?void 0:go(e),tokenProvider:t,transports:[...new Set(
o)],fallbackAfter:Le("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:Le("connectTimeout",n.connectTimeout,1e4),keepAlive:Le(
"keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:Le("pongTimeout",n.pongTimeout,1e4),minBackOff:i,maxBackOff:Math.max(i,Le(
"maxBackOff",n.maxBackOff,15e3)),...mo(n,{queue:1024,queuePolicy:"drop-oldest"}),sender:r,paths:{webSocket:po(n.paths?.webSocket??
"/ws"),webTransport:po(n.paths?.webTransport??"/wt"),ping:po(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===
!0,hashes:n.serverCertificateHashes}}function po(n){return/^\/[^?#]*$/.test(n)||F("paths must start with a slash"),n}var al="\
a token is a string of 1 to 512 letters, digits and .~_+-, and this is none";function go(n){return(typeof n!="string"||!/^[\w.~+-]{1,512}$/.
test(n))&&F(al),n}var Ts=1e5;function Es(n,e){if(n===void 0||n==="now"||n==="last")return n;let{last:t,after:o}=n;return typeof o=="string"&&
t===void 0&&Xt(o)?o:((!Number.isInteger(t)||t<1||t>Ts||o!==void 0)&&F(`history is "now", "last", { last: 1 to ${Ts} } or\
 { after: position }`),/[*>#]/.test(e)&&F("history: { last } is for one channel: the pattern has no wildcard"),`last.${t}`)}
var Ut=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){this.from=e}begin(e){
this.on=e,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(e,t){
return this.on===e&&this.open&&!this.plain&&!ll(t,this.from)}};function ll(n,e){let[t,o=""]=n.split("."),[r,i]=e.split("\
.");return t===r&&i!==void 0&&(o.length===i.length?o<=i:o.length<i.length)}var Bt=class{tenant;channel;ended;verb="JOIN";#e;#t;constructor(e,t,o){this.tenant=e,this.channel=t,this.#e=o,this.ended=
new Promise(r=>{this.#t=r})}async leave(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(e){this.#t(e)}};var Jt="[\\w\\-~@]+",cl=/^[\w\-~@.]{1,128}$/,dl=new RegExp(`^(?=.{1,256}$)${Jt}(\\.${Jt}){0,31}$`),ul=new RegExp(`^(?=.{\
1,256}$)((${Jt}\\*?|\\*)\\.){0,31}(${Jt}[*>#]?|[*>#])$`),hl=n=>cl.test(n),fl=n=>dl.test(n),pl=n=>ul.test(n),ml="~";function pt(n){
return wo("tenant",hl,n===""?ml:n)}function yo(n,e){return wo("channel",fl,n,e)}function bo(n,e){return wo("pattern",pl,
n,e)}function wo(n,e,t,o){if(typeof t!="string"||!e(t)){let r={...o===void 0?{}:{tenant:o},[n]:String(t).slice(0,256)};throw new _(
`bad_${n}`,"not a legal name, see docs/protocol.md, Names",r)}return t}var gl=1024,Ht=class{#e=new Map;#t=[];#n=!1;constructor(e={}){for(let[t,o]of Object.entries(e))o&&this.on(t,o)}on(e,t){if(typeof t!=
"function")throw new _("bad_option",`the handler of ${e} must be a function`);let o=i=>t(i),r=this.#e.get(e)??new Set;return this.#e.
set(e,r.add(o)),()=>{r.delete(o)}}emit(e,t){this.#t.push([e,t])>gl&&this.#t.shift(),this.#n||this.#o()}async#o(){this.#n=
!0,await null;for(let e=this.#t.shift();e;e=this.#t.shift())for(let t of[...this.#e.get(e[0])??[]])try{await t(e[1])}catch(o){
Ze(o)}this.#n=!1}};function Ze(n){queueMicrotask(()=>{throw n})}var Wt=(n,e)=>n===e||typeof n=="object"&&typeof e=="object"&&n.text===e.text,vo=n=>n.includes(":"),qt=class{members=new Map;counts=new Map;get(e){
return vo(e)?this.members.get(e):this.counts.get(e)??0}count({channel:e,members:t}){t>0?this.counts.set(e,t):this.counts.
delete(e)}put(e,t){let{channel:o,subject:r,here:i,since:a,info:l}=t,c=this.members.size;if(i){let d={channel:o,subject:r,
info:yl(l),since:new Date(a)};this.members.set(e,{member:d,text:`${a} ${l}`})}else this.members.delete(e);let u=(this.counts.
get(o)??0)+this.members.size-c;this.count({channel:o,members:u})}};function yl(n){try{return n?JSON.parse(n):void 0}catch{
return}}var zt=class{#e;#t=new WeakMap;#n=new qt;#o=new Map;#r;#s;constructor(e){this.#e=e}get members(){return this.#r??=
Object.freeze([...this.#n.members.values()].map(({member:e})=>e).sort((e,t)=>Cs(e.channel,t.channel)||Cs(e.subject,t.subject))),
this.#r}get counts(){return this.#s??=new Map([...this.#n.counts,...this.#o].filter(([,e])=>e>0)),this.#s}get(e){return this.#o.
get(e)??this.#n.get(e)}begin(e){this.#t.set(e,{roster:void 0,next:void 0})}end(e){this.#t.delete(e)}hasSynced(e){return this.#t.
get(e)?.roster!==void 0}take(e,t,o,r){let i=this.#t.get(e);if(!i)return;let{first:a,synced:l,counts:c,channels:u,members:d}=o;
if(c&&!r){if(e===t)for(let h of u)this.#c(h.channel,!0,()=>this.#i(h));return}a&&(i.next=new qt);let f=i.next??i.roster;
if(!f)return;let p=(h,m)=>{f===this.#n?this.#c(h,!1,m):m()};for(let h of u)p(h.channel,()=>f.count(h));for(let h of d){let{
channel:m,subject:w}=h,v=`${m}:${w}`;p(m,()=>p(v,()=>f.put(v,h))),f===this.#n&&f.get(m)===this.#o.get(m)&&this.#o.delete(
m)}l&&(i.roster=f,i.next=void 0,e===t&&(this.follow(e),this.#a()))}follow(e){let t=this.#t.get(e)?.roster,o=this.#n;if(!(!t||
t===o)){this.#n=t,this.#d();for(let{members:r,counts:i}of[o,t])for(let a of[...r.keys(),...i.keys()])!this.#o.has(a)&&!Wt(
o.get(a),t.get(a))&&this.#l(a,o.get(a),!1);this.#a()}}#i({channel:e,members:t}){t===this.#n.get(e)?this.#o.delete(e):this.#o.
set(e,t)}#a(){for(let e of[...this.#o.keys()])this.#c(e,!0,()=>this.#o.delete(e))}#c(e,t,o){let r=this.get(e);o(),this.#d(),
Wt(r,this.get(e))||this.#l(e,r,t)}#d(){this.#r=this.#s=void 0}#l(e,t,o){for(let r of this.#e)r.note(e,t,o)}},Cs=(n,e)=>n<
e?-1:n>e?1:0;var bl=Object.freeze([]),Gt=class{tenant;pattern;ended;verb="WHO";count;watch;#e;#t;#n=new Map;#o=[];#r=!1;#s=!1;#i=!1;#a=!1;#c;#d;constructor(e,t,o,{
count:r=!1,onChange:i}){this.tenant=e,this.pattern=t,this.count=r,this.#e=o,this.#t=i,this.ended=new Promise(a=>{this.#d=
a})}get members(){return this.count?bl:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#e.isSynced(this)}async close(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let e=!1;return{next:()=>{let t=e?void 0:this.#l();if(t)return Promise.resolve({done:!1,value:t});if(!e&&
!this.#a)return new Promise((r,i)=>{this.#o.push({resolve:r,reject:i})});let o=e?void 0:this.#c;return e=!0,o?Promise.reject(
o):Promise.resolve({done:e,value:void 0})},return:async()=>(e=!0,await this.close(),{done:e,value:void 0})}}#l(){for(let[
e,t]of this.#n){this.#n.delete(e);let o=this.watch.get(e);if(typeof o=="number")return{type:"counts",channel:e,count:o};
let{member:r}=o??t;return{type:o?t?"changed":"joined":"left",channel:r.channel,member:r}}}note(e,t,o){this.#s=!0,!(!this.#r||
!(vo(e)?!this.count:this.count||o))&&(this.#n.has(e)?Wt(this.#n.get(e),this.watch.get(e))&&this.#n.delete(e):this.#n.set(
e,t))}opened(){this.#r=this.#i=!0,this.#s=!1}update(){for(;this.#o.length>0;){let o=this.#l();if(!o)break;this.#o.shift()?.
resolve({done:!1,value:o})}let{synced:e}=this,t=this.#a&&!this.#c;if(this.#r&&!t&&(this.#s||e!==this.#i))try{this.#t?.(this)}catch(o){
Ze(o)}this.#s=!1,this.#i=e}end(e){if(!this.#a){this.#a=!0,this.#c=e,e||this.#n.clear(),this.update();for(let t of this.#o.
splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#d(e)}}};var wl=new TextDecoder("windows-1252");function Oe(n){return`${n.tenant}:${n.channel}:${wl.decode(n.payload)}`}var de=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){
for(;this.#t[this.#n]?.entry===void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.
flatMap(({entry:e})=>e??[])}put(e,t,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=
0);let r={entry:{key:e,time:t,message:o}};this.#t.push(r);let i=this.#o.get(e);return i?i.push(r):this.#o.set(e,[r]),this.
size++,this.#e+=e.length,this.size>65536||this.#e>16777216?this.drop():void 0}take(e){let t=this.#o.get(e),o=t?.shift();
return!t||!o?!1:(t.length===0&&this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;
return e&&this.take(e.key),e}dropUntil(e){let t=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&
t.push(o.message);return t}};var Ps=1e3,vl=1e4,et=class{#e=new de;#t=new de;#n=new de;#o=Ps;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,vl-Ps)}fromCurrent(e,t){let o=Oe(e);return this.#i(t),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromNext(e,t,o){if(this.late(e,t))return;if(o)return this.#n.put(Oe(e),
t),e;let r=this.#t.put(Oe(e),t,{...e});return r&&this.#n.put(r.key,t),r?.message}late(e,t){return this.#i(t),this.#e.size>
0&&this.#e.take(Oe(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new de;
for(let{key:e,time:t}of this.#t.all)this.#e.put(e,t)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new de;for(let{
key:t}of this.given)this.#e.put(t,e);this.#n=new de}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var Kt=250,Qt=2e3;async function mt(n,e,t,o,r){for(;n.merger&&!n.merger.done(x());)await Z(50,o);n.merger=new et,n.both=
!0;let i=r!==void 0;n.tentative=i;let{place:a}=n,l=!1,c=()=>{l||n.events.emit("moving",{...a,reason:t}),l=!0};i||c();let u=0;
for await(let d of n.searcher.order(e.edge,t!=="drain",o)){let f=r;if(r=void 0,!f){await n.pause(Math.max(ee(++u,n.settings),
n.searcher.wait(d)),o);try{f=await n.searcher.open(d,o)}catch(p){if(o.throwIfAborted(),!(p instanceof _)||n.searcher.hopeless(
d,p,!0))throw p;continue}}if(o.aborted)return void f.close();if(f.alive){n.next=f,n.merger.joined(x()),n.merger.release();
let p=n.restore(f);n.tentative&&f.ping(!0).catch(()=>{}),await p}if(n.tentative){if(o.throwIfAborted(),n.next!==f)return n.
keepCurrent();n.tentative=!1}if(f.alive){if(await _l(n,e,f,c,o),o.throwIfAborted(),n.current!==f){if(i)return n.keepCurrent();
continue}f.alive&&(c(),n.since=x(),n.events.emit("moved",{...n.place,reason:t}));return}}}async function _l(n,e,t,o,r){let i=()=>n.
next===t&&n.current===e;if(!i())return;n.gate??=[];let a=De(Qt,e.ping()).then(()=>{i()&&n.openGate(t)}),l=3;do await Z(Kt,
r);while(--l&&n.merger?.behind);await De(Qt,Promise.all([...n.subscriber.asking,...n.presences.asking]));for(let u=Qt;u>
0&&i()&&!n.presences.hasSynced(t);u-=Kt)await Z(Kt,r);for(;i()&&t.postponed.size>0;)await Z(Kt,r);if(!i())return;o(),n.leaving=
!0;let c=[...e.asked].map(u=>e.leave(u));await De(Qt,e.ended,Promise.allSettled([...c,e.ping(),e.confirmedAll()])),await a,
i()&&n.promote(),n.leaving=!1}var kl=1e4;async function As(n,e,t,o){let{lastByte:r}=e;n.reconnecting=!0,n.current=void 0,n.merger=void 0,n.both=n.leaving=
n.tentative=n.gaps=!1,n.openGate(void 0);for(let i of n.subscriber.interests.all)i.confirmed=!1;n.presences.follow(),n.events.
emit("disconnected",{...n.place,error:t}),t.code==="token_expired"&&e.token===n.tokens.token&&n.tokens.expire(),x()-n.since>
kl&&(n.attempts=0);for await(let i of n.searcher.order(e.edge,!1,o)){let a=++n.attempts,l=Math.max(ee(a,n.settings),n.searcher.
wait(i));n.events.emit("reconnecting",{attempt:a,delay:l}),await n.pause(l,o);try{let c=await n.searcher.open(i,o);if(o.
aborted)return void c.close();if(n.setCurrent(c),await n.restore(c),o.throwIfAborted(),!c.alive)continue;n.reconnecting=
!1,n.since=x();let u=!n.gaps&&n.subscriber.interests.all.every(d=>d.history);return n.events.emit("reconnected",{...n.place,
away:x()-r,complete:u})}catch(c){if(o.throwIfAborted(),!(c instanceof _)||n.searcher.hopeless(i,c,!1))throw c}}}var xl=4096,Vt=class{#e=new Map;#t=[];#n=0;#o;add(e,t){return this.note(t),new Promise((o,r)=>{this.#e.set(e,{resolve:o,
reject:r,size:t})})}note(e,t){e<=xl||e<this.#n||(this.#o=e>this.#n?t:this.#o??t,this.#n=e)}tooLarge(){for(let[e,{size:t}]of this.#e)
t===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,t=()=>{}){let o=this.#e.get(e);if(o&&t(o),
this.#e.delete(e),this.#e.size===0)for(let r of this.#t.splice(0))r()}error(e,t){let o=/^PUB:(\d+)$/.exec(t)?.[1];return o===
void 0?!1:(this.settle(Number(o),r=>r.reject(new _(e))),!0)}idle(){return this.#e.size===0?Promise.resolve():new Promise(
e=>{this.#t.push(e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,t=>t.reject(z()))}};async function Yt(n,e){try{let t=await fetch(n,{cache:"no-store",credentials:"omit",signal:e});return await t.arrayBuffer(),
t.ok}catch{return!1}}async function Ms(n,e){try{return await fetch(n,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:e}),!0}catch{return!1}}var Zt=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let t=e-this.#e;if(t<1)return!1;if(this.#e=
e,t>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),t>this.#o&&(this.#o=t),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.max(1e3,3*
Math.max(this.#o,this.#r))}};var tn=2e3,$s=1e3,en=new Set,_o,ko=0,xo=0;function Sl(n,e){return n>=$s+tn||e-n>=tn}function To(){let n=x()-ko,e=Date.now()-
xo;ko+=n,xo+=e,Sl(n,e)&&So("slept")}function Os(n){return en.add(n),_o??=Tl(),()=>{!en.delete(n)||en.size>0||(_o?.(),_o=
void 0)}}function So(n){for(let e of[...en])e[n]()}function Tl(){ko=x(),xo=Date.now();let n=setInterval(To,$s),e=globalThis,
{document:t,navigator:o}=e,r=()=>So("slept"),i=()=>{t?.visibilityState==="visible"&&r()},a=()=>So("networkChanged"),l=o?.
connection,c=l?.type,d=[[e,"online",a],[l,"change",()=>{l?.type!==c&&(c=l?.type,a())}],[e,"pageshow",r],[t,"resume",r],[
t,"visibilitychange",i]];for(let[f,p,h]of d)f?.addEventListener?.(p,h);return()=>{clearInterval(n);for(let[f,p,h]of d)f?.
removeEventListener?.(p,h)}}var nn=1e3,Eo=1e3,El=3,Cl=2**31-1,Co=50,on=class{heard=x();#e;#t;#n=new Zt(this.heard);#o=1+Math.random()/16;#r=!1;#s=!1;#i;#a=0;#c=0;#d=0;#l=-1/0;#u=-1/0;#h;#f;#m;#p=!1;constructor(e,t){
this.#e=e,this.#t=t}arrived(e){this.heard=e,this.#h=void 0,this.#f?.abort(),this.#f=void 0,((this.#s?this.#n.skip(e):this.#n.
arrived(e))||this.#r)&&(this.#r=!1,this.arm()),this.#s&&(this.#s=!1,this.#e.woke())}ponged(e,t){this.#r=t,this.#d=0;let o=Math.
min(e,2*this.#w);this.#i===void 0?(this.#i=o,this.#a=o/2):(this.#a+=(Math.abs(this.#i-o)-this.#a)/4,this.#i+=(o-this.#i)/
8),this.arm()}awake(e){let t=x();this.#g||(this.#d=0),!(this.#p||this.#d++>=El)&&(this.#c=t,this.#t.keepAlive>0&&!this.#g&&
(e||t-this.heard>=nn)&&this.#b(t),this.arm())}stop(){this.#p=!0,this.#f?.abort(),clearTimeout(this.#m)}get#g(){return this.#e.
unanswered??this.#h}get#w(){return Math.max(nn,(this.#i??0)+4*this.#a)}get askAt(){let{keepAlive:e}=this.#t;if(e<0)return 1/0;
let t=this.#r?e:Math.min(e,this.#n.unusual);return this.heard+t*this.#o}suspectAt({at:e,sendTime:t}){return Math.max(e,this.
heard,this.#c)+(this.#h?nn:this.#w)+t}lostAt({at:e,sendTime:t}){let{keepAlive:o,pongTimeout:r}=this.#t;if(o<0)return 1/0;
let i=Math.max(this.heard,this.#c);return Math.max(e+r,i+o+r)+t}arm(){clearTimeout(this.#m);let e=this.#g,t=e?Math.min(this.#s?
1/0:this.#y(e),this.lostAt(e),this.#l+Eo):this.askAt;if(this.#p||t===1/0)return;let o=x(),r=Math.max(t,o+1);this.#m=setTimeout(
()=>this.#v(r),Math.min(r-o,Cl))}#y(e){return Math.max(this.suspectAt(e),this.#u+Eo)}#v(e,t=!1){To();let o=x();if(o-e>=tn&&
this.awake(!1),this.#p)return;if(!t&&o-e>Co){clearTimeout(this.#m),this.#m=setTimeout(()=>this.#v(o+Co,!0),Co);return}let r=this.#g;
if(!r)o>=this.askAt&&this.#b(o);else{if(o>=this.lostAt(r))return this.#e.over();!this.#s&&o>=this.#y(r)&&this.#_(o),this.#p||
this.probe()}this.arm()}#_(e){this.#s=this.#e.silent(),this.#s||(this.#u=e)}#b(e){if(this.#e.pingFirst===void 0)return this.#e.
ask();this.#h={at:e,sendTime:0},this.#l=-1/0,this.probe()}probe(){let e=x();e-this.#l<Eo||(this.#l=e,this.#e.pingFirst!==
void 0&&(this.#s||this.#h)?this.#k(this.#e.pingFirst):this.#e.probe())}async#k(e){if(this.#f)return;let t=new AbortController;
this.#f=t;let o=setTimeout(()=>t.abort(),nn),r=await Ms(e,t.signal);clearTimeout(o),!(this.#p||this.#f!==t)&&(this.#f=void 0,
r?(this.#h=void 0,this.#e.unanswered?this.#e.probe():this.#e.ask()):this.#h&&(this.#h={at:-1/0,sendTime:0}),this.arm())}};var Is=(n,e,t)=>e<t&&n[e]===5;function Rs(n,e,t){let o=new DataView(n.buffer,n.byteOffset,t),r=e+1,i=f=>(r+=f,r>t&&ve(),
r-f),a=()=>o.getUint8(i(1)),l=()=>o.getUint16(i(2)),c=f=>ke(n.subarray(i(f),r)),u=a(),d={first:(u&1)!==0,synced:(u&2)!==
0,counts:(u&4)!==0,tenant:c(l()),pattern:c(l()),members:[],channels:[]};for(let f=l();f>0;f--)if(d.counts)d.channels.push(
{channel:c(l()),members:o.getUint32(i(4))});else{let p=a();p>1&&ve();let h={channel:c(l()),subject:c(a()),here:p===1,since:0,
info:""};h.here&&(h.since=Number(o.getBigUint64(i(8))),h.info=c(l())),d.members.push(h)}return r!==t&&ve(),d}var rn=class{#e=new Map;add(e,t){let o=this.#e.get(e);o?o.push(t):this.#e.set(e,[t])}answer(e,t){let o=this.#e.get(e),r=o?.
shift();return r?(o?.length===0&&this.#e.delete(e),t(r),!0):!1}reject(e){let t=[...this.#e.values()].flat();this.#e.clear();
for(let o of t)o.reject(e)}};var Pl=1.024,Al=32,sn=class{edge;transport;token;begun=x();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#e;#t;#n;#o=new Lt;#r=new rn;#s=new Vt;#i;#a=[];#c=new Set;#d=0;#l=!1;#u=!0;#h=!0;#f;constructor(e,t,o,r,i){
this.edge=e,this.transport=t.transport,this.token=o,this.#e=t,this.#t=r;let a=this;this.#n=new on({get unanswered(){return a.#a[0]},
pingFirst:t.fragile?e+i.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>t.probe(),silent:()=>this.#t.silent(
this),woke:()=>this.#t.woke(this),over:()=>this.fail(new _("timeout","the edge does not answer"))},i),this.featured=new Promise(
c=>{this.#i=c});let l;this.ended=new Promise(c=>{l=c}),t.start({bytes:()=>{this.alive&&this.#n.arrived(x())},line:c=>this.#_(
()=>this.#w(c)),frame:(c,u,d)=>{if(!this.alive||(this.#n.arrived(x()),fo(c,u,d)))return;if(Is(c,u,d))return this.#g(c,u,
d);let f;try{f=this.#o.decode(c,u,d)}catch(p){return this.#b(p)}this.#t.delivered(this,f)},ended:c=>{l(),this.#k(c)}}),this.#l=
!0,this.alive&&this.#p(`FEATURES:link${i.sender?",sender":""}`),this.alive&&this.#n.arm()}get lastByte(){return this.#n.
heard}request(e,t,o=""){e==="SUB"&&this.asked.add(t);let r=`${e}:${t}`,i=this.#m(r);return this.alive&&this.#p(r+o),i}resume(e,t){
let o=this.#m(`RSUB:${e}`);return this.alive&&this.#p(`RSUB:${e}:${t}`),o}leave(e,t="UNSUB"){let o=`${t}:${e}`,i=this.request(
t,e).catch(()=>{}).then(()=>{this.ending.get(o)===i&&this.ending.delete(o)});return this.ending.set(o,i),i}confirm(e,t){
if(!this.alive)return Promise.reject(z());let o=this.#s.add(t,e.length);return this.#p(e),o}forgetConfirm(e){this.#s.settle(
e)}confirmedAll(){return this.#s.idle()}postpone(e,t){this.postponed.add(e);let o=`AGAIN:${e}`,r=setTimeout(()=>this.#r.
answer(o,i=>i.resolve()),t);return this.#m(o).finally(()=>clearTimeout(r))}#m(e){return new Promise((t,o)=>{this.alive?this.#r.
add(e,{resolve:t,reject:o}):o(z())})}forget(e){return this.confirmed.delete(e),this.postponed.delete(e),this.#r.answer(`\
AGAIN:${e}`,t=>t.reject(z())),this.asked.delete(e)}ping(e=!1){return new Promise((t,o)=>{if(!this.alive)return o(z());this.#a.
push({at:x(),sendTime:this.#d/Pl,own:e,resolve:t,reject:o}),this.#e.send("PING"),this.#d=0,this.#n.probe(),this.#a.length===
1&&this.#n.arm()})}publish(e,t){this.#s.note(e.length,t),this.#p(e);let o=this.#e.sent();return o&&new Promise(r=>{let i=()=>{
this.#c.delete(i),r()};this.#c.add(i),o.then(i,i)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=e,this.#n.stop(),this.#r.
reject(z()),this.#s.fail();for(let t of this.#a)t.reject(z());for(let t of this.#c)t()}#p(e){this.#d+=e.length+Al,this.#e.
send(e)}close(){return this.alive&&(this.#x(z()),this.#e.close()),this.ended}#g(e,t,o){let r;try{r=Rs(e,t,o)}catch(i){return this.#b(
i)}this.#t.presence(this,r)}#w(e){this.#n.arrived(x());let t=gs(e);if(t)if(t.kind==="OK"){let o=`${t.tenant}:${t.pattern}`;
if(this.#r.answer(`${t.verb}:${o}`,r=>r.resolve())&&t.verb==="SUB"&&(this.confirmed.add(o),this.postponed.delete(o)),t.verb===
"UNSUB")for(;this.#r.answer(`RSUB:${o}`,r=>r.reject(z())););}else if(t.kind==="OK:PUB")this.#s.settle(t.id,o=>o.resolve(
t.position));else if(t.kind==="OK:RSUB"||t.kind==="AT"||t.kind==="GAP")this.#t.reached(this,t),t.kind==="OK:RSUB"&&this.#r.
answer(`RSUB:${t.tenant}:${t.pattern}`,o=>o.resolve());else if(t.kind==="ERR")this.#v(t.code,t.detail,e.slice(4));else if(t.
kind==="PING")this.#e.send("PONG");else if(t.kind==="PONG"){let o=this.#a.shift();if(!o)return;let r=x()-o.at;o.resolve(
r),this.#n.ponged(r,o.own),this.#t.roundTrip(r)}else t.kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#t.draining(
this)):t.kind==="FEATURES"?this.#y(t.features.split(",")):t.kind==="LINK"&&(this.#h=t.up,this.#u||this.#y())}#y(e=this.features??
[]){this.#u=!1,this.features=e,this.#i(),this.link=this.#h,this.#t.linked()}#v(e,t,o){if(this.#u&&e==="bad_request")return this.#y();
let r=Ye(o);if(r&&(this.#f=o),this.#s.error(e,t))return;let[,i,a,l]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.
exec(t)??[];!(a!==void 0&&l!==void 0&&e!=="broker_unavailable"&&this.#r.answer(t,u=>u.reject(new _(e,void 0,i?{tenant:a,
channel:l}:{tenant:a,pattern:l}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.test(e)&&this.#t.errorLine(this,e,t),
(e==="token_revoked"||e==="token_expired")&&this.fail(r)}#_(e){if(this.alive)try{e()}catch(t){this.#b(t)}}#b(e){this.fail(
se(e,"protocol","the edge broke the protocol"))}fail(e){this.#x(e),this.#e.close(),this.#l&&this.#t.lost(this,e)}#k({closeCode:e,
error:t}){if(!this.alive)return;let o=this.#f===void 0?void 0:Ye(this.#f,e),r=e===4401?"token_expired":e===4403?"token_r\
evoked":"disconnected",i=o?.code!=="slow_consumer"||e===4429,a="the connection has ended";if(e===1009){a="a message was \
too large for the edge";let c=this.#s.tooLarge();c&&this.#t.errorLine(this,"payload_too_large",`PUB:${c.tenant}:${c.channel}`)}
let l=o&&i?o:t??new _(r,a,{closeCode:e});this.#x(l),this.#l&&this.#t.lost(this,l)}#x(e){this.alive=!1,this.error=e,this.#n.
stop();let t=z(e);this.#i(),this.#r.reject(t),this.#s.fail();for(let o of this.#a)o.reject(t);this.#a=[]}};var tt=class{#e;#t=[];start(e){let t=this.#t;this.#t=[],this.#e=e;for(let o of t)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(t=>t.line(e))}frame(e,t,o){this.#e?this.#e.frame(e,t,o):this.#t.push(r=>r.frame(e,t,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(t=>t.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var nt=globalThis,an=nt.process?.versions,Ml=nt.Deno!==void 0||an?.bun!==void 0||an?.node!==void 0,Ns=an?.node!==void 0&&
an.bun===void 0&&nt.Deno===void 0&&nt.document===void 0,Ds=!Ml&&(nt.document!==void 0||nt.WorkerGlobalScope!==void 0);var Po=32<<20,Fs=(n,e,t)=>t>e&&n[e]<32,ln=class{#e;#t=[];#n=0;constructor(e=Po){this.#e=e}get held(){return this.#n}push(e,t){
let o=0;if(!(this.#n>0&&(o=this.#o(e,t),this.#n>0))){for(;e.length-o>=4;){let r=o+4+this.#i(e,o);if(r>e.length)break;t(e,
o+4,r),o=r}o<e.length&&this.#r(e.slice(o))}}#o(e,t){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let r=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(r,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,t(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),t=0;for(let o of this.#t)e.set(o,t),t+=o.length;return this.#t=[
e],e}#i(e,t){let o=e[t]*16777216+(e[t+1]<<16|e[t+2]<<8|e[t+3]);if(o>this.#e)throw new _("protocol","a message that is to\
o long");return o}};var js=1<<20,$l=1e3;async function Xs({edge:n,token:e,signal:t},{paths:o}){let r=n.replace("http","ws")+o.webSocket,{promise:i,
resolve:a,reject:l}=Nl(),c=await Ol("ws");t.throwIfAborted();let u,d=c?new c(r,{headers:{Authorization:`Bearer ${e}`},perMessageDeflate:!1,
maxPayload:Po}):new WebSocket(r,["llps.v1",`at.${e}`]);c||(d.binaryType="arraybuffer");let f=()=>d.terminate?d.terminate():
d.close(),p=()=>{l(t.reason),f()};t.addEventListener("abort",p);let h=new tt,m=!1,w,v;d.on?.("unexpected-response",(g,S)=>{
u=Il(S).finally(()=>g.destroy()),u.then(l)});let b;d.on?.("upgrade",g=>{b=g.socket}),d.onerror=({error:g})=>{w=g},d.onopen=
()=>{m=!0,b?.prependListener("data",()=>h.bytes()),t.removeEventListener("abort",p),a({transport:"websocket",fragile:!1,
start:g=>h.start(g),send:g=>m&&d.send(g),sent:()=>m&&d.bufferedAmount>js?k():void 0,probe(){},close(){d.close(1e3),v??=setTimeout(
()=>{f(),h.ended({})},$l)}})},d.onclose=({code:g})=>{clearTimeout(v),m?(m=!1,h.ended({closeCode:g})):u||Rl(n+o.ping,c!==
void 0,t,w).then(l,l),t.removeEventListener("abort",p)},d.onmessage=({data:g})=>{typeof g=="string"?h.line(g):g instanceof
ArrayBuffer?h.frame(new Uint8Array(g),0,g.byteLength):h.frame(new Uint8Array(g.buffer,g.byteOffset,g.length),0,g.length)};
async function k(){for(;m&&d.bufferedAmount>js;)await new Promise(g=>setTimeout(g,5))}return i}async function Ol(n){if(Ns)
try{let{WebSocket:e}=await import(n);return e}catch(e){if("WebSocket"in globalThis)return;throw new _("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:e})}}async function Il(n){let e=n.statusCode,t=Number(n.headers["re\
try-after"]),o={status:e,retryAfter:t>0?t*1e3:void 0},r="";try{let i=new TextDecoder;for await(let c of n)if(r+=i.decode(
c,{stream:!0}),r.length>65536)break;let{code:a,detail:l}=JSON.parse(r);if(a==="unauthorized")return new _(a,"the edge do\
es not accept the token",o);if(typeof a=="string")return new _(a,l,o)}catch{}return fs(e,o.retryAfter)}async function Rl(n,e,t,o){
return!e&&await Yt(n,t)?new _("refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's \
origin"):new _("unreachable","no WebSocket to the edge",{cause:o})}function Nl(){let n,e;return{promise:new Promise((o,r)=>{
n=o,e=r}),resolve:n,reject:e}}var Ls=1e3,Dl=43,Fl=2e3,Us=()=>"WebTransport"in globalThis;async function Bs(n,{paths:e,hashes:t}){let{signal:o}=n,r=[],
i,a=()=>{clearTimeout(i),r.forEach(cn)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let f=()=>{let p=new WebTransport(
n.edge+e.webTransport,t?{serverCertificateHashes:[...t]}:{});r.push(p),p.closed.catch(()=>{}),p.ready.then(()=>u(p),d)};
f(),i=setTimeout(f,Fl)});for(let u of r)u!==l&&cn(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:Ye(
`${d}`)}),()=>({}));return await jl(l,c,n.token)}catch(l){throw a(),o.throwIfAborted(),se(l,"unreachable","no WebTranspo\
rt to the edge")}finally{clearTimeout(i),o.removeEventListener("abort",a)}}async function jl(n,e,t){let o=await n.createBidirectionalStream(),
r=new tt,i=new Ao(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=Xl(n);i.send(`AUTH:${t}`);let d=new ln,f=(m,w,v)=>{
if(Fs(m,w,v))return r.frame(m,w,v);let b=ke(m.subarray(w,v));if(c)return r.line(b);let k=lo(b);k.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:Ds,start:g=>r.start(g),send:g=>i.send(g),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>cn(
n))}}:k.kind==="ERR"&&(l??=Ye(b.slice(4))??new _(k.code))},p=async()=>{let{value:m,done:w}=await a.read();return m&&(r.bytes(),
d.push(m,f)),!w},h;for(;!c;)if(!await p().catch(w=>{if(w instanceof _)throw w;return!1}))throw l??Ll(await e);return(async()=>{
try{for(;await p(););}catch(v){v instanceof _&&(h=v)}i.close();let m={error:h},w=e.then(v=>m=v);h||await De(Ls,w),cn(n),
r.ended(m)})(),c}function Xl(n){let e,t=!1,o=async()=>{let{writable:r,createWritable:i}=n.datagrams;e??=(r??i?.call(n.datagrams))?.
getWriter(),await e?.write(new Uint8Array(Dl))};return()=>{t||(t=!0,o().catch(()=>{}).finally(()=>{t=!1}))}}function Ll({
closeCode:n,error:e}){let t=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return e??new _(
t,"the connection has ended",{closeCode:n})}function cn(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var Ao=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let t=typeof e=="string"?je(e):e,o=t.length,r=this.#n+
4+o;if(r>this.#t.length){let i=new Uint8Array(Math.max(r,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(t,this.#n+4),this.#n=r,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await De(Ls,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var Ul=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,Mo=n=>Us()&&n.startsWith(
"https:"),dn=class{#e;#t=new Map;#n=new Set;constructor(e){this.#e=e}forget(){this.#n.clear()}prefer(e,t){this.#t.set(e,
t)}async open(e,t,o,r={}){let i=this.#e,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=r,c=a.filter(f=>f===
"websocket"||Mo(e));c.length===0&&F("there is no WebTransport here, or not for http:// addresses");let u=c.filter(f=>!this.#n.
has(f));if(u.length===0)throw new _("protocol_not_allowed");this.#t.get(e)===u[1]&&u.reverse();let d=await Fe(o,i.connectTimeout,
f=>this.#o(u,e,t,l,f));return this.#t.set(e,d.transport),d}#o(e,t,o,r,i){return new Promise((a,l)=>{let c,u=0,d=0,f,p=!1,
h=()=>{p=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let w=e[d++];if(!w||p)return;let v=w==="websocket"?Xs:Bs;u++,v({edge:t,
token:o,signal:i},this.#e).then(b=>{if(p)return Bl(b);h(),a(b)},b=>{u--;let k=se(b,"unreachable","the edge does not answ\
er");if(k.code==="protocol_not_allowed"&&this.#n.add(w),(!f||gt(k)>gt(f))&&(f=k),!Ul.test(k.code)&&(u>0||d<e.length))return m();
h(),l(f)}),d<e.length&&(c=setTimeout(m,r))};i.addEventListener("abort",()=>{h(),l(i.reason)}),m()})}};function Bl(n){n.start(
{bytes(){},line(){},frame(){},ended(){}}),n.close()}function gt({code:n}){return["unreachable","timeout","refused","prot\
ocol_not_allowed"].indexOf(n)>>>0}var Js=3,Jl=500;async function $o(n,e,t){let o,r=await Promise.all(n.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await Fe(t,e.connectTimeout,l=>Hl(a,l))}catch(l){return o=l,[]}})),i=[...new Set(r.flat())];if(t.throwIfAborted(),
i.length===0)throw o??new _("unreachable","the list has no edge");return i.length>1&&(await Fe(t,e.connectTimeout,a=>Wl(
i,e.paths.ping,a)).catch(()=>{}),t.throwIfAborted()),i}async function Hl(n,e){try{let t=await fetch(n,{cache:"no-store",
credentials:"omit",signal:e});if(!t.ok)throw new _("unreachable",`the list of edges: HTTP status ${t.status}`,{status:t.
status});let{edges:o}=await t.json();return o.map(({host:r})=>jt(`https://${r}`,!1).origin)}catch(t){throw se(t,"unreach\
able","the list of edges")}}async function Wl(n,e,t){let o=new Map,r=async u=>{let d=[];for(;d.length<Js;){let f=x();if(!await Yt(
u+e,t))return;d.push(x()-f)}d.sort((f,p)=>f-p),o.set(u,d[Js>>1])},i=n.map(r),l=Promise.any(i.map((u,d)=>u.then(()=>o.get(
n[d])??Promise.reject()))).then(()=>Z(Jl,t));await Promise.race([Promise.all(i),l.catch(()=>Promise.all(i))]);let c=u=>o.
get(u)??Number.MAX_VALUE;n.sort((u,d)=>c(u)-c(d))}var Hs=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,ql=/^(unauthorized|token_expired|region_not|protocol_not)/,
zl=5,Gl=6e4,Kl=12e4,un=class{#e;#t;#n;#o;#r;#s=[];#i=new Map;#a;#c=0;#d=0;#l=new Map;drained=new Set;constructor(e,t,o,r){
this.#e=e,this.#t=t,this.#n=o,this.#o=r,this.#r=new dn(t)}async first(e){await ye(this.#n.get(),e),this.#s=await $o(this.#e,
this.#t,e);let t;for(let o of this.#s)try{return await this.open(o,e)}catch(r){if(!(r instanceof _)||Hs.test(r.code)||r.
code==="token_provider")throw r;(!t||gt(r)>gt(t))&&(t=r)}throw t}async*order(e,t,o){for(;;){let r=this.#s.filter(a=>a!==
e),i=t?[e,...r]:r.length<this.#s.length?[...r,e]:r;for(let a of i)i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.
some(a=>a.pathname!=="/"))try{this.#s=await $o(this.#e,this.#t,o)}catch{o.throwIfAborted()}}}wait(e){return Math.max(0,(this.#l.
get(e)??0)-x())}async open(e,t,o){let r=await this.#n.get();try{return await this.#u(e,r,t,o)}catch(i){if(!(i instanceof
_&&/^(unauthorized|token_expired|refused)$/.test(i.code))||!this.#n.provided)throw i;let l=await this.#n.ask();if(l===r)
throw i;return this.#u(e,l,t,o)}}async#u(e,t,o,r){t!==this.#a&&(this.#a=t,this.#i.clear(),this.#r.forget());let i=await this.#r.
open(e,t,o,r).catch(l=>{let{retryAfter:c=0}=l;throw this.#l.set(e,x()+Math.min(c,this.#t.maxBackOff)),l});this.drained.delete(
e),this.#l.delete(e);let a=new sn(e,i,t,this.#o,this.#t);if(a.error)throw a.error;return this.#c=0,this.#i.clear(),a}noteSilent({
edge:e,transport:t,begun:o},r=!1){t!=="webtransport"||!r&&x()-o>=Kl||this.#r.prefer(e,r?t:"websocket")}hopeless(e,t,o){let{
code:r}=t;if(r==="unreachable"&&this.drained.delete(e),r!=="refused")this.#c=0;else{if(o||this.drained.has(e))return!1;this.#c++===
0&&(this.#d=x())}return Hs.test(r)||this.#c>=zl&&x()-this.#d>=Gl?!0:ql.test(r)?(this.#i.set(e,t),this.#s.every(i=>this.#i.
has(i))):!1}};var Ws=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,zs=n=>n.verb==="WHO"&&n.count,Oo=({holders:n,waiting:e})=>n.
length>e.size,hn=class{asking=new Set;#e=new Map;#t;constructor(e){this.#t=e}get#n(){return[this.#t.current,this.#t.next].
filter(e=>e!==void 0)}async add(e){let{current:t,leaving:o,over:r}=this.#t;if(r)throw r;let i=Ws(e),a=this.#e.get(i)??Ql(
e,i);if(a.counting&&!zs(e))throw new _("bad_option","the client counts the members of this pattern, and can only do that",
a.about);this.#e.set(i,a),a.holders.push(e),e.verb==="WHO"&&(e.watch=a.watch);let l=new Promise((c,u)=>{a.waiting.set(e,
{resolve:c,reject:u})});this.#l(a);for(let c of this.#n)!a.on.has(c)&&!(o&&c===t)&&this.#s(c,a);return l}async restore(e){
await Promise.all([...this.#e.values()].map(t=>this.#s(e,t)))}hasSynced(e){return[...this.#e.values()].every(({watch:t,on:o})=>!t||
!o.has(e)||t.hasSynced(e))}isSynced(e){let{current:t}=this.#t;return t?.alive===!0&&e.watch.hasSynced(t)}take(e,t){let o=this.#e.
get(`WHO:${t.tenant}:${t.pattern}`);o?.watch?.take(e,this.#t.current,t,o.counting),o&&this.#l(o)}follow(){let{current:e}=this.#t;
for(let t of this.#e.values())e&&t.watch?.follow(e),this.#l(t)}ended(e,t,o){let r=this.#e.get(o);!r||t!=="no_presence"||
(this.#c(e,r),this.#l(r))}async leave(e){let t=this.#e.get(Ws(e)),o=t?.holders.indexOf(e)??-1;if(!t||o<0||(t.holders.splice(
o,1),t.holders.length>0))return;let r=this.#r(t);await(this.#t.suspected&&r.length>0?Promise.race(r):Promise.all(r))}leaveAll(){
for(let e of this.#e.values())e.verb==="JOIN"&&this.#o(e)}end(e,t){for(let{key:o,holders:r,waiting:i}of this.#e.values()){
this.#e.delete(o);for(let a of r)a.end(e);for(let{reject:a}of i.values())a(e??t)}}#o({key:e,name:t,undo:o,on:r,watch:i}){
return this.#n.flatMap(a=>{let l=r.get(a);return r.delete(a),i?.end(a),a.forget(e),l===void 0||l==="wanted"?[]:a.leave(t,
o)})}#r(e){return this.#e.delete(e.key),this.#o(e)}#s(e,t){t.on.set(e,"wanted");let o=this.#i(e,t).finally(()=>this.asking.
delete(o));return this.asking.add(o),o}async#i(e,t){let{verb:o,name:r,key:i,about:a,on:l,counting:c}=t,u=()=>this.#e.get(
i)===t,{settings:d,events:f}=this.#t;try{await e.featured,await e.ending.get(`${t.undo}:${r}`);for(let p=2;;p++){if(!e.alive||
!u())return;if(!e.features?.includes("presence"))throw new _("no_presence","the edge has none",a);l.set(e,"sent"),t.watch?.
begin(e);try{await e.request(o,r,c?":count":"");break}catch(h){let{code:m}=h;if(m!=="try_later"||!Oo(t))throw h;p===2&&f.
emit("subscriptionError",{...qs(t),code:m})}if(!u())return;l.set(e,"wanted"),await e.postpone(i,ee(p,d))}if(!u())return;
e.postponed.delete(i),l.set(e,"held"),this.#l(t)}catch(p){let h=se(p,"internal","a fault of this client");h.code!=="disc\
onnected"&&u()&&this.#a(e,t,h)}}#a(e,t,o){let{holders:r,waiting:i,on:a,key:l}=t,{suspected:c,next:u,current:d}=this.#t,{
code:f}=o;if(f==="no_presence"&&Oo(t)){for(let[p,{reject:h}]of i)r.splice(r.indexOf(p),1),h(o);i.clear(),this.#c(e,t),this.#t.
events.emit("edgeError",{code:f,detail:l})}else c&&e===u&&d&&a.get(d)==="held"?e.fail(o):this.#d(t,o)}#c(e,{on:t,watch:o}){
t.delete(e),o?.end(e)}#d(e,t){this.#r(e),Oo(e)&&this.#t.events.emit("subscriptionError",{...qs(e),code:t.code});for(let o of e.
holders)o.end(t);for(let{reject:o}of e.waiting.values())o(t)}#l(e){let{holders:t,waiting:o,on:r}=e;for(let i of[...t])(i.
verb==="WHO"?this.isSynced(i):this.#n.some(l=>r.get(l)==="held"))&&o.has(i)?(o.get(i)?.resolve(),o.delete(i),i.verb==="W\
HO"&&i.opened()):i.verb==="WHO"&&i.update()}};function Ql(n,e){let{verb:t,tenant:o}=n,r=[];return{verb:t,undo:t==="WHO"?
"UNWHO":"LEAVE",name:e.slice(t.length+1),key:e,about:t==="WHO"?{tenant:o,pattern:n.pattern}:{tenant:o,channel:n.channel},
holders:r,waiting:new Map,on:new WeakMap,watch:t==="WHO"?new zt(r):void 0,counting:zs(n)}}var qs=({about:n})=>({pattern:"",
...n});var Vl=new TextDecoder,ot=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(e,t,o,r,i,a,l,c=""){
this.tenant=e,this.channel=t,this.payload=o,this.pattern=r,this.patterns=i,this.late=a,this.position=l,this.sender=c}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Vl.decode(this.payload)}json(){
return JSON.parse(this.text())}};var fn=class{#e=new Map;#t=0;get all(){return[...this.#e.values()]}add(e){let{tenant:t,pattern:o}=e,r=`${t}:${o}`,i=this.#e.
get(r),{history:a}=e,l=i??{name:r,tenant:t,pattern:o,subs:[],confirmed:!1,waiting:[],history:a};return l.subs.push(e),this.#e.
set(r,l),this.#t++,{interest:l,isNew:!i}}of(e,t){return this.#e.get(`${e}:${t}`)}has(e){return this.#e.get(e.name)===e}remove(e){
let t=this.#e.get(`${e.tenant}:${e.pattern}`),o=t?.subs.indexOf(e)??-1;if(!(!t||o<0))return t.subs.splice(o,1),t.subs.length===
0&&this.drop(t)?t:void 0}drop(e){return this.#t++,this.#e.get(e.name)===e&&this.#e.delete(e.name)}dispatch(e,t=!1){let{tenant:o,
channel:r,payload:i,route:a,sender:l}=e,c=a.note?.tenant===o&&a.note.version===this.#t?a.note:this.#n(o,a);for(let{pattern:u,
subs:d,history:f}of c.interests){if(f&&!f.plain)continue;let p=new ot(o,r,i,u,a.patterns,t,void 0,l);if(d.length===1)d[0].
push(p);else for(let h of[...d])h.push(p)}}#n(e,t){let o=t.patterns.map(r=>this.#e.get(`${e}:${r}`)).filter(r=>r!==void 0);
return t.note={tenant:e,version:this.#t,interests:o},t.note}};var pn=class{interests=new fn;asking=new Set;#e;constructor(e){this.#e=e}async restore(e){let t=this.interests.all;t.some(
r=>r.history)&&await e.featured;let o=e===this.#e.current?t:t.filter(r=>!r.history);await Promise.all(o.map(r=>this.ask(
e,r)))}async resume(e){await Promise.all(this.interests.all.filter(({history:t})=>t).map(t=>this.ask(e,t)))}stored(e,t,o){
let{tenant:r,channel:i,payload:a,route:l,sender:c}=t,{patterns:u}=l,d=u[0],f=this.interests.of(r,d),{history:p}=f??{};if(!f||
!p?.takes(e,o))return;p.from=o,f.subs[0]?.pushStored(new ot(r,i,a,d,u,!1,o,c))===!1&&this.interests.has(f)&&(p.pause(),e.
leave(f.name)),this.#o(f)}reached(e,t){let{kind:o,tenant:r,pattern:i,position:a}=t,l=this.interests.of(r,i),{history:c}=l??
{};if(!(!l||c?.on!==e||!c.open||c.plain)){if(o==="GAP"||c.takes(e,a)){c.from=a;for(let u of l.subs)u.reach(a)}o==="GAP"?
(c.told=!0,this.#t(r,i,a)):o==="OK:RSUB"&&(this.#o(l),t.how==="gap"&&!c.told?this.#t(r,i,a):c.lossy&&this.#t(r,i))}}#t(e,t,o){
this.#e.gaps=!0,this.#e.events.emit("gap",{tenant:e,pattern:t,before:o})}wasRead(e){let t=this.interests.of(e.tenant,e.pattern),
{current:o}=this.#e;!t?.history||t.history!==e.history||(t.history.paused=!1,o&&this.ask(o,t))}ask(e,t){let o=this.#n(e,
t).finally(()=>this.asking.delete(o));return this.asking.add(o),o}async#n(e,t){try{t.history?await this.#r(e,t,t.history):
(await this.#s(e,t),this.#o(t))}catch(o){let r=se(o,"internal","a fault of this client");if(r.code==="disconnected")return;
if(t.confirmed&&this.#e.suspected&&e===this.#e.next)return e.fail(r);this.#i(t,r)}}#o(e){e.confirmed=!0;for(let{resolve:t}of e.
waiting.splice(0))t()}async#r(e,t,o){let{name:r,tenant:i,pattern:a}=t;if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===
e)){o.begin(e);for(let l=2;;){if(await e.featured,await e.ending.get(`UNSUB:${r}`),!e.alive||o.on!==e||!this.interests.has(
t))return;let c=!e.features?.includes("history")||o.unwanted,u=o.forbidden?"now":o.from,d=Io(t);o.lossy=c?d||u!=="now":o.
forbidden||d&&u==="now",o.plain=c,o.open=!0,c&&(o.from="now");try{if(!c)return await e.resume(r,u);if(await e.request("S\
UB",r),!this.interests.has(t))return;this.#o(t),o.lossy&&this.#t(i,a);return}catch(f){let p=f;if(p.code==="history_unava\
ilable")return this.#e.gaps=!0,this.#e.events.emit("edgeError",{code:p.code,detail:`RSUB:${r}`});if(o.open=!1,p.code==="\
permission_denied"&&!c&&u!=="now")o.forbidden=!0;else if(p.code==="no_history"&&d)o.unwanted=!0;else if(p.code==="try_la\
ter"&&d)l===2&&this.#e.events.emit("subscriptionError",{tenant:i,pattern:a,code:p.code}),await e.postpone(r,ee(l++,this.#e.
settings)),e.postponed.delete(r);else throw p}}}}async#s(e,t){let{name:o,tenant:r,pattern:i}=t;for(let a=2;;a++){try{return await e.
request("SUB",o)}catch(l){let c=l;if(c.code!=="try_later"||!Io(t))throw c;a===2&&this.#e.events.emit("subscriptionError",
{tenant:r,pattern:i,code:c.code})}await e.postpone(o,ee(a,this.#e.settings))}}#i(e,t){if(!this.interests.drop(e))return;
let{tenant:o,pattern:r,subs:i,waiting:a}=e;for(let l of[this.#e.current,this.#e.next])l?.forget(e.name)&&l.leave(e.name);
Io(e)&&this.#e.events.emit("subscriptionError",{tenant:o,pattern:r,code:t.code});for(let l of i)l.end(t);for(let{reject:l}of a.
splice(0))l(t)}async subscribe(e){let{tenant:t,pattern:o}=e,r;for(;;){if(this.#e.over)throw this.#e.over;r=this.interests.
of(t,o);let c=d=>d?.ending.get(`UNSUB:${t}:${o}`),u=c(this.#e.current)??c(this.#e.next);if(r||!u)break;await u}if(r&&(r.
history||e.history)){let c="the client has a subscription to this pattern, and one with a history is alone";throw new _(
"bad_option",c,r)}let{interest:i,isNew:a}=this.interests.add(e);if(i.confirmed)return;let l=new Promise((c,u)=>{i.waiting.
push({resolve:c,reject:u})});return a&&(this.#e.current&&!this.#e.leaving&&this.ask(this.#e.current,i),this.#e.next&&!i.
history&&this.ask(this.#e.next,i)),l}async leave(e){let t=this.interests.remove(e);if(!t)return;for(let{resolve:l}of t.waiting.
splice(0))l();let{name:o,history:r}=t,a=[this.#e.current,this.#e.next].filter(l=>l?.forget(o)||l&&r?.on===l).map(l=>l.leave(
o));await(this.#e.suspected&&a.length>0?Promise.race(a):Promise.all(a))}queueFull({tenant:e,pattern:t},o){this.#e.events.
emit("queueFull",{tenant:e,pattern:t,dropped:o})}end(e,t){for(let o of this.interests.all){this.interests.drop(o);for(let r of o.
subs)r.end(e);for(let{reject:r}of o.waiting.splice(0))r(e??t)}}};function Io({subs:n,waiting:e}){return n.length>e.length}var Ro=1e3,mn=class{#e=new de;#t=new de;#n=new de;constructor(e,t,o){for(let{key:r}of e)this.#e.put(r,t);if(o){for(let{key:r,
time:i,message:a}of o.#t.all)this.#t.put(r,i,a);for(let{key:r,time:i}of o.#n.all)this.#n.put(r,i)}}fromCurrent(e,t){let o=Oe(
e);return this.#n.dropUntil(t-Ro),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromTrail(e,t){let o=Oe(e);if(this.#e.
take(o))return;let r=this.#t.put(o,t,{...e});return r&&this.#n.put(r.key,r.time),r?.message}renew(e){for(let t of this.#t.
all)t.time=e}due(e){return this.#t.dropUntil(e-Ro)}get nextDue(){let e=this.#t.oldest;return e&&e.time+Ro}};var Gs=15e3,Yl=6e4,gn=class{#e;late;#t;#n;#o=!0;#r=!1;#s=x();#i;#a;constructor(e,t,o,r,i){this.#e=e,this.late=new mn(t,x(),
i?.late),this.#t=o,this.#n=r,this.#i=setTimeout(()=>this.#c(),Gs),i?.stop(),e.handTo(this),e.alive?this.#l():this.#d()}fromCurrent(e){
return this.late.fromCurrent(e,x())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(x()),this.#l())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#c(){let e=Math.
min(this.#e.lastByte+Gs,this.#s+Yl)-x();e>0?this.#i=setTimeout(()=>this.#c(),e):this.#d()}#d(){this.#o&&(this.stop(),this.#l())}#l(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let t of this.late.due(x()))this.#t(t);this.#l()},Math.max(1,e-x()))}delivered(e,t){if(t.position!==void 0)return;
let o=this.late.nextDue===void 0,r=this.late.fromTrail(t,x());r&&this.#t(r),o&&this.#l()}woke(e){for(let o of e.asked)e.
request("UNSUB",o).catch(()=>{});let t=()=>this.#d();e.ping().then(t,t)}lost(){this.#d()}silent(){return!1}reached(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var yn=class{settings;events;subscriber=new pn(this);presences=new hn(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e){this.settings=Ss(e),this.
events=new Ht(e.on)}setCurrent(e){this.current=e,this.place={edge:e.edge,transport:e.transport},this.presences.follow(),
this.linked(),this.#o()}#o(){for(let e of this.#n.splice(0))e()}changed(){return new Promise(e=>{this.#n.push(e)})}linked(){
let{link:e,edge:t}=this.current??{};!this.since||!t||e===void 0||e===this.#e||(this.#e=e,this.events.emit(e?"linkUp":"li\
nkDown",{edge:t}))}reached(e,t){this.subscriber.reached(e,t)}presence(e,t){this.presences.take(e,t)}async restore(e){await Promise.
all([this.subscriber.restore(e),this.presences.restore(e)])}delivered(e,t){if(t.position!==void 0)return this.subscriber.
stored(e,t,t.position);if(!this.merger)return this.#r(t);let o=x();if(e===this.next){let r=this.current?.confirmed,i=!t.
route.patterns.some(l=>r?.has(`${t.tenant}:${l}`)),a=this.merger.fromNext(t,o,i);a&&this.#r(a)}else this.both?this.merger.
fromCurrent(t,o)&&this.#r(t):(this.merger.late(t,o)||this.#r(t),this.merger?.done(o)&&(this.merger=void 0))}#r(e){(!this.
trail||this.trail.fromCurrent(e))&&this.subscriber.interests.dispatch(e)}promote(){let{current:e,next:t}=this;t&&(this.setCurrent(
t),this.next=void 0,this.merger?.left(x()),this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),e?.close(),this.
subscriber.resume(t))}takeOver(e,t){this.trail?.hold(!1);let o=new gn(e,this.merger?.given??[],i=>this.subscriber.interests.
dispatch(i,!0),()=>{this.trail===o&&(this.trail=void 0)},this.trail);this.trail=o;let r=x()-e.lastByte;this.suspected=this.
next=void 0,this.merger?.left(x()),this.both=this.tentative=!1,this.setCurrent(t),this.since=x(),this.events.emit("recov\
ered",{...this.place,away:r}),this.giveHeld(),this.openGate(void 0),this.subscriber.resume(t)}keepCurrent(){this.suspected=
void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(x()),this.both=this.tentative=!1}giveHeld(){for(let e of this.
merger?.release()??[])this.#r(e)}pause(e,t){return Z(e,t,this.#t)}get waits(){return this.#t.size>0}hurry(){for(let e of[
...this.#t])e()}openGate(e){this.publishOn=e;let t=this.gate??[];this.gate=void 0;for(let o of t)o();this.over&&this.#o()}publishConnection(){
if(this.over)throw this.over;let e=this.publishOn??this.current;if(!e?.alive)throw z();return e}};var Zl=500;async function Ks(n,e,t){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(x());)await Z(
50,t);n.merger=new et,n.both=n.tentative=!0;let o=0;for await(let r of n.searcher.order(e.edge,!1,t)){await n.pause(Math.
max(ee(++o,n.settings),n.searcher.wait(r)),t);let i;try{i=await n.searcher.open(r,t,{fallbackAfter:Zl})}catch(l){if(t.throwIfAborted(),
l instanceof _)continue;throw l}if(t.aborted)return void i.close();if(!i.alive)continue;n.next=i,n.merger.joined(x());let a=n.
restore(i);if(i.ping(!0).catch(()=>{}),await a,t.throwIfAborted(),n.next===i)return n.takeOver(e,i)}}function Qs(n){if(typeof n=="number")return n;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!e){let i='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new _("bad_option",i)}let[t=0,o=0,r=0]=e.
slice(1).map(i=>Number(i??0));return(t*60+o)*60+r}var No=2**31-1,Vs=1e3;function ec(n,e){return n===1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-e*n/10)}var bn=class{#e;#t;#n;#o=new AbortController;#r;#s=x;#i=1/0;#a;#c=!1;#d;#l=-1/0;#u;#h=0;constructor(e,t,o){
this.#e=e,this.#r=e.token,this.#t=t,this.#n=o}get token(){return this.#r}get provided(){return this.#e.tokenProvider!==void 0}get(){
return this.#r!==void 0&&this.#s()<this.#i?Promise.resolve(this.#r):this.ask()}ask(){return this.#a??=this.#f().finally(
()=>{this.#a=void 0,this.#c=!1}),this.#a}async renew(){this.#a&&this.#c&&(this.#d??=this.#a.catch(()=>{}).then(()=>(this.#d=
void 0,this.ask()))),await(this.#d??this.ask()),this.#t()}async#f(){clearTimeout(this.#u);let{tokenProvider:e,connectTimeout:t,
minBackOff:o}=this.#e,{signal:r}=this.#o;try{let i=this.#l+Vs-x();i>0&&await Z(i,r),this.#c=!0;let l=await Fe(r,t,c=>ye(
Promise.resolve(e?.()),c)).finally(()=>{this.#l=x()});return this.#m(typeof l=="object"?l:{token:l}),this.#r}catch(i){this.#i>
0&&this.#i<1/0&&this.#p(Math.max(o,ee(++this.#h+1,this.#e)));let l=i?.name==="LoggedOutError"?new _("logged_out","the to\
ken provider says that there will be no token",{cause:i}):new _("token_provider","the token provider gave no token",{cause:i});
throw this.#r!==void 0&&!r.aborted&&this.#n(l),l}}#m({token:e,expiresAt:t,expiresIn:o}){let r=o===void 0?1/0:Qs(o)*1e3;r>
0||F("expiresIn must be more than 0");let i=t===void 0||o!==void 0?1/0:new Date(t).getTime();Number.isNaN(i)&&F("expires\
At is no time"),this.#r=go(e),this.#s=r<1/0?x:Date.now,this.#i=r<1/0?x()+r:i>Date.now()?i:1/0,this.#h=0,this.#p(Math.max(
Vs,ec(this.#i-this.#s(),Math.random())))}#p(e){this.#o.signal.aborted||!(e<1/0)||(this.#u=setTimeout(()=>{if(e>No)return this.#p(
e-No);let t=this.#r;this.ask().then(o=>o!==t&&this.#t(),()=>{})},Math.min(Math.max(e,0),No)))}expire(){this.provided&&(this.#i=
-1)}stop(){this.#o.abort(),clearTimeout(this.#u)}};var Do=6e4,tc=60*Do,nc=2*Do,oc=1e4,rc=2e3;function Ys(n,e){return Math.min((4+2*e)*Do*2**n,tc)}var wn=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},nc)):
!this.#n&&this.#s(e)&&this.#i(Ys(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
rc,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:t}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&Mo(t)}#i(e,t=!0){
clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(t)},e)}async#a(e){let t=this.#e,{current:o}=t;if(!o||!t.idle||this.#r)
return this.#i(oc,e);if(!this.#s(o)){this.#n=void 0;return}let r=this.#t+Number(e);this.#i(Ys(r,Math.random()));let i=new AbortController;
this.#r=i;let a=await t.searcher.open(o.edge,i.signal,{transports:["webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=
void 0),i.signal.aborted||(this.#t=r),a&&!i.signal.aborted&&t.current===o&&t.idle?t.run(l=>mt(t,o,"transport",l,a)):(a?.
close(),t.moveIfDue())}};var sc=3e3,vn=class extends yn{tokens;searcher;closed;#e;#t=new wn(this);#n;#o;constructor(e,t){super(t),this.tokens=new bn(
this.settings,()=>this.moveIfDue(),o=>this.#r(o)),this.searcher=new un(e,this.settings,this.tokens,this),this.closed=new Promise(
o=>{this.#o=o})}#r(e){let{code:t,cause:o}=e;t!=="logged_out"?this.events.emit("edgeError",{code:t,detail:"the token prov\
ider gave no token",cause:o}):this.since&&this.finish(e)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||
F("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(e){throw this.over&&e.code!==
"logged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){try{let t=await this.
searcher.first(e);if(this.setCurrent(t),e.throwIfAborted(),t.error)throw t.error;this.since=x(),this.#n=Os(this),this.#t.
follow(t),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(t){throw this.tokens.stop(),this.
current?.close(),t}}setCurrent(e){super.setCurrent(e),this.since&&this.#t.follow(e)}moveIfDue(){let{current:e}=this;this.#e||
this.over||!e?.alive||(e.drains?this.run(t=>mt(this,e,"drain",t)):e.token!==this.tokens.token&&this.run(t=>mt(this,e,"to\
ken",t)))}get idle(){let{current:e,merger:t}=this;return!this.#e&&!this.over&&e?.alive===!0&&!e.drains&&(!t||t.done(x()))}run(e){
this.#e?.abort();let t=new AbortController;this.#e=t,e(t.signal).then(()=>{this.#e===t&&(this.#e=void 0,this.current?.alive&&
this.moveIfDue())},o=>{this.#e===t&&this.finish(se(o,"internal","a fault of this client"))})}draining(e){this.searcher.drained.
add(e.edge),e===this.current&&this.moveIfDue()}errorLine(e,t,o){this.presences.ended(e,t,o);let[,r,i]=/^PUB:([^:]+):(.+)$/s.
exec(o)??[];t==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(o)}):t==="egress_limited"?this.events.emit(
"egressLimited",{delay:Number(o)*1e3}):r&&i&&t!=="broker_unavailable"?this.events.emit("publishError",{tenant:r,channel:i,
code:t}):this.events.emit("edgeError",{code:t,detail:o})}roundTrip(e){this.rtt=e,this.events.emit("roundTrip",{rtt:e})}silent(e){
let{current:t}=this;return e===this.next&&this.tentative&&x()-e.lastByte>=sc&&e.fail(new _("timeout","the edge does not \
answer")),e!==t||this.#e||this.gate||this.over||this.reconnecting||!this.since||t.drains?!1:(this.suspected=e,this.trail?.
hold(!0),this.searcher.noteSilent(e),this.run(o=>Ks(this,e,o)),!0)}woke(e){e===this.suspected&&(this.searcher.noteSilent(
e,!0),this.#e?.abort(),this.#e=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",
{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}lost(e,t){let o=e.token===this.tokens.token,r=/_not_allowed$|^token_revoked$/.
test(t.code)||t.code==="token_expired"&&!this.tokens.provided,i=e===this.next&&this.suspected!==void 0;if(r&&o&&!i)return this.
finish(t);t.closeCode===void 0&&/^(disconnected|timeout)$/.test(t.code)&&this.searcher.noteSilent(e),e===this.next&&!this.
leaving?(this.next=void 0,i?this.merger?.orphan():this.openGate(void 0)):e===this.current&&!this.suspected&&(this.gate||
this.publishOn)?this.promote():(e===this.current||e===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),e===this.current&&
(this.next?.close(),this.next=void 0,this.giveHeld()),this.promote(),this.reconnecting||this.run(a=>As(this,e,t,a)))}slept(){
for(let e of[this.current,this.next])e?.awake(!1);this.hurry()}networkChanged(){for(let e of[this.current,this.next])e?.
awake(!0);this.hurry(),this.#t.soon()}finish(e){if(this.over)return;this.over=new _("closed","the client has been closed",
e?{cause:e}:{}),this.#e?.abort(),this.tokens.stop(),this.#t.stop(),this.#n?.(),e||this.presences.leaveAll();let t=[this.
current?.close(),this.next?.close(),this.trail?.stop()];this.openGate(void 0),e&&(this.giveHeld(),this.trail?.flush()),this.
subscriber.end(e,this.over),this.presences.end(e,this.over),this.events.emit("closed",{error:e}),Promise.all(t).then(()=>this.#o(
e))}};var _n=class{#e;#t=new Array(16);#n=0;#o=0;constructor(e){this.#e=e}get size(){return this.#o}get full(){return this.#o>=
this.#e}push(e){let t=this.#t;this.#o===t.length&&(this.#t=[...t.slice(this.#n),...t.slice(0,this.#n),...new Array(t.length)],
this.#n=0),this.#t[this.#n+this.#o++&this.#t.length-1]=e}shift(){if(this.#o===0)return;let e=this.#t[this.#n];return this.#t[this.#n]=
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}clear(){this.#t=new Array(16),this.#n=this.#o=0}};var ic=1e3,kn=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];#r=!1;#s;#i;#a=0;#c=-1/0;#d;#l;#u;constructor(e,t,o,r){this.
tenant=e,this.pattern=t,this.#e=o,this.#t=r,this.#n=new _n(r.queue);let{from:i}=r;this.history=i===void 0?void 0:new Ut(
i),i?.includes(".")&&!i.startsWith("last")&&(this.#l=this.#u=i),this.ended=new Promise(a=>{this.#i=a})}get position(){return this.#n.
size===0?this.#l:this.#u}async unsubscribe(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncIterator](){if(this.#t.
onMessage)throw new _("bad_option","a subscription with a callback cannot be iterated");let e=!1;return{next:()=>{if(e)return Promise.
resolve({done:e,value:void 0});let t=this.#n.shift();return t?(this.#u=t.position??this.#u,this.history?.paused&&this.#n.
size*2<=this.#t.queue&&this.#e.wasRead(this),Promise.resolve({done:!1,value:t})):this.#r?(e=!0,this.#s?Promise.reject(this.#s):
Promise.resolve({done:e,value:void 0})):new Promise((o,r)=>{this.#o.push({resolve:o,reject:r})})},return:async()=>(e=!0,
await this.unsubscribe(),{done:e,value:void 0})}}#h(e){let{onMessage:t}=this.#t;if(t){try{let r=t(e);r instanceof Promise&&
r.catch(Ze)}catch(r){Ze(r)}return!0}let o=this.#o.shift();return o?.resolve({done:!1,value:e}),o!==void 0}pushStored(e){
if(this.#r)return!0;let t=this.#h(e);return!t&&this.#n.full?(this.#f(),!0):(this.#l=e.position,t?this.#u=e.position:this.#n.
push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){this.#l=e}#f(){this.end(new _("queue_full","messages were n\
ot read in time",this)),this.#e.leave(this)}push(e){if(this.#r||this.#h(e))return;let{queuePolicy:t}=this.#t;if(!this.#n.
full)return this.#n.push(e);if(t==="end")return this.#f();t==="drop-oldest"&&(this.#n.shift(),this.#n.push(e)),this.#a++,
this.#d??=setTimeout(()=>this.#m(),Math.max(0,this.#c+ic-x()))}#m(){clearTimeout(this.#d),this.#d=void 0,this.#c=x(),this.#a>
0&&this.#e.queueFull(this,this.#a),this.#a=0}end(e){if(!this.#r){this.#r=!0,this.#s=e,e||this.#n.clear(),this.#m();for(let t of this.#o.
splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#i(e)}}};async function Fo(n,e){let t=typeof n=="string"?[n]:n;(!e||!t?.length)&&F("connect needs an address and options");let o=new vn(
t.map(i=>jt(i,e.allowPlaintext===!0)),e),{signal:r=new AbortController().signal}=e;return r.throwIfAborted(),await ye(o.
start(r),r),new xn(o)}var xn=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get edge(){return this.#e.place.
edge}get transport(){return this.#e.place.transport}get rtt(){return this.#e.rtt}on(e,t){return this.#e.events.on(e,t)}async subscribe(e,t,o={}){
let r=this.#e;Xe("the object of options",o,"onMessage history queue queuePolicy");let{onMessage:i}=o;i&&typeof i!="funct\
ion"&&F("onMessage must be a function");let a=new kn(pt(e),bo(t),r.subscriber,{...mo(o,r.settings),onMessage:i,from:Es(o.
history,t)});return await r.subscriber.subscribe(a),a}async publish(e,t,o,r){let i=this.#e;r!==void 0&&Xe("the object of\
 options",r,"delivery confirm key");let{delivery:a="broadcast",confirm:l=!1,key:c}=r??{},u=uo.indexOf(a);u<0&&F(`deliver\
y: allowed are ${uo.join(", ")}`),typeof o!="string"&&o?.[Symbol.toStringTag]!=="Uint8Array"&&F("the payload must be a U\
int8Array or a string");let d={tenant:pt(e),channel:yo(t)};if(l){let p=je(c??"");return c!==void 0&&!(p.length>0&&p.length<=
64)&&F("a key has 1 to 64 bytes"),ps(i,m=>ho(d.tenant,d.channel,o,u,{id:m,key:p}),c!==void 0,d)}c!==void 0&&F("a key is \
for a publish that is confirmed");let f=ho(d.tenant,d.channel,o,u||void 0);return i.publishConnection(),i.gate?new Promise(
(p,h)=>{i.gate?.push(()=>{try{p(i.publishConnection().publish(f,d))}catch(m){h(m)}})}):i.publishConnection().publish(f,d)}async join(e,t){
let{presences:o}=this.#e,r=pt(e),i=new Bt(r,yo(t,r),o);return await o.add(i),i}async presence(e,t,o={}){let{presences:r}=this.#e;
Xe("the object of options",o,"count onChange");let{count:i=!1,onChange:a}=o;typeof i!="boolean"&&F("count must be true o\
r false"),a&&typeof a!="function"&&F("onChange must be a function");let l=pt(e),c=new Gt(l,bo(t,l),r,o);return await r.add(
c),c}async flush(){let e=this.#e;e.publishConnection(),e.gate&&await new Promise(t=>e.gate?.push(t)),await e.publishConnection().
ping()}renewToken(){return this.#e.renewToken()}retry(){this.#e.retry()}async close(){this.#e.finish(void 0),await this.
closed}[Symbol.asyncDispose](){return this.close()}};var Zs=500,ac=250;function ti(n,e){let[t,o]=y({state:"off",note:""}),[r,i]=y(!1),[,a]=y(0),l=V(void 0),c=V({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=ae(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=ae(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:ts(b.payload),late:b.late}),c.messages.length>Zs&&c.messages.splice(0,c.messages.length-Zs),c.timer===0&&(c.timer=
window.setTimeout(u,ac))},[c,u]),f=ae(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);$(()=>()=>{clearTimeout(c.timer),f()},[c,f]),$(()=>(addEventListener("pagehide",f),()=>removeEventListener(
"pagehide",f)),[f]);let p=ae(async b=>{f();let k={query:b,end:new AbortController};l.current=k;let g=()=>l.current===k,S=D=>{
g()&&o(D)};S({state:"connecting",note:""});try{let D=await ei(n,b,!1),Q=await Fo(e,{transports:["websocket","webtranspor\
t"],tokenProvider:async()=>{let{token:xe,expires_at:ie}=D??await ei(n,b,!0);return D=void 0,{token:xe,expiresAt:ie}},signal:k.
end.signal});if(!g())return void Q.close();k.client=Q,lc(Q,S),await Q.subscribe(b.tenant,b.pattern,{onMessage:d}),S({state:"\
on",note:ni(Q)})}catch(D){if(!g())return;f(),o({state:"off",error:`The tail did not start. ${Sn(D)}`,note:""})}},[n,e,d,
f]),h=ae(async(b,k,g)=>{let S=l.current;if(!S?.client)throw new Error("there is no connection; start the tail first");try{
await S.client.publish(S.query.tenant,b,k,{delivery:g}),await S.client.flush()}catch(D){throw new Error(Sn(D))}},[]),m=()=>{
c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},w=()=>{c.paused=!c.paused,i(c.paused),u()},v=l.current?.query.
publish===!0;return{...t,error:t.error,messages:c.shown,received:c.received,held:c.held,paused:r,publishes:v,start:p,stop:f,
pause:w,clear:m,publish:h}}var ni=n=>`by ${n.transport==="websocket"?"WebSocket":"WebTransport"} at ${n.edge}`,ei=(n,e,t)=>n.
call("POST","live-token",{body:e,background:t});function lc(n,e){let t=(r="")=>e({state:"on",note:`${ni(n)}${r}`}),o=r=>e(
{state:"broken",note:r});n.on("disconnected",({error:r})=>o(`The connection is lost: ${Sn(r)} Messages of this time are \
missed.`)),n.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),n.on("recovered",()=>t()),n.on(
"reconnected",({away:r})=>t(`, after ${(r/1e3).toFixed(1)} s without a connection`)),n.on("moved",()=>t()),n.on("slowCon\
sumer",({dropped:r})=>t(`; the edge dropped ${r} messages, since this page reads too slowly`)),n.on("egressLimited",()=>t(
"; messages come late, since there are more than the tail may receive")),n.on("linkDown",()=>t("; the edge has lost the \
other edges, and nothing comes from there")),n.on("linkUp",()=>t()),n.on("publishError",({channel:r,code:i})=>t(`; the e\
dge refused the message to ${r}: ${i}`)),n.on("subscriptionError",({code:r})=>o(`The edge refuses the subscription: ${r}\
.`)),n.on("edgeError",({code:r,detail:i})=>t(`; ${r} ${i}`)),n.on("closed",({error:r})=>{r&&e({state:"off",error:`The ta\
il has ended. ${Sn(r)}`,note:""})})}var cc={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no lega\
l name of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"Th\
e edge does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its\
 token was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function Sn(n){return n instanceof _?n.cause instanceof H?W(n.cause):`${cc[n.code]??
W(n)} (${n.code})`:W(n)}var dc=[["text","text"],["json","JSON"],["hex","hex"]],uc={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function oi({query:n}){let{api:e,session:t}=P(),o=B(),[r,i]=y(n.tenant??
""),[a,l]=y(n.pattern??"#"),[c,u]=y(!1),[d,f]=y("text"),[p,h]=y(),m=ti(e,t.live_url||location.origin),[w,v]=uc[m.state],
b=m.state!=="off",k=()=>{if(!Me(r))return h("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return h(
"Name a pattern; # is every channel.");h(void 0),history.replaceState(null,"",I("live",{tenant:r,pattern:a})),m.start({tenant:r,
pattern:a,publish:c&&o})};return s(E,{children:[s(re,{text:"Live"}),s("p",{class:"quiet",children:"Shows messages as the\
y come. Each use is noted by the audit hook."}),s("form",{class:"filters","aria-label":"Live messages",onSubmit:g=>{g.preventDefault(),
b||k()},children:[s(T,{label:"Tenant",value:r,onInput:g=>i(g.trim()),mono:!0,readOnly:b}),s(T,{label:"Pattern",value:a,onInput:g=>l(
g.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&s(we,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),s("div",{class:"buttons",children:[b?s("button",{type:"button",onClick:m.
stop,children:"Stop"}):s("button",{type:"submit",class:"primary",children:"Start"}),b&&s("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),s(Pe,{text:p??m.error}),s("p",{role:"status",
"aria-label":"Connection",children:[s(N,{mood:w,children:v})," ",m.note]}),b&&m.publishes&&s(us,{tail:m}),s("section",{"\
aria-labelledby":"messages",children:[s("div",{class:"card-head",children:[s("h2",{id:"messages",children:"Messages"}),s(
"span",{class:"quiet",children:[R(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${R(m.held,"message")} since the pause not shown`:""]}),s(q,{label:"Payload as",value:d,
onInput:g=>f(g),options:dc}),s("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?s(J,{
children:s("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):s(ds,{messages:m.messages,format:d})]})]})}function ri(n){let e=[],t=(o,r)=>{r!==void 0&&e.push(`	${o} ${r}`)};t("name",Tn(n.name)),n.description&&t("description",
Tn(n.description)),n.tenant_prefix&&t("tenant_prefix",n.tenant_prefix),n.allow_ip_masks?.length&&t("allow_ip_masks",n.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])n[o]&&t(o,String(n[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function Tn(n){if(/^[\w.@~:/+-]+$/.test(n))return n;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(n))return/["\\]/.test(n)?n.includes("`")?void 0:`\`${n}\``:`"${n}"`}var si="Revoke the access tokens that it issued",ii="Their connections end at once. Otherwise they stay valid until they\
 expire.",ai=n=>`master-tokens/${encodeURIComponent(n.id)}`;function li({master:n,onClose:e,onDone:t}){let{api:o}=P(),[r,
i]=y(!1);return s(ce,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>t(await o.call("POST",
`${ai(n)}/rotate`,{body:{revoke_tokens:r}})),children:[s("p",{children:[s(C,{text:n.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),s(we,{label:si,checked:r,onChange:i,hint:ii})]})}function ci({master:n,
onClose:e,onDone:t}){let{api:o}=P(),[r,i]=y(!1),[a,l]=y("");return s(ce,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==n.name&&a!==n.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",ai(n),{body:{revoke_tokens:r}});t(`${n.name} was deleted.${r?` ${R(
u,"access token")} revoked with it.`:""}`)},children:[s("p",{children:[s(C,{text:n.name})," stops working at once, for g\
ood. Its id is ",s(A,{text:n.id}),"."]}),s(we,{label:si,checked:r,onChange:i,hint:ii}),s(T,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function di({made:n,rotated:e,onClose:t}){let o=[n.name,n.description??
""].some(r=>r!==""&&Tn(r)===void 0);return s(At,{title:e?"The new secret":"The master token",label:"Master token",secret:n.
token,onClose:t,children:[s("p",{children:["It is the ",e?"new ":"","secret of ",s(C,{text:n.name}),".",e&&n.revoked_tokens?
` ${R(n.revoked_tokens,"access token")} that it issued revoked.`:""]}),s(Mt,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${n.token}`,copy:"Copy the environment line"}),s("details",{children:[s("summary",{children:"For a Caddyfile"}),
s("p",{children:["Only to keep it in the configuration in place of the store, in the block ",s("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",s("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&s("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),s(Mt,{label:"Lines for a Caddyfile",text:ri(n),copy:"C\
opy the Caddyfile lines"})]})]})}function jo({master:n,onClose:e,onCreated:t,onSaved:o}){let{api:r}=P(),i=Y(),[a]=y(()=>Lr(n)),[l,c]=y(a),u=no(l),d=h=>m=>c(
w=>({...w,[h]:m})),f=ht(l.prefix);return s(me,{title:n?"Edit the master token":"New master token",onClose:e,children:s(le,
{action:i,submit:n?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!Ur(l))throw new Error("correct the fields that are marked");if(!n)return t(await r.call("POST","m\
aster-tokens",{body:It(l)}));let h=Br(a,l);Object.keys(h).length>0&&await r.call("PATCH",`master-tokens/${encodeURIComponent(
n.id)}`,{body:h}),o(l.name)},onCancel:e,children:[s(T,{label:"Name",value:l.name,onInput:d("name"),count:{now:Ce(l.name),
most:eo,unit:"characters"},autoFocus:!0}),s(T,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Ce(l.description),most:to,unit:"characters"}}),s(T,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:f===""?"The app's namespace. Empty: every tenant of the overlay.":f===void 0?void 0:`Stored as ${f} \
– for tenants such as ${f}room`}),s(T,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),s("fieldset",{children:[s("legend",{children:"\
Quotas"}),s("p",{class:"help",children:"Left empty, the default of the edge applies."}),s("div",{class:"row",children:[s(
T,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),s(T,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),s(T,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var En=25,hc=3e4;function ui(){let{api:n,notify:e}=P(),t=B(),[o,r]=y(),i=pe("masters",hc,u=>n.get("master-tokens",u)),a=()=>r(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{r({what:"secret",made:u,rotated:d}),i.refresh()};return s(E,{children:[s(re,
{text:"Master tokens",children:t&&s("button",{type:"button",class:"primary",onClick:()=>r({what:"new"}),children:"New ma\
ster token"})}),s("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),s(he,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&s(K,{what:"the master tokens"}),i.data&&s(fc,{masters:i.
data.master_tokens??[],onOpen:r}),o?.what==="new"&&s(jo,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&s(jo,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&s(li,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&s(ci,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&s(di,{made:o.made,rotated:o.rotated,onClose:a})]})}function fc({masters:n,onOpen:e}){let t=B(),[o,r]=y(""),[i,
a]=y(1);if(n.length===0)return s(J,{children:[s("p",{children:"There is no master token yet."}),s("p",{children:t?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=n.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/En)));return s(E,{children:[n.
length>8&&s("div",{class:"filters",children:[s(T,{label:"Find",value:o,onInput:r,hint:"By name, prefix or id."}),s("p",{
class:"quiet",role:"status",children:[c.length," of ",R(n.length,"master token")]})]}),s("div",{class:"cards",children:c.
slice((u-1)*En,u*En).map(d=>s(pc,{master:d,onOpen:e},d.id))}),c.length===0&&s(J,{children:"None has this in its name, pr\
efix or id. Type less of it."}),s(Ae,{page:u,more:u*En<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function pc({
master:n,onOpen:e}){let t=B(),{name:o}=n;return s("article",{class:"card","aria-label":`Master token ${o}`,children:[s("\
div",{class:"card-head",children:[s("h2",{children:s(C,{text:o,most:64})}),n.static&&s(N,{children:"in the Caddyfile"})]}),
n.description&&s("p",{children:s(C,{text:n.description,most:200})}),s(fe,{of:[["Tenant prefix",n.tenant_prefix?s(A,{text:n.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",s(mc,{masks:n.allow_ip_masks??[]},"masks")],["Quotas",gc(
n),"wide"],!n.static&&["Made",s(L,{at:n.created_at},"made")],["Id",s(A,{text:n.id},"id"),"wide"]]}),n.static?s("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):t&&s("div",{class:"butto\
ns",children:[s("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:n}),children:"Edit"}),
s("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:n}),children:"Rotate"}),s("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:n}),children:"Delete"})]})]})}function mc({
masks:n}){return n.length===0?s(E,{children:"none: every address"}):s("span",{class:"list",children:[n.slice(0,8).map(e=>s(
A,{text:e},e)),n.length>8&&s("span",{children:["and ",n.length-8," more"]})]})}function gc(n){let e=[n.max_tokens&&R(n.max_tokens,
"access token"),n.max_bytes&&`${U(n.max_bytes)} in the store`,n.calls_per_second&&`${M(n.calls_per_second)} calls a seco\
nd`].filter(t=>t);return e.length===0?"the edge's defaults":e.join(", ")}function hi(n,e,t=180){let o=n.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),r=new Array(t).fill(null);if(o.length===
0)return r;let i=yc(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),f=u[e];for(let p=t-1;p>=0;p--){let h=f[f.length-1-d-(t-1-p)];if(h===void 0)
break;r[p]=(r[p]??0)+h}}return r}function yc(n){let e=[...n].sort((t,o)=>t-o);return e[Math.floor(e.length/2)]??0}function Xo(n){
return n?.[n.length-1]??0}function fi(n){let e=n.filter(o=>o!==null),t=e[e.length-1];if(t!==void 0)return{min:Math.min(...e),
now:t,max:Math.max(...e)}}function Lo(n){let e=new Map;for(let t of n)for(let[o,r]of Object.entries(t??{}))e.set(o,(e.get(
o)??0)+r);return[...e].sort((t,o)=>o[1]-t[1]||t[0].localeCompare(o[0]))}var Uo=40;function bc(n,e){let t="",o=!1;for(let[r,i]of n.entries()){if(i===null){o=!1;continue}let a=Uo-i/e*(Uo-2)-1;t+=
`${o?"L":"M"}${r} ${a.toFixed(1)}`,o=!0}return t}function pi({label:n,series:e,format:t}){let o=fi(e);if(!o)return s("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let r=bc(e,o.max||1),i=`min ${t(o.min)}, now ${t(
o.now)}, max ${t(o.max)}`;return s("figure",{class:"chart",children:[s("svg",{viewBox:`0 0 ${e.length-1} ${Uo}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${n}, the last 15 minutes: ${i}`,children:s("path",{d:r,class:"line"})}),s("figcaption",{
"aria-hidden":"true",children:i})]})}function gi(){let{api:n}=P(),{data:e,error:t}=pe("overview",5e3,r=>n.get("overview",r)),o=e?.edges??[];return s(E,{children:[
s(re,{text:"Overview"}),s(he,{error:t,known:e!==void 0}),e?s(wc,{edges:o}):!t&&s(K,{what:"the figures"})]})}function wc({
edges:n}){let e=n.filter(c=>c.answered&&c.status),t=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),r=c=>Lo(e.
map(u=>u.recent?.[c]??void 0)),i=Lo(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(yi);
return s(E,{children:[s(Qe,{edges:n,missing:["The figures leave it out.","The figures leave them out."]}),s("div",{class:"\
tiles",children:[s(Jo,{title:"Connections",value:M(l),chart:{samples:t,figure:"connections",format:M},note:s(E,{children:[
i.map(([c,u])=>s("span",{children:[Ke(c)," ",M(u)]},c)),a>0&&s("span",{children:["of ",M(a)," at most"]})]})}),s(Pn,{title:"\
Messages a second",figure:"messages_in",samples:t,note:"published by clients"}),s(Pn,{title:"Deliveries a second",figure:"\
deliveries",samples:t,note:"to subscribers"}),s(Pn,{title:"Drops a second",figure:"dropped",samples:t,note:"deliveries t\
hat were dropped"}),s(Pn,{title:"Refusals a second",figure:"refused",samples:t,note:"ERR lines to clients"}),s(Jo,{title:"\
Memory",value:U(o(c=>c.status?.memory_bytes??0)),chart:{samples:t,figure:"memory_bytes",format:U},note:s("span",{children:e.
length===1?"of the process":`of ${R(e.length,"process","processes")}`})}),s(mi,{title:"Token store",edges:e,state:c=>s(ct,
{status:c.status})}),s(mi,{title:"Broker",edges:e,state:c=>s(dt,{status:c.status})})]}),s("div",{class:"columns",children:[
s(An,{title:"Dropped deliveries",counts:r("dropped"),none:"None was dropped."}),s(An,{title:"Refusals by code",counts:r(
"refused"),none:"Nothing was refused."}),s(An,{title:"Refused handshakes",counts:r("handshakes_refused"),none:"No client\
 was turned away."}),s(An,{title:"Slow clients disconnected",counts:r("slow_disconnects"),none:"No client was too slow."})]}),
s("section",{"aria-labelledby":"by-edge",children:[s("h2",{id:"by-edge",children:"By edge"}),n.length===0?s(J,{children:s(
"p",{children:"No edge is known yet. This one appears within seconds."})}):s(be,{label:"Figures by edge",columns:vc,rows:n,
keyOf:c=>c.id})]})]})}var Bo=3;function mi(n){let{title:e,edges:t,state:o}=n;return s("section",{class:"card tile","aria\
-label":e,children:[s("h2",{children:e}),t.slice(0,Bo).map(r=>s("div",{class:"state-line",children:[t.length>1&&s("p",{class:"\
quiet",children:s(C,{text:r.name,most:40})}),o(r)]},r.id)),t.length>Bo&&s("p",{class:"quiet",children:["and ",t.length-Bo,
" more, see below"]})]})}var yi=n=>Object.values(n.status?.connections??{}).reduce((e,t)=>e+t,0);function Cn(n,e){return n.
answered&&n.samples?Et(Xo(n.samples[e])):"–"}var vc=[{label:"Edge",cell:n=>s(E,{children:[s(C,{text:n.name})," ",s(Pt,
{edge:n}),!n.answered&&s(N,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:n=>n.status?M(yi(n)):
"–"},{label:"Messages/s",number:!0,cell:n=>Cn(n,"messages_in")},{label:"Deliveries/s",number:!0,cell:n=>Cn(n,"deliveri\
es")},{label:"Drops/s",number:!0,cell:n=>Cn(n,"dropped")},{label:"Refusals/s",number:!0,cell:n=>Cn(n,"refused")},{label:"\
Memory",number:!0,cell:n=>n.status?U(n.status.memory_bytes):"–"},{label:"Token store",cell:n=>s(ct,{status:n.status})},
{label:"Broker",cell:n=>s(dt,{status:n.status})}];function Jo({title:n,value:e,note:t,chart:o}){return s("section",{class:"\
card tile","aria-label":n,children:[s("h2",{children:n}),s("p",{class:"value",children:e}),s("p",{class:"note-line",children:t}),
s(pi,{label:n,series:hi(o.samples,o.figure),format:o.format})]})}function Pn({title:n,figure:e,samples:t,note:o}){let r=t.
reduce((i,a)=>i+Xo(a[e]),0);return s(Jo,{title:n,value:Et(r),note:s("span",{children:o}),chart:{samples:t,figure:e,format:Et}})}
function An({title:n,counts:e,none:t}){return s("section",{class:"card reasons","aria-label":n,children:[s("h2",{children:n}),
s("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?s("p",{children:t}):s("dl",{class:"counts",children:e.
map(([o,r])=>s("div",{children:[s("dt",{children:s("code",{children:o})}),s("dd",{children:M(r)})]},o))})]})}var bi=[{name:"overview",label:"Overview",component:gi},{name:"master-tokens",label:"Master tokens",component:ui},{name:"\
tokens",label:"Access tokens",component:Wr},{name:"connections",label:"Connections",component:Vr},{name:"live",label:"Li\
ve",component:oi,tail:!0},{name:"histories",label:"Histories",component:ls},{name:"edges",label:"Edges",component:Yr}];var Mn=class extends Ue{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:s("div",{role:"alert",class:"errors",children:[s("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",W(this.state.error)]}),s("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function wi(n){let{base:e,session:t,links:o,current:r,result:i,ended:a,children:l}=n;return s(E,{children:[s("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),s("header",{class:"top",children:[s("a",{class:"brand",href:I("overview"),children:[s("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),s("span",{children:"Millrace"})]}),s("nav",{"aria-label":"Screens",children:s("u\
l",{children:o.map(({screen:c,label:u})=>s("li",{children:s("a",{href:I(c),...c===r?{"aria-current":"page"}:{},children:u})},
c))})}),s("div",{class:"who",children:[s("span",{children:[s(C,{text:t.operator??"",most:32})," ",s("span",{class:"quiet",
children:t.role})]}),s("button",{type:"button",onClick:n.onSignOut,children:"Sign out"})]})]}),s("main",{id:"main",tabIndex:-1,
children:[a&&s("p",{class:"note warn with-button",children:[s("span",{children:"Your session has ended, so nothing here \
is up to date."}),s("button",{type:"button",onClick:n.onSignIn,children:"Sign in"})]}),s("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&s("p",{class:"note good with-button",children:[s("span",{children:i}),s("button",
{type:"button",class:"link",onClick:n.onDismiss,children:"Dismiss"})]})}),l]})]})}async function Ho(n,e,t){try{return await n.call("POST",e,{body:t,bare:!0})}catch(o){throw o instanceof H&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${qn(o.retryAfter*1e3)}`):o}}function vi({
api:n,session:e,onSession:t}){let[o,r]=y(""),[i,a]=y(""),l=Y(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{t(await Ho(n,"session",c?{}:{name:o,password:i}))}finally{a("")}};return s("main",
{id:"main",class:"sign-in",children:s("section",{class:"card",children:[s("h1",{tabIndex:-1,children:"Sign in"}),s("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?s("p",{children:["The authe\
ntication in front of the console names you ",s(C,{text:e.user}),"."]}):null,c&&!e.user?s("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,s(le,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&s(E,{children:[s(T,{label:"Name",value:o,onInput:r,autoComplete:"username",autoFocus:!0}),
s(T,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function _i({api:n,gate:e,
session:t,onSession:o,onLeave:r}){let{question:i}=e;return i?s(_c,{api:n,gate:e,session:t,onSession:o,onLeave:r,again:i===
"sign-in"},i):null}function _c({api:n,gate:e,session:t,onSession:o,onLeave:r,again:i}){let[a,l]=y(""),c=Y(),u=t.auth==="\
caddy",d=t.operator??"";return s(me,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[s("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),s(le,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let p;try{i?p=await Ho(
n,"session",u?{}:{name:d,password:a}):p=await Ho(n,"session/confirm",{password:a})}catch(h){if(l(""),!i&&h instanceof H&&
h.code==="no_session")return void e.signIn();throw h}o(p),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&s("button",{type:"\
button",class:"link",onClick:r,children:"Sign in as somebody else"}),children:[s(T,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&s(T,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function ki({base:n,takeActivity:e}){let[,t]=y(0),[o,r]=y(),[i,a]=y(),[l,c]=y(""),u=at(()=>new Tt(()=>t(g=>g+1)),[]),d=at(
()=>new St({base:new URL("api/",n),gate:u,takeActivity:e}),[n,u,e]),f=xc(),p=ae(()=>{a(void 0),d.get("session",{bare:!0}).
then(r,g=>a(W(g)))},[d]);$(p,[p]);let h=bi.filter(({tail:g})=>!g||o?.tail===!0),m=h.find(({name:g})=>g===f.screen)??h[0];
$(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:g}=document;
g instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let w=g=>{r(g),u.opened()},
v=()=>{u.answer(!1),r(g=>g&&{auth:g.auth,signed_in:!1,...g.user?{user:g.user}:{}})},b=async()=>{try{let g=await d.call("\
DELETE","session",{bare:!0});u.opened(),r(g)}catch(g){g instanceof Error&&"code"in g&&g.code==="no_session"?v():c(`Signi\
ng out failed: ${W(g)} You are still signed in.`)}};if(!o)return s(kc,{error:i,onRetry:p});if(!o.signed_in)return s(vi,{
api:d,session:o,onSession:w});let k=m?.component;return s(Gn.Provider,{value:{api:d,session:o,base:n,notify:c},children:[
s(wi,{base:n,session:o,links:h.map(({name:g,label:S})=>({screen:g,label:S})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:k&&s(Mn,{children:s(k,{query:f.query})},`${m.
name} ${o.operator}`)}),s(_i,{api:d,gate:u,session:o,onSession:w,onLeave:v})]})}function kc({error:n,onRetry:e}){return s(
"main",{id:"main",class:"sign-in",children:[s("h1",{children:"Millrace console"}),s("p",{role:"status",children:n?"":"Lo\
ading…"}),s("div",{role:"alert",children:n&&s(E,{children:[s("p",{class:"note bad",children:n}),s("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function xc(){let[n,e]=y(()=>Wn(location.hash));return $(()=>{
let t=()=>e(Wn(location.hash));return addEventListener("hashchange",t),()=>removeEventListener("hashchange",t)},[]),n}var Sc=new URL(".",import.meta.url),Wo=!0;for(let n of["keydown","pointerdown","pointermove","wheel"])addEventListener(n,
()=>Wo=!0,{capture:!0,passive:!0});var Tc=()=>{let n=Wo;return Wo=!1,n},xi=document.getElementById("app");xi&&rr(s(ki,{base:Sc,
takeActivity:Tc}),xi);
