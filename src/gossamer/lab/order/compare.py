"""Compare orders on a stored link graph: `gossamer lab order`.

Each repetition draws random seeds, which are fetched first, and lets every order crawl all that can
be reached from them. The main figure is the area between the curve of rank mass and the diagonal,
as a share of the same area of the ideal crawler (`known_order.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Final

import numpy as np

from gossamer.errors import UsageError
from gossamer.lab.graph import LinkGraph
from gossamer.lab.order.known_order import KnownOrder
from gossamer.lab.order.limited_buffer import Buffers
from gossamer.lab.order.measures import (
    FRACTIONS,
    KnownWorth,
    Shares,
    VisitMeasures,
    at_fractions,
    measure_visits,
    shared_pages,
)
from gossamer.lab.simulated_time import SimulatedTime, TimeSettings
from gossamer.lab.virtual_crawler import IN_FLIGHT, GraphPages, VirtualCrawler
from gossamer.policies.orders.column_order import ColumnOrder
from gossamer.policies.orders.named import LINK_ORDERS

IDEAL: Final = "ideal"
START: Final = 0.02  # of the crawl: the part whose dependence on the seeds is measured


@dataclass(frozen=True, slots=True)
class OrderSettings:
    """All that a repetition needs, beside the data."""

    orders: tuple[str, ...] = tuple(LINK_ORDERS)
    seeds: int = 10
    repeats: int = 5
    in_flight: int = IN_FLIGHT
    random_seed: int = 0
    time: TimeSettings | None = None  # simulated; without it only the order of visits counts

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "orders": list(self.orders)}


@dataclass(slots=True)
class OrderFigures:
    """What one order has reached, over all repetitions."""

    measures: list[VisitMeasures] = field(default_factory=list)
    areas: list[float] = field(default_factory=list)  # as shares of the ideal crawler's
    starts: list[GraphPages] = field(default_factory=list)  # the first pages of each crawl
    buffers: dict[str, dict[str, float]] = field(default_factory=dict)  # of the first repetition
    hours: dict[str, float] = field(default_factory=dict)  # of the first: to fetch so much

    @property
    def area(self) -> float:
        return float(np.mean(self.areas))

    @property
    def spread(self) -> float:
        """Standard deviation of the area between repetitions."""
        return float(np.std(self.areas))

    def mean_of(self, curve: Callable[[VisitMeasures], Shares]) -> Shares:
        """The mean of a curve over the repetitions."""
        mean: Shares = np.mean([curve(one) for one in self.measures], axis=0)
        return mean

    @property
    def mass(self) -> Shares:
        return self.mean_of(lambda one: one.mass)

    def hot(self, name: str) -> Shares:
        return self.mean_of(lambda one: one.hot[name])

    def top(self, name: str) -> Shares:
        return self.mean_of(lambda one: one.top[name])

    def as_json(self) -> dict[str, object]:
        first = self.measures[0]
        shared = shared_pages(self.starts)
        timed = {"hours": self.hours} if self.hours else {}
        return {
            "area": round(self.area, 4),
            "area_spread": round(self.spread, 4),
            "found": at_fractions(self.mass),
            "hot_found": {name: at_fractions(self.hot(name)) for name in first.hot},
            "crawl_and_stop": {name: at_fractions(self.top(name)) for name in first.top},
            "limited_buffer": self.buffers,
            "start_shared": None if shared is None else round(shared, 4),
            **timed,
        }


def compare_orders(
    graph: LinkGraph,
    settings: OrderSettings,
    notify: Callable[[str], None] = lambda _: None,
    more: Mapping[str, Callable[[int], ColumnOrder]] = {},
) -> dict[str, OrderFigures]:
    """The figures of each order, the ideal crawler's first. `more` are further orders by name.

    Raises UsageError for an order that does not exist, or a graph with fewer pages than seeds.
    """
    makers = {**LINK_ORDERS, **more}
    check_settings(graph, settings, tuple(makers))
    worth = KnownWorth(graph)
    figures = {name: OrderFigures() for name in (IDEAL, *settings.orders)}
    for repeat in range(settings.repeats):
        random = np.random.default_rng([settings.random_seed, repeat])
        seeds = random.choice(graph.pages, settings.seeds, replace=False).astype(np.int32)
        best = 0.0
        for name, figure in figures.items():
            number = settings.random_seed + repeat
            order = KnownOrder(worth.ranks) if name == IDEAL else makers[name](number)
            _crawl(figure, order, worth, seeds, settings)
            best = best or figure.measures[-1].area
            figure.areas.append(figure.measures[-1].area / best if best else 0.0)
        notify(f"{repeat + 1} of {settings.repeats} repetitions")
    return figures


def check_settings(graph: LinkGraph, settings: OrderSettings, names: Sequence[str]) -> None:
    """Raises UsageError where an experiment cannot be made."""
    unknown = [name for name in settings.orders if name not in names]
    if unknown or not settings.orders:
        asked = ", ".join(unknown) or "(none)"
        raise UsageError(f"--orders {asked} is not known; known are {', '.join(names)}")
    if graph.pages < settings.seeds:
        raise UsageError(f"the graph has {graph.pages} pages, fewer than --seeds {settings.seeds}")


def _crawl(
    figure: OrderFigures,
    order: ColumnOrder,
    worth: KnownWorth,
    seeds: GraphPages,
    settings: OrderSettings,
) -> None:
    """Crawl all with one order, and note what came out."""
    graph = worth.graph
    clock = None if settings.time is None else SimulatedTime(graph, settings.time)
    seen = graph if clock is None else clock.crawled_graph(graph)
    crawler = VirtualCrawler(seen, order, seeds, settings.in_flight)
    if isinstance(order, KnownOrder):
        order.page_of = crawler.page_of
    if figure.measures:
        visits = crawler.run()
    else:
        buffers = Buffers(crawler, order, graph.pages)
        parts, ends_s = [], []
        for pages in crawler.batches():
            parts.append(pages)
            buffers.put(crawler.slot_of[pages])
            ends_s += [] if clock is None else [clock.fetch(pages)]
        visits = np.concatenate(parts)
        if ends_s:
            figure.hours = _hours(parts, ends_s)
        for name, places in worth.places.items():
            figure.buffers[name] = buffers.hot_shares(places, visits)
    figure.measures.append(measure_visits(visits, worth))
    figure.starts.append(visits[len(seeds) : max(1, round(START * len(visits)))])


def _hours(batches: Sequence[GraphPages], ends_s: Sequence[float]) -> dict[str, float]:
    """Simulated hours until shares of the pages are fetched."""
    done = np.cumsum([len(batch) for batch in batches])
    wanted = [*FRACTIONS, 1.0]
    places = np.searchsorted(done, [part * done[-1] for part in wanted])
    return {
        f"{part:g}": round(ends_s[place] / 3600, 3)
        for part, place in zip(wanted, places, strict=True)
    }
