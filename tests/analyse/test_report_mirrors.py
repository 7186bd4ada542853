"""Hosts and directories whose pages are copies of those of another."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from gossamer.analyse.report_mirrors import SamePage, SiteMirror, mirrors_of
from gossamer.settings import Mirrors
from support.a_crawl import crawl
from support.a_site import page, site_in_thread
from support.killing import typed


def found(pages: Iterable[tuple[str, str]], rules: Mirrors | None = None) -> list[SiteMirror]:
    """The mirrors among pages, which were fetched in this order: URL, content."""
    every = list(pages)
    contents = [content for _, content in every]
    same = sorted(
        SamePage(content, at, url, True)
        for at, (url, content) in enumerate(every)
        if contents.count(content) > 1
    )
    return mirrors_of(same, lambda: (url for url, _ in every), rules or Mirrors())


def site(root: str, count: int, name: str = "page", first: int = 0) -> list[tuple[str, str]]:
    return [(f"{root}dir{n % 3}/{n}.html", f"{name}{n}") for n in range(first, first + count)]


def test_a_host_with_the_pages_of_another_is_its_mirror() -> None:
    a, b = site("http://a.example/", 40), site("http://b.example/", 38)
    own = [("http://b.example/own1", "x"), ("http://b.example/own2", "y")]

    (mirror,) = found([*a, *b, *own])

    assert str(mirror) == "http://b.example/ mirrors http://a.example/: 38 of 40 pages"


def test_a_directory_may_mirror_a_host_or_another_directory() -> None:
    a, b = site("http://a.example/", 20), site("http://b.example/copies/of/a/", 20)
    rest = site("http://b.example/", 50, "other")

    (mirror,) = found([*a, *b, *rest])

    assert (mirror.mirror, mirror.original) == (
        "http://b.example/copies/of/a/",
        "http://a.example/",
    )
    (within,) = found([*site("http://a.example/v1/", 20), *site("http://a.example/v2/", 20)])
    assert (within.mirror, within.original) == ("http://a.example/v2/", "http://a.example/v1/")


def test_the_place_with_more_pages_is_the_original_whenever_it_was_fetched() -> None:
    part, whole = site("http://part.example/", 15), site("http://whole.example/", 60)

    (mirror,) = found([*part, *whole])

    assert (mirror.mirror, mirror.same, mirror.pages) == ("http://part.example/", 15, 15)


def test_of_three_copies_two_are_mirrors_of_the_first() -> None:
    hosts = ("http://c.example/", "http://a.example/", "http://b.example/")

    mirrors = found(one for host in hosts for one in site(host, 20))

    assert {(one.mirror, one.original) for one in mirrors} == {
        ("http://a.example/", "http://c.example/"),
        ("http://b.example/", "http://c.example/"),
    }


def test_few_pages_a_small_share_or_other_paths_are_no_mirror() -> None:
    a = site("http://a.example/", 40)
    few = site("http://few.example/", 9)
    small = [*site("http://small.example/", 20), *site("http://small.example/o/", 20, "o")]
    moved = [(f"http://moved.example/{n}", content) for n, (_, content) in enumerate(a)]

    assert found([*a, *few]) == []
    assert found([*a, *small]) == []
    assert found([*a, *moved]) == []
    assert len(found([*a, *few], Mirrors(min_pages=5))) == 1
    assert len(found([*a, *small], Mirrors(min_share=0.5))) == 1


def test_an_error_page_that_stands_everywhere_makes_no_mirrors() -> None:
    same = [(f"http://h{n}.example/{m}", "not found") for n in range(30) for m in range(30)]

    assert found([*same, *site("http://a.example/", 40)], Mirrors(min_share=1)) == []


def test_a_report_tells_of_mirrors_as_text_json_and_html(tmp_path: Path) -> None:
    pages = {"/": page("".join(f"<a href=/{d}/{n}>x</a>" for d in "ab" for n in range(12)))}
    for number in range(12):
        for name in "ab":
            pages[f"/{name}/{number}"] = page(f"<title>{number}</title>{number}")
    with site_in_thread(pages) as running:
        crawl(tmp_path / "c", [running.url()])
        root = running.url()

    text = typed("report", "-c", tmp_path / "c")
    told = json.loads(typed("report", "-c", tmp_path / "c", "--json").out)
    typed("report", "-c", tmp_path / "c", "-o", tmp_path / "r.html")
    gate = typed("report", "-c", tmp_path / "c", "--fail-on", "mirrors>0")

    row = told["tables"]["mirrors"]["rows"][0]
    places = {row["mirror"], row["original"]}
    assert places == {f"{root}a/", f"{root}b/"}
    assert (row["same_pages"], row["pages"], row["share"]) == (12, 12, 1.0)
    assert f"{row['mirror']} mirrors {row['original']}: 12 of 12 pages" in text.out
    assert "that mirror others" in (tmp_path / "r.html").read_text()
    assert gate.code == 10


def test_the_limits_are_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"/": page("".join(f"<a href=/{d}/{n}>x</a>" for d in "ab" for n in range(4)))}
    pages |= {f"/{name}/{n}": page(f"{n}") for n in range(4) for name in "ab"}
    with site_in_thread(pages) as running:
        crawl(tmp_path / "c", [running.url()])
    before = typed("report", "-c", tmp_path / "c").out
    (tmp_path / "c" / "gossamer.toml").write_text("[mirrors]\nmin_pages = 3\n")

    assert " mirrors http" not in before
    assert " mirrors http" in typed("report", "-c", tmp_path / "c").out


def test_pages_that_only_differ_in_a_date_are_pairs_in_a_crawl_with_near_duplicates(
    tmp_path: Path,
) -> None:
    chance = random.Random(1)
    words = [f"{one}{two}" for one in ("ba", "ke", "li", "mo", "nu", "ra") for two in "lmnrst"]
    texts = [" ".join(chance.choice(words) for _ in range(150)) for _ in range(12)]
    pages = {"/": page("".join(f"<a href=/{d}/{n}>x</a>" for d in "ab" for n in range(12)))}
    for number, text in enumerate(texts):
        for name, day in (("a", "2026-01-02"), ("b", "2026-03-04")):
            pages[f"/{name}/{number}"] = page(f"<p>{text}</p><p>Printed on {day}.</p>")
    with site_in_thread(pages) as running:
        for mode in ("exact", "near"):
            crawl(tmp_path / mode, [running.url()], duplicates__mode=mode)

    exact, near = (typed("report", "-c", tmp_path / mode).out for mode in ("exact", "near"))

    assert " mirrors http" not in exact
    assert "12 of 12 pages" in near
