// Signing in: as the first screen, and above a form when the session has ended. What is
// typed here stays in the state of these components.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Api } from "../api/client.js";
import type { OperatorGate } from "../api/gate.js";
import { ApiError } from "../api/problem.js";
import type { Session } from "../api/types.js";
import { duration } from "../lib/format.js";
import { Name } from "./bits.js";
import { Dialog, Form } from "./dialog.js";
import { TextField } from "./field.js";
import { useAction } from "./hooks.js";

// signIn opens a session, or confirms the one there is.
async function send(api: Api, path: string, body: Record<string, string>): Promise<Session> {
  try {
    return await api.call<Session>("POST", path, { body, bare: true });
  } catch (error) {
    if (error instanceof ApiError && error.retryAfter > 0 && error.code === "too_many_attempts") {
      throw new Error(`too many attempts to sign in; try again in ${duration(error.retryAfter * 1000)}`);
    }
    throw error;
  }
}

export function SignInScreen({
  api,
  session,
  onSession,
}: {
  api: Api;
  session: Session;
  onSession: (s: Session) => void;
}): JSX.Element {
  const [name, setName] = useState("");
  const [password, setPassword] = useState("");
  const action = useAction();
  const caddy = session.auth === "caddy";
  const submit = async (): Promise<void> => {
    if (!caddy && (name === "" || password === "")) throw new Error("type your name and your password");
    try {
      onSession(await send(api, "session", caddy ? {} : { name, password }));
    } finally {
      setPassword("");
    }
  };
  return (
    <main id="main" class="sign-in">
      <section class="card">
        <h1 tabIndex={-1}>Sign in</h1>
        <p class="quiet">The console of this Millrace edge is for its operators.</p>
        {caddy && session.user ? (
          <p>
            The authentication in front of the console names you <Name text={session.user} />.
          </p>
        ) : null}
        {caddy && !session.user ? (
          <p class="note warn">
            The authentication in front of the console names nobody. Sign in there, then load this page again.
          </p>
        ) : null}
        <Form action={action} submit="Sign in" onSubmit={submit}>
          {!caddy && (
            <>
              <TextField label="Name" value={name} onInput={setName} autoComplete="username" autoFocus />
              <TextField
                label="Password"
                type="password"
                value={password}
                onInput={setPassword}
                autoComplete="current-password"
              />
            </>
          )}
        </Form>
      </section>
    </main>
  );
}

export interface GateDialogProps {
  readonly api: Api;
  readonly gate: OperatorGate;
  readonly session: Session;
  readonly onSession: (s: Session) => void;
  readonly onLeave: () => void;
}

/** The dialog above everything: the session has ended, or the password is needed again. */
export function GateDialog({ api, gate, session, onSession, onLeave }: GateDialogProps): JSX.Element | null {
  const { question } = gate;
  return question ? (
    <AskAgain key={question} {...{ api, gate, session, onSession, onLeave }} again={question === "sign-in"} />
  ) : null;
}

function AskAgain({
  api,
  gate,
  session,
  onSession,
  onLeave,
  again,
}: GateDialogProps & { again: boolean }): JSX.Element {
  const [password, setPassword] = useState("");
  const action = useAction();
  const caddy = session.auth === "caddy";
  const name = session.operator ?? "";
  const submit = async (): Promise<void> => {
    if (!caddy && password === "") throw new Error("type your password");
    let opened: Session;
    try {
      if (again) opened = await send(api, "session", caddy ? {} : { name, password });
      else opened = await send(api, "session/confirm", { password });
    } catch (error) {
      setPassword("");
      // The session has ended while this dialog was open.
      if (!again && error instanceof ApiError && error.code === "no_session") return void gate.signIn();
      throw error;
    }
    onSession(opened);
    gate.answer(true);
  };
  return (
    <Dialog title={again ? "Your session has ended" : "Type your password again"} onClose={() => gate.answer(false)}>
      <p>
        {again
          ? "Sign in to go on. What you have typed is kept, and what you asked for is done then."
          : "Master tokens are changed only within ten minutes after a password was typed. What you asked for is done then."}
      </p>
      <Form
        action={action}
        submit={again ? "Sign in" : "Confirm"}
        onSubmit={submit}
        onCancel={() => gate.answer(false)}
        extra={
          again && (
            <button type="button" class="link" onClick={onLeave}>
              Sign in as somebody else
            </button>
          )
        }
      >
        <TextField label="Name" value={name} onInput={() => {}} readOnly autoComplete="username" />
        {!caddy && (
          <TextField
            label="Password"
            type="password"
            value={password}
            onInput={setPassword}
            autoComplete="current-password"
            autoFocus
          />
        )}
      </Form>
    </Dialog>
  );
}
