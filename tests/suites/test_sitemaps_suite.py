"""Sitemaps of crawler-commons and Scrapy: each is read as they read it, and four are refused."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from gossamer.fetch.decode import decode
from gossamer.parse.documents.dates import utc_of
from gossamer.parse.documents.sitemap import (
    MAX_BYTES,
    Sitemap,
    Strictness,
    Unreadable,
    read_sitemap,
)
from gossamer.politeness.robots import Robots
from gossamer.urls.canonical import NormalForm
from support.shared import suite

KINDS = {"XML": "urlset", "INDEX": "index", "RSS": "rss", "ATOM": "atom", "TEXT": "text"}
FORM = NormalForm()


def cases(name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((suite("sitemaps") / name).read_text())
    return rows


def body_of(case: dict[str, Any]) -> bytes:
    if "body_b64" in case:
        return decode(base64.b64decode(case["body_b64"]), "gzip", MAX_BYTES).body
    return str(case["body"]).encode()


def strictness_of(case: dict[str, Any]) -> Strictness:
    """As the upstream test sets its parser; two of its switches are not among the columns."""
    return Strictness(
        refuses_faults=not case["allow_partial"],
        refuses_doctype="DocTypeAllowed" not in case["test"],
        refuses_namespace="error" in case,
        drops_outside=case["strict"],
    )


def test_sitemaps_give_their_urls_and_what_is_said_of_them() -> None:
    for case in cases("crawler_commons_cases.json"):
        read = read_sitemap(case["sitemap_url"], body_of(case), strictness=strictness_of(case))

        if "error" in case:
            assert isinstance(read, Unreadable), case["test"]
            continue
        assert isinstance(read, Sitemap), (case["test"], read)
        assert read.kind == KINDS[case["type"]], case["test"]
        assert [FORM.find(one.url) for one in read.urls] == [
            FORM.find(row["loc"]) for row in case["locs"]
        ], case["test"]
        for one, row in zip(read.urls, case["locs"], strict=True):
            assert one.modified_at == (row["lastmod"] or ""), case["test"]
            assert one.changefreq == (row.get("changefreq") or "").lower(), case["test"]
            assert one.priority == row.get("priority", 0.5), case["test"]


def test_four_documents_are_refused_and_only_they() -> None:
    refused = [case for case in cases("crawler_commons_cases.json") if "error" in case]

    assert len(refused) == 4


@pytest.mark.parametrize("strictness", [Strictness(), Strictness(refuses_doctype=True)])
def test_no_document_makes_us_read_a_file(strictness: Strictness) -> None:
    secret = (suite("sitemaps") / "files" / "sitemaps" / "do-not-visit.txt").read_text().strip()
    for case in cases("crawler_commons_cases.json"):
        read = read_sitemap(case["sitemap_url"], body_of(case), strictness=strictness)

        assert secret not in repr(read)


def test_every_file_of_the_suite_is_read_from_its_bytes() -> None:
    files = [p for p in (suite("sitemaps") / "files").rglob("*") if p.is_file()]
    for path in files:
        body = path.read_bytes()
        if body.startswith(b"\x1f\x8b"):
            body = decode(body, "gzip", MAX_BYTES).body

        read = read_sitemap("http://www.example.com/sitemap.xml", body)

        if path.name != "do-not-visit.txt":
            assert isinstance(read, Sitemap), path
            assert read.urls, path


def test_the_sitemaps_of_scrapys_tests_are_read_alike() -> None:
    for case in cases("scrapy_cases.json"):
        if "robots" in case:
            continue
        read = read_sitemap("http://www.example.com/sitemap.xml", case["body"].encode())

        urls = read.urls if isinstance(read, Sitemap) else ()
        assert [one.url for one in urls] == [row["loc"] for row in case["items"]], case["test"]
        for one, row in zip(urls, case["items"], strict=True):
            assert one.modified_at == utc_of(row.get("lastmod", "")), case["test"]
            assert one.changefreq == row.get("changefreq", ""), case["test"]
            assert one.priority == float(row.get("priority", 0.5)), case["test"]
            assert list(one.alternates) == row.get("alternate", []), case["test"]


def test_robots_txt_names_its_sitemaps_as_scrapy_reads_them() -> None:
    for case in cases("scrapy_cases.json"):
        if "robots" not in case:
            continue
        robots = Robots.parse(case["robots"].encode())

        base = f"{case['base']}/robots.txt"
        assert [FORM.find(named, base) for named in robots.sitemaps] == case["sitemaps"]
