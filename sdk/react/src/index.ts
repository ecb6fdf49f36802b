"use client";

/**
 * React hooks for Millrace.
 *
 * @packageDocumentation
 */
export type { Connection, ConnectionState } from "./connection.js";
export {
  type LastValueState,
  type MessagesState,
  type ReducedState,
  type ReducerOptions,
  type SubscriptionOptions,
  useClient,
  useConnection,
  useJoin,
  useLastValue,
  usePresence,
  usePublish,
  useSubscription,
} from "./hooks.js";
export {
  type AddressProviderProps,
  type ClientProviderProps,
  MillraceProvider,
  type MillraceProviderProps,
  type ProviderOptions,
  type TokenProviderProps,
  type UserProviderProps,
} from "./provider.js";
export type { JoinState, PresenceState } from "./standing.js";
export type { SubscriptionState, SubscriptionStatus } from "./view.js";
