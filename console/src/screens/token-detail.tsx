// What an access token allows, in sentences.
import type { JSX } from "preact";
import type { AccessToken } from "../api/types.js";
import { marked, type Right, type Sentence, sentences } from "../lib/right.js";
import { routeTo } from "../lib/route.js";
import { Code, Facts, Name, Time } from "../ui/bits.js";
import { useManager } from "../ui/context.js";
import type { TokenAction } from "./tokens.js";

export function TokenDetail({
  token,
  onAction,
}: {
  token: AccessToken;
  onAction: (what: TokenAction) => void;
}): JSX.Element {
  const manager = useManager();
  const short = token.token_id.slice(0, 12);
  const button = (what: TokenAction, label: string): JSX.Element => (
    <button type="button" aria-label={`${label} ${short}`} onClick={() => onAction(what)}>
      {label}
    </button>
  );
  return (
    <div class="token-detail">
      <div>
        <h2>What it allows</h2>
        <RightList right={token.right} mark="" />
      </div>
      <Facts
        of={[
          ["Id", <Code text={token.token_id} key="id" />, "wide"],
          token.subject ? ["Subject", <Name text={token.subject} most={128} key="subject" />] : undefined,
          token.info ? ["Info", <Code text={JSON.stringify(token.info)} most={1024} key="info" />, "wide"] : undefined,
          token.description
            ? ["Description", <Name text={token.description} most={512} key="description" />]
            : undefined,
          ["Made", <Time at={token.created_at} plain key="made" />],
          ["Ends", <Time at={token.expires_at} plain key="ends" />],
          token.revoked_at ? ["Revoked", <Time at={token.revoked_at} plain key="revoked" />] : undefined,
          [
            "Issued with",
            token.master_id ? <Code text={token.master_id} key="master" /> : "the console or the admin API",
          ],
        ]}
      />
      <div class="buttons">
        {manager && token.status === "valid" && button("refresh", "Refresh")}
        {manager && token.status !== "revoked" && button("revoke", "Revoke")}
        {button("explain", "Explain")}
        <a
          class="button"
          href={routeTo("connections", { token_id: token.token_id })}
          aria-label={`Connections of ${short}`}
        >
          Connections
        </a>
        <a class="button" href={routeTo("refused", { token_id: token.token_id })} aria-label={`Refused of ${short}`}>
          Refused
        </a>
        {token.subject && (
          <a
            class="button"
            href={routeTo("tokens", { subject: token.subject })}
            aria-label={`All of its subject, of token ${short}`}
          >
            All of its subject
          </a>
        )}
      </div>
    </div>
  );
}

/** A right in sentences; the rule at mark is highlighted. */
export function RightList({ right, mark }: { right: Right; mark: string }): JSX.Element {
  return (
    <ul class="right">
      {sentences(right, mark).map((sentence, i) => (
        <li key={i}>
          <Words sentence={sentence} mark={mark} />
        </li>
      ))}
    </ul>
  );
}

function Words({ sentence, mark }: { sentence: Sentence; mark: string }): JSX.Element {
  return (
    <>
      {sentence.map((part) => {
        if (typeof part === "string") return part;
        const code = <Code key={part.path} text={part.rule} />;
        return marked(part.path, mark) ? <mark key={part.path}>{code}</mark> : code;
      })}
    </>
  );
}
