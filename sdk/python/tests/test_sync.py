"""millrace.sync: against an edge whose loop runs in another thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import linecache
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import millrace.sync
from millrace import After, Grant, MillraceError
from millrace._thread import LoopThread

from .edge import Edge, Peer, at, edges, everything
from .web import web


class EdgeThread:
    """An edge, and what a test does with it in its thread."""

    def __init__(self, edge: Edge, thread: LoopThread) -> None:
        self.edge = edge
        self.thread = thread
        self.url = edge.url

    @property
    def peer(self) -> Peer:
        return self.thread.call(lambda: self.edge.peer(len(self.edge.peers.all) - 1))

    def do(self, act: Callable[[Peer], object]) -> None:
        peer = self.peer
        assert self.thread.soon(lambda: act(peer))

    def until(self, line: str) -> None:
        peer = self.peer
        self.thread.call(lambda: peer.until(line))


@pytest.fixture
def edge() -> Iterator[EdgeThread]:
    before = {*threading.enumerate()}
    with LoopThread("edge") as thread:
        stack = contextlib.AsyncExitStack()
        (made,) = thread.call(lambda: stack.enter_async_context(edges(1)))
        yield EdgeThread(made, thread)
        thread.call(stack.aclose)
    assert not {thread for thread in threading.enumerate() if thread.name == "millrace"} - before


def connect(edge: EdgeThread, **options: Any) -> millrace.sync.Client:
    return millrace.sync.connect(edge.url, token="AT_1", transports=["websocket"], **options)


def test_all_of_it(edge: EdgeThread) -> None:
    reconnected = threading.Event()
    with connect(edge, on={"reconnected": lambda _: reconnected.set()}, min_back_off=0.001) as client:
        assert (client.edge, client.transport) == (edge.url, "websocket")
        sub = client.subscribe("t", "c")
        assert (sub.tenant, sub.pattern) == ("t", "c")
        client.publish("t", "c", "hello")
        client.publish("t", "c", b"hello", delivery="one-random")
        client.flush()
        assert len(edge.peer.frames.all) == 2
        assert client.rtt is not None

        def deliver(peer: Peer) -> None:
            for n in range(200):
                peer.deliver(str(n))

        edge.do(deliver)
        got: list[str] = []
        for message in sub:
            got.append(message.text())
            if len(got) == 200:
                break
        assert got == [str(n) for n in range(200)]

        with pytest.raises(TimeoutError, match=r"no message has come within 0\.01 s"):
            sub.receive(timeout=0.01)
        with sub:
            edge.do(lambda peer: peer.deliver("x"))
            last = sub.receive(timeout=10)
            assert last is not None
            assert last.text() == "x"
        assert sub.receive() is None
        assert [*sub] == []
        assert sub.ended() is None

        disconnected = threading.Event()
        remove = client.on("disconnected", lambda _: disconnected.set())
        edge.do(Peer.kill)
        assert reconnected.wait(10)
        assert disconnected.is_set()
        remove()
        client.retry()
        with pytest.raises(MillraceError) as caught:
            client.publish("bad tenant", "c", "x")
        assert caught.value.code == "bad_tenant"
    for call in (client.flush, lambda: client.publish("t", "c", "x"), client.closed):
        with pytest.raises(MillraceError) as caught:
            call()
        assert caught.value.code == "closed"
    client.retry()
    client.close()
    sub.unsubscribe()


def test_end_by_the_edge(edge: EdgeThread) -> None:
    with connect(edge) as client:
        sub = client.subscribe("t", "c")
        edge.do(lambda peer: peer.deliver("last"))
        edge.do(Peer.revoke)
        got: list[str] = []
        with pytest.raises(MillraceError) as caught:
            got.extend(message.text() for message in sub)
        assert caught.value.code == "token_revoked"
        ended = client.closed()
        assert ended is not None
        assert ended.code == "token_revoked"


def test_position(edge: EdgeThread) -> None:
    edge.edge.features = "FEATURES:link,history"
    with connect(edge) as client:
        subscribing = threading.Thread(
            target=lambda: subs.append(client.subscribe("t", "c", history=After(at(1))))
        )
        subs: list[millrace.sync.Subscription] = []
        subscribing.start()
        edge.until(f"RSUB:t:c:{at(1)}")
        edge.do(lambda peer: peer.stored(2, 3, 4))
        edge.do(lambda peer: peer.caught_up(5))
        subscribing.join()
        (sub,) = subs
        positions = []
        for _ in range(3):
            assert sub.receive(10) is not None
            positions.append(sub.position)
        assert positions[:2] == [at(2), at(3)]  # of what was given, not of what was taken out of the queue


def test_sender(edge: EdgeThread) -> None:
    with connect(edge, sender=True) as client:
        sub = client.subscribe("t", "c")
        edge.do(lambda peer: peer.deliver_from("alice", "hello"))
        message = sub.receive(10)
        assert message is not None
        assert (message.sender, message.text()) == ("alice", "hello")


def present(edge: EdgeThread, line: str, act: Callable[[Peer], object]) -> None:
    """Tell who is present as soon as the client has asked."""
    edge.until(line)
    edge.do(act)


def test_membership(edge: EdgeThread) -> None:
    edge.edge.features = "FEATURES:link,presence"
    with connect(edge) as client:
        with client.join("t", "c") as m:
            assert (m.tenant, m.channel) == ("t", "c")
            assert edge.peer.lines.all == ["JOIN:t:c"]
        assert edge.peer.lines.all == ["JOIN:t:c", "LEAVE:t:c"]
        assert m.ended() is None
        m.leave()
        edge.do(lambda peer: setattr(peer, "answers", lambda line: f"ERR:no_subject:{line}"))
        with pytest.raises(MillraceError) as caught:
            client.join("t", "c")
        assert caught.value.code == "no_subject"
        edge.do(lambda peer: setattr(peer, "answers", everything))
        m = client.join("t", "d")
    assert edge.peer.lines.all[-1] == "LEAVE:t:d"
    m.leave()  # the client has ended it


def test_presence(edge: EdgeThread) -> None:
    edge.edge.features = "FEATURES:link,presence"
    with connect(edge) as client, concurrent.futures.ThreadPoolExecutor(1) as pool:
        telling = pool.submit(
            present, edge, "WHO:t:c", lambda peer: peer.present("fs", ("c", "bob", 2), ("c", "alice", 1))
        )
        p = client.presence("t", "c")
        telling.result()
        assert (p.tenant, p.pattern, p.synced) == ("t", "c", True)
        assert [m.subject for m in p.members] == ["alice", "bob"]
        seen = []
        client.on("round_trip", lambda _: seen.append(p.members))  # in the client's thread
        client.flush()
        client.flush()
        assert seen[0] == p.members
        counts = client.presence("t", "c", count=True)
        assert (counts.members, counts.counts) == ((), {"c": 2})

        for _ in range(3):
            with pytest.raises(KeyboardInterrupt):
                _interrupt_while(lambda: p.receive())
        edge.do(lambda peer: peer.present("", ("c", "bob", 0), ("c", "carol", 3)))
        change = p.receive(timeout=10)
        assert change is not None
        assert (change.type, change.channel) == ("left", "c")
        for change in p:
            assert change.type == "joined"
            assert change.member == p.members[1]
            break
        with pytest.raises(MillraceError) as caught:
            p.receive(timeout=0.01)
        assert caught.value.code == "timeout"
        with p:
            pass
        assert p.receive() is None
        assert [*p] == []
        assert p.ended() is None
        assert counts.counts == {"c": 2}
    assert [m.subject for m in p.members] == ["alice", "carol"]  # as it was known last
    assert (p.synced, counts.counts) == (False, {"c": 2})
    counts.close()
    with pytest.raises(MillraceError) as caught:
        client.presence("t", "c")
    assert caught.value.code == "closed"


def test_a_presence_that_the_edge_ends(edge: EdgeThread) -> None:
    edge.edge.features = "FEATURES:link,presence"
    with connect(edge) as client, concurrent.futures.ThreadPoolExecutor(1) as pool:
        telling = pool.submit(present, edge, "WHO:t:c", lambda peer: peer.present("fs"))
        p = client.presence("t", "c")
        telling.result()
        edge.do(lambda peer: peer.present("", ("c", "carol", 3)))
        edge.do(Peer.revoke)
        ended = p.ended()
        assert ended is not None
        assert ended.code == "token_revoked"
        got: list[str] = []
        with pytest.raises(MillraceError) as caught:
            got.extend(change.type for change in p)
        assert (caught.value.code, got) == ("token_revoked", ["joined"])


def test_token_provider(edge: EdgeThread) -> None:
    threads = []

    def provide() -> str:
        threads.append(threading.current_thread().name)
        return "AT_2"

    with millrace.sync.connect(edge.url, token_provider=provide, transports=["websocket"]) as client:
        assert edge.peer.token == "AT_2"
        client.renew_token()
    assert len(threads) == 2
    assert "millrace" not in threads  # where it would hold up the client


def test_failures(edge: EdgeThread) -> None:
    edge.edge.refusal = (401, "unauthorized")
    with pytest.raises(MillraceError) as caught:
        connect(edge)
    assert caught.value.code == "unauthorized"
    with pytest.raises(MillraceError) as caught:
        millrace.sync.connect("ftp://x", token="AT_1")
    assert caught.value.code == "bad_option"


def test_calls_from_a_handler(edge: EdgeThread) -> None:
    told: list[MillraceError] = []
    done = threading.Event()

    def handler(_: object) -> None:
        try:
            client.flush()
        except MillraceError as err:
            told.append(err)
        done.set()

    with connect(edge) as client:
        client.on("round_trip", handler)
        client.flush()
        assert done.wait(10)
    assert told[0].code == "bad_option"


async def test_within_a_loop(edge: EdgeThread) -> None:
    """As in a notebook."""
    with connect(edge) as client:
        client.flush()


def test_interrupted(edge: EdgeThread) -> None:
    """A call that is interrupted has ended, and the client goes on; no message is lost."""
    with connect(edge) as client:
        sub = client.subscribe("t", "c")
        for _ in range(5):
            with pytest.raises(KeyboardInterrupt):
                _interrupt_while(lambda: sub.receive())
        edge.do(lambda peer: peer.deliver("x"))
        message = sub.receive(timeout=10)
        assert message is not None
        assert message.text() == "x"
        with pytest.raises(KeyboardInterrupt):
            _interrupt_while(client.closed)
        client.flush()


def _interrupt_while(call: Callable[[], object]) -> None:
    """Sends SIGINT to this thread, once it waits in call.

    Python raises nothing then if it was started with SIGINT ignored, as in the background of a shell script.
    """
    main = threading.main_thread().ident
    assert main is not None
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def interrupt() -> None:
        while LoopThread._wait.__code__ not in _codes(main):
            time.sleep(0.001)  # nothing shows that a thread waits
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    try:
        call()
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


def _codes(ident: int) -> list[object]:
    frame = sys._current_frames().get(ident)
    codes: list[object] = []
    while frame is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes


def test_interrupted_at_any_line(edge: EdgeThread) -> None:
    """An interruption leaves no lock held, wherever it comes: the client and its thread go on."""
    with connect(edge) as client:
        lines = 0
        while _interrupted_at(lines, client.flush):
            lines += 1
            client.flush()
        assert lines > 20


def _interrupted_at(n: int, call: Callable[[], object]) -> bool:
    """Raise KeyboardInterrupt before the n-th line of a call, and say whether it has so many."""

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal n
        if frame.f_globals["__name__"].partition(".")[0] not in (
            "millrace",
            "asyncio",
            "concurrent",
            "threading",
        ):
            return None
        text = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        # Signals are not handled there: at the end of a with block, and before the first line of a try block.
        if event == "line" and not text.lstrip().startswith(("with ", "try:")):
            n -= 1
            if n < 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_program_that_does_not_close(edge: EdgeThread) -> None:
    program = (
        "import millrace.sync, sys\n"
        "client = millrace.sync.connect(sys.argv[1], token='AT_1', transports=['websocket'])\n"
        "client.publish('t', 'c', 'x')\n"
    )
    path = str(Path(millrace.__file__).parents[1])
    result = subprocess.run(  # noqa: S603 (the program is above)
        [sys.executable, "-W", "error", "-c", program, edge.url],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert (result.stdout, result.stderr) == (b"", b"")
    peer = edge.peer
    assert edge.thread.call(lambda: peer.closed.until(lambda _: True)) == 1000
    assert len(peer.frames.all) == 1


def test_token_admin() -> None:
    issued = {"token": "AT_1_2", "token_id": "1", "expires_at": "2026-01-02T03:04:05Z"}
    page = {
        "token_id": "1",
        "created_by": "b",
        "created_at": issued["expires_at"],
        "status": "valid",
        **issued,
    }
    with LoopThread("web") as thread:
        stack = contextlib.AsyncExitStack()
        served = thread.call(
            lambda: stack.enter_async_context(
                web(
                    (200, issued),
                    (200, {"new_expires_at": issued["expires_at"]}),
                    (200, {}),
                    (200, {}),
                    (200, {"revoked": 2}),
                    (200, {"tokens": [page], "next_cursor": "x"}),
                    (200, {"tokens": [page], "next_cursor": ""}),
                    (404, {"code": "unknown_token"}),
                )
            )
        )
        admin = millrace.sync.TokenAdmin(served.url, "MT_1_2")
        assert admin.issue(created_by="b", grants=[Grant(tenants=["t"])], expires_in=60).token == "AT_1_2"
        assert admin.refresh("1", expires_in=60).year == 2026
        admin.revoke("AT_1_2")
        admin.revoke_by_id("1")
        assert admin.revoke_subject("alice") == 2
        assert [token.token_id for token in admin.list()] == ["1", "1"]
        with pytest.raises(MillraceError) as caught:
            admin.revoke("AT_1_2")
        assert caught.value.code == "unknown_token"
        assert "MT_1_2" not in repr(admin)
        thread.call(stack.aclose)
    assert not [thread for thread in threading.enumerate() if thread.name == "millrace-admin"]


def test_loop_thread() -> None:
    thread = LoopThread("test")
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    running = threading.Event()

    async def forever() -> None:
        running.set()
        await asyncio.Event().wait()

    def close() -> None:
        running.wait()
        thread.close()

    closing = threading.Thread(target=close)
    closing.start()
    with pytest.raises(MillraceError) as caught:  # close ends what runs
        thread.call(forever)
    assert caught.value.code == "closed"
    closing.join()
    thread.close()
    assert not thread.soon(lambda: None)
