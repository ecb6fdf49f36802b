// Deletes what a history keeps: of a channel, of a tenant, or all of it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { count } from "../lib/format.js";
import { Code, Name } from "../ui/bits.js";
import { Confirm } from "../ui/confirm.js";
import { useConsole } from "../ui/context.js";
import { TextField } from "../ui/field.js";

export interface PurgeTarget {
  readonly history: string;
  readonly tenant?: string; // none: all tenants
}

export interface PurgeProps {
  readonly target: PurgeTarget;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

export function Purge({ target, onClose, onDone }: PurgeProps): JSX.Element {
  const { api } = useConsole();
  const { history, tenant } = target;
  const [channel, setChannel] = useState("");
  const [typed, setTyped] = useState("");
  const what = tenant ? "tenant" : "history";
  const confirm = async (): Promise<void> => {
    if (typed !== (tenant ?? history)) throw new Error(`what you typed is not the name of the ${what}`);
    const body = tenant ? { history, tenant, channel: channel || undefined } : { history, all: true };
    const { removed } = await api.call<{ removed: number }>("POST", "histories/purge", { body });
    const of = [channel && `channel ${channel}`, tenant && `tenant ${tenant}`, `history ${history}`];
    const place = of.filter((part) => part).join(", ");
    onDone(`${removed === 1 ? "1 message was" : `${count(removed)} messages were`} removed: ${place}.`);
  };
  return (
    <Confirm
      title={tenant ? "Purge a tenant" : "Purge a whole history"}
      submit="Purge"
      danger
      onClose={onClose}
      onConfirm={confirm}
    >
      <p>
        {tenant ? (
          <>
            All messages that the history <Name text={history} /> keeps of <Code text={tenant} /> are deleted for good.
          </>
        ) : (
          <>
            All messages that the history <Name text={history} /> keeps are deleted for good, of all tenants.
          </>
        )}{" "}
        Clients that come back from before are notified of a gap.
      </p>
      {tenant && (
        <TextField
          label="Only this channel"
          value={channel}
          onInput={(value) => setChannel(value.trim())}
          mono
          hint="Its whole name. Empty: all channels."
        />
      )}
      <TextField label="Type the name to confirm" value={typed} onInput={setTyped} hint={`The name of the ${what}.`} />
    </Confirm>
  );
}
