import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, Message } from "@millrace/client";
import { createStore, keyOf } from "../src/store.js";
import { nothingYet } from "../src/topic.js";
import { createView } from "../src/view.js";

// A client that notes what it is asked for, and whose messages come from the test.
function fake() {
  const lines: string[] = [];
  const told = new Map<string, (event: object) => void>();
  let give: ((message: Message) => void) | undefined;
  const client = {
    ...{ edge: "https://a.example", transport: "websocket", rtt: undefined, closed: new Promise(() => undefined) },
    limited: false,
    on: (event: string, handler: (event: object) => void) => {
      told.set(event, handler);
      return () => told.delete(event);
    },
    publish: async () => undefined,
    flush: async () => undefined,
    async subscribe(_: string, pattern: string, { onMessage }: { onMessage: typeof give }) {
      lines.push(`SUB ${pattern}`);
      give = onMessage;
      const unsubscribe = async (): Promise<void> => void lines.push(`UNSUB ${pattern}`);
      return { ended: new Promise(() => undefined), unsubscribe };
    },
  } as unknown as Client;
  const send = (text: string, channel = "c"): void => give?.({ channel, late: false, text: () => text } as Message);
  const limit = (now: boolean): void => {
    Object.assign(client, { limited: now });
    if (now) told.get("limited")?.({ direction: "in", delay: 3000 });
  };
  return { client, lines, send, limit, told };
}

const view = (limit = 100) =>
  createView<string, { text: string; skipped: number }>(
    {
      start: () => "",
      add: (all, message) => all + message.text(),
      show: (text, _, skipped) => ({ text, skipped }),
    },
    limit,
    nothingYet,
  );

const none = { connect: { token: "AT_1" }, linger: 10 };
const wanted = { tenant: "t", pattern: "c", history: undefined };
const settled = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await null;
};

test("what a component shows is kept until it is mounted", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, lines, send } = fake();
  const store = createStore(client, none);
  store.retain();
  const leave = store.join(wanted, view(), () => undefined);
  await settled();
  send("1");
  t.mock.timers.tick(50);
  leave();
  const next = view();
  store.show(keyOf(wanted), next); // it is rendered
  assert.equal(next.read().text, "1");
  t.mock.timers.tick(4000);
  await settled();
  const leaveNext = store.join(wanted, next, () => undefined);
  send("2");
  t.mock.timers.tick(50);
  assert.equal(next.read().text, "12");
  assert.deepEqual(lines, ["SUB c"]);
  leaveNext();
  store.show(keyOf(wanted), view()); // and this one is never mounted
  t.mock.timers.tick(5000);
  await settled();
  assert.deepEqual(lines, ["SUB c", "UNSUB c"]);
});

test("a view that was away goes on where it was, or begins again where messages are gone", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, send } = fake();
  const store = createStore(client, none);
  store.retain();
  store.join(wanted, view(3), () => undefined);
  await settled();
  const own = view(3);
  const read = (): unknown[] => [own.read().text, own.read().skipped];
  let leave = store.join(wanted, own, () => undefined);
  for (const text of ["1", "2", "3", "4"]) send(text);
  leave();
  send("5");
  leave = store.join(wanted, own, () => undefined);
  t.mock.timers.tick(50);
  assert.deepEqual(read(), ["12345", 0]);
  leave();
  for (let n = 0; n < 100; n++) send("x");
  t.mock.timers.tick(50); // keeps the newest three
  send("6");
  store.join(wanted, own, () => undefined);
  t.mock.timers.tick(50);
  assert.deepEqual(read(), ["xxx6", 102]);
});

test("with the history last, who comes later gets the newest message of each channel", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, send } = fake();
  const store = createStore(client, none);
  store.retain();
  const last = { tenant: "t", pattern: "*", history: "last" as const };
  store.join(last, view(1), () => undefined);
  await settled();
  for (const [text, channel] of [
    ["1", "a"],
    ["2", "b"],
    ["3", "b"],
    ["4", "c"],
  ] as const)
    send(text, channel);
  t.mock.timers.tick(50);
  const own = view(1);
  store.show(keyOf(last), own);
  assert.equal(own.read().text, "134");
});

test("the connection is limited until a minute after the edge has last said so", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { client, limit, told } = fake();
  const store = createStore(client, none);
  const release = store.retain();
  await settled();
  const after = (ms: number): boolean => {
    t.mock.timers.tick(ms);
    t.mock.timers.tick(50); // components are told
    return store.connection().limited;
  };
  assert.equal(after(0), false);
  limit(true);
  assert.equal(after(0), true);
  assert.equal(after(50_000), true);
  limit(true);
  assert.equal(after(50_000), true);
  limit(false); // the client's minute is over
  assert.equal(after(11_000), false);
  release();
  after(none.linger);
  assert.deepEqual([...told], []);
});
