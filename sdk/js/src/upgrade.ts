import type { Connection } from "./connection.js";
import type { Readers } from "./interests.js";
import { move } from "./move.js";
import type { Mover } from "./mover.js";

const MINUTE = 60_000; // ms
const MOST = 60 * MINUTE;
const STEADY = 2 * MINUTE; // a WebTransport connection that lasted this long was a good one
const LATER = 10_000; // ms, if something else goes on
const NETWORK = 2000; // ms after a change of the network

/** pauseBefore is the pause before a try, counted from 0: 4 to 6 minutes, by random from 0 to 1, twice that after each, an hour at most. */
export function pauseBefore(attempt: number, random: number): number {
  return Math.min((4 + 2 * random) * MINUTE * 2 ** attempt, MOST);
}

/** An Upgrade brings a client that prefers WebTransport, and is on WebSocket, back to it. */
export class Upgrade {
  readonly #s: Mover;
  #tries = 0; // since a WebTransport connection was a good one
  #timer: ReturnType<typeof setTimeout> | undefined; // of the next try
  #steady: ReturnType<typeof setTimeout> | undefined;
  #running: AbortController | undefined;

  constructor(s: Mover) {
    this.#s = s;
  }

  /** follow is called with each current connection from now on. */
  follow(c: Connection<Readers>): void {
    clearTimeout(this.#steady);
    if (c.transport === "webtransport") {
      this.stop();
      this.#steady = setTimeout(() => {
        this.#tries = 0;
      }, STEADY);
    } else if (!this.#timer && this.#wanted(c)) this.#wait(pauseBefore(this.#tries, Math.random()));
  }

  /** soon tries it within 2 s, or when the try that goes on has ended. That does not count for the pauses. */
  soon(): void {
    const { current } = this.#s;
    if (current && this.#wanted(current)) this.#wait(Math.random() * NETWORK, false);
  }

  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    clearTimeout(this.#timer);
    clearTimeout(this.#steady);
    this.#timer = undefined;
  }

  #wanted({ transport, edge }: Connection<Readers>): boolean {
    const { transports } = this.#s.settings;
    const preferred = transports[0] === "webtransport" && transports.length > 1;
    return preferred && transport === "websocket" && this.#s.searcher.dialer.canWebTransport(edge);
  }

  #wait(ms: number, counts = true): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#try(counts), ms);
  }

  async #try(counts: boolean): Promise<void> {
    const s = this.#s;
    const { current } = s;
    if (!current || !s.idle || this.#running) return this.#wait(LATER, counts);
    if (!this.#wanted(current)) {
      this.#timer = undefined;
      return;
    }
    // The pauses grow whatever comes of it: some paths let handshakes pass, and no more.
    const tries = this.#tries + Number(counts);
    this.#wait(pauseBefore(tries, Math.random()));
    const own = new AbortController();
    this.#running = own;
    const to = await s.searcher.open(current.edge, own.signal, { transports: ["webtransport"] }).catch(() => undefined);
    if (this.#running === own) this.#running = undefined;
    if (!own.signal.aborted) this.#tries = tries;
    if (to && !own.signal.aborted && s.current === current && s.idle) {
      s.run((signal) => move(s, current, "transport", signal, to));
    } else {
      void to?.close();
      s.moveIfDue(); // a try may have brought another token
    }
  }
}
