import { MillraceError } from "./errors.js";

// near says whether at most k letters must be added, left out or changed to make one name of the other.
const near = (a: string, b: string, k: number): boolean => {
  if (k < 0 || !a || !b) return a.length + b.length <= k;
  const [c, d] = [a.slice(1), b.slice(1)];
  return (a[0] === b[0] && near(c, d, k)) || near(c, b, k - 1) || near(a, d, k - 1) || near(c, d, k - 1);
};

/** checkName refuses a name that is none of the allowed, which are separated by spaces; the text has the nearest. */
export function checkName(what: string, name: string, allowed: string): void {
  const names = allowed.split(" ");
  if (names.includes(name)) return;
  const given = String(name).slice(0, 32);
  const nearest = [0, 1, 2].map((k) => names.find((n) => near(n.toLowerCase(), given.toLowerCase(), k))).find(Boolean);
  const hint = nearest ? `. Did you mean ${JSON.stringify(nearest)}?` : "";
  throw new MillraceError("bad_option", `${what} ${JSON.stringify(given)}: allowed are ${names.join(", ")}${hint}`);
}

/** checkMembers refuses what is no object, and members that are none of the allowed, which are separated by spaces. */
export function checkMembers(what: string, value: unknown, allowed: string): void {
  if (typeof value !== "object" || value === null)
    throw new MillraceError("bad_option", `${what} must be an object: allowed are ${allowed.replaceAll(" ", ", ")}`);
  for (const name of Object.keys(value)) checkName(`${what} has no`, name, allowed);
}
