"""What does the duplicate check cost, and what does it find?

    python -m bench.duplicates [--sites DIR] [--pages N] [--truth N] [--quick]

Real pages of several sites, with variants: the words of a page are replaced until there are enough
pages (those are different pages of the same template), one page in twenty is a page with a counter,
a date and an advertisement changed, one in forty is a plain copy. In the order of a crawl each page
is sketched, and judged among all pages before. CPU is measured in steps, so that a growing cost
shows. Pages are read from one file; `--quick` takes 5,000 pages.

The truth is brute force: all pairs of `--truth` pages whose lengths and byte counts allow it are
compared exactly. One line of JSON per figure.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from bench.figures import Figure
from bench.parse import pages_of
from rapidfuzz.distance import Indel

from gossamer.duplicates.judging import Judge, Sketched
from gossamer.duplicates.masked_text import text_fingerprint
from gossamer.duplicates.similar import may_be_similar
from gossamer.duplicates.sketch import sketch_of
from gossamer.parse.html import Parser
from gossamer.settings import Parse

_AT_LEAST: Final = 0.95
_PIECE: Final = 1_000  # pages judged at once, as in a crawl
_WORD: Final = re.compile(rb"(?<=[\s>(\"_./-])[A-Za-z]{3,12}(?=[\s<.,;:)\"_/-])")
_LARGEST: Final = 400_000


class Pages:
    """Pages by number, the same each time; each can be made again. Real pages stand among the
    others from the first page to the last, so that early and late pages are of the same kinds."""

    def __init__(self, real: Sequence[bytes], count: int) -> None:
        self._real = real
        self._every = max(1, count // len(real))

    def page(self, number: int) -> bytes:
        """A page of a crawl."""
        chance = random.Random(number)
        place, rest = divmod(number, self._every)
        if not rest and place < len(self._real):
            return self._real[place]
        kind = chance.random()
        if kind < 0.025:
            return self.page(chance.randrange(number))
        if kind < 0.075:
            return noisy(self.page(chance.randrange(number)), chance)
        return reworded(chance.choice(self._real), chance)


def noisy(html: bytes, chance: random.Random) -> bytes:
    """The page with a counter, a date and an advertisement that are new."""
    inserts = (
        b"<p>You are visitor number %d.</p>" % chance.randrange(10**7),
        b"<p>Today is %d.%d.20%02d</p>"
        % (chance.randrange(28), chance.randrange(12), chance.randrange(30)),
        b'<div class="ad"><a href="/c/%d"><img src="/b/%d.png"></a></div>'
        % (chance.randrange(10**6), chance.randrange(99)),
    )
    for insert in inserts:
        at = html.find(b">", chance.randrange(len(html) + 1)) + 1
        html = html[:at] + insert + html[at:]
    return html


def reworded(html: bytes, chance: random.Random) -> bytes:
    """A page of the same structure with other words and names: two in three are others."""
    return _WORD.sub(lambda found: _other(found[0], chance), html)


def _other(word: bytes, chance: random.Random) -> bytes:
    return b"%x" % chance.getrandbits(24) if chance.random() < 0.67 else word


def name_of(number: int) -> bytes:
    return number.to_bytes(24, "big")


class Stored:
    """Pages in a file, as a crawl has them in its archive: all of them would fill the memory, and
    to make one again takes a millisecond."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # it ends with the process
        self._places: list[tuple[int, int]] = []
        self._end = 0

    def add(self, html: bytes) -> None:
        self._file.write(html)
        self._places.append((self._end, len(html)))
        self._end += len(html)

    def read(self, number: int) -> bytes:
        start, size = self._places[number]
        return os.pread(self._file.fileno(), size, start)


def judged(pages: Pages, count: int) -> Iterator[tuple[int, float, float, float, Judge]]:
    """After each step the pages so far, and CPU seconds of sketching, judging and reading."""
    stored = Stored()
    read_s = 0.0

    def read(name: bytes) -> bytes:
        nonlocal read_s
        start_s = time.process_time()
        html = stored.read(int.from_bytes(name, "big"))
        read_s += time.process_time() - start_s
        return html

    judge = Judge(_AT_LEAST, read)
    for start in range(0, count, _PIECE):
        named = {name_of(n): pages.page(n) for n in range(start, min(count, start + _PIECE))}
        for html in named.values():
            stored.add(html)
        read_s = 0.0
        start_s = time.process_time()
        rows = [Sketched(name, sketch_of(html)) for name, html in named.items()]
        sketched_s = time.process_time()
        list(judge.judge(rows))
        yield (
            start + len(rows),
            sketched_s - start_s,
            time.process_time() - sketched_s - read_s,
            read_s,
            judge,
        )


def cost_figures(pages: Pages, count: int) -> Iterator[Figure]:
    """CPU and memory of a page, in the first thousands and in the last ones."""
    steps = list(judged(pages, count))
    sketch_us = sum(step[1] for step in steps) / count * 1e6
    judge_us = [step[2] / _PIECE * 1e6 for step in steps]
    tenth = max(1, len(steps) // 10)
    early, late = np.median(judge_us[1 : 1 + tenth]), np.median(judge_us[-tenth:])
    judge = steps[-1][4]
    yield figure("microseconds of CPU to sketch a page", sketch_us)
    yield figure("microseconds of CPU to judge a page, all", float(np.mean(judge_us)))
    yield figure(f"judging at {count:,} pages against 1,000", float(late / early))
    yield figure("bytes of memory for a page", judge.size_bytes / count, gate=400)
    yield figure("comparisons of two pages, for each page", judge.compared / count)


def crawl_figure(real: Sequence[bytes]) -> Iterator[Figure]:
    """CPU of parsing alone, and of the fingerprint for `near`, to compare with."""
    parser = Parser(Parse())
    start_s = time.process_time()
    read = [parser.parse("http://a.example/", "text/html", html, (), ()) for html in real]
    parsed_s = time.process_time()
    for page in read:
        text_fingerprint(page.title, page.text)
    yield figure("microseconds of CPU to parse a page", (parsed_s - start_s) / len(real) * 1e6)
    near_us = (time.process_time() - parsed_s) / len(real) * 1e6
    yield figure("microseconds of CPU for the fingerprint of `near`", near_us)


def truth_figures(pages: Sequence[bytes]) -> Iterator[Figure]:
    """Precision and page recall against all pairs."""
    near = brute_force(pages)
    judge = Judge(_AT_LEAST, lambda name: pages[int.from_bytes(name, "big")])
    rows = [Sketched(name_of(n), sketch_of(html)) for n, html in enumerate(pages)]
    found: dict[int, int] = {}
    for start in range(0, len(rows), _PIECE):
        for verdict in judge.judge(rows[start : start + _PIECE]):
            if verdict.first:
                page = int.from_bytes(verdict.page, "big")
                found[page] = int.from_bytes(verdict.first, "big")
    wrong = sum(first not in near[page] for page, first in found.items())
    missed = sum(
        any(other < page and other not in found for other in near[page])
        for page in range(len(pages))
        if page not in found
    )
    yield figure("true duplicates", len(found) - wrong + missed)
    yield figure("precision", 1 - wrong / max(1, len(found)), gate=1.0, is_least=True)
    recall = (len(found) - wrong) / max(1, len(found) - wrong + missed)
    yield figure("page recall", recall, gate=0.99, is_least=True)


def brute_force(pages: Sequence[bytes]) -> list[set[int]]:
    """For each page those that are similar by the exact comparison."""
    near: list[set[int]] = [set() for _ in pages]
    counts = [np.bincount(np.frombuffer(html, np.uint8), minlength=256) for html in pages]
    order = sorted(range(len(pages)), key=lambda n: len(pages[n]))
    for at, one in enumerate(order):
        for other in order[at + 1 :]:
            total = len(pages[one]) + len(pages[other])
            if not may_be_similar(len(pages[one]), len(pages[other]), _AT_LEAST):
                break
            if 2 * int(np.minimum(counts[one], counts[other]).sum()) < _AT_LEAST * total:
                continue
            if Indel.normalized_similarity(pages[one], pages[other], score_cutoff=_AT_LEAST):
                near[one].add(other)
                near[other].add(one)
    return near


def real_pages(sites: Path, about: int) -> list[bytes]:
    """Pages of all sites in a folder, as many of each, without those that are very large."""
    folders = sorted(one for one in sites.iterdir() if one.is_dir())
    each = max(1, about // max(1, len(folders)))
    pages = (html for folder in folders for html in pages_of(folder, each))
    return [html for html in pages if 64 < len(html) < _LARGEST]


def figure(name: str, value: float, *, gate: float | None = None, is_least: bool = False) -> Figure:
    """A figure that was measured once."""
    return Figure(name, (value,), gate, gate, is_least)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    home = os.environ.get("TEST_SITES", "/var/cache/gossamer-sites")
    parser.add_argument("--sites", type=Path, default=Path(home))
    parser.add_argument("--pages", type=int, default=100_000)
    parser.add_argument("--truth", type=int, default=2_000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    count = min(options.pages, 5_000) if options.quick else options.pages
    real = real_pages(options.sites, min(options.truth, count))
    random.Random(1).shuffle(real)
    if not real:
        sys.exit(f"no pages in {options.sites}")
    pages = Pages(real, count)
    small = [html for html in real if len(html) < 60_000][: options.truth * 2 // 3]
    chance = random.Random(2)
    truth = small + [noisy(html, chance) for html in small[: len(small) // 2]]
    chance.shuffle(truth)
    for figures in (crawl_figure(real[:300]), truth_figures(truth), cost_figures(pages, count)):
        for one in figures:
            print(one.as_json(), flush=True)


if __name__ == "__main__":
    main()
