import { MillraceError } from "./errors.js";

/** now is a clock that does not go back, in milliseconds. */
export const now = (): number => performance.now();

/** reasonOf is why a signal was aborted: React Native and browsers of before 2022 do not tell it. */
export const reasonOf = (signal: AbortSignal): unknown =>
  signal.reason ?? Object.assign(new Error("the signal was aborted"), { name: "AbortError" });

/** throwIfAborted is the method of the same name, which not every runtime has. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw reasonOf(signal);
}

/**
 * sleep resolves after ms, and rejects with the signal's reason if that comes first. What it puts
 * into early meanwhile ends it at once.
 */
export function sleep(ms: number, signal: AbortSignal, early: Set<() => void> = new Set()): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      early.delete(wake);
    };
    const abort = (): void => {
      end();
      reject(reasonOf(signal));
    };
    const wake = (): void => {
      end();
      resolve();
    };
    const timer = setTimeout(wake, ms);
    early.add(wake);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
  });
}

/** within resolves when a promise has settled, whatever its outcome, or after ms. */
export async function within(ms: number, ...promises: (Promise<unknown> | undefined)[]): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([late, ...promises]).catch(() => {});
  clearTimeout(timer);
}

/**
 * limited acts with a signal that is aborted with a `timeout` error after ms, with the reason of
 * another signal, and when the act has settled.
 */
export async function limited<T>(
  outer: AbortSignal,
  ms: number,
  act: (s: AbortSignal) => Promise<T>,
  text = "the edge does not answer",
): Promise<T> {
  throwIfAborted(outer);
  const own = new AbortController();
  const end = (reason: unknown): void => {
    if (!("reason" in own.signal)) Object.assign(own.signal, { reason });
    own.abort(reason);
  };
  const abort = (): void => end(reasonOf(outer));
  const timer = setTimeout(() => end(new MillraceError("timeout", text)), ms);
  outer.addEventListener("abort", abort);
  try {
    return await act(own.signal);
  } finally {
    clearTimeout(timer);
    outer.removeEventListener("abort", abort);
    own.abort();
  }
}

/** abortable settles as a promise does, or with the signal's reason if that comes first. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(reasonOf(signal));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** backOff is the pause before an attempt: none before the first, then at random below a bound that doubles. */
export function backOff(attempt: number, o: { minBackOff: number; maxBackOff: number }): number {
  return attempt <= 1 ? 0 : Math.random() * Math.min(o.maxBackOff, o.minBackOff * 2 ** Math.min(attempt - 2, 30));
}
