"""Presence frames (docs/protocol.md, Frames)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from ._wire import WireError, decode_text

TAG = 5

_FIRST, _SYNCED, _COUNTS = 1, 2, 4
_KNOWN_BITS = _FIRST | _SYNCED | _COUNTS
_BROKEN = "the edge sent a presence frame that is broken"


class MemberEntry(NamedTuple):
    """A subject that is present in a channel, or is no more."""

    channel: str
    subject: str
    here: bool
    since: int
    """Milliseconds since 1970; of one that is here."""
    info: bytes
    """A JSON object, or empty; likewise."""


class PresenceFrame(NamedTuple):
    """A decoded presence frame."""

    tenant: str
    pattern: str
    first: bool
    """What came before is void once a frame that is synced has come."""
    synced: bool
    """All has come that was true when the last frame that is first was sent."""
    counts: bool
    """It has channels in place of members."""
    members: tuple[MemberEntry, ...]
    channels: tuple[tuple[str, int], ...]
    """Channels, and how many members each has."""


def decode_presence(frame: bytes) -> PresenceFrame | None:
    """Decode a frame with the tag 5; None: it is of a later version, and to be ignored.

    Names are not looked at. It raises WireError if the frame is broken. What it allocates stays in proportion
    to the length of the frame.
    """
    reader = _Reader(frame)
    try:
        bits = frame[1]
        if bits & ~_KNOWN_BITS:
            return None
        tenant, pattern = reader.text(), reader.text()
        n = reader.number16()
        members: list[MemberEntry] = []
        channels: list[tuple[str, int]] = []
        for _ in range(n):
            if bits & _COUNTS:
                channels.append((reader.text(), reader.number32()))
            else:
                members.append(reader.member())
    except (IndexError, struct.error):
        raise WireError(_BROKEN) from None
    if reader.at != len(frame):
        raise WireError(_BROKEN)
    return PresenceFrame(
        tenant,
        pattern,
        bits & _FIRST != 0,
        bits & _SYNCED != 0,
        bits & _COUNTS != 0,
        tuple(members),
        tuple(channels),
    )


_U16 = struct.Struct(">H")
_U32 = struct.Struct(">I")
_U64 = struct.Struct(">Q")


class _Reader:
    """Reads fields, behind the bits."""

    def __init__(self, frame: bytes) -> None:
        self.at = 2
        self._frame = frame
        self._texts: dict[bytes, str] = {}  # channels repeat

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self._frame):
            raise WireError(_BROKEN)
        return self._frame[start : self.at]

    def number16(self) -> int:
        (number,) = _U16.unpack_from(self._frame, self.at)
        self.at += 2
        return int(number)

    def number32(self) -> int:
        (number,) = _U32.unpack_from(self._frame, self.at)
        self.at += 4
        return int(number)

    def text(self) -> str:
        data = self.take(self.number16())
        text = self._texts.get(data)
        if text is None:
            text = self._texts[data] = decode_text(data)
        return text

    def member(self) -> MemberEntry:
        state = self._frame[self.at]
        self.at += 1
        channel = self.text()
        size = self._frame[self.at]
        self.at += 1
        subject = decode_text(self.take(size))
        if state == 0:
            return MemberEntry(channel, subject, False, 0, b"")
        if state != 1:
            raise WireError(_BROKEN)
        (since,) = _U64.unpack_from(self._frame, self.at)
        self.at += 8
        return MemberEntry(channel, subject, True, since, self.take(self.number16()))
