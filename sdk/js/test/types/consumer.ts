// Not run: compiled as an application's code is, against the declarations in
// dist, without skipLibCheck.
import {
  type AccessToken,
  type Client,
  type ClientEvents,
  type ConnectOptions,
  connect,
  type ErrorCode,
  type Member,
  type Membership,
  type Message,
  MillraceError,
  type Presence,
  type PresenceChange,
  type Subscription,
  type Transport,
} from "@millrace/client";
import { type Client as CoreClient, connect as connectCore } from "@millrace/client/core";
import "@millrace/client/history";
import "@millrace/client/moves";
import "@millrace/client/presence";
import "@millrace/client/webtransport";
import { MillraceError as AdminError, type IssuedToken, TokenAdmin, type TokenInfo } from "@millrace/client/admin";

export async function page(options: ConnectOptions): Promise<void> {
  const client: Client = await connect(["https://a.example", "https://b.example/edges"], {
    ...options,
    tokenProvider: async (): Promise<AccessToken> => ({ token: "AT", expiresAt: new Date() }),
    transports: ["websocket"],
    queuePolicy: "end",
    paths: { ping: undefined },
    on: { moving: undefined, connected: ({ edge, transport }) => `${edge} ${transport}` },
  });
  const remove: () => void = client.on("moved", (e) => {
    const reason: "drain" | "token" | "transport" = e.reason;
    return reason;
  });
  remove();
  client.on("recovered", ({ edge, transport, away }) => `${edge} ${transport} ${away.toFixed()}`);
  const sub: Subscription = await client.subscribe("t", "a.#", { queue: 10 });
  await client.subscribe("t", "a.#", { onMessage: (m: Message) => m.text() });
  for await (const { channel, payload, pattern, patterns, late } of sub) {
    const behind: boolean = late;
    if (behind) continue;
    const all: [string, Uint8Array, string, readonly string[]] = [channel, payload, pattern, patterns];
    await client.publish("t", all[0], all[1], { delivery: "one-random" });
  }
  await sub.unsubscribe();
  const here: Membership = await client.join("t", "a");
  const presence: Presence = await client.presence("t", "a.#", { count: false, onChange: () => {} });
  const who: readonly Member[] = presence.members;
  const info: unknown = who[0]?.info?.name;
  for await (const change of presence) {
    const one: PresenceChange = change;
    const text: string =
      one.type === "counts" ? one.count.toFixed() : one.member.subject + one.member.since.toISOString();
    void [text, info, presence.counts.get(one.channel), presence.synced];
  }
  await presence.close();
  await here.leave();
  void [await here.ended, await presence.ended];
  const ended: MillraceError | undefined = await sub.ended;
  const code: ErrorCode | undefined = ended?.code;
  const transport: Transport = client.transport;
  const rtt: number | undefined = client.rtt;
  const event: ClientEvents["closed"] = { error: await client.closed };
  void [code, transport, rtt, event, client.edge];
  await client.flush();
  await client.close();
  await client[Symbol.asyncDispose]();
  // @ts-expect-error: no such event
  client.on("nothing", () => {});
  // @ts-expect-error: no such delivery
  await client.publish("t", "a", "", { delivery: "all" });
}

export async function small(options: ConnectOptions): Promise<Client> {
  const client: CoreClient = await connectCore("https://a.example", options);
  return client;
}

export async function backend(): Promise<void> {
  const admin = new TokenAdmin("https://a.example", "MT", { timeout: 1000 });
  const issued: IssuedToken = await admin.issue({
    createdBy: "backend",
    expiresIn: "1h",
    grants: [{ tenants: ["t"], publish: ["a"] }],
  });
  const until: Date = await admin.refresh(issued.tokenId, { expiresAt: new Date() });
  await admin.revoke(issued.token);
  for await (const info of admin.list({ tenant: "t" })) {
    const token: TokenInfo = info;
    void [token.status, until];
  }
  if (new AdminError("closed") instanceof MillraceError) return;
}
