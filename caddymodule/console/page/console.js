// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var D,or,zi,Me,Hn,Pt,rr,Tt,sr,Gn,qn,ir,ut=Symbol.for("pv"),At={},$t=[],Gi=/^m(i|n|o|s|text|space)$/,Kn=Array.isArray,ar=$t.
slice,He=Object.assign;function We(n){n&&n.parentNode&&n.remove()}function Et(n,e,t,o,r){var i={type:n,props:e,key:t,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ut,__v:r||
++or,__i:-1,__u:0};return!r&&D.vnode&&D.vnode(i),i}function S(n){return n.children}function Qe(n,e){this.props=n,this.context=e,this.__g=0}function Oe(n,e){if(e==null)return n.
__&&Oe(n.__,n.__i+1);for(var t;e<n.__k.length;e++)if((t=n.__k[e])&&t.__e)return t.__e;return typeof n.type!="function"||
n.props.__P?null:Oe(n)}function Ki(n){var e,t=n.__v,o=t.__e,r=[],i=[],a=n.__P;a&&((e=He({constructor:ut},t)).__v=t.__v+1,
D.vnode&&D.vnode(e),Qn(a,e,t,n.__n,a.namespaceURI,32&t.__u?[o]:null,r,o||Oe(t),32&t.__u,i),e.__v=t.__v,e.__.__k[e.__i]=e,
pr(r,e,i),t.__=t.__e=null,e.__e!=o&&lr(e))}function lr(n){if((n=n.__)&&n.__c&&!n.props.__P)return n.__e=null,n.__k.some(
function(e){return e&&(n.__e=e.__e)}),lr(n)}function zn(n){(8&n.__g||(n.__g|=8,Me.push(n),Pt++))&&Hn==D.debounceRendering||
((Hn=D.debounceRendering)||queueMicrotask)(cr)}function cr(){try{for(var n,e=1;Me.length;)Me.length>e&&Me.sort(rr),n=Me.
shift(),e=Me.length,8&n.__g&&Ki(n)}finally{(Pt=Me.length)&&(Hn||queueMicrotask)(cr)}}function dr(n,e,t,o,r,i,a,l,c,u,d){
var h,f,p,m,y,v,b=o.__k||$t,w=e.length;for(c=Qi(t,e,b,c,w),h=0;h<w;h++)(p=t.__k[h])!=null&&(f=~p.__i&&b[p.__i]||At,p.__i=
h,v=Qn(n,p,f,r,i,a,l,c,u,d),m=p.__e,(f.ref!=p.ref||8&f.__u)&&(f.ref&&Vn(f.ref,null,p,f),p.ref&&d.push(p.ref,p.__c||m,p)),
y=y||m,4&p.__u?(c=ur(p,c,n,!f.__v),f.__e&&(f.__e=null)):typeof p.type=="function"&&v!==void 0?c=v:m&&(c=m.nextSibling),p.
__u&=-21);return t.__e=y,c}function Qi(n,e,t,o,r){var i,a,l,c,u,d,h,f,p,m=t.length,y=m,v=0,b=0,w=n.__k=Array(r);for(i=0;i<
r;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=w[i]=Et(null,
a):Kn(a)?a=w[i]=Et(S,{children:a}):a.constructor===ut&&a.__b?a=w[i]=Et(a.type,a.props,a.key,a.ref,a.__v):w[i]=a,c=i+v,a.
__=n,a.__b=n.__b+1,l=null,~(u=a.__i=Vi(a,t,c,y))&&(y--,(l=t[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?v--:u==c+1?v++:u!=
c&&(u>c?v--:v++,b=1)):(~u||(r>m?v--:r<m&&v++),typeof a.type!="function"&&(a.__u|=4))):w[i]=null;if(b){for(d=[],h=[],i=0;i<
r;i++)if((a=w[i])&&16&a.__u){for(v=0,f=d.length;v<f;)d[p=v+f>>1]<a.__i?v=p+1:f=p;d[v]=a.__i,h[i]=v+1}for(v=d.length;i--;)
h[i]&&(h[i]==v?v--:w[i].__u|=4)}if(y)for(i=0;i<m;i++)!(l=t[i])||2&l.__u||(l.__e==o&&(o=Oe(l)),Yn(l,l));return o}function ur(n,e,t,o){
var r,i,a,l;if(typeof n.type=="function"){if(n.props.__P)return e;if(r=n.__k)for(i=0;i<r.length;i++)r[i]&&(r[i].__=n,e=ur(
r[i],e,t,!1));return e}for(e&&!e.parentNode&&(e=Oe(n))&&!e.parentNode&&(e=null),a=n.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&t.moveBefore&&a.parentNode?t.moveBefore(a,e):t.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function Vi(n,e,t,o){var r,i=n.key,a=n.type,l=e[t],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return t;
if(o>(c?1:0)){for(r=t-1;r>=0;r--)if((l=e[r])&&!(2&l.__u)&&i==l.key&&a==l.type)return r;for(r=t+1;r<e.length;r++)if((l=e[r])&&
!(2&l.__u)&&i==l.key&&a==l.type)return r}return-1}function nr(n,e,t){t==null&&(t=""),e[0]=="-"?n.setProperty(e,t):n[e]=t}
function St(n,e,t,o,r){var i,a;if(e=="style")if(typeof t=="string")n.style.cssText=t;else{if(typeof o=="string"&&(n.style.
cssText=o=""),o)for(e in o)t&&e in t||nr(n.style,e);if(t)for(e in t)o&&t[e]==o[e]||nr(n.style,e,t[e])}else if(e[0]=="o"&&
e[1]=="n")typeof t!="function"&&(t=null),typeof o!="function"&&(o=null),(n.__e||(n.__e={}))[e]=t,t&&o||(a=qn[e]||(qn[e]=
Yi(e)),(n.__a||(n.__a={}))[e]=Gn,i=e!=(e=e.replace(sr,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),t?n.addEventListener(
e,a,i):n.removeEventListener(e,a,i));else{if(r=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in n)try{return void(n[e]=t??"")}catch{}if(typeof t=="function")return;t==null||t===
!1&&e[4]!="-"?n.removeAttribute(e):n.setAttribute(e,e=="popover"&&t==1?"":t)}}function Yi(n){return function(e){var t=this.
__e;if(t){if(t=t[n],e[Tt]==null)e[Tt]=Gn++;else if(e[Tt]<this.__a[n])return;return t(D.event?D.event(e):e)}}}function Qn(n,e,t,o,r,i,a,l,c,u){
var d,h,f,p,m,y,v,b,w,k,C,j,ie,$e,me,de,ne,Be,Ce=e.type;if(e.constructor!==ut)return null;128&t.__u&&(c=32&t.__u,d=t.__c.
__z)&&(e.__u|=c,h=i=[],d.nodeType==8?l=Ct(d,i):i.push(d),l=i[0]||l),(d=D.__b)&&d(e);e:if(typeof Ce=="function"){f=a.length;
try{if(b=e.props,w=(d=Ce.prototype)&&d.render,k=(d=Ce.contextType)&&o[d.__c],C=d?k?k.props.value:d.__:o,(p=t.__c)?(e.__c=
p,2&p.__g&&(p.__g|=1)):(w?e.__c=p=new Ce(b,C):(e.__c=p=new Qe(b,C),p.constructor=Ce,p.render=ea),k&&k.sub(p),p.state||(p.
state={}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),w&&(p.__s||(p.__s=p.state),Ce.getDerivedStateFromProps&&(p.__s==p.state&&(p.
__s=He({},p.__s)),He(p.__s,Ce.getDerivedStateFromProps(b,p.__s)))),m=p.props,y=p.state,p.__v=e,t.__c){if(b!==m&&w&&!Ce.getDerivedStateFromProps&&
p.componentWillReceiveProps&&p.componentWillReceiveProps(b,C),e.__v==t.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&
p.shouldComponentUpdate(b,p.__s,C)===!1){e.__v!=t.__v&&(p.props=b,p.state=p.__s,p.__g&=-9),e.__e=t.__e,e.__k=t.__k,e.__k.
some(function(ve){ve&&(ve.__=e)}),$t.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&a.push(p),l=Oe(t);break e}p.componentWillUpdate&&
p.componentWillUpdate(b,p.__s,C),w&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(m,y,v)})}else w&&!Ce.
getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),w&&p.componentDidMount&&p.__h.push(p.componentDidMount);
p.context=C,p.props=b,p.__P=n,p.__g&=-5,j=D.__r,ie=w?25:0;do p.__g&=-9,j&&j(e),d=p.render(p.props,p.state=p.__s,p.context);while(8&
p.__g&&++ie<25);w&&($t.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=He({},o,p.getChildContext())),
w&&t.__c&&p.getSnapshotBeforeUpdate&&(v=p.getSnapshotBeforeUpdate(m,y)),$e=d&&d.type===S&&d.key==null?d.props.children:d,
b.__P&&(d=l,r=(n=b.__P).namespaceURI,c=i=null,t.props&&t.props.__P!=n&&(t.__k.some(function(ve){ve&&Yn(ve,ve)}),t.__k=null),
l=t.__k?Oe(t,0):null),l=dr(n,Kn($e)?$e:[$e],e,t,o,r,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,h&&h.some(We),p.__h.length&&
a.push(p),1&p.__g&&(p.__g&=-4)}catch(ve){if(a.length=f,e.__v=null,c||i)if(ve&&ve.then){if(e.__u|=128|c,i){for(~(ne=i.indexOf(
l||void 0))||(ne=i.length);(Be=i[ne-1])&&Be.nodeType==8;)ne--;for(;ne<i.length;ne++)if(Be=i[ne])if(i[ne]=null,me){if(Be==
de)break}else{if(Be.nodeType!=8)break;Be.data.startsWith("$s")&&(de=Ct(me=Be))}}if(!me){for(;l&&l.nodeType==8&&l.nextSibling;)
l=l.nextSibling;me=l}(d=Ct(me=e.__c.__z||(e.__c.__z=me)))?(e.__e=me,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(We);else
e.__e=t.__e;e.__k||(e.__k=t.__k||[]),ve&&ve.then||hr(e),D.__e(ve,e,t)}}else l=e.__e=Zi(t.__e,e,t,o,r,i,a,c,u,n);return(d=
D.diffed)&&d(e),l}function Ct(n,e){if(n&&n.nodeType==8&&n.data.startsWith("$s"))for(var t=1;n=n.nextSibling;){if(n.nodeType==
8){if(n.data.startsWith("$s"))t++;else if(n.data.startsWith("/$s")&&!--t)return n}e&&e.push(n)}}function hr(n){n&&(n.__c&&
(n.__c.__g|=4),n.__k&&n.__k.some(hr))}function pr(n,e,t){for(var o=0;o<t.length;)Vn(t[o++],t[o++],t[o++]);D.__c&&D.__c(e,
n),n.some(function(r){try{n=r.__h,r.__h=[],n.some(function(i){i.call(r)})}catch(i){D.__e(i,r.__v)}})}function Zi(n,e,t,o,r,i,a,l,c,u){
var d,h,f,p,m,y,v,b,w=t.props||At,k=e.props,C=e.type;if(C=="svg"?r="http://www.w3.org/2000/svg":C=="math"?r="http://www.\
w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(C?m.localName==C:
m.nodeType==3)){n=m,i[d]=null;break}}if(!n){if(b=u.ownerDocument||document,!C)return b.createTextNode(k);n=b.createElementNS(
r,C,k.is?k:u),l&&(D.__m&&D.__m(e,i),l=!1),i=null}if(C){if(u=C=="template"&&n.content||n,i=C=="textarea"&&k.defaultValue!=
null?null:i&&ar.call(u.childNodes),!l&&i)for(w={},d=0;d<n.attributes.length;d++)w[(m=n.attributes[d]).name]=m.value;for(d in w)
m=w[d],d=="dangerouslySetInnerHTML"?f=m:d=="children"||d in k||d=="value"&&"defaultValue"in k||d=="checked"&&"defaultChe\
cked"in k||St(n,d,null,m,r);for(d in k)m=k[d],d=="children"?p=m:d=="dangerouslySetInnerHTML"?h=m:d=="value"?y=m:d=="chec\
ked"?v=m:l&&typeof m!="function"||w[d]===m||St(n,d,m,w[d],r);h?(l||f&&(h.__html==f.__html||h.__html==n.innerHTML)||(n.innerHTML=
h.__html),e.__k=[]):(f&&(n.textContent=""),(C=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&Gi.test(C))&&(r=
"http://www.w3.org/1999/xhtml"),dr(u,Kn(p)?p:[p],e,t,o,r,i,a,i?i[0]:t.__k&&Oe(t,0),l,c),i&&i.some(We)),l&&C!="textarea"||
(d="value",C=="progress"&&y==null?n.removeAttribute(d):y==null||y===n[d]&&(C!="progress"||y)||St(n,d,y,w[d],r),d="checke\
d",v!=null&&v!=n[d]&&St(n,d,v,w[d],r))}else w===k||l&&n.data==k||(n.data=k);return n}function Vn(n,e,t,o){try{typeof n==
"function"?e?e.__x=n(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():n(null)):n.current=e}catch(r){
D.__e(r,t)}}function Yn(n,e,t){var o,r,i,a;if(D.unmount&&D.unmount(n),!(o=n.ref)||o.current&&o.current!=n.__e||Vn(o,null,
e,n),o=n.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){D.__e(l,e)}o.__P=o.__n=null}if(o=n.__k)for(a=
0;a<o.length;a++)o[a]&&Yn(o[a],e,typeof n.type!="function"||t&&!n.props.__P);!t&&(o=n.__c)&&(o=o.__z)&&(r=Ct(o,i=[]))&&(o==
n.__e&&i.some(We),We(r),We(o)),t||We(n.__e),n.__e=n.__c=n.__=null}function ea(n,e,t){return this.constructor(n,t)}function fr(n,e){
var t,o,r,i;D.__&&D.__(n,e),e.nodeType==9&&(e=e.documentElement),o=(t=n&&32&n.__u)?null:e.__k,e.__k=Et(S,{children:[n]}),
r=[],i=[],Qn(e,e.__k,o||At,At,e.namespaceURI,o?null:e.firstChild?ar.call(e.childNodes):null,r,o?o.__e:e.firstChild,t,i),
pr(r,e.__k,i),e.__k.props.children=null}function mr(n){function e(t){var o,r;return this.getChildContext||(o=new Set,(r={})[e.__c]=this,this.getChildContext=function(){
return r},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,zn(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),t.children}
return e.__c="__cC"+ir++,e.__=n,e.Provider=(e.Consumer=function(t,o){return t.children(o)}).contextType=e,e}D={__e:function(n,e,t,o){for(var r,i,a;e=e.__;)if((r=e.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(i=r.constructor)&&i.getDerivedStateFromError)&&
r.setState(i.getDerivedStateFromError(n)),r.componentDidCatch&&(r.componentDidCatch(n,o||{}),a=1),a&&8&r.__g)return void(r.
__g|=2)}catch(l){n=l}}throw Pt=0,n}},or=0,zi=function(n){return n!=null&&n.constructor===ut},Qe.prototype.setState=function(n,e){
var t=this.__s;t&&t!=this.state||(t=this.__s=He({},this.state)),typeof n=="function"&&(n=n(He({},t),this.props)),n&&(He(
t,n),this.__v&&(e&&this.__k.push(e),zn(this)))},Qe.prototype.forceUpdate=function(n){this.__v&&(this.__g|=4,n&&this.__h.
push(n),zn(this))},Qe.prototype.render=S,Me=[],Pt=0,rr=function(n,e){return n.__v.__b-e.__v.__b},Tt=Symbol(),sr=/(PointerCapture)$|Capture$/i,
Gn=0,qn={},ir=0;var Ie,U,Zn,gr,eo=Object.is,pt=0,Tr=[],to=[],H=D,br=H.__b,yr=H.__r,wr=H.diffed,vr=H.__c,_r=H.unmount,kr=H.__;function Ve(n,e){
H.__h&&H.__h(U,n,pt||e),pt=0;var t=U.__H||(U.__H={__:[],__h:[]});return n>=t.__.length&&t.__.push({}),t.__[n]}function g(n){
return pt=1,ta(Cr,n)}function ta(n,e,t){var o=Ve(Ie++,2);if(o.t=n,!o.__c&&(o.__=[t?t(e):Cr(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);eo(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=U,!U.__f)){U.__f=!0;var r=U.shouldComponentUpdate;
U.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(f){
f.__N&&(u=!0,eo(f.__[0],f.__N[0])||(d=!0))}),r){var h=r.call(this,i,a,l);return u?h||d:h}return!u||d}}return o.__}function I(n,e){
var t=Ve(Ie++,3);!H.__s&&oo(t.__H,e)&&(t.__P=!0,t.__=n,t.u=e,U.__H.__h.push(t))}function oe(n,e){var t=Ve(Ie++,4);!H.__s&&
oo(t.__H,e)&&(t.__P=!1,t.__=n,t.u=e,U.__h.push(t))}function Z(n){return pt=5,ft(function(){return{current:n}},[])}function ft(n,e){var t=Ve(Ie++,7);return oo(t.__H,e)&&(t.__=n(),t.__H=e),t.__}function ge(n,e){return pt=8,ft(function(){
return n},e)}function Er(n){var e=U.context[n.__c],t=Ve(Ie++,9);return t.c=n,e?(t.__==null&&(t.__=!0,e.sub(U)),e.props.value):
n.__}function Ye(){var n=Ve(Ie++,11);if(!n.__){for(var e=U.__v;!e.__m&&e.__;)e=e.__;var t=e.__m||(e.__m=[0,0]);n.__="P"+t[0]+
"-"+t[1]++}return n.__}function na(){var n;do{for(;n=to.shift();)try{ht(n)}catch(t){H.__e(t,{__:(n=n.__P)&&n.__v})}for(;n=
Tr.shift();){var e=n.__H;if(n.__P&&e)try{e.__h.some(ht),e.__h.some(no),e.__h=[]}catch(t){e.__h=[],H.__e(t,n.__v)}}}while(to.
length)}H.__b=function(n){U=null,br&&br(n)},H.__=function(n,e){n&&e.__k&&e.__k.__m&&(n.__m=e.__k.__m),kr&&kr(n,e)},H.__r=
function(n){yr&&yr(n),Ie=0;var e=(U=n.__c).__H;e&&(Zn==U?U.__h=[]:(e.__h.some(ht),e.__h.some(no),Ie=0),e.__h=[],e.__.some(
function(t){t.__N&&(t.__=t.__N),t.u=t.__N=void 0})),Zn=U},H.diffed=function(n){wr&&wr(n);var e=n.__c;e&&e.__H&&(e.__H.__h.
length&&Sr(Tr.push(e)),e.__H.__.some(function(t){t.u&&(t.__H=t.u)})),Zn=U=null},H.__c=function(n,e){e.some(function(t){try{
t.__h.some(ht),t.__h=t.__h.filter(function(o){return!o.__||no(o)})}catch(o){t.__h=[function(){throw o}]}}),vr&&vr(n,e)},
H.unmount=function(n){_r&&_r(n);var e,t,o=n.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(t===void 0){
for(t=n.__;t&&(!t.__c||!t.__c.__P);)t=t.__;t=t&&t.__c}r.__P=t,Sr(to.push(r))}else ht(r)}catch(i){e=i}}),o.__H=void 0,e&&
H.__e(e,o.__v))};var xr=typeof requestAnimationFrame=="function";function oa(n){var e,t=function(){clearTimeout(o),xr&&cancelAnimationFrame(
e),setTimeout(n)},o=setTimeout(t,35);xr&&(e=requestAnimationFrame(t))}function Sr(n){n!=1&&gr==H.requestAnimationFrame||
((gr=H.requestAnimationFrame)||oa)(na)}function ht(n){var e=U,t=n.__c;typeof t=="function"&&(n.__c=void 0,t()),U=e}function no(n){
var e=U;n.__c=n.__(),U=e}function oo(n,e){return!n||n.length!=e.length||e.some(function(t,o){return!eo(t,n[o])})}function Cr(n,e){
return typeof e=="function"?e(n):e}var G=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,t,o,r=0){super(o),this.code=e,this.status=
t,this.retryAfter=r}};async function Pr(n){let e=Number(n.headers.get("Retry-After"))||0,t;try{t=await n.json()}catch{t=
void 0}let{code:o,detail:r,title:i}=t??{},a=[r,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${n.status}`;return new G(typeof o=="string"?o:"unknown",n.status,l,e)}function ee(n){let e=n instanceof
Error?n.message:String(n),t=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(t)?t:`${t}.`}var ra=4,ro=new G("no_session",401,"you are signed out; sign in to go on"),Mt=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,t={})=>this.call("GET",e,t);async call(e,t,o={}){let{gate:r}=this.#e;for(let i=0;;i++){if(o.
background&&r.ended)throw ro;let a=await this.#n(e,t,o);if(a.ok)return await this.#o(a);let l=await Pr(a);if(o.bare||i>=
ra)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&r.ended)
throw ro;let u=await(c==="no_session"?r.signIn():r.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?ro:
new G(c,403,"the password was not given, so nothing was changed")}}async#n(e,t,{body:o,background:r,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();r&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(t,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new G("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new G("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var Ot=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let t=this.#e;t&&(this.#e=void 0,t.question==="sign-in"&&(this.ended=
!e),t.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let t=this.#e;if(t&&t.question!==e)return e==="si\
gn-in"&&(this.#e={...t,question:e}),this.#t(),t.answered;if(t)return t.answered;let o=()=>{},r=new Promise(i=>{o=i});return this.#e=
{question:e,answered:r,answer:o},this.#t(),r}};function so(n){let[e="",t=""]=n.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
t))}}function $(n,e={}){let t=J(e);return`#/${n}${t}`}var sa=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function J(n){let e=new URLSearchParams;
for(let[o,r]of Object.entries(n))r!==void 0&&r!==""&&e.set(o,String(r).replace(sa,"$1"));let t=e.toString().replaceAll("\
+","%20");return t===""?"":`?${t}`}var ia=new Intl.NumberFormat("en",{maximumFractionDigits:0}),aa=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
la=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),Ar=["bytes","KiB","MiB","GiB","TiB","PiB"],A=n=>ia.format(n),It=n=>n===0||n>=10?A(n):aa.format(
n);function R(n,e,t=`${e}s`){return`${A(n)} ${n===1?e:t}`}function q(n){let e=0,t=n;for(;t>=1024&&e<Ar.length-1;)t/=1024,
e++;return`${e===0||t>=100?A(t):t.toFixed(1)} ${Ar[e]}`}function Ze(n){let e=Math.round(Math.abs(n)/1e3),t=[];for(let[o,
r]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/r);if(e-=i*r,i>0)t.push(`${i} ${o}`);else if(t.length>
0)break;if(t.length===2)break}return t.join(" ")||"0 s"}function mt(n,e){let t=(typeof n=="number"?n:Date.parse(n))-e;if(Number.
isNaN(t))return"";let o=Math.abs(t)<6e4?1e3:Math.abs(t)<864e5?6e4:36e5,r=Ze(Math.trunc(t/o)*o);return t>=0?`in ${r}`:`${r}\
 ago`}function ke(n){let e=new Date(n);if(Number.isNaN(e.getTime()))return"";let t=Object.fromEntries(la.formatToParts(e).
map(({type:o,value:r})=>[o,r]));return`${t.year}-${t.month}-${t.day} ${t.hour}:${t.minute}:${t.second} UTC`}function Re(n){let e=0;for(let t of n)e++;return e}function io(n){return new TextEncoder().encode(n).length}function ae(n){
return n.split(/[\s,]+/).filter(e=>e!=="")}function be(n,e){if(n.length<=e)return n;let t=[...n];return t.length<=e?n:`${t.
slice(0,e-1).join("")}…`}function qe(n,e="and"){return n.length<2?n[0]??"":`${n.slice(0,-1).join(", ")} ${e} ${n[n.length-
1]}`}var Ne=/^[0-9a-f]{0,32}$/;function De(n){return/^[AM]T_([0-9a-f]{0,32})/.exec(n)?.[1]??n}var ao=mr(void 0);function M(){let n=Er(ao);if(!n)throw new Error("there is no console here");return n}function z(){return M().
session.role==="manager"}var ca=Symbol.for("pv"),da=0;function s(n,e,t,o,r,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof n!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:n,props:c,key:t,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ca,__v:--da,__i:-1,__u:0};return(r||
i)&&(u.__source=r,u.__self=i),D.vnode&&D.vnode(u),u}function T({text:n,most:e=80}){let t=be(n,e);return s("bdi",{class:"name",...t===n?{}:{title:n},children:t})}function P({
text:n,most:e=256}){let t=be(n,e);return s("bdi",{children:s("code",{...t===n?{}:{title:n},children:t})})}function F({at:n,
plain:e}){let{api:t}=M();return n?s("time",{dateTime:n,title:e?mt(n,t.serverNow()):ke(n),children:e?ke(n):mt(n,t.serverNow())}):
s("span",{children:"–"})}function O({mood:n="plain",children:e}){return s("span",{class:`badge ${n}`,children:e})}function Fe({
text:n}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:n})})}function K({error:n,
known:e}){return s("div",{role:"alert",class:"errors",children:n&&s("p",{class:"note bad",children:[n," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function B({what:n}){return s("p",{class:"quiet",role:"\
status",children:["Loading ",n,"…"]})}function L({children:n}){return s("div",{class:"empty",children:n})}function re({
of:n}){return s("dl",{class:"facts",children:n.map(e=>e&&s("div",{class:e[2]?"whole":"",children:[s("dt",{children:e[0]}),
s("dd",{children:e[1]})]},e[0]))})}function $r({text:n,label:e,onCopied:t}){let[o,r]=g("");return I(()=>{if(o==="")return;
let a=setTimeout(()=>r(""),4e3);return()=>clearTimeout(a)},[o]),s("span",{class:"copy",children:[s("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(n),r("Copied."),t?.()}catch{r("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),s("span",{role:"status",class:"quiet",children:o})]})}function Q({text:n,
children:e}){return s("div",{class:"heading",children:[s("h1",{tabIndex:-1,children:n}),e&&s("div",{class:"buttons",children:e})]})}var Rt=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#l())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#l(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#l();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#l()},this.pause)}}};function le(){let[n,e]=g(!1),[t,o]=g(),r=Z({busy:!1,mounted:!0}).current;I(()=>(r.mounted=!0,()=>{r.mounted=!1}),[r]);let i=ge(
async a=>{if(!r.busy){r.busy=!0,e(!0),o(void 0);try{await a()}catch(l){r.mounted&&o(ee(l))}r.busy=!1,r.mounted&&e(!1)}},
[r]);return{busy:n,error:t,run:i,fail:o}}function V(n,e,t,o=!1){let[r,i]=g({key:n}),a=Z(t);a.current=t;let l=Z(void 0);I(
()=>{let u=new Rt({every:e,hidden:()=>document.hidden,ask:async(h,f)=>{try{let p=await a.current({background:h,signal:f});
f.aborted||i({key:n,data:p})}catch(p){throw f.aborted||i(m=>({...m,error:ee(p)})),p}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[n,
e]),I(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,n,e]);let c=ge(()=>l.current?.refresh(),[]);return{data:r.
data,stale:r.key!==n||r.data===void 0,error:r.error,refresh:c}}function Y({label:n,columns:e,rows:t,keyOf:o,detail:r,busy:i}){return s("div",{class:"scroll",children:s("table",{role:"\
table","aria-label":n,"aria-busy":i??!1,children:[s("thead",{role:"rowgroup",children:s("tr",{role:"row",children:e.map(
a=>s("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),s("tbody",{role:"r\
owgroup",children:t.map(a=>{let l=r?.(a);return s(S,{children:[s("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>ua(
c,a,u===0))}),l&&s("tr",{role:"row",class:"detail",children:s("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function ua(n,e,t){let o={"data-label":n.label,class:n.number?"number":""},r=s("div",{children:n.cell(e)});return t?s("t\
h",{...o,role:"rowheader",scope:"row",children:r},n.label):s("td",{...o,role:"cell",children:r},n.label)}function et(n){
return s("button",{type:"button",class:"expand","aria-expanded":n.open,"aria-label":n.label,onClick:n.onToggle,children:n.
children})}function ue({page:n,more:e,onPrevious:t,onNext:o}){return n===1&&!e?null:s("nav",{class:"pages","aria-label":"\
Pages",children:[s("button",{type:"button",disabled:n===1,onClick:t,children:"Previous page"}),s("span",{children:["Page\
 ",n]}),s("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function gt({status:n}){if(!n)return s("span",{children:"–"});let{driver:e,usable:t,error:o,writable:r,replicas:i}=n.store;
return s("span",{class:"state",children:[s("span",{children:e}),t?r?s(O,{mood:"good",children:"ready"}):s(O,{mood:"warn",
children:"read only"}):s(O,{mood:"bad",children:"not usable"}),i&&s("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&s(T,{text:o,most:200})]})}function bt({status:n}){return n?s("span",{class:"\
state",children:[s("span",{children:n.broker.driver}),n.broker.linked?s(O,{mood:"good",children:"linked"}):s(O,{mood:"ba\
d",children:"link lost"})]}):s("span",{children:"–"})}function Mr({status:n}){let e=(n.links??[]).filter(t=>t.code);return e.
length===0?null:s("ul",{children:e.map(t=>s("li",{class:"wrong",children:[s(T,{text:t.of}),": ",s(T,{text:t.reason??"",most:200}),
t.error&&s(S,{children:[" ","(",s(T,{text:t.error,most:200}),")"]}),t.since&&s(S,{children:[", ",s(F,{at:t.since})]})]},
t.of))})}var ha={websocket:"WebSocket",webtransport:"WebTransport"},je=n=>ha[n]??n;function Nt({edge:n}){return n.self&&
n.name!=="this edge"?s(O,{children:"this edge"}):null}function Le(n){let e=n.edges.filter(t=>!t.answered);return s("div",
{role:"alert",class:"errors",children:e.length>0&&s("div",{class:"note warn",children:[s("p",{children:[e.length===1?"An\
 edge does not answer":`${e.length} edges do not answer`,"."," ",n.missing[e.length===1?0:1]]}),s("ul",{children:[e.slice(
0,20).map(t=>s("li",{children:[s(T,{text:t.name}),t.error&&s(S,{children:[": ",s(T,{text:t.error,most:200})]})]},t.id)),
e.length>20&&s("li",{children:["and ",e.length-20," more"]})]})]})})}function x(n){let{label:e,value:t,onInput:o,hint:r,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:h,
options:f}=n,p=Ye();oe(()=>{n.autoFocus&&document.getElementById(p)?.focus()},[]);let m=h&&h.now>h.most,y=i??(m?`At most\
 ${h.most} ${h.unit}.`:void 0),v={id:p,value:t,readOnly:d??!1,class:c?"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,
autofocus:n.autoFocus??!1,"aria-invalid":y!==void 0,"aria-describedby":`${p}-help`,onInput:b=>o(b.currentTarget.value)};
return s("div",{class:"field",children:[s("label",{for:p,children:e}),l?s("textarea",{...v,rows:l}):a==="password"?s("in\
put",{...v,type:"password"}):s("input",{...v,type:"text",list:f&&`${p}-list`}),f&&s("datalist",{id:`${p}-list`,children:f.
map(b=>s("option",{value:b},b))}),s("div",{id:`${p}-help`,class:"help",children:[r&&s("p",{children:r}),h&&s("p",{class:m?
"wrong":"",children:[h.now," of ",h.most," ",h.unit]}),y&&s("p",{class:"wrong",children:y})]})]})}function W({label:n,value:e,
onInput:t,hint:o,options:r}){let i=Ye();return s("div",{class:"field",children:[s("label",{for:i,children:n}),s("select",
{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>t(a.currentTarget.value),children:r.map(([a,l])=>s("option",{value:a,
children:l},a))}),s("div",{id:`${i}-help`,class:"help",children:o&&s("p",{children:o})})]})}function Se({label:n,checked:e,
onChange:t,hint:o}){let r=Ye();return s("div",{class:"check",children:[s("input",{id:r,type:"checkbox",checked:e,"aria-d\
escribedby":`${r}-help`,onChange:i=>t(i.currentTarget.checked)}),s("label",{for:r,children:n}),s("p",{id:`${r}-help`,class:"\
help",children:o})]})}function _e({title:n,onClose:e,children:t,wide:o}){let r=Z(null),i=Z(!1),a=Ye();return oe(()=>{let l=r.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),s("dialog",{ref:r,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===r.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&r.current?.open===!1&&r.current.showModal()}))},children:[s("h2",{id:a,children:n}),t]})}function ye({action:n,
submit:e,danger:t,disabled:o,onSubmit:r,onCancel:i,children:a,extra:l}){return s("form",{noValidate:!0,"aria-busy":n.busy,
onSubmit:c=>{c.preventDefault(),o||n.run(r)},children:[a,s(Fe,{text:n.error}),s("div",{class:"buttons",children:[s("butt\
on",{type:"submit",class:t?"danger":"primary",disabled:o,"aria-disabled":n.busy,children:e}),i&&s("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function Dt({title:n,label:e,secret:t,onClose:o,children:r}){let[i,a]=g(!1),[l,c]=g(!1);return s(_e,{title:n,wide:!0,onClose:()=>i||
l?o():a(!0),children:[s("p",{class:"note warn",children:[s("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),s(Ft,{label:e,text:t,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),r,s("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),s("div",{class:"buttons",children:s("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function Ft({
label:n,text:e,copy:t,onCopied:o}){return s("div",{class:"snippet",children:[s("div",{class:"snippet-head",children:[s("\
h3",{children:n}),s($r,{text:e,label:t,onCopied:o})]}),s("pre",{tabIndex:0,"aria-label":n,role:"region",children:e})]})}var pa=20;function Ir(n,e=""){let t=[];for(let[o,r]of(n.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=tt(r.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=r.allow_channels_pub??[],c=r.allow_channels_sub??[];l.length>0&&t.push(
["may publish to ",...tt(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&t.push(["may subscribe to ",...tt(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=r.allow_channels_history??[];u.length>0&&t.push(["may read stored messages o\
f ",...tt(u,`${i}.allow_channels_history`,e)," in ",...a]);let d=r.allow_channels_presence??[];d.length>0&&t.push(["may \
see who is present in ",...tt(d,`${i}.allow_channels_presence`,e)," in ",...a]),l.length+c.length===0&&t.push(["may neit\
her publish nor subscribe in ",...a])}return t.push(jt("from ",n.allow_ip_masks,"right.allow_ip_masks",e,"any address")),
n.allowed_ws_origin?.length&&t.push(jt("from pages of ",n.allowed_ws_origin,"right.allowed_ws_origin",e,"")),n.allow_regions?.
length&&t.push(jt("at edges in ",n.allow_regions,"right.allow_regions",e,"")),t.push(jt("by ",n.allow_protocols,"right.a\
llow_protocols",e,"WebSocket or WebTransport")),t.push([`may send ${Or(n.ingress_kb_per_sec)} and receive ${Or(n.egress_kb_per_sec)}\
 on each connection`]),t}function Rr(n){return/^right\.[\w.[\]]+/.exec(n??"")?.[0]??""}function Nr(n,e){return e!==""&&(n===e||n.startsWith(`${e}\
[`))}function Or(n){return n===void 0?"as much as the edge's default":`${n.toLocaleString("en")} KB/s`}function jt(n,e,t,o,r){
return e?.length?[n,...tt(e,t,o,"or")]:[n+r]}function tt(n,e,t,o="and"){let r=n.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=r.filter((c,u)=>u<pa||c.path===t),a=r.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${R(a,"other")}`),l}function Dr({token:n,onAction:e}){let t=z(),o=n.token_id.slice(0,12),r=(i,a)=>s("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return s("div",{class:"token-detail",children:[s("div",{children:[s("h2",{children:"\
What it allows"}),s(lo,{right:n.right,mark:""})]}),s(re,{of:[["Id",s(P,{text:n.token_id},"id"),"wide"],n.subject?["Subje\
ct",s(T,{text:n.subject,most:128},"subject")]:void 0,n.info?["Info",s(P,{text:JSON.stringify(n.info),most:1024},"info"),
"wide"]:void 0,n.description?["Description",s(T,{text:n.description,most:512},"description")]:void 0,["Made",s(F,{at:n.created_at,
plain:!0},"made")],["Ends",s(F,{at:n.expires_at,plain:!0},"ends")],n.revoked_at?["Revoked",s(F,{at:n.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",n.master_id?s(P,{text:n.master_id},"master"):"the console or the admin API"]]}),s("div",
{class:"buttons",children:[t&&n.status==="valid"&&r("refresh","Refresh"),t&&n.status!=="revoked"&&r("revoke","Revoke"),r(
"explain","Explain"),s("a",{class:"button",href:$("connections",{token_id:n.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),s("a",{class:"button",href:$("refused",{token_id:n.token_id}),"aria-label":`Refused of ${o}`,children:"\
Refused"}),n.subject&&s("a",{class:"button",href:$("tokens",{subject:n.subject}),"aria-label":`All of its subject, of to\
ken ${o}`,children:"All of its subject"})]})]})}function lo({right:n,mark:e}){return s("ul",{class:"right",children:Ir(n,
e).map((t,o)=>s("li",{children:s(fa,{sentence:t,mark:e})},o))})}function fa({sentence:n,mark:e}){return s(S,{children:n.
map(t=>{if(typeof t=="string")return t;let o=s(P,{text:t.rule},t.path);return Nr(t.path,e)?s("mark",{children:o},t.path):
o})})}var ma=[["subscribe","subscribe"],["history","read stored messages"],["presence","see who is present"],["publish","publi\
sh"],["connect","connect"]],ga=[["","not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Fr({
token:n,onClose:e}){let{api:t}=M(),o=le(),[r,i]=g(n),[a,l]=g(),[c,u]=g({token_id:n?.token_id??"",action:"subscribe",tenant:n?.
right.tenant_grants?.[0]?.tenant_ids?.[0]??"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=p=>m=>u(y=>({...y,[p]:m.
trim()})),h=c.action==="connect";return s(_e,{title:"Explain",wide:!0,onClose:e,children:[s("p",{class:"quiet",children:"\
Asks the edge whether a token allows something, and by which of its rules."}),s(ye,{action:o,submit:"Explain",onSubmit:async()=>{
let{token_id:p}=c;if(!/^[0-9a-f]{32}$/.test(p))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secr\
et does not belong here");l(void 0);let m=Object.entries(c).filter(([,b])=>b!==""),y=Object.fromEntries(m.filter(([b])=>!h||
b!=="tenant"&&b!=="channel")),v=await t.call("POST","explain",{body:y});if(r?.token_id!==p){let b=await t.get(`tokens${J(
{id:p,limit:1})}`);i(b.tokens?.find(w=>w.token_id===p))}l(v)},extra:s("button",{type:"button",onClick:e,children:"Close"}),
children:[s(x,{label:"Token id",value:c.token_id,onInput:p=>d("token_id")(De(p.trim())),mono:!0,autoFocus:!n}),s("div",{
class:"row",children:[s(W,{label:"Action",value:c.action,onInput:d("action"),options:ma}),!h&&s(x,{label:"Tenant",value:c.
tenant,onInput:d("tenant"),mono:!0,autoFocus:n!==void 0}),!h&&s(x,{label:c.action==="publish"?"Channel":"Pattern",value:c.
channel,onInput:d("channel"),mono:!0})]}),s("div",{class:"row",children:[s(x,{label:"Address",value:c.ip,onInput:d("ip"),
mono:!0,hint:"Of the client, if it matters."}),s(x,{label:"Origin",value:c.origin,onInput:d("origin"),mono:!0,hint:"Of i\
ts page."}),s(W,{label:"Transport",value:c.protocol,onInput:d("protocol"),options:ga}),s(x,{label:"Region",value:c.region,
onInput:d("region"),mono:!0,hint:"Of the edge."})]}),s("div",{role:"status",class:"answer",children:a&&s(ba,{answer:a,token:r})})]})]})}
function ba({answer:n,token:e}){let t=Rr(n.rule);return s(S,{children:[s("p",{children:[s(O,{mood:n.allowed?"good":"bad",
children:n.allowed?"allowed":"not allowed"})," ",s("bdi",{children:n.reason}),"."]}),n.rule&&s("p",{children:["Rule: ",s(
P,{text:n.rule,most:600})]}),n.token&&s("p",{children:["Subject: ",n.token.subject?s(T,{text:n.token.subject,most:128}):
"none",". Issued with"," ",n.token.master_id?s(T,{text:n.token.master_name??`${n.token.master_id}, which is deleted`,most:128}):
"the console or the admin API",", for ",s(T,{text:n.token.created_by,most:128}),"."]}),e&&s(lo,{right:e.right,mark:t}),n.
limits&&s(ya,{limits:n.limits})]})}function ya({limits:n}){return s(re,{of:n.map(({name:e,of:t,limit:o,used:r})=>[t?`${e}\
 of ${be(t,40)}`:e,`${e.startsWith("max_connections")||e==="issuer_share"?`${A(r??0)} of `:""}${o?A(o):"no limit"}`])})}var wa={s:1e3,m:6e4,h:36e5,d:864e5},va=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
jr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function co(n,e){let t=n.trim();
if(t==="")return{error:jr};let o=_a(t),r=o===void 0?ka(t):e+o;return r===void 0?{error:jr}:r<=e?{error:"This is over alr\
eady. The end must be in the future."}:r>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
r/1e3)*1e3)}}function _a(n){let e=n,t=0;for(;e!=="";){let o=va.exec(e),r=wa[o?.[2]?.toLowerCase()??""];if(!o||r===void 0)
return;t+=Number(o[1])*r,e=e.slice(o[0].length)}return t}function ka(n){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(n))return;let e=Date.parse(n.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function he({title:n,submit:e,danger:t,disabled:o,onClose:r,onConfirm:i,children:a}){let l=le();return s(_e,{title:n,onClose:r,
children:s(ye,{action:l,submit:e,danger:t,disabled:o,onSubmit:i,onCancel:r,children:a})})}var Lr=50,xa=20;async function Sa(n,e,t,o,r){let i={tokens:[],next:t,asked:0};do{let a={limit:Lr-i.tokens.length,cursor:i.
next},l=await n.get(`tokens${J({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},r(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<Lr);return i}async function Xr(n,e,t){
let o=0,r="";for(let i=0;i<xa;i++){let a=J({subject:e,status:"valid",limit:1e3,cursor:r}),l=await n.get(`tokens${a}`,{signal:t});
if(o+=l.tokens?.length??0,r=l.next_cursor??"",r==="")return{count:o,all:!0}}return{count:o,all:!1}}function Ur(n,e){let[
t,o]=g([""]),[r,i]=g(),[a,l]=g(!1),[c,u]=g(),d=Z(void 0),h=JSON.stringify(e),f=Z(e);f.current=e;let p=ge(async y=>{d.current?.
abort();let v=new AbortController;d.current=v;let b=()=>d.current===v;l(!0),u(void 0);try{await Sa(n,f.current,y,v.signal,
w=>b()&&i(w))}catch(w){b()&&u(ee(w))}b()&&l(!1)},[n]);I(()=>(o([""]),i(void 0),p(""),()=>{d.current?.abort(),d.current=void 0}),
[h,p]);let m=y=>{o(y),p(y[y.length-1]??"")};return{found:r,busy:a,error:c,page:t.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...t.slice(0,-1),r?.next??""]),refresh:()=>m(t),next:()=>m([...t,r?.next??""]),previous:()=>m(t.slice(0,-1))}}var Jr=n=>`tokens/${encodeURIComponent(n.token_id)}`;function uo({label:n,value:e,onInput:t}){let{api:o}=M(),r=o.serverNow(),
i=co(e,r);return s(x,{label:n,value:e,onInput:t,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${ke(i.at.getTime())}, ${mt(i.at.getTime(),r)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function ho(n,e){let t=co(n,e);if(!t.at)throw new Error(t.error);return t.at.toISOString().replace(/\.\d+Z$/,"Z")}
function Br({token:n,onClose:e,onDone:t}){let{api:o}=M(),[r,i]=g("1h");return s(he,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:ho(r,o.serverNow())},{new_expires_at:c}=await o.call("PUT",Jr(n),
{body:l});t(`The token ${n.token_id.slice(0,12)}… now ends ${ke(c)}.`)},children:[s("p",{children:["The token ",s(P,{text:n.
token_id})," of ",s(T,{text:n.created_by,most:40})," ends"," ",s(F,{at:n.expires_at}),". Its open connections go on unti\
l the new end."]}),s(uo,{label:"New end",value:r,onInput:i})]})}function Wr({token:n,onClose:e,onDone:t}){let{api:o}=M(),
[r,i]=g("The connections that end are being counted…");return I(()=>{let l=new AbortController;return Ta(n.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${ee(c)}`)),
()=>l.abort()},[o,n.token_id]),s(he,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",Jr(n),{body:{}}),t(`The token ${n.token_id.slice(0,12)}… was revoked.`)},children:[s("p",{children:[
"The token ",s(P,{text:n.token_id})," of ",s(T,{text:n.created_by,most:40})," stops working at once, for good."]}),s("p",
{role:"status",children:r})]})}function Hr({subject:n,onClose:e,onDone:t}){let{api:o}=M(),[r,i]=g("Its tokens are being \
counted…");return I(()=>{let l=new AbortController;return Xr(o,n,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${R(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${ee(c)}`)),()=>l.abort()},[o,n]),s(he,{title:"Revoke all tokens of this subject",submit:"R\
evoke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(n)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});t(`${R(c,"token")} revoked.`)},children:[s("p",{children:["All tokens of ",s(T,{text:n,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),s("p",{role:"status",children:r})]})}function Ta(n){
return async(e,t)=>{let r=(await e.get(`connections${J({token_id:n,limit:1})}`,{signal:t})).edges??[],i=r.reduce((c,u)=>c+
u.matching,0),a=r.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${R(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${qe(a.slice(0,10))}, which did not answe\
r.`}}var qr=/^[\w\-~@.]*$/;function yt(n){let e=/[A-Za-z0-9]$/.test(n)?`${n}.`:n;return qr.test(e)&&e.length<=127?e:void 0}var zr="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function pe(n){return n.length>0&&n.length<=128&&qr.
test(n)}function nt(n){let e=n.indexOf("/"),t=e<0?n:n.slice(0,e);if(t.includes("%"))return"has a zone, which a mask may not have";
let o=Gr(t),r=o?void 0:Ea(t);if(!o&&!r)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(r&&Pa(r))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=n.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function Gr(n){let e=n.split(".");return e.length===
4&&e.every(t=>/^(0|[1-9]\d{0,2})$/.test(t)&&Number(t)<=255)}function Ea(n){let e=n.split("::");if(e.length>2)return;let[
t,o]=e.map((i,a)=>Ca(i,a===e.length-1));if(!t||e.length===2&&!o)return;if(!o)return t.length===8?t:void 0;let r=8-t.length-
o.length;return r<1?void 0:[...t,...new Array(r).fill(0),...o]}function Ca(n,e){if(n==="")return[];let t=[],o=n.split(":");
for(let[r,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))t.push(Number.parseInt(i,16));else if(e&&r===o.length-1&&Gr(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);t.push(a*256+l,c*256+u)}else return;return t}function Pa(n){return n.slice(
0,5).every(e=>e===0)&&n[5]===65535}var fo=64,mo=512,Kr=256,Aa=2**40,po=n=>n?String(n):"";function Qr(n){return{name:n?.name??"",description:n?.description??
"",prefix:n?.tenant_prefix??"",masks:(n?.allow_ip_masks??[]).join(`
`),maxTokens:po(n?.max_tokens),maxBytes:po(n?.max_bytes),calls:po(n?.calls_per_second)}}function go(n){return{prefix:yt(
n.prefix)===void 0?zr:void 0,masks:Xt(ae(n.masks)),maxTokens:Xe(n.maxTokens),maxBytes:Xe(n.maxBytes),calls:Xe(n.calls)}}
function Vr(n){let e=Re(n.name);return e<1||e>fo||Re(n.description)>mo?!1:Object.values(go(n)).every(t=>t===void 0)}function Lt(n){
return{name:n.name,description:n.description,tenant_prefix:yt(n.prefix)??n.prefix,allow_ip_masks:ae(n.masks),max_tokens:Number(
n.maxTokens),max_bytes:Number(n.maxBytes),calls_per_second:Number(n.calls)}}function Yr(n,e){let t=Lt(n),o=Object.entries(
Lt(e)).filter(([r,i])=>JSON.stringify(i)!==JSON.stringify(t[r]));return Object.fromEntries(o)}function Xt(n){if(n.length>
Kr)return`At most ${Kr} masks.`;for(let e of n){let t=nt(e);if(t)return`${e} ${t}.`}}function Xe(n,e=Aa){if(!(n===""||/^\d{1,13}$/.
test(n)&&Number(n)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var $a=256,Ma=128,Zr=2**31;function es({onClose:n,onIssued:e}){let{api:t,session:o}=M(),r=le(),[i,a]=g({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",presence:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",
egress:"",websocket:!0,webtransport:!0}),l=d=>h=>a(f=>({...f,[d]:h})),c=ae(i.tenants).find(d=>!pe(d));return s(_e,{title:"\
Issue a trial token",onClose:n,children:[s("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend,\
 which holds a master token."}),s(ye,{action:r,submit:"Issue",onSubmit:async()=>{let d=ae(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||Xt(ae(i.masks))||Xe(i.ingress)||Xe(i.egress))throw new Error("correct the fields t\
hat are marked");let h=m=>m===""?void 0:Number(m),f=i.websocket!==i.webtransport,p={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:ae(i.pub),allow_channels_sub:ae(
i.sub),allow_channels_history:ae(i.history),allow_channels_presence:ae(i.presence)}],allow_ip_masks:ae(i.masks),allowed_ws_origin:ae(
i.origins),allow_regions:ae(i.regions),allow_protocols:f?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:h(
i.ingress),egress_kb_per_sec:h(i.egress),expires_at:ho(i.end,t.serverNow())}};e(await t.call("POST","tokens",{body:p}))},
onCancel:n,children:[s(x,{label:"Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c}\
 is no tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),s("div",{class:"row",children:[
s(x,{label:"May publish to",value:i.pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),s(x,{label:"\
May subscribe to",value:i.sub,onInput:l("sub"),rows:2,mono:!0,hint:"# is every channel."})]}),s("div",{class:"row",children:[
s(x,{label:"May read stored messages of",value:i.history,onInput:l("history"),rows:2,mono:!0,hint:"Of what it may subscr\
ibe to. Nothing: subscriptions begin now."}),s(x,{label:"May see who is present in",value:i.presence,onInput:l("presence"),
rows:2,mono:!0,hint:"To join needs no more than to subscribe, and a subject."})]}),s(uo,{label:"Valid until",value:i.end,
onInput:l("end")}),s("div",{class:"row",children:[s(x,{label:"Created by",value:i.createdBy,onInput:l("createdBy"),count:{
now:io(i.createdBy),most:$a,unit:"bytes"}}),s(x,{label:"Description",value:i.description,onInput:l("description"),count:{
now:Re(i.description),most:512,unit:"characters"}})]}),s(x,{label:"Subject",value:i.subject,onInput:l("subject"),count:{
now:io(i.subject),most:Ma,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),s("details",{children:[s("summary",
{children:"More limits"}),s(x,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:Xt(ae(i.masks))}),s(
x,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.com"}),s(x,{label:"\
Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),s("fieldset",{children:[s("legend",{children:"\
Transports"}),s(Se,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),s(Se,{label:"WebTransport",checked:i.
webtransport,onChange:l("webtransport")})]}),s("div",{class:"row",children:[s(x,{label:"May send, KB/s",value:i.ingress,
onInput:l("ingress"),error:Xe(i.ingress,Zr)}),s(x,{label:"May receive, KB/s",value:i.egress,onInput:l("egress"),error:Xe(
i.egress,Zr)})]})]})]})]})}var Oa=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],Ia={valid:"good",expired:"plain",revoked:"\
bad"};function ts({query:n}){let{api:e,notify:t}=M(),o=z(),[r,i]=g(),a={id:n.id??"",tenant:n.tenant??"",subject:n.subject??
"",created_by:n.created_by??"",status:n.status??""},l=Ur(e,a),c=()=>i(void 0),u=d=>{c(),t(d),l.refresh()};return s(S,{children:[
s(Q,{text:"Access tokens",children:[s("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Exp\
lain"}),o&&a.subject!==""&&s("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&s("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),s(Ra,{query:a,onSearchAgain:l.refresh}),s(K,{error:l.error,known:!1}),s(Na,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,h)=>i({what:d,token:h})}),r?.what==="issue"&&s(es,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),r?.what==="issued"&&s(Dt,{title:"The access token",label:"Access token",secret:r.issued.
token,onClose:c,children:s("p",{children:["Its id is ",s(P,{text:r.issued.token_id}),". It expires ",ke(r.issued.expires_at),
"."]})}),r?.what==="explain"&&s(Fr,{token:r.token,onClose:c}),r?.what==="refresh"&&s(Br,{token:r.token,onClose:c,onDone:u}),
r?.what==="revoke"&&s(Wr,{token:r.token,onClose:c,onDone:u}),r?.what==="revoke subject"&&s(Hr,{subject:r.subject,onClose:c,
onDone:u})]})}function Ra({query:n,onSearchAgain:e}){let[t,o]=g(n),r=JSON.stringify(n);oe(()=>o(n),[r]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return s("search",{children:s("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!Ne.test(t.id))return;let l=$("tokens",t);l===$("tokens",n)?e():location.hash=l},children:[s(x,{label:"\
Id",value:t.id,onInput:a=>i("id")(De(a.trim())),mono:!0,error:Ne.test(t.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),s(x,{label:"Tenant",value:t.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),s(x,{label:"Subject",value:t.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),s(x,{label:"\
Created by",value:t.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),s(W,{label:"State",value:t.
status,onInput:i("status"),options:Oa}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"\
Search"}),s("a",{class:"button",href:$("tokens"),children:"Clear"})]})]})})}function Na({search:n,filtered:e,onAction:t}){
let[o,r]=g(),i=z(),{found:a,busy:l}=n,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return s(S,{children:[
s("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&s("span",{children:["Still searching: ",R(c.length,
"token")," found so far."]}),u&&s("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&s("but\
ton",{type:"button",onClick:n.stop,children:"Stop the search"}),u&&s("button",{type:"button",onClick:n.goOn,children:"Se\
arch on"}),l&&!a&&s(B,{what:"the access tokens"}),c.length>0&&s(Y,{label:"Access tokens",columns:Da(o,r),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&s(Dr,{token:d,onAction:h=>t(h,d)})}),!l&&a&&c.length===0&&a.next===""&&s(L,{children:e?
s("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):s("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),s(ue,{page:n.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:n.previous,onNext:n.next})]})}
function Da(n,e){return[{label:"Id",cell:({token_id:t})=>s(et,{open:n===t,label:`Details of token ${t.slice(0,12)}`,onToggle:()=>e(
n===t?void 0:t),children:s("code",{children:t.slice(0,12)})})},{label:"Subject",cell:({subject:t})=>t?s(T,{text:t,most:40}):
s(S,{children:"–"})},{label:"Created by",cell:({created_by:t})=>s(T,{text:t,most:40})},{label:"Tenants",cell:({right:t})=>s(
bo,{names:(t.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:t})=>s(O,{mood:Ia[t]??"plai\
n",children:t})},{label:"Made",cell:({created_at:t})=>s(F,{at:t})},{label:"Ends",cell:({expires_at:t})=>s(F,{at:t})}]}function bo({
names:n}){let e=[...new Set(n)];return e.length===0?s(S,{children:"–"}):s("span",{class:"list",title:e.length>2?qe(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(t=>s(P,{text:t,most:40},t)),e.length>2&&s("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var ot=n=>`${n.edge}:${n.id}`;function ns({name:n,kb:e,delay:t}){return s(S,{children:[n," ",e?A(e):"none",t?s(S,{children:[
" ",s(O,{mood:"warn",children:["waits ",A(t)," s"]})]}):null]})}function os(n,e,t){return[{label:"Connection",cell:r=>{let i=ot(
r);return s(et,{open:e===i,label:`Details of connection ${r.id} at ${r.edge_name}`,onToggle:()=>t(e===i?void 0:i),children:r.
id})}},...n?[{label:"Edge",cell:r=>s(T,{text:r.edge_name,most:40})}]:[],{label:"Token",cell:r=>s("a",{href:$("tokens",{id:r.
token_id}),"aria-label":`Token ${r.token_id.slice(0,8)}`,children:s("code",{children:r.token_id.slice(0,8)})})},{label:"\
Subject",cell:({subject:r})=>r?s(T,{text:r,most:40}):s(S,{children:"–"})},{label:"Tenants",cell:r=>s(bo,{names:r.tenants??
[]})},{label:"Address",cell:r=>s("span",{class:"address",children:r.ip?s(P,{text:r.ip}):"unknown"})},{label:"Transport",
cell:r=>s(S,{children:[je(r.transport)," ",r.draining&&s(O,{mood:"warn",children:"draining"})]})},{label:"Since",cell:r=>s(
F,{at:r.since})},{label:"Subscriptions",number:!0,cell:r=>A(r.subscriptions)},{label:"Queue",number:!0,cell:r=>q(r.queued_bytes)},
{label:"Caps, KB/s",cell:r=>s(S,{children:[s(ns,{name:"in",kb:r.ingress_kb_per_sec,delay:r.ingress_delay_seconds}),",","\
 ",s(ns,{name:"out",kb:r.egress_kb_per_sec,delay:r.egress_delay_seconds})]})},{label:"Dropped",number:!0,cell:r=>A(r.dropped)}]}var Fa=5e3,yo=200;function rs({connection:n,onDisconnect:e}){let{api:t}=M(),o=z(),r=`connections/${encodeURIComponent(n.
edge)}/${n.id}`,{data:i,error:a}=V(ot(n),Fa,async d=>{try{return await t.get(r,d)}catch(h){if(h instanceof G&&h.status===
404&&h.code!=="not_found")return"gone";throw h}}),l=i==="gone"?void 0:i,c=l??n,u=`connection ${c.id} at ${c.edge_name}`;
return s("div",{class:"connection-detail",children:[i==="gone"&&s("p",{role:"status",children:"It is closed now."}),s(Fe,
{text:a}),s(re,{of:[["Token",s(P,{text:c.token_id},"token"),"wide"],c.connection_id?["Connection id",s(P,{text:c.connection_id},
"connection")]:void 0,c.issuer?["Issuer",s(P,{text:c.issuer},"issuer"),"wide"]:void 0,c.subject?["Subject",s(T,{text:c.subject,
most:128},"subject")]:void 0,["Token ends",s(F,{at:c.expires_at},"expires")],["Waiting in its queue",q(c.queued_bytes)],
["Dropped deliveries",A(c.dropped)]]}),s("h2",{children:"Subscriptions"}),!i&&!a&&s(B,{what:"the subscriptions"}),l&&s(ja,
{detail:l}),s("div",{class:"buttons",children:[o&&i!=="gone"&&s("button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,
children:"Disconnect"}),s("a",{class:"button",href:$("connections",{token_id:c.token_id}),children:"All of its token"}),
c.subject&&s("a",{class:"button",href:$("connections",{subject:c.subject}),children:"All of its subject"}),s("a",{class:"\
button",href:$("tokens",{id:c.token_id}),children:"Its token"})]})]})}function ja({detail:n}){let e=n.patterns??[],t=e.length-
yo+(n.more_patterns??0);return e.length===0?s("p",{children:"It is subscribed to nothing."}):s("ul",{class:"chips patter\
ns","aria-label":"Subscriptions",tabIndex:0,children:[e.slice(0,yo).map(({tenant:o,pattern:r})=>s("li",{children:[s(P,{text:r}),
" in ",s(P,{text:o})]},`${o} ${r}`)),e.length<yo?(n.more_patterns??0)>0&&s("li",{children:["and ",R(n.more_patterns??0,"\
more","more")]}):t>0&&s("li",{children:["and ",A(t)," more"]})]})}var La=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]],Xa=[["","any"],["true","waiting for a cap"]];
function ss({query:n,edges:e,onAgain:t}){let[o,r]=g(n),i=JSON.stringify(n);oe(()=>r(n),[i]);let a=d=>h=>r(f=>({...f,[d]:h.
trim()})),l=o.ip===""?void 0:nt(o.ip),c=e.map(d=>[d.id,be(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.
edge,be(o.edge,60)]]:[];return s("search",{children:s("form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{
if(d.preventDefault(),l||!Ne.test(o.token_id))return;let h=$("connections",o);h===$("connections",n)?t():location.hash=h},
children:[s(x,{label:"Token id",value:o.token_id,onInput:d=>a("token_id")(De(d.trim())),mono:!0,error:Ne.test(o.token_id)?
void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole id."}),s(x,{label:"Subject",value:o.subject,onInput:d=>r(h=>({
...h,subject:d})),hint:"The whole subject."}),s(x,{label:"Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),s(x,{label:"\
Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`It ${l}.`,hint:"One, or a CIDR."}),s(W,{label:"Transport",value:o.
transport,onInput:a("transport"),options:La}),s(W,{label:"Messages",value:o.limited,onInput:a("limited"),options:Xa}),s(
W,{label:"Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),s("div",{class:"buttons",children:[s("bu\
tton",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"button",href:$("connections"),children:"Clear"})]})]})})}function is({target:n,onClose:e,onDone:t}){let{api:o}=M(),{connection:r,tokenID:i}=n,[a,l]=g(r===void 0);return s(he,{title:r?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!r?{token_id:i}:{edge:r.edge,id:r.id},{disconnected:d,unanswered:h,silent:f}=await o.call("POST","connections/d\
isconnect",{body:u}),p=h??[],m=p.length>0?` Not reached: ${qe(p.slice(0,10))}, which did not answer. Try again later.`:"",
y=f?.length?` Silent, and so not asked: ${qe(f.slice(0,10))}.`:"";t(`${R(d,"connection")} disconnected.${m}${y}`)},children:[
r&&s("p",{children:["Connection ",r.id," at ",s(T,{text:r.edge_name})," is closed."]}),r&&s(Se,{label:"All connections o\
f its token",checked:a,onChange:l,hint:"At every edge."}),!r&&s("p",{children:["All connections of the token ",s(P,{text:i}),
" are closed, at every edge."]}),s("p",{children:["A client may come back while its token is valid. To keep it away,"," ",
s("a",{href:$("tokens",{id:i}),children:"revoke the token"})," in place of this."]})]})}var Ua=100,Ja=3e3;function as({query:n}){let{api:e,notify:t}=M(),o=z(),[r,i]=g(!1),[a,l]=g([""]),[c,u]=g(),d={token_id:n.
token_id??"",subject:n.subject??"",tenant:n.tenant??"",ip:n.ip??"",transport:n.transport??"",limited:n.limited??"",edge:n.
edge??""},h=J(d);I(()=>l([""]),[h]);let f=`connections${J({...d,limit:Ua,cursor:a[a.length-1]})}`,{data:p,stale:m,error:y,
refresh:v}=V(f,Ja,k=>e.get(f,k),r),b=p?.edges??[],w=p?.connections??[];return s(S,{children:[s(Q,{text:"Connections",children:[
s("button",{type:"button","aria-pressed":r,onClick:()=>i(!r),children:r?"Resume":"Pause"}),o&&d.token_id!==""&&s("button",
{type:"button",onClick:()=>u({tokenID:d.token_id}),children:"Disconnect all of this token"})]}),s(ss,{query:d,edges:b,onAgain:v}),
s(K,{error:y,known:p!==void 0}),s(Le,{edges:b,missing:["Its connections are not listed.","Their connections are not list\
ed."]}),!p&&!y&&s(B,{what:"the connections"}),p&&s(Ba,{edges:b,paused:r}),w.length>0&&s(Wa,{rows:w,several:b.length>1,busy:m,
onDisconnect:k=>u({connection:k,tokenID:k.token_id})}),p&&!m&&w.length===0&&a.length===1&&s(L,{children:h===""?s("p",{children:"\
No client is connected. Clients appear here as they connect with an access token."}):s("p",{children:"No connection matc\
hes. Ask for less, or clear the filters."})}),s(ue,{page:a.length,more:!m&&(p?.next_cursor??"")!=="",onPrevious:()=>l(a.
slice(0,-1)),onNext:()=>l([...a,p?.next_cursor??""])}),c&&s(is,{target:c,onClose:()=>u(void 0),onDone:k=>{u(void 0),t(k),
v()}})]})}function Ba({edges:n,paused:e}){let t=n.reduce((r,i)=>r+i.total,0),o=n.reduce((r,i)=>r+i.matching,0);return s(
"div",{class:"totals",children:[s("p",{children:[o===t?`${R(t,"connection")}.`:`${A(o)} of ${R(t,"connection")} match.`,
e&&s("strong",{children:" Paused: the list is as it was."})]}),n.length>1&&s("ul",{class:"chips","aria-label":"By edge",
children:n.slice(0,50).map(r=>s("li",{children:[s(T,{text:r.name,most:40})," ",r.answered?A(r.matching):"no answer"]},r.
id))})]})}function Wa({rows:n,several:e,busy:t,onDisconnect:o}){let[r,i]=g();return s(Y,{label:"Connections",columns:os(
e,r,i),rows:n,keyOf:ot,busy:t,detail:a=>r===ot(a)&&s(rs,{connection:a,onDisconnect:()=>o(a)})})}function ls({members:n,leader:e,needed:t,running:o}){let r=n?.length??0,i=o-t,a=`${o} of ${r} members run, and ${t} must`;
return r===0?{text:"No member leads yet: the first start needs all edges that routes lists.",wrong:!0}:i<0?{text:`${a}: \
nothing can be stored. Start the offline members.`,wrong:!0}:e===""?{text:`${a}, but none leads: nothing can be stored. \
An election takes seconds.`,wrong:!0}:i>0?{text:`${a}: ${i} more may be lost.`,wrong:!1}:o===r?{text:`${a}: a loss stops\
 the cluster.`,wrong:!1}:{text:`${a}: one more loss stops the cluster. Start the offline members, or remove those that d\
o not come back, with millrace pubsub edges remove.`,wrong:!0}}var Ha={leader:"good",current:"good",lagging:"warn",offline:"bad"},qa=[{label:"Member",cell:n=>s(T,{text:n.name})},{label:"\
State",cell:n=>s(O,{mood:Ha[n.state]??"plain",children:n.state})},{label:"Since",cell:n=>s(F,{at:n.since})},{label:"Behi\
nd",number:!0,cell:n=>A(n.behind)},{label:"Replicas",number:!0,cell:n=>A(n.replicas)+(n.lagging>0?`, ${A(n.lagging)} lag\
ging`:"")}];function cs({quorum:n}){let{text:e,wrong:t}=ls(n);return s("section",{"aria-labelledby":"members",children:[
s("h2",{id:"members",children:"Members of the NATS cluster inside edges"}),t?s("div",{class:"note warn",role:"alert",children:s(
"p",{children:e})}):s("p",{class:"quiet",children:e}),s(Y,{label:"Members",columns:qa,rows:n.members??[],keyOf:o=>o.name})]})}function ds(){let{api:n}=M(),[e,t]=g(),{data:o,error:r,refresh:i}=V("edges",5e3,c=>n.get("edges",c)),a=o?.edges??[],l=a.
find(c=>c.status?.quorum)?.status?.quorum;return s(S,{children:[s(Q,{text:"Edges"}),s(K,{error:r,known:o!==void 0}),!o&&
!r&&s(B,{what:"the edges"}),s(Le,{edges:a,missing:["What it does is not known.","What they do is not known."]}),o&&a.length===
0&&s(L,{children:s("p",{children:"No edge is known yet. This one appears within seconds."})}),s("div",{class:"cards",children:a.
map(c=>s(za,{edge:c,onDrain:()=>t(c)},c.id))}),l&&s(cs,{quorum:l}),a.length===1&&s("p",{class:"quiet",children:"This edg\
e is alone. Edges that share a broker, such as NATS, appear here together."}),e&&s(Ka,{edge:e,onClose:()=>t(void 0),onDone:i})]})}
var us=n=>n.state==="draining"||n.status?.draining===!0;function za({edge:n,onDrain:e}){let t=z(),{status:o}=n,r=us(n),i=r?
"Undrain":"Drain";return s("article",{class:"card","aria-label":`Edge ${n.name}`,children:[s("div",{class:"card-head",children:[
s("h2",{children:s(T,{text:n.name})}),s(Nt,{edge:n}),r&&s(O,{mood:"warn",children:"draining"}),n.state==="silent"&&s(O,{
mood:"bad",children:"silent"}),!n.answered&&s(O,{mood:"bad",children:"no answer"}),n.answered&&!r&&n.state!=="silent"&&s(
O,{mood:"good",children:"serving"})]}),s(re,{of:[["Id",s(P,{text:n.id},"id"),"wide"],["Host",n.host?s(T,{text:n.host}):"\
none announced"],["Region",n.region?s(T,{text:n.region}):"none"],!n.self&&["Last heard of",s(F,{at:n.seen_at},"seen")],...o?
Ga(o):[]]}),t&&n.answered&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`${i} ${n.name}`,onClick:e,
children:i})})]})}function Ga(n){let e=Object.entries(n.connections??{}),t=e.reduce((r,[,i])=>r+i,0),o=e.map(([r,i])=>`${je(
r)} ${A(i)}`).join(", ");return[["Connections",`${A(t)}${n.max_connections>0?` of ${A(n.max_connections)}`:""}${o?` (${o}\
)`:""}`],["Subscriptions",`${A(n.subscriptions)} to ${A(n.patterns)} patterns`],["Waiting in queues",q(n.queued_bytes)],
["Memory",q(n.memory_bytes)],["Token store",s(gt,{status:n},"store"),"wide"],["Broker",s(bt,{status:n},"broker"),"wide"],
(n.links??[]).some(r=>r.code)&&["Trouble",s(Mr,{status:n},"links"),"wide"],["Started",s(F,{at:n.started_at},"started")],
["Version",s(T,{text:`${n.version}, Caddy ${n.caddy}, ${n.go}`},"version"),"wide"]]}function Ka({edge:n,onClose:e,onDone:t}){
let{api:o,notify:r}=M(),i=us(n),a=async()=>{await o.call(i?"DELETE":"POST",`edges/${encodeURIComponent(n.id)}/drain`,{body:{}}),
e(),r(i?`${n.name} takes clients.`:`${n.name} is draining.`),t()};return i?s(he,{title:"Undrain this edge",submit:"Undra\
in",onClose:e,onConfirm:a,children:s("p",{children:[s(T,{text:n.name})," will take new connections again, and ask no mor\
e clients to move. Those that it has asked still go. An edge that is stopping refuses this."]})}):s(he,{title:"Drain thi\
s edge",submit:"Drain",danger:!0,onClose:e,onConfirm:a,children:[s("p",{children:[s(T,{text:n.name})," will take no new \
connections, and ask its clients to move to another edge. Those that stay are closed when the time of its drain is over."]}),
s("p",{children:[s("strong",{children:"Undrain takes this back, but not the moves of clients that were asked before."}),
n.self&&" It is the edge that serves this page; the console goes on while it runs."]})]})}function hs({query:n,names:e,onAgain:t}){let[o,r]=g(n),i=JSON.stringify(n);oe(()=>r(n),[i]);let a=d=>h=>r(f=>({...f,[d]:h.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!pe(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return s(
"search",{children:s("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let h=$("histories",o);h===$("histories",n)?t():location.hash=h},children:[s(W,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),s(x,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"\
button",href:$("histories"),children:"Clear"})]})]})})}function ps({target:n,onClose:e,onDone:t}){let{api:o}=M(),{history:r,tenant:i}=n,[a,l]=g(""),[c,u]=g(""),d=i?"tenant":"h\
istory";return s(he,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??r))throw new Error(`what you typed is not the name of the ${d}`);let f=i?{history:r,tenant:i,channel:a||void 0}:
{history:r,all:!0},{removed:p}=await o.call("POST","histories/purge",{body:f}),y=[a&&`channel ${a}`,i&&`tenant ${i}`,`hi\
story ${r}`].filter(v=>v).join(", ");t(`${p===1?"1 message was":`${A(p)} messages were`} removed: ${y}.`)},children:[s("\
p",{children:[i?s(S,{children:["All messages that the history ",s(T,{text:r})," keeps of ",s(P,{text:i})," are deleted f\
or good."]}):s(S,{children:["All messages that the history ",s(T,{text:r})," keeps are deleted for good, of all tenants."]}),
" ","Clients that come back from before are told of a gap."]}),i&&s(x,{label:"Only this channel",value:a,onInput:f=>l(f.
trim()),mono:!0,hint:"Its whole name. Empty: all channels."}),s(x,{label:"Type the name to confirm",value:c,onInput:u,hint:`\
The name of the ${d}.`})]})}var Qa=/[^\P{Cc}\t\n\r]/u;function fs(n){return{bytes:n.slice(0,16384),size:n.length}}function ms(n){let e=n.endsWith("==")?2:n.endsWith("=")?1:0,
t=atob(n.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(t.slice(0,16384),r=>r.charCodeAt(0)),size:n.length/
4*3-e}}function gs({bytes:n,size:e}){try{let t=new TextDecoder("utf-8",{fatal:!0}).decode(n,{stream:e>n.length});return Qa.
test(t)?"hex":"text"}catch{return"hex"}}function bs({bytes:n,size:e},t){let o=e>n.length,r=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(t==="hex")return{text:el(n),...r};let i=ys(n);if(t==="text")return{
text:i,...r};if(o)return{text:i,note:`${r.note} It is cut, so it is not formatted as JSON.`};let a=Va(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function Ut({bytes:n,size:e},t,o=160){if(e===
0)return"(empty)";let r=n.subarray(0,o),i=e>r.length?"…":"";return t==="hex"?ws(r.subarray(0,32))+(e>32?" …":""):ys(
r).replace(/\s+/g," ")+i}function ys(n){return new TextDecoder().decode(n)}function Va(n){if(!(Ya(n)>64))try{return JSON.
stringify(JSON.parse(n),void 0,2)}catch{return}}function Ya(n){let e=0,t=0,o=!1;for(let r=0;r<n.length;r++){let i=n[r];o?
i==="\\"?r++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?t=Math.max(t,++e):(i==="]"||i==="}")&&e--}return t}var Za=n=>n.
toString(16).padStart(2,"0");function ws(n){return Array.from(n,Za).join(" ")}function el(n){let e=[];for(let t=0;t<n.length;t+=
16){let o=n.subarray(t,t+16),r=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${t.toString(16).
padStart(4,"0")}  ${ws(o).padEnd(47)}  ${r}`)}return e.join(`
`)}var tl=500;function wo({messages:n,omitted:e},t){let o=[...n,...t.map(i=>({...i,payload:ms(i.payload)}))],r=Math.max(0,o.
length-tl);return{messages:o.slice(r),omitted:e+r}}var Jt=n=>n.split(".")[1]??n;function Bt({of:n,format:e,label:t}){let{text:o,note:r}=bs(n,e);return s("div",{class:"whole",children:[r&&s("p",{class:"\
quiet",children:r}),s("pre",{tabIndex:0,role:"region","aria-label":t,dir:"auto",children:o})]})}var nl=50,ol=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function vs({names:n,target:e,
purges:t}){let{api:o}=M(),[r,i]=g(n[0]??""),[a,l]=g(""),[c,u]=g("#"),[d,h]=g("auto"),[f,p]=g(),m=le(),y=Z(null),v=async(C,j)=>o.
call("POST","histories/read",{body:{...C,after:j,limit:nl}}),b=C=>m.run(async()=>{if(!pe(C.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(C.pattern==="")throw new Error("name a pattern; # is every ch\
annel");p(void 0);let j=await v(C,"");p({...wo({messages:[],omitted:0},j.messages??[]),query:C,next:j.next})}),w=C=>m.run(
async()=>{let j=await v(C.query,C.next);p({...wo(C,j.messages??[]),query:C.query,next:j.next})});I(()=>{e&&(i(e.history),
l(e.tenant),y.current?.focus(),b({...e,pattern:c}))},[e]),I(()=>{f&&y.current?.scrollIntoView()},[f?.query]),I(()=>p(void 0),
[t]);let k=n.includes(r)?r:n[0]??"";return s("section",{"aria-labelledby":"kept-messages",children:[s("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:y,children:"Messages"}),s("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),s("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:C=>{C.preventDefault(),b(
{history:k,tenant:a,pattern:c})},children:[s(W,{label:"History",value:k,onInput:i,options:n.map(C=>[C,C])}),s(x,{label:"\
Tenant",value:a,onInput:C=>l(C.trim()),mono:!0}),s(x,{label:"Pattern",value:c,onInput:C=>u(C.trim()),mono:!0,hint:"news.\
# for example"}),s(W,{label:"Payload as",value:d,onInput:C=>h(C),options:ol}),s("div",{class:"buttons",children:s("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),s(Fe,{text:m.error}),m.busy&&!f&&s(B,{what:"\
the messages"}),f&&s(rl,{found:f,format:d,busy:m.busy,onMore:()=>{w(f)}})]})}function rl({found:n,format:e,busy:t,onMore:o}){
let[r,i]=g(),{query:a,messages:l,omitted:c,next:u}=n,d=({payload:h})=>e==="auto"?gs(h):e;return s(S,{children:[s("p",{role:"\
status","aria-label":"What was read",children:[R(c+l.length,"message")," of ",s(P,{text:a.pattern})," in ",s(P,{text:a.tenant}),
", history ",s(T,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${A(c)} are not shown an\
y more.`]}),l.length===0&&u===""?s(L,{children:s("p",{children:"No message of this pattern is kept."})}):s(Y,{label:"Mes\
sages that are kept",columns:sl(d,r,i),rows:l,keyOf:({position:h})=>h,busy:t,detail:h=>r===h.position&&s(il,{message:h,format:d(
h)})}),u!==""&&s("button",{type:"button","aria-disabled":t,onClick:o,children:"More messages"})]})}function sl(n,e,t){return[
{label:"Number",cell:({position:o,channel:r})=>s(et,{open:e===o,label:`Message ${Jt(o)} to ${r}`,onToggle:()=>t(e===o?void 0:
o),children:Jt(o)})},{label:"Stored",cell:({time:o})=>s("time",{dateTime:o,children:ke(o)})},{label:"Channel",cell:({channel:o})=>s(
P,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>q(o.size)},{label:"Payload",cell:o=>s("bdi",{class:"pr\
eview",children:Ut(o.payload,n(o))})}]}function il({message:n,format:e}){let{position:t,time:o,payload:r}=n;return s("di\
v",{class:"message-detail",children:[s(re,{of:[["Position",s(P,{text:t},"position"),"wide"],["Stored",s("time",{dateTime:o,
children:o})],["Size",`${A(r.size)} bytes`]]}),s(Bt,{of:r,format:e,label:`Payload of message ${Jt(t)}`})]})}var al=50,ll=8,cl=1e4;function _s({query:n}){let{api:e,session:t,notify:o}=M(),r=z(),i=r&&t.tail===!0,[a,l]=g([""]),[c,u]=g(),
[d,h]=g(),[f,p]=g(0),m={history:n.history??"",tenant:n.tenant??""},y=J(m);I(()=>l([""]),[y]);let v=`histories${J({...m,limit:al,
cursor:a[a.length-1]})}`,{data:b,stale:w,error:k,refresh:C}=V(v,cl,async de=>{try{return await e.get(v,de)}catch(ne){if(ne instanceof
G&&ne.code==="no_histories")return"none";throw ne}}),j=b==="none"?void 0:b,ie=j?.totals??[],$e=ie.reduce((de,ne)=>de+ne.
tenants,0),me=j?.histories??[];return s(S,{children:[s(Q,{text:"Histories"}),s("p",{class:"quiet",children:"What this ed\
ge keeps of messages, so that clients that come back get what they have missed."}),s(K,{error:k,known:b!==void 0}),!b&&!k&&
s(B,{what:"the histories"}),(b==="none"||j&&ie.length===0)&&s(dl,{}),j&&ie.length>0&&s(S,{children:[s(ul,{totals:ie,onPurge:de=>h(
{history:de})}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(y!==""||
$e>ll)&&s(hs,{query:m,names:ie.map(({history:de})=>de),onAgain:C}),me.length>0&&s(Y,{label:"What is kept",columns:ml(r?{
read:i?u:void 0,purge:h}:void 0),rows:me,keyOf:fl,busy:w}),!w&&me.length===0&&a.length===1&&s(L,{children:y===""?s("p",{
children:"Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):s("p",{children:"\
Nothing that is kept matches. Ask for less, or clear the filters."})}),s(ue,{page:a.length,more:!w&&(j.next_cursor??"")!==
"",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l([...a,j.next_cursor??""])})]}),i&&s(vs,{names:ie.map(({history:de})=>de),
target:c,purges:f}),r&&!i&&s("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",s("cod\
e",{children:"tail off"}),"."]})]}),d&&s(ps,{target:d,onClose:()=>h(void 0),onDone:de=>{h(void 0),p(ne=>ne+1),o(de),C()}})]})}
function dl(){return s(L,{children:[s("p",{children:"No history is configured at this edge: a message is delivered at mo\
st once, and forgotten."}),s("p",{children:["A history keeps the messages of some channels: ",s("code",{children:"histor\
y <name> { channels … }"})," in the block ",s("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says wha\
t it promises."]})]})}function ul({totals:n,onPurge:e}){let t=z();return s("div",{class:"cards",children:n.map(o=>s("art\
icle",{class:"card","aria-label":`History ${o.history}`,children:[s("div",{class:"card-head",children:[s("h2",{children:s(
T,{text:o.history})}),!o.configured&&s(O,{mood:"warn",children:o.effective?"not configured here":"not configured any mor\
e"}),o.error&&s(O,{mood:"bad",children:"cannot be used"}),o.configured&&(o.drift??[]).length>0&&s(O,{mood:"warn",children:"\
drift"})]}),o.error&&s("p",{class:"note bad",children:s(T,{text:o.error,most:500})}),s(pl,{of:o}),s(re,{of:[["Tenants",A(
o.tenants)],["Channels",A(o.channels)],["Messages",A(o.messages)],["Size",q(o.bytes)],["Oldest message",s(F,{at:o.oldest},
"oldest")],...hl(o.effective)]}),t&&s("div",{class:"buttons",children:s("button",{type:"button","aria-label":`Purge the \
history ${o.history}`,onClick:()=>e(o.history),children:"Purge"})})]},o.history))})}function hl(n){return n?[["Version",
String(n.version)],["Messages of a channel",`up to ${A(n.messages)}`],["Age",`up to ${Ze(n.age_seconds*1e3)}`],["Size at\
 most",q(n.size)],["Lag",n.max_lag_seconds===0?"any":`up to ${Ze(n.max_lag_seconds*1e3)}`]]:[]}function pl({of:{drift:n,
remedy:e}}){return!n||n.length===0?null:s("div",{class:"note",children:[s("p",{children:"The edges do not follow this ed\
ge’s file:"}),s("ul",{children:n.map(({field:t,configured:o,effective:r})=>s("li",{children:[t,": ",s(P,{text:r}),", i\
n the file ",s(P,{text:o})]},t))}),e&&s("p",{children:["To change this: ",s(T,{text:e,most:500}),"."]})]})}var fl=({history:n,
tenant:e})=>`${n}:${e}`;function ml(n){let e=[{label:"Tenant",cell:({tenant:r})=>s(P,{text:r})},{label:"History",cell:({
history:r})=>s(T,{text:r})},{label:"Channels",number:!0,cell:({channels:r})=>A(r)},{label:"Messages",number:!0,cell:({messages:r})=>A(
r)},{label:"Size",number:!0,cell:({bytes:r})=>q(r)},{label:"Oldest message",cell:({oldest:r})=>s(F,{at:r})}];if(!n)return e;
let{read:t,purge:o}=n;return e.push({label:"Actions",cell:({history:r,tenant:i})=>s("div",{class:"buttons",children:[t&&
s("button",{type:"button","aria-label":`Read ${i} in ${r}`,onClick:()=>t({history:r,tenant:i}),children:"Read"}),s("butt\
on",{type:"button","aria-label":`Purge ${i} in ${r}`,onClick:()=>o({history:r,tenant:i}),children:"Purge"})]})}),e}var ks=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function xs({
messages:n,format:e}){let[t,o]=g();return s("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:n.map(r=>s(
gl,{message:r,format:e,open:t===r.number,onToggle:()=>o(t===r.number?void 0:r.number)},r.number))})}function gl({message:n,
format:e,open:t,onToggle:o}){let{channel:r,payload:i,at:a,late:l,number:c}=n;return s("li",{children:[s("button",{type:"\
button",class:"expand","aria-expanded":t,"aria-label":`${ks.format(a)}, message ${c} to ${r}`,onClick:o,children:s("time",
{dateTime:new Date(a).toISOString(),children:ks.format(a)})}),s("span",{children:[s(P,{text:r,most:120})," ",l&&s(O,{mood:"\
warn",children:"late"})]}),s("span",{class:"quiet",children:q(i.size)}),t?s(Bt,{of:i,format:e,label:`Payload of message ${c}`}):
s("bdi",{class:"preview",children:Ut(i,e)})]})}var bl=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function Ss({tail:n}){let e=le(),[t,o]=g(""),[r,i]=g(""),[a,l]=g("broadcast"),[c,u]=g(0);return s("section",{
class:"card","aria-labelledby":"test-publish",children:[s("h2",{id:"test-publish",children:"Test publish"}),s(ye,{action:e,
submit:"Publish",onSubmit:async()=>{if(t==="")throw new Error("name the channel");await n.publish(t,r,a),u(h=>h+1)},children:[
s("div",{class:"row",children:[s(x,{label:"Channel",value:t,onInput:h=>o(h.trim()),mono:!0}),s(W,{label:"To",value:a,onInput:h=>l(
h),options:bl})]}),s(x,{label:"Payload",value:r,onInput:i,rows:2,mono:!0}),s("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var _=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(e,t="\
the edge says so",o={}){let r=["tenant","channel","pattern"].map(a=>o[a]===void 0?"":` (${a} ${JSON.stringify(o[a])})`),
i=e==="unreachable"?Ts(o.cause):"";super(`${e}${r.join("")}: ${t}${i&&`: ${i}`}`,"cause"in o?{cause:o.cause}:void 0),this.
code=e,this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,
this.retryAfter=o.retryAfter}};function Ts(n){let{message:e,code:t,cause:o}=n??{};return`${(o?Ts(o):"")||e||t||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function fe(n,e,t){return n instanceof _?n:new _(e,t,{cause:n})}function te(n){return new _("disconnected","there is no \
connection to an edge",n===void 0?{}:{cause:n})}var E=()=>performance.now(),Ue=n=>n.reason??Object.assign(new Error("the signal was aborted"),{name:"AbortError"});function X(n){
if(n.aborted)throw Ue(n)}function ce(n,e,t=new Set){return new Promise((o,r)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),t.delete(l)},a=()=>{i(),r(Ue(e))},l=()=>{i(),o()},c=setTimeout(l,n);t.add(l),e.addEventListener("abort",a),e.
aborted&&a()})}async function Pe(n,...e){let t,o=new Promise(r=>{t=setTimeout(r,n)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(t)}async function ze(n,e,t){X(n);let o=new AbortController,r=l=>{"reason"in o.signal||Object.assign(
o.signal,{reason:l}),o.abort(l)},i=()=>r(Ue(n)),a=setTimeout(()=>r(new _("timeout","the edge does not answer")),e);n.addEventListener(
"abort",i);try{return await t(o.signal)}finally{clearTimeout(a),n.removeEventListener("abort",i),o.abort()}}function xe(n,e){
return new Promise((t,o)=>{let r=()=>o(Ue(e));e.aborted&&r(),e.addEventListener("abort",r),n.then(t,o).finally(()=>e.removeEventListener(
"abort",r))})}function se(n,e){return n<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*2**Math.min(n-2,30))}var yl=1e5,wl=new Set(["unconfirmed","history_unavailable","try_later"]),vo=0;async function Es(n,e,t,o){vo=vo+1>>>0;let r=vo,
i=e(r),a=!1,l=new AbortController,c=setTimeout(()=>l.abort(te()),yl),u;try{for(let d=2;;d++){u=await vl(n,t,l.signal,o);
try{return await xe(u.confirm(i,r),l.signal)}catch(h){let{code:f}=h,p=f==="disconnected";if(a||=p||f==="unconfirmed",X(l.
signal),!(a&&t&&(p||wl.has(f))))throw new _(f,void 0,o);p||await ce(se(d,n.settings),l.signal)}}}catch(d){throw a?new _(
"outcome_unknown","no edge has said whether the message is stored",{...o,cause:d}):d}finally{clearTimeout(c),u?.forgetConfirm(
r)}}async function vl(n,e,t,o){for(;;){if(n.over)throw n.over;if(n.held){await xe(Promise.resolve(n.whenOpen(()=>{})),t);
continue}let r=n.out;if(r?.alive)if(r.features===void 0)await xe(r.featured,t);else{if(r.features.includes("history"))return r;
throw new _("no_history","the edge has no histories, and confirms nothing",o)}else{if(!e)throw te();await xe(n.changed(),
t)}}}var _l=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,kl=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;function Ps(n){
let[,e,t="",o="",r="",i]=_l.exec(n)??[];if(e&&wt(r)&&e==="OK:RSUB"==(i!==void 0))return i?{kind:e,tenant:t,pattern:o,position:r,
how:i}:{kind:e,tenant:t,pattern:o,position:r};let[,a,l]=kl.exec(n)??[];if(!(a===void 0||Number(a)>4294967295||l!==void 0&&
!wt(l)))return l===void 0?{kind:"OK:PUB",id:Number(a)}:{kind:"OK:PUB",id:Number(a),position:l}}function wt(n){let[,e,t]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(n)??[];return e!==void 0&&t!==void 0&&Cs(e)&&Cs(t)}var Cs=n=>n.length<20||n<="18446744073709551615";function Te(n,e,t){let o=typeof e=="object"&&e!==null,r=o?Object.keys(e).find(a=>!t.split(" ").includes(a)):"";if(r===void 0)
return;let i=o?`has no ${JSON.stringify(r.slice(0,32))}`:"must be an object";throw new _("bad_option",`${n} ${i}: allowe\
d are ${t.replaceAll(" ",", ")}`)}var Wt={options:"",socket:(n,e,{webSocket:t=WebSocket})=>new t(n,["llps.v1",`at.${e}`]),fetch:(n,e,t)=>fetch(n,t),proxied:()=>!1};function Ht(n,e="token"){if(typeof n=="string"&&/^[\w.~+-]{1,512}$/.test(n))return n;let t=`a ${e} is a string of 1 to 5\
12 letters, digits and .~_+-`,o=/\s/.test(`${n}`)?": this one has white space, such as a line break from a file":"";throw new _(
"bad_option",t+o)}var xl=["drop-oldest","drop-newest","end"],As=["webtransport","websocket"];function N(n){throw new _("bad_option",n)}function Ge(n,e,t,o=0){
return e!==void 0&&!(Number.isFinite(e)&&e>=o&&e<2**31)&&N(`${n} must be a number below 2^31${o<0?"":", 0 or more"}`),e||
t}function $s(n,e,t){return t.includes(e)||N(`${n}: allowed are ${t.join(", ")}`),e}function ko(n,e){return{queue:Math.ceil(
Ge("queue",n.queue,e.queue)),queuePolicy:$s("queuePolicy",n.queuePolicy??e.queuePolicy,xl)}}var Sl="token tokenProvider \
transports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlainte\
xt serverCertificateHashes sender signal on webSocket";function Ms(n,e=Wt){Te("the object of options",n,Sl+e.options),Te(
"paths",n.paths??{},"webSocket webTransport ping");let{token:t,tokenProvider:o,transports:r=As,sender:i=!1,webSocket:a}=n;
t===void 0==(o===void 0)&&N("one of token and tokenProvider is needed"),o!==void 0&&typeof o!="function"&&N("tokenProvid\
er must be a function"),typeof i!="boolean"&&N("sender must be true or false"),a!==void 0&&typeof a!="function"&&N("webS\
ocket must be a class"),r.length===0&&N("transports must not be empty");for(let c of r)$s("transports",c,As);"TextEncode\
r"in globalThis&&"TextDecoder"in globalThis||N("TextEncoder and TextDecoder are missing");let l=Ge("minBackOff",n.minBackOff,
250);return{token:t===void 0?void 0:Ht(t),tokenProvider:o,transports:[...new Set(r)],fallbackAfter:Ge("fallbackAfter",n.
fallbackAfter,2e3),connectTimeout:Ge("connectTimeout",n.connectTimeout,1e4),keepAlive:Ge("keepAlive",n.keepAlive,25e3,-1/0),
pongTimeout:Ge("pongTimeout",n.pongTimeout,1e4),minBackOff:l,maxBackOff:Math.max(l,Ge("maxBackOff",n.maxBackOff,15e3)),...ko(
n,{queue:1024,queuePolicy:"drop-oldest"}),sender:i,paths:{webSocket:_o(n.paths?.webSocket??"/ws"),webTransport:_o(n.paths?.
webTransport??"/wt"),ping:_o(n.paths?.ping??"/ping")},allowPlaintext:n.allowPlaintext===!0,hashes:n.serverCertificateHashes,
webSocket:a,proxy:n.proxy,runtime:e}}function _o(n){return/^\/[^?#]*$/.test(n)||N("paths must start with a slash"),n}var Os=1e5;function Is(n,e){if(n==="now"||n==="last")return n;let{last:t,after:o}=n;return typeof o=="string"&&t===void 0&&
wt(o)?o:((!Number.isInteger(t)||t<1||t>Os||o!==void 0)&&N(`history is "now", "last", { last: 1 to ${Os} } or { after: po\
sition }`),/[*>#]/.test(e)&&N("history: { last } is for one channel: the pattern has no wildcard"),`last.${t}`)}var qt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){
this.from=e}get position(){return wt(this.from)?this.from:void 0}get refusal(){return this.forbidden?"permission_denied":
this.plain?"no_history":void 0}begin(e){this.on=e,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=
!0,this.on=void 0,this.open=!1}takes(e,t){return this.on===e&&this.open&&!this.plain&&!Tl(t,this.from)}};function Tl(n,e){
let[t,o=""]=n.split("."),[r,i]=e.split(".");return t===r&&i!==void 0&&(o.length===i.length?o<=i:o.length<i.length)}var Rs,rt=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(e,t,o,r,i,a,l,c=""){this.tenant=
e,this.channel=t,this.payload=o,this.pattern=r,this.patterns=i,this.late=a,this.position=l,this.sender=c}get time(){return this.
position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Rs??=new TextDecoder("utf-8",{ignoreBOM:!0}),
Rs.decode(this.payload)}json(){return JSON.parse(this.text().replace(/^\uFEFF/,""))}};var zt=class{#e=new Map;#t=0;get all(){return[...this.#e.values()]}add(e){let{tenant:t,pattern:o}=e,r=`${t}:${o}`,i=this.#e.
get(r),{history:a}=e,l=i??{name:r,tenant:t,pattern:o,subs:[],confirmed:!1,waiting:[],history:a};return l.subs.push(e),this.#e.
set(r,l),this.#t++,{interest:l,isNew:!i}}of(e,t){return this.#e.get(`${e}:${t}`)}has(e){return this.#e.get(e.name)===e}remove(e){
let t=this.#e.get(`${e.tenant}:${e.pattern}`),o=t?.subs.indexOf(e)??-1;if(!(!t||o<0))return t.subs.splice(o,1),t.subs.length===
0&&this.drop(t)?t:void 0}drop(e){return this.#t++,this.#e.get(e.name)===e&&this.#e.delete(e.name)}dispatch(e,t=!1){let{tenant:o,
channel:r,payload:i,route:a,sender:l}=e,c=a.note?.tenant===o&&a.note.version===this.#t?a.note:this.#n(o,a);for(let{pattern:u,
subs:d,history:h}of c.interests){if(h&&!h.plain)continue;let f=new rt(o,r,i,u,a.patterns,t,void 0,l);if(d.length===1)d[0].
push(f);else for(let p of[...d])p.push(f)}}#n(e,t){let o=t.patterns.map(r=>this.#e.get(`${e}:${r}`)).filter(r=>r!==void 0);
return t.note={tenant:e,version:this.#t,interests:o},t.note}};var Gt=class{interests=new zt;asking=new Set;#e;constructor(e){this.#e=e}async restore(e){let t=this.interests.all;t.some(
r=>r.history)&&await e.featured;let o=e===this.#e.current?t:t.filter(r=>!r.history);await Promise.all(o.map(r=>this.ask(
e,r)))}ask(e,t){let o=this.#t(e,t).finally(()=>this.asking.delete(o));return this.asking.add(o),o}async#t(e,t){try{t.history?
await this.#e.histories?.ask(e,t,t.history):(await this.#n(e,t),this.confirm(t))}catch(o){let r=fe(o,"internal","a fault\
 of this client");if(r.code==="disconnected")return;if(t.confirmed&&this.#e.suspected&&e===this.#e.next)return e.fail(r);
this.#o(t,r)}}confirm(e){e.confirmed=!0;for(let{resolve:t}of e.waiting.splice(0))t()}async#n(e,t){let{name:o,tenant:r,pattern:i}=t;
for(let a=2;;a++){try{return await e.request("SUB",o)}catch(l){let c=l;if(c.code!=="try_later"||!Kt(t))throw c;a===2&&this.#e.
events.emit("subscriptionError",{tenant:r,pattern:i,code:c.code})}await e.postpone(o,se(a,this.#e.settings))}}#o(e,t){if(!this.
interests.drop(e))return;let{tenant:o,pattern:r,subs:i,waiting:a}=e;for(let l of[this.#e.current,this.#e.next])l?.forget(
e.name)&&l.leave(e.name);Kt(e)&&this.#e.events.emit("subscriptionError",{tenant:o,pattern:r,code:t.code});for(let l of i)
l.end(t);for(let{reject:l}of a.splice(0))l(t)}async subscribe(e){let{tenant:t,pattern:o}=e,r;for(;;){if(this.#e.over)throw this.#e.
over;r=this.interests.of(t,o);let c=d=>d?.ending.get(`UNSUB:${t}:${o}`),u=c(this.#e.current)??c(this.#e.next);if(r||!u)break;
await u}if(r&&(r.history||e.history)){let c="the client has a subscription to this pattern, and one with a history is al\
one";throw new _("bad_option",c,r)}let{interest:i,isNew:a}=this.interests.add(e);if(i.confirmed)return;let l=new Promise(
(c,u)=>{i.waiting.push({resolve:c,reject:u})});return a&&(this.#e.current&&!this.#e.leaving&&this.ask(this.#e.current,i),
this.#e.next&&!i.history&&this.ask(this.#e.next,i)),l}async leave(e){let t=this.interests.remove(e);if(!t)return;for(let{
resolve:l}of t.waiting.splice(0))l();let{name:o,history:r}=t,a=[this.#e.current,this.#e.next].filter(l=>l?.forget(o)||l&&
r?.on===l).map(l=>l.leave(o));await(this.#e.suspected&&a.length>0?Promise.race(a):Promise.all(a))}wasRead(e){this.#e.histories?.
wasRead(e)}queueFull({tenant:e,pattern:t},o){this.#e.events.emit("queueFull",{tenant:e,pattern:t,dropped:o})}end(e,t){for(let o of this.
interests.all){this.interests.drop(o);for(let r of o.subs)r.end(e);for(let{reject:r}of o.waiting.splice(0))r(e??t)}}};function Kt({
subs:n,waiting:e}){return n.length>e.length}var Qt=class{#e;constructor(e){this.#e=e}begin(e,t){return new qt(Is(e,t))}publish(e,t,o){return Es(this.#e,e,t,o)}line(e,t){
let o=Ps(t);o?.kind==="OK:PUB"?e.published(o.id,o.position):o&&(this.#t(e,o),o.kind==="OK:RSUB"&&e.resumed(`${o.tenant}:${o.
pattern}`))}async resume(e){let{interests:t}=this.#e.subscriber,o=t.all.filter(({history:r})=>r);await Promise.all(o.map(
r=>this.#e.subscriber.ask(e,r)))}stored(e,t,o){let{tenant:r,channel:i,payload:a,route:l,sender:c}=t,{patterns:u}=l,d=u[0],
h=this.#e.subscriber.interests.of(r,d),{history:f}=h??{};if(!h||!f?.takes(e,o))return;f.from=o,h.subs[0]?.pushStored(new rt(
r,i,a,d,u,!1,o,c))===!1&&this.#e.subscriber.interests.has(h)&&(f.pause(),e.leave(h.name)),this.#e.subscriber.confirm(h)}#t(e,t){
let{kind:o,tenant:r,pattern:i,position:a}=t,l=this.#e.subscriber.interests.of(r,i),{history:c}=l??{};if(!(!l||!c||c.plain)){
if(c.on!==e||!c.open){o==="GAP"&&c.paused&&e===this.#e.current&&this.#n(r,i,a);return}if(o==="GAP"||c.takes(e,a)){c.from=
a;for(let u of l.subs)u.reach(a)}o==="GAP"?(c.told=!0,this.#n(r,i,a)):o==="OK:RSUB"&&(this.#e.subscriber.confirm(l),t.how===
"gap"&&!c.told?this.#n(r,i,a):c.lossy&&this.#n(r,i,void 0,c.refusal))}}#n(e,t,o,r){this.#e.gaps=!0,this.#e.events.emit("\
gap",{tenant:e,pattern:t,before:o,code:r})}wasRead(e){let t=this.#e.subscriber.interests.of(e.tenant,e.pattern),{current:o}=this.#e;
!t?.history||t.history!==e.history||(t.history.paused=!1,o&&this.#e.subscriber.ask(o,t))}async ask(e,t,o){let{name:r,tenant:i,
pattern:a}=t;if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===e)){o.begin(e);for(let l=2;;){if(await e.featured,await e.
ending.get(`UNSUB:${r}`),!e.alive||o.on!==e||!this.#e.subscriber.interests.has(t))return;let c=!e.features?.includes("hi\
story")||o.unwanted,u=o.forbidden?"now":o.from,d=Kt(t);o.lossy=c?d||u!=="now":o.forbidden||d&&u==="now",o.plain=c,o.open=
!0,c&&(o.from="now");try{if(!c)return await e.resume(r,u);if(await e.request("SUB",r),!this.#e.subscriber.interests.has(
t))return;this.#e.subscriber.confirm(t),o.lossy&&this.#n(i,a,void 0,o.refusal);return}catch(h){let f=h;if(f.code==="hist\
ory_unavailable")return this.#e.gaps=!0,this.#e.events.emit("edgeError",{code:f.code,detail:`RSUB:${r}`});if(o.open=!1,f.
code==="permission_denied"&&!c&&u!=="now")o.forbidden=!0;else if(f.code==="no_history"&&d)o.unwanted=!0;else if(f.code===
"try_later"&&d)l===2&&this.#e.events.emit("subscriptionError",{tenant:i,pattern:a,code:f.code}),await e.postpone(r,se(l++,
this.#e.settings)),e.postponed.delete(r);else throw f}}}}};var El=.9765625,Cl=1e3,Pl=32,Vt=class{#e=0;#t=0;#n=0;#o=0;#r;#s;#i=El;publish(e,t){let o=this.#e++===this.#t;return this.#a(
e,t,o),o}request(e,t,o){let r=this.waits(o)===void 0;return this.#a(e,t,r),r}#a(e,t,o){this.#o+=e+Pl,this.#s??=t,o&&(this.#r=
t)}waits(e){return this.#e===this.#t&&e>=(this.#r??e)?void 0:this.#r}mark(){let e={publishes:this.#e,bytes:this.#o,first:this.#s};
return this.#t=this.#e,this.#o=0,this.#r=this.#s=void 0,e}proven({publishes:e,bytes:t,first:o},r){this.#n=Math.max(this.#n,
e),o!==void 0&&(this.#i=Math.min(this.#i,(r-o+Cl)/t))}sendTime({bytes:e}){return e*this.#i}told(){this.#n++}take(){let e=this.#e-
this.#n;return this.#n=this.#e,e}};var en=2e3,Co=1e3,Yt=new Set,xo,tn=0,So=0,To=0,Ns=-1/0,on=n=>n>To&&n<Ns+Co?To:n;function Al(n,e){return n>=Co+en||e-n>=en}
function Po(){let n=E()-tn,e=Date.now()-So;Al(n,e)&&(Zt.document?.visibilityState==="hidden"?nn("slept"):Eo()),tn+=n,So+=
e}function Ds(n){return Yt.add(n),xo??=$l(),()=>{!Yt.delete(n)||Yt.size>0||(xo?.(),xo=void 0)}}function Eo(){To=tn,Ns=E(),
nn("slept")}function nn(n){for(let e of[...Yt])e[n]()}var Zt=globalThis;function $l(){tn=E(),So=Date.now();let n=setInterval(
Po,Co),{document:e,navigator:t}=Zt,o=()=>{e?.visibilityState==="visible"&&nn("slept")},r=()=>nn("networkChanged"),i=t?.connection,
a=i?.type,c=[[Zt,"online",r],[i,"change",()=>{i?.type!==a&&(a=i?.type,r())}],[Zt,"pageshow",Eo],[e,"resume",Eo],[e,"visi\
bilitychange",o]];for(let[u,d,h]of c)u?.addEventListener?.(d,h);return()=>{clearInterval(n);for(let[u,d,h]of c)u?.removeEventListener?.(
d,h)}}var vt=1e3,Ml=3,Ol=2**31-1,Ao=50,st=class{heard=E();c;settings;spread=1+Math.random()/16;woken=0;over=!1;#e=0;#t;constructor(e,t){
this.c=e,this.settings=t}arrived(e){this.heard=e}active(e){}ponged(e){this.#e=0,this.arm()}awake(e){let t=E();this.asking||
(this.#e=0),!(this.over||this.#e++>=Ml)&&(this.woken=t,this.settings.keepAlive>0&&!this.asking&&(e||t-this.heard>=vt)&&this.
ask(t),this.arm())}stop(){this.over=!0,clearTimeout(this.#t)}get asking(){return this.c.unanswered}get patience(){return this.
settings.keepAlive}get askAt(){let{keepAlive:e}=this.settings;if(e<0)return 1/0;let t=this.c.unreadSince??1/0;return Math.
min(this.heard+this.patience*this.spread,t+Math.min(1e3,e))}lostAt({at:e,sendTime:t}){let{keepAlive:o,pongTimeout:r}=this.
settings;if(o<0)return 1/0;let i=Math.max(this.heard,this.woken);return Math.max(e+r,i+o+r)+t}dueAt(e){return this.lostAt(
e)}arm(){clearTimeout(this.#t);let e=this.asking,t=e?this.dueAt(e):this.askAt;if(this.over||t===1/0)return;let o=E(),r=Math.
max(t,o+1);this.#t=setTimeout(()=>this.#n(r),Math.min(r-o,Ol))}#n(e,t=!1){Po();let o=E();if(o-e>=en&&this.awake(!1),this.
over)return;if(!t&&o-e>Ao){clearTimeout(this.#t),this.#t=setTimeout(()=>this.#n(o+Ao,!0),Ao);return}let r=this.asking;if(!r)
o>=this.askAt&&this.ask(o);else{if(o>=this.lostAt(r))return this.c.over();this.judge(r,o)}this.arm()}judge(e,t){}ask(e){
this.c.ask()}probe(){this.c.probe()}};async function rn(n,e,t){try{let o=await e.runtime.fetch(n,e,{cache:"no-store",credentials:"omit",signal:t});return await o.
arrayBuffer(),o.ok}catch{return!1}}async function Fs(n,e,t){try{return await e.runtime.fetch(n,e,{cache:"no-store",credentials:"\
omit",mode:"no-cors",signal:t}),!0}catch{return!1}}var sn=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let t=e-this.#e;if(t<1)return!1;if(this.#e=
e,t>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),t>this.#o&&(this.#o=t),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.min(3e3,Math.
max(1e3,3*Math.max(this.#o,this.#r)))}};var $o=1e3,an=class extends st{#e=new sn(this.heard);#t=-1/0;#n=!1;#o;#r=0;#s=-1/0;#i=-1/0;#a;#l;arrived(e){super.arrived(
e),this.#a=void 0,this.#l?.abort(),this.#l=void 0,(this.#n?this.#e.skip(e):this.#e.arrived(e))&&this.arm(),this.#n&&(this.#n=
!1,this.c.woke())}active(e){let t=this.#c;this.#t=e,t||this.arm()}get#c(){return this.heard-this.#t<1e4}ponged(e){let t=Math.
min(e,2*this.#d);this.#o===void 0?(this.#o=t,this.#r=t/2):(this.#r+=(Math.abs(this.#o-t)-this.#r)/4,this.#o+=(t-this.#o)/
8),super.ponged(e)}stop(){super.stop(),this.#l?.abort()}get asking(){return super.asking??this.#a}get#d(){return Math.max(
vt,(this.#o??0)+4*this.#r)}get patience(){let e=this.#c?this.#e.unusual:1/0;return Math.min(super.patience,e,this.c.owed?
3e3:1/0)}suspectAt({at:e,sendTime:t}){return Math.max(e,this.heard,this.woken)+(this.#a?vt:this.#d)+t}dueAt(e){return Math.
min(this.#n?1/0:this.#u(e),super.dueAt(e),this.#s+$o)}#u(e){return Math.max(this.suspectAt(e),this.#i+$o)}judge(e,t){!this.#n&&
t>=this.#u(e)&&this.#h(t),this.over||this.probe()}#h(e){this.#n=this.c.silent(),this.#n||(this.#i=e)}ask(e){if(this.c.pingFirst===
void 0||this.c.unreadSince!==void 0)return this.c.ask();this.#a={at:e,sendTime:0},this.#s=-1/0,this.probe()}probe(){let e=E();
e-this.#s<$o||(this.#s=e,this.c.pingFirst!==void 0&&(this.#n||this.#a)?this.#p(this.c.pingFirst):this.c.probe())}async#p(e){
if(this.#l)return;let t=new AbortController;this.#l=t;let o=setTimeout(()=>t.abort(),vt),r=await Fs(e,this.settings,t.signal);
clearTimeout(o),!(this.over||this.#l!==t)&&(this.#l=void 0,r?(this.#a=void 0,this.c.unanswered?this.c.probe():this.c.ask()):
this.#a&&(this.#a={at:-1/0,sendTime:0}),this.arm())}};function Je({tenant:n,channel:e,payload:t}){let o=`${n}:${e}:`;for(let r=0;r<t.length;r+=1024)o+=String.fromCharCode(...t.
subarray(r,r+1024));return o}var we=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){for(;this.#t[this.#n]?.entry===
void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.flatMap(({entry:e})=>e??
[])}put(e,t,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=0);let r={entry:{key:e,time:t,
message:o}};this.#t.push(r);let i=this.#o.get(e);return i?i.push(r):this.#o.set(e,[r]),this.size++,this.#e+=e.length,this.
size>65536||this.#e>16777216?this.drop():void 0}take(e){let t=this.#o.get(e),o=t?.shift();return!t||!o?!1:(t.length===0&&
this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;return e&&this.take(e.key),e}dropUntil(e){
let t=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&t.push(o.message);return t}};var js=1e3,Nl=1e4,it=class{#e=new we;#t=new we;#n=new we;#o=js;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,Nl-js)}fromCurrent(e,t){let o=Je(e);return this.#i(t),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromNext(e,t,o){if(this.late(e,t))return;if(o)return this.#n.put(Je(e),
t),e;let r=this.#t.put(Je(e),t,{...e});return r&&this.#n.put(r.key,t),r?.message}late(e,t){return this.#i(t),this.#e.size>
0&&this.#e.take(Je(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new we;
for(let{key:e,time:t}of this.#t.all)this.#e.put(e,t)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new we;for(let{
key:t}of this.given)this.#e.put(t,e);this.#n=new we}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var ln=250,cn=2e3;async function dn(n,e,t,o,r){for(;n.merger&&!n.merger.done(E());)await ce(50,o);n.merger=new it,n.both=
!0;let i=r!==void 0;n.tentative=i;let{place:a}=n,l=!1,c=()=>{l||n.events.emit("moving",{...a,reason:t}),l=!0};i||c();let u=0;
for await(let d of n.searcher.order(e.edge,t!=="drain",o)){let h=r;if(r=void 0,!h){await n.pause(Math.max(se(++u,n.settings),
n.searcher.wait(d)),o);try{h=await n.searcher.open(d,o)}catch(f){if(X(o),!(f instanceof _)||n.searcher.hopeless(d,f,!0))
throw f;continue}}if(o.aborted)return void h.close();if(h.alive){n.next=h,n.merger.joined(E()),n.merger.release();let f=n.
restore(h);n.tentative&&h.ping().catch(()=>{}),await f}if(n.tentative){if(X(o),n.next!==h)return n.keepCurrent();n.tentative=
!1}if(h.alive){if(await Dl(n,e,h,c,o),X(o),n.current!==h){if(i)return n.keepCurrent();continue}h.alive&&(c(),n.since=E(),
n.events.emit("moved",{...n.place,reason:t}));return}}}async function Dl(n,e,t,o,r){let i=()=>n.next===t&&n.current===e;
if(!i())return;n.gate??=[];let a=Pe(cn,e.ping()).then(()=>{i()&&n.openGate(t)}),l=3;do await ce(ln,r);while(--l&&n.merger?.
behind);await Pe(cn,Promise.all([...n.subscriber.asking,...n.presences?.asking??[]]));for(let u=cn;u>0&&i()&&n.presences&&
!n.presences.hasSynced(t);u-=ln)await ce(ln,r);for(;i()&&t.postponed.size>0;)await ce(ln,r);if(!i())return;o(),n.leaving=
!0;let c=[...e.asked].map(u=>e.leave(u));await Pe(cn,e.ended,Promise.allSettled([...c,e.ping(),e.confirmedAll()])),await a,
i()&&n.promote(),n.leaving=!1}var Fl=1e4;async function Ls(n,e,t,o){let{lastByte:r}=e;n.reconnecting=!0,n.lose();for(let i of n.subscriber.interests.all)
i.confirmed=!1;n.events.emit("disconnected",{...n.place,error:t}),t.code==="token_expired"&&e.token===n.tokens.token&&n.
tokens.expire(),E()-n.since>Fl&&(n.attempts=0);for await(let i of n.searcher.order(e.edge,!1,o)){let a=++n.attempts,l=Math.
max(se(a,n.settings),n.searcher.wait(i));n.events.emit("reconnecting",{attempt:a,delay:l}),await n.pause(l,o);try{let c=await n.
searcher.open(i,o);if(o.aborted)return void c.close();if(n.setCurrent(c),await n.restore(c),X(o),!c.alive)continue;n.reconnecting=
!1,n.since=E();let u=!n.gaps&&n.subscriber.interests.all.every(d=>d.history);return n.events.emit("reconnected",{...n.place,
away:E()-on(r),complete:u})}catch(c){if(X(o),!(c instanceof _)||n.searcher.hopeless(i,c,!1))throw c}}}var jl=4096,un=class{#e=new Map;#t=[];#n=0;#o;add(e,t){return this.note(t),new Promise((o,r)=>{this.#e.set(e,{resolve:o,
reject:r,size:t})})}note(e,t){e<=jl||e<this.#n||(this.#o=e>this.#n?t:this.#o??t,this.#n=e)}tooLarge(){for(let[e,{size:t}]of this.#e)
t===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,t=()=>{}){let o=this.#e.get(e);if(o&&t(o),
this.#e.delete(e),this.#e.size===0)for(let r of this.#t.splice(0))r()}error(e,t){let o=/^PUB:(\d+)$/.exec(t)?.[1];return o===
void 0?!1:(this.settle(Number(o),r=>r.reject(new _(e))),!0)}get owed(){return this.#e.size>0}idle(){return this.#e.size===
0?Promise.resolve():new Promise(e=>{this.#t.push(e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,t=>t.reject(te()))}};var Xs,Us,Mo=1024,Ll=["PING","PONG","RECONNECT","OK:AUTH"];function Ke(n){return Xs??=new TextEncoder,Xs.encode(n)}function Ae(n){
Us??=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0});try{return Us.decode(n)}catch(e){throw new _("protocol","text that\
 is not UTF-8",{cause:e})}}var Xl=new Map([["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revok\
ed",4403],["token_unverifiable",1013],["closed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function at(n,e){
let[t,o,...r]=n.split(":"),i=Xl.get(t);if(i===void 0)return;let a={closeCode:e??i};return t==="forbidden"?new _(`${o}_no\
t_allowed`,r.join(":")||void 0,a):new _(t,void 0,a)}function Oo(n){if(Ll.includes(n))return{kind:n};if(/^LINK:(up|down)$/.
test(n))return{kind:"LINK",up:n==="LINK:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(n)?.[1];if(e&&n.length<=
Mo)return{kind:"FEATURES",features:e};let t=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(n),o=/^ERR:([a-z_]+)(?::(.+))?$/su.
exec(n);if((t||o)&&(n.length<=Mo/3||Ke(n).length<=Mo)&&!n.endsWith(`
`)){if(t)return{kind:"OK",verb:t[1],tenant:t[2],pattern:t[3]};if(o)return{kind:"ERR",code:o[1],detail:o[2]??""}}throw new _(
"protocol","a line that is none")}function Js(n){try{return Oo(n)}catch{return}}var Ro=["broadcast","one-nearest","one-random"];function No(n,e,t,o,r){let i=typeof t=="string"?Ke(t):t,a=r?7+r.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+n.length+e.length+i.length);return a>0&&(l[0]=r?3:2,l[1]=o??0),r&&(new DataView(l.buffer).
setUint32(2,r.id),l[6]=r.key.length,l.set(r.key,7)),l.set(i,Bs(l,Bs(l,a,n),e)),l}function Bs(n,e,t){n[e++]=t.length>>8,n[e++]=
t.length;for(let o=0;o<t.length;o++)n[e++]=t.charCodeAt(o);return e}var qs=1,zs=2,Io=24,Ul=128,Jl={4:qs|zs,5:7};function Do(n,e,t){
if(e===t||n[e]===1)return!1;let o=Jl[n[e]];return o===void 0||e+1<t&&(n[e+1]&~o)!==0}var hn=class{#e=new _t;#t=new _t;#n=new _t;#o={};decode(e,t,o){
let r=y=>{y>o&&Ee()},i=y=>(r(y+2),e[y]<<8|e[y+1]);(t===o||e[t]===5||Do(e,t,o))&&Ee();let a,l="";if(e[t]===4){let y=i(t)&
255;if(y===0&&Ee(),t++,y&qs&&(r(t+1+Io),a=Bl(e,t+1),t+=Io),y&zs){r(t+2);let v=t+2;t=v+e[t+1]-1,t-v>=Ul&&Ee(),r(t+1),l=this.#n.
of(e,v,t+1,()=>Ae(e.subarray(v,t+1)))}}let c=a!==void 0,u=t+3+i(t+1),d=u+2+i(u),h=d+4;r(h);let f=h+i(d)*65536+i(d+2);(i(
f)===0||c&&i(f)!==1)&&Ee();let p=this.#e.of(e,t+1,d,()=>[Ae(e.subarray(t+3,u)),Ae(e.subarray(u+2,d))]),m=this.#o;return m.
tenant=p[0],m.channel=p[1],m.payload=e.subarray(h,f),m.route=this.#t.of(e,f,o,()=>{let y=[],v=f+2;for(let b=i(f);b>0;b--){
let w=v+2+i(v);r(w),y.push(Ae(e.subarray(v+2,w))),v=w}return v!==o&&Ee(),{patterns:Object.freeze(y),note:void 0}}),m.position=
a,m.sender=l,m}};function Bl(n,e){let t=new DataView(n.buffer,n.byteOffset+e,Io);return`${Ws(t,0)}${Ws(t,4)}.${Hs(t,8)}.${Hs(
t,16)}`}var Ws=(n,e)=>n.getUint32(e).toString(16).padStart(8,"0");function Hs(n,e){let t=n.getUint32(e);return t<2097152?
String(t*4294967296+n.getUint32(e+4)):String(n.getBigUint64(e))}function Ee(){throw new _("protocol","a frame that is no\
ne")}var Wl=256,Hl=1024,_t=class{#e=[];of(e,t,o,r){let i=0;for(let u=t;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&
Wl-1,l=this.#e[a];if(l&&ql(l.bytes,e,t,o))return l.value;let c=r();return o-t<=Hl&&(this.#e[a]={bytes:e.slice(t,o),value:c}),
c}};function ql(n,e,t,o){if(n.length!==o-t)return!1;for(let r=0;r<n.length;r++)if(n[r]!==e[t+r])return!1;return!0}var pn=class{#e=new Map;add(e,t){let o=this.#e.get(e);o?o.push(t):this.#e.set(e,[t])}answer(e,t){let o=this.#e.get(e),r=o?.
shift();return r?(o?.length===0&&this.#e.delete(e),t(r),!0):!1}get owed(){for(let e of this.#e.keys())if(!/^(RSUB|AGAIN):/.
test(e))return!0;return!1}reject(e){let t=[...this.#e.values()].flat();this.#e.clear();for(let o of t)o.reject(e)}};var fn=class{edge;transport;token;begun=E();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;features;featured;ending=new Map;error;ended;#e;#t;#n;#o=new hn;#r=new pn;#s=new un;#i;#a=[];#l=new Set;#c=new Vt;#d=!1;#u=!0;#h=!0;#p;constructor(e,t,o,r,i){
this.edge=e,this.transport=t.transport,this.token=o,this.#e=t,this.#t=r;let a=this;this.#n=r.watch({get unanswered(){return a.#a[0]},
get unreadSince(){return a.#c.waits(a.lastByte)},get owed(){return a.#r.owed||a.#s.owed},pingFirst:t.fragile?e+i.paths.ping:
void 0,ask:()=>{this.ping().catch(()=>{})},probe:()=>t.probe(),silent:()=>this.#t.silent(this),woke:()=>this.#t.woke(this),
over:()=>this.fail(new _("timeout","the edge does not answer"))}),this.featured=new Promise(c=>{this.#i=c});let l;this.ended=
new Promise(c=>{l=c}),t.start({bytes:()=>{this.alive&&this.#n.arrived(E())},line:c=>this.#k(()=>this.#v(c)),frame:(c,u,d)=>{
if(!this.alive||(this.#y(),Do(c,u,d)))return;let h;try{if(c[u]===5)return this.#t.presence(this,c,u,d);h=this.#o.decode(
c,u,d)}catch(f){return this.#w(f)}this.#t.delivered(this,h)},ended:c=>{l(),this.#x(c)}}),this.#d=!0,this.alive&&this.#m(
`FEATURES:link${i.sender?",sender":""}`),this.alive&&this.#n.arm()}get lastByte(){return this.#n.heard}request(e,t,o=""){
e==="SUB"&&this.asked.add(t);let r=`${e}:${t}`,i=this.#f(r);return this.alive&&this.#m(r+o),i}resume(e,t){let o=this.#f(
`RSUB:${e}`);return this.alive&&this.#m(`RSUB:${e}:${t}`),o}leave(e,t="UNSUB"){let o=`${t}:${e}`,i=this.request(t,e).catch(
()=>{}).then(()=>{this.ending.get(o)===i&&this.ending.delete(o)});return this.ending.set(o,i),i}resumed(e){this.#r.answer(
`RSUB:${e}`,t=>t.resolve())}confirm(e,t){if(!this.alive)return Promise.reject(te());let o=this.#s.add(t,e.length);return this.#m(
e),o}published(e,t){this.#s.settle(e,o=>o.resolve(t))}forgetConfirm(e){this.#s.settle(e)}confirmedAll(){return this.#s.idle()}postpone(e,t){
this.postponed.add(e);let o=`AGAIN:${e}`,r=setTimeout(()=>this.#r.answer(o,i=>i.resolve()),t);return this.#f(o).finally(
()=>clearTimeout(r))}#f(e){return new Promise((t,o)=>{this.alive?this.#r.add(e,{resolve:t,reject:o}):o(te())})}forget(e){
return this.confirmed.delete(e),this.postponed.delete(e),this.#r.answer(`AGAIN:${e}`,t=>t.reject(te())),this.asked.delete(
e)}ping(){return new Promise((e,t)=>{if(!this.alive)return t(te());let o=this.#c.mark();this.#a.push({at:E(),sendTime:this.#c.
sendTime(o),mark:o,resolve:e,reject:t}),this.#e.send("PING"),this.#n.probe(),this.#a.length===1&&this.#n.arm()})}publish(e,t){
this.#s.note(e.length,t);let o=this.#c.publish(e.length,E());this.#e.send(e),o&&this.#n.arm();let r=this.#e.sent();return r&&
new Promise(i=>{let a=()=>{this.#l.delete(a),i()};this.#l.add(a),r.then(a,a)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=
e,this.#n.stop(),this.#r.reject(te()),this.#s.fail();for(let t of this.#a)t.reject(te());for(let t of this.#l)t()}#m(e){
let t=this.#c.request(e.length,E(),this.lastByte);this.#e.send(e),t&&this.#n.arm()}takeUnread(){return this.#c.take()}close(){
return this.alive&&(this.#b(te()),this.#e.close()),this.ended}#y(){let e=E();this.#n.arrived(e),this.#n.active(e)}#v(e){
e==="PONG"?this.#n.arrived(E()):this.#y();let t=Js(e);if(!t)return this.#t.line(this,e);if(t.kind==="OK"){let o=`${t.tenant}\
:${t.pattern}`;if(this.#r.answer(`${t.verb}:${o}`,r=>r.resolve())&&t.verb==="SUB"&&(this.confirmed.add(o),this.postponed.
delete(o)),t.verb==="UNSUB")for(;this.#r.answer(`RSUB:${o}`,r=>r.reject(te())););}else if(t.kind==="ERR")this.#_(t.code,
t.detail,e.slice(4));else if(t.kind==="PING")this.#e.send("PONG");else if(t.kind==="PONG"){let o=this.#a.shift();if(!o)return;
let r=E()-o.at;this.#c.proven(o.mark,E()),o.resolve(r),this.#n.ponged(r),this.#t.roundTrip(r)}else t.kind==="RECONNECT"&&
!this.drains?(this.drains=!0,this.#t.draining(this)):t.kind==="FEATURES"?this.#g(t.features.split(",")):t.kind==="LINK"&&
(this.#h=t.up,this.#u||this.#g())}#g(e=this.features??[]){this.#u=!1,this.features=e,this.#i(),this.link=this.#h,this.#t.
linked()}#_(e,t,o){if(this.#u&&e==="bad_request")return this.#g();let r=at(o);if(r&&(this.#p=o),this.#s.error(e,t))return;
let[,i,a,l]=/^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(t)??[];!(a!==void 0&&l!==void 0&&e!=="broker\
_unavailable"&&this.#r.answer(t,u=>u.reject(new _(e,void 0,i?{tenant:a,channel:l}:{tenant:a,pattern:l}))))&&!/^(token_|unauthorized|forbidden|closed_by)/.
test(e)&&this.#t.errorLine(this,e,t),(e==="token_revoked"||e==="token_expired")&&this.fail(r)}#k(e){if(this.alive)try{e()}catch(t){
this.#w(t)}}#w(e){this.fail(fe(e,"protocol","the edge broke the protocol"))}fail(e){this.#b(e),this.#e.close(),this.#d&&
this.#t.lost(this,e)}#x({closeCode:e,error:t}){if(!this.alive)return;let o=this.#p===void 0?void 0:at(this.#p,e),r=e===4401?
"token_expired":e===4403?"token_revoked":"disconnected",i=o?.code!=="slow_consumer"||e===4429,a="the connection has ende\
d";if(e===1009){a="a message was too large for the edge";let c=this.#s.tooLarge();c&&(this.#c.told(),this.#t.errorLine(this,
"payload_too_large",`PUB:${c.tenant}:${c.channel}`))}let l=o&&i?o:t??new _(r,a,{closeCode:e});this.#b(l),this.#d&&this.#t.
lost(this,l)}#b(e){this.alive=!1,this.error=e,this.#n.stop();let t=te(e);this.#i(),this.#r.reject(t),this.#s.fail();for(let o of this.#a)
o.reject(t);this.#a=[]}};var lt=class{#e;#t=[];start(e){let t=this.#t;this.#t=[],this.#e=e;for(let o of t)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(t=>t.line(e))}frame(e,t,o){this.#e?this.#e.frame(e,t,o):this.#t.push(r=>r.frame(e,t,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(t=>t.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var Gs=1<<20,zl=1e3;async function Ks({edge:n,token:e,signal:t},o){let{paths:r,runtime:i}=o,{promise:a,resolve:l,reject:c}=Kl(),
u=new lt,d=!1,h=await i.socket(n.replace("http","ws")+r.webSocket,e,o,{refused(w){d=!0,c(w)},bytes:()=>u.bytes()});h.binaryType!==
"nodebuffer"&&(h.binaryType="arraybuffer");let f=()=>h.terminate?h.terminate():h.close(),p=()=>{c(Ue(t)),f()};t.addEventListener(
"abort",p),t.aborted&&p();let m=!1,y,v;h.onerror=({error:w})=>{y=w},h.onopen=()=>{m=!0,t.removeEventListener("abort",p),
l({transport:"websocket",fragile:!1,start:w=>u.start(w),send:w=>m&&h.send(w),sent:()=>m&&h.bufferedAmount>Gs?b():void 0,
probe(){},close(){h.close(1e3),v??=setTimeout(()=>{f(),u.ended({})},zl)}})},h.onclose=({code:w})=>{clearTimeout(v),m?(m=
!1,u.ended({closeCode:w})):d||Gl(n+r.ping,o,t,y).then(c,c),t.removeEventListener("abort",p)},h.onmessage=({data:w})=>{typeof w==
"string"?u.line(w):ArrayBuffer.isView(w)?u.frame(new Uint8Array(w.buffer,w.byteOffset,w.byteLength),0,w.byteLength):u.frame(
new Uint8Array(w),0,w.byteLength)};async function b(){for(;m&&h.bufferedAmount>Gs;)await new Promise(w=>setTimeout(w,5))}
return a}async function Gl(n,e,t,o){return await rn(n,e,t)?new _("refused","the edge answers, and refuses the WebSocket:\
 perhaps the token, or this page's origin"):new _("unreachable","no WebSocket to the edge",{cause:o})}function Kl(){let n,
e;return{promise:new Promise((o,r)=>{n=o,e=r}),resolve:n,reject:e}}var mn=globalThis,Ql=mn.Deno!==void 0||mn.process?.versions?.node!==void 0,Qs=!Ql&&(mn.document!==void 0||mn.WorkerGlobalScope!==
void 0);var Vl=32<<20,Vs=(n,e,t)=>t>e&&n[e]<32,gn=class{#e;#t=[];#n=0;constructor(e=Vl){this.#e=e}get held(){return this.#n}push(e,t){
let o=0;if(!(this.#n>0&&(o=this.#o(e,t),this.#n>0))){for(;e.length-o>=4;){let r=o+4+this.#i(e,o);if(r>e.length)break;t(e,
o+4,r),o=r}o<e.length&&this.#r(e.slice(o))}}#o(e,t){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let r=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(r,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,t(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),t=0;for(let o of this.#t)e.set(o,t),t+=o.length;return this.#t=[
e],e}#i(e,t){let o=e[t]*16777216+(e[t+1]<<16|e[t+2]<<8|e[t+3]);if(o>this.#e)throw new _("protocol","a message that is to\
o long");return o}};var Ys=1e3,Yl=43,Zl=2e3,Zs=()=>"WebTransport"in globalThis;async function ei(n,{paths:e,hashes:t}){let{signal:o}=n,r=[],
i,a=()=>{clearTimeout(i),r.forEach(bn)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let h=()=>{let f=new WebTransport(
n.edge+e.webTransport,t?{serverCertificateHashes:[...t]}:{});r.push(f),f.closed.catch(()=>{}),f.ready.then(()=>u(f),d)};
h(),i=setTimeout(h,Zl)});for(let u of r)u!==l&&bn(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:at(
`${d}`)}),()=>({}));return await ec(l,c,n.token)}catch(l){throw a(),X(o),fe(l,"unreachable","no WebTransport to the edge")}finally{
clearTimeout(i),o.removeEventListener("abort",a)}}async function ec(n,e,t){let o=await n.createBidirectionalStream(),r=new lt,
i=new Fo(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=tc(n);i.send(`AUTH:${t}`);let d=new gn,h=(m,y,v)=>{if(Vs(
m,y,v))return r.frame(m,y,v);let b=Ae(m.subarray(y,v));if(c)return r.line(b);let w=Oo(b);w.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:Qs,start:k=>r.start(k),send:k=>i.send(k),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>bn(
n))}}:w.kind==="ERR"&&(l??=at(b.slice(4))??new _(w.code))},f=async()=>{let{value:m,done:y}=await a.read();return m&&(r.bytes(),
d.push(m,h)),!y},p;for(;!c;)if(!await f().catch(y=>{if(y instanceof _)throw y;return!1}))throw l??nc(await e);return(async()=>{
try{for(;await f(););}catch(v){v instanceof _&&(p=v)}i.close();let m={error:p},y=e.then(v=>m=v);p||await Pe(Ys,y),bn(n),
r.ended(m)})(),c}function tc(n){let e,t=!1,o=async()=>{let{writable:r,createWritable:i}=n.datagrams;e??=(r??i?.call(n.datagrams))?.
getWriter(),await e?.write(new Uint8Array(Yl))};return()=>{t||(t=!0,o().catch(()=>{}).finally(()=>{t=!1}))}}function nc({
closeCode:n,error:e}){let t=n===4401?"unauthorized":n===1001?"draining":n===1013?"unavailable":"unreachable";return e??new _(
t,"the connection has ended",{closeCode:n})}function bn(n){try{n.close({closeCode:1e3,reason:""})}catch{}}var Fo=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let t=typeof e=="string"?Ke(e):e,o=t.length,r=this.#n+
4+o;if(r>this.#t.length){let i=new Uint8Array(Math.max(r,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(t,this.#n+4),this.#n=r,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await Pe(Ys,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var oc=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,jo=(n,e)=>Zs()&&n.
startsWith("https:")&&!e.runtime.proxied(n,e),yn=class{#e;#t=new Map;#n=new Set;constructor(e){this.#e=e}forget(){this.#n.
clear()}prefer(e,t){this.#t.set(e,t)}async open(e,t,o,r={}){let i=this.#e,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=r,
c=a.filter(h=>h==="websocket"||jo(e,i));c.length===0&&N("there is no WebTransport here, not for http:// addresses, and n\
ot through a proxy");let u=c.filter(h=>!this.#n.has(h));if(u.length===0)throw new _("protocol_not_allowed");this.#t.get(
e)===u[1]&&u.reverse();let d=await ze(o,i.connectTimeout,h=>this.#o(u,e,t,l,h));return this.#t.set(e,d.transport),d}#o(e,t,o,r,i){
return new Promise((a,l)=>{let c,u=0,d=0,h,f=!1,p=()=>{f=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let y=e[d++];if(!y||
f)return;let v=y==="websocket"?Ks:ei;u++,v({edge:t,token:o,signal:i},this.#e).then(b=>{if(f)return rc(b);p(),a(b)},b=>{u--;
let w=fe(b,"unreachable","the edge does not answer");if(w.code==="protocol_not_allowed"&&this.#n.add(y),(!h||kt(w)>kt(h))&&
(h=w),!oc.test(w.code)&&(u>0||d<e.length))return m();p(),l(h)}),d<e.length&&(c=setTimeout(m,r))};i.addEventListener("abo\
rt",()=>{p(),l(Ue(i))}),m()})}};function rc(n){n.start({bytes(){},line(){},frame(){},ended(){}}),n.close()}function kt({
code:n}){return["unreachable","timeout","refused","protocol_not_allowed"].indexOf(n)>>>0}function wn(n,e){let t;try{t=new URL(n)}catch{}if(!t||!/^https?:$/.test(t.protocol)||t.username||t.password||t.search||t.
hash)throw new _("bad_option","an address is a URL with https:// and without user, query and fragment");if(t.protocol===
"http:"&&!e&&!sc(t.hostname))throw new _("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return t}function sc(n){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(n)}var ti=3,ic=500;async function Lo(n,e,t){let o,r=await Promise.all(n.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await ze(t,e.connectTimeout,l=>ac(a,e,l))}catch(l){return o=l,[]}})),i=[...new Set(r.flat())];if(X(t),i.length===
0)throw o??new _("unreachable","the list has no edge");return i.length>1&&(await ze(t,e.connectTimeout,a=>lc(i,e,a)).catch(
()=>{}),X(t)),i}async function ac(n,e,t){try{let o=await e.runtime.fetch(n.href,e,{cache:"no-store",credentials:"omit",signal:t});
if(!o.ok)throw new _("unreachable",`the list of edges: HTTP status ${o.status}`,{status:o.status});let{edges:r}=await o.
json();return r.map(({host:i})=>wn(`https://${i}`,!1).origin)}catch(o){throw fe(o,"unreachable","the list of edges")}}async function lc(n,e,t){
let o=new Map,r,i=new Promise(u=>{r=u}),a=async u=>{let d=[];for(;d.length<ti;){let h=E();if(!await rn(u+e.paths.ping,e,
t))return;d.push(E()-h)}d.sort((h,f)=>h-f),o.set(u,d[ti>>1]),r()},l=n.map(a);await Promise.race([Promise.all(l),i.then(()=>ce(
ic,t))]);let c=u=>o.get(u)??Number.MAX_VALUE;n.sort((u,d)=>c(u)-c(d))}var ni=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,cc=/^(unauthorized|token_expired|region_not|protocol_not)/,
dc=5,uc=6e4,hc=12e4,vn=class{#e;#t;#n;#o;#r;#s=[];#i=new Map;#a;#l=0;#c=0;#d=new Map;drained=new Set;constructor(e,t,o,r){
this.#e=e,this.#t=t,this.#n=o,this.#o=r,this.#r=new yn(t)}async first(e){await xe(this.#n.get(),e),this.#s=await Lo(this.#e,
this.#t,e);let t;for(let o of this.#s)try{return await this.open(o,e)}catch(r){if(!(r instanceof _)||ni.test(r.code)||r.
code==="token_provider")throw r;(!t||kt(r)>kt(t))&&(t=r)}throw t}async*order(e,t,o){for(;;){let r=this.#s.filter(a=>a!==
e),i=t?[e,...r]:r.length<this.#s.length?[...r,e]:r;for(let a of i)i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.
some(a=>a.pathname!=="/"))try{this.#s=await Lo(this.#e,this.#t,o)}catch{X(o)}}}wait(e){return Math.max(0,(this.#d.get(e)??
0)-E())}async open(e,t,o){let r=await this.#n.get();try{return await this.#u(e,r,t,o)}catch(i){if(!(i instanceof _&&/^(unauthorized|token_expired|refused)$/.
test(i.code))||!this.#n.provided)throw i;let l=await this.#n.ask();if(l===r)throw i;return this.#u(e,l,t,o)}}async#u(e,t,o,r){
t!==this.#a&&(this.#a=t,this.#i.clear(),this.#r.forget());let i=await this.#r.open(e,t,o,r).catch(l=>{let{retryAfter:c=0}=l;
throw this.#d.set(e,E()+Math.min(c,this.#t.maxBackOff)),l});this.drained.delete(e),this.#d.delete(e);let a=new fn(e,i,t,
this.#o,this.#t);if(a.error)throw a.error;return this.#l=0,this.#i.clear(),a}noteSilent({edge:e,transport:t,begun:o},r=!1){
t!=="webtransport"||!r&&E()-o>=hc||this.#r.prefer(e,r?t:"websocket")}hopeless(e,t,o){let{code:r}=t;r==="unreachable"&&this.
drained.delete(e);let i=r==="unauthorized"&&this.#n.provided;return i&&this.#n.failed(t),i||r==="refused"?o||this.drained.
has(e)?!1:(this.#l++===0&&(this.#c=E()),this.#l>=dc&&E()-this.#c>=uc):(this.#l=0,ni.test(r)?!0:cc.test(r)?(this.#i.set(e,
t),this.#s.every(a=>this.#i.has(a))):!1)}};var pc=1024,_n=class{#e=new Map;#t=[];#n=!1;constructor(e={}){for(let[t,o]of Object.entries(e))o&&this.on(t,o)}on(e,t){if(typeof t!=
"function")throw new _("bad_option",`the handler of ${e} must be a function`);let o=i=>t(i),r=this.#e.get(e)??new Set;return this.#e.
set(e,r.add(o)),()=>{r.delete(o)}}emit(e,t){this.#t.push([e,t])>pc&&this.#t.shift(),this.#n||this.#o()}async#o(){this.#n=
!0,await null;for(let e=this.#t.shift();e;e=this.#t.shift())for(let t of[...this.#e.get(e[0])??[]])try{await t(e[1])}catch(o){
ct(o)}this.#n=!1}};function ct(n){queueMicrotask(()=>{throw n})}var kn=class{settings;events;subscriber=new Gt(this);current;next;suspected;leaving=!1;gaps=!1;reconnecting=!1;place={edge:"",
transport:"websocket"};rtt;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e,t){this.settings=Ms(e,t),this.events=
new _n(e.on)}setCurrent(e){this.current=e,this.place={edge:e.edge,transport:e.transport},this.presences?.follow(),this.linked(),
this.change(),this.since&&this.follow(e)}follow(e){}change(){for(let e of this.#n.splice(0))e()}changed(){return new Promise(
e=>{this.#n.push(e)})}lose(){this.current=void 0,this.gaps=!1,this.presences?.follow()}async restore(e){await Promise.all(
[this.subscriber.restore(e),this.presences?.restore(e)])}delivered(e,t){t.position===void 0?this.subscriber.interests.dispatch(
t):this.histories?.stored(e,t,t.position)}presence(e,t,o,r){this.presences?.frame(e,t,o,r)}line(e,t){this.histories?.line(
e,t)}linked(){let{link:e,edge:t}=this.current??{};!this.since||!t||e===void 0||e===this.#e||(this.#e=e,this.events.emit(
e?"linkUp":"linkDown",{edge:t}))}reportUnread(e){let t=e.takeUnread(),{edge:o,transport:r}=e;t>0&&this.events.emit("publ\
ishUnknown",{edge:o,transport:r,count:t})}get waits(){return this.#t.size>0}hurry(){for(let e of[...this.#t])e()}pause(e,t){
return ce(e,t,this.#t)}get out(){return this.current}publishConnection(){if(this.over)throw this.over;let{out:e}=this;if(!e?.
alive)throw te();return e}get held(){return!1}whenOpen(e){return e()}};function oi(n){if(typeof n=="number")return n;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(n);if(!e){let i='exp\
iresIn is seconds, or a duration such as "1h30m" or "90s"';throw new _("bad_option",i)}let[t=0,o=0,r=0]=e.slice(1).map(i=>Number(
i??0));return(t*60+o)*60+r}var fc=2**31-1,ri=1e3,mc="token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";function gc(n,e){return n===
1/0?n:Math.max(0,Math.min(n*.9,n>5e3?n-5e3:n)-e*n/10)}var xn=class{#e;#t;failed;#n=new AbortController;#o;#r=1/0;#s;#i=!1;#a=-1/0;#l;#c=0;constructor(e,t,o){
this.#e=e,this.#o=e.token,this.#t=t,this.failed=o}get token(){return this.#o}get provided(){return this.#e.tokenProvider!==
void 0}get(){return this.#o!==void 0&&E()<this.#r?Promise.resolve(this.#o):this.ask()}ask(){return this.#s??=this.#d().finally(
()=>{this.#s=void 0,this.#i=!1}),this.#s}async renew(){this.#i&&await this.#s?.catch(()=>{}),await this.ask(),this.#t()}async#d(){
clearTimeout(this.#l);let{tokenProvider:e,connectTimeout:t,minBackOff:o}=this.#e,{signal:r}=this.#n;try{let i=this.#a+ri;
for(;E()<i;)await ce(i-E(),r);this.#i=!0;let l=await ze(r,t,c=>xe(Promise.resolve(e?.()),c)).finally(()=>{this.#a=E()});
return this.#u(typeof l=="object"?l:{token:l}),this.#o}catch(i){this.#r>0&&this.#r<1/0&&this.#h(Math.max(o,se(++this.#c+
1,this.#e)));let a=i?.name==="LoggedOutError",l=`the token provider ${a?"says that there will be":"gave"} no token`,c=new _(
a?"logged_out":"token_provider",l,{cause:i});throw this.#o!==void 0&&!r.aborted&&this.failed(c),c}}#u(e){Te("the token p\
rovider's answer",e,mc);let t=e.expiresIn??e.expires_in,o=e.expiresAt??e.expires_at,r=1/0;t!=null?r=oi(t)*1e3:o!=null&&(r=
new Date(o).getTime()-Date.now()),t==null&&r<=0&&(r=1/0),r>0||N("expiresIn must be above 0, expiresAt a time"),this.#o=Ht(
e.token),this.#r=E()+r,this.#c=0,this.#h(Math.max(ri,gc(r,Math.random())))}#h(e){if(this.#n.signal.aborted||!(e<1/0))return;
let t=this.#o;this.#l=setTimeout(()=>this.ask().then(o=>o!==t&&this.#t(),()=>{}),Math.min(e,fc))}expire(){this.provided&&
(this.#r=-1)}stop(){this.#n.abort(),clearTimeout(this.#l)}};var bc=2e3,dt=class extends kn{tokens;searcher;histories;presences;closed;task;#e;#t;constructor(e,t,o,r={}){super(t,o),
this.histories=r.history&&new r.history(this),this.presences=r.presence&&new r.presence(this),this.tokens=new xn(this.settings,
()=>this.moveIfDue(),i=>this.#n(i)),this.searcher=new vn(e,this.settings,this.tokens,this),this.closed=new Promise(i=>{this.#t=
i})}#n(e){let{code:t,message:o,cause:r}=e;t!=="logged_out"?this.events.emit("edgeError",{code:t,detail:o.slice(t.length+
2),cause:r}):this.since&&this.finish(e)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||N("there i\
s no tokenProvider that could give another token");try{await this.tokens.renew()}catch(e){throw this.over&&e.code!=="log\
ged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){try{let t=await this.
searcher.first(e);if(this.setCurrent(t),X(e),t.error)throw t.error;this.since=E(),this.#e=Ds(this),this.follow(t),this.events.
emit("connected",this.place),this.linked(),this.moveIfDue()}catch(t){throw this.tokens.stop(),this.current?.close(),t}}moveIfDue(){
let{current:e}=this;this.task||this.over||!e?.alive||(e.drains?this.run(t=>this.leave(e,"drain",t)):e.token!==this.tokens.
token&&this.run(t=>this.leave(e,"token",t)))}async leave(e,t,o){await Pe(bc,e.ping(),e.ended),X(o);let r=t==="drain";e.fail(
new _(r?"draining":"disconnected",r?"the edge asks to leave":"another token"))}run(e){this.task?.abort();let t=new AbortController;
this.task=t,e(t.signal).then(()=>{this.task===t&&(this.task=void 0,this.current?.alive&&this.moveIfDue())},o=>{this.task===
t&&this.finish(fe(o,"internal","a fault of this client"))})}watch(e){return new st(e,this.settings)}draining(e){this.searcher.
drained.add(e.edge),e===this.current&&this.moveIfDue()}errorLine(e,t,o){this.presences?.ended(e,t,o);let[,r,i]=/^PUB:([^:]+):(.+)$/s.
exec(o)??[];t==="slow_consumer"?this.events.emit("slowConsumer",{dropped:Number(o)}):t==="egress_limited"?this.events.emit(
"egressLimited",{delay:Number(o)*1e3}):r&&i&&t!=="broker_unavailable"?this.events.emit("publishError",{tenant:r,channel:i,
code:t}):this.events.emit("edgeError",{code:t,detail:o})}roundTrip(e){this.rtt=e,this.events.emit("roundTrip",{rtt:e})}silent(e){
return!1}woke(e){}lost(e,t){this.reportUnread(e);let o=e.token===this.tokens.token;if((/_not_allowed$|^token_revoked$/.test(
t.code)||t.code==="token_expired"&&!this.tokens.provided)&&o&&!this.spare(e))return this.finish(t);t.closeCode===void 0&&
/^(disconnected|timeout)$/.test(t.code)&&this.searcher.noteSilent(e),this.replace(e,t)}spare(e){return!1}replace(e,t){e===
this.current&&!this.reconnecting&&this.run(o=>Ls(this,e,t,o))}slept(){this.#o(!1)}networkChanged(){this.#o(!0)}#o(e){for(let t of[
this.current,this.next])t?.awake(e);this.hurry()}finish(e){if(this.over)return;this.over=new _("closed","the client has \
been closed",e?{cause:e}:{}),this.task?.abort(),this.tokens.stop(),this.#e?.(),e||this.presences?.leaveAll();let t=this.
end(e);this.change(),this.subscriber.end(e,this.over),this.presences?.end(e,this.over),this.events.emit("closed",{error:e}),
Promise.all(t).then(()=>this.#t(e))}end(e){let{current:t}=this;return t&&e&&this.reportUnread(t),[t?.close()]}};var yc=500;async function si(n,e,t){for(n.events.emit("suspect",n.place),n.gate??=[];n.merger&&!n.merger.done(E());)await ce(
50,t);n.merger=new it,n.both=n.tentative=!0;let o=0;for await(let r of n.searcher.order(e.edge,!1,t)){await n.pause(Math.
max(se(++o,n.settings),n.searcher.wait(r)),t);let i;try{i=await n.searcher.open(r,t,{fallbackAfter:yc})}catch(l){if(X(t),
l instanceof _)continue;throw l}if(t.aborted)return void i.close();if(!i.alive)continue;n.next=i,n.merger.joined(E());let a=n.
restore(i);if(i.ping().catch(()=>{}),await a,X(t),n.next===i)return n.takeOver(e,i)}}var Xo=1e3,Sn=class{#e=new we;#t=new we;#n=new we;constructor(e,t,o){for(let{key:r}of e)this.#e.put(r,t);if(o){for(let{key:r,
time:i,message:a}of o.#t.all)this.#t.put(r,i,a);for(let{key:r,time:i}of o.#n.all)this.#n.put(r,i)}}fromCurrent(e,t){let o=Je(
e);return this.#n.dropUntil(t-Xo),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,t),!0)}fromTrail(e,t){let o=Je(e);if(this.#e.
take(o))return;let r=this.#t.put(o,t,{...e});return r&&this.#n.put(r.key,r.time),r?.message}renew(e){for(let t of this.#t.
all)t.time=e}due(e){return this.#t.dropUntil(e-Xo)}get nextDue(){let e=this.#t.oldest;return e&&e.time+Xo}};var ii=15e3,wc=6e4,Tn=class{#e;late;#t;#n;#o=!0;#r=!1;#s=E();#i;#a;constructor(e,t,o,r,i){this.#e=e,this.late=new Sn(t,E(),
i?.late),this.#t=o,this.#n=r,this.#i=setTimeout(()=>this.#l(),ii),i?.stop(),e.handTo(this),e.alive?this.#d():this.#c()}fromCurrent(e){
return this.late.fromCurrent(e,E())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(E()),this.#d())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#l(){let e=Math.
min(this.#e.lastByte+ii,this.#s+wc)-E();e>0?this.#i=setTimeout(()=>this.#l(),e):this.#c()}#c(){this.#o&&(this.stop(),this.#d())}#d(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let t of this.late.due(E()))this.#t(t);this.#d()},Math.max(1,e-E()))}delivered(e,t){if(t.position!==void 0)return;
let o=this.late.nextDue===void 0,r=this.late.fromTrail(t,E());r&&this.#t(r),o&&this.#d()}woke(e){for(let o of e.asked)e.
request("UNSUB",o).catch(()=>{});let t=()=>this.#c();e.ping().then(t,t)}lost(){this.#c()}silent(){return!1}line(){}presence(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var Uo=6e4,vc=60*Uo,_c=2*Uo,kc=1e4,xc=2e3;function ai(n,e){return Math.min((4+2*e)*Uo*2**n,vc)}var En=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},_c)):
!this.#n&&this.#s(e)&&this.#i(ai(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
xc,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:t}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&jo(t,this.#e.settings)}#i(e,t=!0){
clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(t)},e)}async#a(e){let t=this.#e,{current:o}=t;if(!o||!t.idle||this.#r)
return this.#i(kc,e);if(!this.#s(o)){this.#n=void 0;return}let r=this.#t+Number(e);this.#i(ai(r,Math.random()));let i=new AbortController;
this.#r=i;let a=await t.searcher.open(o.edge,i.signal,{transports:["webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=
void 0),i.signal.aborted||(this.#t=r),a&&!i.signal.aborted&&t.current===o&&t.idle?t.run(l=>dn(t,o,"transport",l,a)):(a?.
close(),t.moveIfDue())}};var Sc=3e3,Cn=class extends dt{tentative=!1;trail;publishOn;gate;merger;both=!1;#e=new En(this);follow(e){this.#e.follow(
e)}leave(e,t,o){return dn(this,e,t,o)}get idle(){let{current:e,merger:t}=this;return!this.task&&!this.over&&e?.alive===!0&&
!e.drains&&(!t||t.done(E()))}watch(e){return new an(e,this.settings)}delivered(e,t){if(t.position!==void 0)return super.
delivered(e,t);if(!this.merger)return this.#t(t);let o=E();if(e===this.next){let r=this.current?.confirmed,i=!t.route.patterns.
some(l=>r?.has(`${t.tenant}:${l}`)),a=this.merger.fromNext(t,o,i);a&&this.#t(a)}else this.both?this.merger.fromCurrent(t,
o)&&this.#t(t):(this.merger.late(t,o)||this.#t(t),this.merger?.done(o)&&(this.merger=void 0))}#t(e){(!this.trail||this.trail.
fromCurrent(e))&&this.subscriber.interests.dispatch(e)}silent(e){let{current:t}=this;return e===this.next&&this.tentative&&
E()-e.lastByte>=Sc&&e.fail(new _("timeout","the edge does not answer")),e!==t||this.task||this.gate||this.over||this.reconnecting||
!this.since||t.drains?!1:(this.suspected=e,this.trail?.hold(!0),this.searcher.noteSilent(e),this.run(o=>si(this,e,o)),!0)}woke(e){
e===this.suspected&&(this.searcher.noteSilent(e,!0),this.task?.abort(),this.task=void 0,this.next?.close(),this.next=void 0,
this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(void 0),this.moveIfDue())}spare(e){
return e===this.next&&this.suspected!==void 0}replace(e,t){if(e===this.next&&!this.leaving){let o=this.spare(e);this.next=
void 0,o?this.merger?.orphan():this.openGate(void 0)}else e===this.current&&!this.suspected&&(this.gate||this.publishOn)?
this.promote():(e===this.current||e===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),e===this.current&&(this.next?.
close(),this.next=void 0,this.#n()),this.promote(),super.replace(e,t))}lose(){super.lose(),this.merger=void 0,this.both=
this.leaving=this.tentative=!1,this.openGate(void 0)}networkChanged(){super.networkChanged(),this.#e.soon()}promote(){let{
current:e,next:t}=this;t&&(e&&this.reportUnread(e),this.setCurrent(t),this.next=void 0,this.merger?.left(E()),this.both=
this.leaving=!1,this.openGate(void 0),this.#n(),e?.close(),this.histories?.resume(t))}takeOver(e,t){this.trail?.hold(!1);
let o=new Tn(e,this.merger?.given??[],i=>this.subscriber.interests.dispatch(i,!0),()=>{this.trail===o&&(this.trail=void 0)},
this.trail);this.trail=o;let r=E()-on(e.lastByte);this.reportUnread(e),this.suspected=this.next=void 0,this.merger?.left(
E()),this.both=this.tentative=!1,this.setCurrent(t),this.since=E(),this.events.emit("recovered",{...this.place,away:r}),
this.#n(),this.openGate(void 0),this.histories?.resume(t)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.
both&&this.merger?.keepCurrent(E()),this.both=this.tentative=!1}#n(){for(let e of this.merger?.release()??[])this.#t(e)}get out(){
return this.publishOn??this.current}get held(){return this.gate!==void 0}whenOpen(e){return this.gate?new Promise((t,o)=>{
this.gate?.push(()=>{try{t(e())}catch(r){o(r)}})}):e()}openGate(e){this.publishOn=e;let t=this.gate??[];this.gate=void 0;
for(let o of t)o()}end(e){let{current:t,next:o,trail:r}=this;this.#e.stop();for(let a of[t,o])a&&(e||a===this.suspected)&&
this.reportUnread(a);let i=[t?.close(),o?.close(),r?.stop()];return this.openGate(void 0),e&&(this.#n(),r?.flush()),i}};var Pn=class{tenant;channel;ended;verb="JOIN";#e;#t;constructor(e,t,o){this.tenant=e,this.channel=t,this.#e=o,this.ended=
new Promise(r=>{this.#t=r})}async leave(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.
leave()}end(e){this.#t(e)}};var An=(n,e)=>n===e||typeof n=="object"&&typeof e=="object"&&n.text===e.text,Jo=n=>n.includes(":"),$n=class{members=new Map;counts=new Map;get(e){
return Jo(e)?this.members.get(e):this.counts.get(e)??0}count({channel:e,members:t}){t>0?this.counts.set(e,t):this.counts.
delete(e)}put(e,t){let{channel:o,subject:r,here:i,since:a,info:l}=t,c=this.members.size;if(i){let d={channel:o,subject:r,
info:Tc(l),since:new Date(a)};this.members.set(e,{member:d,text:`${a} ${l}`})}else this.members.delete(e);let u=(this.counts.
get(o)??0)+this.members.size-c;this.count({channel:o,members:u})}};function Tc(n){try{return n?JSON.parse(n):void 0}catch{
return}}var Mn=class{#e;#t=new WeakMap;#n=new $n;#o=new Map;#r;#s;constructor(e){this.#e=e}get members(){return this.#r??=
Object.freeze([...this.#n.members.values()].map(({member:e})=>e).sort((e,t)=>li(e.channel,t.channel)||li(e.subject,t.subject))),
this.#r}get counts(){return this.#s??=new Map([...this.#n.counts,...this.#o].filter(([,e])=>e>0)),this.#s}get(e){return this.#o.
get(e)??this.#n.get(e)}begin(e){this.#t.set(e,{roster:void 0,next:void 0})}end(e){this.#t.delete(e)}hasSynced(e){return this.#t.
get(e)?.roster!==void 0}take(e,t,o,r){let i=this.#t.get(e);if(!i)return;let{first:a,synced:l,counts:c,channels:u,members:d}=o;
if(c&&!r){if(e===t)for(let p of u)this.#l(p.channel,!0,()=>this.#i(p));return}a&&(i.next=new $n);let h=i.next??i.roster;
if(!h)return;let f=(p,m)=>{h===this.#n?this.#l(p,!1,m):m()};for(let p of u)f(p.channel,()=>h.count(p));for(let p of d){let{
channel:m,subject:y}=p,v=`${m}:${y}`;f(m,()=>f(v,()=>h.put(v,p))),h===this.#n&&h.get(m)===this.#o.get(m)&&this.#o.delete(
m)}l&&(i.roster=h,i.next=void 0,e===t&&(this.follow(e),this.#a()))}follow(e){let t=this.#t.get(e)?.roster,o=this.#n;if(!(!t||
t===o)){this.#n=t,this.#c();for(let{members:r,counts:i}of[o,t])for(let a of[...r.keys(),...i.keys()])!this.#o.has(a)&&!An(
o.get(a),t.get(a))&&this.#d(a,o.get(a),!1);this.#a()}}#i({channel:e,members:t}){t===this.#n.get(e)?this.#o.delete(e):this.#o.
set(e,t)}#a(){for(let e of[...this.#o.keys()])this.#l(e,!0,()=>this.#o.delete(e))}#l(e,t,o){let r=this.get(e);o(),this.#c(),
An(r,this.get(e))||this.#d(e,r,t)}#c(){this.#r=this.#s=void 0}#d(e,t,o){for(let r of this.#e)r.note(e,t,o)}},li=(n,e)=>n<
e?-1:n>e?1:0;var Ec=Object.freeze([]),On=class{tenant;pattern;ended;verb="WHO";count;watch;#e;#t;#n=new Map;#o=[];#r=!1;#s=!1;#i=!1;#a=!1;#l;#c;constructor(e,t,o,{
count:r=!1,onChange:i}){this.tenant=e,this.pattern=t,this.count=r,this.#e=o,this.#t=i,this.ended=new Promise(a=>{this.#c=
a})}get members(){return this.count?Ec:this.watch.members}get counts(){return this.watch.counts}get synced(){return!this.#a&&
this.#e.isSynced(this)}async close(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncDispose](){return this.close()}[Symbol.
asyncIterator](){let e=!1;return{next:()=>{let t=e?void 0:this.#d();if(t)return Promise.resolve({done:!1,value:t});if(!e&&
!this.#a)return new Promise((r,i)=>{this.#o.push({resolve:r,reject:i})});let o=e?void 0:this.#l;return e=!0,o?Promise.reject(
o):Promise.resolve({done:e,value:void 0})},return:async()=>(e=!0,await this.close(),{done:e,value:void 0})}}#d(){for(let[
e,t]of this.#n){this.#n.delete(e);let o=this.watch.get(e);if(typeof o=="number")return{type:"counts",channel:e,count:o};
let{member:r}=o??t;return{type:o?t?"changed":"joined":"left",channel:r.channel,member:r}}}note(e,t,o){this.#s=!0,!(!this.#r||
!(Jo(e)?!this.count:this.count||o))&&(this.#n.has(e)?An(this.#n.get(e),this.watch.get(e))&&this.#n.delete(e):this.#n.set(
e,t))}opened(){this.#r=this.#i=!0,this.#s=!1}update(){for(;this.#o.length>0;){let o=this.#d();if(!o)break;this.#o.shift()?.
resolve({done:!1,value:o})}let{synced:e}=this,t=this.#a&&!this.#l;if(this.#r&&!t&&(this.#s||e!==this.#i))try{this.#t?.(this)}catch(o){
ct(o)}this.#s=!1,this.#i=e}end(e){if(!this.#a){this.#a=!0,this.#l=e,e||this.#n.clear(),this.update();for(let t of this.#o.
splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});this.#c(e)}}};function ci(n,e,t){let o=new DataView(n.buffer,n.byteOffset,t),r=e+1,i=h=>(r+=h,r>t&&Ee(),r-h),a=()=>o.getUint8(i(1)),l=()=>o.
getUint16(i(2)),c=h=>Ae(n.subarray(i(h),r)),u=a(),d={first:(u&1)!==0,synced:(u&2)!==0,counts:(u&4)!==0,tenant:c(l()),pattern:c(
l()),members:[],channels:[]};for(let h=l();h>0;h--)if(d.counts)d.channels.push({channel:c(l()),members:o.getUint32(i(4))});else{
let f=a();f>1&&Ee();let p={channel:c(l()),subject:c(a()),here:f===1,since:0,info:""};p.here&&(p.since=Number(o.getBigUint64(
i(8))),p.info=c(l())),d.members.push(p)}return r!==t&&Ee(),d}var di=n=>`${n.verb}:${n.tenant}:${n.verb==="JOIN"?n.channel:n.pattern}`,hi=n=>n.verb==="WHO"&&n.count,Bo=({holders:n,waiting:e})=>n.
length>e.size,In=class{asking=new Set;#e=new Map;#t;constructor(e){this.#t=e}get#n(){return[this.#t.current,this.#t.next].
filter(e=>e!==void 0)}async join(e,t){let o=new Pn(e,t,this);return await this.add(o),o}async watch(e,t,o){Te("the objec\
t of options",o,"count onChange");let{count:r=!1,onChange:i}=o;typeof r!="boolean"&&N("count must be true or false"),i&&
typeof i!="function"&&N("onChange must be a function");let a=new On(e,t,this,o);return await this.add(a),a}async add(e){
let{current:t,leaving:o,over:r}=this.#t;if(r)throw r;let i=di(e),a=this.#e.get(i)??Cc(e,i);if(a.counting&&!hi(e))throw new _(
"bad_option","the client counts the members of this pattern, and can only do that",a.about);this.#e.set(i,a),a.holders.push(
e),e.verb==="WHO"&&(e.watch=a.watch);let l=new Promise((c,u)=>{a.waiting.set(e,{resolve:c,reject:u})});this.#u(a);for(let c of this.#n)
!a.on.has(c)&&!(o&&c===t)&&this.#i(c,a);return l}async restore(e){await Promise.all([...this.#e.values()].map(t=>this.#i(
e,t)))}hasSynced(e){return[...this.#e.values()].every(({watch:t,on:o})=>!t||!o.has(e)||t.hasSynced(e))}isSynced(e){let{current:t}=this.#t;
return t?.alive===!0&&e.watch.hasSynced(t)}frame(e,t,o,r){this.#o(e,ci(t,o,r))}#o(e,t){let o=this.#e.get(`WHO:${t.tenant}\
:${t.pattern}`);o?.watch?.take(e,this.#t.current,t,o.counting),o&&this.#u(o)}follow(){let{current:e}=this.#t;for(let t of this.#e.
values())e&&t.watch?.follow(e),this.#u(t)}ended(e,t,o){let r=this.#e.get(o);!r||t!=="no_presence"||(this.#c(e,r),this.#u(
r))}async leave(e){let t=this.#e.get(di(e)),o=t?.holders.indexOf(e)??-1;if(!t||o<0||(t.holders.splice(o,1),t.holders.length>
0))return;let r=this.#s(t);await(this.#t.suspected&&r.length>0?Promise.race(r):Promise.all(r))}leaveAll(){for(let e of this.#e.
values())e.verb==="JOIN"&&this.#r(e)}end(e,t){for(let{key:o,holders:r,waiting:i}of this.#e.values()){this.#e.delete(o);for(let a of r)
a.end(e);for(let{reject:a}of i.values())a(e??t)}}#r({key:e,name:t,undo:o,on:r,watch:i}){return this.#n.flatMap(a=>{let l=r.
get(a);return r.delete(a),i?.end(a),a.forget(e),l===void 0||l==="wanted"?[]:a.leave(t,o)})}#s(e){return this.#e.delete(e.
key),this.#r(e)}#i(e,t){t.on.set(e,"wanted");let o=this.#a(e,t).finally(()=>this.asking.delete(o));return this.asking.add(
o),o}async#a(e,t){let{verb:o,name:r,key:i,about:a,on:l,counting:c}=t,u=()=>this.#e.get(i)===t,{settings:d,events:h}=this.#t;
try{await e.featured,await e.ending.get(`${t.undo}:${r}`);for(let f=2;;f++){if(!e.alive||!u())return;if(!e.features?.includes(
"presence"))throw new _("no_presence","the edge has none",a);l.set(e,"sent"),t.watch?.begin(e);try{await e.request(o,r,c?
":count":"");break}catch(p){let{code:m}=p;if(m!=="try_later"||!Bo(t))throw p;f===2&&h.emit("subscriptionError",{...ui(t),
code:m})}if(!u())return;l.set(e,"wanted"),await e.postpone(i,se(f,d))}if(!u())return;e.postponed.delete(i),l.set(e,"held"),
this.#u(t)}catch(f){let p=fe(f,"internal","a fault of this client");p.code!=="disconnected"&&u()&&this.#l(e,t,p)}}#l(e,t,o){
let{holders:r,waiting:i,on:a,key:l}=t,{suspected:c,next:u,current:d}=this.#t,{code:h}=o;if(h==="no_presence"&&Bo(t)){for(let[
f,{reject:p}]of i)r.splice(r.indexOf(f),1),p(o);i.clear(),this.#c(e,t),this.#t.events.emit("edgeError",{code:h,detail:l})}else
c&&e===u&&d&&a.get(d)==="held"?e.fail(o):this.#d(t,o)}#c(e,{on:t,watch:o}){t.delete(e),o?.end(e)}#d(e,t){this.#s(e),Bo(e)&&
this.#t.events.emit("subscriptionError",{...ui(e),code:t.code});for(let o of e.holders)o.end(t);for(let{reject:o}of e.waiting.
values())o(t)}#u(e){let{holders:t,waiting:o,on:r}=e;for(let i of[...t])(i.verb==="WHO"?this.isSynced(i):this.#n.some(l=>r.
get(l)==="held"))&&o.has(i)?(o.get(i)?.resolve(),o.delete(i),i.verb==="WHO"&&i.opened()):i.verb==="WHO"&&i.update()}};function Cc(n,e){
let{verb:t,tenant:o}=n,r=[];return{verb:t,undo:t==="WHO"?"UNWHO":"LEAVE",name:e.slice(t.length+1),key:e,about:t==="WHO"?
{tenant:o,pattern:n.pattern}:{tenant:o,channel:n.channel},holders:r,waiting:new Map,on:new WeakMap,watch:t==="WHO"?new Mn(
r):void 0,counting:hi(n)}}var ui=({about:n})=>({pattern:"",...n});var pi={history:Qt,presence:In,moves:Cn};var fi={};function Wo(n,e,t){return n??N(`${t}: add import "@millrace/client/${e}", or import all from "@millrace/client\
"`)}var Rn="[\\w\\-~@]+",Pc=/^[\w\-~@.]{1,128}$/,Ac=new RegExp(`^(?=.{1,256}$)${Rn}(\\.${Rn}){0,31}$`),$c=new RegExp(`^(?=.{\
1,256}$)((${Rn}\\*?|\\*)\\.){0,31}(${Rn}[*>#]?|[*>#])$`),Mc=n=>Pc.test(n),Oc=n=>Ac.test(n),Ic=n=>$c.test(n),Rc="~";function xt(n){
return zo("tenant",Mc,n===""?Rc:n)}function Ho(n,e){return zo("channel",Oc,n,e)}function qo(n,e){return zo("pattern",Ic,
n,e)}function zo(n,e,t,o){if(typeof t!="string"||!e(t)){let r={...o===void 0?{}:{tenant:o},[n]:String(t).slice(0,256)};throw new _(
`bad_${n}`,"not a legal name, see docs/protocol.md, Names",r)}return t}var Nn=class{#e;#t=new Array(16);#n=0;#o=0;constructor(e){this.#e=e}get size(){return this.#o}get full(){return this.#o>=
this.#e}push(e){let t=this.#t;this.#o===t.length&&(this.#t=[...t.slice(this.#n),...t.slice(0,this.#n),...new Array(t.length)],
this.#n=0),this.#t[this.#n+this.#o++&this.#t.length-1]=e}shift(){if(this.#o===0)return;let e=this.#t[this.#n];return this.#t[this.#n]=
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}clear(){this.#t=new Array(16),this.#n=this.#o=0}};var Nc=1e3,Dn=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];#r=!1;#s;#i;#a=0;#l=-1/0;#c;#d;#u;constructor(e,t,o,r){this.
tenant=e,this.pattern=t,this.#e=o,this.#t=r,this.#n=new Nn(r.queue),this.history=r.history,this.#d=this.#u=r.history?.position,
this.ended=new Promise(i=>{this.#i=i})}get position(){return this.#n.size===0?this.#d:this.#u}async unsubscribe(){this.end(
void 0),await this.#e.leave(this)}[Symbol.asyncIterator](){if(this.#t.onMessage)throw new _("bad_option","a subscription\
 with a callback cannot be iterated");let e=!1;return{next:()=>{if(e)return Promise.resolve({done:e,value:void 0});let t=this.#n.
shift();return t?(this.#u=t.position??this.#u,this.history?.paused&&this.#n.size*2<=this.#t.queue&&this.#e.wasRead(this),
Promise.resolve({done:!1,value:t})):this.#r?(e=!0,this.#s?Promise.reject(this.#s):Promise.resolve({done:e,value:void 0})):
new Promise((o,r)=>{this.#o.push({resolve:o,reject:r})})},return:async()=>(e=!0,await this.unsubscribe(),{done:e,value:void 0})}}#h(e){
let{onMessage:t}=this.#t;if(t){try{let r=t(e);r instanceof Promise&&r.catch(ct)}catch(r){ct(r)}return!0}let o=this.#o.shift();
return o?.resolve({done:!1,value:e}),o!==void 0}pushStored(e){if(this.#r)return!0;let t=this.#h(e);return!t&&this.#n.full?
(this.#p(),!0):(this.#d=e.position,t?this.#u=e.position:this.#n.push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){
this.#d=e}#p(){this.end(new _("queue_full","messages were not read in time",this)),this.#e.leave(this)}push(e){if(this.#r||
this.#h(e))return;let{queuePolicy:t}=this.#t;if(!this.#n.full)return this.#n.push(e);if(t==="end")return this.#p();t==="\
drop-oldest"&&(this.#n.shift(),this.#n.push(e)),this.#a++,this.#c??=setTimeout(()=>this.#f(),Math.max(0,this.#l+Nc-E()))}#f(){
clearTimeout(this.#c),this.#c=void 0,this.#l=E(),this.#a>0&&this.#e.queueFull(this,this.#a),this.#a=0}end(e){if(!this.#r){
this.#r=!0,this.#s=e,e||this.#n.clear(),this.#f();for(let t of this.#o.splice(0))e?t.reject(e):t.resolve({done:!0,value:void 0});
this.#i(e)}}};async function mi(n,e,t,o=fi){let r=typeof e=="string"?[e]:e;(!t||!r?.length)&&N("connect needs an address and options");
let i=new(o.moves??dt)(r.map(l=>wn(l,t.allowPlaintext===!0)),t,n,o),{signal:a=new AbortController().signal}=t;return X(a),
await xe(i.start(a),a),new Go(i)}var Go=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get#t(){return Wo(
this.#e.histories,"history","histories and confirmed publishes")}get#n(){return Wo(this.#e.presences,"presence","presenc\
e")}get edge(){return this.#e.place.edge}get transport(){return this.#e.place.transport}get rtt(){return this.#e.rtt}on(e,t){
return this.#e.events.on(e,t)}async subscribe(e,t,o={}){let r=this.#e;Te("the object of options",o,"onMessage history qu\
eue queuePolicy");let{onMessage:i}=o;i&&typeof i!="function"&&N("onMessage must be a function");let a=new Dn(xt(e),qo(t),
r.subscriber,{...ko(o,r.settings),onMessage:i,history:o.history===void 0?void 0:this.#t.begin(o.history,t)});return await r.
subscriber.subscribe(a),a}async publish(e,t,o,r){let i=this.#e;r!==void 0&&Te("the object of options",r,"delivery confir\
m key");let{delivery:a="broadcast",confirm:l=!1,key:c}=r??{},u=Ro.indexOf(a);u<0&&N(`delivery: allowed are ${Ro.join(", ")}`),
typeof o!="string"&&o?.[Symbol.toStringTag]!=="Uint8Array"&&N("the payload must be a Uint8Array or a string");let d={tenant:xt(
e),channel:Ho(t)};if(l){let f=Ke(c??"");c!==void 0&&!(f.length>0&&f.length<=64)&&N("a key has 1 to 64 bytes");let p=m=>No(
d.tenant,d.channel,o,u,{id:m,key:f});return this.#t.publish(p,c!==void 0,d)}c!==void 0&&N("a key is for a publish that i\
s confirmed");let h=No(d.tenant,d.channel,o,u||void 0);return i.publishConnection(),i.whenOpen(()=>i.publishConnection().
publish(h,d))}async join(e,t){let o=xt(e);return this.#n.join(o,Ho(t,o))}async presence(e,t,o={}){let r=xt(e);return this.#n.
watch(r,qo(t,r),o)}async flush(){let e=this.#e;e.publishConnection(),await e.whenOpen(()=>e.publishConnection().ping())}renewToken(){
return this.#e.renewToken()}retry(){this.#e.retry()}async close(){this.#e.finish(void 0),await this.closed}[Symbol.asyncDispose](){
return this.close()}};var gi=(n,e)=>mi(Wt,n,e,pi);var bi=500,Dc=250;function wi(n,e){let[t,o]=g({state:"off",note:""}),[r,i]=g(!1),[,a]=g(0),l=Z(void 0),c=Z({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=ge(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=ge(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:fs(b.payload),late:b.late}),c.messages.length>bi&&c.messages.splice(0,c.messages.length-bi),c.timer===0&&(c.timer=
window.setTimeout(u,Dc))},[c,u]),h=ge(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);I(()=>()=>{clearTimeout(c.timer),h()},[c,h]),I(()=>(addEventListener("pagehide",h),()=>removeEventListener(
"pagehide",h)),[h]);let f=ge(async b=>{h();let w={query:b,end:new AbortController};l.current=w;let k=()=>l.current===w,C=j=>{
k()&&o(j)};C({state:"connecting",note:""});try{let j=await yi(n,b,!1),ie=await gi(e,{transports:["websocket","webtranspo\
rt"],tokenProvider:async()=>{let{token:$e,expires_in:me}=j??await yi(n,b,!0);return j=void 0,{token:$e,expiresIn:me}},signal:w.
end.signal});if(!k())return void ie.close();w.client=ie,Fc(ie,C),await ie.subscribe(b.tenant,b.pattern,{onMessage:d}),C(
{state:"on",note:vi(ie)})}catch(j){if(!k())return;h(),o({state:"off",error:`The tail did not start. ${Fn(j)}`,note:""})}},
[n,e,d,h]),p=ge(async(b,w,k)=>{let C=l.current;if(!C?.client)throw new Error("there is no connection; start the tail fir\
st");try{await C.client.publish(C.query.tenant,b,w,{delivery:k}),await C.client.flush()}catch(j){throw new Error(Fn(j))}},
[]),m=()=>{c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},y=()=>{c.paused=!c.paused,i(c.paused),u()},v=l.current?.
query.publish===!0;return{...t,error:t.error,messages:c.shown,received:c.received,held:c.held,paused:r,publishes:v,start:f,
stop:h,pause:y,clear:m,publish:p}}var vi=n=>`by ${n.transport==="websocket"?"WebSocket":"WebTransport"} at ${n.edge}`,yi=(n,e,t)=>n.
call("POST","live-token",{body:e,background:t});function Fc(n,e){let t=(r="")=>e({state:"on",note:`${vi(n)}${r}`}),o=r=>e(
{state:"broken",note:r});n.on("disconnected",({error:r})=>o(`The connection is lost: ${Fn(r)} Messages of this time are \
missed.`)),n.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),n.on("recovered",()=>t()),n.on(
"reconnected",({away:r})=>t(`, after ${(r/1e3).toFixed(1)} s without a connection`)),n.on("moved",()=>t()),n.on("slowCon\
sumer",({dropped:r})=>t(`; the edge dropped ${r} messages, since this page reads too slowly`)),n.on("egressLimited",()=>t(
"; messages come late, since there are more than the tail may receive")),n.on("linkDown",()=>t("; the edge has lost the \
other edges, and nothing comes from there")),n.on("linkUp",()=>t()),n.on("publishError",({channel:r,code:i})=>t(`; the e\
dge refused the message to ${r}: ${i}`)),n.on("subscriptionError",({code:r})=>o(`The edge refuses the subscription: ${r}\
.`)),n.on("edgeError",({code:r,detail:i})=>t(`; ${r} ${i}`)),n.on("closed",({error:r})=>{r&&e({state:"off",error:`The ta\
il has ended. ${Fn(r)}`,note:""})})}var jc={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no lega\
l name of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"Th\
e edge does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its\
 token was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function Fn(n){return n instanceof _?n.cause instanceof G?ee(n.cause):`${jc[n.
code]??ee(n)} (${n.code})`:ee(n)}var Lc=[["text","text"],["json","JSON"],["hex","hex"]],Xc={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function _i({query:n}){let{api:e,session:t}=M(),o=z(),[r,i]=g(n.tenant??
""),[a,l]=g(n.pattern??"#"),[c,u]=g(!1),[d,h]=g("text"),[f,p]=g(),m=wi(e,t.live_url||location.origin),[y,v]=Xc[m.state],
b=m.state!=="off",w=()=>{if(!pe(r))return p("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return p(
"Name a pattern; # is every channel.");p(void 0),history.replaceState(null,"",$("live",{tenant:r,pattern:a})),m.start({tenant:r,
pattern:a,publish:c&&o})};return s(S,{children:[s(Q,{text:"Live"}),s("p",{class:"quiet",children:"Shows messages as they\
 come. Each use is noted by the audit hook."}),s("form",{class:"filters","aria-label":"Live messages",onSubmit:k=>{k.preventDefault(),
b||w()},children:[s(x,{label:"Tenant",value:r,onInput:k=>i(k.trim()),mono:!0,readOnly:b}),s(x,{label:"Pattern",value:a,onInput:k=>l(
k.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&s(Se,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),s("div",{class:"buttons",children:[b?s("button",{type:"button",onClick:m.
stop,children:"Stop"}):s("button",{type:"submit",class:"primary",children:"Start"}),b&&s("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),s(Fe,{text:f??m.error}),s("p",{role:"status",
"aria-label":"Connection",children:[s(O,{mood:y,children:v})," ",m.note]}),b&&m.publishes&&s(Ss,{tail:m}),s("section",{"\
aria-labelledby":"messages",children:[s("div",{class:"card-head",children:[s("h2",{id:"messages",children:"Messages"}),s(
"span",{class:"quiet",children:[R(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${R(m.held,"message")} since the pause not shown`:""]}),s(W,{label:"Payload as",value:d,
onInput:k=>h(k),options:Lc}),s("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?s(L,{
children:s("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):s(xs,{messages:m.messages,format:d})]})]})}function ki(n){let e=[],t=(o,r)=>{r!==void 0&&e.push(`	${o} ${r}`)};t("name",jn(n.name)),n.description&&t("description",
jn(n.description)),n.tenant_prefix&&t("tenant_prefix",n.tenant_prefix),n.allow_ip_masks?.length&&t("allow_ip_masks",n.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])n[o]&&t(o,String(n[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function jn(n){if(/^[\w.@~:/+-]+$/.test(n))return n;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(n))return/["\\]/.test(n)?n.includes("`")?void 0:`\`${n}\``:`"${n}"`}var xi="Revoke the access tokens that it issued",Si="Their connections end at once. Otherwise they stay valid until they\
 expire.",Ti=n=>`master-tokens/${encodeURIComponent(n.id)}`;function Ei({master:n,onClose:e,onDone:t}){let{api:o}=M(),[r,
i]=g(!1);return s(he,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>t(await o.call("POST",
`${Ti(n)}/rotate`,{body:{revoke_tokens:r}})),children:[s("p",{children:[s(T,{text:n.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),s(Se,{label:xi,checked:r,onChange:i,hint:Si})]})}function Ci({master:n,
onClose:e,onDone:t}){let{api:o}=M(),[r,i]=g(!1),[a,l]=g("");return s(he,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==n.name&&a!==n.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",Ti(n),{body:{revoke_tokens:r}});t(`${n.name} was deleted.${r?` ${R(
u,"access token")} revoked with it.`:""}`)},children:[s("p",{children:[s(T,{text:n.name})," stops working at once, for g\
ood. Its id is ",s(P,{text:n.id}),"."]}),s(Se,{label:xi,checked:r,onChange:i,hint:Si}),s(x,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function Pi({made:n,rotated:e,onClose:t}){let o=[n.name,n.description??
""].some(r=>r!==""&&jn(r)===void 0);return s(Dt,{title:e?"The new secret":"The master token",label:"Master token",secret:n.
token,onClose:t,children:[s("p",{children:["It is the ",e?"new ":"","secret of ",s(T,{text:n.name}),".",e&&n.revoked_tokens?
` ${R(n.revoked_tokens,"access token")} that it issued revoked.`:""]}),s(Ft,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${n.token}`,copy:"Copy the environment line"}),s("details",{children:[s("summary",{children:"For a Caddyfile"}),
s("p",{children:["Only to keep it in the configuration in place of the store, in the block ",s("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",s("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&s("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),s(Ft,{label:"Lines for a Caddyfile",text:ki(n),copy:"C\
opy the Caddyfile lines"})]})]})}function Ko({master:n,onClose:e,onCreated:t,onSaved:o}){let{api:r}=M(),i=le(),[a]=g(()=>Qr(n)),[l,c]=g(a),u=go(l),d=p=>m=>c(
y=>({...y,[p]:m})),h=yt(l.prefix);return s(_e,{title:n?"Edit the master token":"New master token",onClose:e,children:s(ye,
{action:i,submit:n?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!Vr(l))throw new Error("correct the fields that are marked");if(!n)return t(await r.call("POST","m\
aster-tokens",{body:Lt(l)}));let p=Yr(a,l);Object.keys(p).length>0&&await r.call("PATCH",`master-tokens/${encodeURIComponent(
n.id)}`,{body:p}),o(l.name)},onCancel:e,children:[s(x,{label:"Name",value:l.name,onInput:d("name"),count:{now:Re(l.name),
most:fo,unit:"characters"},autoFocus:!0}),s(x,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Re(l.description),most:mo,unit:"characters"}}),s(x,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:h===""?"The app's namespace. Empty: every tenant of the overlay.":h===void 0?void 0:`Stored as ${h} \
– for tenants such as ${h}room`}),s(x,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),s("fieldset",{children:[s("legend",{children:"\
Quotas"}),s("p",{class:"help",children:"Left empty, the default of the edge applies."}),s("div",{class:"row",children:[s(
x,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),s(x,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),s(x,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var Ln=25,Uc=3e4;function Ai(){let{api:n,notify:e}=M(),t=z(),[o,r]=g(),i=V("masters",Uc,u=>n.get("master-tokens",u)),a=()=>r(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{r({what:"secret",made:u,rotated:d}),i.refresh()};return s(S,{children:[s(Q,
{text:"Master tokens",children:t&&s("button",{type:"button",class:"primary",onClick:()=>r({what:"new"}),children:"New ma\
ster token"})}),s("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),s(K,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&s(B,{what:"the master tokens"}),i.data&&s(Jc,{masters:i.
data.master_tokens??[],onOpen:r}),o?.what==="new"&&s(Ko,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&s(Ko,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&s(Ei,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&s(Ci,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&s(Pi,{made:o.made,rotated:o.rotated,onClose:a})]})}function Jc({masters:n,onOpen:e}){let t=z(),[o,r]=g(""),[i,
a]=g(1);if(n.length===0)return s(L,{children:[s("p",{children:"There is no master token yet."}),s("p",{children:t?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=n.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/Ln)));return s(S,{children:[n.
length>8&&s("div",{class:"filters",children:[s(x,{label:"Find",value:o,onInput:r,hint:"By name, prefix or id."}),s("p",{
class:"quiet",role:"status",children:[c.length," of ",R(n.length,"master token")]})]}),s("div",{class:"cards",children:c.
slice((u-1)*Ln,u*Ln).map(d=>s(Bc,{master:d,onOpen:e},d.id))}),c.length===0&&s(L,{children:"None has this in its name, pr\
efix or id. Type less of it."}),s(ue,{page:u,more:u*Ln<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function Bc({
master:n,onOpen:e}){let t=z(),{name:o}=n;return s("article",{class:"card","aria-label":`Master token ${o}`,children:[s("\
div",{class:"card-head",children:[s("h2",{children:s(T,{text:o,most:64})}),n.static&&s(O,{children:"in the Caddyfile"})]}),
n.description&&s("p",{children:s(T,{text:n.description,most:200})}),s(re,{of:[["Tenant prefix",n.tenant_prefix?s(P,{text:n.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",s(Wc,{masks:n.allow_ip_masks??[]},"masks")],["Quotas",Hc(
n),"wide"],!n.static&&["Made",s(F,{at:n.created_at},"made")],["Id",s(P,{text:n.id},"id"),"wide"]]}),n.static?s("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):t&&s("div",{class:"butto\
ns",children:[s("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:n}),children:"Edit"}),
s("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:n}),children:"Rotate"}),s("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:n}),children:"Delete"})]})]})}function Wc({
masks:n}){return n.length===0?s(S,{children:"none: every address"}):s("span",{class:"list",children:[n.slice(0,8).map(e=>s(
P,{text:e},e)),n.length>8&&s("span",{children:["and ",n.length-8," more"]})]})}function Hc(n){let e=[n.max_tokens&&R(n.max_tokens,
"access token"),n.max_bytes&&`${q(n.max_bytes)} in the store`,n.calls_per_second&&`${A(n.calls_per_second)} calls a seco\
nd`].filter(t=>t);return e.length===0?"the edge's defaults":e.join(", ")}function $i(n,e,t=180){let o=n.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),r=new Array(t).fill(null);if(o.length===
0)return r;let i=qc(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),h=u[e];for(let f=t-1;f>=0;f--){let p=h[h.length-1-d-(t-1-f)];if(p===void 0)
break;r[f]=(r[f]??0)+p}}return r}function qc(n){let e=[...n].sort((t,o)=>t-o);return e[Math.floor(e.length/2)]??0}function Qo(n){
return n?.[n.length-1]??0}function Mi(n){let e=n.filter(o=>o!==null),t=e[e.length-1];if(t!==void 0)return{min:Math.min(...e),
now:t,max:Math.max(...e)}}function Xn(n){let e=new Map;for(let t of n)for(let[o,r]of Object.entries(t??{}))e.set(o,(e.get(
o)??0)+r);return[...e].sort((t,o)=>o[1]-t[1]||t[0].localeCompare(o[0]))}var Vo=40;function zc(n,e){let t="",o=!1;for(let[r,i]of n.entries()){if(i===null){o=!1;continue}let a=Vo-i/e*(Vo-2)-1;t+=
`${o?"L":"M"}${r} ${a.toFixed(1)}`,o=!0}return t}function Oi({label:n,series:e,format:t}){let o=Mi(e);if(!o)return s("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let r=zc(e,o.max||1),i=`min ${t(o.min)}, now ${t(
o.now)}, max ${t(o.max)}`;return s("figure",{class:"chart",children:[s("svg",{viewBox:`0 0 ${e.length-1} ${Vo}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${n}, the last 15 minutes: ${i}`,children:s("path",{d:r,class:"line"})}),s("figcaption",{
"aria-hidden":"true",children:i})]})}function Ri(){let{api:n}=M(),{data:e,error:t}=V("overview",5e3,r=>n.get("overview",r)),o=e?.edges??[];return s(S,{children:[
s(Q,{text:"Overview"}),s(K,{error:t,known:e!==void 0}),e?s(Gc,{edges:o}):!t&&s(B,{what:"the figures"})]})}function Gc({edges:n}){
let e=n.filter(c=>c.answered&&c.status),t=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),r=c=>Xn(e.map(u=>u.
recent?.[c]??void 0)),i=Xn(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(Ni);return s(
S,{children:[s(Le,{edges:n,missing:["The figures leave it out.","The figures leave them out."]}),s("div",{class:"tiles",
children:[s(Zo,{title:"Connections",value:A(l),chart:{samples:t,figure:"connections",format:A},note:s(S,{children:[i.map(
([c,u])=>s("span",{children:[je(c)," ",A(u)]},c)),a>0&&s("span",{children:["of ",A(a)," at most"]})]})}),s(Kc,{edges:e}),
s(Jn,{title:"Messages a second",figure:"messages_in",samples:t,note:"published by clients"}),s(Jn,{title:"Deliveries a s\
econd",figure:"deliveries",samples:t,note:"to subscribers"}),s(Jn,{title:"Drops a second",figure:"dropped",samples:t,note:"\
deliveries that were dropped"}),s(Jn,{title:"Refusals a second",figure:"refused",samples:t,note:"ERR lines to clients"}),
s(Zo,{title:"Memory",value:q(o(c=>c.status?.memory_bytes??0)),chart:{samples:t,figure:"memory_bytes",format:q},note:s("s\
pan",{children:e.length===1?"of the process":`of ${R(e.length,"process","processes")}`})}),s(Ii,{title:"Token store",edges:e,
state:c=>s(gt,{status:c.status})}),s(Ii,{title:"Broker",edges:e,state:c=>s(bt,{status:c.status})})]}),s("div",{class:"co\
lumns",children:[s(Bn,{title:"Dropped deliveries",counts:r("dropped"),none:"None was dropped."}),s(Bn,{title:"Refusals b\
y code",counts:r("refused"),none:"Nothing was refused."}),s(Bn,{title:"Refused handshakes",counts:r("handshakes_refused"),
none:"No client was turned away."}),s(Bn,{title:"Slow clients disconnected",counts:r("slow_disconnects"),none:"No client\
 was too slow."})]}),s("section",{"aria-labelledby":"by-edge",children:[s("h2",{id:"by-edge",children:"By edge"}),n.length===
0?s(L,{children:s("p",{children:"No edge is known yet. This one appears within seconds."})}):s(Y,{label:"Figures by edge",
columns:Qc,rows:n,keyOf:c=>c.id})]})]})}function Kc({edges:n}){let e=Xn(n.map(o=>o.status?.limited??void 0)).filter(([,o])=>o>
0),t=o=>o==="ingress"?"what they publish":"what they receive";return s("section",{class:"card tile","aria-label":"Waitin\
g for a cap",children:[s("h2",{children:"Waiting for a cap"}),e.length===0?s("p",{class:"quiet",children:"No connection."}):
e.map(([o,r])=>s("p",{children:[s("a",{href:$("connections",{limited:"true"}),children:R(r,"connection")})," ",s("span",
{class:"quiet",children:["with ",t(o)]})]},o))]})}var Yo=3;function Ii(n){let{title:e,edges:t,state:o}=n;return s("secti\
on",{class:"card tile","aria-label":e,children:[s("h2",{children:e}),t.slice(0,Yo).map(r=>s("div",{class:"state-line",children:[
t.length>1&&s("p",{class:"quiet",children:s(T,{text:r.name,most:40})}),o(r)]},r.id)),t.length>Yo&&s("p",{class:"quiet",children:[
"and ",t.length-Yo," more, see below"]})]})}var Ni=n=>Object.values(n.status?.connections??{}).reduce((e,t)=>e+t,0);function Un(n,e){
return n.answered&&n.samples?It(Qo(n.samples[e])):"–"}var Qc=[{label:"Edge",cell:n=>s(S,{children:[s(T,{text:n.name}),
" ",s(Nt,{edge:n}),!n.answered&&s(O,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:n=>n.status?
A(Ni(n)):"–"},{label:"Messages/s",number:!0,cell:n=>Un(n,"messages_in")},{label:"Deliveries/s",number:!0,cell:n=>Un(n,
"deliveries")},{label:"Drops/s",number:!0,cell:n=>Un(n,"dropped")},{label:"Refusals/s",number:!0,cell:n=>Un(n,"refused")},
{label:"Memory",number:!0,cell:n=>n.status?q(n.status.memory_bytes):"–"},{label:"Token store",cell:n=>s(gt,{status:n.status})},
{label:"Broker",cell:n=>s(bt,{status:n.status})}];function Zo({title:n,value:e,note:t,chart:o}){return s("section",{class:"\
card tile","aria-label":n,children:[s("h2",{children:n}),s("p",{class:"value",children:e}),s("p",{class:"note-line",children:t}),
s(Oi,{label:n,series:$i(o.samples,o.figure),format:o.format})]})}function Jn({title:n,figure:e,samples:t,note:o}){let r=t.
reduce((i,a)=>i+Qo(a[e]),0);return s(Zo,{title:n,value:It(r),note:s("span",{children:o}),chart:{samples:t,figure:e,format:It}})}
function Bn({title:n,counts:e,none:t}){return s("section",{class:"card reasons","aria-label":n,children:[s("h2",{children:n}),
s("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?s("p",{children:t}):s("dl",{class:"counts",children:e.
map(([o,r])=>s("div",{children:[s("dt",{children:s("code",{children:o})}),s("dd",{children:A(r)})]},o))})]})}function Di({query:n,names:e,onAgain:t}){let{presence:o,among:r}=n,[i,a]=g({presence:o,among:r});oe(()=>a({presence:o,among:r}),
[o,r]);let l=h=>f=>a(p=>({...p,[h]:f.trim()})),c=i.among.replace(/\*$/,""),u=c!==""&&!pe(c),d=i.presence!==""&&!e.includes(
i.presence)?[i.presence]:[];return s("search",{children:s("form",{class:"filters","aria-label":"Filter tenants",onSubmit:h=>{
if(h.preventDefault(),u)return;let f=$("presence",{...n,...i});f===$("presence",n)?t():location.hash=f},children:[s(W,{label:"\
In presence",value:i.presence,onInput:l("presence"),options:[["","all"],...[...e,...d].map(h=>[h,h])]}),s(x,{label:"Of t\
enant",value:i.among,onInput:l("among"),mono:!0,error:u?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,
hint:"The whole name, or its beginning and *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"pri\
mary",children:"Filter"}),s("a",{class:"button",href:$("presence",{...n,presence:"",among:""}),children:"Clear"})]})]})})}var Vc=100,Yc=5e3;function Fi({query:n}){let e=Z(null),[t,o]=g(0),{tenant:r}=n;return I(()=>{r!==""&&e.current?.focus()},
[r]),s("section",{"aria-labelledby":"members",children:[s("h2",{id:"members",tabIndex:-1,ref:e,children:"Members"}),s(Zc,
{query:n,onAgain:()=>o(i=>i+1)}),pe(r)&&s(ed,{query:n},J({tenant:r,pattern:n.pattern,subject:n.subject,again:t}))]})}function Zc({
query:n,onAgain:e}){let{tenant:t,pattern:o,subject:r}=n,[i,a]=g({tenant:t,pattern:o,subject:r}),[l,c]=g(!1);oe(()=>a({tenant:t,
pattern:o,subject:r}),[t,o,r]);let u=h=>f=>a(p=>({...p,[h]:f})),d=i.tenant===""?l:!pe(i.tenant);return s("search",{children:s(
"form",{class:"filters","aria-label":"Who is present",onSubmit:h=>{if(h.preventDefault(),c(i.tenant===""),!pe(i.tenant))
return;let f=$("presence",{...n,...i});f===$("presence",n)?e():location.hash=f},children:[s(x,{label:"Tenant",value:i.tenant,
onInput:h=>u("tenant")(h.trim()),mono:!0,error:d?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0}),s(x,{
label:"Pattern",value:i.pattern,onInput:h=>u("pattern")(h.trim()),mono:!0,hint:"room.* for example; nothing: all."}),s(x,
{label:"Subject",value:i.subject,onInput:u("subject"),hint:"The whole subject."}),s("div",{class:"buttons",children:s("b\
utton",{type:"submit",class:"primary",children:"Show"})})]})})}function ed({query:n}){let{api:e}=M(),[t,o]=g([""]),{tenant:r,
pattern:i,subject:a}=n,l=`presences/members${J({tenant:r,pattern:i,subject:a,limit:Vc,cursor:t[t.length-1]})}`,{data:c,stale:u,
error:d}=V(l,Yc,f=>e.get(l,f)),h=c?.members??[];return s(S,{children:[s(K,{error:d,known:c!==void 0}),!c&&!d&&s(B,{what:"\
the members"}),c&&s("p",{children:[R(c.total.members,"member")," in ",R(c.total.channels,"channel")," of"," ",s(P,{text:i===
""?"#":i})," in ",s(P,{text:r}),", the oldest first.",a!==""&&s(S,{children:[" ","Only ",s(T,{text:a,most:128})," is lis\
ted."]})]}),h.length>0&&s(Y,{label:"Members",columns:nd,rows:h,keyOf:td,busy:u}),c&&!u&&h.length===0&&t.length===1&&s(L,
{children:s("p",{children:a===""?"Nobody is present there now.":"This subject is not present there now."})}),s(ue,{page:t.
length,more:!u&&(c?.next_cursor??"")!=="",onPrevious:()=>o(t.slice(0,-1)),onNext:()=>o([...t,c?.next_cursor??""])})]})}var td=({
channel:n,subject:e})=>`${n}
${e}`,nd=[{label:"Channel",cell:({channel:n})=>s(P,{text:n,most:120})},{label:"Subject",cell:({subject:n})=>s("a",{href:$(
"connections",{subject:n}),"aria-label":`Connections of ${be(n,60)}`,children:s(T,{text:n,most:60})})},{label:"Since",cell:({
since:n})=>s(F,{at:n})},{label:"Info",cell:({info:n})=>n?s(P,{text:JSON.stringify(n)}):s(S,{children:"–"})}];var od=50,rd=8,sd=1e4;function ji({query:n}){let{api:e}=M(),[t,o]=g([""]),r={presence:n.presence??"",among:n.among??"",tenant:n.
tenant??"",pattern:n.pattern??"",subject:n.subject??""},i=J({presence:r.presence,tenant:r.among});I(()=>o([""]),[i]);let a=`\
presences${J({presence:r.presence,tenant:r.among,limit:od,cursor:t[t.length-1]})}`,{data:l,stale:c,error:u,refresh:d}=V(
a,sd,async y=>{try{return await e.get(a,y)}catch(v){if(v instanceof G&&v.code==="no_presences")return"none";throw v}}),h=l===
"none"?void 0:l,f=h?.totals??[],p=f.reduce((y,v)=>y+v.tenants,0),m=h?.presences??[];return s(S,{children:[s(Q,{text:"Pre\
sence"}),s("p",{class:"quiet",children:"Who has said that they are in a channel, at all edges: each edge knows that of t\
he others."}),s(K,{error:u,known:l!==void 0}),!l&&!u&&s(B,{what:"who is present"}),l==="none"&&s(id,{}),h&&s(S,{children:[
s(ad,{totals:f}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(i!==""||
p>rd)&&s(Di,{query:r,names:f.map(({presence:y})=>y),onAgain:d}),m.length>0&&s(Y,{label:"Where somebody is present",columns:cd(
r,f),rows:m,keyOf:ld,busy:c}),!c&&m.length===0&&t.length===1&&s(L,{children:i===""?s("p",{children:"Nobody is present no\
w. Clients appear here when they join a channel of a presence."}):s("p",{children:"Nobody is present there. Ask for less\
, or clear the filters."})}),s(ue,{page:t.length,more:!c&&(h.next_cursor??"")!=="",onPrevious:()=>o(t.slice(0,-1)),onNext:()=>o(
[...t,h.next_cursor??""])})]}),s(Fi,{query:r})]})]})}function id(){return s(L,{children:[s("p",{children:"No presence is\
 configured at this edge: it does not know who is where."}),s("p",{children:["Clients may say that they are in the chann\
els of a presence:"," ",s("code",{children:"presence <name> { channels … }"})," in the block ",s("code",{children:"pub\
sub"})," of the Caddyfile. docs/configuration.md has its options."]})]})}function ad({totals:n}){return s("div",{class:"\
cards",children:n.map(e=>s("article",{class:"card","aria-label":`Presence ${e.presence}`,children:[s("div",{class:"card-\
head",children:s("h2",{children:s(T,{text:e.presence})})}),s(re,{of:[["Tenants",A(e.tenants)],["Members",A(e.members)],[
"At most of a tenant",A(e.max_members)]]})]},e.presence))})}var ld=({presence:n,tenant:e})=>`${n}:${e}`;function cd(n,e){
let t=new Map(e.map(o=>[o.presence,o.max_members]));return[{label:"Tenant",cell:({tenant:o})=>s(P,{text:o})},{label:"Pre\
sence",cell:({presence:o})=>s(T,{text:o})},{label:"Members",number:!0,cell:({presence:o,members:r})=>`${A(r)} of ${A(t.get(
o)??r)}`},{label:"Who",cell:({tenant:o})=>s("a",{class:"button","aria-label":`Show who is present in ${o}`,href:$("prese\
nce",{presence:n.presence,among:n.among,tenant:o}),children:"Show"})}]}var dd=/^([0-9a-f]{16})?$/;function Li({query:n,edges:e,onAgain:t}){let[o,r]=g(n),i=JSON.stringify(n);oe(()=>r(n),[i]);let a=d=>h=>r(
f=>({...f,[d]:h.trim()})),l={connection_id:dd.test(o.connection_id)?void 0:"It has 16 digits of 0-9 and a-f.",token_id:Ne.
test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",ip:o.ip===""?void 0:nt(o.ip)},c=e.map(d=>[d.id,be(d.name,60)]),
u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,be(o.edge,60)]]:[];return s("search",{children:s("form",{class:"fi\
lters","aria-label":"Filter what was refused",onSubmit:d=>{if(d.preventDefault(),l.connection_id||l.token_id||l.ip)return;
let h=$("refused",o);h===$("refused",n)?t():location.hash=h},children:[s(x,{label:"Subject",value:o.subject,onInput:d=>r(
h=>({...h,subject:d})),hint:"The whole subject."}),s(x,{label:"Token id",value:o.token_id,onInput:d=>a("token_id")(De(d.
trim())),mono:!0,error:l.token_id,hint:"The whole id."}),s(x,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l.
ip&&`It ${l.ip}.`,hint:"One, or a CIDR."}),s(x,{label:"Connection id",value:o.connection_id,onInput:a("connection_id"),mono:!0,
error:l.connection_id,hint:"That the client was answered."}),s(W,{label:"Edge",value:o.edge,onInput:a("edge"),options:[[
"","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),
s("a",{class:"button",href:$("refused"),children:"Clear"})]})]})})}var ud=100,hd=5e3;function Xi({query:n}){let{api:e}=M(),[t,o]=g([""]),r={connection_id:n.connection_id??"",token_id:n.token_id??
"",subject:n.subject??"",ip:n.ip??"",edge:n.edge??""},i=J(r);I(()=>o([""]),[i]);let a=`refused${J({...r,limit:ud,cursor:t[t.
length-1]})}`,{data:l,stale:c,error:u,refresh:d}=V(a,hd,p=>e.get(a,p)),h=l?.edges??[],f=l?.refused??[];return s(S,{children:[
s(Q,{text:"Refused"}),s("p",{class:"quiet",children:"What edges refused last, newest first, and the whole reason, which \
clients are not told. Each edge keeps some 4,000, shared fairly among tokens and addresses, until it restarts."}),s(Li,{
query:r,edges:h,onAgain:d}),s(K,{error:u,known:l!==void 0}),s(Le,{edges:h,missing:["What it refused is not listed.","Wha\
t they refused is not listed."]}),!l&&!u&&s(B,{what:"what was refused"}),f.length>0&&s(Y,{label:"Refused",columns:pd(h.length>
1),rows:f,keyOf:p=>`${p.edge}:${p.time}`,busy:c}),l&&!c&&f.length===0&&t.length===1&&s(L,{children:i===""?s("p",{children:"\
Nothing was refused since the edges started."}):s("p",{children:"Nothing that was refused matches. Ask for less, or clea\
r the filters: the client may not reach the edge."})}),s(ue,{page:t.length,more:!c&&(l?.next_cursor??"")!=="",onPrevious:()=>o(
t.slice(0,-1)),onNext:()=>o([...t,l?.next_cursor??""])})]})}function pd(n){return[{label:"When",cell:t=>s(F,{at:t.time})},
...n?[{label:"Edge",cell:t=>s(T,{text:t.edge_name,most:40})}]:[],{label:"What",cell:t=>s(S,{children:[t.action," ",t.tenant&&
s(P,{text:`${t.tenant}:${t.channel??""}`,most:80})]})},{label:"Why",cell:t=>s(S,{children:[s(P,{text:t.code}),": ",s("bd\
i",{children:t.reason}),t.rule&&s("p",{children:["Rule: ",s(P,{text:t.rule,most:200})]})]})},{label:"Subject",cell:({subject:t})=>t?
s(T,{text:t,most:40}):s(S,{children:"–"})},{label:"Token",cell:t=>t.token_id?s(S,{children:[s("a",{href:$("tokens",{id:t.
token_id}),"aria-label":`Token ${t.token_id.slice(0,8)}`,children:s("code",{children:t.token_id.slice(0,8)})})," ",!t.verified&&
s("span",{class:"quiet",children:"not proven"})]}):s(S,{children:"–"})},{label:"Client",cell:t=>s(S,{children:[s("span",
{class:"address",children:t.ip?s(P,{text:t.ip}):"unknown address"})," ",s("span",{class:"quiet",children:je(t.transport)})]})},
{label:"Connection id",cell:t=>t.connection_id?s(P,{text:t.connection_id}):s(S,{children:"–"})}]}var Ui=[{name:"overview",label:"Overview",component:Ri},{name:"master-tokens",label:"Master tokens",component:Ai},{name:"\
tokens",label:"Access tokens",component:ts},{name:"connections",label:"Connections",component:as},{name:"refused",label:"\
Refused",component:Xi},{name:"presence",label:"Presence",component:ji},{name:"live",label:"Live",component:_i,tail:!0},{
name:"histories",label:"Histories",component:_s},{name:"edges",label:"Edges",component:ds}];var Wn=class extends Qe{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:s("div",{role:"alert",class:"errors",children:[s("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",ee(this.state.error)]}),s("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function Ji(n){let{base:e,session:t,links:o,current:r,result:i,ended:a,children:l}=n;return s(S,{children:[s("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),s("header",{class:"top",children:[s("a",{class:"brand",href:$("overview"),children:[s("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),s("span",{children:"Millrace"})]}),s("nav",{"aria-label":"Screens",children:s("u\
l",{children:o.map(({screen:c,label:u})=>s("li",{children:s("a",{href:$(c),...c===r?{"aria-current":"page"}:{},children:u})},
c))})}),s("div",{class:"who",children:[s("span",{children:[s(T,{text:t.operator??"",most:32})," ",s("span",{class:"quiet",
children:t.role})]}),s("button",{type:"button",onClick:n.onSignOut,children:"Sign out"})]})]}),s("main",{id:"main",tabIndex:-1,
children:[a&&s("p",{class:"note warn with-button",children:[s("span",{children:"Your session has ended, so nothing here \
is up to date."}),s("button",{type:"button",onClick:n.onSignIn,children:"Sign in"})]}),s("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&s("p",{class:"note good with-button",children:[s("span",{children:i}),s("button",
{type:"button",class:"link",onClick:n.onDismiss,children:"Dismiss"})]})}),l]})]})}async function er(n,e,t){try{return await n.call("POST",e,{body:t,bare:!0})}catch(o){throw o instanceof G&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${Ze(o.retryAfter*1e3)}`):o}}function Bi({
api:n,session:e,onSession:t}){let[o,r]=g(""),[i,a]=g(""),l=le(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{t(await er(n,"session",c?{}:{name:o,password:i}))}finally{a("")}};return s("main",
{id:"main",class:"sign-in",children:s("section",{class:"card",children:[s("h1",{tabIndex:-1,children:"Sign in"}),s("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?s("p",{children:["The authe\
ntication in front of the console names you ",s(T,{text:e.user}),"."]}):null,c&&!e.user?s("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,s(ye,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&s(S,{children:[s(x,{label:"Name",value:o,onInput:r,autoComplete:"username",autoFocus:!0}),
s(x,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function Wi({api:n,gate:e,
session:t,onSession:o,onLeave:r}){let{question:i}=e;return i?s(fd,{api:n,gate:e,session:t,onSession:o,onLeave:r,again:i===
"sign-in"},i):null}function fd({api:n,gate:e,session:t,onSession:o,onLeave:r,again:i}){let[a,l]=g(""),c=le(),u=t.auth===
"caddy",d=t.operator??"";return s(_e,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[s("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),s(ye,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let f;try{i?f=await er(
n,"session",u?{}:{name:d,password:a}):f=await er(n,"session/confirm",{password:a})}catch(p){if(l(""),!i&&p instanceof G&&
p.code==="no_session")return void e.signIn();throw p}o(f),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&s("button",{type:"\
button",class:"link",onClick:r,children:"Sign in as somebody else"}),children:[s(x,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&s(x,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function Hi({base:n,takeActivity:e}){let[,t]=g(0),[o,r]=g(),[i,a]=g(),[l,c]=g(""),u=ft(()=>new Ot(()=>t(k=>k+1)),[]),d=ft(
()=>new Mt({base:new URL("api/",n),gate:u,takeActivity:e}),[n,u,e]),h=gd(),f=ge(()=>{a(void 0),d.get("session",{bare:!0}).
then(r,k=>a(ee(k)))},[d]);I(f,[f]);let p=Ui.filter(({tail:k})=>!k||o?.tail===!0),m=p.find(({name:k})=>k===h.screen)??p[0];
I(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:k}=document;
k instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let y=k=>{r(k),u.opened()},
v=()=>{u.answer(!1),r(k=>k&&{auth:k.auth,signed_in:!1,...k.user?{user:k.user}:{}})},b=async()=>{try{let k=await d.call("\
DELETE","session",{bare:!0});u.opened(),r(k)}catch(k){k instanceof Error&&"code"in k&&k.code==="no_session"?v():c(`Signi\
ng out failed: ${ee(k)} You are still signed in.`)}};if(!o)return s(md,{error:i,onRetry:f});if(!o.signed_in)return s(Bi,
{api:d,session:o,onSession:y});let w=m?.component;return s(ao.Provider,{value:{api:d,session:o,base:n,notify:c},children:[
s(Ji,{base:n,session:o,links:p.map(({name:k,label:C})=>({screen:k,label:C})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:w&&s(Wn,{children:s(w,{query:h.query})},`${m.
name} ${o.operator}`)}),s(Wi,{api:d,gate:u,session:o,onSession:y,onLeave:v})]})}function md({error:n,onRetry:e}){return s(
"main",{id:"main",class:"sign-in",children:[s("h1",{children:"Millrace console"}),s("p",{role:"status",children:n?"":"Lo\
ading…"}),s("div",{role:"alert",children:n&&s(S,{children:[s("p",{class:"note bad",children:n}),s("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function gd(){let[n,e]=g(()=>so(location.hash));return I(()=>{
let t=()=>e(so(location.hash));return addEventListener("hashchange",t),()=>removeEventListener("hashchange",t)},[]),n}var bd=new URL(".",import.meta.url),tr=!0;for(let n of["keydown","pointerdown","pointermove","wheel"])addEventListener(n,
()=>tr=!0,{capture:!0,passive:!0});var yd=()=>{let n=tr;return tr=!1,n},qi=document.getElementById("app");qi&&fr(s(Hi,{base:bd,
takeActivity:yd}),qi);
