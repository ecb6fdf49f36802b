"""Being present, and seeing who is, without asyncio."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import TypeVar

from ._thread import LoopThread
from .errors import MillraceError
from .member import Member, PresenceChange
from .presence import Membership as AsyncMembership
from .presence import Presence as AsyncPresence

__all__ = ["Membership", "Presence"]

T = TypeVar("T")


class Membership:
    """Being present in a channel, as Client.join makes it, until `leave` or the end of ``with``."""

    def __init__(self, thread: LoopThread, membership: AsyncMembership) -> None:
        """Made by Client.join."""
        self._thread = thread
        self._membership = membership

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self._membership.tenant

    @property
    def channel(self) -> str:
        """The channel."""
        return self._membership.channel

    def leave(self) -> None:
        """Be present no more, unless the client has another membership of the channel."""
        try:
            self._thread.call(self._membership.leave)
        except MillraceError as err:
            if err.code != "closed":  # the client has ended it
                raise

    def ended(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application has ended it."""
        return self._thread.call(self._membership.ended)

    def __enter__(self) -> Membership:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._thread.is_inherited:
            self.leave()


class Presence:
    """Who is present in the channels that match a pattern, as Client.presence makes it.

    Iterate it for what changes, which ends with the presence; the error is why that has ended, if not by the
    application. To leave the loop does not end the presence: ``with presence:`` does, and `close`.
    """

    def __init__(self, thread: LoopThread, presence: AsyncPresence) -> None:
        """Made by Client.presence."""
        self._thread = thread
        self._presence = presence
        self._taken: deque[PresenceChange] = deque()  # at most one, of a call that was interrupted
        self._reading = threading.Lock()

    @property
    def tenant(self) -> str:
        """The tenant."""
        return self._presence.tenant

    @property
    def pattern(self) -> str:
        """The pattern."""
        return self._presence.pattern

    @property
    def members(self) -> tuple[Member, ...]:
        """Who is present, by channel, then subject; nobody with *count*."""
        return self._look(lambda: self._presence.members)

    @property
    def counts(self) -> Mapping[str, int]:
        """A copy of how many are present in each channel where somebody is."""
        return self._look(lambda: self._presence.counts)

    @property
    def synced(self) -> bool:
        """The present connection has told all."""
        return self._look(lambda: self._presence.synced)

    def _look(self, get: Callable[[], T]) -> T:
        """Return what is known, which changes in the client's thread; when that has ended, no more."""

        async def look() -> T:
            return get()

        if self._thread.is_current:  # a handler of events asks
            return get()
        try:
            return self._thread.call(look)
        except MillraceError as err:
            if err.code != "closed":
                raise
            return get()

    def receive(self, timeout: float | None = None) -> PresenceChange | None:
        """Wait for the next change; return None if the application has ended the presence.

        *timeout*, in seconds, is the longest wait: then the error is `timeout`, and no change is lost. Any
        other error is why the presence has ended.
        """
        self._thread.check()
        with self._reading:
            if not self._taken and not self._thread.call(lambda: self._take(timeout)):
                return None
            return self._taken.popleft()

    async def _take(self, timeout: float | None) -> bool:
        """Take a change, or say that there is none any more.

        Where it goes, an interruption that comes at the same time does not lose it.
        """
        try:
            await asyncio.wait_for(self._take_next(), timeout)
        except asyncio.TimeoutError:
            raise MillraceError("timeout", "nothing has changed") from None
        except StopAsyncIteration:
            return False
        return True

    async def _take_next(self) -> None:
        self._taken.append(await self._presence.__anext__())

    def __iter__(self) -> Iterator[PresenceChange]:
        return self

    def __next__(self) -> PresenceChange:
        change = self.receive()
        if change is None:
            raise StopIteration
        return change

    def close(self) -> None:
        """End the presence: no change is given from now on. It returns when the edge has ended it."""
        try:
            self._thread.call(self._close)
        except MillraceError as err:
            if err.code != "closed":  # the client has ended it
                raise

    async def _close(self) -> None:
        self._taken.clear()
        await self._presence.close()

    def ended(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application has ended it."""
        return self._thread.call(self._presence.ended)

    def __enter__(self) -> Presence:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._thread.is_inherited:
            self.close()
