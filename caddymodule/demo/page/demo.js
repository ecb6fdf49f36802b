// The page: its forms make calls of a Connection, whose events it shows.
import { browser } from "./browser.js";
import { Connection } from "./connection.js";
import { isChannel, isPattern } from "./protocol.js";

const MAX_ROWS = 200; // messages shown
const PING_EVERY = 2000; // ms

const ENDS = {
  forbidden: "the edge does not allow this connection",
  internal: "the edge has a fault",
  slow_consumer: "this page was too slow to read",
  token_expired: "the token has expired; connect again for a new one",
  token_revoked: "the token was revoked; connect again for a new one",
  token_unverifiable: "the edge cannot check the token any more",
  unauthorized: "the edge does not accept the token",
  1000: "as you asked",
  1001: "the edge stops",
  1006: "the connection broke",
  1013: "the edge has no room now",
};

const get = (id) => document.getElementById(id);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

let connection; // while there is one or one is made
let tenant;
const subscriptions = new Map(); // pattern → confirmed; they outlive a connection

// Connection

async function connect(transport) {
  const mine = {}; // taken back when the user disconnects meanwhile
  connection = mine;
  show("Connecting…", "connecting");
  let access;
  try {
    access = await fetchAccess();
  } catch (err) {
    if (connection === mine) end(`No token: ${err.message}`);
    return;
  }
  if (connection !== mine) return;
  tenant = access.tenant;
  get("token-id").textContent = access.token.split("_")[1];
  get("expires").textContent = time(new Date(access.expires_at));

  connection = new Connection({
    transport,
    url: address(transport, access.https_port),
    token: access.token,
    hashes: access.certificate_hashes.map(({ algorithm, value }) => ({
      algorithm,
      value: Uint8Array.from(atob(value), (c) => c.charCodeAt(0)),
    })),
  });
  follow(connection);
}

// follow shows the events of a connection until it ends.
function follow(c) {
  let pings;
  let opened = false;
  c.addEventListener("open", ({ detail: { transport, credentials } }) => {
    opened = true;
    get("transport").textContent = transport;
    get("credentials").textContent = credentials;
    show(`Connected by ${transport} to the tenant ${tenant}.`, "open");
    subscriptions.forEach((_, pattern) => c.subscribe(tenant, pattern));
    c.ping();
    pings = setInterval(() => c.ping(), PING_EVERY);
  });
  c.addEventListener("rtt", ({ detail }) => (get("rtt").textContent = `${detail.toFixed(1)} ms`));
  c.addEventListener("deliver", ({ detail: { channel, payload } }) => addRow(channel, readable(payload)));
  c.addEventListener("line", ({ detail }) => takeLine(detail));
  c.addEventListener("close", ({ detail }) => {
    clearInterval(pings);
    if (connection === c) end(`${opened ? "Disconnected" : "No connection came about"}: ${why(detail)}.`, detail.code !== 1000);
  });
}

async function fetchAccess() {
  const answer = await fetch("/demo/token", { method: "POST", cache: "no-store" });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail);
  return body;
}

function address(transport, httpsPort) {
  if (transport === "WebTransport") return `https://localhost:${httpsPort}/wt`;
  return `${location.protocol === "https:" ? "wss" : "ws"}://localhost:${location.port}/ws`;
}

function why({ code, reason, error }) {
  const facts = [error && [error.code, error.detail].filter(Boolean).join(":"), code].filter(Boolean).join(", ");
  const text = ENDS[error?.code] ?? ENDS[code] ?? (reason || "no reason was given");
  return facts ? `${text} (${facts})` : text;
}

function end(text, failed = true) {
  connection = undefined;
  for (const id of ["transport", "rtt", "credentials", "expires", "token-id"]) get(id).textContent = "–";
  subscriptions.forEach((_, pattern) => subscriptions.set(pattern, false));
  show(text, failed ? "failed" : "idle");
  listSubscriptions();
}

// show tells the state: idle, connecting, open or failed.
function show(text, state) {
  get("status").textContent = text;
  get("status").dataset.state = state;
  get("switch").textContent = connection ? "Disconnect" : "Connect";
  for (const control of document.querySelectorAll("#subscribe button, #publish button")) control.disabled = state !== "open";
}

// Subscriptions

function takeLine(line) {
  switch (line.kind) {
    case "OK":
      if (line.verb === "SUB") subscriptions.set(line.pattern, true);
      else subscriptions.delete(line.pattern);
      listSubscriptions();
      break;
    case "ERR":
      addRow("from the edge", line.line);
      if (line.detail.startsWith("SUB:")) {
        subscriptions.delete(line.detail.split(":")[2]);
        listSubscriptions();
      }
      break;
    case "RECONNECT":
      addRow("from the edge", "RECONNECT: the edge is about to stop");
  }
}

function listSubscriptions() {
  const items = [...subscriptions].map(([pattern, confirmed]) => {
    const item = document.createElement("li");
    const name = document.createElement("code");
    name.textContent = pattern;
    item.className = confirmed ? "" : "pending";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Unsubscribe";
    button.setAttribute("aria-label", `Unsubscribe ${pattern}`);
    button.onclick = () => {
      if (confirmed) connection.unsubscribe(tenant, pattern);
      else subscriptions.delete(pattern);
      listSubscriptions();
    };
    item.append(name, button);
    return item;
  });
  get("subscribed").replaceChildren(...items);
}

// Messages

function addRow(title, text) {
  const row = document.createElement("li");
  for (const [element, content] of [["time", time(new Date())], ["code", title], ["span", text]]) {
    const cell = document.createElement(element);
    cell.textContent = content;
    row.append(cell);
  }
  get("log").prepend(row);
  while (get("log").children.length > MAX_ROWS) get("log").lastElementChild.remove();
  get("none").hidden = true;
}

function readable(payload) {
  try {
    return decoder.decode(payload);
  } catch {
    return Array.from(payload, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
  }
}

const time = (date) => date.toLocaleTimeString();

// Forms

function onSubmit(id, act) {
  get(id).addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}

// valid marks a field whose name breaks the rules, and says which they are.
function valid(field, legal, rules) {
  field.setCustomValidity(legal(field.value) ? "" : rules);
  return field.reportValidity();
}

for (const id of ["pattern", "channel"]) get(id).addEventListener("input", () => get(id).setCustomValidity(""));

onSubmit("connect", () => {
  if (!connection) connect(new FormData(get("connect")).get("transport"));
  else if (connection instanceof Connection) connection.close();
  else end("Not connected.", false);
});

// A browser may drop what it has open without a word to the edge.
addEventListener("pagehide", () => {
  if (connection instanceof Connection) connection.close();
});

onSubmit("subscribe", () => {
  const rules = "1 to 32 parts with dots between them, of letters, digits and _-~@; a part may be * or end in *, the last one also in # or >";
  if (!valid(get("pattern"), isPattern, rules)) return;
  const pattern = get("pattern").value;
  if (!subscriptions.has(pattern)) subscriptions.set(pattern, false);
  listSubscriptions();
  connection.subscribe(tenant, pattern);
});

onSubmit("publish", () => {
  if (!valid(get("channel"), isChannel, "1 to 32 parts with dots between them, of letters, digits and _-~@")) return;
  connection.publish({
    tenant,
    channel: get("channel").value,
    payload: encoder.encode(get("text").value),
    delivery: Number(get("delivery").value),
  });
});

get("clear").onclick = () => {
  get("log").replaceChildren();
  get("none").hidden = false;
};

const can = browser();
for (const note of can.notes) {
  const item = document.createElement("li");
  item.textContent = note;
  get("abilities").append(item);
}
get("lacks").open = !can.hashes;
for (const choice of document.getElementsByName("transport")) {
  choice.disabled = choice.value === "WebTransport" && !can.webTransport;
  choice.checked = choice.value === (can.hashes ? "WebTransport" : "WebSocket");
}
