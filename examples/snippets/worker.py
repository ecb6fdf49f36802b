"""Does jobs. When it is told to stop, it does those that it has."""

import asyncio
import os
import signal

import millrace


async def main() -> None:
    async with millrace.connect("http://localhost:8080", token=os.environ["MILLRACE_TOKEN"]) as client:
        jobs = await client.subscribe("demo.room", "jobs.*", queue=10)
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, lambda: loop.create_task(jobs.drain()))
        print("waiting for jobs", flush=True)
        async for job in jobs:
            print(job.channel, job.json()["image"], flush=True)


asyncio.run(main())
