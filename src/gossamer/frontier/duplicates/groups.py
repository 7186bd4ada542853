"""Duplicates by groups: the page that was fetched first stays, the others point to it.

`policies/duplicates.py` says to which group a page belongs, as it came last. The table SKETCH has
for each group the first page and when it was fetched. A page joins its group when it is fetched, in
the same commit, and leaves it when another version or outcome takes its place. If the first page
leaves, the next one becomes the first. So the rows depend on the pages alone, not on the order in
which they came: rebuilding the state gives the same.

Pages that are compared instead (`html95`) have no group. Their sketches wait in the same table, by
the moment of the fetch, for `node/duplicates/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gossamer.frontier.counts import Counts
from gossamer.frontier.duplicates.pointers import Fetch, Pointers
from gossamer.frontier.meta_keys import DUPLICATES_KEY, JUDGED_KEY
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import DuplicateRow, UrlRow
from gossamer.frontier.store import StateTable, Store
from gossamer.policies.duplicates import HTML, TEXT, Duplicates
from gossamer.records import Report

PAGE: Final = b"p"  # before the key of a page whose group its row cannot tell
SKETCHED: Final = b"t"  # before the moment and the key of a page that is compared
AGAIN: Final = b"w"  # the same for a page to judge again, or that has left
_FEW: Final = 100_000  # groups whose names are held in memory, at 100 bytes each


class DuplicateGroups:
    """The groups of one collection."""

    def __init__(
        self,
        store: Store,
        pending: Pending,
        counts: Counts,
        policy: Duplicates,
        *,
        is_empty: bool,
    ) -> None:
        """`is_empty`: there is nothing in the state yet."""
        self._pending = pending
        self._policy = policy
        self.pointers = Pointers(store, pending, counts)
        # Pages fetched up to this moment were compared with earlier ones, or are about to be.
        self.judged_us = int.from_bytes(store.find(StateTable.META, JUDGED_KEY) or b"", "big")
        # All groups while they are few and the collection is new: then the store is not asked.
        self._known: set[bytes] | None = set() if is_empty else None
        if is_empty:
            self.set_made()

    @property
    def is_current(self) -> bool:
        """Whether the tables were made in the mode of this run."""
        made = self._pending.find(StateTable.META, DUPLICATES_KEY)
        return made == made_by(self._policy)

    def set_made(self) -> None:
        """The tables hold all pages by the mode of this run."""
        self._pending.put(StateTable.META, DUPLICATES_KEY, made_by(self._policy))

    def join(self, report: Report) -> None:
        """A page was fetched."""
        self.join_as(Fetch(report.at_us, report.lease.key), report, report.sketch)

    def join_as(self, page: Fetch, facts: Report | UrlRow, sketch: bytes) -> None:
        """Do the same where the report is not at hand, but the row and the sketch are."""
        if sketch[:1] == HTML and facts.status == 200:
            self._wait(page, sketch[1:])
            return
        group = self._policy.group(facts.status, facts.size_bytes, facts.digest, sketch)
        if group:
            if group[:1] == TEXT:
                self._pending.put(StateTable.SKETCH, PAGE + page.key, group)
            self.join_group(page, group)

    def join_group(self, page: Fetch, group: bytes) -> None:
        """A page belongs to this group."""
        known = self._known
        if known is not None and group not in known:
            known.add(group)
            if len(known) > _FEW:
                self._known = None
            self._pending.put(StateTable.SKETCH, group, page.encode())
            return
        row = self._pending.find(StateTable.SKETCH, group)
        first = Fetch.decode(row) if row else page
        if page <= first:
            self._pending.put(StateTable.SKETCH, group, page.encode())
        if page < first:
            self._lead(page, [first, *self.pointers.others(first.key)])
        elif first < page:
            self.pointers.point(page, DuplicateRow(first.key, self._policy.mode))

    def leave(self, key: bytes, row: UrlRow) -> None:
        """The version of a page that its row tells is not the present one any more."""
        was_duplicate = self.pointers.remove(key)
        name = self._pending.find(StateTable.SKETCH, PAGE + key)
        if name:
            self._pending.delete(StateTable.SKETCH, PAGE + key)
        group = name or self._policy.group(row.status, row.size_bytes, row.digest, b"")
        if group and not was_duplicate:
            self._leave_group(key, group)
        page = Fetch(row.body_us or row.at_us, key)
        if self._pending.find(StateTable.SKETCH, SKETCHED + page.encode()) is not None:
            self._pending.delete(StateTable.SKETCH, SKETCHED + page.encode())
            self._pending.put(StateTable.SKETCH, AGAIN + page.encode(), b"")

    def _leave_group(self, key: bytes, group: bytes) -> None:
        row = self._pending.find(StateTable.SKETCH, group)
        if not row or Fetch.decode(row).key != key:
            return
        others = self.pointers.others(key)
        if not others:
            self._pending.delete(StateTable.SKETCH, group)
            return
        self._pending.put(StateTable.SKETCH, group, others[0].encode())
        self._lead(others[0], others)

    def _lead(self, first: Fetch, pages: list[Fetch]) -> None:
        """The pages of a group point to this one."""
        self.pointers.remove(first.key)
        for page in pages:
            if page.key != first.key:
                self.pointers.point(page, DuplicateRow(first.key, self._policy.mode))

    def apply(self, judged_us: int, verdicts: Iterable[tuple[Fetch, DuplicateRow | None]]) -> None:
        """Pages were compared up to a moment: None for a page that is no duplicate. A page that has
        left meanwhile is passed over; another pass judges its new version."""
        for page, row in verdicts:
            if self._pending.find(StateTable.SKETCH, SKETCHED + page.encode()) is None:
                continue
            if row is None:
                self.pointers.remove(page.key)
            elif self.pointers.find(page.key) != row:
                self.pointers.point(page, row)
        self.judged_us = max(self.judged_us, judged_us)
        self._pending.put(StateTable.META, JUDGED_KEY, judged_us.to_bytes(8, "big"))

    def settle_again(self, pages: Iterable[tuple[Fetch, bool]]) -> None:
        """Pages that came out of order were judged, or were not there. If that has changed
        meanwhile, another pass judges them."""
        for page, was_there in pages:
            name = page.encode()
            is_there = self._pending.find(StateTable.SKETCH, SKETCHED + name) is not None
            if is_there == was_there:
                self._pending.delete(StateTable.SKETCH, AGAIN + name)

    def _wait(self, page: Fetch, sketch: bytes) -> None:
        self._pending.put(StateTable.SKETCH, SKETCHED + page.encode(), sketch)
        if page.at_us <= self.judged_us:
            self._pending.put(StateTable.SKETCH, AGAIN + page.encode(), b"")


def made_by(policy: Duplicates) -> bytes:
    """What META says of tables that were made by this policy. The number is that of the format."""
    threshold = f" {policy.threshold:g}" if policy.mode == "html95" else ""
    return f"{policy.mode}{threshold} 1".encode()
