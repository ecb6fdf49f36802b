import type { Connection } from "./connection.js";
import { MillraceError } from "./errors.js";
import type { MoveReason } from "./events.js";
import type { Readers } from "./interests.js";
import { Merger } from "./merger.js";
import type { Mover } from "./mover.js";
import { backOff, now, sleep, throwIfAborted, within } from "./timers.js";

const OTHERS = 250; // ms until other edges know of a subscription
const TIMEOUT = 2000; // ms for the answers of the edge that is left

/**
 * move goes on to the next connection without a loss or a copy (docs/decisions/0008-clients.md).
 * With one that is ready nobody is told before the current one is left; if it is lost before, the client stays.
 */
export async function move(
  s: Mover,
  from: Connection<Readers>,
  reason: MoveReason,
  signal: AbortSignal,
  ready?: Connection<Readers>,
): Promise<void> {
  // Notes of the last move would count for this one's current connection.
  while (s.merger && !s.merger.done(now())) await sleep(50, signal);
  s.merger = new Merger();
  s.both = true;
  const may = ready !== undefined;
  s.tentative = may;
  const { place } = s;
  let told = false;
  const tell = (): void => {
    if (!told) s.events.emit("moving", { ...place, reason });
    told = true;
  };
  if (!may) tell();

  let attempt = 0;
  for await (const edge of s.searcher.order(from.edge, reason !== "drain", signal)) {
    let to = ready;
    ready = undefined;
    if (!to) {
      await s.pause(Math.max(backOff(++attempt, s.settings), s.searcher.wait(edge)), signal);
      try {
        to = await s.searcher.open(edge, signal);
      } catch (err) {
        throwIfAborted(signal);
        if (!(err instanceof MillraceError) || s.searcher.hopeless(edge, err, true)) throw err;
        continue;
      }
    }
    if (signal.aborted) return void to.close();
    if (to.alive) {
      s.next = to;
      s.merger.joined(now());
      s.merger.release(); // of the next connection before; the current one has delivered the same
      const restored = s.restore(to);
      if (s.tentative) to.ping().catch(() => {}); // its silence is noticed
      await restored;
    }
    if (s.tentative) {
      throwIfAborted(signal);
      if (s.next !== to) return s.keepCurrent();
      s.tentative = false;
    }
    if (!to.alive) continue; // nobody was told
    await leave(s, from, to, tell, signal);
    throwIfAborted(signal);
    if (s.current !== to) {
      if (may) return s.keepCurrent();
      continue; // it is lost: another one
    }
    if (to.alive) {
      tell(); // the current one was lost before
      s.since = now();
      s.events.emit("moved", { ...s.place, reason });
    }
    return;
  }
}

// leave leaves the current connection, unless one of the two is lost before; tell is called when it begins to.
async function leave(
  s: Mover,
  from: Connection<Readers>,
  to: Connection<Readers>,
  tell: () => void,
  signal: AbortSignal,
): Promise<void> {
  const both = (): boolean => s.next === to && s.current === from;
  if (!both()) return;
  s.gate ??= [];
  const handled = within(TIMEOUT, from.ping()).then(() => {
    if (both()) s.openGate(to);
  });
  // One that is behind may have to deliver what the next one was too late for.
  let n = 3;
  do await sleep(OTHERS, signal);
  while (--n && s.merger?.behind);
  await within(TIMEOUT, Promise.all([...s.subscriber.asking, ...(s.presences?.asking ?? [])])); // of what came since then
  for (let wait = TIMEOUT; wait > 0 && both() && s.presences && !s.presences.hasSynced(to); wait -= OTHERS)
    await sleep(OTHERS, signal);
  while (both() && to.postponed.size > 0) await sleep(OTHERS, signal);
  if (!both()) return;
  tell();
  s.leaving = true;
  const left = [...from.asked].map((name) => from.leave(name));
  await within(TIMEOUT, from.ended, Promise.allSettled([...left, from.ping(), from.confirms?.idle()]));
  await handled;
  if (both()) s.promote();
  s.leaving = false;
}
