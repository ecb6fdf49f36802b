// What the pages share: where the edge is, and who gives tokens for it.
import { connect, tokenFrom } from "/sdk/index.js";

export const TENANT = "demo.room";

// join connects, by a name if there is one, and keeps an element up to date with how it goes.
export async function join(status, { name = "" } = {}) {
  status.textContent = "Connecting…";
  const client = await connect("http://localhost:8080", {
    tokenProvider: tokenFrom("/token", { body: new URLSearchParams({ name }) }),
    sender: true,
  });
  const show = (text) => () => (status.textContent = text);
  client.on("suspect", show("Nothing comes. Looking for another connection…"));
  client.on("recovered", show("Connected again."));
  client.on("disconnected", show("The connection is lost. Reconnecting…"));
  client.on("reconnected", show("Connected again."));
  client.on("closed", ({ error }) => (status.textContent = `Not connected: ${error?.message ?? "left"}.`));
  client.on("publishError", ({ code }) => (status.textContent = `The edge refused it: ${code}.`));
  show("Connected.")();
  return client;
}
