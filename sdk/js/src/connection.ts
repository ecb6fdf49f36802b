import type { Confirms, Names } from "./confirms.js";
import { asError, disconnected, MillraceError } from "./errors.js";
import { DeliverDecoder, type Delivered, isUnknownFrame } from "./frames.js";
import type { KeepAlive, Watched } from "./keepalive.js";
import { knownLine, lastWord, type Why, whyDenied } from "./lines.js";
import type { Link, LinkEnd, Transport } from "./link.js";
import type { Settings } from "./options.js";
import { Requests, type Waiter } from "./requests.js";
import { now } from "./timers.js";
import { type Mark, Unread } from "./unread.js";

/** Who owns a connection. */
export interface Owner<T> {
  /** A message; valid until this returns. */
  delivered(from: Connection<T>, message: Delivered<T>): void;
  /** A presence frame, the bytes of b from start to end; it throws if that is invalid. */
  presence(from: Connection<T>, b: Uint8Array, start: number, end: number): void;
  /** A line that the core does not know. */
  line(from: Connection<T>, line: string): void;
  /** The edge asks to leave. */
  draining(from: Connection<T>): void;
  /** An ERR line that answers no request. */
  errorLine(from: Connection<T>, code: string, detail: string, why?: string): void;
  roundTrip(rtt: number): void;
  /** Nothing has come for longer than usual; says whether the connection is suspect now. */
  silent(from: Connection<T>): boolean;
  /** A suspect connection brings something. */
  woke(from: Connection<T>): void;
  /** What link says may have changed. */
  linked(): void;
  /** The connection has ended, other than by close; called once, and not before it is made. */
  lost(from: Connection<T>, error: MillraceError): void;
}

/** Who makes what a connection has. */
export interface Maker {
  watch(c: Watched): KeepAlive;
  /** confirms makes a list of publishes that are answered; undefined: there are none. */
  confirms(): Confirms | undefined;
  /** edges returns the edges that some addresses mean. */
  edges(addresses: readonly URL[], signal: AbortSignal): Promise<string[]>;
}

/** What an edge is asked for. */
export type Verb = "SUB" | "JOIN" | "WHO";
/** What ends that. */
export type Undo = "UNSUB" | "LEAVE" | "UNWHO";

/** A Connection is a link with requests, their answers, and a watch that finds out that it is dead. */
export class Connection<T> {
  readonly edge: string;
  readonly transport: Transport;
  /** The token that it was opened with. */
  readonly token: string;
  /** When it began, in milliseconds of now. */
  readonly begun: number = now();
  /** The patterns that this connection has been asked for, as `tenant:pattern`. */
  readonly asked: Set<string> = new Set();
  /** Those that it has acknowledged. */
  readonly confirmed: Set<string> = new Set();
  /** Those that it is to be asked for again, as the edge cannot say yet. */
  readonly postponed: Set<string> = new Set();
  /** The edge has said that it drains. */
  drains = false;
  alive = true;
  /** The edge has its link to the other edges; undefined: it is not known yet. */
  link: boolean | undefined;
  /** The features that the edge has; undefined: they are not known yet. */
  features: readonly string[] | undefined;
  /** Resolves when they are known, or the connection has ended. */
  readonly featured: Promise<void>;
  /** The UNSUBs, LEAVEs and UNWHOs without an answer, by `verb:tenant:pattern`. */
  readonly ending: Map<string, Promise<void>> = new Map();
  /** The publishes that the edge answers. */
  readonly confirms: Confirms | undefined;
  /** Why it is not alive any more. */
  error: MillraceError | undefined;
  /** Resolves when the link has ended. */
  readonly ended: Promise<void>;

  readonly #link: Link;
  #owner: Owner<T>;
  readonly #liveness: KeepAlive;
  readonly #decoder = new DeliverDecoder<T>();
  readonly #requests = new Requests();
  #knowFeatures!: () => void;
  #pings: (Waiter<number> & { at: number; sendTime: number; mark: Mark })[] = [];
  readonly #held = new Set<() => void>(); // publishes that wait for the transport
  readonly #unread = new Unread();
  #made = false; // the owner has it
  #asks = true; // FEATURES has no answer yet
  #up = true; // the last LINK line
  #lastWord: string | undefined; // behind ERR: of a line that says why the edge closes

  constructor(edge: string, link: Link, token: string, owner: Owner<T> & Maker, settings: Settings) {
    this.edge = edge;
    this.transport = link.transport;
    this.token = token;
    this.#link = link;
    this.confirms = owner.confirms();
    this.#owner = owner;
    const c = this;
    this.#liveness = owner.watch({
      get unanswered() {
        return c.#pings[0];
      },
      get unreadSince() {
        return c.#unread.waits(c.lastByte);
      },
      get owed() {
        return c.#requests.owed || c.confirms?.owed === true;
      },
      pingFirst: link.fragile ? edge + settings.paths.ping : undefined,
      ask: () => void this.ping().catch(() => {}), // the end is told elsewhere
      probe: () => link.probe(),
      silent: () => this.#owner.silent(this),
      woke: () => this.#owner.woke(this),
      over: () => this.fail(new MillraceError("timeout", "the edge does not answer")),
    });
    this.featured = new Promise((resolve) => {
      this.#knowFeatures = resolve;
    });
    let ended!: () => void;
    this.ended = new Promise((resolve) => {
      ended = resolve;
    });
    link.start({
      bytes: () => {
        if (this.alive) this.#liveness.arrived(now());
      },
      line: (line) => this.#try(() => this.#line(line)),
      frame: (b, start, end) => {
        if (!this.alive) return;
        this.#active();
        if (isUnknownFrame(b, start, end)) return;
        let message: Delivered<T>;
        try {
          if (b[start] === 5) return this.#owner.presence(this, b, start, end);
          message = this.#decoder.decode(b, start, end);
        } catch (err) {
          return this.#broken(err);
        }
        this.#owner.delivered(this, message);
      },
      ended: (end) => {
        ended();
        this.#lose(end);
      },
    });
    this.#made = true;
    if (this.alive) this.send(`FEATURES:link,work_queue,own,reasons${settings.sender ? ",sender" : ""}`);
    if (this.alive) this.#liveness.arm();
  }

  /** When the last bytes came, in milliseconds of now. */
  get lastByte(): number {
    return this.#liveness.heard;
  }

  /** request sends a line such as SUB for `tenant:pattern`, and resolves when the edge has done it. mode follows the name. */
  request(verb: Verb | Undo, name: string, mode = ""): Promise<void> {
    if (verb === "SUB") this.asked.add(name);
    const key = `${verb}:${name}`;
    const answer = this.#answer(key);
    if (this.alive) this.send(key + mode);
    return answer;
  }

  /** resume sends RSUB, and resolves when the edge has answered. */
  resume(name: string, from: string): Promise<void> {
    const answer = this.#answer(`RSUB:${name}`);
    if (this.alive) this.send(`RSUB:${name}:${from}`);
    return answer;
  }

  /** leave sends UNSUB, LEAVE or UNWHO, and resolves when the edge has done it, or the connection has ended. */
  leave(name: string, verb: Undo = "UNSUB"): Promise<void> {
    const key = `${verb}:${name}`;
    const left = this.request(verb, name).catch(() => {});
    const done = left.then(() => {
      if (this.ending.get(key) === done) this.ending.delete(key);
    });
    this.ending.set(key, done);
    return done;
  }

  /** resumed is the answer to RSUB. */
  resumed(name: string): void {
    this.#requests.answer(`RSUB:${name}`, (w) => w.resolve());
  }

  /**
   * postpone resolves after ms, when the edge is to be asked for a pattern again; the error is
   * `disconnected` if it is asked for that no more, or not by this owner.
   */
  postpone(name: string, ms: number): Promise<void> {
    this.postponed.add(name);
    const key = `AGAIN:${name}`;
    const timer = setTimeout(() => this.#requests.answer(key, (w) => w.resolve()), ms);
    return this.#answer(key).finally(() => clearTimeout(timer));
  }

  // #answer resolves with the answer to a request.
  #answer(key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.alive) this.#requests.add(key, { resolve, reject });
      else reject(disconnected());
    });
  }

  /** forget is for a pattern that it is asked for no more; it says whether it was. */
  forget(name: string): boolean {
    this.confirmed.delete(name);
    this.postponed.delete(name);
    this.#requests.answer(`AGAIN:${name}`, (w) => w.reject(disconnected()));
    return this.asked.delete(name);
  }

  /** ping resolves with the round trip in milliseconds: all that was sent before has been handled. */
  ping(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(disconnected());
      const mark = this.#unread.mark();
      this.#pings.push({ at: now(), sendTime: this.#unread.sendTime(mark), mark, resolve, reject });
      this.#link.send("PING");
      this.#liveness.probe();
      if (this.#pings.length === 1) this.#liveness.arm();
    });
  }

  /** publish sends a frame, and resolves when it is with the transport, or the connection has a new owner. */
  publish(frame: Uint8Array<ArrayBuffer>, names: Names): Promise<void> | undefined {
    this.confirms?.note(frame.length, names);
    const first = this.#unread.publish(frame.length, now());
    this.#link.send(frame);
    if (first) this.#liveness.arm();
    const sent = this.#link.sent();
    return (
      sent &&
      new Promise((resolve) => {
        const go = (): void => {
          this.#held.delete(go);
          resolve();
        };
        this.#held.add(go);
        void sent.then(go, go);
      })
    );
  }

  /** awake asks at once whether the edge is there, if nothing has come for a second, or always; its time starts over. */
  awake(always: boolean): void {
    this.#liveness.awake(always);
  }

  /** handTo gives the connection another owner, for which it is not watched any more. Nobody waits for its answers: what waited is rejected. */
  handTo(owner: Owner<T>): void {
    this.#owner = owner;
    this.#liveness.stop();
    this.#requests.reject(disconnected());
    this.confirms?.fail();
    for (const ping of this.#pings) ping.reject(disconnected()); // their PONGs may come yet
    for (const go of this.#held) go();
  }

  /** tell sends a line that has no answer. */
  tell(line: string): void {
    this.#link.send(line);
  }

  /** send sends what is answered. */
  send(message: string | Uint8Array<ArrayBuffer>): void {
    const first = this.#unread.request(message.length, now(), this.lastByte);
    this.#link.send(message);
    if (first) this.#liveness.arm();
  }

  /** takeUnread returns how many publishes the edge may not have read, of those without an answer. They count once. */
  takeUnread(): number {
    return this.#unread.take();
  }

  /** close ends the connection; its owner is not told. */
  close(): Promise<void> {
    if (this.alive) {
      this.#end(disconnected());
      this.#link.close();
    }
    return this.ended;
  }

  #active(): void {
    const time = now();
    this.#liveness.arrived(time);
    this.#liveness.active(time);
  }

  #line(line: string): void {
    if (line === "PONG") this.#liveness.arrived(now());
    else this.#active();
    const l = knownLine(line);
    if (!l) return this.#owner.line(this, line); // later edges may have more
    if (l.kind === "OK") {
      const name = `${l.tenant}:${l.pattern}`;
      if (this.#requests.answer(`${l.verb}:${name}`, (w) => w.resolve()) && l.verb === "SUB") {
        this.confirmed.add(name);
        this.postponed.delete(name);
      }
      // An RSUB that has ended before its answer gets none.
      if (l.verb === "UNSUB") while (this.#requests.answer(`RSUB:${name}`, (w) => w.reject(disconnected()))) {}
    } else if (l.kind === "ERR") this.#error(l.code, l.detail, line.slice(4), l);
    else if (l.kind === "PING") this.#link.send("PONG");
    else if (l.kind === "PONG") {
      const ping = this.#pings.shift();
      if (!ping) return;
      const rtt = now() - ping.at;
      this.#unread.proven(ping.mark, now());
      ping.resolve(rtt);
      this.#liveness.ponged(rtt);
      this.#owner.roundTrip(rtt);
    } else if (l.kind === "RECONNECT" && !this.drains) {
      this.drains = true;
      this.#owner.draining(this);
    } else if (l.kind === "FEATURES") this.#asked(l.features.split(","));
    else if (l.kind === "LINK") {
      this.#up = l.up;
      if (!this.#asks) this.#asked();
    }
  }

  // #asked takes the answer to FEATURES, behind which stands how the link is.
  #asked(features = this.features ?? []): void {
    this.#asks = false;
    this.features = features;
    this.#knowFeatures();
    this.link = this.#up;
    this.#owner.linked();
  }

  // #error takes an ERR line; text is all that stands behind ERR:, denied why.
  #error(code: string, detail: string, text: string, denied: Why): void {
    if (this.#asks && code === "bad_request") return this.#asked(); // an edge of an earlier version
    const last = lastWord(text);
    if (last) this.#lastWord = text;
    if (this.confirms?.error(code, detail, denied)) return;
    const why = whyDenied(denied, detail);
    const [, joins, tenant, pattern] = /^(?:(?:UN|R)?SUB|(?:UN)?WHO|(JOIN|LEAVE)):([^:]+):(.+)$/s.exec(detail) ?? [];
    // What the broker cannot do yet, the edge has noted, and acknowledges.
    const refused =
      tenant !== undefined &&
      pattern !== undefined &&
      code !== "broker_unavailable" &&
      this.#requests.answer(detail, (w) =>
        w.reject(new MillraceError(code, why, joins ? { tenant, channel: pattern } : { tenant, pattern })),
      );
    // What ends the connection is told as the error of that.
    if (!refused && !/^(token_|unauthorized|forbidden|closed_by)/.test(code))
      this.#owner.errorLine(this, code, detail, why);
    // These leave nothing to wait for, and a close that follows may be late.
    if (code === "token_revoked" || code === "token_expired") this.fail(last as MillraceError);
  }

  #try(act: () => void): void {
    if (!this.alive) return;
    try {
      act();
    } catch (err) {
      this.#broken(err);
    }
  }

  #broken(err: unknown): void {
    this.fail(asError(err, "protocol", "the edge broke the protocol"));
  }

  /** fail abandons the connection, and tells its owner. */
  fail(error: MillraceError): void {
    this.#end(error);
    this.#link.close();
    if (this.#made) this.#owner.lost(this, error);
  }

  #lose({ closeCode, error }: LinkEnd): void {
    if (!this.alive) return;
    const last = this.#lastWord === undefined ? undefined : lastWord(this.#lastWord, closeCode);
    const code = closeCode === 4401 ? "token_expired" : closeCode === 4403 ? "token_revoked" : "disconnected";
    // Deliveries may have been dropped long before, too.
    const told = last?.code !== "slow_consumer" || closeCode === 4429;
    let text = "the connection has ended";
    if (closeCode === 1009) {
      text = "a message was too large";
      const names = this.confirms?.tooLarge();
      if (names) {
        this.#unread.told();
        this.#owner.errorLine(this, "payload_too_large", `PUB:${names.tenant}:${names.channel}`);
      }
    }
    const why = last && told ? last : (error ?? new MillraceError(code, text, { closeCode }));
    this.#end(why);
    if (this.#made) this.#owner.lost(this, why);
  }

  // #end tells all that wait for the edge.
  #end(error: MillraceError): void {
    this.alive = false;
    this.error = error;
    this.#liveness.stop();
    const gone = disconnected(error);
    this.#knowFeatures();
    this.#requests.reject(gone);
    this.confirms?.fail();
    for (const ping of this.#pings) ping.reject(gone);
    this.#pings = [];
  }
}
