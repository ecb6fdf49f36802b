"""Finds out that nothing comes any more (docs/decisions/0018-suspicion.md). Times are seconds."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable
from typing import Protocol

from ._rhythm import LONGEST as RHYTHM_END
from ._rhythm import MOST, Rhythm
from ._timers import now
from ._unread import UNREAD
from ._wake import LATE
from .options import Settings

_LEAST = 1.0  # for an answer, however short the round trips were
_PROBE = 1.0  # between probes while there is no answer
_RENEWALS = 3  # of the time of one PING
_BEHIND = 0.05  # that a timer is late: something else took long
_LONGEST = 86_400.0  # of a timer


class Question(Protocol):
    """A PING without an answer."""

    @property
    def at(self) -> float: ...
    @property
    def send_time(self) -> float:
        """How long the edge may read what was sent before."""


class Watched(Protocol):
    """The connection that a Liveness watches."""

    @property
    def unanswered(self) -> Question | None:
        """The oldest PING without an answer."""

    @property
    def unread_since(self) -> float | None:
        """Since when something that was sent waits for a sign that the edge reads; None: nothing does."""

    @property
    def owed(self) -> bool:
        """The edge owes an answer to something but PING."""

    def ask(self) -> None:
        """Send PING."""

    def probe(self) -> None: ...

    def silent(self) -> bool:
        """Nothing has come for longer than usual; say whether the connection is suspect now."""

    def woke(self) -> None:
        """It was suspect, and something comes."""

    def given_up(self) -> None:
        """Nothing has come for too long."""


class Liveness:
    """Watches one connection."""

    def __init__(self, watched: Watched, s: Settings, look: Callable[[], None]) -> None:
        """look finds out whether the machine or the process slept: see Wake."""
        self.heard = now()
        """When the last bytes came."""
        self._c = watched
        self._s = s
        self._look = look
        self._rhythm = Rhythm(self.heard)
        self._spread = 1 + random.random() / 16  # noqa: S311 (so that clients do not ask in step)
        self._last = -math.inf  # when anything but PONG came
        self._suspect = False
        self._smooth: float | None = None  # the round trip
        self._deviation = 0.0
        self._awake = -math.inf  # when it last woke
        self._renewals = 0
        self._probed = -math.inf
        self._refused = -math.inf  # when silent said no
        self._timer: asyncio.TimerHandle | None = None
        self._over = False

    def arrived(self, time: float) -> None:
        """Something has come; called before it is handled."""
        self.heard = time
        if self._suspect:
            self._rhythm.skip(time)  # the pause that made it suspect is not usual
            self._suspect = False
            self.arm()
            self._c.woke()
        elif self._rhythm.arrived(time):
            self.arm()

    def active(self) -> None:
        """What has come is not PONG."""
        flowed = self._flows
        self._last = self.heard
        if not flowed:
            self.arm()

    @property
    def _flows(self) -> bool:
        """More messages are expected."""
        return self.heard - self._last < RHYTHM_END

    def ponged(self, rtt: float) -> None:
        """A PING has its answer."""
        self._renewals = 0
        # One that slept has no more weight than one that took twice what was expected.
        sample = min(rtt, 2 * self._wait)
        if self._smooth is None:
            self._smooth, self._deviation = sample, sample / 2
        else:
            self._deviation += (abs(self._smooth - sample) - self._deviation) / 4
            self._smooth += (sample - self._smooth) / 8
        self.arm()

    def awake(self, always: bool) -> None:
        """Ask at once if nothing has come for a second, or always; all limits start over."""
        time = now()
        asking = self._c.unanswered is not None
        if not asking:
            self._renewals = 0
        if self._over or self._renewals >= _RENEWALS:
            return
        self._renewals += 1
        self._awake = time
        if self._s.keep_alive > 0 and not asking and (always or time - self.heard >= _LEAST):
            self._c.ask()
        self.arm()

    def stop(self) -> None:
        """Watch no more."""
        self._over = True
        if self._timer is not None:
            self._timer.cancel()

    @property
    def _wait(self) -> float:
        return max(_LEAST, (self._smooth or 0) + 4 * self._deviation)

    @property
    def ask_at(self) -> float:
        """When to ask. It is the only rule of that.

        After keep_alive without a byte, sooner where something is expected, and soon after something was sent
        that has no answer.
        """
        keep_alive = self._s.keep_alive
        if keep_alive < 0:
            return math.inf
        silence = min(keep_alive, MOST) if self._c.owed else keep_alive
        if self._flows:
            silence = min(silence, self._rhythm.unusual)
        at = self.heard + silence * self._spread
        since = self._c.unread_since
        return at if since is None else min(at, since + min(UNREAD, keep_alive))

    def suspect_at(self, q: Question) -> float:
        """When a connection is suspect that has not answered a question."""
        return max(q.at, self.heard, self._awake) + self._wait + q.send_time

    def lost_at(self, q: Question) -> float:
        """When it is lost."""
        keep_alive, pong_timeout = self._s.keep_alive, self._s.pong_timeout
        if keep_alive < 0:
            return math.inf
        heard = max(self.heard, self._awake)
        return max(q.at + pong_timeout, heard + keep_alive + pong_timeout) + q.send_time

    def arm(self) -> None:
        """Set the timer for what is due next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._over:
            return
        q = self._c.unanswered
        if q is None:
            due = self.ask_at
        else:
            tell = math.inf if self._suspect else self._tell_at(q)
            due = min(tell, self.lost_at(q), self._probed + _PROBE)
        if due == math.inf:
            return
        time = now()
        at = max(due, time + 0.001)  # it may have been due long ago
        self._set(min(at - time, _LONGEST), at, False)

    def _set(self, delay: float, due: float, again: bool) -> None:
        self._timer = asyncio.get_running_loop().call_later(delay, self._act, due, again)

    def _tell_at(self, q: Question) -> float:
        """When its owner may be told that it is suspect: after a refusal, not at once again."""
        return max(self.suspect_at(q), self._refused + _PROBE)

    def _act(self, due: float, again: bool) -> None:
        self._timer = None
        self._look()  # what has come during a sleep may be read after this
        time = now()
        if time - due >= LATE:
            self.awake(False)
        if self._over:
            return
        if not again and time - due > _BEHIND:
            # So may be what has come while something else took long: it is judged in another turn.
            if self._timer is not None:
                self._timer.cancel()
            self._set(_BEHIND, time + _BEHIND, True)
            return
        q = self._c.unanswered
        if q is None:
            if time >= self.ask_at:
                self._c.ask()
        elif time >= self.lost_at(q):
            self._c.given_up()
            return
        else:
            if not self._suspect and time >= self._tell_at(q):
                self._tell(time)
            if not self._over:
                self.probe()
        self.arm()

    def _tell(self, time: float) -> None:
        self._suspect = self._c.silent()
        if not self._suspect:
            self._refused = time

    def probe(self) -> None:
        """Probe the link, at most once a second: an edge that was killed may be back at any time."""
        time = now()
        if time - self._probed < _PROBE:
            return
        self._probed = time
        self._c.probe()
