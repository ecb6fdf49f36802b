"""The fixture of pytest: an edge for all tests of a run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .testing import Edge


@pytest.fixture(scope="session")
def millrace_edge() -> Iterator[Edge]:
    """An edge that runs for all tests: see millrace.testing.Edge."""
    with Edge.start() as edge:
        yield edge
