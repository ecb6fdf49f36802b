// An Absence is the time in which a client has no network. The other client goes on: it sends a message each second, and
// what it sends is what the first one has to get later, each message by its position in the history.
const EVERY = 1000; // ms
const MOST = 10; // messages

export class Absence {
  #since = performance.now();
  #timer;
  #name;
  #other;
  #over; // called once, with a text
  #received = new Set(); // positions
  #missing = new Set();
  #unanswered = 0; // publishes whose position is not known yet
  #caught = 0; // messages
  #away; // ms, once it is back

  constructor(name, other, over) {
    this.#name = name;
    this.#other = other;
    this.#over = over;
  }

  /** begin is called when the network is cut, perhaps before all of the last time is caught up. */
  begin() {
    this.stop();
    this.#away = undefined;
    let n = 0;
    this.#timer = setInterval(() => {
      if (++n > MOST) this.stop();
      else if (this.#other.live) this.#other.say(`While ${this.#name} is away: ${n}`).catch(() => {}); // cut off as well
    }, EVERY);
  }

  /** stop ends what the other client says by itself. */
  stop() {
    clearInterval(this.#timer);
  }

  /** expect is called with each publish of the other client, a promise of its position. */
  async expect(sent) {
    this.#unanswered++;
    const position = await sent.catch(() => undefined);
    this.#unanswered--;
    if (position !== undefined && !this.#received.has(position)) this.#missing.add(position);
    this.#settle();
  }

  /** received is called with each message. */
  received(position) {
    this.#received.add(position);
    this.#missing.delete(position);
    this.#caught++;
    this.#settle();
  }

  /** back is called when the client is connected again, and its subscriptions are restored. */
  back() {
    this.stop();
    this.#away ??= performance.now() - this.#since;
    this.#settle();
  }

  /** giveUp is called when the edge says that something is missing. */
  giveUp() {
    this.#end();
  }

  #settle() {
    if (this.#away !== undefined && this.#unanswered === 0 && this.#missing.size === 0) this.#end();
  }

  #end() {
    this.stop();
    const over = this.#over;
    this.#over = () => {};
    const away = ((this.#away ?? performance.now() - this.#since) / 1000).toFixed(1);
    over(`Back after ${away} s. Missed: ${this.#missing.size}, caught up: ${this.#caught} ${this.#caught === 1 ? "message" : "messages"}.`);
  }
}
