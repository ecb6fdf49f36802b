// Messages of a history as the page holds them: a bounded number, and a part of each.
import { type Kept, keepBase64 } from "./payload.js";

export const MAX_KEPT = 500; // messages

/** A message as the API gives it. */
export interface StoredMessage {
  readonly position: string;
  readonly time: string;
  readonly channel: string;
  readonly payload: string; // base64
}

export interface Message extends Omit<StoredMessage, "payload"> {
  readonly payload: Kept;
}

/** What was read so far. */
export interface Found {
  readonly messages: readonly Message[]; // oldest first
  readonly omitted: number; // before these, not held any more
}

/** extend adds a page. Beyond MAX_KEPT the oldest messages go. */
export function extend({ messages, omitted }: Found, page: readonly StoredMessage[]): Found {
  const all = [...messages, ...page.map((message) => ({ ...message, payload: keepBase64(message.payload) }))];
  const over = Math.max(0, all.length - MAX_KEPT);
  return { messages: all.slice(over), omitted: omitted + over };
}

/** numberOf is the part of a position that counts messages. */
export const numberOf = (position: string): string => position.split(".")[1] ?? position;
