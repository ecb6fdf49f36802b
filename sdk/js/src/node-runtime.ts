// What Node does in a way of its own: WebSockets of the package ws, and forward proxies.
import type { IncomingMessage } from "node:http";
import type { Socket as Raw } from "node:net";
import { badOption } from "./bad-option.js";
import { asError, MillraceError, notEdge } from "./errors.js";
import { fetchThrough, proxyFor, Tunnel } from "./proxy.js";
import { type Below, type Runtime, type Socket, web } from "./runtime.js";
import { MAX_MESSAGE } from "./splitter.js";

// What a WebSocket of ws has beside that.
interface NodeSocket extends Socket {
  on(event: "unexpected-response", handler: (request: { destroy(): void }, response: IncomingMessage) => void): void;
  on(event: "upgrade", handler: (response: { readonly socket: Raw }) => void): void;
  on(event: "open" | "close", handler: () => void): void;
  on(event: "error", handler: (err: unknown) => void): void;
}
type NodeSocketClass = new (url: string, options: object) => NodeSocket;

// A bundle for Node may run in another one.
const all = globalThis as { Bun?: unknown; Deno?: unknown; document?: unknown };
const isNode = all.Bun === undefined && all.Deno === undefined && all.document === undefined;

export const node: Runtime = {
  options: " proxy",

  async socket(url, token, s, below) {
    const given = s.webSocket as NodeSocketClass | undefined;
    const proxy = proxyFor(url.replace("ws", "http"), s.proxy);
    const library = given ?? (isNode ? await installed(proxy !== undefined) : undefined);
    // Only that of ws has this, takes headers, and reports what is below.
    if (isNode && library?.prototype.terminate) return open(library, url, token, proxy, below);
    if (proxy) badOption(`only a WebSocket of the package ws goes through the proxy ${proxy.host}`);
    return web.socket(url, token, s, below);
  },

  fetch: (url, s, init) => fetchThrough(proxyFor(url, s.proxy), url, init),

  proxied: (edge, s) => proxyFor(edge, s.proxy) !== undefined,
};

// installed returns the class of ws, if that is installed. Bundlers find the name, and take ws in.
async function installed(needed: boolean): Promise<NodeSocketClass | undefined> {
  const { ws, why } = (await import(/* webpackMode: "eager" */ "./ws.cjs")).default;
  if (ws) return ws as NodeSocketClass;
  if (!needed && "WebSocket" in globalThis) return undefined;
  const what = needed ? "a proxy needs the package ws" : "Node 20 has no WebSocket";
  const text = (why as { code?: string }).code === "MODULE_NOT_FOUND" ? "" : `: ${(why as Error).message}`;
  throw new MillraceError("bad_option", `${what}: install ws, or pass its class as the option webSocket${text}`, {
    cause: why,
  });
}

function open(library: NodeSocketClass, url: string, token: string, proxy: URL | undefined, below: Below): NodeSocket {
  const agent = proxy && new Tunnel(proxy, url.startsWith("wss:"));
  const socket = new library(url, {
    headers: { Authorization: `Bearer ${token}` },
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE,
    agent,
  });
  let refused = false;
  socket.on("unexpected-response", (request, response) => {
    refused = true;
    void refusalOf(url, response).then((why) => {
      request.destroy();
      below.refused(why);
    });
  });
  socket.on("error", (err) => {
    if (!refused) below.refused(asError(err, "unreachable", `no WebSocket at ${url.replace("ws", "http")}`));
  });
  socket.on("upgrade", ({ socket: raw }) => {
    // Before what it completes.
    socket.on("open", () => raw.prependListener("data", () => below.bytes()));
  });
  socket.on("close", () => agent?.end());
  return socket;
}

async function refusalOf(url: string, response: IncomingMessage): Promise<MillraceError> {
  const status = response.statusCode as number;
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
    if (code === "unauthorized" && !/expired|revoked/.test(detail))
      return new MillraceError(code, "the edge does not accept the token", about);
    if (/^[a-z_]+$/.test(code)) return new MillraceError(code, detail, about);
  } catch {
    // no body of an edge
  }
  return notEdge(url, status, about.retryAfter);
}
