import type { Connection } from "./connection.js";
import { MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import type { SessionState } from "./state.js";
import { backOff, now, throwIfAborted } from "./timers.js";

const STEADY = 10_000; // ms; a connection that lasted this long was a good one

/** reconnect finds a connection in place of one that is lost, and restores the subscriptions. */
export async function reconnect(
  s: SessionState,
  lost: Connection<Readers>,
  error: MillraceError,
  signal: AbortSignal,
): Promise<void> {
  s.reconnecting = true;
  s.lose();
  for (const interest of s.subscriber.interests.all) interest.confirmed = false;
  s.events.emit("disconnected", { ...s.place, error });
  if (error.code === "token_expired" && lost.token === s.tokens.token) s.tokens.expire();
  if (now() - s.since > STEADY) s.attempts = 0;

  for await (const edge of s.searcher.order(lost.edge, false, signal)) {
    const attempt = ++s.attempts;
    const delay = Math.max(backOff(attempt, s.settings), s.searcher.wait(edge));
    s.events.emit("reconnecting", { attempt, delay });
    await s.pause(delay, signal);
    try {
      const c = await s.searcher.open(edge, signal);
      if (signal.aborted) return void c.close();
      s.setCurrent(c);
      await s.restore(c);
      throwIfAborted(signal);
      if (!c.alive) continue;
      s.reconnecting = false;
      s.since = now();
      const complete = !s.gaps && s.subscriber.interests.all.every((i) => i.history);
      return s.events.emit("reconnected", { ...s.place, away: now() - s.heard(lost), complete });
    } catch (err) {
      throwIfAborted(signal);
      if (!(err instanceof MillraceError) || s.searcher.hopeless(edge, err, false)) throw err;
    }
  }
}
