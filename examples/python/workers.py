"""A pool of workers that take jobs from a producer: each job goes to one of them.

Nothing assigns jobs, counts workers or knows where they run. Each worker gets no more
jobs than it has room for, and the producer is told when nobody takes one: it waits, and
tries again. A job whose worker dies is lost: docs/how-to/work-queues.md says how to repeat it.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack

from millrace import Client, Connecting, Grant, IssuedToken, Message, MillraceError, TokenAdmin, connect

EDGE = "http://localhost:8080"  # of make dev
TENANT = "demo.room"
WORKERS = 4
JOBS = 100


async def main() -> None:
    admin = TokenAdmin(EDGE, os.environ["MILLRACE_MASTER_TOKEN"])
    async with AsyncExitStack() as stack:
        workers = []
        for number in range(1, WORKERS + 1):
            client = await stack.enter_async_context(open_client(admin, subscribe=["jobs.*"]))

            async def work(job: Message, number: int = number) -> None:
                print(f"worker {number} does {job.channel} {job.json()['image']}")
                await asyncio.sleep(0.01)

            await client.subscribe(TENANT, "jobs.*", on_message=work, queue=4)
            workers.append(client)
        producer = await stack.enter_async_context(open_client(admin, publish=["jobs.*"]))
        for number in range(1, JOBS + 1):
            await give(producer, {"image": f"{number}.png"})
        await asyncio.gather(*(worker.drain() for worker in workers))  # as a worker does that is told to stop
        print(f"{JOBS} jobs done")


async def give(producer: Client, job: dict[str, str]) -> None:
    """Returns when a worker has the job."""
    while True:
        try:
            await producer.publish(TENANT, "jobs.resize", job, delivery="one-random", confirm=True)
            return
        except MillraceError as err:
            if err.code not in ("subscribers_busy", "no_subscriber"):
                raise
        await asyncio.sleep(0.01)


def open_client(admin: TokenAdmin, **rights: list[str]) -> Connecting:
    """Gives each its own connection, as if it were its own process, and tokens as long as it lives."""

    async def token_provider() -> IssuedToken:
        return await admin.issue(
            created_by="workers", expires_in=15 * 60, grants=[Grant(tenants=[TENANT], **rights)]
        )

    return connect(EDGE, token_provider=token_provider)


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(), 60))
