"""Several processes crawl a link graph at the same speed.

In each step every process fetches up to `in_flight` pages of its queue at once. Then the links of
all fetched pages are followed, process by process, page by page, link by link. A page that a
process learns of for the first time goes to the end of its queue.

Orders: `breadth` fetches pages as they were found. `backlinks` fetches those first to which most
links are known *in that process*: what other processes have seen counts only when it was sent. In
cross-over mode a process takes pages of others when it has fewer than `in_flight` of its own.

The same input gives the same result to the bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from gossamer.lab.graph import LinkGraph
from gossamer.lab.parallel.modes import Mode, Sending
from gossamer.lab.parallel.queues import PageNumbers, PageQueue

CrawlOrder = Literal["breadth", "backlinks"]

IN_FLIGHT: Final = 16
BATCH_PAGES: Final = 1000


@dataclass(frozen=True, slots=True)
class ProcessGroup:
    """The processes of a crawl, and how they share its work."""

    count: int
    mode: Mode
    piece_of: PageNumbers  # of each page; with a static assignment the process that owns it
    pieces: int = 0  # only with a dynamic assignment
    order: CrawlOrder = "breadth"
    in_flight: int = IN_FLIGHT
    batch_pages: int = BATCH_PAGES


@dataclass(slots=True)
class FetchStep:
    """What one step fetched."""

    pages: PageNumbers
    processes: PageNumbers
    messages: int  # URLs sent in this step


@dataclass(slots=True)
class _Outbox:
    """Links of each process that wait to be sent in a batch."""

    targets: list[list[PageNumbers]]
    fetched: list[int] = field(default_factory=list)  # pages since the last batch


class Lockstep:
    """A crawl by several processes. `steps` runs it; the counts may be read at any time."""

    def __init__(self, graph: LinkGraph, group: ProcessGroup, seeds: PageNumbers) -> None:
        self._graph = graph
        self._group = group
        self._mode = group.mode
        self._stride = graph.pages if group.mode.keeps_all else 0
        room = graph.pages * (group.count if self._stride else 1)
        self._is_known = np.zeros(room, bool)
        self._backlinks = np.zeros(room if group.order == "backlinks" else 0, np.int32)
        self._queues = [PageQueue() for _ in range(group.count)]
        self._foreign = [PageQueue() for _ in range(group.count)]  # pages of others
        self._given = np.zeros(group.count, np.int64)  # pages that each process has had to fetch
        self._owner_of_piece = np.full(group.pieces, -1, np.int32)
        is_once = self._mode.sending is Sending.ONCE
        self._is_sent = np.zeros(graph.pages * group.count if is_once else 0, bool)
        self._outbox = _Outbox([[] for _ in range(group.count)], [0] * group.count)
        self._start(seeds)

    @property
    def given(self) -> NDArray[np.int64]:
        """How many pages each process has had in its queue so far."""
        return self._given

    def _start(self, seeds: PageNumbers) -> None:
        """Seeds go to their owners, or to the processes in turn."""
        if self._mode.assignment == "independent":
            receivers = (np.arange(len(seeds)) % self._group.count).astype(np.int32)
        else:
            receivers = self._owners(seeds)[0]
        self._learn(seeds, receivers, counts_links=False)

    def steps(self) -> Iterator[FetchStep]:
        """Crawl until no process has a page left."""
        while any(map(len, (*self._queues, *self._foreign))) or any(self._outbox.targets):
            taken = [self._take(process) for process in range(self._group.count)]
            pages = np.concatenate(taken)
            processes = np.repeat(
                np.arange(self._group.count, dtype=np.int32), list(map(len, taken))
            )
            yield FetchStep(pages, processes, self._follow(pages, processes))

    def _take(self, process: int) -> PageNumbers:
        """The next pages of a process: its own, then those of others."""
        most = self._group.in_flight
        own = self._take_from(self._queues[process], process, most)
        if len(own) == most or not self._mode.fetches_foreign:
            return own
        foreign = self._take_from(self._foreign[process], process, most - len(own))
        return np.concatenate((own, foreign))

    def _take_from(self, queue: PageQueue, process: int, most: int) -> PageNumbers:
        if self._group.order == "breadth":
            return queue.take_first(most)
        return queue.take_best(self._backlinks[process * self._stride + queue.waiting], most)

    def _follow(self, pages: PageNumbers, processes: PageNumbers) -> int:
        """Pass the links of fetched pages on; how many URLs were sent."""
        links = self._graph.links_of(pages)
        finders, targets = np.repeat(processes, links.counts), links.targets
        if self._mode.keeps_all:
            self._learn(targets, finders)
            return 0
        owners, is_asked = self._owners(targets)
        is_ours = owners == finders
        if self._mode.sending is Sending.NOTHING:
            self._learn(targets[is_ours], owners[is_ours])
            return 0
        if self._mode.sending is Sending.BATCHES:
            self._learn(targets[is_ours], owners[is_ours])
            return self._post(finders[~is_ours], targets[~is_ours], processes)
        if self._mode.sending is Sending.ALL:
            self._learn(targets, owners)
            return int((~is_ours).sum())
        is_new = self._first_sending(finders, targets, ~is_ours | is_asked)
        self._learn(targets[is_ours | is_new], owners[is_ours | is_new])
        return int(is_new.sum())

    def _first_sending(
        self, finders: PageNumbers, targets: PageNumbers, is_foreign: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Which links are sent, as their finder has not sent their target before."""
        places = finders.astype(np.int64) * self._graph.pages + targets
        is_new: NDArray[np.bool_] = is_foreign & ~self._is_sent[places]
        is_new[is_new] = _is_first(places[is_new])
        self._is_sent[places[is_new]] = True
        return is_new

    def _post(self, finders: PageNumbers, targets: PageNumbers, processes: PageNumbers) -> int:
        """Collect links for others. A process sends its batch when it is full, or when the process
        has nothing else to do."""
        fetched = np.bincount(processes, minlength=self._group.count)
        ends = np.searchsorted(finders, np.arange(self._group.count + 1))
        for process in range(self._group.count):
            self._outbox.fetched[process] += int(fetched[process])
            if ends[process] < ends[process + 1]:
                own = targets[ends[process] : ends[process + 1]]
                self._outbox.targets[process].append(own)
        idle = [not len(queue) for queue in self._queues]
        return sum(
            self._send(process)
            for process in range(self._group.count)
            if idle[process] or self._outbox.fetched[process] >= self._group.batch_pages
        )

    def _send(self, process: int) -> int:
        self._outbox.fetched[process] = 0
        held = self._outbox.targets[process]
        if not held:
            return 0
        self._outbox.targets[process] = []
        targets = np.concatenate(held)
        self._learn(targets, self._owners(targets)[0])
        return len(np.unique(targets))

    def _owners(self, targets: PageNumbers) -> tuple[PageNumbers, NDArray[np.bool_]]:
        """The owner of each target, and whether its piece was given to somebody just now."""
        pieces = self._group.piece_of[targets]
        if not self._group.pieces:
            return pieces, np.zeros(len(targets), bool)
        is_new = self._owner_of_piece[pieces] < 0
        load = self._given.copy()
        for piece in dict.fromkeys(pieces[is_new].tolist()):
            least = int(load.argmin())
            self._owner_of_piece[piece] = least
            load[least] += 1
        return self._owner_of_piece[pieces], is_new

    def _learn(
        self, targets: PageNumbers, receivers: PageNumbers, *, counts_links: bool = True
    ) -> None:
        """Tell processes of links; what is new to them goes into their queues."""
        places = receivers.astype(np.int64) * self._stride + targets
        if counts_links and len(self._backlinks):
            np.add.at(self._backlinks, places, 1)
        is_new = ~self._is_known[places]
        new = np.flatnonzero(is_new)
        new = new[_is_first(places[new])]
        self._is_known[places[new]] = True
        for process, pages in _by_process(receivers[new], targets[new], self._group.count):
            self._given[process] += len(pages)
            if self._mode.fetches_foreign:
                is_own = self._group.piece_of[pages] == process
                self._foreign[process].add(pages[~is_own])
                self._queues[process].add(pages[is_own])
            else:
                self._queues[process].add(pages)


def _is_first(values: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each value is the first of its kind."""
    is_first = np.zeros(len(values), bool)
    is_first[np.unique(values, return_index=True)[1]] = True
    return is_first


def _by_process(
    receivers: PageNumbers, pages: PageNumbers, count: int
) -> Iterator[tuple[int, PageNumbers]]:
    order = np.argsort(receivers, kind="stable")
    ends = np.searchsorted(receivers[order], np.arange(count + 1))
    for process in np.flatnonzero(np.diff(ends)).tolist():
        yield process, pages[order[ends[process] : ends[process + 1]]]
