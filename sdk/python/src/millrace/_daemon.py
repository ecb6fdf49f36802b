"""Calls that may block for long, in threads that nothing waits for: not the loop's end, not the program's."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class DaemonCalls(Generic[T]):
    """Blocking calls by key, each in a thread of its own; there is one at a time for a key.

    An executor would not do: asyncio.run waits at its end for the loop's own, and Python at its exit for all.
    """

    def __init__(self, name: str) -> None:
        """Name the threads."""
        self._name = name
        self.reset()

    def reset(self) -> None:
        """Forget all calls, as in a child process: their threads are the parent's."""
        self._lock = threading.Lock()
        self._running: dict[Hashable, Future[T]] = {}

    def runs(self, key: Hashable) -> bool:
        """Say whether a call has not returned."""
        return key in self._running

    async def call(self, key: Hashable, work: Callable[[], T]) -> T:
        """Return what work returns, or raise what it raises. To cancel it leaves the thread to itself.

        If a call with this key has not returned, its outcome counts: who asks again and again does not start
        a thread each time.
        """
        with self._lock:
            outcome = self._running.get(key)
            if outcome is None:
                outcome = self._start(key, work)
        return await asyncio.wrap_future(outcome)

    def _start(self, key: Hashable, work: Callable[[], T]) -> Future[T]:
        outcome: Future[T] = Future()
        outcome.set_running_or_notify_cancel()  # who waits for it cannot cancel it
        context = contextvars.copy_context()

        def run() -> None:
            try:
                result = context.run(work)
            except BaseException as err:  # noqa: BLE001 (the caller's)
                self._running.pop(key, None)
                # asyncio's futures take no StopIteration.
                outcome.set_exception(RuntimeError(repr(err)) if isinstance(err, StopIteration) else err)
            else:
                self._running.pop(key, None)
                outcome.set_result(result)

        self._running[key] = outcome
        try:
            threading.Thread(target=run, name=self._name, daemon=True).start()
        except BaseException:
            del self._running[key]
            raise
        return outcome
