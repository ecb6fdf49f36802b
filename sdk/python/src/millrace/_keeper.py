"""What a subscription was asked for, and what it needs of its client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ._loud import Loud
from .message import Message
from .options import QueuePolicy

if TYPE_CHECKING:
    from .subscription import Subscription

OnMessage = Callable[[Message], Awaitable[Any] | Any]
"""Takes messages. A plain function is called at once as they come; a coroutine function for one message
after the other, from the subscription's queue."""


class Keeper(Protocol):
    """What a subscription needs of its client."""

    loud: Loud

    def leave(self, sub: Subscription) -> asyncio.Future[Any] | None:
        """Leave the edge, if this was the last subscription to the pattern; done when that has ended it."""

    def queue_full(self, sub: Subscription, dropped: int) -> None: ...

    def discarded(self, sub: Subscription, count: int) -> None: ...

    def drain(self, sub: Subscription) -> asyncio.Future[Any] | None:
        """Leave the edge as leave does, but take what comes until it has ended the subscription."""

    def was_taken(self, sub: Subscription) -> None:
        """A message to one subscriber is done with."""

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
    echo: bool = True
    """With what this client publishes itself."""
