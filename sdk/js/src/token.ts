import { MillraceError } from "./errors.js";
import { badOption, checkedToken, type Settings } from "./options.js";
import { abortable, backOff, limited } from "./timers.js";

const LONGEST = 2 ** 31 - 1; // ms of a timer
const LEAST = 1000; // ms between two tokens that are asked for in time, if they are that short

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
  #expires = Infinity; // ms since 1970
  #asking: Promise<string> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  /** renewed is called when the provider gave another token at its own time, failed when it fails later than at first. */
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
    return this.#token !== undefined && Date.now() < this.#expires ? Promise.resolve(this.#token) : this.ask();
  }

  /** ask asks the provider. The error is `token_provider`. */
  ask(): Promise<string> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<string> {
    clearTimeout(this.#timer);
    const { tokenProvider, connectTimeout, minBackOff } = this.#settings;
    const { signal } = this.#end;
    try {
      const given = await limited(signal, connectTimeout, (s) => abortable(Promise.resolve(tokenProvider?.()), s));
      const { token, expiresAt } = typeof given === "object" ? given : { token: given };
      const expires = expiresAt === undefined ? Infinity : new Date(expiresAt).getTime();
      if (Number.isNaN(expires)) badOption("expiresAt is no time");
      this.#token = checkedToken(token);
      // In the past: this machine's clock is wrong, and the edge knows better.
      this.#expires = expires > Date.now() ? expires : Infinity;
      this.#failures = 0;
      this.#wait(Math.max(LEAST, renewAfter(this.#expires - Date.now(), Math.random())));
      return this.#token;
    } catch (cause) {
      if (this.#expires < Infinity && Date.now() < this.#expires) {
        this.#wait(Math.max(minBackOff, backOff(++this.#failures + 1, this.#settings)));
      }
      const error = new MillraceError("token_provider", "the token provider failed", { cause });
      if (this.#token !== undefined && !signal.aborted) this.#failed(error);
      throw error;
    }
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
    if (this.provided) this.#expires = 0;
  }

  stop(): void {
    this.#end.abort();
    clearTimeout(this.#timer);
  }
}
