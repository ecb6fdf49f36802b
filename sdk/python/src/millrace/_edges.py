"""The edges that addresses mean, the nearest first."""

from __future__ import annotations

import asyncio
import json
import math
import statistics
from collections.abc import Iterable

from ._address import Address, parse_address
from ._http import Response, request
from ._refusal import refusal
from ._timers import any_settled, now
from .errors import MillraceError
from .options import Settings

_PROBES = 3  # of each edge
_REST = 0.5  # seconds for the others, once an edge has answered all of its probes
_MOST = 64  # edges of a list
_MAX_BODY = 1 << 20  # bytes of an answer
_AT_ONCE = 16  # edges that are probed at the same time


async def resolve_edges(addresses: Iterable[Address], s: Settings) -> list[str]:
    """Return the edges that some addresses mean, those of lists included, nearest first."""

    async def one(address: Address) -> list[str] | MillraceError:
        if not address.path:
            return [address.origin]
        try:
            return await _fetch_list(address, s)
        except MillraceError as err:
            return err

    lists = await asyncio.gather(*map(one, addresses))
    edges = list(dict.fromkeys(edge for found in lists if isinstance(found, list) for edge in found))
    if not edges:
        errors = (found for found in lists if isinstance(found, MillraceError))
        raise next(errors, MillraceError("unreachable", "the list has no edge"))
    return edges if len(edges) == 1 else await _nearest_first(edges, s)


async def _fetch_list(address: Address, s: Settings) -> list[str]:
    response = await _get(address, address.path, s)
    if response.status != 200:
        error = refusal(response.status, None, response.body, f"{address.origin}{address.path}")
        text = f"{address.origin}{address.path} gives no list of edges, but HTTP status {response.status}: "
        text += "an address without a path is that of an edge itself"
        raise MillraceError("unreachable", text, status=error.status)
    try:
        hosts = [str(edge["host"]) for edge in json.loads(response.body)["edges"]]
        return [parse_address(f"https://{host}").origin for host in hosts[:_MOST]]
    except (ValueError, LookupError, TypeError, MillraceError) as err:
        text = (
            f"{address.origin}{address.path} gives no list of edges: an address without a path is an edge's"
        )
        raise MillraceError("unreachable", text, status=response.status, cause=err) from err


async def _get(address: Address, path: str, s: Settings) -> Response:
    context = s.ssl_context() if address.secure else None
    return await request(
        "GET", address, path, timeout=s.connect_timeout, limit=_MAX_BODY, ssl=context, proxies=s.proxies
    )


async def _nearest_first(edges: list[str], s: Settings) -> list[str]:
    """Sort by the median of the probes.

    Edges without one come last, in the order given: nobody waits long for them.
    """
    found: dict[str, float] = {}
    turns = asyncio.Semaphore(_AT_ONCE)
    one = asyncio.Event()

    async def probe(edge: str) -> None:
        async with turns:
            median = await _probe(edge, s)
        if median is not None:
            found[edge] = median
            one.set()

    async def rest() -> None:
        await one.wait()
        await asyncio.sleep(_REST)

    probes = [asyncio.ensure_future(probe(edge)) for edge in edges]
    every = asyncio.gather(*probes)
    enough = asyncio.ensure_future(rest())
    try:
        await any_settled([every, enough], s.connect_timeout)
    finally:
        every.cancel()
        enough.cancel()
        await asyncio.gather(every, enough, *probes, return_exceptions=True)
    return sorted(edges, key=lambda edge: found.get(edge, math.inf))


async def _probe(edge: str, s: Settings) -> float | None:
    """Return the median time of the answers to /ping; None: an edge that drains, or no edge."""
    times: list[float] = []
    try:
        for _ in range(_PROBES):
            begun = now()
            if (await _get(parse_address(edge, True), s.paths.ping, s)).status != 200:
                return None
            times.append(now() - begun)
    except MillraceError:
        return None
    return statistics.median(times)
