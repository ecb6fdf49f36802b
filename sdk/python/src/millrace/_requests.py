"""What waits for an answer of the edge."""

from __future__ import annotations

import asyncio
import re
from collections import deque

from ._reasons import NOT_SAID, Denial, refusal_text
from ._timers import future, reject, resolve
from .errors import MillraceError, disconnected

_PUBLISH = re.compile(r"PUB:(\d{1,10})")
# How much longer than max_payload a message may be: what is not longer than this is below every read limit.
_OVERHEAD = 4096


class Requests:
    """SUBs, RSUBs and UNSUBs without an answer, by `verb:tenant:pattern`.

    A request whose caller has gone still takes its answer: there is one for each.
    """

    def __init__(self) -> None:
        self._all: dict[str, deque[asyncio.Future[None]]] = {}  # the oldest first

    def add(self, key: str) -> asyncio.Future[None]:
        """Return what is done with the answer."""
        waiter = future()
        self._all.setdefault(key, deque()).append(waiter)
        return waiter

    def answer(self, key: str, error: MillraceError | None = None) -> bool:
        """Give the oldest request its answer, and say whether there was one."""
        same = self._all.get(key)
        if not same:
            return False
        waiter = same.popleft()
        if not same:
            del self._all[key]
        if error is None:
            resolve(waiter, None)
        else:
            reject(waiter, error)
        return True

    @property
    def owed(self) -> bool:
        """The edge owes an answer. It may keep one to RSUB for long; AGAIN is no request."""
        return any(not key.startswith(("RSUB:", "AGAIN:")) for key in self._all)

    def reject(self, error: MillraceError) -> None:
        """Reject all."""
        waiting, self._all = self._all, {}
        for same in waiting.values():
            for waiter in same:
                reject(waiter, error)


class Confirms:
    """The publishes of a connection that wait for their answers, by id (docs/protocol.md, History)."""

    def __init__(self) -> None:
        self._all: dict[int, asyncio.Future[str | None]] = {}
        self._sizes: dict[int, int] = {}  # of their frames
        self._names: dict[int, tuple[str, str]] = {}  # their tenants and channels
        self._idle: list[asyncio.Future[None]] = []
        self._largest = 0  # bytes of the largest publish; 0: none could be over a limit
        self._plain = ""  # that of the largest one, if it is not to be confirmed

    def add(self, id_: int, size: int, tenant: str, channel: str) -> asyncio.Future[str | None]:
        """Return what is done with the answer: the position, or None if the channel is not kept."""
        waiter: asyncio.Future[str | None] = future()
        self._all[id_] = waiter
        self._sizes[id_] = size
        self._names[id_] = tenant, channel
        self.note(size)
        return waiter

    def note(self, size: int, name: str = "") -> None:
        """Note a publish of so many bytes; name, ``tenant:channel``, of one without an answer."""
        if size > _OVERHEAD and size >= self._largest:
            self._plain = name if size > self._largest else self._plain or name
            self._largest = size

    def too_large(self) -> str:
        """Take the end of a connection on which a message was over the read limit of the edge.

        The largest publish is certain to be over it, whether or not the edge has read it: it is refused,
        before fail. What is returned is the name of one without an answer.
        """
        for id_ in [id_ for id_, size in self._sizes.items() if size == self._largest]:
            self.error("payload_too_large", f"PUB:{id_}")
        return self._plain

    def settle(self, id_: int, position: str | None = None) -> None:
        """Take an answer."""
        waiter = self._take(id_)
        if waiter is not None:
            resolve(waiter, position)
        self._check_idle()

    def forget(self, id_: int) -> None:
        """Give an answer up."""
        self._take(id_)
        self._check_idle()

    def error(self, code: str, detail: str, denial: Denial = NOT_SAID) -> bool:
        """Take an ERR line, and say whether it refuses a publish with an id."""
        found = _PUBLISH.fullmatch(detail)
        if found is None:
            return False
        tenant, channel = self._names.get(int(found[1]), ("", ""))
        waiter = self._take(int(found[1]))
        if waiter is not None:
            text = refusal_text(code, "PUB", tenant, channel, denial)
            reject(waiter, MillraceError(code, text, tenant=tenant, channel=channel))
        self._check_idle()
        return True

    @property
    def owed(self) -> bool:
        """The edge owes an answer."""
        return bool(self._all)

    def idle(self) -> asyncio.Future[None]:
        """Return what is done when none is left."""
        waiter = future()
        self._idle.append(waiter)
        self._check_idle()
        return waiter

    def fail(self) -> None:
        """Tell all that no answer comes."""
        waiting, self._all = self._all, {}
        self._sizes.clear()
        self._names.clear()
        for waiter in waiting.values():
            reject(waiter, disconnected())
        self._check_idle()

    def _take(self, id_: int) -> asyncio.Future[str | None] | None:
        self._sizes.pop(id_, None)
        self._names.pop(id_, None)
        return self._all.pop(id_, None)

    def _check_idle(self) -> None:
        if self._all:
            return
        idle, self._idle = self._idle, []
        for waiter in idle:
            resolve(waiter, None)
