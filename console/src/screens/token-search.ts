// Pages of the search for access tokens. One call looks at some thousand records, and may
// find none of them: the search asks on until a page is full.
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api/client.js";
import { sentence } from "../api/problem.js";
import type { AccessToken, TokenPage } from "../api/types.js";
import { searchOf } from "../lib/route.js";

export const PAGE = 50;
const MAX_COUNTING = 20; // calls

export type TokenQuery = Readonly<Record<"id" | "tenant" | "subject" | "created_by" | "status", string>>;

export interface Found {
  readonly tokens: readonly AccessToken[];
  readonly next: string; // where the next page begins; empty: there is none
  readonly asked: number; // calls
}

/** searchPage fills a page. progress is told after each call; an aborted search gives what it has. */
export async function searchPage(
  api: Pick<Api, "get">,
  query: TokenQuery,
  cursor: string,
  signal: AbortSignal,
  progress: (found: Found) => void,
): Promise<Found> {
  let found: Found = { tokens: [], next: cursor, asked: 0 };
  do {
    const rest = { limit: PAGE - found.tokens.length, cursor: found.next };
    const page = await api.get<TokenPage>(`tokens${searchOf({ ...query, ...rest })}`);
    if (signal.aborted && found.asked > 0) return found;
    found = { tokens: [...found.tokens, ...(page.tokens ?? [])], next: page.next_cursor ?? "", asked: found.asked + 1 };
    progress(found);
  } while (!signal.aborted && found.next !== "" && found.tokens.length < PAGE);
  return found;
}

/** countSubject says how many valid tokens a subject has, as far as some calls find out. */
export async function countSubject(
  api: Pick<Api, "get">,
  subject: string,
  signal: AbortSignal,
): Promise<{ readonly count: number; readonly all: boolean }> {
  let count = 0;
  let cursor = "";
  for (let calls = 0; calls < MAX_COUNTING; calls++) {
    const query = searchOf({ subject, status: "valid", limit: 1000, cursor });
    const page = await api.get<TokenPage>(`tokens${query}`, { signal });
    count += page.tokens?.length ?? 0;
    cursor = page.next_cursor ?? "";
    if (cursor === "") return { count, all: true };
  }
  return { count, all: false };
}

export interface TokenSearch {
  readonly found: Found | undefined;
  readonly busy: boolean;
  readonly error: string | undefined;
  readonly page: number;
  stop(): void;
  goOn(): void;
  refresh(): void;
  next(): void;
  previous(): void;
}

/** useTokenSearch keeps one page at a time, and where the pages before it began. */
export function useTokenSearch(api: Api, query: TokenQuery): TokenSearch {
  const [starts, setStarts] = useState<readonly string[]>([""]);
  const [found, setFound] = useState<Found>();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const running = useRef<AbortController | undefined>(undefined);
  const key = JSON.stringify(query);
  const asked = useRef(query);
  asked.current = query;

  const search = useCallback(
    async (cursor: string) => {
      running.current?.abort();
      const own = new AbortController();
      running.current = own;
      const mine = (): boolean => running.current === own;
      setBusy(true);
      setError(undefined);
      try {
        await searchPage(api, asked.current, cursor, own.signal, (now) => mine() && setFound(now));
      } catch (err) {
        if (mine()) setError(sentence(err));
      }
      if (mine()) setBusy(false);
    },
    [api],
  );

  useEffect(() => {
    setStarts([""]);
    setFound(undefined);
    void search("");
    return () => {
      running.current?.abort();
      running.current = undefined;
    };
  }, [key, search]);

  const go = (to: readonly string[]): void => {
    setStarts(to);
    void search(to[to.length - 1] ?? "");
  };
  return {
    found,
    busy,
    error,
    page: starts.length,
    stop: () => running.current?.abort(),
    goOn: () => go([...starts.slice(0, -1), found?.next ?? ""]),
    refresh: () => go(starts),
    next: () => go([...starts, found?.next ?? ""]),
    previous: () => go(starts.slice(0, -1)),
  };
}
