// What surrounds all screens: the header with the ways to them, and the last result.
import type { ComponentChildren, JSX } from "preact";
import type { Session } from "../api/types.js";
import { routeTo } from "../lib/route.js";
import { Name } from "./bits.js";

export interface ScreenLink {
  readonly screen: string;
  readonly label: string;
}

export interface ShellProps {
  readonly base: URL;
  readonly session: Session;
  readonly links: readonly ScreenLink[];
  readonly current: string;
  readonly result: string;
  readonly ended: boolean; // the operator declined to sign in again
  readonly onSignIn: () => void;
  readonly onSignOut: () => void;
  readonly onDismiss: () => void;
  readonly children: ComponentChildren;
}

export function Shell(props: ShellProps): JSX.Element {
  const { base, session, links, current, result, ended, children } = props;
  return (
    <>
      {/* biome-ignore lint/a11y/useValidAnchor: it is a link, though a script follows it: the hash is for screens */}
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        Skip to the content
      </a>
      <header class="top">
        <a class="brand" href={routeTo("overview")}>
          <img src={new URL("icon.svg", base).href} alt="" width="28" height="28" />
          <span>Millrace</span>
        </a>
        <nav aria-label="Screens">
          <ul>
            {links.map(({ screen, label }) => (
              <li key={screen}>
                <a href={routeTo(screen)} {...(screen === current ? { "aria-current": "page" as const } : {})}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="who">
          <span>
            <Name text={session.operator ?? ""} most={32} /> <span class="quiet">{session.role}</span>
          </span>
          <button type="button" onClick={props.onSignOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        {ended && (
          <p class="note warn with-button">
            <span>Your session has ended, so nothing here is up to date.</span>
            <button type="button" onClick={props.onSignIn}>
              Sign in
            </button>
          </p>
        )}
        <div role="status" aria-label="Result" class="result">
          {result && (
            <p class="note good with-button">
              <span>{result}</span>
              <button type="button" class="link" onClick={props.onDismiss}>
                Dismiss
              </button>
            </p>
          )}
        </div>
        {children}
      </main>
    </>
  );
}
