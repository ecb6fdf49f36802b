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
 * connect connects to one of the edges and resolves with a client that stays connected. Every edge
 * is tried once; the error says the most that was learnt.
 */
export const connect = (addresses: string | readonly string[], options: ConnectOptions): Promise<Client> =>
  connectOn(web, addresses, options, all);
