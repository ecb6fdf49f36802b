"""Forward proxies."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from millrace import MillraceError, TokenAdmin, connect
from millrace._address import parse_address
from millrace._connect import connect_edge
from millrace._dial import can_webtransport
from millrace._proxy import Proxies
from millrace.options import settings

from .edge import edges
from .fixture import refuses, tried
from .proxy import proxying
from .test_cancel import cancelled

VARIABLES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


async def test_everything_goes_through_it() -> None:
    """Lists of edges, probes and the connection, each with the credentials; WebTransport is left out."""
    async with edges(2) as all_, proxying() as proxy:
        hosts = [edge.url.removeprefix("http://") for edge in all_]
        url = f"http://ann:p%40ss%C3%BC@127.0.0.1:{proxy.port}"
        async with tried([edge.url for edge in all_], proxy=url) as it:
            await it.client.subscribe("t", "c", on_message=it.take)
            edge = all_[0] if it.client.edge == all_[0].url else all_[1]
            (await edge.peer(0)).deliver("hello")
            await it.has("hello")
        assert sorted(proxy.asked) == sorted((host, "ann:p@ssü") for host in [*hosts * 3, it.client.edge[7:]])


async def test_calls_of_the_admin() -> None:
    async with proxying() as proxy:
        with pytest.raises(MillraceError, match="unreachable"):
            await TokenAdmin("http://127.0.0.1:9", "MT_1", proxy=f"127.0.0.1:{proxy.port}").revoke("AT_1")
        assert proxy.asked == [("127.0.0.1:9", "")]


@pytest.mark.parametrize(
    ("answer", "status", "text"),
    [
        (
            "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n",
            407,
            r"does not accept the user and the password \(HTTP status 407\)$",
        ),
        ("HTTP/1.0 401 Unauthorized\r\n\r\n", 401, "does not accept the user and the password"),
        (
            "HTTP/1.0 403 No \x1b[1m\r\nA: b\r\n\r\nbody",
            403,
            r"refuses to connect to 127.0.0.1:9: 403 No \?\[1m$",
        ),
        ("SSH-2.0-OpenSSH_9\r\n", None, "does not answer as a proxy does"),
        ("", None, "does not answer as a proxy does"),
        ("HTTP/1.1 200 OK\r\n\r\nhello", None, "sends what no edge has sent"),
    ],
)
async def test_refusals(answer: str, status: int | None, text: str) -> None:
    async with proxying() as proxy:
        proxy.answer = answer
        with pytest.raises(
            MillraceError, match=rf"unreachable: the proxy 127.0.0.1:{proxy.port} {text}"
        ) as caught:
            await connect(
                "http://127.0.0.1:9",
                token="AT_1",
                fail_fast=True,
                proxy=f"http://ann:secret@127.0.0.1:{proxy.port}",
            )
        assert caught.value.status == status
        assert "secret" not in f"{caught.value!r} {caught.value}"


async def test_a_proxy_that_is_not_there() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(
            MillraceError, match=f"unreachable: no connection to the proxy 127.0.0.1:{port}: "
        ):
            await connect(
                "http://127.0.0.1:9", token="AT_1", fail_fast=True, proxy=f"http://127.0.0.1:{port}"
            )


async def test_cancelled() -> None:
    async with edges(1) as (edge,), proxying() as proxy:
        proxies = Proxies(f"http://127.0.0.1:{proxy.port}")
        async for task in cancelled(lambda: connect_edge(parse_address(edge.url), proxies)):
            if not task.cancelled():
                task.result().close()  # and no ResourceWarning comes


@pytest.mark.parametrize(
    ("variables", "used"),
    [
        ({"HTTPS_PROXY": "http://a:1"}, "the proxy a:1"),
        ({"https_proxy": "a:1", "HTTPS_PROXY": "http://b:2"}, "the proxy a:1"),
        ({"HTTPS_PROXY": "http://[::1]/"}, "the proxy [::1]:80"),
        ({"HTTPS_PROXY": ""}, "None"),
        ({"HTTP_PROXY": "http://a:1", "ALL_PROXY": "socks5://b"}, "None"),
        ({"HTTPS_PROXY": "http://a:1", "NO_PROXY": "x, .Example.com"}, "None"),
        ({"HTTPS_PROXY": "http://a:1", "no_proxy": "edge.example.com:443"}, "None"),
        ({"HTTPS_PROXY": "http://a:1", "NO_PROXY": "*"}, "None"),
        ({"HTTPS_PROXY": "http://a:1", "NO_PROXY": "localhost,127.0.0.0/8,::1/128"}, "the proxy a:1"),
        ({"HTTPS_PROXY": "http://a:1", "NO_PROXY": "example.org"}, "the proxy a:1"),
    ],
)
def test_the_environment(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], used: str) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    address = parse_address("https://edge.example.com")
    assert str(Proxies().of(address)) == used
    assert Proxies("none").of(address) is None
    assert str(Proxies("http://o:3").of(address)) == "the proxy o:3"
    for own in ("http://localhost:8080", "https://127.0.0.1:8443"):
        assert Proxies().of(parse_address(own)) is None
    for transports, possible in (("webtransport", "websocket"), used == "None"), (("webtransport",), True):
        s = settings(token="AT_1", transports=transports)
        assert can_webtransport(address.origin, s) == possible


@pytest.mark.parametrize(
    ("entry", "yes", "no"),
    [
        ("edge.test", "edge.test a.edge.test edge.test:8443", "notedge.test test"),
        (".edge.test", "a.edge.test", "edge.test"),
        ("*.Edge.test", "a.edge.test", "edge.test"),
        ("edge.test:8443", "edge.test:8443 a.edge.test:8443", "edge.test"),
        ("10.0.0.0/8", "10.1.2.3 10.1.2.3:8443", "11.1.2.3 [fd00::1] edge.test"),
        ("10.1.2.3", "10.1.2.3", "10.1.2.4"),
        ("10.1.2.3:8443", "10.1.2.3:8443", "10.1.2.3"),
        ("fd00::/8", "[fd00::1]", "[fe80::1] 10.1.2.3"),
        ("fd00::443", "[fd00::443] [fd00::443]:8443", "[fd00::1]"),
        ("[fd00::1]:8443", "[fd00::1]:8443", "[fd00::1]"),
        (":1, 10.0.0.0/99,[,", "", "10.1.2.3 edge.test"),
    ],
)
def test_what_no_proxy_excepts(monkeypatch: pytest.MonkeyPatch, entry: str, yes: str, no: str) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://a:1")
    monkeypatch.setenv("NO_PROXY", f"other.test, {entry}")
    for hosts, used in (yes, "None"), (no, "the proxy a:1"):
        for host in hosts.split():
            assert str(Proxies().of(parse_address(f"https://{host}"))) == used, host


@pytest.mark.parametrize(
    "url", ["socks5://a:1", "https://a:1", "http://", "http://a:x", "http://a/path", "http://ü:1", 1]
)
def test_what_is_no_proxy(monkeypatch: pytest.MonkeyPatch, url: Any) -> None:
    with refuses("bad_option"):
        settings(token="AT_1", proxy=url)
    if isinstance(url, str):
        monkeypatch.setenv("HTTPS_PROXY", url.replace("//", "//ann:secret@"))
        with pytest.raises(
            MillraceError, match=r"HTTPS_PROXY is not .* the option proxy='none' leaves proxies aside"
        ) as caught:
            settings(token="AT_1")
        assert "secret" not in str(caught.value)
        assert settings(token="AT_1", proxy="none").proxies.of(parse_address("https://a")) is None


def test_what_does_not_go_through_it() -> None:
    with pytest.raises(MillraceError, match="bad_option: WebTransport does not go through a proxy"):
        settings(token="AT_1", transports=["webtransport"], proxy="http://a:1")
    assert "secret" not in repr(
        settings(token="AT_1", proxy="http://ann:secret@a:1").proxies.of(parse_address("https://a"))
    )
