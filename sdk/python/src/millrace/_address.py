"""Addresses of edges, and of lists of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import bad_option

__all__ = ["Address", "is_loopback", "parse_address"]

_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._]+")
_LOOPBACK = re.compile(r"(.+\.)?localhost|127(\.[0-9]+){3}|::1", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """An edge's origin, or the URL of a list of edges."""

    origin: str
    """scheme://host[:port], in lower case, without the scheme's default port."""
    host: str
    """Without brackets."""
    port: int
    secure: bool
    path: str
    """Of a list of edges; empty: the origin is an edge's."""


def parse_address(address: str, allow_plaintext: bool = False) -> Address:
    """Check an address. The error is `bad_option`; it does not repeat the text, as a token could be in it."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port
    except (AttributeError, TypeError, ValueError):
        parts, host, port = urlsplit(""), "", None
    wanted = "an address is a URL with https:// and without user, query and fragment"
    if parts.scheme not in ("http", "https") or re.search(r"[?#\s\\]|[^\x21-\x7e]", address):
        raise bad_option(wanted)
    shown = f"[{host}]" if ":" in host else host
    usual = 443 if parts.scheme == "https" else 80
    if not is_host(host) or "@" in parts.netloc or port == 0 or parts.netloc.endswith(":"):
        raise bad_option(wanted)
    if parts.scheme == "http" and not allow_plaintext and not is_loopback(host):
        raise bad_option("an address with http:// must be on this machine, or allow_plaintext be set")
    return Address(
        origin=f"{parts.scheme}://{shown}" + (f":{port}" if port not in (None, usual) else ""),
        host=host,
        port=port if port is not None else usual,
        secure=parts.scheme == "https",
        path="" if parts.path == "/" else parts.path,
    )


def is_host(host: str) -> bool:
    """Say whether a text may be a host, without brackets."""
    return _HOST.fullmatch(f"[{host}]" if ":" in host else host) is not None


def authority(host: str, port: int) -> str:
    """Return host:port, with brackets around an IPv6 address."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def is_loopback(host: str) -> bool:
    """Say whether a host, without brackets, is this machine."""
    return _LOOPBACK.fullmatch(host) is not None
