// A WebSocket client made of the npm package ws and frames built by hand. It is
// driven by foreign_test.go: one JSON command a line on stdin, one JSON event a
// line on stdout.
//
//   {"cmd":"open","url":…,"token":…,"auth":"header"|"subprotocol"}
//   {"cmd":"text","text":…}
//   {"cmd":"publish","tenant":…,"channel":…,"payload":hex,"delivery":absent|0|1|2}
//   {"cmd":"binary","bytes":hex}
//   {"cmd":"close"}
//
//   {"event":"open","protocol":…}     {"event":"refused","status":…}
//   {"event":"text","text":…}         {"event":"close","code":…}
//   {"event":"deliver","tenant":…,"channel":…,"payload":hex,"patterns":[…]}
//   {"event":"error","text":…}
import { createInterface } from "node:readline";
import WebSocket from "ws";

const emit = (event) => process.stdout.write(JSON.stringify(event) + "\n");

// sized returns bytes behind their length as an unsigned 16-bit number.
function sized(text) {
  const bytes = Buffer.from(text, "utf8");
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function publishFrame({ tenant, channel, payload, delivery }) {
  const tag = delivery === undefined ? [] : [Buffer.from([0x02, delivery])];
  return Buffer.concat([...tag, sized(tenant), sized(channel), Buffer.from(payload, "hex")]);
}

function parseDeliver(frame) {
  let at = 0;
  const take = (n) => {
    if (at + n > frame.length) throw new Error("the frame is too short");
    at += n;
    return frame.subarray(at - n, at);
  };
  const u16 = () => take(2).readUInt16BE();
  const text = () => take(u16()).toString("utf8");

  const tag = take(1)[0];
  if (tag !== 0x01) throw new Error(`tag ${tag} is not a deliver frame's`);
  const tenant = text();
  const channel = text();
  const payload = take(take(4).readUInt32BE()).toString("hex");
  const patterns = [];
  for (let n = u16(); n > 0; n--) patterns.push(text());
  if (at !== frame.length) throw new Error("bytes follow the frame");
  return { event: "deliver", tenant, channel, payload, patterns };
}

function open({ url, token, auth }) {
  const ws =
    auth === "header"
      ? new WebSocket(url, { headers: { Authorization: `Bearer ${token}` } })
      : new WebSocket(url, ["llps.v1", `at.${token}`]);
  ws.on("open", () => emit({ event: "open", protocol: ws.protocol }));
  ws.on("unexpected-response", (request, response) => {
    emit({ event: "refused", status: response.statusCode });
    request.destroy();
  });
  ws.on("close", (code) => emit({ event: "close", code }));
  ws.on("error", (err) => emit({ event: "error", text: err.message }));
  ws.on("message", (data, isBinary) => {
    try {
      emit(isBinary ? parseDeliver(data) : { event: "text", text: data.toString("utf8") });
    } catch (err) {
      emit({ event: "error", text: err.message });
    }
  });
  return ws;
}

let ws;
for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  switch (command.cmd) {
    case "open":
      ws = open(command);
      break;
    case "text":
      ws.send(command.text);
      break;
    case "publish":
      ws.send(publishFrame(command));
      break;
    case "binary":
      ws.send(Buffer.from(command.bytes, "hex"));
      break;
    case "close":
      ws.close(1000);
      break;
    default:
      emit({ event: "error", text: `unknown command ${command.cmd}` });
  }
}
ws?.terminate();
