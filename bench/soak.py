"""Does a long crawl of a hostile web hold its memory, its files and its pace?

    python -m bench.soak                    one hour
    python -m bench.soak --minutes 2        what CI runs

The web is generated and has no end (`bench/generated.py`): 400 hosts, one in ten a calendar that
goes on for ever, one slow, one that resets connections, one that says "too many" with a
Retry-After. Once a second memory, open files and threads of node and workers are read, and the
pages are counted. One line of JSON per figure; the curves go to bench/out/soak.svg, and each look
as it comes to bench/out/soak.jsonl.

The slope is a line by least squares through the memory of node and workers after the warm-up, in
which memories with a bound fill: two thirds of the time, twenty minutes at the most. At the pace
of this web their peaks take that long to meet. It ends where the time is up: what follows is the
closing pass of the index, which has figures of its own. The slope from the tenth minute on is told
as well, without a gate. The process that merges
links now and then, for some seconds or a minute, has its own too: which minute it comes in tilts a
line by more than all the others grow.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import fmean, median
from typing import Final

from bench.crawl import machine
from bench.crawlers import OUT
from bench.figures import Figure, table
from bench.generated import Plan, generated, url_of
from bench.plots import Axes, Curve, Point, drawn
from bench.processes import Crawled, LineCount, Look, crawl

from gossamer.collection.directory import CollectionPaths

MINUTES: Final = 60.0
HOSTS: Final = 400
_FLAGS: Final = (
    "--scope", "any", "--delay", "0", "--allow-private", "127.0.0.0/8", "--connections", "64",
    "--per-host", "4", "--set", "politeness.busy_rest_s=2",
)  # fmt: skip
_WARM_UP: Final = 2 / 3
_LONG_S: Final = 590.0  # of looks after the warm-up: then the slope is a gate
_WARM_UP_MOST_S: Final = 1200.0
_EARLY_S: Final = 600.0  # from when on the slope is told, too


@dataclass(frozen=True, slots=True)
class Soaked:
    """A crawl and the looks at it, about one a second; `pages[i]` were fetched at look i."""

    crawled: Crawled
    looks: Sequence[Look]
    pages: Sequence[int]
    crawl_s: float  # how long pages were asked for

    @property
    def settled(self) -> list[Look]:
        """The looks after the warm-up and before the end."""
        warm_s = min(_WARM_UP * self.crawl_s, _WARM_UP_MOST_S)
        return [look for look in self.looks if warm_s <= look.at_s <= self.crawl_s - 2]

    @property
    def closing(self) -> list[Look]:
        """The looks at the closing pass."""
        return [look for look in self.looks if look.at_s > self.crawl_s]


def main() -> int:
    options = _options()
    soaked = soak(options.minutes, options.workers)
    figures = figures_of(soaked)
    for figure in figures:
        print(figure.as_json(), flush=True)
    (OUT / "soak.svg").write_text(plot_of(soaked), encoding="utf-8")
    text = f"{machine()}; {options.minutes:g} minutes\n\n{table(figures)}\n"
    (OUT / "soak.md").write_text(text, encoding="utf-8")
    print(f"\n{text}\n{_outcomes(soaked.crawled)}", file=sys.stderr)
    return 0 if all(figure.verdict != "missed" for figure in figures) else 1


def soak(minutes: float, workers: int) -> Soaked:
    """Crawl for so long, and look each second."""
    plan = Plan(HOSTS, misbehaves=True)
    looks: list[Look] = []
    pages: list[int] = []
    OUT.mkdir(exist_ok=True)
    with (
        generated(plan) as port,
        tempfile.TemporaryDirectory(prefix="bench-soak-") as home,
        (OUT / "soak.jsonl").open("w", encoding="utf-8", buffering=1) as rows,
    ):
        collection = Path(home) / "collection"
        log = CollectionPaths(collection).log
        counted = LineCount(log)

        def see(look: Look) -> None:
            looks.append(look)
            pages.append(counted.now())
            rows.write(json.dumps(_row(look, pages[-1])) + "\n")

        flags = [*_FLAGS, "--workers", str(workers), "--max-time", str(60 * minutes)]
        seeds = [url_of(number, plan, port) for number in range(HOSTS)]
        given = [*seeds, "-c", str(collection), *flags]
        crawled = crawl(given, OUT / "soak.log", see, every_s=1.0)
    return Soaked(crawled, looks, pages, 60 * minutes)


def figures_of(soaked: Soaked) -> list[Figure]:
    """Gates first: slope of memory, growth of open files and threads."""
    settled = soaked.settled
    if len(settled) < 10:
        sys.exit("too short to see a slope; give it more --minutes")
    half = len(settled) // 2
    summary = soaked.crawled.summary
    return [
        *_memory_figures(settled),
        _growth("open files, second half against first", [look.handles for look in settled]),
        _growth("threads, second half against first", [look.threads for look in settled]),
        _processes(soaked.looks),
        *_early_figure(soaked),
        Figure("memory of all, slope in MB/min", (_slope(settled, attrgetter("rss_mb")),)),
        Figure("memory of all in MB, first half", (fmean(x.rss_mb for x in settled[:half]),)),
        Figure("memory of all in MB, second half", (fmean(x.rss_mb for x in settled[half:]),)),
        Figure("memory of a merge of links in MB, largest", (_largest_merge(settled),)),
        Figure("share of the time in which links are merged", (_merging(settled),)),
        Figure("memory of the node in MB, largest", (max(x.node.rss_mb for x in settled),)),
        Figure("closing pass in s", (summary["wall_s"] - soaked.crawl_s,)),
        Figure("memory of all in MB, closing pass", (_largest(soaked.closing),)),
        Figure("pages/s", (summary["fetched"] / soaked.crawl_s,)),
        Figure("pages fetched", (summary["fetched"],)),
        Figure("URLs known", (summary["known"],)),
    ]


def _memory_figures(looks: Sequence[Look]) -> list[Figure]:
    """Slope and ceiling; which of them is a gate depends on whether the caches are full."""
    name = "memory of node and workers, slope in MB/min"
    slope = (_slope(looks, attrgetter("lasting_mb")),)
    largest = ("memory of all in MB, largest", (_largest(looks),))
    if looks[-1].at_s - looks[0].at_s < _LONG_S:
        return [Figure(name, slope), Figure(*largest, 1000, 600, is_least=False)]
    return [Figure(name, slope, 1.0, 0.2, is_least=False), Figure(*largest)]


def _early_figure(soaked: Soaked) -> list[Figure]:
    """The slope with the time in which the last memories fill."""
    looks = [look for look in soaked.looks if _EARLY_S <= look.at_s <= soaked.crawl_s - 2]
    if len(looks) <= len(soaked.settled):
        return []
    name = "memory of node and workers, slope from minute 10 on"
    return [Figure(name, (_slope(looks, attrgetter("lasting_mb")),))]


def _largest(looks: Sequence[Look]) -> float:
    return max((look.rss_mb for look in looks), default=0.0)


def _largest_merge(looks: Sequence[Look]) -> float:
    return max((one.rss_mb for look in looks for one in look.others), default=0.0)


def _merging(looks: Sequence[Look]) -> float:
    return fmean(bool(look.others) for look in looks)


def _slope(looks: Sequence[Look], size_of: Callable[[Look], float]) -> float:
    """MB per minute, by least squares."""
    minutes = [look.at_s / 60 for look in looks]
    sizes = [size_of(look) for look in looks]
    mean_x, mean_y = fmean(minutes), fmean(sizes)
    spread = sum((x - mean_x) ** 2 for x in minutes)
    both = sum((x - mean_x) * (y - mean_y) for x, y in zip(minutes, sizes, strict=True))
    return both / spread


def _growth(name: str, counts: Sequence[int]) -> Figure:
    """Medians, because connections come and go."""
    half = len(counts) // 2
    return Figure(name, (median(counts[half:]) / median(counts[:half]),), 1.1, 1.02, is_least=False)


def _processes(looks: Sequence[Look]) -> Figure:
    """A worker that died and was replaced counts twice."""
    seen = {worker.pid for look in looks for worker in look.workers}
    wanted = 1 + max(len(look.workers) for look in looks)
    return Figure("processes used", (1 + len(seen),), wanted, wanted, is_least=False)


def plot_of(soaked: Soaked) -> str:
    """Memory, open files and pages per second over the minutes."""

    def curve(name: str, values: Sequence[float]) -> Curve:
        points = zip(soaked.looks, values, strict=True)
        return Curve(name, tuple(Point(look.at_s / 60, (value,)) for look, value in points))

    rates = [0.0, *(later - before for before, later in itertools.pairwise(soaked.pages))]
    # Of a minute: a host that is given up ends thousands in seconds, beside which all is flat.
    smooth = [median(rates[max(0, at - 59) : at + 1]) for at in range(len(rates))]
    looks = soaked.looks
    return drawn(
        Axes("A crawl of an endless, misbehaving web", "minutes", "MB, files, outcomes/s"),
        [
            curve("memory of all, MB", [look.rss_mb for look in looks]),
            curve("memory of node and workers, MB", [look.lasting_mb for look in looks]),
            curve("memory of the node, MB", [look.node.rss_mb for look in looks]),
            curve("open files", [look.handles for look in looks]),
            curve("outcomes/s, median of a minute", smooth),
        ],
    )


def _row(look: Look, pages: int) -> dict[str, float]:
    return {
        "at_s": round(look.at_s, 2),
        "node_mb": round(look.node.rss_mb, 1),
        "workers_mb": round(look.lasting_mb - look.node.rss_mb, 1),
        "merging_mb": round(look.rss_mb - look.lasting_mb, 1),
        "handles": look.handles,
        "threads": look.threads,
        "outcomes": pages,
    }


def _outcomes(crawled: Crawled) -> str:
    told = crawled.summary
    wanted = ("fetched", "failed", "refused", "queued", "stopped", "by_reason", "by_status")
    return json.dumps({name: told[name] for name in wanted})


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"default {MINUTES:g}")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
