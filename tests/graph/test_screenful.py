"""What one look at a page's backlinks shows: the same rows, and no more of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gossamer.graph.backlinks import anchors, backlinks, screenful
from support.a_graph import a_graph, capture, link

TARGET = "http://b.example/"


@pytest.mark.parametrize("by", ["page", "host", "site"])
def test_screenfuls_together_are_the_table(tmp_path: Path, by: str) -> None:
    captures = [
        capture(f"http://{'xyz'[i % 3]}.a{i % 2}.example/{i}", i, link(TARGET, f"words {i % 4}"))
        for i in range(23)
    ]
    folder = a_graph(tmp_path, captures)
    whole, words = backlinks(folder, TARGET, by), anchors(folder, TARGET)

    looks = [
        screenful(folder, TARGET, by, limit=5, offset=at, words=3)
        for at in range(0, whole.num_rows + 5, 5)
    ]

    assert [row for look in looks for row in look.links.to_pylist()] == whole.to_pylist()
    assert {look.total for look in looks} == {whole.num_rows}
    assert looks[0].anchors.to_pylist() == words.to_pylist()[:3]
    assert looks[0].anchors_total == words.num_rows == 4
