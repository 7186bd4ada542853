"""Show the results of a first crawl to a new user.

    python -m gossamer.cli.run.tour DIR

On a terminal it ends with a search prompt.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.table import Table

from gossamer.base.plurals import counted
from gossamer.cli.show.hits import print_hint, print_hits
from gossamer.cli.show.text import reasons_text
from gossamer.graph.tables import in_links, table_of
from gossamer.reader.collection_reader import CollectionReader
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.urls.canonical import host_of


def show_tour(path: Path, words: str = "") -> None:
    """Print hosts, the most linked pages, a search, refusals, and what to type next.

    Without `words` it searches for the title of the most linked page.
    """
    console = Console(highlight=False)
    with CollectionReader.open(path) as reader:
        counts = reader.counts()
        _show_hosts(console, reader)
        example, title = _show_most_linked(console, reader, path)
        if counts.by_reason:
            reasons = reasons_text(counts.by_reason)
            console.print(f"\nRefused or failed, each with its reason: {reasons}")
    words = words or " ".join(title.split()[:3])
    if words:
        console.print(f"\nSearch for: {words}", style="bold", markup=False)
        print_hits(Engine(path).search(Request(query=_plain(words), limit=3)))
    console.print("\nNext steps", style="bold")
    for line in (
        f"search {words or 'WORDS'} -c {path}",
        f"backlinks {example} -c {path}",
        f"top --by pagerank -c {path}",
        f"why {example} -c {path}",
        f"page {example} -c {path} --markdown",
        f"export links -c {path} -o links.parquet",
        f"serve -c {path}",
    ):
        console.print(f"  {_program()} {line}", soft_wrap=True)


def ask_on(path: Path) -> None:
    """Search for what the user types, until an empty line."""
    engine = Engine(path)
    while True:
        try:
            words = input("\nSearch (empty line to quit): ").strip()
        except (EOFError, KeyboardInterrupt):
            return
        if not words:
            return
        results = engine.search(Request(query=words, limit=5))
        print_hits(results)
        print_hint(results)
        print(f"{counted(results.total, 'page')} in {results.took_ms:.1f} ms.", file=sys.stderr)


def _plain(words: str) -> str:
    """Return the words of a title without query syntax."""
    return " ".join(re.findall(r"\w+", words))


def _program() -> str:
    """Return how to call the program: by name if it is on the path, else by its file."""
    own = Path(sys.argv[0])
    if shutil.which("gossamer") or own.name != "gossamer":
        return "gossamer"
    return os.path.relpath(own)


def _show_hosts(console: Console, reader: CollectionReader) -> None:
    table = Table(title="Hosts", title_justify="left", box=None, pad_edge=False)
    table.add_column("host")
    for name in ("fetched", "refused", "failed"):
        table.add_column(name, justify="right")
    for row in sorted(reader.host_rows(), key=lambda row: -row.fetched):
        table.add_row(row.name, str(row.fetched), str(row.refused), str(row.failed))
    console.print()
    console.print(table)


def _show_most_linked(console: Console, reader: CollectionReader, path: Path) -> tuple[str, str]:
    """Print the table; return the URL and title of its first page, as an example."""
    links = table_of(in_links(path / "graph")).sort_by([("pages", "descending")]).slice(0, 200)
    table = Table(title="\nMost linked pages", title_justify="left", box=None, pad_edge=False)
    table.add_column("pages that link to it", justify="right")
    table.add_column("title")
    table.add_column("URL", overflow="fold")
    example, title, shown = "", "", Counter[str]()
    for link in links.to_pylist():
        row = reader.find(link["target"])
        if row is None or not row.title or shown[host_of(row.url)] == 2:
            continue
        shown[host_of(row.url)] += 1
        example, title = example or row.url, title or row.title
        table.add_row(str(link["pages"]), row.title, row.url)
    console.print(table)
    return example or reader.seeds()[0], title


if __name__ == "__main__":
    show_tour(Path(sys.argv[1]))
    if sys.stdin.isatty():
        ask_on(Path(sys.argv[1]))
