// A secret that is shown once. It goes with this dialog.
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import { CopyButton } from "./bits.js";
import { Dialog } from "./dialog.js";

export interface SecretProps {
  readonly title: string;
  readonly label: string; // of the secret
  readonly secret: string;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
}

export function Secret({ title, label, secret, onClose, children }: SecretProps): JSX.Element {
  const [warned, warn] = useState(false);
  const [copied, setCopied] = useState(false);
  return (
    <Dialog title={title} wide onClose={() => (warned || copied ? onClose() : warn(true))}>
      <p class="note warn">
        <strong>This is shown only once.</strong> Nobody can read it here again. Copy it now to where it is needed, such
        as a secret store.
      </p>
      <Snippet label={label} text={secret} copy="Copy the token" onCopied={() => setCopied(true)} />
      {children}
      <p role="status">{warned && !copied ? "Press Esc again to close, if you have copied the token." : ""}</p>
      <div class="buttons">
        <button type="button" class="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

/** Lines to copy. */
export interface SnippetProps {
  readonly label: string;
  readonly text: string;
  readonly copy: string;
  readonly onCopied?: () => void;
}

export function Snippet({ label, text, copy, onCopied }: SnippetProps): JSX.Element {
  return (
    <div class="snippet">
      <div class="snippet-head">
        <h3>{label}</h3>
        <CopyButton text={text} label={copy} onCopied={onCopied} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it may scroll, also by keyboard */}
      <pre tabIndex={0} aria-label={label} role="region">
        {text}
      </pre>
    </div>
  );
}
