import assert from "node:assert/strict";
import { test } from "node:test";
import { extend, type Found, MAX_KEPT, numberOf } from "../src/lib/kept.js";
import { formatOf, keep, keepBase64, MAX_SHOWN, preview, show } from "../src/lib/payload.js";
import { marked, plainText, type Right, rulePath, sentences } from "../src/lib/right.js";
import { addCounts, rangeOf, type Samples, sumSeries } from "../src/lib/samples.js";

const encode = (text: string) => keep(new TextEncoder().encode(text));

test("a right in sentences", () => {
  const right: Right = {
    tenant_grants: [
      { tenant_ids: ["paint.room", "paint.hall"], allow_channels_pub: ["news.#"], allow_channels_sub: ["a", "b", "c"] },
      { tenant_ids: ["quiet"] },
      { tenant_ids: ["log"], allow_channels_sub: ["#"], allow_channels_history: ["a", "b"] },
      { tenant_ids: ["hall"], allow_channels_sub: ["#"], allow_channels_presence: ["room.#"] },
    ],
    allow_ip_masks: ["10.0.0.0/8"],
    allowed_ws_origin: ["https://app.example"],
    allow_protocols: ["websocket"],
    ingress_kb_per_sec: 16,
  };
  assert.deepEqual(sentences(right).map(plainText), [
    "may publish to news.# in paint.room or paint.hall",
    "may subscribe to a, b and c in paint.room or paint.hall",
    "may neither publish nor subscribe in quiet",
    "may subscribe to # in log",
    "may read stored messages of a and b in log",
    "may subscribe to # in hall",
    "may see who is present in room.# in hall",
    "from 10.0.0.0/8",
    "from pages of https://app.example",
    "by websocket",
    "may send 16 KB/s and receive as much as the edge's default on each connection",
  ]);
  const least = sentences({ tenant_grants: null }).map(plainText);
  assert.deepEqual(least.slice(0, 2), ["from any address", "by WebSocket or WebTransport"]);
});

test("of a long list the first rules are shown, and the one that decided", () => {
  const rules = Array.from({ length: 256 }, (_, i) => `r${i}`);
  const right: Right = { tenant_grants: [{ tenant_ids: ["t"], allow_channels_pub: rules }] };
  const text = (mark: string) => plainText(sentences(right, mark)[0] ?? []);
  assert.match(text(""), /^may publish to r0, .*, r19 and 236 others in t$/);
  assert.match(text("right.tenant_grants[0].allow_channels_pub[200]"), /, r19, r200 and 235 others in t$/);
});

test("the rule of an explanation", () => {
  const path = rulePath('right.tenant_grants[0].allow_channels_pub[1] "a.#"');
  assert.equal(path, "right.tenant_grants[0].allow_channels_pub[1]");
  assert.ok(marked("right.tenant_grants[0].allow_channels_pub[1]", path));
  assert.ok(!marked("right.tenant_grants[0].allow_channels_pub[10]", path));
  assert.ok(marked("right.allow_ip_masks[0]", rulePath("right.allow_ip_masks [10.0.0.0/8]")));
  assert.ok(!marked("right.allow_ip_masks[0]", rulePath("")));
  assert.equal(rulePath(undefined), "");
});

test("payloads as text, JSON and hex", () => {
  assert.deepEqual(show(encode('{"a":[1,"x"]}'), "json"), { text: '{\n  "a": [\n    1,\n    "x"\n  ]\n}' });
  assert.equal(show(encode("<b>hi</b>"), "text").text, "<b>hi</b>");
  const none = show(encode("hello"), "json");
  assert.equal(none.text, "hello");
  assert.ok(none.note);
  assert.equal(show(keep(Uint8Array.of(0, 1, 0x41, 0xff)), "hex").text, `0000  ${"00 01 41 ff".padEnd(47)}  ..A.`);
  assert.equal(show(keep(Uint8Array.of(0xff)), "text").text, "\ufffd");
  assert.equal(preview(encode(""), "text"), "(empty)");
  assert.equal(preview(encode("a\n b"), "text"), "a b");
  assert.equal(preview(encode("x".repeat(200)), "text"), `${"x".repeat(160)}…`);
});

test("a payload is cut, and keeps no more memory than that", () => {
  const whole = new Uint8Array(100_000).fill(0x78);
  const kept = keep(whole.subarray(10));
  assert.equal(kept.bytes.length, MAX_SHOWN);
  assert.equal(kept.bytes.buffer.byteLength, MAX_SHOWN);
  assert.equal(kept.size, 99_990);
  for (const format of ["text", "json", "hex"] as const) assert.match(show(kept, format).note ?? "", /16 KiB/);
});

test("deeply nested JSON is not indented: it would grow with the square", () => {
  const n = 4000;
  const nested = show(encode("[".repeat(n) + "]".repeat(n)), "json");
  assert.equal(nested.text.length, 2 * n);
  assert.ok(nested.note);
  assert.equal(show(encode(JSON.stringify(["[".repeat(100)])), "json").note, undefined); // in a string it does not count
});

function samples(end: number, connections: number[], interval_seconds = 5): Samples {
  const none = connections.map(() => 0);
  return {
    end,
    interval_seconds,
    connections,
    messages_in: none,
    deliveries: none,
    dropped: none,
    refused: none,
    memory_bytes: none,
  };
}

test("the samples of edges are added by time", () => {
  const sum = (all: Samples[]) => sumSeries(all, "connections", 5);
  assert.deepEqual(sum([]), [null, null, null, null, null]);
  assert.deepEqual(sum([samples(100, [1, 2, 3])]), [null, null, 1, 2, 3]);
  assert.deepEqual(sum([samples(100, [1, 2, 3]), samples(100, [10, 20, 30, 40])]), [null, 10, 21, 32, 43]);
  // One edge answered just before its next sample: the sum ends where both know.
  assert.deepEqual(sum([samples(105, [1, 2, 3, 4]), samples(100, [10, 20, 30])]), [null, null, 11, 22, 33]);
  // A clock that is an hour wrong: its newest sample is now.
  assert.deepEqual(sum([samples(100, [1, 2]), samples(100, [1, 2]), samples(3700, [10, 20])]), [
    null,
    null,
    null,
    12,
    24,
  ]);
  assert.deepEqual(sum([samples(100, []), samples(100, [7])]), [null, null, null, null, 7]);
  assert.deepEqual(sum([samples(100, [1, 2, 3, 4, 5, 6, 7])]), [3, 4, 5, 6, 7]);
});

test("bounds and counts", () => {
  assert.deepEqual(rangeOf([null, 3, 1, null, 2, null]), { min: 1, now: 2, max: 3 });
  assert.equal(rangeOf([null]), undefined);
  assert.deepEqual(addCounts([{ a: 1, b: 5 }, undefined, { a: 2 }]), [
    ["b", 5],
    ["a", 3],
  ]);
});

test("a payload that comes as base64 is decoded as far as it is shown", () => {
  for (const text of ["", "a", "ab", "abc", "größe 💧", "x".repeat(MAX_SHOWN), "x".repeat(MAX_SHOWN + 1)]) {
    const whole = new TextEncoder().encode(text);
    const kept = keepBase64(Buffer.from(whole).toString("base64"));
    assert.equal(kept.size, whole.length);
    assert.deepEqual(kept.bytes, whole.slice(0, MAX_SHOWN));
  }
  const large = keepBase64(Buffer.alloc(1_000_000, 7).toString("base64"));
  assert.equal(large.size, 1_000_000);
  assert.equal(large.bytes.buffer.byteLength, MAX_SHOWN);
  assert.throws(() => keepBase64("<script>"));
});

test("text is shown as text, and anything else as hex", () => {
  const format = (...bytes: number[]) => formatOf(keep(Uint8Array.from(bytes)));
  assert.equal(formatOf(encode("<script>alert(1)</script>\t\r\ngröße 💧")), "text");
  assert.equal(format(), "text");
  assert.equal(format(0x41, 0), "hex");
  assert.equal(format(0x1b, 0x5b), "hex");
  assert.equal(format(0xff, 0xfe), "hex");
  assert.equal(formatOf(encode("a\u0085")), "hex");
  assert.equal(format(0xe2, 0x82), "hex"); // a character that is cut, and no more of it
  assert.equal(formatOf(encode(`x${"€".repeat(10_000)}`)), "text"); // cut within a character
  assert.equal(formatOf(encode(`${"x".repeat(MAX_SHOWN)}\u0000`)), "text"); // as far as it is known
});

test("of what is read, the newest messages are held, and how many went is known", () => {
  const page = (from: number, n: number) =>
    Array.from({ length: n }, (_, i) => ({
      position: `00000000000000ab.${from + i}.1700000000000`,
      time: "2030-01-31T12:00:00Z",
      channel: "chat.1",
      payload: Buffer.from(`message ${from + i}`).toString("base64"),
    }));
  let found: Found = { messages: [], omitted: 0 };
  for (let from = 0; from < MAX_KEPT; from += 50) found = extend(found, page(from, 50));
  assert.equal(found.messages.length, MAX_KEPT);
  assert.equal(found.omitted, 0);
  found = extend(found, page(MAX_KEPT, 3));
  assert.equal(found.messages.length, MAX_KEPT);
  assert.equal(found.omitted, 3);
  assert.equal(numberOf(found.messages[0]?.position ?? ""), "3");
  assert.equal(show(found.messages.at(-1)?.payload ?? encode(""), "text").text, `message ${MAX_KEPT + 2}`);
  assert.deepEqual(extend(found, []), found);
});
