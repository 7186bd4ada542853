"""A month on 1 to 1,000 machines for 10^9 to 10^11 pages: what breaks first?"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Final

from gossamer.errors import UsageError
from gossamer.lab.experiment import CurvePoints, Experiment, LabCell, LabPlot, LabTable
from gossamer.lab.scale.costs import PageCosts, costs_object
from gossamer.lab.scale.model import (
    RESOURCES,
    Machine,
    Plan,
    days_needed,
    first_limit,
    least_machines,
    out_of_reach,
    uses,
)
from gossamer.lab.scale.sites import SiteSizes

PAGES: Final = (1e9, 1e10, 1e11)
MACHINES: Final = (1, 10, 100, 1000)
# `gossamer lab parallel` on cnr-2000, site-hash, each URL once, n = 64: docs/lab/parallel.md.
URLS_PER_PAGE: Final = 0.16
_NOT_TIME: Final = {"disk space", "politeness"}


@dataclass(frozen=True, slots=True)
class ScaleLab:
    """What an experiment is made with."""

    pages: tuple[float, ...] = PAGES
    machines: tuple[int, ...] = MACHINES
    days: float = 30.0
    delay_s: float = 1.0
    urls_per_page: float = URLS_PER_PAGE
    machine: Machine = field(default_factory=Machine)
    sizes: SiteSizes = field(default_factory=SiteSizes)

    def plan(self, pages: float, machines: int) -> Plan:
        """One of the crawls that are compared."""
        return Plan(pages, machines, self.days, self.delay_s, self.urls_per_page)


def scale_experiment(lab: ScaleLab, costs: PageCosts, source: str) -> Experiment:
    """The uses of all resources. `source` says where the costs come from."""
    return Experiment(
        name="scale",
        title=f"{lab.days:g} days on many machines; costs of a page: {source}",
        settings={**asdict(lab), "costs_from": source},
        data_digest=f"sha256:{_digest(costs)}",
        results={"costs": costs_object(costs), "uses": _results(lab, costs), **_months(lab, costs)},
        tables=[_costs(costs), _uses(lab, costs), _least(lab, costs)],
        plots=[_plot(lab, costs)],
    )


def _digest(costs: PageCosts) -> str:
    """Of the costs: the only data that the model has."""
    return sha256(json.dumps(costs_object(costs), sort_keys=True).encode()).hexdigest()


def _results(lab: ScaleLab, costs: PageCosts) -> dict[str, dict[str, object]]:
    """By number of pages and machines."""
    found: dict[str, dict[str, object]] = {}
    for pages, machines, used in _all(lab, costs):
        name, most = first_limit(used)
        days = days_needed(lab.plan(pages, machines), used)
        figures = {**used, "first_limit": name, "is_enough": most <= 1.0, "days": days}
        found.setdefault(f"{pages:g}", {})[str(machines)] = figures
    return found


def _months(lab: ScaleLab, costs: PageCosts) -> dict[str, object]:
    plans = {f"{pages:g}": lab.plan(pages, 1) for pages in lab.pages}
    return {
        "least_machines": {
            name: least_machines(plan, costs, lab.machine, lab.sizes)
            for name, plan in plans.items()
        },
        "out_of_reach": {name: out_of_reach(plan, lab.sizes) for name, plan in plans.items()},
    }


def _all(lab: ScaleLab, costs: PageCosts) -> Iterator[tuple[float, int, dict[str, float]]]:
    for pages in lab.pages:
        for machines in lab.machines:
            plan = lab.plan(pages, machines)
            yield pages, machines, uses(plan, costs, lab.machine, lab.sizes)


def _costs(costs: PageCosts) -> LabTable:
    lines: list[list[LabCell]] = [
        ["CPU of all processes, ms", round(1e3 * costs.cpu_s, 3)],
        ["CPU of the node, ms", round(1e3 * costs.node_cpu_s, 3)],
        ["network, bytes", round(costs.network_bytes)],
        ["archive, bytes", round(costs.archive_bytes)],
        ["index, bytes", round(costs.index_bytes)],
        ["graph, bytes", round(costs.graph_bytes)],
        ["log, bytes", round(costs.log_bytes)],
        ["known URLs", round(costs.known_urls, 2)],
        ["state of a known URL, bytes", round(costs.state_bytes)],
        ["links", round(costs.links, 1)],
    ]
    return LabTable("What a page costs", ("", "per page"), lines)


def _uses(lab: ScaleLab, costs: PageCosts) -> LabTable:
    lines: list[list[LabCell]] = []
    for pages, machines, used in _all(lab, costs):
        name, most = first_limit(used)
        cells = [_percent(used[resource]) for resource in RESOURCES]
        verdict = f"{name} breaks" if most > 1 else "fits"
        days = days_needed(lab.plan(pages, machines), used)
        lines.append([_power(pages), machines, *cells, verdict, _days(days)])
    columns = ("pages", "machines", *RESOURCES, f"in {lab.days:g} days", "days needed")
    note = (
        "Use of each resource: 100 % is all that a machine has. Politeness is the time that the "
        "largest site takes, on any number of machines; it is not in the last two columns."
    )
    return LabTable("What breaks first", columns, lines, note)


def _least(lab: ScaleLab, costs: PageCosts) -> LabTable:
    lines: list[list[LabCell]] = []
    for pages in lab.pages:
        plan = lab.plan(pages, 1)
        machines = least_machines(plan, costs, lab.machine, lab.sizes)
        used = uses(lab.plan(pages, machines), costs, lab.machine, lab.sizes)
        lost = _percent(out_of_reach(plan, lab.sizes))
        largest = f"{lab.sizes.largest(pages):,.0f}"
        lines.append([_power(pages), machines, first_limit(used)[0], largest, lost])
    columns = ("pages", "least machines", "limit", "largest site, pages", "out of polite reach")
    return LabTable(f"Machines for {lab.days:g} days", columns, lines)


def _percent(share: float) -> str:
    percent = 100 * share
    return f"{percent:,.0f} %" if percent >= 10 else f"{percent:.2g} %"


def _power(pages: float) -> str:
    """`1e9` and not `1e+09`."""
    return f"{pages:.3g}".replace("e+0", "e").replace("e+", "e")


def _days(days: float | None) -> str:
    if days is None:
        return "disk full"
    return f"{days:,.0f}" if days >= 10 else f"{days:.2g}"


def _plot(lab: ScaleLab, costs: PageCosts) -> LabPlot:
    """Days needed over machines, a curve for each size."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for pages, machines, used in _all(lab, costs):
        days = lab.days * max(used[name] for name in RESOURCES if name not in _NOT_TIME)
        curves.setdefault(f"{_power(pages)} pages", []).append((machines, days))
    shown: dict[str, CurvePoints] = {**curves}
    note = f"Below {lab.days:g} days the crawl fits, if the disks are large enough."
    return LabPlot(
        "Days needed, politeness and disk space apart",
        "machines",
        "days",
        shown,
        "log",
        "log",
        note,
    )


def sizes_in(text: str, flag: str) -> tuple[float, ...]:
    """`1e9,1e10` as numbers. Raises UsageError."""
    try:
        values = tuple(sorted({float(word) for word in text.split(",")}))
    except ValueError:
        values = ()
    if not values or not all(1 <= value <= 1e15 for value in values):
        raise UsageError(f"--{flag} {text!r} is not a list of numbers, such as 1e9,1e10")
    return values
