"""Recover the work of a dead worker: archived but unreported exchanges, and unwritten links.

The worker's files are cut after their last whole exchange and synced, because no other process
syncs them. Then they are read as at a restart (`node/recovery.py`). One exchange is not read here:
the one that the worker was reading when it died. It may have killed the worker, and must not kill
the node. It becomes a `Leftover`, which another worker reads. If that one dies too, the exchange is
deadly, and its URL has failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.reader import Exchange, iter_exchanges
from gossamer.archive.recover import repair
from gossamer.records import Lease
from gossamer.workers.crash_marker import ExchangePosition, note_death
from gossamer.workers.guarded_reader import GuardedReader, deadly_result
from gossamer.workers.process import ProcessedPage
from gossamer.workers.worker import LinkGatherer


@dataclass(frozen=True, slots=True)
class Leftover:
    """An exchange whose reader died. Another worker will read it."""

    lease: Lease
    file: str
    start: int
    end: int
    is_reported: bool = False  # the report has arrived, only the links are missing

    @property
    def place(self) -> ExchangePosition:
        return self.file, self.start


@dataclass(frozen=True, slots=True)
class DeadWorker:
    """What the node knows about a dead worker."""

    run: Path  # folder of the markers
    archive: Path
    prefix: str  # first part of the names of its files
    reported: Mapping[str, int]  # file -> offset up to which exchanges are reported
    covered: Mapping[str, int]  # file -> offset up to which links are in a part
    leases: Mapping[int, Lease]
    reading: ExchangePosition | None  # the exchange it was reading when it died
    left: tuple[Leftover, ...] = ()  # exchanges of other workers that it was told to read


@dataclass(slots=True)
class CrashState:
    """The result, to be handled in the order of the fields. The links are in the gatherer."""

    processed_pages: list[ProcessedPage] = field(default_factory=list)
    left: list[Leftover] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)  # WARC files that have no CDXJ yet


def read_crash_state(dead: DeadWorker, reader: GuardedReader, gatherer: LinkGatherer) -> CrashState:
    """Read everything that a dead worker left. Raises DiskFault or CorruptFile."""
    crash_state = CrashState()
    for left in dead.left:
        _pass_on(dead, left, gatherer, crash_state)
    for path in sorted(dead.archive.glob(f"{dead.prefix}-*.warc.gz")):
        reported = dead.reported.get(path.name, 0)
        repair(path, reported)
        if not reported and next(iter_exchanges(path), None) is None:
            path.unlink()  # the file has no whole exchange
            continue
        if not cdxj_path(path).exists():
            crash_state.files.append(path)
        for exchange in iter_exchanges(path, min(reported, dead.covered.get(path.name, 0))):
            if exchange.stored.start < reported:
                gatherer.add(reader.read_exchange(exchange))
            else:
                _take(dead, exchange, reader, gatherer, crash_state)
    return crash_state


def _take(
    dead: DeadWorker,
    exchange: Exchange,
    reader: GuardedReader,
    gatherer: LinkGatherer,
    crash_state: CrashState,
) -> None:
    """Handle an exchange that was not reported."""
    lease, stored = dead.leases[exchange.lease.number], exchange.stored
    if dead.reading != (stored.file, stored.start):
        processed = reader.read_as(lease, exchange)
    elif not note_death(dead.run, dead.reading):
        crash_state.left.append(Leftover(lease, stored.file, stored.start, stored.end))
        return  # this is the last exchange of its file: a worker reads what it has just written
    else:
        processed = deadly_result(exchange, lease)
    gatherer.add(processed)
    crash_state.processed_pages.append(processed)


def _pass_on(
    dead: DeadWorker, left: Leftover, gatherer: LinkGatherer, crash_state: CrashState
) -> None:
    """Handle an exchange of another worker that this worker was told to read."""
    if dead.reading != left.place or not note_death(dead.run, left.place):
        crash_state.left.append(left)
        return
    exchange = next(iter_exchanges(dead.archive / left.file, left.start))
    processed = deadly_result(exchange, left.lease)
    gatherer.add(processed)
    if not left.is_reported:
        crash_state.processed_pages.append(processed)


def reported(left: Leftover) -> Leftover:
    """The same exchange, after its report has arrived. Its links are still missing."""
    return replace(left, is_reported=True)
