import { type Client, type HistoryFrom, type Message, MillraceError, type Subscription } from "@millrace/client";
import { newest, renew, type Shared, type SubscriptionState, type View } from "./view.js";

/** Which subscription a component wants. */
export interface Wanted {
  readonly tenant: string;
  /** undefined: none */
  readonly pattern: string | undefined;
  readonly history?: HistoryFrom | undefined;
  /** It is no subscription: the page is present, or wants to know who is, or how many are. */
  readonly kind?: "join" | "members" | "count";
}

/** nothingYet is what a subscription begins with. */
export const nothingYet: Shared = {
  about: { status: "subscribing", error: undefined, gaps: 0, retry() {} },
  kept: [],
  count: 0,
};

const MAX_OLDER = 1000; // channels
const SPARE = 64; // messages beyond the limit, so that not each of them moves the others

/** A Topic is one subscription of the client, for all components that want the same. */
export interface Topic {
  /** `tenant:pattern`, of a subscription. */
  readonly name: string;
  /** React's listeners. */
  readonly views: Map<View<unknown>, () => void>;
  /** Ends what nobody uses any more. */
  timer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the client has nothing of it any more. */
  held: Promise<void>;
  /** Lets a view see what has been published. */
  show(view: View<unknown>): void;
  /** Adds a view. */
  join(view: View<unknown>, listener: () => void): void;
  gap(): void;
  /** Asks again after the end. */
  again(): void;
  /** Ends it for good. */
  leave(): void;
  /** Makes what came since known to the views, and adds the listeners that are to be called. */
  publish(listeners: (() => void)[]): void;
}

export const nameOf = ({ tenant, pattern, kind }: Wanted): string =>
  `${kind ? `${kind === "join"}:` : ""}${tenant || "~"}:${pattern ?? ""}`;

/**
 * createTopic makes a topic, which subscribes as soon as it can. ready gives the client, or rejects with the reason
 * why there is none; gone resolves when the client has nothing any more of the topics of a name that have been left;
 * tell is called when there is something to publish.
 */
export function createTopic(
  wanted: Wanted,
  ready: () => Promise<Client>,
  gone: (name: string) => Promise<unknown>,
  tell: () => void,
): Topic {
  const { tenant, pattern = "", history } = wanted;
  const name = nameOf(wanted);
  const views = new Map<View<unknown>, () => void>();
  let shared = nothingYet;
  let about: SubscriptionState = {
    ...shared.about,
    retry() {
      if (about.status !== "ended") return;
      set({ status: "subscribing", error: undefined });
      topic.held = hold();
    },
  };
  let dirty = false; // since it was published
  const kept: Message[] = [];
  let count = 0;
  // With these histories, who comes later wants this past, too.
  const older = history === "last" ? newest() : undefined;
  let limit = (history as { last?: number } | undefined)?.last ?? 0;
  let from = history;
  let sub: Subscription | undefined;
  let left = false;

  const change = (): void => {
    dirty = true;
    tell();
  };
  const set = (what: Partial<SubscriptionState>): void => {
    about = { ...about, ...what };
    change();
  };
  const trim = (): void => {
    const old = kept.splice(0, Math.max(0, kept.length - limit));
    if (older) for (const message of old) renew(older, message, MAX_OLDER);
  };
  const take = (message: Message): void => {
    if (left) return;
    count++;
    if (kept.push(message) > 2 * limit + SPARE) trim();
    for (const view of views.keys()) view.take(message);
    change();
  };
  const hold = async (): Promise<void> => {
    let error: MillraceError;
    try {
      await gone(name);
      const client = await ready();
      if (left) return;
      sub = await client.subscribe(tenant, pattern, { history: from, onMessage: take });
      if (left) return void sub.unsubscribe();
      set({ status: "subscribed" });
      error = (await sub.ended) ?? new MillraceError("closed", "the client was closed");
      if (sub.position) from = { after: sub.position };
    } catch (err) {
      error = err as MillraceError;
    }
    if (!left) set({ status: "ended", error });
  };
  const topic: Topic = {
    name,
    views,
    timer: undefined,
    held: hold(),
    show(view) {
      view.join(topic, shared);
      view.publish(shared);
    },
    join(view, listener) {
      views.set(view, listener);
      if (view.limit > limit) limit = view.limit;
      view.join(topic, { kept, older: older?.channels, count });
      if (!dirty && view.publish(shared)) listener();
    },
    gap: () => set({ gaps: about.gaps + 1 }),
    again: () => about.retry(),
    leave() {
      left = true;
      void sub?.unsubscribe();
    },
    publish(listeners) {
      if (!dirty) return;
      dirty = false;
      trim();
      shared = { about, kept: kept.slice(), older: older && new Map(older.channels), count };
      for (const [view, listener] of views) if (view.publish(shared)) listeners.push(listener);
    },
  };
  return topic;
}
