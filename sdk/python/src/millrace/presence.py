"""Being present, and seeing who is."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, TypeVar

from ._changes import Changes
from ._loop import OwnLoop
from ._roster import MemberKey, Roster
from ._timers import future, resolve
from .errors import MillraceError
from .member import Member, PresenceChange

__all__ = ["Member", "Membership", "Presence", "PresenceChange"]

Self = TypeVar("Self", bound="Kept")


class Keeper(Protocol):
    """What a membership or presence needs of its client."""

    def leave(self, kept: Kept) -> asyncio.Future[Any] | None:
        """Leave the edge, if this was the last one of its kind and name; done when that has ended it."""

    def is_synced(self, kept: Kept) -> bool:
        """Say whether the present connection has told all."""


class Kept:
    """What a client keeps at an edge until it ends."""

    tenant: str

    def __init__(self, tenant: str, name: str, keeper: Keeper) -> None:
        self.tenant = tenant
        self._name = name
        self._loop = OwnLoop()
        self._keeper = keeper
        self._over = False
        self._error: MillraceError | None = None
        self._ended: asyncio.Future[MillraceError | None] = future()

    async def ended(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application has ended it."""
        self._loop.check()
        return await asyncio.shield(self._ended)

    async def _leave(self) -> None:
        self._loop.check()
        self._end(None)
        left = self._keeper.leave(self)
        if left is not None:
            await asyncio.wait({left})

    def _end(self, error: MillraceError | None) -> None:
        if self._over:
            return
        self._over = True
        self._error = error
        self._finish()
        resolve(self._ended, error)

    def _finish(self) -> None:
        """Do what else belongs to the end."""

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self._leave()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.tenant}:{self._name}>"


class Membership(Kept):
    """Being present in a channel, as Client.join makes it, until `leave` or the end of ``async with``.

    It is restored on each connection. If an edge refuses that, it has ended, and the event
    ``subscription_error`` says so.
    """

    channel: str

    def __init__(self, tenant: str, channel: str, keeper: Keeper) -> None:
        """Made by Client.join."""
        super().__init__(tenant, channel, keeper)
        self.channel = channel

    async def leave(self) -> None:
        """Be present no more, unless the client has another membership of the channel.

        It returns when the edge has done it. To cancel it only ends that waiting.
        """
        await self._leave()


class Presence(Kept):
    """Who is present in the channels that match a pattern, as Client.presence makes it.

    Iterate it for what changes: ``async for change in presence``. It begins with what has changed since
    Client.presence returned, and ends with the presence; the error is why that has ended, if not by the
    application. Who reads late, or never, gets what is true then: changes that undo each other are not told.
    To leave the loop does not end the presence: ``async with presence:`` does, and `close`. One task at a time
    iterates, or several, each of which gets some of the changes.
    """

    pattern: str

    def __init__(self, tenant: str, pattern: str, keeper: Keeper, roster: Roster, count: bool) -> None:
        """Made by Client.presence."""
        super().__init__(tenant, pattern, keeper)
        self.pattern = pattern
        self._count = count
        self._roster = roster
        self._changes: Changes[MemberKey | str] = Changes()
        self._last: tuple[tuple[Member, ...], dict[str, int]] | None = None  # at the end
        self._rest: deque[PresenceChange] = deque()  # changes, at the end

    @property
    def members(self) -> tuple[Member, ...]:
        """Who is present, by channel, then subject; nobody with *count*.

        While the client has no connection, and after the end, it is what was known last.
        """
        if self._last is not None:
            return self._last[0]
        return () if self._count else self._roster.sorted

    @property
    def counts(self) -> Mapping[str, int]:
        """A copy of how many are present in each channel where somebody is.

        When very many have changed, the edge says how many there are before it says who they are.
        """
        return dict(self._last[1]) if self._last is not None else self._roster.counts

    @property
    def synced(self) -> bool:
        """The present connection has told all.

        It is False from the loss of a connection until another one has.
        """
        return not self._over and self._keeper.is_synced(self)

    async def close(self) -> None:
        """End the presence: no change is given from now on.

        It returns when the edge has ended it, too. To cancel it only ends that waiting.
        """
        await self._leave()

    def __aiter__(self) -> Presence:
        return self

    async def __anext__(self) -> PresenceChange:
        self._loop.check()
        while True:
            change = self._next()
            if change is not None:
                return change
            if self._error is not None:
                raise self._error.again()
            if self._over:
                raise StopAsyncIteration
            await self._changes.noted()

    def _next(self) -> PresenceChange | None:
        """Return the next change that is there."""
        if self._rest:
            return self._rest.popleft()
        return self._take()

    def _take(self) -> PresenceChange | None:
        while self._changes:
            key, before = self._changes.take()
            if isinstance(key, str):
                count = self._roster.count(key)
                if count != before:
                    return PresenceChange("counts", key, None, count)
                continue
            after = self._roster.members.get(key)
            if after is None and before is not None:
                return PresenceChange("left", key[0], before)
            if after is not None and after != before:
                return PresenceChange("joined" if before is None else "changed", key[0], after)
        return None

    # Listener

    def member_changed(self, key: MemberKey, before: Member | None, after: Member | None) -> None:
        if not self._count:
            self._changes.note(key, before, after)

    def count_changed(self, channel: str, before: int, after: int, far: bool) -> None:
        if self._count or far:
            self._changes.note(channel, before, after)

    def count_void(self, channel: str) -> None:
        if not self._count:
            self._changes.drop(channel)

    def _finish(self) -> None:
        """Keep what is known, and with an error what waits: it can still be read."""
        self._last = self.members, self._roster.counts
        if self._error is not None:
            self._rest.extend(iter(self._take, None))
        self._changes.clear()
        self._changes.wake()
