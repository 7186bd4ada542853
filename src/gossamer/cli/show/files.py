"""Print found files for people."""

from __future__ import annotations

from collections.abc import Iterator

from gossamer.base.plurals import counted
from gossamer.base.sizes import size_text
from gossamer.cli.show.printable import printable
from gossamer.reader.found_files import FoundFile


def file_lines(one: FoundFile) -> Iterator[str]:
    """Yield the URL, type and size, then words and linking pages, without control characters."""
    yield printable(one.url)
    size = "size unknown" if one.bytes is None else size_text(one.bytes)
    taken = "" if one.is_taken else ", not taken"
    title = f": {one.title}" if one.title else ""
    yield printable(f"  {one.type}, {size}{taken}{title}")
    if one.words:
        yield printable("  words: " + " | ".join(one.words))
    if one.pages:
        more = one.pages_total - 1
        rest = f" and {counted(more, 'other page')}" if more else ""
        yield printable(f"  linked from {one.pages[0]}{rest}")
