"""Calls the handlers of events."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from ._handlers import Handlers
from ._loud import Loud
from ._near import unknown
from .errors import bad_option
from .events import EVENTS, Event

Handler = Callable[[Any], object]

_MAX_WAITING = 1024  # events


class Emitter:
    """Calls handlers, one event after the other, and never within the caller of emit."""

    def __init__(self, handlers: Handlers, on: Mapping[str, Handler], loud: Loud) -> None:
        self._tasks = handlers
        self._loud = loud
        self._handlers: dict[type[Event], list[Handler]] = {}
        self._waiting: deque[Event] = deque(maxlen=_MAX_WAITING)
        self._busy = False
        for name, handler in on.items():
            self.on(name, handler)

    def on(self, name: str, handler: Handler) -> Callable[[], None]:
        """Add a handler, and return what removes it."""
        kind = EVENTS.get(name)
        if kind is None:
            raise unknown("event", name, EVENTS)
        if not callable(handler):
            raise bad_option(f"the handler of {name} must be a function, and is {type(handler).__name__}")

        def own(event: Event) -> object:  # so that one may be added twice
            return handler(event)

        handlers = self._handlers.setdefault(kind, [])
        handlers.append(own)

        def remove() -> None:
            if own in handlers:
                handlers.remove(own)

        return remove

    def emit(self, event: Event) -> None:
        """Queue an event. If a slow handler lets too many wait, the oldest is lost."""
        self._waiting.append(event)
        if not self._busy:
            self._busy = True
            self._tasks.spawn(self._run)

    async def _run(self) -> None:
        try:
            while self._waiting:
                event = self._waiting.popleft()
                handlers = [*self._handlers.get(type(event), ())]
                if not handlers:
                    self._loud.event(event)
                for handler in handlers:
                    try:
                        result = handler(event)
                        if inspect.isawaitable(result):
                            await result
                    except Exception as err:  # noqa: BLE001 (the application's)
                        self._tasks.report(err)
        finally:
            self._busy = False
