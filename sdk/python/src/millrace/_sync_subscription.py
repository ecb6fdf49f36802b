"""Subscriptions without asyncio."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from types import TracebackType

from ._thread import LoopThread
from .errors import MillraceError
from .message import Message
from .subscription import Subscription as AsyncSubscription

__all__ = ["Subscription"]

_TURN = 0.5  # seconds, after which it is looked whether the thread that reads is still there
_AT_ONCE = 64  # messages that are taken out of a queue at a time


class Subscription:
    """A subscription, as Client.subscribe makes it: iterate it for its messages.

    The iteration ends with the subscription; the error is why that has ended, if not by the application. To
    leave the loop does not end the subscription: ``with subscription:`` does, and `unsubscribe`.
    """

    def __init__(self, thread: LoopThread, subscription: AsyncSubscription) -> None:
        """Made by Client.subscribe."""
        self._thread = thread
        self._subscription = subscription
        self._taken: deque[Message] = deque()  # out of the queue, and not given yet
        self._position: str | None = None  # of the last one that was given
        self._reading = threading.Lock()
        self._reader: int | None = None  # the thread that reads, by its number
        self._at_end = threading.Event()
        self._drained = False

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self._subscription.tenant

    @property
    def pattern(self) -> str:
        """The pattern."""
        return self._subscription.pattern

    @property
    def position(self) -> str | None:
        """Where to go on, with After(position), behind all messages that the application got."""
        return self._position if self._taken else self._subscription.position

    def receive(self, timeout: float | None = None) -> Message | None:
        """Wait for the next message; return None if the application has ended the subscription.

        *timeout*, in seconds, is the longest wait: then the error is TimeoutError, and no message is lost. Any
        other error is why the subscription has ended.
        """
        self._thread.check()
        self._reader = threading.get_ident()
        with self._reading:
            try:
                more = bool(self._taken) or self._thread.call(lambda: self._take(timeout))
            except MillraceError as err:
                self._at_end.set()
                if err.code == "closed" and self._drained:
                    return None
                raise
            if not more:
                self._at_end.set()
                return None
            message = self._taken.popleft()
            self._position = message.position
            if message._to_one:
                self._thread.soon(lambda: self._subscription._done_with(message))
            return message

    async def _take(self, timeout: float | None) -> bool:
        """Take what is there, one message at least, or say that there is none any more.

        Where the messages go, an interruption that comes at the same time loses none.
        """
        try:
            self._taken.append(await self._subscription._receive(timeout))
            while len(self._taken) < _AT_ONCE and self._subscription._queue:  # does not wait
                self._taken.append(await self._subscription._receive())
        except StopAsyncIteration:
            return False
        return True

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        message = self.receive()
        if message is None:
            raise StopIteration
        return message

    def unsubscribe(self) -> int:
        """End the subscription: no message is given from now on. It returns when the edge has ended it.

        The number is that of messages which were published to one subscriber, and which nobody gets now.
        """
        try:
            return self._thread.call(self._unsubscribe)
        except MillraceError as err:
            if err.code != "closed":  # the client has ended it
                raise
            return 0

    async def _unsubscribe(self) -> int:
        self._subscription._throw(self._taken)
        self._taken.clear()
        return await self._subscription.unsubscribe()

    async def _drain(self, take: bool) -> None:
        await self._subscription._leave_gently()
        self._drained = True
        while take and self._subscription._queue:  # for this thread, which may close the client next
            self._taken.append(await self._subscription._receive())

    def drain(self) -> None:
        """End the subscription without a loss: the edge gives it nothing new, and what has come is given out.

        Then the iteration ends. Where another thread reads, it returns when that has come to the end; in the thread
        that reads, as from a handler of a signal, when the edge has been left.
        """
        others = self._reader not in (None, threading.get_ident())
        try:
            self._thread.call(lambda: self._drain(not others))
        except MillraceError as err:
            if err.code != "closed":  # the client has ended it
                raise
            return
        if others:
            while not self._at_end.wait(_TURN):
                if self._reader not in {thread.ident for thread in threading.enumerate()}:
                    return  # nobody reads any more

    def ended(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application has ended it."""
        return self._thread.call(self._subscription.ended)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._thread.is_inherited:
            self.unsubscribe()
