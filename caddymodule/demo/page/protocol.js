// The protocol as pure functions: names, lines, frames, and the messages of a
// stream (docs/protocol.md). No browser API but TextEncoder is used here.

export const SUBPROTOCOL = "llps.v1";
export const DEFAULT_TENANT = "~";

export const BROADCAST = 0;
export const ONE_NEAREST = 1;
export const ONE_RANDOM = 2;

const MAX_LINE = 1024; // bytes
const MAX_TOKENS = 32;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

// Names

export const isTenant = (name) => /^[\w\-~@.]{1,128}$/.test(name);

export const isChannel = (name) => everyToken(name, (token) => /^[\w\-~@]+$/.test(token));

// The wildcards > and # stand last only.
export const isPattern = (name) =>
  everyToken(name, (token, last) => /^([\w\-~@]+\*?|\*)$/.test(token) || (last && /^[\w\-~@]*[>#]$/.test(token)));

function everyToken(name, legal) {
  const tokens = name.split(".");
  return name.length <= 256 && tokens.length <= MAX_TOKENS && tokens.every((token, i) => legal(token, i === tokens.length - 1));
}

// Lines

export const subscribeLine = (tenant, pattern) => `SUB:${tenant}:${pattern}`;
export const unsubscribeLine = (tenant, pattern) => `UNSUB:${tenant}:${pattern}`;
export const authLine = (token) => `AUTH:${token}`;

// parseLine returns what a line of the edge says: {kind}, which is PING, PONG,
// RECONNECT or OK:AUTH; {kind: "OK", verb, tenant, pattern}; or {kind: "ERR",
// code, detail}, in which detail may be empty.
export function parseLine(line) {
  const broken = () => new Error("the edge sent a line that is none");
  if (line.length > MAX_LINE || encoder.encode(line).length > MAX_LINE || line.endsWith("\n")) throw broken();
  if (["PING", "PONG", "RECONNECT", "OK:AUTH"].includes(line)) return { kind: line };
  const ok = /^OK:(SUB|UNSUB):([^:]+):(.+)$/su.exec(line);
  if (ok) return { kind: "OK", verb: ok[1], tenant: ok[2], pattern: ok[3] };
  const err = /^ERR:([a-z_]+)(?::(.+))?$/su.exec(line);
  if (err) return { kind: "ERR", code: err[1], detail: err[2] ?? "" };
  throw broken();
}

// Frames

// encodePublish returns the frame that publishes payload, a Uint8Array.
export function encodePublish({ tenant, channel, payload, delivery = BROADCAST }) {
  const names = [tenant, channel].map((name) => encoder.encode(name));
  const tag = delivery === BROADCAST ? [] : [0x02, delivery];
  const parts = [Uint8Array.from(tag), ...names.flatMap((name) => [u16(name.length), name]), payload];
  return concat(parts);
}

// decodeDeliver returns {tenant, channel, payload, patterns}; payload shares the
// frame's memory.
export function decodeDeliver(frame) {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  let at = 0;
  const skip = (n) => {
    if (at + n > frame.length) throw new Error("the edge sent a frame that is cut off");
    at += n;
    return at - n;
  };
  const bytes = (n) => frame.subarray(skip(n), at);
  const text = () => decoder.decode(bytes(view.getUint16(skip(2))));
  if (view.getUint8(skip(1)) !== 0x01) throw new Error("the edge sent a frame of an unknown kind");
  const tenant = text();
  const channel = text();
  const payload = bytes(view.getUint32(skip(4)));
  const patterns = Array.from({ length: view.getUint16(skip(2)) }, text);
  if (patterns.length === 0) throw new Error("the edge sent a frame without a pattern");
  if (at !== frame.length) throw new Error("the edge sent bytes behind a frame");
  return { tenant, channel, payload, patterns };
}

// Messages on a stream

// isFrame tells a frame from a line: a line starts with a printable character.
export const isFrame = (message) => message.length > 0 && message[0] < 0x20;

export const encodeText = (line) => encoder.encode(line);
export const decodeText = (message) => decoder.decode(message);

// withLength puts a message's length before it.
export const withLength = (message) => concat([u32(message.length), message]);

// A Splitter cuts a stream's bytes into its messages.
export class Splitter {
  #chunks = [];
  #size = 0; // of all chunks
  #next; // size of the message that comes next; undefined: its length is not there yet
  #limit;

  // A message over limit bytes is an error.
  constructor(limit) {
    this.#limit = limit;
  }

  // push takes the next bytes and returns the messages that they complete.
  push(chunk) {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    const messages = [];
    for (;;) {
      if (this.#next === undefined) {
        if (this.#size < 4) return messages;
        const head = this.#take(4);
        this.#next = new DataView(head.buffer, head.byteOffset).getUint32(0);
        if (this.#next > this.#limit) throw new Error("the edge sent a message that is too long");
      }
      if (this.#size < this.#next) return messages;
      messages.push(this.#take(this.#next));
      this.#next = undefined;
    }
  }

  // #take cuts off n bytes; they are there.
  #take(n) {
    let [first = new Uint8Array()] = this.#chunks;
    if (first.length < n) {
      first = concat(this.#chunks); // only now: a long message is copied once
      this.#chunks = [first];
    }
    if (first.length === n) this.#chunks.shift();
    else this.#chunks[0] = first.subarray(n);
    this.#size -= n;
    return first.subarray(0, n);
  }
}

function u16(n) {
  if (n > 0xffff) throw new RangeError("a name is too long");
  return Uint8Array.of(n >> 8, n);
}

const u32 = (n) => Uint8Array.of(n >>> 24, n >>> 16, n >>> 8, n);

function concat(parts) {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
