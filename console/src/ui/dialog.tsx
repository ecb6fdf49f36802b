// Modal dialogs, by the browser's own element: it keeps the focus inside, and gives it back.
import type { ComponentChildren, JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { ErrorText } from "./bits.js";
import type { Action } from "./hooks.js";

export interface DialogProps {
  readonly title: string;
  /** Called for Esc and the like; what the dialog is about goes when its component goes. */
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly wide?: boolean;
}

export function Dialog({ title, onClose, children, wide }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const gone = useRef(false);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    return () => {
      gone.current = true;
      dialog?.close();
      // What opened it may have gone with what was done.
      setTimeout(() => {
        const opener = before instanceof HTMLElement && before.isConnected;
        if (!opener && document.activeElement === document.body) document.querySelector<HTMLElement>("h1")?.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={wide ? "wide" : ""}
      aria-labelledby={id}
      onCancel={(event) => {
        if (event.target !== element.current) return; // of a file chooser, or the like
        event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // The browser closed it, as on a second Esc. It is shown again if it is to stay.
        if (gone.current) return;
        onClose();
        setTimeout(() => {
          if (!gone.current && element.current?.open === false) element.current.showModal();
        });
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

export interface FormProps {
  readonly action: Action;
  readonly submit: string; // the button's name
  readonly danger?: boolean | undefined;
  readonly disabled?: boolean | undefined;
  readonly onSubmit: () => Promise<void>;
  readonly onCancel?: (() => void) | undefined;
  readonly children?: ComponentChildren;
  readonly extra?: ComponentChildren; // more buttons
}

/** A form that a script sends. Its button keeps the focus while it is busy. */
export function Form({
  action,
  submit,
  danger,
  disabled,
  onSubmit,
  onCancel,
  children,
  extra,
}: FormProps): JSX.Element {
  return (
    <form
      noValidate
      aria-busy={action.busy}
      onSubmit={(event) => {
        event.preventDefault();
        if (!disabled) void action.run(onSubmit);
      }}
    >
      {children}
      <ErrorText text={action.error} />
      <div class="buttons">
        <button type="submit" class={danger ? "danger" : "primary"} disabled={disabled} aria-disabled={action.busy}>
          {submit}
        </button>
        {onCancel && (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        )}
        {extra}
      </div>
    </form>
  );
}
