"""Read archived pages so that a page that breaks the parser does not stop the caller.

The live crawl, recovery, rebuild, forget and import all read pages through a `GuardedReader`. If
reading a page

    raises     the page has failed with the reason `crash`, and the detail says why
    kills      a marker on disk names the page (`crash_marker.py`); after two deaths no process
               reads it again

A guard belongs to one pass over an archive. It holds the marker and collects the pages that could
not be read, so that the caller can list them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import structs

from gossamer.archive.reader import Exchange
from gossamer.archive.rewrite import Moved
from gossamer.base.clock import Clock
from gossamer.records import Answer, Fetched, Lease, Purpose, Stored
from gossamer.workers.crash_marker import CrashMarker, ExchangePosition, marked, read_deadly
from gossamer.workers.process import PageProcessor, ProcessedPage, crashed
from gossamer.workers.repeated import RepeatedBody, repeated_in, unchanged_report

DEADLY: Final = "it crashed two processes that read it"


@dataclass(frozen=True, slots=True)
class UnreadPage:
    """A page that could not be read, with the reason."""

    url: str
    why: str


class GuardedReader:
    """Reads pages. An error of our code on one page becomes the outcome of that page alone."""

    def __init__(
        self,
        processor: PageProcessor,
        marker: CrashMarker | None = None,
        deadly: frozenset[ExchangePosition] = frozenset(),
        unread: dict[ExchangePosition, UnreadPage] | None = None,
        folder: str = "",
    ) -> None:
        """Pages in `deadly` are not read. `unread` collects the pages that could not be read.
        `folder` is put before file names, for files outside the archive.
        """
        self._processor = processor
        self._marker = marker
        self._deadly = deadly
        self._unread = unread
        self._folder = folder
        # Says where the previous version of a page lies, which the archive does not.
        self.locate: Callable[[Lease], Lease] | None = None

    def read(
        self, lease: Lease, answer: Answer, stored: Stored, repeated: RepeatedBody | None = None
    ) -> ProcessedPage:
        """Turn a response into a report. Never raises. One that repeats the stored version is not
        parsed."""
        if repeated is not None and isinstance(answer, Fetched):
            return ProcessedPage(unchanged_report(lease, answer, stored, repeated))
        file = self._folder + stored.file
        if (file, stored.start) in self._deadly:
            return self._failed(lease, answer, stored, DEADLY)
        if self._marker is not None:
            self._marker.set(file, stored.start)
        try:
            return self._processor.processed(lease, answer, stored)
        except Exception as fault:  # noqa: BLE001  # the archive has the page; its outcome says why
            return self._failed(lease, answer, stored, repr(fault))
        finally:
            if self._marker is not None:
                self._marker.clear()

    def read_exchange(self, exchange: Exchange) -> ProcessedPage:
        """Do the same for an exchange of the archive.

        The key is computed again and the archived key is ignored: if the state was lost with its
        salt, the collection has a new salt.
        """
        lease = exchange.lease
        if lease.purpose is Purpose.PAGE or not lease.source:
            key = self._processor.key_of(lease.url)
            lease = lease if lease.key == key else structs.replace(lease, key=key)
        if lease.previous is not None and self.locate is not None:
            lease = self.locate(lease)
        return self.read_as(lease, exchange)

    def read_as(self, lease: Lease, exchange: Exchange) -> ProcessedPage:
        """Do the same with the lease by which it was requested."""
        return self.read(lease, exchange.answer, exchange.stored, repeated_in(exchange))

    def _failed(self, lease: Lease, answer: Answer, stored: Stored, why: str) -> ProcessedPage:
        if self._unread is not None:
            self._unread[stored.file, stored.start] = UnreadPage(lease.url, why)
        return ProcessedPage(crashed(lease, answer, stored, why))


def deadly_result(exchange: Exchange, lease: Lease) -> ProcessedPage:
    """The outcome of a deadly exchange, which is not read."""
    return ProcessedPage(crashed(lease, exchange.answer, exchange.stored, DEADLY))


class CrashGuard:
    """State shared by all readers of one pass over the archive."""

    def __init__(
        self, marker: CrashMarker, deadly: frozenset[ExchangePosition], folder: str = ""
    ) -> None:
        self._marker = marker
        self._deadly = deadly
        self._folder = folder
        self._unread: dict[ExchangePosition, UnreadPage] = {}

    def reader(self, processor: PageProcessor) -> GuardedReader:
        return GuardedReader(processor, self._marker, self._deadly, self._unread, self._folder)

    @property
    def unread(self) -> list[UnreadPage]:
        """The pages that could not be read so far, each once."""
        return list(self._unread.values())


@contextmanager
def guarding(run: Path, name: str, clock: Clock) -> Iterator[CrashGuard]:
    """Provide a guard for a pass called `name`. The caller holds the lock. Raises DiskFault.

    `run` is the folder of the markers.
    """
    deadly = read_deadly(run)
    with marked(_marker_path(run, name, clock)) as marker:
        yield CrashGuard(marker, deadly)


@contextmanager
def guarding_copy(
    run: Path, name: str, clock: Clock, folder: str, moved: Mapping[str, Moved]
) -> Iterator[CrashGuard]:
    """Provide a guard for a copy of the archive being written in `folder`. `moved` maps exchanges
    to their new places. Deaths are counted for the copy alone, because it may never replace the
    archive.
    """
    known = read_deadly(run)
    deadly = {(f"{folder}/{place[0]}", place[1]) for place in map(partial(new_place, moved), known)}
    with marked(_marker_path(run, name, clock)) as marker:
        yield CrashGuard(marker, known | deadly, f"{folder}/")


def new_place(moved: Mapping[str, Moved], place: ExchangePosition) -> ExchangePosition:
    """The place of an exchange after its file was rewritten."""
    file, start = place
    return (file, moved[file].place(start, 0)[0]) if file in moved else place


def _marker_path(run: Path, name: str, clock: Clock) -> Path:
    return run / f"marker-{clock.wall_us() // 1000:x}-{name}"
