// Rotating and deleting a master token, and its secret.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Master, MasterWithSecret } from "../api/types.js";
import { caddyfileLines, quote } from "../lib/caddyfile.js";
import { plural } from "../lib/format.js";
import { Code, Name } from "../ui/bits.js";
import { Confirm } from "../ui/confirm.js";
import { useConsole } from "../ui/context.js";
import { CheckField, TextField } from "../ui/field.js";
import { Secret, Snippet } from "../ui/secret.js";

interface Props {
  readonly master: Master;
  readonly onClose: () => void;
}

const REVOKE = "Revoke the access tokens that it issued";
const REVOKE_HINT = "Their connections end at once. Otherwise they stay valid until they expire.";

const pathOf = (master: Master): string => `master-tokens/${encodeURIComponent(master.id)}`;

export function Rotate({ master, onClose, onDone }: Props & { onDone: (made: MasterWithSecret) => void }): JSX.Element {
  const { api } = useConsole();
  const [revoke, setRevoke] = useState(false);
  const confirm = async (): Promise<void> =>
    onDone(await api.call<MasterWithSecret>("POST", `${pathOf(master)}/rotate`, { body: { revoke_tokens: revoke } }));
  return (
    <Confirm title="Rotate the master token" submit="Rotate" onClose={onClose} onConfirm={confirm}>
      <p>
        <Name text={master.name} /> gets a new secret, which is shown once. The old one stops working at once.
      </p>
      <CheckField label={REVOKE} checked={revoke} onChange={setRevoke} hint={REVOKE_HINT} />
    </Confirm>
  );
}

export function Delete({ master, onClose, onDone }: Props & { onDone: (text: string) => void }): JSX.Element {
  const { api } = useConsole();
  const [revoke, setRevoke] = useState(false);
  const [typed, setTyped] = useState("");
  const confirm = async (): Promise<void> => {
    if (typed !== master.name && typed !== master.id) throw new Error("what you typed is neither its name nor its id");
    const { revoked_tokens } = await api.call<{ revoked_tokens: number }>("DELETE", pathOf(master), {
      body: { revoke_tokens: revoke },
    });
    onDone(`${master.name} was deleted.${revoke ? ` ${plural(revoked_tokens, "access token")} revoked with it.` : ""}`);
  };
  return (
    <Confirm title="Delete the master token" submit="Delete" danger onClose={onClose} onConfirm={confirm}>
      <p>
        <Name text={master.name} /> stops working at once, for good. Its id is <Code text={master.id} />.
      </p>
      <CheckField label={REVOKE} checked={revoke} onChange={setRevoke} hint={REVOKE_HINT} />
      <TextField label="Type the name to confirm" value={typed} onInput={setTyped} hint="Its id does as well." />
    </Confirm>
  );
}

export function MasterSecret({
  made,
  rotated,
  onClose,
}: {
  made: MasterWithSecret;
  rotated: boolean;
  onClose: () => void;
}): JSX.Element {
  const unquotable = [made.name, made.description ?? ""].some((text) => text !== "" && quote(text) === undefined);
  return (
    <Secret
      title={rotated ? "The new secret" : "The master token"}
      label="Master token"
      secret={made.token}
      onClose={onClose}
    >
      <p>
        It is the {rotated ? "new " : ""}secret of <Name text={made.name} />.
        {rotated && made.revoked_tokens
          ? ` ${plural(made.revoked_tokens, "access token")} that it issued revoked.`
          : ""}
      </p>
      <Snippet
        label="For an environment"
        text={`MILLRACE_MASTER_TOKEN=${made.token}`}
        copy="Copy the environment line"
      />
      <details>
        <summary>For a Caddyfile</summary>
        <p>
          Only to keep it in the configuration in place of the store, in the block <code>pubsub</code> of the global
          options, with the line above in the environment of Caddy. It is <em>static</em> then: the configuration
          counts, and this page shows it but cannot change it.
        </p>
        {unquotable && <p>Its name or description cannot be written in a Caddyfile, so the line for it is left out.</p>}
        <Snippet label="Lines for a Caddyfile" text={caddyfileLines(made)} copy="Copy the Caddyfile lines" />
      </details>
    </Secret>
  );
}
