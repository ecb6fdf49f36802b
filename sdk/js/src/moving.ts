import type { Connection } from "./connection.js";
import { resolveEdges } from "./edges.js";
import { MillraceError } from "./errors.js";
import type { Delivered } from "./frames.js";
import type { Given, Readers } from "./interests.js";
import type { KeepAlive, Watched } from "./keepalive.js";
import { Liveness } from "./liveness.js";
import type { Merger } from "./merger.js";
import { move } from "./move.js";
import type { Mover } from "./mover.js";
import { Session } from "./session.js";
import { suspect } from "./suspect.js";
import { now } from "./timers.js";
import { Trail } from "./trail.js";
import { Upgrade } from "./upgrade.js";
import { beforeSleep, type Sleeper, watchSleep } from "./wake.js";

type Conn = Connection<Readers>;
type Message = Delivered<Readers>;

const SILENCE = 3000; // ms of a tentative next connection

/**
 * A MovingSession has two connections while it goes from one to the other: the current one and the next. Moves and
 * suspicions are tasks. A trail and a way back to WebTransport may go on beside them.
 */
export class MovingSession extends Session implements Mover, Sleeper {
  tentative = false;
  trail: Trail | undefined;
  /** Where publishes go during a move, once the first edge has handled what it had. */
  publishOn: Conn | undefined;
  gate: (() => void)[] | undefined;
  merger: Merger<Message["route"]> | undefined;
  both = false;
  readonly #upgrade: Upgrade = new Upgrade(this);
  #unwatch: (() => void) | undefined;

  constructor(...args: ConstructorParameters<typeof Session>) {
    super(...args);
    if (this.settings.sender) return;
    this.subscriber.interests.unasked = () =>
      this.loud.say("message.sender is empty: connect with the option sender: true", "bad_option", "sender");
  }

  override async start(signal: AbortSignal): Promise<void> {
    this.#unwatch = watchSleep(this); // what wakes the machine ends a pause
    await super.start(signal).catch((err: unknown) => {
      this.#unwatch?.();
      throw err;
    });
  }

  protected override follow(c: Conn): void {
    this.#upgrade.follow(c);
  }

  protected override leave(from: Conn, reason: "drain" | "token", signal: AbortSignal): Promise<void> {
    return move(this, from, reason, signal);
  }

  get idle(): boolean {
    const { current, merger } = this;
    return !this.task && !this.over && current?.alive === true && !current.drains && (!merger || merger.done(now()));
  }

  // Owner

  override watch(c: Watched): KeepAlive {
    return new Liveness(c, this.settings);
  }

  override edges(addresses: readonly URL[], signal: AbortSignal): Promise<string[]> {
    return resolveEdges(addresses, this.settings, signal);
  }

  override delivered(from: Conn, m: Message): void {
    if (m.position !== undefined || m.toOne) return super.delivered(from, m); // no other connection brings the same
    if (!this.merger) return this.#give(m);
    const time = now();
    if (from === this.next) {
      const known = this.current?.confirmed;
      const unknown = !m.route.patterns.some((pattern) => known?.has(`${m.tenant}:${pattern}`));
      const given = this.merger.fromNext(m, time, unknown);
      if (given) this.#give(given);
    } else if (this.both) {
      if (this.merger.fromCurrent(m, time)) this.#give(m);
    } else {
      if (!this.merger.late(m, time)) this.#give(m);
      if (this.merger?.done(time)) this.merger = undefined;
    }
  }

  // #give gives a message to the application, unless a trail has given it.
  #give(m: Given): void {
    if (!this.trail || this.trail.fromCurrent(m)) this.subscriber.interests.dispatch(m);
  }

  override silent(from: Conn): boolean {
    const { current } = this;
    if (from === this.next && this.tentative && now() - from.lastByte >= SILENCE) {
      from.fail(new MillraceError("timeout", "the edge does not answer"));
    }
    // An edge that drains may be slow to answer.
    if (from !== current || this.task || this.gate || this.over || this.reconnecting || !this.since || current.drains) {
      return false;
    }
    this.suspected = from;
    this.trail?.hold(true);
    this.searcher.dialer.noteSilent(from);
    this.run((signal) => suspect(this, from, signal));
    return true;
  }

  override woke(from: Conn): void {
    if (from !== this.suspected) return;
    this.searcher.dialer.noteSilent(from, true);
    this.task?.abort();
    this.task = undefined;
    void this.next?.close();
    this.next = undefined;
    this.keepCurrent();
    this.events.emit("recovered", { ...this.place, away: 0 });
    this.openGate(undefined);
    this.moveIfDue();
  }

  // One that may take over is no reason to end: the current one may be back.
  protected override spare(from: Conn): boolean {
    return from === this.next && this.suspected !== undefined;
  }

  protected override replace(from: Conn, error: MillraceError): void {
    if (from === this.next && !this.leaving) {
      const spare = this.spare(from);
      this.next = undefined; // the current connection delivers the same, unless it is lost, too
      if (spare) this.merger?.orphan();
      else this.openGate(undefined);
    } else if (from === this.current && !this.suspected && (this.gate || this.publishOn)) this.promote();
    else if (from === this.current || from === this.next) {
      this.suspected = undefined;
      this.trail?.hold(false);
      if (from === this.current) {
        void this.next?.close(); // it has yet to subscribe
        this.next = undefined;
        this.#giveHeld();
      }
      this.promote(); // the current one has no subscriptions any more
      super.replace(from, error);
    }
  }

  override lose(): void {
    super.lose();
    this.merger = undefined;
    this.both = this.leaving = this.tentative = false;
    this.openGate(undefined);
  }

  override heard(c: Conn): number {
    return beforeSleep(c.lastByte);
  }

  // Sleeper

  slept(): void {
    this.#awake(false);
  }

  networkChanged(): void {
    this.#awake(true);
    this.#upgrade.soon();
  }

  #awake(always: boolean): void {
    for (const c of [this.current, this.next]) c?.awake(always);
    this.hurry();
  }

  // Handing over

  promote(): void {
    const { current, next } = this;
    if (!next) return;
    if (current) this.reportUnread(current);
    this.setCurrent(next);
    this.next = undefined;
    this.merger?.left(now());
    this.both = this.leaving = false;
    this.openGate(undefined);
    this.#giveHeld();
    void current?.close();
    this.#resume(next);
  }

  takeOver(from: Conn, to: Conn): void {
    this.trail?.hold(false);
    const trail = new Trail(
      from,
      this.merger?.given ?? [],
      (m) => this.subscriber.interests.dispatch(m, true),
      () => {
        if (this.trail === trail) this.trail = undefined;
      },
      this.trail,
    );
    this.trail = trail;
    const away = now() - this.heard(from);
    this.reportUnread(from);
    this.suspected = this.next = undefined;
    this.merger?.left(now());
    this.both = this.tentative = false;
    this.setCurrent(to);
    this.since = now();
    this.events.emit("recovered", { ...this.place, away });
    this.#giveHeld();
    this.openGate(undefined);
    this.#resume(to);
  }

  #resume(c: Conn): void {
    void this.histories?.resume(c);
    this.subscriber.follow();
  }

  keepCurrent(): void {
    this.suspected = undefined;
    this.trail?.hold(false);
    if (this.both) this.merger?.keepCurrent(now());
    this.both = this.tentative = false;
  }

  // #giveHeld gives what was held back for another connection: nobody else delivers it.
  #giveHeld(): void {
    for (const m of this.merger?.release() ?? []) this.#give(m);
  }

  // Publishing

  override get out(): Conn | undefined {
    return this.publishOn ?? this.current;
  }

  override get held(): boolean {
    return this.gate !== undefined;
  }

  // A move holds publishes up for a round trip; they go in order.
  override whenOpen<V>(act: () => V): V | Promise<Awaited<V>> {
    if (!this.gate) return act();
    return new Promise((resolve, reject) => {
      this.gate?.push(() => {
        try {
          resolve(act() as Awaited<V>);
        } catch (err) {
          reject(err);
        }
      });
    });
  }

  openGate(out: Conn | undefined): void {
    this.publishOn = out;
    const waiting = this.gate ?? [];
    this.gate = undefined;
    for (const go of waiting) go();
  }

  // The end

  protected override end(error: MillraceError | undefined): (Promise<void> | undefined)[] {
    const { current, next, trail } = this;
    this.#unwatch?.();
    this.#upgrade.stop();
    for (const c of [current, next]) if (c && (error || c === this.suspected)) this.reportUnread(c);
    const ended = [current?.close(), next?.close(), trail?.stop()];
    this.openGate(undefined);
    if (error) {
      this.#giveHeld();
      trail?.flush();
    }
    return ended;
  }
}
