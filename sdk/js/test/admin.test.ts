import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { type Grant, TokenAdmin } from "../src/admin.js";

const MASTER = "MT_0123_4567";

interface Call {
  method: string | undefined;
  url: string | undefined;
  authorization: string | undefined;
  body: unknown;
}

/** edge answers each call with the next of some answers. */
async function edge(t: TestContext, ...answers: [status: number, body: unknown][]) {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => (text += chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      calls.push({
        method,
        url,
        authorization: headers.authorization,
        body: text === "" ? undefined : JSON.parse(text),
      });
      const [status, body] = answers.shift() ?? [500, "no more"];
      response.writeHead(status).end(typeof body === "string" ? body : JSON.stringify(body));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { calls, url, admin: new TokenAdmin(url, MASTER) };
}

test("issue", async (t) => {
  const { admin, calls } = await edge(t, [
    200,
    { token: "AT_1_2", token_id: "1", expires_at: "2026-01-02T03:04:05Z", expires_in: 60 },
  ]);
  const issued = await admin.issue({
    createdBy: "backend",
    description: "of a test",
    subject: "alice",
    info: { name: "Alice", roles: ["a"] },
    expiresAt: new Date("2026-01-02T03:04:05Z"),
    grants: [
      { tenants: ["room"], publish: ["chat.*"], subscribe: ["chat.*"], history: ["chat.a"], presence: ["chat.b"] },
      { tenants: ["other"] },
    ],
    ipMasks: ["10.0.0.0/8"],
    regions: ["EU"],
    origins: ["https://page.example"],
    protocols: ["websocket"],
    ingressKBps: 1,
    egressKBps: 2,
  });
  const expiresAt = new Date("2026-01-02T03:04:05Z");
  assert.deepEqual(issued, { token: "AT_1_2", tokenId: "1", expiresAt, expiresIn: 60, clamped: false });
  assert.deepEqual(calls, [
    {
      method: "POST",
      url: "/v1/get-token",
      authorization: `Bearer ${MASTER}`,
      body: {
        created_by: "backend",
        description: "of a test",
        subject: "alice",
        info: { name: "Alice", roles: ["a"] },
        right: {
          tenant_grants: [
            {
              tenant_ids: ["room"],
              allow_channels_pub: ["chat.*"],
              allow_channels_sub: ["chat.*"],
              allow_channels_history: ["chat.a"],
              allow_channels_presence: ["chat.b"],
            },
            { tenant_ids: ["other"] },
          ],
          allow_ip_masks: ["10.0.0.0/8"],
          allow_regions: ["EU"],
          allowed_ws_origin: ["https://page.example"],
          allow_protocols: ["websocket"],
          ingress_kb_per_sec: 1,
          egress_kb_per_sec: 2,
          expires_at: "2026-01-02T03:04:05.000Z",
        },
      },
    },
  ]);
});

// Lifetimes: the clock of this machine does not matter.
test("durations", async (t) => {
  const cases: [string | number, number | undefined][] = [
    ["1h", 3600],
    ["15m", 900],
    ["90s", 90],
    ["1h30m", 5400],
    ["1h30m5s", 5405],
    [60.9, 60],
    ["9999999h", 35999996400], // the edge cuts it
    [0.5, undefined],
    [Number.POSITIVE_INFINITY, undefined],
    ["", undefined],
    ["1", undefined],
    ["1d", undefined],
    ["30m1h", undefined],
    ["-1h", undefined],
    ["1.5h", undefined],
    [Number.NaN, undefined],
  ];
  for (const [expiresIn, want] of cases) {
    const { admin, calls } = await edge(t, [200, { new_expires_at: "2026-01-01T00:00:00Z" }]);
    const done = admin.refresh("1", { expiresIn });
    if (want === undefined) await assert.rejects(done, { code: "bad_option" }, String(expiresIn));
    else {
      await done;
      assert.deepEqual(calls[0]?.body, { token_id: "1", expires_in: want }, String(expiresIn));
    }
  }
  const answer = { token: "AT_1_2", token_id: "1", expires_at: "2026-01-02T03:04:05Z", expires_in: 86400 };
  const wrong = { code: "expires_at_out_of_range", detail: "it is noon at this edge" };
  const { admin } = await edge(t, [200, answer], [400, wrong]);
  assert.ok((await admin.issue({ createdBy: "b", expiresIn: "25h", grants: [{ tenants: ["t"] }] })).clamped);
  const bothClocks = /it is noon at this edge; here it is 20\d\d-.*Z$/;
  await assert.rejects(admin.refresh("1", { expiresAt: new Date() }), { message: bothClocks });
  await assert.rejects(admin.refresh("1", {}), { code: "bad_option" });
  await assert.rejects(admin.refresh("1", { expiresIn: null as never }), { code: "bad_option" });
  await assert.rejects(admin.refresh("1", { expiresIn: 1, expiresAt: "2026-01-01T00:00:00Z" }), { code: "bad_option" });
  await assert.rejects(admin.refresh("1", { expiresAt: new Date(Number.NaN) }), { code: "bad_option" });
});

test("refresh and revoke", async (t) => {
  const { admin, calls } = await edge(
    t,
    [200, { message: "token refreshed", token_id: "1", new_expires_at: "2026-01-02T00:00:00Z" }],
    [200, { message: "token revoked", token_id: "1" }],
  );
  assert.deepEqual(await admin.refresh("1", { expiresAt: "2026-01-02T00:00:00Z" }), new Date("2026-01-02T00:00:00Z"));
  await admin.revoke("AT_1_2");
  assert.deepEqual(
    calls.map(({ method, url, body }) => [method, url, body]),
    [
      ["PUT", "/v1/refresh-token", { token_id: "1", expires_at: "2026-01-02T00:00:00Z" }],
      ["DELETE", "/v1/revoke-token", { token: "AT_1_2" }],
    ],
  );
});

test("revoke by id and by subject", async (t) => {
  const { admin, calls } = await edge(
    t,
    [200, { message: "token revoked", token_id: "0123456789abcdef" }],
    [200, { message: "tokens revoked", revoked: 3 }],
    [200, { message: "tokens revoked" }],
    [404, { code: "unknown_token", detail: "no such token" }],
  );
  await admin.revokeById("0123456789abcdef");
  assert.equal(await admin.revokeSubject("Zoë & co"), 3);
  await assert.rejects(admin.revokeSubject("alice"), { code: "protocol" });
  await assert.rejects(admin.revokeById("ab"), { code: "unknown_token", status: 404 });
  assert.deepEqual(
    calls.map(({ method, url, body }) => [method, url, body]),
    [
      ["DELETE", "/v1/tokens/0123456789abcdef", undefined],
      ["DELETE", "/v1/tokens?subject=Zo%C3%AB%20%26%20co", undefined],
      ["DELETE", "/v1/tokens?subject=alice", undefined],
      ["DELETE", "/v1/tokens/ab", undefined],
    ],
  );
  for (const id of ["", "AT_1_2", "..", "1?subject=x", undefined as never]) {
    await assert.rejects(admin.revokeById(id), { code: "bad_option" }, id);
  }
  for (const subject of ["", 1 as never, undefined as never]) {
    await assert.rejects(admin.revokeSubject(subject), { code: "bad_option" });
  }
  const circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const info of ["alice", [], null, 5, () => 1, circle]) {
    const request = { createdBy: "b", expiresIn: "1h", grants: [{ tenants: ["t"] }], info: info as never };
    await assert.rejects(admin.issue(request), { code: "bad_option" });
  }
  assert.equal(calls.length, 4);
});

test("list, page by page", async (t) => {
  const info = (id: string, more = {}) => ({
    token_id: id,
    created_by: "b",
    created_at: "2026-01-01T00:00:00Z",
    expires_at: "2026-01-02T00:00:00Z",
    status: "valid",
    right: { tenant_grants: [{ tenant_ids: ["t"], allow_channels_pub: ["a"] }], allow_regions: ["EU"] },
    ...more,
  });
  const { admin, calls } = await edge(
    t,
    [
      200,
      {
        tokens: [
          info("1", { subject: "alice", info: { name: "Alice" } }),
          info("2", { revoked_at: "2026-01-01T12:00:00Z", status: "revoked" }),
        ],
        next_cursor: "x y",
      },
    ],
    [200, { tokens: [info("3")], next_cursor: "" }],
  );
  const all = [];
  for await (const token of admin.list({ tenant: "t", subject: "alice", pageSize: 2 })) all.push(token);
  assert.deepEqual(
    all.map((token) => token.tokenId),
    ["1", "2", "3"],
  );
  assert.deepEqual(all[0], {
    tokenId: "1",
    createdBy: "b",
    description: "",
    subject: "alice",
    info: { name: "Alice" },
    createdAt: new Date("2026-01-01T00:00:00Z"),
    expiresAt: new Date("2026-01-02T00:00:00Z"),
    revokedAt: undefined,
    status: "valid",
    masterId: "",
    grants: [{ tenants: ["t"], publish: ["a"], subscribe: undefined, history: undefined, presence: undefined }],
    ipMasks: undefined,
    regions: ["EU"],
    origins: undefined,
    protocols: undefined,
    ingressKBps: undefined,
    egressKBps: undefined,
  });
  assert.deepEqual([all[1]?.subject, all[1]?.info], ["", undefined]);
  assert.deepEqual(all[1]?.revokedAt, new Date("2026-01-01T12:00:00Z"));
  assert.deepEqual(
    calls.map(({ url }) => url),
    ["/v1/tokens?tenant=t&subject=alice&limit=2", "/v1/tokens?tenant=t&subject=alice&limit=2&cursor=x%20y"],
  );
});

test("errors", async (t) => {
  const { admin, url } = await edge(
    t,
    [404, { type: "about:blank", status: 404, code: "unknown_token", detail: "no such token" }],
    [502, "<html>"],
    [200, "[]"],
    [200, "not JSON"],
  );
  await assert.rejects(admin.revoke("AT"), {
    code: "unknown_token",
    status: 404,
    message: "unknown_token: no such token",
  });
  await assert.rejects(admin.revoke("AT"), { code: "unavailable", status: 502 });
  await assert.rejects(admin.refresh("1", { expiresIn: 1 }), { code: "protocol" });
  await assert.rejects(admin.revoke("AT"), { code: "protocol" });
  const gone = new TokenAdmin("http://127.0.0.1:1", MASTER);
  await assert.rejects(gone.revoke("AT"), (err: Error & { code: string }) => {
    assert.match(err.message, /^unreachable: http:.* does not answer: .*(ECONNREFUSED|bad port)/);
    assert.ok(!`${err.stack}${err.cause}`.includes(MASTER));
    return true;
  });
  const never: typeof fetch = (_, init) =>
    new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
  // A timer of AbortSignal.timeout keeps no process alive; this one does.
  const alive = setTimeout(() => {}, 60_000);
  const late = new TokenAdmin(url, MASTER, { timeout: 10, fetch: never });
  await assert.rejects(late.revoke("AT"), { code: "timeout" });
  clearTimeout(alive);
});

test("the master token does not follow a redirect", async (t) => {
  const { calls, url } = await edge(t, [200, {}]);
  const server = createServer((_, response) => response.writeHead(307, { Location: url }).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => void server.close());
  const admin = new TokenAdmin(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, MASTER);
  await assert.rejects(admin.revoke("AT"), { code: "unreachable", status: 307 });
  assert.deepEqual(calls, []);
});

test("a refusal names the fields of this package", async (t) => {
  const detail = "right.tenant_grants[0].allow_channels_sub[2]: is not legal, at most 256 tenant_names";
  const { admin } = await edge(t, [400, { code: "invalid_body", detail }]);
  await assert.rejects(admin.issue({ createdBy: "b", expiresIn: "1h", grants: undefined as never }), {
    code: "bad_option",
  });
  await assert.rejects(admin.issue({ createdBy: "b", expiresIn: "1h", grants: [{ tenants: ["t"] }] }), {
    message: "invalid_body: grants[0].subscribe[2]: is not legal, at most 256 tenantNames",
  });
});

test("several edges: one after the other, until one answers", async (t) => {
  const gone = "http://127.0.0.1:1";
  const issued = { token: "AT_1_2", token_id: "1", expires_at: "2026-01-02T03:04:05Z" };
  const request = { createdBy: "b", expiresIn: "1h", grants: [{ tenants: ["t"] }] } as const;
  const cases: [name: string, status: number, body: unknown, another: boolean][] = [
    ["a proxy's 502", 502, "<html>", true],
    ["503", 503, { code: "unavailable", detail: "" }, true],
    ["504", 504, "", true],
    ["it only reads", 403, { code: "read_only", detail: "" }, true],
    ["500", 500, { code: "internal", detail: "" }, false],
    ["refused", 401, { code: "bad_master_token", detail: "" }, false],
    ["too many", 429, { code: "too_many_requests", detail: "" }, false],
  ];
  for (const [name, status, body, another] of cases) {
    const first = await edge(t, [status, body], [status, body]);
    const second = await edge(t, [200, issued], [200, issued]);
    const admin = new TokenAdmin([gone, first.url, second.url], MASTER);
    for (let i = 0; i < 2; i++) {
      const answer = await admin.issue(request).catch((err) => err.status);
      assert.deepEqual(another ? answer.token : answer, another ? "AT_1_2" : status, name);
    }
    if (another)
      assert.deepEqual([first.calls.length, second.calls.length], [1, 2], `${name}: the next call begins there`);
    else assert.equal(second.calls.length, 0, name);
  }

  const full = await edge(t, [503, { code: "insufficient_storage", detail: "full" }]);
  await assert.rejects(new TokenAdmin([gone, full.url, gone], MASTER).revoke("AT"), { code: "insufficient_storage" });
  const alive = setTimeout(() => {}, 60_000); // a timer of AbortSignal.timeout keeps no process alive
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await once(silent, "listening");
  t.after(() => {
    silent.close();
    silent.closeAllConnections();
  });
  const answers = await edge(t, [200, issued]);
  const late = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  assert.equal((await new TokenAdmin([late, answers.url], MASTER, { timeout: 200 }).issue(request)).token, "AT_1_2");
  clearTimeout(alive);
  assert.throws(() => new TokenAdmin([], MASTER), { code: "bad_option" });
  assert.throws(() => new TokenAdmin([late, "http://edge.example"], MASTER), { code: "bad_option" });
});

test("what is refused at once", () => {
  const bad: [string, string, object?][] = [
    ["http://edge.example", MASTER],
    ["https://edge.example/v1", MASTER],
    ["edge", MASTER],
    ["https://edge.example", "MT with\nnewline"],
    ["https://edge.example", ""],
    ["https://edge.example", undefined as never],
    ["https://edge.example", MASTER, { timeout: -1 }],
  ];
  for (const [url, master, options] of bad) {
    assert.throws(() => new TokenAdmin(url, master, options), { code: "bad_option" }, url);
  }
  new TokenAdmin("http://edge.example", MASTER, { allowPlaintext: true });
  assert.throws(
    () => new TokenAdmin("https://edge.example", `${MASTER}\n`),
    (err: Error) => {
      assert.match(
        err.message,
        /^bad_option: the master token begins with MT_.*: this one has white space, such as a line break/,
      );
      return !err.message.includes(MASTER);
    },
  );
});

test("not in a browser", () => {
  // What runs a program is found out when it is loaded, hence a process of its own.
  const run = (world: string): string =>
    execFileSync(
      process.execPath,
      [
        "--input-type=module",
        "-e",
        `
      const { process: node } = globalThis;
      ${world}
      const { TokenAdmin } = await import(${JSON.stringify(new URL("../src/admin.js", import.meta.url).href)});
      let result = "made";
      try { new TokenAdmin("https://edge.example", "MT_1"); } catch (err) { result = err.code; }
      node.stdout.write(result);
    `,
      ],
      { encoding: "utf8" },
    );
  assert.equal(
    run("delete globalThis.process; globalThis.window = globalThis; globalThis.document = {};"),
    "bad_option",
  );
  assert.equal(run("delete globalThis.process; globalThis.WorkerGlobalScope = class {};"), "bad_option");
  assert.equal(run("globalThis.document = {};"), "made", "a document that a test made on Node");
  assert.equal(
    run("delete globalThis.process; globalThis.Deno = {}; globalThis.WorkerGlobalScope = class {};"),
    "made",
  );
});

test("members that there are not", async () => {
  const as = (value: unknown): never => value as never;
  const no = { code: "bad_option", message: /"x": allowed are/ };
  assert.throws(() => new TokenAdmin("http://127.0.0.1:1", MASTER, as({ x: 1 })), no);
  const admin = new TokenAdmin("http://127.0.0.1:1", MASTER);
  await assert.rejects(admin.issue(as({ createdBy: "a", grants: [{ tenants: ["t"] }], x: 1 })), no);
  await assert.rejects(admin.issue(as({ createdBy: "a", grants: [{ x: 1 }] })), no);
  await assert.rejects(admin.refresh("1", as({ x: 1 })), no);
  await assert.rejects(admin.list(as({ x: 1 })).next(), no);
});

test("rules outside of what the grant subscribes to", async (t) => {
  const answer = { token: "AT_1", token_id: "1", expires_at: "2026-01-02T03:04:05Z", expires_in: 60 };
  const { url, calls } = await edge(t, [200, answer], [200, answer], [200, answer]);
  const said: string[] = [];
  const admin = new TokenAdmin(url, MASTER, { logger: { warn: (text) => void said.push(text) } });
  const issue = (...grants: Grant[]) => admin.issue({ createdBy: "b", expiresIn: 60, grants });
  const grant = { tenants: ["room"], subscribe: ["chat.*", "(eu|us).#"], presence: ["#"] };
  await assert.rejects(issue({ ...grant, history: ["chat.a", "chat.a.b"] }), {
    code: "bad_option",
    message: /grants\[0\]\.history\[1\] is chat\.a\.b, which subscribe \(chat\.\*, \(eu\|us\)\.#\) does not contain/,
  });
  assert.equal(calls.length, 0);
  await issue({ ...grant, history: ["us.>"] });
  // Another grant for the same tenant, which may have a prefix, allows to subscribe.
  await issue(grant, { tenants: ["paint.room"], subscribe: ["#"] }, { tenants: ["paint.room"], history: ["#"] });
  await assert.rejects(issue({ tenants: ["a"], history: ["b"] }, { ...grant, tenants: ["b"] }), { code: "bad_option" });
  assert.deepEqual(
    said.map((text) => text.slice(0, 36)),
    ["millrace: grants[0].presence[0] is #"],
  );
});
