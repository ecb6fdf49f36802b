// Who is present in the channels of a tenant.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Member, MemberPage } from "../api/types.js";
import { plural } from "../lib/format.js";
import { isTenant } from "../lib/prefix.js";
import { routeTo, searchOf } from "../lib/route.js";
import { cut } from "../lib/text.js";
import { Code, Empty, Loading, Name, Stale, Time } from "../ui/bits.js";
import { useConsole } from "../ui/context.js";
import { TextField } from "../ui/field.js";
import { usePoll } from "../ui/hooks.js";
import { type Column, Pages, Table } from "../ui/table.js";
import type { PresenceQuery } from "./presence-filters.js";

const PAGE = 100; // members
const EVERY = 5000; // ms

export function Members({ query }: { query: PresenceQuery }): JSX.Element {
  const heading = useRef<HTMLHeadingElement>(null);
  const [again, setAgain] = useState(0);
  const { tenant } = query;
  useEffect(() => {
    if (tenant !== "") heading.current?.focus();
  }, [tenant]);
  return (
    <section aria-labelledby="members">
      <h2 id="members" tabIndex={-1} ref={heading}>
        Members
      </h2>
      <Search query={query} onAgain={() => setAgain((n) => n + 1)} />
      {isTenant(tenant) && (
        <Found key={searchOf({ tenant, pattern: query.pattern, subject: query.subject, again })} query={query} />
      )}
    </section>
  );
}

function Search({ query, onAgain }: { query: PresenceQuery; onAgain: () => void }): JSX.Element {
  const { tenant, pattern, subject } = query;
  const [draft, setDraft] = useState({ tenant, pattern, subject });
  const [missing, setMissing] = useState(false);
  useLayoutEffect(() => setDraft({ tenant, pattern, subject }), [tenant, pattern, subject]);
  const set = (field: keyof typeof draft) => (value: string) => setDraft((now) => ({ ...now, [field]: value }));
  const wrong = draft.tenant === "" ? missing : !isTenant(draft.tenant);
  return (
    <search>
      <form
        class="filters"
        aria-label="Who is present"
        onSubmit={(event) => {
          event.preventDefault();
          setMissing(draft.tenant === "");
          if (!isTenant(draft.tenant)) return;
          const to = routeTo("presence", { ...query, ...draft });
          if (to === routeTo("presence", query)) onAgain();
          else location.hash = to;
        }}
      >
        <TextField
          label="Tenant"
          value={draft.tenant}
          onInput={(value) => set("tenant")(value.trim())}
          mono
          error={wrong ? "A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots." : undefined}
        />
        <TextField
          label="Pattern"
          value={draft.pattern}
          onInput={(value) => set("pattern")(value.trim())}
          mono
          hint="room.* for example; nothing: all."
        />
        <TextField label="Subject" value={draft.subject} onInput={set("subject")} hint="The whole subject." />
        <div class="buttons">
          <button type="submit" class="primary">
            Show
          </button>
        </div>
      </form>
    </search>
  );
}

function Found({ query }: { query: PresenceQuery }): JSX.Element {
  const { api } = useConsole();
  const [starts, setStarts] = useState<readonly string[]>([""]); // where each page begins, to the one that is shown
  const { tenant, pattern, subject } = query;
  const path = `presences/members${searchOf({ tenant, pattern, subject, limit: PAGE, cursor: starts[starts.length - 1] })}`;
  const { data, stale, error } = usePoll(path, EVERY, (options) => api.get<MemberPage>(path, options));
  const rows = data?.members ?? [];
  return (
    <>
      <Stale error={error} known={data !== undefined} />
      {!data && !error && <Loading what="the members" />}
      {data && (
        <p>
          {plural(data.total.members, "member")} in {plural(data.total.channels, "channel")} of{" "}
          <Code text={pattern === "" ? "#" : pattern} /> in <Code text={tenant} />, the oldest first.
          {subject !== "" && (
            <>
              {" "}
              Only <Name text={subject} most={128} /> is listed.
            </>
          )}
        </p>
      )}
      {rows.length > 0 && <Table label="Members" columns={columns} rows={rows} keyOf={keyOf} busy={stale} />}
      {data && !stale && rows.length === 0 && starts.length === 1 && (
        <Empty>
          <p>{subject === "" ? "Nobody is present there now." : "This subject is not present there now."}</p>
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

const keyOf = ({ channel, subject }: Member): string => `${channel}\n${subject}`;

const columns: readonly Column<Member>[] = [
  { label: "Channel", cell: ({ channel }) => <Code text={channel} most={120} /> },
  {
    label: "Subject",
    cell: ({ subject }) => (
      <a href={routeTo("connections", { subject })} aria-label={`Connections of ${cut(subject, 60)}`}>
        <Name text={subject} most={60} />
      </a>
    ),
  },
  { label: "Since", cell: ({ since }) => <Time at={since} /> },
  { label: "Info", cell: ({ info }) => (info ? <Code text={JSON.stringify(info)} /> : <>–</>) },
];
