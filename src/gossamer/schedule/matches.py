"""What is the crawl for? The answers that `limits.max_matches` counts.

A match is an answer of 200 whose type `fetch.types` names. HTML is fetched beside them, as the way
to all else, and is a match only where it is named.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Final

from gossamer.fetch.judge import Judge
from gossamer.frontier.rows import Standing, UrlRow, standing_of
from gossamer.frontier.store import Store, Table, walk
from gossamer.settings import Settings

_TYPES: Final = 100  # whose answers are remembered: a crawl meets few

IsMatch = Callable[[int, str], bool]


def matcher(settings: Settings) -> IsMatch:
    """Whether an answer is a match, by its status and MIME type; without a type it is HTML."""
    wants = lru_cache(_TYPES)(Judge(settings.fetch.types, settings.fetch.max_body_bytes).wants)
    return lambda status, mime: status == 200 and wants(mime or "text/html")


def count_matches(store: Store, is_match: IsMatch) -> int:
    """The matches that the state knows of. Reads it whole: some 3 s for a million URLs."""
    count = 0
    for _, packed in walk(store, Table.URL):
        if standing_of(packed) == Standing.FETCHED:
            row = UrlRow.decode(packed)
            count += is_match(row.status, row.type)
    return count
