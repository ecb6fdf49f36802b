// A connection that brings nothing, docs/decisions/0018-suspicion.md.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Message } from "../src/message.js";
import type { ConnectOptions } from "../src/options.js";
import { Edge, type Peer, Record } from "./edge.js";
import { type Tried, tried } from "./fixture.js";

interface Silent extends Tried {
  a: Edge;
  b: Edge;
  first: Peer;
  got: Record<string>;
}

/** start connects to the first of two edges, with a subscription to t:c. Late messages have a mark. */
async function start(t: TestContext, options: ConnectOptions = {}): Promise<Silent> {
  const one = await Edge.start(t);
  const two = await Edge.start(t);
  const it = await tried(t, [one.url, two.url], options);
  const [a, b] = it.client.edge === one.url ? [one, two] : [two, one];
  const got = new Record<string>();
  await it.client.subscribe("t", "c", { onMessage: (m: Message) => got.add(m.late ? `${m.text()} late` : m.text()) });
  return { ...it, a, b, first: await a.peer(0), got };
}

/** silence makes the first connection suspect: it does not answer a PING. */
async function silence({ client, first, event }: Silent): Promise<void> {
  first.answers = () => false;
  client.flush().catch(() => {});
  await event("suspect");
}

const has = (text: string) => (other: string) => text === other;
const count = (it: Tried, name: string): number => it.events.all.filter((e) => e.name === name).length;

test("another connection takes over, and the first trails", async (t) => {
  const it = await start(t);
  const { client, a, b, first, got, event } = it;
  first.answers = () => false;
  for (let i = 0; i < 6; i++) {
    first.deliver(String(i)); // a rhythm, then none
    await got.until(has(String(i)));
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  b.answers = (line) => !line.startsWith("SUB:");
  assert.deepEqual(await event("suspect"), { name: "suspect", edge: a.url, transport: "websocket" });
  assert.deepEqual(first.lines.all, ["SUB:t:c", "PING"]);
  const published = ["1", "2", "3"].map((text) => client.publish("t", "c", text));
  const flushed = client.flush();
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.deliver("held");
  second.answers = () => true;
  assert.equal(second.frames.all.length, 0);
  second.answer("SUB:t:c");
  const recovered = await event("recovered");
  assert.equal(recovered.edge, b.url);
  assert.equal(recovered.transport, "websocket");
  assert.ok(recovered.away >= 2000, `${recovered.away}`);
  await Promise.all(published);
  await flushed;
  assert.deepEqual(
    second.frames.all.map((frame) => frame.toString().at(-1)),
    ["1", "2", "3"],
  );
  assert.equal(first.frames.all.length, 0);
  second.deliver("both");
  await got.until(has("both"));

  first.deliver("gap"); // it wakes
  first.deliver("held");
  first.deliver("both");
  await first.until("PING", 2);
  second.deliver("on"); // while the gap waits
  await got.until(has("on"));
  first.deliver("soon"); // the second is a little behind
  second.deliver("soon");
  first.send("ERR:mark"); // no event
  for (const line of first.lines.all) if (line === "PING") first.answer(line); // the last is to leave
  await first.closed.until(() => true);
  await got.until(has("gap late"));
  second.deliver("end");
  await got.until(has("end"));
  assert.deepEqual(
    got.all.slice(6).filter((text) => text !== "gap late"),
    ["held", "both", "on", "soon", "end"],
  );
  assert.equal(count(it, "edgeError") + count(it, "disconnected") + count(it, "moving"), 0);
  assert.equal(client.edge, b.url);
});

test("the first wakes: the second is dropped, with what it has brought", async (t) => {
  const it = await start(t);
  const { client, a, b, first, got, event } = it;
  b.answers = (line) => line === "PING";
  await silence(it);
  const published = ["1", "2"].map((text) => client.publish("t", "c", text));
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.deliver("x");
  second.send("ERR:mark");
  await event("edgeError");
  first.answers = () => true;
  first.deliver("x");
  first.deliver("y");
  assert.deepEqual(await event("recovered"), { name: "recovered", edge: a.url, transport: "websocket", away: 0 });
  await second.closed.until(() => true);
  await Promise.all(published);
  await got.until(has("y"));
  await first.frames.until(() => first.frames.all.length === 2);
  assert.deepEqual(got.all, ["x", "y"]);
  assert.equal(count(it, "disconnected"), 0);

  first.send("PONG"); // and it may be suspect again
  await silence({ ...it, event: (name) => event(name, 1) });
  first.send("PONG");
  await event("recovered", 1);
});

test("a second connection that dies has not lost what it brought", async (t) => {
  const it = await start(t);
  const { client, b, first, got, event } = it;
  b.answers = (line) => line === "PING";
  await silence(it);
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.deliver("1");
  second.send("ERR:mark");
  await event("edgeError");
  it.a.refusal = { status: 503, code: "draining" };
  const published = client.publish("t", "c", "waits");
  second.revoke(); // even this is not the end: the first may be back
  const third = await b.peer(1);
  await third.until("SUB:t:c");
  third.deliver("2");
  third.answer("SUB:t:c");
  await event("recovered");
  await got.until(has("2"));
  await published;
  await third.frames.until(() => true);
  assert.equal(first.frames.all.length, 0);
  assert.deepEqual(got.all, ["1", "2"]);
});

test("a second connection that says nothing is replaced", async (t) => {
  const it = await start(t);
  const { b, event } = it;
  it.a.refusal = { status: 503, code: "draining" };
  b.answers = () => false;
  await silence(it);
  const second = await b.peer(0);
  await second.until("PING");
  b.answers = () => true;
  await second.closed.until(() => true);
  assert.equal((await event("recovered")).edge, b.url);
});

for (const [name, end] of [
  ["the first ends before there is a second", ({ first }) => first.kill()],
  ["the first brings nothing for too long", () => {}],
] as [string, (it: Silent) => void][]) {
  test(`${name}: disconnected`, async (t) => {
    const it = await start(t, { keepAlive: 1500, pongTimeout: 1500 });
    const { client, a, b, got, event } = it;
    b.answers = (line) => line === "PING";
    await silence(it);
    const second = await b.peer(0);
    await second.until("SUB:t:c");
    second.deliver("1");
    second.send("ERR:mark");
    await event("edgeError");
    a.refusal = b.refusal = { status: 503, code: "draining" };
    const published = assert.rejects(client.publish("t", "c", ""), { code: "disconnected" });
    end(it);
    await event("disconnected");
    await published;
    await got.until(has("1"));
    b.answers = () => true;
    a.refusal = b.refusal = undefined;
    await event("reconnected");
    assert.equal(count(it, "recovered"), 0);
  });
}

test("a refusal of the second connection is not the end", async (t) => {
  const it = await start(t);
  const { client, a, b, first, event } = it;
  a.refusal = b.refusal = { status: 401, code: "unauthorized" };
  await silence(it);
  await b.refusals.until((n) => n === 2);
  first.send("PONG");
  await event("recovered");
  await silence({ ...it, event: (name) => event(name, 1) });
  first.kill(); // now it is
  assert.equal((await client.closed)?.code, "unauthorized");
  assert.equal(count(it, "disconnected"), 1);
});

test("the edge drains as it wakes: the move comes then", async (t) => {
  const it = await start(t);
  const { b, first, event } = it;
  b.answers = (line) => line === "PING";
  await silence(it);
  await (await b.peer(0)).until("SUB:t:c");
  b.answers = () => true;
  first.answers = () => true;
  first.send("RECONNECT");
  await event("recovered");
  assert.equal((await event("moved")).edge, b.url);
});

test("the edge that takes over drains: the move comes then", async (t) => {
  const it = await start(t);
  const { a, b, event } = it;
  b.answers = (line) => line === "PING";
  await silence(it);
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.answers = () => true;
  second.send("RECONNECT");
  second.answer("SUB:t:c");
  second.answer("PING");
  assert.equal((await event("recovered")).edge, b.url);
  assert.equal((await event("moved")).edge, a.url);
});

test("an edge that drains is not suspect", async (t) => {
  const it = await start(t);
  const { client, a, b, first, event } = it;
  a.refusal = b.refusal = { status: 503, code: "draining" };
  first.answers = () => false;
  first.send("RECONNECT");
  await event("moving");
  const flushed = client.flush();
  await first.until("PING");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  first.send("PONG");
  await flushed;
  assert.equal(count(it, "suspect"), 0);
});

test("subscribing and leaving while the first is suspect", async (t) => {
  const it = await start(t);
  const { client, b, first, got, event } = it;
  const gone = await (async () => {
    first.answers = () => true;
    return client.subscribe("t", "gone");
  })();
  b.answers = (line) => line !== "SUB:t:c";
  await silence(it);
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  await client.subscribe("t", "d", { onMessage: (m: Message) => got.add(m.text()) });
  await gone.unsubscribe();
  assert.ok(second.lines.all.includes("UNSUB:t:gone"));
  assert.ok(first.lines.all.includes("SUB:t:d"));
  second.answer("SUB:t:c");
  await event("recovered");
  second.deliver("1", "d", "d");
  await got.until(has("1"));
  first.send("PONG");
  await first.until("UNSUB:t:d"); // of the trail
});

test("subscribed on the second alone: what it brings is given at once, and not again by the first", async (t) => {
  const it = await start(t);
  const { client, b, first, got, event } = it;
  b.answers = (line) => line !== "SUB:t:c";
  await silence(it);
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  await client.subscribe("t", "d", { onMessage: (m: Message) => got.add(m.text()) });
  second.deliver("1", "d", "d");
  second.deliver("2", "d", "d");
  await got.until(has("2"));
  first.send("OK:SUB:t:d"); // it wakes, and had read this before the second message
  first.deliver("2", "d", "d");
  first.deliver("3", "d", "d");
  await event("recovered");
  await got.until(has("3"));
  assert.deepEqual(got.all, ["1", "2", "3"]);
});

test("a flush before the suspicion does not wait for the connection that trails", async (t) => {
  const it = await start(t);
  const { client, first, event } = it;
  first.answers = () => false;
  const flushed = assert.rejects(client.flush(), { code: "disconnected" });
  await event("recovered");
  await flushed;
  assert.equal(first.closed.all.length, 0);
});

test("leaving while there is no second yet: at the latest when it takes over", async (t) => {
  const it = await start(t);
  const { client, a, b, event } = it;
  const sub = await client.subscribe("t", "d", { queue: 1 }).catch((err) => assert.fail(err));
  a.refusal = b.refusal = { status: 503, code: "draining" };
  await silence(it);
  let left = false;
  const leaving = sub.unsubscribe().then(() => {
    left = true;
  });
  await b.refusals.until(() => true);
  assert.equal(left, false);
  b.refusal = undefined;
  await event("recovered");
  await leaving;
  assert.ok(!(await b.peer(0)).lines.all.includes("SUB:t:d"));
});

test("the end of a trailing connection is no event", async (t) => {
  const it = await start(t);
  const { client, first, got, event } = it;
  await silence(it);
  await event("recovered");
  first.deliver("gap");
  first.revoke();
  await first.closed.until(() => true);
  await got.until(has("gap late"));
  await client.flush();
  assert.equal(count(it, "disconnected") + count(it, "closed") + count(it, "edgeError"), 0);
});

test("a publish that waits for the first connection goes on when another one takes over", async (t) => {
  const it = await start(t);
  const { client, b, first, event } = it;
  first.answers = () => false;
  client.flush().catch(() => {});
  await first.until("PING");
  first.pause();
  let done = false;
  const published = client.publish("t", "c", new Uint8Array(30 << 20)).then(() => {
    done = true;
  });
  await event("suspect");
  assert.equal(done, false);
  await event("recovered");
  await published;
  await client.publish("t", "c", "1");
  await (await b.peer(0)).frames.until(() => true);
});

test("a message that takes long to arrive: not suspect", async (t) => {
  const it = await start(t, { keepAlive: 500 });
  const { client, first, got } = it;
  first.answers = () => false; // PONG would stand behind the message
  const flushed = client.flush();
  await first.until("PING");
  const text = "x".repeat(100_000);
  await first.deliverSlowly(text, 30, () => new Promise((resolve) => setTimeout(resolve, 100)));
  await got.until(has(text));
  for (const line of first.lines.all) if (line === "PING") first.answer(line);
  await flushed;
  assert.equal(count(it, "suspect"), 0);
});

test("closing while the first is suspect, and while it trails", async (t) => {
  const it = await start(t);
  it.b.answers = (line) => line === "PING";
  await silence(it);
  const second = await it.b.peer(0);
  await second.until("SUB:t:c");
  await it.client.close();
  await second.closed.until(() => true);

  const other = await start(t);
  await silence(other);
  await other.event("recovered");
  other.first.deliver("gap");
  await other.first.until("UNSUB:t:c");
  await other.client.close();
  await other.first.closed.until(() => true);
  assert.deepEqual(other.got.all, []);
});

test("an answer that is late, and messages meanwhile: not suspect", async (t) => {
  const it = await start(t);
  const { client, first } = it;
  first.answers = () => false;
  const flushed = client.flush();
  await first.until("PING");
  const from = performance.now();
  while (performance.now() - from < 2500) {
    first.deliver("x");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  first.send("PONG");
  await flushed;
  assert.equal(count(it, "suspect"), 0);
});
