"""What is said on the logger, when nobody listens, and the first connecting that waits."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest

import millrace.sync
from millrace import LoggedOut, MillraceError, connect, events, token_from
from millrace._emitter import Emitter
from millrace._handlers import Handlers
from millrace._loud import DOCS, Loud

from .edge import WAIT, edges
from .fixture import Recorder, refuses, tried
from .web import closed_port, web


async def said(caplog: pytest.LogCaptureFixture, *told: events.Event, on: Any = None) -> list[str]:
    caplog.clear()
    handlers = Handlers()
    emitter = Emitter(handlers, on or {}, Loud())
    for event in told:
        emitter.emit(event)
    await handlers.over()
    return [record.getMessage() for record in caplog.records]


async def test_losses_and_refusals_are_said_once_for_each_code(caplog: pytest.LogCaptureFixture) -> None:
    error = MillraceError("unreachable", "no\x1bWebSocket")
    assert str(error) == "unreachable: no WebSocket"
    loud: list[events.Event] = [
        events.PublishError("t", "c", "permission_denied", "the token may not"),
        events.PublishUnknown("https://e", "websocket", 3),
        events.SubscriptionError("t", "c", "try_later"),
        events.EdgeError("broker_unavailable", ""),
        events.Gap("t", "c", None, "expired"),
        events.QueueFull("t", "c", 3),
        events.SlowConsumer(3),
        events.Limited("in", 3.0),
        events.Connecting(2, 0.1, error),
        events.Closed(error),
    ]
    for event in loud:
        lines = await said(caplog, event, event)
        assert len(lines) == 1, event
        assert DOCS in lines[0]
    assert await said(caplog, events.Closed(None), events.Connected("https://e", "websocket")) == []
    name = "publish_error"
    assert await said(caplog, loud[0], on={name: lambda _: None}) == []
    lines = await said(caplog, events.EdgeError("a", "AT_secret"), events.EdgeError("b", ""))
    assert len(lines) == 2
    assert "secret" not in lines[0]
    assert len(await said(caplog, *(events.EdgeError(f"a{n}", "") for n in range(1000)))) == 256


async def test_reasons_are_said(caplog: pytest.LogCaptureFixture) -> None:
    own = logging.getLogger("of.the.application")
    async with edges(1) as (edge,), connect(edge.url, token="AT_1", logger=own) as client:
        peer = await edge.peer(0)
        for denial in ("allowed=news.#,a", "allowed=", "tenants=paint.t", "tenants=x", "by=hook"):
            peer.send(f"ERR:permission_denied:PUB:t:secret:{denial}")
        refused: list[events.PublishError] = []
        await client.flush()
        assert "the token may publish in t only to news.#, a, not to secret" in caplog.text
        assert caplog.records[0].name == "of.the.application"
        client.on("publish_error", refused.append)
        for denial in ("allowed=", "tenants=paint.t", "tenants=x", "by=hook"):
            peer.send(f"ERR:permission_denied:PUB:t:secret:{denial}:connection=0123456789abcdef")
        peer.send("ERR:ingress_limited:3")
        await client.flush()
        says = (
            "may not publish in t to secret",
            "did you mean paint.t",
            "for the tenant x, not for t",
            "hook",
        )
        assert [a in event.detail for a, event in zip(says, refused, strict=True)] == [True] * 4
        assert client.limited
        assert "ingress_kbps" in caplog.text


async def test_a_sender_that_nobody_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    async with edges(1) as (edge,):
        for sender in (True, False):
            async with tried(edge.url, sender=sender) as it:
                sub = await it.client.subscribe("t", "c")
                for _ in range(2):
                    (await edge.peer(1 - sender)).deliver("1")
                    assert (await sub.__anext__()).sender == ""
                assert len(caplog.records) == (0 if sender else 1)


async def test_connecting_waits() -> None:
    recorder = Recorder()
    async with edges(1) as (edge,):
        port = int(edge.url.rpartition(":")[2])
        await edge.stop()
        connecting = asyncio.ensure_future(
            _client(edge.url, token="AT_1", min_back_off=0.001, max_back_off=0.01, on=recorder.on)
        )
        second = await recorder.event("connecting", 1)
        assert (second.attempt, second.error.code) == (3, "unreachable")
        edge.refusal = 503, "draining"
        await edge.start(port)
        await recorder.all.until(lambda e: e[0] == "connecting" and e[1].error.code == "draining")
        edge.refusal = None
        client = await asyncio.wait_for(connecting, WAIT)
        assert recorder.names[-1] == "connected"
        await client.close()


async def _client(url: str, **options: Any) -> millrace.Client:
    return await connect(url, **options)


@pytest.mark.parametrize(
    ("status", "code", "want"),
    [
        (401, "unauthorized", "unauthorized"),
        (403, "ip_not_allowed", "ip_not_allowed"),
        (404, "", "unreachable"),
        (200, "", "unreachable"),
        (302, "", "unreachable"),
    ],
)
async def test_what_no_waiting_helps_with(status: int, code: str, want: str) -> None:
    """The other edge is one that drains: it could take the client later, but for these refusals."""
    async with edges(1) as (edge,):
        edge.refusal = status, code
        with refuses(want) as caught:
            await asyncio.wait_for(_client(edge.url, token="AT_1"), WAIT)
        if want == "unreachable":
            assert f"{edge.url}/ws answers with HTTP status {status}, and is not a Millrace edge" in str(
                caught.value
            )


async def test_a_token_that_ended_is_told() -> None:
    async with edges(1) as (edge,):
        for word in ("expired", "revoked"):
            edge.detail, edge.refusal = f"the access token has {word}", (401, "unauthorized")
            with pytest.raises(MillraceError, match=f"unauthorized: the token (has|was) {word}"):
                await _client(edge.url, token="AT_1")


async def test_a_provider_that_is_down_is_waited_for() -> None:
    calls = 0

    def provide() -> str:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise RuntimeError("the backend starts")
        return "AT_1"

    recorder = Recorder()
    async with edges(1) as (edge,):
        client = await _client(edge.url, token_provider=provide, on=recorder.on)
        error = (await recorder.event("connecting")).error
        assert str(error) == "token_provider: the token provider failed: RuntimeError: the backend starts"
        await client.close()
        with pytest.raises(MillraceError, match=r"token_provider: .* is a master token"):
            await _client(edge.url, token_provider=lambda: "MT_1")


async def test_token_from() -> None:
    async with web((200, {"token": "AT_7", "expires_in": 60})) as served, edges(1) as (edge,):
        provider = token_from(f"{served.url}/token", headers=lambda: {"Cookie": "session=1"})
        async with connect(edge.url, token_provider=provider):
            assert (await edge.peer(0)).token == "AT_7"
        call = served.calls[0]
        assert (call.method, call.path, call.headers["cookie"]) == ("POST", "/token", "session=1")
        assert call.headers["cache-control"] == "no-store"
    for status, body, kind, says in (
        (500, "the database is down", MillraceError, "answers 500: the database is down"),
        (403, "log in first", LoggedOut, "answers 403: log in first"),
        (403, "\x1b[31mlog\x9b in", LoggedOut, r"answers 403: \[31mlog in$"),
        (200, "<html>", MillraceError, "has to give token"),
    ):
        async with web((status, body)) as served:
            with pytest.raises(kind, match=says):
                await token_from(f"{served.url}/token")()
    with refuses("bad_option"):
        token_from("http://app.example.com/token")


async def test_logged_out_has_the_text_of_the_endpoint() -> None:
    async with web((401, "the session has ended")) as served:
        with pytest.raises(MillraceError, match=r"logged_out: .*the session has ended"):
            await connect(await closed_port(), token_provider=token_from(served.url))


def test_token_from_without_asyncio() -> None:
    def ask(url: str) -> None:
        with pytest.raises(MillraceError, match=r"logged_out: .*gone"):
            millrace.sync.connect(url, token_provider=millrace.sync.token_from(url))

    async def main() -> None:
        async with web((401, "gone")) as served:
            await asyncio.to_thread(ask, served.url)

    asyncio.run(main())


async def test_payloads_and_tenants() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        room = it.client.tenant("paint.room")
        payloads: list[tuple[Any, bytes]] = [
            ({"a": ["é", 1.5, None]}, '{"a":["é",1.5,null]}'.encode()), ([1, 2], b"[1,2]"), (5, b"5"), (0.5, b"0.5"),
            (True, b"true"), (None, b"null"), ("a", b"a"), (b"\0", b"\0"),
        ]  # fmt: skip
        for payload, _ in payloads:
            await room.publish("c", payload)
        await it.client.flush()
        peer = await edge.peer(0)
        assert [frame.rpartition(b"\x00\x01c")[2] for frame in peer.frames.all] == [
            body for _, body in payloads
        ]
        assert peer.frames.all[0].startswith(b"\x00\x0apaint.room")
        sub = await room.subscribe("c")
        assert (sub.tenant, sub.pattern) == ("paint.room", "c")
        with refuses("bad_tenant"):
            it.client.tenant("paint/room")
