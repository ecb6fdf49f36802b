"""What the tests of clients have in common."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from millrace import Client, MillraceError, Subscription, connect
from millrace.events import EVENTS
from millrace.message import Message

from .edge import Edge, Peer, Record, edges


class Recorder:
    """Records events."""

    def __init__(self) -> None:
        self.all = Record[tuple[str, Any]]()
        self.on = {name: self._handler(name) for name in EVENTS if name != "round_trip"}

    def _handler(self, name: str) -> Any:
        return lambda event: self.all.add((name, event))

    async def event(self, name: str, n: int = 0) -> Any:
        """Return the n-th event of a name, counted from 0."""
        found = await self.all.until(lambda _: len(self.of(name)) > n)
        assert found is not None
        return self.of(name)[n]

    def of(self, name: str) -> list[Any]:
        return [event for other, event in self.all.all if other == name]

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.all.all]


class Tried:
    """A client with its events and what it got."""

    def __init__(self, client: Client, recorder: Recorder) -> None:
        self.client = client
        self.events = recorder
        self.event = recorder.event
        self.got = Record[str]()

    def take(self, m: Message) -> None:
        self.got.add(f"{m.text()} late" if m.late else m.text())

    async def has(self, text: str, start: int = 0) -> None:
        await self.got.until(lambda other: other == text, start)


@contextlib.asynccontextmanager
async def tried(urls: str | Sequence[str], **options: Any) -> AsyncIterator[Tried]:
    """Connect, and close at the end."""
    recorder = Recorder()
    if "token_provider" not in options:
        options.setdefault("token", "AT_1")
    options = {"min_back_off": 0.001, "max_back_off": 0.01, "fail_fast": True, "on": recorder.on, **options}
    async with connect(urls, **options) as client:
        yield Tried(client, recorder)


class Two(Tried):
    """A client at the first of two edges, with a subscription to t:c."""

    def __init__(self, client: Client, recorder: Recorder, a: Edge, b: Edge, first: Peer) -> None:
        super().__init__(client, recorder)
        self.a = a
        self.b = b
        self.first = first


@contextlib.asynccontextmanager
async def two(features: str = "FEATURES:link", subscribe: bool = True, **options: Any) -> AsyncIterator[Two]:
    async with edges(2, features) as all_, tried([edge.url for edge in all_], **options) as it:
        a, b = all_ if it.client.edge == all_[0].url else all_[::-1]
        all_two = Two(it.client, it.events, a, b, await a.peer(0))
        if subscribe:
            await it.client.subscribe("t", "c", on_message=all_two.take)
        yield all_two


def refuses(code: str) -> Any:
    """Expect an error with a code."""
    return pytest.raises(MillraceError, check=lambda err: err.code == code)


async def read(sub: Subscription, n: int) -> list[str]:
    """Read the next n messages."""
    return [(await sub.__anext__()).text() for _ in range(n)]
