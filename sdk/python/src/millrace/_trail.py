"""Listens to a connection that another one has taken over from."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterable

from ._connection import Connection
from ._late import Late
from ._presence_frame import PresenceFrame
from ._reasons import NOT_SAID, Denial
from ._shelf import Entry
from ._timers import now
from ._wire import Delivered, ServerLine
from .errors import MillraceError

_LIFE = 15.0  # seconds
_MOST = 60.0  # seconds, if it brings something all the time


class Trail:
    """Listens until the connection has brought nothing for 15 s, for a minute at most.

    When it is heard again: until the edge has been left. It needs no events and tells none.
    """

    def __init__(
        self,
        c: Connection,
        given: Iterable[Entry],
        give: Callable[[Delivered], None],
        done: Callable[[Trail], None],
        before: Trail | None,
    ) -> None:
        """given is what the current connection brought and was given before; give gets what is late.

        done is called at the end, unless stop was. before is the trail that this one comes in place of.
        """
        self._c = c
        self.late: Late = Late(given, now(), None if before is None else before.late)
        self._give = give
        self._done = done
        self._listens = True
        self._held = False
        self._begun = now()
        self._timer: asyncio.TimerHandle | None = None
        self._end = asyncio.get_running_loop().call_later(_LIFE, self._expire)
        if before is not None:
            before.stop()
        c.hand_to(self)
        if c.alive:
            self._wait()
        else:
            self._leave()

    def from_current(self, m: Delivered) -> bool:
        """Take a message that the application is to get from elsewhere, and say whether it does."""
        return self.late.from_current(m, now())

    def hold(self, held: bool) -> None:
        """Keep what waits for the current connection as long as that is suspect.

        What it would have brought meanwhile may still come. Afterwards it waits again.
        """
        if held == self._held:
            return
        self._held = held
        if not held:
            self.late.renew(now())
        self._wait()

    def flush(self) -> None:
        """Give what waits, at once."""
        for m in self.late.due(math.inf):
            self._give(m)

    def stop(self) -> asyncio.Future[None]:
        """End it, whatever waits; what is returned is done when the connection has ended."""
        self._listens = False
        self._end.cancel()
        if self._timer is not None:
            self._timer.cancel()
        return self._c.close()

    def _expire(self) -> None:
        """End it, unless it brings something: a long message takes its time."""
        left = min(self._c.last_byte + _LIFE, self._begun + _MOST) - now()
        if left > 0:
            self._end = asyncio.get_running_loop().call_later(left, self._expire)
        else:
            self._leave()

    def _leave(self) -> None:
        """End the connection; what waits has its time."""
        if self._listens:
            self.stop()
            self._wait()

    def _wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._held:
            return
        due = self.late.next_due
        if due is None:
            if not self._listens:
                self._done(self)
            return
        self._timer = asyncio.get_running_loop().call_later(max(0.001, due - now()), self._give_due)

    def _give_due(self) -> None:
        for m in self.late.due(now()):
            self._give(m)
        self._wait()

    # Owner

    def delivered(self, source: Connection, message: Delivered) -> None:
        if message.position is not None:
            return  # the current connection goes on behind what was given
        if message.to_one:  # nobody else gets it
            self._give(message)
            return
        idle = self.late.next_due is None
        over = self.late.from_trail(message, now())
        if over is not None:
            self._give(over)
        if idle:
            self._wait()

    def woke(self, source: Connection) -> None:
        for name in source.asked:
            source.request("UNSUB", name)
        source.ping().add_done_callback(lambda _: self._leave())

    def lost(self, source: Connection, error: MillraceError) -> None:
        self._leave()

    def silent(self, source: Connection) -> bool:
        return False

    def reached(self, source: Connection, line: ServerLine) -> None:
        pass

    def present(self, source: Connection, frame: PresenceFrame) -> None:
        pass  # the current connection tells it

    def withdrawn(self, source: Connection, key: str) -> None:
        pass

    def draining(self, source: Connection) -> None:
        pass

    def error_line(self, code: str, detail: str, denial: Denial = NOT_SAID) -> None:
        pass

    def round_trip(self, rtt: float) -> None:
        pass

    def linked(self) -> None:
        pass
