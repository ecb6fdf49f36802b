"""TokenAdmin, against a server with the answers of edges."""

from __future__ import annotations

import asyncio
import datetime
import math
import traceback
from typing import Any

import pytest

from millrace._address import Address
from millrace._admin import TokenAdmin
from millrace._admin_types import Grant, IssuedToken, TokenInfo, expiry, time
from millrace._http import Response, request
from millrace._rules import contains
from millrace.errors import MillraceError

from .web import closed_port, web

MASTER = "MT_0123_4567"
UTC = datetime.timezone.utc
DAY = datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
ISSUED: dict[str, Any] = {
    "token": "AT_1_2",
    "token_id": "1",
    "expires_at": "2026-01-02T03:04:05Z",
    "expires_in": 86400,
}


async def test_issue() -> None:
    async with web((200, ISSUED)) as edge:
        issued = await TokenAdmin(edge.url, MASTER).issue(
            created_by="backend",
            description="of a test",
            subject="alice",
            info={"name": "Alice", "roles": ["a"]},
            expires_at=DAY,
            grants=[
                Grant(
                    tenants=["room"],
                    publish=["chat.*"],
                    subscribe=["chat.*"],
                    history=["chat.a"],
                    presence=["chat.b"],
                ),
                Grant(tenants=["other"]),
            ],
            ip_masks=["10.0.0.0/8"],
            regions=["EU"],
            origins=["https://page.example"],
            protocols=["websocket"],
            ingress_kbps=1,
            egress_kbps=2,
        )
    assert issued == IssuedToken(token="AT_1_2", token_id="1", expires_at=DAY, expires_in=86400)
    assert "AT_1_2" not in repr(issued)
    (call,) = edge.calls
    assert (call.method, call.path, call.headers["authorization"]) == (
        "POST",
        "/v1/get-token",
        f"Bearer {MASTER}",
    )
    assert call.headers["content-type"] == "application/json"
    assert call.body == {
        "created_by": "backend",
        "description": "of a test",
        "subject": "alice",
        "info": {"name": "Alice", "roles": ["a"]},
        "right": {
            "tenant_grants": [
                {
                    "tenant_ids": ["room"],
                    "allow_channels_pub": ["chat.*"],
                    "allow_channels_sub": ["chat.*"],
                    "allow_channels_history": ["chat.a"],
                    "allow_channels_presence": ["chat.b"],
                },
                {"tenant_ids": ["other"]},
            ],
            "allow_ip_masks": ["10.0.0.0/8"],
            "allow_regions": ["EU"],
            "allowed_ws_origin": ["https://page.example"],
            "allow_protocols": ["websocket"],
            "ingress_kb_per_sec": 1,
            "egress_kb_per_sec": 2,
            "expires_at": "2026-01-02T03:04:05Z",
        },
    }


async def test_refresh_and_revoke() -> None:
    async with web(
        (200, {"new_expires_at": "2026-01-02T03:04:05Z"}), (200, {"message": "token revoked"})
    ) as edge:
        admin = TokenAdmin(edge.url, MASTER)
        assert await admin.refresh("1", expires_at=DAY) == DAY
        await admin.revoke("AT_1_2")
    assert [(call.method, call.path, call.body) for call in edge.calls] == [
        ("PUT", "/v1/refresh-token", {"token_id": "1", "expires_at": "2026-01-02T03:04:05Z"}),
        ("DELETE", "/v1/revoke-token", {"token": "AT_1_2"}),
    ]


async def test_clocks() -> None:
    """The edge cuts a lifetime, which is told; and a refusal of a time names both clocks."""
    refused = {"code": "expires_at_out_of_range", "detail": "it is noon at this edge"}
    async with web((200, ISSUED), (400, refused)) as edge:
        admin = TokenAdmin(edge.url, MASTER)
        issued = await admin.issue(
            created_by="b", grants=[Grant(tenants=["t"])], expires_in=datetime.timedelta(hours=25)
        )
        assert (issued.expires_in, issued.clamped) == (86400, True)
        with pytest.raises(MillraceError, match=r"it is noon at this edge; here it is 20\d\d-.*\+00:00$"):
            await admin.refresh("1", expires_at=DAY)
    assert edge.calls[0].body == {
        "created_by": "b",
        "right": {"tenant_grants": [{"tenant_ids": ["t"]}], "expires_in": 90000},
    }


async def test_revoke_by_id_and_by_subject() -> None:
    async with web(
        (200, {"message": "token revoked", "token_id": "0123456789abcdef"}),
        (200, {"message": "tokens revoked", "revoked": 3}),
        (200, {"message": "tokens revoked"}),
        (404, {"code": "unknown_token", "detail": "no such token"}),
    ) as edge:
        admin = TokenAdmin(edge.url, MASTER)
        await admin.revoke_by_id("0123456789abcdef")
        assert await admin.revoke_subject("Zoë & co") == 3
        with pytest.raises(MillraceError) as err:
            await admin.revoke_subject("alice")
        assert err.value.code == "protocol"
        with pytest.raises(MillraceError) as err:
            await admin.revoke_by_id("ab")
        assert (err.value.code, err.value.status) == ("unknown_token", 404)
        bad: list[Any] = ["", "AT_1_2", "..", "1?subject=x", "1\n", None]
        for token_id in bad:
            with pytest.raises(MillraceError) as err:
                await admin.revoke_by_id(token_id)
            assert err.value.code == "bad_option"
        for subject in ["", 1, None, "\ud800"]:
            with pytest.raises(MillraceError) as err:
                await admin.revoke_subject(subject)  # type: ignore[arg-type]
            assert err.value.code == "bad_option"
        circle: dict[str, Any] = {}
        circle["self"] = circle
        for about in ["alice", [1], 5, circle, {"a": {1}}]:
            with pytest.raises(MillraceError) as err:
                await admin.issue(created_by="b", grants=[], expires_in=1, info=about)  # type: ignore[arg-type]
            assert err.value.code == "bad_option"
    assert [(call.method, call.path, call.body) for call in edge.calls] == [
        ("DELETE", "/v1/tokens/0123456789abcdef", None),
        ("DELETE", "/v1/tokens?subject=Zo%C3%AB%20%26%20co", None),
        ("DELETE", "/v1/tokens?subject=alice", None),
        ("DELETE", "/v1/tokens/ab", None),
    ]


def info(number: str, **more: Any) -> dict[str, Any]:
    return {
        "token_id": number,
        "created_by": "b",
        "created_at": "2026-01-01T00:00:00Z",
        "expires_at": "2026-01-02T03:04:05Z",
        "status": "valid",
        "right": {
            "tenant_grants": [
                {"tenant_ids": ["t"], "allow_channels_pub": ["a"], "allow_channels_presence": ["b"]}
            ],
            "allow_regions": ["EU"],
        },
        **more,
    }


async def test_list_page_by_page() -> None:
    revoked = info("2", revoked_at="2026-01-02T03:04:05Z", status="revoked")
    async with web(
        (
            200,
            {"tokens": [info("1", subject="alice", info={"name": "Alice"}), revoked], "next_cursor": "x y"},
        ),
        (200, {"tokens": [info("3")], "next_cursor": ""}),
    ) as edge:
        found = [
            token
            async for token in TokenAdmin(edge.url, MASTER).list(tenant="t", subject="alice", page_size=2)
        ]
    assert [token.token_id for token in found] == ["1", "2", "3"]
    assert found[0] == TokenInfo(
        token_id="1",
        created_by="b",
        description="",
        subject="alice",
        info={"name": "Alice"},
        created_at=datetime.datetime(2026, 1, 1, tzinfo=UTC),
        expires_at=DAY,
        revoked_at=None,
        status="valid",
        master_id="",
        grants=(Grant(tenants=("t",), publish=("a",), subscribe=(), history=(), presence=("b",)),),
        ip_masks=(),
        regions=("EU",),
        origins=(),
        protocols=(),
        ingress_kbps=0,
        egress_kbps=0,
    )
    assert found[1].revoked_at == DAY
    assert (found[1].subject, found[1].info) == ("", None)
    assert [call.path for call in edge.calls] == [
        "/v1/tokens?tenant=t&subject=alice&limit=2",
        "/v1/tokens?tenant=t&subject=alice&limit=2&cursor=x%20y",
    ]


@pytest.mark.parametrize(
    ("answer", "code", "status"),
    [
        ((404, {"code": "unknown_token", "detail": "no such token"}), "unknown_token", 404),
        ((502, "<html>"), "unavailable", 502),
        ((302, ""), "unreachable", 302),
        ((200, "[]"), "protocol", None),
        ((200, "not JSON"), "protocol", None),
        (b"SSH-2.0-x\r\n", "protocol", None),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "unreachable", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", "unreachable", None),
        (None, "unreachable", None),
    ],
)
async def test_errors(answer: Any, code: str, status: int | None) -> None:
    async with web(answer) as edge:
        with pytest.raises(MillraceError) as caught:
            await TokenAdmin(edge.url, MASTER).revoke(ISSUED["token"])
    assert (caught.value.code, caught.value.status) == (code, status)
    shown = "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert "AT_1_2" not in shown
    assert MASTER not in shown


async def test_refusals_name_the_parameters() -> None:
    detail = "right.tenant_grants[0].allow_channels_sub[2]: an empty token in some_thing"
    async with web((400, {"code": "invalid_body", "detail": detail})) as edge:
        with pytest.raises(
            MillraceError, match=r"^invalid_body: grants\[0\].subscribe\[2\]: an empty token in some_thing$"
        ):
            await TokenAdmin(edge.url, MASTER).revoke("AT")


async def test_chunked_answer() -> None:
    body = b'14\r\n{"new_expires_at": "\r\n16\r\n2026-01-02T03:04:05Z"}\r\n0\r\n\r\n'
    async with web(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body) as edge:
        assert await TokenAdmin(edge.url, MASTER).refresh("1", expires_in=60) == DAY


async def test_next_edge() -> None:
    refused = (503, {"code": "draining", "detail": "the edge drains"})
    async with (
        web((504, ""), (200, ISSUED)) as first,
        web(refused, (200, ISSUED), (409, {"code": "x"})) as second,
    ):
        dead = await closed_port()
        admin = TokenAdmin([dead, first.url, second.url], MASTER)

        async def issue() -> IssuedToken:
            return await admin.issue(created_by="b", grants=[Grant(tenants=["t"])], expires_in=60)

        with pytest.raises(MillraceError) as caught:  # what an edge says
            await issue()
        assert caught.value.code == "draining"
        assert (await issue()).token == "AT_1_2"
        assert (len(first.calls), len(second.calls)) == (2, 1)
        first.answers.append((500, {"code": "internal"}))
        with pytest.raises(MillraceError) as caught:  # it begins where it ended, and asks nobody else
            await issue()
        assert caught.value.code == "internal"
        assert (len(first.calls), len(second.calls)) == (3, 1)
        first.answers.append((403, {"code": "read_only"}))
        assert (await issue()).token == "AT_1_2"
        assert (len(first.calls), len(second.calls)) == (4, 2)


async def test_timeout_and_cancelling(monkeypatch: pytest.MonkeyPatch) -> None:
    async with web() as edge, web() as held, web((200, ISSUED)) as next_edge:
        edge.silent = held.silent = True
        with pytest.raises(MillraceError) as caught:
            await TokenAdmin(edge.url, MASTER, timeout=0.05).revoke("AT")
        assert caught.value.code == "timeout"

        call = asyncio.ensure_future(TokenAdmin(held.url, MASTER).revoke("AT"))
        await held.called.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await held.gone.wait()  # the connection is closed, not left to itself

        async def ask(method: str, address: Address, path: str, **more: Any) -> Response:
            if address.origin == edge.url:
                raise caught.value
            return await request(method, address, path, **more)

        monkeypatch.setattr("millrace._admin.request", ask)
        await TokenAdmin([edge.url, next_edge.url], MASTER).revoke("AT")


async def test_long_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("millrace._admin._MAX_ANSWER", 1000)
    async with web((200, " " * 2000)) as edge:
        with pytest.raises(MillraceError) as caught:
            await TokenAdmin(edge.url, MASTER).revoke("AT")
    assert caught.value.code == "protocol"


@pytest.mark.parametrize(
    ("urls", "token"),
    [
        ("http://edge.example.com", MASTER),
        ("https://edge.example.com/edges", MASTER),
        ("https://hunter2@edge.example.com", MASTER),
        ("ftp://edge.example.com", MASTER),
        ([], MASTER),
        ("https://edge.example.com", "MT 1"),
        ("https://edge.example.com", ""),
    ],
)
def test_bad_options(urls: Any, token: str) -> None:
    with pytest.raises(MillraceError) as caught:
        TokenAdmin(urls, token)
    assert caught.value.code == "bad_option"
    assert "hunter2" not in str(caught.value)


async def test_bad_requests() -> None:
    admin = TokenAdmin(await closed_port(), MASTER)
    for more in (
        {},
        {"expires_in": 1, "expires_at": DAY},
        {"expires_at": DAY.replace(tzinfo=None)},
        {"expires_in": 1e300},
        {"expires_in": math.inf},
        {"expires_in": 0.9},
    ):
        with pytest.raises(MillraceError) as caught:
            await admin.refresh("1", **more)
        assert caught.value.code == "bad_option"
    grants: Any
    for grants in ([Grant(tenants="room")], [Grant(tenants=5)], [{"tenants": ["room"]}]):  # type: ignore[arg-type]
        with pytest.raises(MillraceError) as caught:
            await admin.issue(created_by="b", grants=grants, expires_in=1)
        assert caught.value.code == "bad_option"
    with pytest.raises(MillraceError, match="a subject is not empty"):  # it is not like none
        await admin.issue(created_by="b", grants=[], expires_in=1, subject="")


def test_times() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    assert expiry(90.9, None) == {"expires_in": 90}
    assert expiry(datetime.timedelta(hours=25, milliseconds=5), None) == {"expires_in": 90000}
    assert expiry(None, DAY.astimezone(zone)) == {"expires_at": "2026-01-02T03:04:05Z"}
    assert time("2026-01-02T05:04:05.000000001+02:00") == DAY
    for broken in ("2026-01-02", "2026-13-02T03:04:05Z", 7, None):
        with pytest.raises(MillraceError):
            time(broken)


def test_rules_contain_each_other() -> None:
    """As in docs/protocol.md, Grants."""
    for rule, other, want in (
        ("#", ">", True), (">", "#", True), ("a.#", "a.b.*", True), ("a.>", "a.#", False), ("(a*|x)", "ab*", True),
        ("a.?", "a.b", True), ("a.?", "a.*", False), ("a.?", "a.?", True), ("a.*", "a.?", True), ("a.?", "a.(b|c)", True),
        ("(a|b)", "(a|b)", True), ("(a|b)", "(a|c)", False), ("a*", "(ab|ac*)", True), ("a", "a.b", False),
        ("x#", "xa.b.#", True), ("x>", "xa", False), ("a*", "?", False),
    ):  # fmt: skip
        assert contains(rule, other) is want, (rule, other)


async def test_histories_and_presences_lie_within_what_is_subscribed_to(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with web((200, ISSUED), (200, ISSUED)) as served:
        admin = TokenAdmin(served.url, MASTER)

        async def issue(*grants: Grant) -> None:
            await admin.issue(created_by="me", expires_in=60, grants=grants)

        outside = (
            r"bad_option: grants\[0\].history\[0\] is audit.#, which subscribe \(chat.\*\) does not contain"
        )
        with pytest.raises(MillraceError, match=outside):
            await issue(Grant(tenants=["room"], subscribe=["chat.*"], history=["audit.#"]))
        other = Grant(tenants=["paint.room"], subscribe=["audit.#"])
        await issue(Grant(tenants=["room"], subscribe=["chat.*"], history=["audit.a"]), other)
        assert caplog.records == []
        await issue(Grant(tenants=["room"], subscribe=["chat.*"], presence=["#"]))
        assert "grants[0].presence[0] is #" in caplog.text
