"""Publishes that the edge confirms."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from millrace import MillraceError, _confirm

from .edge import Edge, Peer, at, edges
from .fixture import Tried, refuses, tried, two

HISTORIES = "FEATURES:link,history"


def sent(peer: Peer) -> list[tuple[int, bytes, bytes]]:
    """What an edge has got, of version 3: the id, the key, and the frame without the id."""
    return [
        (int.from_bytes(b[2:6], "big"), b[7 : 7 + b[6]], b[:2] + b[6:]) for b in peer.frames.all if b[0] == 3
    ]


async def the(peer: Peer, n: int) -> tuple[int, bytes, bytes]:
    """Return the n-th publish of an edge."""
    await peer.frames.until(lambda _: len(sent(peer)) > n)
    return sent(peer)[n]


class Begun(Tried):
    def __init__(self, it: Tried, edge: Edge, peer: Peer) -> None:
        super().__init__(it.client, it.events)
        self.edge = edge
        self.peer = peer

    def confirm(self, text: str, key: str | bytes | None = None) -> asyncio.Task[str | None]:
        return asyncio.create_task(self.client.publish("t", "c", text, confirm=True, key=key))


@contextlib.asynccontextmanager
async def begin(features: str = HISTORIES) -> AsyncIterator[Begun]:
    async with edges(1, features) as (edge,), tried(edge.url) as it:
        yield Begun(it, edge, await edge.peer(0))


async def test_stored_accepted_and_refused() -> None:
    async with begin() as it:
        peer = it.peer
        stored = it.confirm("one", "k")
        accepted = asyncio.create_task(
            it.client.publish("t", "c", "two", confirm=True, delivery="one-nearest")
        )
        refused = it.confirm("three")
        first, _, frame = await the(peer, 0)
        assert frame == b"\x03\x00\x01k\x00\x01t\x00\x01cone"
        second, _, frame = await the(peer, 1)
        assert frame == b"\x03\x01\x00\x00\x01t\x00\x01ctwo"
        third, _, _ = await the(peer, 2)
        peer.send(f"ERR:payload_too_large:PUB:{third}")
        peer.send(f"OK:PUB:{second}")
        peer.send(f"OK:PUB:{first}:{at(3)}")
        peer.send(f"OK:PUB:{first}:{at(4)}")  # once is enough
        assert await stored == at(3)
        assert await accepted is None
        with refuses("payload_too_large") as caught:
            await refused
        assert (caught.value.tenant, caught.value.channel) == ("t", "c")
        assert it.events.names == ["connected"]


async def test_what_is_refused_at_once() -> None:
    async with begin() as it:
        for key in ("", "é" * 33, b"", b"x" * 65, 1):
            with refuses("bad_option"):
                await it.confirm("x", key)  # type: ignore[arg-type]
        with refuses("bad_option"):
            await it.client.publish("t", "c", "x", key="k")
        with refuses("bad_channel"):
            await it.client.publish("t", "c..d", "x", confirm=True)
        assert it.peer.frames.all == []


@pytest.mark.parametrize("features", ["FEATURES:link", "ERR:bad_request"])
async def test_an_edge_that_confirms_nothing(features: str) -> None:
    async with begin(features) as it:
        with refuses("no_history"):
            await it.confirm("x", "k")
        assert it.peer.frames.all == []


async def test_a_lost_connection() -> None:
    """With a key it is published again, without one nobody knows."""
    async with begin() as it:
        keyed, plain = it.confirm("x", "k"), it.confirm("y")
        await the(it.peer, 1)
        it.edge.refusal = 503, "draining"
        it.peer.kill()
        with refuses("outcome_unknown") as caught:
            await plain
        assert (caught.value.tenant, caught.value.channel) == ("t", "c")
        with refuses("disconnected"):
            await it.confirm("z")
        later = it.confirm("later", b"later")
        await it.event("reconnecting", 2)
        it.edge.refusal = None
        next_ = await it.edge.peer(1)
        await the(next_, 1)
        again = {key: (id_, frame) for id_, key, frame in sent(next_)}
        assert again.keys() == {b"k", b"later"}
        assert again[b"k"][1] == sent(it.peer)[0][2]
        for id_, _ in again.values():
            next_.send(f"OK:PUB:{id_}:{at(id_)}")
        assert await keyed == at(again[b"k"][0])
        assert await later == at(again[b"later"][0])


async def test_an_edge_that_cannot_say() -> None:
    """With a key it is asked again."""
    async with begin() as it:
        keyed, plain = it.confirm("x", "k"), it.confirm("y")
        for n in range(2):
            it.peer.send(f"ERR:unconfirmed:PUB:{(await the(it.peer, n))[0]}")
        with refuses("outcome_unknown"):
            await plain
        it.peer.send(f"OK:PUB:{(await the(it.peer, 2))[0]}:{at(1)}")
        assert await keyed == at(1)


@pytest.mark.parametrize("first", ["unconfirmed", "lost"])
@pytest.mark.parametrize(
    ("second", "again"),
    [
        ("history_unavailable", True),
        ("try_later", True),
        ("unconfirmed", True),
        ("permission_denied", False),
        ("payload_too_large", False),
        ("no_history", False),
        ("not_on_a_sunday", False),
    ],
)
async def test_an_unknown_publish_stays_unknown(first: str, second: str, again: bool) -> None:
    """Once an attempt is unknown, only a position or outcome_unknown ends the publish."""
    async with begin() as it:
        keyed = it.confirm("x", "k")
        n, on = 1, it.peer
        id_, _, _ = await the(on, 0)
        if first == "lost":
            on.kill()
            n, on = 0, await it.edge.peer(1)
        else:
            on.send(f"ERR:unconfirmed:PUB:{id_}")
        on.send(f"ERR:{second}:PUB:{(await the(on, n))[0]}")
        if again:
            on.send(f"OK:PUB:{(await the(on, n + 1))[0]}:{at(1)}")
            assert await keyed == at(1)
            return
        with refuses("outcome_unknown") as caught:
            await keyed
        assert (caught.value.tenant, caught.value.channel) == ("t", "c")
        assert isinstance(caught.value.__cause__, MillraceError)
        assert caught.value.__cause__.code == second
        assert len(sent(on)) == n + 1


@pytest.mark.parametrize("end", ["revoked", "closed", "over a read limit"])
async def test_an_unknown_publish_and_the_end(end: str) -> None:
    async with begin() as it:
        keyed = it.confirm("x" * 5000, "k")
        it.peer.send(f"ERR:unconfirmed:PUB:{(await the(it.peer, 0))[0]}")
        await the(it.peer, 1)
        if end == "revoked":
            it.peer.send("ERR:token_revoked")
            it.peer.close(4403)
        elif end == "closed":
            await it.client.close()
        else:
            it.peer.close(1009)
        with refuses("outcome_unknown"):
            await keyed


async def test_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_confirm, "_LONGEST", 0.2)  # in place of 100 s
    async with begin() as it:
        with refuses("outcome_unknown"):
            await it.confirm("x", "k")
        it.edge.refusal = 503, "draining"
        it.peer.kill()
        await it.event("disconnected")
        with refuses("disconnected"):  # it was never sent
            await it.confirm("x", "k")


async def test_closing() -> None:
    async with begin() as it:
        keyed = it.confirm("x", "k")
        await the(it.peer, 0)
        await it.client.close()
        with refuses("outcome_unknown"):
            await keyed
        with refuses("closed"):
            await it.confirm("x", "k")


async def test_a_connection_is_not_left_before_it_has_answered() -> None:
    async with two(HISTORIES, subscribe=False) as it:
        plain = asyncio.create_task(it.client.publish("t", "c", "x", confirm=True))
        id_, _, _ = await the(it.first, 0)
        it.first.send("RECONNECT")
        await it.b.peer(0)
        await it.first.lines.until(lambda _: it.first.count("PING") == 2)  # the second one ends the move
        assert "moved" not in it.events.names
        it.first.send(f"OK:PUB:{id_}")
        assert await plain is None
        await it.event("moved")


async def test_confirmed_publishes_keep_their_order_over_a_move() -> None:
    async with two(HISTORIES, subscribe=False) as it:
        it.first.answers = lambda line: line != "PING"
        it.first.send("RECONNECT")
        await it.first.until("PING")
        published = [
            asyncio.create_task(it.client.publish("t", "c", str(n), confirm=n % 2 == 0)) for n in range(6)
        ]
        second = await it.b.peer(0)
        await asyncio.sleep(0.01)
        assert second.frames.all == []
        it.first.answers = lambda _: True
        it.first.send("PONG")
        await second.frames.until(lambda _: len(second.frames.all) == 6)
        assert [frame[-1:] for frame in second.frames.all] == [b"0", b"1", b"2", b"3", b"4", b"5"]
        for id_, _, _ in sent(second):
            second.send(f"OK:PUB:{id_}")
        assert await asyncio.gather(*published) == [None] * 6


async def test_over_the_read_limit() -> None:
    """The largest publish is refused, and not sent again."""
    async with begin() as it:

        def publish(size: int) -> asyncio.Task[str | None]:
            payload = bytes(size)
            return asyncio.create_task(it.client.publish("t", "c", payload, confirm=True, key="k"))

        small, larger, largest, same = (publish(size) for size in (1, 6000, 9000, 9000))
        await the(it.peer, 3)
        it.peer.close(1009)
        for one in (largest, same):
            with refuses("payload_too_large") as caught:
                await one
            assert (caught.value.tenant, caught.value.channel) == ("t", "c")
        peer = await it.edge.peer(1)
        await the(peer, 1)
        assert sorted(len(frame) for _, _, frame in sent(peer)) == [11, 6010]

        # One that nobody awaits.
        await it.events.event("reconnected")
        await it.client.publish("t", "plain", bytes(7000))
        await it.client.publish("t", "smaller", bytes(6500))
        await peer.frames.until(lambda b: 6500 < len(b) < 7000)
        peer.close(1009)
        event = await it.events.event("publish_error")
        assert (event.channel, event.code) == ("plain", "payload_too_large")
        peer = await it.edge.peer(2)
        await the(peer, 1)
        assert sorted(len(frame) for _, _, frame in sent(peer)) == [11, 6010]

        # The largest one by now; but it was sent before. Nothing that could not be too large is refused.
        peer.close(1009)
        with refuses("outcome_unknown"):
            await larger
        again = publish(4000)
        peer = await it.edge.peer(3)
        await the(peer, 1)
        peer.close(1009)
        peer = await it.edge.peer(4)
        for n in range(2):
            peer.send(f"OK:PUB:{(await the(peer, n))[0]}")
        await asyncio.gather(small, again)
        assert len(it.events.of("publish_error")) == 1
        assert (await it.events.event("disconnected")).error.close_code == 1009
