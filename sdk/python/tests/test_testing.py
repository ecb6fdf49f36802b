"""The fixture of tests of applications, with a program in the place of an edge; tests/hosts has a real one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import millrace
from millrace.testing import Edge, EdgeError

from .edge import WAIT

PROGRAM = """#!{python}
import json, pathlib, sys
log = pathlib.Path(__file__).with_name("log")
with log.open("a") as out:
    print("started", *sys.argv[1:], file=out)
print(json.dumps(dict(http="http://localhost:1", https="https://localhost:2", ca_file="/ca", tenant="demo",
                      master_token="MT_1_2", of_later_versions=True)), flush=True)
sys.stdin.read()
with log.open("a") as out:
    print("stopped", file=out)
"""

TESTS = """
def test_one(millrace_edge):
    assert millrace_edge.url == "http://localhost:1"
    assert "MT_" not in repr(millrace_edge)

def test_another(millrace_edge):
    assert millrace_edge.channel() != millrace_edge.channel()
"""


def program(folder: Path, code: str) -> str:
    path = folder / "millrace"
    path.write_text(code.format(python=sys.executable) if "{python}" in code else code)
    path.chmod(0o755)
    return str(path)


def run_pytest(folder: Path, environment: dict[str, str], tests: str = TESTS) -> tuple[int, str]:
    (folder / "test_of_an_application.py").write_text(tests)
    source = str(Path(millrace.__file__).parents[1])
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "pytest", "-p", "millrace._pytest_plugin", "-p", "no:cacheprovider", "-q", str(folder)],
        env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}, "PYTHONPATH": source, **environment},
        cwd=folder, capture_output=True, text=True, timeout=WAIT, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def test_one_edge_for_all_tests_which_is_stopped(tmp_path: Path) -> None:
    code, said = run_pytest(tmp_path, {"MILLRACE_BIN": program(tmp_path, PROGRAM)})
    assert (code, "2 passed" in said) == (0, True), said
    log = (tmp_path / "log").read_text().splitlines()
    assert log == ["started pubsub dev --json --port 0 --exit-with-stdin", "stopped"]


def test_the_program_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("MILLRACE_BIN", "")
    with pytest.raises(EdgeError, match="no program millrace: set MILLRACE_BIN to it, or put it on the PATH"):
        Edge.start()
    program(tmp_path, PROGRAM)
    with Edge.start() as edge:
        assert edge.tenant == "demo"


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (
            "#!/bin/sh\necho no room on the disk >&2\nexit 1\n",
            r"pubsub dev .* has not started: no room on the disk",
        ),
        ("#!/bin/sh\nexit 1\n", "has not started: it said nothing"),
        ("#!/of/nobody\n", "cannot be started"),
    ],
)
def test_a_program_that_does_not_start(tmp_path: Path, code: str, says: str) -> None:
    with pytest.raises(EdgeError, match=says):
        Edge.start(program(tmp_path, code))
