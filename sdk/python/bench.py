"""How many messages a second one core takes: run it with the package installed, or PYTHONPATH=src.

Each row feeds the bytes of a connection, as they come from a socket, in pieces of 64 KiB, and counts what
the application gets: by a plain function, by a coroutine function, by iteration.
"""

from __future__ import annotations

import asyncio
import struct
import sys
import time
from collections.abc import Callable
from typing import Any

from websockets.protocol import State

from millrace._address import parse_address
from millrace._connection import Connection
from millrace._link import Dial
from millrace._session import Session
from millrace._websocket import WebSocketLink
from millrace.client import Client
from millrace.message import Message
from millrace.options import settings

PIECE = 1 << 16
MESSAGES = 200_000


class Transport(asyncio.Transport):
    """Where nothing goes."""

    def write(self, data: Any) -> None:
        pass

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def can_write_eof(self) -> bool:
        return False

    def close(self) -> None:
        pass

    def abort(self) -> None:
        pass


def frame(n: int, size: int, channels: int, stored: bool) -> bytes:
    """Return a deliver frame in a frame of WebSocket."""

    def sized(text: str) -> bytes:
        return struct.pack(">H", len(text)) + text.encode()

    head = struct.pack(">BBQQQ", 4, 1, 1, n + 1, 1_700_000_000_000) if stored else b"\x01"
    payload = b"x" * size
    body = sized("demo.room") + sized(f"chat.room-{n % channels}") + struct.pack(">I", size) + payload
    message = head + body + struct.pack(">H", 1) + sized("chat.*")
    length = len(message)
    return (bytes([0x82, length]) if length < 126 else b"\x82\x7e" + struct.pack(">H", length)) + message


def open_client() -> tuple[Client, WebSocketLink]:
    """Return a client with a connection that is open."""
    s = settings(token="AT_1", transports=["websocket"], queue=2**20)  # noqa: S106
    session = Session([parse_address("http://localhost")], s, {})
    link = WebSocketLink(Dial("http://localhost", "AT_1", s))
    link.connection_made(Transport())
    link._ws.parser = link._ws.discard()  # of the handshake
    link._ws.state = State.OPEN
    link._ws.parser = super(type(link._ws), link._ws).parse()
    next(link._ws.parser)
    link.is_open = True
    connection = Connection("http://localhost", link, "AT_1", session, s, lambda: None)
    session.set_current(connection)
    session.since = 1.0
    return Client(session), link


async def run(name: str, how: str, size: int, channels: int = 16, stored: bool = False) -> None:
    """Measure one row."""
    data = b"".join(frame(n, size, channels, stored) for n in range(MESSAGES))
    client, link = open_client()
    answer = b"FEATURES:link,history"
    link.data_received(bytes([0x81, len(answer)]) + answer)
    got = 0

    def plain(_: Message) -> None:
        nonlocal got
        got += 1

    async def later(_: Message) -> None:
        nonlocal got
        got += 1

    takers: dict[str, Callable[[Message], Any] | None] = {"plain": plain, "later": later, "iterate": None}
    made = asyncio.create_task(
        client.subscribe("demo.room", "chat.*", on_message=takers[how], history="now" if stored else None)
    )
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    ok = b"OK:RSUB:demo.room:chat.*:0000000000000001.0.1:complete" if stored else b"OK:SUB:demo.room:chat.*"
    link.data_received(bytes([0x81, len(ok)]) + ok)
    subscription = await made

    async def iterate() -> None:
        nonlocal got
        async for _ in subscription:
            got += 1
            if got == MESSAGES:
                return

    reading = asyncio.create_task(iterate()) if how == "iterate" else None
    begun = time.process_time()
    for start in range(0, len(data), PIECE):
        link.data_received(data[start : start + PIECE])
        await asyncio.sleep(0)
    while got < MESSAGES:
        await asyncio.sleep(0)
    took = time.process_time() - begun
    if reading is not None:
        await reading
    rate = MESSAGES / took
    print(f"{name:44} {rate:>10,.0f}/s {took / MESSAGES * 1e6:>8.2f} µs")  # noqa: T201
    client._session.finish(None)
    link.connection_lost(None)
    await client.close()


async def main() -> None:
    """Measure all rows."""
    print(f"Python {sys.version.split()[0]}, {MESSAGES:,} messages each")  # noqa: T201
    await run("100 bytes, plain function", "plain", 100)
    await run("100 bytes, coroutine function", "later", 100)
    await run("100 bytes, iterated", "iterate", 100)
    await run("100 bytes, iterated, 5,000 channels", "iterate", 100, 5000)
    await run("100 bytes, iterated, with positions", "iterate", 100, stored=True)
    await run("1,000 bytes, iterated", "iterate", 1000)


if __name__ == "__main__":
    asyncio.run(main())
