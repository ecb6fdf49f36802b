"""Says what nobody listens for, once for each event and code, on the logger (docs/reference/python.md, Events)."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any, cast

from . import events as e

DOCS = "https://github.com/millrace/millrace/blob/main/docs/errors.md#"
_MOST = 256  # different things that are said; codes come from edges

Said = tuple[str, str]
"""A code, and what to say: what, of what, what to do."""


class Loud:
    """Says things for one client."""

    def __init__(self, logger: logging.Logger | None = None) -> None:
        self._logger = logger if logger is not None else logging.getLogger("millrace")
        self._told: set[tuple[str, str]] = set()

    def say(self, code: str, text: str) -> None:
        """Say something, with the link to what its code means; a line, without secrets."""
        line = re.sub(r"[AM]T_[\w.~+-]+", "…", re.sub(r"\s+", " ", text))
        self._logger.warning("%s (%s%s)", line, DOCS, code)

    def once(self, kind: str, code: str, text: str) -> None:
        """Say something the first time for a kind and code."""
        if (kind, code) in self._told or len(self._told) >= _MOST:
            return
        self._told.add((kind, code))
        self.say(code, text)

    def event(self, event: e.Event) -> None:
        """Say an event for which there is no handler, if it reports a loss or a refusal."""
        words = _WORDS.get(type(event))
        said = None if words is None else words(event)
        if said is not None:
            self.once(type(event).__name__, *said)

    def sender_read(self) -> None:
        """Somebody reads the sender of a message without the option."""
        self.once("sender", "bad_option", "message.sender is empty: connect with sender=True to get senders")


def _publish_error(event: e.PublishError) -> Said:
    detail = event.detail or "the edge refuses it"
    return event.code, f"the publish to {event.channel} in {event.tenant} was refused, {event.code}: {detail}"


def _publish_unknown(event: e.PublishUnknown) -> Said:
    return "outcome_unknown", (
        f"{event.count} publishes on a connection to {event.edge} that is gone may be lost: "
        "publish with confirm=True and a key what must not be"
    )


def _subscription_error(event: e.SubscriptionError) -> Said:
    what = f"the membership of {event.channel}" if event.channel else f"the subscription to {event.pattern}"
    end = (
        "is refused for now, and asked for again"
        if event.code == "try_later"
        else "was refused, and has ended"
    )
    return event.code, f"{what} in {event.tenant} {end}, {event.code}: {event.detail or 'see there'}"


def _edge_error(event: e.EdgeError) -> Said:
    return event.code, f"the edge or the token provider says {event.code}: {event.detail or 'see there'}"


def _gap(event: e.Gap) -> Said:
    what = f"messages of {event.pattern} in {event.tenant} may be missing, {event.reason}"
    return "gap", f"{what}: {_GAPS.get(event.reason, _GAPS[''])}"


_GAPS = {
    "": 'load what you show from your own records, with a handler of the event "gap"',
    "no_right": "the token may not read the past; add the pattern to history of its grant",
    "no_history": "no history of this edge contains the pattern; add one to its configuration",
}


def _queue_full(event: e.QueueFull) -> Said:
    return "queue_full", (
        f"{event.dropped} messages of {event.pattern} in {event.tenant} were dropped, since the queue was full: "
        "read faster, enlarge queue, or subscribe with a history"
    )


def _discarded(event: e.Discarded) -> Said:
    return "queue_full", (
        f"{event.count} messages to one subscriber, of {event.pattern} in {event.tenant}, were thrown away by "
        "unsubscribe or close: call drain() to have what has come given out"
    )


def _slow_consumer(event: e.SlowConsumer) -> Said:
    return "slow_consumer", (
        f"the edge has dropped {event.dropped} messages for this client, which reads too slowly: "
        "read faster, subscribe to less, or use a history"
    )


def _limited(event: e.Limited) -> Said:
    cap, what = (
        ("egress_kbps", "messages come") if event.direction == "in" else ("ingress_kbps", "publishes go out")
    )
    return "limited", (
        f"{what} {event.delay:g} s late, since they wait for a cap: "
        f"issue the token with a larger {cap}, or raise the edge's bandwidth"
    )


def _connecting(event: e.Connecting) -> Said:
    return event.error.code, (
        f"no connection yet, trying again until there is one (fail_fast=True: once): {event.error}"
    )


def _closed(event: e.Closed) -> Said | None:
    return None if event.error is None else (event.error.code, f"the client has ended: {event.error}")


_WORDS = cast(
    "dict[type[e.Event], Callable[[Any], Said | None]]",
    {
        e.PublishError: _publish_error,
        e.PublishUnknown: _publish_unknown,
        e.SubscriptionError: _subscription_error,
        e.EdgeError: _edge_error,
        e.Gap: _gap,
        e.QueueFull: _queue_full,
        e.Discarded: _discarded,
        e.SlowConsumer: _slow_consumer,
        e.Limited: _limited,
        e.Connecting: _connecting,
        e.Closed: _closed,
    },
)
