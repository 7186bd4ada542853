"""Give queued URLs new places: their scores have changed since they were queued."""

from __future__ import annotations

from collections.abc import Callable

from gossamer.frontier.rows import QueueEntry, UrlRow
from gossamer.frontier.state import State
from gossamer.frontier.url_queues import UrlQueues


class Rescoring:
    """Moves entries within the queues of their hosts."""

    def __init__(self, state: State, queues: UrlQueues) -> None:
        self._counts = state.counts
        self._known = state.known
        self._queues = queues

    def rescore(self, host_key: bytes, place_for: Callable[[QueueEntry], bytes]) -> int:
        """Give every queued entry of a host the place that `place_for` says; how many moved.

        No two entries may get the same place. What is leased stays as it is.
        """
        moved: list[tuple[UrlRow, QueueEntry, bytes]] = []
        for old, entry in self._queues.free_entries(host_key):
            place = place_for(entry)
            row = self._known.find(entry.key) if place != old else None
            if row is not None and row.place == old:
                moved.append((row, entry, place))
        for row, _, _ in moved:  # all leave before any comes: one may take another's place
            self._queues.drop_place(row.place, host_key)
        for row, entry, place in moved:
            row.place = place
            self._counts.queued += 1
            self._queues.add_entry(place, entry)
            self._known.put(entry.key, row)
        return len(moved)
