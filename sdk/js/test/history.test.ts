// Subscriptions with a history.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SubscribeOptions } from "../src/calls.js";
import type { Client } from "../src/client.js";
import type { HistoryFrom } from "../src/history.js";
import type { Subscription } from "../src/subscription.js";
import { at, Edge, type Peer } from "./edge.js";
import { type Tried, tried } from "./fixture.js";

const HISTORIES = "FEATURES:link,history";

async function historyEdge(t: TestContext): Promise<Edge> {
  const edge = await Edge.start(t);
  edge.features = HISTORIES;
  return edge;
}

/** begin subscribes to c, whose history has the numbers. */
async function begin(
  client: Client,
  peer: Peer,
  history: HistoryFrom,
  numbers: number[],
  options: SubscribeOptions = {},
): Promise<Subscription> {
  const from = peer.lines.all.length;
  const sub = client.subscribe("t", "c", { ...options, history });
  await peer.lines.until((l) => l.startsWith("RSUB:t:c:"), from);
  peer.stored(...numbers);
  peer.caughtUp(numbers.at(-1) ?? 0);
  return sub;
}

async function read(sub: Subscription, n: number): Promise<string[]> {
  const got: string[] = [];
  const it = sub[Symbol.asyncIterator]();
  while (got.length < n) {
    const { value } = await it.next();
    got.push(value?.text() ?? "the end");
  }
  return got;
}

const rsubs = (peer: Peer): string[] => peer.lines.all.filter((l) => l.startsWith("RSUB"));

test("positions, in order, once", async (t) => {
  const edge = await historyEdge(t);
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const sub = await begin(client, peer, { last: 3 }, [7, 9]);
  assert.deepEqual(rsubs(peer), ["RSUB:t:c:last.3"]);
  const it = sub[Symbol.asyncIterator]();
  const { value } = await it.next();
  assert.equal(value?.position, at(7));
  assert.deepEqual(value?.time, new Date(1_700_000_000_007));
  assert.equal(sub.position, at(7));
  peer.stored(10);
  peer.stored(10); // no edge does that
  assert.deepEqual(await read(sub, 2), ["9", "10"]);
  assert.equal(sub.position, at(10));
  peer.send(`AT:t:c:${at(99)}`);
  peer.send(`AT:t:other:${at(200)}`); // concerns nothing
  peer.send(`GAP:t:c:${at(120)}`);
  assert.deepEqual(await event("gap"), { name: "gap", tenant: "t", pattern: "c", before: at(120), reason: "unknown" });
  assert.equal(sub.position, at(120));
  await sub.unsubscribe();
  assert.deepEqual(
    peer.lines.all.filter((l) => l !== "PING"),
    ["RSUB:t:c:last.3", "UNSUB:t:c"],
  );
});

test("subscribe resolves with the first message, and a callback gets them all", async (t) => {
  const edge = await historyEdge(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const got: string[] = [];
  const waiting = client.subscribe("t", "c", { history: { after: at(3) }, onMessage: (m) => got.push(m.text()) });
  await peer.until(`RSUB:t:c:${at(3)}`);
  peer.stored(4);
  const sub = await waiting;
  assert.equal(sub.position, at(4));
  peer.stored(5);
  peer.caughtUp(5);
  await client.flush();
  assert.deepEqual(got, ["4", "5"]);
  assert.equal(sub.position, at(5));
});

test("what is refused at once", async (t) => {
  const edge = await historyEdge(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  await begin(client, peer, "now", []);
  const bad: [string, unknown][] = [
    ["a", { last: 0 }],
    ["a", { last: 1.5 }],
    ["a", { last: 100_001 }],
    ["a.*", { last: 1 }],
    ["a", { after: "now" }],
    ["a", { after: at(1), last: 1 }],
    ["a", {}],
    ["a", "first"],
    ["c", undefined],
    ["c", "last"],
  ];
  for (const [pattern, history] of bad) {
    const options = { history } as SubscribeOptions;
    await assert.rejects(client.subscribe("t", pattern, options), { code: "bad_option" }, JSON.stringify(history));
  }
  await client.subscribe("t", "d");
  await assert.rejects(client.subscribe("t", "d", { history: "now" }), { code: "bad_option" });
});

test("what an edge refuses, and what it cannot give", async (t) => {
  const cases: [string, HistoryFrom, string, Record<string, string>, string | undefined, boolean | string][] = [
    ["no history", "last", HISTORIES, { "RSUB:t:c:last": "ERR:no_history:RSUB:t:c" }, "no_history", false],
    ["too many", "last", HISTORIES, { "RSUB:t:c:last": "ERR:too_many_channels:RSUB:t:c" }, "too_many_channels", false],
    ["try later", "last", HISTORIES, { "RSUB:t:c:last": "ERR:try_later:RSUB:t:c" }, "try_later", false],
    ["no right", "now", HISTORIES, { "RSUB:t:c:now": "ERR:permission_denied:RSUB:t:c" }, "permission_denied", false],
    [
      "no right to the past",
      { last: 2 },
      HISTORIES,
      {
        "RSUB:t:c:last.2": "ERR:permission_denied:RSUB:t:c",
        "RSUB:t:c:now": `OK:RSUB:t:c:${at(5)}:complete`,
      },
      undefined,
      "no_right",
    ],
    [
      "no right at all",
      { last: 2 },
      HISTORIES,
      {
        "RSUB:t:c:last.2": "ERR:permission_denied:RSUB:t:c",
        "RSUB:t:c:now": "ERR:permission_denied:RSUB:t:c",
      },
      "permission_denied",
      false,
    ],
    [
      "something is gone",
      { after: at(1) },
      HISTORIES,
      { [`RSUB:t:c:${at(1)}`]: `OK:RSUB:t:c:${at(5)}:gap` },
      undefined,
      true,
    ],
    ["an edge without histories, from now on", "now", "FEATURES:link", {}, undefined, false],
    ["an edge without histories", "last", "FEATURES:link", {}, undefined, "no_history"],
    ["an edge of an earlier version", { after: at(1) }, "ERR:bad_request", {}, undefined, "no_history"],
    [
      "and no right there",
      "last",
      "ERR:bad_request",
      { "SUB:t:c": "ERR:permission_denied:SUB:t:c" },
      "permission_denied",
      false,
    ],
  ];
  for (const [name, history, features, answers, want, gap] of cases) {
    const edge = await Edge.start(t);
    edge.features = features;
    edge.answers = (line) => answers[line] ?? true;
    const { client, events, event } = await tried(t, edge.url);
    const peer = await edge.peer(0);
    const subscribed = client.subscribe("t", "c", { history });
    if (want) {
      await assert.rejects(subscribed, { code: want }, name);
      assert.deepEqual(
        events.all.filter((e) => e.name !== "connected"),
        [],
        name,
      );
      continue;
    }
    const sub = await subscribed;
    if (gap) assert.equal((await event("gap")).reason, gap === true ? "unknown" : gap, name);
    await client.flush();
    assert.equal(events.all.filter((e) => e.name === "gap").length, gap ? 1 : 0, name);
    if (features === HISTORIES) continue;
    peer.deliver("plain"); // without a position
    assert.deepEqual(await read(sub, 1), ["plain"], name);
    assert.equal(sub.position, typeof history === "object" && "after" in history ? history.after : undefined, name);
  }
});

interface Loss extends Tried {
  edge: Edge;
  sub: Subscription;
  peer: Peer;
}

/** loss has a subscription that has read two messages, and a connection after a loss. */
async function loss(t: TestContext, plain: boolean, change: (edge: Edge) => void): Promise<Loss> {
  const edge = await historyEdge(t);
  const all = await tried(t, edge.url);
  const first = await edge.peer(0);
  const sub = await begin(all.client, first, "now", []);
  if (plain) await all.client.subscribe("t", "d");
  first.stored(4, 5);
  assert.deepEqual(await read(sub, 2), ["4", "5"]);
  change(edge);
  first.kill();
  return { ...all, edge, sub, peer: await edge.peer(1) };
}

test("a lost connection: it goes on behind the last message", async (t) => {
  for (const [plain, how, complete] of [
    [false, "complete", true],
    [false, "gap", false],
    [true, "complete", false],
  ] as const) {
    const { event, events, sub, peer } = await loss(t, plain, () => {});
    await peer.until(`RSUB:t:c:${at(5)}`);
    peer.stored(6, 7);
    peer.caughtUp(7, how);
    assert.equal((await event("reconnected")).complete, complete);
    assert.equal(events.all.filter((e) => e.name === "gap").length, how === "gap" ? 1 : 0);
    assert.deepEqual(await read(sub, 2), ["6", "7"]);
  }
});

test("a lost connection, and the next edge has no such history", async (t) => {
  const { event, sub, peer, edge } = await loss(t, false, (e) => {
    e.answers = (line) => (line.startsWith("RSUB") ? "ERR:no_history:RSUB:t:c" : true);
  });
  await peer.until("SUB:t:c");
  assert.equal((await event("gap")).before, undefined);
  assert.equal((await event("reconnected")).complete, false);
  peer.deliver("plain");
  assert.deepEqual(await read(sub, 1), ["plain"]);
  // What came without positions is not gone on behind: it would come twice.
  edge.answers = () => true;
  peer.kill();
  const third = await edge.peer(2);
  await third.until("RSUB:t:c:now");
  third.caughtUp(9);
  await event("gap", 1);
  assert.equal((await event("reconnected", 1)).complete, false);
  third.stored(10);
  assert.deepEqual(await read(sub, 1), ["10"]);
  assert.equal(sub.position, at(10));
});

test("a lost connection, and the token does not allow to read the past any more", async (t) => {
  const { event, sub, peer } = await loss(t, false, (e) => {
    e.answers = (line) => (line === `RSUB:t:c:${at(5)}` ? "ERR:permission_denied:RSUB:t:c" : true);
  });
  await peer.until("RSUB:t:c:now");
  peer.caughtUp(8);
  await event("gap");
  assert.equal((await event("reconnected")).complete, false);
  peer.stored(9);
  assert.deepEqual(await read(sub, 1), ["9"]);
});

test("a lost connection, and a history that is out of reach holds nothing up", async (t) => {
  const { client, event, sub, peer } = await loss(t, false, (e) => {
    e.answers = (line) => (line.startsWith("RSUB") ? "ERR:history_unavailable:RSUB:t:c" : true);
  });
  assert.equal((await event("edgeError")).detail, "RSUB:t:c");
  assert.equal((await event("reconnected")).complete, false);
  await client.flush();
  peer.stored(6);
  peer.caughtUp(6);
  assert.deepEqual(await read(sub, 1), ["6"]);
});

test("a gap is told once, at its place, and a store that does not know a position goes back", async (t) => {
  const { event, events, sub, peer } = await loss(t, false, () => {});
  await peer.until(`RSUB:t:c:${at(5)}`);
  peer.send(`GAP:t:c:${at(1)}`);
  peer.stored(2, 3);
  peer.caughtUp(3, "gap");
  peer.stored(4);
  assert.deepEqual(await read(sub, 3), ["2", "3", "4"]);
  assert.equal(sub.position, at(4));
  assert.equal((await event("reconnected")).complete, false);
  assert.deepEqual(
    events.all.filter((e) => e.name === "gap").map((e) => e.before),
    [at(1)],
  );
});

test("a lost connection, and try_later", async (t) => {
  let asked = 0;
  const { event, sub, peer } = await loss(t, false, (e) => {
    e.answers = (line) => (line.startsWith("RSUB") && ++asked < 3 ? "ERR:try_later:RSUB:t:c" : true);
  });
  assert.equal((await event("subscriptionError")).code, "try_later");
  await peer.lines.until(() => rsubs(peer).length === 3);
  peer.stored(6);
  peer.caughtUp(6);
  assert.equal((await event("reconnected")).complete, true);
  assert.deepEqual(await read(sub, 1), ["6"]);
});

test("a pattern is asked for again only when its first subscription has ended", async (t) => {
  const edge = await historyEdge(t);
  edge.answers = (line) => !line.startsWith("UNSUB");
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const first = await begin(client, peer, "now", []);
  void first.unsubscribe();
  const waiting = client.subscribe("t", "c", { history: { last: 1 } });
  await peer.until("UNSUB:t:c");
  await client.flush();
  assert.deepEqual(rsubs(peer), ["RSUB:t:c:now"]);
  peer.stored(7);
  peer.answer("UNSUB:t:c");
  await peer.until("RSUB:t:c:last.1");
  peer.stored(7, 8);
  peer.caughtUp(8);
  assert.deepEqual(await read(await waiting, 2), ["7", "8"]);
});

test("what a queue has no room for stays at the edge until it was read", async (t) => {
  for (const queue of [1, 2, 3, 50]) {
    const edge = await historyEdge(t);
    const { client, events } = await tried(t, edge.url);
    const peer = await edge.peer(0);
    const last = 3 * queue + 10;
    const sub = client.subscribe("t", "c", { history: "now", queue });
    for (let n = 1, asked = 0; n <= last; n++) {
      // The edge gives what comes behind, each time it is asked.
      if (asked < rsubs(peer).length || n === 1) {
        if (n === 1) await peer.until("RSUB:t:c:now");
        asked = rsubs(peer).length;
        peer.stored(...Array.from({ length: last - n + 1 }, (_, i) => n + i));
        peer.caughtUp(last);
      }
      assert.deepEqual(await read(await sub, 1), [String(n)]);
      assert.equal((await sub).position?.split(".")[1], String(n));
      await client.flush();
      await client.flush(); // of an RSUB that waited for the answer to UNSUB
    }
    assert.ok(rsubs(peer).length > 2, `it was asked for ${rsubs(peer).length} times`);
    assert.equal(
      events.all.some((e) => e.name === "queueFull" || e.name === "gap"),
      false,
    );
  }
});

test("the edge reports a gap among the messages of a full queue when that is full already", async (t) => {
  const edge = await historyEdge(t);
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const sub = await begin(client, peer, "now", [], { queue: 2 });
  peer.stored(1, 3, 4);
  peer.send(`GAP:t:c:${at(5)}`);
  peer.stored(6);
  assert.equal((await event("gap")).before, at(5));
  assert.deepEqual(await read(sub, 2), ["1", "3"]);
  await peer.until(`RSUB:t:c:${at(3)}`); // not behind the gap
});

test("a full queue that ends", async (t) => {
  const edge = await historyEdge(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const sub = await begin(client, peer, "now", [], { queue: 2, queuePolicy: "end" });
  peer.stored(1, 2, 3);
  assert.equal((await sub.ended)?.code, "queue_full");
  assert.deepEqual(await read(sub, 2), ["1", "2"]);
  await peer.until("UNSUB:t:c");
});

test("a move asks the next connection when the first one is left", async (t) => {
  const a = await historyEdge(t);
  const b = await historyEdge(t);
  const { client, event, events } = await tried(t, [a.url, b.url]);
  const [from, to] = client.edge === a.url ? [a, b] : [b, a];
  const first = await from.peer(0);
  const sub = await begin(client, first, "now", []);
  await client.subscribe("t", "d");
  first.stored(1);
  first.answers = (line) => line !== "UNSUB:t:d";
  first.send("RECONNECT");
  const next = await to.peer(0);
  await next.until("SUB:t:d");
  await first.until("UNSUB:t:d");
  first.stored(2, 3);
  next.stored(3); // no edge does that
  await client.subscribe("t", "e").catch(() => {});
  assert.deepEqual(rsubs(next), []);
  first.stored(4);
  first.answer("UNSUB:t:d");
  await next.until(`RSUB:t:c:${at(4)}`);
  first.stored(5);
  next.stored(5, 6);
  next.caughtUp(6);
  next.stored(7);
  assert.deepEqual(await read(sub, 7), ["1", "2", "3", "4", "5", "6", "7"]);
  await event("moved");
  assert.equal(
    events.all.some((e) => e.name === "gap" || e.name === "disconnected"),
    false,
  );
  assert.equal(first.lines.all.includes("UNSUB:t:c"), false);
});

test("a connection that takes over from a suspect one goes on behind it", async (t) => {
  const a = await historyEdge(t);
  const b = await historyEdge(t);
  const { client, event } = await tried(t, [a.url, b.url], { keepAlive: 100 });
  const [from, to] = client.edge === a.url ? [a, b] : [b, a];
  const first = await from.peer(0);
  const sub = await begin(client, first, "now", []);
  first.stored(1);
  assert.deepEqual(await read(sub, 1), ["1"]);
  first.answers = () => false;
  await event("suspect");
  const next = await to.peer(0);
  await event("recovered");
  await next.until(`RSUB:t:c:${at(1)}`);
  first.stored(2, 3);
  next.stored(2);
  next.caughtUp(2);
  next.stored(3);
  assert.deepEqual(await read(sub, 2), ["2", "3"]);
});
