import type { MillraceError } from "./errors.js";
import type { Delivered, Route } from "./frames.js";
import type { History } from "./history.js";
import { Message } from "./message.js";
import type { Subscription } from "./subscription.js";

/** A pattern that the edge is asked for, once for all subscriptions to it. */
export interface Interest {
  /** `tenant:pattern` */
  readonly name: string;
  readonly tenant: string;
  readonly pattern: string;
  readonly subs: Subscription[];
  /** The edge has acknowledged it on the present connection. */
  confirmed: boolean;
  /** Subscriptions that the application waits for. */
  waiting: { resolve(): void; reject(err: MillraceError): void }[];
  /** Of a subscription with a history, which is the only one. */
  readonly history: History | undefined;
  /** How many messages to one connection each connection may still bring. */
  readonly credit: WeakMap<object, number>;
  /** Those that came after the last subscription had ended. */
  lost: number;
}

/** Who gets the messages with some patterns: good while tenant and version are the same. */
export interface Readers {
  readonly tenant: string;
  readonly version: number;
  readonly interests: readonly Interest[];
}

/** A message; some parts may be left out. */
export type Given = Pick<Delivered<Readers>, "tenant" | "channel" | "payload" | "route" | "sender"> &
  Partial<Pick<Delivered<Readers>, "own" | "toOne">>;

/** Interests are the subscriptions of a client, by pattern. */
export class Interests {
  readonly #all = new Map<string, Interest>();
  readonly #ending = new Map<string, Interest>(); // those that are left: until the edge has answered, more may come
  #version = 0;
  /** Called when the application reads a sender that the edges were not asked for. */
  unasked: (() => void) | undefined;

  get all(): Interest[] {
    return [...this.#all.values()];
  }

  /** add returns the interest of a subscription, and whether it is new. */
  add(sub: Subscription): { interest: Interest; isNew: boolean } {
    const { tenant, pattern } = sub;
    const name = `${tenant}:${pattern}`;
    const known = this.#all.get(name);
    const { history } = sub;
    const interest = known ?? {
      name,
      tenant,
      pattern,
      subs: [],
      confirmed: false,
      waiting: [],
      history,
      credit: new WeakMap(),
      lost: 0,
    };
    interest.subs.push(sub);
    this.#all.set(name, interest);
    this.#version++;
    return { interest, isNew: !known };
  }

  /** of returns the interest in a pattern, if there is one. */
  of(tenant: string, pattern: string): Interest | undefined {
    return this.#all.get(`${tenant}:${pattern}`);
  }

  /** has says whether an interest is still there. */
  has(interest: Interest): boolean {
    return this.#all.get(interest.name) === interest;
  }

  /** remove returns the interest of a subscription if that was its last one. */
  remove(sub: Subscription): Interest | undefined {
    const interest = this.#all.get(`${sub.tenant}:${sub.pattern}`);
    const index = interest?.subs.indexOf(sub) ?? -1;
    if (!interest || index < 0) return undefined;
    interest.subs.splice(index, 1);
    return interest.subs.length === 0 && this.drop(interest) ? interest : undefined;
  }

  /** drop forgets an interest, and says whether it was there. What still comes is given to its subscriptions until ended. */
  drop(interest: Interest): boolean {
    this.#version++;
    const was = this.has(interest) && this.#all.delete(interest.name);
    if (was) this.#ending.set(interest.name, interest);
    return was;
  }

  /** ended is for an interest that nothing comes for any more. */
  ended(interest: Interest): void {
    this.#version++;
    if (this.#ending.get(interest.name) === interest) this.#ending.delete(interest.name);
  }

  /** dispatch gives a message of a connection to its subscriptions; late as in Message. */
  dispatch(m: Given, late = false, from?: object): void {
    const { tenant, channel, payload, route, sender, own, toOne = false } = m;
    const readers =
      route.note?.tenant === tenant && route.note.version === this.#version ? route.note : this.#find(tenant, route);
    for (const interest of readers.interests) {
      const { pattern, subs, history, credit } = interest;
      if (history && !history.plain) continue; // its messages have positions
      if (toOne) {
        const left = from && credit.get(from);
        if (left) credit.set(from, left - 1);
        if (subs.length === 0) interest.lost++;
      }
      const message = new Message(
        tenant,
        channel,
        payload,
        pattern,
        route.patterns,
        late,
        undefined,
        sender,
        own,
        toOne,
        this.unasked,
      );
      if (subs.length === 1) (subs[0] as Subscription).push(message);
      else for (const sub of [...subs]) sub.push(message);
    }
  }

  #find(tenant: string, route: Route<Readers>): Readers {
    const interests = route.patterns
      .map((pattern) => this.#all.get(`${tenant}:${pattern}`) ?? this.#ending.get(`${tenant}:${pattern}`))
      .filter((i) => i !== undefined);
    route.note = { tenant, version: this.#version, interests };
    return route.note;
  }
}
