// What later edges may send, and broken messages: wire/testdata/future.json.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Edge } from "./edge.js";
import { tried } from "./fixture.js";

interface Case {
  comment: string;
  to?: string;
  input: { text?: string; hex?: string };
  expect: { goes_on?: boolean; event?: { name: string }; code?: string; error?: string };
}

const cases: Case[] = JSON.parse(
  readFileSync(new URL("../../../../wire/testdata/future.json", import.meta.url), "utf8"),
);
const message = ({ text, hex }: Case["input"]): string | Uint8Array => text ?? Buffer.from(hex ?? "", "hex");

/** shuffled is a permutation that a number stands for. */
function shuffled<T>(all: readonly T[], seed: number): T[] {
  const list = [...all];
  for (let i = list.length - 1; i > 0; i--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const j = seed % (i + 1);
    [list[i], list[j]] = [list[j] as T, list[i] as T];
  }
  return list;
}

test("the client goes on whatever a later edge sends, and what stands between comes", async (t) => {
  for (let round = 0; round < 5; round++) {
    const seed = Math.floor(Math.random() * 2 ** 32);
    const edge = await Edge.start(t);
    const { client, events } = await tried(t, edge.url);
    const got: string[] = [];
    await client.subscribe("t", "c", { onMessage: (m) => got.push(m.text()) });
    const peer = await edge.peer(0);
    const sent = shuffled(cases, seed).filter(({ expect }) => !expect.error);
    for (const { comment, to, input, expect } of sent) {
      if (to !== undefined) {
        peer.answers = (line) => (line === to ? (input.text as string) : true);
        await assert.rejects(client.subscribe("t", to.replace("SUB:t:", "")), { code: expect.code });
        continue;
      }
      peer.send(message(input));
      peer.deliver(comment);
    }
    await client.flush();
    const going = sent.filter(({ to }) => to === undefined);
    assert.deepEqual(
      got,
      going.map(({ comment }) => comment),
      `seed ${seed}`,
    );
    const told = going.flatMap(({ expect }) => expect.event ?? []);
    const named = events.all.filter((e) => told.some((want) => want.name === e.name));
    for (const want of told)
      assert.ok(
        named.some((e) => same(e, want)),
        JSON.stringify(want),
      );
    const others = events.all.filter((e) => !/^(connected|edgeError|publishError)$/.test(e.name));
    assert.deepEqual(others, [], `seed ${seed}`);
  }
});

const same = (a: object, b: object): boolean => {
  const sorted = (o: object): string => JSON.stringify(Object.entries(o).sort());
  return sorted(a) === sorted(b);
};

test("broken messages end the connection", async (t) => {
  const broken = cases.filter(({ expect }) => expect.error);
  assert.ok(broken.length > 0);
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  await client.subscribe("t", "c");
  for (const [n, { comment, input, expect }] of broken.entries()) {
    (await edge.peer(n)).send(message(input));
    assert.equal((await event("disconnected", n)).error.code, expect.error, comment);
    await event("reconnected", n);
  }
});
