import type { MillraceError } from "./errors.js";
import { report } from "./events.js";
import { isMember, type Kept, type Member, same, type Value, type Watch } from "./watch.js";

/** Options of a presence. */
export interface PresenceOptions {
  /**
   * How many members there are, in place of who: for this the right to subscribe is enough. `members` is then empty,
   * and the changes are `counts`, at most once a second.
   */
  readonly count?: boolean | undefined;
  /**
   * Called when `members`, `counts` or `synced` may be others than they were at first or in the last call: a page shows
   * them again. What it throws is an uncaught error.
   */
  readonly onChange?: ((presence: Presence) => unknown) | undefined;
}

/** What has changed: a member, which has come, gone (then as it was last), or has another `info`; or how many a channel has. */
export type PresenceChange =
  | { readonly type: "joined" | "left" | "changed"; readonly channel: string; readonly member: Member }
  | { readonly type: "counts"; readonly channel: string; readonly count: number };

/** What a presence needs of its client. */
export interface Closer {
  /** Leaves the edge, if this was the last presence of the pattern. */
  leave(presence: Presence): Promise<void>;
  isSynced(presence: Presence): boolean;
}

const nobody: readonly Member[] = Object.freeze([]);

interface Reader {
  resolve(result: IteratorResult<PresenceChange, undefined>): void;
  reject(err: MillraceError): void;
}

/**
 * Who is present in the channels that match a pattern: `members` says it at any time. Iterate it for the changes,
 * `for await (const change of presence)`. Changes that are not read cost no more than one entry for each member: what
 * is read is how it differs now from what was read last, and a change that was undone meanwhile does not count. To leave
 * the loop closes the presence.
 */
export class Presence implements AsyncIterable<PresenceChange>, AsyncDisposable {
  readonly tenant: string;
  readonly pattern: string;
  /** Resolves when it has ended: with the error, or undefined if the application closed it. */
  readonly ended: Promise<MillraceError | undefined>;
  /** @internal */
  readonly verb = "WHO";
  /** @internal */
  readonly count: boolean;
  /** What all presences of the pattern share. @internal */
  watch!: Watch;

  readonly #closer: Closer;
  readonly #onChange: PresenceOptions["onChange"];
  readonly #before = new Map<string, Value>(); // what the reader knows of what has changed
  readonly #readers: Reader[] = [];
  #open = false;
  #changed = false;
  #synced = false; // as onChange was told
  #over = false;
  #error: MillraceError | undefined;
  #settle!: (error: MillraceError | undefined) => void;

  /** @internal */
  constructor(tenant: string, pattern: string, closer: Closer, { count = false, onChange }: PresenceOptions) {
    this.tenant = tenant;
    this.pattern = pattern;
    this.count = count;
    this.#closer = closer;
    this.#onChange = onChange;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Who is present, by channel and then by subject: an array that never changes, and another one when something has. */
  get members(): readonly Member[] {
    return this.count ? nobody : this.watch.members;
  }

  /**
   * How many members each channel has; channels without one are missing. It is the number of `members`, or newer: of
   * a crowd that comes at once, the edge tells first how many there are. A map that never changes.
   */
  get counts(): ReadonlyMap<string, number> {
    return this.watch.counts;
  }

  /**
   * What is shown follows the edge. It is false from the loss of a connection until another one has told all; until
   * then what was there last is shown.
   */
  get synced(): boolean {
    return !this.#over && this.#closer.isSynced(this);
  }

  /** Ends it: there are no changes from now on, not even those that wait. Resolves when the edge has ended it, too. */
  async close(): Promise<void> {
    this.end(undefined);
    await this.#closer.leave(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  [Symbol.asyncIterator](): AsyncIterator<PresenceChange, undefined> {
    let done = false;
    return {
      next: () => {
        const value = done ? undefined : this.#next();
        if (value) return Promise.resolve({ done: false, value });
        if (!done && !this.#over) return new Promise((resolve, reject) => void this.#readers.push({ resolve, reject }));
        const error = done ? undefined : this.#error;
        done = true;
        return error ? Promise.reject(error) : Promise.resolve({ done, value: undefined });
      },
      return: async () => {
        done = true;
        await this.close();
        return { done, value: undefined };
      },
    };
  }

  // #next takes the change that has waited longest.
  #next(): PresenceChange | undefined {
    for (const [key, was] of this.#before) {
      this.#before.delete(key);
      const now = this.watch.get(key);
      if (typeof now === "number") return { type: "counts", channel: key, count: now };
      const { member } = (now ?? was) as Kept;
      return { type: !now ? "left" : was ? "changed" : "joined", channel: member.channel, member };
    }
    return undefined;
  }

  /** @internal */
  note(key: string, was: Value, byEdge: boolean): void {
    this.#changed = true;
    if (!this.#open || !(isMember(key) ? !this.count : this.count || byEdge)) return;
    if (!this.#before.has(key)) this.#before.set(key, was);
    else if (same(this.#before.get(key), this.watch.get(key))) this.#before.delete(key);
  }

  /** opened begins with the changes. @internal */
  opened(): void {
    this.#open = this.#synced = true;
    this.#changed = false;
  }

  /** update reports what was noted. @internal */
  update(): void {
    while (this.#readers.length > 0) {
      const value = this.#next();
      if (!value) break;
      this.#readers.shift()?.resolve({ done: false, value });
    }
    const { synced } = this;
    const closed = this.#over && !this.#error;
    if (this.#open && !closed && (this.#changed || synced !== this.#synced)) {
      try {
        this.#onChange?.(this);
      } catch (err) {
        report(err);
      }
    }
    this.#changed = false;
    this.#synced = synced;
  }

  /** end ends it; with an error, the changes that wait can still be read. @internal */
  end(error: MillraceError | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    if (!error) this.#before.clear();
    this.update();
    for (const reader of this.#readers.splice(0)) {
      if (error) reader.reject(error);
      else reader.resolve({ done: true, value: undefined });
    }
    this.#settle(error);
  }
}
