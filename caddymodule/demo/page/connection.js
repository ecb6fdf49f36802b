// One connection to an edge, the same over WebTransport and WebSocket.
import * as protocol from "./protocol.js";

const MAX_MESSAGE = 32 << 20; // bytes; above every edge's payload limit
const PATIENCE = 10_000; // ms, for a handshake
const CLOSING = ["unauthorized", "forbidden", "token_expired", "token_revoked", "token_unverifiable", "internal", "slow_consumer"];

// A Connection sends these events, with their data in detail:
//
//   open     {transport, credentials}: from here on it can be used
//   line     {line, …}: a line of the edge, parsed by parseLine
//   deliver  {tenant, channel, payload, patterns}
//   rtt      milliseconds from a PING to its PONG
//   close    {code, reason, error}: it has ended, or did not come about; each may be missing
export class Connection extends EventTarget {
  #pipe;
  #pings = []; // when those were sent that have no PONG yet
  #error; // the ERR line that announced the end
  #fault; // what the edge sent and must not

  // transport is "WebTransport", which takes the hashes of the edge's
  // certificates, or "WebSocket".
  constructor({ transport, url, token, hashes }) {
    super();
    const kind = { WebTransport: WebTransportPipe, WebSocket: WebSocketPipe }[transport];
    this.#pipe = new kind({
      url,
      token,
      hashes,
      opened: (credentials) => this.#emit("open", { transport, credentials }),
      received: (message) => this.#receive(message),
      closed: ({ code, reason }) => this.#emit("close", { code, reason: this.#fault ?? reason, error: this.#error }),
    });
  }

  subscribe(tenant, pattern) {
    this.#pipe.send(protocol.subscribeLine(tenant, pattern));
  }

  unsubscribe(tenant, pattern) {
    this.#pipe.send(protocol.unsubscribeLine(tenant, pattern));
  }

  publish(message) {
    this.#pipe.send(protocol.encodePublish(message));
  }

  ping() {
    this.#pings.push(performance.now());
    this.#pipe.send("PING");
  }

  close() {
    this.#pipe.close();
  }

  #receive(message) {
    try {
      if (typeof message === "string") this.#receiveLine(message);
      else this.#emit("deliver", protocol.decodeDeliver(message));
    } catch (err) {
      this.#fault ??= err.message;
      this.close();
    }
  }

  #receiveLine(message) {
    const line = protocol.parseLine(message);
    if (line.kind === "ERR" && CLOSING.includes(line.code)) this.#error = line;
    this.#emit("line", { line: message, ...line });
    if (line.kind === "PONG" && this.#pings.length > 0) this.#emit("rtt", performance.now() - this.#pings.shift());
    if (line.kind === "PING") this.#pipe.send("PONG");
  }

  #emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

// A pipe sends lines as text and frames as bytes, and calls back: opened once at
// most, received for each message after that, closed once.

class WebSocketPipe {
  #socket;

  constructor({ url, token, opened, received, closed }) {
    this.#socket = new WebSocket(url, [protocol.SUBPROTOCOL, `at.${token}`]);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => opened("the subprotocol list");
    this.#socket.onclose = ({ code, reason }) => closed({ code, reason });
    this.#socket.onmessage = ({ data }) => received(typeof data === "string" ? data : new Uint8Array(data));
  }

  send(message) {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  close() {
    this.#socket.close(1000);
  }
}

class WebTransportPipe {
  #transport;
  #writer;

  constructor({ url, token, hashes, opened, received, closed }) {
    this.#run({ url, token, hashes, opened, received }).then(closed, (err) => closed({ reason: String(err.message || err) }));
  }

  // #run returns how the session ended.
  async #run({ url, token, hashes, opened, received }) {
    const transport = new WebTransport(url, {
      serverCertificateHashes: hashes,
      // A browser that does not know this option passes over it: see #talk.
      protocols: [protocol.SUBPROTOCOL, `at.${token}`],
    });
    this.#transport = transport;
    const ended = transport.closed.then(
      ({ closeCode, reason }) => ({ code: closeCode, reason }),
      (err) => ({ reason: err.message }),
    );
    try {
      await within(PATIENCE, transport.ready);
      await this.#talk({ token, opened, received });
    } catch (err) {
      transport.close(); // no harm if it is closed already
      throw err;
    }
    return ended;
  }

  // #talk returns when the edge has nothing more to say.
  async #talk({ token, opened, received }) {
    const stream = await this.#transport.createBidirectionalStream();
    this.#writer = stream.writable.getWriter();
    if (this.#transport.protocol === protocol.SUBPROTOCOL) opened("the protocol list");
    else this.send(protocol.authLine(token)); // it did not get there with the handshake
    try {
      for await (const message of messages(stream.readable)) {
        if (message === "OK:AUTH") opened("an AUTH line");
        received(message);
      }
    } catch (err) {
      if (!(err instanceof WebTransportError)) throw err; // the session's end says more than its stream's
    }
  }

  send(message) {
    const bytes = typeof message === "string" ? protocol.encodeText(message) : message;
    this.#writer.write(protocol.withLength(bytes)).catch(() => {}); // the session's end is told once, by closed
  }

  close() {
    this.#transport?.close({ closeCode: 1000 });
  }
}

// messages are those of a stream: lines as text, frames as bytes.
async function* messages(readable) {
  const splitter = new protocol.Splitter(MAX_MESSAGE);
  const reader = readable.getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    for (const message of splitter.push(value)) {
      yield protocol.isFrame(message) ? message : protocol.decodeText(message);
    }
  }
}

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, ms, new Error("no answer"));
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
