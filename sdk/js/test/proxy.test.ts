// Forward proxies, and the WebSocket that an application gives. Real proxies: integration/sdks.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect as dial, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { WebSocket } from "ws";
import { TokenAdmin as AdminElsewhere } from "../src/admin.js";
import { TokenAdmin } from "../src/admin-node.js";
import type { MillraceError } from "../src/errors.js";
import { connect as connectWeb } from "../src/index.js";
import { connect } from "../src/node.js";
import { proxyFor } from "../src/proxy.js";
import { Edge, Record } from "./edge.js";
import { tried } from "./fixture.js";

/** startProxy starts a proxy for CONNECT, which refuses with a status what it does not let through. */
async function startProxy(t: TestContext, refuse: (login: string | undefined) => number | undefined = () => undefined) {
  const asked = new Record<string>();
  const sockets: Socket[] = [];
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  server.on("connection", (socket: Socket) => sockets.push(socket));
  server.on("connect", ({ url = "", headers }, socket: Socket) => {
    asked.add(url);
    socket.on("error", () => undefined);
    const status = refuse(headers["proxy-authorization"]);
    if (status === 0) return void socket.resume(); // no answer
    if (status) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const [host, port] = url.split(":");
    const up = dial(Number(port), host, () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    up.on("error", () => socket.destroy());
    socket.pipe(up).pipe(socket);
  });
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}`, asked, sockets };
}

test("which proxy", () => {
  const cases: [edge: string, option: string | undefined, env: object, want: string | undefined][] = [
    ["https://e.example", undefined, {}, undefined],
    ["https://e.example", undefined, { HTTPS_PROXY: "http://p:3128" }, "http://p:3128/"],
    ["https://e.example", undefined, { https_proxy: "p:3128" }, "http://p:3128/"],
    ["https://e.example", "", { HTTPS_PROXY: "https://p" }, "https://p/"],
    ["https://e.example", "none", { HTTPS_PROXY: "http://p" }, undefined],
    ["https://e.example", "http://q:1", { HTTPS_PROXY: "http://p", NO_PROXY: "*" }, "http://q:1/"],
    ["http://e.example", undefined, { HTTPS_PROXY: "http://p" }, undefined],
    ["https://localhost:8443", undefined, { HTTPS_PROXY: "http://p" }, undefined],
    ["https://127.0.0.1", undefined, { HTTPS_PROXY: "http://p" }, undefined],
    ["https://[::1]", undefined, { HTTPS_PROXY: "http://p" }, undefined],
    ["http://127.0.0.1", "http://q:1", {}, "http://q:1/"],
  ];
  for (const [edge, option, env, want] of cases) assert.equal(proxyFor(edge, option, { ...env })?.href, want, edge);

  const excepted: [entry: string, edge: string, direct: boolean][] = [
    ["*", "https://e.example", true],
    ["e.example", "https://e.example", true],
    ["e.example", "https://a.e.example", true],
    ["e.example", "https://be.example", false],
    [".example", "https://e.example", true],
    [".e.example", "https://e.example", false],
    ["*.e.example", "https://a.e.example", true],
    ["a, E.example,b", "https://e.example", true],
    ["a e.example", "https://e.example", true],
    ["e.example:443", "https://e.example", true],
    ["e.example:8443", "https://e.example", false],
    ["e.example:8443", "https://e.example:8443", true],
    ["10.0.0.0/8", "https://10.1.2.3", true],
    ["10.0.0.0/8", "https://11.1.2.3", false],
    ["10.1.2.3", "https://10.1.2.3:8443", true],
    ["10.0.0.0/99", "https://10.1.2.3", false],
    ["2001:db8::/32", "https://[2001:db8::1]", true],
    ["2001:db8::1", "https://[2001:db8::1]", true],
    ["[2001:db8::1]:8443", "https://[2001:db8::1]", false],
    ["2001:db8::/32", "https://10.1.2.3", false],
  ];
  for (const [NO_PROXY, edge, direct] of excepted) {
    assert.equal(
      proxyFor(edge, undefined, { HTTPS_PROXY: "http://p", NO_PROXY }) === undefined,
      direct,
      `${NO_PROXY} ${edge}`,
    );
  }

  for (const value of ["socks5://me:secret@p", "http://", "http://me:secret@p:x", "http://me:secret%ZZ@p"]) {
    const check = (err: MillraceError) => err.code === "bad_option" && !/secret/.test(err.message);
    assert.throws(() => proxyFor("https://e.example", value), check, value);
    assert.throws(() => proxyFor("https://e.example", undefined, { HTTPS_PROXY: value }), check, value);
  }
});

test("everything goes through a proxy", async (t) => {
  const edge = await Edge.start(t);
  const other = await Edge.start(t);
  const login = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  const proxy = await startProxy(t, (got) => (got === login ? undefined : 407));
  const url = `http://me:p%40ss@${proxy.host}`;
  const { client } = await tried(t, [edge.url, other.url], { proxy: url });
  const used = client.edge === edge.url ? edge : other;
  assert.equal((await used.peer(0)).token, "AT_1");
  await client.flush();
  const hosts = proxy.asked.all.map((host) => `http://${host}`);
  for (const { url } of [edge, other]) assert.ok(hosts.filter((host) => host === url).length >= 3, "/ping of each");
  assert.equal(hosts.at(-1), client.edge);

  for (const [given, text] of [
    [proxy.url, /does not|asks for a user and a password/],
    [`http://me:secret@${proxy.host}`, /does not accept the user and the password \(/],
  ] as const) {
    await assert.rejects(connect(edge.url, { token: "AT_a", proxy: given }), (err: MillraceError) => {
      assert.deepEqual([err.code, err.status], ["unreachable", 407]);
      assert.match(err.message, text);
      assert.ok(err.message.includes(proxy.host) && !/secret|me:/.test(err.message), err.message);
      return true;
    });
  }
});

test("a proxy that refuses, is not there, or does not answer", async (t) => {
  const edge = await Edge.start(t);
  const strict = await startProxy(t, () => 403);
  const why = (text: RegExp, status?: number) => (err: MillraceError) =>
    err.code === "unreachable" && text.test(err.message) && err.status === status;
  const { host } = new URL(edge.url);
  const refused = new RegExp(`the proxy ${strict.host} refuses a connection to ${host} \\(HTTP status 403\\)`);
  await assert.rejects(connect(edge.url, { token: "AT_a", proxy: strict.url }), why(refused, 403));
  await assert.rejects(
    connect(edge.url, { token: "AT_a", proxy: "http://127.0.0.1:1", failFast: true }),
    why(/the proxy 127.0.0.1:1 does not answer: nothing listens at this port/),
  );
  const silent = await startProxy(t, () => 0);
  await assert.rejects(connect(edge.url, { token: "AT_a", proxy: silent.url, connectTimeout: 200, failFast: true }), {
    code: "timeout",
  });
  await Promise.all(silent.sockets.map((socket) => socket.readableEnded || once(socket, "end"))); // nothing stays open
  await assert.rejects(connect(edge.url, { token: "AT_a", proxy: "socks5://p" }), { code: "bad_option" });
  await assert.rejects(
    connect("https://e.example", { token: "AT_a", proxy: silent.url, transports: ["webtransport"] }),
    /bad_option: there is no WebTransport.* through a proxy/,
  );
  await assert.rejects(connectWeb(edge.url, { token: "AT_a", proxy: silent.url }), /bad_option: .* has no "proxy"/);
});

test("a TokenAdmin goes through a proxy", async (t) => {
  const asked: [authorization: string | undefined, body: string][] = [];
  const server = createServer(async (request: IncomingMessage, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    asked.push([request.headers.authorization, `${request.method} ${request.url} ${body}`]);
    response.end('{"new_expires_at": "2026-01-02T00:00:00Z"}');
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const proxy = await startProxy(t);
  const admin = new TokenAdmin(`http://${host}`, "MT_1", { proxy: proxy.url });
  await admin.refresh("1", { expiresIn: 60 });
  await admin.revokeById("1");
  const want = ['PUT /v1/refresh-token {"token_id":"1","expires_in":60}', "DELETE /v1/tokens/1 "];
  const all = want.map((call) => ["Bearer MT_1", call]);
  assert.deepEqual([asked, proxy.asked.all], [all, [host, host]]);

  const strict = await startProxy(t, () => 407);
  process.env.HTTPS_PROXY = `http://me:secret@${strict.host}`;
  t.after(() => delete process.env.HTTPS_PROXY);
  const refused = new RegExp(`^unreachable: the proxy ${strict.host} does not accept the user and the password`);
  await assert.rejects(new TokenAdmin("https://e.example", "MT_1").revokeById("1"), { message: refused, status: 407 });
  const silent = await startProxy(t, () => 0);
  const late = new TokenAdmin("https://e.example", "MT_1", { proxy: silent.url, timeout: 100 });
  await assert.rejects(late.revokeById("1"), { code: "timeout" });
  const own = async () => new Response("{}");
  await new TokenAdmin("https://e.example", "MT_1", { fetch: own }).revokeById("1");
  const bad = { code: "bad_option" };
  assert.throws(() => new TokenAdmin("https://e.example", "MT_1", { proxy: "socks5://p" }), bad);
  assert.throws(() => new TokenAdmin("https://e.example", "MT_1", { way: "" } as never), /allowed are .*proxy/);
  assert.throws(() => new AdminElsewhere("https://e.example", "MT_1", { proxy: "http://p" }), /has no "proxy"/);
});

test("a WebSocket class of the application", async (t) => {
  const edge = await Edge.start(t);
  let made = 0;
  class Counted extends WebSocket {
    constructor(...args: ConstructorParameters<typeof WebSocket>) {
      super(...args);
      made++;
    }
  }
  const { client } = await tried(t, edge.url, { webSocket: Counted });
  assert.deepEqual([made, (await edge.peer(0)).token], [1, "AT_1"]);
  await client.flush();

  const web = await connectWeb(edge.url, { token: "AT_1", webSocket: Counted }); // as browsers': with subprotocols
  t.after(() => web.close());
  assert.equal(made, 2);
  const got = new Promise<string>((resolve) => void web.subscribe("t", "c", { onMessage: (m) => resolve(m.text()) }));
  await (await edge.peer(1)).until("SUB:t:c");
  (await edge.peer(1)).deliver("\uFEFFhello");
  assert.equal(await got, "\uFEFFhello");

  edge.refusal = { status: 403, code: "region_not_allowed" };
  await assert.rejects(connect(edge.url, { token: "AT_a", webSocket: Counted }), { code: "region_not_allowed" });
  await assert.rejects(connect(edge.url, { token: "AT_a", webSocket: 7 as never }), { code: "bad_option" });
});
