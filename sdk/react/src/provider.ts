import { type Client, type ConnectOptions, MillraceError } from "@millrace/client";
import { createElement, type ReactElement, type ReactNode, useContext, useEffect, useRef } from "react";
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
  /** As for `connect` of @millrace/client. With others there is another connection. */
  readonly addresses: string | readonly string[];
}

/** A provider that connects with the tokens of whoever is logged in. */
export interface UserProviderProps extends AddressProviderProps {
  /**
   * As for `connect` of @millrace/client. The token provider may be another function with each rendering; the
   * other options are read when the provider connects.
   */
  readonly options: Omit<ConnectOptions, "signal" | "token" | "tokenProvider"> & {
    readonly token?: undefined;
    readonly tokenProvider: NonNullable<ConnectOptions["tokenProvider"]>;
  };
  /**
   * Who is logged in, by any id of the application's; `null`: nobody, then there is no connection. Another user has
   * another connection, and nothing of what the first one had; that of the first is closed at once. Providers with the
   * same user and addresses share one connection.
   */
  readonly user: string | null;
}

/** A provider that connects with one token. */
export interface TokenProviderProps extends AddressProviderProps {
  /** As for `connect` of @millrace/client. With another `token` there is another connection. */
  readonly options: Omit<ConnectOptions, "signal" | "token" | "tokenProvider"> & {
    readonly token: string;
    readonly tokenProvider?: undefined;
  };
  /** As beside a token provider; without it, this provider shares its connection with no other one. */
  readonly user?: string | null | undefined;
}

/** The props of MillraceProvider. */
export type MillraceProviderProps = ClientProviderProps | UserProviderProps | TokenProviderProps;

/**
 * Gives the components below it one connection. It connects once it is mounted in a browser, and leaves when it
 * has been unmounted for as long as it lingers. What it cannot connect for is the `error` of useConnection.
 */
export function MillraceProvider(props: MillraceProviderProps): ReactElement {
  const { children, client, linger = 1000 } = props;
  const { addresses = [], options = {} as ConnectOptions, user } = props as Partial<UserProviderProps>;
  const { token } = options as ConnectOptions;
  // Else messages would go on as the user who was there first.
  if (options.tokenProvider && (user === "" || (user !== null && typeof user !== "string")))
    throw new MillraceError(
      "bad_option",
      "the prop user must name who is logged in, beside a tokenProvider: any id of yours, or null for nobody",
    );
  const now = { connect: options as ConnectOptions, linger };
  const edges = String(addresses);
  const store = useHeld([client, edges, token, user], () =>
    storeOf(client, user && JSON.stringify([user, edges, token]), () =>
      createStore(client ?? (user === null ? undefined : [addresses].flat()), now),
    ),
  );
  const before = useRef(store);
  useEffect(() => {
    store.options = now;
  });
  useEffect(() => {
    const release = store.retain();
    if (before.current !== store) before.current.drop();
    before.current = store;
    return release;
  }, [store]);
  return createElement(registry().context.Provider, { value: store }, children);
}

/** useStore returns the store of the provider. */
export function useStore(): Store {
  const store = useContext(registry().context);
  if (!store) throw new Error("MillraceProvider is missing");
  return store;
}
