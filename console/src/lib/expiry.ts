// The end of an access token, as people type it: a duration or a time.

export const MAX_LIFETIME: number = 24 * 3600 * 1000; // ms

export type Expiry =
  | { readonly at: Date; readonly error?: undefined }
  | { readonly at?: undefined; readonly error: string };

const unitOf: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const duration = /^(?:(\d{1,6})\s*(d|h|m|s)(?:ays?|ours?|rs?|in(?:utes?|s)?|ec(?:onds?|s)?)?)(?:\s*(?=\d)|$)/i;
const form = "Type a duration such as 15m, 1h or 1h 30m, or a time such as 2030-01-31T12:00:00Z.";

/** parseExpiry reads an end; now is the server's time in milliseconds. */
export function parseExpiry(text: string, now: number): Expiry {
  const given = text.trim();
  if (given === "") return { error: form };
  const length = parseDuration(given);
  const at = length === undefined ? parseTime(given) : now + length;
  if (at === undefined) return { error: form };
  if (at <= now) return { error: "This is over already. The end must be in the future." };
  if (at > now + MAX_LIFETIME) return { error: "An access token lives 24 hours at most." };
  return { at: new Date(Math.floor(at / 1000) * 1000) }; // the server keeps whole seconds
}

// parseDuration reads parts such as "1h 30m".
function parseDuration(text: string): number | undefined {
  let rest = text;
  let total = 0;
  while (rest !== "") {
    const part = duration.exec(rest);
    const unit = unitOf[part?.[2]?.toLowerCase() ?? ""];
    if (!part || unit === undefined) return undefined;
    total += Number(part[1]) * unit;
    rest = rest.slice(part[0].length);
  }
  return total;
}

// parseTime reads RFC 3339; without an offset the time is the browser's.
function parseTime(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?\s*(Z|[+-]\d\d:\d\d)?$/i.test(text)) return undefined;
  const at = Date.parse(text.replace(" ", "T").replace(/\s/g, "").toUpperCase());
  return Number.isNaN(at) ? undefined : at;
}
