import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { isLoopback, parseAddress } from "../src/address.js";
import { resolveEdges } from "../src/edges.js";
import { settings } from "../src/options.js";
import { Clock } from "./fixture.js";

const s = settings({ token: "AT_a", connectTimeout: 1000 });
const never = new AbortController().signal;
const urls = (...all: string[]): URL[] => all.map((url) => parseAddress(url, false));

/** net answers fetches: a number is the delay of a ping in ms, -1 a refusal. */
function net(t: TestContext, answers: { [url: string]: number | object }) {
  const asked = new Map<string, number>();
  t.mock.method(globalThis, "fetch", async (input: URL | string, { signal }: RequestInit) => {
    const url = String(input);
    asked.set(url, (asked.get(url) ?? 0) + 1);
    const answer = answers[url];
    if (answer === undefined) throw new TypeError("fetch failed");
    if (typeof answer === "object") return Response.json(answer);
    if (answer < 0) return new Response("", { status: 503 });
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, answer);
      signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
    return new Response("pong");
  });
  return asked;
}

/** resolved resolves edges in the time of the test. */
async function resolved(t: TestContext, addresses: URL[]): Promise<string[]> {
  const clock = new Clock(t);
  let edges: string[] | undefined;
  const resolving = resolveEdges(addresses, s, never).then((all) => (edges = all));
  await clock.until(() => edges !== undefined);
  return resolving;
}

test("loopback", () => {
  for (const host of ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]"]) assert.ok(isLoopback(host), host);
  for (const host of ["localhost.example", "128.0.0.1", "127.0.0.1.example", "[::2]"])
    assert.ok(!isLoopback(host), host);
});

test("one edge is not probed", async (t) => {
  const asked = net(t, {});
  assert.deepEqual(await resolveEdges(urls("https://a.example/"), s, never), ["https://a.example"]);
  assert.equal(asked.size, 0);
});

test("the nearest first, those that do not serve last", async (t) => {
  const asked = net(t, {
    "https://slow.example/ping": 60,
    "https://near.example/ping": 1,
    "https://draining.example/ping": -1,
    "https://never.example/ping": 60_000,
  });
  const given = ["never", "slow", "draining", "near", "gone"].map((name) => `https://${name}.example`);
  const sorted = ["near", "slow", "never", "draining", "gone"].map((name) => `https://${name}.example`);
  assert.deepEqual(await resolved(t, urls(...given)), sorted);
  assert.equal(asked.get("https://near.example/ping"), 3);
  assert.equal(asked.get("https://draining.example/ping"), 1);
});

test("a list, and an edge that it names, too", async (t) => {
  net(t, {
    "https://a.example/edges": { edges: [{ host: "a.example", region: "EU" }, { host: "b.example:8443" }] },
    "https://a.example/ping": 40,
    "https://b.example:8443/ping": 1,
  });
  const edges = await resolved(t, urls("https://a.example", "https://a.example/edges"));
  assert.deepEqual(edges, ["https://b.example:8443", "https://a.example"]);
});

test("invalid lists", async (t) => {
  net(t, {
    "https://a.example/x": { edges: [{ host: "a/b" }, { host: 1 }] },
    "https://a.example/y": {},
    "https://a.example/z": -1,
    "https://a.example/e": { edges: [] },
  });
  for (const path of ["y", "z", "e", "none"]) {
    await assert.rejects(resolveEdges(urls(`https://a.example/${path}`), s, never), { code: "unreachable" }, path);
  }
  const edges = await resolveEdges(urls("https://a.example/none", "https://b.example"), s, never);
  assert.deepEqual(edges, ["https://b.example"], "another address will do");
});

test("nobody answers: in the order given", async (t) => {
  net(t, {});
  assert.deepEqual(await resolveEdges(urls("https://a.example", "https://b.example"), s, never), [
    "https://a.example",
    "https://b.example",
  ]);
});
