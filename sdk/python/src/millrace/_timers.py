"""Small things about time and futures."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Iterable
from typing import Any, TypeVar

from .errors import MillraceError
from .options import Settings

T = TypeVar("T")

now = time.monotonic
"""A clock that does not go back, in seconds."""


def back_off(attempt: int, s: Settings) -> float:
    """Return the pause before an attempt: none before the first, then at random below a doubling bound."""
    if attempt <= 1:
        return 0.0
    return random.random() * min(s.max_back_off, s.min_back_off * 2.0 ** min(attempt - 2, 30))  # noqa: S311


def future() -> asyncio.Future[Any]:
    """Return a future of the running loop."""
    return asyncio.get_running_loop().create_future()


def resolve(waiter: asyncio.Future[T], value: T) -> None:
    """Give a result to who waits, unless nobody does any more."""
    if not waiter.done():
        waiter.set_result(value)


def reject(waiter: asyncio.Future[Any], error: MillraceError) -> None:
    """Give an error to who waits. It is no fault if nobody does."""
    if not waiter.done():
        waiter.set_exception(error.again())
        waiter.exception()  # so that it counts as retrieved


async def limited(work: Awaitable[T], seconds: float) -> T:
    """Return the result of work, or raise asyncio.TimeoutError after a time; work has then ended.

    Unlike asyncio.wait_for of older versions, it never takes a result for a cancellation.
    """
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=seconds)
        if task.done():
            return task.result()
        raise asyncio.TimeoutError
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # so that it counts as retrieved


async def settled(waiters: Iterable[asyncio.Future[Any] | None], timeout: float | None = None) -> None:
    """Wait until all are done, whatever their outcome. To cancel it cancels none of them."""
    waiting = {waiter for waiter in waiters if waiter is not None and not waiter.done()}
    if waiting:
        await asyncio.wait(waiting, timeout=timeout)


async def any_settled(waiters: Iterable[asyncio.Future[Any]], timeout: float | None = None) -> None:
    """Wait until one is done, whatever its outcome. To cancel it cancels none of them."""
    waiting = set(waiters)
    if waiting and not any(waiter.done() for waiter in waiting):
        await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)


def together(waiters: Iterable[asyncio.Future[Any]]) -> asyncio.Future[Any]:
    """Return what is done when all are, whatever their outcome."""
    return asyncio.gather(*waiters, return_exceptions=True)


def first(waiters: Iterable[asyncio.Future[Any]]) -> asyncio.Future[Any]:
    """Return what is done when one is, whatever its outcome."""
    one: asyncio.Future[None] = future()
    for waiter in waiters:
        waiter.add_done_callback(lambda _: resolve(one, None))
    return one
