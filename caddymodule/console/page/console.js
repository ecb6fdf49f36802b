// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var F,br,wa,Re,Zn,Rt,yr,Mt,wr,no,eo,_r,bt=Symbol.for("pv"),Nt={},Dt=[],_a=/^m(i|n|o|s|text|space)$/,oo=Array.isArray,vr=Dt.
slice,Ge=Object.assign;function ze(n){n&&n.parentNode&&n.remove()}function Ot(n,e,t,o,r){var i={type:n,props:e,key:t,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:bt,__v:r||
++br,__i:-1,__u:0};return!r&&F.vnode&&F.vnode(i),i}function T(n){return n.children}function Ze(n,e){this.props=n,this.context=e,this.__g=0}function Ne(n,e){if(e==null)return n.
__&&Ne(n.__,n.__i+1);for(var t;e<n.__k.length;e++)if((t=n.__k[e])&&t.__e)return t.__e;return typeof n.type!="function"||
n.props.__P?null:Ne(n)}function va(n){var e,t=n.__v,o=t.__e,r=[],i=[],a=n.__P;a&&((e=Ge({constructor:bt},t)).__v=t.__v+1,
F.vnode&&F.vnode(e),ro(a,e,t,n.__n,a.namespaceURI,32&t.__u?[o]:null,r,o||Ne(t),32&t.__u,i),e.__v=t.__v,e.__.__k[e.__i]=e,
Cr(r,e,i),t.__=t.__e=null,e.__e!=o&&kr(e))}function kr(n){if((n=n.__)&&n.__c&&!n.props.__P)return n.__e=null,n.__k.some(
function(e){return e&&(n.__e=e.__e)}),kr(n)}function to(n){(8&n.__g||(n.__g|=8,Re.push(n),Rt++))&&Zn==F.debounceRendering||
((Zn=F.debounceRendering)||queueMicrotask)(xr)}function xr(){try{for(var n,e=1;Re.length;)Re.length>e&&Re.sort(yr),n=Re.
shift(),e=Re.length,8&n.__g&&va(n)}finally{(Rt=Re.length)&&(Zn||queueMicrotask)(xr)}}function Sr(n,e,t,o,r,i,a,l,c,u,d){
var h,f,p,m,w,_,b=o.__k||Dt,g=e.length;for(c=ka(t,e,b,c,g),h=0;h<g;h++)(p=t.__k[h])!=null&&(f=~p.__i&&b[p.__i]||Nt,p.__i=
h,_=ro(n,p,f,r,i,a,l,c,u,d),m=p.__e,(f.ref!=p.ref||8&f.__u)&&(f.ref&&so(f.ref,null,p,f),p.ref&&d.push(p.ref,p.__c||m,p)),
w=w||m,4&p.__u?(c=Tr(p,c,n,!f.__v),f.__e&&(f.__e=null)):typeof p.type=="function"&&_!==void 0?c=_:m&&(c=m.nextSibling),p.
__u&=-21);return t.__e=w,c}function ka(n,e,t,o,r){var i,a,l,c,u,d,h,f,p,m=t.length,w=m,_=0,b=0,g=n.__k=Array(r);for(i=0;i<
r;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=g[i]=Ot(null,
a):oo(a)?a=g[i]=Ot(T,{children:a}):a.constructor===bt&&a.__b?a=g[i]=Ot(a.type,a.props,a.key,a.ref,a.__v):g[i]=a,c=i+_,a.
__=n,a.__b=n.__b+1,l=null,~(u=a.__i=xa(a,t,c,w))&&(w--,(l=t[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?_--:u==c+1?_++:u!=
c&&(u>c?_--:_++,b=1)):(~u||(r>m?_--:r<m&&_++),typeof a.type!="function"&&(a.__u|=4))):g[i]=null;if(b){for(d=[],h=[],i=0;i<
r;i++)if((a=g[i])&&16&a.__u){for(_=0,f=d.length;_<f;)d[p=_+f>>1]<a.__i?_=p+1:f=p;d[_]=a.__i,h[i]=_+1}for(_=d.length;i--;)
h[i]&&(h[i]==_?_--:g[i].__u|=4)}if(w)for(i=0;i<m;i++)!(l=t[i])||2&l.__u||(l.__e==o&&(o=Ne(l)),io(l,l));return o}function Tr(n,e,t,o){
var r,i,a,l;if(typeof n.type=="function"){if(n.props.__P)return e;if(r=n.__k)for(i=0;i<r.length;i++)r[i]&&(r[i].__=n,e=Tr(
r[i],e,t,!1));return e}for(e&&!e.parentNode&&(e=Ne(n))&&!e.parentNode&&(e=null),a=n.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&t.moveBefore&&a.parentNode?t.moveBefore(a,e):t.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function xa(n,e,t,o){var r,i=n.key,a=n.type,l=e[t],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return t;
if(o>(c?1:0)){for(r=t-1;r>=0;r--)if((l=e[r])&&!(2&l.__u)&&i==l.key&&a==l.type)return r;for(r=t+1;r<e.length;r++)if((l=e[r])&&
!(2&l.__u)&&i==l.key&&a==l.type)return r}return-1}function gr(n,e,t){t==null&&(t=""),e[0]=="-"?n.setProperty(e,t):n[e]=t}
function At(n,e,t,o,r){var i,a;if(e=="style")if(typeof t=="string")n.style.cssText=t;else{if(typeof o=="string"&&(n.style.
cssText=o=""),o)for(e in o)t&&e in t||gr(n.style,e);if(t)for(e in t)o&&t[e]==o[e]||gr(n.style,e,t[e])}else if(e[0]=="o"&&
e[1]=="n")typeof t!="function"&&(t=null),typeof o!="function"&&(o=null),(n.__e||(n.__e={}))[e]=t,t&&o||(a=eo[e]||(eo[e]=
Sa(e)),(n.__a||(n.__a={}))[e]=no,i=e!=(e=e.replace(wr,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),t?n.addEventListener(
e,a,i):n.removeEventListener(e,a,i));else{if(r=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in n)try{return void(n[e]=t??"")}catch{}if(typeof t=="function")return;t==null||t===
!1&&e[4]!="-"?n.removeAttribute(e):n.setAttribute(e,e=="popover"&&t==1?"":t)}}function Sa(n){return function(e){var t=this.
__e;if(t){if(t=t[n],e[Mt]==null)e[Mt]=no++;else if(e[Mt]<this.__a[n])return;return t(F.event?F.event(e):e)}}}function ro(n,e,t,o,r,i,a,l,c,u){
var d,h,f,p,m,w,_,b,g,v,C,D,ie,Ie,me,de,oe,qe,$e=e.type;if(e.constructor!==bt)return null;128&t.__u&&(c=32&t.__u,d=t.__c.
__z)&&(e.__u|=c,h=i=[],d.nodeType==8?l=It(d,i):i.push(d),l=i[0]||l),(d=F.__b)&&d(e);e:if(typeof $e=="function"){f=a.length;
try{if(b=e.props,g=(d=$e.prototype)&&d.render,v=(d=$e.contextType)&&o[d.__c],C=d?v?v.props.value:d.__:o,(p=t.__c)?(e.__c=
p,2&p.__g&&(p.__g|=1)):(g?e.__c=p=new $e(b,C):(e.__c=p=new Ze(b,C),p.constructor=$e,p.render=Ea),v&&v.sub(p),p.state||(p.
state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),g&&(p.__s||(p.__s=p.state),$e.getDerivedStateFromProps&&(p.__s==p.state&&(p.
__s=Ge({},p.__s)),Ge(p.__s,$e.getDerivedStateFromProps(b,p.__s)))),m=p.props,w=p.state,p.__v=e,t.__c){if(b!==m&&g&&!$e.getDerivedStateFromProps&&
p.componentWillReceiveProps&&p.componentWillReceiveProps(b,C),e.__v==t.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&
p.shouldComponentUpdate(b,p.__s,C)===!1){e.__v!=t.__v&&(p.props=b,p.state=p.__s,p.__g&=-9),e.__e=t.__e,e.__k=t.__k,e.__k.
some(function(ve){ve&&(ve.__=e)}),Dt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&a.push(p),l=Ne(t);break e}p.componentWillUpdate&&
p.componentWillUpdate(b,p.__s,C),g&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(m,w,_)})}else g&&!$e.
getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),g&&p.componentDidMount&&p.__h.push(p.componentDidMount);
p.context=C,p.props=b,p.__P=n,p.__g&=-5,D=F.__r,ie=g?25:0;do p.__g&=-9,D&&D(e),d=p.render(p.props,p.state=p.__s,p.context);while(8&
p.__g&&++ie<25);g&&(Dt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Ge({},o,p.getChildContext())),
g&&t.__c&&p.getSnapshotBeforeUpdate&&(_=p.getSnapshotBeforeUpdate(m,w)),Ie=d&&d.type===T&&d.key==null?d.props.children:d,
b.__P&&(d=l,r=(n=b.__P).namespaceURI,c=i=null,t.props&&t.props.__P!=n&&(t.__k.some(function(ve){ve&&io(ve,ve)}),t.__k=null),
l=t.__k?Ne(t,0):null),l=Sr(n,oo(Ie)?Ie:[Ie],e,t,o,r,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,h&&h.some(ze),p.__h.length&&
a.push(p),1&p.__g&&(p.__g&=-4)}catch(ve){if(a.length=f,e.__v=null,c||i)if(ve&&ve.then){if(e.__u|=128|c,i){for(~(oe=i.indexOf(
l||void 0))||(oe=i.length);(qe=i[oe-1])&&qe.nodeType==8;)oe--;for(;oe<i.length;oe++)if(qe=i[oe])if(i[oe]=null,me){if(qe==
de)break}else{if(qe.nodeType!=8)break;qe.data.startsWith("$s")&&(de=It(me=qe))}}if(!me){for(;l&&l.nodeType==8&&l.nextSibling;)
l=l.nextSibling;me=l}(d=It(me=e.__c.__z||(e.__c.__z=me)))?(e.__e=me,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(ze);else
e.__e=t.__e;e.__k||(e.__k=t.__k||[]),ve&&ve.then||Er(e),F.__e(ve,e,t)}}else l=e.__e=Ta(t.__e,e,t,o,r,i,a,c,u,n);return(d=
F.diffed)&&d(e),l}function It(n,e){if(n&&n.nodeType==8&&n.data.startsWith("$s"))for(var t=1;n=n.nextSibling;){if(n.nodeType==
8){if(n.data.startsWith("$s"))t++;else if(n.data.startsWith("/$s")&&!--t)return n}e&&e.push(n)}}function Er(n){n&&(n.__c&&
(n.__c.__g|=4),n.__k&&n.__k.some(Er))}function Cr(n,e,t){for(var o=0;o<t.length;)so(t[o++],t[o++],t[o++]);F.__c&&F.__c(e,
n),n.some(function(r){try{n=r.__h,r.__h=[],n.some(function(i){i.call(r)})}catch(i){F.__e(i,r.__v)}})}function Ta(n,e,t,o,r,i,a,l,c,u){
var d,h,f,p,m,w,_,b,g=t.props||Nt,v=e.props,C=e.type;if(C=="svg"?r="http://www.w3.org/2000/svg":C=="math"?r="http://www.\
w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(C?m.localName==C:
m.nodeType==3)){n=m,i[d]=null;break}}if(!n){if(b=u.ownerDocument||document,!C)return b.createTextNode(v);n=b.createElementNS(
r,C,v.is?v:u),l&&(F.__m&&F.__m(e,i),l=!1),i=null}if(C){if(u=C=="template"&&n.content||n,i=C=="textarea"&&v.defaultValue!=
null?null:i&&vr.call(u.childNodes),!l&&i)for(g={},d=0;d<n.attributes.length;d++)g[(m=n.attributes[d]).name]=m.value;for(d in g)
m=g[d],d=="dangerouslySetInnerHTML"?f=m:d=="children"||d in v||d=="value"&&"defaultValue"in v||d=="checked"&&"defaultChe\
cked"in v||At(n,d,null,m,r);for(d in v)m=v[d],d=="children"?p=m:d=="dangerouslySetInnerHTML"?h=m:d=="value"?w=m:d=="chec\
ked"?_=m:l&&typeof m!="function"||g[d]===m||At(n,d,m,g[d],r);h?(l||f&&(h.__html==f.__html||h.__html==n.innerHTML)||(n.innerHTML=
h.__html),e.__k=[]):(f&&(n.textContent=""),(C=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&_a.test(C))&&(r=
"http://www.w3.org/1999/xhtml"),Sr(u,oo(p)?p:[p],e,t,o,r,i,a,i?i[0]:t.__k&&Ne(t,0),l,c),i&&i.some(ze)),l&&C!="textarea"||
(d="value",C=="progress"&&w==null?n.removeAttribute(d):w==null||w===n[d]&&(C!="progress"||w)||At(n,d,w,g[d],r),d="checke\
d",_!=null&&_!=n[d]&&At(n,d,_,g[d],r))}else g===v||l&&n.data==v||(n.data=v);return n}function so(n,e,t,o){try{typeof n==
"function"?e?e.__x=n(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():n(null)):n.current=e}catch(r){
F.__e(r,t)}}function io(n,e,t){var o,r,i,a;if(F.unmount&&F.unmount(n),!(o=n.ref)||o.current&&o.current!=n.__e||so(o,null,
e,n),o=n.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){F.__e(l,e)}o.__P=o.__n=null}if(o=n.__k)for(a=
0;a<o.length;a++)o[a]&&io(o[a],e,typeof n.type!="function"||t&&!n.props.__P);!t&&(o=n.__c)&&(o=o.__z)&&(r=It(o,i=[]))&&(o==
n.__e&&i.some(ze),ze(r),ze(o)),t||ze(n.__e),n.__e=n.__c=n.__=null}function Ea(n,e,t){return this.constructor(n,t)}function Pr(n,e){
var t,o,r,i;F.__&&F.__(n,e),e.nodeType==9&&(e=e.documentElement),o=(t=n&&32&n.__u)?null:e.__k,e.__k=Ot(T,{children:[n]}),
r=[],i=[],ro(e,e.__k,o||Nt,Nt,e.namespaceURI,o?null:e.firstChild?vr.call(e.childNodes):null,r,o?o.__e:e.firstChild,t,i),
Cr(r,e.__k,i),e.__k.props.children=null}function $r(n){function e(t){var o,r;return this.getChildContext||(o=new Set,(r={})[e.__c]=this,this.getChildContext=function(){
return r},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,to(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),t.children}
return e.__c="__cC"+_r++,e.__=n,e.Provider=(e.Consumer=function(t,o){return t.children(o)}).contextType=e,e}F={__e:function(n,e,t,o){for(var r,i,a;e=e.__;)if((r=e.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(i=r.constructor)&&i.getDerivedStateFromError)&&
r.setState(i.getDerivedStateFromError(n)),r.componentDidCatch&&(r.componentDidCatch(n,o||{}),a=1),a&&8&r.__g)return void(r.
__g|=2)}catch(l){n=l}}throw Rt=0,n}},br=0,wa=function(n){return n!=null&&n.constructor===bt},Ze.prototype.setState=function(n,e){
var t=this.__s;t&&t!=this.state||(t=this.__s=Ge({},this.state)),typeof n=="function"&&(n=n(Ge({},t),this.props)),n&&(Ge(
t,n),this.__v&&(e&&this.__k.push(e),to(this)))},Ze.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.
push(n),to(this))},Ze.prototype.render=T,Re=[],Rt=0,yr=function(n,e){return n.__v.__b-e.__v.__b},Mt=Symbol(),wr=/(PointerCapture)$|Capture$/i,
no=0,eo={},_r=0;var De,X,ao,Ar,lo=Object.is,wt=0,Lr=[],co=[],H=F,Mr=H.__b,Or=H.__r,Ir=H.diffed,Rr=H.__c,Nr=H.unmount,Dr=H.__;function et(n,e){
H.__h&&H.__h(X,n,wt||e),wt=0;var t=X.__H||(X.__H={__:[],__h:[]});return n>=t.__.length&&t.__.push({}),t.__[n]}function y(n){
return wt=1,Ca(Xr,n)}function Ca(n,e,t){var o=et(De++,2);if(o.t=n,!o.__c&&(o.__=[t?t(e):Xr(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);lo(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=X,!X.__f)){X.__f=!0;var r=X.shouldComponentUpdate;
X.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(f){
f.__N&&(u=!0,lo(f.__[0],f.__N[0])||(d=!0))}),r){var h=r.call(this,i,a,l);return u?h||d:h}return!u||d}}return o.__}function R(n,e){
var t=et(De++,3);!H.__s&&ho(t.__H,e)&&(t.__P=!0,t.__=n,t.u=e,X.__H.__h.push(t))}function re(n,e){var t=et(De++,4);!H.__s&&
ho(t.__H,e)&&(t.__P=!1,t.__=n,t.u=e,X.__h.push(t))}function ee(n){return wt=5,_t(function(){return{current:n}},[])}function _t(n,e){var t=et(De++,7);return ho(t.__H,e)&&(t.__=n(),t.__H=e),t.__}function ge(n,e){return wt=8,_t(function(){
return n},e)}function Ur(n){var e=X.context[n.__c],t=et(De++,9);return t.c=n,e?(t.__==null&&(t.__=!0,e.sub(X)),e.props.value):
n.__}function tt(){var n=et(De++,11);if(!n.__){for(var e=X.__v;!e.__m&&e.__;)e=e.__;var t=e.__m||(e.__m=[0,0]);n.__="P"+t[0]+
"-"+t[1]++}return n.__}function Pa(){var n;do{for(;n=co.shift();)try{yt(n)}catch(t){H.__e(t,{__:(n=n.__P)&&n.__v})}for(;n=
Lr.shift();){var e=n.__H;if(n.__P&&e)try{e.__h.some(yt),e.__h.some(uo),e.__h=[]}catch(t){e.__h=[],H.__e(t,n.__v)}}}while(co.
length)}H.__b=function(n){X=null,Mr&&Mr(n)},H.__=function(n,e){n&&e.__k&&e.__k.__m&&(n.__m=e.__k.__m),Dr&&Dr(n,e)},H.__r=
function(n){Or&&Or(n),De=0;var e=(X=n.__c).__H;e&&(ao==X?X.__h=[]:(e.__h.some(yt),e.__h.some(uo),De=0),e.__h=[],e.__.some(
function(t){t.__N&&(t.__=t.__N),t.u=t.__N=void 0})),ao=X},H.diffed=function(n){Ir&&Ir(n);var e=n.__c;e&&e.__H&&(e.__H.__h.
length&&jr(Lr.push(e)),e.__H.__.some(function(t){t.u&&(t.__H=t.u)})),ao=X=null},H.__c=function(n,e){e.some(function(t){try{
t.__h.some(yt),t.__h=t.__h.filter(function(o){return!o.__||uo(o)})}catch(o){t.__h=[function(){throw o}]}}),Rr&&Rr(n,e)},
H.unmount=function(n){Nr&&Nr(n);var e,t,o=n.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(t===void 0){
for(t=n.__;t&&(!t.__c||!t.__c.__P);)t=t.__;t=t&&t.__c}r.__P=t,jr(co.push(r))}else yt(r)}catch(i){e=i}}),o.__H=void 0,e&&
H.__e(e,o.__v))};var Fr=typeof requestAnimationFrame=="function";function $a(n){var e,t=function(){clearTimeout(o),Fr&&cancelAnimationFrame(
e),setTimeout(n)},o=setTimeout(t,35);Fr&&(e=requestAnimationFrame(t))}function jr(n){n!=1&&Ar==H.requestAnimationFrame||
((Ar=H.requestAnimationFrame)||$a)(Pa)}function yt(n){var e=X,t=n.__c;typeof t=="function"&&(n.__c=void 0,t()),X=e}function uo(n){
var e=X;n.__c=n.__(),X=e}function ho(n,e){return!n||n.length!=e.length||e.some(function(t,o){return!lo(t,n[o])})}function Xr(n,e){
return typeof e=="function"?e(n):e}var G=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,t,o,r=0){super(o),this.code=e,this.status=
t,this.retryAfter=r}};async function Br(n){let e=Number(n.headers.get("Retry-After"))||0,t;try{t=await n.json()}catch{t=
void 0}let{code:o,detail:r,title:i}=t??{},a=[r,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${n.status}`;return new G(typeof o=="string"?o:"unknown",n.status,l,e)}function te(n){let e=n instanceof
Error?n.message:String(n),t=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(t)?t:`${t}.`}var Aa=4,po=new G("no_session",401,"you are signed out; sign in to go on"),Ft=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,t={})=>this.call("GET",e,t);async call(e,t,o={}){let{gate:r}=this.#e;for(let i=0;;i++){if(o.
background&&r.ended)throw po;let a=await this.#n(e,t,o);if(a.ok)return await this.#o(a);let l=await Br(a);if(o.bare||i>=
Aa)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&r.ended)
throw po;let u=await(c==="no_session"?r.signIn():r.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?po:
new G(c,403,"the password was not given, so nothing was changed")}}async#n(e,t,{body:o,background:r,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();r&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(t,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new G("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new G("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var jt=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let t=this.#e;t&&(this.#e=void 0,t.question==="sign-in"&&(this.ended=
!e),t.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let t=this.#e;if(t&&t.question!==e)return e==="si\
gn-in"&&(this.#e={...t,question:e}),this.#t(),t.answered;if(t)return t.answered;let o=()=>{},r=new Promise(i=>{o=i});return this.#e=
{question:e,answered:r,answer:o},this.#t(),r}};function fo(n){let[e="",t=""]=n.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
t))}}function A(n,e={}){let t=B(e);return`#/${n}${t}`}var Ma=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function B(n){let e=new URLSearchParams;
for(let[o,r]of Object.entries(n))r!==void 0&&r!==""&&e.set(o,String(r).replace(Ma,"$1"));let t=e.toString().replaceAll("\
+","%20");return t===""?"":`?${t}`}var Oa=new Intl.NumberFormat("en",{maximumFractionDigits:0}),Ia=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
Ra=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),Jr=["bytes","KiB","MiB","GiB","TiB","PiB"],$=n=>Oa.format(n),Lt=n=>n===0||n>=10?$(n):Ia.format(
n);function N(n,e,t=`${e}s`){return`${$(n)} ${n===1?e:t}`}function q(n){let e=0,t=n;for(;t>=1024&&e<Jr.length-1;)t/=1024,
e++;return`${e===0||t>=100?$(t):t.toFixed(1)} ${Jr[e]}`}function nt(n){let e=Math.round(Math.abs(n)/1e3),t=[];for(let[o,
r]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/r);if(e-=i*r,i>0)t.push(`${i} ${o}`);else if(t.length>
0)break;if(t.length===2)break}return t.join(" ")||"0 s"}function vt(n,e){let t=(typeof n=="number"?n:Date.parse(n))-e;if(Number.
isNaN(t))return"";let o=Math.abs(t)<6e4?1e3:Math.abs(t)<864e5?6e4:36e5,r=nt(Math.trunc(t/o)*o);return t>=0?`in ${r}`:`${r}\
 ago`}function Te(n){let e=new Date(n);if(Number.isNaN(e.getTime()))return"";let t=Object.fromEntries(Ra.formatToParts(e).
map(({type:o,value:r})=>[o,r]));return`${t.year}-${t.month}-${t.day} ${t.hour}:${t.minute}:${t.second} UTC`}function Fe(n){let e=0;for(let t of n)e++;return e}function mo(n){return new TextEncoder().encode(n).length}function ae(n){
return n.split(/[\s,]+/).filter(e=>e!=="")}function be(n,e){if(n.length<=e)return n;let t=[...n];return t.length<=e?n:`${t.
slice(0,e-1).join("")}…`}function Ke(n,e="and"){return n.length<2?n[0]??"":`${n.slice(0,-1).join(", ")} ${e} ${n[n.length-
1]}`}var je=/^[0-9a-f]{0,32}$/;function Le(n){return/^[AM]T_([0-9a-f]{0,32})/.exec(n)?.[1]??n}var go=$r(void 0);function M(){let n=Ur(go);if(!n)throw new Error("there is no console here");return n}function z(){return M().
session.role==="manager"}var Na=Symbol.for("pv"),Da=0;function s(n,e,t,o,r,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof n!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:n,props:c,key:t,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Na,__v:--Da,__i:-1,__u:0};return(r||
i)&&(u.__source=r,u.__self=i),F.vnode&&F.vnode(u),u}function E({text:n,most:e=80}){let t=be(n,e);return s("bdi",{class:"name",...t===n?{}:{title:n},children:t})}function P({
text:n,most:e=256}){let t=be(n,e);return s("bdi",{children:s("code",{...t===n?{}:{title:n},children:t})})}function j({at:n,
plain:e}){let{api:t}=M();return n?s("time",{dateTime:n,title:e?vt(n,t.serverNow()):Te(n),children:e?Te(n):vt(n,t.serverNow())}):
s("span",{children:"–"})}function O({mood:n="plain",children:e}){return s("span",{class:`badge ${n}`,children:e})}function Ue({
text:n}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:n})})}function K({error:n,
known:e}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:[n," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function J({what:n}){return s("p",{class:"quiet",role:"\
status",children:["Loading ",n,"…"]})}function L({children:n}){return s("div",{class:"empty",children:n})}function se({
of:n}){return s("dl",{class:"facts",children:n.map(e=>e&&s("div",{class:e[2]?"whole":"",children:[s("dt",{children:e[0]}),
s("dd",{children:e[1]})]},e[0]))})}function Wr({text:n,label:e,onCopied:t}){let[o,r]=y("");return R(()=>{if(o==="")return;
let a=setTimeout(()=>r(""),4e3);return()=>clearTimeout(a)},[o]),s("span",{class:"copy",children:[s("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(n),r("Copied."),t?.()}catch{r("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),s("span",{role:"status",class:"quiet",children:o})]})}function Q({text:n,
children:e}){return s("div",{class:"heading",children:[s("h1",{tabIndex:-1,children:n}),e&&s("div",{class:"buttons",children:e})]})}var Ut=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#l())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#l(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#l();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#l()},this.pause)}}};function le(){let[n,e]=y(!1),[t,o]=y(),r=ee({busy:!1,mounted:!0}).current;R(()=>(r.mounted=!0,()=>{r.mounted=!1}),[r]);let i=ge(
async a=>{if(!r.busy){r.busy=!0,e(!0),o(void 0);try{await a()}catch(l){r.mounted&&o(te(l))}r.busy=!1,r.mounted&&e(!1)}},
[r]);return{busy:n,error:t,run:i,fail:o}}function V(n,e,t,o=!1){let[r,i]=y({key:n}),a=ee(t);a.current=t;let l=ee(void 0);
R(()=>{let u=new Ut({every:e,hidden:()=>document.hidden,ask:async(h,f)=>{try{let p=await a.current({background:h,signal:f});
f.aborted||i({key:n,data:p})}catch(p){throw f.aborted||i(m=>({...m,error:te(p)})),p}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[n,
e]),R(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,n,e]);let c=ge(()=>l.current?.refresh(),[]);return{data:r.
data,stale:r.key!==n||r.data===void 0,error:r.error,refresh:c}}function Y({label:n,columns:e,rows:t,keyOf:o,detail:r,busy:i}){return s("div",{class:"scroll",children:s("table",{role:"\
table","aria-label":n,"aria-busy":i??!1,children:[s("thead",{role:"rowgroup",children:s("tr",{role:"row",children:e.map(
a=>s("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),s("tbody",{role:"r\
owgroup",children:t.map(a=>{let l=r?.(a);return s(T,{children:[s("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>Fa(
c,a,u===0))}),l&&s("tr",{role:"row",class:"detail",children:s("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function Fa(n,e,t){let o={"data-label":n.label,class:n.number?"number":""},r=s("div",{children:n.cell(e)});return t?s("t\
h",{...o,role:"rowheader",scope:"row",children:r},n.label):s("td",{...o,role:"cell",children:r},n.label)}function ot(n){
return s("button",{type:"button",class:"expand","aria-expanded":n.open,"aria-label":n.label,onClick:n.onToggle,children:n.
children})}function ue({page:n,more:e,onPrevious:t,onNext:o}){return n===1&&!e?null:s("nav",{class:"pages","aria-label":"\
Pages",children:[s("button",{type:"button",disabled:n===1,onClick:t,children:"Previous page"}),s("span",{children:["Page\
 ",n]}),s("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function kt({status:n}){if(!n)return s("span",{children:"–"});let{driver:e,usable:t,error:o,writable:r,replicas:i}=n.store;
return s("span",{class:"state",children:[s("span",{children:e}),t?r?s(O,{mood:"good",children:"ready"}):s(O,{mood:"warn",
children:"read only"}):s(O,{mood:"bad",children:"not usable"}),i&&s("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&s(E,{text:o,most:200})]})}function xt({status:n}){return n?s("span",{class:"\
state",children:[s("span",{children:n.broker.driver}),n.broker.linked?s(O,{mood:"good",children:"linked"}):s(O,{mood:"ba\
d",children:"link lost"})]}):s("span",{children:"–"})}function Hr({status:n}){let e=(n.links??[]).filter(t=>t.code);return e.
length===0?null:s("ul",{children:e.map(t=>s("li",{class:"wrong",children:[s(E,{text:t.of}),": ",s(E,{text:t.reason??"",most:200}),
t.error&&s(T,{children:[" ","(",s(E,{text:t.error,most:200}),")"]}),t.since&&s(T,{children:[", ",s(j,{at:t.since})]})]},
t.of))})}var ja={websocket:"WebSocket",webtransport:"WebTransport"},Xe=n=>ja[n]??n;function Xt({edge:n}){return n.self&&
n.name!=="this edge"?s(O,{children:"this edge"}):null}function Be(n){let e=n.edges.filter(t=>!t.answered);return s("div",
{role:"alert",class:"errors",children:e.length>0&&s("div",{class:"note warn",children:[s("p",{children:[e.length===1?"An\
 edge does not answer":`${e.length} edges do not answer`,"."," ",n.missing[e.length===1?0:1]]}),s("ul",{children:[e.slice(
0,20).map(t=>s("li",{children:[s(E,{text:t.name}),t.error&&s(T,{children:[": ",s(E,{text:t.error,most:200})]})]},t.id)),
e.length>20&&s("li",{children:["and ",e.length-20," more"]})]})]})})}function x(n){let{label:e,value:t,onInput:o,hint:r,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:h,
options:f}=n,p=tt();re(()=>{n.autoFocus&&document.getElementById(p)?.focus()},[]);let m=h&&h.now>h.most,w=i??(m?`At most\
 ${h.most} ${h.unit}.`:void 0),_={id:p,value:t,readOnly:d??!1,class:c?"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,
autofocus:n.autoFocus??!1,"aria-invalid":w!==void 0,"aria-describedby":`${p}-help`,onInput:b=>o(b.currentTarget.value)};
return s("div",{class:"field",children:[s("label",{for:p,children:e}),l?s("textarea",{..._,rows:l}):a==="password"?s("in\
put",{..._,type:"password"}):s("input",{..._,type:"text",list:f&&`${p}-list`}),f&&s("datalist",{id:`${p}-list`,children:f.
map(b=>s("option",{value:b},b))}),s("div",{id:`${p}-help`,class:"help",children:[r&&s("p",{children:r}),h&&s("p",{class:m?
"wrong":"",children:[h.now," of ",h.most," ",h.unit]}),w&&s("p",{class:"wrong",children:w})]})]})}function W({label:n,value:e,
onInput:t,hint:o,options:r}){let i=tt();return s("div",{class:"field",children:[s("label",{for:i,children:n}),s("select",
{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>t(a.currentTarget.value),children:r.map(([a,l])=>s("option",{value:a,
children:l},a))}),s("div",{id:`${i}-help`,class:"help",children:o&&s("p",{children:o})})]})}function Ee({label:n,checked:e,
onChange:t,hint:o}){let r=tt();return s("div",{class:"check",children:[s("input",{id:r,type:"checkbox",checked:e,"aria-d\
escribedby":`${r}-help`,onChange:i=>t(i.currentTarget.checked)}),s("label",{for:r,children:n}),s("p",{id:`${r}-help`,class:"\
help",children:o})]})}function ke({title:n,onClose:e,children:t,wide:o}){let r=ee(null),i=ee(!1),a=tt();return re(()=>{let l=r.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),s("dialog",{ref:r,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===r.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&r.current?.open===!1&&r.current.showModal()}))},children:[s("h2",{id:a,children:n}),t]})}function ye({action:n,
submit:e,danger:t,disabled:o,onSubmit:r,onCancel:i,children:a,extra:l}){return s("form",{noValidate:!0,"aria-busy":n.busy,
onSubmit:c=>{c.preventDefault(),o||n.run(r)},children:[a,s(Ue,{text:n.error}),s("div",{class:"buttons",children:[s("butt\
on",{type:"submit",class:t?"danger":"primary",disabled:o,"aria-disabled":n.busy,children:e}),i&&s("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function Bt({title:n,label:e,secret:t,onClose:o,children:r}){let[i,a]=y(!1),[l,c]=y(!1);return s(ke,{title:n,wide:!0,onClose:()=>i||
l?o():a(!0),children:[s("p",{class:"note warn",children:[s("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),s(Jt,{label:e,text:t,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),r,s("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),s("div",{class:"buttons",children:s("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function Jt({
label:n,text:e,copy:t,onCopied:o}){return s("div",{class:"snippet",children:[s("div",{class:"snippet-head",children:[s("\
h3",{children:n}),s(Wr,{text:e,label:t,onCopied:o})]}),s("pre",{tabIndex:0,"aria-label":n,role:"region",children:e})]})}var La=20;function zr(n,e=""){let t=[];for(let[o,r]of(n.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=rt(r.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=r.allow_channels_pub??[],c=r.allow_channels_sub??[];l.length>0&&t.push(
["may publish to ",...rt(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&t.push(["may subscribe to ",...rt(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=r.allow_channels_history??[];u.length>0&&t.push(["may read stored messages o\
f ",...rt(u,`${i}.allow_channels_history`,e)," in ",...a]);let d=r.allow_channels_presence??[];d.length>0&&t.push(["may \
see who is present in ",...rt(d,`${i}.allow_channels_presence`,e)," in ",...a]),l.length+c.length===0&&t.push(["may neit\
her publish nor subscribe in ",...a])}return t.push(Wt("from ",n.allow_ip_masks,"right.allow_ip_masks",e,"any address")),
n.allowed_ws_origin?.length&&t.push(Wt("from pages of ",n.allowed_ws_origin,"right.allowed_ws_origin",e,"")),n.allow_regions?.
length&&t.push(Wt("at edges in ",n.allow_regions,"right.allow_regions",e,"")),t.push(Wt("by ",n.allow_protocols,"right.a\
llow_protocols",e,"WebSocket or WebTransport")),t.push([`may send ${qr(n.ingress_kb_per_sec)} and receive ${qr(n.egress_kb_per_sec)}\
 on each connection`]),t}function Gr(n){return/^right\.[\w.[\]]+/.exec(n??"")?.[0]??""}function Kr(n,e){return e!==""&&(n===e||n.startsWith(`${e}\
[`))}function qr(n){return n===void 0?"as much as the edge's default":`${n.toLocaleString("en")} KB/s`}function Wt(n,e,t,o,r){
return e?.length?[n,...rt(e,t,o,"or")]:[n+r]}function rt(n,e,t,o="and"){let r=n.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=r.filter((c,u)=>u<La||c.path===t),a=r.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${N(a,"other")}`),l}function Qr({token:n,onAction:e}){let t=z(),o=n.token_id.slice(0,12),r=(i,a)=>s("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return s("div",{class:"token-detail",children:[s("div",{children:[s("h2",{children:"\
What it allows"}),s(bo,{right:n.right,mark:""})]}),s(se,{of:[["Id",s(P,{text:n.token_id},"id"),"wide"],n.subject?["Subje\
ct",s(E,{text:n.subject,most:128},"subject")]:void 0,n.info?["Info",s(P,{text:JSON.stringify(n.info),most:1024},"info"),
"wide"]:void 0,n.description?["Description",s(E,{text:n.description,most:512},"description")]:void 0,["Made",s(j,{at:n.created_at,
plain:!0},"made")],["Ends",s(j,{at:n.expires_at,plain:!0},"ends")],n.revoked_at?["Revoked",s(j,{at:n.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",n.master_id?s(P,{text:n.master_id},"master"):"the console or the admin API"]]}),s("div",
{class:"buttons",children:[t&&n.status==="valid"&&r("refresh","Refresh"),t&&n.status!=="revoked"&&r("revoke","Revoke"),r(
"explain","Explain"),s("a",{class:"button",href:A("connections",{token_id:n.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),s("a",{class:"button",href:A("refused",{token_id:n.token_id}),"aria-label":`Refused of ${o}`,children:"\
Refused"}),n.subject&&s("a",{class:"button",href:A("tokens",{subject:n.subject}),"aria-label":`All of its subject, of to\
ken ${o}`,children:"All of its subject"})]})]})}function bo({right:n,mark:e}){return s("ul",{class:"right",children:zr(n,
e).map((t,o)=>s("li",{children:s(Ua,{sentence:t,mark:e})},o))})}function Ua({sentence:n,mark:e}){return s(T,{children:n.
map(t=>{if(typeof t=="string")return t;let o=s(P,{text:t.rule},t.path);return Kr(t.path,e)?s("mark",{children:o},t.path):
o})})}var Xa=[["subscribe","subscribe"],["history","read stored messages"],["presence","see who is present"],["publish","publi\
sh"],["connect","connect"]],Ba=[["","not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Vr({
token:n,onClose:e}){let{api:t}=M(),o=le(),[r,i]=y(n),[a,l]=y(),[c,u]=y({token_id:n?.token_id??"",action:"subscribe",tenant:n?.
right.tenant_grants?.[0]?.tenant_ids?.[0]??"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=p=>m=>u(w=>({...w,[p]:m.
trim()})),h=c.action==="connect";return s(ke,{title:"Explain",wide:!0,onClose:e,children:[s("p",{class:"quiet",children:"\
Asks the edge whether a token allows something, and by which of its rules."}),s(ye,{action:o,submit:"Explain",onSubmit:async()=>{
let{token_id:p}=c;if(!/^[0-9a-f]{32}$/.test(p))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secr\
et does not belong here");l(void 0);let m=Object.entries(c).filter(([,b])=>b!==""),w=Object.fromEntries(m.filter(([b])=>!h||
b!=="tenant"&&b!=="channel")),_=await t.call("POST","explain",{body:w});if(r?.token_id!==p){let b=await t.get(`tokens${B(
{id:p,limit:1})}`);i(b.tokens?.find(g=>g.token_id===p))}l(_)},extra:s("button",{type:"button",onClick:e,children:"Close"}),
children:[s(x,{label:"Token id",value:c.token_id,onInput:p=>d("token_id")(Le(p.trim())),mono:!0,autoFocus:!n}),s("div",{
class:"row",children:[s(W,{label:"Action",value:c.action,onInput:d("action"),options:Xa}),!h&&s(x,{label:"Tenant",value:c.
tenant,onInput:d("tenant"),mono:!0,autoFocus:n!==void 0}),!h&&s(x,{label:c.action==="publish"?"Channel":"Pattern",value:c.
channel,onInput:d("channel"),mono:!0})]}),s("div",{class:"row",children:[s(x,{label:"Address",value:c.ip,onInput:d("ip"),
mono:!0,hint:"Of the client, if it matters."}),s(x,{label:"Origin",value:c.origin,onInput:d("origin"),mono:!0,hint:"Of i\
ts page."}),s(W,{label:"Transport",value:c.protocol,onInput:d("protocol"),options:Ba}),s(x,{label:"Region",value:c.region,
onInput:d("region"),mono:!0,hint:"Of the edge."})]}),s("div",{role:"status",class:"answer",children:a&&s(Ja,{answer:a,token:r})})]})]})}
function Ja({answer:n,token:e}){let t=Gr(n.rule);return s(T,{children:[s("p",{children:[s(O,{mood:n.allowed?"good":"bad",
children:n.allowed?"allowed":"not allowed"})," ",s("bdi",{children:n.reason}),"."]}),n.rule&&s("p",{children:["Rule: ",s(
P,{text:n.rule,most:600})]}),n.token&&s("p",{children:["Subject: ",n.token.subject?s(E,{text:n.token.subject,most:128}):
"none",". Issued with"," ",n.token.master_id?s(E,{text:n.token.master_name??`${n.token.master_id}, which is deleted`,most:128}):
"the console or the admin API",", for ",s(E,{text:n.token.created_by,most:128}),"."]}),e&&s(bo,{right:e.right,mark:t}),n.
limits&&s(Wa,{limits:n.limits})]})}function Wa({limits:n}){return s(se,{of:n.map(({name:e,of:t,limit:o,used:r})=>[t?`${e}\
 of ${be(t,40)}`:e,`${e.startsWith("max_connections")||e==="issuer_share"?`${$(r??0)} of `:""}${o?$(o):"no limit"}`])})}var Ha={s:1e3,m:6e4,h:36e5,d:864e5},qa=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
Yr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function yo(n,e){let t=n.trim();
if(t==="")return{error:Yr};let o=za(t),r=o===void 0?Ga(t):e+o;return r===void 0?{error:Yr}:r<=e?{error:"This is over alr\
eady. The end must be in the future."}:r>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
r/1e3)*1e3)}}function za(n){let e=n,t=0;for(;e!=="";){let o=qa.exec(e),r=Ha[o?.[2]?.toLowerCase()??""];if(!o||r===void 0)
return;t+=Number(o[1])*r,e=e.slice(o[0].length)}return t}function Ga(n){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(n))return;let e=Date.parse(n.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function he({title:n,submit:e,danger:t,disabled:o,onClose:r,onConfirm:i,children:a}){let l=le();return s(ke,{title:n,onClose:r,
children:s(ye,{action:l,submit:e,danger:t,disabled:o,onSubmit:i,onCancel:r,children:a})})}var Zr=50,Ka=20;async function Qa(n,e,t,o,r){let i={tokens:[],next:t,asked:0};do{let a={limit:Zr-i.tokens.length,cursor:i.
next},l=await n.get(`tokens${B({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},r(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<Zr);return i}async function es(n,e,t){
let o=0,r="";for(let i=0;i<Ka;i++){let a=B({subject:e,status:"valid",limit:1e3,cursor:r}),l=await n.get(`tokens${a}`,{signal:t});
if(o+=l.tokens?.length??0,r=l.next_cursor??"",r==="")return{count:o,all:!0}}return{count:o,all:!1}}function ts(n,e){let[
t,o]=y([""]),[r,i]=y(),[a,l]=y(!1),[c,u]=y(),d=ee(void 0),h=JSON.stringify(e),f=ee(e);f.current=e;let p=ge(async w=>{d.current?.
abort();let _=new AbortController;d.current=_;let b=()=>d.current===_;l(!0),u(void 0);try{await Qa(n,f.current,w,_.signal,
g=>b()&&i(g))}catch(g){b()&&u(te(g))}b()&&l(!1)},[n]);R(()=>(o([""]),i(void 0),p(""),()=>{d.current?.abort(),d.current=void 0}),
[h,p]);let m=w=>{o(w),p(w[w.length-1]??"")};return{found:r,busy:a,error:c,page:t.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...t.slice(0,-1),r?.next??""]),refresh:()=>m(t),next:()=>m([...t,r?.next??""]),previous:()=>m(t.slice(0,-1))}}var ns=n=>`tokens/${encodeURIComponent(n.token_id)}`;function wo({label:n,value:e,onInput:t}){let{api:o}=M(),r=o.serverNow(),
i=yo(e,r);return s(x,{label:n,value:e,onInput:t,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${Te(i.at.getTime())}, ${vt(i.at.getTime(),r)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function _o(n,e){let t=yo(n,e);if(!t.at)throw new Error(t.error);return t.at.toISOString().replace(/\.\d+Z$/,"Z")}
function os({token:n,onClose:e,onDone:t}){let{api:o}=M(),[r,i]=y("1h");return s(he,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:_o(r,o.serverNow())},{new_expires_at:c}=await o.call("PUT",ns(n),
{body:l});t(`The token ${n.token_id.slice(0,12)}… now ends ${Te(c)}.`)},children:[s("p",{children:["The token ",s(P,{text:n.
token_id})," of ",s(E,{text:n.created_by,most:40})," ends"," ",s(j,{at:n.expires_at}),". Its open connections go on unti\
l the new end."]}),s(wo,{label:"New end",value:r,onInput:i})]})}function rs({token:n,onClose:e,onDone:t}){let{api:o}=M(),
[r,i]=y("The connections that end are being counted…");return R(()=>{let l=new AbortController;return Va(n.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${te(c)}`)),
()=>l.abort()},[o,n.token_id]),s(he,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",ns(n),{body:{}}),t(`The token ${n.token_id.slice(0,12)}… was revoked.`)},children:[s("p",{children:[
"The token ",s(P,{text:n.token_id})," of ",s(E,{text:n.created_by,most:40})," stops working at once, for good."]}),s("p",
{role:"status",children:r})]})}function ss({subject:n,onClose:e,onDone:t}){let{api:o}=M(),[r,i]=y("Its tokens are being \
counted…");return R(()=>{let l=new AbortController;return es(o,n,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${N(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${te(c)}`)),()=>l.abort()},[o,n]),s(he,{title:"Revoke all tokens of this subject",submit:"R\
evoke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(n)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});t(`${N(c,"token")} revoked.`)},children:[s("p",{children:["All tokens of ",s(E,{text:n,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),s("p",{role:"status",children:r})]})}function Va(n){
return async(e,t)=>{let r=(await e.get(`connections${B({token_id:n,limit:1})}`,{signal:t})).edges??[],i=r.reduce((c,u)=>c+
u.matching,0),a=r.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${N(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${Ke(a.slice(0,10))}, which did not answe\
r.`}}var is=/^[\w\-~@.]*$/;function St(n){let e=/[A-Za-z0-9]$/.test(n)?`${n}.`:n;return is.test(e)&&e.length<=127?e:void 0}var as="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function pe(n){return n.length>0&&n.length<=128&&is.
test(n)}function st(n){let e=n.indexOf("/"),t=e<0?n:n.slice(0,e);if(t.includes("%"))return"has a zone, which a mask may not have";
let o=ls(t),r=o?void 0:Ya(t);if(!o&&!r)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(r&&el(r))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=n.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function ls(n){let e=n.split(".");return e.length===
4&&e.every(t=>/^(0|[1-9]\d{0,2})$/.test(t)&&Number(t)<=255)}function Ya(n){let e=n.split("::");if(e.length>2)return;let[
t,o]=e.map((i,a)=>Za(i,a===e.length-1));if(!t||e.length===2&&!o)return;if(!o)return t.length===8?t:void 0;let r=8-t.length-
o.length;return r<1?void 0:[...t,...new Array(r).fill(0),...o]}function Za(n,e){if(n==="")return[];let t=[],o=n.split(":");
for(let[r,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))t.push(Number.parseInt(i,16));else if(e&&r===o.length-1&&ls(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);t.push(a*256+l,c*256+u)}else return;return t}function el(n){return n.slice(
0,5).every(e=>e===0)&&n[5]===65535}var ko=64,xo=512,cs=256,tl=2**40,vo=n=>n?String(n):"";function ds(n){return{name:n?.name??"",description:n?.description??
"",prefix:n?.tenant_prefix??"",masks:(n?.allow_ip_masks??[]).join(`
`),maxTokens:vo(n?.max_tokens),maxBytes:vo(n?.max_bytes),calls:vo(n?.calls_per_second)}}function So(n){return{prefix:St(
n.prefix)===void 0?as:void 0,masks:qt(ae(n.masks)),maxTokens:Je(n.maxTokens),maxBytes:Je(n.maxBytes),calls:Je(n.calls)}}
function us(n){let e=Fe(n.name);return e<1||e>ko||Fe(n.description)>xo?!1:Object.values(So(n)).every(t=>t===void 0)}function Ht(n){
return{name:n.name,description:n.description,tenant_prefix:St(n.prefix)??n.prefix,allow_ip_masks:ae(n.masks),max_tokens:Number(
n.maxTokens),max_bytes:Number(n.maxBytes),calls_per_second:Number(n.calls)}}function hs(n,e){let t=Ht(n),o=Object.entries(
Ht(e)).filter(([r,i])=>JSON.stringify(i)!==JSON.stringify(t[r]));return Object.fromEntries(o)}function qt(n){if(n.length>
cs)return`At most ${cs} masks.`;for(let e of n){let t=st(e);if(t)return`${e} ${t}.`}}function Je(n,e=tl){if(!(n===""||/^\d{1,13}$/.
test(n)&&Number(n)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var nl=256,ol=128,ps=2**31;function fs({onClose:n,onIssued:e}){let{api:t,session:o}=M(),r=le(),[i,a]=y({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",presence:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",
egress:"",websocket:!0,webtransport:!0}),l=d=>h=>a(f=>({...f,[d]:h})),c=ae(i.tenants).find(d=>!pe(d));return s(ke,{title:"\
Issue a trial token",onClose:n,children:[s("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend,\
 which holds a master token."}),s(ye,{action:r,submit:"Issue",onSubmit:async()=>{let d=ae(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||qt(ae(i.masks))||Je(i.ingress)||Je(i.egress))throw new Error("correct the fields t\
hat are marked");let h=m=>m===""?void 0:Number(m),f=i.websocket!==i.webtransport,p={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:ae(i.pub),allow_channels_sub:ae(
i.sub),allow_channels_history:ae(i.history),allow_channels_presence:ae(i.presence)}],allow_ip_masks:ae(i.masks),allowed_ws_origin:ae(
i.origins),allow_regions:ae(i.regions),allow_protocols:f?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:h(
i.ingress),egress_kb_per_sec:h(i.egress),expires_at:_o(i.end,t.serverNow())}};e(await t.call("POST","tokens",{body:p}))},
onCancel:n,children:[s(x,{label:"Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c}\
 is no tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),s("div",{class:"row",children:[
s(x,{label:"May publish to",value:i.pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),s(x,{label:"\
May subscribe to",value:i.sub,onInput:l("sub"),rows:2,mono:!0,hint:"# is every channel."})]}),s("div",{class:"row",children:[
s(x,{label:"May read stored messages of",value:i.history,onInput:l("history"),rows:2,mono:!0,hint:"Of what it may subscr\
ibe to. Nothing: subscriptions begin now."}),s(x,{label:"May see who is present in",value:i.presence,onInput:l("presence"),
rows:2,mono:!0,hint:"To join needs no more than to subscribe, and a subject."})]}),s(wo,{label:"Valid until",value:i.end,
onInput:l("end")}),s("div",{class:"row",children:[s(x,{label:"Created by",value:i.createdBy,onInput:l("createdBy"),count:{
now:mo(i.createdBy),most:nl,unit:"bytes"}}),s(x,{label:"Description",value:i.description,onInput:l("description"),count:{
now:Fe(i.description),most:512,unit:"characters"}})]}),s(x,{label:"Subject",value:i.subject,onInput:l("subject"),count:{
now:mo(i.subject),most:ol,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),s("details",{children:[s("summary",
{children:"More limits"}),s(x,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:qt(ae(i.masks))}),s(
x,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.com"}),s(x,{label:"\
Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),s("fieldset",{children:[s("legend",{children:"\
Transports"}),s(Ee,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),s(Ee,{label:"WebTransport",checked:i.
webtransport,onChange:l("webtransport")})]}),s("div",{class:"row",children:[s(x,{label:"May send, KB/s",value:i.ingress,
onInput:l("ingress"),error:Je(i.ingress,ps)}),s(x,{label:"May receive, KB/s",value:i.egress,onInput:l("egress"),error:Je(
i.egress,ps)})]})]})]})]})}var rl=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],sl={valid:"good",expired:"plain",revoked:"\
bad"};function ms({query:n}){let{api:e,notify:t}=M(),o=z(),[r,i]=y(),a={id:n.id??"",tenant:n.tenant??"",subject:n.subject??
"",created_by:n.created_by??"",status:n.status??""},l=ts(e,a),c=()=>i(void 0),u=d=>{c(),t(d),l.refresh()};return s(T,{children:[
s(Q,{text:"Access tokens",children:[s("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Exp\
lain"}),o&&a.subject!==""&&s("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&s("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),s(il,{query:a,onSearchAgain:l.refresh}),s(K,{error:l.error,known:!1}),s(al,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,h)=>i({what:d,token:h})}),r?.what==="issue"&&s(fs,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),r?.what==="issued"&&s(Bt,{title:"The access token",label:"Access token",secret:r.issued.
token,onClose:c,children:s("p",{children:["Its id is ",s(P,{text:r.issued.token_id}),". It expires ",Te(r.issued.expires_at),
"."]})}),r?.what==="explain"&&s(Vr,{token:r.token,onClose:c}),r?.what==="refresh"&&s(os,{token:r.token,onClose:c,onDone:u}),
r?.what==="revoke"&&s(rs,{token:r.token,onClose:c,onDone:u}),r?.what==="revoke subject"&&s(ss,{subject:r.subject,onClose:c,
onDone:u})]})}function il({query:n,onSearchAgain:e}){let[t,o]=y(n),r=JSON.stringify(n);re(()=>o(n),[r]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return s("search",{children:s("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!je.test(t.id))return;let l=A("tokens",t);l===A("tokens",n)?e():location.hash=l},children:[s(x,{label:"\
Id",value:t.id,onInput:a=>i("id")(Le(a.trim())),mono:!0,error:je.test(t.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),s(x,{label:"Tenant",value:t.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),s(x,{label:"Subject",value:t.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),s(x,{label:"\
Created by",value:t.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),s(W,{label:"State",value:t.
status,onInput:i("status"),options:rl}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"\
Search"}),s("a",{class:"button",href:A("tokens"),children:"Clear"})]})]})})}function al({search:n,filtered:e,onAction:t}){
let[o,r]=y(),i=z(),{found:a,busy:l}=n,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return s(T,{children:[
s("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&s("span",{children:["Still searching: ",N(c.length,
"token")," found so far."]}),u&&s("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&s("but\
ton",{type:"button",onClick:n.stop,children:"Stop the search"}),u&&s("button",{type:"button",onClick:n.goOn,children:"Se\
arch on"}),l&&!a&&s(J,{what:"the access tokens"}),c.length>0&&s(Y,{label:"Access tokens",columns:ll(o,r),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&s(Qr,{token:d,onAction:h=>t(h,d)})}),!l&&a&&c.length===0&&a.next===""&&s(L,{children:e?
s("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):s("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),s(ue,{page:n.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:n.previous,onNext:n.next})]})}
function ll(n,e){return[{label:"Id",cell:({token_id:t})=>s(ot,{open:n===t,label:`Details of token ${t.slice(0,12)}`,onToggle:()=>e(
n===t?void 0:t),children:s("code",{children:t.slice(0,12)})})},{label:"Subject",cell:({subject:t})=>t?s(E,{text:t,most:40}):
s(T,{children:"–"})},{label:"Created by",cell:({created_by:t})=>s(E,{text:t,most:40})},{label:"Tenants",cell:({right:t})=>s(
To,{names:(t.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:t})=>s(O,{mood:sl[t]??"plai\
n",children:t})},{label:"Made",cell:({created_at:t})=>s(j,{at:t})},{label:"Ends",cell:({expires_at:t})=>s(j,{at:t})}]}function To({
names:n}){let e=[...new Set(n)];return e.length===0?s(T,{children:"–"}):s("span",{class:"list",title:e.length>2?Ke(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(t=>s(P,{text:t,most:40},t)),e.length>2&&s("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var it=n=>`${n.edge}:${n.id}`;function gs({name:n,kb:e,delay:t}){return s(T,{children:[n," ",e?$(e):"none",t?s(T,{children:[
" ",s(O,{mood:"warn",children:["waits ",$(t)," s"]})]}):null]})}function bs(n,e,t){return[{label:"Connection",cell:r=>{let i=it(
r);return s(ot,{open:e===i,label:`Details of connection ${r.id} at ${r.edge_name}`,onToggle:()=>t(e===i?void 0:i),children:r.
id})}},...n?[{label:"Edge",cell:r=>s(E,{text:r.edge_name,most:40})}]:[],{label:"Token",cell:r=>s("a",{href:A("tokens",{id:r.
token_id}),"aria-label":`Token ${r.token_id.slice(0,8)}`,children:s("code",{children:r.token_id.slice(0,8)})})},{label:"\
Subject",cell:({subject:r})=>r?s(E,{text:r,most:40}):s(T,{children:"–"})},{label:"Tenants",cell:r=>s(To,{names:r.tenants??
[]})},{label:"Address",cell:r=>s("span",{class:"address",children:r.ip?s(P,{text:r.ip}):"unknown"})},{label:"Transport",
cell:r=>s(T,{children:[Xe(r.transport)," ",r.draining&&s(O,{mood:"warn",children:"draining"})]})},{label:"Since",cell:r=>s(
j,{at:r.since})},{label:"Subscriptions",number:!0,cell:r=>$(r.subscriptions)},{label:"Queue",number:!0,cell:r=>q(r.queued_bytes)},
{label:"Caps, KB/s",cell:r=>s(T,{children:[s(gs,{name:"in",kb:r.ingress_kb_per_sec,delay:r.ingress_delay_seconds}),",","\
 ",s(gs,{name:"out",kb:r.egress_kb_per_sec,delay:r.egress_delay_seconds})]})},{label:"Dropped",number:!0,cell:r=>$(r.dropped)}]}var cl=5e3,Eo=200;function ys({connection:n,onDisconnect:e}){let{api:t}=M(),o=z(),r=`connections/${encodeURIComponent(n.
edge)}/${n.id}`,{data:i,error:a}=V(it(n),cl,async d=>{try{return await t.get(r,d)}catch(h){if(h instanceof G&&h.status===
404&&h.code!=="not_found")return"gone";throw h}}),l=i==="gone"?void 0:i,c=l??n,u=`connection ${c.id} at ${c.edge_name}`;
return s("div",{class:"connection-detail",children:[i==="gone"&&s("p",{role:"status",children:"It is closed now."}),s(Ue,
{text:a}),s(se,{of:[["Token",s(P,{text:c.token_id},"token"),"wide"],c.connection_id?["Connection id",s(P,{text:c.connection_id},
"connection")]:void 0,c.issuer?["Issuer",s(P,{text:c.issuer},"issuer"),"wide"]:void 0,c.subject?["Subject",s(E,{text:c.subject,
most:128},"subject")]:void 0,["Token ends",s(j,{at:c.expires_at},"expires")],["Waiting in its queue",q(c.queued_bytes)],
["Dropped deliveries",$(c.dropped)]]}),s("h2",{children:"Subscriptions"}),!i&&!a&&s(J,{what:"the subscriptions"}),l&&s(dl,
{detail:l}),s("div",{class:"buttons",children:[o&&i!=="gone"&&s("button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,
children:"Disconnect"}),s("a",{class:"button",href:A("connections",{token_id:c.token_id}),children:"All of its token"}),
c.subject&&s("a",{class:"button",href:A("connections",{subject:c.subject}),children:"All of its subject"}),s("a",{class:"\
button",href:A("tokens",{id:c.token_id}),children:"Its token"})]})]})}function dl({detail:n}){let e=n.patterns??[],t=e.length-
Eo+(n.more_patterns??0);return e.length===0?s("p",{children:"It is subscribed to nothing."}):s("ul",{class:"chips patter\
ns","aria-label":"Subscriptions",tabIndex:0,children:[e.slice(0,Eo).map(({tenant:o,pattern:r})=>s("li",{children:[s(P,{text:r}),
" in ",s(P,{text:o})]},`${o} ${r}`)),e.length<Eo?(n.more_patterns??0)>0&&s("li",{children:["and ",N(n.more_patterns??0,"\
more","more")]}):t>0&&s("li",{children:["and ",$(t)," more"]})]})}var ul=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]],hl=[["","any"],["true","waiting for a cap"]];
function ws({query:n,edges:e,onAgain:t}){let[o,r]=y(n),i=JSON.stringify(n);re(()=>r(n),[i]);let a=d=>h=>r(f=>({...f,[d]:h.
trim()})),l=o.ip===""?void 0:st(o.ip),c=e.map(d=>[d.id,be(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.
edge,be(o.edge,60)]]:[];return s("search",{children:s("form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{
if(d.preventDefault(),l||!je.test(o.token_id))return;let h=A("connections",o);h===A("connections",n)?t():location.hash=h},
children:[s(x,{label:"Token id",value:o.token_id,onInput:d=>a("token_id")(Le(d.trim())),mono:!0,error:je.test(o.token_id)?
void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole id."}),s(x,{label:"Subject",value:o.subject,onInput:d=>r(h=>({
...h,subject:d})),hint:"The whole subject."}),s(x,{label:"Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),s(x,{label:"\
Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`It ${l}.`,hint:"One, or a CIDR."}),s(W,{label:"Transport",value:o.
transport,onInput:a("transport"),options:ul}),s(W,{label:"Messages",value:o.limited,onInput:a("limited"),options:hl}),s(
W,{label:"Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),s("div",{class:"buttons",children:[s("bu\
tton",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"button",href:A("connections"),children:"Clear"})]})]})})}function _s({target:n,onClose:e,onDone:t}){let{api:o}=M(),{connection:r,tokenID:i}=n,[a,l]=y(r===void 0);return s(he,{title:r?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!r?{token_id:i}:{edge:r.edge,id:r.id},{disconnected:d,unanswered:h,silent:f}=await o.call("POST","connections/d\
isconnect",{body:u}),p=h??[],m=p.length>0?` Not reached: ${Ke(p.slice(0,10))}, which did not answer. Try again later.`:"",
w=f?.length?` Silent, and so not asked: ${Ke(f.slice(0,10))}.`:"";t(`${N(d,"connection")} disconnected.${m}${w}`)},children:[
r&&s("p",{children:["Connection ",r.id," at ",s(E,{text:r.edge_name})," is closed."]}),r&&s(Ee,{label:"All connections o\
f its token",checked:a,onChange:l,hint:"At every edge."}),!r&&s("p",{children:["All connections of the token ",s(P,{text:i}),
" are closed, at every edge."]}),s("p",{children:["A client may come back while its token is valid. To keep it away,"," ",
s("a",{href:A("tokens",{id:i}),children:"revoke the token"})," in place of this."]})]})}var pl=100,fl=3e3;function vs({query:n}){let{api:e,notify:t}=M(),o=z(),[r,i]=y(!1),[a,l]=y([""]),[c,u]=y(),d={token_id:n.
token_id??"",subject:n.subject??"",tenant:n.tenant??"",ip:n.ip??"",transport:n.transport??"",limited:n.limited??"",edge:n.
edge??""},h=B(d);R(()=>l([""]),[h]);let f=`connections${B({...d,limit:pl,cursor:a[a.length-1]})}`,{data:p,stale:m,error:w,
refresh:_}=V(f,fl,v=>e.get(f,v),r),b=p?.edges??[],g=p?.connections??[];return s(T,{children:[s(Q,{text:"Connections",children:[
s("button",{type:"button","aria-pressed":r,onClick:()=>i(!r),children:r?"Resume":"Pause"}),o&&d.token_id!==""&&s("button",
{type:"button",onClick:()=>u({tokenID:d.token_id}),children:"Disconnect all of this token"})]}),s(ws,{query:d,edges:b,onAgain:_}),
s(K,{error:w,known:p!==void 0}),s(Be,{edges:b,missing:["Its connections are not listed.","Their connections are not list\
ed."]}),!p&&!w&&s(J,{what:"the connections"}),p&&s(ml,{edges:b,paused:r}),g.length>0&&s(gl,{rows:g,several:b.length>1,busy:m,
onDisconnect:v=>u({connection:v,tokenID:v.token_id})}),p&&!m&&g.length===0&&a.length===1&&s(L,{children:h===""?s("p",{children:"\
No client is connected. Clients appear here as they connect with an access token."}):s("p",{children:"No connection matc\
hes. Ask for less, or clear the filters."})}),s(ue,{page:a.length,more:!m&&(p?.next_cursor??"")!=="",onPrevious:()=>l(a.
slice(0,-1)),onNext:()=>l([...a,p?.next_cursor??""])}),c&&s(_s,{target:c,onClose:()=>u(void 0),onDone:v=>{u(void 0),t(v),
_()}})]})}function ml({edges:n,paused:e}){let t=n.reduce((r,i)=>r+i.total,0),o=n.reduce((r,i)=>r+i.matching,0);return s(
"div",{class:"totals",children:[s("p",{children:[o===t?`${N(t,"connection")}.`:`${$(o)} of ${N(t,"connection")} match.`,
e&&s("strong",{children:" Paused: the list is as it was."})]}),n.length>1&&s("ul",{class:"chips","aria-label":"By edge",
children:n.slice(0,50).map(r=>s("li",{children:[s(E,{text:r.name,most:40})," ",r.answered?$(r.matching):"no answer"]},r.
id))})]})}function gl({rows:n,several:e,busy:t,onDisconnect:o}){let[r,i]=y();return s(Y,{label:"Connections",columns:bs(
e,r,i),rows:n,keyOf:it,busy:t,detail:a=>r===it(a)&&s(ys,{connection:a,onDisconnect:()=>o(a)})})}function ks({members:n,leader:e,needed:t,running:o}){let r=n?.length??0,i=o-t,a=`${o} of ${r} members run, and ${t} must`;
return r===0?{text:"No member leads yet: the first start needs all edges that routes lists.",wrong:!0}:i<0?{text:`${a}: \
nothing can be stored. Start the offline members.`,wrong:!0}:e===""?{text:`${a}, but none leads: nothing can be stored. \
An election takes seconds.`,wrong:!0}:i>0?{text:`${a}: ${i} more may be lost.`,wrong:!1}:o===r?{text:`${a}: a loss stops\
 the cluster.`,wrong:!1}:{text:`${a}: one more loss stops the cluster. Start the offline members, or remove those that d\
o not come back, with millrace pubsub edges remove.`,wrong:!0}}var bl={leader:"good",current:"good",lagging:"warn",offline:"bad"},yl=[{label:"Member",cell:n=>s(E,{text:n.name})},{label:"\
State",cell:n=>s(O,{mood:bl[n.state]??"plain",children:n.state})},{label:"Since",cell:n=>s(j,{at:n.since})},{label:"Behi\
nd",number:!0,cell:n=>$(n.behind)},{label:"Replicas",number:!0,cell:n=>$(n.replicas)+(n.lagging>0?`, ${$(n.lagging)} lag\
ging`:"")}];function xs({quorum:n}){let{text:e,wrong:t}=ks(n);return s("section",{"aria-labelledby":"members",children:[
s("h2",{id:"members",children:"Members of the NATS cluster inside edges"}),t?s("div",{class:"note warn",role:"alert",children:s(
"p",{children:e})}):s("p",{class:"quiet",children:e}),s(Y,{label:"Members",columns:yl,rows:n.members??[],keyOf:o=>o.name})]})}function Ss(){let{api:n}=M(),[e,t]=y(),{data:o,error:r,refresh:i}=V("edges",5e3,c=>n.get("edges",c)),a=o?.edges??[],l=a.
find(c=>c.status?.quorum)?.status?.quorum;return s(T,{children:[s(Q,{text:"Edges"}),s(K,{error:r,known:o!==void 0}),!o&&
!r&&s(J,{what:"the edges"}),s(Be,{edges:a,missing:["What it does is not known.","What they do is not known."]}),o&&a.length===
0&&s(L,{children:s("p",{children:"No edge is known yet. This one appears within seconds."})}),s("div",{class:"cards",children:a.
map(c=>s(wl,{edge:c,onDrain:()=>t(c)},c.id))}),l&&s(xs,{quorum:l}),a.length===1&&s("p",{class:"quiet",children:"This edg\
e is alone. Edges that share a broker, such as NATS, appear here together."}),e&&s(vl,{edge:e,onClose:()=>t(void 0),onDone:i})]})}
var Ts=n=>n.state==="draining"||n.status?.draining===!0;function wl({edge:n,onDrain:e}){let t=z(),{status:o}=n,r=Ts(n),i=r?
"Undrain":"Drain";return s("article",{class:"card","aria-label":`Edge ${n.name}`,children:[s("div",{class:"card-head",children:[
s("h2",{children:s(E,{text:n.name})}),s(Xt,{edge:n}),r&&s(O,{mood:"warn",children:"draining"}),n.state==="silent"&&s(O,{
mood:"bad",children:"silent"}),!n.answered&&s(O,{mood:"bad",children:"no answer"}),n.answered&&!r&&n.state!=="silent"&&s(
O,{mood:"good",children:"serving"})]}),s(se,{of:[["Id",s(P,{text:n.id},"id"),"wide"],["Host",n.host?s(E,{text:n.host}):"\
none announced"],["Region",n.region?s(E,{text:n.region}):"none"],!n.self&&["Last heard of",s(j,{at:n.seen_at},"seen")],...o?
_l(o):[]]}),t&&n.answered&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`${i} ${n.name}`,onClick:e,
children:i})})]})}function _l(n){let e=Object.entries(n.connections??{}),t=e.reduce((r,[,i])=>r+i,0),o=e.map(([r,i])=>`${Xe(
r)} ${$(i)}`).join(", ");return[["Connections",`${$(t)}${n.max_connections>0?` of ${$(n.max_connections)}`:""}${o?` (${o}\
)`:""}`],["Subscriptions",`${$(n.subscriptions)} to ${$(n.patterns)} patterns`],["Waiting in queues",q(n.queued_bytes)],
["Memory",q(n.memory_bytes)],["Token store",s(kt,{status:n},"store"),"wide"],["Broker",s(xt,{status:n},"broker"),"wide"],
(n.links??[]).some(r=>r.code)&&["Trouble",s(Hr,{status:n},"links"),"wide"],["Started",s(j,{at:n.started_at},"started")],
["Version",s(E,{text:`${n.version}, Caddy ${n.caddy}, ${n.go}`},"version"),"wide"]]}function vl({edge:n,onClose:e,onDone:t}){
let{api:o,notify:r}=M(),i=Ts(n),a=async()=>{await o.call(i?"DELETE":"POST",`edges/${encodeURIComponent(n.id)}/drain`,{body:{}}),
e(),r(i?`${n.name} takes clients.`:`${n.name} is draining.`),t()};return i?s(he,{title:"Undrain this edge",submit:"Undra\
in",onClose:e,onConfirm:a,children:s("p",{children:[s(E,{text:n.name})," will take new connections again, and ask no mor\
e clients to move. Those that it has asked still go. An edge that is stopping refuses this."]})}):s(he,{title:"Drain thi\
s edge",submit:"Drain",danger:!0,onClose:e,onConfirm:a,children:[s("p",{children:[s(E,{text:n.name})," will take no new \
connections, and ask its clients to move to another edge. Those that stay are closed when the time of its drain is over."]}),
s("p",{children:[s("strong",{children:"Undrain takes this back, but not the moves of clients that were asked before."}),
n.self&&" It is the edge that serves this page; the console goes on while it runs."]})]})}function Es({query:n,names:e,onAgain:t}){let[o,r]=y(n),i=JSON.stringify(n);re(()=>r(n),[i]);let a=d=>h=>r(f=>({...f,[d]:h.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!pe(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return s(
"search",{children:s("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let h=A("histories",o);h===A("histories",n)?t():location.hash=h},children:[s(W,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),s(x,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"\
button",href:A("histories"),children:"Clear"})]})]})})}function Cs({target:n,onClose:e,onDone:t}){let{api:o}=M(),{history:r,tenant:i}=n,[a,l]=y(""),[c,u]=y(""),d=i?"tenant":"h\
istory";return s(he,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??r))throw new Error(`what you typed is not the name of the ${d}`);let f=i?{history:r,tenant:i,channel:a||void 0}:
{history:r,all:!0},{removed:p}=await o.call("POST","histories/purge",{body:f}),w=[a&&`channel ${a}`,i&&`tenant ${i}`,`hi\
story ${r}`].filter(_=>_).join(", ");t(`${p===1?"1 message was":`${$(p)} messages were`} removed: ${w}.`)},children:[s("\
p",{children:[i?s(T,{children:["All messages that the history ",s(E,{text:r})," keeps of ",s(P,{text:i})," are deleted f\
or good."]}):s(T,{children:["All messages that the history ",s(E,{text:r})," keeps are deleted for good, of all tenants."]}),
" ","Clients that come back from before are notified of a gap."]}),i&&s(x,{label:"Only this channel",value:a,onInput:f=>l(
f.trim()),mono:!0,hint:"Its whole name. Empty: all channels."}),s(x,{label:"Type the name to confirm",value:c,onInput:u,
hint:`The name of the ${d}.`})]})}var kl=/[^\P{Cc}\t\n\r]/u;function Ps(n){return{bytes:n.slice(0,16384),size:n.length}}function $s(n){let e=n.endsWith("==")?2:n.endsWith("=")?1:0,
t=atob(n.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(t.slice(0,16384),r=>r.charCodeAt(0)),size:n.length/
4*3-e}}function As({bytes:n,size:e}){try{let t=new TextDecoder("utf-8",{fatal:!0}).decode(n,{stream:e>n.length});return kl.
test(t)?"hex":"text"}catch{return"hex"}}function Ms({bytes:n,size:e},t){let o=e>n.length,r=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(t==="hex")return{text:El(n),...r};let i=Os(n);if(t==="text")return{
text:i,...r};if(o)return{text:i,note:`${r.note} It is cut, so it is not formatted as JSON.`};let a=xl(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function zt({bytes:n,size:e},t,o=160){if(e===
0)return"(empty)";let r=n.subarray(0,o),i=e>r.length?"…":"";return t==="hex"?Is(r.subarray(0,32))+(e>32?" …":""):Os(
r).replace(/\s+/g," ")+i}function Os(n){return new TextDecoder().decode(n)}function xl(n){if(!(Sl(n)>64))try{return JSON.
stringify(JSON.parse(n),void 0,2)}catch{return}}function Sl(n){let e=0,t=0,o=!1;for(let r=0;r<n.length;r++){let i=n[r];o?
i==="\\"?r++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?t=Math.max(t,++e):(i==="]"||i==="}")&&e--}return t}var Tl=n=>n.
toString(16).padStart(2,"0");function Is(n){return Array.from(n,Tl).join(" ")}function El(n){let e=[];for(let t=0;t<n.length;t+=
16){let o=n.subarray(t,t+16),r=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${t.toString(16).
padStart(4,"0")}  ${Is(o).padEnd(47)}  ${r}`)}return e.join(`
`)}var Cl=500;function Co({messages:n,omitted:e},t){let o=[...n,...t.map(i=>({...i,payload:$s(i.payload)}))],r=Math.max(0,o.
length-Cl);return{messages:o.slice(r),omitted:e+r}}var Gt=n=>n.split(".")[1]??n;function Kt({of:n,format:e,label:t}){let{text:o,note:r}=Ms(n,e);return s("div",{class:"whole",children:[r&&s("p",{class:"\
quiet",children:r}),s("pre",{tabIndex:0,role:"region","aria-label":t,dir:"auto",children:o})]})}var Pl=50,$l=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function Rs({names:n,target:e,
purges:t}){let{api:o}=M(),[r,i]=y(n[0]??""),[a,l]=y(""),[c,u]=y("#"),[d,h]=y("auto"),[f,p]=y(),m=le(),w=ee(null),_=async(C,D)=>o.
call("POST","histories/read",{body:{...C,after:D,limit:Pl}}),b=C=>m.run(async()=>{if(!pe(C.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(C.pattern==="")throw new Error("name a pattern; # is every ch\
annel");p(void 0);let D=await _(C,"");p({...Co({messages:[],omitted:0},D.messages??[]),query:C,next:D.next})}),g=C=>m.run(
async()=>{let D=await _(C.query,C.next);p({...Co(C,D.messages??[]),query:C.query,next:D.next})});R(()=>{e&&(i(e.history),
l(e.tenant),w.current?.focus(),b({...e,pattern:c}))},[e]),R(()=>{f&&w.current?.scrollIntoView()},[f?.query]),R(()=>p(void 0),
[t]);let v=n.includes(r)?r:n[0]??"";return s("section",{"aria-labelledby":"kept-messages",children:[s("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:w,children:"Messages"}),s("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),s("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:C=>{C.preventDefault(),b(
{history:v,tenant:a,pattern:c})},children:[s(W,{label:"History",value:v,onInput:i,options:n.map(C=>[C,C])}),s(x,{label:"\
Tenant",value:a,onInput:C=>l(C.trim()),mono:!0}),s(x,{label:"Pattern",value:c,onInput:C=>u(C.trim()),mono:!0,hint:"news.\
# for example"}),s(W,{label:"Payload as",value:d,onInput:C=>h(C),options:$l}),s("div",{class:"buttons",children:s("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),s(Ue,{text:m.error}),m.busy&&!f&&s(J,{what:"\
the messages"}),f&&s(Al,{found:f,format:d,busy:m.busy,onMore:()=>{g(f)}})]})}function Al({found:n,format:e,busy:t,onMore:o}){
let[r,i]=y(),{query:a,messages:l,omitted:c,next:u}=n,d=({payload:h})=>e==="auto"?As(h):e;return s(T,{children:[s("p",{role:"\
status","aria-label":"What was read",children:[N(c+l.length,"message")," of ",s(P,{text:a.pattern})," in ",s(P,{text:a.tenant}),
", history ",s(E,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${$(c)} are not shown an\
y more.`]}),l.length===0&&u===""?s(L,{children:s("p",{children:"No message of this pattern is kept."})}):s(Y,{label:"Mes\
sages that are kept",columns:Ml(d,r,i),rows:l,keyOf:({position:h})=>h,busy:t,detail:h=>r===h.position&&s(Ol,{message:h,format:d(
h)})}),u!==""&&s("button",{type:"button","aria-disabled":t,onClick:o,children:"More messages"})]})}function Ml(n,e,t){return[
{label:"Number",cell:({position:o,channel:r})=>s(ot,{open:e===o,label:`Message ${Gt(o)} to ${r}`,onToggle:()=>t(e===o?void 0:
o),children:Gt(o)})},{label:"Stored",cell:({time:o})=>s("time",{dateTime:o,children:Te(o)})},{label:"Channel",cell:({channel:o})=>s(
P,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>q(o.size)},{label:"Payload",cell:o=>s("bdi",{class:"pr\
eview",children:zt(o.payload,n(o))})}]}function Ol({message:n,format:e}){let{position:t,time:o,payload:r}=n;return s("di\
v",{class:"message-detail",children:[s(se,{of:[["Position",s(P,{text:t},"position"),"wide"],["Stored",s("time",{dateTime:o,
children:o})],["Size",`${$(r.size)} bytes`]]}),s(Kt,{of:r,format:e,label:`Payload of message ${Gt(t)}`})]})}var Il=50,Rl=8,Nl=1e4;function Ns({query:n}){let{api:e,session:t,notify:o}=M(),r=z(),i=r&&t.tail===!0,[a,l]=y([""]),[c,u]=y(),
[d,h]=y(),[f,p]=y(0),m={history:n.history??"",tenant:n.tenant??""},w=B(m);R(()=>l([""]),[w]);let _=`histories${B({...m,limit:Il,
cursor:a[a.length-1]})}`,{data:b,stale:g,error:v,refresh:C}=V(_,Nl,async de=>{try{return await e.get(_,de)}catch(oe){if(oe instanceof
G&&oe.code==="no_histories")return"none";throw oe}}),D=b==="none"?void 0:b,ie=D?.totals??[],Ie=ie.reduce((de,oe)=>de+oe.
tenants,0),me=D?.histories??[];return s(T,{children:[s(Q,{text:"Histories"}),s("p",{class:"quiet",children:"What this ed\
ge keeps of messages, so that clients that come back get what they have missed."}),s(K,{error:v,known:b!==void 0}),!b&&!v&&
s(J,{what:"the histories"}),(b==="none"||D&&ie.length===0)&&s(Dl,{}),D&&ie.length>0&&s(T,{children:[s(Fl,{totals:ie,onPurge:de=>h(
{history:de})}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(w!==""||
Ie>Rl)&&s(Es,{query:m,names:ie.map(({history:de})=>de),onAgain:C}),me.length>0&&s(Y,{label:"What is kept",columns:Xl(r?{
read:i?u:void 0,purge:h}:void 0),rows:me,keyOf:Ul,busy:g}),!g&&me.length===0&&a.length===1&&s(L,{children:w===""?s("p",{
children:"Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):s("p",{children:"\
Nothing that is kept matches. Ask for less, or clear the filters."})}),s(ue,{page:a.length,more:!g&&(D.next_cursor??"")!==
"",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l([...a,D.next_cursor??""])})]}),i&&s(Rs,{names:ie.map(({history:de})=>de),
target:c,purges:f}),r&&!i&&s("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",s("cod\
e",{children:"tail off"}),"."]})]}),d&&s(Cs,{target:d,onClose:()=>h(void 0),onDone:de=>{h(void 0),p(oe=>oe+1),o(de),C()}})]})}
function Dl(){return s(L,{children:[s("p",{children:"No history is configured at this edge: a message is delivered at mo\
st once, and forgotten."}),s("p",{children:["A history keeps the messages of some channels: ",s("code",{children:"histor\
y <name> { channels … }"})," in the block ",s("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says wha\
t it promises."]})]})}function Fl({totals:n,onPurge:e}){let t=z();return s("div",{class:"cards",children:n.map(o=>s("art\
icle",{class:"card","aria-label":`History ${o.history}`,children:[s("div",{class:"card-head",children:[s("h2",{children:s(
E,{text:o.history})}),!o.configured&&s(O,{mood:"warn",children:o.effective?"not configured here":"not configured any mor\
e"}),o.error&&s(O,{mood:"bad",children:"cannot be used"}),o.configured&&(o.drift??[]).length>0&&s(O,{mood:"warn",children:"\
drift"})]}),o.error&&s("p",{class:"note bad",children:s(E,{text:o.error,most:500})}),s(Ll,{of:o}),s(se,{of:[["Tenants",$(
o.tenants)],["Channels",$(o.channels)],["Messages",$(o.messages)],["Size",q(o.bytes)],["Oldest message",s(j,{at:o.oldest},
"oldest")],...jl(o.effective)]}),t&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`Purge the \
history ${o.history}`,onClick:()=>e(o.history),children:"Purge"})})]},o.history))})}function jl(n){return n?[["Version",
String(n.version)],["Messages of a channel",`up to ${$(n.messages)}`],["Age",`up to ${nt(n.age_seconds*1e3)}`],["Size at\
 most",q(n.size)],["Lag",n.max_lag_seconds===0?"any":`up to ${nt(n.max_lag_seconds*1e3)}`]]:[]}function Ll({of:{drift:n,
remedy:e}}){return!n||n.length===0?null:s("div",{class:"note",children:[s("p",{children:"The edges do not follow this ed\
ge’s file:"}),s("ul",{children:n.map(({field:t,configured:o,effective:r})=>s("li",{children:[t,": ",s(P,{text:r}),", i\
n the file ",s(P,{text:o})]},t))}),e&&s("p",{children:["To change this: ",s(E,{text:e,most:500}),"."]})]})}var Ul=({history:n,
tenant:e})=>`${n}:${e}`;function Xl(n){let e=[{label:"Tenant",cell:({tenant:r})=>s(P,{text:r})},{label:"History",cell:({
history:r})=>s(E,{text:r})},{label:"Channels",number:!0,cell:({channels:r})=>$(r)},{label:"Messages",number:!0,cell:({messages:r})=>$(
r)},{label:"Size",number:!0,cell:({bytes:r})=>q(r)},{label:"Oldest message",cell:({oldest:r})=>s(j,{at:r})}];if(!n)return e;
let{read:t,purge:o}=n;return e.push({label:"Actions",cell:({history:r,tenant:i})=>s("div",{class:"buttons",children:[t&&
s("button",{type:"button","aria-label":`Read ${i} in ${r}`,onClick:()=>t({history:r,tenant:i}),children:"Read"}),s("butt\
on",{type:"button","aria-label":`Purge ${i} in ${r}`,onClick:()=>o({history:r,tenant:i}),children:"Purge"})]})}),e}var Ds=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function Fs({
messages:n,format:e}){let[t,o]=y();return s("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:n.map(r=>s(
Bl,{message:r,format:e,open:t===r.number,onToggle:()=>o(t===r.number?void 0:r.number)},r.number))})}function Bl({message:n,
format:e,open:t,onToggle:o}){let{channel:r,payload:i,at:a,late:l,number:c}=n;return s("li",{children:[s("button",{type:"\
button",class:"expand","aria-expanded":t,"aria-label":`${Ds.format(a)}, message ${c} to ${r}`,onClick:o,children:s("time",
{dateTime:new Date(a).toISOString(),children:Ds.format(a)})}),s("span",{children:[s(P,{text:r,most:120})," ",l&&s(O,{mood:"\
warn",children:"late"})]}),s("span",{class:"quiet",children:q(i.size)}),t?s(Kt,{of:i,format:e,label:`Payload of message ${c}`}):
s("bdi",{class:"preview",children:zt(i,e)})]})}var Jl=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function js({tail:n}){let e=le(),[t,o]=y(""),[r,i]=y(""),[a,l]=y("broadcast"),[c,u]=y(0);return s("section",{
class:"card","aria-labelledby":"test-publish",children:[s("h2",{id:"test-publish",children:"Test publish"}),s(ye,{action:e,
submit:"Publish",onSubmit:async()=>{if(t==="")throw new Error("name the channel");await n.publish(t,r,a),u(h=>h+1)},children:[
s("div",{class:"row",children:[s(x,{label:"Channel",value:t,onInput:h=>o(h.trim()),mono:!0}),s(W,{label:"To",value:a,onInput:h=>l(
h),options:Jl})]}),s(x,{label:"Payload",value:r,onInput:i,rows:2,mono:!0}),s("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var Po;function Ls(n){Po?.remedy||(Po=n)}var we=()=>Po;var k=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;told;constructor(e,t="",o={}){
let r=["tenant","channel","pattern"].map(c=>o[c]===void 0?"":` (${c} ${JSON.stringify(o[c])})`),i=/^(unreachable|token_provider|logged_out)$/.
test(e)?Wl(o.cause):"",a=we()?.remedy?.(e,t,i),l=[t,(e!=="unreachable"||!a)&&i,a].filter(Boolean).join(": ");super($o(`${e}${r.
join("")}: ${l||"the edge says so"}`),"cause"in o?{cause:o.cause}:void 0),this.code=e,this.told={code:e,...t&&{detail:t}},
this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,this.
retryAfter=o.retryAfter}},$o=n=>n.replace(/\p{Cc}/gu," ");function Wl(n){return(we()?.cause?.(n)??`${n?.message??""}`).slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function Us(n,e,t){let o=e===401?"unauthorized":/^(429|50[234])$/.test(`${e}`)?
"unavailable":"unreachable",{origin:r}=new URL(n.replace(/^ws/,"http")),i=e<500?"it is not a Millrace edge":"no edge ans\
wers behind it";return new k(o,`${r} answers with HTTP status ${e}, ${i}`,{status:e,retryAfter:t})}var Tt=({code:n,status:e=500})=>n===
"unreachable"&&e<500;function fe(n,e,t){return n instanceof k?n:new k(e,t,{cause:n})}function ne(n){return new k("disconnected","no connectio\
n to an edge",n===void 0?{}:{cause:n})}var S=()=>performance.now(),We=n=>n.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function U(n){
if(n.aborted)throw We(n)}function ce(n,e,t=new Set){return new Promise((o,r)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),t.delete(l)},a=()=>{i(),r(We(e))},l=()=>{i(),o()},c=setTimeout(l,n);t.add(l),e.addEventListener("abort",a),e.
aborted&&a()})}async function Ae(n,...e){let t,o=new Promise(r=>{t=setTimeout(r,n)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(t)}async function Me(n,e,t,o="the edge does not answer"){U(n);let r=new AbortController,i=c=>{"reas\
on"in r.signal||Object.assign(r.signal,{reason:c}),r.abort(c)},a=()=>i(We(n)),l=setTimeout(()=>i(new k("timeout",o)),e);
n.addEventListener("abort",a);try{return await t(r.signal)}finally{clearTimeout(l),n.removeEventListener("abort",a),r.abort()}}
function xe(n,e){return new Promise((t,o)=>{let r=()=>o(We(e));e.aborted&&r(),e.addEventListener("abort",r),n.then(t,o).
finally(()=>e.removeEventListener("abort",r))})}function Z(n,e){return n<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*
2**Math.min(n-2,30))}var Hl=1e5,ql=new Set(["unconfirmed","history_unavailable","try_later"]),Ao=0,Mo=class{#e=[];#t=new Map;enter(e){let t=this.#e.
length;for(;t>0&&this.#e[t-1]>e;)t--;return this.#e[t-1]!==e&&this.#e.splice(t,0,e),this.#e[0]===e}turn(e){return new Promise(
t=>{this.#t.set(e,t)})}leave(e){let t=this.#e.indexOf(e);t>=0&&this.#e.splice(t,1),this.#t.delete(e),this.#t.get(this.#e[0])?.()}},
Xs=new WeakMap;async function Bs(n,e,t,o,r){let i=t.length>0;Ao=Ao+1>>>0;let a=Ao,l=e(a),c=!1,u=Xs.get(n)??new Mo;Xs.set(
n,u);let d=new AbortController,h=setTimeout(()=>d.abort(ne()),Hl),f;try{for(let p=2;;p++){f=await Gl(n,u,a,i,o,d.signal,
r);try{let m=zl(f,l,a,r);return u.leave(a),await xe(m,d.signal)}catch(m){let{code:w}=m,_=w==="disconnected";if(c||=_||w===
"unconfirmed",U(d.signal),!(c&&i&&(_||ql.has(w))))throw m;_||await ce(Z(p,n.settings),d.signal)}}}catch(p){throw c?new k(
"outcome_unknown","no edge has said whether the message is stored",{...r,cause:p}):p}finally{clearTimeout(h),u.leave(a),
f?.confirms?.settle(a)}}async function zl(n,e,t,o){if(!n.alive||!n.confirms)throw ne();let r=n.confirms.add(t,e.length,o);
return n.send(e),r}async function Gl(n,e,t,o,r,i,a){for(;;){if(n.over)throw n.over;let l=e.enter(t);if(n.held){await xe(
Promise.resolve(n.whenOpen(()=>{})),i);continue}let c=n.out;if(c?.alive)if(c.features===void 0)await xe(c.featured,i);else{
if(!c.features.includes("history")&&!(r&&c.features.includes("work_queue")))throw new k("no_history","the edge has no hi\
stories, and confirms nothing",a);if(l)return c;await xe(e.turn(t),i)}else{if(!o)throw ne();await xe(n.changed(),i)}}}var Js,Ws,Oo=1024,Kl=["PING","PONG","RECONNECT","OK:AUTH"];function Qe(n){return Js??=new TextEncoder,Js.encode(n)}function Oe(n){
Ws??=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0});try{return Ws.decode(n)}catch(e){throw new k("protocol","not UTF-8",
{cause:e})}}var Ql=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["tok\
en_unverifiable",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function at(n,e){let[t,o,...r]=n.
split(":"),i=Ql.get(t);if(i===void 0)return;let a={closeCode:e??i};return t==="forbidden"?new k(`${o}_not_allowed`,r.join(
":")||void 0,a):new k(t,void 0,a)}function Io(n){if(Kl.includes(n))return{kind:n};if(/^LINK:(up|down)$/.test(n))return{kind:"\
LINK",up:n==="LINK:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(e&&n.length<=Oo)return{kind:"FEA\
TURES",features:e};let t=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),o=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(n);if((t||o)&&(n.length<=Oo/3||Qe(n).length<=Oo)&&!n.endsWith(`
`)){if(t)return{kind:"OK",verb:t[1],tenant:t[2],pattern:t[3]};if(o)return Vl(o[1],$o(o[2]??""))}}function Vl(n,e){let[,t,
o,r]=n==="permission_denied"&&/^(.*):(allowed|tenants|by)=([^:]*)(?::connection=.*)?$/s.exec(e)||[];return t===void 0?{kind:"\
ERR",code:n,detail:e}:{kind:"ERR",code:n,detail:t,denial:o,names:r?r.split(","):[]}}function Qt({denial:n,names:e=[]},t){
return n==="by"?"a hook of the edge refuses it":n&&(we()?.denied?.(t,e,n)??`${n}: ${e.join(", ")}`)}function Hs(n){let e=Io(
n);if(!e)throw new k("protocol","an invalid line");return e}var Yl=4096,Vt=class{#e=new Map;#t=[];#n=0;#o;add(e,t,o){return this.note(t),new Promise((r,i)=>{this.#e.set(e,{resolve:r,
reject:i,size:t,about:o})})}note(e,t){e<=Yl||e<this.#n||(this.#o=e>this.#n?t:this.#o??t,this.#n=e)}tooLarge(){for(let[e,
{size:t}]of this.#e)t===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,t=()=>{}){let o=this.#e.
get(e);if(o&&t(o,o.about),this.#e.delete(e),this.#e.size===0)for(let r of this.#t.splice(0))r()}error(e,t,o){let r=/^PUB:(\d+)$/.
exec(t)?.[1];return r===void 0?!1:(this.settle(Number(r),(i,a)=>i.reject(new k(e,o&&Qt(o,`PUB:${a.tenant}:${a.channel}`),
a))),!0)}get owed(){return this.#e.size>0}idle(){return this.#e.size===0?Promise.resolve():new Promise(e=>{this.#t.push(
e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,t=>t.reject(ne()))}};function Ce(n,e,t){e!==void 0&&typeof e!==t&&I(`${n} must be a ${t}`)}function I(n){throw new k("bad_option",n)}var Zl=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::([a-z_]+))?$/,ec=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function zs(n){
let[,e,t="",o="",r="",i]=Zl.exec(n)??[];if(e&&Et(r)){let c={kind:e,tenant:t,pattern:o,position:r};if(e==="OK:RSUB")return/^(complete|gap)$/.
test(`${i}`)?{...c,how:i}:void 0;if(i===void 0||e==="GAP")return i?{...c,reason:i}:c}let[,a,l]=ec.exec(n)??[];if(!(a===void 0||
Number(a)>4294967295||l!==void 0&&!Et(l)))return l===void 0?{kind:"OK:PUB",id:Number(a)}:{kind:"OK:PUB",id:Number(a),position:l}}
function Et(n){let[,e,t]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.exec(n)??[];return e!==void 0&&t!==void 0&&
qs(e)&&qs(t)}var qs=n=>n.length<20||n<="18446744073709551615";var Gs=1e5;function Ks(n,e){if(n==="now"||n==="last")return n;let{last:t,after:o}=n;if(typeof o=="string"&&t===void 0&&Et(
o))return o;if(!Number.isInteger(t)||t<1||t>Gs||o!==void 0){let r=JSON.stringify(n)?.slice(0,99);I(`history is "now", "l\
ast", { last: 1 to ${Gs} } or { after: position }, not ${r}`)}return/[*>#]/.test(e)&&I(`history: { last } is for one cha\
nnel, and ${e} has a wildcard: begin with "last", or behind a position`),`last.${t}`}var Yt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){
this.from=e}get position(){return Et(this.from)?this.from:void 0}get refusal(){return this.forbidden?"no_right":this.plain?
"no_history":void 0}begin(e){this.on=e,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=
void 0,this.open=!1}takes(e,t){return this.on===e&&this.open&&!this.plain&&!tc(t,this.from)}};function tc(n,e){let[t,o=""]=n.
split("."),[r,i]=e.split(".");return t===r&&i!==void 0&&(o.length===i.length?o<=i:o.length<i.length)}var Qs;function Vs(n){return Qs??=new TextDecoder("utf-8",{ignoreBOM:!0}),Qs.decode(n)}var lt=class{tenant;channel;payload;pattern;patterns;late;position;get sender(){
return this.#n?.(),this.#t}own;toOne;#e;#t;#n;constructor(e,t,o,r,i,a,l,c="",u,d=!1,h){this.tenant=e,this.channel=t,this.
payload=o,this.pattern=r,this.patterns=i,this.late=a,this.position=l,this.#t=c,this.#n=h,this.own=u!==void 0,this.toOne=
d,this.#e=u}get key(){return this.#e?.length?Vs(this.#e):void 0}get time(){return this.position===void 0?void 0:new Date(
Number(this.position.split(".")[2]))}text(){return Vs(this.payload)}json(){try{return JSON.parse(this.text().replace(/^\uFEFF/,
""))}catch{throw new SyntaxError("the message is not JSON: use text()")}}};var Zt=class{#e=new Map;#t=new Map;#n=0;unasked;get all(){return[...this.#e.values()]}add(e){let{tenant:t,pattern:o}=e,r=`${t}\
:${o}`,i=this.#e.get(r),{history:a}=e,l=i??{name:r,tenant:t,pattern:o,subs:[],confirmed:!1,waiting:[],history:a,credit:new WeakMap,
lost:0};return l.subs.push(e),this.#e.set(r,l),this.#n++,{interest:l,isNew:!i}}of(e,t){return this.#e.get(`${e}:${t}`)}has(e){
return this.#e.get(e.name)===e}remove(e){let t=this.#e.get(`${e.tenant}:${e.pattern}`),o=t?.subs.indexOf(e)??-1;if(!(!t||
o<0))return t.subs.splice(o,1),t.subs.length===0&&this.drop(t)?t:void 0}drop(e){this.#n++;let t=this.has(e)&&this.#e.delete(
e.name);return t&&this.#t.set(e.name,e),t}ended(e){this.#n++,this.#t.get(e.name)===e&&this.#t.delete(e.name)}dispatch(e,t=!1,o){
let{tenant:r,channel:i,payload:a,route:l,sender:c,own:u,toOne:d=!1}=e,h=l.note?.tenant===r&&l.note.version===this.#n?l.note:
this.#o(r,l);for(let f of h.interests){let{pattern:p,subs:m,history:w,credit:_}=f;if(w&&!w.plain)continue;if(d){let g=o&&
_.get(o);g&&_.set(o,g-1),m.length===0&&f.lost++}let b=new lt(r,i,a,p,l.patterns,t,void 0,c,u,d,this.unasked);if(m.length===
1)m[0].push(b);else for(let g of[...m])g.push(b)}}#o(e,t){let o=t.patterns.map(r=>this.#e.get(`${e}:${r}`)??this.#t.get(
`${e}:${r}`)).filter(r=>r!==void 0);return t.note={tenant:e,version:this.#n,interests:o},t.note}};var en=class{interests=new Zt;asking=new Set;#e;#t=new Set;constructor(e){this.#e=e}async restore(e){let t=this.interests.
all;t.some(r=>r.history)&&await e.featured;let o=e===this.#e.current?t:t.filter(r=>!r.history);await Promise.all(o.map(r=>this.
ask(e,r)))}ask(e,t){let o=this.#n(e,t).finally(()=>this.asking.delete(o));return this.asking.add(o),o}async#n(e,t){try{t.
history?await this.#e.histories?.ask(e,t,t.history):(await this.#o(e,t),this.confirm(t),this.credit(t))}catch(o){let r=fe(
o,"internal","a fault of this client");if(r.code==="disconnected")return;if(t.confirmed&&this.#e.suspected&&e===this.#e.
next)return e.fail(r);this.#r(t,r)}}confirm(e){e.confirmed=!0;for(let{resolve:t}of e.waiting.splice(0))t()}async#o(e,t){
let{name:o,tenant:r,pattern:i}=t;for(let a=2;;a++){try{return await e.request("SUB",o)}catch(l){let c=l;if(c.code!=="try\
_later"||!tn(t))throw c;a===2&&this.#e.events.emit("subscriptionError",{tenant:r,pattern:i,code:c.code})}await e.postpone(
o,Z(a,this.#e.settings))}}#r(e,t){if(!this.interests.drop(e))return;let{tenant:o,pattern:r,subs:i,waiting:a}=e;for(let l of[
this.#e.current,this.#e.next])l?.forget(e.name)&&l.leave(e.name);tn(e)&&this.#e.events.emit("subscriptionError",{tenant:o,
pattern:r,...t.told});for(let l of i)l.end(t);for(let{reject:l}of a.splice(0))l(t);this.interests.ended(e)}async subscribe(e){
let{tenant:t,pattern:o}=e,r;for(;;){if(this.#e.over)throw this.#e.over;r=this.interests.of(t,o);let c=d=>d?.ending.get(`\
UNSUB:${t}:${o}`),u=c(this.#e.current)??c(this.#e.next);if(r||!u)break;await u}if(r&&(r.history||e.history)){let c="one \
with a history is alone: unsubscribe first";throw new k("bad_option",c,r)}let{interest:i,isNew:a}=this.interests.add(e);
if(i.confirmed)return;let l=new Promise((c,u)=>{i.waiting.push({resolve:c,reject:u})});return a&&(this.#e.current&&!this.#e.
leaving&&this.ask(this.#e.current,i),this.#e.next&&!i.history&&this.ask(this.#e.next,i)),l}async leave(e){let t=this.interests.
remove(e);return t?this.#s(t):0}async drain(e){this.#t.add(e),e.ended.then(()=>this.#t.delete(e));let t=this.interests.of(
e.tenant,e.pattern);if(t?.subs.length!==1||t.subs[0]!==e)return void await this.leave(e);this.interests.drop(t)&&await this.#s(
t)}async drainAll(){for(let{subs:e}of this.interests.all)for(let t of[...e])t.drain();await Promise.all([...this.#t].map(
({ended:e})=>e))}async#s(e){for(let{resolve:a}of e.waiting.splice(0))a();let{name:t,history:o}=e,i=[this.#e.current,this.#e.
next].filter(a=>a?.forget(t)||a&&o?.on===a).map(a=>a.leave(t));return await(this.#e.suspected&&i.length>0?Promise.race(i):
Promise.all(i)),this.interests.ended(e),this.discarded(e,e.lost),e.lost}credit(e){let{current:t,leaving:o}=this.#e,{name:r,
subs:i,history:a}=e;if(!t?.alive||o||a||!t.confirmed.has(r)||!t.features?.includes("work_queue"))return;let l=e.credit.get(
t)??0,c=Math.min(...i.map(d=>d.window)),u=c-l-Math.max(...i.map(d=>d.jobs));u<1||2*u<c||(e.credit.set(t,l+u),t.tell(`CRE\
DIT:${r}:${u}`))}follow(){for(let e of this.interests.all)this.credit(e)}took({tenant:e,pattern:t}){let o=this.interests.
of(e,t);o&&this.credit(o)}wasRead(e){this.#e.histories?.wasRead(e)}discarded({tenant:e,pattern:t},o){o>0&&this.#e.events.
emit("discarded",{tenant:e,pattern:t,count:o})}queueFull({tenant:e,pattern:t},o){this.#e.events.emit("queueFull",{tenant:e,
pattern:t,dropped:o})}end(e,t){for(let o of this.interests.all){this.interests.drop(o);for(let r of o.subs)r.end(e);for(let{
reject:r}of o.waiting.splice(0))r(e??t);this.interests.ended(o)}}};function tn({subs:n,waiting:e}){return n.length>e.length}var nc=new Set(["expired","purged","late","lost","behind","no_right","no_history"]),oc=1024,nn=class{#e;#t=new Map;constructor(e){
this.#e=e}begin(e,t){return new Yt(Ks(e,t))}async publish(e,t,o,r){let i=await Bs(this.#e,e,t,o,r);return i!==void 0&&(this.#t.
set(i,t),this.#t.size>oc&&this.#t.delete(this.#t.keys().next().value)),i}confirms(){return new Vt}line(e,t){let o=zs(t);
o?.kind==="OK:PUB"?e.confirms?.settle(o.id,r=>r.resolve(o.position)):o&&(this.#n(e,o),o.kind==="OK:RSUB"&&e.resumed(`${o.
tenant}:${o.pattern}`))}async resume(e){let{interests:t}=this.#e.subscriber,o=t.all.filter(({history:r})=>r);await Promise.
all(o.map(r=>this.#e.subscriber.ask(e,r)))}stored(e,t,o){let{tenant:r,channel:i,payload:a,route:l,sender:c,own:u=this.#t.
get(o)}=t,{patterns:d}=l,h=d[0],{interests:f}=this.#e.subscriber,p=f.of(r,h),{history:m}=p??{};if(!p||!m?.takes(e,o))return;
m.from=o,p.subs[0]?.pushStored(new lt(r,i,a,h,d,!1,o,c,u,!1,f.unasked))===!1&&this.#e.subscriber.interests.has(p)&&(m.pause(),
e.leave(p.name)),this.#e.subscriber.confirm(p)}#n(e,t){let{kind:o,tenant:r,pattern:i,position:a}=t,l=this.#e.subscriber.
interests.of(r,i),{history:c}=l??{};if(!(!l||!c||c.plain)){if(c.on!==e||!c.open){o==="GAP"&&c.paused&&e===this.#e.current&&
this.#o(r,i,a,t.reason);return}if(o==="GAP"||c.takes(e,a)){c.from=a;for(let u of l.subs)u.reach(a)}o==="GAP"?(c.told=!0,
this.#o(r,i,a,t.reason)):o==="OK:RSUB"&&(this.#e.subscriber.confirm(l),t.how==="gap"&&!c.told?this.#o(r,i,a):c.lossy&&this.#o(
r,i,void 0,c.refusal))}}#o(e,t,o,r="unknown"){this.#e.gaps=!0,this.#e.events.emit("gap",{tenant:e,pattern:t,before:o,reason:nc.
has(r)?r:"unknown"})}wasRead(e){let t=this.#e.subscriber.interests.of(e.tenant,e.pattern),{current:o}=this.#e;!t?.history||
t.history!==e.history||(t.history.paused=!1,o&&this.#e.subscriber.ask(o,t))}async ask(e,t,o){let{name:r,tenant:i,pattern:a}=t;
if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===e)){o.begin(e);for(let l=2;;){if(await e.featured,await e.ending.get(`\
UNSUB:${r}`),!e.alive||o.on!==e||!this.#e.subscriber.interests.has(t))return;let c=!e.features?.includes("history")||o.unwanted,
u=o.forbidden?"now":o.from,d=tn(t);o.lossy=c?d||u!=="now":o.forbidden||d&&u==="now",o.plain=c,o.open=!0,c&&(o.from="now");
try{if(!c)return await e.resume(r,u);if(await e.request("SUB",r),!this.#e.subscriber.interests.has(t))return;this.#e.subscriber.
confirm(t),o.lossy&&this.#o(i,a,void 0,o.refusal);return}catch(h){let f=h;if(f.code==="history_unavailable")return this.#e.
gaps=!0,this.#e.events.emit("edgeError",{code:f.code,detail:`RSUB:${r}`});if(o.open=!1,f.code==="permission_denied"&&!c&&
u!=="now")o.forbidden=!0;else if(f.code==="no_history"&&d)o.unwanted=!0;else if(f.code==="try_later"&&d)l===2&&this.#e.events.
emit("subscriptionError",{tenant:i,pattern:a,code:f.code}),await e.postpone(r,Z(l++,this.#e.settings)),e.postponed.delete(
r);else throw f}}}}};function on(n,e){let t;try{t=new URL(n)}catch{}let{username:o,password:r,search:i,hash:a,protocol:l,hostname:c="",pathname:u=""}=t??
{},d=typeof n=="string"&&!(o||r||i||a||/^\/w[st]$/.test(u))&&(l==="https:"||l==="http:"&&(e||rc(c)));if(t&&d)return t;I(
we()?.address(n,t)??"an address is an origin: https://, or http:// on this machine")}function rc(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.
test(n)}async function Ys(n,e,t){try{let o=await e.runtime.fetch(n,e,{cache:"no-store",credentials:"omit",signal:t});return{status:o.
status,pong:o.ok&&(await o.text()).trim()==="pong"}}catch{return{status:0,pong:!1}}}async function Zs(n,e,t){try{let o=await e.
runtime.fetch(n,e,{cache:"no-store",credentials:"omit",signal:t});return await o.arrayBuffer(),o.ok}catch{return!1}}async function ei(n,e,t){
try{return await e.runtime.fetch(n,e,{cache:"no-store",credentials:"omit",mode:"no-cors",signal:t}),!0}catch{return!1}}var ti=3,sc=500;async function ni(n,e,t){let o,r=await Promise.all(n.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await Me(t,e.connectTimeout,l=>ic(a,e,l))}catch(l){return o=l,[]}})),i=[...new Set(r.flat())];if(U(t),i.length===
0)throw o??new k("unreachable","the list has no edge");return i.length>1&&(await Me(t,e.connectTimeout,a=>ac(i,e,a)).catch(
()=>{}),U(t)),i}async function ic(n,e,t){try{let o=await e.runtime.fetch(n.href,e,{cache:"no-store",credentials:"omit",signal:t});
if(!o.ok)throw new k("unreachable",`the list of edges: HTTP status ${o.status}`,{status:o.status});let{edges:r}=await o.
json();return r.map(({host:i})=>on(`https://${i}`,!1).origin)}catch(o){throw fe(o,"unreachable","the list of edges")}}async function ac(n,e,t){
let o=new Map,r,i=new Promise(u=>{r=u}),a=async u=>{let d=[];for(;d.length<ti;){let h=S();if(!await Zs(u+e.paths.ping,e,
t))return;d.push(S()-h)}d.sort((h,f)=>h-f),o.set(u,d[ti>>1]),r()},l=n.map(a);await Promise.race([Promise.all(l),i.then(()=>ce(
sc,t))]);let c=u=>o.get(u)??Number.MAX_VALUE;n.sort((u,d)=>c(u)-c(d))}var lc=.9765625,cc=1e3,dc=32,rn=class{#e=0;#t=0;#n=0;#o=0;#r;#s;#i=lc;publish(e,t){let o=this.#e++===this.#t;return this.#a(
e,t,o),o}request(e,t,o){let r=this.waits(o)===void 0;return this.#a(e,t,r),r}#a(e,t,o){this.#o+=e+dc,this.#s??=t,o&&(this.#r=
t)}waits(e){return this.#e===this.#t&&e>=(this.#r??e)?void 0:this.#r}mark(){let e={publishes:this.#e,bytes:this.#o,first:this.#s};
return this.#t=this.#e,this.#o=0,this.#r=this.#s=void 0,e}proven({publishes:e,bytes:t,first:o},r){this.#n=Math.max(this.#n,
e),o!==void 0&&(this.#i=Math.min(this.#i,(r-o+cc)/t))}sendTime({bytes:e}){return e*this.#i}told(){this.#n++}take(){let e=this.#e-
this.#n;return this.#n=this.#e,e}};var Ct=1e3,uc=3,hc=2**31-1,sn=2e3,Ro=50,ct=class{heard=S();c;settings;spread=1+Math.random()/16;woken=0;over=!1;#e=0;#t;constructor(e,t){
this.c=e,this.settings=t}arrived(e){this.heard=e}active(e){}ponged(e){this.#e=0,this.arm()}awake(e){let t=S();this.asking||
(this.#e=0),!(this.over||this.#e++>=uc)&&(this.woken=t,this.settings.keepAlive>0&&!this.asking&&(e||t-this.heard>=Ct)&&this.
ask(t),this.arm())}stop(){this.over=!0,clearTimeout(this.#t)}get asking(){return this.c.unanswered}get patience(){return this.
settings.keepAlive}get askAt(){let{keepAlive:e}=this.settings;if(e<0)return 1/0;let t=this.c.unreadSince??1/0;return Math.
min(this.heard+this.patience*this.spread,t+Math.min(1e3,e))}lostAt({at:e,sendTime:t}){let{keepAlive:o,pongTimeout:r}=this.
settings;return o<0?1/0:Math.max(e,this.heard,this.woken)+r+t}dueAt(e){return this.lostAt(e)}arm(){clearTimeout(this.#t);
let e=this.asking,t=e?this.dueAt(e):this.askAt;if(this.over||t===1/0)return;let o=S(),r=Math.max(t,o+1);this.#t=setTimeout(
()=>this.#n(r),Math.min(r-o,hc))}#n(e,t=!1){this.look();let o=S();if(o-e>=sn&&this.awake(!1),this.over)return;if(!t&&o-e>
Ro){clearTimeout(this.#t),this.#t=setTimeout(()=>this.#n(o+Ro,!0),Ro);return}let r=this.asking;if(!r)o>=this.askAt&&this.
ask(o);else{if(o>=this.lostAt(r))return this.c.over();this.judge(r,o)}this.arm()}look(){}judge(e,t){}ask(e){this.c.ask()}probe(){
this.c.probe()}};var an=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let t=e-this.#e;if(t<1)return!1;if(this.#e=
e,t>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),t>this.#o&&(this.#o=t),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#o,this.#r)))}};var Lo=1e3,ln=new Set,No,dn=0,Do=0,Fo=0,oi=-1/0,ri=n=>n>Fo&&n<oi+Lo?Fo:n;function pc(n,e){return n>=Lo+sn||e-n>=sn}function Uo(){
let n=S()-dn,e=Date.now()-Do;pc(n,e)&&(cn.document?.visibilityState==="hidden"?un("slept"):jo()),dn+=n,Do+=e}function si(n){
return ln.add(n),No??=fc(),()=>{!ln.delete(n)||ln.size>0||(No?.(),No=void 0)}}function jo(){Fo=dn,oi=S(),un("slept")}function un(n){
for(let e of[...ln])e[n]()}var cn=globalThis;function fc(){dn=S(),Do=Date.now();let n=setInterval(Uo,Lo),{document:e,navigator:t}=cn,
o=()=>{e?.visibilityState==="visible"&&un("slept")},r=()=>un("networkChanged"),i=t?.connection,a=i?.type,c=[[cn,"online",
r],[i,"change",()=>{i?.type!==a&&(a=i?.type,r())}],[cn,"pageshow",jo],[e,"resume",jo],[e,"visibilitychange",o]];for(let[
u,d,h]of c)u?.addEventListener?.(d,h);return()=>{clearInterval(n);for(let[u,d,h]of c)u?.removeEventListener?.(d,h)}}var Xo=1e3,hn=class extends ct{#e=new an(this.heard);#t=-1/0;#n=!1;#o;#r=0;#s=-1/0;#i=-1/0;#a;#l;arrived(e){super.arrived(
e),this.#a=void 0,this.#l?.abort(),this.#l=void 0,(this.#n?this.#e.skip(e):this.#e.arrived(e))&&this.arm(),this.#n&&(this.#n=
!1,this.c.woke())}active(e){let t=this.#c;this.#t=e,t||this.arm()}get#c(){return this.heard-this.#t<1e4}ponged(e){let t=Math.
min(e,2*this.#d);this.#o===void 0?(this.#o=t,this.#r=t/2):(this.#r+=(Math.abs(this.#o-t)-this.#r)/4,this.#o+=(t-this.#o)/
8),super.ponged(e)}stop(){super.stop(),this.#l?.abort()}get asking(){return super.asking??this.#a}get#d(){return Math.max(
Ct,(this.#o??0)+4*this.#r)}get patience(){let e=this.#c?this.#e.unusual:1/0;return Math.min(super.patience,e,this.c.owed?
3e3:1/0)}suspectAt({at:e,sendTime:t}){return Math.max(e,this.heard,this.woken)+(this.#a?Ct:this.#d)+t}lostAt({at:e,sendTime:t}){
let{keepAlive:o,pongTimeout:r}=this.settings;if(o<0)return 1/0;let i=Math.max(this.heard,this.woken);return Math.max(e+r,
i+o+r)+t}look(){Uo()}dueAt(e){return Math.min(this.#n?1/0:this.#u(e),super.dueAt(e),this.#s+Xo)}#u(e){return Math.max(this.
suspectAt(e),this.#i+Xo)}judge(e,t){!this.#n&&t>=this.#u(e)&&this.#h(t),this.over||this.probe()}#h(e){this.#n=this.c.silent(),
this.#n||(this.#i=e)}ask(e){if(this.c.pingFirst===void 0||this.c.unreadSince!==void 0)return this.c.ask();this.#a={at:e,
sendTime:0},this.#s=-1/0,this.probe()}probe(){let e=S();e-this.#s<Xo||(this.#s=e,this.c.pingFirst!==void 0&&(this.#n||this.#a)?
this.#p(this.c.pingFirst):this.c.probe())}async#p(e){if(this.#l)return;let t=new AbortController;this.#l=t;let o=setTimeout(
()=>t.abort(),Ct),r=await ei(e,this.settings,t.signal);clearTimeout(o),!(this.over||this.#l!==t)&&(this.#l=void 0,r?(this.#a=
void 0,this.c.unanswered?this.c.probe():this.c.ask()):this.#a&&(this.#a={at:-1/0,sendTime:0}),this.arm())}};function He({tenant:n,channel:e,payload:t}){let o=`${n}:${e}:`;for(let r=0;r<t.length;r+=1024)o+=String.fromCharCode(...t.
subarray(r,r+1024));return o}var _e=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){for(;this.#t[this.#n]?.entry===
void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.flatMap(({entry:e})=>e??
[])}put(e,t,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=0);let r={entry:{key:e,time:t,
message:o}};this.#t.push(r);let i=this.#o.get(e);return i?i.push(r):this.#o.set(e,[r]),this.size++,this.#e+=e.length,this.
size>65536||this.#e>16777216?this.drop():void 0}take(e){let t=this.#o.get(e),o=t?.shift();return!t||!o?!1:(t.length===0&&
this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;return e&&this.take(e.key),e}dropUntil(e){
let t=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&t.push(o.message);return t}};var ii=1e3,bc=1e4,dt=class{#e=new _e;#t=new _e;#n=new _e;#o=ii;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,bc-ii)}fromCurrent(e,t){let o=He(e);return this.#i(t),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromNext(e,t,o){if(this.late(e,t))return;if(o)return this.#n.put(He(e),
t),e;let r=this.#t.put(He(e),t,{...e});return r&&this.#n.put(r.key,t),r?.message}late(e,t){return this.#i(t),this.#e.size>
0&&this.#e.take(He(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new _e;
for(let{key:e,time:t}of this.#t.all)this.#e.put(e,t)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new _e;for(let{
key:t}of this.given)this.#e.put(t,e);this.#n=new _e}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var pn=250,fn=2e3;async function mn(n,e,t,o,r){for(;n.merger&&!n.merger.done(S());)await ce(50,o);n.merger=new dt,n.both=
!0;let i=r!==void 0;n.tentative=i;let{place:a}=n,l=!1,c=()=>{l||n.events.emit("moving",{...a,reason:t}),l=!0};i||c();let u=0;
for await(let d of n.searcher.order(e.edge,t!=="drain",o)){let h=r;if(r=void 0,!h){await n.pause(Math.max(Z(++u,n.settings),
n.searcher.wait(d)),o);try{h=await n.searcher.open(d,o)}catch(f){if(U(o),!(f instanceof k)||n.searcher.hopeless(d,f,!0))
throw f;continue}}if(o.aborted)return void h.close();if(h.alive){n.next=h,n.merger.joined(S()),n.merger.release();let f=n.
restore(h);n.tentative&&h.ping().catch(()=>{}),await f}if(n.tentative){if(U(o),n.next!==h)return n.keepCurrent();n.tentative=
!1}if(h.alive){if(await yc(n,e,h,c,o),U(o),n.current!==h){if(i)return n.keepCurrent();continue}h.alive&&(c(),n.since=S(),
n.events.emit("moved",{...n.place,reason:t}));return}}}async function yc(n,e,t,o,r){let i=()=>n.next===t&&n.current===e;
if(!i())return;n.gate??=[];let a=Ae(fn,e.ping()).then(()=>{i()&&n.openGate(t)}),l=3;do await ce(pn,r);while(--l&&n.merger?.
behind);await Ae(fn,Promise.all([...n.subscriber.asking,...n.presences?.asking??[]]));for(let u=fn;u>0&&i()&&n.presences&&
!n.presences.hasSynced(t);u-=pn)await ce(pn,r);for(;i()&&t.postponed.size>0;)await ce(pn,r);if(!i())return;o(),n.leaving=
!0;let c=[...e.asked].map(u=>e.leave(u));await Ae(fn,e.ended,Promise.allSettled([...c,e.ping(),e.confirms?.idle()])),await a,
i()&&n.promote(),n.leaving=!1}var ut=class{#e;#t=[];start(e){let t=this.#t;this.#t=[],this.#e=e;for(let o of t)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(t=>t.line(e))}frame(e,t,o){this.#e?this.#e.frame(e,t,o):this.#t.push(r=>r.frame(e,t,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(t=>t.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var ai=1<<20,wc=1e3;async function gn({edge:n,token:e,signal:t},o){let{paths:r,runtime:i}=o,{promise:a,resolve:l,reject:c}=vc(),
u=new ut,d=!1,h=await i.socket(n.replace("http","ws")+r.webSocket,e,o,{refused(g){d=!0,c(g)},bytes:()=>u.bytes()});h.binaryType!==
"nodebuffer"&&(h.binaryType="arraybuffer");let f=()=>h.terminate?h.terminate():h.close(),p=()=>{c(We(t)),f()};t.addEventListener(
"abort",p),t.aborted&&p();let m=!1,w,_;h.onerror=({error:g})=>{w=g},h.onopen=()=>{if(h.protocol==="refusal.v1"){h.onmessage=
({data:g})=>{let[,v,C]=/^ERR:([a-z_]+)(?::(.*?))?(?::( in|connection=).*)?$/s.exec(String(g))??[];v&&(d=!0,c(new k(v,C)))};
return}m=!0,t.removeEventListener("abort",p),l({transport:"websocket",fragile:!1,start:g=>u.start(g),send:g=>m&&h.send(g),
sent:()=>m&&h.bufferedAmount>ai?b():void 0,probe(){},close(){h.close(1e3),_??=setTimeout(()=>{f(),u.ended({})},wc)}})},h.
onclose=({code:g})=>{clearTimeout(_),m?(m=!1,u.ended({closeCode:g})):d||_c(n,o,t,w).then(c,c),t.removeEventListener("abo\
rt",p)},h.onmessage=({data:g})=>{typeof g=="string"?u.line(g):ArrayBuffer.isView(g)?u.frame(new Uint8Array(g.buffer,g.byteOffset,
g.byteLength),0,g.byteLength):u.frame(new Uint8Array(g),0,g.byteLength)};async function b(){for(;m&&h.bufferedAmount>ai;)
await new Promise(g=>setTimeout(g,5))}return a}async function _c(n,e,t,o){let{status:r,pong:i}=await Ys(n+e.paths.ping,e,
t);return r&&!i?Us(n,r):i?new k("refused","the edge refuses the WebSocket"):new k("unreachable",`no WebSocket at ${n}${e.
paths.webSocket}`,{cause:o})}function vc(){let n,e;return{promise:new Promise((o,r)=>{n=o,e=r}),resolve:n,reject:e}}var ht=class{settings;constructor(e){this.settings=e}canWebTransport(e){return!1}forget(){}noteSilent(e,t=!1){}async open(e,t,o,r){
let{transports:i,connectTimeout:a}=this.settings;return i.includes("websocket")||I('WebTransport: add import "@millrace/\
client/webtransport"'),Me(o,a,l=>gn({edge:e,token:t,signal:l},this.settings))}};function pt({code:n,status:e}){return e&&
n==="unreachable"?1.5:["unreachable","timeout","refused","protocol_not_allowed"].indexOf(n)>>>0}var kc=1e4;async function li(n,e,t,o){n.reconnecting=!0,n.lose();for(let r of n.subscriber.interests.all)r.confirmed=!1;
n.events.emit("disconnected",{...n.place,error:t}),t.code==="token_expired"&&e.token===n.tokens.token&&n.tokens.expire(),
S()-n.since>kc&&(n.attempts=0);for await(let r of n.searcher.order(e.edge,!1,o)){let i=++n.attempts,a=Math.max(Z(i,n.settings),
n.searcher.wait(r));n.events.emit("reconnecting",{attempt:i,delay:a}),await n.pause(a,o);try{let l=await n.searcher.open(
r,o);if(o.aborted)return void l.close();if(n.setCurrent(l),await n.restore(l),U(o),!l.alive)continue;n.reconnecting=!1,n.
since=S();let c=!n.gaps&&n.subscriber.interests.all.every(u=>u.history);return n.events.emit("reconnected",{...n.place,away:S()-
n.heard(e),complete:c})}catch(l){if(U(o),!(l instanceof k)||n.searcher.hopeless(r,l,!1))throw l}}}var Jo=["broadcast","one-nearest","one-random"];function Wo(n,e,t,o,r){let i=typeof t=="string"?Qe(t):t,a=r?7+r.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+n.length+e.length+i.length);return a>0&&(l[0]=r?3:2,l[1]=o??0),r&&(new DataView(l.buffer).
setUint32(2,r.id),l[6]=r.key.length,l.set(r.key,7)),l.set(i,ci(l,ci(l,a,n),e)),l}function ci(n,e,t){n[e++]=t.length>>8,n[e++]=
t.length;for(let o=0;o<t.length;o++)n[e++]=t.charCodeAt(o);return e}var hi=1,pi=2,fi=4,mi=8,Bo=24,xc=128,Sc=64,Tc={4:hi|
pi|fi|mi,5:7};function Ho(n,e,t){if(e===t||n[e]===1)return!1;let o=Tc[n[e]];return o===void 0||e+1<t&&(n[e+1]&~o)!==0}var bn=class{#e=new Pt;#t=new Pt;#n=new Pt;#o={};decode(e,t,o){
let r=g=>{g>o&&Pe()},i=g=>(r(g+2),e[g]<<8|e[g+1]);(t===o||e[t]===5||Ho(e,t,o))&&Pe();let a,l="",c,u=0,d=g=>{r(t+2);let v=t+
2;return t=v+e[t+1]-1,t-v>=g&&Pe(),r(t+1),v};if(e[t]===4){if(u=i(t)&255,u===0&&Pe(),t++,u&hi&&(r(t+1+Bo),a=Ec(e,t+1),t+=
Bo),u&pi){let g=d(xc);l=this.#n.of(e,g,t+1,()=>Oe(e.subarray(g,t+1)))}u&mi&&(c=e.slice(d(Sc),t+1))}let h=a!==void 0,f=t+
3+i(t+1),p=f+2+i(f),m=p+4;r(m);let w=m+i(p)*65536+i(p+2);(i(w)===0||h&&i(w)!==1)&&Pe();let _=this.#e.of(e,t+1,p,()=>[Oe(
e.subarray(t+3,f)),Oe(e.subarray(f+2,p))]),b=this.#o;return b.tenant=_[0],b.channel=_[1],b.payload=e.subarray(m,w),b.route=
this.#t.of(e,w,o,()=>{let g=[],v=w+2;for(let C=i(w);C>0;C--){let D=v+2+i(v);r(D),g.push(Oe(e.subarray(v+2,D))),v=D}return v!==
o&&Pe(),{patterns:Object.freeze(g),note:void 0}}),b.position=a,b.sender=l,b.toOne=(u&fi)!==0,b.own=c,b}};function Ec(n,e){
let t=new DataView(n.buffer,n.byteOffset+e,Bo);return`${di(t,0)}${di(t,4)}.${ui(t,8)}.${ui(t,16)}`}var di=(n,e)=>n.getUint32(
e).toString(16).padStart(8,"0");function ui(n,e){let t=n.getUint32(e);return t<2097152?String(t*4294967296+n.getUint32(e+
4)):String(n.getBigUint64(e))}function Pe(){throw new k("protocol","a broken frame")}var Cc=256,Pc=1024,Pt=class{#e=[];of(e,t,o,r){
let i=0;for(let u=t;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&Cc-1,l=this.#e[a];if(l&&$c(l.bytes,e,t,o))return l.
value;let c=r();return o-t<=Pc&&(this.#e[a]={bytes:e.slice(t,o),value:c}),c}};function $c(n,e,t,o){if(n.length!==o-t)return!1;
for(let r=0;r<n.length;r++)if(n[r]!==e[t+r])return!1;return!0}var yn=class{#e=new Map;add(e,t){let o=this.#e.get(e);o?o.push(t):this.#e.set(e,[t])}answer(e,t){let o=this.#e.get(e),r=o?.
shift();return r?(o?.length===0&&this.#e.delete(e),t(r),!0):!1}get owed(){for(let e of this.#e.keys())if(!/^(RSUB|AGAIN):/.
test(e))return!0;return!1}reject(e){let t=[...this.#e.values()].flat();this.#e.clear();for(let o of t)o.reject(e)}};var wn=class{edge;transport;token;begun=S();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;confirms;error;ended;#e;#t;#n;#o=new bn;#r=new yn;#s;#i=[];#a=new Set;#l=new rn;#c=!1;#d=!0;#u=!0;#h;constructor(e,t,o,r,i){
this.edge=e,this.transport=t.transport,this.token=o,this.#e=t,this.confirms=r.confirms(),this.#t=r;let a=this;this.#n=r.
watch({get unanswered(){return a.#i[0]},get unreadSince(){return a.#l.waits(a.lastByte)},get owed(){return a.#r.owed||a.
confirms?.owed===!0},pingFirst:t.fragile?e+i.paths.ping:void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>t.probe(),silent:()=>this.#t.
silent(this),woke:()=>this.#t.woke(this),over:()=>this.fail(new k("timeout","the edge does not answer"))}),this.featured=
new Promise(c=>{this.#s=c});let l;this.ended=new Promise(c=>{l=c}),t.start({bytes:()=>{this.alive&&this.#n.arrived(S())},
line:c=>this.#_(()=>this.#m(c)),frame:(c,u,d)=>{if(!this.alive||(this.#f(),Ho(c,u,d)))return;let h;try{if(c[u]===5)return this.#t.
presence(this,c,u,d);h=this.#o.decode(c,u,d)}catch(f){return this.#b(f)}this.#t.delivered(this,h)},ended:c=>{l(),this.#v(
c)}}),this.#c=!0,this.alive&&this.send(`FEATURES:link,work_queue,own,reasons${i.sender?",sender":""}`),this.alive&&this.#n.
arm()}get lastByte(){return this.#n.heard}request(e,t,o=""){e==="SUB"&&this.asked.add(t);let r=`${e}:${t}`,i=this.#p(r);
return this.alive&&this.send(r+o),i}resume(e,t){let o=this.#p(`RSUB:${e}`);return this.alive&&this.send(`RSUB:${e}:${t}`),
o}leave(e,t="UNSUB"){let o=`${t}:${e}`,i=this.request(t,e).catch(()=>{}).then(()=>{this.ending.get(o)===i&&this.ending.delete(
o)});return this.ending.set(o,i),i}resumed(e){this.#r.answer(`RSUB:${e}`,t=>t.resolve())}postpone(e,t){this.postponed.add(
e);let o=`AGAIN:${e}`,r=setTimeout(()=>this.#r.answer(o,i=>i.resolve()),t);return this.#p(o).finally(()=>clearTimeout(r))}#p(e){
return new Promise((t,o)=>{this.alive?this.#r.add(e,{resolve:t,reject:o}):o(ne())})}forget(e){return this.confirmed.delete(
e),this.postponed.delete(e),this.#r.answer(`AGAIN:${e}`,t=>t.reject(ne())),this.asked.delete(e)}ping(){return new Promise(
(e,t)=>{if(!this.alive)return t(ne());let o=this.#l.mark();this.#i.push({at:S(),sendTime:this.#l.sendTime(o),mark:o,resolve:e,
reject:t}),this.#e.send("PING"),this.#n.probe(),this.#i.length===1&&this.#n.arm()})}publish(e,t){this.confirms?.note(e.length,
t);let o=this.#l.publish(e.length,S());this.#e.send(e),o&&this.#n.arm();let r=this.#e.sent();return r&&new Promise(i=>{let a=()=>{
this.#a.delete(a),i()};this.#a.add(a),r.then(a,a)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=e,this.#n.stop(),this.#r.
reject(ne()),this.confirms?.fail();for(let t of this.#i)t.reject(ne());for(let t of this.#a)t()}tell(e){this.#e.send(e)}send(e){
let t=this.#l.request(e.length,S(),this.lastByte);this.#e.send(e),t&&this.#n.arm()}takeUnread(){return this.#l.take()}close(){
return this.alive&&(this.#y(ne()),this.#e.close()),this.ended}#f(){let e=S();this.#n.arrived(e),this.#n.active(e)}#m(e){
e==="PONG"?this.#n.arrived(S()):this.#f();let t=Io(e);if(!t)return this.#t.line(this,e);if(t.kind==="OK"){let o=`${t.tenant}\
:${t.pattern}`;if(this.#r.answer(`${t.verb}:${o}`,r=>r.resolve())&&t.verb==="SUB"&&(this.confirmed.add(o),this.postponed.
delete(o)),t.verb==="UNSUB")for(;this.#r.answer(`RSUB:${o}`,r=>r.reject(ne())););}else if(t.kind==="ERR")this.#w(t.code,
t.detail,e.slice(4),t);else if(t.kind==="PING")this.#e.send("PONG");else if(t.kind==="PONG"){let o=this.#i.shift();if(!o)
return;let r=S()-o.at;this.#l.proven(o.mark,S()),o.resolve(r),this.#n.ponged(r),this.#t.roundTrip(r)}else t.kind==="RECO\
NNECT"&&!this.drains?(this.drains=!0,this.#t.draining(this)):t.kind==="FEATURES"?this.#g(t.features.split(",")):t.kind===
"LINK"&&(this.#u=t.up,this.#d||this.#g())}#g(e=this.features??[]){this.#d=!1,this.features=e,this.#s(),this.link=this.#u,
this.#t.linked()}#w(e,t,o,r){if(this.#d&&e==="bad_request")return this.#g();let i=at(o);if(i&&(this.#h=o),this.confirms?.
error(e,t,r))return;let a=Qt(r,t),[,l,c,u]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(t)??[];!(c!==
void 0&&u!==void 0&&e!=="broker_unavailable"&&this.#r.answer(t,h=>h.reject(new k(e,a,l?{tenant:c,channel:u}:{tenant:c,pattern:u}))))&&
!/^(token_|unauthorized|forbidden|closed_by)/.test(e)&&this.#t.errorLine(this,e,t,a),(e==="token_revoked"||e==="token_ex\
pired")&&this.fail(i)}#_(e){if(this.alive)try{e()}catch(t){this.#b(t)}}#b(e){this.fail(fe(e,"protocol","the edge broke t\
he protocol"))}fail(e){this.#y(e),this.#e.close(),this.#c&&this.#t.lost(this,e)}#v({closeCode:e,error:t}){if(!this.alive)
return;let o=this.#h===void 0?void 0:at(this.#h,e),r=e===4401?"token_expired":e===4403?"token_revoked":"disconnected",i=o?.
code!=="slow_consumer"||e===4429,a="the connection has ended";if(e===1009){a="a message was too large";let c=this.confirms?.
tooLarge();c&&(this.#l.told(),this.#t.errorLine(this,"payload_too_large",`PUB:${c.tenant}:${c.channel}`))}let l=o&&i?o:t??
new k(r,a,{closeCode:e});this.#y(l),this.#c&&this.#t.lost(this,l)}#y(e){this.alive=!1,this.error=e,this.#n.stop();let t=ne(
e);this.#s(),this.#r.reject(t),this.confirms?.fail();for(let o of this.#i)o.reject(t);this.#i=[]}};var qo=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,Ac=/^(unauthorized|token_expired|region_not|protocol_not)/,
Mc=5,Oc=6e4,_n=class{#e;#t;#n;#o;dialer;#r=[];#s=new Map;#i;#a=!1;#l=!1;#c=0;#d=0;#u=new Map;drained=new Set;constructor(e,t,o,r,i){
this.#e=e,this.#t=t,this.#n=o,this.#o=r,this.dialer=i}async first(e){await xe(this.#n.get(),e),this.#r=await this.#o.edges(
this.#e,e);let t;for(let o of this.#r)try{return await this.open(o,e)}catch(r){if(!(r instanceof k)||qo.test(r.code)||r.
code==="token_provider")throw r;(!t||pt(r)>pt(t))&&(t=r),this.#a=Tt(r)?this.#p(o,r):this.hopeless(o,r,!1)}throw t}final(e){
return!(e instanceof k)||qo.test(e.code)||this.#a?!0:e.code==="token_provider"?e.cause?.code==="bad_option":this.#r.length===
0&&Tt(e)}async*order(e,t,o){for(;;){let r=this.#r.filter(a=>a!==e),i=t?[e,...r]:r.length<this.#r.length?[...r,e]:r;for(let a of i)
i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.some(a=>a.pathname!=="/"))try{this.#r=await this.#o.edges(this.#e,
o)}catch{U(o)}}}wait(e){return Math.max(0,(this.#u.get(e)??0)-S())}async open(e,t,o){let r=await this.#n.get();try{return await this.#h(
e,r,t,o)}catch(i){if(!(i instanceof k&&/^(unauthorized|token_expired|refused)$/.test(i.code))||!this.#n.provided)throw i;
let l=await this.#n.ask();if(l===r)throw i;return this.#h(e,l,t,o)}}async#h(e,t,o,r){t!==this.#i&&(this.#i=t,this.#s.clear(),
this.dialer.forget());let i=await this.dialer.open(e,t,o,r).catch(l=>{let{retryAfter:c=0}=l;throw this.#u.set(e,S()+Math.
min(c,this.#t.maxBackOff)),l});this.#l=!0,this.drained.delete(e),this.#u.delete(e);let a=new wn(e,i,t,this.#o,this.#t);if(a.
error)throw a.error;return this.#c=0,this.#s.clear(),a}hopeless(e,t,o){let{code:r}=t;r==="unreachable"&&this.drained.delete(
e);let i=r==="unauthorized"&&this.#n.provided;return i&&this.#l&&this.#n.failed(t),i||r==="refused"?o||this.drained.has(
e)?!1:(this.#c++===0&&(this.#d=S()),this.#c>=Mc&&S()-this.#d>=Oc):(this.#c=0,qo.test(r)?!0:Ac.test(r)&&this.#p(e,t))}#p(e,t){
return this.#s.set(e,t),this.#r.every(o=>this.#s.has(o))}};function Ve(n,e,t){let o=t.split(" ");if(o.includes(e))return;let r=String(e).slice(0,32),i=we()?.nearest(r,o)??"";throw new k(
"bad_option",`${n} ${JSON.stringify(r)}: allowed are ${o.join(", ")}${i}`)}function Se(n,e,t){if(typeof e!="object"||e===
null)throw new k("bad_option",`${n} must be an object: allowed are ${t}`);for(let o of Object.keys(e))Ve(`${n} has no`,o,
t)}var gi="connecting connected disconnected reconnecting reconnected gap suspect recovered moving moved publishError publi\
shUnknown subscriptionError slowConsumer limited discarded linkDown linkUp queueFull edgeError roundTrip closed",zo=Symbol.
for("millrace.quiet"),Ic=1024,vn=class{#e=new Map;#t=[];#n=!1;#o;constructor(e,t){this.#o=t,e&&Se("on",e,gi);for(let[o,r]of Object.
entries(e??{}))r&&this.on(o,r)}on(e,t){Ve("there is no event",e,gi),Ce(`the handler of ${e}`,t??0,"function");let o=i=>t(
i);zo in t&&Object.assign(o,{[zo]:!0});let r=this.#e.get(e)??new Set;return this.#e.set(e,r.add(o)),()=>{r.delete(o)}}emit(e,t){
this.#t.push([e,t])>Ic&&this.#t.shift(),this.#n||this.#r()}async#r(){this.#n=!0,await null;for(let e=this.#t.shift();e;e=
this.#t.shift()){let t=[...this.#e.get(e[0])??[]];t.every(o=>zo in o)&&this.#o.event(e[0],e[1]);for(let o of t)try{await o(
e[1])}catch(r){ft(r)}}this.#n=!1}};function ft(n){queueMicrotask(()=>{throw n})}var Rc="https://github.com/millrace/millrace/blob/main/docs/errors.md#",Nc={publishError:"",publishUnknown:"outcome_unkn\
own",subscriptionError:"",edgeError:"",gap:"gap",queueFull:"queue_full",discarded:"queue_full",slowConsumer:"slow_consum\
er",limited:"limited",connecting:"",closed:""},kn=class{#e;#t=new Set;constructor(e=console){this.#e=e}event(e,t){let{error:o,
code:r,tenant:i,pattern:a,channel:l,detail:c,cause:u,before:d,...h}=t,f=Nc[e];if(f===void 0||e==="closed"&&!o)return;let p=Object.
entries(h).flatMap(([_,b])=>b===void 0?[]:`${_} ${b}`),m={...i&&{tenant:i},...l&&{channel:l},...a&&{pattern:a}},w=o??new k(
f||r,c??p.join(", "),m);this.say(`${f?"":`${e}: `}${w.message}`,w.code,e)}say(e,t,o=""){let r=o+t;if(!(this.#t.has(r)||this.#t.
size>99)){this.#t.add(r);try{this.#e?.warn(`millrace: ${e} ${Rc}${t}`)}catch{}}}};var xn={options:"",socket:(n,e,{webSocket:t=WebSocket})=>new t(n,["llps.v1","refusal.v1",`at.${e}`]),fetch:(n,e,t)=>fetch(
n,t),proxied:()=>!1};function Sn(n,e="access"){let t=e==="access"?"AT_":"MT_";if(typeof n=="string"&&n.startsWith(t)&&/^[\w.~+-]{4,512}$/.test(
n))return n;let o=we()?.secret(n,e)??"this does not";throw new k("bad_option",`the ${e} token begins with ${t}: ${o}`)}var Dc=["drop-oldest","drop-newest","end"],bi=["webtransport","websocket"];function Ye(n,e,t,o=0){return e!==void 0&&!(Number.
isFinite(e)&&e>=o&&e<2**31)&&I(`${n} must be a number below 2^31${o<0?"":", 0 or more"}, not ${JSON.stringify(e)}`),e||t}
function yi(n,e,t){return Ve(`${n}:`,e,t.join(" ")),e}function Ko(n,e){return{queue:Math.ceil(Ye("queue",n.queue,e.queue)),
queuePolicy:yi("queuePolicy",n.queuePolicy??e.queuePolicy,Dc)}}var Fc="token tokenProvider transports fallbackAfter conn\
ectTimeout failFast keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintext serverCertificate\
Hashes sender signal on logger webSocket";function wi(n,e=xn){Se("the object of options",n,Fc+e.options),Se("paths",n.paths??
{},"webSocket webTransport ping");let{token:t,tokenProvider:o,transports:r=bi,sender:i=!1,webSocket:a}=n;t===void 0==(o===
void 0)&&I(`give one of token and tokenProvider: ${t===void 0?"none is set":"not both"}`),Ce("tokenProvider",o,"function"),
Ce("sender",i,"boolean"),Ce("webSocket",a,"function"),Ce("logger.warn",n.logger?n.logger.warn??0:void 0,"function"),r.length===
0&&I("transports must not be empty");for(let c of r)yi("transports",c,bi);"TextEncoder"in globalThis&&"TextDecoder"in globalThis||
I("no TextEncoder or TextDecoder");let l=Ye("minBackOff",n.minBackOff,250);return{token:t===void 0?void 0:Sn(t),tokenProvider:o,
transports:[...new Set(r)],fallbackAfter:Ye("fallbackAfter",n.fallbackAfter,2e3),connectTimeout:Ye("connectTimeout",n.connectTimeout,
1e4),keepAlive:Ye("keepAlive",n.keepAlive,25e3,-1/0),pongTimeout:Ye("pongTimeout",n.pongTimeout,1e4),minBackOff:l,maxBackOff:Math.
max(l,Ye("maxBackOff",n.maxBackOff,15e3)),...Ko(n,{queue:1024,queuePolicy:"drop-oldest"}),sender:i,failFast:n.failFast===
!0,paths:{webSocket:Go(n.paths?.webSocket??"/ws"),webTransport:Go(n.paths?.webTransport??"/wt"),ping:Go(n.paths?.ping??"\
/ping")},allowPlaintext:n.allowPlaintext===!0,hashes:n.serverCertificateHashes,webSocket:a,proxy:n.proxy,runtime:e}}function Go(n){
return/^\/[^?#]*$/.test(n)||I("paths must start with a slash"),n}var Tn=class{settings;events;loud;subscriber=new en(this);current;next;suspected;leaving=!1;gaps=!1;reconnecting=!1;place={
edge:"",transport:"websocket"};rtt;limitedUntil=0;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e,t){this.settings=
wi(e,t),this.loud=new kn(e.logger),this.events=new vn(e.on,this.loud)}setCurrent(e){this.current=e,this.place={edge:e.edge,
transport:e.transport},this.presences?.follow(),this.linked(),this.change(),this.since&&this.follow(e)}follow(e){}change(){
for(let e of this.#n.splice(0))e()}changed(){return new Promise(e=>{this.#n.push(e)})}lose(){this.current=void 0,this.gaps=
!1,this.presences?.follow()}async restore(e){await Promise.all([this.subscriber.restore(e),this.presences?.restore(e)])}delivered(e,t){
t.position===void 0?this.subscriber.interests.dispatch(t,!1,e):this.histories?.stored(e,t,t.position)}presence(e,t,o,r){
this.presences?.frame(e,t,o,r)}line(e,t){this.histories?.line(e,t)}linked(){let{link:e,edge:t}=this.current??{};!this.since||
!t||e===void 0||e===this.#e||(this.#e=e,this.events.emit(e?"linkUp":"linkDown",{edge:t}))}reportUnread(e){let t=e.takeUnread(),
{edge:o,transport:r}=e;t>0&&this.events.emit("publishUnknown",{edge:o,transport:r,count:t})}get waits(){return this.#t.size>
0}hurry(){for(let e of[...this.#t])e()}heard(e){return e.lastByte}pause(e,t){return ce(e,t,this.#t)}get out(){return this.
current}publishConnection(){if(this.over)throw this.over;let{out:e}=this;if(!e?.alive)throw ne();return e}get held(){return!1}whenOpen(e){
return e()}};function _i(n){if(typeof n=="number")return n;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!e){let i='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new k("bad_option",i)}let[t=0,o=0,r=0]=e.slice(1).map(i=>Number(
i??0));return(t*60+o)*60+r}var jc=2**31-1,vi=1e3,Lc="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function Uc(n,e){return n===
1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-e*n/10)}var En=class{#e;#t;failed;#n=new AbortController;#o;#r=1/0;#s;#i=!1;#a=-1/0;#l;#c=0;constructor(e,t,o){
this.#e=e,this.#o=e.token,this.#t=t,this.failed=o}get token(){return this.#o}get provided(){return this.#e.tokenProvider!==
void 0}get(){return this.#o!==void 0&&S()<this.#r?Promise.resolve(this.#o):this.ask()}ask(){return this.#s??=this.#d().finally(
()=>{this.#s=void 0,this.#i=!1}),this.#s}async renew(){this.#i&&await this.#s?.catch(()=>{}),await this.ask(),this.#t()}async#d(){
clearTimeout(this.#l);let{tokenProvider:e,connectTimeout:t,minBackOff:o}=this.#e,{signal:r}=this.#n;try{let i=this.#a+vi;
for(;S()<i;)await ce(i-S(),r);this.#i=!0;let l=await Me(r,t,c=>xe(Promise.resolve(e?.()),c),`no answer within ${t} ms`).
finally(()=>{this.#a=S()});return this.#u(l&&typeof l=="object"?l:{token:l}),this.#o}catch(i){this.#r>0&&this.#r<1/0&&this.#h(
Math.max(o,Z(++this.#c+1,this.#e)));let a=i?.name==="LoggedOutError",l=`the token provider ${a?"will give":"gave"} no to\
ken`,c=new k(a?"logged_out":"token_provider",l,{cause:i});throw this.#o!==void 0&&!r.aborted&&this.failed(c),c}}#u(e){Se(
"the token provider's answer",e,Lc);let t=e.expiresIn??e.expires_in,o=e.expiresAt??e.expires_at,r=1/0;t!=null?r=_i(t)*1e3:
o!=null&&(r=new Date(o).getTime()-Date.now()),t==null&&r<=0&&(r=1/0),r>0||I("expiresIn must be above 0, expiresAt a time"),
this.#o=Sn(e.token??e),this.#r=S()+r,this.#c=0,this.#h(Math.max(vi,Uc(r,Math.random())))}#h(e){if(this.#n.signal.aborted||
!(e<1/0))return;let t=this.#o;this.#l=setTimeout(()=>this.ask().then(o=>o!==t&&this.#t(),()=>{}),Math.min(e,jc))}expire(){
this.provided&&(this.#r=-1)}stop(){this.#n.abort(),clearTimeout(this.#l)}};var Xc=6e4,Bc=2e3,mt=class extends Tn{tokens;searcher;histories;presences;closed;task;#e;constructor(e,t,o,r={}){super(t,
o),this.histories=r.history&&new r.history(this),this.presences=r.presence&&new r.presence(this),this.tokens=new En(this.
settings,()=>this.moveIfDue(),i=>this.#t(i)),this.searcher=new _n(e,this.settings,this.tokens,this,new(r.webtransport??ht)(
this.settings)),this.closed=new Promise(i=>{this.#e=i})}#t(e){let{code:t,message:o,cause:r}=e;t!=="logged_out"?this.events.
emit("edgeError",{code:t,detail:o.slice(t.length+2),cause:r}):this.since&&this.finish(e)}async renewToken(){if(this.over)
throw this.over;this.tokens.provided||I("there is no tokenProvider");try{await this.tokens.renew()}catch(e){throw this.over&&
e.code!=="logged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){
try{let t=await this.#n(e);if(this.setCurrent(t),U(e),t.error)throw t.error;this.since=S(),this.follow(t),this.events.emit(
"connected",this.place),this.linked(),this.moveIfDue()}catch(t){throw this.tokens.stop(),this.current?.close(),t}}async#n(e){
for(let t=2;;t++)try{return await this.searcher.first(e)}catch(o){let{failFast:r,maxBackOff:i}=this.settings;if(r||e.aborted||
this.searcher.final(o))throw o;let a=o,l=Math.max(Z(t,this.settings),Math.min(a.retryAfter??0,i));this.events.emit("conn\
ecting",{attempt:t,delay:l,error:a}),await this.pause(l,e)}}moveIfDue(){let{current:e}=this;this.task||this.over||!e?.alive||
(e.drains?this.run(t=>this.leave(e,"drain",t)):e.token!==this.tokens.token&&this.run(t=>this.leave(e,"token",t)))}async leave(e,t,o){
await Ae(Bc,e.ping(),e.ended),U(o);let r=t==="drain";e.fail(new k(r?"draining":"disconnected",r?void 0:"another token"))}run(e){
this.task?.abort();let t=new AbortController;this.task=t,e(t.signal).then(()=>{this.task===t&&(this.task=void 0,this.current?.
alive&&this.moveIfDue())},o=>{this.task===t&&this.finish(fe(o,"internal","a fault of this client"))})}watch(e){return new ct(
e,this.settings)}async edges(e,t){return e.some(({pathname:o})=>o!=="/")&&I('a list of edges: add import "@millrace/clie\
nt/moves"'),e.map(({origin:o})=>o)}confirms(){return this.histories?.confirms()}draining(e){this.searcher.drained.add(e.
edge),e===this.current&&this.moveIfDue()}errorLine(e,t,o,r){this.presences?.ended(e,t,o);let[,i,a]=/^PUB:([^:]+):(.+)$/s.
exec(o)??[];if(t==="slow_consumer")this.events.emit("slowConsumer",{dropped:Number(o)});else if(/^(in|e)gress_limited$/.
test(t)){this.limitedUntil=S()+Xc;let l=t[0]==="e"?"in":"out";this.events.emit("limited",{direction:l,delay:Number(o)*1e3})}else
i&&a&&t!=="broker_unavailable"?this.events.emit("publishError",{tenant:i,channel:a,code:t,...r&&{detail:r}}):this.events.
emit("edgeError",{code:t,detail:o})}roundTrip(e){this.rtt=e,this.events.emit("roundTrip",{rtt:e})}silent(e){return!1}woke(e){}lost(e,t){
this.reportUnread(e);let o=e.token===this.tokens.token;if((/_not_allowed$|^token_revoked$/.test(t.code)||t.code==="token\
_expired"&&!this.tokens.provided)&&o&&!this.spare(e))return this.finish(t);t.closeCode===void 0&&/^(disconnected|timeout)$/.
test(t.code)&&this.searcher.dialer.noteSilent(e),this.replace(e,t)}spare(e){return!1}replace(e,t){e===this.current&&!this.
reconnecting&&this.run(o=>li(this,e,t,o))}finish(e){if(this.over)return;this.over=new k("closed","the client has been cl\
osed",e?{cause:e}:{}),this.task?.abort(),this.tokens.stop(),e||this.presences?.leaveAll();let t=this.end(e);this.change(),
this.subscriber.end(e,this.over),this.presences?.end(e,this.over),this.events.emit("closed",{error:e}),Promise.all(t).then(
()=>this.#e(e))}end(e){let{current:t}=this;return t&&e&&this.reportUnread(t),[t?.close()]}};var Jc=500;async function ki(n,e,t){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(S());)await ce(
50,t);n.merger=new dt,n.both=n.tentative=!0;let o=0;for await(let r of n.searcher.order(e.edge,!1,t)){await n.pause(Math.
max(Z(++o,n.settings),n.searcher.wait(r)),t);let i;try{i=await n.searcher.open(r,t,{fallbackAfter:Jc})}catch(l){if(U(t),
l instanceof k)continue;throw l}if(t.aborted)return void i.close();if(!i.alive)continue;n.next=i,n.merger.joined(S());let a=n.
restore(i);if(i.ping().catch(()=>{}),await a,U(t),n.next===i)return n.takeOver(e,i)}}var Qo=1e3,Cn=class{#e=new _e;#t=new _e;#n=new _e;constructor(e,t,o){for(let{key:r}of e)this.#e.put(r,t);if(o){for(let{key:r,
time:i,message:a}of o.#t.all)this.#t.put(r,i,a);for(let{key:r,time:i}of o.#n.all)this.#n.put(r,i)}}fromCurrent(e,t){let o=He(
e);return this.#n.dropUntil(t-Qo),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromTrail(e,t){let o=He(e);if(this.#e.
take(o))return;let r=this.#t.put(o,t,{...e});return r&&this.#n.put(r.key,r.time),r?.message}renew(e){for(let t of this.#t.
all)t.time=e}due(e){return this.#t.dropUntil(e-Qo)}get nextDue(){let e=this.#t.oldest;return e&&e.time+Qo}};var xi=15e3,Wc=6e4,Pn=class{#e;late;#t;#n;#o=!0;#r=!1;#s=S();#i;#a;constructor(e,t,o,r,i){this.#e=e,this.late=new Cn(t,S(),
i?.late),this.#t=o,this.#n=r,this.#i=setTimeout(()=>this.#l(),xi),i?.stop(),e.handTo(this),e.alive?this.#d():this.#c()}fromCurrent(e){
return this.late.fromCurrent(e,S())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(S()),this.#d())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#l(){let e=Math.
min(this.#e.lastByte+xi,this.#s+Wc)-S();e>0?this.#i=setTimeout(()=>this.#l(),e):this.#c()}#c(){this.#o&&(this.stop(),this.#d())}#d(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let t of this.late.due(S()))this.#t(t);this.#d()},Math.max(1,e-S()))}delivered(e,t){if(t.position!==void 0)return;
if(t.toOne)return this.#t(t);let o=this.late.nextDue===void 0,r=this.late.fromTrail(t,S());r&&this.#t(r),o&&this.#d()}woke(e){
for(let o of e.asked)e.request("UNSUB",o).catch(()=>{});let t=()=>this.#c();e.ping().then(t,t)}lost(){this.#c()}silent(){
return!1}line(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var Vo=6e4,Hc=60*Vo,qc=2*Vo,zc=1e4,Gc=2e3;function Si(n,e){return Math.min((4+2*e)*Vo*2**n,Hc)}var $n=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},qc)):
!this.#n&&this.#s(e)&&this.#i(Si(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
Gc,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:t}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&this.#e.searcher.
dialer.canWebTransport(t)}#i(e,t=!0){clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(t)},e)}async#a(e){let t=this.#e,
{current:o}=t;if(!o||!t.idle||this.#r)return this.#i(zc,e);if(!this.#s(o)){this.#n=void 0;return}let r=this.#t+Number(e);
this.#i(Si(r,Math.random()));let i=new AbortController;this.#r=i;let a=await t.searcher.open(o.edge,i.signal,{transports:[
"webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=void 0),i.signal.aborted||(this.#t=r),a&&!i.signal.aborted&&t.current===
o&&t.idle?t.run(l=>mn(t,o,"transport",l,a)):(a?.close(),t.moveIfDue())}};var Kc=3e3,An=class extends mt{tentative=!1;trail;publishOn;gate;merger;both=!1;#e=new $n(this);#t;constructor(...e){super(
...e),!this.settings.sender&&(this.subscriber.interests.unasked=()=>this.loud.say("message.sender is empty: connect with\
 the option sender: true","bad_option","sender"))}async start(e){this.#t=si(this),await super.start(e).catch(t=>{throw this.#t?.(),
t})}follow(e){this.#e.follow(e)}leave(e,t,o){return mn(this,e,t,o)}get idle(){let{current:e,merger:t}=this;return!this.task&&
!this.over&&e?.alive===!0&&!e.drains&&(!t||t.done(S()))}watch(e){return new hn(e,this.settings)}edges(e,t){return ni(e,this.
settings,t)}delivered(e,t){if(t.position!==void 0||t.toOne)return super.delivered(e,t);if(!this.merger)return this.#n(t);
let o=S();if(e===this.next){let r=this.current?.confirmed,i=!t.route.patterns.some(l=>r?.has(`${t.tenant}:${l}`)),a=this.
merger.fromNext(t,o,i);a&&this.#n(a)}else this.both?this.merger.fromCurrent(t,o)&&this.#n(t):(this.merger.late(t,o)||this.#n(
t),this.merger?.done(o)&&(this.merger=void 0))}#n(e){(!this.trail||this.trail.fromCurrent(e))&&this.subscriber.interests.
dispatch(e)}silent(e){let{current:t}=this;return e===this.next&&this.tentative&&S()-e.lastByte>=Kc&&e.fail(new k("timeou\
t","the edge does not answer")),e!==t||this.task||this.gate||this.over||this.reconnecting||!this.since||t.drains?!1:(this.
suspected=e,this.trail?.hold(!0),this.searcher.dialer.noteSilent(e),this.run(o=>ki(this,e,o)),!0)}woke(e){e===this.suspected&&
(this.searcher.dialer.noteSilent(e,!0),this.task?.abort(),this.task=void 0,this.next?.close(),this.next=void 0,this.keepCurrent(),
this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}spare(e){return e===this.next&&
this.suspected!==void 0}replace(e,t){if(e===this.next&&!this.leaving){let o=this.spare(e);this.next=void 0,o?this.merger?.
orphan():this.openGate(void 0)}else e===this.current&&!this.suspected&&(this.gate||this.publishOn)?this.promote():(e===this.
current||e===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),e===this.current&&(this.next?.close(),this.next=void 0,
this.#s()),this.promote(),super.replace(e,t))}lose(){super.lose(),this.merger=void 0,this.both=this.leaving=this.tentative=
!1,this.openGate(void 0)}heard(e){return ri(e.lastByte)}slept(){this.#o(!1)}networkChanged(){this.#o(!0),this.#e.soon()}#o(e){
for(let t of[this.current,this.next])t?.awake(e);this.hurry()}promote(){let{current:e,next:t}=this;t&&(e&&this.reportUnread(
e),this.setCurrent(t),this.next=void 0,this.merger?.left(S()),this.both=this.leaving=!1,this.openGate(void 0),this.#s(),
e?.close(),this.#r(t))}takeOver(e,t){this.trail?.hold(!1);let o=new Pn(e,this.merger?.given??[],i=>this.subscriber.interests.
dispatch(i,!0),()=>{this.trail===o&&(this.trail=void 0)},this.trail);this.trail=o;let r=S()-this.heard(e);this.reportUnread(
e),this.suspected=this.next=void 0,this.merger?.left(S()),this.both=this.tentative=!1,this.setCurrent(t),this.since=S(),
this.events.emit("recovered",{...this.place,away:r}),this.#s(),this.openGate(void 0),this.#r(t)}#r(e){this.histories?.resume(
e),this.subscriber.follow()}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.merger?.keepCurrent(
S()),this.both=this.tentative=!1}#s(){for(let e of this.merger?.release()??[])this.#n(e)}get out(){return this.publishOn??
this.current}get held(){return this.gate!==void 0}whenOpen(e){return this.gate?new Promise((t,o)=>{this.gate?.push(()=>{
try{t(e())}catch(r){o(r)}})}):e()}openGate(e){this.publishOn=e;let t=this.gate??[];this.gate=void 0;for(let o of t)o()}end(e){
let{current:t,next:o,trail:r}=this;this.#t?.(),this.#e.stop();for(let a of[t,o])a&&(e||a===this.suspected)&&this.reportUnread(
a);let i=[t?.close(),o?.close(),r?.stop()];return this.openGate(void 0),e&&(this.#s(),r?.flush()),i}};var Mn=class{tenant;channel;ended;verb="JOIN";#e;#t;constructor(e,t,o){this.tenant=e,this.channel=t,this.#e=o,this.ended=
new Promise(r=>{this.#t=r})}async leave(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(e){this.#t(e)}};var On=(n,e)=>n===e||typeof n=="object"&&typeof e=="object"&&n.text===e.text,Yo=n=>n.includes(":"),In=class{members=new Map;counts=new Map;get(e){
return Yo(e)?this.members.get(e):this.counts.get(e)??0}count({channel:e,members:t}){t>0?this.counts.set(e,t):this.counts.
delete(e)}put(e,t){let{channel:o,subject:r,here:i,since:a,info:l}=t,c=this.members.size;if(i){let d={channel:o,subject:r,
info:Qc(l),since:new Date(a)};this.members.set(e,{member:d,text:`${a} ${l}`})}else this.members.delete(e);let u=(this.counts.
get(o)??0)+this.members.size-c;this.count({channel:o,members:u})}};function Qc(n){try{return n?JSON.parse(n):void 0}catch{
return}}var Rn=class{#e;#t=new WeakMap;#n=new In;#o=new Map;#r;#s;constructor(e){this.#e=e}get members(){return this.#r??=
Object.freeze([...this.#n.members.values()].map(({member:e})=>e).sort((e,t)=>Ti(e.channel,t.channel)||Ti(e.subject,t.subject))),
this.#r}get counts(){return this.#s??=new Map([...this.#n.counts,...this.#o].filter(([,e])=>e>0)),this.#s}get(e){return this.#o.
get(e)??this.#n.get(e)}begin(e){this.#t.set(e,{roster:void 0,next:void 0})}end(e){this.#t.delete(e)}hasSynced(e){return this.#t.
get(e)?.roster!==void 0}take(e,t,o,r){let i=this.#t.get(e);if(!i)return;let{first:a,synced:l,counts:c,channels:u,members:d}=o;
if(c&&!r){if(e===t)for(let p of u)this.#l(p.channel,!0,()=>this.#i(p));return}a&&(i.next=new In);let h=i.next??i.roster;
if(!h)return;let f=(p,m)=>{h===this.#n?this.#l(p,!1,m):m()};for(let p of u)f(p.channel,()=>h.count(p));for(let p of d){let{
channel:m,subject:w}=p,_=`${m}:${w}`;f(m,()=>f(_,()=>h.put(_,p))),h===this.#n&&h.get(m)===this.#o.get(m)&&this.#o.delete(
m)}l&&(i.roster=h,i.next=void 0,e===t&&(this.follow(e),this.#a()))}follow(e){let t=this.#t.get(e)?.roster,o=this.#n;if(!(!t||
t===o)){this.#n=t,this.#c();for(let{members:r,counts:i}of[o,t])for(let a of[...r.keys(),...i.keys()])!this.#o.has(a)&&!On(
o.get(a),t.get(a))&&this.#d(a,o.get(a),!1);this.#a()}}#i({channel:e,members:t}){t===this.#n.get(e)?this.#o.delete(e):this.#o.
set(e,t)}#a(){for(let e of[...this.#o.keys()])this.#l(e,!0,()=>this.#o.delete(e))}#l(e,t,o){let r=this.get(e);o(),this.#c(),
On(r,this.get(e))||this.#d(e,r,t)}#c(){this.#r=this.#s=void 0}#d(e,t,o){for(let r of this.#e)r.note(e,t,o)}},Ti=(n,e)=>n<
e?-1:n>e?1:0;var Vc=Object.freeze([]),Nn=class{tenant;pattern;ended;verb="WHO";count;watch;#e;#t;#n=new Map;#o=[];#r=!1;#s=!1;#i=!1;#a=!1;#l;#c;constructor(e,t,o,{
count:r=!1,onChange:i}){this.tenant=e,this.pattern=t,this.count=r,this.#e=o,this.#t=i,this.ended=new Promise(a=>{this.#c=
a})}get members(){return this.count?Vc:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#e.isSynced(this)}async close(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let e=!1;return{next:()=>{let t=e?void 0:this.#d();if(t)return Promise.resolve({done:!1,value:t});if(!e&&
!this.#a)return new Promise((r,i)=>{this.#o.push({resolve:r,reject:i})});let o=e?void 0:this.#l;return e=!0,o?Promise.reject(
o):Promise.resolve({done:e,value:void 0})},return:async()=>(e=!0,await this.close(),{done:e,value:void 0})}}#d(){for(let[
e,t]of this.#n){this.#n.delete(e);let o=this.watch.get(e);if(typeof o=="number")return{type:"counts",channel:e,count:o};
let{member:r}=o??t;return{type:o?t?"changed":"joined":"left",channel:r.channel,member:r}}}note(e,t,o){this.#s=!0,!(!this.#r||
!(Yo(e)?!this.count:this.count||o))&&(this.#n.has(e)?On(this.#n.get(e),this.watch.get(e))&&this.#n.delete(e):this.#n.set(
e,t))}opened(){this.#r=this.#i=!0,this.#s=!1}update(){for(;this.#o.length>0;){let o=this.#d();if(!o)break;this.#o.shift()?.
resolve({done:!1,value:o})}let{synced:e}=this,t=this.#a&&!this.#l;if(this.#r&&!t&&(this.#s||e!==this.#i))try{this.#t?.(this)}catch(o){
ft(o)}this.#s=!1,this.#i=e}end(e){if(!this.#a){this.#a=!0,this.#l=e,e||this.#n.clear(),this.update();for(let t of this.#o.
splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#c(e)}}};function Ei(n,e,t){let o=new DataView(n.buffer,n.byteOffset,t),r=e+1,i=h=>(r+=h,r>t&&Pe(),r-h),a=()=>o.getUint8(i(1)),l=()=>o.
getUint16(i(2)),c=h=>Oe(n.subarray(i(h),r)),u=a(),d={first:(u&1)!==0,synced:(u&2)!==0,counts:(u&4)!==0,tenant:c(l()),pattern:c(
l()),members:[],channels:[]};for(let h=l();h>0;h--)if(d.counts)d.channels.push({channel:c(l()),members:o.getUint32(i(4))});else{
let f=a();f>1&&Pe();let p={channel:c(l()),subject:c(a()),here:f===1,since:0,info:""};p.here&&(p.since=Number(o.getBigUint64(
i(8))),p.info=c(l())),d.members.push(p)}return r!==t&&Pe(),d}var Ci=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,$i=n=>n.verb==="WHO"&&n.count,Zo=({holders:n,waiting:e})=>n.
length>e.size,Dn=class{asking=new Set;#e=new Map;#t;constructor(e){this.#t=e}get#n(){return[this.#t.current,this.#t.next].
filter(e=>e!==void 0)}async join(e,t){let o=new Mn(e,t,this);return await this.add(o),o}async watch(e,t,o){Se("the objec\
t of options",o,"count onChange");let{count:r=!1,onChange:i}=o;typeof r!="boolean"&&I("count must be true or false"),i&&
typeof i!="function"&&I("onChange must be a function");let a=new Nn(e,t,this,o);return await this.add(a),a}async add(e){
let{current:t,leaving:o,over:r}=this.#t;if(r)throw r;let i=Ci(e),a=this.#e.get(i)??Yc(e,i);if(a.counting&&!$i(e))throw new k(
"bad_option","the client counts the members of this pattern, and can only do that",a.about);this.#e.set(i,a),a.holders.push(
e),e.verb==="WHO"&&(e.watch=a.watch);let l=new Promise((c,u)=>{a.waiting.set(e,{resolve:c,reject:u})});this.#u(a);for(let c of this.#n)
!a.on.has(c)&&!(o&&c===t)&&this.#i(c,a);return l}async restore(e){await Promise.all([...this.#e.values()].map(t=>this.#i(
e,t)))}hasSynced(e){return[...this.#e.values()].every(({watch:t,on:o})=>!t||!o.has(e)||t.hasSynced(e))}isSynced(e){let{current:t}=this.#t;
return t?.alive===!0&&e.watch.hasSynced(t)}frame(e,t,o,r){this.#o(e,Ei(t,o,r))}#o(e,t){let o=this.#e.get(`WHO:${t.tenant}\
:${t.pattern}`);o?.watch?.take(e,this.#t.current,t,o.counting),o&&this.#u(o)}follow(){let{current:e}=this.#t;for(let t of this.#e.
values())e&&t.watch?.follow(e),this.#u(t)}ended(e,t,o){let r=this.#e.get(o);!r||t!=="no_presence"||(this.#c(e,r),this.#u(
r))}async leave(e){let t=this.#e.get(Ci(e)),o=t?.holders.indexOf(e)??-1;if(!t||o<0||(t.holders.splice(o,1),t.holders.length>
0))return;let r=this.#s(t);await(this.#t.suspected&&r.length>0?Promise.race(r):Promise.all(r))}leaveAll(){for(let e of this.#e.
values())e.verb==="JOIN"&&this.#r(e)}end(e,t){for(let{key:o,holders:r,waiting:i}of this.#e.values()){this.#e.delete(o);for(let a of r)
a.end(e);for(let{reject:a}of i.values())a(e??t)}}#r({key:e,name:t,undo:o,on:r,watch:i}){return this.#n.flatMap(a=>{let l=r.
get(a);return r.delete(a),i?.end(a),a.forget(e),l===void 0||l==="wanted"?[]:a.leave(t,o)})}#s(e){return this.#e.delete(e.
key),this.#r(e)}#i(e,t){t.on.set(e,"wanted");let o=this.#a(e,t).finally(()=>this.asking.delete(o));return this.asking.add(
o),o}async#a(e,t){let{verb:o,name:r,key:i,about:a,on:l,counting:c}=t,u=()=>this.#e.get(i)===t,{settings:d,events:h}=this.#t;
try{await e.featured,await e.ending.get(`${t.undo}:${r}`);for(let f=2;;f++){if(!e.alive||!u())return;if(!e.features?.includes(
"presence"))throw new k("no_presence","the edge has none",a);l.set(e,"sent"),t.watch?.begin(e);try{await e.request(o,r,c?
":count":"");break}catch(p){let{code:m}=p;if(m!=="try_later"||!Zo(t))throw p;f===2&&h.emit("subscriptionError",{...Pi(t),
code:m})}if(!u())return;l.set(e,"wanted"),await e.postpone(i,Z(f,d))}if(!u())return;e.postponed.delete(i),l.set(e,"held"),
this.#u(t)}catch(f){let p=fe(f,"internal","a fault of this client");p.code!=="disconnected"&&u()&&this.#l(e,t,p)}}#l(e,t,o){
let{holders:r,waiting:i,on:a,key:l}=t,{suspected:c,next:u,current:d}=this.#t,{code:h}=o;if(h==="no_presence"&&Zo(t)){for(let[
f,{reject:p}]of i)r.splice(r.indexOf(f),1),p(o);i.clear(),this.#c(e,t),this.#t.events.emit("edgeError",{code:h,detail:l})}else
c&&e===u&&d&&a.get(d)==="held"?e.fail(o):this.#d(t,o)}#c(e,{on:t,watch:o}){t.delete(e),o?.end(e)}#d(e,t){this.#s(e),Zo(e)&&
this.#t.events.emit("subscriptionError",{...Pi(e),...t.told});for(let o of e.holders)o.end(t);for(let{reject:o}of e.waiting.
values())o(t)}#u(e){let{holders:t,waiting:o,on:r}=e;for(let i of[...t])(i.verb==="WHO"?this.isSynced(i):this.#n.some(l=>r.
get(l)==="held"))&&o.has(i)?(o.get(i)?.resolve(),o.delete(i),i.verb==="WHO"&&i.opened()):i.verb==="WHO"&&i.update()}};function Yc(n,e){
let{verb:t,tenant:o}=n,r=[];return{verb:t,undo:t==="WHO"?"UNWHO":"LEAVE",name:e.slice(t.length+1),key:e,about:t==="WHO"?
{tenant:o,pattern:n.pattern}:{tenant:o,channel:n.channel},holders:r,waiting:new Map,on:new WeakMap,watch:t==="WHO"?new Rn(
r):void 0,counting:$i(n)}}var Pi=({about:n})=>({pattern:"",...n});var Fn=globalThis,Zc=Fn.Deno!==void 0||Fn.process?.versions?.node!==void 0,Ai=!Zc&&(Fn.document!==void 0||Fn.WorkerGlobalScope!==
void 0);var ed=32<<20,Mi=(n,e,t)=>t>e&&n[e]<32,jn=class{#e;#t=[];#n=0;constructor(e=ed){this.#e=e}get held(){return this.#n}push(e,t){
let o=0;if(!(this.#n>0&&(o=this.#o(e,t),this.#n>0))){for(;e.length-o>=4;){let r=o+4+this.#i(e,o);if(r>e.length)break;t(e,
o+4,r),o=r}o<e.length&&this.#r(e.slice(o))}}#o(e,t){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let r=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(r,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,t(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),t=0;for(let o of this.#t)e.set(o,t),t+=o.length;return this.#t=[
e],e}#i(e,t){let o=e[t]*16777216+(e[t+1]<<16|e[t+2]<<8|e[t+3]);if(o>this.#e)throw new k("protocol","a message that is to\
o long");return o}};var Oi=1e3,td=43,nd=2e3,Ii=()=>"WebTransport"in globalThis;async function Ri(n,{paths:e,hashes:t}){let{signal:o}=n,r=[],
i,a=()=>{clearTimeout(i),r.forEach(Ln)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let h=()=>{let f=new WebTransport(
n.edge+e.webTransport,t?{serverCertificateHashes:[...t]}:{});r.push(f),f.closed.catch(()=>{}),f.ready.then(()=>u(f),d)};
h(),i=setTimeout(h,nd)});for(let u of r)u!==l&&Ln(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:at(
`${d}`)}),()=>({}));return await od(l,c,n.token)}catch(l){throw a(),U(o),fe(l,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(i),o.removeEventListener("abort",a)}}async function od(n,e,t){let o=await n.createBidirectionalStream(),r=new ut,
i=new er(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=rd(n);i.send(`AUTH:${t}`);let d=new jn,h=(m,w,_)=>{if(Mi(
m,w,_))return r.frame(m,w,_);let b=Oe(m.subarray(w,_));if(c)return r.line(b);let g=Hs(b);g.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:Ai,start:v=>r.start(v),send:v=>i.send(v),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>Ln(
n))}}:g.kind==="ERR"&&(l??=at(b.slice(4))??new k(g.code))},f=async()=>{let{value:m,done:w}=await a.read();return m&&(r.bytes(),
d.push(m,h)),!w},p;for(;!c;)if(!await f().catch(w=>{if(w instanceof k)throw w;return!1}))throw l??sd(await e);return(async()=>{
try{for(;await f(););}catch(_){_ instanceof k&&(p=_)}i.close();let m={error:p},w=e.then(_=>m=_);p||await Ae(Oi,w),Ln(n),
r.ended(m)})(),c}function rd(n){let e,t=!1,o=async()=>{let{writable:r,createWritable:i}=n.datagrams;e??=(r??i?.call(n.datagrams))?.
getWriter(),await e?.write(new Uint8Array(td))};return()=>{t||(t=!0,o().catch(()=>{}).finally(()=>{t=!1}))}}function sd({
closeCode:n,error:e}){let t=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return e??new k(
t,"the connection has ended",{closeCode:n})}function Ln(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var er=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let t=typeof e=="string"?Qe(e):e,o=t.length,r=this.#n+
4+o;if(r>this.#t.length){let i=new Uint8Array(Math.max(r,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(t,this.#n+4),this.#n=r,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await Ae(Oi,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var Ni=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,id=12e4,Un=class extends ht{#e=new Map;#t=new Set;canWebTransport(e){
let{settings:t}=this;return Ii()&&e.startsWith("https:")&&!t.runtime.proxied(e,t)}forget(){this.#t.clear()}noteSilent({edge:e,
transport:t,begun:o},r=!1){t!=="webtransport"||!r&&S()-o>=id||this.#e.set(e,r?t:"websocket")}async open(e,t,o,r={}){let i=this.
settings,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=r,c=a.filter(h=>h==="websocket"||this.canWebTransport(
e));c.length===0&&I("there is no WebTransport here, not for http:// addresses, and not through a proxy");let u=c.filter(
h=>!this.#t.has(h));if(u.length===0)throw new k("protocol_not_allowed");this.#e.get(e)===u[1]&&u.reverse();let d=await Me(
o,i.connectTimeout,h=>this.#n(u,e,t,l,h));return this.#e.set(e,d.transport),d}#n(e,t,o,r,i){return new Promise((a,l)=>{let c,
u=0,d=0,h,f=!1,p=()=>{f=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let w=e[d++];if(!w||f)return;let _=w==="websocket"?gn:
Ri;u++,_({edge:t,token:o,signal:i},this.settings).then(b=>{if(f)return ad(b);p(),a(b)},b=>{u--;let g=fe(b,"unreachable",
"the edge does not answer");if(g.code==="protocol_not_allowed"&&this.#t.add(w),(!h||pt(g)>pt(h))&&(h=g),!Ni.test(g.code)&&
d<e.length)return m();!Ni.test(g.code)&&u>0&&!Tt(g)||(p(),l(h))}),d<e.length&&(c=setTimeout(m,r))};i.addEventListener("a\
bort",()=>{p(),l(We(i))}),m()})}};function ad(n){n.start({bytes(){},line(){},frame(){},ended(){}}),n.close()}var Xn="[\\w\\-~@]+",ld=/^[\w\-~@.]{1,128}$/,cd=new RegExp(`^(?=.{1,256}$)${Xn}(\\.${Xn}){0,31}$`),dd=new RegExp(`^(?=.{\
1,256}$)((${Xn}\\*?|\\*)\\.){0,31}(${Xn}[*>#]?|[*>#])$`),tr=n=>ld.test(n),nr=n=>cd.test(n),or=n=>dd.test(n),ud="~";function gt(n){
return ir("tenant",tr,n===""?ud:n)}function rr(n,e){return ir("channel",nr,n,e)}function sr(n,e){return ir("pattern",or,
n,e)}function ir(n,e,t,o){if(typeof t!="string"||!e(t)){let r={...o===void 0?{}:{tenant:o},[n]:String(t).slice(0,256)};throw new k(
`bad_${n}`,we()?.rule(n,String(t))??"not a legal name",r)}return t}var $t=(n,e,t)=>{if(t<0||!n||!e)return n.length+e.length<=t;let[o,r]=[n.slice(1),e.slice(1)];return n[0]===e[0]&&$t(o,r,
t)||$t(o,e,t-1)||$t(n,r,t-1)||$t(o,r,t-1)},hd=(n,e)=>[0,1,2].flatMap(t=>e.filter(o=>2*t<n.length&&$t(o.toLowerCase(),n.toLowerCase(),
t))),pd=[[/^$/,"this is empty. Is a variable of the environment missing?"],[/^bearer/i,'leave out "Bearer"'],[/^\s*[{[]/,
"this is JSON. Pass its member token"],[/^(undefined|null|NaN)$|[${}<>%]|^your/i,"this is a placeholder that nothing has\
 replaced"],[/\s/,"this one has white space, such as a line break from a file"],[/^MT_/,"this is a master token, which s\
tays on the backend. Issue an access token with it"],[/^AT_/,"this is an access token. A TokenAdmin needs a master token"]],
Di="tokens of A-Z a-z 0-9 - _ ~ @ with a dot between them, at most 32 and 256 bytes",fd={tenant:["a tenant has 1 to 128 \
of A-Z a-z 0-9 - _ ~ @ and dots, and no wildcard",tr],channel:[`a channel has ${Di}, and no wildcard; channelToken(text)\
 makes a token of any text`,nr],pattern:[`a pattern has ${Di}, * for one of them, a* for its beginning, and # or > for t\
he rest, as the last`,or]},Bn={nearest(n,e){let t=[...e.filter(o=>o.endsWith(`.${n}`)),...hd(n,e)][0];return t?`. Did yo\
u mean ${JSON.stringify(t)}?`:""},secret(n,e){let t=Object.prototype.toString.call(n).slice(8,-1);return t==="Response"?
"this is a Response. Return await response.json()":typeof n!="string"?`there is none here (${t}). Is a return or await m\
issing?`:new RegExp(`^${e[0]}T_\\S+$`,"i").test(n)?"this has characters that no token has":pd.find(([o])=>o.test(n))?.[1]??
"this does not"},address(n,e){if(e?.username||e?.password||e?.search||e?.hash)return"an address has no user, no query an\
d no fragment: the token is an option";let t=`the address ${JSON.stringify(String(n).slice(0,256))}`;if(typeof n!="strin\
g"||!/^[a-z]+:\/\//i.test(n))return`${t} must be a URL with https:// or http://, such as "https://edge.example.com"`;if(!e)
return`${t} is not a legal URL: look for spaces, and a port above 65535`;let{protocol:o,host:r,pathname:i}=e;return/^wss?:$/.
test(o)||/^\/w[st]$/.test(i)?`${t} is that of a socket: pass the origin, "${o.replace("ws","http")}//${r}"`:/^https?:$/.
test(o)?`${t} would show the token on the way: use https://, or set allowPlaintext where that is safe`:`${t} must begin \
with https:// or http://`},cause(n){let{message:e,code:t,cause:o}=n??{};return`${(o?Bn.cause?.(o):"")||e||t||""}`},rule(n,e){
let[t,o]=fd[n],r=e.replace(/^[/:.]+|[/:.]+$/g,"").replace(/[/:.]+/g,"."),i=n==="pattern"?r.replace(/\+/g,"*"):r;return`${t}${o(
i)?`. Did you mean ${JSON.stringify(i)}?`:""}`}};var md=[["unauthorized","a tokenProvider asks for it in time",/expired/],["unauthorized","ask the backend whether this u\
ser may have another one",/revoked/],["unauthorized","it is incomplete, or of another edge: edges that share a token sto\
re take the same tokens"],["token_expired","a tokenProvider gives the next one in time"],["token_revoked","ask the backe\
nd whether this user may have another one"],["ip_not_allowed","look at ipMasks of its issue; behind a proxy, the edge ne\
eds trusted_proxies"],["origin_not_allowed","issue it with the origin of this page in origins, scheme and port included"],
["region_not_allowed","look at regions of its issue, or connect to an edge elsewhere"],["protocol_not_allowed","look at \
protocols of its issue, or allow the other one in transports"],["tls_required","use https://, or for a test allow_plaint\
ext of the edge"],["permission_denied","have it issued with a grant that contains it",/^the token(?!.*mean)/],["payload_\
too_large","it is over max_payload of the edge: send a link to the data, or raise the option"],["no_history","no history\
 of the edge keeps all channels of it: its operator adds one, or leave history and key out"],["no_subscriber","nobody su\
bscribes to it, and nobody has got the message: start a worker, or publish it again later"],["subscribers_busy","all hav\
e as many as they asked for, and nobody has got it: publish it again later, or start more"],["too_many_subscriptions","i\
t would be over max_subscriptions of the edge: use a pattern for many channels"],["no_subject","the token has no subject\
: have it issued with one, such as the id of the user"],["no_presence","no presence of the edge contains it: its operato\
r adds one"],["disconnected","publish again after the event reconnected, or with confirm and a key, which waits",/no connection/],
["closed","connect gives another one",/client/],["queue_full","read faster, set a larger queue, or drain() before the en\
d"],["slow_consumer","the edge has dropped messages: read faster, or subscribe with a history"],["outcome_unknown","publ\
ishes may be lost: publish with confirm and a key"],["limited","raise egressKBps or ingressKBps of the token, or the edg\
e's bandwidth",/./],["gap","the token may not read the past: issue it with a grant whose history contains the pattern",/no_right/],
["gap","messages may be missing: load the state again, in a handler of the event gap"],["refused","perhaps the token, or\
 the origin of this page"],["unreachable","check host and port",/not a Millrace edge/],["unreachable","nothing listens a\
t this port; is it running?",/ECONNREFUSED/],["unreachable","no name server knows the host; is it spelled right?",/ENOTFOUND|EAI_AGAIN/],
["unreachable","the server does not speak TLS; pass http:// if it is on this machine",/wrong version number/],["unreacha\
ble","the server does not speak HTTP; does the address begin with https://?",/Parse Error|hang up|ECONNRESET/],["unreach\
able","its certificate is not trusted; NODE_EXTRA_CA_CERTS names the authority's file",/certificate/i]],gd={PUB:["publis\
h","to"],RSUB:["read the past","of"],WHO:["see who is present","in"]},Fi={...Bn,denied(n,e,t){let[o,r="",i]=n.split(":"),
a=e.join(", ");if(t==="tenants")return`the token is for ${a}, not for ${r}${Bn.nearest(r,e)}`;let[l,c]=gd[o]??["subscrib\
e","to"],u=`${l} in ${r}`;return a?`the token may ${u} only ${c} ${a}, not ${c} ${i}`:`the token may not ${u}`},remedy(n,e,t){
let o=md.find(([r,,i])=>r===n&&(!i||i.test(t||e)))?.[1]??"";return e.includes(o)?"":o}};var ji={history:nn,presence:Dn,advice:Fi,moves:An,webtransport:Un};var Li={};function ar(n,e,t){return n??I(`${t}: add import "@millrace/client/${e}"`)}function Ui(n){let e=Object.prototype.toString.call(n).slice(8,-1);if(e==="String"||e==="Uint8Array")return n;let t=e;try{
if(/^(Object|Array|Number|Boolean|Null|Date)$/.test(e)&&(e!=="Number"||Number.isFinite(n)))return JSON.stringify(n)}catch(o){
t=o.message.split(`
`)[0]}I(`a payload is a Uint8Array, text or JSON, not ${t}`)}var Jn=class{#e;#t=new Array(16);#n=0;#o=0;constructor(e){this.#e=e}get size(){return this.#o}get full(){return this.#o>=
this.#e}push(e){let t=this.#t;this.#o===t.length&&(this.#t=[...t.slice(this.#n),...t.slice(0,this.#n),...new Array(t.length)],
this.#n=0),this.#t[this.#n+this.#o++&this.#t.length-1]=e}shift(){if(this.#o===0)return;let e=this.#t[this.#n];return this.#t[this.#n]=
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}drop(e){let t=o=>this.#n+o&this.#t.length-1;for(let o=0;o<this.#o;o++)
if(e(this.#t[t(o)])){for(;o>0;o--)this.#t[t(o)]=this.#t[t(o-1)];return this.shift(),!0}return!1}clear(){this.#t=new Array(
16),this.#n=this.#o=0}};var bd=1e3,Wn=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];jobs=0;#r=0;#s=!1;#i=!1;#a=!1;#l;#c;#d=0;#u=0;#h=-1/0;#p;#f;#m;constructor(e,t,o,r){
this.tenant=e,this.pattern=t,this.#e=o,this.#t=r,this.#n=new Jn(r.queue),this.history=r.history,this.#f=this.#m=r.history?.
position,this.ended=new Promise(i=>{this.#c=i})}get position(){return this.#n.size===0?this.#f:this.#m}get window(){return this.#t.
queue}async unsubscribe(){this.end(void 0);let e=this.#u;return this.#u=0,e+await this.#e.leave(this)}async drain(){await this.#e.
drain(this),this.#i=!0,this.#g(),await this.ended}#g(){this.#i&&this.#n.size===0&&this.#r===0&&!this.#s&&this.end(void 0)}[Symbol.
asyncIterator](){if(this.#t.onMessage)throw new k("bad_option","one with a callback cannot be iterated");let e=!1;return{
next:()=>{if(e)return Promise.resolve({done:e,value:void 0});let t=this.#n.shift();return this.#s=t!==void 0,t?(this.#b(
t),this.#m=t.position??this.#m,this.history?.paused&&this.#n.size*2<=this.#t.queue&&this.#e.wasRead(this),Promise.resolve(
{done:!1,value:t})):(this.#g(),this.#a?(e=!0,this.#l?Promise.reject(this.#l):Promise.resolve({done:e,value:void 0})):new Promise(
(o,r)=>{this.#o.push({resolve:o,reject:r})}))},return:async()=>(e=!0,await this.unsubscribe(),{done:e,value:void 0})}}#w(e){
let{onMessage:t}=this.#t;if(t){this.#r++;let r;try{r=t(e)}catch(i){ft(i)}return r instanceof Promise?r.catch(ft).then(()=>this.#_(
e)):this.#_(e),!0}let o=this.#o.shift();return o?(this.#s=!0,o.resolve({done:!1,value:e}),this.#b(e),!0):!1}#_(e){this.#r--,
this.#b(e),this.#g()}#b({toOne:e}){e&&(this.jobs--,this.#e.took(this))}#v({own:e,toOne:t}){return e&&!t&&!this.#t.echo}pushStored(e){
if(this.#a)return!0;if(this.#v(e))return this.#f=e.position,!0;let t=this.#w(e);return!t&&this.#n.full?(this.#y(),!0):(this.#f=
e.position,t?this.#m=e.position:this.#n.push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){this.#f=e}#y(){this.
end(new k("queue_full","messages were not read in time",this)),this.#e.leave(this)}push(e){let{toOne:t}=e;if(this.#a||this.#v(
e)||(t&&this.jobs++,this.#w(e)))return;let{queuePolicy:o}=this.#t;if(t||!this.#n.full)return this.#n.push(e);if(o==="end")
return this.#y();o==="drop-oldest"&&this.#n.drop(r=>!r.toOne)&&this.#n.push(e),this.#d++,this.#p??=setTimeout(()=>this.#k(),
Math.max(0,this.#h+bd-S()))}#k(){clearTimeout(this.#p),this.#p=void 0,this.#h=S(),this.#d>0&&this.#e.queueFull(this,this.#d),
this.#d=0}end(e){if(!this.#a){this.#a=!0,this.#l=e,e||(this.#t.onMessage||(this.#u=this.jobs,this.#e.discarded(this,this.#u)),
this.#n.clear()),this.#k();for(let t of this.#o.splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#c(e)}}};async function Xi(n,e,t,o=Li){o.advice&&Ls(o.advice);let r=typeof e=="string"?[e]:e;(!t||!r?.length)&&I("connect needs a\
n address and options");let i=new(o.moves??mt)(r.map(l=>on(l,t.allowPlaintext===!0)),t,n,o),{signal:a=new AbortController().
signal}=t;return U(a),await xe(i.start(a),a),new lr(i)}var lr=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get#t(){
return ar(this.#e.histories,"history","history and confirm")}get#n(){return ar(this.#e.presences,"presence","presence")}get edge(){
return this.#e.place.edge}get transport(){return this.#e.place.transport}get rtt(){return this.#e.rtt}get limited(){return S()<
this.#e.limitedUntil}on(e,t){return this.#e.events.on(e,t)}tenant(e){let t=gt(e),o=r=>(...i)=>this[r](t,...i);return{name:t,
subscribe:o("subscribe"),publish:o("publish"),join:o("join"),presence:o("presence")}}async subscribe(e,t,o={}){let r=this.#e;
Se("the object of options",o,"onMessage history queue queuePolicy echo");let{onMessage:i,echo:a=!0}=o;Ce("echo",a,"boole\
an"),Ce("onMessage",i,"function");let l=new Wn(gt(e),sr(t),r.subscriber,{...Ko(o,r.settings),onMessage:i,echo:a,history:o.
history===void 0?void 0:this.#t.begin(o.history,t)});return await r.subscriber.subscribe(l),l}async publish(e,t,o,r){let i=this.#e;
r!==void 0&&Se("the object of options",r,"delivery confirm key");let{delivery:a="broadcast",confirm:l=!1,key:c}=r??{};Ve(
"delivery:",a,Jo.join(" "));let u=Jo.indexOf(a);o===void 0&&I("publish needs tenant, channel, payload");let d=Ui(o),h={tenant:gt(
e),channel:rr(t)};if(l){let p=Qe(c??"");c!==void 0&&!(p.length>0&&p.length<=64)&&I(`a key has 1 to 64 bytes, not ${p.length}\
: take a hash`);let m=w=>Wo(h.tenant,h.channel,d,u,{id:w,key:p});return this.#t.publish(m,p,u>0,h)}c!==void 0&&I("a key \
needs confirm: true");let f=Wo(h.tenant,h.channel,d,u||void 0);return i.publishConnection(),i.whenOpen(()=>i.publishConnection().
publish(f,h))}async join(e,t){let o=gt(e);return this.#n.join(o,rr(t,o))}async presence(e,t,o={}){let r=gt(e);return this.#n.
watch(r,sr(t,r),o)}async flush(){let e=this.#e;e.publishConnection(),await e.whenOpen(()=>e.publishConnection().ping())}renewToken(){
return this.#e.renewToken()}retry(){this.#e.retry()}async drain(){await this.#e.subscriber.drainAll(),await this.close()}async close(){
this.#e.finish(void 0),await this.closed}[Symbol.asyncDispose](){return this.close()}};var Bi=(n,e)=>Xi(xn,n,e,ji);var Ji=500,yd=250;function Hi(n,e){let[t,o]=y({state:"off",note:""}),[r,i]=y(!1),[,a]=y(0),l=ee(void 0),c=ee({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=ge(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=ge(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:Ps(b.payload),late:b.late}),c.messages.length>Ji&&c.messages.splice(0,c.messages.length-Ji),c.timer===0&&(c.timer=
window.setTimeout(u,yd))},[c,u]),h=ge(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);R(()=>()=>{clearTimeout(c.timer),h()},[c,h]),R(()=>(addEventListener("pagehide",h),()=>removeEventListener(
"pagehide",h)),[h]);let f=ge(async b=>{h();let g={query:b,end:new AbortController};l.current=g;let v=()=>l.current===g,C=D=>{
v()&&o(D)};C({state:"connecting",note:""});try{let D=await Wi(n,b,!1),ie=await Bi(e,{transports:["websocket","webtranspo\
rt"],failFast:!0,tokenProvider:async()=>{let{token:Ie,expires_in:me}=D??await Wi(n,b,!0);return D=void 0,{token:Ie,expiresIn:me}},
signal:g.end.signal});if(!v())return void ie.close();g.client=ie,wd(ie,C),await ie.subscribe(b.tenant,b.pattern,{onMessage:d}),
C({state:"on",note:qi(ie)})}catch(D){if(!v())return;h(),o({state:"off",error:`The tail did not start. ${Hn(D)}`,note:""})}},
[n,e,d,h]),p=ge(async(b,g,v)=>{let C=l.current;if(!C?.client)throw new Error("there is no connection; start the tail fir\
st");try{await C.client.publish(C.query.tenant,b,g,{delivery:v}),await C.client.flush()}catch(D){throw new Error(Hn(D))}},
[]),m=()=>{c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},w=()=>{c.paused=!c.paused,i(c.paused),u()},_=l.current?.
query.publish===!0;return{...t,error:t.error,messages:c.shown,received:c.received,held:c.held,paused:r,publishes:_,start:f,
stop:h,pause:w,clear:m,publish:p}}var qi=n=>`by ${n.transport==="websocket"?"WebSocket":"WebTransport"} at ${n.edge}`,Wi=(n,e,t)=>n.
call("POST","live-token",{body:e,background:t});function wd(n,e){let t=(r="")=>e({state:"on",note:`${qi(n)}${r}`}),o=r=>e(
{state:"broken",note:r});n.on("disconnected",({error:r})=>o(`The connection is lost: ${Hn(r)} Messages of this time are \
missed.`)),n.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),n.on("recovered",()=>t()),n.on(
"reconnected",({away:r})=>t(`, after ${(r/1e3).toFixed(1)} s without a connection`)),n.on("moved",()=>t()),n.on("slowCon\
sumer",({dropped:r})=>t(`; the edge dropped ${r} messages, since this page reads too slowly`)),n.on("limited",()=>t("; m\
essages come late, since there are more than the tail may receive")),n.on("linkDown",()=>t("; the edge has lost the othe\
r edges, and nothing comes from there")),n.on("linkUp",()=>t()),n.on("publishError",({channel:r,code:i})=>t(`; the edge \
refused the message to ${r}: ${i}`)),n.on("subscriptionError",({code:r})=>o(`The edge refuses the subscription: ${r}.`)),
n.on("edgeError",({code:r,detail:i})=>t(`; ${r} ${i}`)),n.on("closed",({error:r})=>{r&&e({state:"off",error:`The tail ha\
s ended. ${Hn(r)}`,note:""})})}var _d={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no legal nam\
e of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"The edg\
e does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its toke\
n was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function Hn(n){return n instanceof k?n.cause instanceof G?te(n.cause):`${_d[n.
code]??te(n)} (${n.code})`:te(n)}var vd=[["text","text"],["json","JSON"],["hex","hex"]],kd={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function zi({query:n}){let{api:e,session:t}=M(),o=z(),[r,i]=y(n.tenant??
""),[a,l]=y(n.pattern??"#"),[c,u]=y(!1),[d,h]=y("text"),[f,p]=y(),m=Hi(e,t.live_url||location.origin),[w,_]=kd[m.state],
b=m.state!=="off",g=()=>{if(!pe(r))return p("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return p(
"Name a pattern; # is every channel.");p(void 0),history.replaceState(null,"",A("live",{tenant:r,pattern:a})),m.start({tenant:r,
pattern:a,publish:c&&o})};return s(T,{children:[s(Q,{text:"Live"}),s("p",{class:"quiet",children:"Shows messages as they\
 come. Each use is noted by the audit hook."}),s("form",{class:"filters","aria-label":"Live messages",onSubmit:v=>{v.preventDefault(),
b||g()},children:[s(x,{label:"Tenant",value:r,onInput:v=>i(v.trim()),mono:!0,readOnly:b}),s(x,{label:"Pattern",value:a,onInput:v=>l(
v.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&s(Ee,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),s("div",{class:"buttons",children:[b?s("button",{type:"button",onClick:m.
stop,children:"Stop"}):s("button",{type:"submit",class:"primary",children:"Start"}),b&&s("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),s(Ue,{text:f??m.error}),s("p",{role:"status",
"aria-label":"Connection",children:[s(O,{mood:w,children:_})," ",m.note]}),b&&m.publishes&&s(js,{tail:m}),s("section",{"\
aria-labelledby":"messages",children:[s("div",{class:"card-head",children:[s("h2",{id:"messages",children:"Messages"}),s(
"span",{class:"quiet",children:[N(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${N(m.held,"message")} since the pause not shown`:""]}),s(W,{label:"Payload as",value:d,
onInput:v=>h(v),options:vd}),s("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?s(L,{
children:s("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):s(Fs,{messages:m.messages,format:d})]})]})}function Gi(n){let e=[],t=(o,r)=>{r!==void 0&&e.push(`	${o} ${r}`)};t("name",qn(n.name)),n.description&&t("description",
qn(n.description)),n.tenant_prefix&&t("tenant_prefix",n.tenant_prefix),n.allow_ip_masks?.length&&t("allow_ip_masks",n.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])n[o]&&t(o,String(n[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function qn(n){if(/^[\w.@~:/+-]+$/.test(n))return n;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(n))return/["\\]/.test(n)?n.includes("`")?void 0:`\`${n}\``:`"${n}"`}var Ki="Revoke the access tokens that it issued",Qi="Their connections end at once. Otherwise they stay valid until they\
 expire.",Vi=n=>`master-tokens/${encodeURIComponent(n.id)}`;function Yi({master:n,onClose:e,onDone:t}){let{api:o}=M(),[r,
i]=y(!1);return s(he,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>t(await o.call("POST",
`${Vi(n)}/rotate`,{body:{revoke_tokens:r}})),children:[s("p",{children:[s(E,{text:n.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),s(Ee,{label:Ki,checked:r,onChange:i,hint:Qi})]})}function Zi({master:n,
onClose:e,onDone:t}){let{api:o}=M(),[r,i]=y(!1),[a,l]=y("");return s(he,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==n.name&&a!==n.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",Vi(n),{body:{revoke_tokens:r}});t(`${n.name} was deleted.${r?` ${N(
u,"access token")} revoked with it.`:""}`)},children:[s("p",{children:[s(E,{text:n.name})," stops working at once, for g\
ood. Its id is ",s(P,{text:n.id}),"."]}),s(Ee,{label:Ki,checked:r,onChange:i,hint:Qi}),s(x,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function ea({made:n,rotated:e,onClose:t}){let o=[n.name,n.description??
""].some(r=>r!==""&&qn(r)===void 0);return s(Bt,{title:e?"The new secret":"The master token",label:"Master token",secret:n.
token,onClose:t,children:[s("p",{children:["It is the ",e?"new ":"","secret of ",s(E,{text:n.name}),".",e&&n.revoked_tokens?
` ${N(n.revoked_tokens,"access token")} that it issued revoked.`:""]}),s(Jt,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${n.token}`,copy:"Copy the environment line"}),s("details",{children:[s("summary",{children:"For a Caddyfile"}),
s("p",{children:["Only to keep it in the configuration in place of the store, in the block ",s("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",s("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&s("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),s(Jt,{label:"Lines for a Caddyfile",text:Gi(n),copy:"C\
opy the Caddyfile lines"})]})]})}function cr({master:n,onClose:e,onCreated:t,onSaved:o}){let{api:r}=M(),i=le(),[a]=y(()=>ds(n)),[l,c]=y(a),u=So(l),d=p=>m=>c(
w=>({...w,[p]:m})),h=St(l.prefix);return s(ke,{title:n?"Edit the master token":"New master token",onClose:e,children:s(ye,
{action:i,submit:n?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!us(l))throw new Error("correct the fields that are marked");if(!n)return t(await r.call("POST","m\
aster-tokens",{body:Ht(l)}));let p=hs(a,l);Object.keys(p).length>0&&await r.call("PATCH",`master-tokens/${encodeURIComponent(
n.id)}`,{body:p}),o(l.name)},onCancel:e,children:[s(x,{label:"Name",value:l.name,onInput:d("name"),count:{now:Fe(l.name),
most:ko,unit:"characters"},autoFocus:!0}),s(x,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Fe(l.description),most:xo,unit:"characters"}}),s(x,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:h===""?"The app's namespace. Empty: every tenant of the overlay.":h===void 0?void 0:`Stored as ${h} \
– for tenants such as ${h}room`}),s(x,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),s("fieldset",{children:[s("legend",{children:"\
Quotas"}),s("p",{class:"help",children:"Left empty, the default of the edge applies."}),s("div",{class:"row",children:[s(
x,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),s(x,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),s(x,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var zn=25,xd=3e4;function ta(){let{api:n,notify:e}=M(),t=z(),[o,r]=y(),i=V("masters",xd,u=>n.get("master-tokens",u)),a=()=>r(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{r({what:"secret",made:u,rotated:d}),i.refresh()};return s(T,{children:[s(Q,
{text:"Master tokens",children:t&&s("button",{type:"button",class:"primary",onClick:()=>r({what:"new"}),children:"New ma\
ster token"})}),s("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),s(K,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&s(J,{what:"the master tokens"}),i.data&&s(Sd,{masters:i.
data.master_tokens??[],onOpen:r}),o?.what==="new"&&s(cr,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&s(cr,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&s(Yi,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&s(Zi,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&s(ea,{made:o.made,rotated:o.rotated,onClose:a})]})}function Sd({masters:n,onOpen:e}){let t=z(),[o,r]=y(""),[i,
a]=y(1);if(n.length===0)return s(L,{children:[s("p",{children:"There is no master token yet."}),s("p",{children:t?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=n.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/zn)));return s(T,{children:[n.
length>8&&s("div",{class:"filters",children:[s(x,{label:"Find",value:o,onInput:r,hint:"By name, prefix or id."}),s("p",{
class:"quiet",role:"status",children:[c.length," of ",N(n.length,"master token")]})]}),s("div",{class:"cards",children:c.
slice((u-1)*zn,u*zn).map(d=>s(Td,{master:d,onOpen:e},d.id))}),c.length===0&&s(L,{children:"None has this in its name, pr\
efix or id. Type less of it."}),s(ue,{page:u,more:u*zn<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function Td({
master:n,onOpen:e}){let t=z(),{name:o}=n;return s("article",{class:"card","aria-label":`Master token ${o}`,children:[s("\
div",{class:"card-head",children:[s("h2",{children:s(E,{text:o,most:64})}),n.static&&s(O,{children:"in the Caddyfile"})]}),
n.description&&s("p",{children:s(E,{text:n.description,most:200})}),s(se,{of:[["Tenant prefix",n.tenant_prefix?s(P,{text:n.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",s(Ed,{masks:n.allow_ip_masks??[]},"masks")],["Quotas",Cd(
n),"wide"],!n.static&&["Made",s(j,{at:n.created_at},"made")],["Id",s(P,{text:n.id},"id"),"wide"]]}),n.static?s("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):t&&s("div",{class:"butto\
ns",children:[s("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:n}),children:"Edit"}),
s("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:n}),children:"Rotate"}),s("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:n}),children:"Delete"})]})]})}function Ed({
masks:n}){return n.length===0?s(T,{children:"none: every address"}):s("span",{class:"list",children:[n.slice(0,8).map(e=>s(
P,{text:e},e)),n.length>8&&s("span",{children:["and ",n.length-8," more"]})]})}function Cd(n){let e=[n.max_tokens&&N(n.max_tokens,
"access token"),n.max_bytes&&`${q(n.max_bytes)} in the store`,n.calls_per_second&&`${$(n.calls_per_second)} calls a seco\
nd`].filter(t=>t);return e.length===0?"the edge's defaults":e.join(", ")}function na(n,e,t=180){let o=n.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),r=new Array(t).fill(null);if(o.length===
0)return r;let i=Pd(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),h=u[e];for(let f=t-1;f>=0;f--){let p=h[h.length-1-d-(t-1-f)];if(p===void 0)
break;r[f]=(r[f]??0)+p}}return r}function Pd(n){let e=[...n].sort((t,o)=>t-o);return e[Math.floor(e.length/2)]??0}function dr(n){
return n?.[n.length-1]??0}function oa(n){let e=n.filter(o=>o!==null),t=e[e.length-1];if(t!==void 0)return{min:Math.min(...e),
now:t,max:Math.max(...e)}}function Gn(n){let e=new Map;for(let t of n)for(let[o,r]of Object.entries(t??{}))e.set(o,(e.get(
o)??0)+r);return[...e].sort((t,o)=>o[1]-t[1]||t[0].localeCompare(o[0]))}var ur=40;function $d(n,e){let t="",o=!1;for(let[r,i]of n.entries()){if(i===null){o=!1;continue}let a=ur-i/e*(ur-2)-1;t+=
`${o?"L":"M"}${r} ${a.toFixed(1)}`,o=!0}return t}function ra({label:n,series:e,format:t}){let o=oa(e);if(!o)return s("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let r=$d(e,o.max||1),i=`min ${t(o.min)}, now ${t(
o.now)}, max ${t(o.max)}`;return s("figure",{class:"chart",children:[s("svg",{viewBox:`0 0 ${e.length-1} ${ur}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${n}, the last 15 minutes: ${i}`,children:s("path",{d:r,class:"line"})}),s("figcaption",{
"aria-hidden":"true",children:i})]})}function ia(){let{api:n}=M(),{data:e,error:t}=V("overview",5e3,r=>n.get("overview",r)),o=e?.edges??[];return s(T,{children:[
s(Q,{text:"Overview"}),s(K,{error:t,known:e!==void 0}),e?s(Ad,{edges:o}):!t&&s(J,{what:"the figures"})]})}function Ad({edges:n}){
let e=n.filter(c=>c.answered&&c.status),t=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),r=c=>Gn(e.map(u=>u.
recent?.[c]??void 0)),i=Gn(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(aa);return s(
T,{children:[s(Be,{edges:n,missing:["The figures leave it out.","The figures leave them out."]}),s("div",{class:"tiles",
children:[s(pr,{title:"Connections",value:$(l),chart:{samples:t,figure:"connections",format:$},note:s(T,{children:[i.map(
([c,u])=>s("span",{children:[Xe(c)," ",$(u)]},c)),a>0&&s("span",{children:["of ",$(a)," at most"]})]})}),s(Md,{edges:e}),
s(Qn,{title:"Messages a second",figure:"messages_in",samples:t,note:"published by clients"}),s(Qn,{title:"Deliveries a s\
econd",figure:"deliveries",samples:t,note:"to subscribers"}),s(Qn,{title:"Drops a second",figure:"dropped",samples:t,note:"\
deliveries that were dropped"}),s(Qn,{title:"Refusals a second",figure:"refused",samples:t,note:"ERR lines to clients"}),
s(pr,{title:"Memory",value:q(o(c=>c.status?.memory_bytes??0)),chart:{samples:t,figure:"memory_bytes",format:q},note:s("s\
pan",{children:e.length===1?"of the process":`of ${N(e.length,"process","processes")}`})}),s(sa,{title:"Token store",edges:e,
state:c=>s(kt,{status:c.status})}),s(sa,{title:"Broker",edges:e,state:c=>s(xt,{status:c.status})})]}),s("div",{class:"co\
lumns",children:[s(Vn,{title:"Dropped deliveries",counts:r("dropped"),none:"None was dropped."}),s(Vn,{title:"Refusals b\
y code",counts:r("refused"),none:"Nothing was refused."}),s(Vn,{title:"Refused handshakes",counts:r("handshakes_refused"),
none:"No client was turned away."}),s(Vn,{title:"Slow clients disconnected",counts:r("slow_disconnects"),none:"No client\
 was too slow."})]}),s("section",{"aria-labelledby":"by-edge",children:[s("h2",{id:"by-edge",children:"By edge"}),n.length===
0?s(L,{children:s("p",{children:"No edge is known yet. This one appears within seconds."})}):s(Y,{label:"Figures by edge",
columns:Od,rows:n,keyOf:c=>c.id})]})]})}function Md({edges:n}){let e=Gn(n.map(o=>o.status?.limited??void 0)).filter(([,o])=>o>
0),t=o=>o==="ingress"?"what they publish":"what they receive";return s("section",{class:"card tile","aria-label":"Waitin\
g for a cap",children:[s("h2",{children:"Waiting for a cap"}),e.length===0?s("p",{class:"quiet",children:"No connection."}):
e.map(([o,r])=>s("p",{children:[s("a",{href:A("connections",{limited:"true"}),children:N(r,"connection")})," ",s("span",
{class:"quiet",children:["with ",t(o)]})]},o))]})}var hr=3;function sa(n){let{title:e,edges:t,state:o}=n;return s("secti\
on",{class:"card tile","aria-label":e,children:[s("h2",{children:e}),t.slice(0,hr).map(r=>s("div",{class:"state-line",children:[
t.length>1&&s("p",{class:"quiet",children:s(E,{text:r.name,most:40})}),o(r)]},r.id)),t.length>hr&&s("p",{class:"quiet",children:[
"and ",t.length-hr," more, see below"]})]})}var aa=n=>Object.values(n.status?.connections??{}).reduce((e,t)=>e+t,0);function Kn(n,e){
return n.answered&&n.samples?Lt(dr(n.samples[e])):"–"}var Od=[{label:"Edge",cell:n=>s(T,{children:[s(E,{text:n.name}),
" ",s(Xt,{edge:n}),!n.answered&&s(O,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:n=>n.status?
$(aa(n)):"–"},{label:"Messages/s",number:!0,cell:n=>Kn(n,"messages_in")},{label:"Deliveries/s",number:!0,cell:n=>Kn(n,
"deliveries")},{label:"Drops/s",number:!0,cell:n=>Kn(n,"dropped")},{label:"Refusals/s",number:!0,cell:n=>Kn(n,"refused")},
{label:"Memory",number:!0,cell:n=>n.status?q(n.status.memory_bytes):"–"},{label:"Token store",cell:n=>s(kt,{status:n.status})},
{label:"Broker",cell:n=>s(xt,{status:n.status})}];function pr({title:n,value:e,note:t,chart:o}){return s("section",{class:"\
card tile","aria-label":n,children:[s("h2",{children:n}),s("p",{class:"value",children:e}),s("p",{class:"note-line",children:t}),
s(ra,{label:n,series:na(o.samples,o.figure),format:o.format})]})}function Qn({title:n,figure:e,samples:t,note:o}){let r=t.
reduce((i,a)=>i+dr(a[e]),0);return s(pr,{title:n,value:Lt(r),note:s("span",{children:o}),chart:{samples:t,figure:e,format:Lt}})}
function Vn({title:n,counts:e,none:t}){return s("section",{class:"card reasons","aria-label":n,children:[s("h2",{children:n}),
s("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?s("p",{children:t}):s("dl",{class:"counts",children:e.
map(([o,r])=>s("div",{children:[s("dt",{children:s("code",{children:o})}),s("dd",{children:$(r)})]},o))})]})}function la({query:n,names:e,onAgain:t}){let{presence:o,among:r}=n,[i,a]=y({presence:o,among:r});re(()=>a({presence:o,among:r}),
[o,r]);let l=h=>f=>a(p=>({...p,[h]:f.trim()})),c=i.among.replace(/\*$/,""),u=c!==""&&!pe(c),d=i.presence!==""&&!e.includes(
i.presence)?[i.presence]:[];return s("search",{children:s("form",{class:"filters","aria-label":"Filter tenants",onSubmit:h=>{
if(h.preventDefault(),u)return;let f=A("presence",{...n,...i});f===A("presence",n)?t():location.hash=f},children:[s(W,{label:"\
In presence",value:i.presence,onInput:l("presence"),options:[["","all"],...[...e,...d].map(h=>[h,h])]}),s(x,{label:"Of t\
enant",value:i.among,onInput:l("among"),mono:!0,error:u?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,
hint:"The whole name, or its beginning and *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"pri\
mary",children:"Filter"}),s("a",{class:"button",href:A("presence",{...n,presence:"",among:""}),children:"Clear"})]})]})})}var Id=100,Rd=5e3;function ca({query:n}){let e=ee(null),[t,o]=y(0),{tenant:r}=n;return R(()=>{r!==""&&e.current?.focus()},
[r]),s("section",{"aria-labelledby":"members",children:[s("h2",{id:"members",tabIndex:-1,ref:e,children:"Members"}),s(Nd,
{query:n,onAgain:()=>o(i=>i+1)}),pe(r)&&s(Dd,{query:n},B({tenant:r,pattern:n.pattern,subject:n.subject,again:t}))]})}function Nd({
query:n,onAgain:e}){let{tenant:t,pattern:o,subject:r}=n,[i,a]=y({tenant:t,pattern:o,subject:r}),[l,c]=y(!1);re(()=>a({tenant:t,
pattern:o,subject:r}),[t,o,r]);let u=h=>f=>a(p=>({...p,[h]:f})),d=i.tenant===""?l:!pe(i.tenant);return s("search",{children:s(
"form",{class:"filters","aria-label":"Who is present",onSubmit:h=>{if(h.preventDefault(),c(i.tenant===""),!pe(i.tenant))
return;let f=A("presence",{...n,...i});f===A("presence",n)?e():location.hash=f},children:[s(x,{label:"Tenant",value:i.tenant,
onInput:h=>u("tenant")(h.trim()),mono:!0,error:d?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0}),s(x,{
label:"Pattern",value:i.pattern,onInput:h=>u("pattern")(h.trim()),mono:!0,hint:"room.* for example; nothing: all."}),s(x,
{label:"Subject",value:i.subject,onInput:u("subject"),hint:"The whole subject."}),s("div",{class:"buttons",children:s("b\
utton",{type:"submit",class:"primary",children:"Show"})})]})})}function Dd({query:n}){let{api:e}=M(),[t,o]=y([""]),{tenant:r,
pattern:i,subject:a}=n,l=`presences/members${B({tenant:r,pattern:i,subject:a,limit:Id,cursor:t[t.length-1]})}`,{data:c,stale:u,
error:d}=V(l,Rd,f=>e.get(l,f)),h=c?.members??[];return s(T,{children:[s(K,{error:d,known:c!==void 0}),!c&&!d&&s(J,{what:"\
the members"}),c&&s("p",{children:[N(c.total.members,"member")," in ",N(c.total.channels,"channel")," of"," ",s(P,{text:i===
""?"#":i})," in ",s(P,{text:r}),", the oldest first.",a!==""&&s(T,{children:[" ","Only ",s(E,{text:a,most:128})," is lis\
ted."]})]}),h.length>0&&s(Y,{label:"Members",columns:jd,rows:h,keyOf:Fd,busy:u}),c&&!u&&h.length===0&&t.length===1&&s(L,
{children:s("p",{children:a===""?"Nobody is present there now.":"This subject is not present there now."})}),s(ue,{page:t.
length,more:!u&&(c?.next_cursor??"")!=="",onPrevious:()=>o(t.slice(0,-1)),onNext:()=>o([...t,c?.next_cursor??""])})]})}var Fd=({
channel:n,subject:e})=>`${n}
${e}`,jd=[{label:"Channel",cell:({channel:n})=>s(P,{text:n,most:120})},{label:"Subject",cell:({subject:n})=>s("a",{href:A(
"connections",{subject:n}),"aria-label":`Connections of ${be(n,60)}`,children:s(E,{text:n,most:60})})},{label:"Since",cell:({
since:n})=>s(j,{at:n})},{label:"Info",cell:({info:n})=>n?s(P,{text:JSON.stringify(n)}):s(T,{children:"–"})}];var Ld=50,Ud=8,Xd=1e4;function da({query:n}){let{api:e}=M(),[t,o]=y([""]),r={presence:n.presence??"",among:n.among??"",tenant:n.
tenant??"",pattern:n.pattern??"",subject:n.subject??""},i=B({presence:r.presence,tenant:r.among});R(()=>o([""]),[i]);let a=`\
presences${B({presence:r.presence,tenant:r.among,limit:Ld,cursor:t[t.length-1]})}`,{data:l,stale:c,error:u,refresh:d}=V(
a,Xd,async w=>{try{return await e.get(a,w)}catch(_){if(_ instanceof G&&_.code==="no_presences")return"none";throw _}}),h=l===
"none"?void 0:l,f=h?.totals??[],p=f.reduce((w,_)=>w+_.tenants,0),m=h?.presences??[];return s(T,{children:[s(Q,{text:"Pre\
sence"}),s("p",{class:"quiet",children:"Who has said that they are in a channel, at all edges: each edge knows that of t\
he others."}),s(K,{error:u,known:l!==void 0}),!l&&!u&&s(J,{what:"who is present"}),l==="none"&&s(Bd,{}),h&&s(T,{children:[
s(Jd,{totals:f}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(i!==""||
p>Ud)&&s(la,{query:r,names:f.map(({presence:w})=>w),onAgain:d}),m.length>0&&s(Y,{label:"Where somebody is present",columns:Hd(
r,f),rows:m,keyOf:Wd,busy:c}),!c&&m.length===0&&t.length===1&&s(L,{children:i===""?s("p",{children:"Nobody is present no\
w. Clients appear here when they join a channel of a presence."}):s("p",{children:"Nobody is present there. Ask for less\
, or clear the filters."})}),s(ue,{page:t.length,more:!c&&(h.next_cursor??"")!=="",onPrevious:()=>o(t.slice(0,-1)),onNext:()=>o(
[...t,h.next_cursor??""])})]}),s(ca,{query:r})]})]})}function Bd(){return s(L,{children:[s("p",{children:"No presence is\
 configured at this edge: it does not know who is where."}),s("p",{children:["Clients may say that they are in the chann\
els of a presence:"," ",s("code",{children:"presence <name> { channels … }"})," in the block ",s("code",{children:"pub\
sub"})," of the Caddyfile. docs/configuration.md has its options."]})]})}function Jd({totals:n}){return s("div",{class:"\
cards",children:n.map(e=>s("article",{class:"card","aria-label":`Presence ${e.presence}`,children:[s("div",{class:"card-\
head",children:s("h2",{children:s(E,{text:e.presence})})}),s(se,{of:[["Tenants",$(e.tenants)],["Members",$(e.members)],[
"At most of a tenant",$(e.max_members)]]})]},e.presence))})}var Wd=({presence:n,tenant:e})=>`${n}:${e}`;function Hd(n,e){
let t=new Map(e.map(o=>[o.presence,o.max_members]));return[{label:"Tenant",cell:({tenant:o})=>s(P,{text:o})},{label:"Pre\
sence",cell:({presence:o})=>s(E,{text:o})},{label:"Members",number:!0,cell:({presence:o,members:r})=>`${$(r)} of ${$(t.get(
o)??r)}`},{label:"Who",cell:({tenant:o})=>s("a",{class:"button","aria-label":`Show who is present in ${o}`,href:A("prese\
nce",{presence:n.presence,among:n.among,tenant:o}),children:"Show"})}]}var qd=/^([0-9a-f]{16})?$/;function ua({query:n,edges:e,onAgain:t}){let[o,r]=y(n),i=JSON.stringify(n);re(()=>r(n),[i]);let a=d=>h=>r(
f=>({...f,[d]:h.trim()})),l={connection_id:qd.test(o.connection_id)?void 0:"It has 16 digits of 0-9 and a-f.",token_id:je.
test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",ip:o.ip===""?void 0:st(o.ip)},c=e.map(d=>[d.id,be(d.name,60)]),
u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,be(o.edge,60)]]:[];return s("search",{children:s("form",{class:"fi\
lters","aria-label":"Filter what was refused",onSubmit:d=>{if(d.preventDefault(),l.connection_id||l.token_id||l.ip)return;
let h=A("refused",o);h===A("refused",n)?t():location.hash=h},children:[s(x,{label:"Subject",value:o.subject,onInput:d=>r(
h=>({...h,subject:d})),hint:"The whole subject."}),s(x,{label:"Token id",value:o.token_id,onInput:d=>a("token_id")(Le(d.
trim())),mono:!0,error:l.token_id,hint:"The whole id."}),s(x,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l.
ip&&`It ${l.ip}.`,hint:"One, or a CIDR."}),s(x,{label:"Connection id",value:o.connection_id,onInput:a("connection_id"),mono:!0,
error:l.connection_id,hint:"That the client was answered."}),s(W,{label:"Edge",value:o.edge,onInput:a("edge"),options:[[
"","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),
s("a",{class:"button",href:A("refused"),children:"Clear"})]})]})})}var zd=100,Gd=5e3;function ha({query:n}){let{api:e}=M(),[t,o]=y([""]),r={connection_id:n.connection_id??"",token_id:n.token_id??
"",subject:n.subject??"",ip:n.ip??"",edge:n.edge??""},i=B(r);R(()=>o([""]),[i]);let a=`refused${B({...r,limit:zd,cursor:t[t.
length-1]})}`,{data:l,stale:c,error:u,refresh:d}=V(a,Gd,p=>e.get(a,p)),h=l?.edges??[],f=l?.refused??[];return s(T,{children:[
s(Q,{text:"Refused"}),s("p",{class:"quiet",children:"What edges refused last, newest first, and the whole reason, which \
clients are not told. Each edge keeps some 4,000, shared fairly among tokens and addresses, until it restarts."}),s(ua,{
query:r,edges:h,onAgain:d}),s(K,{error:u,known:l!==void 0}),s(Be,{edges:h,missing:["What it refused is not listed.","Wha\
t they refused is not listed."]}),!l&&!u&&s(J,{what:"what was refused"}),f.length>0&&s(Y,{label:"Refused",columns:Kd(h.length>
1),rows:f,keyOf:p=>`${p.edge}:${p.time}`,busy:c}),l&&!c&&f.length===0&&t.length===1&&s(L,{children:i===""?s("p",{children:"\
Nothing was refused since the edges started."}):s("p",{children:"Nothing that was refused matches. Ask for less, or clea\
r the filters: the client may not reach the edge."})}),s(ue,{page:t.length,more:!c&&(l?.next_cursor??"")!=="",onPrevious:()=>o(
t.slice(0,-1)),onNext:()=>o([...t,l?.next_cursor??""])})]})}function Kd(n){return[{label:"When",cell:t=>s(j,{at:t.time})},
...n?[{label:"Edge",cell:t=>s(E,{text:t.edge_name,most:40})}]:[],{label:"What",cell:t=>s(T,{children:[t.action," ",t.tenant&&
s(P,{text:`${t.tenant}:${t.channel??""}`,most:80})]})},{label:"Why",cell:t=>s(T,{children:[s(P,{text:t.code}),": ",s("bd\
i",{children:t.reason}),t.rule&&s("p",{children:["Rule: ",s(P,{text:t.rule,most:200})]})]})},{label:"Subject",cell:({subject:t})=>t?
s(E,{text:t,most:40}):s(T,{children:"–"})},{label:"Token",cell:t=>t.token_id?s(T,{children:[s("a",{href:A("tokens",{id:t.
token_id}),"aria-label":`Token ${t.token_id.slice(0,8)}`,children:s("code",{children:t.token_id.slice(0,8)})})," ",!t.verified&&
s("span",{class:"quiet",children:"not proven"})]}):s(T,{children:"–"})},{label:"Client",cell:t=>s(T,{children:[s("span",
{class:"address",children:t.ip?s(P,{text:t.ip}):"unknown address"})," ",s("span",{class:"quiet",children:Xe(t.transport)})]})},
{label:"Connection id",cell:t=>t.connection_id?s(P,{text:t.connection_id}):s(T,{children:"–"})}]}var pa=[{name:"overview",label:"Overview",component:ia},{name:"master-tokens",label:"Master tokens",component:ta},{name:"\
tokens",label:"Access tokens",component:ms},{name:"connections",label:"Connections",component:vs},{name:"refused",label:"\
Refused",component:ha},{name:"presence",label:"Presence",component:da},{name:"live",label:"Live",component:zi,tail:!0},{
name:"histories",label:"Histories",component:Ns},{name:"edges",label:"Edges",component:Ss}];var Yn=class extends Ze{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:s("div",{role:"alert",class:"errors",children:[s("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",te(this.state.error)]}),s("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function fa(n){let{base:e,session:t,links:o,current:r,result:i,ended:a,children:l}=n;return s(T,{children:[s("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),s("header",{class:"top",children:[s("a",{class:"brand",href:A("overview"),children:[s("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),s("span",{children:"Millrace"})]}),s("nav",{"aria-label":"Screens",children:s("u\
l",{children:o.map(({screen:c,label:u})=>s("li",{children:s("a",{href:A(c),...c===r?{"aria-current":"page"}:{},children:u})},
c))})}),s("div",{class:"who",children:[s("span",{children:[s(E,{text:t.operator??"",most:32})," ",s("span",{class:"quiet",
children:t.role})]}),s("button",{type:"button",onClick:n.onSignOut,children:"Sign out"})]})]}),s("main",{id:"main",tabIndex:-1,
children:[a&&s("p",{class:"note warn with-button",children:[s("span",{children:"Your session has ended, so nothing here \
is up to date."}),s("button",{type:"button",onClick:n.onSignIn,children:"Sign in"})]}),s("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&s("p",{class:"note good with-button",children:[s("span",{children:i}),s("button",
{type:"button",class:"link",onClick:n.onDismiss,children:"Dismiss"})]})}),l]})]})}async function fr(n,e,t){try{return await n.call("POST",e,{body:t,bare:!0})}catch(o){throw o instanceof G&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${nt(o.retryAfter*1e3)}`):o}}function ma({
api:n,session:e,onSession:t}){let[o,r]=y(""),[i,a]=y(""),l=le(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{t(await fr(n,"session",c?{}:{name:o,password:i}))}finally{a("")}};return s("main",
{id:"main",class:"sign-in",children:s("section",{class:"card",children:[s("h1",{tabIndex:-1,children:"Sign in"}),s("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?s("p",{children:["The authe\
ntication in front of the console names you ",s(E,{text:e.user}),"."]}):null,c&&!e.user?s("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,s(ye,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&s(T,{children:[s(x,{label:"Name",value:o,onInput:r,autoComplete:"username",autoFocus:!0}),
s(x,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function ga({api:n,gate:e,
session:t,onSession:o,onLeave:r}){let{question:i}=e;return i?s(Qd,{api:n,gate:e,session:t,onSession:o,onLeave:r,again:i===
"sign-in"},i):null}function Qd({api:n,gate:e,session:t,onSession:o,onLeave:r,again:i}){let[a,l]=y(""),c=le(),u=t.auth===
"caddy",d=t.operator??"";return s(ke,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[s("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),s(ye,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let f;try{i?f=await fr(
n,"session",u?{}:{name:d,password:a}):f=await fr(n,"session/confirm",{password:a})}catch(p){if(l(""),!i&&p instanceof G&&
p.code==="no_session")return void e.signIn();throw p}o(f),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&s("button",{type:"\
button",class:"link",onClick:r,children:"Sign in as somebody else"}),children:[s(x,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&s(x,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function ba({base:n,takeActivity:e}){let[,t]=y(0),[o,r]=y(),[i,a]=y(),[l,c]=y(""),u=_t(()=>new jt(()=>t(v=>v+1)),[]),d=_t(
()=>new Ft({base:new URL("api/",n),gate:u,takeActivity:e}),[n,u,e]),h=Yd(),f=ge(()=>{a(void 0),d.get("session",{bare:!0}).
then(r,v=>a(te(v)))},[d]);R(f,[f]);let p=pa.filter(({tail:v})=>!v||o?.tail===!0),m=p.find(({name:v})=>v===h.screen)??p[0];
R(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:v}=document;
v instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let w=v=>{r(v),u.opened()},
_=()=>{u.answer(!1),r(v=>v&&{auth:v.auth,signed_in:!1,...v.user?{user:v.user}:{}})},b=async()=>{try{let v=await d.call("\
DELETE","session",{bare:!0});u.opened(),r(v)}catch(v){v instanceof Error&&"code"in v&&v.code==="no_session"?_():c(`Signi\
ng out failed: ${te(v)} You are still signed in.`)}};if(!o)return s(Vd,{error:i,onRetry:f});if(!o.signed_in)return s(ma,
{api:d,session:o,onSession:w});let g=m?.component;return s(go.Provider,{value:{api:d,session:o,base:n,notify:c},children:[
s(fa,{base:n,session:o,links:p.map(({name:v,label:C})=>({screen:v,label:C})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:g&&s(Yn,{children:s(g,{query:h.query})},`${m.
name} ${o.operator}`)}),s(ga,{api:d,gate:u,session:o,onSession:w,onLeave:_})]})}function Vd({error:n,onRetry:e}){return s(
"main",{id:"main",class:"sign-in",children:[s("h1",{children:"Millrace console"}),s("p",{role:"status",children:n?"":"Lo\
ading…"}),s("div",{role:"alert",children:n&&s(T,{children:[s("p",{class:"note bad",children:n}),s("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function Yd(){let[n,e]=y(()=>fo(location.hash));return R(()=>{
let t=()=>e(fo(location.hash));return addEventListener("hashchange",t),()=>removeEventListener("hashchange",t)},[]),n}var Zd=new URL(".",import.meta.url),mr=!0;for(let n of["keydown","pointerdown","pointermove","wheel"])addEventListener(n,
()=>mr=!0,{capture:!0,passive:!0});var eu=()=>{let n=mr;return mr=!1,n},ya=document.getElementById("app");ya&&Pr(s(ba,{base:Zd,
takeActivity:eu}),ya);
