import { badOption } from "./bad-option.js";

interface Grant {
  readonly tenants: readonly string[];
  readonly subscribe?: readonly string[] | undefined;
  readonly history?: readonly string[] | undefined;
  readonly presence?: readonly string[] | undefined;
}

// normal returns the fixed tokens of a rule, and whether its tail is open (docs/protocol.md, Grants).
function normal(rule: string): readonly [tokens: string[], open: boolean] {
  const [, head = "", last, tail] = /^(?:(.*)\.)?(.*?)([>#]?)$/s.exec(rule) ?? [];
  const tokens = head ? head.split(".") : [];
  if (last) tokens.push(tail ? `${last}*` : last);
  if (tail === ">" || tokens.length === 0) tokens.push("*");
  return [tokens, tail !== ""];
}

const variants = (token: string): string[] => (token[0] === "(" ? token.slice(1, -1).split("|") : [token]);

const covers = (mine: string, theirs: string): boolean =>
  variants(theirs).every((b) =>
    variants(mine).some(
      (a) =>
        a === b ||
        (a === "?" ? !b.endsWith("*") : a.endsWith("*") && (a === "*" || b !== "?") && b.startsWith(a.slice(0, -1))),
    ),
  );

/** contains says whether one rule allows all that another one stands for. Neither has to be legal. */
export function contains(rule: string, other: string): boolean {
  const [mine, isOpen] = normal(rule);
  const [theirs, open] = normal(other);
  const fits = isOpen ? mine.length <= theirs.length : !open && mine.length === theirs.length;
  return fits && mine.every((token, i) => covers(token, theirs[i] as string));
}

// A tenant may have the prefix of the master token before it.
const shareTenant = ({ tenants = [] }: Partial<Grant>, other: Partial<Grant>): boolean =>
  tenants.some((a) => other.tenants?.some((b) => `.${a}`.endsWith(`.${b}`) || `.${b}`.endsWith(`.${a}`)));

/**
 * checkScope refuses rules of histories that no rule of subscribe contains, which would allow nothing, and says what
 * there is to be said of presences of the same kind, which are of use, but seldom meant.
 */
export function checkScope(grants: readonly Grant[], say: (text: string) => void): void {
  for (const [i, grant] of grants.entries()) {
    const within = grants.flatMap((other) => (shareTenant(grant, other) ? (other.subscribe ?? []) : []));
    for (const name of ["history", "presence"] as const)
      for (const [j, rule] of (grant[name] ?? []).entries()) {
        if (within.some((outer) => contains(outer, rule))) continue;
        const have = within.join(", ") || "nothing";
        const text = `grants[${i}].${name}[${j}] is ${rule}, which subscribe (${have}) does not contain: `;
        if (name === "history") badOption(`${text}nobody could read it; add it to subscribe, or narrow it`);
        say(`${text}the token shows who is there, and cannot subscribe; is that meant?`);
      }
  }
}
