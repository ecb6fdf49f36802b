import { badOption } from "./bad-option.js";
import type { Connection, Undo, Verb } from "./connection.js";
import { asError, MillraceError } from "./errors.js";
import type { Readers } from "./interests.js";
import { checkMembers } from "./members.js";
import { type Leaver, Membership } from "./membership.js";
import type { Presences as Part } from "./parts.js";
import { type Closer, Presence, type PresenceOptions } from "./presence.js";
import { decodePresence, type PresenceFrame } from "./presence-frames.js";
import type { Waiter } from "./requests.js";
import type { Connections } from "./subscriber.js";
import { backOff } from "./timers.js";
import { Watch } from "./watch.js";

type Conn = Connection<Readers>;
type Holder = Membership | Presence;

/** A JOIN or WHO that the edge is asked for, once for all that want it. */
interface Want {
  readonly verb: Exclude<Verb, "SUB">;
  readonly undo: Undo;
  /** `tenant:channel`, or `tenant:pattern` */
  readonly name: string;
  /** `verb:tenant:channel` */
  readonly key: string;
  readonly about:
    | { readonly tenant: string; readonly channel: string }
    | { readonly tenant: string; readonly pattern: string };
  readonly holders: Holder[];
  /** Those that the application waits for. */
  readonly waiting: Map<Holder, Waiter<void>>;
  /** By connection: it is to be asked, it has been asked, or it has acknowledged. */
  readonly on: WeakMap<Conn, "wanted" | "sent" | "held">;
  /** Of a WHO. */
  readonly watch: Watch | undefined;
  /** It is a WHO with `count`. */
  readonly counting: boolean;
}

const keyOf = (holder: Holder): string =>
  `${holder.verb}:${holder.tenant}:${holder.verb === "JOIN" ? holder.channel : holder.pattern}`;
const counts = (holder: Holder): boolean => holder.verb === "WHO" && holder.count;
/** hasStood says whether one of the holders has had an answer before, by whatever connection. */
const hasStood = ({ holders, waiting }: Want): boolean => holders.length > waiting.size;

/** Presences asks the connections of a session for memberships, and for who is present. */
export class Presences implements Part, Leaver, Closer {
  /** What has no answer. */
  readonly asking: Set<Promise<void>> = new Set();
  readonly #wants = new Map<string, Want>();
  readonly #s: Connections;

  constructor(s: Connections) {
    this.#s = s;
  }

  get #connections(): Conn[] {
    return [this.#s.current, this.#s.next].filter((c) => c !== undefined);
  }

  async join(tenant: string, channel: string): Promise<Membership> {
    const membership = new Membership(tenant, channel, this);
    await this.add(membership);
    return membership;
  }

  async watch(tenant: string, pattern: string, options: PresenceOptions): Promise<Presence> {
    checkMembers("the object of options", options, "count onChange");
    const { count = false, onChange } = options;
    if (typeof count !== "boolean") badOption("count must be true or false");
    if (onChange && typeof onChange !== "function") badOption("onChange must be a function");
    const presence = new Presence(tenant, pattern, this, options);
    await this.add(presence);
    return presence;
  }

  /** add resolves when an edge has acknowledged a membership, or has told all that a presence shows. */
  async add(holder: Holder): Promise<void> {
    const { current, leaving, over } = this.#s;
    if (over) throw over;
    const key = keyOf(holder);
    const want = this.#wants.get(key) ?? newWant(holder, key);
    if (want.counting && !counts(holder)) {
      throw new MillraceError(
        "bad_option",
        "the client counts the members of this pattern, and can only do that",
        want.about,
      );
    }
    this.#wants.set(key, want);
    want.holders.push(holder);
    if (holder.verb === "WHO") holder.watch = want.watch as Watch;
    const answer = new Promise<void>((resolve, reject) => void want.waiting.set(holder, { resolve, reject }));
    this.#settle(want);
    for (const c of this.#connections) if (!want.on.has(c) && !(leaving && c === current)) void this.#ask(c, want);
    return answer;
  }

  /** restore asks a connection for everything, and resolves when it has answered, or is lost. */
  async restore(c: Conn): Promise<void> {
    await Promise.all([...this.#wants.values()].map((want) => this.#ask(c, want)));
  }

  /** hasSynced says whether a connection has told all of what it was asked for. */
  hasSynced(c: Conn): boolean {
    return [...this.#wants.values()].every(({ watch, on }) => !watch || !on.has(c) || watch.hasSynced(c));
  }

  isSynced(presence: Presence): boolean {
    const { current } = this.#s;
    return current?.alive === true && presence.watch.hasSynced(current);
  }

  frame(from: Conn, b: Uint8Array, start: number, end: number): void {
    this.#take(from, decodePresence(b, start, end));
  }

  #take(from: Conn, frame: PresenceFrame): void {
    const want = this.#wants.get(`WHO:${frame.tenant}:${frame.pattern}`);
    want?.watch?.take(from, this.#s.current, frame, want.counting);
    if (want) this.#settle(want);
  }

  /** follow shows what the current connection has told, when that is another one, or none. */
  follow(): void {
    const { current } = this.#s;
    for (const want of this.#wants.values()) {
      if (current) want.watch?.follow(current);
      this.#settle(want);
    }
  }

  /** ended is called with an ERR line that answers no request: it may end what the edge had acknowledged. */
  ended(from: Conn, code: string, key: string): void {
    const want = this.#wants.get(key);
    if (!want || code !== "no_presence") return;
    this.#lack(from, want);
    this.#settle(want);
  }

  /** leave ends one holder; when it was the last one, it resolves when the edge has ended it, too. */
  async leave(holder: Holder): Promise<void> {
    const want = this.#wants.get(keyOf(holder));
    const index = want?.holders.indexOf(holder) ?? -1;
    if (!want || index < 0) return;
    want.holders.splice(index, 1);
    if (want.holders.length > 0) return;
    const answers = this.#drop(want);
    await (this.#s.suspected && answers.length > 0 ? Promise.race(answers) : Promise.all(answers));
  }

  /** leaveAll says LEAVE for all memberships, and waits for nothing. */
  leaveAll(): void {
    for (const want of this.#wants.values()) if (want.verb === "JOIN") this.#undo(want);
  }

  /** end ends everything; error is why, gone what those get that still wait. */
  end(error: MillraceError | undefined, gone: MillraceError): void {
    for (const { key, holders, waiting } of this.#wants.values()) {
      this.#wants.delete(key);
      for (const holder of holders) holder.end(error);
      for (const { reject } of waiting.values()) reject(error ?? gone);
    }
  }

  // #undo ends what connections were asked for, and returns their answers.
  #undo({ key, name, undo, on, watch }: Want): Promise<void>[] {
    return this.#connections.flatMap((c) => {
      const state = on.get(c);
      on.delete(c);
      watch?.end(c);
      c.forget(key); // it may be about to be asked again
      return state === undefined || state === "wanted" ? [] : c.leave(name, undo);
    });
  }

  #drop(want: Want): Promise<void>[] {
    this.#wants.delete(want.key);
    return this.#undo(want);
  }

  #ask(c: Conn, want: Want): Promise<void> {
    want.on.set(c, "wanted");
    const answered = this.#try(c, want).finally(() => this.asking.delete(answered));
    this.asking.add(answered);
    return answered;
  }

  async #try(c: Conn, want: Want): Promise<void> {
    const { verb, name, key, about, on, counting } = want;
    const wanted = (): boolean => this.#wants.get(key) === want;
    const { settings, events } = this.#s;
    try {
      await c.featured;
      await c.ending.get(`${want.undo}:${name}`); // what comes until then is of an earlier one
      for (let attempt = 2; ; attempt++) {
        if (!c.alive || !wanted()) return;
        if (!c.features?.includes("presence")) throw new MillraceError("no_presence", "the edge has none", about);
        on.set(c, "sent");
        want.watch?.begin(c);
        try {
          await c.request(verb, name, counting ? ":count" : "");
          break;
        } catch (err) {
          const { code } = err as MillraceError;
          if (code !== "try_later" || !hasStood(want)) throw err;
          if (attempt === 2) events.emit("subscriptionError", { ...eventOf(want), code });
        }
        if (!wanted()) return;
        on.set(c, "wanted");
        await c.postpone(key, backOff(attempt, settings));
      }
      if (!wanted()) return;
      c.postponed.delete(key);
      on.set(c, "held");
      this.#settle(want);
    } catch (err) {
      const error = asError(err, "internal", "a fault of this client");
      if (error.code !== "disconnected" && wanted()) this.#refused(c, want, error);
    }
  }

  #refused(c: Conn, want: Want, error: MillraceError): void {
    const { holders, waiting, on, key } = want;
    const { suspected, next, current } = this.#s;
    const { code } = error;
    if (code === "no_presence" && hasStood(want)) {
      for (const [holder, { reject }] of waiting) {
        holders.splice(holders.indexOf(holder), 1);
        reject(error);
      }
      waiting.clear();
      this.#lack(c, want);
      this.#s.events.emit("edgeError", { code, detail: key });
    } else if (suspected && c === next && current && on.get(current) === "held") {
      c.fail(error); // it cannot take over, then; the current one has what it refuses, and may wake
    } else this.#refuse(want, error);
  }

  // #lack notes that an edge cannot give it: the next one may.
  #lack(c: Conn, { on, watch }: Want): void {
    on.delete(c);
    watch?.end(c);
  }

  // #refuse ends what an edge refuses.
  #refuse(want: Want, error: MillraceError): void {
    void this.#drop(want);
    if (hasStood(want)) this.#s.events.emit("subscriptionError", { ...eventOf(want), ...error.told });
    for (const holder of want.holders) holder.end(error);
    for (const { reject } of want.waiting.values()) reject(error);
  }

  // #settle tells the holders of what has changed, and those that wait if they have what they wait for.
  #settle(want: Want): void {
    const { holders, waiting, on } = want;
    for (const holder of [...holders]) {
      const has = holder.verb === "WHO" ? this.isSynced(holder) : this.#connections.some((c) => on.get(c) === "held");
      if (has && waiting.has(holder)) {
        waiting.get(holder)?.resolve();
        waiting.delete(holder);
        if (holder.verb === "WHO") holder.opened();
      } else if (holder.verb === "WHO") holder.update();
    }
  }
}

function newWant(holder: Holder, key: string): Want {
  const { verb, tenant } = holder;
  const holders: Holder[] = [];
  return {
    verb,
    undo: verb === "WHO" ? "UNWHO" : "LEAVE",
    name: key.slice(verb.length + 1),
    key,
    about: verb === "WHO" ? { tenant, pattern: holder.pattern } : { tenant, channel: holder.channel },
    holders,
    waiting: new Map(),
    on: new WeakMap(),
    watch: verb === "WHO" ? new Watch(holders as Presence[]) : undefined,
    counting: counts(holder),
  };
}

// eventOf says whom an event is about.
const eventOf = ({ about }: Want): { tenant: string; pattern: string } => ({ pattern: "", ...about });
