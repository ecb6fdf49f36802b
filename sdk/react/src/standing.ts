import { type Client, type Member, type Membership, MillraceError, type Presence } from "@millrace/client";
import { nameOf, type Topic, type Wanted } from "./topic.js";
import type { View } from "./view.js";

/** Whether the page is present in a channel. */
export interface JoinState {
  /** An edge has acknowledged it, and it has not ended since. */
  readonly joined: boolean;
  /** Why it is not, or not any more. */
  readonly error: MillraceError | undefined;
}

/** Who is present. */
export interface PresenceState {
  /** By channel and then by subject: the same array until something changes. Empty with `count`. */
  readonly members: readonly Member[];
  /** How many members each channel has; channels without one are missing. */
  readonly counts: ReadonlyMap<string, number>;
  /** It follows the edge. It is false before all has come, and after a loss of the connection, which keeps what was there. */
  readonly synced: boolean;
  /** Why it has ended. */
  readonly error: MillraceError | undefined;
}

export const notJoined: JoinState = { joined: false, error: undefined };
export const nobody: PresenceState = { members: [], counts: new Map(), synced: false, error: undefined };

/** createStanding makes a topic of a membership or a presence; its arguments are those of createTopic. */
export function createStanding(
  wanted: Wanted,
  ready: () => Promise<Client>,
  gone: (name: string) => Promise<unknown>,
  tell: () => void,
): Topic {
  const { tenant, pattern = "", kind } = wanted;
  const name = nameOf(wanted);
  const views = new Map<View<unknown>, () => void>();
  let shared: JoinState | PresenceState = kind === "join" ? notJoined : nobody;
  let membership: Membership | undefined;
  let presence: Presence | undefined;
  let error: MillraceError | undefined;
  let dirty = false; // since it was published
  let left = false;

  const change = (): void => {
    dirty = true;
    if (!left) tell();
  };
  const leave = (): void => {
    left = true;
    void membership?.leave();
    void presence?.close();
  };
  const hold = async (): Promise<void> => {
    try {
      await gone(name);
      const client = await ready();
      if (left) return;
      if (kind === "join") membership = await client.join(tenant, pattern);
      else presence = await client.presence(tenant, pattern, { count: kind === "count", onChange: change });
      if (left) return leave();
      change();
      error = (await (membership ?? presence)?.ended) ?? new MillraceError("closed", "the client was closed");
    } catch (err) {
      error = err as MillraceError;
    }
    change();
  };
  const show = (): JoinState | PresenceState => {
    if (kind === "join") return { joined: membership !== undefined && !error, error };
    const { members, counts, synced } = presence ?? nobody;
    return { members, counts, synced, error };
  };
  return {
    name,
    views,
    timer: undefined,
    held: hold(),
    show: (view) => void view.publish(shared),
    join(view, listener) {
      views.set(view, listener);
      if (!dirty && view.publish(shared)) listener();
    },
    gap() {},
    again() {
      if (!error || left) return;
      error = membership = presence = undefined;
      this.held = hold();
      change();
    },
    leave,
    publish(listeners) {
      if (!dirty) return;
      dirty = false;
      shared = show();
      for (const [view, listener] of views) if (view.publish(shared)) listeners.push(listener);
    },
  };
}
