"""crawl.jsonl: one line per outcome, in order.

Each outcome has exactly one line, also after a kill. Lines are buffered and written just before the
commit of their outcomes, and the commit stores the file's length. A restart truncates the file to
that length, and the replay writes the lines again.

Columns: at, url, outcome, reason, detail, status, type, bytes, took_s, depth, tries, via, host,
address, purpose (unless it is a page). Empty columns are left out.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from json.encoder import encode_basestring as _quoted
from pathlib import Path
from typing import Any, Final

from gossamer.archive.writer import disk_fault
from gossamer.base.checked_lines import crc32_of
from gossamer.base.clock import iso_of
from gossamer.frontier.frontier import Refusal
from gossamer.frontier.rows import OUTCOME, UrlRow
from gossamer.records import Lease, Purpose, Report


class CrawlLog:
    """The log file of a collection."""

    def __init__(self, path: Path, length: int, crc32: bytes | None = None) -> None:
        """Open at `length`, the committed length; later bytes were never committed.

        `crc32` is the checksum of these bytes from the state. Without it, or if the file is
        shorter, it is computed. Raises DiskFault.
        """
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            # shorter if the file was truncated
            self.length = min(os.fstat(self._file).st_size, length)
            os.ftruncate(self._file, self.length)
            is_known = crc32 is not None and self.length == length
            self.crc32 = int.from_bytes(crc32 or b"", "big") if is_known else crc32_of(path)[0]
        except OSError as fault:
            raise disk_fault(f"cannot open {path}", fault) from fault
        self._lines: list[str] = []

    def note_report(self, report: Report) -> None:
        self._lines.append(_line_of_report(report))

    def note_row(self, row: UrlRow) -> None:
        """Add an outcome that was decided without a request."""
        self._lines.append(_line_of_row(row))

    def note_refusals(self, refusals: list[Refusal]) -> None:
        """The same for URLs that were refused when they were found."""
        self._lines.append(_lines_of_refusals(refusals))

    def take(self) -> bytes:
        """Return the lines added since the last call."""
        lines, self._lines = self._lines, []
        return "".join(lines).encode("utf-8", "replace")

    def append(self, lines: bytes) -> int:
        """Write and sync lines; return the file's length. Raises DiskFault."""
        try:
            view = memoryview(lines)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError as fault:
            raise disk_fault("cannot write the log", fault) from fault
        return os.fstat(self._file).st_size

    def reopen(self) -> None:
        """Append to the file that has taken the place of the old one. Raises OSError."""
        new = os.open(self._path, os.O_RDWR | os.O_APPEND, 0o644)
        os.close(self._file)
        self._file = new

    def close(self) -> None:
        os.close(self._file)


_OUTCOMES: Final = {standing: f'"{outcome}"' for standing, outcome in OUTCOME.items()}

# Lines are formatted by hand: a page adds three of them. `json.dumps` of a dictionary takes 5
# microseconds per line, this takes 1.5. Text from outside is quoted as JSON.


def _line_of_report(report: Report) -> str:
    line = f'{{"at": "{iso_of(report.at_us)}", "url": {_quoted(report.lease.url)}'
    line += f', "outcome": "{report.outcome}"'
    if report.reason:
        line += f', "reason": "{report.reason}"'
    if report.detail:
        line += f', "detail": {_quoted(report.detail)}'
    if report.status:
        line += f', "status": {report.status}'
    if report.type:
        line += f', "type": {_quoted(report.type)}'
    if report.size_bytes:
        line += f', "bytes": {report.size_bytes}'
    took_s = round(report.took_s, 4)
    if took_s:
        line += f', "took_s": {took_s!r}'
    return f"{line}{_columns_of(report.lease)}}}\n"


def _lines_of_refusals(refusals: list[Refusal]) -> str:
    lines = []
    for url, reason, detail, depth, at_us in refusals:
        line = f'{{"at": "{iso_of(at_us)}", "url": {_quoted(url)}, "outcome": "refused"'
        if reason:
            line += f', "reason": "{reason}"'
        if detail:
            line += f', "detail": {_quoted(detail)}'
        lines.append(f'{line}, "depth": {depth}}}\n' if depth else line + "}\n")
    return "".join(lines)


def _columns_of(lease: Lease) -> str:
    columns = f', "depth": {lease.depth}' if lease.depth else ""
    if lease.tries:
        columns += f', "tries": {lease.tries}'
    if lease.via:
        columns += f', "via": {_quoted(lease.via)}'
    if lease.host:
        columns += f', "host": {_quoted(lease.host)}'
    if lease.address:
        columns += f', "address": {_quoted(lease.address)}'
    if lease.purpose is not Purpose.PAGE:
        columns += f', "purpose": "{lease.purpose}"'
    return columns


def _line_of_row(row: UrlRow) -> str:
    reason = f', "reason": {_quoted(row.reason)}' if row.reason else ""
    detail = f', "detail": {_quoted(row.detail)}' if row.detail else ""
    depth = f', "depth": {row.depth}' if row.depth else ""
    return (
        f'{{"at": "{iso_of(row.at_us)}", "url": {_quoted(row.url)}, '
        f'"outcome": {_OUTCOMES[row.standing]}{reason}{detail}{depth}}}\n'
    )


def note_action(path: Path, wall_us: int, act: str, **facts: object) -> None:
    """Append one action of the operator to acts.jsonl, synced to the disk. Raises DiskFault.

    A partial line that a full disk leaves is cut off again. One of an older release is ended first;
    otherwise this line would be lost with it.
    """
    line = json.dumps({"at": iso_of(wall_us), "act": act, **facts}).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+", buffering=0) as file:
            end = file.tell()
            if end:
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            try:
                _write_all(file, line)
            except OSError:
                file.truncate(end)
                raise
            os.fsync(file.fileno())
    except OSError as fault:
        raise disk_fault("cannot write the action to log/acts.jsonl", fault) from fault


def _write_all(file: io.FileIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[file.write(view) :]


def read_actions(path: Path, word: str = "") -> Iterator[dict[str, Any]]:
    """Yield the actions of a collection whose lines contain `word`, in order; skip partial
    lines."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for line in lines:
            try:
                act = json.loads(line) if word.encode() in line else None
            except ValueError:
                continue
            if isinstance(act, dict):
                yield act
