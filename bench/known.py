"""Does a crawl slow down, or grow, with the URLs that are known already?

    python -m bench.known                          10^5, 10^6, 10^7 known URLs, three rounds
    python -m bench.known --quick                  10^4 and 10^5, one round
    python -m bench.known --states DIR             keep the filled states there, for the next time

A state is filled with URLs of 1,000 hosts, in the frontier's own rows: half of them fetched, with a
capture each, most others refused, one in twenty queued at hosts that rest for ever. Some are
of the very hosts that are crawled. Into a copy of it the real sites are crawled from their start
pages. The order of the sizes turns from round to round.

Beside that, what a real site hides (its links stay at home): links that lead to all hosts, half of
them known, are given to the frontier alone, and committed every second of a crawl's worth.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.crawl import machine, sites_named
from bench.crawlers import HERE, OUT
from bench.figures import Figure, table
from bench.filled import (
    AT_HOME,
    HOSTS,
    NOW_US,
    Filled,
    commit,
    copied,
    fill,
    host_name,
    url_at,
)
from bench.processes import Crawled, crawl, own_environment
from bench.web import serving, warm

from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import SALT_KEY
from gossamer.frontier.store import StateTable
from gossamer.records import Found, Reason
from gossamer.settings import Frontier as FrontierSettings
from gossamer.settings import Settings
from gossamer.urls.canonical import host_of
from gossamer.urls.keys import Keys

SIZES: Final = (10**5, 10**6, 10**7)
QUICK_SIZES: Final = (10**4, 10**5)
ROUNDS: Final = 3
SITES: Final = "postgresql,sqlite,cppreference"
QUICK_SITES: Final = "sqlite"
_LINKS: Final = 200_000
_LINKS_A_SECOND: Final = 20_000  # new and known links of some hundred pages
QUICK: Final = ("--delay", "0", "--per-host", "16", "--connections", "64")


@dataclass(frozen=True, slots=True)
class Point:
    """One crawl into a state with `known` URLs."""

    known: int
    pages: int
    crawled: Crawled

    @property
    def per_s(self) -> float:
        """Pages per second from the first lease on; opening is a figure of its own."""
        return self.pages / float(self.crawled.summary["wall_s"])

    @property
    def per_cpu_s(self) -> float:
        return self.pages / self.crawled.cpu_s

    @property
    def opening_s(self) -> float:
        """Start of the interpreter, opening the state, and the end of the processes."""
        return self.crawled.wall_s - float(self.crawled.summary["wall_s"])


def main() -> int:
    options = _options()
    if options.admit:
        return admit_and_tell(Path(options.admit), options.known)
    sites = sites_named(options.sites.split(","))
    warm(sites)
    points: list[Point] = []
    admitted: dict[int, list[dict[str, float]]] = {size: [] for size in options.sizes}
    with serving(sites) as web, _states_in(options.states) as states:
        site_hosts = [host_of(seed) for seed in web.seeds]
        filled = [fill(states / f"known-{size}", size, site_hosts) for size in options.sizes]
        pages = _fresh_pages(web.seeds)
        for number in range(options.rounds):
            turn = number % len(filled)
            for one in filled[turn:] + filled[:turn]:
                points.append(_crawl_into(one, web.seeds, pages, states))
                admitted[one.known].append(_admit_into(one, states))
                _tell(points[-1], admitted[one.known][-1])
    figures = [*crawl_figures(points), *admit_figures(admitted)]
    for figure in figures:
        print(figure.as_json(), flush=True)
    text = f"{machine()}; {options.rounds} rounds on {options.sites}\n\n{table(figures)}\n"
    (OUT / "known.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


# -- measuring


def _fresh_pages(seeds: Sequence[str]) -> int:
    """How many pages the sites have, by a crawl from nothing."""
    with tempfile.TemporaryDirectory(prefix="bench-known-") as home:
        log = OUT / "known-fresh.log"
        fresh = crawl([*seeds, "-c", str(Path(home) / "c"), *QUICK], log)
    return int(fresh.summary["fetched"])


def _crawl_into(filled: Filled, seeds: Sequence[str], pages: int, states: Path) -> Point:
    with tempfile.TemporaryDirectory(prefix="run-", dir=states) as home:
        collection = copied(filled, Path(home) / "collection")
        limit = ["--max-pages", str(filled.fetched + pages)]
        log = OUT / f"known-{filled.known}.log"
        crawled = crawl([*seeds, "-c", str(collection), *QUICK, *limit], log)
    got = int(crawled.summary["fetched"]) - filled.fetched
    if got != pages:
        sys.exit(f"{got} of {pages} pages with {filled.known} known URLs; see {log}")
    return Point(filled.known, pages, crawled)


def _admit_into(filled: Filled, states: Path) -> dict[str, float]:
    """`admit_and_tell` in a process of its own, whose memory is its own."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=states) as home:
        collection = copied(filled, Path(home) / "collection")
        given = ["--admit", str(collection), "--known", str(filled.known)]
        told = subprocess.run(
            [sys.executable, "-m", "bench.known", *given],
            cwd=HERE.parent,
            env=own_environment(Path(home)),
            stdout=subprocess.PIPE,
            check=True,
        ).stdout
    facts: dict[str, float] = json.loads(told)
    return facts


def admit_and_tell(collection: Path, known: int) -> int:
    """Admit links to everywhere, half of them known, and print rate and memory."""
    began_s = time.perf_counter()
    store = open_to_write(CollectionPaths(collection), Settings().frontier.memory_mb)
    frontier = Frontier(store, FrontierSettings(), lambda _: (Reason.SCOPE, "another host"))
    opened_s = time.perf_counter() - began_s
    keys = Keys(store.find(StateTable.META, SALT_KEY) or b"")
    found = [_found(number, keys) for number in _shuffled_links(known)]
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    new = 0
    for start in range(0, len(found), _LINKS_A_SECOND):
        new += frontier.admit(found[start : start + _LINKS_A_SECOND], NOW_US)
        commit(frontier, store)
    wall_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
    store.close()
    assert new == sum(1 for number in _shuffled_links(known) if number >= known), new
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        json.dumps({
            "per_s": len(found) / wall_s, "per_cpu_s": len(found) / cpu_s,
            "opened_s": opened_s, "peak_mb": peak_mb,
        })
    )  # fmt: skip
    return 0


def _shuffled_links(known: int) -> list[int]:
    """Numbers of URLs of far hosts, half of them past the known ones, the same each time."""
    chance = random.Random(known)
    links = min(_LINKS, 2 * known)
    drawn = [chance.randrange(known) for _ in range(links // 2)]
    old = [number + (number % AT_HOME == 0) for number in drawn]
    mixed = [*old, *range(known, known + links - len(old))]
    chance.shuffle(mixed)
    return mixed


def _found(number: int, keys: Keys) -> Found:
    url = url_at(host_name(number % HOSTS), number)
    return Found(url, keys.of(url), 3)


# -- telling


def crawl_figures(points: Sequence[Point]) -> list[Figure]:
    """The gates, then what each size did. Ratios are taken within a round."""
    sizes = sorted({point.known for point in points})
    small, large = sizes[0], sizes[-1]

    def ratio(rate: Callable[[Point], float]) -> tuple[float, ...]:
        pairs = zip(_of(points, large), _of(points, small), strict=True)
        return tuple(rate(one) / rate(two) for one, two in pairs)

    against = f"with {large:,} known URLs against {small:,}"
    figures = [
        Figure(f"pages/s {against}", ratio(lambda p: p.per_s), 0.85, 0.95),
        Figure(f"pages per CPU-second {against}", ratio(lambda p: p.per_cpu_s), 0.85, 0.95),
        Figure(
            f"memory of the node in MB at {large:,} known URLs",
            tuple(point.crawled.peak_mb for point in _of(points, large)),
            1000, 500, is_least=False,
        ),
    ]  # fmt: skip
    for size in sizes:
        own = _of(points, size)
        figures += [
            Figure(f"pages/s, {size:,} known", tuple(p.per_s for p in own)),
            Figure(f"pages per CPU-second, {size:,} known", tuple(p.per_cpu_s for p in own)),
            Figure(
                f"memory of the node in MB, {size:,} known", tuple(p.crawled.peak_mb for p in own)
            ),
            Figure(f"opening and closing in s, {size:,} known", tuple(p.opening_s for p in own)),
        ]
    return figures


def _of(points: Sequence[Point], known: int) -> list[Point]:
    return [point for point in points if point.known == known]


def admit_figures(admitted: dict[int, list[dict[str, float]]]) -> list[Figure]:
    """The frontier alone: links to all hosts, half of them known."""
    small, large = min(admitted), max(admitted)
    pairs = list(zip(admitted[large], admitted[small], strict=True))
    figures = [
        Figure(
            f"links per CPU-second into the frontier alone, {large:,} known against {small:,}",
            tuple(one["per_cpu_s"] / two["per_cpu_s"] for one, two in pairs),
        )
    ]
    for size, runs in admitted.items():
        figures += [
            Figure(f"links/s into the frontier alone, {size:,} known", _column(runs, "per_s")),
            Figure(f"the same per CPU-second, {size:,} known", _column(runs, "per_cpu_s")),
            Figure(f"its memory in MB, {size:,} known", _column(runs, "peak_mb")),
            Figure(f"its opening in s, {size:,} known", _column(runs, "opened_s")),
        ]
    return figures


def _column(runs: Sequence[dict[str, float]], name: str) -> tuple[float, ...]:
    return tuple(run[name] for run in runs)


def _tell(point: Point, admitted: dict[str, float]) -> None:
    print(
        f"{point.known:>9} known: {point.per_s:6.0f} pages/s {point.per_cpu_s:6.0f} per CPU-second "
        f"{point.crawled.peak_mb:6.0f} MB, opening {point.opening_s:.1f} s; alone "
        f"{admitted['per_s']:8.0f} links/s {admitted['peak_mb']:5.0f} MB",
        file=sys.stderr,
        flush=True,
    )


class _states_in:  # noqa: N801  # a context manager reads as a verb
    """The folder for states: the named one, kept, or one that goes with the block."""

    def __init__(self, named: str | None) -> None:
        self._named = named

    def __enter__(self) -> Path:
        if self._named:
            path = Path(self._named)
            path.mkdir(parents=True, exist_ok=True)
            return path
        self._held = tempfile.TemporaryDirectory(prefix="bench-states-")
        return Path(self._held.name)

    def __exit__(self, *_: object) -> None:
        if not self._named:
            self._held.cleanup()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="one round, small sizes, one site")
    parser.add_argument("--sizes", help="default 100000,1000000,10000000")
    parser.add_argument("--rounds", type=int, help=f"default {ROUNDS}")
    parser.add_argument("--sites", help=f"default {SITES}")
    parser.add_argument("--states", help="a folder in which filled states are kept")
    parser.add_argument("--admit", help=argparse.SUPPRESS)
    parser.add_argument("--known", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = QUICK_SIZES if options.quick else SIZES
    options.sizes = [int(n) for n in options.sizes.split(",")] if options.sizes else list(sizes)
    options.rounds = options.rounds or (1 if options.quick else ROUNDS)
    options.sites = options.sites or (QUICK_SITES if options.quick else SITES)
    return options


if __name__ == "__main__":
    sys.exit(main())
