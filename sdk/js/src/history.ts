// Subscriptions with a history (docs/reference/typescript.md, Histories).
import { badOption } from "./bad-option.js";
import type { GapReason } from "./events.js";
import { isPosition } from "./history-lines.js";

/**
 * Where a subscription with a history begins: with what comes from now on; with the newest message of
 * each matching channel; with the newest messages, 1 to 100,000, of one channel, without a wildcard;
 * or behind a position.
 */
export type HistoryFrom = "now" | "last" | { readonly last: number } | { readonly after: string };

const MAX_LAST = 100_000;

/** checkedFrom returns what RSUB has for a history. */
export function checkedFrom(history: HistoryFrom, pattern: string): string {
  if (history === "now" || history === "last") return history;
  const { last, after } = history as { last?: unknown; after?: unknown };
  if (typeof after === "string" && last === undefined && isPosition(after)) return after;
  if (!Number.isInteger(last) || (last as number) < 1 || (last as number) > MAX_LAST || after !== undefined) {
    const given = JSON.stringify(history)?.slice(0, 99);
    badOption(`history is "now", "last", { last: 1 to ${MAX_LAST} } or { after: position }, not ${given}`);
  }
  if (/[*>#]/.test(pattern))
    badOption(
      `history: { last } is for one channel, and ${pattern} has a wildcard: begin with "last", or behind a position`,
    );
  return `last.${last}`;
}

/** A place in a history that a subscription has come to. */
type Position = string;

/**
 * A History is what an interest has if its subscription was made with one. One connection at a time
 * has it: the protocol lets the next one go on exactly behind the last message, so a move needs no
 * overlap, and nothing that tells messages apart.
 */
export class History {
  /** Where to begin on the next connection, as RSUB has it. */
  from: string;
  /** Which connection is being asked, or has it; its messages are taken once it is open. */
  on: object | undefined;
  open = false;
  /** The connection has no such history: it has a subscription without one. */
  plain = false;
  /** The queue is full: the rest stays at the edge. */
  paused = false;
  /** The token does not allow to read the past, on this connection. */
  forbidden = false;
  /** The edge of this connection has no history that contains the pattern. */
  unwanted = false;
  /** The connection has reported a gap at its place. */
  told = false;
  /** What was asked for does not go on behind what came last. */
  lossy = false;

  constructor(from: string) {
    this.from = from;
  }

  /** The position where it begins; undefined: it is not known. */
  get position(): Position | undefined {
    return isPosition(this.from) ? this.from : undefined;
  }

  /** Why the edge gives nothing of the past; undefined: it does. */
  get refusal(): GapReason | undefined {
    if (this.forbidden) return "no_right";
    return this.plain ? "no_history" : undefined;
  }

  /** begin is called before a connection is asked. */
  begin(on: object): void {
    this.on = on;
    this.open = this.forbidden = this.unwanted = this.told = false;
  }

  /** pause takes nothing more of the connection. */
  pause(): void {
    this.paused = true;
    this.on = undefined;
    this.open = false;
  }

  /** takes says whether a message or line with a position, of a connection, is for the application. */
  takes(from: object, position: Position): boolean {
    return this.on === from && this.open && !this.plain && !isBehind(position, this.from);
  }
}

// isBehind says whether the first of two positions is not behind the second one. The protocol rules
// that out; an edge that breaks it costs nothing then.
function isBehind(position: Position, from: string): boolean {
  const [epoch, n = ""] = position.split(".");
  const [last, m] = from.split(".");
  return epoch === last && m !== undefined && (n.length === m.length ? n <= m : n.length < m.length);
}
