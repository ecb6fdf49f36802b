// Forward proxies, on Node: which one is between this machine and an edge, and the way through it.
import { Agent, type ClientRequest, type ClientRequestArgs, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { BlockList, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as secured } from "node:tls";
import { isLoopback } from "./address.js";
import { badOption } from "./bad-option.js";
import { MillraceError } from "./errors.js";

/** The value of the option `proxy` that turns the environment's proxy off. */
const NONE = "none";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * proxyFor returns the URL of the proxy through which an edge is reached: that of the option, or of the
 * environment; undefined: none. It throws `bad_option` without repeating the value, which may hold a password.
 */
export function proxyFor(edge: string, option = "", env: Environment = process.env): URL | undefined {
  if (option === NONE) return undefined;
  if (option) return parse(option, "proxy");
  const target = new URL(edge);
  const value = env.HTTPS_PROXY || env.https_proxy;
  if (!value || target.protocol !== "https:" || isLoopback(target.hostname)) return undefined;
  const no = env.NO_PROXY || env.no_proxy || "";
  return no.split(/[\s,]+/).some((entry) => excepts(entry.toLowerCase(), target))
    ? undefined
    : parse(value, "HTTPS_PROXY");
}

function parse(value: string, name: string): URL {
  try {
    const url = new URL(/^[a-z][\w+.-]*:\/\//i.test(value) ? value : `http://${value}`);
    decodeURIComponent(url.username + url.password); // throws
    if (/^https?:$/.test(url.protocol) && url.hostname) return url;
  } catch {
    // as below
  }
  badOption(
    `${name} is no proxy's URL: allowed are http://host:port, https://host:port, each with user:password@, and ${NONE}`,
  );
}

// excepts says whether an entry of NO_PROXY is about an edge.
function excepts(entry: string, { hostname, port }: URL): boolean {
  if (entry === "*") return true;
  const [, inner, plain, only] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  const name = inner ?? plain ?? "";
  if (!name || (only && only !== (port || "443"))) return false;
  const host = hostname.replace(/^\[|\]$/g, "");
  const [network = "", bits] = name.split("/");
  const kind = isIP(host) === 6 ? "ipv6" : "ipv4";
  if (isIP(host) > 0) {
    if (isIP(network) !== isIP(host)) return false;
    const list = new BlockList();
    try {
      list.addSubnet(network, Number(bits ?? (kind === "ipv6" ? 128 : 32)), kind);
    } catch {
      return false; // no network
    }
    return list.check(host, kind);
  }
  const below = name.replace(/^\*?\./, ".");
  return below.startsWith(".") ? host.endsWith(below) : host === below || host.endsWith(`.${below}`);
}

/** A Tunnel is an agent for one request, whose connection goes through a proxy. */
export class Tunnel extends Agent {
  readonly #proxy: URL;
  readonly #secure: boolean;
  #request: ClientRequest | undefined;

  /** secure says whether TLS is spoken within it. */
  constructor(proxy: URL, secure: boolean) {
    super();
    this.#proxy = proxy;
    this.#secure = secure;
    Object.assign(this, { protocol: undefined }); // it takes requests of both
  }

  /** end gives the attempt up, if it goes on. */
  end(): void {
    this.#request?.destroy();
  }

  override createConnection(
    options: ClientRequestArgs,
    callback?: (err: Error | null, socket: Duplex) => void,
  ): undefined {
    const done = callback as (err: Error | null, socket?: Duplex) => void;
    const proxy = this.#proxy;
    const { host, port } = options;
    const target = `${isIP(`${host}`) === 6 ? `[${host}]` : host}:${port}`;
    const user = decodeURIComponent(proxy.username);
    const basic = Buffer.from(`${user}:${decodeURIComponent(proxy.password)}`).toString("base64");
    const fail = (text: string, about = {}): void =>
      done(new MillraceError("unreachable", `the proxy ${proxy.host} ${text}`, about));
    const request = (proxy.protocol === "https:" ? secureRequest : plainRequest)({
      host: proxy.hostname.replace(/^\[|\]$/g, ""),
      port: proxy.port || undefined,
      method: "CONNECT",
      path: target,
      headers: { Host: target, ...(user && { "Proxy-Authorization": `Basic ${basic}` }) },
      agent: false,
    });
    this.#request = request;
    request.on("connect", ({ statusCode: status = 0 }, socket: Socket, head) => {
      this.#request = undefined;
      if (status >= 200 && status < 300) {
        if (head.length > 0) socket.unshift(head);
        const servername = isIP(`${host}`) ? "" : `${host}`;
        return done(null, this.#secure ? secured({ ...options, socket, servername } as object) : socket);
      }
      socket.destroy();
      const login = status === 407 || status === 401; // of tinyproxy for a wrong password
      const ours = user ? "does not accept the user and the password" : "asks for a user and a password";
      fail(`${login ? ours : `refuses a connection to ${target}`} (HTTP status ${status})`, { status });
    });
    request.on("error", (cause) => fail("does not answer", { cause }));
    request.end();
    return undefined;
  }
}

/**
 * fetchThrough is the global fetch, or goes through a proxy: then it follows no redirects, takes a text as the body,
 * and is for answers that are short.
 */
export function fetchThrough(proxy: URL | undefined, url: string, init: RequestInit = {}): Promise<Response> {
  if (!proxy) return fetch(url, init);
  const secure = url.startsWith("https:");
  const agent = new Tunnel(proxy, secure);
  const { method = "GET", headers = {}, body, signal } = init;
  const options = { agent, method, headers: headers as Record<string, string> };
  return new Promise<Response>((resolve, reject) => {
    const request = (secure ? secureRequest : plainRequest)(url, options, async (response) => {
      try {
        const chunks: Uint8Array[] = [];
        for await (const chunk of response) chunks.push(chunk);
        resolve(new Response(Buffer.concat(chunks), { status: response.statusCode as number }));
      } catch (err) {
        reject(err);
      }
    });
    const givenUp = (): void => {
      reject(signal?.reason); // a request that waits for its connection does not tell
      request.destroy();
    };
    signal?.addEventListener("abort", givenUp);
    request.on("error", reject).on("close", () => signal?.removeEventListener("abort", givenUp));
    if (signal?.aborted) givenUp();
    else request.end(body);
  }).finally(() => agent.end());
}
