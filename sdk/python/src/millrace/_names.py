"""Names (docs/protocol.md): checked here before they are sent, so that the edge's answers always
repeat them."""

from __future__ import annotations

import re
from typing import Any

from .errors import MillraceError

__all__ = ["DEFAULT_TENANT", "checked", "checked_tenant", "is_channel", "is_pattern", "is_tenant"]

DEFAULT_TENANT = "~"
"""What an empty tenant means."""

_LITERAL = r"[A-Za-z0-9_\-~@]+"
_TENANT = re.compile(r"[A-Za-z0-9_\-~@.]{1,128}")
_CHANNEL = re.compile(rf"(?=.{{1,256}}\Z){_LITERAL}(?:\.{_LITERAL}){{0,31}}")
_PATTERN = re.compile(rf"(?=.{{1,256}}\Z)(?:(?:{_LITERAL}\*?|\*)\.){{0,31}}(?:{_LITERAL}[*>#]?|[*>#])")


def checked(kind: str, name: object, tenant: str | None = None) -> str:
    """Return a name of a kind, ``tenant``, ``channel`` or ``pattern``. The error says what is wrong with it."""
    if isinstance(name, str) and _LEGAL[kind](name):
        return name
    about: dict[str, Any] = {} if tenant is None else {"tenant": tenant}
    if isinstance(name, str):
        about[kind] = name
    raise MillraceError(f"bad_{kind}", _wrong(kind, name), **about)


def checked_tenant(tenant: str) -> str:
    """Return the name of a tenant; an empty one is ``~``."""
    return DEFAULT_TENANT if tenant == "" else checked("tenant", tenant)


def _wrong(kind: str, name: object) -> str:
    """Return what is wrong with a name, and what to write."""
    if not isinstance(name, str):
        return f"a {kind} is a string, and not {type(name).__name__}"
    most = 128 if kind == "tenant" else 256
    if name == "":
        return f"a {kind} is not empty"
    if len(name.encode("utf-8", "replace")) > most:
        return f"a {kind} has at most {most} bytes, and this one {len(name.encode('utf-8', 'replace'))}"
    strange = re.search(r"[^A-Za-z0-9_\-~@.*>#]" if kind == "pattern" else r"[^A-Za-z0-9_\-~@.]", name)
    if strange is not None:
        return _strange(kind, name, strange[0])
    if any(part == "" for part in name.split(".")):
        return f"a {kind} has something between its dots, before the first one and after the last one"
    if name.count(".") > 31:
        return f"a {kind} has at most 32 parts between dots"
    if re.search(r"[#>].", name):
        return "# and > stand at the end of a pattern, and nothing follows them: * stands for one part in the middle"
    return "in a pattern, * stands for a whole part, or at the end of one, as in abc*: there is no *abc"


def _strange(kind: str, name: str, char: str) -> str:
    if char in "*>#":
        do = "publish or join one channel" if kind == "channel" else "a tenant is named in full"
        return f"{char} is a wildcard, which only patterns have: {do}"
    if char == "/":
        return f"{char!r} is not allowed: write dots between the parts, {name.strip('/').replace('/', '.')!r}"
    if char == "+" and kind == "pattern":
        return f"'+' is not a wildcard: write * for one part, {name.replace('+', '*')!r}"
    made = ": channel_token makes a part of any text" if kind != "tenant" else ""
    return f"{char!r} is not allowed: a {kind} has letters A to Z, digits and _-~@{made}"


def is_tenant(name: str) -> bool:
    """Says whether *name* is a tenant's, without the empty one."""
    return _TENANT.fullmatch(name) is not None


def is_channel(name: str) -> bool:
    """Says whether *name* is a channel's."""
    return _CHANNEL.fullmatch(name) is not None


def is_pattern(name: str) -> bool:
    """Says whether *name* is a pattern."""
    return _PATTERN.fullmatch(name) is not None


_LEGAL = {"tenant": is_tenant, "channel": is_channel, "pattern": is_pattern}
