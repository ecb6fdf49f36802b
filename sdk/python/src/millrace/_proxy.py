"""Which edges are reached through a forward proxy."""

from __future__ import annotations

import base64
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
        self._variables: dict[str, str] = {}
        if not (option is None or isinstance(option, str)):
            raise bad_option("proxy must be a URL, or 'none', or None for that of the environment")
        if option:
            self._option = None if option == "none" else _parse(option, "proxy")
        else:
            self._variables = urllib.request.getproxies_environment()
            self._environment = _parse(self._variables.get("https", ""), "HTTPS_PROXY")

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
        host = f"{address.host}:{address.port}"
        bypassed = urllib.request.proxy_bypass_environment(host, self._variables)  # type: ignore[attr-defined]
        return None if bypassed else self._environment

    def next_hop(self, address: Address) -> tuple[str, int]:
        """Return the host and the port that a connection to an edge goes to first."""
        proxy = self.of(address)
        return (address.host, address.port) if proxy is None else (proxy.host, proxy.port)


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
