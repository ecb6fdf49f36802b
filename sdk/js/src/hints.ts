import type { Advice } from "./advice.js";

// near says whether at most k letters must be added, left out or changed to make one name of the other.
const near = (a: string, b: string, k: number): boolean => {
  if (k < 0 || !a || !b) return a.length + b.length <= k;
  const [c, d] = [a.slice(1), b.slice(1)];
  return (a[0] === b[0] && near(c, d, k)) || near(c, b, k - 1) || near(a, d, k - 1) || near(c, d, k - 1);
};

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

const TOKENS = "tokens of A-Z a-z 0-9 - _ ~ @ with a dot between them, at most 32 and 256 bytes";
const rules: { readonly [kind: string]: string } = {
  tenant: "a tenant has 1 to 128 of A-Z a-z 0-9 - _ ~ @ and dots",
  channel: `a channel has ${TOKENS}, and no wildcard; channelToken(text) makes a token of any text`,
  pattern: `a pattern has ${TOKENS}, * for one of them, a* for its beginning, and # or > for the rest, as the last`,
};

const kindOf = (value: unknown): string => (value === null ? "null" : typeof value);

export const hints: Advice = {
  nearest(given, names) {
    const nearest = [0, 1, 2]
      .map((k) => names.find((n) => near(n.toLowerCase(), given.toLowerCase(), k)))
      .find(Boolean);
    return nearest ? `. Did you mean ${JSON.stringify(nearest)}?` : "";
  },
  secret(given) {
    if (typeof given !== "string") return `this is no string (${kindOf(given)})`;
    return others.find(([is]) => is.test(given))?.[1] ?? "this is none";
  },
  rule: (kind) => rules[kind] as string,
};
