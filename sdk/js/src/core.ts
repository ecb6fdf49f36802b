/**
 * The client without histories, presence and moves, for pages where each kilobyte counts. `import
 * "@millrace/client/history"`, `"@millrace/client/presence"` and `"@millrace/client/moves"` add these.
 *
 * @packageDocumentation
 */
import { type Client, connectOn } from "./client.js";
import type { ConnectOptions } from "./options.js";
import { web } from "./runtime.js";

export * from "./common.js";

/** As `connect` of `@millrace/client`; the client has what the page imports beside it. */
export const connect = (addresses: string | readonly string[], options: ConnectOptions): Promise<Client> =>
  connectOn(web, addresses, options);
