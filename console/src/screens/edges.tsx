// Edges: all of the overlay, with what they say of themselves.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { EdgeStatus } from "../api/types.js";
import { count, size } from "../lib/format.js";
import { Badge, Code, Empty, type Fact, Facts, Heading, Loading, Name, Stale, Time } from "../ui/bits.js";
import { Confirm } from "../ui/confirm.js";
import { useConsole, useManager } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { BrokerState, LinkTroubles, StoreState, ThisEdge, transportName, Unanswered } from "./edge-state.js";
import { Members } from "./members.js";

export function Edges(): JSX.Element {
  const { api } = useConsole();
  const [chosen, choose] = useState<EdgeStatus>();
  const { data, error, refresh } = usePoll("edges", 5000, (options) =>
    api.get<{ edges: EdgeStatus[] | null }>("edges", options),
  );
  const edges = data?.edges ?? [];
  const quorum = edges.find((edge) => edge.status?.quorum)?.status?.quorum; // this edge is the first
  return (
    <>
      <Heading text="Edges" />
      <Stale error={error} known={data !== undefined} />
      {!data && !error && <Loading what="the edges" />}
      <Unanswered edges={edges} missing={["What it does is not known.", "What they do is not known."]} />
      {data && edges.length === 0 && (
        <Empty>
          <p>No edge is known yet. This one appears within seconds.</p>
        </Empty>
      )}
      <div class="cards">
        {edges.map((edge) => (
          <Edge key={edge.id} edge={edge} onDrain={() => choose(edge)} />
        ))}
      </div>
      {quorum && <Members quorum={quorum} />}
      {edges.length === 1 && (
        <p class="quiet">This edge is alone. Edges that share a broker, such as NATS, appear here together.</p>
      )}
      {chosen && <Drain edge={chosen} onClose={() => choose(undefined)} onDone={refresh} />}
    </>
  );
}

const isDraining = (edge: EdgeStatus): boolean => edge.state === "draining" || edge.status?.draining === true;

function Edge({ edge, onDrain }: { edge: EdgeStatus; onDrain: () => void }): JSX.Element {
  const manager = useManager();
  const { status } = edge;
  const drains = isDraining(edge);
  const action = drains ? "Undrain" : "Drain";
  return (
    <article class="card" aria-label={`Edge ${edge.name}`}>
      <div class="card-head">
        <h2>
          <Name text={edge.name} />
        </h2>
        <ThisEdge edge={edge} />
        {drains && <Badge mood="warn">draining</Badge>}
        {edge.state === "silent" && <Badge mood="bad">silent</Badge>}
        {!edge.answered && <Badge mood="bad">no answer</Badge>}
        {edge.answered && !drains && edge.state !== "silent" && <Badge mood="good">serving</Badge>}
      </div>
      <Facts
        of={[
          ["Id", <Code text={edge.id} key="id" />, "wide"],
          ["Host", edge.host ? <Name text={edge.host} /> : "none announced"],
          ["Region", edge.region ? <Name text={edge.region} /> : "none"],
          !edge.self && ["Last heard of", <Time at={edge.seen_at} key="seen" />],
          ...(status ? statusFacts(status) : []),
        ]}
      />
      {manager && edge.answered && (
        <div class="buttons">
          <button type="button" aria-label={`${action} ${edge.name}`} onClick={onDrain}>
            {action}
          </button>
        </div>
      )}
    </article>
  );
}

function statusFacts(status: NonNullable<EdgeStatus["status"]>): (Fact | false)[] {
  const transports = Object.entries(status.connections ?? {});
  const open = transports.reduce((all, [, n]) => all + n, 0);
  const by = transports.map(([name, n]) => `${transportName(name)} ${count(n)}`).join(", ");
  return [
    [
      "Connections",
      `${count(open)}${status.max_connections > 0 ? ` of ${count(status.max_connections)}` : ""}${by ? ` (${by})` : ""}`,
    ],
    ["Subscriptions", `${count(status.subscriptions)} to ${count(status.patterns)} patterns`],
    ["Waiting in queues", size(status.queued_bytes)],
    ["Memory", size(status.memory_bytes)],
    ["Token store", <StoreState status={status} key="store" />, "wide"],
    ["Broker", <BrokerState status={status} key="broker" />, "wide"],
    (status.links ?? []).some((link) => link.code) && ["Trouble", <LinkTroubles status={status} key="links" />, "wide"],
    ["Started", <Time at={status.started_at} key="started" />],
    ["Version", <Name text={`${status.version}, Caddy ${status.caddy}, ${status.go}`} key="version" />, "wide"],
  ];
}

/** Drains an edge, or takes that back where it drains. */
function Drain({ edge, onClose, onDone }: { edge: EdgeStatus; onClose: () => void; onDone: () => void }): JSX.Element {
  const { api, notify } = useConsole();
  const undo = isDraining(edge);
  const confirm = async (): Promise<void> => {
    await api.call(undo ? "DELETE" : "POST", `edges/${encodeURIComponent(edge.id)}/drain`, { body: {} });
    onClose();
    notify(undo ? `${edge.name} takes clients.` : `${edge.name} is draining.`);
    onDone();
  };
  if (undo) {
    return (
      <Confirm title="Undrain this edge" submit="Undrain" onClose={onClose} onConfirm={confirm}>
        <p>
          <Name text={edge.name} /> will take new connections again, and ask no more clients to move. Those that it has
          asked still go. An edge that is stopping refuses this.
        </p>
      </Confirm>
    );
  }
  return (
    <Confirm title="Drain this edge" submit="Drain" danger onClose={onClose} onConfirm={confirm}>
      <p>
        <Name text={edge.name} /> will take no new connections, and ask its clients to move to another edge. Those that
        stay are closed when the time of its drain is over.
      </p>
      <p>
        <strong>Undrain takes this back, but not the moves of clients that were asked before.</strong>
        {edge.self && " It is the edge that serves this page; the console goes on while it runs."}
      </p>
    </Confirm>
  );
}
