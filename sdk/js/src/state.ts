import type { Connection } from "./connection.js";
import { disconnected, type MillraceError } from "./errors.js";
import { Events, type Place } from "./events.js";
import type { Delivered } from "./frames.js";
import type { Readers } from "./interests.js";
import { Loud } from "./loud.js";
import { type ConnectOptions, type Settings, settings } from "./options.js";
import type { Histories, Presences } from "./parts.js";
import type { Runtime } from "./runtime.js";
import type { Searcher } from "./searcher.js";
import { type Connections, Subscriber } from "./subscriber.js";
import { sleep } from "./timers.js";
import type { TokenSource } from "./token.js";

type Conn = Connection<Readers>;

/**
 * A SessionState holds the connection of a client, or none while it reconnects. It gives its messages to the
 * application, and knows where publishes go. Session decides what happens next; its tasks know this state alone.
 */
export abstract class SessionState implements Connections {
  readonly settings: Settings;
  readonly events: Events;
  readonly loud: Loud;
  abstract readonly tokens: TokenSource;
  abstract readonly searcher: Searcher;
  abstract readonly histories: Histories | undefined;
  abstract readonly presences: Presences | undefined;
  readonly subscriber: Subscriber = new Subscriber(this);
  /** Gives messages to the application; its publishes go here, too. */
  current: Conn | undefined;
  /** A connection that a move goes to, or that may take over: it is asked for the same. */
  next: Conn | undefined;
  /** The current connection, while it brings nothing and another one may take over. */
  suspected: Conn | undefined;
  /** UNSUB has been sent on the current connection, by a move. */
  leaving = false;
  /** Since the connection was lost, a gap was told. */
  gaps = false;
  /** Between a loss and the restored subscriptions. */
  reconnecting = false;
  place: Place = { edge: "", transport: "websocket" };
  rtt: number | undefined;
  /** Until when the edge is known to hold back, in milliseconds of now. */
  limitedUntil = 0;
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
    this.loud = new Loud(options.logger);
    this.events = new Events(options.on, this.loud);
  }

  /** setCurrent makes a connection the current one. */
  setCurrent(c: Conn): void {
    this.current = c;
    this.place = { edge: c.edge, transport: c.transport };
    this.presences?.follow();
    this.linked();
    this.change();
    if (this.since) this.follow(c);
  }

  /** follow is called with each current connection, from the first one on that is complete. */
  protected follow(_: Conn): void {}

  /** change lets go those that wait for another connection. */
  protected change(): void {
    for (const go of this.#waiting.splice(0)) go();
  }

  /** changed resolves when there is another connection, and at the end. */
  changed(): Promise<void> {
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  /** lose forgets the current connection, which is lost, and whatever went on with it. */
  lose(): void {
    this.current = undefined;
    this.gaps = false;
    this.presences?.follow();
  }

  /** restore asks a connection for all that the application wants, and resolves when it has answered, or is lost. */
  async restore(c: Conn): Promise<void> {
    await Promise.all([this.subscriber.restore(c), this.presences?.restore(c)]);
  }

  // Of Owner

  delivered(from: Conn, m: Delivered<Readers>): void {
    if (m.position === undefined) this.subscriber.interests.dispatch(m, false, from);
    else this.histories?.stored(from, m, m.position);
  }

  presence(from: Conn, b: Uint8Array, start: number, end: number): void {
    this.presences?.frame(from, b, start, end);
  }

  line(from: Conn, line: string): void {
    this.histories?.line(from, line);
  }

  linked(): void {
    const { link, edge } = this.current ?? {};
    if (!this.since || !edge || link === undefined || link === this.#link) return;
    this.#link = link;
    this.events.emit(link ? "linkUp" : "linkDown", { edge });
  }

  // Handing over

  /** reportUnread reports the publishes on a connection that is left, which its edge may not have read. */
  protected reportUnread(c: Conn): void {
    const count = c.takeUnread();
    const { edge, transport } = c;
    if (count > 0) this.events.emit("publishUnknown", { edge, transport, count });
  }

  /** A pause goes on. */
  protected get waits(): boolean {
    return this.#pauses.size > 0;
  }

  /** hurry ends all pauses. */
  protected hurry(): void {
    for (const go of [...this.#pauses]) go();
  }

  /** heard is when a connection brought something last, in milliseconds of now. */
  heard(c: Conn): number {
    return c.lastByte;
  }

  /** pause is a sleep that hurry ends. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, signal, this.#pauses);
  }

  // Publishing

  /** Where publishes go. */
  get out(): Conn | undefined {
    return this.current;
  }

  /** publishConnection returns the connection that publishes go to now, without waiting; it throws if there is none. */
  publishConnection(): Conn {
    if (this.over) throw this.over;
    const { out } = this;
    if (!out?.alive) throw disconnected();
    return out;
  }

  /** Something waits until it is known where publishes go. */
  get held(): boolean {
    return false;
  }

  /** whenOpen acts when it is known where publishes go: at once, or in order, when a move or a suspicion is over. */
  whenOpen<V>(act: () => V): V | Promise<Awaited<V>> {
    return act();
  }
}
