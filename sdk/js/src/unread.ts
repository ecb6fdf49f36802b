// What was sent on a connection without a proof that the edge has read it. Times are milliseconds of any
// clock that does not go back.

/** How long something that was sent may lack a sign that the edge reads, before the client asks for one. */
export const UNREAD = 1000;

const SLOWEST = 1 / 1.024; // ms for a byte: the lowest ingress cap of an edge is 1 KiB a second
const BURST = 1000; // ms that an edge may read sooner than its cap lets it: a cap holds one second
const EXTRA = 32; // bytes that it counts for each message besides its own

/** A place in what was sent, before a PING. */
export interface Mark {
  readonly publishes: number;
  readonly bytes: number;
  /** When the first was sent since the PING before; undefined: nothing was. */
  readonly first: number | undefined;
}

/**
 * An Unread knows what the edge may not have read. Edges read in order, so the answer to a PING proves it of all
 * that was sent before. What asks for another answer needs no PING if anything comes after it.
 */
export class Unread {
  #publishes = 0; // without an answer of their own, ever
  #marked = 0; // of these, those before the last PING
  #proven = 0; // of these, those that the edge has read, or that were told
  #bytes = 0; // since the last PING
  #since: number | undefined; // when the first was sent that makes the client ask
  #first: number | undefined; // when anything was sent after the last PING
  #perByte = SLOWEST; // that a byte takes at most, as the edge has shown

  /** publish is for a publish without an answer; it says whether it is the first after a PING. */
  publish(bytes: number, time: number): boolean {
    const first = this.#publishes++ === this.#marked;
    this.#sent(bytes, time, first);
    return first;
  }

  /** request is for what is answered; it says whether nothing else waits for a sign. */
  request(bytes: number, time: number, heard: number): boolean {
    const first = this.waits(heard) === undefined;
    this.#sent(bytes, time, first);
    return first;
  }

  #sent(bytes: number, time: number, first: boolean): void {
    this.#bytes += bytes + EXTRA;
    this.#first ??= time;
    if (first) this.#since = time;
  }

  /** waits says since when something waits for a sign that the edge reads; undefined: nothing does. */
  waits(heard: number): number | undefined {
    return this.#publishes === this.#marked && heard >= (this.#since ?? heard) ? undefined : this.#since;
  }

  /** mark is called before each PING. */
  mark(): Mark {
    const mark = { publishes: this.#publishes, bytes: this.#bytes, first: this.#first };
    this.#marked = this.#publishes;
    this.#bytes = 0;
    this.#since = this.#first = undefined;
    return mark;
  }

  /** proven takes the answer to a PING. */
  proven({ publishes, bytes, first }: Mark, time: number): void {
    this.#proven = Math.max(this.#proven, publishes);
    if (first !== undefined) this.#perByte = Math.min(this.#perByte, (time - first + BURST) / bytes);
  }

  /** sendTime is how long the edge may read what was sent before a PING, in ms. */
  sendTime({ bytes }: Mark): number {
    return bytes * this.#perByte;
  }

  /** told is for a publish that the application has been told about. */
  told(): void {
    this.#proven++;
  }

  /** take returns how many publishes the edge may not have read. They count once. */
  take(): number {
    const count = this.#publishes - this.#proven;
    this.#proven = this.#publishes;
    return count;
  }
}
