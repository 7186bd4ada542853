"""Scrapy's link extraction cases, those with default options, under our rules.

Where the rules differ, by design, the comparison maps one to the other:

- Scrapy counts only `a` and `area`; so does the comparison.
- Scrapy drops addresses that end in `.jpg` and the like; we judge by the type that a server
  answers with, so such links are found.
- Scrapy's words of a link leave out the alt of images and `area`; ours have it.
- Scrapy keeps fragments; a crawler drops them, and with them what then names the same URL twice.
- The URL is resolved by the URL standard; what that cannot read, Scrapy drops too.
"""

import json
from typing import Any

from ada_url import join_url

from gossamer.parse.html import Parser
from gossamer.records import LinkKind, Page
from gossamer.settings import Parse
from support.rows import each_row
from support.shared import suite

DENIED = (".jpg", ".png", ".gif", ".zip", ".pdf")
ALT_IN_WORDS = {"sample 2sample2": "sample 2", "sample 2 sample2": "sample 2", "sample1": ""}


def default_rows() -> list[dict[str, Any]]:
    rows = json.loads((suite("links-scrapy") / "link_cases.json").read_text())
    return [row for row in rows if not row["options"]]


def body_of(row: dict[str, Any]) -> bytes:
    encoding: str = row["encoding"]
    return bytes.fromhex(row["html_hex"]) if row["html_hex"] else row["html"].encode(encoding)


def resolved(page: Page) -> list[tuple[str, str, bool]]:
    """URL without fragment, words, nofollow; each URL once."""
    found: dict[str, tuple[str, str, bool]] = {}
    for link in page.links:
        if link.kind not in (LinkKind.ANCHOR, LinkKind.AREA):
            continue
        try:
            url = join_url(page.base, link.href).partition("#")[0]
        except ValueError:
            continue
        words = ALT_IN_WORDS.get(link.text, link.text)
        if not url.endswith(DENIED):
            found.setdefault(url, (url, words, "nofollow" in link.rel.split()))
    return list(found.values())


def wanted(row: dict[str, Any]) -> list[tuple[str, str, bool]]:
    found: dict[str, tuple[str, str, bool]] = {}
    for link in row["links"]:
        url = link["url"].partition("#")[0]
        found.setdefault(url, (url, link["text"].strip(), link["nofollow"]))
    return list(found.values())


def test_all_sixteen_rows_are_there() -> None:
    assert len(default_rows()) == 16


@each_row("number", range(16))
def test_the_links_are_those_that_scrapy_finds(number: int) -> None:
    row = default_rows()[number]

    page = Parser(Parse()).parse(row["base"], f"text/html; charset={row['encoding']}", body_of(row))

    assert resolved(page) == wanted(row)
