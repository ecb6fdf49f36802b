// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var I,Do,di,ke,kn,wt,Fo,gt,Xo,Tn,xn,Lo,ot=Symbol.for("pv"),_t={},vt=[],ui=/^m(i|n|o|s|text|space)$/,En=Array.isArray,Bo=vt.
slice,Oe=Object.assign;function Ie(t){t&&t.parentNode&&t.remove()}function yt(t,e,n,o,r){var i={type:t,props:e,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:ot,__v:r||
++Do,__i:-1,__u:0};return!r&&I.vnode&&I.vnode(i),i}function E(t){return t.children}function Le(t,e){this.props=t,this.context=e,this.__g=0}function xe(t,e){if(e==null)return t.
__&&xe(t.__,t.__i+1);for(var n;e<t.__k.length;e++)if((n=t.__k[e])&&n.__e)return n.__e;return typeof t.type!="function"||
t.props.__P?null:xe(t)}function pi(t){var e,n=t.__v,o=n.__e,r=[],i=[],a=t.__P;a&&((e=Oe({constructor:ot},n)).__v=n.__v+1,
I.vnode&&I.vnode(e),Cn(a,e,n,t.__n,a.namespaceURI,32&n.__u?[o]:null,r,o||xe(n),32&n.__u,i),e.__v=n.__v,e.__.__k[e.__i]=e,
qo(r,e,i),n.__=n.__e=null,e.__e!=o&&jo(e))}function jo(t){if((t=t.__)&&t.__c&&!t.props.__P)return t.__e=null,t.__k.some(
function(e){return e&&(t.__e=e.__e)}),jo(t)}function Sn(t){(8&t.__g||(t.__g|=8,ke.push(t),wt++))&&kn==I.debounceRendering||
((kn=I.debounceRendering)||queueMicrotask)(Uo)}function Uo(){try{for(var t,e=1;ke.length;)ke.length>e&&ke.sort(Fo),t=ke.
shift(),e=ke.length,8&t.__g&&pi(t)}finally{(wt=ke.length)&&(kn||queueMicrotask)(Uo)}}function Jo(t,e,n,o,r,i,a,l,c,u,d){
var f,h,p,m,w,_,b=o.__k||vt,k=e.length;for(c=fi(n,e,b,c,k),f=0;f<k;f++)(p=n.__k[f])!=null&&(h=~p.__i&&b[p.__i]||_t,p.__i=
f,_=Cn(t,p,h,r,i,a,l,c,u,d),m=p.__e,(h.ref!=p.ref||8&h.__u)&&(h.ref&&Pn(h.ref,null,p,h),p.ref&&d.push(p.ref,p.__c||m,p)),
w=w||m,4&p.__u?(c=Ho(p,c,t,!h.__v),h.__e&&(h.__e=null)):typeof p.type=="function"&&_!==void 0?c=_:m&&(c=m.nextSibling),p.
__u&=-21);return n.__e=w,c}function fi(t,e,n,o,r){var i,a,l,c,u,d,f,h,p,m=n.length,w=m,_=0,b=0,k=t.__k=Array(r);for(i=0;i<
r;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=k[i]=yt(null,
a):En(a)?a=k[i]=yt(E,{children:a}):a.constructor===ot&&a.__b?a=k[i]=yt(a.type,a.props,a.key,a.ref,a.__v):k[i]=a,c=i+_,a.
__=t,a.__b=t.__b+1,l=null,~(u=a.__i=hi(a,n,c,w))&&(w--,(l=n[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?_--:u==c+1?_++:u!=
c&&(u>c?_--:_++,b=1)):(~u||(r>m?_--:r<m&&_++),typeof a.type!="function"&&(a.__u|=4))):k[i]=null;if(b){for(d=[],f=[],i=0;i<
r;i++)if((a=k[i])&&16&a.__u){for(_=0,h=d.length;_<h;)d[p=_+h>>1]<a.__i?_=p+1:h=p;d[_]=a.__i,f[i]=_+1}for(_=d.length;i--;)
f[i]&&(f[i]==_?_--:k[i].__u|=4)}if(w)for(i=0;i<m;i++)!(l=n[i])||2&l.__u||(l.__e==o&&(o=xe(l)),An(l,l));return o}function Ho(t,e,n,o){
var r,i,a,l;if(typeof t.type=="function"){if(t.props.__P)return e;if(r=t.__k)for(i=0;i<r.length;i++)r[i]&&(r[i].__=t,e=Ho(
r[i],e,n,!1));return e}for(e&&!e.parentNode&&(e=xe(t))&&!e.parentNode&&(e=null),a=t.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,e):n.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function hi(t,e,n,o){var r,i=t.key,a=t.type,l=e[n],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return n;
if(o>(c?1:0)){for(r=n-1;r>=0;r--)if((l=e[r])&&!(2&l.__u)&&i==l.key&&a==l.type)return r;for(r=n+1;r<e.length;r++)if((l=e[r])&&
!(2&l.__u)&&i==l.key&&a==l.type)return r}return-1}function No(t,e,n){n==null&&(n=""),e[0]=="-"?t.setProperty(e,n):t[e]=n}
function mt(t,e,n,o,r){var i,a;if(e=="style")if(typeof n=="string")t.style.cssText=n;else{if(typeof o=="string"&&(t.style.
cssText=o=""),o)for(e in o)n&&e in n||No(t.style,e);if(n)for(e in n)o&&n[e]==o[e]||No(t.style,e,n[e])}else if(e[0]=="o"&&
e[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(t.__e||(t.__e={}))[e]=n,n&&o||(a=xn[e]||(xn[e]=
mi(e)),(t.__a||(t.__a={}))[e]=Tn,i=e!=(e=e.replace(Xo,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),n?t.addEventListener(
e,a,i):t.removeEventListener(e,a,i));else{if(r=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in t)try{return void(t[e]=n??"")}catch{}if(typeof n=="function")return;n==null||n===
!1&&e[4]!="-"?t.removeAttribute(e):t.setAttribute(e,e=="popover"&&n==1?"":n)}}function mi(t){return function(e){var n=this.
__e;if(n){if(n=n[t],e[gt]==null)e[gt]=Tn++;else if(e[gt]<this.__a[t])return;return n(I.event?I.event(e):e)}}}function Cn(t,e,n,o,r,i,a,l,c,u){
var d,f,h,p,m,w,_,b,k,g,S,D,Q,ve,re,Z,G,$e,_e=e.type;if(e.constructor!==ot)return null;128&n.__u&&(c=32&n.__u,d=n.__c.__z)&&
(e.__u|=c,f=i=[],d.nodeType==8?l=bt(d,i):i.push(d),l=i[0]||l),(d=I.__b)&&d(e);e:if(typeof _e=="function"){h=a.length;try{
if(b=e.props,k=(d=_e.prototype)&&d.render,g=(d=_e.contextType)&&o[d.__c],S=d?g?g.props.value:d.__:o,(p=n.__c)?(e.__c=p,2&
p.__g&&(p.__g|=1)):(k?e.__c=p=new _e(b,S):(e.__c=p=new Le(b,S),p.constructor=_e,p.render=yi),g&&g.sub(p),p.state||(p.state=
{}),p.__n=o,p.__g|=8,p.__h=[],p.__k=[]),k&&(p.__s||(p.__s=p.state),_e.getDerivedStateFromProps&&(p.__s==p.state&&(p.__s=
Oe({},p.__s)),Oe(p.__s,_e.getDerivedStateFromProps(b,p.__s)))),m=p.props,w=p.state,p.__v=e,n.__c){if(b!==m&&k&&!_e.getDerivedStateFromProps&&
p.componentWillReceiveProps&&p.componentWillReceiveProps(b,S),e.__v==n.__v&&!(8&p.__g)||!(4&p.__g)&&p.shouldComponentUpdate&&
p.shouldComponentUpdate(b,p.__s,S)===!1){e.__v!=n.__v&&(p.props=b,p.state=p.__s,p.__g&=-9),e.__e=n.__e,e.__k=n.__k,e.__k.
some(function(de){de&&(de.__=e)}),vt.push.apply(p.__h,p.__k),p.__k=[],p.__h.length&&a.push(p),l=xe(n);break e}p.componentWillUpdate&&
p.componentWillUpdate(b,p.__s,S),k&&p.componentDidUpdate&&p.__h.push(function(){p.componentDidUpdate(m,w,_)})}else k&&!_e.
getDerivedStateFromProps&&p.componentWillMount&&p.componentWillMount(),k&&p.componentDidMount&&p.__h.push(p.componentDidMount);
p.context=S,p.props=b,p.__P=t,p.__g&=-5,D=I.__r,Q=k?25:0;do p.__g&=-9,D&&D(e),d=p.render(p.props,p.state=p.__s,p.context);while(8&
p.__g&&++Q<25);k&&(vt.push.apply(p.__h,p.__k),p.__k=[]),p.state=p.__s,p.getChildContext&&(o=Oe({},o,p.getChildContext())),
k&&n.__c&&p.getSnapshotBeforeUpdate&&(_=p.getSnapshotBeforeUpdate(m,w)),ve=d&&d.type===E&&d.key==null?d.props.children:d,
b.__P&&(d=l,r=(t=b.__P).namespaceURI,c=i=null,n.props&&n.props.__P!=t&&(n.__k.some(function(de){de&&An(de,de)}),n.__k=null),
l=n.__k?xe(n,0):null),l=Jo(t,En(ve)?ve:[ve],e,n,o,r,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,f&&f.some(Ie),p.__h.length&&
a.push(p),1&p.__g&&(p.__g&=-4)}catch(de){if(a.length=h,e.__v=null,c||i)if(de&&de.then){if(e.__u|=128|c,i){for(~(G=i.indexOf(
l||void 0))||(G=i.length);($e=i[G-1])&&$e.nodeType==8;)G--;for(;G<i.length;G++)if($e=i[G])if(i[G]=null,re){if($e==Z)break}else{
if($e.nodeType!=8)break;$e.data.startsWith("$s")&&(Z=bt(re=$e))}}if(!re){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;
re=l}(d=bt(re=e.__c.__z||(e.__c.__z=re)))?(e.__e=re,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(Ie);else e.__e=n.__e;
e.__k||(e.__k=n.__k||[]),de&&de.then||Wo(e),I.__e(de,e,n)}}else l=e.__e=gi(n.__e,e,n,o,r,i,a,c,u,t);return(d=I.diffed)&&
d(e),l}function bt(t,e){if(t&&t.nodeType==8&&t.data.startsWith("$s"))for(var n=1;t=t.nextSibling;){if(t.nodeType==8){if(t.
data.startsWith("$s"))n++;else if(t.data.startsWith("/$s")&&!--n)return t}e&&e.push(t)}}function Wo(t){t&&(t.__c&&(t.__c.
__g|=4),t.__k&&t.__k.some(Wo))}function qo(t,e,n){for(var o=0;o<n.length;)Pn(n[o++],n[o++],n[o++]);I.__c&&I.__c(e,t),t.some(
function(r){try{t=r.__h,r.__h=[],t.some(function(i){i.call(r)})}catch(i){I.__e(i,r.__v)}})}function gi(t,e,n,o,r,i,a,l,c,u){
var d,f,h,p,m,w,_,b,k=n.props||_t,g=e.props,S=e.type;if(S=="svg"?r="http://www.w3.org/2000/svg":S=="math"?r="http://www.\
w3.org/1998/Math/MathML":r||(r="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(S?m.localName==S:
m.nodeType==3)){t=m,i[d]=null;break}}if(!t){if(b=u.ownerDocument||document,!S)return b.createTextNode(g);t=b.createElementNS(
r,S,g.is?g:u),l&&(I.__m&&I.__m(e,i),l=!1),i=null}if(S){if(u=S=="template"&&t.content||t,i=S=="textarea"&&g.defaultValue!=
null?null:i&&Bo.call(u.childNodes),!l&&i)for(k={},d=0;d<t.attributes.length;d++)k[(m=t.attributes[d]).name]=m.value;for(d in k)
m=k[d],d=="dangerouslySetInnerHTML"?h=m:d=="children"||d in g||d=="value"&&"defaultValue"in g||d=="checked"&&"defaultChe\
cked"in g||mt(t,d,null,m,r);for(d in g)m=g[d],d=="children"?p=m:d=="dangerouslySetInnerHTML"?f=m:d=="value"?w=m:d=="chec\
ked"?_=m:l&&typeof m!="function"||k[d]===m||mt(t,d,m,k[d],r);f?(l||h&&(f.__html==h.__html||f.__html==t.innerHTML)||(t.innerHTML=
f.__html),e.__k=[]):(h&&(t.textContent=""),(S=="foreignObject"||r=="http://www.w3.org/1998/Math/MathML"&&ui.test(S))&&(r=
"http://www.w3.org/1999/xhtml"),Jo(u,En(p)?p:[p],e,n,o,r,i,a,i?i[0]:n.__k&&xe(n,0),l,c),i&&i.some(Ie)),l&&S!="textarea"||
(d="value",S=="progress"&&w==null?t.removeAttribute(d):w==null||w===t[d]&&(S!="progress"||w)||mt(t,d,w,k[d],r),d="checke\
d",_!=null&&_!=t[d]&&mt(t,d,_,k[d],r))}else k===g||l&&t.data==g||(t.data=g);return t}function Pn(t,e,n,o){try{typeof t==
"function"?e?e.__x=t(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():t(null)):t.current=e}catch(r){
I.__e(r,n)}}function An(t,e,n){var o,r,i,a;if(I.unmount&&I.unmount(t),!(o=t.ref)||o.current&&o.current!=t.__e||Pn(o,null,
e,t),o=t.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){I.__e(l,e)}o.__P=o.__n=null}if(o=t.__k)for(a=
0;a<o.length;a++)o[a]&&An(o[a],e,typeof t.type!="function"||n&&!t.props.__P);!n&&(o=t.__c)&&(o=o.__z)&&(r=bt(o,i=[]))&&(o==
t.__e&&i.some(Ie),Ie(r),Ie(o)),n||Ie(t.__e),t.__e=t.__c=t.__=null}function yi(t,e,n){return this.constructor(t,n)}function zo(t,e){
var n,o,r,i;I.__&&I.__(t,e),e.nodeType==9&&(e=e.documentElement),o=(n=t&&32&t.__u)?null:e.__k,e.__k=yt(E,{children:[t]}),
r=[],i=[],Cn(e,e.__k,o||_t,_t,e.namespaceURI,o?null:e.firstChild?Bo.call(e.childNodes):null,r,o?o.__e:e.firstChild,n,i),
qo(r,e.__k,i),e.__k.props.children=null}function Go(t){function e(n){var o,r;return this.getChildContext||(o=new Set,(r={})[e.__c]=this,this.getChildContext=function(){
return r},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,Sn(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),n.children}
return e.__c="__cC"+Lo++,e.__=t,e.Provider=(e.Consumer=function(n,o){return n.children(o)}).contextType=e,e}I={__e:function(t,e,n,o){for(var r,i,a;e=e.__;)if((r=e.__c)&&!(1&r.__g)){r.__g|=4;try{if((a=(i=r.constructor)&&i.getDerivedStateFromError)&&
r.setState(i.getDerivedStateFromError(t)),r.componentDidCatch&&(r.componentDidCatch(t,o||{}),a=1),a&&8&r.__g)return void(r.
__g|=2)}catch(l){t=l}}throw wt=0,t}},Do=0,di=function(t){return t!=null&&t.constructor===ot},Le.prototype.setState=function(t,e){
var n=this.__s;n&&n!=this.state||(n=this.__s=Oe({},this.state)),typeof t=="function"&&(t=t(Oe({},n),this.props)),t&&(Oe(
n,t),this.__v&&(e&&this.__k.push(e),Sn(this)))},Le.prototype.forceUpdate=function(t){this.__v&&(this.__g|=4,t&&this.__h.
push(t),Sn(this))},Le.prototype.render=E,ke=[],wt=0,Fo=function(t,e){return t.__v.__b-e.__v.__b},gt=Symbol(),Xo=/(PointerCapture)$|Capture$/i,
Tn=0,xn={},Lo=0;var Se,X,Mn,Ko,$n=Object.is,st=0,rr=[],In=[],L=I,Qo=L.__b,Vo=L.__r,Yo=L.diffed,Zo=L.__c,er=L.unmount,tr=L.__;function Be(t,e){
L.__h&&L.__h(X,t,st||e),st=0;var n=X.__H||(X.__H={__:[],__h:[]});return t>=n.__.length&&n.__.push({}),n.__[t]}function y(t){
return st=1,bi(ar,t)}function bi(t,e,n){var o=Be(Se++,2);if(o.t=t,!o.__c&&(o.__=[n?n(e):ar(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);$n(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=X,!X.__f)){X.__f=!0;var r=X.shouldComponentUpdate;
X.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(h){
h.__N&&(u=!0,$n(h.__[0],h.__N[0])||(d=!0))}),r){var f=r.call(this,i,a,l);return u?f||d:f}return!u||d}}return o.__}function $(t,e){
var n=Be(Se++,3);!L.__s&&Rn(n.__H,e)&&(n.__P=!0,n.__=t,n.u=e,X.__H.__h.push(n))}function sr(t,e){var n=Be(Se++,4);!L.__s&&
Rn(n.__H,e)&&(n.__P=!1,n.__=t,n.u=e,X.__h.push(n))}function V(t){return st=5,it(function(){return{current:t}},[])}function it(t,e){var n=Be(Se++,7);return Rn(n.__H,e)&&(n.__=t(),n.__H=e),n.__}function se(t,e){return st=8,it(function(){
return t},e)}function ir(t){var e=X.context[t.__c],n=Be(Se++,9);return n.c=t,e?(n.__==null&&(n.__=!0,e.sub(X)),e.props.value):
t.__}function je(){var t=Be(Se++,11);if(!t.__){for(var e=X.__v;!e.__m&&e.__;)e=e.__;var n=e.__m||(e.__m=[0,0]);t.__="P"+n[0]+
"-"+n[1]++}return t.__}function wi(){var t;do{for(;t=In.shift();)try{rt(t)}catch(n){L.__e(n,{__:(t=t.__P)&&t.__v})}for(;t=
rr.shift();){var e=t.__H;if(t.__P&&e)try{e.__h.some(rt),e.__h.some(On),e.__h=[]}catch(n){e.__h=[],L.__e(n,t.__v)}}}while(In.
length)}L.__b=function(t){X=null,Qo&&Qo(t)},L.__=function(t,e){t&&e.__k&&e.__k.__m&&(t.__m=e.__k.__m),tr&&tr(t,e)},L.__r=
function(t){Vo&&Vo(t),Se=0;var e=(X=t.__c).__H;e&&(Mn==X?X.__h=[]:(e.__h.some(rt),e.__h.some(On),Se=0),e.__h=[],e.__.some(
function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Mn=X},L.diffed=function(t){Yo&&Yo(t);var e=t.__c;e&&e.__H&&(e.__H.__h.
length&&or(rr.push(e)),e.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Mn=X=null},L.__c=function(t,e){e.some(function(n){try{
n.__h.some(rt),n.__h=n.__h.filter(function(o){return!o.__||On(o)})}catch(o){n.__h=[function(){throw o}]}}),Zo&&Zo(t,e)},
L.unmount=function(t){er&&er(t);var e,n,o=t.__c;o&&o.__H&&(o.__H.__.some(function(r){try{if(r.__P&&r.__c){if(n===void 0){
for(n=t.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}r.__P=n,or(In.push(r))}else rt(r)}catch(i){e=i}}),o.__H=void 0,e&&
L.__e(e,o.__v))};var nr=typeof requestAnimationFrame=="function";function _i(t){var e,n=function(){clearTimeout(o),nr&&cancelAnimationFrame(
e),setTimeout(t)},o=setTimeout(n,35);nr&&(e=requestAnimationFrame(n))}function or(t){t!=1&&Ko==L.requestAnimationFrame||
((Ko=L.requestAnimationFrame)||_i)(wi)}function rt(t){var e=X,n=t.__c;typeof n=="function"&&(t.__c=void 0,n()),X=e}function On(t){
var e=X;t.__c=t.__(),X=e}function Rn(t,e){return!t||t.length!=e.length||e.some(function(n,o){return!$n(n,t[o])})}function ar(t,e){
return typeof e=="function"?e(t):e}var H=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,n,o,r=0){super(o),this.code=e,this.status=
n,this.retryAfter=r}};async function lr(t){let e=Number(t.headers.get("Retry-After"))||0,n;try{n=await t.json()}catch{n=
void 0}let{code:o,detail:r,title:i}=n??{},a=[r,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${t.status}`;return new H(typeof o=="string"?o:"unknown",t.status,l,e)}function W(t){let e=t instanceof
Error?t.message:String(t),n=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(n)?n:`${n}.`}var vi=4,Nn=new H("no_session",401,"you are signed out; sign in to go on"),kt=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,n={})=>this.call("GET",e,n);async call(e,n,o={}){let{gate:r}=this.#e;for(let i=0;;i++){if(o.
background&&r.ended)throw Nn;let a=await this.#n(e,n,o);if(a.ok)return await this.#o(a);let l=await lr(a);if(o.bare||i>=
vi)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&r.ended)
throw Nn;let u=await(c==="no_session"?r.signIn():r.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?Nn:
new H(c,403,"the password was not given, so nothing was changed")}}async#n(e,n,{body:o,background:r,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();r&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(n,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new H("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new H("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var xt=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let n=this.#e;n&&(this.#e=void 0,n.question==="sign-in"&&(this.ended=
!e),n.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let n=this.#e;if(n&&n.question!==e)return e==="si\
gn-in"&&(this.#e={...n,question:e}),this.#t(),n.answered;if(n)return n.answered;let o=()=>{},r=new Promise(i=>{o=i});return this.#e=
{question:e,answered:r,answer:o},this.#t(),r}};function Dn(t){let[e="",n=""]=t.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
n))}}function O(t,e={}){let n=ee(e);return`#/${t}${n}`}var ki=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function ee(t){let e=new URLSearchParams;
for(let[o,r]of Object.entries(t))r!==void 0&&r!==""&&e.set(o,String(r).replace(ki,"$1"));let n=e.toString();return n===""?
"":`?${n}`}var xi=new Intl.NumberFormat("en",{maximumFractionDigits:0}),Si=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
Ti=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),cr=["bytes","KiB","MiB","GiB","TiB","PiB"],M=t=>xi.format(t),St=t=>t===0||t>=10?M(t):Si.format(
t);function R(t,e,n=`${e}s`){return`${M(t)} ${t===1?e:n}`}function j(t){let e=0,n=t;for(;n>=1024&&e<cr.length-1;)n/=1024,
e++;return`${e===0||n>=100?M(n):n.toFixed(1)} ${cr[e]}`}function Fn(t){let e=Math.round(Math.abs(t)/1e3),n=[];for(let[o,
r]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/r);if(e-=i*r,i>0)n.push(`${i} ${o}`);else if(n.length>
0)break;if(n.length===2)break}return n.join(" ")||"0 s"}function at(t,e){let n=(typeof t=="number"?t:Date.parse(t))-e;if(Number.
isNaN(n))return"";let o=Math.abs(n)<6e4?1e3:Math.abs(n)<864e5?6e4:36e5,r=Fn(Math.trunc(n/o)*o);return n>=0?`in ${r}`:`${r}\
 ago`}function ge(t){let e=new Date(t);if(Number.isNaN(e.getTime()))return"";let n=Object.fromEntries(Ti.formatToParts(e).
map(({type:o,value:r})=>[o,r]));return`${n.year}-${n.month}-${n.day} ${n.hour}:${n.minute}:${n.second} UTC`}function Te(t){let e=0;for(let n of t)e++;return e}function Xn(t){return new TextEncoder().encode(t).length}function te(t){
return t.split(/[\s,]+/).filter(e=>e!=="")}function Ue(t,e){if(t.length<=e)return t;let n=[...t];return n.length<=e?t:`${n.
slice(0,e-1).join("")}…`}function Je(t,e="and"){return t.length<2?t[0]??"":`${t.slice(0,-1).join(", ")} ${e} ${t[t.length-
1]}`}var He=/^[0-9a-f]{0,32}$/;function We(t){return/^[AM]T_([0-9a-f]{0,32})/.exec(t)?.[1]??t}var Ln=Go(void 0);function P(){let t=ir(Ln);if(!t)throw new Error("there is no console here");return t}function U(){return P().
session.role==="manager"}var Ei=Symbol.for("pv"),Ci=0;function s(t,e,n,o,r,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof t!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:t,props:c,key:n,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Ei,__v:--Ci,__i:-1,__u:0};return(r||
i)&&(u.__source=r,u.__self=i),I.vnode&&I.vnode(u),u}function C({text:t,most:e=80}){let n=Ue(t,e);return s("bdi",{class:"name",...n===t?{}:{title:t},children:n})}function A({
text:t,most:e=256}){let n=Ue(t,e);return s("bdi",{children:s("code",{...n===t?{}:{title:t},children:n})})}function B({at:t,
plain:e}){let{api:n}=P();return t?s("time",{dateTime:t,title:e?at(t,n.serverNow()):ge(t),children:e?ge(t):at(t,n.serverNow())}):
s("span",{children:"–"})}function N({mood:t="plain",children:e}){return s("span",{class:`badge ${t}`,children:e})}function Ee({
text:t}){return s("div",{role:"alert",class:"errors",children:t&&s("p",{class:"note bad",children:t})})}function ue({error:t,
known:e}){return s("div",{role:"alert",class:"errors",children:t&&s("p",{class:"note bad",children:[t," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function K({what:t}){return s("p",{class:"quiet",role:"\
status",children:["Loading ",t,"…"]})}function J({children:t}){return s("div",{class:"empty",children:t})}function pe({
of:t}){return s("dl",{class:"facts",children:t.map(e=>e&&s("div",{class:e[2]?"whole":"",children:[s("dt",{children:e[0]}),
s("dd",{children:e[1]})]},e[0]))})}function dr({text:t,label:e,onCopied:n}){let[o,r]=y("");return $(()=>{if(o==="")return;
let a=setTimeout(()=>r(""),4e3);return()=>clearTimeout(a)},[o]),s("span",{class:"copy",children:[s("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(t),r("Copied."),n?.()}catch{r("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),s("span",{role:"status",class:"quiet",children:o})]})}function ne({text:t,
children:e}){return s("div",{class:"heading",children:[s("h1",{tabIndex:-1,children:t}),e&&s("div",{class:"buttons",children:e})]})}var Tt=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#l())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#l(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#l();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#l()},this.pause)}}};function Y(){let[t,e]=y(!1),[n,o]=y(),r=V({busy:!1,mounted:!0}).current;$(()=>(r.mounted=!0,()=>{r.mounted=!1}),[r]);let i=se(
async a=>{if(!r.busy){r.busy=!0,e(!0),o(void 0);try{await a()}catch(l){r.mounted&&o(W(l))}r.busy=!1,r.mounted&&e(!1)}},[
r]);return{busy:t,error:n,run:i,fail:o}}function fe(t,e,n,o=!1){let[r,i]=y({key:t}),a=V(n);a.current=n;let l=V(void 0);$(
()=>{let u=new Tt({every:e,hidden:()=>document.hidden,ask:async(f,h)=>{try{let p=await a.current({background:f,signal:h});
h.aborted||i({key:t,data:p})}catch(p){throw h.aborted||i(m=>({...m,error:W(p)})),p}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[t,
e]),$(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,t,e]);let c=se(()=>l.current?.refresh(),[]);return{data:r.
data,stale:r.key!==t||r.data===void 0,error:r.error,refresh:c}}function be({label:t,columns:e,rows:n,keyOf:o,detail:r,busy:i}){return s("div",{class:"scroll",children:s("table",{role:"\
table","aria-label":t,"aria-busy":i??!1,children:[s("thead",{role:"rowgroup",children:s("tr",{role:"row",children:e.map(
a=>s("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),s("tbody",{role:"r\
owgroup",children:n.map(a=>{let l=r?.(a);return s(E,{children:[s("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>Pi(
c,a,u===0))}),l&&s("tr",{role:"row",class:"detail",children:s("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function Pi(t,e,n){let o={"data-label":t.label,class:t.number?"number":""},r=s("div",{children:t.cell(e)});return n?s("t\
h",{...o,role:"rowheader",scope:"row",children:r},t.label):s("td",{...o,role:"cell",children:r},t.label)}function qe(t){
return s("button",{type:"button",class:"expand","aria-expanded":t.open,"aria-label":t.label,onClick:t.onToggle,children:t.
children})}function Ce({page:t,more:e,onPrevious:n,onNext:o}){return t===1&&!e?null:s("nav",{class:"pages","aria-label":"\
Pages",children:[s("button",{type:"button",disabled:t===1,onClick:n,children:"Previous page"}),s("span",{children:["Page\
 ",t]}),s("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function lt({status:t}){if(!t)return s("span",{children:"–"});let{driver:e,usable:n,error:o,writable:r,replicas:i}=t.store;
return s("span",{class:"state",children:[s("span",{children:e}),n?r?s(N,{mood:"good",children:"ready"}):s(N,{mood:"warn",
children:"read only"}):s(N,{mood:"bad",children:"not usable"}),i&&s("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&s(C,{text:o,most:200})]})}function ct({status:t}){return t?s("span",{class:"\
state",children:[s("span",{children:t.broker.driver}),t.broker.linked?s(N,{mood:"good",children:"linked"}):s(N,{mood:"ba\
d",children:"link lost"})]}):s("span",{children:"–"})}var Ai={websocket:"WebSocket",webtransport:"WebTransport"},ze=t=>Ai[t]??
t;function Et({edge:t}){return t.self&&t.name!=="this edge"?s(N,{children:"this edge"}):null}function Ge(t){let e=t.edges.
filter(n=>!n.answered);return s("div",{role:"alert",class:"errors",children:e.length>0&&s("div",{class:"note warn",children:[
s("p",{children:[e.length===1?"An edge does not answer":`${e.length} edges do not answer`,"."," ",t.missing[e.length===1?
0:1]]}),s("ul",{children:[e.slice(0,20).map(n=>s("li",{children:[s(C,{text:n.name}),n.error&&s(E,{children:[": ",s(C,{text:n.
error,most:200})]})]},n.id)),e.length>20&&s("li",{children:["and ",e.length-20," more"]})]})]})})}function T(t){let{label:e,value:n,onInput:o,hint:r,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:f,
options:h}=t,p=je(),m=f&&f.now>f.most,w=i??(m?`At most ${f.most} ${f.unit}.`:void 0),_={id:p,value:n,readOnly:d??!1,class:c?
"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,autofocus:t.autoFocus??!1,"aria-invalid":w!==void 0,"aria-de\
scribedby":`${p}-help`,onInput:b=>o(b.currentTarget.value)};return s("div",{class:"field",children:[s("label",{for:p,children:e}),
l?s("textarea",{..._,rows:l}):a==="password"?s("input",{..._,type:"password"}):s("input",{..._,type:"text",list:h&&`${p}\
-list`}),h&&s("datalist",{id:`${p}-list`,children:h.map(b=>s("option",{value:b},b))}),s("div",{id:`${p}-help`,class:"hel\
p",children:[r&&s("p",{children:r}),f&&s("p",{class:m?"wrong":"",children:[f.now," of ",f.most," ",f.unit]}),w&&s("p",{class:"\
wrong",children:w})]})]})}function q({label:t,value:e,onInput:n,hint:o,options:r}){let i=je();return s("div",{class:"fie\
ld",children:[s("label",{for:i,children:t}),s("select",{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>n(a.currentTarget.
value),children:r.map(([a,l])=>s("option",{value:a,children:l},a))}),s("div",{id:`${i}-help`,class:"help",children:o&&s(
"p",{children:o})})]})}function we({label:t,checked:e,onChange:n,hint:o}){let r=je();return s("div",{class:"check",children:[
s("input",{id:r,type:"checkbox",checked:e,"aria-describedby":`${r}-help`,onChange:i=>n(i.currentTarget.checked)}),s("lab\
el",{for:r,children:t}),s("p",{id:`${r}-help`,class:"help",children:o})]})}function he({title:t,onClose:e,children:n,wide:o}){let r=V(null),i=V(!1),a=je();return sr(()=>{let l=r.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),s("dialog",{ref:r,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===r.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&r.current?.open===!1&&r.current.showModal()}))},children:[s("h2",{id:a,children:t}),n]})}function ie({action:t,
submit:e,danger:n,disabled:o,onSubmit:r,onCancel:i,children:a,extra:l}){return s("form",{noValidate:!0,"aria-busy":t.busy,
onSubmit:c=>{c.preventDefault(),o||t.run(r)},children:[a,s(Ee,{text:t.error}),s("div",{class:"buttons",children:[s("butt\
on",{type:"submit",class:n?"danger":"primary",disabled:o,"aria-disabled":t.busy,children:e}),i&&s("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function Ct({title:t,label:e,secret:n,onClose:o,children:r}){let[i,a]=y(!1),[l,c]=y(!1);return s(he,{title:t,wide:!0,onClose:()=>i||
l?o():a(!0),children:[s("p",{class:"note warn",children:[s("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),s(Pt,{label:e,text:n,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),r,s("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),s("div",{class:"buttons",children:s("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function Pt({
label:t,text:e,copy:n,onCopied:o}){return s("div",{class:"snippet",children:[s("div",{class:"snippet-head",children:[s("\
h3",{children:t}),s(dr,{text:e,label:n,onCopied:o})]}),s("pre",{tabIndex:0,"aria-label":t,role:"region",children:e})]})}var Mi=20;function pr(t,e=""){let n=[];for(let[o,r]of(t.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=dt(r.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=r.allow_channels_pub??[],c=r.allow_channels_sub??[];l.length>0&&n.push(
["may publish to ",...dt(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&n.push(["may subscribe to ",...dt(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=r.allow_channels_history??[];u.length>0&&n.push(["may read stored messages o\
f ",...dt(u,`${i}.allow_channels_history`,e)," in ",...a]),l.length+c.length===0&&n.push(["may neither publish nor subsc\
ribe in ",...a])}return n.push(At("from ",t.allow_ip_masks,"right.allow_ip_masks",e,"any address")),t.allowed_ws_origin?.
length&&n.push(At("from pages of ",t.allowed_ws_origin,"right.allowed_ws_origin",e,"")),t.allow_regions?.length&&n.push(
At("at edges in ",t.allow_regions,"right.allow_regions",e,"")),n.push(At("by ",t.allow_protocols,"right.allow_protocols",
e,"WebSocket or WebTransport")),n.push([`may send ${ur(t.ingress_kb_per_sec)} and receive ${ur(t.egress_kb_per_sec)} on \
each connection`]),n}function fr(t){return/^right\.[\w.[\]]+/.exec(t??"")?.[0]??""}function hr(t,e){return e!==""&&(t===e||t.startsWith(`${e}\
[`))}function ur(t){return t===void 0?"as much as the edge's default":`${t.toLocaleString("en")} KB/s`}function At(t,e,n,o,r){
return e?.length?[t,...dt(e,n,o,"or")]:[t+r]}function dt(t,e,n,o="and"){let r=t.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=r.filter((c,u)=>u<Mi||c.path===n),a=r.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${R(a,"other")}`),l}function mr({token:t,onAction:e}){let n=U(),o=t.token_id.slice(0,12),r=(i,a)=>s("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return s("div",{class:"token-detail",children:[s("div",{children:[s("h2",{children:"\
What it allows"}),s(Bn,{right:t.right,mark:""})]}),s(pe,{of:[["Id",s(A,{text:t.token_id},"id"),"wide"],t.subject?["Subje\
ct",s(C,{text:t.subject,most:128},"subject")]:void 0,t.info?["Info",s(A,{text:JSON.stringify(t.info),most:1024},"info"),
"wide"]:void 0,t.description?["Description",s(C,{text:t.description,most:512},"description")]:void 0,["Made",s(B,{at:t.created_at,
plain:!0},"made")],["Ends",s(B,{at:t.expires_at,plain:!0},"ends")],t.revoked_at?["Revoked",s(B,{at:t.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",t.master_id?s(A,{text:t.master_id},"master"):"the console or the admin API"]]}),s("div",
{class:"buttons",children:[n&&t.status==="valid"&&r("refresh","Refresh"),n&&t.status!=="revoked"&&r("revoke","Revoke"),r(
"explain","Explain"),s("a",{class:"button",href:O("connections",{token_id:t.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),t.subject&&s("a",{class:"button",href:O("tokens",{subject:t.subject}),"aria-label":`All of the \
subject of ${o}`,children:"All of its subject"})]})]})}function Bn({right:t,mark:e}){return s("ul",{class:"right",children:pr(
t,e).map((n,o)=>s("li",{children:s($i,{sentence:n,mark:e})},o))})}function $i({sentence:t,mark:e}){return s(E,{children:t.
map(n=>{if(typeof n=="string")return n;let o=s(A,{text:n.rule},n.path);return hr(n.path,e)?s("mark",{children:o},n.path):
o})})}var Ii=[["subscribe","subscribe"],["history","read stored messages"],["publish","publish"],["connect","connect"]],Oi=[["",
"not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function gr({token:t,onClose:e}){let{api:n}=P(),
o=Y(),[r,i]=y(t),[a,l]=y(),[c,u]=y({token_id:t?.token_id??"",action:"subscribe",tenant:t?.right.tenant_grants?.[0]?.tenant_ids?.[0]??
"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=p=>m=>u(w=>({...w,[p]:m.trim()})),f=c.action==="connect";return s(
he,{title:"Explain",wide:!0,onClose:e,children:[s("p",{class:"quiet",children:"Asks the edge whether a token allows some\
thing, and by which of its rules."}),s(ie,{action:o,submit:"Explain",onSubmit:async()=>{let{token_id:p}=c;if(!/^[0-9a-f]{32}$/.
test(p))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secret does not belong here");let{tenant:m,
channel:w,..._}=c;l(void 0);let b=f?_:{..._,tenant:m,channel:w},k=await n.call("POST","explain",{body:b});if(r?.token_id!==
p){let g=await n.get(`tokens${ee({id:p,limit:1})}`);i(g.tokens?.find(S=>S.token_id===p))}l(k)},extra:s("button",{type:"b\
utton",onClick:e,children:"Close"}),children:[s(T,{label:"Token id",value:c.token_id,onInput:p=>d("token_id")(We(p.trim())),
mono:!0,autoFocus:!t}),s("div",{class:"row",children:[s(q,{label:"Action",value:c.action,onInput:d("action"),options:Ii}),
!f&&s(T,{label:"Tenant",value:c.tenant,onInput:d("tenant"),mono:!0,autoFocus:t!==void 0}),!f&&s(T,{label:c.action==="pub\
lish"?"Channel":"Pattern",value:c.channel,onInput:d("channel"),mono:!0})]}),s("div",{class:"row",children:[s(T,{label:"A\
ddress",value:c.ip,onInput:d("ip"),mono:!0,hint:"Of the client, if it matters."}),s(T,{label:"Origin",value:c.origin,onInput:d(
"origin"),mono:!0,hint:"Of its page."}),s(q,{label:"Transport",value:c.protocol,onInput:d("protocol"),options:Oi}),s(T,{
label:"Region",value:c.region,onInput:d("region"),mono:!0,hint:"Of the edge."})]}),s("div",{role:"status",class:"answer",
children:a&&s(Ri,{answer:a,token:r})})]})]})}function Ri({answer:t,token:e}){let n=fr(t.rule);return s(E,{children:[s("p",
{children:[s(N,{mood:t.allowed?"good":"bad",children:t.allowed?"allowed":"not allowed"})," ",s("bdi",{children:t.reason}),
"."]}),t.rule&&s("p",{children:["Rule: ",s(A,{text:t.rule,most:600})]}),e&&s(Bn,{right:e.right,mark:n})]})}var Ni={s:1e3,m:6e4,h:36e5,d:864e5},Di=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
yr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function jn(t,e){let n=t.trim();
if(n==="")return{error:yr};let o=Fi(n),r=o===void 0?Xi(n):e+o;return r===void 0?{error:yr}:r<=e?{error:"This is over alr\
eady. The end must be in the future."}:r>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
r/1e3)*1e3)}}function Fi(t){let e=t,n=0;for(;e!=="";){let o=Di.exec(e),r=Ni[o?.[2]?.toLowerCase()??""];if(!o||r===void 0)
return;n+=Number(o[1])*r,e=e.slice(o[0].length)}return n}function Xi(t){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(t))return;let e=Date.parse(t.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function ae({title:t,submit:e,danger:n,disabled:o,onClose:r,onConfirm:i,children:a}){let l=Y();return s(he,{title:t,onClose:r,
children:s(ie,{action:l,submit:e,danger:n,disabled:o,onSubmit:i,onCancel:r,children:a})})}var br=50,Li=20;async function Bi(t,e,n,o,r){let i={tokens:[],next:n,asked:0};do{let a={limit:br-i.tokens.length,cursor:i.
next},l=await t.get(`tokens${ee({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},r(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<br);return i}async function wr(t,e,n){
let o=0,r="";for(let i=0;i<Li;i++){let a=ee({subject:e,status:"valid",limit:1e3,cursor:r}),l=await t.get(`tokens${a}`,{signal:n});
if(o+=l.tokens?.length??0,r=l.next_cursor??"",r==="")return{count:o,all:!0}}return{count:o,all:!1}}function _r(t,e){let[
n,o]=y([""]),[r,i]=y(),[a,l]=y(!1),[c,u]=y(),d=V(void 0),f=JSON.stringify(e),h=V(e);h.current=e;let p=se(async w=>{d.current?.
abort();let _=new AbortController;d.current=_;let b=()=>d.current===_;l(!0),u(void 0);try{await Bi(t,h.current,w,_.signal,
k=>b()&&i(k))}catch(k){b()&&u(W(k))}b()&&l(!1)},[t]);$(()=>(o([""]),i(void 0),p(""),()=>{d.current?.abort(),d.current=void 0}),
[f,p]);let m=w=>{o(w),p(w[w.length-1]??"")};return{found:r,busy:a,error:c,page:n.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...n.slice(0,-1),r?.next??""]),refresh:()=>m(n),next:()=>m([...n,r?.next??""]),previous:()=>m(n.slice(0,-1))}}var vr=t=>`tokens/${encodeURIComponent(t.token_id)}`;function Un({label:t,value:e,onInput:n}){let{api:o}=P(),r=o.serverNow(),
i=jn(e,r);return s(T,{label:t,value:e,onInput:n,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${ge(i.at.getTime())}, ${at(i.at.getTime(),r)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function Jn(t,e){let n=jn(t,e);if(!n.at)throw new Error(n.error);return n.at.toISOString().replace(/\.\d+Z$/,"Z")}
function kr({token:t,onClose:e,onDone:n}){let{api:o}=P(),[r,i]=y("1h");return s(ae,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:Jn(r,o.serverNow())},{new_expires_at:c}=await o.call("PUT",vr(t),
{body:l});n(`The token ${t.token_id.slice(0,12)}… now ends ${ge(c)}.`)},children:[s("p",{children:["The token ",s(A,{text:t.
token_id})," of ",s(C,{text:t.created_by,most:40})," ends"," ",s(B,{at:t.expires_at}),". Its open connections go on unti\
l the new end."]}),s(Un,{label:"New end",value:r,onInput:i})]})}function xr({token:t,onClose:e,onDone:n}){let{api:o}=P(),
[r,i]=y("The connections that end are being counted…");return $(()=>{let l=new AbortController;return ji(t.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${W(c)}`)),
()=>l.abort()},[o,t.token_id]),s(ae,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",vr(t),{body:{}}),n(`The token ${t.token_id.slice(0,12)}… was revoked.`)},children:[s("p",{children:[
"The token ",s(A,{text:t.token_id})," of ",s(C,{text:t.created_by,most:40})," stops working at once, for good."]}),s("p",
{role:"status",children:r})]})}function Sr({subject:t,onClose:e,onDone:n}){let{api:o}=P(),[r,i]=y("Its tokens are being \
counted…");return $(()=>{let l=new AbortController;return wr(o,t,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${R(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${W(c)}`)),()=>l.abort()},[o,t]),s(ae,{title:"Revoke all tokens of this subject",submit:"Re\
voke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(t)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});n(`${R(c,"token")} revoked.`)},children:[s("p",{children:["All tokens of ",s(C,{text:t,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),s("p",{role:"status",children:r})]})}function ji(t){
return async(e,n)=>{let r=(await e.get(`connections${ee({token_id:t,limit:1})}`,{signal:n})).edges??[],i=r.reduce((c,u)=>c+
u.matching,0),a=r.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${R(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${Je(a.slice(0,10))}, which did not answe\
r.`}}var Tr=/^[\w\-~@.]*$/;function ut(t){let e=/[A-Za-z0-9]$/.test(t)?`${t}.`:t;return Tr.test(e)&&e.length<=127?e:void 0}var Er="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function Pe(t){return t.length>0&&t.length<=128&&Tr.
test(t)}function Mt(t){let e=t.indexOf("/"),n=e<0?t:t.slice(0,e);if(n.includes("%"))return"has a zone, which a mask may not have";
let o=Cr(n),r=o?void 0:Ui(n);if(!o&&!r)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(r&&Hi(r))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=t.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function Cr(t){let e=t.split(".");return e.length===
4&&e.every(n=>/^(0|[1-9]\d{0,2})$/.test(n)&&Number(n)<=255)}function Ui(t){let e=t.split("::");if(e.length>2)return;let[
n,o]=e.map((i,a)=>Ji(i,a===e.length-1));if(!n||e.length===2&&!o)return;if(!o)return n.length===8?n:void 0;let r=8-n.length-
o.length;return r<1?void 0:[...n,...new Array(r).fill(0),...o]}function Ji(t,e){if(t==="")return[];let n=[],o=t.split(":");
for(let[r,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))n.push(Number.parseInt(i,16));else if(e&&r===o.length-1&&Cr(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);n.push(a*256+l,c*256+u)}else return;return n}function Hi(t){return t.slice(
0,5).every(e=>e===0)&&t[5]===65535}var Wn=64,qn=512,Pr=256,Wi=2**40,Hn=t=>t?String(t):"";function Ar(t){return{name:t?.name??"",description:t?.description??
"",prefix:t?.tenant_prefix??"",masks:(t?.allow_ip_masks??[]).join(`
`),maxTokens:Hn(t?.max_tokens),maxBytes:Hn(t?.max_bytes),calls:Hn(t?.calls_per_second)}}function zn(t){return{prefix:ut(
t.prefix)===void 0?Er:void 0,masks:It(te(t.masks)),maxTokens:Ae(t.maxTokens),maxBytes:Ae(t.maxBytes),calls:Ae(t.calls)}}
function Mr(t){let e=Te(t.name);return e<1||e>Wn||Te(t.description)>qn?!1:Object.values(zn(t)).every(n=>n===void 0)}function $t(t){
return{name:t.name,description:t.description,tenant_prefix:ut(t.prefix)??t.prefix,allow_ip_masks:te(t.masks),max_tokens:Number(
t.maxTokens),max_bytes:Number(t.maxBytes),calls_per_second:Number(t.calls)}}function $r(t,e){let n=$t(t),o=Object.entries(
$t(e)).filter(([r,i])=>JSON.stringify(i)!==JSON.stringify(n[r]));return Object.fromEntries(o)}function It(t){if(t.length>
Pr)return`At most ${Pr} masks.`;for(let e of t){let n=Mt(e);if(n)return`${e} ${n}.`}}function Ae(t,e=Wi){if(!(t===""||/^\d{1,13}$/.
test(t)&&Number(t)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var qi=256,zi=128,Ir=2**31;function Or({onClose:t,onIssued:e}){let{api:n,session:o}=P(),r=Y(),[i,a]=y({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",egress:"",
websocket:!0,webtransport:!0}),l=d=>f=>a(h=>({...h,[d]:f})),c=te(i.tenants).find(d=>!Pe(d));return s(he,{title:"Issue a \
trial token",onClose:t,children:[s("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend, which h\
olds a master token."}),s(ie,{action:r,submit:"Issue",onSubmit:async()=>{let d=te(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||It(te(i.masks))||Ae(i.ingress)||Ae(i.egress))throw new Error("correct the fields t\
hat are marked");let f=m=>m===""?void 0:Number(m),h=i.websocket!==i.webtransport,p={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:te(i.pub),allow_channels_sub:te(
i.sub),allow_channels_history:te(i.history)}],allow_ip_masks:te(i.masks),allowed_ws_origin:te(i.origins),allow_regions:te(
i.regions),allow_protocols:h?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:f(i.ingress),egress_kb_per_sec:f(
i.egress),expires_at:Jn(i.end,n.serverNow())}};e(await n.call("POST","tokens",{body:p}))},onCancel:t,children:[s(T,{label:"\
Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c} is no tenant: 1 to 128 of a-z A\
-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),s("div",{class:"row",children:[s(T,{label:"May publish to",value:i.
pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),s(T,{label:"May subscribe to",value:i.sub,onInput:l(
"sub"),rows:2,mono:!0,hint:"# is every channel."})]}),s(T,{label:"May read stored messages of",value:i.history,onInput:l(
"history"),rows:2,mono:!0,hint:"Of what it may subscribe to. Nothing: subscriptions begin now."}),s(Un,{label:"Valid unt\
il",value:i.end,onInput:l("end")}),s("div",{class:"row",children:[s(T,{label:"Created by",value:i.createdBy,onInput:l("c\
reatedBy"),count:{now:Xn(i.createdBy),most:qi,unit:"bytes"}}),s(T,{label:"Description",value:i.description,onInput:l("de\
scription"),count:{now:Te(i.description),most:512,unit:"characters"}})]}),s(T,{label:"Subject",value:i.subject,onInput:l(
"subject"),count:{now:Xn(i.subject),most:zi,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),s("details",{children:[
s("summary",{children:"More limits"}),s(T,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:It(te(i.
masks))}),s(T,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.c\
om"}),s(T,{label:"Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),s("fieldset",{children:[
s("legend",{children:"Transports"}),s(we,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),s(we,{label:"W\
ebTransport",checked:i.webtransport,onChange:l("webtransport")})]}),s("div",{class:"row",children:[s(T,{label:"May send,\
 KB/s",value:i.ingress,onInput:l("ingress"),error:Ae(i.ingress,Ir)}),s(T,{label:"May receive, KB/s",value:i.egress,onInput:l(
"egress"),error:Ae(i.egress,Ir)})]})]})]})]})}var Gi=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],Ki={valid:"good",expired:"plain",revoked:"\
bad"};function Rr({query:t}){let{api:e,notify:n}=P(),o=U(),[r,i]=y(),a={id:t.id??"",tenant:t.tenant??"",subject:t.subject??
"",created_by:t.created_by??"",status:t.status??""},l=_r(e,a),c=()=>i(void 0),u=d=>{c(),n(d),l.refresh()};return s(E,{children:[
s(ne,{text:"Access tokens",children:[s("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Ex\
plain"}),o&&a.subject!==""&&s("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&s("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),s(Qi,{query:a,onSearchAgain:l.refresh}),s(ue,{error:l.error,known:!1}),s(Vi,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,f)=>i({what:d,token:f})}),r?.what==="issue"&&s(Or,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),r?.what==="issued"&&s(Ct,{title:"The access token",label:"Access token",secret:r.issued.
token,onClose:c,children:s("p",{children:["Its id is ",s(A,{text:r.issued.token_id}),". It expires ",ge(r.issued.expires_at),
"."]})}),r?.what==="explain"&&s(gr,{token:r.token,onClose:c}),r?.what==="refresh"&&s(kr,{token:r.token,onClose:c,onDone:u}),
r?.what==="revoke"&&s(xr,{token:r.token,onClose:c,onDone:u}),r?.what==="revoke subject"&&s(Sr,{subject:r.subject,onClose:c,
onDone:u})]})}function Qi({query:t,onSearchAgain:e}){let[n,o]=y(t),r=JSON.stringify(t);$(()=>o(t),[r]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return s("search",{children:s("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!He.test(n.id))return;let l=O("tokens",n);l===O("tokens",t)?e():location.hash=l},children:[s(T,{label:"\
Id",value:n.id,onInput:a=>i("id")(We(a.trim())),mono:!0,error:He.test(n.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),s(T,{label:"Tenant",value:n.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),s(T,{label:"Subject",value:n.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),s(T,{label:"\
Created by",value:n.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),s(q,{label:"State",value:n.
status,onInput:i("status"),options:Gi}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"\
Search"}),s("a",{class:"button",href:O("tokens"),children:"Clear"})]})]})})}function Vi({search:t,filtered:e,onAction:n}){
let[o,r]=y(),i=U(),{found:a,busy:l}=t,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return s(E,{children:[
s("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&s("span",{children:["Still searching: ",R(c.length,
"token")," found so far."]}),u&&s("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&s("but\
ton",{type:"button",onClick:t.stop,children:"Stop the search"}),u&&s("button",{type:"button",onClick:t.goOn,children:"Se\
arch on"}),l&&!a&&s(K,{what:"the access tokens"}),c.length>0&&s(be,{label:"Access tokens",columns:Yi(o,r),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&s(mr,{token:d,onAction:f=>n(f,d)})}),!l&&a&&c.length===0&&a.next===""&&s(J,{children:e?
s("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):s("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),s(Ce,{page:t.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:t.previous,onNext:t.next})]})}
function Yi(t,e){return[{label:"Id",cell:({token_id:n})=>s(qe,{open:t===n,label:`Details of token ${n.slice(0,12)}`,onToggle:()=>e(
t===n?void 0:n),children:s("code",{children:n.slice(0,12)})})},{label:"Subject",cell:({subject:n})=>n?s(C,{text:n,most:40}):
s(E,{children:"–"})},{label:"Created by",cell:({created_by:n})=>s(C,{text:n,most:40})},{label:"Tenants",cell:({right:n})=>s(
Gn,{names:(n.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:n})=>s(N,{mood:Ki[n]??"plai\
n",children:n})},{label:"Made",cell:({created_at:n})=>s(B,{at:n})},{label:"Ends",cell:({expires_at:n})=>s(B,{at:n})}]}function Gn({
names:t}){let e=[...new Set(t)];return e.length===0?s(E,{children:"–"}):s("span",{class:"list",title:e.length>2?Je(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(n=>s(A,{text:n,most:40},n)),e.length>2&&s("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var Ke=t=>`${t.edge}:${t.id}`,Nr=t=>t?M(t):"none";function Dr(t,e,n){return[{label:"Connection",cell:r=>{let i=Ke(r);return s(
qe,{open:e===i,label:`Details of connection ${r.id} at ${r.edge_name}`,onToggle:()=>n(e===i?void 0:i),children:r.id})}},
...t?[{label:"Edge",cell:r=>s(C,{text:r.edge_name,most:40})}]:[],{label:"Token",cell:r=>s("a",{href:O("tokens",{id:r.token_id}),
"aria-label":`Token ${r.token_id.slice(0,8)}`,children:s("code",{children:r.token_id.slice(0,8)})})},{label:"Subject",cell:({
subject:r})=>r?s(C,{text:r,most:40}):s(E,{children:"–"})},{label:"Tenants",cell:r=>s(Gn,{names:r.tenants??[]})},{label:"\
Address",cell:r=>s("span",{class:"address",children:r.ip?s(A,{text:r.ip}):"unknown"})},{label:"Transport",cell:r=>s(E,{children:[
ze(r.transport)," ",r.draining&&s(N,{mood:"warn",children:"draining"})]})},{label:"Since",cell:r=>s(B,{at:r.since})},{label:"\
Subscriptions",number:!0,cell:r=>M(r.subscriptions)},{label:"Queue",number:!0,cell:r=>j(r.queued_bytes)},{label:"Caps, K\
B/s",cell:r=>`in ${Nr(r.ingress_kb_per_sec)}, out ${Nr(r.egress_kb_per_sec)}`},{label:"Dropped",number:!0,cell:r=>M(r.dropped)}]}var Zi=5e3,Kn=200;function Fr({connection:t,onDisconnect:e}){let{api:n}=P(),o=U(),r=`connections/${encodeURIComponent(t.
edge)}/${t.id}`,{data:i,error:a}=fe(Ke(t),Zi,async d=>{try{return await n.get(r,d)}catch(f){if(f instanceof H&&f.status===
404&&f.code!=="not_found")return"gone";throw f}}),l=i==="gone"?void 0:i,c=l??t,u=`connection ${c.id} at ${c.edge_name}`;
return s("div",{class:"connection-detail",children:[i==="gone"&&s("p",{role:"status",children:"It is closed now."}),s(Ee,
{text:a}),s(pe,{of:[["Token",s(A,{text:c.token_id},"token"),"wide"],c.subject?["Subject",s(C,{text:c.subject,most:128},"\
subject")]:void 0,["Token ends",s(B,{at:c.expires_at},"expires")],["Waiting in its queue",j(c.queued_bytes)],["Dropped d\
eliveries",M(c.dropped)]]}),s("h2",{children:"Subscriptions"}),!i&&!a&&s(K,{what:"the subscriptions"}),l&&s(ea,{detail:l}),
s("div",{class:"buttons",children:[o&&i!=="gone"&&s("button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,children:"\
Disconnect"}),s("a",{class:"button",href:O("connections",{token_id:c.token_id}),children:"All of its token"}),c.subject&&
s("a",{class:"button",href:O("connections",{subject:c.subject}),children:"All of its subject"}),s("a",{class:"button",href:O(
"tokens",{id:c.token_id}),children:"Its token"})]})]})}function ea({detail:t}){let e=t.patterns??[],n=e.length-Kn+(t.more_patterns??
0);return e.length===0?s("p",{children:"It is subscribed to nothing."}):s("ul",{class:"chips patterns","aria-label":"Sub\
scriptions",tabIndex:0,children:[e.slice(0,Kn).map(({tenant:o,pattern:r})=>s("li",{children:[s(A,{text:r})," in ",s(A,{text:o})]},
`${o} ${r}`)),e.length<Kn?(t.more_patterns??0)>0&&s("li",{children:["and ",R(t.more_patterns??0,"more","more")]}):n>0&&s(
"li",{children:["and ",M(n)," more"]})]})}var ta=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Xr({query:t,edges:e,onAgain:n}){let[
o,r]=y(t),i=JSON.stringify(t);$(()=>r(t),[i]);let a=d=>f=>r(h=>({...h,[d]:f.trim()})),l=o.ip===""?void 0:Mt(o.ip),c=e.map(
d=>[d.id,Ue(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,Ue(o.edge,60)]]:[];return s("search",{children:s(
"form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{if(d.preventDefault(),l||!He.test(o.token_id))return;
let f=O("connections",o);f===O("connections",t)?n():location.hash=f},children:[s(T,{label:"Token id",value:o.token_id,onInput:d=>a(
"token_id")(We(d.trim())),mono:!0,error:He.test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole\
 id."}),s(T,{label:"Subject",value:o.subject,onInput:d=>r(f=>({...f,subject:d})),hint:"The whole subject."}),s(T,{label:"\
Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),s(T,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`I\
t ${l}.`,hint:"One, or a CIDR."}),s(q,{label:"Transport",value:o.transport,onInput:a("transport"),options:ta}),s(q,{label:"\
Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),s("div",{class:"buttons",children:[s("button",{type:"\
submit",class:"primary",children:"Filter"}),s("a",{class:"button",href:O("connections"),children:"Clear"})]})]})})}function Lr({target:t,onClose:e,onDone:n}){let{api:o}=P(),{connection:r,tokenID:i}=t,[a,l]=y(r===void 0);return s(ae,{title:r?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!r?{token_id:i}:{edge:r.edge,id:r.id},{disconnected:d,unanswered:f}=await o.call("POST","connections/disconnect",
{body:u}),h=f??[],p=h.length>0?` Not reached: ${Je(h.slice(0,10))}, which did not answer. Try again later.`:"";n(`${R(d,
"connection")} disconnected.${p}`)},children:[r&&s("p",{children:["Connection ",r.id," at ",s(C,{text:r.edge_name})," is\
 closed."]}),r&&s(we,{label:"All connections of its token",checked:a,onChange:l,hint:"At every edge."}),!r&&s("p",{children:[
"All connections of the token ",s(A,{text:i})," are closed, at every edge."]}),s("p",{children:["A client may come back \
while its token is valid. To keep it away,"," ",s("a",{href:O("tokens",{id:i}),children:"revoke the token"})," in place \
of this."]})]})}var na=100,oa=3e3;function Br({query:t}){let{api:e,notify:n}=P(),o=U(),[r,i]=y(!1),[a,l]=y([""]),[c,u]=y(),d={token_id:t.
token_id??"",subject:t.subject??"",tenant:t.tenant??"",ip:t.ip??"",transport:t.transport??"",edge:t.edge??""},f=ee(d);$(
()=>l([""]),[f]);let h=`connections${ee({...d,limit:na,cursor:a[a.length-1]})}`,{data:p,stale:m,error:w,refresh:_}=fe(h,
oa,g=>e.get(h,g),r),b=p?.edges??[],k=p?.connections??[];return s(E,{children:[s(ne,{text:"Connections",children:[s("butt\
on",{type:"button","aria-pressed":r,onClick:()=>i(!r),children:r?"Resume":"Pause"}),o&&d.token_id!==""&&s("button",{type:"\
button",onClick:()=>u({tokenID:d.token_id}),children:"Disconnect all of this token"})]}),s(Xr,{query:d,edges:b,onAgain:_}),
s(ue,{error:w,known:p!==void 0}),s(Ge,{edges:b,missing:["Its connections are not listed.","Their connections are not lis\
ted."]}),!p&&!w&&s(K,{what:"the connections"}),p&&s(ra,{edges:b,paused:r}),k.length>0&&s(sa,{rows:k,several:b.length>1,busy:m,
onDisconnect:g=>u({connection:g,tokenID:g.token_id})}),p&&!m&&k.length===0&&a.length===1&&s(J,{children:f===""?s("p",{children:"\
No client is connected. Clients appear here as they connect with an access token."}):s("p",{children:"No connection matc\
hes. Ask for less, or clear the filters."})}),s(Ce,{page:a.length,more:!m&&(p?.next_cursor??"")!=="",onPrevious:()=>l(a.
slice(0,-1)),onNext:()=>l([...a,p?.next_cursor??""])}),c&&s(Lr,{target:c,onClose:()=>u(void 0),onDone:g=>{u(void 0),n(g),
_()}})]})}function ra({edges:t,paused:e}){let n=t.reduce((r,i)=>r+i.total,0),o=t.reduce((r,i)=>r+i.matching,0);return s(
"div",{class:"totals",children:[s("p",{children:[o===n?`${R(n,"connection")}.`:`${M(o)} of ${R(n,"connection")} match.`,
e&&s("strong",{children:" Paused: the list is as it was."})]}),t.length>1&&s("ul",{class:"chips","aria-label":"By edge",
children:t.slice(0,50).map(r=>s("li",{children:[s(C,{text:r.name,most:40})," ",r.answered?M(r.matching):"no answer"]},r.
id))})]})}function sa({rows:t,several:e,busy:n,onDisconnect:o}){let[r,i]=y();return s(be,{label:"Connections",columns:Dr(
e,r,i),rows:t,keyOf:Ke,busy:n,detail:a=>r===Ke(a)&&s(Fr,{connection:a,onDisconnect:()=>o(a)})})}function jr(){let{api:t}=P(),[e,n]=y(),{data:o,error:r,refresh:i}=fe("edges",5e3,l=>t.get("edges",l)),a=o?.edges??[];return s(
E,{children:[s(ne,{text:"Edges"}),s(ue,{error:r,known:o!==void 0}),!o&&!r&&s(K,{what:"the edges"}),s(Ge,{edges:a,missing:[
"What it does is not known.","What they do is not known."]}),o&&a.length===0&&s(J,{children:s("p",{children:"No edge is \
known yet. This one appears within seconds."})}),s("div",{class:"cards",children:a.map(l=>s(ia,{edge:l,onDrain:()=>n(l)},
l.id))}),a.length===1&&s("p",{class:"quiet",children:"This edge is alone. Edges that share a broker, such as NATS, appea\
r here together."}),e&&s(la,{edge:e,onClose:()=>n(void 0),onDone:i})]})}function ia({edge:t,onDrain:e}){let n=U(),{status:o}=t,
r=t.state==="draining"||o?.draining===!0;return s("article",{class:"card","aria-label":`Edge ${t.name}`,children:[s("div",
{class:"card-head",children:[s("h2",{children:s(C,{text:t.name})}),s(Et,{edge:t}),r&&s(N,{mood:"warn",children:"draining"}),
t.state==="silent"&&s(N,{mood:"bad",children:"silent"}),!t.answered&&s(N,{mood:"bad",children:"no answer"}),t.answered&&
!r&&t.state!=="silent"&&s(N,{mood:"good",children:"serving"})]}),s(pe,{of:[["Id",s(A,{text:t.id},"id"),"wide"],["Host",t.
host?s(C,{text:t.host}):"none announced"],["Region",t.region?s(C,{text:t.region}):"none"],!t.self&&["Last heard of",s(B,
{at:t.seen_at},"seen")],...o?aa(o):[]]}),n&&t.answered&&!r&&s("div",{class:"buttons",children:s("button",{type:"button",
"aria-label":`Drain ${t.name}`,onClick:e,children:"Drain"})})]})}function aa(t){let e=Object.entries(t.connections??{}),
n=e.reduce((r,[,i])=>r+i,0),o=e.map(([r,i])=>`${ze(r)} ${M(i)}`).join(", ");return[["Connections",`${M(n)}${t.max_connections>
0?` of ${M(t.max_connections)}`:""}${o?` (${o})`:""}`],["Subscriptions",`${M(t.subscriptions)} to ${M(t.patterns)} patte\
rns`],["Waiting in queues",j(t.queued_bytes)],["Memory",j(t.memory_bytes)],["Token store",s(lt,{status:t},"store"),"wide"],
["Broker",s(ct,{status:t},"broker"),"wide"],["Started",s(B,{at:t.started_at},"started")],["Version",s(C,{text:`${t.version}\
, Caddy ${t.caddy}, ${t.go}`},"version"),"wide"]]}function la({edge:t,onClose:e,onDone:n}){let{api:o,notify:r}=P();return s(
ae,{title:"Drain this edge",submit:"Drain",danger:!0,onClose:e,onConfirm:async()=>{await o.call("POST",`edges/${encodeURIComponent(
t.id)}/drain`,{body:{}}),e(),r(`${t.name} is draining.`),n()},children:[s("p",{children:[s(C,{text:t.name})," will take \
no new connections, and ask its clients to move to another edge. Those that stay are closed when the time of its drain i\
s over."]}),s("p",{children:[s("strong",{children:"Only a restart of the edge ends a drain."}),t.self&&" It is the edge \
that serves this page; the console goes on while it runs."]})]})}function Ur({query:t,names:e,onAgain:n}){let[o,r]=y(t),i=JSON.stringify(t);$(()=>r(t),[i]);let a=d=>f=>r(h=>({...h,[d]:f.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!Pe(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return s(
"search",{children:s("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let f=O("histories",o);f===O("histories",t)?n():location.hash=f},children:[s(q,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),s(T,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),s("div",{class:"buttons",children:[s("button",{type:"submit",class:"primary",children:"Filter"}),s("a",{class:"\
button",href:O("histories"),children:"Clear"})]})]})})}function Jr({target:t,onClose:e,onDone:n}){let{api:o}=P(),{history:r,tenant:i}=t,[a,l]=y(""),[c,u]=y(""),d=i?"tenant":"h\
istory";return s(ae,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??r))throw new Error(`what you typed is not the name of the ${d}`);let h=i?{history:r,tenant:i,channel:a}:{history:r,
all:!0},{removed:p}=await o.call("POST","histories/purge",{body:h}),w=[a&&`channel ${a}`,i&&`tenant ${i}`,`history ${r}`].
filter(_=>_).join(", ");n(`${p===1?"1 message was":`${M(p)} messages were`} removed: ${w}.`)},children:[s("p",{children:[
i?s(E,{children:["All messages that the history ",s(C,{text:r})," keeps of ",s(A,{text:i})," are deleted for good."]}):s(
E,{children:["All messages that the history ",s(C,{text:r})," keeps are deleted for good, of all tenants."]})," ","Clien\
ts that come back from before are told of a gap."]}),i&&s(T,{label:"Only this channel",value:a,onInput:h=>l(h.trim()),mono:!0,
hint:"Its whole name. Empty: all channels."}),s(T,{label:"Type the name to confirm",value:c,onInput:u,hint:`The name of \
the ${d}.`})]})}var ca=/[^\P{Cc}\t\n\r]/u;function Hr(t){return{bytes:t.slice(0,16384),size:t.length}}function Wr(t){let e=t.endsWith("==")?2:t.endsWith("=")?1:0,
n=atob(t.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(n.slice(0,16384),r=>r.charCodeAt(0)),size:t.length/
4*3-e}}function qr({bytes:t,size:e}){try{let n=new TextDecoder("utf-8",{fatal:!0}).decode(t,{stream:e>t.length});return ca.
test(n)?"hex":"text"}catch{return"hex"}}function zr({bytes:t,size:e},n){let o=e>t.length,r=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(n==="hex")return{text:fa(t),...r};let i=Gr(t);if(n==="text")return{
text:i,...r};if(o)return{text:i,note:`${r.note} It is cut, so it is not formatted as JSON.`};let a=da(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function Ot({bytes:t,size:e},n,o=160){if(e===
0)return"(empty)";let r=t.subarray(0,o),i=e>r.length?"…":"";return n==="hex"?Kr(r.subarray(0,32))+(e>32?" …":""):Gr(
r).replace(/\s+/g," ")+i}function Gr(t){return new TextDecoder().decode(t)}function da(t){if(!(ua(t)>64))try{return JSON.
stringify(JSON.parse(t),void 0,2)}catch{return}}function ua(t){let e=0,n=0,o=!1;for(let r=0;r<t.length;r++){let i=t[r];o?
i==="\\"?r++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?n=Math.max(n,++e):(i==="]"||i==="}")&&e--}return n}var pa=t=>t.
toString(16).padStart(2,"0");function Kr(t){return Array.from(t,pa).join(" ")}function fa(t){let e=[];for(let n=0;n<t.length;n+=
16){let o=t.subarray(n,n+16),r=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${n.toString(16).
padStart(4,"0")}  ${Kr(o).padEnd(47)}  ${r}`)}return e.join(`
`)}var ha=500;function Qn({messages:t,omitted:e},n){let o=[...t,...n.map(i=>({...i,payload:Wr(i.payload)}))],r=Math.max(0,o.
length-ha);return{messages:o.slice(r),omitted:e+r}}var Rt=t=>t.split(".")[1]??t;function Nt({of:t,format:e,label:n}){let{text:o,note:r}=zr(t,e);return s("div",{class:"whole",children:[r&&s("p",{class:"\
quiet",children:r}),s("pre",{tabIndex:0,role:"region","aria-label":n,dir:"auto",children:o})]})}var ma=50,ga=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function Qr({names:t,target:e,
purges:n}){let{api:o}=P(),[r,i]=y(t[0]??""),[a,l]=y(""),[c,u]=y("#"),[d,f]=y("auto"),[h,p]=y(),m=Y(),w=V(null),_=async(S,D)=>o.
call("POST","histories/read",{body:{...S,after:D,limit:ma}}),b=S=>m.run(async()=>{if(!Pe(S.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(S.pattern==="")throw new Error("name a pattern; # is every ch\
annel");p(void 0);let D=await _(S,"");p({...Qn({messages:[],omitted:0},D.messages??[]),query:S,next:D.next})}),k=S=>m.run(
async()=>{let D=await _(S.query,S.next);p({...Qn(S,D.messages??[]),query:S.query,next:D.next})});$(()=>{e&&(i(e.history),
l(e.tenant),w.current?.focus(),b({...e,pattern:c}))},[e]),$(()=>{h&&w.current?.scrollIntoView()},[h?.query]),$(()=>p(void 0),
[n]);let g=t.includes(r)?r:t[0]??"";return s("section",{"aria-labelledby":"kept-messages",children:[s("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:w,children:"Messages"}),s("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),s("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:S=>{S.preventDefault(),b(
{history:g,tenant:a,pattern:c})},children:[s(q,{label:"History",value:g,onInput:i,options:t.map(S=>[S,S])}),s(T,{label:"\
Tenant",value:a,onInput:S=>l(S.trim()),mono:!0}),s(T,{label:"Pattern",value:c,onInput:S=>u(S.trim()),mono:!0,hint:"news.\
# for example"}),s(q,{label:"Payload as",value:d,onInput:S=>f(S),options:ga}),s("div",{class:"buttons",children:s("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),s(Ee,{text:m.error}),m.busy&&!h&&s(K,{what:"\
the messages"}),h&&s(ya,{found:h,format:d,busy:m.busy,onMore:()=>{k(h)}})]})}function ya({found:t,format:e,busy:n,onMore:o}){
let[r,i]=y(),{query:a,messages:l,omitted:c,next:u}=t,d=({payload:f})=>e==="auto"?qr(f):e;return s(E,{children:[s("p",{role:"\
status","aria-label":"What was read",children:[R(c+l.length,"message")," of ",s(A,{text:a.pattern})," in ",s(A,{text:a.tenant}),
", history ",s(C,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${M(c)} are not shown an\
y more.`]}),l.length===0&&u===""?s(J,{children:s("p",{children:"No message of this pattern is kept."})}):s(be,{label:"Me\
ssages that are kept",columns:ba(d,r,i),rows:l,keyOf:({position:f})=>f,busy:n,detail:f=>r===f.position&&s(wa,{message:f,
format:d(f)})}),u!==""&&s("button",{type:"button","aria-disabled":n,onClick:o,children:"More messages"})]})}function ba(t,e,n){
return[{label:"Number",cell:({position:o,channel:r})=>s(qe,{open:e===o,label:`Message ${Rt(o)} to ${r}`,onToggle:()=>n(e===
o?void 0:o),children:Rt(o)})},{label:"Stored",cell:({time:o})=>s("time",{dateTime:o,children:ge(o)})},{label:"Channel",cell:({
channel:o})=>s(A,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>j(o.size)},{label:"Payload",cell:o=>s("\
bdi",{class:"preview",children:Ot(o.payload,t(o))})}]}function wa({message:t,format:e}){let{position:n,time:o,payload:r}=t;
return s("div",{class:"message-detail",children:[s(pe,{of:[["Position",s(A,{text:n},"position"),"wide"],["Stored",s("tim\
e",{dateTime:o,children:o})],["Size",`${M(r.size)} bytes`]]}),s(Nt,{of:r,format:e,label:`Payload of message ${Rt(n)}`})]})}var _a=50,va=8,ka=1e4;function Vr({query:t}){let{api:e,session:n,notify:o}=P(),r=U(),i=r&&n.tail===!0,[a,l]=y([""]),[c,u]=y(),
[d,f]=y(),[h,p]=y(0),m={history:t.history??"",tenant:t.tenant??""},w=ee(m);$(()=>l([""]),[w]);let _=`histories${ee({...m,
limit:_a,cursor:a[a.length-1]})}`,{data:b,stale:k,error:g,refresh:S}=fe(_,ka,async Z=>{try{return await e.get(_,Z)}catch(G){
if(G instanceof H&&G.code==="no_histories")return"none";throw G}}),D=b==="none"?void 0:b,Q=D?.totals??[],ve=Q.reduce((Z,G)=>Z+
G.tenants,0),re=D?.histories??[];return s(E,{children:[s(ne,{text:"Histories"}),s("p",{class:"quiet",children:"What this\
 edge keeps of messages, so that clients that come back get what they have missed."}),s(ue,{error:g,known:b!==void 0}),!b&&
!g&&s(K,{what:"the histories"}),(b==="none"||D&&Q.length===0)&&s(xa,{}),D&&Q.length>0&&s(E,{children:[s(Sa,{totals:Q,onPurge:Z=>f(
{history:Z})}),s("section",{"aria-labelledby":"tenants",children:[s("h2",{id:"tenants",children:"By tenant"}),(w!==""||ve>
va)&&s(Ur,{query:m,names:Q.map(({history:Z})=>Z),onAgain:S}),re.length>0&&s(be,{label:"What is kept",columns:Ea(r?{read:i?
u:void 0,purge:f}:void 0),rows:re,keyOf:Ta,busy:k}),!k&&re.length===0&&a.length===1&&s(J,{children:w===""?s("p",{children:"\
Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):s("p",{children:"Nothing \
that is kept matches. Ask for less, or clear the filters."})}),s(Ce,{page:a.length,more:!k&&(D.next_cursor??"")!=="",onPrevious:()=>l(
a.slice(0,-1)),onNext:()=>l([...a,D.next_cursor??""])})]}),i&&s(Qr,{names:Q.map(({history:Z})=>Z),target:c,purges:h}),r&&
!i&&s("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",s("code",{children:"tail off"}),
"."]})]}),d&&s(Jr,{target:d,onClose:()=>f(void 0),onDone:Z=>{f(void 0),p(G=>G+1),o(Z),S()}})]})}function xa(){return s(J,
{children:[s("p",{children:"No history is configured at this edge: a message is delivered at most once, and forgotten."}),
s("p",{children:["A history keeps the messages of some channels: ",s("code",{children:"history <name> { channels … }"}),
" in the block ",s("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says what it promises."]})]})}function Sa({
totals:t,onPurge:e}){let n=U();return s("div",{class:"cards",children:t.map(o=>s("article",{class:"card","aria-label":`H\
istory ${o.history}`,children:[s("div",{class:"card-head",children:[s("h2",{children:s(C,{text:o.history})}),!o.configured&&
s(N,{mood:"warn",children:"not configured any more"})]}),s(pe,{of:[["Tenants",M(o.tenants)],["Channels",M(o.channels)],[
"Messages",M(o.messages)],["Size",j(o.bytes)],["Oldest message",s(B,{at:o.oldest},"oldest")]]}),n&&s("div",{class:"butto\
ns",children:s("button",{type:"button","aria-label":`Purge the history ${o.history}`,onClick:()=>e(o.history),children:"\
Purge"})})]},o.history))})}var Ta=({history:t,tenant:e})=>`${t}:${e}`;function Ea(t){let e=[{label:"Tenant",cell:({tenant:r})=>s(
A,{text:r})},{label:"History",cell:({history:r})=>s(C,{text:r})},{label:"Channels",number:!0,cell:({channels:r})=>M(r)},
{label:"Messages",number:!0,cell:({messages:r})=>M(r)},{label:"Size",number:!0,cell:({bytes:r})=>j(r)},{label:"Oldest me\
ssage",cell:({oldest:r})=>s(B,{at:r})}];if(!t)return e;let{read:n,purge:o}=t;return e.push({label:"Actions",cell:({history:r,
tenant:i})=>s("div",{class:"buttons",children:[n&&s("button",{type:"button","aria-label":`Read ${i} in ${r}`,onClick:()=>n(
{history:r,tenant:i}),children:"Read"}),s("button",{type:"button","aria-label":`Purge ${i} in ${r}`,onClick:()=>o({history:r,
tenant:i}),children:"Purge"})]})}),e}var Yr=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function Zr({
messages:t,format:e}){let[n,o]=y();return s("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:t.map(r=>s(
Ca,{message:r,format:e,open:n===r.number,onToggle:()=>o(n===r.number?void 0:r.number)},r.number))})}function Ca({message:t,
format:e,open:n,onToggle:o}){let{channel:r,payload:i,at:a,late:l,number:c}=t;return s("li",{children:[s("button",{type:"\
button",class:"expand","aria-expanded":n,"aria-label":`${Yr.format(a)}, message ${c} to ${r}`,onClick:o,children:s("time",
{dateTime:new Date(a).toISOString(),children:Yr.format(a)})}),s("span",{children:[s(A,{text:r,most:120})," ",l&&s(N,{mood:"\
warn",children:"late"})]}),s("span",{class:"quiet",children:j(i.size)}),n?s(Nt,{of:i,format:e,label:`Payload of message ${c}`}):
s("bdi",{class:"preview",children:Ot(i,e)})]})}var Pa=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function es({tail:t}){let e=Y(),[n,o]=y(""),[r,i]=y(""),[a,l]=y("broadcast"),[c,u]=y(0);return s("section",{class:"\
card","aria-labelledby":"test-publish",children:[s("h2",{id:"test-publish",children:"Test publish"}),s(ie,{action:e,submit:"\
Publish",onSubmit:async()=>{if(n==="")throw new Error("name the channel");await t.publish(n,r,a),u(f=>f+1)},children:[s(
"div",{class:"row",children:[s(T,{label:"Channel",value:n,onInput:f=>o(f.trim()),mono:!0}),s(q,{label:"To",value:a,onInput:f=>l(
f),options:Pa})]}),s(T,{label:"Payload",value:r,onInput:i,rows:2,mono:!0}),s("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var v=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(e,n="\
the edge says so",o={}){let r=["tenant","channel","pattern"].map(a=>o[a]===void 0?"":` (${a} ${JSON.stringify(o[a])})`),
i=e==="unreachable"?ts(o.cause):"";super(`${e}${r.join("")}: ${n}${i&&`: ${i}`}`,"cause"in o?{cause:o.cause}:void 0),this.
code=e,this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,
this.retryAfter=o.retryAfter}};function ts(t){let{message:e,code:n,cause:o}=t??{};return`${(o?ts(o):"")||e||n||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function ns(t,e){let n=t===401?"unauthorized":/^(429|50[234])$/.test(`${t}`)?"u\
navailable":"unreachable",o=`HTTP status ${t}, and the answer is no edge's: is the address right?`;return new v(n,o,{status:t,
retryAfter:e})}function me(t,e,n){return t instanceof v?t:new v(e,n,{cause:t})}function z(t){return new v("disconnected","there is no c\
onnection to an edge",t===void 0?{}:{cause:t})}function Dt(t,e){let n=URL.canParse(t)?new URL(t):void 0;if(!n||!/^https?:$/.test(n.protocol)||n.username||n.password||n.
search||n.hash)throw new v("bad_option","an address is a URL with https:// and without user, query and fragment");if(n.protocol===
"http:"&&!e&&!Aa(n.hostname))throw new v("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return n}function Aa(t){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(t)}var x=()=>performance.now();function oe(t,e,n=new Set){return new Promise((o,r)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),n.delete(l)},a=()=>{i(),r(e.reason)},l=()=>{i(),o()},c=setTimeout(l,t);n.add(l),e.addEventListener("abort",a),
e.aborted&&a()})}async function Re(t,...e){let n,o=new Promise(r=>{n=setTimeout(r,t)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(n)}async function Ne(t,e,n){t.throwIfAborted();let o=new AbortController,r=()=>o.abort(t.reason),i=setTimeout(
()=>o.abort(new v("timeout","the edge does not answer")),e);t.addEventListener("abort",r);try{return await n(o.signal)}finally{
clearTimeout(i),t.removeEventListener("abort",r),o.abort()}}function ye(t,e){return new Promise((n,o)=>{let r=()=>o(e.reason);
e.aborted&&r(),e.addEventListener("abort",r),t.then(n,o).finally(()=>e.removeEventListener("abort",r))})}function le(t,e){
return t<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*2**Math.min(t-2,30))}var Ma=1e5,Vn=0;async function os(t,e,n,o){Vn=Vn+1>>>0;let r=Vn,i=e(r),a=!1,l=f=>new v("outcome_unknown","no edge has sa\
id whether the message is stored",{...o,cause:f}),c=new AbortController,u=setTimeout(()=>c.abort(a?l():z()),Ma),d;try{for(let f=2;;f++){
d=await $a(t,n,c.signal,o);let h=d.confirm(i,r);a=!0;try{return await ye(h,c.signal)}catch(p){c.signal.throwIfAborted();
let{code:m}=p;if(m!=="disconnected"&&(m!=="unconfirmed"||!n))throw new v(m,void 0,o);if(!n)throw l(p);m==="unconfirmed"&&
await oe(le(f,t.settings),c.signal)}}}catch(f){let{code:h}=f;throw a&&(h==="disconnected"||h==="closed")?l(f):f}finally{
clearTimeout(u),d?.forgetConfirm(r)}}async function $a(t,e,n,o){for(;;){if(t.over)throw t.over;if(t.gate){await ye(new Promise(
i=>t.gate?.push(i)),n);continue}let r=t.publishOn??t.current;if(r?.alive)if(r.histories===void 0)await ye(r.featured,n);else{
if(r.histories)return r;throw new v("no_history","the edge has no histories, and confirms nothing",o)}else{if(!e)throw z();
await ye(t.changed(),n)}}}var Ia=new TextEncoder,Oa=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yn=1024,Ra=["PING","PONG","RECONNECT","OK:AUT\
H"],Na=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,Da=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,De=t=>Ia.
encode(t);function Fe(t){try{return Oa.decode(t)}catch(e){throw new v("protocol","text that is not UTF-8",{cause:e})}}var Fa=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function Qe(t,e){let[n,o,...r]=t.split(":"),i=Fa.get(
n);if(i===void 0)return;let a={closeCode:e??i};return n==="forbidden"?new v(`${o}_not_allowed`,r.join(":")||void 0,a):new v(
n,void 0,a)}function Zn(t){if(Ra.includes(t))return{kind:t};if(/^LINK:(up|down)$/.test(t))return{kind:"LINK",up:t==="LIN\
K:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(t)?.[1];if(e&&t.length<=Yn)return{kind:"FEATURES",features:e};
let n=/^OK:(SUB|UNSUB):([^:]+):(.+)$/su.exec(t),o=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(t);if((n||o)&&(t.length<=Yn/3||De(t).
length<=Yn)&&!t.endsWith(`
`)){if(n)return{kind:"OK",verb:n[1],tenant:n[2],pattern:n[3]};if(o)return{kind:"ERR",code:o[1],detail:o[2]??""}}let r=Xa(
t);if(r)return r;throw new v("protocol","a line that is none")}function Xa(t){let[,e,n="",o="",r="",i]=Na.exec(t)??[];if(e&&
Ft(r)&&e==="OK:RSUB"==(i!==void 0))return i?{kind:e,tenant:n,pattern:o,position:r,how:i}:{kind:e,tenant:n,pattern:o,position:r};
let[,a,l]=Da.exec(t)??[];if(!(a===void 0||Number(a)>4294967295||l!==void 0&&!Ft(l)))return l===void 0?{kind:"OK:PUB",id:Number(
a)}:{kind:"OK:PUB",id:Number(a),position:l}}function Ft(t){let[,e,n]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(t)??[];return e!==void 0&&n!==void 0&&rs(e)&&rs(n)}var rs=t=>t.length<20||t<="18446744073709551615";function ss(t){
try{return Zn(t)}catch{return}}var to=["broadcast","one-nearest","one-random"];function no(t,e,n,o,r){let i=typeof n=="string"?De(n):n,a=r?7+r.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+t.length+e.length+i.length);return a>0&&(l[0]=r?3:2,l[1]=o??0),r&&(new DataView(l.buffer).
setUint32(2,r.id),l[6]=r.key.length,l.set(r.key,7)),l.set(i,is(l,is(l,a,t),e)),l}function is(t,e,n){t[e++]=n.length>>8,t[e++]=
n.length;for(let o=0;o<n.length;o++)t[e++]=n.charCodeAt(o);return e}var cs=1,ds=2,eo=24,La=128;function oo(t,e,n){return e===
n||t[e]===1?!1:t[e]!==4||e+1<n&&(t[e+1]&~(cs|ds))!==0}var Xt=class{#e=new pt;#t=new pt;#n=new pt;#o={};decode(e,n,o){let r=w=>{
w>o&&Ve()},i=w=>(r(w+2),e[w]<<8|e[w+1]);(n===o||oo(e,n,o))&&Ve();let a,l="";if(e[n]===4){let w=i(n)&255;if(w===0&&Ve(),n++,
w&cs&&(r(n+1+eo),a=Ba(e,n+1),n+=eo),w&ds){r(n+2);let _=n+2;n=_+e[n+1]-1,n-_>=La&&Ve(),r(n+1),l=this.#n.of(e,_,n+1,()=>Fe(
e.subarray(_,n+1)))}}let c=a!==void 0,u=n+3+i(n+1),d=u+2+i(u),f=d+4;r(f);let h=f+i(d)*65536+i(d+2);(i(h)===0||c&&i(h)!==
1)&&Ve();let p=this.#e.of(e,n+1,d,()=>[Fe(e.subarray(n+3,u)),Fe(e.subarray(u+2,d))]),m=this.#o;return m.tenant=p[0],m.channel=
p[1],m.payload=e.subarray(f,h),m.route=this.#t.of(e,h,o,()=>{let w=[],_=h+2;for(let b=i(h);b>0;b--){let k=_+2+i(_);r(k),
w.push(Fe(e.subarray(_+2,k))),_=k}return _!==o&&Ve(),{patterns:Object.freeze(w),note:void 0}}),m.position=a,m.sender=l,m}};
function Ba(t,e){let n=new DataView(t.buffer,t.byteOffset+e,eo);return`${as(n,0)}${as(n,4)}.${ls(n,8)}.${ls(n,16)}`}var as=(t,e)=>t.
getUint32(e).toString(16).padStart(8,"0");function ls(t,e){let n=t.getUint32(e);return n<2097152?String(n*4294967296+t.getUint32(
e+4)):String(t.getBigUint64(e))}function Ve(){throw new v("protocol","a frame that is none")}var ja=256,Ua=1024,pt=class{#e=[];of(e,n,o,r){
let i=0;for(let u=n;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&ja-1,l=this.#e[a];if(l&&Ja(l.bytes,e,n,o))return l.
value;let c=r();return o-n<=Ua&&(this.#e[a]={bytes:e.slice(n,o),value:c}),c}};function Ja(t,e,n,o){if(t.length!==o-n)return!1;
for(let r=0;r<t.length;r++)if(t[r]!==e[n+r])return!1;return!0}function Ye(t,e,n){let o=typeof e=="object"&&e!==null,r=o?Object.keys(e).find(a=>!n.split(" ").includes(a)):"";if(r===void 0)
return;let i=o?`has no ${JSON.stringify(r.slice(0,32))}`:"must be an object";throw new v("bad_option",`${t} ${i}: allowe\
d are ${n.replaceAll(" ",", ")}`)}var Ha=["drop-oldest","drop-newest","end"],us=["webtransport","websocket"];function F(t){throw new v("bad_option",t)}function Xe(t,e,n,o=0){
return e!==void 0&&!(Number.isFinite(e)&&e>=o&&e<2**31)&&F(`${t} must be a number below 2^31${o<0?"":", 0 or more"}`),e||
n}function ps(t,e,n){return n.includes(e)||F(`${t}: allowed are ${n.join(", ")}`),e}function so(t,e){return{queue:Math.ceil(
Xe("queue",t.queue,e.queue)),queuePolicy:ps("queuePolicy",t.queuePolicy??e.queuePolicy,Ha)}}var Wa="token tokenProvider \
transports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlainte\
xt serverCertificateHashes sender signal on";function fs(t){Ye("the object of options",t,Wa),Ye("paths",t.paths??{},"web\
Socket webTransport ping");let{token:e,tokenProvider:n,transports:o=us,sender:r=!1}=t;e===void 0==(n===void 0)&&F("one o\
f token and tokenProvider is needed"),n!==void 0&&typeof n!="function"&&F("tokenProvider must be a function"),typeof r!=
"boolean"&&F("sender must be true or false"),o.length===0&&F("transports must not be empty");for(let a of o)ps("transpor\
ts",a,us);let i=Xe("minBackOff",t.minBackOff,250);return{token:e===void 0?void 0:io(e),tokenProvider:n,transports:[...new Set(
o)],fallbackAfter:Xe("fallbackAfter",t.fallbackAfter,2e3),connectTimeout:Xe("connectTimeout",t.connectTimeout,1e4),keepAlive:Xe(
"keepAlive",t.keepAlive,25e3,-1/0),pongTimeout:Xe("pongTimeout",t.pongTimeout,1e4),minBackOff:i,maxBackOff:Math.max(i,Xe(
"maxBackOff",t.maxBackOff,15e3)),...so(t,{queue:1024,queuePolicy:"drop-oldest"}),sender:r,paths:{webSocket:ro(t.paths?.webSocket??
"/ws"),webTransport:ro(t.paths?.webTransport??"/wt"),ping:ro(t.paths?.ping??"/ping")},allowPlaintext:t.allowPlaintext===
!0,hashes:t.serverCertificateHashes}}function ro(t){return/^\/[^?#]*$/.test(t)||F("paths must start with a slash"),t}var qa="\
a token is a string of 1 to 512 letters, digits and .~_+-, and this is none";function io(t){return(typeof t!="string"||!/^[\w.~+-]{1,512}$/.
test(t))&&F(qa),t}var hs=1e5;function ms(t,e){if(t===void 0||t==="now"||t==="last")return t;let{last:n,after:o}=t;return typeof o=="string"&&
n===void 0&&Ft(o)?o:((!Number.isInteger(n)||n<1||n>hs||o!==void 0)&&F(`history is "now", "last", { last: 1 to ${hs} } or\
 { after: position }`),/[*>#]/.test(e)&&F("history: { last } is for one channel: the pattern has no wildcard"),`last.${n}`)}
var Lt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){this.from=e}begin(e){
this.on=e,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(e,n){
return this.on===e&&this.open&&!this.plain&&!za(n,this.from)}};function za(t,e){let[n,o=""]=t.split("."),[r,i]=e.split("\
.");return n===r&&i!==void 0&&(o.length===i.length?o<=i:o.length<i.length)}var Bt="[\\w\\-~@]+",Ga=/^[\w\-~@.]{1,128}$/,Ka=new RegExp(`^(?=.{1,256}$)${Bt}(\\.${Bt}){0,31}$`),Qa=new RegExp(`^(?=.{\
1,256}$)((${Bt}\\*?|\\*)\\.){0,31}(${Bt}[*>#]?|[*>#])$`),Va=t=>Ga.test(t),Ya=t=>Ka.test(t),Za=t=>Qa.test(t),el="~";function ao(t){
return lo("tenant",Va,t===""?el:t)}function gs(t){return lo("channel",Ya,t)}function ys(t){return lo("pattern",Za,t)}function lo(t,e,n){
if(typeof n!="string"||!e(n)){let o={[t]:String(n).slice(0,256)};throw new v(`bad_${t}`,"not a legal name, see docs/prot\
ocol.md, Names",o)}return n}var tl=new TextDecoder("windows-1252");function Me(t){return`${t.tenant}:${t.channel}:${tl.decode(t.payload)}`}var ce=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){
for(;this.#t[this.#n]?.entry===void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.
flatMap(({entry:e})=>e??[])}put(e,n,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=
0);let r={entry:{key:e,time:n,message:o}};this.#t.push(r);let i=this.#o.get(e);return i?i.push(r):this.#o.set(e,[r]),this.
size++,this.#e+=e.length,this.size>65536||this.#e>16777216?this.drop():void 0}take(e){let n=this.#o.get(e),o=n?.shift();
return!n||!o?!1:(n.length===0&&this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;
return e&&this.take(e.key),e}dropUntil(e){let n=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&
n.push(o.message);return n}};var bs=1e3,nl=1e4,Ze=class{#e=new ce;#t=new ce;#n=new ce;#o=bs;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,nl-bs)}fromCurrent(e,n){let o=Me(e);return this.#i(n),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,n),!0)}fromNext(e,n,o){if(this.late(e,n))return;if(o)return this.#n.put(Me(e),
n),e;let r=this.#t.put(Me(e),n,{...e});return r&&this.#n.put(r.key,n),r?.message}late(e,n){return this.#i(n),this.#e.size>
0&&this.#e.take(Me(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new ce;
for(let{key:e,time:n}of this.#t.all)this.#e.put(e,n)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new ce;for(let{
key:n}of this.given)this.#e.put(n,e);this.#n=new ce}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var ws=250,co=2e3;async function ft(t,e,n,o,r){for(;t.merger&&!t.merger.done(x());)await oe(50,o);t.merger=new Ze,t.both=
!0;let i=r!==void 0;t.tentative=i;let{place:a}=t,l=!1,c=()=>{l||t.events.emit("moving",{...a,reason:n}),l=!0};i||c();let u=0;
for await(let d of t.searcher.order(e.edge,n!=="drain",o)){let f=r;if(r=void 0,!f){await t.pause(Math.max(le(++u,t.settings),
t.searcher.wait(d)),o);try{f=await t.searcher.open(d,o)}catch(h){if(o.throwIfAborted(),!(h instanceof v)||t.searcher.hopeless(
d,h,!0))throw h;continue}}if(o.aborted)return void f.close();if(f.alive){t.next=f,t.merger.joined(x()),t.merger.release();
let h=t.subscriber.restore(f);t.tentative&&f.ping(!0).catch(()=>{}),await h}if(t.tentative){if(o.throwIfAborted(),t.next!==
f)return t.keepCurrent();t.tentative=!1}if(f.alive){if(await ol(t,e,f,c,o),o.throwIfAborted(),t.current!==f){if(i)return t.
keepCurrent();continue}f.alive&&(c(),t.since=x(),t.events.emit("moved",{...t.place,reason:n}));return}}}async function ol(t,e,n,o,r){
let i=()=>t.next===n&&t.current===e;if(!i())return;t.gate??=[];let a=Re(co,e.ping()).then(()=>{i()&&t.openGate(n)}),l=3;
do await oe(ws,r);while(--l&&t.merger?.behind);for(await Re(co,Promise.all(t.subscriber.asking));i()&&n.postponed.size>0;)
await oe(ws,r);if(!i())return;o(),t.leaving=!0;let c=[...e.asked].map(u=>e.leave(u));await Re(co,e.ended,Promise.allSettled(
[...c,e.ping(),e.confirmedAll()])),await a,i()&&t.promote(),t.leaving=!1}var rl=1e4;async function _s(t,e,n,o){let{lastByte:r}=e;t.reconnecting=!0,t.current=void 0,t.merger=void 0,t.both=t.leaving=
t.tentative=t.gaps=!1,t.openGate(void 0);for(let i of t.subscriber.interests.all)i.confirmed=!1;t.events.emit("disconnec\
ted",{...t.place,error:n}),n.code==="token_expired"&&e.token===t.tokens.token&&t.tokens.expire(),x()-t.since>rl&&(t.attempts=
0);for await(let i of t.searcher.order(e.edge,!1,o)){let a=++t.attempts,l=Math.max(le(a,t.settings),t.searcher.wait(i));
t.events.emit("reconnecting",{attempt:a,delay:l}),await t.pause(l,o);try{let c=await t.searcher.open(i,o);if(o.aborted)return void c.
close();if(t.setCurrent(c),await t.subscriber.restore(c),o.throwIfAborted(),!c.alive)continue;t.reconnecting=!1,t.since=
x();let u=!t.gaps&&t.subscriber.interests.all.every(d=>d.history);return t.events.emit("reconnected",{...t.place,away:x()-
r,complete:u})}catch(c){if(o.throwIfAborted(),!(c instanceof v)||t.searcher.hopeless(i,c,!1))throw c}}}var sl=4096,jt=class{#e=new Map;#t=[];#n=0;#o;add(e,n){return this.note(n),new Promise((o,r)=>{this.#e.set(e,{resolve:o,
reject:r,size:n})})}note(e,n){e<=sl||e<this.#n||(this.#o=e>this.#n?n:this.#o??n,this.#n=e)}tooLarge(){for(let[e,{size:n}]of this.#e)
n===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,n=()=>{}){let o=this.#e.get(e);if(o&&n(o),
this.#e.delete(e),this.#e.size===0)for(let r of this.#t.splice(0))r()}error(e,n){let o=/^PUB:(\d+)$/.exec(n)?.[1];return o===
void 0?!1:(this.settle(Number(o),r=>r.reject(new v(e))),!0)}idle(){return this.#e.size===0?Promise.resolve():new Promise(
e=>{this.#t.push(e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,n=>n.reject(z()))}};async function Ut(t,e){try{let n=await fetch(t,{cache:"no-store",credentials:"omit",signal:e});return await n.arrayBuffer(),
n.ok}catch{return!1}}async function vs(t,e){try{return await fetch(t,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:e}),!0}catch{return!1}}var Jt=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let n=e-this.#e;if(n<1)return!1;if(this.#e=
e,n>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),n>this.#o&&(this.#o=n),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.max(1e3,3*
Math.max(this.#o,this.#r))}};var Wt=2e3,ks=1e3,Ht=new Set,uo,po=0,fo=0;function il(t,e){return t>=ks+Wt||e-t>=Wt}function mo(){let t=x()-po,e=Date.now()-
fo;po+=t,fo+=e,il(t,e)&&ho("slept")}function xs(t){return Ht.add(t),uo??=al(),()=>{!Ht.delete(t)||Ht.size>0||(uo?.(),uo=
void 0)}}function ho(t){for(let e of[...Ht])e[t]()}function al(){po=x(),fo=Date.now();let t=setInterval(mo,ks),e=globalThis,
{document:n,navigator:o}=e,r=()=>ho("slept"),i=()=>{n?.visibilityState==="visible"&&r()},a=()=>ho("networkChanged"),l=o?.
connection,c=l?.type,d=[[e,"online",a],[l,"change",()=>{l?.type!==c&&(c=l?.type,a())}],[e,"pageshow",r],[n,"resume",r],[
n,"visibilitychange",i]];for(let[f,h,p]of d)f?.addEventListener?.(h,p);return()=>{clearInterval(t);for(let[f,h,p]of d)f?.
removeEventListener?.(h,p)}}var qt=1e3,go=1e3,ll=3,cl=2**31-1,yo=50,zt=class{heard=x();#e;#t;#n=new Jt(this.heard);#o=1+Math.random()/16;#r=!1;#s=!1;#i;#a=0;#l=0;#d=0;#c=-1/0;#u=-1/0;#p;#f;#m;#h=!1;constructor(e,n){
this.#e=e,this.#t=n}arrived(e){this.heard=e,this.#p=void 0,this.#f?.abort(),this.#f=void 0,((this.#s?this.#n.skip(e):this.#n.
arrived(e))||this.#r)&&(this.#r=!1,this.arm()),this.#s&&(this.#s=!1,this.#e.woke())}ponged(e,n){this.#r=n,this.#d=0;let o=Math.
min(e,2*this.#y);this.#i===void 0?(this.#i=o,this.#a=o/2):(this.#a+=(Math.abs(this.#i-o)-this.#a)/4,this.#i+=(o-this.#i)/
8),this.arm()}awake(e){let n=x();this.#g||(this.#d=0),!(this.#h||this.#d++>=ll)&&(this.#l=n,this.#t.keepAlive>0&&!this.#g&&
(e||n-this.heard>=qt)&&this.#k(n),this.arm())}stop(){this.#h=!0,this.#f?.abort(),clearTimeout(this.#m)}get#g(){return this.#e.
unanswered??this.#p}get#y(){return Math.max(qt,(this.#i??0)+4*this.#a)}get askAt(){let{keepAlive:e}=this.#t;if(e<0)return 1/0;
let n=this.#r?e:Math.min(e,this.#n.unusual);return this.heard+n*this.#o}suspectAt({at:e,sendTime:n}){return Math.max(e,this.
heard,this.#l)+(this.#p?qt:this.#y)+n}lostAt({at:e,sendTime:n}){let{keepAlive:o,pongTimeout:r}=this.#t;if(o<0)return 1/0;
let i=Math.max(this.heard,this.#l);return Math.max(e+r,i+o+r)+n}arm(){clearTimeout(this.#m);let e=this.#g,n=e?Math.min(this.#s?
1/0:this.#w(e),this.lostAt(e),this.#c+go):this.askAt;if(this.#h||n===1/0)return;let o=x(),r=Math.max(n,o+1);this.#m=setTimeout(
()=>this.#_(r),Math.min(r-o,cl))}#w(e){return Math.max(this.suspectAt(e),this.#u+go)}#_(e,n=!1){mo();let o=x();if(o-e>=Wt&&
this.awake(!1),this.#h)return;if(!n&&o-e>yo){clearTimeout(this.#m),this.#m=setTimeout(()=>this.#_(o+yo,!0),yo);return}let r=this.#g;
if(!r)o>=this.askAt&&this.#k(o);else{if(o>=this.lostAt(r))return this.#e.over();!this.#s&&o>=this.#w(r)&&this.#v(o),this.#h||
this.probe()}this.arm()}#v(e){this.#s=this.#e.silent(),this.#s||(this.#u=e)}#k(e){if(this.#e.pingFirst===void 0)return this.#e.
ask();this.#p={at:e,sendTime:0},this.#c=-1/0,this.probe()}probe(){let e=x();e-this.#c<go||(this.#c=e,this.#e.pingFirst!==
void 0&&(this.#s||this.#p)?this.#b(this.#e.pingFirst):this.#e.probe())}async#b(e){if(this.#f)return;let n=new AbortController;
this.#f=n;let o=setTimeout(()=>n.abort(),qt),r=await vs(e,n.signal);clearTimeout(o),!(this.#h||this.#f!==n)&&(this.#f=void 0,
r?(this.#p=void 0,this.#e.unanswered?this.#e.probe():this.#e.ask()):this.#p&&(this.#p={at:-1/0,sendTime:0}),this.arm())}};var Gt=class{#e=new Map;add(e,n){let o=this.#e.get(e);o?o.push(n):this.#e.set(e,[n])}answer(e,n){let o=this.#e.get(e),r=o?.
shift();return r?(o?.length===0&&this.#e.delete(e),n(r),!0):!1}reject(e){let n=[...this.#e.values()].flat();this.#e.clear();
for(let o of n)o.reject(e)}};var dl=1.024,ul=32,Kt=class{edge;transport;token;begun=x();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;histories;featured;ending=new Map;error;ended;#e;#t;#n;#o=new Xt;#r=new Gt;#s=new jt;#i;#a=[];#l=new Set;#d=0;#c=!1;#u=!0;#p=!0;#f;constructor(e,n,o,r,i){
this.edge=e,this.transport=n.transport,this.token=o,this.#e=n,this.#t=r;let a=this;this.#n=new zt({get unanswered(){return a.#a[0]},
pingFirst:n.fragile?e+i.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>n.probe(),silent:()=>this.#t.silent(
this),woke:()=>this.#t.woke(this),over:()=>this.fail(new v("timeout","the edge does not answer"))},i),this.featured=new Promise(
c=>{this.#i=c});let l;this.ended=new Promise(c=>{l=c}),n.start({bytes:()=>{this.alive&&this.#n.arrived(x())},line:c=>this.#_(
()=>this.#g(c)),frame:(c,u,d)=>{if(!this.alive||(this.#n.arrived(x()),oo(c,u,d)))return;let f;try{f=this.#o.decode(c,u,d)}catch(h){
return this.#v(h)}this.#t.delivered(this,f)},ended:c=>{l(),this.#k(c)}}),this.#c=!0,this.alive&&this.#h(`FEATURES:link${i.
sender?",sender":""}`),this.alive&&this.#n.arm()}get lastByte(){return this.#n.heard}request(e,n){e==="SUB"&&this.asked.
add(n);let o=`${e}:${n}`,r=this.#m(o);return this.alive&&this.#h(o),r}resume(e,n){let o=this.#m(`RSUB:${e}`);return this.
alive&&this.#h(`RSUB:${e}:${n}`),o}leave(e){let o=this.request("UNSUB",e).catch(()=>{}).then(()=>{this.ending.get(e)===o&&
this.ending.delete(e)});return this.ending.set(e,o),o}confirm(e,n){if(!this.alive)return Promise.reject(z());let o=this.#s.
add(n,e.length);return this.#h(e),o}forgetConfirm(e){this.#s.settle(e)}confirmedAll(){return this.#s.idle()}postpone(e,n){
this.postponed.add(e);let o=`AGAIN:${e}`,r=setTimeout(()=>this.#r.answer(o,i=>i.resolve()),n);return this.#m(o).finally(
()=>clearTimeout(r))}#m(e){return new Promise((n,o)=>{this.alive?this.#r.add(e,{resolve:n,reject:o}):o(z())})}forget(e){
return this.confirmed.delete(e),this.postponed.delete(e),this.#r.answer(`AGAIN:${e}`,n=>n.reject(z())),this.asked.delete(
e)}ping(e=!1){return new Promise((n,o)=>{if(!this.alive)return o(z());this.#a.push({at:x(),sendTime:this.#d/dl,own:e,resolve:n,
reject:o}),this.#e.send("PING"),this.#d=0,this.#n.probe(),this.#a.length===1&&this.#n.arm()})}publish(e,n){this.#s.note(
e.length,n),this.#h(e);let o=this.#e.sent();return o&&new Promise(r=>{let i=()=>{this.#l.delete(i),r()};this.#l.add(i),o.
then(i,i)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=e,this.#n.stop(),this.#r.reject(z()),this.#s.fail();for(let n of this.#a)
n.reject(z());for(let n of this.#l)n()}#h(e){this.#d+=e.length+ul,this.#e.send(e)}close(){return this.alive&&(this.#b(z()),
this.#e.close()),this.ended}#g(e){this.#n.arrived(x());let n=ss(e);if(n)if(n.kind==="OK"){let o=`${n.tenant}:${n.pattern}`;
if(this.#r.answer(`${n.verb}:${o}`,r=>r.resolve())&&n.verb==="SUB"&&(this.confirmed.add(o),this.postponed.delete(o)),n.verb===
"UNSUB")for(;this.#r.answer(`RSUB:${o}`,r=>r.reject(z())););}else if(n.kind==="OK:PUB")this.#s.settle(n.id,o=>o.resolve(
n.position));else if(n.kind==="OK:RSUB"||n.kind==="AT"||n.kind==="GAP")this.#t.reached(this,n),n.kind==="OK:RSUB"&&this.#r.
answer(`RSUB:${n.tenant}:${n.pattern}`,o=>o.resolve());else if(n.kind==="ERR")this.#w(n.code,n.detail,e.slice(4));else if(n.
kind==="PING")this.#e.send("PONG");else if(n.kind==="PONG"){let o=this.#a.shift();if(!o)return;let r=x()-o.at;o.resolve(
r),this.#n.ponged(r,o.own),this.#t.roundTrip(r)}else n.kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#t.draining(
this)):n.kind==="FEATURES"?this.#y(n.features.split(",").includes("history")):n.kind==="LINK"&&(this.#p=n.up,this.#u||this.#y())}#y(e=this.
histories??!1){this.#u=!1,this.histories=e,this.#i(),this.link=this.#p,this.#t.linked()}#w(e,n,o){if(this.#u&&e==="bad_r\
equest")return this.#y();let r=Qe(o);if(r&&(this.#f=o),this.#s.error(e,n))return;let[,i,a]=/^(?:UN|R)?SUB:([^:]+):(.+)$/s.
exec(n)??[];!(i!==void 0&&a!==void 0&&e!=="broker_unavailable"&&this.#r.answer(n,c=>c.reject(new v(e,void 0,{tenant:i,pattern:a}))))&&
!/^(token_|unauthorized|forbidden|closed_by)/.test(e)&&this.#t.errorLine(e,n),(e==="token_revoked"||e==="token_expired")&&
this.fail(r)}#_(e){if(this.alive)try{e()}catch(n){this.#v(n)}}#v(e){this.fail(me(e,"protocol","the edge broke the protoc\
ol"))}fail(e){this.#b(e),this.#e.close(),this.#c&&this.#t.lost(this,e)}#k({closeCode:e,error:n}){if(!this.alive)return;let o=this.#f===
void 0?void 0:Qe(this.#f,e),r=e===4401?"token_expired":e===4403?"token_revoked":"disconnected",i=o?.code!=="slow_consume\
r"||e===4429,a="the connection has ended";if(e===1009){a="a message was too large for the edge";let c=this.#s.tooLarge();
c&&this.#t.errorLine("payload_too_large",`PUB:${c.tenant}:${c.channel}`)}let l=o&&i?o:n??new v(r,a,{closeCode:e});this.#b(
l),this.#c&&this.#t.lost(this,l)}#b(e){this.alive=!1,this.error=e,this.#n.stop();let n=z(e);this.#i(),this.#r.reject(n),
this.#s.fail();for(let o of this.#a)o.reject(n);this.#a=[]}};var et=class{#e;#t=[];start(e){let n=this.#t;this.#t=[],this.#e=e;for(let o of n)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(n=>n.line(e))}frame(e,n,o){this.#e?this.#e.frame(e,n,o):this.#t.push(r=>r.frame(e,n,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(n=>n.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var tt=globalThis,Qt=tt.process?.versions,pl=tt.Deno!==void 0||Qt?.bun!==void 0||Qt?.node!==void 0,Ss=Qt?.node!==void 0&&
Qt.bun===void 0&&tt.Deno===void 0&&tt.document===void 0,Ts=!pl&&(tt.document!==void 0||tt.WorkerGlobalScope!==void 0);var bo=32<<20,Es=(t,e,n)=>n>e&&t[e]<32,Vt=class{#e;#t=[];#n=0;constructor(e=bo){this.#e=e}get held(){return this.#n}push(e,n){
let o=0;if(!(this.#n>0&&(o=this.#o(e,n),this.#n>0))){for(;e.length-o>=4;){let r=o+4+this.#i(e,o);if(r>e.length)break;n(e,
o+4,r),o=r}o<e.length&&this.#r(e.slice(o))}}#o(e,n){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let r=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(r,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,n(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),n=0;for(let o of this.#t)e.set(o,n),n+=o.length;return this.#t=[
e],e}#i(e,n){let o=e[n]*16777216+(e[n+1]<<16|e[n+2]<<8|e[n+3]);if(o>this.#e)throw new v("protocol","a message that is to\
o long");return o}};var Cs=1<<20,fl=1e3;async function Ps({edge:t,token:e,signal:n},{paths:o}){let r=t.replace("http","ws")+o.webSocket,{promise:i,
resolve:a,reject:l}=yl(),c=await hl("ws");n.throwIfAborted();let u,d=c?new c(r,{headers:{Authorization:`Bearer ${e}`},perMessageDeflate:!1,
maxPayload:bo}):new WebSocket(r,["llps.v1",`at.${e}`]);c||(d.binaryType="arraybuffer");let f=()=>d.terminate?d.terminate():
d.close(),h=()=>{l(n.reason),f()};n.addEventListener("abort",h);let p=new et,m=!1,w,_;d.on?.("unexpected-response",(g,S)=>{
u=ml(S).finally(()=>g.destroy()),u.then(l)});let b;d.on?.("upgrade",g=>{b=g.socket}),d.onerror=({error:g})=>{w=g},d.onopen=
()=>{m=!0,b?.prependListener("data",()=>p.bytes()),n.removeEventListener("abort",h),a({transport:"websocket",fragile:!1,
start:g=>p.start(g),send:g=>m&&d.send(g),sent:()=>m&&d.bufferedAmount>Cs?k():void 0,probe(){},close(){d.close(1e3),_??=setTimeout(
()=>{f(),p.ended({})},fl)}})},d.onclose=({code:g})=>{clearTimeout(_),m?(m=!1,p.ended({closeCode:g})):u||gl(t+o.ping,c!==
void 0,n,w).then(l,l),n.removeEventListener("abort",h)},d.onmessage=({data:g})=>{typeof g=="string"?p.line(g):g instanceof
ArrayBuffer?p.frame(new Uint8Array(g),0,g.byteLength):p.frame(new Uint8Array(g.buffer,g.byteOffset,g.length),0,g.length)};
async function k(){for(;m&&d.bufferedAmount>Cs;)await new Promise(g=>setTimeout(g,5))}return i}async function hl(t){if(Ss)
try{let{WebSocket:e}=await import(t);return e}catch(e){if("WebSocket"in globalThis)return;throw new v("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:e})}}async function ml(t){let e=t.statusCode,n=Number(t.headers["re\
try-after"]),o={status:e,retryAfter:n>0?n*1e3:void 0},r="";try{let i=new TextDecoder;for await(let c of t)if(r+=i.decode(
c,{stream:!0}),r.length>65536)break;let{code:a,detail:l}=JSON.parse(r);if(a==="unauthorized")return new v(a,"the edge do\
es not accept the token",o);if(typeof a=="string")return new v(a,l,o)}catch{}return ns(e,o.retryAfter)}async function gl(t,e,n,o){
return!e&&await Ut(t,n)?new v("refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's \
origin"):new v("unreachable","no WebSocket to the edge",{cause:o})}function yl(){let t,e;return{promise:new Promise((o,r)=>{
t=o,e=r}),resolve:t,reject:e}}var As=1e3,bl=43,wl=2e3,Ms=()=>"WebTransport"in globalThis;async function $s(t,{paths:e,hashes:n}){let{signal:o}=t,r=[],
i,a=()=>{clearTimeout(i),r.forEach(Yt)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let f=()=>{let h=new WebTransport(
t.edge+e.webTransport,n?{serverCertificateHashes:[...n]}:{});r.push(h),h.closed.catch(()=>{}),h.ready.then(()=>u(h),d)};
f(),i=setTimeout(f,wl)});for(let u of r)u!==l&&Yt(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:Qe(
`${d}`)}),()=>({}));return await _l(l,c,t.token)}catch(l){throw a(),o.throwIfAborted(),me(l,"unreachable","no WebTranspo\
rt to the edge")}finally{clearTimeout(i),o.removeEventListener("abort",a)}}async function _l(t,e,n){let o=await t.createBidirectionalStream(),
r=new et,i=new wo(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=vl(t);i.send(`AUTH:${n}`);let d=new Vt,f=(m,w,_)=>{
if(Es(m,w,_))return r.frame(m,w,_);let b=Fe(m.subarray(w,_));if(c)return r.line(b);let k=Zn(b);k.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:Ts,start:g=>r.start(g),send:g=>i.send(g),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>Yt(
t))}}:k.kind==="ERR"&&(l??=Qe(b.slice(4))??new v(k.code))},h=async()=>{let{value:m,done:w}=await a.read();return m&&(r.bytes(),
d.push(m,f)),!w},p;for(;!c;)if(!await h().catch(w=>{if(w instanceof v)throw w;return!1}))throw l??kl(await e);return(async()=>{
try{for(;await h(););}catch(_){_ instanceof v&&(p=_)}i.close();let m={error:p},w=e.then(_=>m=_);p||await Re(As,w),Yt(t),
r.ended(m)})(),c}function vl(t){let e,n=!1,o=async()=>{let{writable:r,createWritable:i}=t.datagrams;e??=(r??i?.call(t.datagrams))?.
getWriter(),await e?.write(new Uint8Array(bl))};return()=>{n||(n=!0,o().catch(()=>{}).finally(()=>{n=!1}))}}function kl({
closeCode:t,error:e}){let n=t===4401?"unauthorized":t===1001?"draining":t===1013?"unavailable":"unreachable";return e??new v(
n,"the connection has ended",{closeCode:t})}function Yt(t){try{t.close({closeCode:1e3,reason:""})}catch{}}var wo=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let n=typeof e=="string"?De(e):e,o=n.length,r=this.#n+
4+o;if(r>this.#t.length){let i=new Uint8Array(Math.max(r,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(n,this.#n+4),this.#n=r,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await Re(As,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var xl=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,_o=t=>Ms()&&t.startsWith(
"https:"),Zt=class{#e;#t=new Map;#n=new Set;constructor(e){this.#e=e}forget(){this.#n.clear()}prefer(e,n){this.#t.set(e,
n)}async open(e,n,o,r={}){let i=this.#e,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=r,c=a.filter(f=>f===
"websocket"||_o(e));c.length===0&&F("there is no WebTransport here, or not for http:// addresses");let u=c.filter(f=>!this.#n.
has(f));if(u.length===0)throw new v("protocol_not_allowed");this.#t.get(e)===u[1]&&u.reverse();let d=await Ne(o,i.connectTimeout,
f=>this.#o(u,e,n,l,f));return this.#t.set(e,d.transport),d}#o(e,n,o,r,i){return new Promise((a,l)=>{let c,u=0,d=0,f,h=!1,
p=()=>{h=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let w=e[d++];if(!w||h)return;let _=w==="websocket"?Ps:$s;u++,_({edge:n,
token:o,signal:i},this.#e).then(b=>{if(h)return Sl(b);p(),a(b)},b=>{u--;let k=me(b,"unreachable","the edge does not answ\
er");if(k.code==="protocol_not_allowed"&&this.#n.add(w),(!f||ht(k)>ht(f))&&(f=k),!xl.test(k.code)&&(u>0||d<e.length))return m();
p(),l(f)}),d<e.length&&(c=setTimeout(m,r))};i.addEventListener("abort",()=>{p(),l(i.reason)}),m()})}};function Sl(t){t.start(
{bytes(){},line(){},frame(){},ended(){}}),t.close()}function ht({code:t}){return["unreachable","timeout","refused","prot\
ocol_not_allowed"].indexOf(t)>>>0}var Is=3,Tl=500;async function vo(t,e,n){let o,r=await Promise.all(t.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await Ne(n,e.connectTimeout,l=>El(a,l))}catch(l){return o=l,[]}})),i=[...new Set(r.flat())];if(n.throwIfAborted(),
i.length===0)throw o??new v("unreachable","the list has no edge");return i.length>1&&(await Ne(n,e.connectTimeout,a=>Cl(
i,e.paths.ping,a)).catch(()=>{}),n.throwIfAborted()),i}async function El(t,e){try{let n=await fetch(t,{cache:"no-store",
credentials:"omit",signal:e});if(!n.ok)throw new v("unreachable",`the list of edges: HTTP status ${n.status}`,{status:n.
status});let{edges:o}=await n.json();return o.map(({host:r})=>Dt(`https://${r}`,!1).origin)}catch(n){throw me(n,"unreach\
able","the list of edges")}}async function Cl(t,e,n){let o=new Map,r=async u=>{let d=[];for(;d.length<Is;){let f=x();if(!await Ut(
u+e,n))return;d.push(x()-f)}d.sort((f,h)=>f-h),o.set(u,d[Is>>1])},i=t.map(r),l=Promise.any(i.map((u,d)=>u.then(()=>o.get(
t[d])??Promise.reject()))).then(()=>oe(Tl,n));await Promise.race([Promise.all(i),l.catch(()=>Promise.all(i))]);let c=u=>o.
get(u)??Number.MAX_VALUE;t.sort((u,d)=>c(u)-c(d))}var Os=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,Pl=/^(unauthorized|token_expired|region_not|protocol_not)/,
Al=5,Ml=6e4,$l=12e4,en=class{#e;#t;#n;#o;#r;#s=[];#i=new Map;#a;#l=0;#d=0;#c=new Map;drained=new Set;constructor(e,n,o,r){
this.#e=e,this.#t=n,this.#n=o,this.#o=r,this.#r=new Zt(n)}async first(e){await ye(this.#n.get(),e),this.#s=await vo(this.#e,
this.#t,e);let n;for(let o of this.#s)try{return await this.open(o,e)}catch(r){if(!(r instanceof v)||Os.test(r.code)||r.
code==="token_provider")throw r;(!n||ht(r)>ht(n))&&(n=r)}throw n}async*order(e,n,o){for(;;){let r=this.#s.filter(a=>a!==
e),i=n?[e,...r]:r.length<this.#s.length?[...r,e]:r;for(let a of i)i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.
some(a=>a.pathname!=="/"))try{this.#s=await vo(this.#e,this.#t,o)}catch{o.throwIfAborted()}}}wait(e){return Math.max(0,(this.#c.
get(e)??0)-x())}async open(e,n,o){let r=await this.#n.get();try{return await this.#u(e,r,n,o)}catch(i){if(!(i instanceof
v&&/^(unauthorized|token_expired|refused)$/.test(i.code))||!this.#n.provided)throw i;let l=await this.#n.ask();if(l===r)
throw i;return this.#u(e,l,n,o)}}async#u(e,n,o,r){n!==this.#a&&(this.#a=n,this.#i.clear(),this.#r.forget());let i=await this.#r.
open(e,n,o,r).catch(l=>{let{retryAfter:c=0}=l;throw this.#c.set(e,x()+Math.min(c,this.#t.maxBackOff)),l});this.drained.delete(
e),this.#c.delete(e);let a=new Kt(e,i,n,this.#o,this.#t);if(a.error)throw a.error;return this.#l=0,this.#i.clear(),a}noteSilent({
edge:e,transport:n,begun:o},r=!1){n!=="webtransport"||!r&&x()-o>=$l||this.#r.prefer(e,r?n:"websocket")}hopeless(e,n,o){let{
code:r}=n;if(r==="unreachable"&&this.drained.delete(e),r!=="refused")this.#l=0;else{if(o||this.drained.has(e))return!1;this.#l++===
0&&(this.#d=x())}return Os.test(r)||this.#l>=Al&&x()-this.#d>=Ml?!0:Pl.test(r)?(this.#i.set(e,n),this.#s.every(i=>this.#i.
has(i))):!1}};var Il=1024,tn=class{#e=new Map;#t=[];#n=!1;constructor(e={}){for(let[n,o]of Object.entries(e))o&&this.on(n,o)}on(e,n){if(typeof n!=
"function")throw new v("bad_option",`the handler of ${e} must be a function`);let o=i=>n(i),r=this.#e.get(e)??new Set;return this.#e.
set(e,r.add(o)),()=>{r.delete(o)}}emit(e,n){this.#t.push([e,n])>Il&&this.#t.shift(),this.#n||this.#o()}async#o(){this.#n=
!0,await null;for(let e=this.#t.shift();e;e=this.#t.shift())for(let n of[...this.#e.get(e[0])??[]])try{await n(e[1])}catch(o){
nn(o)}this.#n=!1}};function nn(t){queueMicrotask(()=>{throw t})}var Ol=new TextDecoder,nt=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(e,n,o,r,i,a,l,c=""){
this.tenant=e,this.channel=n,this.payload=o,this.pattern=r,this.patterns=i,this.late=a,this.position=l,this.sender=c}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Ol.decode(this.payload)}json(){
return JSON.parse(this.text())}};var on=class{#e=new Map;#t=0;get all(){return[...this.#e.values()]}add(e){let{tenant:n,pattern:o}=e,r=`${n}:${o}`,i=this.#e.
get(r),{history:a}=e,l=i??{name:r,tenant:n,pattern:o,subs:[],confirmed:!1,waiting:[],history:a};return l.subs.push(e),this.#e.
set(r,l),this.#t++,{interest:l,isNew:!i}}of(e,n){return this.#e.get(`${e}:${n}`)}has(e){return this.#e.get(e.name)===e}remove(e){
let n=this.#e.get(`${e.tenant}:${e.pattern}`),o=n?.subs.indexOf(e)??-1;if(!(!n||o<0))return n.subs.splice(o,1),n.subs.length===
0&&this.drop(n)?n:void 0}drop(e){return this.#t++,this.#e.get(e.name)===e&&this.#e.delete(e.name)}dispatch(e,n=!1){let{tenant:o,
channel:r,payload:i,route:a,sender:l}=e,c=a.note?.tenant===o&&a.note.version===this.#t?a.note:this.#n(o,a);for(let{pattern:u,
subs:d,history:f}of c.interests){if(f&&!f.plain)continue;let h=new nt(o,r,i,u,a.patterns,n,void 0,l);if(d.length===1)d[0].
push(h);else for(let p of[...d])p.push(h)}}#n(e,n){let o=n.patterns.map(r=>this.#e.get(`${e}:${r}`)).filter(r=>r!==void 0);
return n.note={tenant:e,version:this.#t,interests:o},n.note}};var rn=class{interests=new on;asking=new Set;#e;constructor(e){this.#e=e}async restore(e){let n=this.interests.all;n.some(
r=>r.history)&&await e.featured;let o=e===this.#e.current?n:n.filter(r=>!r.history);await Promise.all(o.map(r=>this.ask(
e,r)))}async resume(e){await Promise.all(this.interests.all.filter(({history:n})=>n).map(n=>this.ask(e,n)))}stored(e,n,o){
let{tenant:r,channel:i,payload:a,route:l,sender:c}=n,{patterns:u}=l,d=u[0],f=this.interests.of(r,d),{history:h}=f??{};if(!f||
!h?.takes(e,o))return;h.from=o,f.subs[0]?.pushStored(new nt(r,i,a,d,u,!1,o,c))===!1&&this.interests.has(f)&&(h.pause(),e.
leave(f.name)),this.#o(f)}reached(e,n){let{kind:o,tenant:r,pattern:i,position:a}=n,l=this.interests.of(r,i),{history:c}=l??
{};if(!(!l||c?.on!==e||!c.open||c.plain)){if(o==="GAP"||c.takes(e,a)){c.from=a;for(let u of l.subs)u.reach(a)}o==="GAP"?
(c.told=!0,this.#t(r,i,a)):o==="OK:RSUB"&&(this.#o(l),n.how==="gap"&&!c.told?this.#t(r,i,a):c.lossy&&this.#t(r,i))}}#t(e,n,o){
this.#e.gaps=!0,this.#e.events.emit("gap",{tenant:e,pattern:n,before:o})}wasRead(e){let n=this.interests.of(e.tenant,e.pattern),
{current:o}=this.#e;!n?.history||n.history!==e.history||(n.history.paused=!1,o&&this.ask(o,n))}ask(e,n){let o=this.#n(e,
n).finally(()=>this.asking.delete(o));return this.asking.add(o),o}async#n(e,n){try{n.history?await this.#r(e,n,n.history):
(await this.#s(e,n),this.#o(n))}catch(o){let r=me(o,"internal","a fault of this client");if(r.code==="disconnected")return;
if(n.confirmed&&this.#e.suspected&&e===this.#e.next)return e.fail(r);this.#i(n,r)}}#o(e){e.confirmed=!0;for(let{resolve:n}of e.
waiting.splice(0))n()}async#r(e,n,o){let{name:r,tenant:i,pattern:a}=n;if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===
e)){o.begin(e);for(let l=2;;){if(await e.featured,await e.ending.get(r),!e.alive||o.on!==e||!this.interests.has(n))return;
let c=!e.histories||o.unwanted,u=o.forbidden?"now":o.from,d=ko(n);o.lossy=c?d||u!=="now":o.forbidden||d&&u==="now",o.plain=
c,o.open=!0,c&&(o.from="now");try{if(!c)return await e.resume(r,u);if(await e.request("SUB",r),!this.interests.has(n))return;
this.#o(n),o.lossy&&this.#t(i,a);return}catch(f){let h=f;if(h.code==="history_unavailable")return this.#e.gaps=!0,this.#e.
events.emit("edgeError",{code:h.code,detail:`RSUB:${r}`});if(o.open=!1,h.code==="permission_denied"&&!c&&u!=="now")o.forbidden=
!0;else if(h.code==="no_history"&&d)o.unwanted=!0;else if(h.code==="try_later"&&d)l===2&&this.#e.events.emit("subscripti\
onError",{tenant:i,pattern:a,code:h.code}),await e.postpone(r,le(l++,this.#e.settings)),e.postponed.delete(r);else throw h}}}}async#s(e,n){
let{name:o,tenant:r,pattern:i}=n;for(let a=2;;a++){try{return await e.request("SUB",o)}catch(l){let c=l;if(c.code!=="try\
_later"||!ko(n))throw c;a===2&&this.#e.events.emit("subscriptionError",{tenant:r,pattern:i,code:c.code})}await e.postpone(
o,le(a,this.#e.settings))}}#i(e,n){if(!this.interests.drop(e))return;let{tenant:o,pattern:r,subs:i,waiting:a}=e;for(let l of[
this.#e.current,this.#e.next])l?.forget(e.name)&&l.leave(e.name);ko(e)&&this.#e.events.emit("subscriptionError",{tenant:o,
pattern:r,code:n.code});for(let l of i)l.end(n);for(let{reject:l}of a.splice(0))l(n)}async subscribe(e){let{tenant:n,pattern:o}=e,
r;for(;;){if(this.#e.over)throw this.#e.over;r=this.interests.of(n,o);let c=d=>d?.ending.get(`${n}:${o}`),u=c(this.#e.current)??
c(this.#e.next);if(r||!u)break;await u}if(r&&(r.history||e.history)){let c="the client has a subscription to this patter\
n, and one with a history is alone";throw new v("bad_option",c,r)}let{interest:i,isNew:a}=this.interests.add(e);if(i.confirmed)
return;let l=new Promise((c,u)=>{i.waiting.push({resolve:c,reject:u})});return a&&(this.#e.current&&!this.#e.leaving&&this.
ask(this.#e.current,i),this.#e.next&&!i.history&&this.ask(this.#e.next,i)),l}async leave(e){let n=this.interests.remove(
e);if(!n)return;for(let{resolve:l}of n.waiting.splice(0))l();let{name:o,history:r}=n,a=[this.#e.current,this.#e.next].filter(
l=>l?.forget(o)||l&&r?.on===l).map(l=>l.leave(o));await(this.#e.suspected&&a.length>0?Promise.race(a):Promise.all(a))}queueFull({
tenant:e,pattern:n},o){this.#e.events.emit("queueFull",{tenant:e,pattern:n,dropped:o})}end(e,n){for(let o of this.interests.
all){this.interests.drop(o);for(let r of o.subs)r.end(e);for(let{reject:r}of o.waiting.splice(0))r(e??n)}}};function ko({
subs:t,waiting:e}){return t.length>e.length}var xo=1e3,sn=class{#e=new ce;#t=new ce;#n=new ce;constructor(e,n,o){for(let{key:r}of e)this.#e.put(r,n);if(o){for(let{key:r,
time:i,message:a}of o.#t.all)this.#t.put(r,i,a);for(let{key:r,time:i}of o.#n.all)this.#n.put(r,i)}}fromCurrent(e,n){let o=Me(
e);return this.#n.dropUntil(n-xo),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,n),!0)}fromTrail(e,n){let o=Me(e);if(this.#e.
take(o))return;let r=this.#t.put(o,n,{...e});return r&&this.#n.put(r.key,r.time),r?.message}renew(e){for(let n of this.#t.
all)n.time=e}due(e){return this.#t.dropUntil(e-xo)}get nextDue(){let e=this.#t.oldest;return e&&e.time+xo}};var Rs=15e3,Rl=6e4,an=class{#e;late;#t;#n;#o=!0;#r=!1;#s=x();#i;#a;constructor(e,n,o,r,i){this.#e=e,this.late=new sn(n,x(),
i?.late),this.#t=o,this.#n=r,this.#i=setTimeout(()=>this.#l(),Rs),i?.stop(),e.handTo(this),e.alive?this.#c():this.#d()}fromCurrent(e){
return this.late.fromCurrent(e,x())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(x()),this.#c())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#l(){let e=Math.
min(this.#e.lastByte+Rs,this.#s+Rl)-x();e>0?this.#i=setTimeout(()=>this.#l(),e):this.#d()}#d(){this.#o&&(this.stop(),this.#c())}#c(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let n of this.late.due(x()))this.#t(n);this.#c()},Math.max(1,e-x()))}delivered(e,n){if(n.position!==void 0)return;
let o=this.late.nextDue===void 0,r=this.late.fromTrail(n,x());r&&this.#t(r),o&&this.#c()}woke(e){for(let o of e.asked)e.
request("UNSUB",o).catch(()=>{});let n=()=>this.#d();e.ping().then(n,n)}lost(){this.#d()}silent(){return!1}reached(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var ln=class{settings;events;subscriber=new rn(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e){this.settings=fs(e),this.
events=new tn(e.on)}setCurrent(e){this.current=e,this.place={edge:e.edge,transport:e.transport},this.linked(),this.#o()}#o(){
for(let e of this.#n.splice(0))e()}changed(){return new Promise(e=>{this.#n.push(e)})}linked(){let{link:e,edge:n}=this.current??
{};!this.since||!n||e===void 0||e===this.#e||(this.#e=e,this.events.emit(e?"linkUp":"linkDown",{edge:n}))}reached(e,n){this.
subscriber.reached(e,n)}delivered(e,n){if(n.position!==void 0)return this.subscriber.stored(e,n,n.position);if(!this.merger)
return this.#r(n);let o=x();if(e===this.next){let r=this.current?.confirmed,i=!n.route.patterns.some(l=>r?.has(`${n.tenant}\
:${l}`)),a=this.merger.fromNext(n,o,i);a&&this.#r(a)}else this.both?this.merger.fromCurrent(n,o)&&this.#r(n):(this.merger.
late(n,o)||this.#r(n),this.merger?.done(o)&&(this.merger=void 0))}#r(e){(!this.trail||this.trail.fromCurrent(e))&&this.subscriber.
interests.dispatch(e)}promote(){let{current:e,next:n}=this;n&&(this.setCurrent(n),this.next=void 0,this.merger?.left(x()),
this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),e?.close(),this.subscriber.resume(n))}takeOver(e,n){this.
trail?.hold(!1);let o=new an(e,this.merger?.given??[],i=>this.subscriber.interests.dispatch(i,!0),()=>{this.trail===o&&(this.
trail=void 0)},this.trail);this.trail=o;let r=x()-e.lastByte;this.suspected=this.next=void 0,this.merger?.left(x()),this.
both=this.tentative=!1,this.setCurrent(n),this.since=x(),this.events.emit("recovered",{...this.place,away:r}),this.giveHeld(),
this.openGate(void 0),this.subscriber.resume(n)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.
merger?.keepCurrent(x()),this.both=this.tentative=!1}giveHeld(){for(let e of this.merger?.release()??[])this.#r(e)}pause(e,n){
return oe(e,n,this.#t)}get waits(){return this.#t.size>0}hurry(){for(let e of[...this.#t])e()}openGate(e){this.publishOn=
e;let n=this.gate??[];this.gate=void 0;for(let o of n)o();this.over&&this.#o()}publishConnection(){if(this.over)throw this.
over;let e=this.publishOn??this.current;if(!e?.alive)throw z();return e}};var Nl=500;async function Ns(t,e,n){for(t.events.emit("suspect",t.place),t.gate??=[];t.merger&&!t.merger.done(x());)await oe(
50,n);t.merger=new Ze,t.both=t.tentative=!0;let o=0;for await(let r of t.searcher.order(e.edge,!1,n)){await t.pause(Math.
max(le(++o,t.settings),t.searcher.wait(r)),n);let i;try{i=await t.searcher.open(r,n,{fallbackAfter:Nl})}catch(l){if(n.throwIfAborted(),
l instanceof v)continue;throw l}if(n.aborted)return void i.close();if(!i.alive)continue;t.next=i,t.merger.joined(x());let a=t.
subscriber.restore(i);if(i.ping(!0).catch(()=>{}),await a,n.throwIfAborted(),t.next===i)return t.takeOver(e,i)}}function Ds(t){if(typeof t=="number")return t;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(t);if(!e){let i='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new v("bad_option",i)}let[n=0,o=0,r=0]=e.
slice(1).map(i=>Number(i??0));return(n*60+o)*60+r}var So=2**31-1,Fs=1e3;function Dl(t,e){return t===1/0?t:Math.max(0,Math.min(t*.9,t>5e3?t-5e3:t)-e*t/10)}var cn=class{#e;#t;#n;#o=new AbortController;#r;#s=x;#i=1/0;#a;#l=!1;#d;#c=-1/0;#u;#p=0;constructor(e,n,o){
this.#e=e,this.#r=e.token,this.#t=n,this.#n=o}get token(){return this.#r}get provided(){return this.#e.tokenProvider!==void 0}get(){
return this.#r!==void 0&&this.#s()<this.#i?Promise.resolve(this.#r):this.ask()}ask(){return this.#a??=this.#f().finally(
()=>{this.#a=void 0,this.#l=!1}),this.#a}async renew(){this.#a&&this.#l&&(this.#d??=this.#a.catch(()=>{}).then(()=>(this.#d=
void 0,this.ask()))),await(this.#d??this.ask()),this.#t()}async#f(){clearTimeout(this.#u);let{tokenProvider:e,connectTimeout:n,
minBackOff:o}=this.#e,{signal:r}=this.#o;try{let i=this.#c+Fs-x();i>0&&await oe(i,r),this.#l=!0;let l=await Ne(r,n,c=>ye(
Promise.resolve(e?.()),c)).finally(()=>{this.#c=x()});return this.#m(typeof l=="object"?l:{token:l}),this.#r}catch(i){this.#i>
0&&this.#i<1/0&&this.#h(Math.max(o,le(++this.#p+1,this.#e)));let l=i?.name==="LoggedOutError"?new v("logged_out","the to\
ken provider says that there will be no token",{cause:i}):new v("token_provider","the token provider gave no token",{cause:i});
throw this.#r!==void 0&&!r.aborted&&this.#n(l),l}}#m({token:e,expiresAt:n,expiresIn:o}){let r=o===void 0?1/0:Ds(o)*1e3;r>
0||F("expiresIn must be more than 0");let i=n===void 0||o!==void 0?1/0:new Date(n).getTime();Number.isNaN(i)&&F("expires\
At is no time"),this.#r=io(e),this.#s=r<1/0?x:Date.now,this.#i=r<1/0?x()+r:i>Date.now()?i:1/0,this.#p=0,this.#h(Math.max(
Fs,Dl(this.#i-this.#s(),Math.random())))}#h(e){this.#o.signal.aborted||!(e<1/0)||(this.#u=setTimeout(()=>{if(e>So)return this.#h(
e-So);let n=this.#r;this.ask().then(o=>o!==n&&this.#t(),()=>{})},Math.min(Math.max(e,0),So)))}expire(){this.provided&&(this.#i=
-1)}stop(){this.#o.abort(),clearTimeout(this.#u)}};var To=6e4,Fl=60*To,Xl=2*To,Ll=1e4,Bl=2e3;function Xs(t,e){return Math.min((4+2*e)*To*2**t,Fl)}var dn=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},Xl)):
!this.#n&&this.#s(e)&&this.#i(Xs(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
Bl,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:n}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&_o(n)}#i(e,n=!0){
clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(n)},e)}async#a(e){let n=this.#e,{current:o}=n;if(!o||!n.idle||this.#r)
return this.#i(Ll,e);if(!this.#s(o)){this.#n=void 0;return}let r=this.#t+Number(e);this.#i(Xs(r,Math.random()));let i=new AbortController;
this.#r=i;let a=await n.searcher.open(o.edge,i.signal,{transports:["webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=
void 0),i.signal.aborted||(this.#t=r),a&&!i.signal.aborted&&n.current===o&&n.idle?n.run(l=>ft(n,o,"transport",l,a)):(a?.
close(),n.moveIfDue())}};var jl=3e3,un=class extends ln{tokens;searcher;closed;#e;#t=new dn(this);#n;#o;constructor(e,n){super(n),this.tokens=new cn(
this.settings,()=>this.moveIfDue(),o=>this.#r(o)),this.searcher=new en(e,this.settings,this.tokens,this),this.closed=new Promise(
o=>{this.#o=o})}#r(e){let{code:n,cause:o}=e;n!=="logged_out"?this.events.emit("edgeError",{code:n,detail:"the token prov\
ider gave no token",cause:o}):this.since&&this.finish(e)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||
F("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(e){throw this.over&&e.code!==
"logged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){try{let n=await this.
searcher.first(e);if(this.setCurrent(n),e.throwIfAborted(),n.error)throw n.error;this.since=x(),this.#n=xs(this),this.#t.
follow(n),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(n){throw this.tokens.stop(),this.
current?.close(),n}}setCurrent(e){super.setCurrent(e),this.since&&this.#t.follow(e)}moveIfDue(){let{current:e}=this;this.#e||
this.over||!e?.alive||(e.drains?this.run(n=>ft(this,e,"drain",n)):e.token!==this.tokens.token&&this.run(n=>ft(this,e,"to\
ken",n)))}get idle(){let{current:e,merger:n}=this;return!this.#e&&!this.over&&e?.alive===!0&&!e.drains&&(!n||n.done(x()))}run(e){
this.#e?.abort();let n=new AbortController;this.#e=n,e(n.signal).then(()=>{this.#e===n&&(this.#e=void 0,this.current?.alive&&
this.moveIfDue())},o=>{this.#e===n&&this.finish(me(o,"internal","a fault of this client"))})}draining(e){this.searcher.drained.
add(e.edge),e===this.current&&this.moveIfDue()}errorLine(e,n){let[,o,r]=/^PUB:([^:]+):(.+)$/s.exec(n)??[];e==="slow_cons\
umer"?this.events.emit("slowConsumer",{dropped:Number(n)}):e==="egress_limited"?this.events.emit("egressLimited",{delay:Number(
n)*1e3}):o&&r&&e!=="broker_unavailable"?this.events.emit("publishError",{tenant:o,channel:r,code:e}):this.events.emit("e\
dgeError",{code:e,detail:n})}roundTrip(e){this.rtt=e,this.events.emit("roundTrip",{rtt:e})}silent(e){let{current:n}=this;
return e===this.next&&this.tentative&&x()-e.lastByte>=jl&&e.fail(new v("timeout","the edge does not answer")),e!==n||this.#e||
this.gate||this.over||this.reconnecting||!this.since||n.drains?!1:(this.suspected=e,this.trail?.hold(!0),this.searcher.noteSilent(
e),this.run(o=>Ns(this,e,o)),!0)}woke(e){e===this.suspected&&(this.searcher.noteSilent(e,!0),this.#e?.abort(),this.#e=void 0,
this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(
void 0),this.moveIfDue())}lost(e,n){let o=e.token===this.tokens.token,r=/_not_allowed$|^token_revoked$/.test(n.code)||n.
code==="token_expired"&&!this.tokens.provided,i=e===this.next&&this.suspected!==void 0;if(r&&o&&!i)return this.finish(n);
n.closeCode===void 0&&/^(disconnected|timeout)$/.test(n.code)&&this.searcher.noteSilent(e),e===this.next&&!this.leaving?
(this.next=void 0,i?this.merger?.orphan():this.openGate(void 0)):e===this.current&&!this.suspected&&(this.gate||this.publishOn)?
this.promote():(e===this.current||e===this.next)&&(this.suspected=void 0,this.trail?.hold(!1),e===this.current&&(this.next?.
close(),this.next=void 0,this.giveHeld()),this.promote(),this.reconnecting||this.run(a=>_s(this,e,n,a)))}slept(){for(let e of[
this.current,this.next])e?.awake(!1);this.hurry()}networkChanged(){for(let e of[this.current,this.next])e?.awake(!0);this.
hurry(),this.#t.soon()}finish(e){if(this.over)return;this.over=new v("closed","the client has been closed",e?{cause:e}:{}),
this.#e?.abort(),this.tokens.stop(),this.#t.stop(),this.#n?.();let n=[this.current?.close(),this.next?.close(),this.trail?.
stop()];this.openGate(void 0),e&&(this.giveHeld(),this.trail?.flush()),this.subscriber.end(e,this.over),this.events.emit(
"closed",{error:e}),Promise.all(n).then(()=>this.#o(e))}};var pn=class{#e;#t=new Array(16);#n=0;#o=0;constructor(e){this.#e=e}get size(){return this.#o}get full(){return this.#o>=
this.#e}push(e){let n=this.#t;this.#o===n.length&&(this.#t=[...n.slice(this.#n),...n.slice(0,this.#n),...new Array(n.length)],
this.#n=0),this.#t[this.#n+this.#o++&this.#t.length-1]=e}shift(){if(this.#o===0)return;let e=this.#t[this.#n];return this.#t[this.#n]=
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}clear(){this.#t=new Array(16),this.#n=this.#o=0}};var Ul=1e3,fn=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];#r=!1;#s;#i;#a=0;#l=-1/0;#d;#c;#u;constructor(e,n,o,r){this.
tenant=e,this.pattern=n,this.#e=o,this.#t=r,this.#n=new pn(r.queue);let{from:i}=r;this.history=i===void 0?void 0:new Lt(
i),i?.includes(".")&&!i.startsWith("last")&&(this.#c=this.#u=i),this.ended=new Promise(a=>{this.#i=a})}get position(){return this.#n.
size===0?this.#c:this.#u}async unsubscribe(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncIterator](){if(this.#t.
onMessage)throw new v("bad_option","a subscription with a callback cannot be iterated");let e=!1;return{next:()=>{if(e)return Promise.
resolve({done:e,value:void 0});let n=this.#n.shift();return n?(this.#u=n.position??this.#u,this.history?.paused&&this.#n.
size*2<=this.#t.queue&&this.#e.wasRead(this),Promise.resolve({done:!1,value:n})):this.#r?(e=!0,this.#s?Promise.reject(this.#s):
Promise.resolve({done:e,value:void 0})):new Promise((o,r)=>{this.#o.push({resolve:o,reject:r})})},return:async()=>(e=!0,
await this.unsubscribe(),{done:e,value:void 0})}}#p(e){let{onMessage:n}=this.#t;if(n){try{let r=n(e);r instanceof Promise&&
r.catch(nn)}catch(r){nn(r)}return!0}let o=this.#o.shift();return o?.resolve({done:!1,value:e}),o!==void 0}pushStored(e){
if(this.#r)return!0;let n=this.#p(e);return!n&&this.#n.full?(this.#f(),!0):(this.#c=e.position,n?this.#u=e.position:this.#n.
push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){this.#c=e}#f(){this.end(new v("queue_full","messages were n\
ot read in time",this)),this.#e.leave(this)}push(e){if(this.#r||this.#p(e))return;let{queuePolicy:n}=this.#t;if(!this.#n.
full)return this.#n.push(e);if(n==="end")return this.#f();n==="drop-oldest"&&(this.#n.shift(),this.#n.push(e)),this.#a++,
this.#d??=setTimeout(()=>this.#m(),Math.max(0,this.#l+Ul-x()))}#m(){clearTimeout(this.#d),this.#d=void 0,this.#l=x(),this.#a>
0&&this.#e.queueFull(this,this.#a),this.#a=0}end(e){if(!this.#r){this.#r=!0,this.#s=e,e||this.#n.clear(),this.#m();for(let n of this.#o.
splice(0))e?n.reject(e):n.resolve({done:!0,value:void 0});this.#i(e)}}};async function Eo(t,e){let n=typeof t=="string"?[t]:t;(!e||!n?.length)&&F("connect needs an address and options");let o=new un(
n.map(i=>Dt(i,e.allowPlaintext===!0)),e),{signal:r=new AbortController().signal}=e;return r.throwIfAborted(),await ye(o.
start(r),r),new hn(o)}var hn=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get edge(){return this.#e.place.
edge}get transport(){return this.#e.place.transport}get rtt(){return this.#e.rtt}on(e,n){return this.#e.events.on(e,n)}async subscribe(e,n,o={}){
let r=this.#e;Ye("the object of options",o,"onMessage history queue queuePolicy");let{onMessage:i}=o;i&&typeof i!="funct\
ion"&&F("onMessage must be a function");let a=new fn(ao(e),ys(n),r.subscriber,{...so(o,r.settings),onMessage:i,from:ms(o.
history,n)});return await r.subscriber.subscribe(a),a}async publish(e,n,o,r){let i=this.#e;r!==void 0&&Ye("the object of\
 options",r,"delivery confirm key");let{delivery:a="broadcast",confirm:l=!1,key:c}=r??{},u=to.indexOf(a);u<0&&F(`deliver\
y: allowed are ${to.join(", ")}`),typeof o!="string"&&o?.[Symbol.toStringTag]!=="Uint8Array"&&F("the payload must be a U\
int8Array or a string");let d={tenant:ao(e),channel:gs(n)};if(l){let h=De(c??"");return c!==void 0&&!(h.length>0&&h.length<=
64)&&F("a key has 1 to 64 bytes"),os(i,m=>no(d.tenant,d.channel,o,u,{id:m,key:h}),c!==void 0,d)}c!==void 0&&F("a key is \
for a publish that is confirmed");let f=no(d.tenant,d.channel,o,u||void 0);return i.publishConnection(),i.gate?new Promise(
(h,p)=>{i.gate?.push(()=>{try{h(i.publishConnection().publish(f,d))}catch(m){p(m)}})}):i.publishConnection().publish(f,d)}async flush(){
let e=this.#e;e.publishConnection(),e.gate&&await new Promise(n=>e.gate?.push(n)),await e.publishConnection().ping()}renewToken(){
return this.#e.renewToken()}retry(){this.#e.retry()}async close(){this.#e.finish(void 0),await this.closed}[Symbol.asyncDispose](){
return this.close()}};var Ls=500,Jl=250;function js(t,e){let[n,o]=y({state:"off",note:""}),[r,i]=y(!1),[,a]=y(0),l=V(void 0),c=V({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=se(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=se(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:Hr(b.payload),late:b.late}),c.messages.length>Ls&&c.messages.splice(0,c.messages.length-Ls),c.timer===0&&(c.timer=
window.setTimeout(u,Jl))},[c,u]),f=se(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);$(()=>()=>{clearTimeout(c.timer),f()},[c,f]),$(()=>(addEventListener("pagehide",f),()=>removeEventListener(
"pagehide",f)),[f]);let h=se(async b=>{f();let k={query:b,end:new AbortController};l.current=k;let g=()=>l.current===k,S=D=>{
g()&&o(D)};S({state:"connecting",note:""});try{let D=await Bs(t,b,!1),Q=await Eo(e,{transports:["websocket","webtranspor\
t"],tokenProvider:async()=>{let{token:ve,expires_at:re}=D??await Bs(t,b,!0);return D=void 0,{token:ve,expiresAt:re}},signal:k.
end.signal});if(!g())return void Q.close();k.client=Q,Hl(Q,S),await Q.subscribe(b.tenant,b.pattern,{onMessage:d}),S({state:"\
on",note:Us(Q)})}catch(D){if(!g())return;f(),o({state:"off",error:`The tail did not start. ${mn(D)}`,note:""})}},[t,e,d,
f]),p=se(async(b,k,g)=>{let S=l.current;if(!S?.client)throw new Error("there is no connection; start the tail first");try{
await S.client.publish(S.query.tenant,b,k,{delivery:g}),await S.client.flush()}catch(D){throw new Error(mn(D))}},[]),m=()=>{
c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},w=()=>{c.paused=!c.paused,i(c.paused),u()},_=l.current?.query.
publish===!0;return{...n,error:n.error,messages:c.shown,received:c.received,held:c.held,paused:r,publishes:_,start:h,stop:f,
pause:w,clear:m,publish:p}}var Us=t=>`by ${t.transport==="websocket"?"WebSocket":"WebTransport"} at ${t.edge}`,Bs=(t,e,n)=>t.
call("POST","live-token",{body:e,background:n});function Hl(t,e){let n=(r="")=>e({state:"on",note:`${Us(t)}${r}`}),o=r=>e(
{state:"broken",note:r});t.on("disconnected",({error:r})=>o(`The connection is lost: ${mn(r)} Messages of this time are \
missed.`)),t.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),t.on("recovered",()=>n()),t.on(
"reconnected",({away:r})=>n(`, after ${(r/1e3).toFixed(1)} s without a connection`)),t.on("moved",()=>n()),t.on("slowCon\
sumer",({dropped:r})=>n(`; the edge dropped ${r} messages, since this page reads too slowly`)),t.on("egressLimited",()=>n(
"; messages come late, since there are more than the tail may receive")),t.on("linkDown",()=>n("; the edge has lost the \
other edges, and nothing comes from there")),t.on("linkUp",()=>n()),t.on("publishError",({channel:r,code:i})=>n(`; the e\
dge refused the message to ${r}: ${i}`)),t.on("subscriptionError",({code:r})=>o(`The edge refuses the subscription: ${r}\
.`)),t.on("edgeError",({code:r,detail:i})=>n(`; ${r} ${i}`)),t.on("closed",({error:r})=>{r&&e({state:"off",error:`The ta\
il has ended. ${mn(r)}`,note:""})})}var Wl={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no lega\
l name of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"Th\
e edge does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its\
 token was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function mn(t){return t instanceof v?t.cause instanceof H?W(t.cause):`${Wl[t.code]??
W(t)} (${t.code})`:W(t)}var ql=[["text","text"],["json","JSON"],["hex","hex"]],zl={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function Js({query:t}){let{api:e,session:n}=P(),o=U(),[r,i]=y(t.tenant??
""),[a,l]=y(t.pattern??"#"),[c,u]=y(!1),[d,f]=y("text"),[h,p]=y(),m=js(e,n.live_url||location.origin),[w,_]=zl[m.state],
b=m.state!=="off",k=()=>{if(!Pe(r))return p("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return p(
"Name a pattern; # is every channel.");p(void 0),history.replaceState(null,"",O("live",{tenant:r,pattern:a})),m.start({tenant:r,
pattern:a,publish:c&&o})};return s(E,{children:[s(ne,{text:"Live"}),s("p",{class:"quiet",children:"Shows messages as the\
y come. Each use is noted by the audit hook."}),s("form",{class:"filters","aria-label":"Live messages",onSubmit:g=>{g.preventDefault(),
b||k()},children:[s(T,{label:"Tenant",value:r,onInput:g=>i(g.trim()),mono:!0,readOnly:b}),s(T,{label:"Pattern",value:a,onInput:g=>l(
g.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&s(we,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),s("div",{class:"buttons",children:[b?s("button",{type:"button",onClick:m.
stop,children:"Stop"}):s("button",{type:"submit",class:"primary",children:"Start"}),b&&s("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),s(Ee,{text:h??m.error}),s("p",{role:"status",
"aria-label":"Connection",children:[s(N,{mood:w,children:_})," ",m.note]}),b&&m.publishes&&s(es,{tail:m}),s("section",{"\
aria-labelledby":"messages",children:[s("div",{class:"card-head",children:[s("h2",{id:"messages",children:"Messages"}),s(
"span",{class:"quiet",children:[R(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${R(m.held,"message")} since the pause not shown`:""]}),s(q,{label:"Payload as",value:d,
onInput:g=>f(g),options:ql}),s("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?s(J,{
children:s("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):s(Zr,{messages:m.messages,format:d})]})]})}function Hs(t){let e=[],n=(o,r)=>{r!==void 0&&e.push(`	${o} ${r}`)};n("name",gn(t.name)),t.description&&n("description",
gn(t.description)),t.tenant_prefix&&n("tenant_prefix",t.tenant_prefix),t.allow_ip_masks?.length&&n("allow_ip_masks",t.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])t[o]&&n(o,String(t[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function gn(t){if(/^[\w.@~:/+-]+$/.test(t))return t;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(t))return/["\\]/.test(t)?t.includes("`")?void 0:`\`${t}\``:`"${t}"`}var Ws="Revoke the access tokens that it issued",qs="Their connections end at once. Otherwise they stay valid until they\
 expire.",zs=t=>`master-tokens/${encodeURIComponent(t.id)}`;function Gs({master:t,onClose:e,onDone:n}){let{api:o}=P(),[r,
i]=y(!1);return s(ae,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>n(await o.call("POST",
`${zs(t)}/rotate`,{body:{revoke_tokens:r}})),children:[s("p",{children:[s(C,{text:t.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),s(we,{label:Ws,checked:r,onChange:i,hint:qs})]})}function Ks({master:t,
onClose:e,onDone:n}){let{api:o}=P(),[r,i]=y(!1),[a,l]=y("");return s(ae,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==t.name&&a!==t.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",zs(t),{body:{revoke_tokens:r}});n(`${t.name} was deleted.${r?` ${R(
u,"access token")} revoked with it.`:""}`)},children:[s("p",{children:[s(C,{text:t.name})," stops working at once, for g\
ood. Its id is ",s(A,{text:t.id}),"."]}),s(we,{label:Ws,checked:r,onChange:i,hint:qs}),s(T,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function Qs({made:t,rotated:e,onClose:n}){let o=[t.name,t.description??
""].some(r=>r!==""&&gn(r)===void 0);return s(Ct,{title:e?"The new secret":"The master token",label:"Master token",secret:t.
token,onClose:n,children:[s("p",{children:["It is the ",e?"new ":"","secret of ",s(C,{text:t.name}),".",e&&t.revoked_tokens?
` ${R(t.revoked_tokens,"access token")} that it issued revoked.`:""]}),s(Pt,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${t.token}`,copy:"Copy the environment line"}),s("details",{children:[s("summary",{children:"For a Caddyfile"}),
s("p",{children:["Only to keep it in the configuration in place of the store, in the block ",s("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",s("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&s("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),s(Pt,{label:"Lines for a Caddyfile",text:Hs(t),copy:"C\
opy the Caddyfile lines"})]})]})}function Co({master:t,onClose:e,onCreated:n,onSaved:o}){let{api:r}=P(),i=Y(),[a]=y(()=>Ar(t)),[l,c]=y(a),u=zn(l),d=p=>m=>c(
w=>({...w,[p]:m})),f=ut(l.prefix);return s(he,{title:t?"Edit the master token":"New master token",onClose:e,children:s(ie,
{action:i,submit:t?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!Mr(l))throw new Error("correct the fields that are marked");if(!t)return n(await r.call("POST","m\
aster-tokens",{body:$t(l)}));let p=$r(a,l);Object.keys(p).length>0&&await r.call("PATCH",`master-tokens/${encodeURIComponent(
t.id)}`,{body:p}),o(l.name)},onCancel:e,children:[s(T,{label:"Name",value:l.name,onInput:d("name"),count:{now:Te(l.name),
most:Wn,unit:"characters"},autoFocus:!0}),s(T,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Te(l.description),most:qn,unit:"characters"}}),s(T,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:f===""?"The app's namespace. Empty: every tenant of the overlay.":f===void 0?void 0:`Stored as ${f} \
– for tenants such as ${f}room`}),s(T,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),s("fieldset",{children:[s("legend",{children:"\
Quotas"}),s("p",{class:"help",children:"Left empty, the default of the edge applies."}),s("div",{class:"row",children:[s(
T,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),s(T,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),s(T,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var yn=25,Gl=3e4;function Vs(){let{api:t,notify:e}=P(),n=U(),[o,r]=y(),i=fe("masters",Gl,u=>t.get("master-tokens",u)),a=()=>r(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{r({what:"secret",made:u,rotated:d}),i.refresh()};return s(E,{children:[s(ne,
{text:"Master tokens",children:n&&s("button",{type:"button",class:"primary",onClick:()=>r({what:"new"}),children:"New ma\
ster token"})}),s("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),s(ue,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&s(K,{what:"the master tokens"}),i.data&&s(Kl,{masters:i.
data.master_tokens??[],onOpen:r}),o?.what==="new"&&s(Co,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&s(Co,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&s(Gs,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&s(Ks,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&s(Qs,{made:o.made,rotated:o.rotated,onClose:a})]})}function Kl({masters:t,onOpen:e}){let n=U(),[o,r]=y(""),[i,
a]=y(1);if(t.length===0)return s(J,{children:[s("p",{children:"There is no master token yet."}),s("p",{children:n?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=t.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/yn)));return s(E,{children:[t.
length>8&&s("div",{class:"filters",children:[s(T,{label:"Find",value:o,onInput:r,hint:"By name, prefix or id."}),s("p",{
class:"quiet",role:"status",children:[c.length," of ",R(t.length,"master token")]})]}),s("div",{class:"cards",children:c.
slice((u-1)*yn,u*yn).map(d=>s(Ql,{master:d,onOpen:e},d.id))}),c.length===0&&s(J,{children:"None has this in its name, pr\
efix or id. Type less of it."}),s(Ce,{page:u,more:u*yn<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function Ql({
master:t,onOpen:e}){let n=U(),{name:o}=t;return s("article",{class:"card","aria-label":`Master token ${o}`,children:[s("\
div",{class:"card-head",children:[s("h2",{children:s(C,{text:o,most:64})}),t.static&&s(N,{children:"in the Caddyfile"})]}),
t.description&&s("p",{children:s(C,{text:t.description,most:200})}),s(pe,{of:[["Tenant prefix",t.tenant_prefix?s(A,{text:t.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",s(Vl,{masks:t.allow_ip_masks??[]},"masks")],["Quotas",Yl(
t),"wide"],!t.static&&["Made",s(B,{at:t.created_at},"made")],["Id",s(A,{text:t.id},"id"),"wide"]]}),t.static?s("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):n&&s("div",{class:"butto\
ns",children:[s("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:t}),children:"Edit"}),
s("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:t}),children:"Rotate"}),s("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:t}),children:"Delete"})]})]})}function Vl({
masks:t}){return t.length===0?s(E,{children:"none: every address"}):s("span",{class:"list",children:[t.slice(0,8).map(e=>s(
A,{text:e},e)),t.length>8&&s("span",{children:["and ",t.length-8," more"]})]})}function Yl(t){let e=[t.max_tokens&&R(t.max_tokens,
"access token"),t.max_bytes&&`${j(t.max_bytes)} in the store`,t.calls_per_second&&`${M(t.calls_per_second)} calls a seco\
nd`].filter(n=>n);return e.length===0?"the edge's defaults":e.join(", ")}function Ys(t,e,n=180){let o=t.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),r=new Array(n).fill(null);if(o.length===
0)return r;let i=Zl(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),f=u[e];for(let h=n-1;h>=0;h--){let p=f[f.length-1-d-(n-1-h)];if(p===void 0)
break;r[h]=(r[h]??0)+p}}return r}function Zl(t){let e=[...t].sort((n,o)=>n-o);return e[Math.floor(e.length/2)]??0}function Po(t){
return t?.[t.length-1]??0}function Zs(t){let e=t.filter(o=>o!==null),n=e[e.length-1];if(n!==void 0)return{min:Math.min(...e),
now:n,max:Math.max(...e)}}function Ao(t){let e=new Map;for(let n of t)for(let[o,r]of Object.entries(n??{}))e.set(o,(e.get(
o)??0)+r);return[...e].sort((n,o)=>o[1]-n[1]||n[0].localeCompare(o[0]))}var Mo=40;function ec(t,e){let n="",o=!1;for(let[r,i]of t.entries()){if(i===null){o=!1;continue}let a=Mo-i/e*(Mo-2)-1;n+=
`${o?"L":"M"}${r} ${a.toFixed(1)}`,o=!0}return n}function ei({label:t,series:e,format:n}){let o=Zs(e);if(!o)return s("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let r=ec(e,o.max||1),i=`min ${n(o.min)}, now ${n(
o.now)}, max ${n(o.max)}`;return s("figure",{class:"chart",children:[s("svg",{viewBox:`0 0 ${e.length-1} ${Mo}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${t}, the last 15 minutes: ${i}`,children:s("path",{d:r,class:"line"})}),s("figcaption",{
"aria-hidden":"true",children:i})]})}function ni(){let{api:t}=P(),{data:e,error:n}=fe("overview",5e3,r=>t.get("overview",r)),o=e?.edges??[];return s(E,{children:[
s(ne,{text:"Overview"}),s(ue,{error:n,known:e!==void 0}),e?s(tc,{edges:o}):!n&&s(K,{what:"the figures"})]})}function tc({
edges:t}){let e=t.filter(c=>c.answered&&c.status),n=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),r=c=>Ao(e.
map(u=>u.recent?.[c]??void 0)),i=Ao(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(oi);
return s(E,{children:[s(Ge,{edges:t,missing:["The figures leave it out.","The figures leave them out."]}),s("div",{class:"\
tiles",children:[s(Io,{title:"Connections",value:M(l),chart:{samples:n,figure:"connections",format:M},note:s(E,{children:[
i.map(([c,u])=>s("span",{children:[ze(c)," ",M(u)]},c)),a>0&&s("span",{children:["of ",M(a)," at most"]})]})}),s(wn,{title:"\
Messages a second",figure:"messages_in",samples:n,note:"published by clients"}),s(wn,{title:"Deliveries a second",figure:"\
deliveries",samples:n,note:"to subscribers"}),s(wn,{title:"Drops a second",figure:"dropped",samples:n,note:"deliveries t\
hat were dropped"}),s(wn,{title:"Refusals a second",figure:"refused",samples:n,note:"ERR lines to clients"}),s(Io,{title:"\
Memory",value:j(o(c=>c.status?.memory_bytes??0)),chart:{samples:n,figure:"memory_bytes",format:j},note:s("span",{children:e.
length===1?"of the process":`of ${R(e.length,"process","processes")}`})}),s(ti,{title:"Token store",edges:e,state:c=>s(lt,
{status:c.status})}),s(ti,{title:"Broker",edges:e,state:c=>s(ct,{status:c.status})})]}),s("div",{class:"columns",children:[
s(_n,{title:"Dropped deliveries",counts:r("dropped"),none:"None was dropped."}),s(_n,{title:"Refusals by code",counts:r(
"refused"),none:"Nothing was refused."}),s(_n,{title:"Refused handshakes",counts:r("handshakes_refused"),none:"No client\
 was turned away."}),s(_n,{title:"Slow clients disconnected",counts:r("slow_disconnects"),none:"No client was too slow."})]}),
s("section",{"aria-labelledby":"by-edge",children:[s("h2",{id:"by-edge",children:"By edge"}),t.length===0?s(J,{children:s(
"p",{children:"No edge is known yet. This one appears within seconds."})}):s(be,{label:"Figures by edge",columns:nc,rows:t,
keyOf:c=>c.id})]})]})}var $o=3;function ti(t){let{title:e,edges:n,state:o}=t;return s("section",{class:"card tile","aria\
-label":e,children:[s("h2",{children:e}),n.slice(0,$o).map(r=>s("div",{class:"state-line",children:[n.length>1&&s("p",{class:"\
quiet",children:s(C,{text:r.name,most:40})}),o(r)]},r.id)),n.length>$o&&s("p",{class:"quiet",children:["and ",n.length-$o,
" more, see below"]})]})}var oi=t=>Object.values(t.status?.connections??{}).reduce((e,n)=>e+n,0);function bn(t,e){return t.
answered&&t.samples?St(Po(t.samples[e])):"–"}var nc=[{label:"Edge",cell:t=>s(E,{children:[s(C,{text:t.name})," ",s(Et,
{edge:t}),!t.answered&&s(N,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:t=>t.status?M(oi(t)):
"–"},{label:"Messages/s",number:!0,cell:t=>bn(t,"messages_in")},{label:"Deliveries/s",number:!0,cell:t=>bn(t,"deliveri\
es")},{label:"Drops/s",number:!0,cell:t=>bn(t,"dropped")},{label:"Refusals/s",number:!0,cell:t=>bn(t,"refused")},{label:"\
Memory",number:!0,cell:t=>t.status?j(t.status.memory_bytes):"–"},{label:"Token store",cell:t=>s(lt,{status:t.status})},
{label:"Broker",cell:t=>s(ct,{status:t.status})}];function Io({title:t,value:e,note:n,chart:o}){return s("section",{class:"\
card tile","aria-label":t,children:[s("h2",{children:t}),s("p",{class:"value",children:e}),s("p",{class:"note-line",children:n}),
s(ei,{label:t,series:Ys(o.samples,o.figure),format:o.format})]})}function wn({title:t,figure:e,samples:n,note:o}){let r=n.
reduce((i,a)=>i+Po(a[e]),0);return s(Io,{title:t,value:St(r),note:s("span",{children:o}),chart:{samples:n,figure:e,format:St}})}
function _n({title:t,counts:e,none:n}){return s("section",{class:"card reasons","aria-label":t,children:[s("h2",{children:t}),
s("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?s("p",{children:n}):s("dl",{class:"counts",children:e.
map(([o,r])=>s("div",{children:[s("dt",{children:s("code",{children:o})}),s("dd",{children:M(r)})]},o))})]})}var ri=[{name:"overview",label:"Overview",component:ni},{name:"master-tokens",label:"Master tokens",component:Vs},{name:"\
tokens",label:"Access tokens",component:Rr},{name:"connections",label:"Connections",component:Br},{name:"live",label:"Li\
ve",component:Js,tail:!0},{name:"histories",label:"Histories",component:Vr},{name:"edges",label:"Edges",component:jr}];var vn=class extends Le{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:s("div",{role:"alert",class:"errors",children:[s("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",W(this.state.error)]}),s("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function si(t){let{base:e,session:n,links:o,current:r,result:i,ended:a,children:l}=t;return s(E,{children:[s("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),s("header",{class:"top",children:[s("a",{class:"brand",href:O("overview"),children:[s("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),s("span",{children:"Millrace"})]}),s("nav",{"aria-label":"Screens",children:s("u\
l",{children:o.map(({screen:c,label:u})=>s("li",{children:s("a",{href:O(c),...c===r?{"aria-current":"page"}:{},children:u})},
c))})}),s("div",{class:"who",children:[s("span",{children:[s(C,{text:n.operator??"",most:32})," ",s("span",{class:"quiet",
children:n.role})]}),s("button",{type:"button",onClick:t.onSignOut,children:"Sign out"})]})]}),s("main",{id:"main",tabIndex:-1,
children:[a&&s("p",{class:"note warn with-button",children:[s("span",{children:"Your session has ended, so nothing here \
is up to date."}),s("button",{type:"button",onClick:t.onSignIn,children:"Sign in"})]}),s("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&s("p",{class:"note good with-button",children:[s("span",{children:i}),s("button",
{type:"button",class:"link",onClick:t.onDismiss,children:"Dismiss"})]})}),l]})]})}async function Oo(t,e,n){try{return await t.call("POST",e,{body:n,bare:!0})}catch(o){throw o instanceof H&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${Fn(o.retryAfter*1e3)}`):o}}function ii({
api:t,session:e,onSession:n}){let[o,r]=y(""),[i,a]=y(""),l=Y(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{n(await Oo(t,"session",c?{}:{name:o,password:i}))}finally{a("")}};return s("main",
{id:"main",class:"sign-in",children:s("section",{class:"card",children:[s("h1",{tabIndex:-1,children:"Sign in"}),s("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?s("p",{children:["The authe\
ntication in front of the console names you ",s(C,{text:e.user}),"."]}):null,c&&!e.user?s("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,s(ie,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&s(E,{children:[s(T,{label:"Name",value:o,onInput:r,autoComplete:"username",autoFocus:!0}),
s(T,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function ai({api:t,gate:e,
session:n,onSession:o,onLeave:r}){let{question:i}=e;return i?s(oc,{api:t,gate:e,session:n,onSession:o,onLeave:r,again:i===
"sign-in"},i):null}function oc({api:t,gate:e,session:n,onSession:o,onLeave:r,again:i}){let[a,l]=y(""),c=Y(),u=n.auth==="\
caddy",d=n.operator??"";return s(he,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[s("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),s(ie,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let h;try{i?h=await Oo(
t,"session",u?{}:{name:d,password:a}):h=await Oo(t,"session/confirm",{password:a})}catch(p){if(l(""),!i&&p instanceof H&&
p.code==="no_session")return void e.signIn();throw p}o(h),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&s("button",{type:"\
button",class:"link",onClick:r,children:"Sign in as somebody else"}),children:[s(T,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&s(T,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function li({base:t,takeActivity:e}){let[,n]=y(0),[o,r]=y(),[i,a]=y(),[l,c]=y(""),u=it(()=>new xt(()=>n(g=>g+1)),[]),d=it(
()=>new kt({base:new URL("api/",t),gate:u,takeActivity:e}),[t,u,e]),f=sc(),h=se(()=>{a(void 0),d.get("session",{bare:!0}).
then(r,g=>a(W(g)))},[d]);$(h,[h]);let p=ri.filter(({tail:g})=>!g||o?.tail===!0),m=p.find(({name:g})=>g===f.screen)??p[0];
$(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:g}=document;
g instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let w=g=>{r(g),u.opened()},
_=()=>{u.answer(!1),r(g=>g&&{auth:g.auth,signed_in:!1,...g.user?{user:g.user}:{}})},b=async()=>{try{let g=await d.call("\
DELETE","session",{bare:!0});u.opened(),r(g)}catch(g){g instanceof Error&&"code"in g&&g.code==="no_session"?_():c(`Signi\
ng out failed: ${W(g)} You are still signed in.`)}};if(!o)return s(rc,{error:i,onRetry:h});if(!o.signed_in)return s(ii,{
api:d,session:o,onSession:w});let k=m?.component;return s(Ln.Provider,{value:{api:d,session:o,base:t,notify:c},children:[
s(si,{base:t,session:o,links:p.map(({name:g,label:S})=>({screen:g,label:S})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:k&&s(vn,{children:s(k,{query:f.query})},`${m.
name} ${o.operator}`)}),s(ai,{api:d,gate:u,session:o,onSession:w,onLeave:_})]})}function rc({error:t,onRetry:e}){return s(
"main",{id:"main",class:"sign-in",children:[s("h1",{children:"Millrace console"}),s("p",{role:"status",children:t?"":"Lo\
ading…"}),s("div",{role:"alert",children:t&&s(E,{children:[s("p",{class:"note bad",children:t}),s("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function sc(){let[t,e]=y(()=>Dn(location.hash));return $(()=>{
let n=()=>e(Dn(location.hash));return addEventListener("hashchange",n),()=>removeEventListener("hashchange",n)},[]),t}var ic=new URL(".",import.meta.url),Ro=!0;for(let t of["keydown","pointerdown","pointermove","wheel"])addEventListener(t,
()=>Ro=!0,{capture:!0,passive:!0});var ac=()=>{let t=Ro;return Ro=!1,t},ci=document.getElementById("app");ci&&zo(s(li,{base:ic,
takeActivity:ac}),ci);
