// Messages to one connection: credit, what a full queue does with them, drain, and what a publisher is told.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SubscribeOptions } from "../src/calls.js";
import type { Subscription } from "../src/subscription.js";
import { Edge, type Peer } from "./edge.js";
import { asked, type Tried, tried } from "./fixture.js";

const KNOWS = "FEATURES:link,work_queue";

interface Worker extends Tried {
  edge: Edge;
  peer: Peer;
  sub: Subscription;
}

async function worker(t: TestContext, options: SubscribeOptions, features = KNOWS): Promise<Worker> {
  const edge = await Edge.start(t);
  edge.features = features;
  const it = await tried(t, edge.url);
  const peer = await edge.peer(0);
  return { ...it, edge, peer, sub: await it.client.subscribe("t", "c", options) };
}

const credits = (peer: Peer): string[] => peer.lines.all.filter((line) => line.startsWith("CREDIT"));

/** read takes n messages. */
async function read(sub: Subscription, n: number): Promise<string[]> {
  const loop = sub[Symbol.asyncIterator]();
  const texts: string[] = [];
  while (texts.length < n) texts.push((await loop.next()).value?.text() ?? "end");
  return texts;
}

test("credit of a queue, and more when half of it was taken", async (t) => {
  const { client, peer, sub } = await worker(t, { queue: 4 });
  await peer.lines.until((line) => line === "CREDIT:t:c:4");
  for (const text of ["1", "2", "3", "4"]) peer.deliverOne(text);
  peer.deliver("to all");
  await read(sub, 1);
  await client.flush();
  assert.deepEqual(credits(peer), ["CREDIT:t:c:4"]);
  await read(sub, 1);
  await client.flush();
  assert.deepEqual(credits(peer), ["CREDIT:t:c:4", "CREDIT:t:c:2"]);
  assert.deepEqual(await read(sub, 3), ["3", "4", "to all"]);
});

test("two subscriptions to a pattern: the credit is that of the one with less room", async (t) => {
  const { client, peer } = await worker(t, { queue: 8 });
  await peer.lines.until((line) => line === "CREDIT:t:c:8");
  const slow = await client.subscribe("t", "c", { queue: 2 });
  for (let n = 0; n < 8; n++) peer.deliverOne(`${n}`);
  await read(slow, 7);
  await client.flush();
  assert.equal(credits(peer).length, 1);
});

test("an edge without work queues is given none", async (t) => {
  const { client, peer, sub } = await worker(t, {}, "FEATURES:link");
  peer.deliver("1");
  await read(sub, 1);
  await client.flush();
  assert.deepEqual(asked(peer), ["SUB:t:c"]);
});

test("a callback gives credit as its promises resolve", async (t) => {
  const done: (() => void)[] = [];
  const onMessage = (): Promise<void> => new Promise((resolve) => void done.push(resolve));
  const { client, peer } = await worker(t, { queue: 2, onMessage });
  await peer.lines.until((line) => line === "CREDIT:t:c:2");
  peer.deliverOne("1");
  peer.deliverOne("2");
  await client.flush();
  assert.deepEqual([done.length, credits(peer).length], [2, 1]);
  done[0]?.();
  await peer.lines.until((line) => line === "CREDIT:t:c:1");
});

test("a full queue drops no message to one connection", async (t) => {
  for (const queuePolicy of ["drop-oldest", "drop-newest"] as const) {
    const { client, peer, sub, events } = await worker(t, { queue: 2, queuePolicy });
    peer.deliverOne("one");
    for (const text of ["a", "b", "c"]) peer.deliver(text);
    peer.deliverOne("two");
    await client.flush();
    const all = queuePolicy === "drop-oldest" ? ["one", "c", "two"] : ["one", "a", "two"];
    assert.deepEqual(await read(sub, 3), all);
    const full = () => events.all.filter(({ name }) => name === "queueFull");
    await events.until(() => full().reduce((sum, { dropped }) => sum + dropped, 0) === 2);
  }
});

test("drain: what the edge sent before its answer is given out, then the loop ends", async (t) => {
  const { client, peer, sub } = await worker(t, {});
  peer.answers = (line) => !line.startsWith("UNSUB");
  peer.deliverOne("before");
  const got: string[] = [];
  let proceed = (): void => {};
  const loop = (async () => {
    for await (const message of sub) {
      got.push(message.text());
      if (message.text() === "last") await new Promise<void>((resolve) => (proceed = resolve));
    }
  })();
  let drained = false;
  const draining = sub.drain().then(() => (drained = true));
  await peer.lines.until((line) => line === "UNSUB:t:c");
  peer.deliverOne("last");
  peer.send("OK:UNSUB:t:c");
  await client.flush();
  assert.deepEqual([got, drained], [["before", "last"], false]); // it still works on the last
  proceed();
  await Promise.all([loop, draining]);
  assert.equal(await sub.ended, undefined);
  assert.equal(credits(peer).length, 1); // no more after UNSUB
});

test("drain of the client: every subscription, then the end", async (t) => {
  let finish = (): void => {};
  const onMessage = (): Promise<void> => new Promise((resolve) => (finish = resolve));
  const { client, peer, sub, events } = await worker(t, { onMessage });
  const other = await client.subscribe("t", "d");
  peer.deliverOne("1");
  peer.deliverOne("2", "d", "d");
  await client.flush();
  const draining = client.drain();
  await peer.lines.until((line) => line === "UNSUB:t:d");
  assert.deepEqual(await read(other, 2), ["2", "end"]);
  await client.flush(); // it is still there
  finish();
  await draining;
  assert.deepEqual([await sub.ended, await client.closed], [undefined, undefined]);
  assert.deepEqual(
    events.all.filter(({ name }) => name === "discarded"),
    [],
  );
});

test("unsubscribe counts what is thrown away", async (t) => {
  const { client, peer, sub, event } = await worker(t, {});
  peer.answers = (line) => !line.startsWith("UNSUB");
  for (const text of ["1", "2", "3"]) peer.deliverOne(text);
  peer.deliver("to all");
  await read(sub, 1);
  await client.flush();
  const left = sub.unsubscribe();
  assert.deepEqual(await event("discarded"), { name: "discarded", tenant: "t", pattern: "c", count: 2 });
  peer.deliverOne("4");
  peer.send("OK:UNSUB:t:c");
  assert.equal(await left, 3);
  assert.equal((await event("discarded", 1)).count, 1);
  assert.equal(await sub.unsubscribe(), 0);
});

test("the end of the client counts, too", async (t) => {
  const { client, peer, event } = await worker(t, {});
  peer.deliverOne("1");
  await client.flush();
  await client.close();
  assert.equal((await event("discarded")).count, 1);
});

test("a move: no credit before it, and what either connection brings is given", async (t) => {
  const { client, edge, peer, sub, event } = await worker(t, { queue: 2 });
  await peer.lines.until((line) => line === "CREDIT:t:c:2");
  peer.answers = (line) => !line.startsWith("UNSUB");
  peer.send("RECONNECT");
  await peer.lines.until((line) => line === "UNSUB:t:c");
  const next = await edge.peer(1);
  assert.deepEqual(credits(next), []);
  peer.deliverOne("1");
  next.deliverOne("2"); // of an edge that gives it without credit
  next.deliverOne("2"); // the same text, and another message
  assert.deepEqual((await read(sub, 3)).sort(), ["1", "2", "2"]);
  peer.send("OK:UNSUB:t:c");
  await event("moved");
  await next.lines.until((line) => line === "CREDIT:t:c:2");
  await client.flush();
});

test("after a loss, the next connection has credit for what is not taken", async (t) => {
  const { edge, peer, sub, event } = await worker(t, { queue: 4 });
  peer.deliverOne("1");
  await peer.lines.until((line) => line === "CREDIT:t:c:4");
  peer.kill();
  await event("reconnected");
  const next = await edge.peer(1);
  await next.lines.until((line) => line === "CREDIT:t:c:3");
  assert.deepEqual(await read(sub, 1), ["1"]);
});

test("a confirmed publish to one connection", async (t) => {
  const { client, peer } = await worker(t, {});
  for (const code of ["no_subscriber", "subscribers_busy"]) {
    const from = peer.frames.all.length;
    const published = client.publish("t", "jobs", "x", { confirm: true, delivery: "one-random" });
    const sent = await peer.frames.until(() => true, from);
    assert.deepEqual([sent[0], sent[1]], [3, 2]);
    peer.send(`ERR:${code}:PUB:${sent.readUInt32BE(2)}`);
    await assert.rejects(published, { code, tenant: "t", channel: "jobs" });
  }
  const kept = client.publish("t", "jobs", "x", { confirm: true });
  await assert.rejects(kept, { code: "no_history" }); // a broadcast: the edge has no histories
});
