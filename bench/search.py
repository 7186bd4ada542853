"""How good are the answers, on collections that people have judged?

    python -m bench.search [--parts] [COLLECTION ...]

Puts the documents of each collection into an index as the crawl does, asks every judged query as it
was written, and prints one JSON object a line: nDCG@10, MAP and recall@100, by ir-measures. The
gate is 0.98 of plain BM25 (the better one of the data's readme); the mean over all must be at least
1. With `--parts` the same for rankings that lack one part each.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any, Final

import ir_measures
from bench.figures import Figure
from ir_measures import AP, R, nDCG

from gossamer.index.entry import Entry
from gossamer.index.writer import IndexWriter
from gossamer.search.engine import Engine
from gossamer.search.results import Request
from gossamer.search.weights import WEIGHTS, Weights

DATA: Final = Path(
    os.environ.get("TEST_DATA", Path(__file__).parents[2] / "shared" / "data")
) / "ir"  # fmt: skip
# nDCG@10 of plain BM25 with stemmer and stop words, k1 1.2 and b 0.75: the data's readme.
PLAIN: Final = {"cranfield": 0.385, "cisi": 0.396, "lisa": 0.471}
MEASURES: Final = {"nDCG@10": nDCG @ 10, "MAP": AP @ 100, "recall@100": R @ 100}
# The ranking without one of its parts, and with little else.
WITHOUT: Final[Mapping[str, Mapping[str, float]]] = {
    "all": {},
    "without title": {"title": 0.0},
    "without kin": {"kin": 0.0},
    "without rarity": {"rarity": 0.0},
    "without nearness": {"nearness": 0.0},
    "text alone": {
        "title": 0.0, "headings": 0.0, "anchors": 0.0, "address": 0.0, "rarity": 0.0,
        "nearness": 0.0,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, and queries of which people have said what answers them."""

    name: str
    documents: tuple[Entry, ...]
    queries: Mapping[str, str]
    judgements: tuple[ir_measures.Qrel, ...]


def read_collection(folder: Path) -> Collection:
    """A folder of the form that the data's readme describes."""
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        documents = tuple(entry_of(json.loads(line)) for line in lines)
    read: Any = ir_measures.read_trec_qrels  # its package has no types
    judgements = tuple(read(str(folder / "qrels.txt")))
    judged = {one.query_id for one in judgements if one.relevance > 0}
    lines_of = (folder / "queries.tsv").read_text(encoding="utf-8").splitlines()
    pairs = (line.split("\t", 1) for line in lines_of)
    queries = {number: text for number, text in pairs if number in judged}
    return Collection(folder.name, documents, queries, judgements)


def entry_of(document: Mapping[str, str]) -> Entry:
    """A document as a page."""
    number, title = document["_id"], document["title"]
    return Entry(
        key=hashlib.blake2b(number.encode(), digest_size=16).digest(),
        url=f"http://bench.example/{number}",
        title=title,
        headings=(),
        text=document["text"],
        language="en",
        type="text/html",
        at_us=1_767_225_600_000_000,
    )


def build(collection: Collection, home: Path) -> None:
    """Put all documents into the index of a collection's directory."""
    writer = IndexWriter(home / "index")
    for entry in collection.documents:
        writer.put(entry)
    writer.commit({})
    writer.close()


def answers(
    collection: Collection, home: Path, weights: Weights
) -> Iterator[ir_measures.ScoredDoc]:
    """The first hundred hits of each query."""
    engine = Engine(home, weights)
    for number, text in collection.queries.items():
        results = engine.search(Request(query=text, limit=100))
        for place, hit in enumerate(results):
            name = hit.url.rpartition("/")[2]
            yield ir_measures.ScoredDoc(number, name, -float(place))


def measured(collection: Collection, home: Path, weights: Weights = WEIGHTS) -> dict[str, float]:
    """The measures by name."""
    run = list(answers(collection, home, weights))
    found = ir_measures.calc_aggregate(list(MEASURES.values()), collection.judgements, run)
    return {name: float(found[measure]) for name, measure in MEASURES.items()}


def compare(collections: Mapping[str, tuple[Collection, Path]], parts: bool) -> int:
    """Print the figures; 1 when a gate is missed."""
    variants = WITHOUT if parts else {"all": {}}
    is_missed = False
    for variant, changes in variants.items():
        weights = replace(WEIGHTS, **changes)  # type: ignore[arg-type]  # all of these are numbers
        ratios = []
        for name, (collection, home) in collections.items():
            values = measured(collection, home, weights)
            plain = PLAIN.get(name, 0.0)
            ratios += [values["nDCG@10"] / plain] if plain else []
            gate, aim = (0.98 * plain, plain) if variant == "all" and plain else (None, None)
            for measure, value in values.items():
                is_gated = measure == "nDCG@10"
                figure = Figure(
                    f"{measure}, {name}, {variant}",
                    (value,),
                    gate if is_gated else None,
                    aim if is_gated else None,
                )
                is_missed |= figure.verdict == "missed"
                print(figure.as_json(), flush=True)
        if ratios:
            gate = 1.0 if variant == "all" else None
            figure = Figure(
                f"mean nDCG@10 against plain BM25, {variant}", (mean(ratios),), gate, gate
            )
            is_missed |= figure.verdict == "missed"
            print(figure.as_json(), flush=True)
    return int(is_missed)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("collections", nargs="*", default=[*PLAIN])
    parser.add_argument("--parts", action="store_true", help="what each part of the ranking adds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        built = {}
        for name in options.collections:
            collection = read_collection(DATA / name)
            build(collection, Path(folder) / name)
            built[name] = (collection, Path(folder) / name)
        return compare(built, options.parts)


if __name__ == "__main__":
    sys.exit(main())
