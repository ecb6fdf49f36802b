/** A Queue is a ring of at most `limit` entries; it grows as it needs. */
export class Queue<T> {
  readonly #limit: number;
  #ring: (T | undefined)[] = new Array(16); // its length is a power of two
  #head = 0;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  get full(): boolean {
    return this.#size >= this.#limit;
  }

  /** push appends, also where it is full. */
  push(value: T): void {
    const ring = this.#ring;
    if (this.#size === ring.length) {
      this.#ring = [...ring.slice(this.#head), ...ring.slice(0, this.#head), ...new Array(ring.length)];
      this.#head = 0;
    }
    this.#ring[(this.#head + this.#size++) & (this.#ring.length - 1)] = value;
  }

  /** shift takes the oldest, if there is one. */
  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const value = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#size--;
    return value;
  }

  /** drop removes the oldest that fits, and says whether there was one. */
  drop(fits: (value: T) => boolean): boolean {
    const at = (i: number): number => (this.#head + i) & (this.#ring.length - 1);
    for (let i = 0; i < this.#size; i++) {
      if (!fits(this.#ring[at(i)] as T)) continue;
      for (; i > 0; i--) this.#ring[at(i)] = this.#ring[at(i - 1)];
      this.shift();
      return true;
    }
    return false;
  }

  clear(): void {
    this.#ring = new Array(16);
    this.#head = this.#size = 0;
  }
}
