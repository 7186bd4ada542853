"""How well and how quickly is the main content of a page found?

    python -m bench.extraction [--folds 5] [--vary] [--markdown]

Scores `parse/main_part.py` on the pages of `extraction/` in the shared data, whose article text
people have marked: precision and recall of pieces of four words, averaged over the pages, F1 of
both, pages without any text in the answer, and milliseconds of CPU a page. The same for
trafilatura, readability-lxml, resiliparse and turbohtml, where they are installed.

`--folds` scores each of several random parts of the pages alone: how far they lie apart says how
much of a difference is chance. `--vary` moves each constant of the rules down and up by a quarter:
rules that fit these pages alone would lose by it. Prints one JSON object a line, or a table.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Final, NamedTuple

import turbohtml
from bench.figures import Figure

from gossamer.parse import blocks, main_part
from gossamer.parse.text_walk import text_of

_DATA: Final = Path(
    os.environ.get("TEST_DATA", Path(__file__).parents[2] / "shared" / "data"), "extraction"
)
_GATE: Final = 0.90
_AIM: Final = 0.96
_WORDS: Final = 4
_VARIED: Final = (
    (main_part, "_SHARE _BODY_SHARE _TITLED_SHARE _LEAST_TEXT _HEAVY _TITLED _ENOUGH _MOST_PRUNED"),
    (main_part, "_MOSTLY_LINKS _MOST_LISTS _MOST_LABELS"),
    (blocks, "FEWEST_CHARS _LINKED"),
)

Extractor = Callable[[bytes], str]


class Marked(NamedTuple):
    """A page, and the text that people have marked in it."""

    html: bytes
    text: str


class Score(NamedTuple):
    """Means over pages; pages without an answer count as recall 0 and have no precision."""

    precision: float
    recall: float
    empty: int
    took_ms: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(1e-9, self.precision + self.recall)


def pages_in(folder: Path) -> list[Marked]:
    """The marked pages in the order of their names."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    files = ((folder / "html" / f"{name}.html.gz", truth[name]) for name in sorted(truth))
    return [Marked(gzip.decompress(path.read_bytes()), one["articleBody"]) for path, one in files]


def pieces(text: str) -> Counter[tuple[str, ...]]:
    """All runs of four words; a shorter text is one piece."""
    words = re.findall(r"\w+", text)
    runs = max(1, len(words) - _WORDS + 1)
    return Counter(tuple(words[start : start + _WORDS]) for start in range(runs))


def score(extract: Extractor, pages: Sequence[Marked]) -> Score:
    """Run an extractor over pages and compare."""
    began_s = time.process_time()
    answers = [extract(page.html) for page in pages]
    took_ms = 1000 * (time.process_time() - began_s) / len(pages)
    precisions, recalls = [], []
    for page, answer in zip(pages, answers, strict=True):
        true, found = pieces(page.text), pieces(answer)
        both = (true & found).total()
        recalls.append(both / true.total())
        if answer.strip():
            precisions.append(both / found.total())
    empty = len(pages) - len(precisions)
    precision = sum(precisions) / max(1, len(precisions))
    return Score(precision, sum(recalls) / len(recalls), empty, took_ms)


def ours(html: bytes) -> str:
    """The text that `gossamer page --main` shows."""
    part = main_part.main_part(turbohtml.parse(html))
    return "" if part is None else text_of(part)


def others() -> Iterator[tuple[str, Extractor]]:
    """Other libraries, as far as they are installed, as their documents say to call them."""
    yield "turbohtml", lambda html: turbohtml.parse(html).main_text()
    if (trafilatura := _module("trafilatura")) is not None:
        yield "trafilatura", lambda html: trafilatura.extract(html, include_comments=False) or ""
    if (readability := _module("readability")) is not None:
        yield "readability-lxml", lambda html: _readable(readability, html)
    if (resiliparse := _module("resiliparse.extract.html2text")) is not None:
        yield "resiliparse", lambda html: _resiliparse(resiliparse, html)


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _readable(readability: ModuleType, html: bytes) -> str:
    summary: str = readability.Document(html.decode("utf-8", "replace")).summary()
    return turbohtml.parse(summary).to_text()


def _resiliparse(html2text: ModuleType, html: bytes) -> str:
    encoding = importlib.import_module("resiliparse.parse.encoding")
    page = encoding.bytes_to_str(html, encoding.detect_encoding(html))
    text: str = html2text.extract_plain_text(page, main_content=True, alt_texts=False)
    return text


def folds_of(pages: Sequence[Marked], count: int) -> list[list[Marked]]:
    """The pages in so many random parts, always the same."""
    mixed = random.Random(15).sample(pages, len(pages))
    return [mixed[start::count] for start in range(count)]


def varied(pages: Sequence[Marked]) -> Iterator[tuple[str, float]]:
    """F1 with each constant moved by a quarter."""
    for module, names in _VARIED:
        for name in names.split():
            usual = getattr(module, name)
            for factor in (0.75, 1.25):
                setattr(module, name, usual * factor)
                yield f"{name.lstrip('_')} x {factor}", score(ours, pages).f1
            setattr(module, name, usual)


def table(scores: Mapping[str, Score]) -> str:
    """Scores as Markdown, with the speed as a multiple of ours."""
    lines = [
        "| | precision | recall | F1 | empty | ms of CPU a page | of our time |",
        "|---|---|---|---|---|---|---|",
    ]
    own = next(iter(scores.values())).took_ms
    lines += [
        f"| {name} | {one.precision:.3f} | {one.recall:.3f} | {one.f1:.3f} | {one.empty} "
        f"| {one.took_ms:.1f} | {one.took_ms / own:.1f} |"
        for name, one in scores.items()
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--vary", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    pages = pages_in(_DATA)
    score(ours, pages[:20])  # the first pages load modules
    scores = {"gossamer": score(ours, pages)}
    scores |= {name: score(extract, pages) for name, extract in others()}
    if options.markdown:
        print(table(scores))
    else:
        for name, one in scores.items():
            wanted = (_GATE, _AIM) if name == "gossamer" else (None, None)
            print(Figure(f"F1: {name}", (one.f1,), *wanted).as_json())
            print(Figure(f"ms a page: {name}", (one.took_ms,), is_least=False).as_json())
    parts = tuple(score(ours, part).f1 for part in folds_of(pages, options.folds))
    print(Figure(f"F1 of {options.folds} parts: gossamer", parts).as_json())
    for name, f1 in varied(pages) if options.vary else ():
        print(Figure(f"F1 with {name}", (f1,)).as_json(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
