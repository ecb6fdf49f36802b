import type { Advice } from "./advice.js";
import { badOption } from "./bad-option.js";
import type { ConnectOptions } from "./options.js";
import type { Runtime } from "./runtime.js";
import type { Parts, Session } from "./session.js";

/** What a client has beside the core: `@millrace/client` has all. */
export interface Everything extends Parts {
  advice?: Advice;
  moves?: new (addresses: readonly URL[], options: ConnectOptions, runtime: Runtime, parts: Parts) => Session;
}

/** What was added by `import "@millrace/client/history"` and its like. */
export const imported: Everything = {};

/** need returns a part; the error names the import. */
export function need<P>(part: P | undefined, name: keyof Everything, what: string): P {
  return part ?? badOption(`${what}: add import "@millrace/client/${name}"`);
}
