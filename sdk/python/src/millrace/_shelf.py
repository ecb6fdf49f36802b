"""Messages that are remembered, in their order."""

from __future__ import annotations

from collections import deque

from ._wire import Delivered

Key = tuple[str, str, bytes]
"""What messages are compared by."""

_MAX_ENTRIES = 65_536
_MAX_BYTES = 16 << 20
_SPARE = 1024  # places of entries that are gone


def key_of(m: Delivered) -> Key:
    """Return what a message is compared by."""
    return m[:3]


class Entry:
    """Something that is remembered about one message."""

    __slots__ = ("gone", "key", "message", "time")

    def __init__(self, key: Key, time: float, message: Delivered | None) -> None:
        self.key = key
        self.time = time
        self.message = message
        self.gone = False


class Shelf:
    """Holds entries in order, and finds the oldest one with a key."""

    def __init__(self) -> None:
        self.size = 0
        """How many are there."""
        self._bytes = 0
        self._order: deque[Entry] = deque()
        self._by_key: dict[Key, deque[Entry]] = {}

    @property
    def oldest(self) -> Entry | None:
        order = self._order
        while order and order[0].gone:
            order.popleft()
        return order[0] if order else None

    @property
    def all(self) -> list[Entry]:
        """All entries, the oldest first."""
        return [entry for entry in self._order if not entry.gone]

    def put(self, key: Key, time: float, message: Delivered | None = None) -> Entry | None:
        """Append an entry, and return the oldest one, which has left, if these are too many."""
        if len(self._order) > 2 * self.size + _SPARE:
            self._order = deque(self.all)
        entry = Entry(key, time, message)
        self._order.append(entry)
        self._by_key.setdefault(key, deque()).append(entry)
        self.size += 1
        self._bytes += _weight(key)
        return self.drop() if self.size > _MAX_ENTRIES or self._bytes > _MAX_BYTES else None

    def take(self, key: Key) -> bool:
        """Remove the oldest entry with a key, if there is one."""
        same = self._by_key.get(key)
        if not same:
            return False
        entry = same.popleft()
        if not same:
            del self._by_key[key]
        entry.gone = True
        self.size -= 1
        self._bytes -= _weight(key)
        return True

    def drop(self) -> Entry | None:
        """Remove the oldest entry."""
        entry = self.oldest
        if entry is not None:
            self.take(entry.key)
        return entry

    def drop_until(self, time: float) -> list[Delivered]:
        """Remove the entries up to a time, and return their messages."""
        messages = []
        while (entry := self.oldest) is not None and entry.time <= time:
            self.drop()
            if entry.message is not None:
                messages.append(entry.message)
        return messages


def _weight(key: Key) -> int:
    return len(key[0]) + len(key[1]) + len(key[2])
