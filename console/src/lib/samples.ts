// The last minutes of several edges, laid over each other.

/** What an edge remembers: lists are oldest first and equally long. */
export interface Samples {
  readonly end: number; // Unix seconds of the newest
  readonly interval_seconds: number;
  readonly connections: readonly number[];
  readonly messages_in: readonly number[];
  readonly deliveries: readonly number[];
  readonly dropped: readonly number[];
  readonly refused: readonly number[];
  readonly memory_bytes: readonly number[];
}

export type Figure = Exclude<keyof Samples, "end" | "interval_seconds">;

/** A sum over edges; null where no edge knows. */
export type Series = readonly (number | null)[];

export const SLOTS = 180; // 15 minutes of 5 s
const MAX_SKEW = 60; // s: beyond that a clock is wrong, and the newest sample counts as now

/**
 * sumSeries adds up a figure of all edges by time. It ends where every edge has a sample, so that
 * the last sum is not low because one edge answered a moment earlier.
 */
export function sumSeries(all: readonly Samples[], figure: Figure, slots = SLOTS): Series {
  const known = all.filter((s) => (s[figure] ?? []).length > 0 && s.interval_seconds > 0); // of other edges: anything may come
  const sums = new Array<number | null>(slots).fill(null);
  if (known.length === 0) return sums;
  const newest = median(known.map((s) => s.end));
  const ends = known.map((s) => (Math.abs(s.end - newest) > MAX_SKEW ? newest : s.end));
  const end = Math.min(...ends);
  for (const [i, s] of known.entries()) {
    const ahead = Math.round(((ends[i] ?? end) - end) / s.interval_seconds);
    const values = s[figure];
    for (let slot = slots - 1; slot >= 0; slot--) {
      const value = values[values.length - 1 - ahead - (slots - 1 - slot)];
      if (value === undefined) break;
      sums[slot] = (sums[slot] ?? 0) + value;
    }
  }
  return sums;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

/** latest is the newest value of a list, 0 if there is none. */
export function latest(values: readonly number[] | undefined): number {
  return values?.[values.length - 1] ?? 0;
}

export interface Range {
  readonly min: number;
  readonly now: number;
  readonly max: number;
}

/** rangeOf returns the bounds of a series, or undefined if nothing is known. */
export function rangeOf(series: Series): Range | undefined {
  const known = series.filter((value) => value !== null);
  const now = known[known.length - 1];
  if (now === undefined) return undefined;
  return { min: Math.min(...known), now, max: Math.max(...known) };
}

/** addCounts adds up counts by reason, the largest first. */
export function addCounts(all: readonly (Readonly<Record<string, number>> | undefined)[]): [string, number][] {
  const sums = new Map<string, number>();
  for (const counts of all) {
    for (const [reason, n] of Object.entries(counts ?? {})) sums.set(reason, (sums.get(reason) ?? 0) + n);
  }
  return [...sums].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
}
