// Makes a master token, or changes one.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Master, MasterWithSecret } from "../api/types.js";
import { storedPrefix } from "../lib/prefix.js";
import { characters } from "../lib/text.js";
import { useConsole } from "../ui/context.js";
import { Dialog, Form } from "../ui/dialog.js";
import { TextField } from "../ui/field.js";
import { useAction } from "../ui/hooks.js";
import {
  changesOf,
  complete,
  draftOf,
  errorsOf,
  MAX_DESCRIPTION,
  MAX_NAME,
  type MasterDraft,
  specOf,
} from "./master-spec.js";

export interface MasterFormProps {
  readonly master: Master | undefined; // undefined: a new one
  readonly onClose: () => void;
  readonly onCreated: (made: MasterWithSecret) => void;
  readonly onSaved: (name: string) => void;
}

export function MasterForm({ master, onClose, onCreated, onSaved }: MasterFormProps): JSX.Element {
  const { api } = useConsole();
  const action = useAction();
  const [before] = useState(() => draftOf(master));
  const [draft, setDraft] = useState(before);
  const errors = errorsOf(draft);
  const set = (field: keyof MasterDraft) => (value: string) => setDraft((now) => ({ ...now, [field]: value }));
  const stored = storedPrefix(draft.prefix);

  const submit = async (): Promise<void> => {
    if (draft.name === "") throw new Error("give it a name, so that others know what it is for");
    if (!complete(draft)) throw new Error("correct the fields that are marked");
    if (!master) return onCreated(await api.call<MasterWithSecret>("POST", "master-tokens", { body: specOf(draft) }));
    const changes = changesOf(before, draft);
    if (Object.keys(changes).length > 0)
      await api.call("PATCH", `master-tokens/${encodeURIComponent(master.id)}`, { body: changes });
    onSaved(draft.name);
  };

  return (
    <Dialog title={master ? "Edit the master token" : "New master token"} onClose={onClose}>
      <Form action={action} submit={master ? "Save" : "Create"} onSubmit={submit} onCancel={onClose}>
        <TextField
          label="Name"
          value={draft.name}
          onInput={set("name")}
          count={{ now: characters(draft.name), most: MAX_NAME, unit: "characters" }}
          autoFocus
        />
        <TextField
          label="Description"
          value={draft.description}
          onInput={set("description")}
          rows={2}
          count={{ now: characters(draft.description), most: MAX_DESCRIPTION, unit: "characters" }}
        />
        <TextField
          label="Tenant prefix"
          value={draft.prefix}
          onInput={set("prefix")}
          mono
          error={errors.prefix}
          hint={
            stored === ""
              ? "The app's namespace. Empty: every tenant of the overlay."
              : stored === undefined
                ? undefined
                : `Stored as ${stored} – for tenants such as ${stored}room`
          }
        />
        <TextField
          label="Address masks"
          value={draft.masks}
          onInput={set("masks")}
          rows={2}
          mono
          error={errors.masks}
          hint="Who may use it: one address or CIDR a line. Empty: every address."
        />
        <fieldset>
          <legend>Quotas</legend>
          <p class="help">Left empty, the default of the edge applies.</p>
          <div class="row">
            <TextField
              label="Access tokens"
              value={draft.maxTokens}
              onInput={set("maxTokens")}
              error={errors.maxTokens}
            />
            <TextField
              label="Bytes in the store"
              value={draft.maxBytes}
              onInput={set("maxBytes")}
              error={errors.maxBytes}
            />
            <TextField label="Calls a second" value={draft.calls} onInput={set("calls")} error={errors.calls} />
          </div>
        </fieldset>
      </Form>
    </Dialog>
  );
}
