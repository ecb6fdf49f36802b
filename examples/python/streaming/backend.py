"""Streams the answers of a language model to pages, token by token.

A page asks by POST /answers, and gets the id of its answer. The backend publishes
each piece of the answer to a channel of its own, which the edge keeps: a page that
is reloaded in the middle reads the channel from its beginning, and misses nothing.
model.py stands for the model: it types a text.
"""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Response
from fastapi.staticfiles import StaticFiles
from millrace import Client, Grant, IssuedToken, TokenAdmin, connect
from model import model
from pydantic import BaseModel, Field

LISTEN = "localhost:3000"
EDGE = "http://localhost:8080"  # of make dev
TENANT = "demo.room"
FOR_15_MINUTES = timedelta(minutes=15)
AT_ONCE = 16  # answers that are written at a time; more are refused


class Question(BaseModel):
    text: str = Field(min_length=1, max_length=500)


class Answers:
    """The answers that are being written."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, question: str) -> str:
        """Begins to write an answer, and returns its id."""
        if len(self._tasks) >= AT_ONCE:
            raise HTTPException(503, "too many answers are being written", {"Retry-After": "5"})
        answer = secrets.token_hex(16)  # nobody guesses the channel of another page's answer
        task = asyncio.create_task(self._write(answer, question))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return answer

    async def _write(self, answer: str, question: str) -> None:
        number = 0

        async def publish(piece: dict[str, object]) -> None:
            nonlocal number
            number += 1
            # The key lets the SDK repeat a publish whose answer got lost: it is kept once.
            await self._client.publish(TENANT, channel(answer), piece, confirm=True, key=f"{number}")

        async for text in model(question):
            await publish({"text": text})
        await publish({"done": True})

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def channel(answer: str) -> str:
    return f"chat.answers.{answer}"  # make dev keeps chat.#


admin = TokenAdmin(EDGE, os.environ["MILLRACE_MASTER_TOKEN"])


async def own_token() -> IssuedToken:
    """A token for the backend itself: the client asks for the next one in time."""
    return await admin.issue(
        created_by="streaming",
        expires_in=FOR_15_MINUTES,
        grants=[Grant(tenants=[TENANT], publish=["chat.answers.*"])],
    )


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with connect(EDGE, token_provider=own_token) as client:
        app.state.answers = Answers(client)
        try:
            yield
        finally:
            await app.state.answers.close()


app = FastAPI(lifespan=lifespan)


def own_pages_only(sec_fetch_site: str | None) -> None:
    if sec_fetch_site != "same-origin":
        raise HTTPException(403, "for our own pages alone")


@app.post("/answers")
async def ask(question: Question, sec_fetch_site: str | None = Header(None)) -> dict[str, str]:
    own_pages_only(sec_fetch_site)
    return {"answer": app.state.answers.start(question.text)}


@app.post("/token")
async def token(response: Response, sec_fetch_site: str | None = Header(None)) -> dict[str, str | int | None]:
    """Gives a page a token. Your own login decides who gets one, and for what."""
    own_pages_only(sec_fetch_site)
    issued = await admin.issue(
        created_by="streaming",
        expires_in=FOR_15_MINUTES,
        grants=[Grant(tenants=[TENANT], subscribe=["chat.answers.?"], history=["chat.answers.?"])],
    )
    response.headers["Cache-Control"] = "no-store"
    return {"token": issued.token, "expires_in": issued.expires_in}


app.mount("/", StaticFiles(directory=Path(__file__).parent / "page/dist", html=True))

if __name__ == "__main__":
    host, port = LISTEN.split(":")
    uvicorn.run(app, host=host, port=int(port), access_log=False)
