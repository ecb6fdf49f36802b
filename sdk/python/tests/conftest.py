"""Runs tests that are coroutines, each in a loop of its own, and checks that they leave no task.

With --loop=uvloop, all loops of the tests are uvloop's, also those of millrace.sync.
"""

from __future__ import annotations

import asyncio
import inspect
import warnings
from collections.abc import Coroutine
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--loop", choices=("asyncio", "uvloop"), default="asyncio", help="whose event loops")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--loop") == "uvloop":
        import uvloop

        with warnings.catch_warnings():  # later versions of Python have no policies, but these have
            warnings.simplefilter("ignore", DeprecationWarning)
            asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    asyncio.run(_without_leaks(pyfuncitem.obj(**arguments)))
    return True


async def _without_leaks(test: Coroutine[Any, Any, None]) -> None:
    """Every task has an owner that ends it and waits: none is there when a test has ended."""
    failures: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: failures.append(context))
    await test
    left = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left, f"tasks are left: {left}"
    assert not failures, f"the loop's exception handler was called: {failures}"
