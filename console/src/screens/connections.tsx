// Connections: those that are open now, at all edges.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Connection, ConnectionPage, EdgeCount } from "../api/types.js";
import { count, plural } from "../lib/format.js";
import { searchOf } from "../lib/route.js";
import { Empty, Heading, Loading, Name, Stale } from "../ui/bits.js";
import { useConsole, useManager } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { Pages, Table } from "../ui/table.js";
import { columns, keyOf } from "./connection-columns.js";
import { ConnectionDetails } from "./connection-detail.js";
import { type ConnectionQuery, Filters } from "./connection-filters.js";
import { Disconnect, type Target } from "./disconnect.js";
import { Unanswered } from "./edge-state.js";
import type { ScreenProps } from "./screens.js";

const PAGE = 100;
const EVERY = 3000; // ms

export function Connections({ query }: ScreenProps): JSX.Element {
  const { api, notify } = useConsole();
  const manager = useManager();
  const [paused, setPaused] = useState(false);
  const [starts, setStarts] = useState<readonly string[]>([""]); // where each page begins, to the one that is shown
  const [target, setTarget] = useState<Target>();
  const filter: ConnectionQuery = {
    token_id: query.token_id ?? "",
    subject: query.subject ?? "",
    tenant: query.tenant ?? "",
    ip: query.ip ?? "",
    transport: query.transport ?? "",
    limited: query.limited ?? "",
    edge: query.edge ?? "",
  };
  const filterKey = searchOf(filter);
  useEffect(() => setStarts([""]), [filterKey]);
  const path = `connections${searchOf({ ...filter, limit: PAGE, cursor: starts[starts.length - 1] })}`;
  const { data, stale, error, refresh } = usePoll(
    path,
    EVERY,
    (options) => api.get<ConnectionPage>(path, options),
    paused,
  );
  const edges = data?.edges ?? [];
  const rows = data?.connections ?? [];
  return (
    <>
      <Heading text="Connections">
        <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? "Resume" : "Pause"}
        </button>
        {manager && filter.token_id !== "" && (
          <button type="button" onClick={() => setTarget({ tokenID: filter.token_id })}>
            Disconnect all of this token
          </button>
        )}
      </Heading>
      <Filters query={filter} edges={edges} onAgain={refresh} />
      <Stale error={error} known={data !== undefined} />
      <Unanswered edges={edges} missing={["Its connections are not listed.", "Their connections are not listed."]} />
      {!data && !error && <Loading what="the connections" />}
      {data && <Totals edges={edges} paused={paused} />}
      {rows.length > 0 && (
        <Rows
          rows={rows}
          several={edges.length > 1}
          busy={stale}
          onDisconnect={(connection) => setTarget({ connection, tokenID: connection.token_id })}
        />
      )}
      {data && !stale && rows.length === 0 && starts.length === 1 && (
        <Empty>
          {filterKey === "" ? (
            <p>No client is connected. Clients appear here as they connect with an access token.</p>
          ) : (
            <p>No connection matches. Ask for less, or clear the filters.</p>
          )}
        </Empty>
      )}
      <Pages
        page={starts.length}
        more={!stale && (data?.next_cursor ?? "") !== ""}
        onPrevious={() => setStarts(starts.slice(0, -1))}
        onNext={() => setStarts([...starts, data?.next_cursor ?? ""])}
      />
      {target && (
        <Disconnect
          target={target}
          onClose={() => setTarget(undefined)}
          onDone={(text) => {
            setTarget(undefined);
            notify(text);
            refresh();
          }}
        />
      )}
    </>
  );
}

function Totals({ edges, paused }: { edges: readonly EdgeCount[]; paused: boolean }): JSX.Element {
  const total = edges.reduce((all, edge) => all + edge.total, 0);
  const matching = edges.reduce((all, edge) => all + edge.matching, 0);
  return (
    <div class="totals">
      <p>
        {matching === total
          ? `${plural(total, "connection")}.`
          : `${count(matching)} of ${plural(total, "connection")} match.`}
        {paused && <strong> Paused: the list is as it was.</strong>}
      </p>
      {edges.length > 1 && (
        <ul class="chips" aria-label="By edge">
          {edges.slice(0, 50).map((edge) => (
            <li key={edge.id}>
              <Name text={edge.name} most={40} /> {edge.answered ? count(edge.matching) : "no answer"}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

interface RowsProps {
  readonly rows: readonly Connection[];
  readonly several: boolean; // edges
  readonly busy: boolean;
  readonly onDisconnect: (connection: Connection) => void;
}

function Rows({ rows, several, busy, onDisconnect }: RowsProps): JSX.Element {
  const [expanded, expand] = useState<string>();
  return (
    <Table
      label="Connections"
      columns={columns(several, expanded, expand)}
      rows={rows}
      keyOf={keyOf}
      busy={busy}
      detail={(row) =>
        expanded === keyOf(row) && <ConnectionDetails connection={row} onDisconnect={() => onDisconnect(row)} />
      }
    />
  );
}
