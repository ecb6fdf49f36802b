// Publishes that an edge answers (docs/protocol.md, History).
import { disconnected, MillraceError } from "./errors.js";
import { type Why, whyDenied } from "./lines.js";
import type { Waiter } from "./requests.js";

/** What becomes of a publish: its position, or undefined if its channel is not kept. */
export type Confirmation = string | undefined;

/** What a publish is for. */
export interface Names {
  readonly tenant: string;
  readonly channel: string;
}

// How much longer than max_payload a message may be: what is not longer than this is below every read limit.
const OVERHEAD = 4096;

/** Confirms are the publishes of a connection without an answer, each by its id. */
export class Confirms {
  readonly #all = new Map<number, Waiter<Confirmation> & { readonly size: number; readonly about: Names }>();
  #idle: (() => void)[] = [];
  #largest = 0; // bytes of the largest publish; 0: none could be over a limit
  #plain: Names | undefined; // that of the largest one, if it is not to be confirmed

  /** add resolves with the answer to a publish of so many bytes. */
  add(id: number, size: number, about: Names): Promise<Confirmation> {
    this.note(size);
    return new Promise((resolve, reject) => void this.#all.set(id, { resolve, reject, size, about }));
  }

  /** note is called with a publish of so many bytes; names, of one without an answer. */
  note(size: number, names?: Names): void {
    if (size <= OVERHEAD || size < this.#largest) return;
    this.#plain = size > this.#largest ? names : (this.#plain ?? names);
    this.#largest = size;
  }

  /**
   * tooLarge is for a message over the read limit of the edge. The largest publish is certain to be over it,
   * whether or not the edge has read it: it is refused, before fail. What is returned is one without an answer.
   */
  tooLarge(): Names | undefined {
    for (const [id, { size }] of this.#all) {
      if (size === this.#largest) this.error("payload_too_large", `PUB:${id}`);
    }
    return this.#plain;
  }

  /** settle takes an answer, or gives it up. */
  settle(id: number, give: (w: Waiter<Confirmation>, about: Names) => void = () => {}): void {
    const waiter = this.#all.get(id);
    if (waiter) give(waiter, waiter.about);
    this.#all.delete(id);
    if (this.#all.size === 0) for (const done of this.#idle.splice(0)) done();
  }

  /** error takes what stands behind the code of an ERR line, and says whether it refuses one of these. */
  error(code: string, detail: string, why?: Why): boolean {
    const id = /^PUB:(\d+)$/.exec(detail)?.[1];
    if (id === undefined) return false;
    this.settle(Number(id), (w, about) =>
      w.reject(new MillraceError(code, why && whyDenied(why, `PUB:${about.tenant}:${about.channel}`), about)),
    );
    return true;
  }

  /** The edge owes an answer. */
  get owed(): boolean {
    return this.#all.size > 0;
  }

  /** idle resolves when none is left. */
  idle(): Promise<void> {
    if (this.#all.size === 0) return Promise.resolve();
    return new Promise((resolve) => void this.#idle.push(resolve));
  }

  /** fail tells all that no answer comes. */
  fail(): void {
    for (const id of [...this.#all.keys()]) this.settle(id, (w) => w.reject(disconnected()));
  }
}
