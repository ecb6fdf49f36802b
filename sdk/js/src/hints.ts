import type { Advice } from "./advice.js";
import { isChannel, isPattern, isTenant } from "./names.js";

// near says whether at most k letters must be added, left out or changed to make one name of the other.
const near = (a: string, b: string, k: number): boolean => {
  if (k < 0 || !a || !b) return a.length + b.length <= k;
  const [c, d] = [a.slice(1), b.slice(1)];
  return (a[0] === b[0] && near(c, d, k)) || near(c, b, k - 1) || near(a, d, k - 1) || near(c, d, k - 1);
};

const nearby = (given: string, names: readonly string[]): string[] =>
  [0, 1, 2].flatMap((k) => names.filter((n) => 2 * k < given.length && near(n.toLowerCase(), given.toLowerCase(), k)));

// What else is given in place of a token, in the order in which to look.
const others: readonly (readonly [RegExp, string])[] = [
  [/^$/, "this is empty. Is a variable of the environment missing?"],
  [/^bearer/i, 'leave out "Bearer"'],
  [/^\s*[{[]/, "this is JSON. Pass its member token"],
  [/^(undefined|null|NaN)$|[${}<>%]|^your/i, "this is a placeholder that nothing has replaced"],
  [/\s/, "this one has white space, such as a line break from a file"],
  [/^MT_/, "this is a master token, which stays on the backend. Issue an access token with it"],
  [/^AT_/, "this is an access token. A TokenAdmin needs a master token"],
];

const TOKENS = "tokens of A-Z a-z 0-9 - _ ~ @ with a dot between them, at most 32 and 256 bytes";
const rules: { readonly [kind: string]: readonly [rule: string, legal: (name: string) => boolean] } = {
  tenant: ["a tenant has 1 to 128 of A-Z a-z 0-9 - _ ~ @ and dots, and no wildcard", isTenant],
  channel: [`a channel has ${TOKENS}, and no wildcard; channelToken(text) makes a token of any text`, isChannel],
  pattern: [
    `a pattern has ${TOKENS}, * for one of them, a* for its beginning, and # or > for the rest, as the last`,
    isPattern,
  ],
};

export const hints: Advice = {
  nearest(given, names) {
    // A tenant may lack the prefix of its master token.
    const nearest = [...names.filter((n) => n.endsWith(`.${given}`)), ...nearby(given, names)][0];
    return nearest ? `. Did you mean ${JSON.stringify(nearest)}?` : "";
  },
  secret(given, kind) {
    const what = Object.prototype.toString.call(given).slice(8, -1);
    if (what === "Response") return "this is a Response. Return await response.json()";
    if (typeof given !== "string") return `there is none here (${what}). Is a return or await missing?`;
    if (new RegExp(`^${kind[0]}T_\\S+$`, "i").test(given)) return "this has characters that no token has";
    return others.find(([is]) => is.test(given))?.[1] ?? "this does not";
  },
  address(given, url) {
    if (url?.username || url?.password || url?.search || url?.hash)
      return "an address has no user, no query and no fragment: the token is an option";
    const text = `the address ${JSON.stringify(String(given).slice(0, 256))}`;
    if (typeof given !== "string" || !/^[a-z]+:\/\//i.test(given))
      return `${text} must be a URL with https:// or http://, such as "https://edge.example.com"`;
    if (!url) return `${text} is not a legal URL: look for spaces, and a port above 65535`;
    const { protocol, host, pathname } = url;
    if (/^wss?:$/.test(protocol) || /^\/w[st]$/.test(pathname))
      return `${text} is that of a socket: pass the origin, "${protocol.replace("ws", "http")}//${host}"`;
    if (!/^https?:$/.test(protocol)) return `${text} must begin with https:// or http://`;
    return `${text} would show the token on the way: use https://, or set allowPlaintext where that is safe`;
  },
  // That of fetch is a cause itself, and that of several addresses has only a code.
  cause(cause) {
    const { message, code, cause: below } = (cause ?? {}) as { message?: string; code?: string; cause?: unknown };
    return `${(below ? hints.cause?.(below) : "") || message || code || ""}`;
  },
  rule(kind, given) {
    const [rule, legal] = rules[kind] as (typeof rules)[string];
    const plain = given.replace(/^[/:.]+|[/:.]+$/g, "").replace(/[/:.]+/g, ".");
    const meant = kind === "pattern" ? plain.replace(/\+/g, "*") : plain;
    return `${rule}${legal(meant) ? `. Did you mean ${JSON.stringify(meant)}?` : ""}`;
  },
};
