"""Read again what the archive holds beyond the state, before a start sends any request.

The theory is in `commit.py`. Every WARC file is cut after its last whole exchange. Exchanges after
the state's offset are reported as if they were just fetched; those after the offsets of graph and
index go there. All are read by `workers/process.py`, so a replay gives the same result as the live
crawl. They are read under a marker, so a page that kills this start kills at most one more
(`crash_marker.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.reader import iter_exchanges
from gossamer.archive.recover import repair
from gossamer.archive.writer import disk_fault
from gossamer.records import Lease
from gossamer.workers.crash_marker import CrashMarker, ExchangePosition
from gossamer.workers.guarded_reader import GuardedReader
from gossamer.workers.process import PageProcessor, ProcessedPage


@dataclass(frozen=True, slots=True)
class Recovered:
    """The findings of recovery, for people."""

    files: int = 0
    exchanges: int = 0
    cut_bytes: int = 0


def recover(
    folder: Path,
    known: Mapping[str, int],
    covered: Mapping[str, int],
    processor: PageProcessor,
    take: Callable[[ProcessedPage, bool], None],
    *,
    deadly: frozenset[ExchangePosition] = frozenset(),
    marker: CrashMarker | None = None,
    locate: Callable[[Lease], Lease] | None = None,
) -> Recovered:
    """Repair every file and pass on what is beyond, by `take(processed, to_state)`.

    `known` says how far the state knows each file, `covered` how far all derived data does.
    `deadly` are exchanges that killed their readers; they are not read again. `marker` records what
    is read here: if it kills this process too, the next start knows. `locate` says where the
    previous version of a page lies. Everything passed on is on disk. Raises CorruptFile when
    committed bytes are missing, and DiskFault.
    """
    files = _Files(folder, known, covered)
    try:
        reader = GuardedReader(processor, marker, deadly)
        reader.locate = locate
        return _recover(files, reader, take)
    except OSError as error:
        raise disk_fault(f"cannot update {folder}", error) from error


@dataclass(frozen=True, slots=True)
class _Files:
    """The WARC files, how far the state knows each, and how far all derived data does."""

    folder: Path
    known: Mapping[str, int]
    covered: Mapping[str, int]

    def ends(self) -> Iterator[tuple[Path, int, int]]:
        for path in sorted(self.folder.glob("*.warc.gz")):
            yield path, self.known.get(path.name, 0), self.covered.get(path.name, 0)


def _recover(
    all_files: _Files,
    reader: GuardedReader,
    take: Callable[[ProcessedPage, bool], None],
) -> Recovered:
    files = exchanges = cut_bytes = 0
    for path, state_end, covered_end in all_files.ends():
        if path.stat().st_size == state_end == covered_end:
            _index(path)
            continue
        repaired = repair(path, state_end)
        files += 1
        cut_bytes += repaired.cut_bytes
        if not state_end and next(iter_exchanges(path), None) is None:
            path.unlink()  # the file has no whole exchange
            continue
        for exchange in iter_exchanges(path, min(state_end, covered_end)):
            to_state = exchange.stored.start >= state_end
            take(reader.read_exchange(exchange), to_state)
            exchanges += to_state
        if cdxj_path(path).exists() and repaired.cut_bytes:
            cdxj_path(path).unlink()
        _index(path)
    return Recovered(files, exchanges, cut_bytes)


def _index(path: Path) -> None:
    if not cdxj_path(path).exists():
        write_cdxj(path)
