// When a connection asks, and when it counts as suspect and as lost.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Liveness } from "../src/liveness.js";
import { settings } from "../src/options.js";
import { reaches } from "../src/ping.js";
import { Rhythm } from "../src/rhythm.js";
import { Edge, Record } from "./edge.js";
import { Clock } from "./fixture.js";

test("a rhythm", () => {
  const r = new Rhythm(0);
  let time = 0;
  const every = (pause: number, times: number): boolean[] =>
    Array.from({ length: times }, () => {
      time += pause;
      return r.arrived(time);
    });
  every(0.125, 7);
  assert.equal(r.unusual, Infinity, "what comes at once is one arrival");
  assert.deepEqual(every(100, 4), [false, false, false, true], "four pauses are enough");
  assert.equal(r.unusual, 1000, "a second at least");
  every(900, 1);
  assert.equal(r.unusual, 2700);
  every(10, 500); // 5 s: a new bucket
  assert.equal(r.unusual, 2700, "of the bucket before");
  assert.ok(every(10, 1001).includes(true), "it may be shorter now");
  assert.equal(r.unusual, 1000, "forgotten");
  time += 8000;
  r.skip(time);
  assert.equal(r.unusual, 1000, "a pause that does not count");
  every(10_000, 1);
  assert.equal(r.unusual, 3000, "3 s at most");
  every(10_001, 1);
  assert.equal(r.unusual, Infinity, "a new one");
  every(2000, 3);
  assert.equal(r.unusual, Infinity);
  every(2000, 1);
  assert.equal(r.unusual, 3000);
});

interface Watched {
  watch: Liveness;
  did: Record<string>;
  /** What the connection has: its PINGs without an answer. */
  pings: { at: number; sendTime: number }[];
  eligible: boolean;
  unreadSince: number | undefined;
  owed: boolean;
}

/** watched makes a watch of a connection that notes what is asked of it. */
function watched(
  t: TestContext,
  options: { keepAlive?: number; pongTimeout?: number },
  pingFirst: string | undefined = undefined,
): Watched {
  const did = new Record<string>();
  const it: Watched = { did, pings: [], eligible: true, owed: false } as never;
  it.watch = new Liveness(
    {
      get unanswered() {
        return it.pings[0];
      },
      get unreadSince() {
        return it.unreadSince;
      },
      get owed() {
        return it.owed;
      },
      pingFirst,
      ask() {
        it.pings.push({ at: performance.now(), sendTime: 0 });
        did.add("ask");
        it.watch.probe();
        it.watch.arm();
      },
      probe: () => did.add("probe"),
      silent: () => {
        did.add("silent");
        return it.eligible;
      },
      woke: () => did.add("woke"),
      over() {
        did.add("over");
        it.watch.stop();
      },
    },
    settings({ token: "AT_a", ...options }),
  );
  t.after(() => it.watch.stop());
  return it;
}

const has = (text: string) => (other: string) => text === other;
const between = (n: number, least: number, most: number): void =>
  assert.ok(n > least - 0.01 && n < most + 0.01, `${n}`);

test("when to ask", (t) => {
  const it = watched(t, { keepAlive: 20_000 });
  const { watch } = it;
  const from = watch.heard;
  between(watch.askAt - from, 20_000, 21_250);
  let time = from;
  const after = (ms: number, active: boolean): void => {
    time += ms;
    watch.arrived(time);
    if (active) watch.active(time);
  };
  for (let i = 0; i < 5; i++) after(100, true);
  between(watch.askAt - time, 1000, 1063);
  for (let i = 0; i < 3; i++) {
    after(3100, false); // the answer alone: messages are expected
    watch.ponged(50);
    between(watch.askAt - time, 3000, 3188);
  }
  after(3100, false);
  between(watch.askAt - time, 20_000, 21_250); // they are not any more
  it.owed = true;
  between(watch.askAt - time, 3000, 3188);
  it.owed = false;
  it.unreadSince = time + 500;
  assert.equal(watch.askAt - time, 1500);
  it.unreadSince = undefined;
  after(10, true); // something else
  between(watch.askAt - time, 3000, 3188);
  after(11_000, true);
  between(watch.askAt - time, 20_000, 21_250);
  watch.stop();

  const never = watched(t, { keepAlive: -1 });
  never.unreadSince = 0;
  for (let i = 0; i < 5; i++) never.watch.arrived(never.watch.heard + 100);
  assert.equal(never.watch.askAt, Infinity);
});

test("clients do not ask in step", (t) => {
  const all = new Set(
    Array.from({ length: 20 }, () => {
      const { watch } = watched(t, { keepAlive: 20_000 });
      return watch.askAt - watch.heard;
    }),
  );
  assert.ok(all.size > 15);
});

test("when it is suspect, and when it is lost", (t) => {
  const { watch } = watched(t, { keepAlive: 20_000, pongTimeout: 5000 });
  const { heard } = watch;
  const ping = { at: heard + 3000, sendTime: 100 };
  const is = (time: number, want: number, why?: string): void => assert.equal(Math.round(time - heard), want, why);
  is(watch.suspectAt(ping), 4100, "a second");
  is(watch.lostAt(ping), 25_100, "as long as without an unusual silence");
  is(watch.lostAt({ at: heard + 30_000, sendTime: 0 }), 35_000);
  watch.arrived(heard + 3500);
  is(watch.suspectAt(ping), 4600, "nothing was heard since");
  for (let i = 0; i < 100; i++) watch.ponged(600);
  between(watch.suspectAt(ping) - heard, 4600, 4601);
  for (let i = 0; i < 100; i++) watch.ponged(i % 2 ? 300 : 900); // 600 and 4 times 300
  between(watch.suspectAt(ping) - heard, 5200, 5700);
  watch.ponged(0); // clocks of browsers are coarse
  assert.ok(watch.suspectAt(ping) - heard > 5000);
});

test("an answer that slept counts for little, slow ones are learnt", (t) => {
  const { watch } = watched(t, {});
  const ping = { at: watch.heard, sendTime: 0 };
  const wait = (): number => watch.suspectAt(ping) - ping.at;
  for (let i = 0; i < 10; i++) watch.ponged(50);
  watch.ponged(8000);
  assert.ok(wait() < 3000, `${wait()}`);
  for (let i = 0; i < 20; i++) watch.ponged(4000);
  assert.ok(wait() > 4000, `${wait()}`);
});

/** times counts how often something was done. */
const times = (it: Watched, what: string): number => it.did.all.filter(has(what)).length;

test("what is done in a silence", async (t) => {
  const clock = new Clock(t);
  const it = watched(t, { keepAlive: 100, pongTimeout: 3500 });
  it.eligible = false;
  it.watch.arm();
  await clock.until(() => times(it, "silent") === 1);
  it.eligible = true; // now a move has ended
  await clock.until(() => times(it, "silent") === 2);
  await clock.until(() => times(it, "probe") === 3);
  assert.equal(times(it, "silent"), 2, "told once");
  assert.equal(times(it, "ask"), 1, "asked once");
  it.watch.arrived(performance.now());
  assert.equal(it.did.all.at(-1), "woke");
  await clock.until(() => times(it, "over") === 1);
});

test("as long as it may not be suspect it looks once a second, and is lost in time", async (t) => {
  const clock = new Clock(t);
  const it = watched(t, { keepAlive: 1000, pongTimeout: 3000 });
  it.eligible = false;
  const set = t.mock.method(globalThis, "setTimeout");
  const from = it.watch.heard;
  it.watch.arm();
  await clock.until(() => times(it, "over") === 1);
  between(performance.now() - from, 4000, 4100);
  assert.ok(set.mock.callCount() < 50, `${set.mock.callCount()} timers`);
  assert.ok(times(it, "silent") <= 4);
});

test("something else takes long: what has come meanwhile is read before it is suspect", async (t) => {
  const clock = new Clock(t);
  const it = watched(t, { keepAlive: 100 });
  it.watch.arm();
  await clock.until(() => times(it, "ask") === 1);
  clock.late(1500);
  it.watch.arrived(performance.now()); // after timers, as what a socket brings
  await clock.pass(100);
  assert.equal(times(it, "silent"), 0);
  await clock.until(() => times(it, "silent") === 1); // now that it is silent
});

test("waking: it asks at once, and its time starts over, but not for ever", (t) => {
  let time = 100_000;
  t.mock.method(performance, "now", () => time);
  const it = watched(t, { keepAlive: 20_000, pongTimeout: 5000 });
  it.watch.awake(false);
  assert.deepEqual(it.did.all, [], "something came just now");
  it.watch.awake(true);
  assert.deepEqual(it.did.all, ["ask", "probe"], "always");
  it.pings.shift();
  it.watch.ponged(10);
  time += 60_000;
  it.watch.awake(false);
  assert.equal(it.did.all.filter(has("ask")).length, 2);
  const ping = it.pings[0] as { at: number; sendTime: number };
  assert.equal(it.watch.lostAt(ping), time + 25_000);
  for (const renewed of [true, true, false]) {
    time += 60_000;
    it.watch.awake(false);
    assert.equal(it.watch.suspectAt(ping) === time + 1000, renewed);
  }
  assert.equal(it.did.all.filter(has("ask")).length, 2, "one is on its way");

  const never = watched(t, { keepAlive: -1 });
  time += 60_000;
  never.watch.awake(true);
  assert.deepEqual(never.did.all, []);
});

test("whatever answers is reached", async (t) => {
  const edge = await Edge.start(t);
  edge.ping = 503;
  const { signal } = new AbortController();
  assert.equal(await reaches(`${edge.url}/ping`, settings({ token: "AT_a" }), signal), true);
  edge.stop();
  assert.equal(await reaches(`${edge.url}/ping`, settings({ token: "AT_a" }), signal), false);
});

/** network answers /ping as long as `up` says so, and refuses otherwise. */
function network(t: TestContext, up: () => boolean): void {
  t.mock.method(globalThis, "fetch", async () => {
    if (!up()) throw new TypeError("refused");
    return new Response(null, { status: 503 }); // any answer counts
  });
}

test("a fragile link: /ping before PING", async (t) => {
  const clock = new Clock(t);
  let up = true;
  network(t, () => up);
  const it = watched(t, { keepAlive: 100 }, "https://a.example/ping");
  it.watch.arm();
  await clock.until(() => times(it, "ask") === 1);
  assert.equal(times(it, "silent"), 0);
  await clock.until(() => times(it, "silent") === 1);
  const probes = times(it, "probe");
  up = false;
  await clock.pass(1500);
  assert.ok(times(it, "probe") - probes <= 1, "nothing is sent while it is suspect");
});

test("a fragile link: PING at once where something was sent", async (t) => {
  const clock = new Clock(t);
  network(t, () => false);
  const it = watched(t, { keepAlive: 20_000 }, "https://a.example/ping");
  it.unreadSince = performance.now();
  it.watch.arm();
  await clock.pass(1000);
  assert.equal(times(it, "ask"), 1);
});

test("a fragile link, and nothing answers /ping", async (t) => {
  const clock = new Clock(t);
  let up = false;
  network(t, () => up);
  const it = watched(t, { keepAlive: 100 }, "https://a.example/ping");
  const from = performance.now();
  it.watch.arm();
  await clock.until(() => times(it, "silent") === 1);
  between(performance.now() - from, 1000, 1100); // what came a second ago may come twice
  assert.deepEqual(it.did.all, ["silent"]);
  up = true;
  await clock.until(() => times(it, "ask") === 1); // now that it answers
});

test("a fragile link: something comes while /ping has no answer, and the next question is asked", async (t) => {
  let requests = 0;
  const server = createServer((_, response) => {
    if (++requests > 1) response.end(); // the first one hangs
  }).listen(0, "127.0.0.1");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, "listening");
  const it = watched(t, {}, `http://127.0.0.1:${(server.address() as AddressInfo).port}/ping`);
  it.watch.awake(true);
  await once(server, "request");
  it.watch.arrived(performance.now());
  it.watch.awake(true);
  await it.did.until(has("ask"));
  assert.equal(requests, 2);
  assert.ok(!it.did.all.includes("silent"));
});
