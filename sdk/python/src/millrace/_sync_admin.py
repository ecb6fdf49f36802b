"""TokenAdmin without asyncio."""

from __future__ import annotations

import datetime
import logging
import ssl as tls
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn, TypeVar

from ._admin import TokenAdmin as AsyncTokenAdmin
from ._admin_types import Grant, IssuedToken, TokenInfo
from ._thread import LoopThread

__all__ = ["TokenAdmin"]

T = TypeVar("T")


class TokenAdmin:
    """millrace.TokenAdmin, each of whose calls waits for its result."""

    def __init__(
        self,
        urls: str | Iterable[str],
        master_token: str,
        *,
        allow_plaintext: bool = False,
        ssl: tls.SSLContext | None = None,
        timeout: float = 0,
        proxy: str | None = None,
        logger: logging.Logger | None = None,
        **unknown: NoReturn,
    ) -> None:
        """Prepare for calls, with options as millrace.TokenAdmin has them."""
        self._admin = AsyncTokenAdmin(
            urls,
            master_token,
            allow_plaintext=allow_plaintext,
            ssl=ssl,
            timeout=timeout,
            proxy=proxy,
            logger=logger,
            **unknown,
        )

    def __repr__(self) -> str:
        return repr(self._admin)

    def issue(
        self,
        *,
        created_by: str,
        grants: Iterable[Grant],
        expires_in: datetime.timedelta | float | None = None,
        expires_at: datetime.datetime | None = None,
        description: str = "",
        subject: str | None = None,
        info: Mapping[str, Any] | None = None,
        ip_masks: Sequence[str] = (),
        regions: Sequence[str] = (),
        origins: Sequence[str] = (),
        protocols: Sequence[str] = (),
        ingress_kbps: int = 0,
        egress_kbps: int = 0,
        **unknown: NoReturn,
    ) -> IssuedToken:
        """Issue an access token."""
        return _run(
            lambda: self._admin.issue(
                created_by=created_by,
                grants=grants,
                expires_in=expires_in,
                expires_at=expires_at,
                description=description,
                subject=subject,
                info=info,
                ip_masks=ip_masks,
                regions=regions,
                origins=origins,
                protocols=protocols,
                ingress_kbps=ingress_kbps,
                egress_kbps=egress_kbps,
                **unknown,
            )
        )

    def refresh(
        self,
        token_id: str,
        *,
        expires_in: datetime.timedelta | float | None = None,
        expires_at: datetime.datetime | None = None,
    ) -> datetime.datetime:
        """Prolong a valid token, by its id; open connections go on. Return when it expires now."""
        return _run(lambda: self._admin.refresh(token_id, expires_in=expires_in, expires_at=expires_at))

    def revoke(self, token: str) -> None:
        """Revoke a token, in full: its connections end within a second. A token that has ended is no error."""
        _run(lambda: self._admin.revoke(token))

    def revoke_by_id(self, token_id: str) -> None:
        """Revoke a token by its id, which issue and list give; as revoke."""
        _run(lambda: self._admin.revoke_by_id(token_id))

    def revoke_subject(self, subject: str) -> int:
        """Revoke all tokens of a subject that this master token manages, and return how many were valid."""
        return _run(lambda: self._admin.revoke_subject(subject))

    def list(
        self, *, tenant: str | None = None, subject: str | None = None, page_size: int | None = None
    ) -> Iterator[TokenInfo]:
        """List the tokens that this master token manages, page by page as it is iterated."""
        cursor = ""
        while True:
            tokens, cursor = _run(partial(self._admin.page, tenant, subject, page_size, cursor))
            yield from tokens
            if not cursor:
                return


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a call in a thread of its own: it works where an event loop runs, too, and leaves nothing."""
    with LoopThread("millrace-admin") as thread:
        return thread.call(work)
