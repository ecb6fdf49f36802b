import type { Connection } from "./connection.js";
import { disconnected, type MillraceError } from "./errors.js";
import { Events, type Place } from "./events.js";
import type { Delivered } from "./frames.js";
import type { Readers } from "./interests.js";
import type { Mover } from "./mover.js";
import { type ConnectOptions, type Settings, settings } from "./options.js";
import type { Search } from "./search.js";
import { type Connections, Subscriber } from "./subscriber.js";
import { now, sleep } from "./timers.js";
import type { TokenClock } from "./token.js";
import { Trail } from "./trail.js";

type Conn = Connection<Readers>;
type Message = Delivered<Readers>;

/**
 * A SessionState holds the connections of a client: one that leads, while it moves or suspects that
 * a second one, or none while it reconnects. It gives their messages to the application, and knows
 * where publishes go. Session decides what happens next; its tasks know this state alone.
 */
export abstract class SessionState implements Connections {
  readonly settings: Settings;
  readonly events: Events;
  abstract readonly clock: TokenClock;
  abstract readonly search: Search;
  readonly subscriber: Subscriber = new Subscriber(this);
  /** Gives messages to the application; its publishes go here, too, unless out is set. */
  lead: Conn | undefined;
  /** The connection that a move goes to, or that may take over. */
  second: Conn | undefined;
  /** The lead, while it brings nothing and another one may take over. */
  suspected: Conn | undefined;
  /** The second connection is given up if it says nothing, and nobody is told. */
  tentative = false;
  /** The connection that was taken over from. */
  trail: Trail | undefined;
  /** Where publishes go during a move, once the first edge has handled what it had. */
  out: Conn | undefined;
  /** What waits for that, or for the end of a suspicion: publishes and flushes. */
  gate: (() => void)[] | undefined;
  /** Of a move or a suspicion, and for a second after it. */
  mover: Mover<Message["route"]> | undefined;
  /** The mover's first connection is lead; else that is what was the second. */
  both = false;
  /** Between a loss and the restored subscriptions. */
  reconnecting = false;
  /** UNSUB has been sent on the first connection. */
  leaving = false;
  place: Place = { edge: "", transport: "websocket" };
  rtt: number | undefined;
  /** When the connection was complete, for the back-off. */
  since = 0;
  attempts = 0;
  /** Set at the end; what needs a connection throws it. */
  over: MillraceError | undefined;
  #link = true; // of the lead, as the application was told
  readonly #pauses = new Set<() => void>();

  constructor(options: ConnectOptions) {
    this.settings = settings(options);
    this.events = new Events(options.on);
  }

  /** follow makes a connection the first one. */
  follow(c: Conn): void {
    this.lead = c;
    this.place = { edge: c.edge, transport: c.transport };
    this.linked();
  }

  // Of Owner

  linked(): void {
    const { link, edge } = this.lead ?? {};
    if (!this.since || !edge || link === undefined || link === this.#link) return;
    this.#link = link;
    this.events.emit(link ? "linkUp" : "linkDown", { edge });
  }

  delivered(from: Conn, m: Message): void {
    if (!this.mover) return this.#give(m);
    const time = now();
    if (from === this.second) {
      const known = this.lead?.confirmed;
      const unknown = !m.route.patterns.some((pattern) => known?.has(`${m.tenant}:${pattern}`));
      const given = this.mover.second(m, time, unknown);
      if (given) this.#give(given);
    } else if (this.both) {
      if (this.mover.first(m, time)) this.#give(m);
    } else {
      if (!this.mover.late(m, time)) this.#give(m);
      if (this.mover?.done(time)) this.mover = undefined;
    }
  }

  // #give gives a message to the application, unless a trail has given it.
  #give(m: Omit<Message, "route"> & { readonly route: Message["route"] }): void {
    if (!this.trail || this.trail.lead(m)) this.subscriber.interests.dispatch(m);
  }

  // Handing over

  /** promote makes the second connection the first, and leaves that. */
  promote(): void {
    const { lead, second } = this;
    if (!second) return;
    this.follow(second);
    this.second = undefined;
    this.both = this.leaving = false;
    this.openGate(undefined);
    this.giveHeld();
    void lead?.close();
  }

  /** takeOver makes the second connection the first, while that is suspect; it trails from now on. */
  takeOver(from: Conn, to: Conn): void {
    this.trail?.hold(false);
    const trail = new Trail(
      from,
      this.mover?.given ?? [],
      (m) => this.subscriber.interests.dispatch(m, true),
      () => {
        if (this.trail === trail) this.trail = undefined;
      },
      this.trail,
    );
    this.trail = trail;
    const away = now() - from.lastByte;
    this.suspected = this.second = undefined;
    this.both = this.tentative = false;
    this.follow(to);
    this.since = now();
    this.events.emit("recovered", { ...this.place, away });
    this.giveHeld();
    this.openGate(undefined);
  }

  /** stay goes on with the first connection: there is no second any more. */
  stay(): void {
    this.suspected = undefined;
    this.trail?.hold(false);
    if (this.both) this.mover?.stay(now());
    this.both = this.tentative = false;
  }

  /** giveHeld gives what was held back for another connection: nobody else delivers it. */
  protected giveHeld(): void {
    for (const m of this.mover?.release() ?? []) this.#give(m);
  }

  /** pause is a sleep that ends when the machine wakes. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, signal, this.#pauses);
  }

  /** hurry ends all pauses. */
  protected hurry(): void {
    for (const go of [...this.#pauses]) go();
  }

  // Publishing

  /** openGate lets go what waited for the first edge; out is where publishes go now, if not to lead. */
  openGate(out: Conn | undefined): void {
    this.out = out;
    const waiting = this.gate ?? [];
    this.gate = undefined;
    for (const go of waiting) go();
  }

  /** exit returns where publishes go now; it throws if they cannot. */
  exit(): Conn {
    if (this.over) throw this.over;
    const c = this.out ?? this.lead;
    if (!c?.alive) throw disconnected();
    return c;
  }
}
