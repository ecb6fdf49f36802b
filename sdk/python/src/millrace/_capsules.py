"""What the stream of a WebTransport session carries besides its request: capsules (RFC 9297)."""

from __future__ import annotations

__all__ = ["CapsuleReader"]

_CLOSE_SESSION = 0x2843
_MAX_CLOSE = 4 + 1024  # bytes: the code, and a reason


class CapsuleReader:
    """Looks for the capsule that closes the session. It holds at most about 1 KiB."""

    __slots__ = ("_held", "_skip", "closed")

    def __init__(self) -> None:
        self._held = bytearray()
        self._skip = 0  # bytes of a capsule of another type that are still to come
        self.closed: tuple[int, str] | None = None
        """The close code and the reason, when the capsule has come."""

    def push(self, data: bytes) -> None:
        """Take the next bytes."""
        self._held += data
        while self.closed is None:
            skipped = min(self._skip, len(self._held))
            del self._held[:skipped]
            self._skip -= skipped
            kind = _varint(self._held, 0)
            size = None if kind is None else _varint(self._held, kind[1])
            if kind is None or size is None:
                return
            length, start = size
            if kind[0] != _CLOSE_SESSION or not 4 <= length <= _MAX_CLOSE:
                self._skip = start + length
                continue
            if len(self._held) < start + length:
                return
            body = bytes(self._held[start : start + length])
            self.closed = int.from_bytes(body[:4], "big"), body[4:].decode("utf-8", "replace")
        self._held.clear()


def _varint(data: bytearray, at: int) -> tuple[int, int] | None:
    """Read an integer of QUIC: its value, and where it ends; None: it is not there in full."""
    if at >= len(data):
        return None
    end = at + (1 << (data[at] >> 6))
    if end > len(data):
        return None
    return int.from_bytes(data[at:end], "big") & ((1 << (8 * (end - at) - 2)) - 1), end
