import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import type { MillraceError } from "../src/errors.js";
import type { Message } from "../src/message.js";
import { connect } from "../src/node.js";
import { Edge, type Peer, Record } from "./edge.js";
import { recorder, tried } from "./fixture.js";

const frame = (bytes: Buffer): string => bytes.toString("hex");

test("subscribe, publish, deliver, leave", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  assert.deepEqual(await event("connected"), { name: "connected", edge: edge.url, transport: "websocket" });
  assert.equal(client.edge, edge.url);
  const peer = await edge.peer(0);
  assert.equal(peer.token, "AT_1");

  const one = await client.subscribe("t", "c");
  const two = await client.subscribe("t", "c");
  const other = await client.subscribe("", "#");
  assert.deepEqual(peer.lines.all, ["SUB:t:c", "SUB:~:#"]);
  assert.equal(other.tenant, "~");

  peer.deliver("hello");
  for (const sub of [one, two]) {
    const { value } = await sub[Symbol.asyncIterator]().next();
    assert.equal(value?.text(), "hello");
    assert.equal(value?.pattern, "c");
    assert.deepEqual(value?.patterns, ["c"]);
  }

  await client.publish("t", "c", "x");
  await client.publish("t", "c", Uint8Array.of(1, 2), { delivery: "one-random" });
  await client.flush();
  assert.deepEqual(peer.frames.all.map(frame), ["00017400016378", "02020001740001630102"]);
  assert.ok((client.rtt ?? -1) >= 0);

  await one.unsubscribe();
  assert.ok(!peer.lines.all.includes("UNSUB:t:c"));
  await two.unsubscribe();
  assert.equal(peer.lines.all.filter((l) => l === "UNSUB:t:c").length, 1);

  await client.close();
  assert.equal(await client.closed, undefined);
  assert.equal(await other.ended, undefined);
  assert.equal(await peer.closed.until(() => true), 1000);
  assert.deepEqual(await event("closed"), { name: "closed", error: undefined });
  for (const act of [() => client.publish("t", "c", ""), () => client.flush(), () => client.subscribe("t", "c")]) {
    await assert.rejects(act, { code: "closed" });
  }
});

test("names and options are checked before anything is sent", async (t) => {
  const edge = await Edge.start(t);
  const { client } = await tried(t, edge.url);
  await assert.rejects(client.publish("t:", "c", ""), { code: "bad_tenant" });
  await assert.rejects(client.publish("t", "c.*", ""), { code: "bad_channel" });
  await assert.rejects(client.subscribe("t", "#.a"), { code: "bad_pattern" });
  await assert.rejects(client.subscribe("t", "a", { queue: -1 }), { code: "bad_option" });
  const loop: { self?: object } = {};
  loop.self = loop;
  const others = [undefined, NaN, 1n, () => 1, new Map(), new ArrayBuffer(2), new Uint16Array(2), loop];
  for (const payload of others) {
    await assert.rejects(client.publish("t", "c", payload as never), { code: "bad_option" });
  }
  await client.publish("t", "c", Buffer.from("fits"));
  await assert.rejects(client.subscribe("t", "a", { onMessage: "f" as never }), { code: "bad_option" });
  for (const addresses of [[], undefined as never]) {
    await assert.rejects(connect(addresses, { token: "AT_a" }), { code: "bad_option" });
  }
  await assert.rejects(client.publish("t", "c", "", { delivery: "all" as never }), { code: "bad_option" });
  const bad = [
    { token: "a b" },
    { token: "" },
    {},
    { token: "AT_a", tokenProvider: () => "a" },
    { token: "AT_a", transports: [] },
    { token: "AT_a", transports: ["tcp" as never] },
    { token: "AT_a", transports: ["webtransport" as const] },
    { token: "AT_a", connectTimeout: Number.NaN },
    { token: "AT_a", pongTimeout: -1 },
    { token: "AT_a", keepAlive: 2 ** 31 }, // timers take no more
    { token: "AT_a", maxBackOff: Number.POSITIVE_INFINITY },
    { token: "AT_a", queuePolicy: "drop" as never },
    { token: "AT_a", paths: { ping: "ping" } },
    { token: "AT_a", on: { connected: "f" as never } },
  ];
  for (const options of bad)
    await assert.rejects(connect(edge.url, options), { code: "bad_option" }, JSON.stringify(options));
  const spaced =
    /^bad_option: the access token begins with AT_.*: this one has white space, such as a line break from a file$/;
  for (const token of ["AT_1\n", " AT_1", "AT_1\r\n"]) {
    await assert.rejects(connect(edge.url, { token }), { message: spaced });
    const given = connect(edge.url, { tokenProvider: () => ({ token }) });
    await assert.rejects(given, (err: Error) => spaced.test((err.cause as Error).message));
  }
  for (const url of [
    "edge",
    "ws://127.0.0.1",
    "http://edge.example",
    "https://a:b@edge.example",
    "https://e.example/?a",
  ]) {
    await assert.rejects(connect(url, { token: "AT_a" }), { code: "bad_option" }, url);
  }
  assert.deepEqual((await edge.peer(0)).lines.all, []);
});

test("refusals", async (t) => {
  const edge = await Edge.start(t);
  const cases: [status: number, code: string | undefined, want: string][] = [
    [401, "unauthorized", "unauthorized"],
    [403, "ip_not_allowed", "ip_not_allowed"],
    [403, "protocol_not_allowed", "protocol_not_allowed"],
    [503, "draining", "draining"],
    [404, undefined, "unreachable"],
    [401, undefined, "unauthorized"],
    [502, undefined, "unavailable"],
  ];
  for (const [status, code, want] of cases) {
    edge.refusal = code ? { status, code } : { status };
    await assert.rejects(
      connect(edge.url, { token: "AT_secret", failFast: true }),
      (err: Error & { code: string; status: number }) => {
        assert.equal(err.code, want);
        assert.equal(err.status, status);
        assert.ok(!`${err.stack}${err.cause}`.includes("AT_secret"));
        return true;
      },
    );
  }
  edge.stop();
  await assert.rejects(connect(edge.url, { token: "AT_a", failFast: true }), (err: MillraceError) => {
    assert.equal(err.code, "unreachable");
    assert.equal((err.cause as NodeJS.ErrnoException).code, "ECONNREFUSED");
    assert.match(err.message, /^unreachable: no WebSocket at http:\/\/127.0.0.1:\d+\/ws: nothing listens at this port/);
    return true;
  });
});

test("the first edge that takes the client", async (t) => {
  const edges = [await Edge.start(t), await Edge.start(t), await Edge.start(t)];
  const [a, b, c] = edges as [Edge, Edge, Edge];
  a.refusal = { status: 401, code: "unauthorized" };
  b.ping = 503; // drains: comes last
  c.refusal = { status: 503, code: "draining" };
  const { client } = await tried(
    t,
    edges.map(({ url }) => url),
  );
  assert.equal(client.edge, b.url);
  assert.equal(a.refused + c.refused, 2);
});

test("an attempt ends in time, and by the signal", async (t) => {
  const edge = await Edge.start(t);
  edge.refusal = { status: 404 };
  const own = new AbortController();
  own.abort(new Error("mine"));
  await assert.rejects(connect(edge.url, { token: "AT_a", signal: own.signal }), { message: "mine" });
  const asked = new AbortController();
  const never = connect(edge.url, {
    tokenProvider: () => {
      asked.abort(new Error("mine, too"));
      return new Promise(() => {});
    },
    signal: asked.signal,
  });
  await assert.rejects(never, { message: "mine, too" });
  const silent = createServer((socket) => t.after(() => socket.destroy())).listen(0, "127.0.0.1");
  t.after(() => silent.close());
  await once(silent, "listening");
  const { port } = silent.address() as { port: number };
  const late = connect(`http://127.0.0.1:${port}`, { token: "AT_a", connectTimeout: 20, failFast: true });
  await assert.rejects(late, { code: "timeout" });
});

test("what the edge tells", async (t) => {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  peer.send("ERR:permission_denied:PUB:t:c");
  peer.send("ERR:slow_consumer:17");
  peer.send("ERR:egress_limited:3");
  peer.send("ERR:broker_unavailable");
  peer.send("ERR:of_later:x");
  assert.deepEqual(await event("publishError"), {
    name: "publishError",
    tenant: "t",
    channel: "c",
    code: "permission_denied",
  });
  assert.deepEqual(await event("slowConsumer"), { name: "slowConsumer", dropped: 17 });
  assert.deepEqual(await event("limited"), { name: "limited", direction: "in", delay: 3000 });
  assert.deepEqual(await event("edgeError"), { name: "edgeError", code: "broker_unavailable", detail: "" });
  assert.deepEqual(await event("edgeError", 1), { name: "edgeError", code: "of_later", detail: "x" });
  peer.answers = (line) => line === "PING";
  const refused = client.subscribe("t", "no");
  await peer.until("SUB:t:no");
  peer.send("ERR:broker_unavailable:SUB:t:no"); // noted, and will be acknowledged
  peer.send("ERR:permission_denied:SUB:t:no");
  await assert.rejects(refused, { code: "permission_denied", tenant: "t", pattern: "no" });
  await event("edgeError", 2);
});

test("an edge that loses the others, and finds them", async (t) => {
  const a = await Edge.start(t);
  const { event, events } = await tried(t, a.url);
  const peer = await a.peer(0);
  for (const line of ["LINK:up", "LINK:down", "LINK:down"]) peer.send(line);
  assert.deepEqual(await event("linkDown"), { name: "linkDown", edge: a.url });
  for (const line of ["LINK:up", "LINK:lost", "OF:later", "LINK:down"]) peer.send(line);
  assert.deepEqual(await event("linkUp"), { name: "linkUp", edge: a.url });
  await event("linkDown", 1);
  peer.kill();
  await event("reconnected"); // where nothing is wrong
  assert.deepEqual(await event("linkUp", 1), { name: "linkUp", edge: a.url });
  assert.equal(events.all.filter((e) => /^link/.test(e.name)).length, 4);
});

test("an edge of an earlier version, without features", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "ERR:bad_request";
  const { client, event, events } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  await client.flush();
  assert.deepEqual(
    events.all.filter((e) => e.name === "edgeError"),
    [],
  );
  peer.send("ERR:bad_request"); // of something else
  assert.equal((await event("edgeError")).code, "bad_request");
});

test("a slow handler delays events, and no message", async (t) => {
  const edge = await Edge.start(t);
  const { client, events } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  let go = (): void => {};
  const remove = client.on(
    "edgeError",
    () =>
      new Promise<void>((resolve) => {
        go = resolve;
      }),
  );
  const got = new Record<string>();
  await client.subscribe("t", "c", { onMessage: (m: Message) => got.add(m.text()) });
  peer.send("ERR:one");
  peer.send("ERR:two");
  peer.deliver("x");
  await got.until((text) => text === "x");
  await events.until((e) => e.code === "one");
  assert.ok(!events.all.some((e) => e.code === "two"));
  remove();
  go();
  await events.until((e) => e.code === "two");
});

async function revoked(
  t: TestContext,
  end: (peer: Awaited<ReturnType<Edge["peer"]>>) => void,
  code: string,
): Promise<void> {
  const edge = await Edge.start(t);
  const { client, event } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const sub = await client.subscribe("t", "c");
  peer.deliver("last");
  end(peer);
  assert.equal((await client.closed)?.code, code);
  assert.equal((await event("closed")).error.code, code);
  const got: string[] = [];
  await assert.rejects(
    async () => {
      for await (const m of sub) got.push(m.text());
    },
    { code },
  );
  assert.deepEqual(got, ["last"]);
  await assert.rejects(client.publish("t", "c", ""), { code: "closed" });
  assert.equal(edge.peers.all.length, 1);
}

test("a revoked token ends the client", (t) => revoked(t, (peer) => peer.send("ERR:token_revoked"), "token_revoked"));
test("by the close code alone, too", (t) => revoked(t, (peer) => peer.close(4403), "token_revoked"));
test("so does one that has expired", (t) => revoked(t, (peer) => peer.send("ERR:token_expired"), "token_expired"));
test("and an address that is not allowed any more", (t) =>
  revoked(
    t,
    (peer) => {
      peer.send("ERR:forbidden:ip");
      peer.close(4403);
    },
    "ip_not_allowed",
  ));

for (const [line, code] of [
  ["ERR:closed_by_operator", "closed_by_operator"],
  ["ERR:of_later", "disconnected"], // as an SDK that does not know the code
] as const) {
  test(`${line} and close 1013: the client comes back`, async (t) => {
    const edge = await Edge.start(t);
    const { client, events, event } = await tried(t, edge.url);
    const sub = await client.subscribe("t", "c");
    const peer = await edge.peer(0);
    peer.send(line);
    peer.close(1013);
    const { error } = await event("disconnected");
    assert.equal(error.code, code);
    assert.equal(error.closeCode, 1013);
    await event("reconnected");
    (await edge.peer(1)).deliver("back");
    assert.equal((await sub[Symbol.asyncIterator]().next()).value?.text(), "back");
    assert.equal(
      events.all.some((e) => e.name === "edgeError"),
      code === "disconnected",
    );
  });
}

for (const [name, end] of [
  ["a client that is not allowed any more", (peer) => peer.send("ERR:forbidden:client:we are closed: come at 9")],
  ["and one that is refused as it comes back", () => {}],
] as [string, (peer: Peer) => void][]) {
  test(`${name}: the end, with the reason`, async (t) => {
    const edge = await Edge.start(t);
    const { client, event } = await tried(t, edge.url);
    const peer = await edge.peer(0);
    edge.refusal = { status: 403, code: "client_not_allowed", detail: "we are closed: come at 9" };
    end(peer);
    peer.close(end.length > 0 ? 4403 : 1001);
    assert.equal((await client.closed)?.message, "client_not_allowed: we are closed: come at 9");
    assert.equal((await event("closed")).error.code, "client_not_allowed");
    assert.equal(edge.refused, end.length > 0 ? 0 : 1);
  });
}

test("a refused publish, and a subscription that is to be tried later", async (t) => {
  const edge = await Edge.start(t);
  const { client, event, events } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  peer.send("ERR:try_later:PUB:t:c");
  assert.deepEqual(await event("publishError"), { name: "publishError", tenant: "t", channel: "c", code: "try_later" });
  peer.answers = (line) => `ERR:try_later:${line}`;
  await assert.rejects(client.subscribe("t", "c"), { code: "try_later", tenant: "t", pattern: "c" });
  peer.answers = () => true;
  await client.flush();
  assert.deepEqual(peer.lines.all, ["SUB:t:c", "UNSUB:t:c", "PING"]);
  assert.ok(!events.all.some((e) => e.name === "subscriptionError"));
});

test("a failed connect leaves no event and no timer", async (t) => {
  const edge = await Edge.start(t);
  edge.refusal = { status: 401, code: "unauthorized" };
  const { events, on } = recorder();
  let asked = 0;
  const tokenProvider = () => ({ token: `AT_${asked++}`, expiresAt: Date.now() + 60_000 });
  await assert.rejects(connect(edge.url, { tokenProvider, on, failFast: true }), { code: "unauthorized" });
  assert.equal(asked, 2, "a token that the edge does not take is not good");
  assert.deepEqual(events.all, []);
});

test("a subscription waits for the end of an earlier one to the same pattern", async (t) => {
  const edge = await Edge.start(t);
  const { client } = await tried(t, edge.url);
  const peer = await edge.peer(0);
  const first = await client.subscribe("t", "c");
  peer.answers = (line) => !line.startsWith("UNSUB");
  const left = first.unsubscribe();
  await peer.until("UNSUB:t:c");
  const texts = new Record<string>();
  const subscribed = client.subscribe("t", "c", { onMessage: (m) => texts.add(m.text()) });
  await client.flush();
  assert.equal(peer.lines.all.filter((line) => line === "SUB:t:c").length, 1);
  peer.deliver("old");
  await client.flush();
  peer.answer("UNSUB:t:c");
  await left;
  const second = await subscribed;
  assert.equal(peer.lines.all.filter((line) => line === "SUB:t:c").length, 2);
  peer.deliver("new");
  await texts.until((text) => text === "new");
  assert.deepEqual(texts.all, ["new"]);

  // The end of the connection is one of the subscription, too; and of the client.
  const gone = second.unsubscribe();
  const third = client.subscribe("t", "c");
  await client.flush();
  peer.kill();
  await gone;
  await third;
  const next = await edge.peer(1);
  next.answers = (line) => !line.startsWith("UNSUB");
  void (await third).unsubscribe();
  await next.until("UNSUB:t:c");
  const never = assert.rejects(client.subscribe("t", "c"), { code: "closed" });
  await client.close();
  await never;
});

test("options that there are not, and a function in place of options", async (t) => {
  const edge = await Edge.start(t);
  const { client } = await tried(t, edge.url);
  const no = (message: RegExp) => ({ code: "bad_option", message });
  const as = (value: unknown): never => value as never;
  await assert.rejects(
    connect(edge.url, as({ token: "AT_a", tokn: 1 })),
    no(/"tokn": allowed are token, tokenProvider/),
  );
  await assert.rejects(connect(edge.url, as({ token: "AT_a", paths: { ws: "/" } })), no(/paths has no "ws"/));
  await assert.rejects(connect(edge.url, as("AT_secret")), (err: MillraceError) => !err.message.includes("secret"));
  await assert.rejects(
    client.subscribe(
      "t",
      "c",
      as(() => {}),
    ),
    no(/allowed are onMessage,? history,? queue/),
  );
  await assert.rejects(client.subscribe("t", "c", as({ onmessage() {} })), no(/has no "onmessage"/));
  await assert.rejects(client.publish("t", "c", "x", as({ deliver: 1 })), no(/allowed are delivery, confirm, key/));
  await assert.rejects(
    client.publish(
      "t",
      "c",
      "x",
      as(() => {}),
    ),
    no(/must be an object/),
  );
});

// As in Jest's jsdom, which may get them later. channelToken needs none.
test("without TextEncoder and TextDecoder", () => {
  const code = `
    delete globalThis.TextEncoder;
    delete globalThis.TextDecoder;
    const { channelToken, connect } = await import(${JSON.stringify(new URL("../src/index.js", import.meta.url).href)});
    const err = await connect("https://e.example", { token: "AT_1" }).catch((err) => err);
    console.log(channelToken("a.ü"), err.message);
  `;
  const said = execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
  assert.equal(said, "a~2E~C3~BC bad_option: no TextEncoder or TextDecoder\n");
});
