import { asError, MillraceError } from "./errors.js";
import { decodeText, encodeText, lastWord, parseServerLine } from "./lines.js";
import { type Dial, Inlet, type Link, type LinkEnd } from "./link.js";
import type { Settings } from "./options.js";
import { isBrowser } from "./platform.js";
import { isFrame, Splitter } from "./splitter.js";
import { throwIfAborted, within } from "./timers.js";

const CLOSING = 1000; // ms for what waits to be sent before a close
// A packet with so many bytes is longer than a stateless reset (RFC 9000, section
// 10.3): no shorter one is answered by it.
const RESET_SIZE = 43;

// After so many ms a session that is not open gets a second one beside it. Firefox 153 at times
// makes a connection ahead of a session, which then waits beside it until something else happens.
const AGAIN = 2000;

/** hasWebTransport says whether this runtime has it. */
export const hasWebTransport = (): boolean => "WebTransport" in globalThis;

/** openWebTransport opens a session over WebTransport and authenticates it. The signal ends the attempt. */
export async function openWebTransport(dial: Dial, { paths, hashes }: Settings): Promise<Link> {
  const { signal } = dial;
  const sessions: WebTransport[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const endAll = (): void => {
    clearTimeout(timer);
    sessions.forEach(end);
  };
  signal.addEventListener("abort", endAll);
  try {
    const session = await new Promise<WebTransport>((resolve, reject) => {
      const open = (): void => {
        const one = new WebTransport(
          dial.edge + paths.webTransport,
          hashes ? { serverCertificateHashes: [...hashes] } : {},
        );
        sessions.push(one);
        one.closed.catch(() => {}); // so does ready
        one.ready.then(() => resolve(one), reject);
      };
      open();
      timer = setTimeout(open, AGAIN);
    });
    for (const other of sessions) if (other !== session) end(other);
    // The reason repeats the edge's last line, which the session's end may overtake.
    const closed: Promise<LinkEnd> = session.closed.then(
      ({ closeCode, reason }) => ({ closeCode, error: lastWord(`${reason}`) }),
      () => ({}),
    );
    return await authenticated(session, closed, dial.token);
  } catch (err) {
    endAll();
    throwIfAborted(signal);
    throw asError(err, "unreachable", "no WebTransport to the edge");
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", endAll);
  }
}

// authenticated sends the first message and waits for its answer. An edge that refuses may
// say why in a line, in the close code, or in both.
async function authenticated(session: WebTransport, closed: Promise<LinkEnd>, token: string): Promise<Link> {
  const stream = await session.createBidirectionalStream();
  const inlet = new Inlet();
  const outlet = new SendBuffer(stream.writable.getWriter());
  const reader: ReadableStreamDefaultReader<Uint8Array> = stream.readable.getReader();
  let refusal: MillraceError | undefined;
  let link: Link | undefined;
  const probe = prober(session);
  outlet.send(`AUTH:${token}`);

  const splitter = new Splitter();
  const message = (b: Uint8Array, start: number, stop: number): void => {
    if (isFrame(b, start, stop)) return inlet.frame(b, start, stop);
    const line = decodeText(b.subarray(start, stop));
    if (link) return inlet.line(line);
    const answer = parseServerLine(line);
    if (answer.kind === "OK:AUTH") {
      link = {
        transport: "webtransport",
        fragile: isBrowser, // Chromium waits 5 s for an acknowledgement
        start: (sink) => inlet.start(sink),
        send: (message) => outlet.send(message),
        sent: () => outlet.sent,
        probe,
        close: () => void outlet.close().then(() => end(session)),
      };
    } else if (answer.kind === "ERR") {
      refusal ??= lastWord(line.slice(4)) ?? new MillraceError(answer.code);
    }
  };
  const read = async (): Promise<boolean> => {
    const { value, done } = await reader.read();
    if (value) {
      inlet.bytes();
      splitter.push(value, message);
    }
    return !done;
  };

  let error: MillraceError | undefined;
  while (!link) {
    const more = await read().catch((err: unknown) => {
      if (err instanceof MillraceError) throw err;
      return false;
    });
    if (!more) throw refusal ?? refused(await closed);
  }
  void (async () => {
    try {
      while (await read());
    } catch (err) {
      if (err instanceof MillraceError) error = err; // else the session's end says more than its stream's
    }
    void outlet.close(); // all is read: the edge need not wait before it ends the session
    // The edge ends the stream before the session. A browser may never tell the code.
    let last: LinkEnd = { error };
    const told = closed.then((end) => (last = end));
    if (!error) await within(CLOSING, told);
    end(session);
    inlet.ended(last);
  })();
  return link;
}

// prober returns a function that sends a datagram, which edges ignore, unless one
// still waits to be sent.
function prober(session: WebTransport): () => void {
  let writer: WritableStreamDefaultWriter | undefined;
  let waits = false;
  const probe = async (): Promise<void> => {
    // writable is what browsers have; the standard has createWritable by now.
    const { writable, createWritable } = session.datagrams as Datagrams;
    writer ??= (writable ?? createWritable?.call(session.datagrams))?.getWriter();
    await writer?.write(new Uint8Array(RESET_SIZE));
  };
  return () => {
    if (waits) return;
    waits = true;
    probe()
      .catch(() => {}) // without datagrams, the end takes longer to be noticed
      .finally(() => {
        waits = false;
      });
  };
}

interface Datagrams {
  readonly writable?: WritableStream;
  createWritable?(): WritableStream;
}

function refused({ closeCode, error }: LinkEnd): MillraceError {
  const code =
    closeCode === 4401
      ? "unauthorized"
      : closeCode === 1001
        ? "draining"
        : closeCode === 1013
          ? "unavailable"
          : "unreachable";
  return error ?? new MillraceError(code, "the connection has ended", { closeCode });
}

// end closes a session, whatever its state.
function end(session: WebTransport): void {
  try {
    session.close({ closeCode: 1000, reason: "" });
  } catch {
    // closed already
  }
}

/**
 * A SendBuffer writes messages behind their lengths: those that come in one turn, or while the stream
 * takes no more, in one write.
 */
class SendBuffer {
  readonly #writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>;
  #batch = new Uint8Array(4096);
  #size = 0;
  /** Resolves when all that waits is with the stream; undefined: nothing waits. */
  sent: Promise<void> | undefined;

  constructor(writer: WritableStreamDefaultWriter<Uint8Array<ArrayBuffer>>) {
    this.#writer = writer;
    writer.closed.catch(() => {}); // the session's end is told elsewhere
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    const bytes = typeof message === "string" ? encodeText(message) : message;
    const n = bytes.length;
    const size = this.#size + 4 + n;
    if (size > this.#batch.length) {
      const larger = new Uint8Array(Math.max(size, this.#batch.length * 2));
      larger.set(this.#batch.subarray(0, this.#size));
      this.#batch = larger;
    }
    this.#batch.set([n >>> 24, n >>> 16, n >>> 8, n], this.#size);
    this.#batch.set(bytes, this.#size + 4);
    this.#size = size;
    this.sent ??= this.#flush();
  }

  async #flush(): Promise<void> {
    try {
      do {
        await this.#writer.ready;
        const batch = this.#batch.subarray(0, this.#size);
        this.#batch = new Uint8Array(4096);
        this.#size = 0;
        this.#writer.write(batch).catch(() => {});
      } while (this.#size > 0);
    } catch {
      this.#size = 0; // the stream has ended
    }
    this.sent = undefined;
  }

  /** close ends the stream behind what waits. */
  async close(): Promise<void> {
    await within(
      CLOSING,
      (this.sent ?? Promise.resolve()).then(() => this.#writer.close()),
    );
  }
}
