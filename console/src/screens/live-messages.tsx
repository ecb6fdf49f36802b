// The list of messages that came.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { size } from "../lib/format.js";
import { type PayloadFormat, preview } from "../lib/payload.js";
import { Badge, Code } from "../ui/bits.js";
import { Payload } from "./payload.js";
import type { TailMessage } from "./tail.js";

const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

export function Messages({
  messages,
  format,
}: {
  messages: readonly TailMessage[];
  format: PayloadFormat;
}): JSX.Element {
  const [open, setOpen] = useState<number>();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keyboard
    <ol class="messages" aria-label="Messages" tabIndex={0}>
      {messages.map((message) => (
        <Row
          key={message.number}
          message={message}
          format={format}
          open={open === message.number}
          onToggle={() => setOpen(open === message.number ? undefined : message.number)}
        />
      ))}
    </ol>
  );
}

interface RowProps {
  readonly message: TailMessage;
  readonly format: PayloadFormat;
  readonly open: boolean;
  readonly onToggle: () => void;
}

function Row({ message, format, open, onToggle }: RowProps): JSX.Element {
  const { channel, payload, at, late, number } = message;
  return (
    <li>
      <button
        type="button"
        class="expand"
        aria-expanded={open}
        aria-label={`${clock.format(at)}, message ${number} to ${channel}`}
        onClick={onToggle}
      >
        <time dateTime={new Date(at).toISOString()}>{clock.format(at)}</time>
      </button>
      <span>
        <Code text={channel} most={120} /> {late && <Badge mood="warn">late</Badge>}
      </span>
      <span class="quiet">{size(payload.size)}</span>
      {open ? (
        <Payload of={payload} format={format} label={`Payload of message ${number}`} />
      ) : (
        <bdi class="preview">{preview(payload, format)}</bdi>
      )}
    </li>
  );
}
