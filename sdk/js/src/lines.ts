// Lines (docs/protocol.md): text messages.
import { advice } from "./advice.js";
import { MillraceError, printable } from "./errors.js";

/** A line of an edge. */
export type ServerLine =
  | { kind: "PING" | "PONG" | "RECONNECT" | "OK:AUTH" }
  | { kind: "LINK"; up: boolean }
  | { kind: "FEATURES"; features: string }
  | { kind: "OK"; verb: string; tenant: string; pattern: string }
  | { kind: "ERR"; code: string; detail: string; denial?: Denial; names?: string[] };

/** Why an edge denies a permission: what the token allows there, which tenants it has, or by whom. */
export type Denial = "allowed" | "tenants" | "by";

// Made when they are needed: Jest's jsdom and some versions of React Native lack them, and may get them later.
let encoder: TextEncoder | undefined;
let decoder: TextDecoder | undefined;

const MAX_LINE = 1024; // bytes
const words = ["PING", "PONG", "RECONNECT", "OK:AUTH"];

export function encodeText(text: string): Uint8Array<ArrayBuffer> {
  encoder ??= new TextEncoder();
  return encoder.encode(text);
}

/** decodeText throws a `protocol` error if the bytes are not UTF-8. */
export function decodeText(bytes: Uint8Array): string {
  decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new MillraceError("protocol", "not UTF-8", { cause });
  }
}

// The close codes of ERR lines after which the edge closes. Some of these may also go on.
const closes = new Map([
  ["unauthorized", 4401],
  ["token_expired", 4401],
  ["forbidden", 4403],
  ["token_revoked", 4403],
  ["token_unverifiable", 1013],
  ["closed_by_operator", 1013],
  ["internal", 1011],
  ["slow_consumer", 4429],
]);

/**
 * lastWord returns the error of an ERR line after which the edge closes; undefined: it does not.
 * text is what stands behind `ERR:`, closeCode with what the edge closed, if that is known.
 */
export function lastWord(text: string, closeCode?: number): MillraceError | undefined {
  const [code, what, ...reason] = text.split(":") as [string, ...string[]];
  const usual = closes.get(code);
  if (usual === undefined) return undefined;
  const about = { closeCode: closeCode ?? usual };
  return code === "forbidden"
    ? new MillraceError(`${what}_not_allowed`, reason.join(":") || undefined, about)
    : new MillraceError(code, undefined, about);
}

/** knownLine says what a line of an edge says; undefined: this client does not know it. Names are not looked at. */
export function knownLine(line: string): ServerLine | undefined {
  if (words.includes(line)) return { kind: line as "PING" };
  if (/^LINK:(up|down)$/.test(line)) return { kind: "LINK", up: line === "LINK:up" };
  const features = /^FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)$/.exec(line)?.[1];
  if (features && line.length <= MAX_LINE) return { kind: "FEATURES", features };
  const ok = /^OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)$/su.exec(line);
  const err = /^ERR:([a-z_]+)(?::(.+))?$/su.exec(line);
  if ((ok || err) && (line.length <= MAX_LINE / 3 || encodeText(line).length <= MAX_LINE) && !line.endsWith("\n")) {
    if (ok) return { kind: "OK", verb: ok[1] as string, tenant: ok[2] as string, pattern: ok[3] as string };
    if (err) return denied(err[1] as string, printable(err[2] ?? ""));
  }
  return undefined;
}

function denied(code: string, text: string): ServerLine {
  const [, detail, denial, names] =
    (code === "permission_denied" && /^(.*):(allowed|tenants|by)=([^:]*)(?::connection=.*)?$/s.exec(text)) || [];
  if (detail === undefined) return { kind: "ERR", code, detail: text };
  return { kind: "ERR", code, detail, denial: denial as Denial, names: names ? names.split(",") : [] };
}

/** What an edge says of why it denies a permission. */
export type Why = Pick<ServerLine & { kind: "ERR" }, "denial" | "names">;

/** whyDenied says why an edge denies what a line asks for, in a sentence if there is advice; undefined: it does not say. */
export function whyDenied({ denial, names = [] }: Why, asked: string): string | undefined {
  if (denial === "by") return "a hook of the edge refuses it";
  return denial && (advice()?.denied?.(asked, names, denial) ?? `${denial}: ${names.join(", ")}`);
}

/** parseServerLine is knownLine, but throws for a line that this client does not know. */
export function parseServerLine(line: string): ServerLine {
  const known = knownLine(line);
  if (!known) throw new MillraceError("protocol", "an invalid line");
  return known;
}
