// A chat: everyone publishes to one channel, and subscribes to it. What you
// write comes back to you as to the others.
import { TENANT, join } from "../edge.js";

const ROOM = "chat.lobby";
const form = document.forms[0];
const { name, text } = form.elements;

const client = await join(document.getElementById("status"));
await client.subscribe(TENANT, ROOM, { onMessage: show });
form.querySelector("button").disabled = false;

form.onsubmit = async (event) => {
  event.preventDefault();
  try {
    await client.publish(TENANT, ROOM, JSON.stringify({ name: name.value, text: text.value }));
    text.value = "";
  } catch {
    // No connection now: the line stays where it is, to be sent again.
  }
};

// What is no line of a chat is not shown: anyone with a token can publish
// anything. What is, is shown as text, never as HTML.
function show(message) {
  let said;
  try {
    said = message.json();
  } catch {
    return;
  }
  const item = document.createElement("li");
  item.textContent = `${said?.name}: ${said?.text}`;
  document.getElementById("log").append(item);
}
