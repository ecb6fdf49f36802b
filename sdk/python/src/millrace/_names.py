"""Names (docs/protocol.md): checked here before they are sent, so that the edge's answers always
repeat them."""

from __future__ import annotations

import re

__all__ = ["DEFAULT_TENANT", "is_channel", "is_pattern", "is_tenant"]

DEFAULT_TENANT = "~"
"""What an empty tenant means."""

_LITERAL = r"[A-Za-z0-9_\-~@]+"
_TENANT = re.compile(r"[A-Za-z0-9_\-~@.]{1,128}")
_CHANNEL = re.compile(rf"(?=.{{1,256}}\Z){_LITERAL}(?:\.{_LITERAL}){{0,31}}")
_PATTERN = re.compile(rf"(?=.{{1,256}}\Z)(?:(?:{_LITERAL}\*?|\*)\.){{0,31}}(?:{_LITERAL}[*>#]?|[*>#])")


def is_tenant(name: str) -> bool:
    """Says whether *name* is a tenant's, without the empty one."""
    return _TENANT.fullmatch(name) is not None


def is_channel(name: str) -> bool:
    """Says whether *name* is a channel's."""
    return _CHANNEL.fullmatch(name) is not None


def is_pattern(name: str) -> bool:
    """Says whether *name* is a pattern."""
    return _PATTERN.fullmatch(name) is not None
