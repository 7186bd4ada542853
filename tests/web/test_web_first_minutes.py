"""What a new person meets on the page: copies of sites that are gone, one button, a login kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.web.views.gone_pages import gone_among
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import gossamer
from web.a_browser import TOKEN, Browser, Served, served
from web.conftest import Garden


def test_titles_of_a_site_that_is_gone_lead_to_the_copy(server: Served, garden: Garden) -> None:
    text = Browser(server).get("/?q=rose+garden").text

    assert f'class="title" href="/page?url={garden.url("/roses").replace(":", "%3A")}' in (
        text.replace("%2F", "/")
    )
    assert "stored copy" in text
    assert f'href="{garden.url("/roses")}"' in text  # and the site is one click away


def test_titles_of_a_site_that_is_there_lead_to_the_site(tmp_path: Path) -> None:
    with site_in_thread({"/": page("<title>Tulips</title>tulips")}) as site:
        crawl(tmp_path / "tulips", [site.url()])
        server = served(tmp_path / "tulips")
        text = Browser(server).get("/?q=tulips").text
    server.context.collections.close()

    assert f'class="title" href="{site.url()}"' in text
    assert "stored copy" not in text


def test_public_sites_are_not_connected_to_for_a_list_of_results(server: Served) -> None:
    assert gone_among(server.context, "", ["https://example.org/"]) == frozenset()


@pytest.mark.slow
def test_titles_of_an_imported_archive_lead_to_the_copy(garden: Garden, tmp_path: Path) -> None:
    files = sorted((garden.path / "archive").glob("*.warc.gz"))
    assert gossamer("import", "-c", tmp_path / "brought", *files).code == 0
    server = served(tmp_path / "brought")

    assert gone_among(server.context, "", ["https://example.org/"]) == {"https://example.org/"}
    assert "stored copy" in Browser(server).get("/?q=rose").text
    server.context.collections.close()


@pytest.mark.parametrize("path", ["/nowhere", "/crawls/nowhere", "/page?url=&x", "/export?what=x"])
def test_a_page_that_says_what_is_wrong_knows_who_is_logged_in(server: Served, path: str) -> None:
    owner, stranger = Browser(server), Browser(server)
    owner.log_in()

    known, unknown = owner.get(path), stranger.get(path)

    assert known.status_code >= 400
    assert "Log out" in known.text
    assert 'name="csrf"' in known.text
    assert "Log out" not in unknown.text


def test_one_button_goes_on_with_a_crawl_that_has_ended(server: Served) -> None:
    browser = Browser(server)
    csrf = browser.log_in()
    text = browser.get("/crawls/garden").text

    answer = browser.post("/crawls/garden", csrf=csrf, order="resume")

    assert "Go on" not in text
    assert text.count(">Resume</button>") == 1
    assert 'value="resume" disabled' not in text
    assert answer.status_code == 303
    assert server.started[0].words[0] == "crawl"
    # Programs are told what they ask for: a crawl that does not run cannot be resumed.
    assert Browser(server, token=TOKEN).ask("POST", "/api/crawls/nope/resume").status_code == 404
