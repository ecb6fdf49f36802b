// Issues an access token for a trial.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Issued } from "../api/types.js";
import { isTenant } from "../lib/prefix.js";
import { bytes, characters, lines } from "../lib/text.js";
import { useConsole } from "../ui/context.js";
import { Dialog, Form } from "../ui/dialog.js";
import { CheckField, TextField } from "../ui/field.js";
import { useAction } from "../ui/hooks.js";
import { masksError, quotaError } from "./master-spec.js";
import { ExpiryField, expiryFrom } from "./token-actions.js";

const MAX_CREATED_BY = 256; // bytes
const MAX_SUBJECT = 128; // bytes
const MAX_CAP = 2 ** 31;

export function Issue({ onClose, onIssued }: { onClose: () => void; onIssued: (issued: Issued) => void }): JSX.Element {
  const { api, session } = useConsole();
  const action = useAction();
  const [draft, setDraft] = useState({
    createdBy: session.operator ?? "",
    description: "",
    subject: "",
    tenants: "",
    pub: "",
    sub: "#",
    history: "",
    presence: "",
    end: "15m",
    masks: "",
    origins: "",
    regions: "",
    ingress: "",
    egress: "",
    websocket: true,
    webtransport: true,
  });
  type Draft = typeof draft;
  const set =
    <K extends keyof Draft>(field: K) =>
    (value: Draft[K]) =>
      setDraft((now) => ({ ...now, [field]: value }));
  const wrongTenant = lines(draft.tenants).find((name) => !isTenant(name));

  const submit = async (): Promise<void> => {
    const tenants = lines(draft.tenants);
    if (tenants.length === 0) throw new Error("name at least one tenant");
    if (draft.createdBy === "") throw new Error("say who creates it");
    if (!draft.websocket && !draft.webtransport) throw new Error("allow at least one transport");
    if (wrongTenant || masksError(lines(draft.masks)) || quotaError(draft.ingress) || quotaError(draft.egress))
      throw new Error("correct the fields that are marked");
    const cap = (text: string): number | undefined => (text === "" ? undefined : Number(text));
    const one = draft.websocket !== draft.webtransport;
    const body = {
      created_by: draft.createdBy,
      description: draft.description,
      subject: draft.subject === "" ? undefined : draft.subject,
      right: {
        tenant_grants: [
          {
            tenant_ids: tenants,
            allow_channels_pub: lines(draft.pub),
            allow_channels_sub: lines(draft.sub),
            allow_channels_history: lines(draft.history),
            allow_channels_presence: lines(draft.presence),
          },
        ],
        allow_ip_masks: lines(draft.masks),
        allowed_ws_origin: lines(draft.origins),
        allow_regions: lines(draft.regions),
        allow_protocols: one ? [draft.websocket ? "websocket" : "webtransport"] : [],
        ingress_kb_per_sec: cap(draft.ingress),
        egress_kb_per_sec: cap(draft.egress),
        expires_at: expiryFrom(draft.end, api.serverNow()),
      },
    };
    onIssued(await api.call<Issued>("POST", "tokens", { body }));
  };

  return (
    <Dialog title="Issue a trial token" onClose={onClose}>
      <p class="quiet">For a trial. Apps get theirs from their backend, which holds a master token.</p>
      <Form action={action} submit="Issue" onSubmit={submit} onCancel={onClose}>
        <TextField
          label="Tenants"
          value={draft.tenants}
          onInput={set("tenants")}
          rows={2}
          mono
          autoFocus
          error={wrongTenant && `${wrongTenant} is no tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.`}
          hint="Whole names, one a line."
        />
        <div class="row">
          <TextField
            label="May publish to"
            value={draft.pub}
            onInput={set("pub")}
            rows={2}
            mono
            hint="Channel rules, one a line."
          />
          <TextField
            label="May subscribe to"
            value={draft.sub}
            onInput={set("sub")}
            rows={2}
            mono
            hint="# is every channel."
          />
        </div>
        <div class="row">
          <TextField
            label="May read stored messages of"
            value={draft.history}
            onInput={set("history")}
            rows={2}
            mono
            hint="Of what it may subscribe to. Nothing: subscriptions begin now."
          />
          <TextField
            label="May see who is present in"
            value={draft.presence}
            onInput={set("presence")}
            rows={2}
            mono
            hint="To join needs no more than to subscribe, and a subject."
          />
        </div>
        <ExpiryField label="Valid until" value={draft.end} onInput={set("end")} />
        <div class="row">
          <TextField
            label="Created by"
            value={draft.createdBy}
            onInput={set("createdBy")}
            count={{ now: bytes(draft.createdBy), most: MAX_CREATED_BY, unit: "bytes" }}
          />
          <TextField
            label="Description"
            value={draft.description}
            onInput={set("description")}
            count={{ now: characters(draft.description), most: 512, unit: "characters" }}
          />
        </div>
        <TextField
          label="Subject"
          value={draft.subject}
          onInput={set("subject")}
          count={{ now: bytes(draft.subject), most: MAX_SUBJECT, unit: "bytes" }}
          hint="Whose it is. Subscribers may see it."
        />
        <details>
          <summary>More limits</summary>
          <TextField
            label="Address masks"
            value={draft.masks}
            onInput={set("masks")}
            mono
            error={masksError(lines(draft.masks))}
          />
          <TextField
            label="Origins of pages"
            value={draft.origins}
            onInput={set("origins")}
            mono
            hint="Such as https://app.example.com"
          />
          <TextField label="Regions" value={draft.regions} onInput={set("regions")} mono hint="Such as EU or US" />
          <fieldset>
            <legend>Transports</legend>
            <CheckField label="WebSocket" checked={draft.websocket} onChange={set("websocket")} />
            <CheckField label="WebTransport" checked={draft.webtransport} onChange={set("webtransport")} />
          </fieldset>
          <div class="row">
            <TextField
              label="May send, KB/s"
              value={draft.ingress}
              onInput={set("ingress")}
              error={quotaError(draft.ingress, MAX_CAP)}
            />
            <TextField
              label="May receive, KB/s"
              value={draft.egress}
              onInput={set("egress")}
              error={quotaError(draft.egress, MAX_CAP)}
            />
          </div>
        </details>
      </Form>
    </Dialog>
  );
}
