"""The queues of all hosts: entries come, are handed out, come back and leave.

`host_queue.py` is the queue of one host. Here each change of an entry also changes the sums, the
row of its host and the table QUEUE. Pages that wait for another visit are in queues of their own
(`visits/visit_queues.py`), which take turns with these. With an order by value, `selection/` says
which entry of a host comes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from gossamer.frontier.host_queue import HostQueue
from gossamer.frontier.host_table import HOST_BYTES
from gossamer.frontier.levels.level import Level
from gossamer.frontier.link_counts import LinkCounts
from gossamer.frontier.meta_keys import NUMBER_KEY
from gossamer.frontier.rows import (
    HostRow,
    QueueEntry,
    Standing,
    UrlRow,
    keep_history,
    queued,
    start_of,
)
from gossamer.frontier.state import State
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.visit_queues import VisitQueues
from gossamer.policies.named_order import PluginOrder
from gossamer.policies.order import (
    NEUTRAL_RELEVANCE,
    Candidate,
    Order,
    is_fixed,
    priority_key,
    with_level,
    with_score,
)
from gossamer.records import Found, Report

if TYPE_CHECKING:  # it loads NumPy
    from gossamer.frontier.selection.selection import Selection

_made: Final = tuple.__new__  # half the time of a call of `Candidate`
_NO_TEXTS: Final = "", ""


class UrlQueues:
    """The queued URLs of one collection, by host and by place."""

    def __init__(self, state: State, order: Order, selection: Selection | None = None) -> None:
        """`order` gives the places on disk. With a `selection` they count only for URLs of which
        it knows nothing."""
        self._store = state.store
        self._pending = state.pending
        self._hosts = state.hosts
        self._known = state.known
        self._counts = state.counts
        self._duplicates = state.duplicates
        self._tally = state.tally
        self._order = order
        self._is_fixed = is_fixed(order)
        self._number = int.from_bytes(state.store.find(StateTable.META, NUMBER_KEY) or b"", "big")
        self.awake = set(state.hosts.rows)  # hosts that got work since `take_awake`
        self._moved: set[bytes] = set()
        self._links = LinkCounts() if order.uses_link_counts else None
        self._selection = selection
        self._peeked = b"", b""  # the key of a URL that was looked up last, and its place
        # Anchor and context of the links of the page that is admitted now, by the keys of targets.
        self._texts: dict[bytes, tuple[str, str]] = {}
        self._uses_texts = isinstance(order, PluginOrder) and order.uses_anchors
        self.visits = VisitQueues(state, self._first_new, self._take_new)

    # -- handing out

    def take_awake(self) -> set[bytes]:
        """Hosts that got work since the last call."""
        awake, self.awake = self.awake, set()
        return awake

    def take_moved(self) -> set[bytes]:
        """Hosts whose queued URLs changed places since the last call: another may come first."""
        moved, self._moved = self._moved, set()
        return moved if self._selection is None else moved | self._selection.take_moved()

    def first_place(self, host_key: bytes) -> bytes | None:
        """The place of the entry that `take` would give."""
        if self._selection is not None and not self.visits.matters:
            place = self._selection.first_place(host_key)
            if place is not None:
                return place
        first = self._first(host_key)
        return first[0] if first else None

    def peek(self, host_key: bytes) -> tuple[bytes, QueueEntry] | None:
        """The place and entry that `take` would give."""
        first = self._first(host_key)
        return (first[0], QueueEntry.decode(first[1])) if first else None

    def _first(self, host_key: bytes) -> tuple[bytes, bytes] | None:
        if self.visits.matters:
            return self.visits.first(host_key)
        return self._first_new(host_key)

    def _first_new(self, host_key: bytes) -> tuple[bytes, bytes] | None:
        """The place and packed entry of the new URL of a host that comes first."""
        if self._selection is None:
            return self._hosts.queue(host_key).first(self._store, self._pending)
        key = self._selection.first(host_key)
        if key is not None:
            place = self._selection.first_place(host_key) or b""
            return place, self._packed_entry(key)
        first = self._hosts.queue(host_key).first(self._store, self._pending)
        return (self._selection.place_on_disk(first[0]), first[1]) if first else None

    def _packed_entry(self, key: bytes) -> bytes:
        """The entry of a URL that stands in the queue of its host."""
        place = self._place_of(key)
        self._peeked = key, place
        packed = self._pending.find(StateTable.QUEUE, key[:HOST_BYTES] + place)
        assert packed is not None, "it has a place"
        return packed

    def _place_of(self, key: bytes) -> bytes:
        if self._peeked[0] == key:
            return self._peeked[1]
        row = self._pending.find(StateTable.URL, key)
        assert row is not None, "only a known URL is queued"
        return start_of(row).place

    def take(self, host_key: bytes) -> None:
        """Take what `peek` showed. It stays on disk until it is reported."""
        if self.visits.matters:
            self.visits.take(host_key)
        else:
            self._take_new(host_key)

    def _take_new(self, host_key: bytes) -> None:
        """Take what `_first_new` showed."""
        queue = self._hosts.queue(host_key)
        if self._selection is None:
            queue.take()
            return
        key = self._selection.first(host_key)
        if key is None:
            key = QueueEntry.decode(queue.take()[1]).key
        else:
            queue.take_at(self._place_of(key))
        self._selection.taken(key)

    def give_back(self, entry: QueueEntry) -> None:
        """A lease came to nothing: the entry is queued as before."""
        row = self._known.find(entry.key)
        if row is not None and row.place:
            entry = entry._replace(is_visit=row.standing == Standing.FETCHED)
            self._queue_of(row, entry.key).give_back(row.place, entry.encode())
            if self._selection is not None and not entry.is_visit:
                self._selection.given_back(entry.key)
            self.awake.add(entry.key[:HOST_BYTES])

    def _queue_of(self, row: UrlRow, key: bytes) -> HostQueue:
        """The queue in which a URL stands: that of new URLs, or of visits."""
        is_visit = row.standing == Standing.FETCHED
        return (self._hosts.visit_queue if is_visit else self._hosts.queue)(key[:HOST_BYTES])

    def drain(self, host_key: bytes) -> Iterator[QueueEntry]:
        """Take every entry of a host, each to be refused or failed by the caller at once."""
        while (first := self.peek(host_key)) is not None:
            self.take(host_key)
            yield first[1]

    def is_leased(self, row: UrlRow, key: bytes) -> bool:
        return bool(row.place) and self._queue_of(row, key).is_taken(row.place)

    # -- coming and leaving

    def note_link_texts(self, report: Report) -> None:
        """The links of a report are admitted next. An order that uses anchors sees theirs."""
        if self._uses_texts:
            pairs = zip(report.found, report.link_texts, strict=False)
            self._texts = {found.key: texts for found, texts in pairs}

    def enqueue(
        self,
        found: Found,
        first_us: int,
        host: HostRow | None = None,
        *,
        levels_later: int = 0,
        level: Level | None = None,
    ) -> None:
        """Queue a URL and write its row. `host` is the row of its host, if it is at hand and was
        touched. The URL is placed as if it were `levels_later` deeper, or behind all that have no
        `level`."""
        key = found[1]
        place = self._next_place(found[0], key, found[2] + levels_later)
        if level is not None and level.number:
            place = with_level(place, level.number)
        later = 0 if self._is_fixed else levels_later
        self._pending.urls[key], entry = queued(found, place, first_us, later, level)
        if key in self._texts:
            anchor, context = self._texts[key]
            entry = QueueEntry.decode(entry)._replace(anchor=anchor, context=context).encode()
        self._counts.queued += 1
        self._put_entry(key[:HOST_BYTES], place, entry, host)
        if self._selection is not None:
            self._selection.queued(key, found[2], found[0], place)

    def requeue(
        self, row: UrlRow, found: Found, *, levels_later: int = 0, level: Level | None = None
    ) -> None:
        """Queue a known URL that failed or was refused. Its row begins again; its captures stay,
        and what the row says of earlier versions."""
        key = found.key
        if row.standing == Standing.FETCHED:
            self._duplicates.leave(key, row)
        self._tally.uncount(row, key[:HOST_BYTES])
        self.enqueue(found, row.first_us, levels_later=levels_later, level=level)
        if row.body_us:
            again = self._known.find(key)
            assert again is not None, "it was just queued"
            keep_history(again, row)
            self._known.put(key, again)

    def enqueue_again(self, row: UrlRow, key: bytes) -> None:
        """A URL that waited joins its host's queue; the caller puts its row."""
        row.place = self._next_place(row.url, key, row.depth)
        self.add_entry(row.place, entry_of(row, key))

    def enqueue_visit(self, row: UrlRow, key: bytes) -> None:
        """A fetched page waits for another visit, at the place of a new URL of its depth. The
        caller puts its row."""
        row.place = self._next_place(row.url, key, row.depth)
        self.visits.add(row.place, entry_of(row, key)._replace(is_visit=True))
        self.awake.add(key[:HOST_BYTES])

    def leave(self, row: UrlRow, key: bytes) -> None:
        """A URL leaves the queue in which it stands; the caller puts its row."""
        if row.standing == Standing.FETCHED:
            self.visits.drop(row.place, key[:HOST_BYTES])
        else:
            self.drop_place(row.place, key)
        row.place = b""

    def move_to_depth(self, row: UrlRow, key: bytes) -> None:
        """A queued URL gets the place of its new depth; the caller puts its row."""
        self.drop_place(row.place, key)
        row.place = self._next_place(row.url, key, row.depth)
        self._counts.queued += 1
        self.add_entry(row.place, entry_of(row, key))

    def add_entry(self, place: bytes, entry: QueueEntry) -> None:
        """Put an entry; the sum of queued URLs is the caller's."""
        self._put_entry(entry[0][:HOST_BYTES], place, entry.encode())
        if self._selection is not None:
            self._selection.queued(entry.key, entry.depth, entry.url, place)

    def _put_entry(
        self, host_key: bytes, place: bytes, row: bytes, host: HostRow | None = None
    ) -> None:
        self._peeked = b"", b""
        queue = self._hosts.queue(host_key)
        if host is None:
            host = self._hosts.touch(host_key)
        host.queued += 1
        self._pending.queue[host_key + place] = row
        queue.add(place, row)
        self.awake.add(host_key)

    def drop_place(self, place: bytes, key: bytes) -> HostRow:
        """The entry of a URL leaves its place; the row of its host, to be changed."""
        host_key = key[:HOST_BYTES]
        self._peeked = b"", b""
        if self._selection is not None:
            self._selection.left(key)
        self._hosts.queue(host_key).drop(place)
        self._pending.queue[host_key + place] = None
        host = self._hosts.touch(host_key)
        host.queued -= 1
        self._counts.queued -= 1
        return host

    # -- scores

    def _next_place(self, url: str, key: bytes, depth: int) -> bytes:
        self._number += 1
        return priority_key(self._order, self._candidate(url, key, depth), self._number)

    def _candidate(
        self, url: str, key: bytes, depth: int, texts: tuple[str, str] = _NO_TEXTS
    ) -> Candidate:
        anchor, context = self._texts.get(key, texts) if self._uses_texts else _NO_TEXTS
        links = 1 if self._links is None else self._links.of(key)
        return _made(Candidate, (url, depth, anchor, context, links, NEUTRAL_RELEVANCE))

    def rescored(self, place: bytes, entry: QueueEntry) -> bytes:
        """The place that an entry has by its level, or by its score of today."""
        if entry.level:
            return with_level(place, entry.level)
        texts = entry.anchor, entry.context
        candidate = self._candidate(entry.url, entry.key, entry.depth + entry.later, texts)
        return with_score(place, self._order.score(candidate))

    def move(self, row: UrlRow, entry: QueueEntry, place: bytes) -> None:
        """A queued URL that is not leased gets another place; the caller puts its row."""
        host_key = entry.key[:HOST_BYTES]
        self.drop_place(row.place, entry.key)
        row.place = place
        self._counts.queued += 1
        self.add_entry(place, entry)
        self._moved.add(host_key)

    @property
    def counts_links(self) -> bool:
        """Whether the order wants to know of every link to a URL."""
        return self._links is not None

    def count_links(self, key: bytes, links: int = 1) -> None:
        """More links to a known URL were found. A queued one may come earlier by that."""
        if self._links is None or not self._links.add(key, links):
            return
        row = self._known.find(key)
        if row is None or row.standing != Standing.QUEUED:
            self._links.drop(key)
        elif row.place and not self.is_leased(row, key):
            packed = self._pending.find(StateTable.QUEUE, key[:HOST_BYTES] + row.place)
            entry = QueueEntry.decode(packed) if packed else entry_of(row, key)
            place = self.rescored(row.place, entry)
            if place != row.place:
                self.move(row, entry, place)
                self._known.put(key, row)

    def begin(self) -> None:
        """A commit begins."""
        self._pending.put(StateTable.META, NUMBER_KEY, self._number.to_bytes(8, "big"))


def entry_of(row: UrlRow, key: bytes) -> QueueEntry:
    """The queue entry of a URL, made from its row."""
    entry = QueueEntry(key, row.url, row.depth, row.tries, row.redirects, row.via)
    return entry._replace(run=row.run) if row.run else entry
