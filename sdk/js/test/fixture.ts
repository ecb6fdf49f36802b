import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Client } from "../src/client.js";
import type { EventName } from "../src/events.js";
import { connect } from "../src/node.js";
import type { ConnectOptions } from "../src/options.js";
import { Edge, type Peer, Record } from "./edge.js";

const names: EventName[] = [
  "connecting",
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
  "publishUnknown",
  "subscriptionError",
  "slowConsumer",
  "limited",
  "discarded",
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

/** presenceEdge starts an edge that has presence. */
export async function presenceEdge(t: TestContext): Promise<Edge> {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,presence";
  return edge;
}

interface Two extends Tried {
  a: Edge;
  b: Edge;
  first: Peer;
}

/** twoEdges connects to the first of two edges that have presence. */
export async function twoEdges(t: TestContext): Promise<Two> {
  const one = await presenceEdge(t);
  const two = await presenceEdge(t);
  const it = await tried(t, [one.url, two.url]);
  const [a, b] = it.client.edge === one.url ? [one, two] : [two, one];
  return { ...it, a, b, first: await a.peer(0) };
}

/** asked gives the lines that a client has sent, besides PING. */
export const asked = (peer: Peer): string[] => peer.lines.all.filter((line) => line !== "PING");

/** A Clock is the time of a test: it stands still but for pass and late. */
export class Clock {
  readonly #t: TestContext;
  #now = 1000;

  constructor(t: TestContext) {
    this.#t = t;
    t.mock.timers.enable({ apis: ["setTimeout"] });
    t.mock.method(performance, "now", () => this.#now);
  }

  /** late lets time pass in which no timer runs: all that were due run now. */
  late(ms: number): void {
    this.#now += ms;
    this.#t.mock.timers.tick(ms);
  }

  async pass(ms: number): Promise<void> {
    for (const end = this.#now + ms; this.#now < end; ) {
      this.late(Math.min(10, end - this.#now));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** until lets time pass until something holds. */
  async until(what: () => boolean): Promise<void> {
    for (const end = this.#now + 60_000; !what(); ) {
      assert.ok(this.#now < end, `never: ${what}`);
      await this.pass(10);
    }
  }
}
