// Publishes that an edge answers (docs/protocol.md, History).
import { disconnected, MillraceError } from "./errors.js";
import type { Waiter } from "./requests.js";

/** What becomes of a publish: its position, or undefined if its channel is not kept. */
export type Confirmation = string | undefined;

/** Confirms are the publishes of a connection without an answer, each by its id. */
export class Confirms {
  readonly #all = new Map<number, Waiter<Confirmation>>();
  #idle: (() => void)[] = [];

  /** add resolves with the answer. */
  add(id: number): Promise<Confirmation> {
    return new Promise((resolve, reject) => void this.#all.set(id, { resolve, reject }));
  }

  /** settle takes an answer, or gives it up. */
  settle(id: number, give: (w: Waiter<Confirmation>) => void = () => {}): void {
    const waiter = this.#all.get(id);
    if (waiter) give(waiter);
    this.#all.delete(id);
    if (this.#all.size === 0) for (const done of this.#idle.splice(0)) done();
  }

  /** error takes what stands behind the code of an ERR line, and says whether it refuses one of these. */
  error(code: string, detail: string): boolean {
    const id = /^PUB:(\d+)$/.exec(detail)?.[1];
    if (id === undefined) return false;
    this.settle(Number(id), (w) => w.reject(new MillraceError(code)));
    return true;
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
