// Sleep, changes of the network, and the way back to WebTransport.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sleep } from "../src/timers.js";
import { pauseBefore } from "../src/upgrade.js";
import { isSleep, look, watchSleep } from "../src/wake.js";
import { Edge } from "./edge.js";
import { tried } from "./fixture.js";

test("what a sleep is", () => {
  const cases: [passed: number, days: number, want: boolean][] = [
    [1000, 1000, false],
    [2999, 2999, false],
    [3000, 3000, true], // a timer that is 2 s late
    [1000, 2999, false],
    [1000, 3000, true], // the clock of the day has run ahead
    [1000, -60_000, false], // set back
    [2, 2002, true],
  ];
  for (const [passed, days, want] of cases) assert.equal(isSleep(passed, days), want, `${passed} ${days}`);
});

/** clocks makes both clocks stand where `at` says, but not the timers. */
function clocks(t: TestContext): { forward(ms: number): void; day(ms: number): void } {
  const real = performance.now.bind(performance);
  const today = Date.now.bind(Date);
  let more = 0;
  let days = 0;
  t.mock.method(performance, "now", () => real() + more);
  t.mock.method(Date, "now", () => today() + more + days);
  return {
    forward: (ms) => {
      more += ms;
    },
    day: (ms) => {
      days += ms;
    },
  };
}

test("what is read after a sleep came before it: away", async (t) => {
  const clock = clocks(t);
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const read = new Promise((resolve) => void client.subscribe("t", "c", { onMessage: resolve }));
  await peer.until("SUB:t:c");
  clock.forward(3200); // and nothing has run: the timers are as late
  peer.deliver("from before");
  await read;
  look();
  peer.kill();
  const { away } = await event("reconnected");
  assert.ok(away >= 3200, `away ${away}`);
});

test("all are told, while they are there", (t) => {
  const clock = clocks(t);
  const told: string[] = [];
  const sleeper = (name: string) => ({ slept: () => told.push(name), networkChanged() {} });
  const leave = [watchSleep(sleeper("a")), watchSleep(sleeper("b"))];
  look();
  clock.day(3000);
  look();
  look();
  assert.deepEqual(told, ["a", "b"]);
  leave[0]?.();
  clock.forward(3000);
  look();
  assert.deepEqual(told, ["a", "b", "b"]);
  leave[1]?.();
  leave[1]?.();
  clock.forward(3000);
  look();
  assert.equal(told.length, 3);
});

/** page gives this process what a page has, to report its network and whether it is seen. */
function page(t: TestContext) {
  const all = globalThis as unknown as { document: unknown; addEventListener: unknown; removeEventListener: unknown };
  const events = new EventTarget();
  const document = Object.assign(new EventTarget(), { visibilityState: "hidden" });
  all.document = document;
  all.addEventListener = events.addEventListener.bind(events);
  all.removeEventListener = events.removeEventListener.bind(events);
  t.after(() => {
    for (const name of ["document", "addEventListener", "removeEventListener"]) Reflect.deleteProperty(all, name);
  });
  return { events, document };
}

test("what a page tells", (t) => {
  const { events, document } = page(t);
  const told: string[] = [];
  const leave = watchSleep({ slept: () => told.push("slept"), networkChanged: () => told.push("network") });
  document.dispatchEvent(new Event("visibilitychange"));
  assert.deepEqual(told, []);
  document.visibilityState = "visible";
  document.dispatchEvent(new Event("visibilitychange"));
  document.dispatchEvent(new Event("resume"));
  events.dispatchEvent(new Event("pageshow"));
  events.dispatchEvent(new Event("online"));
  assert.deepEqual(told, ["slept", "slept", "slept", "network"]);
  leave();
  events.dispatchEvent(new Event("online"));
  assert.equal(told.length, 4);
});

test("a connection that reports each guess of its speed: another type is a change of the network", (t) => {
  page(t);
  const connection = Object.assign(new EventTarget(), { type: "wifi" as string | undefined });
  const before = Object.getOwnPropertyDescriptor(globalThis, "navigator");
  Object.defineProperty(globalThis, "navigator", { value: { connection }, configurable: true });
  t.after(() => {
    if (before) Object.defineProperty(globalThis, "navigator", before);
    else Reflect.deleteProperty(globalThis, "navigator");
  });
  let told = 0;
  const sleeper = { slept() {}, networkChanged: () => told++ };
  const change = (type: string | undefined): number => {
    connection.type = type;
    connection.dispatchEvent(new Event("change"));
    return told;
  };
  const leave = watchSleep(sleeper);
  assert.deepEqual([change("wifi"), change("cellular"), change("cellular"), change("wifi")], [0, 1, 1, 2]);
  leave();
  assert.equal(change("cellular"), 2);
  connection.type = undefined; // most browsers do not tell it
  t.after(watchSleep(sleeper));
  assert.equal(change(undefined), 2);
});

test("a client that slept asks at once", async (t) => {
  const edge = await Edge.start(t);
  const clock = clocks(t);
  const { client } = await tried(t, edge.url, { keepAlive: 2 ** 31 - 1 });
  await client.flush(); // all that is on its way has come
  clock.forward(3_600_000); // within a second it is noticed
  await (await edge.peer(0)).until("PING", 1);
});

test("a change of the network: the client asks at once", async (t) => {
  const { events } = page(t);
  const edge = await Edge.start(t);
  const { client } = await tried(t, edge.url);
  await client.flush();
  events.dispatchEvent(new Event("online"));
  await (await edge.peer(0)).until("PING", 1);
});

test("a back-off ends when the client wakes", async (t) => {
  const edge = await Edge.start(t);
  const clock = clocks(t);
  const { event } = await tried(t, edge.url, { minBackOff: 2 ** 31 - 1, maxBackOff: 2 ** 31 - 1 });
  edge.refusal = { status: 503, code: "draining" };
  (await edge.peer(0)).kill();
  await event("reconnecting", 1);
  edge.refusal = undefined;
  clock.day(60_000);
  await event("reconnected");
});

test("a sleep that is ended early, and one that is not", async () => {
  const early = new Set<() => void>();
  const { signal } = new AbortController();
  const sleeping = sleep(2 ** 31 - 1, signal, early);
  for (const go of early) go();
  await sleeping;
  await sleep(1, signal, early);
  assert.equal(early.size, 0);
  await assert.rejects(sleep(1000, AbortSignal.abort(new Error("mine")), early), /mine/);
  assert.equal(early.size, 0);
});

test("pauses before tries of WebTransport", () => {
  const minutes = (n: number, random: number): number => pauseBefore(n, random) / 60_000;
  assert.deepEqual([minutes(0, 0), minutes(0, 1)], [4, 6]);
  assert.deepEqual([minutes(1, 0), minutes(2, 1)], [8, 24]);
  assert.deepEqual([minutes(4, 0), minutes(40, 0.5)], [60, 60]);
});
