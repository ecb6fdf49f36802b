import type { ConfirmOptions, PublishOptions, SubscribeOptions } from "./calls.js";
import type { Membership } from "./membership.js";
import type { Payload } from "./payload.js";
import type { Presence, PresenceOptions } from "./presence.js";
import type { Subscription } from "./subscription.js";

/** What `client.tenant(name)` gives: the calls of a client that name a tenant, without it. */
export interface Tenant {
  readonly name: string;
  subscribe(pattern: string, options?: SubscribeOptions): Promise<Subscription>;
  publish(channel: string, payload: Payload, options: ConfirmOptions): Promise<string | undefined>;
  publish(channel: string, payload: Payload, options?: PublishOptions): Promise<void>;
  join(channel: string): Promise<Membership>;
  presence(pattern: string, options?: PresenceOptions): Promise<Presence>;
}
