"""`why` and a dry run show the parts of a score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed

LINKS = {"/": "abc", "/a": "bd", "/b": "d", "/c": "", "/d": "ef", "/e": "", "/f": ""}
MIX = "3 backlinks + location"


def told(*words: str) -> str:
    ended = typed(*words)
    assert ended.code == 0, ended.err
    return ended.out


def test_why_tells_the_parts_of_a_queued_urls_score(tmp_path: Path) -> None:
    pages = {
        path: page("".join(f"<a href=/{name}>{name}</a>" for name in names))
        for path, names in LINKS.items()
    }
    home = str(tmp_path / "c")
    with site_in_thread(pages) as site:
        crawl(
            tmp_path / "c",
            [site.url()],
            frontier__order=MIX,
            fetch__connections=1,
            limits__max_pages=3,
        )
        queued, seed = site.url("/d"), site.url()
        assert site.asked[1:] == ["/", "/a", "/b"]

    score = json.loads(told("why", queued, "-c", home, "--json"))["score"]
    by_links, by_location = score["parts"]
    assert (by_links["order"], by_links["value"], by_links["weight"]) == ("backlinks", 2, 0.75)
    assert by_location["value"] == pytest.approx(0.5)
    total = sum(one["weight"] * one["share"] for one in score["parts"])
    assert score["value"] == pytest.approx(total)
    assert (score["links"], score["site_pages"], score["is_seed"]) == (2, 3, False)
    assert "(backlinks 2)" in told("why", queued, "-c", home)
    assert json.loads(told("why", seed, "-c", home, "--json"))["score"] is None

    words = ("crawl", "-c", home, "--max-pages", "0", "--delay", "0", "--dry-run")
    first = json.loads(told(*words, "--json"))["first"]
    pages_first = [one for one in first if one["purpose"] == "page"]
    assert pages_first[0]["url"] == queued
    assert pages_first[0]["score"]["parts"] == score["parts"]
    assert "backlinks 2" in told(*words)
