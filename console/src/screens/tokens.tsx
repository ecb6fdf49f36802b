// Access tokens: search, what each allows, and what can be done with it.
import type { JSX } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import type { AccessToken, Issued } from "../api/types.js";
import { plural } from "../lib/format.js";
import { routeTo } from "../lib/route.js";
import { ID_RULE, idOf, join } from "../lib/text.js";
import { Badge, Code, Empty, Heading, Loading, type Mood, Name, Stale, Time, utcText } from "../ui/bits.js";
import { useConsole, useManager } from "../ui/context.js";
import { SelectField, TextField } from "../ui/field.js";
import { Secret } from "../ui/secret.js";
import { type Column, Expand, Pages, Table } from "../ui/table.js";
import { Explain } from "./explain.js";
import type { ScreenProps } from "./screens.js";
import { Refresh, Revoke, RevokeSubject } from "./token-actions.js";
import { TokenDetail } from "./token-detail.js";
import { Issue } from "./token-issue.js";
import { type TokenQuery, useTokenSearch } from "./token-search.js";

export type TokenAction = "refresh" | "revoke" | "explain";

type Open =
  | { readonly what: "issue" }
  | { readonly what: "issued"; readonly issued: Issued }
  | { readonly what: "explain"; readonly token: AccessToken | undefined }
  | { readonly what: "refresh" | "revoke"; readonly token: AccessToken }
  | { readonly what: "revoke subject"; readonly subject: string };

const statuses = [
  ["", "any"],
  ["valid", "valid"],
  ["expired", "expired"],
  ["revoked", "revoked"],
] as const;

export const statusMood: Readonly<Record<string, Mood>> = { valid: "good", expired: "plain", revoked: "bad" };

export function Tokens({ query }: ScreenProps): JSX.Element {
  const { api, notify } = useConsole();
  const manager = useManager();
  const [open, setOpen] = useState<Open>();
  const asked: TokenQuery = {
    id: query.id ?? "",
    tenant: query.tenant ?? "",
    subject: query.subject ?? "",
    created_by: query.created_by ?? "",
    status: query.status ?? "",
  };
  const search = useTokenSearch(api, asked);
  const close = (): void => setOpen(undefined);
  const done = (text: string): void => {
    close();
    notify(text);
    search.refresh();
  };
  return (
    <>
      <Heading text="Access tokens">
        <button type="button" onClick={() => setOpen({ what: "explain", token: undefined })}>
          Explain
        </button>
        {manager && asked.subject !== "" && (
          <button type="button" onClick={() => setOpen({ what: "revoke subject", subject: asked.subject })}>
            Revoke all of this subject
          </button>
        )}
        {manager && (
          <button type="button" class="primary" onClick={() => setOpen({ what: "issue" })}>
            Issue a trial token
          </button>
        )}
      </Heading>
      <Filters query={asked} onSearchAgain={search.refresh} />
      <Stale error={search.error} known={false} />
      <Results
        search={search}
        filtered={Object.values(asked).some((value) => value !== "")}
        onAction={(what, token) => setOpen({ what, token })}
      />
      {open?.what === "issue" && (
        <Issue
          onClose={close}
          onIssued={(issued) => {
            setOpen({ what: "issued", issued });
            search.refresh();
          }}
        />
      )}
      {open?.what === "issued" && (
        <Secret title="The access token" label="Access token" secret={open.issued.token} onClose={close}>
          <p>
            Its id is <Code text={open.issued.token_id} />. It expires {utcText(open.issued.expires_at)}.
          </p>
        </Secret>
      )}
      {open?.what === "explain" && <Explain token={open.token} onClose={close} />}
      {open?.what === "refresh" && <Refresh token={open.token} onClose={close} onDone={done} />}
      {open?.what === "revoke" && <Revoke token={open.token} onClose={close} onDone={done} />}
      {open?.what === "revoke subject" && <RevokeSubject subject={open.subject} onClose={close} onDone={done} />}
    </>
  );
}

function Filters({ query, onSearchAgain }: { query: TokenQuery; onSearchAgain: () => void }): JSX.Element {
  const [draft, setDraft] = useState(query);
  const key = JSON.stringify(query);
  useLayoutEffect(() => setDraft(query), [key]);
  const set = (field: keyof TokenQuery) => (value: string) => setDraft((now) => ({ ...now, [field]: value.trim() }));
  return (
    <search>
      <form
        class="filters"
        aria-label="Search access tokens"
        onSubmit={(event) => {
          event.preventDefault();
          if (!ID_RULE.test(draft.id)) return;
          const to = routeTo("tokens", draft);
          if (to === routeTo("tokens", query)) onSearchAgain();
          else location.hash = to;
        }}
      >
        <TextField
          label="Id"
          value={draft.id}
          onInput={(value) => set("id")(idOf(value.trim()))}
          mono
          error={ID_RULE.test(draft.id) ? undefined : "An id has up to 32 digits of 0-9 and a-f."}
          hint="Its beginning will do."
        />
        <TextField label="Tenant" value={draft.tenant} onInput={set("tenant")} mono hint="The whole name." />
        <TextField
          label="Subject"
          value={draft.subject}
          onInput={(value) => setDraft((now) => ({ ...now, subject: value }))}
          hint="The whole subject."
        />
        <TextField
          label="Created by"
          value={draft.created_by}
          onInput={(value) => setDraft((now) => ({ ...now, created_by: value }))}
          hint="The whole label."
        />
        <SelectField label="State" value={draft.status} onInput={set("status")} options={statuses} />
        <div class="buttons">
          <button type="submit" class="primary">
            Search
          </button>
          <a class="button" href={routeTo("tokens")}>
            Clear
          </a>
        </div>
      </form>
    </search>
  );
}

interface ResultsProps {
  readonly search: ReturnType<typeof useTokenSearch>;
  readonly filtered: boolean;
  readonly onAction: (what: TokenAction, token: AccessToken) => void;
}

function Results({ search, filtered, onAction }: ResultsProps): JSX.Element {
  const [expanded, expand] = useState<string>();
  const manager = useManager();
  const { found, busy } = search;
  const tokens = found?.tokens ?? [];
  const stopped = !busy && found !== undefined && found.next !== "" && tokens.length === 0;
  return (
    <>
      <div role="status" class="with-button">
        {busy && found && found.asked > 0 && (
          <span>Still searching: {plural(tokens.length, "token")} found so far.</span>
        )}
        {stopped && <span>The search was stopped before its end.</span>}
      </div>
      {busy && found && found.asked > 0 && (
        <button type="button" onClick={search.stop}>
          Stop the search
        </button>
      )}
      {stopped && (
        <button type="button" onClick={search.goOn}>
          Search on
        </button>
      )}
      {busy && !found && <Loading what="the access tokens" />}
      {tokens.length > 0 && (
        <Table
          label="Access tokens"
          columns={columns(expanded, expand)}
          rows={tokens}
          keyOf={(token) => token.token_id}
          busy={busy}
          detail={(token) =>
            expanded === token.token_id && <TokenDetail token={token} onAction={(what) => onAction(what, token)} />
          }
        />
      )}
      {!busy && found && tokens.length === 0 && found.next === "" && (
        <Empty>
          {filtered ? (
            <p>
              No access token matches. Ask for less, or clear the search. Tokens are forgotten a day after they expire.
            </p>
          ) : (
            <p>
              There is no access token yet. Backends issue them with a master token
              {manager ? "; the button above issues one for a trial" : ""}.
            </p>
          )}
        </Empty>
      )}
      <Pages
        page={search.page}
        more={!busy && !stopped && (found?.next ?? "") !== ""}
        onPrevious={search.previous}
        onNext={search.next}
      />
    </>
  );
}

function columns(expanded: string | undefined, expand: (id: string | undefined) => void): Column<AccessToken>[] {
  return [
    {
      label: "Id",
      cell: ({ token_id }) => (
        <Expand
          open={expanded === token_id}
          label={`Details of token ${token_id.slice(0, 12)}`}
          onToggle={() => expand(expanded === token_id ? undefined : token_id)}
        >
          <code>{token_id.slice(0, 12)}</code>
        </Expand>
      ),
    },
    { label: "Subject", cell: ({ subject }) => (subject ? <Name text={subject} most={40} /> : <>–</>) },
    { label: "Created by", cell: ({ created_by }) => <Name text={created_by} most={40} /> },
    {
      label: "Tenants",
      cell: ({ right }) => <Tenants names={(right.tenant_grants ?? []).flatMap((grant) => grant.tenant_ids ?? [])} />,
    },
    { label: "State", cell: ({ status }) => <Badge mood={statusMood[status] ?? "plain"}>{status}</Badge> },
    { label: "Made", cell: ({ created_at }) => <Time at={created_at} /> },
    { label: "Ends", cell: ({ expires_at }) => <Time at={expires_at} /> },
  ];
}

/** The first tenants of a list. */
export function Tenants({ names }: { names: readonly string[] }): JSX.Element {
  const all = [...new Set(names)];
  if (all.length === 0) return <>–</>;
  return (
    <span class="list" title={all.length > 2 ? join(all.slice(0, 50)) : undefined}>
      {all.slice(0, 2).map((name) => (
        <Code key={name} text={name} most={40} />
      ))}
      {all.length > 2 && <span class="quiet">and {all.length - 2} more</span>}
    </span>
  );
}
