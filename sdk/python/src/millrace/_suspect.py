"""Finds a connection that takes over from one that brings nothing (docs/decisions/0018-suspicion.md)."""

from __future__ import annotations

from ._connection import Connection
from ._merger import Merger
from ._state import SessionState
from ._timers import back_off
from .errors import MillraceError

_BESIDE = 0.5  # seconds until the second transport starts beside the first


async def suspect(s: SessionState, source: Connection) -> None:
    """Run until another connection has taken over. It is cancelled when source brings something, or ends."""
    await s.merged()
    s.merger = Merger()
    s.both = s.tentative = True

    order = s.searcher.order(source.edge, False)
    attempt = 0
    while True:
        edge = await order.next()
        attempt += 1
        await s.pause(max(back_off(attempt, s.settings), s.searcher.wait(edge)))
        try:
            to = await s.searcher.open(edge, fallback_after=_BESIDE)
        except MillraceError as err:
            if err.code == "logged_out":
                raise
            continue  # even a final refusal: the current one may be back
        s.next = to
        to.ping()  # its silence is noticed, too
        await s.restore(to)
        if s.next is to:
            s.take_over(source, to)
            return
