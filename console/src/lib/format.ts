// Numbers and times for people.

const numbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const small = new Intl.NumberFormat("en", { maximumSignificantDigits: 2 });
const times = new Intl.DateTimeFormat("en-GB", {
  year: "numeric",
  month: "2-digit",
  day: "2-digit",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  timeZone: "UTC",
});
const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

export const count = (n: number): string => numbers.format(n);

/** rate formats something a second: small numbers with two digits. */
export const rate = (n: number): string => (n === 0 || n >= 10 ? count(n) : small.format(n));

/** plural makes "1 connection" and "2 connections". */
export function plural(n: number, one: string, more = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : more}`;
}

export function size(n: number): string {
  let unit = 0;
  let value = n;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? count(value) : value.toFixed(1)} ${units[unit]}`;
}

/** duration formats milliseconds in their two largest units. */
export function duration(ms: number): string {
  let seconds = Math.round(Math.abs(ms) / 1000);
  const parts: string[] = [];
  for (const [name, length] of [
    ["d", 86_400],
    ["h", 3600],
    ["min", 60],
    ["s", 1],
  ] as const) {
    const n = Math.floor(seconds / length);
    seconds -= n * length;
    if (n > 0) parts.push(`${n} ${name}`);
    else if (parts.length > 0) break;
    if (parts.length === 2) break;
  }
  return parts.join(" ") || "0 s";
}

/** ago says how far a time is from now: "in 3 min", "3 min ago". */
export function ago(time: string | number, now: number): string {
  const ms = (typeof time === "number" ? time : Date.parse(time)) - now;
  if (Number.isNaN(ms)) return "";
  // Seconds do not matter beyond a minute, nor minutes beyond a day.
  const unit = Math.abs(ms) < 60_000 ? 1000 : Math.abs(ms) < 86_400_000 ? 60_000 : 3_600_000;
  const text = duration(Math.trunc(ms / unit) * unit);
  return ms >= 0 ? `in ${text}` : `${text} ago`;
}

/** utc formats a time in full: "24/11/2026, 08:00:00 UTC" would be read in two ways, so the year is first. */
export function utc(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const part = Object.fromEntries(times.formatToParts(date).map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second} UTC`;
}
