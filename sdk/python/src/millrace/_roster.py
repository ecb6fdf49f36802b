"""Who is present, as it is shown, and as connections tell it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

from ._presence_frame import PresenceFrame
from ._timers import future, resolve
from .member import Member

MemberKey = tuple[str, str]
"""A channel and a subject."""


class View:
    """What one connection has reported for a WHO."""

    __slots__ = ("_fresh", "_waiting", "counts", "data", "synced")

    def __init__(self, counts: bool) -> None:
        self.counts = counts
        """It reports counts."""
        self.synced = False
        """All has come once."""
        self.data: dict[Any, Any] = {}
        """Members by their keys, or counts by channel, as they were at the last time when all had come, with
        all changes since."""
        self._fresh: dict[Any, Any] | None = None  # data since the restart, until all has come
        self._waiting: list[asyncio.Future[None]] = []

    def take(self, frame: PresenceFrame) -> Iterable[tuple[Any, Any]]:
        """Take a frame, and return what it changes of data, which the caller has to do.

        There data has changed already if it is another dictionary than before.
        """
        if frame.counts != self.counts:
            return ()
        if frame.first:
            self._fresh = {}
        entries = _entries(frame)
        if self._fresh is None:
            return entries if self.synced else ()
        put(self._fresh, entries)
        if frame.synced:
            self.data, self._fresh, self.synced = self._fresh, None, True
            waiting, self._waiting = self._waiting, []
            for waiter in waiting:
                resolve(waiter, None)
        return ()

    def told(self) -> asyncio.Future[None]:
        """Return what is done when all has come."""
        waiter: asyncio.Future[None] = future()
        if self.synced:
            waiter.set_result(None)
        else:
            self._waiting.append(waiter)
        return waiter


def put(data: dict[Any, Any], entries: Iterable[tuple[Any, Any]]) -> None:
    """Change values; one that is None or 0 is removed."""
    for key, value in entries:
        if value:
            data[key] = value
        else:
            data.pop(key, None)


def _entries(frame: PresenceFrame) -> list[tuple[Any, Any]]:
    if frame.counts:
        return [*frame.channels]
    return [((m.channel, m.subject), Member._of(m) if m.here else None) for m in frame.members]


class Listener(Protocol):
    """Who is notified of changes, before as after None or 0 where there is nothing."""

    def member_changed(self, key: MemberKey, before: Member | None, after: Member | None) -> None: ...

    def count_changed(self, channel: str, before: int, after: int, far: bool) -> None:
        """far: the edge has told it, since the client is far behind."""

    def count_void(self, channel: str) -> None:
        """What the edge has told since the client was far behind holds no more."""


class Roster:
    """Who is present, as the application sees it: what the view that is shown tells."""

    def __init__(self) -> None:
        self.listeners: list[Listener] = []
        self.members: dict[MemberKey, Member] = {}
        self._counts: Counter[str] = Counter()
        self._view: View | None = None
        self._data: object = None  # of the view, as it is shown
        self._sorted: tuple[Member, ...] | None = ()
        self._far: dict[str, int] = {}  # counts that the edge told since the client is far behind

    @property
    def sorted(self) -> tuple[Member, ...]:
        """The members by channel, then subject."""
        if self._sorted is None:
            self._sorted = tuple(sorted(self.members.values(), key=lambda m: (m.channel, m.subject)))
        return self._sorted

    @property
    def counts(self) -> dict[str, int]:
        """A copy of the counts."""
        return {channel: n for channel, n in {**self._counts, **self._far}.items() if n}

    def count(self, channel: str) -> int:
        """Return the count of a channel."""
        return self._far.get(channel, self._counts[channel])

    def take(self, view: View, frame: PresenceFrame) -> None:
        """Give a frame to the view of the current connection, and show it if that has told all."""
        if frame.counts and not view.counts:
            self._take_far(frame)
            return
        entries = view.take(frame)
        if view is self._view and view.data is self._data:
            self._change(view, entries)
        else:
            put(view.data, entries)
            if view.synced:
                self.show(view)
        if frame.synced:
            self._forget_far()

    def show(self, view: View) -> None:
        """Show what a view has, which is synced: the difference is what has changed."""
        if view is self._view and view.data is self._data:
            return
        self._view, self._data = view, view.data
        members: dict[MemberKey, Member] = {} if view.counts else view.data
        before, self.members, self._sorted = self.members, members, None
        for key, member in before.items():
            self._member_changed(key, member, members.get(key))
        for key, member in members.items():
            if key not in before:
                self._member_changed(key, None, member)
        self._set_counts(Counter(view.data if view.counts else (channel for channel, _ in members)))
        self._forget_far()

    def _set_counts(self, counts: Counter[str]) -> None:
        channels = {**self._counts, **counts}
        was = {channel: self.count(channel) for channel in channels}
        self._counts = counts
        for channel, before in was.items():
            self._count_changed(channel, before)

    def _change(self, view: View, entries: Iterable[tuple[Any, Any]]) -> None:
        """Change what is shown, which is the view's data."""
        for key, after in entries:
            before = view.data.get(key)
            put(view.data, [(key, after)])
            if view.counts:
                self._add(key, after - self._counts[key])
                continue
            self._sorted = None
            self._member_changed(key, before, after)
            self._add(key[0], (after is not None) - (before is not None))

    def _add(self, channel: str, n: int) -> None:
        if n == 0:
            return
        before = self.count(channel)
        self._counts[channel] += n
        if not self._counts[channel]:
            del self._counts[channel]
        self._count_changed(channel, before)

    def _take_far(self, frame: PresenceFrame) -> None:
        """Take counts that tell how many there are before the members come: they hold until all has come."""
        for channel, n in frame.channels:
            before = self.count(channel)
            self._far[channel] = n
            self._count_changed(channel, before, True)

    def _forget_far(self) -> None:
        """Count the members again."""
        far, self._far = self._far, {}
        for channel, before in far.items():
            self._count_changed(channel, before)
            for listener in self.listeners:
                listener.count_void(channel)

    def _member_changed(self, key: MemberKey, before: Member | None, after: Member | None) -> None:
        if before != after:
            for listener in self.listeners:
                listener.member_changed(key, before, after)

    def _count_changed(self, channel: str, before: int, far: bool = False) -> None:
        after = self.count(channel)
        if before != after:
            for listener in self.listeners:
                listener.count_changed(channel, before, after, far)
