// How edges, their token stores and their links to each other are.
import type { JSX } from "preact";
import type { EdgeStatus, Status } from "../api/types.js";
import { Badge, Name, Time } from "../ui/bits.js";

export function StoreState({ status }: { status: Status | null | undefined }): JSX.Element {
  if (!status) return <span>–</span>;
  const { driver, usable, error, writable, replicas } = status.store;
  return (
    <span class="state">
      <span>{driver}</span>
      {!usable ? (
        <Badge mood="bad">not usable</Badge>
      ) : writable ? (
        <Badge mood="good">ready</Badge>
      ) : (
        <Badge mood="warn">read only</Badge>
      )}
      {replicas && (
        <span class={replicas.current < replicas.all ? "wrong" : "quiet"}>
          {replicas.current} of {replicas.all} replicas current
        </span>
      )}
      {error && <Name text={error} most={200} />}
    </span>
  );
}

export function BrokerState({ status }: { status: Status | null | undefined }): JSX.Element {
  if (!status) return <span>–</span>;
  return (
    <span class="state">
      <span>{status.broker.driver}</span>
      {status.broker.linked ? <Badge mood="good">linked</Badge> : <Badge mood="bad">link lost</Badge>}
    </span>
  );
}

/** What keeps an edge from its servers. */
export function LinkTroubles({ status }: { status: Status }): JSX.Element | null {
  const wrong = (status.links ?? []).filter((link) => link.code);
  if (wrong.length === 0) return null;
  return (
    <ul>
      {wrong.map((link) => (
        <li key={link.of} class="wrong">
          <Name text={link.of} />: <Name text={link.reason ?? ""} most={200} />
          {link.error && (
            <>
              {" "}
              (<Name text={link.error} most={200} />)
            </>
          )}
          {link.since && (
            <>
              , <Time at={link.since} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}

const transports: Readonly<Record<string, string>> = { websocket: "WebSocket", webtransport: "WebTransport" };

export const transportName = (name: string): string => transports[name] ?? name;

/** Marks the edge that serves the page, unless that is its name already. */
export function ThisEdge({ edge }: { edge: Pick<EdgeStatus, "self" | "name"> }): JSX.Element | null {
  return edge.self && edge.name !== "this edge" ? <Badge>this edge</Badge> : null;
}

/** Names the edges that do not answer. */
export function Unanswered(props: {
  edges: readonly Pick<EdgeStatus, "id" | "name" | "answered" | "error">[];
  missing: readonly [one: string, more: string];
}): JSX.Element {
  const silent = props.edges.filter((edge) => !edge.answered);
  return (
    <div role="alert" class="errors">
      {silent.length > 0 && (
        <div class="note warn">
          <p>
            {silent.length === 1 ? "An edge does not answer" : `${silent.length} edges do not answer`}.{" "}
            {props.missing[silent.length === 1 ? 0 : 1]}
          </p>
          <ul>
            {silent.slice(0, 20).map((edge) => (
              <li key={edge.id}>
                <Name text={edge.name} />
                {edge.error && (
                  <>
                    : <Name text={edge.error} most={200} />
                  </>
                )}
              </li>
            ))}
            {silent.length > 20 && <li>and {silent.length - 20} more</li>}
          </ul>
        </div>
      )}
    </div>
  );
}
