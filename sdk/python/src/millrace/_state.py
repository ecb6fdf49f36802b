"""The connections of a client, and what goes where."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from ._connection import Connection
from ._emitter import Emitter, Handler
from ._handlers import Handlers
from ._link import Transport
from ._loud import Loud
from ._merger import Merger
from ._presence_frame import PresenceFrame
from ._presences import Presences
from ._searcher import Searcher
from ._subscriber import Subscriber
from ._tasks import Tasks
from ._timers import future, now, reject, resolve, settled
from ._token import TokenSource
from ._trail import Trail
from ._wire import Delivered, ServerLine
from .errors import MillraceError, disconnected
from .events import LinkDown, LinkUp, PublishUnknown, Recovered
from .options import Settings

T = TypeVar("T")


class SessionState:
    """Holds the connections of a client.

    They are the current one, while it moves or suspects that the next one, or none while it reconnects. It
    gives their messages to the application, and knows where publishes go. Session decides what happens next;
    its tasks know this state alone.
    """

    tokens: TokenSource
    searcher: Searcher

    def __init__(self, settings: Settings, on: Mapping[str, Handler]) -> None:
        self.settings = settings
        self.tasks = Tasks(self.fault)
        self.handlers = Handlers()
        self.loud = Loud(settings.logger)
        self.events = Emitter(self.handlers, on, self.loud)
        self.current: Connection | None = None
        """Gives messages to the application; its publishes go here, too, unless publish_on is set."""
        self.next: Connection | None = None
        """The connection that a move goes to, or that may take over."""
        self.suspected: Connection | None = None
        """The current connection, while it brings nothing and another one may take over."""
        self.tentative = False
        """The next connection is given up if it says nothing, and nobody is told."""
        self.trail: Trail | None = None
        """The connection that was taken over from."""
        self.publish_on: Connection | None = None
        """Where publishes go during a move, once the first edge has handled what it had."""
        self.gate: list[Callable[[], None]] | None = None
        """What waits for that, or for the end of a suspicion: publishes and flushes."""
        self.merger: Merger | None = None
        """Of a move or a suspicion, and for a second after it."""
        self.both = False
        """Two connections bring messages, and the merger's current one is ours; else that is the next one."""
        self.gaps = False
        """Since the connection was lost, a gap was told."""
        self.reconnecting = False
        """Between a loss and the restored subscriptions."""
        self.leaving = False
        """UNSUB has been sent on the current connection."""
        self.edge = ""
        self.transport: Transport = "websocket"
        self.rtt: float | None = None
        self.since = 0.0
        """When the connection was complete, for the back-off; 0: it never was."""
        self.attempts = 0
        self.over: MillraceError | None = None
        """Set at the end; what needs a connection raises it."""
        self.subscriber = Subscriber(self)
        self.presences = Presences(self)
        self._link_up = True  # of the current connection, as the application was told
        self._pauses: set[asyncio.Future[None]] = set()
        self._changed: list[asyncio.Future[None]] = []  # waits for another connection

    def fault(self, err: BaseException) -> None:
        """Take what a task of the client raised and should not."""
        raise NotImplementedError

    def set_current(self, c: Connection) -> None:
        """Make a connection the current one."""
        self.current = c
        self.edge, self.transport = c.edge, c.transport
        self.linked()
        self.presences.follow(c)
        self.subscriber.give_credit(c)
        self._change()

    async def restore(self, c: Connection) -> None:
        """Ask a connection for all that the application has; return when it has that, or is lost."""
        asked = self.presences.restore(c)
        await self.subscriber.restore(c)
        await settled(asked)

    def _change(self) -> None:
        waiting, self._changed = self._changed, []
        for waiter in waiting:
            resolve(waiter, None)

    def changed(self) -> asyncio.Future[None]:
        """Return what is done when there is another connection, and at the end."""
        waiter: asyncio.Future[None] = future()
        self._changed.append(waiter)
        waiter.add_done_callback(lambda w: self._changed.remove(w) if w in self._changed else None)
        return waiter

    # Of Owner

    def linked(self) -> None:
        c = self.current
        if not self.since or c is None or c.link is None or c.link == self._link_up:
            return
        self._link_up = c.link
        self.events.emit(LinkUp(c.edge) if c.link else LinkDown(c.edge))

    def reached(self, source: Connection, line: ServerLine) -> None:
        self.subscriber.reached(source, line)

    def present(self, source: Connection, frame: PresenceFrame) -> None:
        self.presences.take(source, frame)

    def withdrawn(self, source: Connection, key: str) -> None:
        self.presences.withdrawn(source, key)

    def delivered(self, source: Connection, message: Delivered) -> None:
        if message.position is not None:
            self.subscriber.stored(source, message, message.position)
        elif message.to_one:  # once, on one connection
            self.subscriber.to_one(source, message)
        elif self.merger is None:
            self._give(message)
        else:
            self._merge(self.merger, source, message)

    def _merge(self, merger: Merger, source: Connection, m: Delivered) -> None:
        time = now()
        if source is self.next:
            known = self.current.confirmed if self.current is not None else ()
            unknown = not any(f"{m.tenant}:{pattern}" in known for pattern in m.patterns)
            given = merger.from_next(m, time, unknown)
            if given is not None:
                self._give(given)
        elif self.both:
            if merger.from_current(m, time):
                self._give(m)
        else:
            if not merger.late(m, time):
                self._give(m)
            if merger.done(time):
                self.merger = None

    def _give(self, m: Delivered) -> None:
        """Give a message to the application, unless a trail has given it."""
        if self.trail is None or self.trail.from_current(m):
            self.subscriber.interests.dispatch(m)

    async def merged(self) -> None:
        """Wait until no note of the last move is good any more: it would count for the next one."""
        while self.merger is not None and not self.merger.done(now()):  # noqa: ASYNC110 (time is awaited)
            await asyncio.sleep(0.05)

    # Handing over

    def report_unread(self, c: Connection) -> None:
        """Tell of the publishes on a connection that is left, which its edge may not have read."""
        count = c.take_unread()
        if count:
            self.events.emit(PublishUnknown(c.edge, c.transport, count))

    def promote(self) -> None:
        """Make the next connection the current one, and leave that."""
        current, to = self.current, self.next
        if to is None:
            return
        if current is not None:
            self.report_unread(current)
        self.set_current(to)
        self.next = None
        self.both = self.leaving = False
        self.open_gate(None)
        self.give_held()
        if current is not None:
            current.close()
        self.subscriber.resume(to)

    def take_over(self, source: Connection, to: Connection) -> None:
        """Make the next connection the current one, while that is suspect; it trails from now on."""
        if self.trail is not None:
            self.trail.hold(False)
        away = now() - source.last_byte
        self.report_unread(source)
        self.trail = Trail(
            source,
            self.merger.given if self.merger is not None else (),
            lambda m: self.subscriber.interests.dispatch(m, not m.to_one),
            self._trailed,
            self.trail,
        )
        self.suspected = self.next = None
        self.both = self.tentative = False
        self.set_current(to)
        self.since = now()
        self.events.emit(Recovered(self.edge, self.transport, away))
        self.give_held()
        self.open_gate(None)
        self.subscriber.resume(to)

    def _trailed(self, trail: Trail) -> None:
        if self.trail is trail:
            self.trail = None

    def keep_current(self) -> None:
        """Go on with the current connection: there is no next one any more."""
        self.suspected = None
        if self.trail is not None:
            self.trail.hold(False)
        if self.both and self.merger is not None:
            self.merger.keep_current(now())
        self.both = self.tentative = False

    def give_held(self) -> None:
        """Give what was held back for another connection: nobody else delivers it."""
        for m in self.merger.release() if self.merger is not None else ():
            self._give(m)

    async def pause(self, seconds: float) -> None:
        """Sleep, until the machine wakes at most."""
        if seconds <= 0:
            return
        waiter: asyncio.Future[None] = future()
        timer = asyncio.get_running_loop().call_later(seconds, resolve, waiter, None)
        self._pauses.add(waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._pauses.discard(waiter)

    def hurry(self) -> bool:
        """End all pauses; say whether there was one."""
        for waiter in self._pauses:
            resolve(waiter, None)
        return bool(self._pauses)

    # Publishing

    def open_gate(self, out: Connection | None) -> None:
        """Let go what waited for the first edge; out: where publishes go now, if not to the current one."""
        self.publish_on = out
        waiting, self.gate = self.gate or [], None
        for go in waiting:
            go()
        if self.over is not None:
            self._change()

    def gated(self, act: Callable[[], T]) -> asyncio.Future[T]:
        """Act when the gate is open, in the order of the calls; at once if it is.

        What is returned is done with the result; to cancel it before does not act.
        """
        waiter: asyncio.Future[T] = future()

        def go() -> None:
            if waiter.done():
                return
            try:
                waiter.set_result(act())
            except MillraceError as err:
                reject(waiter, err)

        if self.gate is None:
            go()
        else:
            self.gate.append(go)
        return waiter

    def publish_connection(self) -> Connection:
        """Return the connection that publishes go to now, without waiting; raise if there is none."""
        if self.over is not None:
            raise self.over.again()
        c = self.publish_on or self.current
        if c is None or not c.alive:
            raise disconnected()
        return c
