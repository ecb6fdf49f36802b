// Frames (docs/protocol.md): binary messages.
import { MillraceError } from "./errors.js";
import { decodeText, encodeText } from "./lines.js";

/** Who gets a message: every subscriber, or one connection, of the nearest edge or of any. */
export type Delivery = "broadcast" | "one-nearest" | "one-random";

export const deliveries: readonly string[] = ["broadcast", "one-nearest", "one-random"];

/** What a publish frame of version 3 has besides: the edge answers with the id. */
export interface Confirm {
  id: number;
  /** At most 64 bytes. */
  key: Uint8Array;
}

/**
 * encodePublish returns a publish frame: version 3 if it is to be confirmed, else version 1 without
 * a delivery, else version 2. The tenant has at most 255 characters, all of them ASCII, as those of
 * the channel.
 */
export function encodePublish(
  tenant: string,
  channel: string,
  payload: Uint8Array | string,
  delivery?: number,
  confirm?: Confirm,
): Uint8Array<ArrayBuffer> {
  const body = typeof payload === "string" ? encodeText(payload) : payload;
  const head = confirm ? 7 + confirm.key.length : delivery === undefined ? 0 : 2;
  const frame = new Uint8Array(head + 4 + tenant.length + channel.length + body.length);
  if (head > 0) {
    frame[0] = confirm ? 3 : 2;
    frame[1] = delivery ?? 0;
  }
  if (confirm) {
    new DataView(frame.buffer).setUint32(2, confirm.id);
    frame[6] = confirm.key.length;
    frame.set(confirm.key, 7);
  }
  frame.set(body, name(frame, name(frame, head, tenant), channel));
  return frame;
}

function name(frame: Uint8Array, at: number, text: string): number {
  frame[at++] = text.length >> 8;
  frame[at++] = text.length;
  for (let i = 0; i < text.length; i++) frame[at++] = text.charCodeAt(i);
  return at;
}

/** Patterns of a message, with room for what a reader has found out about them. */
export interface Route<T> {
  readonly patterns: readonly string[];
  note: T | undefined;
}

/** A decoded deliver frame. */
export interface Delivered<T> {
  tenant: string;
  channel: string;
  payload: Uint8Array;
  route: Route<T>;
  /** Of a message for one RSUB, whose pattern is the only one: its place in the history. */
  position?: string | undefined;
  /** The subject of the token that published it; empty: it has none, or is not told. */
  sender: string;
  /** It was published to one connection, which is this one. */
  toOne: boolean;
  /** This connection has published it, with this key, which is empty if it had none. */
  own: Uint8Array | undefined;
}

// The bits of the fields of a frame with the tag 4.
const HAS_POSITION = 1;
const HAS_SENDER = 2;
const TO_ONE = 4; // no bytes
const HAS_OWN = 8;
const POSITION = 24; // bytes
const MAX_SENDER = 128; // bytes
const MAX_KEY = 64; // bytes

// The bits that may stand behind a tag.
const known: { readonly [tag: number]: number } = { 4: HAS_POSITION | HAS_SENDER | TO_ONE | HAS_OWN, 5: 7 };

/** isUnknownFrame says whether a frame is of a later version, by its tag or a bit: clients ignore it. */
export function isUnknownFrame(b: Uint8Array, start: number, end: number): boolean {
  if (start === end || b[start] === 1) return false;
  const bits = known[b[start] as number];
  return bits === undefined || (start + 1 < end && ((b[start + 1] as number) & ~bits) !== 0);
}

/**
 * A DeliverDecoder decodes the deliver frames of one connection. Names repeat, so it remembers
 * those that it has seen, by their bytes: no text is decoded and no list is made twice in a row.
 */
export class DeliverDecoder<T> {
  readonly #heads = new Memory<[tenant: string, channel: string]>();
  readonly #routes = new Memory<Route<T>>();
  readonly #senders = new Memory<string>();
  readonly #last = {} as Delivered<T>;

  /**
   * decode decodes the bytes of b from start to end. The result is valid until the next call; its
   * payload shares the memory of b, its patterns must not be changed.
   */
  decode(b: Uint8Array, start: number, end: number): Delivered<T> {
    const short = (at: number): void => {
      if (at > end) broken();
    };
    const size = (at: number): number => {
      short(at + 2);
      return ((b[at] as number) << 8) | (b[at + 1] as number);
    };
    if (start === end || b[start] === 5 || isUnknownFrame(b, start, end)) broken();
    let position: string | undefined;
    let sender = "";
    let own: Uint8Array | undefined;
    let fields = 0;
    // field takes a length and so many bytes, and returns where they begin: they end with start.
    const field = (max: number): number => {
      short(start + 2);
      const from = start + 2;
      start = from + (b[start + 1] as number) - 1;
      if (start - from >= max) broken();
      short(start + 1);
      return from;
    };
    if (b[start] === 4) {
      fields = size(start) & 0xff;
      if (fields === 0) broken();
      start++;
      if (fields & HAS_POSITION) {
        short(start + 1 + POSITION);
        position = positionAt(b, start + 1);
        start += POSITION;
      }
      if (fields & HAS_SENDER) {
        const from = field(MAX_SENDER);
        sender = this.#senders.of(b, from, start + 1, () => decodeText(b.subarray(from, start + 1)));
      }
      if (fields & HAS_OWN) own = b.slice(field(MAX_KEY), start + 1);
    }
    const stored = position !== undefined;
    const channel = start + 3 + size(start + 1);
    const behind = channel + 2 + size(channel);
    const from = behind + 4;
    short(from);
    const count = from + size(behind) * 0x10000 + size(behind + 2);
    if (size(count) === 0 || (stored && size(count) !== 1)) broken();

    const names = this.#heads.of(b, start + 1, behind, () => [
      decodeText(b.subarray(start + 3, channel)),
      decodeText(b.subarray(channel + 2, behind)),
    ]);
    const last = this.#last;
    last.tenant = names[0];
    last.channel = names[1];
    last.payload = b.subarray(from, count);
    last.route = this.#routes.of(b, count, end, () => {
      const patterns: string[] = [];
      let at = count + 2;
      for (let left = size(count); left > 0; left--) {
        const next = at + 2 + size(at);
        short(next);
        patterns.push(decodeText(b.subarray(at + 2, next)));
        at = next;
      }
      if (at !== end) broken();
      return { patterns: Object.freeze(patterns), note: undefined };
    });
    last.position = position;
    last.sender = sender;
    last.toOne = (fields & TO_ONE) !== 0;
    last.own = own;
    return last;
  }
}

// positionAt reads a position, and writes it as lines have it.
function positionAt(b: Uint8Array, at: number): string {
  const view = new DataView(b.buffer, b.byteOffset + at, POSITION);
  return `${hex32(view, 0)}${hex32(view, 4)}.${decimal(view, 8)}.${decimal(view, 16)}`;
}

const hex32 = (view: DataView, at: number): string => view.getUint32(at).toString(16).padStart(8, "0");

// decimal reads a u64; a number holds most of them, and is faster.
function decimal(view: DataView, at: number): string {
  const high = view.getUint32(at);
  return high < 0x200000 ? String(high * 0x100000000 + view.getUint32(at + 4)) : String(view.getBigUint64(at));
}

export function broken(): never {
  throw new MillraceError("protocol", "a broken frame");
}

const SLOTS = 256; // a power of two
const MAX_REMEMBERED = 1024; // bytes

/** A Memory keeps what was made of some bytes until others with the same hash come. */
class Memory<V> {
  readonly #slots: { bytes: Uint8Array; value: V }[] = [];

  of(b: Uint8Array, start: number, end: number, make: () => V): V {
    let hash = 0;
    for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (b[i] as number)) | 0;
    const index = (hash ^ (hash >>> 8)) & (SLOTS - 1);
    const slot = this.#slots[index];
    if (slot && same(slot.bytes, b, start, end)) return slot.value;
    const value = make();
    if (end - start <= MAX_REMEMBERED) this.#slots[index] = { bytes: b.slice(start, end), value };
    return value;
  }
}

function same(kept: Uint8Array, b: Uint8Array, start: number, end: number): boolean {
  if (kept.length !== end - start) return false;
  for (let i = 0; i < kept.length; i++) if (kept[i] !== b[start + i]) return false;
  return true;
}
