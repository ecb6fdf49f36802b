import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { renewAfter } from "../src/token.js";
import { Edge, Record } from "./edge.js";
import { tried } from "./fixture.js";

// Most of these wait for the second between two calls of a provider: together.
describe("token providers", { concurrency: true }, () => {
  test("when a token is renewed", () => {
    const cases: [life: number, latest: number, earliest: number][] = [
      [3_600_000, 3_240_000, 2_880_000],
      [50_000, 45_000, 40_000],
      [20_000, 15_000, 13_000], // 5 s before the end
      [6000, 1000, 400],
      [5000, 4500, 4000], // there is no such time
      [1000, 900, 800],
    ];
    for (const [life, latest, earliest] of cases) {
      assert.equal(renewAfter(life, 0), latest);
      assert.equal(renewAfter(life, 1), earliest);
    }
    assert.equal(renewAfter(Infinity, 0.5), Infinity);
  });

  /**
   * provider gives token after token, each for `life` milliseconds from when it comes: on a busy machine a time that
   * is so near may be over by then, and counts for a wrong clock.
   */
  function provider(tokens: string[], life: number) {
    let asked = 0;
    const tokenProvider = () => {
      const token = tokens[Math.min(asked++, tokens.length - 1)] as string;
      if (token === "fail") throw new Error("no token");
      return { token, expiresIn: (asked >= tokens.length ? 3_600_000 : life) / 1000 };
    };
    return { tokenProvider, asked: () => asked };
  }

  test("a new token in time: the client moves, on the same edge", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    const tokenProvider = () => ({
      token: `AT_${++asked}`,
      expiresAt: new Date(Date.now() + (asked > 1 ? 3_600_000 : 4000)).toISOString(),
    });
    const { client, event, events } = await tried(t, edge.url, { tokenProvider });
    await client.subscribe("t", "c");
    assert.equal((await edge.peer(0)).token, "AT_1");
    assert.equal((await event("moving")).reason, "token");
    assert.deepEqual(await event("moved"), { name: "moved", edge: edge.url, transport: "websocket", reason: "token" });
    assert.equal((await edge.peer(1)).token, "AT_2");
    assert.ok(!events.all.some((e) => e.name === "disconnected"));
  });

  test("the same token again: it just goes on", async (t) => {
    const edge = await Edge.start(t);
    const { tokenProvider, asked } = provider(["AT_1", "AT_1", "AT_1", "AT_2"], 100);
    const { event } = await tried(t, edge.url, { tokenProvider });
    await event("moved");
    assert.equal(asked(), 4);
    assert.equal(edge.peers.all.length, 2);
  });

  test("a provider that fails is asked again while there is time", async (t) => {
    const edge = await Edge.start(t);
    const { tokenProvider } = provider(["AT_1", "fail", "fail", "AT_2"], 2000);
    const { event, events } = await tried(t, edge.url, { tokenProvider });
    await event("moved");
    assert.equal((await edge.peer(1)).token, "AT_2");
    assert.ok(!events.all.some((e) => e.name === "disconnected"));
  });

  test("token_expired: the provider is asked", async (t) => {
    const edge = await Edge.start(t);
    const { tokenProvider } = provider(["AT_1", "AT_2"], 3_600_000);
    const { client, event } = await tried(t, edge.url, { tokenProvider });
    await client.subscribe("t", "c");
    (await edge.peer(0)).send("ERR:token_expired");
    assert.equal((await event("disconnected")).error.code, "token_expired");
    await event("reconnected");
    assert.equal((await edge.peer(1)).token, "AT_2");
  });

  test("a token that is refused when the client comes back: the provider is asked", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    const { event } = await tried(t, edge.url, { tokenProvider: () => `AT_${++asked}` });
    edge.refusal = { status: 401, code: "unauthorized" };
    edge.accepted = "AT_2";
    (await edge.peer(0)).kill();
    await event("reconnected");
    assert.equal((await edge.peer(1)).token, "AT_2");
    assert.equal(asked, 2);
  });

  test("token_expired, and the provider fails: it is asked again, with back-off", async (t) => {
    const edge = await Edge.start(t);
    const { tokenProvider, asked } = provider(["AT_1", "fail", "fail", "AT_2"], 3_600_000);
    const { event } = await tried(t, edge.url, { tokenProvider });
    (await edge.peer(0)).send("ERR:token_expired");
    const { error } = await event("disconnected");
    assert.equal(error.closeCode, 4401);
    assert.equal((await event("edgeError")).code, "token_provider");
    await event("edgeError", 1);
    await event("reconnected");
    assert.equal((await edge.peer(1)).token, "AT_2");
    assert.equal(asked(), 4);
  });

  // As an edge answers get-token, as TokenAdmin returns it, as JSON has that, and as a backend may write it.
  const answers = [
    { token: "AT_1", token_id: "1", expires_at: "2026-01-02T03:04:05Z", expires_in: 1.2 },
    { token: "AT_1", tokenId: "1", expiresAt: new Date(0), expiresIn: 1.2, clamped: false },
    { token: "AT_1", tokenId: "1", expiresAt: "1970-01-01T00:00:00.000Z", expiresIn: 1.2, clamped: true },
    { token: "AT_1", expiresIn: null, expires_in: 1.2, expires_at: null },
  ];
  for (const [i, answer] of answers.entries()) {
    test(`what others call an answer, ${i}: its lifetime counts`, async (t) => {
      const edge = await Edge.start(t);
      let asked = 0;
      const { event } = await tried(t, edge.url, { tokenProvider: () => (asked++ ? "AT_2" : answer) });
      await event("moved");
      assert.equal((await edge.peer(1)).token, "AT_2");
    });
  }

  test("a token of months is not asked for again at once", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    const tokenProvider = () => {
      asked++;
      return { token: "AT_1", expiresIn: "1440h" }; // more than a timer can wait
    };
    await tried(t, edge.url, { tokenProvider });
    await new Promise((resolve) => setTimeout(resolve, 1200)); // the shortest time between two calls has passed
    assert.equal(asked, 1);
  });

  test("an expires_at alone", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    const expires_at = new Date(Date.now() + 3000).toISOString();
    const { event } = await tried(t, edge.url, {
      tokenProvider: () => (asked++ ? "AT_2" : { token: "AT_1", expires_at }),
    });
    await event("moved");
  });

  test("answers that are refused", async (t) => {
    const edge = await Edge.start(t);
    const bad: [answer: unknown, why: RegExp][] = [
      [{ token: "AT_1", expires: 60 }, /has no "expires": allowed are token, expiresIn, expires_in/],
      [{ token: "AT_1", ttl: 60 }, /has no "ttl"/],
      [{ access_token: "AT_1" }, /has no "access_token"/],
      [null, /there is none here/],
      [{ token: "AT_1", expires_in: 0 }, /above 0/],
      [{ token: "AT_1", expiresAt: "soon" }, /a time/],
    ];
    for (const [answer, why] of bad) {
      const failing = tried(t, edge.url, { tokenProvider: () => answer as string });
      const error: Error = await failing.then(
        () => assert.fail("accepted"),
        (err) => err,
      );
      assert.equal((error as { code?: string }).code, "token_provider");
      assert.match(String(error.cause), why);
    }
  });

  test("a provider that gives no answer", async (t) => {
    const edge = await Edge.start(t);
    const never = new Promise<string>(() => {});
    const failing = tried(t, edge.url, { tokenProvider: () => never, connectTimeout: 50, failFast: true });
    await assert.rejects(failing, { code: "token_provider" });
  });

  test("a provider that gives no answer when connecting is aborted", async (t) => {
    const edge = await Edge.start(t);
    const abort = new AbortController();
    const never = new Promise<string>(() => {});
    const failing = tried(t, edge.url, { tokenProvider: () => never, signal: abort.signal });
    abort.abort();
    await assert.rejects(failing, { name: "AbortError" }); // and no timer keeps this program
  });

  test("tokens that end at once are not asked for over and over", async (t) => {
    const edge = await Edge.start(t);
    const asked = new Record<number>(); // when
    const tokenProvider = () => {
      asked.add(performance.now());
      return { token: "AT_1", expiresIn: 0.005 };
    };
    await tried(t, edge.url, { tokenProvider });
    await asked.until(() => asked.all.length === 3);
    const [first, second, third] = asked.all as [number, number, number];
    for (const pause of [second - first, third - second]) assert.ok(pause > 990, `asked again after ${pause} ms`);
  });

  test("a provider that fails at first", async (t) => {
    const edge = await Edge.start(t);
    const failing = tried(t, edge.url, { tokenProvider: async () => Promise.reject(new Error("no")), failFast: true });
    await assert.rejects(failing, { code: "token_provider" });
    await assert.rejects(tried(t, edge.url, { tokenProvider: () => ({ token: "a b" }) }), (err: Error) => {
      assert.ok(!err.message.includes("a b"));
      return true;
    });
  });

  test("a new token that is revoked at once ends the client", async (t) => {
    const edge = await Edge.start(t);
    const { tokenProvider } = provider(["AT_1", "AT_2"], 300);
    edge.answers = (line) => line === "PING";
    const { client } = await tried(t, edge.url, { tokenProvider });
    (await edge.peer(1)).send("ERR:token_revoked");
    const error = await client.closed;
    assert.equal(error?.code, "token_revoked");
    assert.equal(error?.closeCode, 4403);
  });

  test("the old token is revoked while the client goes over to the new one: it goes on", async (t) => {
    const edge = await Edge.start(t);
    let subscribed = () => {};
    const ready = new Promise<void>((resolve) => (subscribed = resolve));
    let asked = 0;
    const tokenProvider = async () => {
      if (++asked === 1) return { token: "AT_1", expiresIn: 0.3 };
      await ready;
      return { token: "AT_2", expiresIn: 3600 };
    };
    const { client, event } = await tried(t, edge.url, { tokenProvider });
    await client.subscribe("t", "c");
    edge.answers = () => false;
    subscribed();
    const second = await edge.peer(1);
    await second.until("SUB:t:c");
    edge.answers = () => true;
    (await edge.peer(0)).send("ERR:token_revoked");
    await event("disconnected"); // the second has yet to subscribe
    await event("reconnected");
  });
});

// stale tries a provider whose token the edge does not accept any more. The clock goes on by `step` ms at each refusal.
async function stale(t: TestContext, step: number) {
  const edge = await Edge.start(t);
  const clock = performance.now.bind(performance);
  let offset = 0;
  t.mock.method(performance, "now", () => clock() + offset);
  let token = "AT_1";
  const it = await tried(t, edge.url, { tokenProvider: () => token });
  let refusals = 0;
  it.client.on("edgeError", ({ code, detail }) => {
    assert.equal(code, "unauthorized");
    assert.match(detail, /^the edge does not accept the token: /);
    refusals++;
    offset += step;
  });
  edge.refusal = { status: 401, code: "unauthorized" };
  edge.accepted = "AT_2";
  (await edge.peer(0)).kill();
  return { ...it, refusals: () => refusals, renew: () => (token = "AT_2") };
}

test("a provider with a stale token is asked again", async (t) => {
  const { event, renew, refusals } = await stale(t, 1000);
  await event("edgeError", 7); // many refusals, but not for a minute
  renew();
  await event("reconnected");
  assert.equal(refusals(), 8);
});

test("a provider that has no other token for a minute: the end", async (t) => {
  const { client, refusals } = await stale(t, 16_000);
  assert.equal((await client.closed)?.code, "unauthorized");
  assert.equal(refusals(), 5);
});
