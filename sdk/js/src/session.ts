import type { Connection, Owner } from "./connection.js";
import { asError, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import { move } from "./move.js";
import { badOption, type ConnectOptions } from "./options.js";
import { reconnect } from "./reconnect.js";
import type { Runtime } from "./runtime.js";
import { Searcher } from "./searcher.js";
import { SessionState } from "./state.js";
import { suspect } from "./suspect.js";
import { now, throwIfAborted } from "./timers.js";
import { TokenSource } from "./token.js";
import { Upgrade } from "./upgrade.js";
import { type Sleeper, watchSleep } from "./wake.js";

type Conn = Connection<Readers>;

const SILENCE = 3000; // ms of a tentative next connection

/**
 * A Session decides what a client does next, by what its connections and the machine tell. Moves,
 * suspicions and reconnects are tasks, of which one runs at most. A trail and a way back to
 * WebTransport may go on beside it.
 */
export class Session extends SessionState implements Owner<Readers>, Sleeper {
  readonly tokens: TokenSource;
  readonly searcher: Searcher;
  /** Resolves at the end, with the error or undefined. */
  readonly closed: Promise<MillraceError | undefined>;
  #task: AbortController | undefined;
  readonly #upgrade: Upgrade = new Upgrade(this);
  #unwatch: (() => void) | undefined;
  #settle!: (error: MillraceError | undefined) => void;

  constructor(addresses: readonly URL[], options: ConnectOptions, runtime?: Runtime) {
    super(options, runtime);
    this.tokens = new TokenSource(
      this.settings,
      () => this.moveIfDue(),
      (err) => this.#providerFailed(err),
    );
    this.searcher = new Searcher(addresses, this.settings, this.tokens, this);
    this.closed = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  #providerFailed(err: MillraceError): void {
    const { code, message, cause } = err;
    if (code !== "logged_out") {
      this.events.emit("edgeError", { code, detail: message.slice(code.length + 2), cause });
    } else if (this.since) this.finish(err); // else connect fails with it
  }

  /** renewToken asks the token provider now, and moves if there is another token. */
  async renewToken(): Promise<void> {
    if (this.over) throw this.over;
    if (!this.tokens.provided) badOption("there is no tokenProvider that could give another token");
    try {
      await this.tokens.renew();
    } catch (err) {
      if (this.over && (err as MillraceError).code !== "logged_out") throw this.over;
      throw err;
    }
  }

  /** retry tries to reconnect now, if the client waits for that. */
  retry(): void {
    if (!this.reconnecting || !this.waits) return;
    this.attempts = 1; // the first attempt after a loss has no pause
    this.hurry();
  }

  /** start connects, the first time. */
  async start(signal: AbortSignal): Promise<void> {
    try {
      const c = await this.searcher.first(signal);
      this.setCurrent(c);
      throwIfAborted(signal);
      if (c.error) throw c.error; // nobody was told
      this.since = now();
      this.#unwatch = watchSleep(this);
      this.#upgrade.follow(c);
      this.events.emit("connected", this.place);
      this.linked();
      this.moveIfDue(); // it may drain already
    } catch (err) {
      this.tokens.stop();
      void this.current?.close();
      throw err;
    }
  }

  override setCurrent(c: Conn): void {
    super.setCurrent(c);
    if (this.since) this.#upgrade.follow(c);
  }

  /** moveIfDue starts the move that is due, if there is one. */
  moveIfDue(): void {
    const { current } = this;
    if (this.#task || this.over || !current?.alive) return;
    if (current.drains) this.run((signal) => move(this, current, "drain", signal));
    else if (current.token !== this.tokens.token) this.run((signal) => move(this, current, "token", signal));
  }

  /** Nothing goes on, and nothing has to: it may move because it would like to. */
  get idle(): boolean {
    const { current, merger } = this;
    return !this.#task && !this.over && current?.alive === true && !current.drains && (!merger || merger.done(now()));
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
        if (this.current?.alive) this.moveIfDue();
      },
      (err: unknown) => {
        if (this.#task === own) this.finish(asError(err, "internal", "a fault of this client"));
      },
    );
  }

  // Owner

  draining(from: Conn): void {
    this.searcher.drained.add(from.edge);
    if (from === this.current) this.moveIfDue();
  }

  errorLine(from: Conn, code: string, detail: string): void {
    this.presences.ended(from, code, detail);
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
    const { current } = this;
    if (from === this.next && this.tentative && now() - from.lastByte >= SILENCE) {
      from.fail(new MillraceError("timeout", "the edge does not answer"));
    }
    // An edge that drains may be slow to answer.
    if (
      from !== current ||
      this.#task ||
      this.gate ||
      this.over ||
      this.reconnecting ||
      !this.since ||
      current.drains
    ) {
      return false;
    }
    this.suspected = from;
    this.trail?.hold(true);
    this.searcher.noteSilent(from);
    this.run((signal) => suspect(this, from, signal));
    return true;
  }

  woke(from: Conn): void {
    if (from !== this.suspected) return;
    this.searcher.noteSilent(from, true);
    this.#task?.abort();
    this.#task = undefined;
    void this.next?.close();
    this.next = undefined;
    this.keepCurrent();
    this.events.emit("recovered", { ...this.place, away: 0 });
    this.openGate(undefined);
    this.moveIfDue();
  }

  lost(from: Conn, error: MillraceError): void {
    this.reportUnread(from);
    const ofThisToken = from.token === this.tokens.token;
    const final =
      /_not_allowed$|^token_revoked$/.test(error.code) || (error.code === "token_expired" && !this.tokens.provided);
    // One that may take over is no reason to end: the current one may be back.
    const spare = from === this.next && this.suspected !== undefined;
    if (final && ofThisToken && !spare) return this.finish(error);
    if (error.closeCode === undefined && /^(disconnected|timeout)$/.test(error.code)) this.searcher.noteSilent(from);
    if (from === this.next && !this.leaving) {
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
        this.giveHeld();
      }
      this.promote(); // the current one has no subscriptions any more
      if (!this.reconnecting) this.run((signal) => reconnect(this, from, error, signal));
    }
  }

  // Sleeper

  slept(): void {
    for (const c of [this.current, this.next]) c?.awake(false);
    this.hurry();
  }

  networkChanged(): void {
    for (const c of [this.current, this.next]) c?.awake(true);
    this.hurry();
    this.#upgrade.soon();
  }

  // The end

  /** finish ends the client; it is called once or more, and the first time counts. */
  finish(error: MillraceError | undefined): void {
    if (this.over) return;
    this.over = new MillraceError("closed", "the client has been closed", error ? { cause: error } : {});
    this.#task?.abort();
    this.tokens.stop();
    this.#upgrade.stop();
    this.#unwatch?.();
    if (!error) this.presences.leaveAll();
    for (const c of [this.current, this.next]) if (c && (error || c === this.suspected)) this.reportUnread(c);
    const ended = [this.current?.close(), this.next?.close(), this.trail?.stop()];
    this.openGate(undefined);
    if (error) {
      this.giveHeld();
      this.trail?.flush();
    }
    this.subscriber.end(error, this.over);
    this.presences.end(error, this.over);
    this.events.emit("closed", { error });
    void Promise.all(ended).then(() => this.#settle(error));
  }
}
