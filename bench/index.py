"""What does the index cost, choice by choice?

    python -m bench.index DIR [--pages 1500] [--rounds 3]

Takes some HTML pages of a directory, always the same ones, and prints one JSON object a line: a
choice, its milliseconds of CPU a page (threads of the index included), the best of all rounds, and
its bytes a page on the disk. `as built` is what a crawl pays: putting pages, noting their links,
commits, the late pass over anchors, closing. The others are single fields, so that choices can be
compared: with and without positions, stems, the text stored. `texts` compares ways to keep texts
for snippets, with the milliseconds of wall time that ten of them take. Figures of one machine at
one time compare with each other only.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tantivy
from isal import isal_zlib

from gossamer.index.entry import Entry
from gossamer.index.words import normal
from gossamer.index.writer import IndexWriter
from gossamer.parse.html import Parser
from gossamer.settings import Parse
from gossamer.urls.canonical import NormalForm
from gossamer.urls.keys import Keys
from gossamer.urls.linker import Linker

ROOT: Final = "http://bench.example/"


@dataclass(frozen=True, slots=True)
class Bench:
    """A page with the links whose like no page before it had: (target, anchor)."""

    entry: Entry
    body: bytes
    links: tuple[tuple[bytes, str], ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one page."""

    ms: float
    size_bytes: float


def pages_of(folder: Path, count: int) -> list[Bench]:
    """Some pages of a folder, the same each time; symbolic links left out."""
    paths = sorted(p for p in folder.rglob("*.html") if p.is_file() and not p.is_symlink())
    random.Random(1).shuffle(paths)
    parser, keys = Parser(Parse()), Keys(bytes(16))
    linker = Linker(NormalForm(), keys)
    told: set[tuple[bytes, str]] = set()
    return [
        _page(ROOT + str(path.relative_to(folder)), path.read_bytes(), parser, keys, linker, told)
        for path in paths[:count]
    ]


def _page(
    url: str,
    body: bytes,
    parser: Parser,
    keys: Keys,
    linker: Linker,
    told: set[tuple[bytes, str]],
) -> Bench:
    page = parser.parse(url, "text/html", body)
    targets = linker.resolve_all(page.base, [link.href for link in page.links])
    links = {
        (target[1], link.text)
        for target, link in zip(targets, page.links, strict=True)
        if target is not None and link.text
    }
    new = tuple(sorted(links - told))
    told |= links
    entry = Entry(
        keys.of(url), url, page.title, page.headings, page.text, page.language, "text/html", 10**15
    )
    return Bench(entry, body, new)


def as_built(pages: Sequence[Bench], folder: Path, commit_every: int) -> None:
    """What a crawl does."""
    writer = IndexWriter(folder)
    for number, page in enumerate(pages, 1):
        writer.put(page.entry)
        for target, anchor in page.links:
            writer.note_anchor(target, anchor, page.entry.key)
        if number % commit_every == 0 or writer.is_full:
            writer.commit({"bench.warc.gz": number})
    writer.commit({"bench.warc.gz": len(pages)})
    writer.write_late_anchors()
    writer.close()


@dataclass(frozen=True, slots=True)
class Field:
    """How the text of a page is indexed, by itself."""

    option: str = "position"
    is_stemmed: bool = False
    is_stored: bool = False
    in_tantivy: bool = False  # cut and put into lower case there, without our normal form

    def fill(self, pages: Sequence[Bench], folder: Path) -> None:
        builder = tantivy.SchemaBuilder()
        builder.add_text_field(
            "text", stored=self.is_stored, tokenizer_name="words", index_option=self.option
        )
        index = tantivy.Index(builder.build(), str(folder))
        index.register_tokenizer("words", self._analyser())
        writer = index.writer(50_000_000, 1)
        for page in pages:
            document = tantivy.Document()
            text = page.entry.text.encode(errors="replace").decode()
            document.add_text("text", text if self.in_tantivy else normal(text))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()

    def _analyser(self) -> tantivy.TextAnalyzer:
        if self.in_tantivy:
            words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
            words = words.filter(tantivy.Filter.remove_long(100))
            return words.filter(tantivy.Filter.lowercase()).build()
        words = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace())
        return (
            words.filter(tantivy.Filter.stemmer("english")) if self.is_stemmed else words
        ).build()


FIELDS: Final = {
    "body: words with positions, cut by us": Field(),
    "body: words with positions, cut by tantivy": Field(in_tantivy=True),
    "body: words without positions": Field(option="freq"),
    "body: stems without positions, in place of words": Field(option="freq", is_stemmed=True),
    "body: words with positions, stored": Field(is_stored=True),
}


def cost(work: Callable[[Path], None], pages: int, rounds: int) -> Cost:
    """The best of some rounds, each in a folder of its own."""
    best_s, size_bytes = float("inf"), 0
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as name:
            start_s = time.process_time()
            work(Path(name))
            best_s = min(best_s, time.process_time() - start_s)
            size_bytes = sum(p.stat().st_size for p in Path(name).rglob("*") if p.is_file())
    return Cost(best_s / pages * 1000, size_bytes / pages)


def measure(pages: Sequence[Bench], rounds: int) -> dict[str, Cost]:
    """The cost of each choice."""
    count = len(pages)
    costs = {"normal form": cost(lambda _: _normal(pages), count, rounds)}
    for name, one in FIELDS.items():
        costs[name] = cost(lambda folder, one=one: one.fill(pages, folder), count, rounds)  # type: ignore[misc]
    for every in (500, 2_000, 1_000_000):
        name = f"as built, a commit every {every} pages"
        costs[name] = cost(lambda to, every=every: as_built(pages, to, every), count, rounds)  # type: ignore[misc]
    return costs


def _normal(pages: Sequence[Bench]) -> None:
    for page in pages:
        normal(page.entry.text)


def ten_texts(pages: Sequence[Bench]) -> dict[str, float]:
    """Milliseconds for the texts of ten pages: from a compressed text, and from the page itself."""
    ten = pages[:10]
    packed = [isal_zlib.compress(page.entry.text.encode(errors="replace"), 0) for page in ten]
    parser = Parser(Parse())
    return {
        "ten texts, compressed": _wall_ms(lambda: [isal_zlib.decompress(one) for one in packed]),
        "ten texts, pages parsed again": _wall_ms(
            lambda: [parser.parse(ROOT, "text/html", page.body) for page in ten]
        ),
    }


def _wall_ms(work: Callable[[], object]) -> float:
    best_s = float("inf")
    for _ in range(5):
        start_s = time.perf_counter()
        work()
        best_s = min(best_s, time.perf_counter() - start_s)
    return best_s * 1000


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    pages = pages_of(options.folder, options.pages)
    if not pages:
        parser.error(f"there is no .html in {options.folder}")
    size = {
        "folder": options.folder.name,
        "pages": len(pages),
        "text_kb": round(sum(len(page.entry.text) for page in pages) / len(pages) / 1000, 1),
        "new_links": round(sum(len(page.links) for page in pages) / len(pages), 1),
    }
    for choice, one in measure(pages, options.rounds).items():
        figure = {"choice": choice, "ms": round(one.ms, 4), "bytes": round(one.size_bytes)}
        print(json.dumps({**size, **figure}), flush=True)
    for choice, ms in ten_texts(pages).items():
        print(json.dumps({**size, "choice": choice, "ms": round(ms, 3)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
