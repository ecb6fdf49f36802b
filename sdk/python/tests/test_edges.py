"""Which edges there are, and which is the nearest."""

from __future__ import annotations

import asyncio
import json

import pytest

from millrace._address import parse_address
from millrace._connect import connect_tcp
from millrace._dial import Dialer
from millrace._edges import resolve_edges
from millrace._link import Dial
from millrace._resolve import Target, _interleaved
from millrace.options import AccessToken, Settings, settings

from .edge import edges
from .fixture import refuses


def s() -> Settings:
    return settings(token="AT_a", connect_timeout=5)


async def resolved(*urls: str) -> list[str]:
    return await resolve_edges([parse_address(url, True) for url in urls], s())


async def test_one_edge_is_not_probed() -> None:
    assert await resolved("https://edge.invalid") == ["https://edge.invalid"]


async def test_those_that_do_not_serve_come_last() -> None:
    async with edges(3) as (a, b, c):
        a.ping = 503
        await b.stop()
        assert await resolved(a.url, b.url, c.url, a.url) == [c.url, a.url, b.url]


async def test_a_list_and_an_edge_that_it_names_too() -> None:
    async with edges(1) as (edge,):
        edge.bodies["/edges"] = json.dumps(
            {"edges": [{"host": "a.example"}, {"host": "b.example:8443", "x": 1}]}
        )
        found = await resolved(f"{edge.url}/edges", edge.url, "https://a.example")
        assert sorted(found) == sorted(["https://a.example", "https://b.example:8443", edge.url])
        assert found[0] == edge.url


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{}",
        "[]",
        '{"edges": 1}',
        '{"edges": [{}]}',
        '{"edges": []}',
        '{"edges": [{"host": "a/b?c"}]}',
        "9" * 5000,
    ],
)
async def test_lists_that_are_none(body: str) -> None:
    async with edges(1) as (edge,):
        edge.bodies["/edges"] = body
        with refuses("unreachable"):
            await resolved(f"{edge.url}/edges")
        assert await resolved(f"{edge.url}/edges", edge.url) == [edge.url]


async def test_a_list_that_is_not_there() -> None:
    async with edges(1) as (edge,):
        edge.refusal = 404, ""
        with refuses("unreachable") as caught:
            await resolved(f"{edge.url}/edges")
        assert caught.value.status == 404


async def test_a_long_list_is_cut() -> None:
    async with edges(1) as (edge,):
        hosts = [{"host": f"127.0.0.1:{port}"} for port in range(1, 1000)]
        edge.bodies["/edges"] = json.dumps({"edges": hosts})
        assert len(await resolved(f"{edge.url}/edges")) == 64


async def test_addresses_that_do_not_answer() -> None:
    async with edges(1) as (edge,):
        port = int(edge.url.rpartition(":")[2])
        opened = await connect_tcp("localhost", port)  # ::1 refuses, if there is one
        assert opened.getpeername()[:2] == ("127.0.0.1", port)
        opened.close()
        await edge.stop()
        with pytest.raises(ConnectionRefusedError):
            await connect_tcp("127.0.0.1", port)
    with pytest.raises(OSError, match="Name or service"):
        await asyncio.wait_for(connect_tcp("edge.invalid", 1), 30)


async def test_edges_that_come_and_go_take_no_memory() -> None:
    dialer = Dialer(s())
    for n in range(1000):
        dialer.prefer(f"https://e{n}.example", "websocket")
    assert len(dialer._known) == 256
    assert "https://e999.example" in dialer._known


def test_what_is_shown_has_no_token() -> None:
    secret = "AT_secret"
    shown = repr((settings(token=secret), Dial("https://a", secret, s()), AccessToken(secret, expires_in=1)))
    assert secret not in shown


def test_families_take_turns() -> None:
    targets = [Target(family, n) for n, family in enumerate((6, 6, 6, 4, 4))]
    assert [target.address for target in _interleaved(targets)] == [0, 3, 1, 4, 2]
