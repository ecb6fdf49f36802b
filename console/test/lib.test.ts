import assert from "node:assert/strict";
import { test } from "node:test";
import { caddyfileLines, quote } from "../src/lib/caddyfile.js";
import { MAX_LIFETIME, parseExpiry } from "../src/lib/expiry.js";
import { ago, duration, plural, size, utc } from "../src/lib/format.js";
import { maskError } from "../src/lib/mask.js";
import { isTenant, storedPrefix } from "../src/lib/prefix.js";
import { quorumText } from "../src/lib/quorum.js";
import { parseRoute, routeTo } from "../src/lib/route.js";
import { bytes, characters, cut, ID_RULE, idOf, join, lines } from "../src/lib/text.js";

test("a prefix gets a dot after a letter or digit", () => {
  const cases: [string, string | undefined][] = [
    ["", ""],
    ["paint", "paint."],
    ["paint.", "paint."],
    ["Paint9", "Paint9."],
    ["paint-", "paint-"],
    ["paint_", "paint_"],
    ["~@", "~@"],
    ["a".repeat(126), `${"a".repeat(126)}.`],
    ["a".repeat(127), undefined], // with the dot, it is too long
    [`${"a".repeat(126)}-`, `${"a".repeat(126)}-`],
    ["paint room", undefined],
    ["pa:int", undefined],
    ["größe", undefined],
    ["paint\n", undefined],
  ];
  for (const [given, stored] of cases) assert.equal(storedPrefix(given), stored, JSON.stringify(given));
});

test("tenant names", () => {
  for (const name of ["a", "paint.room", "~", "..", "x".repeat(128)]) assert.ok(isTenant(name), name);
  for (const name of ["", "a b", "a#", "x".repeat(129), "ä"]) assert.ok(!isTenant(name), name);
});

test("masks are addresses and CIDRs, as net/netip reads them", () => {
  const legal =
    "1.2.3.4 0.0.0.0/0 10.0.0.0/8 255.255.255.255/32 ::1 :: ::/0 2001:db8::/32 2001:DB8::1 1:2:3:4:5:6:7:8 " +
    "1:2:3:4:5:6:1.2.3.4 ::1.2.3.4 1::8 64:ff9b::1.2.3.4/96 fe80::1/128 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 ::ffff:0:0:1";
  for (const mask of legal.split(" ")) assert.equal(maskError(mask), undefined, mask);
  const illegal =
    "x 1.2.3 1.2.3.4.5 1.2.3.256 01.2.3.4 1.2.3.4/33 1.2.3.4/ 1.2.3.4/08 1.2.3.4/+8 1.2.3.4/-1 ::1/129 /8 ::ffff:1.2.3.4 " +
    "::ffff:102:304/120 fe80::1%eth0 fe80::%1/64 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 ::: 12345:: g:: 1:2:3:4:5:6:7::8 " +
    ":1:2:3:4:5:6:7 1.2.3.4:: 1:2:3:4:5:6:7:1.2.3.4 0.0.0.0/0/0 [::1] 1.2.3.4:80 ::1: 0:0:0:0:0:ffff:0:1";
  for (const mask of illegal.split(" ")) assert.notEqual(maskError(mask), undefined, mask);
  assert.notEqual(maskError(""), undefined);
});

test("characters are code points, bytes those of UTF-8", () => {
  for (const [text, n, size] of [
    ["", 0, 0],
    ["abc", 3, 3],
    ["größe", 5, 7],
    ["💧💧", 2, 8],
    ["e\u0301", 2, 3],
    ["\ud800", 1, 3], // sent as U+FFFD
  ] as const) {
    assert.equal(characters(text), n, text);
    assert.equal(bytes(text), size, text);
  }
});

test("lists as people type them", () => {
  assert.deepEqual(lines(" a, b\nc\r\n\n d "), ["a", "b", "c", "d"]);
  assert.deepEqual(lines("  "), []);
  assert.equal(join(["a", "b", "c"]), "a, b and c");
  assert.equal(join([]), "");
  assert.equal(cut("💧💧💧💧", 3), "💧💧…");
  assert.equal(cut("abc", 3), "abc");
});

test("an end is a duration or a time within 24 hours", () => {
  const now = Date.parse("2030-01-31T12:00:00.400Z");
  const legal: [string, string][] = [
    ["15m", "2030-01-31T12:15:00Z"],
    [" 1h ", "2030-01-31T13:00:00Z"],
    ["1h30m", "2030-01-31T13:30:00Z"],
    ["1h 30 min", "2030-01-31T13:30:00Z"],
    ["90 minutes", "2030-01-31T13:30:00Z"],
    ["2 hours", "2030-01-31T14:00:00Z"],
    ["45 s", "2030-01-31T12:00:45Z"],
    ["24h", "2030-02-01T12:00:00Z"],
    ["1d", "2030-02-01T12:00:00Z"],
    ["2030-01-31T13:00:00Z", "2030-01-31T13:00:00Z"],
    ["2030-01-31 15:00 +02:00", "2030-01-31T13:00:00Z"],
    ["2030-01-31t13:00:00.9z", "2030-01-31T13:00:00Z"],
  ];
  for (const [text, at] of legal) {
    assert.equal(parseExpiry(text, now).at?.toISOString(), new Date(at).toISOString(), text);
  }
  for (const text of [
    "",
    "x",
    "1",
    "1 fortnight",
    "25h",
    "24h 1s",
    "0m",
    "-1h",
    "1.5h",
    "2030-01-31T11:00:00Z",
    "2030-02-02",
    "1h x",
    "1hm",
  ]) {
    assert.ok(parseExpiry(text, now).error, text);
  }
  assert.ok((parseExpiry("24h", now).at?.getTime() ?? Infinity) <= now + MAX_LIFETIME);
});

test("numbers and times", () => {
  assert.equal(plural(1, "connection"), "1 connection");
  assert.equal(plural(1200, "connection"), "1,200 connections");
  assert.equal(size(0), "0 bytes");
  assert.equal(size(1536), "1.5 KiB");
  assert.equal(size(300 * 2 ** 20), "300 MiB");
  assert.equal(duration(90_000), "1 min 30 s");
  assert.equal(duration(86_400_000), "1 d");
  assert.equal(duration(3_601_000), "1 h");
  assert.equal(duration(0), "0 s");
  assert.equal(ago("2030-01-31T12:00:00Z", Date.parse("2030-01-31T11:00:00Z")), "in 1 h");
  assert.equal(ago(0, 5000), "5 s ago");
  assert.equal(ago(0, 119_000), "1 min ago");
  assert.equal(ago(90_060_000, 0), "in 1 d 1 h");
  assert.equal(ago("never", 0), "");
  assert.equal(utc("2030-01-31T12:00:01.9Z"), "2030-01-31 12:00:01 UTC");
});

test("screens and filters stand in the hash", () => {
  assert.deepEqual(parseRoute(""), { screen: "overview", query: {} });
  assert.deepEqual(parseRoute("#/connections?token_id=ab&tenant=a%26b"), {
    screen: "connections",
    query: { token_id: "ab", tenant: "a&b" },
  });
  assert.equal(routeTo("tokens", { id: "ab", tenant: "" }), "#/tokens?id=ab");
  assert.equal(routeTo("tokens", { subject: "a b+c" }), "#/tokens?subject=a%20b%2Bc");
  assert.equal(routeTo("edges"), "#/edges");
});

test("the lines for a Caddyfile", () => {
  assert.equal(
    caddyfileLines({ name: "the app", tenant_prefix: "paint.", allow_ip_masks: ["10.0.0.0/8", "::1"], max_tokens: 5 }),
    'master_token {env.MILLRACE_MASTER_TOKEN} {\n\tname "the app"\n\ttenant_prefix paint.\n\tallow_ip_masks 10.0.0.0/8 ::1\n\tmax_tokens 5\n}',
  );
  assert.equal(quote('say "so"'), '`say "so"`');
  assert.equal(quote("back\\"), "`back\\`");
  for (const odd of ["{$HOME}", "{env.X}", 'a`"', "a\nb", "\u202eabc"]) assert.equal(quote(odd), undefined, odd);
});

test("no secret of a token gets into an address", () => {
  const id = "0123456789abcdef0123456789abcdef";
  const secret = "fedcba9876543210fedcba9876543210";
  assert.equal(idOf(`AT_${id}_${secret}`), id);
  assert.equal(idOf(`MT_${id}_${secret}`), id);
  assert.equal(idOf(id.slice(0, 5)), id.slice(0, 5));
  for (const text of ["", "0a", id]) assert.ok(ID_RULE.test(text), text);
  for (const text of [`${id}_${secret}`, `${id}0`, "x", "AT_"]) assert.ok(!ID_RULE.test(text), text);
  for (const text of [`AT_${id}_${secret}`, `x AT_${id}_${secret} y`, `mt_${id}${secret}`]) {
    assert.ok(!routeTo("tokens", { created_by: text }).includes("fedcba98"), text);
  }
});

test("the members say how many more may be lost", () => {
  const member = { name: "e", state: "current", behind: 0, replicas: 0, lagging: 0 };
  const cases: [number, number, number, string, string, boolean][] = [
    [3, 2, 3, "e", "3 of 3 members run, and 2 must: 1 more may be lost.", false],
    [2, 2, 2, "e", "a loss stops the cluster", false],
    [4, 3, 3, "e", "one more loss stops the cluster", true],
    [4, 3, 2, "", "nothing can be stored. Start", true],
    [3, 2, 3, "", "none leads", true],
    [0, 2, 0, "", "No member leads yet", true],
  ];
  for (const [all, needed, running, leader, text, wrong] of cases) {
    const got = quorumText({ members: Array(all).fill(member), leader, needed, running });
    assert.ok(got.text.includes(text) && got.wrong === wrong, JSON.stringify(got));
  }
});
