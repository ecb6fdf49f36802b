import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, MillraceError } from "@millrace/client";
import {
  type Connection,
  MillraceProvider,
  useClient,
  useConnection,
  useJoin,
  usePresence,
  usePublish,
  useSubscription,
} from "@millrace/react";
import { type ReactNode, StrictMode } from "react";
import { renderToString } from "react-dom/server";
import { Edge } from "../../js/test/edge.js";
import { complaints, shown } from "./dom.js";

const options = { transports: ["websocket" as const], minBackOff: 1, maxBackOff: 10 };

test.afterEach(() => assert.deepEqual(complaints.splice(0), []));

let publish: Client["publish"];
let client: Client | undefined;
let connection: Connection;

function Room() {
  publish = usePublish();
  client = useClient();
  connection = useConnection();
  const { messages, status } = useSubscription("t", "c");
  const { joined } = useJoin("t", "room.a");
  const { members } = usePresence("t", "room.*");
  const texts = messages.map((m) => m.text()).join(" ");
  return (
    <>
      [{connection.state} {status} {joined ? "joined" : "away"} {members.map((m) => m.subject).join()} {texts}]
    </>
  );
}

function App({ edge, user }: { edge: Edge; user: string | null }): ReactNode {
  // Another function with each rendering, and the token of whoever is logged in now.
  const tokenProvider = () => ({ token: `AT_${user}`, expiresIn: "1h" });
  return (
    <StrictMode>
      <MillraceProvider addresses={edge.url} user={user} options={{ ...options, tokenProvider }} linger={60_000}>
        <Room />
      </MillraceProvider>
    </StrictMode>
  );
}

async function started(t: Parameters<Parameters<typeof test>[0] & object>[0]): Promise<Edge> {
  const edge = await Edge.start(t as never);
  edge.features = "FEATURES:link,presence";
  edge.answers = (line) => {
    if (!line.startsWith("WHO:")) return true;
    const peer = edge.peers.all.at(-1);
    peer?.answer(line);
    peer?.tell("first synced", `+a/of-${peer.token}`);
    return false;
  };
  return edge;
}

test("another user has another connection, and sees nothing of the first one", async (t) => {
  const edge = await started(t);
  const { root, until, element } = shown(t, <App edge={edge} user="ada" />);
  const first = await edge.peer(0);
  assert.equal(first.token, "AT_ada");
  await until("[connected subscribed joined of-AT_ada ]");
  first.deliver("secret");
  await until("[connected subscribed joined of-AT_ada secret]");
  for (let i = 0; i < 3; i++) root.render(<App edge={edge} user="ada" />); // with other token providers
  const asAda = publish;
  await asAda("t", "c", "by ada");
  await first.frames.until((frame) => frame.includes("by ada"));

  const seen = new Set<string>();
  const watch = new MutationObserver(() => seen.add(element.textContent ?? ""));
  watch.observe(element, { childList: true, characterData: true, subtree: true });
  root.render(<App edge={edge} user="bob" />);
  const second = await edge.peer(1);
  await until("[connected subscribed joined of-AT_bob ]");
  assert.equal(second.token, "AT_bob");
  await first.closed.until(() => true); // at once, however long it lingers
  assert.deepEqual(
    [...seen].filter((text) => /ada|secret/.test(text)),
    [],
  );
  await publish("t", "c", "by bob");
  await second.frames.until((frame) => frame.includes("by bob"));
  const late = (await asAda("t", "c", "late").catch((err) => err)) as MillraceError;
  assert.equal(late.code, "disconnected");
  assert.equal(first.frames.all.length, 1);
  assert.equal(edge.peers.all.length, 2);
  root.render(<App edge={edge} user={null} />);
  await second.closed.until(() => true);
});

test("nobody is logged in: no connection, until somebody is", async (t) => {
  const edge = await started(t);
  const { root, until } = shown(t, <App edge={edge} user="ada" />);
  await until("[connected subscribed joined of-AT_ada ]");
  assert.equal(client?.edge, edge.url);
  root.render(<App edge={edge} user={null} />);
  await until("[closed idle away  ]");
  await (await edge.peer(0)).closed.until(() => true);
  assert.equal(client, undefined);
  const refused = (await publish("t", "c", "x").catch((err) => err)) as MillraceError;
  assert.match(refused.message, /^logged_out: .* nobody is logged in$/);
  await assert.rejects(connection.renewToken(), { code: "logged_out" });
  root.render(<App edge={edge} user="ada" />);
  await until("[connected subscribed joined of-AT_ada ]");
  assert.equal(edge.peers.all.length, 2);
  root.render(<App edge={edge} user={null} />);
  await (await edge.peer(1)).closed.until(() => true);
});

test("a token provider needs a user", () => {
  for (const user of [undefined, "", 7]) {
    const app = (
      <MillraceProvider
        addresses="https://e.example"
        options={{ ...options, tokenProvider: () => "AT_1" }}
        user={user as never}
      />
    );
    assert.throws(() => renderToString(app), { code: "bad_option" }, String(user));
  }
});

test("renewToken and retry", async (t) => {
  const edge = await started(t);
  edge.refusal = { status: 503, code: "unavailable" };
  let asked = 0;
  const tokenProvider = () => `AT_${++asked}`;
  const slow = { ...options, minBackOff: 1_000_000, maxBackOff: 1_000_000 };
  const app = (
    <MillraceProvider addresses={edge.url} user="eve" options={{ ...slow, tokenProvider }}>
      <Room />
    </MillraceProvider>
  );
  const { until } = shown(t, app);
  await until("[connecting subscribing away  ]");
  while (connection.error?.code !== "unavailable") await new Promise((resolve) => setTimeout(resolve, 1));
  await assert.rejects(connection.renewToken(), { code: "disconnected" });
  edge.refusal = undefined;
  connection.retry();
  await until("[connected subscribed joined of-AT_2 ]");
  await connection.renewToken();
  const peer = await edge.peer(1);
  assert.equal(peer.token, "AT_3");
  await until("[connected subscribed joined of-AT_2 ]");
  peer.revoke();
  await until("[closed ended away of-AT_2 ]");
  connection.retry();
  await until("[connected subscribed joined of-AT_4 ]");
});
