import { seconds } from "./duration.js";
import { MillraceError } from "./errors.js";
import { badOption, checkedToken, type ProvidedToken, type Settings } from "./options.js";
import { abortable, backOff, limited, now, sleep } from "./timers.js";

const LONGEST = 2 ** 31 - 1; // ms of a timer
const LEAST = 1000; // ms from the end of a call of the provider to the next one

/**
 * renewAfter says how many ms after it came a token that is good for `life` ms is renewed. `early`, from 0 to 1, spreads
 * the renewals of many clients over a tenth of its life.
 */
export function renewAfter(life: number, early: number): number {
  if (life === Infinity) return life;
  return Math.max(0, Math.min(life * 0.9, life > 5000 ? life - 5000 : life) - (early * life) / 10);
}

/** A TokenSource holds the token, and asks the provider for the next one in time. */
export class TokenSource {
  readonly #settings: Settings;
  readonly #renewed: () => void;
  readonly #failed: (err: MillraceError) => void;
  readonly #end = new AbortController();
  #token: string | undefined;
  #clock: () => number = now; // of #expires
  #expires = Infinity;
  #asking: Promise<string> | undefined; // the next call, or the one under way
  #called = false; // it is under way
  #after: Promise<string> | undefined; // the call after that
  #ended = -Infinity; // the last call, by now
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  /**
   * renewed is called when the provider gave another token at its own time, failed when it fails later than at
   * first, or says that there will be no token.
   */
  constructor(settings: Settings, renewed: () => void, failed: (err: MillraceError) => void) {
    this.#settings = settings;
    this.#token = settings.token;
    this.#renewed = renewed;
    this.#failed = failed;
  }

  /** The token that was given last. */
  get token(): string | undefined {
    return this.#token;
  }

  get provided(): boolean {
    return this.#settings.tokenProvider !== undefined;
  }

  /** get returns the token; it asks the provider if there is none that is good. */
  get(): Promise<string> {
    return this.#token !== undefined && this.#clock() < this.#expires ? Promise.resolve(this.#token) : this.ask();
  }

  /** ask asks the provider, once a second at most. The error is `token_provider` or `logged_out`. */
  ask(): Promise<string> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
      this.#called = false;
    });
    return this.#asking;
  }

  /** renew is ask, but a call that is under way may be older than the reason to renew: it asks once more. */
  async renew(): Promise<void> {
    if (this.#asking && this.#called) {
      this.#after ??= this.#asking
        .catch(() => {})
        .then(() => {
          this.#after = undefined;
          return this.ask();
        });
    }
    await (this.#after ?? this.ask());
    this.#renewed();
  }

  async #ask(): Promise<string> {
    clearTimeout(this.#timer);
    const { tokenProvider, connectTimeout, minBackOff } = this.#settings;
    const { signal } = this.#end;
    try {
      // Timers may end a millisecond or two early, since they count from the turn that set them.
      const next = this.#ended + LEAST;
      while (now() < next) await sleep(next - now(), signal);
      this.#called = true;
      const asked = limited(signal, connectTimeout, (s) => abortable(Promise.resolve(tokenProvider?.()), s));
      const given = await asked.finally(() => {
        this.#ended = now();
      });
      this.#take(typeof given === "object" ? given : { token: given as string });
      return this.#token as string;
    } catch (cause) {
      if (this.#expires > 0 && this.#expires < Infinity) {
        this.#wait(Math.max(minBackOff, backOff(++this.#failures + 1, this.#settings)));
      }
      const out = (cause as Error | undefined)?.name === "LoggedOutError"; // of whatever copy of this package
      const error = out
        ? new MillraceError("logged_out", "the token provider says that there will be no token", { cause })
        : new MillraceError("token_provider", "the token provider gave no token", { cause });
      if (this.#token !== undefined && !signal.aborted) this.#failed(error);
      throw error;
    }
  }

  #take({ token, expiresAt, expiresIn }: ProvidedToken): void {
    const life = expiresIn === undefined ? Infinity : seconds(expiresIn) * 1000;
    if (!(life > 0)) badOption("expiresIn must be more than 0");
    const at = expiresAt === undefined || expiresIn !== undefined ? Infinity : new Date(expiresAt).getTime();
    if (Number.isNaN(at)) badOption("expiresAt is no time");
    this.#token = checkedToken(token);
    this.#clock = life < Infinity ? now : Date.now;
    // In the past: this machine's clock is wrong, and the edge knows better.
    this.#expires = life < Infinity ? now() + life : at > Date.now() ? at : Infinity;
    this.#failures = 0;
    this.#wait(Math.max(LEAST, renewAfter(this.#expires - this.#clock(), Math.random())));
  }

  // #wait renews the token after ms, if anything is known of its expiry. The
  // timer of a page in the background may be late: then the edge says
  // token_expired, or get finds it out.
  #wait(ms: number): void {
    if (this.#end.signal.aborted || !(ms < Infinity)) return;
    this.#timer = setTimeout(
      () => {
        if (ms > LONGEST) return this.#wait(ms - LONGEST);
        const before = this.#token;
        this.ask().then(
          (token) => token !== before && this.#renewed(),
          () => {}, // asked again while there is time
        );
      },
      Math.min(Math.max(ms, 0), LONGEST),
    );
  }

  /** expire says that an edge takes the token for expired: get asks the provider. */
  expire(): void {
    if (this.provided) this.#expires = -1;
  }

  stop(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }
}
