"""A client's calls for one tenant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._payload import Payload
from .history import History
from .options import QueuePolicy
from .presence import Membership, Presence
from .subscription import OnMessage, Subscription

if TYPE_CHECKING:
    from .client import Client, Delivery


class Tenant:
    """A tenant of a client, as Client.tenant makes it: the same calls, without the tenant."""

    def __init__(self, client: Client, name: str) -> None:
        """Made by Client.tenant."""
        self._client = client
        self.name = name

    async def subscribe(
        self,
        pattern: str,
        *,
        on_message: OnMessage | None = None,
        history: History | None = None,
        queue: int = 0,
        queue_policy: QueuePolicy | None = None,
        echo: bool = True,
    ) -> Subscription:
        """Subscribe to the channels that match a pattern, as Client.subscribe does."""
        return await self._client.subscribe(
            self.name,
            pattern,
            on_message=on_message,
            history=history,
            queue=queue,
            queue_policy=queue_policy,
            echo=echo,
        )

    async def publish(
        self,
        channel: str,
        payload: Payload,
        *,
        delivery: Delivery = "broadcast",
        confirm: bool = False,
        key: str | bytes | None = None,
    ) -> str | None:
        """Publish a message, as Client.publish does."""
        return await self._client.publish(
            self.name, channel, payload, delivery=delivery, confirm=confirm, key=key
        )

    async def join(self, channel: str) -> Membership:
        """Be present in a channel, as Client.join does."""
        return await self._client.join(self.name, channel)

    async def presence(self, pattern: str, *, count: bool = False) -> Presence:
        """See who is present, as Client.presence does."""
        return await self._client.presence(self.name, pattern, count=count)

    def __repr__(self) -> str:
        return f"<Tenant {self.name}>"
