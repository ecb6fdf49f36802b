import type { Connection } from "./connection.js";
import type { Delivered } from "./frames.js";
import type { Readers } from "./interests.js";
import type { Merger } from "./merger.js";
import type { SessionState } from "./state.js";
import type { Trail } from "./trail.js";

type Conn = Connection<Readers>;

/** A Mover is a session that has two connections at times: what its tasks know of it. MovingSession is one. */
export interface Mover extends SessionState {
  /** The next connection is given up if it says nothing, and nobody is told. */
  tentative: boolean;
  /** The connection that was taken over from. */
  readonly trail: Trail | undefined;
  /** What waits until it is known where publishes go: publishes and flushes. */
  gate: (() => void)[] | undefined;
  /** Of a move or a suspicion, and for as long after it as its notes are good. */
  merger: Merger<Delivered<Readers>["route"]> | undefined;
  /** Two connections bring messages, and the merger's current one is ours; else that is the one that was next. */
  both: boolean;
  /** Nothing goes on, and nothing has to: it may move because it would like to. */
  readonly idle: boolean;
  /** promote makes the next connection the current one, and leaves that. */
  promote(): void;
  /** takeOver makes the next connection the current one, while that is suspect; it trails from now on. */
  takeOver(from: Conn, to: Conn): void;
  /** keepCurrent goes on with the current connection: there is no next one any more. */
  keepCurrent(): void;
  /** openGate lets go what waits; out is where publishes go now, if not to the current connection. */
  openGate(out: Conn | undefined): void;
  /** run runs a task until it ends, another one takes its place, or the end. */
  run(task: (signal: AbortSignal) => Promise<void>): void;
  moveIfDue(): void;
}
