import type { Client, HistoryFrom, Message } from "@millrace/client";
import { useEffect, useSyncExternalStore } from "react";
import type { Connection } from "./connection.js";
import { useHeld } from "./held.js";
import { useStore } from "./provider.js";
import { type JoinState, nobody, notJoined, type PresenceState } from "./standing.js";
import { keyOf } from "./store.js";
import { nothingYet, type Wanted } from "./topic.js";
import {
  createView,
  type Fold,
  type Newest,
  newest,
  plainView,
  renew,
  type Shared,
  type SubscriptionState,
} from "./view.js";

const LIMIT = 100; // messages
const CHANNELS = 1000;

/** What every hook for a subscription takes. */
export interface SubscriptionOptions {
  /**
   * As for `subscribe` of @millrace/client: first the past, then what comes. It is part of what is subscribed to:
   * components with the same tenant, pattern and history share one subscription. A client has one with a history
   * to a pattern, and no other one to the same pattern.
   */
  readonly history?: HistoryFrom | undefined;
  /**
   * How many messages are kept, the newest ones, 0 to 100,000; for useLastValue, channels. Default: 100, and 1000
   * channels.
   */
  readonly limit?: number | undefined;
}

/** Messages of a subscription. */
export interface MessagesState extends SubscriptionState {
  /** The newest ones, oldest first. */
  readonly messages: readonly Message[];
  /** How many have come before these, and are not kept. */
  readonly skipped: number;
}

/** Options of a subscription whose messages are reduced. */
export interface ReducerOptions<S> extends SubscriptionOptions {
  /** Takes each message once, in order, and must not change the state that it is given. */
  readonly reducer: (state: S, message: Message) => S;
  readonly initial: S;
}

/** What a reducer has made of the messages of a subscription. */
export interface ReducedState<S> extends SubscriptionState {
  readonly state: S;
  /** How many came before the component did, and were not kept for it. */
  readonly skipped: number;
}

/** The newest messages of a subscription. */
export interface LastValueState extends SubscriptionState {
  /** The newest one of all channels. */
  readonly message: Message | undefined;
  /** The newest one of each channel, in the order in which the channels appeared. */
  readonly channels: ReadonlyMap<string, Message>;
}

/**
 * Subscribes to the channels that match a pattern; without a pattern it does nothing. It returns the newest
 * messages, or with a `reducer` what that has made of all of them. Components that want the same share one
 * subscription of the client; one that comes later begins with the messages that are kept for the others. Errors
 * are returned; what a reducer throws is thrown when the component renders.
 */
export function useSubscription<S>(
  tenant: string,
  pattern: string | undefined,
  options: ReducerOptions<S>,
): ReducedState<S>;
export function useSubscription(
  tenant: string,
  pattern: string | undefined,
  options?: SubscriptionOptions & { readonly reducer?: undefined },
): MessagesState;
export function useSubscription(
  tenant: string,
  pattern: string | undefined,
  options: SubscriptionOptions | ReducerOptions<unknown> = {},
): MessagesState | ReducedState<unknown> {
  const { history, limit = LIMIT, reducer, initial } = options as Partial<ReducerOptions<unknown>>;
  return useView<unknown, { messages: readonly Message[]; skipped: number } | { state: unknown; skipped: number }>(
    { tenant, pattern, history },
    limit,
    reducer
      ? { start: () => initial, add: reducer, show: (state, _, skipped) => ({ state, skipped }) }
      : {
          start() {},
          add() {},
          show: (_, { kept, count }) => {
            const messages = kept.slice(Math.max(0, kept.length - limit));
            return { messages, skipped: count - messages.length };
          },
        },
  );
}

interface Values extends Newest {
  message: Message | undefined;
}

const values = (limit: number): Fold<Values, Omit<LastValueState, keyof SubscriptionState>> => ({
  start: () => ({ message: undefined, ...newest() }),
  add: (all, message) => {
    const { channel, late } = message;
    const { channels } = all;
    if (!late || !all.message) all.message = message;
    if (!late || !channels.has(channel)) renew(all, message, limit);
    return all;
  },
  show: ({ message, channels }) => ({ message, channels: new Map(channels) }),
});

/**
 * Subscribes like useSubscription, to a channel or a pattern, and returns the newest message, and that of each
 * channel. With `history: "last"` it begins with the newest ones that the edge keeps. Late messages do not replace
 * newer ones.
 */
export function useLastValue(
  tenant: string,
  pattern: string | undefined,
  { history, limit = CHANNELS }: SubscriptionOptions = {},
): LastValueState {
  return useView({ tenant, pattern, history }, LIMIT, values(limit));
}

/**
 * Returns `publish` of the client, the same function each time. While the page reconnects, a publish with `confirm` and
 * a `key` waits, and others are rejected with `disconnected`; before the first connection, all of them are.
 */
export function usePublish(): Client["publish"] {
  return useStore().publish;
}

/** Returns how it is with the connection of the page. */
export function useConnection(): Connection {
  const store = useStore();
  return useSyncExternalStore(store.onConnection, store.connection, () => store.notYet);
}

/**
 * Returns the client of the page, for what has no hook; undefined before it is connected, and while nobody is logged
 * in. It is the provider's: do not close it.
 */
export function useClient(): Client | undefined {
  const store = useStore();
  return useSyncExternalStore(store.onConnection, store.client, () => undefined);
}

/**
 * Is present in a channel while the component is mounted, as the subject of the page's token; without a channel it
 * does nothing. Others see no change while components come and go, as StrictMode makes them: a page leaves when no
 * component has been there for as long as the provider lingers.
 */
export function useJoin(tenant: string, channel: string | undefined): JoinState {
  return useStanding({ tenant, pattern: channel, kind: "join" }, notJoined);
}

/**
 * Returns who is present in the channels that match a pattern, or with `count` how many are, for which the right to
 * subscribe is enough; without a pattern it does nothing. Components share one presence of the client. While one of
 * them counts a pattern, another one that wants to know who gets the error `bad_option`.
 */
export function usePresence(
  tenant: string,
  pattern: string | undefined,
  { count = false }: { readonly count?: boolean | undefined } = {},
): PresenceState {
  return useStanding({ tenant, pattern, kind: count ? "count" : "members" }, nobody);
}

function useStanding<R>(wanted: Wanted, initial: R): R {
  const store = useStore();
  const key = keyOf(wanted);
  const [view, subscribe] = useHeld([store, key, wanted.pattern], () => {
    const made = plainView(initial);
    store.show(key, made);
    return [made, (listener: () => void) => store.join(wanted, made, listener)] as const;
  });
  return useSyncExternalStore(subscribe, view.read, () => view.initial);
}

const idle: Shared = { ...nothingYet, about: { ...nothingYet.about, status: "idle" } };

function useView<A, R>(wanted: Wanted, limit: number, fold: Fold<A, R>): R & SubscriptionState {
  if (!(limit >= 0 && limit <= 100_000)) throw new RangeError("limit must be 0 to 100000");
  const store = useStore();
  const key = keyOf(wanted);
  const [view, subscribe] = useHeld([store, key, wanted.pattern, limit], () => {
    const made = createView(fold, limit, wanted.pattern === undefined || store.nobody ? idle : nothingYet);
    store.show(key, made);
    return [made, (listener: () => void) => store.join(wanted, made, listener)] as const;
  });
  useEffect(() => {
    view.use(fold);
  });
  return useSyncExternalStore(subscribe, view.read, () => view.initial);
}
