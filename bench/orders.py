"""What does an order cost, in CPU per page, beside breadth first?

    python -m bench.orders                        three rounds on three real sites
    python -m bench.orders --rounds 1 --orders best,opic

Every order crawls all sites from nothing in each round, with archive, graph and index. nginx serves
them on loopback. CPU is that of the crawler's whole process tree. A figure is the ratio to breadth
first in the same round. One line of JSON per figure, the table on stderr.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from typing import Final

from bench.crawl import machine, rounds_of, sites_named
from bench.crawlers import ours
from bench.figures import Run

ROUNDS: Final = 3
SITES: Final = "postgresql,sqlite,cppreference"
BREADTH: Final = "breadth"
# The most CPU per page in percent above breadth first.
GATES: Final = {"pagerank": 15.0, "opic": 10.0}
ORDERS: Final = "pagerank,opic,backlinks,best,location,similarity,0.6 pagerank + 0.4 location"


def main() -> int:
    options = _options()
    orders = [BREADTH, *(name for name in options.orders.split(",") if name != BREADTH)]
    flags = ("--workers", options.workers, "--query", "index scan function")
    crawlers = [ours(order, "--order", order, *flags) for order in orders]
    runs = rounds_of(crawlers, sites_named(options.sites.split(",")), options.rounds)
    lines = [
        f"{machine()}; {options.rounds} rounds on {options.sites}, --workers {options.workers}", "",
        "| order | CPU per page | above breadth | rounds | gate | pages | peak memory |",
        "|---|---|---|---|---|---|---|",
    ]  # fmt: skip
    for order in orders:
        figure = figure_of(order, runs)
        print(json.dumps(figure), flush=True)
        lines.append(_row(figure))
    print("\n".join(["", *lines]), file=sys.stderr)
    return 0


def figure_of(order: str, runs: Sequence[Run]) -> dict[str, object]:
    """The cost of one order against breadth first, round by round."""
    own = [run for run in runs if run.crawler == order]
    base = {run.round: run for run in runs if run.crawler == BREADTH}
    above = [100 * (_ms(run) / _ms(base[run.round]) - 1) for run in own]
    gate = GATES.get(order)
    value = statistics.median(above)
    return {
        "figure": f"CPU per page of --order {order!r} in percent above breadth",
        "order": order,
        "cpu_ms_per_page": round(statistics.median(map(_ms, own)), 3),
        "value": round(value, 1),
        "rounds": [round(one, 1) for one in above],
        "gate": gate,
        "is_kept": None if gate is None else value <= gate,
        "pages": own[0].pages,
        "peak_mb": round(max(run.peak_mb for run in own)),
    }


def _ms(run: Run) -> float:
    return 1000 * run.cpu_s / run.pages


def _row(figure: dict[str, object]) -> str:
    gate = "" if figure["gate"] is None else f"{figure['gate']:.0f} %"
    rounds = figure["rounds"]
    assert isinstance(rounds, list)
    spread = ", ".join(f"{one:+.1f}" for one in rounds)
    cost = f"{figure['cpu_ms_per_page']} ms | {figure['value']:+.1f} %"
    size = f"{figure['pages']} | {figure['peak_mb']} MB"
    return f"| {figure['order']} | {cost} | {spread} | {gate} | {size} |"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--sites", default=SITES)
    parser.add_argument("--orders", default=ORDERS)
    parser.add_argument("--workers", default="0", help="worker processes; default 0: one process")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
