"""An import on the terminal: what went wrong as it is met, and the counts at the end."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from gossamer.base.clock import SystemClock
from gossamer.crawl.configure import configure
from gossamer.crawl.home import Home
from gossamer.crawl.import_archive import Tally
from gossamer.crawl.imports import import_files

_TOLD: Final = 100  # things that went wrong; the rest is counted


class _Teller:
    """Says the first hundred things that went wrong."""

    def __init__(self) -> None:
        self.said = 0

    def __call__(self, sentence: str) -> None:
        self.said += 1
        if self.said <= _TOLD:
            print(sentence, file=sys.stderr)


def run_import(collection: Path, files: list[Path], *, as_json: bool) -> int:
    """Import, and return the exit code: 1 where nothing at all could be read."""
    teller = _Teller()
    tally = Tally(teller)
    asyncio.run(
        import_files(
            Home(collection),
            lambda stored: configure(collection, {}, base=stored).settings,
            files,
            SystemClock(),
            tally,
        )
    )
    if teller.said > _TOLD:
        print(f"and {teller.said - _TOLD} more of this kind", file=sys.stderr)
    if as_json:
        print(json.dumps({"schema": 1, **counts_of(tally)}))
    else:
        print(told(tally, collection), file=sys.stderr)
    is_in_vain = not (tally.captures or tally.kept or tally.unanswered or tally.known or tally.urls)
    return 1 if is_in_vain else 0


def counts_of(tally: Tally) -> dict[str, Any]:
    """The counts for a program."""
    counts = asdict(tally)
    del counts["tell"]
    return counts


def told(tally: Tally, collection: Path) -> str:
    """The counts for a person."""
    lines = [f"{tally.files} {'file' if tally.files == 1 else 'files'} imported into {collection}."]
    if tally.records:
        lines.append(
            f"{tally.records} records: {tally.captures} new captures, {tally.kept} kept as they "
            f"are, {tally.unanswered} failures and refusals, {tally.known} known already."
        )
    if tally.urls:
        lines.append(
            f"{tally.urls} URLs named, {tally.new_urls} of them new; `gossamer crawl -c "
            f"{collection}` asks for them."
        )
    if tally.damaged or tally.unreadable:
        lines.append(f"{tally.damaged} places could not be read, {tally.unreadable} URLs are none.")
    if tally.forgotten:
        lines.append(f"{tally.forgotten} were left out: they were forgotten here.")
    return "\n".join(lines)
