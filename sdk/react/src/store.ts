import { type Client, type ClientEvents, type ConnectOptions, connect, MillraceError } from "@millrace/client";
import { type Connection, follow, quiet } from "./connection.js";
import { createStanding } from "./standing.js";
import { createTopic, nameOf, type Topic, type Wanted } from "./topic.js";
import type { View } from "./view.js";

/** What a provider was given, as it is now. */
export interface StoreOptions {
  readonly connect: Omit<ConnectOptions, "signal">;
  /** How long what nobody uses is kept, in milliseconds. */
  readonly linger: number;
}

// ms. Components are told once a frame; a page that is not shown, or a program, has no frames.
const LATE = 50;
const MOUNTING = 5000; // ms, after which what has been rendered is taken for abandoned

/** keyOf tells subscriptions apart. */
export const keyOf = (wanted: Wanted): string => JSON.stringify([nameOf(wanted), wanted.history, wanted.kind]);

/**
 * A Store has the connection and the subscriptions of a page, outside of its components. It does
 * nothing until a mounted provider retains it, so a server that renders connects to nothing.
 */
export interface Store {
  options: StoreOptions;
  /** Connects, unless it has, until nobody has retained it for as long as it lingers. Returns what releases it. */
  retain(): () => void;
  /** Closes what nobody retains, at once. */
  drop(): void;
  /** Lets a view see what has been published of the subscription with a key, if there is one. */
  show(key: string, view: View<unknown>): void;
  /** Subscribes for a view, unless others have, and returns what ends that. */
  join(wanted: Wanted, view: View<unknown>, listener: () => void): () => void;
  /** What has been published. */
  connection(): Connection;
  /** Calls a function when the connection has changed, until what it returns is called. */
  onConnection(listener: () => void): () => void;
  /** The first of them, which a server renders. */
  readonly notYet: Connection;
  client(): Client | undefined;
  /** Nobody is logged in: it never connects. */
  readonly nobody: boolean;
  /** That of the client. */
  readonly publish: Client["publish"];
}

/** createStore makes a store of a client, which stays the application's, or of the addresses of edges; undefined: of nobody. */
export function createStore(from: Client | readonly string[] | undefined, options: StoreOptions): Store {
  const topics = new Map<string, Topic>();
  const gone = new Set<Topic>(); // what the client has yet to leave: it may have to before it is asked again
  const listeners = new Set<() => void>(); // of the connection
  const own = !from || !("publish" in from);
  const none = (): MillraceError =>
    from
      ? new MillraceError("disconnected", "there is no connection yet", { cause: next.error })
      : new MillraceError("logged_out", "the provider's user is null: nobody is logged in");
  const notYet = {
    state: from ? "connecting" : "closed",
    gaps: 0,
    limited: false,
    renewToken: async () => {
      if (!client) throw none();
      await client.renewToken();
    },
    retry() {
      if (!own || (client && next.state !== "closed")) client?.retry();
      else if (next.state === "closed") again();
      else if (performance.now() < pause) attempt?.abort();
    },
  } as Connection;
  let connection = notYet; // published
  let next = notYet;
  let flushing = false;
  let late: ReturnType<typeof setTimeout>;
  let users = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: AbortController | undefined;
  let attempt: AbortController | undefined; // the connect that goes on
  let pause = 0; // until then it waits
  let client: Client | undefined;
  let found: (client: Client | Promise<Client>) => void;
  let ready: Promise<Client>;
  const reset = (): void => {
    ready = new Promise((resolve) => {
      found = resolve;
    });
    next = notYet;
    client = running = undefined;
  };
  reset();

  // What components are told

  const tell = (): void => {
    if (flushing) return;
    flushing = true;
    globalThis.requestAnimationFrame?.(flush);
    late = setTimeout(flush, LATE);
  };
  // It publishes everything before it tells anybody: what components show is of one moment.
  const flush = (): void => {
    clearTimeout(late);
    flushing = false;
    const all: (() => void)[] = [];
    for (const topic of topics.values()) topic.publish(all);
    if (connection !== next) {
      connection = next;
      all.push(...listeners);
    }
    for (const listener of all) listener();
  };

  // The connection

  const start = (): void => {
    running = new AbortController();
    const { signal } = running;
    const set = (change: Partial<Connection>): void => {
      if (signal.aborted) return;
      next = { ...next, ...change };
      tell();
    };
    const gap = ({ tenant, pattern }: ClientEvents["gap"]): void => {
      set({ gaps: next.gaps + 1 });
      for (const topic of topics.values()) if (topic.name === nameOf({ tenant, pattern })) topic.gap();
    };
    found(own ? dial(from as readonly string[], signal, set) : (from as Client));
    ready.then(
      (made) => {
        const close = (): void => void (own && made.close());
        if (signal.aborted) return close();
        client = made;
        const unfollow = follow(client, set, gap);
        signal.addEventListener("abort", () => {
          unfollow();
          close();
        });
        client.closed.then((error) => set({ state: "closed", error }));
        // One of the application's may have no connection now; it says so when it is asked.
        client.flush().catch((error) => {
          if (error.code === "disconnected") set({ state: "reconnecting", error });
        });
      },
      (error) => set({ state: "closed", error }),
    );
  };
  // dial connects; retry ends an attempt that waits, and begins another one.
  const dial = async (
    edges: readonly string[],
    signal: AbortSignal,
    set: (change: Partial<Connection>) => void,
  ): Promise<Client> => {
    const { connect: options } = store.options;
    const tokenProvider = options.tokenProvider && (() => (store.options.connect.tokenProvider ?? String)());
    const theirs = options.on?.connecting;
    const connecting = (event: ClientEvents["connecting"]): unknown => {
      pause = performance.now() + event.delay;
      set({ error: event.error });
      return theirs?.(event);
    };
    const on = { ...options.on, connecting: theirs ? connecting : quiet(connecting) };
    for (;;) {
      const own = new AbortController();
      attempt = own;
      signal.addEventListener("abort", () => own.abort(), { signal: own.signal });
      try {
        return await connect(edges, { ...options, tokenProvider, on, signal: own.signal });
      } catch (error) {
        if (signal.aborted || !own.signal.aborted) throw error;
      }
    }
  };
  // again begins once more after the end.
  const again = (): void => {
    if (!from || !running) return;
    running.abort();
    reset();
    start();
    tell();
    for (const topic of topics.values()) topic.again();
  };
  const stop = (): void => {
    clearTimeout(timer);
    [...topics.keys()].forEach(leave);
    running?.abort();
    reset();
    tell();
  };

  // Subscriptions

  const left = (name: string): Promise<unknown> =>
    Promise.all([...gone].map((topic) => topic.name === name && topic.held));
  const leave = (key: string): void => {
    const topic = topics.get(key);
    if (!topic) return;
    clearTimeout(topic.timer);
    topics.delete(key);
    gone.add(topic);
    topic.leave();
    topic.held.then(() => gone.delete(topic));
  };
  const keep = (key: string, topic: Topic, ms: number): void => {
    clearTimeout(topic.timer);
    topic.timer = setTimeout(() => {
      if (topic.views.size === 0 && topics.get(key) === topic) leave(key);
    }, ms);
  };

  const store: Store = {
    options,
    retain() {
      users++;
      clearTimeout(timer);
      if (from && !running) start();
      else if (users === 1 && own && next.state === "closed") again(); // whoever comes back may have logged in again
      return () => {
        if (--users === 0 && from) timer = setTimeout(stop, store.options.linger);
      };
    },
    drop() {
      if (users === 0) stop();
    },
    nobody: !from,
    notYet,
    client: () => client,
    show(key, view) {
      const topic = topics.get(key);
      topic?.show(view);
      // Whoever is rendered will be mounted; it must not find that what it shows has been left meanwhile.
      if (topic?.views.size === 0) keep(key, topic, MOUNTING);
    },
    join(wanted, view, listener) {
      if (!from || wanted.pattern === undefined) return () => {};
      const key = keyOf(wanted);
      let topic = topics.get(key);
      if (!topic) {
        // The client has one subscription with a history to a pattern, and counts members or shows them: one that
        // lingers must not be in the way.
        for (const [other, { name, views }] of topics) if (name === nameOf(wanted) && !views.size) leave(other);
        topic = (wanted.kind ? createStanding : createTopic)(wanted, () => ready, left, tell);
        topics.set(key, topic);
      }
      const { views } = topic;
      topic.join(view, listener);
      return () => {
        views.delete(view);
        keep(key, topic, store.options.linger);
      };
    },
    connection: () => connection,
    onConnection(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    publish: ((...message: Parameters<Client["publish"]>) =>
      client?.publish(...message) ?? Promise.reject(none())) as Client["publish"],
  };
  return store;
}
