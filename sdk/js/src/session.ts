import { badOption } from "./bad-option.js";
import type { Confirms } from "./confirms.js";
import type { Connection, Maker, Owner } from "./connection.js";
import { Dialer } from "./dial.js";
import { asError, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import { KeepAlive, type Watched } from "./keepalive.js";
import type { ConnectOptions, Settings } from "./options.js";
import type { Histories, Presences } from "./parts.js";
import { reconnect } from "./reconnect.js";
import type { Runtime } from "./runtime.js";
import { Searcher } from "./searcher.js";
import { SessionState } from "./state.js";
import { backOff, now, throwIfAborted, within } from "./timers.js";
import { TokenSource } from "./token.js";

type Conn = Connection<Readers>;

const MINUTE = 60_000; // ms
const LEAVING = 2000; // ms until the edge has handled what was sent

/** What a session has beside the core. */
export interface Parts {
  history?: new (s: SessionState) => Histories;
  presence?: new (s: SessionState) => Presences;
  webtransport?: new (s: Settings) => Dialer;
}

/**
 * A Session decides what a client does next, by what its connection and the machine tell. Of its tasks, such as to
 * reconnect, one runs at most.
 */
export class Session extends SessionState implements Owner<Readers>, Maker {
  readonly tokens: TokenSource;
  readonly searcher: Searcher;
  readonly histories: Histories | undefined;
  readonly presences: Presences | undefined;
  /** Resolves at the end, with the error or undefined. */
  readonly closed: Promise<MillraceError | undefined>;
  protected task: AbortController | undefined;
  #settle!: (error: MillraceError | undefined) => void;

  constructor(addresses: readonly URL[], options: ConnectOptions, runtime?: Runtime, parts: Parts = {}) {
    super(options, runtime);
    this.histories = parts.history && new parts.history(this);
    this.presences = parts.presence && new parts.presence(this);
    this.tokens = new TokenSource(
      this.settings,
      () => this.moveIfDue(),
      (err) => this.#providerFailed(err),
    );
    this.searcher = new Searcher(
      addresses,
      this.settings,
      this.tokens,
      this,
      new (parts.webtransport ?? Dialer)(this.settings),
    );
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
    if (!this.tokens.provided) badOption("there is no tokenProvider");
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
      const c = await this.#first(signal);
      this.setCurrent(c);
      throwIfAborted(signal);
      if (c.error) throw c.error; // nobody was told
      this.since = now();
      this.follow(c);
      this.events.emit("connected", this.place);
      this.linked();
      this.moveIfDue(); // it may drain already
    } catch (err) {
      this.tokens.stop();
      void this.current?.close();
      throw err;
    }
  }

  // #first tries all edges until one takes the client, with pauses, as long as that may help.
  async #first(signal: AbortSignal): Promise<Conn> {
    for (let attempt = 2; ; attempt++) {
      try {
        return await this.searcher.first(signal);
      } catch (err) {
        const { failFast, maxBackOff } = this.settings;
        if (failFast || signal.aborted || this.searcher.final(err)) throw err;
        const error = err as MillraceError;
        const delay = Math.max(backOff(attempt, this.settings), Math.min(error.retryAfter ?? 0, maxBackOff));
        this.events.emit("connecting", { attempt, delay, error });
        await this.pause(delay, signal);
      }
    }
  }

  /** moveIfDue leaves the current connection, if that is due. */
  moveIfDue(): void {
    const { current } = this;
    if (this.task || this.over || !current?.alive) return;
    if (current.drains) this.run((signal) => this.leave(current, "drain", signal));
    else if (current.token !== this.tokens.token) this.run((signal) => this.leave(current, "token", signal));
  }

  /** leave ends the current connection when the edge has handled what was sent; the client then reconnects. */
  protected async leave(from: Conn, reason: "drain" | "token", signal: AbortSignal): Promise<void> {
    await within(LEAVING, from.ping(), from.ended);
    throwIfAborted(signal);
    const drains = reason === "drain";
    from.fail(new MillraceError(drains ? "draining" : "disconnected", drains ? undefined : "another token"));
  }

  /** run runs a task until it ends, another one takes its place, or the end. */
  run(task: (signal: AbortSignal) => Promise<void>): void {
    this.task?.abort();
    const own = new AbortController();
    this.task = own;
    task(own.signal).then(
      () => {
        if (this.task !== own) return;
        this.task = undefined;
        if (this.current?.alive) this.moveIfDue();
      },
      (err: unknown) => {
        if (this.task === own) this.finish(asError(err, "internal", "a fault of this client"));
      },
    );
  }

  // Owner

  watch(c: Watched): KeepAlive {
    return new KeepAlive(c, this.settings);
  }

  async edges(addresses: readonly URL[], _: AbortSignal): Promise<string[]> {
    if (addresses.some(({ pathname }) => pathname !== "/"))
      badOption('a list of edges: add import "@millrace/client/moves"');
    return addresses.map(({ origin }) => origin);
  }

  confirms(): Confirms | undefined {
    return this.histories?.confirms();
  }

  draining(from: Conn): void {
    this.searcher.drained.add(from.edge);
    if (from === this.current) this.moveIfDue();
  }

  errorLine(from: Conn, code: string, detail: string, why?: string): void {
    this.presences?.ended(from, code, detail);
    const [, tenant, channel] = /^PUB:([^:]+):(.+)$/s.exec(detail) ?? [];
    if (code === "slow_consumer") this.events.emit("slowConsumer", { dropped: Number(detail) });
    else if (/^(in|e)gress_limited$/.test(code)) {
      this.limitedUntil = now() + MINUTE;
      const direction = code[0] === "e" ? "in" : "out";
      this.events.emit("limited", { direction, delay: Number(detail) * 1000 });
    } else if (tenant && channel && code !== "broker_unavailable") {
      this.events.emit("publishError", { tenant, channel, code, ...(why && { detail: why }) });
    } else this.events.emit("edgeError", { code, detail });
  }

  roundTrip(rtt: number): void {
    this.rtt = rtt;
    this.events.emit("roundTrip", { rtt });
  }

  silent(_: Conn): boolean {
    return false;
  }

  woke(_: Conn): void {}

  lost(from: Conn, error: MillraceError): void {
    this.reportUnread(from);
    const ofThisToken = from.token === this.tokens.token;
    const final =
      /_not_allowed$|^token_revoked$/.test(error.code) || (error.code === "token_expired" && !this.tokens.provided);
    if (final && ofThisToken && !this.spare(from)) return this.finish(error);
    if (error.closeCode === undefined && /^(disconnected|timeout)$/.test(error.code))
      this.searcher.dialer.noteSilent(from);
    this.replace(from, error);
  }

  /** spare says whether a connection is one without which the client goes on. */
  protected spare(_: Conn): boolean {
    return false;
  }

  /** replace goes on without a connection that is lost. */
  protected replace(from: Conn, error: MillraceError): void {
    if (from === this.current && !this.reconnecting) this.run((signal) => reconnect(this, from, error, signal));
  }

  // The end

  /** finish ends the client; it is called once or more, and the first time counts. */
  finish(error: MillraceError | undefined): void {
    if (this.over) return;
    this.over = new MillraceError("closed", "the client has been closed", error ? { cause: error } : {});
    this.task?.abort();
    this.tokens.stop();
    if (!error) this.presences?.leaveAll();
    const ended = this.end(error);
    this.change();
    this.subscriber.end(error, this.over);
    this.presences?.end(error, this.over);
    this.events.emit("closed", { error });
    void Promise.all(ended).then(() => this.#settle(error));
  }

  /** end ends the connections. */
  protected end(error: MillraceError | undefined): (Promise<void> | undefined)[] {
    const { current } = this;
    if (current && error) this.reportUnread(current);
    return [current?.close()];
  }
}
