"""What sitemaps and feeds say of known pages: that one was changed, or is not listed any more.

A date later than the last visit is a hint that the page has changed, and so is a date that is later
than the one that the list gave before: many lists give days only, so that a second change on the
day of a visit could not be told by the first rule. A page that a sitemap has listed and does not
list any more may be gone. A feed forgets its entries, which says nothing.

A hint makes a visit urgent and nothing more: the visit finds out. Hints of dates are kept in the
rows, so that a kill loses none. What a list gave before is in memory only: 8 bytes a page.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gossamer.frontier.frontier import Frontier
from gossamer.node.visits.slot_table import SlotTable
from gossamer.policies.refresh.policy import RefreshPolicy
from gossamer.records import ListedUrl, Purpose, Report


class ListHints:
    """Hints for the pages of one crawl."""

    def __init__(self, frontier: Frontier, policy: RefreshPolicy, table: SlotTable) -> None:
        self._frontier = frontier
        self._policy = policy
        self._table = table
        self._sitemaps: dict[bytes, int] = {}  # numbers from 1, by key
        self._listed_by: NDArray[np.int32] = np.zeros(0, np.int32)  # number of a sitemap, by slot
        self._dates_s: NDArray[np.uint32] = np.zeros(0, np.uint32)  # that a list gave last

    def learn(self, report: Report) -> None:
        """A sitemap or a feed was read."""
        if not report.listed:
            return
        self._grow()
        known = [
            (slot, one) for one in report.listed if (slot := self._table.find(one.key)) is not None
        ]
        for slot, one in known:
            if one.modified_us:
                self._note_date(slot, one, report.at_us)
        if report.lease.purpose is Purpose.SITEMAP:
            slots = np.array([slot for slot, _ in known], np.int64)
            self._note_missing(report, slots)

    def _note_date(self, slot: int, listed: ListedUrl, read_us: int) -> None:
        date_s = listed.modified_us // 1_000_000
        before_s, self._dates_s[slot] = int(self._dates_s[slot]), min(date_s, 2**32 - 1)
        row = self._frontier.find(listed.key)
        if row is None or listed.modified_us <= row.hint_us:
            return
        if listed.modified_us > row.at_us or 0 < before_s < date_s:
            row.hint_us = listed.modified_us
            self._frontier.state.known.put(listed.key, row)
            self._policy.hint(slot, max(listed.modified_us, read_us) / 1e6)

    def _note_missing(self, report: Report, slots: NDArray[np.int64]) -> None:
        """Pages that this sitemap listed the last time, and not now, may be gone."""
        number = self._sitemaps.setdefault(report.lease.key, len(self._sitemaps) + 1)
        missing = np.setdiff1d(np.flatnonzero(self._listed_by == number), slots)
        self._listed_by[missing] = 0
        self._listed_by[slots] = number
        if len(missing):
            self._policy.hint(missing, report.at_us / 1e6)

    def _grow(self) -> None:
        if (size := self._table.size) > len(self._listed_by):
            room = max(1024, size + size // 2) - len(self._listed_by)
            self._listed_by = np.append(self._listed_by, np.zeros(room, np.int32))
            self._dates_s = np.append(self._dates_s, np.zeros(room, np.uint32))
