"""Compare all ways to keep duplicates out of the buffer of new URLs, on one link graph."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Final

import numpy as np

from gossamer.base import processes
from gossamer.errors import GossamerError, UsageError
from gossamer.lab.buffers.measure import MeasuredWay, write_graph
from gossamer.lab.experiment import Experiment, LabCell, LabTable
from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.reached import reachable

_WORKER: Final = "gossamer.lab.buffers.worker"
_SHARES: Final = (20, 5, 1)  # the table in memory holds a twentieth, a fifth or all of the pages
_COLUMNS: Final = (
    "way", "links per CPU-second", "smallest", "largest", "fetched twice", "lost",
    "longest queue", "memory, MB", "disk, MB", "the source's order",
)  # fmt: skip
_SOURCE: Final = {"adding, on disk": "slowest", "adding, in memory": "faster", "taking": "fastest"}

BufferRuns = dict[str, list[MeasuredWay]]


@dataclass(frozen=True, slots=True)
class BufferLab:
    """What an experiment is made with."""

    repeats: int = 3
    seeds: int = 10
    random_seed: int = 1


def ways_for(pages: int) -> list[str]:
    """The ways that are compared on a graph of so many pages."""
    rooms = [max(1, pages // share) for share in _SHARES]
    in_memory = [f"adding, in memory, {room}" for room in rooms]
    return ["adding, on disk", *in_memory, "taking, on disk", "taking, on disk, late", "ours"]


def measure_ways(
    graph: LinkGraph, start: Sequence[int], lab: BufferLab, notify: Callable[[str], None]
) -> BufferRuns:
    """Each way in a process of its own, another one first in each round. Raises GossamerError."""
    ways = ways_for(graph.pages)
    found = int(np.count_nonzero(reachable(graph, np.array(start, np.int32))))
    runs: BufferRuns = {way: [] for way in ways}
    with tempfile.TemporaryDirectory(prefix="gossamer-buffers-") as home:
        write_graph(graph, Path(home))
        for number in range(lab.repeats):
            turn = number % len(ways)
            for way in ways[turn:] + ways[:turn]:
                notify(f"round {number + 1} of {lab.repeats}: {way}")
                words = [way, home, str(found), *map(str, start)]
                runs[way].append(_measured(words))
    return runs


def _measured(words: Sequence[str]) -> MeasuredWay:
    process = processes.start(_WORKER, *words, stdout=processes.PIPE, stderr=processes.PIPE)
    try:
        output, errors = process.communicate()
    except BaseException:
        processes.end(process)
        raise
    if process.returncode:
        raise GossamerError(f"the experiment failed ({processes.last_line(errors)})")
    return MeasuredWay(**json.loads(output))


def buffers_experiment(
    graph: LinkGraph, lab: BufferLab, notify: Callable[[str], None] = lambda _: None
) -> Experiment:
    """Compare the ways on a graph, from random pages. Raises UsageError, GossamerError."""
    if not graph.pages:
        raise UsageError("the graph has no pages")
    chance = np.random.default_rng(lab.random_seed)
    start = chance.choice(graph.pages, min(lab.seeds, graph.pages), replace=False).tolist()
    runs = measure_ways(graph, start, lab, notify)
    return Experiment(
        name="buffers",
        title="Ways to keep duplicates out of the buffer of new URLs",
        settings={**asdict(lab), "pages": graph.pages, "links": graph.links},
        data_digest=graph.digest,
        results={way: figures_of(own) for way, own in runs.items()},
        tables=[table_of(runs)],
    )


def figures_of(runs: Sequence[MeasuredWay]) -> dict[str, object]:
    """One way: medians over the rounds, and each round."""
    rates = [run.links_per_cpu_s for run in runs]
    return {
        **asdict(runs[0]),
        "links_per_s": round(median(run.links_per_s for run in runs)),
        "links_per_cpu_s": round(median(rates)),
        "peak_mb": round(median(run.peak_mb for run in runs), 1),
        "runs": [round(rate) for rate in rates],
        "spread": round((max(rates) - min(rates)) / median(rates), 3),
    }


def table_of(runs: BufferRuns) -> LabTable:
    """A line per way. Compare the rows: the numbers depend on the machine."""
    lines: list[list[LabCell]] = []
    for way, own in runs.items():
        rates = [run.links_per_cpu_s for run in own]
        one = own[0]
        lines.append(
            [
                way, round(median(rates)), round(min(rates)), round(max(rates)),
                one.fetched_twice, one.lost, one.largest_queue,
                round(median(run.peak_mb for run in own)), round(one.disk_mb),
                next((rank for name, rank in _SOURCE.items() if way.startswith(name)), None),
            ]
        )  # fmt: skip
    note = "The source had a database of SQL, and told which way was fastest, without figures."
    return LabTable("Median of all rounds", _COLUMNS, lines, note)
