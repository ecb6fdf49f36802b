"""A link with requests, their answers, and a watch that finds out that it is dead."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ._exchange import Exchange, Ping
from ._last_word import last_word
from ._link import Link, LinkEnd, Transport
from ._liveness import Liveness
from ._presence_frame import TAG, PresenceFrame, decode_presence
from ._reasons import NOT_SAID, Denial, refusal_text, split_denial
from ._timers import future, now, resolve
from ._wire import DeliverDecoder, Delivered, ServerLine, WireError, is_unknown_frame, known_line
from .errors import MillraceError, disconnected, printable
from .options import Settings

_REQUEST = re.compile(r"((?:UN|R)?SUB|JOIN|LEAVE|(?:UN)?WHO):([^:]+):(.+)", re.DOTALL)
_PRESENCE = bytes([TAG])
_ENDING = ("token_", "unauthorized", "forbidden", "closed_by")


class Owner(Protocol):
    """Who owns a connection. It is called in the event loop."""

    def delivered(self, source: Connection, message: Delivered) -> None: ...

    def reached(self, source: Connection, line: ServerLine) -> None:
        """OK:RSUB, AT or GAP: how far an RSUB has come."""

    def present(self, source: Connection, frame: PresenceFrame) -> None: ...

    def withdrawn(self, source: Connection, key: str) -> None:
        """The edge has ended a JOIN or WHO, key, that it had acknowledged."""

    def draining(self, source: Connection) -> None:
        """The edge asks to leave."""

    def error_line(self, code: str, detail: str, denial: Denial = NOT_SAID) -> None:
        """An ERR line that answers no request, and why the edge denies it."""

    def round_trip(self, rtt: float) -> None: ...

    def silent(self, source: Connection) -> bool:
        """Nothing has come for longer than usual; say whether the connection is suspect now."""

    def woke(self, source: Connection) -> None:
        """A suspect connection brings something."""

    def linked(self) -> None:
        """What link says may have changed."""

    def lost(self, source: Connection, error: MillraceError) -> None:
        """The connection has ended, other than by close; called once, and not before it is made."""


class Connection(Exchange):
    """A connection to an edge."""

    def __init__(
        self, edge: str, link: Link, token: str, owner: Owner, s: Settings, look: Callable[[], None]
    ) -> None:
        super().__init__(link)
        self.edge = edge
        self.transport: Transport = link.transport
        self.token = token
        """The token that it was opened with."""
        self.begun = now()
        self.drains = False
        """The edge has said that it drains."""
        self.link: bool | None = None
        """The edge has its link to the other edges; None: it is not known yet."""
        self.histories: bool | None = None
        """The edge has histories; None: it is not known yet."""
        self.presences: bool | None = None
        """The edge has presence; None: it is not known yet."""
        self.work_queues: bool | None = None
        """The edge gives messages to one connection by credit; None: it is not known yet."""
        self.credit: dict[str, int] = {}
        """How many of these it may still send, by `tenant:pattern`."""
        self.is_credited = False
        """This connection gives credit: the application has its messages."""
        self.featured: asyncio.Future[None] = future()
        """Done when that is known, or the connection has ended."""
        self.gone: asyncio.Future[None] = future()
        """Done when the link has ended."""

        self._owner = owner
        self._decoder = DeliverDecoder()
        self._made = False  # the owner has it
        self._asks = True  # FEATURES has no answer yet
        self._up = True  # the last LINK line
        self._last_word: str | None = None  # behind ERR: of a line that says why the edge closes
        self._liveness = Liveness(self, s, look)
        link.start(self)
        self._made = True
        if self.alive:
            self._send("FEATURES:link,work_queue,own,reasons" + (",sender" if s.sender else ""))
            self._liveness.arm()

    @property
    def last_byte(self) -> float:
        """When the last bytes came."""
        return self._liveness.heard

    def awake(self, always: bool) -> None:
        """Ask at once whether the edge is there, if nothing has come for a second, or always."""
        self._liveness.awake(always)

    def hand_to(self, owner: Owner) -> None:
        """Give the connection another owner, for which it is not watched any more.

        Nobody waits for its answers: what waited is rejected.
        """
        self._owner = owner
        self._liveness.stop()
        self._abandon(disconnected())  # but PONGs may come yet
        for waiter in [*self._held]:
            resolve(waiter, None)

    def close(self) -> asyncio.Future[None]:
        """End the connection; its owner is not told. What is returned is done when the link has ended."""
        if self.alive:
            self._end(disconnected())
            self._link.close()
        return self.gone

    # Watched

    @property
    def unanswered(self) -> Ping | None:
        return self._pings[0] if self._pings else None

    def ask(self) -> None:
        self.ping()

    def probe(self) -> None:
        self._link.probe()

    def silent(self) -> bool:
        return self._owner.silent(self)

    def woke(self) -> None:
        self._owner.woke(self)

    def given_up(self) -> None:
        self.fail(MillraceError("timeout", "the edge does not answer"))

    # Sink

    def arrived(self) -> None:
        if self.alive:
            self._liveness.arrived(now())

    def frame(self, frame: bytes) -> None:
        if not self.alive:
            return
        self._liveness.active()
        try:
            if frame[:1] == _PRESENCE:
                told = decode_presence(frame)
                if told is not None:
                    self._owner.present(self, told)
                return
            message = self._decoder.decode(frame)
        except WireError as err:
            if not is_unknown_frame(frame):
                self.fail(MillraceError("protocol", "the edge broke the protocol", cause=err))
            return
        self._owner.delivered(self, message)

    def line(self, line: str) -> None:
        if self.alive and line != "PONG":
            self._liveness.active()
        known = known_line(line) if self.alive else None
        if known is not None:  # later edges may have more
            self._take(known, line)

    def _take(self, line: ServerLine, text: str) -> None:
        kind = line.kind
        if kind == "OK":
            name = f"{line.tenant}:{line.pattern}"
            if self._requests.answer(f"{line.verb}:{name}") and line.verb == "SUB":
                self.confirmed.add(name)
                self.postponed.discard(name)
            if line.verb == "UNSUB":  # an RSUB that has ended before its answer gets none
                while self._requests.answer(f"RSUB:{name}", disconnected()):
                    pass
        elif kind == "OK:PUB":
            self._confirms.settle(line.id, line.position or None)
        elif kind in ("OK:RSUB", "AT", "GAP"):
            self._owner.reached(self, line)
            if kind == "OK:RSUB":
                self._requests.answer(f"RSUB:{line.tenant}:{line.pattern}")
        elif kind == "ERR":
            self._error(line.code, line.detail, text[4:])
        elif kind == "PING":
            self._link.send("PONG")
        elif kind == "PONG":
            self._ponged()
        elif kind == "RECONNECT" and not self.drains:
            self.drains = True
            self._owner.draining(self)
        elif kind == "FEATURES":
            self._featured(line.features.split(","))
        elif kind == "LINK":
            self._up = line.up
            if not self._asks:
                self._linked()

    def _ponged(self) -> None:
        if not self._pings:
            return
        ping = self._pings.popleft()
        rtt = now() - ping.at
        self._unread.proven(ping.mark, now())
        resolve(ping.waiter, rtt)
        self._liveness.ponged(rtt)
        self._owner.round_trip(rtt)

    def _featured(self, names: Sequence[str]) -> None:
        """Take the answer to FEATURES, behind which stands how the link is."""
        self._asks = False
        self.histories = "history" in names
        self.presences = "presence" in names
        self.work_queues = "work_queue" in names
        resolve(self.featured, None)
        self._linked()

    def _linked(self) -> None:
        self.link = self._up
        self._owner.linked()

    def _error(self, code: str, detail: str, text: str) -> None:
        """Take an ERR line; text is all that stands behind ERR:."""
        if self._asks and code == "bad_request" and not detail:
            return self._featured(())  # an edge of an earlier version
        last = last_word(text)
        if last is not None:
            self._last_word = text
        detail, denial = split_denial(code, printable(detail))
        if self._confirms.error(code, detail, denial) or detail.startswith("CREDIT:"):
            return None  # of a subscription that has just ended
        request = _REQUEST.fullmatch(detail)
        refused = False
        if request is not None and code != "broker_unavailable":
            # What the broker cannot do yet, the edge has noted, and acknowledges.
            verb, tenant, name = request.groups()
            about: dict[str, Any] = {"channel" if verb in ("JOIN", "LEAVE") else "pattern": name}
            error = MillraceError(
                code, refusal_text(code, verb, tenant, name, denial), tenant=tenant, **about
            )
            refused = self._requests.answer(detail, error)
            if not refused and code == "no_presence":
                self._owner.withdrawn(self, detail)
        # What ends the connection is told as the error of that.
        if not refused and not code.startswith(_ENDING):
            self._owner.error_line(code, detail, denial)
        # These leave nothing to wait for, and a close that follows may be late.
        if last is not None and code in ("token_revoked", "token_expired"):
            self.fail(last)
        return None

    def fail(self, error: MillraceError) -> None:
        """Abandon the connection, and tell its owner."""
        if not self.alive:
            return
        self._end(error)
        self._link.close()
        if self._made:
            self._owner.lost(self, error)

    def ended(self, end: LinkEnd) -> None:
        resolve(self.gone, None)
        if not self.alive:
            return
        close_code = end.close_code
        last = None if self._last_word is None else last_word(self._last_word, close_code)
        if last is not None and last.code == "slow_consumer" and close_code != 4429:
            last = None  # deliveries may have been dropped long before, too
        code = {4401: "token_expired", 4403: "token_revoked"}.get(close_code or 0, "disconnected")
        text = "the connection has ended"
        if close_code == 1009:
            text = "a message was too large for the edge"
            name = self._confirms.too_large()
            if name:
                self._unread.told()
                self._owner.error_line("payload_too_large", f"PUB:{name}")
        why = last or end.error or MillraceError(code, text, close_code=close_code)
        self._end(why)
        if self._made:
            self._owner.lost(self, why)

    def _end(self, error: MillraceError) -> None:
        """Tell all that wait for the edge."""
        self.alive = False
        self.error = error
        self._liveness.stop()
        resolve(self.featured, None)
        self._abandon(disconnected(error))
        self._pings.clear()
