"""Answers of HTTP that are no success: of a handshake, a list or a call."""

from __future__ import annotations

import json
import re

from .errors import MillraceError

MAX_PROBLEM = 4096
"""Bytes of a refusal's body that are read."""

# What an edge says in the words of HTTP.
_OURS = {
    "unauthorized": "the edge does not accept the token",
    "bad_master_token": "the edge does not accept the master token",
}
_UNAVAILABLE = (429, 502, 503, 504)


def refusal(status: int, retry_after: str | None, body: bytes) -> MillraceError:
    """Return the error for a status, a header Retry-After and a body, or its first MAX_PROBLEM bytes."""
    code, detail, connection_id = "", "", None
    try:
        problem = json.loads(body)
        if isinstance(problem, dict) and isinstance(problem.get("code"), str):
            code = problem["code"]
            detail = _OURS.get(code) or str(problem.get("detail", ""))
            given = problem.get("connection_id")
            if isinstance(given, str) and re.fullmatch(r"[0-9a-f]{16}", given):
                connection_id = given
    except ValueError:
        pass  # another server's body says nothing
    if not code:
        code = "unauthorized" if status == 401 else "unavailable" if status in _UNAVAILABLE else "unreachable"
        detail = f"HTTP status {status}, and the answer is no edge's: is the address right?"
    seconds = int(retry_after) if retry_after and re.fullmatch(r"[0-9]{1,9}", retry_after) else 0
    return MillraceError(
        code,
        detail or "the edge refuses it",
        status=status,
        retry_after=float(min(seconds, 3600)),
        connection_id=connection_id,
    )
