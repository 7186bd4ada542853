"""`gossamer export`: write a table or the archive of the collection to a file or a folder."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from gossamer.base.plurals import counted
from gossamer.base.sizes import size_text
from gossamer.errors import UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_archive import ARCHIVES
from gossamer.transfer.export_choice import Choice
from gossamer.transfer.export_files import STDOUT
from gossamer.transfer.export_folder import EVERY, check_folder, export_folder, is_folder
from gossamer.transfer.export_plugin import export_by_plugin, format_named
from gossamer.transfer.exports import check_export, export


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRequest:
    """What to export, and how."""

    what: str
    output: str
    level: str = "page"
    prefix: str = ""
    is_exact: bool = False
    choice: Choice
    format: str = ""  # the name of a plug-in; empty: chosen by the file extension


def run_export(path: Path, wanted: ExportRequest) -> int:
    """Export it. Raises UsageError before it reads anything if table or file are invalid."""
    if wanted.format:
        return _by_plugin(path, wanted)
    if wanted.what == EVERY or (wanted.what not in ARCHIVES and is_folder(wanted.output)):
        return _to_folder(path, wanted)
    what, output, level, prefix = wanted.what, Path(wanted.output), wanted.level, wanted.prefix
    check_export(what, output, level, prefix, wanted.choice)
    with CollectionReader.open(path) as reader:
        count = export(
            reader, what, output, level, prefix, is_exact=wanted.is_exact, choice=wanted.choice
        )
    if output != STDOUT:
        written = size_text(count) if what in ARCHIVES else counted(count, "row")
        print(f"Wrote {written} of {what} to {output}.", file=sys.stderr)
    return 0


def _by_plugin(path: Path, wanted: ExportRequest) -> int:
    what, output, level = wanted.what, Path(wanted.output), wanted.level
    if wanted.prefix:
        raise UsageError("--prefix is for warc and wacz, not for --format")
    plugin = format_named(wanted.format, what, level, wanted.choice)
    with CollectionReader.open(path) as reader:
        count = export_by_plugin(reader, plugin, what, output, level, wanted.choice)
    if output != STDOUT:
        print(f"{counted(count, 'row')} of {what} in {output}", file=sys.stderr)
    return 0


def _to_folder(path: Path, wanted: ExportRequest) -> int:
    folder = Path(EVERY if wanted.output == str(STDOUT) else wanted.output)
    check_folder(wanted.what, folder, wanted.level, wanted.choice)
    with CollectionReader.open(path) as reader:
        tables = export_folder(reader, wanted.what, folder, wanted.level, wanted.choice)
    for table in tables:
        parts = counted(table.parts, "file")
        print(f"Wrote {counted(table.rows, 'row')} of {table.what} to {parts}.", file=sys.stderr)
    name = tables[0].what
    glob = f"{folder}/{name}-*.parquet"
    print(f"Read them with DuckDB: from '{glob}'", file=sys.stderr)
    return 0
