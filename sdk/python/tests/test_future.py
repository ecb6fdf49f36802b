"""What later edges may send, and broken messages: wire/testdata/future.json."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from .edge import Answers, edges
from .fixture import refuses, tried
from .vectors import cases


def message(case: dict[str, Any]) -> str | bytes:
    given = case["input"]
    return bytes.fromhex(given["hex"]) if "hex" in given else str(given["text"])


def snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def answering(to: str, answer: str) -> Answers:
    return lambda line: answer if line == to else True


async def test_the_client_goes_on_whatever_a_later_edge_sends() -> None:
    """And what stands between comes."""
    for _ in range(5):
        seed = random.randrange(1 << 32)  # noqa: S311
        sent = [case for case in cases("future.json") if "error" not in case["expect"]]
        random.Random(seed).shuffle(sent)  # noqa: S311
        async with edges(1) as (edge,), tried(edge.url) as it:
            await it.client.subscribe("t", "c", on_message=it.take)
            peer = await edge.peer(0)
            for case in sent:
                to = case.get("to")
                if to is None:
                    peer.send(message(case))
                    peer.deliver(case["comment"])
                    continue
                answer = str(message(case))
                peer.answers = answering(to, answer)
                with refuses(case["expect"]["code"]):
                    await it.client.subscribe("t", to.removeprefix("SUB:t:"))
            going = [case for case in sent if "to" not in case]
            if going:
                await it.has(going[-1]["comment"])
            await it.client.flush()
            assert it.got.all == [case["comment"] for case in going], seed
            wanted = [case["expect"]["event"] for case in going if "event" in case["expect"]]
            for want in wanted:
                fields = {snake(name): value for name, value in want.items() if name != "name"}
                told = it.events.of(snake(want["name"]))
                assert any(all(getattr(e, name) == value for name, value in fields.items()) for e in told), (
                    want,
                    seed,
                )
            known = {"connected", "edge_error", "publish_error", *(snake(want["name"]) for want in wanted)}
            assert {*it.events.names} <= known, seed


async def test_broken_messages_end_the_connection() -> None:
    broken = [case for case in cases("future.json") if "error" in case["expect"]]
    assert broken
    async with edges(1) as (edge,), tried(edge.url) as it:
        await it.client.subscribe("t", "c")
        for n, case in enumerate(broken):
            (await edge.peer(n)).send(message(case))
            lost = await it.event("disconnected", n)
            assert lost.error.code == case["expect"]["error"], case["comment"]
            await it.event("reconnected", n)
            await asyncio.sleep(0)
