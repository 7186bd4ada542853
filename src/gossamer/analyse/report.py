"""Audit a site for its owner: figures, sums by kind, and one table per type of problem.

    state, archive --> report_rows.py --> tables --+
    graph -----------------------------------------+--> report_questions.py --> Report

Works during a crawl, on one moment of it. Each table is limited to a number of rows and gives the
total. `report_page.py` and the command line format a report.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import duckdb

from gossamer.analyse.report_mirrors import SamePage, mirrors_of
from gossamer.analyse.report_plugins import analyses_named
from gossamer.analyse.report_questions import (
    ALL_PAGES,
    FROM_ARCHIVE,
    HISTOGRAMS,
    QUESTIONS,
    SAME_PAGES,
    SUMS,
    VIEWS,
    ReportQuestion,
)
from gossamer.analyse.report_redirects import RedirectChain, chains_of, loops_of
from gossamer.analyse.report_rows import Inside, inside_of, stage_heads, stage_urls
from gossamer.analyse.report_similar import similar_pages
from gossamer.errors import PluginError
from gossamer.graph import tables
from gossamer.plugins import Plugin, plugin_fault
from gossamer.reader.collection_reader import CollectionReader
from gossamer.settings import Mirrors

SHOWN_ROWS: Final = 100


class LinkSource(NamedTuple):
    """A page that contains a link, and the anchor text."""

    url: str
    words: str


Cell = str | int | float | tuple[LinkSource, ...] | tuple[str, ...]
Row = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one question: the number of rows, and the first of them."""

    question: ReportQuestion
    total: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class SiteReport:
    """All findings about a site at one moment."""

    collection: str
    site: str  # as typed; empty for the whole collection
    first_us: int  # when its pages were fetched
    last_us: int
    is_quick: bool
    sums: Mapping[str, int]
    histograms: Mapping[str, tuple[tuple[str, int], ...]]
    findings: tuple[Finding, ...]

    @property
    def figures(self) -> dict[str, int]:
        """Return every name that a gate may use. If a question limits its rows, the sum counts."""
        return {**{f.question.name: f.total for f in self.findings}, **self.sums}


def make_report(
    reader: CollectionReader,
    site: str = "",
    *,
    is_quick: bool = False,
    shown_rows: int = SHOWN_ROWS,
    analyses: Sequence[str] = (),
    mirrors: Mirrors | None = None,
) -> SiteReport:
    """Make the report on a site, a host or a URL prefix; without one, on everything.

    `mirrors` are the rules for mirrors; default: those of the settings' defaults.
    `analyses` names plug-ins, each of which adds a table; raises PluginError for them.
    `is_quick` skips what must be read from the archive: descriptions and insecure files.
    Raises UsageError and NotKnown for an invalid or unknown site, CorruptFile for a damaged graph.
    """
    added = analyses_named(analyses)
    inside = inside_of(reader, site)
    with tempfile.TemporaryDirectory(prefix="gossamer-report-") as folder:
        urls = stage_urls(reader, inside, Path(folder))
        heads = stage_heads(reader, inside, Path(folder), is_quick=is_quick)
        with tables.opened(reader.paths.graph) as connection:
            _open(connection, urls, heads)
            sums = {name: int(_only(connection, sql)) for name, sql in SUMS.items()}
            histograms = {name: _pairs(connection, sql) for name, sql in HISTOGRAMS.items()}
            asked = [q for q in QUESTIONS if not (is_quick and q.name in FROM_ARCHIVE)]
            findings = (
                *_findings(connection, asked, shown_rows, mirrors or Mirrors()),
                *_similar_findings(reader, inside, shown_rows),
                *_added_findings(connection, added, shown_rows),
            )
            span = connection.execute("select min(at_us), max(at_us) from pages").fetchone()
    first_us, last_us = span or (None, None)
    return SiteReport(
        reader.paths.path.resolve().name,
        site,
        first_us or 0,
        last_us or 0,
        is_quick,
        sums,
        histograms,
        findings,
    )


def _open(connection: duckdb.DuckDBPyConnection, urls: Path, heads: Path) -> None:
    for name, path in (("urls", urls), ("heads", heads)):
        source = tables.quoted(path)
        connection.execute(f"create temp view {name} as from read_parquet({source})")
    for name, sql in VIEWS.items():
        connection.execute(f"create temp view {name} as {sql}")


def _findings(
    connection: duckdb.DuckDBPyConnection,
    questions: Iterable[ReportQuestion],
    shown_rows: int,
    mirrors: Mirrors,
) -> Iterator[Finding]:
    led = list(_rows(connection, "select url, redirect, inside from urls where redirect <> ''"))
    redirects = {url: target for url, target, _ in led}
    inside = {url for url, _, is_inside in led if is_inside}
    for question in questions:
        match question.name:
            case "loops":
                yield _of_ways(question, loops_of(redirects), inside, shown_rows)
            case "chains":
                yield _of_ways(question, chains_of(redirects), inside, shown_rows)
            case "mirrors":
                yield _of_mirrors(connection, question, mirrors, shown_rows)
            case _:
                yield _of_rows(question, _rows(connection, question.sql), shown_rows)


def _similar_findings(
    reader: CollectionReader, inside: Inside, shown_rows: int
) -> Iterator[Finding]:
    found = similar_pages(reader, inside, shown_rows)
    if found is not None:
        question, total, rows = found
        yield Finding(question, total, tuple(rows))


def _added_findings(
    connection: duckdb.DuckDBPyConnection,
    added: Iterable[tuple[Plugin, ReportQuestion]],
    shown_rows: int,
) -> Iterator[Finding]:
    """The tables of plug-ins. Raises PluginError for a query that fails or has other columns."""
    for plugin, question in added:
        try:
            rows = (tuple(map(_plain, row)) for row in _rows(connection, question.sql))
            finding = _of_rows(question, rows, shown_rows)
        except duckdb.Error as fault:
            raise plugin_fault(plugin, "to ask its query", fault) from fault
        if finding.rows and len(finding.rows[0]) != len(question.columns):
            found, named = len(finding.rows[0]), len(question.columns)
            raise PluginError(
                f"{plugin} names {named} columns, and its query has {found}; update or uninstall it"
            )
        yield finding


def _plain(value: Any) -> Any:
    """A value of any query as one that a report can show."""
    if value is None:
        return ""
    return value if isinstance(value, str | int | float | list) else str(value)


def _of_ways(
    question: ReportQuestion, ways: Iterable[RedirectChain], inside: set[str], shown: int
) -> Finding:
    ours = [way for way in ways if not inside.isdisjoint(way.urls)]
    rows = tuple((way.urls[0], way.hops, way.urls[1:]) for way in ours[:shown])
    return Finding(question, len(ours), rows)


def _of_mirrors(
    connection: duckdb.DuckDBPyConnection, question: ReportQuestion, rules: Mirrors, shown: int
) -> Finding:
    same = (SamePage(*row) for row in _rows(connection, SAME_PAGES))
    found = mirrors_of(same, lambda: (url for (url,) in _rows(connection, ALL_PAGES)), rules)
    rows = tuple(
        (one.mirror, one.original, one.same, one.pages, round(one.share, 4)) for one in found
    )
    return Finding(question, len(rows), rows[:shown])


def _of_rows(question: ReportQuestion, rows: Iterator[tuple[Any, ...]], shown: int) -> Finding:
    first = tuple(tuple(map(_cell, row)) for row in islice(rows, shown))
    return Finding(question, len(first) + sum(1 for _ in rows), first)


def _cell(value: Any) -> Cell:
    """Convert a value of DuckDB to a cell; a list has URLs, or URLs with words after a zero."""
    if isinstance(value, list):
        parted = [str(one).partition("\0") for one in value]
        if any(zero for _, zero, _ in parted):
            return tuple(LinkSource(url, words) for url, _, words in parted)
        return tuple(url for url, _, _ in parted)
    cell: Cell = value
    return cell


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[tuple[Any, ...]]:
    for batch in tables.answers(connection, sql):
        yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


def _pairs(connection: duckdb.DuckDBPyConnection, sql: str) -> tuple[tuple[str, int], ...]:
    return tuple((str(name), count) for name, count in _rows(connection, sql))


def _only(connection: duckdb.DuckDBPyConnection, sql: str) -> Any:
    return next(_rows(connection, sql))[0]
