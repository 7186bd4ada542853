"""More connections than places, more live views than may be: ordinary requests go on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from gossamer.base.handles import room_for_connections
from gossamer.web.protect.connection_limit import ConnectionLimit
from gossamer.web.protect.live_view_limit import MOST_OF_ONE, MOST_WATCHERS, LiveViewLimit
from support.a_server import Server, serving
from web.conftest import Garden


def test_the_one_that_waited_longest_makes_room() -> None:
    room = ConnectionLimit(most=2)
    room.wait("a")
    room.wait("b")
    assert room.superfluous() is None

    room.work("a")
    room.wait("c")
    assert room.superfluous() == "b"
    room.leave("b")
    assert room.superfluous() is None


def test_where_nobody_waits_the_new_one_goes() -> None:
    room = ConnectionLimit(most=1)
    room.work("a")
    room.wait("b")

    assert room.superfluous() == "b"


def test_who_waits_again_waits_anew() -> None:
    room = ConnectionLimit(most=1)
    room.wait("a")
    room.wait("b")
    room.work("a")
    room.wait("a")

    assert room.superfluous() == "b"
    assert room.taken == 2


def test_live_views_have_a_limit_for_each_client_and_for_all() -> None:
    watchers = LiveViewLimit()

    told = [watchers.enter("one") for _ in range(MOST_OF_ONE + 1)]
    others = [watchers.enter(f"client {number}") for number in range(MOST_WATCHERS)]

    assert told[:-1] == [""] * MOST_OF_ONE
    assert "close one" in told[-1]
    assert others.count("") == MOST_WATCHERS - MOST_OF_ONE
    watchers.leave("one")
    assert watchers.enter("another") == ""
    assert len(watchers) == MOST_WATCHERS


@pytest.fixture(scope="module")
def running(garden: Garden) -> Iterator[Server]:
    if room_for_connections(1_300) < 1_300:
        pytest.skip("this system allows too few open files")
    with serving(garden.path) as server:
        yield server


def connected(stack: ExitStack, server: Server, sent: bytes) -> socket.socket:
    host, _, port = server.root.removeprefix("http://").partition(":")
    one = stack.enter_context(socket.create_connection((host, int(port)), 20))
    one.sendall(sent)
    return one


def head_of(server: Server, path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nhost: {server.root.removeprefix('http://')}\r\n".encode()


def ordinary(server: Server) -> list[int]:
    paths = ("/healthz", "/", "/api/search?q=rose", "/crawls", "/api/status")
    return [server.client.get(path).status_code for path in paths]


@pytest.mark.slow
def test_half_sent_heads_keep_nobody_out(running: Server) -> None:
    with ExitStack() as stack:
        for _ in range(1_050):
            connected(stack, running, head_of(running, "/"))

        assert ordinary(running) == [200] * 5


@pytest.mark.slow
def test_live_views_over_the_limit_are_refused_and_all_else_goes_on(running: Server) -> None:
    with ExitStack() as stack:
        views = [
            connected(stack, running, head_of(running, "/api/events") + b"\r\n")
            for _ in range(1_050)
        ]
        answers = [one.recv(12) for one in views]

        assert answers.count(b"HTTP/1.1 200") == MOST_OF_ONE
        assert answers.count(b"HTTP/1.1 429") == 1_050 - MOST_OF_ONE
        assert ordinary(running) == [200] * 5


@pytest.mark.slow
def test_what_a_killed_server_left_in_the_temporary_folder_is_removed_by_the_next(
    garden: Garden, tmp_path: Path
) -> None:
    def left() -> list[str]:
        return sorted(path.name for path in tmp_path.iterdir())

    words = [sys.executable, "-m", "gossamer", "serve", "-c", str(garden.path), "--port", "0"]
    for _ in range(2):
        with subprocess.Popen(
            words, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
        ) as process:
            assert process.stderr is not None
            root = process.stderr.readline().split()[1].partition("/login")[0]
            assert httpx.get(f"{root}/api/hosts", timeout=90).status_code == 200
            (own,) = left()  # that of the one before is gone
            assert own.startswith("gossamer-serve-")
            process.send_signal(signal.SIGKILL)
        assert left() == [own]
