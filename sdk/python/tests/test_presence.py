"""Seeing who is present: Client.presence."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections.abc import AsyncIterator

import pytest

from millrace import Presence, PresenceChange, events

from .edge import Peer, edges, everything, nothing
from .fixture import Tried, Two, refuses, tried, two
from .test_membership import presence_lines
from .test_suspect import silent

FEATURES = "FEATURES:link,presence"


def names(presence: Presence) -> list[str]:
    return [f"{m.channel}/{m.subject}" for m in presence.members]


async def change(presence: Presence) -> str:
    told = await asyncio.wait_for(presence.__anext__(), 60)
    if told.member is None:
        return f"{told.type} {told.channel} {told.count}"
    assert told.member.channel == told.channel
    return f"{told.type} {told.channel}/{told.member.subject}"


async def mark(it: Tried, peer: Peer, n: int = 0) -> None:
    """Wait until the client has got all that a peer has sent."""
    peer.send(f"ERR:mark_{'a' * n}")
    await it.events.all.until(lambda e: e[0] == "edge_error" and e[1].code == f"mark_{'a' * n}")


@contextlib.asynccontextmanager
async def watching(count: bool = False) -> AsyncIterator[tuple[Tried, Peer, Presence]]:
    """A client whose edge has told that alice and bob are in c."""
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        opening = asyncio.create_task(it.client.presence("t", "c", count=count))
        peer = await edge.peer(0)
        await peer.until("WHO:t:c:count" if count else "WHO:t:c")
        if count:
            peer.counted("fs", ("c", 2))
        else:
            peer.present("fs", ("c", "bob", 2), ("c", "alice", 1))
        yield it, peer, await opening


async def test_members() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        opening = asyncio.create_task(it.client.presence("t", "#"))
        peer = await edge.peer(0)
        await peer.until("WHO:t:#")
        info = '{"name": "Alice"}'
        peer.present("f", ("d", "alice", 1_700_000_000_123), pattern="#", info=info)
        peer.present("", ("c", "zoë", 1 << 63), ("d", "aaron", 1), pattern="#", info="no JSON")
        await mark(it, peer)
        assert not opening.done()
        peer.present("s", ("d", "aaron", 0), ("c", "bob", 1), pattern="#", info="[1]")
        p = await opening
        assert (p.tenant, p.pattern, repr(p)) == ("t", "#", "<Presence t:#>")
        assert names(p) == ["c/bob", "c/zoë", "d/alice"]
        assert p.members is p.members
        assert p.counts == {"c": 2, "d": 1}
        assert p.synced
        bob, zoe, alice = p.members
        at = datetime.datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=datetime.timezone.utc)
        assert (alice.info, alice.since) == ({"name": "Alice"}, at)
        assert (zoe.info, zoe.since.year, bob.info) == (None, 9999, None)  # an edge sends nothing like that


async def test_changes() -> None:
    async with watching() as (it, peer, p):
        assert names(p) == ["c/alice", "c/bob"]
        peer.present("", ("c", "carol", 3))
        assert await change(p) == "joined c/carol"
        peer.present("", ("c", "bob", 0), ("c", "alice", 9))
        told = await p.__anext__()
        assert (told.type, told.channel, told.count) == ("left", "c", None)
        assert told.member is not None
        assert told.member.since.timestamp() == 0.002  # as it was
        told = await p.__anext__()
        assert told == PresenceChange("changed", "c", p.members[0])
        assert names(p) == ["c/alice", "c/carol"]
        assert p.counts == {"c": 2}

        reading = [asyncio.create_task(change(p)) for _ in range(2)]
        await asyncio.sleep(0)
        peer.present("", ("c", "dave", 4), ("c", "carol", 0))
        assert await asyncio.gather(*reading) == ["joined c/dave", "left c/carol"]
        peer.present("", ("c", "dave", 4), ("c", "nobody", 0))  # which is as it was
        peer.present("", ("c", "eve", 1))
        assert await change(p) == "joined c/eve"
        assert it.events.names == ["connected"]


async def test_a_reader_that_is_late_is_told_what_is_true_then() -> None:
    async with watching() as (it, peer, p):
        for n in range(1, 101):
            peer.present("", ("c", "alice", 0), ("c", "carol", n), ("c", "dave", n))
            peer.present("", ("c", "alice", 1 if n < 100 else 7), ("c", "dave", 0))
        peer.present("", ("c", "bob", 0))
        await mark(it, peer)
        assert len(p._changes._told) == 3
        assert [await change(p) for _ in range(3)] == ["joined c/carol", "changed c/alice", "left c/bob"]
        reading = asyncio.create_task(change(p))
        await asyncio.sleep(0)
        peer.present("", ("c", "eve", 1), ("c", "eve", 0), ("c", "fred", 1))
        assert await reading == "joined c/fred"


async def test_cancelling_a_reader_loses_nothing() -> None:
    async with watching() as (_, peer, p):
        reading = asyncio.create_task(p.__anext__())
        await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
        assert p._changes._readers == []
        peer.present("", ("c", "carol", 1))
        assert await change(p) == "joined c/carol"


async def test_anew_without_flicker() -> None:
    """What is told again is compared when it is complete."""
    async with watching() as (it, peer, p):
        peer.present("f", ("c", "carol", 3))
        peer.present("", ("c", "dave", 4), ("c", "bob", 2))
        await mark(it, peer)
        assert names(p) == ["c/alice", "c/bob"]
        peer.present("s", ("c", "dave", 0))
        assert [await change(p) for _ in range(2)] == ["left c/alice", "joined c/carol"]
        assert names(p) == ["c/bob", "c/carol"]
        peer.present("f", ("c", "eve", 1))
        peer.present("fs")  # once more, in between
        assert {await change(p), await change(p)} == {"left c/bob", "left c/carol"}
        assert (p.members, p.counts, p.synced) == ((), {}, True)


async def test_counts() -> None:
    async with watching(True) as (it, peer, p):
        assert (p.members, p.counts) == ((), {"c": 2})
        peer.counted("", ("c", 5))
        assert await change(p) == "counts c 5"
        peer.counted("", ("c", 6))
        peer.counted("", ("c", 5))
        peer.counted("", ("c", 0), ("d", 1))
        await mark(it, peer)
        assert [await change(p) for _ in range(2)] == ["counts c 0", "counts d 1"]
        assert p.counts == {"d": 1}
        peer.counted("fs", ("c", 1))
        assert [await change(p) for _ in range(2)] == ["counts d 0", "counts c 1"]
        assert p._count
        assert p.counts == {"c": 1}
        peer.present("", ("c", "alice", 1))  # it has not asked
        await mark(it, peer, 1)
        assert (p.members, p.counts) == ((), {"c": 1})


async def test_counts_while_far_behind() -> None:
    async with watching() as (it, peer, p):
        also = await it.client.presence("t", "c", count=True)
        peer.counted("", ("c", 5000), ("d", 1))
        assert await change(p) == "counts c 5000"
        assert await change(also) == "counts c 5000"
        assert p.counts == {"c": 5000, "d": 1}
        assert names(p) == ["c/alice", "c/bob"]
        peer.present("", ("c", "carol", 1))
        peer.counted("", ("c", 5001))
        assert [await change(p) for _ in range(3)] == ["counts d 1", "joined c/carol", "counts c 5001"]
        peer.counted("", ("c", 5002))
        peer.present("s", ("c", "dave", 1))
        assert await change(p) == "joined c/dave"  # counts are void
        assert p.counts == also.counts == {"c": 4}
        assert await change(also) == "counts c 4"


async def test_presences_share_what_the_edge_tells() -> None:
    async with watching() as (it, peer, p):
        also = await it.client.presence("t", "c")
        count = await it.client.presence("t", "c", count=True)
        assert (also.members, count.members, count.counts) == (p.members, (), {"c": 2})
        peer.present("", ("c", "carol", 1))
        assert await change(p) == await change(also) == "joined c/carol"
        assert await change(count) == "counts c 3"
        await p.close()
        peer.present("", ("c", "bob", 0))
        assert await change(also) == "left c/bob"
        assert names(p) == ["c/alice", "c/bob", "c/carol"]  # as it was known last
        assert [told async for told in p] == []
        await also.close()
        assert not also.synced
        assert await change(count) == "counts c 2"
        again = await it.client.presence("t", "c")
        assert names(again) == ["c/alice", "c/carol"]
        await again.close()
        await count.close()
        await count.close()
        assert presence_lines(peer) == ["WHO:t:c", "UNWHO:t:c"]


async def test_members_beside_counts() -> None:
    async with watching(True) as (it, peer, p):
        with refuses("bad_option"):
            await it.client.presence("t", "c")
        await p.close()
        opening = asyncio.create_task(it.client.presence("t", "c"))
        await peer.until("WHO:t:c")
        peer.present("fs", ("c", "alice", 1))
        assert names(await opening) == ["c/alice"]
        assert presence_lines(peer) == ["WHO:t:c:count", "UNWHO:t:c", "WHO:t:c"]


async def test_the_other_kind_at_once() -> None:
    """What the edge reports about the one that is being closed is not taken for the next one's."""
    async with watching(True) as (it, peer, p):
        closing = asyncio.create_task(p.close())
        opening = asyncio.create_task(it.client.presence("t", "c"))
        await peer.until("WHO:t:c")
        peer.present("f", ("c", "carol", 1))
        await mark(it, peer)
        assert not opening.done()
        peer.present("s")
        assert names(await opening) == ["c/carol"]
        await closing
        assert presence_lines(peer) == ["WHO:t:c:count", "UNWHO:t:c", "WHO:t:c"]


async def test_closing() -> None:
    async with watching() as (it, peer, p):
        peer.present("", ("c", "carol", 1))
        await mark(it, peer)
        async with p:
            reading = asyncio.create_task(anext(p))
            assert (await reading).type == "joined"
            reading = asyncio.create_task(anext(p))
            await asyncio.sleep(0)
            peer.answers = nothing
            closing = asyncio.create_task(p.close())
            await peer.until("UNWHO:t:c")
            with pytest.raises(StopAsyncIteration):
                await reading
            assert await p.ended() is None
            opening = asyncio.create_task(it.client.presence("t", "c"))
            peer.present("fs", ("c", "of before", 1))
            await mark(it, peer, 1)
            assert presence_lines(peer) == ["WHO:t:c", "UNWHO:t:c"]  # the next one waits
            peer.answers = everything
            peer.answer("UNWHO:t:c")
            await closing
            await peer.until("WHO:t:c", peer.lines.all.index("UNWHO:t:c"))
            peer.present("fs", ("c", "dave", 1))
            assert names(await opening) == ["c/dave"]
        assert [told async for told in p] == []
        assert names(p) == ["c/alice", "c/bob", "c/carol"]


@pytest.mark.parametrize("code", ["permission_denied", "no_presence", "too_many_patterns"])
async def test_a_refusal(code: str) -> None:
    async with edges(1, FEATURES) as (edge,):
        edge.answers = lambda line: f"ERR:{code}:WHO:t:c" if line.startswith("WHO") else True
        async with tried(edge.url) as it:
            for count in (True, False):
                with refuses(code) as caught:
                    await it.client.presence("t", "c", count=count)
                assert (caught.value.tenant, caught.value.pattern) == ("t", "c")
            assert it.events.names == ["connected"]


async def test_local_refusals() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        with refuses("bad_pattern") as caught:
            await it.client.presence("t", "c..d")
        assert (caught.value.tenant, caught.value.pattern) == ("t", "c..d")
        with refuses("no_presence") as caught:
            await it.client.presence("t", "c")
        assert caught.value.pattern == "c"
        await it.client.flush()
        assert (await edge.peer(0)).lines.all == ["PING"]


async def test_opening_is_cancelled() -> None:
    async with edges(1, FEATURES) as (edge,), tried(edge.url) as it:
        opening = asyncio.create_task(it.client.presence("t", "c"))
        peer = await edge.peer(0)
        await peer.until("WHO:t:c")
        opening.cancel()
        await asyncio.wait({opening})
        await peer.until("UNWHO:t:c")


async def test_a_broken_frame() -> None:
    async with watching() as (it, peer, p):
        peer.send(b"\x05\x03\x00\x01t")
        assert (await it.event("disconnected")).error.code == "protocol"
        assert names(p) == ["c/alice", "c/bob"]


async def test_a_client_that_ends() -> None:
    async with watching() as (it, peer, p):
        peer.present("", ("c", "carol", 1))
        peer.revoke()
        await it.event("closed")
        assert await change(p) == "joined c/carol"  # what waits can still be read
        with refuses("token_revoked"):
            await p.__anext__()
        with refuses("token_revoked"):
            await p.__anext__()
        assert names(p) == ["c/alice", "c/bob", "c/carol"]
        assert not p.synced


async def test_closing_the_client() -> None:
    async with watching() as (it, peer, p):
        peer.present("", ("c", "carol", 1))
        await mark(it, peer)
        await it.client.close()
        assert [told async for told in p] == []
        assert await p.ended() is None
        await p.close()


@contextlib.asynccontextmanager
async def two_watching(*, count: bool = False) -> AsyncIterator[tuple[Two, Presence]]:
    """A client at the first of two edges, which has told that alice and bob are in c."""
    async with two(FEATURES) as it:
        opening = asyncio.create_task(it.client.presence("t", "c"))
        await it.first.until("WHO:t:c")
        it.first.present("fs", ("c", "alice", 1), ("c", "bob", 2))
        yield it, await opening


async def test_it_is_restored_after_a_loss_without_flicker() -> None:
    async with two_watching() as (it, p):
        it.first.present("", ("c", "carol", 3))
        await mark(it, it.first)
        it.first.kill()
        await it.event("disconnected")
        assert not p.synced
        also = asyncio.create_task(it.client.presence("t", "c"))
        count = asyncio.create_task(it.client.presence("t", "c", count=True))
        second = await it.b.peer(0)
        await second.until("WHO:t:c")
        await it.event("reconnected")
        second.present("f", ("c", "bob", 2))
        second.counted("", ("c", 2))
        await mark(it, second, 1)
        assert names(p) == ["c/alice", "c/bob", "c/carol"]
        assert p.counts == {"c": 2}  # which the edge tells first
        assert {p.synced, also.done(), count.done()} == {False}
        second.present("s", ("c", "dave", 4))
        assert names(await also) == ["c/bob", "c/dave"]
        assert (await count).counts == {"c": 2}
        assert p.synced
        assert [await change(p) for _ in range(2)] == ["left c/alice", "joined c/dave"]  # carol has vanished
        assert presence_lines(second) == ["WHO:t:c"]


async def test_a_connection_that_is_lost_before_it_has_told_all() -> None:
    async with two_watching() as (it, p):
        it.first.kill()
        second = await it.b.peer(0)
        await second.until("WHO:t:c")
        second.present("f")
        await it.event("reconnected")
        second.kill()
        await it.event("reconnected", 1)
        third = await it.a.peer(1)
        await third.until("WHO:t:c")
        assert names(p) == ["c/alice", "c/bob"]
        third.present("fs", ("c", "bob", 2))
        assert await change(p) == "left c/alice"


async def test_a_move_without_flicker() -> None:
    """The first connection tells until it is left, which waits until the second has told all."""
    async with two_watching() as (it, p):
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("WHO:t:c")
        second.present("f", ("c", "dave", 4))
        it.first.present("", ("c", "carol", 3))
        assert await change(p) == "joined c/carol"
        await asyncio.sleep(0.6)
        assert it.first.count("UNSUB:t:c") == 0
        second.present("", ("c", "bob", 2))
        second.present("s", ("c", "carol", 3))
        assert p.synced
        await it.event("moved")
        assert [await change(p) for _ in range(2)] == ["left c/alice", "joined c/dave"]
        assert p.synced
        assert names(p) == ["c/bob", "c/carol", "c/dave"]
        second.present("", ("c", "bob", 0))
        assert await change(p) == "left c/bob"
        assert presence_lines(it.first) == ["WHO:t:c"]


async def test_a_move_does_not_wait_for_ever() -> None:
    async with two_watching() as (it, p):
        it.first.send("RECONNECT")
        await it.event("moved")
        assert names(p) == ["c/alice", "c/bob"]
        assert not p.synced
        second = await it.b.peer(0)
        second.present("fs", ("c", "bob", 2))
        assert await change(p) == "left c/alice"
        assert p.synced


async def test_what_the_second_connection_tells_while_it_is_not_left() -> None:
    """Also what changes behind the first complete set."""
    async with two_watching() as (it, p):
        it.first.answers = lambda line: line == "PING"
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("WHO:t:c")
        second.present("fs", ("c", "bob", 2), ("c", "dave", 4))
        second.present("", ("c", "dave", 0), ("c", "eve", 5))
        second.counted("", ("c", 7))
        await it.first.until("UNSUB:t:c")
        assert names(p) == ["c/alice", "c/bob"]
        it.first.answer("UNSUB:t:c")
        assert [await change(p) for _ in range(2)] == ["left c/alice", "joined c/eve"]
        assert p.counts == {"c": 2}
        await it.event("moved")


async def test_another_connection_takes_over() -> None:
    async with two_watching() as (it, p):
        it.b.answers = lambda line: not line.startswith("SUB")
        async with silent(it):
            second = await it.b.peer(0)
            await second.until("WHO:t:c")
            second.present("fs", ("c", "bob", 2))
            await mark(it, second)
            assert names(p) == ["c/alice", "c/bob"]
            second.answer("SUB:t:c")
            await it.event("recovered")
        assert await change(p) == "left c/alice"
        it.first.present("", ("c", "late", 1))  # it trails
        it.first.send("PING")
        await it.first.until("PONG")
        assert names(p) == ["c/bob"]


@pytest.mark.parametrize("count", [True, False])
async def test_a_restoring_that_is_refused(count: bool) -> None:
    """Who wants counts gets them, if the edge gives those."""
    async with two_watching() as (it, p):
        counts = await it.client.presence("t", "c", count=True)
        it.b.answers = lambda line: (
            f"ERR:permission_denied:{line.removesuffix(':count')}"
            if line == "WHO:t:c" or (line == "WHO:t:c:count" and not count)
            else True
        )
        it.first.kill()
        with refuses("permission_denied") as caught:
            await p.__anext__()
        assert (caught.value.tenant, caught.value.pattern) == ("t", "c")
        refused = events.SubscriptionError("t", "c", "permission_denied")
        assert await it.event("subscription_error") == refused
        ended = await p.ended()
        assert ended is not None
        assert ended.code == "permission_denied"
        assert names(p) == ["c/alice", "c/bob"]
        assert not p.synced
        second = await it.b.peer(0)
        await second.until("WHO:t:c:count")
        if not count:
            assert await it.event("subscription_error", 1) == refused
            with refuses("permission_denied"):
                await counts.__anext__()
            return
        second.counted("fs", ("c", 1))
        assert await change(counts) == "counts c 1"
        assert counts.synced
        with refuses("bad_option"):
            await it.client.presence("t", "c")


@pytest.mark.parametrize("lacks", [True, False])
async def test_an_edge_without_presence(lacks: bool) -> None:
    """What was shown stays, and the next edge is asked."""
    async with two_watching() as (it, p):
        if lacks:
            it.b.features = "FEATURES:link"
        else:
            it.b.answers = lambda line: "ERR:no_presence:WHO:t:c" if line == "WHO:t:c" else True
        it.first.kill()
        await it.event("reconnected")
        assert it.events.of("edge_error") == [events.EdgeError("no_presence", "WHO:t:c")]
        assert names(p) == ["c/alice", "c/bob"]
        assert not p.synced
        with refuses("no_presence"):
            await it.client.presence("t", "c")
        (await it.b.peer(0)).kill()
        third = await it.a.peer(1)
        await third.until("WHO:t:c")
        third.present("fs", ("c", "bob", 2))
        assert await change(p) == "left c/alice"


async def test_a_presence_that_the_edge_takes_away() -> None:
    async with two_watching() as (it, p):
        it.first.send("ERR:no_presence:WHO:t:c")
        assert await it.event("edge_error") == events.EdgeError("no_presence", "WHO:t:c")
        assert not p.synced
        assert names(p) == ["c/alice", "c/bob"]
        it.first.kill()
        second = await it.b.peer(0)
        await second.until("WHO:t:c")
        second.present("fs")
        assert [await change(p) for _ in range(2)] == ["left c/alice", "left c/bob"]
