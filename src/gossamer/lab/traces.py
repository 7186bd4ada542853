"""Change traces: when did which page change.

A trace is CSV (or CSV.gz) with a header and the columns `path` and `timestamp`: a row for each
change of a page. Timestamps are seconds since 1970 or ISO 8601, in UTC if they name no zone. The
order of rows does not matter, and a row that stands there twice counts once.

A page exists from its first row on, which is its creation and not a change. Bulk edits (a licence
header in every file) are no changes that a reader of the pages would see. They are recognised by
the number of files: `files_in_commit` where there is such a column, otherwise the number of rows of
the same `commit`, otherwise of the same timestamp. Rows of more than `max_files` files are not
changes, but create pages as others do. A page whose last row has the `status` D ends there.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import math
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gossamer.errors import UsageError
from gossamer.policies.refresh.policy import Floats, Slots

MAX_FILES: Final = 50
_MIN_PAGES: Final = 2
_MOST_S: Final = 200 * 365.25 * 86_400  # a replay goes through all of this time
_COUNT: Final = re.compile(r"\s*[0-9]{1,9}\s*")
_GZIP: Final = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class ChangeTrace:
    """The pages of a trace, numbered from 0, and their changes, sorted by page and time."""

    paths: tuple[str, ...]
    group: NDArray[np.int32]  # of each page: pages of one directory have the same
    born_s: Floats
    gone_s: Floats  # infinity for a page that lasts to the end
    page: Slots  # of each change
    at_s: Floats
    start_s: float
    end_s: float
    bad_rows: int  # that could not be read
    bulk_rows: int  # of bulk edits
    digest: str  # SHA-256 of the file

    @property
    def measured_from_s(self) -> float:
        """The first third of the time is for learning."""
        return self.start_s + (self.end_s - self.start_s) / 3.0


def read_trace(path: Path, max_files: int = MAX_FILES) -> ChangeTrace:
    """Read a trace. `max_files` = 0 counts every row as a change. Raises UsageError."""
    rows = _Rows()
    digest = rows.read(path)
    fault = ""
    if not rows.paths:
        fault = f"{rows.bad} rows cannot be read" if rows.bad else "it has no rows"
    elif len(set(rows.paths)) < _MIN_PAGES:
        fault = "all rows are of one page, and two pages or more are needed"
    elif min(rows.times) == max(rows.times):
        fault = "all rows have the same timestamp"
    elif max(rows.times) - min(rows.times) > _MOST_S:
        fault = (
            "its timestamps are more than 200 years apart; write them as dates or as seconds since "
            "1970, not as milliseconds"
        )
    if fault:
        raise UsageError(f"{path} is not a change trace: {fault}")
    return _made(rows, max_files, digest)


class _Rows:
    """The columns of a file, as they stand there."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.times: list[float] = []
        self.files: list[int] = []  # empty if no column says it
        self.commits: list[str] = []
        self.is_end: list[bool] = []
        self.bad = 0

    def read(self, path: Path) -> str:
        """Read a file, and return its digest."""
        try:
            packed = path.read_bytes()
            data = gzip.decompress(packed) if packed.startswith(_GZIP) else packed
        except FileNotFoundError:
            raise UsageError(f"cannot read {path}: there is no such file") from None
        except IsADirectoryError:
            raise UsageError(f"cannot read {path}: it is a directory") from None
        except (OSError, EOFError, zlib.error) as fault:
            raise UsageError(f"cannot read {path}: {fault}") from None
        lines = data.decode("utf-8-sig", errors="replace").splitlines()
        names = [name.strip().lower() for name in next(csv.reader(lines), [])]
        for name in ("path", "timestamp"):
            if name not in names:
                shown = ", ".join(names)[:100] or "none"
                raise UsageError(f"{path} has no column {name!r} (its columns: {shown})")
        for row in _rows(lines):
            self._take(dict(zip(names, row, strict=False)))
        return hashlib.sha256(packed).hexdigest()

    def _take(self, row: dict[str, str]) -> None:
        at_s = _seconds(row.get("timestamp", ""))
        files = row.get("files_in_commit")
        if not row.get("path") or at_s is None or not _COUNT.fullmatch(files or "0"):
            self.bad += 1
            return
        self.paths.append(row["path"])
        self.times.append(at_s)
        self.is_end.append(row.get("status", "").strip().upper() == "D")
        if files is not None:
            self.files.append(int(files or 0))
        if row.get("commit"):
            self.commits.append(row["commit"])


def _rows(lines: list[str]) -> Iterator[list[str]]:
    """The rows after the header, without empty ones; a row that is no CSV is an empty list."""
    reader = csv.reader(lines)
    next(reader, None)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error:
            row = [""]
        if row:
            yield row


def _seconds(text: str) -> float | None:
    """A timestamp in seconds since 1970; None if it cannot be read."""
    text = text.strip()
    try:
        at_s = float(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
        at_s = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return at_s if math.isfinite(at_s) else None


def _made(rows: _Rows, max_files: int, digest: str) -> ChangeTrace:
    names, pages = np.unique(np.array(rows.paths, dtype=np.str_), return_inverse=True)
    times = np.array(rows.times)
    order = np.lexsort((times, pages))
    pages, times = pages[order].astype(np.int64), times[order]
    is_end = np.array(rows.is_end)[order]
    is_bulk = _files_of(rows, times, order) > max_files if max_files else np.zeros_like(is_end)
    is_first = np.r_[True, pages[1:] != pages[:-1]]
    is_last = np.r_[is_first[1:], True]
    born_s = times[is_first]
    gone_s = np.where(is_end[is_last] & ~is_first[is_last], times[is_last], np.inf)
    is_new = is_first | np.r_[True, times[1:] != times[:-1]]
    is_change = is_new & ~is_bulk & (times > born_s[pages]) & (times < gone_s[pages])
    folders = [name.rpartition("/")[0] for name in names.tolist()]
    return ChangeTrace(
        tuple(names.tolist()), np.unique(folders, return_inverse=True)[1].astype(np.int32),
        born_s, gone_s, pages[is_change], times[is_change], float(times.min()),
        float(times.max()), rows.bad, int(is_bulk.sum()), digest,
    )  # fmt: skip


def _files_of(rows: _Rows, times: Floats, order: Slots) -> Slots:
    """How many files were changed together with each row."""
    if len(rows.files) == len(rows.paths):
        return np.array(rows.files, dtype=np.int64)[order]
    commits = rows.commits if len(rows.commits) == len(rows.paths) else None
    together = times if commits is None else np.array(commits)[order]
    _, which, counts = np.unique(together, return_inverse=True, return_counts=True)
    return counts[which]
