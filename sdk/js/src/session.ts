import { type Connection, disconnected, type Owner } from "./connection.js";
import { asError, MillraceError } from "./errors.js";
import { Events, type Place } from "./events.js";
import type { Delivered } from "./frames.js";
import type { Readers } from "./interests.js";
import { move } from "./move.js";
import type { Mover } from "./mover.js";
import { type ConnectOptions, type Settings, settings } from "./options.js";
import { reconnect } from "./reconnect.js";
import { Search } from "./search.js";
import { Subscriber } from "./subscriber.js";
import { suspect } from "./suspect.js";
import { now, sleep } from "./timers.js";
import { TokenClock } from "./token.js";
import { Trail } from "./trail.js";
import { type Sleeper, watchSleep } from "./wake.js";
import { WayBack } from "./wayback.js";

type Conn = Connection<Readers>;
type Message = Delivered<Readers>;

const SILENCE = 3000; // ms of a tentative second connection

/**
 * A Session is the state of a client: one connection that leads, while it moves or suspects that a
 * second one, or none while it reconnects. These go on in tasks, move, suspect and reconnect, of
 * which one runs at most. A trail and a way back to WebTransport may go on beside it.
 */
export class Session implements Owner<Readers>, Sleeper {
  readonly settings: Settings;
  readonly events: Events;
  readonly clock: TokenClock;
  readonly search: Search;
  readonly subscriber: Subscriber = new Subscriber(this);
  /** Resolves at the end, with the error or undefined. */
  readonly closed: Promise<MillraceError | undefined>;
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
  #task: AbortController | undefined;
  readonly #pauses = new Set<() => void>();
  readonly #way: WayBack = new WayBack(this);
  #unwatch: (() => void) | undefined;
  #settle!: (error: MillraceError | undefined) => void;

  constructor(addresses: readonly URL[], options: ConnectOptions) {
    this.settings = settings(options);
    this.events = new Events(options.on);
    this.clock = new TokenClock(
      this.settings,
      () => this.next(),
      ({ code, message }) => this.told(code, message),
    );
    this.search = new Search(addresses, this.settings, this.clock, this);
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** start connects, the first time. */
  async start(signal: AbortSignal): Promise<void> {
    try {
      const c = await this.search.first(signal);
      this.follow(c);
      signal.throwIfAborted();
      if (c.error) throw c.error; // nobody was told
      this.since = now();
      this.#unwatch = watchSleep(this);
      this.#way.follow(c);
      this.events.emit("connected", this.place);
      this.linked();
      this.next(); // it may drain already
    } catch (err) {
      this.clock.stop();
      void this.lead?.close();
      throw err;
    }
  }

  /** follow makes a connection the first one. */
  follow(c: Conn): void {
    this.lead = c;
    this.place = { edge: c.edge, transport: c.transport };
    if (this.since) this.#way.follow(c);
    this.linked();
  }

  /** next starts the move that is due, if there is one. */
  next(): void {
    const { lead } = this;
    if (this.#task || this.over || !lead?.alive) return;
    if (lead.drains) this.run((signal) => move(this, lead, "drain", signal));
    else if (lead.token !== this.clock.token) this.run((signal) => move(this, lead, "token", signal));
  }

  /** Nothing goes on, and nothing has to: it may move because it would like to. */
  get idle(): boolean {
    const { lead, mover } = this;
    return !this.#task && !this.over && lead?.alive === true && !lead.drains && (!mover || mover.done(now()));
  }

  /** run runs a task until it ends, another one takes its place, or the end. */
  run(task: (signal: AbortSignal) => Promise<void>): void {
    this.#task?.abort();
    const own = new AbortController();
    this.#task = own;
    task(own.signal).then(
      () => {
        if (this.#task !== own) return;
        this.#task = undefined;
        if (this.lead?.alive) this.next();
      },
      (err: unknown) => {
        if (this.#task === own) this.finish(asError(err, "internal", "a fault of this client"));
      },
    );
  }

  // Owner

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

  draining(from: Conn): void {
    this.search.drained.add(from.edge);
    if (from === this.lead) this.next();
  }

  told(code: string, detail: string): void {
    const [, tenant, channel] = /^PUB:([^:]+):(.+)$/s.exec(detail) ?? [];
    if (code === "slow_consumer") this.events.emit("slowConsumer", { dropped: Number(detail) });
    else if (code === "egress_limited") this.events.emit("egressLimited", { delay: Number(detail) * 1000 });
    else if (tenant && channel && code !== "broker_unavailable") {
      this.events.emit("publishError", { tenant, channel, code });
    } else this.events.emit("edgeError", { code, detail });
  }

  roundTrip(rtt: number): void {
    this.rtt = rtt;
    this.events.emit("roundTrip", { rtt });
  }

  silent(from: Conn): boolean {
    const { lead } = this;
    if (from === this.second && this.tentative && now() - from.lastByte >= SILENCE) {
      from.fail(new MillraceError("timeout", "the edge does not answer"));
    }
    // An edge that drains may be slow to answer.
    if (from !== lead || this.#task || this.gate || this.over || this.reconnecting || !this.since || lead.drains) {
      return false;
    }
    this.suspected = from;
    this.trail?.hold(true);
    this.search.hole(from);
    this.run((signal) => suspect(this, from, signal));
    return true;
  }

  woke(from: Conn): void {
    if (from !== this.suspected) return;
    this.search.hole(from, true);
    this.#task?.abort();
    this.#task = undefined;
    void this.second?.close();
    this.second = undefined;
    this.stay();
    this.events.emit("recovered", { ...this.place, away: 0 });
    this.openGate(undefined);
    this.next();
  }

  linked(): void {
    const { link, edge } = this.lead ?? {};
    if (!this.since || !edge || link === undefined || link === this.#link) return;
    this.#link = link;
    this.events.emit(link ? "linkUp" : "linkDown", { edge });
  }

  lost(from: Conn, error: MillraceError): void {
    const ofThisToken = from.token === this.clock.token;
    const final =
      /_not_allowed$|^token_revoked$/.test(error.code) || (error.code === "token_expired" && !this.clock.provided);
    // One that may take over is no reason to end: the first may be back.
    const spare = from === this.second && this.suspected !== undefined;
    if (final && ofThisToken && !spare) return this.finish(error);
    if (error.closeCode === undefined && /^(disconnected|timeout)$/.test(error.code)) this.search.hole(from);
    if (from === this.second && !this.leaving) {
      this.second = undefined; // the first connection delivers the same, unless it is lost, too
      if (spare) this.mover?.orphan();
      else this.openGate(undefined);
    } else if (from === this.lead && !this.suspected && (this.gate || this.out)) this.promote();
    else if (from === this.lead || from === this.second) {
      this.suspected = undefined;
      this.trail?.hold(false);
      if (from === this.lead) {
        void this.second?.close(); // it has yet to subscribe
        this.second = undefined;
        this.#giveHeld();
      }
      this.promote(); // the first one has no subscriptions any more
      if (!this.reconnecting) this.run((signal) => reconnect(this, from, error, signal));
    }
  }

  /** promote makes the second connection the first, and leaves that. */
  promote(): void {
    const { lead, second } = this;
    if (!second) return;
    this.follow(second);
    this.second = undefined;
    this.both = this.leaving = false;
    this.openGate(undefined);
    this.#giveHeld();
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
    this.#giveHeld();
    this.openGate(undefined);
  }

  /** stay goes on with the first connection: there is no second any more. */
  stay(): void {
    this.suspected = undefined;
    this.trail?.hold(false);
    if (this.both) this.mover?.stay(now());
    this.both = this.tentative = false;
  }

  // #giveHeld gives what was held back for another connection: nobody else delivers it.
  #giveHeld(): void {
    for (const m of this.mover?.release() ?? []) this.#give(m);
  }

  // Sleeper

  slept(): void {
    for (const c of [this.lead, this.second]) c?.awake(false);
    this.#hurry();
  }

  networkChanged(): void {
    for (const c of [this.lead, this.second]) c?.awake(true);
    this.#hurry();
    this.#way.soon();
  }

  /** pause is a sleep that ends when the machine wakes. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return sleep(ms, signal, this.#pauses);
  }

  #hurry(): void {
    for (const go of [...this.#pauses]) go();
  }

  /** openGate lets go what waited for the first edge; out is where publishes go now, if not to lead. */
  openGate(out: Conn | undefined): void {
    this.out = out;
    const waiting = this.gate ?? [];
    this.gate = undefined;
    for (const go of waiting) go();
  }

  // Publishing

  /** exit waits until publishes may go, and returns where. */
  exit(): Conn {
    if (this.over) throw this.over;
    const c = this.out ?? this.lead;
    if (!c?.alive) throw disconnected();
    return c;
  }

  // The end

  /** finish ends the client; it is called once or more, and the first time counts. */
  finish(error: MillraceError | undefined): void {
    if (this.over) return;
    this.over = new MillraceError("closed", "the client has been closed", error ? { cause: error } : {});
    this.#task?.abort();
    this.clock.stop();
    this.#way.stop();
    this.#unwatch?.();
    const ended = [this.lead?.close(), this.second?.close(), this.trail?.stop()];
    this.openGate(undefined);
    if (error) {
      this.#giveHeld();
      this.trail?.flush();
    }
    this.subscriber.end(error, this.over);
    this.events.emit("closed", { error });
    void Promise.all(ended).then(() => this.#settle(error));
  }
}
