"""What was forgotten is recognised, and nothing else; its name stands nowhere."""

from __future__ import annotations

import pytest

from gossamer.urls.canonical import NormalForm
from gossamer.urls.forgotten import NOTHING, Breadth, Forgotten, Named
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from support.rows import each_row

URL = "https://www.example.org/page?x=1"


@pytest.mark.parametrize(
    ("named", "others"),
    [
        (Named(Breadth.URL, URL), ["https://www.example.org/page", "http://www.example.org/page?x=1"]),
        (Named(Breadth.HOST, "www.example.org"), ["https://example.org/page?x=1"]),
        (Named(Breadth.SITE, "example.org"), ["https://example.com/", "https://example.org.uk/"]),
    ],
)  # fmt: skip
def test_a_name_covers_what_falls_under_it(named: Named, others: list[str]) -> None:
    forgotten = Forgotten.of([named], "2026-01-31")

    assert forgotten.date_of(URL) == "2026-01-31"
    assert not any(map(forgotten.covers, others))


def test_a_host_on_another_port_is_the_same_host() -> None:
    forgotten = Forgotten.of([Named(Breadth.HOST, "127.0.0.1")], "now")

    assert forgotten.covers("http://127.0.0.1:8080/")
    assert not forgotten.covers("http://127.0.0.2:8080/")


def test_nothing_covers_nothing() -> None:
    assert not NOTHING
    assert not NOTHING.covers(URL)


def test_a_digest_tells_breadth_and_name_apart() -> None:
    digests = {Named(breadth, "example.org").digest for breadth in Breadth}

    assert len(digests) == 3
    assert all(len(digest) == 32 and "example" not in digest for digest in digests)


@each_row("href", ["/page?x=1", "page?x=1", URL, "./page?x=1#part", "/plain"])
def test_no_link_leads_to_what_was_forgotten(href: str) -> None:
    names = [Named(Breadth.URL, URL), Named(Breadth.URL, "https://www.example.org/plain")]
    linker = Linker(NormalForm(), Keys(bytes(16)), forgotten=Forgotten.of(names, "now"))
    base = "https://www.example.org/index"

    for _ in range(2):  # the second time from memory
        assert linker.resolve(base, href) is None
        assert linker.resolve_all(base, [href, "/other"])[1] is not None
    assert linker.fault(base, href) == ""
    assert linker.is_forgotten(base, href)
