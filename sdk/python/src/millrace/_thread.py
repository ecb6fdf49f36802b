"""An event loop in a thread of its own, for what has no event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from concurrent.futures import wait as wait_for_futures
from types import TracebackType
from typing import Any, TypeVar

from .errors import MillraceError, bad_option

__all__ = ["LoopThread"]

T = TypeVar("T")

_TURN = 0.5  # seconds: on Windows, a wait without an end cannot be interrupted


class LoopThread:
    """The thread and its loop. Any thread may call; the loop ends with close, which waits for it.

    The thread is a daemon: it does not keep a program alive that forgets to close it.
    """

    def __init__(self, name: str) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._begun = threading.Event()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._begun.wait()

    def _run(self) -> None:
        asyncio.run(self._main())  # which ends what is left when _main does

    async def _main(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._begun.set()
        await self._stop.wait()

    def __enter__(self) -> LoopThread:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_current(self) -> bool:
        """The caller runs in this thread."""
        return threading.current_thread() is self._thread

    def soon(self, call: Callable[[], object]) -> bool:
        """Call a function in the thread, and say whether that will be."""
        with self._lock:
            if self._closed or self._loop is None:
                return False
            self._loop.call_soon_threadsafe(call)
            return True

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work in the loop, and return its outcome.

        If the wait is interrupted, as by KeyboardInterrupt, the work is cancelled and has ended before that is
        raised; a second interruption does not wait. The error is `closed` after close.
        """
        if self.is_current:
            raise bad_option("a function that the client calls must not wait for the client")
        outcome: Future[T] = Future()
        tasks: list[asyncio.Task[T]] = []

        async def run() -> T:  # what work raises, too, is the outcome
            return await work()

        def begin() -> None:
            task = asyncio.get_running_loop().create_task(run())
            tasks.append(task)
            task.add_done_callback(finish)

        def finish(task: asyncio.Task[T]) -> None:
            error = None if task.cancelled() else task.exception()
            if task.cancelled():
                outcome.set_exception(_closed())
            elif error is not None:
                outcome.set_exception(error)
            else:
                outcome.set_result(task.result())

        def cancel() -> None:
            for task in tasks:
                task.cancel()

        try:
            if not self.soon(begin):
                raise _closed()
            _wait(outcome)
        except BaseException:
            if not outcome.done() and self.soon(cancel):
                _wait(outcome)
            raise
        return outcome.result()

    def close(self) -> None:
        """Cancel what runs, and end the thread. In the thread itself it does not wait for that."""
        with self._lock:
            if not self._closed and self._loop is not None and self._stop is not None:
                self._closed = True
                self._loop.call_soon_threadsafe(self._stop.set)
        while not self.is_current and self._thread.is_alive():
            self._thread.join(_TURN)


def _wait(outcome: Future[Any]) -> None:
    while not outcome.done():
        wait_for_futures([outcome], _TURN)


def _closed() -> MillraceError:
    return MillraceError("closed", "the client has been closed")
