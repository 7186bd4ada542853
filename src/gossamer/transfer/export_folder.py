"""Export tables as a folder of Parquet files, which DuckDB and others read with one glob.

    gossamer export pages -o out/      out/pages-00000.parquet, out/pages-00001.parquet, ...
    gossamer export all -o out/        the same for every table
    duckdb -c "select status, count(*) from 'out/pages-*.parquet' group by 1"

A part has up to a million rows. The parts of a table appear together when all of them are written,
and they replace those of an earlier export of the table. Other files in the folder stay.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.errors import UsageError
from gossamer.graph.arrow import pq
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_choice import ALL, Choice
from gossamer.transfer.export_files import explained, sweep
from gossamer.transfer.export_schemas import SCHEMAS
from gossamer.transfer.exports import batches, check_table, schema_of

EVERY: Final = "all"
PART_ROWS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Written:
    """A written table."""

    what: str
    rows: int
    parts: int


def is_folder(output: str) -> bool:
    """Whether the output is a folder: the name ends in a slash, or the folder exists."""
    return output.endswith(("/", os.sep)) or (output != "-" and Path(output).is_dir())


def check_folder(what: str, folder: Path, level: str = "page", choice: Choice = ALL) -> None:
    """Raise UsageError for an invalid export to a folder."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; choose another name for the folder")
    if what != EVERY:
        check_table(what, level, choice)
    elif level != "page" or choice != ALL:
        raise UsageError("`export all` writes whole tables; use --level, --outcome, --status and "
                         "--columns with one table")  # fmt: skip


def export_folder(
    reader: CollectionReader,
    what: str,
    folder: Path,
    level: str = "page",
    choice: Choice = ALL,
    part_rows: int = PART_ROWS,
) -> list[Written]:
    """Write one table, or `all`, as Parquet parts. Raises UsageError, DiskFault, Rewritten; after
    an error no part of that table appears."""
    check_folder(what, folder, level, choice)
    whats = list(SCHEMAS) if what == EVERY else [what]
    return [_export(reader, one, folder, level, choice, part_rows) for one in whats]


def _export(
    reader: CollectionReader, what: str, folder: Path, level: str, choice: Choice, part_rows: int
) -> Written:
    stem = what if level == "page" else f"{what}-{level}"
    schema = schema_of(what, level, choice)
    parts: list[Path] = []
    rows = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for piece in _pieces(batches(reader, what, level, choice), part_rows):
            parts.append(_temporary(folder, _name(stem, len(parts))))
            rows += _write(parts[-1], schema, piece)
        if not parts:  # a glob that matches no file is an error
            parts.append(_temporary(folder, _name(stem, 0)))
            _write(parts[-1], schema, iter(()))
        _put_in_place(folder, stem, parts)
    except OSError as fault:
        raise explained(folder, fault) from fault
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)
    return Written(what, rows, len(parts))


def _name(stem: str, number: int) -> str:
    return f"{stem}-{number:05d}.parquet"


def _temporary(folder: Path, name: str) -> Path:
    sweep(folder / name)
    return folder / f".{name}.{os.getpid()}.part"


def _write(path: Path, schema: Any, found: Iterator[Any]) -> int:
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6") as writer:
        for batch in found:
            writer.write_batch(batch)
            rows += batch.num_rows
    return rows


def _pieces(found: Iterator[Any], part_rows: int) -> Iterator[Iterator[Any]]:
    """Group batches by about `part_rows` rows; consume each group before the next."""
    first = next(found, None)
    while first is not None:
        held: list[Any] = []

        def piece(first: Any = first, held: list[Any] = held) -> Iterator[Any]:
            count, batch = 0, first
            while batch is not None:
                if count and count + batch.num_rows > part_rows:
                    held.append(batch)
                    return
                count += batch.num_rows
                yield batch
                batch = next(found, None)

        yield piece()
        first = held[0] if held else None


def _put_in_place(folder: Path, stem: str, parts: list[Path]) -> None:
    names = [_name(stem, number) for number in range(len(parts))]
    for part, name in zip(parts, names, strict=True):
        part.replace(folder / name)
    ours = re.compile(rf"{re.escape(stem)}-\d{{5}}\.parquet")
    for old in folder.iterdir():
        if ours.fullmatch(old.name) and old.name not in names:
            old.unlink()
