"""A minimal Millrace client over WebSocket: docs/protocol.md, and nothing that could be left out.

It subscribes, publishes, and says why it ended. It has no WebTransport and no histories, and
it does not reconnect.
"""

import asyncio
import json
import re
import struct
import time
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

CHAR = "[a-zA-Z0-9_~@-]"
TOKEN = rf"(?:{CHAR}+\*?|\*)"
LEGAL = {
    "tenant": re.compile(r"[a-zA-Z0-9_~@.-]{1,128}"),
    "channel": re.compile(rf"(?=.{{1,256}}$){CHAR}+(\.{CHAR}+){{0,31}}"),
    "pattern": re.compile(rf"(?=.{{1,256}}$)({TOKEN}\.){{0,31}}({TOKEN}|{CHAR}*[>#])"),
}
DELIVERIES = ["broadcast", "one-nearest", "one-random"]
ENDS = {"token_revoked", "token_expired", "token_unverifiable", "closed_by_operator", "unauthorized"}


class Error(Exception):
    """An error with a code of docs/errors.md, and what it concerns: tenant, pattern, status…"""

    def __init__(self, code, text="", **about):
        super().__init__(text or code)
        self.code, self.about = code, about


def check(**names):
    """Checks names before they are sent: the edge does not say which of several was illegal."""
    for kind, name in names.items():
        if not LEGAL[kind].fullmatch(name):
            raise Error(f"bad_{kind}", f"not a legal {kind}", **names)


class Client:
    def __init__(self, edge, on_event):
        self.edge, self.on_event = edge, on_event
        self.subscriptions = {}  # (tenant, pattern) → functions that take a message
        self.answers = {}  # "SUB:tenant:pattern" → future
        self.pongs = []  # (when PING was sent, future), the oldest first
        self.error, self.ended = None, False

    async def connect(self, token, tls=None, keep_alive=25.0):
        url = urlsplit(self.edge)
        if url.scheme != "https" and url.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise Error("bad_option", "without TLS the token could be read on the way")
        scheme, tls = ("wss", tls) if url.scheme == "https" else ("ws", None)
        try:
            self.socket = await connect(
                f"{scheme}://{url.netloc}/ws", ssl=tls, compression=None, ping_interval=None, proxy=None,
                additional_headers={"Authorization": f"Bearer {token}"},
            )
        except InvalidStatus as refused:
            problem = json.loads(refused.response.body or b"{}")
            raise Error(problem.get("code", "unreachable"), problem.get("detail", ""), status=refused.response.status_code) from None
        except (OSError, TimeoutError):
            raise Error("unreachable", "the edge does not answer") from None
        self.on_event("connected", edge=self.edge, transport="websocket")
        self.tasks = [asyncio.create_task(self._read()), asyncio.create_task(self._keep_alive(keep_alive))]

    async def subscribe(self, tenant, pattern, on_message):
        check(tenant=tenant, pattern=pattern)
        takers = self.subscriptions.setdefault((tenant, pattern), [])
        takers.append(on_message)  # before the answer: messages may come before it
        if len(takers) == 1:
            try:
                await self._ask("SUB", tenant, pattern)
            except Error:
                self.subscriptions.pop((tenant, pattern), None)
                raise

    async def unsubscribe(self, tenant, pattern, on_message):
        takers = self.subscriptions[tenant, pattern]
        takers.remove(on_message)
        if not takers:
            del self.subscriptions[tenant, pattern]
            await self._ask("UNSUB", tenant, pattern)

    async def publish(self, tenant, channel, payload, delivery="broadcast"):
        check(tenant=tenant, channel=channel)
        names = b"".join(struct.pack(">H", len(name)) + name.encode() for name in (tenant, channel))
        await self._send(bytes([2, DELIVERIES.index(delivery)]) + names + payload)

    async def flush(self):
        """Returns when the edge has handled all that was sent before."""
        answered = asyncio.get_running_loop().create_future()
        self.pongs.append((time.perf_counter(), answered))
        await self._send("PING")
        await answered

    async def close(self):
        self.error = Error("closed")
        await self.socket.close()
        await self.tasks[0]

    async def _ask(self, verb, tenant, pattern):
        command = f"{verb}:{tenant}:{pattern}"
        answer = self.answers[command] = asyncio.get_running_loop().create_future()
        await self._send(command)
        await answer

    async def _send(self, message):
        if self.ended:
            raise Error("closed", "the client has ended")
        try:
            await self.socket.send(message)
        except ConnectionClosed:
            raise Error("disconnected") from None

    async def _keep_alive(self, pause):
        while True:
            await asyncio.sleep(pause)
            await self.flush()

    async def _read(self):
        try:
            async for message in self.socket:
                if isinstance(message, str):
                    self._line(message)
                elif message[0] == 1:  # others are of later edges
                    self._deliver(message)
        except ConnectionClosed:
            pass
        self.ended = True
        error = self.error or Error("disconnected", "the connection is lost")
        error.about["closeCode"] = self.socket.close_code
        for future in [*self.answers.values(), *(future for _, future in self.pongs)]:
            future.cancelled() or future.done() or future.set_exception(error)
        self.tasks[1].cancel()
        self.on_event("closed", error=None if error.code == "closed" else error)

    def _line(self, line):
        verb, _, rest = line.partition(":")
        code, _, context = rest.partition(":")
        if verb == "PONG" and self.pongs:
            sent, answered = self.pongs.pop(0)
            self.on_event("roundTrip", rtt=1000 * (time.perf_counter() - sent))
            answered.cancelled() or answered.set_result(None)
        elif verb == "OK" and rest in self.answers:
            self.answers.pop(rest).set_result(None)
        elif verb == "ERR" and context in self.answers:
            _, tenant, pattern = context.split(":")
            self.answers.pop(context).set_exception(Error(code, "the edge refused it", tenant=tenant, pattern=pattern))
        elif verb == "ERR" and context.startswith("PUB:"):
            _, tenant, channel = context.split(":")
            self.on_event("publishError", code=code, tenant=tenant, channel=channel)
        elif verb == "ERR" and code == "slow_consumer":
            self.on_event("slowConsumer", dropped=int(context))
        elif verb == "ERR" and code in ENDS:
            self.error = Error(code, "the edge ended the connection")
        elif verb == "ERR":
            self.on_event("edgeError", code=code, detail=context)

    def _deliver(self, frame):
        at = 1

        def take(length_format):
            nonlocal at
            (length,) = struct.unpack_from(length_format, frame, at)
            begin = at + struct.calcsize(length_format)
            at = begin + length
            return frame[begin:at]

        tenant, channel, payload = take(">H").decode(), take(">H").decode(), take(">I")
        (count,) = struct.unpack_from(">H", frame, at)
        at += 2
        patterns = [take(">H").decode() for _ in range(count)]
        for pattern in patterns:
            for taker in list(self.subscriptions.get((tenant, pattern), [])):
                taker({"tenant": tenant, "channel": channel, "payload": payload, "pattern": pattern, "patterns": patterns})
