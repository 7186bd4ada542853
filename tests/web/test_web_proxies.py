"""Whom a guess is counted against, where a proxy stands before the server."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from gossamer.errors import UsageError
from gossamer.web.protect.proxies import Proxies, read_proxies
from support.rows import each_row
from web.a_browser import Served, served
from web.conftest import Garden

OURS = read_proxies(["192.0.2.0/24", "2001:db8::1"])


@each_row(
    ("peer", "forwarded", "client"),
    [
        ("198.51.100.7", ["203.0.113.9"], "198.51.100.7"),  # a stranger is not believed
        ("192.0.2.1", [], "192.0.2.1"),
        ("192.0.2.1", ["203.0.113.9"], "203.0.113.9"),
        ("::ffff:192.0.2.1", ["203.0.113.9"], "203.0.113.9"),
        ("2001:db8::1", ["[2001:db8::7]:4711"], "2001:db8::7"),
        ("192.0.2.1", ["203.0.113.9:80"], "203.0.113.9"),
        ("192.0.2.1", ["198.51.100.1, 203.0.113.9"], "203.0.113.9"),  # the first is made up
        ("192.0.2.1", ["198.51.100.1", "203.0.113.9, 192.0.2.8"], "203.0.113.9"),  # two proxies
        ("192.0.2.1", ["192.0.2.9"], "192.0.2.9"),  # a proxy that asks for itself
        ("192.0.2.1", ["unknown"], "192.0.2.1"),
        ("192.0.2.1", ["203.0.113.9, x"], "192.0.2.1"),
        ("192.0.2.1", [", ,"], "192.0.2.1"),
        ("", ["203.0.113.9"], ""),
    ],
)
def test_the_last_who_is_no_proxy_of_ours_is_the_client(
    peer: str, forwarded: list[str], client: str
) -> None:
    assert OURS.client(peer, forwarded) == client


def test_by_default_nobody_is_believed() -> None:
    assert Proxies().client("127.0.0.1", ["203.0.113.9"]) == "127.0.0.1"


@each_row("text", ["", "proxy.example", "10.0.0.0/33", "1.2.3"])
def test_what_names_no_proxy_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a proxy address"):
        read_proxies([text])


def _guess(server: Served, client: str, word: str) -> int:
    """The status of a guess that comes through a proxy at 192.0.2.1."""

    async def ask() -> int:
        transport = httpx.ASGITransport(server.app, client=("192.0.2.1", 4711))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8800"
        ) as browser:
            headers = {"x-forwarded-for": client}
            return (await browser.post("/login", data={"word": word}, headers=headers)).status_code

    return asyncio.run(ask())


def test_wrong_guesses_of_one_visitor_lock_no_other_out(garden: Garden) -> None:
    server = served(garden.path)
    server.context.credentials.proxies = OURS

    guesses = [_guess(server, "203.0.113.9", "a wrong word") for _ in range(6)]

    assert guesses == [401] * 5 + [429]
    assert _guess(server, "203.0.113.10", server.context.credentials.token) == 303
    server.context.collections.close()


def test_a_header_of_a_stranger_makes_no_new_visitor(garden: Garden) -> None:
    server = served(garden.path)

    guesses = [_guess(server, f"203.0.113.{number}", "a wrong word") for number in range(6)]

    assert guesses == [401] * 5 + [429]
    server.context.collections.close()
