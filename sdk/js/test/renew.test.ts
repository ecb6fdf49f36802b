import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { LoggedOutError } from "../src/errors.js";
import { connect } from "../src/node.js";
import { Edge } from "./edge.js";
import { recorder, tried } from "./fixture.js";

/** counted gives AT_1, AT_2, …, or fails where it should. */
function counted(fails: (n: number) => unknown = () => undefined) {
  const calls: number[] = [];
  const tokenProvider = async () => {
    const n = calls.push(performance.now());
    const failure = fails(n);
    if (failure) throw failure;
    return `AT_${n}`;
  };
  return { calls, tokenProvider };
}

// Most of these wait for the second between two calls of a provider: together.
describe("renewing, retrying and the texts of errors", { concurrency: true }, () => {
  test("renewToken: another token, and the client moves", async (t) => {
    const edge = await Edge.start(t);
    const { tokenProvider, calls } = counted();
    const { client, event, events } = await tried(t, edge.url, { tokenProvider });
    await client.subscribe("t", "c");
    await client.renewToken();
    assert.equal(calls.length, 2);
    assert.equal((await event("moved")).reason, "token");
    assert.equal((await edge.peer(1)).token, "AT_2");
    assert.ok(!events.all.some((e) => e.name === "disconnected"));
  });

  test("renewToken: the same token, and the client stays", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    const tokenProvider = () => {
      asked++;
      return "AT_same";
    };
    const { client, events } = await tried(t, edge.url, { tokenProvider });
    await client.renewToken();
    await client.flush();
    assert.equal(asked, 2);
    assert.equal(edge.peers.all.length, 1);
    assert.deepEqual(
      events.all.map((e) => e.name),
      ["connected"],
    );
  });

  test("renewToken fails, and the client goes on", async (t) => {
    const edge = await Edge.start(t);
    const cause = new Error("no token today");
    const { tokenProvider } = counted((n) => n > 1 && cause);
    const { client, event } = await tried(t, edge.url, { tokenProvider });
    await assert.rejects(client.renewToken(), { code: "token_provider", cause });
    const told = await event("edgeError");
    assert.deepEqual([told.code, told.cause], ["token_provider", cause]);
    assert.ok(!told.detail.includes("token_provider"), told.detail);
    await client.flush();
  });

  test("renewToken while the provider is being asked: one call more, for all", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    let answer!: () => void;
    const tokenProvider = () => {
      if (++asked !== 2) return `AT_${asked}`;
      return new Promise<string>((resolve) => {
        answer = () => resolve("AT_2");
      });
    };
    const { client } = await tried(t, edge.url, { tokenProvider });
    const first = client.renewToken();
    while (!answer) await new Promise((resolve) => setTimeout(resolve, 10));
    const others = Promise.all([client.renewToken(), client.renewToken()]);
    answer();
    await first;
    assert.equal(asked, 2);
    await others;
    assert.equal(asked, 3);
  });

  test("renewToken without a provider, and after the end", async (t) => {
    const edge = await Edge.start(t);
    const { client } = await tried(t, edge.url);
    await assert.rejects(client.renewToken(), { code: "bad_option" });
    let asked = 0;
    const tokenProvider = () => (asked++ === 0 ? "AT_1" : new Promise<never>(() => {}));
    const another = (await tried(t, edge.url, { tokenProvider })).client;
    const ended = assert.rejects(another.renewToken(), { code: "closed" });
    await another.close();
    await ended;
    await assert.rejects(another.renewToken(), { code: "closed" });
    assert.ok(asked <= 2);
  });

  test("a provider is asked once a second at most, whatever it answers", async (t) => {
    const gaps = (calls: number[]): number[] => calls.slice(1).map((at, i) => at - (calls[i] as number));
    const least = 999; // timers round
    await Promise.all([
      (async () => {
        const edge = await Edge.start(t);
        const { tokenProvider, calls } = counted((n) => n > 1 && n < 4 && new Error("no"));
        const { event } = await tried(t, edge.url, { tokenProvider });
        (await edge.peer(0)).send("ERR:token_expired");
        await event("reconnected");
        assert.ok(calls.length === 4 && Math.min(...gaps(calls)) >= least, `as it reconnects: ${gaps(calls)}`);
      })(),
      (async () => {
        const edge = await Edge.start(t);
        const { tokenProvider, calls } = counted((n) => n > 1 && new Error("no"));
        const { client } = await tried(t, edge.url, { tokenProvider });
        for (let i = 0; i < 3; i++) await assert.rejects(client.renewToken(), { code: "token_provider" });
        assert.ok(calls.length === 4 && Math.min(...gaps(calls)) >= least, `as it is told to: ${gaps(calls)}`);
      })(),
    ]);
  });

  test("a provider that says that the user has logged out ends the client at once", async (t) => {
    const cause = Object.assign(new LoggedOutError("session 5 has ended"));
    const failing = counted(() => cause);
    const edge = await Edge.start(t);
    const { on, events } = recorder();
    await assert.rejects(connect(edge.url, { tokenProvider: failing.tokenProvider, on }), {
      code: "logged_out",
      cause,
    });
    assert.equal(events.all.length, 0);

    const cases: { [name: string]: (client: { renewToken(): Promise<void> }, edge: Edge) => unknown } = {
      "as it is told to": (client) => assert.rejects(client.renewToken(), { code: "logged_out", cause }),
      "as it reconnects": async (_, { peers }) => peers.all[0]?.send("ERR:token_expired"),
      "as it moves": (_, edge) => {
        edge.refusal = { status: 401, code: "unauthorized" };
        edge.peers.all[0]?.send("RECONNECT");
      },
    };
    await Promise.all(
      Object.entries(cases).map(async ([name, act]) => {
        const edge = await Edge.start(t);
        const { tokenProvider, calls } = counted((n) => n > 1 && cause);
        const { client, event, events } = await tried(t, edge.url, { tokenProvider });
        const sub = await client.subscribe("t", "c");
        await act(client, edge);
        const error = await client.closed;
        assert.deepEqual([error?.code, error?.cause], ["logged_out", cause], name);
        await event("closed");
        await assert.rejects(sub[Symbol.asyncIterator]().next(), { code: "logged_out" });
        assert.equal(calls.length, 2, name);
        assert.ok(!events.all.some((e) => e.name === "edgeError"), name);
      }),
    );
  });

  test("expiresIn counts from when the token came, whatever expiresAt says", async (t) => {
    const edge = await Edge.start(t);
    let asked = 0;
    const tokenProvider = () => ({ token: `AT_${++asked}`, expiresAt: 0, expiresIn: asked === 1 ? 2 : "1h" });
    const { client, event } = await tried(t, edge.url, { tokenProvider });
    await client.subscribe("t", "c");
    await event("moved");
    assert.equal((await edge.peer(1)).token, "AT_2");
    assert.equal(asked, 2);
    for (const expiresIn of [0, -1, Number.NaN, "soon", ""]) {
      const wrong = tried(t, edge.url, { tokenProvider: () => ({ token: "AT_1", expiresIn }) });
      await assert.rejects(wrong, { code: "token_provider" }, String(expiresIn));
    }
  });

  test("retry: now, and the pauses start over", async (t) => {
    const edge = await Edge.start(t);
    const { client, event, events } = await tried(t, edge.url, { minBackOff: 1_000_000, maxBackOff: 1_000_000_000 });
    client.retry(); // nothing to do
    edge.refusal = { status: 500 };
    (await edge.peer(0)).kill();
    const attempts = () => events.all.filter((e) => e.name === "reconnecting");
    for (let n = 1; n < 4; n++) {
      await event("reconnecting", n); // it waits: for up to 1000 s, if nothing else happens
      assert.equal(edge.refused, n);
      client.retry();
    }
    assert.ok(attempts().every((e) => e.delay <= 1_000_000));
    await event("reconnecting", 4);
    edge.refusal = undefined;
    client.retry();
    await event("reconnected");
    client.retry();
    await client.close();
    client.retry();
  });

  test("Retry-After: an edge is left alone for as long as it asks, up to maxBackOff", async (t) => {
    const edge = await Edge.start(t);
    const { client, event } = await tried(t, edge.url, { minBackOff: 1, maxBackOff: 1_000_000 });
    for (const [retryAfter, least, most] of [
      [500, 400_000, 500_000],
      [3600, 900_000, 1_000_000],
    ] as const) {
      const n = retryAfter === 500 ? 0 : 1;
      edge.refusal = { status: 503, code: "draining", retryAfter };
      (await edge.peer(n)).kill();
      const { delay } = await event("reconnecting", 2 * n + 1);
      assert.ok(delay > least && delay <= most, String(delay));
      edge.refusal = undefined;
      client.retry();
      await event("reconnected", n);
    }
  });

  test("Retry-After: another edge is not left alone", async (t) => {
    const [busy, other] = [await Edge.start(t), await Edge.start(t)];
    other.ping = 500; // so that it comes last
    const { event, events } = await tried(t, [busy.url, other.url], { minBackOff: 1, maxBackOff: 60_000 });
    busy.refusal = { status: 503, code: "too_many_connections", retryAfter: 3600 };
    other.refusal = { status: 500 };
    (await busy.peer(0)).kill();
    await other.refusals.until((n) => n === 5);
    other.refusal = undefined;
    await event("reconnected");
    assert.equal(busy.refused, 1);
    assert.ok(events.all.every((e) => e.name !== "reconnecting" || e.delay < 10_000));
  });

  test("the error of a refusal says how long to wait", async (t) => {
    const edge = await Edge.start(t);
    for (const [retryAfter, want] of [
      [7, 7000],
      [0, undefined],
      [Number.NaN, undefined],
      [undefined, undefined],
    ] as const) {
      edge.refusal = retryAfter === undefined ? { status: 429, code: "x" } : { status: 429, code: "x", retryAfter };
      await assert.rejects(tried(t, edge.url, { failFast: true }), { code: "x", retryAfter: want });
    }
  });

  test("errors name what they concern, and say the code once", async (t) => {
    const edge = await Edge.start(t);
    const { client } = await tried(t, edge.url);
    const peer = await edge.peer(0);
    peer.answers = (line) => (line.startsWith("SUB") ? `ERR:permission_denied:${line}` : true);
    const cases: [act: () => Promise<unknown>, want: string][] = [
      [() => client.subscribe("t", "a.b"), 'permission_denied (tenant "t") (pattern "a.b"): '],
      [() => client.subscribe("a b", "x"), 'bad_tenant (tenant "a b"): '],
      [() => client.subscribe("t", "a.*b"), 'bad_pattern (pattern "a.*b"): '],
      [() => client.publish("t", "x..y", ""), 'bad_channel (channel "x..y"): '],
      [() => client.publish("a".repeat(1000), "x", ""), `bad_tenant (tenant "${"a".repeat(256)}"): `],
    ];
    for (const [act, want] of cases) {
      await assert.rejects(act(), ({ message, code }: Error & { code: string }) => {
        assert.ok(message.startsWith(want), message);
        assert.equal(message.split(code).length, 2, message);
        return true;
      });
    }
  });
});
