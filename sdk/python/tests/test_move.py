"""A client that moves to another connection without a loss or a copy."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from millrace import events

from .edge import Peer, edges, everything, nothing, pings
from .fixture import Two, tried, two


async def mark(it: Two, peer: Peer, n: int = 0) -> None:
    """Wait until the client has got all that a peer has sent."""
    peer.send("ERR:mark")
    await it.event("edge_error", n)


async def test_a_drain() -> None:
    """Nothing is lost, nothing comes twice, and the order holds."""
    async with two() as it:
        first = it.first
        first.answers = pings
        first.send("RECONNECT")
        assert await it.event("moving") == events.Moving(it.a.url, "websocket", "drain")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        first.deliver("1")  # leads, and is noted
        await it.has("1")
        for text in ("1", "2", "3", "only here"):  # ahead: they wait
            second.deliver(text)
        await mark(it, second)
        assert it.got.all == ["1"]
        first.deliver("2")
        first.deliver("3")
        await it.has("3")
        await first.until("UNSUB:t:c")
        first.deliver("4")  # on its way while it was left
        await it.has("4")
        assert it.got.all == ["1", "2", "3", "4"]
        first.send("OK:UNSUB:t:c")
        assert await it.event("moved") == events.Moved(it.b.url, "websocket", "drain")
        for text in ("4", "5", "4"):  # late, then a new one, then another one that is equal
            second.deliver(text)
        await it.has("4", 6)
        assert it.got.all == ["1", "2", "3", "4", "only here", "5", "4"]
        assert await first.closed.until(lambda _: True) == 1000
        assert it.client.edge == it.b.url


async def test_publishes_go_over_in_order() -> None:
    async with two() as it:
        first = it.first
        first.answers = lambda line: line != "PING"
        await it.client.publish("t", "c", "1")
        first.send("RECONNECT")
        await first.until("PING")  # the second has its subscription
        texts = [str(n) for n in range(2, 8)]
        published = [asyncio.create_task(it.client.publish("t", "c", text)) for text in texts]
        given_up = asyncio.create_task(it.client.publish("t", "c", "never"))
        flushed = asyncio.create_task(it.client.flush())
        second = await it.b.peer(0)
        await asyncio.sleep(0.01)
        given_up.cancel()
        assert (len(first.frames.all), len(second.frames.all)) == (1, 0)
        first.answers = everything
        first.send("PONG")
        await asyncio.gather(*published)
        await flushed
        assert [frame[-1:].decode() for frame in second.frames.all] == texts
        await it.event("moved")


async def test_subscribing_and_leaving_during_a_move() -> None:
    async with two() as it:
        first, b = it.first, it.b
        b.answers = pings
        first.send("RECONNECT")
        second = await b.peer(0)
        await second.until("SUB:t:c")
        second.answers = everything
        more = await it.client.subscribe("t", "d", on_message=it.take)
        await first.until("SUB:t:d")
        await second.until("SUB:t:d")
        await more.unsubscribe()
        assert first.count("UNSUB:t:d") == second.count("UNSUB:t:d") == 1
        first.answers = pings
        second.send("OK:SUB:t:c")
        await first.until("UNSUB:t:c")
        await it.client.subscribe("t", "e", on_message=it.take)
        assert first.count("SUB:t:e") == 0
        second.deliver("waits")
        second.deliver("at once", "e", "e")  # the first does not have it
        await it.has("at once")
        first.send("OK:UNSUB:t:c")
        await it.event("moved")
        await it.has("waits")


async def test_the_second_is_lost() -> None:
    async with two() as it:
        it.b.answers = pings
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        second.deliver("1")
        await mark(it, second)
        it.b.answers = everything
        second.kill()
        await it.event("moved")
        third = (it.b.peers.all[1:] or it.a.peers.all[1:])[0]
        third.deliver("2")
        await it.has("2")
        assert it.got.all == ["2"]  # the pile is dropped
        assert "disconnected" not in it.events.names


@pytest.mark.parametrize(
    "end",
    [
        lambda first, second: first.revoke(),
        lambda first, second: second.revoke(),
        lambda first, second: first.kill(),
    ],
)
async def test_what_the_second_has_brought_is_given(end: Callable[[Peer, Peer], None]) -> None:
    async with two() as it:
        it.a.answers = it.b.answers = lambda line: line != "SUB:t:c"
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        second.deliver("1")
        second.deliver("2")
        await mark(it, second)
        assert it.got.all == []
        end(it.first, second)
        await it.has("2")
        assert it.got.all == ["1", "2"]


async def test_the_second_is_lost_then_the_first() -> None:
    async with two() as it:
        it.b.answers = pings
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        second.deliver("1")
        await mark(it, second)
        it.a.refusal = it.b.refusal = 503, "draining"
        second.kill()
        await it.b.refusals.until(lambda _: True)
        assert it.got.all == []
        it.first.kill()
        await it.has("1")


async def test_the_second_is_lost_when_the_first_has_been_left() -> None:
    async with two() as it:
        it.first.answers = pings
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await it.first.until("UNSUB:t:c")
        second.deliver("1")
        await mark(it, second)
        second.kill()
        assert (await it.event("disconnected")).edge == it.b.url
        await it.event("reconnected")
        await it.first.closed.until(lambda _: True)
        third = (it.a.peers.all[1:] or it.b.peers.all[1:])[0]
        third.deliver("2")
        await it.has("2")
        assert it.got.all == ["1", "2"]


async def test_a_subscription_that_is_made_just_before_the_first_is_left() -> None:
    async with two() as it:
        it.first.answers = it.b.answers = lambda line: line != "SUB:t:d"
        it.first.send("RECONNECT")
        await it.first.until("PING")  # 250 ms before
        second = await it.b.peer(0)
        made = asyncio.create_task(it.client.subscribe("t", "d"))
        await second.until("SUB:t:d")
        await asyncio.sleep(0.4)
        assert it.first.count("UNSUB:t:c") == 0
        it.first.answer("SUB:t:d")
        second.answer("SUB:t:d")
        await made
        await it.event("moved")


async def test_a_first_connection_that_is_behind_is_not_left() -> None:
    async with two() as it:
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await it.first.until("PING")  # 250 ms before
        second.deliver("2")
        await asyncio.sleep(0.4)
        assert it.first.count("UNSUB:t:c") == 0
        it.first.deliver("1")  # which the second was subscribed too late for
        it.first.deliver("2")
        await it.event("moved")
        assert it.got.all == ["1", "2"]


async def test_the_first_is_lost_and_the_second_leads() -> None:
    async with two() as it:
        it.first.answers = lambda line: line != "PING"
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await it.first.until("PING")  # the second has its subscription
        second.deliver("1")
        await mark(it, second)
        it.first.kill()
        await it.has("1")
        await it.client.publish("t", "c", "x")
        await second.frames.until(lambda _: True)
        await it.event("moved")
        assert "disconnected" not in it.events.names


async def test_the_first_is_lost_before_the_second_has_its_subscriptions() -> None:
    async with two() as it:
        it.b.answers = nothing
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        it.b.answers = everything
        it.first.kill()
        await it.event("disconnected")
        await it.event("reconnected")
        await second.closed.until(lambda _: True)


async def test_the_first_is_lost_before_there_is_a_second() -> None:
    async with two() as it:
        it.a.refusal = it.b.refusal = 503, "draining"
        it.first.send("RECONNECT")
        await it.event("moving")
        it.first.kill()
        await it.event("disconnected")
        it.a.refusal = it.b.refusal = None
        await it.event("reconnected")


async def test_the_edge_that_is_moved_to_drains_too() -> None:
    async with two() as it:
        it.b.answers = pings
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        second.answers = everything
        second.send("RECONNECT")
        second.send("OK:SUB:t:c")
        assert (await it.event("moved")).edge == it.b.url
        assert (await it.event("moved", 1)).edge == it.a.url


async def test_closing_during_a_move() -> None:
    async with two() as it:
        it.b.answers = nothing
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("SUB:t:c")
        await it.client.close()
        await it.first.closed.until(lambda _: True)
        await second.closed.until(lambda _: True)


async def test_a_drain_of_the_only_edge() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        await it.client.subscribe("t", "c", on_message=it.take)
        edge.refusal = 503, "draining"
        first = await edge.peer(0)
        first.send("RECONNECT")
        await edge.refusals.until(lambda _: len(edge.refusals.all) > 5)
        first.close(1001)
        await it.event("disconnected")
        edge.refusal = None
        await it.event("reconnected")
        edge.peers.all[-1].deliver("1")  # there may have been one that the move began
        await it.has("1")
