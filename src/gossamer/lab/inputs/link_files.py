"""Read links from files: lines `source<TAB>target`, Parquet, and WebGraph's ASCII graphs."""

from __future__ import annotations

import gzip
import importlib
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.graph.arrow import pa, pc, pq

pa_csv: Any = importlib.import_module("pyarrow.csv")  # it has no types

_SOURCES: Final = ("source", "src", "from")
_TARGETS: Final = ("target", "dst", "to")
_LONG: Final = np.iinfo(np.int32).max


class BadGraphFile(UsageError):
    """A file of links or sites that cannot be read."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path} is not a link graph: {problem}")


def read_pairs(path: Path) -> tuple[Any, Any]:
    """The two columns of a file of lines `one<TAB>other`, as Arrow arrays of numbers or texts.

    Lines at the beginning that start with # are comments. Raises BadGraphFile.
    """
    try:
        comments, delimiter = _head(path)
        table = pa_csv.read_csv(
            path,
            read_options=pa_csv.ReadOptions(column_names=["one", "other"], skip_rows=comments),
            parse_options=pa_csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True),
        )
    except pa.ArrowInvalid as error:
        raise BadGraphFile(path, f"expected lines source<TAB>target ({_told(error)})") from None
    except (OSError, EOFError, gzip.BadGzipFile, UnicodeError) as error:
        raise BadGraphFile(path, str(error)) from None
    return table["one"], table["other"]


def read_parquet_pairs(path: Path) -> tuple[Any, Any]:
    """Columns `source` and `target` of a Parquet file, or its first two. Raises BadGraphFile."""
    try:
        names = pq.read_schema(path).names
        if len(names) < 2:
            raise BadGraphFile(path, "a file of links has the columns source and target")
        source = next((name for name in _SOURCES if name in names), names[0])
        target = next((name for name in _TARGETS if name in names), names[1])
        table = pq.read_table(path, columns=[source, target])
    except (OSError, pa.ArrowException) as error:
        raise BadGraphFile(path, _told(error)) from None
    return table[source], table[target]


def read_ascii_graph(path: Path) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Sources, targets and the number of pages of a WebGraph ASCII graph: the number, then one line
    of targets for each page. Raises BadGraphFile."""
    try:
        with opened(path) as file:
            pages = int(file.readline())
            lines = file.read().split(b"\n")
        if pages > _LONG or len(lines) < pages:
            raise BadGraphFile(path, f"it has fewer lines than its first line says ({pages})")
        rows = [np.array(line.split(), np.int64) for line in lines[:pages]]
    except (OSError, EOFError, ValueError, gzip.BadGzipFile) as error:
        raise BadGraphFile(path, str(error)) from None
    counts = np.array([len(row) for row in rows], np.int64)
    targets = np.concatenate(rows) if rows else np.zeros(0, np.int64)
    if len(targets) and not 0 <= targets.min() <= targets.max() < pages:
        raise BadGraphFile(path, "it names a page that it does not have")
    return np.repeat(np.arange(pages), counts), targets, pages


def opened(path: Path) -> Any:
    """A file of bytes, unpacked where it is gzip."""
    with path.open("rb") as file:
        is_packed = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if is_packed else path.open("rb")


def is_ascii_graph(path: Path) -> bool:
    """Whether the first line of a file is one number."""
    with opened(path) as file:
        return bool(file.readline(100).strip().isdigit())


def numbered(column: Any) -> tuple[NDArray[np.int64], Any]:
    """Texts as numbers from 0, in the order in which they come, and the texts."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    encoded = pc.dictionary_encode(column)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


def _head(path: Path) -> tuple[int, str]:
    """How many comment lines come first, and what separates the columns: a tab, or a space between
    two numbers."""
    comments = 0
    with opened(path) as file:
        for line in file:
            if not line.startswith(b"#"):
                are_numbers = [word.isdigit() for word in line.strip().split(b" ")] == [True] * 2
                return comments, " " if are_numbers else "\t"
            comments += 1
    raise BadGraphFile(path, "it has no links")


def _told(error: Exception) -> str:
    """The first sentence of an error of Arrow."""
    return str(error).splitlines()[0][:200].rstrip(".") if str(error) else "it cannot be read"
