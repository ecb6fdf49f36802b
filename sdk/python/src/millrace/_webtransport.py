"""Links over WebTransport, by the package aioquic."""

from __future__ import annotations

import asyncio

from aioquic.h3.connection import H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived
from aioquic.quic.events import (
    QuicEvent,
    StopSendingReceived,
    StreamDataReceived,
    StreamReset,
)

from ._address import parse_address
from ._capsules import CapsuleReader
from ._guard import guarded
from ._last_word import last_word
from ._link import MAX_MESSAGE, WRITE_BUFFER, Dial, Inlet, LinkEnd, Sink, Transport
from ._quic import Quic, configuration, open_quic
from ._refusal import MAX_PROBLEM, refusal
from ._splitter import Splitter, with_length
from ._timers import future, reject, resolve
from ._wire import WireError, decode_text, is_frame
from .errors import MillraceError, own_fault

_CLOSING = (
    1.0  # seconds for what waits to be sent before a close, and for the session's end behind its stream's
)
# A packet with so many bytes is longer than a stateless reset (RFC 9000, section 10.3): no
# shorter one is answered by it.
_RESET_SIZE = 43
_ENABLE_CONNECT = 0x08  # SETTINGS_ENABLE_CONNECT_PROTOCOL
# What may be out of order: an edge that sends more, for a message that has a bound, is broken.
_MAX_HELD = 2 * MAX_MESSAGE


async def open_webtransport(dial: Dial) -> WebTransportLink:
    """Open a link. To cancel it leaves nothing open."""
    address = parse_address(dial.edge, True)
    config = configuration(address.host, dial.settings.ssl)
    quic = await open_quic(address.host, address.port, config)
    link = WebTransportLink(quic, dial)
    try:
        await link.opened
    except BaseException:
        quic.abort()
        raise
    return link


class WebTransportLink:
    """A session over WebTransport, which has its QUIC connection for itself."""

    transport: Transport = "webtransport"

    def __init__(self, quic: Quic, dial: Dial) -> None:
        self.opened: asyncio.Future[None] = future()
        self._connection = quic
        self._quic = quic.quic
        self._dial = dial
        self._inlet = Inlet()
        self._h3 = H3Connection(self._quic, enable_webtransport=True)
        self._session = -1  # the stream of the request; -1: it has not been sent
        self._stream = -1  # that of the messages
        self._status = 0
        self._retry_after: str | None = None
        self._problem = bytearray()
        self._capsules = CapsuleReader()
        self._splitter = Splitter(MAX_MESSAGE)
        self._batch: list[bytes] = []  # messages of this turn of the loop
        self._batched = 0  # bytes of these
        self._full: asyncio.Future[None] | None = None  # done when there is room to send
        self._finished = False  # the FIN is sent, or no more can be
        self._leaving = False  # close was called
        self._end = LinkEnd()
        self._closing: asyncio.TimerHandle | None = None
        quic.use(self)
        quic.transmit()  # the settings

    # Link

    def start(self, sink: Sink) -> None:
        self._inlet.start(sink)

    def send(self, message: str | bytes) -> None:
        if self._finished:
            return
        data = with_length(message.encode() if isinstance(message, str) else message)
        if not self._batch:
            asyncio.get_running_loop().call_soon(self._flush_batch)
        self._batch.append(data)
        self._batched += len(data)
        if self._full is None and self._waiting() > WRITE_BUFFER:
            self._full = future()

    def sent(self) -> asyncio.Future[None] | None:
        return self._full

    def probe(self) -> None:
        if not self._finished:
            self._h3.send_datagram(self._session, bytes(_RESET_SIZE))  # edges ignore datagrams
            self._connection.transmit()

    def close(self) -> None:
        self._leaving = True
        self._finish()

    # The way out

    def _waiting(self) -> int:
        """Return how many bytes have not been acknowledged."""
        sender = self._quic._streams[self._stream].sender
        return self._batched + sender._buffer_stop - sender._buffer_start

    @guarded
    def _flush_batch(self) -> None:
        self._flush()

    def _flush(self, fin: bool = False) -> None:
        if self._finished:
            return
        data = b"".join(self._batch)
        self._batch.clear()
        self._batched = 0
        self._finished = fin
        self._quic.send_stream_data(self._stream, data, end_stream=fin)
        self._connection.transmit()
        self.progress()

    def _finish(self) -> None:
        """End the stream, and with it the session: the edge closes it, soon."""
        if self._stream >= 0:
            self._flush(fin=True)
        if self._closing is None:
            self._closing = asyncio.get_running_loop().call_later(_CLOSING, self._connection.abort)

    # QuicUser

    def progress(self) -> None:
        stream = self._quic._streams.get(self._stream)
        if stream is not None and len(stream.receiver._buffer) > _MAX_HELD:
            self._broken("the edge sent too much out of order")
        if self._full is not None and (self._finished or self._waiting() <= WRITE_BUFFER):
            self._has_room()

    def _has_room(self) -> None:
        full, self._full = self._full, None
        if full is not None:
            resolve(full, None)

    def event(self, event: QuicEvent) -> None:
        stream = getattr(event, "stream_id", -1)
        if stream == self._stream and stream >= 0:
            self._stream_event(event)
            return
        if stream == self._session and stream >= 0 and isinstance(event, StreamReset):
            self._session_over()
            return
        for http_event in self._h3.handle_event(event):
            self._http_event(http_event)
        if self._session < 0 and self._h3.received_settings is not None:
            self._request(self._h3.received_settings)

    def fault(self, err: Exception) -> None:
        error = own_fault(err)
        reject(self.opened, error)
        if self._end.error is None:
            self._end = LinkEnd(error=error)
        self._connection.abort(err)

    def ended(self) -> None:
        self._finished = True
        if self._closing is not None:
            self._closing.cancel()
        self._has_room()
        if self._stream < 0:
            reject(self.opened, MillraceError("unreachable", "no WebTransport to the edge"))
        self._inlet.ended(self._end)

    # The way in

    def _request(self, settings: dict[int, int]) -> None:
        if settings.get(_ENABLE_CONNECT) != 1:
            self._refuse(MillraceError("unreachable", "the server has no WebTransport"))
            return
        self._session = self._quic.get_next_available_stream_id()
        path = self._dial.settings.paths.webtransport
        self._h3.send_headers(
            self._session,
            [
                (b":method", b"CONNECT"),
                (b":protocol", b"webtransport"),
                (b":scheme", b"https"),
                (b":authority", self._dial.edge.removeprefix("https://").encode()),
                (b":path", path.encode()),
                (b"authorization", b"Bearer " + self._dial.token.encode()),
                (b"wt-available-protocols", b'"llps.v1"'),
            ],
        )
        self._connection.transmit()

    def _http_event(self, event: H3Event) -> None:
        if isinstance(event, HeadersReceived) and event.stream_id == self._session and self._status < 200:
            headers = dict(event.headers)
            status = headers.get(b":status", b"")
            self._status = int(status) if status.isdigit() else 500
            self._retry_after = headers.get(b"retry-after", b"").decode("ascii", "replace")
            if self._status == 200:
                self._accepted()
            if event.stream_ended:
                self._session_over()
        elif isinstance(event, DataReceived) and event.stream_id == self._session:
            if self._status == 200:
                self._capsules.push(event.data)
            else:
                self._problem += event.data[: MAX_PROBLEM - len(self._problem)]
            if event.stream_ended or self._capsules.closed is not None:
                self._session_over()

    def _accepted(self) -> None:
        self._stream = self._h3.create_webtransport_stream(self._session)
        self._connection.transmit()  # the edge hears of the stream at once
        resolve(self.opened, None)

    def _session_over(self) -> None:
        """Take the end of the request's stream: a refusal, or the end of the session."""
        if self._stream < 0:
            if self._status < 200:
                self._refuse(
                    MillraceError("unreachable", "the server does not answer the request for a session")
                )
            else:
                url = f"{self._dial.edge}{self._dial.settings.paths.webtransport}"
                self._refuse(refusal(self._status, self._retry_after, bytes(self._problem), url))
            return
        if self._capsules.closed is not None and self._end.error is None:
            code, reason = self._capsules.closed
            # The reason repeats the edge's last line, which the session's end may overtake.
            self._end = LinkEnd(code, last_word(reason, code))
        self._connection.abort()

    def _refuse(self, error: MillraceError) -> None:
        reject(self.opened, error)
        self._connection.abort()

    def _stream_event(self, event: QuicEvent) -> None:
        if isinstance(event, StreamDataReceived):
            self._received(event.data)
            if event.end_stream and self._leaving:
                self._connection.abort()  # the edge has all, and ends the session
            elif event.end_stream:
                self._finish()  # all is read: the edge need not wait before it ends the session
        elif isinstance(event, (StreamReset, StopSendingReceived)):
            self._finished = True
            self._finish()

    def _received(self, data: bytes) -> None:
        if self._end.error is not None:
            return
        if data:
            self._inlet.arrived()
        messages: list[bytes] = []
        try:
            try:
                self._splitter.push(data, messages)
            finally:
                for message in messages:
                    if is_frame(message):
                        self._inlet.frame(message)
                    else:
                        self._inlet.line(decode_text(message))
        except WireError as err:
            self._broken(str(err))

    def _broken(self, text: str) -> None:
        self._end = LinkEnd(error=MillraceError("protocol", text))
        self._connection.abort()
