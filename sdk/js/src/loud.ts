// Says once, for each event and code, what nobody listens to.
import type { MillraceError } from "./errors.js";

/** Where an SDK says what nobody listens to: `console`, for example. */
export interface Logger {
  warn(text: string): void;
}

const DOCS = "https://github.com/millrace/millrace/blob/main/docs/errors.md#";
// What is said: by event, a code where it has none of its own, and what to do.
const loud: { readonly [event: string]: readonly [code?: string, remedy?: string] } = {
  publishError: [],
  publishUnknown: ["outcome_unknown", "they may be lost: publish with confirm and a key"],
  subscriptionError: [],
  edgeError: [],
  gap: ["gap", "messages may be missing: load the state again"],
  queueFull: ["queue_full", "messages were dropped: read faster, or set a larger queue"],
  slowConsumer: ["slow_consumer", "the edge has dropped messages: read faster"],
  limited: ["limited", "messages wait for the bandwidth of the token: raise it, or send less"],
  discarded: ["queue_full", "jobs that nobody had read were thrown away: drain() before the end"],
  connecting: [],
  closed: [],
};

/** A Loud says things once. */
export class Loud {
  readonly #logger: Logger | null;
  readonly #said = new Set<string>();

  constructor(logger: Logger | null = console) {
    this.#logger = logger;
  }

  /** event says what an event tells, if it is of a loss or a refusal. */
  event(name: string, event: object): void {
    const { error, code, detail, why, tenant, pattern, channel } = event as {
      [name: string]: string | undefined;
    } & { error?: MillraceError };
    const what = loud[name];
    if (!what || (name === "closed" && !error)) return;
    const of = error?.code ?? what[0] ?? code ?? "";
    const where = tenant === undefined ? "" : ` of ${tenant} ${channel ?? pattern}`;
    const text = error?.message ?? `${code ?? of}: ${what[1] ?? (why || detail || "the edge refuses it")}`;
    this.say(`${name}${where}: ${text}`, of, name);
  }

  /** say says a text with the link to a code, unless it has said one for it. */
  say(text: string, code: string, about = ""): void {
    const key = about + code;
    if (this.#said.has(key) || this.#said.size > 99) return;
    this.#said.add(key);
    try {
      this.#logger?.warn(`millrace: ${text} ${DOCS}${code}`);
    } catch {
      // the application's logger
    }
  }
}
