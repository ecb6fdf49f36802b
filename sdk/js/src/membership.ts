import type { MillraceError } from "./errors.js";

/** What a membership needs of its client. */
export interface Leaver {
  /** Leaves the channel, if this was the last membership of it. */
  leave(membership: Membership): Promise<void>;
}

/**
 * The client is present in a channel, as the subject of its token, also after it has reconnected or moved. With
 * several memberships of a channel it is present until all of them have left.
 */
export class Membership implements AsyncDisposable {
  readonly tenant: string;
  readonly channel: string;
  /** Resolves when it has ended: with the error, or undefined if the application has left. */
  readonly ended: Promise<MillraceError | undefined>;
  /** @internal */
  readonly verb = "JOIN";
  readonly #leaver: Leaver;
  #settle!: (error: MillraceError | undefined) => void;

  /** @internal */
  constructor(tenant: string, channel: string, leaver: Leaver) {
    this.tenant = tenant;
    this.channel = channel;
    this.#leaver = leaver;
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  /** Leaves the channel; others see it at once. Resolves when the edge has done it. A second time it does nothing. */
  async leave(): Promise<void> {
    this.end(undefined);
    await this.#leaver.leave(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.leave();
  }

  /** @internal */
  end(error: MillraceError | undefined): void {
    this.#settle(error);
  }
}
