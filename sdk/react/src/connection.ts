import {
  type Client,
  type ClientEvents,
  type ConnectOptions,
  connect,
  type MillraceError,
  type Place,
  type Transport,
} from "@millrace/client";

/**
 * How it is with the connection: `connecting`, the first time; `suspect`, nothing comes, and the client looks for
 * another one; `reconnecting`, it is lost; `moving`, to another edge, token or transport; `closed`, for good.
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
}

export const notYet: Connection = {
  state: "connecting",
  gaps: 0,
} as Connection;

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
  const all = Object.entries(states).map(([event, state]) =>
    client.on(event as keyof typeof states, ({ edge, transport, error }: Place & { error?: MillraceError }) =>
      set({ state, edge, transport, error }),
    ),
  );
  all.push(client.on("roundTrip", set), client.on("gap", gap));
  const { edge, transport, rtt } = client;
  set({ state: "connected", edge, transport, rtt, error: undefined });
  return () => {
    for (const remove of all) remove();
  };
}

const FIRST = 500; // ms, the bound of the pause before the second attempt; it doubles
const LONGEST = 15_000; // ms
// Refusals without a reason, and of tokens that a provider gives, are final if this many come in a row, for this long:
// as in a client that reconnects.
const REFUSALS = 5;
const REFUSED = 60_000; // ms

// Codes about which another attempt changes nothing, such as origin_not_allowed, token_revoked and tls_required.
const final = /allowed|protocol|bad_option|unauthorized|expired|revoked|logged_out|tls/;

/**
 * dial connects, and tries again as long as that may help. It fails with the error that says why not, or
 * when the signal is aborted; failed is called for each attempt that is followed by another one.
 */
export async function dial(
  addresses: readonly string[],
  options: ConnectOptions,
  signal: AbortSignal,
  failed: (error: MillraceError) => void,
): Promise<Client> {
  let refusals = 0;
  let first = 0;
  for (let attempt = 1; ; attempt++) {
    try {
      return await connect(addresses, { ...options, signal });
    } catch (err) {
      const error = err as MillraceError;
      const { code } = error;
      let end = final.test(code);
      if (code === "refused" || (code === "unauthorized" && options.tokenProvider)) {
        if (refusals++ === 0) first = performance.now();
        end = refusals >= REFUSALS && performance.now() - first >= REFUSED;
      } else refusals = 0;
      if (signal.aborted || end) throw error;
      failed(error);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, Math.random() * Math.min(LONGEST, FIRST * 2 ** attempt));
      globalThis.addEventListener?.("online", resolve, { once: true, signal });
    });
    signal.throwIfAborted();
  }
}
