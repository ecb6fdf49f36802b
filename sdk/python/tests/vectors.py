"""The vectors of wire/testdata, which all SDKs read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "wire" / "testdata"


def cases(file: str) -> list[dict[str, Any]]:
    """Returns the cases of a file."""
    found: list[dict[str, Any]] = json.loads((FOLDER / file).read_text(encoding="utf-8"))
    assert found, file
    return found


def input_of(case: dict[str, Any]) -> bytes:
    """Returns the bytes of a case."""
    given = case["input"]
    return bytes.fromhex(given["hex"]) if "hex" in given else str(given.get("text", "")).encode()
