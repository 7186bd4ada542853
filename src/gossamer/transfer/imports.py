"""Import files of all kinds into a collection.

    detect the kind of every file, before any change -> open the collection -> each file -> settle

The content of a file decides its kind, never its name. The collection is locked as by a crawl. The
recovery of an interrupted run comes first, as in every start.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import sys
import zlib
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal, cast

from gossamer.archive.wacz_reader import ZIP_MAGICS, Member, warc_members
from gossamer.base.clock import Clock
from gossamer.collection.crawl_log import note_action
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CorruptFile, UsageError
from gossamer.node.build import Opened, SettingsFor, open_node
from gossamer.node.import_intake import ImportIntake
from gossamer.transfer.import_archive import ImportCounts, import_records
from gossamer.transfer.import_lists import import_list, import_sitemap

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ImportKind = Literal["warc", "wacz", "sitemap", "list"]

_HEAD_BYTES: Final = 1 << 16
_MAX_XML_BYTES: Final = 50 * 2**20 + 1
_GZIP: Final = b"\x1f\x8b"
_ZSTD: Final = (b"\x28\xb5\x2f\xfd", b"\x5d\x2a\x4d\x18")
_LZ4: Final = b"\x04\x22\x4d\x18"
_RECORD: Final = re.compile(rb"(?:\A|\n)(?:WARC/\d+\.\d+|filedesc://\S+ \S+ \d{8,})")
_XML: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<")
_WIDE_XML: Final = (b"\xff\xfe<\0", b"\xfe\xff\0<")
_LIST_LINE: Final = re.compile(rb"(?im)^(?:\xef\xbb\xbf)?[ \t]*(?:https?://|www\.)\S")
_COMMENTS: Final = re.compile(rb"(?:\xef\xbb\xbf)?(?:[ \t]*(?:#[^\r\n]*)?[\r\n]+)*")


@dataclass(frozen=True, slots=True)
class Given:
    """A file to import."""

    path: Path
    kind: ImportKind


async def import_files(
    paths: CollectionPaths,
    settings_for: SettingsFor,
    inputs: Sequence[Path],
    clock: Clock,
    tally: ImportCounts,
) -> Opened:
    """Import all files. Raises UsageError (then nothing has changed), StoreError, DiskFault."""
    given = [Given(path, kind_of(path)) for path in inputs]
    with ExitStack() as stack:
        opened = open_node(paths, settings_for, (), clock, stack, is_import=True)
        assert opened.intake is not None, "opened for an import"
        try:
            names = [str(one.path) for one in given[:1000]]
            note_action(paths.actions, clock.wall_us(), "import", files=names)
            for one in given:
                _import(one, opened.intake, tally)
                opened.intake.commit()
            await opened.node.settle()
        finally:
            await opened.node.aclose()
        return opened


def _import(given: Given, intake: ImportIntake, tally: ImportCounts) -> None:
    tally.files += 1
    match given.kind:
        case "warc":
            import_records(given.path, intake, tally)
        case "wacz":
            _import_wacz(given.path, intake, tally)
        case "sitemap":
            with opened_text(given.path) as file:
                why = import_sitemap(given.path, file.read(_MAX_XML_BYTES), intake, tally)
            if why:
                tally.damaged += 1
                tally.notify(f"{given.path}: {why}")
        case "list":
            with opened_text(given.path) as file:
                import_list(given.path, file, intake, tally)


def _import_wacz(path: Path, intake: ImportIntake, tally: ImportCounts) -> None:
    try:
        for member in warc_members(path):
            if isinstance(member, CorruptFile):
                tally.note_damage(member)
            else:
                _import_member(member, intake, tally)
    except CorruptFile as fault:
        tally.note_damage(fault)


def _import_member(member: Member, intake: ImportIntake, tally: ImportCounts) -> None:
    try:
        import_records(member, intake, tally)
    except UsageError as fault:  # its compression is not supported; the others may be
        tally.note_damage(CorruptFile(member, 0, str(fault)))


# -- which kind


def kind_of(path: Path) -> ImportKind:
    """Detect the kind of a file from its content. Raises UsageError for an unsupported one."""
    try:
        if not (stat.S_ISREG(path.stat().st_mode) or path.is_dir()):  # `open` reports a folder
            raise UsageError(f"{path} is not a regular file; save its content to a file first")
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError as fault:
        raise UsageError(f"cannot read {path}: {fault.strerror or fault}") from fault
    if not head:
        raise UsageError(f"{path} is empty; there is nothing to import")
    if head.startswith(ZIP_MAGICS):
        return "wacz"
    if head.startswith(_LZ4):
        raise UsageError(
            f"{path} is compressed with lz4; decompress it, or compress it with gzip, first"
        )
    if head.startswith((_GZIP, *_ZSTD)):
        head = _unpacked_head(path, head)
    kind = _kind_of_text(head)
    if kind is None:
        raise UsageError(
            f"{path} is not supported; use WARC, WACZ, a sitemap or a URL list (one URL per line)"
        )
    return kind


def _kind_of_text(head: bytes) -> ImportKind | None:
    if _RECORD.match(head.lstrip(b"\r\n")):
        return "warc"
    if _XML.match(head) or head.startswith(_WIDE_XML):
        return "sitemap"
    if _RECORD.search(head):  # its first bytes are damaged
        return "warc"
    said = head[_COMMENTS.match(head).end() :]  # type: ignore[union-attr]  # it always matches
    if _LIST_LINE.search(said) or (not said and head.lstrip(b"\xef\xbb\xbf \t\r\n")):
        return "list"
    return None


def _unpacked_head(path: Path, head: bytes) -> bytes:
    """Return the first decompressed bytes; of a damaged file as many as possible."""
    if head.startswith(_GZIP):
        try:
            return zlib.decompressobj(31).decompress(head, _HEAD_BYTES)
        except zlib.error:
            return b"WARC/1.0\n"  # undecidable: the archive reader reports the damage
    return b"WARC/1.0\n" if head.startswith(_ZSTD[1]) else _zstd_head(path, head)


def _zstd_head(path: Path, head: bytes) -> bytes:
    try:
        return zstd.ZstdDecompressor().decompress(head, _HEAD_BYTES)
    except zstd.ZstdError as fault:
        raise UsageError(f"{path} cannot be decompressed: {fault}") from None


def opened_text(path: Path) -> BinaryIO:
    """Open a text file, decompressed if necessary."""
    file = path.open("rb")
    magic = file.read(4)
    file.seek(0)
    if magic.startswith(_GZIP):
        return cast("BinaryIO", io.BufferedReader(_Tolerant(gzip.GzipFile(fileobj=file), file)))
    if magic in _ZSTD:
        return cast("BinaryIO", io.BufferedReader(_Tolerant(zstd.ZstdFile(file), file)))
    return file


class _Tolerant(io.RawIOBase):
    """Decompresses as far as possible: a truncated list ends where it is cut."""

    def __init__(self, packed: gzip.GzipFile | zstd.ZstdFile, file: BinaryIO) -> None:
        self._packed = packed
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the stub is wider
        try:
            found = self._packed.read1(len(buffer))
        except (EOFError, OSError, zlib.error, zstd.ZstdError):
            return 0
        buffer[: len(found)] = found
        return len(found)

    def close(self) -> None:
        super().close()
        self._file.close()
