"""Tokens and master tokens, told apart from what is neither before it is sent. No text repeats a secret."""

from __future__ import annotations

import re

from .errors import bad_option

_PLACEHOLDER = re.compile(
    r"\$\{?\w+\}?|\{\{.*\}\}|\{\w+\}|<[^<>]*>|%\w+%|undefined|null|none|your[-_ ]?token", re.IGNORECASE
)
_NAMES = {"AT": "an access token", "MT": "a master token"}


def checked_token(token: object, kind: str = "AT") -> str:
    """Return a token, or raise `bad_option`, which says what it is in place of one; kind is AT or MT."""
    what, option = _NAMES[kind], "the token" if kind == "AT" else "the master token"
    if not isinstance(token, str):
        raise bad_option(f"{option} must be a string, and is {type(token).__name__}")
    if token == "":
        raise bad_option(f"{option} is empty: is the variable set that it comes from?")
    if token != token.strip():
        raise bad_option(
            f"{option} has white space at its beginning or end, such as a line break from a file: remove it"
        )
    if re.match(r"bearer\b", token, re.IGNORECASE):
        raise bad_option(f"{option} begins with Bearer: pass it without that")
    if _PLACEHOLDER.fullmatch(token):
        raise bad_option(f"{option} is {token[:40]!r}, a placeholder that nothing has replaced")
    if token[0] in "{[":
        raise bad_option(
            f"{option} is JSON: pass its member token alone, or let a token_provider return the whole answer"
        )
    if token[0] == "<":
        raise bad_option(f"{option} is a page, such as that of a login: look at what gives it")
    if kind == "AT" and token.startswith("MT_"):
        raise bad_option(
            "this is a master token, which stays on servers: pass an access token (AT_…), "
            "which TokenAdmin.issue makes of it"
        )
    if kind == "MT" and token.startswith("AT_"):
        raise bad_option("this is an access token: a TokenAdmin needs a master token (MT_…)")
    if not re.fullmatch(kind + r"_[\w.~+-]{1,509}", token, re.ASCII):
        raise bad_option(
            f"{option} is not {what}: these begin with {kind}_ and consist of letters, digits and _; "
            f"this has {len(token)} characters"
        )
    return token
