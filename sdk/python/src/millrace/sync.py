"""The client without asyncio, for scripts and notebooks: each call waits for its result.

    with millrace.sync.connect("https://edge.example.com", token=token) as client:
        client.publish("paint.room", "news.today", "hello")
        for message in client.subscribe("paint.room", "news.#"):
            print(message.channel, message.text())

The client runs in an event loop in a thread of its own, which ends with it. It therefore also works
where an event loop runs already, as in notebooks. All methods may be called by several threads. A call
that is interrupted by KeyboardInterrupt has ended before that is raised, and the client goes on.
"""

from __future__ import annotations

import atexit
import inspect
import logging
import ssl as tls
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, NoReturn

from . import _connecting
from . import client as aio
from ._daemon import DaemonCalls
from ._link import Transport
from ._names import checked_tenant
from ._near import refuse_unknown
from ._on import On, Remove
from ._payload import Payload
from ._sync_admin import TokenAdmin
from ._sync_presence import Membership, Presence
from ._sync_subscription import Subscription
from ._thread import LoopThread
from ._token_from import token_from
from .client import Delivery
from .errors import MillraceError
from .history import History
from .options import Paths, QueuePolicy, TokenProvider

__all__ = [
    "Client",
    "Membership",
    "Presence",
    "Subscription",
    "Tenant",
    "TokenAdmin",
    "connect",
    "token_from",
]

_AT_EXIT = 5.0  # seconds for a client that nobody closed


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
) -> Client:
    """Connect to one of the edges, and return the client, with options as millrace.connect has them.

    *token_provider* is a plain function, which may take its time: it is called in a thread of its own, one
    call at a time, and nothing waits for one that does not return. Or it is what token_from returns. Handlers of
    events are called in the client's thread: they must be quick, and must not call methods of the client.
    """
    refuse_unknown("connect", unknown, inspect.signature(connect).parameters)
    provider: TokenProvider | None = token_provider
    if callable(token_provider) and not inspect.iscoroutinefunction(token_provider):
        calls: DaemonCalls[Any] = DaemonCalls("millrace-token")
        provider = partial(calls.call, None, token_provider)

    async def start() -> aio.Client:
        return await _connecting.connect(
            addresses,
            token=token,
            token_provider=provider,
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
            on={name: _staying(handler) for name, handler in on.items()} if isinstance(on, Mapping) else on,
        )

    thread = LoopThread("millrace")
    try:
        return Client(thread, thread.call(start))
    except BaseException:
        thread.close()
        raise


class Client(On):
    """A client of Millrace; `connect` makes it. Leaving its ``with`` block closes it."""

    def __init__(self, thread: LoopThread, client: aio.Client) -> None:
        """Made by connect."""
        self._thread = thread
        self._client = client
        self._subscriptions: weakref.WeakSet[Subscription] = weakref.WeakSet()
        atexit.register(self._at_exit)

    def _at_exit(self) -> None:
        """Close a client that nobody has closed, when the program ends, unless it is the parent's."""
        self._thread.leave(self._client.close, _AT_EXIT)

    @property
    def edge(self) -> str:
        """The origin of the edge that the client is, or was last, connected to."""
        return self._client.edge

    @property
    def transport(self) -> Transport:
        """What it is, or was last, connected over."""
        return self._client.transport

    @property
    def rtt(self) -> float | None:
        """The round trip of the last PING, in seconds; None before the first."""
        return self._client.rtt

    @property
    def limited(self) -> bool:
        """Messages have waited for a cap within the last minute: see the event ``limited``."""
        return self._client.limited

    def tenant(self, tenant: str) -> Tenant:
        """Return subscribe, publish, join and presence of one tenant, so that its name stands once."""
        self._thread.check()
        return Tenant(self, checked_tenant(tenant))

    def _add_handler(self, name: str, handler: Callable[[Any], object]) -> Remove:
        async def add() -> Remove:
            return self._client._add_handler(name, _staying(handler))

        remove = self._thread.call(add)

        def later() -> None:
            self._thread.soon(remove)

        return later

    def subscribe(
        self,
        tenant: str,
        pattern: str,
        *,
        history: History | None = None,
        queue: int = 0,
        queue_policy: QueuePolicy | None = None,
        echo: bool = True,
        **unknown: NoReturn,
    ) -> Subscription:
        """Subscribe to the channels that match a pattern; return when the edge has acknowledged it."""
        refuse_unknown("subscribe", unknown, ("history", "queue", "queue_policy", "echo"))
        made = self._thread.call(
            lambda: self._client.subscribe(
                tenant, pattern, history=history, queue=queue, queue_policy=queue_policy, echo=echo
            )
        )
        subscription = Subscription(self._thread, made)
        self._subscriptions.add(subscription)
        return subscription

    def publish(
        self,
        tenant: str,
        channel: str,
        payload: Payload,
        *,
        delivery: Delivery = "broadcast",
        confirm: bool = False,
        key: str | bytes | None = None,
        **unknown: NoReturn,
    ) -> str | None:
        """Publish a message, as millrace.Client.publish does; with *confirm* return its position."""
        refuse_unknown("publish", unknown, ("delivery", "confirm", "key"))
        return self._thread.call(
            lambda: self._client.publish(
                tenant, channel, payload, delivery=delivery, confirm=confirm, key=key
            )
        )

    def join(self, tenant: str, channel: str) -> Membership:
        """Be present in a channel, as millrace.Client.join does; return when the edge has acknowledged it."""
        return Membership(self._thread, self._thread.call(lambda: self._client.join(tenant, channel)))

    def presence(self, tenant: str, pattern: str, *, count: bool = False) -> Presence:
        """See who is present in channels, as millrace.Client.presence does; return when the edge has told it."""
        return Presence(
            self._thread, self._thread.call(lambda: self._client.presence(tenant, pattern, count=count))
        )

    def flush(self) -> None:
        """Wait until the edge has handled all that was sent before."""
        self._thread.call(self._client.flush)

    def renew_token(self) -> None:
        """Ask the token provider at once."""
        self._thread.call(self._client.renew_token)

    def retry(self) -> None:
        """Try at once to reconnect, if the client waits for its next attempt."""
        self._thread.soon(self._client.retry)

    def drain(self) -> None:
        """End all subscriptions without a loss, as Subscription.drain does, then close the client.

        It waits for other threads that read. What the calling thread reads can still be read to its end.
        """
        for subscription in [*self._subscriptions]:
            subscription.drain()
        self.close()

    def close(self) -> None:
        """Leave the edge, after what was published is sent, and end the client's thread.

        Messages that wait in subscriptions are thrown away: see `drain`.
        """
        self._thread.check()
        atexit.unregister(self._at_exit)
        try:
            self._thread.call(self._client.close)
        except MillraceError as err:
            if err.code != "closed":
                raise
        finally:
            self._thread.close()

    def closed(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application closed the client."""
        return self._thread.call(self._client.closed)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._thread.is_inherited:  # the parent's, which goes on
            self.close()


class Tenant:
    """A tenant of a client, as Client.tenant makes it: the same calls, without the tenant."""

    def __init__(self, client: Client, name: str) -> None:
        """Made by Client.tenant."""
        self._client = client
        self.name = name

    def subscribe(
        self,
        pattern: str,
        *,
        history: History | None = None,
        queue: int = 0,
        queue_policy: QueuePolicy | None = None,
        echo: bool = True,
    ) -> Subscription:
        """Subscribe to the channels that match a pattern, as Client.subscribe does."""
        return self._client.subscribe(
            self.name, pattern, history=history, queue=queue, queue_policy=queue_policy, echo=echo
        )

    def publish(
        self,
        channel: str,
        payload: Payload,
        *,
        delivery: Delivery = "broadcast",
        confirm: bool = False,
        key: str | bytes | None = None,
    ) -> str | None:
        """Publish a message, as Client.publish does."""
        return self._client.publish(self.name, channel, payload, delivery=delivery, confirm=confirm, key=key)

    def join(self, channel: str) -> Membership:
        """Be present in a channel, as Client.join does."""
        return self._client.join(self.name, channel)

    def presence(self, pattern: str, *, count: bool = False) -> Presence:
        """See who is present, as Client.presence does."""
        return self._client.presence(self.name, pattern, count=count)


def _staying(handler: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a handler that cannot end the client's thread: sys.exit there would not end the program either."""
    if not callable(handler):
        return handler

    def call(event: Any) -> object:
        try:
            return handler(event)
        except (SystemExit, KeyboardInterrupt) as err:
            raise RuntimeError(f"a handler of events cannot end the program: {err!r}") from err

    return call
