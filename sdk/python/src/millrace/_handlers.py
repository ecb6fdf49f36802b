"""The tasks in which functions of the application are called."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ._tasks import Tasks

T = TypeVar("T")

# Whose functions the present task, or one that it has started, calls.
_inside: contextvars.ContextVar[object] = contextvars.ContextVar("millrace_inside", default=None)


class Handlers:
    """Runs handlers of events, and coroutine functions that take messages."""

    def __init__(self) -> None:
        self._tasks = Tasks(self.report)

    def spawn(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Start a task that calls functions of the application."""

        async def run() -> T:
            _inside.set(self)
            return await work()

        return self._tasks.spawn(run)

    async def over(self) -> None:
        """Wait until all have ended. One of them cannot: it does not wait. To cancel it cancels them."""
        if _inside.get() is self:
            return
        try:
            await self._tasks.over()
        except asyncio.CancelledError:
            self._tasks.cancel()
            raise

    def report(self, err: BaseException) -> None:
        """Report what a function of the application raised, since nobody waits for it here."""
        asyncio.get_running_loop().call_exception_handler(
            {"message": "a function given to the Millrace client failed", "exception": err}
        )
