"""Names that do not exist: the error names the nearest one that does."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

from .errors import MillraceError, bad_option


def unknown(what: str, name: object, known: Iterable[str]) -> MillraceError:
    """Return the error for an unknown name; what is such as `option`."""
    names = [name for name in known if name not in ("self", "unknown", "unknown_options")]
    shown = repr(name)[:66]
    text = f"there is no {what} {shown}"
    snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", str(name)).lower()
    near = difflib.get_close_matches(snake, names, 1, 0.6)
    if near:
        return bad_option(f"{text}: did you mean {near[0]}?")
    return bad_option(f"{text}: there are {', '.join(names)}")


def refuse_unknown(call: str, options: Mapping[str, object], known: Iterable[str]) -> None:
    """Raise the error for the first of some options, if there is one: all of them are unknown."""
    for name in options:
        raise unknown(f"option of {call}", name, known)
