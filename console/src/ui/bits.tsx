// Small pieces of all screens.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ago, utc } from "../lib/format.js";
import { cut } from "../lib/text.js";
import { useConsole } from "./context.js";

/** A text of the server or an operator: isolated, so that its direction changes nothing around it. */
export function Name({ text, most = 80 }: { text: string; most?: number }): JSX.Element {
  const shown = cut(text, most);
  return (
    <bdi class="name" {...(shown === text ? {} : { title: text })}>
      {shown}
    </bdi>
  );
}

/** An id, a pattern or another name of the protocol. */
export function Code({ text, most = 256 }: { text: string; most?: number }): JSX.Element {
  const shown = cut(text, most);
  return (
    <bdi>
      <code {...(shown === text ? {} : { title: text })}>{shown}</code>
    </bdi>
  );
}

/** A time as its distance from now; the whole of it is the title. */
export function Time({ at, plain }: { at: string | undefined | null; plain?: boolean }): JSX.Element {
  const { api } = useConsole();
  if (!at) return <span>–</span>;
  return (
    <time dateTime={at} title={plain ? ago(at, api.serverNow()) : utc(at)}>
      {plain ? utc(at) : ago(at, api.serverNow())}
    </time>
  );
}

/** A time in full. */
export { utc as utcText } from "../lib/format.js";

export type Mood = "good" | "bad" | "warn" | "plain";

export function Badge({ mood = "plain", children }: { mood?: Mood; children: ComponentChildren }): JSX.Element {
  return <span class={`badge ${mood}`}>{children}</span>;
}

export function ErrorText({ text }: { text: string | undefined }): JSX.Element {
  return (
    <div role="alert" class="errors">
      {text && <p class="note bad">{text}</p>}
    </div>
  );
}

/** What could not be asked for again, above what is still known. */
export function Stale({ error, known }: { error: string | undefined; known: boolean }): JSX.Element | null {
  return (
    <div role="alert" class="errors">
      {error && (
        <p class="note bad">
          {error} {known ? "What is below is older. It is asked for again." : "It is asked for again."}
        </p>
      )}
    </div>
  );
}

export function Loading({ what }: { what: string }): JSX.Element {
  return (
    <p class="quiet" role="status">
      Loading {what}…
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}

/** A name and its value, which may take a line of its own. */
export type Fact = readonly [name: string, value: ComponentChildren, wide?: "wide"];

export function Facts({ of }: { of: readonly (Fact | undefined | false)[] }): JSX.Element {
  return (
    <dl class="facts">
      {of.map(
        (fact) =>
          fact && (
            <div key={fact[0]} class={fact[2] ? "whole" : ""}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
  readonly onCopied?: (() => void) | undefined;
}

export function CopyButton({ text, label, onCopied }: CopyButtonProps): JSX.Element {
  const [said, say] = useState("");
  useEffect(() => {
    if (said === "") return;
    const timer = setTimeout(() => say(""), 4000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      say("Copied.");
      onCopied?.();
    } catch {
      say("The browser does not allow it. Select the text and copy it.");
    }
  };
  return (
    <span class="copy">
      <button type="button" onClick={copy}>
        {label}
      </button>
      <span role="status" class="quiet">
        {said}
      </span>
    </span>
  );
}

/** The heading of a screen, which gets the focus when one comes to it. */
export function Heading({ text, children }: { text: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{text}</h1>
      {children && <div class="buttons">{children}</div>}
    </div>
  );
}
