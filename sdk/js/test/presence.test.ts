// Who is present: WHO and its frames.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Presence, PresenceChange } from "../src/presence.js";
import { type Edge, type Peer, Record } from "./edge.js";
import { asked, presenceEdge, tried, twoEdges } from "./fixture.js";

const show = (p: Presence): string =>
  p.members.map(({ channel, subject, info }) => `${channel}/${subject}${info ? JSON.stringify(info) : ""}`).join(" ");
const numbers = (p: Presence): string => [...p.counts].map((entry) => entry.join("=")).join(" ");
const plain = (change: PresenceChange): string =>
  change.type === "counts"
    ? `${change.channel}=${change.count}`
    : `${change.type} ${change.channel}/${change.member.subject}${change.member.info ? JSON.stringify(change.member.info) : ""}`;

/** read reads all changes into a record. */
function read(p: Presence): { changes: Record<string>; until(text: string): Promise<string>; end: Promise<string> } {
  const changes = new Record<string>();
  const reading = async (): Promise<string> => {
    try {
      for await (const change of p) changes.add(plain(change));
      return "";
    } catch (err) {
      return (err as { code: string }).code;
    }
  };
  return { changes, until: (text) => changes.until((other) => other === text), end: reading() };
}

/** telling lets the next connections of an edge answer WHO with pages. */
function telling(edge: Edge, ...pages: [bits: string, ...entries: string[]][]): void {
  edge.answers = (line) => {
    if (!line.startsWith("WHO:")) return true;
    const peer = edge.peers.all.at(-1) as Peer;
    peer.answer(line);
    for (const page of pages) peer.tell(...page);
    return false;
  };
}

test("presence returns when all has come, and tells what changes from then on", async (t) => {
  const edge = await presenceEdge(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  let made = false;
  const making = client.presence("t", "room.*").finally(() => {
    made = true;
  });
  await peer.until("WHO:t:room.*");
  peer.tell("first", "+room.2/bo", "+room.1/cy");
  peer.tell("", '+room.1/ann{"name":"Ann"}', "+room.1/gone");
  await client.flush();
  assert.equal(made, false);
  peer.tell("synced", "-room.1/gone");
  const p = await making;
  assert.equal(show(p), 'room.1/ann{"name":"Ann"} room.1/cy room.2/bo');
  assert.equal(numbers(p), "room.2=1 room.1=2");
  assert.equal(p.synced, true);
  assert.deepEqual([p.tenant, p.pattern], ["t", "room.*"]);
  assert.equal(p.members[0]?.since.getTime(), 1_700_000_000_000);
  assert.equal(p.members, p.members, "the same array while nothing changes");

  const { changes, until } = read(p);
  peer.tell("", "+room.3/di");
  await until("joined room.3/di");
  peer.tell("", '+room.1/ann{"name":"Anna"}', "-room.2/bo", "+room.1/cy", "-room.9/nobody");
  await until("left room.2/bo");
  assert.deepEqual(changes.all, ["joined room.3/di", 'changed room.1/ann{"name":"Anna"}', "left room.2/bo"]);
  assert.equal(show(p), 'room.1/ann{"name":"Anna"} room.1/cy room.3/di');
  assert.equal(numbers(p), "room.1=2 room.3=1");
});

test("changes that are not read are kept by member, and those that were undone do not count", async (t) => {
  const edge = await presenceEdge(t);
  telling(edge, ["first synced", "+a/1", "+a/2", '+a/3{"x":1}']);
  const { client } = await tried(t, edge.url);
  const p = await client.presence("t", "room.*");
  const peer = await edge.peer(0);
  for (let i = 0; i < 100; i++) {
    peer.tell("", "-a/1", "+a/4", `+a/3{"x":${i}}`);
    peer.tell("", "+a/1", "-a/4");
  }
  peer.tell("", "-a/2", '+a/3{"x":7}');
  await client.flush();
  assert.equal(show(p), 'a/1 a/3{"x":7}');
  const { changes, until, end } = read(p);
  await until("left a/2");
  await until('changed a/3{"x":7}');
  peer.tell("", "+a/5");
  await until("joined a/5");
  assert.equal(changes.all.length, 3);
  await p.close();
  assert.equal(await end, "");
  assert.equal(await p.ended, undefined);
});

test("presences of a pattern share one WHO, and the last one ends it", async (t) => {
  const edge = await presenceEdge(t);
  telling(edge, ["first synced", "+a/1"]);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const [one, two] = await Promise.all([client.presence("t", "room.*"), client.presence("t", "room.*")]);
  const count = await client.presence("t", "room.*", { count: true });
  assert.equal(show(two), "a/1");
  assert.equal(show(count), "");
  const counting = read(count);
  const reading = read(one);
  peer.tell("", "+a/2", "+b/1");
  await reading.until("joined b/1");
  await counting.until("b=1");
  assert.deepEqual(counting.changes.all, ["a=2", "b=1"]);
  assert.equal(numbers(count), "a=2 b=1");
  for await (const change of two) {
    assert.equal(plain(change), "joined a/2");
    break; // closes it
  }
  await one.close();
  assert.deepEqual(asked(peer), ["WHO:t:room.*"]);
  peer.tell("", "-b/1");
  await counting.until("b=0");
  await Promise.all([count.close(), count.close()]);
  assert.equal(asked(peer).at(-1), "UNWHO:t:room.*");
  assert.equal(count.synced, false);
});

test("a WHO waits for the end of an earlier one", async (t) => {
  const edge = await presenceEdge(t);
  telling(edge, ["first synced", "+a/1"]);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const p = await client.presence("t", "room.*");
  peer.answers = () => false;
  const closed = p.close();
  await peer.until("UNWHO:t:room.*");
  const again = client.presence("t", "room.*", { count: true });
  for (let i = 0; i < 50; i++) await new Promise((resolve) => setImmediate(resolve));
  peer.tell("first synced", "+a/old");
  assert.equal(asked(peer).length, 2);
  peer.answer("UNWHO:t:room.*");
  await closed;
  await peer.until("WHO:t:room.*:count");
  peer.answer("WHO:t:room.*");
  peer.tell("first synced counts", "a=7", "b=0");
  const count = await again;
  assert.equal(numbers(count), "a=7");
});

test("numbers alone", async (t) => {
  const edge = await presenceEdge(t);
  telling(edge, ["first counts", "a=1"], ["synced counts", "b=2"]);
  const { client } = await tried(t, edge.url);
  const p = await client.presence("t", "room.*", { count: true });
  const peer = await edge.peer(0);
  assert.deepEqual(asked(peer), ["WHO:t:room.*:count"]);
  assert.equal(numbers(p), "a=1 b=2");
  const { changes, until } = read(p);
  peer.tell("counts", "a=0", "b=2", "c=4294967295");
  await until("c=4294967295");
  assert.deepEqual(changes.all, ["a=0", "c=4294967295"]);
  assert.equal(numbers(p), "b=2 c=4294967295");
  assert.equal(show(p), "");
});

test("who wants members beside numbers is refused", async (t) => {
  const edge = await presenceEdge(t);
  telling(edge, ["first synced counts", "a=1"]);
  const { client } = await tried(t, edge.url);
  const count = await client.presence("t", "room.*", { count: true });
  await assert.rejects(client.presence("t", "room.*"), { code: "bad_option", pattern: "room.*" });
  assert.equal(numbers(count), "a=1");
  await count.close();
  assert.deepEqual(asked(await edge.peer(0)), ["WHO:t:room.*:count", "UNWHO:t:room.*"]);
});

test("what the edge says of a crowd holds until the members have come", async (t) => {
  const edge = await presenceEdge(t);
  telling(edge, ["first synced", "+a/1", "+b/1"]);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const p = await client.presence("t", "room.*");
  const { changes, until } = read(p);
  peer.tell("counts", "a=3", "b=1", "c=9");
  await until("c=9");
  assert.equal(numbers(p), "a=3 b=1 c=9");
  peer.tell("", "+a/2");
  await until("joined a/2");
  assert.equal(numbers(p), "a=3 b=1 c=9");
  peer.tell("", "+a/3"); // as many as the edge has said
  peer.tell("", "+a/4");
  await until("joined a/4");
  assert.equal(numbers(p), "a=4 b=1 c=9");
  peer.tell("synced");
  await until("c=0");
  assert.equal(numbers(p), "a=4 b=1");
  assert.deepEqual(changes.all, ["a=3", "c=9", "joined a/2", "joined a/3", "joined a/4", "c=0"]);
});

test("after a loss what was there stays, until the difference is known", async (t) => {
  const { client, a, b, first, event } = await twoEdges(t);
  const calls = new Record<string>();
  const making = client.presence("t", "room.*", { onChange: (p) => calls.add(`${p.synced} ${show(p)}`) });
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1", "+a/2", "+a/3");
  const p = await making;
  const { changes, until } = read(p);
  telling(b, ["first", "+a/1"]);
  first.kill();
  await event("disconnected");
  assert.equal(p.synced, false);
  await event("reconnected");
  assert.equal(p.synced, false);
  assert.equal(show(p), "a/1 a/2 a/3");
  const second = [...a.peers.all, ...b.peers.all].find((peer) => peer !== first) as Peer;
  second.tell("", "+a/4");
  await client.flush();
  assert.equal(show(p), "a/1 a/2 a/3");
  assert.deepEqual(changes.all, []);
  second.tell("synced", '+a/2{"x":1}');
  await until("joined a/4");
  assert.deepEqual(changes.all.sort(), ['changed a/2{"x":1}', "joined a/4", "left a/3"]);
  assert.equal(p.synced, true);
  await calls.until((call) => call === 'true a/1 a/2{"x":1} a/4');
  assert.deepEqual(calls.all, ["false a/1 a/2 a/3", 'true a/1 a/2{"x":1} a/4']);
  second.tell("first", "+a/9"); // the edge starts over
  await client.flush();
  assert.equal(show(p), 'a/1 a/2{"x":1} a/4');
  second.tell("synced");
  await until("joined a/9");
  assert.equal(show(p), "a/9");
});

test("a presence that nobody reads differs by what has changed in the end", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const making = client.presence("t", "room.*");
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1", "+a/2");
  const p = await making;
  first.tell("", "-a/1", "+a/3");
  await client.flush();
  telling(b, ["first synced", "+a/1", "+a/2"]); // as in the beginning
  first.kill();
  await event("reconnected");
  const second = await b.peer(0);
  await client.flush();
  second.tell("", "-a/2");
  const { changes, until } = read(p);
  await until("left a/2");
  assert.deepEqual(changes.all, ["left a/2"]);
});

test("a move shows what the first connection tells, until the second has told all", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const making = client.presence("t", "room.*");
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1", "+a/2");
  const p = await making;
  const synced = new Record<boolean>();
  const { changes, until } = read(p);
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("WHO:t:room.*");
  second.tell("first", "+a/1");
  first.tell("", "+a/3");
  await until("joined a/3");
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.equal(first.closed.all.length, 0, "the second has not told all");
  second.tell("synced", "+a/2", "+a/3");
  await event("moved");
  synced.add(p.synced);
  second.tell("", "-a/1");
  await until("left a/1");
  assert.deepEqual(changes.all, ["joined a/3", "left a/1"]);
  assert.deepEqual(asked(first), ["WHO:t:room.*"], "no UNWHO: what stands is shown");
  assert.deepEqual(synced.all, [true]);
});

test("a second connection that takes too long is waited for 2 s, and nothing flickers", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const making = client.presence("t", "room.*");
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1");
  const p = await making;
  const { changes, until } = read(p);
  first.send("RECONNECT");
  const second = await b.peer(0);
  await second.until("WHO:t:room.*");
  await event("moved");
  assert.equal(p.synced, false);
  assert.equal(show(p), "a/1");
  second.tell("first synced", "+a/1", "+a/2");
  await until("joined a/2");
  assert.deepEqual(changes.all, ["joined a/2"]);
  assert.equal(p.synced, true);
});

test("while a connection is suspect, what it had told is shown; the one that takes over goes on", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const making = client.presence("t", "room.*");
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1");
  const p = await making;
  const { changes, until } = read(p);
  b.answers = (line) => line !== "WHO:t:room.*";
  first.answers = () => false;
  client.flush().catch(() => {});
  await event("suspect");
  const second = await b.peer(0);
  await second.until("WHO:t:room.*");
  second.answers = () => true;
  assert.equal(p.synced, true);
  second.answer("WHO:t:room.*");
  await event("recovered");
  second.tell("first synced", "+a/2");
  await until("joined a/2");
  first.tell("first synced", "+a/1"); // its trail tells nobody
  second.tell("", "+a/3");
  await until("joined a/3");
  assert.deepEqual(changes.all.sort(), ["joined a/2", "joined a/3", "left a/1"]);
});

test("an edge without presence: what was there stays, unsynced, and the next one goes on", async (t) => {
  const { client, a, b, first, event } = await twoEdges(t);
  const making = client.presence("t", "room.*");
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1");
  const p = await making;
  const { changes, until } = read(p);
  first.send("ERR:no_presence:WHO:t:room.*"); // it has none any more
  assert.deepEqual(await event("edgeError"), { name: "edgeError", code: "no_presence", detail: "WHO:t:room.*" });
  assert.equal(p.synced, false);
  b.features = "FEATURES:link";
  first.close(1001);
  assert.deepEqual(await event("edgeError", 1), { name: "edgeError", code: "no_presence", detail: "WHO:t:room.*" });
  await event("reconnected");
  assert.equal(p.synced, false);
  assert.equal(show(p), "a/1");
  telling(a, ["first synced", "+a/2"]);
  b.peers.all[0]?.close(1001);
  await until("joined a/2");
  assert.deepEqual(changes.all.sort(), ["joined a/2", "left a/1"]);
});

test("refused when it is restored: what waits can be read, then the error", async (t) => {
  const { client, b, first, event } = await twoEdges(t);
  const making = client.presence("t", "room.*");
  await first.until("WHO:t:room.*");
  first.tell("first synced", "+a/1");
  const p = await making;
  first.tell("", "-a/1");
  await client.flush();
  b.answers = (line) => (line.startsWith("WHO:") ? `ERR:permission_denied:${line}` : true);
  first.close(1001);
  const told = { name: "subscriptionError", tenant: "t", pattern: "room.*", code: "permission_denied" };
  assert.deepEqual(await event("subscriptionError"), told);
  assert.equal((await p.ended)?.code, "permission_denied");
  const { changes, end } = read(p);
  assert.equal(await end, "permission_denied");
  assert.deepEqual(changes.all, ["left a/1"]);
  assert.equal(p.synced, false);
});

test("a broken presence frame ends the connection", async (t) => {
  const edge = await presenceEdge(t);
  const { event } = await tried(t, edge.url);
  (await edge.peer(0)).send(Buffer.from([5, 0, 0]));
  assert.equal((await event("disconnected")).error.code, "protocol");
});
