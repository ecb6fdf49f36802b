// How many messages a second one core decodes and gives to the application:
// deliver frames with payloads of 64 bytes, as WebSocket brings them, and cut
// out of WebTransport's chunks of 64 KiB. The channels take turns.
import { Connection } from "../dist/connection.js";
import { Session } from "../dist/session.js";
import { isFrame, Splitter } from "../dist/splitter.js";
import { Subscription } from "../dist/subscription.js";

const CHANNELS = 20;
const PATTERN = "news.#";
const TOTAL = 3_000_000; // messages of a run
const RUNS = 3;

function frame(channel) {
  const bytes = (text) => new TextEncoder().encode(text);
  const u16 = (n) => [n >> 8, n];
  const tenant = bytes("paint.room");
  const name = bytes(channel);
  const patterns = [PATTERN].map(bytes);
  return Uint8Array.from([
    ...[1, ...u16(tenant.length), ...tenant, ...u16(name.length), ...name],
    ...[0, 0, 0, 64, ...new Uint8Array(64).fill(120)],
    ...[...u16(patterns.length), ...patterns.flatMap((p) => [...u16(p.length), ...p])],
  ]);
}
const frames = Array.from({ length: CHANNELS }, (_, i) => frame(`news.country${i}.today`));

// A session whose link gives out its sink.
function session() {
  const s = new Session([new URL("https://edge.example")], { token: "AT" });
  let sink;
  const link = {
    transport: "webtransport",
    start: (given) => {
      sink = given;
    },
    send() {},
    sent() {},
    close() {},
  };
  const c = new Connection("https://edge.example", link, "AT", s, s.settings);
  s.setCurrent(c);
  let got = 0;
  const config = { onMessage: () => got++, queue: 1, queuePolicy: "end" };
  s.subscriber.subscribe(new Subscription("paint.room", PATTERN, s.subscriber, config));
  return { sink, got: () => got, end: () => c.close() };
}

function websocket({ sink }) {
  for (let i = 0; i < TOTAL; i++) {
    const b = frames[i % CHANNELS];
    sink.frame(b, 0, b.length);
  }
}

function webtransport({ sink }) {
  const parts = [];
  for (let size = 0; size < 1 << 20; ) {
    const b = frames[parts.length % CHANNELS];
    parts.push(Uint8Array.of(0, 0, 0, b.length), b);
    size += 4 + b.length;
  }
  const stream = Buffer.concat(parts);
  const messages = parts.length / 2;
  const chunk = 1 << 16;
  const splitter = new Splitter();
  const give = (b, start, end) => isFrame(b, start, end) && sink.frame(b, start, end);
  for (let done = 0; done < TOTAL; done += messages) {
    for (let at = 0; at < stream.length; at += chunk) {
      splitter.push(new Uint8Array(stream.buffer, stream.byteOffset + at, Math.min(chunk, stream.length - at)), give);
    }
  }
}

for (const kind of [websocket, webtransport]) {
  for (let run = 1; run <= RUNS; run++) {
    const s = session();
    const from = performance.now();
    kind(s);
    const rate = (s.got() / (performance.now() - from)) * 1000;
    s.end();
    console.log(`${kind.name}, run ${run}: ${Math.round(rate / 1000)} k messages/s`);
  }
}
process.exit(); // the connections have no edge that would end them
