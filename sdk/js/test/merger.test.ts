import assert from "node:assert/strict";
import { test } from "node:test";
import { Merger, type Moved } from "../src/merger.js";

type M = Moved<string>;
const m = (text: string, channel = "c", tenant = "t"): M => ({
  tenant,
  channel,
  payload: new TextEncoder().encode(text),
  route: "r",
  sender: "",
});
const textOf = ({ payload }: M): string => new TextDecoder().decode(payload);

// A step: who brings what, at which time.
type Step =
  | ["first", string, number?]
  | ["second", string, number?]
  | ["unknown", string, number?] // of a pattern that the first does not have
  | ["release"]
  | ["joined", "", number]
  | ["left", "", number]
  | ["late", string, number?];

function run(steps: Step[]): string[] {
  const merger = new Merger<string>();
  const given: string[] = [];
  for (const [kind, text = "", time = 0] of steps) {
    const message = m(text);
    if (kind === "first") {
      merger.fromCurrent(message, time);
      given.push(text);
    } else if (kind === "release") given.push(...merger.release().map(textOf));
    else if (kind === "joined") merger.joined(time);
    else if (kind === "left") merger.left(time);
    else if (kind === "late") {
      if (!merger.late(message, time)) given.push(text);
    } else {
      const now = merger.fromNext(message, time, kind === "unknown");
      if (now) given.push(textOf(now));
    }
  }
  return given;
}

const tables: { name: string; steps: Step[]; want: string[] }[] = [
  {
    name: "the second one behind",
    steps: [["first", "a"], ["second", "a"], ["first", "b"], ["second", "b"], ["release"]],
    want: ["a", "b"],
  },
  {
    name: "the second one ahead",
    steps: [["second", "a"], ["second", "b"], ["first", "a"], ["first", "b"], ["release"]],
    want: ["a", "b"],
  },
  {
    name: "what the first never brings comes at the end, in order",
    steps: [
      ["second", "a"],
      ["second", "x"],
      ["second", "b"],
      ["second", "y"],
      ["first", "a"],
      ["first", "b"],
      ["release"],
    ],
    want: ["a", "b", "x", "y"],
  },
  {
    name: "equal messages are counted",
    steps: [["first", "a"], ["first", "a"], ["second", "a"], ["second", "a"], ["second", "a"], ["release"]],
    want: ["a", "a", "a"],
  },
  {
    name: "equal messages in the pile are counted, too",
    steps: [["second", "a"], ["second", "a"], ["first", "a"], ["release"]],
    want: ["a", "a"],
  },
  {
    name: "a note is good for less than a second",
    steps: [["first", "a", 0], ["second", "a", 999], ["first", "b", 1000], ["second", "b", 2000], ["release"]],
    want: ["a", "b", "b"],
  },
  {
    name: "a pattern of the second alone is not held up",
    steps: [["second", "a"], ["unknown", "b"], ["release"]],
    want: ["b", "a"],
  },
  {
    name: "a note counts for it all the same",
    steps: [["first", "a"], ["unknown", "a"], ["release"]],
    want: ["a"],
  },
  {
    name: "notes count after the release",
    steps: [["first", "a"], ["release"], ["late", "a", 500], ["late", "a", 500]],
    want: ["a", "a"],
  },
  {
    name: "and are forgotten",
    steps: [["first", "a"], ["release"], ["late", "a", 1000]],
    want: ["a", "a"],
  },
  {
    name: "they are good for longer in a long move",
    steps: [
      ["first", "a", 0],
      ["joined", "", 0],
      ["second", "a", 3000],
      ["first", "b", 3000],
      ["first", "c", 3000],
      ["left", "", 3000],
      ["late", "b", 6999],
      ["late", "c", 7000],
    ],
    want: ["a", "b", "c", "c"],
  },
  {
    name: "but not for ever",
    steps: [
      ["joined", "", 0],
      ["first", "a", 60_000],
      ["first", "b", 60_000],
      ["second", "a", 69_999],
      ["second", "b", 70_000],
      ["release"],
    ],
    want: ["a", "b", "b"],
  },
  {
    name: "and not for another second one",
    steps: [["joined", "", 0], ["first", "a", 0], ["joined", "", 1000], ["second", "a", 1000], ["release"]],
    want: ["a", "a"],
  },
  {
    name: "empty payloads are messages",
    steps: [["first", ""], ["second", ""], ["second", ""], ["release"]],
    want: ["", ""],
  },
];
for (const { name, steps, want } of tables) {
  test(name, () => assert.deepEqual(run(steps), want));
}

test("tenant, channel and payload tell messages apart", () => {
  const merger = new Merger<string>();
  merger.fromCurrent(m("x", "c", "t"), 0);
  assert.ok(!merger.late(m("x", "d", "t"), 0));
  assert.ok(!merger.late(m("x", "c", "u"), 0));
  assert.ok(!merger.late(m("y", "c", "t"), 0));
  assert.ok(merger.late(m("x", "c", "t"), 0));
});

test("every byte counts", () => {
  const merger = new Merger<string>();
  const byte = (n: number): M => ({ ...m(""), payload: Uint8Array.of(n) });
  for (let n = 0; n < 256; n++) merger.fromCurrent(byte(n), 0);
  for (let n = 0; n < 256; n++) {
    assert.ok(merger.late(byte(n), 0), String(n));
    assert.ok(!merger.late(byte(n), 0), String(n));
  }
});

test("done", () => {
  const merger = new Merger<string>();
  assert.ok(merger.done(0));
  merger.fromCurrent(m("a"), 0);
  assert.ok(!merger.done(999));
  assert.ok(merger.done(1000));
});

test("bounds by number", () => {
  const merger = new Merger<string>();
  for (let i = 0; i <= 65_536; i++) merger.fromCurrent(m(String(i)), 0);
  assert.ok(!merger.late(m("0"), 0), "the oldest note is forgotten");
  assert.ok(merger.late(m("1"), 0));
  for (let i = 0; i < 65_536; i++) assert.equal(merger.fromNext(m(`p${i}`), 0, false), undefined);
  const given = merger.fromNext(m("one more"), 0, false);
  assert.equal(given && textOf(given), "p0", "the oldest of the pile is given");
  assert.equal(merger.release().length, 65_536);
});

test("bounds by bytes", () => {
  const merger = new Merger<string>();
  const big = (n: number): M => ({ ...m(""), payload: new Uint8Array(1 << 20).fill(n) });
  for (let n = 0; n < 16; n++) merger.fromCurrent(big(n), 0); // names count, too, so 16 are one too many
  assert.ok(!merger.late(big(0), 0));
  assert.ok(merger.late(big(15), 0));
  for (let n = 0; n < 15; n++) assert.equal(merger.fromNext(big(n + 100), 0, false), undefined);
  assert.equal(merger.fromNext(big(200), 0, false)?.payload[0], 100);
});

// Two edges deliver the same messages, each in order and with gaps at its own
// end: nothing is lost, nothing comes twice, and the order holds.
test("random moves", () => {
  let seed = 1;
  const random = (n: number): number => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff;
    return (seed >>> 8) % n;
  };
  for (let round = 0; round < 500; round++) {
    const all = Array.from({ length: 60 }, (_, i) => String(i));
    const from = random(20); // the second has no earlier ones
    const to = from + random(60 - from); // the first has no later ones
    const first = all.slice(0, to);
    const second = all.slice(from);
    const merger = new Merger<string>();
    const given: string[] = [];
    let released = false;
    while (first.length > 0 || second.length > 0 || !released) {
      if (first.length === 0 && !released && random(3) === 0) {
        released = true;
        given.push(...merger.release().map(textOf));
      }
      const turn = random(2) === 0 ? first : second;
      const text = turn.shift();
      if (text === undefined) continue;
      if (turn === first) {
        merger.fromCurrent(m(text), round);
        given.push(text);
      } else if (released) {
        if (!merger.late(m(text), round)) given.push(text);
      } else {
        const now = merger.fromNext(m(text), round, false);
        if (now) given.push(textOf(now));
      }
    }
    assert.deepEqual(given, all, `round ${round}: ${from} to ${to}`);
  }
});
