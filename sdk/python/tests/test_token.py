"""Tokens, and their provider."""

from __future__ import annotations

import asyncio
import datetime
import math
import time
from typing import Any

import pytest

from millrace import (
    AccessToken,
    IssuedToken,
    LoggedOut,
    MillraceError,
    TokenAdmin,
    _searcher,
    connect,
    events,
)
from millrace._token import renew_after

from .edge import Edge, edges, everything
from .fixture import refuses, tried


def test_when_a_token_is_renewed() -> None:
    for life, early, want in (
        (100, 0, 90),
        (100, 1, 80),
        (40, 0, 35),
        (10, 0, 5),
        (10, 1, 4),
        (4, 0, 3.6),
        (0, 1, 0),
        (math.inf, 0.5, math.inf),
    ):
        assert renew_after(life, early) == pytest.approx(want)


class Provider:
    """Gives what a test says, or raises it; the last one over and over."""

    def __init__(self, *answers: object) -> None:
        self.answers = [*answers]
        self.calls: list[float] = []
        self.called = asyncio.Event()

    async def __call__(self) -> Any:
        self.calls.append(time.monotonic())
        self.called.set()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def in_(seconds: float) -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "token",
    [
        lambda: AccessToken("AT_1", expires_in=1.2),
        lambda: AccessToken("AT_1", expires_in=datetime.timedelta(seconds=1.2)),
        lambda: AccessToken("AT_1", expires_at=in_(1.2)),
        lambda: AccessToken("AT_1", expires_at=time.time() + 1.2),
        lambda: AccessToken("AT_1", expires_at=time.time() - 3600, expires_in=1.2),
        # What an edge answers, what TokenAdmin of this SDK and of the one for TypeScript gives, and JSON of a backend.
        lambda: {"token": "AT_1", "token_id": "1", "expires_at": "2030-01-31T12:00:00Z", "expires_in": 1.2},
        lambda: IssuedToken(token="AT_1", token_id="1", expires_at=in_(3600), expires_in=2, clamped=True),
        lambda: {
            "token": "AT_1",
            "tokenId": "1",
            "expiresAt": "2030-01-31T12:00:00Z",
            "expiresIn": 2,
            "clamped": True,
        },
        lambda: {"token": "AT_1", "expiresIn": "0h2s", "expires_in": None, "expires_at": None},
        lambda: {"token": "AT_1", "expires_at": in_(2).isoformat()},
    ],
)
async def test_a_new_token_in_time(token: type[AccessToken]) -> None:
    """The client moves, on the same edge."""
    async with edges(1) as (edge,), tried(edge.url, token_provider=Provider(token(), "AT_2")) as it:  # type: ignore[call-arg]
        await it.client.subscribe("t", "c")
        assert await it.event("moving") == events.Moving(edge.url, "websocket", "token")
        assert (await it.event("moved")).edge == edge.url
        assert [peer.token for peer in edge.peers.all] == ["AT_1", "AT_2"]


async def test_the_same_token_again() -> None:
    provider = Provider(AccessToken("AT_1", expires_in=1.2), "AT_1")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        provider.called.clear()
        await provider.called.wait()
        await it.client.flush()
        assert it.events.names == ["connected"]
        assert len(edge.peers.all) == 1


async def test_a_provider_that_fails_is_asked_again() -> None:
    """Once a second at most, counted from the end of the last call."""
    cause = RuntimeError("no AT_0123 there")
    provider = Provider(AccessToken("AT_1", expires_in=4), cause, cause, "AT_2")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        told = await it.event("edge_error")
        assert (told.code, told.cause) == ("token_provider", cause)
        assert told.detail == "the token provider failed: RuntimeError: no … there"
        await it.event("moved")
        pauses = [b - a for a, b in zip(provider.calls, provider.calls[1:], strict=False)]
        assert min(pauses) >= 0.99


async def test_token_expired() -> None:
    """The provider is asked."""
    provider = Provider("AT_1", "AT_2")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        (await edge.peer(0)).send("ERR:token_expired")
        assert (await it.event("disconnected")).error.code == "token_expired"
        await it.event("reconnected")
        assert (await edge.peer(1)).token == "AT_2"


async def test_a_token_that_is_refused_when_the_client_comes_back() -> None:
    provider = Provider("AT_1", "AT_2")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        edge.refusal, edge.accepted = (401, "unauthorized"), "AT_2"
        (await edge.peer(0)).kill()
        await it.event("reconnected")
        assert edge.refusals.all == ["AT_1"]


async def test_renewing_while_the_provider_is_asked() -> None:
    """What it was asked before may be older than the reason to renew."""
    asked: asyncio.Queue[asyncio.Future[str]] = asyncio.Queue()
    first = True

    async def provider() -> str:
        nonlocal first
        if first:
            first = False
            return "AT_1"
        answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        asked.put_nowait(answer)
        return await answer

    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        renewals = [asyncio.create_task(it.client.renew_token())]
        before = await asked.get()
        renewals += [asyncio.create_task(it.client.renew_token()) for _ in range(2)]
        await asyncio.sleep(0)
        before.set_result("AT_1")
        (await asked.get()).set_result("AT_2")
        await asyncio.gather(*renewals)
        assert asked.empty()
        assert (await it.event("moved")).reason == "token"


async def test_a_provider_with_a_stale_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked again, with back-off; the client ends after five refusals, and not before a minute."""
    provider = Provider("AT_1")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        edge.refusal, edge.accepted = (401, "unauthorized"), "AT_2"
        (await edge.peer(0)).kill()
        told = await it.event("edge_error", 1)
        assert (told.code, told.detail[:34]) == ("unauthorized", "the edge does not accept the token")
        provider.answers[0] = "AT_2"
        await it.event("reconnected")

        step = 16.0
        refusals = len([name for name in it.events.names if name == "edge_error"])
        monkeypatch.setattr(
            _searcher,
            "now",
            lambda: time.monotonic() + step * len([n for n in it.events.names if n == "edge_error"]),
        )
        edge.accepted = "AT_3"
        (await edge.peer(1)).kill()
        error = await it.client.closed()
        assert error is not None
        assert error.code == "unauthorized"
        assert len([name for name in it.events.names if name == "edge_error"]) == refusals + 5


async def test_token_expired_and_the_provider_fails() -> None:
    provider = Provider("AT_1", RuntimeError("no"), "AT_2")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        (await edge.peer(0)).send("ERR:token_expired")
        assert (await it.event("edge_error")).code == "token_provider"
        await it.event("reconnected")


async def test_providers_that_fail_at_first() -> None:
    async def never() -> str:
        await asyncio.Event().wait()
        return ""

    async with edges(1) as (edge,):
        for provider in (
            Provider(RuntimeError("no")),
            Provider("not a token"),
            Provider(AccessToken("AT_1", expires_at=datetime.datetime.now())),  # without a zone
            Provider(AccessToken("AT_1", expires_in=-1)),
            Provider({"token": "AT_1", "expires": 60}),  # unknown members are refused
            Provider({"access_token": "AT_1"}),
            Provider({"token": "AT_1", "expires_in": 0}),
            Provider({"token": "AT_1", "expires_in": "1d"}),
            Provider({"token": "AT_1", "expires_at": "soon"}),
            Provider({}),
            Provider(None),
        ):
            with refuses("token_provider"):
                await connect(edge.url, token_provider=provider, fail_fast=True)
        with refuses("token_provider"):
            await connect(edge.url, token_provider=never, connect_timeout=0.05, fail_fast=True)
        asking = asyncio.create_task(_connected(edge, never))
        await asyncio.sleep(0.05)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert edge.peers.all == []


async def _connected(edge: Edge, provider: object) -> None:
    await connect(edge.url, token_provider=provider)  # type: ignore[arg-type]


async def test_a_plain_function() -> None:
    async with edges(1) as (edge,), tried(edge.url, token_provider=lambda: "AT_5"):
        assert (await edge.peer(0)).token == "AT_5"


async def test_a_token_of_the_admin() -> None:
    issued = IssuedToken(
        token="AT_6",
        token_id="6",
        expires_at=datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1),
    )
    async with edges(1) as (edge,), tried(edge.url, token_provider=lambda: issued):
        assert (await edge.peer(0)).token == "AT_6"


async def test_renew_token() -> None:
    provider = Provider("AT_1", "AT_1", "AT_2", RuntimeError("no"), LoggedOut("bye"))
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        await asyncio.gather(it.client.renew_token(), it.client.renew_token())  # one call
        assert len(provider.calls) == 2
        assert it.events.names == ["connected"]
        await it.client.renew_token()
        assert (await it.event("moving")).reason == "token"
        await it.event("moved")
        with refuses("token_provider"):
            await it.client.renew_token()
        assert (await it.event("edge_error")).code == "token_provider"
        with refuses("logged_out"):
            await it.client.renew_token()
        error = await it.client.closed()
        assert error is not None
        assert error.code == "logged_out"
        assert isinstance(error.__cause__, LoggedOut)
        with refuses("closed"):
            await it.client.renew_token()
        pauses = [b - a for a, b in zip(provider.calls, provider.calls[1:], strict=False)]
        assert min(pauses) >= 0.99
    async with edges(1) as (edge,), tried(edge.url) as it:
        with refuses("bad_option"):
            await it.client.renew_token()


@pytest.mark.parametrize("when", ["connecting", "reconnecting", "moving"])
async def test_logged_out(when: str) -> None:
    class LeftError(LoggedOut):
        pass

    left = LeftError("bye")
    async with edges(1) as (edge,):
        if when == "connecting":
            with refuses("logged_out") as caught:
                await connect(edge.url, token_provider=Provider(left))
            assert caught.value.__cause__ is left
            return
        first = "AT_1" if when == "reconnecting" else AccessToken("AT_1", expires_in=1.2)
        async with tried(edge.url, token_provider=Provider(first, left)) as it:
            sub = await it.client.subscribe("t", "c")
            if when == "reconnecting":
                (await edge.peer(0)).send("ERR:token_expired")
            error = await it.client.closed()
            assert error is not None
            assert (error.code, error.__cause__) == ("logged_out", left)
            assert await sub.ended() is error
            assert "edge_error" not in it.events.names


async def test_a_new_token_that_is_revoked_at_once_ends_the_client() -> None:
    provider = Provider(AccessToken("AT_1", expires_in=1.2), "AT_2")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        await it.client.subscribe("t", "c")
        edge.answers = lambda line: line == "PING"
        second = await edge.peer(1)
        await second.until("SUB:t:c")
        second.revoke()
        error = await it.client.closed()
        assert error is not None
        assert error.code == "token_revoked"


async def test_the_old_token_is_revoked_during_the_move() -> None:
    provider = Provider(AccessToken("AT_1", expires_in=1.2), "AT_2")
    async with edges(1) as (edge,), tried(edge.url, token_provider=provider) as it:
        await it.client.subscribe("t", "c")
        edge.answers = lambda line: line == "PING"
        await (await edge.peer(1)).until("SUB:t:c")
        edge.answers = everything
        (await edge.peer(0)).revoke()
        assert (await it.event("disconnected")).error.code == "token_revoked"
        await it.event("reconnected")


@pytest.mark.parametrize("token", ["AT_s3cret\n", "AT_s3cret\r\n", "\tAT_s3cret", " "])
async def test_a_token_as_it_is_read_from_a_file(token: str) -> None:
    for options, code in (
        ({"token": token}, "bad_option"),
        ({"token_provider": lambda: token}, "token_provider"),
    ):
        with pytest.raises(MillraceError, match=rf"{code}: .*white space at its beginning or end") as caught:
            await connect("http://127.0.0.1:9", **options)
        assert "s3cret" not in str(caught.value)
    with pytest.raises(MillraceError, match=r"bad_option: .*white space at its beginning or end"):
        TokenAdmin("http://127.0.0.1:9", token)
