import { publishConfirmed } from "./confirm.js";
import { Confirms } from "./confirms.js";
import type { Connection } from "./connection.js";
import type { MillraceError } from "./errors.js";
import type { GapReason } from "./events.js";
import type { Delivered } from "./frames.js";
import { checkedFrom, History, type HistoryFrom } from "./history.js";
import { historyLine, type Reached } from "./history-lines.js";
import type { Interest, Readers } from "./interests.js";
import { Message } from "./message.js";
import type { Histories as Part } from "./parts.js";
import type { SessionState } from "./state.js";
import { hasConfirmed } from "./subscriber.js";
import type { Subscription } from "./subscription.js";
import { backOff } from "./timers.js";

type Conn = Connection<Readers>;

const reasons = new Set<string>(["expired", "purged", "late", "lost", "behind", "no_right", "no_history"]);
const NEWEST = 1024; // positions of own publishes

/** Histories are the subscriptions with a history of a session, and its confirmed publishes. */
export class Histories implements Part {
  readonly #s: SessionState;
  readonly #own = new Map<string, Uint8Array>(); // the keys of the newest own publishes, by position

  constructor(s: SessionState) {
    this.#s = s;
  }

  begin(history: HistoryFrom, pattern: string): History {
    return new History(checkedFrom(history, pattern));
  }

  async publish(
    encode: (id: number) => Uint8Array<ArrayBuffer>,
    key: Uint8Array,
    toOne: boolean,
    about: { tenant: string; channel: string },
  ): Promise<string | undefined> {
    const position = await publishConfirmed(this.#s, encode, key, toOne, about);
    if (position !== undefined) {
      this.#own.set(position, key);
      if (this.#own.size > NEWEST) this.#own.delete(this.#own.keys().next().value as string);
    }
    return position;
  }

  confirms(): Confirms {
    return new Confirms();
  }

  line(from: Conn, line: string): void {
    const l = historyLine(line);
    if (l?.kind === "OK:PUB") from.confirms?.settle(l.id, (w) => w.resolve(l.position));
    else if (l) {
      this.#reached(from, l);
      if (l.kind === "OK:RSUB") from.resumed(`${l.tenant}:${l.pattern}`);
    }
  }

  async resume(c: Conn): Promise<void> {
    const { interests } = this.#s.subscriber;
    const all = interests.all.filter(({ history }) => history);
    await Promise.all(all.map((interest) => this.#s.subscriber.ask(c, interest)));
  }

  stored(from: Conn, m: Delivered<Readers>, position: string): void {
    const { tenant, channel, payload, route, sender, own = this.#own.get(position) } = m;
    const { patterns } = route;
    const pattern = patterns[0] as string;
    const { interests } = this.#s.subscriber;
    const interest = interests.of(tenant, pattern);
    const { history } = interest ?? {};
    if (!interest || !history?.takes(from, position)) return;
    history.from = position;
    const sub = interest.subs[0];
    const room = sub?.pushStored(
      new Message(tenant, channel, payload, pattern, patterns, false, position, sender, own, false, interests.unasked),
    );
    if (room === false && this.#s.subscriber.interests.has(interest)) {
      history.pause();
      void from.leave(interest.name);
    }
    this.#s.subscriber.confirm(interest); // a long past would fill the queue before anybody can read it
  }

  // #reached takes OK:RSUB, AT or GAP.
  #reached(from: Conn, line: Reached): void {
    const { kind, tenant, pattern, position } = line;
    const interest = this.#s.subscriber.interests.of(tenant, pattern);
    const { history } = interest ?? {};
    if (!interest || !history || history.plain) return;
    if (history.on !== from || !history.open) {
      // What a full queue leaves at the edge begins again later. But the edge also says so late
      // that something is missing among what the queue has, and may not find it again.
      if (kind === "GAP" && history.paused && from === this.#s.current)
        this.#gap(tenant, pattern, position, line.reason);
      return;
    }
    // A store that does not know the position goes back, as GAP says.
    if (kind === "GAP" || history.takes(from, position)) {
      history.from = position;
      for (const sub of interest.subs) sub.reach(position);
    }
    if (kind === "GAP") {
      history.told = true; // before what follows it; OK:RSUB says again that there was one
      this.#gap(tenant, pattern, position, line.reason);
    } else if (kind === "OK:RSUB") {
      this.#s.subscriber.confirm(interest);
      if (line.how === "gap" && !history.told) this.#gap(tenant, pattern, position);
      else if (history.lossy) this.#gap(tenant, pattern, undefined, history.refusal);
    }
  }

  #gap(tenant: string, pattern: string, before?: string, reason = "unknown"): void {
    this.#s.gaps = true;
    this.#s.events.emit("gap", {
      tenant,
      pattern,
      before,
      reason: reasons.has(reason) ? (reason as GapReason) : "unknown",
    });
  }

  wasRead(sub: Subscription): void {
    const interest = this.#s.subscriber.interests.of(sub.tenant, sub.pattern);
    const { current } = this.#s;
    if (!interest?.history || interest.history !== sub.history) return;
    interest.history.paused = false;
    if (current) void this.#s.subscriber.ask(current, interest);
  }

  // It waits until the edge has said what it knows, and until an earlier subscription to
  // the same pattern has ended: what comes of that is not this one's.
  async ask(c: Conn, interest: Interest, history: History): Promise<void> {
    const { name, tenant, pattern } = interest;
    if (history.paused) this.#s.gaps = true; // it is asked when there is room again: it is not complete so far
    if (history.paused || history.on === c) return;
    history.begin(c);
    for (let attempt = 2; ; ) {
      await c.featured;
      await c.ending.get(`UNSUB:${name}`);
      if (!c.alive || history.on !== c || !this.#s.subscriber.interests.has(interest)) return;
      const plain = !c.features?.includes("history") || history.unwanted;
      const from = history.forbidden ? "now" : history.from;
      const before = hasConfirmed(interest);
      // What comes without positions cannot be gone on behind.
      history.lossy = plain ? before || from !== "now" : history.forbidden || (before && from === "now");
      history.plain = plain;
      history.open = true;
      if (plain) history.from = "now";
      try {
        if (!plain) return await c.resume(name, from); // see reached
        await c.request("SUB", name);
        if (!this.#s.subscriber.interests.has(interest)) return;
        this.#s.subscriber.confirm(interest);
        if (history.lossy) this.#gap(tenant, pattern, undefined, history.refusal);
        return;
      } catch (err) {
        const error = err as MillraceError;
        if (error.code === "history_unavailable") {
          this.#s.gaps = true; // so far it is not known that nothing is missing
          return this.#s.events.emit("edgeError", { code: error.code, detail: `RSUB:${name}` });
        }
        history.open = false;
        if (error.code === "permission_denied" && !plain && from !== "now") history.forbidden = true;
        else if (error.code === "no_history" && before) history.unwanted = true;
        else if (error.code === "try_later" && before) {
          if (attempt === 2) this.#s.events.emit("subscriptionError", { tenant, pattern, code: error.code });
          await c.postpone(name, backOff(attempt++, this.#s.settings));
          c.postponed.delete(name);
        } else throw error;
      }
    }
  }
}
