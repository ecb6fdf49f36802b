// What this client has published itself, and why an edge does not do what it is asked.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Edge } from "./edge.js";
import { tried } from "./fixture.js";

test("own messages have their key, and can be left out", async (t) => {
  const edge = await Edge.start(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const all: [string, boolean, string | undefined][] = [];
  const others: string[] = [];
  await client.subscribe("t", "c", { onMessage: (m) => void all.push([m.text(), m.own, m.key]) });
  await client.subscribe("t", "c", { echo: false, onMessage: (m) => void others.push(m.text()) });
  peer.deliverOwn("k1", "mine");
  peer.deliverOwn("", "mine without a key");
  peer.deliver("theirs");
  peer.deliverOwn("k2", "a job of mine", true);
  await client.flush();
  assert.deepEqual(all, [
    ["mine", true, "k1"],
    ["mine without a key", true, undefined],
    ["theirs", false, undefined],
    ["a job of mine", true, "k2"],
  ]);
  assert.deepEqual(others, ["theirs", "a job of mine"]);
  await assert.rejects(client.subscribe("t", "d", { echo: "no" } as never), { code: "bad_option" });
});

test("after a loss, what was confirmed is known by its position", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history,own";
  edge.answers = (line) => !line.startsWith("RSUB");
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const subscribing = client.subscribe("t", "c", { history: "now", echo: false });
  await peer.lines.until((line) => line.startsWith("RSUB"));
  peer.caughtUp(1);
  const sub = await subscribing;
  const publishing = client.publish("t", "c", "2", { confirm: true, key: "k" });
  const frame = await peer.frames.until(() => true);
  peer.send(`OK:PUB:${frame.readUInt32BE(2)}:0000000000000abc.2.1700000000002`);
  await publishing;
  peer.kill();
  const next = await edge.peer(1);
  await next.lines.until((line) => line.startsWith("RSUB"));
  next.stored(2, 3);
  next.caughtUp(3);
  await event("reconnected");
  const loop = sub[Symbol.asyncIterator]();
  assert.equal((await loop.next()).value?.text(), "3");
});

test("a gap says why", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history";
  edge.answers = (line) => !line.startsWith("RSUB");
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const subscribing = client.subscribe("t", "c", { history: "last" });
  await peer.lines.until((line) => line.startsWith("RSUB"));
  const at = "0000000000000abc.5.1700000000005";
  for (const [n, [said, reason]] of Object.entries({ 0: ["expired", "expired"], 1: ["of_later", "unknown"] })) {
    peer.send(`GAP:t:c:${at}:${said}`);
    assert.equal((await event("gap", Number(n))).reason, reason);
  }
  peer.send(`GAP:t:c:${at}`);
  assert.equal((await event("gap", 2)).reason, "unknown");
  peer.caughtUp(5);
  await subscribing;
});

test("what the token allows, in the error", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history";
  edge.answers = (line) =>
    line === "SUB:t:secret" ? "ERR:permission_denied:SUB:t:secret:allowed=news.#,jobs.*" : true;
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  await assert.rejects(client.subscribe("t", "secret"), {
    code: "permission_denied",
    pattern: "secret",
    message: /the token may subscribe in t only to news\.#, jobs\.\*, not to secret/,
  });
  peer.send("ERR:permission_denied:PUB:t:secret:tenants=u,v");
  const told = { name: "publishError", tenant: "t", channel: "secret", code: "permission_denied" };
  assert.deepEqual(await event("publishError"), { ...told, detail: "the token is for u, v, not for t" });
  const publishing = client.publish("t", "secret", "", { confirm: true });
  const frame = await peer.frames.until(() => true);
  peer.send(`ERR:permission_denied:PUB:${frame.readUInt32BE(2)}:by=hook`);
  await assert.rejects(publishing, { code: "permission_denied", channel: "secret", message: /a hook of the edge/ });
});

test("what waits for a limit of the edge", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  assert.equal(client.limited, false);
  (await edge.peer(0)).send("ERR:ingress_limited:4");
  assert.deepEqual(await event("limited"), { name: "limited", direction: "out", delay: 4000 });
  assert.equal(client.limited, true);
  t.mock.method(performance, "now", () => Number.MAX_VALUE);
  assert.equal(client.limited, false);
});
