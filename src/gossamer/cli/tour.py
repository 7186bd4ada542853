"""What a first crawl has found, shown to somebody who sees it for the first time."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gossamer.cli.text import reasons_text
from gossamer.crawl.study import Study
from gossamer.graph.tables import in_links, table_of
from gossamer.urls.canonical import host_of


def show_tour(path: Path) -> None:
    """Hosts, the most linked pages, refusals, and what to type next."""
    console = Console(highlight=False)
    with Study.open(path) as study:
        counts = study.counts()
        _show_hosts(console, study)
        example = _show_most_linked(console, study, path)
        console.print(
            f"\nRefused or failed, each with its reason: {reasons_text(counts.by_reason)}"
        )
    console.print("\nNow try", style="bold")
    for line in (
        f"why {example} -c {path}",
        f"page {example} -c {path} --markdown",
        f"export pages -c {path} -o pages.csv",
        f"export links -c {path} -o links.parquet",
    ):
        console.print(f"  {_program()} {line}", soft_wrap=True)


def _program() -> str:
    """How the person can call us: by name where that is found, else by our path."""
    own = Path(sys.argv[0])
    if shutil.which("gossamer") or own.name != "gossamer":
        return "gossamer"
    return os.path.relpath(own)


def _show_hosts(console: Console, study: Study) -> None:
    table = Table(title="Hosts", title_justify="left", box=None, pad_edge=False)
    table.add_column("host")
    for name in ("fetched", "refused", "failed"):
        table.add_column(name, justify="right")
    for row in sorted(study.host_rows(), key=lambda row: -row.fetched):
        table.add_row(row.name, str(row.fetched), str(row.refused), str(row.failed))
    console.print()
    console.print(table)


def _show_most_linked(console: Console, study: Study, path: Path) -> str:
    links = table_of(in_links(path / "graph")).sort_by([("pages", "descending")]).slice(0, 200)
    table = Table(title="\nMost linked pages", title_justify="left", box=None, pad_edge=False)
    table.add_column("pages that link to it", justify="right")
    table.add_column("title")
    table.add_column("URL", overflow="fold")
    example, shown = "", Counter[str]()
    for link in links.to_pylist():
        row = study.find(link["target"])
        if row is None or not row.title or shown[host_of(row.url)] == 2:
            continue
        shown[host_of(row.url)] += 1
        example = example or row.url
        table.add_row(str(link["pages"]), row.title, row.url)
    console.print(table)
    return example or study.seeds()[0]
