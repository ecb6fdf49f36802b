"""Whether a rule of a grant contains another one (docs/protocol.md, Grants)."""

from __future__ import annotations

import re
from collections.abc import Sequence


def contains(rule: str, other: str) -> bool:
    """Say whether all that a rule other stands for is allowed by rule. Neither has to be legal."""
    mine, mine_open = _normal(rule)
    theirs, theirs_open = _normal(other)
    if len(mine) > len(theirs) or (not mine_open and (theirs_open or len(mine) < len(theirs))):
        return False
    return all(_covers(a, b) for a, b in zip(mine, theirs, strict=False))


def _normal(rule: str) -> tuple[Sequence[str], bool]:
    """Return the fixed tokens of a rule, and whether it has an open tail."""
    *tokens, last = rule.split(".")
    if last == "#":
        return (tokens or ["*"]), True
    if last == ">":
        return [*tokens, "*"], True
    if last.endswith("#"):
        return [*tokens, f"{last[:-1]}*"], True
    if last.endswith(">"):
        return [*tokens, f"{last[:-1]}*", "*"], True
    return [*tokens, last], False


def _variants(token: str) -> list[str]:
    return token[1:-1].split("|") if re.fullmatch(r"\(.*\)", token) else [token]


def _covers(mine: str, theirs: str) -> bool:
    return all(any(_covers_one(a, b) for a in _variants(mine)) for b in _variants(theirs))


def _covers_one(mine: str, theirs: str) -> bool:
    if mine == "*" or mine == theirs:
        return True
    if mine == "?":
        return "*" not in theirs
    return mine.endswith("*") and theirs.startswith(mine[:-1]) and theirs != "?"
