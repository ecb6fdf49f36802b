import type { MillraceError } from "./errors.js";

/** Who waits for an answer of the edge. */
export interface Waiter<V> {
  resolve(value: V): void;
  reject(err: MillraceError): void;
}

/** Requests are the SUBs, RSUBs and UNSUBs without an answer, by `verb:tenant:pattern`. */
export class Requests {
  readonly #all = new Map<string, Waiter<void>[]>(); // the oldest first

  add(key: string, waiter: Waiter<void>): void {
    const same = this.#all.get(key);
    if (same) same.push(waiter);
    else this.#all.set(key, [waiter]);
  }

  /** answer gives the oldest request its answer, and says whether there was one. */
  answer(key: string, give: (w: Waiter<void>) => void): boolean {
    const same = this.#all.get(key);
    const waiter = same?.shift();
    if (!waiter) return false;
    if (same?.length === 0) this.#all.delete(key);
    give(waiter);
    return true;
  }

  /** The edge owes an answer. It may keep one to RSUB for long; AGAIN is no request. */
  get owed(): boolean {
    for (const key of this.#all.keys()) if (!/^(RSUB|AGAIN):/.test(key)) return true;
    return false;
  }

  /** reject rejects them all. */
  reject(error: MillraceError): void {
    const waiters = [...this.#all.values()].flat();
    this.#all.clear();
    for (const waiter of waiters) waiter.reject(error);
  }
}
