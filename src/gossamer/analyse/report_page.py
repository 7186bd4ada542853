"""Render a report as one HTML page without scripts or external resources, in light and dark.

The template escapes all text from the web. Characters that change the text direction are removed,
and only http and https URLs become links.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from gossamer.analyse.report import Cell, LinkSource, SiteReport
from gossamer.analyse.report_questions import label_of
from gossamer.base.answer_class import class_of_status, status_text
from gossamer.base.clock import iso_of

_TITLES: Final = {
    "statuses": "Responses by status",
    "depths": "Pages by depth (links from a seed)",
    "languages": "Pages by language",
    "types": "Pages by type",
    "failed": "Failed requests by reason",
    "refused": "Refused URLs by reason",
}
_MOST_BARS: Final = 10
# Characters that reverse the direction of text: a title could show its URL backwards.
_TURNING: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def report_page(report: SiteReport) -> str:
    """Return the page; write it as UTF-8 without a byte order mark."""
    pages = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    pages.filters.update(plain=_plain, link=_link, kind=_kind, thousands=_thousands, label=label_of)
    found = [finding for finding in report.findings if finding.total]
    return pages.get_template("report.html").render(
        report=report,
        name=report.site or report.collection,
        first=iso_of(report.first_us) if report.first_us else "",
        last=iso_of(report.last_us) if report.last_us else "",
        figures=_tiles(report),
        bars=[(_TITLES[name], _bars(_named(name, pairs))) for name, pairs in _shown(report)],
        found=found,
        fine=[finding.question.heading for finding in report.findings if not finding.total],
        total=lambda finding: report.figures[finding.question.name],
    )


def _tiles(report: SiteReport) -> list[tuple[str, int, str]]:
    """Return the figures at the top: name, number, and the table that it links to."""
    tiles = [("pages", report.sums["pages"], ""), ("known URLs", report.sums["known"], "")]
    for finding in report.findings:
        if finding.question.name in ("dead", "loops", "chains", "duplicates", "orphans"):
            name = finding.question.heading.lower()
            tiles.append((name, finding.total, finding.question.name if finding.total else ""))
    return tiles


def _shown(report: SiteReport) -> list[tuple[str, tuple[tuple[str, int], ...]]]:
    return [(name, report.histograms[name]) for name in _TITLES if report.histograms[name]]


def _named(name: str, pairs: tuple[tuple[str, int], ...]) -> list[tuple[str, int, str]]:
    """Return label, count and the response class that gives the bar its colour."""
    if name == "statuses":
        return [(status_text(int(s)), n, class_of_status(int(s))) for s, n in pairs]
    kind = name if name in ("failed", "refused") else ""
    return [(label, count, kind) for label, count in pairs]


def _bars(rows: list[tuple[str, int, str]]) -> list[tuple[str, int, float, str]]:
    """Return label, count, width in per cent and class; rare values are summed up."""
    first = rows[:_MOST_BARS]
    if rest := rows[_MOST_BARS:]:
        first.append((f"{len(rest)} others", sum(count for _, count, _ in rest), ""))
    most = max(count for _, count, _ in first)
    return [(name, count, max(0.5, 100 * count / most), kind) for name, count, kind in first]


def _kind(cell: Cell) -> str:
    match cell:
        case int() | float():
            return "number"
        case str():
            return "url" if cell.startswith(("http://", "https://")) else "text"
        case (LinkSource(), *_):
            return "sources"
        case _:
            return "urls"


def _link(url: str) -> str:
    """Return a URL that may become a link: http or https; otherwise an empty text."""
    return url if url.startswith(("http://", "https://")) else "#"


def _plain(text: str) -> str:
    kept = (char for char in text if char not in _TURNING)
    return "".join(char if char.isprintable() else " " for char in kept)


def _thousands(number: float) -> str:
    return f"{number:,}" if isinstance(number, int) else f"{number:,.2f}"
