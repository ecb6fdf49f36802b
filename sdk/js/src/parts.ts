// What histories and presence are to the core of a session.
import type { Confirms } from "./confirms.js";
import type { Connection } from "./connection.js";
import type { MillraceError } from "./errors.js";
import type { Delivered } from "./frames.js";
import type { History, HistoryFrom } from "./history.js";
import type { Interest, Readers } from "./interests.js";
import type { Membership } from "./membership.js";
import type { Presence, PresenceOptions } from "./presence.js";
import type { Subscription } from "./subscription.js";

type Conn = Connection<Readers>;

/** Subscriptions with a history, and publishes that are confirmed, of one session. */
export interface Histories {
  /** begin checks where a subscription begins. */
  begin(history: HistoryFrom, pattern: string): History;
  /** resume asks the current connection for the patterns with a history. */
  resume(c: Conn): Promise<void>;
  /** ask asks a connection for one of them, and resolves when it has answered, or something else has come in between. */
  ask(c: Conn, interest: Interest, history: History): Promise<void>;
  /** stored takes a message with a position. */
  stored(from: Conn, m: Delivered<Readers>, position: string): void;
  /** confirms makes what a connection has of confirmed publishes. */
  confirms(): Confirms;
  /** line takes a line that the core does not know. */
  line(from: Conn, line: string): void;
  /** The queue of a subscription with a history, which was full, has been read. */
  wasRead(sub: Subscription): void;
  /** publish publishes a frame, which encode makes with an id, and resolves with its position. */
  publish(
    encode: (id: number) => Uint8Array<ArrayBuffer>,
    key: Uint8Array,
    toOne: boolean,
    about: { tenant: string; channel: string },
  ): Promise<string | undefined>;
}

/** Memberships, and who is present, of one session. */
export interface Presences {
  /** What has no answer. */
  readonly asking: ReadonlySet<Promise<void>>;
  join(tenant: string, channel: string): Promise<Membership>;
  watch(tenant: string, pattern: string, options: PresenceOptions): Promise<Presence>;
  /** restore asks a connection for everything, and resolves when it has answered, or is lost. */
  restore(c: Conn): Promise<void>;
  /** hasSynced says whether a connection has told all of what it was asked for. */
  hasSynced(c: Conn): boolean;
  /** frame takes a presence frame, the bytes of b from start to end; it throws if that is invalid. */
  frame(from: Conn, b: Uint8Array, start: number, end: number): void;
  /** follow shows what the current connection has told, when that is another one, or none. */
  follow(): void;
  /** ended is called with an ERR line that answers no request: it may end what the edge had acknowledged. */
  ended(from: Conn, code: string, key: string): void;
  /** leaveAll says LEAVE for all memberships, and waits for nothing. */
  leaveAll(): void;
  /** end ends everything; error is why, gone what those get that still wait. */
  end(error: MillraceError | undefined, gone: MillraceError): void;
}
