"""Who reads a subscription, and has not come back for its next message: what drain waits for."""

from __future__ import annotations

import asyncio
from typing import Any

from ._timers import future, resolve


class Readers:
    """The tasks that iterate one subscription."""

    def __init__(self) -> None:
        self._known: set[asyncio.Task[Any]] = set()
        self._holding: set[asyncio.Task[Any]] = set()
        self._waiting: list[asyncio.Future[None]] = []

    def back(self, reader: asyncio.Task[Any] | None) -> None:
        """A task is done with the message that it got last."""
        if reader in self._holding:
            self._holding.remove(reader)
            if self._waiting:
                self.tell()

    def got(self, reader: asyncio.Task[Any] | None) -> None:
        """A task gets a message."""
        if reader is None:
            return
        if reader not in self._known:
            self._known.add(reader)
            reader.add_done_callback(self._forget)
        self._holding.add(reader)

    def _forget(self, reader: asyncio.Task[Any]) -> None:
        self._known.discard(reader)
        self._holding.discard(reader)
        self.tell()

    def tell(self) -> None:
        """Something may be read, or done with."""
        waiting, self._waiting = self._waiting, []
        for waiter in waiting:
            resolve(waiter, None)

    def progress(self, unread: bool, caller: asyncio.Task[Any] | None) -> asyncio.Future[Any] | None:
        """Return what is done at the next step, of others than the caller; None: nothing is left but for the caller.

        unread says that messages wait.
        """
        if not ((unread and caller not in self._known) or self._holding - {caller}):
            return None
        waiter: asyncio.Future[None] = future()
        self._waiting.append(waiter)
        return waiter
