// Says once, for each event and code, what nobody listens to.
import { MillraceError } from "./errors.js";

/** Where an SDK says what nobody listens to: `console`, for example. */
export interface Logger {
  warn(text: string): void;
}

const DOCS = "https://github.com/millrace/millrace/blob/main/docs/errors.md#";
// Of which events, and by which code if they have none.
const loud: { readonly [event: string]: string } = {
  publishError: "",
  publishUnknown: "outcome_unknown",
  subscriptionError: "",
  edgeError: "",
  gap: "gap",
  queueFull: "queue_full",
  discarded: "queue_full",
  slowConsumer: "slow_consumer",
  limited: "limited",
  connecting: "",
  closed: "",
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
    const { error, code, tenant, pattern, channel, detail, cause, before, ...rest } = event as {
      [name: string]: string | undefined;
    } & { error?: MillraceError };
    const usual = loud[name];
    if (usual === undefined || (name === "closed" && !error)) return;
    const facts = Object.entries(rest).flatMap(([fact, value]) => (value === undefined ? [] : `${fact} ${value}`));
    const about = { ...(tenant && { tenant }), ...(channel && { channel }), ...(pattern && { pattern }) };
    const told = error ?? new MillraceError(usual || (code as string), detail ?? facts.join(", "), about);
    this.say(`${usual ? "" : `${name}: `}${told.message}`, told.code, name);
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
