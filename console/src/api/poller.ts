// Asks again and again: never twice at a time, not while the page is hidden, and less
// often while it fails.

const MAX_PAUSE = 60_000; // ms

export interface PollerConfig {
  /** Rejects where it failed. byTimer: no operator asked for it. */
  readonly ask: (byTimer: boolean, signal: AbortSignal) => Promise<void>;
  readonly every: number; // ms from an answer to the next request
  readonly hidden: () => boolean;
}

export class Poller {
  readonly #config: PollerConfig;
  readonly #end = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asking = false;
  #again = false; // once more when the one under way has ended
  #failures = 0;
  #byTimer = false;
  #due = false; // while hidden
  paused = false;

  constructor(config: PollerConfig) {
    this.#config = config;
  }

  /** The pause before the next request, in milliseconds. */
  get pause(): number {
    return Math.min(MAX_PAUSE, this.#config.every * 2 ** this.#failures);
  }

  /** refresh asks now, or as soon as the request under way has ended. */
  refresh(): void {
    if (this.#end.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#byTimer = false;
    if (this.#asking) this.#again = true;
    else void this.#ask();
  }

  /** wake goes on after the page was hidden or the polling paused. */
  wake(): void {
    if (this.#due && !this.paused && !this.#config.hidden()) this.refresh();
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#end.abort();
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    this.#due = false;
    this.#again = false;
    const byTimer = this.#byTimer;
    this.#byTimer = true;
    try {
      await this.#config.ask(byTimer, this.#end.signal);
      this.#failures = 0;
    } catch {
      this.#failures++;
    }
    this.#asking = false;
    if (this.#end.signal.aborted) return;
    if (this.#again) return void this.#ask();
    this.#timer = setTimeout(() => {
      if (this.paused || this.#config.hidden()) this.#due = true;
      else void this.#ask();
    }, this.pause);
  }
}
