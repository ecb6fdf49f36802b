import { asError, MillraceError } from "./errors.js";
import type { Link, Transport } from "./link.js";
import { badOption, type Settings } from "./options.js";
import { limited, reasonOf } from "./timers.js";
import { openWebSocket } from "./websocket.js";
import { hasWebTransport, openWebTransport } from "./webtransport.js";

// Refusals that another transport does not change.
const final = /^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/;

/** What one attempt does in another way than the settings say. */
export interface DialOptions {
  readonly transports?: readonly Transport[];
  readonly fallbackAfter?: number;
}

/** canWebTransport says whether there is any sense in trying it. */
export const canWebTransport = (edge: string, s: Settings): boolean =>
  hasWebTransport() && edge.startsWith("https:") && !s.runtime.proxied(edge, s);

/** A Dialer opens links, and remembers which transport came up for each edge. */
export class Dialer {
  readonly #settings: Settings;
  readonly #known = new Map<string, Transport>();
  readonly #banned = new Set<Transport>(); // those that the token does not allow

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** forget is called for a new token, which may allow what the old one did not. */
  forget(): void {
    this.#banned.clear();
  }

  /** prefer makes a transport the first choice for an edge, until another one comes up. */
  prefer(edge: string, transport: Transport): void {
    this.#known.set(edge, transport);
  }

  /** open opens a link to an edge. The signal ends the attempt, with its reason. */
  async open(edge: string, token: string, signal: AbortSignal, options: DialOptions = {}): Promise<Link> {
    const s = this.#settings;
    const { transports = s.transports, fallbackAfter = s.fallbackAfter } = options;
    const usable = transports.filter((t) => t === "websocket" || canWebTransport(edge, s));
    if (usable.length === 0)
      badOption("there is no WebTransport here, not for http:// addresses, and not through a proxy");
    const order = usable.filter((t) => !this.#banned.has(t));
    if (order.length === 0) throw new MillraceError("protocol_not_allowed");
    if (this.#known.get(edge) === order[1]) order.reverse();

    const link = await limited(signal, s.connectTimeout, (limit) =>
      this.#race(order, edge, token, fallbackAfter, limit),
    );
    this.#known.set(edge, link.transport);
    return link;
  }

  // #race starts the first transport, the second when that has failed or takes
  // long, and returns the first link that comes up.
  #race(
    order: readonly Transport[],
    edge: string,
    token: string,
    fallbackAfter: number,
    signal: AbortSignal,
  ): Promise<Link> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let running = 0;
      let next = 0;
      let worst: MillraceError | undefined;
      let over = false;
      const end = (): void => {
        over = true;
        clearTimeout(timer);
      };
      const start = (): void => {
        clearTimeout(timer);
        const transport = order[next++];
        if (!transport || over) return;
        const open = transport === "websocket" ? openWebSocket : openWebTransport;
        running++;
        open({ edge, token, signal }, this.#settings).then(
          (link) => {
            if (over) return drop(link); // one came up first
            end();
            resolve(link);
          },
          (err: unknown) => {
            running--;
            const error = asError(err, "unreachable", "the edge does not answer");
            if (error.code === "protocol_not_allowed") this.#banned.add(transport);
            if (!worst || rank(error) > rank(worst)) worst = error;
            if (!final.test(error.code) && (running > 0 || next < order.length)) return start();
            end();
            reject(worst);
          },
        );
        if (next < order.length) timer = setTimeout(start, fallbackAfter);
      };
      signal.addEventListener("abort", () => {
        end();
        reject(reasonOf(signal));
      });
      start();
    });
  }
}

function drop(link: Link): void {
  link.start({ bytes() {}, line() {}, frame() {}, ended() {} });
  link.close();
}

/** rank says how much an error tells: what an edge says is more than that none answers. */
export function rank({ code }: MillraceError): number {
  return ["unreachable", "timeout", "refused", "protocol_not_allowed"].indexOf(code) >>> 0;
}
