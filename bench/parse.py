"""What does parsing cost, stage by stage?

    python -m bench.parse DIR [--pages 100] [--rounds 9]

Takes some HTML pages of a directory, always the same ones, and prints one JSON object a line: a
stage, and its milliseconds of CPU a page, the best of all rounds. `tree` is the library's bare
parse, to which the others are to be compared: `parser` is all that `Parser.parse` does, and
`bare parser` what it does for a crawl without graph and index. The stages between add up to
`parser`, but for what a cold cache costs. Figures of one machine at one time compare with each
other only.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import turbohtml
from turbohtml import PlainText

from gossamer.parse.charset import html_charset
from gossamer.parse.html import Parser
from gossamer.parse.language.language import language_of
from gossamer.parse.reading import TreeReader
from gossamer.settings import Parse

URL: Final = "http://bench.example/dir/page.html"

_Given = TypeVar("_Given")


def pages_of(folder: Path, count: int) -> list[bytes]:
    """Some pages of a folder, the same each time; symbolic links left out."""
    paths = sorted(p for p in folder.rglob("*.html") if p.is_file() and not p.is_symlink())
    random.Random(1).shuffle(paths)
    return [path.read_bytes() for path in paths[:count]]


def best_ms(work: Callable[[_Given], object], given: Sequence[_Given], rounds: int) -> float:
    """Milliseconds of CPU for one of `given`, in the best of some rounds over all of them."""
    best_s = float("inf")
    for _ in range(rounds):
        start_s = time.process_time()
        for one in given:
            work(one)
        best_s = min(best_s, time.process_time() - start_s)
    return best_s / len(given) * 1000


def measure(bodies: Sequence[bytes], rounds: int) -> dict[str, float]:
    """The cost of each stage."""
    settings = Parse()
    parser, bare = Parser(settings), Parser(settings, is_bare=True)
    reader = TreeReader(settings, frozenset(), is_bare=False)
    options = PlainText(bullet="", layout="strict")
    trees = [turbohtml.parse(body, encoding=html_charset(body)) for body in bodies]
    texts = [tree.to_text(options) for tree in trees]
    languages = [reader.read(tree).language for tree in trees]
    spoken = list(zip(texts, languages, strict=True))
    return {
        "charset": best_ms(html_charset, bodies, rounds),
        "tree": best_ms(lambda body: turbohtml.parse(body, encoding="utf-8"), bodies, rounds),
        "links and meta": best_ms(reader.read, trees, rounds),
        "text": best_ms(lambda tree: tree.to_text(options), trees, rounds),
        "language": best_ms(lambda one: language_of(*one, settings.language_chars), spoken, rounds),
        "parser": best_ms(lambda body: parser.parse(URL, "text/html", body), bodies, rounds),
        "bare parser": best_ms(lambda body: bare.parse(URL, "text/html", body), bodies, rounds),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    bodies = pages_of(options.folder, options.pages)
    if not bodies:
        parser.error(f"there is no .html in {options.folder}")
    links = sum(len(Parser(Parse()).parse(URL, "text/html", body).links) for body in bodies)
    size = {
        "folder": options.folder.name,
        "pages": len(bodies),
        "kb": round(sum(map(len, bodies)) / len(bodies) / 1000, 1),
        "links": round(links / len(bodies), 1),
    }
    for stage, ms in measure(bodies, options.rounds).items():
        print(json.dumps({**size, "stage": stage, "ms": round(ms, 4)}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
