"""Write archive files anew as one file, without deleted captures.

Exchanges keep their bytes and are put in the order in which they ended: a rebuild replays them in
this order. A page whose capture the state does not know any more is left out. Of failures, of
robots.txt and of sitemaps the newest of each URL stays: earlier ones have no effect on the state,
and nor have visits of a sitemap that found it unchanged.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from gossamer.archive.cdxj import cdxj_path, save_cdxj, write_cdxj
from gossamer.archive.reader import Exchange, iter_exchanges, read_info
from gossamer.archive.warc import warcinfo_bytes
from gossamer.base.checked_lines import crc32, crc32_of
from gossamer.base.files import sync_folder
from gossamer.frontier.rows import CaptureRow, UrlRow, time_key
from gossamer.frontier.store import StateTable, Store
from gossamer.records import Fetched, Purpose
from gossamer.urls.keys import Keys

_COPIED_BYTES: Final = 1 << 20
_ROWS_AT_ONCE: Final = 1_000
_WRITTEN_ANEW: Final = ("software", "format", "conformsTo")  # by `warcinfo_bytes`
_BUSY: Final = frozenset({429, 503})


class HasImports(Exception):
    """A file has imported exchanges. Others refer to their offsets, so it is not rewritten."""


@dataclass(slots=True)
class _Place:
    """An exchange of an input file."""

    path: Path
    start: int
    end: int
    response: int
    ended_us: float
    at_us: int
    capture: bytes = b""  # key of its row; empty for what is not a capture
    of: tuple[str, ...] = ()  # of what is not a capture: the newest of these stays
    sitemap: bytes = b""  # key and moment of a sitemap that is stored whole
    is_repeat: bool = False  # a sitemap that is stored elsewhere


@dataclass(slots=True)
class JoinedFile:
    """The new file."""

    path: Path
    size_bytes: int = 0
    crc32: int = 0
    cdxj: int = 0  # CRC-32 of its CDXJ file
    captures: list[tuple[bytes, int]] = field(default_factory=list)  # key of the row, new offset
    sitemaps: list[tuple[bytes, int]] = field(default_factory=list)  # key and moment, new offset
    dropped: int = 0  # exchanges


def join(
    inputs: Sequence[Path], new: Path, store: Store, keys: Keys, level: int, *, is_thinned: bool
) -> JoinedFile:
    """Write the exchanges of `inputs` to `new` with its CDXJ file, and sync both; if no exchange
    is left, write nothing. `is_thinned`: leave out earlier failures, robots.txt and sitemaps.

    Raises CorruptFile if an input is damaged, HasImports, OSError.
    """
    places = [place for path in inputs for place in _places(path, keys)]
    places.sort(key=lambda place: place.ended_us)
    kept = list(_kept(places, store, is_thinned=is_thinned))
    joined = JoinedFile(new, dropped=len(places) - len(kept))
    if not kept:
        return joined
    info = {k: v for k, v in read_info(inputs[-1]).items() if k not in _WRITTEN_ANEW}
    began_us = min((place.at_us for place in places), default=0)
    moved = _write(joined, kept, warcinfo_bytes(new.name, began_us, info, level))
    _write_index(joined, inputs, moved)
    sync_folder(new.parent)
    joined.captures = [
        (place.capture, moved[place.path, place.response]) for place in kept if place.capture
    ]
    joined.sitemaps = [
        (place.sitemap, moved[place.path, place.response]) for place in kept if place.sitemap
    ]
    return joined


# -- what stays


def _places(path: Path, keys: Keys) -> Iterator[_Place]:
    for exchange in iter_exchanges(path):
        yield _place(path, exchange, keys)


def _place(path: Path, exchange: Exchange, keys: Keys) -> _Place:
    lease, answer, stored = exchange.lease, exchange.answer, exchange.stored
    if lease.source:
        raise HasImports(path)
    place = _Place(
        path, stored.start, stored.end, stored.response,
        answer.at_us + answer.took_s * 1e6, answer.at_us,
    )  # fmt: skip
    is_answer = isinstance(answer, Fetched)
    name = keys.of(lease.url) + time_key(answer.at_us) if is_answer else b""
    if lease.purpose is Purpose.PAGE:
        place.capture = name
    elif lease.purpose is Purpose.SITEMAP:
        place.is_repeat = exchange.revisit_of is not None
        place.sitemap = b"" if place.is_repeat else name
    status = str(answer.status) if isinstance(answer, Fetched) else type(answer).__name__
    place.of = (lease.purpose.value, lease.url, status)
    return place


def _kept(places: Sequence[_Place], store: Store, *, is_thinned: bool) -> Iterator[_Place]:
    """Yield what stays, in order. A place that is not a capture of the state loses its key."""
    newest: dict[tuple[str, ...], _Place] = {}
    dropped: set[int] = set()
    for first in range(0, len(places), _ROWS_AT_ONCE):
        some = [place for place in places[first : first + _ROWS_AT_ONCE] if place.capture]
        rows = store.find_many(StateTable.CAPTURE, [place.capture for place in some])
        for place, row in zip(some, rows, strict=True):
            if row is None and _is_deleted(place, store):
                dropped.add(id(place))
            if row is None or not _is_at(CaptureRow.decode(row), place):
                place.capture = b""
                if row is not None:
                    place.of = ()  # a second copy of a capture; it does no harm
    for place in places:
        if not place.capture and place.of and not place.is_repeat:
            newest[place.of] = place
    for place in places:
        is_old = bool(place.of) and newest.get(place.of) is not place
        is_old = is_thinned and (is_old or place.is_repeat)
        if id(place) not in dropped and (place.capture or not is_old):
            yield place


def _is_at(row: CaptureRow, place: _Place) -> bool:
    return (row.file, row.offset) == (place.path.name, place.response)


def _is_deleted(place: _Place, store: Store) -> bool:
    """Whether the capture of a page was deleted. A busy server's answer never was a capture."""
    packed = store.find(StateTable.URL, place.capture[:-8])
    is_busy = place.of[-1] in map(str, _BUSY)
    return packed is not None and not is_busy and UrlRow.decode(packed).at_us > place.at_us


# -- writing


def _write(joined: JoinedFile, kept: Iterable[_Place], info: bytes) -> dict[tuple[Path, int], int]:
    """Copy the exchanges; return the new offset of each response."""
    moved: dict[tuple[Path, int], int] = {}
    files: dict[Path, BinaryIO] = {}
    with joined.path.open("wb") as new:
        try:
            _put(joined, new, info)
            for place in kept:
                if place.path not in files:
                    files[place.path] = place.path.open("rb")
                moved[place.path, place.response] = joined.size_bytes + place.response - place.start
                files[place.path].seek(place.start)
                left = place.end - place.start
                while left:
                    piece = files[place.path].read(min(left, _COPIED_BYTES))
                    _put(joined, new, piece)
                    left -= len(piece)
            new.flush()
            os.fsync(new.fileno())
        finally:
            for file in files.values():
                file.close()
    return moved


def _put(joined: JoinedFile, new: BinaryIO, data: bytes) -> None:
    new.write(data)
    joined.size_bytes += len(data)
    joined.crc32 = crc32(data, joined.crc32)


def _write_index(
    joined: JoinedFile, inputs: Iterable[Path], moved: dict[tuple[Path, int], int]
) -> None:
    """Write the CDXJ file with the lines of the old ones."""
    if all(cdxj_path(path).exists() for path in inputs):
        index = save_cdxj(joined.path, _moved_lines(joined.path.name, inputs, moved))
    else:
        index = write_cdxj(joined.path)
    joined.cdxj = crc32_of(index)[0]


def _moved_lines(
    name: str, inputs: Iterable[Path], moved: dict[tuple[Path, int], int]
) -> Iterator[str]:
    for path in inputs:
        with cdxj_path(path).open(encoding="utf-8") as lines:
            for line in lines:
                surt, moment, text = line.rstrip("\n").split(" ", 2)
                entry = json.loads(text)
                offset = moved.get((path, int(entry["offset"])))
                if offset is not None:
                    entry |= {"offset": str(offset), "filename": name}
                    yield f"{surt} {moment} {json.dumps(entry)}"
