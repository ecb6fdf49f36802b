// Runs in the demo page and checks its codec with the vectors of wire/testdata,
// for browser_test.go.
globalThis.checkVectors = async (file, cases) => {
  const p = await import("/demo/protocol.js");
  const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  const bytes = (text) => Uint8Array.from(text.match(/../g) ?? [], (digits) => parseInt(digits, 16));
  const input = ({ input: { text, hex: digits } }) => (digits === undefined ? p.encodeText(text) : bytes(digits));

  const checks = {
    names({ kind, input: { text }, expect }) {
      const legal = { tenant: p.isTenant, channel: p.isChannel, pattern: p.isPattern }[kind];
      if (!legal || text === undefined) return undefined; // not one of the page's, or no text
      return { got: legal(text), want: expect.valid === true };
    },
    server_lines: (c) => ({ got: tried(() => p.parseLine(p.decodeText(input(c)))), want: c.expect }),
    deliver: (c) => ({
      got: tried(() => {
        const { payload, ...rest } = p.decodeDeliver(input(c));
        return { ...rest, payload_hex: hex(payload) };
      }),
      want: c.expect,
    }),
    publish(c) {
      const { version, delivery, tenant, channel, payload_hex } = c.expect;
      // The page sends version 1 for a broadcast.
      if (c.expect.error || (version === 2 && delivery === 0)) return undefined;
      return { got: hex(p.encodePublish({ tenant, channel, delivery, payload: bytes(payload_hex) })), want: hex(input(c)) };
    },
    messages(c) {
      const splitter = new p.Splitter(64 * 1024 + 4096); // as an edge by default
      const messages = [];
      const whole = []; // the messages with their lengths
      const line = (message) => {
        try {
          return { kind: "line", text: p.decodeText(message) };
        } catch {
          return { kind: "line", hex: hex(message) };
        }
      };
      let close;
      try {
        for (const byte of input(c)) {
          for (const message of splitter.push(Uint8Array.of(byte))) {
            messages.push(p.isFrame(message) ? { kind: "frame", hex: hex(message) } : line(message));
            whole.push(hex(p.withLength(message)));
          }
        }
      } catch {
        close = 1009;
      }
      const want = { messages: c.expect.messages ?? [], close: c.expect.close, all: hex(input(c)) };
      return { got: { messages, close, all: whole.join("") + (c.expect.rest_hex ?? "") }, want };
    },
  };

  function tried(decode) {
    try {
      return decode();
    } catch {
      return { error: true };
    }
  }
  // Absent keys stand for empty values; which error it is does not matter here.
  const same = (value) =>
    JSON.stringify(value, (_, v) =>
      v && typeof v === "object" && !Array.isArray(v)
        ? Object.fromEntries(Object.entries(v).filter(([, x]) => x !== "").map(([k, x]) => [k, k === "error" ? true : x]).sort())
        : v,
    );

  const failures = [];
  let checked = 0;
  for (const c of cases) {
    const result = checks[file]?.(c);
    if (!result) continue;
    checked++;
    if (same(result.got) !== same(result.want)) failures.push(`${c.comment}: got ${same(result.got)}, want ${same(result.want)}`);
  }
  return { checked, failures };
};
