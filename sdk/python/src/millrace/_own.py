"""What this client has published itself, by the positions that edges have confirmed."""

from __future__ import annotations

_MOST = 1024


class OwnPositions:
    """The newest 1,024: what comes again from a history, on another connection, has no mark."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str, str], bytes] = {}

    def add(self, tenant: str, channel: str, position: str, key: bytes) -> None:
        """Remember a publish that was stored, with its key; empty: it had none."""
        self._keys[tenant, channel, position] = key
        if len(self._keys) > _MOST:
            del self._keys[next(iter(self._keys))]

    def key_of(self, tenant: str, channel: str, position: str) -> bytes | None:
        """Return the key of an own publish; None: it is of others, as far as is known."""
        return self._keys.get((tenant, channel, position))
