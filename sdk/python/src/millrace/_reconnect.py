"""Finds a connection in place of one that is lost, and restores what the application has."""

from __future__ import annotations

from ._connection import Connection
from ._state import SessionState
from ._timers import back_off, now
from .errors import MillraceError
from .events import Disconnected, Reconnected, Reconnecting

_STEADY = 10.0  # seconds; a connection that lasted this long was a good one


def begin(s: SessionState, lost: Connection, error: MillraceError) -> None:
    """Note that the connection is lost."""
    s.reconnecting = True
    s.current = None
    s.merger = None
    s.both = s.leaving = s.tentative = s.gaps = False
    s.open_gate(None)
    for interest in s.subscriber.interests.all:
        interest.confirmed = False
    s.events.emit(Disconnected(s.edge, s.transport, error))
    if error.code == "token_expired" and lost.token == s.tokens.token:
        s.tokens.expire()
    if now() - s.since > _STEADY:
        s.attempts = 0


async def reconnect(s: SessionState, lost: Connection) -> None:
    """Find the next connection, after begin."""
    order = s.searcher.order(lost.edge, False)
    while True:
        edge = await order.next()
        s.attempts += 1
        delay = max(back_off(s.attempts, s.settings), s.searcher.wait(edge))
        s.events.emit(Reconnecting(s.attempts, delay))
        await s.pause(delay)
        try:
            c = await s.searcher.open(edge)
        except MillraceError as err:
            if s.searcher.hopeless(edge, err):
                raise
            continue
        s.set_current(c)
        await s.restore(c)
        if not c.alive:
            continue
        s.reconnecting = False
        s.since = now()
        complete = not s.gaps and all(i.place is not None for i in s.subscriber.interests.all)
        s.events.emit(Reconnected(s.edge, s.transport, now() - lost.last_byte, complete))
        return
