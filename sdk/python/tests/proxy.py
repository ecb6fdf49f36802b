"""A forward proxy that does what a test says."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import re
from collections.abc import AsyncIterator


class Proxy:
    """The proxy, with what it was asked for: each request's target and the user and password."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answer = "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n"
        """Another one ends the connection."""
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer), contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            target = re.match(r"CONNECT (\S+):(\d+) HTTP/1.1\r\n", head)
            assert target is not None
            basic = re.search(r"Proxy-Authorization: Basic (\S+)", head)
            self.asked.append(
                (f"{target[1]}:{target[2]}", base64.b64decode(basic[1]).decode() if basic else "")
            )
            writer.write(self.answer.encode())
            if " 200 " not in self.answer:
                return
            far_reader, far_writer = await asyncio.open_connection(target[1], int(target[2]))
            with contextlib.closing(far_writer):
                await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
    writer.close()


@contextlib.asynccontextmanager
async def proxying() -> AsyncIterator[Proxy]:
    proxy = Proxy()
    tasks: set[asyncio.Task[None]] = set()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.ensure_future(proxy.serve(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
