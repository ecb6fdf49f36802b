import type { Client } from "@millrace/client";
import { type Context, createContext } from "react";
import type { Store } from "./store.js";

/** What outlives the modules of this package: a hot reload may load them again. */
interface Registry {
  readonly context: Context<Store | undefined>;
  /** By what providers call them. */
  readonly named: Record<string, Store>;
}

const place = Symbol.for("@millrace/react 0.1");

export function registry(): Registry {
  const page = globalThis as { [place]?: Registry };
  page[place] ??= { context: createContext<Store | undefined>(undefined), named: {} };
  return page[place];
}

/**
 * storeOf returns the store of a client, which that bears, or the one with a name: the same for all providers. A
 * server has no named ones: requests of several users must share nothing.
 */
export function storeOf(client: Client | undefined, id: string | null | undefined, make: () => Store): Store {
  if (client) {
    const bearer = client as { [place]?: Store };
    bearer[place] ??= make();
    return bearer[place];
  }
  if (!id || typeof window === "undefined") return make();
  const { named } = registry();
  named[id] ??= make();
  return named[id];
}
