"""Decides what a client does next, by what its connections and the machine tell."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence

from . import _reconnect
from ._address import Address
from ._connection import Connection
from ._emitter import Handler
from ._move import move
from ._reasons import NOT_SAID, Denial, refusal_text
from ._searcher import Searcher
from ._state import SessionState
from ._suspect import suspect
from ._timers import back_off, future, now, resolve, settled
from ._token import TokenSource
from ._upgrade import Upgrade
from ._wake import Wake
from .errors import MillraceError, own_fault
from .events import (
    Closed,
    Connected,
    Connecting,
    EdgeError,
    Limited,
    PublishError,
    Recovered,
    RoundTrip,
    SlowConsumer,
    Suspect,
)
from .options import Settings

_LIMITED = 60.0  # seconds for which the client says that it is limited
_SILENCE = 3.0  # seconds of a tentative next connection
_FINAL = re.compile(r".*_not_allowed|token_revoked")
_PUBLISH = re.compile(r"PUB:([^:]+):(.+)", re.DOTALL)


class _Run:
    """A task, while it is the one that runs."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None] | None = None
        self.started = False


class Session(SessionState):
    """One client.

    Moves, suspicions and reconnects are tasks; one runs at most. A trail and a way back to
    WebTransport may go on beside it.
    """

    def __init__(self, addresses: Sequence[Address], settings: Settings, on: Mapping[str, Handler]) -> None:
        super().__init__(settings, on)
        self.tokens = TokenSource(settings, self.handlers, self.move_if_due, self._token_failed)
        self._wake = Wake(self)
        self.searcher = Searcher(addresses, settings, self.tokens, self, self._wake.look)
        self.closed: asyncio.Future[MillraceError | None] = future()
        """Done at the end, with the error or None."""
        self._run: _Run | None = None
        self._upgrade = Upgrade(self)
        self.limited_until = 0.0

    @property
    def state(self) -> SessionState:
        return self

    async def start(self) -> None:
        """Connect, the first time. To cancel it leaves nothing behind."""
        try:
            c = await self._first()
        except BaseException:
            self._finish_quietly()
            raise
        self.set_current(c)
        self.since = now()
        self._wake.start()
        self._upgrade.follow(c)
        self.events.emit(Connected(self.edge, self.transport))
        self.linked()
        self.move_if_due()  # it may drain already

    async def _first(self) -> Connection:
        attempt = 1
        while True:
            try:
                return await self.searcher.first()
            except MillraceError as err:
                if self.settings.fail_fast or not self.searcher.may_help:
                    raise
                attempt += 1
                delay = max(back_off(attempt, self.settings), self.searcher.least_wait)
                self.events.emit(Connecting(attempt, delay, err))
                await self.pause(delay)

    def _finish_quietly(self) -> None:
        self.over = MillraceError("closed", "the client has been closed")
        self.tokens.stop()
        self.tasks.cancel()
        resolve(self.closed, None)

    def set_current(self, c: Connection) -> None:
        super().set_current(c)
        if self.since:
            self._upgrade.follow(c)

    def move_if_due(self) -> None:
        """Start the move that is due, if there is one."""
        c = self.current
        if self._run is not None or self.over is not None or c is None or not c.alive or not self.since:
            return
        if c.drains:
            self.run(lambda: move(self, c, "drain"))
        elif c.token != self.tokens.token:
            self.run(lambda: move(self, c, "token"))

    @property
    def idle(self) -> bool:
        """Nothing goes on, and nothing has to: it may move because it would like to."""
        c = self.current
        if self._run is not None or self.over is not None or c is None or not c.alive or c.drains:
            return False
        return self.merger is None or self.merger.done(now())

    def run(self, task: Callable[[], Awaitable[None]], unstarted: Callable[[], object] | None = None) -> None:
        """Run a task until it ends, another one takes its place, or the end.

        unstarted is called if it was never begun.
        """
        self._stop_run()
        own = self._run = _Run()
        own.task = self.tasks.spawn(lambda: self._running(own, task))
        if unstarted is not None:
            undo = unstarted
            own.task.add_done_callback(lambda _: None if own.started else undo())

    def _stop_run(self) -> None:
        run, self._run = self._run, None
        if run is not None and run.task is not None:
            run.task.cancel()

    async def _running(self, own: _Run, task: Callable[[], Awaitable[None]]) -> None:
        own.started = True
        try:
            await task()
        except MillraceError as err:
            if self._run is own:
                self.finish(err)
            return
        if self._run is own:
            self._run = None
            self.move_if_due()

    def fault(self, err: BaseException) -> None:
        self.finish(own_fault(err))

    # Owner

    def draining(self, source: Connection) -> None:
        if source is self.current:
            self.move_if_due()

    def error_line(self, code: str, detail: str, denial: Denial = NOT_SAID) -> None:
        publish = _PUBLISH.fullmatch(detail)
        if code == "slow_consumer":
            self.events.emit(SlowConsumer(_number(detail)))
        elif code in ("egress_limited", "ingress_limited"):
            self.limited_until = now() + _LIMITED
            self.events.emit(Limited("in" if code == "egress_limited" else "out", float(_number(detail))))
        elif publish is not None and code != "broker_unavailable":
            tenant, channel = publish.groups()
            text = refusal_text(code, "PUB", tenant, channel, denial)
            self.events.emit(PublishError(tenant, channel, code, text))
        else:
            self.events.emit(EdgeError(code, detail))

    def _token_failed(self, error: MillraceError) -> None:
        if error.code != "logged_out":
            self.events.emit(EdgeError(error.code, error.text, error.__cause__))
        elif self.since:  # else connecting fails with it
            self.finish(error)

    def round_trip(self, rtt: float) -> None:
        self.rtt = rtt
        self.events.emit(RoundTrip(rtt))

    def silent(self, source: Connection) -> bool:
        c = self.current
        if source is self.next and self.tentative and now() - source.last_byte >= _SILENCE:
            source.fail(MillraceError("timeout", "the edge does not answer"))
        busy = self._run is not None or self.gate is not None or self.reconnecting or self.over is not None
        # An edge that drains may be slow to answer.
        if source is not c or busy or not self.since or source.drains:
            return False
        self.suspected = source
        if self.trail is not None:
            self.trail.hold(True)
        self.searcher.note_silent(source)
        self.events.emit(Suspect(self.edge, self.transport))
        self.gate = []
        self.run(lambda: suspect(self, source))
        return True

    def woke(self, source: Connection) -> None:
        if source is not self.suspected:
            return
        self.searcher.note_silent(source, True)
        self._stop_run()
        if self.next is not None:
            self.next.close()
            self.next = None
        self.keep_current()
        self.events.emit(Recovered(self.edge, self.transport, 0.0))
        self.open_gate(None)
        self.move_if_due()

    def lost(self, source: Connection, error: MillraceError) -> None:
        self.report_unread(source)
        code = error.code
        final = _FINAL.fullmatch(code) or (code == "token_expired" and not self.tokens.provided)
        # One that may take over is no reason to end: the current one may be back.
        spare = source is self.next and self.suspected is not None
        if final and source.token == self.tokens.token and not spare:
            self.finish(error)
            return
        if error.close_code is None and code in ("disconnected", "timeout"):
            self.searcher.note_silent(source)
        if source is self.next and not self.leaving:
            self.next = None  # the current connection delivers the same, unless it is lost, too
            if not spare:
                self.open_gate(None)
            elif self.merger is not None:
                self.merger.orphan()
        elif source is self.current and self.suspected is None and (self.gate is not None or self.publish_on):
            self.promote()
        elif source is self.current or source is self.next:
            self._lose(source, error)

    def _lose(self, source: Connection, error: MillraceError) -> None:
        """Take the loss of the connection that has the subscriptions."""
        self.suspected = None
        if self.trail is not None:
            self.trail.hold(False)
        if source is self.current:
            if self.next is not None:
                self.next.close()  # it has yet to subscribe
                self.next = None
            self.give_held()
        self.promote()  # the current one has no subscriptions any more
        if not self.reconnecting:
            _reconnect.begin(self, source, error)
            self.run(lambda: _reconnect.reconnect(self, source))

    # Sleeper

    def slept(self) -> None:
        for c in (self.current, self.next):
            if c is not None:
                c.awake(False)
        self.hurry()

    def network_changed(self) -> None:
        for c in (self.current, self.next):
            if c is not None:
                c.awake(True)
        self.hurry()
        self._upgrade.soon()

    def retry(self) -> None:
        """Try now to reconnect, if the client waits for that."""
        if self.reconnecting and self.hurry():
            self.attempts = 1

    # The end

    def finish(self, error: MillraceError | None) -> None:
        """End the client; the first time counts."""
        if self.over is not None:
            return
        self.over = MillraceError("closed", "the client has been closed", cause=error)
        self._stop_run()
        self.tokens.stop()
        self._upgrade.stop()
        self._wake.stop()
        for c in (self.current, self.next):
            if c is not None and (error is not None or c is self.suspected):
                self.report_unread(c)
        self.presences.end(error, self.over)
        ended = [c.close() for c in (self.current, self.next) if c is not None]
        trail = self.trail
        if trail is not None:
            ended.append(trail.stop())
        self.open_gate(None)
        if error is not None:
            self.give_held()
            if trail is not None:
                trail.flush()
        self.subscriber.end(error, self.over)
        self.events.emit(Closed(error))
        self.tasks.cancel()
        self.tasks.spawn(lambda: self._settle(ended, error))

    async def _settle(self, ended: Sequence[asyncio.Future[None]], error: MillraceError | None) -> None:
        await settled(ended)
        await self.tasks.over()
        resolve(self.closed, error)

    async def end(self) -> None:
        """Wait until everything has ended, also what calls functions of the application."""
        await asyncio.shield(self.closed)
        await self.tasks.over()
        await self.handlers.over()


def _number(detail: str) -> int:
    """Return a number of an ERR line; 0 if it is no number."""
    return int(detail) if re.fullmatch(r"[0-9]{1,15}", detail) else 0
