"""A work queue in which no job is lost (docs/how-to/work-queues.md).

Jobs and what was done are kept in a history, and what was not done in time is given out again.

    queue.py add 100       adds 100 jobs
    queue.py dispatch 30   gives jobs to workers, and again those that are not done after 30 s
    queue.py work          does jobs, until SIGTERM
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import sys
import time
from typing import Any

import millrace
from millrace import LastN, MillraceError

ALL = 100_000  # as many messages as a history gives of one channel


async def add(queue: millrace.Tenant, count: int) -> None:
    for number in range(1, count + 1):
        job = {"id": f"{os.getpid()}-{number}", "kind": "resize", "data": "cat.png"}
        await queue.publish("jobs.todo", job, confirm=True, key=job["id"])


async def dispatch(queue: millrace.Tenant, retry_after: float) -> None:
    """Keeps nothing: when it starts again, it reads again what is to do and what is done."""
    jobs: dict[str, Any] = {}  # that are open
    given: dict[str, float] = {}  # when a worker last got them
    finished: set[str] = set()  # before the job itself was read

    def to_do(message: millrace.Message) -> None:
        job = message.json()
        if job["id"] in finished:
            finished.remove(job["id"])
        else:
            jobs[job["id"]] = job

    def done(message: millrace.Message) -> None:
        if jobs.pop(message.text(), None) is None:
            finished.add(message.text())
        given.pop(message.text(), None)

    await queue.subscribe("jobs.todo", history=LastN(ALL), on_message=to_do)
    await queue.subscribe("jobs.done", history=LastN(ALL), on_message=done)
    while True:
        for job in list(jobs.values()):
            if job["id"] not in jobs or time.monotonic() - given.get(job["id"], -math.inf) < retry_after:
                continue
            try:
                await queue.publish(f"work.{job['kind']}", job, confirm=True, delivery="one-random")
                given[job["id"]] = time.monotonic()
            except MillraceError as error:
                if error.code in ("no_subscriber", "subscribers_busy"):
                    break  # wait for workers
                print(error, file=sys.stderr)  # as when the connection is lost: it is given out again
        await asyncio.sleep(0.1)


async def work(queue: millrace.Tenant) -> None:
    """Does one job after the other. A job may come twice: what it does must do no harm then."""
    jobs = await queue.subscribe("work.*", queue=1)
    draining: list[asyncio.Task[None]] = []
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, lambda: draining.append(asyncio.ensure_future(jobs.drain())))
    async for message in jobs:
        job = message.json()
        print(f"done {job['id']}", flush=True)
        await queue.publish("jobs.done", job["id"], confirm=True, key=job["id"])


async def main() -> None:
    async with millrace.connect("http://localhost:8080", token=os.environ["MILLRACE_TOKEN"]) as client:
        queue = client.tenant("demo.room")
        match sys.argv[1:]:
            case ["add", count]:
                await add(queue, int(count))
            case ["dispatch", retry_after]:
                await dispatch(queue, float(retry_after))
            case ["work"]:
                await work(queue)
            case _:
                sys.exit("usage: queue.py add <jobs> | dispatch <retry after> | work")


if __name__ == "__main__":
    asyncio.run(main())
