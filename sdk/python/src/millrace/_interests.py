"""The subscriptions of a client, by pattern."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ._place import Place
from ._timers import future, reject, resolve
from ._wire import Delivered
from .errors import MillraceError
from .message import Message

if TYPE_CHECKING:
    from .subscription import Subscription

_MAX_ROUTES = 1024  # that are remembered; beyond it, all are found again


class Interest:
    """A pattern that the edge is asked for, once for all subscriptions to it."""

    __slots__ = ("confirmed", "draining", "name", "pattern", "place", "subs", "tenant", "waiting")

    def __init__(self, tenant: str, pattern: str, place: Place | None) -> None:
        self.name = f"{tenant}:{pattern}"
        self.tenant = tenant
        self.pattern = pattern
        self.subs: list[Subscription] = []
        self.confirmed = False
        """The edge has acknowledged it on the present connection."""
        self.waiting: dict[Subscription, asyncio.Future[None]] = {}
        """Subscriptions that the application waits for."""
        self.place = place
        """Of a subscription with a history, which is the only one."""
        self.draining = False
        """UNSUB has been sent, and what comes until its answer is for the application."""

    def wait(self, sub: Subscription) -> asyncio.Future[None]:
        """Return what is done when a subscription is acknowledged."""
        waiter: asyncio.Future[None] = future()
        self.waiting[sub] = waiter
        return waiter

    def settle(self, error: MillraceError | None = None) -> None:
        """Tell all that wait."""
        waiting, self.waiting = self.waiting, {}
        for waiter in waiting.values():
            if error is None:
                resolve(waiter, None)
            else:
                reject(waiter, error)

    def confirm(self) -> None:
        """Take the edge's acknowledgement."""
        self.confirmed = True
        if self.waiting:
            self.settle()

    @property
    def had(self) -> bool:
        """One of the subscriptions was acknowledged before, by whatever connection."""
        return len(self.subs) > len(self.waiting)


class Interests:
    """All of a client."""

    def __init__(self) -> None:
        self._all: dict[str, Interest] = {}
        self._routes: dict[tuple[str, tuple[str, ...]], tuple[Interest, ...]] = {}
        self.sender_read: Callable[[], None] | None = None
        """Called when somebody reads the sender of a message, which no edge was asked for; None: one was."""

    @property
    def all(self) -> list[Interest]:
        return [*self._all.values()]

    def add(self, sub: Subscription) -> tuple[Interest, bool]:
        """Return the interest of a subscription, and whether it is new."""
        name = f"{sub.tenant}:{sub.pattern}"
        interest = self._all.get(name)
        is_new = interest is None
        if interest is None:
            interest = self._all[name] = Interest(sub.tenant, sub.pattern, sub._place)
            self._routes.clear()
        interest.subs.append(sub)
        return interest, is_new

    def of(self, tenant: str, pattern: str) -> Interest | None:
        """Return the interest in a pattern, if there is one."""
        return self._all.get(f"{tenant}:{pattern}")

    def has(self, interest: Interest) -> bool:
        """Say whether an interest is still there."""
        return self._all.get(interest.name) is interest

    def remove(self, sub: Subscription) -> Interest | None:
        """Return the interest of a subscription if that was its last one."""
        interest = self._all.get(f"{sub.tenant}:{sub.pattern}")
        if interest is None or sub not in interest.subs:
            return None
        interest.subs.remove(sub)
        waiter = interest.waiting.pop(sub, None)
        if waiter is not None:
            resolve(waiter, None)  # its queue was full before the answer
        return interest if not interest.subs and self.drop(interest) else None

    def drop(self, interest: Interest) -> bool:
        """Forget an interest, and say whether it was there."""
        if not self.has(interest):
            return False
        del self._all[interest.name]
        self._routes.clear()
        return True

    def dispatch(self, m: Delivered, late: bool = False) -> None:
        """Give a message to its subscriptions; late as in Message."""
        tenant, channel, payload, patterns, _, sender, to_one, own = m
        readers = self._routes.get((tenant, patterns))
        if readers is None:
            readers = self._find(tenant, patterns)
        for interest in readers:
            place = interest.place
            if place is not None and not place.plain:
                continue  # its messages have positions
            message = Message(
                tenant,
                channel,
                payload,
                interest.pattern,
                patterns,
                late,
                None,
                sender,
                own,
                to_one,
                self.sender_read,
            )
            subs = interest.subs
            if len(subs) == 1:
                subs[0]._push(message)
            else:
                for sub in [*subs]:
                    sub._push(message)

    def _find(self, tenant: str, patterns: tuple[str, ...]) -> tuple[Interest, ...]:
        if len(self._routes) >= _MAX_ROUTES:
            self._routes.clear()
        found = (self._all.get(f"{tenant}:{pattern}") for pattern in patterns)
        readers = tuple(interest for interest in found if interest is not None)
        self._routes[tenant, patterns] = readers
        return readers
