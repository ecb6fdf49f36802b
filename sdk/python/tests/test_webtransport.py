"""Links over WebTransport, against an HTTP/3 server of aioquic."""

from __future__ import annotations

import asyncio
import os
import ssl as tls
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from millrace import _link, _webtransport
from millrace._capsules import CapsuleReader
from millrace._link import Dial, LinkEnd
from millrace._webtransport import WebTransportLink, open_webtransport
from millrace.errors import MillraceError
from millrace.options import settings

from .quic_edge import Edge, Recorder, Session, quic_edge

TOKEN = "AT_0123_4567"


def dial(url: str, context: tls.SSLContext | None) -> Dial:
    return Dial(url, TOKEN, settings(token=TOKEN, ssl=context))


@asynccontextmanager
async def linked(folder: Path, **options: Any) -> AsyncIterator[tuple[Edge, WebTransportLink, Recorder]]:
    async with quic_edge(folder, **options) as edge:
        link = await open_webtransport(dial(edge.url, edge.ssl))
        sink = Recorder()
        link.start(sink)
        await edge.until(lambda: edge.session)
        try:
            yield edge, link, sink
        finally:
            link.close()
            if sink.end is None:
                edge.now.close_session(1000, b"")
            await sink.ending()


async def test_messages(tmp_path: Path) -> None:
    async with linked(tmp_path) as (edge, link, sink):
        assert edge.headers[b"authorization"] == b"Bearer " + TOKEN.encode()
        assert edge.headers[b":path"] == b"/wt"
        link.send("PING")
        link.send(b"\0\1ta")
        await edge.until(lambda: len(edge.messages) == 2)
        assert edge.messages == [b"PING", b"\0\1ta"]

        edge.now.send(b"PONG", b"\1frame", "OK:SUB:ü:a".encode())
        for byte in b"\0\0\0\4LATE":
            edge.now.raw(bytes([byte]))
            await asyncio.sleep(0)
        await sink.until(4)
        assert sink.got == ["PONG", b"\1frame", "OK:SUB:ü:a", "LATE"]

        link.probe()
        await edge.until(lambda: edge.datagrams)
        assert edge.datagrams == [bytes(43)]


async def test_close_sends_what_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_webtransport, "_CLOSING", 30)  # seconds, on a busy machine
    async with linked(tmp_path) as (edge, link, sink):
        sent = [bytes([0]) + os.urandom(5000) for _ in range(30)]
        for message in sent:
            link.send(message)
        link.close()
        link.send("LATE")
        await edge.until(lambda: edge.finished)
        assert edge.messages == sent
        edge.now.raw(b"", end=True)
        assert (await sink.ending()).error is None
        await edge.until(lambda: edge.terminated)


@pytest.mark.parametrize(
    ("status", "headers", "body", "code", "retry_after"),
    [
        (
            401,
            [],
            b'{"code": "unauthorized", "detail": "x", "connection_id": "5f3a9c01b2d4e6f8"}',
            "unauthorized",
            0,
        ),
        (503, [(b"retry-after", b"7")], b'{"code": "draining", "detail": "x"}', "draining", 7),
        (403, [], b'{"code": "ip_not_allowed"' + b" " * 300_000 + b"}", "unreachable", 0),
        (404, [], b"", "unreachable", 0),
    ],
)
async def test_refused(
    tmp_path: Path,
    status: int,
    headers: list[tuple[bytes, bytes]],
    body: bytes,
    code: str,
    retry_after: float,
) -> None:
    def answer(session: Session, _: object) -> None:
        session.quic.stop_stream(session.request, 0x100)  # it reads no more
        session.respond(status, *headers, body=body)

    async with quic_edge(tmp_path, answer=answer) as edge:
        with pytest.raises(MillraceError) as caught:
            await open_webtransport(dial(edge.url, edge.ssl))
        assert (caught.value.code, caught.value.status) == (code, status)
        assert caught.value.retry_after == retry_after
        named = caught.value.connection_id
        assert named == ("5f3a9c01b2d4e6f8" if status == 401 else None)
        assert f"connection id {named!r}" in str(caught.value) or named is None
        await edge.until(lambda: edge.terminated)


async def test_request_that_is_reset(tmp_path: Path) -> None:
    def answer(session: Session, _: object) -> None:
        session.quic.reset_stream(session.request, 0x107)
        session.transmit()

    async with quic_edge(tmp_path, answer=answer) as edge:
        with pytest.raises(MillraceError, match="does not answer"):
            await open_webtransport(dial(edge.url, edge.ssl))


async def test_edge_closes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_webtransport, "_CLOSING", 30)
    async with linked(tmp_path) as (edge, link, sink):
        link.send("x")
        await edge.until(lambda: edge.messages)
        edge.now.send(b"ERR:token_revoked", end=True)
        await edge.until(lambda: edge.finished)  # the edge need not wait
        edge.now.close_session(4403, b"token_revoked")
        end = await sink.ending()
        assert sink.got == ["ERR:token_revoked"]
        assert end.close_code == 4403
        assert end.error is not None
        assert end.error.code == "token_revoked"
        assert link.sent() is None
        link.send("y")
        link.probe()


async def test_edge_closes_without_a_reason(tmp_path: Path) -> None:
    async with linked(tmp_path) as (edge, _, sink):
        edge.now.close_session(1001, b"")
        assert await sink.ending() == LinkEnd(1001)


async def test_edge_ends_the_stream_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_webtransport, "_CLOSING", 0.05)
    async with linked(tmp_path) as (edge, link, sink):
        link.send("x")
        await edge.until(lambda: edge.messages)
        edge.now.quic.reset_stream(edge.now.stream, 0)
        edge.now.transmit()
        assert await sink.ending() == LinkEnd()


@pytest.mark.parametrize(
    ("broken", "before"), [(b"\0\0\0\1\xff", []), (b"\0\0\0\4PONG\xff\xff\xff\xff", ["PONG"])]
)
async def test_broken_messages(tmp_path: Path, broken: bytes, before: list[str]) -> None:
    async with linked(tmp_path) as (edge, link, sink):
        link.send("x")
        await edge.until(lambda: edge.messages)
        edge.now.raw(broken)
        end = await sink.ending()
        assert end.error is not None
        assert end.error.code == "protocol"
        assert sink.got == before


async def test_out_of_order_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_webtransport, "_MAX_HELD", 100_000)
    async with linked(tmp_path) as (edge, link, sink):
        link.send("x")
        await edge.until(lambda: edge.messages)
        edge.now.quic.send_stream_data(edge.now.stream, bytes(900_000))
        edge.now.quic._streams[edge.now.stream].sender._pending.subtract(0, 1)  # never sent
        edge.now.transmit()
        end = await sink.ending()
        assert end.error is not None
        assert end.error.code == "protocol"


async def test_backpressure(tmp_path: Path) -> None:
    async with linked(tmp_path, max_data=1 << 20, max_stream_data=1 << 20) as (edge, link, sink):
        assert link.sent() is None
        edge.now.quic._local_max_data.used = -(1 << 40)  # so that it is never raised
        waits = None
        for _ in range(100):
            link.send(bytes(50_000))
            waits = link.sent()
            if waits is not None:
                break
        assert waits is not None
        assert link._waiting() <= _link.WRITE_BUFFER + 50_004
        await waits  # the edge's window takes it
        assert link.sent() is None
        for _ in range(45):
            link.send(bytes(50_000))
        waits = link.sent()
        assert waits is not None
        edge.now.close_session(1001, b"")
        await waits  # the link has ended
        await sink.ending()
        assert link.sent() is None


async def test_stateless_reset(tmp_path: Path) -> None:
    async with linked(tmp_path) as (edge, link, sink):
        link.send("x")
        await edge.until(lambda: edge.messages)
        session = edge.now
        token = session.quic._host_cids[0].stateless_reset_token
        transport: Any = session._transport
        address = session.quic._network_paths[0].addr
        for other in (b"\x40" + bytes(20) + token[:-1] + b"\0", token):
            transport.sendto(other, address)  # not a reset: another token, or too short
        edge.now.send(b"PONG")
        await sink.until(1)
        transport.sendto(b"\x40" + os.urandom(20) + token, address)
        assert await sink.ending() == LinkEnd()


async def test_unreachable(tmp_path: Path) -> None:
    async with quic_edge(tmp_path) as edge:
        for context, cause in (
            (None, "certificate"),
            (tls.SSLContext(tls.PROTOCOL_TLS_CLIENT), "authorities"),
        ):
            with pytest.raises(MillraceError) as caught:
                await open_webtransport(dial(edge.url, context))
            assert caught.value.code == "unreachable"
            assert cause in f"{caught.value} {caught.value.__cause__}"
        unchecked = tls.create_default_context()
        unchecked.check_hostname = False
        unchecked.verify_mode = tls.CERT_NONE
        link = await open_webtransport(dial(edge.url, unchecked))
        sink = Recorder()
        link.start(sink)
        edge.now.close_session(1000, b"")
        await sink.ending()
    with pytest.raises(MillraceError) as caught:  # at once, without a wait for an answer
        await open_webtransport(dial(edge.url, edge.ssl))
    assert isinstance(caught.value.__cause__, ConnectionRefusedError)
    with pytest.raises(MillraceError) as caught:
        await open_webtransport(dial("https://edge.invalid", edge.ssl))
    assert caught.value.code == "unreachable"


async def test_server_without_webtransport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from aioquic.h3.connection import H3Connection, Setting

    monkeypatch.setattr(H3Connection, "_get_local_settings", lambda _: {Setting.DUMMY: 1})
    async with quic_edge(tmp_path) as edge:
        with pytest.raises(MillraceError, match="has no WebTransport"):
            await open_webtransport(dial(edge.url, edge.ssl))


async def test_cancelling(tmp_path: Path) -> None:
    """Each moment of an attempt can be given up, and leaves nothing open."""
    silent = asyncio.Event()

    class Silent(asyncio.DatagramProtocol):
        def datagram_received(self, data: bytes, addr: object) -> None:
            silent.set()

    endpoint, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        Silent, local_addr=("127.0.0.1", 0)
    )
    url = f"https://127.0.0.1:{endpoint.get_extra_info('sockname')[1]}"
    attempt = asyncio.ensure_future(open_webtransport(dial(url, None)))
    await silent.wait()  # within the handshake
    attempt.cancel()
    with pytest.raises(asyncio.CancelledError):
        await attempt
    endpoint.close()

    asked = asyncio.Event()
    async with quic_edge(tmp_path, answer=lambda *_: asked.set()) as edge:
        attempt = asyncio.ensure_future(open_webtransport(dial(edge.url, edge.ssl)))
        await asked.wait()  # within the request
        attempt.cancel()
        with pytest.raises(asyncio.CancelledError):
            await attempt
        await edge.until(lambda: edge.terminated)


def test_capsules() -> None:
    close = b"\x68\x43\x0e" + (4403).to_bytes(4, "big") + "forbidden…".encode()[:10]
    stream = b"\x17\x03abc" + b"\x80\x00\x28\x43\x02ab" + b"\x00\x00" + close + b"behind"
    for size in (1, 2, 3, 7, len(stream)):
        reader = CapsuleReader()
        for at in range(0, len(stream), size):
            reader.push(stream[at : at + size])
            assert len(reader._held) < 1100
        assert reader.closed == (4403, "forbidden\ufffd")
    reader = CapsuleReader()  # one that never ends
    reader.push(b"\x17\xff\xff\xff\xff\xff\xff\xff\xff")
    for _ in range(100):
        reader.push(bytes(1000))
    assert (reader.closed, len(reader._held)) == (None, 0)
