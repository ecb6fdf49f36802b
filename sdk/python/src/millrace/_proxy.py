"""Which edges are reached through a forward proxy."""

from __future__ import annotations

import base64
import ipaddress
import re
import urllib.request
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from ._address import Address, authority, is_host, is_loopback
from .errors import bad_option


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy that speaks HTTP."""

    host: str
    """Without brackets."""
    port: int
    authorization: str = field(default="", repr=False)
    """For Proxy-Authorization; empty: none."""

    def __str__(self) -> str:
        return f"the proxy {authority(self.host, self.port)}"


class Proxies:
    """Says which proxy edges are reached through: that of an option, or that of the environment."""

    def __init__(self, option: object = None) -> None:
        """None and an empty string: the environment, which is read now. A `bad_option` does not quote the URL."""
        self._option: Proxy | None = None
        self._environment: Proxy | None = None
        self._excepted: list[str] = []
        if not (option is None or isinstance(option, str)):
            raise bad_option("proxy must be a URL, or 'none', or None for that of the environment")
        if option:
            self._option = None if option == "none" else _parse(option, "proxy")
        else:
            variables = urllib.request.getproxies_environment()
            self._environment = _parse(variables.get("https", ""), "HTTPS_PROXY")
            self._excepted = variables.get("no", "").lower().split(",")

    @property
    def is_option(self) -> bool:
        """The proxy was asked for by the option."""
        return self._option is not None

    def of(self, address: Address) -> Proxy | None:
        """Return the proxy for an edge; None: it is reached without one.

        That of the environment is for https:// addresses that are not on this machine and not in NO_PROXY.
        """
        if self._environment is None or not address.secure or is_loopback(address.host):
            return self._option
        excepted = any(_excepts(entry.strip(), address) for entry in self._excepted)
        return None if excepted else self._environment

    def next_hop(self, address: Address) -> tuple[str, int]:
        """Return the host and the port that a connection to an edge goes to first."""
        proxy = self.of(address)
        return (address.host, address.port) if proxy is None else (proxy.host, proxy.port)


def _excepts(entry: str, address: Address) -> bool:
    """Say whether an entry of NO_PROXY is about an edge, as Go does; urllib knows no networks."""
    if entry == "*":
        return True
    with_port = re.fullmatch(r"(\[.*\]|[^:]*):(\d+)", entry)
    name, port = with_port.groups() if with_port else (entry, "")
    name = name.strip("[]").removeprefix("*")
    if not name or (port and int(port) != address.port):
        return False
    try:
        network = ipaddress.ip_network(name, strict=False)
    except ValueError:  # a name, and the names below it; only these, if it begins with a dot
        return address.host.endswith(name) if name[0] == "." else f".{address.host}".endswith(f".{name}")
    try:
        return ipaddress.ip_address(address.host) in network
    except ValueError:
        return False


def _parse(url: str, source: str) -> Proxy | None:
    if not url:
        return None
    wanted = bad_option(
        f"{source} is not the URL of a proxy: it looks like http://host:3128 or http://user:password@host:3128; "
        "the option proxy='none' leaves proxies aside"
    )
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        host, port = parts.hostname or "", parts.port or 80
        user = (
            None if parts.username is None else f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        )
        secret = "" if user is None else base64.b64encode(user.encode()).decode()
    except ValueError:
        raise wanted from None
    if (
        parts.scheme != "http"
        or not is_host(host)
        or parts.path not in ("", "/")
        or parts.query
        or parts.fragment
    ):
        raise wanted
    return Proxy(host, port, f"Basic {secret}" if secret else "")
