// A WebTransport client made of the browser's own and frames built by hand, for
// browsers/webtransport_test.go, which calls wt.* in a page that this runs in.
globalThis.wt = (() => {
  const encoder = new TextEncoder();
  const decoder = new TextDecoder();
  let session, writer, main;

  const bytes = (n, size) => Array.from({ length: size }, (_, i) => (n >>> (8 * (size - 1 - i))) & 0xff);
  const sized = (text) => [...bytes(encoder.encode(text).length, 2), ...encoder.encode(text)];
  const send = (message) => writer.write(Uint8Array.from([...bytes(message.length, 4), ...message]));

  // messages returns a function that reads the stream's next message.
  function messages(readable) {
    const reader = readable.getReader();
    let buffer = new Uint8Array();
    async function take(n) {
      while (buffer.length < n) {
        const { value, done } = await reader.read();
        if (done) return undefined;
        const joined = new Uint8Array(buffer.length + value.length);
        joined.set(buffer);
        joined.set(value, buffer.length);
        buffer = joined;
      }
      const taken = buffer.subarray(0, n);
      buffer = buffer.subarray(n);
      return taken;
    }
    return async () => {
      try {
        const head = await take(4);
        if (head === undefined) return { end: "FIN" };
        return parse(await take(new DataView(head.buffer, head.byteOffset).getUint32(0)));
      } catch (err) {
        return { end: String(err) };
      }
    };
  }

  function parse(message) {
    if (message[0] !== 0x01) return { line: decoder.decode(message) };
    let at = 1;
    const take = (n) => message.subarray((at += n) - n, at);
    const number = (size) => [...take(size)].reduce((n, byte) => n * 256 + byte, 0);
    const text = () => decoder.decode(take(number(2)));
    const tenant = text();
    const channel = text();
    const payload = decoder.decode(take(number(4)));
    const patterns = [];
    for (let n = number(2); n > 0; n--) patterns.push(text());
    if (at !== message.length) throw new Error("a frame of another length");
    return { tenant, channel, payload, patterns };
  }

  return {
    // open returns the protocol that the edge has chosen. An attempt that takes long is
    // given up for another, as the SDK does. On a machine that is busy, Firefox 153
    // rarely has the connection that it makes ahead of a request before it has the request,
    // which then waits beside it until something else happens. And an edge that does not hear a client for 5 s forgets its handshake, which Firefox does
    // not notice before 30 s.
    async open({ url, hash, ...options }) {
      const value = Uint8Array.from(hash.match(/../g), (digits) => parseInt(digits, 16));
      for (let ready = false; !ready; ) {
        session = new WebTransport(url, { ...options, serverCertificateHashes: [{ algorithm: "sha-256", value }] });
        session.closed.catch(() => {}); // closed tells
        session.ready.catch(() => {}); // of one that is given up
        const late = new Promise((resolve) => setTimeout(resolve, 8000, false));
        ready = await Promise.race([session.ready.then(() => true), late]);
        if (!ready) session.close();
      }
      const stream = await session.createBidirectionalStream();
      writer = stream.writable.getWriter();
      main = messages(stream.readable);
      return session.protocol ?? "";
    },
    line: (text) => send(encoder.encode(text)),
    publish: (tenant, channel, payload) => send([...sized(tenant), ...sized(channel), ...encoder.encode(payload)]),
    next: () => main(),

    close: (closeCode) => session.close({ closeCode }),
    closed: () => session.closed.then(({ closeCode, reason }) => ({ closeCode, reason }), (err) => ({ error: String(err) })),
  };
})();
