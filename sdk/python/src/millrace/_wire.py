"""Frames and lines (docs/protocol.md): what goes over a connection, once its transport has
made messages of it. Nothing here knows a connection."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

__all__ = [
    "DELIVERIES",
    "DeliverDecoder",
    "Delivered",
    "ServerLine",
    "WireError",
    "decode_text",
    "encode_publish",
    "is_frame",
    "is_position",
    "is_unknown_frame",
    "known_line",
    "parse_server_line",
]


class WireError(ValueError):
    """An edge has sent what the protocol does not allow. The text repeats none of it."""


DELIVERIES = {"broadcast": 0, "one-nearest": 1, "one-random": 2}
"""The names of deliveries, and their bytes in publish frames."""


def encode_publish(
    tenant: str,
    channel: str,
    payload: bytes,
    delivery: int | None = None,
    confirm: tuple[int, bytes] | None = None,
) -> bytes:
    """Returns a publish frame: version 3 with *confirm*, an id of 32 bits and a key of at most
    64 bytes; else version 1 without *delivery*; else version 2. The names are checked before:
    they are ASCII, and the tenant has at most 255 characters."""
    tenant_bytes, channel_bytes = tenant.encode("ascii"), channel.encode("ascii")
    if confirm is not None:
        number, key = confirm
        head = _VERSION_3.pack(3, delivery or 0, number, len(key)) + key
    elif delivery is not None:
        head = bytes((2, delivery))
    else:
        head = b""
    return b"".join(
        (
            head,
            len(tenant_bytes).to_bytes(2, "big"),
            tenant_bytes,
            len(channel_bytes).to_bytes(2, "big"),
            channel_bytes,
            payload,
        )
    )


_VERSION_3 = struct.Struct(">BBIB")  # tag, delivery, id, length of the key


def is_frame(message: bytes) -> bool:
    """Says whether a message of a WebTransport stream is a frame; else it is a line, which
    starts with a printable character."""
    return bool(message) and message[0] < 0x20


# The bits of the fields of a frame with the tag 4.
_HAS_POSITION = 1
_HAS_SENDER = 2
_TO_ONE = 4
_OWN = 8
_KNOWN_FIELDS = _HAS_POSITION | _HAS_SENDER | _TO_ONE | _OWN
_MAX_SENDER = 128  # bytes
_MAX_KEY = 64  # bytes


def is_unknown_frame(frame: bytes) -> bool:
    """Says whether a frame is of a later version, by its tag or a field: clients ignore it."""
    if not frame or frame[0] in (1, 5):  # see decode_presence
        return False
    return frame[0] != 4 or (len(frame) > 1 and frame[1] & ~_KNOWN_FIELDS != 0)


class Delivered(NamedTuple):
    """A decoded deliver frame."""

    tenant: str
    channel: str
    payload: bytes
    patterns: tuple[str, ...]
    """At least one. Frames with the same patterns have the same tuple, most of the time."""
    position: str | None
    """Of a message for one RSUB, whose pattern is the only one: its place in the history."""
    sender: str
    """The subject of the token that published it; empty: it has none, or is not told."""
    to_one: bool = False
    """It was published to one connection, and has taken credit of each of the patterns."""
    own: bytes | None = None
    """Of what this connection has published: the key of that, empty without one. None: of others, or not told."""


_U32 = struct.Struct(">I")
_POSITION = struct.Struct(">QQQ")
_MAX_NAMES = 1024  # what a decoder remembers of each kind; beyond it, it starts over
_MAX_REMEMBERED = 1024  # bytes of one of them


class DeliverDecoder:
    """Decodes the deliver frames of one connection. Names repeat, so it remembers those that it
    has seen, by their bytes: at most 1,024 pairs of tenant and channel, and as many lists of
    patterns, and senders. For one task at a time."""

    __slots__ = ("_heads", "_lists", "_senders")

    def __init__(self) -> None:
        self._heads: dict[bytes, tuple[str, str]] = {}
        self._lists: dict[bytes, tuple[str, ...]] = {}
        self._senders: dict[bytes, str] = {}

    def decode(self, frame: bytes) -> Delivered:
        """Decodes a frame. It raises WireError if the frame is broken, or no deliver frame of
        this version."""
        try:
            if frame[0] == 1:
                start, position, sender, to_one, own = 1, None, "", False, None
            elif frame[0] == 4:
                start, position, sender, to_one, own = self._fields(frame)
            else:
                raise WireError(_BROKEN_FRAME)
            channel_at = start + 2 + (frame[start] << 8 | frame[start + 1])
            payload_at = channel_at + 2 + (frame[channel_at] << 8 | frame[channel_at + 1])
            (size,) = _U32.unpack_from(frame, payload_at)
        except (IndexError, struct.error):
            raise WireError(_BROKEN_FRAME) from None
        end = payload_at + 4 + size
        head, rest = frame[start:payload_at], frame[end:]
        names = self._heads.get(head) or self._remember_names(head, channel_at - start)
        patterns = self._lists.get(rest) or self._remember_patterns(rest)
        if position is not None and len(patterns) != 1:
            raise WireError(_BROKEN_FRAME)
        return Delivered(
            names[0], names[1], frame[payload_at + 4 : end], patterns, position, sender, to_one, own
        )

    def _fields(self, frame: bytes) -> tuple[int, str | None, str, bool, bytes | None]:
        """Return where the fields of a frame with the tag 4 end, and what they say."""
        fields, at, position, sender, own = frame[1], 2, None, "", None
        if fields == 0 or fields & ~_KNOWN_FIELDS:
            raise WireError(_BROKEN_FRAME)
        if fields & _HAS_POSITION:
            epoch, n, t = _POSITION.unpack_from(frame, at)
            at, position = at + _POSITION.size, f"{epoch:016x}.{n}.{t}"
        if fields & _HAS_SENDER:
            at, start = at + 1 + frame[at], at + 1
            subject = frame[start:at]
            if len(subject) != at - start or len(subject) > _MAX_SENDER:
                raise WireError(_BROKEN_FRAME)
            sender = self._senders.get(subject) or self._remember_sender(subject)
        if fields & _OWN:
            at, start = at + 1 + frame[at], at + 1
            own = frame[start:at]
            if len(own) != at - start or len(own) > _MAX_KEY:
                raise WireError(_BROKEN_FRAME)
        return at, position, sender, bool(fields & _TO_ONE), own

    def _remember_sender(self, subject: bytes) -> str:
        if len(self._senders) >= _MAX_NAMES:
            self._senders.clear()
        sender = self._senders[subject] = decode_text(subject)
        return sender

    def _remember_names(self, head: bytes, channel_at: int) -> tuple[str, str]:
        names = decode_text(head[2:channel_at]), decode_text(head[channel_at + 2 :])
        if len(head) <= _MAX_REMEMBERED:
            if len(self._heads) >= _MAX_NAMES:
                self._heads.clear()
            self._heads[head] = names
        return names

    def _remember_patterns(self, rest: bytes) -> tuple[str, ...]:
        patterns = _split_patterns(rest)
        if len(rest) <= _MAX_REMEMBERED:
            if len(self._lists) >= _MAX_NAMES:
                self._lists.clear()
            self._lists[rest] = patterns
        return patterns


_BROKEN_FRAME = "the edge sent a frame that is broken"
_BROKEN_LINE = "the edge sent a line that is broken"


def _split_patterns(rest: bytes) -> tuple[str, ...]:
    """Splits what follows the payload: the count, then each pattern after its length."""
    if len(rest) < 2:
        raise WireError(_BROKEN_FRAME)
    patterns = []
    at = 2
    for _ in range(rest[0] << 8 | rest[1]):
        if len(rest) < at + 2:
            raise WireError(_BROKEN_FRAME)
        end = at + 2 + (rest[at] << 8 | rest[at + 1])
        if len(rest) < end:
            raise WireError(_BROKEN_FRAME)
        patterns.append(decode_text(rest[at + 2 : end]))
        at = end
    if at != len(rest) or not patterns:
        raise WireError(_BROKEN_FRAME)
    return tuple(patterns)


def decode_text(data: bytes) -> str:
    """Decodes UTF-8. It raises WireError if *data* is something else."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise WireError("the edge sent text that is not UTF-8") from None


class ServerLine(NamedTuple):
    """A line of an edge."""

    kind: str
    """``PING``, ``PONG``, ``RECONNECT``, ``OK:AUTH``, ``LINK``, ``FEATURES``, ``OK``,
    ``OK:RSUB``, ``AT``, ``GAP``, ``OK:PUB`` or ``ERR``."""
    verb: str = ""
    """Of OK: ``SUB``, ``UNSUB``, ``JOIN``, ``LEAVE``, ``WHO`` or ``UNWHO``."""
    tenant: str = ""
    """Of OK, OK:RSUB, AT and GAP."""
    pattern: str = ""
    """Of the same."""
    position: str = ""
    """Of OK:RSUB, AT, GAP, and of OK:PUB if the message is stored."""
    how: str = ""
    """Of OK:RSUB: ``complete`` or ``gap``."""
    reason: str = ""
    """Of GAP, if the edge says why: perhaps one that this version does not know."""
    id: int = 0
    """Of OK:PUB."""
    code: str = ""
    """Of ERR: perhaps one that this version does not know."""
    detail: str = ""
    """Of ERR: what follows the code."""
    features: str = ""
    """Of FEATURES: the names, with commas between."""
    up: bool = False
    """Of LINK."""


_MAX_LINE = 1024  # bytes
_CONSTANT = {
    "PING": ServerLine("PING"),
    "PONG": ServerLine("PONG"),
    "RECONNECT": ServerLine("RECONNECT"),
    "OK:AUTH": ServerLine("OK:AUTH"),
    "LINK:up": ServerLine("LINK", up=True),
    "LINK:down": ServerLine("LINK"),
}
_FEATURES = re.compile(r"FEATURES:([a-z0-9_]+(?:,[a-z0-9_]+)*)")
_OK = re.compile(r"OK:(SUB|UNSUB|JOIN|LEAVE|WHO|UNWHO):([^:]+):(.+)", re.DOTALL)
_ERR = re.compile(r"ERR:([a-z_]+)(?::(.+))?", re.DOTALL)
_REACHED = re.compile(r"(OK:RSUB|AT|GAP):([^:]+):([^:]+):([^:]+)(?::([a-z_]+))?", re.DOTALL)
_PUBLISHED = re.compile(r"OK:PUB:(0|[1-9][0-9]{0,9})(?::([^:]+))?")


def parse_server_line(line: str) -> ServerLine:
    """Says what a line of an edge says. Names are not looked at. It raises WireError for a line
    that is broken, or that this version does not know."""
    constant = _CONSTANT.get(line)
    if constant is not None:
        return constant
    if (
        line.endswith("\n")
        or len(line) > _MAX_LINE
        or (not line.isascii() and len(line.encode()) > _MAX_LINE)
    ):
        raise WireError(_BROKEN_LINE)
    if m := _PUBLISHED.fullmatch(line):
        number, position = int(m[1]), m[2]
        if number <= 0xFFFFFFFF and (position is None or is_position(position)):
            return ServerLine("OK:PUB", id=number, position=position or "")
    elif m := _OK.fullmatch(line):
        return ServerLine("OK", verb=m[1], tenant=m[2], pattern=m[3])
    elif m := _ERR.fullmatch(line):
        return ServerLine("ERR", code=m[1], detail=m[2] or "")
    elif m := _REACHED.fullmatch(line):
        kind, tenant, pattern, position, how = m.groups()
        fits = how in ("complete", "gap") if kind == "OK:RSUB" else how is None or kind == "GAP"
        if is_position(position) and fits:
            word, why = ("", how or "") if kind == "GAP" else (how or "", "")
            return ServerLine(kind, tenant=tenant, pattern=pattern, position=position, how=word, reason=why)
    elif m := _FEATURES.fullmatch(line):
        return ServerLine("FEATURES", features=m[1])
    raise WireError(_BROKEN_LINE)


def known_line(line: str) -> ServerLine | None:
    """parse_server_line, but returns None where that raises: clients ignore such lines."""
    try:
        return parse_server_line(line)
    except WireError:
        return None


_POSITION_TEXT = re.compile(r"[0-9a-f]{16}\.(0|[1-9][0-9]{0,19})\.(0|[1-9][0-9]{0,19})")


def is_position(text: str) -> bool:
    """Says whether *text* is a position, ``<epoch>.<n>.<t>``, which has one spelling."""
    m = _POSITION_TEXT.fullmatch(text)
    return m is not None and int(m[1]) < 1 << 64 and int(m[2]) < 1 << 64
