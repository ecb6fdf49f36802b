import type { Settings } from "./options.js";
import { now } from "./timers.js";
import { UNREAD } from "./unread.js";

/** ms: nobody asks or judges sooner. */
export const LEAST = 1000;
const RENEWALS = 3; // of the time of one PING: timers of a hidden page are always late
const LONGEST = 2 ** 31 - 1; // ms of a timer
/** A timer that is late by so many ms was asleep. */
export const LATE = 2000;
const BEHIND = 50; // ms that a timer is late: something else took long

/** A PING, or the request that goes before it. */
export interface Question {
  readonly at: number;
  /** How long the edge may read what was sent before, in ms. */
  readonly sendTime: number;
}

/** The connection that is watched. */
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

/** A KeepAlive asks after a silence, and finds out that a connection is lost. */
export class KeepAlive {
  /** When the last bytes came, in milliseconds of now. */
  heard: number = now();
  protected readonly c: Watched;
  protected readonly settings: Settings;
  protected readonly spread: number = 1 + Math.random() / 16; // so that clients do not ask in step
  protected woken = 0; // when it last woke
  protected over = false;
  #renewals = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(c: Watched, settings: Settings) {
    this.c = c;
    this.settings = settings;
  }

  /** arrived is called when anything comes, before it is handled. */
  arrived(time: number): void {
    this.heard = time;
  }

  /** active is called when what has come is not PONG. */
  active(_: number): void {}

  /** ponged is called when a PING has its answer. */
  ponged(_: number): void {
    this.#renewals = 0;
    this.arm();
  }

  /** awake asks at once if nothing has come for a second, or always; all limits begin again. */
  awake(always: boolean): void {
    const time = now();
    if (!this.asking) this.#renewals = 0;
    if (this.over || this.#renewals++ >= RENEWALS) return;
    this.woken = time;
    if (this.settings.keepAlive > 0 && !this.asking && (always || time - this.heard >= LEAST)) this.ask(time);
    this.arm();
  }

  stop(): void {
    this.over = true;
    clearTimeout(this.#timer);
  }

  /** What has no answer. */
  protected get asking(): Question | undefined {
    return this.c.unanswered;
  }

  /** After how long a silence to ask. */
  protected get patience(): number {
    return this.settings.keepAlive;
  }

  /** When to ask: after a silence, and soon after something was sent that has no answer. It is the only rule of that. */
  get askAt(): number {
    const { keepAlive } = this.settings;
    if (keepAlive < 0) return Infinity;
    const since = this.c.unreadSince ?? Infinity;
    return Math.min(this.heard + this.patience * this.spread, since + Math.min(UNREAD, keepAlive));
  }

  /** When a connection is lost that has not answered a question. */
  lostAt({ at, sendTime }: Question): number {
    const { keepAlive, pongTimeout } = this.settings;
    return keepAlive < 0 ? Infinity : Math.max(at, this.heard, this.woken) + pongTimeout + sendTime;
  }

  /** When to look again at a question without an answer. */
  protected dueAt(q: Question): number {
    return this.lostAt(q);
  }

  /** arm sets the timer for what is due next. */
  arm(): void {
    clearTimeout(this.#timer);
    const q = this.asking;
    const due = q ? this.dueAt(q) : this.askAt;
    if (this.over || due === Infinity) return;
    const time = now();
    const at = Math.max(due, time + 1); // it may have been due long ago
    this.#timer = setTimeout(() => this.#act(at), Math.min(at - time, LONGEST));
  }

  #act(due: number, again = false): void {
    this.look();
    const time = now();
    if (time - due >= LATE) this.awake(false);
    if (this.over) return;
    if (!again && time - due > BEHIND) {
      // What has come meanwhile is read after timers: it is judged in another turn.
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#act(time + BEHIND, true), BEHIND);
      return;
    }
    const q = this.asking;
    if (!q) {
      if (time >= this.askAt) this.ask(time);
    } else if (time >= this.lostAt(q)) return this.c.over();
    else this.judge(q, time);
    this.arm();
  }

  /** look is called before anything is judged. */
  protected look(): void {}

  /** judge looks at a question that has no answer yet. */
  protected judge(_: Question, __: number): void {}

  protected ask(_: number): void {
    this.c.ask();
  }

  /** probe is called when PING was sent. */
  probe(): void {
    this.c.probe();
  }
}
