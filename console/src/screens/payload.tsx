// The payload of one message, as text: clients decide what is in it.
import type { JSX } from "preact";
import { type Kept, type PayloadFormat, show } from "../lib/payload.js";

export interface PayloadProps {
  readonly of: Kept;
  readonly format: PayloadFormat;
  readonly label: string;
}

export function Payload({ of, format, label }: PayloadProps): JSX.Element {
  const { text, note } = show(of, format);
  return (
    <div class="whole">
      {note && <p class="quiet">{note}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, also by keyboard */}
      <pre tabIndex={0} role="region" aria-label={label} dir="auto">
        {text}
      </pre>
    </div>
  );
}
