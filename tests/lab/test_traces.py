"""Change traces: what a file may look like, and what is made of it."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from gossamer.errors import UsageError
from gossamer.lab.traces import ChangeTrace, read_trace

HEAD = "path,timestamp\n"


def trace_of(folder: Path, text: str, max_files: int = 50) -> ChangeTrace:
    path = folder / "trace.csv"
    path.write_text(text, encoding="utf-8")
    return read_trace(path, max_files)


def changes(trace: ChangeTrace) -> list[tuple[str, float]]:
    return [(trace.paths[page], at) for page, at in zip(trace.page, trace.at_s, strict=True)]


def test_the_first_row_of_a_page_is_its_creation_and_the_others_are_changes(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, HEAD + "b,30\na,10\na,20\nb,5\na,20\n")

    assert trace.paths == ("a", "b")
    assert trace.born_s.tolist() == [10, 5]
    assert changes(trace) == [("a", 20), ("b", 30)]
    assert (trace.start_s, trace.end_s) == (5, 30)
    assert trace.measured_from_s == pytest.approx(5 + 25 / 3)


def test_timestamps_are_epoch_seconds_or_iso_dates_in_utc(tmp_path: Path) -> None:
    text = (
        HEAD + "a,86400\na,1970-01-03\na,1970-01-04T00:00:00Z\na,1970-01-05T01:00:00+01:00\nb,0\n"
    )

    assert [at / 86400 for _, at in changes(trace_of(tmp_path, text))] == [2, 3, 4]


def test_a_trace_may_be_compressed_and_have_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv.gz"
    path.write_bytes(gzip.compress(b'author,Timestamp, path\nx,1,a\n"y,z",2,a\nx,3,"b,c"\n'))
    trace = read_trace(path)

    assert trace.paths == ("a", "b,c")
    assert len(trace.digest) == 64


def test_rows_that_cannot_be_read_are_counted_and_left_out(tmp_path: Path) -> None:
    text = HEAD + "a,1\na,soon\n,5\nshort\n\na,2\nb,3\na,inf\n"
    trace = trace_of(tmp_path, text)

    assert trace.bad_rows == 4
    assert changes(trace) == [("a", 2)]


def test_bulk_edits_create_pages_but_change_none(tmp_path: Path) -> None:
    text = "path,timestamp,files_in_commit\na,1,99\nb,1,99\na,2,3\nb,2,51\nb,3,50\n"
    trace = trace_of(tmp_path, text)

    assert changes(trace) == [("a", 2), ("b", 3)]
    assert trace.bulk_rows == 3
    assert len(changes(trace_of(tmp_path, text, max_files=0))) == 3


@pytest.mark.parametrize("column", ["", ",commit"])
def test_without_such_a_column_files_that_change_together_are_counted(
    tmp_path: Path, column: str
) -> None:
    rows = "".join(
        f"p{n},{at}{',' + str(at) if column else ''}\n" for n in range(4) for at in (1, 2)
    )
    one = f"p0,3{',3' if column else ''}\n"
    trace = trace_of(tmp_path, f"path,timestamp{column}\n{rows}{one}", max_files=3)

    assert changes(trace) == [("p0", 3)]


def test_a_page_ends_where_it_was_deleted_last(tmp_path: Path) -> None:
    text = "path,timestamp,status\na,1,A\na,5,M\na,8,D\nb,1,A\nb,4,D\nb,6,A\nb,9,M\n"
    trace = trace_of(tmp_path, text)

    assert trace.gone_s.tolist() == [8, np.inf]
    assert changes(trace) == [("a", 5), ("b", 4), ("b", 6), ("b", 9)]


def test_pages_of_one_directory_are_a_group(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, HEAD + "x/a,1\nx/b,2\nx/y/c,3\nd,4\ne,5\n")
    groups = dict(zip(trace.paths, trace.group.tolist(), strict=True))

    assert groups["x/a"] == groups["x/b"] != groups["x/y/c"]
    assert groups["d"] == groups["e"] != groups["x/a"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no column 'path' (its columns: none)"),
        ("path,when\na,1\n", "has no column 'timestamp' (its columns: path, when)"),
        (HEAD, "is not a change trace: it has no rows"),
        (HEAD + "a,b\nc,d\n", "is not a change trace: 2 rows cannot be read"),
        (HEAD + "a,1\na,2\n", "all rows are of one page, and two pages or more are needed"),
        (HEAD + "a,1\nb,1\n", "all rows have the same timestamp"),
        (HEAD + "a,1\nb,1e308\n", "more than 200 years apart"),
        (HEAD + "a,1600000000000\nb,1700000000000\n", "not as milliseconds"),
        ("path,timestamp,files_in_commit\na,1,\u00b2\nb,2," + "9" * 5000, "2 rows cannot be read"),
    ],
)
def test_a_file_that_is_no_trace_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        trace_of(tmp_path, text)

    assert sentence in str(caught.value)


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    cut = tmp_path / "cut.csv.gz"
    cut.write_bytes(gzip.compress(b"path,timestamp\n" * 99)[:30])

    for path in (tmp_path / "none.csv", cut, tmp_path):
        with pytest.raises(UsageError, match="cannot read"):
            read_trace(path)
