/**
 * A client of Millrace for browsers, Node, Deno, Bun and React Native.
 *
 * @packageDocumentation
 */
import { all } from "./all.js";
import { type Client, connectOn } from "./client.js";
import type { ConnectOptions } from "./options.js";
import { web } from "./runtime.js";

export * from "./common.js";

/**
 * connect connects to one of the edges and resolves with a client that stays connected. While no edge answers, it
 * tries again, and the event `connecting` says why; with `failFast` every edge is tried once. It fails where waiting
 * does not help: a token that no edge accepts, a bad option, an address that is no edge's. The error says the most that
 * was learnt.
 */
export const connect = (addresses: string | readonly string[], options: ConnectOptions): Promise<Client> =>
  connectOn(web, addresses, options, all);
