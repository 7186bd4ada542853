"""Is a page found by its own title, and do links help?

    python -m bench.titles COLLECTION [--queries 50] [--host HOST]

Takes pages of a crawled site (of one among several with `--host`) whose title nobody else there
has, asks for the title (less the words that nearly all titles have), and counts how often the page
is the first hit, or among the first three: by words alone, with the words of links, with link rank,
with both; and the same with titles and headings left out, where links have more to say. Prints one
JSON object a line.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from bench.figures import Figure

from gossamer.index.entry import Kept
from gossamer.index.reader import IndexReader
from gossamer.index.schema import every_entry
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.search.weights import WEIGHTS, Weights
from gossamer.urls.canonical import host_of

_MOST_PAGES: Final = 100_000
_COMMON: Final = 0.8  # a word of so many titles is the site's name
WITHOUT_LINKS: Final = {"anchors": 0.0, "link_rank": 0.0}
RANKINGS: Final[Mapping[str, Mapping[str, float]]] = {
    "words": WITHOUT_LINKS,
    "words and anchors": {"link_rank": 0.0},
    "words and link rank": {"anchors": 0.0},
    "words, anchors and link rank": {},
}
UNTITLED: Final = {"title": 0.0, "headings": 0.0}


def pages_of(home: Path) -> list[Kept]:
    """What the index knows of each page."""
    view = IndexReader(home / "index").view
    matches, _ = view.search(every_entry(), _MOST_PAGES)
    return [view.kept(match.address) for match in matches]


def queries_of(pages: Sequence[Kept], count: int) -> list[tuple[str, str]]:
    """(query, URL of the page that is meant), always the same ones."""
    times = Counter(page.title for page in pages)
    words = Counter(word for title in times for word in set(plain(title).split()))
    common = {word for word, titles in words.items() if titles > _COMMON * len(times)}
    pairs = [
        (" ".join(word for word in plain(page.title).split() if word not in common), page.url)
        for page in sorted(pages, key=lambda page: page.url)
        if times[page.title] == 1
    ]
    asked = [pair for pair in pairs if pair[0]]
    return random.Random(3).sample(asked, min(count, len(asked)))


def plain(title: str) -> str:
    """A title without what would be syntax in a query."""
    return re.sub(r"[^\w\s.]", " ", title)


def found(home: Path, weights: Weights, queries: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """Shares of queries whose page is the first hit, and among the first three."""
    engine = Engine(home, weights)
    first = among = 0
    for query, url in queries:
        urls = [hit.url for hit in engine.search(Request(query=query, limit=3))]
        first += urls[:1] == [url]
        among += url in urls
    return first / len(queries), among / len(queries)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collection", type=Path)
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--host", default="", help="ask for pages of this host only")
    options = parser.parse_args()
    pages = [
        page
        for page in pages_of(options.collection)
        if not options.host or host_of(page.url) == options.host
    ]
    queries = queries_of(pages, options.queries)
    if not queries:
        sys.exit(f"{options.collection} has no page of {options.host or 'any host'} to ask for")
    for kind, more in (("", {}), (", titles left out", UNTITLED)):
        for name, changes in RANKINGS.items():
            weights = replace(WEIGHTS, **changes, **more)  # type: ignore[arg-type]  # floats
            for place, share in zip(
                ("first", "in the first three"),
                found(options.collection, weights, queries),
                strict=True,
            ):
                print(Figure(f"{place}: {name}{kind}", (share,)).as_json(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
