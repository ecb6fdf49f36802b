"""Opens connections to the edges of a client, and knows when there is no sense in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from ._address import Address
from ._connection import Connection, Owner
from ._dial import Dialer, is_no_edge, rank
from ._edges import resolve_edges
from ._timers import now
from ._token import TokenSource
from .errors import MillraceError
from .options import Settings

# Refusals that neither another edge nor another time will change.
_NO = re.compile(r"ip_not|origin_not|client_not|tls_required|token_revoked|bad_option|logged_out")
# Answers that other edges may not give.
_NO_HERE = re.compile(r"unauthorized|token_expired|region_not|protocol_not")
_STALE = ("unauthorized", "token_expired")

# Refusals of tokens that a provider gives are final if this many come in a row, for this long: the provider
# may have a token from a cache.
_ENOUGH = 5
_LONG = 60.0  # seconds

_SOON = 120.0  # seconds after its beginning


class Searcher:
    """The edges of one client."""

    def __init__(
        self,
        addresses: Sequence[Address],
        s: Settings,
        tokens: TokenSource,
        owner: Owner,
        look: Callable[[], None],
    ) -> None:
        self._addresses = addresses
        self._s = s
        self._tokens = tokens
        self._owner = owner
        self._look = look
        self._dialer = Dialer(s)
        self._edges: list[str] = []
        self._refusals: set[str] = set()  # the edges that refused the last token
        self._token: str | None = None  # that was tried last
        self._row = 0  # refusals of tokens that the provider gave
        self._first = 0.0  # when the first of them came
        self._hope = True
        self._not_before: dict[str, float] = {}  # when edges ask to be tried again

    async def first(self) -> Connection:
        """Try every edge once, the nearest first. The error is the one that says the most."""
        self._hope = True
        try:
            await self._tokens.get()
            self._edges = await resolve_edges(self._addresses, self._s)
        except MillraceError as err:
            self._hope = not (_NO.match(err.code) or is_no_edge(err) or _is_wrong(err))
            raise
        errors: list[MillraceError] = []
        for edge in self._edges:
            try:
                return await self.open(edge)
            except MillraceError as err:
                if self._first_hopeless(edge, err):
                    self._hope = False
                    raise
                if err.code == "token_provider":
                    self._hope = not _is_wrong(err)
                    raise
                errors.append(err)
        self._hope = not all(is_no_edge(err) for err in errors)
        raise max(errors, key=rank)

    @property
    def may_help(self) -> bool:
        """Another attempt may succeed, after first has failed."""
        return self._hope

    def _first_hopeless(self, edge: str, err: MillraceError) -> bool:
        if err.code == "unauthorized" and self._tokens.provided and self._s.fail_fast:
            return False  # nobody is notified of another attempt
        return err.code in ("internal", "protocol") or self.hopeless(edge, err)

    def order(self, known: str, known_first: bool) -> Order:
        """Return the edges, over and over: the others before or behind the one that is known."""
        return Order(self, known, known_first)

    async def resolve(self) -> None:
        """Look which edges there are; what is known will do."""
        if any(address.path for address in self._addresses):
            try:
                self._edges = await resolve_edges(self._addresses, self._s)
            except MillraceError:
                return

    def round(self, known: str, known_first: bool) -> list[str]:
        """Return the edges for one round: not those that ask to wait, if there are others."""
        others = [edge for edge in self._edges if edge != known]
        last = [known] if len(others) < len(self._edges) else []
        every = [known, *others] if known_first else [*others, *last]
        ready = [edge for edge in every if self.wait(edge) <= 0]
        return ready or sorted(every, key=self.wait)[:1]

    def wait(self, edge: str) -> float:
        """Return how long an edge asks to wait from now on."""
        return max(0.0, self._not_before.get(edge, 0.0) - now())

    async def open(
        self, edge: str, transports: Sequence[str] | None = None, fallback_after: float | None = None
    ) -> Connection:
        """Open a connection to an edge. If it does not take the token, the provider is asked for another."""
        token = await self._tokens.get()
        try:
            return await self._open(edge, token, transports, fallback_after)
        except MillraceError as err:
            if err.code not in _STALE or not self._tokens.provided:
                raise
            another = await self._tokens.ask()
            if another == token:
                raise
            return await self._open(edge, another, transports, fallback_after)

    async def _open(
        self, edge: str, token: str, transports: Sequence[str] | None, fallback_after: float | None
    ) -> Connection:
        if token != self._token:
            self._token = token
            self._refusals.clear()  # it may be allowed what the old one was not
            self._dialer.forget()
        try:
            link = await self._dialer.open(edge, token, transports, fallback_after)
        except MillraceError as err:
            if err.retry_after > 0:
                time = now()
                self._not_before = {e: until for e, until in self._not_before.items() if until > time}
                self._not_before[edge] = time + min(err.retry_after, self._s.max_back_off)
            raise
        self._not_before.pop(edge, None)
        c = Connection(edge, link, token, self._owner, self._s, self._look)
        if c.error is not None:
            raise c.error.again()  # it came with its end
        self._refusals.clear()
        self._row = 0
        return c

    @property
    def least_wait(self) -> float:
        """How long all edges ask to wait."""
        return min(map(self.wait, self._edges), default=0.0)

    def note_silent(self, c: Connection, heard: bool = False) -> None:
        """Note a connection that brings nothing any more, or ended without a word; heard: it is back.

        If that was soon after its beginning, its path may let the handshake of WebTransport pass, and swallow
        what is longer.
        """
        if c.transport == "webtransport" and (heard or now() - c.begun < _SOON):
            self._dialer.prefer(c.edge, c.transport if heard else "websocket")

    def hopeless(self, edge: str, err: MillraceError, moving: bool = False) -> bool:
        """Say whether an error of open leaves nothing to try; moving: there is a connection yet."""
        if err.code == "unauthorized" and self._tokens.provided:
            self._tokens.failed(err)
            if moving:
                return False
            if self._row == 0:
                self._first = now()
            self._row += 1
            return self._row >= _ENOUGH and now() - self._first >= _LONG
        self._row = 0
        if _NO.match(err.code):
            return True
        if not _NO_HERE.match(err.code):
            return False
        self._refusals.add(edge)
        return all(other in self._refusals for other in self._edges)


def _is_wrong(err: MillraceError) -> bool:
    """Say whether a token provider gives what is no token: it is not down, but wrong."""
    return isinstance(err.__cause__, MillraceError) and err.__cause__.code == "bad_option"


class Order:
    """The edges that are tried one after the other, without an end."""

    def __init__(self, searcher: Searcher, known: str, known_first: bool) -> None:
        self._searcher = searcher
        self._known = known
        self._known_first = known_first
        self._left = searcher.round(known, known_first)

    async def next(self) -> str:
        """Return the next one."""
        if not self._left:  # none of them: a list may have others by now
            await self._searcher.resolve()
            self._left = self._searcher.round(self._known, self._known_first)
        return self._left.pop(0)
