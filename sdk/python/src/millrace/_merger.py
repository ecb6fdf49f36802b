"""What a move between two connections does with their messages (docs/decisions/0008-clients.md).

Each is given to the application once and in order. The times are passed in, in seconds of any clock that does
not go back.
"""

from __future__ import annotations

import math

from ._shelf import Entry, Shelf, key_of
from ._wire import Delivered

_GOOD_FOR = 1.0  # seconds, of a note


class Merger:
    """Is for one move, or for one suspicion."""

    def __init__(self) -> None:
        self._notes = Shelf()  # of what the current connection gave
        self._pile = Shelf()  # of what the next one brought and the current one did not yet
        self._given = Shelf()  # of what the next one brought, and did not wait for the current one

    def from_current(self, m: Delivered, now: float) -> bool:
        """Take a message of the current connection, and say whether it is given to the application now.

        It is, unless the same did not wait for it.
        """
        key = key_of(m)
        self._forget(now)
        if self._given.take(key):
            return False
        if not self._pile.take(key):
            self._notes.put(key, now)
        return True

    def from_next(self, m: Delivered, now: float, unknown: bool) -> Delivered | None:
        """Take a message of the next connection, and return what is to be given to the application now.

        unknown says that the current connection may not bring it: it has not confirmed any of its patterns.
        """
        if self.late(m, now):
            return None
        if unknown:
            self._given.put(key_of(m), now)
            return m
        over = self._pile.put(key_of(m), now, m)
        if over is None:
            return None
        self._given.put(over.key, now)
        return over.message

    def late(self, m: Delivered, now: float) -> bool:
        """Say whether the current connection has given a message of the next one, which counts as one."""
        self._forget(now)
        return self._notes.size > 0 and self._notes.take(key_of(m))

    @property
    def behind(self) -> int:
        """How many messages the next connection brought that the current one has yet to give."""
        return self._pile.size

    def release(self) -> list[Delivered]:
        """Empty the pile."""
        return self._pile.drop_until(math.inf)

    def orphan(self) -> None:
        """The next connection has ended, and nobody else may bring what it brought.

        That stays in the pile, and does not count again when another one brings it.
        """
        self._notes = Shelf()
        for entry in self._pile.all:
            self._notes.put(entry.key, entry.time)

    def keep_current(self, now: float) -> None:
        """The current connection delivers all, and there is no next one any more."""
        self.release()
        self._notes = Shelf()
        for entry in self.given:
            self._notes.put(entry.key, now)
        self._given = Shelf()

    @property
    def given(self) -> list[Entry]:
        """What the next connection brought and was given at once."""
        return self._given.all

    def done(self, now: float) -> bool:
        """Say that no note is good any more."""
        self._forget(now)
        return self._notes.size == 0

    def _forget(self, now: float) -> None:
        self._notes.drop_until(now - _GOOD_FOR)
