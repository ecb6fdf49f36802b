"""Addresses of edges, and of lists of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from .errors import bad_option

__all__ = ["Address", "is_loopback", "parse_address"]

_HOST = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9\-._]+")
_LOOPBACK = re.compile(r"(.+\.)?localhost|127(\.[0-9]+){3}|::1", re.IGNORECASE)


_EXAMPLE = "pass one such as https://edge.example.com or http://localhost:8080"


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


def parse_address(address: str, allow_plaintext: bool = False, what: str = "an address") -> Address:
    """Check an address; what is its name in errors.

    The error is `bad_option`. It repeats no more of the text than cannot have a secret in it.
    """
    if not isinstance(address, str):
        kind = type(address).__name__
        raise bad_option(f"{what} must be a string such as https://edge.example.com, and is {kind}")
    if re.search(r"\b[AM]T_", address):
        raise bad_option(
            f"{what} has a token in it, where logs would keep it: a token is an option of its own"
        )
    if re.search(r"[\s\\]|[^\x21-\x7e]", address):
        raise bad_option(f"{what} has a space, a backslash or a character beyond ASCII: {_EXAMPLE}")
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        raise bad_option(f"{what} is no URL: {_EXAMPLE}") from None
    shown = f"[{host}]" if ":" in host else host
    if "@" in parts.netloc:
        raise bad_option(f"{what} has a user or a password, which nobody asks for: remove them")
    try:
        port = parts.port
    except ValueError:
        raise bad_option(f"{what} has a port that there cannot be: 1 to 65535 are allowed") from None
    legal = is_host(host) and port != 0 and not parts.netloc.endswith(":")
    origin = shown + (f":{port}" if port is not None else "")
    if parts.scheme in ("ws", "wss") and legal:
        origin = f"http{parts.scheme[2:]}://{origin}"
        raise bad_option(f"{what} is the origin of an edge, not the URL of a WebSocket: pass {origin}")
    if "?" in address or "#" in address:
        raise bad_option(f"{what} has a query or a fragment: remove it; a token is an option of its own")
    if parts.scheme not in ("http", "https"):
        bare = re.fullmatch(r"([A-Za-z0-9\-._]+)(:[0-9]{1,5})?(/.*)?", address)
        if bare is not None and "://" not in address:
            scheme = "http" if is_loopback(bare[1]) else "https"
            raise bad_option(f"{what} has no scheme: pass {scheme}://{bare[1]}{bare[2] or ''}")
        named = f", not {parts.scheme}://" if parts.scheme else ""
        raise bad_option(f"{what} begins with https:// or http://{named}: {_EXAMPLE}")
    if not legal:
        raise bad_option(f"{what} has no host, or one that there cannot be: {_EXAMPLE}")
    usual = 443 if parts.scheme == "https" else 80
    if parts.path in ("/ws", "/wt"):
        raise bad_option(
            f"{what} is the origin of an edge, without {parts.path}: pass {parts.scheme}://{origin} "
            "(Paths has other paths than the usual ones)"
        )
    if parts.scheme == "http" and not allow_plaintext and not is_loopback(host):
        raise bad_option(
            f"{what} with http:// must be on this machine, and {host} is not, so the token could be read on the "
            "way: use https://, or set allow_plaintext=True"
        )
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
