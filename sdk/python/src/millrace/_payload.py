"""What is published, as bytes: texts as UTF-8, and as JSON what JSON can hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from .errors import bad_option

JSON = Mapping[str, object] | Sequence[object] | int | float | bool | None
"""What is published as JSON: a dict, a list, a number, a boolean or None, and what these hold."""

Payload = bytes | bytearray | memoryview | str | JSON
"""What a message may have: bytes, a text as UTF-8, or anything else as JSON."""


def payload_bytes(payload: object) -> bytes:
    """Return a payload as bytes. The error is `bad_option`; it does not repeat the payload."""
    if isinstance(payload, (bytes, bytearray, memoryview)):
        return bytes(payload)
    if isinstance(payload, str):
        return utf8("the payload", payload)
    if payload is not None and not isinstance(payload, (dict, list, tuple, int, float)):
        kind = type(payload).__name__
        raise bad_option(
            f"the payload is of type {kind}: it must be bytes, a string, or as JSON a dict, list, int, float, bool or None"
        )
    try:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as err:
        raise bad_option(f"the payload cannot be written as JSON: {err}") from err
    return utf8("the payload", text)


def utf8(what: str, value: str) -> bytes:
    """Return a text as UTF-8. The error is `bad_option`."""
    try:
        return value.encode()
    except UnicodeEncodeError as err:
        raise bad_option(
            f"{what} has a lone surrogate at index {err.start}, which UTF-8 cannot hold: pass bytes, or other text"
        ) from None
