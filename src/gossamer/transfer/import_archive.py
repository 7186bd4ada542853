"""Import the records of foreign WARC files into a collection.

    salvage -> sound -> grouped -> read_foreign -> a lease of this collection -> Intake.put

Only the bytes of a file are trusted: URLs are put into the collection's canonical form, no host
becomes trusted, no robots.txt is learned. A record that cannot be read is reported with its place,
and the import continues. One group of records is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from msgspec import structs

from gossamer.archive.foreign import Foreign, grouped, read_foreign
from gossamer.archive.reader import is_ours, salvage
from gossamer.archive.record import Record
from gossamer.archive.streams import ByteSource
from gossamer.archive.verify import digest_faults
from gossamer.archive.warc import date_us
from gossamer.errors import CorruptFile
from gossamer.node.import_intake import ImportIntake
from gossamer.records import Fetched, Lease, Purpose
from gossamer.urls.canonical import NormalForm, host_of
from gossamer.urls.forgotten import host_in

_LIMIT_BYTES: Final = 256 * 2**20  # of one record; the archive reader accepts no more
_TYPES: Final = frozenset(
    {
        "warcinfo", "response", "resource", "request", "metadata", "revisit", "conversion",
        "continuation", "arc_header",
    }
)  # fmt: skip
_NOT_MODIFIED: Final = 304
_NO_KEY: Final = bytes(16)


def _unwatched(_tally: ImportCounts) -> None:
    """The default: no progress report."""


@dataclass(slots=True)
class ImportCounts:
    """The counts of an import. `notify` receives one sentence for each fault."""

    notify: Callable[[str], None]
    files: int = 0
    records: int = 0  # records read
    captures: int = 0  # imported responses of URLs
    kept: int = 0  # archived, but not processed
    unanswered: int = 0  # failures and refusals from an archive of this program
    known: int = 0  # exchanges that the collection already has
    damaged: int = 0  # places that cannot be read
    unreadable: int = 0  # invalid URLs
    forgotten: int = 0  # exchanges and listed URLs under a takedown of this collection
    urls: int = 0  # URLs in lists and sitemaps
    new_urls: int = 0  # those of them that were not known before
    by_type: dict[str, int] = field(default_factory=dict)  # records by WARC type
    watch: Callable[[ImportCounts], None] = _unwatched  # receives the counts, for progress

    def note_damage(self, fault: CorruptFile) -> None:
        self.damaged += 1
        self.notify(str(fault))

    def note_unreadable(self, where: str, url: str, why: str) -> None:
        self.unreadable += 1
        self.notify(f"{where}: {url[:200]!r} is not a URL: {why}")


def import_records(source: Path | ByteSource, intake: ImportIntake, tally: ImportCounts) -> None:
    """Import all records of a WARC or ARC file. Raises DiskFault, UsageError."""
    form = _form(intake)
    for group in grouped(_sound(source, tally)):
        if isinstance(group, CorruptFile):
            tally.note_damage(group)
        else:
            _take(read_foreign(group), f"{source}, byte {group[0].offset}", intake, tally, form)


def _form(intake: ImportIntake) -> NormalForm:
    return NormalForm(intake.settings.urls.query, intake.settings.urls.session_parameters)


def _sound(source: Path | ByteSource, tally: ImportCounts) -> Iterator[Record | CorruptFile]:
    """Yield the records, and a CorruptFile for each damaged one."""
    for one in salvage(source, _LIMIT_BYTES):
        if isinstance(one, CorruptFile):
            yield one
            continue
        tally.records += 1
        tally.watch(tally)
        kind = one.type if one.type in _TYPES else "other"
        tally.by_type[kind] = tally.by_type.get(kind, 0) + 1
        if one.is_cut:
            what = f"the record has {one.size} bytes, more than the limit; it is skipped"
            yield CorruptFile(source, one.offset, what)
            continue
        faults = [fault.problem for fault in digest_faults(Path(), one)]
        block = next((problem for problem in faults if problem.startswith("the block")), "")
        if block and not is_ours(one):
            yield CorruptFile(source, one.offset, f"{block}; it is skipped")
        else:
            yield one


def _take(
    foreign: Foreign, where: str, intake: ImportIntake, tally: ImportCounts, form: NormalForm
) -> None:
    if foreign.problem:
        tally.damaged += 1
        tally.notify(f"{where}: {foreign.problem}")
        if not foreign.records:
            return
    if _is_forgotten(foreign, intake, form):
        tally.forgotten += 1
        return
    if intake.is_known(foreign.source) or _begins_file_here(foreign, intake):
        tally.known += 1
        return
    lease = _lease(foreign, where, intake, tally, form)
    if lease.purpose is Purpose.KEPT:
        intake.put(replace(foreign, capture=-1), lease)
        tally.kept += 1
    elif not isinstance(foreign.answer, Fetched):
        _take_unanswered(foreign, lease, intake, tally)
    else:
        _take_capture(foreign, foreign.answer, lease, intake, tally)


def _is_forgotten(foreign: Foreign, intake: ImportIntake, form: NormalForm) -> bool:
    """Whether it belongs to a URL or site under a takedown of this collection."""
    if not intake.forgotten:
        return False
    written = [foreign.answer.url, foreign.lease.url, *(one.uri for one in foreign.records)]
    for one in written:
        url = form.find(one) if one else None
        if url is None and (host := host_in(one)):
            url = f"https://{host}/"  # `dns:` and others name a host too
        if url is not None and intake.forgotten.covers(url):
            return True
    return False


def _begins_file_here(foreign: Foreign, intake: ImportIntake) -> bool:
    """Whether it is the first record of a file of this archive, reimported from an export."""
    first = foreign.records[0] if foreign.records else None
    if first is None or first.type != "warcinfo":
        return False
    name = Path(first.header("WARC-Filename")).name
    return bool(name) and intake.has_file(name)


def _lease(
    foreign: Foreign, where: str, intake: ImportIntake, tally: ImportCounts, form: NormalForm
) -> Lease:
    """Return the lease under which this collection stores it."""
    is_page = foreign.lease.purpose is Purpose.PAGE
    is_answer = foreign.capture >= 0 or not isinstance(foreign.answer, Fetched)
    written = foreign.lease.url or foreign.answer.url
    url = form.find(written) if is_page and is_answer else None
    if url is None:
        if is_page and is_answer:
            tally.note_unreadable(where, written, form.fault(written) or "unknown form")
        purpose, key = Purpose.KEPT, _NO_KEY
        return Lease(0, foreign.answer.url, key, "", "", purpose, max_body_bytes=0)
    return structs.replace(
        foreign.lease,
        url=url,
        key=intake.keys.of(url),
        host=host_of(url),
        address=foreign.answer.address if isinstance(foreign.answer, Fetched) else "",
        is_trusted=False,
        max_body_bytes=intake.settings.fetch.max_body_bytes,
    )


def _take_unanswered(
    foreign: Foreign, lease: Lease, intake: ImportIntake, tally: ImportCounts
) -> None:
    """Import a failure unless its key is known: then this collection's archive has it."""
    if foreign.lease.key == lease.key:
        tally.known += 1
        return
    intake.put(foreign, lease)
    tally.unanswered += 1


def _take_capture(
    foreign: Foreign, answer: Fetched, lease: Lease, intake: ImportIntake, tally: ImportCounts
) -> None:
    capture = foreign.records[foreign.capture]
    if foreign.is_our_own:
        same = intake.capture_at(lease.url, answer.at_us)
        if same is not None and same.digest == capture.header("WARC-Payload-Digest"):
            tally.known += 1
            return
    more: tuple[tuple[str, str], ...] = ()
    if foreign.repeats:
        foreign, more = _with_body(foreign, answer, capture, intake)
        if not more and answer.status == _NOT_MODIFIED:
            lease = Lease(0, answer.url, _NO_KEY, "", "", Purpose.KEPT, max_body_bytes=0)
            intake.put(replace(foreign, capture=-1), lease)
            tally.kept += 1
            return
    at_us = intake.free_moment(lease.url, answer.at_us)
    intake.put(replace(foreign, answer=structs.replace(foreign.answer, at_us=at_us)), lease, more)
    tally.captures += 1


def _with_body(
    foreign: Foreign, answer: Fetched, capture: Record, intake: ImportIntake
) -> tuple[Foreign, tuple[tuple[str, str], ...]]:
    """Return a revisit with the body that it repeats, and the lines with that body's place."""
    url = _form(intake).find(capture.header("WARC-Refers-To-Target-URI").strip("<>") or answer.url)
    found = None
    if url is not None:
        at_us = _date_or_none(capture.header("WARC-Refers-To-Date"))
        found = intake.find_repeated(url, at_us, foreign.repeats)
    if found is None:
        return foreign, ()
    (file, at), whole = found
    more = (("bodyFile", file), ("bodyAt", str(at)))
    if answer.status != _NOT_MODIFIED:
        return replace(foreign, answer=structs.replace(answer, body=whole.body)), more
    # A 304 response refers to the headers of the earlier response.
    meant = structs.replace(answer, body=whole.body, status=whole.status, head=whole.head)
    notes = (("originalHead", whole.head.decode("latin-1")),)
    return replace(foreign, answer=meant, notes=notes), more


def _date_or_none(date: str) -> int | None:
    try:
        return date_us(date)
    except (ValueError, OverflowError):
        return None
