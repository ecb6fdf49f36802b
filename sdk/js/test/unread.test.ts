// What was sent to a connection that dies, docs/decisions/0018-suspicion.md.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Unread } from "../src/unread.js";
import { Edge } from "./edge.js";
import { tried } from "./fixture.js";

test("what waits for a sign that the edge reads", () => {
  const u = new Unread();
  assert.equal(u.waits(0), undefined);
  assert.ok(u.request(10, 100, 50), "the first");
  assert.ok(!u.request(10, 110, 50));
  assert.equal(u.waits(50), 100);
  assert.equal(u.waits(120), undefined, "something has come");
  assert.ok(u.request(10, 130, 120));
  assert.ok(u.publish(10, 140), "the first that a PING has to prove");
  assert.ok(!u.publish(10, 150));
  assert.equal(u.waits(200), 140, "whatever comes");
  const mark = u.mark();
  assert.equal(u.waits(0), undefined);
  assert.ok(u.publish(10, 300));
  u.proven(mark, 310);
  assert.equal(u.take(), 1);
  assert.equal(u.take(), 0, "once");
});

test("how fast an edge reads", () => {
  const u = new Unread();
  u.publish(992, 0);
  assert.equal(u.sendTime(u.mark()), 1000, "1 KiB a second, until it has shown more");
  u.publish(10_208, 2000);
  u.proven(u.mark(), 2280); // a cap that holds one second lets so much pass in 280 ms
  u.publish(10_208, 3000);
  assert.equal(u.sendTime(u.mark()), 1280);
  u.publish(0, 4000);
  u.proven(u.mark(), 5000);
  u.publish(10_208, 6000);
  assert.equal(u.sendTime(u.mark()), 1280, "less to read shows nothing");
});

/** every publishes until a client has what it should. */
async function every(t: TestContext, ms: number, act: () => unknown): Promise<void> {
  const timer = setInterval(() => void act(), ms);
  t.after(() => clearInterval(timer));
}

test("a client that only publishes: it notices, and tells how many", async (t) => {
  const one = await Edge.start(t);
  const two = await Edge.start(t);
  const it = await tried(t, [one.url, two.url]);
  const edge = it.client.edge === one.url ? one : two;
  const first = await edge.peer(0);
  let published = 0;
  await every(t, 20, () =>
    it.client.publish("t", "c", "x").then(
      () => published++,
      () => {},
    ),
  );
  await first.until("PING"); // and its answer
  await first.until("PING", 2);
  first.answers = () => false;
  const died = performance.now();
  const read = first.frames.all.length;
  const { count, edge: at } = await it.event("publishUnknown");
  assert.ok(performance.now() - died < 20_000, "long before keepAlive");
  assert.equal(at, edge.url);
  const lost = first.frames.all.length - read;
  assert.ok(count >= lost && count < lost + read, `${count}, and ${lost} are lost`);
  await it.event("recovered");
  assert.equal(it.events.all.filter((e) => e.name === "publishUnknown").length, 1);
});

for (const [name, end, want] of [
  ["lost", (close) => close(), 2],
  ["revoked", (_, say) => say("ERR:token_revoked"), 2],
  ["read", (close) => close(), 0],
] as [string, (close: () => void, say: (line: string) => void) => void, number][]) {
  test(`publishes on a connection that ends: ${name}`, async (t) => {
    const edge = await Edge.start(t);
    const it = await tried(t, edge.url);
    const first = await edge.peer(0);
    if (want) first.answers = () => false;
    for (const text of ["1", "2"]) await it.client.publish("t", "c", text);
    if (!want) await it.client.flush();
    end(
      () => first.close(1011),
      (line) => first.send(line),
    );
    const names = new Set(["disconnected", "closed", "publishUnknown"]);
    const told = await it.events.until((e) => names.has(e.name));
    assert.deepEqual([told.name, told.count], want ? ["publishUnknown", want] : ["disconnected", undefined]);
  });
}
