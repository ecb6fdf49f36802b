"""The codecs, by the vectors of wire/testdata, all of them."""

from __future__ import annotations

import re
import struct
from typing import Any

import pytest

from millrace import _names
from millrace._channel_token import channel_token
from millrace._presence_frame import decode_presence
from millrace._reasons import split_denial
from millrace._splitter import Splitter, with_length
from millrace._wire import (
    DeliverDecoder,
    WireError,
    decode_text,
    encode_publish,
    is_frame,
    is_unknown_frame,
    known_line,
    parse_server_line,
)
from millrace.errors import MillraceError

from .vectors import FOLDER, cases, input_of


def test_every_file_is_known_here() -> None:
    assert {file.name for file in FOLDER.glob("*.json")} == {
        "channel_tokens.json",
        "codes.json",
        "deliver.json",
        "deliver_own.json",
        "future.json",  # see test_future.py
        "lines.json",
        "messages.json",
        "names.json",
        "presence.json",
        "publish.json",
        "reasons.json",
        "server_lines.json",
        "stream_lines.json",
    }


def test_names() -> None:
    legal = {"tenant": _names.is_tenant, "channel": _names.is_channel, "pattern": _names.is_pattern}
    for case in cases("names.json"):
        kind = case["kind"]
        if "rule" in kind:  # grants are the edge's business
            continue
        name = input_of(case).decode("latin-1")  # one character a byte, as long as that
        assert legal[kind](name) is case["expect"].get("valid", False), case["comment"]
        assert not legal[kind](name + "\n")


def test_server_lines() -> None:
    for case in cases("server_lines.json"):
        expect = case["expect"]
        if "error" in expect:
            with pytest.raises(WireError):
                parse_server_line(decode_text(input_of(case)))
            continue
        text = decode_text(input_of(case))
        line = parse_server_line(text)
        assert line._asdict() == {**type(line)("")._asdict(), **expect}, case["comment"]
        assert known_line(text) == line
        parts = {
            "OK": ["OK", line.verb, line.tenant, line.pattern],
            "OK:PUB": ["OK:PUB", str(line.id), line.position],
            "LINK": ["LINK", "up" if line.up else "down"],
        }.get(
            line.kind,
            [
                line.kind,
                line.code,
                line.tenant,
                line.pattern,
                line.position,
                line.how,
                line.detail,
                line.features,
            ],
        )
        assert ":".join(part for part in parts if part) == text, case["comment"]


def test_reasons() -> None:
    for case in cases("reasons.json"):
        expect = case["expect"]
        line = known_line(decode_text(input_of(case)))
        if "error" in expect:
            assert line is None, case["comment"]
            continue
        assert line is not None, case["comment"]
        if line.kind == "GAP":
            assert (line.position, line.reason) == (expect["position"], expect.get("reason", ""))
            continue
        detail, denial = split_denial(line.code, line.detail)
        if expect.get("code") == "permission_denied":
            assert (detail, denial.kind, [*denial.names]) == (
                expect.get("detail", ""),
                expect.get("denial", ""),
                expect.get("names", []),
            ), case["comment"]


def test_channel_tokens() -> None:
    for case in cases("channel_tokens.json"):
        given = input_of(case).decode("utf-8", "surrogatepass")  # as Python holds what is not UTF-8
        if "error" in case["expect"]:
            with pytest.raises(MillraceError) as caught:
                channel_token(given)
            assert caught.value.code == case["expect"]["error"]
            continue
        token = channel_token(given)
        assert token == case["expect"]["token"], case["comment"]
        assert _names.is_channel(token)


def test_codes() -> None:
    for case in cases("codes.json"):
        text = decode_text(input_of(case))
        if "error" in case["expect"]:
            assert known_line(text) is None
            continue
        line = parse_server_line(text)
        assert (line.kind, line.code, line.detail) == (
            "ERR",
            case["expect"]["code"],
            case["expect"].get("detail", ""),
        )


def test_client_lines() -> None:
    """What a client sends is made of names that were checked, as VERB:tenant:pattern."""
    for case in cases("lines.json"):
        expect = case["expect"]
        if "error" in expect or "pattern_hex" in expect:
            continue
        pattern = expect.get("pattern", "" if expect["verb"] == "RSUB" else None)
        parts = [
            expect["verb"],
            expect.get("tenant"),
            pattern,
            *map(expect.get, ("from", "token", "features")),
            "count" if expect.get("count") else None,
            str(expect["credit"]) if "credit" in expect else None,
        ]
        sent = re.sub(r"\r?\n\Z", "", case["input"]["text"])
        sent = re.sub(r"^([A-Z]+)::(?=[^:]|$)", r"\1:~:", sent)
        assert ":".join(part for part in parts if part is not None) == sent, case["comment"]


def test_stream_lines() -> None:
    """This client opens no unidirectional streams; these are no lines that it could take for an
    edge's."""
    for case in cases("stream_lines.json"):
        if case["comment"] == "a server's line":
            continue
        with pytest.raises(WireError):
            parse_server_line(decode_text(input_of(case)))


def test_publish() -> None:
    for case in cases("publish.json"):
        expect = case["expect"]
        if "error" in expect:  # a client sends frames, and reads none of these
            continue
        key = bytes.fromhex(expect.get("key_hex", ""))
        frame = encode_publish(
            expect.get("tenant", ""),
            expect.get("channel", ""),
            bytes.fromhex(expect.get("payload_hex", "")),
            expect["delivery"] if expect["version"] > 1 else None,
            (expect.get("id", 0), key) if expect["version"] == 3 else None,
        )
        assert frame == input_of(case), case["comment"]


def sized(text: str) -> bytes:
    return struct.pack(">H", len(text.encode())) + text.encode()


def encode_deliver(
    tenant: str,
    channel: str,
    payload: bytes,
    patterns: tuple[str, ...],
    position: str | None = None,
    sender: str | None = None,
    to_one: bool = False,
    own: bytes | None = None,
) -> bytes:
    """Returns a deliver frame, as edges send it."""
    head = b"\x01"
    fields = (position is not None) | (sender is not None) << 1 | to_one << 2 | (own is not None) << 3
    if fields:
        head = bytes([4, fields])
    if position is not None:
        epoch, n, t = position.split(".")
        head += struct.pack(">QQQ", int(epoch, 16), int(n), int(t))
    if sender is not None:
        head += bytes([len(sender.encode())]) + sender.encode()
    if own is not None:
        head += bytes([len(own)]) + own
    body = sized(tenant) + sized(channel) + struct.pack(">I", len(payload)) + payload
    return head + body + struct.pack(">H", len(patterns)) + b"".join(map(sized, patterns))


def test_deliver() -> None:
    decoder = DeliverDecoder()
    for case in [*cases("deliver.json"), *cases("deliver_own.json")]:
        frame, expect = input_of(case), case["expect"]
        assert is_unknown_frame(frame) is expect.get("ignored", False), case["comment"]
        for _ in range(2):  # the decoder remembers names
            if "error" in expect:
                with pytest.raises(WireError):
                    decoder.decode(frame)
                continue
            got = decoder.decode(frame)
            assert got == (
                expect.get("tenant", ""),
                expect.get("channel", ""),
                bytes.fromhex(expect.get("payload_hex", "")),
                tuple(expect["patterns"]),
                expect.get("position"),
                expect.get("sender", ""),
                expect.get("to_one", False),
                bytes.fromhex(expect["key_hex"]) if "key_hex" in expect else None,
            ), case["comment"]
            assert encode_deliver(*got[:5], expect.get("sender"), *got[6:]) == frame
        if "error" not in expect:
            for n in range(len(frame)):  # every truncation is an error
                with pytest.raises(WireError):
                    decoder.decode(frame[:n])


def encode_presence(case: dict[str, Any]) -> bytes:
    """Returns a presence frame, as edges send it."""
    bits = sum(bool(case.get(name)) << n for n, name in enumerate(("first", "synced", "counts")))
    entries = []
    for m in case.get("members", ()):
        entry = bytes([m.get("here", False)]) + sized(m["channel"])
        entry += bytes([len(m.get("subject", "").encode())]) + m.get("subject", "").encode()
        if m.get("here"):
            entry += struct.pack(">Q", m.get("since", 0)) + sized(m.get("info", ""))
        entries.append(entry)
    for c in case.get("channels", ()):
        entries.append(sized(c["channel"]) + struct.pack(">I", c.get("members", 0)))
    head = bytes([5, bits]) + sized(case.get("tenant", "")) + sized(case.get("pattern", ""))
    return head + struct.pack(">H", len(entries)) + b"".join(entries)


def test_presence() -> None:
    for case in cases("presence.json"):
        frame, expect = input_of(case), case["expect"]
        if expect.get("ignored"):
            assert decode_presence(frame) is None, case["comment"]
            continue
        if "error" in expect:
            with pytest.raises(WireError):
                decode_presence(frame)
            continue
        got = decode_presence(frame)
        assert got is not None
        assert got._replace(members=(), channels=()) == (
            expect.get("tenant", ""),
            expect.get("pattern", ""),
            *(expect.get(name, False) for name in ("first", "synced", "counts")),
            (),
            (),
        ), case["comment"]
        assert [m._asdict() for m in got.members] == [
            {"subject": "", "here": False, "since": 0, **m, "info": m.get("info", "").encode()}
            for m in expect.get("members", [])
        ], case["comment"]
        assert got.channels == tuple(
            (c["channel"], c.get("members", 0)) for c in expect.get("channels", [])
        ), case["comment"]
        assert encode_presence(expect) == frame
        for n in range(len(frame)):  # every truncation is an error
            with pytest.raises(WireError):
                decode_presence(frame[:n])


def test_decoder_is_bounded() -> None:
    decoder = DeliverDecoder()
    for i in range(3000):
        frame = encode_deliver("t", f"c.{i}", b"x", (f"c.{i}", "c.*"))
        assert decoder.decode(frame).channel == f"c.{i}"
    long = tuple(f"c.{'x' * 100}.{i}" for i in range(100))
    assert decoder.decode(encode_deliver("t", "c", b"", long)).patterns == long
    for kept in (decoder._heads, decoder._lists):
        assert 0 < len(kept) <= 1024
        assert max(map(len, kept)) <= 1024


def test_messages() -> None:
    for case in cases("messages.json"):
        data, expect = input_of(case), case["expect"]
        for size in (1, 2, 3, 5, 7, 64, max(1, len(data))):
            splitter = Splitter(65_536 + 4096)  # as an edge by default
            raw: list[bytes] = []
            close = None
            try:
                for at in range(0, len(data), size):
                    splitter.push(data[at : at + size], raw)
            except WireError:
                close = 1009
            assert close == expect.get("close"), case["comment"]
            want = [m if "hex" in m else {"text": "", **m} for m in expect.get("messages", [])]
            assert [shown(message) for message in raw] == want, case["comment"]
            rest = bytes.fromhex(expect.get("rest_hex", ""))
            assert b"".join(map(with_length, raw)) + rest == data
            if close is None:
                assert splitter.held == len(rest)


def shown(message: bytes) -> dict[str, Any]:
    if is_frame(message):
        return {"kind": "frame", "hex": message.hex()}
    try:
        return {"kind": "line", "text": decode_text(message)}
    except WireError:
        return {"kind": "line", "hex": message.hex()}
