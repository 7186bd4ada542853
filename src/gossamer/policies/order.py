"""Which queued URL of a host comes first? An order gives each URL a score; small scores come first.

Pure. The frontier makes a priority key of the score: 12 bytes that sort as the pair of score and
number does. Four bytes are the score and eight the number of the URL, which counts the admitted
URLs. So no two URLs have the same key, whatever an order says. Among equal scores the oldest URL
comes first, or the newest.
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple, Protocol

PRIORITY_KEY_BYTES: Final = 12
MAX_SCORE: Final = 2**32 - 1 - 64  # what is above it is for levels
NEUTRAL_RELEVANCE: Final = 0.5
_KEY: Final = struct.Struct(">IQ")
_SCORE: Final = struct.Struct(">I")
_LAST: Final = 2**64 - 1


class Candidate(NamedTuple):
    """A URL as an order sees it. A fact that is not known has its neutral value."""

    url: str
    depth: int  # links from a seed
    anchor: str = ""  # words of the link that led here
    context: str = ""  # words around that link
    known_links: int = 1  # links to it that were found so far
    source_relevance: float = (
        NEUTRAL_RELEVANCE  # of the page that links here: 0 irrelevant, 1 relevant
    )


class Order(Protocol):
    """Scores the URLs of a crawl.

    `score` is fast (it is called for every admitted URL), has no side effects, and depends on the
    candidate and on `revision` alone: the same candidate has the same score until `revision`
    changes. An order that learns while the crawl runs increases `revision` when scores have
    changed; then the node scores queued URLs again, in slices.
    """

    @property
    def uses_link_counts(self) -> bool:
        """Whether `Candidate.known_links` is to be counted: it costs a lookup for each link. A
        queued URL is scored again when its count has doubled."""
        ...

    @property
    def is_newest_first(self) -> bool:
        """Among equal scores the newest URL comes first; otherwise the oldest."""
        ...

    @property
    def revision(self) -> int:
        """Counts the changes of scores; 0 for ever where none changes."""
        ...

    def score(self, candidate: Candidate) -> int:
        """A number from 0 (first) to MAX_SCORE (last); numbers beyond these count as they do."""
        ...


class BreadthFirst:
    """The fewest links from a seed first; within a level, first come first served."""

    uses_link_counts: Final = False
    is_newest_first: Final = False
    revision: Final = 0

    def score(self, candidate: Candidate) -> int:
        return candidate[1]


class DepthFirst:
    """The most links from a seed first; within a level, the newest."""

    uses_link_counts: Final = False
    is_newest_first: Final = True
    revision: Final = 0

    def score(self, candidate: Candidate) -> int:
        return MAX_SCORE - candidate[1]


# The setting `frontier.order` (`settings.py`) lists the same names.
ORDERS: Final[dict[str, type[BreadthFirst | DepthFirst]]] = {
    "breadth": BreadthFirst,
    "depth": DepthFirst,
}


def is_fixed(order: Order) -> bool:
    """Whether the order is one of ours, whose scores never change."""
    return type(order) in ORDERS.values()


def priority_key(order: Order, candidate: Candidate, number: int) -> bytes:
    """The key of the `number`-th admitted URL."""
    tie = _LAST - number if order.is_newest_first else number
    return make_key(order.score(candidate), tie)


def make_key(score: int, tie: int) -> bytes:
    """The bytes of a key. Scores past the ends are held at them."""
    held = 0 if score < 0 else min(MAX_SCORE, score)
    return _KEY.pack(held, tie & _LAST)


def level_score(level: int) -> int:
    """The score of a URL with a level: behind everything that an order scores."""
    return MAX_SCORE + level


def with_level(key: bytes, level: int) -> bytes:
    """The key of the same URL behind everything that an order scores; its number stays."""
    return _SCORE.pack(level_score(level)) + key[_SCORE.size :]


def with_score(key: bytes, score: int) -> bytes:
    """The key of the same URL with another score: its number stays, so it is unique."""
    held = 0 if score < 0 else min(MAX_SCORE, score)
    return _SCORE.pack(held) + key[_SCORE.size :]
