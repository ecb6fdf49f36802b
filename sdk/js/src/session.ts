import { type Connection, disconnected, type Owner } from "./connection.js";
import { asError, MillraceError } from "./errors.js";
import { Events, type Place } from "./events.js";
import type { Delivered } from "./frames.js";
import { type Interest, Interests, type Readers } from "./interests.js";
import { move } from "./move.js";
import type { Mover } from "./mover.js";
import { type ConnectOptions, type Settings, settings } from "./options.js";
import { reconnect } from "./reconnect.js";
import { Search } from "./search.js";
import type { Keeper, Subscription } from "./subscription.js";
import { now } from "./timers.js";
import { TokenClock } from "./token.js";

type Conn = Connection<Readers>;

/**
 * A Session is the state of a client: one connection that leads, while it moves a second one, or
 * none while it reconnects. The two of these go on in tasks, move and reconnect, of which one runs
 * at most; `task` stops it.
 */
export class Session implements Owner<Readers>, Keeper {
  readonly settings: Settings;
  readonly events: Events;
  readonly clock: TokenClock;
  readonly search: Search;
  readonly interests: Interests = new Interests();
  /** Resolves at the end, with the error or undefined. */
  readonly closed: Promise<MillraceError | undefined>;
  /** Gives messages to the application; its publishes go here, too, unless out is set. */
  lead: Conn | undefined;
  /** The connection that a move goes to. */
  second: Conn | undefined;
  /** Where publishes go during a move, once the first edge has handled what it had. */
  out: Conn | undefined;
  /** What waits for that: publishes and flushes. */
  gate: (() => void)[] | undefined;
  /** Of a move, and for a second after it. */
  mover: Mover<Delivered<Readers>["route"]> | undefined;
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
  /** The SUBs without an answer. */
  readonly asking: Set<Promise<void>> = new Set();
  /** Set at the end; what needs a connection throws it. */
  over: MillraceError | undefined;
  #link = true; // of the lead, as the application was told
  #task: AbortController | undefined;
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
    this.linked();
  }

  /** next starts the move that is due, if there is one. */
  next(): void {
    const { lead } = this;
    if (this.#task || this.over || !lead?.alive) return;
    if (lead.drains) this.#run((signal) => move(this, lead, "drain", signal));
    else if (lead.token !== this.clock.token) this.#run((signal) => move(this, lead, "token", signal));
  }

  // #run runs a task until it ends, another one takes its place, or the end.
  #run(task: (signal: AbortSignal) => Promise<void>): void {
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

  delivered(from: Conn, m: Delivered<Readers>): void {
    if (!this.mover) return this.interests.dispatch(m);
    const time = now();
    if (from === this.second) {
      const asked = this.lead?.asked;
      const unknown = !m.route.patterns.some((pattern) => asked?.has(`${m.tenant}:${pattern}`));
      const given = this.mover.second(m, time, unknown);
      if (given) this.interests.dispatch(given);
    } else if (this.both) {
      this.mover.first(m, time);
      this.interests.dispatch(m);
    } else {
      if (!this.mover.late(m, time)) this.interests.dispatch(m);
      if (this.mover.done(time)) this.mover = undefined;
    }
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
    if (final && ofThisToken) return this.finish(error);
    if (from === this.second && !this.leaving) {
      this.second = undefined; // the first connection delivers the same, unless it is lost, too
      this.openGate(undefined);
    } else if (from === this.lead && (this.gate || this.out)) this.promote();
    else if (from === this.lead || from === this.second) {
      if (from === this.lead) {
        void this.second?.close(); // it has yet to subscribe
        this.second = undefined;
        this.#giveHeld();
      }
      this.promote(); // the first one has no subscriptions any more
      if (!this.reconnecting) this.#run((signal) => reconnect(this, from, error, signal));
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

  // #giveHeld gives what a move has held back: nobody else delivers it.
  #giveHeld(): void {
    for (const m of this.mover?.release() ?? []) this.interests.dispatch(m);
  }

  /** openGate lets go what waited for the first edge; out is where publishes go now, if not to lead. */
  openGate(out: Conn | undefined): void {
    this.out = out;
    const waiting = this.gate ?? [];
    this.gate = undefined;
    for (const go of waiting) go();
  }

  // Subscriptions

  /** restore asks a connection for all patterns, and resolves when it has them, or is lost. */
  async restore(c: Conn): Promise<void> {
    await Promise.all(this.interests.all.map((interest) => this.ask(c, interest)));
  }

  /** ask asks a connection for a pattern, and resolves when it has answered, or is lost. */
  ask(c: Conn, interest: Interest): Promise<void> {
    const answered = this.#ask(c, interest).finally(() => this.asking.delete(answered));
    this.asking.add(answered);
    return answered;
  }

  async #ask(c: Conn, interest: Interest): Promise<void> {
    try {
      await c.request("SUB", interest.name);
      interest.confirmed = true;
      for (const { resolve } of interest.waiting.splice(0)) resolve();
    } catch (err) {
      const error = asError(err, "internal", "a fault of this client");
      if (error.code !== "disconnected") this.#refuse(interest, error);
    }
  }

  // #refuse ends the subscriptions to a pattern that an edge refuses.
  #refuse(interest: Interest, error: MillraceError): void {
    if (!this.interests.drop(interest)) return;
    const { tenant, pattern, subs, waiting } = interest;
    for (const c of [this.lead, this.second]) if (c?.asked.delete(interest.name)) this.#unsub(c, interest);
    if (subs.length > waiting.length) this.events.emit("subscriptionError", { tenant, pattern, code: error.code });
    for (const sub of subs) sub.end(error);
    for (const { reject } of waiting.splice(0)) reject(error);
  }

  async subscribe(sub: Subscription): Promise<void> {
    if (this.over) throw this.over;
    const { interest, isNew } = this.interests.add(sub);
    if (interest.confirmed) return;
    const answer = new Promise<void>((resolve, reject) => void interest.waiting.push({ resolve, reject }));
    if (isNew) {
      if (this.lead && !this.leaving) void this.ask(this.lead, interest);
      if (this.second) void this.ask(this.second, interest);
    }
    return answer;
  }

  async leave(sub: Subscription): Promise<void> {
    const interest = this.interests.remove(sub);
    if (!interest) return;
    for (const { resolve } of interest.waiting.splice(0)) resolve(); // its queue was full before the answer
    const left = [this.lead, this.second].filter((c) => c?.asked.delete(interest.name));
    await Promise.all(left.map((c) => this.#unsub(c as Conn, interest)));
  }

  // #unsub resolves when the edge has ended a subscription, or the connection has ended.
  #unsub(c: Conn, { name }: Interest): Promise<void> {
    return c.request("UNSUB", name).catch(() => {});
  }

  queueFull({ tenant, pattern }: Subscription, dropped: number): void {
    this.events.emit("queueFull", { tenant, pattern, dropped });
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
    const ended = [this.lead, this.second].map((c) => c?.close());
    this.openGate(undefined);
    if (error) this.#giveHeld();
    for (const interest of this.interests.all) {
      this.interests.drop(interest);
      for (const sub of interest.subs) sub.end(error);
      for (const { reject } of interest.waiting.splice(0)) reject(error ?? this.over);
    }
    this.events.emit("closed", { error });
    void Promise.all(ended).then(() => this.#settle(error));
  }
}
