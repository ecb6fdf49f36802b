"""Real parts between a client and an edge: a forward proxy, and a name server that does not answer."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import millrace
from millrace import MillraceError

from ..edge import WAIT, edges
from ..fixture import tried


@contextlib.contextmanager
def tinyproxy(folder: Path, port: int) -> Iterator[None]:
    """Run tinyproxy, which lets ann through."""
    file = folder / "tinyproxy.conf"
    file.write_text(f"Port {port}\nListen 127.0.0.1\nBasicAuth ann secret1\nMaxClients 20\n")
    with subprocess.Popen(["tinyproxy", "-d", "-c", str(file)], stdout=subprocess.PIPE, text=True) as process:  # noqa: S603, S607
        assert process.stdout is not None
        for line in process.stdout:
            if "Accepting connections" in line:
                break
        try:
            yield
        finally:
            process.kill()
            process.communicate()


async def test_tinyproxy(tmp_path: Path) -> None:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    async with edges(2) as all_:
        with tinyproxy(tmp_path, port):
            url = f"http://ann:s%65cret1@127.0.0.1:{port}"
            async with tried([edge.url for edge in all_], proxy=url) as it:
                await it.client.subscribe("t", "c", on_message=it.take)
                await it.client.publish("t", "c", "x")
                edge = next(edge for edge in all_ if edge.url == it.client.edge)
                (await edge.peer(0)).deliver("hello")
                await it.has("hello")
                (await edge.peer(0)).kill()
                await it.event("reconnected")
            for wrong in (f"http://127.0.0.1:{port}", f"http://ann:wrong@127.0.0.1:{port}"):
                with pytest.raises(MillraceError, match=r"unreachable: the proxy .* asks for .*credentials"):
                    await millrace.connect(all_[0].url, token="AT_1", proxy=wrong)
        with pytest.raises(MillraceError, match="unreachable: no connection to the proxy"):
            await millrace.connect(all_[0].url, token="AT_1", proxy=url)


# In a network of its own, with a name server that takes questions and says nothing; glibc asks five times, 30 s each.
SILENT = """
set -e
ip link set lo up
printf 'nameserver 127.0.0.1\\noptions timeout:30 attempts:5\\n' >"$1/resolv.conf"
mount --bind "$1/resolv.conf" /etc/resolv.conf
printf 'hosts: dns\\n' >"$1/nsswitch.conf"
mount --bind "$1/nsswitch.conf" /etc/nsswitch.conf
exec "$2" "$3"
"""

CLIENT = """
import asyncio, socket, time, millrace, millrace.sync
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 53))
async def connected(transport):
    async with millrace.connect("https://edge.example.com", token="AT_1", transports=[transport], connect_timeout=1):
        pass
for transport in ("websocket", "webtransport"):
    try: asyncio.run(connected(transport))
    except millrace.MillraceError as err: print(err)
    try: millrace.sync.connect("https://edge.example.com", token="AT_1", transports=[transport], connect_timeout=1)
    except millrace.MillraceError as err: print(err)
server.settimeout(10)
assert b"edge" in server.recv(512)
"""


def test_a_name_server_that_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "client.py").write_text(CLIENT)
    command = ["unshare", "--net", "--mount", "sh", "-c", SILENT, "sh", str(tmp_path), sys.executable]
    done = subprocess.run(  # noqa: S603
        [*command, str(tmp_path / "client.py")],
        capture_output=True,
        text=True,
        timeout=WAIT,  # without limits, it would be 150 s for each attempt
        check=False,
        env={"PYTHONPATH": str(Path(millrace.__file__).parents[1])},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["timeout"] * 4
    assert done.stdout.count("no name server has answered for edge.example.com") == 4
