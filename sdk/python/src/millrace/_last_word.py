"""ERR lines after which the edge closes (docs/protocol.md, Codes)."""

from __future__ import annotations

from ._refusal import EXPIRED, REVOKED
from .errors import MillraceError

# Their close codes. Some of these may also go on.
_CLOSES = {
    "unauthorized": 4401,
    "token_expired": 4401,
    "forbidden": 4403,
    "token_revoked": 4403,
    "token_unverifiable": 1013,
    "closed_by_operator": 1013,
    "internal": 1011,
    "slow_consumer": 4429,
}

_TEXTS = {
    "unauthorized": "the edge does not accept the token: it is unknown there, or incomplete",
    "unauthorized:expired": EXPIRED,
    "unauthorized:revoked": REVOKED,
    "token_expired": EXPIRED,
    "token_revoked": REVOKED,
    "token_unverifiable": "the edge cannot check the token any more",
    "closed_by_operator": "an operator of the edge closed the connection",
    "internal": "a fault of the edge",
    "slow_consumer": "the client reads too slowly",
}


def last_word(text: str, close_code: int | None = None) -> MillraceError | None:
    """Return the error of an ERR line after which the edge closes; None: it does not.

    text is what stands behind `ERR:`, close_code with what the edge closed, if that is known.
    """
    code, _, rest = text.partition(":")
    usual = _CLOSES.get(code)
    if usual is None:
        return None
    close = usual if close_code is None else close_code
    if code == "forbidden":
        what, _, reason = rest.partition(":")
        return MillraceError(
            f"{what}_not_allowed", reason or "the edge does not allow this connection", close_code=close
        )
    return MillraceError(code, _TEXTS.get(f"{code}:{rest}") or _TEXTS[code], close_code=close)
