"""Numbers for URLs that memory does not hold."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.graph import manifest
from gossamer.graph.arrow import pa
from gossamer.graph.ranks import numbered_pages as rank_pages
from gossamer.graph.ranks import numbered_pages_large as rank_pages_large
from gossamer.graph.ranks.numbered_pages_large import Numbering
from gossamer.graph.ranks.spool import Spool
from gossamer.graph.ranks.store import hash_of
from support.a_graph import Captured, a_graph, capture, link, unchanged

words = st.lists(st.lists(st.sampled_from("abcdefghijklmn"), unique=True, max_size=9), max_size=9)


@given(words, st.integers(0, 5), st.integers(1, 5))
@settings(deadline=None)
def test_a_url_has_one_number_and_a_number_one_url(
    tmp_path_factory: pytest.TempPathFactory, asked: list[list[str]], recent: int, column: int
) -> None:
    folder = tmp_path_factory.mktemp("numbers")
    found: dict[str, int] = {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_pages_large, "_RECENT", recent)
        patch.setattr(rank_pages_large, "_COLUMN", column)
        patch.setattr(rank_pages_large, "_MOST_SORTED", 2 * column)
        with Numbering(folder) as numbering:
            for urls in asked:
                for url, number in zip(
                    urls, numbering.of(pa.array(urls, pa.string())), strict=True
                ):
                    assert found.setdefault(url, int(number)) == number
        pages = numbering.pages(Spool(folder, "links"))
        kept = [url for piece in pages.urls() for url in piece.to_pylist()]

    assert kept == list(found)
    assert list(found.values()) == list(range(pages.count))
    assert pages.keys().tolist() == [hash_of(url) for url in kept]


def test_urls_of_no_pages_are_none(tmp_path: Path) -> None:
    with Numbering(tmp_path) as numbering:
        pass

    pages = numbering.pages(Spool(tmp_path, "links"))

    assert (pages.count, list(pages.urls()), len(pages.keys())) == (0, [], 0)


def pairs_of(folder: Path) -> tuple[list[str], list[int]]:
    """The pages of a graph, and their links as numbers."""
    spool = Spool(folder, "pairs")
    pages = rank_pages.read_pages(folder, manifest.read(folder), spool, nofollow=False)
    urls = [url for piece in pages.urls() for url in piece.to_pylist()]
    return urls, [int(pair) for piece in spool.chunks() for pair in piece]


pages = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(1, 3), st.lists(st.sampled_from("abcde"))),
    max_size=5,
)


@given(pages, st.booleans())
@settings(deadline=None)
def test_times_are_not_read_where_they_tell_nothing(
    tmp_path_factory: pytest.TempPathFactory,
    told: list[tuple[str, int, list[str]]],
    is_split: bool,
) -> None:
    captured: list[Captured] = [
        capture(source, at_us, *map(link, targets)) if targets else unchanged(source, at_us)
        for source, at_us, targets in told
    ]
    parts = [captured[:2], captured[2:]] if is_split else [captured]
    folder = a_graph(tmp_path_factory.mktemp("home"), *parts)
    found = pairs_of(folder)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_pages, "_are_captured_once", lambda _rows: False)
        assert pairs_of(folder) == found
