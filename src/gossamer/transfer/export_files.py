"""Write record batches to a file: JSON lines, CSV or Parquet, by its extension.

A file appears complete or not at all: it is written under a temporary name and renamed. Memory
holds one batch. In CSV, a cell that a spreadsheet would run as a formula gets an apostrophe before
it, which can be removed again unambiguously (docs/adr/0009-csv-cells.md). The other formats, and
CSV on request, hold the exact values.
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
# The characters that start a formula in spreadsheets, or that they skip before one; some treat the
# wide forms alike. Apostrophes before them match too: so removing one apostrophe from such a cell
# always restores the original value.
_FORMULA: Final = r"^'*[=+\-@\t\r\n\x{FF1D}\x{FF0B}\x{FF0D}\x{FF20}]"
_csv: Final[Any] = importlib.import_module("pyarrow.csv")
_compute: Final[Any] = importlib.import_module("pyarrow.compute")


class _Writer(Protocol):
    """Accepts batches of one schema; `close` ends the file."""

    def write(self, batch: Any) -> None: ...

    def close(self) -> None: ...


class _JsonLines:
    """One object per line; empty cells are null."""

    def __init__(self, file: IO[bytes], _schema: Any) -> None:
        self._file = file

    def write(self, batch: Any) -> None:
        rows = times_as_text(batch).to_pylist()
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        self._file.write("".join(lines).encode())

    def close(self) -> None:
        """Nothing follows the last line."""


class _ExactCsv:
    """A header line, then one line per row; texts are quoted, empty cells are not."""

    def __init__(self, file: IO[bytes], schema: Any) -> None:
        self._writer = _csv.CSVWriter(file, times_as_text(schema.empty_table()).schema)

    def write(self, batch: Any) -> None:
        self._writer.write(times_as_text(batch))

    def close(self) -> None:
        self._writer.close()


class _Csv:
    """CSV for spreadsheets: no cell is a formula."""

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
    """Whether the file format shows times as text."""
    return path.suffix.lower() != ".parquet"


def harmless(column: Any) -> Any:
    """Return a text column in which no cell starts like a formula. Removing one apostrophe restores
    a cell: cells that already had apostrophes before a formula get one more."""
    is_formula = _compute.match_substring_regex(column, _FORMULA)
    quoted = _compute.binary_join_element_wise("'", column, "")
    return _compute.if_else(is_formula, quoted, column)


def check_name(path: Path, others: Collection[str] = ()) -> str:
    """Return the extension of the file's format. Raises UsageError.

    `others` are extensions that this table allows in addition.
    """
    if path == STDOUT:
        return ".jsonl"
    extension = path.suffix.lower()
    if extension not in _FORMATS and extension not in others:
        *most, last = (*_FORMATS, *others)
        raise UsageError(
            f"{path}: unknown file format; use {', '.join(most)} or {last}, or "
            "use - for JSON lines on standard output"
        )
    if path.is_dir():
        raise UsageError(f"{path} is a directory; add a file name")
    return extension


def write_batches(
    path: Path, schema: Any, batches: Iterator[Any], *, is_exact: bool = False
) -> int:
    """Write all batches; return the number of rows. Raises UsageError or DiskFault.

    `is_exact`: CSV cells keep their exact values.
    """
    writer_of = (_EXACT if is_exact else _FORMATS)[check_name(path)]
    with writing_to(path) as file:
        return _write(file, writer_of(file, schema), batches)


def _nothing_to_check() -> None:
    """The default check: it accepts every file."""


@contextlib.contextmanager
def writing_to(path: Path, check: Callable[[], None] = _nothing_to_check) -> Iterator[IO[bytes]]:
    """Yield a file that appears complete or not at all. Raises UsageError or DiskFault.

    `check` runs after the last write: if it raises, no file appears.
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
    """Yield a temporary file, renamed to `path` on success; a symbolic link stays a link."""
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
    """Delete temporary files of killed writers of this file."""
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        process = left.name.split(".")[-2]
        if process.isdecimal() and not _is_alive(int(process)):
            with contextlib.suppress(OSError):
                left.unlink()


def _is_alive(process: int) -> bool:
    if os.name != "posix":
        return True  # on Windows this call would end the process
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True  # it belongs to another user
    return True


def explained(path: Path, fault: OSError) -> UsageError | DiskFault:
    """Return the error for a file that could not be written."""
    if fault.errno in (errno.ENOSPC, errno.EDQUOT):
        what = f"{path} was not written because the disk is full; free space and try again"
        return DiskFault(what, is_full=True)
    return UsageError(f"cannot write {path}: {fault.strerror or fault}")
