"""Big answers of a real server: all of them come, for quick clients and beside slow ones."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from support.a_crawl import crawl
from support.a_server import Server, serving
from support.a_site import page, site_in_thread

BIG = "/api/search?q=the%20garden&limit=100&explain=1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("big") / "garden"
    words = "The garden is long, and the path of the garden is longer still. " * 30
    numbers = range(110)
    pages = {f"/{n}": page(f"<title>Garden {n}</title><p>{n} {words}</p>") for n in numbers}
    pages["/"] = page("".join(f"<a href=/{n}>{n}</a>" for n in numbers))
    with site_in_thread(pages) as site:
        crawl(home, [site.url()])
    with serving(home) as running:
        yield running


def test_answers_over_16_kilobytes_all_come(server: Server) -> None:
    answers = [server.client.get(BIG) for _ in range(20)]

    assert [one.status_code for one in answers] == [200] * 20
    assert {len(one.json()["hits"]) for one in answers} == {100}
    assert min(len(one.content) for one in answers) > 32 * 2**10


def test_slow_clients_with_big_answers_keep_nobody_waiting(server: Server) -> None:
    host, _, port = server.root.removeprefix("http://").partition(":")
    with ExitStack() as stack:
        for _ in range(20):
            slow = stack.enter_context(socket.socket())
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            slow.connect((host, int(port)))
            slow.sendall(f"GET {BIG} HTTP/1.1\r\nhost: {host}:{port}\r\n\r\n".encode())
        clients = stack.enter_context(ThreadPoolExecutor(8))
        big = list(clients.map(lambda _: server.client.get(BIG), range(24)))
        small = list(clients.map(lambda _: server.client.get("/api/search?q=path"), range(40)))

    assert {one.status_code for one in (*big, *small)} == {200}
    assert {len(one.json()["hits"]) for one in big} == {100}
