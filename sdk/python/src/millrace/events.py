"""The events of a client (docs/reference/python.md, Events). Times are seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ._link import Transport
from .errors import MillraceError

MoveReason = Literal["drain", "token", "transport"]
"""Why a client moves: the edge drains, the token is another one, or WebTransport can be had again."""


@dataclass(frozen=True, slots=True)
class Connected:
    """Connected, the first time."""

    edge: str
    """The edge's origin, such as ``https://edge.example.com``."""
    transport: Transport


@dataclass(frozen=True, slots=True)
class Connecting:
    """No edge could be reached yet; the client tries again after the delay."""

    attempt: int
    """Of the attempt to come; 2 the first time."""
    delay: float
    error: MillraceError
    """Why the attempt before has failed."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """The connection brings nothing any more; another one is looked for beside it."""

    edge: str
    transport: Transport


@dataclass(frozen=True, slots=True)
class Recovered:
    """It is back (away is 0), or another one has taken over."""

    edge: str
    transport: Transport
    away: float


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The connection is lost; the client reconnects."""

    edge: str
    transport: Transport
    error: MillraceError


@dataclass(frozen=True, slots=True)
class Reconnecting:
    """The client tries again after the delay."""

    attempt: int
    delay: float


@dataclass(frozen=True, slots=True)
class Reconnected:
    """Connected again, and the subscriptions are restored."""

    edge: str
    transport: Transport
    away: float
    complete: bool
    """Nothing is missing: all subscriptions have a history, and no gap was told."""


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages of a subscription with a history may be missing."""

    tenant: str
    pattern: str
    before: str | None
    """Before this position; None: the edge, or the token, gives no messages of the past."""
    reason: str = "unknown"
    """``expired`` (the history's limits have removed some), ``purged``, ``late`` (later than its max_lag),
    ``lost`` (by the store), ``behind`` (not proved), ``no_right`` (the token may not read the past: add the
    pattern to history of its grant), ``no_history``, or ``unknown``."""


@dataclass(frozen=True, slots=True)
class Moving:
    """The client moves from this connection to another one."""

    edge: str
    transport: Transport
    reason: MoveReason


@dataclass(frozen=True, slots=True)
class Moved:
    """The client has moved to this connection."""

    edge: str
    transport: Transport
    reason: MoveReason


@dataclass(frozen=True, slots=True)
class PublishError:
    """The edge refused a publish."""

    tenant: str
    channel: str
    code: str
    detail: str = field(default="", compare=False)
    """What is wrong, what is allowed and what to do, for people."""


@dataclass(frozen=True, slots=True)
class PublishUnknown:
    """A connection is lost or replaced, and publishes that were sent on it may be lost, or come late.

    Nothing has proved that the edge has read them. Those that are confirmed are not among them. It comes right
    before ``disconnected``, ``recovered``, ``moved`` or ``closed``.
    """

    edge: str
    transport: Transport
    count: int


@dataclass(frozen=True, slots=True)
class SubscriptionError:
    """The edge refused to restore a subscription, a presence or a membership.

    It has ended, except with the code ``try_later``: then the client asks again.
    """

    tenant: str
    pattern: str
    """Empty if it is a membership."""
    code: str
    channel: str | None = None
    """Of a membership."""
    detail: str = field(default="", compare=False)
    """What is wrong, what is allowed and what to do, for people."""


@dataclass(frozen=True, slots=True)
class SlowConsumer:
    """The edge dropped this many deliveries for this client."""

    dropped: int


@dataclass(frozen=True, slots=True)
class Limited:
    """Messages come or go late, since they wait for a cap of the token or the edge; once a minute at most.

    Client.limited is true for a minute after it.
    """

    direction: Literal["in", "out"]
    """``in``: deliveries wait, for egress_kbps; ``out``: publishes do, for ingress_kbps."""
    delay: float
    """Of the oldest one."""


@dataclass(frozen=True, slots=True)
class LinkDown:
    """The edge has lost the other edges."""

    edge: str


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The edge has the other edges again."""

    edge: str


@dataclass(frozen=True, slots=True)
class QueueFull:
    """This many messages were dropped from a subscription's queue."""

    tenant: str
    pattern: str
    dropped: int


@dataclass(frozen=True, slots=True)
class Discarded:
    """``unsubscribe`` or ``close`` has thrown away this many messages to one subscriber, which nobody gets."""

    tenant: str
    pattern: str
    count: int


@dataclass(frozen=True, slots=True)
class EdgeError:
    """Any other ERR line, and ``token_provider`` for a token provider that fails.

    ``no_presence`` says that this edge has no presence for a membership or presence, which detail names: it is
    tried again at the next edge.
    """

    code: str
    detail: str
    cause: BaseException | None = None
    """What the token provider raised."""


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """A PING was answered."""

    rtt: float


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of the client; without an error if the application closed it."""

    error: MillraceError | None


Event = (
    Connecting
    | Connected
    | Suspect
    | Recovered
    | Disconnected
    | Reconnecting
    | Reconnected
    | Gap
    | Moving
    | Moved
    | PublishError
    | PublishUnknown
    | SubscriptionError
    | SlowConsumer
    | Limited
    | LinkDown
    | LinkUp
    | QueueFull
    | Discarded
    | EdgeError
    | RoundTrip
    | Closed
)

EVENTS: dict[str, type[Event]] = {
    "connecting": Connecting,
    "connected": Connected,
    "suspect": Suspect,
    "recovered": Recovered,
    "disconnected": Disconnected,
    "reconnecting": Reconnecting,
    "reconnected": Reconnected,
    "gap": Gap,
    "moving": Moving,
    "moved": Moved,
    "publish_error": PublishError,
    "publish_unknown": PublishUnknown,
    "subscription_error": SubscriptionError,
    "slow_consumer": SlowConsumer,
    "limited": Limited,
    "link_down": LinkDown,
    "link_up": LinkUp,
    "queue_full": QueueFull,
    "discarded": Discarded,
    "edge_error": EdgeError,
    "round_trip": RoundTrip,
    "closed": Closed,
}
"""The events by their names, as Client.on takes them."""
