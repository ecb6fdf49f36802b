"""A message."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from typing import Any

__all__ = ["Message"]


class Message:
    """A message, as a subscription got it. Its fields are read-only."""

    __slots__ = (
        "_asks", "_own", "_sender", "_to_one", "channel", "late", "pattern", "patterns", "payload", "position", "tenant",
    )  # fmt: skip

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
        own: bytes | None = None,
        to_one: bool = False,
        asks: Callable[[], None] | None = None,
    ) -> None:
        """Made by a client; in a test of an application, perhaps by that."""
        self.tenant = tenant
        self.channel = channel
        self.payload = payload
        self.pattern = pattern
        self.patterns = patterns
        self.late = late
        self.position = position
        self._sender = sender
        self._own = own
        self._to_one = to_one
        self._asks = asks

    @property
    def sender(self) -> str:
        """The subject of the token that published it, as the edge says: a client cannot forge it.

        Empty without the option *sender*, if the token has no subject, and where an edge of an earlier version is
        between.
        """
        if self._asks is not None:
            self._asks()
        return self._sender

    @property
    def own(self) -> bool:
        """This client has published it.

        False, too, where the edge cannot say: what comes from a history, if it was not published with *confirm*;
        what was published on a connection that is gone; and edges of an earlier version.
        """
        return self._own is not None

    @property
    def key(self) -> str | bytes | None:
        """The key with which this client has published it, as text if it is UTF-8; None: another's, or without."""
        if not self._own:
            return None
        try:
            return self._own.decode()
        except UnicodeDecodeError:
            return self._own

    @property
    def time(self) -> datetime.datetime | None:
        """When the message was stored, in UTC; None without a history."""
        if self.position is None:
            return None
        return moment(int(self.position.rpartition(".")[2]))

    def text(self) -> str:
        """Return the payload as UTF-8; invalid bytes become U+FFFD."""
        return self.payload.decode("utf-8", "replace")

    def json(self) -> Any:
        """Return the payload as JSON; a ValueError says that it is not JSON, and names the message."""
        try:
            return json.loads(self.payload)
        except ValueError as err:
            text = f"the message of {self.channel} in {self.tenant}, {len(self.payload)} bytes, is not JSON: "
            raise ValueError(text + "use text() or payload, or publish a dict or list") from err

    def __repr__(self) -> str:
        return f"<Message {self.tenant}:{self.channel}, {len(self.payload)} bytes>"


_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def moment(milliseconds: int) -> datetime.datetime:
    """Return a time in UTC, which is that many milliseconds after the beginning of 1970."""
    try:
        return _EPOCH + datetime.timedelta(milliseconds=milliseconds)
    except OverflowError:
        return datetime.datetime.max.replace(tzinfo=datetime.timezone.utc)
