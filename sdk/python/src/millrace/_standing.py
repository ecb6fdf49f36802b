"""What a client keeps at each edge that it is connected to: that it is present, or watches who is."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

from ._connection import Connection
from ._roster import Roster, View
from ._timers import future, reject, resolve
from .errors import MillraceError
from .events import SubscriptionError
from .presence import Kept, Presence

Mode = Literal["member", "members", "counts"]
"""Is present; watches who is; watches how many are."""


class Stand:
    """How it stands on one connection."""

    __slots__ = ("answered", "busy", "lacks", "mode", "task", "view")

    def __init__(self) -> None:
        self.mode: Mode | None = None
        """What was asked for, and not undone."""
        self.answered = False
        """The edge has acknowledged that."""
        self.lacks = False
        """The edge has no presence for it, and the application was told: it is not asked again."""
        self.view: View | None = None
        """What the edge tells, of one that watches."""
        self.busy = False
        self.task: asyncio.Task[None] | None = None


class Standing:
    """A JOIN or a WHO: one on each connection for all that the application has made."""

    def __init__(self, verb: str, tenant: str, target: str) -> None:
        """target is a channel or a pattern."""
        self.verb = verb
        self.tenant = tenant
        self.target = target
        self.name = f"{tenant}:{target}"
        self.key = f"{verb}:{self.name}"
        """The line that asks for it, and what it has in refusals."""
        self.undo = "LEAVE" if verb == "JOIN" else "UNWHO"
        self.kept: list[Kept] = []
        """What the application has made, and has not ended."""
        self.waiting: dict[Kept, asyncio.Future[None]] = {}
        """What of that the application waits for."""
        self.on: dict[Connection, Stand] = {}
        self.roster = Roster()
        self.full = False
        """It reports members, which serves counts, too."""

    @property
    def about(self) -> dict[str, Any]:
        """What an error names."""
        return {"tenant": self.tenant, "channel" if self.verb == "JOIN" else "pattern": self.target}

    def refused(self, code: str) -> SubscriptionError:
        """Return the event for a refusal."""
        return SubscriptionError(**{"pattern": "", **self.about}, code=code)

    @property
    def had(self) -> bool:
        """The application has had one of them already."""
        return len(self.kept) > len(self.waiting)

    @property
    def used(self) -> bool:
        """It is wanted, or an edge may still have it."""
        return bool(self.kept) or any(c.alive and (s.mode or s.busy) for c, s in self.on.items())

    def wait(self, kept: Kept) -> asyncio.Future[None]:
        """Return what is done when one is there."""
        waiter: asyncio.Future[None] = future()
        self.waiting[kept] = waiter
        return waiter

    def settle(self) -> None:
        """Tell those that wait that an edge has acknowledged it, or told all."""
        waiting, self.waiting = self.waiting, {}
        for waiter in waiting.values():
            resolve(waiter, None)

    def listen(self, kept: Kept) -> None:
        """Tell a presence of all that changes from now on."""
        if isinstance(kept, Presence) and kept in self.kept:
            self.roster.listeners.append(kept)

    def remove(self, kept: Kept, error: MillraceError | None = None) -> None:
        """Forget one that has ended; with the error that it has if the application waits for it."""
        self.kept.remove(kept)
        if isinstance(kept, Presence) and kept in self.roster.listeners:
            self.roster.listeners.remove(kept)
        waiter = self.waiting.pop(kept, None)
        if waiter is not None and error is not None:
            reject(waiter, error)
        elif waiter is not None:
            resolve(waiter, None)


def wants_count(kept: Kept) -> bool:
    """Say whether counts are enough."""
    return isinstance(kept, Presence) and kept._count
