"""Takes the place of model.py in examples/python/streaming: stops in the middle of an
answer, says so, and goes on at the signal SIGUSR1."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

from stand_in import model as whole  # model.py by another name

PIECES = 20  # before the pause


async def model(question: str) -> AsyncIterator[str]:
    number = 0
    async for piece in whole(question):
        if number == PIECES:
            go_on = asyncio.Event()
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, go_on.set)
            print("the model pauses", flush=True)
            await go_on.wait()
        number += 1
        yield piece
