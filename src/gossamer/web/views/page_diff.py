"""The changes between two versions of a page, word by word, with noise marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from gossamer.compare.lines import Change, changes
from gossamer.errors import NotKnown
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.moments import moment_of
from gossamer.reader.page_diffs import PageDiff, noise_of
from gossamer.reader.pages import StoredCapture, StoredPage, nearest_capture, time_among
from gossamer.reader.versions import is_same, versions_of

_MOST_LINKS: Final = 100  # that are listed


def diff_object(
    reader: CollectionReader, url: str, old: str, new: str, *, with_noise: bool = False
) -> dict[str, Any]:
    """Return the changes between two versions of a page.

    The default of `new` is the newest, that of `old` the last version before `new` that differs.
    Lines where only noise changed are left out, unless `with_noise`. Raises NotKnown, UsageError,
    CorruptFile.
    """
    captures = reader.captures(url)
    if len(captures) < 2:
        raise NotKnown(f"{url} has only one version; a comparison needs two")
    after = nearest_capture(captures, moment_of(new) if new else None)
    before = nearest_capture(captures, moment_of(old)) if old else _before(captures, after)
    known = reader.get(url).url
    pages = reader.page_at(known, before), reader.page_at(known, after)
    diff = PageDiff(pages[0].version, pages[1].version, noise_of(reader, known))
    return _facts(known, *pages) | {
        "words_added": diff.words_added,
        "words_removed": diff.words_removed,
        "noise": diff.noise_pieces,
        "links_added": list(diff.links_added[:_MOST_LINKS]),
        "links_removed": list(diff.links_removed[:_MOST_LINKS]),
        "is_cut": diff.is_cut,
        "lines": list(_lines(diff, with_noise=with_noise)),
        "old": time_among(before, captures),
        "new": time_among(after, captures),
        "same_bytes": before.digest == after.digest and bool(before.digest),
    }


def _before(captures: Sequence[StoredCapture], new: StoredCapture) -> StoredCapture:
    """The last version before that of `new` that differs from it; else the capture before it.

    `new` itself may be a later visit that found its version unchanged.
    """
    versions = [one.capture for one in versions_of(captures) if one.capture.at_us <= new.at_us]
    earlier = [one for one in versions[:-1] if not is_same(one, versions[-1])]
    return earlier[-1] if earlier else captures[max(0, captures.index(new) - 1)]


def _facts(url: str, one: StoredPage, other: StoredPage) -> dict[str, Any]:
    found = changes(one.page.text, other.page.text)
    facts = [
        {"name": name, "old": old, "new": new}
        for name, old, new in (
            ("status", one.status, other.status),
            ("type", one.content_type, other.content_type),
            ("title", one.page.title, other.page.title),
            ("language", one.page.language, other.page.language),
            ("description", one.page.description, other.page.description),
            ("canonical", one.page.canonical, other.page.canonical),
        )
        if old != new
    ]
    return {
        "schema": 1,
        "url": url,
        "facts": facts,
        "added": sum(len(part.lines) for part in found.parts if part.kind == "added"),
        "removed": sum(len(part.lines) for part in found.parts if part.kind == "removed"),
        "changes": [_change_object(part) for part in found.parts],
    }


def _change_object(part: Change) -> dict[str, Any]:
    return {"kind": part.kind, "lines": list(part.lines), "left_out": part.left_out}


def _lines(diff: PageDiff, *, with_noise: bool) -> Iterator[dict[str, Any]]:
    """Yield each line in pieces, with the number of unchanged lines that are left out before it."""
    left_out = 0
    for block in diff.blocks(with_noise=with_noise):
        left_out += block.left_out
        for line in block.lines:
            pieces = [
                {"kind": piece.kind, "text": piece.text, "noise": diff.is_noise(piece)}
                for piece in line
            ]
            yield {"is_same": block.is_same, "left_out": left_out, "pieces": pieces}
            left_out = 0
    if left_out:
        yield {"is_same": True, "left_out": left_out, "pieces": []}
