"""Where a client belongs: its event loop, and its process."""

from __future__ import annotations

import asyncio
import os

from .errors import bad_option

FORKED = "made before a fork: connect in the child"


class OwnLoop:
    """The event loop, and the process, in which something was made."""

    __slots__ = ("_loop", "_process")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._process = os.getpid()

    def check(self) -> None:
        """Refuse a call from elsewhere. The error is `bad_option`.

        A plain function may be called where no loop runs, as before run_forever.
        """
        if os.getpid() != self._process:  # also where a child goes on with the parent's loop
            raise bad_option(FORKED)
        loop = self._loop
        try:
            if asyncio.get_running_loop() is loop:
                return
            idle = False
        except RuntimeError:
            idle = not loop.is_running() and not loop.is_closed()
        if not idle:
            raise bad_option(
                "this client belongs to another event loop: use it where it was connected, "
                "or millrace.sync, whose clients belong to none"
            )
