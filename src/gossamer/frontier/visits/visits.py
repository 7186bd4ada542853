"""Ask for another visit of a fetched page, and say what its lease needs to know."""

from __future__ import annotations

from msgspec import structs

from gossamer.frontier.rows import Standing
from gossamer.frontier.state import State
from gossamer.frontier.url_queues import UrlQueues
from gossamer.records import Lease, Previous


class Visits:
    """Visits of fetched pages, before they are requested."""

    def __init__(self, state: State, queues: UrlQueues) -> None:
        self._known = state.known
        self._captures = state.captures
        self._queues = queues

    def visit_again(self, key: bytes) -> bool:
        """Put a fetched page into its host's queue; it keeps its outcome. False if it waits
        already, or was never fetched."""
        row = self._known.find(key)
        if row is None or row.standing != Standing.FETCHED or row.waits:
            return False
        row.tries = 0
        self._queues.enqueue_visit(row, key)
        self._known.put(key, row)
        return True

    def previous(self, key: bytes) -> Previous | None:
        """The stored version of a fetched page; None if the state has none."""
        row = self._known.find(key)
        if row is None or row.standing != Standing.FETCHED:
            return None
        capture = self._captures.find(key, row.version_us)
        if capture is None:
            return None
        is_whole = not row.is_cut  # a part of a body is no version to compare with
        return Previous(
            row.version_us, capture.digest, capture.status, row.etag if is_whole else "",
            row.modified_at if is_whole else "", capture.file, capture.offset,
        )  # fmt: skip

    def locate(self, lease: Lease) -> Lease:
        """A lease of the archive, with the place of the previous version if the state has it."""
        previous = lease.previous
        capture = self._captures.find(lease.key, previous.at_us) if previous else None
        if previous is None or capture is None:
            return lease
        place = structs.replace(previous, file=capture.file, offset=capture.offset)
        return structs.replace(lease, previous=place)
