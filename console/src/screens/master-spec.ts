// The form of a master token: from and to what the API takes.
import type { Master, MasterSpec } from "../api/types.js";
import { maskError } from "../lib/mask.js";
import { PREFIX_RULE, storedPrefix } from "../lib/prefix.js";
import { characters, lines } from "../lib/text.js";

export const MAX_NAME = 64; // characters
export const MAX_DESCRIPTION = 512;
const MAX_MASKS = 256;
const MAX_QUOTA = 2 ** 40;

/** What is typed. */
export interface MasterDraft {
  readonly name: string;
  readonly description: string;
  readonly prefix: string;
  readonly masks: string;
  readonly maxTokens: string;
  readonly maxBytes: string;
  readonly calls: string;
}

export type DraftErrors = { readonly [P in keyof MasterDraft]?: string | undefined };

const quota = (n: number | undefined): string => (n ? String(n) : "");

export function draftOf(master: Master | undefined): MasterDraft {
  return {
    name: master?.name ?? "",
    description: master?.description ?? "",
    prefix: master?.tenant_prefix ?? "",
    masks: (master?.allow_ip_masks ?? []).join("\n"),
    maxTokens: quota(master?.max_tokens),
    maxBytes: quota(master?.max_bytes),
    calls: quota(master?.calls_per_second),
  };
}

/** errorsOf says what is wrong with each field; an empty name is no error while one types. */
export function errorsOf(draft: MasterDraft): DraftErrors {
  return {
    prefix: storedPrefix(draft.prefix) === undefined ? PREFIX_RULE : undefined,
    masks: masksError(lines(draft.masks)),
    maxTokens: quotaError(draft.maxTokens),
    maxBytes: quotaError(draft.maxBytes),
    calls: quotaError(draft.calls),
  };
}

/** complete reports whether a draft can be sent. */
export function complete(draft: MasterDraft): boolean {
  const length = characters(draft.name);
  if (length < 1 || length > MAX_NAME || characters(draft.description) > MAX_DESCRIPTION) return false;
  return Object.values(errorsOf(draft)).every((error) => error === undefined);
}

export function specOf(draft: MasterDraft): MasterSpec {
  return {
    name: draft.name,
    description: draft.description,
    tenant_prefix: storedPrefix(draft.prefix) ?? draft.prefix,
    allow_ip_masks: lines(draft.masks),
    max_tokens: Number(draft.maxTokens),
    max_bytes: Number(draft.maxBytes),
    calls_per_second: Number(draft.calls),
  };
}

/** changesOf returns the members that differ from how the form began. */
export function changesOf(before: MasterDraft, draft: MasterDraft): Partial<MasterSpec> {
  const old = specOf(before);
  const entries = Object.entries(specOf(draft)).filter(
    ([member, value]) => JSON.stringify(value) !== JSON.stringify(old[member as keyof MasterSpec]),
  );
  return Object.fromEntries(entries);
}

/** masksError says which mask is wrong, and why. */
export function masksError(masks: readonly string[]): string | undefined {
  if (masks.length > MAX_MASKS) return `At most ${MAX_MASKS} masks.`;
  for (const mask of masks) {
    const wrong = maskError(mask);
    if (wrong) return `${mask} ${wrong}.`;
  }
  return undefined;
}

/** quotaError says what is wrong with a number that may be left out. */
export function quotaError(text: string, most: number = MAX_QUOTA): string | undefined {
  if (text === "" || (/^\d{1,13}$/.test(text) && Number(text) <= most)) return undefined;
  return `A whole number up to ${most.toLocaleString("en")}, or nothing.`;
}
