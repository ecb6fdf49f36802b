"""A subscription."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections import deque
from collections.abc import Awaitable, Coroutine, Iterable
from types import TracebackType
from typing import Any

from ._handlers import Handlers
from ._keeper import Config, Keeper, OnMessage
from ._loop import OwnLoop
from ._place import Place
from ._readers import Readers
from ._timers import future, now, resolve
from .errors import MillraceError, bad_option
from .message import Message

__all__ = ["OnMessage", "Subscription"]

_TELL_EVERY = 1.0  # seconds, what a full queue has lost


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
        self._echo = config.echo
        self._queue: deque[Message] = deque()
        self._jobs = 0  # messages to one subscriber that the application is not done with
        self._queued_jobs = 0  # those of them in the queue, where they are never dropped
        self._thrown = 0  # those that came, and nobody gets
        self._calls: set[asyncio.Future[Any]] = set()  # what a plain function returned, and goes on
        self._iterating = Readers()
        self._left: asyncio.Future[Any] | None = None  # done when drain has left the edge
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

    async def unsubscribe(self) -> int:
        """End the subscription: no message is given from now on, not even one that waits.

        It returns when the edge has ended it, too, with the number of messages that were published to one
        subscriber, and that nobody gets now: 0 after `drain`. To cancel it only ends that waiting.
        """
        self._loop.check()
        self._end(None)
        left = self._keeper.leave(self)
        if left is not None:
            await asyncio.wait({left})
        thrown, self._thrown = self._thrown, 0
        if thrown:
            self._keeper.discarded(self, thrown)
        return thrown

    async def drain(self) -> None:
        """End the subscription without a loss: the edge gives it nothing new, and what has come is given out.

        The edge is left first; what it had sent is still given. Then the iteration ends. It returns when all
        messages have been taken and are done with: their reader has come to the end of the iteration, or functions
        have returned. Somebody has to read them. A task that iterates, and a function that takes messages, can only
        ask for it: there it returns when the edge has been left. To cancel it only ends that waiting.
        """
        self._loop.check()
        await self._drain(asyncio.current_task())

    async def _drain(self, caller: asyncio.Task[Any] | None) -> None:
        await self._leave_gently()
        while (waiter := self._unread(caller)) is not None:
            await asyncio.wait({waiter})

    async def _leave_gently(self) -> None:
        if self._left is None and not self._over:
            self._left = self._keeper.drain(self)
            if self._left is None:
                self._end(None, gently=True)
            else:
                self._left.add_done_callback(lambda _: self._end(None, gently=True))
        if self._left is not None:
            await asyncio.wait({self._left})

    def _unread(self, caller: asyncio.Task[Any] | None) -> asyncio.Future[Any] | None:
        """Return what is done when more of what has come is done with; None: all is, or the caller has to."""
        if self._pump is not None:
            return None if self._pump is caller else self._pump
        for call in self._calls:
            if call is not caller:
                return call
        return None if self._error is not None else self._iterating.progress(bool(self._queue), caller)

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
            raise bad_option("a subscription with on_message cannot be iterated")
        return self

    def __anext__(self) -> Coroutine[Any, Any, Message]:
        return self._next(None)

    async def receive(self, timeout: float | None = None) -> Message | None:
        """Wait for the next message; return None if the application has ended the subscription.

        *timeout*, in seconds, is the longest wait: then the error is TimeoutError, and no message is lost. Any
        other error is why the subscription has ended.
        """
        try:
            return await self._next(timeout)
        except StopAsyncIteration:
            return None

    async def _next(self, timeout: float | None) -> Message:
        """Return the next message, and note who has it."""
        self._loop.check()
        if self._on_message is not None:
            raise bad_option("a subscription with on_message cannot be iterated")
        reader = asyncio.current_task()
        self._iterating.back(reader)
        if not self._queue:
            await self._arrival(timeout)
        message = self._pop()
        if message._to_one:
            self._done_with(message)
        self._iterating.got(reader)
        return message

    async def _receive(self, timeout: float | None = None) -> Message:
        """Return the next message, with which the application is not done."""
        if not self._queue:
            await self._arrival(timeout)
        return self._pop()

    def _throw(self, messages: Iterable[Message]) -> None:
        """Count messages that were received, and that nobody gets."""
        thrown = sum(message._to_one for message in messages)
        self._jobs -= thrown
        self._thrown += thrown

    async def _arrival(self, timeout: float | None) -> None:
        """Return when a message waits, which the caller takes at once. At the end it raises what the iteration does."""
        end = now() + (timeout or 0)
        while not self._queue:
            if self._error is not None:
                raise self._error.again()
            if self._over:
                raise StopAsyncIteration
            reader: asyncio.Future[None] = future()
            self._readers.append(reader)
            try:
                if timeout is None:
                    await reader
                else:
                    await asyncio.wait({reader}, timeout=max(0.0, end - now()))
                if not reader.done():
                    raise TimeoutError(f"no message has come within {timeout or 0:g} s")
            except BaseException:
                if reader in self._readers:
                    self._readers.remove(reader)
                elif self._queue:
                    self._wake()  # it was woken for a message that another one can take
                raise

    def _pop(self) -> Message:
        """Take the oldest message."""
        message = self._queue.popleft()
        if message._to_one:
            self._queued_jobs -= 1
        if not self._queue:
            self._iterating.tell()
        if message.position is not None:
            self._read = message.position
        if self._place is not None and self._place.paused and len(self._queue) * 2 <= self._limit:
            self._keeper.was_read(self)
        return message

    def _done_with(self, message: Message) -> None:
        """Let the edge send another one in the place of a message to one subscriber."""
        if message._to_one:
            self._jobs -= 1
            self._keeper.was_taken(self)

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
            result = None
        if result is not None and inspect.isawaitable(result):
            call = self._handlers.spawn(lambda: _awaited(result))
            self._calls.add(call)
            call.add_done_callback(lambda _: self._returned(call, message))
        else:
            self._done_with(message)
        return True

    def _returned(self, call: asyncio.Future[Any], message: Message) -> None:
        self._calls.discard(call)
        self._done_with(message)

    def _put(self, message: Message) -> None:
        self._queue.append(message)
        if message._to_one:
            self._queued_jobs += 1
        if self._waits:
            if self._pump is None:
                self._pump = self._handlers.spawn(self._call)
        elif self._readers:
            self._wake()

    async def _call(self) -> None:
        """Call a coroutine function for each message of the queue."""
        try:
            while self._queue and self._on_message is not None:
                message = self._pop()
                try:
                    await self._on_message(message)
                except Exception as err:  # noqa: BLE001 (the application's)
                    self._handlers.report(err)
                self._done_with(message)
        finally:
            self._pump = None

    def _push(self, message: Message) -> None:
        """Take a message."""
        if message._to_one:
            if self._over:
                self._thrown += 1
                return
            self._jobs += 1
            if not self._give(message):
                self._put(message)  # there is credit for no more than has room
            return
        if self._over or (message._own is not None and not self._echo) or self._give(message):
            return
        if len(self._queue) - self._queued_jobs < self._limit:
            self._put(message)
            return
        if self._policy == "end":
            self._end_full()
            return
        if self._policy == "drop-oldest":
            self._drop_oldest()
            self._put(message)
        self._dropped += 1
        if self._timer is None:
            delay = max(0.0, self._told + _TELL_EVERY - now())
            self._timer = asyncio.get_running_loop().call_later(delay, self._tell)

    def _drop_oldest(self) -> None:
        """Drop the oldest broadcast."""
        if not self._queued_jobs:
            self._queue.popleft()
            return
        for i, message in enumerate(self._queue):
            if not message._to_one:
                del self._queue[i]
                return

    def _push_stored(self, message: Message) -> bool:
        """Take a message with a position; none of these is dropped; say whether there is room for more."""
        if self._over:
            return True
        if message._own is not None and not self._echo:
            self._reached = message.position
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
            "queue_full",
            f"messages were not read in time, and the queue of {self._limit} is full: read faster, or enlarge queue",
            tenant=self.tenant,
            pattern=self.pattern,
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

    def _end(self, error: MillraceError | None, gently: bool = False) -> None:
        """End the subscription; gently, and with an error, what waits can still be read."""
        if self._over:
            return
        self._over = True
        self._error = error
        if error is None and not gently:
            self._thrown += self._queued_jobs
            self._jobs -= self._queued_jobs
            self._queued_jobs = 0
            self._queue.clear()
        self._tell()
        self._iterating.tell()
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
