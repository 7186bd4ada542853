"""Record batches to a file that people open: JSON lines, CSV or Parquet, told by its name.

A file appears whole or not at all: it is written beside its place and renamed. Memory holds one
batch. In CSV a cell that a spreadsheet would run as a formula gets an apostrophe before it, which
can be taken off again without a doubt (docs/adr/0009-csv-cells.md); the other formats, and CSV on
request, hold exactly what was found.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import importlib
import json
import os
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import IO, Any, Final, Protocol

from gossamer.errors import DiskFault, UsageError
from gossamer.graph.arrow import pa, pq
from gossamer.reader.tables import times_as_text

STDOUT: Final = Path("-")
# What spreadsheets take as the beginning of a formula, or skip before one; the wide forms are the
# same to some. With apostrophes before it as well: so whoever takes one off such a cell has what
# was found, whatever that was.
_FORMULA: Final = r"^'*[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_csv: Final[Any] = importlib.import_module("pyarrow.csv")
_compute: Final[Any] = importlib.import_module("pyarrow.compute")


class _Writer(Protocol):
    """Takes batches of one schema, and is told when there are no more."""

    def write(self, batch: Any) -> None: ...

    def close(self) -> None: ...


class _JsonLines:
    """One object a line; empty cells are null."""

    def __init__(self, file: IO[bytes], _schema: Any) -> None:
        self._file = file

    def write(self, batch: Any) -> None:
        rows = times_as_text(batch).to_pylist()
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        """Nothing follows the last line."""


class _ExactCsv:
    """A line of names, then one line a row; texts are quoted, empty cells are not."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._writer = _csv.CSVWriter(file, times_as_text(schema.empty_table()).schema)

    def write(self, batch: Any) -> None:
        self._writer.write(times_as_text(batch))

    def close(self) -> None:
        self._writer.close()


class _Csv:
    """The same for spreadsheets: no cell is a formula."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._exact = _ExactCsv(file, schema)
        self._schema = schema

    def write(self, batch: Any) -> None:
        columns = [
            harmless(column) if pa.types.is_string(column.type) else column
            for column in batch.columns
        ]
        self._exact.write(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        self._exact.close()


class _Parquet:
    """Compressed with Zstandard; times are timestamps in UTC."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._writer = pq.ParquetWriter(file, schema, compression="zstd", version="2.6")

    def write(self, batch: Any) -> None:
        self._writer.write_batch(batch)

    def close(self) -> None:
        self._writer.close()


_FORMATS: Final[dict[str, Callable[[IO[bytes], Any], _Writer]]] = {
    ".jsonl": _JsonLines,
    ".csv": _Csv,
    ".parquet": _Parquet,
}
_EXACT: Final = {**_FORMATS, ".csv": _ExactCsv}


def is_text(path: Path) -> bool:
    """Whether a file of that name shows times as text."""
    return path.suffix.lower() != ".parquet"


def harmless(column: Any) -> Any:
    """A text column in which no cell begins as a formula does. One apostrophe less, and it is as it
    was: cells that began so after apostrophes have one more, too."""
    is_formula = _compute.match_substring_regex(column, _FORMULA)
    quoted = _compute.binary_join_element_wise("'", column, "")
    return _compute.if_else(is_formula, quoted, column)


def check_name(path: Path, others: Collection[str] = ()) -> str:
    """The format's extension, told by the file's name. Raises UsageError.

    `others` are those that this table may have beside the usual ones.
    """
    if path == STDOUT:
        return ".jsonl"
    extension = path.suffix.lower()
    if extension not in _FORMATS and extension not in others:
        *most, last = (*_FORMATS, *others)
        raise UsageError(
            f"{path}: unknown file format; use {', '.join(most)} or {last}, or "
            "write - for JSON lines on standard output"
        )
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file in it")
    return extension


def write_batches(
    path: Path, schema: Any, batches: Iterator[Any], *, is_exact: bool = False
) -> int:
    """Write all batches; how many rows there were. Raises UsageError or DiskFault.

    `is_exact`: in CSV, too, every cell is as it was found.
    """
    writer_of = (_EXACT if is_exact else _FORMATS)[check_name(path)]
    with writing_to(path) as file:
        return _write(file, writer_of(file, schema), batches)


def _nothing_to_check() -> None:
    """What is written is sound anyway."""


@contextlib.contextmanager
def writing_to(path: Path, check: Callable[[], None] = _nothing_to_check) -> Iterator[IO[bytes]]:
    """A file to write to that appears whole or not at all. Raises UsageError or DiskFault.

    `check` is asked when all is written: where it raises, no file appears.
    """
    if path == STDOUT:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        check()
        return
    try:
        with _opened(path) as file:
            yield file
            check()
    except OSError as fault:
        if isinstance(fault, BrokenPipeError):
            raise
        raise explained(path, fault) from fault


def _write(file: IO[bytes], writer: _Writer, batches: Iterator[Any]) -> int:
    rows = 0
    try:
        for batch in batches:
            writer.write(batch)
            rows += batch.num_rows
    finally:
        writer.close()
    file.flush()
    return rows


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    """The file to write to, renamed to `path` when all went well; a link stays a link."""
    target = path.resolve()
    if target.exists() and not target.is_file():  # a pipe or a device: nothing to rename
        with target.open("wb") as file:
            yield file
        return
    sweep(target)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def sweep(target: Path) -> None:
    """Delete what killed writers of this very file have left beside it."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        process = left.name.split(".")[-2]
        if process.isdecimal() and not _is_alive(int(process)):
            with contextlib.suppress(OSError):
                left.unlink()


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # there asking would end it
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # somebody else's
    return True


def explained(path: Path, fault: OSError) -> UsageError | DiskFault:
    """What to say of a file that could not be written."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        what = f"the disk is full, and {path} was not written; make room and try again"
        return DiskFault(what, is_full=True)
    return UsageError(f"cannot write {path}: {fault.strerror or fault}")
