"""An event loop in a thread of its own, for what has no event loop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
import time
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, TypeVar

from ._loop import FORKED
from .errors import MillraceError, bad_option

__all__ = ["LoopThread"]

T = TypeVar("T")

_TURN = 0.5  # seconds: on Windows, a wait without an end cannot be interrupted


class LoopThread:
    """The thread and its loop. Any thread may call; the loop ends with close, which waits for it.

    The thread is a daemon: it does not keep a program alive that forgets to close it. A child process has
    a copy of it all, but not the thread: there, every call fails.
    """

    def __init__(self, name: str) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._begun = threading.Event()
        self._lock = threading.RLock()  # a handler of a signal may call while its thread has it
        self._closed = False
        self._process = os.getpid()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        try:
            self._thread.start()
        except RuntimeError as err:  # at the exit of the program, Python 3.12 starts no more
            raise MillraceError("internal", f"no thread for the client: {err}", cause=err) from err
        self._begun.wait()
        if self._loop is None:
            raise MillraceError(
                "internal", f"no event loop for the client: {self._failed}", cause=self._failed
            )

    def _run(self) -> None:
        try:
            asyncio.run(self._main())  # which ends what is left when _main does
        except BaseException as err:  # also SystemExit, which a handler may raise
            self._failed = err
            if self._begun.is_set():
                raise
        finally:
            with self._lock:
                self._closed = True
            self._begun.set()

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

    @property
    def is_inherited(self) -> bool:
        """This is a child process, which has no such thread."""
        return os.getpid() != self._process

    def check(self) -> None:
        """Refuse a call in a child process, before a lock is taken: another thread may have held it."""
        if self.is_inherited:
            raise bad_option(FORKED)

    def soon(self, call: Callable[[], object]) -> bool:
        """Call a function in the thread, and say whether that will be."""
        self.check()
        with self._lock:
            if self._closed or self._loop is None:
                return False
            try:
                self._loop.call_soon_threadsafe(call)
            except RuntimeError:  # it has just ended by itself
                return False
            return True

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run work in the loop, and return its outcome.

        If the wait is interrupted, as by KeyboardInterrupt, the work is cancelled and has ended before that is
        raised; a second interruption does not wait. The error is `closed` after close.
        """
        self.check()
        if self.is_current:
            raise bad_option("a function that the client calls must not wait for the client")
        # Only the loop's thread releases it, and no lock is ever held: an interruption within Future or
        # Event of the standard library can leave one held, and then the loop's thread would hang.
        ended = threading.Lock()
        ended.acquire()
        tasks: list[asyncio.Task[T]] = []

        async def run() -> T:  # what work raises, too, is the outcome
            return await work()

        def begin() -> None:
            task = asyncio.get_running_loop().create_task(run())
            tasks.append(task)
            task.add_done_callback(finish)

        def finish(task: asyncio.Task[T]) -> None:
            if not task.cancelled():
                task.exception()  # so that it counts as seen, also when nobody waits any more
            ended.release()

        def cancel() -> None:
            for task in tasks:
                task.cancel()
            if not tasks:  # it was interrupted before it has begun
                ended.release()

        try:
            if not self.soon(begin):
                raise _closed()
            self._wait(ended)
        except BaseException:
            if not (tasks and tasks[0].done()) and self.soon(cancel):
                self._wait(ended)
            raise
        if tasks[0].cancelled():
            raise _closed()
        return tasks[0].result()

    def close(self) -> None:
        """Cancel what runs, and end the thread. In the thread itself it does not wait for that."""
        self.check()
        self._end()
        while not self.is_current and self._thread.is_alive():
            self._thread.join(_TURN)

    def _end(self) -> None:
        with self._lock:
            if not self._closed and self._loop is not None and self._stop is not None:
                self._closed = True
                with contextlib.suppress(RuntimeError):  # it has just ended by itself
                    self._loop.call_soon_threadsafe(self._stop.set)

    def leave(self, work: Callable[[], Coroutine[Any, Any, object]], seconds: float) -> None:
        """Run work, and end the thread; return after some seconds at most, whatever the thread does.

        At the exit of a program, nobody waits for a handler that never returns.
        """
        if self.is_inherited:
            return
        end = time.monotonic() + seconds
        done = threading.Event()

        def begin() -> None:
            task = asyncio.get_running_loop().create_task(work())
            task.add_done_callback(lambda _: done.set())

        if self.soon(begin):
            done.wait(seconds)
        self._end()
        self._thread.join(max(0.0, end - time.monotonic()))

    def _wait(self, ended: threading.Lock) -> None:
        while not ended.acquire(timeout=_TURN):
            if not self._thread.is_alive():
                if ended.acquire(blocking=False):
                    return
                raise _closed()


def _closed() -> MillraceError:
    return MillraceError("closed", "the client has been closed")
