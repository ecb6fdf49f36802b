import { MillraceError } from "./errors.js";

/** checkedSecret refuses what cannot be a token before fetch or a browser repeats it in an error of its own. */
export function checkedSecret(token: unknown, kind = "token"): string {
  if (typeof token === "string" && /^[\w.~+-]{1,512}$/.test(token)) return token;
  const text = `a ${kind} is a string of 1 to 512 letters, digits and .~_+-`;
  const why = /\s/.test(`${token}`) ? ": this one has white space, such as a line break from a file" : "";
  throw new MillraceError("bad_option", text + why);
}
