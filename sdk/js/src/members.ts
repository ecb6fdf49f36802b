import { MillraceError } from "./errors.js";

/** checkMembers refuses what is no object, and members that are none of the allowed, which are separated by spaces. */
export function checkMembers(what: string, value: unknown, allowed: string): void {
  const isObject = typeof value === "object" && value !== null;
  const wrong = isObject ? Object.keys(value).find((name) => !allowed.split(" ").includes(name)) : "";
  if (wrong === undefined) return;
  const text = isObject ? `has no ${JSON.stringify(wrong.slice(0, 32))}` : "must be an object";
  throw new MillraceError("bad_option", `${what} ${text}: allowed are ${allowed.replaceAll(" ", ", ")}`);
}
