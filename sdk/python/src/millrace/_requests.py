"""What waits for an answer of the edge."""

from __future__ import annotations

import asyncio
import re
from collections import deque

from ._timers import future, reject, resolve
from .errors import MillraceError, disconnected

_PUBLISH = re.compile(r"PUB:(\d{1,10})")


class Requests:
    """SUBs, RSUBs and UNSUBs without an answer, by `verb:tenant:pattern`.

    A request whose caller has gone still takes its answer: there is one for each.
    """

    def __init__(self) -> None:
        self._all: dict[str, deque[asyncio.Future[None]]] = {}  # the oldest first

    def add(self, key: str) -> asyncio.Future[None]:
        """Return what is done with the answer."""
        waiter = future()
        self._all.setdefault(key, deque()).append(waiter)
        return waiter

    def answer(self, key: str, error: MillraceError | None = None) -> bool:
        """Give the oldest request its answer, and say whether there was one."""
        same = self._all.get(key)
        if not same:
            return False
        waiter = same.popleft()
        if not same:
            del self._all[key]
        if error is None:
            resolve(waiter, None)
        else:
            reject(waiter, error)
        return True

    def reject(self, error: MillraceError) -> None:
        """Reject all."""
        waiting, self._all = self._all, {}
        for same in waiting.values():
            for waiter in same:
                reject(waiter, error)


class Confirms:
    """The publishes of a connection that wait for their answers, by id (docs/protocol.md, History)."""

    def __init__(self) -> None:
        self._all: dict[int, asyncio.Future[str | None]] = {}
        self._idle: list[asyncio.Future[None]] = []

    def add(self, id_: int) -> asyncio.Future[str | None]:
        """Return what is done with the answer: the position, or None if the channel is not kept."""
        waiter: asyncio.Future[str | None] = future()
        self._all[id_] = waiter
        return waiter

    def settle(self, id_: int, position: str | None = None) -> None:
        """Take an answer."""
        waiter = self._all.pop(id_, None)
        if waiter is not None:
            resolve(waiter, position)
        self._check_idle()

    def forget(self, id_: int) -> None:
        """Give an answer up."""
        self._all.pop(id_, None)
        self._check_idle()

    def error(self, code: str, detail: str) -> bool:
        """Take an ERR line, and say whether it refuses a publish with an id."""
        found = _PUBLISH.fullmatch(detail)
        if found is None:
            return False
        waiter = self._all.pop(int(found[1]), None)
        if waiter is not None:
            reject(waiter, MillraceError(code))
        self._check_idle()
        return True

    def idle(self) -> asyncio.Future[None]:
        """Return what is done when none is left."""
        waiter = future()
        self._idle.append(waiter)
        self._check_idle()
        return waiter

    def fail(self) -> None:
        """Tell all that no answer comes."""
        waiting, self._all = self._all, {}
        for waiter in waiting.values():
            reject(waiter, disconnected())
        self._check_idle()

    def _check_idle(self) -> None:
        if self._all:
            return
        idle, self._idle = self._idle, []
        for waiter in idle:
            resolve(waiter, None)
