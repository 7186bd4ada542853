"""Cells of tables, as people read them, and as CSV files hold them."""

from __future__ import annotations

import re
from typing import Final

from gossamer.lab.experiment import LabCell

_FORMULA: Final = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]")  # docs/adr/0009-csv-cells.md


def cell_text(cell: LabCell) -> str:
    """A number with three digits after the point, large ones without; a dash for nothing."""
    if cell is None:
        return "-"
    if isinstance(cell, float):
        return f"{cell:,.3f}" if abs(cell) < 100 else f"{cell:,.0f}"
    return f"{cell:,}" if isinstance(cell, int) else cell


def harmless_cell(cell: LabCell) -> LabCell:
    """A cell of CSV that no spreadsheet runs as a formula."""
    return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell
