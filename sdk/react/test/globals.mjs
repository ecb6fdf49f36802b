// A document for React, before that is loaded. Not TypeScript: the types of happy-dom take a second.
import { Window } from "happy-dom";

const window = new Window({ url: "http://localhost/" });
const names = [
  "document",
  "location",
  "navigator",
  "Node",
  "Event",
  "HTMLElement",
  "HTMLIFrameElement",
  "MutationObserver",
];
for (const name of names) {
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });
}
Object.defineProperty(globalThis, "window", { value: globalThis });
