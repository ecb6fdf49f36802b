// @millrace/client/core: what it does without histories, presence and moves, and how an import adds them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { connect } from "../src/core-node.js";
import { Edge } from "./edge.js";
import { Clock, presenceEdge, recorder } from "./fixture.js";

test("what is not there names the import", async (t) => {
  const edge = await Edge.start(t);
  const client = await connect(edge.url, { token: "AT_1" });
  t.after(() => client.close());
  const lacks = (name: string) => ({ code: "bad_option", message: new RegExp(`import "@millrace/client/${name}"`) });
  await assert.rejects(client.subscribe("t", "c", { history: "now" }), lacks("history"));
  await assert.rejects(client.publish("t", "c", "", { confirm: true }), lacks("history"));
  await assert.rejects(connect(`${edge.url}/edges`, { token: "AT_1" }), lacks("moves"));
  const only = connect(edge.url, { token: "AT_1", transports: ["webtransport"] });
  await assert.rejects(only, lacks("webtransport"));
  await assert.rejects(client.join("t", "c"), lacks("presence"));
  await assert.rejects(client.presence("t", "c"), lacks("presence"));
});

test("an edge that drains: what was sent is handled, then the client reconnects", async (t) => {
  const [one, two] = [await Edge.start(t), await Edge.start(t)];
  const { on, event, events } = recorder();
  const client = await connect([one.url, two.url], { token: "AT_1", on });
  t.after(() => client.close());
  const [a, b] = client.edge === one.url ? [one, two] : [two, one];
  const first = await a.peer(0);
  const sub = await client.subscribe("t", "c");
  first.answers = (line) => line !== "PING";
  await client.publish("t", "c", "before");
  first.send("RECONNECT");
  await first.lines.until((line) => line === "PING");
  assert.equal(first.closed.all.length, 0);
  first.send("PONG");
  assert.equal((await event("disconnected")).error.code, "draining");
  assert.equal((await event("reconnected")).edge, b.url);
  assert.equal(events.all.filter(({ name }) => name === "publishUnknown").length, 0);
  (await b.peer(0)).deliver("after");
  for await (const m of sub) if (m.text() === "after") break;
});

test("another token: a new connection", async (t) => {
  const edge = await Edge.start(t);
  const { on, event } = recorder();
  let n = 0;
  const client = await connect(edge.url, { tokenProvider: () => `AT_${++n}`, on });
  t.after(() => client.close());
  await client.renewToken();
  await event("reconnected");
  assert.equal((await edge.peer(1)).token, "AT_2");
});

test("a silent edge is lost after keepAlive and pongTimeout", async (t) => {
  const edge = await Edge.start(t);
  const { on, event, events } = recorder();
  const client = await connect(edge.url, { token: "AT_1", keepAlive: 2000, pongTimeout: 1000, on });
  t.after(() => client.close());
  const first = await edge.peer(0);
  first.answers = () => false;
  await event("connected");
  const clock = new Clock(t);
  await client.publish("t", "c", ""); // it asks after a second
  await clock.until(() => events.all.some(({ name }) => name === "disconnected"));
  assert.equal((await event("disconnected")).error.code, "timeout");
  assert.equal(events.all.filter(({ name }) => name === "suspect").length, 0);
  assert.equal((await event("publishUnknown")).count, 1);
});

test("the imports add what they say", async (t) => {
  await import("../src/add/history.js");
  await import("../src/add/presence.js");
  await import("../src/add/moves.js");
  await import("../src/add/webtransport.js");
  const edge = await presenceEdge(t);
  edge.features = "FEATURES:link,presence,history";
  const { on, event } = recorder();
  const client = await connect(edge.url, { token: "AT_1", on });
  t.after(() => client.close());
  const first = await edge.peer(0);
  const subscribed = client.subscribe("t", "c", { history: "now" });
  await first.lines.until((line) => line === "RSUB:t:c:now");
  first.caughtUp(1);
  await subscribed;
  await client.join("t", "c");
  first.send("RECONNECT");
  await event("moved");
});
