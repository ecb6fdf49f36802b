// Presence frames (docs/protocol.md): pages of what a WHO is told.
import { broken } from "./frames.js";
import { decodeText } from "./lines.js";

/** Whether a member is there, as a presence frame says. */
export interface MemberEntry {
  channel: string;
  subject: string;
  here: boolean;
  /** Milliseconds since 1970; of one that is here, as the next one. */
  since: number;
  /** The text of a JSON object, or empty. */
  info: string;
}

/** How many members a channel has, as a presence frame says. */
export interface CountEntry {
  channel: string;
  members: number;
}

/** A decoded presence frame. */
export interface PresenceFrame {
  tenant: string;
  pattern: string;
  /** What came before for this WHO is void, once a frame that is synced has come. */
  first: boolean;
  /** All has come that was true when the frame before that was the first one was sent. */
  synced: boolean;
  /** The entries are counts, otherwise members. */
  counts: boolean;
  members: MemberEntry[];
  channels: CountEntry[];
}

/** isPresence says whether a frame is a presence frame. */
export const isPresence = (b: Uint8Array, start: number, end: number): boolean => start < end && b[start] === 5;

/** decodePresence decodes a presence frame, the bytes of b from start to end, whose bits are known ones. */
export function decodePresence(b: Uint8Array, start: number, end: number): PresenceFrame {
  const view = new DataView(b.buffer, b.byteOffset, end);
  let at = start + 1;
  const take = (size: number): number => {
    at += size;
    if (at > end) broken();
    return at - size;
  };
  const u8 = (): number => view.getUint8(take(1));
  const u16 = (): number => view.getUint16(take(2));
  const text = (size: number): string => decodeText(b.subarray(take(size), at));
  const bits = u8();
  const frame: PresenceFrame = {
    first: (bits & 1) !== 0,
    synced: (bits & 2) !== 0,
    counts: (bits & 4) !== 0,
    tenant: text(u16()),
    pattern: text(u16()),
    members: [],
    channels: [],
  };
  for (let left = u16(); left > 0; left--) {
    if (frame.counts) frame.channels.push({ channel: text(u16()), members: view.getUint32(take(4)) });
    else {
      const state = u8();
      if (state > 1) broken();
      const entry = { channel: text(u16()), subject: text(u8()), here: state === 1, since: 0, info: "" };
      if (entry.here) {
        entry.since = Number(view.getBigUint64(take(8)));
        entry.info = text(u16());
      }
      frame.members.push(entry);
    }
  }
  if (at !== end) broken();
  return frame;
}
