"""Compare the modes of `--duplicates` on a stored crawl.

Every page is read once from the archive, in the order of the fetches, and judged in each mode as a
crawl in that mode would have done. Nothing is written.

A dropped page is *distinct* when its visible text differs from that of the page that stays, dates,
counters and tokens apart: a reader would miss it. It is *varied* when its text differs only in
those.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

from gossamer.duplicates.judging import Judge, Sketched
from gossamer.duplicates.masked_text import masked
from gossamer.errors import CorruptFile, NotKnown, Rewritten
from gossamer.fetch.judge import type_of
from gossamer.frontier.duplicates.pointers import Fetch
from gossamer.frontier.rows import Standing, UrlRow
from gossamer.frontier.store import StateTable
from gossamer.node.duplicates.comparing import HtmlReader
from gossamer.policies.duplicates import HTML, GroupedDuplicates
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredPage
from gossamer.records import Page
from gossamer.settings import DuplicateMode
from gossamer.workers.sketching import sketcher_for

MODES: Final[tuple[DuplicateMode, ...]] = ("none", "exact", "near", "html95")
_LARGEST: Final = 5  # groups that are shown
_EXAMPLES: Final = 3  # pages of a group, and distinct pages
_AT_ONCE: Final = 1_000  # pages compared at a time

TellProgress = Callable[[str], None]


@dataclass(slots=True)
class ModeResult:
    """What one mode does to the pages of a collection."""

    mode: DuplicateMode
    pages: int = 0
    dropped: int = 0
    groups: int = 0  # pages that stay and have duplicates
    distinct: int = 0  # dropped pages that a reader would miss
    varied: int = 0  # dropped pages that differ in dates, counters and tokens
    cpu_s: float = 0.0
    compared: int = 0  # pairs of pages whose HTML was compared
    largest: list[tuple[str, int, list[str]]] = field(default_factory=list)  # URL, copies, examples
    lost: list[tuple[str, str]] = field(default_factory=list)  # distinct pages, and what stays

    @property
    def kept(self) -> int:
        return self.pages - self.dropped

    @property
    def share(self) -> float:
        """Of the pages, those that are dropped."""
        return self.dropped / self.pages if self.pages else 0.0


@dataclass(slots=True)
class _Facts:
    """What is known of a page: its text by 16 bytes, masked and not, and by mode its sketch."""

    text: bytes
    masked: bytes
    sketches: dict[DuplicateMode, bytes]


class _Pages:
    """The pages of a collection, each read once."""

    def __init__(self, reader: CollectionReader) -> None:
        self._reader = reader
        self.rows: dict[bytes, UrlRow] = {}
        self.facts: dict[bytes, _Facts] = {}
        self.cpu_s: dict[DuplicateMode, float] = dict.fromkeys(MODES, 0.0)

    def read(self, notify: TellProgress) -> list[bytes]:
        """Read all; the pages by moment and key, in this order."""
        for key, packed in self._reader.scan(StateTable.URL):
            row = UrlRow.decode(packed)
            if row.standing == Standing.FETCHED and row.status == 200 and row.size_bytes:
                self.rows[Fetch(row.body_us or row.at_us, key).encode()] = row
        order = sorted(self.rows)
        for count, page in enumerate(order, 1):
            self.facts[page] = self._facts(self.rows[page])
            if count % _AT_ONCE == 0:
                notify(f"{count:,} of {len(order):,} pages read")
        return order

    def _facts(self, row: UrlRow) -> _Facts:
        try:
            stored = self._reader.page(row.url)
            body, read = stored.body, _parsed(stored)
            mime = type_of(stored.content_type, stored.raw_body)
        except (CorruptFile, NotKnown):
            body, read, mime = b"", Page(base=row.url), row.type
        sketches: dict[DuplicateMode, bytes] = {}
        for mode in MODES:
            start_s = time.process_time()
            sketches[mode] = sketcher_for(mode)(mime, body, read)
            self.cpu_s[mode] += time.process_time() - start_s
        whole = " ".join(f"{read.title} {read.text}".split())
        return _Facts(_digest(whole), _digest(masked(whole)), sketches)


def compare_modes(
    reader: CollectionReader, threshold: float, notify: TellProgress = lambda _: None
) -> list[ModeResult]:
    """What each mode does to the pages of a collection. Raises Rewritten, CorruptFile."""
    pages = _Pages(reader)
    order = pages.read(notify)
    most_bytes = reader.settings().parse.max_decoded_bytes
    html = HtmlReader(reader.store, reader.paths.archive, most_bytes)
    results = []
    for mode in MODES:
        result = ModeResult(mode, len(order))
        start_s = time.process_time()
        judge = Judge(threshold, html.read)
        pointers = dict(_pointers(mode, order, pages, judge))
        result.cpu_s = pages.cpu_s[mode] + time.process_time() - start_s
        result.compared = judge.compared
        _sum_up(result, pointers, pages)
        results.append(result)
        notify(f"{mode}: {result.dropped:,} of {result.pages:,} pages dropped")
    return results


def result_object(results: Sequence[ModeResult], threshold: float) -> dict[str, Any]:
    """The results for programs."""
    return {
        "schema": 1,
        "threshold": threshold,
        "modes": [
            {
                "mode": one.mode,
                "pages": one.pages,
                "kept": one.kept,
                "dropped": one.dropped,
                "share": round(one.share, 5),
                "groups": one.groups,
                "distinct_dropped": one.distinct,
                "varied_dropped": one.varied,
                "cpu_s": round(one.cpu_s, 3),
                "compared": one.compared,
                "largest": [
                    {"url": url, "copies": copies, "examples": examples}
                    for url, copies, examples in one.largest
                ],
                "distinct_examples": [{"url": url, "stays": stays} for url, stays in one.lost],
            }
            for one in results
        ],
    }


def _pointers(
    mode: DuplicateMode, order: Sequence[bytes], pages: _Pages, judge: Judge
) -> Iterator[tuple[bytes, bytes]]:
    """Each duplicate with the page that it points to, both by moment and key."""
    if mode == "none":
        return
    policy, firsts = GroupedDuplicates(mode), dict[bytes, bytes]()
    compared: list[Sketched] = []
    for page in order:
        row, sketch = pages.rows[page], pages.facts[page].sketches[mode]
        if sketch[:1] == HTML:
            compared.append(Sketched(page, sketch[1:]))
        elif group := policy.group(row.status, row.size_bytes, row.digest, sketch):
            first = firsts.setdefault(group, page)
            if first != page:
                yield page, first
    for start in range(0, len(compared), _AT_ONCE):
        for verdict in judge.judge(compared[start : start + _AT_ONCE]):
            if verdict.first:
                yield verdict.page, verdict.first


def _sum_up(result: ModeResult, pointers: dict[bytes, bytes], pages: _Pages) -> None:
    result.dropped = len(pointers)
    counts = Counter(pointers.values())
    result.groups = len(counts)
    for first, copies in counts.most_common(_LARGEST):
        examples = [pages.rows[page].url for page, of in pointers.items() if of == first]
        result.largest.append((pages.rows[first].url, copies, examples[:_EXAMPLES]))
    for page, first in pointers.items():
        one, other = pages.facts[page], pages.facts[first]
        if one.masked != other.masked:
            result.distinct += 1
            if len(result.lost) < _EXAMPLES:
                result.lost.append((pages.rows[page].url, pages.rows[first].url))
        elif one.text != other.text:
            result.varied += 1


def _parsed(stored: StoredPage) -> Page:
    try:
        return stored.page
    except Rewritten:
        raise
    except Exception:  # noqa: BLE001  # the outcome of the page records this failure
        return Page(base=stored.url)


def _digest(text: str) -> bytes:
    return blake2b(text.encode(errors="replace"), digest_size=16).digest()
