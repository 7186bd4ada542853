"""A table in the format of a plug-in (`gossamer.export`), chosen by its name: `--format NAME`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Final, Protocol

from gossamer.errors import GossamerError, UsageError
from gossamer.plugins import EXPORT, Plugin, load_plugin, plugin_fault
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.tables import times_as_text
from gossamer.transfer.export_archive import ARCHIVES
from gossamer.transfer.export_choice import ALL, Choice
from gossamer.transfer.export_files import writing_to
from gossamer.transfer.exports import batches, check_table, schema_of

_MEMBERS: Final = ("write",)


class ExportFormat(Protocol):
    """Writes a table to a file."""

    def write(
        self, file: IO[bytes], columns: Sequence[str], rows: Iterable[Mapping[str, object]], /
    ) -> None:
        """Write all rows, in their order, and do not close the file. Each row has every column;
        an empty cell is None, a time is a text. There may be millions of rows: hold few of them.
        """
        ...


def format_named(name: str, what: str, level: str = "page", choice: Choice = ALL) -> Plugin:
    """The format for a table. Raises PluginError, and UsageError for what is not a table."""
    if what in ARCHIVES:
        raise UsageError(f"--format is for tables, not for {what}; leave it out")
    check_table(what, level, choice)
    return load_plugin(EXPORT, name, _MEMBERS)


def export_by_plugin(
    reader: CollectionReader,
    plugin: Plugin,
    what: str,
    path: Path,
    level: str = "page",
    choice: Choice = ALL,
) -> int:
    """Write a table; how many rows. The file appears whole or not at all.

    Raises PluginError, UsageError, DiskFault, and Rewritten when a takedown came in between.
    """
    written = _Rows(batches(reader, what, level, choice, as_text=True))
    columns = tuple(schema_of(what, level, choice, as_text=True).names)
    made: ExportFormat = plugin.made
    with writing_to(path) as file:
        try:
            made.write(file, columns, written)
        except (GossamerError, OSError):  # of ours, or of the disk
            raise
        except Exception as fault:
            raise plugin_fault(plugin, f"to write {path}", fault) from fault
        file.flush()
    return written.count


class _Rows:
    """The rows of all batches, counted as they are read."""

    def __init__(self, found: Iterator[Any]) -> None:
        self._batches = found
        self.count = 0

    def __iter__(self) -> Iterator[Mapping[str, object]]:
        for batch in self._batches:
            for row in times_as_text(batch).to_pylist():
                self.count += 1
                yield row
