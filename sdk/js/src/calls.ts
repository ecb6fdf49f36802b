import type { Delivery } from "./frames.js";
import type { HistoryFrom } from "./history.js";
import type { Message } from "./message.js";
import type { QueueOptions } from "./options.js";

/** Options of one subscription. */
export interface SubscribeOptions extends QueueOptions {
  /**
   * Called for each message as it comes, in place of iterating. What it throws is an uncaught
   * error; its promise is not waited for.
   */
  readonly onMessage?: ((message: Message) => unknown) | undefined;
  /**
   * First the past from there, as far as the edge keeps it, then what comes. Messages have a position, and
   * come in that order, each once. After every loss of the connection, and every move, the subscription
   * goes on behind the last one; if something may be missing, the event `gap` says so. The client has no
   * other subscription to the pattern. See docs/reference/typescript.md, Histories.
   */
  readonly history?: HistoryFrom | undefined;
  /**
   * False leaves out what this client has published itself, as far as the edge says so: not what it gets on another
   * connection than it was published on, during a move or after a loss, unless it was confirmed. Messages to one
   * connection are never left out. Default: true.
   */
  readonly echo?: boolean | undefined;
}

/** Options of one publish. */
export interface PublishOptions {
  /** Who gets the message. Default: `broadcast`. */
  readonly delivery?: Delivery | undefined;
  /** Resolve when the edge has answered, with the position at which the message is stored. */
  readonly confirm?: boolean | undefined;
  /**
   * With `confirm`: 1 to 64 bytes that tell the message from others of its channel. What is published
   * again with the same key within two minutes is stored once, so the client can repeat it. The key
   * belongs to the subject of the client's tokens; without one, to the token.
   */
  readonly key?: string | undefined;
}

/** Options of a publish that is confirmed. */
export interface ConfirmOptions extends PublishOptions {
  readonly confirm: true;
}
