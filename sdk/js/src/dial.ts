import { badOption } from "./bad-option.js";
import type { MillraceError } from "./errors.js";
import type { Link, Transport } from "./link.js";
import type { Settings } from "./options.js";
import { limited } from "./timers.js";
import { openWebSocket } from "./websocket.js";

/** What one attempt does in another way than the settings say. */
export interface DialOptions {
  readonly transports?: readonly Transport[];
  readonly fallbackAfter?: number;
}

/** A connection, as far as the way to its edge matters. */
export interface Opened {
  readonly edge: string;
  readonly transport: Transport;
  readonly begun: number;
}

/** A Dialer opens links: this one over WebSocket alone. */
export class Dialer {
  protected readonly settings: Settings;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** canWebTransport says whether there is any sense in trying it. */
  canWebTransport(_: string): boolean {
    return false;
  }

  /** forget is called for a new token, which may allow what the old one did not. */
  forget(): void {}

  /**
   * noteSilent is called with a connection that brings nothing any more, or ended without a word; heard, that it brings
   * something again.
   */
  noteSilent(_: Opened, __ = false): void {}

  /** open opens a link to an edge. The signal ends the attempt, with its reason. */
  async open(edge: string, token: string, signal: AbortSignal, _?: DialOptions): Promise<Link> {
    const { transports, connectTimeout } = this.settings;
    if (!transports.includes("websocket")) badOption('WebTransport: add import "@millrace/client/webtransport"');
    return limited(signal, connectTimeout, (limit) => openWebSocket({ edge, token, signal: limit }, this.settings));
  }
}

/** rank says how much an error tells: what an edge says is more than that none answers. */
export function rank({ code, status }: MillraceError): number {
  return status && code === "unreachable"
    ? 1.5
    : ["unreachable", "timeout", "refused", "protocol_not_allowed"].indexOf(code) >>> 0;
}
