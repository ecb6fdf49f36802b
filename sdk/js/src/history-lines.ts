// Lines of histories, and of publishes that are confirmed (docs/protocol.md, History).

/** A line that says how far an RSUB has come. */
export type Reached =
  | { kind: "OK:RSUB"; tenant: string; pattern: string; position: string; how: "complete" | "gap" }
  | { kind: "AT" | "GAP"; tenant: string; pattern: string; position: string; reason?: string };

/** A line of an edge with histories. */
export type HistoryLine = Reached | { kind: "OK:PUB"; id: number; position?: string };

const stored = /^(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::([a-z_]+))?$/;
const published = /^OK:PUB:(0|[1-9]\d{0,9})(?::([^:]+))?$/;

/** historyLine parses a line of the feature history; undefined: it is invalid. */
export function historyLine(line: string): HistoryLine | undefined {
  const [, kind, tenant = "", pattern = "", position = "", how] = stored.exec(line) ?? [];
  if (kind && isPosition(position)) {
    const about = { kind, tenant, pattern, position };
    if (kind === "OK:RSUB") return /^(complete|gap)$/.test(`${how}`) ? ({ ...about, how } as HistoryLine) : undefined;
    if (how === undefined || kind === "GAP") return (how ? { ...about, reason: how } : about) as HistoryLine;
  }
  const [, id, at] = published.exec(line) ?? [];
  if (id === undefined || Number(id) > 0xffffffff || (at !== undefined && !isPosition(at))) return undefined;
  return at === undefined ? { kind: "OK:PUB", id: Number(id) } : { kind: "OK:PUB", id: Number(id), position: at };
}

/** isPosition says whether text is a position: `<epoch>.<n>.<t>`, which has one spelling. */
export function isPosition(text: string): boolean {
  const [, n, t] = /^[0-9a-f]{16}\.(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,19})$/.exec(text) ?? [];
  return n !== undefined && t !== undefined && fits(n) && fits(t);
}

// fits says whether decimal digits are a number of 64 bits.
const fits = (digits: string): boolean => digits.length < 20 || digits <= "18446744073709551615";
