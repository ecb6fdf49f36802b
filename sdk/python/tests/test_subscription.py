"""Queues of subscriptions, and how they are read."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from millrace import Message, events

from .edge import Peer, edges
from .fixture import Tried, read, refuses, tried


@contextlib.asynccontextmanager
async def begin() -> AsyncIterator[tuple[Tried, Peer]]:
    async with edges(1) as (edge,), tried(edge.url) as it:
        yield it, await edge.peer(0)


async def deliver(it: Tried, peer: Peer, *texts: str) -> None:
    for text in texts:
        peer.deliver(text)
    await it.client.flush()


@pytest.mark.parametrize(("policy", "want"), [("drop-oldest", ["4", "5"]), ("drop-newest", ["1", "2"])])
async def test_a_full_queue(policy: Any, want: list[str]) -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c", queue=2, queue_policy=policy)
        await deliver(it, peer, "1", "2", "3", "4", "5")
        assert await it.event("queue_full") == events.QueueFull("t", "c", 3)
        assert await read(sub, 2) == want
        await deliver(it, peer, "6", "7", "8", "9")
        await asyncio.sleep(0.1)
        assert len(it.events.of("queue_full")) == 1  # once a second at most
        assert (await it.event("queue_full", 1)).dropped == 2


@pytest.mark.parametrize("policy", ["drop-oldest", "drop-newest"])
@pytest.mark.parametrize("later", [False, True])
async def test_a_full_queue_holds_nothing_else(policy: Any, later: bool) -> None:
    """What was dropped is gone, whoever is to read the queue."""
    stopped = asyncio.Event()

    async def take(_: Message) -> None:
        await stopped.wait()

    async with begin() as (it, peer):
        on_message = take if later else None
        await it.client.subscribe("t", "c", queue=10, queue_policy=policy, on_message=on_message)
        for _ in range(20):
            await deliver(it, peer, *("x" * 100 for _ in range(50)))
        gc.collect()
        waiting = sum(isinstance(thing, Message) for thing in gc.get_objects())
        stopped.set()
        assert waiting == 10 + later  # and the one that take has


async def test_a_full_queue_that_ends() -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c", queue=2, queue_policy="end")
        await deliver(it, peer, "1", "2", "3", "4")
        error = await sub.ended()
        assert error is not None
        assert (error.code, error.tenant, error.pattern) == ("queue_full", "t", "c")
        assert await read(sub, 2) == ["1", "2"]
        for _ in range(2):
            with refuses("queue_full"):
                await sub.__anext__()
        await peer.until("UNSUB:t:c")


async def test_unsubscribe_ends_who_waits_and_drops_what_is_queued() -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c")
        readers = [asyncio.create_task(read(sub, 1)) for _ in range(2)]
        await asyncio.sleep(0)
        await sub.unsubscribe()
        for reader in readers:
            with pytest.raises(StopAsyncIteration):
                await reader
        sub = await it.client.subscribe("t", "c")
        await deliver(it, peer, "1")
        await sub.unsubscribe()
        assert [message async for message in sub] == []
        await sub.unsubscribe()


async def test_readers_that_give_up() -> None:
    """No message is lost, and what they leave behind takes no memory."""
    async with begin() as (it, _):
        sub = await it.client.subscribe("t", "c")
        for _ in range(100):
            reader = asyncio.create_task(read(sub, 1))
            await asyncio.sleep(0)
            reader.cancel()
            await asyncio.wait({reader})
        assert len(sub._readers) == 0
        # One is woken, and cancelled before it runs: the other one gets the message.
        first, second = (asyncio.create_task(read(sub, 1)) for _ in range(2))
        await asyncio.sleep(0)
        sub._push(Message("t", "c", b"1", "c", ("c",)))
        first.cancel()
        assert await second == ["1"]
        await asyncio.wait({first})
        assert first.cancelled()


async def test_several_readers() -> None:
    async with begin() as (it, peer):
        sub = await it.client.subscribe("t", "c")
        readers = [asyncio.create_task(read(sub, 1)) for _ in range(3)]
        await asyncio.sleep(0)
        await deliver(it, peer, "1", "2", "3")
        assert sorted(text for [text] in await asyncio.gather(*readers)) == ["1", "2", "3"]


async def test_a_coroutine_function_takes_one_message_after_the_other() -> None:
    async with begin() as (it, peer):
        running = most = 0
        go = asyncio.Event()

        async def take(m: Message) -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await go.wait()
            it.take(m)
            running -= 1

        await it.client.subscribe("t", "c", on_message=take, queue=3)
        await deliver(it, peer, *"123456")  # one is taken, and three wait
        assert (await it.event("queue_full")).dropped in (2, 3)
        go.set()
        await it.has("6")
        assert most == 1
        assert it.got.all[-3:] == ["4", "5", "6"]


async def test_what_had_come_before_the_end_reaches_a_coroutine_function() -> None:
    async with begin() as (it, peer):

        async def take(m: Message) -> None:
            await asyncio.sleep(0.01)
            it.take(m)

        await it.client.subscribe("t", "c", on_message=take)
        for text in "123":
            peer.deliver(text)
        peer.revoke()
        await it.client.closed()
        await it.has("3")
        assert it.got.all == ["1", "2", "3"]


async def test_a_subscription_with_a_callback_cannot_be_iterated() -> None:
    async with begin() as (it, _):
        sub = await it.client.subscribe("t", "c", on_message=it.take)
        with refuses("bad_option"):
            async for _ in sub:
                pass
        with refuses("bad_option"):
            await sub.__anext__()


async def test_messages() -> None:
    message = Message("t", "c", b'{"a": "\xc3\xa9"}', "c", ("c",))
    assert message.json() == {"a": "é"}
    assert message.text() == '{"a": "é"}'
    assert Message("t", "c", b"\xff", "c", ("c",)).text() == "�"
    with pytest.raises(ValueError, match="message of c in t, 1 bytes"):
        Message("t", "c", b"x", "c", ("c",)).json()
    assert "secret" not in repr(Message("t", "c", b"secret", "c", ("c",)))
    late = Message("t", "c", b"", "c", ("c",), False, "0000000000000001.1.18446744073709551615").time
    assert late is not None
    assert late.year == 9999


async def test_it_waits_for_the_end_of_an_earlier_one() -> None:
    """What comes until then is of that one: behind it there would be a hole."""
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        first = await it.client.subscribe("t", "c")
        peer.answers = lambda line: not line.startswith("UNSUB")
        left = asyncio.create_task(first.unsubscribe())
        await peer.until("UNSUB:t:c")
        given_up = asyncio.create_task(it.client.subscribe("t", "c"))
        subscribed = asyncio.create_task(it.client.subscribe("t", "c"))
        await it.client.flush()
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        await deliver(it, peer, "old")
        assert peer.count("SUB:t:c") == 1
        peer.answer("UNSUB:t:c")
        await left
        second = await subscribed
        assert peer.count("SUB:t:c") == 2
        peer.deliver("new")
        assert await read(second, 1) == ["new"]

        # The end of the connection is one of the subscription, too; and of the client.
        gone = asyncio.create_task(second.unsubscribe())
        third = asyncio.create_task(it.client.subscribe("t", "c"))
        await it.client.flush()
        peer.kill()
        await gone
        await third
        peer = await edge.peer(1)
        peer.answers = lambda line: not line.startswith("UNSUB")
        gone = asyncio.create_task((await third).unsubscribe())
        await peer.until("UNSUB:t:c")
        never = asyncio.create_task(it.client.subscribe("t", "c"))
        await it.client.flush()
        await it.client.close()
        with refuses("closed"):
            await never
        await gone
