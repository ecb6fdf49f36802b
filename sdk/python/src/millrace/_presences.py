"""Asks the connections of a session for what the application is present in, and watches."""

from __future__ import annotations

import asyncio
from typing import Any

from ._connection import Connection
from ._presence_frame import PresenceFrame
from ._roster import View, put
from ._standing import Mode, Stand, Standing, wants_count
from ._subscriber import Connections
from ._timers import any_settled, back_off, first, settled, together
from .errors import MillraceError, bad_option
from .events import EdgeError
from .presence import Kept, Membership, Presence


class Presences:
    """The memberships and presences of one client."""

    def __init__(self, s: Connections) -> None:
        self.asking: set[asyncio.Task[None]] = set()
        """The lines without an answer."""
        self._s = s
        self._all: dict[str, Standing] = {}

    async def join(self, tenant: str, channel: str) -> Membership:
        """Return when the edge has acknowledged a membership. To cancel it undoes it."""
        standing = self._standing("JOIN", tenant, channel)
        made = Membership(tenant, channel, self)
        await self._open(standing, made)
        return made

    async def watch(self, tenant: str, pattern: str, count: bool) -> Presence:
        """Return when the edge has told who is present, or how many are. To cancel it undoes it."""
        standing = self._standing("WHO", tenant, pattern)
        if not standing.kept:
            standing.full = not count
        elif not (standing.full or count):
            raise bad_option("the client has a presence with counts of this pattern, and none with members")
        made = Presence(tenant, pattern, self, standing.roster, count)
        await self._open(standing, made)
        return made

    def _standing(self, verb: str, tenant: str, target: str) -> Standing:
        if self._s.over is not None:
            raise self._s.over.again()
        standing = Standing(verb, tenant, target)
        return self._all.setdefault(standing.key, standing)

    async def _open(self, standing: Standing, kept: Kept) -> None:
        standing.kept.append(kept)
        if not self._is_served(standing, kept):
            there = standing.wait(kept)
            for c in self._connections(not self._s.leaving):
                self._settle(c, standing)
            try:
                await there
            except asyncio.CancelledError:
                kept._end(None)
                self.leave(kept)
                raise
        standing.listen(kept)  # what the caller sees now is not told as a change

    def _is_served(self, standing: Standing, kept: Kept) -> bool:
        """Say whether a connection has what one is about."""
        if isinstance(kept, Membership):
            return any(c in standing.on and standing.on[c].answered for c in self._connections())
        view = self._view(standing)
        return view is not None and view.synced

    def _connections(self, current: bool = True) -> list[Connection]:
        """Return those that the application's lines go to."""
        s = self._s
        return [c for c in (s.current if current else None, s.next) if c is not None]

    def _view(self, standing: Standing) -> View | None:
        """Return what the present connection tells, if that is what is wanted."""
        stand = None if self._s.current is None else standing.on.get(self._s.current)
        view = None if stand is None else stand.view
        return view if view is not None and view.counts != standing.full else None

    def is_synced(self, kept: Kept) -> bool:
        """Say whether the present connection has told all."""
        standing = self._of(kept)
        view = None if standing is None else self._view(standing)
        return view is not None and view.synced

    def _of(self, kept: Kept) -> Standing | None:
        verb = "JOIN" if isinstance(kept, Membership) else "WHO"
        standing = self._all.get(f"{verb}:{kept.tenant}:{kept._name}")
        return standing if standing is not None and kept in standing.kept else None

    def leave(self, kept: Kept) -> asyncio.Future[Any] | None:
        """End one at the edge, unless there is another; what is returned is done when that has ended it."""
        standing = self._of(kept)
        if standing is None:
            return None
        standing.remove(kept)
        if standing.kept:
            return None
        answers = []
        for c in [*standing.on]:  # also one that trails, whose edge would keep a member for long
            c.forget(standing.key)
            task = self._settle(c, standing)
            if c in self._connections():
                answers.append(task)
        self._tidy(standing)
        if not answers:
            return None
        return first(answers) if self._s.suspected is not None else together(answers)

    # Over connections

    def restore(self, c: Connection) -> list[asyncio.Task[None]]:
        """Ask a connection for all; what is returned is done when it has answered, or is lost."""
        return [self._settle(c, standing) for standing in [*self._all.values()]]

    def follow(self, c: Connection) -> None:
        """Show what a connection tells that has become the current one, as soon as it has told all."""
        for standing in [*self._all.values()]:
            for other in [*standing.on]:
                if not other.alive:
                    del standing.on[other]
            self._settle(c, standing)
            view = self._view(standing)
            if view is not None and view.synced:
                self._show(standing, view)

    def _show(self, standing: Standing, view: View) -> None:
        standing.roster.show(view)
        standing.settle()

    async def told(self, c: Connection, timeout: float) -> None:
        """Wait until a connection has told what the current one has, is lost, or a time has passed."""
        told = []
        for standing in self._all.values():
            view, stand = self._view(standing), standing.on.get(c)
            if view is not None and view.synced and stand is not None and stand.view is not None:
                told.append(stand.view.told())
        if told:
            await any_settled([c.gone, together(told)], timeout)

    def take(self, source: Connection, frame: PresenceFrame) -> None:
        """Take a presence frame."""
        standing = self._all.get(f"WHO:{frame.tenant}:{frame.pattern}")
        stand = None if standing is None else standing.on.get(source)
        if standing is None or stand is None or stand.view is None:
            return
        view = stand.view
        if view is not self._view(standing):
            put(view.data, view.take(frame))
            return
        standing.roster.take(view, frame)
        if view.synced and standing.waiting:
            self._show(standing, view)

    def withdrawn(self, source: Connection, key: str) -> None:
        """Take it that an edge has ended what it had, as it has no presence for it any more."""
        standing = self._all.get(key)
        stand = None if standing is None else standing.on.get(source)
        if stand is not None and stand.answered:
            stand.mode, stand.answered, stand.view, stand.lacks = None, False, None, True

    # One on one connection

    def _settle(self, c: Connection, standing: Standing) -> asyncio.Task[None]:
        """Ask a connection for what is wanted, or undo it; done when it has answered, or is lost."""
        stand = standing.on.setdefault(c, Stand())
        if stand.task is not None and stand.busy:
            return stand.task
        stand.busy = True
        task = stand.task = self._s.tasks.spawn(lambda: self._settling(c, standing, stand))
        self.asking.add(task)
        task.add_done_callback(self.asking.discard)
        return task

    async def _settling(self, c: Connection, standing: Standing, stand: Stand) -> None:
        attempt = 2  # the attempt 1 would be one without a pause
        try:
            while c.alive and (want := self._wanted(c, standing, stand)) != stand.mode:
                if stand.mode is not None:
                    stand.mode, stand.answered, stand.view = None, False, None
                    await c.request(standing.undo, standing.name)
                elif c.presences is None:
                    await settled([c.featured])
                elif want is not None and (stand.lacks or not c.presences):
                    self._lacks(c, standing, stand)
                    return
                elif want is not None and not await self._ask(c, standing, stand, want):
                    await self._again(c, standing, attempt)
                    attempt += 1
        except MillraceError as error:
            if error.code != "disconnected":
                raise
        finally:
            stand.busy = False
            self._tidy(standing)

    def _wanted(self, c: Connection, standing: Standing, stand: Stand) -> Mode | None:
        if not standing.kept:
            return None
        if c not in self._connections():
            return stand.mode
        if standing.verb == "JOIN":
            return "member"
        return "members" if standing.full else "counts"

    async def _ask(self, c: Connection, standing: Standing, stand: Stand, mode: Mode) -> bool:
        """Ask a connection, and return when it has answered; False: it is to be asked again, later."""
        stand.mode = mode
        stand.view = None if mode == "member" else View(mode == "counts")
        try:
            await c.stand(standing.key, mode == "counts")
        except MillraceError as error:
            if error.code == "disconnected":
                raise
            stand.mode = stand.view = None
            if error.code == "try_later" and standing.had:
                return False
            if error.code == "no_presence" and standing.had:
                self._lacks(c, standing, stand)
                return True
            # One that may take over cannot, then; the current one has it, and may wake.
            if standing.had and self._s.suspected is not None and c is self._s.next:
                c.fail(error)
            elif standing.kept:
                self._refuse(standing, mode, error)
            return True
        stand.answered = True
        if mode == "member":
            standing.settle()
        return True

    async def _again(self, c: Connection, standing: Standing, attempt: int) -> None:
        """Wait until an edge is to be asked again, or that has changed."""
        if attempt == 2:
            self._s.events.emit(standing.refused("try_later"))
        try:
            await c.postpone(standing.key, back_off(attempt, self._s.settings))
        except MillraceError:
            pass  # it is not wanted any more, or the connection is lost
        finally:
            c.postponed.discard(standing.key)

    def _lacks(self, c: Connection, standing: Standing, stand: Stand) -> None:
        """Take it that an edge has no presence for it: what the application has is tried at the next edge."""
        error = MillraceError("no_presence", "the edge has no presence", **standing.about)
        if c is self._s.current or self._s.current is None or self._s.leaving:
            for kept in [*standing.waiting]:
                standing.remove(kept, error)
                kept._end(error)
        if standing.had and not stand.lacks:
            stand.lacks = True
            self._s.events.emit(EdgeError(error.code, standing.key))

    def _refuse(self, standing: Standing, mode: Mode, error: MillraceError) -> None:
        """End what an edge refuses. Who wants counts is not concerned by a refusal of members."""
        ended = [kept for kept in standing.kept if mode != "members" or not wants_count(kept)]
        if any(kept not in standing.waiting for kept in ended):
            self._s.events.emit(standing.refused(error.code))
        standing.full = False
        for kept in ended:
            standing.remove(kept, error)
            kept._end(error)
        for c in [*standing.on]:
            self._settle(c, standing)

    def _tidy(self, standing: Standing) -> None:
        if not standing.used and self._all.get(standing.key) is standing:
            del self._all[standing.key]

    # The end

    def end(self, error: MillraceError | None, gone: MillraceError) -> None:
        """End all, before the connections; error is why, gone what those get that still wait."""
        if error is None:
            self._say_goodbye()
        for standing in [*self._all.values()]:
            for kept in [*standing.kept]:
                standing.remove(kept, error or gone)
                kept._end(error)
        self._all.clear()

    def _say_goodbye(self) -> None:
        """Tell the edges that the client is present no more: others would see it until they miss it."""
        for standing in self._all.values():
            for c, stand in standing.on.items():
                if stand.mode == "member" and c.alive:
                    c.request(standing.undo, standing.name)
