// A Network is what one client has of this machine's network: its Socket is a class in place of WebSocket, for the
// option `webSocket` of the SDK. cut ends its sockets, as a lost network does, and holds new ones back: they neither
// open nor fail, like calls into a hole, until restore lets them dial.
export class Network {
  Socket;
  up = true;
  #sockets = new Set();

  constructor() {
    const network = this;
    this.Socket = class Socket {
      onopen = null;
      onmessage = null;
      onerror = null;
      onclose = null;
      #request;
      #real;
      #binaryType = "blob";

      constructor(...request) {
        this.#request = request;
        network.#sockets.add(this);
        if (network.up) this.dial();
      }

      dial() {
        if (this.#real) return;
        this.#real = new WebSocket(...this.#request);
        this.#real.binaryType = this.#binaryType;
        for (const type of ["open", "message", "error"]) {
          this.#real[`on${type}`] = (event) => this[`on${type}`]?.(event);
        }
        this.#real.onclose = (event) => this.lost(event);
      }

      // lost ends it, which the SDK is told.
      lost(event) {
        if (!network.#sockets.delete(this)) return;
        this.hold();
        this.onclose?.(event);
      }

      // hold leaves the real socket: what that still says reaches nobody.
      hold() {
        if (!this.#real) return;
        this.#real.onopen = this.#real.onmessage = this.#real.onerror = this.#real.onclose = null;
        this.#real.close();
        this.#real = undefined;
      }

      get binaryType() {
        return this.#binaryType;
      }

      set binaryType(type) {
        this.#binaryType = type;
        if (this.#real) this.#real.binaryType = type;
      }

      get bufferedAmount() {
        return this.#real?.bufferedAmount ?? 0;
      }

      get protocol() {
        return this.#real?.protocol ?? "";
      }

      get readyState() {
        return this.#real?.readyState ?? WebSocket.CONNECTING;
      }

      send(data) {
        this.#real?.send(data);
      }

      close(...how) {
        if (this.#real) this.#real.close(...how);
        else queueMicrotask(() => this.lost({ code: 1006 }));
      }
    };
  }

  cut() {
    this.up = false;
    for (const socket of [...this.#sockets]) {
      if (socket.readyState === WebSocket.CONNECTING) socket.hold();
      else socket.lost({ code: 1006 });
    }
  }

  restore() {
    this.up = true;
    for (const socket of [...this.#sockets]) socket.dial();
  }
}
