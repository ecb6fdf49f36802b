// One connection: what it is subscribed to, and what can be done with it.
import type { JSX } from "preact";
import { ApiError } from "../api/problem.js";
import type { Connection, ConnectionDetail } from "../api/types.js";
import { count, plural, size } from "../lib/format.js";
import { routeTo } from "../lib/route.js";
import { Code, ErrorText, Facts, Loading, Name, Time } from "../ui/bits.js";
import { useConsole, useManager } from "../ui/context.js";
import { usePoll } from "../ui/hooks.js";
import { keyOf } from "./connection-columns.js";

const EVERY = 5000; // ms
const MAX_SHOWN = 200; // patterns

export function ConnectionDetails({
  connection,
  onDisconnect,
}: {
  connection: Connection;
  onDisconnect: () => void;
}): JSX.Element {
  const { api } = useConsole();
  const manager = useManager();
  const path = `connections/${encodeURIComponent(connection.edge)}/${connection.id}`;
  const { data, error } = usePoll<ConnectionDetail | "gone">(keyOf(connection), EVERY, async (options) => {
    try {
      return await api.get<ConnectionDetail>(path, options);
    } catch (err) {
      if (err instanceof ApiError && err.status === 404 && err.code !== "not_found") return "gone";
      throw err;
    }
  });
  const detail = data === "gone" ? undefined : data;
  const c = detail ?? connection;
  const named = `connection ${c.id} at ${c.edge_name}`;
  return (
    <div class="connection-detail">
      {data === "gone" && <p role="status">It is closed now.</p>}
      <ErrorText text={error} />
      <Facts
        of={[
          ["Token", <Code text={c.token_id} key="token" />, "wide"],
          c.connection_id ? ["Connection id", <Code text={c.connection_id} key="connection" />] : undefined,
          c.issuer ? ["Issuer", <Code text={c.issuer} key="issuer" />, "wide"] : undefined,
          c.subject ? ["Subject", <Name text={c.subject} most={128} key="subject" />] : undefined,
          ["Token ends", <Time at={c.expires_at} key="expires" />],
          ["Waiting in its queue", size(c.queued_bytes)],
          ["Dropped deliveries", count(c.dropped)],
        ]}
      />
      <h2>Subscriptions</h2>
      {!data && !error && <Loading what="the subscriptions" />}
      {detail && <Patterns detail={detail} />}
      <div class="buttons">
        {manager && data !== "gone" && (
          <button type="button" aria-label={`Disconnect ${named}`} onClick={onDisconnect}>
            Disconnect
          </button>
        )}
        <a class="button" href={routeTo("connections", { token_id: c.token_id })}>
          All of its token
        </a>
        {c.subject && (
          <a class="button" href={routeTo("connections", { subject: c.subject })}>
            All of its subject
          </a>
        )}
        <a class="button" href={routeTo("tokens", { id: c.token_id })}>
          Its token
        </a>
      </div>
    </div>
  );
}

function Patterns({ detail }: { detail: ConnectionDetail }): JSX.Element {
  const patterns = detail.patterns ?? [];
  const left = patterns.length - MAX_SHOWN + (detail.more_patterns ?? 0);
  if (patterns.length === 0) return <p>It is subscribed to nothing.</p>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, also by keyboard
    <ul class="chips patterns" aria-label="Subscriptions" tabIndex={0}>
      {patterns.slice(0, MAX_SHOWN).map(({ tenant, pattern }) => (
        <li key={`${tenant} ${pattern}`}>
          <Code text={pattern} /> in <Code text={tenant} />
        </li>
      ))}
      {patterns.length < MAX_SHOWN
        ? (detail.more_patterns ?? 0) > 0 && <li>and {plural(detail.more_patterns ?? 0, "more", "more")}</li>
        : left > 0 && <li>and {count(left)} more</li>}
    </ul>
  );
}
