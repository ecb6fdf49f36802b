import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MillraceProvider, useJoin, usePresence, useSubscription } from "@millrace/react";
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { Edge, type Peer } from "../../js/test/edge.js";
import { complaints, shown } from "./dom.js";

const options = { token: "AT_1", transports: ["websocket" as const], minBackOff: 1, maxBackOff: 10 };
const lines = (peer: Peer): string[] => peer.lines.all.filter((line) => line !== "PING");

test.afterEach(() => assert.deepEqual(complaints.splice(0), []));

/** start starts an edge that answers a WHO with two members, or their numbers. */
async function start(t: TestContext): Promise<Edge> {
  const edge = await Edge.start(t);
  edge.features = "FEATURES:link,presence";
  edge.answers = (line) => {
    if (!line.startsWith("WHO:")) return true;
    const peer = edge.peers.all.at(-1) as Peer;
    peer.answer(line);
    if (line.endsWith(":count")) peer.tell("first synced counts", "a=2");
    else peer.tell("first synced", "+a/ann", "+a/bo");
    return false;
  };
  return edge;
}

function App({ edge, children, linger = 1000 }: { edge: Edge; children?: ReactNode; linger?: number }) {
  return (
    <StrictMode>
      <MillraceProvider addresses={edge.url} options={options} linger={linger}>
        {children}
      </MillraceProvider>
    </StrictMode>
  );
}

function Joined({ channel = "a" }: { channel?: string | undefined }) {
  const { joined, error } = useJoin("t", channel);
  return (
    <>
      [{channel} {joined ? "joined" : "not joined"}
      {error ? ` ${error.code}` : ""}]
    </>
  );
}

function Who({ pattern = "room.*", count }: { pattern?: string | undefined; count?: boolean }) {
  const { members, counts, synced, error } = usePresence("t", pattern, { count });
  return (
    <>
      [{synced ? "synced" : "not synced"}
      {members.map(({ subject }) => ` ${subject}`)}
      {[...counts].map(([channel, n]) => ` ${channel}=${n}`)}
      {error ? ` ${error.code}` : ""}]
    </>
  );
}

test("components are present together, and share what they know of others", async (t) => {
  const edge = await start(t);
  const { root, until } = shown(
    t,
    <App edge={edge} linger={1}>
      {[<Joined key="1" />, <Joined key="2" />, <Who key="3" />, <Who key="4" />]}
    </App>,
  );
  await until("[a joined][a joined][synced ann bo a=2][synced ann bo a=2]");
  const peer = await edge.peer(0);
  peer.tell("", "-a/ann", "+b/cy");
  await until("[a joined][a joined][synced bo cy a=1 b=1][synced bo cy a=1 b=1]");
  assert.deepEqual(lines(peer).sort(), ["JOIN:t:a", "WHO:t:room.*"], "StrictMode shows no leave and join");
  root.render(
    <App edge={edge} linger={1}>
      {[<Joined key="2" />, <Who key="4" />]}
    </App>,
  );
  await until("[a joined][synced bo cy a=1 b=1]");
  assert.equal(lines(peer).length, 2);
  root.render(<App edge={edge} linger={1} />);
  await peer.until("LEAVE:t:a");
  await peer.until("UNWHO:t:room.*");
});

test("who comes back in time is still there", async (t) => {
  const edge = await start(t);
  const { root, until } = shown(t, <App edge={edge}>{[<Joined key="1" />, <Who key="2" />]}</App>);
  await until("[a joined][synced ann bo a=2]");
  root.render(<App edge={edge} />);
  await until("");
  root.render(<App edge={edge}>{[<Joined key="3" />, <Who key="4" />]}</App>);
  await until("[a joined][synced ann bo a=2]");
  assert.equal(lines(await edge.peer(0)).length, 2);
});

test("the page that is left leaves", async (t) => {
  const edge = await start(t);
  const { root, until } = shown(
    t,
    <App edge={edge} linger={1}>
      <Joined />
    </App>,
  );
  await until("[a joined]");
  root.render(null);
  const peer = await edge.peer(0);
  await peer.closed.until(() => true);
  assert.deepEqual(lines(peer), ["JOIN:t:a", "LEAVE:t:a"]);
});

test("another channel is another membership, and none does nothing", async (t) => {
  const edge = await start(t);
  const app = (children: ReactNode): ReactNode => (
    <App edge={edge} linger={1}>
      {children}
    </App>
  );
  const none = { channel: undefined, pattern: undefined };
  function Maybe({ channel }: { channel: string | undefined }) {
    const { joined } = useJoin("t", channel);
    return <>[{`${channel} ${joined}`}]</>;
  }
  const { root, until } = shown(t, app(<Maybe {...none} />));
  await until("[undefined false]");
  const peer = await edge.peer(0);
  root.render(app(<Maybe channel="a" />));
  await until("[a true]");
  root.render(app(<Maybe channel="b" />));
  await until("[b true]");
  await peer.until("LEAVE:t:a");
  assert.deepEqual(lines(peer), ["JOIN:t:a", "JOIN:t:b", "LEAVE:t:a"]);
});

test("numbers alone, then members: what lingers is not in the way, what is shown is", async (t) => {
  const edge = await start(t);
  const { root, until } = shown(t, <App edge={edge}>{[<Who key="1" count />]}</App>);
  await until("[synced a=2]");
  root.render(<App edge={edge}>{[<Who key="2" />]}</App>);
  await until("[synced ann bo a=2]");
  root.render(<App edge={edge}>{[<Who key="2" />, <Who key="3" count />]}</App>);
  await until("[synced ann bo a=2][synced a=2]");
  const peer = await edge.peer(0);
  assert.deepEqual(lines(peer), ["WHO:t:room.*:count", "UNWHO:t:room.*", "WHO:t:room.*"]);
});

test("a loss of the connection keeps what was there", async (t) => {
  const edge = await start(t);
  const states: string[] = [];
  function Seen() {
    const { joined } = useJoin("t", "a");
    const { members, synced } = usePresence("t", "room.*");
    states.push(`${joined} ${synced} ${members.map(({ subject }) => subject).join()}`);
    return <>{states.at(-1)}</>;
  }
  const { until } = shown(
    t,
    <App edge={edge}>
      <Seen />
    </App>,
  );
  await until("true true ann,bo");
  const { answers } = edge;
  edge.answers = (line) => !line.startsWith("WHO:");
  (await edge.peer(0)).kill();
  await until("true false ann,bo");
  const second = await edge.peer(1);
  await second.until("WHO:t:room.*");
  states.length = 0;
  edge.answers = answers;
  second.answer("WHO:t:room.*");
  second.tell("first synced", "+a/ann", "+a/bo", "+a/cy");
  await until("true true ann,bo,cy");
  assert.deepEqual([...new Set(states)], ["true true ann,bo,cy"]);
});

test("what is refused, and what ends, is an error", async (t) => {
  const edge = await start(t);
  edge.answers = (line) => (/^(JOIN|WHO):/.test(line) ? `ERR:permission_denied:${line}` : true);
  const { root, until } = shown(t, <App edge={edge}>{[<Joined key="1" />, <Who key="2" />]}</App>);
  await until("[a not joined permission_denied][not synced permission_denied]");
  const other = await start(t);
  root.render(<App edge={other}>{[<Joined key="1" />, <Who key="2" />]}</App>);
  await until("[a joined][synced ann bo a=2]");
  (await other.peer(0)).revoke();
  await until("[a not joined token_revoked][not synced ann bo a=2 token_revoked]");
});

test("a server renders that nobody is there, and a subscription of the same name is another thing", async (t) => {
  const edge = await start(t);
  function All() {
    const { status } = useSubscription("t", "a");
    return (
      <>
        <Joined />
        <Who pattern="a" />[{status}]
      </>
    );
  }
  const app = (
    <App edge={edge}>
      <All />
    </App>
  );
  assert.match(renderToString(app).replaceAll("<!-- -->", ""), /\[a not joined\]\[not synced\]\[subscribing\]/);
  const { until } = shown(t, app);
  await until((text) => text.includes("[a joined]") && text.includes("[subscribed]"));
  assert.deepEqual(lines(await edge.peer(0)).sort(), ["JOIN:t:a", "SUB:t:a", "WHO:t:a"]);
});
