"""Being present: Client.join."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import pytest

from millrace import events

from .edge import Peer, edges, everything, nothing, pings
from .fixture import refuses, tried, two
from .test_suspect import silent

FEATURES = "FEATURES:link,presence"


def presence_lines(peer: Peer) -> list[str]:
    return [line for line in peer.lines.all if re.match("JOIN|LEAVE|WHO|UNWHO", line)]


async def test_join_and_leave() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        m = await it.client.join("t", "c")
        assert (m.tenant, m.channel, repr(m)) == ("t", "c", "<Membership t:c>")
        peer = await edge.peer(0)
        again = await it.client.join("t", "c")
        assert presence_lines(peer) == ["JOIN:t:c"]
        await m.leave()
        await m.leave()
        assert await m.ended() is None
        assert presence_lines(peer) == ["JOIN:t:c"]  # the other one is there
        await again.leave()
        async with await it.client.join("", "c"):
            assert peer.lines.all[-1] == "JOIN:~:c"
        assert presence_lines(peer) == ["JOIN:t:c", "LEAVE:t:c", "JOIN:~:c", "LEAVE:~:c"]


async def test_coming_back_before_the_edge_has_answered() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        m = await it.client.join("t", "c")
        peer = await edge.peer(0)
        peer.answers = nothing
        leaving = asyncio.create_task(m.leave())
        await peer.until("LEAVE:t:c")
        joining = asyncio.create_task(it.client.join("t", "c"))
        await asyncio.sleep(0)
        assert not joining.done()
        peer.answers = everything
        peer.answer("LEAVE:t:c")
        await leaving
        await joining
        assert presence_lines(peer) == ["JOIN:t:c", "LEAVE:t:c", "JOIN:t:c"]


@pytest.mark.parametrize(
    "code", ["permission_denied", "no_presence", "no_subject", "too_many_members", "try_later"]
)
async def test_a_refusal(code: str) -> None:
    async with edges(1, FEATURES) as (edge,):
        edge.answers = lambda line: f"ERR:{code}:{line}" if line.startswith("JOIN") else True
        async with tried(edge.url) as it:
            first, second = [asyncio.create_task(it.client.join("t", "c")) for _ in range(2)]
            for joining in (first, second):
                with refuses(code) as caught:
                    await joining
                assert (caught.value.tenant, caught.value.channel, caught.value.pattern) == ("t", "c", None)
            peer = await edge.peer(0)
            peer.answers = everything
            await it.client.join("t", "c")
            assert it.events.names == ["connected"]


async def test_local_refusals() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        with refuses("bad_channel") as caught:
            await it.client.join("t", "c.*")
        assert (caught.value.tenant, caught.value.channel) == ("t", "c.*")
        with refuses("bad_tenant"):
            await it.client.join("t t", "c")
        with refuses("no_presence") as caught:  # the edge is not asked
            await it.client.join("t", "c")
        assert caught.value.channel == "c"
        await it.client.flush()
        assert (await edge.peer(0)).lines.all == ["PING"]
        await it.client.close()
        with refuses("closed"):
            await it.client.join("t", "c")


async def test_a_join_that_is_cancelled_is_undone() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        edge.peers.all[0].answers = nothing
        joining = asyncio.create_task(it.client.join("t", "c"))
        peer = await edge.peer(0)
        await peer.until("JOIN:t:c")
        joining.cancel()
        await asyncio.wait({joining})
        peer.answers = everything
        peer.answer("JOIN:t:c")
        await peer.until("LEAVE:t:c")


async def test_closing_leaves_at_once() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        m = await it.client.join("t", "c")
        waiting = asyncio.create_task(it.client.join("t", "d"))
        peer = await edge.peer(0)
        peer.answers = nothing
        await peer.until("JOIN:t:d")
        await it.client.close()
        await peer.closed.until(lambda _: True)
        assert {*presence_lines(peer)} == {"JOIN:t:c", "JOIN:t:d", "LEAVE:t:c", "LEAVE:t:d"}
        assert await m.ended() is None
        await m.leave()
        with refuses("closed"):
            await waiting


async def test_the_end_of_the_client() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        m = await it.client.join("t", "c")
        (await edge.peer(0)).revoke()
        ended = await m.ended()
        assert ended is not None
        assert ended.code == "token_revoked"


async def test_it_is_restored_after_a_loss() -> None:
    async with two(FEATURES) as it:
        await it.client.join("t", "c")
        it.a.answers = it.b.answers = lambda line: not line.startswith("JOIN")
        it.first.kill()
        await it.event("disconnected")
        joining = asyncio.create_task(it.client.join("t", "d"))  # it waits
        second = await it.b.peer(0)
        await second.until("JOIN:t:c")
        await second.until("SUB:t:c")
        second.answers = everything
        second.answer("JOIN:t:d")
        await joining
        assert "reconnected" not in it.events.names  # it has to be present first
        second.answer("JOIN:t:c")
        await it.event("reconnected")
        assert sorted(presence_lines(second)) == ["JOIN:t:c", "JOIN:t:d"]


async def test_a_restoring_that_is_refused() -> None:
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        it.a.answers = it.b.answers = lambda line: (
            f"ERR:too_many_members:{line}" if line == "JOIN:t:c" else True
        )
        it.first.kill()
        ended = await m.ended()
        assert ended is not None
        assert (ended.code, ended.channel) == ("too_many_members", "c")
        told = events.SubscriptionError("t", "", "too_many_members", "c")
        assert await it.event("subscription_error") == told
        await m.leave()
        await it.event("reconnected")
        assert "LEAVE:t:c" not in (await it.b.peer(0)).lines.all


async def test_a_restoring_that_is_to_be_tried_later() -> None:
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        answers = iter(["ERR:try_later:JOIN:t:c"] * 3)
        it.b.answers = lambda line: next(answers, True) if line == "JOIN:t:c" else True
        it.first.send("RECONNECT")
        await it.event("moved")
        second = await it.b.peer(0)
        assert second.count("JOIN:t:c") == 4
        assert it.events.of("subscription_error") == [events.SubscriptionError("t", "", "try_later", "c")]
        await m.leave()


async def test_leaving_while_it_is_to_be_tried_later() -> None:
    async with two(FEATURES, max_back_off=1000.0, min_back_off=1000.0) as it:
        m = await it.client.join("t", "c")
        it.b.answers = lambda line: f"ERR:try_later:{line}" if line == "JOIN:t:c" else True
        it.first.send("RECONNECT")
        await it.event("subscription_error")
        await m.leave()
        await it.event("moved")


@pytest.mark.parametrize("lacks", [True, False])
async def test_an_edge_without_presence(lacks: bool) -> None:
    """It stays, and is tried at the next edge; a further one is refused."""
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        if lacks:
            it.b.features = "FEATURES:link"
        else:
            it.b.answers = lambda line: f"ERR:no_presence:{line}" if line == "JOIN:t:c" else True
        it.first.send("RECONNECT")
        await it.event("moved")
        assert it.events.of("edge_error") == [events.EdgeError("no_presence", "JOIN:t:c")]
        with refuses("no_presence"):
            await it.client.join("t", "c")
        second = await it.b.peer(0)
        assert second.count("JOIN:t:c") == (not lacks)
        second.kill()
        await it.event("reconnected")
        assert (await it.a.peer(1)).count("JOIN:t:c") == 1
        await m.leave()
        assert (await it.a.peer(1)).count("LEAVE:t:c") == 1


async def test_a_presence_that_the_edge_takes_away() -> None:
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        it.first.send("ERR:no_presence:JOIN:t:c")
        assert await it.event("edge_error") == events.EdgeError("no_presence", "JOIN:t:c")
        with refuses("no_presence"):
            await it.client.join("t", "c")
        assert it.first.count("JOIN:t:c") == 1
        it.first.kill()
        await it.event("reconnected")
        assert (await it.b.peer(0)).count("JOIN:t:c") == 1
        await m.leave()


async def test_a_move_keeps_it() -> None:
    """The first connection is there until the second is present, and does not say LEAVE."""
    async with two(FEATURES) as it:
        await it.client.join("t", "c")
        it.b.answers = lambda line: not line.startswith("JOIN")
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("JOIN:t:c")
        await second.until("SUB:t:c")
        await asyncio.sleep(0.4)
        assert it.first.count("UNSUB:t:c") == 0
        second.answer("JOIN:t:c")
        await it.event("moved")
        await it.first.closed.until(lambda _: True)
        assert presence_lines(it.first) == ["JOIN:t:c"]


async def test_joining_and_leaving_during_a_move() -> None:
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        it.b.answers = pings
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("JOIN:t:c")
        second.answers = everything
        second.answer("JOIN:t:c")
        more = await it.client.join("t", "d")
        for peer in (it.first, second):
            await peer.until("JOIN:t:d")
        await more.leave()
        await m.leave()
        second.answer("SUB:t:c")
        await it.event("moved")
        for peer in (it.first, second):
            assert presence_lines(peer) == ["JOIN:t:c", "JOIN:t:d", "LEAVE:t:d", "LEAVE:t:c"]


async def test_leaving_after_another_connection_has_taken_over() -> None:
    """The one that trails is told, too: else the edge would miss the client only when it ends."""
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        async with silent(it):
            await it.event("recovered")
        await m.leave()
        second = await it.b.peer(0)
        assert presence_lines(second) == ["JOIN:t:c", "LEAVE:t:c"]
        await it.first.until("LEAVE:t:c")


@pytest.mark.parametrize("end", [lambda peer: peer.send("ERR:permission_denied:JOIN:t:c"), Peer.kill])
async def test_one_that_may_take_over_and_is_refused(end: Callable[[Peer], None]) -> None:
    """The current one has it, and may be back."""
    async with two(FEATURES) as it:
        m = await it.client.join("t", "c")
        it.b.answers = it.a.answers = pings
        async with silent(it):
            second = await it.b.peer(0)
            await second.until("JOIN:t:c")
            end(second)
            await second.closed.until(lambda _: True)
            it.first.answers = everything
            it.first.send("PONG")
            assert (await it.event("recovered")).edge == it.a.url
        await m.leave()
        assert it.first.count("LEAVE:t:c") == 1
        assert "subscription_error" not in it.events.names


async def test_a_token_that_may_not_join_any_more() -> None:
    tokens = iter(["AT_1", "AT_2"])
    async with two(FEATURES, token_provider=lambda: next(tokens)) as it:
        m = await it.client.join("t", "c")
        it.a.answers = it.b.answers = lambda line: f"ERR:no_subject:{line}" if line == "JOIN:t:c" else True
        await it.client.renew_token()
        ended = await m.ended()
        assert ended is not None
        assert ended.code == "no_subject"
        await it.first.until("LEAVE:t:c")  # as with a subscription that is refused
        await it.event("moved")
