import { advice } from "./advice.js";

/**
 * What went wrong, for programs. The first group comes from edges (docs/protocol.md, Codes and
 * refusals), the second from this client (docs/errors.md). Later edges may send others.
 */
export type ErrorCode =
  | "bad_request"
  | "bad_frame"
  | "bad_tenant"
  | "bad_channel"
  | "bad_pattern"
  | "permission_denied"
  | "payload_too_large"
  | "too_many_subscriptions"
  | "too_many_patterns"
  | "slow_consumer"
  | "egress_limited"
  | "broker_unavailable"
  | "try_later"
  | "no_history"
  | "too_many_channels"
  | "history_unavailable"
  | "unconfirmed"
  | "no_presence"
  | "no_subject"
  | "too_many_members"
  | "unauthorized"
  | "token_expired"
  | "token_revoked"
  | "token_unverifiable"
  | "closed_by_operator"
  | "internal"
  | "draining"
  | "too_many_connections"
  | "too_many_connections_of_token"
  | "too_many_connections_of_tenant"
  | "too_many_connections_of_issuer"
  | "too_many_connections_of_address"
  | "too_many_connections_of_subject"
  | "too_many_rights"
  | "too_many_unauthenticated"
  | "too_many_failures"
  | "ip_not_allowed"
  | "origin_not_allowed"
  | "region_not_allowed"
  | "protocol_not_allowed"
  | "client_not_allowed"
  | "tls_required"
  | "unavailable"
  | "bad_option"
  | "unreachable"
  | "refused"
  | "disconnected"
  | "timeout"
  | "queue_full"
  | "token_provider"
  | "logged_out"
  | "protocol"
  | "closed"
  | "outcome_unknown"
  | (string & {});

/** What an error concerns; what does not apply is left out. */
export interface ErrorContext {
  readonly tenant?: string;
  readonly pattern?: string;
  readonly channel?: string;
  /** The HTTP status of a refusal. */
  readonly status?: number;
  /** The close code of the connection. */
  readonly closeCode?: number | undefined;
  /** How long the edge asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
  readonly cause?: unknown;
}

/**
 * The error of everything in this package, with two exceptions: an aborted `signal` gives its own
 * reason, and what an application's handler throws stays what it is. Compare `code`; the text may
 * change. No text holds a token.
 */
export class MillraceError extends Error {
  override readonly name = "MillraceError";
  readonly code: ErrorCode;
  readonly tenant: string | undefined;
  readonly pattern: string | undefined;
  readonly channel: string | undefined;
  /** The HTTP status of a refusal. */
  readonly status: number | undefined;
  /** The close code of the connection. */
  readonly closeCode: number | undefined;
  /** How long the edge asks to wait, in milliseconds. Browsers do not tell. */
  readonly retryAfter: number | undefined;
  /** The code, and what is known beside it, for an event. @internal */
  readonly told: { readonly code: ErrorCode; readonly detail?: string };

  constructor(code: ErrorCode, text = "", about: ErrorContext = {}) {
    const names = (["tenant", "channel", "pattern"] as const).map((name) =>
      about[name] === undefined ? "" : ` (${name} ${JSON.stringify(about[name])})`,
    );
    const why = /^(unreachable|token_provider|logged_out)$/.test(code) ? redacted(about.cause) : "";
    const remedy = advice()?.remedy?.(code, text, why);
    // The remedy says in plain words what a cause of the system means.
    const what = [text, (code !== "unreachable" || !remedy) && why, remedy].filter(Boolean).join(": ");
    super(
      printable(`${code}${names.join("")}: ${what || "the edge says so"}`),
      "cause" in about ? { cause: about.cause } : undefined,
    );
    this.code = code;
    this.told = { code, ...(text && { detail: text }) };
    this.tenant = about.tenant;
    this.pattern = about.pattern;
    this.channel = about.channel;
    this.status = about.status;
    this.closeCode = about.closeCode;
    this.retryAfter = about.retryAfter;
  }
}

/** printable takes control characters, which a terminal would obey, out of a text that may be a server's. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, " ");

// redacted is the text of a cause, which has no token, as far as we know.
function redacted(cause: unknown): string {
  const text = advice()?.cause?.(cause) ?? `${(cause as Error | undefined)?.message ?? ""}`;
  return text.slice(0, 300).replace(/[AM]T_[\w.~+-]+/g, "…");
}

/** notEdge is the error for an HTTP answer that no edge gives. */
export function notEdge(url: string, status: number, retryAfter?: number): MillraceError {
  const code = status === 401 ? "unauthorized" : /^(429|50[234])$/.test(`${status}`) ? "unavailable" : "unreachable";
  const { origin } = new URL(url.replace(/^ws/, "http"));
  const what = status < 500 ? "it is not a Millrace edge" : "no edge answers behind it";
  return new MillraceError(code, `${origin} answers with HTTP status ${status}, ${what}`, { status, retryAfter });
}

/** isStranger says whether an error is that of a server that is no edge: another attempt changes nothing. */
export const isStranger = ({ code, status = 500 }: MillraceError): boolean => code === "unreachable" && status < 500;

/**
 * What a token provider throws when there will be no token any more, as the user has logged out: the
 * client ends with the error `logged_out`, whose cause this is. After all other errors the provider
 * is asked again.
 */
export class LoggedOutError extends Error {
  override readonly name = "LoggedOutError";
}

/** asError makes a MillraceError of whatever was thrown. */
export function asError(err: unknown, code: ErrorCode, text: string): MillraceError {
  return err instanceof MillraceError ? err : new MillraceError(code, text, { cause: err });
}

/** disconnected is the error of what needs a connection. */
export function disconnected(cause?: unknown): MillraceError {
  return new MillraceError("disconnected", "no connection to an edge", cause === undefined ? {} : { cause });
}
