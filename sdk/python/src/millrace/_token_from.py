"""Token providers for clients whose backend has a token endpoint."""

from __future__ import annotations

import json
import ssl as tls
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ._address import parse_address
from ._http import request
from ._proxy import Proxies
from .errors import LoggedOut, MillraceError, bad_option, printable

__all__ = ["token_from"]

_LIMIT = 64 << 10  # bytes of an answer
_SHOWN = 300  # characters of the endpoint's own text


def token_from(
    url: str,
    *,
    headers: Mapping[str, str] | Callable[[], Mapping[str, str]] | None = None,
    timeout: float = 10,
    allow_plaintext: bool = False,
    ssl: tls.SSLContext | None = None,
    proxy: str | None = None,
) -> Callable[[], Awaitable[Mapping[str, Any]]]:
    """Return a token provider that asks a backend: ``connect(…, token_provider=token_from(url))``.

    It sends a POST to *url*, such as ``https://app.example.com/token``, and takes what the edge has answered
    to get-token, or what TokenAdmin.issue gives, as JSON. *headers*, or a function that gives them, say who the
    user is. 401 and 403 mean that there will be no token any more: the client ends with ``logged_out``. After
    anything else, and *timeout* seconds without an answer, the client asks again. The errors have the text of
    the endpoint. *allow_plaintext* allows ``http:`` to other machines than this one; *ssl* and *proxy* are as
    connect has them. millrace.sync takes it, too.
    """
    address = parse_address(url, allow_plaintext, "a token endpoint")
    if headers is not None and not callable(headers) and not isinstance(headers, Mapping):
        raise bad_option("headers must be a mapping, or a function that returns one")
    proxies = Proxies(proxy)
    contexts = [ssl] if ssl is not None else []

    async def provide() -> Mapping[str, Any]:
        if address.secure and not contexts:
            contexts.append(tls.create_default_context())
        own = (headers() if callable(headers) else headers) or {}
        response = await request(
            "POST",
            address,
            address.path or "/",
            timeout=timeout,
            limit=_LIMIT,
            ssl=contexts[0] if address.secure else None,
            proxies=proxies,
            headers={"Accept": "application/json", "Cache-Control": "no-store", "Content-Length": "0", **own},
        )
        text = response.body.decode("utf-8", "replace").strip()
        if response.status in (401, 403):
            raise LoggedOut(f"{url} answers {response.status}: {_shown(text)}")
        kind = response.headers.get_content_type()
        if not 200 <= response.status < 300:
            raise MillraceError(
                "token_provider", f"{url} answers {response.status}: {_shown(text)}", status=response.status
            )
        try:
            given = json.loads(text)
        except ValueError:
            given = None
        if not isinstance(given, dict):
            what = "a page, such as that of a login" if kind == "text/html" else f"no JSON object, but {kind}"
            raise MillraceError(
                "token_provider", f"{url} answers {what}: it has to give token and expires_in"
            )
        return given

    return provide


def _shown(text: str) -> str:
    return " ".join(printable(text).split())[:_SHOWN] or "nothing"
