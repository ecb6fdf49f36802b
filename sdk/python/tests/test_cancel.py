"""What is cancelled, at whatever point, leaves nothing half done."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from millrace import Client, _connect, _dial, _race, connect
from millrace._link import Dial
from millrace._resolve import Target
from millrace.options import settings

from .edge import Edge, at, edges, everything
from .fixture import Two, refuses, tried, two

MOST = 2000  # turns of the loop


async def cancelled(
    act: Callable[[], Awaitable[Any]], most: int = MOST, step: int = 1
) -> AsyncIterator[asyncio.Task[Any]]:
    """Act and cancel that after one turn of the loop; again after two turns; and so on, until it is done before.

    Gives each time the task, which has ended.
    """

    async def run() -> Any:
        return await act()

    for n in range(0, most, step):
        task = asyncio.create_task(run())
        for _ in range(n):
            await asyncio.sleep(0)
        done = task.done()
        task.cancel()
        await asyncio.wait({task})
        yield task
        if done:
            return
    raise AssertionError("it is never done")


async def until_gone(edge: Edge) -> None:
    for peer in edge.peers.all:
        await peer.closed.until(lambda _: True)


@pytest.mark.parametrize("several", [False, True])
async def test_connect(several: bool) -> None:
    async with edges(2 if several else 1) as all_:
        edge = all_[0]
        edge.bodies["/edges"] = '{"edges": []}'
        urls = [edge.url, all_[1].url, f"{edge.url}/edges"] if several else edge.url

        async def provider() -> str:
            await asyncio.sleep(0)
            return "AT_1"

        step = 5 if several else 1  # most of it is requests of /ping
        async for task in cancelled(lambda: connect(urls, token_provider=provider), step=step):
            if not task.cancelled():
                await task.result().close()
        for one in all_:
            await until_gone(one)
        for peers in (one.peers.all for one in all_):
            assert all(peer.closed.all for peer in peers)


async def test_connect_to_an_edge_that_refuses() -> None:
    async with edges(1) as (edge,):
        edge.refusal = 401, "unauthorized"
        async for task in cancelled(lambda: connect(edge.url, token="AT_1")):
            if not task.cancelled():
                with refuses("unauthorized"):
                    task.result()


async def test_dialing(monkeypatch: pytest.MonkeyPatch) -> None:
    """No link is lost, not even one that comes up at the very moment."""
    links: list[Link] = []

    async def opener(_: Dial) -> Link:
        await asyncio.sleep(0)
        links.append(Link())
        return links[-1]

    monkeypatch.setitem(_dial._OPENERS, "websocket", opener)
    dialer = _dial.Dialer(settings(token="AT_a"))
    async for task in cancelled(lambda: dialer.open("http://localhost", "a")):
        if task.cancelled():
            assert all(link.closed for link in links)
        else:
            assert task.result() is links[-1]
    assert len(links) > 2


class Link:
    """A link where only the end counts."""

    transport = "websocket"
    closed = False

    def start(self, sink: object) -> None:
        pass

    def close(self) -> None:
        self.closed = True


async def test_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """No socket is lost, either."""
    opened: list[socket.socket] = []

    class Counted(socket.socket):
        def __init__(self, *args: Any, **more: Any) -> None:
            super().__init__(*args, **more)
            if not more:  # the edge's have a fileno
                opened.append(self)

    async with edges(1) as (edge,):
        port = int(edge.url.rpartition(":")[2])
        target, silent = Target(socket.AF_INET, ("127.0.0.1", port)), Target(0, None)

        async def resolved(*_: object) -> list[Target]:  # at once, with one more than is needed
            return [silent, target, target]

        async def opens(to: Target, real: Any = _connect._connect) -> Any:
            return await (asyncio.sleep(3600) if to is silent else real(to))

        monkeypatch.setattr(_connect, "resolve_host", resolved)
        monkeypatch.setattr(_connect, "_connect", opens)
        monkeypatch.setattr(_race, "_DELAY", 0)
        monkeypatch.setattr(socket, "socket", Counted)
        async for task in cancelled(lambda: _connect.connect_tcp("127.0.0.1", port)):
            if not task.cancelled():
                task.result().close()
            assert all(one.fileno() == -1 for one in opened)
    assert len(opened) > 2


def left(client: Client) -> tuple[int, int]:
    """What a client has asked for, and who waits for it."""
    subscriber = client._session.subscriber
    return len(subscriber.interests.all), len(subscriber.asking)


@pytest.mark.parametrize("history", [None, "now"])
async def test_subscribe_and_unsubscribe(history: Any) -> None:
    async with edges(1, "FEATURES:link,history") as (edge,):

        def answers(line: str) -> bool | str:
            verb, _, rest = line.partition(":")
            return f"OK:RSUB:{rest.rpartition(':')[0]}:{at(1)}:complete" if verb == "RSUB" else True

        edge.answers = answers
        async with tried(edge.url) as it:
            peer = await edge.peer(0)
            await it.client.flush()
            async for task in cancelled(lambda: it.client.subscribe("t", "c", history=history)):
                if not task.cancelled():
                    leaving = [t async for t in cancelled(task.result().unsubscribe)]
                    assert len(leaving) > 1
                await it.client.flush()
                await it.client.flush()
                asked = sum(line.startswith(("SUB:", "RSUB:")) for line in peer.lines.all)
                assert peer.count("UNSUB:t:c") == asked
                assert left(it.client) == (0, 0)
            assert it.events.names == ["connected"]
            sub = await it.client.subscribe("t", "c", history=history)
            await sub.unsubscribe()


async def test_one_of_two_subscriptions_to_a_pattern() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.answers = lambda line: not line.startswith("SUB")
        first = asyncio.create_task(it.client.subscribe("t", "c"))
        second = asyncio.create_task(it.client.subscribe("t", "c", on_message=it.take))
        await peer.until("SUB:t:c")
        first.cancel()
        await asyncio.wait({first})
        assert peer.count("UNSUB:t:c") == 0
        peer.answer("SUB:t:c")
        await second
        peer.deliver("1")
        await it.has("1")


async def test_subscribe_while_the_client_reconnects() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        edge.refusal = 503, "draining"
        (await edge.peer(0)).kill()
        await it.event("disconnected")
        for n in range(50):
            task = asyncio.create_task(it.client.subscribe("t", "c"))
            for _ in range(n):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
            assert task.cancelled()
            assert left(it.client) == (0, 0)
        edge.refusal = None
        await it.event("reconnected")
        assert (await edge.peer(1)).lines.all == []


async def test_publish_flush_and_confirm() -> None:
    async with edges(1, "FEATURES:link,history") as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        await it.client.flush()
        c = it.client._session.current
        assert c is not None
        async for _ in cancelled(it.client.flush):
            pass
        async for _ in cancelled(lambda: it.client.publish("t", "c", "x", confirm=True, key="k")):
            assert c._confirms._all == {}
            if len(peer.frames.all) > 10:
                break
        for frame in peer.frames.all:  # answers to what nobody waits for
            peer.send(f"OK:PUB:{int.from_bytes(frame[2:6], 'big')}:{at(1)}")
        async for _ in cancelled(lambda: it.client.publish("t", "c", "y")):
            pass
        await it.client.flush()
        assert not c._pings
        assert it.events.names == ["connected"]


async def test_publish_and_flush_during_a_move() -> None:
    async with two() as it:
        it.first.answers = lambda line: line != "PING"
        it.first.send("RECONNECT")
        await it.first.until("PING")
        for act in (
            lambda: it.client.publish("t", "c", "x"),
            lambda: it.client.publish("t", "c", "x", confirm=True),
            it.client.flush,
        ):
            tried_ = 0
            async for task in cancelled(act, 20):
                assert task.cancelled()
                tried_ += 1
                if tried_ == 10:
                    break
        it.first.answers = everything
        it.first.send("PONG")
        await it.event("moved")
        await it.client.publish("t", "c", "last")
        await it.client.flush()
        second = await it.b.peer(0)
        assert [frame[-4:] for frame in second.frames.all] == [b"last"]


async def test_renew_token() -> None:
    calls = 0

    async def provider() -> str:
        nonlocal calls
        calls += 1
        await asyncio.sleep(0)
        return "AT_1"

    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        for n in range(20):
            task = asyncio.create_task(it.client.renew_token())
            for _ in range(n):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task})
        await it.client.renew_token()
        assert calls == 2  # those that were cancelled had asked, and it was one call


async def test_close() -> None:
    async with edges(1) as (edge,):
        for n in range(30):
            client = await connect(edge.url, token="AT_1")
            await client.subscribe("t", "c")
            closing = asyncio.create_task(client.close())
            for _ in range(n):
                await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait({closing})
            if n == 0:  # it did not begin
                await client.close()
            assert await client.closed() is None
            await client.close()
        await until_gone(edge)


async def test_during_a_suspicion_and_a_takeover() -> None:
    async with two() as it:
        await _silence(it)
        async for task in cancelled(it.client.flush, 20):
            if not task.cancelled():
                break
        async for task in cancelled(lambda: it.client.publish("t", "c", "x"), 20):
            if not task.cancelled():
                break
        await it.event("recovered")
        await it.client.flush()


async def _silence(it: Two) -> None:
    it.first.answers = lambda _: False
    with refuses("disconnected"):
        await it.client.flush()
