// The live tail: a client of the SDK with a token of minutes. It keeps the last messages.
import { type Client, connect, type Delivery, type Message, MillraceError } from "@millrace/client";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/client.js";
import { ApiError, sentence } from "../api/problem.js";
import type { Issued } from "../api/types.js";
import { type Kept, keep } from "../lib/payload.js";

export type { Delivery };

const MAX_KEPT = 500; // messages
const SHOW_EVERY = 250; // ms

export type TailState = "off" | "connecting" | "on" | "broken";

export interface TailMessage {
  readonly number: number;
  readonly at: number; // ms, of the browser
  readonly channel: string;
  readonly payload: Kept;
  readonly late: boolean;
}

export interface TailQuery {
  readonly tenant: string;
  readonly pattern: string;
  readonly publish: boolean;
}

export interface Tail {
  readonly state: TailState;
  readonly error: string | undefined;
  readonly note: string; // about the connection
  readonly messages: readonly TailMessage[]; // newest first
  readonly received: number;
  readonly held: number; // since the pause
  readonly paused: boolean;
  readonly publishes: boolean;
  start(query: TailQuery): Promise<void>;
  stop(): void;
  pause(): void;
  clear(): void;
  publish(channel: string, payload: string, delivery: Delivery): Promise<void>;
}

// Run is one tail, from start to stop.
interface Run {
  readonly query: TailQuery;
  readonly end: AbortController;
  client?: Client;
}

interface Shown {
  readonly state: TailState;
  readonly error?: string | undefined;
  readonly note: string;
}

export function useTail(api: Api, address: string): Tail {
  const [shown, setShown] = useState<Shown>({ state: "off", note: "" });
  const [paused, setPaused] = useState(false);
  const [, redraw] = useState(0);
  const run = useRef<Run | undefined>(undefined);
  const kept = useRef<{
    messages: TailMessage[];
    shown: readonly TailMessage[];
    received: number;
    held: number;
    timer: number;
    paused: boolean;
  }>({
    messages: [],
    shown: [],
    received: 0,
    held: 0,
    timer: 0,
    paused: false,
  }).current;

  const draw = useCallback(() => {
    kept.timer = 0;
    if (!kept.paused) {
      kept.shown = [...kept.messages].reverse();
      kept.held = 0;
    }
    redraw((n) => n + 1);
  }, [kept]);
  const receive = useCallback(
    (message: Message) => {
      kept.received++;
      kept.held++;
      kept.messages.push({
        number: kept.received,
        at: Date.now(),
        channel: message.channel,
        payload: keep(message.payload),
        late: message.late,
      });
      if (kept.messages.length > MAX_KEPT) kept.messages.splice(0, kept.messages.length - MAX_KEPT);
      if (kept.timer === 0) kept.timer = window.setTimeout(draw, SHOW_EVERY);
    },
    [kept, draw],
  );

  const stop = useCallback(() => {
    const own = run.current;
    run.current = undefined;
    own?.end.abort();
    void own?.client?.close();
    setShown({ state: "off", note: "" });
  }, []);
  useEffect(
    () => () => {
      clearTimeout(kept.timer);
      stop();
    },
    [kept, stop],
  );
  // A browser may drop what it has open without a word to the edge.
  useEffect(() => {
    addEventListener("pagehide", stop);
    return () => removeEventListener("pagehide", stop);
  }, [stop]);

  const start = useCallback(
    async (query: TailQuery) => {
      stop();
      const own: Run = { query, end: new AbortController() };
      run.current = own;
      const mine = (): boolean => run.current === own;
      const show = (next: Shown): void => {
        if (mine()) setShown(next);
      };
      show({ state: "connecting", note: "" });
      try {
        // The first token comes before the client, so that a refusal is shown as the edge puts it.
        let first: Issued | undefined = await liveToken(api, query, false);
        const client = await connect(address, {
          // WebSocket first: a tail gains nothing from WebTransport, whose failure would take time.
          transports: ["websocket", "webtransport"],
          failFast: true, // the screen has a button to try again
          tokenProvider: async () => {
            const { token, expires_in } = first ?? (await liveToken(api, query, true));
            first = undefined;
            return { token, expiresIn: expires_in };
          },
          signal: own.end.signal,
        });
        if (!mine()) return void client.close();
        own.client = client;
        follow(client, show);
        await client.subscribe(query.tenant, query.pattern, { onMessage: receive });
        show({ state: "on", note: placeOf(client) });
      } catch (error) {
        if (!mine()) return;
        stop();
        setShown({ state: "off", error: `The tail did not start. ${tailError(error)}`, note: "" });
      }
    },
    [api, address, receive, stop],
  );

  const publish = useCallback(async (channel: string, payload: string, delivery: Delivery) => {
    const own = run.current;
    if (!own?.client) throw new Error("there is no connection; start the tail first");
    try {
      await own.client.publish(own.query.tenant, channel, payload, { delivery });
      await own.client.flush(); // a refusal comes before
    } catch (error) {
      throw new Error(tailError(error));
    }
  }, []);
  const clear = (): void => {
    kept.messages = [];
    kept.shown = [];
    kept.received = 0;
    kept.held = 0;
    redraw((n) => n + 1);
  };
  const pause = (): void => {
    kept.paused = !kept.paused;
    setPaused(kept.paused);
    draw();
  };
  const publishes = run.current?.query.publish === true;
  return {
    ...shown,
    error: shown.error,
    messages: kept.shown,
    received: kept.received,
    held: kept.held,
    paused,
    publishes,
    start,
    stop,
    pause,
    clear,
    publish,
  };
}

const placeOf = (client: Client): string =>
  `by ${client.transport === "websocket" ? "WebSocket" : "WebTransport"} at ${client.edge}`;

const liveToken = (api: Api, query: TailQuery, background: boolean): Promise<Issued> =>
  api.call<Issued>("POST", "live-token", { body: query, background });

// follow shows what becomes of a client's connection.
function follow(client: Client, show: (next: Shown) => void): void {
  const on = (note = ""): void => show({ state: "on", note: `${placeOf(client)}${note}` });
  const broken = (note: string): void => show({ state: "broken", note });
  client.on("disconnected", ({ error }) =>
    broken(`The connection is lost: ${tailError(error)} Messages of this time are missed.`),
  );
  client.on("suspect", () => broken("Nothing comes any more; another connection is tried."));
  client.on("recovered", () => on());
  client.on("reconnected", ({ away }) => on(`, after ${(away / 1000).toFixed(1)} s without a connection`));
  client.on("moved", () => on());
  client.on("slowConsumer", ({ dropped }) =>
    on(`; the edge dropped ${dropped} messages, since this page reads too slowly`),
  );
  client.on("limited", () => on("; messages come late, since there are more than the tail may receive"));
  client.on("linkDown", () => on("; the edge has lost the other edges, and nothing comes from there"));
  client.on("linkUp", () => on());
  client.on("publishError", ({ channel, code }) => on(`; the edge refused the message to ${channel}: ${code}`));
  client.on("subscriptionError", ({ code }) => broken(`The edge refuses the subscription: ${code}.`));
  client.on("edgeError", ({ code, detail }) => on(`; ${code} ${detail}`));
  client.on("closed", ({ error }) => {
    if (error) show({ state: "off", error: `The tail has ended. ${tailError(error)}`, note: "" });
  });
}

const texts: Readonly<Record<string, string>> = {
  bad_tenant: "That is no legal name of a tenant.",
  bad_channel: "That is no legal name of a channel.",
  bad_pattern: "That is no legal pattern.",
  disconnected: "There is no connection now.",
  unreachable: "The edge does not answer.",
  refused: "The edge refuses the connection, and the browser does not say why.",
  token_revoked: "Its token was revoked.",
  token_expired: "Its token has expired.",
  permission_denied: "The token does not allow it.",
  payload_too_large: "The payload is too large for this edge.",
};

// tailError says what went wrong, in a sentence.
function tailError(error: unknown): string {
  if (error instanceof MillraceError) {
    if (error.cause instanceof ApiError) return sentence(error.cause);
    return `${texts[error.code] ?? sentence(error)} (${error.code})`;
  }
  return sentence(error);
}
