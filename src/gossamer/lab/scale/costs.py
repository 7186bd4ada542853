"""What one page costs: CPU, bytes on disk and network, state, and messages.

Measured by two crawls of the same site, of all its pages and of half of them. The difference is the
cost of the second half, without that of starting and ending.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any, Final

from gossamer.base import processes
from gossamer.errors import GossamerError, UsageError

_LEAST_PAGES: Final = 50  # fewer say nothing of a page
_LOOK_EVERY_S: Final = 0.05
_TREES: Final = ("archive", "state", "graph", "index", "log")


@dataclass(frozen=True, slots=True)
class PageCosts:
    """Costs per fetched page, on one core of the machine that measured them."""

    cpu_s: float  # of all processes
    node_cpu_s: float  # of the node, which is one process and cannot be divided
    network_bytes: float  # bodies as they come
    archive_bytes: float
    index_bytes: float
    graph_bytes: float
    log_bytes: float
    state_bytes: float  # per known URL
    known_urls: float  # per fetched page
    links: float

    @property
    def disk_bytes(self) -> float:
        """All that stays on disk for a page, with the URLs that were found on it."""
        kept = self.archive_bytes + self.index_bytes + self.graph_bytes + self.log_bytes
        return kept + self.state_bytes * self.known_urls


@dataclass(frozen=True, slots=True)
class _Sizes:
    """One crawl as a whole."""

    pages: int
    cpu_s: float
    node_cpu_s: float
    bytes_had: float
    known: int
    links: int
    trees: Mapping[str, int]


def measured_costs(
    seeds: Sequence[str],
    settings: Mapping[str, str],
    repeats: int,
    notify: Callable[[str], None] = lambda _: None,
) -> PageCosts:
    """Crawl all pages and half of them, in turn; medians of the differences. Raises GossamerError
    and UsageError."""
    notify("counting the pages")
    whole = _crawl(seeds, settings, 0)
    if whole.pages < _LEAST_PAGES:
        raise UsageError(
            f"{seeds[0]} has {whole.pages} pages; costs can be measured with {_LEAST_PAGES} or more"
        )
    found = []
    for number in range(repeats):
        notify(f"round {number + 1} of {repeats}")
        half = _crawl(seeds, settings, whole.pages // 2)
        found.append(_difference(half, whole))
        if number + 1 < repeats:
            whole = _crawl(seeds, settings, 0)
    names = [field.name for field in fields(PageCosts)]
    return PageCosts(**{name: median(getattr(one, name) for one in found) for name in names})


def _difference(half: _Sizes, whole: _Sizes) -> PageCosts:
    """The costs of the pages that only the whole crawl has."""
    pages = max(whole.pages - half.pages, 1)

    def tree(name: str) -> float:
        return max(0.0, (whole.trees[name] - half.trees[name]) / pages)

    return PageCosts(
        cpu_s=max(0.0, (whole.cpu_s - half.cpu_s) / pages),
        node_cpu_s=max(0.0, (whole.node_cpu_s - half.node_cpu_s) / pages),
        network_bytes=(whole.bytes_had - half.bytes_had) / pages,
        archive_bytes=tree("archive"),
        index_bytes=tree("index"),
        graph_bytes=tree("graph"),
        log_bytes=tree("log"),
        # A half knows most URLs of the whole already, so the difference says nothing here.
        state_bytes=whole.trees["state"] / max(whole.known, 1),
        known_urls=whole.known / whole.pages,
        links=(whole.links - half.links) / pages,
    )


def _crawl(seeds: Sequence[str], settings: Mapping[str, str], most: int) -> _Sizes:
    values = {**settings, **({"limits.max_pages": str(most)} if most else {})}
    flags = [word for key, text in values.items() for word in ("--set", f"{key}={text}")]
    with tempfile.TemporaryDirectory(prefix="gossamer-scale-") as home:
        collection = Path(home) / "collection"
        summary, node_cpu_s = _run([*seeds, "-c", str(collection), *flags, "--json"])
        trees = {name: _size_of(collection / name) for name in _TREES}
    return _Sizes(
        int(summary["fetched"]),
        float(summary["cpu_s"]),
        node_cpu_s,
        float(summary["bytes"]),
        int(summary["known"]),
        int(summary["links"]),
        trees,
    )


def _run(words: Sequence[str]) -> tuple[dict[str, Any], float]:
    """The summary of a crawl, and the CPU time of its node alone."""
    process = processes.start(
        "gossamer", "crawl", *words, stdout=processes.PIPE, stderr=processes.PIPE
    )
    cpu_s = 0.0
    output = errors = b""
    try:
        while True:
            try:
                output, errors = process.communicate(timeout=_LOOK_EVERY_S)
                break
            except processes.StillRunning:
                cpu_s = max(cpu_s, own_cpu_s(process.pid))
    except BaseException:
        processes.end(process, wait_s=5.0)
        raise
    if process.returncode:
        raise GossamerError(f"the crawl failed ({processes.last_line(errors)})")
    return json.loads(output), cpu_s


def own_cpu_s(pid: int) -> float:
    """CPU time of a process without its children; 0 if the system does not tell (no /proc)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="latin-1").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def read_costs(path: Path) -> PageCosts:
    """Costs from a JSON file: an object of them, or the result of `lab scale --json`. Raises
    UsageError."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        values = found.get("results", found)
        values = values.get("costs", values)
        return PageCosts(**{field.name: float(values[field.name]) for field in fields(PageCosts)})
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise UsageError(f"cannot read costs from {path} ({error})") from None
    except KeyError as missing:
        names = ", ".join(field.name for field in fields(PageCosts))
        raise UsageError(f"{path} has no {missing}; it needs {names}") from None


def costs_object(costs: PageCosts) -> dict[str, float]:
    """Costs as JSON has them."""
    return {**asdict(costs), "disk_bytes": costs.disk_bytes}
