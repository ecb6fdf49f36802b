import type { Confirmation } from "./confirms.js";
import type { Connection } from "./connection.js";
import { disconnected, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import type { SessionState } from "./state.js";
import { abortable, backOff, sleep } from "./timers.js";

const LONGEST = 100_000; // ms; an edge knows keys for 2 minutes

let lastId = 0;

/**
 * publishConfirmed publishes a frame, which encode makes with an id, and resolves with its position.
 * With a key it is repeated while it is not known whether it was stored.
 */
export async function publishConfirmed(
  s: SessionState,
  encode: (id: number) => Uint8Array<ArrayBuffer>,
  keyed: boolean,
  about: { tenant: string; channel: string },
): Promise<Confirmation> {
  lastId = (lastId + 1) >>> 0;
  const id = lastId;
  const frame = encode(id);
  let sent = false;
  const unknown = (cause?: unknown): MillraceError =>
    new MillraceError("outcome_unknown", "no edge has said whether the message is stored", { ...about, cause });
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(sent ? unknown() : disconnected()), LONGEST);
  let c: Connection<Readers> | undefined;
  try {
    for (let attempt = 2; ; attempt++) {
      c = await usable(s, keyed, over.signal, about);
      const answer = c.confirm(frame, id);
      sent = true;
      try {
        return await abortable(answer, over.signal);
      } catch (err) {
        over.signal.throwIfAborted();
        const { code } = err as MillraceError;
        if (code !== "disconnected" && (code !== "unconfirmed" || !keyed))
          throw new MillraceError(code, undefined, about);
        if (!keyed) throw unknown(err);
        if (code === "unconfirmed") await sleep(backOff(attempt, s.settings), over.signal);
      }
    }
  } catch (err) {
    // What was sent before may be stored, whatever keeps the next try from going out.
    const { code } = err as MillraceError;
    throw sent && (code === "disconnected" || code === "closed") ? unknown(err) : err;
  } finally {
    clearTimeout(timer);
    c?.forgetConfirm(id);
  }
}

// usable returns the connection that publishes go to, when it is known that the edge confirms them. It
// is at once there, if that is known already: publishes go in order. Without a connection it waits for
// one if wait is true.
async function usable(
  s: SessionState,
  wait: boolean,
  signal: AbortSignal,
  about: { tenant: string; channel: string },
): Promise<Connection<Readers>> {
  for (;;) {
    if (s.over) throw s.over;
    if (s.gate) {
      await abortable(new Promise<void>((resolve) => s.gate?.push(resolve)), signal);
      continue;
    }
    const c = s.publishOn ?? s.current;
    if (!c?.alive) {
      if (!wait) throw disconnected();
      await abortable(s.changed(), signal);
    } else if (c.features === undefined) await abortable(c.featured, signal);
    else if (c.features.includes("history")) return c;
    else throw new MillraceError("no_history", "the edge has no histories, and confirms nothing", about);
  }
}
