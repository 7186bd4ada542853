"""What did a dead worker leave? Exchanges that it archived and did not report, links unwritten.

Its files are cut behind their last whole exchange and put on the disk, for nobody syncs them any
more; then they are read as a restart reads them (`recovery.py`). One exchange is not read here: the
one that the worker was reading when it died. It may have killed it, and the node must live. It is
`Leftover` for another worker; when it has killed that one, too, it is deadly and has failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.reader import Exchange, iter_exchanges
from gossamer.archive.recover import repair
from gossamer.base.values import dataclass
from gossamer.records import Lease
from gossamer.workers.crash_marker import Place, note_death
from gossamer.workers.guarded_reader import GuardedReader, deadly_harvest
from gossamer.workers.process import ProcessedPage
from gossamer.workers.worker import LinkGatherer


@dataclass(frozen=True, slots=True)
class Leftover:
    """An exchange whose reader died; another worker is to read it."""

    lease: Lease
    file: str
    start: int
    end: int
    is_reported: bool = False  # only its links are missing

    @property
    def place(self) -> Place:
        return self.file, self.start


@dataclass(frozen=True, slots=True)
class DeadWorker:
    """A dead worker as its node knew it."""

    run: Path  # the folder of the markers
    archive: Path
    prefix: str  # with which the names of its files begin
    reported: Mapping[str, int]  # up to which byte of each file
    covered: Mapping[str, int]  # up to which byte links are in a part
    leases: Mapping[int, Lease]
    reading: Place | None  # when it died
    left: tuple[Leftover, ...] = ()  # what it was to read of others


@dataclass(slots=True)
class CrashState:
    """What is to be done with it, in this order; links are with the gatherer."""

    harvests: list[ProcessedPage] = field(default_factory=list)
    left: list[Leftover] = field(default_factory=list)
    files: list[Path] = field(default_factory=list)  # that nobody has indexed


def read_crash_state(dead: DeadWorker, reader: GuardedReader, gatherer: LinkGatherer) -> CrashState:
    """Read all that a dead worker left. Raises DiskFault or CorruptFile."""
    crash_state = CrashState()
    for left in dead.left:
        _pass_on(dead, left, gatherer, crash_state)
    for path in sorted(dead.archive.glob(f"{dead.prefix}-*.warc.gz")):
        reported = dead.reported.get(path.name, 0)
        repair(path, reported)
        if not reported and next(iter_exchanges(path), None) is None:
            path.unlink()  # it was begun, and no exchange came
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
    """An exchange that was not reported."""
    lease, stored = dead.leases[exchange.lease.number], exchange.stored
    if dead.reading != (stored.file, stored.start):
        processed = reader.read(lease, exchange.answer, stored)
    elif not note_death(dead.run, dead.reading):
        crash_state.left.append(Leftover(lease, stored.file, stored.start, stored.end))
        return  # it is the last of its file: a worker reads what it has just written
    else:
        processed = deadly_harvest(exchange, lease)
    gatherer.add(processed)
    crash_state.harvests.append(processed)


def _pass_on(
    dead: DeadWorker, left: Leftover, gatherer: LinkGatherer, crash_state: CrashState
) -> None:
    """An exchange of another that this worker was to read."""
    if dead.reading != left.place or not note_death(dead.run, left.place):
        crash_state.left.append(left)
        return
    exchange = next(iter_exchanges(dead.archive / left.file, left.start))
    processed = deadly_harvest(exchange, left.lease)
    gatherer.add(processed)
    if not left.is_reported:
        crash_state.harvests.append(processed)


def reported(left: Leftover) -> Leftover:
    """The same, when its report has come and its links have not."""
    return replace(left, is_reported=True)
