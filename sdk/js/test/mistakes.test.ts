// What this SDK says to each mistake of sdk/mistakes.json, beside test/mistakes.json. After a change of texts,
// MILLRACE_GOLDEN=write writes that file again: read what has changed.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { MillraceError } from "../src/errors.js";
import { type Blunderer, impossible, made } from "./mistakes.js";

const golden = new URL("../../test/mistakes.json", import.meta.url);
const rows: { id: string }[] = JSON.parse(readFileSync(new URL("../../../mistakes.json", import.meta.url), "utf8"));
const write = process.env.MILLRACE_GOLDEN === "write";
const known: { [id: string]: object } = write ? {} : JSON.parse(readFileSync(golden, "utf8"));
const MACHINE = /127\.0\.0\.1:\d+|here it is \S+/g; // what differs between runs

async function saidTo(id: string, b: Omit<Blunderer, "logger">): Promise<object> {
  if (impossible[id]) return { impossible: impossible[id] };
  const said: string[] = [];
  const plain = (text: string): string =>
    text.replace(MACHINE, (m) => (m[0] === "h" ? "here it is NOW" : "127.0.0.1:PORT"));
  try {
    await made[id]?.({ ...b, logger: { warn: (text) => said.push(plain(text)) } });
  } catch (err) {
    const { name, message } = err as Error;
    return { code: err instanceof MillraceError ? err.code : name, text: plain(message) };
  }
  assert.ok(said.length > 0, `nothing is said to ${id}`);
  return { said: said.join("\n") };
}

test("mistakes", { concurrency: 8 }, async (t) => {
  await Promise.all(
    rows.map(({ id }) =>
      t.test(id, async (t) => {
        const got = await saidTo(id, { t });
        for (const secret of ["0123_4567", "hunter2", "secret123"])
          assert.ok(!JSON.stringify(got).includes(secret), secret);
        if (write) known[id] = got;
        assert.deepEqual(got, known[id]);
      }),
    ),
  );
  assert.deepEqual(Object.keys(known).sort(), rows.map(({ id }) => id).sort());
  if (!write) return;
  const ordered = Object.fromEntries(rows.map(({ id }) => [id, known[id]]));
  writeFileSync(golden, `${JSON.stringify(ordered, null, 2)}\n`);
});
