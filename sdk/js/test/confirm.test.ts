// Publishes that the edge confirms.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { at, Edge, type Peer } from "./edge.js";
import { type Tried, tried } from "./fixture.js";

interface Sent {
  id: number;
  key: string;
  frame: string;
}

/** sent is what an edge has got, of version 3: without the ids, each of which is at its place. */
function sent(peer: Peer): Sent[] {
  return peer.frames.all
    .filter((b) => b[0] === 3)
    .map((b) => ({
      id: b.readUInt32BE(2),
      key: b.subarray(7, 7 + (b[6] as number)).toString(),
      frame: b.toString("hex", 0, 2) + b.toString("hex", 6),
    }));
}

async function begin(t: TestContext, features = "FEATURES:link,history"): Promise<Tried & { edge: Edge; peer: Peer }> {
  const edge = await Edge.start(t);
  edge.features = features;
  return { edge, ...(await tried(t, edge.url)), peer: await edge.peer(0) };
}

/** the resolves with the n-th publish of an edge. */
async function the(peer: Peer, n: number): Promise<Sent> {
  await peer.frames.until(() => sent(peer).length > n);
  return sent(peer)[n] as Sent;
}

test("stored, accepted and refused", async (t) => {
  const { client, peer, events } = await begin(t);
  const stored = client.publish("t", "c", "one", { confirm: true, key: "k" });
  const accepted = client.publish("t", "c", "two", { confirm: true, delivery: "one-nearest" });
  const refused = client.publish("t", "c", "three", { confirm: true });
  const first = await the(peer, 0);
  const hex = (text: string): string => Buffer.from(text, "latin1").toString("hex");
  assert.equal(first.frame, hex("\x03\x00\x01k\x00\x01t\x00\x01cone"));
  assert.equal((await the(peer, 1)).frame, hex("\x03\x01\x00\x00\x01t\x00\x01ctwo"));
  const third = await the(peer, 2);
  peer.send(`ERR:payload_too_large:PUB:${third.id}`);
  peer.send(`OK:PUB:${(await the(peer, 1)).id}`);
  peer.send(`OK:PUB:${first.id}:${at(3)}`);
  peer.send(`OK:PUB:${first.id}:${at(4)}`); // once is enough
  assert.equal(await stored, at(3));
  assert.equal(await accepted, undefined);
  await assert.rejects(refused, { code: "payload_too_large", tenant: "t", channel: "c" });
  assert.deepEqual(
    events.all.map((e) => e.name),
    ["connected"],
  );
});

test("what is refused at once", async (t) => {
  const { client, peer } = await begin(t);
  const bad = { code: "bad_option" };
  await assert.rejects(client.publish("t", "c", "x", { confirm: true, key: "" }), bad);
  await assert.rejects(client.publish("t", "c", "x", { confirm: true, key: "é".repeat(33) }), bad);
  await assert.rejects(client.publish("t", "c", "x", { key: "k" }), bad);
  await assert.rejects(client.publish("t", "c..d", "x", { confirm: true }), { code: "bad_channel" });
  assert.deepEqual(peer.frames.all, []);
});

test("an edge that confirms nothing", async (t) => {
  for (const features of ["FEATURES:link", "ERR:bad_request"]) {
    const { client, peer } = await begin(t, features);
    await assert.rejects(client.publish("t", "c", "x", { confirm: true, key: "k" }), {
      code: "no_history",
      channel: "c",
    });
    assert.deepEqual(peer.frames.all, []);
  }
});

test("a lost connection: with a key it is published again, without one nobody knows", async (t) => {
  const { edge, client, peer } = await begin(t);
  const keyed = client.publish("t", "c", "x", { confirm: true, key: "k" });
  const plain = client.publish("t", "c", "y", { confirm: true });
  await the(peer, 1);
  edge.refusal = { status: 503, code: "draining" };
  peer.kill();
  await assert.rejects(plain, { code: "outcome_unknown", tenant: "t", channel: "c" });
  await assert.rejects(client.publish("t", "c", "z", { confirm: true }), { code: "disconnected" });
  const later = client.publish("t", "c", "later", { confirm: true, key: "later" });
  edge.refusal = undefined;
  const next = await edge.peer(1);
  await the(next, 1);
  const again = sent(next);
  assert.deepEqual(again.map(({ key }) => key).sort(), ["k", "later"]);
  assert.equal(again.find(({ key }) => key === "k")?.frame, sent(peer)[0]?.frame);
  for (const { id } of again) next.send(`OK:PUB:${id}:${at(id)}`);
  assert.equal(await keyed, at(again.find(({ key }) => key === "k")?.id as number));
  assert.match((await later) as string, /^0000000000000abc/);
});

test("what was lost goes before what was published while the connection was suspect", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history";
  const { client, event } = await tried(t, edge.url);
  const first = await edge.peer(0);
  first.answers = () => false;
  edge.refusal = { status: 503, code: "draining" };
  const all = ["a", "b"].map((key) => client.publish("t", "c", key, { confirm: true, key }));
  await the(first, 1);
  await event("suspect");
  for (const key of ["c", "d"]) all.push(client.publish("t", "c", key, { confirm: true, key }));
  first.kill();
  await event("disconnected");
  edge.refusal = undefined;
  await event("reconnected"); // on one of two connections: it was looking for another one already
  const next = await Promise.any(edge.peers.all.slice(1).map(async (peer) => (await the(peer, 3)) && peer));
  assert.deepEqual(
    sent(next).map(({ key }) => key),
    ["a", "b", "c", "d"],
  );
  for (const { id } of sent(next)) next.send(`OK:PUB:${id}:${at(id)}`);
  await Promise.all(all);
});

test("an edge that cannot say: with a key it is asked again", async (t) => {
  const { client, peer } = await begin(t);
  const keyed = client.publish("t", "c", "x", { confirm: true, key: "k" });
  const plain = client.publish("t", "c", "y", { confirm: true });
  for (const n of [0, 1]) peer.send(`ERR:unconfirmed:PUB:${(await the(peer, n)).id}`);
  await assert.rejects(plain, { code: "outcome_unknown" });
  const again = await the(peer, 2);
  peer.send(`OK:PUB:${again.id}:${at(1)}`);
  assert.equal(await keyed, at(1));
});

// Once an attempt is unknown, only a position or outcome_unknown ends the publish.
for (const first of ["unconfirmed", "lost"]) {
  for (const [second, again] of Object.entries({
    history_unavailable: true,
    try_later: true,
    unconfirmed: true,
    permission_denied: false,
    payload_too_large: false,
    no_history: false,
    not_on_a_sunday: false,
  })) {
    test(`${first}, then ${second}`, async (t) => {
      const { edge, client, peer } = await begin(t);
      const keyed = client.publish("t", "c", "x", { confirm: true, key: "k" });
      const rejected = again || assert.rejects(keyed, { code: "outcome_unknown", tenant: "t", channel: "c" });
      let n = 0;
      let on = peer;
      const { id } = await the(peer, n++);
      if (first === "lost") {
        peer.kill();
        n = 0;
        on = await edge.peer(1);
      } else on.send(`ERR:unconfirmed:PUB:${id}`);
      on.send(`ERR:${second}:PUB:${(await the(on, n++)).id}`);
      await rejected;
      if (!again) return assert.equal(sent(on).length, n);
      on.send(`OK:PUB:${(await the(on, n)).id}:${at(1)}`);
      assert.equal(await keyed, at(1));
    });
  }
}

test("unknown, then the client ends", async (t) => {
  for (const end of ["revoked", "closed", "over a read limit"]) {
    const { client, peer } = await begin(t);
    const keyed = client.publish("t", "c", new Uint8Array(5000), { confirm: true, key: "k" });
    const rejected = assert.rejects(keyed, { code: "outcome_unknown" });
    peer.send(`ERR:unconfirmed:PUB:${(await the(peer, 0)).id}`);
    await the(peer, 1);
    if (end === "revoked") {
      peer.send("ERR:token_revoked");
      peer.close(4403);
    } else if (end === "closed") await client.close();
    else peer.close(1009);
    await rejected;
  }
});

test("nobody answers: after 100 s the outcome is unknown", async (t) => {
  const { edge, client, peer } = await begin(t);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const keyed = client.publish("t", "c", "x", { confirm: true, key: "k" });
  const rejected = assert.rejects(keyed, { code: "outcome_unknown" });
  await the(peer, 0);
  t.mock.timers.tick(99_999);
  peer.send("PONG"); // whatever was asked meanwhile
  edge.refusal = { status: 503, code: "draining" };
  t.mock.timers.tick(1);
  await rejected;
  t.mock.timers.reset();
});

test("closing", async (t) => {
  const { client, peer } = await begin(t);
  const keyed = client.publish("t", "c", "x", { confirm: true, key: "k" });
  const rejected = assert.rejects(keyed, { code: "outcome_unknown" });
  await the(peer, 0);
  await client.close();
  await rejected;
  await assert.rejects(client.publish("t", "c", "x", { confirm: true, key: "k" }), { code: "closed" });
});

test("a connection is not left in a move before it has answered", async (t) => {
  const a = await Edge.start(t);
  const b = await Edge.start(t);
  a.features = b.features = "FEATURES:link,history";
  const { client, event, events } = await tried(t, [a.url, b.url]);
  const [from, to] = client.edge === a.url ? [a, b] : [b, a];
  const first = await from.peer(0);
  const plain = client.publish("t", "c", "x", { confirm: true });
  const { id } = await the(first, 0);
  first.send("RECONNECT");
  await to.peer(0);
  const pings = (): number => first.lines.all.filter((l) => l === "PING").length;
  await first.lines.until(() => pings() === 2); // the second one ends the move
  assert.equal(
    events.all.some((e) => e.name === "moved"),
    false,
  );
  first.send(`OK:PUB:${id}`);
  assert.equal(await plain, undefined);
  await event("moved");
});

test("over the read limit: the largest publish is refused, and not sent again", async (t) => {
  const { edge, client, peer, event, events } = await begin(t);
  const [small, larger, largest, same] = [1, 6000, 9000, 9000].map((size) =>
    client.publish("t", "c", new Uint8Array(size), { confirm: true, key: "k" }),
  );
  const refused = [largest, same].map((one) =>
    assert.rejects(one as Promise<unknown>, { code: "payload_too_large", tenant: "t", channel: "c" }),
  );
  await the(peer, 3);
  peer.close(1009);
  await Promise.all(refused);
  const next = await edge.peer(1);
  await the(next, 1);
  assert.deepEqual(
    sent(next)
      .map(({ frame }) => frame.length / 2)
      .sort(),
    [11, 6010],
  );

  // One that nobody awaits.
  await event("reconnected");
  await client.publish("t", "plain", new Uint8Array(7000));
  await client.publish("t", "smaller", new Uint8Array(6500));
  await next.frames.until((b) => b.length > 6500 && b.length < 7000);
  next.close(1009);
  const { channel, code } = await event("publishError");
  assert.deepEqual([channel, code], ["plain", "payload_too_large"]);
  const last = await edge.peer(2);
  await the(last, 1);
  assert.deepEqual(
    sent(last)
      .map(({ frame }) => frame.length / 2)
      .sort(),
    [11, 6010],
  );

  // The largest one by now; but it was sent before. Nothing that could not be too large is refused.
  const big = assert.rejects(larger as Promise<unknown>, { code: "outcome_unknown" });
  last.close(1009);
  await big;
  const again = client.publish("t", "c", new Uint8Array(4000), { confirm: true, key: "k" });
  const fourth = await edge.peer(3);
  await the(fourth, 1);
  fourth.close(1009);
  const end = await edge.peer(4);
  for (const n of [0, 1]) end.send(`OK:PUB:${(await the(end, n)).id}`);
  await Promise.all([small, again]);
  assert.equal(events.all.filter(({ name }) => name === "publishError").length, 1);
  assert.equal((await event("disconnected")).error.closeCode, 1009);
});
