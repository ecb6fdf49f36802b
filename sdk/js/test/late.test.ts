import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Late } from "../src/late.js";
import { Merger } from "../src/merger.js";
import { keyOf, type Moved } from "../src/shelf.js";

const m = (text: string): Moved<string> => ({
  tenant: "t",
  channel: "c",
  payload: new TextEncoder().encode(text),
  route: "r",
  sender: "",
});
const textOf = ({ payload }: Moved<string>): string => new TextDecoder().decode(payload);

// A step: who brings what, at which time.
type Step = ["lead" | "trailing", string, number?] | ["due", "", number];

function run(steps: Step[]): string[] {
  const late = new Late<string>([], 0);
  const given: string[] = [];
  for (const [kind, text, time = 0] of steps) {
    if (kind === "lead") {
      if (late.fromCurrent(m(text), time)) given.push(text);
    } else if (kind === "trailing") {
      const now = late.fromTrail(m(text), time);
      if (now) given.push(`${textOf(now)} late`);
    } else given.push(...late.due(time).map((other) => `${textOf(other)} late`));
  }
  return given;
}

const tables: { name: string; steps: Step[]; want: string[] }[] = [
  {
    name: "what the lead brought is dropped, however long ago",
    steps: [
      ["lead", "a"],
      ["trailing", "a", 14_000],
      ["due", "", 20_000],
    ],
    want: ["a"],
  },
  {
    name: "what it did not bring is late, in order, and after a second",
    steps: [
      ["trailing", "a", 0],
      ["trailing", "b", 500],
      ["due", "", 999],
      ["due", "", 1000],
      ["lead", "x", 1000],
      ["due", "", 1500],
    ],
    want: ["a late", "x", "b late"],
  },
  {
    name: "what the lead brings meanwhile is not late",
    steps: [
      ["trailing", "a", 0],
      ["lead", "a", 900],
      ["due", "", 2000],
    ],
    want: ["a"],
  },
  {
    name: "equal messages are counted",
    steps: [
      ["lead", "a"],
      ["lead", "a"],
      ["trailing", "a"],
      ["trailing", "a"],
      ["trailing", "a"],
      ["due", "", 1000],
    ],
    want: ["a", "a", "a late"],
  },
];
for (const { name, steps, want } of tables) {
  test(name, () => assert.deepEqual(run(steps), want));
}

test("too much waits: the oldest is given, and not again", () => {
  const late = new Late<string>([], 0);
  for (let i = 0; i < 65_536; i++) assert.equal(late.fromTrail(m(String(i)), 0), undefined);
  const given = late.fromTrail(m("one more"), 100);
  assert.equal(given && textOf(given), "0");
  assert.equal(late.fromCurrent(m("0"), 500), false);
  assert.equal(late.fromCurrent(m("0"), 500), true, "another one");
  const next = late.fromTrail(m("two more"), 600);
  assert.equal(next && textOf(next), "1");
  assert.equal(late.fromCurrent(m("1"), 1000), true, "a second later it is another one");
});

test("what was given before, and what waits already", () => {
  const before = new Late<string>([], 0);
  before.fromTrail(m("waits"), 500);
  before.fromCurrent(m("noted"), 500); // of the one before
  const late = new Late<string>([{ key: keyOf(m("given")) }], 1000, before);
  assert.equal(late.nextDue, 1500);
  late.fromTrail(m("given"), 1000);
  late.fromTrail(m("noted"), 1000);
  assert.deepEqual(late.due(1500).map(textOf), ["waits"]);
  assert.deepEqual(late.due(2000).map(textOf), ["noted"]);
  assert.equal(late.nextDue, undefined);
});

test("a second connection that has ended: what it brought stays, and counts", () => {
  const merger = new Merger<string>();
  merger.fromNext(m("a"), 0, false);
  merger.fromNext(m("b"), 500, false);
  merger.orphan();
  merger.fromNext(m("a"), 900, false); // the same
  merger.fromNext(m("c"), 900, false);
  merger.fromNext(m("b"), 1500, false); // a second later: another one
  assert.deepEqual(merger.release().map(textOf), ["a", "b", "c", "b"]);
});

test("the first connection is back: the pile is dropped, but what was given from it counts", () => {
  const merger = new Merger<string>();
  for (let i = 0; i <= 65_536; i++) merger.fromNext(m(String(i)), 0, false); // 0 is given
  assert.deepEqual(
    merger.given.map(({ key }) => key),
    [keyOf(m("0"))],
  );
  merger.keepCurrent(5000);
  assert.equal(merger.behind, 0);
  assert.ok(merger.late(m("0"), 5500));
  assert.ok(!merger.late(m("1"), 5500));
  assert.ok(merger.done(5500));
});

test("the pile is too full, and the first connection brings the same: it is given once", () => {
  const merger = new Merger<string>();
  for (let i = 0; i <= 65_536; i++) merger.fromNext(m(String(i)), 0, false);
  assert.equal(merger.fromCurrent(m("0"), 0), false);
  assert.equal(merger.fromCurrent(m("1"), 0), true);
});

test("what is gone takes no memory", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc");
  const used = (): number => {
    gc();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const large = (): Moved<string> => ({ ...m(""), payload: new Uint8Array(256 << 10).fill(97) });
  const before = used();

  const notes = new Late<string>([], 0);
  for (let i = 0; i < 400; i++) notes.fromCurrent(large(), i);
  const both = new Late<string>([], 0);
  both.fromCurrent(m("the oldest stays"), 0);
  both.fromTrail(m("so does this"), 0);
  for (let i = 0; i < 400; i++) {
    both.fromCurrent(large(), i);
    both.fromTrail(large(), i);
  }
  const more = used() - before; // of 16 MiB of notes; all of it is 300 MiB
  assert.ok(more < 64 << 20, `${more >> 20} MiB`);
  assert.equal(notes.nextDue, undefined);
  assert.equal(both.nextDue, 1000);
});

test("many come and go behind one that stays", () => {
  const late = new Late<string>([], 0);
  late.fromTrail(m("stays"), 0);
  for (let i = 0; i < 200_000; i++) {
    late.fromTrail(m(String(i)), 0);
    late.fromCurrent(m(String(i)), 0);
  }
  late.fromTrail(m("and the last"), 0);
  assert.deepEqual(late.due(1000).map(textOf), ["stays", "and the last"]);
});
