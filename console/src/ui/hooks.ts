// Actions that are under way, and figures that are asked for again and again.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { CallOptions } from "../api/client.js";
import { Poller } from "../api/poller.js";
import { sentence } from "../api/problem.js";

export interface Action {
  readonly busy: boolean;
  readonly error: string | undefined;
  /** Runs something, unless something is under way; its error is kept to be shown. */
  run(act: () => Promise<void>): Promise<void>;
  /** Shows an error that was found before anything was sent. */
  fail(error: string | undefined): void;
}

export function useAction(): Action {
  const [busy, setBusy] = useState(false);
  const [error, fail] = useState<string>();
  const state = useRef({ busy: false, mounted: true }).current;
  useEffect(() => {
    state.mounted = true;
    return () => {
      state.mounted = false;
    };
  }, [state]);
  const run = useCallback(
    async (act: () => Promise<void>) => {
      if (state.busy) return;
      state.busy = true;
      setBusy(true);
      fail(undefined);
      try {
        await act();
      } catch (err) {
        if (state.mounted) fail(sentence(err));
      }
      state.busy = false;
      if (state.mounted) setBusy(false);
    },
    [state],
  );
  return { busy, error, run, fail };
}

export interface Polled<T> {
  readonly data: T | undefined;
  /** The data is of another key: that of this one is under way. */
  readonly stale: boolean;
  readonly error: string | undefined;
  refresh(): void;
}

/** usePoll asks now and every so many milliseconds. With another key, it asks again. */
export function usePoll<T>(
  key: string,
  every: number,
  load: (options: CallOptions) => Promise<T>,
  paused = false,
): Polled<T> {
  const [state, setState] = useState<{ key: string; data?: T; error?: string }>({ key });
  const loading = useRef(load);
  loading.current = load;
  const poller = useRef<Poller | undefined>(undefined);
  useEffect(() => {
    const own = new Poller({
      every,
      hidden: () => document.hidden,
      ask: async (byTimer, signal) => {
        try {
          const data = await loading.current({ background: byTimer, signal });
          if (!signal.aborted) setState({ key, data });
        } catch (err) {
          if (!signal.aborted) setState((before) => ({ ...before, error: sentence(err) }));
          throw err;
        }
      },
    });
    poller.current = own;
    const wake = (): void => own.wake();
    document.addEventListener("visibilitychange", wake);
    own.refresh();
    return () => {
      document.removeEventListener("visibilitychange", wake);
      own.stop();
    };
  }, [key, every]);
  useEffect(() => {
    if (!poller.current) return;
    poller.current.paused = paused;
    poller.current.wake();
  }, [paused, key, every]);
  const refresh = useCallback(() => poller.current?.refresh(), []);
  return { data: state.data, stale: state.key !== key || state.data === undefined, error: state.error, refresh };
}
