// The page to explore with: its forms make calls of the SDK, whose events it shows.
import { browser } from "./browser.js";
import { connect } from "/sdk/millrace.mjs";
import { issue } from "./tokens.js";

const MAX_ROWS = 200; // messages shown
const PING_AFTER = 2000; // ms of silence, to show the round-trip time

const ENDS = {
  closed_by_operator: "an operator closed the connection",
  internal: "the edge has a fault",
  origin_not_allowed: "the edge does not allow this connection",
  protocol_not_allowed: "the token does not allow this transport",
  refused: "the edge refuses it, and the browser does not say why",
  slow_consumer: "this page was too slow to read",
  token_expired: "the token has expired; connect again for a new one",
  token_provider: "no new token can be had",
  token_revoked: "the token was revoked; connect again for a new one",
  token_unverifiable: "the edge cannot check the token any more",
  unauthorized: "the edge does not accept the token",
  unreachable: "the edge does not answer",
};

// How a browser sends the token, and what people call the transport.
const TRANSPORTS = {
  webtransport: { name: "WebTransport", credentials: "an AUTH line" },
  websocket: { name: "WebSocket", credentials: "the subprotocol list" },
};

const get = (id) => document.getElementById(id);
const decoder = new TextDecoder("utf-8", { fatal: true });

let connecting; // an AbortController, while a client is made
let client;
let tenant;
const subscriptions = new Map(); // pattern → its subscription, once confirmed; they outlive a client
const histories = new Set(); // patterns whose past is wanted, too

// Connection

async function start(transport) {
  const mine = new AbortController();
  connecting = mine;
  show("Connecting…", "connecting");
  try {
    const access = await fetchAccess();
    tenant = access.tenant;
    const made = await connect(address(transport, access.https_port), {
      transports: [transport],
      tokenProvider: provider(access),
      keepAlive: PING_AFTER,
      serverCertificateHashes: access.certificate_hashes.map(({ algorithm, value }) => ({
        algorithm,
        value: Uint8Array.from(atob(value), (c) => c.charCodeAt(0)),
      })),
      signal: mine.signal,
      on: { connected: opened },
    });
    if (connecting !== mine) return void made.close();
    client = made;
    connecting = undefined;
  } catch (error) {
    if (connecting !== mine) return;
    connecting = undefined;
    end(`No connection came about: ${why(error)}.`);
    return;
  }
  follow(client);
  show(connectedText(transport), "open");
  for (const pattern of subscriptions.keys()) subscribe(pattern);
}

// provider gives the token that is there already, and new ones before that expires.
function provider(access) {
  let next = access;
  return async () => {
    const { token, expires_in } = next ?? (await fetchAccess());
    next = undefined;
    get("token-id").textContent = token.split("_")[1];
    get("expires").textContent = time(new Date(Date.now() + expires_in * 1000));
    return { token, expiresIn: expires_in };
  };
}

const fetchAccess = () => issue("you");

function address(transport, httpsPort) {
  if (transport === "webtransport") return `https://localhost:${httpsPort}`;
  return `${location.protocol}//localhost:${location.port}`;
}

const connectedText = (transport) => `Connected by ${TRANSPORTS[transport].name} to the tenant ${tenant}.`;

function opened({ transport }) {
  get("transport").textContent = TRANSPORTS[transport].name;
  get("credentials").textContent = TRANSPORTS[transport].credentials;
}

// follow shows the events of a client until it ends.
function follow(c) {
  const tell = (text) => addRow("connection", text);
  const events = {
    roundTrip: ({ rtt }) => (get("rtt").textContent = `${rtt.toFixed(1)} ms`),
    disconnected({ error }) {
      tell(`lost: ${why(error)}. Reconnecting…`);
      show("The connection is lost. Reconnecting…", "connecting");
    },
    reconnected(place) {
      opened(place);
      const lost = place.complete ? "Nothing is missing." : "Messages of that time are lost, except for subscriptions with a history.";
      tell(`there again, after ${(place.away / 1000).toFixed(1)} s. ${lost}`);
      show(connectedText(place.transport), "open");
    },
    suspect: () => tell("nothing comes any more: looking for another connection beside this one…"),
    recovered(place) {
      opened(place);
      tell(
        place.away > 0
          ? `another connection has taken over, after ${(place.away / 1000).toFixed(1)} s. What the first one brings yet is late.`
          : "the connection is back. Nothing is lost.",
      );
    },
    moving: ({ reason }) =>
      tell(`${reason === "drain" ? "the edge is about to stop" : "the token is about to expire"}: moving to a new connection…`),
    moved(place) {
      opened(place);
      tell("moved. Nothing is lost.");
    },
    gap: ({ pattern }) => addRow("from the edge", `messages for ${pattern} may be missing`),
    publishError: ({ channel, code }) => addRow("from the edge", `a message to ${channel} is refused: ${code}`),
    subscriptionError({ pattern, code }) {
      addRow("from the edge", `the subscription ${pattern} is refused: ${code}`);
      subscriptions.delete(pattern);
      listSubscriptions();
    },
    publishUnknown: ({ count }) =>
      addRow("from the page", `the connection was lost before the edge had answered ${count} of the last messages: they may be lost`),
    slowConsumer: ({ dropped }) => addRow("from the edge", `this page is too slow: ${dropped} messages were dropped`),
    limited: ({ direction, delay }) =>
      addRow("from the edge", `messages ${direction === "in" ? "come" : "go"} ${delay / 1000} s late: they wait for the token's bandwidth`),
    linkDown: () => addRow("from the edge", "the edge has lost the other edges: nothing comes from there"),
    linkUp: () => addRow("from the edge", "the edge has the other edges again. Messages between are lost."),
    edgeError: ({ code, detail }) => addRow("from the edge", [code, detail].filter(Boolean).join(": ")),
    closed: ({ error }) => client === c && end(`Disconnected: ${error ? why(error) : "as you asked"}.`, Boolean(error)),
  };
  for (const [name, handler] of Object.entries(events)) c.on(name, (event) => void handler(event));
}

function why(error) {
  const facts = [error.code, error.closeCode].filter(Boolean).join(", ");
  const text = ENDS[error.code] ?? error.message;
  return facts ? `${text} (${facts})` : text;
}

function end(text, failed = true) {
  client = undefined;
  for (const id of ["transport", "rtt", "credentials", "expires", "token-id"]) get(id).textContent = "–";
  subscriptions.forEach((_, pattern) => subscriptions.set(pattern, undefined));
  show(text, failed ? "failed" : "idle");
  listSubscriptions();
}

// show tells the state: idle, connecting, open or failed.
function show(text, state) {
  get("status").textContent = text;
  get("status").dataset.state = state;
  get("switch").textContent = client || connecting ? "Disconnect" : "Connect";
  for (const control of document.querySelectorAll("#subscribe button, #publish button")) control.disabled = state !== "open";
}

// Subscriptions

async function subscribe(pattern) {
  const c = client;
  subscriptions.set(pattern, undefined);
  listSubscriptions();
  try {
    const history = histories.has(pattern) ? "last" : undefined;
    const subscription = await c.subscribe(tenant, pattern, { onMessage, history });
    if (client === c) subscriptions.set(pattern, subscription);
  } catch (error) {
    if (client !== c) return; // for the next one
    subscriptions.delete(pattern);
    if (error.code === "no_history") refuse(get("pattern"), "the edge keeps no messages of these channels, only of chat.# and jobs.#");
    else if (error.code === "bad_pattern") refuse(get("pattern"), `1 to 32 parts ${PARTS}; a part may be * or end in *, the last one also in # or >`);
    else addRow("from the edge", `the subscription ${pattern} is refused: ${error.code}`);
  }
  listSubscriptions();
}

async function unsubscribe(pattern) {
  const subscription = subscriptions.get(pattern);
  subscriptions.delete(pattern);
  listSubscriptions();
  await subscription?.unsubscribe();
}

function listSubscriptions() {
  const items = [...subscriptions].map(([pattern, confirmed]) => {
    const item = document.createElement("li");
    const name = document.createElement("code");
    name.textContent = histories.has(pattern) ? `${pattern} (with the last messages)` : pattern;
    item.className = confirmed ? "" : "pending";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Unsubscribe";
    button.setAttribute("aria-label", `Unsubscribe ${pattern}`);
    button.onclick = () => unsubscribe(pattern);
    item.append(name, button);
    return item;
  });
  get("subscribed").replaceChildren(...items);
}

// Messages

// A message that matches several subscriptions comes to each: one shows it.
// With a history it comes for each, with its own position.
function onMessage({ channel, payload, pattern, patterns, late, time: stored }) {
  if (pattern === patterns[0]) addRow(late ? `${channel} (late)` : channel, readable(payload), stored);
}

function addRow(title, text, at = new Date()) {
  const row = document.createElement("li");
  for (const [element, content] of [["time", time(at)], ["code", title], ["span", text]]) {
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

const PARTS = "with dots between them, of letters, digits and _-~@";

// refuse marks a field whose name breaks the rules, and says which they are.
function refuse(field, rules) {
  field.setCustomValidity(rules);
  field.reportValidity();
}

for (const id of ["pattern", "channel"]) get(id).addEventListener("input", () => get(id).setCustomValidity(""));
get("history").addEventListener("change", () => get("pattern").setCustomValidity(""));

onSubmit("connect", () => {
  if (connecting) {
    connecting.abort();
    connecting = undefined;
    end("Not connected.", false);
  } else if (client) client.close();
  else start(new FormData(get("connect")).get("transport").toLowerCase());
});

// A browser may drop what it has open without a word to the edge.
addEventListener("pagehide", () => client?.close());

onSubmit("subscribe", () => {
  const pattern = get("pattern").value;
  if (subscriptions.has(pattern)) return;
  if (get("history").checked) histories.add(pattern);
  else histories.delete(pattern);
  subscribe(pattern);
});

onSubmit("publish", async () => {
  const channel = get("channel").value;
  try {
    await client.publish(tenant, channel, get("text").value, { delivery: get("delivery").value });
  } catch (error) {
    if (error.code === "bad_channel") refuse(get("channel"), `1 to 32 parts ${PARTS}`);
    else addRow("connection", `the message to ${channel} is not published: ${why(error)}`);
  }
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
  choice.addEventListener("change", () => {
    connecting?.abort();
    client?.close();
    client = undefined; // its end is not the page's
    start(choice.value.toLowerCase());
  });
}
start(can.hashes ? "webtransport" : "websocket");
