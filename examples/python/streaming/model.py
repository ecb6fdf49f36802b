"""Stands for a language model: put yours in its place."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from pathlib import Path

TEXT = (Path(__file__).parent / "answer.txt").read_text()


async def model(question: str) -> AsyncIterator[str]:
    """Gives an answer in small pieces, as fast as one thinks."""
    for word in f"You asked: {question}\n\n{TEXT}".split(" "):
        await asyncio.sleep(random.uniform(0.02, 0.08))
        yield word + " "
