"""The demo web answers over real connections."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

from gossamer.demo.server import DemoWeb, serve
from gossamer.demo.web import build_web


@pytest.fixture(scope="module")
def demo() -> Iterator[DemoWeb]:
    with serve() as running:
        yield running


def ask(
    client: http.client.HTTPConnection, host: str, target: str, method: str = "GET"
) -> tuple[int, bytes]:
    client.request(method, target, headers={"Host": host})
    said = client.getresponse()
    return said.status, said.read()


def test_each_host_gives_its_own_pages_over_one_connection(demo: DemoWeb) -> None:
    web = build_web(demo.port)
    client = http.client.HTTPConnection("127.0.0.1", demo.port)
    try:
        for host in web:
            assert ask(client, f"{host}:{demo.port}", "/") == (200, web[host]["/"].body)
        assert ask(client, "museum.localhost", "/catalogue/")[0] == 301
        assert ask(client, "museum.localhost", "/none")[0] == 404
        assert ask(client, "museum.localhost", "/", "HEAD") == (200, b"")
        assert ask(client, "museum.localhost", "/", "POST")[0] == 405
    finally:
        client.close()


def test_the_seeds_name_the_port(demo: DemoWeb) -> None:
    assert all(f".localhost:{demo.port}/" in seed for seed in demo.seeds)


@pytest.mark.parametrize("request_bytes", [b"rubbish\r\n\r\n", b"x" * 200_000, b"GET /\r\n\r\n"])
def test_what_is_no_request_ends_its_own_connection_only(
    demo: DemoWeb, request_bytes: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", demo.port)) as bad:
        bad.sendall(request_bytes)
        with suppress(ConnectionResetError):  # it may hang up before it has read everything
            assert bad.recv(100) == b""

    client = http.client.HTTPConnection("127.0.0.1", demo.port)
    assert ask(client, "museum.localhost", "/")[0] == 200
    client.close()


def test_a_taken_port_is_an_error_of_the_caller(demo: DemoWeb) -> None:
    with pytest.raises(OSError, match=r"(?i)address"), serve(demo.port):
        pass


def test_the_server_ends_while_clients_are_connected() -> None:
    with serve() as running:
        idle = socket.create_connection(("127.0.0.1", running.port))
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", running.port))
    idle.close()
