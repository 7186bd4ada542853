"""Crawl the same pages with each value of a setting, in turn."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gossamer.base import processes
from gossamer.errors import GossamerError, UsageError
from gossamer.lab.tune.factor import Factor


@dataclass(frozen=True, slots=True)
class TuneRun:
    """One crawl with one value."""

    value: str
    pages: int
    megabytes: float
    wall_s: float
    cpu_s: float  # of all processes of the crawl
    peak_mb: float  # memory of the node

    @property
    def per_s(self) -> float:
        return self.pages / self.wall_s

    @property
    def per_cpu_s(self) -> float:
        return self.pages / self.cpu_s


def varied(
    factor: Factor,
    seeds: Sequence[str],
    held: Mapping[str, str],
    repeats: int,
    notify: Callable[[str], None] = lambda _: None,
) -> list[TuneRun]:
    """Crawl with each value in each round, another one first each time, so that changes of the
    surroundings affect all values alike. Raises GossamerError."""
    runs: list[TuneRun] = []
    for number in range(repeats):
        turn = number % len(factor.values)
        for value in factor.values[turn:] + factor.values[:turn]:
            notify(f"round {number + 1} of {repeats}: {factor.key} = {value}")
            runs.append(run_once(value, seeds, {**held, factor.key: value}))
    return runs


def run_once(value: str, seeds: Sequence[str], settings: Mapping[str, str]) -> TuneRun:
    """One crawl into a collection that is deleted after it. Raises GossamerError."""
    flags = [word for key, text in settings.items() for word in ("--set", f"{key}={text}")]
    with tempfile.TemporaryDirectory(prefix="gossamer-tune-") as home:
        words = [*seeds, "-c", str(Path(home) / "collection"), *flags, "--json"]
        summary = _crawled(words)
    if not summary["fetched"]:
        raise UsageError(f"nothing was fetched from {seeds[0]}, so there is no speed to compare")
    return TuneRun(
        value,
        int(summary["fetched"]),
        float(summary["bytes"]) / 1e6,
        max(float(summary["wall_s"]), 1e-3),
        max(float(summary["cpu_s"]), 1e-3),
        float(summary["peak_rss_mb"]),
    )


def _crawled(words: Sequence[str]) -> dict[str, float]:
    """The summary of `gossamer crawl WORDS`, as a process of its own."""
    process = processes.start(
        "gossamer", "crawl", *words, stdout=processes.PIPE, stderr=processes.PIPE
    )
    try:
        output, errors = process.communicate()
    except BaseException:
        processes.end(process, wait_s=5.0)
        raise
    if process.returncode:
        raise GossamerError(f"the crawl failed ({processes.last_line(errors)})")
    summary: dict[str, float] = json.loads(output)
    return summary
