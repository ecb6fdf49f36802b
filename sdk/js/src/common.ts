// What the entries of all runtimes export.

export type { ConfirmOptions, PublishOptions, SubscribeOptions } from "./calls.js";
export { channelToken } from "./channel-token.js";
export { Client } from "./client.js";
export { type ErrorCode, type ErrorContext, LoggedOutError, MillraceError } from "./errors.js";
export type { ClientEvents, EventHandler, EventHandlers, EventName, GapReason, MoveReason, Place } from "./events.js";
export type { Delivery } from "./frames.js";
export type { HistoryFrom } from "./history.js";
export type { Transport } from "./link.js";
export type { Logger } from "./loud.js";
export type { Membership } from "./membership.js";
export type { Message } from "./message.js";
export type {
  AccessToken,
  CertificateHash,
  ConnectOptions,
  Paths,
  QueueOptions,
  QueuePolicy,
} from "./options.js";
export type { Payload } from "./payload.js";
export type { Presence, PresenceChange, PresenceOptions } from "./presence.js";
export type { WebSocketClass } from "./runtime.js";
export type { Subscription } from "./subscription.js";
export type { Tenant } from "./tenant.js";
export { tokenFrom } from "./token-from.js";
export type { Member } from "./watch.js";
