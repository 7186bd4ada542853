"""What does merging links cost, and how quick are the links into one URL?

    python -m bench.links                      ten million links of 100,000 pages
    python -m bench.links --pages 5000         fewer

Pages of 500 a host with 99 links each: 30 that all pages of the host have, 60 more of the host,
the first ones more often, and 9 anywhere. They are written as a crawl writes them, merged by the
processes that a crawl starts, and asked for as `gossamer backlinks` does.
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
from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from bench.figures import Figure

from gossamer.graph import manifest
from gossamer.graph.degrees import degrees
from gossamer.graph.lookup import links_to
from gossamer.graph.manifest import LinkPart, Manifest, MergedSet
from gossamer.graph.parts import PartWriter
from gossamer.graph.tiers import next_merge
from gossamer.records import Edge

PART_ROWS: Final = 200_000
A_HOST: Final = 500
ASKED: Final = 100


def url_of(host: int, page: int) -> str:
    return f"https://www.host{host}.example.org/some/directory/page-{page:05d}.html"


def write_links(folder: Path, pages: int) -> None:
    """Raw parts, as workers write them."""
    chance, hosts = random.Random(1), max(1, pages // A_HOST)
    forms: dict[tuple[int, int], Edge] = {}

    def edge(host: int, page: int) -> Edge:
        known = forms.get((host, page))
        if known is None:
            known = Edge(url_of(host, page), b"", f"the words of page {page}", "", "main", "a")
            forms[(host, page)] = known
        return known

    writer = PartWriter(folder)
    parts: list[LinkPart] = []
    for number in range(pages):
        host, page = number % hosts, number // hosts
        edges = [edge(host, n) for n in range(30)]
        edges += [edge(host, min(A_HOST - 1, int(chance.expovariate(1 / 150)))) for _ in range(60)]
        edges += [edge(chance.randrange(hosts), chance.randrange(A_HOST)) for _ in range(9)]
        source = url_of(host, page)
        writer.add(source, 10**15 + number, [*edges, Edge(source, b"", "", "", "", "capture")])
        if writer.rows >= PART_ROWS or number == pages - 1:
            rows = writer.rows
            parts.append(LinkPart(writer.write(f"links-{len(parts):05d}").name, rows))
    manifest.replace(folder, Manifest(tuple(parts)))


def merge_all(folder: Path) -> tuple[int, int]:
    """Merge until all is well; rows written, and the most memory that a merge took, in MB."""
    rows = number = 0
    while names := next_merge(manifest.read(folder), is_final=True):
        number += 1
        command = [sys.executable, "-m", "gossamer.graph.merge", str(folder), f"links-m{number}"]
        ended = subprocess.run([*command, *names], capture_output=True, check=True)
        merged = MergedSet(**json.loads(ended.stdout))
        rows += merged.rows
        manifest.replace(folder, manifest.read(folder).with_merged(names, merged, 0))
    return rows, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024


def cpu_of_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def times_ms(
    ask: Callable[[str], object], urls: list[str], clock: Callable[[], float]
) -> list[float]:
    found = []
    for url in urls:
        begun = clock()
        ask(url)
        found.append((clock() - begun) * 1000)
    return found


def main() -> int:
    """Print one JSON object a figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--asked", type=int, default=ASKED)
    given = parser.parse_args()
    pages = given.pages
    chance, hosts = random.Random(2), max(1, pages // A_HOST)
    urls = [url_of(chance.randrange(hosts), chance.randrange(A_HOST)) for _ in range(given.asked)]
    with tempfile.TemporaryDirectory(prefix="gossamer-links-") as home:
        folder = Path(home) / "graph"
        folder.mkdir()
        write_links(folder, pages)
        before_s = cpu_of_children_s()
        rows, peak_mb = merge_all(folder)
        merged_s = cpu_of_children_s() - before_s
        a_page_ms = merged_s * 1000 / pages
        links_to(folder, urls[0])
        wall_ms = times_ms(lambda url: links_to(folder, url), urls, time.perf_counter)
        cpu_ms = times_ms(lambda url: links_to(folder, url), urls, time.process_time)
        begun_s = time.process_time()
        linked = sum(batch.num_rows for batch in degrees(folder))
        counted_s = time.process_time() - begun_s
        figures = [
            Figure("links into a URL, ms (median)", (median(wall_ms),), 50, 20, is_least=False),
            Figure("links into a URL, ms (p99)", (quantiles(wall_ms, n=100)[-1],)),
            Figure("links into a URL, CPU ms (median)", (median(cpu_ms),)),
            Figure(f"counts of {linked:,} targets, CPU s", (counted_s,)),
        ]
        if rows:
            figures += [
                Figure(f"{pages * 100:,} links: CPU to merge, ms a page", (a_page_ms,)),
                Figure("CPU to merge, us a row written", (merged_s * 1e6 / rows,)),
                Figure("memory of a merge, MB", (float(peak_mb),)),
            ]
    for figure in figures:
        print(figure.as_json())
    return 0


if __name__ == "__main__":
    sys.exit(main())
