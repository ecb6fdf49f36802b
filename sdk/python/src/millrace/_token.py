"""Holds the token, and asks the provider for the next one in time."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import inspect
import math
import random
import re
import time
from collections.abc import Callable, Mapping

from ._admin_types import IssuedToken
from ._admin_types import time as read_time
from ._handlers import Handlers
from ._secrets import checked_token
from ._timers import back_off, limited, now
from .errors import LoggedOut, MillraceError, bad_option, reason
from .options import AccessToken, Settings

_LEAST = 1.0  # seconds between two calls of the provider
_LONGEST = 86_400.0  # of a timer
CLOSED = MillraceError("closed", "the client has been closed")


def renew_after(life: float, early: float) -> float:
    """Say how many seconds after it came a token that is good for life seconds is renewed.

    early, from 0 to 1, spreads the renewals of many clients over a tenth of its life.
    """
    if life == math.inf:
        return life
    return max(0.0, min(life * 0.9, life - 5 if life > 5 else life) - early * life / 10)


class TokenSource:
    """The token of one client."""

    def __init__(
        self,
        s: Settings,
        handlers: Handlers,
        renewed: Callable[[], None],
        failed: Callable[[MillraceError], None],
    ) -> None:
        """renewed is called when the provider gave another token at its own time, or renew was called.

        failed is called when the provider fails later than at first, and when it says LoggedOut.
        """
        self._s = s
        self._handlers = handlers
        self._renewed = renewed
        self.failed = failed
        """Tells of a token that cannot be had, or that an edge does not accept."""
        self.token = s.token
        """The token that was given last."""
        self._expires = math.inf  # by the clock that does not go back
        self._asking: asyncio.Task[str | MillraceError] | None = None
        self._called = False  # the provider has been called for it
        self._timer: asyncio.TimerHandle | None = None
        self._asked = -math.inf  # when the last call of the provider ended
        self._failures = 0
        self._over = False

    @property
    def provided(self) -> bool:
        return self._s.token_provider is not None

    async def get(self) -> str:
        """Return the token; ask the provider if there is none that is good."""
        if self.token is not None and now() < self._expires:
            return self.token
        return await self.ask()

    async def ask(self) -> str:
        """Ask the provider. The error is `token_provider`, or `logged_out`."""
        asking = self._asking
        if asking is None:
            asking = self._asking = self._handlers.spawn(self._ask)
        await asyncio.wait({asking})
        result = CLOSED if asking.cancelled() else asking.result()
        if isinstance(result, str):
            return result
        raise result.again()

    async def renew(self) -> None:
        """Ask the provider; tell if it gave another token.

        A call that is under way may be older than the reason to renew: it is asked once more.
        """
        if self._called and self._asking is not None:
            await asyncio.wait({self._asking})
        before = self.token
        if await self.ask() != before:
            self._renewed()

    async def _ask(self) -> str | MillraceError:
        try:
            await asyncio.sleep(max(0.0, self._asked + _LEAST - now()))
            self._cancel_timer()
            return await self._call()
        except MillraceError as error:
            self._asking = None  # the end, which may follow, has nothing to cancel
            if error.code != "logged_out" and -math.inf < self._expires < math.inf:
                self._failures += 1
                self._wait(max(self._s.min_back_off, back_off(self._failures + 1, self._s)))
            if not self._over and (self.token is not None or error.code == "logged_out"):
                self.failed(error)
            return error
        finally:
            self._asking = None

    async def _call(self) -> str:
        provider = self._s.token_provider
        if provider is None:
            raise bad_option("there is no token provider")
        try:
            self._called = True
            given = provider()
            if inspect.isawaitable(given):
                given = await limited(given, self._s.connect_timeout)
            token = as_token(given)
            value = checked_token(token.token)
            life = _life(token)
        except LoggedOut as err:
            said = f": {reason(err)}" if str(err) else ""
            raise MillraceError("logged_out", f"the token provider says so{said}", cause=err) from err
        except asyncio.TimeoutError as err:
            text = f"no token came within {self._s.connect_timeout:g} s (connect_timeout)"
            raise MillraceError("token_provider", text, cause=err) from err
        except Exception as err:
            said = err.text if isinstance(err, MillraceError) else f"{type(err).__name__}: {reason(err)}"
            raise MillraceError("token_provider", f"the token provider failed: {said}", cause=err) from err
        finally:
            self._asked, self._called = now(), False
        self.token = value
        self._expires = now() + life
        self._failures = 0
        self._wait(max(_LEAST, renew_after(life, random.random())))  # noqa: S311
        return value

    def _wait(self, seconds: float) -> None:
        """Renew the token after a time, if anything is known of its expiry."""
        if self._over or seconds == math.inf:
            return
        loop = asyncio.get_running_loop()
        if seconds > _LONGEST:
            self._timer = loop.call_later(_LONGEST, self._wait, seconds - _LONGEST)
        else:
            self._timer = loop.call_later(seconds, self._due)

    def _due(self) -> None:
        async def renew() -> None:
            with contextlib.suppress(MillraceError):  # told, and asked again while there is time
                await self.renew()

        self._handlers.spawn(renew)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def expire(self) -> None:
        """An edge takes the token for expired: get asks the provider."""
        if self.provided:
            self._expires = -math.inf

    def stop(self) -> None:
        """Ask no more."""
        self._over = True
        self._cancel_timer()
        if self._asking is not None:
            self._asking.cancel()


def as_token(given: object) -> AccessToken:
    """Return what a provider gives as a token. The error is `bad_option`."""
    if isinstance(given, AccessToken):
        return given
    if isinstance(given, IssuedToken):
        return AccessToken(given.token, given.expires_at, given.expires_in)
    if isinstance(given, str):
        return AccessToken(given)
    if not isinstance(given, Mapping):
        what = "nothing" if given is None else f"a {type(given).__name__}"
        if callable(getattr(given, "json", None)):
            what += ", the response of its request: let it return response.json()"
        raise bad_option(
            f"it gave {what}; it has to give a str, an AccessToken, an IssuedToken, or what an edge answered"
        )
    for name in given:
        if name not in _MEMBERS:
            shown = repr(name)[:34]
            raise bad_option(f"its answer has {shown}, which nobody reads: allowed are {', '.join(_MEMBERS)}")
    within, at = (
        given.get(camel) if given.get(camel) is not None else given.get(snake)
        for camel, snake in (("expiresIn", "expires_in"), ("expiresAt", "expires_at"))
    )
    if isinstance(within, str):
        parts = _DURATION.fullmatch(within)
        if parts is None:
            raise bad_option('expires_in is seconds, or hours, minutes and seconds such as "1h30m" or "90s"')
        within = sum(int(part or 0) * unit for part, unit in zip(parts.groups(), (3600, 60, 1), strict=True))
    return AccessToken(given.get("token", ""), read_time(at) if isinstance(at, str) else at, within)


_DURATION = re.compile(r"(?=.)(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)

# What an edge answers to get-token, and what TokenAdmin of any SDK returns, also as JSON.
_MEMBERS = ("token", "expires_in", "expiresIn", "expires_at", "expiresAt", "token_id", "tokenId", "clamped")


def _life(token: AccessToken) -> float:
    """Return for how long a token is good, in seconds."""
    within, at = token.expires_in, token.expires_at
    if within is not None:
        try:
            seconds = within.total_seconds() if isinstance(within, datetime.timedelta) else float(within)
        except (TypeError, ValueError):
            raise bad_option(f"expires_in must be a number of seconds, and not {within!r:.40}") from None
        if math.isnan(seconds) or seconds <= 0:
            raise bad_option(f"expires_in must be above zero, and not {seconds:g}")
        return seconds
    if at is None:
        return math.inf
    if isinstance(at, datetime.datetime):
        if at.tzinfo is None:
            raise bad_option("expires_at needs a time zone")
        at = at.timestamp()
    day = float(at)
    if math.isnan(day):
        raise bad_option("expires_at is no time")
    # In the past: this machine's clock is wrong, and the edge knows better.
    left = day - time.time()
    return left if left > 0 else math.inf
