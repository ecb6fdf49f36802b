"""A message."""

from __future__ import annotations

import datetime
import json
from typing import Any

__all__ = ["Message"]


class Message:
    """A message, as a subscription got it. Its fields are read-only."""

    __slots__ = ("channel", "late", "pattern", "patterns", "payload", "position", "sender", "tenant")

    tenant: str
    channel: str
    payload: bytes
    pattern: str
    """The pattern of this subscription."""
    patterns: tuple[str, ...]
    """All patterns of this client that match."""
    late: bool
    """It came on a connection that had been replaced: newer messages may have been given before."""
    position: str | None
    """Its place in the history of its channel; None without one. After(position) goes on behind it."""
    sender: str
    """The subject of the token that published it, as the edge says: a client cannot forge it. Empty without
    the option *sender*, if the token has no subject, and where an edge of an earlier version is between."""

    def __init__(
        self,
        tenant: str,
        channel: str,
        payload: bytes,
        pattern: str,
        patterns: tuple[str, ...],
        late: bool = False,
        position: str | None = None,
        sender: str = "",
    ) -> None:
        self.tenant = tenant
        self.channel = channel
        self.payload = payload
        self.pattern = pattern
        self.patterns = patterns
        self.late = late
        self.position = position
        self.sender = sender

    @property
    def time(self) -> datetime.datetime | None:
        """When the message was stored, in UTC; None without a history."""
        if self.position is None:
            return None
        return moment(int(self.position.rpartition(".")[2]))

    def text(self) -> str:
        """Return the payload as UTF-8; what is none becomes U+FFFD."""
        return self.payload.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the payload as JSON; a ValueError says that it is none."""
        return json.loads(self.payload)

    def __repr__(self) -> str:
        return f"<Message {self.tenant}:{self.channel}, {len(self.payload)} bytes>"


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def moment(milliseconds: int) -> datetime.datetime:
    """Return a time in UTC, which is that many milliseconds after the beginning of 1970."""
    try:
        return _EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.timezone.utc)
