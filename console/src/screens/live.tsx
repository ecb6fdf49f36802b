// Live: the messages of a pattern as they come, and a test publish.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { plural } from "../lib/format.js";
import type { PayloadFormat } from "../lib/payload.js";
import { isTenant } from "../lib/prefix.js";
import { routeTo } from "../lib/route.js";
import { Badge, Empty, ErrorText, Heading, type Mood } from "../ui/bits.js";
import { useConsole, useManager } from "../ui/context.js";
import { CheckField, SelectField, TextField } from "../ui/field.js";
import { Messages } from "./live-messages.js";
import { Publish } from "./live-publish.js";
import type { ScreenProps } from "./screens.js";
import { type TailState, useTail } from "./tail.js";

const formats = [
  ["text", "text"],
  ["json", "JSON"],
  ["hex", "hex"],
] as const;

const states: Readonly<Record<TailState, readonly [Mood, string]>> = {
  off: ["plain", "stopped"],
  connecting: ["warn", "connecting"],
  on: ["good", "receiving"],
  broken: ["bad", "reconnecting"],
};

export function Live({ query }: ScreenProps): JSX.Element {
  const { api, session } = useConsole();
  const manager = useManager();
  const [tenant, setTenant] = useState(query.tenant ?? "");
  const [pattern, setPattern] = useState(query.pattern ?? "#");
  const [publish, setPublish] = useState(false);
  const [format, setFormat] = useState<PayloadFormat>("text");
  const [wrong, setWrong] = useState<string>();
  const tail = useTail(api, session.live_url || location.origin);
  const [mood, text] = states[tail.state];
  const running = tail.state !== "off";

  const start = (): void => {
    if (!isTenant(tenant)) return setWrong("Name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots.");
    if (pattern === "") return setWrong("Name a pattern; # is every channel.");
    setWrong(undefined);
    history.replaceState(null, "", routeTo("live", { tenant, pattern }));
    void tail.start({ tenant, pattern, publish: publish && manager });
  };

  return (
    <>
      <Heading text="Live" />
      <p class="quiet">Shows messages as they come. Each use is noted by the audit hook.</p>
      <form
        class="filters"
        aria-label="Live messages"
        onSubmit={(event) => {
          event.preventDefault();
          if (!running) start();
        }}
      >
        <TextField label="Tenant" value={tenant} onInput={(value) => setTenant(value.trim())} mono readOnly={running} />
        <TextField
          label="Pattern"
          value={pattern}
          onInput={(value) => setPattern(value.trim())}
          mono
          readOnly={running}
          hint="news.# for example"
        />
        {manager && !running && (
          <CheckField
            label="Allow a test publish"
            checked={publish}
            onChange={setPublish}
            hint="To channels that the pattern matches."
          />
        )}
        <div class="buttons">
          {running ? (
            <button type="button" onClick={tail.stop}>
              Stop
            </button>
          ) : (
            <button type="submit" class="primary">
              Start
            </button>
          )}
          {running && (
            <button type="button" aria-pressed={tail.paused} onClick={tail.pause}>
              {tail.paused ? "Resume" : "Pause"}
            </button>
          )}
        </div>
      </form>
      <ErrorText text={wrong ?? tail.error} />
      <p role="status" aria-label="Connection">
        <Badge mood={mood}>{text}</Badge> {tail.note}
      </p>
      {running && tail.publishes && <Publish tail={tail} />}
      <section aria-labelledby="messages">
        <div class="card-head">
          <h2 id="messages">Messages</h2>
          <span class="quiet">
            {plural(tail.received, "message")} came
            {tail.received > tail.messages.length ? `; the last ${tail.messages.length} are kept` : ""}
            {tail.paused && tail.held > 0 ? `; ${plural(tail.held, "message")} since the pause not shown` : ""}
          </span>
          <SelectField
            label="Payload as"
            value={format}
            onInput={(value) => setFormat(value as PayloadFormat)}
            options={formats}
          />
          <button type="button" onClick={tail.clear}>
            Clear
          </button>
        </div>
        {tail.messages.length === 0 ? (
          <Empty>
            <p>
              {running
                ? "Nothing has come yet. Messages appear when a client publishes to a channel of this pattern."
                : "Name a tenant and a pattern, and press Start."}
            </p>
          </Empty>
        ) : (
          <Messages messages={tail.messages} format={format} />
        )}
      </section>
    </>
  );
}
