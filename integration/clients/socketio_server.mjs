// A Socket.IO server for integration/bench, as its documentation begins: rooms are channels. It prints its URL when it
// listens, and ends with its standard input.
import { Server } from "socket.io";
import { createServer } from "node:http";

const http = createServer();
const io = new Server(http);
io.on("connection", (socket) => {
  socket.on("subscribe", (channel, done) => {
    socket.join(channel);
    done();
  });
  socket.on("publish", (channel, text) => io.to(channel).emit("message", text));
});
http.listen(0, "127.0.0.1", () => console.log(`ws://127.0.0.1:${http.address().port}/`));
process.stdin.resume().on("end", () => process.exit());
