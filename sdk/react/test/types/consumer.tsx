// Not run: compiled with the types of React 18 as an application's code is, against the
// declarations in dist, without skipLibCheck; and with those of React 19 as the tests are.
import type { Client, Message, MillraceError } from "@millrace/client";
import {
  type Connection,
  type ConnectionState,
  MillraceProvider,
  type SubscriptionStatus,
  useConnection,
  useLastValue,
  usePublish,
  useSubscription,
} from "@millrace/react";
import type { ReactElement } from "react";

export function Page({ client }: { client: Client }): ReactElement {
  return (
    <MillraceProvider addresses="https://a.example" options={{ token: "AT", on: { gap: undefined } }} user={undefined}>
      <MillraceProvider
        addresses={["https://a.example"]}
        options={{ tokenProvider: () => "AT" }}
        user={null}
        linger={10}
      >
        <MillraceProvider client={client}>
          <Room />
        </MillraceProvider>
      </MillraceProvider>
    </MillraceProvider>
  );
}

function Room(): ReactElement {
  const { messages, status, error, skipped } = useSubscription("t", "a.*", { history: "last", limit: 10 });
  const first: Message | undefined = messages[0];
  const sum = useSubscription("t", undefined, { reducer: (n, m) => n + m.payload.length, initial: 0 });
  const total: number = sum.state + skipped + sum.gaps;
  const last = useLastValue("t", "a.*");
  const all: ReadonlyMap<string, Message> = last.channels;
  const publish: Client["publish"] = usePublish();
  const connection: Connection = useConnection();
  const state: [ConnectionState, SubscriptionStatus, MillraceError | undefined] = [connection.state, status, error];
  sum.retry();
  void publish("t", "a", "x", { confirm: true }).then((position: string | undefined) => position);
  // @ts-expect-error: a reducer needs an initial state
  useSubscription("t", "a", { reducer: (n: number) => n });
  return (
    <>
      {state.join()} {total} {first?.text()} {all.size}
    </>
  );
}

export function Wrong({ client }: { client: Client }): ReactElement {
  return (
    <>
      {/* @ts-expect-error: a client or addresses */}
      <MillraceProvider />
      {/* @ts-expect-error: no options */}
      <MillraceProvider addresses="https://a.example" />
      {/* @ts-expect-error: messages would go on as whoever was there first */}
      <MillraceProvider addresses="https://a.example" options={{ tokenProvider: () => "AT" }} />
      {/* @ts-expect-error: undefined is no user */}
      <MillraceProvider addresses="https://a.example" options={{ tokenProvider: () => "AT" }} user={undefined} />
      {/* @ts-expect-error: both */}
      <MillraceProvider client={client} addresses="https://a.example" options={{ token: "AT" }} />
    </>
  );
}
