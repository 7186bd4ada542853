"""Print rows for people: ruled on a terminal, in plain aligned columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def print_table(
    names: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str] = ()
) -> None:
    """Print rows under their names; no cell is truncated. `styles` colour rows on a terminal."""
    if sys.stdout.isatty():
        _print_ruled(names, rows, styles or [""] * len(rows))
        return
    shown = [[_one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *shown, strict=True)]
    for row in (names, *shown):
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())


def _print_ruled(
    names: Sequence[str], rows: Sequence[Sequence[str]], styles: Sequence[str]
) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*names)
    for row, style in zip(rows, styles, strict=True):
        cells = (Text(_one_line(cell), overflow="fold") for cell in row)
        table.add_row(*cells, style=style)
    Console().print(table)


def _one_line(cell: str) -> str:
    """Replace control characters in text from the web."""
    return "".join(char if char.isprintable() else " " for char in cell)
