"""Check that archive, state and log agree.

Each WARC file is read twice: byte by byte against its digests, and exchange by exchange against the
state and the CDXJ index. Bytes after the end that the state has committed are skipped: a running
crawl, or the recovery after a kill, has yet to process them.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gossamer.archive.cdxj import cdxj_path
from gossamer.archive.manifest import read_manifest
from gossamer.archive.reader import Exchange, iter_exchanges, read_exchange
from gossamer.archive.verify import check_file
from gossamer.archive.warc import header_url
from gossamer.base.checked_lines import crc32
from gossamer.collection.archive_ends import known_ends
from gossamer.collection.directory import CollectionPaths, is_in_use
from gossamer.errors import GossamerError, StoreError
from gossamer.frontier.meta_keys import CLEAN_KEY, LOG_KEY, LOG_SUM_KEY
from gossamer.frontier.rows import CaptureRow, time_key, time_of
from gossamer.frontier.store import StateTable
from gossamer.reader.collection_reader import CollectionReader
from gossamer.records import Fetched, Purpose, Reason
from gossamer.upkeep.check_machine import holder_of
from gossamer.upkeep.check_manifest import FROM_BACKUP, REBUILD, manifest_problems
from gossamer.upkeep.check_state import Checked, Problem
from gossamer.urls.keys import KEY_BYTES

_BUSY: Final = frozenset({429, 503})
_NO_CAPTURE: Final = frozenset({Reason.BUSY, Reason.ENCODING, Reason.CRASH})
_RESUME: Final = "run `gossamer crawl` once: it recreates the data from the archive"
_LOG: Final = "restore the log from a backup, or keep what is left: `gossamer rebuild state`"


@dataclass(slots=True)
class _View:
    """A collection at one moment, with the results of the check so far."""

    reader: CollectionReader
    ends: Mapping[str, int]
    is_clean: bool
    checked: Checked
    matched: int = 0  # captures of the state that an exchange of the archive confirms
    damaged: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)  # files that were rewritten meanwhile

    def is_replaced(self, path: Path) -> bool:
        """Whether a crawl has replaced a file since the check began. Its captures are in another
        file by now."""
        if not is_in_use(self.reader.paths) or path.name in read_manifest(path.parent).files:
            return False
        self.replaced.add(path.name)
        what = f"{path.name} was replaced by another file during the check"
        self.checked.unsure.append(what)
        return True

    @property
    def is_settled(self) -> bool:
        """Whether no bytes may follow the committed ones: the crawl ended cleanly and none runs."""
        return self.is_clean and holder_of(self.reader.paths) is None


def archive_problems(reader: CollectionReader, checked: Checked) -> Iterator[Problem]:
    """Yield everything in archive and log that contradicts the state.

    Call it after `state_problems`: `checked` holds the number of captures.
    """
    is_clean = reader.store.find(StateTable.META, CLEAN_KEY) == b"1"
    view = _View(reader, known_ends(reader.store), is_clean, checked)
    folder = reader.paths.archive
    warc_paths = sorted({*folder.glob("*.warc.gz"), *(folder / name for name in view.ends)})
    for path in warc_paths:
        yield from _file_problems(view, path)
    if view.matched != checked.captures:
        yield from _capture_problems(view)
    yield from _log_problems(view)


def bare_archive_problems(paths: CollectionPaths, checked: Checked) -> Iterator[Problem]:
    """Yield the problems of an archive that has no state to compare with."""
    for path in sorted(paths.archive.glob("*.warc.gz")):
        checked.files += 1
        for fault in check_file(path):
            yield Problem(f"{path}, byte {fault.offset}", fault.problem, FROM_BACKUP)
    yield from manifest_problems(paths)


# -- one file


def _file_problems(view: _View, path: Path) -> Iterator[Problem]:
    end = view.ends.get(path.name, 0)
    if not path.exists():
        view.damaged.add(path.name)
        if view.is_replaced(path):
            return
        yield Problem(str(path), f"the file is missing ({end} committed bytes)", FROM_BACKUP)
        return
    size = path.stat().st_size
    if size < end:
        view.damaged.add(path.name)
        what = f"it has {size} bytes, but {end} were committed"
        yield Problem(str(path), what, FROM_BACKUP)
    elif size > end and view.is_settled:
        what = f"{size - end} bytes follow the last committed byte"
        yield Problem(str(path), what, "run `gossamer crawl` once: it reads them again")
    view.checked.files += 1
    for fault in check_file(path):
        if fault.offset < end or view.is_settled:
            view.damaged.add(path.name)
            yield Problem(f"{path}, byte {fault.offset}", fault.problem, FROM_BACKUP)
    index = _Index(path)
    try:
        for exchange in iter_exchanges(path):
            if exchange.stored.end > end:
                break
            view.checked.exchanges += 1
            yield from _exchange_problems(view, path, exchange)
            index.take(exchange)
    except StoreError:
        index.is_whole = False  # reported above, with its byte
    yield from index.problems(is_due=view.is_settled)


def _exchange_problems(view: _View, path: Path, exchange: Exchange) -> Iterator[Problem]:
    lease, answer = exchange.lease, exchange.answer
    if lease.purpose is not Purpose.PAGE:
        return
    where = f"{path}, byte {exchange.stored.response}"
    key = view.reader.keys.of(lease.url)  # the archive's key may use a lost salt
    row = view.reader.find_key(key)
    if row is None:
        yield Problem(where, f"the state does not know {lease.url}", _RESUME)
        return
    if not isinstance(answer, Fetched):
        return
    packed = view.reader.store.find(StateTable.CAPTURE, key + time_key(answer.at_us))
    if packed is None:
        is_missed = row.missed_us >= answer.at_us and row.missed_reason in _NO_CAPTURE
        is_known = row.at_us > answer.at_us or row.reason in _NO_CAPTURE or is_missed
        is_other = answer.status in _BUSY or is_known
        if not is_other:
            yield Problem(where, f"the state does not know this capture of {lease.url}", _RESUME)
        return
    capture = CaptureRow.decode(packed)
    if (capture.file, capture.offset) != (path.name, exchange.stored.response):
        return  # a second copy; the one that the state names is checked at its own place
    view.matched += 1
    yield from _difference(where, lease.url, capture, exchange)


def _difference(where: str, url: str, capture: CaptureRow, exchange: Exchange) -> Iterator[Problem]:
    stored, answer = exchange.stored, exchange.answer
    digest = exchange.revisit_of.digest if exchange.revisit_of else stored.digest
    pairs = {
        "digest": (capture.digest, digest),
        "status": (capture.status, answer.status),
        "bytes": (capture.size_bytes, exchange.body_bytes),
        "length": (capture.length, stored.end - stored.response),
    }
    for name, (said, is_so) in pairs.items():
        if said != is_so:
            what = f"the state records {name} {said} for {url}, but the archive has {is_so}"
            yield Problem(where, what, FROM_BACKUP)


def _capture_problems(view: _View) -> Iterator[Problem]:
    """Yield the captures of the state that no exchange confirms."""
    for at, packed in view.reader.scan(StateTable.CAPTURE):
        capture = CaptureRow.decode(packed)
        path = view.reader.paths.archive / capture.file
        if capture.file in view.replaced:
            continue
        row = view.reader.find_key(at[:KEY_BYTES])
        url = row.url if row else at.hex()
        todo = FROM_BACKUP
        try:
            exchange = read_exchange(path, capture.offset)
        except (GossamerError, OSError) as error:
            yield Problem(url, f"its capture cannot be read: {error}", todo)
            continue
        answer = exchange.answer
        key = view.reader.keys.of(exchange.lease.url)
        if (key, answer.at_us) != (at[:KEY_BYTES], time_of(at[KEY_BYTES:])):
            what = f"its capture should be in {capture.file} at byte {capture.offset}, but "
            yield Problem(url, f"{what}{exchange.lease.url} is there", todo)
        elif capture.file in view.damaged:
            yield from _difference(f"{path}, byte {capture.offset}", url, capture, exchange)


# -- the index beside a file


class _Index:
    """A CDXJ file, compared with its WARC file."""

    def __init__(self, path: Path) -> None:
        self._path = cdxj_path(path)
        self._file = path.name
        self._fault = ""
        self._lines = self._read()
        self._places: list[int] | None = None  # offsets of the lines, sorted
        self.is_whole = True

    def _read(self) -> dict[int, dict[str, str]] | None:
        lines: dict[int, dict[str, str]] = {}
        try:
            for line in self._path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line.split(" ", 2)[2])
                lines[int(entry["offset"])] = entry
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
            self._fault = f"it cannot be read ({error!r})"
        return lines

    def take(self, exchange: Exchange) -> None:
        """Remove one exchange from the index, and note a difference."""
        if self._lines is None or self._fault or not isinstance(exchange.answer, Fetched):
            return
        if exchange.lease.source:
            self._take_imported(exchange)
            return
        entry = self._lines.pop(exchange.stored.response, None)
        wanted = {
            "url": header_url(exchange.answer.url),
            "status": str(exchange.answer.status),
            "digest": exchange.revisit_of.digest if exchange.revisit_of else exchange.stored.digest,
            "filename": self._file,
        }
        if entry is None:
            self._fault = f"{exchange.answer.url}, at byte {exchange.stored.response}, is missing"
        elif any(entry.get(name) != value for name, value in wanted.items()):
            self._fault = f"its line for byte {exchange.stored.response} describes another capture"

    def _take_imported(self, exchange: Exchange) -> None:
        """Imported records have any number of lines, with the values of their source."""
        assert self._lines is not None, "called only with lines"
        if self._places is None:
            self._places = sorted(self._lines)
        stored = exchange.stored
        first, after = (bisect_left(self._places, at) for at in (stored.start, stored.end))
        found = [at for at in self._places[first:after] if self._lines.pop(at, None)]
        if exchange.lease.purpose is Purpose.PAGE and stored.response not in found:
            self._fault = f"{exchange.answer.url}, at byte {stored.response}, is missing"

    def problems(self, *, is_due: bool) -> Iterator[Problem]:
        todo = REBUILD
        if self._lines is None:
            if is_due:
                yield Problem(str(self._path), "the CDXJ index of a closed file is missing", todo)
        elif self._fault:
            yield Problem(str(self._path), self._fault, todo)
        elif self._lines and self.is_whole and is_due:
            what = f"{len(self._lines)} lines describe captures that the WARC file does not have"
            yield Problem(str(self._path), what, todo)


# -- log


def _log_problems(view: _View) -> Iterator[Problem]:
    path = view.reader.paths.log
    committed = int.from_bytes(view.reader.store.find(StateTable.META, LOG_KEY) or b"", "big")
    if not path.exists():
        if committed:
            yield Problem(str(path), "the log is missing", _LOG)
        return
    size = path.stat().st_size
    if size < committed:
        yield Problem(str(path), f"it has {size} bytes, but {committed} were committed", _LOG)
        return
    if size > committed and view.is_settled:
        what = f"{size - committed} bytes follow the last committed byte"
        yield Problem(str(path), what, "run `gossamer crawl` once: it removes them")
    yield from _log_faults(path, committed, view.reader.store.find(StateTable.META, LOG_SUM_KEY))


def _log_faults(path: Path, committed: int, wanted: bytes | None) -> Iterator[Problem]:
    """Yield faults in the committed bytes, with the line if it can be determined."""
    place = crc = 0
    is_told = False
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            place += len(line)
            if place > committed:
                break
            crc = crc32(line, crc)
            try:
                json.loads(line)
            except ValueError:
                is_told = True
                yield Problem(f"{path}, line {number}", "the line is not JSON", _LOG)
    if not is_told and wanted is not None and crc != int.from_bytes(wanted, "big"):
        yield Problem(str(path), "checksum mismatch: its bytes have changed", _LOG)
