// The vectors of wire/testdata, all of them.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { channelToken } from "../src/channel-token.js";
import { DeliverDecoder, encodePublish, isUnknownFrame } from "../src/frames.js";
import { historyLine } from "../src/history-lines.js";
import { decodeText, encodeText, parseServerLine } from "../src/lines.js";
import { isChannel, isPattern, isTenant } from "../src/names.js";
import { decodePresence, isPresence } from "../src/presence-frames.js";
import { contains } from "../src/scope.js";
import { isFrame, Splitter } from "../src/splitter.js";
import { presenceFrame } from "./edge.js";

interface Case {
  comment: string;
  kind?: string;
  input: { text?: string; hex?: string };
  // biome-ignore lint/suspicious/noExplicitAny: JSON of several shapes
  expect: any;
}

const folder = new URL("../../../../wire/testdata/", import.meta.url);
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const bytesOf = ({ text, hex: digits }: Case["input"]): Uint8Array =>
  digits === undefined ? encodeText(text ?? "") : new Uint8Array(Buffer.from(digits, "hex"));

/** vectors reads a file, and runs check for each case. */
function vectors(file: string, check: (c: Case) => void): void {
  test(file, () => {
    const cases: Case[] = JSON.parse(readFileSync(new URL(file, folder), "utf8"));
    assert.ok(cases.length > 0);
    for (const c of cases) {
      try {
        check(c);
      } catch (err) {
        throw new Error(`${c.comment}: ${(err as Error).message}`, { cause: err });
      }
    }
  });
}

const files = new Set(readdirSync(folder).filter((name) => name.endsWith(".json")));
test("every file is known here", () => {
  assert.deepEqual([...files].sort(), [
    "channel_tokens.json",
    "codes.json",
    "deliver.json",
    "deliver_own.json",
    "future.json", // see future.test.ts
    "lines.json",
    "messages.json",
    "names.json",
    "presence.json",
    "publish.json",
    "reasons.json",
    "server_lines.json",
    "stream_lines.json",
  ]);
});

vectors("names.json", ({ kind, input, expect }) => {
  const name = Buffer.from(bytesOf(input)).toString("latin1"); // one character a byte, as long as that
  const legal = { tenant: isTenant, channel: isChannel, pattern: isPattern }[kind as string];
  if (!legal) return assert.equal(kind?.includes("rule"), true, `kind ${kind}`); // grants are the edge's business
  assert.equal(legal(name), expect.valid === true);
});

vectors("server_lines.json", ({ input, expect }) => {
  if (expect.error) return assert.throws(() => parseServerLine(decodeText(bytesOf(input))), { code: "protocol" });
  const line = decodeText(bytesOf(input));
  const l = historyLine(line) ?? parseServerLine(line);
  assert.deepEqual(
    l.kind === "ERR" ? { ...l, detail: l.detail || undefined } : l,
    l.kind === "ERR" ? { detail: undefined, ...expect } : expect,
  );
  const parts =
    l.kind === "OK"
      ? ["OK", l.verb, l.tenant, l.pattern]
      : l.kind === "ERR"
        ? ["ERR", l.code, l.detail]
        : l.kind === "FEATURES"
          ? [l.kind, l.features]
          : l.kind === "LINK"
            ? [l.kind, l.up ? "up" : "down"]
            : Object.values(l);
  assert.equal(parts.filter((part) => part !== "").join(":"), line);
});

vectors("reasons.json", ({ input, expect }) => {
  const line = decodeText(bytesOf(input));
  const parse = () => historyLine(line) ?? parseServerLine(line);
  if (expect.error) return assert.throws(parse, { code: "protocol" });
  const { connection_id, ...known } = expect;
  assert.deepEqual(parse(), known);
});

vectors("codes.json", ({ input, expect }) => {
  if (expect.error) return assert.throws(() => parseServerLine(input.text ?? ""), { code: "protocol" });
  const l = parseServerLine(input.text ?? "");
  assert.ok(l.kind === "ERR");
  assert.equal(l.code, expect.code);
  assert.equal(l.detail, expect.detail ?? "");
});

// What a client sends is made of names that were checked, as `VERB:tenant:pattern`.
vectors("lines.json", ({ input, expect }) => {
  const { verb, tenant, pattern = verb === "RSUB" ? "" : undefined, from, token, features, count, credit } = expect;
  if (expect.error || expect.pattern_hex !== undefined) return;
  const line = [verb, tenant, pattern, from, token, features, count ? "count" : undefined, credit]
    .filter((p) => p !== undefined)
    .join(":");
  const sent = (input.text ?? "").replace(/\r?\n$/, "").replace(/^([A-Z]+)::(?=[^:]|$)/, "$1:~:");
  assert.equal(line, sent);
});

// This client opens no unidirectional streams; these are no lines that it could take for an edge's.
vectors("stream_lines.json", ({ comment, input }) => {
  if (comment === "a server's line") return;
  assert.throws(() => parseServerLine(decodeText(bytesOf(input))), { code: "protocol" });
});

vectors("publish.json", ({ input, expect }) => {
  if (expect.error) return; // a client sends frames, and reads none of these
  const { version, delivery, id = 0, key_hex = "", tenant = "", channel = "", payload_hex = "" } = expect;
  const unhex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "hex"));
  const confirm = version === 3 ? { id, key: unhex(key_hex) } : undefined;
  const frame = encodePublish(tenant, channel, unhex(payload_hex), version > 1 ? delivery : undefined, confirm);
  assert.equal(hex(frame), hex(bytesOf(input)));
});

const decoder = new DeliverDecoder();
for (const file of ["deliver.json", "deliver_own.json"])
  vectors(file, ({ input, expect }) => {
    // In the middle of other bytes, as on a stream, and twice, as the decoder remembers names.
    const frame = bytesOf(input);
    const b = new Uint8Array(frame.length + 7).fill(0x61);
    b.set(frame, 3);
    assert.equal(isUnknownFrame(b, 3, 3 + frame.length), expect.ignored ?? false);
    for (let i = 0; i < 2; i++) {
      if (expect.error) {
        assert.throws(() => decoder.decode(b, 3, 3 + frame.length), { code: "protocol" });
        continue;
      }
      const { tenant, channel, payload, route, position, sender, toOne, own } = decoder.decode(b, 3, 3 + frame.length);
      const got = { tenant, channel, payload_hex: hex(payload), patterns: route.patterns, position, sender };
      assert.deepEqual([toOne, own && hex(own)], [expect.to_one ?? false, expect.key_hex]);
      const { to_one, key_hex, ...rest } = expect;
      assert.deepEqual(got, {
        ...rest,
        tenant: expect.tenant ?? "",
        channel: expect.channel ?? "",
        payload_hex: expect.payload_hex ?? "",
        position: expect.position,
        sender: expect.sender ?? "",
      });
      assert.equal(
        hex(encodeDeliver(got.tenant, got.channel, payload, got.patterns, position, expect.sender, toOne, own)),
        hex(frame),
      );
    }
    // Every truncation is an error.
    if (!expect.error)
      for (let n = 0; n < frame.length; n++) assert.throws(() => decoder.decode(b, 3, 3 + n), { code: "protocol" });
  });

vectors("presence.json", ({ input, expect }) => {
  const frame = bytesOf(input);
  const b = new Uint8Array(frame.length + 7).fill(0x61); // in the middle of other bytes, as on a stream
  b.set(frame, 3);
  const end = 3 + frame.length;
  assert.equal(isPresence(b, 3, end), frame[0] === 5);
  assert.equal(isUnknownFrame(b, 3, end), expect.ignored ?? false);
  assert.throws(() => decoder.decode(b, 3, end), { code: "protocol" });
  if (expect.ignored || frame.length === 0) return; // not decoded
  const decode = (to: number) => decodePresence(b, 3, to);
  if (expect.error) return assert.throws(() => decode(end), { code: "protocol" });
  const { members = [], channels = [], ...head } = expect;
  const got = decode(end);
  assert.deepEqual(got, {
    ...{ tenant: "", pattern: "", first: false, synced: false, counts: false, ...head },
    members: members.map((m: object) => ({ channel: "", subject: "", here: false, since: 0, info: "", ...m })),
    channels: channels.map((c: object) => ({ channel: "", members: 0, ...c })),
  });
  assert.equal(hex(presenceFrame(got)), hex(frame));
  for (let n = 1; n < frame.length; n++) assert.throws(() => decode(3 + n), { code: "protocol" });
});

export function encodeDeliver(
  tenant: string,
  channel: string,
  payload: Uint8Array,
  patterns: readonly string[],
  position?: string,
  sender?: string,
  toOne = false,
  own?: Uint8Array,
): Buffer {
  const u16 = (n: number): Buffer => Buffer.from([n >> 8, n]);
  const sized = (text: string): Buffer => Buffer.concat([u16(Buffer.byteLength(text)), Buffer.from(text)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(payload.length);
  const bits = [position !== undefined, sender !== undefined, toOne, own !== undefined];
  const fields = bits.reduce((all, bit, i) => all | (Number(bit) << i), 0);
  return Buffer.concat([
    fields === 0 ? Buffer.from([1]) : Buffer.from([4, fields]),
    position === undefined ? Buffer.alloc(0) : encodePosition(position),
    sender === undefined ? Buffer.alloc(0) : Buffer.from([Buffer.byteLength(sender), ...Buffer.from(sender)]),
    own === undefined ? Buffer.alloc(0) : Buffer.from([own.length, ...own]),
    sized(tenant),
    sized(channel),
    length,
    payload,
    u16(patterns.length),
    ...patterns.map(sized),
  ]);
}

function encodePosition(position: string): Buffer {
  const [epoch = "", n = "", t = ""] = position.split(".");
  const b = Buffer.alloc(24);
  b.write(epoch, "hex");
  b.writeBigUInt64BE(BigInt(n), 8);
  b.writeBigUInt64BE(BigInt(t), 16);
  return b;
}

vectors("channel_tokens.json", ({ input, expect }) => {
  // What is not UTF-8 is a lone surrogate, written as if it could be.
  const surrogate = (bytes: string): string =>
    bytes.replace(/[\xed][\xa0-\xbf][\x80-\xbf]/g, ([, second = "", third = ""]) =>
      String.fromCharCode(0xd000 | ((second.charCodeAt(0) & 0x3f) << 6) | (third.charCodeAt(0) & 0x3f)),
    );
  const text =
    input.hex === undefined ? (input.text ?? "") : surrogate(Buffer.from(input.hex, "hex").toString("latin1"));
  if (expect.error) return assert.throws(() => channelToken(text), { code: expect.error });
  const token = channelToken(text);
  assert.equal(token, expect.token);
  assert.ok(isChannel(token) && isPattern(token) && !/[.*>#]/.test(token));
});

vectors("messages.json", ({ input, expect }) => {
  const all = bytesOf(input);
  const pieces = [1, 2, 3, 5, 7, 64, Math.max(1, all.length)];
  for (const size of pieces) {
    const splitter = new Splitter(65_536 + 4096); // as an edge by default
    const messages: object[] = [];
    let whole = "";
    let close: number | undefined;
    const give = (b: Uint8Array, start: number, end: number): void => {
      const message = b.subarray(start, end);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(message.length);
      whole += hex(length) + hex(message);
      if (isFrame(b, start, end)) messages.push({ kind: "frame", hex: hex(message) });
      else {
        try {
          const text = decodeText(message);
          messages.push(text === "" ? { kind: "line" } : { kind: "line", text });
        } catch {
          messages.push({ kind: "line", hex: hex(message) });
        }
      }
    };
    try {
      for (let at = 0; at < all.length; at += size) splitter.push(all.slice(at, at + size), give);
    } catch {
      close = 1009;
    }
    const want = (expect.messages ?? []).map((m: { text?: string; kind: string }) =>
      m.text === "" ? { kind: m.kind } : m,
    );
    assert.deepEqual(messages, want);
    assert.equal(close, expect.close);
    assert.equal(whole + (expect.rest_hex ?? ""), hex(all));
    if (close === undefined) assert.equal(splitter.held, (expect.rest_hex ?? "").length / 2);
  }
});

test("contain.json", () => {
  const file = new URL("../../pubsub/pattern/testdata/contain.json", folder);
  const cases: { rule: string; pattern: string; expect: boolean }[] = JSON.parse(readFileSync(file, "utf8"));
  for (const { rule, pattern, expect } of cases) assert.equal(contains(rule, pattern), expect, `${rule} ${pattern}`);
});
