// The members of the cluster of the NATS servers inside edges, most of which must run.
import type { JSX } from "preact";
import type { Quorum, QuorumMember } from "../api/types.js";
import { count } from "../lib/format.js";
import { quorumText } from "../lib/quorum.js";
import { Badge, type Mood, Name, Time } from "../ui/bits.js";
import { type Column, Table } from "../ui/table.js";

const moods: Readonly<Record<string, Mood>> = { leader: "good", current: "good", lagging: "warn", offline: "bad" };

const columns: readonly Column<QuorumMember>[] = [
  { label: "Member", cell: (m) => <Name text={m.name} /> },
  { label: "State", cell: (m) => <Badge mood={moods[m.state] ?? "plain"}>{m.state}</Badge> },
  { label: "Since", cell: (m) => <Time at={m.since} /> },
  { label: "Behind", number: true, cell: (m) => count(m.behind) },
  {
    label: "Replicas",
    number: true,
    cell: (m) => count(m.replicas) + (m.lagging > 0 ? `, ${count(m.lagging)} lagging` : ""),
  },
];

export function Members({ quorum }: { quorum: Quorum }): JSX.Element {
  const { text, wrong } = quorumText(quorum);
  return (
    <section aria-labelledby="members">
      <h2 id="members">Members of the NATS cluster inside edges</h2>
      {wrong ? (
        <div class="note warn" role="alert">
          <p>{text}</p>
        </div>
      ) : (
        <p class="quiet">{text}</p>
      )}
      <Table label="Members" columns={columns} rows={quorum.members ?? []} keyOf={(m) => m.name} />
    </section>
  );
}
