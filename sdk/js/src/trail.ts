import type { Connection, Owner } from "./connection.js";
import type { Delivered } from "./frames.js";
import type { Given, Readers } from "./interests.js";
import { Late } from "./late.js";
import { now } from "./timers.js";

type Message = Delivered<Readers>;

const LIFE = 15_000; // ms
const MOST = 60_000; // ms, if it brings something all the time

/**
 * A Trail listens to a connection that another one has taken over from: until it has brought
 * nothing for 15 s, for a minute at most, and when it is heard again, until the edge has been left.
 * It needs no events and tells none.
 */
export class Trail implements Owner<Readers> {
  readonly #c: Connection<Readers>;
  readonly late: Late<Message["route"]>;
  readonly #give: (m: Given) => void;
  readonly #done: () => void;
  #listens = true;
  #held = false;
  readonly #begun = now();
  #end: ReturnType<typeof setTimeout>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * given are the keys of what the current connection brought and was given before; give gets
   * what is late; done is called at the end, unless stop was; before is the trail that this one
   * comes in place of.
   */
  constructor(
    c: Connection<Readers>,
    given: readonly { readonly key: string }[],
    give: (m: Given) => void,
    done: () => void,
    before?: Trail,
  ) {
    this.#c = c;
    this.late = new Late(given, now(), before?.late);
    this.#give = give;
    this.#done = done;
    this.#end = setTimeout(() => this.#expire(), LIFE);
    void before?.stop();
    c.handTo(this);
    if (!c.alive) this.#leave();
    else this.#wait();
  }

  /** fromCurrent is called with a message that the application is to get from elsewhere, and says whether it does. */
  fromCurrent(m: Given): boolean {
    return this.late.fromCurrent(m, now());
  }

  /**
   * hold keeps what waits for the current connection as long as that is suspect: what it would
   * have brought meanwhile may still come. Afterwards it waits again.
   */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    if (!held) this.late.renew(now());
    this.#wait();
  }

  /** flush gives what waits, at once. */
  flush(): void {
    for (const m of this.late.due(Infinity)) this.#give(m);
  }

  /** stop ends it, whatever waits; it resolves when the connection has ended. */
  stop(): Promise<void> {
    this.#listens = false;
    clearTimeout(this.#end);
    clearTimeout(this.#timer);
    return this.#c.close();
  }

  // #expire ends it, unless it brings something: a long message takes its time.
  #expire(): void {
    const left = Math.min(this.#c.lastByte + LIFE, this.#begun + MOST) - now();
    if (left > 0) this.#end = setTimeout(() => this.#expire(), left);
    else this.#leave();
  }

  // #leave ends the connection; what waits has its time.
  #leave(): void {
    if (!this.#listens) return;
    void this.stop();
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    if (this.#held) return;
    const { nextDue } = this.late;
    if (nextDue === undefined) {
      if (!this.#listens) this.#done();
      return;
    }
    this.#timer = setTimeout(
      () => {
        for (const m of this.late.due(now())) this.#give(m);
        this.#wait();
      },
      Math.max(1, nextDue - now()),
    );
  }

  // Owner

  delivered(_: Connection<Readers>, m: Message): void {
    if (m.position !== undefined) return; // the current connection goes on behind what was given
    if (m.toOne) return this.#give(m);
    const idle = this.late.nextDue === undefined;
    const over = this.late.fromTrail(m, now());
    if (over) this.#give(over);
    if (idle) this.#wait();
  }

  woke(c: Connection<Readers>): void {
    for (const name of c.asked) c.request("UNSUB", name).catch(() => {});
    const leave = (): void => this.#leave();
    c.ping().then(leave, leave);
  }

  lost(): void {
    this.#leave();
  }

  silent(): boolean {
    return false;
  }

  line(): void {}
  presence(): void {}
  draining(): void {}
  errorLine(): void {}
  roundTrip(): void {}
  linked(): void {}
}
