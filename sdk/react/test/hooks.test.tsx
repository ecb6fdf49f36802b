import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, connect, type Message, type MillraceError } from "@millrace/client";
import {
  MillraceProvider,
  type MillraceProviderProps,
  type ReducerOptions,
  type SubscriptionOptions,
  useConnection,
  useLastValue,
  usePublish,
  useSubscription,
} from "@millrace/react";
import { Component, type ReactNode, StrictMode, useEffect, useState, version } from "react";
import { renderToString } from "react-dom/server";
import { at, Edge, type Peer } from "../../js/test/edge.js";
import { complaints, shown } from "./dom.js";

const options = { token: "AT_1", transports: ["websocket" as const], minBackOff: 1, maxBackOff: 10 };
const texts = (messages: readonly Message[]): string => messages.map((m) => m.text()).join(" ");
const lines = (peer: Peer): string[] => peer.lines.all.filter((line) => line !== "PING");

test.afterEach(() => assert.deepEqual(complaints.splice(0), []));

test("this is the version of the folder", () => {
  assert.match(import.meta.url, new RegExp(`/test-out/${version.split(".")[0]}/`));
});

function App({ edge, children, ...rest }: { edge: Edge; children?: ReactNode; linger?: number; user?: string }) {
  return (
    <StrictMode>
      <MillraceProvider addresses={edge.url} options={options} {...rest}>
        {children}
      </MillraceProvider>
    </StrictMode>
  );
}

function List({ pattern = "c", ...rest }: { pattern?: string | undefined } & SubscriptionOptions) {
  const { messages, status, error, gaps, skipped, retry } = useSubscription("t", pattern, rest);
  return (
    <button type="button" onClick={retry}>
      [{status}
      {error ? ` ${error.code}` : ""}
      {gaps > 0 ? ` ${gaps} gaps` : ""}
      {skipped > 0 ? ` ${skipped} skipped` : ""}
      {messages.length > 0 ? ` ${texts(messages)}` : ""}]
    </button>
  );
}

const reducer = (state: string, message: Message): string => `${state}${message.text()},`;

function Sum({ onState, ...rest }: { onState?: (state: string) => void } & Partial<ReducerOptions<string>>) {
  const { state, status } = useSubscription("t", "c", { reducer, initial: "", ...rest });
  useEffect(() => void onState?.(state));
  return (
    <>
      [{status} {state}]
    </>
  );
}

test("components share one connection and one subscription, and the last one leaves", async (t) => {
  const edge = await Edge.start(t);
  const { root, until } = shown(
    t,
    <App edge={edge} linger={1}>
      {[<List key="1" />, <List key="2" />, <Sum key="3" />]}
    </App>,
  );
  await until("[subscribed][subscribed][subscribed ]");
  const peer = await edge.peer(0);
  for (const n of [1, 2, 3]) peer.deliver(String(n));
  await until("[subscribed 1 2 3][subscribed 1 2 3][subscribed 1,2,3,]");
  assert.deepEqual(lines(peer), ["SUB:t:c"]);
  root.render(<App edge={edge} linger={1} />);
  await peer.until("UNSUB:t:c");
  root.render(null);
  await peer.closed.until(() => true);
  assert.equal(edge.peers.all.length, 1);
});

test("who comes back in time finds the subscription, and what came meanwhile", async (t) => {
  const edge = await Edge.start(t);
  const { root, until } = shown(
    t,
    <App edge={edge}>
      <List key="1" />
    </App>,
  );
  await until("[subscribed]");
  const peer = await edge.peer(0);
  peer.deliver("1");
  await until("[subscribed 1]");
  root.render(
    <App edge={edge}>
      <Connection0 key="2" />
    </App>,
  );
  await until((text) => text.startsWith("connected"));
  peer.deliver("2");
  root.render(
    <App edge={edge}>
      <List key="3" />
    </App>,
  );
  await until("[subscribed 1 2]");
  assert.deepEqual(lines(peer), ["SUB:t:c"]);
});

test("who comes back too late gets nothing of the subscription that has been left", async (t) => {
  const edge = await Edge.start(t);
  edge.answers = (line) => !line.startsWith("UNSUB");
  const app = (children?: ReactNode): ReactNode => (
    <App edge={edge} linger={1}>
      {children}
    </App>
  );
  const { root, until } = shown(t, app(<List key="1" />));
  await until("[subscribed]");
  const peer = await edge.peer(0);
  root.render(app());
  await peer.until("UNSUB:t:c");
  root.render(app(<List key="2" />));
  await until("[subscribing]");
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve)); // time to ask too early
  peer.deliver("1"); // then others, which the edge does not send
  for (let i = 0; i < 100; i++) await new Promise((resolve) => setImmediate(resolve));
  peer.answer("UNSUB:t:c");
  await peer.until("SUB:t:c", 2);
  peer.deliver("4");
  await until((text) => text !== "[subscribing]" && text !== "[subscribed]");
  await until("[subscribed 4]");
});

test("a component that comes later begins with what is kept", async (t) => {
  const edge = await Edge.start(t);
  const { root, until } = shown(t, <App edge={edge}>{[<List key="1" limit={2} />]}</App>);
  await until("[subscribed]");
  const peer = await edge.peer(0);
  for (const n of [1, 2, 3]) peer.deliver(String(n));
  await until("[subscribed 1 skipped 2 3]");
  const states: string[] = [];
  const all = [<List key="1" limit={2} />, <List key="2" limit={3} />, <Sum key="3" onState={(s) => states.push(s)} />];
  root.render(<App edge={edge}>{all}</App>);
  await until("[subscribed 1 skipped 2 3][subscribed 1 skipped 2 3][subscribed 2,3,]");
  peer.deliver("4");
  await until("[subscribed 2 skipped 3 4][subscribed 1 skipped 2 3 4][subscribed 2,3,4,]");
  assert.deepEqual([...new Set(states)], ["2,3,", "2,3,4,"]);
});

test("a burst costs few renders, and a reducer gets each message once", async (t) => {
  const edge = await Edge.start(t);
  const states: string[] = [];
  const { until } = shown(
    t,
    <App edge={edge}>
      <Sum onState={(s) => states.push(s)} />
    </App>,
  );
  await until("[subscribed ]");
  const peer = await edge.peer(0);
  const all = Array.from({ length: 1000 }, (_, i) => i);
  for (const n of all) peer.deliver(String(n));
  await until(`[subscribed ${all.join()},]`);
  assert.ok(states.length < 100, `${states.length} renders for 1000 messages`);
  for (const state of states) assert.ok(`${all.join()},`.startsWith(state));
});

test("what components show is of one moment", async (t) => {
  const edge = await Edge.start(t);
  function Pair() {
    const [a, b] = [useSubscription("t", "c"), useLastValue("t", "c")];
    const c = useSubscription("t", "c", { reducer: (n: number) => n + 1, initial: 0 });
    const same = (a.messages.at(-1)?.text() ?? 0) === (b.message?.text() ?? 0) && a.messages.length === c.state;
    return <>{same ? c.state : "torn"}</>;
  }
  const seen = new Set<string>();
  const { until } = shown(
    t,
    <App edge={edge}>
      <Pair />
    </App>,
  );
  const peer = await edge.peer(0);
  await peer.until("SUB:t:c");
  for (let n = 1; n <= 60; n++) {
    peer.deliver(String(n));
    if (n % 20 === 0) seen.add(await until((text) => text === String(n) || text === "torn"));
  }
  assert.deepEqual([...seen], ["20", "40", "60"]);
});

test("what a reducer throws is thrown by the component", async (t) => {
  class Boundary extends Component<{ children: ReactNode }> {
    override state = { text: "" };
    static getDerivedStateFromError = (err: Error) => ({ text: err.message });
    override render(): ReactNode {
      return this.state.text || this.props.children;
    }
  }
  const edge = await Edge.start(t);
  const bad = (): string => {
    throw new Error("no such state");
  };
  const { until } = shown(
    t,
    <App edge={edge}>
      <Boundary>
        <Sum reducer={bad} />
      </Boundary>
    </App>,
  );
  await until("[subscribed ]");
  (await edge.peer(0)).deliver("1");
  await until("no such state");
  complaints.length = 0; // React says that it was caught
});

test("the newest message, and that of each channel", async (t) => {
  const edge = await Edge.start(t);
  function Last() {
    const { message, channels } = useLastValue("t", "*", { limit: 2 });
    return <>{`${message?.text()} of ${[...channels].map(([channel, m]) => channel + m.text()).join()}`}</>;
  }
  const { until } = shown(
    t,
    <App edge={edge}>
      <Last />
    </App>,
  );
  const peer = await edge.peer(0);
  await peer.until("SUB:t:*");
  peer.deliver("1", "*", "a");
  peer.deliver("2", "*", "b");
  await until("2 of a1,b2");
  peer.deliver("3", "*", "a"); // in its place
  await until("3 of a3,b2");
  peer.deliver("4", "*", "c"); // in that of the one that is silent longest
  await until("4 of a3,c4");
});

test("a late message does not replace a newer one", async (t) => {
  let give: ((message: Message) => void) | undefined;
  const client = {
    ...{ edge: "https://a.example", transport: "websocket", rtt: undefined, closed: new Promise(() => undefined) },
    on: () => () => undefined,
    publish: async () => undefined,
    flush: async () => undefined,
    async subscribe(_tenant: string, _pattern: string, { onMessage }: { onMessage: typeof give }) {
      give = onMessage;
      return { ended: new Promise(() => undefined), unsubscribe: async () => undefined };
    },
  } as unknown as Client;
  function Last() {
    const { message, channels, status } = useLastValue("t", "*");
    return <>{`${status} ${message?.text()} of ${[...channels].map(([channel, m]) => channel + m.text()).join()}`}</>;
  }
  const { until } = shown(
    t,
    <MillraceProvider client={client}>
      <Last />
    </MillraceProvider>,
  );
  await until((text) => text.startsWith("subscribed"));
  const send = (channel: string, text: string, late: boolean): void =>
    give?.({ channel, late, text: () => text } as Message);
  send("a", "2", false);
  send("a", "1", true);
  send("b", "0", true); // there is no newer one
  await until("subscribed 2 of a2,b0");
});

test("messages say who has published them, with the option sender", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,sender";
  const Senders = () => <>{useSubscription("t", "c").messages.map((m) => `[${m.sender}: ${m.text()}]`)}</>;
  const { until } = shown(
    t,
    <MillraceProvider addresses={edge.url} options={{ ...options, sender: true }}>
      <Senders />
    </MillraceProvider>,
  );
  const peer = await edge.peer(0);
  await peer.until("SUB:t:c");
  assert.equal(peer.asked, "FEATURES:link,work_queue,own,reasons,sender");
  peer.deliverFrom("alice", "1");
  peer.deliver("2");
  await until("[alice: 1][: 2]");
});

test("a history, its gaps, and another try after the end", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history";
  edge.answers = (line) => !line.startsWith("RSUB");
  const { element, until } = shown(
    t,
    <App edge={edge}>
      <List history={{ last: 2 }} />
    </App>,
  );
  const peer = await edge.peer(0);
  await peer.until("RSUB:t:c:last.2");
  peer.stored(1, 2);
  peer.caughtUp(2, "gap");
  await until("[subscribed 1 gaps 1 2]");

  edge.answers = (line) => (line.startsWith("RSUB") ? "ERR:permission_denied:RSUB:t:c" : true);
  peer.kill();
  await until("[ended permission_denied 1 gaps 1 2]");
  const next = await edge.peer(1);
  next.answers = (line) => !line.startsWith("RSUB");
  const before = next.lines.all.length;
  element.querySelector("button")?.click();
  await next.until(`RSUB:t:c:${at(2)}`, before);
  next.stored(3);
  next.caughtUp(3);
  await until("[subscribed 1 gaps 1 2 3]");
});

test("an error is returned, and retry asks again", async (t) => {
  const edge = await Edge.start(t);
  let refusing = true;
  edge.answers = (line) => (refusing && line === "SUB:t:c" ? "ERR:permission_denied:SUB:t:c" : true);
  const { element, until } = shown(
    t,
    <App edge={edge}>
      <List />
    </App>,
  );
  await until("[ended permission_denied]");
  refusing = false;
  element.querySelector("button")?.click();
  await until("[subscribed]");
  (await edge.peer(0)).deliver("1");
  await until("[subscribed 1]");
  element.querySelector("button")?.click(); // it has not ended
  const asked = lines(await edge.peer(0)).filter((line) => line.startsWith("SUB"));
  assert.deepEqual(asked, ["SUB:t:c", "SUB:t:c"]);
});

test("bad names and limits", async (t) => {
  const edge = await Edge.start(t);
  const { until } = shown(
    t,
    <App edge={edge}>
      <List pattern="a b" />
    </App>,
  );
  await until("[ended bad_pattern]");
  for (const limit of [-1, Number.NaN, 100_001]) {
    assert.throws(
      () =>
        renderToString(
          <App edge={edge}>
            <List limit={limit} />
          </App>,
        ),
      RangeError,
    );
  }
  assert.throws(() => renderToString(<List />), /MillraceProvider is missing/);
});

function Connection0() {
  const { state, error, transport } = useConnection();
  return (
    <>
      {state} {transport} {error?.code}
    </>
  );
}

test("the state of the connection", async (t) => {
  const edge = await Edge.start(t);
  const { until } = shown(
    t,
    <App edge={edge}>
      <Connection0 />
    </App>,
  );
  await until("connected websocket ");
  edge.refusal = { status: 503, code: "unavailable" };
  (await edge.peer(0)).kill();
  await until("reconnecting websocket disconnected");
  edge.refusal = undefined;
  await until("connected websocket ");
  (await edge.peer(1)).revoke();
  await until("closed websocket token_revoked");
});

test("a first connection that fails is tried again, unless that is of no use", async (t) => {
  const edge = await Edge.start(t);
  edge.refusal = { status: 503, code: "unavailable" };
  const app = (
    <App edge={edge}>
      <Connection0 />
      <List />
    </App>
  );
  const { until } = shown(t, app);
  await until("connecting  unavailable[subscribing]");
  edge.refusal = undefined;
  await until("connected websocket [subscribed]");

  edge.refusal = { status: 401, code: "unauthorized" };
  const other = shown(t, app);
  await other.until("closed  unauthorized[ended unauthorized]");
});

test("a token provider may have another token later", async (t) => {
  const edge = await Edge.start(t);
  edge.refusal = { status: 401, code: "unauthorized" };
  edge.accepted = "AT_2";
  let token = "AT_1";
  const { token: _, ...others } = options;
  const { until } = shown(
    t,
    <MillraceProvider addresses={edge.url} user="ada" options={{ ...others, tokenProvider: () => token }}>
      <Connection0 />
    </MillraceProvider>,
  );
  await until("connecting  unauthorized");
  token = "AT_2";
  await until("connected websocket ");
});

test("publish", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history";
  let publish: Client["publish"] | undefined;
  const all = new Set<unknown>();
  function Publisher() {
    publish = usePublish();
    all.add(publish);
    return <Connection0 />;
  }
  const app = (
    <App edge={edge}>
      <Publisher />
    </App>
  );
  renderToString(app);
  const early = (await publish?.("t", "c", "1").catch((err) => err)) as MillraceError;
  assert.equal(early.code, "disconnected");
  all.clear();
  const { until } = shown(t, app);
  await until("connected websocket ");
  await publish?.("t", "c", "hello");
  const frame = await (await edge.peer(0)).frames.until(() => true);
  assert.match(frame.toString("latin1"), /hello$/);
  assert.ok(all.size <= 2); // StrictMode makes two stores at first
  edge.refusal = { status: 503, code: "draining" };
  (await edge.peer(0)).kill();
  await until("reconnecting websocket disconnected");
  await assert.rejects(publish?.("t", "c", "2", { confirm: true }) as Promise<unknown>, { code: "disconnected" });
  const waits = publish?.("t", "c", "3", { confirm: true, key: "k" });
  edge.refusal = undefined;
  const next = await edge.peer(1);
  const again = await next.frames.until((b) => b[0] === 3);
  next.send(`OK:PUB:${again.readUInt32BE(2)}:${at(1)}`);
  assert.equal(await waits, at(1));
});

test("a server renders what there is at first and connects to nothing, and the browser hydrates that", async (t) => {
  const edge = await Edge.start(t);
  const app = (
    <App edge={edge}>
      <Connection0 />
      <List history="last" />
      <List pattern={undefined as never} />
      <Sum />
    </App>
  );
  const html = renderToString(app);
  assert.match(html.replace(/<[^>]*>/g, ""), /^connecting {2}\[subscribing\]\[subscribing\]\[subscribing \]$/);
  edge.answers = (line) => !line.startsWith("RSUB");
  const { until } = shown(t, app, html);
  await until((text) => text.startsWith("connected"));
  assert.equal(edge.peers.all.length, 1);
});

test("without a pattern there is no subscription, and another one takes the place of the first", async (t) => {
  const edge = await Edge.start(t);
  function Idle({ pattern }: { pattern: string | undefined }) {
    const { status, messages } = useSubscription("t", pattern);
    return (
      <>
        {status} {texts(messages)}
      </>
    );
  }
  const app = (pattern: string | undefined): ReactNode => (
    <App edge={edge} linger={1}>
      <Idle pattern={pattern} />
    </App>
  );
  const { root, until } = shown(t, app(undefined));
  await until("idle ");
  root.render(app("a"));
  await until("subscribed ");
  const peer = await edge.peer(0);
  peer.deliver("1", "a", "a");
  await until("subscribed 1");
  root.render(app("b"));
  await until("subscribed ");
  await peer.until("UNSUB:t:a");
  assert.deepEqual(lines(peer), ["SUB:t:a", "SUB:t:b", "UNSUB:t:a"]);
});

test("another history takes the place of one that lingers", async (t) => {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,history";
  edge.answers = (line) => !line.startsWith("RSUB");
  const { root, until } = shown(
    t,
    <App edge={edge}>
      <List history="now" />
    </App>,
  );
  const peer = await edge.peer(0);
  await peer.until("RSUB:t:c:now"); // which has no answer yet
  root.render(
    <App edge={edge}>
      <List history={{ last: 3 }} />
    </App>,
  );
  peer.caughtUp(0);
  await peer.until("RSUB:t:c:last.3");
  peer.stored(1);
  peer.caughtUp(1);
  await until("[subscribed 1]");
});

test("a client of the application is shared by providers, and stays open", async (t) => {
  const edge = await Edge.start(t);
  const client = await connect(edge.url, options);
  t.after(() => client.close());
  const both = (
    <>
      <MillraceProvider client={client} linger={1}>
        <List />
      </MillraceProvider>
      <MillraceProvider client={client} linger={1}>
        {[<List key="1" />, <Connection0 key="2" />]}
      </MillraceProvider>
    </>
  );
  const { root, until } = shown(t, both);
  await until("[subscribed][subscribed]connected websocket ");
  const peer = await edge.peer(0);
  assert.deepEqual(lines(peer), ["SUB:t:c"]);
  root.render(null);
  await peer.until("UNSUB:t:c");
  await client.flush();
  await client.close();
  const last = shown(t, both);
  await last.until("[ended closed][ended closed]closed websocket ");
});

test("a client of the application that has no connection now", async (t) => {
  const edge = await Edge.start(t);
  const client = await connect(edge.url, options);
  t.after(() => client.close());
  edge.refusal = { status: 503, code: "unavailable" };
  const lost = new Promise((resolve) => client.on("disconnected", resolve));
  (await edge.peer(0)).kill();
  await lost;
  const { until } = shown(
    t,
    <MillraceProvider client={client}>
      <List />
      <Connection0 />
    </MillraceProvider>,
  );
  await until("[subscribing]reconnecting websocket disconnected");
  edge.refusal = undefined;
  await until("[subscribed]connected websocket ");
});

test("a provider with a user goes on where it is mounted again", async (t) => {
  const edge = await Edge.start(t);
  const app = (key: string): ReactNode => (
    <App key={key} user="ada" edge={edge}>
      <List />
    </App>
  );
  const { root, until } = shown(t, app("1"));
  await until("[subscribed]");
  (await edge.peer(0)).deliver("1");
  await until("[subscribed 1]");
  root.render(app("2"));
  (await edge.peer(0)).deliver("2");
  await until("[subscribed 1 2]");
  assert.equal(edge.peers.all.length, 1);
});

test("with another token there is another connection, and the token provider is the latest one", async (t) => {
  const edge = await Edge.start(t);
  const app = (props: Partial<MillraceProviderProps>): ReactNode => (
    <MillraceProvider addresses={edge.url} options={options} linger={1} {...(props as object)}>
      <List />
    </MillraceProvider>
  );
  const { root, until } = shown(t, app({}));
  await until("[subscribed]");
  root.render(app({ options: { ...options, token: "AT_2" } }));
  await (await edge.peer(0)).closed.until(() => true);
  assert.equal((await edge.peer(1)).token, "AT_2");

  const { token: _, ...plain } = options;
  function Renewing() {
    const [token, setToken] = useState("AT_3");
    const tokenProvider = () => ({ token, expiresAt: Date.now() + 3_600_000 });
    return (
      <MillraceProvider addresses={edge.url} user="ada" options={{ ...plain, tokenProvider }}>
        <button type="button" onClick={() => setToken("AT_4")}>
          {token}
        </button>
      </MillraceProvider>
    );
  }
  const renewing = shown(t, <Renewing />);
  const third = await edge.peer(2);
  assert.equal(third.token, "AT_3");
  renewing.element.querySelector("button")?.click();
  await renewing.until("AT_4");
  third.send("ERR:token_expired");
  third.close(4401);
  assert.equal((await edge.peer(3)).token, "AT_4");
});
