"""Finds out that the machine or the process slept, and that the network has changed."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import Protocol

from ._timers import now

LATE = 2.0
"""Seconds; a timer that is so late was asleep."""

_TICK = 1.0
_NETWORK_EVERY = 10  # ticks

# Addresses for documentation: nobody has them, and nothing is sent there.
_ANYWHERE = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))


class Sleeper(Protocol):
    """Who is told."""

    def slept(self) -> None:
        """Clocks went on, and what came meanwhile may not be read yet."""

    def network_changed(self) -> None: ...


def is_sleep(passed: float, days: float) -> bool:
    """Say whether there was a sleep, by what two clocks say of the time since the last look."""
    return passed >= _TICK + LATE or days - passed >= LATE


def local_addresses() -> tuple[str, ...]:
    """Return from which addresses this machine would send to the internet. Nothing is sent."""
    found = []
    for family, target in _ANYWHERE:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as s:
                s.connect((target, 9))
                found.append(str(s.getsockname()[0]))
        except OSError:
            found.append("")
    return tuple(found)


class Wake:
    """Watches the clocks and the network of one client, from start to stop."""

    def __init__(self, sleeper: Sleeper) -> None:
        self._sleeper = sleeper
        self._looked = now()
        self._day = time.time()
        self._ticks = 0
        self._addresses: tuple[str, ...] = ()
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to watch."""
        self._looked, self._day = now(), time.time()
        self._addresses = local_addresses()
        self._arm()

    def stop(self) -> None:
        """Watch no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def look(self) -> None:
        """Tell if there was a sleep since the last look, which is a second ago while nobody sleeps."""
        if self._timer is None:
            return
        moment, day = now(), time.time()
        passed, days = moment - self._looked, day - self._day
        self._looked, self._day = moment, day
        if is_sleep(passed, days):
            self._ticks = _NETWORK_EVERY  # perhaps it woke elsewhere
            self._sleeper.slept()

    def _arm(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(_TICK, self._tick)

    def _tick(self) -> None:
        self.look()
        if self._timer is None:
            return
        self._arm()
        self._ticks += 1
        if self._ticks < _NETWORK_EVERY:
            return
        self._ticks = 0
        addresses = local_addresses()
        if addresses != self._addresses:
            self._addresses = addresses
            self._sleeper.network_changed()
