import type { Connection, Owner } from "./connection.js";
import { asError, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import { move } from "./move.js";
import type { ConnectOptions } from "./options.js";
import { reconnect } from "./reconnect.js";
import { Search } from "./search.js";
import { SessionState } from "./state.js";
import { suspect } from "./suspect.js";
import { now } from "./timers.js";
import { TokenClock } from "./token.js";
import { type Sleeper, watchSleep } from "./wake.js";
import { WayBack } from "./wayback.js";

type Conn = Connection<Readers>;

const SILENCE = 3000; // ms of a tentative second connection

/**
 * A Session decides what a client does next, by what its connections and the machine tell. Moves,
 * suspicions and reconnects are tasks, of which one runs at most. A trail and a way back to
 * WebTransport may go on beside it.
 */
export class Session extends SessionState implements Owner<Readers>, Sleeper {
  readonly clock: TokenClock;
  readonly search: Search;
  /** Resolves at the end, with the error or undefined. */
  readonly closed: Promise<MillraceError | undefined>;
  #task: AbortController | undefined;
  readonly #way: WayBack = new WayBack(this);
  #unwatch: (() => void) | undefined;
  #settle!: (error: MillraceError | undefined) => void;

  constructor(addresses: readonly URL[], options: ConnectOptions) {
    super(options);
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

  override follow(c: Conn): void {
    super.follow(c);
    if (this.since) this.#way.follow(c);
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
        this.giveHeld();
      }
      this.promote(); // the first one has no subscriptions any more
      if (!this.reconnecting) this.run((signal) => reconnect(this, from, error, signal));
    }
  }

  // Sleeper

  slept(): void {
    for (const c of [this.lead, this.second]) c?.awake(false);
    this.hurry();
  }

  networkChanged(): void {
    for (const c of [this.lead, this.second]) c?.awake(true);
    this.hurry();
    this.#way.soon();
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
      this.giveHeld();
      this.trail?.flush();
    }
    this.subscriber.end(error, this.over);
    this.events.emit("closed", { error });
    void Promise.all(ended).then(() => this.#settle(error));
  }
}
