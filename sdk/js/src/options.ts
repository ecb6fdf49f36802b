import { badOption, must } from "./bad-option.js";
import type { EventHandlers } from "./events.js";
import type { Transport } from "./link.js";
import type { Logger } from "./loud.js";
import { checkMembers, checkName } from "./members.js";
import { type Runtime, type RuntimeSettings, type WebSocketClass, web } from "./runtime.js";
import { checkedSecret } from "./secret.js";

/** What becomes of a message for a subscription whose queue is full. */
export type QueuePolicy = "drop-oldest" | "drop-newest" | "end";

/**
 * A token, with its lifetime if that is known: what an edge answers to get-token, and what `issue` of TokenAdmin
 * returns, are such objects, also as JSON. A member that is not listed here is refused.
 */
export interface AccessToken {
  readonly token: string;
  /** From now on: `"1h"`, `"15m"`, `"90s"`, `"1h30m"`, or seconds; more than 0. No clock of a day matters. */
  readonly expiresIn?: string | number | null | undefined;
  readonly expires_in?: number | null | undefined;
  /**
   * Where no lifetime is given: a Date, its text, or milliseconds since 1970. It is read by the clock of this machine,
   * and renewed too late where that is slow.
   */
  readonly expiresAt?: string | number | Date | null | undefined;
  readonly expires_at?: string | null | undefined;
  readonly tokenId?: string | undefined;
  readonly token_id?: string | undefined;
  readonly clamped?: boolean | undefined;
}

/** A hash of a certificate, as in the browser's WebTransportHash. */
export interface CertificateHash {
  readonly algorithm: string;
  readonly value: ArrayBuffer | ArrayBufferView<ArrayBuffer>;
}

/** Where an edge's site has what, if not at the usual paths. */
export interface Paths {
  /** `/ws` */
  readonly webSocket?: string | undefined;
  /** `/wt` */
  readonly webTransport?: string | undefined;
  /** `/ping` */
  readonly ping?: string | undefined;
}

/** Options of `connect`; docs/reference/typescript.md has them, too. Times are milliseconds; 0 is the default. */
export interface ConnectOptions {
  /** An access token. */
  readonly token?: string | undefined;
  /**
   * In place of `token`: gives one when the client connects, before that one expires, and when an edge does not accept
   * it; from the end of a call to the next one it is a second at least. If it throws a LoggedOutError, the client ends.
   */
  readonly tokenProvider?: (() => Promise<string | AccessToken> | string | AccessToken) | undefined;
  /** Which may be used, the preferred one first. Default: WebTransport, WebSocket. */
  readonly transports?: readonly Transport[] | undefined;
  /** When the second transport starts beside the first. Default: 2000. */
  readonly fallbackAfter?: number | undefined;
  /** For each attempt to connect to an edge, and each answer of the token provider. Default: 10000. */
  readonly connectTimeout?: number | undefined;
  /**
   * How long nothing may come before a PING asks, and up to a sixteenth more. Where messages flow, a
   * silence that is unusual asks sooner. Default: 25000. Negative: never.
   */
  readonly keepAlive?: number | undefined;
  /**
   * How long its answer may take, and nothing else come for that and keepAlive together, before the
   * connection counts as lost; a second more for each KiB that was sent before. It is suspect
   * sooner, and another one may take over. Default: 10000.
   */
  readonly pongTimeout?: number | undefined;
  /** Fail when every edge was tried once, in place of waiting for one. Default: no. */
  readonly failFast?: boolean | undefined;
  /** The longest pause before the second attempt to connect or reconnect; doubles with each. Default: 250. */
  readonly minBackOff?: number | undefined;
  /** The bound of these pauses. Default: 15000. */
  readonly maxBackOff?: number | undefined;
  /** How many messages may wait for each subscription that is iterated. Default: 1024. */
  readonly queue?: number | undefined;
  /** Default: `drop-oldest`. */
  readonly queuePolicy?: QueuePolicy | undefined;
  /** Ask the edges who has published each message: see `sender` of Message. Default: no. */
  readonly sender?: boolean | undefined;
  readonly paths?: Paths | undefined;
  /** Allows `http:` addresses that are not on this machine. */
  readonly allowPlaintext?: boolean | undefined;
  /** Certificates of a development edge, for WebTransport of browsers. */
  readonly serverCertificateHashes?: readonly CertificateHash[] | undefined;
  /**
   * In place of the global WebSocket. On Node, the class of the package `ws` also tells why an edge refuses a
   * connection; it is the default there if it is installed.
   */
  readonly webSocket?: WebSocketClass | undefined;
  /**
   * On Node alone: the URL of a forward proxy, `http://host:3128` or `http://user:password@host:3128`, to reach edges
   * by CONNECT, over WebSocket; `none`: no proxy. Default: as the variables HTTPS_PROXY and NO_PROXY say. It needs the
   * package `ws`.
   */
  readonly proxy?: string | undefined;
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal | undefined;
  /** Where the client says, once for each event and code, what no handler listens to; null: nowhere. Default: console. */
  readonly logger?: Logger | null | undefined;
  /** Handlers that miss no event. */
  readonly on?: EventHandlers | undefined;
}

/** Options that have been checked, with everything filled in. */
export interface Settings extends RuntimeSettings {
  readonly token: string | undefined;
  readonly tokenProvider: ConnectOptions["tokenProvider"];
  readonly transports: readonly Transport[];
  readonly fallbackAfter: number;
  readonly connectTimeout: number;
  readonly keepAlive: number;
  readonly pongTimeout: number;
  readonly minBackOff: number;
  readonly maxBackOff: number;
  readonly queue: number;
  readonly queuePolicy: QueuePolicy;
  readonly sender: boolean;
  readonly failFast: boolean;
  readonly paths: { readonly [P in keyof Paths]-?: string };
  readonly allowPlaintext: boolean;
  readonly hashes: readonly CertificateHash[] | undefined;
  readonly runtime: Runtime;
}

const policies = ["drop-oldest", "drop-newest", "end"];
const known = ["webtransport", "websocket"];

// number returns an option's value, or its default for 0 and undefined.
function number(name: string, value: number | undefined, usual: number, least = 0): number {
  if (value !== undefined && !(Number.isFinite(value) && value >= least && value < 2 ** 31)) {
    badOption(`${name} must be a number below 2^31${least < 0 ? "" : ", 0 or more"}, not ${JSON.stringify(value)}`);
  }
  return value || usual;
}

function oneOf<T extends string>(name: string, value: T, allowed: readonly string[]): T {
  checkName(`${name}:`, value, allowed.join(" "));
  return value;
}

export interface QueueOptions {
  readonly queue?: number | undefined;
  readonly queuePolicy?: QueuePolicy | undefined;
}

/** queueOptions checks the options of a queue; what is left out comes from usual. */
export function queueOptions(o: QueueOptions, usual: { queue: number; queuePolicy: QueuePolicy }): typeof usual {
  return {
    queue: Math.ceil(number("queue", o.queue, usual.queue)),
    queuePolicy: oneOf("queuePolicy", o.queuePolicy ?? usual.queuePolicy, policies),
  };
}

const allowed =
  "token tokenProvider transports fallbackAfter connectTimeout failFast keepAlive pongTimeout minBackOff maxBackOff queue queuePolicy paths allowPlaintext serverCertificateHashes sender signal on logger webSocket";

/** settings checks options. */
export function settings(o: ConnectOptions, runtime: Runtime = web): Settings {
  checkMembers("the object of options", o, allowed + runtime.options);
  checkMembers("paths", o.paths ?? {}, "webSocket webTransport ping");
  const { token, tokenProvider, transports = known as Transport[], sender = false, webSocket } = o;
  if ((token === undefined) === (tokenProvider === undefined))
    badOption(`give one of token and tokenProvider: ${token === undefined ? "none is set" : "not both"}`);
  must("tokenProvider", tokenProvider, "function");
  must("sender", sender, "boolean");
  must("webSocket", webSocket, "function");
  must("logger.warn", o.logger ? (o.logger.warn ?? 0) : undefined, "function");
  if (transports.length === 0) badOption("transports must not be empty");
  for (const transport of transports) oneOf("transports", transport, known);
  if (!("TextEncoder" in globalThis && "TextDecoder" in globalThis)) badOption("no TextEncoder or TextDecoder");
  const minBackOff = number("minBackOff", o.minBackOff, 250);
  return {
    token: token === undefined ? undefined : checkedSecret(token),
    tokenProvider,
    transports: [...new Set(transports)],
    fallbackAfter: number("fallbackAfter", o.fallbackAfter, 2000),
    connectTimeout: number("connectTimeout", o.connectTimeout, 10_000),
    keepAlive: number("keepAlive", o.keepAlive, 25_000, -Infinity),
    pongTimeout: number("pongTimeout", o.pongTimeout, 10_000),
    minBackOff,
    maxBackOff: Math.max(minBackOff, number("maxBackOff", o.maxBackOff, 15_000)),
    ...queueOptions(o, { queue: 1024, queuePolicy: "drop-oldest" }),
    sender,
    failFast: o.failFast === true,
    paths: {
      webSocket: path(o.paths?.webSocket ?? "/ws"),
      webTransport: path(o.paths?.webTransport ?? "/wt"),
      ping: path(o.paths?.ping ?? "/ping"),
    },
    allowPlaintext: o.allowPlaintext === true,
    hashes: o.serverCertificateHashes,
    webSocket,
    proxy: o.proxy,
    runtime,
  };
}

function path(value: string): string {
  if (!/^\/[^?#]*$/.test(value)) badOption("paths must start with a slash");
  return value;
}
