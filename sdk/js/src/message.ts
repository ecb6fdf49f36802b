let decoder: TextDecoder | undefined;

function utf8(bytes: Uint8Array): string {
  decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
  return decoder.decode(bytes);
}

/** A message that a subscription got. */
export class Message {
  readonly tenant: string;
  readonly channel: string;
  /**
   * What was published. It shares the memory of what came with it over the network: copy it
   * (`payload.slice()`) to keep a few small ones for long.
   */
  readonly payload: Uint8Array;
  /** The pattern of this subscription. */
  readonly pattern: string;
  /** All patterns of this client that match, shared by messages: read-only. */
  readonly patterns: readonly string[];
  /** It came on a connection that had been replaced: newer messages may have been given before. */
  readonly late: boolean;

  /** The place of the message in the history of its channel; undefined without one. `{ after: position }` goes on behind it. */
  readonly position: string | undefined;

  /**
   * The subject of the token that published the message, as the edge says: a client cannot forge it. Empty
   * without the option `sender`, if the token has no subject, and where an edge of an earlier version is between.
   */
  get sender(): string {
    this.#unasked?.();
    return this.#sender;
  }

  /** This client has published it on the connection that brought it, or has been notified of its position. */
  readonly own: boolean;

  /** It was published to one connection, with the delivery `one-nearest` or `one-random`, and this client has taken it. */
  readonly toOne: boolean;

  readonly #key: Uint8Array | undefined;
  readonly #sender: string;
  readonly #unasked: (() => void) | undefined;

  /** @internal */
  constructor(
    tenant: string,
    channel: string,
    payload: Uint8Array,
    pattern: string,
    patterns: readonly string[],
    late: boolean,
    position?: string,
    sender = "",
    own?: Uint8Array,
    toOne = false,
    unasked?: () => void,
  ) {
    this.tenant = tenant;
    this.channel = channel;
    this.payload = payload;
    this.pattern = pattern;
    this.patterns = patterns;
    this.late = late;
    this.position = position;
    this.#sender = sender;
    this.#unasked = unasked;
    this.own = own !== undefined;
    this.toOne = toOne;
    this.#key = own;
  }

  /** The key with which this client has published it; undefined: it had none, or is not its own. */
  get key(): string | undefined {
    return this.#key?.length ? utf8(this.#key) : undefined;
  }

  /** When the message was stored; undefined without a history. */
  get time(): Date | undefined {
    return this.position === undefined ? undefined : new Date(Number(this.position.split(".")[2]));
  }

  /** The payload as UTF-8, a leading U+FEFF included. */
  text(): string {
    return utf8(this.payload);
  }

  /** The payload as JSON; throws a SyntaxError, which does not repeat it, if it is not JSON. */
  json<T = unknown>(): T {
    try {
      return JSON.parse(this.text().replace(/^\uFEFF/, "")) as T;
    } catch {
      throw new SyntaxError("the message is not JSON: use text()");
    }
  }
}
