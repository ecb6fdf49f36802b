// The right of an access token in sentences, each of whose rules can be marked.
import { plural } from "./format.js";

export interface Grant {
  readonly tenant_ids: readonly string[] | null;
  readonly allow_channels_pub?: readonly string[];
  readonly allow_channels_sub?: readonly string[];
  readonly allow_channels_history?: readonly string[];
  readonly allow_channels_presence?: readonly string[];
}

export interface Right {
  readonly tenant_grants: readonly Grant[] | null;
  readonly allow_ip_masks?: readonly string[];
  readonly allow_regions?: readonly string[];
  readonly allowed_ws_origin?: readonly string[];
  readonly allow_protocols?: readonly string[];
  readonly ingress_kb_per_sec?: number;
  readonly egress_kb_per_sec?: number;
  readonly expires_at?: string;
}

/** A word of a sentence: plain text, or a rule with its place in the right. */
export type Part = string | { readonly rule: string; readonly path: string };
export type Sentence = readonly Part[];

const MAX_RULES = 20; // of one list that are shown

/** sentences says what a right allows. mark is the path of a rule that must be among what is shown. */
export function sentences(right: Right, mark = ""): Sentence[] {
  const all: Sentence[] = [];
  for (const [i, grant] of (right.tenant_grants ?? []).entries()) {
    const at = `right.tenant_grants[${i}]`;
    const tenants = list(grant.tenant_ids ?? [], `${at}.tenant_ids`, mark, "or");
    const pub = grant.allow_channels_pub ?? [];
    const sub = grant.allow_channels_sub ?? [];
    if (pub.length > 0)
      all.push(["may publish to ", ...list(pub, `${at}.allow_channels_pub`, mark), " in ", ...tenants]);
    if (sub.length > 0)
      all.push(["may subscribe to ", ...list(sub, `${at}.allow_channels_sub`, mark), " in ", ...tenants]);
    const past = grant.allow_channels_history ?? [];
    if (past.length > 0)
      all.push([
        "may read stored messages of ",
        ...list(past, `${at}.allow_channels_history`, mark),
        " in ",
        ...tenants,
      ]);
    const who = grant.allow_channels_presence ?? [];
    if (who.length > 0)
      all.push(["may see who is present in ", ...list(who, `${at}.allow_channels_presence`, mark), " in ", ...tenants]);
    if (pub.length + sub.length === 0) all.push(["may neither publish nor subscribe in ", ...tenants]);
  }
  all.push(limit("from ", right.allow_ip_masks, "right.allow_ip_masks", mark, "any address"));
  if (right.allowed_ws_origin?.length)
    all.push(limit("from pages of ", right.allowed_ws_origin, "right.allowed_ws_origin", mark, ""));
  if (right.allow_regions?.length)
    all.push(limit("at edges in ", right.allow_regions, "right.allow_regions", mark, ""));
  all.push(limit("by ", right.allow_protocols, "right.allow_protocols", mark, "WebSocket or WebTransport"));
  all.push([
    `may send ${cap(right.ingress_kb_per_sec)} and receive ${cap(right.egress_kb_per_sec)} on each connection`,
  ]);
  return all;
}

/** plainText is a sentence without its marks. */
export function plainText(sentence: Sentence): string {
  return sentence.map((part) => (typeof part === "string" ? part : part.rule)).join("");
}

/** rulePath returns the place in the right that an explanation's rule names, "" if it names none. */
export function rulePath(rule: string | undefined): string {
  return /^right\.[\w.[\]]+/.exec(rule ?? "")?.[0] ?? "";
}

/** marked reports whether a rule at a path is the one of an explanation, or in the list it names. */
export function marked(path: string, mark: string): boolean {
  return mark !== "" && (path === mark || path.startsWith(`${mark}[`));
}

function cap(kb: number | undefined): string {
  return kb === undefined ? "as much as the edge's default" : `${kb.toLocaleString("en")} KB/s`;
}

function limit(
  text: string,
  values: readonly string[] | undefined,
  path: string,
  mark: string,
  none: string,
): Sentence {
  return values?.length ? [text, ...list(values, path, mark, "or")] : [text + none];
}

// list joins values with commas; of a long list it shows the first ones and the marked one.
function list(values: readonly string[], path: string, mark: string, and = "and"): Part[] {
  const all = values.map((rule, i) => ({ rule, path: `${path}[${i}]` }));
  const shown = all.filter((part, i) => i < MAX_RULES || part.path === mark);
  const left = all.length - shown.length;
  const parts: Part[] = [];
  for (const [i, part] of shown.entries()) {
    if (i > 0) parts.push(i === shown.length - 1 && left === 0 ? ` ${and} ` : ", ");
    parts.push(part);
  }
  if (left > 0) parts.push(` and ${plural(left, "other")}`);
  return parts;
}
