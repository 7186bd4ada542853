"""The link graph of a WARC or WACZ file: it is imported into a collection that is deleted again."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from gossamer.base.clock import SystemClock
from gossamer.collection.configure import configure
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.transfer.import_archive import ImportCounts
from gossamer.transfer.imports import import_files

_ENDINGS: Final = (".warc", ".warc.gz", ".warc.zst", ".wacz", ".arc", ".arc.gz")


def is_warc(path: Path) -> bool:
    """Whether the name is that of a web archive."""
    return path.name.lower().endswith(_ENDINGS)


@contextmanager
def imported(path: Path) -> Iterator[Path]:
    """The folder of a collection with the pages of a file. Raises UsageError where none is read."""
    with tempfile.TemporaryDirectory(prefix="gossamer-lab-") as folder:
        paths = CollectionPaths(Path(folder) / "collection")
        tally = ImportCounts(lambda _: None)
        settings = {"node.index": False}  # only links are needed
        asyncio.run(
            import_files(
                paths,
                lambda stored: configure(paths.path, settings, base=stored).settings,
                [path],
                SystemClock(),
                tally,
            )
        )
        if not tally.captures:
            raise UsageError(f"{path} holds no pages that can be read")
        yield paths.path
