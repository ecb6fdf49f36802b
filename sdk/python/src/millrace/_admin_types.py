"""What TokenAdmin takes and gives."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from ._rules import contains
from .errors import MillraceError, bad_option

__all__ = ["Grant", "IssuedToken", "TokenInfo"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a token allows in some tenants."""

    tenants: Sequence[str]
    """Exact names."""
    publish: Sequence[str] = ()
    """Rules for channels that may be published to, such as ``chat.*`` or ``#``; none if left out."""
    subscribe: Sequence[str] = ()
    """Rules for patterns that may be subscribed to; none if left out."""
    history: Sequence[str] = ()
    """Rules for stored messages that may be read, of what may be subscribed to; none if left out."""
    presence: Sequence[str] = ()
    """Rules for patterns of channels in which may be seen who is present; none if left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token that was issued."""

    token: str
    """The secret, which is told only here."""
    token_id: str
    expires_at: datetime.datetime
    """By the clock of the edge."""
    expires_in: int | None = None
    """Seconds from the answer to then: pass these on, and not expires_at, which others read by other clocks.

    None: the edge is of an earlier version.
    """
    clamped: bool = False
    """The edge has cut the lifetime that was asked for to its limit."""

    def __repr__(self) -> str:
        return f"IssuedToken(token_id={self.token_id!r}, expires_in={self.expires_in!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """A token without its secret."""

    token_id: str
    created_by: str
    description: str
    subject: str
    """Whose it is; empty: it has none."""
    info: Mapping[str, Any] | None
    """About the subject."""
    created_at: datetime.datetime
    expires_at: datetime.datetime
    revoked_at: datetime.datetime | None
    status: str
    """``valid``, ``expired`` or ``revoked``."""
    master_id: str
    """The master token that issued it; empty: none, it was made at the edge."""
    grants: Sequence[Grant]
    """With the tenants as clients name them."""
    ip_masks: Sequence[str]
    """Empty, as are the next three, if there is no limit."""
    regions: Sequence[str]
    origins: Sequence[str]
    protocols: Sequence[str]
    ingress_kbps: int
    """In units of 1,024 bytes a second; 0: the edge's default."""
    egress_kbps: int


def expiry(
    expires_in: datetime.timedelta | float | None,
    expires_at: datetime.datetime | None,
) -> dict[str, int | str]:
    """Return an expiry as the REST API takes it: a lifetime needs no clock. The error is `bad_option`."""
    if (expires_in is None) == (expires_at is None):
        both = "not both" if expires_in is not None else "such as expires_in=timedelta(minutes=15)"
        raise bad_option(f"one of expires_in and expires_at is needed, {both}")
    try:
        if expires_at is None:
            life = expires_in.total_seconds() if isinstance(expires_in, datetime.timedelta) else expires_in
            seconds = int(life or 0)
            if not 1 <= seconds < 2**53:
                raise bad_option(f"expires_in is a second or more, and not {life}")
            return {"expires_in": seconds}
        if expires_at.tzinfo is None:
            raise bad_option("expires_at needs a time zone")
        return {"expires_at": expires_at.astimezone(datetime.timezone.utc).isoformat().replace("+00:00", "Z")}
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise bad_option("expires_in is a timedelta or seconds, expires_at a datetime with a zone") from None


def grant_body(grant: Grant) -> dict[str, Any]:
    """Return a grant as the REST API takes it. The error is `bad_option`."""
    if not isinstance(grant, Grant):
        raise bad_option(f"grants must be a list of millrace.Grant, and has a {type(grant).__name__}")
    body = {
        "tenant_ids": names("tenants", grant.tenants),
        "allow_channels_pub": names("publish", grant.publish),
        "allow_channels_sub": names("subscribe", grant.subscribe),
        "allow_channels_history": names("history", grant.history),
        "allow_channels_presence": names("presence", grant.presence),
    }
    return {key: value for key, value in body.items() if value or key == "tenant_ids"}


def check_scope(grants: Sequence[Grant]) -> list[str]:
    """Refuse rules of histories that no rule of subscribe contains, which would allow nothing: `bad_option`.

    Return what is to be said of presences of the same kind, which are of use, but seldom meant.
    """
    said = []
    for i, grant in enumerate(grants):
        within = [rule for other in grants if _share_tenant(grant, other) for rule in other.subscribe]
        for name, rules in (("history", grant.history), ("presence", grant.presence)):
            for j, rule in enumerate(rules):
                if any(contains(outer, rule) for outer in within):
                    continue
                have = ", ".join(within) or "nothing"
                text = f"grants[{i}].{name}[{j}] is {rule}, which subscribe ({have}) does not contain: "
                if name == "history":
                    raise bad_option(text + "nobody could read it; add it to subscribe, or narrow it")
                said.append(text + "the token shows who is there, and cannot subscribe; is that meant?")
    return said


def _share_tenant(one: Grant, other: Grant) -> bool:
    """Say whether two grants are for the same tenant; one may have the prefix of the master token before it."""
    return any(
        a == b or a.endswith(f".{b}") or b.endswith(f".{a}") for a in one.tenants for b in other.tenants
    )


def names(option: str, values: Sequence[str]) -> list[str]:
    """Return a list of names. A single string is `bad_option`: it would be taken for a list of letters."""
    found = list(values) if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) else [None]
    if not all(isinstance(value, str) for value in found):
        raise bad_option(
            f'{option} must be a list of strings, such as ["chat.*"], and not {type(values).__name__}'
        )
    return [str(value) for value in found]


# The members of JSON, as refusals name them, and the parameters of this package.
_WORDS = {
    "tenant_grants": "grants",
    "tenant_ids": "tenants",
    "allow_channels_pub": "publish",
    "allow_channels_sub": "subscribe",
    "allow_channels_history": "history",
    "allow_channels_presence": "presence",
    "allow_ip_masks": "ip_masks",
    "allow_regions": "regions",
    "allowed_ws_origin": "origins",
    "allow_protocols": "protocols",
    "ingress_kb_per_sec": "ingress_kbps",
    "egress_kb_per_sec": "egress_kbps",
    "expires_at": "the expiry",
}


def in_our_words(text: str) -> str:
    """Return the text of a refusal with the names of this package."""
    text = re.sub(r"\bright\.", "", text)
    return re.sub(r"\b[a-z]+(?:_[a-z]+)+\b", lambda m: _WORDS.get(m[0], m[0]), text)


def token_info(body: object) -> TokenInfo:
    """Read a token of a list."""
    token = table(body)
    right = table(token.get("right") or {})
    return TokenInfo(
        token_id=text(token.get("token_id")),
        created_by=text(token.get("created_by")),
        description=text(token.get("description", "")),
        subject=text(token.get("subject", "")),
        info=table(token["info"]) if "info" in token else None,
        created_at=time(token.get("created_at")),
        expires_at=time(token.get("expires_at")),
        revoked_at=time(token["revoked_at"]) if token.get("revoked_at") else None,
        status=text(token.get("status")),
        master_id=text(token.get("master_id", "")),
        grants=tuple(_grant(table(grant)) for grant in _list(right.get("tenant_grants"))),
        ip_masks=_texts(right.get("allow_ip_masks")),
        regions=_texts(right.get("allow_regions")),
        origins=_texts(right.get("allowed_ws_origin")),
        protocols=_texts(right.get("allow_protocols")),
        ingress_kbps=number(right.get("ingress_kb_per_sec")),
        egress_kbps=number(right.get("egress_kb_per_sec")),
    )


def _grant(grant: Mapping[str, object]) -> Grant:
    return Grant(
        tenants=_texts(grant.get("tenant_ids")),
        publish=_texts(grant.get("allow_channels_pub")),
        subscribe=_texts(grant.get("allow_channels_sub")),
        history=_texts(grant.get("allow_channels_history")),
        presence=_texts(grant.get("allow_channels_presence")),
    )


def table(value: object) -> dict[str, object]:
    """Return an object of JSON."""
    if not isinstance(value, dict):
        _strange()
    return value


def text(value: object) -> str:
    """Return a string of JSON."""
    if not isinstance(value, str):
        _strange()
    return value


def time(value: object) -> datetime.datetime:
    """Return a time in RFC 3339, in UTC, to the microsecond."""
    parts = _TIME.fullmatch(text(value))
    if parts is None:
        _strange()
    date, fraction, zone = parts.groups()
    try:
        at = datetime.datetime.fromisoformat(
            f"{date}.{fraction or '':0<6.6}{'+00:00' if zone == 'Z' else zone}"
        )
        return at.astimezone(datetime.timezone.utc)
    except (ValueError, OverflowError):
        _strange()


_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)", re.ASCII)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else [] if value is None else _strange()


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text(item) for item in _list(value))


def number(value: object) -> int:
    """Return an integer of JSON; 0 where there is none."""
    return value if isinstance(value, int) else 0 if value is None else _strange()


def _strange() -> NoReturn:
    raise MillraceError("protocol", "the edge's answer is not understood")
