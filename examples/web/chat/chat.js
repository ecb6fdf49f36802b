// A chat: everyone publishes to one channel, and subscribes to it. What you
// write comes back to you as to the others. It begins with the last 50 lines, and
// misses none while your laptop sleeps: the edge of make dev keeps chat.#.
import { TENANT, join } from "../edge.js";

const ROOM = "chat.lobby";
const form = document.forms[0];
const { name, text } = form.elements;

const client = await join(document.getElementById("status"));
client.on("gap", () => add("Some lines may be missing here."));
await client.subscribe(TENANT, ROOM, { history: { last: 50 }, onMessage: show });
form.querySelector("button").disabled = false;

let key; // of the line that is being sent: however often that is tried, it is stored once

form.onsubmit = async (event) => {
  event.preventDefault();
  key ??= crypto.randomUUID();
  try {
    await client.publish(TENANT, ROOM, JSON.stringify({ name: name.value, text: text.value }), { confirm: true, key });
    text.value = "";
  } catch {
    return; // the line stays where it is, to be sent again
  }
  key = undefined;
};

text.oninput = () => (key = undefined); // another line

// What is no line of a chat is not shown: anyone with a token can publish
// anything. What is, is shown as text, never as HTML.
function show(message) {
  let said;
  try {
    said = message.json();
  } catch {
    return;
  }
  add(`${said?.name}: ${said?.text}`);
}

function add(line) {
  const item = document.createElement("li");
  item.textContent = line;
  document.getElementById("log").append(item);
}
