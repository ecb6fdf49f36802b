"""What the event loop calls, and what becomes of a fault in it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Callback = TypeVar("Callback", bound=Callable[..., Any])


def guarded(callback: Callback) -> Callback:
    """Make a method of a protocol end its connection when it fails, with `fault(error)`.

    Event loops only log what a callback raises, or close the connection and keep the reason: who waits for
    it would wait until a timeout, and never learn why.
    """

    @functools.wraps(callback)
    def call(self: Any, *args: Any) -> Any:
        try:
            return callback(self, *args)
        except Exception as err:  # noqa: BLE001 (whatever it is)
            self.fault(err)

    return call  # type: ignore[return-value]
