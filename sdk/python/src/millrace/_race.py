"""Tries several addresses of a host, the next one beside those before it (happy eyeballs, RFC 8305)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

from ._resolve import Target
from ._timers import any_settled, settled
from .errors import MillraceError

T = TypeVar("T")

_DELAY = 0.25  # seconds until the next address is tried, too


async def first_of(
    targets: Sequence[Target],
    attempt: Callable[[Target], Coroutine[Any, Any, T]],
    drop: Callable[[T], object],
) -> T:
    """Return what the first attempt gives that succeeds, and drop what others give.

    If none succeeds, it raises the last error; one that is neither an OSError nor a MillraceError is raised at
    once. To cancel an attempt must leave nothing open; then that holds for this, too.
    """
    race = _Race(targets, attempt, drop)
    try:
        try:
            return await race.run()
        finally:
            await race.end()
    except BaseException:
        race.drop_winner()
        raise


class _Race(Generic[T]):
    def __init__(
        self,
        targets: Sequence[Target],
        attempt: Callable[[Target], Coroutine[Any, Any, T]],
        drop: Callable[[T], object],
    ) -> None:
        self._left = deque(targets)
        self._attempt = attempt
        self._drop = drop
        self._running: set[asyncio.Task[T]] = set()
        self._won: asyncio.Task[T] | None = None

    async def run(self) -> T:
        error: BaseException = OSError("the host has no address")
        while self._left or self._running:
            if self._left:
                self._running.add(asyncio.ensure_future(self._attempt(self._left.popleft())))
            await any_settled(self._running, _DELAY if self._left else None)
            for task in [task for task in self._running if task.done()]:
                self._running.discard(task)
                failed = asyncio.CancelledError() if task.cancelled() else task.exception()
                if failed is None:
                    self._won = task
                    return task.result()
                if not isinstance(failed, (OSError, MillraceError)):
                    raise failed
                error = failed
        raise error

    async def end(self) -> None:
        """Give up what runs, and what has come up too late."""
        running, self._running = self._running, set()
        for task in running:
            task.add_done_callback(self._drop_result)
            task.cancel()
        await settled(running)

    def _drop_result(self, task: asyncio.Task[T]) -> None:
        if not task.cancelled() and task.exception() is None:  # which counts as retrieved
            self._drop(task.result())

    def drop_winner(self) -> None:
        """Give up the first one: nobody can take it any more."""
        if self._won is not None:
            self._drop_result(self._won)
