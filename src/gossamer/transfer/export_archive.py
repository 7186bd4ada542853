"""Export the archive of a collection as one file for other tools: WARC or WACZ.

Works during a crawl: of each file it takes only the bytes that the state knew at the start. gzip
members can be concatenated, so a whole archive is copied byte for byte. A partial export takes the
matching exchanges and the first record of each file. Memory holds one block of a file and, for
WACZ, the index lines of a file that is still open.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Final

from gossamer.archive.cdxj import cdxj_path, line_of
from gossamer.archive.padding import first_without_salt
from gossamer.archive.reader import Exchange, iter_exchanges, read_records
from gossamer.archive.replaced import file_elsewhere
from gossamer.archive.wacz import ListedPage, WaczWriter
from gossamer.base.clock import Clock, SystemClock, iso_of
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CorruptFile, NotKnown, Rewritten, UsageError
from gossamer.frontier.meta_keys import PRUNED_PREFIX
from gossamer.frontier.rows import UrlRow, time_key
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Fetched, Outcome, Purpose
from gossamer.transfer.export_files import STDOUT, writing_to

ARCHIVES: Final = {"warc": ".warc.gz", "wacz": ".wacz"}
_COPIED_BYTES: Final = 1 << 20
_PAGE_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "application/pdf", ""})

Span = tuple[int, int]  # first byte, and the byte after the last


def check_archive(what: str, path: Path, prefix: str = "") -> None:
    """Raise UsageError for an invalid file name or prefix."""
    wanted = ARCHIVES[what]
    if path == STDOUT and what == "warc":
        return
    if path == STDOUT or not path.name.lower().endswith(wanted):
        raise UsageError(f"{path}: name a file that ends in {wanted} with -o")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; add a file name")
    if prefix and "://" not in prefix:
        raise UsageError(f"{prefix!r} is not a URL prefix (https://{prefix} expected)")


def export_archive(
    reader: CollectionReader,
    what: str,
    path: Path,
    pages: Iterable[ListedPage],
    prefix: str = "",
    clock: Clock | None = None,
) -> int:
    """Write the archive, or the exchanges whose URLs begin with `prefix`; return the bytes written.

    `pages` are listed in a WACZ. Raises UsageError, NotKnown, CorruptFile, DiskFault, Rewritten.
    """
    with reader.steady() as check:
        parts = list(_parts(reader, prefix))
        if not parts:
            named = f" for URLs that begin with {prefix}" if prefix else ""
            raise NotKnown(f"the archive of {reader.paths.path} contains nothing{named}")
        try:
            with writing_to(path, check) as file:
                return _write(file, what, parts, pages, reader.paths, clock or SystemClock())
        except FileNotFoundError:  # it was replaced, and kept for less time than this takes
            raise Rewritten(reader.paths.path) from None


def _write(
    file: IO[bytes],
    what: str,
    parts: list[_Part],
    pages: Iterable[ListedPage],
    paths: CollectionPaths,
    clock: Clock,
) -> int:
    if what == "warc":
        for part in parts:
            for piece in part.pieces():
                file.write(piece)
    else:
        title = f"Archive of {paths.path.resolve().name}"
        _write_wacz(file, parts, pages, title, iso_of(clock.wall_us()))
    return file.tell() if file.seekable() else sum(part.size for part in parts)


def _write_wacz(
    file: IO[bytes], parts: list[_Part], pages: Iterable[ListedPage], title: str, now: str
) -> None:
    wacz = WaczWriter(file, now)
    for part in parts:
        wacz.add_archive(part.name, part.pieces())
    wacz.add_index(heapq.merge(*(part.lines() for part in parts)))
    first: list[ListedPage] = []
    wacz.add_pages(_noting_first(pages, first))
    wacz.close(title, first[0] if first else None)


def _noting_first(pages: Iterable[ListedPage], first: list[ListedPage]) -> Iterator[ListedPage]:
    for page in pages:
        if not first:
            first.append(page)
        yield page


# -- which bytes


@dataclass(frozen=True, slots=True)
class _Part:
    """The exported spans of one WARC file, in order."""

    name: str
    folder: Path
    spans: list[Span]

    @property
    def path(self) -> Path:
        """Where the file is; a crawl may replace it meanwhile."""
        path = self.folder / self.name
        return path if path.exists() else file_elsewhere(path) or path

    @property
    def size(self) -> int:
        return sum(end - start for start, end in self.spans)

    def pieces(self) -> Iterator[bytes]:
        """Yield its bytes in blocks, without the salt of the collection's keys."""
        path = self.path
        with path.open("rb") as file:
            for start, end in self.spans:
                if not start and end:
                    first = first_without_salt(path)
                    yield from (first,) if first else ()
                    start = len(first)  # noqa: PLW2901
                file.seek(start)
                left = end - start
                while left:
                    piece = file.read(min(_COPIED_BYTES, left))
                    if not piece:
                        what = f"the file ends here, but {left} more bytes were committed"
                        raise CorruptFile(path, end - left, what)
                    left -= len(piece)
                    yield piece

    def lines(self) -> Iterator[str]:
        """Yield the index lines of its captures, sorted, with their offsets in the new file."""
        path = self.path
        index = cdxj_path(path)
        is_whole = self.spans == [(0, path.stat().st_size)]
        if is_whole and index.exists():
            with index.open(encoding="utf-8") as file:
                yield from (line.rstrip("\n") for line in file)
            return
        yield from sorted(self._made_lines(path))

    def _made_lines(self, path: Path) -> Iterator[str]:
        place = 0  # in the new file
        for start, end in self.spans:
            for record in read_records(path, start):
                if record.offset >= end:
                    break
                moved = replace(record, offset=place + record.offset - start)
                line = line_of(moved, self.name)
                if line is not None:
                    yield line
            place += end - start


def _parts(reader: CollectionReader, prefix: str) -> Iterator[_Part]:
    for name, end in sorted(known_ends(reader.store).items()):
        path = reader.paths.archive / name
        if not end:
            continue
        if not path.exists():
            found = file_elsewhere(path)  # it is being replaced
            if found is None:
                raise CorruptFile(path, 0, "the file is missing; restore it from a backup")
            path = found
        has_deleted = reader.store.find(StateTable.META, PRUNED_PREFIX + name.encode())
        is_deleted = _deleted_in(reader) if has_deleted else None
        is_whole = not prefix and is_deleted is None
        spans = [(0, end)] if is_whole else _spans_of(path, end, prefix, is_deleted)
        if spans:
            yield _Part(name, reader.paths.archive, spans)


def _deleted_in(reader: CollectionReader) -> Callable[[Exchange], bool]:
    """Return a function that says whether a retention rule has deleted a capture. It is still in
    its file if that was not written anew yet."""

    def is_deleted(exchange: Exchange) -> bool:
        lease, answer = exchange.lease, exchange.answer
        if lease.purpose is not Purpose.PAGE or not isinstance(answer, Fetched):
            return False
        key = reader.keys.of(lease.url)
        row = reader.find_key(key)
        is_older = row is not None and row.at_us > answer.at_us
        return is_older and not reader.store.find(StateTable.CAPTURE, key + time_key(answer.at_us))

    return is_deleted


def _spans_of(
    path: Path, end: int, prefix: str, is_deleted: Callable[[Exchange], bool] | None = None
) -> list[Span]:
    """Return the spans of URLs with the prefix, adjacent ones joined; the warcinfo span first."""
    spans: list[Span] = []
    for exchange in iter_exchanges(path):
        stored = exchange.stored
        if stored.end > end:
            break
        urls = (exchange.lease.url, exchange.answer.url)
        if not any(url.startswith(prefix) for url in urls):
            continue
        if is_deleted is not None and is_deleted(exchange):
            continue
        if not spans:
            info = next(read_records(path, limit_bytes=0))
            spans.append((0, info.length if info.type == "warcinfo" else 0))
        if spans[-1][1] == stored.start:
            spans[-1] = (spans[-1][0], stored.end)
        else:
            spans.append((stored.start, stored.end))
    return spans


# -- which pages


def is_listed(row: UrlRow) -> bool:
    """Whether a URL is a page that a WACZ lists."""
    is_page = row.outcome is Outcome.FETCHED and row.status == 200
    return is_page and row.type in _PAGE_TYPES
