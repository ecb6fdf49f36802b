import type { TestContext } from "node:test";
import { type Client, connect } from "../src/client.js";
import type { EventName } from "../src/events.js";
import type { ConnectOptions } from "../src/options.js";
import { Record } from "./edge.js";

const names: EventName[] = [
  "connected",
  "disconnected",
  "reconnecting",
  "reconnected",
  "suspect",
  "recovered",
  "moving",
  "moved",
  "gap",
  "publishError",
  "subscriptionError",
  "slowConsumer",
  "egressLimited",
  "linkDown",
  "linkUp",
  "queueFull",
  "edgeError",
  "closed",
];

/** Told is an event with its name. */
// biome-ignore lint/suspicious/noExplicitAny: events of all kinds
export type Told = { name: EventName } & any;

export interface Tried {
  client: Client;
  events: Record<Told>;
  /** Resolves with the n-th event of a name, counted from 0. */
  event(name: EventName, n?: number): Promise<Told>;
}

/** recorder gives the option `on`, and what it has recorded. */
export function recorder() {
  const events = new Record<Told>();
  const on = Object.fromEntries(names.map((name) => [name, (e: object) => events.add({ ...e, name })]));
  const event = (name: EventName, n = 0): Promise<Told> =>
    events.until((e) => events.all.filter((other) => other.name === name)[n] === e);
  return { events, on, event };
}

/** tried connects, and closes at the end of the test. */
export async function tried(t: TestContext, urls: string | string[], options: ConnectOptions = {}): Promise<Tried> {
  const { events, on, event } = recorder();
  const token = options.tokenProvider ? {} : { token: "AT_1" };
  const client = await connect(urls, { ...token, minBackOff: 1, maxBackOff: 10, on, ...options });
  t.after(() => client.close());
  return { client, events, event };
}
