// Refused: connections, publishes and subscriptions that edges refused last, and why.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Refused as Refusal, RefusedPage } from "../api/types.js";
import { routeTo, searchOf } from "../lib/route.js";
import { Code, Empty, Heading, Loading, Name, Stale, Time } from "../ui/bits.js";
import { useConsole } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { type Column, Pages, Table } from "../ui/table.js";
import { transportName, Unanswered } from "./edge-state.js";
import { Filters, type RefusedQuery } from "./refused-filters.js";
import type { ScreenProps } from "./screens.js";

const PAGE = 100;
const EVERY = 5000; // ms

export function Refused({ query }: ScreenProps): JSX.Element {
  const { api } = useConsole();
  const [starts, setStarts] = useState<readonly string[]>([""]); // where each page begins, to the one that is shown
  const filter: RefusedQuery = {
    connection_id: query.connection_id ?? "",
    token_id: query.token_id ?? "",
    subject: query.subject ?? "",
    ip: query.ip ?? "",
    edge: query.edge ?? "",
  };
  const filterKey = searchOf(filter);
  useEffect(() => setStarts([""]), [filterKey]);
  const path = `refused${searchOf({ ...filter, limit: PAGE, cursor: starts[starts.length - 1] })}`;
  const { data, stale, error, refresh } = usePoll(path, EVERY, (options) => api.get<RefusedPage>(path, options));
  const edges = data?.edges ?? [];
  const rows = data?.refused ?? [];
  return (
    <>
      <Heading text="Refused" />
      <p class="quiet">
        What edges refused last, newest first, and the whole reason, which clients are not told. Each edge keeps some
        4,000, shared fairly among tokens and addresses, until it restarts.
      </p>
      <Filters query={filter} edges={edges} onAgain={refresh} />
      <Stale error={error} known={data !== undefined} />
      <Unanswered edges={edges} missing={["What it refused is not listed.", "What they refused is not listed."]} />
      {!data && !error && <Loading what="what was refused" />}
      {rows.length > 0 && (
        <Table
          label="Refused"
          columns={columns(edges.length > 1)}
          rows={rows}
          keyOf={(r) => `${r.edge}:${r.time}`}
          busy={stale}
        />
      )}
      {data && !stale && rows.length === 0 && starts.length === 1 && (
        <Empty>
          {filterKey === "" ? (
            <p>Nothing was refused since the edges started.</p>
          ) : (
            <p>
              Nothing that was refused matches. Ask for less, or clear the filters: the client may not reach the edge.
            </p>
          )}
        </Empty>
      )}
      <Pages
        page={starts.length}
        more={!stale && (data?.next_cursor ?? "") !== ""}
        onPrevious={() => setStarts(starts.slice(0, -1))}
        onNext={() => setStarts([...starts, data?.next_cursor ?? ""])}
      />
    </>
  );
}

function columns(several: boolean): Column<Refusal>[] {
  const edge: Column<Refusal> = { label: "Edge", cell: (r) => <Name text={r.edge_name} most={40} /> };
  return [
    { label: "When", cell: (r) => <Time at={r.time} /> },
    ...(several ? [edge] : []),
    {
      label: "What",
      cell: (r) => (
        <>
          {r.action} {r.tenant && <Code text={`${r.tenant}:${r.channel ?? ""}`} most={80} />}
        </>
      ),
    },
    {
      label: "Why",
      cell: (r) => (
        <>
          <Code text={r.code} />: <bdi>{r.reason}</bdi>
          {r.rule && (
            <p>
              Rule: <Code text={r.rule} most={200} />
            </p>
          )}
        </>
      ),
    },
    { label: "Subject", cell: ({ subject }) => (subject ? <Name text={subject} most={40} /> : <>–</>) },
    {
      label: "Token",
      cell: (r) =>
        r.token_id ? (
          <>
            <a href={routeTo("tokens", { id: r.token_id })} aria-label={`Token ${r.token_id.slice(0, 8)}`}>
              <code>{r.token_id.slice(0, 8)}</code>
            </a>{" "}
            {!r.verified && <span class="quiet">not proven</span>}
          </>
        ) : (
          <>–</>
        ),
    },
    {
      label: "Client",
      cell: (r) => (
        <>
          <span class="address">{r.ip ? <Code text={r.ip} /> : "unknown address"}</span>{" "}
          <span class="quiet">{transportName(r.transport)}</span>
        </>
      ),
    },
    { label: "Connection id", cell: (r) => (r.connection_id ? <Code text={r.connection_id} /> : <>–</>) },
  ];
}
