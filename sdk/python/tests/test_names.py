"""Name servers that do not answer, and hosts with several addresses."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import millrace
import millrace.sync
from millrace import MillraceError, TokenAdmin, _quic
from millrace._resolve import Target, is_resolving
from millrace._webtransport import open_webtransport

from .edge import WAIT
from .quic_edge import quic_edge
from .test_webtransport import dial

URL, OPTIONS = "https://edge.test:8443", {"token": "AT_1", "connect_timeout": 0.1, "fail_fast": True}


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """No name server answers, until the end of the test; it gives the names that were asked for."""
    asked: list[str] = []
    over = threading.Event()

    def getaddrinfo(host: str, *_: Any, flags: int = 0, **__: Any) -> Any:
        if not flags & socket.AI_NUMERICHOST:
            asked.append(host)
            assert over.wait(WAIT), "who asked waits for the answer"
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    yield asked
    over.set()
    while is_resolving("edge.test", 8443):
        pass


def by_loop(transport: str) -> None:
    async def connected() -> None:
        async with millrace.connect(URL, transports=[transport], **OPTIONS):  # type: ignore[arg-type,list-item]
            pass

    asyncio.run(connected())


def by_thread(transport: str) -> None:
    millrace.sync.connect(URL, transports=[transport], **OPTIONS)  # type: ignore[arg-type,list-item]


@pytest.mark.parametrize("transport", ["websocket", "webtransport"])
@pytest.mark.parametrize("connected", [by_loop, by_thread])
def test_a_silent_name_server(silent: list[str], transport: str, connected: Callable[[str], None]) -> None:
    for _ in range(3):
        with pytest.raises(MillraceError, match="timeout: no name server has answered") as caught:
            connected(transport)
        assert "edge.test" in str(caught.value)
    assert silent == ["edge.test"]  # an attempt does not cost a thread


def test_a_call_of_the_admin(silent: list[str]) -> None:
    with pytest.raises(MillraceError, match="timeout: no name server has answered"):
        asyncio.run(TokenAdmin(URL, "MT_1", timeout=0.1).revoke("AT_1"))


def test_a_provider_that_does_not_return() -> None:
    """Neither connecting nor the end of the program waits for it."""
    over, calls = threading.Event(), []

    def provide() -> str:
        calls.append(1)
        assert over.wait(WAIT)
        return "AT_1"

    with pytest.raises(MillraceError, match="token_provider: no token came within"):
        millrace.sync.connect(URL, token_provider=provide, connect_timeout=0.1, fail_fast=True)
    over.set()
    assert calls == [1]


async def test_an_address_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The next one is tried beside it, over WebTransport as over TCP."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        async with quic_edge(tmp_path) as edge:

            async def resolved(host: str, port: int) -> list[Target]:
                return [Target(socket.AF_INET, silent.getsockname()), Target(socket.AF_INET, (host, port))]

            monkeypatch.setattr(_quic, "resolve_host", resolved)
            monkeypatch.setattr(_quic, "_IDLE", 3600.0)  # it does not end by itself
            link = await asyncio.wait_for(open_webtransport(dial(edge.url, edge.ssl)), WAIT)
            link._connection.abort()
            await edge.until(lambda: edge.terminated)
