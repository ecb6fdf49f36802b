// What a move between two connections does with their messages: each is given
// to the application once and in order (docs/decisions/0008-clients.md). The
// times are passed in, in milliseconds of any clock that does not go back.
import { keyOf, type Moved, Shelf } from "./shelf.js";

export type { Moved };

const GOOD_FOR = 1000; // ms, of a note, and as much more as the two connections are there
const AT_MOST = 10_000; // ms, with that

/** A Merger is for one move, or for one suspicion. */
export class Merger<R> {
  #notes = new Shelf<R>(); // of what the current connection gave
  readonly #pile = new Shelf<R>(); // of what the next one brought and the current one did not yet
  #given = new Shelf<R>(); // of what the next one brought, and did not wait for the current one
  #goodFor = GOOD_FOR;
  #since: number | undefined; // notes are good for longer from then on

  /**
   * joined says that there is a next connection from now on. Notes are good the longer, the longer it is
   * there: what makes copies late, an edge or a client that gets no time, makes a move long, too.
   */
  joined(now: number): void {
    this.#since = now;
  }

  /** left says that the next connection is the current one from now on. */
  left(now: number): void {
    this.#goodFor += this.#added(now);
    this.#since = undefined;
  }

  #added(now: number): number {
    return this.#since === undefined ? 0 : Math.min(now - this.#since, AT_MOST - GOOD_FOR);
  }

  /**
   * fromCurrent is called with a message of the current connection, and says whether it is given to the
   * application now: it is, unless the same did not wait for it.
   */
  fromCurrent(m: Moved<R>, now: number): boolean {
    const key = keyOf(m);
    this.#forget(now);
    if (this.#given.take(key)) return false;
    if (!this.#pile.take(key)) this.#notes.put(key, now);
    return true;
  }

  /**
   * fromNext is called with a message of the next connection, and returns what is to be given to the
   * application now. unknown says that the current connection may not bring it: it has not confirmed
   * any of its patterns yet.
   */
  fromNext(m: Moved<R>, now: number, unknown: boolean): Moved<R> | undefined {
    if (this.late(m, now)) return undefined;
    if (unknown) {
      this.#given.put(keyOf(m), now);
      return m;
    }
    const over = this.#pile.put(keyOf(m), now, { ...m });
    if (over) this.#given.put(over.key, now);
    return over?.message;
  }

  /** late says whether the current connection has given a message of the next one, which counts as one. */
  late(m: Moved<R>, now: number): boolean {
    this.#forget(now);
    return this.#notes.size > 0 && this.#notes.take(keyOf(m));
  }

  /** behind is how many messages the next connection brought that the current one has yet to give. */
  get behind(): number {
    return this.#pile.size;
  }

  /** release empties the pile. */
  release(): Moved<R>[] {
    return this.#pile.dropUntil(Infinity);
  }

  /**
   * orphan says that the next connection has ended, and that nobody else may bring what it
   * brought: that stays in the pile, and does not count again when another one brings it.
   */
  orphan(): void {
    this.#notes = new Shelf();
    for (const { key, time } of this.#pile.all) this.#notes.put(key, time);
  }

  /** keepCurrent says that the current connection delivers all, and that there is no next one any more. */
  keepCurrent(now: number): void {
    this.release();
    this.#since = undefined;
    this.#notes = new Shelf();
    for (const { key } of this.given) this.#notes.put(key, now);
    this.#given = new Shelf();
  }

  /** The keys of what the next connection brought and was given at once. */
  get given(): { readonly key: string }[] {
    return this.#given.all;
  }

  /** done says that no note is good any more. */
  done(now: number): boolean {
    this.#forget(now);
    return this.#notes.size === 0;
  }

  #forget(now: number): void {
    this.#notes.dropUntil(now - this.#goodFor - this.#added(now));
  }
}
