"""Carry out the retention rule in an open collection: the node's side of `program.py`.

Theory of operation. Captures are deleted in two steps, and each may be interrupted:

    1. rows     the rows of deleted captures go, some thousand in one commit, those of one URL
                together. From then on no reader finds them; their bytes are still in the archive
    2. files    a file with many such bytes is written anew without them, in archive/staged/. One
                commit moves all its captures to the new file (`collection/replacing.py`)

A kill leaves the old or the new state of each step. A revisit record never loses its body, because
its row goes before the body does, or with it. At most one file is written at a time, so little
extra disk space is needed; when the disk is full, the new file is deleted and the old one stays.
Requests continue meanwhile. The old file stays for `node.keep_parts_s`, for readers that have
started before.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Final, cast

from msgspec import structs

from gossamer.archive.replaced import STAGED
from gossamer.archive.writer import disk_fault
from gossamer.base.packing import pack, unpack
from gossamer.base.processes import PIPE, Started, end, last_line, start
from gossamer.collection.replacing import (
    FileReplacement,
    complete_replacement,
    delete_replaced,
    has_staged,
)
from gossamer.errors import StoreError
from gossamer.frontier.frontier import HOST_BYTES
from gossamer.frontier.meta_keys import (
    FILE_PREFIX,
    PRUNED_KEY,
    PRUNED_PREFIX,
    REPLACING_KEY,
    SITEMAP_PREFIX,
)
from gossamer.frontier.rows import CaptureRow, SitemapRow, time_of
from gossamer.frontier.store import StateTable
from gossamer.node.parts import Parts
from gossamer.node.retention.captures_to_drop import REQUEST_BYTES
from gossamer.policies.retention import RetentionRule
from gossamer.urls.keys import KEY_BYTES
from gossamer.workers.wire import PartWritten

_DAY_US: Final = 86_400_000_000
_PROGRAM: Final = "gossamer.node.retention.program"
_CAPTURE_BYTES: Final = KEY_BYTES + 8
_MOVED_BYTES: Final = _CAPTURE_BYTES + 8


@dataclass(slots=True)
class Pruned:
    """What one run of the rule has done."""

    rule: str = ""
    captures: int = 0  # deleted
    capture_bytes: int = 0  # their bytes in the archive, about
    files: int = 0  # archive files that were written anew or merged
    freed_bytes: int = 0  # by which the archive is smaller
    problems: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        return {"schema": 1, **asdict(self)}


class Pruner:
    """Deletes what a rule does not keep. One run at a time."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._frontier = parts.frontier
        self._folder = parts.paths.archive
        self.is_running = False
        self.last = Pruned()

    async def run(self, rule: RetentionRule, share: float | None = None) -> Pruned:
        """Apply a rule to the whole collection. `share`: as `archive.prune_share`.

        Raises DiskFault if a commit fails, StoreError if the process cannot be started.
        """
        pruned = self.last = Pruned(rule.text)
        self.is_running = True
        process = self._start(rule, share)
        try:
            await self._follow(process, pruned)
        finally:
            self.is_running = False
            await asyncio.to_thread(end, process)
        if has_staged(self._folder):
            await asyncio.to_thread(shutil.rmtree, self._folder / STAGED, ignore_errors=True)
        self._note(pruned)
        await self._parts.committer.commit()
        await self._thin_log(rule)
        return pruned

    async def _thin_log(self, rule: RetentionRule) -> None:
        """Leave old lines out of the log; with a rule that keeps all, the log stays, too."""
        days = self._parts.settings.archive.keep_log_days
        if days and not rule.keeps_all and self._parts.paths.log.exists():
            before_us = self._parts.clock.wall_us() - round(days * _DAY_US)
            await self._parts.committer.thin_log(self._parts.paths.log, before_us)

    def delete_replaced(self, keep_s: float | None = None) -> int:
        """Delete replaced files that readers do not need any more; return their bytes."""
        wanted_s = self._parts.settings.node.keep_parts_s if keep_s is None else keep_s
        return delete_replaced(self._folder, self._parts.clock.wall_us() / 1e6 - wanted_s)

    def _start(self, rule: RetentionRule, share: float | None) -> Started:
        wanted = self._parts.settings.archive.prune_share if share is None else share
        facts = (str(self._parts.clock.wall_us()), str(wanted))
        folder = str(self._parts.paths.path)
        try:
            return start(_PROGRAM, folder, rule.text, *facts, stdin=PIPE, stdout=PIPE, stderr=PIPE)
        except OSError as error:
            raise StoreError(f"cannot start the process that deletes captures ({error})") from error

    async def _follow(self, process: Started, pruned: Pruned) -> None:
        assert process.stdout is not None, "it is a pipe"
        lines = io.BufferedReader(cast("io.RawIOBase", process.stdout))  # a line may be long
        try:
            while line := await _next_line(lines, process):
                step = json.loads(line)
                if "done" in step:
                    return
                await self._carry_out(step, pruned)
                await asyncio.to_thread(_continue, process)
        finally:
            lines.detach()  # `end` closes the pipe
        if not pruned.problems:
            errors = process.stderr.read() if process.stderr is not None else b""
            pruned.problems.append(last_line(errors or b"") or "the process ended early")

    async def _carry_out(self, step: Mapping[str, Any], pruned: Pruned) -> None:
        if "problem" in step:
            pruned.problems.append(step["problem"])
        elif "drop" in step:
            await self._drop(base64.b64decode(step["drop"]), pruned)
        else:
            await self._replace(step, pruned)

    # -- rows

    async def _drop(self, keys: bytes, pruned: Pruned) -> None:
        """Delete the rows of captures, and commit. All of it is in one commit: nothing is awaited
        before it."""
        left: Counter[str] = Counter()
        for key in _pieces(keys, _CAPTURE_BYTES):
            row = self._dropped(key)
            if row is not None:
                pruned.captures += 1
                pruned.capture_bytes += row.length + REQUEST_BYTES
                left[row.file] += row.length + REQUEST_BYTES
        for file, size in left.items():
            self._add_deleted(file, size)
        await self._parts.committer.commit()

    def _dropped(self, key: bytes) -> CaptureRow | None:
        """Delete one capture, unless it is one that the page needs by now."""
        frontier, url_key = self._frontier, key[:KEY_BYTES]
        packed, url = frontier.pending.find(StateTable.CAPTURE, key), frontier.find(url_key)
        if packed is None or url is None or time_of(key[KEY_BYTES:]) in (url.at_us, url.body_us):
            return None
        row = CaptureRow.decode(packed)
        frontier.pending.delete(StateTable.CAPTURE, key)
        frontier.counts.size_bytes -= row.size_bytes
        frontier.touch(url_key[:HOST_BYTES]).size_bytes -= row.size_bytes
        return row

    def _add_deleted(self, file: str, size: int) -> None:
        pending, key = self._frontier.pending, PRUNED_PREFIX + file.encode()
        before = int.from_bytes(pending.find(StateTable.META, key) or b"", "big")
        pending.put(StateTable.META, key, (before + size).to_bytes(8, "big"))

    # -- files

    async def _replace(self, step: Mapping[str, Any], pruned: Pruned) -> None:
        """Make a file of archive/staged/ valid in place of others."""
        one = FileReplacement(
            step["new"], tuple(step["old"]), step["size_bytes"], step["crc32"], step["cdxj"]
        )
        before = sum((self._folder / name).stat().st_size for name in one.old)
        moved = base64.b64decode(step["captures"])
        rows = await asyncio.to_thread(self._moved, one, moved)
        self._move_sitemaps(one, base64.b64decode(step["sitemaps"]))
        self._move_captures(one, rows)
        await self._parts.committer.commit()
        try:
            now_s = self._parts.clock.wall_us() / 1e6
            await asyncio.to_thread(complete_replacement, self._folder, one, now_s)
        except OSError as error:
            raise disk_fault(f"cannot replace files of {self._folder}", error) from error
        self._frontier.pending.delete(StateTable.META, REPLACING_KEY)
        pruned.files += len(one.old)
        pruned.freed_bytes += before - one.size_bytes

    def _moved(self, one: FileReplacement, moved: bytes) -> dict[bytes, bytes]:
        """Return the new rows of captures. Rows of complete files change only here."""
        rows = {}
        for piece in _pieces(moved, _MOVED_BYTES):
            key, offset = piece[:_CAPTURE_BYTES], int.from_bytes(piece[_CAPTURE_BYTES:], "big")
            packed = self._frontier.pending.find(StateTable.CAPTURE, key)
            row = CaptureRow.decode(packed) if packed else None
            if row is None or row.file not in one.old:
                raise StoreError(f"{one.new} has a capture that the state does not know")
            rows[key] = structs.replace(row, file=one.new, offset=offset).encode()
        return rows

    def _move_sitemaps(self, one: FileReplacement, moved: bytes) -> None:
        """Note the new places of sitemaps that later visits are compared with."""
        pending = self._frontier.pending
        for piece in _pieces(moved, _MOVED_BYTES):
            name, at_us = SITEMAP_PREFIX + piece[:KEY_BYTES], time_of(piece[KEY_BYTES:])
            packed = pending.find(StateTable.META, name)
            row = SitemapRow.decode(packed) if packed else None
            if row is None or row.previous is None or row.previous.at_us != at_us:
                continue
            offset = int.from_bytes(piece[_CAPTURE_BYTES:], "big")
            place = structs.replace(row.previous, file=one.new, offset=offset)
            pending.put(StateTable.META, name, structs.replace(row, previous=place).encode())

    def _move_captures(self, one: FileReplacement, rows: Mapping[bytes, bytes]) -> None:
        """Change state, graph and index together: nothing is awaited before their commit."""
        pending, parts = self._frontier.pending, self._parts
        for key, row in rows.items():
            pending.put(StateTable.CAPTURE, key, row)
        ends = {one.new: one.size_bytes} if one.new else {}
        for name, size in ends.items():
            pending.put(StateTable.META, FILE_PREFIX + name.encode(), size.to_bytes(8, "big"))
        for name in one.old:
            pending.delete(StateTable.META, FILE_PREFIX + name.encode())
            pending.delete(StateTable.META, PRUNED_PREFIX + name.encode())
        pending.put(StateTable.META, REPLACING_KEY, one.encode())
        if parts.settings.node.graph:
            parts.links.note(PartWritten("", 0, ends))
            parts.links.uncover(one.old)
        if parts.index is not None:
            parts.index.replace_files(ends, one.old)

    def _note(self, pruned: Pruned) -> None:
        """Add to what was ever deleted: captures, bytes, and when the first and last runs were."""
        pending, now_us = self._frontier.pending, self._parts.clock.wall_us()
        row = pending.find(StateTable.META, PRUNED_KEY)
        captures, size, first_us, _ = unpack(row) if row else (0, 0, now_us, 0)
        total = (captures + pruned.captures, size + pruned.capture_bytes, first_us, now_us)
        pending.put(StateTable.META, PRUNED_KEY, pack(total))


async def _next_line(lines: io.BufferedReader[io.RawIOBase], process: Started) -> bytes:
    reading = asyncio.ensure_future(asyncio.to_thread(lines.readline))
    try:
        return await asyncio.shield(reading)
    except asyncio.CancelledError:
        process.kill()  # then there is no line to wait for
        await reading
        raise


def _continue(process: Started) -> None:
    """Tell the process that a step is committed. If it has ended, the end of its output says so."""
    assert process.stdin is not None, "it is a pipe"
    with suppress(OSError):
        process.stdin.write(b"\n")


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))
