// The columns of the list of connections.
import type { JSX } from "preact";
import type { Connection } from "../api/types.js";
import { count, size } from "../lib/format.js";
import { routeTo } from "../lib/route.js";
import { Badge, Code, Name, Time } from "../ui/bits.js";
import { type Column, Expand } from "../ui/table.js";
import { transportName } from "./edge-state.js";
import { Tenants } from "./tokens.js";

export const keyOf = (c: Connection): string => `${c.edge}:${c.id}`;

/** A cap, and whether messages wait for it. */
function Cap({ name, kb, delay }: { name: string; kb: number | undefined; delay: number | undefined }): JSX.Element {
  return (
    <>
      {name} {kb ? count(kb) : "none"}
      {delay ? (
        <>
          {" "}
          <Badge mood="warn">waits {count(delay)} s</Badge>
        </>
      ) : null}
    </>
  );
}

export function columns(
  several: boolean,
  expanded: string | undefined,
  expand: (key: string | undefined) => void,
): Column<Connection>[] {
  const edge: Column<Connection> = { label: "Edge", cell: (c) => <Name text={c.edge_name} most={40} /> };
  return [
    {
      label: "Connection",
      cell: (c) => {
        const key = keyOf(c);
        return (
          <Expand
            open={expanded === key}
            label={`Details of connection ${c.id} at ${c.edge_name}`}
            onToggle={() => expand(expanded === key ? undefined : key)}
          >
            {c.id}
          </Expand>
        );
      },
    },
    ...(several ? [edge] : []),
    {
      label: "Token",
      cell: (c) => (
        <a href={routeTo("tokens", { id: c.token_id })} aria-label={`Token ${c.token_id.slice(0, 8)}`}>
          <code>{c.token_id.slice(0, 8)}</code>
        </a>
      ),
    },
    { label: "Subject", cell: ({ subject }) => (subject ? <Name text={subject} most={40} /> : <>–</>) },
    { label: "Tenants", cell: (c) => <Tenants names={c.tenants ?? []} /> },
    { label: "Address", cell: (c) => <span class="address">{c.ip ? <Code text={c.ip} /> : "unknown"}</span> },
    {
      label: "Transport",
      cell: (c) => (
        <>
          {transportName(c.transport)} {c.draining && <Badge mood="warn">draining</Badge>}
        </>
      ),
    },
    { label: "Since", cell: (c) => <Time at={c.since} /> },
    { label: "Subscriptions", number: true, cell: (c) => count(c.subscriptions) },
    { label: "Queue", number: true, cell: (c) => size(c.queued_bytes) },
    {
      label: "Caps, KB/s",
      cell: (c) => (
        <>
          <Cap name="in" kb={c.ingress_kb_per_sec} delay={c.ingress_delay_seconds} />,{" "}
          <Cap name="out" kb={c.egress_kb_per_sec} delay={c.egress_delay_seconds} />
        </>
      ),
    },
    { label: "Dropped", number: true, cell: (c) => count(c.dropped) },
  ];
}
