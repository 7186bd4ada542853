"""What a start does before it asks anybody: read again what the archive holds beyond the state.

The theory is in `commit.py`. Every WARC file is cut behind its last whole exchange; exchanges
beyond the state's byte are reported as if they had just come, those beyond the graph's and the
index's byte go there. All is read by `process.py`, so a replay means what the live crawl meant; and
under a marker, so a page that kills this start kills one more at the most (`crash_marker.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from gossamer.archive.cdxj import cdxj_path, write_cdxj
from gossamer.archive.reader import iter_exchanges
from gossamer.archive.recover import repair
from gossamer.archive.writer import disk_fault
from gossamer.base.values import dataclass
from gossamer.workers.crash_marker import CrashMarker, Place
from gossamer.workers.guarded_reader import GuardedReader
from gossamer.workers.process import PageProcessor, ProcessedPage


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
    processor: PageProcessor,
    take: Callable[[ProcessedPage, bool], None],
    *,
    deadly: frozenset[Place] = frozenset(),
    marker: CrashMarker | None = None,
) -> Recovered:
    """Repair every file and hand over what is beyond; `take(harvest, to_state)`.

    `known` says how far the state knows each file, `covered` how far all that is derived does.
    `deadly` are exchanges that killed whoever read them; they are not read again. `marker` notes
    what is read here: if it kills this process too, the next start knows. What is handed over is on
    the disk. Raises CorruptFile when committed bytes are missing, DiskFault.
    """
    files = _Files(folder, known, covered)
    try:
        return _recover(files, GuardedReader(processor, marker, deadly), take)
    except OSError as error:
        raise disk_fault(f"{folder} could not be brought up to date", error) from error


@dataclass(frozen=True, slots=True)
class _Files:
    """The WARC files, how far the state knows each, and how far all that is derived."""

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
            path.unlink()  # it was begun, and no exchange came
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
