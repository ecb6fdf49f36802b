"""An edge that does what a test says, over WebSocket on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import http
import json
import struct
from collections.abc import AsyncIterator, Callable
from typing import Generic, TypeVar

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

T = TypeVar("T")
Answers = Callable[[str], "bool | str"]

WAIT = 60.0  # seconds; on a busy machine, everything may take long


class Record(Generic[T]):
    """A list that can be waited on."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._waiting: list[asyncio.Future[None]] = []

    def add(self, value: T) -> None:
        self.all.append(value)
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            if not waiter.done():
                waiter.set_result(None)

    async def until(self, fits: Callable[[T], bool], start: int = 0) -> T:
        """Return the first value, from an index on, that fits."""

        async def found() -> T:
            while True:
                for value in self.all[start:]:
                    if fits(value):
                        return value
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiting.append(waiter)
                await waiter

        try:
            return await asyncio.wait_for(found(), WAIT)
        except asyncio.TimeoutError:
            raise AssertionError(f"it has not come, but {self.all}") from None


def everything(_: str) -> bool:
    return True


def nothing(_: str) -> bool:
    return False


def pings(line: str) -> bool:
    return line == "PING"


class Peer:
    """A connection."""

    def __init__(
        self, socket: ServerConnection, answers: Answers, features: str, frames: Record[bytes]
    ) -> None:
        assert socket.request is not None
        self.token = socket.request.headers.get("Authorization", "").replace("Bearer ", "")
        self.lines = Record[str]()
        self.frames = Record[bytes]()
        self.closed = Record[int]()
        self.asked = ""
        """What the client has asked for with FEATURES."""
        self.answers = answers
        """Lines that it answers itself, as it should or with a text; others a test must answer."""
        self.socket = socket
        self._features = features
        self._all_frames = frames

    async def run(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for message in self.socket:
                if isinstance(message, bytes):
                    self.frames.add(message)
                    self._all_frames.add(message)
                    continue
                if message.startswith("FEATURES:"):
                    self.asked = message  # each connection begins with it
                    self.send(self._features)
                    continue
                answer = self.answers(message)
                if isinstance(answer, str):
                    self.send(answer)
                elif answer:
                    self.answer(message)
                self.lines.add(message)
        self.closed.add(self.socket.protocol.close_code or 0)

    def answer(self, line: str) -> None:
        if line == "PING":
            self.send("PONG")
        elif line.startswith(("SUB:", "UNSUB:", "JOIN:", "LEAVE:", "WHO:", "UNWHO:")):
            self.send("OK:" + ":".join(line.split(":")[:3]))

    def send(self, message: str | bytes) -> None:
        """Send a line or a frame, at once."""
        with contextlib.suppress(Exception):  # the client may be gone
            if isinstance(message, str):
                self.socket.protocol.send_text(message.encode())
            else:
                self.socket.protocol.send_binary(message)
            self.socket.send_data()

    def deliver(self, text: str, pattern: str = "c", channel: str = "c") -> None:
        self.send(b"\x01" + _delivery("t", channel, text.encode(), (pattern,)))

    def give(self, *texts: str) -> None:
        """Deliver messages to this connection alone, for c."""
        for text in texts:
            self.send(b"\x04\x04" + _delivery("t", "c", text.encode(), ("c",)))

    def deliver_own(self, text: str, key: bytes = b"", n: int | None = None) -> None:
        """Deliver to c what this connection has published; with a number it is stored."""
        head = b"\x04\x08" if n is None else struct.pack(">BBQQQ", 4, 9, 0xABC, n, 1_700_000_000_000 + n)
        self.send(head + bytes([len(key)]) + key + _delivery("t", "c", text.encode(), ("c",)))

    def stored(self, *numbers: int) -> None:
        """Deliver messages to the RSUB of c, whose payloads are their numbers."""
        for n in numbers:
            place = struct.pack(">BBQQQ", 4, 1, 0xABC, n, 1_700_000_000_000 + n)
            self.send(place + _delivery("t", "c", str(n).encode(), ("c",)))

    def deliver_from(self, sender: str, text: str, n: int | None = None) -> None:
        """Deliver a message to c that says who has published it; with a number it is stored."""
        head = b"\x04\x02"
        if n is not None:
            head = struct.pack(">BBQQQ", 4, 3, 0xABC, n, 1_700_000_000_000 + n)
        subject = sender.encode()
        self.send(head + bytes([len(subject)]) + subject + _delivery("t", "c", text.encode(), ("c",)))

    def caught_up(self, n: int, how: str = "complete") -> None:
        """Answer the RSUB of c."""
        self.send(f"OK:RSUB:t:c:{at(n)}:{how}")

    def present(self, bits: str, *entries: tuple[str, str, int], pattern: str = "c", info: str = "") -> None:
        """Tell the WHO of a pattern: of channels, subjects and since when, 0 for one that has gone.

        bits has the letters of first and synced.
        """
        told = b"".join(
            bytes([since > 0]) + _sized(channel) + bytes([len(subject.encode())]) + subject.encode()
            + (struct.pack(">Q", since) + _sized(info) if since else b"")
            for channel, subject, since in entries
        )  # fmt: skip
        self._tell(bits, pattern, len(entries), told)

    def counted(self, bits: str, *entries: tuple[str, int], pattern: str = "c") -> None:
        """Tell the WHO of a pattern how many channels have."""
        told = b"".join(_sized(channel) + struct.pack(">I", n) for channel, n in entries)
        self._tell(bits + "c", pattern, len(entries), told)

    def _tell(self, bits: str, pattern: str, n: int, told: bytes) -> None:
        flags = sum(1 << "fsc".index(bit) for bit in bits)
        self.send(bytes([5, flags]) + _sized("t") + _sized(pattern) + struct.pack(">H", n) + told)

    def write(self, data: bytes) -> None:
        """Write bytes that are no whole message, perhaps."""
        self.socket.transport.write(data)

    def close(self, code: int) -> None:
        """Close, without waiting for an answer."""
        self.socket.protocol.send_close(code)
        self.socket.send_data()

    def revoke(self) -> None:
        """End the connection as an edge does whose token was revoked."""
        self.send("ERR:token_revoked")
        self.close(4403)

    def kill(self) -> None:
        """End the connection without a close."""
        self.socket.transport.abort()

    async def until(self, line: str, start: int = 0) -> str:
        return await self.lines.until(lambda other: other == line, start)

    def count(self, line: str) -> int:
        return self.lines.all.count(line)


class Edge:
    """An edge, in one's own loop."""

    def __init__(self) -> None:
        self.peers = Record[Peer]()
        self.frames = Record[bytes]()
        """Of all peers."""
        self.refusal: tuple[int, str] | None = None
        """The status and the code that refuse handshakes; None: nothing does."""
        self.detail = "as the test says"
        self.retry_after: str | None = None
        self.accepted: str | None = None
        """The one token that is not refused."""
        self.answers: Answers = everything
        """What the next peers answer themselves."""
        self.features = "FEATURES:link"
        self.ping = 200
        self.bodies: dict[str, str] = {}
        """By path: what else it serves."""
        self.refusals = Record[str]()
        """The tokens of handshakes that were refused."""
        self.stalls = False
        """Handshakes are not answered."""
        self.url = ""
        self._server: Server | None = None
        self._over = asyncio.Event()

    async def start(self, port: int = 0) -> None:
        self._over = asyncio.Event()  # it may have been stopped before
        self._server = await serve(
            self._serve,
            "127.0.0.1",
            port,
            process_request=self._request,
            compression=None,
            ping_interval=None,
            close_timeout=1,
            max_size=None,
        )
        port = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"

    async def _request(self, connection: ServerConnection, request: Request) -> Response | None:
        if request.path == "/ping":
            return connection.respond(http.HTTPStatus(self.ping), "pong")
        if request.path in self.bodies:
            return connection.respond(http.HTTPStatus.OK, self.bodies[request.path])
        if self.stalls:
            await self._over.wait()
        token = request.headers.get("Authorization", "").replace("Bearer ", "")
        if self.refusal is None or token == self.accepted:
            return None
        self.refusals.add(token)
        status, code = self.refusal
        body = json.dumps({"code": code, "detail": self.detail}) if code else "no"
        headers = Headers({"Content-Length": str(len(body)), "Connection": "close"})
        if self.retry_after is not None:
            headers["Retry-After"] = self.retry_after
        return Response(status, "No", headers, body.encode())

    async def _serve(self, socket: ServerConnection) -> None:
        if socket.response is None or socket.response.status_code != 101:  # some versions give these, too
            return
        peer = Peer(socket, self.answers, self.features, self.frames)
        self.peers.add(peer)
        await peer.run()

    async def peer(self, n: int) -> Peer:
        """Return the n-th connection, counted from 0."""
        return await self.peers.until(lambda peer: len(self.peers.all) > n and peer is self.peers.all[n])

    async def stop(self) -> None:
        if self._server is None:
            return
        server, self._server = self._server, None
        self._over.set()
        for peer in self.peers.all:
            peer.kill()
        server.close(close_connections=True)
        await server.wait_closed()


@contextlib.asynccontextmanager
async def edges(n: int, features: str = "FEATURES:link") -> AsyncIterator[list[Edge]]:
    """Run some edges."""
    all_ = [Edge() for _ in range(n)]
    try:
        for edge in all_:
            edge.features = features
            await edge.start()
        yield all_
    finally:
        for edge in all_:
            await edge.stop()


def at(n: int) -> str:
    """Return the n-th position of the tests' histories."""
    return f"0000000000000abc.{n}.{1_700_000_000_000 + n}"


def _delivery(tenant: str, channel: str, payload: bytes, patterns: tuple[str, ...]) -> bytes:
    body = _sized(tenant) + _sized(channel) + struct.pack(">I", len(payload)) + payload
    return body + struct.pack(">H", len(patterns)) + b"".join(map(_sized, patterns))


def _sized(text: str) -> bytes:
    return struct.pack(">H", len(text.encode())) + text.encode()
