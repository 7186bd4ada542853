"""Which way keeps duplicates out of the buffer of new URLs best? (Mission A5.)

    python -m bench.buffers                 the links of cnr-2000, a real crawl of 325,557 pages
    python -m bench.buffers --pages 20000   a random web of so many pages instead

Every way crawls the same link graph without a network, breadth first from the same page, 64 pages
under way at a time, and so meets the real stream of links: most lead to what is known. Rows have
the size of real ones. Each way runs in a process of its own.

    adding, on disk      a link is looked up in RocksDB and put there when it is new
    adding, in memory    looked up in a hash table of new URLs, and in the store of those fetched;
                         when the table is full, new URLs are dropped
    taking, on disk      put on a queue without a look; looked up when its turn comes, and noted
                         then, or late: when it has been fetched
    ours                 the frontier itself, with its rows, hosts and sums

"On disk" ways write a batch for every 500 pages, synced, as a node does about once a second. What
each loses at a kill: the ways on disk the last second, the one in memory all that it had not asked.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.crawl import machine
from bench.crawlers import HERE, OUT
from bench.processes import own_environment
from bench.ways import Buffer, built
from run import SITES_SCRIPT

GRAPH: Final = SITES_SCRIPT.parent / "graphs" / "cnr-2000.tsv.gz"
ROUNDS: Final = 3
AT_ONCE: Final = 64
_COMMIT_EVERY: Final = 500  # pages

_COLUMNS: Final = (
    "way", "links/s", "per CPU-second", "spread", "fetched", "fetched twice", "lost",
    "longest queue", "memory, MB", "disk, MB",
)  # fmt: skip

Links = Callable[[int], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Measured:
    """One way over one graph."""

    way: str
    links: int  # given to the buffer
    links_per_s: float
    links_per_cpu_s: float
    fetched: int
    fetched_twice: int
    lost: int  # pages that a whole crawl finds and this one never asked for
    largest_queue: int
    peak_mb: float
    disk_mb: float


def crawl_with(buffer: Buffer, links_of: Links, start: Sequence[int]) -> tuple[list[int], int, int]:
    """Crawl a graph: pages in the order in which they were fetched, links given, longest queue."""
    fetched: list[int] = []
    under_way: deque[int] = deque()
    given = longest = 0
    buffer.add(start)
    while True:
        page = buffer.take() if len(under_way) < AT_ONCE else None
        if page is not None:
            under_way.append(page)
            continue
        if not under_way:
            return fetched, given, longest
        done = under_way.popleft()
        fetched.append(done)
        buffer.fetched(done)
        links = links_of(done)
        given += len(links)
        buffer.add(links)
        if len(fetched) % _COMMIT_EVERY == 0:
            longest = max(longest, buffer.waiting)
            buffer.commit()


# -- measuring


def tell(way: str, graph: Path, pages: int) -> int:
    """Crawl with one way in this process and print what it took."""
    links_of, start, reachable = read_graph(graph, pages)
    before_mb = _rss_mb()
    with tempfile.TemporaryDirectory(prefix="bench-buffer-") as home:
        folder = Path(home)
        buffer = built(way, folder)
        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        fetched, given, longest = crawl_with(buffer, links_of, start)
        wall_s = time.perf_counter() - began_s
        cpu_s = time.process_time() - began_cpu_s
        buffer.commit()
        disk_mb = sum(file.stat().st_size for file in folder.iterdir()) / 2**20
    distinct = len(set(fetched))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before_mb
    measured = Measured(
        way=way,
        links=given,
        links_per_s=given / wall_s,
        links_per_cpu_s=given / cpu_s,
        fetched=len(fetched),
        fetched_twice=len(fetched) - distinct,
        lost=reachable - distinct,
        largest_queue=longest,
        peak_mb=peak_mb,
        disk_mb=disk_mb,
    )
    print(json.dumps(asdict(measured)))
    return 0


def _rss_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def read_graph(path: Path, pages: int) -> tuple[Links, Sequence[int], int]:
    """The links of each page, where to start, and how many pages can be reached from there.

    With `pages` a random web of so many, whose links lead mostly to few of them.
    """
    starts, targets = _random_arcs(pages) if pages else _arcs(path)

    def links_of(page: int) -> Sequence[int]:
        return targets[starts[page] : starts[page + 1]]

    seen = {0}
    line = deque([0])
    while line:
        for other in links_of(line.popleft()):
            if other not in seen:
                seen.add(other)
                line.append(other)
    return links_of, [0], len(seen)


def _arcs(path: Path) -> tuple[array[int], array[int]]:
    """Arcs sorted by their source: where the links of each page begin, and where they lead."""
    starts, targets = array("i", [0]), array("i")
    with gzip.open(path, "rt", encoding="ascii") as file:
        for line in file:
            source, target = map(int, line.split("\t"))
            while len(starts) <= source:
                starts.append(len(targets))
            targets.append(target)
    last_target = max(targets)
    while len(starts) <= last_target + 1:
        starts.append(len(targets))
    return starts, targets


def _random_arcs(pages: int) -> tuple[array[int], array[int]]:
    chance = random.Random(1)
    starts, targets = array("i", [0]), array("i")
    for page in range(pages):
        targets.extend(range(10 * page + 1, min(10 * page + 11, pages)))
        targets.extend(int(pages * chance.random() ** 3) for _ in range(10))
        starts.append(len(targets))
    return starts, targets


def main() -> int:
    options = _options()
    if options.way:
        return tell(options.way, Path(options.graph), options.pages)
    size = options.pages or 325_557
    shares = [f"adding, in memory, {size // part}" for part in (20, 5, 1)]
    ways = ["adding, on disk", *shares, "taking, on disk", "taking, on disk, late", "ours"]
    runs: dict[str, list[Measured]] = {way: [] for way in ways}
    for number in range(options.rounds):
        turn = number % len(ways)
        for way in ways[turn:] + ways[:turn]:
            runs[way].append(_measured(way, options.graph, options.pages))
            print(f"round {number + 1}: {runs[way][-1]}", file=sys.stderr, flush=True)
    for way in ways:
        print(json.dumps(figure_of(runs[way])), flush=True)
    text = f"{machine()}; {options.rounds} rounds\n\n{table_of(runs)}\n"
    OUT.mkdir(exist_ok=True)
    (OUT / "buffers.md").write_text(text, encoding="utf-8")
    print(f"\n{text}", file=sys.stderr)
    return 0


def _measured(way: str, graph: str, pages: int) -> Measured:
    given = ["--way", way, "--graph", graph, "--pages", str(pages)]
    told = subprocess.run(
        [sys.executable, "-m", "bench.buffers", *given],
        cwd=HERE.parent,
        env=own_environment(OUT),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    return Measured(**json.loads(told))


def figure_of(runs: Sequence[Measured]) -> dict[str, object]:
    """One way, medians over the rounds."""
    rates = [run.links_per_s for run in runs]
    return {
        "figure": f"buffer: {runs[0].way}",
        "gate": None,
        "aim": None,
        **asdict(runs[0]),
        "links_per_s": round(median(rates)),
        "links_per_cpu_s": round(median(run.links_per_cpu_s for run in runs)),
        "peak_mb": round(median(run.peak_mb for run in runs), 1),
        "runs": [round(rate) for rate in rates],
        "spread": round((max(rates) - min(rates)) / median(rates), 3),
    }


def table_of(runs: dict[str, list[Measured]]) -> str:
    lines = [
        f"| {' | '.join(_COLUMNS)} |",
        "|---" * len(_COLUMNS) + "|",
    ]
    for way, own in runs.items():
        rates = [run.links_per_s for run in own]
        one = own[0]
        cells = (
            way, f"{median(rates):,.0f}", f"{median(run.links_per_cpu_s for run in own):,.0f}",
            f"{(max(rates) - min(rates)) / median(rates):.0%}", f"{one.fetched:,}",
            f"{one.fetched_twice:,}", f"{one.lost:,}", f"{one.largest_queue:,}",
            f"{median(run.peak_mb for run in own):.0f}", f"{one.disk_mb:.0f}",
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--pages", type=int, default=0, help="a random web of so many instead")
    parser.add_argument("--graph", default=str(GRAPH), help="arcs, tab separated, gzipped")
    parser.add_argument("--way", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
