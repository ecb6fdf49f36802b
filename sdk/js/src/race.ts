import { badOption } from "./bad-option.js";
import { Dialer, type DialOptions, type Opened, rank } from "./dial.js";
import { asError, isStranger, MillraceError } from "./errors.js";
import type { Link, Transport } from "./link.js";
import { limited, now, reasonOf } from "./timers.js";
import { openWebSocket } from "./websocket.js";
import { hasWebTransport, openWebTransport } from "./webtransport.js";

// Refusals that another transport does not change.
const final = /^(unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later)/;

const SOON = 120_000; // ms after its beginning

/** A RacingDialer opens links over WebTransport, too, and remembers which transport came up for each edge. */
export class RacingDialer extends Dialer {
  readonly #known = new Map<string, Transport>();
  readonly #banned = new Set<Transport>(); // those that the token does not allow

  override canWebTransport(edge: string): boolean {
    const { settings } = this;
    return hasWebTransport() && edge.startsWith("https:") && !settings.runtime.proxied(edge, settings);
  }

  override forget(): void {
    this.#banned.clear();
  }

  // If it was soon after its beginning, its path may let the handshake of WebTransport pass, and swallow what is longer.
  override noteSilent({ edge, transport, begun }: Opened, heard = false): void {
    if (transport !== "webtransport" || (!heard && now() - begun >= SOON)) return;
    this.#known.set(edge, heard ? transport : "websocket");
  }

  override async open(edge: string, token: string, signal: AbortSignal, options: DialOptions = {}): Promise<Link> {
    const s = this.settings;
    const { transports = s.transports, fallbackAfter = s.fallbackAfter } = options;
    const usable = transports.filter((t) => t === "websocket" || this.canWebTransport(edge));
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
        open({ edge, token, signal }, this.settings).then(
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
            if (!final.test(error.code) && next < order.length) return start();
            if (!final.test(error.code) && running > 0 && !isStranger(error)) return;
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
