import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { WebSocket } from "ws";
import type { MillraceError } from "../src/errors.js";
import { connect as connectWeb } from "../src/index.js";
import { connect } from "../src/node.js";
import { tokenFrom } from "../src/token-from.js";
import { Edge, Record } from "./edge.js";

const DOCS = "https://github.com/millrace/millrace/blob/main/docs/errors.md#";

test("what nobody listens to is said once for each event and code", async (t) => {
  const edge = await Edge.start(t);
  const said = new Record<string>();
  const logger = { warn: (text: string) => said.add(text) };
  const client = await connect(edge.url, { token: "AT_secret", logger, on: { slowConsumer: () => undefined } });
  t.after(() => client.close());
  const peer = await edge.peer(0);
  for (let i = 0; i < 3; i++) peer.send("ERR:permission_denied:PUB:t:secret:allowed=news.#,chat.*");
  peer.send("ERR:slow_consumer:3"); // somebody listens
  peer.send("ERR:payload_too_large:PUB:t:c");
  const seen: string[] = [];
  const quiet = Object.assign(() => seen.push("quiet"), { [Symbol.for("millrace.quiet")]: true });
  client.on("closed", quiet);
  peer.revoke();
  await client.closed;
  await said.until((text) => text.includes("closed"));
  assert.deepEqual(said.all, [
    `millrace: publishError: permission_denied (tenant "t") (channel "secret"): the token may publish in t only to news.#, chat.*, not to secret: have it issued with a grant that contains it ${DOCS}permission_denied`,
    `millrace: publishError: payload_too_large (tenant "t") (channel "c"): it is over max_payload of the edge: send a link to the data, or raise the option ${DOCS}payload_too_large`,
    `millrace: closed: token_revoked: ask the backend whether this user may have another one ${DOCS}token_revoked`,
  ]);
  assert.deepEqual(seen, ["quiet"]);
});

test("the logger may be null, and the console is the default", async (t) => {
  const edge = await Edge.start(t);
  const warned = t.mock.method(console, "warn", () => undefined);
  for (const [options, want] of [
    [{ logger: null }, 0],
    [{}, 1],
  ] as const) {
    const client = await connect(edge.url, { token: "AT_1", ...options });
    (await edge.peer(want)).revoke();
    await client.closed;
    await new Promise(setImmediate);
    assert.equal(warned.mock.callCount(), want);
  }
});

test("the calls of a tenant, and payloads that become JSON", async (t) => {
  const edge = await Edge.start(t);
  const client = await connect(edge.url, { token: "AT_1" });
  t.after(() => client.close());
  const room = client.tenant("t");
  const sub = await room.subscribe("c");
  const peer = await edge.peer(0);
  for (const [payload, want] of [
    [{ a: [1, null] }, '{"a":[1,null]}'],
    [[1], "[1]"],
    [0, "0"],
    [false, "false"],
    [null, "null"],
    ["text", "text"],
  ] as const) {
    const before = peer.frames.all.length;
    await room.publish("c", payload);
    const frame = await peer.frames.until(() => true, before);
    assert.ok(frame.toString().endsWith(want), `${frame}`);
  }
  peer.deliver('{"a":1}');
  for await (const message of sub) {
    assert.deepEqual(message.json(), { a: 1 });
    break;
  }
  assert.throws(() => client.tenant("a/b"), { code: "bad_tenant" });
});

test("browsers are told why a handshake is refused, and what the token allows", async (t) => {
  const edge = await Edge.start(t);
  edge.inside = "ERR:unauthorized:the access token has expired; connect with a new one:connection=1";
  const offered: string[][] = [];
  class Browser extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      offered.push(protocols);
    }
  }
  const refused = () => connectWeb(edge.url, { token: "AT_1", webSocket: Browser });
  await assert.rejects(refused, /^MillraceError: unauthorized: the access token has expired; connect with a new one: /);
  assert.deepEqual(offered, [["llps.v1", "refusal.v1", "at.AT_1"]]);
  edge.inside = "ERR:unauthorized:a valid access token is needed: in Authorization: Bearer, or elsewhere:connection=2";
  await assert.rejects(refused, /^MillraceError: unauthorized: a valid access token is needed: it is incomplete, /);
  edge.inside = undefined;
  edge.answers = (line) => (line.startsWith("SUB:") ? `ERR:permission_denied:${line}:allowed=` : true);
  const client = await connectWeb(edge.url, { token: "AT_1", webSocket: Browser });
  t.after(() => client.close());
  await assert.rejects(client.subscribe("t", "c"), /permission_denied .*: the token may not subscribe in t: /);
});

test("a token endpoint", async (t) => {
  let answer: [number, string] = [200, ""];
  const http = createServer((_, response) => {
    response.writeHead(answer[0]);
    response[answer[1].length > 65_536 ? "write" : "end"](answer[1]);
  }).listen(0, "127.0.0.1");
  t.after(() => http.close().closeAllConnections());
  await new Promise((resolve) => http.once("listening", resolve));
  const url = `http://127.0.0.1:${(http.address() as { port: number }).port}/token?secret`;
  const edge = await Edge.start(t);
  const given = async (status: number, text: string): Promise<MillraceError> => {
    answer = [status, text];
    return connect(edge.url, { tokenProvider: tokenFrom(url), failFast: true }).then(
      (client) => client.close().then(() => assert.fail("connected")),
      (err) => err,
    );
  };
  const where = url.replace("?secret", "");
  assert.match((await given(403, "no seat left")).message, new RegExp(`^logged_out: .*${where} .* 403: no seat left$`));
  assert.match((await given(503, "busy")).message, /^token_provider: .* 503: busy$/);
  assert.match((await given(200, "<html>")).message, /^token_provider: .* answers with a page, not with a token/);
  assert.match((await given(503, "\x1b[31mno\x9b")).message, /^token_provider: .* 503: \x20\[31mno $/);
  assert.match((await given(200, " ".repeat(70_000))).message, /^token_provider: .* answers with a text, not/);
  await assert.rejects(tokenFrom("http://u:hidden@localhost/")(), { code: "bad_option", message: /^(?!.*hidden)/ });
  answer = [200, '{"token":"AT_9","expiresIn":60}'];
  const client = await connect(edge.url, { tokenProvider: tokenFrom(url) });
  t.after(() => client.close());
  assert.equal((await edge.peer(0)).token, "AT_9");
});
