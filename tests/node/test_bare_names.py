"""Seeds without a scheme: https where it connects, else http, and the choice is told."""

from __future__ import annotations

import asyncio
from pathlib import Path

from gossamer.fetch.guard import AddressGuard
from gossamer.node.bare_names import Chosen, candidates, choose_urls, is_bare
from support.a_site import a_site, page
from support.certificates import Authority, server_context
from support.programs import free_port
from support.rows import each_row


@each_row(
    "text",
    [
        "example.org", "example.org/a/b?c=d", "example.org:8080/x", "localhost", "LOCALHOST:80/x",
        "127.0.0.1:8800", "[::1]:8800/x", " example.org ", "münchen.example", "a.example?q=1",
    ],
)  # fmt: skip
def test_a_host_without_a_scheme_is_a_bare_name(text: str) -> None:
    assert is_bare(text)
    assert candidates(text) == (f"https://{text.strip()}", f"http://{text.strip()}")


@each_row(
    "text",
    [
        "http://example.org", "HTTPS://example.org", "mailto:me@example.org", "me@example.org",
        "ftp://example.org/", "example", "--help", "", "javascript:alert(1)", "two words.example",
        "user:secret@example.org", "/etc/passwd", "data:text/html,x.y",
    ],
)  # fmt: skip
def test_everything_else_is_left_as_it_was_typed(text: str) -> None:
    assert not is_bare(text)
    assert candidates(text) == (text,)


def test_https_is_taken_where_it_connects_whatever_its_certificate(tmp_path: Path) -> None:
    async def chosen() -> list[Chosen]:
        certificate = Authority.make(tmp_path).sign("127.0.0.1")
        async with a_site({"/": page("x")}, tls=server_context(certificate)) as site:
            return await choose_urls([f"127.0.0.1:{site.port}/x"])

    (one,) = asyncio.run(chosen())

    assert one.url == f"https://{one.typed}"
    assert one.message == f"Using {one.url} for {one.typed}: https connects."


def test_http_is_taken_where_https_does_not_connect_and_the_choice_is_told() -> None:
    async def chosen() -> tuple[list[Chosen], list[str]]:
        async with a_site({"/": page("x")}) as site:
            texts = [f"localhost:{site.port}", f"localhost:{site.port}/b", f"{site.root}/c"]
            return await choose_urls(texts), site.asked

    (first, second, whole), asked = asyncio.run(chosen())

    assert first.url == f"http://{first.typed}"
    assert second.url == f"http://{second.typed}"
    assert "https does not connect" in first.message
    assert (whole.url, whole.message) == (whole.typed, "")
    assert asked == []  # nothing is requested, only connected to


def test_a_name_that_does_not_connect_at_all_is_https_so_that_the_crawl_tells_why() -> None:
    text = f"127.0.0.1:{free_port()}"

    (one,) = asyncio.run(choose_urls([text]))

    assert one.url == f"https://{text}"
    assert one.why == "neither https (connection refused) nor http connects"


def test_an_address_that_is_forbidden_is_not_connected_to() -> None:
    async def chosen() -> tuple[list[Chosen], int]:
        async with a_site({"/": page("x")}) as site:
            text = f"127.0.0.1:{site.port}"
            return await choose_urls([text], AddressGuard(), is_trusted=False), site.connections

    (one,), connections = asyncio.run(chosen())

    assert one.url.startswith("https://")
    assert connections == 0


def test_behind_a_proxy_nobody_is_connected_to() -> None:
    async def chosen() -> tuple[list[Chosen], int]:
        async with a_site({"/": page("x")}) as site:
            return await choose_urls([f"localhost:{site.port}"], probe=False), site.connections

    (one,), connections = asyncio.run(chosen())

    assert (one.url.partition(":")[0], one.why) == ("https", "https is the default")
    assert connections == 0
