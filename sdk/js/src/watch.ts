// What connections have reported about who is present, and what the application is shown of it.
import type { CountEntry, MemberEntry, PresenceFrame } from "./presence-frames.js";

/** A subject that is present in a channel, however many connections it has. */
export interface Member {
  readonly channel: string;
  /** Whose token it is that is present, as the edge says: a client cannot forge it. */
  readonly subject: string;
  /** The `info` of that token; undefined: it has none. */
  readonly info: { readonly [name: string]: unknown } | undefined;
  /** Since when it has been present without a break. */
  readonly since: Date;
}

/** A member as it is kept: two with the same text are the same. */
export interface Kept {
  readonly member: Member;
  readonly text: string;
}

/** What is known by a key: of `channel:subject` a member, of `channel` how many there are. */
export type Value = Kept | number | undefined;

/** same says whether two values of a key are equal. */
export const same = (a: Value, b: Value): boolean =>
  a === b || (typeof a === "object" && typeof b === "object" && a.text === b.text);

export const isMember = (key: string): boolean => key.includes(":");

/** A Roster is a set of members, and how many each channel has. */
class Roster {
  readonly members = new Map<string, Kept>();
  readonly counts = new Map<string, number>();

  get(key: string): Value {
    return isMember(key) ? this.members.get(key) : (this.counts.get(key) ?? 0);
  }

  count({ channel, members }: CountEntry): void {
    if (members > 0) this.counts.set(channel, members);
    else this.counts.delete(channel);
  }

  put(key: string, entry: MemberEntry): void {
    const { channel, subject, here, since, info } = entry;
    const before = this.members.size;
    if (here) {
      const member = { channel, subject, info: parsed(info), since: new Date(since) };
      this.members.set(key, { member, text: `${since} ${info}` });
    } else this.members.delete(key);
    const members = (this.counts.get(channel) ?? 0) + this.members.size - before;
    this.count({ channel, members });
  }
}

function parsed(info: string): Member["info"] {
  try {
    return info ? JSON.parse(info) : undefined;
  } catch {
    return undefined; // no edge sends it
  }
}

/** What one connection tells. */
interface Feed {
  /** All of it, once it has synced. */
  roster: Roster | undefined;
  /** What has come since it started over, until that has synced. */
  next: Roster | undefined;
}

/** Who hears about changes. */
export interface Observer {
  /** note takes a key whose value was another one; byEdge: it is a count that the edge has told, or that it stands by no more. */
  note(key: string, was: Value, byEdge: boolean): void;
}

/**
 * A Watch is what the application sees of a pattern. It shows what the current connection has told, once that has
 * synced; until then it keeps what another one had told.
 */
export class Watch {
  readonly #observers: readonly Observer[];
  readonly #feeds = new WeakMap<object, Feed>();
  #shown = new Roster();
  readonly #told = new Map<string, number>(); // counts that the edge has told, as the members are far behind
  #members: readonly Member[] | undefined; // of what is shown, sorted
  #counts: ReadonlyMap<string, number> | undefined;

  constructor(observers: readonly Observer[]) {
    this.#observers = observers;
  }

  get members(): readonly Member[] {
    this.#members ??= Object.freeze(
      [...this.#shown.members.values()]
        .map(({ member }) => member)
        .sort((a, b) => order(a.channel, b.channel) || order(a.subject, b.subject)),
    );
    return this.#members;
  }

  get counts(): ReadonlyMap<string, number> {
    this.#counts ??= new Map([...this.#shown.counts, ...this.#told].filter(([, count]) => count > 0));
    return this.#counts;
  }

  get(key: string): Value {
    return this.#told.get(key) ?? this.#shown.get(key);
  }

  /** begin takes what a connection tells from now on. */
  begin(c: object): void {
    this.#feeds.set(c, { roster: undefined, next: undefined });
  }

  /** end takes nothing more from a connection. */
  end(c: object): void {
    this.#feeds.delete(c);
  }

  /** hasSynced says whether a connection has told all. */
  hasSynced(c: object): boolean {
    return this.#feeds.get(c)?.roster !== undefined;
  }

  /** take takes a frame of a connection; counting: the WHO is one with `count`. */
  take(c: object, current: object | undefined, frame: PresenceFrame, counting: boolean): void {
    const feed = this.#feeds.get(c);
    if (!feed) return;
    const { first, synced, counts, channels, members } = frame;
    if (counts && !counting) {
      if (c === current) for (const entry of channels) this.#change(entry.channel, true, () => this.#tell(entry));
      return;
    }
    if (first) feed.next = new Roster();
    const roster = feed.next ?? feed.roster;
    if (!roster) return;
    const change = (key: string, act: () => void): void => {
      if (roster === this.#shown) this.#change(key, false, act);
      else act();
    };
    for (const entry of channels) change(entry.channel, () => roster.count(entry));
    for (const entry of members) {
      const { channel, subject } = entry;
      const key = `${channel}:${subject}`;
      change(channel, () => change(key, () => roster.put(key, entry)));
      if (roster === this.#shown && roster.get(channel) === this.#told.get(channel)) this.#told.delete(channel);
    }
    if (!synced) return;
    feed.roster = roster;
    feed.next = undefined;
    if (c !== current) return;
    this.follow(c);
    this.#untell();
  }

  /** follow shows what a connection has told, if that has synced. */
  follow(c: object): void {
    const roster = this.#feeds.get(c)?.roster;
    const before = this.#shown;
    if (!roster || roster === before) return;
    this.#shown = roster;
    this.#forget();
    for (const { members, counts } of [before, roster])
      for (const key of [...members.keys(), ...counts.keys()])
        if (!this.#told.has(key) && !same(before.get(key), roster.get(key))) this.#note(key, before.get(key), false);
    this.#untell();
  }

  // #tell takes a count that the edge tells ahead of the members.
  #tell({ channel, members }: CountEntry): void {
    if (members === this.#shown.get(channel)) this.#told.delete(channel);
    else this.#told.set(channel, members);
  }

  // #untell goes back to the counts of the members.
  #untell(): void {
    for (const channel of [...this.#told.keys()]) this.#change(channel, true, () => this.#told.delete(channel));
  }

  #change(key: string, byEdge: boolean, act: () => void): void {
    const was = this.get(key);
    act();
    this.#forget();
    if (!same(was, this.get(key))) this.#note(key, was, byEdge);
  }

  #forget(): void {
    this.#members = this.#counts = undefined;
  }

  #note(key: string, was: Value, byEdge: boolean): void {
    for (const observer of this.#observers) observer.note(key, was, byEdge);
  }
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
