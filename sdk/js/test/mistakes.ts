// The mistakes of sdk/mistakes.json, made: each is one, by its id.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttp } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { createServer as createTls } from "node:tls";
import { TokenAdmin } from "../src/admin.js";
import { connect } from "../src/node.js";
import { tokenFrom } from "../src/token-from.js";
import { cert, key } from "./certificate.js";
import { at, Edge, type Peer } from "./edge.js";

/** Who makes mistakes: t ends what was begun, and logger takes what is said. */
export interface Blunderer {
  readonly t: TestContext;
  readonly logger: { warn(text: string): void };
}

export type Mistake = (b: Blunderer) => unknown;

// biome-ignore lint/suspicious/noExplicitAny: mistakes do not compile
type Any = any;

export const impossible: { readonly [id: string]: string } = {
  "receive-twice": "two loops may read one subscription, and each gets some of the messages",
};

const TOKEN = "AT_0123_4567";
const MASTER = "MT_0123_4567";
const FAR = "http://localhost:8080";
const never = new Promise<never>(() => {});

/** option is a mistake in what connect gets; what is undefined is left out. */
const option =
  (options: Any, address: Any = FAR): Mistake =>
  ({ logger }) =>
    connect(
      address,
      Object.fromEntries(
        Object.entries({ token: TOKEN, logger, failFast: true, ...options }).filter(([, v]) => v !== undefined),
      ) as Any,
    );

const address = (given: Any): Mistake => option({}, given);
const token = (given: Any): Mistake => option({ token: given });
const provider = (tokenProvider: Any, more: object = {}): Mistake =>
  option({ token: undefined, tokenProvider, ...more });

/** web answers all requests on loopback, and says where. */
async function web(t: TestContext, status: number, body: string, type = "application/json"): Promise<string> {
  const server = createHttp((_, response) => response.writeHead(status, { "content-type": type }).end(body));
  server.on("upgrade", (_, socket) =>
    socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
  );
  return listening(t, server);
}

async function listening(t: TestContext, server: Any, scheme = "http"): Promise<string> {
  const sockets: Socket[] = [];
  server.on("connection", (socket: Socket) => sockets.push(socket.on("error", () => {})));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const served =
  (status: number, body: string): Mistake =>
  async (b) =>
    option({}, await web(b.t, status, body))(b);

async function closed(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return `http://127.0.0.1:${port}`;
}

/** raw is a server that says a text to whatever comes. */
const raw = (t: TestContext, text: string, scheme?: string): Promise<string> =>
  listening(
    t,
    createServer((socket) => void socket.on("data", () => socket.end(text))),
    scheme,
  );

/** refused is a token that the edge refuses. */
const refused =
  (status: number, code: string, detail: string): Mistake =>
  async (b) => {
    const edge = await Edge.start(b.t);
    edge.refusal = { status, code, detail };
    return option({}, edge.url)(b);
  };

interface Using {
  client: Any;
  peer: Peer;
  edge: Edge;
}

/** call is a mistake in what a client is asked for; the answers are those of the edge to lines that begin so. */
const call =
  (use: (with_: Using) => unknown, answers: { [begin: string]: string } = {}, options: object = {}): Mistake =>
  async ({ t, logger }) => {
    const edge = await Edge.start(t);
    edge.features = "FEATURES:link,work_queue,own,reasons,history,presence";
    edge.answers = (line) => answers[Object.keys(answers).find((begin) => line.startsWith(begin)) ?? ""] ?? true;
    const client = await connect(edge.url, { token: TOKEN, logger, ...options });
    t.after(() => client.close());
    const peer = await edge.peer(0);
    await use({ client, peer, edge });
    if ((await edge.peer(edge.peers.all.length - 1)).closed.all.length === 0) await client.flush().catch(() => {});
    await new Promise(setImmediate); // events
  };

const publish = (tenant: Any, channel: Any, payload: Any = "x", options?: Any): Mistake =>
  call(({ client }) => client.publish(tenant, channel, payload, options));
const subscribe = (pattern: Any, options?: Any, answers?: { [begin: string]: string }): Mistake =>
  call(({ client }) => client.subscribe("t", pattern, options), answers);

/** answered is a confirmed publish that the edge answers with a code. */
const answered = (code: string, options: object = {}): Mistake =>
  call(async ({ client, peer }) => {
    const answer = client.publish("demo.room", "secret", "x", { confirm: true, ...options });
    const frame = await Promise.race([peer.frames.until(() => true), answer]);
    peer.send(
      `ERR:${code.replace(":", `:PUB:${(frame as Buffer).readUInt32BE(2)}:`).replace(/^(\w+)$/, `$1:PUB:${(frame as Buffer).readUInt32BE(2)}`)}`,
    );
    await answer;
  });

/** told is something that the edge says, and to which nobody listens. */
const told = (...lines: string[]): Mistake =>
  call(({ peer }) => {
    for (const line of lines) peer.send(line);
  });

const denied = (verb: string, pattern: string) => ({
  [`${verb}:`]: `ERR:permission_denied:${verb}:t:${pattern}:allowed=news.#`,
});

/** first is the first message of a subscription. */
const first = (use: (message: Any) => unknown): Mistake =>
  call(async ({ client, peer }) => {
    const sub = await client.subscribe("t", "c");
    peer.deliver("hello");
    for await (const message of sub) {
      use(message);
      break;
    }
  });

const grants = [{ tenants: ["room"], subscribe: ["chat.*"] }];
const issued = { token: "AT_1_2", token_id: "1", expires_at: "2026-01-02T03:04:05Z", expires_in: 86_400 };

/** issue is a mistake in what TokenAdmin is asked for. */
const issue =
  (request: Any, status = 200, body: object = issued): Mistake =>
  async ({ t, logger }) => {
    const admin = new TokenAdmin(await web(t, status, JSON.stringify(body)), MASTER, { logger } as Any);
    await admin.issue({ createdBy: "me", expiresIn: 60, grants, ...request });
  };
const invalid = (detail: string) => ({ code: "invalid_body", detail });

/** inPage is what a TokenAdmin says in a page; what runs a program is found out when it is loaded, hence a process. */
function inPage(): string {
  const admin = JSON.stringify(new URL("../src/admin.js", import.meta.url).href);
  const page = `
    const { process: node } = globalThis;
    delete globalThis.process;
    globalThis.document = {};
    const { TokenAdmin } = await import(${admin});
    try { new TokenAdmin("https://edge.example", "${MASTER}"); } catch (err) { node.stdout.write(err.message); }`;
  return execFileSync(process.execPath, ["--input-type=module", "-e", page], { encoding: "utf8" });
}

const cyclic: Any = {};
cyclic.self = cyclic;

export const made: { readonly [id: string]: Mistake } = {
  "address-ws-scheme": address("ws://localhost:8080"),
  "address-wss-scheme": address("wss://edge.example.com"),
  "address-ws-path": address("http://localhost:8080/ws"),
  "address-wt-path": address("https://localhost:8443/wt"),
  "address-ws-url": address("ws://localhost:8080/ws"),
  "address-no-scheme": address("localhost:8080"),
  "address-empty": address(""),
  "address-none": address([]),
  "address-not-a-string": address(null),
  "address-other-scheme": address("mqtt://localhost:8080"),
  "address-user-password": address("https://ann:hunter2@edge.example.com"),
  "address-token-in-query": address(`https://edge.example.com?token=${TOKEN}`),
  "address-bad-port": address("http://localhost:99999"),
  "address-space": address("http://local host:8080"),
  "address-plaintext-remote": address("http://edge.example.com"),
  "address-unknown-name": address("https://edge.invalid"),
  "address-nobody-listens": async (b) => address(await closed())(b),
  "address-not-an-edge-404": served(404, "no"),
  "address-not-an-edge-page": served(200, "<html>hello</html>"),
  "address-bad-gateway": served(502, "no"),
  "address-https-to-http": async (b) => address(await raw(b.t, "HTTP/1.1 400 Bad Request\r\n\r\n", "https"))(b),
  // What a server of Node does at its port of TLS.
  "address-http-to-https": async (b) =>
    address(
      await listening(
        b.t,
        createTls(() => {}),
      ),
    )(b),
  "address-untrusted": async (b) => {
    const url = await listening(
      b.t,
      createTls({ key, cert }).on("tlsClientError", () => {}),
      "https",
    );
    return address(url)(b);
  },

  "token-missing": token(undefined),
  "token-empty": token(""),
  "token-garbage": token("secret123"),
  "token-master": token(MASTER),
  "token-bearer": token(`Bearer ${TOKEN}`),
  "token-whitespace": token(`${TOKEN}\n`),
  "token-json": token(JSON.stringify({ token: TOKEN })),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as in a file of settings
  "token-placeholder": token("${MILLRACE_TOKEN}"),
  "token-and-provider": option({ tokenProvider: () => TOKEN }),
  "token-expired": refused(401, "unauthorized", "the access token has expired; connect with a new one"),
  "token-revoked": refused(401, "unauthorized", "the access token was revoked; connect with a new one"),
  "token-unknown": refused(401, "unauthorized", "a valid access token is required"),
  "token-wrong-ip": refused(403, "ip_not_allowed", "the token does not allow this ip"),
  "token-wrong-origin": refused(403, "origin_not_allowed", "the token does not allow this origin"),
  "token-wrong-region": refused(403, "region_not_allowed", "the token does not allow this region"),
  "token-wrong-protocol": refused(403, "protocol_not_allowed", "the token does not allow this protocol"),
  "token-without-tls": refused(403, "tls_required", "tokens are accepted over HTTPS only"),

  "provider-fails": provider(() => {
    throw new Error("the database is down");
  }),
  "provider-nothing": provider(() => {}),
  "provider-response": provider(() => new Response("{}")),
  "provider-unknown-member": provider(() => ({ token: TOKEN, expires: 60 })),
  "provider-error-text": async (b) => provider(tokenFrom(`${await web(b.t, 403, "ann may not enter")}/token`))(b),
  "provider-page": async (b) => provider(tokenFrom(`${await web(b.t, 200, "<html>")}/token`))(b),
  "provider-master": provider(() => MASTER),
  "provider-lifetime": provider(() => ({ token: TOKEN, expiresIn: "soon" })),
  "provider-silent": provider(() => never, { connectTimeout: 10 }),
  "provider-not-a-function": provider(TOKEN),

  "option-unknown": option({ tokn: TOKEN }),
  "option-transport-unknown": option({ transports: ["quic"] }),
  "option-transports-empty": option({ transports: [] }),
  "option-duration-text": option({ connectTimeout: "10s" }),
  "option-duration-too-large": option({ keepAlive: 2 ** 31 }),
  "option-queue-negative": option({ queue: -1 }),
  "option-queue-policy": option({ queuePolicy: "drop" }),
  "option-proxy": option({ proxy: "not a URL" }),
  "option-paths": option({ paths: { websocket: "/ws" } }),
  "event-unknown": option({ on: { conected: () => {} } }),
  "event-handler": option({ on: { connected: "print" } }),

  "tenant-missing": call(({ client }) => client.publish("news.today", "hello")),
  "tenant-slash": publish("paint/room", "c"),
  "tenant-colon": publish("paint:room", "c"),
  "tenant-wildcard": publish("paint.*", "c"),
  "tenant-too-long": publish("t".repeat(129), "c"),
  "channel-wildcard": publish("t", "news.*"),
  "channel-empty": publish("t", ""),
  "channel-slash": publish("t", "news/today"),
  "channel-space": publish("t", "news today"),
  "channel-dots": publish("t", "news..today"),
  "channel-too-long": publish("t", "c".repeat(257)),
  "channel-unicode": publish("t", "zürich"),
  "pattern-plus": subscribe("news.+.today"),
  "pattern-middle": subscribe("news.#.today"),
  "pattern-star": subscribe("*day"),
  "pattern-slash": subscribe("news/#"),

  "publish-not-allowed": answered("permission_denied:allowed=news.#,chat.*"),
  "publish-other-tenant": answered("permission_denied:tenants=paint.room"),
  "publish-prefix-forgotten": told("ERR:permission_denied:PUB:room:news.a:tenants=demo.room"),
  "publish-payload-type": publish("t", "c", () => {}),
  "publish-payload-cyclic": publish("t", "c", cyclic),
  "publish-too-large": answered("payload_too_large"),
  "publish-delivery": publish("t", "c", "x", { delivery: "one" }),
  "publish-key-unconfirmed": publish("t", "c", "x", { key: "k" }),
  "publish-key-long": publish("t", "c", "x", { confirm: true, key: "k".repeat(65) }),
  "publish-key-not-kept": answered("no_history", { key: "k" }),
  "publish-one-nobody": answered("no_subscriber", { delivery: "one-random" }),
  "publish-one-busy": answered("subscribers_busy", { delivery: "one-random" }),
  "publish-closed": call(async ({ client }) => {
    await client.close();
    await client.publish("t", "c", "x");
  }),
  "publish-disconnected": call(
    async ({ client, edge }) => {
      const gone = new Promise((resolve) => client.on("disconnected", resolve));
      edge.stop();
      await gone;
      await client.publish("t", "c", "x");
    },
    {},
    { minBackOff: 15_000 },
  ),
  "publish-not-awaited": told("ERR:permission_denied:PUB:demo.room:secret:allowed="),

  "subscribe-not-allowed": subscribe("secret", {}, denied("SUB", "secret")),
  "subscribe-wider": subscribe("#", {}, denied("SUB", "#")),
  "subscribe-history-right": subscribe(
    "c",
    { history: "last" },
    { "RSUB:t:c:last": "ERR:permission_denied:RSUB:t:c:allowed=", RSUB: `OK:RSUB:t:c:${at(1)}:complete` },
  ),
  "subscribe-history-not-kept": subscribe("c", { history: "last" }, { RSUB: "ERR:no_history:RSUB:t:c" }),
  "subscribe-history-form": subscribe("c", { history: { lst: 50 } }),
  "subscribe-history-count": subscribe("c", { history: { last: 0 } }),
  "subscribe-history-wildcard": subscribe("c.*", { history: { last: 50 } }),
  "subscribe-history-position": subscribe("c", { history: { after: "17" } }),
  "subscribe-history-expired": call(
    async ({ client, peer }) => {
      const subscribing = client.subscribe("t", "c", { history: { after: at(1) } });
      await peer.lines.until((line) => line.startsWith("RSUB"));
      peer.send(`OK:RSUB:t:c:${at(5)}:gap`);
      await subscribing;
    },
    { RSUB: `GAP:t:c:${at(5)}:expired` },
  ),
  "subscribe-twice": call(
    async ({ client }) => {
      await client.subscribe("t", "c", { history: "now" });
      await client.subscribe("t", "c", { history: "last" });
    },
    { RSUB: `OK:RSUB:t:c:${at(1)}:complete` },
  ),
  "subscribe-option": subscribe("c", { onmessage: () => {} }),
  "subscribe-callback": subscribe("c", { onMessage: "print" }),
  "subscribe-too-many": subscribe("c", {}, { SUB: "ERR:too_many_subscriptions:SUB:t:c" }),
  "subscribe-slow": call(async ({ client, peer }) => {
    await client.subscribe("t", "c", { queue: 1 });
    const dropped = new Promise((resolve) => setTimeout(resolve, 20));
    for (const text of ["1", "2"]) peer.deliver(text);
    await dropped;
  }),
  "sender-off": first((message) => message.sender),
  "message-json": first((message) => message.json()),

  "join-no-subject": call(({ client }) => client.join("t", "c"), { JOIN: "ERR:no_subject:JOIN:t:c" }),
  "join-no-presence": call(({ client }) => client.join("t", "c"), { JOIN: "ERR:no_presence:JOIN:t:c" }),
  "join-wildcard": call(({ client }) => client.join("t", "c.*")),
  "presence-not-allowed": call(({ client }) => client.presence("t", "c"), denied("WHO", "c")),
  "presence-none": call(({ client }) => client.presence("t", "c"), { WHO: "ERR:no_presence:WHO:t:c" }),
  limited: told("ERR:egress_limited:3"),

  "admin-access-token": () => new TokenAdmin(FAR, TOKEN),
  "admin-bad-master": issue({}, 401, { code: "bad_master_token", detail: "no" }),
  "admin-browser": ({ logger }) => logger.warn(inPage()),
  "admin-lifetime-none": issue({ expiresIn: undefined }),
  "admin-lifetime-negative": issue({ expiresIn: -1 }),
  "admin-lifetime-long": issue({ expiresIn: "48h" }),
  "admin-past": issue({ expiresIn: undefined, expiresAt: new Date(0) }, 400, {
    code: "expires_at_out_of_range",
    detail: "right.expires_at is in the past: it is noon at this edge",
  }),
  "admin-both": issue({ expiresAt: new Date(2e12) }),
  "admin-no-grants": issue({ grants: [] }),
  "admin-pattern": issue(
    { grants: [{ tenants: ["room"], subscribe: ["a..b"] }] },
    400,
    invalid('right.tenant_grants[0].allow_channels_sub[0]: "a..b" has an empty token'),
  ),
  "admin-tenant": issue(
    { grants: [{ tenants: ["a/b"] }] },
    400,
    invalid('right.tenant_grants[0].tenant_ids[0]: "a/b" is no tenant'),
  ),
  "admin-unknown-member": issue({ grants: [{ tenants: ["room"], pub: ["chat.*"] }] }),
  "admin-history-outside": issue({ grants: [{ ...grants[0], history: ["chat.a", "audit.#"] }] }),
  "admin-presence-outside": issue({ grants: [{ ...grants[0], presence: ["#"] }] }),
  "admin-subject-long": issue({ subject: "s".repeat(129) }, 400, invalid("subject has 1 to 128 bytes")),
  "admin-info-large": issue({ info: { a: "b".repeat(1024) } }, 400, invalid("info has more than 1,024 bytes as JSON")),
  "admin-revoke-id": () => new TokenAdmin(FAR, MASTER).revoke("0123456789abcdef0123456789abcdef"),
  "admin-quota": issue({}, 403, {
    code: "quota_exceeded",
    detail: "the master token has 10 tokens, and may have no more",
  }),
  "admin-no-edge": async () => new TokenAdmin(await closed(), MASTER).revoke(TOKEN),
};
