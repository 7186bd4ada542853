"""Links of pages in canonical form."""

from __future__ import annotations

import time
import tracemalloc

from gossamer.crawl.forms import Forms
from gossamer.records import Link, LinkKind, Page
from gossamer.urls.canonical import NormalForm
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker

URL = "https://a.example/dir/page"


def forms() -> Forms:
    return Forms(Linker(NormalForm(), Keys(bytes(16))))


def test_each_link_that_is_no_url_is_told_with_its_own_line() -> None:
    links = tuple(Link(href, LinkKind.ANCHOR) for href in ("http://[", "/a", "http://["))

    edges = forms().edges(Page(base=URL, links=links, lines=(3, 5, 8)), URL).edges

    assert [edge.line for edge in edges if edge.fault] == [3, 8]


def test_links_that_are_no_urls_cost_what_others_do() -> None:
    links = tuple(Link(f"http://[{n}", LinkKind.ANCHOR) for n in range(20_000))
    page = Page(base=URL, links=links, lines=tuple(range(20_000)))

    began_s = time.process_time()
    found = forms().edges(page, URL)

    assert found.faults == 20_000
    assert time.process_time() - began_s < 2  # looked for one by one, five


def test_long_links_do_not_fill_the_memory() -> None:
    of_a_site = forms()
    tracemalloc.start()
    try:
        for page in range(10):
            links = (Link(f"/{page}/{n}/{'x' * 15_000}", LinkKind.ANCHOR) for n in range(600))
            of_a_site.edges(Page(base=URL, links=tuple(links)), URL)
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held_bytes < 60e6  # of 180 MB that went through
