import type { Connection } from "./connection.js";
import { disconnected, type MillraceError } from "./errors.js";
import { Events, type Place } from "./events.js";
import type { Delivered } from "./frames.js";
import type { Readers } from "./interests.js";
import type { Reached } from "./lines.js";
import type { Merger } from "./merger.js";
import { type ConnectOptions, type Settings, settings } from "./options.js";
import type { PresenceFrame } from "./presence-frames.js";
import { Presences } from "./presences.js";
import type { Runtime } from "./runtime.js";
import type { Searcher } from "./searcher.js";
import { type Connections, Subscriber } from "./subscriber.js";
import { now, sleep } from "./timers.js";
import type { TokenSource } from "./token.js";
import { Trail } from "./trail.js";
import { beforeSleep } from "./wake.js";

type Conn = Connection<Readers>;
type Message = Delivered<Readers>;

/**
 * A SessionState holds the connections of a client: the current one, while it moves or suspects that
 * the next one, or none while it reconnects. It gives their messages to the application, and knows
 * where publishes go. Session decides what happens next; its tasks know this state alone.
 */
export abstract class SessionState implements Connections {
  readonly settings: Settings;
  readonly events: Events;
  abstract readonly tokens: TokenSource;
  abstract readonly searcher: Searcher;
  readonly subscriber: Subscriber = new Subscriber(this);
  readonly presences: Presences = new Presences(this);
  /** Gives messages to the application; its publishes go here, too, unless out is set. */
  current: Conn | undefined;
  /** The connection that a move goes to, or that may take over. */
  next: Conn | undefined;
  /** The current connection, while it brings nothing and another one may take over. */
  suspected: Conn | undefined;
  /** The next connection is given up if it says nothing, and nobody is told. */
  tentative = false;
  /** The connection that was taken over from. */
  trail: Trail | undefined;
  /** Where publishes go during a move, once the first edge has handled what it had. */
  publishOn: Conn | undefined;
  /** What waits for that, or for the end of a suspicion: publishes and flushes. */
  gate: (() => void)[] | undefined;
  /** Of a move or a suspicion, and for as long after it as its notes are good. */
  merger: Merger<Message["route"]> | undefined;
  /** Two connections bring messages, and the merger's current one is ours; else that is the one that was next. */
  both = false;
  /** Since the connection was lost, a gap was told. */
  gaps = false;
  /** Between a loss and the restored subscriptions. */
  reconnecting = false;
  /** UNSUB has been sent on the current connection. */
  leaving = false;
  place: Place = { edge: "", transport: "websocket" };
  rtt: number | undefined;
  /** When the connection was complete, for the back-off. */
  since = 0;
  attempts = 0;
  /** Set at the end; what needs a connection throws it. */
  over: MillraceError | undefined;
  #link = true; // of the current connection, as the application was told
  readonly #pauses = new Set<() => void>();
  #waiting: (() => void)[] = []; // for another connection

  constructor(options: ConnectOptions, runtime?: Runtime) {
    this.settings = settings(options, runtime);
    this.events = new Events(options.on);
  }

  /** setCurrent makes a connection the current one. */
  setCurrent(c: Conn): void {
    this.current = c;
    this.place = { edge: c.edge, transport: c.transport };
    this.presences.follow();
    this.linked();
    this.#change();
  }

  #change(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  /** changed resolves when there is another connection, and at the end. */
  changed(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  // Of Owner

  linked(): void {
    const { link, edge } = this.current ?? {};
    if (!this.since || !edge || link === undefined || link === this.#link) return;
    this.#link = link;
    this.events.emit(link ? "linkUp" : "linkDown", { edge });
  }

  reached(from: Conn, line: Reached): void {
    this.subscriber.reached(from, line);
  }

  presence(from: Conn, frame: PresenceFrame): void {
    this.presences.take(from, frame);
  }

  /** restore asks a connection for all that the application wants, and resolves when it has answered, or is lost. */
  async restore(c: Conn): Promise<void> {
    await Promise.all([this.subscriber.restore(c), this.presences.restore(c)]);
  }

  delivered(from: Conn, m: Message): void {
    if (m.position !== undefined) return this.subscriber.stored(from, m, m.position);
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
  #give(m: Omit<Message, "route"> & { readonly route: Message["route"] }): void {
    if (!this.trail || this.trail.fromCurrent(m)) this.subscriber.interests.dispatch(m);
  }

  // Handing over

  /** reportUnread tells of the publishes on a connection that is left, which its edge may not have read. */
  protected reportUnread(c: Conn): void {
    const count = c.takeUnread();
    const { edge, transport } = c;
    if (count > 0) this.events.emit("publishUnknown", { edge, transport, count });
  }

  /** promote makes the next connection the current one, and leaves that. */
  promote(): void {
    const { current, next } = this;
    if (!next) return;
    if (current) this.reportUnread(current);
    this.setCurrent(next);
    this.next = undefined;
    this.merger?.left(now());
    this.both = this.leaving = false;
    this.openGate(undefined);
    this.giveHeld();
    void current?.close();
    void this.subscriber.resume(next);
  }

  /** takeOver makes the next connection the current one, while that is suspect; it trails from now on. */
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
    const away = now() - beforeSleep(from.lastByte);
    this.reportUnread(from);
    this.suspected = this.next = undefined;
    this.merger?.left(now());
    this.both = this.tentative = false;
    this.setCurrent(to);
    this.since = now();
    this.events.emit("recovered", { ...this.place, away });
    this.giveHeld();
    this.openGate(undefined);
    void this.subscriber.resume(to);
  }

  /** keepCurrent goes on with the current connection: there is no next one any more. */
  keepCurrent(): void {
    this.suspected = undefined;
    this.trail?.hold(false);
    if (this.both) this.merger?.keepCurrent(now());
    this.both = this.tentative = false;
  }

  /** giveHeld gives what was held back for another connection: nobody else delivers it. */
  protected giveHeld(): void {
    for (const m of this.merger?.release() ?? []) this.#give(m);
  }

  /** pause is a sleep that ends when the machine wakes. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, signal, this.#pauses);
  }

  /** A pause goes on. */
  protected get waits(): boolean {
    return this.#pauses.size > 0;
  }

  /** hurry ends all pauses. */
  protected hurry(): void {
    for (const go of [...this.#pauses]) go();
  }

  // Publishing

  /** openGate lets go what waited for the first edge; out is where publishes go now, if not to the current connection. */
  openGate(out: Conn | undefined): void {
    this.publishOn = out;
    const waiting = this.gate ?? [];
    this.gate = undefined;
    for (const go of waiting) go();
    if (this.over) this.#change();
  }

  /** publishConnection returns the connection that publishes go to now, without waiting; it throws if there is none. */
  publishConnection(): Conn {
    if (this.over) throw this.over;
    const c = this.publishOn ?? this.current;
    if (!c?.alive) throw disconnected();
    return c;
  }
}
