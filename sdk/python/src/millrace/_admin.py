"""Tokens from a backend: the REST API of edges."""

from __future__ import annotations

import datetime
import inspect
import json
import logging
import re
import ssl as tls
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, NoReturn
from urllib.parse import quote, urlencode

from ._address import Address, parse_address
from ._admin_types import (
    Grant,
    IssuedToken,
    TokenInfo,
    check_scope,
    expiry,
    grant_body,
    in_our_words,
    names,
    number,
    table,
    text,
    time,
    token_info,
)
from ._http import request
from ._loud import Loud
from ._near import refuse_unknown
from ._proxy import Proxies
from ._refusal import MAX_PROBLEM, refusal
from ._secrets import checked_token
from .errors import MillraceError, bad_option
from .options import _number, listed

__all__ = ["TokenAdmin"]

_MAX_ANSWER = 64 << 20  # bytes: a page of 1,000 tokens with many grants each


class TokenAdmin:
    """Issues, refreshes, revokes and lists access tokens with a master token, which stays on servers.

    It calls the REST API of an edge, or of several that share their tokens: when one does not
    answer, or answers 502, 503, 504 or `read_only`, it asks the next one, and begins there the next time. An
    `issue` may then have been carried out by the one that did not answer, too: the second token is
    known to nobody, and expires. All methods may be used by several tasks at a time.

    The errors are MillraceErrors, with the code and the HTTP status of the edge's refusal, or
    `unreachable`, `timeout`, `bad_option` or `protocol`. The text of a refusal names the parameters of
    this class, such as `grants[0].subscribe[2]`.
    """

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
        """Prepare for calls to the edges at *urls*, such as ``https://edge.example.com``.

        *allow_plaintext* allows an ``http:`` address that is not on this machine: the master token
        would be readable on the way. *ssl* says which certificates to trust; by default, those
        that the system trusts. *timeout*, in seconds, is for each edge that is asked; 10 by default.
        *proxy* is the URL of a forward proxy, as connect has it. On *logger*, that of the name ``millrace`` by default,
        is said what an edge has issued in another way than it was asked for.
        """
        refuse_unknown("TokenAdmin", unknown, inspect.signature(TokenAdmin).parameters)
        self._edges = [
            parse_address(url, allow_plaintext) for url in ([urls] if isinstance(urls, str) else listed(urls))
        ]
        if not self._edges or any(edge.path for edge in self._edges):
            raise bad_option(
                "one or more addresses of edges are needed, which have no path, such as http://localhost:8080"
            )
        if ssl is not None and not isinstance(ssl, tls.SSLContext):
            raise bad_option("ssl must be an ssl.SSLContext")
        self._ssl = ssl
        self._token = checked_token(master_token, "MT")
        self._loud = Loud(logger)
        self._timeout = _number("timeout", timeout, 10)
        self._proxies = Proxies(proxy)
        self._first = 0  # index of the edge to ask first: that which answered last

    def __repr__(self) -> str:
        return f"TokenAdmin({', '.join(edge.origin for edge in self._edges)})"

    async def issue(
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
        """Issue an access token.

        It expires after *expires_in*, a timedelta or seconds, at least 1: a fraction is cut off, and more than 24
        hours means 24 hours. Or it expires at *expires_at*, a time with its zone, at most 24 hours ahead by the
        clock of the edge. *subject* says whose the token is, by any id of the application's, 1 to
        128 bytes without control characters, and None if it is nobody's: subscribers see it as the sender of a
        message, and who is present has its name. *info* is about the subject, for operators and hooks, and for
        those who may see that it is present: at most 1,024 bytes as JSON. Empty *ip_masks*, *regions*, *origins*
        (of web pages) and *protocols* (``websocket``, ``webtransport``) limit nothing.
        *ingress_kbps* and *egress_kbps* are caps of each connection in units of 1,024 bytes a second; 0: the
        edge's default.

        The rules of *history* must lie within those of *subscribe* for the same tenants. Those of *presence* need not:
        that is said on the logger.
        """
        refuse_unknown("issue", unknown, inspect.signature(TokenAdmin.issue).parameters)
        if subject == "":  # not like none: revoke_subject would not find the token
            raise bad_option("a subject is not empty: leave it out if the token is nobody's")
        if subject is not None and len(str(subject).encode("utf-8", "replace")) > 128:
            raise bad_option(
                f"a subject has 1 to 128 bytes, and this one {len(str(subject).encode())}: use an id"
            )
        if info is not None and not isinstance(info, Mapping):
            raise bad_option(f"info must be a mapping, and is {type(info).__name__}")
        grants = listed(grants)
        if not grants:
            raise bad_option(
                'grants is empty: one or more are needed, such as [Grant(tenants=["room"], publish=["#"])]'
            )
        end = expiry(expires_in, expires_at)
        right: dict[str, Any] = {
            "tenant_grants": [grant_body(grant) for grant in grants],
            "allow_ip_masks": names("ip_masks", ip_masks),
            "allow_regions": names("regions", regions),
            "allowed_ws_origin": names("origins", origins),
            "allow_protocols": names("protocols", protocols),
            "ingress_kb_per_sec": ingress_kbps,
            "egress_kb_per_sec": egress_kbps,
            **end,
        }
        for text_of_it in check_scope(grants):
            self._loud.once("issue", "permission_denied", text_of_it)
        body = {
            "created_by": created_by,
            "description": description,
            "subject": subject,
            "info": None if info is None else dict(info),
            "right": {key: value for key, value in right.items() if value or key == "tenant_grants"},
        }
        answer = await self._call(
            "POST", "/v1/get-token", {key: value for key, value in body.items() if value or value == {}}
        )
        granted = number(answer["expires_in"]) if "expires_in" in answer else None
        asked = int(end.get("expires_in", 0))
        if granted is not None and granted < asked:
            text_of_it = (
                f"a token for {asked} s was issued for {granted} s: no token lives for more than 24 hours"
            )
            self._loud.once("issue", "expires_at_out_of_range", text_of_it)
        return IssuedToken(
            token=text(answer.get("token")),
            token_id=text(answer.get("token_id")),
            expires_at=time(answer.get("expires_at")),
            expires_in=granted,
            clamped=granted is not None and granted < asked,
        )

    async def refresh(
        self,
        token_id: str,
        *,
        expires_in: datetime.timedelta | float | None = None,
        expires_at: datetime.datetime | None = None,
    ) -> datetime.datetime:
        """Prolong a valid token, by its id; open connections go on. Return when it expires now."""
        body = {"token_id": token_id, **expiry(expires_in, expires_at)}
        return time((await self._call("PUT", "/v1/refresh-token", body)).get("new_expires_at"))

    async def revoke(self, token: str) -> None:
        """Revoke a token, in full: its connections end within a second. A token that has ended is no error."""
        if isinstance(token, str) and re.fullmatch("[0-9a-f]{32}", token):
            raise bad_option(
                "this is the id of a token: revoke_by_id takes it, and revoke the token itself (AT_…)"
            )
        await self._call("DELETE", "/v1/revoke-token", {"token": token})

    async def revoke_by_id(self, token_id: str) -> None:
        """Revoke a token by its id, which issue and list give; as revoke."""
        if not isinstance(token_id, str) or not re.fullmatch("[0-9a-f]+", token_id):
            raise bad_option("the id of a token consists of hex digits: revoke takes the token itself")
        await self._call("DELETE", f"/v1/tokens/{token_id}")

    async def revoke_subject(self, subject: str) -> int:
        """Revoke all tokens of a subject that this master token manages.

        Return how many were valid until then: 0 is no error. All connections of the subject end within a
        second, also those with tokens that were issued while it ran. Later tokens are not concerned: issue
        none that the subject is not to have.
        """
        if not isinstance(subject, str) or not subject:
            raise bad_option("a subject is a string, and not empty")
        answer = await self._call("DELETE", f"/v1/tokens?{_query(subject=subject)}")
        return number(answer.get("revoked", "none"))

    async def list(
        self, *, tenant: str | None = None, subject: str | None = None, page_size: int | None = None
    ) -> AsyncIterator[TokenInfo]:
        """List the tokens that this master token manages, page by page as it is iterated.

        *tenant*: only those with a grant for this tenant. *subject*: only those of this subject. *page_size*:
        tokens for each call, from 1 to 1,000; 100 by default.
        """
        cursor = ""
        while True:
            tokens, cursor = await self.page(tenant, subject, page_size, cursor)
            for token in tokens:
                yield token
            if not cursor:
                return

    async def page(
        self, tenant: str | None, subject: str | None, page_size: int | None, cursor: str
    ) -> tuple[Sequence[TokenInfo], str]:
        """Return a page of the list, and the cursor of the next one; empty: it is the last."""
        encoded = _query(tenant=tenant, subject=subject, limit=page_size, cursor=cursor or None)
        page = await self._call("GET", f"/v1/tokens?{encoded}" if encoded else "/v1/tokens")
        tokens = page.get("tokens")
        if not isinstance(tokens, (list_type, tuple)):
            raise MillraceError("protocol", "the edge's answer is not understood")
        return [token_info(token) for token in tokens], text(page.get("next_cursor", ""))

    async def _call(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Make a REST call at the first edge that carries it out or refuses it."""
        try:
            # Not as escapes of ASCII: an edge would take a lone surrogate for another character.
            content = b"" if body is None else json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise bad_option("a text has a lone surrogate, which UTF-8 cannot hold") from None
        except (TypeError, ValueError):
            raise bad_option("the request cannot be written as JSON") from None
        first = self._first
        errors: list_type[MillraceError] = []
        for i in range(len(self._edges)):
            at = (first + i) % len(self._edges)
            try:
                answer = await self._ask(self._edges[at], method, path, content)
            except MillraceError as err:
                if not _may_work_elsewhere(err):
                    raise
                errors.append(err)
            else:
                self._first = at
                return answer
        # What an edge says, rather than that none answers.
        raise next((err for err in reversed(errors) if err.status is not None), errors[0]).again()

    async def _ask(self, edge: Address, method: str, path: str, content: bytes) -> dict[str, object]:
        if edge.secure and self._ssl is None:
            self._ssl = tls.create_default_context()
        headers = {"Authorization": f"Bearer {self._token}"}
        if content:
            headers["Content-Type"] = "application/json"
        response = await request(
            method,
            edge,
            path,
            timeout=self._timeout,
            limit=_MAX_ANSWER,
            ssl=self._ssl,
            proxies=self._proxies,
            headers=headers,
            body=content,
        )
        if response.status != 200:
            refused = refusal(
                response.status,
                response.headers.get("Retry-After"),
                response.body[:MAX_PROBLEM],
                f"{edge.origin}{path.partition('?')[0]}",
            )
            refused.text = in_our_words(refused.text)
            if refused.code == "expires_at_out_of_range":
                here = datetime.datetime.now(datetime.timezone.utc)
                refused.text += f"; here it is {here.isoformat(timespec='seconds')}"
            raise refused
        try:
            answer = json.loads(response.body)
        except ValueError:  # its text could quote the answer
            answer = None
        return table(answer)


list_type = list


def _query(**values: str | int | None) -> str:
    try:
        # A plus may mean itself or a space, and DELETE /v1/tokens refuses it.
        return urlencode(
            {name: value for name, value in values.items() if value is not None}, quote_via=quote
        )
    except UnicodeEncodeError:  # a lone surrogate
        raise bad_option("names must be text that can be encoded as UTF-8") from None


def _may_work_elsewhere(err: MillraceError) -> bool:
    """Say whether another edge may carry out what one did not."""
    if err.code == "read_only":
        return True
    return err.code in ("unreachable", "timeout") if err.status is None else err.status in (502, 503, 504)
