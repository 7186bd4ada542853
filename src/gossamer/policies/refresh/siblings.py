"""A change of one page says something about its siblings: pages of a directory change together.

An event is a change that was seen on a page of a group, at the time m at which the page changed. A
sibling that was last visited before m has changed at the same moment with probability p. That
multiplies the probability that its copy is fresh by 1 - p, and so adds the hazard -log(1 - p).

p is learned by visits. The first visit of a sibling after an event is a trial, and most events
concern one page alone: p0 is about 0.06 on a manual of 20,000 pages. After k siblings with the same
change and v siblings without it (Beta distribution),

    p = (s p0 + k) / (s + k + v)          s = 6

so that the third sibling of a large edit is expected with 0.27, the sixth with 0.5. Each group
learns its own p0 the same way, from the p0 of all groups.

The last four events of a group are kept. Two changes are one event if they are less than a
thousandth of the mean interval between changes apart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gossamer.policies.refresh.pages import EVENTS, PageTable
from gossamer.policies.refresh.policy import Flags, Floats, Slots

_STRENGTH = 6.0  # s: how many siblings it takes to change the mind about an event
_GROUP_STRENGTH = 20.0  # the same about a group
NEAR = 0.001  # of the mean interval between changes
_MEMORY = 1000.0  # trials after which a trial counts 1/e, for p0 of all groups


class SiblingEvents:
    """The events of the groups of a table, and how often siblings share them."""

    def __init__(self, pages: PageTable) -> None:
        self._pages = pages
        self._shared = 3.0  # trials of all groups in which the sibling had the same change
        self._trials = 50.0
        self.new_rows: list[int] = []  # of groups with events that nobody has looked at yet

    def figures(self) -> dict[str, float]:
        """What is known of all groups together."""
        return {"shared": self._shared, "trials": self._trials}

    def restore_figures(self, figures: Mapping[str, float]) -> None:
        """Take over the figures of an earlier run."""
        self._shared = figures.get("shared", self._shared)
        self._trials = figures.get("trials", self._trials)

    def hazard(self, slots: Slots) -> Floats:
        """What the events since the last visit of each page add to its expected changes."""
        pages = self._pages
        rows, last_s = pages.group[slots].astype(np.int64) + 1, pages.last_s[slots]
        # Each group is evaluated once if there are fewer groups than pages.
        is_few = len(pages.group_shared) < len(slots)
        groups: Slots = np.arange(len(pages.group_shared), dtype=np.int64) if is_few else rows
        back = rows if is_few else np.arange(len(rows))
        base = _STRENGTH * self._base(groups)
        hazard = np.zeros(len(slots))
        for event in range(EVENTS):
            k, v = pages.event_shared[event][groups], pages.event_not_shared[event][groups]
            added = -np.log1p(-(base + k) / (_STRENGTH + k + v))
            hazard += np.where(last_s < pages.event_s[event][rows], added[back], 0.0)
        return hazard

    def learn(
        self, slots: Slots, is_changed: Flags, span: tuple[Floats, Floats], near_s: float
    ) -> None:
        """The pages were visited, and `last_s` is still the time of the visit before. A changed
        page was changed last within its `span`, two equal times where the time is known."""
        first_s = np.where(is_changed, span[0] - near_s, -np.inf)
        last_s = np.where(is_changed, span[1] + near_s, -np.inf)
        is_open = is_changed.copy()
        for event in range(EVENTS):
            is_open &= ~self._compare(event, slots, first_s, last_s)
        changed_s = (span[0] + span[1]) / 2
        for at in np.flatnonzero(is_open)[np.argsort(changed_s[is_open], kind="stable")]:
            row = int(self._pages.group[slots[at]]) + 1
            if row:
                self.add(row, float(changed_s[at]), near_s)

    def _compare(self, event: int, slots: Slots, first_s: Floats, last_s: Floats) -> Flags:
        """Compare pages with one event of their groups; which pages have it.

        A page that changed later than the event says nothing: only its last change is known.
        """
        pages = self._pages
        rows = pages.group[slots] + 1
        event_s = pages.event_s[event][rows]
        is_trial = (pages.last_s[slots] < event_s) & (first_s <= event_s)
        is_shared: Flags = is_trial & (event_s <= last_s)
        shared, not_shared = pages.event_shared[event], pages.event_not_shared[event]
        if event == 0:
            is_first = is_trial & (shared[rows] + not_shared[rows] == 0)
            self._count(rows[is_first], is_shared[is_first])
        np.add.at(shared, rows[is_shared], 1)
        np.add.at(not_shared, rows[is_trial & ~is_shared], 1)
        return is_shared

    def _count(self, rows: Slots, is_shared: Flags) -> None:
        kept = np.exp(-len(rows) / _MEMORY)
        self._shared = self._shared * kept + float(is_shared.sum())
        self._trials = self._trials * kept + len(rows)
        np.add.at(self._pages.group_shared, rows, is_shared)
        np.add.at(self._pages.group_trials, rows, 1)

    def _base(self, rows: Slots) -> Floats:
        """p0 of groups."""
        pages, mean = self._pages, self._shared / self._trials
        shared = _GROUP_STRENGTH * mean + pages.group_shared[rows]
        return shared / (_GROUP_STRENGTH + pages.group_trials[rows])

    def add(self, row: int, changed_s: float, near_s: float) -> None:
        """Note an event, if it is among the newest of its group and not yet known."""
        pages = self._pages
        times = pages.event_s[:, row]
        place = int((times > changed_s).sum())
        if place >= EVENTS or (np.abs(times - changed_s) <= near_s).any():
            return
        for column in (pages.event_s, pages.event_shared, pages.event_not_shared):
            column[place + 1 :, row] = column[place:-1, row].copy()
        self.new_rows.append(row)
        pages.event_s[place, row] = changed_s
        pages.event_shared[place, row] = pages.event_not_shared[place, row] = 0
