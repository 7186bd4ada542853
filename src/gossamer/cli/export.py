"""`gossamer export`: a table of the collection, or its archive, to a file."""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.base.plurals import counted
from gossamer.base.sizes import size_text
from gossamer.crawl.export_archive import ARCHIVES
from gossamer.crawl.export_files import STDOUT
from gossamer.crawl.exports import check_export, export
from gossamer.crawl.study import Study


def run_export(
    path: Path, what: str, output: Path, level: str, prefix: str, *, is_exact: bool
) -> int:
    """Write it. Raises UsageError before anything is read when table or file cannot be."""
    check_export(what, output, level, prefix)
    with Study.open(path) as study:
        count = export(study, what, output, level, prefix, is_exact=is_exact)
    if output != STDOUT:
        written = size_text(count) if what in ARCHIVES else counted(count, "row")
        print(f"{written} of {what} in {output}", file=sys.stderr)
    return 0
