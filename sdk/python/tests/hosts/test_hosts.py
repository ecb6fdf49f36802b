"""The code of docs/reference/python.md where it says that it runs, and clients that were made before a fork."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

import millrace

from ..edge import WAIT
from ..test_sync import EdgeThread, edge

__all__ = ["edge"]

PAGE = Path(__file__).parents[4] / "docs" / "reference" / "python.md"


class Host:
    """A folder with the code of the page, and what runs there."""

    def __init__(self, folder: Path, edge: EdgeThread) -> None:
        self.folder = folder
        self.edge = edge
        for name, code in re.findall(r"```python (\w+\.py)\n(.*?)```", PAGE.read_text(), re.DOTALL):
            (folder / name).write_text(code.replace("http://localhost:8080", edge.url))
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(Path(millrace.__file__).parents[1]),
            "MILLRACE_TOKEN": "AT_1",
        }

    def write(self, name: str, code: str) -> None:
        (self.folder / name).write_text(code.replace("URL", repr(self.edge.url)))

    @contextlib.contextmanager
    def runs(self, ready: str, *arguments: str, end: int = signal.SIGTERM) -> Iterator[list[str]]:
        """Run Python until the block ends, which begins when a line has come; it gives the lines so far."""
        lines: list[str] = []
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if re.search(ready, line):
                    break
            else:
                raise AssertionError("".join(lines))
            yield lines
            process.send_signal(end)
            lines.append(process.communicate(timeout=WAIT)[0])
            assert process.returncode in (0, -end), "".join(lines)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()

    def published(self, *texts: str) -> None:
        """Wait until the edge has got what was published, in any order."""

        async def came() -> None:
            for end in [text.encode() for text in texts]:
                await self.edge.edge.frames.until(partial(_ends, end))

        self.edge.thread.call(came)


@pytest.fixture
def host(tmp_path: Path, edge: EdgeThread) -> Host:
    return Host(tmp_path, edge)


@pytest.fixture
def port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def _ends(text: bytes, frame: bytes) -> bool:
    return frame.endswith(text)


def post(port: int, text: str) -> str:
    end = time.monotonic() + WAIT
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", text.encode(), timeout=WAIT) as answer:
                return str(answer.read().decode())
        except (
            urllib.error.URLError
        ) as err:  # with --reuse-port, workers bind after they have said that they boot
            if not isinstance(err.reason, ConnectionRefusedError) or time.monotonic() > end:
                raise
            time.sleep(0.02)


STARLETTE = """
from lifespan import lifespan
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

async def publish(request):
    await request.app.state.millrace.publish("t", "c", await request.body())
    return PlainTextResponse("published\\n")

app = Starlette(routes=[Route("/", publish, methods=["POST"])], lifespan=lifespan)
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_uvicorn(host: Host, port: int, loop: str) -> None:
    host.write("service.py", STARLETTE)
    with host.runs("running on", "-m", "uvicorn", "service:app", "--loop", loop, "--port", str(port)):
        assert post(port, "by uvicorn") == "published\n"
        host.published("by uvicorn")


WSGI = """
import os
from clients import client_of

def app(environ, start_response):
    client_of(os.getpid()).publish("t", "c", environ["wsgi.input"].read())
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"published\\n"]
"""


@pytest.mark.parametrize("preload", ["--preload", "--reuse-port"])
def test_gunicorn(host: Host, port: int, preload: str) -> None:
    host.write("publisher.py", WSGI)
    where = f"127.0.0.1:{port}"
    with host.runs("Booting worker", "-m", "gunicorn", preload, "--bind", where, "publisher:app"):
        assert post(port, "by gunicorn") == "published\n"
        host.published("by gunicorn")


INHERITED = """
import millrace.sync

client = millrace.sync.connect(URL, token="AT_1")  # in the arbiter, with --preload

def app(environ, start_response):
    try:
        client.publish("t", "c", "x")
    except millrace.MillraceError as err:
        start_response("200 OK", [])
        return [str(err).encode()]
"""


def test_gunicorn_with_a_client_of_the_arbiter(host: Host, port: int) -> None:
    """Requests are answered, and workers end at once: the graceful timeout is longer than the test."""
    host.write("inherited.py", INHERITED)
    command = ("-m", "gunicorn", "--preload", "--graceful-timeout", "600", "--timeout", "600")
    with host.runs("Booting worker", *command, "--bind", f"127.0.0.1:{port}", "inherited:app"):
        assert post(port, "") == "bad_option: made before a fork: connect in the child"


CONNECT = """
import millrace.sync

def connect(**_):
    global client
    client = millrace.sync.connect(URL, token="AT_1", connect_timeout=3, fail_fast=True)

def publish(text):
    client.publish("t", "c", text)
    client.flush()
"""

CELERY = """
import os
from celery import Celery
from celery.signals import worker_process_init
import connecting

app = Celery("tasks", broker="filesystem://")
worker_process_init.connect(connecting.connect)
publish = app.task(connecting.publish)
app.conf.broker_transport_options = {"polling_interval": 0.05, "data_folder_in": "queue", "data_folder_out": "queue"}
"""


def test_celery(host: Host) -> None:
    (host.folder / "queue").mkdir()
    (host.folder / "control").mkdir()
    host.write("connecting.py", CONNECT)
    host.write("tasks.py", CELERY)
    command = ("-m", "celery", "-A", "tasks", "worker", "--concurrency=2", "--loglevel=INFO")
    with host.runs(" ready", *command, "--without-gossip", "--without-mingle", "--without-heartbeat"):
        send = "import tasks\nfor n in '123': tasks.publish.delay(n)"
        subprocess.run([sys.executable, "-c", send], cwd=host.folder, env=host.environment, check=True)  # noqa: S603
        host.published("1", "2", "3")


INITIALIZED = """
from concurrent.futures import ProcessPoolExecutor
from connecting import connect, publish

if __name__ == "__main__":
    with ProcessPoolExecutor(2, initializer=connect) as pool:
        list(pool.map(publish, ["1", "2", "3"]))
"""

POOL = """
import multiprocessing, sys
from concurrent.futures import ProcessPoolExecutor
import millrace.sync

def publish(text):
    try:
        client.publish("t", "c", text)
    except millrace.MillraceError as err:
        return str(err)

if __name__ == "__main__":
    client = millrace.sync.connect(URL, token="AT_1")
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        print(pool.submit(publish, "x").result())
    client.publish("t", "c", "by the parent")
    client.flush()
"""


def test_pools(host: Host) -> None:
    def run(name: str) -> str:
        command = [sys.executable, "-W", "ignore::DeprecationWarning", name]
        done = subprocess.run(  # noqa: S603
            command, cwd=host.folder, env=host.environment, capture_output=True, text=True, timeout=WAIT
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    host.write("connecting.py", CONNECT)
    host.write("pool.py", INITIALIZED)
    assert run("pool.py") == ""
    host.published("1", "2", "3")
    host.write("inherited.py", POOL)
    assert run("inherited.py") == "bad_option: made before a fork: connect in the child\n"
    host.published("by the parent")


CELL = """
import millrace.sync

if "client" in globals():
    client.close()
client = millrace.sync.connect(URL, token="AT_1")
"""


def test_a_cell_that_is_run_again(host: Host) -> None:
    """As a kernel runs it: in the same globals."""
    host.write("cell.py", CELL)
    code = (host.folder / "cell.py").read_text()
    cells: dict[str, object] = {}
    exec(code, cells)  # noqa: S102
    first = host.edge.peer
    exec(code, cells)  # noqa: S102
    host.edge.thread.call(lambda: first.closed.until(lambda _: True))
    assert len(host.edge.edge.peers.all) == 2
    exec("client.close()", cells)  # noqa: S102
