// A small chart of the last minutes.
import type { JSX } from "preact";
import { rangeOf, type Series } from "../lib/samples.js";

const HEIGHT = 40;

/** pathOf draws a series; gaps interrupt it. */
export function pathOf(series: Series, max: number): string {
  let path = "";
  let drawing = false;
  for (const [i, value] of series.entries()) {
    if (value === null) {
      drawing = false;
      continue;
    }
    const y = HEIGHT - (value / max) * (HEIGHT - 2) - 1;
    path += `${drawing ? "L" : "M"}${i} ${y.toFixed(1)}`;
    drawing = true;
  }
  return path;
}

export function Chart({
  label,
  series,
  format,
}: {
  label: string;
  series: Series;
  format: (n: number) => string;
}): JSX.Element {
  const range = rangeOf(series);
  if (!range) return <p class="quiet">No figures yet. The first come within seconds.</p>;
  const line = pathOf(series, range.max || 1);
  const words = `min ${format(range.min)}, now ${format(range.now)}, max ${format(range.max)}`;
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${series.length - 1} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}, the last 15 minutes: ${words}`}
      >
        <path d={line} class="line" />
      </svg>
      <figcaption aria-hidden="true">{words}</figcaption>
    </figure>
  );
}
