"""What goes wrong (docs/errors.md)."""

from __future__ import annotations

import re

__all__ = ["LoggedOut", "MillraceError"]


def printable(text: str) -> str:
    """Return a text, perhaps of a server, without control characters, which a terminal would obey."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text)


class MillraceError(Exception):
    """The error of everything in this package, except for what an application's own functions raise.

    Compare ``code``: it is one of docs/errors.md, and later edges may send others. The text may change. No text holds a token.
    """

    code: str
    """What went wrong, for programs."""
    text: str
    """What went wrong, for people."""
    tenant: str | None
    pattern: str | None
    channel: str | None
    status: int | None
    """The HTTP status of a refusal."""
    close_code: int | None
    """The close code of the connection."""
    retry_after: float
    """How many seconds the edge asks to wait; 0: it does not say."""
    connection_id: str | None
    """Of a handshake that was refused, for support: operators of the edge find by it why."""

    def __init__(
        self,
        code: str,
        text: str = "the edge refuses it",
        *,
        tenant: str | None = None,
        pattern: str | None = None,
        channel: str | None = None,
        status: int | None = None,
        close_code: int | None = None,
        retry_after: float = 0.0,
        connection_id: str | None = None,
        cause: BaseException | None = None,
    ) -> None:
        if code == "unreachable" and cause is not None:
            text += f": {reason(cause)}"
        code, text = printable(code), printable(text)
        super().__init__(code, text)
        self.code = code
        self.text = text
        self.tenant = tenant
        self.pattern = pattern
        self.channel = channel
        self.status = status
        self.close_code = close_code
        self.retry_after = retry_after
        self.connection_id = connection_id
        if cause is not None:
            self.__cause__ = cause

    def __str__(self) -> str:
        about = [
            f"{name} {value!r}"
            for name, value in (
                ("tenant", self.tenant),
                ("pattern", self.pattern),
                ("channel", self.channel),
                ("connection id", self.connection_id),
            )
            if value is not None
        ]
        return f"{self.code}: {self.text}" + (f" ({', '.join(about)})" if about else "")

    def again(self) -> MillraceError:
        """Return a copy to raise: an exception that is raised twice collects the tracebacks of both."""
        copy = MillraceError(
            self.code,
            self.text,
            tenant=self.tenant,
            pattern=self.pattern,
            channel=self.channel,
            status=self.status,
            close_code=self.close_code,
            retry_after=self.retry_after,
            connection_id=self.connection_id,
        )
        copy.__cause__ = self.__cause__  # the text has it
        return copy


class LoggedOut(Exception):  # noqa: N818 (the name that the other SDKs have)
    """A token provider raises it to end the client at once, with the error ``logged_out``."""


def reason(cause: BaseException) -> str:
    """Return what a cause says, or is. It has no token, as far as we know."""
    return re.sub(r"[AM]T_[\w.~+-]+", "…", (str(cause) or type(cause).__name__)[:300])


def as_error(err: BaseException, code: str, text: str) -> MillraceError:
    """Make a MillraceError of whatever was raised."""
    return err if isinstance(err, MillraceError) else MillraceError(code, text, cause=err)


def own_fault(err: BaseException) -> MillraceError:
    """Make a MillraceError of what no code should raise."""
    text = f"a fault of this client: {type(err).__name__}: {reason(err)}"
    return err if isinstance(err, MillraceError) else MillraceError("internal", text, cause=err)


_DISCONNECTED = (
    "there is no connection to an edge now; the client looks for one: publish again after the event reconnected, "
    "or with confirm=True and a key, which waits for it"
)


def disconnected(cause: BaseException | None = None) -> MillraceError:
    """Return the error of what needs a connection."""
    return MillraceError("disconnected", _DISCONNECTED, cause=cause)


def bad_option(text: str) -> MillraceError:
    """Return the error of an address or option that is not legal."""
    return MillraceError("bad_option", text)
