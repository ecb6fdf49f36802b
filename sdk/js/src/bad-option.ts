import { MillraceError } from "./errors.js";

/** must refuses what has another type. */
export function must(name: string, value: unknown, type: "function" | "boolean"): void {
  if (value !== undefined && typeof value !== type) badOption(`${name} must be a ${type}`);
}

export function badOption(text: string): never {
  throw new MillraceError("bad_option", text);
}
