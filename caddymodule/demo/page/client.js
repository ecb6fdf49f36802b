// One of the page's two clients: what it shows, and the calls of the SDK behind it.
import { Absence } from "./absence.js";
import { connect } from "/sdk/millrace.mjs";
import { Network } from "./network.js";
import { issue, post } from "./tokens.js";

const HALL = "chat.hall"; // the edge keeps its messages
const DRAFTS = "draft.hall"; // not these
const ROWS = 100; // shown at most
const STALE = 15_000; // ms, until what somebody typed last is taken for left
const PING_AFTER = 5000; // ms of silence, to show the round-trip time

const STATES = {
  connecting: "connecting…",
  live: "live",
  cut: "no network",
  reconnecting: "reconnecting…",
  ended: "ended",
};

export class Client {
  /** The other one, which goes on while this one has no network. */
  other;
  #name;
  #element;
  #client;
  #token; // {tenant, token_id, …}
  #network = new Network();
  #state = "connecting";
  #absence; // since the network was cut, until all is caught up
  #revoked; // when the button was clicked
  #position; // behind the last message; a client with a new token goes on there
  #stale; // a timer

  constructor(name, template) {
    this.#name = name;
    this.#element = template.content.cloneNode(true).firstElementChild;
    this.#element.id = name;
    this.#element.setAttribute("aria-labelledby", `${name}-name`);
    this.#part("h2").id = `${name}-name`;
    this.#part("h2").textContent = name;
    this.#part(".face").textContent = name[0].toUpperCase();
    this.#part(".log").setAttribute("aria-label", `What ${name} sees`);
    this.#part("input").setAttribute("aria-label", `Message of ${name}`);
    this.#part("form button").setAttribute("aria-label", `Send as ${name}`);
    this.#part(".switch").setAttribute("aria-label", `Network of ${name}`);
    this.#part("input").addEventListener("input", () => this.#draft());
    this.#part("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    this.#part(".switch").addEventListener("click", () => (this.#network.up ? this.#cut() : this.#restore()));
    this.#part(".revoke").addEventListener("click", () => (this.#client ? this.#revoke() : this.start()));
  }

  get element() {
    return this.#element;
  }

  #part(selector) {
    return this.#element.querySelector(selector);
  }

  focus() {
    this.#part("input").focus();
  }

  /** start resolves when the client is connected, subscribed and present, or the page says why not. */
  async start() {
    this.#show("connecting");
    try {
      this.#token = await issue(this.#name);
      const { tenant } = this.#token;
      let next = this.#token;
      this.#client = await connect(`${location.protocol}//localhost:${location.port}`, {
        // The first token is there already; the SDK asks again before it expires.
        tokenProvider: async () => {
          this.#token = next ?? (await issue(this.#name));
          next = undefined;
          return { token: this.#token.token, expiresIn: this.#token.expires_in };
        },
        transports: ["websocket"],
        webSocket: this.#network.Socket,
        sender: true,
        keepAlive: PING_AFTER,
        on: this.#events(),
      });
      const history = this.#position ? { after: this.#position } : { last: 20 };
      await Promise.all([
        this.#client.subscribe(tenant, HALL, { history, onMessage: (m) => this.#message(m) }),
        this.#client.subscribe(tenant, DRAFTS, { onMessage: (m) => this.#typing(m.sender, m.text()) }),
        this.#client.join(tenant, HALL),
        this.#client.presence(tenant, HALL, { onChange: (p) => this.#here(p.members) }).then((p) => this.#here(p.members)),
      ]);
    } catch (error) {
      this.#note(`Not connected: ${error.message}`);
      this.#client?.close();
      this.#client = undefined;
      this.#show("ended");
      return;
    }
    this.#show("live");
    if (this.#part("input").value) this.#draft(); // typed before it was live
  }

  close() {
    this.#client?.close();
  }

  /** say publishes a message; the other client is to see it, sooner or later. */
  async say(text) {
    const sent = this.#client.publish(this.#token.tenant, HALL, text, { confirm: true });
    this.other.#absence?.expect(sent);
    await sent;
  }

  /** live says whether it can publish. */
  get live() {
    return this.#state === "live";
  }

  #events() {
    const tell = (text) => (event) => this.#note(text(event));
    return {
      disconnected: () => this.#show(this.#network.up ? "reconnecting" : "cut"),
      reconnected: () => {
        this.#show("live");
        this.#absence?.back();
      },
      roundTrip: ({ rtt }) => (this.#part(".facts").textContent = `WebSocket, ${rtt.toFixed(1)} ms`),
      gap: ({ pattern, reason }) => {
        this.#note(`Messages of ${pattern} may be missing: ${reason ?? "the edge does not say why"}.`);
        this.#absence?.giveUp();
      },
      publishError: tell(({ channel, code, detail }) => `The edge refused a message to ${channel}: ${detail ?? code}`),
      publishUnknown: () => {}, // drafts: the next one says it all
      subscriptionError: tell(({ pattern, code }) => `The edge refused ${pattern}: ${code}`),
      edgeError: tell(({ code, detail }) => `The edge says: ${[code, detail].filter(Boolean).join(": ")}`),
      limited: tell(({ direction, delay }) => `What ${direction === "in" ? "comes" : "is sent"} is ${delay / 1000} s late: it waits for the token’s bandwidth.`),
      connecting: tell(({ error }) => `Not connected yet: ${error.message}`),
      closed: ({ error }) => this.#ended(error),
    };
  }

  #ended(error) {
    this.#client = undefined;
    this.#absence?.stop();
    this.#absence = undefined;
    this.#part(".facts").textContent = "";
    if (this.#revoked !== undefined && error?.code === "token_revoked") {
      const took = Math.round(performance.now() - this.#revoked);
      this.#note(`Token revoked. The edge closed the connection ${took} ms later: token_revoked, ${error.closeCode ?? "without a close code"}.`);
    } else if (error) this.#note(`The connection has ended: ${error.code}: ${error.message}`);
    this.#revoked = undefined;
    this.#here([]);
    this.#show("ended");
  }

  // Its network

  #cut() {
    this.#absence ??= new Absence(this.#name, this.other, (text) => {
      this.#absence = undefined;
      this.#note(text);
    });
    this.#absence.begin();
    this.#note("Network cut.");
    this.#network.cut();
    this.#show("cut");
  }

  #restore() {
    this.#absence?.stop(); // the other one need not go on
    this.#network.restore();
    this.#show("reconnecting");
    this.#client?.retry();
  }

  // Its token

  async #revoke() {
    this.#part(".revoke").disabled = true;
    this.#revoked = performance.now();
    try {
      await post("/demo/revoke", { token_id: this.#token.token_id });
    } catch (error) {
      this.#revoked = undefined;
      this.#note(`Not revoked: ${error.message}`);
      this.#show(this.#state);
    }
  }

  // What it says and sees

  async #submit() {
    const input = this.#part("input");
    const text = input.value;
    if (!text) return;
    if (!this.live) return this.#note(`Not sent: ${STATES[this.#state]}`);
    input.value = "";
    try {
      await this.say(text);
    } catch (error) {
      if (!input.value) input.value = text; // to be sent again
      this.#note(`Not sent: ${error.message}`);
    }
  }

  #draft() {
    if (this.live) this.#client.publish(this.#token.tenant, DRAFTS, this.#part("input").value).catch(() => {}); // the next one says it all
  }

  #typing(sender, text) {
    if (sender === this.#name) return;
    const draft = this.#part(".draft");
    draft.dataset.sender = sender;
    draft.textContent = text && `${sender} is typing: ${text}`;
    clearTimeout(this.#stale);
    this.#stale = setTimeout(() => (draft.textContent = ""), STALE);
  }

  #message(message) {
    const { sender, position } = message;
    this.#position = position;
    if (this.#part(".draft").dataset.sender === sender) this.#typing(sender, "");
    const row = document.createElement("p");
    row.className = sender === this.#name ? "own" : "theirs";
    if (this.#absence && sender !== this.#name) row.classList.add("caught");
    for (const [element, text] of [["b", sender || "somebody"], ["span", message.text()], ["time", message.time?.toLocaleTimeString() ?? ""]]) {
      const part = document.createElement(element);
      part.textContent = text;
      row.append(part, " ");
    }
    this.#append(row);
    this.#absence?.received(position);
  }

  #note(text) {
    const row = document.createElement("p");
    row.className = "note";
    row.textContent = text;
    this.#append(row);
  }

  #append(row) {
    const log = this.#part(".log");
    log.append(row);
    while (log.children.length > ROWS) log.firstElementChild.remove();
    log.scrollTop = log.scrollHeight;
  }

  #here(members) {
    this.#part(".here").textContent = members.length > 0 ? `here: ${members.map(({ subject }) => subject).join(", ")}` : "";
  }

  #show(state) {
    this.#state = state;
    const ended = state === "ended";
    const away = !this.#network.up;
    this.#element.dataset.state = state;
    this.#part(".state").textContent = STATES[state];
    this.#part(".switch").disabled = ended || state === "connecting";
    this.#part(".switch").setAttribute("aria-checked", String(!away));
    this.#part(".revoke").disabled = !ended && state !== "live"; // without network it would not be told
    this.#part(".revoke").textContent = ended ? "New token" : "Revoke token";
    this.#part(".revoke").setAttribute("aria-label", ended ? `New token for ${this.#name}` : `Revoke token of ${this.#name}`);
  }
}
