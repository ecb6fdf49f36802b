import { advice } from "./advice.js";
import { MillraceError } from "./errors.js";

/** checkName refuses a name that is not allowed, allowed names are separated by spaces; the text has the nearest. */
export function checkName(what: string, name: string, allowed: string): void {
  const names = allowed.split(" ");
  if (names.includes(name)) return;
  const given = String(name).slice(0, 32);
  const hint = advice()?.nearest(given, names) ?? "";
  throw new MillraceError("bad_option", `${what} ${JSON.stringify(given)}: allowed are ${names.join(", ")}${hint}`);
}

/** checkMembers rejects non-objects and unknown keys; allowed keys are separated by spaces. */
export function checkMembers(what: string, value: unknown, allowed: string): void {
  if (typeof value !== "object" || value === null)
    throw new MillraceError("bad_option", `${what} must be an object: allowed are ${allowed}`);
  for (const name of Object.keys(value)) checkName(`${what} has no`, name, allowed);
}
