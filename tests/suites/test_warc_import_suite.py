"""Every WARC and ARC file of the suite through an import: nothing hangs, and the state is sound."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from gossamer.base.clock import SystemClock
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import UsageError
from gossamer.settings import Settings, with_values
from gossamer.transfer.import_archive import ImportCounts
from gossamer.transfer.imports import import_files, kind_of
from support.a_crawl import QUICK
from support.killing import typed
from support.shared import suite

NAMES = (".warc", ".warc.gz", ".arc", ".arc.gz", ".bad", ".warc.zst", ".wacz")


@pytest.mark.slow
def test_all_files_of_the_suite_are_imported_once(collection: Path) -> None:
    paths = sorted(one for one in suite("warc").rglob("*") if one.name.endswith(NAMES))
    readable = [path for path in paths if _is_readable(path)]
    assert len(readable) >= len(paths) - 4
    first, again = _imported(collection, readable), _imported(collection, readable)
    assert first.captures >= 98  # many files hold the same records in other wrappings
    assert (again.captures, again.kept) == (0, 0)
    assert typed("verify", "-c", collection).code == 0


def _is_readable(path: Path) -> bool:
    try:
        kind_of(path)
    except UsageError:
        return False
    return True


def _imported(collection: Path, paths: list[Path]) -> ImportCounts:
    quick = with_values(Settings(), QUICK)
    tally = ImportCounts(lambda _: None)
    asyncio.run(
        import_files(
            CollectionPaths(collection), lambda stored: stored or quick, paths, SystemClock(), tally
        )
    )
    return tally
