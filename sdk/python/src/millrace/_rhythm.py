"""How long a connection usually says nothing (docs/decisions/0018-suspicion.md). Times are seconds."""

from __future__ import annotations

import math

_BUCKET = 5.0  # the longest pause is that of this bucket and the one before
LONGEST = 10.0
"""A longer pause begins a new rhythm."""
_ENOUGH = 4  # pauses
_TIMES = 3
_LEAST = 1.0
MOST = 3.0
"""A silence is unusual after this time at most."""
_SAME = 0.001  # what comes within this is one arrival


class Rhythm:
    """Knows the longest pause between arrivals of the last 5 to 10 s."""

    __slots__ = ("_before", "_last", "_longest", "_pauses", "_since")

    def __init__(self, time: float) -> None:
        self._last = self._since = time
        self._pauses = 0
        self._longest = 0.0  # of the bucket
        self._before = 0.0  # of the one before

    def arrived(self, time: float) -> bool:
        """Take an arrival, and say whether unusual may be shorter now."""
        pause = time - self._last
        if pause < _SAME:
            return False
        self._last = time
        if pause > LONGEST:
            self._pauses = 0
            self._longest = self._before = 0.0
            self._since = time
            return False
        rotate = time - self._since >= _BUCKET
        if rotate:
            self._before, self._longest, self._since = self._longest, 0.0, time
        self._longest = max(self._longest, pause)
        self._pauses += 1
        return rotate or self._pauses == _ENOUGH

    def skip(self, time: float) -> None:
        """Take an arrival at the end of a pause that does not count."""
        self._last = time

    @property
    def unusual(self) -> float:
        """After how long a silence is unusual; infinity: there is no rhythm."""
        if self._pauses < _ENOUGH:
            return math.inf
        return min(MOST, max(_LEAST, _TIMES * max(self._longest, self._before)))
