import type { Client, ConnectOptions } from "@millrace/client";
import { createElement, type ReactElement, type ReactNode, useContext, useEffect } from "react";
import { useHeld } from "./held.js";
import { registry, storeOf } from "./registry.js";
import { createStore, type Store } from "./store.js";

/** What every provider takes. */
export interface ProviderOptions {
  readonly children?: ReactNode;
  /**
   * How long a connection and subscriptions that no component uses any more are kept, in milliseconds, for
   * components that come back. Default: 1000.
   */
  readonly linger?: number | undefined;
}

/** A provider for a client that the application makes and closes. */
export interface ClientProviderProps extends ProviderOptions {
  readonly client: Client;
}

/** A provider that connects while it is mounted. */
export interface AddressProviderProps extends ProviderOptions {
  readonly client?: undefined;
  /** As for `connect` of @millrace/client. With others, or another `token`, there is another connection. */
  readonly addresses: string | readonly string[];
  /**
   * As for `connect` of @millrace/client. The token provider may be another function with each rendering; the
   * other options are read when the provider connects.
   */
  readonly options: Omit<ConnectOptions, "signal">;
  /**
   * Providers with the same id and addresses share one connection, and a provider that is mounted again while it
   * lingers goes on with it, also after a hot reload. Name who is signed in: another user needs another connection.
   */
  readonly id?: string | undefined;
}

/** The props of MillraceProvider. */
export type MillraceProviderProps = ClientProviderProps | AddressProviderProps;

/**
 * Gives the components below it one connection. It connects once it is mounted in a browser, and leaves when it
 * has been unmounted for as long as it lingers. What it cannot connect for is the `error` of useConnection.
 */
export function MillraceProvider(props: MillraceProviderProps): ReactElement {
  const { children, client, linger = 1000 } = props;
  const { addresses = [], options = {}, id } = props as Partial<AddressProviderProps>;
  const now = { connect: options, linger };
  const edges = String(addresses);
  const store = useHeld([client, edges, options.token, id], () =>
    storeOf(client, id && `${id} ${edges}`, () => createStore(client ?? [addresses].flat(), now)),
  );
  useEffect(() => {
    store.options = now;
  });
  useEffect(() => store.retain(), [store]);
  return createElement(registry().context.Provider, { value: store }, children);
}

/** useStore returns the store of the provider. */
export function useStore(): Store {
  const store = useContext(registry().context);
  if (!store) throw new Error("MillraceProvider is missing");
  return store;
}
