"""How much memory a subscriber takes that falls behind: run it beside a real edge under load, on Linux.

    export MILLRACE_MASTER_TOKEN=…
    python bench_memory.py http://localhost:8080 --tenant demo.bench [--history] [--queue 1024] [--pause 1] &
    millrace pubsub bench fanout --url ws://localhost:8080/ws --subscribers 1 --payload 1000 --cap 1000000

It subscribes to bench.#, sleeps for --pause milliseconds after each message (negative: it keeps up), and prints its
resident memory every half second, from the first message on, until there is none for two seconds, or for --seconds.
"""

from __future__ import annotations

import argparse
import asyncio
import datetime
import gc
import os
import statistics
import sys
import time
from pathlib import Path

import millrace

EVERY = 0.5  # seconds


def resident() -> float:
    """Return the resident memory of this process, in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def waiting() -> int:
    """Return how many messages there are."""
    return sum(isinstance(thing, millrace.Message) for thing in gc.get_objects())


async def main() -> None:
    """Measure one subscriber."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--tenant", required=True)
    parser.add_argument("--history", action="store_true")
    parser.add_argument("--queue", type=int, default=1024)
    parser.add_argument("--pause", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=30)
    args = parser.parse_args()
    admin = millrace.TokenAdmin(args.url, os.environ["MILLRACE_MASTER_TOKEN"])
    grant = millrace.Grant(tenants=[args.tenant], subscribe=["bench.#"], history=["bench.#"])
    issued = await admin.issue(
        created_by="bench_memory", expires_in=datetime.timedelta(hours=1), grants=[grant], egress_kbps=16384
    )
    client = await millrace.connect(args.url, token=issued.token)
    counts = {"dropped": 0, "gap": 0, "disconnected": 0, "slow_consumer": 0}

    def count(name: str, by: int = 1) -> None:
        counts[name] += by

    client.on("queue_full", lambda event: count("dropped", event.dropped))
    client.on("slow_consumer", lambda event: count("slow_consumer", event.dropped))
    client.on("gap", lambda _: count("gap"))
    client.on("disconnected", lambda _: count("disconnected"))
    subscription = await client.subscribe(
        args.tenant, "bench.#", queue=args.queue, history="now" if args.history else None
    )
    got, last = 0, time.monotonic()
    begun = asyncio.Event()

    async def read() -> None:
        nonlocal got, last
        async for _ in subscription:
            begun.set()
            got, last = got + 1, time.monotonic()
            if args.pause >= 0:
                await asyncio.sleep(args.pause / 1000)

    reading = asyncio.create_task(read())
    idle = resident()
    await begun.wait()
    begin = time.monotonic()
    samples = []
    while time.monotonic() - begin < args.seconds and time.monotonic() - last < 2:
        samples.append(resident())
        await asyncio.sleep(EVERY)
    # Of the time, the first and the second half: what grows shows.
    half = len(samples) // 2
    print(  # noqa: T201
        f"{client.transport}, {'history' if args.history else 'live'}, queue {args.queue:,}: before {idle:.1f} MiB; "
        f"medians of the halves {statistics.median(samples[:half]):.1f} and {statistics.median(samples[half:]):.1f}, "
        f"{min(samples):.1f} to {max(samples):.1f} MiB in {time.monotonic() - begin:.0f} s; "
        f"{got:,} messages read, {waiting():,} in memory; {counts}; Python {sys.version.split()[0]}"
    )
    reading.cancel()
    await client.close()


if __name__ == "__main__":
    asyncio.run(main())
