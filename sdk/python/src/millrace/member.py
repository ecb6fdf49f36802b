"""Who is present, and what changes of that."""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._presence_frame import MemberEntry
from .message import moment

__all__ = ["Member", "PresenceChange"]


@dataclass(frozen=True, slots=True)
class Member:
    """A subject that is present in a channel."""

    channel: str
    subject: str
    """Whose token it is that is present, as the edge says: a client cannot forge it."""
    info: Mapping[str, Any] | None
    """What the token says about the subject; None: nothing."""
    since: datetime.datetime
    """Since when it is present, in UTC."""

    @staticmethod
    def _of(entry: MemberEntry) -> Member:
        return Member(entry.channel, entry.subject, _info(entry.info), moment(entry.since))


def _info(data: bytes) -> Mapping[str, Any] | None:
    """Return an object of JSON; an edge sends nothing else."""
    try:
        info = json.loads(data) if data else None
    except (ValueError, RecursionError):
        return None
    return info if isinstance(info, dict) else None


@dataclass(frozen=True, slots=True)
class PresenceChange:
    """What a Presence reports: a member has joined, left or changed, or a channel has another count."""

    type: Literal["joined", "left", "changed", "counts"]
    """``changed``: its info or since is another one, as after it has left and come back."""
    channel: str
    member: Member | None = None
    """The member; one that has left as it was. None with ``counts``."""
    count: int | None = None
    """With ``counts``, how many members the channel has; else None."""
