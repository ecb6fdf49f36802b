// Messages on a WebTransport stream: each behind its length.
import { MillraceError } from "./errors.js";

/** Bytes; above every edge's limit of a payload. */
export const MAX_MESSAGE: number = 32 << 20;

/** isFrame tells a frame from a line: a line starts with a printable character. */
export const isFrame = (b: Uint8Array, start: number, end: number): boolean =>
  end > start && (b[start] as number) < 0x20;

/** A Splitter cuts a stream's bytes into its messages. */
export class Splitter {
  readonly #limit: number;
  #parts: Uint8Array[] = []; // of a message that is not there in full, its length included
  #held = 0; // bytes of all parts

  /** A message of more than limit bytes is a `protocol` error. */
  constructor(limit: number = MAX_MESSAGE) {
    this.#limit = limit;
  }

  /** How many bytes wait for the rest of their message. */
  get held(): number {
    return this.#held;
  }

  /** push takes the next bytes and gives out each message that they complete, as a part of b. */
  push(chunk: Uint8Array, give: (b: Uint8Array, start: number, end: number) => void): void {
    let at = 0;
    if (this.#held > 0) {
      at = this.#complete(chunk, give);
      if (this.#held > 0) return;
    }
    while (chunk.length - at >= 4) {
      const end = at + 4 + this.#length(chunk, at);
      if (end > chunk.length) break;
      give(chunk, at + 4, end);
      at = end;
    }
    if (at < chunk.length) this.#hold(chunk.slice(at)); // a copy: what is given out may live long
  }

  // #complete gives out the message that is held, if chunk completes it, and
  // returns how many bytes of chunk belong to it.
  #complete(chunk: Uint8Array, give: (b: Uint8Array, start: number, end: number) => void): number {
    let used = 0;
    if (this.#held < 4) {
      used = Math.min(4 - this.#held, chunk.length);
      this.#hold(chunk.slice(0, used));
      if (this.#held < 4) return used;
    }
    const first = (this.#parts[0] as Uint8Array).length < 4 ? this.#join() : (this.#parts[0] as Uint8Array);
    const size = 4 + this.#length(first, 0);
    const more = Math.min(size - this.#held, chunk.length - used);
    if (more > 0) this.#hold(chunk.slice(used, used + more));
    if (this.#held === size) {
      const message = this.#join();
      this.#parts = [];
      this.#held = 0;
      give(message, 4, size);
    }
    return used + more;
  }

  #hold(part: Uint8Array): void {
    this.#parts.push(part);
    this.#held += part.length;
  }

  // #join makes one part of all: at most twice for a message.
  #join(): Uint8Array {
    const all = new Uint8Array(this.#held);
    let at = 0;
    for (const part of this.#parts) {
      all.set(part, at);
      at += part.length;
    }
    this.#parts = [all];
    return all;
  }

  #length(b: Uint8Array, at: number): number {
    const n =
      (b[at] as number) * 0x1000000 +
      (((b[at + 1] as number) << 16) | ((b[at + 2] as number) << 8) | (b[at + 3] as number));
    if (n > this.#limit) throw new MillraceError("protocol", "a message that is too long");
    return n;
  }
}
