import { MillraceError } from "./errors.js";

/** seconds returns a relative time in seconds: `"1h"`, `"15m"`, `"90s"`, `"1h30m"`, or a number of them. */
export function seconds(duration: string | number): number {
  if (typeof duration === "number") return duration;
  const parts = /^(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration);
  if (!parts) {
    const rule = 'expiresIn is seconds, or a duration such as "1h30m" or "90s"';
    throw new MillraceError("bad_option", rule);
  }
  const [h = 0, m = 0, s = 0] = parts.slice(1).map((n) => Number(n ?? 0));
  return (h * 60 + m) * 60 + s;
}
