// Histories: what this edge keeps of messages, by history and tenant.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/problem.js";
import type { EffectiveHistory, HistoryList, HistoryTotal, HistoryUsage } from "../api/types.js";
import { count, duration, size } from "../lib/format.js";
import { searchOf } from "../lib/route.js";
import { Badge, Code, Empty, type Fact, Facts, Heading, Loading, Name, Stale, Time } from "../ui/bits.js";
import { useConsole, useManager } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { type Column, Pages, Table } from "../ui/table.js";
import { Filters, type HistoryQuery } from "./history-filters.js";
import { Purge, type PurgeTarget } from "./history-purge.js";
import { Reader, type ReadTarget } from "./history-read.js";
import type { ScreenProps } from "./screens.js";

const PAGE = 50; // tenants
const FEW = 8; // tenants that are found without a filter
const EVERY = 10_000; // ms

export function Histories({ query }: ScreenProps): JSX.Element {
  const { api, session, notify } = useConsole();
  const manager = useManager();
  const reads = manager && session.tail === true;
  const [starts, setStarts] = useState<readonly string[]>([""]); // where each page begins, to the one that is shown
  const [reading, read] = useState<ReadTarget>();
  const [purging, purge] = useState<PurgeTarget>();
  const [purges, setPurges] = useState(0);
  const filter: HistoryQuery = { history: query.history ?? "", tenant: query.tenant ?? "" };
  const filterKey = searchOf(filter);
  useEffect(() => setStarts([""]), [filterKey]);
  const path = `histories${searchOf({ ...filter, limit: PAGE, cursor: starts[starts.length - 1] })}`;
  const { data, stale, error, refresh } = usePoll<HistoryList | "none">(path, EVERY, async (options) => {
    try {
      return await api.get<HistoryList>(path, options);
    } catch (err) {
      if (err instanceof ApiError && err.code === "no_histories") return "none";
      throw err;
    }
  });
  const list = data === "none" ? undefined : data;
  const totals = list?.totals ?? [];
  const tenants = totals.reduce((all, total) => all + total.tenants, 0);
  const rows = list?.histories ?? [];
  return (
    <>
      <Heading text="Histories" />
      <p class="quiet">What this edge keeps of messages, so that clients that come back get what they have missed.</p>
      <Stale error={error} known={data !== undefined} />
      {!data && !error && <Loading what="the histories" />}
      {(data === "none" || (list && totals.length === 0)) && <NoHistories />}
      {list && totals.length > 0 && (
        <>
          <Totals totals={totals} onPurge={(history) => purge({ history })} />
          <section aria-labelledby="tenants">
            <h2 id="tenants">By tenant</h2>
            {(filterKey !== "" || tenants > FEW) && (
              <Filters query={filter} names={totals.map(({ history }) => history)} onAgain={refresh} />
            )}
            {rows.length > 0 && (
              <Table
                label="What is kept"
                columns={columns(manager ? { read: reads ? read : undefined, purge } : undefined)}
                rows={rows}
                keyOf={keyOf}
                busy={stale}
              />
            )}
            {!stale && rows.length === 0 && starts.length === 1 && (
              <Empty>
                {filterKey === "" ? (
                  <p>Nothing is kept yet. Messages are kept from when clients publish to a channel of a history.</p>
                ) : (
                  <p>Nothing that is kept matches. Ask for less, or clear the filters.</p>
                )}
              </Empty>
            )}
            <Pages
              page={starts.length}
              more={!stale && (list.next_cursor ?? "") !== ""}
              onPrevious={() => setStarts(starts.slice(0, -1))}
              onNext={() => setStarts([...starts, list.next_cursor ?? ""])}
            />
          </section>
          {reads && <Reader names={totals.map(({ history }) => history)} target={reading} purges={purges} />}
          {manager && !reads && (
            <p class="quiet">
              Messages are not shown on this page: the console has <code>tail off</code>.
            </p>
          )}
        </>
      )}
      {purging && (
        <Purge
          target={purging}
          onClose={() => purge(undefined)}
          onDone={(text) => {
            purge(undefined);
            setPurges((n) => n + 1);
            notify(text);
            refresh();
          }}
        />
      )}
    </>
  );
}

function NoHistories(): JSX.Element {
  return (
    <Empty>
      <p>No history is configured at this edge: a message is delivered at most once, and forgotten.</p>
      <p>
        A history keeps the messages of some channels: <code>history &lt;name&gt; &#123; channels … &#125;</code> in the
        block <code>pubsub</code> of the Caddyfile. docs/history.md says what it promises.
      </p>
    </Empty>
  );
}

function Totals({
  totals,
  onPurge,
}: {
  totals: readonly HistoryTotal[];
  onPurge: (history: string) => void;
}): JSX.Element {
  const manager = useManager();
  return (
    <div class="cards">
      {totals.map((total) => (
        <article key={total.history} class="card" aria-label={`History ${total.history}`}>
          <div class="card-head">
            <h2>
              <Name text={total.history} />
            </h2>
            {!total.configured && (
              <Badge mood="warn">{total.effective ? "not configured here" : "not configured any more"}</Badge>
            )}
            {total.error && <Badge mood="bad">cannot be used</Badge>}
            {total.configured && (total.drift ?? []).length > 0 && <Badge mood="warn">drift</Badge>}
          </div>
          {total.error && (
            <p class="note bad">
              <Name text={total.error} most={500} />
            </p>
          )}
          <Drift of={total} />
          <Facts
            of={[
              ["Tenants", count(total.tenants)],
              ["Channels", count(total.channels)],
              ["Messages", count(total.messages)],
              ["Size", size(total.bytes)],
              ["Oldest message", <Time at={total.oldest} key="oldest" />],
              ...limits(total.effective),
            ]}
          />
          {manager && (
            <div class="buttons">
              <button
                type="button"
                aria-label={`Purge the history ${total.history}`}
                onClick={() => onPurge(total.history)}
              >
                Purge
              </button>
            </div>
          )}
        </article>
      ))}
    </div>
  );
}

/** What all edges follow. */
function limits(effective: EffectiveHistory | null | undefined): Fact[] {
  if (!effective) return [];
  return [
    ["Version", String(effective.version)],
    ["Messages of a channel", `up to ${count(effective.messages)}`],
    ["Age", `up to ${duration(effective.age_seconds * 1000)}`],
    ["Size at most", size(effective.size)],
    ["Lag", effective.max_lag_seconds === 0 ? "any" : `up to ${duration(effective.max_lag_seconds * 1000)}`],
  ];
}

/** In what this edge's file differs from what all edges follow, and what to do. */
function Drift({ of: { drift, remedy } }: { of: HistoryTotal }): JSX.Element | null {
  if (!drift || drift.length === 0) return null;
  return (
    <div class="note">
      <p>The edges do not follow this edge’s file:</p>
      <ul>
        {drift.map(({ field, configured, effective }) => (
          <li key={field}>
            {field}: <Code text={effective} />, in the file <Code text={configured} />
          </li>
        ))}
      </ul>
      {remedy && (
        <p>
          To change this: <Name text={remedy} most={500} />.
        </p>
      )}
    </div>
  );
}

const keyOf = ({ history, tenant }: HistoryUsage): string => `${history}:${tenant}`;

interface Actions {
  readonly read: ((target: ReadTarget) => void) | undefined;
  readonly purge: (target: PurgeTarget) => void;
}

function columns(actions: Actions | undefined): Column<HistoryUsage>[] {
  const shown: Column<HistoryUsage>[] = [
    { label: "Tenant", cell: ({ tenant }) => <Code text={tenant} /> },
    { label: "History", cell: ({ history }) => <Name text={history} /> },
    { label: "Channels", number: true, cell: ({ channels }) => count(channels) },
    { label: "Messages", number: true, cell: ({ messages }) => count(messages) },
    { label: "Size", number: true, cell: ({ bytes }) => size(bytes) },
    { label: "Oldest message", cell: ({ oldest }) => <Time at={oldest} /> },
  ];
  if (!actions) return shown;
  const { read, purge } = actions;
  shown.push({
    label: "Actions",
    cell: ({ history, tenant }) => (
      <div class="buttons">
        {read && (
          <button type="button" aria-label={`Read ${tenant} in ${history}`} onClick={() => read({ history, tenant })}>
            Read
          </button>
        )}
        <button type="button" aria-label={`Purge ${tenant} in ${history}`} onClick={() => purge({ history, tenant })}>
          Purge
        </button>
      </div>
    ),
  });
  return shown;
}
