// The screens, in the order of the header.
import type { ComponentType } from "preact";
import { Connections } from "./connections.js";
import { Edges } from "./edges.js";
import { Histories } from "./histories.js";
import { Live } from "./live.js";
import { Masters } from "./masters.js";
import { Overview } from "./overview.js";
import { Presence } from "./presence.js";
import { Refused } from "./refused.js";
import { Tokens } from "./tokens.js";

export interface ScreenProps {
  readonly query: Readonly<Record<string, string>>;
}

export interface Screen {
  readonly name: string; // in the hash
  readonly label: string;
  readonly component: ComponentType<ScreenProps>;
  readonly tail?: boolean; // only where there is a live tail
}

export const screens: readonly Screen[] = [
  { name: "overview", label: "Overview", component: Overview },
  { name: "master-tokens", label: "Master tokens", component: Masters },
  { name: "tokens", label: "Access tokens", component: Tokens },
  { name: "connections", label: "Connections", component: Connections },
  { name: "refused", label: "Refused", component: Refused },
  { name: "presence", label: "Presence", component: Presence },
  { name: "live", label: "Live", component: Live, tail: true },
  { name: "histories", label: "Histories", component: Histories },
  { name: "edges", label: "Edges", component: Edges },
];
