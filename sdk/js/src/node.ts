// The entry of the package on Node, by its export condition; index.ts is that of all others, and has its types.
import { all } from "./all.js";
import { type Client, connectOn } from "./client.js";
import { node } from "./node-runtime.js";
import type { ConnectOptions } from "./options.js";

export * from "./common.js";

export const connect = (addresses: string | readonly string[], options: ConnectOptions): Promise<Client> =>
  connectOn(node, addresses, options, all);
