"""`gossamer versions`: list the captures of a URL."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gossamer.base.answer_class import answer_text, class_of_status, status_text
from gossamer.cli.show.captures import capture_objects
from gossamer.cli.show.colours import STYLES
from gossamer.cli.show.tables import print_table
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import times_of


def run_versions(path: Path, url: str, *, as_json: bool) -> int:
    """List the captures, the oldest first. Raises NoCollection or NotKnown."""
    with CollectionReader.open(path) as reader:
        row = reader.get(url)
        captures = reader.captures(url)
    if as_json:
        versions = capture_objects(captures)
        print(json.dumps({"schema": 1, "url": row.url, "versions": versions}))
        return 0
    if not captures:
        became = answer_text(row.outcome.value, row.status, row.reason)
        print(f"{row.url} has no capture: it is {became}.", file=sys.stderr)
        return 0
    print_table(
        ("captured at", "status", "type", "bytes", "digest", "file", "offset"),
        [
            (
                at,
                status_text(capture.status),
                capture.type or "-",
                str(capture.size_bytes),
                capture.digest,
                capture.file,
                str(capture.offset),
            )
            for capture, at in zip(captures, times_of(captures), strict=True)
        ],
        [STYLES[class_of_status(capture.status)] for capture in captures],
    )
    return 0
