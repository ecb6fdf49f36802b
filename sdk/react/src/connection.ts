import type { Client, ClientEvents, MillraceError, Place, Transport } from "@millrace/client";

/**
 * How it is with the connection: `connecting`, the first time; `suspect`, nothing comes, and the client looks for
 * another one; `reconnecting`, it is lost; `moving`, to another edge, token or transport; `closed`, for good, or
 * because nobody is logged in.
 */
export type ConnectionState = "connecting" | "connected" | "suspect" | "reconnecting" | "moving" | "closed";

/** The connection of a page. */
export interface Connection {
  readonly state: ConnectionState;
  /** The edge that it is, or was last, connected to; undefined before the first. */
  readonly edge: string | undefined;
  readonly transport: Transport | undefined;
  /** The last round trip in milliseconds; undefined before the first PING is answered. */
  readonly rtt: number | undefined;
  /** How often messages of a subscription with a history may have been missed. */
  readonly gaps: number;
  /** Why there is no connection: of the last attempt, of the one that was lost, or of the end. */
  readonly error: MillraceError | undefined;
  /** Messages wait for a cap of the token or of the edge, or did so within the last minute. */
  readonly limited: boolean;
  /** As `renewToken` of the client. Without a connection its promise is rejected with `disconnected`. */
  readonly renewToken: () => Promise<void>;
  /** Tries now, where the page waits for its next attempt to connect, and again where it has ended with an error. */
  readonly retry: () => void;
}

/** quiet marks a handler that is no reason for the client to be silent: the application may not look at what it tells. */
export const quiet = <F extends object>(handler: F): F =>
  Object.assign(handler, { [Symbol.for("millrace.quiet")]: true });

const LIMITED = 60_000; // ms for which limited holds

// What a client's events say.
const states = {
  suspect: "suspect",
  recovered: "connected",
  disconnected: "reconnecting",
  reconnected: "connected",
  moving: "moving",
  moved: "connected",
} as const;

/** follow says what becomes of a client's connection, until what it returns is called. */
export function follow(
  client: Client,
  set: (change: Partial<Connection>) => void,
  gap: (event: ClientEvents["gap"]) => void,
): () => void {
  let timer: ReturnType<typeof setTimeout>;
  const all = Object.entries(states).map(([event, state]) =>
    client.on(event as keyof typeof states, ({ edge, transport, error }: Place & { error?: MillraceError }) =>
      set({ state, edge, transport, error }),
    ),
  );
  all.push(
    client.on("roundTrip", set),
    client.on("gap", quiet(gap)),
    client.on(
      "limited",
      quiet(() => {
        clearTimeout(timer);
        timer = setTimeout(() => set({ limited: false }), LIMITED);
        set({ limited: true });
      }),
    ),
    () => clearTimeout(timer),
  );
  const { edge, transport, rtt } = client;
  set({ state: "connected", edge, transport, rtt, error: undefined });
  return () => {
    for (const remove of all) remove();
  };
}
