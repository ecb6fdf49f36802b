"""Faults in what event loops call: each fails the attempt, or ends the connection, and says why."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from websockets.client import ClientProtocol

from millrace import Grant, MillraceError, Paths, TokenAdmin, _quic, connect
from millrace._link import Inlet
from millrace._webtransport import open_webtransport
from millrace.options import settings

from .edge import WAIT, edges
from .fixture import tried, two
from .quic_edge import quic_edge
from .test_webtransport import dial


def fails(*_: object) -> Any:
    raise AttributeError("it is another event loop's")


def is_fault(error: Any) -> bool:
    assert "AttributeError: it is another event loop's" in str(error)
    return error.code == "internal" and isinstance(error.__cause__, AttributeError)


async def test_connecting_over_websocket(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ClientProtocol, "connect", fails)
    async with edges(1) as (edge,):
        with pytest.raises(MillraceError, check=is_fault):
            await asyncio.wait_for(connect(edge.url, token="AT_1", connect_timeout=3600), WAIT)


async def test_connecting_over_webtransport(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(_quic, "_is_reset", fails)  # called for each datagram
    async with quic_edge(tmp_path) as edge:
        with pytest.raises(MillraceError, check=is_fault):
            await asyncio.wait_for(open_webtransport(dial(edge.url, edge.ssl)), WAIT)


async def test_a_connection_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    async with two() as it:
        with monkeypatch.context() as patched:
            patched.setattr(Inlet, "frame", fails)
            it.first.deliver("x")
            assert is_fault((await it.event("disconnected")).error)
        await it.event("reconnected")


async def test_a_lone_surrogate() -> None:
    async with edges(1) as (edge,), tried(edge.url) as it:
        for payload, key in (("\ud83d", None), ("a", "a\udc80")):
            with pytest.raises(MillraceError, match=r"bad_option: .*lone surrogate at index \d"):
                await it.client.publish("t", "c", payload, confirm=True, key=key)
        with pytest.raises(MillraceError, match="bad_tenant"):
            await it.client.subscribe("\ud83d", "c")
    with pytest.raises(MillraceError, match=r"bad_option: .*lone surrogate"):
        await TokenAdmin("http://127.0.0.1:9", "MT_1").issue(
            created_by="\ud83d", grants=[Grant(tenants=["t"])], expires_in=60
        )
    with pytest.raises(MillraceError, match=r"bad_option: .*lone surrogate"):
        settings(token="AT_1", paths=Paths(ping="/\ud83d"))
    assert settings(token="AT_1", paths=Paths("/ü%20~")).paths.websocket == "/%C3%BC%20~"
