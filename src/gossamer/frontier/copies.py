"""How many pages are duplicates of another?

`policies/duplicates.py` gives each page a number, as it came last; of the pages that have the same
number all but one are copies. By default those are the same, byte for byte. `transfer/exports.py`
says which page is the first of them.

The numbers stand in META, and count when a crawl has ended. It adds
those of the pages it fetched, without looking at a page that was there before. Where that is not
enough (a page came again, the last run was killed, the state is of an older version) all
captures are walked over: some 2 microseconds for each page that was ever fetched. A table of
digests would cost a lookup and a write for every page.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterator, Sequence
from typing import Final

from gossamer.frontier.counts import Counts
from gossamer.frontier.meta_keys import COPIES_KEY, COPIES_PREFIX
from gossamer.frontier.pending import Pending
from gossamer.frontier.rows import CaptureRow
from gossamer.frontier.store import StateTable, Store, walk
from gossamer.policies.duplicates import Duplicates, ExactDuplicates
from gossamer.records import Report
from gossamer.urls.keys import KEY_BYTES

_FEW: Final = 200_000  # numbers that may be a set: 15 MB
_NUMBERS_A_ROW: Final = 2**17  # a megabyte
_MANY_NEW: Final = 8  # one in so many is new: then all are put in order
_LIKELY: Final = 2**20
_EXACT: Final = ExactDuplicates()


class CopyCounts:
    """Counts the copies of one collection. `begin` goes with that of a commit."""

    def __init__(
        self,
        store: Store,
        pending: Pending,
        counts: Counts,
        duplicates: Duplicates = _EXACT,
        *,
        is_empty: bool,
    ) -> None:
        """`is_empty`: there is nothing in the state yet."""
        self._duplicates = duplicates
        self._fingerprint = duplicates.fingerprint
        self._store = store
        self._pending = pending
        self._counts = counts
        sums = store.find(StateTable.META, COPIES_KEY) or b"0"
        self._stored = 0 if is_empty else int(sums.split()[0])  # numbers
        # Whether the numbers stored and those noted are of all pages, each as it came last.
        # Where nothing is counted they never are.
        is_whole = is_empty or sums == self._sums(self._stored)
        self._is_whole = is_whole and duplicates.is_counted
        # Of how many numbers, from the first on, the copies were counted, and what they were.
        self._judged, self._found = self._stored, counts.duplicates
        self._noted: array[int] = array("q")
        self._has_changed = False
        self._unwritten: array[int] | None = None

    def note(self, report: Report, *, is_first: bool) -> None:
        """A URL was fetched. `is_first`: it has no other capture."""
        self._has_changed = True
        self._is_whole = self._is_whole and is_first
        if not self._is_whole:
            return
        number = self._fingerprint(report.status, report.size_bytes, report.digest)
        if number is not None:
            self._noted.append(number)

    def doubt(self) -> None:
        """What is noted next may be of a URL that has other captures."""
        self._is_whole = False

    def count(self) -> int:
        """The pages, as committed, that are copies of others; the next commit keeps the numbers."""
        if not self._duplicates.is_counted:
            return 0
        copies = self._count_on() if self._is_whole else None
        if copies is None:
            self._stored, self._noted = 0, _numbers_of_all(self._store, self._duplicates)
            copies = _copies_in(array("q", self._noted))
        self._judged, self._found = self._stored + len(self._noted), copies
        self._unwritten, self._is_whole, self._has_changed = self._noted, True, False
        return copies

    def _count_on(self) -> int | None:
        """All copies, where those of the first numbers are known; None where some are missing."""
        rows = self._read()
        if rows is None:
            return None
        known: list[array[int]] = []
        new: array[int] = array("q")
        before = 0
        for numbers in (*rows, self._noted):
            cut = min(max(0, self._judged - before), len(numbers))
            known.append(numbers if cut == len(numbers) else numbers[:cut])
            new += numbers[cut:]
            before += len(numbers)
        if before <= _FEW or _MANY_NEW * len(new) > before:
            for numbers in known:
                new += numbers
            return _copies_in(new)
        return self._found + _copies_of(known, new)

    def begin(self) -> None:
        """What was noted is being written: the numbers are not those of all pages any more, unless
        they have been counted since."""
        if self._has_changed:
            self._pending.put(StateTable.META, COPIES_KEY, b"0")
            self._hold_few()
        elif self._unwritten is not None:
            for start in range(0, len(self._unwritten), _NUMBERS_A_ROW):
                row = self._unwritten[start : start + _NUMBERS_A_ROW]
                self._pending.put(StateTable.META, _row_key(self._stored + start), _bytes_of(row))
            self._stored += len(self._unwritten)
            self._noted, self._unwritten = array("q"), None
            self._pending.put(StateTable.META, COPIES_KEY, self._sums(self._stored))

    def _hold_few(self) -> None:
        """Full rows of what was noted go to the state ahead of time: while the sums are 0 nobody
        believes them. Of what must be walked over anyway nothing is held."""
        if not self._is_whole:
            self._noted = array("q")
        while len(self._noted) >= _NUMBERS_A_ROW:
            row = self._noted[:_NUMBERS_A_ROW]
            self._pending.put(StateTable.META, _row_key(self._stored), _bytes_of(row))
            self._stored += len(row)
            del self._noted[:_NUMBERS_A_ROW]

    def _sums(self, numbers: int) -> bytes:
        """An older version would add captures, and leave this row as it is: then it is not true."""
        counts = self._counts
        return b"%d %d %d" % (numbers, counts.fetched + counts.redirects, counts.size_bytes)

    def _read(self) -> list[array[int]] | None:
        """The numbers in the state, by rows; None where some are missing."""
        rows: list[array[int]] = []
        count = 0
        for key, row in walk(
            self._store, StateTable.META, COPIES_PREFIX, COPIES_PREFIX + b"\xff" * 9
        ):
            if key == _row_key(count) and count < self._stored:
                rows.append(_numbers_in(row))
                count += len(rows[-1])
        return rows if count == self._stored else None


def is_of_copies(key: bytes) -> bool:
    """Whether a row of META is one of these, and worth nothing in another state."""
    return key == COPIES_KEY or key.startswith(COPIES_PREFIX)


def count_copies(store: Store, few: int = _FEW, duplicates: Duplicates = _EXACT) -> int:
    """The pages in a state, as committed, that are copies of others, by a walk over all."""
    return _copies_in(_numbers_of_all(store, duplicates), few)


def _copies_in(numbers: array[int], few: int = _FEW) -> int:
    if len(numbers) <= few:
        return len(numbers) - len(set(numbers))
    import numpy as np  # a crawl without a graph has not loaded it: 50 ms

    ordered = np.frombuffer(numbers, np.int64)
    ordered.sort()  # in its place: of ten million pages a copy would be 80 MB
    return int(np.count_nonzero(ordered[1:] == ordered[:-1]))


def _copies_of(known: Sequence[array[int]], new: array[int]) -> int:
    """How many of the new numbers are among the known ones, or came before. Of the known ones most
    are told apart by twenty bits: in order they would take ten times as long."""
    if not new:
        return 0
    import numpy as np

    distinct = np.unique(np.frombuffer(new, np.int64))
    is_likely = np.zeros(_LIKELY, np.bool_)
    is_likely[distinct & (_LIKELY - 1)] = True
    is_known = np.zeros(len(distinct), np.bool_)
    for part in filter(None, known):
        numbers = np.frombuffer(part, np.int64)
        numbers = numbers[is_likely[numbers & (_LIKELY - 1)]]
        places = np.minimum(np.searchsorted(distinct, numbers), len(distinct) - 1)
        is_known[places[distinct[places] == numbers]] = True
    return len(new) - int(np.count_nonzero(~is_known))


def _numbers_of_all(store: Store, duplicates: Duplicates) -> array[int]:
    numbers = (duplicates.fingerprint(*_facts_of(row)) for row in _last_captures(store))
    return array("q", (number for number in numbers if number is not None))


def _last_captures(store: Store) -> Iterator[bytes]:
    """The newest capture of each URL; the table has them by URL and time."""
    key = newest = b""
    for name, row in walk(store, StateTable.CAPTURE):
        if name[:KEY_BYTES] != key and key:
            yield newest
        key, newest = name[:KEY_BYTES], row
    if key:
        yield newest


def _facts_of(capture: bytes) -> tuple[int, int, str]:
    """Status, size and digest."""
    row = CaptureRow.decode(capture)
    return row.status, row.size_bytes, row.digest


# -- rows of numbers


def _row_key(before: int) -> bytes:
    return COPIES_PREFIX + before.to_bytes(8, "big")


def _bytes_of(numbers: array[int]) -> bytes:
    return _in_order(numbers).tobytes()


def _numbers_in(row: bytes) -> array[int]:
    return _in_order(array("q", row[: len(row) // 8 * 8]))


def _in_order(numbers: array[int]) -> array[int]:
    """The bytes of numbers as rows have them, or the other way round."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
