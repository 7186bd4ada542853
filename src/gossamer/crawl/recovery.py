"""What a start does before it asks anybody: read again what the archive holds beyond the state.

The theory is in `commit.py`. Every WARC file is cut behind its last whole exchange; exchanges
beyond the state's byte are reported as if they had just come, and links beyond the graph's byte
go to the graph. Both use `harvest.py`, so a replay means what the live crawl meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.reader import Exchange, iter_exchanges
from gossamer.archive.recover import repair
from gossamer.crawl.harvest import Harvest, Harvester, crashed
from gossamer.crawl.marker import Marker


@dataclass(frozen=True, slots=True)
class Recovered:
    """What recovery found, for people."""

    files: int = 0
    exchanges: int = 0
    cut_bytes: int = 0


def recover(
    folder: Path,
    known: Mapping[str, int],
    covered: Mapping[str, int],
    harvester: Harvester,
    take: Callable[[Harvest, bool, bool], None],
    *,
    deadly: frozenset[tuple[str, int]] = frozenset(),
    marker: Marker | None = None,
) -> Recovered:
    """Repair every file and hand over what is beyond; `take(harvest, to_state, to_graph)`.

    `deadly` are exchanges that killed whoever read them; they are not read again. `marker` notes
    what is read here: if it kills this process too, the next start knows.
    Raises CorruptFile when committed bytes are missing.
    """
    files = exchanges = cut_bytes = 0
    for path in sorted(folder.glob("*.warc.gz")):
        state_end, graph_end = known.get(path.name, 0), covered.get(path.name, 0)
        size = path.stat().st_size
        if size == state_end == graph_end:
            _index(path)
            continue
        repaired = repair(path, max(state_end, 0))
        files += 1
        cut_bytes += repaired.cut_bytes
        if repaired.kept_end == 0:
            path.unlink()  # not even its first record was whole
            continue
        for exchange in iter_exchanges(path, min(state_end, graph_end)):
            to_state = exchange.stored.start >= state_end
            is_deadly = (path.name, exchange.stored.start) in deadly
            if marker is not None:
                marker.set(path.name, exchange.stored.start)
            harvest = _read(harvester, exchange, is_deadly=is_deadly)
            if marker is not None:
                marker.clear()
            take(harvest, to_state, exchange.stored.start >= graph_end)
            exchanges += to_state
        if cdxj_path(path).exists() and repaired.cut_bytes:
            cdxj_path(path).unlink()
        _index(path)
    return Recovered(files, exchanges, cut_bytes)


def _read(harvester: Harvester, exchange: Exchange, *, is_deadly: bool) -> Harvest:
    parts = exchange.lease, exchange.answer, exchange.stored
    if is_deadly:
        return Harvest(crashed(*parts, "it killed the process that read it"))
    try:
        return harvester.harvest(*parts)
    except Exception as fault:  # noqa: BLE001  # as in the live crawl: it ends in its story
        return Harvest(crashed(*parts, repr(fault)))


def _index(path: Path) -> None:
    if not cdxj_path(path).exists():
        write_cdxj(path)
