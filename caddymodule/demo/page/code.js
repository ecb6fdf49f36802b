// The code to copy, in several languages, with a token in it.
import { issue } from "./tokens.js";

const get = (id) => document.getElementById(id);
const tabs = [...get("tabs").children];
const programs = new Map(); // by language; as they are in the files, with the ports of the defaults and no token
let access;
let expired; // a timer

/** showCode resolves when the code is shown. */
export async function showCode() {
  for (const tab of tabs) {
    tab.onclick = () => select(tab);
    tab.onkeydown = move;
  }
  get("new-token").onclick = renew;
  get("copy-token").onclick = () => access && copy(get("copy-token"), access.token);
  get("copy-code").onclick = () => copy(get("copy-code"), program().textContent);
  select(tabs[0]);
  await Promise.all([renew(), ...tabs.map(load)]);
}

const program = () => get("program").querySelector("code");

const language = (tab) => tab.id.replace("tab-", "");

async function load(tab) {
  try {
    const answer = await fetch(`/demo/code/${language(tab)}.txt`);
    programs.set(language(tab), await answer.text());
  } catch (error) {
    programs.set(language(tab), `The edge does not answer: ${error.message}. Reload the page.`);
  }
  show();
}

function select(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
  }
  get("program").setAttribute("aria-labelledby", tab.id);
  show();
}

// move is how the arrow keys go from tab to tab.
function move(event) {
  const at = tabs.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: -1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  const tab = tabs.at(to % tabs.length);
  tab.focus();
  select(tab);
}

function show() {
  const text = programs.get(language(tabs.find((tab) => tab.getAttribute("aria-selected") === "true")));
  program().textContent =
    text && access
      ? text.replaceAll("localhost:8080", `localhost:${access.http_port}`).replaceAll("ACCESS_TOKEN", access.token)
      : "";
}

async function renew() {
  try {
    access = await issue("you");
  } catch (error) {
    get("token").textContent = `No token: ${error.message}`;
    return;
  }
  const end = Date.now() + access.expires_in * 1000;
  get("token").textContent = `Its token is valid until ${new Date(end).toLocaleTimeString()}, for the tenant ${access.tenant}.`;
  clearTimeout(expired);
  expired = setTimeout(() => (get("token").textContent = "Its token has expired."), access.expires_in * 1000);
  show();
}

async function copy(button, text) {
  const { textContent } = button;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed: select it";
  }
  button.disabled = true; // so that it does not read its own answer as its name
  setTimeout(() => {
    button.textContent = textContent;
    button.disabled = false;
  }, 1500);
}
