"""TCP connections. Unlike asyncio's own way to try several addresses, it leaves no socket when cancelled."""

from __future__ import annotations

import asyncio
import re
import socket

from ._address import Address, authority
from ._proxy import Proxies, Proxy
from ._race import first_of
from ._resolve import Target, resolve_host
from .errors import MillraceError

_MAX_HEAD = 16 << 10  # bytes of a proxy's answer
_STATUS = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([^\r\n]*))?\r?\n")


async def connect_edge(address: Address, proxies: Proxies) -> socket.socket:
    """Connect to an edge, perhaps through a proxy. The errors are OSError, ValueError and `unreachable`."""
    proxy = proxies.of(address)
    if proxy is None:
        return await connect_tcp(address.host, address.port)
    try:
        opened = await connect_tcp(proxy.host, proxy.port)
    except (OSError, ValueError) as err:
        raise MillraceError("unreachable", f"no connection to {proxy}", cause=err) from err
    try:
        await _ask(opened, proxy, authority(address.host, address.port))
    except OSError as err:
        opened.close()
        raise MillraceError("unreachable", f"{proxy} has closed the connection", cause=err) from err
    except BaseException:
        opened.close()
        raise
    return opened


async def _ask(opened: socket.socket, proxy: Proxy, target: str) -> None:
    """Ask a proxy for a connection to target, by CONNECT (RFC 9110, section 9.3.6)."""
    loop = asyncio.get_running_loop()
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.authorization:
        lines.append(f"Proxy-Authorization: {proxy.authorization}")
    await loop.sock_sendall(opened, ("\r\n".join(lines) + "\r\n\r\n").encode("ascii"))
    head = b""
    while b"\r\n\r\n" not in head and len(head) < _MAX_HEAD:
        part = await loop.sock_recv(opened, 4096)
        if not part:
            break
        head += part
    status = _STATUS.match(head)
    if status is None:
        raise MillraceError("unreachable", f"{proxy} does not answer as a proxy does")
    code = int(status[1])
    if code in (401, 407):  # tinyproxy has 401 for a wrong password
        what = "does not accept the user and the password"
        if not proxy.authorization:
            what = "asks for a user and a password, as in http://user:password@host:port"
        text = f"{proxy} {what} (HTTP status {code})"
        raise MillraceError("unreachable", text, status=code)
    if not 200 <= code < 300:
        said = re.sub(r"[^ -~]", "?", (status[2] or b"").decode("ascii", "replace"))[:100]
        text = f"{proxy} refuses to connect to {target}: {code} {said}".rstrip()
        raise MillraceError("unreachable", text, status=code)
    if not head.endswith(b"\r\n\r\n"):  # an edge says nothing before it is asked
        raise MillraceError("unreachable", f"{proxy} sends what no edge has sent")


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
