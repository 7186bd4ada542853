"""Convert a page to Markdown: prepare its tree, then write it.

Markdown has no cells that span others, no code of several lines within a sentence and no scripts in
links. So spans become empty cells, such code becomes a block, links without a target become their
text, and the paragraph marks beside the headings of documentation are removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from turbohtml import Document, E, Element, Markdown

_MOST_SPANNED: Final = 50  # cells; a hostile table may ask for millions
_MOST_CELLS: Final = 20_000  # of a table; a larger one stays as it is
_MARKS: Final = frozenset({"¶", "#", "§", "🔗"})
_FORM: Final = Markdown(tables=Markdown.Tables(cell_blocks="text"))


def markdown_of(part: Document | Element) -> str:
    """The Markdown of a page or a part of it. Changes the tree."""
    for link in list(part.select("a[href]")):
        if (link.attr("href") or "").strip().lower().startswith("javascript:"):
            link.unwrap()
        elif link.text.strip() in _MARKS:
            link.decompose()
    for code in list(part.select("code")):
        _open_lines(code)
    for table in list(part.select("table")):
        _square(table)
    return part.to_markdown(_FORM)


def _open_lines(code: Element) -> None:
    """Turn code of several lines into a block, and other line ends into spaces."""
    if code.closest("pre") is not None:
        return
    if code.find("br") is not None and code.closest("td") is None:
        code.replace_with(E.pre(code.to_text()))
    elif "\n" in code.text and code.find("a") is None:
        code.replace_with(E.code(" ".join(code.text.split())))


def _square(table: Element) -> None:
    """Give all rows of a table the same number of cells, as Markdown requires."""
    rows = [list(_cells_of(row)) for row in table.find_all("tr") if row.closest("table") == table]
    if sum(map(len, rows)) > _MOST_CELLS:
        return
    is_list = all(len(row) < 2 for row in rows)  # it has one column, whatever its cells span
    spans = (sum(1 if is_list else _span(cell, "colspan") for cell in row) for row in rows)
    width = max(spans, default=0)
    if width > _MOST_SPANNED:
        return
    down: dict[int, int] = {}  # column -> number of rows below that a cell still covers
    for row in rows:
        _fill(row, down, width)


def _cells_of(row: Element) -> Iterator[Element]:
    return (cell for cell in row.children if isinstance(cell, Element) and cell.tag in ("td", "th"))


def _span(cell: Element, name: str) -> int:
    given = (cell.attr(name) or "1").strip()
    return min(int(given), _MOST_SPANNED) if given.isdecimal() and given != "0" else 1


def _fill(row: list[Element], down: dict[int, int], width: int) -> None:
    column = 0
    for cell in row:
        while down.get(column, 0) > 0:  # covered by a cell of a row above
            down[column] -= 1
            cell.insert_before(E.td())
            column += 1
        across = min(_span(cell, "colspan"), width - column)
        below = _span(cell, "rowspan")
        for name in ("colspan", "rowspan"):
            if cell.attr(name) is not None:
                del cell.attrs[name]
        for _ in range(across - 1):
            cell.insert_after(E.td())
        for covered in range(column, column + across):
            down[covered] = below - 1
        column += across
    if row and isinstance(row[-1].parent, Element):
        for _ in range(width - column):
            row[-1].parent.append(E.td())
