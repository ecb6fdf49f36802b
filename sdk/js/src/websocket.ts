import { MillraceError, notEdge } from "./errors.js";
import { type Dial, Inlet, type Link } from "./link.js";
import type { Settings } from "./options.js";
import { answersPing } from "./ping.js";
import { isNode } from "./platform.js";
import { MAX_MESSAGE } from "./splitter.js";

// What browsers' WebSocket and that of the package ws have in common.
interface Socket {
  binaryType: string;
  readonly bufferedAmount: number;
  onopen: (() => void) | null;
  onclose: ((event: { code: number }) => void) | null;
  onerror: ((event: { error?: unknown }) => void) | null;
  onmessage: ((event: { data: string | ArrayBuffer | Uint8Array }) => void) | null;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number): void;
  terminate?(): void;
  on?(event: "unexpected-response", handler: (request: Request, response: Response) => void): void;
  on?(event: "upgrade", handler: (response: { readonly socket: Raw }) => void): void;
}
// What is below a WebSocket of ws.
interface Raw {
  prependListener(event: "data", handler: () => void): void;
}
interface Request {
  destroy(): void;
}
interface Response extends AsyncIterable<Uint8Array> {
  readonly statusCode: number;
  readonly headers: { readonly "retry-after"?: string };
}
type NodeSocket = new (url: string, options: object) => Socket;

const ALMOST_NOTHING = 1 << 20; // bytes that may wait to be sent before a publisher has to
const CLOSING = 1000; // ms for the edge's answer to a close

/** openWebSocket opens a session over WebSocket. The signal ends the attempt. */
export async function openWebSocket({ edge, token, signal }: Dial, { paths }: Settings): Promise<Link> {
  const url = edge.replace("http", "ws") + paths.webSocket;
  const { promise, resolve, reject } = withResolvers<Link>();
  const library = await nodeSocket("ws");
  signal.throwIfAborted();
  let refusal: Promise<MillraceError> | undefined; // known with the package ws only
  const socket: Socket = library
    ? new library(url, {
        headers: { Authorization: `Bearer ${token}` },
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE,
      })
    : (new WebSocket(url, ["llps.v1", `at.${token}`]) as Socket);
  if (!library) socket.binaryType = "arraybuffer";
  const end = (): void => (socket.terminate ? socket.terminate() : socket.close());
  const abort = (): void => {
    reject(signal.reason);
    end();
  };
  signal.addEventListener("abort", abort);

  const inlet = new Inlet();
  let open = false;
  let cause: unknown;
  let closing: ReturnType<typeof setTimeout> | undefined;
  socket.on?.("unexpected-response", (request, response) => {
    refusal = refusalOf(response).finally(() => request.destroy());
    void refusal.then(reject);
  });
  let raw: Raw | undefined;
  socket.on?.("upgrade", (response) => {
    raw = response.socket;
  });
  socket.onerror = ({ error }) => {
    cause = error; // browsers have none; close follows
  };
  socket.onopen = () => {
    open = true;
    raw?.prependListener("data", () => inlet.bytes()); // before what it completes
    signal.removeEventListener("abort", abort);
    resolve({
      transport: "websocket",
      fragile: false,
      start: (sink) => inlet.start(sink),
      send: (message) => open && socket.send(message),
      sent: () => (open && socket.bufferedAmount > ALMOST_NOTHING ? drained() : undefined),
      probe() {}, // TCP has resets of its own
      close() {
        socket.close(1000);
        closing ??= setTimeout(() => {
          end();
          inlet.ended({});
        }, CLOSING);
      },
    });
  };
  socket.onclose = ({ code }) => {
    clearTimeout(closing);
    if (open) {
      open = false;
      inlet.ended({ closeCode: code });
    } else if (!refusal) {
      void whyNot(edge + paths.ping, library !== undefined, signal, cause).then(reject, reject);
    }
    signal.removeEventListener("abort", abort);
  };
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") inlet.line(data);
    else if (data instanceof ArrayBuffer) inlet.frame(new Uint8Array(data), 0, data.byteLength);
    else inlet.frame(new Uint8Array(data.buffer, data.byteOffset, data.length), 0, data.length);
  };

  // Browsers do not tell when the buffer has become empty.
  async function drained(): Promise<void> {
    while (open && socket.bufferedAmount > ALMOST_NOTHING) await new Promise((then) => setTimeout(then, 5));
  }
  return promise;
}

// nodeSocket is the package ws on Node, if it is installed. Bundlers must not
// find the name, or they look for the package, which pages do not need.
async function nodeSocket(name: string): Promise<NodeSocket | undefined> {
  if (!isNode) return undefined;
  try {
    const { WebSocket } = await import(/* webpackIgnore: true */ /* @vite-ignore */ name);
    return WebSocket;
  } catch (cause) {
    if ("WebSocket" in globalThis) return undefined;
    throw new MillraceError("bad_option", "Node 20 has no WebSocket: install the package ws", { cause });
  }
}

async function refusalOf(response: Response): Promise<MillraceError> {
  const status = response.statusCode;
  const wait = Number(response.headers["retry-after"]); // seconds; a date is NaN, and counts as none
  const about = { status, retryAfter: wait > 0 ? wait * 1000 : undefined };
  let body = "";
  try {
    const decoder = new TextDecoder();
    for await (const chunk of response) {
      body += decoder.decode(chunk, { stream: true });
      if (body.length > 65_536) break;
    }
    const { code, detail } = JSON.parse(body);
    if (code === "unauthorized") return new MillraceError(code, "the edge does not accept the token", about);
    if (typeof code === "string") return new MillraceError(code, detail, about);
  } catch {
    // no body of an edge
  }
  return notEdge(status, about.retryAfter);
}

// A browser does not tell whether an edge refused the handshake or was not there.
async function whyNot(ping: string, told: boolean, signal: AbortSignal, cause: unknown): Promise<MillraceError> {
  if (!told && (await answersPing(ping, signal))) {
    return new MillraceError(
      "refused",
      "the edge answers, and refuses the WebSocket: perhaps the token, or this page's origin",
    );
  }
  return new MillraceError("unreachable", "no WebSocket to the edge", { cause });
}

function withResolvers<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (err: unknown) => void } {
  let resolve!: (value: T) => void;
  let reject!: (err: unknown) => void;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
