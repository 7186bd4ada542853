"""crawl.jsonl: what happened to each URL, one line per outcome, in order.

Exactly once, kills included: lines are gathered, written just before the commit that makes their
outcomes true, and the commit carries the file's length; a restart cuts the file to that length
and the replay writes the lines again.

Columns: at, url, outcome, reason, detail, status, type, bytes, took_s, depth, tries, via, host,
address, purpose (where it is no page). Empty ones are left out.
"""

from __future__ import annotations

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
        """Open at `length`, the committed length; what lies beyond was never true.

        `crc32` is the checksum of so many bytes, as the state has it; where it has none, or the
        file was cut, it is counted anew. Raises DiskFault.
        """
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self.length = min(os.fstat(self._file).st_size, length)  # less, where somebody cut it
            os.ftruncate(self._file, self.length)
            is_known = crc32 is not None and self.length == length
            self.crc32 = int.from_bytes(crc32 or b"", "big") if is_known else crc32_of(path)[0]
        except OSError as fault:
            raise disk_fault(f"{path} could not be opened", fault) from fault
        self._lines: list[str] = []

    def note_report(self, report: Report) -> None:
        self._lines.append(_line_of_report(report))

    def note_row(self, row: UrlRow) -> None:
        """An outcome that was decided without asking."""
        self._lines.append(_line_of_row(row))

    def note_refusals(self, refusals: list[Refusal]) -> None:
        """The same of URLs that were refused when they were found."""
        self._lines.append(_lines_of_refusals(refusals))

    def take(self) -> bytes:
        """The lines gathered since the last time."""
        lines, self._lines = self._lines, []
        return "".join(lines).encode("utf-8", "replace")

    def append(self, lines: bytes) -> int:
        """Write and sync them; the file's length afterwards. Raises DiskFault."""
        try:
            view = memoryview(lines)
            while view:
                view = view[os.write(self._file, view) :]
            os.fsync(self._file)
        except OSError as fault:
            raise disk_fault("the log could not be written", fault) from fault
        return os.fstat(self._file).st_size

    def close(self) -> None:
        os.close(self._file)


_OUTCOMES: Final = {standing: f'"{outcome}"' for standing, outcome in OUTCOME.items()}

# Lines are put together by hand: a page brings three of them, and `json.dumps` of a dictionary
# takes 5 microseconds for each where this takes 1.5. What a site, or anybody else, may have written
# is quoted as JSON wants it.


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
    """One line in acts.jsonl: what the operator did. On disk when this returns; else DiskFault.

    Half a line that a full disk left behind is ended first, or this one would be lost with it.
    """
    line = json.dumps({"at": iso_of(wall_us), "act": act, **facts}).encode() + b"\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab+") as file:
            if file.tell():
                file.seek(-1, os.SEEK_END)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
    except OSError as fault:
        raise disk_fault("the act could not be noted in the log", fault) from fault


def read_actions(path: Path, word: str = "") -> Iterator[dict[str, Any]]:
    """The acts of a collection whose lines have `word`, in order; half a line is none."""
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
