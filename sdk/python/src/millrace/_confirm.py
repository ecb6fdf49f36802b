"""Publishes that an edge answers (docs/protocol.md, History)."""

from __future__ import annotations

import asyncio
from typing import Any

from ._connection import Connection
from ._state import SessionState
from ._timers import any_settled, back_off, now, settled
from .errors import MillraceError, disconnected

_LONGEST = 100.0  # seconds; an edge knows keys for 2 minutes
# Refusals that may pass, of a publish whose outcome is unknown: a repeat may find it stored.
_PASSING = ("unconfirmed", "history_unavailable", "try_later")


class _OutOfTime(Exception):  # noqa: N818
    pass


async def publish_confirmed(
    s: SessionState, id_: int, frame: bytes, to_one: bool, key: bytes | None, tenant: str, channel: str
) -> str | None:
    """Publish a frame that has an id, and return its position.

    With a key it is repeated while it is not known whether it was stored. Once that is so, the error is
    outcome_unknown, whatever comes later: that a repeat is refused says nothing of what was sent before.
    """
    position = await _Confirmed(s, id_, frame, to_one, key is not None, tenant, channel).run()
    if position is not None:
        s.subscriber.own.add(tenant, channel, position, key or b"")
    return position


class _Confirmed:
    def __init__(
        self, s: SessionState, id_: int, frame: bytes, to_one: bool, keyed: bool, tenant: str, channel: str
    ) -> None:
        self._s = s
        self._id = id_
        self._frame = frame
        self._to_one = to_one
        self._keyed = keyed
        self._tenant = tenant
        self._channel = channel
        self._unknown = False  # an attempt may have been stored
        self._end = now() + _LONGEST
        self._c: Connection | None = None

    async def run(self) -> str | None:
        try:
            return await self._try()
        except (_OutOfTime, MillraceError) as err:
            why = err if isinstance(err, MillraceError) else disconnected()
            if not self._unknown:
                raise why from None
            raise MillraceError(
                "outcome_unknown",
                "no edge has said whether a subscriber got the message"
                if self._to_one
                else "no edge has said whether the message is stored",
                tenant=self._tenant,
                channel=self._channel,
                cause=why,
            ) from why
        finally:
            if self._c is not None:
                self._c.forget_confirm(self._id)

    async def _try(self) -> str | None:
        attempt = 2
        while True:
            answer = await self._send()
            try:
                await self._until(answer)
                return answer.result()
            except _OutOfTime:
                self._unknown = True
                raise
            except MillraceError as err:
                lost = err.code == "disconnected"
                self._unknown = self._unknown or lost or err.code == "unconfirmed"
                if not (self._unknown and self._keyed and (lost or err.code in _PASSING)):
                    raise MillraceError(
                        err.code, err.text, tenant=self._tenant, channel=self._channel
                    ) from None
                if not lost:
                    await settled([self._s.changed()], min(back_off(attempt, self._s.settings), self._left()))
            attempt += 1

    async def _send(self) -> asyncio.Future[str | None]:
        """Send it, when there is a connection that publishes go to, and its edge confirms them.

        It is sent at once, if that is so: publishes go in order. Without a connection it waits for one if
        there is a key.
        """
        while True:
            gated = self._s.gated(self._send_now)
            try:
                await self._until(gated)
            finally:
                gated.cancel()
            answer, wanted = gated.result()
            if answer is not None:
                return answer
            if wanted is not None:
                await self._until(wanted)

    def _send_now(self) -> tuple[asyncio.Future[str | None] | None, asyncio.Future[None] | None]:
        """Return the answer that is to come; or what it has to wait for."""
        s = self._s
        if s.over is not None:
            raise s.over.again()
        c = s.publish_on or s.current
        if c is None or not c.alive:
            if not self._keyed:
                raise disconnected()
            return None, s.changed()
        if c.histories is None:
            return None, c.featured
        if not (c.histories or c.work_queues):
            raise MillraceError(
                "no_history",
                "the edge is of an earlier version without histories, and confirms nothing: publish without confirm",
                tenant=self._tenant,
                channel=self._channel,
            )
        self._c = c
        return c.confirm(self._frame, self._id, self._tenant, self._channel), None

    async def _until(self, waiter: asyncio.Future[Any]) -> None:
        await any_settled([waiter], self._left())
        if not waiter.done():
            raise _OutOfTime

    def _left(self) -> float:
        return max(0.0, self._end - now())
