"""How fast are ranks, and in how much memory?

    python -m bench.ranks                            the real graph, and a crawl of 6,000 pages
    python -m bench.ranks --links 100000000          and a generated web of 10^8 links as well
    python -m bench.ranks --links N --keep DIR       keep that web there, for the next time

The real graph is `graphs/cnr-2000.tsv.gz` of the shared data: 325,557 pages, 3.2 million links. A
visit is one link in one round; its figure is per CPU-second, whatever the threads.

Generated webs are written as a crawl writes its links, so that what is measured is `compute`, from
URLs to files, in a process of its own: three in five links lead to a page near by, the others
anywhere, to some pages far more often than to others; four in five pages are never read.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import duckdb
import numpy as np
from bench.figures import Figure

from bench import tree
from gossamer.base.clock import SystemClock
from gossamer.graph import manifest
from gossamer.graph.manifest import LinkPart, Manifest
from gossamer.graph.ranks.numbered_links import InLinks, in_links_of
from gossamer.graph.ranks.ranks import RankInfo, RankReader, RanksRequest, compute
from gossamer.graph.ranks.vectors import hits, pagerank

ROOT: Final = Path(__file__).parents[1]
ROUNDS: Final = 5
CRAWL_LINKS: Final = 600_000
LINKS_A_PAGE: Final = 100
PART_ROWS: Final = 5_000_000

_URL: Final = (
    "'https://www.site-' || ({0} // 400) || '.example/section-' || ({0} // 20 % 20) || "
    "'/page-' || {0} || '.html'"
)
_ROWS: Final = f"""
    select {_URL.format("page")} as source, {_URL.format("target")} as target,
           'words of ' || (target % 1000) as anchor, '' as rel, 'main' as place, 'a' as kind,
           0::integer as line, '' as fault, 1_700_000_000_000_000::bigint as seen_us
    from (
        select n // {LINKS_A_PAGE} as page,
               case when hash(n) % 5 < 3
                    then (n // {LINKS_A_PAGE} + hash(n + 1) % 400) % {{pages}}
                    else floor({{pages}} * pow(hash(n + 2) / 18446744073709551616.0, 3))
               end::bigint as target
        from range({{start}}, {{stop}}) t(n)
    )
"""


def main() -> int:
    options = _options()
    if options.compute:
        _print_computed(Path(options.compute))
        return 0
    for figure in real_figures(options.rounds):
        print(figure.as_json(), flush=True)
    with tempfile.TemporaryDirectory(prefix="bench-ranks-") as folder:
        for figure in crawl_figures(Path(folder), options.rounds):
            print(figure.as_json(), flush=True)
        if options.links:
            home = Path(options.keep or f"{folder}/large")
            for figure in large_figures(home, options.links):
                print(figure.as_json(), flush=True)
    return 0


# -- the real graph


def real_figures(rounds: int) -> list[Figure]:
    """Visits per CPU-second over the shared graph; nothing where it is missing."""
    home = Path(os.environ.get("TEST_DATA", ROOT.parent / "shared" / "data"))
    path = home / "graphs" / "cnr-2000.tsv.gz"
    if not path.exists():
        print(f"{path} is not there; set TEST_DATA", file=sys.stderr)
        return []
    with gzip.open(path) as lines:
        sources, targets = np.loadtxt(lines, np.int64, unpack=True)
    links = in_links_of(sources, targets, int(max(sources.max(), targets.max())) + 1)
    pagerank(links, rounds=1)  # SciPy is loaded
    costs = [_cpu_s(lambda: pagerank(links)) for _ in range(rounds)]
    done = costs[0][1].rounds
    hubs = [_cpu_s(lambda: hits(links)) for _ in range(rounds)]
    return [
        _visits("PageRank, real graph", links, done, [cost for cost, _ in costs]),
        Figure("rounds of PageRank, real graph", (done,)),
        Figure("CPU-seconds of hubs and authorities, real graph", tuple(cost for cost, _ in hubs)),
        Figure("rounds of hubs and authorities, real graph", (hubs[0][1].hubs.rounds,)),
    ]


def _visits(name: str, links: InLinks, rounds: int, costs_s: list[float]) -> Figure:
    # A round visits the links to pages that link themselves; the last one visits all.
    visits = int(links.starts[links.linking]) * rounds + links.links
    per_s = tuple(visits / cost / 1e6 for cost in costs_s)
    return Figure(f"million link visits per CPU-second, {name}", per_s, gate=20, aim=200)


def _cpu_s(work: Callable[[], Any]) -> tuple[float, Any]:
    began_s = time.process_time()
    found = work()
    return time.process_time() - began_s, found


# -- generated webs


def generate(home: Path, links: int) -> Path:
    """A graph of so many links as raw parts; the folder is as it was when it has one."""
    folder = home / "graph"
    if (folder / manifest.NAME).exists():
        return folder
    folder.mkdir(parents=True)
    pages = links // LINKS_A_PAGE * 5
    parts: list[LinkPart] = []
    with duckdb.connect() as connection:
        for start in range(0, links, PART_ROWS):
            stop = min(start + PART_ROWS, links)
            part = LinkPart(f"links-{len(parts):06}.parquet", stop - start)
            rows = _ROWS.format(start=start, stop=stop, pages=pages)
            path = str(folder / part.name).replace("'", "''")
            connection.execute(f"copy ({rows}) to '{path}' (format parquet, compression lz4_raw)")
            parts.append(part)
    manifest.replace(folder, Manifest(tuple(parts)))
    return folder


def crawl_figures(home: Path, rounds: int) -> list[Figure]:
    """The ranks of a small crawl, in a process of their own and in one that has all modules."""
    folder = generate(home / "crawl", CRAWL_LINKS)
    alone = [_computed(folder) for _ in range(rounds)]
    compute(folder, SystemClock())
    inside = [_cpu_s(lambda: _anew(folder, RanksRequest()))[0] for _ in range(rounds)]
    urls = [f"https://www.site-{n // 400}.example/section-0/page-{n}.html" for n in range(200)]
    reader = RankReader(folder)
    reader.of(urls)
    asked = [_cpu_s(lambda: reader.of(urls))[0] * 1e3 for _ in range(rounds)]
    name = f"{CRAWL_LINKS:,} links"
    return [
        Figure(f"CPU-seconds of a process that ranks {name}", tuple(c.cpu_s for c, _ in alone)),
        Figure(
            f"CPU-seconds to rank {name}, modules loaded", tuple(inside), 0.3, 0.2, is_least=False
        ),
        Figure("milliseconds to look up 200 ranks", tuple(asked), 5, 1, is_least=False),
    ]


def large_figures(home: Path, links: int) -> list[Figure]:
    """Time and memory of a large web; the ranks that an earlier run left are no start."""
    folder = generate(home, links)
    cost, info = _computed(folder)
    name = f"{links:,} links"
    return [
        Figure(f"pages, {name}", (info["pages"],)),
        Figure(f"distinct links, {name}", (info["links"],)),
        Figure(f"rounds of PageRank, {name}", (info["rounds"],)),
        Figure(f"seconds to rank {name}", (cost.wall_s,)),
        Figure(f"CPU-seconds to rank {name}", (cost.cpu_s,)),
        Figure(f"peak memory in MB, {name}", (cost.peak_mb,)),
    ]


def _computed(folder: Path) -> tuple[tree.Cost, dict[str, Any]]:
    """Compute anew in another process; what it took, and its ranks.json."""
    _forget(folder)
    with tempfile.TemporaryDirectory() as scratch:
        told = Path(scratch) / "cost.json"
        command = [sys.executable, "-m", "bench.ranks", "--compute", str(folder)]
        os.spawnv(
            os.P_WAIT, sys.executable, [sys.executable, "-m", "bench.tree", str(told), *command]
        )
        cost = tree.Cost(**json.loads(told.read_text(encoding="utf-8")))
    assert cost.exit == 0, "the computation failed"
    return cost, json.loads((folder / "ranks.json").read_bytes())


def _print_computed(folder: Path) -> None:
    info = compute(folder, SystemClock())
    print(f"{info.pages} pages, {info.links} links, {info.rounds} rounds", file=sys.stderr)


def _anew(folder: Path, wanted: RanksRequest) -> RankInfo:
    _forget(folder)
    return compute(folder, SystemClock(), wanted)


def _forget(folder: Path) -> None:
    for path in folder.glob("ranks*"):
        path.unlink()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default {ROUNDS}")
    parser.add_argument("--links", type=int, default=0, help="of a generated web")
    parser.add_argument("--keep", help="a folder in which that web is kept")
    parser.add_argument("--compute", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
