import type { Connection } from "./connection.js";
import { asError, type ErrorCode, MillraceError } from "./errors.js";
import type { Events } from "./events.js";
import type { Delivered } from "./frames.js";
import type { History } from "./history.js";
import { type Interest, Interests, type Readers } from "./interests.js";
import type { Reached } from "./lines.js";
import { Message } from "./message.js";
import type { Settings } from "./options.js";
import type { Keeper, Subscription } from "./subscription.js";
import { backOff } from "./timers.js";

type Conn = Connection<Readers>;

/** What a subscriber needs of its session, as SessionState has it. */
export interface Connections {
  readonly current: Conn | undefined;
  readonly next: Conn | undefined;
  readonly suspected: Conn | undefined;
  readonly leaving: boolean;
  readonly over: MillraceError | undefined;
  readonly events: Events;
  readonly settings: Settings;
  gaps: boolean;
}

/** A Subscriber asks the connections of a session for what the application has subscribed to. */
export class Subscriber implements Keeper {
  readonly interests: Interests = new Interests();
  /** The SUBs without an answer. */
  readonly asking: Set<Promise<void>> = new Set();
  readonly #s: Connections;

  constructor(s: Connections) {
    this.#s = s;
  }

  /**
   * restore asks a connection for all patterns, and resolves when it has them, or is lost. Those with a
   * history go to the current connection alone: to another one when it takes over, see resume.
   */
  async restore(c: Conn): Promise<void> {
    const all = this.interests.all;
    if (all.some((interest) => interest.history)) await c.featured;
    const here = c === this.#s.current ? all : all.filter((interest) => !interest.history);
    await Promise.all(here.map((interest) => this.ask(c, interest)));
  }

  /** resume asks a connection that has become the current one for the patterns with a history. */
  async resume(c: Conn): Promise<void> {
    await Promise.all(this.interests.all.filter(({ history }) => history).map((interest) => this.ask(c, interest)));
  }

  /** stored gives a message with a position to its subscription. */
  stored(from: Conn, m: Delivered<Readers>, position: string): void {
    const { tenant, channel, payload, route, sender } = m;
    const { patterns } = route;
    const pattern = patterns[0] as string;
    const interest = this.interests.of(tenant, pattern);
    const { history } = interest ?? {};
    if (!interest || !history?.takes(from, position)) return;
    history.from = position;
    const sub = interest.subs[0];
    const room = sub?.pushStored(new Message(tenant, channel, payload, pattern, patterns, false, position, sender));
    if (room === false && this.interests.has(interest)) {
      history.pause();
      void from.leave(interest.name);
    }
    this.#confirm(interest); // a long past would fill the queue before anybody can read it
  }

  /** reached takes OK:RSUB, AT or GAP. */
  reached(from: Conn, line: Reached): void {
    const { kind, tenant, pattern, position } = line;
    const interest = this.interests.of(tenant, pattern);
    const { history } = interest ?? {};
    if (!interest || !history || history.plain) return;
    if (history.on !== from || !history.open) {
      // What a full queue leaves at the edge begins again later. But the edge also says so late
      // that something is missing among what the queue has, and may not find it again.
      if (kind === "GAP" && history.paused && from === this.#s.current) this.#gap(tenant, pattern, position);
      return;
    }
    // A store that does not know the position goes back, as GAP says.
    if (kind === "GAP" || history.takes(from, position)) {
      history.from = position;
      for (const sub of interest.subs) sub.reach(position);
    }
    if (kind === "GAP") {
      history.told = true; // before what follows it; OK:RSUB says again that there was one
      this.#gap(tenant, pattern, position);
    } else if (kind === "OK:RSUB") {
      this.#confirm(interest);
      if (line.how === "gap" && !history.told) this.#gap(tenant, pattern, position);
      else if (history.lossy) this.#gap(tenant, pattern, undefined, history.refusal);
    }
  }

  #gap(tenant: string, pattern: string, before?: string, code?: ErrorCode): void {
    this.#s.gaps = true;
    this.#s.events.emit("gap", { tenant, pattern, before, code });
  }

  wasRead(sub: Subscription): void {
    const interest = this.interests.of(sub.tenant, sub.pattern);
    const { current } = this.#s;
    if (!interest?.history || interest.history !== sub.history) return;
    interest.history.paused = false;
    if (current) void this.ask(current, interest);
  }

  /** ask asks a connection for a pattern, and resolves when it has answered, or is lost. */
  ask(c: Conn, interest: Interest): Promise<void> {
    const answered = this.#ask(c, interest).finally(() => this.asking.delete(answered));
    this.asking.add(answered);
    return answered;
  }

  async #ask(c: Conn, interest: Interest): Promise<void> {
    try {
      if (interest.history) await this.#resumed(c, interest, interest.history);
      else {
        await this.#confirmed(c, interest);
        this.#confirm(interest);
      }
    } catch (err) {
      const error = asError(err, "internal", "a fault of this client");
      if (error.code === "disconnected") return;
      // One that may take over cannot, then; the current one has the subscription, and may wake.
      if (interest.confirmed && this.#s.suspected && c === this.#s.next) return c.fail(error);
      this.#refuse(interest, error);
    }
  }

  #confirm(interest: Interest): void {
    interest.confirmed = true;
    for (const { resolve } of interest.waiting.splice(0)) resolve();
  }

  // #resumed resolves when the current connection has a pattern with a history, or something else has
  // come in between. It waits until the edge has said what it knows, and until an earlier subscription to
  // the same pattern has ended: what comes of that is not this one's.
  async #resumed(c: Conn, interest: Interest, history: History): Promise<void> {
    const { name, tenant, pattern } = interest;
    if (history.paused) this.#s.gaps = true; // it is asked when there is room again: it is not complete so far
    if (history.paused || history.on === c) return;
    history.begin(c);
    for (let attempt = 2; ; ) {
      await c.featured;
      await c.ending.get(`UNSUB:${name}`);
      if (!c.alive || history.on !== c || !this.interests.has(interest)) return;
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
        if (!this.interests.has(interest)) return;
        this.#confirm(interest);
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

  // #confirmed resolves when a connection has a pattern. While the edge says try_later, it is asked
  // again for one that has been confirmed before; another one is refused.
  async #confirmed(c: Conn, interest: Interest): Promise<void> {
    const { name, tenant, pattern } = interest;
    // The attempt 1 would be one without a pause.
    for (let attempt = 2; ; attempt++) {
      try {
        return await c.request("SUB", name);
      } catch (err) {
        const error = err as MillraceError;
        if (error.code !== "try_later" || !hasConfirmed(interest)) throw error;
        if (attempt === 2) this.#s.events.emit("subscriptionError", { tenant, pattern, code: error.code });
      }
      await c.postpone(name, backOff(attempt, this.#s.settings));
    }
  }

  // #refuse ends the subscriptions to a pattern that an edge refuses.
  #refuse(interest: Interest, error: MillraceError): void {
    if (!this.interests.drop(interest)) return;
    const { tenant, pattern, subs, waiting } = interest;
    for (const c of [this.#s.current, this.#s.next]) if (c?.forget(interest.name)) void c.leave(interest.name);
    if (hasConfirmed(interest)) this.#s.events.emit("subscriptionError", { tenant, pattern, code: error.code });
    for (const sub of subs) sub.end(error);
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  async subscribe(sub: Subscription): Promise<void> {
    const { tenant, pattern } = sub;
    let same: Interest | undefined;
    for (;;) {
      if (this.#s.over) throw this.#s.over;
      same = this.interests.of(tenant, pattern);
      const of = (c: Conn | undefined): Promise<void> | undefined => c?.ending.get(`UNSUB:${tenant}:${pattern}`);
      const ending = of(this.#s.current) ?? of(this.#s.next);
      if (same || !ending) break;
      await ending; // what comes until then is of an earlier subscription
    }
    if (same && (same.history || sub.history)) {
      const text = "the client has a subscription to this pattern, and one with a history is alone";
      throw new MillraceError("bad_option", text, same);
    }
    const { interest, isNew } = this.interests.add(sub);
    if (interest.confirmed) return;
    const answer = new Promise<void>((resolve, reject) => void interest.waiting.push({ resolve, reject }));
    if (isNew) {
      if (this.#s.current && !this.#s.leaving) void this.ask(this.#s.current, interest);
      if (this.#s.next && !interest.history) void this.ask(this.#s.next, interest);
    }
    return answer;
  }

  async leave(sub: Subscription): Promise<void> {
    const interest = this.interests.remove(sub);
    if (!interest) return;
    for (const { resolve } of interest.waiting.splice(0)) resolve(); // its queue was full before the answer
    const { name, history } = interest;
    const left = [this.#s.current, this.#s.next].filter((c) => c?.forget(name) || (c && history?.on === c));
    const answers = left.map((c) => (c as Conn).leave(name));
    await (this.#s.suspected && answers.length > 0 ? Promise.race(answers) : Promise.all(answers));
  }

  queueFull({ tenant, pattern }: Subscription, dropped: number): void {
    this.#s.events.emit("queueFull", { tenant, pattern, dropped });
  }

  /** end ends all subscriptions; error is why, gone what those get that still wait. */
  end(error: MillraceError | undefined, gone: MillraceError): void {
    for (const interest of this.interests.all) {
      this.interests.drop(interest);
      for (const sub of interest.subs) sub.end(error);
      for (const { reject } of interest.waiting.splice(0)) reject(error ?? gone);
    }
  }
}

// hasConfirmed says whether one of the subscriptions was confirmed before, by whatever connection.
function hasConfirmed({ subs, waiting }: Interest): boolean {
  return subs.length > waiting.length;
}
