"""Links of pages in canonical form."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.anchor_pack import pack_anchors
from gossamer.native.extensions import VARIABLE, load
from gossamer.records import Edge, Found, Link, LinkKind, Page, Place
from gossamer.urls.canonical import NormalForm
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker
from gossamer.workers.link_cache import LinkCache

URL = "https://a.example/dir/page"


def forms() -> LinkCache:
    return LinkCache(Linker(NormalForm(), Keys(bytes(16))))


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


def test_an_edge_is_equal_to_its_like_and_has_its_hash() -> None:
    links = (Link("/a", LinkKind.ANCHOR), Link("/b", LinkKind.ANCHOR))

    edges = forms().edges(Page(base=URL, links=links), URL).edges

    assert [*map(hash, edges)] == [hash(Edge(*edge)) for edge in edges]  # 3.14 keeps it


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


@pytest.mark.parametrize("form", ["1", "0"])
def test_neither_do_the_words_of_links(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setenv(VARIABLE, form)
    of_a_site, words = forms(), "\U0001f600" * 490  # of 2 KB
    tracemalloc.start()
    try:
        for page in range(10):
            links = (Link(f"/{n % 50}", LinkKind.ANCHOR, f"{page}.{n}{words}") for n in range(5000))
            of_a_site.edges(Page(base=URL, links=tuple(links)), URL)
        held_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert held_bytes < 90e6  # of 115 MB that went through


_HREFS = [
    *("", "#a", "?a=1", "?a=1#b", "/x", "x", "x#b", "x#c", "../y", "é", "é#b", "\u0394#b", "xé#b"),
    *(
        "http://[",
        "http://[#b",
        "mailto:a",
        "http://b.example/",
        "a-href-of-more-than-16-characters",
    ),
]
_links = st.builds(
    Link,
    st.sampled_from(_HREFS),
    st.sampled_from([LinkKind.ANCHOR, LinkKind.AREA]),
    st.sampled_from(["", "words", "w\xf6rter", "\u0394", "\U0001f600"])
    | st.text("ab", max_size=40),
    st.sampled_from(["", "nofollow", "next"]),
    st.sampled_from([Place.NAV, Place.BODY]),
)
_pages = st.lists(
    st.tuples(
        st.sampled_from([URL, URL + "/deep", "http://b.example/"]), st.lists(_links), st.booleans()
    )
)


def test_a_link_is_known_by_all_of_its_parts_and_its_length() -> None:
    of_a_site = forms()
    texts = ["", *("x" * n for n in range(1, 70)), *("x" * n + "y" for n in range(70)), "xé", "xΔ"]
    links = [
        *(Link(href, LinkKind.ANCHOR) for href in texts if href),
        *(Link("/a", kind, text) for kind in LinkKind for text in texts),
        *(Link("/a", LinkKind.ANCHOR, "", rel, place) for rel in texts[1:] for place in Place),
    ]
    of_a_site.edges(Page(base=URL, links=tuple(links[::2])), URL)
    found = of_a_site.edges(Page(base=URL, links=tuple(links)), URL)

    assert list(found.new) == list(found.edges[1::2])
    assert [edge[2:6] for edge in found.edges] == [(li[2], li[3], li[4], li[1]) for li in links]
    again = [Link("".join(li[0]), li[1], "".join(list(li[2])), *li[3:]) for li in links]
    assert not of_a_site.edges(Page(base=URL, links=tuple(again)), URL).new


def test_a_place_that_has_many_links_is_as_quick_as_one_that_has_few() -> None:
    of_a_site = forms()
    links = tuple(Link(f"/{n}", LinkKind.ANCHOR, "w", "", Place.NAV) for n in range(45_000))
    of_a_site.edges(Page(base=URL, links=links), URL)

    began_s = time.process_time()
    found = of_a_site.edges(Page(base=URL, links=links), URL)

    assert (len(found.edges), len(found.new)) == (45_000, 0)
    assert time.process_time() - began_s < 1  # 0.02


@pytest.mark.skipif(load("gossamer.native._page") is None, reason="not built: `make native`")
@given(_pages)
def test_the_loop_in_c_makes_what_the_one_in_python_makes(
    pages: list[tuple[str, list[Link], bool]],
) -> None:
    compiled = forms()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "0")
        plain = forms()
    for url, links, is_kept in pages:
        page = Page(base=url, links=tuple(links), lines=tuple(range(1, len(links) + 1)))

        made = compiled.edges(page, url, is_kept=is_kept)
        wanted = plain.edges(page, url, is_kept=is_kept)

        assert list(made.edges) == list(wanted.edges)
        assert list(made.new) == list(wanted.new)
        assert made.faults == wanted.faults
        # In C what is no link is remembered once, whatever kind and place it has.
        assert 0 < compiled._size <= plain._size


_keys = st.sampled_from([b"", b"a" * 16, b"b" * 16, b"c" * 16, b"d" * 16])
_edges = st.builds(
    Edge,
    st.just("http://a.example/"),
    _keys.map(lambda key: bytes(bytearray(key))),  # equal, and another object
    st.sampled_from(["", "words"]),
    st.just(""),
    st.just(Place.BODY),
    st.just(LinkKind.ANCHOR),
)


@pytest.mark.parametrize("form", ["1", "0"])
@given(st.lists(st.lists(_edges)), _keys, st.integers(1, 300))
def test_urls_are_told_of_once_and_words_of_other_pages(
    form: str, pages: list[list[Edge]], own: bytes, depth: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, form)
        made = forms()
    before = {b"d" * 16: 1}
    told: dict[bytes, int] = {}
    wanted: dict[bytes, Found] = {}

    for new in pages:
        found = made.found(new, told, before, depth, own)

        fresh = {
            edge.key: Found(edge.target, edge.key, depth, own)
            for edge in new
            if edge.key and edge.key not in wanted and edge.key not in before
        }
        assert list(found) == list(fresh.values())
        assert [*map(hash, found)] == [*map(hash, fresh.values())]
        wanted |= fresh
        assert told == dict.fromkeys(wanted, depth)
        assert made.anchors(new, own) == pack_anchors(
            (edge.key, edge.text) for edge in new if edge.key != own
        )


@pytest.mark.parametrize("is_compiled", ["1", "0"])
def test_the_words_of_links_are_packed_as_the_index_wants_them(
    is_compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, is_compiled)
    texts = ["plain", "\u00fcber", "\u6771\u4eac", "half \ud800", "x" * 700, "\u00e9" * 501, ""]
    keys = [b"a" * 16, b"own key, 16 byte", b"short", b""]
    new = [Edge("http://a.example/", key, text, "", "", "") for key in keys for text in texts]

    packed = forms().anchors(new, keys[1])

    assert packed == pack_anchors((keys[0], text) for text in texts)
    assert len(packed) > 500


@pytest.mark.parametrize("is_compiled", ["1", "0"])
def test_what_hangs_on_a_link_counts_in_the_memory(
    is_compiled: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fragment and its rel have no bound of their own, and its URL that of the page."""
    monkeypatch.setenv(VARIABLE, is_compiled)
    deep = f"https://a.example/{'d' * 16_000}/"
    tracemalloc.start()
    read = forms()
    for n in range(30):
        long = Link(f"/{n}#{n}" + "f" * 1_000_000, LinkKind.ANCHOR)
        related = Link(f"/{n}", LinkKind.ANCHOR, rel=f"{n}" + "r" * 1_000_000)
        read.edges(Page(base=URL, links=(long, related)), URL)
        links = tuple(Link(f"{n}-{k}", LinkKind.ANCHOR) for k in range(100))
        read.edges(Page(base=deep, links=links), deep)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert held < 5_000_000
