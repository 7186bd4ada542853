"""Crawl a link graph with one way to keep duplicates out, without a network.

Breadth first, 64 pages in flight, so that a way meets the real stream of links: most lead to known
pages. The ways on disk write a synced batch for every 500 pages, as a node does about once a
second. At a kill these lose the last batch, and the one in memory all URLs that it has not fetched.
"""

from __future__ import annotations

import resource
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from typing import Final

import numpy as np

from gossamer.base.memory import resident_bytes
from gossamer.lab.buffers.ways import Buffer, built
from gossamer.lab.graph import LinkGraph, graph_of

AT_ONCE: Final = 64
_COMMIT_EVERY: Final = 500  # pages
_OFFSETS: Final = "offsets.npy"
_TARGETS: Final = "targets.npy"

LinksOf = Callable[[int], Sequence[int]]


@dataclass(frozen=True, slots=True)
class MeasuredWay:
    """One way over one graph."""

    way: str
    links: int  # given to the buffer
    links_per_s: float
    links_per_cpu_s: float
    fetched: int
    fetched_twice: int
    lost: int  # pages that a whole crawl finds and this one never fetched
    largest_queue: int
    peak_mb: float  # memory beyond that of the graph
    disk_mb: float


def crawl_with(
    buffer: Buffer, links_of: LinksOf, start: Sequence[int]
) -> tuple[list[int], int, int]:
    """Crawl a graph: pages in the order in which they were fetched, links given, longest queue."""
    fetched: list[int] = []
    in_flight: deque[int] = deque()
    given = longest = 0
    buffer.add(start)
    while True:
        page = buffer.take() if len(in_flight) < AT_ONCE else None
        if page is not None:
            in_flight.append(page)
            continue
        if not in_flight:
            return fetched, given, longest
        done = in_flight.popleft()
        fetched.append(done)
        buffer.fetched(done)
        links = links_of(done)
        given += len(links)
        buffer.add(links)
        if len(fetched) % _COMMIT_EVERY == 0:
            longest = max(longest, buffer.waiting)
            buffer.commit()


def measure_way(
    way: str, folder: Path, links_of: LinksOf, start: Sequence[int], reachable: int
) -> MeasuredWay:
    """Crawl with one way in this process; its data is written to `folder`."""
    before = resident_bytes([getpid()]) or 0
    buffer = built(way, folder)
    began_s, began_cpu_s = time.perf_counter(), time.process_time()
    fetched, given, longest = crawl_with(buffer, links_of, start)
    wall_s = time.perf_counter() - began_s
    cpu_s = time.process_time() - began_cpu_s
    buffer.commit()
    disk = sum(file.stat().st_size for file in folder.iterdir())
    distinct = len(set(fetched))
    peak_mb = _peak_mb() - before / 2**20
    return MeasuredWay(
        way=way,
        links=given,
        links_per_s=given / wall_s,
        links_per_cpu_s=given / cpu_s,
        fetched=len(fetched),
        fetched_twice=len(fetched) - distinct,
        lost=reachable - distinct,
        largest_queue=longest,
        peak_mb=max(0.0, peak_mb),
        disk_mb=disk / 2**20,
    )


def _peak_mb() -> float:
    """The most memory that this process has had. `ru_maxrss` would count that of the process which
    started it, too; it is used where there is no /proc."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def random_web(pages: int) -> LinkGraph:
    """A web whose links lead mostly to few of its pages; all can be reached from page 0."""
    chance = np.random.default_rng(1)
    page = np.arange(pages)
    tree = np.repeat(page, 10), 10 * np.repeat(page, 10) + np.tile(np.arange(1, 11), pages)
    is_there = tree[1] < pages
    popular = (pages * chance.random(10 * pages) ** 3).astype(np.int64)
    sources = np.concatenate((tree[0][is_there], np.repeat(page, 10)))
    return graph_of(sources, np.concatenate((tree[1][is_there], popular)), pages)


def write_graph(graph: LinkGraph, folder: Path) -> None:
    """Write the links where `read_links` finds them."""
    np.save(folder / _OFFSETS, graph.offsets)
    np.save(folder / _TARGETS, graph.targets)


def read_links(folder: Path) -> LinksOf:
    """The links of each page."""
    offsets, targets = np.load(folder / _OFFSETS), np.load(folder / _TARGETS)

    def links_of(page: int) -> Sequence[int]:
        found: list[int] = targets[offsets[page] : offsets[page + 1]].tolist()
        return found

    return links_of
