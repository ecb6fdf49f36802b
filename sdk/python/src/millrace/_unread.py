"""What was sent on a connection without a proof that the edge has read it. Times are seconds."""

from __future__ import annotations

from dataclasses import dataclass

UNREAD = 1.0
"""How long something that was sent may lack a sign that the edge reads, before the client asks for one."""

_SLOWEST = 1 / 1024  # seconds for a byte: the lowest ingress cap of an edge is 1 KiB a second
_BURST = 1.0  # that an edge may read sooner than its cap lets it: a cap holds one second
_EXTRA = 32  # bytes that it counts for each message besides its own


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in what was sent, before a PING."""

    publishes: int = 0
    size: int = 0
    first: float | None = None
    """When the first was sent since the PING before; None: nothing was."""


class Unread:
    """Knows what the edge may not have read.

    Edges read in order, so the answer to a PING proves it of all that was sent before. What asks for another
    answer needs no PING if anything comes after it.
    """

    __slots__ = ("_first", "_marked", "_per_byte", "_proven", "_publishes", "_since", "_size")

    def __init__(self) -> None:
        self._publishes = 0  # without an answer of their own, ever
        self._marked = 0  # of these, those before the last PING
        self._proven = 0  # of these, those that the edge has read, or that were told
        self._size = 0  # bytes since the last PING
        self._since: float | None = None  # when the first was sent that makes the client ask
        self._first: float | None = None  # when anything was sent after the last PING
        self._per_byte = _SLOWEST  # that a byte takes at most, as the edge has shown

    def publish(self, size: int, time: float) -> bool:
        """Take a publish without an answer; say whether it is the first after a PING."""
        first = self._publishes == self._marked
        self._publishes += 1
        self._sent(size, time, first)
        return first

    def request(self, size: int, time: float, heard: float) -> bool:
        """Take what is answered; say whether nothing else waits for a sign."""
        first = self.waits(heard) is None
        self._sent(size, time, first)
        return first

    def _sent(self, size: int, time: float, first: bool) -> None:
        self._size += size + _EXTRA
        if self._first is None:
            self._first = time
        if first:
            self._since = time

    def waits(self, heard: float) -> float | None:
        """Return since when something waits for a sign that the edge reads; None: nothing does."""
        if self._since is None or (self._publishes == self._marked and heard >= self._since):
            return None
        return self._since

    def mark(self) -> Mark:
        """Mark the place of a PING that is about to be sent."""
        mark = Mark(self._publishes, self._size, self._first)
        self._marked = self._publishes
        self._size = 0
        self._since = self._first = None
        return mark

    def proven(self, mark: Mark, time: float) -> None:
        """Take the answer to a PING."""
        self._proven = max(self._proven, mark.publishes)
        if mark.first is not None:
            self._per_byte = min(self._per_byte, (time - mark.first + _BURST) / mark.size)

    def send_time(self, mark: Mark) -> float:
        """Return how long the edge may read what was sent before a PING."""
        return mark.size * self._per_byte

    def told(self) -> None:
        """Take a publish that the application has been told about."""
        self._proven += 1

    def take(self) -> int:
        """Return how many publishes the edge may not have read. They count once."""
        count = self._publishes - self._proven
        self._proven = self._publishes
        return count
