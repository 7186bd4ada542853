"""`crawl --dry-run`: it says what a crawl would do, and does nothing of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.a_crawl import crawl
from support.a_site import page, robots, site_in_thread
from support.killing import typed

QUICK = ("--delay", "0", "--workers", "0")


def forecast(*args: str | Path) -> dict[str, Any]:
    ended = typed("crawl", *args, "--dry-run", "--json")
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    assert found["schema"] == 1
    return found


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(f): f.read_bytes() for f in folder.rglob("*") if f.is_file()}


def test_a_new_crawl_is_foreseen_and_nothing_is_made_or_asked(
    tmp_path: Path, collection: Path
) -> None:
    with site_in_thread({"*": page("x")}) as site:
        found = forecast("-c", collection, site.url("/a#x"), site.url("/a"), site.url("/b"))

    assert site.connections == 0
    assert not collection.exists()
    assert found["new"]
    assert found["seeds"] == [site.url("/a"), site.url("/b")]
    assert [(a["in_s"], a["purpose"], a["url"]) for a in found["first"]] == [
        (0.0, "robots", site.url("/robots.txt")),
        (1.0, "page", site.url("/a")),
        (2.0, "page", site.url("/b")),
    ]
    [host] = found["hosts"]
    assert (host["queued"], host["delay_s"], host["robots"]) == (2, 1.0, "asked first")


def test_the_forecast_is_what_the_crawl_then_asks(collection: Path) -> None:
    pages = {"/robots.txt": page("", "404 No"), "*": page("x")}
    with site_in_thread(pages) as site, site_in_thread(pages, host="127.0.0.2") as other:
        seeds = [each.url(f"/{n}") for n in range(4) for each in (site, other)]
        found = forecast("-c", collection, *QUICK, *seeds)
        typed("crawl", "-c", collection, *QUICK, *seeds)

    foreseen = [asked["url"] for asked in found["first"]]
    for each in (site, other):
        paths = [url.removeprefix(each.root) for url in foreseen if url.startswith(each.root)]
        assert paths == each.asked


def test_limits_rules_and_addresses_are_heeded(collection: Path) -> None:
    seeds = [f"http://127.0.0.1:8080/{n}" for n in range(9)]
    found = forecast(
        "-c", collection, *seeds, "http://127.0.0.1:8080/x", "http://[ff02::1]/",
        "--exclude", "*/x", "--max-pages", "3",
    )  # fmt: skip

    assert len([a for a in found["first"] if a["purpose"] == "page"]) == 3
    assert {n["url"]: n["reason"] for n in found["not_asked"]} == {
        "http://127.0.0.1:8080/x": "scope",
        "http://[ff02::1]/": "private",
    }


def test_a_stored_crawl_would_go_on_by_the_rules_it_knows(collection: Path) -> None:
    links = page("<a href=/b>b</a><a href=/no>c</a><a href=/d>d</a>")
    with site_in_thread(
        {"/robots.txt": robots("User-agent: *\nDisallow: /no"), "/": links}
    ) as site:
        crawl(collection, [site.url()], limits__max_pages=1)
        before = files_below(collection)
        found = forecast("-c", collection, site.url(), "--max-pages", "0")

    assert files_below(collection) == before
    assert (found["new"], found["fetched"], found["queued"]) == (False, 1, 3)
    assert [a["url"] for a in found["first"]] == [site.url("/b"), site.url("/d")]
    assert [(n["url"], n["reason"]) for n in found["not_asked"]] == [
        (site.url(), "known"),
        (site.url("/no"), "robots"),
    ]
    assert found["hosts"][0]["robots"] == "known"
    assert found["changed"]["limits.max_pages"] == [1, 0]


def test_people_get_sentences_and_no_secret(collection: Path) -> None:
    ended = typed(
        "crawl", "-c", collection, "https://me:geheim@example.org/", "--dry-run", "--depth", "2",
        "--header", "Authorization: Bearer geheim",
    )  # fmt: skip

    assert ended.code == 0
    assert "geheim" not in ended.out + ended.err
    for words in (
        "Dry run: no request was sent",
        "scope.depth = 2  # command line",
        "0.0 s  robots   https://example.org/robots.txt",
        "example.org: 1 queued, 1 request at a time, 1 s delay",
        "host names were not resolved",
        "--user-agent-contact",
    ):
        assert words in ended.out
    assert "ignored" in ended.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([], "add a start URL"),
        (["not a url"], "is not a URL"),
        (["--scope", "moon", "http://127.0.0.1/"], "--scope"),
        (["http://127.0.0.1:25/"], "cannot be requested"),
        (["http://me:geheim@127.0.0.1:99999/"], "99999"),
    ],
)
def test_what_a_crawl_would_refuse_is_refused(args: list[str], said: str, collection: Path) -> None:
    ended = typed("crawl", "-c", collection, *args, "--dry-run")

    assert ended.code == 2
    assert said in ended.err
    assert "geheim" not in ended.err
    assert not collection.exists()
