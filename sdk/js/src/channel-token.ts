import { MillraceError } from "./errors.js";

const MAX_BYTES = 64; // four such tokens and more fit into the 256 bytes of a channel

/**
 * channelToken makes of any text one token of a channel, a pattern or a rule: of a user's name, an
 * address or a path, for example, which may hold dots, spaces or wildcards. Different texts give
 * different tokens, and the token is the same in all SDKs. It is never empty and never a wildcard.
 *
 * The characters that may stand in a token remain, except for the tilde: a-z A-Z 0-9 _ - @. Each
 * other byte of the text, in UTF-8, becomes a tilde and two upper-case hex digits. The empty text
 * becomes a tilde. Unicode is not normalised: texts that only look the same give different tokens.
 *
 * @throws MillraceError with `bad_option` if the text has a lone surrogate, which UTF-8 cannot
 * hold, or if the token would be longer than 64 bytes.
 */
export function channelToken(text: string): string {
  if (typeof text !== "string" || /[\uD800-\uDFFF]/u.test(text)) {
    throw new MillraceError("bad_option", "a channel's token is made of a string without lone surrogates");
  }
  const rest = (one: string) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`; // which encodeURIComponent leaves
  const token =
    encodeURIComponent(text)
      .replace(/[.!~*'()]/g, rest)
      .replaceAll("%40", "@")
      .replaceAll("%", "~") || "~";
  if (token.length <= MAX_BYTES) return token;
  const rule = "each byte of the text but letters, digits and _-@ needs three";
  throw new MillraceError("bad_option", `a channel's token has at most ${MAX_BYTES} bytes; ${rule}`);
}
