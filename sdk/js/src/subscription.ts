import { MillraceError } from "./errors.js";
import { report } from "./events.js";
import type { History } from "./history.js";
import type { Message } from "./message.js";
import type { QueuePolicy } from "./options.js";
import { Queue } from "./queue.js";
import { now } from "./timers.js";

const TELL_EVERY = 1000; // ms, what a full queue has lost

/** What a subscription needs of its client. */
export interface Keeper {
  /**
   * Leaves the edge, if this was the last subscription to the pattern. Resolves with how many messages to one
   * connection came meanwhile, which nobody gets.
   */
  leave(sub: Subscription): Promise<number>;
  /** Leaves the edge likewise, and still gets what the edge has sent before it answers. */
  drain(sub: Subscription): Promise<void>;
  queueFull(sub: Subscription, dropped: number): void;
  /** So many messages to one connection will never be taken. */
  discarded(sub: Subscription, count: number): void;
  /** A message to one connection was taken. */
  took(sub: Subscription): void;
  /** The queue of one with a history, which was full, has been read. */
  wasRead(sub: Subscription): void;
}

/** What was asked for, with everything filled in. */
export interface SubscriptionConfig {
  readonly onMessage: ((message: Message) => unknown) | undefined;
  readonly queue: number;
  readonly queuePolicy: QueuePolicy;
  readonly history: History | undefined;
  readonly echo: boolean;
}

interface Reader {
  resolve(result: IteratorResult<Message, undefined>): void;
  reject(err: MillraceError): void;
}

/**
 * A subscription. Iterate it for its messages, `for await (const message of subscription)`, unless
 * it has a callback. To leave the loop ends the subscription.
 */
export class Subscription implements AsyncIterable<Message> {
  readonly tenant: string;
  readonly pattern: string;
  /** @internal */
  readonly history: History | undefined;
  /** Resolves when the subscription has ended: with the error, or undefined if the application ended it. */
  readonly ended: Promise<MillraceError | undefined>;

  readonly #keeper: Keeper;
  readonly #config: SubscriptionConfig;
  readonly #queue: Queue<Message>;
  readonly #readers: Reader[] = [];
  /** Messages to one connection that wait, or whose calls have not returned. @internal */
  jobs = 0;
  #calls = 0; // of the callback that have not returned
  #busy = false; // the application has not asked for the next one yet
  #drained = false; // nothing more comes
  #over = false;
  #error: MillraceError | undefined;
  #settle!: (error: MillraceError | undefined) => void;
  #dropped = 0; // since the last event about it
  #thrown = 0; // messages to one connection, by its end
  #told = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #reached: string | undefined; // the position behind all that came
  #read: string | undefined; // of what the application got last

  /** @internal */
  constructor(tenant: string, pattern: string, keeper: Keeper, config: SubscriptionConfig) {
    this.tenant = tenant;
    this.pattern = pattern;
    this.#keeper = keeper;
    this.#config = config;
    this.#queue = new Queue(config.queue);
    this.history = config.history;
    this.#reached = this.#read = config.history?.position;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /**
   * Where to go on, with `{ after: position }`, behind all messages that the application got: after the
   * page is loaded again, for example. It also moves on while nothing that matches is published. It is
   * undefined as long as it is not known, and without a history.
   */
  get position(): string | undefined {
    return this.#queue.size === 0 ? this.#reached : this.#read;
  }

  /** How many messages to one connection it takes before any of them was read. @internal */
  get window(): number {
    return this.#config.queue;
  }

  /**
   * Ends the subscription: no message is given from now on, not even one that waits. Resolves when
   * the edge has ended it, too, with how many messages to one connection waited: nobody gets these, and the event
   * `discarded` counts them. See drain.
   */
  async unsubscribe(): Promise<number> {
    this.end(undefined);
    const thrown = this.#thrown;
    this.#thrown = 0;
    return thrown + (await this.#keeper.leave(this));
  }

  /**
   * Ends the subscription without loss: the edge sends nothing new, what was received is still given out, and then a
   * loop over the subscription ends. Resolves when the application has taken all: when its loop has ended, or the calls
   * of its callback have returned. So a loop does not await it.
   */
  async drain(): Promise<void> {
    await this.#keeper.drain(this);
    this.#drained = true;
    this.#endDrained();
    await this.ended;
  }

  #endDrained(): void {
    if (this.#drained && this.#queue.size === 0 && this.#calls === 0 && !this.#busy) this.end(undefined);
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    if (this.#config.onMessage) {
      throw new MillraceError("bad_option", "one with a callback cannot be iterated");
    }
    let done = false;
    return {
      next: () => {
        if (done) return Promise.resolve({ done, value: undefined });
        const message = this.#queue.shift();
        this.#busy = message !== undefined;
        if (message) {
          this.#took(message);
          this.#read = message.position ?? this.#read;
          if (this.history?.paused && this.#queue.size * 2 <= this.#config.queue) this.#keeper.wasRead(this);
          return Promise.resolve({ done: false, value: message });
        }
        this.#endDrained();
        if (!this.#over) return new Promise((resolve, reject) => void this.#readers.push({ resolve, reject }));
        done = true;
        return this.#error ? Promise.reject(this.#error) : Promise.resolve({ done, value: undefined });
      },
      return: async () => {
        done = true;
        await this.unsubscribe();
        return { done, value: undefined };
      },
    };
  }

  // #give gives a message to the application if that waits for one.
  #give(message: Message): boolean {
    const { onMessage } = this.#config;
    if (onMessage) {
      this.#calls++;
      let result: unknown;
      try {
        result = onMessage(message);
      } catch (err) {
        report(err);
      }
      if (result instanceof Promise) void result.catch(report).then(() => this.#returned(message));
      else this.#returned(message);
      return true;
    }
    const reader = this.#readers.shift();
    if (!reader) return false;
    this.#busy = true;
    reader.resolve({ done: false, value: message });
    this.#took(message);
    return true;
  }

  #returned(message: Message): void {
    this.#calls--;
    this.#took(message);
    this.#endDrained();
  }

  #took({ toOne }: Message): void {
    if (!toOne) return;
    this.jobs--;
    this.#keeper.took(this);
  }

  // #own says whether a message is left out, as the client's own.
  #own({ own, toOne }: Message): boolean {
    return own && !toOne && !this.#config.echo;
  }

  /** pushStored is push for a message with a position; none of these is dropped. It says whether there is room for more. @internal */
  pushStored(message: Message): boolean {
    if (this.#over) return true;
    if (this.#own(message)) {
      this.#reached = message.position;
      return true;
    }
    const given = this.#give(message);
    if (!given && this.#queue.full) {
      this.#endFull();
      return true;
    }
    this.#reached = message.position;
    if (given) this.#read = message.position;
    else this.#queue.push(message);
    return !this.#queue.full || this.#config.queuePolicy === "end";
  }

  /** reach notes how far a history has come without a message. @internal */
  reach(position: string): void {
    this.#reached = position;
  }

  #endFull(): void {
    this.end(new MillraceError("queue_full", "messages were not read in time", this));
    void this.#keeper.leave(this);
  }

  /** @internal */
  push(message: Message): void {
    const { toOne } = message;
    if (this.#over || this.#own(message)) return;
    if (toOne) this.jobs++;
    if (this.#give(message)) return;
    const { queuePolicy } = this.#config;
    if (toOne || !this.#queue.full) return this.#queue.push(message); // credit bounds those to one connection
    if (queuePolicy === "end") return this.#endFull();
    if (queuePolicy === "drop-oldest" && this.#queue.drop((other) => !other.toOne)) this.#queue.push(message);
    this.#dropped++;
    this.#timer ??= setTimeout(() => this.#tell(), Math.max(0, this.#told + TELL_EVERY - now()));
  }

  #tell(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#told = now();
    if (this.#dropped > 0) this.#keeper.queueFull(this, this.#dropped);
    this.#dropped = 0;
  }

  /** end ends the subscription; with an error, what waits can still be read. @internal */
  end(error: MillraceError | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.#error = error;
    if (!error) {
      if (!this.#config.onMessage) {
        this.#thrown = this.jobs;
        this.#keeper.discarded(this, this.#thrown);
      }
      this.#queue.clear();
    }
    this.#tell();
    for (const reader of this.#readers.splice(0)) {
      if (error) reader.reject(error);
      else reader.resolve({ done: true, value: undefined });
    }
    this.#settle(error);
  }
}
