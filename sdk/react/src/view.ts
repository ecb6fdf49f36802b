import type { Message, MillraceError } from "@millrace/client";

/**
 * How it is with a subscription: `idle` is one without a pattern, `subscribing` one that no edge has
 * confirmed yet, and `ended` one that gives nothing any more.
 */
export type SubscriptionStatus = "idle" | "subscribing" | "subscribed" | "ended";

/** How it is with a subscription. */
export interface SubscriptionState {
  readonly status: SubscriptionStatus;
  /** Why it has ended. */
  readonly error: MillraceError | undefined;
  /** How often messages may have been missed, of a subscription with a history. */
  readonly gaps: number;
  /** Subscribes again after it has ended, behind what came if it has a history; otherwise it does nothing. */
  readonly retry: () => void;
}

/** What a subscription has published for all components that share it. */
export interface Shared {
  readonly about: SubscriptionState;
  /** The newest messages, oldest first. */
  readonly kept: readonly Message[];
  /** The newest of each channel, of those that are not kept any more. */
  readonly older?: ReadonlyMap<string, Message> | undefined;
  /** How many have come. */
  readonly count: number;
}

/** What a hook makes of messages. */
export interface Fold<A, R> {
  start(): A;
  /** The accumulator with one more message; it may be the same one, changed. */
  add(all: A, message: Message): A;
  /** What the component gets of it, which changes no more; skipped messages are not in it. */
  show(all: A, shared: Shared, skipped: number): R;
}

/** The newest message of each channel, in the order in which the channels appeared. */
export interface Newest {
  readonly channels: Map<string, Message>;
  /** Their names, the one that is silent longest first. */
  readonly silent: Set<string>;
}

export const newest = (): Newest => ({ channels: new Map(), silent: new Set() });

/** renew puts a message in its channel's place, and drops the channels that are silent longest. */
export function renew({ channels, silent }: Newest, message: Message, most: number): void {
  channels.set(message.channel, message);
  silent.delete(message.channel);
  silent.add(message.channel);
  for (const channel of silent) {
    if (silent.size <= most) break;
    silent.delete(channel);
    channels.delete(channel);
  }
}

/** A View is what one hook of one component makes of a subscription. */
export interface View<R> {
  readonly limit: number;
  /** What the server renders, and the browser while it hydrates. */
  readonly initial: R & SubscriptionState;
  /** The snapshot for React. It throws what a fold has thrown, as useReducer does. */
  read(): R & SubscriptionState;
  /** Makes use of another fold of the same kind. */
  // biome-ignore lint/suspicious/noExplicitAny: its accumulator is of the same type
  use(fold: Fold<any, R>): void;
  /**
   * Takes what a subscription has of its past, unless the view has it: it was away, as in StrictMode. Where it
   * has missed some that are gone, it begins again.
   */
  join(of: object, past: Omit<Shared, "about">): void;
  take(message: Message): void;
  /** Makes the next snapshot, and says whether it is another one. */
  publish(shared: Shared | object): boolean;
}

/** plainView makes a view that shows what is published as it is. */
export function plainView<R>(initial: R): View<R> {
  let snapshot = initial;
  const view = {
    limit: 0,
    initial,
    read: () => snapshot,
    use() {},
    join() {},
    take() {},
    publish(next: R): boolean {
      const another = next !== snapshot;
      snapshot = next;
      return another;
    },
  };
  return view as unknown as View<R>;
}

/**
 * createView makes a view. It takes each message as it comes, and shows the result when its subscription
 * publishes, so that all components change at the same time. It is made of a closure, as everything here that
 * has state: that costs a page less than a class.
 */
export function createView<A, R>(fold: Fold<A, R>, limit: number, shared: Shared): View<R> {
  let all = fold.start();
  let from: object | undefined; // the subscription that it has messages of
  let seen = 0; // of that one's messages
  let skipped = 0;
  let changed = false;
  let thrown: { readonly error: unknown } | undefined;
  const show = (): R & SubscriptionState => ({ ...shared.about, ...fold.show(all, shared, skipped) });
  const initial = show();
  let snapshot = initial;
  const take = (message: Message): void => {
    seen++;
    changed = true;
    try {
      all = fold.add(all, message);
    } catch (error) {
      thrown ??= { error };
    }
  };
  return {
    limit,
    initial,
    read() {
      if (thrown) throw thrown.error;
      return snapshot;
    },
    use(next) {
      fold = next;
    },
    join(of, { kept, older, count }) {
      let known = kept.length + seen - count;
      if (from !== of || known < 0) {
        all = fold.start();
        skipped = count - kept.length - (older?.size ?? 0);
        older?.forEach(take);
        changed = true;
        known = 0;
      }
      kept.slice(known).forEach(take);
      from = of;
      seen = count;
    },
    take,
    publish(next) {
      if (next === shared && !changed) return false;
      shared = next as Shared;
      changed = false;
      snapshot = show();
      return true;
    },
  };
}
