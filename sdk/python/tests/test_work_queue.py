"""Messages to one subscriber: credit, draining, and what becomes of each."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from millrace import Message, Subscription
from millrace._own import OwnPositions
from millrace.events import Discarded

from .edge import Peer, edges
from .fixture import Tried, read, refuses, tried, two
from .test_sync import EdgeThread, connect, edge

__all__ = ["edge"]

QUEUES = "FEATURES:link,work_queue,own,reasons"


@contextlib.asynccontextmanager
async def begin(features: str = QUEUES, **options: Any) -> AsyncIterator[tuple[Tried, Peer]]:
    async with edges(1, features) as (edge,), tried(edge.url, **options) as it:
        yield it, await edge.peer(0)


def credit(peer: Peer) -> list[int]:
    return [int(line.rpartition(":")[2]) for line in peer.lines.all if line.startswith("CREDIT:t:c:")]


async def test_credit_follows_the_reader() -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c", queue=4)
        await peer.until("CREDIT:t:c:4")
        peer.give("1", "2", "3", "4")
        assert await read(sub, 1) == ["1"]
        await it.client.flush()
        assert credit(peer) == [4]  # half of the queue at a time
        assert await read(sub, 1) == ["2"]
        await peer.until("CREDIT:t:c:2")
        peer.give("5", "6")
        assert await read(sub, 4) == ["3", "4", "5", "6"]


@pytest.mark.parametrize("features", ["FEATURES:link", "ERR:bad_request"])
async def test_no_credit_for_an_earlier_edge(features: str) -> None:
    async with begin(features) as (it, peer):
        sub = await it.client.subscribe("t", "c", queue=4)
        peer.deliver("1")
        assert await read(sub, 1) == ["1"]
        await it.client.flush()
        assert credit(peer) == []


@pytest.mark.parametrize("lazy", [False, True])
async def test_credit_follows_the_calls(lazy: bool) -> None:
    """More comes as calls return, of coroutine functions and of plain ones that return an awaitable."""
    go_on = asyncio.Semaphore(0)
    got: list[str] = []

    async def take(m: Message) -> None:
        got.append(m.text())
        await go_on.acquire()

    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c", queue=2, on_message=(lambda m: take(m)) if lazy else take)
        await peer.until("CREDIT:t:c:2")
        peer.give("1", "2")
        await it.client.flush()
        assert credit(peer) == [2]
        go_on.release()
        await peer.until("CREDIT:t:c:1")
        draining = asyncio.create_task(sub.drain())
        await peer.until("UNSUB:t:c")
        assert not draining.done()
        go_on.release()
        await draining
        assert got == ["1", "2"]


async def test_none_is_dropped_for_broadcasts() -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c", queue=2)
        peer.give("a", "b")
        for text in "1234":
            peer.deliver(text)
        assert (await it.event("queue_full")).dropped == 2
        assert await read(sub, 4) == ["a", "b", "3", "4"]


async def iterate(sub: Subscription, got: list[str], go_on: asyncio.Semaphore) -> None:
    async for message in sub:
        got.append(message.text())
        await go_on.acquire()


@pytest.mark.parametrize("client", [False, True])
async def test_drain(client: bool) -> None:
    """The edge is left, what it has sent is given, and it returns when the reader is done with it."""
    got: list[str] = []
    go_on = asyncio.Semaphore(0)
    async with begin() as (it, peer):
        peer.answers = lambda line: not line.startswith("UNSUB")
        sub = await it.client.subscribe("t", "c")
        reading = asyncio.create_task(iterate(sub, got, go_on))
        peer.give("1", "2")
        draining = asyncio.create_task(it.client.drain() if client else sub.drain())
        await peer.until("UNSUB:t:c")
        peer.give("3")
        peer.deliver("4")
        peer.send("OK:UNSUB:t:c")
        for _ in range(3):
            go_on.release()
        while len(got) < 4:  # noqa: ASYNC110 (what it awaits is the reader's)
            await asyncio.sleep(0)
        await asyncio.wait({draining}, timeout=0.05)
        assert not draining.done()  # the last one is still being done
        assert peer.closed.all == []
        go_on.release()
        await draining
        await reading
        assert got == ["1", "2", "3", "4"]
        assert await sub.unsubscribe() == 0
        if client:
            await peer.closed.until(lambda code: code == 1000)


async def test_drain_in_the_loop_that_reads() -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c")
        peer.give("1", "2", "3")
        await it.client.flush()
        got = []
        async for message in sub:
            got.append(message.text())
            await sub.drain()
        assert got == ["1", "2", "3"]


@pytest.mark.parametrize("moves", [False, True])
async def test_a_drained_subscription_is_not_asked_for_again(moves: bool) -> None:
    async with two(QUEUES, subscribe=False) as it:
        it.first.answers = lambda line: not line.startswith("UNSUB")
        sub = await it.client.subscribe("t", "c")
        it.first.give("1")
        await it.client.flush()
        draining = asyncio.create_task(sub.drain())
        await it.first.until("UNSUB:t:c")
        if moves:
            it.first.send("RECONNECT")
        else:
            it.first.kill()
        await it.event("moved" if moves else "reconnected")
        assert (await it.b.peer(0)).count("SUB:t:c") == 0
        assert await read(sub, 1) == ["1"]
        with pytest.raises(StopAsyncIteration):
            await read(sub, 1)
        await draining


async def test_unsubscribe_counts_what_it_throws_away() -> None:
    async with begin() as (it, peer):
        peer.answers = lambda line: not line.startswith("UNSUB")
        sub = await it.client.subscribe("t", "c")
        peer.give("1", "2", "3")
        await it.client.flush()
        assert await read(sub, 1) == ["1"]
        leaving = asyncio.create_task(sub.unsubscribe())
        await peer.until("UNSUB:t:c")
        peer.give("4")  # it was on its way
        peer.send("OK:UNSUB:t:c")
        assert await leaving == 3
        assert await it.event("discarded") == Discarded("t", "c", 3)


async def test_each_loss_of_a_close_is_an_event() -> None:
    async with begin() as (it, peer):
        for _ in range(2):
            await it.client.subscribe("t", "c")
            peer.give("1", "2")
            await it.client.flush()
        await it.client.close()
        assert it.events.of("discarded") == [Discarded("t", "c", 4), Discarded("t", "c", 2)]


async def test_a_move_leaves_no_moment_without_credit() -> None:
    """The next edge has credit before the first one is left; what each sends is given once."""
    async with two(QUEUES, subscribe=False) as it:
        sub = await it.client.subscribe("t", "c", queue=4)
        await it.first.until("CREDIT:t:c:4")
        it.first.answers = lambda line: not line.startswith("UNSUB")
        it.first.send("RECONNECT")
        second = await it.b.peer(0)
        await second.until("CREDIT:t:c:4")
        assert it.first.count("UNSUB:t:c") == 0
        it.first.give("1", "1")  # equal ones are two
        second.give("2", "3", "4", "5")
        await it.first.until("UNSUB:t:c")
        it.first.give("6", "7")
        it.first.send("OK:UNSUB:t:c")
        await it.event("moved")
        assert sorted(await read(sub, 8)) == [
            "1",
            "1",
            "2",
            "3",
            "4",
            "5",
            "6",
            "7",
        ]  # twice the queue at most
        assert it.events.of("queue_full") == []


async def test_a_confirmed_one() -> None:
    async with begin() as (it, peer):
        for n, (code, says) in enumerate(
            (("no_subscriber", "start a worker"), ("subscribers_busy", "more workers"))
        ):
            publishing = asyncio.create_task(
                it.client.publish("t", "c", "job", confirm=True, delivery="one-random")
            )
            frame = await peer.frames.until(lambda _: len(peer.frames.all) > n)  # noqa: B023
            assert frame[:2] == b"\x03\x02"
            peer.send(f"ERR:{code}:PUB:{n + 1}")
            with refuses(code) as caught:
                await publishing
            assert says in caught.value.text
        with refuses("bad_option"):
            await it.client.publish("t", "c", "job", confirm=True, delivery="one-random", key="k")


async def test_own_messages_are_marked_and_left_out() -> None:
    async with begin() as (it, peer):
        all_of = await it.client.subscribe("t", "c")
        others = await it.client.subscribe("t", "c", echo=False)
        peer.deliver("1")
        peer.deliver_own("2", b"k")
        peer.deliver_own("3", b"\xff")
        peer.deliver_own("4")
        peer.deliver("5")
        got = [await all_of.__anext__() for _ in range(5)]
        assert [(m.text(), m.own, m.key) for m in got] == [
            ("1", False, None), ("2", True, "k"), ("3", True, b"\xff"), ("4", True, None), ("5", False, None),
        ]  # fmt: skip
        assert await read(others, 2) == ["1", "5"]


async def test_own_messages_of_a_history_after_a_loss() -> None:
    """By the positions that the edge has confirmed; the place of the subscription moves on with them."""
    async with begin(f"{QUEUES},history") as (it, peer):
        peer.answers = lambda line: (
            "OK:RSUB:t:c:0000000000000abc.1.1700000000001:complete" if line[0] == "R" else True
        )
        sub = await it.client.subscribe("t", "c", history="now", echo=False)
        publishing = asyncio.create_task(it.client.publish("t", "c", "x", confirm=True, key="k"))
        await peer.frames.until(lambda _: True)
        peer.send("OK:PUB:1:0000000000000abc.2.1700000000002")
        await publishing
        peer.deliver_own("live", n=3)
        peer.stored(2, 4)
        assert await read(sub, 1) == ["4"]
        peer.stored(2)
        await it.client.flush()
        assert sub.position == "0000000000000abc.4.1700000000004"


def test_a_worker_without_asyncio(edge: EdgeThread, caplog: pytest.LogCaptureFixture) -> None:
    """It holds no more than its queue, and drains at a signal, in the thread that reads."""
    edge.edge.features = QUEUES
    with connect(edge) as client:
        jobs = client.subscribe("t", "c", queue=2)
        edge.do(lambda peer: peer.give("1", "2"))
        got = []
        signal.signal(signal.SIGUSR1, lambda *_: jobs.drain())
        for job in jobs:
            got.append(job.text())
            assert credit(edge.edge.peers.all[0])[0] == 2
            os.kill(os.getpid(), signal.SIGUSR1)
        assert got == ["1", "2"]
        client.flush()

        jobs = client.subscribe("t", "c", queue=4)
        edge.do(lambda peer: peer.give("1", "2", "3"))
        assert next(jobs).text() == "1"
        assert jobs.unsubscribe() == 2
        assert "2 messages to one subscriber" in caplog.text

        jobs = client.subscribe("t", "c")
        edge.do(lambda peer: peer.give("1", "2"))
        read_all = threading.Thread(target=lambda: got.extend(job.text() for job in jobs))
        read_all.start()
        while len(got) < 4:
            pass
        mine = client.subscribe("t", "d")
        edge.do(lambda peer: peer.deliver("mine", "d", "d"))
        client.drain()
        assert got == ["1", "2", "1", "2"]
        assert jobs.receive() is None
        assert [message.text() for message in mine] == ["mine"]
    assert caplog.records[0].levelno == logging.WARNING


async def test_positions_of_own_messages_are_bounded() -> None:
    own = OwnPositions()
    for n in range(3000):
        own.add("t", "c", str(n), b"k")
    assert len(own._keys) == 1024
    assert own.key_of("t", "c", "2999") == b"k"
    assert own.key_of("t", "c", "1") is None
