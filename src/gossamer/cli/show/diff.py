"""Compare two versions of a page: select them, and show the changes for people and for programs.

For text each changed line is shown with its words marked, `[-removed-]` and `{+added+}`, in colours
on a terminal; noise is left out, or shown in grey. For source whole lines are shown, as by `diff
-u`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gossamer.base.plurals import counted
from gossamer.cli.show.captures import capture_object
from gossamer.cli.show.colours import has_colours
from gossamer.compare.lines import TextChanges, changes
from gossamer.compare.text import Piece
from gossamer.errors import CorruptFile, NotKnown, UsageError
from gossamer.reader.change_text import amount_text
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.moments import moment_of
from gossamer.reader.page_diffs import PageDiff, noise_of
from gossamer.reader.pages import StoredCapture, StoredPage, nearest_capture, time_among
from gossamer.reader.versions import is_same, versions_of

_MARKS: Final = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}
_COLOURS: Final = {"same": "", "removed": "\x1b[31m", "added": "\x1b[32m", "noise": "\x1b[90m"}
_SIGNS: Final = {"same": " ", "removed": "-", "added": "+"}
_MOST_LINKS: Final = 20  # that are listed


@dataclass(frozen=True, slots=True)
class DiffRequest:
    """What was typed."""

    url: str
    a: str = ""
    b: str = ""
    is_source: bool = False
    with_noise: bool = False
    as_json: bool = False


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two captures with their pages."""

    url: str
    old: StoredCapture
    new: StoredCapture
    times: tuple[str, str]
    pages: tuple[StoredPage, StoredPage]
    diff: PageDiff
    lines: TextChanges

    @property
    def is_same(self) -> bool:
        return is_same(self.old, self.new)


def run_diff(path: Path, request: DiffRequest) -> int:
    """Show the changes. Raises NoCollection, NotKnown if there are not two versions, UsageError
    for a version that is neither a number nor a time."""
    found = _read(path, request)
    if request.as_json:
        print(json.dumps(_object(found), ensure_ascii=False))
        return 0
    print(f"gossamer: {found.url}: {found.times[0]} and {found.times[1]}", file=sys.stderr)
    for note in _notes(found, request):
        print(f"gossamer: {note}", file=sys.stderr)
    is_coloured = has_colours(sys.stdout)
    lines = _source_lines(found.lines, is_coloured=is_coloured)
    if not request.is_source:
        lines = _text_lines(found.diff, with_noise=request.with_noise, is_coloured=is_coloured)
    for line in lines:
        print(line)
    return 0


def _read(path: Path, request: DiffRequest) -> _Compared:
    with CollectionReader.open(path) as reader:
        known = reader.get(request.url).url
        captures = reader.captures(known)
        old, new = chosen(known, captures, request.a, request.b)
        times = time_among(old, captures), time_among(new, captures)
        pages = _page(reader, known, old), _page(reader, known, new)
        noise = noise_of(reader, known)
    shown = [page.html if request.is_source else page.text for page in pages]
    diff = PageDiff(pages[0].version, pages[1].version, noise)
    return _Compared(known, old, new, times, pages, diff, changes(*shown))


def _page(reader: CollectionReader, url: str, capture: StoredCapture) -> StoredPage:
    try:
        return reader.page_at(url, capture)
    except CorruptFile as error:
        if (reader.paths.archive / capture.file).exists():
            raise
        raise NotKnown(f"the version of {url} at {capture.at} is not in the archive") from error


def chosen(
    url: str, captures: Sequence[StoredCapture], a: str, b: str
) -> tuple[StoredCapture, StoredCapture]:
    """Return the two selected captures; by default those of the last two versions, the older
    first."""
    versions = [one.capture for one in versions_of(captures)]
    if not captures or (len(versions) < 2 and not (a and b)):
        raise NotKnown(f"{url} has {_few(captures)}; see `gossamer versions`")
    new = _version(captures, versions, b) if b else versions[-1]
    if a:
        return _version(captures, versions, a), new
    earlier = [one for one in versions if one.at_us < new.at_us and not is_same(one, new)]
    return earlier[-1] if earlier else versions[0], new


def _few(captures: Sequence[StoredCapture]) -> str:
    if len(captures) < 2:
        count = "no capture" if not captures else "one capture"
        return f"{count}, but a comparison needs two"
    visits = counted(len(captures) - 1, "later visit")
    return f"one version: {visits} found no change"


def _version(
    captures: Sequence[StoredCapture], versions: Sequence[StoredCapture], text: str
) -> StoredCapture:
    """Return the version by number from 1, or the capture at or before a time; years have four
    digits."""
    if text.isdecimal() and len(text) < 4:
        if not 1 <= int(text) <= len(versions):
            raise UsageError(
                f"there is no version {text}; the URL has {counted(len(versions), 'version')}"
            )
        return versions[int(text) - 1]
    return nearest_capture(captures, moment_of(text))


# -- for people


def _notes(found: _Compared, request: DiffRequest) -> Iterator[str]:
    diff = found.diff
    if diff.status is not None:
        yield f"the status changed from {diff.status[0]} to {diff.status[1]}"
    if diff.title is not None:
        yield f"the title changed from {_line(diff.title[0])!r} to {_line(diff.title[1])!r}"
    words = amount_text(diff.words_added, diff.words_removed, "word")
    links = amount_text(len(diff.links_added), len(diff.links_removed), "link")
    if words or links:
        yield ", ".join(part for part in (words, links) if part)
    elif not found.lines.parts:
        yield _same_text(found)
    noise = diff.noise_pieces
    if noise and not request.with_noise and not request.is_source:
        yield f"noise is left out ({counted(noise, 'place')}); --all shows it"
    if diff.is_cut or found.lines.is_cut:
        yield "the texts are long; only the first lines that differ were compared"
    for sign, hrefs in (("+", diff.links_added), ("-", diff.links_removed)):
        for href in hrefs[:_MOST_LINKS]:
            yield f"link {sign} {_line(href)}"
        if len(hrefs) > _MOST_LINKS:
            yield f"link {sign} and {len(hrefs) - _MOST_LINKS} more"


def _same_text(found: _Compared) -> str:
    if found.is_same:
        return "nothing changed"
    has_text = any(page.text for page in found.pages)
    if has_text:
        return "the bytes changed, but not the text"
    return "the bytes changed; the page has no text to compare"


def _text_lines(diff: PageDiff, *, with_noise: bool, is_coloured: bool) -> Iterator[str]:
    for block in diff.blocks(with_noise=with_noise):
        if block.left_out:
            yield f"... {counted(block.left_out, 'line')} ..."
        for line in block.lines:
            yield " ".join(_shown(diff, piece, is_coloured=is_coloured) for piece in line)


def _shown(diff: PageDiff, piece: Piece, *, is_coloured: bool) -> str:
    before, after = _MARKS[piece.kind]
    text = f"{before}{_line(piece.text)}{after}"
    colour = _COLOURS["noise" if diff.is_noise(piece) else piece.kind]
    return f"{colour}{text}\x1b[0m" if is_coloured and colour else text


def _source_lines(found: TextChanges, *, is_coloured: bool) -> Iterator[str]:
    for part in found.parts:
        if part.left_out:
            yield f"... {counted(part.left_out, 'line')} ..."
        for line in part.lines:
            text = _line(_SIGNS[part.kind] + line)
            colour = _COLOURS[part.kind]
            yield f"{colour}{text}\x1b[0m" if is_coloured and colour else text


def _line(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


# -- for programs


def _object(found: _Compared) -> dict[str, Any]:
    parts = [part for part in found.lines.parts if part.kind != "same"]
    return {
        "schema": 1,
        "url": found.url,
        "old": capture_object(found.old, found.times[0]),
        "new": capture_object(found.new, found.times[1]),
        "same": found.is_same,
        **found.diff.as_json(),
        "cut": found.lines.is_cut or found.diff.is_cut,
        "changes": [{"kind": part.kind, "lines": list(part.lines)} for part in parts],
    }
