// What runs this program, found out once.
const all = globalThis as {
  document?: unknown;
  WorkerGlobalScope?: unknown;
  Deno?: unknown;
  process?: { versions?: { node?: string; bun?: string } };
};
const versions = all.process?.versions;
const server = all.Deno !== undefined || versions?.bun !== undefined || versions?.node !== undefined;

/** Node alone, which has no WebSocket before version 22, and none that tells why it was refused. */
export const isNode: boolean =
  versions?.node !== undefined && versions.bun === undefined && all.Deno === undefined && all.document === undefined;

/** A page, or a worker of one. */
export const isBrowser: boolean = !server && (all.document !== undefined || all.WorkerGlobalScope !== undefined);
