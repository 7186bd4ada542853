"""The live status of a crawl, as server-sent events.

    status    the figures, about once a second while anything changes
    outcomes  outcomes of URLs, in the order of the log
    hosts     those with the longest queues, every few seconds

The id of every event is a place in the log. A client that reconnects with it (`Last-Event-ID`) gets
what it missed, up to a limit; beyond that it gets the number of skipped bytes. If the log was
replaced or truncated, the place is invalid, and the client starts at the end like a new one.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import Clock
from gossamer.errors import StoreError

EVERY_S: Final = 1.0
_HOSTS_EVERY: Final = 4  # rounds
_ALIVE_EVERY: Final = 15  # rounds without an event before a keep-alive comment
_PIECE_BYTES: Final = 256 * 2**10  # of the log for one event: about a thousand lines
_BEHIND_BYTES: Final = 4 * 2**20  # most that a client may have missed and still receives
_FIRST_BYTES: Final = 16 * 2**10  # for a new client: the last few dozen lines
_ID: Final = re.compile(r"([0-9a-f]{1,16})-([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in one log: the file, and the bytes read."""

    file: int
    offset: int

    def __str__(self) -> str:
        return f"{self.file:x}-{self.offset}"


@dataclass(frozen=True, slots=True)
class LogLines:
    """Lines of a log, the place after them, and the bytes skipped before them."""

    outcomes: tuple[dict[str, Any], ...]
    mark: Mark
    skipped_bytes: int = 0


def mark_of(text: str) -> Mark | None:
    """Parse a place that a client sends back."""
    found = _ID.fullmatch(text)
    return Mark(int(found[1], 16), int(found[2])) if found else None


def read_on(log: Path, mark: Mark | None) -> LogLines:
    """Return the complete lines after a place; without a valid one, the last few."""
    try:
        with log.open("rb") as file:
            return _read_from(file, _stat_of(log), mark)
    except FileNotFoundError:
        return LogLines((), Mark(0, 0))


def _stat_of(log: Path) -> tuple[int, int]:
    found = log.stat()
    return found.st_ino & 0xFFFFFFFFFFFFFFFF, found.st_size


def _read_from(file: Any, stat: tuple[int, int], mark: Mark | None) -> LogLines:
    inode, size = stat
    holds = mark is not None and mark.file == inode and mark.offset <= size
    start = mark.offset if mark is not None and holds else max(0, size - _FIRST_BYTES)
    # Log and state begin at 0 with a new collection; a client that was connected before gets all of
    # it.
    if mark is not None and mark == Mark(0, 0):
        start = max(0, size - _BEHIND_BYTES)
    skipped = 0
    if size - start > _BEHIND_BYTES:
        skipped = size - _PIECE_BYTES - start
        start += skipped
    is_cut = start > 0 and (skipped > 0 or not holds)  # may begin inside a line
    file.seek(start)
    piece: bytes = file.read(_PIECE_BYTES)
    if is_cut:
        first = piece.find(b"\n") + 1
        piece, start = piece[first:], start + first
    whole = piece[: piece.rfind(b"\n") + 1]
    lines = tuple(found for line in whole.splitlines() if (found := _line(line)) is not None)
    return LogLines(lines, Mark(inode, start + len(whole)), skipped)


def _line(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def event(name: str, mark: Mark, content: object) -> bytes:
    """Return one event. JSON has no line breaks, so its content cannot start another event."""
    return f"event: {name}\nid: {mark}\ndata: {json.dumps(content)}\n\n".encode()


@dataclass(frozen=True, slots=True)
class Watched:
    """The sources of a feed; `status` and `hosts` may block for a moment."""

    log: Path
    status: Callable[[], dict[str, Any]]
    hosts: Callable[[], Sequence[dict[str, Any]]]
    may_read: Callable[[], bool] = lambda: True


async def feed(watched: Watched, last_id: str, clock: Clock) -> AsyncGenerator[bytes]:
    """Yield events as long as the client may read them; the caller may stop earlier.

    After that no event is sent, and the feed ends about a second later.
    """
    mark = mark_of(last_id)
    before: tuple[dict[str, Any], Sequence[dict[str, Any]]] = ({}, [])
    quiet = 0
    yield b"retry: 2000\n\n"
    round_ = 0
    while watched.may_read():
        next_s = clock.now_s() + EVERY_S
        piece = await asyncio.to_thread(read_on, watched.log, mark)
        mark = piece.mark
        status, hosts = before
        # During a clear or a takedown the collection cannot be read.
        with suppress(StoreError, OSError):
            status = await asyncio.to_thread(watched.status)
            if round_ % _HOSTS_EVERY == 0:
                hosts = await asyncio.to_thread(watched.hosts)
        events = list(_changes(piece, before, (status, hosts)))
        before, round_ = (status, hosts), round_ + 1
        for one in events:
            if not watched.may_read():
                return
            yield one
        quiet = 0 if events else quiet + 1
        if quiet >= _ALIVE_EVERY:
            quiet = 0
            yield b": still here\n\n"
        await clock.sleep_until(next_s)


def _changes(
    piece: LogLines,
    before: tuple[dict[str, Any], Sequence[dict[str, Any]]],
    now: tuple[dict[str, Any], Sequence[dict[str, Any]]],
) -> list[bytes]:
    events = []
    if piece.outcomes or piece.skipped_bytes:
        content = {"outcomes": piece.outcomes, "skipped_bytes": piece.skipped_bytes}
        events.append(event("outcomes", piece.mark, content))
    if now[0] != before[0] or now[0].get("state") in ("running", "paused", "stopping"):
        events.append(event("status", piece.mark, now[0]))
    if now[1] != before[1]:
        events.append(event("hosts", piece.mark, {"hosts": now[1]}))
    return events
