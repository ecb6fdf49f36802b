"""A pool of workers that take jobs from a producer: each job goes to one of them.

Nothing assigns jobs, counts workers or knows where they run. A job that is published
while no worker is subscribed is lost, and so is one whose worker dies: what must not
be lost needs a queue that stores.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack

from millrace import Connecting, Grant, IssuedToken, Message, TokenAdmin, connect

EDGE = "http://localhost:8080"  # of make dev
TENANT = "demo.room"
WORKERS = 4
JOBS = 100


async def main() -> None:
    admin = TokenAdmin(EDGE, os.environ["MILLRACE_MASTER_TOKEN"])
    async with AsyncExitStack() as stack:
        done = asyncio.Semaphore(0)
        for number in range(1, WORKERS + 1):
            client = await stack.enter_async_context(open_client(admin, subscribe=["jobs.*"]))

            def work(job: Message, number: int = number) -> None:
                print(f"worker {number} does {job.channel} {job.text()}")
                done.release()

            await client.subscribe(TENANT, "jobs.*", on_message=work)
        producer = await stack.enter_async_context(open_client(admin, publish=["jobs.*"]))
        for number in range(1, JOBS + 1):
            await producer.publish(TENANT, "jobs.resize", f"{number}.png", delivery="one-random")
        for _ in range(JOBS):
            await done.acquire()
        print(f"{JOBS} jobs done")


def open_client(admin: TokenAdmin, **rights: list[str]) -> Connecting:
    """Gives each its own connection, as if it were its own process, and tokens as long as it lives."""

    async def token_provider() -> IssuedToken:
        return await admin.issue(
            created_by="workers", expires_in=15 * 60, grants=[Grant(tenants=[TENANT], **rights)]
        )

    return connect(EDGE, token_provider=token_provider)


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(main(), 60))
