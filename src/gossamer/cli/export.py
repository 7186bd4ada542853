"""`gossamer export`: a table of the collection to a file."""

from __future__ import annotations

import sys
from pathlib import Path

from gossamer.crawl.export_files import STDOUT, check_name
from gossamer.crawl.exports import check_table, export
from gossamer.crawl.study import Study


def run_export(path: Path, what: str, output: Path) -> int:
    """Write it. Raises UsageError before anything is read when table or file cannot be."""
    check_table(what)
    check_name(output)
    with Study.open(path) as study:
        rows = export(study, what, output)
    if output != STDOUT:
        print(f"{rows} rows of {what} in {output}", file=sys.stderr)
    return 0
