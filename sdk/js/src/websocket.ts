import { MillraceError, notEdge } from "./errors.js";
import { type Dial, Inlet, type Link } from "./link.js";
import type { Settings } from "./options.js";
import { look } from "./ping.js";
import { reasonOf } from "./timers.js";

const ALMOST_NOTHING = 1 << 20; // bytes that may wait to be sent before a publisher has to
const CLOSING = 1000; // ms for the edge's answer to a close

/** openWebSocket opens a session over WebSocket. The signal ends the attempt. */
export async function openWebSocket({ edge, token, signal }: Dial, settings: Settings): Promise<Link> {
  const { paths, runtime } = settings;
  const { promise, resolve, reject } = withResolvers<Link>();
  const inlet = new Inlet();
  let refused = false;
  const socket = await runtime.socket(edge.replace("http", "ws") + paths.webSocket, token, settings, {
    refused(why) {
      refused = true;
      reject(why);
    },
    bytes: () => inlet.bytes(),
  });
  if (socket.binaryType !== "nodebuffer") socket.binaryType = "arraybuffer";
  const end = (): void => (socket.terminate ? socket.terminate() : socket.close());
  const abort = (): void => {
    reject(reasonOf(signal));
    end();
  };
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  let open = false;
  let cause: unknown;
  let closing: ReturnType<typeof setTimeout> | undefined;
  socket.onerror = ({ error }) => {
    cause = error; // browsers have none; close follows
  };
  socket.onopen = () => {
    // The edge has taken it to say why it refuses.
    if (socket.protocol === "refusal.v1") {
      socket.onmessage = ({ data }) => {
        // Without where tokens go, which the SDK knows.
        const [, code, text] = /^ERR:([a-z_]+)(?::(.*?))?(?::( in|connection=).*)?$/s.exec(String(data)) ?? [];
        if (code) {
          refused = true;
          reject(new MillraceError(code, text));
        }
      };
      return;
    }
    open = true;
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
    } else if (!refused) {
      void whyNot(edge, settings, signal, cause).then(reject, reject);
    }
    signal.removeEventListener("abort", abort);
  };
  socket.onmessage = ({ data }) => {
    if (typeof data === "string") inlet.line(data);
    else if (ArrayBuffer.isView(data)) {
      inlet.frame(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), 0, data.byteLength);
    } else inlet.frame(new Uint8Array(data), 0, data.byteLength);
  };

  // Browsers do not tell when the buffer has become empty.
  async function drained(): Promise<void> {
    while (open && socket.bufferedAmount > ALMOST_NOTHING) await new Promise((then) => setTimeout(then, 5));
  }
  return promise;
}

// A browser does not tell whether an edge refused the handshake or was not there.
async function whyNot(edge: string, s: Settings, signal: AbortSignal, cause: unknown): Promise<MillraceError> {
  const { status, pong } = await look(edge + s.paths.ping, s, signal);
  if (status && !pong) return notEdge(edge, status);
  if (pong) {
    return new MillraceError("refused", "the edge refuses the WebSocket");
  }
  return new MillraceError("unreachable", `no WebSocket at ${edge}${s.paths.webSocket}`, { cause });
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
