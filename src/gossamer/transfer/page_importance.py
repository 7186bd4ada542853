"""The importance of fetched pages by the metrics of Cho (1998), for exports and tables.

    in_links, rank, out_links    are columns of every page
    forward_rank                 PageRank against the direction of links (`graph/ranks/forward.py`)
    similarity                   of the text to the driving query, `frontier.query`
    relevance                    as a focused crawl judged it
    location, visits             what the orders of these names say of the URL

Only the columns that are wanted are computed. Similarity reads every page from the archive.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gossamer.base.packing import unpack
from gossamer.collection.visit_log import read_visit_file
from gossamer.errors import Rewritten, UsageError
from gossamer.frontier.meta_keys import FOCUS_PAGES_KEY
from gossamer.frontier.store import StateTable
from gossamer.graph.ranks.forward import forward_ranks
from gossamer.policies.focus.words import BUCKETS, WordHasher, Words, numbers_of, weights_of
from gossamer.policies.orders.location import Location
from gossamer.policies.orders.logged_visits import LoggedVisits
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredPage
from gossamer.records import Outcome
from gossamer.settings import Settings
from gossamer.transfer.export_choice import ALL
from gossamer.transfer.export_schemas import MEASURED, SCORES, SIMILARITY
from gossamer.transfer.export_sort import stage, stage_batches
from gossamer.transfer.page_facts import stored_pages
from gossamer.urls.keys import KEY_BYTES


def joined_importance(
    reader: CollectionReader, folder: Path, wanted: Collection[str]
) -> tuple[dict[str, str], list[str]]:
    """Stage what the wanted columns need in a folder; expressions for the columns, and joins."""
    columns: dict[str, str] = {}
    joins: list[str] = []
    if "forward_rank" in wanted:
        spill = folder / "forward"
        spill.mkdir()
        ranks = forward_ranks(reader.paths.graph, spill)
        name = stage_batches(folder / "forward.parquet", ranks)
        joins.append(f"left join {name} w on p.url = w.url and p.outcome = 'fetched'")
        columns["forward_rank"] = "w.forward_rank"
    if "similarity" in wanted:
        name = stage(folder / "similar.parquet", SIMILARITY, similarities(reader, folder))
        joins.append(f"left join {name} s on p.url = s.url")
        columns["similarity"] = "s.similarity"
    if scores := [name for name in SCORES.names[1:] if name in wanted]:
        name = stage(folder / "scores.parquet", SCORES, _scores(reader))
        joins.append(f"left join {name} c on p.url = c.url")
        columns |= {score: f"c.{score}" for score in scores}
    assert set(columns) == set(wanted).intersection(MEASURED), "every column has its source"
    return columns, joins


def _scores(reader: CollectionReader) -> Iterator[tuple[object, ...]]:
    """Yield url relevance location visits of fetched pages."""
    settings = reader.settings()
    location = Location(settings.frontier.location)
    visits = _visits(settings)
    relevance = _judged(reader)
    for row in reader.url_rows():
        if row.outcome is Outcome.FETCHED:
            judged = relevance.get(reader.keys.of(row.url)) if relevance else None
            seen = None if visits is None else visits.visits(row.url)
            yield row.url, judged, location.worth(row.url), seen


def _visits(settings: Settings) -> LoggedVisits | None:
    """None where the crawl names no log, or the log is not on this machine any more."""
    try:
        return LoggedVisits(read_visit_file(settings)) if settings.frontier.visits_file else None
    except UsageError:
        return None


def _judged(reader: CollectionReader) -> dict[bytes, float]:
    """The relevance of pages by key, as the model of a focused crawl has stored it."""
    row = reader.store.find(StateTable.META, FOCUS_PAGES_KEY)
    if row is None:
        return {}
    keys, packed = unpack(row)
    values = np.frombuffer(packed, "<f2").astype(np.float64).tolist()
    return {keys[at * KEY_BYTES : (at + 1) * KEY_BYTES]: one for at, one in enumerate(values)}


def similarities(reader: CollectionReader, folder: Path) -> Iterator[tuple[str, float]]:
    """Yield url and similarity of fetched pages: the cosine of the tf-idf vectors of title and text
    and of the query. Nothing where there is no query. The words of pages lie in a file meanwhile:
    how rare a word is, is known only when all are read."""
    hasher = WordHasher()
    query = hasher.page("", reader.settings().frontier.query)
    if not len(query):
        return
    pages_with = np.zeros(BUCKETS, np.int64)
    read: list[tuple[str, int]] = []
    path = folder / "words.u32"
    with path.open("wb") as file:
        for page in stored_pages(reader, ALL):
            words = _words_of(page, hasher)
            pages_with[numbers_of(words)] += 1
            read.append((page.url, len(words)))
            file.write(words.tobytes())
    rarity = np.log1p((1 + len(read)) / (1 + pages_with))
    with path.open("rb") as file:
        for url, many in read:
            words = np.frombuffer(file.read(many * 4), np.uint32)
            yield url, _cosine(query, words, rarity)


def _words_of(page: StoredPage, hasher: WordHasher) -> Words:
    try:
        return hasher.page(page.page.title, page.page.text)
    except Rewritten:
        raise
    except Exception:  # noqa: BLE001  # the outcome of the page records this failure
        return hasher.page("", "")


def _cosine(query: Words, words: Words, rarity: NDArray[np.float64]) -> float:
    both = [(numbers_of(one), weights_of(one) * rarity[numbers_of(one)]) for one in (query, words)]
    (asked, weights), (said, counts) = both
    shared = np.isin(said, asked)
    if not shared.any():
        return 0.0
    of_asked = dict(zip(asked.tolist(), weights.tolist(), strict=True))
    product = sum(
        of_asked[number] * count
        for number, count in zip(said[shared].tolist(), counts[shared].tolist(), strict=True)
    )
    return float(product / (np.linalg.norm(weights) * np.linalg.norm(counts)))
