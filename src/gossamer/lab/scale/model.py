"""How far a crawl uses each resource of its machines. Pure arithmetic.

A use of 1 is all that a machine has, for the whole time. The largest use tells what breaks first. A
crawl that uses twice what there is takes twice the time, but a disk that is full stays full.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from gossamer.lab.scale.costs import PageCosts
from gossamer.lab.scale.sites import SiteSizes

DAY_S: Final = 86_400.0
RESOURCES: Final = ("CPU", "node", "network", "exchange", "disk space", "disk writes", "politeness")


@dataclass(frozen=True, slots=True)
class Machine:
    """What one machine has."""

    cores: int = 16
    network_gbit_s: float = 1.0
    disk_tb: float = 16.0
    disk_mb_s: float = 200.0  # that can be written all the time


@dataclass(frozen=True, slots=True)
class Plan:
    """What a crawl is to do."""

    pages: float
    machines: int
    days: float = 30.0
    delay_s: float = 1.0  # between two requests to a site
    urls_per_page: float = 0.0  # that are sent to other machines
    url_bytes: float = 100.0  # of one of them in a message
    write_factor: float = 3.0  # bytes written to disk for each that stays


def uses(plan: Plan, costs: PageCosts, machine: Machine, sizes: SiteSizes) -> dict[str, float]:
    """The use of each resource, as a share of what there is."""
    seconds = plan.days * DAY_S
    per_machine = plan.pages / plan.machines
    rate = per_machine / seconds  # pages a second on one machine
    network = machine.network_gbit_s * 1e9 / 8
    sent = plan.urls_per_page * plan.url_bytes if plan.machines > 1 else 0.0
    return {
        "CPU": rate * costs.cpu_s / machine.cores,
        "node": rate * costs.node_cpu_s,
        "network": rate * costs.network_bytes / network,
        "exchange": rate * sent / network,
        "disk space": per_machine * costs.disk_bytes / (machine.disk_tb * 1e12),
        "disk writes": rate * costs.disk_bytes * plan.write_factor / (machine.disk_mb_s * 1e6),
        "politeness": sizes.largest(plan.pages) * plan.delay_s / seconds,
    }


def first_limit(used: dict[str, float], *, with_politeness: bool = False) -> tuple[str, float]:
    """The resource that is used most. Politeness does not depend on the machines, and is told
    apart."""
    names = [name for name in RESOURCES if with_politeness or name != "politeness"]
    name = max(names, key=lambda resource: used[resource])
    return name, used[name]


def days_needed(plan: Plan, used: dict[str, float]) -> float | None:
    """How long the crawl takes, politeness apart; None if it does not fit on the disks."""
    if used["disk space"] > 1.0:
        return None
    timed = [used[name] for name in RESOURCES if name not in {"disk space", "politeness"}]
    return plan.days * max(timed)


def least_machines(plan: Plan, costs: PageCosts, machine: Machine, sizes: SiteSizes) -> int:
    """How many machines fetch all pages in the time, politeness apart."""
    one = uses(replace(plan, machines=2), costs, machine, sizes)
    return max(1, ceil(2 * first_limit(one)[1] - 1e-9))


def out_of_reach(plan: Plan, sizes: SiteSizes) -> float:
    """The share of pages that politeness does not allow in the time, on any number of machines."""
    return sizes.out_of_reach(plan.pages, plan.days * DAY_S / plan.delay_s)
