"""Show values to people: one line in a terminal, a small table in a notebook.

Text from the web is escaped, cut, and stripped of characters that change how the following text
reads, so crawled markup never runs in a notebook. Links lead to http and https only.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Final

_DIRECTIONS: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_LEFT: Final = ' style="text-align:left;vertical-align:top"'
_ONE_LINE: Final = ' style="text-align:left;white-space:nowrap"'
_LONGEST_CELL: Final = 200
_LONGEST_VALUE: Final = 60  # in a table that does not wrap


def plain(value: object, longest: int = _LONGEST_CELL) -> str:
    """A value as one line of text, cut to a length; empty for None."""
    if value is None:
        return ""
    text = str(value)[: 4 * longest + 4]
    kept = "".join(char if char.isprintable() else " " for char in text if char not in _DIRECTIONS)
    line = " ".join(kept.split())
    return f"{line[: longest - 3]}..." if len(line) > longest else line


def quoted(value: str, longest: int = 60) -> str:
    """A title in a repr."""
    return f'"{plain(value, longest)}"' if value.strip() else "(no title)"


def escaped(value: object, longest: int = _LONGEST_CELL) -> str:
    """A value as text within HTML."""
    return html.escape(plain(value, longest))


def link_to(url: str, words: str = "") -> str:
    """A link to a web page; only the words if the URL has another scheme."""
    shown = escaped(words or url)
    if not url.startswith(("http://", "https://")):
        return shown
    return f'<a href="{html.escape(url)}" rel="noopener noreferrer" target="_blank">{shown}</a>'


def facts_table(heading: str, facts: Iterable[tuple[str, str]]) -> str:
    """A heading and rows of name and value; values are HTML already."""
    rows = "".join(
        f"<tr><th{_LEFT}>{html.escape(name)}</th><td{_LEFT}>{value}</td></tr>"
        for name, value in facts
        if value
    )
    return f"<div><p><strong>{heading}</strong></p><table><tbody>{rows}</tbody></table></div>"


def rows_table(
    names: Sequence[str], rows: Iterable[Sequence[str]], note: str = "", *, wraps: bool = True
) -> str:
    """A table with a line of names; cells are HTML already, names and note are text.

    If cells do not wrap, a wide table scrolls.
    """
    style = _LEFT if wraps else _ONE_LINE
    head = "".join(f"<th{style}>{html.escape(name)}</th>" for name in names)
    body = "".join(
        "<tr>" + "".join(f"<td{style}>{cell}</td>" for cell in row) + "</tr>" for row in rows
    )
    below = f"<p>{html.escape(note)}</p>" if note else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return f'<div style="overflow-x:auto">{table}{below}</div>'


def cell_of(value: object) -> str:
    """A value of a table as a cell."""
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        return link_to(value, plain(value, _LONGEST_VALUE))
    return escaped(value, _LONGEST_VALUE)


def text_table(names: Sequence[str], rows: Sequence[Sequence[object]], width: int = 100) -> str:
    """Columns side by side, as many as fit; a last column of dots means that there are more."""
    columns = [
        [name, *(plain(row[number], 40) for row in rows)] for number, name in enumerate(names)
    ]
    lines = [""] * (len(rows) + 1)
    for column in columns:
        wide = max(map(len, column))
        if lines[0] and len(lines[0]) + wide + 2 > width - 5:
            lines = [f"{line}  ..." for line in lines]
            break
        gap = "  " if lines[0] else ""
        pairs = zip(lines, column, strict=True)
        lines = [f"{line}{gap}{cell:<{wide}}" for line, cell in pairs]
    return "\n".join(line.rstrip() for line in lines)
