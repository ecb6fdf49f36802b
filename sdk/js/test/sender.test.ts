import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Message } from "../src/message.js";
import { connect } from "../src/node.js";
import { Edge, Record } from "./edge.js";
import { type Tried, tried } from "./fixture.js";

const ASKED = "FEATURES:link,work_queue,own,reasons";
const KNOWS = "FEATURES:link,sender,history";

/** listen subscribes to t:c, and records each message as `sender: text`. */
async function listen({ client }: Tried, history?: "now"): Promise<Record<string>> {
  const got = new Record<string>();
  await client.subscribe("t", "c", { history, onMessage: (m: Message) => got.add(`${m.sender}: ${m.text()}`) });
  return got;
}

const has = (text: string) => (other: string) => text === other;

async function start(t: TestContext, features: string, sender?: boolean) {
  const edge = await Edge.start(t);
  edge.features = features;
  const it = await tried(t, edge.url, { sender });
  return { it, peer: await edge.peer(0) };
}

test("messages say who has published them", async (t) => {
  const { it, peer } = await start(t, KNOWS, true);
  const got = await listen(it);
  assert.equal(peer.asked, `${ASKED},sender`);
  peer.deliverFrom("alice", "1");
  peer.deliverFrom("Zoë", "2");
  peer.deliverFrom("", "3");
  peer.deliver("4"); // it was in the queue before
  await got.until(has(": 4"));
  assert.deepEqual(got.all, ["alice: 1", "Zoë: 2", ": 3", ": 4"]);
});

test("stored ones do, too", async (t) => {
  const { it, peer } = await start(t, KNOWS, true);
  peer.answers = (line) => (line.startsWith("RSUB") ? "OK:RSUB:t:c:0000000000000abc.0.1700000000000:complete" : true);
  const got = await listen(it, "now");
  peer.deliverFrom("alice", "1", 1);
  peer.stored(2);
  await got.until(has(": 2"));
  assert.deepEqual(got.all, ["alice: 1", ": 2"]);
});

for (const [name, features, sender] of [
  ["without the option nobody asks", KNOWS, undefined],
  ["false is the default", KNOWS, false],
  ["an edge that does not know it", "FEATURES:link", true],
  ["an edge of the first version", "ERR:bad_request", true],
] as const) {
  test(`the sender is empty: ${name}`, async (t) => {
    const { it, peer } = await start(t, features, sender);
    const got = await listen(it);
    assert.equal(peer.asked, sender ? `${ASKED},sender` : ASKED);
    peer.deliver("1");
    await got.until(has(": 1"));
  });
}

for (const knows of ["the first", "the second"]) {
  test(`a move, of whose edges only ${knows} knows the sender: copies are recognised`, async (t) => {
    const edges = [await Edge.start(t), await Edge.start(t)] as const;
    const it = await tried(
      t,
      edges.map((edge) => edge.url),
      { sender: true },
    );
    const [a, b] = it.client.edge === edges[0].url ? edges : [edges[1], edges[0]];
    const got = await listen(it);
    const first = await a.peer(0);
    first.answers = (line) => line === "PING";
    first.send("RECONNECT");
    const second = await b.peer(0);
    await second.until("SUB:t:c");
    assert.equal(second.asked, `${ASKED},sender`);
    const [knowing, other] = knows === "the first" ? [first, second] : [second, first];
    const both = (text: string): void => {
      knowing.deliverFrom("alice", text);
      other.deliver(text);
    };
    both("1");
    await first.until("UNSUB:t:c");
    both("2");
    first.send("OK:UNSUB:t:c");
    await it.event("moved");
    second.deliverFrom("bob", "3");
    await got.until(has("bob: 3"));
    assert.deepEqual(
      got.all.map((line) => line.replace(/.*: /, "")),
      ["1", "2", "3"],
    );
    assert.equal(got.all[0], knows === "the first" ? "alice: 1" : ": 1", "the copy of the first is given");
  });
}

test("after a loss, the next connection asks again", async (t) => {
  const edge = await Edge.start(t);
  edge.features = KNOWS;
  const it = await tried(t, edge.url, { sender: true });
  const got = await listen(it);
  (await edge.peer(0)).kill();
  await it.event("reconnected");
  const second = await edge.peer(1);
  assert.equal(second.asked, `${ASKED},sender`);
  second.deliverFrom("alice", "1");
  await got.until(has("alice: 1"));
});

test("an invalid value", async () => {
  for (const sender of ["yes", 1, null]) {
    const options = { token: "AT_1", sender: sender as never };
    await assert.rejects(connect("http://127.0.0.1:1", options), { code: "bad_option" });
  }
});

test("to read a sender without the option is said once", async (t) => {
  const edge = await Edge.start(t);
  const said: string[] = [];
  const client = await connect(edge.url, { token: "AT_1", logger: { warn: (text) => void said.push(text) } });
  t.after(() => client.close());
  const got = new Record<string>();
  await client.subscribe("t", "c", { onMessage: (m) => got.add(m.sender + m.sender + m.text()) });
  const peer = await edge.peer(0);
  peer.deliver("a");
  peer.deliver("b");
  await got.until(has("b"));
  assert.equal(said.length, 1);
  assert.match(said[0] as string, /message\.sender is empty: .* sender: true/);
});
