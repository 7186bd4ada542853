"""How two versions of a page differ, for people and programs.

The comparison is that of the crawl (`compare/versions.py`). Noise is marked: what masks explain,
and what is known to change at every visit of the page's template.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gossamer.base.plurals import counted
from gossamer.compare.text import ComparedLines, Piece
from gossamer.compare.versions import PageVersion, VersionComparison, compare_versions
from gossamer.errors import NotKnown
from gossamer.frontier.store import StateTable
from gossamer.frontier.visits.changes import noise_key
from gossamer.policies.noise import TemplateNoise
from gossamer.reader.collection_reader import CollectionReader
from gossamer.reader.pages import StoredPage
from gossamer.reader.versions import versions_of

_MARKS = {"same": ("", ""), "removed": ("[-", "-]"), "added": ("{+", "+}")}


@dataclass(frozen=True)
class PageDiff:
    """What changed from `old` to `new`. `noise` is what is known of the template."""

    old: PageVersion
    new: PageVersion
    noise: TemplateNoise = field(default_factory=TemplateNoise)

    @cached_property
    def compared(self) -> VersionComparison:
        return compare_versions(self.old, self.new)

    @property
    def words_added(self) -> int:
        return self._words("added")

    @property
    def words_removed(self) -> int:
        return self._words("removed")

    def _words(self, kind: str) -> int:
        pieces = self.compared.text.changed()
        return sum(one.words for one in pieces if one.kind == kind and not self.is_noise(one))

    @property
    def links_added(self) -> tuple[str, ...]:
        """Links of the new version alone, as they stand in the page."""
        return self.compared.links.added

    @property
    def links_removed(self) -> tuple[str, ...]:
        return self.compared.links.removed

    @property
    def title(self) -> tuple[str, str] | None:
        """The titles of both, if they differ by more than noise."""
        return self.compared.title if self.compared.title_spot is not None else None

    @property
    def status(self) -> tuple[int, int] | None:
        """The status codes of both, if they differ."""
        before, after = self.compared.status
        return (before, after) if before != after else None

    @property
    def is_cut(self) -> bool:
        """Whether the versions were too long to compare completely."""
        return self.compared.text.is_cut or self.compared.links.is_cut

    @property
    def noise_pieces(self) -> int:
        """The number of places in the text where only noise changed."""
        return sum(1 for piece in self.compared.text.changed() if self.is_noise(piece))

    def is_noise(self, piece: Piece) -> bool:
        """Whether a changed piece is noise, by a mask or by what was learned."""
        if piece.kind == "same":
            return False
        return piece.spot is None or self.noise.is_noise(piece.spot)

    def blocks(self, *, with_noise: bool = False) -> Iterator[ComparedLines]:
        """The text in order. Lines where only noise changed count as unchanged, unless
        `with_noise`."""
        for block in self.compared.text.blocks:
            if block.is_same or with_noise:
                yield block
                continue
            real = tuple(line for line in block.lines if not self._is_quiet(line))
            if left_out := len(block.lines) - len(real):
                yield ComparedLines((), True, left_out)
            if real:
                yield ComparedLines(tuple(self._without_noise(line) for line in real), False)

    def _is_quiet(self, line: tuple[Piece, ...]) -> bool:
        return all(piece.kind == "same" or self.is_noise(piece) for piece in line)

    def _without_noise(self, line: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """A changed line, with noise as the new version has it."""
        kept = (one for one in line if not (self.is_noise(one) and one.kind == "removed"))
        return tuple(Piece("same", one.text) if self.is_noise(one) else one for one in kept)

    def as_json(self) -> dict[str, Any]:
        """The facts for programs."""
        return {
            "words_added": self.words_added,
            "words_removed": self.words_removed,
            "links_added": list(self.links_added),
            "links_removed": list(self.links_removed),
            "title": list(self.title) if self.title else None,
            "status": list(self.status) if self.status else None,
            "noise": self.noise_pieces,
            "cut": self.is_cut,
        }

    def __str__(self) -> str:
        """The changed lines with their words marked: `[-removed-]` and `{+added+}`."""
        lines = []
        for block in self.blocks():
            if block.left_out:
                lines.append(f"... {counted(block.left_out, 'line')} ...")
            for line in block.lines:
                marked = (f"{_MARKS[kind][0]}{text}{_MARKS[kind][1]}" for kind, text, _ in line)
                lines.append(" ".join(marked))
        return "\n".join(lines)

    def __repr__(self) -> str:
        words = f"+{self.words_added} -{self.words_removed} words"
        links = f"+{len(self.links_added)} -{len(self.links_removed)} links"
        return f"<PageDiff of {self.new.page.base}: {words}, {links}>"


def diff_pages(
    reader: CollectionReader, new: StoredPage, old: StoredPage | str | None = None
) -> PageDiff:
    """Compare a page with an older one: that of a time, or by default the version before it.

    Raises NotKnown or UsageError.
    """
    if old is None:
        versions = versions_of([one for one in new.versions if one.at_us <= new.at_us])
        if len(versions) < 2:
            raise NotKnown(f"{new.url} has no older version; see `gossamer versions`")
        old = reader.page_at(new.url, versions[-2].capture)
    elif isinstance(old, str):
        old = reader.page(new.url, old)
    return PageDiff(old.version, new.version, noise_of(reader, new.url))


def noise_of(reader: CollectionReader, url: str) -> TemplateNoise:
    """What is known to change at every visit of pages like this one."""
    row = reader.get(url)
    key = noise_key(reader.keys.of(row.url), row.template)
    return TemplateNoise.decode(reader.store.find(StateTable.META, key))
