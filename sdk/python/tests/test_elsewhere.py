"""Clients that are used elsewhere than where they were made: in another event loop, in a child process."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
import threading
from typing import Any

import pytest

import millrace
import millrace.sync
from millrace import MillraceError

from .edge import WAIT
from .fixture import refuses
from .test_sync import EdgeThread, connect, edge

__all__ = ["edge"]

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "subscribe": ("t", "c"), "publish": ("t", "c", "x"), "join": ("t", "c"), "presence": ("t", "c"),
    "on": ("closed", print), "tenant": ("t",),
}  # fmt: skip

LISTENS = ("member_changed", "count_changed", "count_void")  # for the client


def calls(of: object) -> list[str]:
    """Return the public methods of an object, and what `async for` calls."""
    names = [name for name in dir(of) if not name.startswith("_") or name == "__anext__"]
    return [name for name in names if callable(inspect.getattr_static(of, name)) and name not in LISTENS]


def tell_who(edge: EdgeThread) -> None:
    """Let the edge have presence, with nobody in c."""

    def answers(line: str) -> bool:
        if line == "WHO:t:c":
            peer = edge.edge.peers.all[-1]
            asyncio.get_running_loop().call_soon(peer.present, "fs")
        return True

    edge.edge.features, edge.edge.answers = "FEATURES:link,presence", answers


async def _made(url: str) -> list[Any]:
    client = await millrace.connect(url, token="AT_1", transports=["websocket"])
    return [
        client,
        await client.subscribe("t", "c"),
        await client.join("t", "c"),
        await client.presence("t", "c"),
    ]


async def _refused(objects: list[Any]) -> int:
    count = 0
    for one in objects:
        for name in calls(one):
            try:
                await asyncio.wait_for(getattr(one, name)(*ARGUMENTS.get(name, ())), WAIT)
            except MillraceError as err:
                count += "bad_option: this client belongs to another event loop" in str(err)
            else:
                raise AssertionError(f"{one}.{name} is not refused")
    return count


def test_another_event_loop(edge: EdgeThread) -> None:
    tell_who(edge)
    loop = asyncio.new_event_loop()
    try:
        objects = loop.run_until_complete(_made(edge.url))
        assert asyncio.run(_refused(objects)) == 22
        objects[0].on("closed", print)  # no loop runs, and it will be this one
        objects[0].retry()
        loop.run_until_complete(objects[0].close())
    finally:
        loop.close()
    with refuses("bad_option"):
        objects[0].retry()


FORK = """
import inspect, os, sys, threading
import millrace.sync
from tests.test_elsewhere import ARGUMENTS, calls

client = millrace.sync.connect(sys.argv[1], token="AT_1", transports=["websocket"])
sub = client.subscribe("t", "c")
objects = [client, sub, client.join("t", "c"), client.presence("t", "c")]
threading.Thread(target=sub.receive, daemon=True).start()  # which holds a lock
while not sub._reading.locked():
    pass
if os.fork() == 0:
    used = sys.argv[2] == "used"
    for one in objects if used else ():
        for name in [*calls(one), "__iter__"]:
            if name == "__iter__" and not hasattr(one, name):
                continue
            try:
                result = getattr(one, name)(*ARGUMENTS.get(name, ()))
                next(result)
            except millrace.MillraceError as err:
                print(err, flush=True)
    if used:
        with client, sub, objects[2], objects[3]:
            pass
        with millrace.sync.connect(sys.argv[1], token="AT_2", transports=["websocket"]) as own:
            own.publish("t", "c", "of the child")
            own.flush()
    sys.exit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
client.publish("t", "c", "of the parent")
client.flush()
"""


def run(script: str, *arguments: str, said: str = "") -> str:
    """Run a script, which ends, and writes nothing to stderr, or what ends with said."""
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT, check=False)  # noqa: S603
    assert (done.returncode, done.stderr[-len(said) :] if said else done.stderr) == (0, said)
    return done.stdout


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork")
@pytest.mark.parametrize("how", ["used", "unused"])
def test_a_fork(edge: EdgeThread, how: str) -> None:
    tell_who(edge)
    errors = run(FORK, edge.url, how).splitlines()
    assert errors == ["bad_option: made before a fork: connect in the child"] * (23 if how == "used" else 0)
    frames = [frame for peer in edge.edge.peers.all for frame in peer.frames.all]
    texts = [text for text in (b"of the child", b"of the parent") if any(text in frame for frame in frames)]
    assert texts == [b"of the child", b"of the parent"][how == "unused" :]


FORK_IN_A_LOOP = """
import asyncio, os, sys, millrace
loop = asyncio.new_event_loop()
client = loop.run_until_complete(millrace.connect(sys.argv[1], token="AT_1", transports=["websocket"]))
if os.fork() == 0:
    for call in [client.publish("t", "c", "of the child"), client.flush(), client.close()]:
        try:
            loop.run_until_complete(call)
        except millrace.MillraceError as err:
            print(err, flush=True)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 7
loop.run_until_complete(client.publish("t", "c", "of the parent"))
loop.run_until_complete(client.flush())
loop.run_until_complete(client.close())
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="there is no fork")
def test_a_fork_that_goes_on_with_the_loop(edge: EdgeThread) -> None:
    """The child does not write to the parent's connection, and does not close it."""
    errors = run(FORK_IN_A_LOOP, edge.url).splitlines()
    assert errors == ["bad_option: made before a fork: connect in the child"] * 3
    assert len(edge.peer.frames.all) == 1


def test_an_exit_does_not_wait_for_a_handler(edge: EdgeThread) -> None:
    script = (
        "import sys, threading, millrace.sync\n"
        "millrace.sync._AT_EXIT = 0.1\n"
        "began = threading.Event()\n"
        "def hang(): began.set(); threading.Event().wait()\n"
        "client = millrace.sync.connect(sys.argv[1], token='AT_1')\n"
        "client._thread.soon(hang)\n"
        "began.wait()\n"
    )
    run(script, edge.url)


def test_a_handler_that_exits(edge: EdgeThread) -> None:
    """That would end the client's thread, and nothing else: it is reported, and the client goes on."""
    script = (
        "import sys, threading, millrace.sync\n"
        "exits = lambda _: (called.set(), sys.exit(3))\n"
        "called = threading.Event()\n"
        "client = millrace.sync.connect(sys.argv[1], token='AT_1', on={'round_trip': exits})\n"
        "client.on('round_trip', exits)\n"
        "client.flush()\n"
        "called.wait()\n"
        "client.publish('t', 'c', 'x')\n"
        "client.flush()\n"
        "client.close()\n"
    )
    run(script, edge.url, said="RuntimeError: a handler of events cannot end the program: SystemExit(3)\n")
    assert len(edge.peer.frames.all) == 1


def test_a_thread_without_a_loop(monkeypatch: pytest.MonkeyPatch, edge: EdgeThread) -> None:
    def no_files(main: Any) -> None:
        main.close()
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "run", no_files)
        with pytest.raises(MillraceError, match=r"internal: .*Too many open files"):
            connect(edge)


def test_a_program_that_ends(monkeypatch: pytest.MonkeyPatch, edge: EdgeThread) -> None:
    """From 3.12 on, no thread can be started at the exit."""

    def ends(_: object) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", ends)
        with pytest.raises(
            MillraceError, match="internal: no thread for the client: can't create new thread"
        ):
            connect(edge)
