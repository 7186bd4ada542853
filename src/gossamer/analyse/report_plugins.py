"""Tables that plug-ins add to a report (`gossamer.analysis`), each selected by its name.

An analysis brings a heading, a sentence of advice, names of columns, and one SQL query over the
tables of a report (`report_rows.py`, `report_questions.VIEWS`) and the links of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from gossamer.analyse.report_questions import NAMES, ReportQuestion
from gossamer.errors import PluginError
from gossamer.plugins import ANALYSIS, Plugin, load_plugin

_MEMBERS: Final = ("heading", "advice", "columns", "sql")


class Analysis(Protocol):
    """One more table of a report."""

    heading: str
    advice: str  # what to do about the rows; may be empty
    columns: Sequence[str]
    sql: str  # a select with as many columns; DuckDB


def analyses_named(names: Sequence[str]) -> list[tuple[Plugin, ReportQuestion]]:
    """Plug-ins and their questions, in the order of the names. Raises PluginError."""
    return [(plugin, _question(plugin)) for plugin in map(_load, dict.fromkeys(names))]


def _load(name: str) -> Plugin:
    plugin = load_plugin(ANALYSIS, name, _MEMBERS)
    if name in NAMES:
        raise PluginError(f"{plugin} has the name of a table of the report itself; uninstall it")
    return plugin


def _question(plugin: Plugin) -> ReportQuestion:
    made: Analysis = plugin.made
    columns = tuple(map(str, made.columns))
    return ReportQuestion(plugin.name, str(made.heading), str(made.advice), columns, str(made.sql))
