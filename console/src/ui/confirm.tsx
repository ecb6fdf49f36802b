// A dialog that asks before something is done.
import type { ComponentChildren, JSX } from "preact";
import { Dialog, Form } from "./dialog.js";
import { useAction } from "./hooks.js";

export interface ConfirmProps {
  readonly title: string;
  readonly submit: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onClose: () => void;
  /** Does it, and closes the dialog. */
  readonly onConfirm: () => Promise<void>;
  readonly children: ComponentChildren;
}

export function Confirm({ title, submit, danger, disabled, onClose, onConfirm, children }: ConfirmProps): JSX.Element {
  const action = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      <Form action={action} submit={submit} danger={danger} disabled={disabled} onSubmit={onConfirm} onCancel={onClose}>
        {children}
      </Form>
    </Dialog>
  );
}
