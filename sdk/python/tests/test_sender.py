"""Who has published a message."""

from __future__ import annotations

from typing import Any

import pytest

from millrace import MillraceError, connect
from millrace.message import Message

from .edge import Record, edges, pings
from .fixture import Tried, tried

KNOWS = "FEATURES:link,sender,history"


async def listen(it: Tried, **options: Any) -> Record[str]:
    """Subscribe to t:c, and record each message as ``sender: text``."""
    got = Record[str]()

    def take(m: Message) -> None:
        got.add(f"{m.sender}: {m.text()}")

    await it.client.subscribe("t", "c", on_message=take, **options)
    return got


async def has(got: Record[str], text: str) -> None:
    await got.until(lambda other: other == text)


async def test_messages_say_it() -> None:
    async with edges(1, KNOWS) as (edge,), tried(edge.url, sender=True) as it:
        got = await listen(it)
        peer = await edge.peer(0)
        assert peer.asked == "FEATURES:link,work_queue,own,reasons,sender"
        peer.deliver_from("alice", "1")
        peer.deliver_from("Zoë", "2")
        peer.deliver_from("", "3")
        peer.deliver("4")  # it was in the queue before
        await has(got, ": 4")
        assert got.all == ["alice: 1", "Zoë: 2", ": 3", ": 4"]


async def test_stored_ones_do() -> None:
    async with edges(1, KNOWS) as (edge,), tried(edge.url, sender=True) as it:
        peer = await edge.peer(0)
        peer.answers = lambda line: (
            "OK:RSUB:t:c:0000000000000abc.0.1700000000000:complete" if line.startswith("RSUB") else True
        )
        got = await listen(it, history="now")
        peer.deliver_from("alice", "1", 1)
        peer.stored(2)
        await has(got, ": 2")
        assert got.all == ["alice: 1", ": 2"]


@pytest.mark.parametrize(
    ("features", "sender"), [(KNOWS, False), ("FEATURES:link", True), ("ERR:bad_request", True)]
)
async def test_it_is_empty_where_nobody_asks_or_knows(features: str, sender: bool) -> None:
    async with edges(1, features) as (edge,), tried(edge.url, sender=sender) as it:
        got = await listen(it)
        peer = await edge.peer(0)
        assert peer.asked == (
            "FEATURES:link,work_queue,own,reasons,sender"
            if sender
            else "FEATURES:link,work_queue,own,reasons"
        )
        peer.deliver("1")
        await has(got, ": 1")


@pytest.mark.parametrize("knows", ["first", "second"])
async def test_a_move_where_one_edge_knows_it(knows: str) -> None:
    """Copies are recognised."""
    async with edges(2) as (one, other), tried([one.url, other.url], sender=True) as it:
        a, b = (one, other) if it.client.edge == one.url else (other, one)
        got = await listen(it)
        first = await a.peer(0)
        first.answers = pings
        first.send("RECONNECT")
        second = await b.peer(0)
        await second.until("SUB:t:c")
        assert second.asked == "FEATURES:link,work_queue,own,reasons,sender"
        knowing, old = (first, second) if knows == "first" else (second, first)
        for text in ("1", "2"):
            knowing.deliver_from("alice", text)
            old.deliver(text)
        await first.until("UNSUB:t:c")
        first.send("OK:UNSUB:t:c")
        await it.event("moved")
        second.deliver_from("bob", "3")
        await has(got, "bob: 3")
        assert [line.rpartition(": ")[2] for line in got.all] == ["1", "2", "3"]


async def test_the_next_connection_asks_again() -> None:
    async with edges(1, KNOWS) as (edge,), tried(edge.url, sender=True) as it:
        got = await listen(it)
        (await edge.peer(0)).kill()
        await it.event("reconnected")
        second = await edge.peer(1)
        assert second.asked == "FEATURES:link,work_queue,own,reasons,sender"
        second.deliver_from("alice", "1")
        await has(got, "alice: 1")


async def test_a_value_that_is_none() -> None:
    values: list[Any] = ["yes", 1, None]
    for sender in values:
        with pytest.raises(MillraceError) as err:
            await connect("http://127.0.0.1:1", token="AT_1", sender=sender)
        assert err.value.code == "bad_option"
