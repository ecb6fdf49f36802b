import { MillraceError } from "./errors.js";

// What else is given in place of a token, in the order in which to look.
const others: readonly (readonly [RegExp, string])[] = [
  [/^$/, "this is empty. Is a variable of the environment missing?"],
  [/^bearer/i, 'leave out "Bearer"'],
  [/^\s*[{[]/, "this is JSON. Pass its member token"],
  [/^(undefined|null|NaN)$|[${}<>%]|^your/i, "this is a placeholder that nothing has replaced"],
  [/\s/, "this one has white space, such as a line break from a file"],
  [/^MT_/, "this is a master token, which stays on the backend. Issue an access token with it"],
  [/^AT_/, "this is an access token. TokenAdmin needs the master token"],
];

/** checkedSecret refuses what cannot be a token before fetch or a browser repeats it in an error of its own. */
export function checkedSecret(token: unknown, kind = "access"): string {
  const prefix = kind === "access" ? "AT_" : "MT_";
  if (typeof token === "string" && token.startsWith(prefix) && /^[\w.~+-]{4,512}$/.test(token)) return token;
  const found = typeof token === "string" ? others.find(([is]) => is.test(token)) : undefined;
  const why = found?.[1] ?? `this is ${typeof token === "string" ? "none" : `no string (${kindOf(token)})`}`;
  throw new MillraceError("bad_option", `the ${kind} token begins with ${prefix}, as the edge gave it: ${why}`);
}

const kindOf = (value: unknown): string => (value === null ? "null" : typeof value);
