// Presence: in which tenants somebody is present, and who.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../api/problem.js";
import type { PresenceList, PresenceTotal, PresenceUsage } from "../api/types.js";
import { count } from "../lib/format.js";
import { routeTo, searchOf } from "../lib/route.js";
import { Code, Empty, Facts, Heading, Loading, Name, Stale } from "../ui/bits.js";
import { useConsole } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { type Column, Pages, Table } from "../ui/table.js";
import { Filters, type PresenceQuery } from "./presence-filters.js";
import { Members } from "./presence-members.js";
import type { ScreenProps } from "./screens.js";

const PAGE = 50; // tenants
const FEW = 8; // tenants that are found without a filter
const EVERY = 10_000; // ms

export function Presence({ query }: ScreenProps): JSX.Element {
  const { api } = useConsole();
  const [starts, setStarts] = useState<readonly string[]>([""]); // where each page begins, to the one that is shown
  const asked: PresenceQuery = {
    presence: query.presence ?? "",
    among: query.among ?? "",
    tenant: query.tenant ?? "",
    pattern: query.pattern ?? "",
    subject: query.subject ?? "",
  };
  const filterKey = searchOf({ presence: asked.presence, tenant: asked.among });
  useEffect(() => setStarts([""]), [filterKey]);
  const path = `presences${searchOf({ presence: asked.presence, tenant: asked.among, limit: PAGE, cursor: starts[starts.length - 1] })}`;
  const { data, stale, error, refresh } = usePoll<PresenceList | "none">(path, EVERY, async (options) => {
    try {
      return await api.get<PresenceList>(path, options);
    } catch (err) {
      if (err instanceof ApiError && err.code === "no_presences") return "none";
      throw err;
    }
  });
  const list = data === "none" ? undefined : data;
  const totals = list?.totals ?? [];
  const tenants = totals.reduce((all, total) => all + total.tenants, 0);
  const rows = list?.presences ?? [];
  return (
    <>
      <Heading text="Presence" />
      <p class="quiet">Who has said that they are in a channel, at all edges: each edge knows that of the others.</p>
      <Stale error={error} known={data !== undefined} />
      {!data && !error && <Loading what="who is present" />}
      {data === "none" && <NoPresences />}
      {list && (
        <>
          <Totals totals={totals} />
          <section aria-labelledby="tenants">
            <h2 id="tenants">By tenant</h2>
            {(filterKey !== "" || tenants > FEW) && (
              <Filters query={asked} names={totals.map(({ presence }) => presence)} onAgain={refresh} />
            )}
            {rows.length > 0 && (
              <Table
                label="Where somebody is present"
                columns={columns(asked, totals)}
                rows={rows}
                keyOf={keyOf}
                busy={stale}
              />
            )}
            {!stale && rows.length === 0 && starts.length === 1 && (
              <Empty>
                {filterKey === "" ? (
                  <p>Nobody is present now. Clients appear here when they join a channel of a presence.</p>
                ) : (
                  <p>Nobody is present there. Ask for less, or clear the filters.</p>
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
          <Members query={asked} />
        </>
      )}
    </>
  );
}

function NoPresences(): JSX.Element {
  return (
    <Empty>
      <p>No presence is configured at this edge: it does not know who is where.</p>
      <p>
        Clients may say that they are in the channels of a presence:{" "}
        <code>presence &lt;name&gt; &#123; channels … &#125;</code> in the block <code>pubsub</code> of the Caddyfile.
        docs/configuration.md has its options.
      </p>
    </Empty>
  );
}

function Totals({ totals }: { totals: readonly PresenceTotal[] }): JSX.Element {
  return (
    <div class="cards">
      {totals.map((total) => (
        <article key={total.presence} class="card" aria-label={`Presence ${total.presence}`}>
          <div class="card-head">
            <h2>
              <Name text={total.presence} />
            </h2>
          </div>
          <Facts
            of={[
              ["Tenants", count(total.tenants)],
              ["Members", count(total.members)],
              ["At most of a tenant", count(total.max_members)],
            ]}
          />
        </article>
      ))}
    </div>
  );
}

const keyOf = ({ presence, tenant }: PresenceUsage): string => `${presence}:${tenant}`;

function columns(asked: PresenceQuery, totals: readonly PresenceTotal[]): Column<PresenceUsage>[] {
  const most = new Map(totals.map((total) => [total.presence, total.max_members]));
  return [
    { label: "Tenant", cell: ({ tenant }) => <Code text={tenant} /> },
    { label: "Presence", cell: ({ presence }) => <Name text={presence} /> },
    {
      label: "Members",
      number: true,
      cell: ({ presence, members }) => `${count(members)} of ${count(most.get(presence) ?? members)}`,
    },
    {
      label: "Who",
      cell: ({ tenant }) => (
        <a
          class="button"
          aria-label={`Show who is present in ${tenant}`}
          href={routeTo("presence", { presence: asked.presence, among: asked.among, tenant })}
        >
          Show
        </a>
      ),
    },
  ];
}
