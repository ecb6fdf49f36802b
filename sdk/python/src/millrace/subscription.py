"""A subscription."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

from ._handlers import Handlers
from ._loop import OwnLoop
from ._place import Place
from ._timers import future, now, resolve
from .errors import MillraceError, bad_option
from .message import Message
from .options import QueuePolicy

__all__ = ["OnMessage", "Subscription"]

OnMessage = Callable[[Message], Awaitable[Any] | Any]
"""Takes messages. A plain function is called at once as they come; a coroutine function for one message
after the other, from the subscription's queue."""

_TELL_EVERY = 1.0  # seconds, what a full queue has lost


class Keeper(Protocol):
    """What a subscription needs of its client."""

    def leave(self, sub: Subscription) -> asyncio.Future[Any] | None:
        """Leave the edge, if this was the last subscription to the pattern; done when that has ended it."""

    def queue_full(self, sub: Subscription, dropped: int) -> None: ...

    def was_read(self, sub: Subscription) -> None:
        """The queue of one with a history, which was full, has been read."""


@dataclass(frozen=True, slots=True)
class Config:
    """What was asked for, with everything filled in."""

    on_message: OnMessage | None
    queue: int
    queue_policy: QueuePolicy
    start: str | None
    """Where RSUB begins; None: without a history."""


class Subscription:
    """A subscription, as Client.subscribe makes it.

    Iterate it for its messages, unless it has a callback: ``async for message in subscription``. The
    iteration ends with the subscription; the error is why that has ended, if not by the application. To
    leave the loop does not end the subscription: ``async with subscription:`` does, and `unsubscribe`. One
    task at a time iterates, or several, each of which gets some of the messages.
    """

    def __init__(self, tenant: str, pattern: str, keeper: Keeper, handlers: Handlers, config: Config) -> None:
        """Made by Client.subscribe."""
        self.tenant = tenant
        self.pattern = pattern
        self._loop = OwnLoop()
        self._keeper = keeper
        self._handlers = handlers
        self._on_message = config.on_message
        self._waits = config.on_message is not None and _is_async(config.on_message)
        self._limit = config.queue
        self._policy = config.queue_policy
        self._queue: deque[Message] = deque()
        self._readers: deque[asyncio.Future[None]] = deque()
        self._over = False
        self._error: MillraceError | None = None
        self._ended: asyncio.Future[MillraceError | None] = future()
        self._dropped = 0  # since the last event about it
        self._told = -math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._pump: asyncio.Task[None] | None = None  # calls a coroutine function
        start = config.start
        self._place = None if start is None else Place(start)
        after = start if start is not None and start.count(".") == 2 else None
        self._reached = after  # the position behind all that came
        self._read = after  # of what the application got last

    @property
    def position(self) -> str | None:
        """Where to go on, with After(position), behind all messages that the application got.

        It also moves on while nothing that matches is published. It is None as long as it is not known, and
        without a history.
        """
        return self._read if self._queue else self._reached

    async def unsubscribe(self) -> None:
        """End the subscription: no message is given from now on, not even one that waits.

        It returns when the edge has ended it, too. To cancel it only ends that waiting.
        """
        self._loop.check()
        self._end(None)
        left = self._keeper.leave(self)
        if left is not None:
            await asyncio.wait({left})

    async def ended(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application has ended it."""
        self._loop.check()
        return await asyncio.shield(self._ended)

    async def __aenter__(self) -> Subscription:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.unsubscribe()

    def __aiter__(self) -> Subscription:
        if self._on_message is not None:
            raise bad_option("a subscription with a callback cannot be iterated")
        return self

    async def __anext__(self) -> Message:
        self._loop.check()
        if self._on_message is not None:
            raise bad_option("a subscription with a callback cannot be iterated")
        message = await self._next()
        if message is not None:
            return message
        if self._error is not None:
            raise self._error.again()
        raise StopAsyncIteration

    async def _next(self) -> Message | None:
        """Return the next message; None: there is none any more."""
        while not self._queue:
            if self._over:
                return None
            reader: asyncio.Future[None] = future()
            self._readers.append(reader)
            try:
                await reader
            except BaseException:
                if reader in self._readers:
                    self._readers.remove(reader)
                elif self._queue:
                    self._wake()  # it was woken for a message that another one can take
                raise
        message = self._queue.popleft()
        if message.position is not None:
            self._read = message.position
        if self._place is not None and self._place.paused and len(self._queue) * 2 <= self._limit:
            self._keeper.was_read(self)
        return message

    def _wake(self) -> None:
        while self._readers:
            reader = self._readers.popleft()
            if not reader.done():
                reader.set_result(None)
                return

    def _give(self, message: Message) -> bool:
        """Give a message to a plain function at once."""
        if self._on_message is None or self._waits:
            return False
        try:
            result = self._on_message(message)
        except Exception as err:  # noqa: BLE001 (the application's)
            self._handlers.report(err)
            return True
        if result is not None and inspect.isawaitable(result):
            self._handlers.spawn(lambda: _awaited(result))
        return True

    def _put(self, message: Message) -> None:
        self._queue.append(message)
        if self._waits:
            if self._pump is None:
                self._pump = self._handlers.spawn(self._call)
        elif self._readers:
            self._wake()

    async def _call(self) -> None:
        """Call a coroutine function for each message of the queue."""
        try:
            while self._queue and self._on_message is not None:
                message = await self._next()
                if message is None:
                    return
                try:
                    await self._on_message(message)
                except Exception as err:  # noqa: BLE001 (the application's)
                    self._handlers.report(err)
        finally:
            self._pump = None

    def _push(self, message: Message) -> None:
        """Take a message."""
        if self._over or self._give(message):
            return
        if len(self._queue) < self._limit:
            self._put(message)
            return
        if self._policy == "end":
            self._end_full()
            return
        if self._policy == "drop-oldest":
            self._queue.popleft()
            self._put(message)
        self._dropped += 1
        if self._timer is None:
            delay = max(0.0, self._told + _TELL_EVERY - now())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tell)

    def _push_stored(self, message: Message) -> bool:
        """Take a message with a position, of which none is dropped; say whether there is room for more."""
        if self._over:
            return True
        given = self._give(message)
        if not given and len(self._queue) >= self._limit:
            self._end_full()
            return True
        self._reached = message.position
        if given:
            self._read = message.position
        else:
            self._put(message)
        return len(self._queue) < self._limit or self._policy == "end"

    def _reach(self, position: str) -> None:
        """Note how far a history has come without a message."""
        self._reached = position

    def _end_full(self) -> None:
        error = MillraceError(
            "queue_full", "messages were not read in time", tenant=self.tenant, pattern=self.pattern
        )
        self._end(error)
        self._keeper.leave(self)

    def _tell(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._told = now()
        if self._dropped > 0:
            self._keeper.queue_full(self, self._dropped)
        self._dropped = 0

    def _end(self, error: MillraceError | None) -> None:
        """End the subscription; with an error, what waits can still be read."""
        if self._over:
            return
        self._over = True
        self._error = error
        if error is None:
            self._queue.clear()
        self._tell()
        readers, self._readers = self._readers, deque()
        for reader in readers:
            resolve(reader, None)
        resolve(self._ended, error)

    def __repr__(self) -> str:
        return f"<Subscription {self.tenant}:{self.pattern}>"


async def _awaited(result: Awaitable[Any]) -> None:
    await result


def _is_async(function: object) -> bool:
    """Say whether a function is one of coroutines, also as a method or an object that is called."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )
