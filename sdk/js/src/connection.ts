import { asError, MillraceError } from "./errors.js";
import { DeliverDecoder, type Delivered } from "./frames.js";
import { lastWord, parseServerLine, type ServerLine } from "./lines.js";
import type { Link, LinkEnd } from "./link.js";
import type { Settings, Transport } from "./options.js";
import { now } from "./timers.js";

/** Who owns a connection. */
export interface Owner<T> {
  /** A message; valid until this returns. */
  delivered(from: Connection<T>, message: Delivered<T>): void;
  /** The edge asks to leave. */
  draining(from: Connection<T>): void;
  /** An ERR line that answers no request. */
  told(code: string, detail: string): void;
  roundTrip(rtt: number): void;
  /** What link says may have changed. */
  linked(): void;
  /** The connection has ended, other than by close; called once, and not before it is made. */
  lost(from: Connection<T>, error: MillraceError): void;
}

interface Waiter<V> {
  resolve(value: V): void;
  reject(err: MillraceError): void;
}

const LATE = 1000; // ms; a timer that is so late was frozen
const SLOWEST = 1.024; // bytes a millisecond: the lowest ingress cap of an edge
const EXTRA = 32; // bytes that it counts for each message besides its own
const LONGEST = 2 ** 31 - 1; // ms of a timer

/** A Connection is a link with requests, their answers, and the PINGs that find out that it is dead. */
export class Connection<T> {
  readonly edge: string;
  readonly transport: Transport;
  /** The token that it was opened with. */
  readonly token: string;
  /** When the last bytes came, in milliseconds of now. */
  lastByte: number = now();
  /** The patterns that this connection has been asked for, as `tenant:pattern`. */
  readonly asked: Set<string> = new Set();
  /** The edge has said that it drains. */
  drains = false;
  alive = true;
  /** The edge has its link to the other edges; undefined: it is not known yet. */
  link: boolean | undefined;
  /** Why it is not alive any more. */
  error: MillraceError | undefined;
  /** Resolves when the link has ended. */
  readonly ended: Promise<void>;

  readonly #link: Link;
  readonly #owner: Owner<T>;
  readonly #settings: Settings;
  readonly #decoder = new DeliverDecoder<T>();
  readonly #waiters = new Map<string, Waiter<void>[]>(); // by request; the oldest first
  #pings: (Waiter<number> & { at: number; patience: number })[] = [];
  #sent = 0; // bytes since the last PING
  #awake = 0; // when a timer was last late
  #made = false; // the owner has it
  #asks = true; // FEATURES has no answer yet
  #up = true; // the last LINK line
  #lastError: MillraceError | undefined; // of an ERR line: what it says is why the edge closes
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(edge: string, link: Link, token: string, owner: Owner<T>, settings: Settings) {
    this.edge = edge;
    this.transport = link.transport;
    this.token = token;
    this.#link = link;
    this.#owner = owner;
    this.#settings = settings;
    let ended!: () => void;
    this.ended = new Promise((resolve) => {
      ended = resolve;
    });
    link.start({
      line: (line) => this.#try(() => this.#line(line)),
      frame: (b, start, end) => {
        this.lastByte = now();
        if (!this.alive) return;
        let message: Delivered<T>;
        try {
          message = this.#decoder.decode(b, start, end);
        } catch (err) {
          return this.#broken(err);
        }
        owner.delivered(this, message);
      },
      ended: (end) => {
        ended();
        this.#lose(end);
      },
    });
    this.#made = true;
    if (this.alive) this.#send("FEATURES:link");
    if (this.alive && settings.keepAlive > 0) this.#watch();
  }

  /** request sends SUB or UNSUB for `tenant:pattern`, and resolves when the edge has done it. */
  request(verb: "SUB" | "UNSUB", name: string): Promise<void> {
    if (verb === "SUB") this.asked.add(name);
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(disconnected());
      const key = `${verb}:${name}`;
      const all = this.#waiters.get(key);
      if (all) all.push({ resolve, reject });
      else this.#waiters.set(key, [{ resolve, reject }]);
      this.#send(key);
    });
  }

  /** ping resolves with the round trip in milliseconds: all that was sent before has been handled. */
  ping(): Promise<number> {
    return new Promise((resolve, reject) => {
      if (!this.alive) return reject(disconnected());
      this.#pings.push({ at: now(), patience: this.#sent / SLOWEST, resolve, reject });
      this.#link.send("PING");
      this.#sent = 0;
    });
  }

  /** publish sends a frame, and resolves when it is with the transport. */
  publish(frame: Uint8Array<ArrayBuffer>): Promise<void> | undefined {
    this.#send(frame);
    return this.#link.sent();
  }

  #send(message: string | Uint8Array<ArrayBuffer>): void {
    this.#sent += message.length + EXTRA;
    this.#link.send(message);
  }

  /** close ends the connection; its owner is not told. */
  close(): Promise<void> {
    if (this.alive) {
      this.#end(disconnected());
      this.#link.close();
    }
    return this.ended;
  }

  #line(line: string): void {
    this.lastByte = now();
    const l = knownLine(line);
    if (!l) return; // later edges may have more
    if (l.kind === "OK") this.#answer(`${l.verb}:${l.tenant}:${l.pattern}`, (w) => w.resolve());
    else if (l.kind === "ERR") this.#error(l.code, l.detail);
    else if (l.kind === "PING") this.#link.send("PONG");
    else if (l.kind === "PONG") {
      const ping = this.#pings.shift();
      if (!ping) return;
      const rtt = now() - ping.at;
      ping.resolve(rtt);
      this.#owner.roundTrip(rtt);
    } else if (l.kind === "RECONNECT" && !this.drains) {
      this.drains = true;
      this.#owner.draining(this);
    } else if (l.kind === "FEATURES") this.#asked();
    else if (l.kind === "LINK") {
      this.#up = l.up;
      if (!this.#asks) this.#asked();
    }
  }

  // #asked takes the answer to FEATURES, behind which stands how the link is.
  #asked(): void {
    this.#asks = false;
    this.link = this.#up;
    this.#owner.linked();
  }

  #error(code: string, detail: string): void {
    if (this.#asks && code === "bad_request") return this.#asked(); // an edge of an earlier version
    this.#lastError = lastWord(code, detail) ?? this.#lastError;
    const [, tenant, pattern] = /^(?:UN)?SUB:([^:]+):(.+)$/s.exec(detail) ?? [];
    // What the broker cannot do yet, the edge has noted, and acknowledges.
    const refused =
      tenant !== undefined &&
      pattern !== undefined &&
      code !== "broker_unavailable" &&
      this.#answer(detail, (w) => w.reject(new MillraceError(code, undefined, { tenant, pattern })));
    // What ends the connection is told as the error of that.
    if (!refused && !/^(token_|unauthorized|forbidden)/.test(code)) this.#owner.told(code, detail);
    // These leave nothing to wait for, and a close that follows may be late.
    if (code === "token_revoked" || code === "token_expired") this.#fail(this.#lastError as MillraceError);
  }

  // #answer gives the oldest request its answer, and says whether there was one.
  #answer(key: string, give: (w: Waiter<void>) => void): boolean {
    const all = this.#waiters.get(key);
    const waiter = all?.shift();
    if (!waiter) return false;
    if (all?.length === 0) this.#waiters.delete(key);
    give(waiter);
    return true;
  }

  // #due is when the oldest PING counts as not answered, or if there is none,
  // when to ask. An edge may read slowly what was sent before a PING.
  #due(): number {
    const { keepAlive, pongTimeout } = this.#settings;
    const oldest = this.#pings[0];
    return oldest
      ? Math.max(this.lastByte, oldest.at, this.#awake) + pongTimeout + oldest.patience
      : this.lastByte + keepAlive;
  }

  // #watch looks whether anything has come when it is due, and asks if not.
  // Timers of a page in the background are late, and what has come meanwhile is
  // read after them: then the answer has its time once more.
  #watch(): void {
    const due = this.#due();
    const act = (): void => {
      const time = now();
      if (time - due >= LATE) this.#awake = time;
      if (time >= this.#due()) {
        if (this.#pings.length > 0) return this.#fail(new MillraceError("timeout", "the edge does not answer"));
        this.ping().catch(() => {}); // the end is told elsewhere
      }
      this.#watch();
    };
    this.#timer = setTimeout(act, Math.min(Math.max(due - now(), 1), LONGEST));
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
    this.#fail(asError(err, "protocol", "the edge broke the protocol"));
  }

  // #fail gives the connection up.
  #fail(error: MillraceError): void {
    this.#end(error);
    this.#link.close();
    if (this.#made) this.#owner.lost(this, error);
  }

  #lose({ closeCode, error }: LinkEnd): void {
    if (!this.alive) return;
    const last = this.#lastError;
    const code = closeCode === 4401 ? "token_expired" : closeCode === 4403 ? "token_revoked" : "disconnected";
    // Deliveries may have been dropped long before, too.
    const told = last?.code !== "slow_consumer" || closeCode === 4429;
    const why =
      last && told
        ? new MillraceError(last.code, undefined, { closeCode: closeCode ?? last.closeCode })
        : (error ?? new MillraceError(code, "the connection has ended", { closeCode }));
    this.#end(why);
    if (this.#made) this.#owner.lost(this, why);
  }

  // #end tells all that wait for the edge.
  #end(error: MillraceError): void {
    this.alive = false;
    this.error = error;
    clearTimeout(this.#timer);
    const waiters = [...this.#waiters.values()].flat();
    this.#waiters.clear();
    const gone = disconnected(error);
    for (const waiter of [...waiters, ...this.#pings]) waiter.reject(gone);
    this.#pings = [];
  }
}

function knownLine(line: string): ServerLine | undefined {
  try {
    return parseServerLine(line);
  } catch {
    return undefined;
  }
}

/** disconnected is the error of what needs a connection. */
export function disconnected(cause?: unknown): MillraceError {
  return new MillraceError("disconnected", "there is no connection to an edge", cause === undefined ? {} : { cause });
}
