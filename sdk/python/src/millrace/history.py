"""Where a subscription with a history begins (docs/reference/python.md, Histories)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from ._wire import is_position
from .errors import bad_option

__all__ = ["After", "History", "LastN"]

_MAX_LAST = 100_000


@dataclass(frozen=True, slots=True)
class LastN:
    """The newest messages of one channel, 1 to 100,000, and what comes."""

    n: int


@dataclass(frozen=True, slots=True)
class After:
    """Everything behind a position, and what comes."""

    position: str


History = Literal["now", "last"] | LastN | After
"""``"now"``: what comes from now on. ``"last"``: the newest message of each matching channel, and on."""


def checked_start(history: object, pattern: str) -> str | None:
    """Return what RSUB has for a history; None: the subscription has none. The error is `bad_option`."""
    if history is None or history == "now" or history == "last":
        return None if history is None else str(history)
    if isinstance(history, After) and is_position(str(history.position)):
        return str(history.position)
    if not isinstance(history, LastN) or type(history.n) is not int or not 1 <= history.n <= _MAX_LAST:
        raise bad_option(f'history is "now", "last", LastN(1 to {_MAX_LAST}) or After(position)')
    if re.search(r"[*>#]", pattern):
        raise bad_option("history: LastN is for one channel: the pattern has no wildcard")
    return f"last.{history.n}"
