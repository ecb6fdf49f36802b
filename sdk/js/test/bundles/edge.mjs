// An edge that gives each client its own publishes.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

export async function startEdge() {
  const http = createServer((_, response) =>
    response.writeHead(200, { "Access-Control-Allow-Origin": "*" }).end("pong"),
  );
  const server = new WebSocketServer({
    noServer: true,
    handleProtocols: (all) => (all.has("llps.v1") ? "llps.v1" : false),
  });
  const protocols = []; // of each handshake; undefined: it had a header
  http.on("upgrade", (request, socket, head) => {
    protocols.push(request.headers["sec-websocket-protocol"]);
    server.handleUpgrade(request, socket, head, (ws) => {
      ws.on("message", (data, binary) => {
        if (!binary) return ws.send(answer(`${data}`));
        ws.send(deliver(data));
      });
    });
  });
  await new Promise((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${http.address().port}`,
    protocols,
    stop() {
      http.close();
      http.closeAllConnections();
    },
  };
}

export function answer(line) {
  if (line.startsWith("FEATURES:")) return "FEATURES:link";
  return line === "PING" ? "PONG" : `OK:${line}`;
}

/** deliver makes of a broadcast what a subscription to its channel gets. */
export function deliver(publish) {
  const u16 = (at) => (publish[at] << 8) | publish[at + 1];
  const tenantEnd = 2 + u16(0);
  const channelEnd = tenantEnd + 2 + u16(tenantEnd);
  const channel = [...publish.subarray(tenantEnd, channelEnd)]; // behind its length
  const payload = [...publish.subarray(channelEnd)];
  const size = [24, 16, 8, 0].map((bits) => (payload.length >>> bits) & 255);
  return Uint8Array.from([1, ...publish.subarray(0, channelEnd), ...size, ...payload, 0, 1, ...channel]);
}
