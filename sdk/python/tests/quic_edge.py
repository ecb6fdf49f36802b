"""An HTTP/3 server in the loop of a test, which does with sessions what the test says."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl as tls
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.asyncio.server import serve
from aioquic.h3.connection import H3_ALPN, H3Connection
from aioquic.h3.events import DatagramReceived, HeadersReceived, WebTransportStreamDataReceived
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, ProtocolNegotiated, QuicEvent
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from millrace._link import LinkEnd
from millrace._splitter import Splitter, with_length


@dataclass
class Edge:
    """The server, and its newest connection."""

    url: str = ""
    ssl: tls.SSLContext | None = None
    """Trusts the server."""
    webtransport: bool = True
    """Its settings allow sessions."""
    answer: Callable[[Session, dict[bytes, bytes]], None] = lambda session, _: session.accept()
    """What becomes of a request, by its headers."""
    session: Session | None = None
    headers: dict[bytes, bytes] = field(default_factory=dict)
    messages: list[bytes] = field(default_factory=list)
    datagrams: list[bytes] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    finished: bool = False
    """The client has ended its stream."""
    terminated: bool = False
    """The client has ended the connection."""

    async def until(self, condition: Callable[[], object]) -> None:
        while not condition():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 10)

    @property
    def now(self) -> Session:
        assert self.session is not None
        return self.session


class Session(QuicConnectionProtocol):
    """A connection to the server, with the session that it carries."""

    def __init__(self, edge: Edge, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.edge = edge
        self.quic = self._quic
        self.h3: H3Connection | None = None
        self.request = -1
        self.stream = -1
        self.splitter = Splitter()
        edge.session = self

    def quic_event_received(self, event: QuicEvent) -> None:
        edge = self.edge
        if isinstance(event, ProtocolNegotiated):
            self.h3 = H3Connection(self.quic, enable_webtransport=edge.webtransport)
        elif isinstance(event, ConnectionTerminated):
            edge.terminated = True
        for got in self.h3.handle_event(event) if self.h3 is not None else []:
            if isinstance(got, HeadersReceived):
                self.request = got.stream_id
                edge.headers = dict(got.headers)
                edge.answer(self, edge.headers)
            elif isinstance(got, WebTransportStreamDataReceived):
                self.stream = got.stream_id
                self.splitter.push(got.data, edge.messages)
                edge.finished |= got.stream_ended
            elif isinstance(got, DatagramReceived):
                edge.datagrams.append(got.data)
        edge.changed.set()

    def accept(self) -> None:
        self.respond(200)

    def respond(self, status: int, *headers: tuple[bytes, bytes], body: bytes | None = None) -> None:
        assert self.h3 is not None
        self.h3.send_headers(self.request, [(b":status", str(status).encode()), *headers])
        if body is not None:
            self.h3.send_data(self.request, body, end_stream=True)
        self.transmit()

    def send(self, *messages: bytes, end: bool = False) -> None:
        self.raw(b"".join(map(with_length, messages)), end)

    def raw(self, data: bytes, end: bool = False) -> None:
        self.quic.send_stream_data(self.stream, data, end_stream=end)
        self.transmit()

    def close_session(self, code: int, reason: bytes) -> None:
        """Sends a capsule that a client ignores, then the one that closes the session, and a FIN."""
        assert self.h3 is not None
        body = code.to_bytes(4, "big") + reason
        close = b"\x68\x43" + (0x4000 | len(body)).to_bytes(2, "big") + body
        self.h3.send_data(self.request, b"\x17\x03abc" + close, end_stream=True)
        self.transmit()


@asynccontextmanager
async def quic_edge(folder: Path, **options: Any) -> AsyncIterator[Edge]:
    """Runs a server whose certificate is for 127.0.0.1. options are those of Edge, and of aioquic."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    make_certificate(cert, key)
    edge = Edge(**{name: options.pop(name) for name in ("answer", "webtransport") if name in options})
    config = QuicConfiguration(
        is_client=False, alpn_protocols=H3_ALPN, max_datagram_frame_size=65536, **options
    )
    config.load_cert_chain(cert, key)

    def create(*args: Any, **more: Any) -> Session:
        return Session(edge, *args, **more)

    server = await serve("127.0.0.1", 0, configuration=config, create_protocol=create)
    transport: Any = server._transport
    edge.url = f"https://127.0.0.1:{transport.get_extra_info('sockname')[1]}"
    edge.ssl = tls.create_default_context(cafile=str(cert))
    try:
        yield edge
    finally:
        server.close()


def make_certificate(cert: Path, key: Path) -> None:
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "test")])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(private, hashes.SHA256())
    )
    cert.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


class Recorder:
    """A sink that keeps what comes."""

    def __init__(self) -> None:
        self.got: list[str | bytes] = []
        self.arrivals = 0
        self.more = asyncio.Event()
        self.over = asyncio.Event()
        self.end: LinkEnd | None = None

    def arrived(self) -> None:
        self.arrivals += 1

    def line(self, line: str) -> None:
        self._add(line)

    def frame(self, frame: bytes) -> None:
        self._add(frame)

    def _add(self, message: str | bytes) -> None:
        assert self.arrivals, "arrived comes first"
        assert not self.over.is_set(), "nothing comes after the end"
        self.got.append(message)
        self.more.set()

    def ended(self, end: LinkEnd) -> None:
        assert self.end is None, "the end is told once"
        self.end = end
        self.over.set()

    async def until(self, count: int) -> None:
        while len(self.got) < count:
            self.more.clear()
            await asyncio.wait_for(self.more.wait(), 10)

    async def ending(self) -> LinkEnd:
        await asyncio.wait_for(self.over.wait(), 10)
        assert self.end is not None
        return self.end
