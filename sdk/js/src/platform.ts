// What runs this program, found out once.
const all = globalThis as {
  document?: unknown;
  WorkerGlobalScope?: unknown;
  Deno?: unknown;
  process?: { versions?: { node?: string } };
};
const server = all.Deno !== undefined || all.process?.versions?.node !== undefined; // Bun names a Node, too

/** A page, or a worker of one. */
export const isBrowser: boolean = !server && (all.document !== undefined || all.WorkerGlobalScope !== undefined);
