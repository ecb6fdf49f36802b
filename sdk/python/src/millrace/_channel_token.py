from __future__ import annotations

import re

from .errors import bad_option

__all__ = ["channel_token"]

_MAX_BYTES = 64  # four such tokens and more fit into the 256 bytes of a channel
_ESCAPED = re.compile(rb"[^A-Za-z0-9_\-@]")


def channel_token(text: str) -> str:
    """Make of any text one token of a channel, a pattern or a rule.

    The text may be a user's name, an address or a path, for example, with dots, spaces or
    wildcards. Different texts give different tokens, and the token is the same in all SDKs. It is
    never empty and never a wildcard.

    The characters that may stand in a token remain, except for the tilde: a-z A-Z 0-9 _ - @. Each
    other byte of the text, in UTF-8, becomes a tilde and two upper-case hex digits. The empty text
    becomes a tilde. Unicode is not normalised: texts that only look the same give different tokens.

    The error is `bad_option` if the text has a lone surrogate, which UTF-8 cannot hold, or if the
    token would be longer than 64 bytes.
    """
    try:
        data = text.encode()
    except (AttributeError, UnicodeEncodeError):
        raise bad_option("a channel's token is made of a string without lone surrogates") from None
    if len(data) <= _MAX_BYTES:
        token = _ESCAPED.sub(lambda m: b"~%02X" % m[0][0], data) or b"~"
        if len(token) <= _MAX_BYTES:
            return token.decode()
    rule = "each byte of the text but a-z A-Z 0-9 _ - @ needs three"
    raise bad_option(f"a channel's token has at most {_MAX_BYTES} bytes; {rule}")
