"""Answers of HTTP that are no success: of a handshake, a list or a call."""

from __future__ import annotations

import json
import re

from .errors import MillraceError

MAX_PROBLEM = 4096
"""Bytes of a refusal's body that are read."""

# What an edge says in the words of HTTP.
_OURS = {
    "unauthorized": "the edge does not accept the token: it is unknown there, or incomplete; "
    "tokens are good for the edges that share a store",
    "bad_master_token": "the edge does not accept the master token: it is unknown there, or incomplete; "
    "millrace pubsub master-token create makes one",
}
EXPIRED = "the token has expired: get another one; with a token_provider the client does so in time"
REVOKED = "the token was revoked: ask the backend whether this user may have another one"
_REMEDIES = {
    "ip_not_allowed": "look at ip_masks of its issue; behind a proxy, the edge needs trusted_proxies",
    "origin_not_allowed": "look at origins of its issue",
    "region_not_allowed": "look at regions of its issue",
    "protocol_not_allowed": "look at protocols of its issue",
    "tls_required": "use https://, or for a test allow_plaintext of the edge",
}
_UNAVAILABLE = (429, 502, 503, 504)


def refusal(status: int, retry_after: str | None, body: bytes, url: str) -> MillraceError:
    """Return the error for a status, a header Retry-After and a body, or its first MAX_PROBLEM bytes.

    url is what was asked, without a query.
    """
    code, detail, connection_id = "", "", None
    try:
        problem = json.loads(body)
        if isinstance(problem, dict) and isinstance(problem.get("code"), str):
            code = problem["code"]
            detail = str(problem.get("detail", ""))
            if code == "unauthorized" and re.search("expired|revoked", detail):
                detail = EXPIRED if "expired" in detail else REVOKED
            else:
                detail = _OURS.get(code) or detail
            if code in _REMEDIES:
                detail += f": {_REMEDIES[code]}"
            given = problem.get("connection_id")
            if isinstance(given, str) and re.fullmatch(r"[0-9a-f]{16}", given):
                connection_id = given
    except ValueError:
        pass  # another server's body says nothing
    if not code:
        code = "unauthorized" if status == 401 else "unavailable" if status in _UNAVAILABLE else "unreachable"
        detail = f"{url} answers with HTTP status {status}, and is not a Millrace edge: "
        if status == 400 and b"HTTPS server" in body:
            detail += "it speaks TLS, so pass https://"
        elif status in _UNAVAILABLE:
            detail += "a proxy, perhaps, whose edge is down"
        else:
            detail += "pass the origin of one, such as http://localhost:8080, whose site has pubsub"
    seconds = int(retry_after) if retry_after and re.fullmatch(r"[0-9]{1,9}", retry_after) else 0
    return MillraceError(
        code,
        detail or "the edge refuses it",
        status=status,
        retry_after=float(min(seconds, 3600)),
        connection_id=connection_id,
    )
