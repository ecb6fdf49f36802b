"""A client that comes back after a loss of its connection."""

from __future__ import annotations

import asyncio

import pytest

from millrace import events

from .edge import edges, everything, nothing
from .fixture import read, refuses, tried, two


async def test_a_lost_connection_comes_back_with_its_subscriptions() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        sub = await it.client.subscribe("t", "c")
        edge.refusal = 503, "draining"
        (await edge.peer(0)).kill()
        lost = await it.event("disconnected")
        assert (lost.edge, lost.error.code) == (edge.url, "disconnected")
        with refuses("disconnected"):
            await it.client.publish("t", "c", "")
        with refuses("disconnected"):
            await it.client.flush()
        waits = asyncio.create_task(it.client.subscribe("t", "d"))
        assert await it.event("reconnecting") == events.Reconnecting(1, 0.0)
        await it.event("reconnecting", 3)
        edge.refusal = None
        back = await it.event("reconnected")
        assert back.away > 0
        assert back.complete is False
        await waits
        peer = await edge.peer(1)
        assert sorted(peer.lines.all) == ["SUB:t:c", "SUB:t:d"]
        peer.deliver("after")
        assert await read(sub, 1) == ["after"]


async def test_another_edge_comes_first() -> None:
    async with two() as it:
        it.first.close(1001)
        assert (await it.event("reconnected")).edge == it.b.url


async def test_a_subscription_that_is_refused_now() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        sub = await it.client.subscribe("t", "c")
        await it.client.subscribe("t", "d")
        edge.answers = lambda line: line != "SUB:t:c"
        (await edge.peer(0)).kill()
        peer = await edge.peer(1)
        await peer.until("SUB:t:c")
        peer.send("ERR:too_many_subscriptions:SUB:t:c")
        told = await it.event("subscription_error")
        assert told == events.SubscriptionError("t", "c", "too_many_subscriptions")
        error = await sub.ended()
        assert error is not None
        assert error.code == "too_many_subscriptions"
        await it.event("reconnected")


async def test_a_connection_that_is_lost_while_it_is_restored() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        await it.client.subscribe("t", "c")
        edge.answers = nothing
        (await edge.peer(0)).kill()
        second = await edge.peer(1)
        await second.until("SUB:t:c")
        await asyncio.sleep(0.3)
        edge.answers = everything
        second.kill()
        assert (await it.event("reconnected")).away >= 0.29  # since the connection that had them all
        assert it.events.names.count("disconnected") == 1


async def test_a_token_that_no_edge_accepts_any_more() -> None:
    async with two() as it:
        it.a.refusal = it.b.refusal = 401, "unauthorized"
        it.first.kill()
        error = await it.client.closed()
        assert error is not None
        assert error.code == "unauthorized"


async def test_a_region_that_is_not_allowed_is_one_edges_matter() -> None:
    async with two() as it:
        it.b.refusal = 403, "region_not_allowed"
        it.first.kill()
        assert (await it.event("reconnected")).edge == it.a.url


async def test_an_address_that_is_not_allowed_is_the_end() -> None:
    async with two() as it:
        it.b.refusal = 403, "ip_not_allowed"
        it.first.kill()
        error = await it.client.closed()
        assert error is not None
        assert error.code == "ip_not_allowed"


async def test_an_edge_may_read_slowly_what_was_sent_before_a_ping() -> None:
    async with edges(1) as (edge,), tried(edge.url, keep_alive=0.1, pong_timeout=0.1) as it:
        peer = await edge.peer(0)
        peer.answers = nothing
        await it.client.publish("t", "c", bytes(1500))
        flushing = asyncio.create_task(it.client.flush())
        await peer.until("PING")
        await asyncio.sleep(1.3)  # it would be suspect after 1 s, and lost after 0.3
        assert not {"suspect", "disconnected"} & {*it.events.names}
        peer.send("PONG")
        await flushing


async def test_closing_while_it_reconnects() -> None:
    async with edges(1) as (edge,), tried(edge.url, min_back_off=10, max_back_off=10) as it:
        edge.refusal = 503, "draining"
        waits = asyncio.create_task(it.client.subscribe("t", "c"))
        (await edge.peer(0)).kill()
        await it.event("reconnecting", 1)
        await it.client.close()
        with refuses("closed"):
            await waits


async def test_retry() -> None:
    async with edges(1) as (edge,), tried(edge.url, min_back_off=3600, max_back_off=3600) as it:
        it.client.retry()  # there is nothing to do
        edge.refusal = 503, "draining"
        (await edge.peer(0)).kill()
        await it.event("reconnecting", 1)
        edge.refusal = None
        it.client.retry()
        await it.event("reconnected")
        it.client.retry()
    it.client.retry()


@pytest.mark.parametrize(("retry_after", "least"), [("1", 0.9), ("3600", 1.9), ("soon", 0), ("9" * 5000, 0)])
async def test_retry_after(retry_after: str, least: float) -> None:
    """An edge says how long to wait; the client does, up to max_back_off."""
    async with edges(1) as (edge,), tried(edge.url, min_back_off=0.001, max_back_off=2) as it:
        edge.refusal = 503, "too_many_connections"
        edge.retry_after = retry_after
        (await edge.peer(0)).kill()
        told = await it.event("reconnecting", 1)
        assert told.delay >= least
        assert told.delay <= 2
        edge.refusal = None
        it.client.retry()
        await it.event("reconnected")


async def test_an_edge_that_asks_to_wait_holds_no_other_up() -> None:
    async with two(max_back_off=3600) as it:
        it.a.refusal = it.b.refusal = 503, "too_many_connections"
        it.a.retry_after = "3600"
        it.first.kill()
        await it.b.refusals.until(lambda _: len(it.b.refusals.all) > 3)
        assert len(it.a.refusals.all) == 1


@pytest.mark.parametrize("then", ["confirmed", "refused", "left", "lost"])
async def test_a_subscription_that_cannot_be_restored_yet(then: str) -> None:
    later = True

    def answers(line: str) -> bool | str:
        return "ERR:try_later:SUB:t:c" if later and line == "SUB:t:c" else True

    async with edges(1) as (edge,), tried(edge.url) as it:
        sub = await it.client.subscribe("t", "c")
        edge.answers = answers
        (await edge.peer(0)).kill()
        peer = await edge.peer(1)
        assert await it.event("subscription_error") == events.SubscriptionError("t", "c", "try_later")
        await peer.lines.until(lambda _: peer.count("SUB:t:c") > 2)
        assert "reconnected" not in it.events.names
        if then == "refused":
            peer.answers = lambda line: "ERR:permission_denied:SUB:t:c" if line == "SUB:t:c" else True
            error = await sub.ended()
            assert error is not None
            assert error.code == "permission_denied"
        elif then == "left":
            await sub.unsubscribe()
            assert peer.count("UNSUB:t:c") == 1
        elif then == "lost":
            peer.kill()
            later = False
        else:
            later = False
        await it.event("reconnected")
        assert len([e for e in it.events.of("subscription_error") if e.code == "try_later"]) == 1


async def test_a_move_waits_for_a_subscription_that_is_to_be_tried_later() -> None:
    async with two() as it:
        later = True
        it.b.answers = lambda line: "ERR:try_later:SUB:t:c" if later and line == "SUB:t:c" else True
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.lines.until(lambda _: second.count("SUB:t:c") > 3)
        assert it.first.count("UNSUB:t:c") == 0
        later = False
        await it.event("moved")
