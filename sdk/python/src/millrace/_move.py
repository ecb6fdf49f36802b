"""Goes on to the next connection without a loss or a copy (docs/decisions/0008-clients.md)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ._connection import Connection
from ._merger import Merger
from ._state import SessionState
from ._timers import any_settled, back_off, now, settled, together
from .errors import MillraceError
from .events import Moved, MoveReason, Moving

_OTHERS = 0.25  # seconds until other edges know of a subscription
_TIMEOUT = 2.0  # seconds for the answers of the edge that is left


async def move(
    s: SessionState, source: Connection, reason: MoveReason, ready: Connection | None = None
) -> None:
    """Move to another connection.

    With one that is ready nobody is told before the current one is left; if it is lost before, the client
    stays.
    """
    tell = _Teller(s, reason)
    may = ready is not None
    if not may:
        tell()
    try:
        await s.merged()
    except asyncio.CancelledError:
        if ready is not None:
            ready.close()
        raise
    s.merger = Merger()
    s.both = True
    s.tentative = may

    order = s.searcher.order(source.edge, reason != "drain")
    attempt = 0
    while True:
        to, ready = ready, None
        if to is None:
            edge = await order.next()
            attempt += 1
            await s.pause(max(back_off(attempt, s.settings), s.searcher.wait(edge)))
            try:
                to = await s.searcher.open(edge)
            except MillraceError as err:
                if s.searcher.hopeless(edge, err, True):
                    raise
                continue
        if to.alive:
            s.next = to
            s.merger.release()  # of the next one before; the current one has delivered the same
            if s.tentative:
                to.ping()  # its silence is noticed
            await s.restore(to)
        if s.tentative:
            if s.next is not to:
                s.keep_current()
                return
            s.tentative = False
        if not to.alive:
            continue  # nobody was told
        await _leave(s, source, to, tell)
        if s.current is not to:
            if may:
                s.keep_current()
                return
            continue  # it is lost: another one
        if to.alive:
            tell()  # the current one was lost before
            s.since = now()
            s.events.emit(Moved(s.edge, s.transport, reason))
        return


class _Teller:
    """Tells once that the move begins."""

    def __init__(self, s: SessionState, reason: MoveReason) -> None:
        self._s = s
        self._event = Moving(s.edge, s.transport, reason)
        self._told = False

    def __call__(self) -> None:
        if not self._told:
            self._told = True
            self._s.events.emit(self._event)


async def _leave(s: SessionState, source: Connection, to: Connection, tell: Callable[[], None]) -> None:
    """Leave the current connection, unless one of the two is lost before; tell when it begins to."""

    def both() -> bool:
        return s.next is to and s.current is source

    if not both():
        return
    if s.gate is None:
        s.gate = []
    # Before the other edge has none any more: somebody may publish a message to one subscriber meanwhile.
    s.subscriber.give_credit(to)
    handled = s.tasks.spawn(lambda: _let_go(s, source, to, both))
    try:
        # One that is behind may have to deliver what the next one was too late for.
        for _ in range(3):
            await asyncio.sleep(_OTHERS)
            if s.merger is None or s.merger.behind == 0:
                break
        await settled([*s.subscriber.asking, *s.presences.asking], _TIMEOUT)  # of what is new since then
        await s.presences.told(to, _TIMEOUT)  # until then, the current one tells who is present
        while both() and to.postponed:  # noqa: ASYNC110 (or one of them is lost)
            await asyncio.sleep(_OTHERS)
        if not both():
            return
        tell()
        s.leaving = True
        left = [source.leave(name) for name in [*source.asked]]
        done = together([*left, source.ping(), source.confirmed_all()])
        await any_settled([source.gone, done], _TIMEOUT)
        await settled([handled])
        if both():
            s.promote()
    finally:
        s.leaving = False
        handled.cancel()


async def _let_go(s: SessionState, source: Connection, to: Connection, both: Callable[[], bool]) -> None:
    """Let publishes go to the next edge when the first one has handled what it had."""
    await settled([source.ping()], _TIMEOUT)
    if both():
        s.open_gate(to)
