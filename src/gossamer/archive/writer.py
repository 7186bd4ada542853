"""Append exchanges to WARC files, and make them durable.

A worker has one writer, and a writer has one open file that no other process writes. An exchange is
written with one write or not at all: the rest of a failed write is cut off again. `sync` makes
everything that was appended durable. After a failed sync nothing is trusted any more, because the
kernel may have dropped the pages, and a second sync would report success. All calls block.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NoReturn

from gossamer.archive.capture import capture_of, random_ids
from gossamer.archive.cdxj import line_of, save_cdxj
from gossamer.archive.foreign import PackedExchange
from gossamer.archive.manifest import Listed, note_begun, note_removed, note_sealed
from gossamer.archive.record import Record
from gossamer.archive.warc import RevisitOf, exchange_bytes, warcinfo_bytes
from gossamer.base.checked_lines import crc32, crc32_of
from gossamer.base.clock import Clock
from gossamer.base.disk import is_denied_error, is_full_error, is_read_only_error
from gossamer.base.files import sync_folder
from gossamer.errors import DiskFault
from gossamer.records import Answer, Fetched, Lease, Stored
from gossamer.settings import Archive

MAX_CAPTURES: Final = 50_000  # of a file: their CDXJ lines are held in memory, 300 bytes each

_DAY_US: Final = 86_400_000_000
_FLAGS: Final = (
    os.O_WRONLY
    | os.O_APPEND  # a write after a cut lands at the cut
    | os.O_CREAT
    | os.O_EXCL
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)  # Windows
)
_datasync = getattr(os, "fdatasync", os.fsync)  # macOS and Windows have only fsync


class WarcWriter:
    """A sequence of WARC files, of which the last is open."""

    def __init__(
        self,
        folder: Path,
        name_prefix: str,
        settings: Archive,
        info: Mapping[str, str],
        clock: Clock,
    ) -> None:
        """Opens nothing: use `open`."""
        self._folder = folder
        self._prefix = name_prefix
        self._settings = settings
        self._info = dict(info)
        self._clock = clock
        self._serial = 0
        self._file = -1
        self._name = ""
        self._end = 0
        self._crc32 = 0  # of the open file so far
        self._info_end = 0  # offset after the warcinfo record
        self._begun_us = 0
        self._is_closed = False
        self._lines: list[str] = []  # CDXJ lines of the open file
        self._ids = random_ids()
        self._broken = ""  # the reason why nothing may be appended any more

    @classmethod
    def open(
        cls,
        folder: Path,
        name_prefix: str,
        settings: Archive,
        info: Mapping[str, str],
        clock: Clock,
    ) -> WarcWriter:
        """Begin a new file in `folder`. Raises DiskFault."""
        writer = cls(folder, name_prefix, settings, info, clock)
        writer._begin_file()
        return writer

    @property
    def name(self) -> str:
        """The name of the open file."""
        return self._name

    @property
    def folder(self) -> Path:
        return self._folder

    @property
    def path(self) -> Path:
        """The path of the open file."""
        return self._folder / self._name

    @property
    def end(self) -> int:
        """The size of the open file, which is the offset after the last exchange."""
        return self._end

    def fileno(self) -> int:
        """The descriptor of the open file, for syncing it elsewhere."""
        return self._file

    def append(self, lease: Lease, answer: Answer, revisit_of: RevisitOf | None = None) -> Stored:
        """Write one exchange and return its position. It is durable after the next `sync`.

        Raises DiskFault, and then the file is as it was before. With `is_full` set the writer can
        be used again once there is room.
        """
        self._make_room()
        level, name, start = self._settings.gzip_level, self._name, self._end
        if not isinstance(answer, Fetched):
            self._write(exchange_bytes(lease, answer, level).data)
            return Stored(name, start, start, self._end)
        data, response, _, digest, line = capture_of(
            lease, answer, level, next(self._ids), (name, start), revisit_of
        )
        self._write(data)
        self._lines.append(line)
        return Stored(name, start, start + response, self._end, digest)

    def append_packed(self, exchange: PackedExchange) -> tuple[Record, ...]:
        """Write an imported exchange. Return its records with their offsets in the file `name`.

        It is durable, and raises, as `append`.
        """
        self._make_room()
        start = self._end
        self._write(exchange.data)
        placed = tuple(replace(one, offset=start + one.offset) for one in exchange.records)
        lines = (line_of(record, self._name) for record in placed)
        self._lines += [line for line in lines if line is not None]
        return placed

    def now_us(self) -> int:
        """The time, by the clock that dates the files."""
        return self._clock.wall_us()

    @property
    def level(self) -> int:
        """The compression level."""
        return self._settings.gzip_level

    def _make_room(self) -> None:
        """Make sure that a file is open that may grow."""
        if self._file >= 0 and self._is_full():
            self._finish_file()
        if self._file < 0 and not self._is_closed:
            self._begin_file()

    def sync(self) -> None:
        """Return when everything that was appended is on disk. A DiskFault is final."""
        if self._broken or self._file < 0:
            self._refuse()
        try:
            _datasync(self._file)
        except OSError as error:
            self._broken = f"cannot sync {self.path} to the disk ({error.strerror})"
            raise DiskFault(
                self._advice(),
                is_full=is_full_error(error),
                is_read_only=is_read_only_error(error),
            ) from error

    def close(self) -> None:
        """Make the last file durable and index it. A file without exchanges is deleted."""
        self._is_closed = True
        if self._file < 0:
            return
        try:
            if self._broken:
                return
            if self._has_exchanges():
                self._seal_file()
            else:
                self.path.unlink()
                sync_folder(self._folder)
                note_removed(self._folder, self._name)
        except OSError as error:
            raise disk_fault(f"cannot close {self.path}", error) from error
        finally:
            self._close_file()

    def _is_full(self) -> bool:
        is_large = self._end >= self._settings.roll_bytes or len(self._lines) >= MAX_CAPTURES
        return is_large or (self._is_old() and self._has_exchanges())

    def _is_old(self) -> bool:
        days = self._settings.roll_days
        return bool(days) and self._clock.wall_us() - self._begun_us >= days * _DAY_US

    def _has_exchanges(self) -> bool:
        return self._end > self._info_end

    def _begin_file(self) -> None:
        now_us = self._clock.wall_us()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file, self._name = self._create(now_us)
        except OSError as error:
            raise disk_fault(f"cannot create a file in {self._folder}", error) from error
        self._end = self._crc32 = 0
        try:
            self._write(warcinfo_bytes(self._name, now_us, self._info, self._settings.gzip_level))
            note_begun(self._folder, self._name)
            sync_folder(self._folder)
        except (OSError, DiskFault) as error:
            self._close_file()
            with contextlib.suppress(OSError):  # else the next start finds no exchange in it
                self.path.unlink()
            if isinstance(error, DiskFault):
                raise
            raise disk_fault(f"cannot create a file in {self._folder}", error) from error
        self._info_end = self._end
        self._begun_us = now_us

    def _create(self, now_us: int) -> tuple[int, str]:
        """A new file with an unused name. Also returns the name."""
        moment = datetime.fromtimestamp(now_us // 1_000_000, UTC).strftime("%Y%m%d%H%M%S")
        while True:
            name = f"{self._prefix}-{moment}-{self._serial:05d}.warc.gz"
            self._serial += 1
            try:
                return os.open(self._folder / name, _FLAGS, 0o644), name
            except FileExistsError:
                continue

    def _finish_file(self) -> None:
        try:
            self._seal_file()
        except OSError as error:
            raise disk_fault(f"cannot finish {self.path}", error) from error
        self._close_file()

    def _seal_file(self) -> None:
        self.sync()
        index = save_cdxj(self.path, self._lines)
        listed = Listed(self._end, self._crc32, crc32_of(index)[0])
        note_sealed(self._folder, self._name, listed)

    def _close_file(self) -> None:
        os.close(self._file)
        self._file = -1
        self._lines = []

    def _write(self, data: bytes) -> None:
        """Append all of `data`, or nothing."""
        if self._broken or self._file < 0:
            self._refuse()
        try:
            written = os.write(self._file, data)
            while written < len(data):  # a short write: write the rest, or get the error
                more = os.write(self._file, data[written:])
                if not more:
                    raise OSError(errno.EIO, "the disk accepts no more bytes")
                written += more
        except OSError as error:
            self._cut_back()
            raise disk_fault(f"cannot write {self.path}", error) from error
        self._end += len(data)
        self._crc32 = crc32(data, self._crc32)

    def _cut_back(self) -> None:
        try:
            os.ftruncate(self._file, self._end)
        except OSError as error:
            self._broken = f"{self.path} ends with an incomplete exchange ({error.strerror})"

    def _refuse(self) -> NoReturn:
        if self._broken:
            raise DiskFault(self._advice(), is_full=False)
        raise DiskFault(f"no archive file is open in {self._folder}", is_full=False)

    def _advice(self) -> str:
        return f"{self._broken}; check the disk, then start again to keep what is committed"


def disk_fault(what: str, error: OSError) -> DiskFault:
    """Turn an OSError into a DiskFault. `what` says what could not be done."""
    is_full, is_read_only = is_full_error(error), is_read_only_error(error)
    advice = "check the disk"
    if is_full:
        advice = "the disk is full: free some space, then resume"
    elif is_read_only:
        advice = "the disk is read-only: make it writable, then resume"
    elif is_denied_error(error):
        advice = "writing is not permitted: check owner and mode"
    what = f"{what} ({error.strerror or error}); {advice}"
    return DiskFault(what, is_full=is_full, is_read_only=is_read_only)
