// Being present: JOIN and LEAVE.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Edge, type Peer } from "./edge.js";
import { asked, presenceEdge, tried, twoEdges } from "./fixture.js";

test("several memberships of a channel are one for the edge, and the last one leaves", async (t) => {
  const edge = await presenceEdge(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const [one, two] = await Promise.all([client.join("", "room.1"), client.join("~", "room.1")]);
  const other = await client.join("~", "room.2");
  assert.equal(two.tenant, "~");
  assert.equal(two.channel, "room.1");
  await one.leave();
  await one.leave();
  assert.equal(await one.ended, undefined);
  await two.leave();
  await other.leave();
  await two.leave();
  assert.deepEqual(asked(peer), ["JOIN:~:room.1", "JOIN:~:room.2", "LEAVE:~:room.1", "LEAVE:~:room.2"]);
  const again = await client.join("~", "room.1");
  peer.answers = () => false;
  const left = again.leave();
  const back = client.join("~", "room.1"); // need not wait for OK:LEAVE
  await peer.lines.until((line) => line === "JOIN:~:room.1", 6);
  peer.answer("LEAVE:~:room.1");
  await left;
  peer.answer("JOIN:~:room.1");
  await back;
});

for (const code of ["permission_denied", "no_presence", "no_subject", "too_many_members", "try_later", "of_later"]) {
  test(`a JOIN that is refused: ${code}`, async (t) => {
    const edge = await presenceEdge(t);
    const { client, events } = await tried(t, edge.url);
    const peer = await edge.peer(0);
    peer.answers = (line) => (line.startsWith("JOIN:") ? `ERR:${code}:${line}` : true);
    const about = { code, tenant: "t", channel: "room.1", pattern: undefined };
    await Promise.all([1, 2].map(() => assert.rejects(client.join("t", "room.1"), about)));
    peer.answers = () => true;
    await client.join("t", "room.1");
    assert.deepEqual(
      events.all.map(({ name }) => name),
      ["connected"],
    );
  });
}

test("what is no channel, and an edge that has no presence, is refused here", async (t) => {
  const edge = await Edge.start(t);
  const { client } = await tried(t, edge.url);
  await assert.rejects(client.join("t", "room.*"), { code: "bad_channel", tenant: "t", channel: "room.*" });
  await assert.rejects(client.join("a b", "room"), { code: "bad_tenant" });
  await assert.rejects(client.join("t", "room"), { code: "no_presence", tenant: "t", channel: "room" });
  await assert.rejects(client.presence("t", "room.*"), { code: "no_presence", tenant: "t", pattern: "room.*" });
  await assert.rejects(client.presence("t", "a..b"), { code: "bad_pattern", tenant: "t", pattern: "a..b" });
  await assert.rejects(client.presence("t", "a", { count: 1 as never }), { code: "bad_option" });
  await assert.rejects(client.presence("t", "a", { onChange: 1 as never }), { code: "bad_option" });
  await assert.rejects(client.presence("t", "a", { counts: true } as never), { code: "bad_option" });
  assert.deepEqual(asked(await edge.peer(0)), []);
});

test("a membership is restored after a loss; one that is made meanwhile waits", async (t) => {
  const { client, a, b, first, event } = await twoEdges(t);
  const one = await client.join("t", "room.1");
  const left = await client.join("t", "room.2");
  await left.leave();
  a.refusal = b.refusal = { status: 503, code: "draining" };
  first.kill();
  await event("disconnected");
  const made = client.join("t", "room.3");
  const undone = client.join("t", "room.4");
  a.refusal = b.refusal = undefined;
  await event("reconnected");
  await Promise.all([made, undone]);
  const second = [...a.peers.all, ...b.peers.all].find((peer) => peer !== first) as Peer;
  assert.deepEqual(asked(second), ["JOIN:t:room.1", "JOIN:t:room.3", "JOIN:t:room.4"]);
  await one.leave();
  assert.equal(asked(second).at(-1), "LEAVE:t:room.1");
});

test("who closes the client leaves, as far as it goes", async (t) => {
  const edge = await presenceEdge(t);
  const { client } = await tried(t, edge.url);
  const membership = await client.join("t", "room.1");
  const presence = assert.rejects(client.presence("t", "room.*"), { code: "closed" });
  const peer = await edge.peer(0);
  await peer.until("WHO:t:room.*");
  peer.answers = () => false;
  await client.close();
  await peer.closed.until(() => true);
  assert.deepEqual(asked(peer), ["JOIN:t:room.1", "WHO:t:room.*", "LEAVE:t:room.1"]);
  assert.equal(await membership.ended, undefined);
  await presence;
  await membership.leave();
  await assert.rejects(client.join("t", "room.1"), { code: "closed" });
});

test("a client that ends by an error says why", async (t) => {
  const edge = await presenceEdge(t);
  const { client } = await tried(t, edge.url);
  const membership = await client.join("t", "room.1");
  (await edge.peer(0)).revoke();
  assert.equal((await membership.ended)?.code, "token_revoked");
});

test("an edge without presence is an event, and the next one is asked again", async (t) => {
  const { client, a, b, first, event } = await twoEdges(t);
  const membership = await client.join("t", "room.1");
  b.features = "FEATURES:link";
  first.close(1001);
  const lack = { name: "edgeError", code: "no_presence", detail: "JOIN:t:room.1" };
  assert.deepEqual(await event("edgeError"), lack);
  await event("reconnected");
  await assert.rejects(client.join("t", "room.1"), { code: "no_presence", channel: "room.1" });
  const second = await b.peer(0);
  assert.deepEqual(asked(second), []);
  a.answers = (line) => (line.startsWith("JOIN:") ? `ERR:no_presence:${line}` : true); // it has another one
  second.close(1001);
  assert.deepEqual(await event("edgeError", 2), lack); // the second was that of the other membership
  await event("reconnected", 1);
  b.features = "FEATURES:link,presence";
  a.peers.all[1]?.close(1001);
  await event("reconnected", 2);
  assert.deepEqual(asked(b.peers.all[1] as Peer), ["JOIN:t:room.1"]);
  await membership.leave();
  await b.peers.all[1]?.until("LEAVE:t:room.1");
});

test("an edge that has no presence any more is an event, too", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  await client.join("t", "room.1");
  first.send("ERR:no_presence:JOIN:t:room.1");
  assert.equal((await event("edgeError")).detail, "JOIN:t:room.1");
  await client.join("t", "room.1"); // it is asked again, by whoever wants it
  first.close(1001);
  await (await b.peer(0)).until("JOIN:t:room.1");
});

for (const code of ["too_many_members", "permission_denied"]) {
  test(`refused when it is restored: ${code}`, async (t) => {
    const { client, b, first, event } = await twoEdges(t);
    const membership = await client.join("t", "room.1");
    b.answers = (line) => (line.startsWith("JOIN:") ? `ERR:${code}:${line}` : true);
    first.close(1001);
    assert.equal((await membership.ended)?.code, code);
    const told = { name: "subscriptionError", tenant: "t", pattern: "", channel: "room.1", code };
    assert.deepEqual(await event("subscriptionError"), told);
    await event("reconnected");
  });
}

test("while an edge says try_later, it is asked again", async (t) => {
  const { client, b, first, events, event } = await twoEdges(t);
  const membership = await client.join("t", "room.1");
  const undone = await client.join("t", "room.2");
  b.answers = (line) => (line.startsWith("JOIN:") ? `ERR:try_later:${line}` : true);
  first.close(1001);
  const second = await b.peer(0);
  await second.lines.until(() => asked(second).filter((line) => line === "JOIN:t:room.1").length >= 4);
  await undone.leave();
  const before = asked(second).filter((line) => line === "JOIN:t:room.2").length;
  second.answers = () => true;
  await event("reconnected");
  assert.equal(asked(second).filter((line) => line === "JOIN:t:room.2").length, before);
  assert.equal(events.all.filter((e) => e.name === "subscriptionError").length, 2);
  await membership.leave();
  assert.equal(asked(second).at(-1), "LEAVE:t:room.1");
});

test("a move keeps the first connection until the second has it, and does not say LEAVE", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const membership = await client.join("t", "room.1");
  b.answers = (line) => !line.startsWith("JOIN:");
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("JOIN:t:room.1");
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert.equal(first.closed.all.length, 0);
  const more = await client.join("t", "room.2"); // the first has it
  second.answers = () => true;
  for (const channel of ["room.1", "room.2"]) second.answer(`JOIN:t:${channel}`);
  await event("moved");
  await first.closed.until(() => true);
  assert.deepEqual(asked(first), ["JOIN:t:room.1", "JOIN:t:room.2"]);
  assert.deepEqual(asked(second), ["JOIN:t:room.1", "JOIN:t:room.2"]);
  await membership.leave();
  await more.leave();
  assert.deepEqual(asked(second).slice(2), ["LEAVE:t:room.1", "LEAVE:t:room.2"]);
});

test("a refusal during a move ends it on both connections", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const membership = await client.join("t", "room.1");
  b.answers = (line) => (line.startsWith("JOIN:") ? `ERR:permission_denied:${line}` : true);
  first.send("RECONNECT");
  assert.equal((await membership.ended)?.code, "permission_denied");
  await event("moved");
  await first.until("LEAVE:t:room.1");
});

test("a connection that takes over has it before", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  await client.join("t", "room.1");
  first.answers = () => false;
  client.flush().catch(() => {});
  await event("suspect");
  await (await b.peer(0)).until("JOIN:t:room.1");
  await event("recovered");
  assert.ok(!first.lines.all.includes("LEAVE:t:room.1"));
});

test("one that cannot take over for lack of a right is given up, and the suspected one may wake", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const membership = await client.join("t", "room.1");
  b.answers = (line) => (line.startsWith("JOIN:") ? `ERR:permission_denied:${line}` : true);
  first.answers = () => false;
  client.flush().catch(() => {});
  await event("suspect");
  await b.peer(0);
  await (await b.peer(0)).closed.until(() => true);
  first.answers = () => true;
  first.send("PONG");
  assert.equal((await event("recovered")).away, 0);
  await membership.leave();
  await first.until("LEAVE:t:room.1");
});
