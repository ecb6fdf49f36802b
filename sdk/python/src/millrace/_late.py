"""What a trailing connection brings beside the current one (docs/decisions/0018-suspicion.md).

Times are seconds of any clock that does not go back.
"""

from __future__ import annotations

from collections.abc import Iterable

from ._shelf import Entry, Shelf, key_of
from ._wire import Delivered

WAIT = 1.0
"""How long a message of the trailing connection waits for the current one."""


class Late:
    """Tells which messages of a trailing connection the application does not get from the current one."""

    def __init__(self, given: Iterable[Entry], now: float, before: Late | None = None) -> None:
        """given is what was given before; what waits with the Late before waits here."""
        self._notes = Shelf()  # of what was given, and the trailing connection did not bring yet
        self._waiting = Shelf()  # of what it brought, and was not given yet
        self._early = Shelf()  # of what waited, and was given since it was too much
        for entry in given:
            self._notes.put(entry.key, now)
        if before is None:
            return
        for entry in before._waiting.all:
            self._waiting.put(entry.key, entry.time, entry.message)
        for entry in before._early.all:
            self._early.put(entry.key, entry.time)

    def from_current(self, m: Delivered, now: float) -> bool:
        """Take a message that the application is to get, and say whether it does."""
        key = key_of(m)
        self._early.drop_until(now - WAIT)
        if self._early.take(key):
            return False
        if not self._waiting.take(key):
            self._notes.put(key, now)
        return True

    def from_trail(self, m: Delivered, now: float) -> Delivered | None:
        """Take a message of the trailing connection; what is returned is given now, as late."""
        key = key_of(m)
        if self._notes.take(key):
            return None
        over = self._waiting.put(key, now, m)
        if over is None:
            return None
        self._early.put(over.key, over.time)
        return over.message

    def renew(self, now: float) -> None:
        """Let what waits do so from now on."""
        for entry in self._waiting.all:
            entry.time = now

    def due(self, now: float) -> list[Delivered]:
        """Take what has waited long enough: it is given now, as late."""
        return self._waiting.drop_until(now - WAIT)

    @property
    def next_due(self) -> float | None:
        """When something is due; None: nothing waits."""
        oldest = self._waiting.oldest
        return None if oldest is None else oldest.time + WAIT
