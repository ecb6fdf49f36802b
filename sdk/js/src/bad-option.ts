import { MillraceError } from "./errors.js";

export function badOption(text: string): never {
  throw new MillraceError("bad_option", text);
}
