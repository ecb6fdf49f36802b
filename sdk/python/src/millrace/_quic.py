"""A QUIC connection by aioquic, for one session of WebTransport."""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import ssl as tls
from typing import Any, Protocol, cast

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.h3.connection import H3_ALPN
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, QuicEvent

from ._guard import guarded
from ._race import first_of
from ._resolve import Target, resolve_host
from ._timers import future, reject, resolve
from .errors import MillraceError, own_fault

__all__ = ["Quic", "QuicUser", "configuration", "open_quic"]

# The library logs each failed attempt as a warning; the client reports it itself.
_SILENT = logging.Logger("millrace.quic")
_SILENT.disabled = True

_IDLE = 30.0  # seconds, as the edge's
_NO_ERROR = 0x100  # of HTTP/3
_RESET_TOKEN = 16  # bytes
_MIN_RESET = 21  # bytes of a stateless reset (RFC 9000, section 10.3)


def configuration(host: str, context: tls.SSLContext | None) -> QuicConfiguration:
    """Return aioquic's configuration for an edge, which trusts whom context trusts.

    Of a context it takes the authorities that were loaded from files or data, and whether the edge's
    certificate is checked at all; host names are always checked with it. If it shows no authority,
    as where they are in a folder, the error is `unreachable`.
    """
    config = QuicConfiguration(
        alpn_protocols=H3_ALPN,
        is_client=True,
        idle_timeout=_IDLE,
        max_datagram_frame_size=65536,  # WebTransport asks for datagrams
        server_name=host,
    )
    if context is None:
        paths = tls.get_default_verify_paths()
        cafile = paths.cafile if paths.cafile and os.path.isfile(paths.cafile) else None
        config.load_verify_locations(cafile, paths.capath)  # neither: those of the package certifi
    elif context.verify_mode is tls.CERT_NONE:
        config.verify_mode = tls.CERT_NONE
    else:
        authorities = context.get_ca_certs(binary_form=True)
        if not authorities:
            raise MillraceError("unreachable", "no WebTransport: the SSLContext shows no authorities")
        config.load_verify_locations(cadata="".join(map(tls.DER_cert_to_PEM_cert, authorities)).encode())
    return config


class QuicUser(Protocol):
    """Who uses a connection. It is called in the event loop."""

    def event(self, event: QuicEvent) -> None: ...

    def fault(self, err: Exception) -> None:
        """This client has a fault, for which the connection ends."""

    def progress(self) -> None:
        """Something was sent or acknowledged, perhaps."""

    def ended(self) -> None:
        """The connection is over; called once, and nothing after it."""


class Quic(QuicConnectionProtocol):
    """A connection, on a socket of its own, which is connected: an ICMP error ends an attempt at once."""

    def __init__(self, config: QuicConfiguration) -> None:
        super().__init__(QuicConnection(configuration=config))
        self.quic = self._quic
        self.quic._logger = logging.LoggerAdapter(_SILENT, {})  # type: ignore[assignment]
        self.established: asyncio.Future[None] = future()
        """The handshake is complete; the error is `unreachable`."""
        self._user: QuicUser | None = None
        self._early: list[QuicEvent] = []  # for the user who is to come
        self._datagrams: asyncio.DatagramTransport | None = None
        self._peer: Any = None
        self._over = False
        self._faulty = False
        self._lost = False  # and the socket is closed

    def begin(self) -> None:
        """Start the handshake."""
        self.connect(self._peer)

    def use(self, user: QuicUser) -> None:
        """Give what comes, and what has come, to user."""
        self._user = user
        early, self._early = self._early, []
        for event in early:
            user.event(event)
        if self._lost:
            user.ended()

    def abort(self, cause: BaseException | None = None) -> None:
        """End the connection at once, and tell the edge."""
        if self._over or self._datagrams is None:
            return
        self.close(_NO_ERROR)
        self._over = True
        self._datagrams.close()
        reject(self.established, MillraceError("unreachable", "no WebTransport to the edge", cause=cause))

    def fault(self, err: Exception) -> None:
        """End the connection at once, since this client has a fault."""
        if self._faulty:  # it cannot tell the edge either
            return
        self._faulty = True
        reject(self.established, own_fault(err))
        if self._user is not None:
            self._user.fault(err)
        self.abort(err)

    # asyncio.DatagramProtocol

    @guarded
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        datagrams = cast(asyncio.DatagramTransport, transport)
        self._datagrams = datagrams
        self._peer = transport.get_extra_info("peername")
        super().connection_made(cast(asyncio.DatagramTransport, _Connected(datagrams)))

    @guarded
    def datagram_received(self, data: bytes | str, addr: Any) -> None:
        if self._over:
            return
        if _is_reset(cast(bytes, data), self.quic):
            self.abort(ConnectionResetError("the edge does not know the connection"))
            return
        super().datagram_received(data, self._peer)
        if self._user is not None and not self._over:
            self._user.progress()

    def error_received(self, exc: Exception) -> None:
        if not self.established.done():  # later, it may be a passing trouble of the path
            self.abort(exc)

    def connection_lost(self, exc: Exception | None) -> None:
        self._over = self._lost = True
        if self._user is not None:
            self._user.ended()

    # QuicConnectionProtocol

    @guarded
    def transmit(self) -> None:
        if not self._over:  # else a timer has been left
            super().transmit()

    @guarded
    def _handle_timer(self) -> None:
        super()._handle_timer()

    def quic_event_received(self, event: QuicEvent) -> None:
        if self._over:
            return
        if isinstance(event, HandshakeCompleted):
            resolve(self.established, None)
        elif isinstance(event, ConnectionTerminated):
            self.abort(ConnectionError(f"QUIC error {event.error_code:#x}: {event.reason_phrase}"))
            return
        if self._user is not None:
            self._user.event(event)
        else:
            self._early.append(event)


class _Connected:
    """Sends on a connected socket, whatever the address."""

    def __init__(self, transport: asyncio.DatagramTransport) -> None:
        self._transport = transport

    def sendto(self, data: bytes, _addr: object = None) -> None:
        self._transport.sendto(data)


def _is_reset(data: bytes, quic: QuicConnection) -> bool:
    """Say whether a packet is a stateless reset, which aioquic does not look for."""
    if len(data) < _MIN_RESET:
        return False
    token = quic._peer_cid.stateless_reset_token
    return len(token) == _RESET_TOKEN and hmac.compare_digest(data[-_RESET_TOKEN:], token)


async def open_quic(host: str, port: int, config: QuicConfiguration) -> Quic:
    """Connect to the first address of a host that answers. The error is `unreachable`.

    To cancel it leaves nothing open.
    """

    async def attempt(target: Target) -> Quic:
        _, quic = await asyncio.get_running_loop().create_datagram_endpoint(
            lambda: Quic(config), remote_addr=target.address[:2]
        )
        try:
            quic.begin()
            await quic.established
        except BaseException:
            quic.abort()
            raise
        return quic

    try:
        targets = await resolve_host(host, port)
    except (OSError, ValueError) as err:
        raise MillraceError("unreachable", "the edge's host is not found", cause=err) from err
    try:
        return await first_of(targets, attempt, Quic.abort)
    except OSError as err:  # there is no way to such an address
        raise MillraceError("unreachable", "no WebTransport to the edge", cause=err) from err
