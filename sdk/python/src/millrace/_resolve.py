"""The addresses of hosts."""

from __future__ import annotations

import itertools
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ._daemon import DaemonCalls
from .errors import MillraceError

_Found = Sequence[tuple[Any, Any, int, str, Any]]

# A name server that does not answer takes 30 s and more, which nothing can end.
_lookups: DaemonCalls[_Found] = DaemonCalls("millrace-resolver")
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_lookups.reset)


@dataclass(frozen=True, slots=True)
class Target:
    """An address of a host, as the module socket has it."""

    family: int
    address: Any


async def resolve_host(host: str, port: int) -> list[Target]:
    """Return the addresses of a host, IPv6 and IPv4 taking turns (RFC 8305). The errors are OSError and ValueError.

    To cancel it returns at once, also while no name server answers.
    """
    try:
        found: _Found = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_NUMERICHOST
        )  # does not ask anybody
    except socket.gaierror:
        found = await _lookups.call(
            (host, port), lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )
    return _interleaved([Target(info[0], info[4]) for info in found])


def is_resolving(host: str, port: int) -> bool:
    """Say whether the name of a host has been asked for, and no name server has answered yet."""
    return _lookups.runs((host, port))


def not_in_time(host: str, port: int, text: str) -> MillraceError:
    """Return the error of an attempt that has taken too long: text, unless no name server has answered."""
    if is_resolving(host, port):
        text = f"no name server has answered for {host}: is the resolver of this machine set up right?"
    return MillraceError("timeout", text)


def _interleaved(found: Sequence[Target]) -> list[Target]:
    """Return addresses with the families taking turns, beginning with that of the first."""
    families = list(dict.fromkeys(target.family for target in found))
    turns = itertools.zip_longest(*([t for t in found if t.family == family] for family in families))
    return [target for turn in turns for target in turn if target is not None]
