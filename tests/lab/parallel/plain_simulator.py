"""A parallel crawler in plain loops, written apart from `lab/parallel/` to check it.

Each process is an object with lists and sets. The rules are those of the docstring of
`lab/parallel/lockstep.py`; nothing of its code is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Worker:
    """One process."""

    number: int
    found: list[int] = field(default_factory=list)  # in the order of discovery
    known: set[int] = field(default_factory=set)
    fetched: list[int] = field(default_factory=list)
    links: Counter[int] = field(default_factory=Counter)  # links to a page that it knows of
    sent: set[int] = field(default_factory=set)
    outbox: list[int] = field(default_factory=list)
    since_batch: int = 0

    def learn(self, page: int, *, is_link: bool = True) -> None:
        if is_link:
            self.links[page] += 1
        if page not in self.known:
            self.known.add(page)
            self.found.append(page)


@dataclass
class PlainCrawl:
    """All processes. `mode` is a name of `lab/parallel/modes.py`."""

    links: Sequence[Sequence[int]]
    owner: Sequence[int]  # of each page; the piece with `dynamic`
    count: int
    mode: str
    order: str = "breadth"
    in_flight: int = 4
    batch_pages: int = 10
    messages: int = 0
    workers: list[Worker] = field(default_factory=list)
    assigned: dict[int, int] = field(default_factory=dict)

    def run(self, seeds: Sequence[int], most: int) -> None:
        """Crawl until `most` distinct pages are there, or nothing is left."""
        self.workers = [Worker(number) for number in range(self.count)]
        load = [0] * self.count
        for place, seed in enumerate(seeds):
            if self.mode == "independent":
                receiver = place % self.count
            else:
                receiver = self.owner_of(seed, load)
            self.workers[receiver].learn(seed, is_link=False)
        while any(worker.found or worker.outbox for worker in self.workers):
            batches = [(worker, self.take(worker)) for worker in self.workers]
            asked = self.assign([t for _, pages in batches for p in pages for t in self.links[p]])
            for worker, pages in batches:
                worker.fetched += pages
                worker.since_batch += len(pages)
                for page in pages:
                    for target in self.links[page]:
                        self.follow(worker, target, is_asked=target in asked)
            if self.mode == "exchange-batch":
                self.send_batches()
            if len(self.distinct()) >= most:
                return

    def assign(self, targets: Sequence[int]) -> set[int]:
        """Give pieces that nobody has to those with the least work; targets in such pieces."""
        if self.mode != "dynamic":
            return set()
        asked = {target for target in targets if self.owner[target] not in self.assigned}
        load = [len(worker.known) for worker in self.workers]
        for target in targets:
            self.owner_of(target, load)
        return asked

    def owner_of(self, page: int, load: list[int]) -> int:
        if self.mode != "dynamic":
            return self.owner[page]
        piece = self.owner[page]
        if piece not in self.assigned:
            least = load.index(min(load))
            self.assigned[piece] = least
            load[least] += 1
        return self.assigned[piece]

    def take(self, worker: Worker) -> list[int]:
        """The best pages, own ones first, then in the order of discovery."""

        def place(page: int) -> tuple[bool, int]:
            is_foreign = self.mode == "cross-over" and self.owner[page] != worker.number
            return is_foreign, -worker.links[page] if self.order == "backlinks" else 0

        best = set(sorted(worker.found, key=place)[: self.in_flight])  # a stable sort
        chosen = [page for page in worker.found if page in best]
        chosen.sort(key=lambda page: place(page)[0])
        worker.found = [page for page in worker.found if page not in best]
        return chosen

    def follow(self, worker: Worker, target: int, *, is_asked: bool) -> None:
        if self.mode in {"cross-over", "independent"}:
            worker.learn(target)
            return
        owner = self.workers[self.owner_of(target, [])]
        if owner is worker and not is_asked:
            worker.learn(target)
        elif self.mode == "exchange-all":
            self.messages += 1
            owner.learn(target)
        elif self.mode == "exchange-batch":
            worker.outbox.append(target)
        elif self.mode in {"exchange", "dynamic"}:
            is_first = target not in worker.sent
            worker.sent.add(target)
            self.messages += is_first
            if is_first or owner is worker:
                owner.learn(target)

    def send_batches(self) -> None:
        idle = [not worker.found for worker in self.workers]
        for worker, is_idle in zip(self.workers, idle, strict=True):
            if is_idle or worker.since_batch >= self.batch_pages:
                worker.since_batch = 0
                self.messages += len(set(worker.outbox))
                for target in worker.outbox:
                    self.workers[self.owner[target]].learn(target)
                worker.outbox = []

    def distinct(self) -> set[int]:
        return {page for worker in self.workers for page in worker.fetched}

    @property
    def fetches(self) -> int:
        return sum(len(worker.fetched) for worker in self.workers)
