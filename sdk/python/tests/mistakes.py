"""The mistakes of sdk/mistakes.json, made: each function is one, by its name with dashes."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl as tls
import tempfile
import unittest.mock
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from typing import Any

import millrace
from millrace import After, Client, Grant, LastN, Paths, TokenAdmin, token_from

from .edge import Edge, edges
from .quic_edge import make_certificate
from .web import closed_port, web

Mistake = Callable[[], Awaitable[object]]
MADE: dict[str, Mistake] = {}
IMPOSSIBLE: dict[str, str] = {
    "admin-browser": "Python does not run in pages of browsers",
}

TOKEN = "AT_1"
GRANT = Grant(tenants=["room"], publish=["chat.*"], subscribe=["chat.*"])
connect: Any = millrace.connect


def made(*ids: str) -> Callable[[Mistake], Mistake]:
    def note(mistake: Mistake) -> Mistake:
        for id_ in ids or (mistake.__name__.replace("_", "-"),):
            MADE[id_] = mistake
        return mistake

    return note


def option(id_: str, address: Any = "http://localhost:8080", **options: Any) -> None:
    """A mistake in what connect gets, which it finds before it does anything."""

    async def mistake() -> None:
        given = {"token": TOKEN, **options}
        await connect(address, **{name: value for name, value in given.items() if value is not ...})

    MADE[id_] = mistake


@contextlib.asynccontextmanager
async def client(*answers: tuple[str, str], features: str = "FEATURES:link,work_queue,own,reasons,history,presence",
                 **options: Any) -> AsyncIterator[tuple[Client, Edge]]:  # fmt: skip
    """A client of an edge that gives some answers to lines that begin so, and else what is right."""
    async with edges(1, features) as (edge,):
        edge.answers = lambda line: next((said for begin, said in answers if line.startswith(begin)), True)
        async with connect(edge.url, token=TOKEN, fail_fast=True, **options) as it:
            yield it, edge


def refused(id_: str, status: int, code: str, detail: str) -> None:
    """An edge that refuses the token."""

    async def mistake() -> None:
        async with edges(1) as (edge,):
            edge.refusal, edge.detail = (status, code), detail
            await connect(edge.url, token=TOKEN)

    MADE[id_] = mistake


def call(
    id_: str, use: Callable[[Any], Awaitable[object]], *answers: tuple[str, str], **options: Any
) -> None:
    """A mistake in what a client is asked for; answers are those of the edge."""

    async def mistake() -> None:
        async with client(*answers, **options) as (it, _):
            await use(it)

    MADE[id_] = mistake


def answered(id_: str, use: Callable[[Any], Awaitable[object]], code: str) -> None:
    """A confirmed publish that the edge answers with a code."""

    async def mistake() -> None:
        async with client() as (it, edge):
            publishing = asyncio.ensure_future(use(it))
            peer = await edge.peer(0)
            await asyncio.wait([publishing, asyncio.ensure_future(peer.frames.until(lambda _: True))],
                               return_when=asyncio.FIRST_COMPLETED)  # fmt: skip
            peer.send(f"ERR:{code}:PUB:1")
            await publishing

    MADE[id_] = mistake


def told(id_: str, *lines: str, **options: Any) -> None:
    """Something that the edge says, and to which nobody listens."""

    async def mistake() -> None:
        async with client(**options) as (it, edge):
            for line in lines:
                (await edge.peer(0)).send(line)
            await it.flush()

    MADE[id_] = mistake


def provider(id_: str, provide: Any, **options: Any) -> None:
    option(id_, token=..., token_provider=provide, fail_fast=True, **options)


# Addresses
option("address-ws-scheme", "ws://localhost:8080")
option("address-wss-scheme", "wss://edge.example.com")
option("address-ws-path", "http://localhost:8080/ws")
option("address-wt-path", "https://localhost:8443/wt")
option("address-ws-url", "ws://localhost:8080/ws")
option("address-no-scheme", "localhost:8080")
option("address-empty", "")
option("address-none", [])
option("address-not-a-string", None)
option("address-other-scheme", "mqtt://localhost:8080")
option("address-user-password", "https://ann:hunter2@edge.example.com")
option("address-token-in-query", "https://edge.example.com?token=AT_0123_4567")
option("address-bad-port", "http://localhost:99999")
option("address-space", "http://local host:8080")
option("address-plaintext-remote", "http://edge.example.com")


@made()
async def address_unknown_name() -> None:
    unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    with unittest.mock.patch("socket.getaddrinfo", side_effect=unknown):
        await connect("https://edge.invalid", token=TOKEN, transports=["websocket"], fail_fast=True)


@made()
async def address_nobody_listens() -> None:
    await connect(await closed_port(), token=TOKEN, fail_fast=True)


@made()
async def address_not_an_edge_404() -> None:
    async with web((404, "no")) as served:
        await connect(served.url, token=TOKEN)


@made()
async def address_not_an_edge_page() -> None:
    async with web((200, "<html>hello</html>")) as served:
        await connect(served.url, token=TOKEN)


@made()
async def address_bad_gateway() -> None:
    async with web((502, "no")) as served:
        await connect(served.url, token=TOKEN, fail_fast=True)


@contextlib.asynccontextmanager
async def server(said: bytes, ssl: tls.SSLContext | None = None) -> AsyncIterator[str]:
    """A server that says something to the first bytes; it gives its host and port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            await reader.read(100)
            writer.write(said)
            await writer.drain()
        writer.close()

    served = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=ssl)
    async with served:
        yield f"127.0.0.1:{served.sockets[0].getsockname()[1]}"


@made()
async def address_https_to_http() -> None:
    async with server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as host:
        await connect(f"https://{host}", token=TOKEN, transports=["websocket"], fail_fast=True)


@made()
async def address_http_to_https() -> None:
    # What a server of Go says to HTTP at its port of TLS.
    said = b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"
    async with server(said) as host:
        await connect(f"http://{host}", token=TOKEN, fail_fast=True)


@made()
async def address_untrusted() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cert, key = Path(folder) / "cert.pem", Path(folder) / "key.pem"
        make_certificate(cert, key)
        context = tls.SSLContext(tls.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        # That a client leaves in the middle of its handshake is told there.
        asyncio.get_running_loop().set_exception_handler(lambda *_: None)
        async with server(b"", context) as host:
            await connect(f"https://{host}", token=TOKEN, transports=["websocket"], fail_fast=True)


# Tokens
option("token-missing", token=...)
option("token-empty", token="")
option("token-garbage", token="secret123")
option("token-master", token="MT_0123_4567")
option("token-bearer", token="Bearer AT_0123_4567")
option("token-whitespace", token="AT_0123_4567\n")
option("token-json", token='{"token":"AT_0123_4567"}')
option("token-placeholder", token="${MILLRACE_TOKEN}")
option("token-and-provider", token_provider=lambda: TOKEN)
refused("token-expired", 401, "unauthorized", "the access token has expired; connect with a new one")
refused("token-revoked", 401, "unauthorized", "the access token was revoked; connect with a new one")
refused("token-unknown", 401, "unauthorized", "a valid access token is required")
refused("token-wrong-ip", 403, "ip_not_allowed", "the token does not allow this address")
refused("token-wrong-origin", 403, "origin_not_allowed", "the token does not allow this origin")
refused("token-wrong-region", 403, "region_not_allowed", "the token does not allow the region of this edge")
refused("token-wrong-protocol", 403, "protocol_not_allowed", "the token does not allow this protocol")
refused("token-without-tls", 403, "tls_required", "tokens are accepted over TLS only")


def raises() -> str:
    raise RuntimeError("the database is down")


async def never() -> str:
    await asyncio.Event().wait()
    return ""


class Response:
    """As that of httpx or requests."""

    def json(self) -> None:
        """What should have been returned."""


provider("provider-fails", raises)
provider("provider-nothing", lambda: None)
provider("provider-response", Response)
provider("provider-unknown-member", lambda: {"token": TOKEN, "expires": 60})
provider("provider-master", lambda: "MT_0123_4567")
provider("provider-lifetime", lambda: {"token": TOKEN, "expires_in": "soon"})
provider("provider-silent", never, connect_timeout=0.01)
provider("provider-not-a-function", "AT_0123_4567")


@made()
async def provider_error_text() -> None:
    async with web((403, "ann may not enter this room")) as served:
        await connect("http://localhost:8080", token_provider=token_from(f"{served.url}/token"))


@made()
async def provider_page() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>"
    async with web(page) as served:
        await connect("http://localhost:8080", token_provider=token_from(served.url), fail_fast=True)


# Options and events
option("option-unknown", token=..., tokn=TOKEN)
option("option-transport-unknown", transports=["quic"])
option("option-transports-empty", transports=[])
option("option-duration-text", connect_timeout="10s")
option("option-duration-too-large", keep_alive=2**31)
option("option-queue-negative", queue=-1)
option("option-queue-policy", queue_policy="drop")
option("option-proxy", proxy="not a URL")
option("event-unknown", on={"conected": print})
option("event-handler", on={"connected": "print"})


@made()
async def option_paths() -> None:
    paths: Any = Paths
    paths(websockets="/ws")


# Names
call("tenant-missing", lambda c: c.publish("news.today", "hello"))
for id_, tenant in (
    ("slash", "paint/room"),
    ("colon", "paint:room"),
    ("wildcard", "paint.*"),
    ("too-long", "a" * 129),
):
    call(f"tenant-{id_}", partial(lambda t, c: c.publish(t, "c", "x"), tenant))
for id_, name in (
    ("wildcard", "news.*"), ("empty", ""), ("slash", "news/today"), ("space", "news today"), ("dots", "news..today"),
    ("too-long", "a" * 257), ("unicode", "zürich"),
):  # fmt: skip
    call(f"channel-{id_}", partial(lambda n, c: c.publish("t", n, "x"), name))
for id_, name in (
    ("plus", "news.+.today"),
    ("middle", "news.#.today"),
    ("star", "*day"),
    ("slash", "news/#"),
):
    call(f"pattern-{id_}", partial(lambda n, c: c.subscribe("t", n), name))

# Publishing
told("publish-not-allowed", "ERR:permission_denied:PUB:demo.room:secret:allowed=news.#")
told("publish-not-awaited", "ERR:permission_denied:PUB:demo.room:secret:allowed=")
told("publish-other-tenant", "ERR:permission_denied:PUB:demo.hall:news.a:tenants=demo.room")
told("publish-prefix-forgotten", "ERR:permission_denied:PUB:room:news.a:tenants=demo.room")
call("publish-payload-type", lambda c: c.publish("t", "c", object()))
cyclic: dict[str, Any] = {}
cyclic["self"] = cyclic
call("publish-payload-cyclic", lambda c: c.publish("t", "c", cyclic))
answered("publish-too-large", lambda c: c.publish("t", "c", "x", confirm=True), "payload_too_large")
call("publish-delivery", lambda c: c.publish("t", "c", "x", delivery="one"))
call("publish-key-unconfirmed", lambda c: c.publish("t", "c", "x", key="k"))
call("publish-key-long", lambda c: c.publish("t", "c", "x", confirm=True, key="k" * 65))
answered("publish-key-not-kept", lambda c: c.publish("t", "c", "x", confirm=True, key="k"), "no_history")
for id_, code in (("nobody", "no_subscriber"), ("busy", "subscribers_busy")):
    answered(
        f"publish-one-{id_}", lambda c: c.publish("t", "c", "x", confirm=True, delivery="one-random"), code
    )


@made()
async def publish_closed() -> None:
    async with client() as (it, _):
        await it.close()
        await it.publish("t", "c", "x")


@made()
async def publish_disconnected() -> None:
    async with client(min_back_off=60) as (it, edge):
        gone = asyncio.Event()
        it.on("disconnected", lambda _: gone.set())
        await edge.stop()
        await gone.wait()
        await it.publish("t", "c", "x")


# Subscribing
DENIED = "ERR:permission_denied:{}:allowed=news.#"
call("subscribe-not-allowed", lambda c: c.subscribe("t", "secret"), ("SUB", DENIED.format("SUB:t:secret")))
call("subscribe-wider", lambda c: c.subscribe("t", "#"), ("SUB", DENIED.format("SUB:t:#")))


@made()
async def subscribe_history_right() -> None:
    at = "OK:RSUB:t:c:0000000000000abc.1.1:complete"
    async with client(("RSUB:t:c:last", "ERR:permission_denied:RSUB:t:c:allowed="), ("RSUB", at)) as (it, _):
        await it.subscribe("t", "c", history="last")
        await it.flush()


call(
    "subscribe-history-not-kept",
    lambda c: c.subscribe("t", "c", history="last"),
    ("RSUB", "ERR:no_history:RSUB:t:c"),
)
call("subscribe-history-form", lambda c: c.subscribe("t", "c", history={"lst": 50}))
call("subscribe-history-count", lambda c: c.subscribe("t", "c", history=LastN(0)))
call("subscribe-history-wildcard", lambda c: c.subscribe("t", "c.*", history=LastN(50)))
call("subscribe-history-position", lambda c: c.subscribe("t", "c", history=After("17")))


@made()
async def subscribe_history_expired() -> None:
    async with client(("RSUB", "GAP:t:c:0000000000000abc.5.1:expired")) as (it, edge):
        subscribing = asyncio.ensure_future(it.subscribe("t", "c", history=After("0000000000000abc.1.1")))
        peer = await edge.peer(0)
        await peer.lines.until(lambda line: line.startswith("RSUB"))
        peer.send("OK:RSUB:t:c:0000000000000abc.5.1:gap")
        await subscribing
        await it.flush()


@made()
async def subscribe_twice() -> None:
    async with client(("RSUB", "OK:RSUB:t:c:0000000000000abc.1.1:complete")) as (it, _):
        await it.subscribe("t", "c", history="now")
        await it.subscribe("t", "c", history="last")


call("subscribe-option", lambda c: c.subscribe("t", "c", onmessage=print))
call("subscribe-callback", lambda c: c.subscribe("t", "c", on_message="print"))
call("subscribe-too-many", lambda c: c.subscribe("t", "c"), ("SUB", "ERR:too_many_subscriptions:SUB:t:c"))


@made()
async def subscribe_slow() -> None:
    async with client() as (it, edge):
        await it.subscribe("t", "c", queue=1)
        for text in "12":
            (await edge.peer(0)).deliver(text)
        await it.flush()


@made()
async def sender_off() -> None:
    async with client() as (it, edge):
        sub = await it.subscribe("t", "c")
        (await edge.peer(0)).deliver("1")
        assert (await sub.__anext__()).sender == ""


@made()
async def message_json() -> None:
    async with client() as (it, edge):
        sub = await it.subscribe("t", "c")
        (await edge.peer(0)).deliver("hello")
        (await sub.__anext__()).json()


IMPOSSIBLE["receive-twice"] = "two loops may read one subscription, and each gets some of the messages"

# Presence
call("join-no-subject", lambda c: c.join("t", "c"), ("JOIN", "ERR:no_subject:JOIN:t:c"))
call("join-no-presence", lambda c: c.join("t", "c"), ("JOIN", "ERR:no_presence:JOIN:t:c"))
call("join-wildcard", lambda c: c.join("t", "c.*"))
call("presence-not-allowed", lambda c: c.presence("t", "c"), ("WHO", DENIED.format("WHO:t:c")))
call("presence-none", lambda c: c.presence("t", "c"), ("WHO", "ERR:no_presence:WHO:t:c"))
told("limited", "ERR:egress_limited:3")

# Tokens from a backend
MASTER = "MT_0123_4567"
ISSUED = {"token": "AT_1_2", "token_id": "1", "expires_at": "2026-01-02T03:04:05Z", "expires_in": 86400}


def issue(id_: str, *answers: tuple[int, Any], **options: Any) -> None:
    async def mistake() -> None:
        async with web(*answers) as served:
            given = {"created_by": "me", "expires_in": 60, "grants": [GRANT], **options}
            admin: Any = TokenAdmin(served.url, MASTER)
            await admin.issue(**{name: value for name, value in given.items() if value is not None})

    MADE[id_] = mistake


@made()
async def admin_access_token() -> None:
    TokenAdmin("http://localhost:8080", "AT_0123_4567")


def invalid(detail: str) -> tuple[int, Any]:
    return 400, {"code": "invalid_body", "detail": detail}


issue("admin-bad-master", (401, {"code": "bad_master_token", "detail": "no"}))
issue("admin-lifetime-none", expires_in=None)
issue("admin-lifetime-negative", expires_in=-1)
issue("admin-lifetime-long", (200, ISSUED), expires_in=timedelta(hours=48))
issue(
    "admin-past",
    (
        400,
        {
            "code": "expires_at_out_of_range",
            "detail": "right.expires_at is in the past: it is noon at this edge",
        },
    ),
    expires_in=None,
    expires_at=datetime(2020, 1, 1, tzinfo=timezone.utc),
)
issue("admin-both", expires_at=datetime(2030, 1, 1, tzinfo=timezone.utc))
issue("admin-no-grants", grants=[])
issue(
    "admin-pattern",
    invalid('right.tenant_grants[0].allow_channels_sub[0]: "a..b" has an empty token'),
    grants=[Grant(tenants=["room"], subscribe=["a..b"])],
)
issue(
    "admin-tenant",
    invalid('right.tenant_grants[0].tenant_ids[0]: "a/b" is no tenant'),
    grants=[Grant(tenants=["a/b"])],
)
issue("admin-history-outside", grants=[Grant(tenants=["room"], subscribe=["chat.*"], history=["audit.#"])])
issue(
    "admin-presence-outside",
    (200, ISSUED),
    grants=[Grant(tenants=["room"], subscribe=["chat.*"], presence=["#"])],
)
issue("admin-subject-long", subject="a" * 129)
issue("admin-info-large", invalid("info has more than 1,024 bytes as JSON"), info={"a": "b" * 1024})
issue(
    "admin-quota",
    (403, {"code": "quota_exceeded", "detail": "the master token has 10 tokens, and may have no more"}),
)


@made()
async def admin_unknown_member() -> None:
    grant: Any = Grant
    grant(tenants=["room"], pub=["chat.*"])


@made()
async def admin_revoke_id() -> None:
    await TokenAdmin("http://localhost:8080", MASTER).revoke("0123456789abcdef0123456789abcdef")


@made()
async def admin_no_edge() -> None:
    await TokenAdmin(await closed_port(), MASTER).revoke("AT_1")
