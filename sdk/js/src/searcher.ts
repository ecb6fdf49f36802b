import { Connection, type Maker, type Owner } from "./connection.js";
import { type Dialer, type DialOptions, rank } from "./dial.js";
import { isStranger, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import type { Settings } from "./options.js";
import { abortable, now, throwIfAborted } from "./timers.js";
import type { TokenSource } from "./token.js";

// Refusals that neither another edge nor another time will change.
const no = /^(logged_out|ip_not|origin_not|client_not|tls_required|token_revoked|bad_option)/;
// Answers that other edges may not give.
const noHere = /^(unauthorized|token_expired|region_not|protocol_not)/;

// Refusals without a reason, and those of tokens that a provider gives, are final if this many come in a row, for this
// long: an edge may be full for a moment, and a provider have a token from a cache.
const ENOUGH = 5;
const LONG = 60_000; // ms

/** A Searcher opens connections to the edges of a client, and knows when there is no sense in it. */
export class Searcher {
  readonly #addresses: readonly URL[];
  readonly #settings: Settings;
  readonly #tokens: TokenSource;
  readonly #owner: Owner<Readers> & Maker;
  readonly dialer: Dialer;
  #edges: string[] = [];
  readonly #refusals = new Map<string, MillraceError>(); // by edge, of the last token
  #token: string | undefined; // that was tried last
  #hopeless = false; // the first attempts, as hopeless says
  #connected = false;
  #row = 0; // of such refusals
  #first = 0; // when the first of them came
  readonly #later = new Map<string, number>(); // by edge: until when it has asked to wait
  /** The edges that have said that they drain, until they are seen to be gone or back. */
  readonly drained: Set<string> = new Set();

  constructor(
    addresses: readonly URL[],
    settings: Settings,
    clock: TokenSource,
    owner: Owner<Readers> & Maker,
    dialer: Dialer,
  ) {
    this.#addresses = addresses;
    this.#settings = settings;
    this.#tokens = clock;
    this.#owner = owner;
    this.dialer = dialer;
  }

  /** first tries every edge once, the nearest first; final says whether there is sense in calling it again. */
  async first(signal: AbortSignal): Promise<Connection<Readers>> {
    await abortable(this.#tokens.get(), signal);
    this.#edges = await this.#owner.edges(this.#addresses, signal);
    let worst: MillraceError | undefined;
    for (const edge of this.#edges) {
      try {
        return await this.open(edge, signal);
      } catch (err) {
        if (!(err instanceof MillraceError) || no.test(err.code) || err.code === "token_provider") throw err;
        if (!worst || rank(err) > rank(worst)) worst = err;
        this.#hopeless = isStranger(err) ? this.#refused(edge, err) : this.hopeless(edge, err, false);
      }
    }
    throw worst;
  }

  /** final says whether the error of first leaves nothing to wait for. */
  final(err: unknown): boolean {
    if (!(err instanceof MillraceError) || no.test(err.code) || this.#hopeless) return true;
    // What a provider gives that can be no token; and an invalid list of edges.
    if (err.code === "token_provider") return (err.cause as Partial<MillraceError>)?.code === "bad_option";
    return this.#edges.length === 0 && isStranger(err);
  }

  /** order gives the edges, over and over: the others before or behind the one that is known. */
  async *order(known: string, knownFirst: boolean, signal: AbortSignal): AsyncGenerator<string, never> {
    for (;;) {
      const others = this.#edges.filter((edge) => edge !== known);
      const all = knownFirst ? [known, ...others] : others.length < this.#edges.length ? [...others, known] : others;
      for (const edge of all) if (!all.some((other) => this.wait(other) < this.wait(edge))) yield edge;
      // None of them: a list may have others by now.
      if (this.#addresses.some((url) => url.pathname !== "/")) {
        try {
          this.#edges = await this.#owner.edges(this.#addresses, signal);
        } catch {
          throwIfAborted(signal);
        }
      }
    }
  }

  /** wait returns how many ms an edge has yet to be left alone, as it has asked: maxBackOff at most. */
  wait(edge: string): number {
    return Math.max(0, (this.#later.get(edge) ?? 0) - now());
  }

  /** open opens a connection to an edge. If the edge does not take the token, the provider is asked for another. */
  async open(edge: string, signal: AbortSignal, options?: DialOptions): Promise<Connection<Readers>> {
    const token = await this.#tokens.get();
    try {
      return await this.#open(edge, token, signal, options);
    } catch (err) {
      // A browser does not tell whether it is the token that is refused.
      const stale = err instanceof MillraceError && /^(unauthorized|token_expired|refused)$/.test(err.code);
      if (!stale || !this.#tokens.provided) throw err;
      const another = await this.#tokens.ask();
      if (another === token) throw err;
      return this.#open(edge, another, signal, options);
    }
  }

  async #open(
    edge: string,
    token: string,
    signal: AbortSignal,
    options: DialOptions | undefined,
  ): Promise<Connection<Readers>> {
    if (token !== this.#token) {
      this.#token = token;
      this.#refusals.clear(); // it may be allowed what the old one was not
      this.dialer.forget();
    }
    const link = await this.dialer.open(edge, token, signal, options).catch((err: unknown) => {
      const { retryAfter = 0 } = err as Partial<MillraceError>;
      this.#later.set(edge, now() + Math.min(retryAfter, this.#settings.maxBackOff));
      throw err;
    });
    this.#connected = true;
    this.drained.delete(edge);
    this.#later.delete(edge);
    const c = new Connection(edge, link, token, this.#owner, this.#settings);
    if (c.error) throw c.error; // it came with its end
    this.#row = 0;
    this.#refusals.clear();
    return c;
  }

  /** hopeless says whether an error of open leaves nothing to try; moving: there is a connection yet. */
  hopeless(edge: string, err: MillraceError, moving: boolean): boolean {
    const { code } = err;
    if (code === "unreachable") this.drained.delete(edge);
    const stale = code === "unauthorized" && this.#tokens.provided;
    if (stale && this.#connected) this.#tokens.failed(err); // before that, the event connecting says it
    if (stale || code === "refused") {
      if (moving || this.drained.has(edge)) return false;
      if (this.#row++ === 0) this.#first = now();
      return this.#row >= ENOUGH && now() - this.#first >= LONG;
    }
    this.#row = 0;
    if (no.test(code)) return true;
    return noHere.test(code) && this.#refused(edge, err);
  }

  // #refused notes what an edge says of this token, and says whether all have said so.
  #refused(edge: string, err: MillraceError): boolean {
    this.#refusals.set(edge, err);
    return this.#edges.every((other) => this.#refusals.has(other));
  }
}
