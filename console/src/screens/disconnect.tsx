// Closes one connection, or all of a token.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Connection, Disconnected } from "../api/types.js";
import { plural } from "../lib/format.js";
import { routeTo } from "../lib/route.js";
import { join } from "../lib/text.js";
import { Code, Name } from "../ui/bits.js";
import { Confirm } from "../ui/confirm.js";
import { useConsole } from "../ui/context.js";
import { CheckField } from "../ui/field.js";

export interface Target {
  readonly connection?: Connection; // none: only all of the token
  readonly tokenID: string;
}

export function Disconnect({
  target,
  onClose,
  onDone,
}: {
  target: Target;
  onClose: () => void;
  onDone: (text: string) => void;
}): JSX.Element {
  const { api } = useConsole();
  const { connection, tokenID } = target;
  const [all, setAll] = useState(connection === undefined);
  const confirm = async (): Promise<void> => {
    const body = all || !connection ? { token_id: tokenID } : { edge: connection.edge, id: connection.id };
    const {
      disconnected,
      unanswered,
      silent: lost,
    } = await api.call<Disconnected>("POST", "connections/disconnect", { body });
    const silent = unanswered ?? [];
    const missed =
      silent.length > 0 ? ` Not reached: ${join(silent.slice(0, 10))}, which did not answer. Try again later.` : "";
    const named = lost?.length ? ` Silent, and so not asked: ${join(lost.slice(0, 10))}.` : "";
    onDone(`${plural(disconnected, "connection")} disconnected.${missed}${named}`);
  };
  return (
    <Confirm
      title={connection ? "Disconnect this connection" : "Disconnect all of this token"}
      submit="Disconnect"
      danger
      onClose={onClose}
      onConfirm={confirm}
    >
      {connection && (
        <p>
          Connection {connection.id} at <Name text={connection.edge_name} /> is closed.
        </p>
      )}
      {connection && (
        <CheckField label="All connections of its token" checked={all} onChange={setAll} hint="At every edge." />
      )}
      {!connection && (
        <p>
          All connections of the token <Code text={tokenID} /> are closed, at every edge.
        </p>
      )}
      <p>
        A client may come back while its token is valid. To keep it away,{" "}
        <a href={routeTo("tokens", { id: tokenID })}>revoke the token</a> in place of this.
      </p>
    </Confirm>
  );
}
