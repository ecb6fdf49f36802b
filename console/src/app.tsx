// The console: who is signed in, which screen is shown, and what is asked above it.
import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { Api } from "./api/client.js";
import { OperatorGate } from "./api/gate.js";
import { sentence } from "./api/problem.js";
import type { Session } from "./api/types.js";
import { parseRoute, type Route } from "./lib/route.js";
import { screens } from "./screens/screens.js";
import { Boundary } from "./ui/boundary.js";
import { ConsoleContext } from "./ui/context.js";
import { Shell } from "./ui/shell.js";
import { GateDialog, SignInScreen } from "./ui/sign-in.js";

export interface AppProps {
  readonly base: URL; // of the page's files
  readonly takeActivity: () => boolean;
}

export function App({ base, takeActivity }: AppProps): JSX.Element {
  const [, redraw] = useState(0);
  const [session, setSession] = useState<Session>();
  const [error, setError] = useState<string>();
  const [result, notify] = useState("");
  const gate = useMemo(() => new OperatorGate(() => redraw((n) => n + 1)), []);
  const api = useMemo(() => new Api({ base: new URL("api/", base), gate, takeActivity }), [base, gate, takeActivity]);
  const route = useRoute();

  const load = useCallback(() => {
    setError(undefined);
    api.get<Session>("session", { bare: true }).then(setSession, (err) => setError(sentence(err)));
  }, [api]);
  useEffect(load, [load]);

  const shown = screens.filter(({ tail }) => !tail || session?.tail === true);
  const screen = shown.find(({ name }) => name === route.screen) ?? shown[0];
  useEffect(() => {
    notify("");
    document.title = session?.signed_in ? `${screen?.label} – Millrace console` : "Sign in – Millrace console";
    // Not above a field that asks for the focus, nor when one filters the same screen.
    const { activeElement } = document;
    if (!(activeElement instanceof HTMLInputElement)) document.querySelector<HTMLElement>("h1")?.focus();
  }, [screen?.name, session?.signed_in]);

  const opened = (next: Session): void => {
    setSession(next);
    gate.opened();
  };
  const leave = (): void => {
    gate.answer(false);
    setSession((now) => now && { auth: now.auth, signed_in: false, ...(now.user ? { user: now.user } : {}) });
  };
  const signOut = async (): Promise<void> => {
    try {
      const next = await api.call<Session>("DELETE", "session", { bare: true });
      gate.opened();
      setSession(next);
    } catch (err) {
      if (err instanceof Error && "code" in err && err.code === "no_session") leave();
      else notify(`Signing out failed: ${sentence(err)} You are still signed in.`);
    }
  };

  if (!session) return <Starting error={error} onRetry={load} />;
  if (!session.signed_in) return <SignInScreen api={api} session={session} onSession={opened} />;
  const Screen = screen?.component;
  return (
    <ConsoleContext.Provider value={{ api, session, base, notify }}>
      <Shell
        base={base}
        session={session}
        links={shown.map(({ name, label }) => ({ screen: name, label }))}
        current={screen?.name ?? ""}
        result={result}
        ended={gate.ended}
        onSignIn={() => void gate.signIn()}
        onSignOut={() => void signOut()}
        onDismiss={() => notify("")}
      >
        {Screen && (
          <Boundary key={`${screen.name} ${session.operator}`}>
            <Screen query={route.query} />
          </Boundary>
        )}
      </Shell>
      <GateDialog api={api} gate={gate} session={session} onSession={opened} onLeave={leave} />
    </ConsoleContext.Provider>
  );
}

function Starting({ error, onRetry }: { error: string | undefined; onRetry: () => void }): JSX.Element {
  return (
    <main id="main" class="sign-in">
      <h1>Millrace console</h1>
      <p role="status">{error ? "" : "Loading…"}</p>
      <div role="alert">
        {error && (
          <>
            <p class="note bad">{error}</p>
            <button type="button" class="primary" onClick={onRetry}>
              Try again
            </button>
          </>
        )}
      </div>
    </main>
  );
}

function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const follow = (): void => setRoute(parseRoute(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
