import { badOption } from "./bad-option.js";

/** What can be published: bytes and texts as they are, all else as JSON. */
export type Payload = Uint8Array | string | number | boolean | null | object;

/** asBytes returns what is sent: a text, or bytes. */
export function asBytes(payload: Payload): Uint8Array | string {
  const kind = Object.prototype.toString.call(payload).slice(8, -1);
  if (kind === "String" || kind === "Uint8Array") return payload as string;
  let why = kind;
  try {
    // Others become {} or null, which nobody wants.
    if (/^(Object|Array|Number|Boolean|Null|Date)$/.test(kind) && (kind !== "Number" || Number.isFinite(payload)))
      return JSON.stringify(payload);
  } catch (err) {
    why = (err as Error).message.split("\n")[0] as string;
  }
  badOption(`a payload is a Uint8Array, text or JSON, not ${why}`);
}
