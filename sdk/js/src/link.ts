import type { MillraceError } from "./errors.js";

/** What a connection to an edge goes over. */
export type Transport = "webtransport" | "websocket";

/** Who takes what comes over a link. */
export interface Sink {
  /** Something has come, perhaps a part of a message only. Not every transport tells. */
  bytes(): void;
  line(line: string): void;
  /** A frame: the bytes of b from start to end. */
  frame(b: Uint8Array, start: number, end: number): void;
  /** The link has ended; called once, and nothing after it. */
  ended(end: LinkEnd): void;
}

/** How a link ended. */
export interface LinkEnd {
  readonly closeCode?: number | undefined;
  /** Why: what the edge sent and must not, or its last word, as the close repeats it. */
  readonly error?: MillraceError | undefined;
}

/** A Link is an authenticated session with an edge. What comes before start is kept for it. */
export interface Link {
  readonly transport: Transport;
  /** What is sent and does not arrive ends the link, soon. */
  readonly fragile: boolean;
  start(sink: Sink): void;
  /** send takes a line or a frame. It does nothing if the link has ended. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** Resolves when what was sent is on its way, as far as the transport reports it; undefined: it is. */
  sent(): Promise<void> | undefined;
  /**
   * probe sends something that an edge answers which does not know the connection, since it was
   * started again: a PING may be too short for that.
   */
  probe(): void;
  /** close sends what waits, then ends the link with the code 1000. The sink is told when it has ended. */
  close(): void;
}

/** A Dial is what it takes to open a link. */
export interface Dial {
  /** The URL without path: `https://edge.example.com`. */
  readonly edge: string;
  readonly token: string;
  readonly signal: AbortSignal;
}

/** An Inlet is the sink of a link: it keeps what comes before the link's own has one. */
export class Inlet {
  #sink: Sink | undefined;
  #early: ((sink: Sink) => void)[] = [];

  start(sink: Sink): void {
    const early = this.#early;
    this.#early = [];
    this.#sink = sink;
    for (const give of early) give(sink);
  }

  bytes(): void {
    this.#sink?.bytes();
  }

  line(line: string): void {
    if (this.#sink) this.#sink.line(line);
    else this.#early.push((sink) => sink.line(line));
  }

  frame(b: Uint8Array, start: number, end: number): void {
    if (this.#sink) this.#sink.frame(b, start, end);
    else this.#early.push((sink) => sink.frame(b, start, end));
  }

  ended(end: LinkEnd): void {
    if (this.#sink) this.#sink.ended(end);
    else this.#early.push((sink) => sink.ended(end));
    this.bytes = this.frame = this.line = this.ended = () => {};
  }
}
