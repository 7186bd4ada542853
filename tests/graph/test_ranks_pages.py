"""Numbers for URLs that memory does not hold."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.graph import rank_pages_large
from gossamer.graph.arrow import pa
from gossamer.graph.rank_pages_large import Numbering

words = st.lists(st.lists(st.sampled_from("abcdefghijklmn"), unique=True, max_size=9), max_size=9)


@given(words, st.integers(0, 5), st.integers(1, 5))
@settings(deadline=None)
def test_a_url_has_one_number_and_a_number_one_url(
    tmp_path_factory: pytest.TempPathFactory, asked: list[list[str]], recent: int, column: int
) -> None:
    path = tmp_path_factory.mktemp("numbers") / "urls"
    found: dict[str, int] = {}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_pages_large, "_RECENT", recent)
        patch.setattr(rank_pages_large, "_COLUMN", column)
        with Numbering(path) as numbering:
            for urls in asked:
                for url, number in zip(
                    urls, numbering.of(pa.array(urls, pa.string())), strict=True
                ):
                    assert found.setdefault(url, int(number)) == number
        kept = [url for piece in numbering.urls() for url in piece.to_pylist()]

    assert kept == list(found)
    assert list(found.values()) == list(range(len(numbering)))


def test_urls_of_no_pages_are_none(tmp_path: Path) -> None:
    with Numbering(tmp_path / "urls") as numbering:
        pass

    assert list(numbering.urls()) == []
