"""A small HTTP server in the loop of a test, with answers that the test gives."""

from __future__ import annotations

import asyncio
import json
import ssl as tls
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Call:
    """A request that came."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Web:
    """The server: each request gets the next answer, a status and what JSON or raw bytes to send."""

    url: str = ""
    answers: list[tuple[int, Any] | bytes | None] = field(default_factory=list)
    """None: the connection is closed without an answer; bytes: sent as they are."""
    calls: list[Call] = field(default_factory=list)
    silent: bool = False
    """Read, and answer nothing."""
    called: asyncio.Event = field(default_factory=asyncio.Event)
    """A request has come."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """A client of a silent server has closed its connection."""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii").split("\r\n")
            headers = {
                name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)
            }
            body = await reader.readexactly(int(headers.get("content-length", "0")))
            method, path, _ = head[0].split(" ")
            self.calls.append(Call(method, path, headers, json.loads(body) if body else None))
            self.called.set()
            if self.silent:
                await reader.read()
                self.gone.set()
                return
            answer = self.answers.pop(0)
            if isinstance(answer, bytes):
                writer.write(answer)
            elif answer is not None:
                status, content = answer
                text = content if isinstance(content, str) else json.dumps(content)
                writer.write(
                    f"HTTP/1.1 {status} X\r\nContent-Length: {len(text.encode())}\r\n\r\n{text}".encode()
                )
        finally:
            writer.close()


@asynccontextmanager
async def web(
    *answers: tuple[int, Any] | bytes | None, ssl: tls.SSLContext | None = None
) -> AsyncIterator[Web]:
    served = Web(answers=list(answers))
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(served.handle(reader, writer))
        tasks.add(task)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=ssl)
    port = server.sockets[0].getsockname()[1]
    served.url = f"{'https' if ssl else 'http'}://127.0.0.1:{port}"
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def closed_port() -> str:
    """Return an address where nobody listens."""
    async with web() as served:
        return served.url
