// Lengths and lists as people type them.

/** characters counts as the server does: code points, utf8.RuneCountInString. */
export function characters(text: string): number {
  let n = 0;
  for (const _ of text) n++;
  return n;
}

/** bytes counts the bytes of UTF-8. */
export function bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** lines splits what was typed one entry a line, or with commas or spaces between. */
export function lines(text: string): string[] {
  return text.split(/[\s,]+/).filter((entry) => entry !== "");
}

/** cut shortens a text to so many characters. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const all = [...text];
  return all.length <= most ? text : `${all.slice(0, most - 1).join("")}…`;
}

/** join makes "a, b and c". */
export function join(words: readonly string[], and = "and"): string {
  if (words.length < 2) return words[0] ?? "";
  return `${words.slice(0, -1).join(", ")} ${and} ${words[words.length - 1]}`;
}

/** What is looked for by id: an id or the beginning of one. Anything else may be a secret. */
export const ID_RULE = /^[0-9a-f]{0,32}$/;

/** idOf takes the id out of a whole token: its secret must not get into an address. */
export function idOf(text: string): string {
  return /^[AM]T_([0-9a-f]{0,32})/.exec(text)?.[1] ?? text;
}
