// Master tokens: those of the store, and those of the configuration.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Master, MasterWithSecret } from "../api/types.js";
import { count, plural, size } from "../lib/format.js";
import { Badge, Code, Empty, Facts, Heading, Loading, Name, Stale, Time } from "../ui/bits.js";
import { useConsole, useManager } from "../ui/context.js";
import { TextField } from "../ui/field.js";
import { usePoll } from "../ui/hooks.js";
import { Pages } from "../ui/table.js";
import { Delete, MasterSecret, Rotate } from "./master-actions.js";
import { MasterForm } from "./master-form.js";

const PAGE = 25;
const EVERY = 30_000; // ms; somebody else may change them

type Open =
  | { readonly what: "new" }
  | { readonly what: "edit" | "rotate" | "delete"; readonly master: Master }
  | { readonly what: "secret"; readonly made: MasterWithSecret; readonly rotated: boolean };

export function Masters(): JSX.Element {
  const { api, notify } = useConsole();
  const manager = useManager();
  const [open, setOpen] = useState<Open>();
  const load = usePoll("masters", EVERY, (options) =>
    api.get<{ master_tokens: Master[] | null }>("master-tokens", options),
  );
  const close = (): void => setOpen(undefined);
  const done = (text: string): void => {
    close();
    notify(text);
    load.refresh();
  };
  const made = (secret: MasterWithSecret, rotated: boolean): void => {
    setOpen({ what: "secret", made: secret, rotated });
    load.refresh();
  };
  return (
    <>
      <Heading text="Master tokens">
        {manager && (
          <button type="button" class="primary" onClick={() => setOpen({ what: "new" })}>
            New master token
          </button>
        )}
      </Heading>
      <p class="quiet">With a master token, the backend of an app issues access tokens to its clients.</p>
      <Stale error={load.error} known={load.data !== undefined} />
      {!load.data && !load.error && <Loading what="the master tokens" />}
      {load.data && <List masters={load.data.master_tokens ?? []} onOpen={setOpen} />}
      {open?.what === "new" && (
        <MasterForm master={undefined} onClose={close} onCreated={(m) => made(m, false)} onSaved={done} />
      )}
      {open?.what === "edit" && (
        <MasterForm
          master={open.master}
          onClose={close}
          onCreated={(m) => made(m, false)}
          onSaved={(name) => done(`${name} was saved.`)}
        />
      )}
      {open?.what === "rotate" && <Rotate master={open.master} onClose={close} onDone={(m) => made(m, true)} />}
      {open?.what === "delete" && <Delete master={open.master} onClose={close} onDone={done} />}
      {open?.what === "secret" && <MasterSecret made={open.made} rotated={open.rotated} onClose={close} />}
    </>
  );
}

function List({ masters, onOpen }: { masters: readonly Master[]; onOpen: (open: Open) => void }): JSX.Element {
  const manager = useManager();
  const [filter, setFilter] = useState("");
  const [page, setPage] = useState(1);
  if (masters.length === 0) {
    return (
      <Empty>
        <p>There is no master token yet.</p>
        <p>
          {manager
            ? "Make one with the button above, and give its secret to the backend of your app."
            : "A manager can make one here."}
        </p>
      </Empty>
    );
  }
  const needle = filter.toLowerCase();
  const found = masters.filter((m) => `${m.id}\n${m.name}\n${m.tenant_prefix}`.toLowerCase().includes(needle));
  const current = Math.min(page, Math.max(1, Math.ceil(found.length / PAGE)));
  return (
    <>
      {masters.length > 8 && (
        <div class="filters">
          <TextField label="Find" value={filter} onInput={setFilter} hint="By name, prefix or id." />
          <p class="quiet" role="status">
            {found.length} of {plural(masters.length, "master token")}
          </p>
        </div>
      )}
      <div class="cards">
        {found.slice((current - 1) * PAGE, current * PAGE).map((master) => (
          <Card key={master.id} master={master} onOpen={onOpen} />
        ))}
      </div>
      {found.length === 0 && <Empty>None has this in its name, prefix or id. Type less of it.</Empty>}
      <Pages
        page={current}
        more={current * PAGE < found.length}
        onPrevious={() => setPage(current - 1)}
        onNext={() => setPage(current + 1)}
      />
    </>
  );
}

function Card({ master, onOpen }: { master: Master; onOpen: (open: Open) => void }): JSX.Element {
  const manager = useManager();
  const { name } = master;
  return (
    <article class="card" aria-label={`Master token ${name}`}>
      <div class="card-head">
        <h2>
          <Name text={name} most={64} />
        </h2>
        {master.static && <Badge>in the Caddyfile</Badge>}
      </div>
      {master.description && (
        <p>
          <Name text={master.description} most={200} />
        </p>
      )}
      <Facts
        of={[
          [
            "Tenant prefix",
            master.tenant_prefix ? <Code text={master.tenant_prefix} key="prefix" /> : "none: every tenant",
          ],
          ["Address masks", <Masks masks={master.allow_ip_masks ?? []} key="masks" />],
          ["Quotas", quotas(master), "wide"],
          !master.static && ["Made", <Time at={master.created_at} key="made" />],
          ["Id", <Code text={master.id} key="id" />, "wide"],
        ]}
      />
      {master.static ? (
        <p class="quiet">To change it, edit its master_token block in the configuration, and reload.</p>
      ) : (
        manager && (
          <div class="buttons">
            <button type="button" aria-label={`Edit ${name}`} onClick={() => onOpen({ what: "edit", master })}>
              Edit
            </button>
            <button type="button" aria-label={`Rotate ${name}`} onClick={() => onOpen({ what: "rotate", master })}>
              Rotate
            </button>
            <button type="button" aria-label={`Delete ${name}`} onClick={() => onOpen({ what: "delete", master })}>
              Delete
            </button>
          </div>
        )
      )}
    </article>
  );
}

function Masks({ masks }: { masks: readonly string[] }): JSX.Element {
  if (masks.length === 0) return <>none: every address</>;
  return (
    <span class="list">
      {masks.slice(0, 8).map((mask) => (
        <Code key={mask} text={mask} />
      ))}
      {masks.length > 8 && <span>and {masks.length - 8} more</span>}
    </span>
  );
}

function quotas(m: Master): string {
  const all = [
    m.max_tokens && plural(m.max_tokens, "access token"),
    m.max_bytes && `${size(m.max_bytes)} in the store`,
    m.calls_per_second && `${count(m.calls_per_second)} calls a second`,
  ].filter((text) => text);
  return all.length === 0 ? "the edge's defaults" : all.join(", ");
}
