"""The curves of a crawl: its history (`collection/history.py`) as series, with rates.

The page draws them with uPlot, which the build downloads from npm (docs/adr/0012). A build without
it shows the same figures as a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from gossamer.base.plots import VENDOR, has_plots
from gossamer.collection.directory import CollectionPaths
from gossamer.collection.history import Sample, read_history

__all__ = ["has_plots"]

PLOT_SCRIPT: Final = f"/static/{VENDOR}/uPlot.iife.min.js"
PLOT_STYLE: Final = f"/static/{VENDOR}/uPlot.min.css"
# The curves and their series: the page, its script and its table use the same.
CURVES: Final = {
    "pages": "Pages",
    "errors": "Errors",
    "queue": "Queue",
    "speed": "Pages per second",
    "rate": "Bytes per second",
    "memory": "Memory",
}
_DEPTHS_SHOWN: Final = 12
_LEAST_WINDOW_S: Final = 2.0  # with less, one page per second looks like four and none
_WINDOWS: Final = 120  # per curve: changes shorter than a hundredth of it are noise
_MOST_ROWS: Final = 40

Series = dict[str, list[Any]]


def history_object(paths: CollectionPaths, crawl: str) -> dict[str, Any]:
    """Return all series of a crawl, running or stored; empty ones if it has no history."""
    return {"schema": 1, "crawl": crawl, "series": series_of(read_history(paths.history))}


def series_of(samples: Sequence[Sample]) -> Series:
    """Return columns of equal length. A speed is None at the start of a run."""
    speeds = _speeds(samples)
    return {
        "ran_s": [sample.ran_ms / 1000 for sample in samples],
        "at_ms": [sample.at_ms for sample in samples],
        "run": [sample.run for sample in samples],
        "fetched": [sample.fetched for sample in samples],
        "errors": [sample.errors for sample in samples],
        "failed": [sample.failed for sample in samples],
        "queued": [sample.queued for sample in samples],
        "pages_per_s": [pages for pages, _ in speeds],
        "bytes_per_s": [size for _, size in speeds],
        "memory_bytes": [sample.memory_bytes for sample in samples],
        "freshness": [sample.freshness for sample in samples],
        "predicted": [sample.predicted for sample in samples],
        "age_s": [sample.age_s for sample in samples],
        "predicted_age_s": [sample.predicted_age_s for sample in samples],
    }


def _speeds(samples: Sequence[Sample]) -> list[tuple[float | None, float | None]]:
    """Return pages and bytes per second over a window that ends with each sample, within its
    run."""
    if not samples:
        return []
    window_ms = max(_LEAST_WINDOW_S, samples[-1].ran_ms / 1000 / _WINDOWS) * 1000
    speeds: list[tuple[float | None, float | None]] = []
    first = 0
    for place, sample in enumerate(samples):
        while first < place and (
            samples[first].run != sample.run
            or samples[first + 1].ran_ms <= sample.ran_ms - window_ms
        ):
            first += 1
        before = samples[first]
        took_s = (sample.ran_ms - before.ran_ms) / 1000
        if took_s <= 0:
            speeds.append((None, None))
            continue
        pages = sample.fetched + sample.redirects - before.fetched - before.redirects
        size = sample.bytes - before.bytes
        speeds.append((round(max(0, pages) / took_s, 2), round(max(0, size) / took_s, 1)))
    return speeds


def depths_of(by_depth: Mapping[str, int] | None) -> list[tuple[str, int]]:
    """Return pages by links from a seed, the seeds first; the deepest ones are summed up."""
    pairs = sorted((int(depth), count) for depth, count in (by_depth or {}).items())
    shown = [(str(depth), count) for depth, count in pairs[:_DEPTHS_SHOWN]]
    if deeper := pairs[_DEPTHS_SHOWN:]:
        shown.append((f"{deeper[0][0]} and more", sum(count for _, count in deeper)))
    return shown


def table_of(series: Series) -> list[dict[str, Any]]:
    """Return some rows of the series, evenly spaced, the newest first."""
    count = len(series["ran_s"])
    step = max(1, -(-count // _MOST_ROWS))
    places = range(count - 1, -1, -step)
    return [{name: column[place] for name, column in series.items()} for place in places]
