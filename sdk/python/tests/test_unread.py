"""What was sent to a connection that dies (docs/decisions/0018-suspicion.md)."""

from __future__ import annotations

import asyncio
import time

import pytest

from millrace._unread import Unread

from .edge import edges, nothing
from .fixture import tried


def test_what_waits_for_a_sign_that_the_edge_reads() -> None:
    u = Unread()
    assert u.waits(0) is None
    assert u.request(10, 100, 50)
    assert not u.request(10, 110, 50)
    assert u.waits(50) == 100
    assert u.waits(120) is None  # something has come
    assert u.request(10, 130, 120)
    assert u.publish(10, 140)  # the first that a PING has to prove
    assert not u.publish(10, 150)
    assert u.waits(200) == 140  # whatever comes
    mark = u.mark()
    assert u.waits(0) is None
    assert u.publish(10, 300)
    u.proven(mark, 310)
    assert u.take() == 1
    assert u.take() == 0  # once


def test_how_fast_an_edge_reads() -> None:
    u = Unread()
    u.publish(992, 0)
    assert u.send_time(u.mark()) == 1  # 1 KiB a second, until it has shown more
    u.publish(10_208, 2)
    u.proven(u.mark(), 2.28)  # a cap that holds one second lets so much pass in 280 ms
    u.publish(10_208, 3)
    assert u.send_time(u.mark()) == pytest.approx(1.28)
    u.publish(0, 4)
    u.proven(u.mark(), 5)
    u.publish(10_208, 6)
    assert u.send_time(u.mark()) == pytest.approx(1.28)  # less to read shows nothing


async def test_a_client_that_only_publishes_notices_and_tells_how_many() -> None:
    async with edges(2) as (one, two), tried([one.url, two.url]) as it:
        edge = one if it.client.edge == one.url else two
        first = await edge.peer(0)

        async def publish() -> None:
            while True:
                await it.client.publish("t", "c", "x")
                await asyncio.sleep(0.02)

        publishing = asyncio.create_task(publish())
        for n in (1, 2):
            await first.lines.until(lambda _, n=n: first.count("PING") >= n)  # type: ignore[misc]
        first.answers = nothing
        died = time.monotonic()
        read = len(first.frames.all)
        told = await it.event("publish_unknown")
        assert time.monotonic() - died < 20  # long before keep_alive
        lost = len(first.frames.all) - read
        assert told.edge == edge.url
        assert lost <= told.count < lost + read
        await it.event("recovered")
        assert len(it.events.of("publish_unknown")) == 1
        publishing.cancel()


@pytest.mark.parametrize(("end", "want"), [("lost", 2), ("revoked", 2), ("read", 0)])
async def test_publishes_on_a_connection_that_ends(end: str, want: int) -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        first = await edge.peer(0)
        if want:
            first.answers = nothing
        for text in "12":
            await it.client.publish("t", "c", text)
        if not want:
            await it.client.flush()
        if end == "revoked":
            first.revoke()
        else:
            first.close(1011)
        ends = {"disconnected", "closed", "publish_unknown"}
        name, told = await it.events.all.until(lambda e: e[0] in ends)
        assert (name, getattr(told, "count", None)) == (
            ("publish_unknown", want) if want else ("disconnected", None)
        )
