"""Start another visit of the pages from the web interface: once, or again and again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.web.visit_options import visit_words
from support.rows import each_row
from web.a_browser import TOKEN, Browser, served
from web.conftest import Garden


def test_options_become_flags_of_the_crawl() -> None:
    assert visit_words({}) == []
    assert visit_words({"revisit": True, "older_than": "7d"}) == ["--revisit", "--older-than=7d"]
    assert visit_words({"forever": True, "refresh": "uniform", "rate": "5/s"}) == [
        "--forever", "--refresh=uniform", "--rate=5/s",
    ]  # fmt: skip


@each_row(
    ("options", "said"),
    [
        ({"revisit": True, "forever": True}, "choose one"),
        ({"older_than": "7d"}, "needs revisit"),
        ({"refresh": "optimal"}, "needs forever"),
        ({"revisit": True, "older_than": "soon"}, "is not a duration"),
        ({"forever": True, "rate": "fast"}, "is not a rate"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        visit_words(options)


@pytest.fixture
def stored(garden: Garden, tmp_path: Path) -> Path:
    home = tmp_path / "garden"
    shutil.copytree(garden.path, home)
    return home


def test_a_stored_crawl_is_visited_once_more_from_the_page(stored: Path) -> None:
    server = served(stored)
    browser = Browser(server)
    csrf = browser.log_in()
    assert "Visit the pages again" in browser.get("/crawls/garden").text

    given = {"csrf": csrf, "order": "again", "revisit": "1", "older_than": "7d"}
    assert browser.post("/crawls/garden", **given).status_code == 303

    words = server.started[-1].words
    assert words[0] == "crawl"
    assert {"--revisit", "--older-than=7d"} <= set(words)
    server.context.collections.close()


def test_a_stored_crawl_is_visited_again_and_again_by_the_api(stored: Path) -> None:
    server = served(stored)
    browser = Browser(server, token=TOKEN)
    body = {"forever": True, "refresh": "optimal", "rate": "2/s"}

    answer = browser.ask("POST", "/api/crawls/garden/start", json=body)

    assert answer.status_code == 202
    assert {"--forever", "--refresh=optimal", "--rate=2/s"} <= set(server.started[-1].words)
    server.context.collections.close()


def test_a_new_crawl_may_run_for_ever(stored: Path) -> None:
    server = served(stored)
    browser = Browser(server, token=TOKEN)
    body = {"seeds": ["https://a.example/"], "forever": True, "user_agent_contact": "me@a.example"}

    assert browser.ask("POST", "/api/crawls", json=body).status_code == 202
    assert "--forever" in server.started[-1].words
    server.context.collections.close()


def test_wrong_options_start_nothing(stored: Path) -> None:
    server = served(stored)
    browser = Browser(server, token=TOKEN)
    for path, body in (
        ("/api/crawls/garden/start", {"older_than": "7d"}),
        ("/api/crawls/garden/pause", {"revisit": True}),
        ("/api/crawls/garden/start", {"forever": True, "webhook": "http://a.example/"}),
        ("/api/crawls", {"seeds": ["https://a.example/"], "refresh": "optimal"}),
        ("/api/crawls", {"seeds": ["https://a.example/"], "run": "touch x"}),
    ):
        assert browser.ask("POST", path, json=body).status_code == 400, (path, body)
    csrf = browser.log_in()
    assert browser.post("/crawls/garden", csrf=csrf, order="again").status_code == 400
    assert server.started == []
    server.context.collections.close()


def test_a_reader_cannot_start_visits(stored: Path) -> None:
    server = served(stored)
    browser = Browser(server)

    assert (
        browser.ask("POST", "/api/crawls/garden/start", json={"revisit": True}).status_code == 401
    )
    assert "Visit the pages again" not in browser.get("/crawls/garden").text
    server.context.collections.close()
