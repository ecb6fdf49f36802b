// Pointers of everyone who has this page open. Each tab publishes its own to a
// channel of its own, and subscribes to all of them. Who is silent fades.
import { TENANT, join } from "../edge.js";

const EVERY = 50; // ms between positions: at most 20 a second
const FADES_AFTER = 3000; // ms
const FORGOTTEN_AFTER = 10_000; // ms

const me = `cursors.${crypto.randomUUID()}`;
const others = new Map(); // channel → {element, seen}
const client = await join(document.getElementById("status"));

await client.subscribe(TENANT, "cursors.*", {
  onMessage(message) {
    if (message.channel !== me) draw(message.channel, read(message));
  },
});

let position; // not yet published
addEventListener("pointermove", (event) => {
  position = { x: event.clientX / innerWidth, y: event.clientY / innerHeight };
});

setInterval(() => {
  if (!position) return;
  client.publish(TENANT, me, JSON.stringify(position)).catch(() => {}); // no connection: the next one will do
  position = undefined;
}, EVERY);

setInterval(() => {
  for (const [channel, { element, seen }] of others) {
    const silent = performance.now() - seen;
    element.classList.toggle("silent", silent > FADES_AFTER);
    if (silent < FORGOTTEN_AFTER) continue;
    element.remove();
    others.delete(channel);
  }
}, 250);

// Anyone with a token can publish anything: what is no position is at the corner.
function read(message) {
  try {
    const { x, y } = message.json();
    return { x: Number(x) || 0, y: Number(y) || 0 };
  } catch {
    return { x: 0, y: 0 };
  }
}

function draw(channel, { x, y }) {
  const cursor = others.get(channel) ?? { element: arrive(channel) };
  cursor.seen = performance.now();
  Object.assign(cursor.element.style, { left: `${x * 100}%`, top: `${y * 100}%` });
  cursor.element.classList.remove("silent");
  others.set(channel, cursor);
}

function arrive(channel) {
  const element = document.createElement("div");
  element.className = "cursor";
  element.style.color = `hsl(${parseInt(channel.slice(-4), 16) % 360} 80% 50%)`;
  document.getElementById("field").append(element);
  return element;
}
