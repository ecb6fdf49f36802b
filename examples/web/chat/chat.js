// A chat: everyone publishes to one channel, and subscribes to it. What you
// write comes back to you as to the others. It begins with the last 50 lines, and
// misses none while your laptop sleeps: the edge of make dev keeps chat.#. It also
// knows who is here: whoever has joined the channel.
//
// A line is only a text. Who has written it is message.sender: the subject that
// the backend gave the writer's token. A page cannot speak as another.
import { TENANT, join } from "../edge.js";

const ROOM = "chat.lobby";
const [entry, form] = document.forms;
const { text } = form.elements;
let client;

entry.onsubmit = async (event) => {
  event.preventDefault();
  const button = entry.querySelector("button");
  button.disabled = true;
  try {
    client = await join(document.getElementById("status"), { name: entry.elements.name.value });
  } catch (error) {
    document.getElementById("status").textContent = `Not connected: ${error.message}`;
    button.disabled = false;
    return;
  }
  client.on("gap", () => add("Some lines may be missing here."));
  entry.remove();
  form.hidden = false;
  await client.subscribe(TENANT, ROOM, { history: { last: 50 }, onMessage: show });
  await client.join(TENANT, ROOM);
  showHere(await client.presence(TENANT, ROOM, { onChange: showHere }));
  form.querySelector("button").disabled = false;
};

let key; // of the line that is being sent: however often that is tried, it is stored once

form.onsubmit = async (event) => {
  event.preventDefault();
  key ??= crypto.randomUUID();
  try {
    await client.publish(TENANT, ROOM, text.value, { confirm: true, key });
    text.value = "";
  } catch {
    return; // the line stays where it is, to be sent again
  }
  key = undefined;
};

text.oninput = () => (key = undefined); // another line

// It is shown as text, never as HTML: anyone with a token can publish anything.
function show(message) {
  add(`${message.sender}: ${message.text()}`);
}

// Who has two tabs open is here once, and a page that is loaded again does not leave.
function showHere({ members }) {
  document.getElementById("here").textContent = `Here: ${members.map(({ subject }) => subject).join(", ")}`;
}

function add(line) {
  const item = document.createElement("li");
  item.textContent = line;
  document.getElementById("log").append(item);
}
