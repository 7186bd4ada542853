"""Bans and trust that the operator adds or lifts while a crawl runs or is stopped.

Both are lines as in a ban file (`urls/bans.py`): hosts, URL prefixes, patterns. URLs that are
trusted are never refused as a learned trap. The state stores the lines, and acts.jsonl logs each
change. A ban takes effect at once: matching URLs are not requested
any more, queued or not. The queue is checked in slices, so that a crawl of ten million URLs
continues meanwhile. Requests in flight complete. A process that ends during the check leaves a
mark, and the next start checks the whole queue first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from gossamer.base.clock import Clock
from gossamer.base.packing import pack
from gossamer.collection.crawl_log import note_action, read_actions
from gossamer.collection.directory import CollectionPaths, locked, open_to_read, open_to_write
from gossamer.collection.stored_settings import stored_bans, stored_trust
from gossamer.errors import UsageError
from gossamer.frontier.frontier import Frontier
from gossamer.frontier.meta_keys import BANS_KEY, REJUDGE_KEY, TRUST_KEY
from gossamer.frontier.store import StateTable, Store
from gossamer.node.control import NotRunning, send
from gossamer.schedule.admission import Admission
from gossamer.urls.bans import BanList

MOST_LINES: Final = 1_000  # patterns are tried one after the other; a ban file may have more
_LONGEST_LINE: Final = 2_000
_PENDING_ROWS: Final = 20_000  # writing more rows at once would delay the crawl
_COMMIT_WAIT_S: Final = 0.05


class LineKind(NamedTuple):
    """What lines of the operator are for."""

    command: str  # to a running crawl, and in acts.jsonl
    key: bytes  # of the table META
    listed: str  # the key of the reply
    done: str
    noun: str


BAN: Final = LineKind("ban", BANS_KEY, "bans", "banned", "ban")
TRUST: Final = LineKind("trust", TRUST_KEY, "trusted", "trusted", "line")


def changed_lines(
    before: Sequence[str], added: Iterable[str], lifted: Iterable[str], kind: LineKind = BAN
) -> tuple[str, ...]:
    """The lines after a change. Raises UsageError for an invalid line, or for lifting one that is
    not set.
    """
    new = [line for line in map(_plain, added) if line]
    gone = [line for line in map(_plain, lifted) if line]
    for line in gone:
        if line not in before:
            raise UsageError(
                f"{line[:80]!r} is not {kind.done}, so the {kind.noun} cannot be removed"
            )
    lines = [line for line in dict.fromkeys([*before, *new]) if line not in gone]
    if len(lines) > MOST_LINES:
        more = "; put them into a file and start the crawl with --ban FILE" if kind is BAN else ""
        raise UsageError(f"at most {MOST_LINES:,} lines can be {kind.done} by a command{more}")
    BanList(new)
    return tuple(lines)


def _plain(line: str) -> str:
    """A line without its comment, as in a ban file."""
    text = line if line.startswith("re:") else line.partition("#")[0]
    if len(text) > _LONGEST_LINE:
        raise UsageError(f"a ban is longer than {_LONGEST_LINE:,} characters")
    return text.strip()


class LiveBans:
    """The bans of a node. Only this class changes them while the node runs."""

    def __init__(
        self,
        frontier: Frontier,
        admission: Admission,
        clock: Clock,
        lines: Sequence[str],
        trusted: Sequence[str] = (),
    ) -> None:
        self._frontier = frontier
        self._admission = admission
        self._clock = clock
        self.lines = tuple(lines)
        self.trusted = tuple(trusted)
        self._has_changed = asyncio.Event()

    def change(self, added: Iterable[str], lifted: Iterable[str]) -> bool:
        """Apply a change at once. Return whether anything changed. Raises UsageError, and then
        nothing has changed.
        """
        lines = changed_lines(self.lines, added, lifted)
        if lines == self.lines:
            return False
        self.lines = lines
        self._admission.ban(BanList(lines))
        put_bans(self._frontier, lines)
        self._has_changed.set()
        return True

    def trust(self, added: Iterable[str], lifted: Iterable[str]) -> bool:
        """The same for URLs that are never refused as a learned trap."""
        lines = changed_lines(self.trusted, added, lifted, TRUST)
        if lines == self.trusted:
            return False
        self.trusted = lines
        self._frontier.guard.trusted = BanList(lines)
        put_lines(self._frontier, TRUST, lines)
        self._has_changed.set()
        return True

    def check_again(self) -> None:
        """What was learned has changed: check the queue, and what was refused."""
        self._frontier.pending.put(StateTable.META, REJUDGE_KEY, b"1")
        self._has_changed.set()

    async def keep_up(self) -> None:
        """Check the queue after every change, for ever. The caller cancels this task."""
        while True:
            await self._has_changed.wait()
            self._has_changed.clear()
            self._frontier.judge_pending(self._clock.wall_us())
            await self._go_through()
            if not self._has_changed.is_set():
                self._frontier.pending.delete(StateTable.META, REJUDGE_KEY)

    async def _go_through(self) -> None:
        start: bytes | None = b""
        while start is not None and not self._has_changed.is_set():
            while self._frontier.pending.size > _PENDING_ROWS:
                await self._clock.sleep_until(self._clock.now_s() + _COMMIT_WAIT_S)
            start = self._frontier.judge_some(start, self._clock.wall_us())[1]
            await asyncio.sleep(0)  # a slice blocks the event loop for about 10 ms


def put_bans(frontier: Frontier, lines: Sequence[str]) -> None:
    """Store bans with the next commit."""
    put_lines(frontier, BAN, lines)


def put_lines(frontier: Frontier, kind: LineKind, lines: Sequence[str]) -> None:
    """Store lines with the next commit, with the mark that the queue must be checked."""
    frontier.pending.put(StateTable.META, kind.key, pack(list(lines)))
    frontier.pending.put(StateTable.META, REJUDGE_KEY, b"1")


def bans_in(actions: Path) -> tuple[str, ...]:
    """The bans that result from acts.jsonl, for a state that is being rebuilt."""
    return lines_in(actions, BAN)


def lines_in(actions: Path, kind: LineKind) -> tuple[str, ...]:
    """The lines that result from acts.jsonl."""
    lines: dict[str, None] = {}
    for act in read_actions(actions):
        if act.get("act") == kind.command:
            lines.update(dict.fromkeys(act.get("added", ())))
            for line in act.get("lifted", ()):
                lines.pop(line, None)
    return tuple(lines)


# -- for the web page and the command line


def bans_of(paths: CollectionPaths) -> tuple[str, ...]:
    """The bans of a crawl, running or stored. Raises NoCollection."""
    return lines_of(paths, BAN)


def lines_of(paths: CollectionPaths, kind: LineKind) -> tuple[str, ...]:
    """The lines of a crawl, running or stored. Raises NoCollection."""
    try:
        return tuple(send(paths, kind.command).get(kind.listed, ()))
    except NotRunning:
        if not paths.exists:
            raise paths.missing() from None
        store = open_to_read(paths)
        try:
            return _stored(store, kind)
        finally:
            store.close()


def _stored(store: Store, kind: LineKind) -> tuple[str, ...]:
    return stored_bans(store) if kind is BAN else stored_trust(store)


def change_bans(
    paths: CollectionPaths, clock: Clock, added: Sequence[str] = (), lifted: Sequence[str] = ()
) -> tuple[str, ...]:
    """Add and lift bans, in a running or a stopped crawl. Return all bans afterwards.

    Raises UsageError, NoCollection, CollectionInUse.
    """
    return change_lines(paths, clock, BAN, added, lifted)


def change_lines(
    paths: CollectionPaths,
    clock: Clock,
    kind: LineKind,
    added: Sequence[str] = (),
    lifted: Sequence[str] = (),
) -> tuple[str, ...]:
    """Add and lift lines, in a running or a stopped crawl. Return all lines afterwards.

    Raises UsageError, NoCollection, CollectionInUse.
    """
    try:
        reply: Mapping[str, Any] = send(paths, kind.command, added=list(added), lifted=list(lifted))
    except NotRunning:
        return _change_stored(paths, clock, kind, added, lifted)
    if "error" in reply:
        raise UsageError(str(reply["error"]))
    return tuple(reply[kind.listed])


def _change_stored(
    paths: CollectionPaths,
    clock: Clock,
    kind: LineKind,
    added: Sequence[str],
    lifted: Sequence[str],
) -> tuple[str, ...]:
    if not paths.exists:
        raise paths.missing()
    paths.run.mkdir(exist_ok=True)
    with locked(paths):
        store = open_to_write(paths, 16)
        try:
            before = _stored(store, kind)
            lines = changed_lines(before, added, lifted, kind)
            if lines != before:
                note_lines(paths, clock, kind, before, lines)
                rows = {kind.key: pack(list(lines)), REJUDGE_KEY: b"1"}
                store.write({table: {} for table in StateTable} | {StateTable.META: rows})
        finally:
            store.close()
    return lines


def note_lines(
    paths: CollectionPaths,
    clock: Clock,
    kind: LineKind,
    before: Sequence[str],
    after: Sequence[str],
) -> None:
    """Write a line to acts.jsonl. Raises DiskFault."""
    added = [line for line in after if line not in before]
    lifted = [line for line in before if line not in after]
    note_action(paths.actions, clock.wall_us(), kind.command, added=added, lifted=lifted)
