"""Compare two captures: select them, and show the changes for people and for programs.

For text each changed line is shown with its words marked, `[-removed-]` and `{+added+}`, in colours
on a terminal. For source whole lines are shown, as by `diff -u`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from gossamer.base.plurals import counted
from gossamer.cli.show.captures import capture_object
from gossamer.compare.lines import Change, TextChanges, changes
from gossamer.compare.words import ChangedWords, changed_words
from gossamer.errors import NotKnown, UsageError
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.moments import moment_of
from gossamer.reader.pages import StoredCapture, StoredPage, nearest_capture, time_among

_MARKS: Final = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
_COLOURS: Final = {
    "same": ("", ""),
    "removed": ("\x1b[31m", "\x1b[0m"),
    "added": ("\x1b[32m", "\x1b[0m"),
}
_SIGNS: Final = {"same": " ", "removed": "-", "added": "+"}


def run_diff(
    path: Path, url: str, versions: tuple[str, str], *, is_source: bool, as_json: bool
) -> int:
    """Show the changes. Raises NoCollection, NotKnown if there are not two captures, UsageError
    for a version that is neither a number nor a time."""
    with CollectionReader.open(path) as reader:
        known = reader.get(url).url
        captures = reader.captures(url)
        old, new = chosen(known, captures, *versions)
        times = time_among(old, captures), time_among(new, captures)
        pages = reader.page_at(known, old), reader.page_at(known, new)
    found = changes(*(_shown(page, is_source=is_source) for page in pages))
    if as_json:
        print(json.dumps(_object(known, (old, new), times, found)))
        return 0
    print(f"gossamer: {known}: {times[0]} and {times[1]}", file=sys.stderr)
    for note in _notes(old, new, pages, found):
        print(f"gossamer: {note}", file=sys.stderr)
    has_colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in _lines(found, is_source=is_source, has_colours=has_colours):
        print(line)
    return 0


def chosen(
    url: str, captures: Sequence[StoredCapture], a: str, b: str
) -> tuple[StoredCapture, StoredCapture]:
    """Return the two selected captures; by default the last two, the older first."""
    if not captures or (len(captures) < 2 and not (a and b)):
        count = "no capture" if not captures else "one capture"
        raise NotKnown(f"{url} has {count}, but a comparison needs two; see `gossamer versions`")
    old = _version(captures, a) if a else captures[-2]
    return old, _version(captures, b) if b else captures[-1]


def _version(captures: Sequence[StoredCapture], text: str) -> StoredCapture:
    """Return the capture by number from 1, or the one at or before a time; years have four
    digits."""
    if text.isdecimal() and len(text) < 4:
        if not 1 <= int(text) <= len(captures):
            raise UsageError(
                f"there is no version {text}; the URL has {counted(len(captures), 'version')}"
            )
        return captures[int(text) - 1]
    return nearest_capture(captures, moment_of(text))


def _shown(page: StoredPage, *, is_source: bool) -> str:
    return page.html if is_source else page.text


def _notes(
    old: StoredCapture, new: StoredCapture, pages: tuple[StoredPage, StoredPage], found: TextChanges
) -> Iterator[str]:
    if old.status != new.status:
        yield f"the status changed from {old.status} to {new.status}"
    if not found.parts:
        same = (
            "nothing changed" if old.digest == new.digest else "the bytes changed, but not the text"
        )
        has_text = any(page.text for page in pages) or old.digest == new.digest
        yield same if has_text else "the bytes changed; the page has no text to compare"
    if found.is_cut:
        yield "the texts are long; only the first lines that differ were compared"


def _object(
    url: str,
    captures: tuple[StoredCapture, StoredCapture],
    times: tuple[str, str],
    found: TextChanges,
) -> dict[str, Any]:
    old, new = captures
    parts = [part for part in found.parts if part.kind != "same"]
    return {
        "schema": 1,
        "url": url,
        "old": capture_object(old, times[0]),
        "new": capture_object(new, times[1]),
        "same": old.digest == new.digest,
        "cut": found.is_cut,
        "changes": [{"kind": part.kind, "lines": list(part.lines)} for part in parts],
    }


def _lines(found: TextChanges, *, is_source: bool, has_colours: bool) -> Iterator[str]:
    parts = list(found.parts)
    while parts:
        part = parts.pop(0)
        if part.left_out:
            yield f"... {counted(part.left_out, 'line')} ..."
        follows = parts[0].kind if parts else ""
        if not is_source and part.kind == "removed" and follows == "added":
            yield from _changed_lines(part, parts.pop(0), has_colours=has_colours)
        elif is_source:
            for line in part.lines:
                yield _marked([ChangedWords(part.kind, _SIGNS[part.kind] + line)], has_colours, {})
        else:
            for line in part.lines:
                yield _marked([ChangedWords(part.kind, line)], has_colours, _MARKS)


def _changed_lines(removed: Change, added: Change, *, has_colours: bool) -> Iterator[str]:
    for old, new in zip_longest(removed.lines, added.lines, fillvalue=""):
        pieces = [piece for piece in changed_words(old, new) if piece.text]
        yield _marked(pieces, has_colours, _MARKS)


def _marked(
    pieces: Sequence[ChangedWords], has_colours: bool, marks: dict[str, tuple[str, str]]
) -> str:
    words = []
    for kind, text in pieces:
        shown = "".join(char if char.isprintable() else " " for char in text)
        before, after = marks.get(kind, ("", ""))
        start, end = _COLOURS[kind] if has_colours else ("", "")
        words.append(f"{start}{before}{shown}{after}{end}")
    return " ".join(words)
