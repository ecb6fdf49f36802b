// Subscriptions that an edge is to be asked for again, as it answers try_later.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { ClientEvents } from "../src/events.js";
import type { Message } from "../src/message.js";
import type { Subscription } from "../src/subscription.js";
import { Edge, type Peer, Record } from "./edge.js";
import { type Tried, tried } from "./fixture.js";

const tryLater = (line: string): boolean | string => (line === "SUB:t:c" ? `ERR:try_later:${line}` : true);
const postponed: ClientEvents["subscriptionError"] & { name: string } = {
  name: "subscriptionError",
  tenant: "t",
  pattern: "c",
  code: "try_later",
};

interface Two extends Tried {
  a: Edge;
  b: Edge;
  first: Peer;
  sub: Subscription;
  got: Record<string>;
}

/** start connects to the first of two edges, with a subscription to t:c. The second says try_later. */
async function start(t: TestContext): Promise<Two> {
  const one = await Edge.start(t);
  const two = await Edge.start(t);
  const it = await tried(t, [one.url, two.url]);
  const [a, b] = it.client.edge === one.url ? [one, two] : [two, one];
  const got = new Record<string>();
  const sub = await it.client.subscribe("t", "c", { onMessage: (m: Message) => got.add(m.text()) });
  b.answers = tryLater;
  return { ...it, a, b, first: await a.peer(0), sub, got };
}

const count = (peer: Peer, line: string): number => peer.lines.all.filter((l) => l === line).length;
const told = (it: Tried, name: string): number => it.events.all.filter((e) => e.name === name).length;

/** repeated resolves when a peer has been asked for t:c so often. */
const repeated = (peer: Peer, times: number): Promise<string> =>
  peer.lines.until(() => count(peer, "SUB:t:c") >= times);

for (const [name, end, error] of [
  ["confirmed", () => true, undefined],
  ["refused", () => "ERR:permission_denied:SUB:t:c", "permission_denied"],
  ["left", undefined, undefined],
] as [string, (() => boolean | string) | undefined, string | undefined][]) {
  test(`a subscription that cannot be restored yet, until it is ${name}`, async (t) => {
    const it = await start(t);
    const { client, b, first, sub, got, event } = it;
    const other = await client.subscribe("t", "d");
    first.close(1001);
    const second = await b.peer(0);
    assert.deepEqual(await event("subscriptionError"), postponed);
    await repeated(second, 5);
    second.deliver("while it waits", "d");
    for await (const m of other) {
      assert.equal(m.text(), "while it waits");
      break;
    }
    assert.equal(told(it, "reconnected"), 0);
    assert.equal(told(it, "subscriptionError"), 1);
    if (end) second.answers = (line) => (line === "SUB:t:c" ? end() : true);
    else await sub.unsubscribe();
    await event("reconnected");
    if (end && !error) {
      second.deliver("restored");
      await got.until((text) => text === "restored");
    } else assert.equal((await sub.ended)?.code, error);
    if (!end) assert.ok(second.lines.all.lastIndexOf("SUB:t:c") < second.lines.all.indexOf("UNSUB:t:c"));
    const subs = count(second, "SUB:t:c");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(count(second, "SUB:t:c"), subs);
    assert.equal(told(it, "subscriptionError"), error ? 2 : 1);
  });
}

test("a connection that ends meanwhile", async (t) => {
  const it = await start(t);
  const { a, b, first, event } = it;
  first.close(1001);
  const second = await b.peer(0);
  await repeated(second, 3);
  second.kill();
  const third = await a.peer(1);
  await event("reconnected");
  const subs = count(second, "SUB:t:c");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(count(second, "SUB:t:c"), subs);
  assert.equal(count(third, "SUB:t:c"), 1);
  assert.equal(told(it, "disconnected"), 1);
});

for (const ends of [false, true]) {
  test(`a move waits for it${ends ? ", until the first connection ends" : ""}`, async (t) => {
    const it = await start(t);
    const { client, b, first, got, event } = it;
    first.send("RECONNECT");
    const second = await b.peer(0);
    assert.deepEqual(await event("subscriptionError"), postponed);
    await repeated(second, 5);
    assert.notEqual(client.edge, b.url);
    first.deliver("1");
    await got.until((text) => text === "1");
    if (ends) {
      first.close(1001);
      await event("disconnected");
    }
    for (const peer of [second, b]) peer.answers = () => true;
    await event(ends ? "reconnected" : "moved");
    assert.equal(told(it, ends ? "moved" : "disconnected"), 0);
    (b.peers.all.at(-1) as Peer).deliver("2");
    await got.until((text) => text === "2");
  });
}

test("a subscription that begins during a move keeps the first connection until the second has it", async (t) => {
  const it = await start(t);
  const { client, b, first, event } = it;
  b.answers = () => true;
  first.send("RECONNECT");
  await event("moving");
  const second = await b.peer(0);
  await second.until("SUB:t:c");
  second.answers = (line) => line !== "SUB:t:d";
  await client.subscribe("t", "d"); // the first has confirmed it
  second.answers = (line) => (line === "SUB:t:d" ? "ERR:try_later:SUB:t:d" : true);
  await second.until("SUB:t:d");
  second.send("ERR:try_later:SUB:t:d");
  assert.equal((await event("subscriptionError")).pattern, "d");
  await new Promise((resolve) => setTimeout(resolve, 3000)); // longer than a move waits for anything else
  assert.equal(count(first, "UNSUB:t:c"), 0);
  second.answers = () => true;
  await event("moved");
});

for (const wakes of [false, true]) {
  test(`a second connection does not take over before it has it${wakes ? ", and the first wakes" : ""}`, async (t) => {
    const it = await start(t);
    const { client, b, first, got, event } = it;
    first.answers = () => false;
    client.flush().catch(() => {});
    await event("suspect");
    const second = await b.peer(0);
    assert.deepEqual(await event("subscriptionError"), postponed);
    await repeated(second, 5);
    assert.equal(told(it, "recovered"), 0);
    assert.equal(b.peers.all.length, 1);
    if (wakes) first.deliver("1");
    else second.answers = () => true;
    const { edge } = await event("recovered");
    assert.equal(edge === b.url, !wakes);
    if (!wakes) second.deliver("1");
    await got.until((text) => text === "1");
    const subs = count(second, "SUB:t:c");
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(count(second, "SUB:t:c"), subs);
    assert.equal(told(it, "subscriptionError"), 1);
  });
}
