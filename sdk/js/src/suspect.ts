import type { Connection } from "./connection.js";
import { MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import { Merger } from "./merger.js";
import type { Mover } from "./mover.js";
import { backOff, now, sleep, throwIfAborted } from "./timers.js";

const BESIDE = 500; // ms until the second transport starts beside the first

/**
 * suspect finds a connection that takes over from one that brings nothing
 * (docs/decisions/0018-suspicion.md). It is stopped when that brings something, or ends.
 */
export async function suspect(s: Mover, from: Connection<Readers>, signal: AbortSignal): Promise<void> {
  s.events.emit("suspect", s.place);
  s.gate ??= [];
  // Notes of a move would count for this next connection.
  while (s.merger && !s.merger.done(now())) await sleep(50, signal);
  s.merger = new Merger();
  s.both = s.tentative = true;

  let attempt = 0;
  for await (const edge of s.searcher.order(from.edge, false, signal)) {
    await s.pause(Math.max(backOff(++attempt, s.settings), s.searcher.wait(edge)), signal);
    let to: Connection<Readers>;
    try {
      to = await s.searcher.open(edge, signal, { fallbackAfter: BESIDE });
    } catch (err) {
      throwIfAborted(signal);
      if (err instanceof MillraceError) continue; // even a final refusal: the current one may be back
      throw err;
    }
    if (signal.aborted) return void to.close();
    if (!to.alive) continue; // nobody was told
    s.next = to;
    s.merger.joined(now());
    const restored = s.restore(to);
    to.ping().catch(() => {}); // its silence is noticed, too
    await restored;
    throwIfAborted(signal);
    if (s.next === to) return s.takeOver(from, to);
  }
}
