// Why a token may do something, or may not.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AccessToken, Explanation, LimitUse, TokenPage } from "../api/types.js";
import { count } from "../lib/format.js";
import { rulePath } from "../lib/right.js";
import { searchOf } from "../lib/route.js";
import { cut, idOf } from "../lib/text.js";
import { Badge, Code, Facts, Name } from "../ui/bits.js";
import { useConsole } from "../ui/context.js";
import { Dialog, Form } from "../ui/dialog.js";
import { SelectField, TextField } from "../ui/field.js";
import { useAction } from "../ui/hooks.js";
import { RightList } from "./token-detail.js";

const actions = [
  ["subscribe", "subscribe"],
  ["history", "read stored messages"],
  ["presence", "see who is present"],
  ["publish", "publish"],
  ["connect", "connect"],
] as const;

const protocols = [
  ["", "not given"],
  ["websocket", "WebSocket"],
  ["webtransport", "WebTransport"],
] as const;

export function Explain({ token, onClose }: { token: AccessToken | undefined; onClose: () => void }): JSX.Element {
  const { api } = useConsole();
  const action = useAction();
  const [known, setKnown] = useState(token);
  const [answer, setAnswer] = useState<Explanation>();
  const [draft, setDraft] = useState({
    token_id: token?.token_id ?? "",
    action: "subscribe",
    tenant: token?.right.tenant_grants?.[0]?.tenant_ids?.[0] ?? "",
    channel: "",
    ip: "",
    origin: "",
    protocol: "",
    region: "",
  });
  const set = (field: keyof typeof draft) => (value: string) => setDraft((now) => ({ ...now, [field]: value.trim() }));
  const connect = draft.action === "connect";

  const submit = async (): Promise<void> => {
    const { token_id: id } = draft;
    if (!/^[0-9a-f]{32}$/.test(id))
      throw new Error("the id of a token has 32 digits of 0-9 and a-f; its secret does not belong here");
    setAnswer(undefined);
    // What is empty is not given.
    const given = Object.entries(draft).filter(([, value]) => value !== "");
    const body = Object.fromEntries(given.filter(([name]) => !connect || (name !== "tenant" && name !== "channel")));
    const said = await api.call<Explanation>("POST", "explain", { body });
    if (known?.token_id !== id) {
      const page = await api.get<TokenPage>(`tokens${searchOf({ id, limit: 1 })}`);
      setKnown(page.tokens?.find((one) => one.token_id === id));
    }
    setAnswer(said);
  };

  return (
    <Dialog title="Explain" wide onClose={onClose}>
      <p class="quiet">Asks the edge whether a token allows something, and by which of its rules.</p>
      <Form
        action={action}
        submit="Explain"
        onSubmit={submit}
        extra={
          <button type="button" onClick={onClose}>
            Close
          </button>
        }
      >
        <TextField
          label="Token id"
          value={draft.token_id}
          onInput={(value) => set("token_id")(idOf(value.trim()))}
          mono
          autoFocus={!token}
        />
        <div class="row">
          <SelectField label="Action" value={draft.action} onInput={set("action")} options={actions} />
          {!connect && (
            <TextField
              label="Tenant"
              value={draft.tenant}
              onInput={set("tenant")}
              mono
              autoFocus={token !== undefined}
            />
          )}
          {!connect && (
            <TextField
              label={draft.action === "publish" ? "Channel" : "Pattern"}
              value={draft.channel}
              onInput={set("channel")}
              mono
            />
          )}
        </div>
        <div class="row">
          <TextField label="Address" value={draft.ip} onInput={set("ip")} mono hint="Of the client, if it matters." />
          <TextField label="Origin" value={draft.origin} onInput={set("origin")} mono hint="Of its page." />
          <SelectField label="Transport" value={draft.protocol} onInput={set("protocol")} options={protocols} />
          <TextField label="Region" value={draft.region} onInput={set("region")} mono hint="Of the edge." />
        </div>
        <div role="status" class="answer">
          {answer && <Answer answer={answer} token={known} />}
        </div>
      </Form>
    </Dialog>
  );
}

function Answer({ answer, token }: { answer: Explanation; token: AccessToken | undefined }): JSX.Element {
  const mark = rulePath(answer.rule);
  return (
    <>
      <p>
        <Badge mood={answer.allowed ? "good" : "bad"}>{answer.allowed ? "allowed" : "not allowed"}</Badge>{" "}
        <bdi>{answer.reason}</bdi>.
      </p>
      {answer.rule && (
        <p>
          Rule: <Code text={answer.rule} most={600} />
        </p>
      )}
      {answer.token && (
        <p>
          Subject: {answer.token.subject ? <Name text={answer.token.subject} most={128} /> : "none"}. Issued with{" "}
          {answer.token.master_id ? (
            <Name text={answer.token.master_name ?? `${answer.token.master_id}, which is deleted`} most={128} />
          ) : (
            "the console or the admin API"
          )}
          , for <Name text={answer.token.created_by} most={128} />.
        </p>
      )}
      {token && <RightList right={token.right} mark={mark} />}
      {answer.limits && <Limits limits={answer.limits} />}
    </>
  );
}

/** The limits of this edge that hold for connections of the token. */
function Limits({ limits }: { limits: readonly LimitUse[] }): JSX.Element {
  return (
    <Facts
      of={limits.map(({ name, of, limit, used }) => [
        of ? `${name} of ${cut(of, 40)}` : name,
        `${name.startsWith("max_connections") || name === "issuer_share" ? `${count(used ?? 0)} of ` : ""}${limit ? count(limit) : "no limit"}`,
      ])}
    />
  );
}
