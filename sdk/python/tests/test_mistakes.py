"""What this SDK says to each mistake of sdk/mistakes.json, beside tests/mistakes.json.

After a change of texts, MILLRACE_GOLDEN=write writes that file again: read what has changed.
"""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path

import pytest

from millrace import MillraceError
from millrace.errors import reason

from .mistakes import IMPOSSIBLE, MADE

GOLDEN = Path(__file__).with_name("mistakes.json")
ALL = [row["id"] for row in json.loads((Path(__file__).parents[2] / "mistakes.json").read_text())]
LOOPBACK = re.compile(r"(127\.0\.0\.1|localhost):(?!8080|8443|99999)\d+")


def plain(text: str, err: BaseException | None = None) -> str:
    """Return a text without what differs between machines: ports, times, and what the system says of a failure."""
    if isinstance(err, MillraceError) and err.code == "unreachable" and err.__cause__ is not None:
        text = text.removesuffix(f": {reason(err.__cause__)}")
    text = text.partition(". Did you mean '")[0]  # later versions of Python
    text = re.sub(r"here it is \S+", "here it is NOW", text)
    return LOOPBACK.sub(r"\1:PORT", text)


async def said_to(id_: str, caplog: pytest.LogCaptureFixture) -> dict[str, str]:
    if id_ in IMPOSSIBLE:
        return {"impossible": IMPOSSIBLE[id_]}
    try:
        await MADE[id_]()
    except MillraceError as err:
        return {"code": err.code, "text": plain(err.text, err)}
    except Exception as err:  # noqa: BLE001 (Python's own, such as a TypeError)
        return {"code": type(err).__name__, "text": plain(str(err))}
    said = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert said, f"nothing is said to {id_}"
    return {"said": plain("\n".join(said))}


@pytest.mark.parametrize("id_", ALL)
async def test_a_mistake(id_: str, caplog: pytest.LogCaptureFixture) -> None:
    got = await said_to(id_, caplog)
    if os.environ.get("MILLRACE_GOLDEN") == "write":
        known = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
        rows = {**known, id_: got}
        ordered = {row: rows[row] for row in ALL if row in rows}
        GOLDEN.write_text(json.dumps(ordered, indent="\t", ensure_ascii=False) + "\n")
    assert got == json.loads(GOLDEN.read_text())[id_]
    for secret in ("0123_4567", "hunter2", "secret123"):
        assert secret not in str(got)


def test_no_row_is_left() -> None:
    assert sorted(json.loads(GOLDEN.read_text())) == sorted(ALL)
