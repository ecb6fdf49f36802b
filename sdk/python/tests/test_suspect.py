"""A connection that brings nothing (docs/decisions/0018-suspicion.md)."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from millrace import events
from millrace._liveness import Liveness

from .edge import Edge, Peer, Record, edges, everything, nothing, pings
from .fixture import Two, refuses, tried, two


@contextlib.asynccontextmanager
async def silent(it: Two, n: int = 0) -> AsyncIterator[None]:
    """Make the first connection suspect: it does not answer a PING."""
    it.first.answers = nothing
    flushing = asyncio.create_task(it.client.flush())
    try:
        await it.event("suspect", n)
        yield
    finally:
        flushing.cancel()
        await asyncio.wait({flushing})


async def test_another_connection_takes_over_and_the_first_trails() -> None:
    async with two() as it:
        client, a, b, first = it.client, it.a, it.b, it.first
        first.answers = nothing
        for n in range(6):
            first.deliver(str(n))  # a rhythm, then none
            await it.has(str(n))
            await asyncio.sleep(0.02)
        b.answers = lambda line: not line.startswith("SUB:")
        assert await it.event("suspect") == events.Suspect(a.url, "websocket")
        assert first.lines.all == ["SUB:t:c", "PING"]
        published = [asyncio.create_task(client.publish("t", "c", text)) for text in "123"]
        flushed = asyncio.create_task(client.flush())
        second = await b.peer(0)
        await second.until("SUB:t:c")
        second.deliver("held")
        second.answers = everything
        assert second.frames.all == []
        second.answer("SUB:t:c")
        recovered = await it.event("recovered")
        assert (recovered.edge, recovered.transport) == (b.url, "websocket")
        assert recovered.away >= 2
        await asyncio.gather(*published, flushed)
        assert [frame[-1:] for frame in second.frames.all] == [b"1", b"2", b"3"]
        assert first.frames.all == []
        second.deliver("both")
        await it.has("both")

        for text in ("gap", "held", "both"):  # it wakes
            first.deliver(text)
        await first.until("PING", 2)
        second.deliver("on")  # while the gap waits
        await it.has("on")
        first.deliver("soon")  # the second is a little behind
        second.deliver("soon")
        first.send("ERR:mark")  # no event
        for _ in range(first.count("PING")):  # the last is to leave
            first.send("PONG")
        await first.closed.until(lambda _: True)
        await it.has("gap late")
        second.deliver("end")
        await it.has("end")
        assert [text for text in it.got.all[6:] if text != "gap late"] == [
            "held",
            "both",
            "on",
            "soon",
            "end",
        ]
        assert not {"edge_error", "disconnected", "moving"} & {*it.events.names}
        assert client.edge == b.url


async def test_the_first_wakes() -> None:
    """The second is dropped, with what it has brought."""
    async with two() as it:
        it.b.answers = pings
        async with silent(it):
            published = [asyncio.create_task(it.client.publish("t", "c", text)) for text in "12"]
            second = await it.b.peer(0)
            await second.until("SUB:t:c")
            second.deliver("x")
            second.send("ERR:mark")
            await it.event("edge_error")
            it.first.answers = everything
            it.first.deliver("x")
            it.first.deliver("y")
            assert await it.event("recovered") == events.Recovered(it.a.url, "websocket", 0.0)
            await second.closed.until(lambda _: True)
            await asyncio.gather(*published)
            await it.has("y")
            await it.first.frames.until(lambda _: len(it.first.frames.all) == 2)
            assert it.got.all == ["x", "y"]
            assert "disconnected" not in it.events.names
        it.first.send("PONG")  # and it may be suspect again
        async with silent(it, 1):
            it.first.send("PONG")
            await it.event("recovered", 1)


async def test_a_second_connection_that_dies_has_not_lost_what_it_brought() -> None:
    async with two() as it:
        it.b.answers = pings
        async with silent(it):
            second = await it.b.peer(0)
            await second.until("SUB:t:c")
            second.deliver("1")
            second.send("ERR:mark")
            await it.event("edge_error")
            it.a.refusal = 503, "draining"
            published = asyncio.create_task(it.client.publish("t", "c", "waits"))
            second.revoke()  # even this is not the end: the first may be back
            third = await it.b.peer(1)
            await third.until("SUB:t:c")
            third.deliver("2")
            third.answer("SUB:t:c")
            await it.event("recovered")
            await it.has("2")
            await published
            assert it.got.all == ["1", "2"]


async def test_a_second_connection_that_says_nothing_is_replaced() -> None:
    async with two() as it:
        it.b.answers = nothing
        async with silent(it):
            second = await it.b.peer(0)
            it.b.answers = everything
            await second.closed.until(lambda _: True)
            await it.event("recovered")
            assert "disconnected" not in it.events.names


@pytest.mark.parametrize("how", ["revoke", "kill"])
async def test_the_first_ends(how: str) -> None:
    async with two() as it:
        it.a.answers = it.b.answers = pings
        async with silent(it):
            second = await it.b.peer(0)
            await second.until("SUB:t:c")
            second.deliver("1")
            second.send("ERR:mark")
            await it.event("edge_error")
            if how == "revoke":
                it.first.revoke()
                error = await it.client.closed()
                assert error is not None
                assert error.code == "token_revoked"
                assert "disconnected" not in it.events.names
            else:
                it.a.answers = it.b.answers = everything
                it.first.kill()
                await it.event("disconnected")
                await it.event("reconnected")
                await it.has("1")


async def test_an_edge_that_drains_is_not_suspect() -> None:
    async with two() as it:
        it.a.refusal = it.b.refusal = 503, "draining"
        it.first.answers = nothing
        it.first.send("RECONNECT")
        await it.event("moving")
        flushing = asyncio.create_task(it.client.flush())
        await it.first.until("PING")
        await asyncio.sleep(1.5)
        assert "suspect" not in it.events.names
        it.first.send("PONG")
        await flushing


async def test_subscribing_and_leaving_while_the_first_is_suspect() -> None:
    async with two() as it:
        it.b.answers = lambda line: line != "SUB:t:c"
        async with silent(it):
            second = await it.b.peer(0)
            await second.until("SUB:t:c")
            more = await it.client.subscribe("t", "d", on_message=it.take)
            second.deliver("at once", "d", "d")
            await it.has("at once")
            await more.unsubscribe()  # the second has answered: enough
            assert second.count("UNSUB:t:d") == it.first.count("UNSUB:t:d") == 1
            second.answer("SUB:t:c")
            await it.event("recovered")


async def test_a_flush_before_the_suspicion_does_not_wait_for_what_trails() -> None:
    async with two() as it:
        it.first.answers = nothing
        with refuses("disconnected"):
            await it.client.flush()
        await it.event("recovered")


async def test_the_end_of_a_trailing_connection_is_no_event() -> None:
    async with two() as it, silent(it):
        await it.event("recovered")
        it.first.kill()
        await it.client.flush()
        second = await it.b.peer(0)
        second.deliver("1")
        await it.has("1")
        assert "disconnected" not in it.events.names


async def test_a_message_that_takes_long_to_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part of it is a sign of life."""
    async with two() as it:
        heard = Record[float]()
        arrived = Liveness.arrived

        def note(self: Liveness, time: float) -> None:
            arrived(self, time)
            heard.add(time)

        monkeypatch.setattr(Liveness, "arrived", note)
        body = b"x" * 300
        frame = b"\x01\x00\x01t\x00\x01c" + len(body).to_bytes(4, "big") + body + b"\x00\x01\x00\x01c"
        data = b"\x82\x7e" + len(frame).to_bytes(2, "big") + frame
        for start in range(0, len(data), 80):
            before = len(heard.all)
            it.first.write(data[start : start + 80])
            await heard.until(lambda _, before=before: len(heard.all) > before)  # type: ignore[misc]
        await it.has("x" * 300)


async def test_a_dead_connection_without_another() -> None:
    """It is given up in time."""
    async with edges(1) as (edge,), tried(edge.url, keep_alive=0.3, pong_timeout=3600) as it:
        edge.refusal = 503, "draining"
        (await edge.peer(0)).answers = nothing
        await it.event("suspect")
        object.__setattr__(it.client._session.settings, "pong_timeout", 0.1)  # it has been so long
        lost = await it.event("disconnected")
        assert lost.error.code == "timeout"
        edge.refusal = None
        await it.event("reconnected")


@pytest.mark.parametrize("trails", [False, True])
async def test_closing(trails: bool) -> None:
    async with two() as it:
        if not trails:
            it.b.answers = nothing
        async with silent(it):
            second: Peer = await it.b.peer(0)
            if trails:
                await it.event("recovered")
            await it.client.close()
            await it.first.closed.until(lambda _: True)
            await second.closed.until(lambda _: True)


@contextlib.asynccontextmanager
async def trailing() -> AsyncIterator[tuple[Two, Peer, Peer, Edge]]:
    """A client at the second of three edges, which is suspect; the first trails."""
    async with edges(3) as all_, tried([edge.url for edge in all_]) as tried_:
        here = next(edge for edge in all_ if edge.url == tried_.client.edge)
        it = Two(tried_.client, tried_.events, here, here, await here.peer(0))
        await it.client.subscribe("t", "c", on_message=it.take)
        async with silent(it):
            await it.event("recovered")
        second_edge = next(edge for edge in all_ if edge.url == it.client.edge)
        third_edge = next(edge for edge in all_ if edge not in (here, second_edge))
        first, it.first = it.first, await second_edge.peer(0)
        third_edge.answers = lambda line: not line.startswith("SUB:")
        here.refusal = second_edge.refusal = 503, "draining"
        async with silent(it, 1):
            yield it, first, it.first, third_edge


async def test_what_trails_may_wait_in_the_one_that_is_suspect() -> None:
    async with trailing() as (it, first, second, _):
        first.deliver("both")
        first.deliver("gap")
        await asyncio.sleep(1.2)
        assert it.got.all == []
        second.deliver("both")  # it wakes
        await it.event("recovered", 1)
        await it.has("gap late")
        assert it.got.all == ["both", "gap late"]


async def test_what_trails_may_wait_in_the_one_that_takes_over() -> None:
    async with trailing() as (it, first, _, third_edge):
        next_ = await third_edge.peer(0)
        await next_.until("SUB:t:c")
        next_.deliver("both")
        first.deliver("both")
        await asyncio.sleep(1.2)
        assert it.got.all == []
        next_.answer("SUB:t:c")
        await it.event("recovered", 1)
        next_.deliver("end")
        await it.has("end")
        assert it.got.all == ["both", "end"]
