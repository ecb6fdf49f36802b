// A document for React, and ways to wait for what components show.
import "./globals.mjs";
import type { TestContext } from "node:test";
import type { ReactNode } from "react";
import { createRoot, hydrateRoot, type Root } from "react-dom/client";

/** Everything that React has complained of. */
export const complaints: string[] = [];
console.error = (...what: unknown[]): void => void complaints.push(what.map(String).join(" "));

export interface Shown {
  readonly element: HTMLElement;
  readonly root: Root;
  /** Resolves when the element shows a text, as a whole. */
  until(fits: string | ((text: string) => boolean)): Promise<string>;
}

/** shown renders into an element of the document, or hydrates one that shows html; it ends with the test. */
export function shown(t: TestContext, node: ReactNode, html?: string): Shown {
  const element = document.createElement("div");
  document.body.append(element);
  if (html !== undefined) element.innerHTML = html;
  const root = html === undefined ? createRoot(element) : hydrateRoot(element, node);
  if (html === undefined) root.render(node);
  t.after(() => root.unmount());
  const text = (): string => element.textContent ?? "";
  const until = (fits: string | ((text: string) => boolean)): Promise<string> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!(typeof fits === "string" ? text() === fits : fits(text()))) return;
        observer.disconnect();
        resolve(text());
      };
      const observer = new MutationObserver(look);
      observer.observe(element, { childList: true, characterData: true, subtree: true });
      look();
    });
  return { element, root, until };
}
