import { KeepAlive, LEAST, type Question } from "./keepalive.js";
import { reaches } from "./ping.js";
import { MOST, LONGEST as RHYTHM_END, Rhythm } from "./rhythm.js";
import { now } from "./timers.js";
import { look } from "./wake.js";

const PROBE = 1000; // ms between probes while there is no answer

/** A Liveness finds out that nothing comes any more (docs/decisions/0018-suspicion.md). */
export class Liveness extends KeepAlive {
  readonly #rhythm = new Rhythm(this.heard);
  #last = -Infinity; // when anything but PONG came
  #suspect = false;
  #smooth: number | undefined; // the round trip
  #deviation = 0;
  #probed = -Infinity;
  #refused = -Infinity; // when silent said no
  #request: Question | undefined; // what goes before PING has no answer yet
  #requests: AbortController | undefined; // it runs

  override arrived(time: number): void {
    super.arrived(time);
    this.#request = undefined;
    this.#requests?.abort();
    this.#requests = undefined;
    // The pause that made it suspect is not usual, and does not hide the next one.
    const sooner = this.#suspect ? this.#rhythm.skip(time) : this.#rhythm.arrived(time);
    if (sooner) this.arm();
    if (!this.#suspect) return;
    this.#suspect = false;
    this.c.woke();
  }

  override active(time: number): void {
    const flowed = this.#flows;
    this.#last = time;
    if (!flowed) this.arm();
  }

  // #flows: more messages are expected.
  get #flows(): boolean {
    return this.heard - this.#last < RHYTHM_END;
  }

  override ponged(rtt: number): void {
    // One that slept has no more weight than one that took twice what was expected.
    const sample = Math.min(rtt, 2 * this.#wait);
    if (this.#smooth === undefined) {
      this.#smooth = sample;
      this.#deviation = sample / 2;
    } else {
      this.#deviation += (Math.abs(this.#smooth - sample) - this.#deviation) / 4;
      this.#smooth += (sample - this.#smooth) / 8;
    }
    super.ponged(rtt);
  }

  override stop(): void {
    super.stop();
    this.#requests?.abort();
  }

  protected override get asking(): Question | undefined {
    return super.asking ?? this.#request;
  }

  get #wait(): number {
    return Math.max(LEAST, (this.#smooth ?? 0) + 4 * this.#deviation);
  }

  // Sooner where something is expected.
  protected override get patience(): number {
    const unusual = this.#flows ? this.#rhythm.unusual : Infinity;
    return Math.min(super.patience, unusual, this.c.owed ? MOST : Infinity);
  }

  /** When a connection is suspect that has not answered a question. */
  suspectAt({ at, sendTime }: Question): number {
    return Math.max(at, this.heard, this.woken) + (this.#request ? LEAST : this.#wait) + sendTime;
  }

  // One that is suspect may come back while another one is looked for.
  override lostAt({ at, sendTime }: Question): number {
    const { keepAlive, pongTimeout } = this.settings;
    if (keepAlive < 0) return Infinity;
    const heard = Math.max(this.heard, this.woken);
    return Math.max(at + pongTimeout, heard + keepAlive + pongTimeout) + sendTime;
  }

  protected override look(): void {
    look();
  }

  protected override dueAt(q: Question): number {
    return Math.min(this.#suspect ? Infinity : this.#tellAt(q), super.dueAt(q), this.#probed + PROBE);
  }

  // #tellAt is when its owner may be told that it is suspect: after a refusal, not at once again.
  #tellAt(q: Question): number {
    return Math.max(this.suspectAt(q), this.#refused + PROBE);
  }

  protected override judge(q: Question, time: number): void {
    if (!this.#suspect && time >= this.#tellAt(q)) this.#tell(time);
    if (!this.over) this.probe();
  }

  #tell(time: number): void {
    this.#suspect = this.c.silent();
    if (!this.#suspect) this.#refused = time;
  }

  protected override ask(time: number): void {
    // What was sent would end a fragile connection as soon as PING does.
    if (this.c.pingFirst === undefined || this.c.unreadSince !== undefined) return this.c.ask();
    this.#request = { at: time, sendTime: 0 };
    this.#probed = -Infinity;
    this.probe();
  }

  /** probe probes the link, at most once in PROBE: an edge that was killed may be back at any time. */
  override probe(): void {
    const time = now();
    if (time - this.#probed < PROBE) return;
    this.#probed = time;
    if (this.c.pingFirst !== undefined && (this.#suspect || this.#request)) void this.#reach(this.c.pingFirst);
    else this.c.probe();
  }

  // #reach asks with PING, or probes, if the edge can be reached otherwise.
  async #reach(url: string): Promise<void> {
    if (this.#requests) return;
    const own = new AbortController();
    this.#requests = own;
    const timer = setTimeout(() => own.abort(), LEAST);
    const reached = await reaches(url, this.settings, own.signal);
    clearTimeout(timer);
    if (this.over || this.#requests !== own) return; // something has come meanwhile
    this.#requests = undefined;
    if (!reached) {
      if (this.#request) this.#request = { at: -Infinity, sendTime: 0 }; // no answer is to be waited for
    } else {
      this.#request = undefined;
      if (this.c.unanswered) this.c.probe();
      else this.c.ask();
    }
    this.arm();
  }
}
