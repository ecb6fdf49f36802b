"""Who owns the tasks of a client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from .errors import MillraceError

T = TypeVar("T")


class Tasks:
    """A set of tasks that are ended together. Nothing that they raise is lost."""

    def __init__(self, fault: Callable[[BaseException], None]) -> None:
        """Tell fault what a task raises that is no MillraceError: it has an owner who waits for that."""
        self._all: set[asyncio.Task[Any]] = set()
        self._fault = fault

    def spawn(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Start a task. work is called in it: a task that is cancelled at once leaves no coroutine."""

        async def run() -> T:
            return await work()

        task = asyncio.get_running_loop().create_task(run())
        if task.done():  # with an eager task factory
            self._done(task)
        else:
            self._all.add(task)
            task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._all.discard(task)
        if not task.cancelled():
            err = task.exception()
            if err is not None and not isinstance(err, MillraceError):
                self._fault(err)

    def cancel(self) -> None:
        """Cancel all but the task that calls this."""
        this = _this_task()
        for task in [*self._all]:
            if task is not this:
                task.cancel()

    async def over(self) -> None:
        """Wait until all have ended, but for the task that calls this."""
        while others := self._all - {_this_task()}:
            await asyncio.wait(others)


def _this_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None
