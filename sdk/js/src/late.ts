// What a trailing connection brings beside the current one
// (docs/decisions/0018-suspicion.md). Times are milliseconds of any clock that
// does not go back.
import { keyOf, type Moved, Shelf } from "./shelf.js";

/** How long a message of the trailing connection waits for the current one, in milliseconds. */
export const WAIT = 1000;

/** A Late tells which messages of a trailing connection the application does not get from the current one. */
export class Late<R> {
  readonly #notes = new Shelf<R>(); // of what was given, and the trailing connection did not bring yet
  readonly #waiting = new Shelf<R>(); // of what it brought, and was not given yet
  readonly #early = new Shelf<R>(); // of what waited, and was given since it was too much

  /** given are the keys of what was given before; what waits with the Late before waits here. */
  constructor(given: readonly { readonly key: string }[], now: number, before?: Late<R>) {
    for (const { key } of given) this.#notes.put(key, now);
    if (!before) return;
    for (const { key, time, message } of before.#waiting.all) this.#waiting.put(key, time, message);
    for (const { key, time } of before.#early.all) this.#early.put(key, time);
  }

  /** fromCurrent is called with a message that the application is to get, and says whether it does. */
  fromCurrent(m: Moved<R>, now: number): boolean {
    const key = keyOf(m);
    this.#early.dropUntil(now - WAIT);
    if (this.#early.take(key)) return false;
    if (!this.#waiting.take(key)) this.#notes.put(key, now);
    return true;
  }

  /** fromTrail is called with a message of the trailing connection; what it returns is given now, as late. */
  fromTrail(m: Moved<R>, now: number): Moved<R> | undefined {
    const key = keyOf(m);
    if (this.#notes.take(key)) return undefined;
    const over = this.#waiting.put(key, now, { ...m });
    if (over) this.#early.put(over.key, over.time);
    return over?.message;
  }

  /** renew lets what waits do so from now on. */
  renew(now: number): void {
    for (const entry of this.#waiting.all) entry.time = now;
  }

  /** due takes what has waited long enough: it is given now, as late. */
  due(now: number): Moved<R>[] {
    return this.#waiting.dropUntil(now - WAIT);
  }

  /** When something is due; undefined: nothing waits. */
  get nextDue(): number | undefined {
    const oldest = this.#waiting.oldest;
    return oldest && oldest.time + WAIT;
  }
}
