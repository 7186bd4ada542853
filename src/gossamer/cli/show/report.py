"""Print a report, write it to a file, and check its gates."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.analyse.report import Cell, Finding, LinkSource, SiteReport, make_report
from gossamer.analyse.report_gates import read_gates
from gossamer.analyse.report_page import report_page
from gossamer.analyse.report_questions import FROM_ARCHIVE, NAMES
from gossamer.base.clock import iso_of
from gossamer.base.plurals import counted
from gossamer.cli.show.hits import visible
from gossamer.cli.show.tables import print_table
from gossamer.collection.configure import configure
from gossamer.errors import UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.transfer.export_files import writing_to

GATE: Final = 10  # exit code if a --fail-on condition is true
_PAGES: Final = (".html", ".htm")


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """The parsed arguments."""

    site: str
    fail_on: tuple[str, ...]
    output: Path | None
    limit: int
    is_quick: bool
    as_json: bool
    analyses: tuple[str, ...] = ()


def run_report(path: Path, options: ReportOptions) -> int:
    """Make the report and show it; return 10 if a gate is true.

    Raises UsageError for an invalid gate or file name before it reads anything; NoCollection,
    NotKnown for an unknown site, DiskFault.
    """
    gates = read_gates(options.fail_on, (*NAMES, *options.analyses))
    for gate in gates:
        if options.is_quick and gate.name in FROM_ARCHIVE:
            raise UsageError(f"--fail-on {gate} needs the archive; remove --quick")
    if options.output is not None and options.output.suffix.lower() not in _PAGES:
        raise UsageError(f"{options.output} must end in .html; use --json for other formats")
    with CollectionReader.open(path) as reader:
        settings = configure(path, {}, base=reader.settings()).settings
        report = make_report(
            reader,
            options.site,
            mirrors=settings.mirrors,
            is_quick=options.is_quick,
            shown_rows=options.limit,
            analyses=options.analyses,
        )
    if options.output is not None:
        with writing_to(options.output) as file:
            file.write(report_page(report).encode("utf-8", "replace"))
        print(f"Wrote the report to {options.output}.", file=sys.stderr)
    if options.as_json:
        print(json.dumps(report_object(report)))
    elif options.output is None:
        _print(report)
    held = [gate for gate in gates if gate.holds(report.figures)]
    for gate in held:
        is_so = report.figures[gate.name]
        print(f"gossamer: --fail-on {gate}: {gate.name} is {is_so}", file=sys.stderr)
    return GATE if held else 0


def report_object(report: SiteReport) -> dict[str, Any]:
    """Return the report for programs."""
    return {
        "schema": 1,
        "site": report.site or None,
        "first_fetched_at": iso_of(report.first_us) if report.first_us else None,
        "last_fetched_at": iso_of(report.last_us) if report.last_us else None,
        "quick": report.is_quick,
        "figures": report.figures,
        "sums": {name: dict(pairs) for name, pairs in report.histograms.items()},
        "tables": {one.question.name: _table_object(one, report) for one in report.findings},
    }


def _table_object(finding: Finding, report: SiteReport) -> dict[str, Any]:
    names = [name.lower().replace(" ", "_") for name in finding.question.columns]
    rows = [dict(zip(names, map(_value, row), strict=True)) for row in finding.rows]
    return {"total": report.figures[finding.question.name], "rows": rows}


def _value(cell: Cell) -> Any:
    if not isinstance(cell, tuple):
        return cell
    return [
        {"url": one.url, "words": one.words} if isinstance(one, LinkSource) else one for one in cell
    ]


def _print(report: SiteReport) -> None:
    """Print the figures, one line each; the tables go to a file."""
    shown = [
        (str(report.figures[one.question.name]), one.question.name, one.question.heading)
        for one in report.findings
    ]
    print(f"{counted(report.sums['pages'], 'page')}, {counted(report.sums['known'], 'URL')} known.")
    for name in ("statuses", "languages", "depths", "failed", "refused"):
        if pairs := report.histograms[name]:
            print(f"{name}: {', '.join(f'{value} {count}' for value, count in pairs)}")
    print_table(("number", "name", "what"), shown)
    for mirror, original, same, pages, _ in _rows_of(report, "mirrors"):
        words = f"{_place(mirror)} mirrors {_place(original)}: {same:,} of {pages:,} pages"
        print(visible(words))
    print("Write all tables with `-o report.html`, or print them with `--json`.", file=sys.stderr)


def _rows_of(report: SiteReport, name: str) -> tuple[tuple[Any, ...], ...]:
    """The rows of a table by its name."""
    return next(one.rows for one in report.findings if one.question.name == name)


def _place(url: Any) -> str:
    """A host without its scheme, if nothing follows it; else the URL."""
    _, _, rest = str(url).partition("://")
    return rest[:-1] if rest.count("/") == 1 else str(url)
