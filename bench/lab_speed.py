"""Speed and memory of the virtual crawler: simulated visits a minute on one core, bytes a page.

    python bench/lab_speed.py GRAPH [--sites FILE] [--in-flight 100] [--orders breadth,opic,...]

Each order crawls the whole graph from 10 random pages, three times; the median counts. CPU time is
measured, so that other programs on the machine do not matter. Memory is what the crawler holds
at its end, measured by tracemalloc in a run of its own, without the graph and with it.
"""

from __future__ import annotations

import argparse
import statistics
import time
import tracemalloc
from pathlib import Path

import numpy as np

from gossamer.lab.graph import LinkGraph
from gossamer.lab.graphs import read_graph
from gossamer.lab.virtual_crawler import VirtualCrawler
from gossamer.policies.orders.named import LINK_ORDERS

RUNS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph", type=Path)
    parser.add_argument("--sites", type=Path)
    parser.add_argument("--in-flight", type=int, default=100)
    parser.add_argument("--orders", default=",".join(LINK_ORDERS))
    options = parser.parse_args()
    graph = read_graph(options.graph, options.sites)
    held = (graph.offsets.nbytes + graph.targets.nbytes + graph.site.nbytes) / graph.pages
    print(f"{graph.pages:,} pages, {graph.links:,} links; the graph: {held:.0f} bytes a page")
    print("order           visits  CPU s  million visits/min  bytes/page  with the graph")
    for name in options.orders.split(","):
        visits, seconds = speed(graph, name, options.in_flight)
        memory = bytes_a_page(graph, name, options.in_flight)
        rate = visits / seconds * 60 / 1e6
        row = f"{name:<14}{visits:>8,}{seconds:>7.2f}{rate:>20.1f}"
        print(f"{row}{memory:>12.0f}{memory + held:>16.0f}")


def speed(graph: LinkGraph, name: str, in_flight: int) -> tuple[int, float]:
    """Visits and CPU seconds of a whole crawl, the median of `RUNS`."""
    visits, times = 0, []
    for _ in range(RUNS):
        start_s = time.process_time()
        visits = len(crawler(graph, name, in_flight).run())
        times.append(time.process_time() - start_s)
    return visits, statistics.median(times)


def bytes_a_page(graph: LinkGraph, name: str, in_flight: int) -> float:
    """What the crawler holds when all is visited."""
    graph.out_degree  # noqa: B018  # computed once, and part of the graph
    tracemalloc.start()
    run = crawler(graph, name, in_flight)
    run.run()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held / graph.pages


def crawler(graph: LinkGraph, name: str, in_flight: int) -> VirtualCrawler:
    seeds = np.random.default_rng(0).choice(graph.pages, 10, replace=False).astype(np.int32)
    return VirtualCrawler(graph, LINK_ORDERS[name](0), seeds, in_flight)


if __name__ == "__main__":
    main()
