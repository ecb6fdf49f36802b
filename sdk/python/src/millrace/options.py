"""The options of a client (docs/reference/python.md, Connect and options). Durations are seconds."""

from __future__ import annotations

import datetime
import logging
import math
import re
import ssl as tls
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from ._admin_types import IssuedToken
from ._near import unknown
from ._proxy import Proxies
from ._secrets import checked_token
from .errors import bad_option

__all__ = ["AccessToken", "Paths", "QueuePolicy", "TokenProvider"]

QueuePolicy = Literal["drop-oldest", "drop-newest", "end"]
"""What becomes of a message for a subscription whose queue is full."""

TRANSPORTS = ("webtransport", "websocket")
POLICIES = ("drop-oldest", "drop-newest", "end")


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What a token provider gives: a token, with its lifetime if that is known. With both, expires_in counts."""

    token: str
    expires_at: datetime.datetime | float | None = None
    """A time with its zone, or seconds since 1970, read by the clock of this machine.

    It is renewed too late where that is slow; a time in the past is ignored.
    """
    expires_in: datetime.timedelta | float | None = None
    """From now on, in seconds; it does not depend on the clock of this machine."""

    def __repr__(self) -> str:
        return f"AccessToken(expires_at={self.expires_at!r}, expires_in={self.expires_in!r})"


Provided = str | AccessToken | IssuedToken | Mapping[str, Any]
"""What a token provider gives: a mapping is what an edge answers to get-token.

It has `token`, and may have `expires_in` in seconds, `expires_at` in RFC 3339, `token_id` and `clamped`,
also with the names that the SDK for TypeScript writes, `expiresIn` and so on; other members are refused.
"""

TokenProvider = Callable[[], Provided | Awaitable[Provided]]
"""Gives a token when the client connects, before that one expires, and when an edge does not accept it.

LoggedOut ends the client.
"""


@dataclass(frozen=True, slots=True)
class Paths:
    """Where an edge's site has what, if not at the usual paths."""

    websocket: str = "/ws"
    webtransport: str = "/wt"
    ping: str = "/ping"


@dataclass(frozen=True, slots=True)
class Settings:
    """Options that have been checked, with everything filled in. Times are seconds."""

    token: str | None
    token_provider: TokenProvider | None
    transports: tuple[str, ...]
    fallback_after: float
    connect_timeout: float
    keep_alive: float
    """Below zero: the client never asks by itself."""
    pong_timeout: float
    min_back_off: float
    max_back_off: float
    queue: int
    queue_policy: QueuePolicy
    sender: bool
    paths: Paths
    allow_plaintext: bool
    ssl: tls.SSLContext | None
    """For https:// edges; None: what ssl.create_default_context gives, see ssl_context."""

    proxies: Proxies
    """Which edges are reached through a proxy."""
    fail_fast: bool
    """Every edge is tried once, the first time; else until one is there."""
    logger: logging.Logger | None
    """Where is said what nobody listens for; None: ``millrace``."""

    _made: list[tls.SSLContext] = field(default_factory=list)

    def ssl_context(self) -> tls.SSLContext:
        """Return the context for an https:// edge."""
        if self.ssl is not None:
            return self.ssl
        if not self._made:
            self._made.append(tls.create_default_context())  # reads files: once
        return self._made[0]

    def __repr__(self) -> str:
        return "Settings(…)"


def settings(
    *,
    token: str | None = None,
    token_provider: TokenProvider | None = None,
    transports: Iterable[str] = TRANSPORTS,
    fallback_after: float = 0,
    connect_timeout: float = 0,
    keep_alive: float = 0,
    pong_timeout: float = 0,
    min_back_off: float = 0,
    max_back_off: float = 0,
    queue: int = 0,
    queue_policy: QueuePolicy | None = None,
    sender: bool = False,
    paths: Paths | None = None,
    allow_plaintext: bool = False,
    ssl: tls.SSLContext | None = None,
    proxy: str | None = None,
    fail_fast: bool = False,
    logger: logging.Logger | None = None,
) -> Settings:
    """Check options. The error is `bad_option`."""
    if (token is None) == (token_provider is None):
        both = "not both of them" if token is not None else 'such as token=os.environ["MILLRACE_TOKEN"]'
        raise bad_option(f"one of token and token_provider is needed, {both}")
    if token_provider is not None and not callable(token_provider):
        kind = type(token_provider).__name__
        raise bad_option(f"token_provider must be a function, and is {kind}: is it called too early?")
    chosen = tuple(dict.fromkeys([transports] if isinstance(transports, str) else listed(transports)))
    if not chosen:
        raise bad_option(f"transports is empty: one or more of {', '.join(TRANSPORTS)}")
    for transport in chosen:
        if transport not in TRANSPORTS:
            raise unknown("transport", transport, TRANSPORTS)
    proxies = Proxies(proxy)
    if proxies.is_option and "websocket" not in chosen:
        raise bad_option("WebTransport does not go through a proxy: transports needs websocket")
    if ssl is not None and not isinstance(ssl, tls.SSLContext):
        raise bad_option("ssl must be an ssl.SSLContext")
    for name, value in (("sender", sender), ("fail_fast", fail_fast)):
        if not isinstance(value, bool):
            raise bad_option(f"{name} must be True or False, and is {value!r:.40}")
    if logger is not None and not isinstance(logger, logging.Logger):
        raise bad_option('logger must be a logging.Logger, such as logging.getLogger("millrace")')
    paths = paths if paths is not None else Paths()
    if not isinstance(paths, Paths):
        raise bad_option('paths must be a millrace.Paths, such as millrace.Paths(websocket="/ws")')
    paths = Paths(*map(_path, (paths.websocket, paths.webtransport, paths.ping)))
    least = _number("min_back_off", min_back_off, 0.25)
    size, policy = queue_options(queue, queue_policy, 1024, "drop-oldest")
    return Settings(
        token=None if token is None else checked_token(token),
        token_provider=token_provider,
        transports=chosen,
        fallback_after=_number("fallback_after", fallback_after, 2),
        connect_timeout=_number("connect_timeout", connect_timeout, 10),
        keep_alive=_number("keep_alive", keep_alive, 25, negative=True),
        pong_timeout=_number("pong_timeout", pong_timeout, 10),
        min_back_off=least,
        max_back_off=max(least, _number("max_back_off", max_back_off, 15)),
        queue=size,
        queue_policy=policy,
        sender=sender,
        paths=paths,
        allow_plaintext=bool(allow_plaintext),
        ssl=ssl,
        proxies=proxies,
        fail_fast=fail_fast,
        logger=logger,
    )


def _path(path: object) -> str:
    if not isinstance(path, str) or not re.fullmatch(r"/[^?#\s]*", path):
        raise bad_option(
            f"paths must start with a slash, such as /ws, and have no query: {path!r:.40} does not"
        )
    try:
        return re.sub(r"[^!-~]+", lambda m: quote(m[0]), path)
    except UnicodeEncodeError:
        raise bad_option("paths must not have lone surrogates, which UTF-8 cannot hold") from None


def queue_options(
    queue: object, policy: QueuePolicy | None, usual: int, usual_policy: QueuePolicy
) -> tuple[int, QueuePolicy]:
    """Check the options of a queue; what is left out comes from usual."""
    if isinstance(queue, bool) or not isinstance(queue, int) or not 0 <= queue < 2**31:
        raise bad_option(
            f"queue must be a number of messages, 1 or more, or 0 for the default: not {queue!r:.40}"
        )
    if policy is not None and policy not in POLICIES:
        raise unknown("queue_policy", policy, POLICIES)
    return queue or usual, policy or usual_policy


def _number(name: str, value: object, usual: float, negative: bool = False) -> float:
    """Return an option's value, or its default for 0."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise bad_option(f"{name} must be a number of seconds, such as 10, and not {value!r:.40}")
    if abs(value) >= 2**31 or (value < 0 and not negative):
        raise bad_option(
            f"{name} must be a number of seconds{'' if negative else ', 0 or more'}, and below 2^31: not {value!r}"
        )
    return float(value or usual)


def listed(values: object) -> list[Any]:
    """Return what an iterable has; nothing of what is not iterable."""
    return [*values] if isinstance(values, Iterable) else []
