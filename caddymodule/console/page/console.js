// Generated from console by `npm run build` there. Do not edit.
// With Preact (MIT) and @millrace/client (Apache-2.0).
var R,Do,fi,Se,kn,wt,Fo,gt,Xo,Tn,xn,Lo,rt=Symbol.for("pv"),_t={},vt=[],hi=/^m(i|n|o|s|text|space)$/,En=Array.isArray,jo=vt.
slice,Re=Object.assign;function Oe(t){t&&t.parentNode&&t.remove()}function yt(t,e,n,o,s){var i={type:t,props:e,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:rt,__v:s||
++Do,__i:-1,__u:0};return!s&&R.vnode&&R.vnode(i),i}function E(t){return t.children}function je(t,e){this.props=t,this.context=e,this.__g=0}function Te(t,e){if(e==null)return t.
__&&Te(t.__,t.__i+1);for(var n;e<t.__k.length;e++)if((n=t.__k[e])&&n.__e)return n.__e;return typeof t.type!="function"||
t.props.__P?null:Te(t)}function mi(t){var e,n=t.__v,o=n.__e,s=[],i=[],a=t.__P;a&&((e=Re({constructor:rt},n)).__v=n.__v+1,
R.vnode&&R.vnode(e),Cn(a,e,n,t.__n,a.namespaceURI,32&n.__u?[o]:null,s,o||Te(n),32&n.__u,i),e.__v=n.__v,e.__.__k[e.__i]=e,
qo(s,e,i),n.__=n.__e=null,e.__e!=o&&Bo(e))}function Bo(t){if((t=t.__)&&t.__c&&!t.props.__P)return t.__e=null,t.__k.some(
function(e){return e&&(t.__e=e.__e)}),Bo(t)}function Sn(t){(8&t.__g||(t.__g|=8,Se.push(t),wt++))&&kn==R.debounceRendering||
((kn=R.debounceRendering)||queueMicrotask)(Jo)}function Jo(){try{for(var t,e=1;Se.length;)Se.length>e&&Se.sort(Fo),t=Se.
shift(),e=Se.length,8&t.__g&&mi(t)}finally{(wt=Se.length)&&(kn||queueMicrotask)(Jo)}}function Uo(t,e,n,o,s,i,a,l,c,u,d){
var p,h,f,m,w,_,b=o.__k||vt,k=e.length;for(c=gi(n,e,b,c,k),p=0;p<k;p++)(f=n.__k[p])!=null&&(h=~f.__i&&b[f.__i]||_t,f.__i=
p,_=Cn(t,f,h,s,i,a,l,c,u,d),m=f.__e,(h.ref!=f.ref||8&h.__u)&&(h.ref&&Pn(h.ref,null,f,h),f.ref&&d.push(f.ref,f.__c||m,f)),
w=w||m,4&f.__u?(c=Ho(f,c,t,!h.__v),h.__e&&(h.__e=null)):typeof f.type=="function"&&_!==void 0?c=_:m&&(c=m.nextSibling),f.
__u&=-21);return n.__e=w,c}function gi(t,e,n,o,s){var i,a,l,c,u,d,p,h,f,m=n.length,w=m,_=0,b=0,k=t.__k=Array(s);for(i=0;i<
s;i++)(a=e[i])!=null&&typeof a!="boolean"&&typeof a!="function"?(typeof a!="object"||a.constructor===String?a=k[i]=yt(null,
a):En(a)?a=k[i]=yt(E,{children:a}):a.constructor===rt&&a.__b?a=k[i]=yt(a.type,a.props,a.key,a.ref,a.__v):k[i]=a,c=i+_,a.
__=t,a.__b=t.__b+1,l=null,~(u=a.__i=yi(a,n,c,w))&&(w--,(l=n[u])&&(l.__u|=2)),l&&l.__v?(a.__u|=16,u==c-1?_--:u==c+1?_++:u!=
c&&(u>c?_--:_++,b=1)):(~u||(s>m?_--:s<m&&_++),typeof a.type!="function"&&(a.__u|=4))):k[i]=null;if(b){for(d=[],p=[],i=0;i<
s;i++)if((a=k[i])&&16&a.__u){for(_=0,h=d.length;_<h;)d[f=_+h>>1]<a.__i?_=f+1:h=f;d[_]=a.__i,p[i]=_+1}for(_=d.length;i--;)
p[i]&&(p[i]==_?_--:k[i].__u|=4)}if(w)for(i=0;i<m;i++)!(l=n[i])||2&l.__u||(l.__e==o&&(o=Te(l)),An(l,l));return o}function Ho(t,e,n,o){
var s,i,a,l;if(typeof t.type=="function"){if(t.props.__P)return e;if(s=t.__k)for(i=0;i<s.length;i++)s[i]&&(s[i].__=t,e=Ho(
s[i],e,n,!1));return e}for(e&&!e.parentNode&&(e=Te(t))&&!e.parentNode&&(e=null),a=t.__e,l=e;l&&l.nodeType==8;)l=l.nextSibling;
for(a!=l&&(!o&&n.moveBefore&&a.parentNode?n.moveBefore(a,e):n.insertBefore(a,e||null)),e=a;(e=e&&e.nextSibling)&&e.nodeType==
8&&!e.data.startsWith("$s"););return e}function yi(t,e,n,o){var s,i=t.key,a=t.type,l=e[n],c=l&&!(2&l.__u);if(l===null&&i==null||c&&i==l.key&&a==l.type)return n;
if(o>(c?1:0)){for(s=n-1;s>=0;s--)if((l=e[s])&&!(2&l.__u)&&i==l.key&&a==l.type)return s;for(s=n+1;s<e.length;s++)if((l=e[s])&&
!(2&l.__u)&&i==l.key&&a==l.type)return s}return-1}function No(t,e,n){n==null&&(n=""),e[0]=="-"?t.setProperty(e,n):t[e]=n}
function mt(t,e,n,o,s){var i,a;if(e=="style")if(typeof n=="string")t.style.cssText=n;else{if(typeof o=="string"&&(t.style.
cssText=o=""),o)for(e in o)n&&e in n||No(t.style,e);if(n)for(e in n)o&&n[e]==o[e]||No(t.style,e,n[e])}else if(e[0]=="o"&&
e[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(t.__e||(t.__e={}))[e]=n,n&&o||(a=xn[e]||(xn[e]=
bi(e)),(t.__a||(t.__a={}))[e]=Tn,i=e!=(e=e.replace(Xo,"$1")),(e=e.slice(2))[0]<"a"&&(e=e.toLowerCase()),n?t.addEventListener(
e,a,i):t.removeEventListener(e,a,i));else{if(s=="http://www.w3.org/2000/svg")e=e.replace(/xlink(H|:h)/,"h").replace(/sName$/,
"s");else if(e!="width"&&e!="height"&&e!="href"&&e!="list"&&e!="form"&&e!="tabIndex"&&e!="download"&&e!="rowSpan"&&e!="c\
olSpan"&&e!="role"&&e!="popover"&&e in t)try{return void(t[e]=n??"")}catch{}if(typeof n=="function")return;n==null||n===
!1&&e[4]!="-"?t.removeAttribute(e):t.setAttribute(e,e=="popover"&&n==1?"":n)}}function bi(t){return function(e){var n=this.
__e;if(n){if(n=n[t],e[gt]==null)e[gt]=Tn++;else if(e[gt]<this.__a[t])return;return n(R.event?R.event(e):e)}}}function Cn(t,e,n,o,s,i,a,l,c,u){
var d,p,h,f,m,w,_,b,k,y,T,D,te,xe,ce,re,V,Ie,ke=e.type;if(e.constructor!==rt)return null;128&n.__u&&(c=32&n.__u,d=n.__c.
__z)&&(e.__u|=c,p=i=[],d.nodeType==8?l=bt(d,i):i.push(d),l=i[0]||l),(d=R.__b)&&d(e);e:if(typeof ke=="function"){h=a.length;
try{if(b=e.props,k=(d=ke.prototype)&&d.render,y=(d=ke.contextType)&&o[d.__c],T=d?y?y.props.value:d.__:o,(f=n.__c)?(e.__c=
f,2&f.__g&&(f.__g|=1)):(k?e.__c=f=new ke(b,T):(e.__c=f=new je(b,T),f.constructor=ke,f.render=_i),y&&y.sub(f),f.state||(f.
state={}),f.__n=o,f.__g|=8,f.__h=[],f.__k=[]),k&&(f.__s||(f.__s=f.state),ke.getDerivedStateFromProps&&(f.__s==f.state&&(f.
__s=Re({},f.__s)),Re(f.__s,ke.getDerivedStateFromProps(b,f.__s)))),m=f.props,w=f.state,f.__v=e,n.__c){if(b!==m&&k&&!ke.getDerivedStateFromProps&&
f.componentWillReceiveProps&&f.componentWillReceiveProps(b,T),e.__v==n.__v&&!(8&f.__g)||!(4&f.__g)&&f.shouldComponentUpdate&&
f.shouldComponentUpdate(b,f.__s,T)===!1){e.__v!=n.__v&&(f.props=b,f.state=f.__s,f.__g&=-9),e.__e=n.__e,e.__k=n.__k,e.__k.
some(function(me){me&&(me.__=e)}),vt.push.apply(f.__h,f.__k),f.__k=[],f.__h.length&&a.push(f),l=Te(n);break e}f.componentWillUpdate&&
f.componentWillUpdate(b,f.__s,T),k&&f.componentDidUpdate&&f.__h.push(function(){f.componentDidUpdate(m,w,_)})}else k&&!ke.
getDerivedStateFromProps&&f.componentWillMount&&f.componentWillMount(),k&&f.componentDidMount&&f.__h.push(f.componentDidMount);
f.context=T,f.props=b,f.__P=t,f.__g&=-5,D=R.__r,te=k?25:0;do f.__g&=-9,D&&D(e),d=f.render(f.props,f.state=f.__s,f.context);while(8&
f.__g&&++te<25);k&&(vt.push.apply(f.__h,f.__k),f.__k=[]),f.state=f.__s,f.getChildContext&&(o=Re({},o,f.getChildContext())),
k&&n.__c&&f.getSnapshotBeforeUpdate&&(_=f.getSnapshotBeforeUpdate(m,w)),xe=d&&d.type===E&&d.key==null?d.props.children:d,
b.__P&&(d=l,s=(t=b.__P).namespaceURI,c=i=null,n.props&&n.props.__P!=t&&(n.__k.some(function(me){me&&An(me,me)}),n.__k=null),
l=n.__k?Te(n,0):null),l=Uo(t,En(xe)?xe:[xe],e,n,o,s,i,a,l,c,u),b.__P&&(e.__e=null,l=d),e.__u&=-161,p&&p.some(Oe),f.__h.length&&
a.push(f),1&f.__g&&(f.__g&=-4)}catch(me){if(a.length=h,e.__v=null,c||i)if(me&&me.then){if(e.__u|=128|c,i){for(~(V=i.indexOf(
l||void 0))||(V=i.length);(Ie=i[V-1])&&Ie.nodeType==8;)V--;for(;V<i.length;V++)if(Ie=i[V])if(i[V]=null,ce){if(Ie==re)break}else{
if(Ie.nodeType!=8)break;Ie.data.startsWith("$s")&&(re=bt(ce=Ie))}}if(!ce){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;
ce=l}(d=bt(ce=e.__c.__z||(e.__c.__z=ce)))?(e.__e=ce,l=d):e.__e=l,l=l&&l.nextSibling}else i&&i.some(Oe);else e.__e=n.__e;
e.__k||(e.__k=n.__k||[]),me&&me.then||Wo(e),R.__e(me,e,n)}}else l=e.__e=wi(n.__e,e,n,o,s,i,a,c,u,t);return(d=R.diffed)&&
d(e),l}function bt(t,e){if(t&&t.nodeType==8&&t.data.startsWith("$s"))for(var n=1;t=t.nextSibling;){if(t.nodeType==8){if(t.
data.startsWith("$s"))n++;else if(t.data.startsWith("/$s")&&!--n)return t}e&&e.push(t)}}function Wo(t){t&&(t.__c&&(t.__c.
__g|=4),t.__k&&t.__k.some(Wo))}function qo(t,e,n){for(var o=0;o<n.length;)Pn(n[o++],n[o++],n[o++]);R.__c&&R.__c(e,t),t.some(
function(s){try{t=s.__h,s.__h=[],t.some(function(i){i.call(s)})}catch(i){R.__e(i,s.__v)}})}function wi(t,e,n,o,s,i,a,l,c,u){
var d,p,h,f,m,w,_,b,k=n.props||_t,y=e.props,T=e.type;if(T=="svg"?s="http://www.w3.org/2000/svg":T=="math"?s="http://www.\
w3.org/1998/Math/MathML":s||(s="http://www.w3.org/1999/xhtml"),i){for(d=0;d<i.length;d++)if((m=i[d])&&(T?m.localName==T:
m.nodeType==3)){t=m,i[d]=null;break}}if(!t){if(b=u.ownerDocument||document,!T)return b.createTextNode(y);t=b.createElementNS(
s,T,y.is?y:u),l&&(R.__m&&R.__m(e,i),l=!1),i=null}if(T){if(u=T=="template"&&t.content||t,i=T=="textarea"&&y.defaultValue!=
null?null:i&&jo.call(u.childNodes),!l&&i)for(k={},d=0;d<t.attributes.length;d++)k[(m=t.attributes[d]).name]=m.value;for(d in k)
m=k[d],d=="dangerouslySetInnerHTML"?h=m:d=="children"||d in y||d=="value"&&"defaultValue"in y||d=="checked"&&"defaultChe\
cked"in y||mt(t,d,null,m,s);for(d in y)m=y[d],d=="children"?f=m:d=="dangerouslySetInnerHTML"?p=m:d=="value"?w=m:d=="chec\
ked"?_=m:l&&typeof m!="function"||k[d]===m||mt(t,d,m,k[d],s);p?(l||h&&(p.__html==h.__html||p.__html==t.innerHTML)||(t.innerHTML=
p.__html),e.__k=[]):(h&&(t.textContent=""),(T=="foreignObject"||s=="http://www.w3.org/1998/Math/MathML"&&hi.test(T))&&(s=
"http://www.w3.org/1999/xhtml"),Uo(u,En(f)?f:[f],e,n,o,s,i,a,i?i[0]:n.__k&&Te(n,0),l,c),i&&i.some(Oe)),l&&T!="textarea"||
(d="value",T=="progress"&&w==null?t.removeAttribute(d):w==null||w===t[d]&&(T!="progress"||w)||mt(t,d,w,k[d],s),d="checke\
d",_!=null&&_!=t[d]&&mt(t,d,_,k[d],s))}else k===y||l&&t.data==y||(t.data=y);return t}function Pn(t,e,n,o){try{typeof t==
"function"?e?e.__x=t(e)||1:o&&(o=o.__c||o.__e)&&(e=o.__x)&&(o.__x=null,typeof e=="function"?e():t(null)):t.current=e}catch(s){
R.__e(s,n)}}function An(t,e,n){var o,s,i,a;if(R.unmount&&R.unmount(t),!(o=t.ref)||o.current&&o.current!=t.__e||Pn(o,null,
e,t),o=t.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){R.__e(l,e)}o.__P=o.__n=null}if(o=t.__k)for(a=
0;a<o.length;a++)o[a]&&An(o[a],e,typeof t.type!="function"||n&&!t.props.__P);!n&&(o=t.__c)&&(o=o.__z)&&(s=bt(o,i=[]))&&(o==
t.__e&&i.some(Oe),Oe(s),Oe(o)),n||Oe(t.__e),t.__e=t.__c=t.__=null}function _i(t,e,n){return this.constructor(t,n)}function zo(t,e){
var n,o,s,i;R.__&&R.__(t,e),e.nodeType==9&&(e=e.documentElement),o=(n=t&&32&t.__u)?null:e.__k,e.__k=yt(E,{children:[t]}),
s=[],i=[],Cn(e,e.__k,o||_t,_t,e.namespaceURI,o?null:e.firstChild?jo.call(e.childNodes):null,s,o?o.__e:e.firstChild,n,i),
qo(s,e.__k,i),e.__k.props.children=null}function Go(t){function e(n){var o,s;return this.getChildContext||(o=new Set,(s={})[e.__c]=this,this.getChildContext=function(){
return s},this.shouldComponentUpdate=function(i){this.props.value!=i.value&&o.forEach(function(a){a.__g|=4,Sn(a)})},this.
sub=function(i){o.add(i);var a=i.componentWillUnmount;i.componentWillUnmount=function(){o.delete(i),a&&a.call(i)}}),n.children}
return e.__c="__cC"+Lo++,e.__=t,e.Provider=(e.Consumer=function(n,o){return n.children(o)}).contextType=e,e}R={__e:function(t,e,n,o){for(var s,i,a;e=e.__;)if((s=e.__c)&&!(1&s.__g)){s.__g|=4;try{if((a=(i=s.constructor)&&i.getDerivedStateFromError)&&
s.setState(i.getDerivedStateFromError(t)),s.componentDidCatch&&(s.componentDidCatch(t,o||{}),a=1),a&&8&s.__g)return void(s.
__g|=2)}catch(l){t=l}}throw wt=0,t}},Do=0,fi=function(t){return t!=null&&t.constructor===rt},je.prototype.setState=function(t,e){
var n=this.__s;n&&n!=this.state||(n=this.__s=Re({},this.state)),typeof t=="function"&&(t=t(Re({},n),this.props)),t&&(Re(
n,t),this.__v&&(e&&this.__k.push(e),Sn(this)))},je.prototype.forceUpdate=function(t){this.__v&&(this.__g|=4,t&&this.__h.
push(t),Sn(this))},je.prototype.render=E,Se=[],wt=0,Fo=function(t,e){return t.__v.__b-e.__v.__b},gt=Symbol(),Xo=/(PointerCapture)$|Capture$/i,
Tn=0,xn={},Lo=0;var Ee,X,Mn,Ko,$n=Object.is,it=0,rr=[],In=[],B=R,Qo=B.__b,Vo=B.__r,Yo=B.diffed,Zo=B.__c,er=B.unmount,tr=B.__;function Be(t,e){
B.__h&&B.__h(X,t,it||e),it=0;var n=X.__H||(X.__H={__:[],__h:[]});return t>=n.__.length&&n.__.push({}),n.__[t]}function g(t){
return it=1,vi(ar,t)}function vi(t,e,n){var o=Be(Ee++,2);if(o.t=t,!o.__c&&(o.__=[n?n(e):ar(void 0,e),function(i){var a=(o.
__N||o.__)[0],l=o.t(a,i);$n(a,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=X,!X.__f)){X.__f=!0;var s=X.shouldComponentUpdate;
X.shouldComponentUpdate=function(i,a,l){var c=this.__H;if(!c)return!0;var u=!1,d=this.props!=i;if(c.__.some(function(h){
h.__N&&(u=!0,$n(h.__[0],h.__N[0])||(d=!0))}),s){var p=s.call(this,i,a,l);return u?p||d:p}return!u||d}}return o.__}function $(t,e){
var n=Be(Ee++,3);!B.__s&&Rn(n.__H,e)&&(n.__P=!0,n.__=t,n.u=e,X.__H.__h.push(n))}function sr(t,e){var n=Be(Ee++,4);!B.__s&&
Rn(n.__H,e)&&(n.__P=!1,n.__=t,n.u=e,X.__h.push(n))}function G(t){return it=5,at(function(){return{current:t}},[])}function at(t,e){var n=Be(Ee++,7);return Rn(n.__H,e)&&(n.__=t(),n.__H=e),n.__}function de(t,e){return it=8,at(function(){
return t},e)}function ir(t){var e=X.context[t.__c],n=Be(Ee++,9);return n.c=t,e?(n.__==null&&(n.__=!0,e.sub(X)),e.props.value):
t.__}function Je(){var t=Be(Ee++,11);if(!t.__){for(var e=X.__v;!e.__m&&e.__;)e=e.__;var n=e.__m||(e.__m=[0,0]);t.__="P"+n[0]+
"-"+n[1]++}return t.__}function ki(){var t;do{for(;t=In.shift();)try{st(t)}catch(n){B.__e(n,{__:(t=t.__P)&&t.__v})}for(;t=
rr.shift();){var e=t.__H;if(t.__P&&e)try{e.__h.some(st),e.__h.some(On),e.__h=[]}catch(n){e.__h=[],B.__e(n,t.__v)}}}while(In.
length)}B.__b=function(t){X=null,Qo&&Qo(t)},B.__=function(t,e){t&&e.__k&&e.__k.__m&&(t.__m=e.__k.__m),tr&&tr(t,e)},B.__r=
function(t){Vo&&Vo(t),Ee=0;var e=(X=t.__c).__H;e&&(Mn==X?X.__h=[]:(e.__h.some(st),e.__h.some(On),Ee=0),e.__h=[],e.__.some(
function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Mn=X},B.diffed=function(t){Yo&&Yo(t);var e=t.__c;e&&e.__H&&(e.__H.__h.
length&&or(rr.push(e)),e.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Mn=X=null},B.__c=function(t,e){e.some(function(n){try{
n.__h.some(st),n.__h=n.__h.filter(function(o){return!o.__||On(o)})}catch(o){n.__h=[function(){throw o}]}}),Zo&&Zo(t,e)},
B.unmount=function(t){er&&er(t);var e,n,o=t.__c;o&&o.__H&&(o.__H.__.some(function(s){try{if(s.__P&&s.__c){if(n===void 0){
for(n=t.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}s.__P=n,or(In.push(s))}else st(s)}catch(i){e=i}}),o.__H=void 0,e&&
B.__e(e,o.__v))};var nr=typeof requestAnimationFrame=="function";function xi(t){var e,n=function(){clearTimeout(o),nr&&cancelAnimationFrame(
e),setTimeout(t)},o=setTimeout(n,35);nr&&(e=requestAnimationFrame(n))}function or(t){t!=1&&Ko==B.requestAnimationFrame||
((Ko=B.requestAnimationFrame)||xi)(ki)}function st(t){var e=X,n=t.__c;typeof n=="function"&&(t.__c=void 0,n()),X=e}function On(t){
var e=X;t.__c=t.__(),X=e}function Rn(t,e){return!t||t.length!=e.length||e.some(function(n,o){return!$n(n,t[o])})}function ar(t,e){
return typeof e=="function"?e(t):e}var q=class extends Error{name="ApiError";code;status;retryAfter;constructor(e,n,o,s=0){super(o),this.code=e,this.status=
n,this.retryAfter=s}};async function lr(t){let e=Number(t.headers.get("Retry-After"))||0,n;try{n=await t.json()}catch{n=
void 0}let{code:o,detail:s,title:i}=n??{},a=[s,i].find(c=>typeof c=="string"&&c!==""),l=typeof a=="string"?a:`the edge a\
nswered with the status ${t.status}`;return new q(typeof o=="string"?o:"unknown",t.status,l,e)}function K(t){let e=t instanceof
Error?t.message:String(t),n=e.charAt(0).toUpperCase()+e.slice(1);return/[.?]$/.test(n)?n:`${n}.`}var Si=4,Nn=new q("no_session",401,"you are signed out; sign in to go on"),kt=class{#e;#t=0;constructor(e){this.#e=e}serverNow(){
return this.#r()+this.#t}get=(e,n={})=>this.call("GET",e,n);async call(e,n,o={}){let{gate:s}=this.#e;for(let i=0;;i++){if(o.
background&&s.ended)throw Nn;let a=await this.#n(e,n,o);if(a.ok)return await this.#o(a);let l=await lr(a);if(o.bare||i>=
Si)throw l;let{code:c}=l;if(c!=="no_session"&&c!=="confirmation_required")throw l;if(c==="no_session"&&o.background&&s.ended)
throw Nn;let u=await(c==="no_session"?s.signIn():s.confirm());if(o.signal?.throwIfAborted(),!u)throw c==="no_session"?Nn:
new q(c,403,"the password was not given, so nothing was changed")}}async#n(e,n,{body:o,background:s,signal:i}){let a={};
e!=="GET"&&(a["Content-Type"]="application/json");let l=this.#e.takeActivity();s&&!l&&(a["Console-Background"]="1");try{
let c=await(this.#e.fetch??fetch)(new URL(n,this.#e.base),{method:e,headers:a,credentials:"same-origin",cache:"no-store",
redirect:"error",...e==="GET"?{}:{body:JSON.stringify(o??{})},...i?{signal:i}:{}}),u=Date.parse(c.headers.get("Date")??"");
return Number.isNaN(u)||(this.#t=u-this.#r()),c}catch{throw i?.throwIfAborted(),new q("unreachable",0,"the edge does not\
 answer; check that it runs and that you can reach it",0)}}async#o(e){try{return await e.json()}catch{throw new q("bad_a\
nswer",e.status,"the answer of the edge cannot be read; try again")}}#r(){return(this.#e.now??Date.now)()}};var xt=class{ended=!1;#e;#t;constructor(e){this.#t=e}get question(){return this.#e?.question}signIn(){return this.#n("si\
gn-in")}confirm(){return this.#n("confirm")}answer(e){let n=this.#e;n&&(this.#e=void 0,n.question==="sign-in"&&(this.ended=
!e),n.answer(e),this.#t())}opened(){this.ended=!1,this.#t()}async#n(e){let n=this.#e;if(n&&n.question!==e)return e==="si\
gn-in"&&(this.#e={...n,question:e}),this.#t(),n.answered;if(n)return n.answered;let o=()=>{},s=new Promise(i=>{o=i});return this.#e=
{question:e,answered:s,answer:o},this.#t(),s}};function Dn(t){let[e="",n=""]=t.replace(/^#\/?/,"").split("?",2);return{screen:e||"overview",query:Object.fromEntries(new URLSearchParams(
n))}}function I(t,e={}){let n=J(e);return`#/${t}${n}`}var Ti=/([AM]T_[0-9a-f]{8,32})_?[0-9a-f]*/gi;function J(t){let e=new URLSearchParams;
for(let[o,s]of Object.entries(t))s!==void 0&&s!==""&&e.set(o,String(s).replace(Ti,"$1"));let n=e.toString();return n===""?
"":`?${n}`}var Ei=new Intl.NumberFormat("en",{maximumFractionDigits:0}),Ci=new Intl.NumberFormat("en",{maximumSignificantDigits:2}),
Pi=new Intl.DateTimeFormat("en-GB",{year:"numeric",month:"2-digit",day:"2-digit",hour:"2-digit",minute:"2-digit",second:"\
2-digit",timeZone:"UTC"}),cr=["bytes","KiB","MiB","GiB","TiB","PiB"],A=t=>Ei.format(t),St=t=>t===0||t>=10?A(t):Ci.format(
t);function O(t,e,n=`${e}s`){return`${A(t)} ${t===1?e:n}`}function U(t){let e=0,n=t;for(;n>=1024&&e<cr.length-1;)n/=1024,
e++;return`${e===0||n>=100?A(n):n.toFixed(1)} ${cr[e]}`}function Fn(t){let e=Math.round(Math.abs(t)/1e3),n=[];for(let[o,
s]of[["d",86400],["h",3600],["min",60],["s",1]]){let i=Math.floor(e/s);if(e-=i*s,i>0)n.push(`${i} ${o}`);else if(n.length>
0)break;if(n.length===2)break}return n.join(" ")||"0 s"}function lt(t,e){let n=(typeof t=="number"?t:Date.parse(t))-e;if(Number.
isNaN(n))return"";let o=Math.abs(n)<6e4?1e3:Math.abs(n)<864e5?6e4:36e5,s=Fn(Math.trunc(n/o)*o);return n>=0?`in ${s}`:`${s}\
 ago`}function we(t){let e=new Date(t);if(Number.isNaN(e.getTime()))return"";let n=Object.fromEntries(Pi.formatToParts(e).
map(({type:o,value:s})=>[o,s]));return`${n.year}-${n.month}-${n.day} ${n.hour}:${n.minute}:${n.second} UTC`}function Ce(t){let e=0;for(let n of t)e++;return e}function Xn(t){return new TextEncoder().encode(t).length}function ne(t){
return t.split(/[\s,]+/).filter(e=>e!=="")}function Pe(t,e){if(t.length<=e)return t;let n=[...t];return n.length<=e?t:`${n.
slice(0,e-1).join("")}…`}function Ue(t,e="and"){return t.length<2?t[0]??"":`${t.slice(0,-1).join(", ")} ${e} ${t[t.length-
1]}`}var He=/^[0-9a-f]{0,32}$/;function We(t){return/^[AM]T_([0-9a-f]{0,32})/.exec(t)?.[1]??t}var Ln=Go(void 0);function M(){let t=ir(Ln);if(!t)throw new Error("there is no console here");return t}function H(){return M().
session.role==="manager"}var Ai=Symbol.for("pv"),Mi=0;function r(t,e,n,o,s,i){e||(e={});var a,l,c=e;if("ref"in c&&typeof t!="function")for(l in c={},e)l=="ref"?a=e[l]:c[l]=e[l];
var u={type:t,props:c,key:n,ref:a,__k:null,__:null,__b:0,__e:null,__c:null,constructor:Ai,__v:--Mi,__i:-1,__u:0};return(s||
i)&&(u.__source=s,u.__self=i),R.vnode&&R.vnode(u),u}function C({text:t,most:e=80}){let n=Pe(t,e);return r("bdi",{class:"name",...n===t?{}:{title:t},children:n})}function P({
text:t,most:e=256}){let n=Pe(t,e);return r("bdi",{children:r("code",{...n===t?{}:{title:t},children:n})})}function L({at:t,
plain:e}){let{api:n}=M();return t?r("time",{dateTime:t,title:e?lt(t,n.serverNow()):we(t),children:e?we(t):lt(t,n.serverNow())}):
r("span",{children:"–"})}function N({mood:t="plain",children:e}){return r("span",{class:`badge ${t}`,children:e})}function Ae({
text:t}){return r("div",{role:"alert",class:"errors",children:t&&r("p",{class:"note bad",children:t})})}function Y({error:t,
known:e}){return r("div",{role:"alert",class:"errors",children:t&&r("p",{class:"note bad",children:[t," ",e?"What is bel\
ow is older. It is asked for again.":"It is asked for again."]})})}function W({what:t}){return r("p",{class:"quiet",role:"\
status",children:["Loading ",t,"…"]})}function j({children:t}){return r("div",{class:"empty",children:t})}function se({
of:t}){return r("dl",{class:"facts",children:t.map(e=>e&&r("div",{class:e[2]?"whole":"",children:[r("dt",{children:e[0]}),
r("dd",{children:e[1]})]},e[0]))})}function dr({text:t,label:e,onCopied:n}){let[o,s]=g("");return $(()=>{if(o==="")return;
let a=setTimeout(()=>s(""),4e3);return()=>clearTimeout(a)},[o]),r("span",{class:"copy",children:[r("button",{type:"butto\
n",onClick:async()=>{try{await navigator.clipboard.writeText(t),s("Copied."),n?.()}catch{s("The browser does not allow i\
t. Select the text and copy it.")}},children:e}),r("span",{role:"status",class:"quiet",children:o})]})}function Z({text:t,
children:e}){return r("div",{class:"heading",children:[r("h1",{tabIndex:-1,children:t}),e&&r("div",{class:"buttons",children:e})]})}var Tt=class{#e;#t=new AbortController;#n;#o=!1;#r=!1;#s=0;#i=!1;#a=!1;paused=!1;constructor(e){this.#e=e}get pause(){return Math.
min(6e4,this.#e.every*2**this.#s)}refresh(){this.#t.signal.aborted||(clearTimeout(this.#n),this.#i=!1,this.#o?this.#r=!0:
this.#l())}wake(){this.#a&&!this.paused&&!this.#e.hidden()&&this.refresh()}stop(){clearTimeout(this.#n),this.#t.abort()}async#l(){
this.#o=!0,this.#a=!1,this.#r=!1;let e=this.#i;this.#i=!0;try{await this.#e.ask(e,this.#t.signal),this.#s=0}catch{this.#s++}
if(this.#o=!1,!this.#t.signal.aborted){if(this.#r)return void this.#l();this.#n=setTimeout(()=>{this.paused||this.#e.hidden()?
this.#a=!0:this.#l()},this.pause)}}};function oe(){let[t,e]=g(!1),[n,o]=g(),s=G({busy:!1,mounted:!0}).current;$(()=>(s.mounted=!0,()=>{s.mounted=!1}),[s]);let i=de(
async a=>{if(!s.busy){s.busy=!0,e(!0),o(void 0);try{await a()}catch(l){s.mounted&&o(K(l))}s.busy=!1,s.mounted&&e(!1)}},[
s]);return{busy:t,error:n,run:i,fail:o}}function ee(t,e,n,o=!1){let[s,i]=g({key:t}),a=G(n);a.current=n;let l=G(void 0);$(
()=>{let u=new Tt({every:e,hidden:()=>document.hidden,ask:async(p,h)=>{try{let f=await a.current({background:p,signal:h});
h.aborted||i({key:t,data:f})}catch(f){throw h.aborted||i(m=>({...m,error:K(f)})),f}}});l.current=u;let d=()=>u.wake();return document.
addEventListener("visibilitychange",d),u.refresh(),()=>{document.removeEventListener("visibilitychange",d),u.stop()}},[t,
e]),$(()=>{l.current&&(l.current.paused=o,l.current.wake())},[o,t,e]);let c=de(()=>l.current?.refresh(),[]);return{data:s.
data,stale:s.key!==t||s.data===void 0,error:s.error,refresh:c}}function ie({label:t,columns:e,rows:n,keyOf:o,detail:s,busy:i}){return r("div",{class:"scroll",children:r("table",{role:"\
table","aria-label":t,"aria-busy":i??!1,children:[r("thead",{role:"rowgroup",children:r("tr",{role:"row",children:e.map(
a=>r("th",{role:"columnheader",scope:"col",class:a.number?"number":"",children:a.label},a.label))})}),r("tbody",{role:"r\
owgroup",children:n.map(a=>{let l=s?.(a);return r(E,{children:[r("tr",{role:"row",class:l?"open":"",children:e.map((c,u)=>$i(
c,a,u===0))}),l&&r("tr",{role:"row",class:"detail",children:r("td",{role:"cell",colSpan:e.length,children:l})})]},o(a))})})]})})}
function $i(t,e,n){let o={"data-label":t.label,class:t.number?"number":""},s=r("div",{children:t.cell(e)});return n?r("t\
h",{...o,role:"rowheader",scope:"row",children:s},t.label):r("td",{...o,role:"cell",children:s},t.label)}function qe(t){
return r("button",{type:"button",class:"expand","aria-expanded":t.open,"aria-label":t.label,onClick:t.onToggle,children:t.
children})}function ge({page:t,more:e,onPrevious:n,onNext:o}){return t===1&&!e?null:r("nav",{class:"pages","aria-label":"\
Pages",children:[r("button",{type:"button",disabled:t===1,onClick:n,children:"Previous page"}),r("span",{children:["Page\
 ",t]}),r("button",{type:"button",disabled:!e,onClick:o,children:"Next page"})]})}function ct({status:t}){if(!t)return r("span",{children:"–"});let{driver:e,usable:n,error:o,writable:s,replicas:i}=t.store;
return r("span",{class:"state",children:[r("span",{children:e}),n?s?r(N,{mood:"good",children:"ready"}):r(N,{mood:"warn",
children:"read only"}):r(N,{mood:"bad",children:"not usable"}),i&&r("span",{class:i.current<i.all?"wrong":"quiet",children:[
i.current," of ",i.all," replicas current"]}),o&&r(C,{text:o,most:200})]})}function dt({status:t}){return t?r("span",{class:"\
state",children:[r("span",{children:t.broker.driver}),t.broker.linked?r(N,{mood:"good",children:"linked"}):r(N,{mood:"ba\
d",children:"link lost"})]}):r("span",{children:"–"})}var Ii={websocket:"WebSocket",webtransport:"WebTransport"},ze=t=>Ii[t]??
t;function Et({edge:t}){return t.self&&t.name!=="this edge"?r(N,{children:"this edge"}):null}function Ge(t){let e=t.edges.
filter(n=>!n.answered);return r("div",{role:"alert",class:"errors",children:e.length>0&&r("div",{class:"note warn",children:[
r("p",{children:[e.length===1?"An edge does not answer":`${e.length} edges do not answer`,"."," ",t.missing[e.length===1?
0:1]]}),r("ul",{children:[e.slice(0,20).map(n=>r("li",{children:[r(C,{text:n.name}),n.error&&r(E,{children:[": ",r(C,{text:n.
error,most:200})]})]},n.id)),e.length>20&&r("li",{children:["and ",e.length-20," more"]})]})]})})}function x(t){let{label:e,value:n,onInput:o,hint:s,error:i,type:a="text",rows:l,mono:c,autoComplete:u="off",readOnly:d,count:p,
options:h}=t,f=Je(),m=p&&p.now>p.most,w=i??(m?`At most ${p.most} ${p.unit}.`:void 0),_={id:f,value:n,readOnly:d??!1,class:c?
"mono":"",autoComplete:u,autoCapitalize:"off",spellcheck:!1,autofocus:t.autoFocus??!1,"aria-invalid":w!==void 0,"aria-de\
scribedby":`${f}-help`,onInput:b=>o(b.currentTarget.value)};return r("div",{class:"field",children:[r("label",{for:f,children:e}),
l?r("textarea",{..._,rows:l}):a==="password"?r("input",{..._,type:"password"}):r("input",{..._,type:"text",list:h&&`${f}\
-list`}),h&&r("datalist",{id:`${f}-list`,children:h.map(b=>r("option",{value:b},b))}),r("div",{id:`${f}-help`,class:"hel\
p",children:[s&&r("p",{children:s}),p&&r("p",{class:m?"wrong":"",children:[p.now," of ",p.most," ",p.unit]}),w&&r("p",{class:"\
wrong",children:w})]})]})}function z({label:t,value:e,onInput:n,hint:o,options:s}){let i=Je();return r("div",{class:"fie\
ld",children:[r("label",{for:i,children:t}),r("select",{id:i,value:e,"aria-describedby":`${i}-help`,onChange:a=>n(a.currentTarget.
value),children:s.map(([a,l])=>r("option",{value:a,children:l},a))}),r("div",{id:`${i}-help`,class:"help",children:o&&r(
"p",{children:o})})]})}function ve({label:t,checked:e,onChange:n,hint:o}){let s=Je();return r("div",{class:"check",children:[
r("input",{id:s,type:"checkbox",checked:e,"aria-describedby":`${s}-help`,onChange:i=>n(i.currentTarget.checked)}),r("lab\
el",{for:s,children:t}),r("p",{id:`${s}-help`,class:"help",children:o})]})}function ye({title:t,onClose:e,children:n,wide:o}){let s=G(null),i=G(!1),a=Je();return sr(()=>{let l=s.current,c=document.
activeElement;return l?.showModal(),()=>{i.current=!0,l?.close(),setTimeout(()=>{!(c instanceof HTMLElement&&c.isConnected)&&
document.activeElement===document.body&&document.querySelector("h1")?.focus()})}},[]),r("dialog",{ref:s,class:o?"wide":"",
"aria-labelledby":a,onCancel:l=>{l.target===s.current&&(l.preventDefault(),e())},onClose:()=>{i.current||(e(),setTimeout(
()=>{!i.current&&s.current?.open===!1&&s.current.showModal()}))},children:[r("h2",{id:a,children:t}),n]})}function ue({action:t,
submit:e,danger:n,disabled:o,onSubmit:s,onCancel:i,children:a,extra:l}){return r("form",{noValidate:!0,"aria-busy":t.busy,
onSubmit:c=>{c.preventDefault(),o||t.run(s)},children:[a,r(Ae,{text:t.error}),r("div",{class:"buttons",children:[r("butt\
on",{type:"submit",class:n?"danger":"primary",disabled:o,"aria-disabled":t.busy,children:e}),i&&r("button",{type:"button",
onClick:i,children:"Cancel"}),l]})]})}function Ct({title:t,label:e,secret:n,onClose:o,children:s}){let[i,a]=g(!1),[l,c]=g(!1);return r(ye,{title:t,wide:!0,onClose:()=>i||
l?o():a(!0),children:[r("p",{class:"note warn",children:[r("strong",{children:"This is shown only once."})," Nobody can \
read it here again. Copy it now to where it is needed, such as a secret store."]}),r(Pt,{label:e,text:n,copy:"Copy the t\
oken",onCopied:()=>c(!0)}),s,r("p",{role:"status",children:i&&!l?"Press Esc again to close, if you have copied the token\
.":""}),r("div",{class:"buttons",children:r("button",{type:"button",class:"primary",onClick:o,children:"Done"})})]})}function Pt({
label:t,text:e,copy:n,onCopied:o}){return r("div",{class:"snippet",children:[r("div",{class:"snippet-head",children:[r("\
h3",{children:t}),r(dr,{text:e,label:n,onCopied:o})]}),r("pre",{tabIndex:0,"aria-label":t,role:"region",children:e})]})}var Oi=20;function pr(t,e=""){let n=[];for(let[o,s]of(t.tenant_grants??[]).entries()){let i=`right.tenant_grants[${o}]`,
a=Ke(s.tenant_ids??[],`${i}.tenant_ids`,e,"or"),l=s.allow_channels_pub??[],c=s.allow_channels_sub??[];l.length>0&&n.push(
["may publish to ",...Ke(l,`${i}.allow_channels_pub`,e)," in ",...a]),c.length>0&&n.push(["may subscribe to ",...Ke(c,`${i}\
.allow_channels_sub`,e)," in ",...a]);let u=s.allow_channels_history??[];u.length>0&&n.push(["may read stored messages o\
f ",...Ke(u,`${i}.allow_channels_history`,e)," in ",...a]);let d=s.allow_channels_presence??[];d.length>0&&n.push(["may \
see who is present in ",...Ke(d,`${i}.allow_channels_presence`,e)," in ",...a]),l.length+c.length===0&&n.push(["may neit\
her publish nor subscribe in ",...a])}return n.push(At("from ",t.allow_ip_masks,"right.allow_ip_masks",e,"any address")),
t.allowed_ws_origin?.length&&n.push(At("from pages of ",t.allowed_ws_origin,"right.allowed_ws_origin",e,"")),t.allow_regions?.
length&&n.push(At("at edges in ",t.allow_regions,"right.allow_regions",e,"")),n.push(At("by ",t.allow_protocols,"right.a\
llow_protocols",e,"WebSocket or WebTransport")),n.push([`may send ${ur(t.ingress_kb_per_sec)} and receive ${ur(t.egress_kb_per_sec)}\
 on each connection`]),n}function fr(t){return/^right\.[\w.[\]]+/.exec(t??"")?.[0]??""}function hr(t,e){return e!==""&&(t===e||t.startsWith(`${e}\
[`))}function ur(t){return t===void 0?"as much as the edge's default":`${t.toLocaleString("en")} KB/s`}function At(t,e,n,o,s){
return e?.length?[t,...Ke(e,n,o,"or")]:[t+s]}function Ke(t,e,n,o="and"){let s=t.map((c,u)=>({rule:c,path:`${e}[${u}]`})),
i=s.filter((c,u)=>u<Oi||c.path===n),a=s.length-i.length,l=[];for(let[c,u]of i.entries())c>0&&l.push(c===i.length-1&&a===
0?` ${o} `:", "),l.push(u);return a>0&&l.push(` and ${O(a,"other")}`),l}function mr({token:t,onAction:e}){let n=H(),o=t.token_id.slice(0,12),s=(i,a)=>r("button",{type:"button","aria-label":`${a}\
 ${o}`,onClick:()=>e(i),children:a});return r("div",{class:"token-detail",children:[r("div",{children:[r("h2",{children:"\
What it allows"}),r(jn,{right:t.right,mark:""})]}),r(se,{of:[["Id",r(P,{text:t.token_id},"id"),"wide"],t.subject?["Subje\
ct",r(C,{text:t.subject,most:128},"subject")]:void 0,t.info?["Info",r(P,{text:JSON.stringify(t.info),most:1024},"info"),
"wide"]:void 0,t.description?["Description",r(C,{text:t.description,most:512},"description")]:void 0,["Made",r(L,{at:t.created_at,
plain:!0},"made")],["Ends",r(L,{at:t.expires_at,plain:!0},"ends")],t.revoked_at?["Revoked",r(L,{at:t.revoked_at,plain:!0},
"revoked")]:void 0,["Issued with",t.master_id?r(P,{text:t.master_id},"master"):"the console or the admin API"]]}),r("div",
{class:"buttons",children:[n&&t.status==="valid"&&s("refresh","Refresh"),n&&t.status!=="revoked"&&s("revoke","Revoke"),s(
"explain","Explain"),r("a",{class:"button",href:I("connections",{token_id:t.token_id}),"aria-label":`Connections of ${o}`,
children:"Connections"}),t.subject&&r("a",{class:"button",href:I("tokens",{subject:t.subject}),"aria-label":`All of its \
subject, of token ${o}`,children:"All of its subject"})]})]})}function jn({right:t,mark:e}){return r("ul",{class:"right",
children:pr(t,e).map((n,o)=>r("li",{children:r(Ri,{sentence:n,mark:e})},o))})}function Ri({sentence:t,mark:e}){return r(
E,{children:t.map(n=>{if(typeof n=="string")return n;let o=r(P,{text:n.rule},n.path);return hr(n.path,e)?r("mark",{children:o},
n.path):o})})}var Ni=[["subscribe","subscribe"],["history","read stored messages"],["presence","see who is present"],["publish","publi\
sh"],["connect","connect"]],Di=[["","not given"],["websocket","WebSocket"],["webtransport","WebTransport"]];function gr({
token:t,onClose:e}){let{api:n}=M(),o=oe(),[s,i]=g(t),[a,l]=g(),[c,u]=g({token_id:t?.token_id??"",action:"subscribe",tenant:t?.
right.tenant_grants?.[0]?.tenant_ids?.[0]??"",channel:"",ip:"",origin:"",protocol:"",region:""}),d=f=>m=>u(w=>({...w,[f]:m.
trim()})),p=c.action==="connect";return r(ye,{title:"Explain",wide:!0,onClose:e,children:[r("p",{class:"quiet",children:"\
Asks the edge whether a token allows something, and by which of its rules."}),r(ue,{action:o,submit:"Explain",onSubmit:async()=>{
let{token_id:f}=c;if(!/^[0-9a-f]{32}$/.test(f))throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secr\
et does not belong here");let{tenant:m,channel:w,..._}=c;l(void 0);let b=p?_:{..._,tenant:m,channel:w},k=await n.call("P\
OST","explain",{body:b});if(s?.token_id!==f){let y=await n.get(`tokens${J({id:f,limit:1})}`);i(y.tokens?.find(T=>T.token_id===
f))}l(k)},extra:r("button",{type:"button",onClick:e,children:"Close"}),children:[r(x,{label:"Token id",value:c.token_id,
onInput:f=>d("token_id")(We(f.trim())),mono:!0,autoFocus:!t}),r("div",{class:"row",children:[r(z,{label:"Action",value:c.
action,onInput:d("action"),options:Ni}),!p&&r(x,{label:"Tenant",value:c.tenant,onInput:d("tenant"),mono:!0,autoFocus:t!==
void 0}),!p&&r(x,{label:c.action==="publish"?"Channel":"Pattern",value:c.channel,onInput:d("channel"),mono:!0})]}),r("di\
v",{class:"row",children:[r(x,{label:"Address",value:c.ip,onInput:d("ip"),mono:!0,hint:"Of the client, if it matters."}),
r(x,{label:"Origin",value:c.origin,onInput:d("origin"),mono:!0,hint:"Of its page."}),r(z,{label:"Transport",value:c.protocol,
onInput:d("protocol"),options:Di}),r(x,{label:"Region",value:c.region,onInput:d("region"),mono:!0,hint:"Of the edge."})]}),
r("div",{role:"status",class:"answer",children:a&&r(Fi,{answer:a,token:s})})]})]})}function Fi({answer:t,token:e}){let n=fr(
t.rule);return r(E,{children:[r("p",{children:[r(N,{mood:t.allowed?"good":"bad",children:t.allowed?"allowed":"not allowe\
d"})," ",r("bdi",{children:t.reason}),"."]}),t.rule&&r("p",{children:["Rule: ",r(P,{text:t.rule,most:600})]}),e&&r(jn,{right:e.
right,mark:n})]})}var Xi={s:1e3,m:6e4,h:36e5,d:864e5},Li=/^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i,
yr="Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";function Bn(t,e){let n=t.trim();
if(n==="")return{error:yr};let o=ji(n),s=o===void 0?Bi(n):e+o;return s===void 0?{error:yr}:s<=e?{error:"This is over alr\
eady. The end must be in the future."}:s>e+864e5?{error:"An access token lives 24 hours at most."}:{at:new Date(Math.floor(
s/1e3)*1e3)}}function ji(t){let e=t,n=0;for(;e!=="";){let o=Li.exec(e),s=Xi[o?.[2]?.toLowerCase()??""];if(!o||s===void 0)
return;n+=Number(o[1])*s,e=e.slice(o[0].length)}return n}function Bi(t){if(!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.
test(t))return;let e=Date.parse(t.replace(" ","T").replace(/\s/g,"").toUpperCase());return Number.isNaN(e)?void 0:e}function pe({title:t,submit:e,danger:n,disabled:o,onClose:s,onConfirm:i,children:a}){let l=oe();return r(ye,{title:t,onClose:s,
children:r(ue,{action:l,submit:e,danger:n,disabled:o,onSubmit:i,onCancel:s,children:a})})}var br=50,Ji=20;async function Ui(t,e,n,o,s){let i={tokens:[],next:n,asked:0};do{let a={limit:br-i.tokens.length,cursor:i.
next},l=await t.get(`tokens${J({...e,...a})}`);if(o.aborted&&i.asked>0)return i;i={tokens:[...i.tokens,...l.tokens??[]],
next:l.next_cursor??"",asked:i.asked+1},s(i)}while(!o.aborted&&i.next!==""&&i.tokens.length<br);return i}async function wr(t,e,n){
let o=0,s="";for(let i=0;i<Ji;i++){let a=J({subject:e,status:"valid",limit:1e3,cursor:s}),l=await t.get(`tokens${a}`,{signal:n});
if(o+=l.tokens?.length??0,s=l.next_cursor??"",s==="")return{count:o,all:!0}}return{count:o,all:!1}}function _r(t,e){let[
n,o]=g([""]),[s,i]=g(),[a,l]=g(!1),[c,u]=g(),d=G(void 0),p=JSON.stringify(e),h=G(e);h.current=e;let f=de(async w=>{d.current?.
abort();let _=new AbortController;d.current=_;let b=()=>d.current===_;l(!0),u(void 0);try{await Ui(t,h.current,w,_.signal,
k=>b()&&i(k))}catch(k){b()&&u(K(k))}b()&&l(!1)},[t]);$(()=>(o([""]),i(void 0),f(""),()=>{d.current?.abort(),d.current=void 0}),
[p,f]);let m=w=>{o(w),f(w[w.length-1]??"")};return{found:s,busy:a,error:c,page:n.length,stop:()=>d.current?.abort(),goOn:()=>m(
[...n.slice(0,-1),s?.next??""]),refresh:()=>m(n),next:()=>m([...n,s?.next??""]),previous:()=>m(n.slice(0,-1))}}var vr=t=>`tokens/${encodeURIComponent(t.token_id)}`;function Jn({label:t,value:e,onInput:n}){let{api:o}=M(),s=o.serverNow(),
i=Bn(e,s);return r(x,{label:t,value:e,onInput:n,options:["5m","15m","1h","8h","24h"],error:e===""?void 0:i.error,hint:i.
at?`It ends ${we(i.at.getTime())}, ${lt(i.at.getTime(),s)}.`:"A duration such as 15m or 1h 30m, or a time; at most 24 ho\
urs."})}function Un(t,e){let n=Bn(t,e);if(!n.at)throw new Error(n.error);return n.at.toISOString().replace(/\.\d+Z$/,"Z")}
function kr({token:t,onClose:e,onDone:n}){let{api:o}=M(),[s,i]=g("1h");return r(pe,{title:"Refresh the access token",submit:"\
Refresh",onClose:e,onConfirm:async()=>{let l={expires_at:Un(s,o.serverNow())},{new_expires_at:c}=await o.call("PUT",vr(t),
{body:l});n(`The token ${t.token_id.slice(0,12)}… now ends ${we(c)}.`)},children:[r("p",{children:["The token ",r(P,{text:t.
token_id})," of ",r(C,{text:t.created_by,most:40})," ends"," ",r(L,{at:t.expires_at}),". Its open connections go on unti\
l the new end."]}),r(Jn,{label:"New end",value:s,onInput:i})]})}function xr({token:t,onClose:e,onDone:n}){let{api:o}=M(),
[s,i]=g("The connections that end are being counted…");return $(()=>{let l=new AbortController;return Hi(t.token_id)(o,
l.signal).then(c=>!l.signal.aborted&&i(c),c=>!l.signal.aborted&&i(`The connections that end could not be counted. ${K(c)}`)),
()=>l.abort()},[o,t.token_id]),r(pe,{title:"Revoke the access token",submit:"Revoke",danger:!0,onClose:e,onConfirm:async()=>{
await o.call("DELETE",vr(t),{body:{}}),n(`The token ${t.token_id.slice(0,12)}… was revoked.`)},children:[r("p",{children:[
"The token ",r(P,{text:t.token_id})," of ",r(C,{text:t.created_by,most:40})," stops working at once, for good."]}),r("p",
{role:"status",children:s})]})}function Sr({subject:t,onClose:e,onDone:n}){let{api:o}=M(),[s,i]=g("Its tokens are being \
counted…");return $(()=>{let l=new AbortController;return wr(o,t,l.signal).then(({count:c,all:u})=>!l.signal.aborted&&
i(`${u?"":"At least "}${O(c,"valid token")} ${c===1?"ends":"end"}, with all connections.`),c=>!l.signal.aborted&&i(`Its \
tokens could not be counted. ${K(c)}`)),()=>l.abort()},[o,t]),r(pe,{title:"Revoke all tokens of this subject",submit:"Re\
voke all",danger:!0,onClose:e,onConfirm:async()=>{let l=`tokens?subject=${encodeURIComponent(t)}`,{revoked:c}=await o.call(
"DELETE",l,{body:{}});n(`${O(c,"token")} revoked.`)},children:[r("p",{children:["All tokens of ",r(C,{text:t,most:128}),
" stop working at once, for good. A backend can issue it new ones."]}),r("p",{role:"status",children:s})]})}function Hi(t){
return async(e,n)=>{let s=(await e.get(`connections${J({token_id:t,limit:1})}`,{signal:n})).edges??[],i=s.reduce((c,u)=>c+
u.matching,0),a=s.filter(c=>!c.answered).map(c=>c.name),l=i===0?"No connection ends with it.":`${O(i,"connection")} ${i===
1?"ends":"end"} with it.`;return a.length===0?l:`${l} Not counted are those at ${Ue(a.slice(0,10))}, which did not answe\
r.`}}var Tr=/^[\w\-~@.]*$/;function ut(t){let e=/[A-Za-z0-9]$/.test(t)?`${t}.`:t;return Tr.test(e)&&e.length<=127?e:void 0}var Er="At most 127 of a\
-z A-Z 0-9 _ - ~ @ and dots; a dot is added after a letter or digit.";function ae(t){return t.length>0&&t.length<=128&&Tr.
test(t)}function Mt(t){let e=t.indexOf("/"),n=e<0?t:t.slice(0,e);if(n.includes("%"))return"has a zone, which a mask may not have";
let o=Cr(n),s=o?void 0:Wi(n);if(!o&&!s)return"is neither an address nor a CIDR such as 10.0.0.0/8";if(s&&zi(s))return"is\
 an IPv4 address in the form of IPv6; write it as IPv4";if(e<0)return;let i=o?32:128,a=t.slice(e+1);if(!/^(0|[1-9]\d{0,2})$/.
test(a)||Number(a)>i)return`needs a length from 0 to ${i} after the slash`}function Cr(t){let e=t.split(".");return e.length===
4&&e.every(n=>/^(0|[1-9]\d{0,2})$/.test(n)&&Number(n)<=255)}function Wi(t){let e=t.split("::");if(e.length>2)return;let[
n,o]=e.map((i,a)=>qi(i,a===e.length-1));if(!n||e.length===2&&!o)return;if(!o)return n.length===8?n:void 0;let s=8-n.length-
o.length;return s<1?void 0:[...n,...new Array(s).fill(0),...o]}function qi(t,e){if(t==="")return[];let n=[],o=t.split(":");
for(let[s,i]of o.entries())if(/^[0-9a-f]{1,4}$/i.test(i))n.push(Number.parseInt(i,16));else if(e&&s===o.length-1&&Cr(i)){
let[a=0,l=0,c=0,u=0]=i.split(".").map(Number);n.push(a*256+l,c*256+u)}else return;return n}function zi(t){return t.slice(
0,5).every(e=>e===0)&&t[5]===65535}var Wn=64,qn=512,Pr=256,Gi=2**40,Hn=t=>t?String(t):"";function Ar(t){return{name:t?.name??"",description:t?.description??
"",prefix:t?.tenant_prefix??"",masks:(t?.allow_ip_masks??[]).join(`
`),maxTokens:Hn(t?.max_tokens),maxBytes:Hn(t?.max_bytes),calls:Hn(t?.calls_per_second)}}function zn(t){return{prefix:ut(
t.prefix)===void 0?Er:void 0,masks:It(ne(t.masks)),maxTokens:Me(t.maxTokens),maxBytes:Me(t.maxBytes),calls:Me(t.calls)}}
function Mr(t){let e=Ce(t.name);return e<1||e>Wn||Ce(t.description)>qn?!1:Object.values(zn(t)).every(n=>n===void 0)}function $t(t){
return{name:t.name,description:t.description,tenant_prefix:ut(t.prefix)??t.prefix,allow_ip_masks:ne(t.masks),max_tokens:Number(
t.maxTokens),max_bytes:Number(t.maxBytes),calls_per_second:Number(t.calls)}}function $r(t,e){let n=$t(t),o=Object.entries(
$t(e)).filter(([s,i])=>JSON.stringify(i)!==JSON.stringify(n[s]));return Object.fromEntries(o)}function It(t){if(t.length>
Pr)return`At most ${Pr} masks.`;for(let e of t){let n=Mt(e);if(n)return`${e} ${n}.`}}function Me(t,e=Gi){if(!(t===""||/^\d{1,13}$/.
test(t)&&Number(t)<=e))return`A whole number up to ${e.toLocaleString("en")}, or nothing.`}var Ki=256,Qi=128,Ir=2**31;function Or({onClose:t,onIssued:e}){let{api:n,session:o}=M(),s=oe(),[i,a]=g({createdBy:o.operator??
"",description:"",subject:"",tenants:"",pub:"",sub:"#",history:"",presence:"",end:"15m",masks:"",origins:"",regions:"",ingress:"",
egress:"",websocket:!0,webtransport:!0}),l=d=>p=>a(h=>({...h,[d]:p})),c=ne(i.tenants).find(d=>!ae(d));return r(ye,{title:"\
Issue a trial token",onClose:t,children:[r("p",{class:"quiet",children:"For a trial. Apps get theirs from their backend,\
 which holds a master token."}),r(ue,{action:s,submit:"Issue",onSubmit:async()=>{let d=ne(i.tenants);if(d.length===0)throw new Error(
"name at least one tenant");if(i.createdBy==="")throw new Error("say who creates it");if(!i.websocket&&!i.webtransport)throw new Error(
"allow at least one transport");if(c||It(ne(i.masks))||Me(i.ingress)||Me(i.egress))throw new Error("correct the fields t\
hat are marked");let p=m=>m===""?void 0:Number(m),h=i.websocket!==i.webtransport,f={created_by:i.createdBy,description:i.
description,subject:i.subject===""?void 0:i.subject,right:{tenant_grants:[{tenant_ids:d,allow_channels_pub:ne(i.pub),allow_channels_sub:ne(
i.sub),allow_channels_history:ne(i.history),allow_channels_presence:ne(i.presence)}],allow_ip_masks:ne(i.masks),allowed_ws_origin:ne(
i.origins),allow_regions:ne(i.regions),allow_protocols:h?[i.websocket?"websocket":"webtransport"]:[],ingress_kb_per_sec:p(
i.ingress),egress_kb_per_sec:p(i.egress),expires_at:Un(i.end,n.serverNow())}};e(await n.call("POST","tokens",{body:f}))},
onCancel:t,children:[r(x,{label:"Tenants",value:i.tenants,onInput:l("tenants"),rows:2,mono:!0,autoFocus:!0,error:c&&`${c}\
 is no tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.`,hint:"Whole names, one a line."}),r("div",{class:"row",children:[
r(x,{label:"May publish to",value:i.pub,onInput:l("pub"),rows:2,mono:!0,hint:"Channel rules, one a line."}),r(x,{label:"\
May subscribe to",value:i.sub,onInput:l("sub"),rows:2,mono:!0,hint:"# is every channel."})]}),r("div",{class:"row",children:[
r(x,{label:"May read stored messages of",value:i.history,onInput:l("history"),rows:2,mono:!0,hint:"Of what it may subscr\
ibe to. Nothing: subscriptions begin now."}),r(x,{label:"May see who is present in",value:i.presence,onInput:l("presence"),
rows:2,mono:!0,hint:"To join needs no more than to subscribe, and a subject."})]}),r(Jn,{label:"Valid until",value:i.end,
onInput:l("end")}),r("div",{class:"row",children:[r(x,{label:"Created by",value:i.createdBy,onInput:l("createdBy"),count:{
now:Xn(i.createdBy),most:Ki,unit:"bytes"}}),r(x,{label:"Description",value:i.description,onInput:l("description"),count:{
now:Ce(i.description),most:512,unit:"characters"}})]}),r(x,{label:"Subject",value:i.subject,onInput:l("subject"),count:{
now:Xn(i.subject),most:Qi,unit:"bytes"},hint:"Whose it is. Subscribers may see it."}),r("details",{children:[r("summary",
{children:"More limits"}),r(x,{label:"Address masks",value:i.masks,onInput:l("masks"),mono:!0,error:It(ne(i.masks))}),r(
x,{label:"Origins of pages",value:i.origins,onInput:l("origins"),mono:!0,hint:"Such as https://app.example.com"}),r(x,{label:"\
Regions",value:i.regions,onInput:l("regions"),mono:!0,hint:"Such as EU or US"}),r("fieldset",{children:[r("legend",{children:"\
Transports"}),r(ve,{label:"WebSocket",checked:i.websocket,onChange:l("websocket")}),r(ve,{label:"WebTransport",checked:i.
webtransport,onChange:l("webtransport")})]}),r("div",{class:"row",children:[r(x,{label:"May send, KB/s",value:i.ingress,
onInput:l("ingress"),error:Me(i.ingress,Ir)}),r(x,{label:"May receive, KB/s",value:i.egress,onInput:l("egress"),error:Me(
i.egress,Ir)})]})]})]})]})}var Vi=[["","any"],["valid","valid"],["expired","expired"],["revoked","revoked"]],Yi={valid:"good",expired:"plain",revoked:"\
bad"};function Rr({query:t}){let{api:e,notify:n}=M(),o=H(),[s,i]=g(),a={id:t.id??"",tenant:t.tenant??"",subject:t.subject??
"",created_by:t.created_by??"",status:t.status??""},l=_r(e,a),c=()=>i(void 0),u=d=>{c(),n(d),l.refresh()};return r(E,{children:[
r(Z,{text:"Access tokens",children:[r("button",{type:"button",onClick:()=>i({what:"explain",token:void 0}),children:"Exp\
lain"}),o&&a.subject!==""&&r("button",{type:"button",onClick:()=>i({what:"revoke subject",subject:a.subject}),children:"\
Revoke all of this subject"}),o&&r("button",{type:"button",class:"primary",onClick:()=>i({what:"issue"}),children:"Issue\
 a trial token"})]}),r(Zi,{query:a,onSearchAgain:l.refresh}),r(Y,{error:l.error,known:!1}),r(ea,{search:l,filtered:Object.
values(a).some(d=>d!==""),onAction:(d,p)=>i({what:d,token:p})}),s?.what==="issue"&&r(Or,{onClose:c,onIssued:d=>{i({what:"\
issued",issued:d}),l.refresh()}}),s?.what==="issued"&&r(Ct,{title:"The access token",label:"Access token",secret:s.issued.
token,onClose:c,children:r("p",{children:["Its id is ",r(P,{text:s.issued.token_id}),". It expires ",we(s.issued.expires_at),
"."]})}),s?.what==="explain"&&r(gr,{token:s.token,onClose:c}),s?.what==="refresh"&&r(kr,{token:s.token,onClose:c,onDone:u}),
s?.what==="revoke"&&r(xr,{token:s.token,onClose:c,onDone:u}),s?.what==="revoke subject"&&r(Sr,{subject:s.subject,onClose:c,
onDone:u})]})}function Zi({query:t,onSearchAgain:e}){let[n,o]=g(t),s=JSON.stringify(t);$(()=>o(t),[s]);let i=a=>l=>o(c=>({
...c,[a]:l.trim()}));return r("search",{children:r("form",{class:"filters","aria-label":"Search access tokens",onSubmit:a=>{
if(a.preventDefault(),!He.test(n.id))return;let l=I("tokens",n);l===I("tokens",t)?e():location.hash=l},children:[r(x,{label:"\
Id",value:n.id,onInput:a=>i("id")(We(a.trim())),mono:!0,error:He.test(n.id)?void 0:"An id has up to 32 digits of 0-9 and\
 a-f.",hint:"Its beginning will do."}),r(x,{label:"Tenant",value:n.tenant,onInput:i("tenant"),mono:!0,hint:"The whole na\
me."}),r(x,{label:"Subject",value:n.subject,onInput:a=>o(l=>({...l,subject:a})),hint:"The whole subject."}),r(x,{label:"\
Created by",value:n.created_by,onInput:a=>o(l=>({...l,created_by:a})),hint:"The whole label."}),r(z,{label:"State",value:n.
status,onInput:i("status"),options:Vi}),r("div",{class:"buttons",children:[r("button",{type:"submit",class:"primary",children:"\
Search"}),r("a",{class:"button",href:I("tokens"),children:"Clear"})]})]})})}function ea({search:t,filtered:e,onAction:n}){
let[o,s]=g(),i=H(),{found:a,busy:l}=t,c=a?.tokens??[],u=!l&&a!==void 0&&a.next!==""&&c.length===0;return r(E,{children:[
r("div",{role:"status",class:"with-button",children:[l&&a&&a.asked>0&&r("span",{children:["Still searching: ",O(c.length,
"token")," found so far."]}),u&&r("span",{children:"The search was stopped before its end."})]}),l&&a&&a.asked>0&&r("but\
ton",{type:"button",onClick:t.stop,children:"Stop the search"}),u&&r("button",{type:"button",onClick:t.goOn,children:"Se\
arch on"}),l&&!a&&r(W,{what:"the access tokens"}),c.length>0&&r(ie,{label:"Access tokens",columns:ta(o,s),rows:c,keyOf:d=>d.
token_id,busy:l,detail:d=>o===d.token_id&&r(mr,{token:d,onAction:p=>n(p,d)})}),!l&&a&&c.length===0&&a.next===""&&r(j,{children:e?
r("p",{children:"No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expir\
e."}):r("p",{children:["There is no access token yet. Backends issue them with a master token",i?"; the button above iss\
ues one for a trial":"","."]})}),r(ge,{page:t.page,more:!l&&!u&&(a?.next??"")!=="",onPrevious:t.previous,onNext:t.next})]})}
function ta(t,e){return[{label:"Id",cell:({token_id:n})=>r(qe,{open:t===n,label:`Details of token ${n.slice(0,12)}`,onToggle:()=>e(
t===n?void 0:n),children:r("code",{children:n.slice(0,12)})})},{label:"Subject",cell:({subject:n})=>n?r(C,{text:n,most:40}):
r(E,{children:"–"})},{label:"Created by",cell:({created_by:n})=>r(C,{text:n,most:40})},{label:"Tenants",cell:({right:n})=>r(
Gn,{names:(n.tenant_grants??[]).flatMap(o=>o.tenant_ids??[])})},{label:"State",cell:({status:n})=>r(N,{mood:Yi[n]??"plai\
n",children:n})},{label:"Made",cell:({created_at:n})=>r(L,{at:n})},{label:"Ends",cell:({expires_at:n})=>r(L,{at:n})}]}function Gn({
names:t}){let e=[...new Set(t)];return e.length===0?r(E,{children:"–"}):r("span",{class:"list",title:e.length>2?Ue(e.slice(
0,50)):void 0,children:[e.slice(0,2).map(n=>r(P,{text:n,most:40},n)),e.length>2&&r("span",{class:"quiet",children:["and ",
e.length-2," more"]})]})}var Qe=t=>`${t.edge}:${t.id}`,Nr=t=>t?A(t):"none";function Dr(t,e,n){return[{label:"Connection",cell:s=>{let i=Qe(s);return r(
qe,{open:e===i,label:`Details of connection ${s.id} at ${s.edge_name}`,onToggle:()=>n(e===i?void 0:i),children:s.id})}},
...t?[{label:"Edge",cell:s=>r(C,{text:s.edge_name,most:40})}]:[],{label:"Token",cell:s=>r("a",{href:I("tokens",{id:s.token_id}),
"aria-label":`Token ${s.token_id.slice(0,8)}`,children:r("code",{children:s.token_id.slice(0,8)})})},{label:"Subject",cell:({
subject:s})=>s?r(C,{text:s,most:40}):r(E,{children:"–"})},{label:"Tenants",cell:s=>r(Gn,{names:s.tenants??[]})},{label:"\
Address",cell:s=>r("span",{class:"address",children:s.ip?r(P,{text:s.ip}):"unknown"})},{label:"Transport",cell:s=>r(E,{children:[
ze(s.transport)," ",s.draining&&r(N,{mood:"warn",children:"draining"})]})},{label:"Since",cell:s=>r(L,{at:s.since})},{label:"\
Subscriptions",number:!0,cell:s=>A(s.subscriptions)},{label:"Queue",number:!0,cell:s=>U(s.queued_bytes)},{label:"Caps, K\
B/s",cell:s=>`in ${Nr(s.ingress_kb_per_sec)}, out ${Nr(s.egress_kb_per_sec)}`},{label:"Dropped",number:!0,cell:s=>A(s.dropped)}]}var na=5e3,Kn=200;function Fr({connection:t,onDisconnect:e}){let{api:n}=M(),o=H(),s=`connections/${encodeURIComponent(t.
edge)}/${t.id}`,{data:i,error:a}=ee(Qe(t),na,async d=>{try{return await n.get(s,d)}catch(p){if(p instanceof q&&p.status===
404&&p.code!=="not_found")return"gone";throw p}}),l=i==="gone"?void 0:i,c=l??t,u=`connection ${c.id} at ${c.edge_name}`;
return r("div",{class:"connection-detail",children:[i==="gone"&&r("p",{role:"status",children:"It is closed now."}),r(Ae,
{text:a}),r(se,{of:[["Token",r(P,{text:c.token_id},"token"),"wide"],c.subject?["Subject",r(C,{text:c.subject,most:128},"\
subject")]:void 0,["Token ends",r(L,{at:c.expires_at},"expires")],["Waiting in its queue",U(c.queued_bytes)],["Dropped d\
eliveries",A(c.dropped)]]}),r("h2",{children:"Subscriptions"}),!i&&!a&&r(W,{what:"the subscriptions"}),l&&r(oa,{detail:l}),
r("div",{class:"buttons",children:[o&&i!=="gone"&&r("button",{type:"button","aria-label":`Disconnect ${u}`,onClick:e,children:"\
Disconnect"}),r("a",{class:"button",href:I("connections",{token_id:c.token_id}),children:"All of its token"}),c.subject&&
r("a",{class:"button",href:I("connections",{subject:c.subject}),children:"All of its subject"}),r("a",{class:"button",href:I(
"tokens",{id:c.token_id}),children:"Its token"})]})]})}function oa({detail:t}){let e=t.patterns??[],n=e.length-Kn+(t.more_patterns??
0);return e.length===0?r("p",{children:"It is subscribed to nothing."}):r("ul",{class:"chips patterns","aria-label":"Sub\
scriptions",tabIndex:0,children:[e.slice(0,Kn).map(({tenant:o,pattern:s})=>r("li",{children:[r(P,{text:s})," in ",r(P,{text:o})]},
`${o} ${s}`)),e.length<Kn?(t.more_patterns??0)>0&&r("li",{children:["and ",O(t.more_patterns??0,"more","more")]}):n>0&&r(
"li",{children:["and ",A(n)," more"]})]})}var ra=[["","any"],["websocket","WebSocket"],["webtransport","WebTransport"]];function Xr({query:t,edges:e,onAgain:n}){let[
o,s]=g(t),i=JSON.stringify(t);$(()=>s(t),[i]);let a=d=>p=>s(h=>({...h,[d]:p.trim()})),l=o.ip===""?void 0:Mt(o.ip),c=e.map(
d=>[d.id,Pe(d.name,60)]),u=o.edge!==""&&!e.some(({id:d})=>d===o.edge)?[[o.edge,Pe(o.edge,60)]]:[];return r("search",{children:r(
"form",{class:"filters","aria-label":"Filter connections",onSubmit:d=>{if(d.preventDefault(),l||!He.test(o.token_id))return;
let p=I("connections",o);p===I("connections",t)?n():location.hash=p},children:[r(x,{label:"Token id",value:o.token_id,onInput:d=>a(
"token_id")(We(d.trim())),mono:!0,error:He.test(o.token_id)?void 0:"An id has 32 digits of 0-9 and a-f.",hint:"The whole\
 id."}),r(x,{label:"Subject",value:o.subject,onInput:d=>s(p=>({...p,subject:d})),hint:"The whole subject."}),r(x,{label:"\
Tenant",value:o.tenant,onInput:a("tenant"),mono:!0}),r(x,{label:"Address",value:o.ip,onInput:a("ip"),mono:!0,error:l&&`I\
t ${l}.`,hint:"One, or a CIDR."}),r(z,{label:"Transport",value:o.transport,onInput:a("transport"),options:ra}),r(z,{label:"\
Edge",value:o.edge,onInput:a("edge"),options:[["","all"],...c,...u]}),r("div",{class:"buttons",children:[r("button",{type:"\
submit",class:"primary",children:"Filter"}),r("a",{class:"button",href:I("connections"),children:"Clear"})]})]})})}function Lr({target:t,onClose:e,onDone:n}){let{api:o}=M(),{connection:s,tokenID:i}=t,[a,l]=g(s===void 0);return r(pe,{title:s?
"Disconnect this connection":"Disconnect all of this token",submit:"Disconnect",danger:!0,onClose:e,onConfirm:async()=>{
let u=a||!s?{token_id:i}:{edge:s.edge,id:s.id},{disconnected:d,unanswered:p}=await o.call("POST","connections/disconnect",
{body:u}),h=p??[],f=h.length>0?` Not reached: ${Ue(h.slice(0,10))}, which did not answer. Try again later.`:"";n(`${O(d,
"connection")} disconnected.${f}`)},children:[s&&r("p",{children:["Connection ",s.id," at ",r(C,{text:s.edge_name})," is\
 closed."]}),s&&r(ve,{label:"All connections of its token",checked:a,onChange:l,hint:"At every edge."}),!s&&r("p",{children:[
"All connections of the token ",r(P,{text:i})," are closed, at every edge."]}),r("p",{children:["A client may come back \
while its token is valid. To keep it away,"," ",r("a",{href:I("tokens",{id:i}),children:"revoke the token"})," in place \
of this."]})]})}var sa=100,ia=3e3;function jr({query:t}){let{api:e,notify:n}=M(),o=H(),[s,i]=g(!1),[a,l]=g([""]),[c,u]=g(),d={token_id:t.
token_id??"",subject:t.subject??"",tenant:t.tenant??"",ip:t.ip??"",transport:t.transport??"",edge:t.edge??""},p=J(d);$(()=>l(
[""]),[p]);let h=`connections${J({...d,limit:sa,cursor:a[a.length-1]})}`,{data:f,stale:m,error:w,refresh:_}=ee(h,ia,y=>e.
get(h,y),s),b=f?.edges??[],k=f?.connections??[];return r(E,{children:[r(Z,{text:"Connections",children:[r("button",{type:"\
button","aria-pressed":s,onClick:()=>i(!s),children:s?"Resume":"Pause"}),o&&d.token_id!==""&&r("button",{type:"button",onClick:()=>u(
{tokenID:d.token_id}),children:"Disconnect all of this token"})]}),r(Xr,{query:d,edges:b,onAgain:_}),r(Y,{error:w,known:f!==
void 0}),r(Ge,{edges:b,missing:["Its connections are not listed.","Their connections are not listed."]}),!f&&!w&&r(W,{what:"\
the connections"}),f&&r(aa,{edges:b,paused:s}),k.length>0&&r(la,{rows:k,several:b.length>1,busy:m,onDisconnect:y=>u({connection:y,
tokenID:y.token_id})}),f&&!m&&k.length===0&&a.length===1&&r(j,{children:p===""?r("p",{children:"No client is connected. \
Clients appear here as they connect with an access token."}):r("p",{children:"No connection matches. Ask for less, or cl\
ear the filters."})}),r(ge,{page:a.length,more:!m&&(f?.next_cursor??"")!=="",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l(
[...a,f?.next_cursor??""])}),c&&r(Lr,{target:c,onClose:()=>u(void 0),onDone:y=>{u(void 0),n(y),_()}})]})}function aa({edges:t,
paused:e}){let n=t.reduce((s,i)=>s+i.total,0),o=t.reduce((s,i)=>s+i.matching,0);return r("div",{class:"totals",children:[
r("p",{children:[o===n?`${O(n,"connection")}.`:`${A(o)} of ${O(n,"connection")} match.`,e&&r("strong",{children:" Paused\
: the list is as it was."})]}),t.length>1&&r("ul",{class:"chips","aria-label":"By edge",children:t.slice(0,50).map(s=>r(
"li",{children:[r(C,{text:s.name,most:40})," ",s.answered?A(s.matching):"no answer"]},s.id))})]})}function la({rows:t,several:e,
busy:n,onDisconnect:o}){let[s,i]=g();return r(ie,{label:"Connections",columns:Dr(e,s,i),rows:t,keyOf:Qe,busy:n,detail:a=>s===
Qe(a)&&r(Fr,{connection:a,onDisconnect:()=>o(a)})})}function Br(){let{api:t}=M(),[e,n]=g(),{data:o,error:s,refresh:i}=ee("edges",5e3,l=>t.get("edges",l)),a=o?.edges??[];return r(
E,{children:[r(Z,{text:"Edges"}),r(Y,{error:s,known:o!==void 0}),!o&&!s&&r(W,{what:"the edges"}),r(Ge,{edges:a,missing:[
"What it does is not known.","What they do is not known."]}),o&&a.length===0&&r(j,{children:r("p",{children:"No edge is \
known yet. This one appears within seconds."})}),r("div",{class:"cards",children:a.map(l=>r(ca,{edge:l,onDrain:()=>n(l)},
l.id))}),a.length===1&&r("p",{class:"quiet",children:"This edge is alone. Edges that share a broker, such as NATS, appea\
r here together."}),e&&r(ua,{edge:e,onClose:()=>n(void 0),onDone:i})]})}function ca({edge:t,onDrain:e}){let n=H(),{status:o}=t,
s=t.state==="draining"||o?.draining===!0;return r("article",{class:"card","aria-label":`Edge ${t.name}`,children:[r("div",
{class:"card-head",children:[r("h2",{children:r(C,{text:t.name})}),r(Et,{edge:t}),s&&r(N,{mood:"warn",children:"draining"}),
t.state==="silent"&&r(N,{mood:"bad",children:"silent"}),!t.answered&&r(N,{mood:"bad",children:"no answer"}),t.answered&&
!s&&t.state!=="silent"&&r(N,{mood:"good",children:"serving"})]}),r(se,{of:[["Id",r(P,{text:t.id},"id"),"wide"],["Host",t.
host?r(C,{text:t.host}):"none announced"],["Region",t.region?r(C,{text:t.region}):"none"],!t.self&&["Last heard of",r(L,
{at:t.seen_at},"seen")],...o?da(o):[]]}),n&&t.answered&&!s&&r("div",{class:"buttons",children:r("button",{type:"button",
"aria-label":`Drain ${t.name}`,onClick:e,children:"Drain"})})]})}function da(t){let e=Object.entries(t.connections??{}),
n=e.reduce((s,[,i])=>s+i,0),o=e.map(([s,i])=>`${ze(s)} ${A(i)}`).join(", ");return[["Connections",`${A(n)}${t.max_connections>
0?` of ${A(t.max_connections)}`:""}${o?` (${o})`:""}`],["Subscriptions",`${A(t.subscriptions)} to ${A(t.patterns)} patte\
rns`],["Waiting in queues",U(t.queued_bytes)],["Memory",U(t.memory_bytes)],["Token store",r(ct,{status:t},"store"),"wide"],
["Broker",r(dt,{status:t},"broker"),"wide"],["Started",r(L,{at:t.started_at},"started")],["Version",r(C,{text:`${t.version}\
, Caddy ${t.caddy}, ${t.go}`},"version"),"wide"]]}function ua({edge:t,onClose:e,onDone:n}){let{api:o,notify:s}=M();return r(
pe,{title:"Drain this edge",submit:"Drain",danger:!0,onClose:e,onConfirm:async()=>{await o.call("POST",`edges/${encodeURIComponent(
t.id)}/drain`,{body:{}}),e(),s(`${t.name} is draining.`),n()},children:[r("p",{children:[r(C,{text:t.name})," will take \
no new connections, and ask its clients to move to another edge. Those that stay are closed when the time of its drain i\
s over."]}),r("p",{children:[r("strong",{children:"Only a restart of the edge ends a drain."}),t.self&&" It is the edge \
that serves this page; the console goes on while it runs."]})]})}function Jr({query:t,names:e,onAgain:n}){let[o,s]=g(t),i=JSON.stringify(t);$(()=>s(t),[i]);let a=d=>p=>s(h=>({...h,[d]:p.
trim()})),l=o.tenant.replace(/\*$/,""),c=l!==""&&!ae(l),u=o.history!==""&&!e.includes(o.history)?[o.history]:[];return r(
"search",{children:r("form",{class:"filters","aria-label":"Filter what is kept",onSubmit:d=>{if(d.preventDefault(),c)return;
let p=I("histories",o);p===I("histories",t)?n():location.hash=p},children:[r(z,{label:"In history",value:o.history,onInput:a(
"history"),options:[["","all"],...[...e,...u].map(d=>[d,d])]}),r(x,{label:"Of tenant",value:o.tenant,onInput:a("tenant"),
mono:!0,error:c?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,hint:"The whole name, or its beginning a\
nd *."}),r("div",{class:"buttons",children:[r("button",{type:"submit",class:"primary",children:"Filter"}),r("a",{class:"\
button",href:I("histories"),children:"Clear"})]})]})})}function Ur({target:t,onClose:e,onDone:n}){let{api:o}=M(),{history:s,tenant:i}=t,[a,l]=g(""),[c,u]=g(""),d=i?"tenant":"h\
istory";return r(pe,{title:i?"Purge a tenant":"Purge a whole history",submit:"Purge",danger:!0,onClose:e,onConfirm:async()=>{
if(c!==(i??s))throw new Error(`what you typed is not the name of the ${d}`);let h=i?{history:s,tenant:i,channel:a}:{history:s,
all:!0},{removed:f}=await o.call("POST","histories/purge",{body:h}),w=[a&&`channel ${a}`,i&&`tenant ${i}`,`history ${s}`].
filter(_=>_).join(", ");n(`${f===1?"1 message was":`${A(f)} messages were`} removed: ${w}.`)},children:[r("p",{children:[
i?r(E,{children:["All messages that the history ",r(C,{text:s})," keeps of ",r(P,{text:i})," are deleted for good."]}):r(
E,{children:["All messages that the history ",r(C,{text:s})," keeps are deleted for good, of all tenants."]})," ","Clien\
ts that come back from before are told of a gap."]}),i&&r(x,{label:"Only this channel",value:a,onInput:h=>l(h.trim()),mono:!0,
hint:"Its whole name. Empty: all channels."}),r(x,{label:"Type the name to confirm",value:c,onInput:u,hint:`The name of \
the ${d}.`})]})}var pa=/[^\P{Cc}\t\n\r]/u;function Hr(t){return{bytes:t.slice(0,16384),size:t.length}}function Wr(t){let e=t.endsWith("==")?2:t.endsWith("=")?1:0,
n=atob(t.slice(0,Math.ceil(16384/3)*4));return{bytes:Uint8Array.from(n.slice(0,16384),s=>s.charCodeAt(0)),size:t.length/
4*3-e}}function qr({bytes:t,size:e}){try{let n=new TextDecoder("utf-8",{fatal:!0}).decode(t,{stream:e>t.length});return pa.
test(n)?"hex":"text"}catch{return"hex"}}function zr({bytes:t,size:e},n){let o=e>t.length,s=o?{note:`Only the first 16 Ki\
B of ${e.toLocaleString("en")} bytes are shown.`}:{};if(n==="hex")return{text:ga(t),...s};let i=Gr(t);if(n==="text")return{
text:i,...s};if(o)return{text:i,note:`${s.note} It is cut, so it is not formatted as JSON.`};let a=fa(i);return a===void 0?
{text:i,note:"It is no JSON, or too deeply nested; shown as text."}:{text:a}}function Ot({bytes:t,size:e},n,o=160){if(e===
0)return"(empty)";let s=t.subarray(0,o),i=e>s.length?"…":"";return n==="hex"?Kr(s.subarray(0,32))+(e>32?" …":""):Gr(
s).replace(/\s+/g," ")+i}function Gr(t){return new TextDecoder().decode(t)}function fa(t){if(!(ha(t)>64))try{return JSON.
stringify(JSON.parse(t),void 0,2)}catch{return}}function ha(t){let e=0,n=0,o=!1;for(let s=0;s<t.length;s++){let i=t[s];o?
i==="\\"?s++:i==='"'&&(o=!1):i==='"'?o=!0:i==="["||i==="{"?n=Math.max(n,++e):(i==="]"||i==="}")&&e--}return n}var ma=t=>t.
toString(16).padStart(2,"0");function Kr(t){return Array.from(t,ma).join(" ")}function ga(t){let e=[];for(let n=0;n<t.length;n+=
16){let o=t.subarray(n,n+16),s=Array.from(o,i=>i>=32&&i<127?String.fromCharCode(i):".").join("");e.push(`${n.toString(16).
padStart(4,"0")}  ${Kr(o).padEnd(47)}  ${s}`)}return e.join(`
`)}var ya=500;function Qn({messages:t,omitted:e},n){let o=[...t,...n.map(i=>({...i,payload:Wr(i.payload)}))],s=Math.max(0,o.
length-ya);return{messages:o.slice(s),omitted:e+s}}var Rt=t=>t.split(".")[1]??t;function Nt({of:t,format:e,label:n}){let{text:o,note:s}=zr(t,e);return r("div",{class:"whole",children:[s&&r("p",{class:"\
quiet",children:s}),r("pre",{tabIndex:0,role:"region","aria-label":n,dir:"auto",children:o})]})}var ba=50,wa=[["auto","text, or hex if binary"],["text","text"],["json","JSON"],["hex","hex"]];function Qr({names:t,target:e,
purges:n}){let{api:o}=M(),[s,i]=g(t[0]??""),[a,l]=g(""),[c,u]=g("#"),[d,p]=g("auto"),[h,f]=g(),m=oe(),w=G(null),_=async(T,D)=>o.
call("POST","histories/read",{body:{...T,after:D,limit:ba}}),b=T=>m.run(async()=>{if(!ae(T.tenant))throw new Error("name\
 the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");if(T.pattern==="")throw new Error("name a pattern; # is every ch\
annel");f(void 0);let D=await _(T,"");f({...Qn({messages:[],omitted:0},D.messages??[]),query:T,next:D.next})}),k=T=>m.run(
async()=>{let D=await _(T.query,T.next);f({...Qn(T,D.messages??[]),query:T.query,next:D.next})});$(()=>{e&&(i(e.history),
l(e.tenant),w.current?.focus(),b({...e,pattern:c}))},[e]),$(()=>{h&&w.current?.scrollIntoView()},[h?.query]),$(()=>f(void 0),
[n]);let y=t.includes(s)?s:t[0]??"";return r("section",{"aria-labelledby":"kept-messages",children:[r("h2",{id:"kept-mes\
sages",tabIndex:-1,ref:w,children:"Messages"}),r("p",{class:"quiet",children:"Each page that is read is noted by the aud\
it hook."}),r("form",{class:"filters","aria-label":"Read messages","aria-busy":m.busy,onSubmit:T=>{T.preventDefault(),b(
{history:y,tenant:a,pattern:c})},children:[r(z,{label:"History",value:y,onInput:i,options:t.map(T=>[T,T])}),r(x,{label:"\
Tenant",value:a,onInput:T=>l(T.trim()),mono:!0}),r(x,{label:"Pattern",value:c,onInput:T=>u(T.trim()),mono:!0,hint:"news.\
# for example"}),r(z,{label:"Payload as",value:d,onInput:T=>p(T),options:wa}),r("div",{class:"buttons",children:r("butto\
n",{type:"submit",class:"primary","aria-disabled":m.busy,children:"Read"})})]}),r(Ae,{text:m.error}),m.busy&&!h&&r(W,{what:"\
the messages"}),h&&r(_a,{found:h,format:d,busy:m.busy,onMore:()=>{k(h)}})]})}function _a({found:t,format:e,busy:n,onMore:o}){
let[s,i]=g(),{query:a,messages:l,omitted:c,next:u}=t,d=({payload:p})=>e==="auto"?qr(p):e;return r(E,{children:[r("p",{role:"\
status","aria-label":"What was read",children:[O(c+l.length,"message")," of ",r(P,{text:a.pattern})," in ",r(P,{text:a.tenant}),
", history ",r(C,{text:a.history}),", oldest first.",u===""?" That is all.":"",c>0&&` The first ${A(c)} are not shown an\
y more.`]}),l.length===0&&u===""?r(j,{children:r("p",{children:"No message of this pattern is kept."})}):r(ie,{label:"Me\
ssages that are kept",columns:va(d,s,i),rows:l,keyOf:({position:p})=>p,busy:n,detail:p=>s===p.position&&r(ka,{message:p,
format:d(p)})}),u!==""&&r("button",{type:"button","aria-disabled":n,onClick:o,children:"More messages"})]})}function va(t,e,n){
return[{label:"Number",cell:({position:o,channel:s})=>r(qe,{open:e===o,label:`Message ${Rt(o)} to ${s}`,onToggle:()=>n(e===
o?void 0:o),children:Rt(o)})},{label:"Stored",cell:({time:o})=>r("time",{dateTime:o,children:we(o)})},{label:"Channel",cell:({
channel:o})=>r(P,{text:o,most:120})},{label:"Size",number:!0,cell:({payload:o})=>U(o.size)},{label:"Payload",cell:o=>r("\
bdi",{class:"preview",children:Ot(o.payload,t(o))})}]}function ka({message:t,format:e}){let{position:n,time:o,payload:s}=t;
return r("div",{class:"message-detail",children:[r(se,{of:[["Position",r(P,{text:n},"position"),"wide"],["Stored",r("tim\
e",{dateTime:o,children:o})],["Size",`${A(s.size)} bytes`]]}),r(Nt,{of:s,format:e,label:`Payload of message ${Rt(n)}`})]})}var xa=50,Sa=8,Ta=1e4;function Vr({query:t}){let{api:e,session:n,notify:o}=M(),s=H(),i=s&&n.tail===!0,[a,l]=g([""]),[c,u]=g(),
[d,p]=g(),[h,f]=g(0),m={history:t.history??"",tenant:t.tenant??""},w=J(m);$(()=>l([""]),[w]);let _=`histories${J({...m,limit:xa,
cursor:a[a.length-1]})}`,{data:b,stale:k,error:y,refresh:T}=ee(_,Ta,async re=>{try{return await e.get(_,re)}catch(V){if(V instanceof
q&&V.code==="no_histories")return"none";throw V}}),D=b==="none"?void 0:b,te=D?.totals??[],xe=te.reduce((re,V)=>re+V.tenants,
0),ce=D?.histories??[];return r(E,{children:[r(Z,{text:"Histories"}),r("p",{class:"quiet",children:"What this edge keeps\
 of messages, so that clients that come back get what they have missed."}),r(Y,{error:y,known:b!==void 0}),!b&&!y&&r(W,{
what:"the histories"}),(b==="none"||D&&te.length===0)&&r(Ea,{}),D&&te.length>0&&r(E,{children:[r(Ca,{totals:te,onPurge:re=>p(
{history:re})}),r("section",{"aria-labelledby":"tenants",children:[r("h2",{id:"tenants",children:"By tenant"}),(w!==""||
xe>Sa)&&r(Jr,{query:m,names:te.map(({history:re})=>re),onAgain:T}),ce.length>0&&r(ie,{label:"What is kept",columns:Aa(s?
{read:i?u:void 0,purge:p}:void 0),rows:ce,keyOf:Pa,busy:k}),!k&&ce.length===0&&a.length===1&&r(j,{children:w===""?r("p",
{children:"Nothing is kept yet. Messages are kept from when clients publish to a channel of a history."}):r("p",{children:"\
Nothing that is kept matches. Ask for less, or clear the filters."})}),r(ge,{page:a.length,more:!k&&(D.next_cursor??"")!==
"",onPrevious:()=>l(a.slice(0,-1)),onNext:()=>l([...a,D.next_cursor??""])})]}),i&&r(Qr,{names:te.map(({history:re})=>re),
target:c,purges:h}),s&&!i&&r("p",{class:"quiet",children:["Messages are not shown on this page: the console has ",r("cod\
e",{children:"tail off"}),"."]})]}),d&&r(Ur,{target:d,onClose:()=>p(void 0),onDone:re=>{p(void 0),f(V=>V+1),o(re),T()}})]})}
function Ea(){return r(j,{children:[r("p",{children:"No history is configured at this edge: a message is delivered at mo\
st once, and forgotten."}),r("p",{children:["A history keeps the messages of some channels: ",r("code",{children:"histor\
y <name> { channels … }"})," in the block ",r("code",{children:"pubsub"})," of the Caddyfile. docs/history.md says wha\
t it promises."]})]})}function Ca({totals:t,onPurge:e}){let n=H();return r("div",{class:"cards",children:t.map(o=>r("art\
icle",{class:"card","aria-label":`History ${o.history}`,children:[r("div",{class:"card-head",children:[r("h2",{children:r(
C,{text:o.history})}),!o.configured&&r(N,{mood:"warn",children:"not configured any more"})]}),r(se,{of:[["Tenants",A(o.tenants)],
["Channels",A(o.channels)],["Messages",A(o.messages)],["Size",U(o.bytes)],["Oldest message",r(L,{at:o.oldest},"oldest")]]}),
n&&r("div",{class:"buttons",children:r("button",{type:"button","aria-label":`Purge the history ${o.history}`,onClick:()=>e(
o.history),children:"Purge"})})]},o.history))})}var Pa=({history:t,tenant:e})=>`${t}:${e}`;function Aa(t){let e=[{label:"\
Tenant",cell:({tenant:s})=>r(P,{text:s})},{label:"History",cell:({history:s})=>r(C,{text:s})},{label:"Channels",number:!0,
cell:({channels:s})=>A(s)},{label:"Messages",number:!0,cell:({messages:s})=>A(s)},{label:"Size",number:!0,cell:({bytes:s})=>U(
s)},{label:"Oldest message",cell:({oldest:s})=>r(L,{at:s})}];if(!t)return e;let{read:n,purge:o}=t;return e.push({label:"\
Actions",cell:({history:s,tenant:i})=>r("div",{class:"buttons",children:[n&&r("button",{type:"button","aria-label":`Read\
 ${i} in ${s}`,onClick:()=>n({history:s,tenant:i}),children:"Read"}),r("button",{type:"button","aria-label":`Purge ${i} \
in ${s}`,onClick:()=>o({history:s,tenant:i}),children:"Purge"})]})}),e}var Yr=new Intl.DateTimeFormat("en-GB",{hour:"2-digit",minute:"2-digit",second:"2-digit",fractionalSecondDigits:3});function Zr({
messages:t,format:e}){let[n,o]=g();return r("ol",{class:"messages","aria-label":"Messages",tabIndex:0,children:t.map(s=>r(
Ma,{message:s,format:e,open:n===s.number,onToggle:()=>o(n===s.number?void 0:s.number)},s.number))})}function Ma({message:t,
format:e,open:n,onToggle:o}){let{channel:s,payload:i,at:a,late:l,number:c}=t;return r("li",{children:[r("button",{type:"\
button",class:"expand","aria-expanded":n,"aria-label":`${Yr.format(a)}, message ${c} to ${s}`,onClick:o,children:r("time",
{dateTime:new Date(a).toISOString(),children:Yr.format(a)})}),r("span",{children:[r(P,{text:s,most:120})," ",l&&r(N,{mood:"\
warn",children:"late"})]}),r("span",{class:"quiet",children:U(i.size)}),n?r(Nt,{of:i,format:e,label:`Payload of message ${c}`}):
r("bdi",{class:"preview",children:Ot(i,e)})]})}var $a=[["broadcast","every subscriber"],["one-nearest","one subscriber, the nearest"],["one-random","one subscriber, at\
 random"]];function es({tail:t}){let e=oe(),[n,o]=g(""),[s,i]=g(""),[a,l]=g("broadcast"),[c,u]=g(0);return r("section",{
class:"card","aria-labelledby":"test-publish",children:[r("h2",{id:"test-publish",children:"Test publish"}),r(ue,{action:e,
submit:"Publish",onSubmit:async()=>{if(n==="")throw new Error("name the channel");await t.publish(n,s,a),u(p=>p+1)},children:[
r("div",{class:"row",children:[r(x,{label:"Channel",value:n,onInput:p=>o(p.trim()),mono:!0}),r(z,{label:"To",value:a,onInput:p=>l(
p),options:$a})]}),r(x,{label:"Payload",value:s,onInput:i,rows:2,mono:!0}),r("p",{role:"status",class:"quiet",children:c>
0&&`Sent ${c===1?"once":`${c} times`}. Clients get it like any other message.`})]})]})}var v=class extends Error{name="MillraceError";code;tenant;pattern;channel;status;closeCode;retryAfter;constructor(e,n="\
the edge says so",o={}){let s=["tenant","channel","pattern"].map(a=>o[a]===void 0?"":` (${a} ${JSON.stringify(o[a])})`),
i=e==="unreachable"?ts(o.cause):"";super(`${e}${s.join("")}: ${n}${i&&`: ${i}`}`,"cause"in o?{cause:o.cause}:void 0),this.
code=e,this.tenant=o.tenant,this.pattern=o.pattern,this.channel=o.channel,this.status=o.status,this.closeCode=o.closeCode,
this.retryAfter=o.retryAfter}};function ts(t){let{message:e,code:n,cause:o}=t??{};return`${(o?ts(o):"")||e||n||""}`.slice(
0,300).replace(/[AM]T_[\w.~+-]+/g,"…")}function ns(t,e){let n=t===401?"unauthorized":/^(429|50[234])$/.test(`${t}`)?"u\
navailable":"unreachable",o=`HTTP status ${t}, and the answer is no edge's: is the address right?`;return new v(n,o,{status:t,
retryAfter:e})}function be(t,e,n){return t instanceof v?t:new v(e,n,{cause:t})}function Q(t){return new v("disconnected","there is no c\
onnection to an edge",t===void 0?{}:{cause:t})}function Dt(t,e){let n=URL.canParse(t)?new URL(t):void 0;if(!n||!/^https?:$/.test(n.protocol)||n.username||n.password||n.
search||n.hash)throw new v("bad_option","an address is a URL with https:// and without user, query and fragment");if(n.protocol===
"http:"&&!e&&!Ia(n.hostname))throw new v("bad_option","an address with http:// must be on this machine, or allowPlaintex\
t be set");return n}function Ia(t){return/^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/.test(t)}var S=()=>performance.now();function le(t,e,n=new Set){return new Promise((o,s)=>{let i=()=>{clearTimeout(c),e.removeEventListener(
"abort",a),n.delete(l)},a=()=>{i(),s(e.reason)},l=()=>{i(),o()},c=setTimeout(l,t);n.add(l),e.addEventListener("abort",a),
e.aborted&&a()})}async function Ne(t,...e){let n,o=new Promise(s=>{n=setTimeout(s,t)});await Promise.race([o,...e]).catch(
()=>{}),clearTimeout(n)}async function De(t,e,n){t.throwIfAborted();let o=new AbortController,s=()=>o.abort(t.reason),i=setTimeout(
()=>o.abort(new v("timeout","the edge does not answer")),e);t.addEventListener("abort",s);try{return await n(o.signal)}finally{
clearTimeout(i),t.removeEventListener("abort",s),o.abort()}}function _e(t,e){return new Promise((n,o)=>{let s=()=>o(e.reason);
e.aborted&&s(),e.addEventListener("abort",s),t.then(n,o).finally(()=>e.removeEventListener("abort",s))})}function fe(t,e){
return t<=1?0:Math.random()*Math.min(e.maxBackOff,e.minBackOff*2**Math.min(t-2,30))}var Oa=1e5,Vn=0;async function os(t,e,n,o){Vn=Vn+1>>>0;let s=Vn,i=e(s),a=!1,l=p=>new v("outcome_unknown","no edge has sa\
id whether the message is stored",{...o,cause:p}),c=new AbortController,u=setTimeout(()=>c.abort(a?l():Q()),Oa),d;try{for(let p=2;;p++){
d=await Ra(t,n,c.signal,o);let h=d.confirm(i,s);a=!0;try{return await _e(h,c.signal)}catch(f){c.signal.throwIfAborted();
let{code:m}=f;if(m!=="disconnected"&&(m!=="unconfirmed"||!n))throw new v(m,void 0,o);if(!n)throw l(f);m==="unconfirmed"&&
await le(fe(p,t.settings),c.signal)}}}catch(p){let{code:h}=p;throw a&&(h==="disconnected"||h==="closed")?l(p):p}finally{
clearTimeout(u),d?.forgetConfirm(s)}}async function Ra(t,e,n,o){for(;;){if(t.over)throw t.over;if(t.gate){await _e(new Promise(
i=>t.gate?.push(i)),n);continue}let s=t.publishOn??t.current;if(s?.alive)if(s.histories===void 0)await _e(s.featured,n);else{
if(s.histories)return s;throw new v("no_history","the edge has no histories, and confirms nothing",o)}else{if(!e)throw Q();
await _e(t.changed(),n)}}}var Na=new TextEncoder,Da=new TextDecoder("utf-8",{fatal:!0,ignoreBOM:!0}),Yn=1024,Fa=["PING","PONG","RECONNECT","OK:AUT\
H"],Xa=/^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::(complete|gap))?$/,La=/^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/,Fe=t=>Na.
encode(t);function Xe(t){try{return Da.decode(t)}catch(e){throw new v("protocol","text that is not UTF-8",{cause:e})}}var ja=new Map(
[["unauthorized",4401],["token_expired",4401],["forbidden",4403],["token_revoked",4403],["token_unverifiable",1013],["cl\
osed_by_operator",1013],["internal",1011],["slow_consumer",4429]]);function Ve(t,e){let[n,o,...s]=t.split(":"),i=ja.get(
n);if(i===void 0)return;let a={closeCode:e??i};return n==="forbidden"?new v(`${o}_not_allowed`,s.join(":")||void 0,a):new v(
n,void 0,a)}function Zn(t){if(Fa.includes(t))return{kind:t};if(/^LINK:(up|down)$/.test(t))return{kind:"LINK",up:t==="LIN\
K:up"};let e=/^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(t)?.[1];if(e&&t.length<=Yn)return{kind:"FEATURES",features:e};
let n=/^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(t),o=/^ERR:([a-z_]+)(?::(.+))?$/su.exec(t);if((n||o)&&
(t.length<=Yn/3||Fe(t).length<=Yn)&&!t.endsWith(`
`)){if(n)return{kind:"OK",verb:n[1],tenant:n[2],pattern:n[3]};if(o)return{kind:"ERR",code:o[1],detail:o[2]??""}}let s=Ba(
t);if(s)return s;throw new v("protocol","a line that is none")}function Ba(t){let[,e,n="",o="",s="",i]=Xa.exec(t)??[];if(e&&
Ft(s)&&e==="OK:RSUB"==(i!==void 0))return i?{kind:e,tenant:n,pattern:o,position:s,how:i}:{kind:e,tenant:n,pattern:o,position:s};
let[,a,l]=La.exec(t)??[];if(!(a===void 0||Number(a)>4294967295||l!==void 0&&!Ft(l)))return l===void 0?{kind:"OK:PUB",id:Number(
a)}:{kind:"OK:PUB",id:Number(a),position:l}}function Ft(t){let[,e,n]=/^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.
exec(t)??[];return e!==void 0&&n!==void 0&&rs(e)&&rs(n)}var rs=t=>t.length<20||t<="18446744073709551615";function ss(t){
try{return Zn(t)}catch{return}}var to=["broadcast","one-nearest","one-random"];function no(t,e,n,o,s){let i=typeof n=="string"?Fe(n):n,a=s?7+s.key.length:
o===void 0?0:2,l=new Uint8Array(a+4+t.length+e.length+i.length);return a>0&&(l[0]=s?3:2,l[1]=o??0),s&&(new DataView(l.buffer).
setUint32(2,s.id),l[6]=s.key.length,l.set(s.key,7)),l.set(i,is(l,is(l,a,t),e)),l}function is(t,e,n){t[e++]=n.length>>8,t[e++]=
n.length;for(let o=0;o<n.length;o++)t[e++]=n.charCodeAt(o);return e}var cs=1,ds=2,eo=24,Ja=128;function oo(t,e,n){return e===
n||t[e]===1?!1:t[e]!==4||e+1<n&&(t[e+1]&~(cs|ds))!==0}var Xt=class{#e=new pt;#t=new pt;#n=new pt;#o={};decode(e,n,o){let s=w=>{
w>o&&Ye()},i=w=>(s(w+2),e[w]<<8|e[w+1]);(n===o||oo(e,n,o))&&Ye();let a,l="";if(e[n]===4){let w=i(n)&255;if(w===0&&Ye(),n++,
w&cs&&(s(n+1+eo),a=Ua(e,n+1),n+=eo),w&ds){s(n+2);let _=n+2;n=_+e[n+1]-1,n-_>=Ja&&Ye(),s(n+1),l=this.#n.of(e,_,n+1,()=>Xe(
e.subarray(_,n+1)))}}let c=a!==void 0,u=n+3+i(n+1),d=u+2+i(u),p=d+4;s(p);let h=p+i(d)*65536+i(d+2);(i(h)===0||c&&i(h)!==
1)&&Ye();let f=this.#e.of(e,n+1,d,()=>[Xe(e.subarray(n+3,u)),Xe(e.subarray(u+2,d))]),m=this.#o;return m.tenant=f[0],m.channel=
f[1],m.payload=e.subarray(p,h),m.route=this.#t.of(e,h,o,()=>{let w=[],_=h+2;for(let b=i(h);b>0;b--){let k=_+2+i(_);s(k),
w.push(Xe(e.subarray(_+2,k))),_=k}return _!==o&&Ye(),{patterns:Object.freeze(w),note:void 0}}),m.position=a,m.sender=l,m}};
function Ua(t,e){let n=new DataView(t.buffer,t.byteOffset+e,eo);return`${as(n,0)}${as(n,4)}.${ls(n,8)}.${ls(n,16)}`}var as=(t,e)=>t.
getUint32(e).toString(16).padStart(8,"0");function ls(t,e){let n=t.getUint32(e);return n<2097152?String(n*4294967296+t.getUint32(
e+4)):String(t.getBigUint64(e))}function Ye(){throw new v("protocol","a frame that is none")}var Ha=256,Wa=1024,pt=class{#e=[];of(e,n,o,s){
let i=0;for(let u=n;u<o;u++)i=Math.imul(i,31)+e[u]|0;let a=(i^i>>>8)&Ha-1,l=this.#e[a];if(l&&qa(l.bytes,e,n,o))return l.
value;let c=s();return o-n<=Wa&&(this.#e[a]={bytes:e.slice(n,o),value:c}),c}};function qa(t,e,n,o){if(t.length!==o-n)return!1;
for(let s=0;s<t.length;s++)if(t[s]!==e[n+s])return!1;return!0}function Ze(t,e,n){let o=typeof e=="object"&&e!==null,s=o?Object.keys(e).find(a=>!n.split(" ").includes(a)):"";if(s===void 0)
return;let i=o?`has no ${JSON.stringify(s.slice(0,32))}`:"must be an object";throw new v("bad_option",`${t} ${i}: allowe\
d are ${n.replaceAll(" ",", ")}`)}var za=["drop-oldest","drop-newest","end"],us=["webtransport","websocket"];function F(t){throw new v("bad_option",t)}function Le(t,e,n,o=0){
return e!==void 0&&!(Number.isFinite(e)&&e>=o&&e<2**31)&&F(`${t} must be a number below 2^31${o<0?"":", 0 or more"}`),e||
n}function ps(t,e,n){return n.includes(e)||F(`${t}: allowed are ${n.join(", ")}`),e}function so(t,e){return{queue:Math.ceil(
Le("queue",t.queue,e.queue)),queuePolicy:ps("queuePolicy",t.queuePolicy??e.queuePolicy,za)}}var Ga="token tokenProvider \
transports fallbackAfter connectTimeout keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlainte\
xt serverCertificateHashes sender signal on";function fs(t){Ze("the object of options",t,Ga),Ze("paths",t.paths??{},"web\
Socket webTransport ping");let{token:e,tokenProvider:n,transports:o=us,sender:s=!1}=t;e===void 0==(n===void 0)&&F("one o\
f token and tokenProvider is needed"),n!==void 0&&typeof n!="function"&&F("tokenProvider must be a function"),typeof s!=
"boolean"&&F("sender must be true or false"),o.length===0&&F("transports must not be empty");for(let a of o)ps("transpor\
ts",a,us);let i=Le("minBackOff",t.minBackOff,250);return{token:e===void 0?void 0:io(e),tokenProvider:n,transports:[...new Set(
o)],fallbackAfter:Le("fallbackAfter",t.fallbackAfter,2e3),connectTimeout:Le("connectTimeout",t.connectTimeout,1e4),keepAlive:Le(
"keepAlive",t.keepAlive,25e3,-1/0),pongTimeout:Le("pongTimeout",t.pongTimeout,1e4),minBackOff:i,maxBackOff:Math.max(i,Le(
"maxBackOff",t.maxBackOff,15e3)),...so(t,{queue:1024,queuePolicy:"drop-oldest"}),sender:s,paths:{webSocket:ro(t.paths?.webSocket??
"/ws"),webTransport:ro(t.paths?.webTransport??"/wt"),ping:ro(t.paths?.ping??"/ping")},allowPlaintext:t.allowPlaintext===
!0,hashes:t.serverCertificateHashes}}function ro(t){return/^\/[^?#]*$/.test(t)||F("paths must start with a slash"),t}var Ka="\
a token is a string of 1 to 512 letters, digits and .~_+-, and this is none";function io(t){return(typeof t!="string"||!/^[\w.~+-]{1,512}$/.
test(t))&&F(Ka),t}var hs=1e5;function ms(t,e){if(t===void 0||t==="now"||t==="last")return t;let{last:n,after:o}=t;return typeof o=="string"&&
n===void 0&&Ft(o)?o:((!Number.isInteger(n)||n<1||n>hs||o!==void 0)&&F(`history is "now", "last", { last: 1 to ${hs} } or\
 { after: position }`),/[*>#]/.test(e)&&F("history: { last } is for one channel: the pattern has no wildcard"),`last.${n}`)}
var Lt=class{from;on;open=!1;plain=!1;paused=!1;forbidden=!1;unwanted=!1;told=!1;lossy=!1;constructor(e){this.from=e}begin(e){
this.on=e,this.open=this.forbidden=this.unwanted=this.told=!1}pause(){this.paused=!0,this.on=void 0,this.open=!1}takes(e,n){
return this.on===e&&this.open&&!this.plain&&!Qa(n,this.from)}};function Qa(t,e){let[n,o=""]=t.split("."),[s,i]=e.split("\
.");return n===s&&i!==void 0&&(o.length===i.length?o<=i:o.length<i.length)}var jt="[\\w\\-~@]+",Va=/^[\w\-~@.]{1,128}$/,Ya=new RegExp(`^(?=.{1,256}$)${jt}(\\.${jt}){0,31}$`),Za=new RegExp(`^(?=.{\
1,256}$)((${jt}\\*?|\\*)\\.){0,31}(${jt}[*>#]?|[*>#])$`),el=t=>Va.test(t),tl=t=>Ya.test(t),nl=t=>Za.test(t),ol="~";function ao(t){
return lo("tenant",el,t===""?ol:t)}function gs(t){return lo("channel",tl,t)}function ys(t){return lo("pattern",nl,t)}function lo(t,e,n){
if(typeof n!="string"||!e(n)){let o={[t]:String(n).slice(0,256)};throw new v(`bad_${t}`,"not a legal name, see docs/prot\
ocol.md, Names",o)}return n}var rl=new TextDecoder("windows-1252");function $e(t){return`${t.tenant}:${t.channel}:${rl.decode(t.payload)}`}var he=class{size=0;#e=0;#t=[];#n=0;#o=new Map;get oldest(){
for(;this.#t[this.#n]?.entry===void 0&&this.#n<this.#t.length;)this.#n++;return this.#t[this.#n]?.entry}get all(){return this.#t.
flatMap(({entry:e})=>e??[])}put(e,n,o){this.#t.length>2*this.size+1024&&(this.#t=this.#t.filter(({entry:a})=>a),this.#n=
0);let s={entry:{key:e,time:n,message:o}};this.#t.push(s);let i=this.#o.get(e);return i?i.push(s):this.#o.set(e,[s]),this.
size++,this.#e+=e.length,this.size>65536||this.#e>16777216?this.drop():void 0}take(e){let n=this.#o.get(e),o=n?.shift();
return!n||!o?!1:(n.length===0&&this.#o.delete(e),o.entry=void 0,this.size--,this.#e-=e.length,!0)}drop(){let e=this.oldest;
return e&&this.take(e.key),e}dropUntil(e){let n=[];for(let o=this.oldest;o&&o.time<=e;o=this.oldest)this.drop(),o.message&&
n.push(o.message);return n}};var bs=1e3,sl=1e4,et=class{#e=new he;#t=new he;#n=new he;#o=bs;#r;joined(e){this.#r=e}left(e){this.#o+=this.#s(e),this.#r=
void 0}#s(e){return this.#r===void 0?0:Math.min(e-this.#r,sl-bs)}fromCurrent(e,n){let o=$e(e);return this.#i(n),this.#n.
take(o)?!1:(this.#t.take(o)||this.#e.put(o,n),!0)}fromNext(e,n,o){if(this.late(e,n))return;if(o)return this.#n.put($e(e),
n),e;let s=this.#t.put($e(e),n,{...e});return s&&this.#n.put(s.key,n),s?.message}late(e,n){return this.#i(n),this.#e.size>
0&&this.#e.take($e(e))}get behind(){return this.#t.size}release(){return this.#t.dropUntil(1/0)}orphan(){this.#e=new he;
for(let{key:e,time:n}of this.#t.all)this.#e.put(e,n)}keepCurrent(e){this.release(),this.#r=void 0,this.#e=new he;for(let{
key:n}of this.given)this.#e.put(n,e);this.#n=new he}get given(){return this.#n.all}done(e){return this.#i(e),this.#e.size===
0}#i(e){this.#e.dropUntil(e-this.#o-this.#s(e))}};var ws=250,co=2e3;async function ft(t,e,n,o,s){for(;t.merger&&!t.merger.done(S());)await le(50,o);t.merger=new et,t.both=
!0;let i=s!==void 0;t.tentative=i;let{place:a}=t,l=!1,c=()=>{l||t.events.emit("moving",{...a,reason:n}),l=!0};i||c();let u=0;
for await(let d of t.searcher.order(e.edge,n!=="drain",o)){let p=s;if(s=void 0,!p){await t.pause(Math.max(fe(++u,t.settings),
t.searcher.wait(d)),o);try{p=await t.searcher.open(d,o)}catch(h){if(o.throwIfAborted(),!(h instanceof v)||t.searcher.hopeless(
d,h,!0))throw h;continue}}if(o.aborted)return void p.close();if(p.alive){t.next=p,t.merger.joined(S()),t.merger.release();
let h=t.subscriber.restore(p);t.tentative&&p.ping(!0).catch(()=>{}),await h}if(t.tentative){if(o.throwIfAborted(),t.next!==
p)return t.keepCurrent();t.tentative=!1}if(p.alive){if(await il(t,e,p,c,o),o.throwIfAborted(),t.current!==p){if(i)return t.
keepCurrent();continue}p.alive&&(c(),t.since=S(),t.events.emit("moved",{...t.place,reason:n}));return}}}async function il(t,e,n,o,s){
let i=()=>t.next===n&&t.current===e;if(!i())return;t.gate??=[];let a=Ne(co,e.ping()).then(()=>{i()&&t.openGate(n)}),l=3;
do await le(ws,s);while(--l&&t.merger?.behind);for(await Ne(co,Promise.all(t.subscriber.asking));i()&&n.postponed.size>0;)
await le(ws,s);if(!i())return;o(),t.leaving=!0;let c=[...e.asked].map(u=>e.leave(u));await Ne(co,e.ended,Promise.allSettled(
[...c,e.ping(),e.confirmedAll()])),await a,i()&&t.promote(),t.leaving=!1}var al=1e4;async function _s(t,e,n,o){let{lastByte:s}=e;t.reconnecting=!0,t.current=void 0,t.merger=void 0,t.both=t.leaving=
t.tentative=t.gaps=!1,t.openGate(void 0);for(let i of t.subscriber.interests.all)i.confirmed=!1;t.events.emit("disconnec\
ted",{...t.place,error:n}),n.code==="token_expired"&&e.token===t.tokens.token&&t.tokens.expire(),S()-t.since>al&&(t.attempts=
0);for await(let i of t.searcher.order(e.edge,!1,o)){let a=++t.attempts,l=Math.max(fe(a,t.settings),t.searcher.wait(i));
t.events.emit("reconnecting",{attempt:a,delay:l}),await t.pause(l,o);try{let c=await t.searcher.open(i,o);if(o.aborted)return void c.
close();if(t.setCurrent(c),await t.subscriber.restore(c),o.throwIfAborted(),!c.alive)continue;t.reconnecting=!1,t.since=
S();let u=!t.gaps&&t.subscriber.interests.all.every(d=>d.history);return t.events.emit("reconnected",{...t.place,away:S()-
s,complete:u})}catch(c){if(o.throwIfAborted(),!(c instanceof v)||t.searcher.hopeless(i,c,!1))throw c}}}var ll=4096,Bt=class{#e=new Map;#t=[];#n=0;#o;add(e,n){return this.note(n),new Promise((o,s)=>{this.#e.set(e,{resolve:o,
reject:s,size:n})})}note(e,n){e<=ll||e<this.#n||(this.#o=e>this.#n?n:this.#o??n,this.#n=e)}tooLarge(){for(let[e,{size:n}]of this.#e)
n===this.#n&&this.error("payload_too_large",`PUB:${e}`);return this.#o}settle(e,n=()=>{}){let o=this.#e.get(e);if(o&&n(o),
this.#e.delete(e),this.#e.size===0)for(let s of this.#t.splice(0))s()}error(e,n){let o=/^PUB:(\d+)$/.exec(n)?.[1];return o===
void 0?!1:(this.settle(Number(o),s=>s.reject(new v(e))),!0)}idle(){return this.#e.size===0?Promise.resolve():new Promise(
e=>{this.#t.push(e)})}fail(){for(let e of[...this.#e.keys()])this.settle(e,n=>n.reject(Q()))}};async function Jt(t,e){try{let n=await fetch(t,{cache:"no-store",credentials:"omit",signal:e});return await n.arrayBuffer(),
n.ok}catch{return!1}}async function vs(t,e){try{return await fetch(t,{cache:"no-store",credentials:"omit",mode:"no-cors",
signal:e}),!0}catch{return!1}}var Ut=class{#e;#t=0;#n=0;#o=0;#r=0;constructor(e){this.#e=this.#t=e}arrived(e){let n=e-this.#e;if(n<1)return!1;if(this.#e=
e,n>1e4)return this.#n=this.#o=this.#r=0,this.#t=e,!1;let o=e-this.#t>=5e3;return o&&(this.#r=this.#o,this.#o=0,this.#t=
e),n>this.#o&&(this.#o=n),++this.#n===4||o}skip(e){return this.#e=e,!0}get unusual(){return this.#n<4?1/0:Math.max(1e3,3*
Math.max(this.#o,this.#r))}};var Wt=2e3,ks=1e3,Ht=new Set,uo,po=0,fo=0;function cl(t,e){return t>=ks+Wt||e-t>=Wt}function mo(){let t=S()-po,e=Date.now()-
fo;po+=t,fo+=e,cl(t,e)&&ho("slept")}function xs(t){return Ht.add(t),uo??=dl(),()=>{!Ht.delete(t)||Ht.size>0||(uo?.(),uo=
void 0)}}function ho(t){for(let e of[...Ht])e[t]()}function dl(){po=S(),fo=Date.now();let t=setInterval(mo,ks),e=globalThis,
{document:n,navigator:o}=e,s=()=>ho("slept"),i=()=>{n?.visibilityState==="visible"&&s()},a=()=>ho("networkChanged"),l=o?.
connection,c=l?.type,d=[[e,"online",a],[l,"change",()=>{l?.type!==c&&(c=l?.type,a())}],[e,"pageshow",s],[n,"resume",s],[
n,"visibilitychange",i]];for(let[p,h,f]of d)p?.addEventListener?.(h,f);return()=>{clearInterval(t);for(let[p,h,f]of d)p?.
removeEventListener?.(h,f)}}var qt=1e3,go=1e3,ul=3,pl=2**31-1,yo=50,zt=class{heard=S();#e;#t;#n=new Ut(this.heard);#o=1+Math.random()/16;#r=!1;#s=!1;#i;#a=0;#l=0;#d=0;#c=-1/0;#u=-1/0;#p;#f;#m;#h=!1;constructor(e,n){
this.#e=e,this.#t=n}arrived(e){this.heard=e,this.#p=void 0,this.#f?.abort(),this.#f=void 0,((this.#s?this.#n.skip(e):this.#n.
arrived(e))||this.#r)&&(this.#r=!1,this.arm()),this.#s&&(this.#s=!1,this.#e.woke())}ponged(e,n){this.#r=n,this.#d=0;let o=Math.
min(e,2*this.#y);this.#i===void 0?(this.#i=o,this.#a=o/2):(this.#a+=(Math.abs(this.#i-o)-this.#a)/4,this.#i+=(o-this.#i)/
8),this.arm()}awake(e){let n=S();this.#g||(this.#d=0),!(this.#h||this.#d++>=ul)&&(this.#l=n,this.#t.keepAlive>0&&!this.#g&&
(e||n-this.heard>=qt)&&this.#k(n),this.arm())}stop(){this.#h=!0,this.#f?.abort(),clearTimeout(this.#m)}get#g(){return this.#e.
unanswered??this.#p}get#y(){return Math.max(qt,(this.#i??0)+4*this.#a)}get askAt(){let{keepAlive:e}=this.#t;if(e<0)return 1/0;
let n=this.#r?e:Math.min(e,this.#n.unusual);return this.heard+n*this.#o}suspectAt({at:e,sendTime:n}){return Math.max(e,this.
heard,this.#l)+(this.#p?qt:this.#y)+n}lostAt({at:e,sendTime:n}){let{keepAlive:o,pongTimeout:s}=this.#t;if(o<0)return 1/0;
let i=Math.max(this.heard,this.#l);return Math.max(e+s,i+o+s)+n}arm(){clearTimeout(this.#m);let e=this.#g,n=e?Math.min(this.#s?
1/0:this.#w(e),this.lostAt(e),this.#c+go):this.askAt;if(this.#h||n===1/0)return;let o=S(),s=Math.max(n,o+1);this.#m=setTimeout(
()=>this.#_(s),Math.min(s-o,pl))}#w(e){return Math.max(this.suspectAt(e),this.#u+go)}#_(e,n=!1){mo();let o=S();if(o-e>=Wt&&
this.awake(!1),this.#h)return;if(!n&&o-e>yo){clearTimeout(this.#m),this.#m=setTimeout(()=>this.#_(o+yo,!0),yo);return}let s=this.#g;
if(!s)o>=this.askAt&&this.#k(o);else{if(o>=this.lostAt(s))return this.#e.over();!this.#s&&o>=this.#w(s)&&this.#v(o),this.#h||
this.probe()}this.arm()}#v(e){this.#s=this.#e.silent(),this.#s||(this.#u=e)}#k(e){if(this.#e.pingFirst===void 0)return this.#e.
ask();this.#p={at:e,sendTime:0},this.#c=-1/0,this.probe()}probe(){let e=S();e-this.#c<go||(this.#c=e,this.#e.pingFirst!==
void 0&&(this.#s||this.#p)?this.#b(this.#e.pingFirst):this.#e.probe())}async#b(e){if(this.#f)return;let n=new AbortController;
this.#f=n;let o=setTimeout(()=>n.abort(),qt),s=await vs(e,n.signal);clearTimeout(o),!(this.#h||this.#f!==n)&&(this.#f=void 0,
s?(this.#p=void 0,this.#e.unanswered?this.#e.probe():this.#e.ask()):this.#p&&(this.#p={at:-1/0,sendTime:0}),this.arm())}};var Gt=class{#e=new Map;add(e,n){let o=this.#e.get(e);o?o.push(n):this.#e.set(e,[n])}answer(e,n){let o=this.#e.get(e),s=o?.
shift();return s?(o?.length===0&&this.#e.delete(e),n(s),!0):!1}reject(e){let n=[...this.#e.values()].flat();this.#e.clear();
for(let o of n)o.reject(e)}};var fl=1.024,hl=32,Kt=class{edge;transport;token;begun=S();asked=new Set;confirmed=new Set;postponed=new Set;drains=!1;alive=!0;link;histories;featured;ending=new Map;error;ended;#e;#t;#n;#o=new Xt;#r=new Gt;#s=new Bt;#i;#a=[];#l=new Set;#d=0;#c=!1;#u=!0;#p=!0;#f;constructor(e,n,o,s,i){
this.edge=e,this.transport=n.transport,this.token=o,this.#e=n,this.#t=s;let a=this;this.#n=new zt({get unanswered(){return a.#a[0]},
pingFirst:n.fragile?e+i.paths.ping:void 0,ask:()=>{this.ping(!0).catch(()=>{})},probe:()=>n.probe(),silent:()=>this.#t.silent(
this),woke:()=>this.#t.woke(this),over:()=>this.fail(new v("timeout","the edge does not answer"))},i),this.featured=new Promise(
c=>{this.#i=c});let l;this.ended=new Promise(c=>{l=c}),n.start({bytes:()=>{this.alive&&this.#n.arrived(S())},line:c=>this.#_(
()=>this.#g(c)),frame:(c,u,d)=>{if(!this.alive||(this.#n.arrived(S()),oo(c,u,d)))return;let p;try{p=this.#o.decode(c,u,d)}catch(h){
return this.#v(h)}this.#t.delivered(this,p)},ended:c=>{l(),this.#k(c)}}),this.#c=!0,this.alive&&this.#h(`FEATURES:link${i.
sender?",sender":""}`),this.alive&&this.#n.arm()}get lastByte(){return this.#n.heard}request(e,n){e==="SUB"&&this.asked.
add(n);let o=`${e}:${n}`,s=this.#m(o);return this.alive&&this.#h(o),s}resume(e,n){let o=this.#m(`RSUB:${e}`);return this.
alive&&this.#h(`RSUB:${e}:${n}`),o}leave(e){let o=this.request("UNSUB",e).catch(()=>{}).then(()=>{this.ending.get(e)===o&&
this.ending.delete(e)});return this.ending.set(e,o),o}confirm(e,n){if(!this.alive)return Promise.reject(Q());let o=this.#s.
add(n,e.length);return this.#h(e),o}forgetConfirm(e){this.#s.settle(e)}confirmedAll(){return this.#s.idle()}postpone(e,n){
this.postponed.add(e);let o=`AGAIN:${e}`,s=setTimeout(()=>this.#r.answer(o,i=>i.resolve()),n);return this.#m(o).finally(
()=>clearTimeout(s))}#m(e){return new Promise((n,o)=>{this.alive?this.#r.add(e,{resolve:n,reject:o}):o(Q())})}forget(e){
return this.confirmed.delete(e),this.postponed.delete(e),this.#r.answer(`AGAIN:${e}`,n=>n.reject(Q())),this.asked.delete(
e)}ping(e=!1){return new Promise((n,o)=>{if(!this.alive)return o(Q());this.#a.push({at:S(),sendTime:this.#d/fl,own:e,resolve:n,
reject:o}),this.#e.send("PING"),this.#d=0,this.#n.probe(),this.#a.length===1&&this.#n.arm()})}publish(e,n){this.#s.note(
e.length,n),this.#h(e);let o=this.#e.sent();return o&&new Promise(s=>{let i=()=>{this.#l.delete(i),s()};this.#l.add(i),o.
then(i,i)})}awake(e){this.#n.awake(e)}handTo(e){this.#t=e,this.#n.stop(),this.#r.reject(Q()),this.#s.fail();for(let n of this.#a)
n.reject(Q());for(let n of this.#l)n()}#h(e){this.#d+=e.length+hl,this.#e.send(e)}close(){return this.alive&&(this.#b(Q()),
this.#e.close()),this.ended}#g(e){this.#n.arrived(S());let n=ss(e);if(n)if(n.kind==="OK"){let o=`${n.tenant}:${n.pattern}`;
if(this.#r.answer(`${n.verb}:${o}`,s=>s.resolve())&&n.verb==="SUB"&&(this.confirmed.add(o),this.postponed.delete(o)),n.verb===
"UNSUB")for(;this.#r.answer(`RSUB:${o}`,s=>s.reject(Q())););}else if(n.kind==="OK:PUB")this.#s.settle(n.id,o=>o.resolve(
n.position));else if(n.kind==="OK:RSUB"||n.kind==="AT"||n.kind==="GAP")this.#t.reached(this,n),n.kind==="OK:RSUB"&&this.#r.
answer(`RSUB:${n.tenant}:${n.pattern}`,o=>o.resolve());else if(n.kind==="ERR")this.#w(n.code,n.detail,e.slice(4));else if(n.
kind==="PING")this.#e.send("PONG");else if(n.kind==="PONG"){let o=this.#a.shift();if(!o)return;let s=S()-o.at;o.resolve(
s),this.#n.ponged(s,o.own),this.#t.roundTrip(s)}else n.kind==="RECONNECT"&&!this.drains?(this.drains=!0,this.#t.draining(
this)):n.kind==="FEATURES"?this.#y(n.features.split(",").includes("history")):n.kind==="LINK"&&(this.#p=n.up,this.#u||this.#y())}#y(e=this.
histories??!1){this.#u=!1,this.histories=e,this.#i(),this.link=this.#p,this.#t.linked()}#w(e,n,o){if(this.#u&&e==="bad_r\
equest")return this.#y();let s=Ve(o);if(s&&(this.#f=o),this.#s.error(e,n))return;let[,i,a]=/^(?:UN|R)?SUB:([^:]+):(.+)$/s.
exec(n)??[];!(i!==void 0&&a!==void 0&&e!=="broker_unavailable"&&this.#r.answer(n,c=>c.reject(new v(e,void 0,{tenant:i,pattern:a}))))&&
!/^(token_|unauthorized|forbidden|closed_by)/.test(e)&&this.#t.errorLine(e,n),(e==="token_revoked"||e==="token_expired")&&
this.fail(s)}#_(e){if(this.alive)try{e()}catch(n){this.#v(n)}}#v(e){this.fail(be(e,"protocol","the edge broke the protoc\
ol"))}fail(e){this.#b(e),this.#e.close(),this.#c&&this.#t.lost(this,e)}#k({closeCode:e,error:n}){if(!this.alive)return;let o=this.#f===
void 0?void 0:Ve(this.#f,e),s=e===4401?"token_expired":e===4403?"token_revoked":"disconnected",i=o?.code!=="slow_consume\
r"||e===4429,a="the connection has ended";if(e===1009){a="a message was too large for the edge";let c=this.#s.tooLarge();
c&&this.#t.errorLine("payload_too_large",`PUB:${c.tenant}:${c.channel}`)}let l=o&&i?o:n??new v(s,a,{closeCode:e});this.#b(
l),this.#c&&this.#t.lost(this,l)}#b(e){this.alive=!1,this.error=e,this.#n.stop();let n=Q(e);this.#i(),this.#r.reject(n),
this.#s.fail();for(let o of this.#a)o.reject(n);this.#a=[]}};var tt=class{#e;#t=[];start(e){let n=this.#t;this.#t=[],this.#e=e;for(let o of n)o(e)}bytes(){this.#e?.bytes()}line(e){this.#e?
this.#e.line(e):this.#t.push(n=>n.line(e))}frame(e,n,o){this.#e?this.#e.frame(e,n,o):this.#t.push(s=>s.frame(e,n,o))}ended(e){
this.#e?this.#e.ended(e):this.#t.push(n=>n.ended(e)),this.bytes=this.frame=this.line=this.ended=()=>{}}};var nt=globalThis,Qt=nt.process?.versions,ml=nt.Deno!==void 0||Qt?.bun!==void 0||Qt?.node!==void 0,Ss=Qt?.node!==void 0&&
Qt.bun===void 0&&nt.Deno===void 0&&nt.document===void 0,Ts=!ml&&(nt.document!==void 0||nt.WorkerGlobalScope!==void 0);var bo=32<<20,Es=(t,e,n)=>n>e&&t[e]<32,Vt=class{#e;#t=[];#n=0;constructor(e=bo){this.#e=e}get held(){return this.#n}push(e,n){
let o=0;if(!(this.#n>0&&(o=this.#o(e,n),this.#n>0))){for(;e.length-o>=4;){let s=o+4+this.#i(e,o);if(s>e.length)break;n(e,
o+4,s),o=s}o<e.length&&this.#r(e.slice(o))}}#o(e,n){let o=0;if(this.#n<4&&(o=Math.min(4-this.#n,e.length),this.#r(e.slice(
0,o)),this.#n<4))return o;let s=this.#t[0].length<4?this.#s():this.#t[0],i=4+this.#i(s,0),a=Math.min(i-this.#n,e.length-
o);if(a>0&&this.#r(e.slice(o,o+a)),this.#n===i){let l=this.#s();this.#t=[],this.#n=0,n(l,4,i)}return o+a}#r(e){this.#t.push(
e),this.#n+=e.length}#s(){let e=new Uint8Array(this.#n),n=0;for(let o of this.#t)e.set(o,n),n+=o.length;return this.#t=[
e],e}#i(e,n){let o=e[n]*16777216+(e[n+1]<<16|e[n+2]<<8|e[n+3]);if(o>this.#e)throw new v("protocol","a message that is to\
o long");return o}};var Cs=1<<20,gl=1e3;async function Ps({edge:t,token:e,signal:n},{paths:o}){let s=t.replace("http","ws")+o.webSocket,{promise:i,
resolve:a,reject:l}=_l(),c=await yl("ws");n.throwIfAborted();let u,d=c?new c(s,{headers:{Authorization:`Bearer ${e}`},perMessageDeflate:!1,
maxPayload:bo}):new WebSocket(s,["llps.v1",`at.${e}`]);c||(d.binaryType="arraybuffer");let p=()=>d.terminate?d.terminate():
d.close(),h=()=>{l(n.reason),p()};n.addEventListener("abort",h);let f=new tt,m=!1,w,_;d.on?.("unexpected-response",(y,T)=>{
u=bl(T).finally(()=>y.destroy()),u.then(l)});let b;d.on?.("upgrade",y=>{b=y.socket}),d.onerror=({error:y})=>{w=y},d.onopen=
()=>{m=!0,b?.prependListener("data",()=>f.bytes()),n.removeEventListener("abort",h),a({transport:"websocket",fragile:!1,
start:y=>f.start(y),send:y=>m&&d.send(y),sent:()=>m&&d.bufferedAmount>Cs?k():void 0,probe(){},close(){d.close(1e3),_??=setTimeout(
()=>{p(),f.ended({})},gl)}})},d.onclose=({code:y})=>{clearTimeout(_),m?(m=!1,f.ended({closeCode:y})):u||wl(t+o.ping,c!==
void 0,n,w).then(l,l),n.removeEventListener("abort",h)},d.onmessage=({data:y})=>{typeof y=="string"?f.line(y):y instanceof
ArrayBuffer?f.frame(new Uint8Array(y),0,y.byteLength):f.frame(new Uint8Array(y.buffer,y.byteOffset,y.length),0,y.length)};
async function k(){for(;m&&d.bufferedAmount>Cs;)await new Promise(y=>setTimeout(y,5))}return i}async function yl(t){if(Ss)
try{let{WebSocket:e}=await import(t);return e}catch(e){if("WebSocket"in globalThis)return;throw new v("bad_option","Node\
 20 has no WebSocket: install the package ws",{cause:e})}}async function bl(t){let e=t.statusCode,n=Number(t.headers["re\
try-after"]),o={status:e,retryAfter:n>0?n*1e3:void 0},s="";try{let i=new TextDecoder;for await(let c of t)if(s+=i.decode(
c,{stream:!0}),s.length>65536)break;let{code:a,detail:l}=JSON.parse(s);if(a==="unauthorized")return new v(a,"the edge do\
es not accept the token",o);if(typeof a=="string")return new v(a,l,o)}catch{}return ns(e,o.retryAfter)}async function wl(t,e,n,o){
return!e&&await Jt(t,n)?new v("refused","the edge answers, and refuses the WebSocket: perhaps the token, or this page's \
origin"):new v("unreachable","no WebSocket to the edge",{cause:o})}function _l(){let t,e;return{promise:new Promise((o,s)=>{
t=o,e=s}),resolve:t,reject:e}}var As=1e3,vl=43,kl=2e3,Ms=()=>"WebTransport"in globalThis;async function $s(t,{paths:e,hashes:n}){let{signal:o}=t,s=[],
i,a=()=>{clearTimeout(i),s.forEach(Yt)};o.addEventListener("abort",a);try{let l=await new Promise((u,d)=>{let p=()=>{let h=new WebTransport(
t.edge+e.webTransport,n?{serverCertificateHashes:[...n]}:{});s.push(h),h.closed.catch(()=>{}),h.ready.then(()=>u(h),d)};
p(),i=setTimeout(p,kl)});for(let u of s)u!==l&&Yt(u);let c=l.closed.then(({closeCode:u,reason:d})=>({closeCode:u,error:Ve(
`${d}`)}),()=>({}));return await xl(l,c,t.token)}catch(l){throw a(),o.throwIfAborted(),be(l,"unreachable","no WebTranspo\
rt to the edge")}finally{clearTimeout(i),o.removeEventListener("abort",a)}}async function xl(t,e,n){let o=await t.createBidirectionalStream(),
s=new tt,i=new wo(o.writable.getWriter()),a=o.readable.getReader(),l,c,u=Sl(t);i.send(`AUTH:${n}`);let d=new Vt,p=(m,w,_)=>{
if(Es(m,w,_))return s.frame(m,w,_);let b=Xe(m.subarray(w,_));if(c)return s.line(b);let k=Zn(b);k.kind==="OK:AUTH"?c={transport:"\
webtransport",fragile:Ts,start:y=>s.start(y),send:y=>i.send(y),sent:()=>i.sent,probe:u,close:()=>{i.close().then(()=>Yt(
t))}}:k.kind==="ERR"&&(l??=Ve(b.slice(4))??new v(k.code))},h=async()=>{let{value:m,done:w}=await a.read();return m&&(s.bytes(),
d.push(m,p)),!w},f;for(;!c;)if(!await h().catch(w=>{if(w instanceof v)throw w;return!1}))throw l??Tl(await e);return(async()=>{
try{for(;await h(););}catch(_){_ instanceof v&&(f=_)}i.close();let m={error:f},w=e.then(_=>m=_);f||await Ne(As,w),Yt(t),
s.ended(m)})(),c}function Sl(t){let e,n=!1,o=async()=>{let{writable:s,createWritable:i}=t.datagrams;e??=(s??i?.call(t.datagrams))?.
getWriter(),await e?.write(new Uint8Array(vl))};return()=>{n||(n=!0,o().catch(()=>{}).finally(()=>{n=!1}))}}function Tl({
closeCode:t,error:e}){let n=t===4401?"unauthorized":t===1001?"draining":t===1013?"unavailable":"unreachable";return e??new v(
n,"the connection has ended",{closeCode:t})}function Yt(t){try{t.close({closeCode:1e3,reason:""})}catch{}}var wo=class{#e;#t=new Uint8Array(
4096);#n=0;sent;constructor(e){this.#e=e,e.closed.catch(()=>{})}send(e){let n=typeof e=="string"?Fe(e):e,o=n.length,s=this.#n+
4+o;if(s>this.#t.length){let i=new Uint8Array(Math.max(s,this.#t.length*2));i.set(this.#t.subarray(0,this.#n)),this.#t=i}
this.#t.set([o>>>24,o>>>16,o>>>8,o],this.#n),this.#t.set(n,this.#n+4),this.#n=s,this.sent??=this.#o()}async#o(){try{do{await this.#e.
ready;let e=this.#t.subarray(0,this.#n);this.#t=new Uint8Array(4096),this.#n=0,this.#e.write(e).catch(()=>{})}while(this.#n>
0)}catch{this.#n=0}this.sent=void 0}async close(){await Ne(As,(this.sent??Promise.resolve()).then(()=>this.#e.close()))}};var El=/^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/,_o=t=>Ms()&&t.startsWith(
"https:"),Zt=class{#e;#t=new Map;#n=new Set;constructor(e){this.#e=e}forget(){this.#n.clear()}prefer(e,n){this.#t.set(e,
n)}async open(e,n,o,s={}){let i=this.#e,{transports:a=i.transports,fallbackAfter:l=i.fallbackAfter}=s,c=a.filter(p=>p===
"websocket"||_o(e));c.length===0&&F("there is no WebTransport here, or not for http:// addresses");let u=c.filter(p=>!this.#n.
has(p));if(u.length===0)throw new v("protocol_not_allowed");this.#t.get(e)===u[1]&&u.reverse();let d=await De(o,i.connectTimeout,
p=>this.#o(u,e,n,l,p));return this.#t.set(e,d.transport),d}#o(e,n,o,s,i){return new Promise((a,l)=>{let c,u=0,d=0,p,h=!1,
f=()=>{h=!0,clearTimeout(c)},m=()=>{clearTimeout(c);let w=e[d++];if(!w||h)return;let _=w==="websocket"?Ps:$s;u++,_({edge:n,
token:o,signal:i},this.#e).then(b=>{if(h)return Cl(b);f(),a(b)},b=>{u--;let k=be(b,"unreachable","the edge does not answ\
er");if(k.code==="protocol_not_allowed"&&this.#n.add(w),(!p||ht(k)>ht(p))&&(p=k),!El.test(k.code)&&(u>0||d<e.length))return m();
f(),l(p)}),d<e.length&&(c=setTimeout(m,s))};i.addEventListener("abort",()=>{f(),l(i.reason)}),m()})}};function Cl(t){t.start(
{bytes(){},line(){},frame(){},ended(){}}),t.close()}function ht({code:t}){return["unreachable","timeout","refused","prot\
ocol_not_allowed"].indexOf(t)>>>0}var Is=3,Pl=500;async function vo(t,e,n){let o,s=await Promise.all(t.map(async a=>{if(a.pathname==="/")return[a.origin];
try{return await De(n,e.connectTimeout,l=>Al(a,l))}catch(l){return o=l,[]}})),i=[...new Set(s.flat())];if(n.throwIfAborted(),
i.length===0)throw o??new v("unreachable","the list has no edge");return i.length>1&&(await De(n,e.connectTimeout,a=>Ml(
i,e.paths.ping,a)).catch(()=>{}),n.throwIfAborted()),i}async function Al(t,e){try{let n=await fetch(t,{cache:"no-store",
credentials:"omit",signal:e});if(!n.ok)throw new v("unreachable",`the list of edges: HTTP status ${n.status}`,{status:n.
status});let{edges:o}=await n.json();return o.map(({host:s})=>Dt(`https://${s}`,!1).origin)}catch(n){throw be(n,"unreach\
able","the list of edges")}}async function Ml(t,e,n){let o=new Map,s=async u=>{let d=[];for(;d.length<Is;){let p=S();if(!await Jt(
u+e,n))return;d.push(S()-p)}d.sort((p,h)=>p-h),o.set(u,d[Is>>1])},i=t.map(s),l=Promise.any(i.map((u,d)=>u.then(()=>o.get(
t[d])??Promise.reject()))).then(()=>le(Pl,n));await Promise.race([Promise.all(i),l.catch(()=>Promise.all(i))]);let c=u=>o.
get(u)??Number.MAX_VALUE;t.sort((u,d)=>c(u)-c(d))}var Os=/^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/,$l=/^(unauthorized|token_expired|region_not|protocol_not)/,
Il=5,Ol=6e4,Rl=12e4,en=class{#e;#t;#n;#o;#r;#s=[];#i=new Map;#a;#l=0;#d=0;#c=new Map;drained=new Set;constructor(e,n,o,s){
this.#e=e,this.#t=n,this.#n=o,this.#o=s,this.#r=new Zt(n)}async first(e){await _e(this.#n.get(),e),this.#s=await vo(this.#e,
this.#t,e);let n;for(let o of this.#s)try{return await this.open(o,e)}catch(s){if(!(s instanceof v)||Os.test(s.code)||s.
code==="token_provider")throw s;(!n||ht(s)>ht(n))&&(n=s)}throw n}async*order(e,n,o){for(;;){let s=this.#s.filter(a=>a!==
e),i=n?[e,...s]:s.length<this.#s.length?[...s,e]:s;for(let a of i)i.some(l=>this.wait(l)<this.wait(a))||(yield a);if(this.#e.
some(a=>a.pathname!=="/"))try{this.#s=await vo(this.#e,this.#t,o)}catch{o.throwIfAborted()}}}wait(e){return Math.max(0,(this.#c.
get(e)??0)-S())}async open(e,n,o){let s=await this.#n.get();try{return await this.#u(e,s,n,o)}catch(i){if(!(i instanceof
v&&/^(unauthorized|token_expired|refused)$/.test(i.code))||!this.#n.provided)throw i;let l=await this.#n.ask();if(l===s)
throw i;return this.#u(e,l,n,o)}}async#u(e,n,o,s){n!==this.#a&&(this.#a=n,this.#i.clear(),this.#r.forget());let i=await this.#r.
open(e,n,o,s).catch(l=>{let{retryAfter:c=0}=l;throw this.#c.set(e,S()+Math.min(c,this.#t.maxBackOff)),l});this.drained.delete(
e),this.#c.delete(e);let a=new Kt(e,i,n,this.#o,this.#t);if(a.error)throw a.error;return this.#l=0,this.#i.clear(),a}noteSilent({
edge:e,transport:n,begun:o},s=!1){n!=="webtransport"||!s&&S()-o>=Rl||this.#r.prefer(e,s?n:"websocket")}hopeless(e,n,o){let{
code:s}=n;if(s==="unreachable"&&this.drained.delete(e),s!=="refused")this.#l=0;else{if(o||this.drained.has(e))return!1;this.#l++===
0&&(this.#d=S())}return Os.test(s)||this.#l>=Il&&S()-this.#d>=Ol?!0:$l.test(s)?(this.#i.set(e,n),this.#s.every(i=>this.#i.
has(i))):!1}};var Nl=1024,tn=class{#e=new Map;#t=[];#n=!1;constructor(e={}){for(let[n,o]of Object.entries(e))o&&this.on(n,o)}on(e,n){if(typeof n!=
"function")throw new v("bad_option",`the handler of ${e} must be a function`);let o=i=>n(i),s=this.#e.get(e)??new Set;return this.#e.
set(e,s.add(o)),()=>{s.delete(o)}}emit(e,n){this.#t.push([e,n])>Nl&&this.#t.shift(),this.#n||this.#o()}async#o(){this.#n=
!0,await null;for(let e=this.#t.shift();e;e=this.#t.shift())for(let n of[...this.#e.get(e[0])??[]])try{await n(e[1])}catch(o){
nn(o)}this.#n=!1}};function nn(t){queueMicrotask(()=>{throw t})}var Dl=new TextDecoder,ot=class{tenant;channel;payload;pattern;patterns;late;position;sender;constructor(e,n,o,s,i,a,l,c=""){
this.tenant=e,this.channel=n,this.payload=o,this.pattern=s,this.patterns=i,this.late=a,this.position=l,this.sender=c}get time(){
return this.position===void 0?void 0:new Date(Number(this.position.split(".")[2]))}text(){return Dl.decode(this.payload)}json(){
return JSON.parse(this.text())}};var on=class{#e=new Map;#t=0;get all(){return[...this.#e.values()]}add(e){let{tenant:n,pattern:o}=e,s=`${n}:${o}`,i=this.#e.
get(s),{history:a}=e,l=i??{name:s,tenant:n,pattern:o,subs:[],confirmed:!1,waiting:[],history:a};return l.subs.push(e),this.#e.
set(s,l),this.#t++,{interest:l,isNew:!i}}of(e,n){return this.#e.get(`${e}:${n}`)}has(e){return this.#e.get(e.name)===e}remove(e){
let n=this.#e.get(`${e.tenant}:${e.pattern}`),o=n?.subs.indexOf(e)??-1;if(!(!n||o<0))return n.subs.splice(o,1),n.subs.length===
0&&this.drop(n)?n:void 0}drop(e){return this.#t++,this.#e.get(e.name)===e&&this.#e.delete(e.name)}dispatch(e,n=!1){let{tenant:o,
channel:s,payload:i,route:a,sender:l}=e,c=a.note?.tenant===o&&a.note.version===this.#t?a.note:this.#n(o,a);for(let{pattern:u,
subs:d,history:p}of c.interests){if(p&&!p.plain)continue;let h=new ot(o,s,i,u,a.patterns,n,void 0,l);if(d.length===1)d[0].
push(h);else for(let f of[...d])f.push(h)}}#n(e,n){let o=n.patterns.map(s=>this.#e.get(`${e}:${s}`)).filter(s=>s!==void 0);
return n.note={tenant:e,version:this.#t,interests:o},n.note}};var rn=class{interests=new on;asking=new Set;#e;constructor(e){this.#e=e}async restore(e){let n=this.interests.all;n.some(
s=>s.history)&&await e.featured;let o=e===this.#e.current?n:n.filter(s=>!s.history);await Promise.all(o.map(s=>this.ask(
e,s)))}async resume(e){await Promise.all(this.interests.all.filter(({history:n})=>n).map(n=>this.ask(e,n)))}stored(e,n,o){
let{tenant:s,channel:i,payload:a,route:l,sender:c}=n,{patterns:u}=l,d=u[0],p=this.interests.of(s,d),{history:h}=p??{};if(!p||
!h?.takes(e,o))return;h.from=o,p.subs[0]?.pushStored(new ot(s,i,a,d,u,!1,o,c))===!1&&this.interests.has(p)&&(h.pause(),e.
leave(p.name)),this.#o(p)}reached(e,n){let{kind:o,tenant:s,pattern:i,position:a}=n,l=this.interests.of(s,i),{history:c}=l??
{};if(!(!l||c?.on!==e||!c.open||c.plain)){if(o==="GAP"||c.takes(e,a)){c.from=a;for(let u of l.subs)u.reach(a)}o==="GAP"?
(c.told=!0,this.#t(s,i,a)):o==="OK:RSUB"&&(this.#o(l),n.how==="gap"&&!c.told?this.#t(s,i,a):c.lossy&&this.#t(s,i))}}#t(e,n,o){
this.#e.gaps=!0,this.#e.events.emit("gap",{tenant:e,pattern:n,before:o})}wasRead(e){let n=this.interests.of(e.tenant,e.pattern),
{current:o}=this.#e;!n?.history||n.history!==e.history||(n.history.paused=!1,o&&this.ask(o,n))}ask(e,n){let o=this.#n(e,
n).finally(()=>this.asking.delete(o));return this.asking.add(o),o}async#n(e,n){try{n.history?await this.#r(e,n,n.history):
(await this.#s(e,n),this.#o(n))}catch(o){let s=be(o,"internal","a fault of this client");if(s.code==="disconnected")return;
if(n.confirmed&&this.#e.suspected&&e===this.#e.next)return e.fail(s);this.#i(n,s)}}#o(e){e.confirmed=!0;for(let{resolve:n}of e.
waiting.splice(0))n()}async#r(e,n,o){let{name:s,tenant:i,pattern:a}=n;if(o.paused&&(this.#e.gaps=!0),!(o.paused||o.on===
e)){o.begin(e);for(let l=2;;){if(await e.featured,await e.ending.get(s),!e.alive||o.on!==e||!this.interests.has(n))return;
let c=!e.histories||o.unwanted,u=o.forbidden?"now":o.from,d=ko(n);o.lossy=c?d||u!=="now":o.forbidden||d&&u==="now",o.plain=
c,o.open=!0,c&&(o.from="now");try{if(!c)return await e.resume(s,u);if(await e.request("SUB",s),!this.interests.has(n))return;
this.#o(n),o.lossy&&this.#t(i,a);return}catch(p){let h=p;if(h.code==="history_unavailable")return this.#e.gaps=!0,this.#e.
events.emit("edgeError",{code:h.code,detail:`RSUB:${s}`});if(o.open=!1,h.code==="permission_denied"&&!c&&u!=="now")o.forbidden=
!0;else if(h.code==="no_history"&&d)o.unwanted=!0;else if(h.code==="try_later"&&d)l===2&&this.#e.events.emit("subscripti\
onError",{tenant:i,pattern:a,code:h.code}),await e.postpone(s,fe(l++,this.#e.settings)),e.postponed.delete(s);else throw h}}}}async#s(e,n){
let{name:o,tenant:s,pattern:i}=n;for(let a=2;;a++){try{return await e.request("SUB",o)}catch(l){let c=l;if(c.code!=="try\
_later"||!ko(n))throw c;a===2&&this.#e.events.emit("subscriptionError",{tenant:s,pattern:i,code:c.code})}await e.postpone(
o,fe(a,this.#e.settings))}}#i(e,n){if(!this.interests.drop(e))return;let{tenant:o,pattern:s,subs:i,waiting:a}=e;for(let l of[
this.#e.current,this.#e.next])l?.forget(e.name)&&l.leave(e.name);ko(e)&&this.#e.events.emit("subscriptionError",{tenant:o,
pattern:s,code:n.code});for(let l of i)l.end(n);for(let{reject:l}of a.splice(0))l(n)}async subscribe(e){let{tenant:n,pattern:o}=e,
s;for(;;){if(this.#e.over)throw this.#e.over;s=this.interests.of(n,o);let c=d=>d?.ending.get(`${n}:${o}`),u=c(this.#e.current)??
c(this.#e.next);if(s||!u)break;await u}if(s&&(s.history||e.history)){let c="the client has a subscription to this patter\
n, and one with a history is alone";throw new v("bad_option",c,s)}let{interest:i,isNew:a}=this.interests.add(e);if(i.confirmed)
return;let l=new Promise((c,u)=>{i.waiting.push({resolve:c,reject:u})});return a&&(this.#e.current&&!this.#e.leaving&&this.
ask(this.#e.current,i),this.#e.next&&!i.history&&this.ask(this.#e.next,i)),l}async leave(e){let n=this.interests.remove(
e);if(!n)return;for(let{resolve:l}of n.waiting.splice(0))l();let{name:o,history:s}=n,a=[this.#e.current,this.#e.next].filter(
l=>l?.forget(o)||l&&s?.on===l).map(l=>l.leave(o));await(this.#e.suspected&&a.length>0?Promise.race(a):Promise.all(a))}queueFull({
tenant:e,pattern:n},o){this.#e.events.emit("queueFull",{tenant:e,pattern:n,dropped:o})}end(e,n){for(let o of this.interests.
all){this.interests.drop(o);for(let s of o.subs)s.end(e);for(let{reject:s}of o.waiting.splice(0))s(e??n)}}};function ko({
subs:t,waiting:e}){return t.length>e.length}var xo=1e3,sn=class{#e=new he;#t=new he;#n=new he;constructor(e,n,o){for(let{key:s}of e)this.#e.put(s,n);if(o){for(let{key:s,
time:i,message:a}of o.#t.all)this.#t.put(s,i,a);for(let{key:s,time:i}of o.#n.all)this.#n.put(s,i)}}fromCurrent(e,n){let o=$e(
e);return this.#n.dropUntil(n-xo),this.#n.take(o)?!1:(this.#t.take(o)||this.#e.put(o,n),!0)}fromTrail(e,n){let o=$e(e);if(this.#e.
take(o))return;let s=this.#t.put(o,n,{...e});return s&&this.#n.put(s.key,s.time),s?.message}renew(e){for(let n of this.#t.
all)n.time=e}due(e){return this.#t.dropUntil(e-xo)}get nextDue(){let e=this.#t.oldest;return e&&e.time+xo}};var Rs=15e3,Fl=6e4,an=class{#e;late;#t;#n;#o=!0;#r=!1;#s=S();#i;#a;constructor(e,n,o,s,i){this.#e=e,this.late=new sn(n,S(),
i?.late),this.#t=o,this.#n=s,this.#i=setTimeout(()=>this.#l(),Rs),i?.stop(),e.handTo(this),e.alive?this.#c():this.#d()}fromCurrent(e){
return this.late.fromCurrent(e,S())}hold(e){e!==this.#r&&(this.#r=e,e||this.late.renew(S()),this.#c())}flush(){for(let e of this.
late.due(1/0))this.#t(e)}stop(){return this.#o=!1,clearTimeout(this.#i),clearTimeout(this.#a),this.#e.close()}#l(){let e=Math.
min(this.#e.lastByte+Rs,this.#s+Fl)-S();e>0?this.#i=setTimeout(()=>this.#l(),e):this.#d()}#d(){this.#o&&(this.stop(),this.#c())}#c(){
if(clearTimeout(this.#a),this.#r)return;let{nextDue:e}=this.late;if(e===void 0){this.#o||this.#n();return}this.#a=setTimeout(
()=>{for(let n of this.late.due(S()))this.#t(n);this.#c()},Math.max(1,e-S()))}delivered(e,n){if(n.position!==void 0)return;
let o=this.late.nextDue===void 0,s=this.late.fromTrail(n,S());s&&this.#t(s),o&&this.#c()}woke(e){for(let o of e.asked)e.
request("UNSUB",o).catch(()=>{});let n=()=>this.#d();e.ping().then(n,n)}lost(){this.#d()}silent(){return!1}reached(){}draining(){}errorLine(){}roundTrip(){}linked(){}};var ln=class{settings;events;subscriber=new rn(this);current;next;suspected;tentative=!1;trail;publishOn;gate;merger;both=!1;gaps=!1;reconnecting=!1;leaving=!1;place={
edge:"",transport:"websocket"};rtt;since=0;attempts=0;over;#e=!0;#t=new Set;#n=[];constructor(e){this.settings=fs(e),this.
events=new tn(e.on)}setCurrent(e){this.current=e,this.place={edge:e.edge,transport:e.transport},this.linked(),this.#o()}#o(){
for(let e of this.#n.splice(0))e()}changed(){return new Promise(e=>{this.#n.push(e)})}linked(){let{link:e,edge:n}=this.current??
{};!this.since||!n||e===void 0||e===this.#e||(this.#e=e,this.events.emit(e?"linkUp":"linkDown",{edge:n}))}reached(e,n){this.
subscriber.reached(e,n)}delivered(e,n){if(n.position!==void 0)return this.subscriber.stored(e,n,n.position);if(!this.merger)
return this.#r(n);let o=S();if(e===this.next){let s=this.current?.confirmed,i=!n.route.patterns.some(l=>s?.has(`${n.tenant}\
:${l}`)),a=this.merger.fromNext(n,o,i);a&&this.#r(a)}else this.both?this.merger.fromCurrent(n,o)&&this.#r(n):(this.merger.
late(n,o)||this.#r(n),this.merger?.done(o)&&(this.merger=void 0))}#r(e){(!this.trail||this.trail.fromCurrent(e))&&this.subscriber.
interests.dispatch(e)}promote(){let{current:e,next:n}=this;n&&(this.setCurrent(n),this.next=void 0,this.merger?.left(S()),
this.both=this.leaving=!1,this.openGate(void 0),this.giveHeld(),e?.close(),this.subscriber.resume(n))}takeOver(e,n){this.
trail?.hold(!1);let o=new an(e,this.merger?.given??[],i=>this.subscriber.interests.dispatch(i,!0),()=>{this.trail===o&&(this.
trail=void 0)},this.trail);this.trail=o;let s=S()-e.lastByte;this.suspected=this.next=void 0,this.merger?.left(S()),this.
both=this.tentative=!1,this.setCurrent(n),this.since=S(),this.events.emit("recovered",{...this.place,away:s}),this.giveHeld(),
this.openGate(void 0),this.subscriber.resume(n)}keepCurrent(){this.suspected=void 0,this.trail?.hold(!1),this.both&&this.
merger?.keepCurrent(S()),this.both=this.tentative=!1}giveHeld(){for(let e of this.merger?.release()??[])this.#r(e)}pause(e,n){
return le(e,n,this.#t)}get waits(){return this.#t.size>0}hurry(){for(let e of[...this.#t])e()}openGate(e){this.publishOn=
e;let n=this.gate??[];this.gate=void 0;for(let o of n)o();this.over&&this.#o()}publishConnection(){if(this.over)throw this.
over;let e=this.publishOn??this.current;if(!e?.alive)throw Q();return e}};var Xl=500;async function Ns(t,e,n){for(t.events.emit("suspect",t.place),t.gate??=[];t.merger&&!t.merger.done(S());)await le(
50,n);t.merger=new et,t.both=t.tentative=!0;let o=0;for await(let s of t.searcher.order(e.edge,!1,n)){await t.pause(Math.
max(fe(++o,t.settings),t.searcher.wait(s)),n);let i;try{i=await t.searcher.open(s,n,{fallbackAfter:Xl})}catch(l){if(n.throwIfAborted(),
l instanceof v)continue;throw l}if(n.aborted)return void i.close();if(!i.alive)continue;t.next=i,t.merger.joined(S());let a=t.
subscriber.restore(i);if(i.ping(!0).catch(()=>{}),await a,n.throwIfAborted(),t.next===i)return t.takeOver(e,i)}}function Ds(t){if(typeof t=="number")return t;let e=/^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(t);if(!e){let i='exp\
iresIn is seconds, or hours, minutes and seconds such as "1h30m" or "90s"';throw new v("bad_option",i)}let[n=0,o=0,s=0]=e.
slice(1).map(i=>Number(i??0));return(n*60+o)*60+s}var So=2**31-1,Fs=1e3;function Ll(t,e){return t===1/0?t:Math.max(0,Math.min(t*.9,t>5e3?t-5e3:t)-e*t/10)}var cn=class{#e;#t;#n;#o=new AbortController;#r;#s=S;#i=1/0;#a;#l=!1;#d;#c=-1/0;#u;#p=0;constructor(e,n,o){
this.#e=e,this.#r=e.token,this.#t=n,this.#n=o}get token(){return this.#r}get provided(){return this.#e.tokenProvider!==void 0}get(){
return this.#r!==void 0&&this.#s()<this.#i?Promise.resolve(this.#r):this.ask()}ask(){return this.#a??=this.#f().finally(
()=>{this.#a=void 0,this.#l=!1}),this.#a}async renew(){this.#a&&this.#l&&(this.#d??=this.#a.catch(()=>{}).then(()=>(this.#d=
void 0,this.ask()))),await(this.#d??this.ask()),this.#t()}async#f(){clearTimeout(this.#u);let{tokenProvider:e,connectTimeout:n,
minBackOff:o}=this.#e,{signal:s}=this.#o;try{let i=this.#c+Fs-S();i>0&&await le(i,s),this.#l=!0;let l=await De(s,n,c=>_e(
Promise.resolve(e?.()),c)).finally(()=>{this.#c=S()});return this.#m(typeof l=="object"?l:{token:l}),this.#r}catch(i){this.#i>
0&&this.#i<1/0&&this.#h(Math.max(o,fe(++this.#p+1,this.#e)));let l=i?.name==="LoggedOutError"?new v("logged_out","the to\
ken provider says that there will be no token",{cause:i}):new v("token_provider","the token provider gave no token",{cause:i});
throw this.#r!==void 0&&!s.aborted&&this.#n(l),l}}#m({token:e,expiresAt:n,expiresIn:o}){let s=o===void 0?1/0:Ds(o)*1e3;s>
0||F("expiresIn must be more than 0");let i=n===void 0||o!==void 0?1/0:new Date(n).getTime();Number.isNaN(i)&&F("expires\
At is no time"),this.#r=io(e),this.#s=s<1/0?S:Date.now,this.#i=s<1/0?S()+s:i>Date.now()?i:1/0,this.#p=0,this.#h(Math.max(
Fs,Ll(this.#i-this.#s(),Math.random())))}#h(e){this.#o.signal.aborted||!(e<1/0)||(this.#u=setTimeout(()=>{if(e>So)return this.#h(
e-So);let n=this.#r;this.ask().then(o=>o!==n&&this.#t(),()=>{})},Math.min(Math.max(e,0),So)))}expire(){this.provided&&(this.#i=
-1)}stop(){this.#o.abort(),clearTimeout(this.#u)}};var To=6e4,jl=60*To,Bl=2*To,Jl=1e4,Ul=2e3;function Xs(t,e){return Math.min((4+2*e)*To*2**t,jl)}var dn=class{#e;#t=0;#n;#o;#r;constructor(e){
this.#e=e}follow(e){clearTimeout(this.#o),e.transport==="webtransport"?(this.stop(),this.#o=setTimeout(()=>{this.#t=0},Bl)):
!this.#n&&this.#s(e)&&this.#i(Xs(this.#t,Math.random()))}soon(){let{current:e}=this.#e;e&&this.#s(e)&&this.#i(Math.random()*
Ul,!1)}stop(){this.#r?.abort(),this.#r=void 0,clearTimeout(this.#n),clearTimeout(this.#o),this.#n=void 0}#s({transport:e,
edge:n}){let{transports:o}=this.#e.settings;return o[0]==="webtransport"&&o.length>1&&e==="websocket"&&_o(n)}#i(e,n=!0){
clearTimeout(this.#n),this.#n=setTimeout(()=>{this.#a(n)},e)}async#a(e){let n=this.#e,{current:o}=n;if(!o||!n.idle||this.#r)
return this.#i(Jl,e);if(!this.#s(o)){this.#n=void 0;return}let s=this.#t+Number(e);this.#i(Xs(s,Math.random()));let i=new AbortController;
this.#r=i;let a=await n.searcher.open(o.edge,i.signal,{transports:["webtransport"]}).catch(()=>{});this.#r===i&&(this.#r=
void 0),i.signal.aborted||(this.#t=s),a&&!i.signal.aborted&&n.current===o&&n.idle?n.run(l=>ft(n,o,"transport",l,a)):(a?.
close(),n.moveIfDue())}};var Hl=3e3,un=class extends ln{tokens;searcher;closed;#e;#t=new dn(this);#n;#o;constructor(e,n){super(n),this.tokens=new cn(
this.settings,()=>this.moveIfDue(),o=>this.#r(o)),this.searcher=new en(e,this.settings,this.tokens,this),this.closed=new Promise(
o=>{this.#o=o})}#r(e){let{code:n,cause:o}=e;n!=="logged_out"?this.events.emit("edgeError",{code:n,detail:"the token prov\
ider gave no token",cause:o}):this.since&&this.finish(e)}async renewToken(){if(this.over)throw this.over;this.tokens.provided||
F("there is no tokenProvider that could give another token");try{await this.tokens.renew()}catch(e){throw this.over&&e.code!==
"logged_out"?this.over:e}}retry(){!this.reconnecting||!this.waits||(this.attempts=1,this.hurry())}async start(e){try{let n=await this.
searcher.first(e);if(this.setCurrent(n),e.throwIfAborted(),n.error)throw n.error;this.since=S(),this.#n=xs(this),this.#t.
follow(n),this.events.emit("connected",this.place),this.linked(),this.moveIfDue()}catch(n){throw this.tokens.stop(),this.
current?.close(),n}}setCurrent(e){super.setCurrent(e),this.since&&this.#t.follow(e)}moveIfDue(){let{current:e}=this;this.#e||
this.over||!e?.alive||(e.drains?this.run(n=>ft(this,e,"drain",n)):e.token!==this.tokens.token&&this.run(n=>ft(this,e,"to\
ken",n)))}get idle(){let{current:e,merger:n}=this;return!this.#e&&!this.over&&e?.alive===!0&&!e.drains&&(!n||n.done(S()))}run(e){
this.#e?.abort();let n=new AbortController;this.#e=n,e(n.signal).then(()=>{this.#e===n&&(this.#e=void 0,this.current?.alive&&
this.moveIfDue())},o=>{this.#e===n&&this.finish(be(o,"internal","a fault of this client"))})}draining(e){this.searcher.drained.
add(e.edge),e===this.current&&this.moveIfDue()}errorLine(e,n){let[,o,s]=/^PUB:([^:]+):(.+)$/s.exec(n)??[];e==="slow_cons\
umer"?this.events.emit("slowConsumer",{dropped:Number(n)}):e==="egress_limited"?this.events.emit("egressLimited",{delay:Number(
n)*1e3}):o&&s&&e!=="broker_unavailable"?this.events.emit("publishError",{tenant:o,channel:s,code:e}):this.events.emit("e\
dgeError",{code:e,detail:n})}roundTrip(e){this.rtt=e,this.events.emit("roundTrip",{rtt:e})}silent(e){let{current:n}=this;
return e===this.next&&this.tentative&&S()-e.lastByte>=Hl&&e.fail(new v("timeout","the edge does not answer")),e!==n||this.#e||
this.gate||this.over||this.reconnecting||!this.since||n.drains?!1:(this.suspected=e,this.trail?.hold(!0),this.searcher.noteSilent(
e),this.run(o=>Ns(this,e,o)),!0)}woke(e){e===this.suspected&&(this.searcher.noteSilent(e,!0),this.#e?.abort(),this.#e=void 0,
this.next?.close(),this.next=void 0,this.keepCurrent(),this.events.emit("recovered",{...this.place,away:0}),this.openGate(
void 0),this.moveIfDue())}lost(e,n){let o=e.token===this.tokens.token,s=/_not_allowed$|^token_revoked$/.test(n.code)||n.
code==="token_expired"&&!this.tokens.provided,i=e===this.next&&this.suspected!==void 0;if(s&&o&&!i)return this.finish(n);
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
void 0,this.#n=this.#n+1&this.#t.length-1,this.#o--,e}clear(){this.#t=new Array(16),this.#n=this.#o=0}};var Wl=1e3,fn=class{tenant;pattern;history;ended;#e;#t;#n;#o=[];#r=!1;#s;#i;#a=0;#l=-1/0;#d;#c;#u;constructor(e,n,o,s){this.
tenant=e,this.pattern=n,this.#e=o,this.#t=s,this.#n=new pn(s.queue);let{from:i}=s;this.history=i===void 0?void 0:new Lt(
i),i?.includes(".")&&!i.startsWith("last")&&(this.#c=this.#u=i),this.ended=new Promise(a=>{this.#i=a})}get position(){return this.#n.
size===0?this.#c:this.#u}async unsubscribe(){this.end(void 0),await this.#e.leave(this)}[Symbol.asyncIterator](){if(this.#t.
onMessage)throw new v("bad_option","a subscription with a callback cannot be iterated");let e=!1;return{next:()=>{if(e)return Promise.
resolve({done:e,value:void 0});let n=this.#n.shift();return n?(this.#u=n.position??this.#u,this.history?.paused&&this.#n.
size*2<=this.#t.queue&&this.#e.wasRead(this),Promise.resolve({done:!1,value:n})):this.#r?(e=!0,this.#s?Promise.reject(this.#s):
Promise.resolve({done:e,value:void 0})):new Promise((o,s)=>{this.#o.push({resolve:o,reject:s})})},return:async()=>(e=!0,
await this.unsubscribe(),{done:e,value:void 0})}}#p(e){let{onMessage:n}=this.#t;if(n){try{let s=n(e);s instanceof Promise&&
s.catch(nn)}catch(s){nn(s)}return!0}let o=this.#o.shift();return o?.resolve({done:!1,value:e}),o!==void 0}pushStored(e){
if(this.#r)return!0;let n=this.#p(e);return!n&&this.#n.full?(this.#f(),!0):(this.#c=e.position,n?this.#u=e.position:this.#n.
push(e),!this.#n.full||this.#t.queuePolicy==="end")}reach(e){this.#c=e}#f(){this.end(new v("queue_full","messages were n\
ot read in time",this)),this.#e.leave(this)}push(e){if(this.#r||this.#p(e))return;let{queuePolicy:n}=this.#t;if(!this.#n.
full)return this.#n.push(e);if(n==="end")return this.#f();n==="drop-oldest"&&(this.#n.shift(),this.#n.push(e)),this.#a++,
this.#d??=setTimeout(()=>this.#m(),Math.max(0,this.#l+Wl-S()))}#m(){clearTimeout(this.#d),this.#d=void 0,this.#l=S(),this.#a>
0&&this.#e.queueFull(this,this.#a),this.#a=0}end(e){if(!this.#r){this.#r=!0,this.#s=e,e||this.#n.clear(),this.#m();for(let n of this.#o.
splice(0))e?n.reject(e):n.resolve({done:!0,value:void 0});this.#i(e)}}};async function Eo(t,e){let n=typeof t=="string"?[t]:t;(!e||!n?.length)&&F("connect needs an address and options");let o=new un(
n.map(i=>Dt(i,e.allowPlaintext===!0)),e),{signal:s=new AbortController().signal}=e;return s.throwIfAborted(),await _e(o.
start(s),s),new hn(o)}var hn=class{#e;closed;constructor(e){this.#e=e,this.closed=e.closed}get edge(){return this.#e.place.
edge}get transport(){return this.#e.place.transport}get rtt(){return this.#e.rtt}on(e,n){return this.#e.events.on(e,n)}async subscribe(e,n,o={}){
let s=this.#e;Ze("the object of options",o,"onMessage history queue queuePolicy");let{onMessage:i}=o;i&&typeof i!="funct\
ion"&&F("onMessage must be a function");let a=new fn(ao(e),ys(n),s.subscriber,{...so(o,s.settings),onMessage:i,from:ms(o.
history,n)});return await s.subscriber.subscribe(a),a}async publish(e,n,o,s){let i=this.#e;s!==void 0&&Ze("the object of\
 options",s,"delivery confirm key");let{delivery:a="broadcast",confirm:l=!1,key:c}=s??{},u=to.indexOf(a);u<0&&F(`deliver\
y: allowed are ${to.join(", ")}`),typeof o!="string"&&o?.[Symbol.toStringTag]!=="Uint8Array"&&F("the payload must be a U\
int8Array or a string");let d={tenant:ao(e),channel:gs(n)};if(l){let h=Fe(c??"");return c!==void 0&&!(h.length>0&&h.length<=
64)&&F("a key has 1 to 64 bytes"),os(i,m=>no(d.tenant,d.channel,o,u,{id:m,key:h}),c!==void 0,d)}c!==void 0&&F("a key is \
for a publish that is confirmed");let p=no(d.tenant,d.channel,o,u||void 0);return i.publishConnection(),i.gate?new Promise(
(h,f)=>{i.gate?.push(()=>{try{h(i.publishConnection().publish(p,d))}catch(m){f(m)}})}):i.publishConnection().publish(p,d)}async flush(){
let e=this.#e;e.publishConnection(),e.gate&&await new Promise(n=>e.gate?.push(n)),await e.publishConnection().ping()}renewToken(){
return this.#e.renewToken()}retry(){this.#e.retry()}async close(){this.#e.finish(void 0),await this.closed}[Symbol.asyncDispose](){
return this.close()}};var Ls=500,ql=250;function Bs(t,e){let[n,o]=g({state:"off",note:""}),[s,i]=g(!1),[,a]=g(0),l=G(void 0),c=G({messages:[],
shown:[],received:0,held:0,timer:0,paused:!1}).current,u=de(()=>{c.timer=0,c.paused||(c.shown=[...c.messages].reverse(),
c.held=0),a(b=>b+1)},[c]),d=de(b=>{c.received++,c.held++,c.messages.push({number:c.received,at:Date.now(),channel:b.channel,
payload:Hr(b.payload),late:b.late}),c.messages.length>Ls&&c.messages.splice(0,c.messages.length-Ls),c.timer===0&&(c.timer=
window.setTimeout(u,ql))},[c,u]),p=de(()=>{let b=l.current;l.current=void 0,b?.end.abort(),b?.client?.close(),o({state:"\
off",note:""})},[]);$(()=>()=>{clearTimeout(c.timer),p()},[c,p]),$(()=>(addEventListener("pagehide",p),()=>removeEventListener(
"pagehide",p)),[p]);let h=de(async b=>{p();let k={query:b,end:new AbortController};l.current=k;let y=()=>l.current===k,T=D=>{
y()&&o(D)};T({state:"connecting",note:""});try{let D=await js(t,b,!1),te=await Eo(e,{transports:["websocket","webtranspo\
rt"],tokenProvider:async()=>{let{token:xe,expires_at:ce}=D??await js(t,b,!0);return D=void 0,{token:xe,expiresAt:ce}},signal:k.
end.signal});if(!y())return void te.close();k.client=te,zl(te,T),await te.subscribe(b.tenant,b.pattern,{onMessage:d}),T(
{state:"on",note:Js(te)})}catch(D){if(!y())return;p(),o({state:"off",error:`The tail did not start. ${mn(D)}`,note:""})}},
[t,e,d,p]),f=de(async(b,k,y)=>{let T=l.current;if(!T?.client)throw new Error("there is no connection; start the tail fir\
st");try{await T.client.publish(T.query.tenant,b,k,{delivery:y}),await T.client.flush()}catch(D){throw new Error(mn(D))}},
[]),m=()=>{c.messages=[],c.shown=[],c.received=0,c.held=0,a(b=>b+1)},w=()=>{c.paused=!c.paused,i(c.paused),u()},_=l.current?.
query.publish===!0;return{...n,error:n.error,messages:c.shown,received:c.received,held:c.held,paused:s,publishes:_,start:h,
stop:p,pause:w,clear:m,publish:f}}var Js=t=>`by ${t.transport==="websocket"?"WebSocket":"WebTransport"} at ${t.edge}`,js=(t,e,n)=>t.
call("POST","live-token",{body:e,background:n});function zl(t,e){let n=(s="")=>e({state:"on",note:`${Js(t)}${s}`}),o=s=>e(
{state:"broken",note:s});t.on("disconnected",({error:s})=>o(`The connection is lost: ${mn(s)} Messages of this time are \
missed.`)),t.on("suspect",()=>o("Nothing comes any more; another connection is tried.")),t.on("recovered",()=>n()),t.on(
"reconnected",({away:s})=>n(`, after ${(s/1e3).toFixed(1)} s without a connection`)),t.on("moved",()=>n()),t.on("slowCon\
sumer",({dropped:s})=>n(`; the edge dropped ${s} messages, since this page reads too slowly`)),t.on("egressLimited",()=>n(
"; messages come late, since there are more than the tail may receive")),t.on("linkDown",()=>n("; the edge has lost the \
other edges, and nothing comes from there")),t.on("linkUp",()=>n()),t.on("publishError",({channel:s,code:i})=>n(`; the e\
dge refused the message to ${s}: ${i}`)),t.on("subscriptionError",({code:s})=>o(`The edge refuses the subscription: ${s}\
.`)),t.on("edgeError",({code:s,detail:i})=>n(`; ${s} ${i}`)),t.on("closed",({error:s})=>{s&&e({state:"off",error:`The ta\
il has ended. ${mn(s)}`,note:""})})}var Gl={bad_tenant:"That is no legal name of a tenant.",bad_channel:"That is no lega\
l name of a channel.",bad_pattern:"That is no legal pattern.",disconnected:"There is no connection now.",unreachable:"Th\
e edge does not answer.",refused:"The edge refuses the connection, and the browser does not say why.",token_revoked:"Its\
 token was revoked.",token_expired:"Its token has expired.",permission_denied:"The token does not allow it.",payload_too_large:"\
The payload is too large for this edge."};function mn(t){return t instanceof v?t.cause instanceof q?K(t.cause):`${Gl[t.code]??
K(t)} (${t.code})`:K(t)}var Kl=[["text","text"],["json","JSON"],["hex","hex"]],Ql={off:["plain","stopped"],connecting:["warn","connecting"],on:[
"good","receiving"],broken:["bad","reconnecting"]};function Us({query:t}){let{api:e,session:n}=M(),o=H(),[s,i]=g(t.tenant??
""),[a,l]=g(t.pattern??"#"),[c,u]=g(!1),[d,p]=g("text"),[h,f]=g(),m=Bs(e,n.live_url||location.origin),[w,_]=Ql[m.state],
b=m.state!=="off",k=()=>{if(!ae(s))return f("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");if(a==="")return f(
"Name a pattern; # is every channel.");f(void 0),history.replaceState(null,"",I("live",{tenant:s,pattern:a})),m.start({tenant:s,
pattern:a,publish:c&&o})};return r(E,{children:[r(Z,{text:"Live"}),r("p",{class:"quiet",children:"Shows messages as they\
 come. Each use is noted by the audit hook."}),r("form",{class:"filters","aria-label":"Live messages",onSubmit:y=>{y.preventDefault(),
b||k()},children:[r(x,{label:"Tenant",value:s,onInput:y=>i(y.trim()),mono:!0,readOnly:b}),r(x,{label:"Pattern",value:a,onInput:y=>l(
y.trim()),mono:!0,readOnly:b,hint:"news.# for example"}),o&&!b&&r(ve,{label:"Allow a test publish",checked:c,onChange:u,
hint:"To channels that the pattern matches."}),r("div",{class:"buttons",children:[b?r("button",{type:"button",onClick:m.
stop,children:"Stop"}):r("button",{type:"submit",class:"primary",children:"Start"}),b&&r("button",{type:"button","aria-p\
ressed":m.paused,onClick:m.pause,children:m.paused?"Resume":"Pause"})]})]}),r(Ae,{text:h??m.error}),r("p",{role:"status",
"aria-label":"Connection",children:[r(N,{mood:w,children:_})," ",m.note]}),b&&m.publishes&&r(es,{tail:m}),r("section",{"\
aria-labelledby":"messages",children:[r("div",{class:"card-head",children:[r("h2",{id:"messages",children:"Messages"}),r(
"span",{class:"quiet",children:[O(m.received,"message")," came",m.received>m.messages.length?`; the last ${m.messages.length}\
 are kept`:"",m.paused&&m.held>0?`; ${O(m.held,"message")} since the pause not shown`:""]}),r(z,{label:"Payload as",value:d,
onInput:y=>p(y),options:Kl}),r("button",{type:"button",onClick:m.clear,children:"Clear"})]}),m.messages.length===0?r(j,{
children:r("p",{children:b?"Nothing has come yet. Messages appear when a client publishes to a channel of this pattern.":
"Name a tenant and a pattern, and press Start."})}):r(Zr,{messages:m.messages,format:d})]})]})}function Hs(t){let e=[],n=(o,s)=>{s!==void 0&&e.push(`	${o} ${s}`)};n("name",gn(t.name)),t.description&&n("description",
gn(t.description)),t.tenant_prefix&&n("tenant_prefix",t.tenant_prefix),t.allow_ip_masks?.length&&n("allow_ip_masks",t.allow_ip_masks.
join(" "));for(let o of["max_tokens","max_bytes","calls_per_second"])t[o]&&n(o,String(t[o]));return`master_token {env.MI\
LLRACE_MASTER_TOKEN} {
${e.join(`
`)}
}`}function gn(t){if(/^[\w.@~:/+-]+$/.test(t))return t;if(!/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069{}]/.
test(t))return/["\\]/.test(t)?t.includes("`")?void 0:`\`${t}\``:`"${t}"`}var Ws="Revoke the access tokens that it issued",qs="Their connections end at once. Otherwise they stay valid until they\
 expire.",zs=t=>`master-tokens/${encodeURIComponent(t.id)}`;function Gs({master:t,onClose:e,onDone:n}){let{api:o}=M(),[s,
i]=g(!1);return r(pe,{title:"Rotate the master token",submit:"Rotate",onClose:e,onConfirm:async()=>n(await o.call("POST",
`${zs(t)}/rotate`,{body:{revoke_tokens:s}})),children:[r("p",{children:[r(C,{text:t.name})," gets a new secret, which is\
 shown once. The old one stops working at once."]}),r(ve,{label:Ws,checked:s,onChange:i,hint:qs})]})}function Ks({master:t,
onClose:e,onDone:n}){let{api:o}=M(),[s,i]=g(!1),[a,l]=g("");return r(pe,{title:"Delete the master token",submit:"Delete",
danger:!0,onClose:e,onConfirm:async()=>{if(a!==t.name&&a!==t.id)throw new Error("what you typed is neither its name nor \
its id");let{revoked_tokens:u}=await o.call("DELETE",zs(t),{body:{revoke_tokens:s}});n(`${t.name} was deleted.${s?` ${O(
u,"access token")} revoked with it.`:""}`)},children:[r("p",{children:[r(C,{text:t.name})," stops working at once, for g\
ood. Its id is ",r(P,{text:t.id}),"."]}),r(ve,{label:Ws,checked:s,onChange:i,hint:qs}),r(x,{label:"Type the name to conf\
irm",value:a,onInput:l,hint:"Its id does as well."})]})}function Qs({made:t,rotated:e,onClose:n}){let o=[t.name,t.description??
""].some(s=>s!==""&&gn(s)===void 0);return r(Ct,{title:e?"The new secret":"The master token",label:"Master token",secret:t.
token,onClose:n,children:[r("p",{children:["It is the ",e?"new ":"","secret of ",r(C,{text:t.name}),".",e&&t.revoked_tokens?
` ${O(t.revoked_tokens,"access token")} that it issued revoked.`:""]}),r(Pt,{label:"For an environment",text:`MILLRACE_M\
ASTER_TOKEN=${t.token}`,copy:"Copy the environment line"}),r("details",{children:[r("summary",{children:"For a Caddyfile"}),
r("p",{children:["Only to keep it in the configuration in place of the store, in the block ",r("code",{children:"pubsub"}),
" of the global options, with the line above in the environment of Caddy. It is ",r("em",{children:"static"})," then: th\
e configuration counts, and this page shows it but cannot change it."]}),o&&r("p",{children:"Its name or description can\
not be written in a Caddyfile, so the line for it is left out."}),r(Pt,{label:"Lines for a Caddyfile",text:Hs(t),copy:"C\
opy the Caddyfile lines"})]})]})}function Co({master:t,onClose:e,onCreated:n,onSaved:o}){let{api:s}=M(),i=oe(),[a]=g(()=>Ar(t)),[l,c]=g(a),u=zn(l),d=f=>m=>c(
w=>({...w,[f]:m})),p=ut(l.prefix);return r(ye,{title:t?"Edit the master token":"New master token",onClose:e,children:r(ue,
{action:i,submit:t?"Save":"Create",onSubmit:async()=>{if(l.name==="")throw new Error("give it a name, so that others kno\
w what it is for");if(!Mr(l))throw new Error("correct the fields that are marked");if(!t)return n(await s.call("POST","m\
aster-tokens",{body:$t(l)}));let f=$r(a,l);Object.keys(f).length>0&&await s.call("PATCH",`master-tokens/${encodeURIComponent(
t.id)}`,{body:f}),o(l.name)},onCancel:e,children:[r(x,{label:"Name",value:l.name,onInput:d("name"),count:{now:Ce(l.name),
most:Wn,unit:"characters"},autoFocus:!0}),r(x,{label:"Description",value:l.description,onInput:d("description"),rows:2,count:{
now:Ce(l.description),most:qn,unit:"characters"}}),r(x,{label:"Tenant prefix",value:l.prefix,onInput:d("prefix"),mono:!0,
error:u.prefix,hint:p===""?"The app's namespace. Empty: every tenant of the overlay.":p===void 0?void 0:`Stored as ${p} \
– for tenants such as ${p}room`}),r(x,{label:"Address masks",value:l.masks,onInput:d("masks"),rows:2,mono:!0,error:u.masks,
hint:"Who may use it: one address or CIDR a line. Empty: every address."}),r("fieldset",{children:[r("legend",{children:"\
Quotas"}),r("p",{class:"help",children:"Left empty, the default of the edge applies."}),r("div",{class:"row",children:[r(
x,{label:"Access tokens",value:l.maxTokens,onInput:d("maxTokens"),error:u.maxTokens}),r(x,{label:"Bytes in the store",value:l.
maxBytes,onInput:d("maxBytes"),error:u.maxBytes}),r(x,{label:"Calls a second",value:l.calls,onInput:d("calls"),error:u.calls})]})]})]})})}var yn=25,Vl=3e4;function Vs(){let{api:t,notify:e}=M(),n=H(),[o,s]=g(),i=ee("masters",Vl,u=>t.get("master-tokens",u)),a=()=>s(
void 0),l=u=>{a(),e(u),i.refresh()},c=(u,d)=>{s({what:"secret",made:u,rotated:d}),i.refresh()};return r(E,{children:[r(Z,
{text:"Master tokens",children:n&&r("button",{type:"button",class:"primary",onClick:()=>s({what:"new"}),children:"New ma\
ster token"})}),r("p",{class:"quiet",children:"With a master token, the backend of an app issues access tokens to its cl\
ients."}),r(Y,{error:i.error,known:i.data!==void 0}),!i.data&&!i.error&&r(W,{what:"the master tokens"}),i.data&&r(Yl,{masters:i.
data.master_tokens??[],onOpen:s}),o?.what==="new"&&r(Co,{master:void 0,onClose:a,onCreated:u=>c(u,!1),onSaved:l}),o?.what===
"edit"&&r(Co,{master:o.master,onClose:a,onCreated:u=>c(u,!1),onSaved:u=>l(`${u} was saved.`)}),o?.what==="rotate"&&r(Gs,
{master:o.master,onClose:a,onDone:u=>c(u,!0)}),o?.what==="delete"&&r(Ks,{master:o.master,onClose:a,onDone:l}),o?.what===
"secret"&&r(Qs,{made:o.made,rotated:o.rotated,onClose:a})]})}function Yl({masters:t,onOpen:e}){let n=H(),[o,s]=g(""),[i,
a]=g(1);if(t.length===0)return r(j,{children:[r("p",{children:"There is no master token yet."}),r("p",{children:n?"Make \
one with the button above, and give its secret to the backend of your app.":"A manager can make one here."})]});let l=o.
toLowerCase(),c=t.filter(d=>`${d.id}
${d.name}
${d.tenant_prefix}`.toLowerCase().includes(l)),u=Math.min(i,Math.max(1,Math.ceil(c.length/yn)));return r(E,{children:[t.
length>8&&r("div",{class:"filters",children:[r(x,{label:"Find",value:o,onInput:s,hint:"By name, prefix or id."}),r("p",{
class:"quiet",role:"status",children:[c.length," of ",O(t.length,"master token")]})]}),r("div",{class:"cards",children:c.
slice((u-1)*yn,u*yn).map(d=>r(Zl,{master:d,onOpen:e},d.id))}),c.length===0&&r(j,{children:"None has this in its name, pr\
efix or id. Type less of it."}),r(ge,{page:u,more:u*yn<c.length,onPrevious:()=>a(u-1),onNext:()=>a(u+1)})]})}function Zl({
master:t,onOpen:e}){let n=H(),{name:o}=t;return r("article",{class:"card","aria-label":`Master token ${o}`,children:[r("\
div",{class:"card-head",children:[r("h2",{children:r(C,{text:o,most:64})}),t.static&&r(N,{children:"in the Caddyfile"})]}),
t.description&&r("p",{children:r(C,{text:t.description,most:200})}),r(se,{of:[["Tenant prefix",t.tenant_prefix?r(P,{text:t.
tenant_prefix},"prefix"):"none: every tenant"],["Address masks",r(ec,{masks:t.allow_ip_masks??[]},"masks")],["Quotas",tc(
t),"wide"],!t.static&&["Made",r(L,{at:t.created_at},"made")],["Id",r(P,{text:t.id},"id"),"wide"]]}),t.static?r("p",{class:"\
quiet",children:"To change it, edit its master_token block in the configuration, and reload."}):n&&r("div",{class:"butto\
ns",children:[r("button",{type:"button","aria-label":`Edit ${o}`,onClick:()=>e({what:"edit",master:t}),children:"Edit"}),
r("button",{type:"button","aria-label":`Rotate ${o}`,onClick:()=>e({what:"rotate",master:t}),children:"Rotate"}),r("butt\
on",{type:"button","aria-label":`Delete ${o}`,onClick:()=>e({what:"delete",master:t}),children:"Delete"})]})]})}function ec({
masks:t}){return t.length===0?r(E,{children:"none: every address"}):r("span",{class:"list",children:[t.slice(0,8).map(e=>r(
P,{text:e},e)),t.length>8&&r("span",{children:["and ",t.length-8," more"]})]})}function tc(t){let e=[t.max_tokens&&O(t.max_tokens,
"access token"),t.max_bytes&&`${U(t.max_bytes)} in the store`,t.calls_per_second&&`${A(t.calls_per_second)} calls a seco\
nd`].filter(n=>n);return e.length===0?"the edge's defaults":e.join(", ")}function Ys(t,e,n=180){let o=t.filter(c=>(c[e]??[]).length>0&&c.interval_seconds>0),s=new Array(n).fill(null);if(o.length===
0)return s;let i=nc(o.map(c=>c.end)),a=o.map(c=>Math.abs(c.end-i)>60?i:c.end),l=Math.min(...a);for(let[c,u]of o.entries()){
let d=Math.round(((a[c]??l)-l)/u.interval_seconds),p=u[e];for(let h=n-1;h>=0;h--){let f=p[p.length-1-d-(n-1-h)];if(f===void 0)
break;s[h]=(s[h]??0)+f}}return s}function nc(t){let e=[...t].sort((n,o)=>n-o);return e[Math.floor(e.length/2)]??0}function Po(t){
return t?.[t.length-1]??0}function Zs(t){let e=t.filter(o=>o!==null),n=e[e.length-1];if(n!==void 0)return{min:Math.min(...e),
now:n,max:Math.max(...e)}}function Ao(t){let e=new Map;for(let n of t)for(let[o,s]of Object.entries(n??{}))e.set(o,(e.get(
o)??0)+s);return[...e].sort((n,o)=>o[1]-n[1]||n[0].localeCompare(o[0]))}var Mo=40;function oc(t,e){let n="",o=!1;for(let[s,i]of t.entries()){if(i===null){o=!1;continue}let a=Mo-i/e*(Mo-2)-1;n+=
`${o?"L":"M"}${s} ${a.toFixed(1)}`,o=!0}return n}function ei({label:t,series:e,format:n}){let o=Zs(e);if(!o)return r("p",
{class:"quiet",children:"No figures yet. The first come within seconds."});let s=oc(e,o.max||1),i=`min ${n(o.min)}, now ${n(
o.now)}, max ${n(o.max)}`;return r("figure",{class:"chart",children:[r("svg",{viewBox:`0 0 ${e.length-1} ${Mo}`,preserveAspectRatio:"\
none",role:"img","aria-label":`${t}, the last 15 minutes: ${i}`,children:r("path",{d:s,class:"line"})}),r("figcaption",{
"aria-hidden":"true",children:i})]})}function ni(){let{api:t}=M(),{data:e,error:n}=ee("overview",5e3,s=>t.get("overview",s)),o=e?.edges??[];return r(E,{children:[
r(Z,{text:"Overview"}),r(Y,{error:n,known:e!==void 0}),e?r(rc,{edges:o}):!n&&r(W,{what:"the figures"})]})}function rc({edges:t}){
let e=t.filter(c=>c.answered&&c.status),n=e.flatMap(c=>c.samples??[]),o=c=>e.reduce((u,d)=>u+c(d),0),s=c=>Ao(e.map(u=>u.
recent?.[c]??void 0)),i=Ao(e.map(c=>c.status?.connections??void 0)),a=o(c=>c.status?.max_connections??0),l=o(oi);return r(
E,{children:[r(Ge,{edges:t,missing:["The figures leave it out.","The figures leave them out."]}),r("div",{class:"tiles",
children:[r(Io,{title:"Connections",value:A(l),chart:{samples:n,figure:"connections",format:A},note:r(E,{children:[i.map(
([c,u])=>r("span",{children:[ze(c)," ",A(u)]},c)),a>0&&r("span",{children:["of ",A(a)," at most"]})]})}),r(wn,{title:"Me\
ssages a second",figure:"messages_in",samples:n,note:"published by clients"}),r(wn,{title:"Deliveries a second",figure:"\
deliveries",samples:n,note:"to subscribers"}),r(wn,{title:"Drops a second",figure:"dropped",samples:n,note:"deliveries t\
hat were dropped"}),r(wn,{title:"Refusals a second",figure:"refused",samples:n,note:"ERR lines to clients"}),r(Io,{title:"\
Memory",value:U(o(c=>c.status?.memory_bytes??0)),chart:{samples:n,figure:"memory_bytes",format:U},note:r("span",{children:e.
length===1?"of the process":`of ${O(e.length,"process","processes")}`})}),r(ti,{title:"Token store",edges:e,state:c=>r(ct,
{status:c.status})}),r(ti,{title:"Broker",edges:e,state:c=>r(dt,{status:c.status})})]}),r("div",{class:"columns",children:[
r(_n,{title:"Dropped deliveries",counts:s("dropped"),none:"None was dropped."}),r(_n,{title:"Refusals by code",counts:s(
"refused"),none:"Nothing was refused."}),r(_n,{title:"Refused handshakes",counts:s("handshakes_refused"),none:"No client\
 was turned away."}),r(_n,{title:"Slow clients disconnected",counts:s("slow_disconnects"),none:"No client was too slow."})]}),
r("section",{"aria-labelledby":"by-edge",children:[r("h2",{id:"by-edge",children:"By edge"}),t.length===0?r(j,{children:r(
"p",{children:"No edge is known yet. This one appears within seconds."})}):r(ie,{label:"Figures by edge",columns:sc,rows:t,
keyOf:c=>c.id})]})]})}var $o=3;function ti(t){let{title:e,edges:n,state:o}=t;return r("section",{class:"card tile","aria\
-label":e,children:[r("h2",{children:e}),n.slice(0,$o).map(s=>r("div",{class:"state-line",children:[n.length>1&&r("p",{class:"\
quiet",children:r(C,{text:s.name,most:40})}),o(s)]},s.id)),n.length>$o&&r("p",{class:"quiet",children:["and ",n.length-$o,
" more, see below"]})]})}var oi=t=>Object.values(t.status?.connections??{}).reduce((e,n)=>e+n,0);function bn(t,e){return t.
answered&&t.samples?St(Po(t.samples[e])):"–"}var sc=[{label:"Edge",cell:t=>r(E,{children:[r(C,{text:t.name})," ",r(Et,
{edge:t}),!t.answered&&r(N,{mood:"bad",children:"no answer"})]})},{label:"Connections",number:!0,cell:t=>t.status?A(oi(t)):
"–"},{label:"Messages/s",number:!0,cell:t=>bn(t,"messages_in")},{label:"Deliveries/s",number:!0,cell:t=>bn(t,"deliveri\
es")},{label:"Drops/s",number:!0,cell:t=>bn(t,"dropped")},{label:"Refusals/s",number:!0,cell:t=>bn(t,"refused")},{label:"\
Memory",number:!0,cell:t=>t.status?U(t.status.memory_bytes):"–"},{label:"Token store",cell:t=>r(ct,{status:t.status})},
{label:"Broker",cell:t=>r(dt,{status:t.status})}];function Io({title:t,value:e,note:n,chart:o}){return r("section",{class:"\
card tile","aria-label":t,children:[r("h2",{children:t}),r("p",{class:"value",children:e}),r("p",{class:"note-line",children:n}),
r(ei,{label:t,series:Ys(o.samples,o.figure),format:o.format})]})}function wn({title:t,figure:e,samples:n,note:o}){let s=n.
reduce((i,a)=>i+Po(a[e]),0);return r(Io,{title:t,value:St(s),note:r("span",{children:o}),chart:{samples:n,figure:e,format:St}})}
function _n({title:t,counts:e,none:n}){return r("section",{class:"card reasons","aria-label":t,children:[r("h2",{children:t}),
r("p",{class:"quiet",children:"in the last 15 minutes"}),e.length===0?r("p",{children:n}):r("dl",{class:"counts",children:e.
map(([o,s])=>r("div",{children:[r("dt",{children:r("code",{children:o})}),r("dd",{children:A(s)})]},o))})]})}function ri({query:t,names:e,onAgain:n}){let{presence:o,among:s}=t,[i,a]=g({presence:o,among:s});$(()=>a({presence:o,among:s}),
[o,s]);let l=p=>h=>a(f=>({...f,[p]:h.trim()})),c=i.among.replace(/\*$/,""),u=c!==""&&!ae(c),d=i.presence!==""&&!e.includes(
i.presence)?[i.presence]:[];return r("search",{children:r("form",{class:"filters","aria-label":"Filter tenants",onSubmit:p=>{
if(p.preventDefault(),u)return;let h=I("presence",{...t,...i});h===I("presence",t)?n():location.hash=h},children:[r(z,{label:"\
In presence",value:i.presence,onInput:l("presence"),options:[["","all"],...[...e,...d].map(p=>[p,p])]}),r(x,{label:"Of t\
enant",value:i.among,onInput:l("among"),mono:!0,error:u?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0,
hint:"The whole name, or its beginning and *."}),r("div",{class:"buttons",children:[r("button",{type:"submit",class:"pri\
mary",children:"Filter"}),r("a",{class:"button",href:I("presence",{...t,presence:"",among:""}),children:"Clear"})]})]})})}var ic=100,ac=5e3;function si({query:t}){let e=G(null),[n,o]=g(0),{tenant:s}=t;return $(()=>{s!==""&&e.current?.focus()},
[s]),r("section",{"aria-labelledby":"members",children:[r("h2",{id:"members",tabIndex:-1,ref:e,children:"Members"}),r(lc,
{query:t,onAgain:()=>o(i=>i+1)}),ae(s)&&r(cc,{query:t},J({tenant:s,pattern:t.pattern,subject:t.subject,again:n}))]})}function lc({
query:t,onAgain:e}){let{tenant:n,pattern:o,subject:s}=t,[i,a]=g({tenant:n,pattern:o,subject:s}),[l,c]=g(!1);$(()=>a({tenant:n,
pattern:o,subject:s}),[n,o,s]);let u=p=>h=>a(f=>({...f,[p]:h})),d=i.tenant===""?l:!ae(i.tenant);return r("search",{children:r(
"form",{class:"filters","aria-label":"Who is present",onSubmit:p=>{if(p.preventDefault(),c(i.tenant===""),!ae(i.tenant))
return;let h=I("presence",{...t,...i});h===I("presence",t)?e():location.hash=h},children:[r(x,{label:"Tenant",value:i.tenant,
onInput:p=>u("tenant")(p.trim()),mono:!0,error:d?"A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.":void 0}),r(x,{
label:"Pattern",value:i.pattern,onInput:p=>u("pattern")(p.trim()),mono:!0,hint:"room.* for example; nothing: all."}),r(x,
{label:"Subject",value:i.subject,onInput:u("subject"),hint:"The whole subject."}),r("div",{class:"buttons",children:r("b\
utton",{type:"submit",class:"primary",children:"Show"})})]})})}function cc({query:t}){let{api:e}=M(),[n,o]=g([""]),{tenant:s,
pattern:i,subject:a}=t,l=`presences/members${J({tenant:s,pattern:i,subject:a,limit:ic,cursor:n[n.length-1]})}`,{data:c,stale:u,
error:d}=ee(l,ac,h=>e.get(l,h)),p=c?.members??[];return r(E,{children:[r(Y,{error:d,known:c!==void 0}),!c&&!d&&r(W,{what:"\
the members"}),c&&r("p",{children:[O(c.total.members,"member")," in ",O(c.total.channels,"channel")," of"," ",r(P,{text:i===
""?"#":i})," in ",r(P,{text:s}),", the oldest first.",a!==""&&r(E,{children:[" ","Only ",r(C,{text:a,most:128})," is lis\
ted."]})]}),p.length>0&&r(ie,{label:"Members",columns:uc,rows:p,keyOf:dc,busy:u}),c&&!u&&p.length===0&&n.length===1&&r(j,
{children:r("p",{children:a===""?"Nobody is present there now.":"This subject is not present there now."})}),r(ge,{page:n.
length,more:!u&&(c?.next_cursor??"")!=="",onPrevious:()=>o(n.slice(0,-1)),onNext:()=>o([...n,c?.next_cursor??""])})]})}var dc=({
channel:t,subject:e})=>`${t}
${e}`,uc=[{label:"Channel",cell:({channel:t})=>r(P,{text:t,most:120})},{label:"Subject",cell:({subject:t})=>r("a",{href:I(
"connections",{subject:t}),"aria-label":`Connections of ${Pe(t,60)}`,children:r(C,{text:t,most:60})})},{label:"Since",cell:({
since:t})=>r(L,{at:t})},{label:"Info",cell:({info:t})=>t?r(P,{text:JSON.stringify(t)}):r(E,{children:"–"})}];var pc=50,fc=8,hc=1e4;function ii({query:t}){let{api:e}=M(),[n,o]=g([""]),s={presence:t.presence??"",among:t.among??"",tenant:t.
tenant??"",pattern:t.pattern??"",subject:t.subject??""},i=J({presence:s.presence,tenant:s.among});$(()=>o([""]),[i]);let a=`\
presences${J({presence:s.presence,tenant:s.among,limit:pc,cursor:n[n.length-1]})}`,{data:l,stale:c,error:u,refresh:d}=ee(
a,hc,async w=>{try{return await e.get(a,w)}catch(_){if(_ instanceof q&&_.code==="no_presences")return"none";throw _}}),p=l===
"none"?void 0:l,h=p?.totals??[],f=h.reduce((w,_)=>w+_.tenants,0),m=p?.presences??[];return r(E,{children:[r(Z,{text:"Pre\
sence"}),r("p",{class:"quiet",children:"Who has said that they are in a channel, at all edges: each edge knows that of t\
he others."}),r(Y,{error:u,known:l!==void 0}),!l&&!u&&r(W,{what:"who is present"}),l==="none"&&r(mc,{}),p&&r(E,{children:[
r(gc,{totals:h}),r("section",{"aria-labelledby":"tenants",children:[r("h2",{id:"tenants",children:"By tenant"}),(i!==""||
f>fc)&&r(ri,{query:s,names:h.map(({presence:w})=>w),onAgain:d}),m.length>0&&r(ie,{label:"Where somebody is present",columns:bc(
s,h),rows:m,keyOf:yc,busy:c}),!c&&m.length===0&&n.length===1&&r(j,{children:i===""?r("p",{children:"Nobody is present no\
w. Clients appear here when they join a channel of a presence."}):r("p",{children:"Nobody is present there. Ask for less\
, or clear the filters."})}),r(ge,{page:n.length,more:!c&&(p.next_cursor??"")!=="",onPrevious:()=>o(n.slice(0,-1)),onNext:()=>o(
[...n,p.next_cursor??""])})]}),r(si,{query:s})]})]})}function mc(){return r(j,{children:[r("p",{children:"No presence is\
 configured at this edge: it does not know who is where."}),r("p",{children:["Clients may say that they are in the chann\
els of a presence:"," ",r("code",{children:"presence <name> { channels … }"})," in the block ",r("code",{children:"pub\
sub"})," of the Caddyfile. docs/configuration.md has its options."]})]})}function gc({totals:t}){return r("div",{class:"\
cards",children:t.map(e=>r("article",{class:"card","aria-label":`Presence ${e.presence}`,children:[r("div",{class:"card-\
head",children:r("h2",{children:r(C,{text:e.presence})})}),r(se,{of:[["Tenants",A(e.tenants)],["Members",A(e.members)],[
"At most of a tenant",A(e.max_members)]]})]},e.presence))})}var yc=({presence:t,tenant:e})=>`${t}:${e}`;function bc(t,e){
let n=new Map(e.map(o=>[o.presence,o.max_members]));return[{label:"Tenant",cell:({tenant:o})=>r(P,{text:o})},{label:"Pre\
sence",cell:({presence:o})=>r(C,{text:o})},{label:"Members",number:!0,cell:({presence:o,members:s})=>`${A(s)} of ${A(n.get(
o)??s)}`},{label:"Who",cell:({tenant:o})=>r("a",{class:"button","aria-label":`Show who is present in ${o}`,href:I("prese\
nce",{presence:t.presence,among:t.among,tenant:o}),children:"Show"})}]}var ai=[{name:"overview",label:"Overview",component:ni},{name:"master-tokens",label:"Master tokens",component:Vs},{name:"\
tokens",label:"Access tokens",component:Rr},{name:"connections",label:"Connections",component:jr},{name:"presence",label:"\
Presence",component:ii},{name:"live",label:"Live",component:Us,tail:!0},{name:"histories",label:"Histories",component:Vr},
{name:"edges",label:"Edges",component:Br}];var vn=class extends je{state={};static getDerivedStateFromError(e){return{error:e}}render(){return this.state.error===void 0?
this.props.children:r("div",{role:"alert",class:"errors",children:[r("p",{class:"note bad",children:["This screen cannot\
 be shown, which is a fault of the console. ",K(this.state.error)]}),r("button",{type:"button",onClick:()=>this.setState(
{error:void 0}),children:"Try again"})]})}};function li(t){let{base:e,session:n,links:o,current:s,result:i,ended:a,children:l}=t;return r(E,{children:[r("a",{class:"\
skip",href:"#main",onClick:c=>{c.preventDefault(),document.getElementById("main")?.focus()},children:"Skip to the conten\
t"}),r("header",{class:"top",children:[r("a",{class:"brand",href:I("overview"),children:[r("img",{src:new URL("icon.svg",
e).href,alt:"",width:"28",height:"28"}),r("span",{children:"Millrace"})]}),r("nav",{"aria-label":"Screens",children:r("u\
l",{children:o.map(({screen:c,label:u})=>r("li",{children:r("a",{href:I(c),...c===s?{"aria-current":"page"}:{},children:u})},
c))})}),r("div",{class:"who",children:[r("span",{children:[r(C,{text:n.operator??"",most:32})," ",r("span",{class:"quiet",
children:n.role})]}),r("button",{type:"button",onClick:t.onSignOut,children:"Sign out"})]})]}),r("main",{id:"main",tabIndex:-1,
children:[a&&r("p",{class:"note warn with-button",children:[r("span",{children:"Your session has ended, so nothing here \
is up to date."}),r("button",{type:"button",onClick:t.onSignIn,children:"Sign in"})]}),r("div",{role:"status","aria-labe\
l":"Result",class:"result",children:i&&r("p",{class:"note good with-button",children:[r("span",{children:i}),r("button",
{type:"button",class:"link",onClick:t.onDismiss,children:"Dismiss"})]})}),l]})]})}async function Oo(t,e,n){try{return await t.call("POST",e,{body:n,bare:!0})}catch(o){throw o instanceof q&&o.retryAfter>
0&&o.code==="too_many_attempts"?new Error(`too many attempts to sign in; try again in ${Fn(o.retryAfter*1e3)}`):o}}function ci({
api:t,session:e,onSession:n}){let[o,s]=g(""),[i,a]=g(""),l=oe(),c=e.auth==="caddy",u=async()=>{if(!c&&(o===""||i===""))throw new Error(
"type your name and your password");try{n(await Oo(t,"session",c?{}:{name:o,password:i}))}finally{a("")}};return r("main",
{id:"main",class:"sign-in",children:r("section",{class:"card",children:[r("h1",{tabIndex:-1,children:"Sign in"}),r("p",{
class:"quiet",children:"The console of this Millrace edge is for its operators."}),c&&e.user?r("p",{children:["The authe\
ntication in front of the console names you ",r(C,{text:e.user}),"."]}):null,c&&!e.user?r("p",{class:"note warn",children:"\
The authentication in front of the console names nobody. Sign in there, then load this page again."}):null,r(ue,{action:l,
submit:"Sign in",onSubmit:u,children:!c&&r(E,{children:[r(x,{label:"Name",value:o,onInput:s,autoComplete:"username",autoFocus:!0}),
r(x,{label:"Password",type:"password",value:i,onInput:a,autoComplete:"current-password"})]})})]})})}function di({api:t,gate:e,
session:n,onSession:o,onLeave:s}){let{question:i}=e;return i?r(wc,{api:t,gate:e,session:n,onSession:o,onLeave:s,again:i===
"sign-in"},i):null}function wc({api:t,gate:e,session:n,onSession:o,onLeave:s,again:i}){let[a,l]=g(""),c=oe(),u=n.auth===
"caddy",d=n.operator??"";return r(ye,{title:i?"Your session has ended":"Type your password again",onClose:()=>e.answer(!1),
children:[r("p",{children:i?"Sign in to go on. What you have typed is kept, and what you asked for is done then.":"Maste\
r tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}),r(ue,{action:c,
submit:i?"Sign in":"Confirm",onSubmit:async()=>{if(!u&&a==="")throw new Error("type your password");let h;try{i?h=await Oo(
t,"session",u?{}:{name:d,password:a}):h=await Oo(t,"session/confirm",{password:a})}catch(f){if(l(""),!i&&f instanceof q&&
f.code==="no_session")return void e.signIn();throw f}o(h),e.answer(!0)},onCancel:()=>e.answer(!1),extra:i&&r("button",{type:"\
button",class:"link",onClick:s,children:"Sign in as somebody else"}),children:[r(x,{label:"Name",value:d,onInput:()=>{},
readOnly:!0,autoComplete:"username"}),!u&&r(x,{label:"Password",type:"password",value:a,onInput:l,autoComplete:"current-\
password",autoFocus:!0})]})]})}function ui({base:t,takeActivity:e}){let[,n]=g(0),[o,s]=g(),[i,a]=g(),[l,c]=g(""),u=at(()=>new xt(()=>n(y=>y+1)),[]),d=at(
()=>new kt({base:new URL("api/",t),gate:u,takeActivity:e}),[t,u,e]),p=vc(),h=de(()=>{a(void 0),d.get("session",{bare:!0}).
then(s,y=>a(K(y)))},[d]);$(h,[h]);let f=ai.filter(({tail:y})=>!y||o?.tail===!0),m=f.find(({name:y})=>y===p.screen)??f[0];
$(()=>{c(""),document.title=o?.signed_in?`${m?.label} – Millrace console`:"Sign in – Millrace console";let{activeElement:y}=document;
y instanceof HTMLInputElement||document.querySelector("h1")?.focus()},[m?.name,o?.signed_in]);let w=y=>{s(y),u.opened()},
_=()=>{u.answer(!1),s(y=>y&&{auth:y.auth,signed_in:!1,...y.user?{user:y.user}:{}})},b=async()=>{try{let y=await d.call("\
DELETE","session",{bare:!0});u.opened(),s(y)}catch(y){y instanceof Error&&"code"in y&&y.code==="no_session"?_():c(`Signi\
ng out failed: ${K(y)} You are still signed in.`)}};if(!o)return r(_c,{error:i,onRetry:h});if(!o.signed_in)return r(ci,{
api:d,session:o,onSession:w});let k=m?.component;return r(Ln.Provider,{value:{api:d,session:o,base:t,notify:c},children:[
r(li,{base:t,session:o,links:f.map(({name:y,label:T})=>({screen:y,label:T})),current:m?.name??"",result:l,ended:u.ended,
onSignIn:()=>{u.signIn()},onSignOut:()=>{b()},onDismiss:()=>c(""),children:k&&r(vn,{children:r(k,{query:p.query})},`${m.
name} ${o.operator}`)}),r(di,{api:d,gate:u,session:o,onSession:w,onLeave:_})]})}function _c({error:t,onRetry:e}){return r(
"main",{id:"main",class:"sign-in",children:[r("h1",{children:"Millrace console"}),r("p",{role:"status",children:t?"":"Lo\
ading…"}),r("div",{role:"alert",children:t&&r(E,{children:[r("p",{class:"note bad",children:t}),r("button",{type:"butt\
on",class:"primary",onClick:e,children:"Try again"})]})})]})}function vc(){let[t,e]=g(()=>Dn(location.hash));return $(()=>{
let n=()=>e(Dn(location.hash));return addEventListener("hashchange",n),()=>removeEventListener("hashchange",n)},[]),t}var kc=new URL(".",import.meta.url),Ro=!0;for(let t of["keydown","pointerdown","pointermove","wheel"])addEventListener(t,
()=>Ro=!0,{capture:!0,passive:!0});var xc=()=>{let t=Ro;return Ro=!1,t},pi=document.getElementById("app");pi&&zo(r(ui,{base:kc,
takeActivity:xc}),pi);
