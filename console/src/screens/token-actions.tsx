// A new end for an access token, and its early end.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sentence } from "../api/problem.js";
import type { AccessToken, ConnectionPage, SubjectRevoked } from "../api/types.js";
import { parseExpiry } from "../lib/expiry.js";
import { ago, plural, utc } from "../lib/format.js";
import { searchOf } from "../lib/route.js";
import { join } from "../lib/text.js";
import { Code, Name, Time } from "../ui/bits.js";
import { Confirm } from "../ui/confirm.js";
import { useConsole } from "../ui/context.js";
import { TextField } from "../ui/field.js";
import { countSubject } from "./token-search.js";

interface Ending {
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

interface Props extends Ending {
  readonly token: AccessToken;
}

const pathOf = (token: AccessToken): string => `tokens/${encodeURIComponent(token.token_id)}`;

/** A field for the end of a token, which says when that is. */
export function ExpiryField({
  label,
  value,
  onInput,
}: {
  label: string;
  value: string;
  onInput: (value: string) => void;
}): JSX.Element {
  const { api } = useConsole();
  const now = api.serverNow();
  const end = parseExpiry(value, now);
  return (
    <TextField
      label={label}
      value={value}
      onInput={onInput}
      options={["5m", "15m", "1h", "8h", "24h"]}
      error={value === "" ? undefined : end.error}
      hint={
        end.at
          ? `It ends ${utc(end.at.getTime())}, ${ago(end.at.getTime(), now)}.`
          : "A duration such as 15m or 1h 30m, or a time; at most 24 hours."
      }
    />
  );
}

/** expiryFrom reads what was typed, or throws what is wrong with it. */
export function expiryFrom(text: string, now: number): string {
  const end = parseExpiry(text, now);
  if (!end.at) throw new Error(end.error);
  return end.at.toISOString().replace(/\.\d+Z$/, "Z");
}

export function Refresh({ token, onClose, onDone }: Props): JSX.Element {
  const { api } = useConsole();
  const [end, setEnd] = useState("1h");
  const confirm = async (): Promise<void> => {
    const body = { expires_at: expiryFrom(end, api.serverNow()) };
    const { new_expires_at } = await api.call<{ new_expires_at: string }>("PUT", pathOf(token), { body });
    onDone(`The token ${token.token_id.slice(0, 12)}… now ends ${utc(new_expires_at)}.`);
  };
  return (
    <Confirm title="Refresh the access token" submit="Refresh" onClose={onClose} onConfirm={confirm}>
      <p>
        The token <Code text={token.token_id} /> of <Name text={token.created_by} most={40} /> ends{" "}
        <Time at={token.expires_at} />. Its open connections go on until the new end.
      </p>
      <ExpiryField label="New end" value={end} onInput={setEnd} />
    </Confirm>
  );
}

export function Revoke({ token, onClose, onDone }: Props): JSX.Element {
  const { api } = useConsole();
  const [count, setCount] = useState("The connections that end are being counted…");
  useEffect(() => {
    const end = new AbortController();
    countConnections(token.token_id)(api, end.signal).then(
      (text) => !end.signal.aborted && setCount(text),
      (err) => !end.signal.aborted && setCount(`The connections that end could not be counted. ${sentence(err)}`),
    );
    return () => end.abort();
  }, [api, token.token_id]);
  const confirm = async (): Promise<void> => {
    await api.call("DELETE", pathOf(token), { body: {} });
    onDone(`The token ${token.token_id.slice(0, 12)}… was revoked.`);
  };
  return (
    <Confirm title="Revoke the access token" submit="Revoke" danger onClose={onClose} onConfirm={confirm}>
      <p>
        The token <Code text={token.token_id} /> of <Name text={token.created_by} most={40} /> stops working at once,
        for good.
      </p>
      <p role="status">{count}</p>
    </Confirm>
  );
}

/** Ends all tokens of a subject, after it has said how many these are. */
export function RevokeSubject({ subject, onClose, onDone }: Ending & { readonly subject: string }): JSX.Element {
  const { api } = useConsole();
  const [found, setFound] = useState("Its tokens are being counted…");
  useEffect(() => {
    const end = new AbortController();
    countSubject(api, subject, end.signal).then(
      ({ count, all }) =>
        !end.signal.aborted &&
        setFound(
          `${all ? "" : "At least "}${plural(count, "valid token")} ${count === 1 ? "ends" : "end"}, with all connections.`,
        ),
      (err) => !end.signal.aborted && setFound(`Its tokens could not be counted. ${sentence(err)}`),
    );
    return () => end.abort();
  }, [api, subject]);
  const confirm = async (): Promise<void> => {
    const path = `tokens?subject=${encodeURIComponent(subject)}`;
    const { revoked } = await api.call<SubjectRevoked>("DELETE", path, { body: {} });
    onDone(`${plural(revoked, "token")} revoked.`);
  };
  return (
    <Confirm title="Revoke all tokens of this subject" submit="Revoke all" danger onClose={onClose} onConfirm={confirm}>
      <p>
        All tokens of <Name text={subject} most={128} /> stop working at once, for good. A backend can issue it new
        ones.
      </p>
      <p role="status">{found}</p>
    </Confirm>
  );
}

// countConnections says how many connections a token has, and who did not say.
function countConnections(tokenID: string) {
  return async (api: ReturnType<typeof useConsole>["api"], signal: AbortSignal): Promise<string> => {
    const page = await api.get<ConnectionPage>(`connections${searchOf({ token_id: tokenID, limit: 1 })}`, { signal });
    const edges = page.edges ?? [];
    const open = edges.reduce((all, edge) => all + edge.matching, 0);
    const silent = edges.filter((edge) => !edge.answered).map((edge) => edge.name);
    const text =
      open === 0
        ? "No connection ends with it."
        : `${plural(open, "connection")} ${open === 1 ? "ends" : "end"} with it.`;
    return silent.length === 0
      ? text
      : `${text} Not counted are those at ${join(silent.slice(0, 10))}, which did not answer.`;
  };
}
