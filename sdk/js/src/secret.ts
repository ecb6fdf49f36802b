import { advice } from "./advice.js";
import { MillraceError } from "./errors.js";

/** checkedSecret refuses what cannot be a token before fetch or a browser repeats it in an error of its own. */
export function checkedSecret(token: unknown, kind = "access"): string {
  const prefix = kind === "access" ? "AT_" : "MT_";
  if (typeof token === "string" && token.startsWith(prefix) && /^[\w.~+-]{4,512}$/.test(token)) return token;
  const why = advice()?.secret(token, kind) ?? "this does not";
  throw new MillraceError("bad_option", `the ${kind} token begins with ${prefix}: ${why}`);
}
