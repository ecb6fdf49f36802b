"""Why an edge refuses something, and what to do about it: the texts of errors."""

from __future__ import annotations

import re
from typing import NamedTuple

_SAID = re.compile(r"(allowed|tenants|by|connection)=(.*)", re.DOTALL)


class Denial(NamedTuple):
    """What an edge says of `permission_denied`, with the feature `reasons`."""

    kind: str
    """``allowed``, ``tenants`` or ``by``; empty: it does not say."""
    names: tuple[str, ...]


NOT_SAID = Denial("", ())


def split_denial(code: str, detail: str) -> tuple[str, Denial]:
    """Return what an ERR line is about, and why the edge denies it."""
    denial = NOT_SAID
    while code == "permission_denied":
        rest, _, last = detail.rpartition(":")
        said = _SAID.fullmatch(last)
        if said is None:
            break
        detail = rest
        if said[1] != "connection":
            denial = Denial(said[1], tuple(said[2].split(",")) if said[2] else ())
    return detail, denial


# What a line asks for, with what the token allows of it, and the list of a grant that has that.
_USES = {
    "PUB": ("publish", "publish", "to "),
    "SUB": ("subscribe", "subscribe", "to "),
    "RSUB": ("subscribe with a history", "subscribe and history", "to "),
    "JOIN": ("join, which takes the right to subscribe,", "subscribe", ""),
    "WHO": ("see who is present", "presence (for counts subscribe)", "in "),
}

_TEXTS = {
    "bad_request": "the edge does not understand it, or it has another subscription to the pattern",
    "payload_too_large": "the payload is over max_payload of the edge, 64 KiB by default: "
    "send a link to the data, or raise the option",
    "too_many_subscriptions": "one subscription more would be over the edge's max_subscriptions: "
    "use a pattern for many channels, and unsubscribe from what is not used",
    "too_many_patterns": "the pattern would be over a limit of the edge: use fewer different forms of wildcards",
    "no_history": "no history of the edge contains it: add one that contains the whole pattern to the "
    "edge's configuration",
    "too_many_channels": 'history="last" would give the messages of more than 1,024 channels: '
    "use a narrower pattern",
    "history_unavailable": "the history is out of reach, and nobody got the message: try again",
    "unconfirmed": "the edge cannot say what became of it",
    "no_subscriber": "nobody has subscribed, and nobody got the message: start a worker, or keep it and try again",
    "subscribers_busy": "all subscribers have as many messages as they asked for, and nobody got this one: "
    "try again a little later, or start more workers",
    "no_presence": "no presence of the edge contains it: add one to the edge's configuration",
    "no_subject": "the token has no subject: have it issued with one, such as the id of the user",
    "too_many_members": "the presence has as many members as it may have",
    "try_later": "what the edge has to ask does not answer: try again later",
    "broker_unavailable": "the edge has lost the other edges: its own subscribers still get everything",
}


def refusal_text(code: str, verb: str, tenant: str, name: str, denial: Denial = NOT_SAID) -> str:
    """Return the text of a refusal: verb, tenant and name are those of the line that asked."""
    if code == "permission_denied":
        return _denied(verb, tenant, name, denial)
    return _TEXTS.get(code, "the edge refuses it")


def _denied(verb: str, tenant: str, name: str, denial: Denial) -> str:
    use, rights, to = _USES.get(verb, ("do this", "rights", "to "))
    if denial.kind == "by":
        return "a hook of the edge refuses it, whatever the token allows: ask who operates the edge"
    if denial.kind == "tenants":
        text = f"the token is for {_listed(denial.names, 'tenant')}, not for {tenant}"
        meant = [known for known in denial.names if known.endswith(f".{tenant}")]
        if len(meant) == 1:
            return f"{text}: did you mean {meant[0]}, with the prefix of its master token?"
        return f"{text}: use one of these, or have the token issued for it"
    if denial.kind == "allowed" and denial.names:
        only = ", ".join(denial.names)
        return (
            f"the token may {use} in {tenant} only {to}{only}, not {to}{name}: "
            f"use one of these, or add {name} to {rights} of its grant"
        )
    return f"the token may not {use} in {tenant} {to}{name}: add it to {rights} of its grant"


def _listed(names: tuple[str, ...], what: str) -> str:
    if not names:
        return f"no {what}"
    return f"the {what}{'s' if len(names) > 1 else ''} {', '.join(names)}"
