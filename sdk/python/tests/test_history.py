"""Subscriptions with a history."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest

from millrace import After, Client, LastN, Subscription, events

from .edge import Edge, Peer, at, edges, everything, nothing
from .fixture import Tried, read, refuses, tried, two

HISTORIES = "FEATURES:link,history"


async def begin(
    client: Client, peer: Peer, history: Any, numbers: Sequence[int], **options: Any
) -> Subscription:
    """Subscribe to c, whose history has the numbers."""
    start = len(peer.lines.all)
    made = asyncio.create_task(client.subscribe("t", "c", history=history, **options))
    await peer.lines.until(lambda line: line.startswith("RSUB:t:c:"), start)
    peer.stored(*numbers)
    peer.caught_up(numbers[-1] if numbers else 0)
    return await made


def rsubs(peer: Peer) -> list[str]:
    return [line for line in peer.lines.all if line.startswith("RSUB")]


async def test_positions_in_order_once() -> None:
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        sub = await begin(it.client, peer, LastN(3), [7, 9])
        assert rsubs(peer) == ["RSUB:t:c:last.3"]
        message = await sub.__anext__()
        assert message.position == at(7) == sub.position
        assert message.time == datetime.datetime(2023, 11, 14, 22, 13, 20, 7000, tzinfo=datetime.timezone.utc)
        peer.stored(10)
        peer.stored(10)  # no edge does that
        assert await read(sub, 2) == ["9", "10"]
        assert sub.position == at(10)
        peer.send(f"AT:t:c:{at(99)}")
        peer.send(f"AT:t:other:{at(200)}")  # concerns nothing
        peer.send(f"GAP:t:c:{at(120)}")
        assert await it.event("gap") == events.Gap("t", "c", at(120))
        assert sub.position == at(120)
        await sub.unsubscribe()
        assert peer.lines.all == ["RSUB:t:c:last.3", "UNSUB:t:c"]


async def test_subscribe_returns_with_the_first_message() -> None:
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        made = asyncio.create_task(it.client.subscribe("t", "c", history=After(at(3)), on_message=it.take))
        await peer.until(f"RSUB:t:c:{at(3)}")
        peer.stored(4)
        sub = await made
        assert sub.position == at(4)
        peer.stored(5)
        peer.caught_up(5)
        await it.client.flush()
        assert it.got.all == ["4", "5"]
        assert sub.position == at(5)


async def test_what_is_refused_at_once() -> None:
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        await begin(it.client, await edge.peer(0), "now", [])
        bad: list[tuple[str, Any]] = [
            ("a", LastN(0)),
            ("a", LastN(1.5)),  # type: ignore[arg-type]
            ("a", LastN(True)),
            ("a", LastN(100_001)),
            ("a.*", LastN(1)),
            ("a", After("now")),
            ("a", After(None)),  # type: ignore[arg-type]
            ("a", {}),
            ("a", "first"),
            ("c", None),
            ("c", "last"),
        ]
        for pattern, history in bad:
            with refuses("bad_option"):
                await it.client.subscribe("t", pattern, history=history)
        await it.client.subscribe("t", "d")
        with refuses("bad_option"):
            await it.client.subscribe("t", "d", history="now")


DENIED = "ERR:permission_denied:RSUB:t:c"


@pytest.mark.parametrize(
    ("history", "features", "answers", "want", "gap"),
    [
        ("last", HISTORIES, {"RSUB:t:c:last": "ERR:no_history:RSUB:t:c"}, "no_history", False),
        ("last", HISTORIES, {"RSUB:t:c:last": "ERR:try_later:RSUB:t:c"}, "try_later", False),
        ("now", HISTORIES, {"RSUB:t:c:now": DENIED}, "permission_denied", False),
        (
            LastN(2),
            HISTORIES,
            {"RSUB:t:c:last.2": DENIED, "RSUB:t:c:now": f"OK:RSUB:t:c:{at(5)}:complete"},
            None,
            "no_right",
        ),
        (
            LastN(2),
            HISTORIES,
            {"RSUB:t:c:last.2": DENIED, "RSUB:t:c:now": DENIED},
            "permission_denied",
            False,
        ),
        (After(at(1)), HISTORIES, {f"RSUB:t:c:{at(1)}": f"OK:RSUB:t:c:{at(5)}:gap"}, None, True),
        ("now", "FEATURES:link", {}, None, False),
        ("last", "FEATURES:link", {}, None, "no_history"),
        (After(at(1)), "ERR:bad_request", {}, None, "no_history"),
        ("last", "ERR:bad_request", {"SUB:t:c": "ERR:permission_denied:SUB:t:c"}, "permission_denied", False),
    ],
)
async def test_what_an_edge_refuses_and_cannot_give(
    history: Any, features: str, answers: dict[str, str], want: str | None, gap: bool | str
) -> None:
    async with edges(1, features) as (edge,):
        edge.answers = lambda line: answers.get(line, True)
        async with tried(edge.url) as it:
            peer = await edge.peer(0)
            if want is not None:
                with refuses(want):
                    await it.client.subscribe("t", "c", history=history)
                assert it.events.names == ["connected"]
                return
            sub = await it.client.subscribe("t", "c", history=history)
            if gap:
                assert (await it.event("gap")).reason == ("unknown" if gap is True else gap)
            await it.client.flush()
            assert it.events.names.count("gap") == int(bool(gap))
            if features == HISTORIES:
                return
            peer.deliver("plain")  # without a position
            assert await read(sub, 1) == ["plain"]
            assert sub.position == (history.position if isinstance(history, After) else None)


class Loss(Tried):
    def __init__(self, it: Tried, edge: Edge, sub: Subscription, peer: Peer) -> None:
        super().__init__(it.client, it.events)
        self.edge = edge
        self.sub = sub
        self.peer = peer


@contextlib.asynccontextmanager
async def loss(plain: bool = False, change: Callable[[Edge], object] = lambda _: None) -> AsyncIterator[Loss]:
    """A subscription that has read two messages, and a connection after a loss."""
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        first = await edge.peer(0)
        sub = await begin(it.client, first, "now", [])
        if plain:
            await it.client.subscribe("t", "d")
        first.stored(4, 5)
        assert await read(sub, 2) == ["4", "5"]
        change(edge)
        first.kill()
        yield Loss(it, edge, sub, await edge.peer(1))


@pytest.mark.parametrize(
    ("plain", "how", "complete"),
    [(False, "complete", True), (False, "gap", False), (True, "complete", False)],
)
async def test_a_lost_connection(plain: bool, how: str, complete: bool) -> None:
    """It goes on behind the last message."""
    async with loss(plain) as it:
        await it.peer.until(f"RSUB:t:c:{at(5)}")
        it.peer.stored(6, 7)
        it.peer.caught_up(7, how)
        assert (await it.event("reconnected")).complete is complete
        assert it.events.names.count("gap") == int(how == "gap")
        assert await read(it.sub, 2) == ["6", "7"]


async def test_the_next_edge_has_no_such_history() -> None:
    def change(edge: Edge) -> None:
        edge.answers = lambda line: "ERR:no_history:RSUB:t:c" if line.startswith("RSUB") else True

    async with loss(change=change) as it:
        await it.peer.until("SUB:t:c")
        assert (await it.event("gap")).before is None
        assert (await it.event("reconnected")).complete is False
        it.peer.deliver("plain")
        assert await read(it.sub, 1) == ["plain"]
        # What came without positions is not gone on behind: it would come twice.
        it.edge.answers = everything
        it.peer.kill()
        third = await it.edge.peer(2)
        await third.until("RSUB:t:c:now")
        third.caught_up(9)
        await it.event("gap", 1)
        assert (await it.event("reconnected", 1)).complete is False
        third.stored(10)
        assert await read(it.sub, 1) == ["10"]
        assert it.sub.position == at(10)


async def test_the_token_does_not_allow_the_past_any_more() -> None:
    def change(edge: Edge) -> None:
        edge.answers = lambda line: DENIED if line == f"RSUB:t:c:{at(5)}" else True

    async with loss(change=change) as it:
        await it.peer.until("RSUB:t:c:now")
        it.peer.caught_up(8)
        await it.event("gap")
        assert (await it.event("reconnected")).complete is False
        it.peer.stored(9)
        assert await read(it.sub, 1) == ["9"]


async def test_a_history_that_is_out_of_reach_holds_nothing_up() -> None:
    def change(edge: Edge) -> None:
        edge.answers = lambda line: "ERR:history_unavailable:RSUB:t:c" if line.startswith("RSUB") else True

    async with loss(change=change) as it:
        assert (await it.event("edge_error")).detail == "RSUB:t:c"
        assert (await it.event("reconnected")).complete is False
        await it.client.flush()
        it.peer.stored(6)
        it.peer.caught_up(6)
        assert await read(it.sub, 1) == ["6"]


async def test_a_gap_is_told_once_at_its_place() -> None:
    """A store that does not know a position goes back."""
    async with loss() as it:
        await it.peer.until(f"RSUB:t:c:{at(5)}")
        it.peer.send(f"GAP:t:c:{at(1)}")
        it.peer.stored(2, 3)
        it.peer.caught_up(3, "gap")
        it.peer.stored(4)
        assert await read(it.sub, 3) == ["2", "3", "4"]
        assert it.sub.position == at(4)
        assert (await it.event("reconnected")).complete is False
        assert [gap.before for gap in it.events.of("gap")] == [at(1)]


async def test_try_later() -> None:
    asked = 0

    def later(line: str) -> bool | str:
        nonlocal asked
        if not line.startswith("RSUB"):
            return True
        asked += 1
        return "ERR:try_later:RSUB:t:c" if asked < 3 else True

    async with loss(change=lambda edge: setattr(edge, "answers", later)) as it:
        assert (await it.event("subscription_error")).code == "try_later"
        await it.peer.lines.until(lambda _: len(rsubs(it.peer)) == 3)
        it.peer.stored(6)
        it.peer.caught_up(6)
        assert (await it.event("reconnected")).complete is True
        assert await read(it.sub, 1) == ["6"]
        assert len(it.events.of("subscription_error")) == 1


async def test_a_pattern_is_asked_for_again_only_when_its_first_subscription_has_ended() -> None:
    async with edges(1, HISTORIES) as (edge,):
        edge.answers = lambda line: not line.startswith("UNSUB")
        async with tried(edge.url) as it:
            peer = await edge.peer(0)
            first = await begin(it.client, peer, "now", [])
            leaving = asyncio.create_task(first.unsubscribe())
            await peer.until("UNSUB:t:c")
            made = asyncio.create_task(it.client.subscribe("t", "c", history=LastN(1)))
            await it.client.flush()
            assert rsubs(peer) == ["RSUB:t:c:now"]
            peer.stored(7)
            peer.answer("UNSUB:t:c")
            await leaving
            await peer.until("RSUB:t:c:last.1")
            peer.stored(7, 8)
            peer.caught_up(8)
            assert await read(await made, 2) == ["7", "8"]


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("queue", [1, 2, 3, 50])
async def test_what_a_queue_has_no_room_for_stays_at_the_edge(queue: int, later: bool) -> None:
    """Until it was read, or taken by a coroutine function."""
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        last = 3 * queue + 10
        turns: asyncio.Queue[None] = asyncio.Queue()

        async def take(m: Any) -> None:
            await turns.get()
            it.take(m)

        def give(line: str) -> bool | str:
            """Each time that it is asked, the edge gives what comes behind."""
            if not line.startswith("RSUB"):
                return True
            start = line.removeprefix("RSUB:t:c:")
            peer.stored(*range(1 if start == "now" else int(start.split(".")[1]) + 1, last + 1))
            return f"OK:RSUB:t:c:{at(last)}:complete"

        peer.answers = give
        sub = await it.client.subscribe(
            "t", "c", history="now", queue=queue, on_message=take if later else None
        )
        await peer.until("UNSUB:t:c")
        for n in range(1, last + 1):
            assert len(sub._queue) <= queue
            if later:
                turns.put_nowait(None)
                await it.has(str(n))
            else:
                assert await read(sub, 1) == [str(n)]
                assert sub.position == at(n)
        assert len(rsubs(peer)) >= 2
        assert not {"queue_full", "gap"} & {*it.events.names}
        if later:
            assert it.got.all == [str(n) for n in range(1, last + 1)]


async def test_a_full_queue_that_is_read_just_before_the_edge_has_ended_it() -> None:
    """The answer that never came to the first RSUB does nothing to the second one."""
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        peer.answers = lambda line: not line.startswith("UNSUB")
        made = asyncio.create_task(it.client.subscribe("t", "c", history="now", queue=1))
        await peer.until("RSUB:t:c:now")
        peer.stored(1)
        sub = await made
        await peer.until("UNSUB:t:c")
        await sub.__anext__()  # so the client asks again, as soon as it gets to it
        connection = it.client._session.current
        assert connection is not None
        connection.line("OK:UNSUB:t:c")
        await peer.until(f"RSUB:t:c:{at(1)}")
        await it.client.flush()
        peer.stored(2)
        assert await read(sub, 1) == ["2"]


async def test_a_gap_among_the_messages_of_a_full_queue() -> None:
    """The edge reports it when the queue is full already."""
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        sub = await begin(it.client, peer, "now", [], queue=2)
        peer.stored(1, 3, 4)
        peer.send(f"GAP:t:c:{at(5)}")
        peer.stored(6)
        assert (await it.event("gap")).before == at(5)
        assert await read(sub, 2) == ["1", "3"]
        await peer.until(f"RSUB:t:c:{at(3)}")  # not behind the gap


async def test_a_full_queue_that_ends() -> None:
    async with edges(1, HISTORIES) as (edge,), tried(edge.url) as it:
        peer = await edge.peer(0)
        sub = await begin(it.client, peer, "now", [], queue=2, queue_policy="end")
        peer.stored(1, 2, 3)
        error = await sub.ended()
        assert error is not None
        assert error.code == "queue_full"
        assert await read(sub, 2) == ["1", "2"]
        await peer.until("UNSUB:t:c")


async def test_a_move_asks_the_next_connection_when_the_first_one_is_left() -> None:
    async with two(HISTORIES, subscribe=False) as it:
        first = it.first
        sub = await begin(it.client, first, "now", [])
        await it.client.subscribe("t", "d")
        first.stored(1)
        first.answers = lambda line: line != "UNSUB:t:d"
        first.send("RECONNECT")
        next_ = await it.b.peer(0)
        await next_.until("SUB:t:d")
        await first.until("UNSUB:t:d")
        first.stored(2, 3)
        next_.stored(3)  # no edge does that
        await it.client.flush()
        assert rsubs(next_) == []
        first.stored(4)
        first.answer("UNSUB:t:d")
        await next_.until(f"RSUB:t:c:{at(4)}")
        first.stored(5)
        next_.stored(5, 6)
        next_.caught_up(6)
        next_.stored(7)
        assert await read(sub, 7) == ["1", "2", "3", "4", "5", "6", "7"]
        await it.event("moved")
        assert not {"gap", "disconnected"} & {*it.events.names}
        assert first.count("UNSUB:t:c") == 0


async def test_a_connection_that_takes_over_goes_on_behind_it() -> None:
    async with two(HISTORIES, subscribe=False, keep_alive=0.1) as it:
        sub = await begin(it.client, it.first, "now", [])
        it.first.stored(1)
        assert await read(sub, 1) == ["1"]
        it.first.answers = nothing
        await it.event("suspect")
        next_ = await it.b.peer(0)
        await it.event("recovered")
        await next_.until(f"RSUB:t:c:{at(1)}")
        it.first.stored(2, 3)
        next_.stored(2)
        next_.caught_up(2)
        next_.stored(3)
        assert await read(sub, 2) == ["2", "3"]
