import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { edge, findProgram, setUp, start } from "../src/index.js";

// program makes one that behaves as `pubsub dev --json` in what this package uses.
function program(t, body) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-testing-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "millrace");
  writeFileSync(file, `#!${process.execPath}\n${body}`);
  chmodSync(file, 0o755);
  return file;
}
const ready = JSON.stringify({
  ...{ http: "http://localhost:1", https: "https://localhost:2", ca_file: "ca", tenant: "demo" },
  ...{ master_token: "MT_1", access_token: "AT_1" },
});
const good = `
  if (process.argv.slice(2).join(" ") !== "pubsub dev --json --token --port 0 --exit-with-stdin") process.exit(2);
  console.log(${JSON.stringify(ready)});
  process.stdin.resume().on("end", () => process.exit());`;

test("the set-up starts an edge, tests find it, and it ends", async (t) => {
  process.env.MILLRACE_BIN = program(t, good);
  t.after(() => delete process.env.MILLRACE_BIN);
  assert.throws(edge, /no edge was started: set globalSetup/);
  const tearDown = await setUp();
  const { url, token, tenant, masterToken } = edge();
  assert.deepEqual([url, token, tenant, masterToken], ["http://localhost:1", "AT_1", "demo", "MT_1"]);
  await tearDown(); // when the program has ended
  assert.throws(edge);
});

test("no program, and one that fails, say what to do", async (t) => {
  assert.throws(() => findProgram("", "/nowhere"), /there is no millrace in PATH: install millrace .* MILLRACE_BIN$/);
  assert.throws(() => findProgram("/nowhere/millrace"), /^Error: MILLRACE_BIN: \/nowhere\/millrace cannot be run/);
  const failing = program(t, 'console.error("port in use"); process.exit(3);');
  await assert.rejects(start({ program: failing }), /pubsub dev: it ended with 3:\nport in use/);
  const silent = program(t, "setInterval(() => {}, 1000);");
  await assert.rejects(start({ program: silent, timeout: 50 }), /it does not serve within 50 ms/);
});
