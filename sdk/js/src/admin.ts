/**
 * Tokens from a backend.
 *
 * @packageDocumentation
 */

import { parseAddress } from "./address.js";
import { advise } from "./advice.js";
import { seconds } from "./duration.js";
import { asError, type ErrorCode, type ErrorContext, MillraceError, notEdge } from "./errors.js";
import { hints } from "./hints.js";
import { type Logger, Loud } from "./loud.js";
import { checkMembers } from "./members.js";
import { isBrowser } from "./platform.js";
import { checkScope } from "./scope.js";
import { checkedSecret } from "./secret.js";
import { inOurWords } from "./words.js";

export { channelToken } from "./channel-token.js";
export { type ErrorCode, type ErrorContext, MillraceError };

/** Options of a TokenAdmin. */
export interface TokenAdminOptions {
  /** Allows an `http:` address that is not on this machine: the master token would be readable on the way. */
  readonly allowPlaintext?: boolean | undefined;
  /** In place of the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /**
   * On Node alone: the URL of a forward proxy, or `none`, as for `connect`. Default: as the variables HTTPS_PROXY and
   * NO_PROXY say. It does not count with `fetch`.
   */
  readonly proxy?: string | undefined;
  /** Where it says, once, what is seldom meant, such as a lifetime that an edge has cut; null: nowhere. Default: console. */
  readonly logger?: Logger | null | undefined;
  /** Of each call to an edge, in milliseconds. Default, also of 0: 10000. */
  readonly timeout?: number | undefined;
}

/** What a token allows in some tenants. */
export interface Grant {
  readonly tenants: readonly string[];
  /** Rules for channels that may be published to; none if left out. */
  readonly publish?: readonly string[] | undefined;
  /** Rules for patterns that may be subscribed to; none if left out. */
  readonly subscribe?: readonly string[] | undefined;
  /** Rules for stored messages that may be read, of what may be subscribed to; none if left out. */
  readonly history?: readonly string[] | undefined;
  /** Rules for patterns whose members may be seen; none if left out. To count them, `subscribe` is enough. */
  readonly presence?: readonly string[] | undefined;
}

/** When a token expires: one of the two. */
export interface Expiry {
  /**
   * From now on: `"1h"`, `"15m"`, `"90s"`, `"1h30m"`, or seconds, at least 1; a fraction is cut off, and more than 24
   * hours means 24 hours.
   */
  readonly expiresIn?: string | number | undefined;
  /** A Date, or a time in RFC 3339, at most 24 hours ahead by the clock of the edge. */
  readonly expiresAt?: Date | string | undefined;
}

/** What a token may do, and where. What is left out limits nothing. */
export interface Rights {
  readonly grants: readonly Grant[];
  readonly ipMasks?: readonly string[] | undefined;
  readonly regions?: readonly string[] | undefined;
  /** Origins of web pages. */
  readonly origins?: readonly string[] | undefined;
  readonly protocols?: readonly ("websocket" | "webtransport")[] | undefined;
  /** In units of 1,024 bytes a second; left out: the edge's default. */
  readonly ingressKBps?: number | undefined;
  readonly egressKBps?: number | undefined;
}

/** A token to be issued. */
export interface IssueRequest extends Rights, Expiry {
  readonly createdBy: string;
  readonly description?: string | undefined;
  /**
   * Whose the token is, by any id of the application's: 1 to 128 bytes without control characters. It is no
   * secret: subscribers see it as the sender of a message, and others as a member of the channels that it joins.
   */
  readonly subject?: string | undefined;
  /**
   * About the subject, for operators, hooks, and who may see it as a member of a channel: an object that is at most
   * 1,024 bytes as JSON.
   */
  readonly info?: object | undefined;
}

/** A token that was issued. */
export interface IssuedToken {
  /** The secret, which is told only here. */
  readonly token: string;
  readonly tokenId: string;
  /** By the clock of the edge. */
  readonly expiresAt: Date;
  /** Seconds from the answer to then: pass these on, and not expiresAt, which others read by other clocks. */
  readonly expiresIn: number;
  /** The edge has cut the lifetime that was asked for to its limit. */
  readonly clamped: boolean;
}

/** Which tokens to list. */
export interface ListOptions {
  /** Those with a grant for this tenant. */
  readonly tenant?: string | undefined;
  /** Those of this subject. */
  readonly subject?: string | undefined;
  /** Tokens for each call: 1 to 1000. Default: 100. */
  readonly pageSize?: number | undefined;
}

/** A token without its secret. */
export interface TokenInfo extends Rights {
  readonly tokenId: string;
  readonly createdBy: string;
  readonly description: string;
  /** Empty: it has none. */
  readonly subject: string;
  readonly info: { readonly [name: string]: unknown } | undefined;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | undefined;
  /** `valid`, `expired` or `revoked`. */
  readonly status: string;
  /** The master token that issued it; empty: none, it was made at the edge. */
  readonly masterId: string;
}

const lists = "tenants publish subscribe history presence";
const expiries = "expiresIn expiresAt";
const requested = `createdBy description subject info grants ipMasks regions origins protocols ingressKBps egressKBps ${expiries}`;

type Json = Record<string, unknown>;

/**
 * Issues, refreshes, revokes and lists access tokens over the REST API of an edge. For backends: in
 * a browser it throws. Errors are MillraceErrors with the edge's code and HTTP status, or
 * `unreachable`, `timeout`, `bad_option` or `protocol`. The text of a refusal names what is wrong by the
 * fields of this package, such as `grants[0].subscribe[2]`.
 *
 * Of several edges with the same tokens, a call goes to the one that answered last, at first to the
 * first, and to the next one if that does not answer in time, or answers 502, 503, 504 or `read_only`;
 * each is asked once. Of an edge that does not answer it is not known whether it carried the call out:
 * then `issue` may leave a second token, which nobody has got, and which ends with its expiry. The other
 * calls can be repeated.
 */
export class TokenAdmin {
  readonly #origins: string[];
  #good = 0; // the index of the edge that answered last
  readonly #master: string;
  readonly #fetch: typeof fetch;
  readonly #timeout: number;
  readonly #loud: Loud;

  constructor(urls: string | readonly string[], masterToken: string, options: TokenAdminOptions = {}) {
    advise(hints);
    if (isBrowser) bad("a master token has no place in a browser: a backend issues access tokens with it");
    this.#origins = [urls].flat().map((url) => {
      const { pathname, origin } = parseAddress(url, options.allowPlaintext === true);
      return pathname === "/" ? origin : bad("the address of an edge has no path");
    });
    if (this.#origins.length === 0) bad("at least one address is needed");
    checkMembers("the object of options", options, "allowPlaintext fetch logger timeout");
    const { timeout = 0 } = options;
    if (!(timeout >= 0 && timeout < 2 ** 31)) bad("timeout must be milliseconds");
    this.#master = checkedSecret(masterToken, "master");
    this.#fetch = options.fetch ?? fetch;
    this.#timeout = timeout || 10_000;
    this.#loud = new Loud(options.logger);
  }

  /** Issues an access token. */
  async issue(request: IssueRequest): Promise<IssuedToken> {
    checkMembers("the request", request, requested);
    const { grants } = request;
    if (!Array.isArray(grants) || grants.length === 0)
      bad('grants must be a list, and not empty: [{ tenants: ["room"], subscribe: ["#"] }]');
    for (const [i, grant] of grants.entries()) {
      checkMembers(`grants[${i}]`, grant, lists);
      for (const list of lists.split(" "))
        if (!Array.isArray(grant[list as keyof Grant] ?? [])) bad(`grants[${i}].${list} must be a list of strings`);
    }
    checkScope(grants, (text) => this.#loud.say(text, "permission_denied"));
    const { subject, info } = request;
    const end = expiry(request);
    if (info !== undefined && !isObject(info)) bad("info must be an object of JSON");
    const { token, token_id, expires_at, expires_in } = await this.#call("POST", "get-token", {
      created_by: request.createdBy,
      description: request.description,
      subject,
      info,
      right: {
        tenant_grants: grants.map(({ tenants, publish, subscribe, history, presence }) => ({
          tenant_ids: tenants,
          allow_channels_pub: publish,
          allow_channels_sub: subscribe,
          allow_channels_history: history,
          allow_channels_presence: presence,
        })),
        allow_ip_masks: request.ipMasks,
        allow_regions: request.regions,
        allowed_ws_origin: request.origins,
        allow_protocols: request.protocols,
        ingress_kb_per_sec: request.ingressKBps,
        egress_kb_per_sec: request.egressKBps,
        ...end,
      },
    });
    const expiresIn = expires_in as number;
    const clamped = expiresIn < (end.expires_in as number);
    if (clamped) {
      const text = `a token for ${end.expires_in} s was issued for ${expiresIn} s, the longest that the edge allows`;
      this.#loud.say(text, "expires_at_out_of_range");
    }
    return { token: text(token), tokenId: text(token_id), expiresAt: time(expires_at), expiresIn, clamped };
  }

  /** Prolongs a valid token, by its id; open connections go on. Returns when it expires now. */
  async refresh(tokenId: string, until: Expiry): Promise<Date> {
    checkMembers("the expiry", until, expiries);
    const body = { token_id: tokenId, ...expiry(until) };
    return time((await this.#call("PUT", "refresh-token", body)).new_expires_at);
  }

  /** Revokes a token, in full; its connections end. No error if it is revoked or expired already. */
  async revoke(token: string): Promise<void> {
    if (/^[0-9a-f]*$/.test(token)) bad("revoke takes a token, AT_…: revokeById takes the id of one");
    await this.#call("DELETE", "revoke-token", { token });
  }

  /** Revokes a token by its id, which issue and list give; as revoke. */
  async revokeById(tokenId: string): Promise<void> {
    if (!/^[0-9a-f]+$/.test(tokenId)) bad("tokenId must be hex digits");
    await this.#call("DELETE", `tokens/${tokenId}`);
  }

  /**
   * Revokes all tokens of a subject that this master token manages, and returns how many were valid until
   * then: 0 is no error. All connections of the subject end within a second, also those with tokens that
   * were issued while it ran. Later tokens are not concerned: issue none that the subject is not to have.
   */
  async revokeSubject(subject: string): Promise<number> {
    if (typeof subject !== "string" || !subject) bad("subject must be a string, and not empty");
    const { revoked } = await this.#call("DELETE", `tokens?${encoded(new URLSearchParams({ subject }))}`);
    return typeof revoked === "number" ? revoked : strange();
  }

  /** Lists the tokens that this master token manages, page by page as it is iterated. */
  async *list(options: ListOptions = {}): AsyncGenerator<TokenInfo, void, undefined> {
    checkMembers("the object of options", options, "tenant subject pageSize");
    const { tenant, subject, pageSize } = options;
    const query = new URLSearchParams();
    if (tenant !== undefined) query.set("tenant", tenant);
    if (subject !== undefined) query.set("subject", subject);
    if (pageSize !== undefined) query.set("limit", String(pageSize));
    for (;;) {
      const { tokens, next_cursor } = await this.#call("GET", `tokens?${encoded(query)}`);
      if (!Array.isArray(tokens)) strange();
      for (const token of tokens) yield info(token);
      if (!next_cursor) return;
      query.set("cursor", text(next_cursor));
    }
  }

  async #call(method: string, path: string, body?: Json): Promise<Json> {
    const edges = this.#origins.length;
    let worst: unknown;
    for (let i = 0, at = this.#good; i < edges; i++, at = (at + 1) % edges) {
      try {
        const answer = await this.#ask(`${this.#origins[at]}/v1/${path}`, method, body);
        this.#good = at;
        return answer;
      } catch (err) {
        const { status, code } = err as Partial<MillraceError>;
        const another = status ? /^50[234]$/.test(`${status}`) : /^(unreachable|timeout)$/.test(`${code}`);
        if (!another && code !== "read_only") throw err;
        if (!worst || status) worst = err; // what an edge says, rather than that none answers
      }
    }
    throw worst;
  }

  async #ask(url: string, method: string, body?: Json): Promise<Json> {
    let response: Response;
    let answer: Json | undefined;
    try {
      const send = this.#fetch; // a method of no object
      response = await send(url, {
        method,
        headers: { Authorization: `Bearer ${this.#master}`, "Content-Type": "application/json" },
        body: body ? JSON.stringify(body) : null,
        redirect: "manual", // the master token is for this edge; workerd knows no "error"
        signal: AbortSignal.timeout(this.#timeout),
      });
      answer = await response.json().catch((err: unknown) => {
        if (err instanceof SyntaxError) return undefined;
        throw err;
      });
    } catch (err) {
      const late = (err as Error).name === "TimeoutError";
      throw asError(err, late ? "timeout" : "unreachable", `${new URL(url).origin} does not answer`);
    }
    const { ok, status } = response;
    if (!ok) {
      const { code, detail } = answer ?? {};
      if (typeof code !== "string") throw notEdge(url, status);
      let ours =
        code === "bad_master_token"
          ? "the edge does not accept the master token: it is incomplete, or of another edge"
          : inOurWords(detail);
      if (code === "expires_at_out_of_range") ours += `; here it is ${new Date().toISOString()}`;
      throw new MillraceError(code, ours, { status });
    }
    return typeof answer === "object" && answer !== null ? answer : strange();
  }
}

/** encoded writes a space as %20: a plus may mean itself or a space, and DELETE /v1/tokens refuses it. */
function encoded(query: URLSearchParams): string {
  return query.toString().replaceAll("+", "%20");
}

/** expiry returns the members of a request: a lifetime needs no clock. */
function expiry({ expiresIn, expiresAt }: Expiry): Json {
  const life = Math.floor(seconds(expiresIn ?? 1));
  if ((expiresIn == null) === (expiresAt == null) || !(life >= 1 && life + Number(new Date(expiresAt ?? 0)) < 2 ** 53))
    bad('give one of expiresIn, 1 s or more, such as "15m", and expiresAt, not both');
  return expiresAt ? { expires_at: expiresAt } : { expires_in: life };
}

function info(t: Json): TokenInfo {
  const right = (t.right ?? {}) as { [list: string]: string[] | undefined };
  return {
    tokenId: text(t.token_id),
    createdBy: text(t.created_by),
    description: text(t.description ?? ""),
    subject: text(t.subject ?? ""),
    info: t.info as TokenInfo["info"],
    createdAt: time(t.created_at),
    expiresAt: time(t.expires_at),
    revokedAt: t.revoked_at ? time(t.revoked_at) : undefined,
    status: text(t.status),
    masterId: text(t.master_id ?? ""),
    grants: ((right.tenant_grants ?? []) as unknown as (typeof right)[]).map((grant) => ({
      tenants: grant.tenant_ids ?? [],
      publish: grant.allow_channels_pub,
      subscribe: grant.allow_channels_sub,
      history: grant.allow_channels_history,
      presence: grant.allow_channels_presence,
    })),
    ipMasks: right.allow_ip_masks,
    regions: right.allow_regions,
    origins: right.allowed_ws_origin,
    protocols: right.allow_protocols as TokenInfo["protocols"],
    ingressKBps: right.ingress_kb_per_sec as number | undefined,
    egressKBps: right.egress_kb_per_sec as number | undefined,
  };
}

function isObject(value: unknown): boolean {
  try {
    return JSON.stringify(value)[0] === "{";
  } catch {
    return false;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : strange();
}

function time(value: unknown): Date {
  const at = new Date(text(value));
  return Number.isNaN(at.getTime()) ? strange() : at;
}

function strange(): never {
  throw new MillraceError("protocol", "the edge's answer is not understood");
}

function bad(what: string): never {
  throw new MillraceError("bad_option", what);
}
