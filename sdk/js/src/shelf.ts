/** A message as it came. */
export interface Moved<R> {
  readonly tenant: string;
  readonly channel: string;
  readonly payload: Uint8Array;
  readonly route: R;
  /** Messages are the same whatever this says: not every edge tells it. */
  readonly sender: string;
}

/** Something that is remembered about one message. */
export interface Entry<R> {
  readonly key: string;
  time: number;
  readonly message: Moved<R> | undefined;
}

// Where an entry stands; undefined: it is gone, and its memory with it.
interface Slot<R> {
  entry: Entry<R> | undefined;
}

const MAX_ENTRIES = 65_536;
const MAX_BYTES = 16 << 20;
const SPARE = 1024; // slots that may be empty

const PART = 1024; // arguments of a call

/** keyOf returns what messages are compared by: every byte is a character. Hermes' TextDecoder knows UTF-8 alone. */
export function keyOf({ tenant, channel, payload }: Moved<unknown>): string {
  let key = `${tenant}:${channel}:`;
  for (let i = 0; i < payload.length; i += PART) key += String.fromCharCode(...payload.subarray(i, i + PART));
  return key;
}

/** A Shelf holds entries in order, and finds the oldest one with a key. */
export class Shelf<R> {
  size = 0; // how many are there
  #bytes = 0;
  #order: Slot<R>[] = []; // from #head on
  #head = 0;
  readonly #byKey = new Map<string, Slot<R>[]>();

  get oldest(): Entry<R> | undefined {
    while (this.#order[this.#head]?.entry === undefined && this.#head < this.#order.length) this.#head++;
    return this.#order[this.#head]?.entry;
  }

  /** All entries, the oldest first. */
  get all(): Entry<R>[] {
    return this.#order.flatMap(({ entry }) => entry ?? []);
  }

  /** put appends an entry, and returns the oldest one, which has left, if these are too many. */
  put(key: string, time: number, message?: Moved<R>): Entry<R> | undefined {
    if (this.#order.length > 2 * this.size + SPARE) {
      this.#order = this.#order.filter(({ entry }) => entry);
      this.#head = 0;
    }
    const slot = { entry: { key, time, message } };
    this.#order.push(slot);
    const same = this.#byKey.get(key);
    if (same) same.push(slot);
    else this.#byKey.set(key, [slot]);
    this.size++;
    this.#bytes += key.length;
    return this.size > MAX_ENTRIES || this.#bytes > MAX_BYTES ? this.drop() : undefined;
  }

  /** take removes the oldest entry with a key, if there is one. */
  take(key: string): boolean {
    const same = this.#byKey.get(key);
    const slot = same?.shift();
    if (!same || !slot) return false;
    if (same.length === 0) this.#byKey.delete(key);
    slot.entry = undefined;
    this.size--;
    this.#bytes -= key.length;
    return true;
  }

  /** drop removes the oldest entry. */
  drop(): Entry<R> | undefined {
    const entry = this.oldest;
    if (entry) this.take(entry.key);
    return entry;
  }

  /** dropUntil removes the entries up to a time, and returns their messages. */
  dropUntil(time: number): Moved<R>[] {
    const all: Moved<R>[] = [];
    for (let e = this.oldest; e && e.time <= time; e = this.oldest) {
      this.drop();
      if (e.message) all.push(e.message);
    }
    return all;
  }
}
