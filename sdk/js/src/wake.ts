// Finds out that the machine, the process or the page slept, and that its
// network has changed. One watch serves all clients; it runs while there is one.
import { LATE } from "./keepalive.js";
import { now } from "./timers.js";

/** Who is told. */
export interface Sleeper {
  /** It may have slept: clocks went on, and what came meanwhile is not read yet. */
  slept(): void;
  networkChanged(): void;
}

const TICK = 1000;

const sleepers = new Set<Sleeper>();
let stop: (() => void) | undefined;
let looked = 0;
let day = 0; // Date.now then

let from = 0; // when the last sleep began, at the earliest
let until = -Infinity; // and when it was over

/**
 * beforeSleep returns when something came that was read at a time. What is read in a sleep that was just
 * noticed, or in the second after it, may have come before it.
 */
export const beforeSleep = (read: number): number => (read > from && read < until + TICK ? from : read);

/** isSleep says whether there was a sleep: `passed` and `days` are what two clocks say of the time since the last look. */
export function isSleep(passed: number, days: number): boolean {
  return passed >= TICK + LATE || days - passed >= LATE;
}

/** look tells all if there was a sleep since it was called last, which is a second at most while nobody sleeps. */
export function look(): void {
  const passed = now() - looked;
  const days = Date.now() - day;
  // The timers of a hidden page are late although it reads what comes.
  if (isSleep(passed, days)) page.document?.visibilityState === "hidden" ? tell("slept") : slept();
  looked += passed;
  day += days;
}

/** watchSleep tells a client from now on, until what it returns is called. */
export function watchSleep(s: Sleeper): () => void {
  sleepers.add(s);
  stop ??= start();
  return () => {
    if (!sleepers.delete(s) || sleepers.size > 0) return;
    stop?.();
    stop = undefined;
  };
}

function slept(): void {
  from = looked;
  until = now();
  tell("slept");
}

function tell(what: keyof Sleeper): void {
  for (const s of [...sleepers]) s[what]();
}

interface Source {
  addEventListener?(type: string, handler: () => void): void;
  removeEventListener?(type: string, handler: () => void): void;
}

const page = globalThis as Source & {
  document?: Source & { visibilityState: string };
  navigator?: { connection?: Source & { type?: string } };
};

function start(): () => void {
  looked = now();
  day = Date.now();
  const timer = setInterval(look, TICK);
  const { document, navigator } = page;
  const seen = (): void => {
    if (document?.visibilityState === "visible") tell("slept");
  };
  const changed = (): void => tell("networkChanged");
  const connection = navigator?.connection;
  let type = connection?.type;
  // It is called with each new guess of the speed, too.
  const guessed = (): void => {
    if (connection?.type === type) return;
    type = connection?.type;
    changed();
  };
  const all: [Source | undefined, string, () => void][] = [
    [page, "online", changed],
    [connection, "change", guessed],
    [page, "pageshow", slept],
    [document, "resume", slept],
    [document, "visibilitychange", seen],
  ];
  for (const [source, type, handler] of all) source?.addEventListener?.(type, handler);
  return () => {
    clearInterval(timer);
    for (const [source, type, handler] of all) source?.removeEventListener?.(type, handler);
  };
}
