/// <reference lib="esnext.disposable" preserve="true" />

import { parseAddress } from "./address.js";
import { advise } from "./advice.js";
import { badOption, must } from "./bad-option.js";
import type { ConfirmOptions, PublishOptions, SubscribeOptions } from "./calls.js";
import type { MillraceError } from "./errors.js";
import type { EventHandler, EventName } from "./events.js";
import { deliveries, encodePublish } from "./frames.js";
import { type Everything, imported, need } from "./imported.js";
import { encodeText } from "./lines.js";
import type { Transport } from "./link.js";
import { checkMembers, checkName } from "./members.js";
import type { Membership } from "./membership.js";
import { checkedChannel, checkedPattern, checkedTenant } from "./names.js";
import { type ConnectOptions, queueOptions } from "./options.js";
import type { Histories, Presences } from "./parts.js";
import { asBytes, type Payload } from "./payload.js";
import type { Presence, PresenceOptions } from "./presence.js";
import type { Runtime } from "./runtime.js";
import { Session } from "./session.js";
import { Subscription } from "./subscription.js";
import type { Tenant } from "./tenant.js";
import { abortable, now, throwIfAborted } from "./timers.js";

/** connectOn is `connect` on a runtime, with some parts. */
export async function connectOn(
  runtime: Runtime,
  addresses: string | readonly string[],
  options: ConnectOptions,
  parts: Everything = imported,
): Promise<Client> {
  if (parts.advice) advise(parts.advice);
  const all = typeof addresses === "string" ? [addresses] : addresses;
  if (!options || !all?.length) badOption("connect needs an address and options");
  const session = new (parts.moves ?? Session)(
    all.map((address) => parseAddress(address, options.allowPlaintext === true)),
    options,
    runtime,
    parts,
  );
  const { signal = new AbortController().signal } = options;
  throwIfAborted(signal);
  await abortable(session.start(signal), signal);
  return new Client(session);
}

/** A client of Millrace; `connect` makes it. */
export class Client implements AsyncDisposable {
  readonly #session: Session;
  /** Resolves when the client has ended: with the error, or undefined if the application closed it. */
  readonly closed: Promise<MillraceError | undefined>;

  /** @internal */
  constructor(session: Session) {
    this.#session = session;
    this.closed = session.closed;
  }

  get #histories(): Histories {
    return need(this.#session.histories, "history", "history and confirm");
  }

  get #presences(): Presences {
    return need(this.#session.presences, "presence", "presence");
  }

  /** The origin of the edge that the client is, or was last, connected to. */
  get edge(): string {
    return this.#session.place.edge;
  }

  get transport(): Transport {
    return this.#session.place.transport;
  }

  /** The round trip of the last PING, in milliseconds; undefined before the first. */
  get rtt(): number | undefined {
    return this.#session.rtt;
  }

  /** The edge has held back within the last minute, because of a limit: see the event `limited`. */
  get limited(): boolean {
    return now() < this.#session.limitedUntil;
  }

  /** Adds a handler of an event, and returns what removes it. */
  on<E extends EventName>(event: E, handler: EventHandler<E>): () => void {
    return this.#session.events.on(event, handler);
  }

  /** The calls that name a tenant, without it. An empty tenant is `~`. */
  tenant(tenant: string): Tenant {
    const name = checkedTenant(tenant);
    const on =
      (call: "subscribe" | "publish" | "join" | "presence") =>
      (...rest: unknown[]): Promise<never> =>
        (this[call] as (...all: unknown[]) => Promise<never>)(name, ...rest);
    return { name, subscribe: on("subscribe"), publish: on("publish"), join: on("join"), presence: on("presence") };
  }

  /**
   * Subscribes to the channels that match a pattern; resolves when the edge has acknowledged it. The
   * error has the edge's code. While the client reconnects, it waits. An empty tenant is `~`.
   */
  async subscribe(tenant: string, pattern: string, options: SubscribeOptions = {}): Promise<Subscription> {
    const session = this.#session;
    checkMembers("the object of options", options, "onMessage history queue queuePolicy echo");
    const { onMessage, echo = true } = options;
    must("echo", echo, "boolean");
    must("onMessage", onMessage, "function");
    const sub = new Subscription(checkedTenant(tenant), checkedPattern(pattern), session.subscriber, {
      ...queueOptions(options, session.settings),
      onMessage,
      echo,
      history: options.history === undefined ? undefined : this.#histories.begin(options.history, pattern),
    });
    await session.subscriber.subscribe(sub);
    return sub;
  }

  /**
   * Publishes a message: bytes, a text, or what becomes JSON. Resolves when it is handed to the transport. Await it to
   * send no faster than the network takes. The edge does not acknowledge; a refusal is the event `publishError`.
   * Without a connection the error is `disconnected`, unless it has a key. An empty tenant is `~`.
   *
   * With `confirm` it resolves with the position at which the message is stored, or with undefined if
   * this edge has accepted it and no history keeps the channel. A publish with a key waits for a connection, and
   * is repeated if that is lost before the answer comes, or the edge cannot say. From then on it ends with its
   * position or with `outcome_unknown`: it may be stored. That is also the error after 100 s, without a key
   * at once, and when the client ends meanwhile. All other errors are certain: it is not stored.
   */
  publish(tenant: string, channel: string, payload: Payload, options: ConfirmOptions): Promise<string | undefined>;
  publish(tenant: string, channel: string, payload: Payload, options?: PublishOptions): Promise<void>;
  async publish(tenant: string, channel: string, payload: Payload, options?: PublishOptions): Promise<unknown> {
    const session = this.#session;
    if (options !== undefined) checkMembers("the object of options", options, "delivery confirm key");
    const { delivery = "broadcast", confirm = false, key } = options ?? {};
    checkName("delivery:", delivery, deliveries.join(" "));
    const way = deliveries.indexOf(delivery);
    if (payload === undefined) badOption("publish needs tenant, channel, payload");
    const body = asBytes(payload);
    const names = { tenant: checkedTenant(tenant), channel: checkedChannel(channel) };
    if (confirm) {
      const bytes = encodeText(key ?? "");
      if (key !== undefined && !(bytes.length > 0 && bytes.length <= 64))
        badOption(`a key has 1 to 64 bytes, not ${bytes.length}: take a hash`);
      const encode = (id: number) => encodePublish(names.tenant, names.channel, body, way, { id, key: bytes });
      return this.#histories.publish(encode, bytes, way > 0, names);
    }
    if (key !== undefined) badOption("a key needs confirm: true");
    const frame = encodePublish(names.tenant, names.channel, body, way || undefined);
    session.publishConnection();
    return session.whenOpen(() => session.publishConnection().publish(frame, names));
  }

  /**
   * Is present in a channel, as the subject of the token, until the membership is left, or the client ends. Resolves
   * when the edge has acknowledged it. It is restored on every further connection, and others see no change unless
   * that takes longer than the edge's `linger`. The errors have the edge's code: `no_subject`, `no_presence`, which
   * is also that of an edge without presence, `too_many_members`, `permission_denied`. While the client reconnects,
   * it waits. An empty tenant is `~`.
   */
  async join(tenant: string, channel: string): Promise<Membership> {
    const on = checkedTenant(tenant);
    return this.#presences.join(on, checkedChannel(channel, on));
  }

  /**
   * Tells who is present in the channels that match a pattern, or how many are. Resolves when `members` and `counts`
   * are complete; the changes begin behind that. After every loss of the connection, and every move, it goes on with
   * what has changed meanwhile. The error has the edge's code: `no_presence`, also of an edge without presence, or
   * `permission_denied`. While the client reconnects, it waits. An empty tenant is `~`.
   */
  async presence(tenant: string, pattern: string, options: PresenceOptions = {}): Promise<Presence> {
    const on = checkedTenant(tenant);
    return this.#presences.watch(on, checkedPattern(pattern, on), options);
  }

  /** Resolves when the edge has handled all that was sent before. The error is `disconnected` if it may not have. */
  async flush(): Promise<void> {
    const session = this.#session;
    session.publishConnection();
    await session.whenOpen(() => session.publishConnection().ping());
  }

  /**
   * Asks the token provider now, or a second after its last answer: when the rights of the user have
   * changed, for example. Resolves when the token has come; if it is another one, the client then moves to
   * a new connection, for the reason `token`. The errors are `token_provider`, `logged_out`, after which the
   * client has ended, and `bad_option` without a provider. The provider itself must not call it.
   */
  renewToken(): Promise<void> {
    return this.#session.renewToken();
  }

  /** Tries to reconnect now, if the client waits for its next attempt; the pauses then start over. Otherwise it does nothing. */
  retry(): void {
    this.#session.retry();
  }

  /**
   * Drains all subscriptions, see there, and closes the client. It takes as long as the application does: `close` ends
   * it at once.
   */
  async drain(): Promise<void> {
    await this.#session.subscriber.drainAll();
    await this.close();
  }

  /** Leaves the edge, after what was published is sent, if that takes less than a second. Resolves when the connection has ended. */
  async close(): Promise<void> {
    this.#session.finish(undefined);
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
