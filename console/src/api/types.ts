// What the API answers. Members that Go leaves out when they are empty are optional.
import type { StoredMessage } from "../lib/kept.js";
import type { Right } from "../lib/right.js";
import type { Samples } from "../lib/samples.js";

export type Role = "viewer" | "manager";

export interface Session {
  readonly auth: "operators" | "caddy";
  readonly signed_in: boolean;
  readonly user?: string; // auth caddy: whom the front names
  readonly operator?: string;
  readonly role?: Role;
  readonly expires_at?: string;
  readonly idle_seconds?: number;
  readonly confirmed_until?: string | null;
  readonly tail?: boolean;
  readonly live_url?: string;
}

export interface Master {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
  readonly tenant_prefix: string;
  readonly allow_ip_masks?: readonly string[];
  readonly created_at?: string;
  readonly static: boolean;
  readonly max_tokens?: number;
  readonly max_bytes?: number;
  readonly calls_per_second?: number;
}

/** The part of a master token that operators decide. */
export interface MasterSpec {
  name: string;
  description: string;
  tenant_prefix: string;
  allow_ip_masks: string[];
  max_tokens: number;
  max_bytes: number;
  calls_per_second: number;
}

export interface MasterWithSecret extends Master {
  readonly token: string;
  readonly revoked_tokens?: number;
}

export type TokenStatus = "valid" | "expired" | "revoked";

export interface AccessToken {
  readonly token_id: string;
  readonly created_by: string;
  readonly description?: string;
  readonly subject?: string;
  readonly info?: Readonly<Record<string, unknown>>;
  readonly created_at: string;
  readonly expires_at: string;
  readonly revoked_at?: string;
  readonly status: TokenStatus;
  readonly master_id?: string;
  readonly right: Right;
}

export interface TokenPage {
  readonly tokens: readonly AccessToken[] | null;
  readonly next_cursor?: string;
}

export interface SubjectRevoked {
  readonly revoked: number; // tokens that were valid
}

export interface Issued {
  readonly token: string;
  readonly token_id: string;
  readonly expires_at: string;
  readonly expires_in: number; // seconds
}

export interface ExplainQuery {
  readonly token_id: string;
  readonly action: string;
  readonly tenant?: string;
  readonly channel?: string;
  readonly ip?: string;
  readonly origin?: string;
  readonly protocol?: string;
  readonly region?: string;
}

export interface Explanation {
  readonly allowed: boolean;
  readonly reason: string;
  readonly rule?: string;
  readonly token?: {
    readonly subject?: string;
    readonly created_by: string;
    readonly tenants: readonly string[];
    readonly master_id?: string;
    readonly master_name?: string;
  };
  readonly limits?: readonly LimitUse[] | null;
}

/** A limit that a connection meets. */
export interface LimitUse {
  readonly name: string;
  readonly of?: string;
  readonly limit?: number; // none: there is no limit
  readonly used?: number;
}

/** Whether an edge answered. */
export interface EdgeAnswer {
  readonly id: string;
  readonly name: string;
  readonly answered: boolean;
  readonly error?: string;
}

export interface EdgeCount extends EdgeAnswer {
  readonly total: number;
  readonly matching: number;
}

/** What an edge refused. */
export interface Refused {
  readonly edge: string;
  readonly edge_name: string;
  readonly time: string;
  readonly connection_id?: string;
  readonly action: string;
  readonly code: string;
  readonly reason: string;
  readonly rule?: string;
  readonly token_id?: string;
  readonly subject?: string;
  readonly verified: boolean; // the client has the secret of the token
  readonly ip?: string;
  readonly transport: string;
  readonly tenant?: string;
  readonly channel?: string;
}

export interface RefusedPage {
  readonly edges: readonly EdgeAnswer[] | null;
  readonly refused: readonly Refused[] | null;
  readonly next_cursor?: string;
}

export interface Connection {
  readonly edge: string;
  readonly edge_name: string;
  readonly id: number;
  readonly connection_id?: string;
  readonly token_id: string;
  readonly issuer?: string; // prefix or id of the token's master token
  readonly subject?: string;
  readonly ip: string;
  readonly transport: string;
  readonly since: string;
  readonly expires_at: string;
  readonly subscriptions: number;
  readonly queued_bytes: number;
  readonly dropped: number;
  readonly draining: boolean;
  readonly tenants?: readonly string[] | null;
  readonly ingress_kb_per_sec?: number; // 0: none
  readonly egress_kb_per_sec?: number;
  readonly ingress_delay_seconds?: number; // of what waits for a cap; none: nothing does
  readonly egress_delay_seconds?: number;
}

export interface ConnectionPage {
  readonly edges: readonly EdgeCount[] | null;
  readonly connections: readonly Connection[] | null;
  readonly next_cursor?: string;
}

export interface ConnectionDetail extends Connection {
  readonly patterns?: readonly { readonly tenant: string; readonly pattern: string }[] | null;
  readonly more_patterns?: number;
}

export interface Disconnected {
  readonly disconnected: number;
  readonly unanswered?: readonly string[] | null;
  readonly silent?: readonly string[] | null; // for so long that they most likely have none
}

export interface Status {
  readonly version: string;
  readonly caddy: string;
  readonly go: string;
  readonly started_at: string;
  readonly region?: string;
  readonly host?: string;
  readonly draining?: boolean;
  readonly connections: Readonly<Record<string, number>> | null;
  readonly limited?: Readonly<Record<string, number>> | null; // those that wait for a cap, by "ingress" and "egress"
  readonly max_connections: number;
  readonly subscriptions: number;
  readonly patterns: number;
  readonly queued_bytes: number;
  readonly memory_bytes: number;
  readonly broker: { readonly driver: string; readonly linked: boolean };
  readonly store: {
    readonly driver: string;
    readonly usable: boolean;
    readonly error?: string;
    readonly writable: boolean;
    readonly replicas?: { readonly current: number; readonly all: number } | null;
  };
  readonly links?: readonly LinkStatus[] | null;
  readonly quorum?: Quorum | null; // only with NATS inside edges
}

/** The members of the cluster of the NATS servers inside edges. */
export interface Quorum {
  readonly members: readonly QuorumMember[] | null;
  readonly leader: string; // empty: none
  readonly needed: number;
  readonly running: number;
}

export interface QuorumMember {
  readonly name: string;
  readonly state: string; // "leader", "current", "lagging" or "offline"
  readonly since?: string | null;
  readonly behind: number;
  readonly replicas: number;
  readonly lagging: number;
}

/** How the connection of a broker or a store to its servers is. */
export interface LinkStatus {
  readonly of: string; // "broker", "tokens" or "history"
  readonly connected: boolean;
  readonly code?: string; // what is wrong; none: nothing
  readonly reason?: string; // in words
  readonly error?: string;
  readonly since?: string | null;
}

export interface EdgeStatus {
  readonly id: string;
  readonly name: string;
  readonly self: boolean;
  readonly host?: string;
  readonly region?: string;
  readonly state: string; // "here", "draining" or "silent"
  readonly seen_at?: string | null;
  readonly answered: boolean;
  readonly error?: string;
  readonly status?: Status | null;
}

export type Counts = Readonly<Record<string, number>>;

export interface EdgeOverview extends EdgeStatus {
  readonly samples?: Samples | null;
  readonly recent?: {
    readonly dropped?: Counts | null;
    readonly refused?: Counts | null;
    readonly handshakes_refused?: Counts | null;
    readonly slow_disconnects?: Counts | null;
  } | null;
}

/** What a history keeps of a tenant. */
export interface HistoryUsage {
  readonly history: string;
  readonly tenant: string;
  readonly channels: number;
  readonly messages: number;
  readonly bytes: number;
  readonly oldest: string;
}

/** What all edges follow of a history. */
export interface EffectiveHistory {
  readonly version: number;
  readonly messages: number; // of each channel
  readonly age_seconds: number;
  readonly size: number; // bytes
  readonly max_lag_seconds: number; // 0: none
}

/** An option in which the edge's configuration differs from what all edges follow. */
export interface HistoryDifference {
  readonly field: string;
  readonly configured: string;
  readonly effective: string;
}

export interface HistoryTotal extends Omit<HistoryUsage, "tenant" | "oldest"> {
  readonly configured: boolean;
  readonly tenants: number;
  readonly oldest?: string;
  readonly effective?: EffectiveHistory | null; // none: nobody keeps it, or that is not known
  readonly drift?: readonly HistoryDifference[];
  readonly remedy?: string; // what to do about drift
  readonly error?: string; // why the edge cannot use it
}

export interface HistoryList {
  readonly histories: readonly HistoryUsage[] | null;
  readonly next_cursor?: string;
  readonly totals: readonly HistoryTotal[] | null;
}

/** How many members a tenant has in a presence. */
export interface PresenceUsage {
  readonly presence: string;
  readonly tenant: string;
  readonly members: number;
}

export interface PresenceTotal {
  readonly presence: string;
  readonly tenants: number;
  readonly members: number;
  readonly max_members: number; // of a tenant
}

export interface PresenceList {
  readonly presences: readonly PresenceUsage[] | null;
  readonly next_cursor?: string;
  readonly totals: readonly PresenceTotal[] | null;
}

/** A subject in a channel. */
export interface Member {
  readonly channel: string;
  readonly subject: string;
  readonly since: string;
  readonly info?: Readonly<Record<string, unknown>>;
}

export interface MemberPage {
  readonly members: readonly Member[] | null;
  readonly next_cursor?: string;
  readonly total: { readonly members: number; readonly channels: number };
}

export interface HistoryPage {
  readonly messages: readonly StoredMessage[] | null;
  readonly next: string; // the place where the next page begins; empty: this is the last
}
