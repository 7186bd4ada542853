"""`gossamer versions`: list the versions of a URL, and the visits that found no change."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gossamer.base.answer_class import answer_text, class_of_status, status_text
from gossamer.base.clock import iso_of
from gossamer.base.plurals import counted
from gossamer.cli.show.captures import capture_object
from gossamer.cli.show.colours import STYLES
from gossamer.cli.show.tables import print_table
from gossamer.reader.change_text import facts_text
from gossamer.reader.changes import changes_of
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredCapture, times_of
from gossamer.reader.versions import PageVersionInfo, versions_of


def run_versions(path: Path, url: str, *, as_json: bool) -> int:
    """List the versions, the oldest first. Raises NoCollection or NotKnown."""
    with CollectionReader.open(path) as reader:
        row = reader.get(url)
        captures = reader.captures(url)
        changes = changes_of(reader, url)
    times = dict(zip((one.at_us for one in captures), times_of(captures), strict=True))
    versions = versions_of(captures, changes)
    if as_json:
        told = _objects(captures, versions, times)
        print(json.dumps({"schema": 1, "url": row.url, "versions": told}))
        return 0
    if not captures:
        became = answer_text(row.outcome.value, row.status, row.reason)
        print(f"{row.url} has no capture: it is {became}.", file=sys.stderr)
        return 0
    print_table(
        ("version", "captured at", "status", "type", "bytes", "change", "seen until"),
        [_cells(one, times) for one in versions],
        [STYLES[class_of_status(one.capture.status)] for one in versions],
    )
    return 0


def _cells(one: PageVersionInfo, times: Mapping[int, str]) -> tuple[str, ...]:
    capture = one.capture
    change = ""
    if one.change is not None:
        facts = facts_text(one.change)
        change = f"{one.change.kind.value}: {facts}" if facts else one.change.kind.value
    visits = f"{counted(one.visits, 'visit')} without change until {iso_of(one.last_us)}"
    return (
        str(one.number),
        times[capture.at_us],
        status_text(capture.status),
        capture.type or "-",
        str(capture.size_bytes),
        change or "-",
        visits if one.visits else "-",
    )


def _objects(
    captures: Sequence[StoredCapture],
    versions: Sequence[PageVersionInfo],
    times: Mapping[int, str],
) -> list[dict[str, Any]]:
    """One object for each capture. `version` is its number, `change` what its visit found."""
    found = []
    of_version = iter(versions)
    version = next(of_version, None)
    for capture in captures:
        while version is not None and capture.at_us > version.last_us:
            version = next(of_version, None)
        assert version is not None, "every capture is of a version"
        is_first = capture.at_us == version.capture.at_us
        change = version.change.as_json() if is_first and version.change else None
        told = {"version": version.number, "unchanged": not is_first, "change": change}
        found.append({**capture_object(capture, times[capture.at_us]), **told})
    return found
