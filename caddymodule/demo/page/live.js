// The page at `/`: two clients, and the code that does the same.
import { Client } from "./client.js";
import { showCode } from "./code.js";

const template = document.getElementById("client");
const clients = ["ada", "ben"].map((name) => new Client(name, template));
const [ada, ben] = clients;
ada.other = ben;
ben.other = ada;
document.getElementById("clients").append(ada.element, ben.element);
ada.focus();

// A browser may drop what it has open without a word to the edge.
addEventListener("pagehide", () => clients.forEach((client) => client.close()));
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

const loaded = new Promise((resolve) => {
  if (document.readyState === "complete") resolve(performance.now());
  else addEventListener("load", () => resolve(performance.now()));
});
await Promise.all(clients.map((client) => client.start()));
const live = performance.now();
const afterLoad = Math.max(0, live - (await loaded));
document.getElementById("speed").textContent = clients.every((client) => client.live)
  ? `Both clients were live ${Math.round(afterLoad)} ms after the page had loaded, ${Math.round(live)} ms after it was opened.`
  : "";
await showCode();
