"""Packages of jobs, merged into a central collection, against one crawl of everything."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gossamer.api import open as open_collection
from gossamer.fleet.hub.merging import Merger
from support.a_crawl import crawl
from support.a_package import (
    a_job,
    checked_package,
    facts_of,
    merge,
    merge_apart,
    missing_in,
    prepared,
)
from support.a_site import Site, site_in_thread
from support.answers import answer, gzipped, page, redirect, robots
from support.killing import gossamer, until

WORDS = ("river", "stone", "winter", "garden", "music", "letter")


def pages_of(other: str, filler: int, count: int = 12) -> dict[str, bytes]:
    """A site with robots.txt, a redirect, an error, a sitemap, and links to another site."""
    links = "".join(f"<a href=/p{n}>{WORDS[n % 6]} page {n}</a> " for n in range(count))
    pages = {
        "/robots.txt": robots("User-agent: *\nDisallow: /private\nSitemap: /map.xml\n"),
        "/": page(f"<title>Start</title>{links}<a href={other}p3>the other site</a>"),
        "/moved": redirect("/p1"),
        "/zipped": gzipped("<title>Zipped</title><p>zipped winter<a href=/p2>two</a>"),
        "/listed": page("<title>Listed</title><p>only a sitemap names it"),
    }
    for n in range(count):
        body = f"<title>{WORDS[n % 6]} {n}</title><h1>Page {n}</h1><p>{WORDS[n % 6]} text "
        body += (filler + n * 3) * "and "
        body += f"<a href=/p{(n * 5) % count}>more</a><a href=/private/{n}>private</a>"
        body += f"<a href=/gone{n % 3}>gone</a><a href=/moved>moved</a><a href=/zipped>zipped</a>"
        pages[f"/p{n}"] = page(body)
    return pages


@contextmanager
def two_sites() -> Iterator[tuple[Site, Site]]:
    with site_in_thread() as one, site_in_thread(host="127.0.0.2") as two:
        one.pages, two.pages = pages_of(two.url(), 0), pages_of(one.url(), 80)
        for site in (one, two):
            urls = f"<url><loc>{site.url('/listed')}</loc></url>"
            listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
            pages = dict(site.pages)
            pages["/map.xml"] = answer(listed.encode(), headers={"Content-Type": "text/xml"})
            pages["/robots.txt"] = robots(
                f"User-agent: *\nDisallow: /private\nSitemap: {site.url('/map.xml')}\n"
            )
            site.pages = pages
        yield one, two


def links_of(collection: Path) -> set[tuple[object, ...]]:
    with open_collection(collection) as study:
        rows = study.links.to_arrow().to_pylist()
    return {(r["source"], r["target"], r["anchor"], r["rel"], r["place"]) for r in rows}


def ranks_of(collection: Path) -> dict[str, float]:
    with open_collection(collection) as study:
        rows = study.pages.to_arrow().to_pylist()
    return {r["url"]: round(r["rank"] or 0.0, 6) for r in rows}


def hits_of(collection: Path) -> list[tuple[str, float, str]]:
    """The hits of some queries, best first. The index is written anew before: entries that were
    replaced since still count in the frequency of words."""
    assert gossamer("rebuild", "index", "-c", collection).code == 0
    with open_collection(collection) as study:
        found = [(words, hit) for words in WORDS for hit in study.search(words, limit=10)]
        return sorted((words, -round(hit.score, 3), hit.url) for words, hit in found)


def is_done(merger: Merger) -> bool:
    merger.tick()
    return merger.is_idle


@pytest.mark.slow
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_central_collection_equals_that_of_one_crawl(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    with two_sites() as sites:
        seeds = [site.url() for site in sites]
        whole, hub = tmp_path / "whole", tmp_path / "hub"
        crawl(whole, seeds)
        salt = prepared(hub)
        jobs = [
            a_job(tmp_path / f"unit{n}", seed, job=f"job{n}", salt=salt)
            for n, seed in enumerate(seeds)
        ]
        packages = [checked_package(job) for job in jobs]
        for at in order:
            [result] = merge(hub, packages[at])
            assert (result.error, result.lost, result.known) == ("", 0, 0)

    central = hub / "collection"
    expected, found = facts_of(whole), facts_of(central)
    zipped = {site.url("/zipped") for site in sites}  # stored without its coding
    for url in zipped:
        assert found.pop(url)[5] == expected.pop(url)[5] == "Zipped"
    assert {url: facts[:8] for url, facts in found.items()} == {
        url: facts[:8] for url, facts in expected.items()
    }
    assert links_of(central) == links_of(whole)
    assert ranks_of(central) == ranks_of(whole)
    assert hits_of(central) == hits_of(whole)
    assert gossamer("verify", "-c", central).code == 0


def test_a_package_that_is_merged_twice_changes_nothing(tmp_path: Path) -> None:
    with two_sites() as sites:
        hub = tmp_path / "hub"
        unit = a_job(tmp_path / "unit", sites[0].url(), salt=prepared(hub))
        merge(hub, checked_package(unit))
        before = facts_of(hub / "collection")
        (unit.folder / "job1.wacz").unlink(missing_ok=True)
        again = checked_package(unit)  # built anew: other bytes, the same exchanges
        [result] = merge(hub, again)

    assert (result.stored, result.lost) == (0, 0) or result.stored <= 1  # the sitemap
    assert facts_of(hub / "collection") == before


def test_unchanged_pages_are_not_sent_again_and_changed_ones_as_differences(tmp_path: Path) -> None:
    with two_sites() as sites:
        hub, site, earlier = tmp_path / "hub", sites[0], tmp_path / "earlier.sqlite"
        pages = dict(site.pages)
        text = " ".join(f"word{n * n % 977}" for n in range(3_000))
        pages["/p4"] = page(f"<title>Long</title><p>{text}")
        site.pages = pages
        salt = prepared(hub)
        first = a_job(tmp_path / "first", site.url(), salt=salt)
        merge(hub, checked_package(first, earlier=earlier))
        site.pages = {**pages, "/p4": page(f"<title>Long</title><p>{text} and the end")}
        second = a_job(tmp_path / "second", site.url(), job="job2", salt=salt, has_earlier=True)
        checked = checked_package(second, missing_in(hub, second), earlier)
        [result] = merge(hub, checked)

    assert checked.differences == 1
    assert checked.known > 12
    assert (result.error, result.lost) == ("", 0)
    with open_collection(hub / "collection") as study:
        stored = study.page(site.url("/p4"))
        assert stored.text.endswith("and the end")
        assert len(stored.versions) == 2
        assert len(study.page(site.url("/p5")).versions) == 2


def test_a_body_that_was_deleted_meanwhile_costs_that_page_alone(tmp_path: Path) -> None:
    with two_sites() as sites:
        hub = tmp_path / "hub"
        unit = a_job(tmp_path / "unit", sites[0].url(), salt=prepared(hub), has_earlier=True)
        checked = checked_package(unit, lambda names: range(1, len(names)))
        [result] = merge(hub, checked)

    assert (result.error, result.lost) == ("", 1)
    assert result.stored == checked.exchanges - 1


@pytest.mark.slow
def test_an_index_package_gives_the_same_hits_without_the_pages(tmp_path: Path) -> None:
    with two_sites() as sites:
        seed, whole, hub = sites[0].url(), tmp_path / "whole", tmp_path / "hub"
        crawl(whole, [seed])
        unit = a_job(tmp_path / "unit", seed, salt=prepared(hub), returns="index")
        [result] = merge(hub, checked_package(unit))

    assert result.error == ""
    central = hub / "collection"
    assert links_of(central) == links_of(whole)
    assert ranks_of(central) == ranks_of(whole)
    assert hits_of(central) == hits_of(whole)


def test_a_summary_is_stored_as_lines_and_merges_nothing(tmp_path: Path) -> None:
    with two_sites() as sites:
        hub = tmp_path / "hub"
        salt = prepared(hub)
        unit = a_job(tmp_path / "unit", sites[0].url(), salt=salt, returns="summary")
        [result] = merge(hub, checked_package(unit))

    lines = (hub / "results" / "job1.jsonl").read_text()
    assert result.error == ""
    assert '"kind":"folder"' in lines
    assert '"kind":"links"' in lines
    assert '"reason":"robots"' in lines
    assert facts_of(hub / "collection") == {}


def test_why_at_the_centre_names_the_rule_of_robots_txt(tmp_path: Path) -> None:
    with two_sites() as sites:
        hub = tmp_path / "hub"
        unit = a_job(tmp_path / "unit", sites[0].url(), salt=prepared(hub))
        merge(hub, checked_package(unit))

    ended = gossamer("why", "-c", hub / "collection", sites[0].url("/private/3"))
    assert "robots" in ended.out
    assert "Disallow: /private" in ended.out


@pytest.mark.slow
def test_merging_survives_kills_at_any_instant(tmp_path: Path) -> None:
    with two_sites() as sites:
        whole, hub = tmp_path / "whole", tmp_path / "hub"
        crawl(whole, [sites[0].url()])
        unit = a_job(tmp_path / "unit", sites[0].url(), salt=prepared(hub))
        checked = checked_package(unit)
        merger = merge_apart(hub, checked)
        for _ in range(3):
            merger.tick()
            process = merger._process
            assert process is not None
            until(lambda: any((hub / "collection" / "archive").glob("*.warc.gz")))
            process.kill()
            process.wait()
            merger.stop()
            merger = merge_apart(hub)
        until(lambda: is_done(merger))
        merger.stop()

    expected, found = facts_of(whole), facts_of(hub / "collection")
    zipped = sites[0].url("/zipped")
    assert found.pop(zipped)[5] == expected.pop(zipped)[5]
    assert {u: f[:8] for u, f in found.items()} == {u: f[:8] for u, f in expected.items()}
    assert gossamer("verify", "-c", hub / "collection").code == 0
