"""Crawl for each topic from several seed sets, and count the wanted pages that were fetched.

For each topic a few of its pages are drawn as examples. The crawl gets their words and nothing else
of the truth; they are not counted when they are fetched. Each seed set is a draw of random pages
of the whole site, the same for all crawls of a topic.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import combinations
from math import exp, log
from typing import Final

from gossamer.errors import UsageError
from gossamer.lab.focus.replay import FocusedReplay, breadth_first, known_first
from gossamer.lab.focus.stored_pages import FocusProgress, StoredPages
from gossamer.lab.focus.topics import PageTopics
from gossamer.policies.focus.focused_order import FocusedOrder
from gossamer.policies.focus.link_scorer import FocusParts
from gossamer.policies.focus.topic import Topic

BREADTH: Final = "breadth"
ORACLE: Final = "oracle"
FOCUS: Final = "focus"
CRAWLS: Final[dict[str, FocusParts]] = {
    FOCUS: FocusParts(),
    "without distiller": FocusParts(has_distiller=False),
    "without link scorer": FocusParts(has_link_scorer=False),
    "without both": FocusParts(has_link_scorer=False, has_distiller=False),
}


@dataclass(frozen=True, slots=True)
class FocusLab:
    """What an experiment is made with."""

    examples: int = 10  # of each topic
    seed_sets: int = 10
    start_pages: int = 10  # of a seed set
    fraction: float = 0.1  # of the pages, that are fetched
    random_seed: int = 1
    crawls: tuple[str, ...] = tuple(CRAWLS)


@dataclass(slots=True)
class TopicRow:
    """The crawls for one topic. `found` has the wanted pages of each seed set, in the order in
    which they were fetched: pairs of page and position, from 1."""

    topic: str
    pages: int  # of the topic, without examples
    found: dict[str, list[dict[int, int]]] = field(default_factory=dict)

    def mean(self, crawl: str) -> float:
        """Wanted pages of a crawl, mean over the seed sets."""
        runs = self.found[crawl]
        return sum(map(len, runs)) / len(runs)

    def multiple(self, crawl: str) -> float | None:
        """Wanted pages as a multiple of breadth first; None where that finds none."""
        base = self.mean(BREADTH)
        return self.mean(crawl) / base if base else None

    def of_oracle(self, crawl: str) -> float | None:
        best = self.mean(ORACLE)
        return self.mean(crawl) / best if best else None

    def common(self, crawl: str) -> float | None:
        """The share of common pages of two seed sets: in both, of those in either; mean over all
        pairs of seed sets."""
        pairs = [
            len(one.keys() & other.keys()) / len(one.keys() | other.keys())
            for one, other in combinations(self.found[crawl], 2)
            if one or other
        ]
        return sum(pairs) / len(pairs) if pairs else None


def compare(
    pages: StoredPages, topics: PageTopics, lab: FocusLab, notify: FocusProgress = lambda _: None
) -> list[TopicRow]:
    """A row for each topic that is large enough. Raises UsageError if none is."""
    large = {name: of for name, of in topics.items() if len(of) >= 2 * lab.examples}
    if not large:
        raise UsageError(f"No topic has {2 * lab.examples} pages: twice the number of --examples")
    rows = []
    for at, (name, wanted) in enumerate(large.items(), 1):
        notify(f"{at} of {len(large)} topics: {name}")
        rows.append(_crawled(pages, name, wanted, lab))
    return rows


def _crawled(pages: StoredPages, name: str, of: frozenset[int], lab: FocusLab) -> TopicRow:
    draw = random.Random(f"{lab.random_seed} {name}")  # noqa: S311 - nothing is to be kept secret
    examples = draw.sample(sorted(of), lab.examples)
    wanted = of - set(examples)
    most = max(1, round(pages.count * lab.fraction))
    row = TopicRow(name, len(wanted))
    for _ in range(lab.seed_sets):
        seeds = draw.sample(range(pages.count), min(lab.start_pages, pages.count))
        orders = {
            BREADTH: breadth_first(pages, seeds, most),
            ORACLE: known_first(pages, seeds, most, wanted),
        }
        for crawl in lab.crawls:
            topic = Topic([pages.words[page] for page in examples])
            replay = FocusedReplay(pages, FocusedOrder(topic, CRAWLS[crawl]))
            orders[crawl] = replay.run(seeds, most)
        for crawl, fetched in orders.items():
            hits = {page: at for at, page in enumerate(fetched, 1) if page in wanted}
            row.found.setdefault(crawl, []).append(hits)
    return row


def geometric_mean(values: list[float | None]) -> float | None:
    """Of those that are known; None where one is 0, or none is known."""
    known = [value for value in values if value is not None]
    if not known or min(known) <= 0.0:
        return None
    return exp(sum(map(log, known)) / len(known))
