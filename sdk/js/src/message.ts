let decoder: TextDecoder | undefined;

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
  readonly sender: string;

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
  ) {
    this.tenant = tenant;
    this.channel = channel;
    this.payload = payload;
    this.pattern = pattern;
    this.patterns = patterns;
    this.late = late;
    this.position = position;
    this.sender = sender;
  }

  /** When the message was stored; undefined without a history. */
  get time(): Date | undefined {
    return this.position === undefined ? undefined : new Date(Number(this.position.split(".")[2]));
  }

  /** The payload as UTF-8, a leading U+FEFF included. */
  text(): string {
    decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    return decoder.decode(this.payload);
  }

  /** The payload as JSON; throws a SyntaxError if it is none. */
  json<T = unknown>(): T {
    return JSON.parse(this.text().replace(/^\uFEFF/, "")) as T;
  }
}
