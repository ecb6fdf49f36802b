"""Links over WebSocket."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import socket
import ssl as tls
from typing import Any, cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.protocol import State
from websockets.uri import parse_uri

from ._address import parse_address
from ._connect import connect_edge
from ._guard import guarded
from ._link import MAX_MESSAGE, WRITE_BUFFER, Dial, Inlet, LinkEnd, Sink, Transport
from ._refusal import MAX_PROBLEM, refusal
from ._timers import future, reject, resolve
from .errors import MillraceError, own_fault

_CLOSING = 1.0  # seconds for the edge's answer to a close

# The library logs the headers of a handshake, and with them the token: not here.
_SILENT = logging.Logger("millrace.websocket")
_SILENT.disabled = True


async def open_websocket(dial: Dial) -> WebSocketLink:
    """Open a link. To cancel it leaves nothing open."""
    address = parse_address(dial.edge, True)
    context = dial.settings.ssl_context() if address.secure else None
    link = WebSocketLink(dial)
    try:
        opened = await connect_edge(address, dial.settings.proxies)
        await asyncio.get_running_loop().create_connection(
            lambda: link, sock=opened, ssl=context, server_hostname=address.host if context else None
        )
        await link.opened
    except BaseException as err:
        link.abort()
        if isinstance(err, (OSError, ValueError)):
            raise unreachable(link._url, err) from err
        raise
    return link


class WebSocketLink(asyncio.Protocol):
    """A session over WebSocket."""

    transport: Transport = "websocket"

    def __init__(self, dial: Dial) -> None:
        # The scheme has an "s" at the end, or not, as that of the edge.
        self._ws = ClientProtocol(
            parse_uri(f"ws{dial.edge[4:]}{dial.settings.paths.websocket}"),
            max_size=MAX_MESSAGE,
            logger=_SILENT,
        )
        self._token = dial.token
        self._url = f"{dial.edge}{dial.settings.paths.websocket}"
        self.opened: asyncio.Future[None] = future()
        self.is_open = False
        self._inlet = Inlet()
        self._socket: asyncio.Transport | None = None
        self._parts = bytearray()  # of a message that is not there in full
        self._text = False  # it is a line
        self._full: asyncio.Future[None] | None = None  # done when there is room to send
        self._closing: asyncio.TimerHandle | None = None
        self._error: MillraceError | None = None  # what the edge has sent and must not

    # Link

    def start(self, sink: Sink) -> None:
        self._inlet.start(sink)

    def send(self, message: str | bytes) -> None:
        if self._ws.state is not State.OPEN:
            return
        if isinstance(message, str):
            self._ws.send_text(message.encode())
        else:
            self._ws.send_binary(message)
        self._flush()

    def sent(self) -> asyncio.Future[None] | None:
        return self._full

    def probe(self) -> None:
        pass  # TCP has resets of its own

    def close(self) -> None:
        if self._ws.state is State.OPEN:
            self._ws.send_close(1000)
            self._flush()
        if self._closing is None:
            self._closing = asyncio.get_running_loop().call_later(_CLOSING, self.abort)

    def _break(self, error: MillraceError) -> None:
        """End it, since the edge has broken the protocol."""
        if self._error is None:
            self._error = error
        self._leave()

    def fault(self, err: Exception) -> None:
        """End it at once, since this client has a fault."""
        if not self.opened.done():
            # Who opens it aborts it: uvloop takes a socket only after connection_made.
            reject(self.opened, own_fault(err))
            return
        if self._error is None:
            self._error = own_fault(err)
        self.abort()

    def _leave(self) -> None:
        """End it when what waits is sent, or after a second."""
        self._flush()
        self.close()
        if self._socket is not None:
            self._socket.close()

    def abort(self) -> None:
        """End it at once."""
        if self._socket is not None:
            self._socket.abort()

    def _flush(self) -> None:
        out = self._socket
        if out is None:
            return
        for data in self._ws.data_to_send():
            if data:
                out.write(data)
            elif out.can_write_eof():
                with contextlib.suppress(OSError):
                    out.write_eof()
            else:  # TLS has no half of a connection to end
                out.close()

    # asyncio.Protocol

    @guarded
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Other event loops have transports that are no asyncio.Transport.
        self._socket = cast(asyncio.Transport, transport)
        self._socket.set_write_buffer_limits(high=WRITE_BUFFER)
        request = self._ws.connect()
        request.headers["Authorization"] = f"Bearer {self._token}"
        self._ws.send_request(request)
        self._flush()

    def pause_writing(self) -> None:
        self._full = future()

    def resume_writing(self) -> None:
        full, self._full = self._full, None
        if full is not None:
            resolve(full, None)

    @guarded
    def data_received(self, data: bytes) -> None:
        if self.is_open:
            self._inlet.arrived()
        ws = self._ws
        ws.receive_data(data)
        for event in ws.events_received():
            if isinstance(event, Frame):
                self._frame(event)
            elif ws.handshake_exc is None:
                self.is_open = True
                resolve(self.opened, None)
        if not self.is_open and ws.handshake_exc is not None:
            reject(self.opened, self._refused(ws.handshake_exc, None))
            self.abort()
            return
        if ws.writes:
            self._flush()
        if ws.parser_exc is not None:
            self._break(
                MillraceError("protocol", "the edge broke the protocol of WebSocket", cause=ws.parser_exc)
            )

    def _frame(self, frame: Frame) -> None:
        opcode = frame.opcode
        if opcode is Opcode.BINARY and frame.fin:
            self._inlet.frame(bytes(frame.data))
        elif opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            if opcode is not Opcode.CONT:
                self._text = opcode is Opcode.TEXT
            self._parts += frame.data
            if frame.fin:
                message, self._parts = bytes(self._parts), bytearray()
                self._message(message)
        elif opcode is Opcode.CLOSE:
            self._leave()

    def _message(self, message: bytes) -> None:
        if not self._text:
            self._inlet.frame(message)
            return
        try:
            line = message.decode()
        except UnicodeDecodeError as err:
            self._ws.fail(1007)
            self._break(MillraceError("protocol", "a line is not UTF-8", cause=err))
            return
        self._inlet.line(line)

    @guarded
    def eof_received(self) -> None:
        self._ws.receive_eof()
        self._flush()

    @guarded
    def connection_lost(self, exc: Exception | None) -> None:
        if self._closing is not None:
            self._closing.cancel()
        self.resume_writing()
        if self.is_open:
            self._inlet.ended(LinkEnd(_close_code(self._ws), self._error))
        else:
            reject(self.opened, self._error or self._refused(self._ws.handshake_exc, exc))

    def _refused(self, why: Exception | None, lost: Exception | None) -> MillraceError:
        """Return why a handshake failed."""
        if isinstance(why, InvalidStatus):
            response: Any = why.response
            body = bytes(response.body or b"")[:MAX_PROBLEM]
            return refusal(response.status_code, response.headers.get("Retry-After"), body, self._url)
        if why is None:
            return unreachable(self._url, lost)
        text = f"no WebSocket at {self._url}: the server gives no answer in HTTP"
        if self._url.startswith("http:"):
            text += "; does it speak TLS, so that the address begins with https://?"
        return MillraceError("unreachable", text, cause=why)


def _close_code(ws: ClientProtocol) -> int | None:
    return None if ws.close_rcvd is None else ws.close_rcvd.code


def unreachable(url: str, why: BaseException | None) -> MillraceError:
    """Return the error of a WebSocket that cannot be opened, with what may help."""
    text, said = f"no WebSocket at {url}", str(why)
    if isinstance(why, tls.SSLCertVerificationError):
        text += ": its certificate is not trusted; the option ssl takes a context with its authority"
    elif isinstance(why, tls.SSLError) and re.search(
        "WRONG_VERSION|RECORD_LAYER|UNKNOWN_PROTOCOL|HTTP_REQUEST", said
    ):
        text += ": the server does not speak TLS; pass http:// if it is on this machine"
    elif isinstance(why, socket.gaierror):
        text += ": no name server knows the host; is it spelled right?"
    elif isinstance(why, ConnectionRefusedError):
        text += ": nothing listens at this port; is the edge running?"
    return MillraceError("unreachable", text, cause=why)
