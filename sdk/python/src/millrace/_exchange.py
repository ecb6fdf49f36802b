"""What is asked of an edge over a link, and the answers."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

from ._link import Link
from ._liveness import Liveness
from ._requests import Confirms, Requests
from ._timers import future, now, reject, resolve
from ._unread import Mark, Unread
from .errors import MillraceError, disconnected


@dataclass(slots=True)
class Ping:
    """A PING without an answer."""

    at: float
    send_time: float
    mark: Mark
    waiter: asyncio.Future[float]


class Exchange:
    """The part of a connection that asks.

    What its methods return may be cancelled: the answer is taken all the same.
    """

    _liveness: Liveness

    def __init__(self, link: Link) -> None:
        self.asked: set[str] = set()
        """The patterns that this connection has been asked for, as `tenant:pattern`."""
        self.confirmed: set[str] = set()
        """Those that it has acknowledged."""
        self.postponed: set[str] = set()
        """Those that it is to be asked for again, as the edge cannot say yet."""
        self.ending: dict[str, asyncio.Future[None]] = {}
        """The UNSUBs without an answer, by `tenant:pattern`."""
        self.alive = True
        self.error: MillraceError | None = None
        """Why it is not alive any more."""
        self._link = link
        self._requests = Requests()
        self._confirms = Confirms()
        self._pings: deque[Ping] = deque()
        self._held: set[asyncio.Future[None]] = set()  # publishes that wait for the transport
        self._unread = Unread()

    def request(self, verb: str, name: str) -> asyncio.Future[None]:
        """Send SUB, UNSUB, LEAVE or UNWHO for `tenant:pattern`; done when the edge has done it."""
        if verb == "SUB":
            self.asked.add(name)
        return self._request(f"{verb}:{name}", f"{verb}:{name}")

    def resume(self, name: str, start: str) -> asyncio.Future[None]:
        """Send RSUB; done when the edge has answered."""
        return self._request(f"RSUB:{name}", f"RSUB:{name}:{start}")

    def stand(self, key: str, count: bool) -> asyncio.Future[None]:
        """Send JOIN or WHO, key, with count for counts; done when the edge has done it."""
        return self._request(key, f"{key}:count" if count else key)

    def _request(self, key: str, line: str) -> asyncio.Future[None]:
        answer = self._answer(key)
        if self.alive:
            self._send(line)
        return answer

    def _answer(self, key: str) -> asyncio.Future[None]:
        if self.alive:
            return self._requests.add(key)
        gone: asyncio.Future[None] = future()
        reject(gone, disconnected(self.error))
        return gone

    def send_credit(self, name: str, n: int) -> None:
        """Let the edge send n more messages to one subscriber for `tenant:pattern`."""
        if self.alive:
            self._link.send(f"CREDIT:{name}:{n}")

    def leave(self, name: str) -> asyncio.Future[None]:
        """Send UNSUB; done when the edge has done it, or the connection has ended."""
        left = self.request("UNSUB", name)
        self.ending[name] = left

        def ended(_: object) -> None:
            if self.ending.get(name) is left:
                del self.ending[name]

        left.add_done_callback(ended)
        return left

    def postpone(self, name: str, seconds: float) -> asyncio.Future[None]:
        """Return what is done after a time, when the edge is to be asked for a pattern again.

        The error is `disconnected` if it is asked for that no more, or not by this owner.
        """
        self.postponed.add(name)
        key = f"AGAIN:{name}"
        answer = self._answer(key)
        timer = asyncio.get_running_loop().call_later(seconds, self._requests.answer, key)
        answer.add_done_callback(lambda _: timer.cancel())
        return answer

    def forget(self, name: str) -> bool:
        """Ask for a pattern no more; say whether it was asked for."""
        self.confirmed.discard(name)
        self.postponed.discard(name)
        while self._requests.answer(f"AGAIN:{name}", disconnected()):
            pass
        was = name in self.asked
        self.asked.discard(name)
        return was

    def ping(self) -> asyncio.Future[float]:
        """Return what is done with the round trip: all that was sent before has been handled."""
        waiter: asyncio.Future[float] = future()
        if not self.alive:
            reject(waiter, disconnected(self.error))
            return waiter
        mark = self._unread.mark()
        self._pings.append(Ping(now(), self._unread.send_time(mark), mark, waiter))
        self._link.send("PING")
        self._liveness.probe()
        if len(self._pings) == 1:
            self._liveness.arm()
        return waiter

    def confirm(self, frame: bytes, id_: int, tenant: str, channel: str) -> asyncio.Future[str | None]:
        """Send a publish with an id; done with the answer."""
        if not self.alive:
            waiter: asyncio.Future[str | None] = future()
            reject(waiter, disconnected(self.error))
            return waiter
        answer = self._confirms.add(id_, len(frame), tenant, channel)
        self._send(frame)
        return answer

    def forget_confirm(self, id_: int) -> None:
        """Give up the answer to a publish."""
        self._confirms.forget(id_)

    def confirmed_all(self) -> asyncio.Future[None]:
        """Return what is done when no publish waits for its answer."""
        return self._confirms.idle()

    def publish(self, frame: bytes, name: str) -> asyncio.Future[None] | None:
        """Send a frame; name is ``tenant:channel``. What is returned is done when it is with the transport; None: it is.

        It is done, too, when the connection has a new owner.
        """
        self._confirms.note(len(frame), name)
        first = self._unread.publish(len(frame), now())
        self._link.send(frame)
        if first:
            self._liveness.arm()
        sent = self._link.sent()
        if sent is None:
            return None
        waiter: asyncio.Future[None] = future()
        self._held.add(waiter)
        waiter.add_done_callback(self._held.discard)
        sent.add_done_callback(lambda _: resolve(waiter, None))
        return waiter

    def _send(self, message: str | bytes) -> None:
        first = self._unread.request(len(message), now(), self._liveness.heard)
        self._link.send(message)
        if first:
            self._liveness.arm()

    def take_unread(self) -> int:
        """Return how many publishes the edge may not have read, of those without an answer. They count once."""
        return self._unread.take()

    @property
    def unread_since(self) -> float | None:
        """Since when something that was sent waits for a sign that the edge reads; None: nothing does."""
        return self._unread.waits(self._liveness.heard)

    @property
    def owed(self) -> bool:
        """The edge owes an answer to something but PING."""
        return self._requests.owed or self._confirms.owed

    def _abandon(self, error: MillraceError) -> None:
        """Tell all that wait for the edge that it does not answer."""
        self._requests.reject(error)
        self._confirms.fail()
        for ping in self._pings:
            reject(ping.waiter, error)
