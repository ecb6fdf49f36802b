import { parseAddress } from "./address.js";
import { asError, MillraceError } from "./errors.js";
import type { Settings } from "./options.js";
import { answersPing } from "./ping.js";
import { limited, now, sleep, throwIfAborted } from "./timers.js";

const PROBES = 3; // of each edge
const TIMEOUT = 500; // ms for the others, once an edge has answered all of its probes

/** resolveEdges returns the edges that some addresses mean, those of lists included, nearest first. */
export async function resolveEdges(addresses: readonly URL[], s: Settings, signal: AbortSignal): Promise<string[]> {
  let error: unknown;
  const lists = await Promise.all(
    addresses.map(async (url) => {
      if (url.pathname === "/") return [url.origin];
      try {
        return await limited(signal, s.connectTimeout, (limit) => fetchList(url, s, limit));
      } catch (err) {
        error = err;
        return [];
      }
    }),
  );
  const edges = [...new Set(lists.flat())];
  throwIfAborted(signal);
  if (edges.length === 0) throw error ?? new MillraceError("unreachable", "the list has no edge");
  if (edges.length > 1) {
    await limited(signal, s.connectTimeout, (limit) => nearestFirst(edges, s, limit)).catch(() => {});
    throwIfAborted(signal);
  }
  return edges;
}

async function fetchList(url: URL, s: Settings, signal: AbortSignal): Promise<string[]> {
  try {
    const response = await s.runtime.fetch(url.href, s, { cache: "no-store", credentials: "omit", signal });
    if (!response.ok) {
      throw new MillraceError("unreachable", `the list of edges: HTTP status ${response.status}`, {
        status: response.status,
      });
    }
    const { edges } = (await response.json()) as { edges: { host: string }[] };
    return edges.map(({ host }) => parseAddress(`https://${host}`, false).origin);
  } catch (err) {
    throw asError(err, "unreachable", "the list of edges");
  }
}

// nearestFirst sorts by the median of the probes. Edges without one come last,
// in the order given: nobody waits long for them.
async function nearestFirst(edges: string[], s: Settings, signal: AbortSignal): Promise<void> {
  const found = new Map<string, number>();
  let answered!: () => void;
  const first = new Promise<void>((resolve) => {
    answered = resolve;
  });
  const probe = async (edge: string): Promise<void> => {
    const times: number[] = [];
    while (times.length < PROBES) {
      const from = now();
      if (!(await answersPing(edge + s.paths.ping, s, signal))) return;
      times.push(now() - from);
    }
    times.sort((a, b) => a - b);
    found.set(edge, times[PROBES >> 1] as number);
    answered();
  };
  const probes = edges.map(probe);
  await Promise.race([Promise.all(probes), first.then(() => sleep(TIMEOUT, signal))]);
  const time = (edge: string): number => found.get(edge) ?? Number.MAX_VALUE;
  edges.sort((a, b) => time(a) - time(b));
}
