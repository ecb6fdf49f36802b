// WebTransport as a browser has it, made of the streams of Node: what is sent
// in which writes, refusals, and which transport comes first.
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Connection } from "../src/connection.js";
import type { MillraceError } from "../src/errors.js";
import type { Watched } from "../src/keepalive.js";
import type { Link, LinkEnd } from "../src/link.js";
import { Liveness } from "../src/liveness.js";
import { connect } from "../src/node.js";
import { node } from "../src/node-runtime.js";
import { type ConnectOptions, settings } from "../src/options.js";
import { RacingDialer } from "../src/race.js";
import { Searcher } from "../src/searcher.js";
import { openWebTransport } from "../src/webtransport.js";
import { Edge, Record } from "./edge.js";

const sized = (text: string): Buffer => {
  const message = Buffer.alloc(4 + text.length, text);
  message.writeUInt32BE(text.length);
  message.write(text, 4, "latin1");
  return message;
};

/** A session with its edge's end. */
class Session {
  readonly writes = new Record<string>();
  readonly closings = new Record<number>();
  readonly sentDatagrams = new Record<Uint8Array>();
  /** Resolves when the next datagram is sent. */
  datagramGate: Promise<void> = Promise.resolve();
  datagrams: object = {
    writable: new WritableStream<Uint8Array>({
      write: (datagram) => {
        this.sentDatagrams.add(datagram);
        return this.datagramGate;
      },
    }),
  };
  /** The client has ended its half of the stream. */
  readonly finished = new Record<boolean>();
  ready: Promise<void>;
  closed: Promise<{ closeCode: number; reason: string }>;
  /** Resolves when the stream takes the next write. */
  gate: Promise<void> = Promise.resolve();
  out!: ReadableStreamDefaultController<Uint8Array>;
  end!: (closeCode: number, reason?: string) => void;
  readonly #readable = new ReadableStream<Uint8Array>({
    start: (c) => {
      this.out = c;
    },
  });

  constructor(ready: Promise<void>) {
    this.ready = ready;
    this.closed = new Promise((resolve) => {
      this.end = (closeCode, reason = "") => resolve({ closeCode, reason });
    });
  }

  async createBidirectionalStream() {
    const writable = new WritableStream<Uint8Array>({
      write: async (chunk) => {
        this.writes.add(Buffer.from(chunk).toString("latin1"));
        await this.gate;
      },
      close: () => this.finished.add(true),
    });
    return { readable: this.#readable, writable };
  }

  close({ closeCode }: { closeCode: number }): void {
    this.closings.add(closeCode);
    this.end(closeCode);
  }

  say(...lines: string[]): void {
    this.out.enqueue(Buffer.concat(lines.map(sized)));
  }
}

/** install makes WebTransport what opens these sessions. */
function install(t: TestContext, ready: () => Promise<void> = async () => {}) {
  const opened = new Record<{ url: string; options: unknown; session: Session }>();
  // biome-ignore lint/suspicious/noExplicitAny: a browser's global
  (globalThis as any).WebTransport = function WebTransport(url: string, options: unknown) {
    const session = new Session(ready());
    opened.add({ url, options, session });
    return session;
  };
  // biome-ignore lint/suspicious/noExplicitAny: a browser's global
  t.after(() => delete (globalThis as any).WebTransport);
  return opened;
}

const never = new AbortController().signal;
const hashes = [{ algorithm: "sha-256", value: new Uint8Array(32) }];
const dial = { edge: "https://edge.example", token: "AT_1", signal: never };

async function open(t: TestContext) {
  const opened = install(t);
  const opening = openWebTransport(dial, settings({ token: "AT_1", serverCertificateHashes: hashes }));
  const { url, options, session } = await opened.until(() => true);
  assert.equal(url, "https://edge.example/wt");
  assert.deepEqual(options, { serverCertificateHashes: hashes });
  await session.writes.until((text) => text === sized("AUTH:AT_1").toString("latin1"));
  return { session, opening };
}

function follow(link: Link) {
  const got: string[] = [];
  const parts: number[] = []; // how many messages were there before each part
  const ended = new Promise<LinkEnd>((resolve) => {
    link.start({
      bytes: () => void parts.push(got.length),
      line: (line) => void got.push(line),
      frame: (b, start, end) => void got.push(`frame ${Buffer.from(b.subarray(start, end)).toString("hex")}`),
      ended: resolve,
    });
  });
  return { got, parts, ended };
}

test("authentication, and what comes with its answer", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH", "RECONNECT", "\u0001x");
  const { got } = follow(await opening);
  assert.deepEqual(got, ["RECONNECT", "frame 0178"]);
});

for (const first of [true, false]) {
  test(`a session that does not open gets another beside it, and the ${first ? "first" : "second"} one opens`, async (t) => {
    const ready: (() => void)[] = [];
    const opened = install(t, () => new Promise((resolve) => ready.push(resolve)));
    const opening = openWebTransport(dial, settings({ token: "AT_1" }));
    await opened.until(() => ready.length === 2);
    const [one, two] = opened.all.map(({ session }) => session);
    const [used, other] = first ? [one, two] : [two, one];
    ready[first ? 0 : 1]?.();
    await used?.writes.until(() => true);
    used?.say("OK:AUTH");
    await opening;
    assert.deepEqual(other?.closings.all, [1000]);
    assert.deepEqual(used?.closings.all, []);
  });
}

test("a message that comes in parts: each one is told", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const { got, parts } = follow(await opening);
  const message = sized("a long line");
  for (const part of [message.subarray(0, 5), message.subarray(5, 9), message.subarray(9)]) {
    session.out.enqueue(part);
    await new Promise(setImmediate);
  }
  assert.deepEqual(got, ["a long line"]);
  assert.deepEqual(parts, [0, 0, 0]);
});

test("messages of one turn go in one write, and while the stream is full they wait for it", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const link = await opening;
  let go!: () => void;
  session.gate = new Promise((resolve) => {
    go = resolve;
  });
  link.send("one");
  link.send(Uint8Array.of(1, 2));
  assert.ok(link.sent());
  const batch = Buffer.concat([sized("one"), Buffer.from([0, 0, 0, 2, 1, 2])]).toString("latin1");
  await session.writes.until((text) => text === batch);
  const large = "x".repeat(10_000);
  link.send(large);
  await new Promise((resolve) => setImmediate(resolve));
  link.send("two");
  let sent = false;
  const all = link.sent()?.then(() => {
    sent = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(sent, false);
  assert.equal(session.writes.all.length, 2);
  go();
  await all;
  assert.equal(session.writes.all[2], Buffer.concat([sized(large), sized("two")]).toString("latin1"));
  assert.equal(link.sent(), undefined);
});

// A datagram, in a packet that an edge which was started again answers by a reset.
test("probes", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const link = await opening;
  let go!: () => void;
  session.datagramGate = new Promise((resolve) => {
    go = resolve;
  });
  link.probe();
  link.probe(); // the first still waits
  await session.sentDatagrams.until(() => true);
  go();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(session.sentDatagrams.all.length, 1);
  link.probe();
  await session.sentDatagrams.until(() => session.sentDatagrams.all.length === 2);
  assert.deepEqual(session.sentDatagrams.all, [new Uint8Array(43), new Uint8Array(43)]);
});

test("probes as the standard has them by now, and without datagrams", async (t) => {
  const { session, opening } = await open(t);
  const { writable } = session.datagrams as { writable: WritableStream };
  session.datagrams = { createWritable: () => writable };
  session.say("OK:AUTH");
  const link = await opening;
  link.probe();
  assert.equal((await session.sentDatagrams.until(() => true)).length, 43);

  const lacking = await open(t);
  lacking.session.datagrams = {};
  lacking.session.say("OK:AUTH");
  (await lacking.opening).probe();
  await new Promise((resolve) => setImmediate(resolve));
});

test("a PING is behind a probe, and others follow while it has no answer", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const link = await opening;
  const owner = {
    delivered() {},
    line() {},
    confirms: () => undefined,
    edges: async () => [],
    watch: (c: Watched) => new Liveness(c, settings({ token: "AT_1" })),
    presence() {},
    draining() {},
    errorLine() {},
    roundTrip() {},
    silent: () => false,
    woke() {},
    linked() {},
    lost() {},
  };
  const connection = new Connection(dial.edge, link, "AT_1", owner, settings({ token: "AT_1" }));
  const { sentDatagrams } = session;
  const pong = connection.ping();
  await sentDatagrams.until(() => sentDatagrams.all.length === 1);
  await sentDatagrams.until(() => sentDatagrams.all.length === 3);
  session.say("FEATURES:link", "PONG");
  assert.ok((await pong) > 1000);
  session.out.close();
  session.end(1000);
  await connection.ended;
});

test("close sends what waits", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const link = await opening;
  const { ended } = follow(link);
  link.send("last");
  link.close();
  await session.closings.until((code) => code === 1000);
  assert.equal(session.writes.all.at(-1), sized("last").toString("latin1"));
  session.out.close();
  assert.deepEqual(await ended, { closeCode: 1000, error: undefined });
});

test("the end, by the edge", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const { got, ended } = follow(await opening);
  session.say("ERR:token_expired");
  session.out.close();
  await session.finished.until(() => true); // the edge need not wait any more
  session.end(4401);
  assert.equal((await ended).closeCode, 4401);
  assert.deepEqual(got, ["ERR:token_expired"]);
});

test("the end, when its line is lost", async (t) => {
  for (const [reason, want] of [
    ["token_revoked", "token_revoked"],
    ["closed_by_operator", "closed_by_operator"],
    ["forbidden:ip", "ip_not_allowed"],
    ["forbidden:client:we are closed: come at 9", "client_not_allowed: we are closed: come at 9"],
    ["the client is too slow", undefined],
  ] as const) {
    const { session, opening } = await open(t);
    session.say("OK:AUTH");
    const { ended } = follow(await opening);
    session.out.error(new Error("reset"));
    session.end(reason === "closed_by_operator" ? 1013 : 4403, reason);
    const { error } = await ended;
    assert.equal(want?.includes(":") ? error?.message : error?.code, want);
  }
});

test("what a stream must not carry", async (t) => {
  const { session, opening } = await open(t);
  session.say("OK:AUTH");
  const { ended } = follow(await opening);
  session.out.enqueue(Uint8Array.of(255, 255, 255, 255));
  assert.equal((await ended).error?.code, "protocol");
});

test("refusals", async (t) => {
  const cases: [line: string | undefined, closeCode: number, want: string, reason?: string][] = [
    ["ERR:unauthorized", 4401, "unauthorized"],
    ["ERR:forbidden:ip", 4403, "ip_not_allowed"],
    ["ERR:forbidden:region", 4403, "region_not_allowed"],
    ["ERR:forbidden:client:we are closed: come at 9", 4403, "client_not_allowed: we are closed: come at 9"],
    [undefined, 4403, "client_not_allowed: we are closed: come at 9", "forbidden:client:we are closed: come at 9"],
    [undefined, 4401, "unauthorized"],
    [undefined, 4403, "region_not_allowed", "forbidden:region"],
    ["ERR:closed_by_operator", 1013, "closed_by_operator"],
    [undefined, 1013, "unavailable"],
    [undefined, 1001, "draining"],
    [undefined, 0, "unreachable"],
  ];
  for (const [line, closeCode, want, reason] of cases) {
    const { session, opening } = await open(t);
    if (line) session.say(line);
    session.out.close();
    session.end(closeCode, reason);
    await assert.rejects(
      opening,
      (err: MillraceError) => (err.message === want || err.code === want) && !err.message.includes("AT_1"),
      want,
    );
  }
});

test("a session that does not come up, and one that is given up", async (t) => {
  install(t, () => Promise.reject(new Error("opaque")));
  await assert.rejects(openWebTransport(dial, settings({ token: "AT_a" })), { code: "unreachable" });
  const opened = install(t, () => new Promise(() => {}));
  const own = new AbortController();
  const opening = openWebTransport({ ...dial, signal: own.signal }, settings({ token: "AT_a" }));
  const { session } = await opened.until(() => true);
  // As a browser does when a session is closed before it is ready.
  const closed = session.closings.until(() => true);
  own.abort(new Error("mine"));
  assert.equal(await closed, 1000);
  opening.catch(() => {});
});

// The fallback, with an edge for WebSocket only: its addresses are http://, for
// which there is no WebTransport, so the fetched URL is changed on the way.
test("which transport", async (t) => {
  const edge = await Edge.start(t);
  const { port } = new URL(edge.url);
  const url = `https://127.0.0.1:${port}`;
  const dialer = (o: Partial<ConnectOptions>) => new RacingDialer({ ...settings({ token: "AT_a", ...o }) });

  // No WebTransport here: WebSocket alone, and an error if that is not wanted.
  await assert.rejects(connect(url, { token: "AT_a", transports: ["webtransport"] }), { code: "bad_option" });

  // One fails at once: the other starts at once.
  let sessions = install(t, () => Promise.reject(new Error("opaque")));
  await assert.rejects(dialer({ fallbackAfter: 60_000 }).open(url, "a", never), { code: "unreachable" });
  assert.equal(sessions.all.length, 1);

  // One hangs: the other starts later, and fails (the edge has no TLS); then the first comes up.
  let up!: () => void;
  sessions = install(
    t,
    () =>
      new Promise((resolve) => {
        up = resolve;
      }),
  );
  const d = dialer({ fallbackAfter: 10 });
  const opening = d.open(url, "a", never);
  const { session } = await sessions.until(() => true);
  await new Promise((resolve) => setTimeout(resolve, 50));
  up();
  await session.writes.until(() => true);
  session.say("OK:AUTH");
  const link = await opening;
  assert.equal(link.transport, "webtransport");

  // A refusal that says why is the end of it.
  sessions = install(t);
  const refused = d.open(url, "a", never);
  const next = await sessions.until(() => true);
  await next.session.writes.until(() => true);
  next.session.say("ERR:unauthorized");
  next.session.out.close();
  next.session.end(4401);
  await assert.rejects(refused, { code: "unauthorized" });

  // A transport that the token does not allow is not tried again.
  sessions = install(t);
  const only = dialer({ transports: ["webtransport"] });
  const forbidden = only.open(url, "a", never);
  const third = await sessions.until(() => true);
  await third.session.writes.until(() => true);
  third.session.say("ERR:forbidden:protocol");
  third.session.out.close();
  third.session.end(4403);
  await assert.rejects(forbidden, { code: "protocol_not_allowed" });
  await assert.rejects(only.open(url, "a", never), { code: "protocol_not_allowed" });
  assert.equal(sessions.all.length, 1);
  only.forget();
  void only.open(url, "a", AbortSignal.timeout(1)).catch(() => {});
  assert.equal(sessions.all.length, 2);
});

test("a path that lets handshakes pass, and swallows the rest: WebSocket first", async (t) => {
  const edge = await Edge.start(t);
  const url = `https://127.0.0.1:${new URL(edge.url).port}`;
  let time = 1_000_000;
  t.mock.method(performance, "now", () => time);
  const sessions = install(t, () => new Promise(() => {}));
  const clock = { get: async () => "a", provided: false } as never;
  const s = settings({ token: "AT_a", fallbackAfter: 60_000 }, node);
  const search = new Searcher([], s, clock, {} as never, new RacingDialer(s));
  /** first says whether WebTransport starts before WebSocket has failed. */
  const first = async (): Promise<boolean> => {
    const own = new AbortController();
    const before = sessions.all.length;
    const opening = search.open(url, own.signal).catch(() => {});
    await new Promise((resolve) => process.nextTick(resolve));
    const all = sessions.all.length;
    own.abort(new Error("enough"));
    await opening;
    return all > before;
  };
  const suspect = { edge: url, transport: "webtransport", begun: time } as never;
  assert.ok(await first());
  time += 119_999;
  search.dialer.noteSilent(suspect);
  assert.ok(!(await first()));
  search.dialer.noteSilent(suspect, true); // it is heard again
  assert.ok(await first());
  search.dialer.noteSilent({ edge: url, transport: "websocket", begun: time } as never);
  assert.ok(await first());
  time += 1;
  search.dialer.noteSilent(suspect); // it was a good one
  assert.ok(await first());
});
