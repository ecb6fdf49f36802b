// A test of an application, as Jest and Vitest run it: a component with the hooks, and a client, talk to an edge.
import { connect } from "@millrace/client";
import { MillraceProvider, useConnection, usePublish, useSubscription } from "@millrace/react";
import { createElement } from "react";
import { createRoot } from "react-dom/client";

const { EDGE: edge } = process.env;
const options = { token: "AT_1", webSocket: globalThis.testedWebSocket };

function Room() {
  const { state } = useConnection();
  const { messages, status } = useSubscription("t", "c");
  const publish = usePublish();
  const onClick = () => publish("t", "c", new Uint8Array([104, 105]));
  return createElement(
    "button",
    { type: "button", onClick },
    `${state} ${status} ${messages.map((m) => m.text()).join()}`,
  );
}

test("a component", async () => {
  const element = document.body.appendChild(document.createElement("div"));
  const shows = (text) =>
    new Promise((resolve) => {
      const look = () => element.textContent === text && resolve();
      new MutationObserver(look).observe(element, { childList: true, characterData: true, subtree: true });
      look();
    });
  const root = createRoot(element);
  root.render(createElement(MillraceProvider, { addresses: edge, options }, createElement(Room)));
  await shows("connected subscribed ");
  element.querySelector("button").click();
  await shows("connected subscribed hi");
  root.unmount();
});

test("a client", async () => {
  const client = await connect(edge, options);
  const got = new Promise((onMessage) =>
    client.subscribe("t", "d", { onMessage }).then(() => client.publish("t", "d", "ü")),
  );
  expect((await got).text()).toBe("ü");
  await client.close();
});
