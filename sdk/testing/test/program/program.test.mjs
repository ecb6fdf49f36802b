// With the real program.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { connect } from "@millrace/client";
import { edge, setUp, start } from "../../src/index.js";

const { MILLRACE_TEST_PROGRAMS: programs } = process.env;
if (!programs)
  throw new Error("set MILLRACE_TEST_PROGRAMS to a folder with what `go build -o FOLDER ./cmd/millrace` makes");
process.env.MILLRACE_BIN = join(programs, "millrace");

test("two edges at a time, each with its own, and nothing stays", async () => {
  const [other, tearDown] = await Promise.all([start(), setUp()]);
  const { url, httpsUrl, caFile, tenant, token, issue, admin } = edge();
  assert.notEqual(url, other.url);
  assert.match(httpsUrl, /^https:/);
  const folder = dirname(dirname(dirname(dirname(dirname(caFile)))));
  assert.ok(existsSync(caFile) && existsSync(folder));

  const { token: hers, tokenId } = await issue({ subject: "ada" });
  await assert.rejects(connect(other.url, { token: hers, failFast: true }), { code: "unauthorized" });
  const [ada, all] = await Promise.all([connect(url, { token: hers }), connect(url, { token, sender: true })]);
  const room = all.tenant(tenant);
  const sub = await room.subscribe("chat.*");
  await ada.publish(tenant, "chat.1", { text: "hello" });
  for await (const message of sub) {
    assert.deepEqual([message.json(), message.sender], [{ text: "hello" }, "ada"]);
    break;
  }
  await admin.revokeById(tokenId);
  assert.equal((await ada.closed)?.code, "token_revoked");
  await Promise.all([all.close(), tearDown(), other.stop()]);
  assert.ok(!existsSync(folder));
});
