"""Takes the place of model.py in examples/python/streaming: stops in the middle of an
answer until the test lets it go on, which closes the connection to its port."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator

from stand_in import model as whole  # model.py by another name

PIECES = 20  # before the pause


async def model(question: str) -> AsyncIterator[str]:
    number = 0
    async for piece in whole(question):
        if number == PIECES:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(os.environ["MODEL_PORT"]))
            await reader.read()
            writer.close()
        number += 1
        yield piece
