"""Connecting: how a client is made."""

from __future__ import annotations

import inspect
import logging
import ssl as tls
from collections.abc import Callable, Generator, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from ._address import parse_address
from ._link import Transport
from ._near import refuse_unknown
from ._session import Session
from .client import Client
from .errors import bad_option
from .options import Paths, QueuePolicy, TokenProvider, listed, settings


def connect(
    addresses: str | Iterable[str],
    *,
    token: str | None = None,
    token_provider: TokenProvider | None = None,
    transports: Iterable[Transport] = ("webtransport", "websocket"),
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
    on: Mapping[str, Callable[[Any], object]] | None = None,
    **unknown: NoReturn,
) -> Connecting:
    """Connect to one of the edges, with ``async with connect(…) as client`` or ``client = await connect(…)``.

    It waits for an edge, with pauses between the attempts, which the event ``connecting`` reports; the error says
    what no waiting helps with, such as a token that no edge accepts, or a server that is no edge. With *fail_fast*
    every edge is tried once. The client stays connected until it is closed.

    docs/reference/python.md has what the options mean, and their defaults, which 0 and None stand for. Durations
    are seconds. *proxy* is the URL of a forward proxy: by default that of the environment, if there is one, and
    `none` means no proxy at all. *on* has handlers of events, by name, that miss no event: see Client.on. What
    reports a loss and has no handler is said on *logger*, once for each code: by default that of the name
    ``millrace``.
    """
    refuse_unknown("connect", unknown, inspect.signature(connect).parameters)
    checked = settings(
        token=token,
        token_provider=token_provider,
        transports=transports,
        fallback_after=fallback_after,
        connect_timeout=connect_timeout,
        keep_alive=keep_alive,
        pong_timeout=pong_timeout,
        min_back_off=min_back_off,
        max_back_off=max_back_off,
        queue=queue,
        queue_policy=queue_policy,
        sender=sender,
        paths=paths,
        allow_plaintext=allow_plaintext,
        ssl=ssl,
        proxy=proxy,
        fail_fast=fail_fast,
        logger=logger,
    )
    every = [addresses] if isinstance(addresses, str) else listed(addresses)
    if not every:
        said = "none is given" if isinstance(addresses, Iterable) else f"not {type(addresses).__name__}"
        raise bad_option(f"one or more addresses are needed, such as https://edge.example.com: {said}")
    if on is not None and not isinstance(on, Mapping):
        raise bad_option('on has handlers by the names of events, such as {"connected": handle}')
    parsed = [parse_address(address, allow_plaintext) for address in every]

    async def start() -> Client:
        session = Session(parsed, checked, on or {})
        try:
            await session.start()
        except BaseException:
            await session.end()
            raise
        return Client(session)

    return Connecting(start)


class Connecting:
    """What connect returns: await it for the client, or enter it, which closes the client at the end."""

    def __init__(self, start: Callable[[], Any]) -> None:
        """Made by connect."""
        self._start = start
        self._client: Client | None = None

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            """Say what to do to who takes it for the client."""
            raise AttributeError(
                f"connect(…) is not connected yet, and has no {name}: use async with connect(…) as client, "
                "or client = await connect(…); without asyncio, millrace.sync.connect",
                name=name,
                obj=self,
            )

    def __await__(self) -> Generator[Any, None, Client]:
        return self._start().__await__()  # type: ignore[no-any-return]

    async def __aenter__(self) -> Client:
        self._client = await self
        return self._client

    async def __aexit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._client is not None:
            await self._client.close()
