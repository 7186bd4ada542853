"""The result of `gossamer lab order`: tables and plots, with the figures of the source beside ours.

The source is Cho, Garcia-Molina and Page (1998), as a thesis of 2011 retells it: 179,000 pages of
one university, PageRank with d = 0.9. It gives few numbers; the rest are curves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from gossamer.base.plurals import counted
from gossamer.lab.experiment import CurvePoints, Experiment, LabCell, LabPlot, LabTable
from gossamer.lab.graph import LinkGraph
from gossamer.lab.order.compare import IDEAL, START, OrderFigures, OrderSettings
from gossamer.lab.order.limited_buffer import SHARES
from gossamer.lab.order.measures import FRACTIONS, POINTS, Shares, at_fractions, shared_pages

# Of the source: share of pages that are hot by their links, and what backlinks found at 20 %.
_SOURCE_HOT: Final = {"links >= 3": 0.47, "links >= 10": 0.10, "links >= 100": 0.008}
_SOURCE_FOUND: Final = {"links >= 100": "0.5 at 20 % (backlinks)"}

Figures = dict[str, OrderFigures]


def order_experiment(
    graph: LinkGraph, source: str, settings: OrderSettings, figures: Figures
) -> Experiment:
    """All that was found."""
    sites = int(graph.site.max(initial=0)) + 1
    size = f"{counted(graph.pages, 'page')}, {counted(graph.links, 'link')}"
    data = {"graph": source, "pages": graph.pages, "links": graph.links, "sites": sites}
    return Experiment(
        name="order",
        title=f"Orders on {source}: {size}, {counted(sites, 'site')}",
        settings={**data, **settings.as_json()},
        data_digest=graph.digest,
        results={name: figure.as_json() for name, figure in figures.items()},
        tables=tables_of(graph, figures),
        plots=plots_of(figures),
    )


def tables_of(graph: LinkGraph, figures: Figures) -> list[LabTable]:
    """The main figures first."""
    names = list(next(iter(figures.values())).measures[0].hot)
    return [
        _areas(figures),
        _hot_pages(graph, figures),
        *(_hot_found(name, figures) for name in names),
        *(_crawl_and_stop(name, figures) for name in ("links", "rank")),
        *(_buffers(name, figures) for name in ("links", "rank")),
        _starts(figures),
        *([_times(figures)] if figures[IDEAL].hours else []),
    ]


def _areas(figures: Figures) -> LabTable:
    rows: list[list[LabCell]] = [
        [name, round(one.area, 3), round(one.spread, 3), *at_fractions(one.mass).values()]
        for name, one in figures.items()
    ]
    return LabTable(
        "Rank mass found",
        ("order", "area", "spread", *_found_columns()),
        rows,
        "area: between the curve and the diagonal, as a share of the ideal crawler's, which knows "
        "the true PageRank of the URLs that it has found.",
    )


def _hot_pages(graph: LinkGraph, figures: Figures) -> LabTable:
    counts = figures[IDEAL].measures[0].hot_pages
    rows = [
        [name, count, round(count / graph.pages, 4), _SOURCE_HOT.get(name)]
        for name, count in counts.items()
    ]
    return LabTable("Hot pages", ("hot", "pages", "share", "share in the source"), rows)


def _hot_found(name: str, figures: Figures) -> LabTable:
    first = figures[IDEAL].measures[0]
    share = first.hot_pages[name] / max(first.pages, 1)
    rows: list[list[LabCell]] = [
        [order, *at_fractions(one.hot(name)).values()]
        for order, one in figures.items()
        if order != IDEAL
    ]
    best = [round(min(1.0, part / share), 4) if share else None for part in FRACTIONS]
    rows += [["knows all", *best], ["any page alike", *FRACTIONS]]
    note = "Crawl & stop with threshold: share of the hot pages that are found."
    if name in _SOURCE_FOUND:
        note += f" In the source: {_SOURCE_FOUND[name]}; PageRank is best there."
    return LabTable(f"Hot pages found, {name}", ("order", *_found_columns()), rows, note)


def _crawl_and_stop(name: str, figures: Figures) -> LabTable:
    rows: list[list[LabCell]] = [
        [order, *at_fractions(one.top(name)).values()] for order, one in figures.items()
    ]
    return LabTable(
        f"Crawl & stop, importance by {name}",
        ("order", *_found_columns()),
        rows,
        "Of the first K pages, the share that belongs to the K most important ones. In the source "
        "PageRank is best.",
    )


def _buffers(name: str, figures: Figures) -> LabTable:
    rows = [
        [order, *(one.buffers[name].get(f"{share:g}") for share in SHARES)]
        for order, one in figures.items()
    ]
    return LabTable(
        f"Limited buffer, importance by {name}",
        ("order", *(f"{share:.0%} of the pages" for share in SHARES)),
        rows,
        "Share of the kept pages that belong to the most important ones, after all pages were "
        "visited once. Each order drops what it values least; breadth, depth and random keep what "
        "came first. The source gives no figures.",
    )


def _starts(figures: Figures) -> LabTable:
    rows = [[order, shared_pages(one.starts)] for order, one in figures.items()]
    return LabTable(
        "Dependence on the seeds",
        ("order", "shared"),
        rows,
        f"Share of the first {START:.0%} of the visits that two crawls with other seeds have in "
        "common. In the source backlinks depend on the start more than PageRank.",
    )


def _times(figures: Figures) -> LabTable:
    rows: list[list[LabCell]] = [[order, *one.hours.values()] for order, one in figures.items()]
    return LabTable(
        "Simulated hours",
        ("order", *_found_columns(), "all"),
        rows,
        "Until so many pages are fetched, in the first repeat. A site gets one request at a time, "
        "with a delay after each answer.",
    )


def _found_columns() -> Sequence[str]:
    return [f"at {part:.0%}" for part in FRACTIONS]


def plots_of(figures: Figures) -> list[LabPlot]:
    """Curves over the fraction crawled."""
    names = list(figures[IDEAL].measures[0].hot)
    return [
        _plot("Rank mass found", "share of the rank", figures, lambda one: one.mass),
        *(
            _plot(f"Hot pages found, {name}", "share of the hot pages", figures, _hot_curve(name))
            for name in names
        ),
        *(
            _plot(f"Crawl & stop, importance by {name}", "share of the best", figures, _top(name))
            for name in ("links", "rank")
        ),
    ]


def _hot_curve(name: str) -> Callable[[OrderFigures], Shares]:
    return lambda one: one.hot(name)


def _top(name: str) -> Callable[[OrderFigures], Shares]:
    return lambda one: one.top(name)


def _plot(
    title: str, y_name: str, figures: Figures, curve_of: Callable[[OrderFigures], Shares]
) -> LabPlot:
    curves: dict[str, CurvePoints] = {}
    for name, one in figures.items():
        values = curve_of(one)
        curves[name] = [(float(x), round(float(y), 5)) for x, y in zip(POINTS, values, strict=True)]
    curves["any page alike"] = [(float(x), float(x)) for x in POINTS]
    return LabPlot(title, "share of the pages crawled", y_name, curves)
