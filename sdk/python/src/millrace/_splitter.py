"""Messages on a WebTransport stream: each after its length."""

from __future__ import annotations

from ._wire import WireError

__all__ = ["MAX_MESSAGE", "Splitter", "with_length"]

MAX_MESSAGE = 32 << 20
"""Bytes; above every edge's limit of a payload."""


def with_length(message: bytes) -> bytes:
    """Returns the message as it goes on a stream."""
    return len(message).to_bytes(4, "big") + message


class Splitter:
    """Cuts a stream's bytes into its messages."""

    __slots__ = ("_held", "_limit", "_need")

    def __init__(self, limit: int = MAX_MESSAGE) -> None:
        self._limit = limit
        self._held = bytearray()  # of a message that is not there in full, its length included
        self._need = 4  # the bytes without which there is nothing to do

    @property
    def held(self) -> int:
        """How many bytes wait for the rest of their message."""
        return len(self._held)

    def push(self, chunk: bytes, out: list[bytes]) -> None:
        """Takes the next bytes, and appends each message that they complete to *out*. A message
        of more than *limit* bytes raises WireError, after those before it were appended."""
        if self._held:
            self._held += chunk
            if len(self._held) < self._need:
                return  # a message in many pieces is joined once
            chunk = bytes(self._held)
            self._held.clear()
        at, size = 0, len(chunk)
        self._need = 4
        while size - at >= 4:
            length = int.from_bytes(chunk[at : at + 4], "big")
            if length > self._limit:
                raise WireError("the edge sent a message that is too long")
            end = at + 4 + length
            if end > size:
                self._need = 4 + length
                break
            out.append(chunk[at + 4 : end])
            at = end
        if at < size:
            self._held += chunk[at:]
