"""Summarise a collection: one line in a terminal, a small table in a notebook."""

from __future__ import annotations

from typing import Final

from gossamer.base.notebook import escaped, facts_table, link_to
from gossamer.base.plurals import counted
from gossamer.reader.collection_reader import CollectionReader

_SUMS: Final = ("fetched", "queued", "failed", "refused", "known", "links", "indexed")


def line_of(reader: CollectionReader, *, is_closed: bool) -> str:
    """Return its folder, pages, URLs and links."""
    name = repr(str(reader.paths.path))
    if is_closed:
        return f"<Collection {name}: closed>"
    counts = reader.counts()
    told = f"{counted(counts.fetched, 'page')} fetched, {counted(counts.known, 'URL')} known"
    return f"<Collection {name}: {told}, {counted(counts.links, 'link')}>"


def html_of(reader: CollectionReader, *, is_closed: bool) -> str:
    """Return its folder, seeds and counts."""
    if is_closed:
        return f"<p>{escaped(line_of(reader, is_closed=True))}</p>"
    counts, seeds = reader.counts(), reader.seeds()
    more = f" and {len(seeds) - 3} more" if len(seeds) > 3 else ""
    facts = [
        ("folder", escaped(reader.paths.path)),
        ("seeds", ", ".join(link_to(seed) for seed in seeds[:3]) + more),
        *((name, f"{getattr(counts, name):,}") for name in _SUMS),
    ]
    return facts_table("Collection", facts)
