"""What a reader of changes is told next."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import Any, Generic, TypeVar

from ._timers import future, resolve

K = TypeVar("K")


class Changes(Generic[K]):
    """Values that have changed since the reader was told about them, the first that did so first.

    Each has one entry, with what the reader was told last: changes that undo each other vanish, and who never
    reads costs no more than an entry for each value.
    """

    def __init__(self) -> None:
        self._told: OrderedDict[K, Any] = OrderedDict()
        self._readers: list[asyncio.Future[None]] = []

    def __bool__(self) -> bool:
        return bool(self._told)

    def note(self, key: K, before: object, after: object) -> None:
        """Note that a value has changed."""
        if key not in self._told:
            self._told[key] = before
            self.wake()
        elif self._told[key] == after:
            del self._told[key]

    def drop(self, key: K) -> None:
        """Forget a value."""
        self._told.pop(key, None)

    def take(self) -> tuple[K, Any]:
        """Take the first entry: what has changed, and what the reader was told before."""
        return self._told.popitem(last=False)

    def clear(self) -> None:
        self._told.clear()

    def wake(self) -> None:
        """Let those that wait look again."""
        readers, self._readers = self._readers, []
        for reader in readers:
            resolve(reader, None)

    async def noted(self) -> None:
        """Wait for a note, or wake."""
        reader: asyncio.Future[None] = future()
        self._readers.append(reader)
        try:
            await reader
        finally:
            if reader in self._readers:
                self._readers.remove(reader)
