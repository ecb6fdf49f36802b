import { badOption } from "./bad-option.js";
import { seconds } from "./duration.js";
import { MillraceError } from "./errors.js";
import { checkMembers } from "./members.js";
import type { AccessToken, Settings } from "./options.js";
import { checkedSecret } from "./secret.js";
import { abortable, backOff, limited, now, sleep } from "./timers.js";

const LONGEST = 2 ** 31 - 1; // ms of a timer: a token of weeks is renewed then
const LEAST = 1000; // ms from the end of a call of the provider to the next one

// What an edge answers to get-token and what TokenAdmin issues, also as JSON.
const members = "token expiresIn expires_in expiresAt expires_at tokenId token_id clamped";

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
  /** Tells of a token that cannot be had, or that an edge does not accept. */
  readonly failed: (err: MillraceError) => void;
  readonly #end = new AbortController();
  #token: string | undefined;
  #expires = Infinity; // by now
  #asking: Promise<string> | undefined; // the next call, or the one under way
  #called = false; // it is under way
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
    this.failed = failed;
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
    return this.#token !== undefined && now() < this.#expires ? Promise.resolve(this.#token) : this.ask();
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
    if (this.#called) await this.#asking?.catch(() => {});
    await this.ask();
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
      const asked = limited(
        signal,
        connectTimeout,
        (s) => abortable(Promise.resolve(tokenProvider?.()), s),
        `no answer within ${connectTimeout} ms`,
      );
      const given = await asked.finally(() => {
        this.#ended = now();
      });
      this.#take(given && typeof given === "object" ? given : { token: given as string });
      return this.#token as string;
    } catch (cause) {
      if (this.#expires > 0 && this.#expires < Infinity) {
        this.#wait(Math.max(minBackOff, backOff(++this.#failures + 1, this.#settings)));
      }
      const out = (cause as Error | undefined)?.name === "LoggedOutError"; // of whatever copy of this package
      const text = `the token provider ${out ? "will give" : "gave"} no token`;
      const error = new MillraceError(out ? "logged_out" : "token_provider", text, { cause });
      if (this.#token !== undefined && !signal.aborted) this.failed(error);
      throw error;
    }
  }

  #take(given: AccessToken): void {
    checkMembers("the token provider's answer", given, members);
    const within = given.expiresIn ?? given.expires_in;
    const at = given.expiresAt ?? given.expires_at;
    let life = Infinity;
    if (within != null) life = seconds(within) * 1000;
    else if (at != null) life = new Date(at).getTime() - Date.now();
    // A time in the past: this machine's clock is wrong, and the edge knows better.
    if (within == null && life <= 0) life = Infinity;
    if (!(life > 0)) badOption("expiresIn must be above 0, expiresAt a time");
    this.#token = checkedSecret(given.token ?? given);
    this.#expires = now() + life;
    this.#failures = 0;
    this.#wait(Math.max(LEAST, renewAfter(life, Math.random())));
  }

  // #wait renews the token after ms, if anything is known of its expiry. The
  // timer of a page in the background may be late: then the edge says
  // token_expired, or get finds it out.
  #wait(ms: number): void {
    if (this.#end.signal.aborted || !(ms < Infinity)) return;
    const before = this.#token;
    this.#timer = setTimeout(
      () =>
        this.ask().then(
          (token) => token !== before && this.#renewed(),
          () => {}, // asked again while there is time
        ),
      Math.min(ms, LONGEST),
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
