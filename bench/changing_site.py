"""A site whose pages change as those of a trace did, with time sped up, and the truth about it.

    site = TraceSite.from_trace(trace, pages=1000, lasts_s=600)
    with served(site) as url:
        ...
    site.truth.freshness(begin_s, end_s)

The trace is a CSV of `path,timestamp,...`; commits of more than 50 files are left out. Each page
has 30 KB of text that tells its version, ETag and Last-Modified are true, and conditional requests
are answered with 304. Pages are born and deleted when the trace says so; `/` links to a page for
each directory, which links to its pages. The server notes which version it gave last of each URL,
so it knows at every moment which copies of its client are up to date.
"""

from __future__ import annotations

import asyncio
import csv
import gzip
import random
import threading
import time
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from typing import Final, NamedTuple

_MANY_FILES: Final = 50
_BODY_WORDS: Final = 3_500
_PARAGRAPH: Final = 100  # words
_VOCABULARY: Final = 3_000
_SYLLABLES: Final = [one + other for one in "bdfgklmnprstvz" for other in "aeiou"]
_EDITED: Final = 5  # words in each version
_LEAST_CHANGES: Final = 3
_SAMPLE_S: Final = 0.25
_DELETED: Final = "D"


class Event(NamedTuple):
    """Something happened to a page. `at_s` is seconds after the start of the site."""

    at_s: float
    is_there: bool


class Delivered(NamedTuple):
    """A version that the client was told."""

    at_s: float  # wall time
    path: str
    version: int
    status: int
    size_bytes: int  # of the answer with its head


@dataclass
class Truth:
    """What the client was told, and how much of it was true at each moment."""

    given: list[Delivered] = field(default_factory=list)
    last: dict[str, int] = field(default_factory=dict)  # path -> version
    samples: list[tuple[float, float]] = field(default_factory=list)  # wall time, share

    def note(self, one: Delivered) -> None:
        self.given.append(one)
        self.last[one.path] = one.version

    def freshness(self, begin_s: float, end_s: float) -> float:
        """The mean share of copies that were up to date between two moments of wall time."""
        seen = [share for at_s, share in self.samples if begin_s <= at_s <= end_s]
        return sum(seen) / len(seen)

    def unchanged_share(self) -> float:
        """Of all bytes that were sent, those for pages that the client had already."""
        known: dict[str, int] = {}
        spent = total = 0
        for one in self.given:
            total += one.size_bytes
            spent += one.size_bytes if known.get(one.path) == one.version else 0
            known[one.path] = one.version
        return spent / total


class TraceSite:
    """The pages of a site over time. The time begins with `start`."""

    def __init__(self, events: dict[str, list[Event]]) -> None:
        self._events = {f"/{path}.html": found for path, found in events.items()}
        folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self._events):
            folders[path.rpartition("/")[0] + "/"].append(path)
        self._folders = dict(folders)
        for folder, pages in self._folders.items():
            self._events[folder] = _listing_events(self._events[page] for page in pages)
        self._events.setdefault("/", [Event(0.0, True)])
        self._times = {path: [one.at_s for one in found] for path, found in self._events.items()}
        self.truth = Truth()
        self.began_s = 0.0  # wall time
        self.is_conditional = True

    @classmethod
    def from_trace(cls, trace: Path, pages: int, lasts_s: float, seed: int = 17) -> TraceSite:
        """The second half of the trace, as `pages` of its pages lived through it."""
        changes = _changes_of(trace)
        times = sorted(at_s for found in changes.values() for at_s, _ in found)
        begin_s, end_s = times[len(times) // 2], times[-1]
        scale = lasts_s / (end_s - begin_s)
        events = {
            path: made
            for path, found in sorted(changes.items())
            if len(made := _scaled(found, begin_s, scale)) > _LEAST_CHANGES
        }
        chosen = random.Random(seed).sample(sorted(events), min(pages, len(events)))
        return cls({path: events[path] for path in chosen})

    def knows(self, path: str) -> bool:
        return path in self._events

    def start(self) -> None:
        self.began_s = time.time()

    def version_at(self, path: str, wall_s: float) -> int:
        """Number of the version of a moment, from 1; 0 before the page is born."""
        return bisect_right(self._times[path], wall_s - self.began_s)

    def is_there(self, path: str, version: int) -> bool:
        return version > 0 and self._events[path][version - 1].is_there

    def changed_s(self, path: str, version: int) -> float:
        """Wall time at which a version came."""
        return self.began_s + self._times[path][version - 1]

    def body(self, path: str, version: int) -> bytes:
        """The page of a version. Its source names the version; five words of its text are new."""
        links, words = self._links(path, version), _words(path, version)
        return (
            f'<!doctype html><html data-version="{version}"><head><title>{path}</title></head>'
            f"<body><h1>{path}</h1>{_paragraphs(words)}{links}</body></html>"
        ).encode()

    def is_page(self, path: str) -> bool:
        """Whether it is a page of the trace, and no list."""
        return path.endswith(".html")

    def changed_words(self, path: str, before: int, after: int) -> int:
        """In how many words two versions of a page differ."""
        pairs = zip(_words(path, before), _words(path, after), strict=True)
        return sum(one != other for one, other in pairs)

    def _links(self, path: str, version: int) -> str:
        at_s = self.changed_s(path, version)
        pages = self._folders.get(path, ())
        targets = [p for p in pages if self.is_there(p, self.version_at(p, at_s))]
        if path == "/":
            targets += [folder for folder in self._folders if folder != "/"]
        return "".join(f'<p><a href="{target}">{target}</a></p>' for target in targets)

    def sample(self) -> None:
        """Note how many of the copies are up to date now."""
        now_s, known = time.time(), list(self.truth.last.items())
        fresh = sum(self.version_at(path, now_s) == version for path, version in known)
        if known:
            self.truth.samples.append((now_s, fresh / len(known)))


def _words(path: str, version: int) -> list[str]:
    """The text of a version. Each has five words that the one before does not have."""
    chance = random.Random(path)
    words = [_word(chance.randrange(_VOCABULARY)) for _ in range(_BODY_WORDS)]
    for number in range(2, version + 1):
        at = number * 7919 % (len(words) - _EDITED)
        new = (_VOCABULARY + number * _EDITED + place for place in range(_EDITED))
        words[at : at + _EDITED] = map(_word, new)
    return words


def _paragraphs(words: list[str]) -> str:
    starts = range(0, len(words), _PARAGRAPH)
    return "".join(f"<p>{' '.join(words[at : at + _PARAGRAPH])}</p>" for at in starts)


def _word(number: int) -> str:
    """A word of letters only: one with digits may be taken for a token, which is noise."""
    syllables = []
    for _ in range(3):
        number, rest = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[rest])
    return "".join(syllables)


def _listing_events(pages: Iterable[list[Event]]) -> list[Event]:
    """A list of pages changes when one of them is born or deleted."""
    times = {0.0}
    for events in pages:
        was_there = False
        for one in events:
            if one.is_there != was_there:
                times.add(one.at_s)
            was_there = one.is_there
    return [Event(at_s, True) for at_s in sorted(times)]


def _changes_of(trace: Path) -> dict[str, list[tuple[int, bool]]]:
    with gzip.open(trace, "rt", encoding="utf-8", newline="") as file:
        rows = [(r["path"], int(r["timestamp"]), r["status"], int(r["files_in_commit"]))
                for r in csv.DictReader(file)]  # fmt: skip
    found: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    for path, at_s, status, files in rows:
        is_birth = path not in found
        if files <= _MANY_FILES or is_birth or status == _DELETED:
            found[path].append((at_s, status != _DELETED))
    return {path: sorted(changes) for path, changes in found.items()}


def _scaled(changes: list[tuple[int, bool]], begin_s: float, scale: float) -> list[Event]:
    """The events after the beginning; what was there before is there from the start."""
    earlier = [is_there for at_s, is_there in changes if at_s <= begin_s]
    events = [Event(0.0, True)] if earlier and earlier[-1] else []
    for at_s, is_there in changes:
        if at_s > begin_s and (events or is_there):
            events.append(Event((at_s - begin_s) * scale, is_there))
    return events


# -- serving


@contextmanager
def served(site: TraceSite) -> Iterator[str]:
    """Serve the site on a free port of this machine, in a thread; its root URL."""
    ready, ended = threading.Event(), threading.Event()
    port: list[int] = []

    def run() -> None:
        with asyncio.Runner() as runner:
            runner.run(_serve(site, port, ready, ended))

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    try:
        yield f"http://127.0.0.1:{port[0]}/"
    finally:
        ended.set()
        thread.join()


async def _serve(
    site: TraceSite, port: list[int], ready: threading.Event, ended: threading.Event
) -> None:
    talks: set[asyncio.Task[None]] = set()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        talks.add(task)
        try:
            with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while True:
                    request = await reader.readuntil(b"\r\n\r\n")
                    writer.write(_answer(site, request))
                    await writer.drain()
        finally:
            talks.discard(task)
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    port.append(server.sockets[0].getsockname()[1])
    site.start()
    ready.set()
    while not ended.is_set():
        site.sample()
        await asyncio.sleep(_SAMPLE_S)
    server.close()
    for task in list(talks):
        task.cancel()
    await asyncio.gather(*talks, return_exceptions=True)


def _answer(site: TraceSite, request: bytes) -> bytes:
    first, *lines = request.decode("latin-1").split("\r\n")
    path = first.split(" ")[1]
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    if not site.knows(path):
        return _packed(404, "text/plain", b"not found")
    now_s = time.time()
    version = site.version_at(path, now_s)
    if version == 0:
        return _packed(404, "text/plain", b"not yet")
    if not site.is_there(path, version):
        status, answer = 404, _packed(404, "text/plain", b"deleted")
    else:
        etag = f'"{version}"'
        modified = formatdate(site.changed_s(path, version), usegmt=True)
        validators = f"ETag: {etag}\r\nLast-Modified: {modified}\r\n"
        if site.is_conditional and headers.get("if-none-match") == etag:
            status, answer = 304, _packed(304, "", b"", validators)
        else:
            status, answer = 200, _packed(200, "text/html", site.body(path, version), validators)
    site.truth.note(Delivered(now_s, path, version, status, len(answer)))
    return answer


def _packed(status: int, mime: str, body: bytes, more: str = "") -> bytes:
    words = {200: "OK", 304: "Not Modified", 404: "Not Found"}[status]
    kind = f"Content-Type: {mime}; charset=utf-8\r\nContent-Length: {len(body)}\r\n" if mime else ""
    return f"HTTP/1.1 {status} {words}\r\n{kind}{more}\r\n".encode() + body


def statuses(site: TraceSite) -> Counter[int]:
    """How often each status was given."""
    return Counter(one.status for one in site.truth.given)
