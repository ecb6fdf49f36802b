import type { Connection } from "./connection.js";
import { asError, MillraceError } from "./errors.js";
import type { Events } from "./events.js";
import { type Interest, Interests, type Readers } from "./interests.js";
import type { Settings } from "./options.js";
import type { Histories } from "./parts.js";
import type { Keeper, Subscription } from "./subscription.js";
import { backOff } from "./timers.js";

type Conn = Connection<Readers>;

/** What a subscriber needs of its session, as Session is it. */
export interface Connections {
  readonly current: Conn | undefined;
  readonly next: Conn | undefined;
  readonly suspected: Conn | undefined;
  readonly leaving: boolean;
  readonly over: MillraceError | undefined;
  readonly events: Events;
  readonly settings: Settings;
  readonly histories: Histories | undefined;
  gaps: boolean;
}

/** A Subscriber asks the connections of a session for what the application has subscribed to. */
export class Subscriber implements Keeper {
  readonly interests: Interests = new Interests();
  /** The SUBs without an answer. */
  readonly asking: Set<Promise<void>> = new Set();
  readonly #s: Connections;
  readonly #draining = new Set<Subscription>();

  constructor(s: Connections) {
    this.#s = s;
  }

  /**
   * restore asks a connection for all patterns, and resolves when it has them, or is lost. Those with a
   * history go to the current connection alone: to another one when it takes over, see Histories.
   */
  async restore(c: Conn): Promise<void> {
    const all = this.interests.all;
    if (all.some((interest) => interest.history)) await c.featured;
    const here = c === this.#s.current ? all : all.filter((interest) => !interest.history);
    await Promise.all(here.map((interest) => this.ask(c, interest)));
  }

  /** ask asks a connection for a pattern, and resolves when it has answered, or is lost. */
  ask(c: Conn, interest: Interest): Promise<void> {
    const answered = this.#ask(c, interest).finally(() => this.asking.delete(answered));
    this.asking.add(answered);
    return answered;
  }

  async #ask(c: Conn, interest: Interest): Promise<void> {
    try {
      if (interest.history) await this.#s.histories?.ask(c, interest, interest.history);
      else {
        await this.#confirmed(c, interest);
        this.confirm(interest);
        this.credit(interest);
      }
    } catch (err) {
      const error = asError(err, "internal", "a fault of this client");
      if (error.code === "disconnected") return;
      // One that may take over cannot, then; the current one has the subscription, and may wake.
      if (interest.confirmed && this.#s.suspected && c === this.#s.next) return c.fail(error);
      this.#refuse(interest, error);
    }
  }

  /** confirm notes that an edge has acknowledged a pattern. */
  confirm(interest: Interest): void {
    interest.confirmed = true;
    for (const { resolve } of interest.waiting.splice(0)) resolve();
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
    if (hasConfirmed(interest)) this.#s.events.emit("subscriptionError", { tenant, pattern, ...error.told });
    for (const sub of subs) sub.end(error);
    for (const { reject } of waiting.splice(0)) reject(error);
    this.interests.ended(interest);
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
      const text = "one with a history is alone: unsubscribe first";
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

  async leave(sub: Subscription): Promise<number> {
    const interest = this.interests.remove(sub);
    return interest ? this.#leave(interest) : 0;
  }

  async drain(sub: Subscription): Promise<void> {
    this.#draining.add(sub);
    void sub.ended.then(() => this.#draining.delete(sub));
    const interest = this.interests.of(sub.tenant, sub.pattern);
    if (interest?.subs.length !== 1 || interest.subs[0] !== sub) return void (await this.leave(sub)); // others take what comes
    if (this.interests.drop(interest)) await this.#leave(interest);
  }

  /** drainAll resolves when the application has taken all that its subscriptions have received. */
  async drainAll(): Promise<void> {
    for (const { subs } of this.interests.all) for (const sub of [...subs]) void sub.drain();
    await Promise.all([...this.#draining].map(({ ended }) => ended));
  }

  // #leave ends an interest, and resolves when nothing of it comes any more, with how many jobs nobody gets.
  async #leave(interest: Interest): Promise<number> {
    for (const { resolve } of interest.waiting.splice(0)) resolve(); // its queue was full before the answer
    const { name, history } = interest;
    const left = [this.#s.current, this.#s.next].filter((c) => c?.forget(name) || (c && history?.on === c));
    const answers = left.map((c) => (c as Conn).leave(name));
    await (this.#s.suspected && answers.length > 0 ? Promise.race(answers) : Promise.all(answers));
    this.interests.ended(interest);
    this.discarded(interest, interest.lost);
    return interest.lost;
  }

  /** credit lets the current connection bring more messages to one connection, if there is room for half of a queue. */
  credit(interest: Interest): void {
    const { current: c, leaving } = this.#s;
    const { name, subs, history } = interest;
    if (!c?.alive || leaving || history || !c.confirmed.has(name) || !c.features?.includes("work_queue")) return;
    const left = interest.credit.get(c) ?? 0;
    const queue = Math.min(...subs.map((sub) => sub.window));
    const n = queue - left - Math.max(...subs.map((sub) => sub.jobs));
    if (n < 1 || 2 * n < queue) return;
    interest.credit.set(c, left + n);
    c.tell(`CREDIT:${name}:${n}`);
  }

  /** follow gives credit to a connection that has become the current one. */
  follow(): void {
    for (const interest of this.interests.all) this.credit(interest);
  }

  took({ tenant, pattern }: Subscription): void {
    const interest = this.interests.of(tenant, pattern);
    if (interest) this.credit(interest);
  }

  wasRead(sub: Subscription): void {
    this.#s.histories?.wasRead(sub);
  }

  discarded({ tenant, pattern }: Pick<Interest, "tenant" | "pattern">, count: number): void {
    if (count > 0) this.#s.events.emit("discarded", { tenant, pattern, count });
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
      this.interests.ended(interest);
    }
  }
}

/** hasConfirmed says whether one of the subscriptions was confirmed before, by whatever connection. */
export function hasConfirmed({ subs, waiting }: Interest): boolean {
  return subs.length > waiting.length;
}
