"""An edge for tests of applications, and with pytest a fixture that has one.

With ``pip install millrace-client[testing]``, pytest has the fixture `millrace_edge`, one edge for all tests of a run:

    async def test_a_page_says_hello(millrace_edge):
        token = millrace_edge.token(subject="ann", publish=["chat.#"], subscribe=["chat.#"])
        async with millrace.connect(millrace_edge.url, token=token) as client:
            ...

The edge is the program ``millrace``: that of the variable MILLRACE_BIN, or the one on the PATH. It keeps nothing.
"""

from __future__ import annotations

import datetime
import json
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ._admin_types import Grant, IssuedToken
from ._sync_admin import TokenAdmin

__all__ = ["Edge", "EdgeError"]

_START = 30.0  # seconds; it takes less than one where nothing else runs
_STOP = 10.0
_SHOWN = 2000  # characters of what a program said that did not start


class EdgeError(Exception):
    """The edge of tests cannot be started; the text says what to do."""


@dataclass(frozen=True)
class Edge:
    """An edge that runs until `stop`, or until the end of its ``with`` block. Any thread may call it."""

    url: str
    """Where clients connect, such as ``http://localhost:40123``."""
    https_url: str
    """The same for WebTransport and TLS, with a certificate of the authority in ca_file."""
    ca_file: Path
    tenant: str
    """The tenant of tokens that name none."""
    master_token: str = field(repr=False)
    _process: subprocess.Popen[bytes] = field(repr=False)

    @classmethod
    def start(cls, program: str | None = None) -> Edge:
        """Start an edge, and return when clients can connect. The error is EdgeError."""
        found = program or os.environ.get("MILLRACE_BIN") or shutil.which("millrace")
        if not found:
            raise EdgeError(
                "no program millrace: set MILLRACE_BIN to it, or put it on the PATH; "
                "https://github.com/millrace/millrace/blob/main/docs/install.md says where it is, and "
                "`go build ./cmd/millrace` in a checkout builds it"
            )
        said = tempfile.TemporaryFile()  # noqa: SIM115 (closed below, when it is read)
        command = [found, "pubsub", "dev", "--json", "--port", "0", "--exit-with-stdin"]
        try:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said)  # noqa: S603
        except OSError as err:
            said.close()
            raise EdgeError(
                f"{found} cannot be started: {err.strerror}; look at MILLRACE_BIN and the PATH"
            ) from err
        late = threading.Timer(_START, process.kill)
        late.start()
        try:
            assert process.stdout is not None  # noqa: S101 (a pipe)
            line = process.stdout.readline()
            ready = json.loads(line) if line.startswith(b"{") else None
        finally:
            late.cancel()
        if ready is None:
            with process:
                process.kill()
            raise EdgeError(f"{' '.join(command)} has not started: {_last(said) or 'it said nothing'}")
        said.close()
        return cls(
            url=ready["http"],
            https_url=ready["https"],
            ca_file=Path(ready["ca_file"]),
            tenant=ready["tenant"],
            master_token=ready["master_token"],
            _process=process,
        )

    def issue(
        self,
        *,
        tenant: str | None = None,
        publish: Iterable[str] = ("#",),
        subscribe: Iterable[str] = ("#",),
        history: Iterable[str] | None = None,
        presence: Iterable[str] | None = None,
        subject: str | None = None,
        info: Mapping[str, Any] | None = None,
        expires_in: datetime.timedelta | float = 3600,
        grants: Iterable[Grant] = (),
        **options: Any,
    ) -> IssuedToken:
        """Issue an access token for *tenant*, by default that of the edge, which may do everything there.

        *history* and *presence* are what *subscribe* is, unless they are given. *grants* come in place of *tenant* and
        the four lists. What else TokenAdmin.issue takes are *options*.
        """
        rules = [*subscribe]
        own = Grant(
            tenants=[tenant or self.tenant],
            publish=[*publish],
            subscribe=rules,
            history=rules if history is None else [*history],
            presence=rules if presence is None else [*presence],
        )
        return self.admin.issue(
            created_by="tests",
            grants=[*grants] or [own],
            subject=subject,
            info=info,
            expires_in=expires_in,
            **options,
        )

    def token(self, **rights: Any) -> str:
        """Issue an access token, and return it alone: see `issue`."""
        return self.issue(**rights).token

    @property
    def admin(self) -> TokenAdmin:
        """What issues, lists and revokes tokens of this edge: that of millrace.sync."""
        return TokenAdmin(self.url, self.master_token)

    def channel(self, prefix: str = "test") -> str:
        """Return the name of a channel that no other test has: tests of one run share the edge."""
        return f"{prefix}.{secrets.token_hex(8)}"

    def stop(self) -> None:
        """Stop the edge, and wait until it has ended. What it kept is removed. Twice is once."""
        with self._process as process:
            if process.stdin is not None:
                process.stdin.close()
            try:
                process.wait(_STOP)
            except subprocess.TimeoutExpired:
                process.kill()

    def __enter__(self) -> Edge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, err: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def _last(said: IO[bytes]) -> str:
    with said:
        said.seek(0)
        return said.read().decode("utf-8", "replace").strip()[-_SHOWN:]
