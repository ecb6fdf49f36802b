"""TCP connections. Unlike asyncio's own way to try several addresses, it leaves no socket when cancelled."""

from __future__ import annotations

import asyncio
import socket

from ._race import first_of
from ._resolve import Target, resolve_host


async def connect_tcp(host: str, port: int) -> socket.socket:
    """Connect to the first address of a host that takes it. The errors are OSError and ValueError."""
    return await first_of(await resolve_host(host, port), _connect, socket.socket.close)


async def _connect(target: Target) -> socket.socket:
    opened = socket.socket(target.family, socket.SOCK_STREAM)
    try:
        opened.setblocking(False)
        await asyncio.get_running_loop().sock_connect(opened, target.address)
    except BaseException:
        opened.close()
        raise
    return opened
