// What this browser can do, found out without a connection.

// A browser reads those options that it knows before it looks at the address,
// and this address is refused.
function knows(option) {
  let read = false;
  const options = {
    get [option]() {
      read = true;
      return undefined;
    },
  };
  try {
    new WebTransport("no address", options);
  } catch {
    return read;
  }
  return read;
}

// browser returns {webTransport, hashes, notes}: whether there is WebTransport,
// whether it accepts a certificate by its hash, and sentences about both.
export function browser() {
  const webTransport = typeof WebTransport === "function";
  const hashes = webTransport && knows("serverCertificateHashes");
  const notes = [];
  if (webTransport) {
    notes.push("WebTransport is there.");
    notes.push(
      hashes
        ? "It accepts the edge's own certificate by its hash."
        : "It does not accept a certificate by its hash (serverCertificateHashes): WebTransport works only if this browser trusts the edge's authority. WebSocket works.",
    );
  } else if (isSecureContext) {
    notes.push("This browser has no WebTransport. WebSocket works.");
  } else {
    notes.push("This page is in no secure context, so there is no WebTransport: open it at http://localhost or https://localhost.");
  }
  return { webTransport, hashes, notes };
}
