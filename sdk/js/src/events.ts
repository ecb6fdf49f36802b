import { must } from "./bad-option.js";
import type { ErrorCode, MillraceError } from "./errors.js";
import type { Transport } from "./link.js";
import type { Loud } from "./loud.js";
import { checkMembers, checkName } from "./members.js";

/** The connection that an event is about. */
export interface Place {
  /** The edge's origin, such as `https://edge.example.com`. */
  readonly edge: string;
  readonly transport: Transport;
}

/** Why a client moves: the edge drains, the token is another one, or WebTransport can be had again. */
export type MoveReason = "drain" | "token" | "transport";

/**
 * Why messages may be missing: `expired`, a limit of the history has removed some; `purged`, somebody has; `late`, they
 * were later than the history allows; `lost`, the edge has lost some; `behind`, it could not be proved that none are
 * missing; `no_right`, the token may not read the past: a grant's `history` lacks the pattern; `no_history`, the edge
 * keeps none; `unknown`.
 */
export type GapReason = "expired" | "purged" | "late" | "lost" | "behind" | "no_right" | "no_history" | "unknown";

/** The events of a client, see docs/reference/typescript.md. Times are milliseconds. */
export interface ClientEvents {
  /** The first connection cannot be had yet; the client tries again after the delay. attempt counts from 2. */
  connecting: { readonly attempt: number; readonly delay: number; readonly error: MillraceError };
  connected: Place;
  disconnected: Place & { readonly error: MillraceError };
  reconnecting: { readonly attempt: number; readonly delay: number };
  /** complete: nothing is missing, as all subscriptions have a history, and no gap was told. */
  reconnected: Place & { readonly away: number; readonly complete: boolean };
  /**
   * Messages of a subscription with a history may be missing, before this position; undefined: the edge,
   * or the token, gives no messages of the past. See GapReason.
   */
  gap: {
    readonly tenant: string;
    readonly pattern: string;
    readonly before: string | undefined;
    readonly reason: GapReason;
  };
  /** The connection brings nothing any more; another one is looked for beside it. */
  suspect: Place;
  /** It is back (away is 0), or another one has taken over. */
  recovered: Place & { readonly away: number };
  moving: Place & { readonly reason: MoveReason };
  moved: Place & { readonly reason: MoveReason };
  /** detail: what the token allows in place of it, if the edge says so. */
  publishError: {
    readonly tenant: string;
    readonly channel: string;
    readonly code: ErrorCode;
    readonly detail?: string;
  };
  /**
   * The connection is lost or replaced, and nothing has proved that the edge has read this many publishes that were
   * sent on it, of those that are not confirmed: they may be lost, or come late. It comes right before `disconnected`,
   * `recovered`, `moved` or `closed`.
   */
  publishUnknown: Place & { readonly count: number };
  /**
   * The subscription has ended, except with the code `try_later`: then the client asks again. Likewise a presence,
   * and a membership: with its channel, and an empty pattern. detail: as of publishError.
   */
  subscriptionError: {
    readonly tenant: string;
    readonly pattern: string;
    readonly channel?: string;
    readonly code: ErrorCode;
    readonly detail?: string;
  };
  slowConsumer: { readonly dropped: number };
  /**
   * The edge holds back for so many milliseconds, because of a limit of its own: `in` is what this client gets,
   * `out` what it publishes. Once a minute at most.
   */
  limited: { readonly direction: "in" | "out"; readonly delay: number };
  linkDown: { readonly edge: string };
  linkUp: { readonly edge: string };
  /**
   * A subscription has ended by `unsubscribe`, or with the client, before the application took so many messages to one
   * connection: nobody else gets them. `drain` gives them out.
   */
  discarded: { readonly tenant: string; readonly pattern: string; readonly count: number };
  queueFull: { readonly tenant: string; readonly pattern: string; readonly dropped: number };
  /** cause: of a token provider that failed, with the code `token_provider`. */
  edgeError: { readonly code: ErrorCode; readonly detail: string; readonly cause?: unknown };
  roundTrip: { readonly rtt: number };
  closed: { readonly error: MillraceError | undefined };
}

export type EventName = keyof ClientEvents;
/** A handler of an event. If it returns a promise, the next event waits for that. */
export type EventHandler<E extends EventName> = (event: ClientEvents[E]) => unknown;
/** Handlers by event. */
export type EventHandlers = { readonly [E in EventName]?: EventHandler<E> | undefined };

type AnyHandler = (event: never) => unknown;

const names =
  "connecting connected disconnected reconnecting reconnected gap suspect recovered moving moved publishError publishUnknown subscriptionError slowConsumer limited discarded linkDown linkUp queueFull edgeError roundTrip closed";
// A handler with it, as those of the React hooks, does not count as somebody who listens.
const quiet = Symbol.for("millrace.quiet");
const MAX_WAITING = 1024; // events

/** Events calls handlers, one event after the other, and never within the caller of emit. */
export class Events {
  readonly #handlers = new Map<string, Set<AnyHandler>>();
  #waiting: [name: string, event: unknown][] = [];
  #busy = false;

  readonly #loud: Loud;

  constructor(handlers: EventHandlers | undefined, loud: Loud) {
    this.#loud = loud;
    if (handlers) checkMembers("on", handlers, names);
    for (const [name, handler] of Object.entries(handlers ?? {})) if (handler) this.on(name, handler as AnyHandler);
  }

  on(name: string, handler: AnyHandler): () => void {
    checkName("there is no event", name, names);
    must(`the handler of ${name}`, handler ?? 0, "function");
    const own: AnyHandler = (event) => handler(event); // so that one may be added twice
    if (quiet in handler) Object.assign(own, { [quiet]: true });
    const all = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, all.add(own));
    return () => void all.delete(own);
  }

  /** emit queues an event. If a slow handler lets too many wait, the oldest is lost. */
  emit<E extends EventName>(name: E, event: ClientEvents[E]): void {
    if (this.#waiting.push([name, event]) > MAX_WAITING) this.#waiting.shift();
    if (!this.#busy) void this.#run();
  }

  async #run(): Promise<void> {
    this.#busy = true;
    await null;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const handlers = [...(this.#handlers.get(next[0]) ?? [])];
      if (handlers.every((handler) => quiet in handler)) this.#loud.event(next[0], next[1] as object);
      for (const handler of handlers) {
        try {
          await handler(next[1] as never);
        } catch (err) {
          report(err);
        }
      }
    }
    this.#busy = false;
  }
}

/** report makes an application's error an uncaught one, since nobody waits for it here. */
export function report(err: unknown): void {
  queueMicrotask(() => {
    throw err;
  });
}
