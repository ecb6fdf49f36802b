// Back to WebTransport, and the trail of a connection: what their timers do.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { all } from "../src/all.js";
import type { Connection } from "../src/connection.js";
import type { Readers } from "../src/interests.js";
import type { Transport } from "../src/link.js";
import { move } from "../src/move.js";
import { MovingSession } from "../src/moving.js";
import { node } from "../src/node-runtime.js";
import { RacingDialer } from "../src/race.js";
import { web } from "../src/runtime.js";
import { Subscription } from "../src/subscription.js";
import { Trail } from "../src/trail.js";
import { Upgrade } from "../src/upgrade.js";
import { Edge } from "./edge.js";
import { recorder } from "./fixture.js";

type Conn = Connection<Readers>;
const MINUTE = 60_000;
const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await Promise.resolve();
};

/** A client at an edge, with only its way back: what it has tried, and what comes of it. */
function client(t: TestContext, transports: Transport[] = ["webtransport", "websocket"]) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(Math, "random", () => 0.5);
  // biome-ignore lint/suspicious/noExplicitAny: a browser's global
  const all = globalThis as any;
  all.WebTransport = class {};
  t.after(() => Reflect.deleteProperty(all, "WebTransport"));
  const it = {
    current: conn("websocket"),
    idle: true,
    settings: { transports, runtime: web },
    tried: 0,
    moves: 0,
    closed: 0,
    nexts: 0,
    opens: (): Promise<Conn> => Promise.reject(new Error("no")),
    searcher: {
      dialer: new RacingDialer({ runtime: web } as never),
      open(edge: string, _: AbortSignal, way: unknown): Promise<Conn> {
        assert.equal(edge, it.current.edge);
        assert.deepEqual(way, { transports: ["webtransport"] });
        it.tried++;
        return it.opens();
      },
    },
    run: () => it.moves++,
    moveIfDue: () => it.nexts++,
  };
  const way = new Upgrade(it as unknown as MovingSession);
  t.after(() => way.stop());
  const after = async (ms: number): Promise<number> => {
    t.mock.timers.tick(ms);
    await turns();
    return it.tried;
  };
  return { it, way, after };
}

const conn = (transport: Transport, edge = "https://a.example"): Conn => ({ transport, edge }) as Conn;

test("tries and their pauses", async (t) => {
  const { it, way, after } = client(t);
  way.follow(it.current);
  assert.equal(await after(5 * MINUTE - 1), 0);
  assert.equal(await after(1), 1);
  assert.equal(await after(10 * MINUTE - 1), 1);
  way.follow(it.current); // another connection: the pause stays
  assert.equal(await after(1), 2);
  it.opens = async () => ({ close: () => it.closed++ }) as unknown as Conn;
  it.idle = false;
  assert.equal(await after(20 * MINUTE), 2);
  it.idle = true; // what went on has ended
  assert.equal(await after(10_000), 3);
  assert.equal(it.moves, 1);

  // It is there, breaks within two minutes, and the pauses grow on.
  way.follow(conn("webtransport"));
  assert.equal(await after(2 * MINUTE - 1), 3);
  way.follow(it.current);
  assert.equal(await after(40 * MINUTE - 1), 3);
  assert.equal(await after(1), 4);

  // It was a good one.
  way.follow(conn("webtransport"));
  assert.equal(await after(2 * MINUTE), 4);
  way.follow(it.current);
  assert.equal(await after(5 * MINUTE), 5);
});

test("a change of the network", async (t) => {
  const { it, way, after } = client(t);
  way.follow(it.current);
  way.soon();
  assert.equal(await after(999), 0);
  assert.equal(await after(1), 1);
  way.stop();
  assert.equal(await after(60 * MINUTE), 1);
});

test("many changes of the network: a try has its time, and does not count", async (t) => {
  const { it, way, after } = client(t);
  way.follow(it.current);
  let fail!: () => void;
  it.opens = () =>
    new Promise((_, reject) => {
      fail = () => reject(new Error("no"));
    });
  way.soon();
  await after(1000);
  for (let i = 0; i < 20; i++) {
    way.soon();
    await after(3000);
  }
  assert.deepEqual([it.tried, it.nexts], [1, 0]);
  fail();
  await turns();
  assert.equal(await after(10_000), 2);
  fail();
  await turns();
  assert.equal(it.nexts, 2);
  assert.equal(await after(5 * MINUTE - 1), 2, "the pause is that before the first");
  assert.equal(await after(1), 3);
});

test("something else goes on when it is there", async (t) => {
  const { it, way, after } = client(t);
  it.opens = async () => {
    it.idle = false; // a drain
    return { close: () => it.closed++ } as unknown as Conn;
  };
  way.follow(it.current);
  await after(5 * MINUTE);
  assert.deepEqual([it.tried, it.moves, it.closed], [1, 0, 1]);
});

test("no tries", async (t) => {
  for (const transports of [["websocket"], ["websocket", "webtransport"]] as Transport[][]) {
    const { it, way, after } = client(t, transports);
    way.follow(it.current);
    way.soon();
    assert.equal(await after(60 * MINUTE), 0);
    t.mock.reset();
  }
  const { it, way, after } = client(t);
  it.current = conn("websocket", "http://localhost");
  way.follow(it.current);
  assert.equal(await after(60 * MINUTE), 0);
});

/** start gives a session at an edge with a subscription, and another connection to move to. */
async function start(t: TestContext) {
  const edge = await Edge.start(t);
  const { events, on, event } = recorder();
  const session = new MovingSession([new URL(edge.url)], { token: "AT_1", on }, node, all);
  const { signal } = new AbortController();
  await session.start(signal);
  t.after(() => session.finish(undefined));
  const first = await edge.peer(0);
  await session.subscriber.subscribe(
    new Subscription("t", "c", session.subscriber, {
      onMessage() {},
      queue: 16,
      queuePolicy: "drop-oldest",
      history: undefined,
      echo: true,
    }),
  );
  const open = (): Promise<Conn> => session.searcher.open(edge.url, signal);
  return { edge, session, first, open, event, events };
}

test("the move to a connection that is ready", async (t) => {
  const { edge, session, first, open, event } = await start(t);
  const from = session.current as Conn;
  const to = await open();
  session.run((signal) => move(session, from, "transport", signal, to));
  assert.equal((await event("moving")).reason, "transport");
  assert.equal((await event("moved")).reason, "transport");
  assert.equal(session.current, to);
  assert.ok((await edge.peer(1)).lines.all.includes("SUB:t:c"));
  await first.closed.until(() => true);
});

test("a connection that is ready, and is lost before the first is left: the client stays, untold", async (t) => {
  const { edge, session, first, open, events } = await start(t);
  const from = session.current as Conn;
  const to = await open();
  edge.refusal = { status: 401, code: "unauthorized" };
  session.run((signal) => move(session, from, "transport", signal, to));
  await first.until("PING");
  (await edge.peer(1)).kill();
  while (!session.idle) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(session.current, from);
  assert.deepEqual([session.gate, session.next, edge.refused], [undefined, undefined, 0]);
  assert.deepEqual(
    events.all.map(({ name }) => name).filter((name) => name !== "roundTrip"),
    ["connected"],
  );
  await session.publishConnection().ping();
});

test("the first is lost before it is left: the one that is ready leads", async (t) => {
  const { edge, session, first, open, event, events } = await start(t);
  const from = session.current as Conn;
  const to = await open();
  session.run((signal) => move(session, from, "transport", signal, to));
  await first.until("PING");
  first.kill();
  assert.deepEqual(await event("moving"), {
    name: "moving",
    edge: edge.url,
    transport: "websocket",
    reason: "transport",
  });
  await event("moved");
  assert.equal(session.current, to);
  assert.ok(!events.all.some(({ name }) => name === "disconnected"));
});

test("a connection that is ready and says nothing: the client stays, and no drain is forgotten", async (t) => {
  const { edge, session, first, open, event, events } = await start(t);
  const from = session.current as Conn;
  edge.answers = () => false;
  const to = await open();
  session.run((signal) => move(session, from, "transport", signal, to));
  const second = await edge.peer(1);
  await second.until("SUB:t:c");
  edge.answers = () => true;
  first.send("RECONNECT");
  await second.closed.until(() => true);
  assert.equal(session.current, from);
  assert.equal((await event("moving")).reason, "drain");
  await event("moved");
  assert.ok(!events.all.some((e) => e.name === "disconnected"));
});

test("a trail ends after 15 s", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let closed = 0;
  let done = 0;
  const c = { alive: true, handTo() {}, close: async () => closed++ } as unknown as Conn;
  new Trail(
    c,
    [],
    () => {},
    () => done++,
  );
  t.mock.timers.tick(14_999);
  assert.equal(closed, 0);
  t.mock.timers.tick(1);
  assert.deepEqual([closed, done], [1, 1]);

  // What brings something goes on, for a minute.
  let time = performance.now();
  const clock = t.mock.method(performance, "now", () => time);
  new Trail(
    { ...c, lastByte: time + 10_000 } as Conn,
    [],
    () => {},
    () => done++,
  );
  for (const left of [15_000, 9999]) {
    time += left;
    t.mock.timers.tick(left);
  }
  assert.equal(closed, 1);
  time += 1;
  t.mock.timers.tick(1);
  assert.equal(closed, 2);
  new Trail(
    { ...c, lastByte: Infinity } as Conn,
    [],
    () => {},
    () => done++,
  );
  for (const left of [15_000, 44_999]) {
    time += left;
    t.mock.timers.tick(left);
  }
  assert.equal(closed, 2);
  time += 1;
  t.mock.timers.tick(1);
  assert.deepEqual([closed, done], [3, 3]);
  clock.mock.restore();

  const trail = new Trail(
    c,
    [],
    () => {},
    () => done++,
  );
  const next = new Trail(
    c,
    [],
    () => {},
    () => done++,
    trail,
  );
  assert.equal(closed, 4, "one at most");
  await next.stop();
  t.mock.timers.tick(60_000);
  assert.equal(done, 3);
});
