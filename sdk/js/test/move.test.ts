import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Message } from "../src/message.js";
import { Edge, type Peer, Record } from "./edge.js";
import { type Tried, tried } from "./fixture.js";

interface Moving extends Tried {
  a: Edge;
  b: Edge;
  first: Peer;
  got: Record<string>;
}

/** start connects to the first of two edges, with a subscription to t:c. */
async function start(t: TestContext): Promise<Moving> {
  const one = await Edge.start(t);
  const two = await Edge.start(t);
  const it = await tried(t, [one.url, two.url]);
  const [a, b] = it.client.edge === one.url ? [one, two] : [two, one];
  const got = new Record<string>();
  await it.client.subscribe("t", "c", { onMessage: (m: Message) => got.add(m.text()) });
  return { ...it, a, b, first: await a.peer(0), got };
}

const has = (text: string) => (other: string) => text === other;

test("a drain: nothing is lost, nothing comes twice, and the order holds", async (t) => {
  const { client, a, b, first, got, event } = await start(t);
  first.answers = (line) => line === "PING";
  first.send("RECONNECT");
  assert.deepEqual(await event("moving"), { name: "moving", edge: a.url, transport: "websocket", reason: "drain" });
  const second = await b.peer(0);
  await second.until("SUB:t:c");

  first.deliver("1"); // leads, and is noted
  await got.until(has("1"));
  second.deliver("1");
  second.deliver("2"); // ahead: waits
  second.deliver("3");
  second.deliver("only here");
  second.send("ERR:mark");
  await event("edgeError");
  assert.deepEqual(got.all, ["1"]);
  first.deliver("2");
  first.deliver("3");
  await got.until(has("3"));
  await first.until("UNSUB:t:c");
  first.deliver("4"); // on its way while it was left
  await got.until(has("4"));
  assert.deepEqual(got.all, ["1", "2", "3", "4"]);
  first.send("OK:UNSUB:t:c");
  assert.deepEqual(await event("moved"), { name: "moved", edge: b.url, transport: "websocket", reason: "drain" });
  second.deliver("4"); // late
  second.deliver("5");
  second.deliver("4"); // another one
  await got.until(has("4"), 6);
  assert.deepEqual(got.all, ["1", "2", "3", "4", "only here", "5", "4"]);
  assert.equal(await first.closed.until(() => true), 1000);
  assert.equal(client.edge, b.url);
});

test("publishes go over in order", async (t) => {
  const { client, b, first, event } = await start(t);
  first.answers = (line) => line !== "PING";
  await client.publish("t", "c", "1");
  first.send("RECONNECT");
  await first.until("PING"); // the second has its subscription
  const published = client.publish("t", "c", "2");
  const flushed = client.flush();
  const second = await b.peer(0);
  assert.equal(first.frames.all.length, 1);
  assert.equal(second.frames.all.length, 0);
  first.answers = () => true;
  first.send("PONG");
  await published;
  await flushed;
  assert.equal(second.frames.all.length, 1);
  assert.equal(second.frames.all[0]?.toString().at(-1), "2");
  await event("moved");
});

test("subscribing and leaving during a move", async (t) => {
  const { client, b, first, got, event } = await start(t);
  b.answers = (line) => line === "PING";
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.answers = () => true;
  const more = await client.subscribe("t", "d", { onMessage: (m: Message) => got.add(m.text()) });
  await first.until("SUB:t:d");
  await second.until("SUB:t:d");
  await more.unsubscribe();
  assert.ok(first.lines.all.includes("UNSUB:t:d"));
  assert.ok(second.lines.all.includes("UNSUB:t:d"));
  first.answers = (line) => line === "PING";
  second.send("OK:SUB:t:c");
  await first.until("UNSUB:t:c");
  await client.subscribe("t", "e", { onMessage: (m: Message) => got.add(m.text()) });
  assert.ok(!first.lines.all.includes("SUB:t:e"));
  second.deliver("waits");
  second.deliver("at once", "e", "e"); // the first does not have it
  await got.until(has("at once"));
  first.send("OK:UNSUB:t:c");
  await event("moved");
  await got.until(has("waits"));
});

test("the second is lost: another one", async (t) => {
  const { a, b, first, got, event, events } = await start(t);
  b.answers = (line) => line === "PING";
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.deliver("1");
  second.send("ERR:mark");
  await event("edgeError");
  b.answers = () => true;
  second.kill();
  await event("moved");
  const third = b.peers.all[1] ?? a.peers.all[1];
  third?.deliver("2");
  await got.until(has("2"));
  assert.deepEqual(got.all, ["2"], "the pile is dropped");
  assert.ok(!events.all.some((e) => e.name === "disconnected"));
});

for (const [name, end] of [
  ["the first is told that the token is revoked", (first, _) => first.revoke()],
  ["the second is told that the token is revoked", (_, second) => second.revoke()],
  ["the first is lost before the second has its subscriptions", (first, _) => first.kill()],
] as [string, (first: Peer, second: Peer) => void][]) {
  test(`${name}: what the second has brought is given`, async (t) => {
    const { a, b, first, got, event } = await start(t);
    a.answers = b.answers = (line) => line !== "SUB:t:c";
    first.send("RECONNECT");
    const second = await b.peer(0);
    await second.until("SUB:t:c");
    second.deliver("1");
    second.deliver("2");
    second.send("ERR:mark");
    await event("edgeError");
    assert.deepEqual(got.all, []);
    end(first, second);
    await got.until(has("2"));
    assert.deepEqual(got.all, ["1", "2"]);
  });
}

test("the second is lost, then the first: what the second has brought is given", async (t) => {
  const { a, b, first, got, event } = await start(t);
  b.answers = (line) => line === "PING";
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.deliver("1");
  second.send("ERR:mark");
  await event("edgeError");
  a.refusal = b.refusal = { status: 503, code: "draining" };
  second.kill();
  await b.refusals.until(() => true);
  assert.deepEqual(got.all, []);
  first.kill();
  await got.until(has("1"));
});

test("the second is lost when the first has been left: a loss like any other", async (t) => {
  const { a, b, first, got, event } = await start(t);
  first.answers = (line) => line === "PING";
  first.send("RECONNECT");
  const second = await b.peer(0);
  await first.until("UNSUB:t:c");
  second.deliver("1");
  second.send("ERR:mark");
  await event("edgeError");
  second.kill();
  assert.equal((await event("disconnected")).edge, b.url);
  await event("reconnected");
  await first.closed.until(() => true);
  const third = a.peers.all[1] ?? b.peers.all[1];
  third?.deliver("2");
  await got.until(has("2"));
  assert.deepEqual(got.all, ["1", "2"]);
});

test("a subscription that is made just before the first is left", async (t) => {
  const { client, b, first, event } = await start(t);
  first.answers = (line) => line !== "SUB:t:d";
  b.answers = (line) => line !== "SUB:t:d";
  first.send("RECONNECT");
  await first.until("PING"); // 250 ms before
  const second = await b.peer(0);
  const made = client.subscribe("t", "d");
  await second.until("SUB:t:d");
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.ok(!first.lines.all.includes("UNSUB:t:c"));
  first.answer("SUB:t:d");
  second.answer("SUB:t:d");
  await made;
  await event("moved");
});

test("a first connection that is behind is not left", async (t) => {
  const { b, first, got, event } = await start(t);
  first.send("RECONNECT");
  const second = await b.peer(0);
  await first.until("PING"); // 250 ms before
  second.deliver("2");
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.ok(!first.lines.all.includes("UNSUB:t:c"));
  first.deliver("1"); // which the second was subscribed too late for
  first.deliver("2");
  await event("moved");
  assert.deepEqual(got.all, ["1", "2"]);
});

test("the first is lost: the second leads", async (t) => {
  const { client, b, first, got, event, events } = await start(t);
  first.answers = (line) => line !== "PING";
  first.send("RECONNECT");
  const second = await b.peer(0);
  await first.until("PING"); // the second has its subscription
  second.deliver("1");
  second.send("ERR:mark");
  await event("edgeError");
  first.kill();
  await got.until(has("1"));
  await client.publish("t", "c", "x");
  await second.frames.until(() => true);
  await event("moved");
  assert.ok(!events.all.some((e) => e.name === "disconnected"));
});

test("the first is lost before the second has its subscriptions: a loss like any other", async (t) => {
  const { b, first, event } = await start(t);
  b.answers = () => false;
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  b.answers = () => true;
  first.kill();
  await event("disconnected");
  await event("reconnected");
  await second.closed.until(() => true);
});

test("the first is lost before there is a second", async (t) => {
  const { a, b, first, event } = await start(t);
  a.refusal = b.refusal = { status: 503, code: "draining" };
  first.send("RECONNECT");
  await event("moving");
  first.kill();
  await event("disconnected");
  a.refusal = b.refusal = undefined;
  await event("reconnected");
});

test("a drain of the only edge, which does not tell why it refuses", async (t) => {
  const edge = await Edge.start(t);
  const { client, event, events } = await tried(t, edge.url);
  await client.subscribe("t", "c");
  edge.refusal = { status: 404 };
  const real = performance.now.bind(performance);
  t.mock.method(performance, "now", () => real() * 10_000); // but not the timers
  const first = await edge.peer(0);
  first.send("RECONNECT");
  await event("moving");
  while (edge.refused < 10) await new Promise((resolve) => setTimeout(resolve, 5));
  first.close(1001);
  await event("disconnected");
  await event("reconnecting", 10);
  edge.refusal = undefined;
  await event("reconnected");
  assert.ok(!events.all.some((e) => e.name === "closed"));
});

test("the edge that is moved to drains, too", async (t) => {
  const { a, b, first, event } = await start(t);
  b.answers = (line) => line === "PING";
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.answers = () => true;
  second.send("RECONNECT");
  second.send("OK:SUB:t:c");
  assert.equal((await event("moved")).edge, b.url);
  assert.equal((await event("moved", 1)).edge, a.url);
});

test("closing during a move", async (t) => {
  const { client, b, first } = await start(t);
  b.answers = () => false;
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  await client.close();
  await first.closed.until(() => true);
  await second.closed.until(() => true);
});
