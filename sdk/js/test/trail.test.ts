// A connection that trails while the current one becomes suspect, too.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Message } from "../src/message.js";
import { Edge, type Peer, Record } from "./edge.js";
import { tried } from "./fixture.js";

const draining = { status: 503, code: "draining" };
const has = (text: string) => (other: string) => text === other;

/** start gives a client at the second of three edges, which is suspect; the first trails. */
async function start(t: TestContext) {
  const edges = await Promise.all([Edge.start(t), Edge.start(t), Edge.start(t)]);
  const { client, event } = await tried(
    t,
    edges.map(({ url }) => url),
  );
  const got = new Record<string>();
  await client.subscribe("t", "c", { onMessage: (m: Message) => got.add(m.late ? `${m.text()} late` : m.text()) });
  const at = (): Edge => edges.find(({ url }) => url === client.edge) as Edge;
  const silence = async (peer: Peer, n: number): Promise<void> => {
    peer.answers = () => false;
    client.flush().catch(() => {});
    await event("suspect", n);
  };
  const first = await at().peer(0);
  const others = edges.filter((edge) => edge !== at());
  await silence(first, 0);
  await event("recovered");
  const second = await at().peer(0);
  const third = others.find((edge) => edge !== at()) as Edge;
  third.answers = (line) => !line.startsWith("SUB:");
  for (const edge of edges) if (edge !== third) edge.refusal = draining;
  await silence(second, 1);
  return { first, second, third, got, event };
}

test("what it brings may wait in the one that is suspect, and is not given before", async (t) => {
  const { first, second, got, event } = await start(t);
  first.deliver("both");
  first.deliver("gap");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.deepEqual(got.all, []);
  second.answers = () => true; // it wakes, and stays so
  second.send("PONG");
  second.deliver("both");
  await event("recovered", 1);
  await got.until(has("gap late"));
  assert.deepEqual(got.all, ["both", "gap late"]);
});

test("what it brings may wait in the one that takes over", async (t) => {
  const { first, third, got, event } = await start(t);
  const next = await third.peer(0);
  await next.until("SUB:t:c");
  next.deliver("both");
  first.deliver("both");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  assert.deepEqual(got.all, []);
  next.answer("SUB:t:c");
  await event("recovered", 1);
  next.deliver("end");
  await got.until(has("end"));
  assert.deepEqual(got.all, ["both", "end"]);
});
