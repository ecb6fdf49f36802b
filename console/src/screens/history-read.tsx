// The messages that a history keeps, page by page.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { HistoryPage } from "../api/types.js";
import { count, plural, size, utc } from "../lib/format.js";
import { extend, type Found, type Message, numberOf } from "../lib/kept.js";
import { formatOf, type PayloadFormat, preview } from "../lib/payload.js";
import { isTenant } from "../lib/prefix.js";
import { Code, Empty, ErrorText, Facts, Loading, Name } from "../ui/bits.js";
import { useConsole } from "../ui/context.js";
import { SelectField, TextField } from "../ui/field.js";
import { useAction } from "../ui/hooks.js";
import { type Column, Expand, Table } from "../ui/table.js";
import { Payload } from "./payload.js";

const PAGE = 50; // messages

const formats = [
  ["auto", "text, or hex if binary"],
  ["text", "text"],
  ["json", "JSON"],
  ["hex", "hex"],
] as const;

type Format = (typeof formats)[number][0];

export interface ReadTarget {
  readonly history: string;
  readonly tenant: string;
}

interface ReadQuery extends ReadTarget {
  readonly pattern: string;
}

interface Result extends Found {
  readonly query: ReadQuery;
  readonly next: string; // the place where the next page begins; empty: there is none
}

export interface ReaderProps {
  readonly names: readonly string[]; // of histories
  readonly target: ReadTarget | undefined; // another one is read at once
  readonly purges: number; // what was read before a purge is not shown any more
}

export function Reader({ names, target, purges }: ReaderProps): JSX.Element {
  const { api } = useConsole();
  const [history, setHistory] = useState(names[0] ?? "");
  const [tenant, setTenant] = useState("");
  const [pattern, setPattern] = useState("#");
  const [format, setFormat] = useState<Format>("auto");
  const [found, setFound] = useState<Result>();
  const action = useAction();
  const heading = useRef<HTMLHeadingElement>(null);

  const ask = async (query: ReadQuery, after: string): Promise<HistoryPage> =>
    api.call<HistoryPage>("POST", "histories/read", { body: { ...query, after, limit: PAGE } });
  const read = (query: ReadQuery): Promise<void> =>
    action.run(async () => {
      if (!isTenant(query.tenant)) throw new Error("name the tenant: 1 to 128 of a-z A-Z 0-9 _ - ~ @ and dots");
      if (query.pattern === "") throw new Error("name a pattern; # is every channel");
      setFound(undefined);
      const page = await ask(query, "");
      setFound({ ...extend({ messages: [], omitted: 0 }, page.messages ?? []), query, next: page.next });
    });
  const more = (before: Result): Promise<void> =>
    action.run(async () => {
      const page = await ask(before.query, before.next);
      setFound({ ...extend(before, page.messages ?? []), query: before.query, next: page.next });
    });

  useEffect(() => {
    if (!target) return;
    setHistory(target.history);
    setTenant(target.tenant);
    heading.current?.focus();
    void read({ ...target, pattern });
  }, [target]);
  useEffect(() => {
    if (found) heading.current?.scrollIntoView();
  }, [found?.query]);
  useEffect(() => setFound(undefined), [purges]);
  const chosen = names.includes(history) ? history : (names[0] ?? "");
  return (
    <section aria-labelledby="kept-messages">
      <h2 id="kept-messages" tabIndex={-1} ref={heading}>
        Messages
      </h2>
      <p class="quiet">Each page that is read is noted by the audit hook.</p>
      <form
        class="filters"
        aria-label="Read messages"
        aria-busy={action.busy}
        onSubmit={(event) => {
          event.preventDefault();
          void read({ history: chosen, tenant, pattern });
        }}
      >
        <SelectField
          label="History"
          value={chosen}
          onInput={setHistory}
          options={names.map((name) => [name, name] as const)}
        />
        <TextField label="Tenant" value={tenant} onInput={(value) => setTenant(value.trim())} mono />
        <TextField
          label="Pattern"
          value={pattern}
          onInput={(value) => setPattern(value.trim())}
          mono
          hint="news.# for example"
        />
        <SelectField
          label="Payload as"
          value={format}
          onInput={(value) => setFormat(value as Format)}
          options={formats}
        />
        <div class="buttons">
          <button type="submit" class="primary" aria-disabled={action.busy}>
            Read
          </button>
        </div>
      </form>
      <ErrorText text={action.error} />
      {action.busy && !found && <Loading what="the messages" />}
      {found && <Messages found={found} format={format} busy={action.busy} onMore={() => void more(found)} />}
    </section>
  );
}

interface MessagesProps {
  readonly found: Result;
  readonly format: Format;
  readonly busy: boolean;
  readonly onMore: () => void;
}

function Messages({ found, format, busy, onMore }: MessagesProps): JSX.Element {
  const [expanded, expand] = useState<string>();
  const { query, messages, omitted, next } = found;
  const as = ({ payload }: Message): PayloadFormat => (format === "auto" ? formatOf(payload) : format);
  return (
    <>
      <p role="status" aria-label="What was read">
        {plural(omitted + messages.length, "message")} of <Code text={query.pattern} /> in <Code text={query.tenant} />,
        history <Name text={query.history} />, oldest first.{next === "" ? " That is all." : ""}
        {omitted > 0 && ` The first ${count(omitted)} are not shown any more.`}
      </p>
      {messages.length === 0 && next === "" ? (
        <Empty>
          <p>No message of this pattern is kept.</p>
        </Empty>
      ) : (
        <Table
          label="Messages that are kept"
          columns={columns(as, expanded, expand)}
          rows={messages}
          keyOf={({ position }) => position}
          busy={busy}
          detail={(message) => expanded === message.position && <Detail message={message} format={as(message)} />}
        />
      )}
      {next !== "" && (
        <button type="button" aria-disabled={busy} onClick={onMore}>
          More messages
        </button>
      )}
    </>
  );
}

function columns(
  as: (message: Message) => PayloadFormat,
  expanded: string | undefined,
  expand: (position: string | undefined) => void,
): Column<Message>[] {
  return [
    {
      label: "Number",
      cell: ({ position, channel }) => (
        <Expand
          open={expanded === position}
          label={`Message ${numberOf(position)} to ${channel}`}
          onToggle={() => expand(expanded === position ? undefined : position)}
        >
          {numberOf(position)}
        </Expand>
      ),
    },
    { label: "Stored", cell: ({ time }) => <time dateTime={time}>{utc(time)}</time> },
    { label: "Channel", cell: ({ channel }) => <Code text={channel} most={120} /> },
    { label: "Size", number: true, cell: ({ payload }) => size(payload.size) },
    {
      label: "Payload",
      cell: (message) => <bdi class="preview">{preview(message.payload, as(message))}</bdi>,
    },
  ];
}

function Detail({ message, format }: { message: Message; format: PayloadFormat }): JSX.Element {
  const { position, time, payload } = message;
  return (
    <div class="message-detail">
      <Facts
        of={[
          ["Position", <Code text={position} key="position" />, "wide"],
          ["Stored", <time dateTime={time}>{time}</time>],
          ["Size", `${count(payload.size)} bytes`],
        ]}
      />
      <Payload of={payload} format={format} label={`Payload of message ${numberOf(position)}`} />
    </div>
  );
}
