// Overview: what all edges do now, and did in the last 15 minutes.
import type { JSX } from "preact";
import type { EdgeOverview } from "../api/types.js";
import { count, plural, rate, size } from "../lib/format.js";
import { routeTo } from "../lib/route.js";
import { addCounts, type Figure, latest, type Samples, sumSeries } from "../lib/samples.js";
import { Badge, Empty, Heading, Loading, Name, Stale } from "../ui/bits.js";
import { Chart } from "../ui/chart.js";
import { useConsole } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { type Column, Table } from "../ui/table.js";
import { BrokerState, StoreState, ThisEdge, transportName, Unanswered } from "./edge-state.js";

export function Overview(): JSX.Element {
  const { api } = useConsole();
  const { data, error } = usePoll("overview", 5000, (options) =>
    api.get<{ edges: EdgeOverview[] | null }>("overview", options),
  );
  const edges = data?.edges ?? [];
  return (
    <>
      <Heading text="Overview" />
      <Stale error={error} known={data !== undefined} />
      {data ? <Figures edges={edges} /> : !error && <Loading what="the figures" />}
    </>
  );
}

function Figures({ edges }: { edges: readonly EdgeOverview[] }): JSX.Element {
  const answering = edges.filter((edge) => edge.answered && edge.status);
  const samples = answering.flatMap((edge) => edge.samples ?? []);
  const sum = (of: (edge: EdgeOverview) => number): number => answering.reduce((all, edge) => all + of(edge), 0);
  const recent = (kind: "dropped" | "refused" | "handshakes_refused" | "slow_disconnects"): [string, number][] =>
    addCounts(answering.map((edge) => edge.recent?.[kind] ?? undefined));
  const transports = addCounts(answering.map((edge) => edge.status?.connections ?? undefined));
  const most = sum((edge) => edge.status?.max_connections ?? 0);
  const connections = sum(openConnections);
  return (
    <>
      <Unanswered edges={edges} missing={["The figures leave it out.", "The figures leave them out."]} />
      <div class="tiles">
        <Tile
          title="Connections"
          value={count(connections)}
          chart={{ samples, figure: "connections", format: count }}
          note={
            <>
              {transports.map(([name, n]) => (
                <span key={name}>
                  {transportName(name)} {count(n)}
                </span>
              ))}
              {most > 0 && <span>of {count(most)} at most</span>}
            </>
          }
        />
        <Waiting edges={answering} />
        <Rate title="Messages a second" figure="messages_in" samples={samples} note="published by clients" />
        <Rate title="Deliveries a second" figure="deliveries" samples={samples} note="to subscribers" />
        <Rate title="Drops a second" figure="dropped" samples={samples} note="deliveries that were dropped" />
        <Rate title="Refusals a second" figure="refused" samples={samples} note="ERR lines to clients" />
        <Tile
          title="Memory"
          value={size(sum((edge) => edge.status?.memory_bytes ?? 0))}
          chart={{ samples, figure: "memory_bytes", format: size }}
          note={
            <span>
              {answering.length === 1 ? "of the process" : `of ${plural(answering.length, "process", "processes")}`}
            </span>
          }
        />
        <States title="Token store" edges={answering} state={(edge) => <StoreState status={edge.status} />} />
        <States title="Broker" edges={answering} state={(edge) => <BrokerState status={edge.status} />} />
      </div>
      <div class="columns">
        <Reasons title="Dropped deliveries" counts={recent("dropped")} none="None was dropped." />
        <Reasons title="Refusals by code" counts={recent("refused")} none="Nothing was refused." />
        <Reasons title="Refused handshakes" counts={recent("handshakes_refused")} none="No client was turned away." />
        <Reasons title="Slow clients disconnected" counts={recent("slow_disconnects")} none="No client was too slow." />
      </div>
      <section aria-labelledby="by-edge">
        <h2 id="by-edge">By edge</h2>
        {edges.length === 0 ? (
          <Empty>
            <p>No edge is known yet. This one appears within seconds.</p>
          </Empty>
        ) : (
          <Table label="Figures by edge" columns={columns} rows={edges} keyOf={(edge) => edge.id} />
        )}
      </section>
    </>
  );
}

/** How many connections have messages that wait for a cap. */
function Waiting({ edges }: { edges: readonly EdgeOverview[] }): JSX.Element {
  const waiting = addCounts(edges.map((edge) => edge.status?.limited ?? undefined)).filter(([, n]) => n > 0);
  const name = (direction: string): string => (direction === "ingress" ? "what they publish" : "what they receive");
  return (
    <section class="card tile" aria-label="Waiting for a cap">
      <h2>Waiting for a cap</h2>
      {waiting.length === 0 ? (
        <p class="quiet">No connection.</p>
      ) : (
        waiting.map(([direction, n]) => (
          <p key={direction}>
            <a href={routeTo("connections", { limited: "true" })}>{plural(n, "connection")}</a>{" "}
            <span class="quiet">with {name(direction)}</span>
          </p>
        ))
      )}
    </section>
  );
}

const MAX_STATES = 3; // edges in a tile; the table has all

/** How a part of each edge is. */
function States(props: {
  title: string;
  edges: readonly EdgeOverview[];
  state: (edge: EdgeOverview) => JSX.Element;
}): JSX.Element {
  const { title, edges, state } = props;
  return (
    <section class="card tile" aria-label={title}>
      <h2>{title}</h2>
      {edges.slice(0, MAX_STATES).map((edge) => (
        <div key={edge.id} class="state-line">
          {edges.length > 1 && (
            <p class="quiet">
              <Name text={edge.name} most={40} />
            </p>
          )}
          {state(edge)}
        </div>
      ))}
      {edges.length > MAX_STATES && <p class="quiet">and {edges.length - MAX_STATES} more, see below</p>}
    </section>
  );
}

const openConnections = (edge: EdgeOverview): number =>
  Object.values(edge.status?.connections ?? {}).reduce((all, n) => all + n, 0);

function figureOf(edge: EdgeOverview, figure: Figure): string {
  return edge.answered && edge.samples ? rate(latest(edge.samples[figure])) : "–";
}

const columns: readonly Column<EdgeOverview>[] = [
  {
    label: "Edge",
    cell: (edge) => (
      <>
        <Name text={edge.name} /> <ThisEdge edge={edge} />
        {!edge.answered && <Badge mood="bad">no answer</Badge>}
      </>
    ),
  },
  { label: "Connections", number: true, cell: (edge) => (edge.status ? count(openConnections(edge)) : "–") },
  { label: "Messages/s", number: true, cell: (edge) => figureOf(edge, "messages_in") },
  { label: "Deliveries/s", number: true, cell: (edge) => figureOf(edge, "deliveries") },
  { label: "Drops/s", number: true, cell: (edge) => figureOf(edge, "dropped") },
  { label: "Refusals/s", number: true, cell: (edge) => figureOf(edge, "refused") },
  { label: "Memory", number: true, cell: (edge) => (edge.status ? size(edge.status.memory_bytes) : "–") },
  { label: "Token store", cell: (edge) => <StoreState status={edge.status} /> },
  { label: "Broker", cell: (edge) => <BrokerState status={edge.status} /> },
];

interface TileProps {
  readonly title: string;
  readonly value: string;
  readonly note: JSX.Element;
  readonly chart: {
    readonly samples: readonly Samples[];
    readonly figure: Figure;
    readonly format: (n: number) => string;
  };
}

function Tile({ title, value, note, chart }: TileProps): JSX.Element {
  return (
    <section class="card tile" aria-label={title}>
      <h2>{title}</h2>
      <p class="value">{value}</p>
      <p class="note-line">{note}</p>
      <Chart label={title} series={sumSeries(chart.samples, chart.figure)} format={chart.format} />
    </section>
  );
}

function Rate({
  title,
  figure,
  samples,
  note,
}: {
  title: string;
  figure: Figure;
  samples: readonly Samples[];
  note: string;
}): JSX.Element {
  const now = samples.reduce((all, s) => all + latest(s[figure]), 0);
  return <Tile title={title} value={rate(now)} note={<span>{note}</span>} chart={{ samples, figure, format: rate }} />;
}

function Reasons({
  title,
  counts,
  none,
}: {
  title: string;
  counts: readonly [string, number][];
  none: string;
}): JSX.Element {
  return (
    <section class="card reasons" aria-label={title}>
      <h2>{title}</h2>
      <p class="quiet">in the last 15 minutes</p>
      {counts.length === 0 ? (
        <p>{none}</p>
      ) : (
        <dl class="counts">
          {counts.map(([reason, n]) => (
            <div key={reason}>
              <dt>
                <code>{reason}</code>
              </dt>
              <dd>{count(n)}</dd>
            </div>
          ))}
        </dl>
      )}
    </section>
  );
}
