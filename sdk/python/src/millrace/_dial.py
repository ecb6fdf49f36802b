"""Opens links, and remembers which transport came up for each edge."""

from __future__ import annotations

import asyncio
import importlib.util
import re
from collections.abc import Sequence

from ._address import parse_address
from ._link import Dial, Link, LinkEnd, Opener, Transport
from ._resolve import not_in_time
from ._timers import any_settled, limited, settled
from ._websocket import open_websocket
from .errors import MillraceError, as_error, bad_option
from .options import Settings

# Refusals that another transport does not change.
_FINAL = re.compile(
    r"unauthorized|token_|(ip|origin|region|client)_not|tls_required|draining|too_many|try_later|unavailable"
)
_MAX_KNOWN = 256  # edges; a list may have others over and over
_RANKS = ["unreachable", "timeout", "unavailable", "protocol_not_allowed"]


def rank(error: MillraceError) -> int:
    """Say how much an error tells: what an edge says is more than that none answers."""
    return _RANKS.index(error.code) if error.code in _RANKS else len(_RANKS)


def can_webtransport(edge: str, s: Settings) -> bool:
    """Say whether there is any sense in trying it: aioquic is installed, and there is no proxy, which has no UDP.

    If WebSocket is not allowed, the proxy of the environment is left aside.
    """
    if not edge.startswith("https:") or importlib.util.find_spec("aioquic") is None:
        return False
    return "websocket" not in s.transports or s.proxies.of(parse_address(edge)) is None


def is_no_edge(err: MillraceError) -> bool:
    """Say whether something answers that is clearly no edge: it has a status of success, redirection or refusal."""
    return err.code == "unreachable" and err.status is not None and err.status < 500


async def _open_webtransport(dial: Dial) -> Link:
    from ._webtransport import open_webtransport

    return await open_webtransport(dial)


_OPENERS: dict[str, Opener] = {"websocket": open_websocket, "webtransport": _open_webtransport}


class Dialer:
    """Opens the links of one client."""

    def __init__(self, s: Settings) -> None:
        self._s = s
        self._known: dict[str, Transport] = {}  # by edge
        self._banned: set[str] = set()  # those that the token does not allow

    def forget(self) -> None:
        """Forget what the old token did not allow."""
        self._banned.clear()

    def prefer(self, edge: str, transport: Transport) -> None:
        """Make a transport the first choice for an edge, until another one comes up."""
        self._known.pop(edge, None)
        self._known[edge] = transport
        if len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]  # the oldest

    async def open(
        self,
        edge: str,
        token: str,
        transports: Sequence[str] | None = None,
        fallback_after: float | None = None,
    ) -> Link:
        """Open a link to an edge; what is left out comes from the settings. To cancel it leaves nothing open."""
        s = self._s
        usable = [t for t in transports or s.transports if t == "websocket" or can_webtransport(edge, s)]
        if not usable:
            raise bad_option(
                "WebTransport needs an https:// address and the package aioquic: "
                "pip install millrace-client[webtransport]"
            )
        order = [t for t in usable if t not in self._banned]
        if not order:
            raise MillraceError("protocol_not_allowed", "the token does not allow this transport")
        if len(order) > 1 and self._known.get(edge) == order[1]:
            order.reverse()
        after = s.fallback_after if fallback_after is None else fallback_after
        race = _Race(order, Dial(edge, token, s), after)
        try:
            try:
                link = await limited(race.run(), s.connect_timeout)
            finally:
                self._banned |= race.banned
                await race.end()
        except BaseException as err:
            race.drop()
            if isinstance(err, asyncio.TimeoutError):
                address = parse_address(edge, True)
                proxy = s.proxies.of(address)
                text = "the edge does not answer" + (f" through {proxy}" if proxy else "")
                raise not_in_time(*s.proxies.next_hop(address), text) from None
            raise
        self.prefer(edge, link.transport)
        return link


class _Race:
    """Starts the first transport, the second when that has failed or takes long."""

    def __init__(self, order: Sequence[str], dial: Dial, after: float) -> None:
        self._left = [*order]
        self._dial = dial
        self._after = after
        self._running: dict[asyncio.Task[Link], str] = {}
        self._won: Link | None = None
        self.banned: set[str] = set()
        """Transports that the token does not allow."""

    async def run(self) -> Link:
        """Return the first link that comes up."""
        worst: MillraceError | None = None
        while True:
            if self._left:
                transport = self._left.pop(0)
                opener = _OPENERS[transport]
                self._running[asyncio.ensure_future(opener(self._dial))] = transport
            await any_settled(self._running, self._after if self._left else None)
            for task in [task for task in self._running if task.done()]:
                transport = self._running[task]
                error = _error_of(task)
                if error is None:
                    del self._running[task]
                    self._won = task.result()
                    return self._won
                del self._running[task]
                if error.code == "protocol_not_allowed":
                    self.banned.add(transport)
                if worst is None or rank(error) > rank(worst):
                    worst = error
                # Not over WebTransport: an edge need not have that, and the same server then answers 404.
                no_edge = transport == "websocket" and is_no_edge(error)
                if no_edge:
                    worst = error
                if no_edge or _FINAL.match(error.code) or not (self._running or self._left):
                    raise worst

    async def end(self) -> None:
        """Give up what runs, and what came up too late."""
        running, self._running = self._running, {}
        for task in running:
            task.add_done_callback(_drop_result)
            task.cancel()
        await settled(running)

    def drop(self) -> None:
        """Give up what came up first: nobody can take it any more."""
        if self._won is not None:
            _drop(self._won)


def _drop_result(task: asyncio.Task[Link]) -> None:
    if not task.cancelled() and task.exception() is None:
        _drop(task.result())


def _error_of(task: asyncio.Task[Link]) -> MillraceError | None:
    if task.cancelled():
        return MillraceError("unreachable", "the edge does not answer")
    err = task.exception()
    return None if err is None else as_error(err, "unreachable", "the edge does not answer")


class _Nobody:
    """The sink of a link that nobody wants."""

    def arrived(self) -> None:
        pass

    def line(self, line: str) -> None:
        pass

    def frame(self, frame: bytes) -> None:
        pass

    def ended(self, end: LinkEnd) -> None:
        pass


def _drop(link: Link) -> None:
    link.start(_Nobody())
    link.close()
