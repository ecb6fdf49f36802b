import assert from "node:assert/strict";
import { test } from "node:test";
import { MillraceError } from "../src/errors.js";
import { Message } from "../src/message.js";
import type { QueuePolicy } from "../src/options.js";
import { Queue } from "../src/queue.js";
import { type Keeper, Subscription } from "../src/subscription.js";

const message = (text: string): Message => new Message("t", "c", new TextEncoder().encode(text), "c", ["c"], false);

function make(queuePolicy: QueuePolicy, queue = 2) {
  const told: number[] = [];
  let left = 0;
  const keeper: Keeper = {
    leave: async () => {
      left++;
      return 0;
    },
    queueFull: (_, dropped) => void told.push(dropped),
    discarded: () => {},
    wasRead: () => {},
    drain: async () => {},
    took: () => {},
  };
  const sub = new Subscription("t", "c", keeper, {
    onMessage: undefined,
    queue,
    queuePolicy,
    history: undefined,
    echo: true,
  });
  return { sub, told, left: () => left };
}

async function drain(sub: Subscription, n: number): Promise<string[]> {
  const got: string[] = [];
  const it = sub[Symbol.asyncIterator]();
  while (got.length < n) {
    const { value, done } = await it.next();
    if (done) break;
    got.push(value.text());
  }
  return got;
}

test("a queue keeps its order while it grows and turns", () => {
  const queue = new Queue<number>(100);
  let put = 0;
  let taken = 0;
  for (let round = 0; round < 50; round++) {
    for (let i = 0; i < 7 && !queue.full; i++) queue.push(put++);
    for (let i = 0; i < 5; i++) assert.equal(queue.shift(), taken++);
  }
  while (!queue.full) queue.push(put++);
  assert.equal(put - taken, 100);
  while (taken < put) assert.equal(queue.shift(), taken++);
  assert.equal(queue.shift(), undefined);
});

test("drop-oldest", async () => {
  const { sub, told } = make("drop-oldest");
  for (const text of ["a", "b", "c", "d"]) sub.push(message(text));
  assert.deepEqual(await drain(sub, 2), ["c", "d"]);
  sub.end(undefined);
  assert.deepEqual(told, [2]);
});

test("drop-newest", async () => {
  const { sub, told } = make("drop-newest");
  for (const text of ["a", "b", "c", "d"]) sub.push(message(text));
  assert.deepEqual(await drain(sub, 2), ["a", "b"]);
  sub.end(undefined);
  assert.deepEqual(told, [2]);
});

test("end", async () => {
  const { sub, left } = make("end");
  for (const text of ["a", "b", "c", "d"]) sub.push(message(text));
  const got: string[] = [];
  await assert.rejects(
    async () => {
      for await (const m of sub) got.push(m.text());
    },
    { code: "queue_full", tenant: "t", pattern: "c" },
  );
  assert.deepEqual(got, ["a", "b"]);
  assert.equal((await sub.ended)?.code, "queue_full");
  assert.equal(left(), 1);
});

test("queueFull is told at most once a second", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let clock = 0;
  t.mock.method(performance, "now", () => clock);
  const { sub, told } = make("drop-oldest", 1);
  const drop = (n: number): void => {
    for (let i = 0; i < n; i++) sub.push(message("x"));
  };
  const pass = (ms: number): void => {
    clock += ms;
    t.mock.timers.tick(ms);
  };
  drop(4);
  pass(1);
  assert.deepEqual(told, [3]);
  drop(5);
  pass(998);
  assert.deepEqual(told, [3]);
  drop(5);
  pass(2);
  assert.deepEqual(told, [3, 10]);
  pass(5000);
  assert.deepEqual(told, [3, 10]);
});

test("what is read when the end comes by an error: the queue, then the error, then nothing", async () => {
  const { sub } = make("drop-oldest");
  sub.push(message("a"));
  sub.end(new MillraceError("token_revoked"));
  sub.push(message("b"));
  const it = sub[Symbol.asyncIterator]();
  assert.equal((await it.next()).value?.text(), "a");
  await assert.rejects(it.next(), { code: "token_revoked" });
  assert.equal((await it.next()).done, true);
});

test("unsubscribe ends what waits, and drops what is queued", async () => {
  const { sub, left } = make("drop-oldest");
  const waits = sub[Symbol.asyncIterator]().next();
  await sub.unsubscribe();
  assert.equal((await waits).done, true);
  assert.equal(await sub.ended, undefined);
  assert.equal(left(), 1);
});

test("break unsubscribes", async () => {
  const { sub, left } = make("drop-oldest");
  sub.push(message("a"));
  sub.push(message("b"));
  for await (const m of sub) {
    assert.equal(m.text(), "a");
    break;
  }
  assert.equal(left(), 1);
  assert.deepEqual(await drain(sub, 1), []);
});

test("a subscription with a callback cannot be iterated", () => {
  const keeper: Keeper = {
    leave: async () => 0,
    queueFull: () => {},
    discarded: () => {},
    wasRead: () => {},
    drain: async () => {},
    took: () => {},
  };
  const got: string[] = [];
  const sub = new Subscription("t", "c", keeper, {
    onMessage: (m) => void got.push(m.text()),
    queue: 1,
    queuePolicy: "end",
    history: undefined,
    echo: true,
  });
  for (const text of ["a", "b", "c"]) sub.push(message(text));
  assert.deepEqual(got, ["a", "b", "c"]);
  assert.throws(() => sub[Symbol.asyncIterator](), { code: "bad_option" });
});
