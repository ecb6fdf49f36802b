// Which connections are listed.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { EdgeCount } from "../api/types.js";
import { maskError } from "../lib/mask.js";
import { routeTo } from "../lib/route.js";
import { cut, ID_RULE, idOf } from "../lib/text.js";
import { SelectField, TextField } from "../ui/field.js";

export type ConnectionQuery = Readonly<
  Record<"token_id" | "subject" | "tenant" | "ip" | "transport" | "limited" | "edge", string>
>;

const transports = [
  ["", "any"],
  ["websocket", "WebSocket"],
  ["webtransport", "WebTransport"],
] as const;

const waits = [
  ["", "any"],
  ["true", "waiting for a cap"],
] as const;

export interface FiltersProps {
  readonly query: ConnectionQuery;
  readonly edges: readonly EdgeCount[];
  readonly onAgain: () => void;
}

export function Filters({ query, edges, onAgain }: FiltersProps): JSX.Element {
  const [draft, setDraft] = useState(query);
  const key = JSON.stringify(query);
  useLayoutEffect(() => setDraft(query), [key]);
  const set = (field: keyof ConnectionQuery) => (value: string) =>
    setDraft((now) => ({ ...now, [field]: value.trim() }));
  const wrong = draft.ip === "" ? undefined : maskError(draft.ip);
  const known = edges.map((edge) => [edge.id, cut(edge.name, 60)] as const);
  const missing =
    draft.edge !== "" && !edges.some(({ id }) => id === draft.edge) ? [[draft.edge, cut(draft.edge, 60)] as const] : [];
  return (
    <search>
      <form
        class="filters"
        aria-label="Filter connections"
        onSubmit={(event) => {
          event.preventDefault();
          if (wrong || !ID_RULE.test(draft.token_id)) return;
          const to = routeTo("connections", draft);
          if (to === routeTo("connections", query)) onAgain();
          else location.hash = to;
        }}
      >
        <TextField
          label="Token id"
          value={draft.token_id}
          onInput={(value) => set("token_id")(idOf(value.trim()))}
          mono
          error={ID_RULE.test(draft.token_id) ? undefined : "An id has 32 digits of 0-9 and a-f."}
          hint="The whole id."
        />
        <TextField
          label="Subject"
          value={draft.subject}
          onInput={(value) => setDraft((now) => ({ ...now, subject: value }))}
          hint="The whole subject."
        />
        <TextField label="Tenant" value={draft.tenant} onInput={set("tenant")} mono />
        <TextField
          label="Address"
          value={draft.ip}
          onInput={set("ip")}
          mono
          error={wrong && `It ${wrong}.`}
          hint="One, or a CIDR."
        />
        <SelectField label="Transport" value={draft.transport} onInput={set("transport")} options={transports} />
        <SelectField label="Messages" value={draft.limited} onInput={set("limited")} options={waits} />
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
          <a class="button" href={routeTo("connections")}>
            Clear
          </a>
        </div>
      </form>
    </search>
  );
}
