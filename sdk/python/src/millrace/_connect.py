"""TCP connections. Unlike asyncio's own way to try several addresses, it leaves no socket when cancelled."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections import deque
from collections.abc import Sequence
from typing import Any

from ._timers import any_settled, settled

_DELAY = 0.25  # seconds until the next address is tried, too (RFC 8305)

_Info = tuple[Any, Any, int, str, Any]


async def connect_tcp(host: str, port: int) -> socket.socket:
    """Connect to the first address of a host that takes it. The errors are OSError and ValueError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    race = _Race(_interleaved(found))
    try:
        try:
            return await race.run()
        finally:
            await race.end()
    except BaseException:
        race.drop()
        raise


def _interleaved(found: Sequence[_Info]) -> list[_Info]:
    """Return addresses with the families taking turns, beginning with that of the first."""
    families = list(dict.fromkeys(info[0] for info in found))
    turns = itertools.zip_longest(*([info for info in found if info[0] == family] for family in families))
    return [info for turn in turns for info in turn if info is not None]


class _Race:
    def __init__(self, infos: Sequence[_Info]) -> None:
        self._left = deque(infos)
        self._running: dict[asyncio.Task[None], socket.socket] = {}
        self._won: socket.socket | None = None

    async def run(self) -> socket.socket:
        error = OSError("the host has no address")
        while self._left or self._running:
            if self._left:
                try:
                    self._begin(self._left.popleft())
                except OSError as err:
                    error = err
            await any_settled(self._running, _DELAY if self._left else None)
            for task in [task for task in self._running if task.done()]:
                opened = self._running.pop(task)
                failed = asyncio.CancelledError() if task.cancelled() else task.exception()
                if failed is None:
                    self._won = opened
                    return opened
                opened.close()
                if not isinstance(failed, OSError):
                    raise failed
                error = failed
        raise error

    def _begin(self, info: _Info) -> None:
        family, kind, protocol, _, address = info
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)
        loop = asyncio.get_running_loop()
        self._running[loop.create_task(loop.sock_connect(opened, address))] = opened

    async def end(self) -> None:
        """Give up what runs."""
        running, self._running = self._running, {}
        for task, opened in running.items():
            task.add_done_callback(_closing(opened))
            task.cancel()
        await settled(running)

    def drop(self) -> None:
        """Give up the first one: nobody can take it any more."""
        if self._won is not None:
            self._won.close()


def _closing(opened: socket.socket) -> Any:
    def close(task: asyncio.Task[None]) -> None:
        opened.close()
        if not task.cancelled():
            task.exception()  # so that it counts as retrieved

    return close
