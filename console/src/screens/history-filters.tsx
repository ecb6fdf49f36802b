// The filters of the list of tenants.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isTenant } from "../lib/prefix.js";
import { routeTo } from "../lib/route.js";
import { SelectField, TextField } from "../ui/field.js";

export type HistoryQuery = Readonly<Record<"history" | "tenant", string>>;

export interface FiltersProps {
  readonly query: HistoryQuery;
  readonly names: readonly string[]; // of histories
  readonly onAgain: () => void;
}

export function Filters({ query, names, onAgain }: FiltersProps): JSX.Element {
  const [draft, setDraft] = useState(query);
  const key = JSON.stringify(query);
  useLayoutEffect(() => setDraft(query), [key]);
  const set = (field: keyof HistoryQuery) => (value: string) => setDraft((now) => ({ ...now, [field]: value.trim() }));
  const start = draft.tenant.replace(/\*$/, "");
  const wrong = start !== "" && !isTenant(start);
  const missing = draft.history !== "" && !names.includes(draft.history) ? [draft.history] : [];
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter what is kept"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong) return;
          const to = routeTo("histories", draft);
          if (to === routeTo("histories", query)) onAgain();
          else location.hash = to;
        }}
      >
        <SelectField
          label="In history"
          value={draft.history}
          onInput={set("history")}
          options={[["", "all"], ...[...names, ...missing].map((name) => [name, name] as const)]}
        />
        <TextField
          label="Of tenant"
          value={draft.tenant}
          onInput={set("tenant")}
          mono
          error={wrong ? "A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots." : undefined}
          hint="The whole name, or its beginning and *."
        />
        <div class="buttons">
          <button type="submit" class="primary">
            Filter
          </button>
          <a class="button" href={routeTo("histories")}>
            Clear
          </a>
        </div>
      </form>
    </search>
  );
}
