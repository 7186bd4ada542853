"""The site that changes as a trace says, and a short form of the bench that crawls it for ever."""

from __future__ import annotations

import urllib.error
import urllib.request
from pathlib import Path

import pytest
from bench.changing_site import Event, TraceSite, served
from bench.forever import run

from support.shared import data

LATER = 10_000.0


def small() -> TraceSite:
    return TraceSite(
        {
            "a/one": [Event(0.0, True), Event(LATER, True)],
            "a/late": [Event(LATER, True)],
            "two": [Event(0.0, True), Event(LATER, False)],
        }
    )


def test_a_site_has_versions_births_and_deletions() -> None:
    site = small()
    site.began_s = 1000.0

    assert site.version_at("/a/one.html", 1001.0) == 1
    assert site.version_at("/a/one.html", 1001.0 + LATER) == 2
    assert site.version_at("/a/late.html", 1001.0) == 0
    assert not site.is_there("/two.html", 2)
    assert site.changed_words("/a/one.html", 1, 2) == 5
    assert b"late" not in site.body("/a/", 1)
    assert b"/a/late.html" in site.body("/a/", 2)
    assert b'href="/a/"' in site.body("/", 1)
    assert b'href="/two.html"' in site.body("/", 1)


def test_conditional_requests_are_answered_and_noted() -> None:
    site = small()
    with served(site) as url:
        with urllib.request.urlopen(f"{url}a/one.html") as answer:
            etag = answer.headers["ETag"]
            assert b'data-version="1"' in answer.read()
        again = urllib.request.Request(f"{url}a/one.html", headers={"If-None-Match": etag})
        with pytest.raises(urllib.error.HTTPError, match="304"):
            urllib.request.urlopen(again)

    assert [one.status for one in site.truth.given] == [200, 304]
    assert 0 < site.truth.unchanged_share() < 0.05


@pytest.mark.slow
def test_a_crawl_without_end_keeps_every_version_and_tells_changes_right(tmp_path: Path) -> None:
    data("trace")
    kills = 1
    figures = run(tmp_path / "c", pages=60, lasts_s=60.0, rate=20.0, policy="optimal", kills=kills)

    assert figures.verify_faults == 0
    assert figures.visits > 200
    assert figures.unchanged_share < 0.05
    assert figures.versions - figures.versions_right <= 8 * kills  # in flight at a kill
    assert figures.changes == figures.changes_right > 0
    assert abs(figures.predicted - figures.truth) < 0.2  # ten minutes come to 0.05
