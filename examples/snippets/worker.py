"""Does jobs."""

import asyncio
import os

import millrace


async def main() -> None:
    async with millrace.connect("http://localhost:8080", token=os.environ["MILLRACE_TOKEN"]) as client:
        jobs = await client.subscribe("demo.room", "jobs.*")
        print("waiting for jobs", flush=True)
        async for job in jobs:
            print(job.channel, job.text(), flush=True)


asyncio.run(main())
