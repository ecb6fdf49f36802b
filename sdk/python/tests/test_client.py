"""Clients of an edge: connecting, subscribing, publishing, and the end."""

from __future__ import annotations

import asyncio
import math
import re
import traceback
from typing import Any

import pytest

from millrace import Client, Message, Paths, Subscription, connect, events

from .edge import Record, edges
from .fixture import Recorder, read, refuses, tried


async def test_who_forgets_to_await_connect_is_told() -> None:
    connecting: Any = connect("http://localhost:8080", token="AT_1")
    with pytest.raises(
        AttributeError, match=r"has no publish: use async with connect\(…\) as client, or client = await"
    ):
        connecting.publish("t", "c", "x")


async def test_subscribe_publish_deliver_leave() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        client = it.client
        assert await it.event("connected") == events.Connected(edge.url, "websocket")
        assert (client.edge, client.transport) == (edge.url, "websocket")
        peer = await edge.peer(0)
        assert peer.token == "AT_1"

        one = await client.subscribe("t", "c")
        two = await client.subscribe("t", "c")
        other = await client.subscribe("", "#")
        assert peer.lines.all == ["SUB:t:c", "SUB:~:#"]
        assert other.tenant == "~"
        peer.deliver("hello")
        for sub in (one, two):
            message = await sub.__anext__()
            assert (message.text(), message.pattern, message.patterns) == ("hello", "c", ("c",))
            assert (message.tenant, message.channel, message.late) == ("t", "c", False)
            assert message.position is None
            assert message.time is None

        await client.publish("t", "c", "x")
        await client.publish("t", "c", b"\x01\x02", delivery="one-random")
        await client.publish("t", "c", memoryview(b"m"))
        await client.flush()
        sent = [frame.hex() for frame in peer.frames.all]
        assert sent == ["00017400016378", "02020001740001630102", "0001740001636d"]
        assert client.rtt is not None

        await one.unsubscribe()
        assert peer.count("UNSUB:t:c") == 0
        await two.unsubscribe()
        assert peer.count("UNSUB:t:c") == 1
        await client.close()
        assert await client.closed() is None
        assert await other.ended() is None
        assert await peer.closed.until(lambda _: True) == 1000
        assert await it.event("closed") == events.Closed(None)
        for act in (client.publish("t", "c", ""), client.flush(), client.subscribe("t", "c")):
            with refuses("closed"):
                await act


async def test_what_is_checked_before_anything_is_sent() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        client: Any = it.client
        with refuses("bad_tenant"):
            await client.publish("t:", "c", "")
        with refuses("bad_channel"):
            await client.publish("t", "c.*", "")
        with refuses("bad_pattern"):
            await client.subscribe("t", "#.a")
        for options in ({"queue": -1}, {"queue": 1.5}, {"queue_policy": "drop"}, {"on_message": "f"}):
            with refuses("bad_option"):
                await client.subscribe("t", "a", **options)
        for payload in (object(), {"a": object()}, math.nan, {1}):
            with refuses("bad_option"):
                await client.publish("t", "c", payload)
        with refuses("bad_option"):
            await client.publish("t", "c", "", delivery="all")
        with refuses("bad_option"):
            client.on("no event", print)
        bad: list[dict[str, Any]] = [
            {"token": "a b"},
            {"token": ""},
            {"token": "é"},
            {},
            {"token": "AT_a", "token_provider": lambda: "AT_a"},
            {"token_provider": "a"},
            {"token": "AT_a", "transports": []},
            {"token": "AT_a", "transports": ["tcp"]},
            {"token": "AT_a", "connect_timeout": math.nan},
            {"token": "AT_a", "pong_timeout": -1},
            {"token": "AT_a", "keep_alive": 2**31},
            {"token": "AT_a", "max_back_off": math.inf},
            {"token": "AT_a", "queue_policy": "drop"},
            {"token": "AT_a", "paths": Paths(ping="ping")},
            {"token": "AT_a", "ssl": True},
            {"token": "AT_a", "paths": {"ping": "/ping"}},
            {"token": "AT_a", "transports": None},
            {"token": "AT_a", "on": {"no event": print}},
            {"token": "AT_a", "on": print},
        ]
        for options in bad:
            with refuses("bad_option"):
                await connect(edge.url, **options)
        for url in ("edge", "ws://127.0.0.1", "http://edge.example", "https://a:b@e.example", "https://e/?a"):
            with refuses("bad_option"):
                await connect(url, token="AT_a")
        none: Any
        for none in ([], 5, None, [None]):
            with refuses("bad_option"):
                await connect(none, token="AT_a")
        with refuses("bad_option"):
            await connect(edge.url, token="AT_a", transports=["webtransport"])
        assert (await edge.peer(0)).lines.all == []


@pytest.mark.parametrize(
    ("status", "code", "want"),
    [
        (401, "unauthorized", "unauthorized"),
        (403, "ip_not_allowed", "ip_not_allowed"),
        (403, "protocol_not_allowed", "protocol_not_allowed"),
        (503, "draining", "draining"),
        (401, "", "unauthorized"),
        (404, "", "unreachable"),
        (502, "", "unavailable"),
    ],
)
async def test_refusals(status: int, code: str, want: str) -> None:
    async with edges(1) as (edge,):
        edge.refusal = status, code
        secret = "_".join(["AT", "secret"])  # the traceback shows this line
        with refuses(want) as caught:
            await connect(edge.url, token=secret, fail_fast=True)
        assert caught.value.status == status
        assert secret not in "".join(traceback.format_exception(caught.value))


async def test_nobody_answers() -> None:
    async with edges(1) as (edge,):
        await edge.stop()
        with refuses("unreachable") as caught:
            await connect(edge.url, token="AT_a", fail_fast=True)
        assert isinstance(caught.value.__cause__, ConnectionRefusedError)
        assert re.match(
            r"unreachable: no WebSocket at http://.*nothing listens.*(refused|Connect call)",
            str(caught.value),
        )
        assert str(caught.value.again()) == str(caught.value)
        await edge.start()
        edge.stalls = True
        with refuses("timeout"):
            await connect(edge.url, token="AT_a", connect_timeout=0.1, fail_fast=True)


async def test_the_first_edge_that_takes_the_client() -> None:
    async with edges(3) as (a, b, c):
        a.refusal = 401, "unauthorized"
        b.ping = 503  # drains: comes last
        c.refusal = 503, "draining"
        async with tried([a.url, b.url, c.url]) as it:
            assert it.client.edge == b.url
            assert len(a.refusals.all) == len(c.refusals.all) == 1


async def test_what_the_edge_tells() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        for line in (
            "ERR:slow_consumer:7",
            "ERR:egress_limited:3",
            "ERR:permission_denied:PUB:t:a.b",
            "ERR:broker_unavailable",
            "ERR:of_later_edges:SUB:t:\x1bc",
            "NO:such:line",
        ):
            peer.send(line)
        peer.send(b"\x7fa frame of later edges")
        assert await it.event("slow_consumer") == events.SlowConsumer(7)
        assert await it.event("limited") == events.Limited("in", 3.0)
        assert await it.event("publish_error") == events.PublishError("t", "a.b", "permission_denied")
        assert await it.event("edge_error") == events.EdgeError("broker_unavailable", "")
        assert await it.event("edge_error", 1) == events.EdgeError("of_later_edges", "SUB:t: c")
        await it.client.flush()
        assert len(it.events.all.all) == 6


async def test_links() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.send("LINK:down")
        assert await it.event("link_down") == events.LinkDown(edge.url)
        peer.send("LINK:down")
        peer.send("LINK:up")
        assert await it.event("link_up") == events.LinkUp(edge.url)
        assert len(it.events.of("link_down")) == 1


async def test_an_edge_of_an_earlier_version() -> None:
    async with edges(1, "ERR:bad_request") as (edge,), tried(edge.url) as it:
        await it.client.flush()
        (await edge.peer(0)).send("ERR:bad_request")
        assert await it.event("edge_error") == events.EdgeError("bad_request", "")


async def test_a_slow_handler_delays_events_and_no_message() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        gate = asyncio.Event()
        seen = Record[int]()

        async def slow(event: events.SlowConsumer) -> None:
            seen.add(event.dropped)
            await gate.wait()

        remove = it.client.on("slow_consumer", slow)
        await it.client.subscribe("t", "c", on_message=it.take)
        peer = await edge.peer(0)
        peer.send("ERR:slow_consumer:1")
        peer.send("ERR:slow_consumer:2")
        await seen.until(lambda _: True)
        peer.deliver("through")
        await it.has("through")
        assert seen.all == [1]
        gate.set()
        await seen.until(lambda n: n == 2)
        remove()
        remove()
        peer.send("ERR:slow_consumer:3")
        await it.event("slow_consumer", 2)
        assert seen.all == [1, 2]


async def test_events_that_wait_for_a_slow_handler_are_bounded() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        gate = asyncio.Event()
        it.client.on("slow_consumer", lambda _: gate.wait())
        peer = await edge.peer(0)
        for n in range(3000):
            peer.send(f"ERR:slow_consumer:{n}")
        await it.client.flush()
        assert len(it.client._session.events._waiting) == 1024
        gate.set()
        await it.events.all.until(lambda told: told[1] == events.SlowConsumer(2999))
        assert len(it.events.of("slow_consumer")) <= 1025


async def test_empty_parts_of_a_message_take_no_memory() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.write(b"\x02\x00" + b"\x00\x00" * 100_000 + b"\x8a\x00")
        peer.write(b"\x80\x01\x7f")  # of a later edge
        await it.client.flush()
        current = it.client._session.current
        assert current is not None
        assert len(current._link._parts) == 0  # type: ignore[attr-defined]


async def test_what_the_applications_functions_raise() -> None:
    """It goes to the loop's exception handler, and nothing else suffers."""
    reported: list[str] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, about: reported.append(str(about["exception"]))
    )

    def fails(m: Message) -> None:
        raise RuntimeError(f"message {m.text()}")

    async def fails_later(m: Message) -> None:
        raise RuntimeError(f"later {m.text()}")

    def event_fails(_: events.SlowConsumer) -> None:
        raise RuntimeError("event")

    async with edges(1) as (edge,), tried(edge.url) as it:
        await it.client.subscribe("t", "c", on_message=fails)
        await it.client.subscribe("t", "c", on_message=fails_later)
        await it.client.subscribe("t", "c", on_message=it.take)
        it.client.on("slow_consumer", event_fails)
        peer = await edge.peer(0)
        peer.send("ERR:slow_consumer:1")
        for text in "12":
            peer.deliver(text)
        await it.has("2")
        await it.client.flush()
    assert sorted(reported) == ["event", "later 1", "later 2", "message 1", "message 2"]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda peer: peer.send("ERR:token_revoked"), "token_revoked"),
        (lambda peer: peer.close(4403), "token_revoked"),
        (lambda peer: peer.send("ERR:token_expired"), "token_expired"),
        (lambda peer: (peer.send("ERR:forbidden:ip"), peer.close(4403)), "ip_not_allowed"),
        (
            lambda peer: (peer.send("ERR:forbidden:client:go away: now"), peer.close(4403)),
            "client_not_allowed",
        ),
    ],
)
async def test_the_edge_ends_the_client(end: Any, code: str) -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        sub = await it.client.subscribe("t", "c")
        peer = await edge.peer(0)
        peer.deliver("1")
        peer.deliver("2")
        end(peer)
        error = await it.client.closed()
        assert error is not None
        assert error.code == code
        if code == "client_not_allowed":
            assert error.text == "go away: now"
        assert await read(sub, 2) == ["1", "2"]  # what had come is there
        with refuses(code):
            await sub.__anext__()
        assert await it.event("closed") == events.Closed(error)
        with refuses("closed"):
            await it.client.flush()


@pytest.mark.parametrize("line", ["closed_by_operator", "token_unverifiable", "internal"])
async def test_an_end_after_which_the_client_comes_back(line: str) -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.send(f"ERR:{line}")
        peer.close(1013)
        assert (await it.event("disconnected")).error.code == line
        await it.event("reconnected")


async def test_subscriptions_that_are_refused() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        for code in ("permission_denied", "try_later"):
            peer.answers = lambda line, code=code: f"ERR:{code}:{line}"  # type: ignore[misc]
            with refuses(code) as caught:
                await it.client.subscribe("t", "c")
            assert (caught.value.tenant, caught.value.pattern) == ("t", "c")
            assert str(caught.value).endswith("(tenant 't', pattern 'c')")
        peer.answers = lambda _: True
        await it.client.flush()
        assert it.events.names == ["connected"]


async def test_what_an_edge_must_not_send() -> None:
    for wrong in (b"\x01\x00", b"\x04\x01\x00"):
        async with edges(1) as (edge,), tried(edge.url) as it:
            (await edge.peer(0)).send(wrong)
            assert (await it.event("disconnected")).error.code == "protocol"
            await it.event("reconnected")
    for raw in (b"\x81\x02\xff\xff", b"\xf1\x00", b"\x82\xff" + b"\x00\x00\x00\x00\x7f\xff\xff\xff"):
        async with edges(1) as (edge,), tried(edge.url) as it:
            (await edge.peer(0)).write(raw)
            assert (await it.event("disconnected")).error.code == "protocol"
            await it.event("reconnected")


async def test_a_message_in_parts() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        await it.client.subscribe("t", "c", on_message=it.take)
        peer = await edge.peer(0)
        frame = b"\x01\x00\x01t\x00\x01c\x00\x00\x00\x02hi\x00\x01\x00\x01c"
        peer.write(b"\x02\x03" + frame[:3] + b"\x89\x00" + b"\x00\x02" + frame[3:5])
        await asyncio.sleep(0.01)
        peer.write(bytes([0x80, len(frame) - 5]) + frame[5:8])
        await asyncio.sleep(0.01)
        peer.write(frame[8:])
        await it.has("hi")


async def test_close_within_functions_of_the_application() -> None:
    for kind in ("event", "message", "later", "child"):
        async with edges(1) as (edge,), tried(edge.url) as it:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            async def end(_: Any, client: Client = it.client, done: asyncio.Future[None] = done) -> None:
                await client.close()
                done.set_result(None)

            async def end_in_child(
                _: Any, client: Client = it.client, done: asyncio.Future[None] = done
            ) -> None:
                await asyncio.gather(client.close())
                done.set_result(None)

            peer = await edge.peer(0)
            if kind == "event":
                it.client.on("slow_consumer", end)
            elif kind == "child":
                it.client.on("slow_consumer", end_in_child)
            else:
                taker: Any = end if kind == "message" else lambda m: end(m)
                await it.client.subscribe("t", "c", on_message=taker)
            peer.send("ERR:slow_consumer:1")
            peer.deliver("x")
            await done
            assert await it.client.closed() is None


async def test_close_waits_for_functions_and_to_cancel_it_ends_them() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        begun = asyncio.Event()
        ended: list[str] = []

        async def slow(_: Message) -> None:
            begun.set()
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append("it")

        await it.client.subscribe("t", "c", on_message=slow)
        (await edge.peer(0)).deliver("x")
        await begun.wait()
        closing = asyncio.create_task(it.client.close())
        await it.client.closed()
        await asyncio.sleep(0.01)
        assert not closing.done()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await asyncio.sleep(0)
        assert ended == ["it"]


async def test_a_publisher_waits_for_the_network() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.socket.transport.pause_reading()
        sent = 0

        async def publish() -> None:
            nonlocal sent
            while sent < 1000:
                await it.client.publish("t", "c", bytes(100_000))
                sent += 1

        publishing = asyncio.create_task(publish())
        before = -1
        while sent != before:  # until it waits
            before = sent
            await asyncio.sleep(0.1)
        assert sent < 500
        peer.socket.transport.resume_reading()
        await publishing
        await it.client.flush()
        assert len(peer.frames.all) == 1000


async def test_a_publisher_lets_others_run() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        over = False

        async def end() -> None:
            nonlocal over
            over = True

        task = asyncio.create_task(end())
        for _ in range(64):
            await it.client.publish("t", "c", "x")
        assert over
        await task


async def test_closing_an_edge_that_does_not_answer() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.socket.transport.pause_reading()
        await it.client.close()
        assert it.events.names == ["connected", "closed"]


async def test_connect_can_be_awaited_and_entered() -> None:
    async with edges(1) as (edge,):
        client = await connect(edge.url, token="AT_a")
        async with client:
            pass
        assert await client.closed() is None
        async with connect(edge.url, token="AT_a") as client:
            async with await client.subscribe("t", "c") as sub:
                assert isinstance(sub, Subscription)
            assert await sub.ended() is None
        with refuses("closed"):
            await client.flush()


async def test_a_failed_connect_leaves_nothing() -> None:
    recorder = Recorder()
    async with edges(1) as (edge,):
        edge.refusal = 401, "unauthorized"
        with refuses("unauthorized"):
            await connect(edge.url, token="AT_a", on=recorder.on)
    assert recorder.all.all == []
