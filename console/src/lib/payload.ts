// How the payload of a message is shown.

export type PayloadFormat = "text" | "json" | "hex";

export const MAX_SHOWN: number = 16 * 1024; // bytes of one payload
/** Control characters that no text has; tabs and ends of lines are fine. */
const CONTROL = /[^\P{Cc}\t\n\r]/u;
const MAX_DEPTH = 64; // of JSON: indenting deeper nesting makes it grow with the square

/** A payload, or its beginning. */
export interface Kept {
  readonly bytes: Uint8Array;
  readonly size: number; // of the whole
}

export interface Shown {
  readonly text: string;
  readonly note?: string; // why it is not as one asked for
}

/** keep copies what may be shown: a payload shares the memory of all that came with it. */
export function keep(payload: Uint8Array): Kept {
  return { bytes: payload.slice(0, MAX_SHOWN), size: payload.length };
}

/** keepBase64 decodes the part of a payload that may be shown, or throws if it is invalid. */
export function keepBase64(payload: string): Kept {
  const padding = payload.endsWith("==") ? 2 : payload.endsWith("=") ? 1 : 0;
  const start = atob(payload.slice(0, Math.ceil(MAX_SHOWN / 3) * 4));
  const bytes = Uint8Array.from(start.slice(0, MAX_SHOWN), (c) => c.charCodeAt(0));
  return { bytes, size: (payload.length / 4) * 3 - padding };
}

/** formatOf is text where a payload is that, as far as it is known, and hex for any other. */
export function formatOf({ bytes, size }: Kept): PayloadFormat {
  try {
    // Of a payload that is cut, the last character may be cut, too.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: size > bytes.length });
    return CONTROL.test(text) ? "hex" : "text";
  } catch {
    return "hex";
  }
}

/** show formats a payload. */
export function show({ bytes, size }: Kept, format: PayloadFormat): Shown {
  const cut = size > bytes.length;
  const note = cut ? { note: `Only the first 16 KiB of ${size.toLocaleString("en")} bytes are shown.` } : {};
  if (format === "hex") return { text: hexDump(bytes), ...note };
  const text = decode(bytes);
  if (format === "text") return { text, ...note };
  if (cut) return { text, note: `${note.note} It is cut, so it is not formatted as JSON.` };
  const pretty = prettyJSON(text);
  return pretty === undefined
    ? { text, note: "It is no JSON, or too deeply nested; shown as text." }
    : { text: pretty };
}

/** preview is one line of a payload's beginning. */
export function preview({ bytes, size }: Kept, format: PayloadFormat, most = 160): string {
  if (size === 0) return "(empty)";
  const start = bytes.subarray(0, most);
  const more = size > start.length ? "…" : "";
  if (format === "hex") return hexLine(start.subarray(0, 32)) + (size > 32 ? " …" : "");
  return decode(start).replace(/\s+/g, " ") + more;
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function prettyJSON(text: string): string | undefined {
  if (depth(text) > MAX_DEPTH) return undefined;
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return undefined;
  }
}

// depth returns how deeply brackets are nested outside of strings.
function depth(text: string): number {
  let now = 0;
  let most = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (inString) {
      if (c === "\\") i++;
      else if (c === '"') inString = false;
    } else if (c === '"') inString = true;
    else if (c === "[" || c === "{") most = Math.max(most, ++now);
    else if (c === "]" || c === "}") now--;
  }
  return most;
}

const hex = (byte: number): string => byte.toString(16).padStart(2, "0");

function hexLine(bytes: Uint8Array): string {
  return Array.from(bytes, hex).join(" ");
}

// hexDump has 16 bytes a line, with their offset and what they are in ASCII.
function hexDump(bytes: Uint8Array): string {
  const rows: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = bytes.subarray(at, at + 16);
    const ascii = Array.from(row, (b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : ".")).join("");
    rows.push(`${at.toString(16).padStart(4, "0")}  ${hexLine(row).padEnd(47)}  ${ascii}`);
  }
  return rows.join("\n");
}
