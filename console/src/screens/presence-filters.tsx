// Which tenants are listed in which somebody is present.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { isTenant } from "../lib/prefix.js";
import { routeTo } from "../lib/route.js";
import { SelectField, TextField } from "../ui/field.js";

/** What the screen is asked for: tenants of a presence, by their beginning, and members of one of them. */
export type PresenceQuery = Readonly<Record<"presence" | "among" | "tenant" | "pattern" | "subject", string>>;

export interface FiltersProps {
  readonly query: PresenceQuery;
  readonly names: readonly string[]; // of presences
  readonly onAgain: () => void;
}

export function Filters({ query, names, onAgain }: FiltersProps): JSX.Element {
  const { presence, among } = query;
  const [draft, setDraft] = useState({ presence, among });
  useLayoutEffect(() => setDraft({ presence, among }), [presence, among]);
  const set = (field: keyof typeof draft) => (value: string) => setDraft((now) => ({ ...now, [field]: value.trim() }));
  const start = draft.among.replace(/\*$/, "");
  const wrong = start !== "" && !isTenant(start);
  const missing = draft.presence !== "" && !names.includes(draft.presence) ? [draft.presence] : [];
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter tenants"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong) return;
          const to = routeTo("presence", { ...query, ...draft });
          if (to === routeTo("presence", query)) onAgain();
          else location.hash = to;
        }}
      >
        <SelectField
          label="In presence"
          value={draft.presence}
          onInput={set("presence")}
          options={[["", "all"], ...[...names, ...missing].map((name) => [name, name] as const)]}
        />
        <TextField
          label="Of tenant"
          value={draft.among}
          onInput={set("among")}
          mono
          error={wrong ? "A tenant has 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots." : undefined}
          hint="The whole name, or its beginning and *."
        />
        <div class="buttons">
          <button type="submit" class="primary">
            Filter
          </button>
          <a class="button" href={routeTo("presence", { ...query, presence: "", among: "" })}>
            Clear
          </a>
        </div>
      </form>
    </search>
  );
}
