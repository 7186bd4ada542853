"""What does a crawl cost with a check for duplicates, against one without?

    python -m bench.duplicates_crawl [--sites a,b] [--rounds N] [--modes none,html95]

Real sites on loopback, crawled from nothing in one process (`--workers 0`), everything on; the
modes take turns. CPU time of the crawl alone, start and end with it. One line of JSON per figure:
the ratio of the medians, and that of the least times, which other jobs on the machine disturb less.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from statistics import median

from bench.crawl import measured, sites_named
from bench.crawlers import ours
from bench.figures import Figure
from bench.web import Site, serving, warm


def figures(sites: Sequence[Site], modes: Sequence[str], rounds: int) -> Iterator[Figure]:
    """CPU of each mode, and its ratio to the first mode."""
    cpu_us: dict[str, list[float]] = {mode: [] for mode in modes}
    warm(sites)
    with serving(sites) as web:
        for number in range(rounds):
            for mode in modes if number % 2 == 0 else modes[::-1]:
                crawler = ours(mode, "--workers", "0", "--duplicates", mode)
                run = measured(crawler, number, web)
                cpu_us[mode].append(run.cpu_s / run.pages * 1e6)
    for mode in modes:
        name = f"microseconds of CPU for a page, {mode}"
        yield Figure(name, tuple(cpu_us[mode]), is_least=False)
    for mode in modes[1:]:
        gate = 1.05 if mode == "html95" else None
        for word, of in (("median", median), ("least", min)):
            ratio = of(cpu_us[mode]) / of(cpu_us[modes[0]])
            name = f"CPU of a crawl, {mode} against {modes[0]}, {word}"
            yield Figure(name, (ratio,), gate, gate, is_least=False)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sites", default="python,postgresql,sqlite")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--modes", default="none,html95")
    options = parser.parse_args()
    sites = sites_named(options.sites.split(","))
    for one in figures(sites, options.modes.split(","), options.rounds):
        print(one.as_json(), flush=True)


if __name__ == "__main__":
    main()
