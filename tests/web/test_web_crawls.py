"""Crawls from the page: what is started, with which words, and what is refused."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from gossamer.errors import UsageError
from gossamer.web.crawls import judge_scope, new_crawl
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden


def test_a_form_starts_a_crawl_with_the_words_of_the_command_line(server: Served) -> None:
    browser = Browser(server)
    csrf = browser.log_in()

    answer = browser.post(
        "/crawls", csrf=csrf, seeds="https://a.example/x\n", type="pdf", scope="prefix",
        order="depth", max_pages="50", depth="3", delay="2.5", exclude="*/old/*\n*,-x*",
    )  # fmt: skip

    assert (answer.status_code, answer.headers["location"]) == (303, "/crawls/a-example")
    words = list(server.started[0].words)
    assert words[0] == "crawl"
    assert words[1].endswith("/crawls/a-example")
    assert {"--type=pdf", "--scope=prefix", "--order=depth", "--max-pages=50", "--depth=3"} <= set(
        words
    )
    assert [w for w in words if "--exclude" in w] == ["--exclude=*/old/*", "--exclude=*,-x*"]
    assert words[-2:] == ["--", "https://a.example/x"]


def test_a_program_starts_a_crawl_and_sees_it_start(server: Served) -> None:
    program = Browser(server, token=TOKEN)

    answer = program.ask("POST", "/api/crawls", json={"seeds": ["a.example"], "name": "mine"})

    assert answer.status_code == 202
    assert (answer.json()["crawl"], answer.json()["state"]) == ("mine", "starting")
    assert "mine" in [one["crawl"] for one in program.get("/api/crawls").json()["crawls"]]


def test_a_crawl_that_ended_badly_says_why(server: Served) -> None:
    program = Browser(server, token=TOKEN)
    program.ask("POST", "/api/crawls", json={"seeds": ["a.example"], "name": "mine"})
    server.started[0].code = 3

    status = program.get("/api/status?c=mine").json()

    assert (status["state"], status["said"]) == ("failed", "gossamer: what it said")
    assert "what it said" in program.get("/crawls/mine").text


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"seeds": []},
        {"seeds": ["mailto:x@a.example"]},
        {"seeds": ["--help"]},
        {"seeds": ["http://a.example/"], "name": "../x"},
        {"seeds": ["http://a.example/"], "name": "garden"},
        {"seeds": ["http://a.example/"], "max_pages": -1},
        {"seeds": ["http://a.example/"], "max_pages": "many"},
        {"seeds": ["http://a.example/"], "scope": "galaxy"},
        {"seeds": ["http://a.example/"], "include": ["re:("]},
        {"seeds": ["http://a.example/"], "order": "random walk"},
        {"seeds": "http://a.example/\ud800"},
        {"seeds": [1]},
        [],
    ],
)
def test_a_crawl_that_cannot_be_is_not_started(server: Served, body: object) -> None:
    answer = Browser(server, token=TOKEN).ask(
        "POST",
        "/api/crawls",
        content=json.dumps(body),
        headers={"content-type": "application/json"},
    )

    assert answer.status_code == 400
    assert answer.json()["error"]
    assert server.started == []


def test_what_belongs_to_the_machine_cannot_be_set_from_the_page() -> None:
    for option in ("ban", "domains", "header", "allow_private", "fetch.headers"):
        with pytest.raises(UsageError, match="cannot be set in the web interface"):
            new_crawl("", ["http://a.example/"], {option: "/etc/passwd"}, [])


def test_a_form_with_a_fault_comes_back_filled_in(server: Served) -> None:
    browser = Browser(server)
    csrf = browser.log_in()

    answer = browser.post("/crawls", csrf=csrf, seeds="mailto:me", max_pages="77")

    assert answer.status_code == 400
    assert "is not a URL" in answer.text
    assert ">mailto:me</textarea>" in answer.text
    assert 'value="77"' in answer.text


def test_a_second_crawl_of_a_host_has_a_name_of_its_own() -> None:
    crawl = new_crawl("", ["http://a.example/"], {}, ["a-example", "a-example-2"])

    assert crawl.name == "a-example-3"


def test_the_tester_says_in_or_out_and_why() -> None:
    urls = ["http://a.example/d/x", "http://a.example/y", "ftp://a.example/"]

    first, second, third = judge_scope(["http://a.example/d/"], {"scope": "prefix"}, urls)

    assert (first.is_in, first.because) == (True, "it is in http://a.example/d/")
    assert (second.is_in, second.because) == (False, "it is not in the directory of a seed")
    assert not third.is_in


def test_a_stored_crawl_can_go_on(server: Served) -> None:
    browser = Browser(server)
    csrf = browser.log_in()

    browser.post("/crawls/garden", csrf=csrf, order="start")

    assert list(server.started[0].words)[:1] == ["crawl"]
    assert server.started[0].words[-1].endswith("garden")
    assert browser.get("/api/status").json()["state"] == "starting"


def test_orders_to_a_crawl_that_does_not_run_are_no_fault_of_ours(server: Served) -> None:
    program = Browser(server, token=TOKEN)

    for order in ("pause", "resume", "stop"):
        assert program.ask("POST", f"/api/crawls/garden/{order}").status_code == 409
        assert program.ask("POST", f"/api/crawls/nope/{order}").status_code == 404
    assert program.ask("POST", "/api/crawls/nope/start").status_code == 404
    assert program.ask("POST", "/api/crawls/garden/explode").status_code == 400


def test_clearing_needs_the_name_typed(garden: Garden, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(garden.path, copy)
    server = served(copy)
    program = Browser(server, token=TOKEN)
    assert program.get("/api/search?q=rose").json()["total"] == 3

    unsure = program.ask("DELETE", "/api/crawls/copy", json={"confirm": "yes"})
    sure = program.ask("DELETE", "/api/crawls/copy", json={"confirm": "copy"})

    assert (unsure.status_code, sure.status_code) == (400, 200)
    assert not (copy / "archive").exists()
    assert program.get("/api/search?q=rose").status_code == 404
    assert program.get("/api/status").json()["state"] == "none"
    assert program.ask("DELETE", "/api/crawls/copy", json={"confirm": "copy"}).status_code == 404


def test_a_collection_made_anew_is_opened_anew(garden: Garden, tmp_path: Path) -> None:
    home = tmp_path / "copy"
    shutil.copytree(garden.path, home)
    server = served(home)
    browser = Browser(server)
    assert browser.get("/api/hosts").status_code == 200

    shutil.rmtree(home)
    assert browser.get("/api/hosts").status_code == 404
    shutil.copytree(garden.path, home)

    assert browser.get("/api/hosts").json()["total"] == 3
    assert browser.get("/api/search?q=rose").json()["total"] == 3
    server.context.collections.close()


def test_collections_in_the_folder_are_listed_beside_the_first(
    garden: Garden, tmp_path: Path
) -> None:
    shutil.copytree(garden.path, tmp_path / "crawls" / "second")
    (tmp_path / "crawls" / "no collection").mkdir()
    (tmp_path / "crawls" / ".output").mkdir()
    server = served(tmp_path / "first")

    assert server.context.collections.names() == ["second"]
    assert Browser(server).get("/api/search?q=rose&c=second").json()["total"] == 3
    server.context.collections.close()


def test_a_collection_that_cannot_be_read_hides_no_other(garden: Garden, tmp_path: Path) -> None:
    shutil.copytree(garden.path, tmp_path / "garden")
    shutil.copytree(garden.path, tmp_path / "crawls/broken")
    (tmp_path / "crawls/broken/state/CURRENT").write_text("damaged")
    server = served(tmp_path / "garden")
    program = Browser(server, token=TOKEN)

    whole, broken = program.get("/api/crawls").json()["crawls"]

    assert (whole["state"], broken["state"]) == ("stored", "failed")
    assert "the state is damaged" in broken["said"]
    assert program.get("/metrics").status_code == program.get("/crawls").status_code == 200
    assert "the state is damaged" in program.get("/crawls/broken").text
    server.context.collections.close()


def test_a_crawl_that_failed_and_left_pages_goes_on_and_keeps_its_name(
    garden: Garden, tmp_path: Path
) -> None:
    shutil.copytree(garden.path, tmp_path / "garden")
    server = served(tmp_path / "garden")
    program = Browser(server, token=TOKEN)
    program.ask("POST", "/api/crawls/garden/start")
    server.started[-1].code = 1

    again = program.ask(
        "POST", "/api/crawls", json={"seeds": ["http://a.example/"], "name": "garden"}
    )
    button = re.search(
        r'<button name="order" value="resume" *(disabled)?', program.get("/crawls/garden").text
    )

    assert again.status_code == 400
    assert button
    assert not button[1]
    assert program.ask("POST", "/api/crawls/garden/start").status_code == 202
    server.context.collections.close()
