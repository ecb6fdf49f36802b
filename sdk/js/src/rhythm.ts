// How long a connection usually says nothing (docs/decisions/0018-suspicion.md).
// Times are milliseconds of any clock that does not go back.

const BUCKET = 5000; // the longest pause is that of this bucket and the one before
/** A longer pause begins a new rhythm. */
export const LONGEST = 10_000;
const ENOUGH = 4; // pauses
const TIMES = 3;
const LEAST = 1000;
/** A silence is unusual after this time at most, in milliseconds. */
export const MOST = 3000;
const SAME = 1; // what comes within this is one arrival

/** A Rhythm knows the longest pause between arrivals of the last 5 to 10 s. */
export class Rhythm {
  #last: number;
  #since = 0; // when the bucket began
  #pauses = 0;
  #longest = 0; // of the bucket
  #before = 0; // of the one before

  constructor(time: number) {
    this.#last = this.#since = time;
  }

  /** arrived is called for each arrival, and says whether `unusual` may be shorter now. */
  arrived(time: number): boolean {
    const pause = time - this.#last;
    if (pause < SAME) return false;
    this.#last = time;
    if (pause > LONGEST) {
      this.#pauses = this.#longest = this.#before = 0;
      this.#since = time;
      return false;
    }
    const rotate = time - this.#since >= BUCKET;
    if (rotate) {
      this.#before = this.#longest;
      this.#longest = 0;
      this.#since = time;
    }
    if (pause > this.#longest) this.#longest = pause;
    return ++this.#pauses === ENOUGH || rotate;
  }

  /** skip is arrived at the end of a pause that does not count; it may be a long time since the last one. */
  skip(time: number): boolean {
    this.#last = time;
    return true;
  }

  /** After how long a silence is unusual; Infinity: there is no rhythm. */
  get unusual(): number {
    return this.#pauses < ENOUGH
      ? Infinity
      : Math.min(MOST, Math.max(LEAST, TIMES * Math.max(this.#longest, this.#before)));
  }
}
