"""Silences, sleeps and pauses."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from millrace import _wake
from millrace._dial import can_webtransport
from millrace._liveness import Liveness
from millrace._rhythm import Rhythm
from millrace._timers import back_off
from millrace._upgrade import pause_before
from millrace._wake import Wake, is_sleep, local_addresses
from millrace.options import settings

from .edge import Record, edges
from .fixture import tried


@dataclass
class Ping:
    at: float
    send_time: float = 0.0


@dataclass
class Watched:
    did: Record[str] = field(default_factory=Record)
    pings: list[Ping] = field(default_factory=list)
    eligible: bool = True
    unread_since: float | None = None
    owed: bool = False
    watch: Any = None

    @property
    def unanswered(self) -> Ping | None:
        return self.pings[0] if self.pings else None

    def ask(self) -> None:
        self.pings.append(Ping(time.monotonic()))
        self.did.add("ask")
        self.watch.probe()
        self.watch.arm()

    def probe(self) -> None:
        self.did.add("probe")

    def silent(self) -> bool:
        self.did.add("silent")
        return self.eligible

    def woke(self) -> None:
        self.did.add("woke")

    def given_up(self) -> None:
        self.did.add("over")
        self.watch.stop()


def watched(look: Any = lambda: None, **options: Any) -> tuple[Watched, Liveness]:
    it = Watched()
    it.watch = Liveness(it, settings(token="AT_a", **options), look)
    return it, it.watch


def test_a_rhythm() -> None:
    rhythm = Rhythm(0)
    assert rhythm.unusual == math.inf
    for n in range(1, 5):
        assert rhythm.arrived(n / 10) is (n == 4)
    assert rhythm.unusual == 1
    assert rhythm.arrived(0.4001) is False  # the same arrival
    rhythm.arrived(2.4)
    assert rhythm.unusual == 3  # at most
    assert rhythm.arrived(5.4) is True  # a bucket ends
    assert rhythm.unusual == 3
    for n in range(110):
        rhythm.arrived(5.5 + n / 10)
    assert rhythm.unusual == 1
    rhythm.arrived(30)
    assert rhythm.unusual == math.inf


async def test_when_to_ask() -> None:
    it, watch = watched(keep_alive=20)
    moment = watch.heard
    assert 20 <= watch.ask_at - moment <= 21.25

    def after(seconds: float, active: bool = True) -> None:
        nonlocal moment
        moment += seconds
        watch.arrived(moment)
        if active:
            watch.active()

    for _ in range(5):
        after(0.1)
    assert 1 <= watch.ask_at - moment <= 1.063
    for _ in range(3):
        after(3.1, False)  # the answer alone: messages are expected
        watch.ponged(0.05)
        assert 3 <= watch.ask_at - moment <= 3.188
    after(3.1, False)
    assert 20 <= watch.ask_at - moment <= 21.25  # they are not any more
    it.owed = True
    assert 3 <= watch.ask_at - moment <= 3.188
    it.owed = False
    it.unread_since = moment + 0.5
    assert watch.ask_at - moment == pytest.approx(1.5)
    it.unread_since = None
    after(0.01)  # something else
    assert 3 <= watch.ask_at - moment <= 3.188
    after(11)
    assert 20 <= watch.ask_at - moment <= 21.25
    watch.stop()
    it, never = watched(keep_alive=-1)
    it.unread_since = 0
    for _ in range(5):
        never.arrived(never.heard + 0.1)
    assert never.ask_at == math.inf
    assert never.lost_at(Ping(0)) == math.inf
    never.stop()


async def test_when_it_is_suspect_and_when_it_is_lost() -> None:
    _, watch = watched(keep_alive=20, pong_timeout=5)
    heard = watch.heard
    ping = Ping(heard + 3, 0.1)
    assert watch.suspect_at(ping) - heard == pytest.approx(4.1)
    assert watch.lost_at(ping) - heard == pytest.approx(25.1)
    assert watch.lost_at(Ping(heard + 30)) - heard == pytest.approx(35)
    watch.arrived(heard + 3.5)
    assert watch.suspect_at(ping) - heard == pytest.approx(4.6)
    for n in range(100):
        watch.ponged(0.3 if n % 2 else 0.9)  # 0.6 and 4 times 0.3
    assert 5.2 <= watch.suspect_at(ping) - heard <= 5.7
    watch.stop()
    _, watch = watched()
    ping = Ping(watch.heard)
    for _ in range(10):
        watch.ponged(0.05)
    watch.ponged(8)  # an answer that slept counts for little
    assert watch.suspect_at(ping) - ping.at < 3
    for _ in range(20):
        watch.ponged(4)  # slow ones are learnt
    assert watch.suspect_at(ping) - ping.at > 4
    watch.stop()


async def test_what_is_done_in_a_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    it, watch = watched(keep_alive=0.1, pong_timeout=3.5)
    it.eligible = False
    watch.arm()
    await it.did.until(lambda _: "silent" in it.did.all)
    it.eligible = True  # now a move has ended
    await it.did.until(lambda _: it.did.all.count("silent") == 2)
    await it.did.until(lambda did: did == "over")
    assert it.did.all[0] == "ask"
    assert it.did.all.count("silent") == 2
    assert 3 <= it.did.all.count("probe") <= 5  # once a second

    it, watch = watched(keep_alive=0.1, pong_timeout=3600)
    watch.arm()
    await it.did.until(lambda did: did == "silent")
    watch.arrived(time.monotonic())
    assert it.did.all[-1] == "woke"
    watch.stop()


async def test_what_has_come_while_something_else_took_long_is_read_first() -> None:
    it, watch = watched(keep_alive=0.05, pong_timeout=0.05)
    watch.arm()
    await it.did.until(lambda did: did == "ask")
    ping = it.pings[0]
    asyncio.get_running_loop().call_soon(time.sleep, 1.4)
    await asyncio.sleep(0.01)  # the timers are late
    it.pings.clear()
    watch.arrived(time.monotonic())
    watch.ponged(time.monotonic() - ping.at)
    await asyncio.sleep(0.01)
    assert not {"silent", "over"} & {*it.did.all}
    watch.stop()


async def test_waking() -> None:
    """It asks at once, and its time starts over, but not for ever."""
    it, watch = watched(keep_alive=20, pong_timeout=5)
    watch.awake(False)
    assert it.did.all == []  # something has just come
    watch.heard -= 3
    watch.awake(False)
    assert it.did.all == ["ask", "probe"]
    ping = it.pings[0]
    watch.awake(False)
    watch.awake(False)
    before = watch.lost_at(ping)
    await asyncio.sleep(0.01)
    watch.awake(False)
    assert watch.lost_at(ping) == before  # that was often enough
    it.pings.clear()
    watch.ponged(0.1)
    watch.awake(True)
    assert it.did.all.count("ask") == 2
    watch.stop()


class Sleeper:
    def __init__(self) -> None:
        self.told: list[str] = []
        self.changed = asyncio.Event()

    def slept(self) -> None:
        self.told.append("slept")

    def network_changed(self) -> None:
        self.told.append("network")
        self.changed.set()


async def test_sleeps_and_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_sleep(2.9, 2.9)
    assert is_sleep(3, 3)
    assert is_sleep(1, 3)
    assert not is_sleep(1, -100)
    assert len(local_addresses()) == 2
    sleeper = Sleeper()
    wake = Wake(sleeper)
    wake.look()  # it has not begun
    addresses = ("192.168.1.2", "")
    monkeypatch.setattr(_wake, "local_addresses", lambda: addresses)
    monkeypatch.setattr(_wake, "_TICK", 0.02)
    wake.start()
    await asyncio.sleep(0.1)
    assert sleeper.told == []
    addresses = ("10.0.0.2", "")
    await sleeper.changed.wait()
    assert sleeper.told == ["network"]
    wake._day -= 5
    wake.look()
    assert sleeper.told == ["network", "slept"]
    wake.stop()
    wake._day -= 5
    wake.look()
    assert len(sleeper.told) == 2


async def test_a_client_that_slept_asks_at_once() -> None:
    async with edges(1) as (edge,), tried(edge.url, min_back_off=3600, max_back_off=3600) as it:
        peer = await edge.peer(0)
        session = it.client._session
        session.network_changed()
        await peer.until("PING")
        await it.client.flush()
        current = session.current
        assert current is not None
        current._liveness.heard -= 3
        session.slept()
        await peer.lines.until(lambda _: peer.count("PING") == 3)
        edge.refusal = 503, "draining"
        peer.kill()
        await it.event("reconnecting", 1)
        edge.refusal = None
        session.slept()  # a back-off ends when the client wakes
        await it.event("reconnected")


def test_pauses() -> None:
    s = settings(token="AT_a", min_back_off=1, max_back_off=8)
    assert back_off(1, s) == 0
    for attempt, most in ((2, 1), (3, 2), (4, 4), (5, 8), (6, 8), (5000, 8)):
        pauses = [back_off(attempt, s) for _ in range(200)]
        assert max(pauses) <= most
        assert max(pauses) > most / 2
        assert min(pauses) < most / 2
    assert pause_before(0, 0) == 240
    assert pause_before(0, 1) == 360
    assert pause_before(3, 0) == 1920
    assert pause_before(500, 0.5) == 3600
    assert not can_webtransport("http://127.0.0.1", settings(token="AT_1"))
