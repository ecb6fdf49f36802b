"""The fixture of tests of applications with a real edge, as docs/how-to/testing.md shows it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ..test_testing import run_pytest

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "testing.md"


def test_the_page(tmp_path: Path) -> None:
    programs = os.environ.get("MILLRACE_TEST_PROGRAMS")
    assert programs, (
        "set MILLRACE_TEST_PROGRAMS to a folder with what `go build -o FOLDER ./cmd/millrace` makes"
    )
    section = PAGE.read_text().partition("\n## Python\n")[2].partition("\n## ")[0]
    tests = re.findall(r"```python test_chat\.py\n(.*?)```", section, re.DOTALL)
    assert len(tests) == 1
    for code in tests:
        status, said = run_pytest(tmp_path, {"MILLRACE_BIN": f"{programs}/millrace"}, code)
        assert (status, re.search(r"[1-9] passed in", said) is not None) == (0, True), said
