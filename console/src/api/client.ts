// Calls of the console's API. A call that needs a session or a password again waits until
// the operator has given it, and is then repeated.
import { ApiError, problemOf } from "./problem.js";

/** What asks the operator. Each resolves with whether they did it. */
export interface Gate {
  signIn(): Promise<boolean>;
  confirm(): Promise<boolean>;
  /** The operator declined to sign in: background calls must not ask again. */
  readonly ended: boolean;
}

export interface CallOptions {
  readonly body?: unknown;
  /** A timer makes this call: unless the operator did something, it does not prolong the session. */
  readonly background?: boolean;
  readonly signal?: AbortSignal;
  /** Answers of 401 and 403 are given to the caller, who asks the operator itself. */
  readonly bare?: boolean;
}

export interface ApiConfig {
  readonly base: URL; // ends with a slash
  readonly gate: Gate;
  /** Whether the operator did something since it was last asked. */
  readonly takeActivity: () => boolean;
  readonly fetch?: typeof fetch;
  readonly now?: () => number;
}

const MAX_ASKED = 4; // times, for one call
const SIGNED_OUT = new ApiError("no_session", 401, "you are signed out; sign in to go on");

export class Api {
  readonly #config: ApiConfig;
  #ahead = 0; // ms that the server's clock is ahead of the browser's

  constructor(config: ApiConfig) {
    this.#config = config;
  }

  /** serverNow is the server's time in milliseconds, by the date of its last answer. */
  serverNow(): number {
    return this.#now() + this.#ahead;
  }

  get = <T>(path: string, options: CallOptions = {}): Promise<T> => this.call<T>("GET", path, options);

  async call<T>(method: string, path: string, options: CallOptions = {}): Promise<T> {
    const { gate } = this.#config;
    for (let asked = 0; ; asked++) {
      if (options.background && gate.ended) throw SIGNED_OUT;
      const answer = await this.#send(method, path, options);
      if (answer.ok) return (await this.#body(answer)) as T;
      const problem = await problemOf(answer);
      if (options.bare || asked >= MAX_ASKED) throw problem;
      const { code } = problem;
      if (code !== "no_session" && code !== "confirmation_required") throw problem;
      if (code === "no_session" && options.background && gate.ended) throw SIGNED_OUT;
      const given = await (code === "no_session" ? gate.signIn() : gate.confirm());
      options.signal?.throwIfAborted();
      if (!given)
        throw code === "no_session"
          ? SIGNED_OUT
          : new ApiError(code, 403, "the password was not given, so nothing was changed");
    }
  }

  async #send(method: string, path: string, { body, background, signal }: CallOptions): Promise<Response> {
    const headers: Record<string, string> = {};
    if (method !== "GET") headers["Content-Type"] = "application/json";
    const active = this.#config.takeActivity();
    if (background && !active) headers["Console-Background"] = "1";
    try {
      const answer = await (this.#config.fetch ?? fetch)(new URL(path, this.#config.base), {
        method,
        headers,
        credentials: "same-origin",
        cache: "no-store",
        redirect: "error", // one to somebody's login page cannot be followed from here
        ...(method === "GET" ? {} : { body: JSON.stringify(body ?? {}) }),
        ...(signal ? { signal } : {}),
      });
      const date = Date.parse(answer.headers.get("Date") ?? "");
      if (!Number.isNaN(date)) this.#ahead = date - this.#now();
      return answer;
    } catch {
      signal?.throwIfAborted();
      throw new ApiError("unreachable", 0, "the edge does not answer; check that it runs and that you can reach it", 0);
    }
  }

  async #body(answer: Response): Promise<unknown> {
    try {
      return await answer.json();
    } catch {
      throw new ApiError("bad_answer", answer.status, "the answer of the edge cannot be read; try again");
    }
  }

  #now(): number {
    return (this.#config.now ?? Date.now)();
  }
}
