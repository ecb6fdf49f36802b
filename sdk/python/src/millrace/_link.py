"""What a transport is to the rest of the client: a link, which carries lines and frames."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from .errors import MillraceError
from .options import Settings

Transport = Literal["webtransport", "websocket"]
"""What a connection to an edge goes over."""

MAX_MESSAGE = 32 << 20
"""Bytes; above every edge's limit of a payload. A longer message is a `protocol` error."""

WRITE_BUFFER = 1 << 20
"""Bytes that may wait to be sent before a publisher has to wait: see Link.sent."""


@dataclass(frozen=True, slots=True)
class LinkEnd:
    """How a link ended."""

    close_code: int | None = None
    error: MillraceError | None = None
    """Why: what the edge sent and must not, or its last word, as the reason of the close repeats it."""


class Sink(Protocol):
    """Who takes what comes over a link. It is called in the event loop, and raises nothing."""

    def arrived(self) -> None:
        """Something has come, perhaps a part of a message only; called before what it completes."""

    def line(self, line: str) -> None: ...

    def frame(self, frame: bytes) -> None: ...

    def ended(self, end: LinkEnd) -> None:
        """The link has ended; called once, and nothing after it."""


class Link(Protocol):
    """An authenticated session with an edge. What comes before start is kept for it (see Inlet)."""

    @property
    def transport(self) -> Transport: ...

    def start(self, sink: Sink) -> None: ...

    def send(self, message: str | bytes) -> None:
        """Send a line or a frame. It does nothing if the link has ended."""

    def sent(self) -> asyncio.Future[None] | None:
        """Return what is done when at most WRITE_BUFFER bytes wait to be sent; None: it is so.

        It is done when the link ends, too. Several may wait for it: none of them may cancel it.
        """

    def probe(self) -> None:
        """Send what is answered by an edge that was started again and does not know the connection."""

    def close(self) -> None:
        """Send what waits, for a second at most, then end the link with the code 1000.

        The sink is told when it has ended.
        """


@dataclass(frozen=True, slots=True)
class Dial:
    """What it takes to open a link."""

    edge: str
    """The URL without path: ``https://edge.example.com``, ``https://[::1]:8443``."""
    token: str = field(repr=False)
    settings: Settings


class Opener(Protocol):
    """Opens a link. The error is a MillraceError. To cancel it leaves nothing open."""

    async def __call__(self, dial: Dial) -> Link: ...


class Inlet:
    """The sink of a transport: it keeps what comes before the link's own sink is there."""

    __slots__ = ("_early", "_over", "_sink")

    def __init__(self) -> None:
        self._sink: Sink | None = None
        self._early: list[Callable[[Sink], None]] = []
        self._over = False

    def start(self, sink: Sink) -> None:
        early, self._early = self._early, []
        self._sink = sink
        for give in early:
            give(sink)

    def arrived(self) -> None:
        if self._sink is not None and not self._over:
            self._sink.arrived()

    def line(self, line: str) -> None:
        if self._over:
            return
        if self._sink is not None:
            self._sink.line(line)
        else:
            self._early.append(lambda sink: sink.line(line))

    def frame(self, frame: bytes) -> None:
        if self._over:
            return
        if self._sink is not None:
            self._sink.frame(frame)
        else:
            self._early.append(lambda sink: sink.frame(frame))

    def ended(self, end: LinkEnd) -> None:
        if self._over:
            return
        self._over = True
        if self._sink is not None:
            self._sink.ended(end)
        else:
            self._early.append(lambda sink: sink.ended(end))
