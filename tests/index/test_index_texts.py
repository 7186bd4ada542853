"""Texts of pages come back whole, or as much of them as is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import CorruptFile
from gossamer.index.entry import TextPosition
from gossamer.index.texts import TextReader, TextWriter


def written(path: Path, *texts: str) -> list[TextPosition]:
    writer = TextWriter(path)
    places = [writer.append(text) for text in texts]
    writer.sync()
    writer.close()
    return places


@given(
    texts=st.lists(st.text(), max_size=3),
    some=st.text(min_size=1, max_size=50),
    times=st.integers(0, 20_000),
)
def test_pieces_are_the_text(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], some: str, times: int
) -> None:
    path = tmp_path_factory.mktemp("texts") / "texts"
    every = [*texts, some * times]
    places = written(path, *every)

    reader = TextReader(path)

    assert ["".join(reader.pieces(place)) for place in places] == list(map(reader.read, places))


def test_a_long_text_comes_in_many_pieces(tmp_path: Path) -> None:
    text = "".join(f"{number:x} " for number in range(500_000))
    [place] = written(tmp_path / "texts", text)

    first = next(TextReader(tmp_path / "texts").pieces(place))

    assert text.startswith(first)
    assert 10_000 < len(first) < 100_000


def test_damage_is_told_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "texts"
    [place] = written(path, "some words " * 1_000)
    path.write_bytes(path.read_bytes()[: place.length // 2])

    with pytest.raises(CorruptFile, match="rebuild index"):
        list(TextReader(path).pieces(place))
