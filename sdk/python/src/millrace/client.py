"""A client of Millrace."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any, Literal, NoReturn

from ._confirm import publish_confirmed
from ._keeper import Config
from ._link import Transport
from ._loop import OwnLoop
from ._names import checked, checked_tenant
from ._near import refuse_unknown, unknown
from ._on import On
from ._payload import Payload, payload_bytes, utf8
from ._session import Session
from ._tenant import Tenant
from ._timers import now
from ._wire import DELIVERIES, encode_publish
from .errors import MillraceError, bad_option
from .history import History, checked_start
from .options import QueuePolicy, queue_options
from .presence import Membership, Presence
from .subscription import OnMessage, Subscription

__all__ = ["Client", "Delivery"]

Delivery = Literal["broadcast", "one-nearest", "one-random"]
"""Who gets a message: every subscriber, or one connection, of the nearest edge or of any."""

_SUBSCRIBE = ("on_message", "history", "queue", "queue_policy", "echo")
_TURN = 32  # publishes, after which other tasks have their turn


class Client(On):
    """A client of Millrace; `connect` makes it.

    It belongs to the event loop in which it was made: in another one, and in a child process, every call is
    the error ``bad_option``.
    """

    def __init__(self, session: Session) -> None:
        """Made by connect."""
        self._session = session
        self._loop = OwnLoop()
        self._last_id = 0
        self._turn = 0

    @property
    def edge(self) -> str:
        """The origin of the edge that the client is, or was last, connected to."""
        return self._session.edge

    @property
    def transport(self) -> Transport:
        """What it is, or was last, connected over."""
        return self._session.transport

    @property
    def rtt(self) -> float | None:
        """The round trip of the last PING, in seconds; None before the first."""
        return self._session.rtt

    @property
    def limited(self) -> bool:
        """Messages have waited for a cap within the last minute: see the event ``limited``."""
        return now() < self._session.limited_until

    def tenant(self, tenant: str) -> Tenant:
        """Return subscribe, publish, join and presence of one tenant, so that its name stands once."""
        self._loop.check()
        return Tenant(self, checked_tenant(tenant))

    def _add_handler(self, name: str, handler: Callable[[Any], object]) -> Callable[[], None]:
        self._loop.check()
        return self._session.events.on(name, handler)

    async def subscribe(
        self,
        tenant: str,
        pattern: str,
        *,
        on_message: OnMessage | None = None,
        history: History | None = None,
        queue: int = 0,
        queue_policy: QueuePolicy | None = None,
        echo: bool = True,
        **unknown: NoReturn,
    ) -> Subscription:
        """Subscribe to the channels that match a pattern; return when the edge has acknowledged it.

        The error has the edge's code. While the client reconnects, it waits. An empty tenant is ``~``. To
        cancel it undoes it.

        *on_message* takes the messages, in place of iteration: a plain function at once, as they come; a
        coroutine function one after the other, from the queue. What it raises goes to the exception handler of
        the event loop.

        With a *history*, first the past comes from there, as far as the edge keeps it, then what comes.
        Messages have a position, and come in that order, each once. After every loss of the connection, and
        every move, the subscription goes on behind the last one; if something may be missing, the event
        ``gap`` says so. The client has no other subscription to the pattern. See docs/reference/python.md, Histories.

        With *echo* false, what this client publishes itself is left out, but for messages to one subscriber. Of
        those, the edge sends no more than *queue* before the application takes them, and none is dropped.
        """
        refuse_unknown("subscribe", unknown, _SUBSCRIBE)
        self._loop.check()
        session = self._session
        tenant = checked_tenant(tenant)
        checked("pattern", pattern, tenant)
        if on_message is not None and not callable(on_message):
            raise bad_option(f"on_message must be a function, and is {type(on_message).__name__}")
        if not isinstance(echo, bool):
            raise bad_option(f"echo must be True or False, and is {echo!r:.40}")
        size, policy = queue_options(
            queue, queue_policy, session.settings.queue, session.settings.queue_policy
        )
        config = Config(on_message, size, policy, checked_start(history, pattern), echo)
        subscription = Subscription(tenant, pattern, session.subscriber, session.handlers, config)
        await session.subscriber.subscribe(subscription)
        return subscription

    async def publish(
        self,
        tenant: str,
        channel: str,
        payload: Payload,
        *,
        delivery: Delivery = "broadcast",
        confirm: bool = False,
        key: str | bytes | None = None,
        **unknown_options: NoReturn,
    ) -> str | None:
        """Publish a message; return when it is handed to the transport, no faster than the network takes it.

        The edge does not acknowledge; a refusal is the event ``publish_error``. Without a connection the error
        is ``disconnected``. An empty tenant is ``~``. Publishes are sent in the order of the calls. One that is
        cancelled may have been sent. A *payload* that is neither bytes nor a string is written as JSON.

        With *confirm* it returns the position at which the message is stored, or None if this edge has
        accepted it and no history keeps the channel. A *key*, of 1 to 64 bytes, tells the message from others
        of its channel: what is published again with the same key within two minutes is stored once. It belongs
        to the subject of the client's tokens; without one, to the token. If the connection is lost before the
        answer comes, or the edge cannot say, a publish with a key is repeated. From then on it ends with its
        position or with ``outcome_unknown``: it may be stored. That is also the error after 100 s, without a
        key at once, and when the client ends meanwhile. All other errors are certain: it is not stored.

        With *confirm* and the *delivery* to one subscriber, it returns None when one has got it. The error
        ``no_subscriber`` says that nobody has subscribed, ``subscribers_busy`` that all have as many as they take;
        nobody has got it then. Such a message has no key.
        """
        refuse_unknown("publish", unknown_options, ("delivery", "confirm", "key"))
        self._loop.check()
        session = self._session
        tenant = checked_tenant(tenant)
        checked("channel", channel, tenant)
        way = DELIVERIES.get(delivery)
        if way is None:
            raise unknown("delivery", delivery, DELIVERIES)
        body = payload_bytes(payload)
        if confirm:
            return await self._publish_confirmed(tenant, channel, body, way, key)
        if key is not None:
            raise bad_option(
                "a key is for a publish that is confirmed: add confirm=True, or leave the key out"
            )
        frame = encode_publish(tenant, channel, body, way or None)
        name = f"{tenant}:{channel}"
        session.publish_connection()
        if session.gate is None:
            sent = session.publish_connection().publish(frame, name)
        else:  # a move holds publishes up for a round trip; they go in order
            sent = await session.gated(lambda: session.publish_connection().publish(frame, name))
        self._turn = (self._turn + 1) % _TURN
        if sent is not None:
            await sent
        elif self._turn == 0:
            await asyncio.sleep(0)
        return None

    async def _publish_confirmed(
        self, tenant: str, channel: str, body: bytes, way: int, key: str | bytes | None
    ) -> str | None:
        if not isinstance(key, (str, bytes, type(None))):
            raise bad_option(f"a key is a string or bytes, and not {type(key).__name__}")
        label = utf8("a key", key) if isinstance(key, str) else key or b""
        if key is not None and not 1 <= len(label) <= 64:
            raise bad_option(f"a key has 1 to 64 bytes, and this one {len(label)}: use a hash of it")
        if key is not None and way:
            raise bad_option(
                "a key is for what is stored, and a message to one subscriber is not: leave it out"
            )
        self._last_id = (self._last_id + 1) & 0xFFFFFFFF
        frame = encode_publish(tenant, channel, body, way, (self._last_id, label))
        return await publish_confirmed(
            self._session, self._last_id, frame, way > 0, label if key is not None else None, tenant, channel
        )

    async def join(self, tenant: str, channel: str) -> Membership:
        """Be present in a channel; return when the edge has acknowledged it.

        Who is present is the subject of the token; a backend issues tokens that have one. Who is present with
        several clients counts once. The membership is restored on each connection: others see no leaving,
        unless the client is away for longer than the edge's ``linger``. Of several memberships of one channel
        the last one that ends makes the client leave.

        The error has the edge's code: ``permission_denied`` without the right to subscribe to the channel,
        ``no_presence``, ``no_subject``, ``too_many_members``. While the client reconnects, it waits. An empty
        tenant is ``~``. To cancel it undoes it.
        """
        self._loop.check()
        tenant = checked_tenant(tenant)
        checked("channel", channel, tenant)
        return await self._session.presences.join(tenant, channel)

    async def presence(self, tenant: str, pattern: str, *, count: bool = False) -> Presence:
        """See who is present in the channels that match a pattern; return when the edge has told it.

        With *count*, only how many are present in each channel. Members need the right to see them (presence
        rules of the token), counts that to subscribe to the pattern. Presences of the same pattern share what
        the edge tells.

        The error has the edge's code, such as ``permission_denied`` or ``no_presence``. While the client
        reconnects, it waits. An empty tenant is ``~``. To cancel it undoes it.
        """
        self._loop.check()
        tenant = checked_tenant(tenant)
        checked("pattern", pattern, tenant)
        return await self._session.presences.watch(tenant, pattern, count)

    async def flush(self) -> None:
        """Wait until the edge has handled all that was sent before.

        The error is ``disconnected`` if it may not have.
        """
        self._loop.check()
        session = self._session
        session.publish_connection()
        pong = await session.gated(lambda: session.publish_connection().ping())
        await pong

    async def renew_token(self) -> None:
        """Ask the token provider at once. With another token, the client moves to a new connection.

        It returns when the token was given. The error is ``token_provider``, ``logged_out``, or
        ``bad_option`` without a provider.
        """
        self._loop.check()
        session = self._session
        if session.over is not None:
            raise session.over.again()
        if not session.tokens.provided:
            raise bad_option("the client has no token provider")
        await session.tokens.renew()

    def retry(self) -> None:
        """Try at once to reconnect, if the client waits for its next attempt; the pauses start over."""
        self._loop.check()
        self._session.retry()

    async def drain(self) -> None:
        """End all subscriptions without a loss, as Subscription.drain does, then close the client.

        It returns when what has come is done with, and the connection has ended. A program that is told to stop
        calls it in place of `close`. To cancel it, as after a time, only ends that waiting: close then.
        """
        self._loop.check()
        caller = asyncio.current_task()
        while subs := self._session.subscriber.subscriptions:
            await asyncio.gather(*(sub._drain(caller) for sub in subs))
        await self.close()

    async def close(self) -> None:
        """Leave the edge, after what was published is sent, if that takes less than a second.

        It returns when the connection has ended, and no function of the application is called any more; if one
        of these calls it, when the connection has ended. To cancel it cancels them. Messages that wait in
        subscriptions are thrown away: see `drain`.
        """
        self._loop.check()
        self._session.finish(None)
        await self._session.end()

    async def closed(self) -> MillraceError | None:
        """Wait for the end: return the error, or None if the application closed the client."""
        self._loop.check()
        return await asyncio.shield(self._session.closed)

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
