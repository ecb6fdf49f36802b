import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MillraceError } from "../src/errors.js";
import { connect } from "../src/node.js";
import { settings } from "../src/options.js";
import { Searcher } from "../src/searcher.js";
import { Edge } from "./edge.js";
import { recorder, tried } from "./fixture.js";

test("a lost connection comes back, with its subscriptions", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  const sub = await client.subscribe("t", "c");
  edge.refusal = { status: 503, code: "draining" };
  (await edge.peer(0)).kill();
  const lost = await event("disconnected");
  assert.equal(lost.edge, edge.url);
  assert.equal(lost.error.code, "disconnected");
  await assert.rejects(client.publish("t", "c", ""), { code: "disconnected" });
  await assert.rejects(client.flush(), { code: "disconnected" });
  const while_ = client.subscribe("t", "d"); // waits
  assert.deepEqual(await event("reconnecting"), { name: "reconnecting", attempt: 1, delay: 0 });
  await event("reconnecting", 3);
  edge.refusal = undefined;
  const back = await event("reconnected");
  assert.ok(back.away > 0);
  await while_;
  const peer = await edge.peer(1);
  assert.deepEqual(peer.lines.all.sort(), ["SUB:t:c", "SUB:t:d"]);
  peer.deliver("after");
  for await (const m of sub) {
    assert.equal(m.text(), "after");
    break;
  }
});

test("another edge comes first", async (t) => {
  const a = await Edge.start(t);
  const b = await Edge.start(t);
  const { client, event } = await tried(t, [a.url, b.url]);
  const [here, there] = client.edge === a.url ? [a, b] : [b, a];
  (await here.peer(0)).close(1001);
  assert.equal((await event("reconnected")).edge, there.url);
});

test("a subscription that is refused now", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  const sub = await client.subscribe("t", "c");
  await client.subscribe("t", "d");
  edge.answers = (line) => line !== "SUB:t:c";
  (await edge.peer(0)).kill();
  const peer = await edge.peer(1);
  await peer.until("SUB:t:c");
  peer.send("ERR:too_many_subscriptions:SUB:t:c");
  assert.deepEqual(await event("subscriptionError"), {
    name: "subscriptionError",
    tenant: "t",
    pattern: "c",
    code: "too_many_subscriptions",
  });
  assert.equal((await sub.ended)?.code, "too_many_subscriptions");
  await event("reconnected");
});

test("a connection that is lost while it is restored", async (t) => {
  const edge = await Edge.start(t);
  const { client, event, events } = await tried(t, edge.url);
  await client.subscribe("t", "c");
  edge.answers = () => false;
  (await edge.peer(0)).kill();
  const second = await edge.peer(1);
  await second.until("SUB:t:c");
  await new Promise((resolve) => setTimeout(resolve, 300));
  edge.answers = () => true;
  second.kill();
  assert.ok((await event("reconnected")).away >= 290, "since the connection that had them all");
  assert.equal(events.all.filter((e) => e.name === "disconnected").length, 1);
});

/** hurried makes the client's clock run faster, but not its timers. */
function hurried(t: TestContext, times: number): void {
  const real = performance.now.bind(performance);
  t.mock.method(performance, "now", () => real() * times);
}

test("refusals without a reason for a minute are a no", async (t) => {
  const edge = await Edge.start(t);
  hurried(t, 1000);
  const { client } = await tried(t, edge.url, { keepAlive: -1 });
  const from = performance.now();
  edge.refusal = { status: 403, code: "refused" }; // all that a browser tells
  (await edge.peer(0)).kill();
  assert.equal((await client.closed)?.code, "refused");
  assert.ok(edge.refused >= 5);
  assert.ok(performance.now() - from >= 60_000);
});

test("refusals that do not count", (t) => {
  const search = new Searcher([], settings({ token: "AT_1" }), {} as never, {} as never, {} as never);
  let time = 0;
  t.mock.method(performance, "now", () => time);
  const refused = new MillraceError("refused");
  const hopeless = (moving = false): boolean => search.hopeless("https://a", refused, moving);
  for (let i = 0; i < 9; i++, time += 60_000) assert.ok(!hopeless(true), "while it moves");
  search.drained.add("https://a");
  for (let i = 0; i < 9; i++, time += 60_000) assert.ok(!hopeless(), "by an edge that drains");
  search.hopeless("https://a", new MillraceError("unreachable"), false); // it is gone
  for (let i = 0; i < 9; i++) assert.ok(!hopeless(), "in less than a minute");
  time += 59_999;
  assert.ok(!hopeless());
  search.hopeless("https://a", new MillraceError("draining"), false);
  for (let i = 0; i < 4; i++, time += 60_000) assert.ok(!hopeless(), "fewer than five in a row");
  assert.ok(hopeless());
});

test("a subscription whose queue is full before the edge has answered, and never does", async (t) => {
  const edge = await Edge.start(t);
  edge.answers = () => false;
  const { client, event } = await tried(t, edge.url);
  const subscribed = client.subscribe("t", "c", { queue: 1, queuePolicy: "end" });
  const peer = await edge.peer(0);
  await peer.until("SUB:t:c");
  peer.deliver("1");
  peer.deliver("2");
  await peer.until("UNSUB:t:c");
  peer.kill();
  const sub = await subscribed;
  assert.equal((await sub.ended)?.code, "queue_full");
  await event("reconnected");
  assert.deepEqual((await edge.peer(1)).lines.all, []);
});

test("one of two subscriptions to a pattern ends while the client is away", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  const one = await client.subscribe("t", "c");
  const two = await client.subscribe("t", "c");
  const gone = await client.subscribe("t", "d");
  edge.refusal = { status: 503, code: "draining" };
  (await edge.peer(0)).kill();
  await event("disconnected");
  await one.unsubscribe();
  await gone.unsubscribe();
  const again = client.subscribe("t", "d");
  await event("reconnecting", 1);
  edge.refusal = undefined;
  await again;
  const peer = await edge.peer(1);
  assert.deepEqual(peer.lines.all.sort(), ["SUB:t:c", "SUB:t:d"]);
  peer.deliver("1");
  assert.equal((await two[Symbol.asyncIterator]().next()).value?.text(), "1");
});

test("a token that no edge accepts any more", async (t) => {
  const a = await Edge.start(t);
  const b = await Edge.start(t);
  const { client } = await tried(t, [a.url, b.url]);
  a.refusal = b.refusal = { status: 401, code: "unauthorized" };
  for (const peer of [...a.peers.all, ...b.peers.all]) peer.kill();
  assert.equal((await client.closed)?.code, "unauthorized");
  assert.deepEqual([a.refused, b.refused], [1, 1]);
});

test("a region that is not allowed is one edge's matter", async (t) => {
  const a = await Edge.start(t);
  const b = await Edge.start(t);
  const { client, event } = await tried(t, [a.url, b.url]);
  const [here, there] = client.edge === a.url ? [a, b] : [b, a];
  there.refusal = { status: 403, code: "region_not_allowed" };
  (await here.peer(0)).kill();
  assert.equal((await event("reconnected")).edge, here.url);
});

test("an edge that does not answer a PING is lost", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url, { keepAlive: 20, pongTimeout: 20 });
  const peer = await edge.peer(0);
  await peer.until("PING");
  peer.answers = () => false;
  const { error } = await event("disconnected");
  assert.equal(error.code, "timeout");
  await event("reconnected");
  assert.ok(client.rtt !== undefined);
});

test("an edge may read slowly what was sent before a PING", async (t) => {
  const edge = await Edge.start(t);
  edge.answers = (line) => line !== "PING";
  const { client, events, event } = await tried(t, edge.url, { keepAlive: 20, pongTimeout: 20 });
  await client.publish("t", "c", new Uint8Array(1024)); // a second
  const peer = await edge.peer(0);
  await peer.until("PING");
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.ok(!events.all.some((e) => e.name === "disconnected"));
  peer.send("PONG");
  await peer.until("PING", 1); // nothing was sent before this one
  assert.equal((await event("disconnected")).error.code, "timeout");
  assert.equal(peer.lines.all.length, 2);
});

test("no PING while messages come", async (t) => {
  const edge = await Edge.start(t);
  await tried(t, edge.url, { keepAlive: 500 });
  const peer = await edge.peer(0);
  for (let i = 0; i < 30; i++) {
    peer.send("ERR:x");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(peer.lines.all, []);
});

test("what an edge must not send", async (t) => {
  const edge = await Edge.start(t);
  const { client, event, events } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  // What a later edge may send: a line, a tag, and a field of a tag that is known.
  peer.send("hello");
  peer.send(Uint8Array.of(9));
  peer.send(Uint8Array.of(4, 128, 0));
  await client.flush();
  assert.equal(events.all.length, 1);
  peer.send(Uint8Array.of(1, 0));
  assert.equal((await event("disconnected")).error.code, "protocol");
  await event("reconnected");
});

test("closing while it reconnects", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url, { minBackOff: 60_000, maxBackOff: 60_000 });
  edge.refusal = { status: 503, code: "draining" };
  (await edge.peer(0)).kill();
  await event("reconnecting", 1);
  const waiting = assert.rejects(client.subscribe("t", "c"), { code: "closed" });
  await client.close();
  await waiting;
});

test("a first connection waits for its edge, and says why", async (t) => {
  const edge = await Edge.start(t);
  edge.refusal = { status: 503, code: "unavailable", retryAfter: 5 };
  const { on, event, events } = recorder();
  const connecting = connect(edge.url, { token: "AT_1", minBackOff: 1, maxBackOff: 10, on });
  const first = await event("connecting", 0);
  assert.deepEqual([first.attempt, first.delay, first.error.code], [2, 10, "unavailable"]);
  assert.equal((await event("connecting", 1)).attempt, 3);
  edge.refusal = undefined;
  const client = await connecting;
  t.after(() => client.close());
  await event("connected");
  assert.ok(!events.all.some((e) => e.name === "disconnected"));

  const own = new AbortController();
  edge.refusal = { status: 502 };
  const slow = { minBackOff: 1_000_000, maxBackOff: 1_000_000, signal: own.signal };
  const connecting2 = connect(edge.url, {
    token: "AT_1",
    on: { connecting: () => own.abort(new Error("mine")) },
    ...slow,
  });
  await assert.rejects(connecting2, { message: "mine" }); // and no timer keeps this program
});

test("a first connection fails at once where waiting is of no use", async (t) => {
  const edge = await Edge.start(t);
  const other = await Edge.start(t);
  edge.refusal = { status: 404 };
  await assert.rejects(connect(edge.url, { token: "AT_1" }), {
    code: "unreachable",
    message: `unreachable: ${edge.url} answers with HTTP status 404, it is not a Millrace edge: check host and port`,
  });
  edge.refusal = { status: 401, code: "unauthorized" };
  await assert.rejects(connect(edge.url, { token: "AT_1" }), { code: "unauthorized" });
  const provided = connect(edge.url, { tokenProvider: () => "MT_1", minBackOff: 1 });
  await assert.rejects(provided, { code: "token_provider" });
  // One of two may be started yet.
  edge.refusal = { status: 404 };
  other.refusal = { status: 503, code: "unavailable" };
  const both = connect([edge.url, other.url], {
    ...{ token: "AT_1", minBackOff: 1 },
    on: {
      connecting() {
        other.refusal = undefined;
      },
    },
  });
  const client = await both;
  t.after(() => client.close());
  assert.equal(client.edge, other.url);
});
