// What the runtimes do in ways of their own. Each entry of the package names one: index.ts `web`, node.ts that of Node.
import type { MillraceError } from "./errors.js";

/** A class with the constructor of browsers' WebSocket. */
// biome-ignore lint/suspicious/noExplicitAny: WebSocket of browsers, Node and ws differ in their types alone
export type WebSocketClass = new (url: string, protocols?: any) => any;

/** The options that are for a runtime. */
export interface RuntimeSettings {
  readonly webSocket?: WebSocketClass | undefined;
  readonly proxy?: string | undefined;
}

/** What browsers' WebSocket and that of the package ws have in common. */
export interface Socket {
  binaryType: string;
  readonly bufferedAmount: number;
  readonly protocol: string;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onerror: ((event: { error?: unknown }) => void) | null;
  onmessage: ((event: { data: string | ArrayBuffer | Uint8Array }) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  /** Ends it without a close; not every one can. */
  terminate?(): void;
}

/** Who is told what a WebSocket of browsers does not tell. */
export interface Below {
  /** It was refused, or cannot be had, for this reason. The first call counts. */
  refused(why: MillraceError): void;
  /** Something has come, perhaps a part of a message only. */
  bytes(): void;
}

export interface Runtime {
  /** The names of the options that it has beyond those of `web`, each after a space. */
  readonly options: string;
  /** socket begins to open a WebSocket with a token. */
  socket(url: string, token: string, s: RuntimeSettings, below: Below): Socket | Promise<Socket>;
  /** fetch is the global one, or goes through a proxy. */
  fetch(url: string, s: RuntimeSettings, init: RequestInit): Promise<Response>;
  /** proxied says whether a proxy is between this machine and an edge: no WebTransport goes through it. */
  proxied(edge: string, s: RuntimeSettings): boolean;
}

/** That of browsers, Deno, Bun and React Native. */
export const web: Runtime = {
  options: "",
  socket: (url, token, { webSocket = WebSocket }) =>
    new webSocket(url, ["llps.v1", "refusal.v1", `at.${token}`]) as Socket,
  fetch: (url, _, init) => fetch(url, init),
  proxied: () => false,
};
