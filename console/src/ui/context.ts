// What all screens need.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Api } from "../api/client.js";
import type { Session } from "../api/types.js";

export interface Console {
  readonly api: Api;
  readonly session: Session;
  /** The path of the console, without a slash at its end. */
  readonly base: URL;
  /** Tells the result of what the operator did. */
  readonly notify: (text: string) => void;
}

export const ConsoleContext = createContext<Console | undefined>(undefined);

export function useConsole(): Console {
  const found = useContext(ConsoleContext);
  if (!found) throw new Error("there is no console here");
  return found;
}

/** Whether the operator may change things. The server refuses it anyway. */
export function useManager(): boolean {
  return useConsole().session.role === "manager";
}
