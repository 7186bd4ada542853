"""The one way to read an archived page: whatever it does to the parser, the caller goes on.

The live crawl, recovery, rebuild, forget and import all read pages through a `GuardedReader`.

    raises     the page has failed with the reason `crash`, and the detail says why
    kills      a marker on the disk names the page (`crash_marker.py`); after two deaths it is not
               read again, by anybody

A guard belongs to one run over an archive: it holds the marker and remembers which pages could not
be read, so that the run can name them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from gossamer.archive.reader import Exchange
from gossamer.archive.rewrite import Moved
from gossamer.base.clock import Clock
from gossamer.base.values import dataclass
from gossamer.records import Answer, Lease, Purpose, Stored
from gossamer.workers.crash_marker import CrashMarker, Place, marked, read_deadly
from gossamer.workers.process import PageProcessor, ProcessedPage, crashed

DEADLY: Final = "it killed two processes that read it"


@dataclass(frozen=True, slots=True)
class UnreadPage:
    """A page that could not be read, and why."""

    url: str
    why: str


class GuardedReader:
    """Reads pages. A fault of ours on one page becomes that page's outcome, and nobody else's."""

    def __init__(
        self,
        processor: PageProcessor,
        marker: CrashMarker | None = None,
        deadly: frozenset[Place] = frozenset(),
        unread: dict[Place, UnreadPage] | None = None,
        folder: str = "",
    ) -> None:
        """`deadly` are not read. `unread` collects the pages that could not be read. `folder`
        stands before the names of files, where they are not those of the archive."""
        self._harvester = processor
        self._marker = marker
        self._deadly = deadly
        self._unread = unread
        self._folder = folder

    def read(self, lease: Lease, answer: Answer, stored: Stored) -> ProcessedPage:
        """What an answer means. Never raises."""
        file = self._folder + stored.file
        if (file, stored.start) in self._deadly:
            return self._failed(lease, answer, stored, DEADLY)
        if self._marker is not None:
            self._marker.set(file, stored.start)
        try:
            return self._harvester.processed(lease, answer, stored)
        except Exception as fault:  # noqa: BLE001  # the archive has the page; its outcome says why
            return self._failed(lease, answer, stored, repr(fault))
        finally:
            if self._marker is not None:
                self._marker.clear()

    def read_exchange(self, exchange: Exchange) -> ProcessedPage:
        """The same for an exchange of the archive.

        The key that stands in the archive is not believed: where the state was lost with the salt,
        the collection has another one.
        """
        lease = exchange.lease
        if lease.purpose is Purpose.PAGE or not lease.source:
            key = self._harvester.key_of(lease.url)
            lease = lease if lease.key == key else replace(lease, key=key)
        return self.read(lease, exchange.answer, exchange.stored)

    def _failed(self, lease: Lease, answer: Answer, stored: Stored, why: str) -> ProcessedPage:
        if self._unread is not None:
            self._unread[stored.file, stored.start] = UnreadPage(lease.url, why)
        return ProcessedPage(crashed(lease, answer, stored, why))


def deadly_harvest(exchange: Exchange, lease: Lease) -> ProcessedPage:
    """The outcome of an exchange that is deadly, and is not read."""
    return ProcessedPage(crashed(lease, exchange.answer, exchange.stored, DEADLY))


class Guard:
    """What the readers of one run over the archive share."""

    def __init__(self, marker: CrashMarker, deadly: frozenset[Place], folder: str = "") -> None:
        self._marker = marker
        self._deadly = deadly
        self._folder = folder
        self._unread: dict[Place, UnreadPage] = {}

    def reader(self, processor: PageProcessor) -> GuardedReader:
        return GuardedReader(processor, self._marker, self._deadly, self._unread, self._folder)

    @property
    def unread(self) -> list[UnreadPage]:
        """The pages that could not be read so far, each once."""
        return list(self._unread.values())


@contextmanager
def guarding(run: Path, name: str, clock: Clock) -> Iterator[Guard]:
    """A guard for a run called `name`. The caller holds the lock. Raises DiskFault.

    `run` is the folder of the markers.
    """
    deadly = read_deadly(run)
    with marked(_marker_path(run, name, clock)) as marker:
        yield Guard(marker, deadly)


@contextmanager
def guarding_copy(
    run: Path, name: str, clock: Clock, folder: str, moved: Mapping[str, Moved]
) -> Iterator[Guard]:
    """The same for a copy of the archive that is under way in `folder`; `moved` says where its
    exchanges lie there. The copy has its own deaths: it may never take the archive's place."""
    known = read_deadly(run)
    deadly = {(f"{folder}/{place[0]}", place[1]) for place in map(partial(new_place, moved), known)}
    with marked(_marker_path(run, name, clock)) as marker:
        yield Guard(marker, known | deadly, f"{folder}/")


def new_place(moved: Mapping[str, Moved], place: Place) -> Place:
    """Where an exchange lies after its file was written again."""
    file, start = place
    return (file, moved[file].place(start, 0)[0]) if file in moved else place


def _marker_path(run: Path, name: str, clock: Clock) -> Path:
    return run / f"marker-{clock.wall_us() // 1000:x}-{name}"
