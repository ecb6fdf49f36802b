import type { Settings } from "./options.js";
import { reaches } from "./ping.js";
import { MOST, LONGEST as RHYTHM_END, Rhythm } from "./rhythm.js";
import { now } from "./timers.js";
import { UNREAD } from "./unread.js";
import { LATE, look } from "./wake.js";

const LEAST = 1000; // ms for an answer, however short the round trips were
const PROBE = 1000; // ms between probes while there is no answer
const RENEWALS = 3; // of the time of one PING: timers of a hidden page are always late
const LONGEST = 2 ** 31 - 1; // ms of a timer
const BEHIND = 50; // ms that a timer is late: something else took long

/** A PING, or the request that goes before it. */
interface Question {
  readonly at: number;
  /** How long the edge may read what was sent before, in ms. */
  readonly sendTime: number;
}

/** The connection that a Liveness watches. */
export interface Watched {
  /** The oldest PING without an answer. */
  readonly unanswered: Question | undefined;
  /** Since when something that was sent waits for a sign that the edge reads; undefined: nothing does. */
  readonly unreadSince: number | undefined;
  /** The edge owes an answer to something but PING. */
  readonly owed: boolean;
  /** What answers when the edge can be reached, if a PING that cannot be delivered would end the connection. */
  readonly pingFirst: string | undefined;
  /** Sends PING. */
  ask(): void;
  probe(): void;
  /** Nothing has come for longer than usual; says whether the connection is suspect now. */
  silent(): boolean;
  /** It was suspect, and something comes. */
  woke(): void;
  /** Nothing has come for too long. */
  over(): void;
}

/** A Liveness finds out that nothing comes any more (docs/decisions/0018-suspicion.md). */
export class Liveness {
  /** When the last bytes came, in milliseconds of now. */
  heard: number = now();
  readonly #c: Watched;
  readonly #settings: Settings;
  readonly #rhythm = new Rhythm(this.heard);
  readonly #spread = 1 + Math.random() / 16; // so that clients do not ask in step
  #last = -Infinity; // when anything but PONG came
  #suspect = false;
  #smooth: number | undefined; // the round trip
  #deviation = 0;
  #awake = 0; // when it last woke
  #renewals = 0;
  #probed = -Infinity;
  #refused = -Infinity; // when silent said no
  #request: Question | undefined; // what goes before PING has no answer yet
  #requests: AbortController | undefined; // it runs
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  constructor(c: Watched, settings: Settings) {
    this.#c = c;
    this.#settings = settings;
  }

  /** arrived is called when anything comes, before it is handled. */
  arrived(time: number): void {
    this.heard = time;
    this.#request = undefined;
    this.#requests?.abort();
    this.#requests = undefined;
    // The pause that made it suspect is not usual, and does not hide the next one.
    const sooner = this.#suspect ? this.#rhythm.skip(time) : this.#rhythm.arrived(time);
    if (sooner) this.arm();
    if (!this.#suspect) return;
    this.#suspect = false;
    this.#c.woke();
  }

  /** active is called when what has come is not PONG. */
  active(time: number): void {
    const flowed = this.#flows;
    this.#last = time;
    if (!flowed) this.arm();
  }

  // #flows: more messages are expected.
  get #flows(): boolean {
    return this.heard - this.#last < RHYTHM_END;
  }

  /** ponged is called when a PING has its answer. */
  ponged(rtt: number): void {
    this.#renewals = 0;
    // One that slept has no more weight than one that took twice what was expected.
    const sample = Math.min(rtt, 2 * this.#wait);
    if (this.#smooth === undefined) {
      this.#smooth = sample;
      this.#deviation = sample / 2;
    } else {
      this.#deviation += (Math.abs(this.#smooth - sample) - this.#deviation) / 4;
      this.#smooth += (sample - this.#smooth) / 8;
    }
    this.arm();
  }

  /** awake asks at once if nothing has come for a second, or always; all limits begin anew. */
  awake(always: boolean): void {
    const time = now();
    if (!this.#asking) this.#renewals = 0;
    if (this.#over || this.#renewals++ >= RENEWALS) return;
    this.#awake = time;
    if (this.#settings.keepAlive > 0 && !this.#asking && (always || time - this.heard >= LEAST)) this.#ask(time);
    this.arm();
  }

  stop(): void {
    this.#over = true;
    this.#requests?.abort();
    clearTimeout(this.#timer);
  }

  get #asking(): Question | undefined {
    return this.#c.unanswered ?? this.#request;
  }

  get #wait(): number {
    return Math.max(LEAST, (this.#smooth ?? 0) + 4 * this.#deviation);
  }

  /**
   * When to ask. It is the only rule of that: after keepAlive without a byte, sooner where something is expected,
   * and soon after something was sent that has no answer.
   */
  get askAt(): number {
    const { keepAlive } = this.#settings;
    if (keepAlive < 0) return Infinity;
    const unusual = this.#flows ? this.#rhythm.unusual : Infinity;
    const silence = Math.min(keepAlive, unusual, this.#c.owed ? MOST : Infinity);
    const since = this.#c.unreadSince ?? Infinity;
    return Math.min(this.heard + silence * this.#spread, since + Math.min(UNREAD, keepAlive));
  }

  /** When a connection is suspect that has not answered a question. */
  suspectAt({ at, sendTime }: Question): number {
    return Math.max(at, this.heard, this.#awake) + (this.#request ? LEAST : this.#wait) + sendTime;
  }

  /** When it is lost. */
  lostAt({ at, sendTime }: Question): number {
    const { keepAlive, pongTimeout } = this.#settings;
    if (keepAlive < 0) return Infinity;
    const heard = Math.max(this.heard, this.#awake);
    return Math.max(at + pongTimeout, heard + keepAlive + pongTimeout) + sendTime;
  }

  /** arm sets the timer for what is due next. */
  arm(): void {
    clearTimeout(this.#timer);
    const q = this.#asking;
    const due = q
      ? Math.min(this.#suspect ? Infinity : this.#tellAt(q), this.lostAt(q), this.#probed + PROBE)
      : this.askAt;
    if (this.#over || due === Infinity) return;
    const time = now();
    const at = Math.max(due, time + 1); // it may have been due long ago
    this.#timer = setTimeout(() => this.#act(at), Math.min(at - time, LONGEST));
  }

  // #tellAt is when its owner may be told that it is suspect: after a refusal, not at once again.
  #tellAt(q: Question): number {
    return Math.max(this.suspectAt(q), this.#refused + PROBE);
  }

  #act(due: number, again = false): void {
    look(); // what has come during a sleep is read after timers
    const time = now();
    if (time - due >= LATE) this.awake(false);
    if (this.#over) return;
    if (!again && time - due > BEHIND) {
      // So is what has come while something else took long: it is judged in another turn.
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#act(time + BEHIND, true), BEHIND);
      return;
    }
    const q = this.#asking;
    if (!q) {
      if (time >= this.askAt) this.#ask(time);
    } else if (time >= this.lostAt(q)) return this.#c.over();
    else {
      if (!this.#suspect && time >= this.#tellAt(q)) this.#tell(time);
      if (!this.#over) this.probe();
    }
    this.arm();
  }

  #tell(time: number): void {
    this.#suspect = this.#c.silent();
    if (!this.#suspect) this.#refused = time;
  }

  #ask(time: number): void {
    // What was sent would end a fragile connection as soon as PING does.
    if (this.#c.pingFirst === undefined || this.#c.unreadSince !== undefined) return this.#c.ask();
    this.#request = { at: time, sendTime: 0 };
    this.#probed = -Infinity;
    this.probe();
  }

  /** probe probes the link, at most once in PROBE: an edge that was killed may be back at any time. */
  probe(): void {
    const time = now();
    if (time - this.#probed < PROBE) return;
    this.#probed = time;
    if (this.#c.pingFirst !== undefined && (this.#suspect || this.#request)) void this.#reach(this.#c.pingFirst);
    else this.#c.probe();
  }

  // #reach asks with PING, or probes, if the edge can be reached otherwise.
  async #reach(url: string): Promise<void> {
    if (this.#requests) return;
    const own = new AbortController();
    this.#requests = own;
    const timer = setTimeout(() => own.abort(), LEAST);
    const reached = await reaches(url, this.#settings, own.signal);
    clearTimeout(timer);
    if (this.#over || this.#requests !== own) return; // something has come meanwhile
    this.#requests = undefined;
    if (!reached) {
      if (this.#request) this.#request = { at: -Infinity, sendTime: 0 }; // no answer is to be waited for
    } else {
      this.#request = undefined;
      if (this.#c.unanswered) this.#c.probe();
      else this.#c.ask();
    }
    this.arm();
  }
}
