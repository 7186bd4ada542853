"""Rows by columns, without what a crawl has no use for."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.graph.arrow import pa
from gossamer.graph.columns import number_array, number_column, text_column


@given(values=st.lists(st.text(st.characters(codec="utf-8"), max_size=9)))
def test_a_column_of_texts_holds_them_all(values: list[str]) -> None:
    assert text_column(values).to_pylist() == values


@given(values=st.lists(st.text("ab\x80\u07ff\u0800\ud800\uffff\U00010000")))
def test_a_column_holds_texts_of_any_width(values: list[str]) -> None:
    expected = [value.encode("utf-8", "replace").decode() for value in values]

    assert text_column(values).to_pylist() == expected


def test_what_is_no_utf_8_is_a_question_mark_and_moves_no_other_text() -> None:
    assert text_column(["ä", "x\ud800", "\udc00ö", "z"]).to_pylist() == ["ä", "x?", "?ö", "z"]


def test_a_column_of_numbers_is_that_of_every_second_one() -> None:
    column = number_column(np.arange(6)[::2])

    assert column.to_pylist() == [0, 2, 4]
    assert number_array(column[1:]).tolist() == [2, 4]


def test_what_is_no_number_is_said_to_be_none() -> None:
    with pytest.raises(pa.ArrowInvalid, match="1 nulls in a column of int64"):
        number_array(pa.array([1, None], pa.int64()))
    with pytest.raises(pa.ArrowInvalid):
        number_array(text_column(["a"]))


_CRAWLED = """
import sys
from pathlib import Path
from gossamer.base.clock import SystemClock
from gossamer.graph import manifest, merge
from gossamer.graph.ranks import ranks
from gossamer.graph.parts import PartWriter
from gossamer.records import Edge

folder = Path(sys.argv[1])
writer = PartWriter(folder)
names = []
for at_us in (1, 2):
    edge = Edge(f"http://b/{at_us}", b"", "b", "", "body", "a")
    writer.add(f"http://a/{at_us}", at_us, [edge])
    names.append(writer.write(f"links-{at_us}").name)
parts = tuple(manifest.LinkPart(name, 1) for name in names)
manifest.replace(folder, manifest.Manifest(parts))
merged = merge.merge(folder, names, "links-merged")
ranks.compute(folder, SystemClock())
manifest.replace(folder, manifest.Manifest().with_merged((), merged, 3))
again = merge.merge(folder, [merged.name], "links-again")
ranks.compute(folder, SystemClock())
print(again.links)
"""


def test_links_are_written_merged_and_ranked_without_pandas(tmp_path: Path) -> None:
    """Whoever has it installed would wait 0.3 s for it in each process of a crawl."""
    stub = tmp_path / "stub" / "pandas"
    stub.mkdir(parents=True)
    # Where C++ asks for it, what it raises is not seen.
    (stub / "__init__.py").write_text("import os; os.write(2, b'pandas was loaded'); os._exit(1)")
    graph = tmp_path / "study" / "graph"
    graph.mkdir(parents=True)
    program = f"import sys; sys.path.insert(0, {str(stub.parent)!r})\n{_CRAWLED}"

    ended = subprocess.run(
        [sys.executable, "-c", program, str(graph)], capture_output=True, text=True, check=False
    )

    assert (ended.stderr, ended.stdout.strip()) == ("", "2")
