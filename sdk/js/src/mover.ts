// What a move between two connections does with their messages: each is given
// to the application once and in order (docs/decisions/0008-clients.md). The
// times are passed in, in milliseconds of any clock that does not go back.

/** A message as it came. */
export interface Moved<R> {
  readonly tenant: string;
  readonly channel: string;
  readonly payload: Uint8Array;
  readonly route: R;
}

/** Something that is remembered about one message. */
interface Entry<R> {
  readonly key: string;
  readonly time: number;
  readonly size: number;
  readonly message: Moved<R> | undefined;
  gone: boolean;
}

const GOOD_FOR = 1000; // ms, of a note
const MAX_ENTRIES = 65_536; // of the notes, and of the pile
const MAX_BYTES = 16 << 20;

// Every byte has a character of its own in this encoding.
const bytes = new TextDecoder("windows-1252");

/** A Mover is for one move. */
export class Mover<R> {
  readonly #notes = new Shelf<R>(); // of what the first connection gave
  readonly #pile = new Shelf<R>(); // of what the second one brought and the first did not yet

  /** first is told of a message of the first connection, which is given to the application now. */
  first(m: Moved<R>, now: number): void {
    const key = keyOf(m);
    this.#forget(now);
    if (this.#pile.take(key)) return;
    this.#notes.put({ key, time: now, size: key.length, message: undefined, gone: false });
    if (this.#notes.over) this.#notes.drop();
  }

  /**
   * second is told of a message of the second connection, and returns what is to be given to the
   * application now. unknown says that the first connection has none of its patterns.
   */
  second(m: Moved<R>, now: number, unknown: boolean): Moved<R> | undefined {
    if (this.late(m, now)) return undefined;
    if (unknown) return m;
    const key = keyOf(m);
    this.#pile.put({ key, time: now, size: key.length, message: { ...m }, gone: false });
    return this.#pile.over ? this.#pile.drop()?.message : undefined;
  }

  /** late says whether the first connection has given a message of the second, which counts as one. */
  late(m: Moved<R>, now: number): boolean {
    this.#forget(now);
    return this.#notes.size > 0 && this.#notes.take(keyOf(m));
  }

  /** behind is how many messages the second connection brought that the first has yet to give. */
  get behind(): number {
    return this.#pile.size;
  }

  /** release empties the pile. */
  release(): Moved<R>[] {
    const all: Moved<R>[] = [];
    for (let e = this.#pile.drop(); e; e = this.#pile.drop()) all.push(e.message as Moved<R>);
    return all;
  }

  /** done says that no note is good any more. */
  done(now: number): boolean {
    this.#forget(now);
    return this.#notes.size === 0;
  }

  #forget(now: number): void {
    for (let e = this.#notes.oldest; e && now - e.time >= GOOD_FOR; e = this.#notes.oldest) this.#notes.drop();
  }
}

function keyOf(m: Moved<unknown>): string {
  return `${m.tenant}:${m.channel}:${bytes.decode(m.payload)}`;
}

/** A Shelf holds entries in order, and finds the oldest one with a key. */
class Shelf<R> {
  size = 0; // how many are there
  #bytes = 0;
  #order: Entry<R>[] = []; // from #head on; some of them are gone
  #head = 0;
  readonly #byKey = new Map<string, Entry<R>[]>();

  get over(): boolean {
    return this.size > MAX_ENTRIES || this.#bytes > MAX_BYTES;
  }

  get oldest(): Entry<R> | undefined {
    while (this.#order[this.#head]?.gone) this.#head++;
    if (this.#head > 1024 && this.#head * 2 > this.#order.length) {
      this.#order = this.#order.slice(this.#head);
      this.#head = 0;
    }
    return this.#order[this.#head];
  }

  put(entry: Entry<R>): void {
    this.#order.push(entry);
    const same = this.#byKey.get(entry.key);
    if (same) same.push(entry);
    else this.#byKey.set(entry.key, [entry]);
    this.size++;
    this.#bytes += entry.size;
  }

  /** take removes the oldest entry with a key, if there is one. */
  take(key: string): boolean {
    const same = this.#byKey.get(key);
    const entry = same?.shift();
    if (!same || !entry) return false;
    if (same.length === 0) this.#byKey.delete(key);
    entry.gone = true;
    this.size--;
    this.#bytes -= entry.size;
    return true;
  }

  /** drop removes the oldest entry. */
  drop(): Entry<R> | undefined {
    const entry = this.oldest;
    if (entry) this.take(entry.key);
    return entry;
  }
}
