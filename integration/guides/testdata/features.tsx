// The page in which TestFeatures runs what the how-tos show: `?user=…&show=…` is who is logged in, and which component.
import { tokenFrom } from "@millrace/client";
import { MillraceProvider, useClient } from "@millrace/react";
import { createRoot } from "react-dom/client";
import App from "./login-and-logout/src/App";
import * as session from "./login-and-logout/session.js";
import { Chat } from "./optimistic-update/src/Chat";
import * as outbox from "./outbox/outbox";
import { enter } from "./presence/presence.js";
import { WhoIsHere } from "./presence/src/WhoIsHere";
import { Room } from "./scroll-back/src/Room";
import { older } from "./scroll-back/room.js";
import { Answer } from "./streaming-answers/src/Answer";
import { Typing } from "./typing/src/Typing";

const query = new URLSearchParams(location.search);
const user = query.get("user") ?? "";
const options = { tokenProvider: tokenFrom(`/token?user=${user}`) };
const parts = {
  App: () => <App />,
  Chat: () => <Chat />,
  WhoIsHere: () => <WhoIsHere />,
  Room: () => <Room />,
  Answer: () => <Answer id={location.hash.slice(1)} />,
  Typing: () => <Typing me={user} />,
  nothing: () => null,
};

// Test gives the test the client of the page, once it is connected.
function Test() {
  const connected = useClient();
  Object.assign(window, { page: { client: connected, ...outbox, ...session, enter, older, connect: () => import("./page.js") } });
  return <p id="connected">{connected ? "connected" : ""}</p>;
}

createRoot(document.getElementById("root") as HTMLElement).render(
  <MillraceProvider addresses="http://localhost:8080" user={user} options={options}>
    {parts[(query.get("show") ?? "nothing") as keyof typeof parts]()}
    <Test />
  </MillraceProvider>,
);
