"""Brings a client that prefers WebTransport, and is on WebSocket, back to it."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Awaitable, Callable
from typing import Protocol

from ._connection import Connection
from ._dial import can_webtransport
from ._move import move
from ._state import SessionState
from ._tasks import Tasks
from .errors import MillraceError
from .options import Settings

_MINUTE = 60.0
_MOST = 60 * _MINUTE
_STEADY = 2 * _MINUTE  # a WebTransport connection that lasted this long was a good one
_LATER = 10.0  # seconds, if something else goes on
_NETWORK = 2.0  # seconds after a change of the network


def pause_before(attempt: int, at: float) -> float:
    """Return the pause before a try, counted from 0: 4 to 6 minutes, by at from 0 to 1, doubling to an hour."""
    return min((4 + 2 * at) * _MINUTE * 2.0 ** min(attempt, 30), _MOST)


class TaskRunner(Protocol):
    """What a way back needs of its session."""

    settings: Settings
    tasks: Tasks

    @property
    def state(self) -> SessionState: ...
    @property
    def idle(self) -> bool: ...
    def run(
        self, task: Callable[[], Awaitable[None]], unstarted: Callable[[], object] | None = None
    ) -> None: ...
    def move_if_due(self) -> None: ...


class Upgrade:
    """The way back of one client."""

    def __init__(self, s: TaskRunner) -> None:
        self._s = s
        self._tries = 0  # since a WebTransport connection was a good one
        self._timer: asyncio.TimerHandle | None = None  # of the next try
        self._steady: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None

    def follow(self, c: Connection) -> None:
        """Take the current connection, each one from now on."""
        if self._steady is not None:
            self._steady.cancel()
        if c.transport == "webtransport":
            self.stop()
            self._steady = asyncio.get_running_loop().call_later(_STEADY, self._forget_tries)
        elif self._timer is None and self._wanted(c):
            self._wait(self._pause(self._tries))

    def soon(self) -> None:
        """Try within 2 s, or when the try that goes on has ended. That does not count for the pauses."""
        c = self._s.state.current
        if c is not None and self._wanted(c):
            self._wait(random.random() * _NETWORK, False)  # noqa: S311

    def stop(self) -> None:
        """Try no more."""
        if self._running is not None:
            self._running.cancel()
            self._running = None
        for timer in (self._timer, self._steady):
            if timer is not None:
                timer.cancel()
        self._timer = None

    def _forget_tries(self) -> None:
        self._tries = 0

    @staticmethod
    def _pause(tries: int) -> float:
        return pause_before(tries, random.random())  # noqa: S311

    def _wanted(self, c: Connection) -> bool:
        s = self._s.settings
        transports = s.transports
        preferred = transports[0] == "webtransport" and len(transports) > 1
        return preferred and c.transport == "websocket" and can_webtransport(c.edge, s)

    def _wait(self, seconds: float, counts: bool = True) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._due, counts)

    def _due(self, counts: bool) -> None:
        c = self._s.state.current
        if c is None or not self._s.idle or self._running is not None:
            self._wait(_LATER, counts)
        elif not self._wanted(c):
            self._timer = None
        else:
            # The pauses grow whatever comes of it: some paths let handshakes pass, and no more.
            tries = self._tries + int(counts)
            self._wait(self._pause(tries))
            self._running = self._s.tasks.spawn(lambda: self._try(c, tries))

    async def _try(self, c: Connection, tries: int) -> None:
        s = self._s
        to: Connection | None = None
        with contextlib.suppress(MillraceError):
            to = await s.state.searcher.open(c.edge, transports=["webtransport"])
        self._running = None
        self._tries = tries
        if to is None or s.state.current is not c or not s.idle:
            if to is not None:
                to.close()
            s.move_if_due()  # a try may have brought another token
        else:
            ready = to
            s.run(lambda: move(s.state, c, "transport", ready), ready.close)
