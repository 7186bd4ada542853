"""`gossamer export`: a table of the collection to a file."""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.crawl.export_files import STDOUT
from gossamer.crawl.exports import check_export, export
from gossamer.crawl.study import Study


def run_export(path: Path, what: str, output: Path, level: str) -> int:
    """Write it. Raises UsageError before anything is read when table or file cannot be."""
    check_export(what, output, level)
    with Study.open(path) as study:
        rows = export(study, what, output, level)
    if output != STDOUT:
        print(f"{rows} rows of {what} in {output}", file=sys.stderr)
    return 0
