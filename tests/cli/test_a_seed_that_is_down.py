"""A seed that is down leaves its trace, and is requested again when it is typed again."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.a_site import page, site_in_thread
from support.killing import typed

QUICK = ("--delay", "0", "--workers", "0")


@pytest.fixture
def closed() -> Iterator[str]:
    """A URL at which nobody listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def test_the_collection_stays_and_says_what_happened(closed: str, collection: Path) -> None:
    ended = typed("crawl", "-c", collection, *QUICK, "--json", closed)

    why = typed("why", "-c", collection, closed)
    status = typed("status", "-c", collection, "--json").summary
    assert ended.code == 3
    assert (ended.summary["failed"], ended.summary["by_reason"]) == (1, {"connect": 1})
    assert closed in ended.err
    assert why.code == 0
    assert "[connect]" in why.out
    assert "It is a seed" in why.out
    assert (status["failed"], status["known"], status["fetched"]) == (1, 1, 0)


def test_the_same_command_requests_it_again(collection: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        command = ("crawl", "-c", collection, *QUICK, "--json", f"http://127.0.0.1:{port}/")
        down = typed(*command)
    with site_in_thread({"/": page("<a href=/a>a</a>"), "/a": page("a")}, port=port):
        up = typed(*command)

    assert (down.code, up.code) == (3, 0)
    assert (up.summary["fetched"], up.summary["failed"], up.summary["known"]) == (2, 0, 2)
    assert up.summary["by_reason"] == {}


def test_going_on_without_a_seed_requests_it_again(collection: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        assert typed("crawl", "-c", collection, *QUICK, f"http://127.0.0.1:{port}/").code == 3
    with site_in_thread({"/": page("x")}, port=port) as site:
        up = typed("crawl", "-c", collection, *QUICK, "--json")

    assert (up.code, up.summary["fetched"]) == (0, 1)
    assert site.asked == ["/robots.txt", "/"]


def test_one_of_two_seeds_that_is_down_is_counted(closed: str, collection: Path) -> None:
    with site_in_thread({"/": page("x")}) as site:
        ended = typed("crawl", "-c", collection, *QUICK, "--json", site.url(), closed)

    assert (ended.code, ended.summary["fetched"], ended.summary["failed"]) == (0, 1, 1)
    assert json.loads(typed("why", "-c", collection, closed, "--json").out)["reason"] == "connect"
