"""Does `gossamer copies` find every copied paragraph, no other, and how quickly?

    python -m bench.copies [--sites DIR] [--data DIR] [--pages N] [--rounds N] [--keep DIR]

Indexes real pages: documentation sites, encyclopedia articles and abstracts. Paragraphs of 30 to
200 words from pages that are left out are planted into some of them, as they are and with a word
changed in each 15. Then asks where each of them stands. The controls are paragraphs that stand
nowhere, of the same words: real paragraphs with their words in random order, chains of pairs of
words that follow each other in real texts, and pieces of six words from different pages. Prints
one JSON object a line. With `--keep` the index stays, and is used again.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from statistics import quantiles
from typing import Final

from bench.figures import Figure
from bench.parse import pages_of
from bench.stolen import percent_stolen, taken

from gossamer.collection.directory import CollectionPaths, open_to_write
from gossamer.index.entry import Entry
from gossamer.index.words import words_of
from gossamer.index.writer import IndexWriter
from gossamer.parse.html import Parser
from gossamer.search.copies.results import CopiesRequest
from gossamer.search.engine import Engine
from gossamer.settings import Parse

SITES: Final = Path(os.environ.get("TEST_SITES", "sites"))
DATA: Final = Path(os.environ.get("TEST_DATA", "../shared/data"))
_TRUTH: Final = "planted.jsonl"
_PLANTED: Final = 1_000  # paragraphs, and as many with changed words
_CONTROLS: Final = 1_000
_WORDS: Final = (30, 200)  # least and most words of a paragraph
_CHANGED: Final = 15  # one word in so many is changed


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A text to ask for, and the page that it stands on; none for a control."""

    kind: str
    text: str
    url: str = ""


def real_texts(sites: Path, data: Path) -> list[str]:
    """The texts of all real pages there are, each once, in random order."""
    parser = Parser(Parse())
    texts = {
        parser.parse("http://bench.example/", "text/html", body).text
        for body in pages_of(sites, 1_000_000)
    }
    stored = [data / "topical" / "articles.jsonl.gz", *sorted(data.glob("ir/*/corpus.jsonl.gz"))]
    for path in stored:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            texts.update(json.loads(line)["text"] for line in lines)
    found = sorted(text for text in texts if text.strip())
    random.Random(7).shuffle(found)
    return found


def _entry(number: int, text: str) -> Entry:
    url = f"http://host{number % 50}.example/{number // 50}/page{number}.html"
    key = blake2b(url.encode(), digest_size=16).digest()
    title = " ".join(text[:80].split())
    return Entry(key, url, title, (), text, "en", "text/html", 1_767_225_600_000_000)


def _shingles(words: Sequence[str]) -> Iterator[int]:
    return (hash(tuple(words[at : at + 8])) for at in range(len(words) - 7))


def fresh_paragraphs(texts: Sequence[str], known: set[int], count: int) -> Iterator[str]:
    """Paragraphs of these texts of which no 8 words in a row are known."""
    chance = random.Random(11)
    given = 0
    for text in texts:
        words = text.split()
        size = min(chance.randint(*_WORDS), len(words))
        start = chance.randrange(len(words) - size + 1)
        piece = " ".join(words[start : start + size])
        found = words_of(piece)
        if len(found) < _WORDS[0] or known.intersection(_shingles(found)):
            continue
        known.update(_shingles(found))
        yield piece
        given += 1
        if given == count:
            return


def changed(text: str, others: Sequence[str], chance: random.Random) -> str:
    """The text with a word in each `_CHANGED` exchanged for another."""
    words = text.split()
    for at in range(chance.randrange(_CHANGED), len(words), _CHANGED):
        words[at] = chance.choice(others)
    return " ".join(words)


def controls(texts: Sequence[str], chance: random.Random) -> Iterator[Paragraph]:
    """Paragraphs of real words that stand nowhere."""
    split = [words for text in texts[:3_000] if len(words := words_of(text)) >= 300]
    follows: dict[str, list[str]] = {}
    for words in split[:500]:
        for before, after in itertools.pairwise(words):
            follows.setdefault(before, []).append(after)
    for number in range(_CONTROLS):
        size, words = chance.randint(*_WORDS), chance.choice(split)
        start = chance.randrange(len(words) - size)
        match number % 3:
            case 0:
                found = words[start : start + size]
                chance.shuffle(found)
                yield Paragraph("shuffled", " ".join(found))
            case 1:
                found = [words[start]]
                while len(found) < size:
                    found.append(chance.choice(follows.get(found[-1]) or words))
                yield Paragraph("chained", " ".join(found))
            case _:
                found = []
                while len(found) < size:
                    other = chance.choice(split)
                    at = chance.randrange(len(other) - 6)
                    found += other[at : at + 6]
                yield Paragraph("pieced", " ".join(found))


def build(home: Path, sites: Path, data: Path, pages: int) -> list[Paragraph]:
    """An index with planted paragraphs, and what to ask. Both are kept in `home`."""
    texts = real_texts(sites, data)
    if len(texts) < pages + 1_000:
        sys.exit(f"only {len(texts)} real pages, and {pages + 1_000} are needed")
    inside, outside = texts[:pages], texts[pages:]
    known: set[int] = set()
    for text in inside:
        known.update(_shingles(words_of(text)))
    chance = random.Random(13)
    asked = []
    hosts = chance.sample(range(pages), 2 * _PLANTED)
    for number, piece in enumerate(fresh_paragraphs(outside * 3, known, 2 * _PLANTED)):
        into = hosts[number]
        words = inside[into].split(" ")
        at = chance.randrange(len(words) + 1)
        planted = piece if number % 2 == 0 else changed(piece, words_of(inside[0]), chance)
        inside[into] = " ".join([*words[:at], planted, *words[at:]])
        kind = "planted" if number % 2 == 0 else "changed"
        asked.append(Paragraph(kind, piece, _entry(into, "").url))
    writer = IndexWriter(home / "index")
    for number, text in enumerate(inside, 1):
        writer.put(_entry(number - 1, text))
        if number % 2_000 == 0 or number == pages:
            writer.commit({})
    writer.close()
    CollectionPaths(home).make()
    open_to_write(CollectionPaths(home), memory_mb=64).close()
    asked += controls(inside, chance)
    lines = (json.dumps([one.kind, one.text, one.url]) for one in asked)
    (home / _TRUTH).write_text("\n".join(lines), encoding="utf-8")
    return asked


def read_truth(home: Path) -> list[Paragraph]:
    lines = (home / _TRUTH).read_text(encoding="utf-8").split("\n")
    return [Paragraph(*json.loads(line)) for line in lines]


def figures(home: Path, asked: Sequence[Paragraph], rounds: int) -> Iterator[Figure]:
    """What is found of each kind, what of the controls, and the time that it takes."""
    engine = Engine(home)
    for one in asked[:20]:
        engine.copies(CopiesRequest(text=one.text))
    found: dict[str, list[bool]] = {}
    cuts: list[list[float]] = []
    stolen = []
    for number in range(rounds):
        before, took_ms = taken(), []
        for one in asked:
            start_s = time.perf_counter()
            copies = engine.copies(CopiesRequest(text=one.text))
            took_ms.append((time.perf_counter() - start_s) * 1000)
            if number == 0:
                is_found = any(one.url in ("", copy.url) for copy in copies)
                found.setdefault(one.kind, []).append(is_found)
        cuts.append(quantiles(took_ms, n=100))
        stolen.append(percent_stolen(before, taken()))
    for kind, marks in found.items():
        share = sum(marks) / len(marks)
        if kind in ("planted", "changed"):
            yield Figure(f"share of {len(marks)} {kind} paragraphs found", (share,), 1.0, 1.0)
        else:
            words = f"{kind} controls found, of {len(marks)}"
            yield Figure(words, (sum(marks),), 0, 0, is_least=False)
    for name, at, gate in (("median", 49, None), ("95th percentile", 94, 100)):
        runs = tuple(one[at] for one in cuts)
        aim = 50 if gate else None
        yield Figure(f"copies of a paragraph in ms, {name}", runs, gate, aim, is_least=False)
    yield Figure("per cent of the processor that others took", tuple(stolen), is_least=False)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=Path, default=SITES)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = options.keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        if (home / _TRUTH).exists():
            asked = read_truth(home)
        else:
            asked = build(home, options.sites, options.data, options.pages)
        results = []
        for figure in figures(home, asked, options.rounds):
            print(figure.as_json(), flush=True)
            results.append(figure)
    return int(any(figure.verdict == "missed" for figure in results))


if __name__ == "__main__":
    sys.exit(main())
