import type { Confirmation, Names } from "./confirms.js";
import type { Connection } from "./connection.js";
import { disconnected, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import type { SessionState } from "./state.js";
import { abortable, backOff, sleep, throwIfAborted } from "./timers.js";

const LONGEST = 100_000; // ms; an edge knows keys for 2 minutes

// Refusals that may pass, of a publish whose outcome is unknown: a repeat may find it stored.
const PASSING = new Set(["unconfirmed", "history_unavailable", "try_later"]);

let lastId = 0;

/**
 * Line has the publishes of a client that wait for a connection, the oldest first, by their ids. One that was
 * sent already and was lost goes before those that came while that was not known: what is written stays in order.
 */
class Line {
  readonly #ids: number[] = [];
  readonly #turns = new Map<number, () => void>();

  /** enter says whether it is the turn of a publish. Whoever is told no waits for turn. */
  enter(id: number): boolean {
    let at = this.#ids.length;
    while (at > 0 && (this.#ids[at - 1] as number) > id) at--;
    if (this.#ids[at - 1] !== id) this.#ids.splice(at, 0, id);
    return this.#ids[0] === id;
  }

  turn(id: number): Promise<void> {
    return new Promise((resolve) => void this.#turns.set(id, resolve));
  }

  leave(id: number): void {
    const at = this.#ids.indexOf(id);
    if (at >= 0) this.#ids.splice(at, 1);
    this.#turns.delete(id);
    this.#turns.get(this.#ids[0] as number)?.();
  }
}

const lines = new WeakMap<SessionState, Line>();

/**
 * publishConfirmed publishes a frame, which encode makes with an id, and resolves with its position.
 * With a key it is repeated while it is not known whether it was stored. Once that is so, the error is
 * `outcome_unknown`, whatever comes later: that a repeat is refused says nothing of what was sent before.
 */
export async function publishConfirmed(
  s: SessionState,
  encode: (id: number) => Uint8Array<ArrayBuffer>,
  key: Uint8Array,
  toOne: boolean,
  about: Names,
): Promise<Confirmation> {
  const keyed = key.length > 0;
  lastId = (lastId + 1) >>> 0;
  const id = lastId;
  const frame = encode(id);
  let unknown = false;
  const line = lines.get(s) ?? new Line();
  lines.set(s, line);
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(disconnected()), LONGEST);
  let c: Connection<Readers> | undefined;
  try {
    for (let attempt = 2; ; attempt++) {
      c = await usable(s, line, id, keyed, toOne, over.signal, about);
      try {
        const answer = send(c, frame, id, about);
        line.leave(id);
        return await abortable(answer, over.signal);
      } catch (err) {
        const { code } = err as MillraceError;
        const lost = code === "disconnected"; // also when it is over
        unknown ||= lost || code === "unconfirmed";
        throwIfAborted(over.signal);
        if (!(unknown && keyed && (lost || PASSING.has(code)))) throw err;
        if (!lost) await sleep(backOff(attempt, s.settings), over.signal);
      }
    }
  } catch (cause) {
    if (!unknown) throw cause;
    throw new MillraceError("outcome_unknown", "no edge has said whether the message is stored", { ...about, cause });
  } finally {
    clearTimeout(timer);
    line.leave(id);
    c?.confirms?.settle(id);
  }
}

async function send(
  c: Connection<Readers>,
  frame: Uint8Array<ArrayBuffer>,
  id: number,
  about: Names,
): Promise<Confirmation> {
  if (!c.alive || !c.confirms) throw disconnected();
  const answer = c.confirms.add(id, frame.length, about);
  c.send(frame);
  return answer;
}

// usable returns the connection that publishes go to, when it is known that the edge confirms them. It
// is at once there, if that is known already: publishes go in order. Without a connection it waits for
// one if wait is true.
async function usable(
  s: SessionState,
  line: Line,
  id: number,
  wait: boolean,
  toOne: boolean,
  signal: AbortSignal,
  about: Names,
): Promise<Connection<Readers>> {
  for (;;) {
    if (s.over) throw s.over;
    const first = line.enter(id);
    if (s.held) {
      await abortable(Promise.resolve(s.whenOpen(() => {})), signal);
      continue;
    }
    const c = s.out;
    if (!c?.alive) {
      if (!wait) throw disconnected();
      await abortable(s.changed(), signal);
    } else if (c.features === undefined) await abortable(c.featured, signal);
    else if (!c.features.includes("history") && !(toOne && c.features.includes("work_queue")))
      throw new MillraceError("no_history", "the edge has no histories, and confirms nothing", about);
    else if (first) return c;
    else await abortable(line.turn(id), signal);
  }
}
