"""Asks the connections of a session for what the application has subscribed to."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from ._connection import Connection
from ._emitter import Emitter
from ._interests import Interest, Interests
from ._loud import Loud
from ._own import OwnPositions
from ._place import Place
from ._tasks import Tasks
from ._timers import back_off, first, settled, together
from ._wire import Delivered, ServerLine
from .errors import MillraceError, bad_option
from .events import Discarded, EdgeError, Gap, QueueFull, SubscriptionError
from .message import Message
from .options import Settings
from .subscription import Subscription

GAP_REASONS = ("expired", "purged", "late", "lost", "behind", "no_right", "no_history")


class Connections(Protocol):
    """What a subscriber needs of its session, as SessionState has it."""

    settings: Settings
    events: Emitter
    tasks: Tasks
    current: Connection | None
    next: Connection | None
    suspected: Connection | None
    leaving: bool
    over: MillraceError | None
    gaps: bool
    loud: Loud


class Subscriber:
    """The subscriptions of one client."""

    def __init__(self, s: Connections) -> None:
        self.interests = Interests()
        self.own = OwnPositions()
        self.asking: set[asyncio.Task[None]] = set()
        """The SUBs without an answer."""
        self._s = s
        self._leaving: dict[str, Subscription] = {}  # those that an edge may still have messages for
        self.loud = s.loud
        self.interests.sender_read = None if s.settings.sender else s.loud.sender_read

    async def restore(self, c: Connection) -> None:
        """Ask a connection for all patterns; return when it has them, or is lost.

        Those with a history go to the current connection alone: to another one when it takes over, see
        resume.
        """
        interests = self.interests.all
        if any(interest.place is not None for interest in interests):
            await settled([c.featured])
        here = c is self._s.current
        await settled([self.ask(c, i) for i in interests if not i.draining and (here or i.place is None)])

    def resume(self, c: Connection) -> None:
        """Ask a connection that has become the current one for the patterns with a history."""
        for interest in self.interests.all:
            if interest.place is not None and not interest.draining:
                self.ask(c, interest)

    def give_credit(self, c: Connection) -> None:
        """Let a connection have messages to one subscriber, as many as the queues have room for."""
        c.is_credited = True
        for interest in self.interests.all:
            self._credit(c, interest)

    def _credit(self, c: Connection, interest: Interest) -> None:
        """Ask for as many messages as there is room for, if that is half of the queue at least."""
        if not (c.alive and c.is_credited and interest.name in c.confirmed and interest.subs):
            return
        if not c.featured.done():
            c.featured.add_done_callback(lambda _: self._credit(c, interest))
            return
        if not c.work_queues or interest.draining:
            return
        room = min(sub._limit for sub in interest.subs)
        left = c.credit.get(interest.name, 0)
        free = room - max(sub._jobs for sub in interest.subs) - left
        if free > 0 and 2 * free >= room:
            c.credit[interest.name] = left + free
            c.send_credit(interest.name, free)

    def was_taken(self, sub: Subscription) -> None:
        """The application is done with a message to one subscriber."""
        interest = self.interests.of(sub.tenant, sub.pattern)
        for c in (self._s.current, self._s.next):
            if c is not None and interest is not None:
                self._credit(c, interest)

    def to_one(self, source: Connection, m: Delivered) -> None:
        """Give a message to one subscriber, which came on no other connection, and on none again."""
        found = False
        for pattern in m.patterns:
            name = f"{m.tenant}:{pattern}"
            if name in source.credit:
                source.credit[name] -= 1
            if self.interests.of(m.tenant, pattern) is not None:
                found = True
            elif (sub := self._leaving.get(name)) is not None:
                found = True
                sub._thrown += 1
        if not found:
            self.loud.once(
                "to_one", "closed", f"a message of {m.channel} in {m.tenant} came after its subscription"
            )
        self.interests.dispatch(m)

    def stored(self, source: Connection, m: Delivered, position: str) -> None:
        """Give a message with a position to its subscription."""
        tenant, channel, payload, patterns, _, sender, _, own = m
        interest = self.interests.of(tenant, patterns[0])
        if interest is None:
            return
        place = interest.place
        if place is None or not place.takes(source, position):
            return
        place.start = position
        if own is None:
            own = self.own.key_of(tenant, channel, position)
        asks = self.interests.sender_read
        message = Message(
            tenant, channel, payload, interest.pattern, patterns, False, position, sender, own, False, asks
        )
        room = interest.subs[0]._push_stored(message)
        if not room and self.interests.has(interest):
            place.pause()
            source.leave(interest.name)
        interest.confirm()  # a long past would fill the queue before anybody can read it

    def reached(self, source: Connection, line: ServerLine) -> None:
        """Take OK:RSUB, AT or GAP."""
        kind, tenant, pattern, position = line.kind, line.tenant, line.pattern, line.position
        interest = self.interests.of(tenant, pattern)
        place = interest.place if interest is not None else None
        if interest is None or place is None or place.plain:
            return
        if place.on is not source or not place.open:
            # What a full queue leaves at the edge begins again later. But the edge also says so late
            # that something is missing among what the queue has, and may not find it again.
            if kind == "GAP" and place.paused and source is self._s.current:
                self._gap(interest, position, line.reason)
            return
        # A store that does not know the position goes back, as GAP says.
        if kind == "GAP" or place.takes(source, position):
            place.start = position
            for sub in interest.subs:
                sub._reach(position)
        if kind == "GAP":
            place.told = True  # before what follows it; OK:RSUB says again that there was one
            self._gap(interest, position, line.reason)
        elif kind == "OK:RSUB":
            interest.confirm()
            if line.how == "gap" and not place.told:
                self._gap(interest, position)
            elif place.lossy:
                self._gap(interest, reason=place.refusal)

    def _gap(self, interest: Interest, before: str | None = None, reason: str = "") -> None:
        self._s.gaps = True
        known = reason if reason in GAP_REASONS else "unknown"
        self._s.events.emit(Gap(interest.tenant, interest.pattern, before, known))

    def was_read(self, sub: Subscription) -> None:
        """The queue of a subscription with a history has room again."""
        interest = self.interests.of(sub.tenant, sub.pattern)
        if interest is None or interest.place is None or interest.place is not sub._place:
            return
        interest.place.paused = False
        if self._s.current is not None:
            self.ask(self._s.current, interest)

    def ask(self, c: Connection, interest: Interest) -> asyncio.Task[None]:
        """Ask a connection for a pattern; done when it has answered, or is lost."""
        task = self._s.tasks.spawn(lambda: self._ask(c, interest))
        self.asking.add(task)
        task.add_done_callback(self.asking.discard)
        return task

    async def _ask(self, c: Connection, interest: Interest) -> None:
        try:
            if interest.place is not None:
                await self._resumed(c, interest, interest.place)
            else:
                await self._confirmed(c, interest)
        except MillraceError as error:
            if error.code == "disconnected":
                return
            # One that may take over cannot, then; the current one has the subscription, and may wake.
            if interest.confirmed and self._s.suspected is not None and c is self._s.next:
                c.fail(error)
            else:
                self._refuse(interest, error)

    async def _resumed(self, c: Connection, interest: Interest, place: Place) -> None:
        """Return when the current connection has a pattern with a history, or something came in between.

        It waits until the edge has said what it knows, and until an earlier subscription to the same pattern
        has ended: what comes of that is not this one's.
        """
        if place.paused:
            self._s.gaps = True  # it is asked when there is room again: it is not complete so far
        if place.paused or place.on is c:
            return
        turn = place.begin(c)
        attempt = 2
        while True:
            await settled([c.featured])
            await settled([c.ending.get(interest.name)])
            if not c.alive or place.on is not c or not self.interests.has(interest):
                return
            plain = not c.histories or place.unwanted
            start = "now" if place.forbidden else place.start
            before = interest.had
            # What comes without positions cannot be gone on behind.
            if plain:
                place.lossy = before or start != "now"
                place.start = "now"
            else:
                place.lossy = place.forbidden or (before and start == "now")
            place.plain = plain
            place.open = True
            try:
                if not plain:
                    await c.resume(interest.name, start)  # see reached
                    return
                await c.request("SUB", interest.name)
                if self.interests.has(interest):
                    interest.confirm()
                    self._credit(c, interest)
                    if place.lossy:
                        self._gap(interest, reason=place.refusal)
                return
            except MillraceError as error:
                if not place.is_turn(turn):
                    return  # it was left before its answer, and asked for again since
                code = error.code
                if code == "history_unavailable":
                    self._s.gaps = True  # so far it is not known that nothing is missing
                    self._s.events.emit(EdgeError(code, f"RSUB:{interest.name}"))
                    return
                place.open = False
                if code == "permission_denied" and not plain and start != "now":
                    place.forbidden = True
                elif code == "no_history" and before:
                    place.unwanted = True
                elif code == "try_later" and before:
                    if attempt == 2:
                        self._s.events.emit(
                            SubscriptionError(interest.tenant, interest.pattern, code, detail=error.text)
                        )
                    await c.postpone(interest.name, back_off(attempt, self._s.settings))
                    c.postponed.discard(interest.name)
                    attempt += 1
                else:
                    raise

    async def _confirmed(self, c: Connection, interest: Interest) -> None:
        """Return when a connection has a pattern.

        While the edge says try_later, it is asked again for one that has been confirmed before; another one
        is refused.
        """
        attempt = 2  # the attempt 1 would be one without a pause
        while self.interests.has(interest):
            try:
                await c.request("SUB", interest.name)
                if self.interests.has(interest):
                    interest.confirm()
                    self._credit(c, interest)
                return
            except MillraceError as error:
                if error.code != "try_later" or not interest.had:
                    raise
                if attempt == 2:
                    self._s.events.emit(
                        SubscriptionError(interest.tenant, interest.pattern, error.code, detail=error.text)
                    )
            await c.postpone(interest.name, back_off(attempt, self._s.settings))
            attempt += 1

    def _refuse(self, interest: Interest, error: MillraceError) -> None:
        """End the subscriptions to a pattern that an edge refuses."""
        if not self.interests.drop(interest):
            return
        for c in (self._s.current, self._s.next):
            if c is not None and c.forget(interest.name):
                c.leave(interest.name)
        if interest.had:
            self._s.events.emit(
                SubscriptionError(interest.tenant, interest.pattern, error.code, detail=error.text)
            )
        for sub in interest.subs:
            sub._end(error)
        interest.settle(error)

    @property
    def subscriptions(self) -> list[Subscription]:
        """All that the application has, and has not ended."""
        return [sub for interest in self.interests.all for sub in interest.subs]

    async def subscribe(self, sub: Subscription) -> None:
        """Return when the edge has acknowledged a subscription. To cancel it undoes it."""
        await self._left(sub.tenant, sub.pattern)
        if self._s.over is not None:
            raise self._s.over.again()
        same = self.interests.of(sub.tenant, sub.pattern)
        if same is not None and (same.place is not None or sub._place is not None):
            raise bad_option(
                f"the client has a subscription to {sub.pattern} in {sub.tenant} already, and one with a history is "
                "alone: unsubscribe from it first, or share it"
            )
        interest, is_new = self.interests.add(sub)
        if interest.confirmed:
            self.was_taken(sub)  # its queue counts from now on
            return
        answer = interest.wait(sub)
        if is_new:
            if self._s.current is not None and not self._s.leaving:
                self.ask(self._s.current, interest)
            if self._s.next is not None and interest.place is None:
                self.ask(self._s.next, interest)
        try:
            await answer
        except asyncio.CancelledError:
            sub._end(None)
            self.leave(sub)
            raise

    async def _left(self, tenant: str, pattern: str) -> None:
        """Return when the edge has ended an earlier subscription: what comes until then is of that one."""
        name = f"{tenant}:{pattern}"
        while (interest := self.interests.of(tenant, pattern)) is None or interest.draining:
            conns = (self._s.current, self._s.next)
            ending = [c.ending[name] for c in conns if c is not None and name in c.ending]
            ending = [left for left in ending if not left.done()]
            if not ending:
                return
            await settled(ending)

    def leave(self, sub: Subscription) -> asyncio.Future[Any] | None:
        """End a subscription at the edge; what is returned is done when that has ended it."""
        interest = self.interests.remove(sub)
        left = None if interest is None else self._leave(interest)
        if left is not None and interest is not None:
            name = interest.name
            self._leaving[name] = sub
            left.add_done_callback(
                lambda _: self._leaving.pop(name, None) if self._leaving.get(name) is sub else None
            )
        return left

    def drain(self, sub: Subscription) -> asyncio.Future[Any] | None:
        """Leave the edge, and take what it still sends until it has ended the subscription: then it is done."""
        interest = self.interests.of(sub.tenant, sub.pattern)
        if interest is None or sub not in interest.subs:
            return None
        if len(interest.subs) > 1:
            self.interests.remove(sub)
            return None
        interest.draining = True
        left = self._leave(interest)
        if left is None:
            self.interests.remove(sub)
        else:
            left.add_done_callback(lambda _: self.interests.remove(sub))
        return left

    def _leave(self, interest: Interest) -> asyncio.Future[Any] | None:
        name, place = interest.name, interest.place
        answers = []
        for c in (self._s.current, self._s.next):
            if c is not None and (c.forget(name) or (place is not None and place.on is c)):
                c.credit.pop(name, None)
                answers.append(c.leave(name))
        if not answers:
            return None
        return first(answers) if self._s.suspected is not None else together(answers)

    def queue_full(self, sub: Subscription, dropped: int) -> None:
        """Tell that a queue is full."""
        self._s.events.emit(QueueFull(sub.tenant, sub.pattern, dropped))

    def discarded(self, sub: Subscription, count: int) -> None:
        """Tell of messages to one subscriber that nobody gets."""
        self._s.events.emit(Discarded(sub.tenant, sub.pattern, count))

    def end(self, error: MillraceError | None, gone: MillraceError) -> None:
        """End all subscriptions; error is why, gone what those get that still wait."""
        for interest in self.interests.all:
            self.interests.drop(interest)
            for sub in interest.subs:
                sub._end(error)
                if sub._thrown:
                    self.discarded(sub, sub._thrown)
            interest.settle(error or gone)
