// An edge that does what a test says, over WebSocket on loopback.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import type { CountEntry, MemberEntry, PresenceFrame } from "../src/presence-frames.js";

/** A Record is a list that can be waited on. */
export class Record<T> {
  readonly all: T[] = [];
  #waiting: (() => void)[] = [];

  add(value: T): void {
    this.all.push(value);
    for (const look of this.#waiting.splice(0)) look();
  }

  /** until resolves with the first value, from index on, that fits. */
  async until(fits: (value: T) => boolean, from = 0): Promise<T> {
    for (;;) {
      const found = this.all.slice(from).find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }
}

export class Peer {
  readonly token: string | undefined;
  /** What the client has asked for with FEATURES. */
  asked: string | undefined;
  readonly lines = new Record<string>();
  readonly frames = new Record<Buffer>();
  readonly closed = new Record<number>();
  /** Lines that it answers itself, as it should or with a text; others a test must answer. */
  answers: (line: string) => boolean | string;
  readonly #socket: WebSocket;
  readonly #below: Duplex;

  constructor(
    socket: WebSocket,
    below: Duplex,
    request: IncomingMessage,
    answers: (line: string) => boolean | string,
    features: string,
  ) {
    this.#below = below;
    this.#socket = socket;
    this.answers = answers;
    this.token = request.headers.authorization?.replace("Bearer ", "");
    socket.on("message", (data: Buffer, binary) => {
      if (binary) return this.frames.add(data);
      const line = data.toString();
      if (line.startsWith("FEATURES:")) {
        this.asked = line; // each connection begins with it
        return this.send(features);
      }
      const answer = this.answers(line);
      if (typeof answer === "string") this.send(answer);
      else if (answer) this.answer(line);
      this.lines.add(line);
    });
    socket.on("close", (code) => this.closed.add(code));
  }

  answer(line: string): void {
    if (line === "PING") this.send("PONG");
    else if (/^((UN)?SUB|JOIN|LEAVE|(UN)?WHO):/.test(line)) this.send(`OK:${line.replace(/:count$/, "")}`);
  }

  /** send sends a line, or a frame. */
  send(message: string | Uint8Array): void {
    this.#socket.send(message);
  }

  deliver(text: string, pattern = "c", channel = "c"): void {
    this.#socket.send(deliverFrame("t", channel, text, [pattern]));
  }

  /** deliverOne delivers a message to one connection, and deliverOwn one that this connection has published with a key. */
  deliverOne(text: string, pattern = "c", channel = "c"): void {
    this.#socket.send(Buffer.concat([Buffer.from([4, 4]), deliverFrame("t", channel, text, [pattern]).subarray(1)]));
  }

  deliverOwn(key: string, text: string, toOne = false): void {
    const fields = Buffer.from([4, toOne ? 12 : 8, key.length, ...Buffer.from(key)]);
    this.#socket.send(Buffer.concat([fields, deliverFrame("t", "c", text, ["c"]).subarray(1)]));
  }

  /** deliverFrom delivers a message to c that says who has published it; with a number it is stored. */
  deliverFrom(sender: string, text: string, n?: number): void {
    const fields = Buffer.from([4, n === undefined ? 2 : 3]);
    const position = n === undefined ? Buffer.alloc(0) : Buffer.alloc(24);
    if (n !== undefined)
      for (const [i, part] of [0xabc, n, 1_700_000_000_000 + n].entries()) {
        position.writeBigUInt64BE(BigInt(part), 8 * i);
      }
    const subject = Buffer.concat([Buffer.from([Buffer.byteLength(sender)]), Buffer.from(sender)]);
    const rest = deliverFrame("t", "c", text, ["c"]).subarray(1);
    this.#socket.send(Buffer.concat([fields, position, subject, rest]));
  }

  /** stored delivers messages to the RSUB of c, whose payloads are their numbers. */
  stored(...numbers: number[]): void {
    for (const n of numbers) {
      const position = Buffer.alloc(26);
      position.set([4, 1]);
      position.writeBigUInt64BE(0xabcn, 2);
      position.writeBigUInt64BE(BigInt(n), 10);
      position.writeBigUInt64BE(1_700_000_000_000n + BigInt(n), 18);
      this.#socket.send(Buffer.concat([position, deliverFrame("t", "c", String(n), ["c"]).subarray(1)]));
    }
  }

  /** caughtUp answers the RSUB of c. */
  caughtUp(n: number, how = "complete"): void {
    this.send(`OK:RSUB:t:c:${at(n)}:${how}`);
  }

  /**
   * tell sends a page of what the WHO of `t:room.*` is told: bits are `first`, `synced` and `counts`, and an entry is
   * `+channel/subject`, one with `{…}` behind it is its info, `-channel/subject`, or `channel=members`.
   */
  tell(bits: string, ...entries: string[]): void {
    const page: Partial<PresenceFrame> = { members: [], channels: [] };
    for (const entry of entries) {
      const [, state, channel = "", subject = "", info = ""] = /^([+-])(.*?)\/(.*?)(\{.*)?$/.exec(entry) ?? [];
      const [name = "", members] = entry.split("=");
      if (state) page.members?.push({ channel, subject, here: state === "+", since: 1_700_000_000_000, info });
      else page.channels?.push({ channel: name, members: Number(members) });
    }
    const has = (bit: string): boolean => bits.split(" ").includes(bit);
    const head = { tenant: "t", pattern: "room.*", first: has("first"), synced: has("synced"), counts: has("counts") };
    this.send(presenceFrame({ members: [], channels: [], ...page, ...head }));
  }

  /** deliverSlowly sends a message in parts; each waits for the one before. */
  async deliverSlowly(text: string, parts: number, between: () => Promise<void>): Promise<void> {
    const frame = deliverFrame("t", "c", text, ["c"]);
    const head = Buffer.alloc(10);
    head[0] = 0x82; // binary, and all of it
    head[1] = 127; // the length is in the next 8 bytes
    head.writeBigUInt64BE(BigInt(frame.length), 2);
    const all = Buffer.concat([head, frame]);
    const size = Math.ceil(all.length / parts);
    for (let at = 0; at < all.length; at += size) {
      this.#below.write(all.subarray(at, at + size));
      await between();
    }
  }

  /** pause reads no more of what comes. */
  pause(): void {
    this.#socket.pause();
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  /** revoke ends the connection as an edge does whose token was revoked. */
  revoke(): void {
    this.send("ERR:token_revoked");
    this.close(4403);
  }

  /** kill ends the connection without a close. */
  kill(): void {
    this.#socket.terminate();
  }

  until(line: string, from = 0): Promise<string> {
    return this.lines.until((l) => l === line, from);
  }
}

export class Edge {
  readonly peers = new Record<Peer>();
  /** What refuses handshakes; undefined: nothing. */
  refusal: { status: number; code?: string; detail?: string; retryAfter?: number } | undefined;
  /** What refuses handshakes with refusal.v1, inside of the WebSocket. */
  inside: string | undefined;
  /** The one token that is not refused. */
  accepted: string | undefined;
  /** What the next peers answer themselves. */
  answers: (line: string) => boolean | string = () => true;
  /** The answer to FEATURES. */
  features = "FEATURES:link";
  ping = 200;
  refused = 0;
  /** The handshakes that were refused. */
  readonly refusals = new Record<number>();
  readonly #http: Server;
  readonly #ws = new WebSocketServer({
    noServer: true,
    handleProtocols: (all) => (this.inside ? "refusal.v1" : (all.values().next().value ?? false)),
  });
  readonly url: string;

  private constructor(http: Server) {
    this.#http = http;
    this.url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
    http.on("request", (_, response) => response.writeHead(this.ping).end("pong"));
    http.on("upgrade", (request, socket, head) => {
      socket.on("error", () => undefined); // a client that is refused may reset the connection
      if (this.refusal && request.headers.authorization !== `Bearer ${this.accepted}`) {
        this.refusals.add(++this.refused);
        const { status, code, detail = "as the test says", retryAfter } = this.refusal;
        const body = code ? JSON.stringify({ code, detail }) : "no";
        const wait = retryAfter === undefined ? "" : `Retry-After: ${retryAfter}\r\n`;
        socket.end(
          `HTTP/1.1 ${status} No\r\n${wait}Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
        );
        return;
      }
      this.#ws.handleUpgrade(request, socket, head, (ws) => {
        if (this.inside) {
          ws.send(this.inside);
          return ws.close(4401);
        }
        this.peers.add(new Peer(ws, socket, request, this.answers, this.features));
      });
    });
  }

  static async start(t: TestContext, port = 0): Promise<Edge> {
    const http = createServer().listen(port, "127.0.0.1");
    await once(http, "listening");
    const edge = new Edge(http);
    t.after(() => edge.stop());
    return edge;
  }

  /** peer resolves with the n-th connection, counted from 0. */
  async peer(n: number): Promise<Peer> {
    return this.peers.until((p) => this.peers.all[n] === p);
  }

  stop(): void {
    this.#http.close();
    this.#http.closeAllConnections();
    for (const peer of this.peers.all) peer.kill();
  }
}

/** at is the n-th position of the tests' histories. */
export const at = (n: number): string => `0000000000000abc.${n}.${1_700_000_000_000 + n}`;

export function deliverFrame(tenant: string, channel: string, payload: string, patterns: readonly string[]): Buffer {
  const u16 = (n: number): Buffer => Buffer.from([n >> 8, n]);
  const sized = (text: string): Buffer => Buffer.concat([u16(Buffer.byteLength(text)), Buffer.from(text)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(payload));
  const parts = [sized(tenant), sized(channel), length, Buffer.from(payload), u16(patterns.length)];
  return Buffer.concat([Buffer.from([1]), ...parts, ...patterns.map(sized)]);
}

export function presenceFrame({ tenant, pattern, first, synced, counts, members, channels }: PresenceFrame): Buffer {
  const number = (value: number, size: number): Buffer => {
    const b = Buffer.alloc(8);
    b.writeBigUInt64BE(BigInt(value));
    return b.subarray(8 - size);
  };
  const sized = (text: string, size = 2): Buffer[] => [number(Buffer.byteLength(text), size), Buffer.from(text)];
  const member = ({ channel, subject, here, since, info }: MemberEntry): Buffer[] => [
    ...[number(Number(here), 1), ...sized(channel), ...sized(subject, 1)],
    ...(here ? [number(since, 8), ...sized(info)] : []),
  ];
  const count = ({ channel, members }: CountEntry): Buffer[] => [...sized(channel), number(members, 4)];
  return Buffer.concat([
    Buffer.from([5, Number(first) | (Number(synced) << 1) | (Number(counts) << 2)]),
    ...[...sized(tenant), ...sized(pattern)],
    ...(counts ? [number(channels.length, 2), ...channels.flatMap(count)] : []),
    ...(counts ? [] : [number(members.length, 2), ...members.flatMap(member)]),
  ]);
}
