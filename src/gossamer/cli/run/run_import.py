"""Run an import in the terminal: print faults as they occur, and the counts at the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import Clock, SystemClock
from gossamer.base.plurals import counted
from gossamer.cli.show.printable import printable
from gossamer.collection.configure import configure
from gossamer.collection.directory import CollectionPaths
from gossamer.errors import CAN_GO_ON
from gossamer.transfer.import_archive import ImportCounts
from gossamer.transfer.imports import import_files

_LINE_EVERY_S: Final = 5.0
_TOLD: Final = 100  # faults that are printed; further ones are counted


class _Teller:
    """Prints the first hundred faults."""

    def __init__(self) -> None:
        self.said = 0

    def __call__(self, sentence: str) -> None:
        self.said += 1
        if self.said <= _TOLD:
            print(printable(sentence), file=sys.stderr)


class _Progress:
    """Prints a line from time to time, like a crawl without a terminal."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._due_s = clock.now_s() + _LINE_EVERY_S

    def __call__(self, tally: ImportCounts) -> None:
        if self._clock.now_s() >= self._due_s:
            self._due_s = self._clock.now_s() + _LINE_EVERY_S
            print(
                f"{counted(tally.records, 'record')}, {counted(tally.captures, 'new capture')}",
                file=sys.stderr,
            )


def run_import(collection: Path, files: list[Path], *, as_json: bool) -> int:
    """Import; return the exit code: 1 if nothing could be read, 11 if stopped."""
    teller, clock = _Teller(), SystemClock()
    tally = ImportCounts(teller, watch=_Progress(clock))
    try:
        asyncio.run(_import(CollectionPaths(collection), files, clock, tally))
    except KeyboardInterrupt:
        print(
            "Stopped. Imported records are kept. Run the same command to resume.",
            file=sys.stderr,
        )
        return CAN_GO_ON
    if teller.said > _TOLD:
        print(f"{teller.said - _TOLD} more faults are not shown.", file=sys.stderr)
    if as_json:
        print(json.dumps({"schema": 1, **counts_of(tally)}))
    else:
        print(told(tally, collection), file=sys.stderr)
    is_in_vain = not (tally.captures or tally.kept or tally.unanswered or tally.known or tally.urls)
    return 1 if is_in_vain else 0


async def _import(
    paths: CollectionPaths, files: list[Path], clock: Clock, tally: ImportCounts
) -> None:
    with _interruptible():
        await import_files(
            paths,
            lambda stored: configure(paths.path, {}, base=stored).settings,
            files,
            clock,
            tally,
        )


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Let signals raise KeyboardInterrupt at once: an import blocks the event loop."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def counts_of(tally: ImportCounts) -> dict[str, Any]:
    """Return the counts for programs."""
    names = (f.name for f in fields(tally) if f.name not in ("notify", "watch"))
    return {name: getattr(tally, name) for name in names}


def told(tally: ImportCounts, collection: Path) -> str:
    """Return the counts for people."""
    lines = [f"{counted(tally.files, 'file')} imported into {collection}."]
    if tally.records:
        lines.append(
            f"{counted(tally.records, 'record')}: {counted(tally.captures, 'new capture')}, "
            f"{tally.kept} archived only, {tally.unanswered} failed or refused, "
            f"{tally.known} already known."
        )
    if tally.urls:
        lines.append(
            f"{counted(tally.urls, 'URL')} listed, {tally.new_urls} of them new. Fetch them with "
            f"`gossamer crawl -c {collection}`."
        )
    if tally.damaged or tally.unreadable:
        lines.append(
            f"{counted(tally.damaged, 'place')} could not be read, "
            f"{counted(tally.unreadable, 'line')} contained no URL."
        )
    if not (tally.records or tally.urls or tally.damaged or tally.unreadable):
        lines.append("Nothing was imported: the files contain no record and no URL.")
    if tally.forgotten:
        lines.append(f"{tally.forgotten} skipped, because they were taken down in this collection.")
    return "\n".join(lines)
