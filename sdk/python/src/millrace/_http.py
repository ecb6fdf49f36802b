"""HTTP requests in the event loop, each on a connection of its own: few are made."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import io
import re
import socket
import ssl as tls
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from typing import cast

from ._address import Address
from ._connect import connect_edge
from ._proxy import Proxies
from ._resolve import not_in_time
from ._timers import limited
from .errors import MillraceError

__all__ = ["Response", "request"]

_HEAD_END = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]+)[ \t]*\r\n", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. Redirects are not followed."""

    status: int
    headers: Message
    """By any case of their names."""
    body: bytes


async def request(
    method: str,
    address: Address,
    path: str,
    *,
    timeout: float,
    limit: int,
    ssl: tls.SSLContext | None,
    proxies: Proxies,
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
) -> Response:
    """Make a request, whose path may have a query, and read its answer, of at most *limit* bytes.

    *ssl* is used for https:// alone. The errors are `unreachable`, `timeout` after as many seconds,
    and `protocol` for what is no HTTP or too long; none repeats the request. To cancel it closes
    the connection.
    """
    host = f"[{address.host}]" if ":" in address.host else address.host
    lines = [
        f"{method} {path} HTTP/1.1",
        f"Host: {host}:{address.port}",
        "Connection: close",
        "Accept-Encoding: identity",
        *(f"{name}: {value}" for name, value in (headers or {}).items()),
        *([f"Content-Length: {len(body)}"] if body else []),
    ]
    data = "\r\n".join(lines).encode("ascii") + _HEAD_END + body
    try:
        answer = await limited(_exchange(address, data, limit, ssl, proxies), timeout)
        return _parse(method, answer)
    except asyncio.TimeoutError:
        raise not_in_time(*proxies.next_hop(address), "the edge does not answer in time") from None
    except (OSError, ValueError) as err:  # a name that cannot be one is a ValueError
        raise MillraceError("unreachable", f"{address.origin} does not answer", cause=err) from err
    except http.client.IncompleteRead:
        raise MillraceError("unreachable", "the edge's answer was cut off") from None
    except http.client.HTTPException:  # its text may quote the answer
        raise MillraceError("protocol", "the answer is not HTTP, or too long") from None


async def _exchange(
    address: Address, data: bytes, limit: int, ssl: tls.SSLContext | None, proxies: Proxies
) -> bytes:
    context = ssl if address.secure else None
    reader, writer = await asyncio.open_connection(
        sock=await connect_edge(address, proxies),
        ssl=context,
        server_hostname=address.host if context else None,
    )
    try:
        writer.write(data)
        answer = bytearray()
        end = -1  # of the answer, once that is known
        while end < 0 or len(answer) < end:
            part = await reader.read(1 << 16)
            if not part:
                break
            answer += part
            if len(answer) > limit:
                raise http.client.HTTPException
            if end < 0:
                end = _end(answer)
        return bytes(answer)
    finally:
        writer.transport.abort()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


def _end(answer: bytearray) -> int:
    """Return where an answer ends, if its head says so; else -1: with the connection."""
    head = answer.find(_HEAD_END)
    length = _LENGTH.search(answer, 0, head + 2) if head >= 0 else None
    return head + len(_HEAD_END) + int(length[1]) if length else -1


class _Answer:
    """What http.client wants of a socket."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        return io.BytesIO(self._data)


def _parse(method: str, answer: bytes) -> Response:
    response = http.client.HTTPResponse(cast(socket.socket, _Answer(answer)), method=method)
    try:
        response.begin()
        return Response(response.status, response.headers, response.read())
    finally:
        response.close()
