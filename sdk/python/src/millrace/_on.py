"""The types of Client.on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, overload

from . import events

E = TypeVar("E")
Handler = Callable[[E], object]
Remove = Callable[[], None]


class On:
    """What has events."""

    def _add_handler(self, name: str, handler: Callable[[Any], object]) -> Remove:
        raise NotImplementedError

    @overload
    def on(self, event: Literal["connecting"], handler: Handler[events.Connecting]) -> Remove: ...
    @overload
    def on(self, event: Literal["connected"], handler: Handler[events.Connected]) -> Remove: ...
    @overload
    def on(self, event: Literal["suspect"], handler: Handler[events.Suspect]) -> Remove: ...
    @overload
    def on(self, event: Literal["recovered"], handler: Handler[events.Recovered]) -> Remove: ...
    @overload
    def on(self, event: Literal["disconnected"], handler: Handler[events.Disconnected]) -> Remove: ...
    @overload
    def on(self, event: Literal["reconnecting"], handler: Handler[events.Reconnecting]) -> Remove: ...
    @overload
    def on(self, event: Literal["reconnected"], handler: Handler[events.Reconnected]) -> Remove: ...
    @overload
    def on(self, event: Literal["gap"], handler: Handler[events.Gap]) -> Remove: ...
    @overload
    def on(self, event: Literal["moving"], handler: Handler[events.Moving]) -> Remove: ...
    @overload
    def on(self, event: Literal["moved"], handler: Handler[events.Moved]) -> Remove: ...
    @overload
    def on(self, event: Literal["publish_error"], handler: Handler[events.PublishError]) -> Remove: ...
    @overload
    def on(self, event: Literal["publish_unknown"], handler: Handler[events.PublishUnknown]) -> Remove: ...
    @overload
    def on(
        self, event: Literal["subscription_error"], handler: Handler[events.SubscriptionError]
    ) -> Remove: ...
    @overload
    def on(self, event: Literal["slow_consumer"], handler: Handler[events.SlowConsumer]) -> Remove: ...
    @overload
    def on(self, event: Literal["limited"], handler: Handler[events.Limited]) -> Remove: ...
    @overload
    def on(self, event: Literal["link_down"], handler: Handler[events.LinkDown]) -> Remove: ...
    @overload
    def on(self, event: Literal["link_up"], handler: Handler[events.LinkUp]) -> Remove: ...
    @overload
    def on(self, event: Literal["queue_full"], handler: Handler[events.QueueFull]) -> Remove: ...
    @overload
    def on(self, event: Literal["discarded"], handler: Handler[events.Discarded]) -> Remove: ...
    @overload
    def on(self, event: Literal["edge_error"], handler: Handler[events.EdgeError]) -> Remove: ...
    @overload
    def on(self, event: Literal["round_trip"], handler: Handler[events.RoundTrip]) -> Remove: ...
    @overload
    def on(self, event: Literal["closed"], handler: Handler[events.Closed]) -> Remove: ...
    @overload
    def on(self, event: str, handler: Handler[Any]) -> Remove: ...

    def on(self, event: str, handler: Handler[Any]) -> Remove:
        """Add a handler of an event, and return what removes it.

        Events come one after the other; if a handler returns an awaitable, the next event waits for that. A
        slow handler delays later events, not messages. What it raises goes to the exception handler of the
        event loop. An unknown event is the error ``bad_option``.

        What reports a loss or a refusal, and has no handler, is said on the logger, once for each code.
        """
        return self._add_handler(event, handler)
