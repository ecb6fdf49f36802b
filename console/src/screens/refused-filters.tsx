// Which refusals are listed.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { EdgeAnswer } from "../api/types.js";
import { maskError } from "../lib/mask.js";
import { routeTo } from "../lib/route.js";
import { cut, ID_RULE, idOf } from "../lib/text.js";
import { SelectField, TextField } from "../ui/field.js";

export type RefusedQuery = Readonly<Record<"connection_id" | "token_id" | "subject" | "ip" | "edge", string>>;

const CONNECTION_ID = /^([0-9a-f]{16})?$/;

export interface FiltersProps {
  readonly query: RefusedQuery;
  readonly edges: readonly EdgeAnswer[];
  readonly onAgain: () => void;
}

export function Filters({ query, edges, onAgain }: FiltersProps): JSX.Element {
  const [draft, setDraft] = useState(query);
  const key = JSON.stringify(query);
  useLayoutEffect(() => setDraft(query), [key]);
  const set = (field: keyof RefusedQuery) => (value: string) => setDraft((now) => ({ ...now, [field]: value.trim() }));
  const wrong = {
    connection_id: CONNECTION_ID.test(draft.connection_id) ? undefined : "It has 16 digits of 0-9 and a-f.",
    token_id: ID_RULE.test(draft.token_id) ? undefined : "An id has 32 digits of 0-9 and a-f.",
    ip: draft.ip === "" ? undefined : maskError(draft.ip),
  };
  const known = edges.map((edge) => [edge.id, cut(edge.name, 60)] as const);
  const missing =
    draft.edge !== "" && !edges.some(({ id }) => id === draft.edge) ? [[draft.edge, cut(draft.edge, 60)] as const] : [];
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter what was refused"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong.connection_id || wrong.token_id || wrong.ip) return;
          const to = routeTo("refused", draft);
          if (to === routeTo("refused", query)) onAgain();
          else location.hash = to;
        }}
      >
        <TextField
          label="Subject"
          value={draft.subject}
          onInput={(value) => setDraft((now) => ({ ...now, subject: value }))}
          hint="The whole subject."
        />
        <TextField
          label="Token id"
          value={draft.token_id}
          onInput={(value) => set("token_id")(idOf(value.trim()))}
          mono
          error={wrong.token_id}
          hint="The whole id."
        />
        <TextField
          label="Address"
          value={draft.ip}
          onInput={set("ip")}
          mono
          error={wrong.ip && `It ${wrong.ip}.`}
          hint="One, or a CIDR."
        />
        <TextField
          label="Connection id"
          value={draft.connection_id}
          onInput={set("connection_id")}
          mono
          error={wrong.connection_id}
          hint="That the client was answered."
        />
        <SelectField
          label="Edge"
          value={draft.edge}
          onInput={set("edge")}
          options={[["", "all"], ...known, ...missing]}
        />
        <div class="buttons">
          <button type="submit" class="primary">
            Filter
          </button>
          <a class="button" href={routeTo("refused")}>
            Clear
          </a>
        </div>
      </form>
    </search>
  );
}
