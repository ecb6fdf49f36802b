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
  /** Leaves the edge, if this was the last subscription to the pattern. */
  leave(sub: Subscription): Promise<void>;
  queueFull(sub: Subscription, dropped: number): void;
  /** The queue of one with a history, which was full, has been read. */
  wasRead(sub: Subscription): void;
}

/** What was asked for, with everything filled in. */
export interface SubscriptionConfig {
  readonly onMessage: ((message: Message) => unknown) | undefined;
  readonly queue: number;
  readonly queuePolicy: QueuePolicy;
  readonly history: History | undefined;
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
  #over = false;
  #error: MillraceError | undefined;
  #settle!: (error: MillraceError | undefined) => void;
  #dropped = 0; // since the last event about it
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

  /**
   * Ends the subscription: no message is given from now on, not even one that waits. Resolves when
   * the edge has ended it, too.
   */
  async unsubscribe(): Promise<void> {
    this.end(undefined);
    await this.#keeper.leave(this);
  }

  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    if (this.#config.onMessage) {
      throw new MillraceError("bad_option", "a subscription with a callback cannot be iterated");
    }
    let done = false;
    return {
      next: () => {
        if (done) return Promise.resolve({ done, value: undefined });
        const message = this.#queue.shift();
        if (message) {
          this.#read = message.position ?? this.#read;
          if (this.history?.paused && this.#queue.size * 2 <= this.#config.queue) this.#keeper.wasRead(this);
          return Promise.resolve({ done: false, value: message });
        }
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
      try {
        const result = onMessage(message);
        if (result instanceof Promise) result.catch(report);
      } catch (err) {
        report(err);
      }
      return true;
    }
    const reader = this.#readers.shift();
    reader?.resolve({ done: false, value: message });
    return reader !== undefined;
  }

  /** pushStored is push for a message with a position, of which none is dropped. It says whether there is room for more. @internal */
  pushStored(message: Message): boolean {
    if (this.#over) return true;
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
    if (this.#over || this.#give(message)) return;
    const { queuePolicy } = this.#config;
    if (!this.#queue.full) return this.#queue.push(message);
    if (queuePolicy === "end") return this.#endFull();
    if (queuePolicy === "drop-oldest") {
      this.#queue.shift();
      this.#queue.push(message);
    }
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
    if (!error) this.#queue.clear();
    this.#tell();
    for (const reader of this.#readers.splice(0)) {
      if (error) reader.reject(error);
      else reader.resolve({ done: true, value: undefined });
    }
    this.#settle(error);
  }
}
