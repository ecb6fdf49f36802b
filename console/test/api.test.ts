import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Api, type ApiConfig, type Gate } from "../src/api/client.js";
import { OperatorGate } from "../src/api/gate.js";
import { Poller } from "../src/api/poller.js";
import { ApiError, sentence } from "../src/api/problem.js";

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers });
const refusal = (status: number, code: string) => json(status, { code, detail: `detail of ${code}` });

// api answers requests from a list, and records them and what the gate was asked.
function api(answers: (Response | Error)[], given: boolean[] = [], rest: Partial<ApiConfig> = {}) {
  const seen: { url: string; init: RequestInit | undefined }[] = [];
  const asked: string[] = [];
  const ask = (what: string) => {
    asked.push(what);
    return Promise.resolve(given.shift() ?? false);
  };
  const gate: Gate = { ended: false, signIn: () => ask("sign-in"), confirm: () => ask("confirm") };
  const made = new Api({
    base: new URL("https://edge.example/console/api/"),
    gate,
    takeActivity: () => false,
    fetch: async (url, init) => {
      seen.push({ url: String(url), init });
      const answer = answers.shift();
      if (answer instanceof Response) return answer;
      throw answer;
    },
    ...rest,
  });
  return { made, seen, asked };
}

test("after signing in, a call is repeated with its body", async () => {
  const { made, seen, asked } = api([refusal(401, "no_session"), json(200, { id: "x" })], [true]);
  assert.deepEqual(await made.call("POST", "master-tokens", { body: { name: "a" } }), { id: "x" });
  assert.deepEqual(asked, ["sign-in"]);
  assert.deepEqual(
    seen.map(({ init }) => init?.body),
    ['{"name":"a"}', '{"name":"a"}'],
  );
  assert.equal(seen[0]?.url, "https://edge.example/console/api/master-tokens");
});

test("a call may need both: a session, and the password again", async () => {
  const { made, asked } = api(
    [refusal(403, "confirmation_required"), refusal(401, "no_session"), json(200, {})],
    [true, true],
  );
  await made.call("DELETE", "master-tokens/1");
  assert.deepEqual(asked, ["confirm", "sign-in"]);
});

test("an operator who declines ends the call", async () => {
  const { made } = api([refusal(401, "no_session")], [false]);
  await assert.rejects(made.get("tokens"), { code: "no_session" });
  const other = api([refusal(403, "confirmation_required")], [false]);
  await assert.rejects(other.made.call("POST", "master-tokens"), { code: "confirmation_required" });
});

test("a server that always refuses is not asked forever", async () => {
  const { made, asked } = api(
    Array.from({ length: 9 }, () => refusal(401, "no_session")),
    Array(9).fill(true),
  );
  await assert.rejects(made.get("tokens"), { code: "no_session" });
  assert.equal(asked.length, 4);
});

test("other refusals reach the caller with their detail", async () => {
  const { made, asked } = api([refusal(403, "not_a_manager"), json(429, { code: "too_many" }, { "Retry-After": "7" })]);
  await assert.rejects(made.call("POST", "tokens"), { code: "not_a_manager", message: "detail of not_a_manager" });
  await assert.rejects(made.get("tokens"), { retryAfter: 7, status: 429 });
  assert.deepEqual(asked, []);
});

test("no answer, and one that is no JSON", async () => {
  const { made } = api([new TypeError("Failed to fetch"), new Response("<p>", { status: 502 }), new Response("<p>")]);
  await assert.rejects(made.get("a"), { code: "unreachable", status: 0 });
  await assert.rejects(made.get("a"), { code: "unknown", message: /502/ });
  await assert.rejects(made.get("a"), { code: "bad_answer" });
});

test("calls of timers are marked, unless the operator did something", async () => {
  let active = false;
  const { made, seen } = api([json(200, {}), json(200, {}), json(200, {})], [], { takeActivity: () => active });
  const marks = () => seen.map(({ init }) => new Headers(init?.headers).get("Console-Background"));
  await made.get("a", { background: true });
  active = true;
  await made.get("a", { background: true });
  active = false;
  await made.get("a");
  assert.deepEqual(marks(), ["1", null, null]);
});

test("a timer asks nobody who has declined to sign in", async () => {
  const gate = { ended: true, signIn: () => assert.fail(), confirm: () => assert.fail() };
  const { made, seen } = api([], [], { gate });
  await assert.rejects(made.get("a", { background: true }), { code: "no_session" });
  assert.equal(seen.length, 0);
});

test("the server's time comes from its answers", async () => {
  const { made } = api([json(200, {}, { Date: "Thu, 31 Jan 2030 12:00:00 GMT" })], [], { now: () => 1000 });
  assert.equal(made.serverNow(), 1000);
  await made.get("a");
  assert.equal(made.serverNow(), Date.parse("2030-01-31T12:00:00Z"));
});

test("calls that wait share one question", async () => {
  let changes = 0;
  const gate = new OperatorGate(() => changes++);
  const both = [gate.signIn(), gate.signIn()];
  assert.equal(gate.question, "sign-in");
  assert.equal(changes, 1);
  gate.answer(true);
  assert.deepEqual(await Promise.all(both), [true, true]);
  assert.equal(gate.question, undefined);
  const declined = gate.signIn();
  gate.answer(false);
  assert.equal(await declined, false);
  assert.equal(gate.ended, true);
  gate.opened();
  assert.equal(gate.ended, false);
});

test("signing in comes before giving the password again", async () => {
  const gate = new OperatorGate(() => {});
  const confirmed = gate.confirm();
  const signedIn = gate.signIn();
  assert.equal(gate.question, "sign-in");
  gate.answer(true);
  assert.deepEqual(await Promise.all([confirmed, signedIn]), [true, true]);
});

test("a sentence of a problem", () => {
  assert.equal(sentence(new ApiError("a", 400, "name: must be short")), "Name: must be short.");
  assert.equal(sentence("Done."), "Done.");
});

test("polling: one request at a time, less often while it fails, none while hidden", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  let hidden = false;
  let fail = false;
  let asked = 0;
  let release: (() => void) | undefined;
  const poller = new Poller({
    every: 1000,
    hidden: () => hidden,
    ask: () => {
      asked++;
      if (fail) return Promise.reject(new Error("no"));
      return new Promise((resolve) => {
        release = resolve;
      });
    },
  });
  poller.refresh();
  mock.timers.tick(10_000);
  assert.equal(asked, 1); // the first one is still under way
  poller.refresh();
  assert.equal(asked, 1);
  release?.();
  await settle();
  assert.equal(asked, 2); // what was asked for meanwhile
  fail = true;
  release?.();
  await settle();
  mock.timers.tick(1000);
  await settle();
  assert.equal(asked, 3);
  assert.equal(poller.pause, 2000);
  mock.timers.tick(1999);
  assert.equal(asked, 3);
  mock.timers.tick(1);
  await settle();
  assert.equal(asked, 4);
  hidden = true;
  mock.timers.tick(60_000);
  assert.equal(asked, 4);
  poller.wake();
  assert.equal(asked, 4);
  hidden = false;
  poller.wake();
  assert.equal(asked, 5);
  await settle();
  poller.stop();
  mock.timers.tick(120_000);
  assert.equal(asked, 5);
  mock.timers.reset();
});
