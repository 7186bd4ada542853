"""Compare two texts word by word, and mark what the masks explain (`policies/masks.py`). Pure.

Lines that differ are paired by their likeness, and each pair is compared word by word. A changed
piece has a spot, which is known by the unchanged words next to it.

Bounds, for pages made to be slow: 4,000 lines and 20,000 words of each version are compared, after
equal lines at both ends. What is beyond that, and what differs in a line after its first 2,000
characters, counts as changed, and `is_cut` is set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import groupby, zip_longest
from typing import Final, NamedTuple

from gossamer.compare.lines import lines_of, rests_of, shown_same
from gossamer.compare.regions import Region, regions_of, similarity
from gossamer.compare.words import WordKind, word_regions
from gossamer.policies.masks import is_masked, mask
from gossamer.records import ChangedSpot

_CONTEXT_WORDS: Final = 3
_MOST_CONTEXT: Final = 8
_MOST_WORDS: Final = 20_000
_MOST_PAIRS: Final = 400  # pairs of lines that are compared to find the best order
_NEAR: Final = 0.3  # lines that share less are no pair
_LARGE: Final = 60  # words; a spot where more changed is never noise
_HASH_BYTES: Final = 6
# Thai, Chinese and Japanese have no spaces: each letter is compared like a word.
_LETTER: Final = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORDS: Final = re.compile(rf"[{_LETTER}]\s*|[^\s{_LETTER}]+\s*")


class DatedText(NamedTuple):
    """A text, and when its page was captured: the time of the visit is masked."""

    text: str
    at_us: int = 0


class Piece(NamedTuple):
    """Adjacent words with the same change. A changed piece has a spot, or a mask explains it."""

    kind: WordKind
    text: str
    spot: ChangedSpot | None = None

    @property
    def is_masked(self) -> bool:
        """Whether it differs by what masks explain, and by nothing else."""
        return self.kind != "same" and self.spot is None

    @property
    def words(self) -> int:
        """How many words changed here; 0 of what masks explain."""
        if self.spot is None:
            return 0
        return self.spot.removed if self.kind == "removed" else self.spot.added


class ComparedLines(NamedTuple):
    """Adjacent lines, each in pieces. Of unchanged lines `left_out` are omitted."""

    lines: tuple[tuple[Piece, ...], ...]
    is_same: bool
    left_out: int = 0


class TextComparison(NamedTuple):
    """All lines in order; `is_cut` if the texts were too long to compare completely."""

    blocks: tuple[ComparedLines, ...] = ()
    is_cut: bool = False

    def changed(self) -> Iterator[Piece]:
        """The pieces that are not the same, in order."""
        for block in self.blocks:
            for line in block.lines:
                yield from (piece for piece in line if piece.kind != "same")


class _Masked(NamedTuple):
    """The words of a line: as they are, with the space behind them, and masked."""

    words: Sequence[str]
    masked: Sequence[str]


class _Around(NamedTuple):
    """The words above and below a changed line that are unchanged."""

    above: Sequence[str]
    below: Sequence[str]


_EMPTY: Final = _Masked((), ())


def compare_texts(old: DatedText, new: DatedText) -> TextComparison:
    """Compare two texts. No blocks if every line is the same."""
    before, after = lines_of(old.text), lines_of(new.text)
    has_other_rests = rests_of(old.text) != rests_of(new.text)
    if before == after:
        return TextComparison(is_cut=has_other_rests)
    found = regions_of(before, after)
    blocks: list[ComparedLines] = []
    is_cut, room = found.is_cut or has_other_rests, _MOST_WORDS
    last = len(found.regions) - 1
    for number, region in enumerate(found.regions):
        if region.is_same:
            lines = before[region.old_start : region.old_end]
            for part in shown_same(lines, is_first=not number, is_last=number == last):
                whole = tuple((Piece("same", line),) for line in part.lines)
                blocks.append(ComparedLines(whole, True, part.left_out))
            continue
        one = [_masked(line, old.at_us) for line in before[region.old_start : region.old_end]]
        other = [_masked(line, new.at_us) for line in after[region.new_start : region.new_end]]
        room -= max(_count(one), _count(other))
        is_cut = is_cut or room < 0
        around = _around(region, before, after, new.at_us)
        blocks.append(ComparedLines(tuple(_changed_lines(one, other, around, room > 0)), False))
    return TextComparison(tuple(blocks), is_cut)


def spot_of(before: Sequence[str], after: Sequence[str], removed: int, added: int) -> ChangedSpot:
    """The spot between unchanged items. A side without any says nothing, unless both have none."""
    is_alone = not (before or after)
    return ChangedSpot(
        hash_of("before", *before) if before or is_alone else 0,
        hash_of("after", *after) if after else 0,
        removed,
        added,
        removed + added > _LARGE,
    )


def hash_of(*words: str) -> int:
    """The same number in every process and version: the state keeps it."""
    text = "\n".join(words).encode("utf-8", "replace")
    return int.from_bytes(blake2b(text, digest_size=_HASH_BYTES).digest(), "big")


def _masked(line: str, at_us: int) -> _Masked:
    words, masked = _WORDS.findall(line), _words(mask(line, at_us))
    return _Masked(words, masked if len(masked) == len(words) else _words(line))


def _words(line: str) -> list[str]:
    return [word.rstrip() for word in _WORDS.findall(line)]


def _count(lines: Sequence[_Masked]) -> int:
    return sum(len(line.words) for line in lines)


def _around(region: Region, before: list[str], after: list[str], at_us: int) -> _Around:
    above = before[region.old_start - 1] if region.old_start else ""
    below = after[region.new_end] if region.new_end < len(after) else ""
    return _Around(_last(_words(mask(above, at_us))), _first(_words(mask(below, at_us))))


def _last(words: Sequence[str]) -> Sequence[str]:
    """The words before a spot: three, or more until one of them is not masked. Masked words alone
    say nothing: they stand in many places of a page."""
    for count in range(_CONTEXT_WORDS, _MOST_CONTEXT + 1):
        found = words[-count:]
        if not all(map(is_masked, found)):
            return found
    return []


def _first(words: Sequence[str]) -> Sequence[str]:
    """The words after a spot, in the same way."""
    return _last(words[::-1])[::-1]


def _changed_lines(
    one: Sequence[_Masked], other: Sequence[_Masked], around: _Around, has_room: bool
) -> Iterator[tuple[Piece, ...]]:
    pairs = list(_pairs(one, other)) if has_room else [*zip_longest(one, other, fillvalue=_EMPTY)]
    for number, (old, new) in enumerate(pairs):
        # A changed line below another one is known by its number, too.
        inner = _Around(
            [*around.above, *["¶"] * number] if around.above else [],
            [*around.below, *["¶"] * (len(pairs) - 1 - number)] if around.below else [],
        )
        yield tuple(_pieces(old, new, inner, has_room))


def _pairs(one: Sequence[_Masked], other: Sequence[_Masked]) -> Iterator[tuple[_Masked, _Masked]]:
    """Pair lines in their order so that pairs are as alike as possible; then those between them."""
    if not one or not other or len(one) * len(other) > _MOST_PAIRS:
        yield from zip_longest(one, other, fillvalue=_EMPTY)
        return
    best = [[0.0] * (len(other) + 1) for _ in range(len(one) + 1)]
    like = [[similarity(a.masked, b.masked) for b in other] for a in one]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            together = like[i][j] + best[i + 1][j + 1] if like[i][j] >= _NEAR else -1.0
            best[i][j] = max(best[i + 1][j], best[i][j + 1], together)
    i = j = 0
    alone: tuple[list[_Masked], list[_Masked]] = ([], [])  # lines since the last pair
    while i < len(one) or j < len(other):
        if i < len(one) and j < len(other) and _is_pair(like, best, i, j):
            yield from zip_longest(*alone, fillvalue=_EMPTY)
            alone = ([], [])
            yield one[i], other[j]
            i, j = i + 1, j + 1
        elif i < len(one) and (j == len(other) or best[i][j] == best[i + 1][j]):
            alone[0].append(one[i])
            i += 1
        else:
            alone[1].append(other[j])
            j += 1
    yield from zip_longest(*alone, fillvalue=_EMPTY)


def _is_pair(like: list[list[float]], best: list[list[float]], i: int, j: int) -> bool:
    return like[i][j] >= _NEAR and best[i][j] == like[i][j] + best[i + 1][j + 1]


def _pieces(old: _Masked, new: _Masked, around: _Around, has_room: bool) -> Iterator[Piece]:
    regions = word_regions(old.masked, new.masked) if has_room else None
    if regions is None:
        regions = [Region(False, 0, len(old.words), 0, len(new.words))]
    for region in regions:
        if region.is_same:
            yield from _same_pieces(old, new, region)
        else:
            yield from _changed_pieces(old, new, region, around)


def _same_pieces(old: _Masked, new: _Masked, region: Region) -> Iterator[Piece]:
    """Words that are the same when masked: some differ as they are."""
    pairs = zip(
        old.words[region.old_start : region.old_end],
        new.words[region.new_start : region.new_end],
        strict=True,
    )
    for is_same, group in groupby(pairs, key=lambda pair: pair[0].rstrip() == pair[1].rstrip()):
        removed, added = zip(*group, strict=True)
        if is_same:
            yield Piece("same", _joined(removed))
        else:
            yield Piece("removed", _joined(removed))
            yield Piece("added", _joined(added))


def _joined(words: Sequence[str]) -> str:
    return "".join(words).rstrip()


def _changed_pieces(old: _Masked, new: _Masked, region: Region, around: _Around) -> Iterator[Piece]:
    removed = old.masked[region.old_start : region.old_end]
    added = new.masked[region.new_start : region.new_end]
    spot = None
    if not all(map(is_masked, (*removed, *added))):
        before = _last(old.masked[: region.old_start]) or around.above
        after = _first(old.masked[region.old_end :]) or around.below
        spot = spot_of(before, after, len(removed), len(added))
    if removed:
        yield Piece("removed", _joined(old.words[region.old_start : region.old_end]), spot)
    if added:
        yield Piece("added", _joined(new.words[region.new_start : region.new_end]), spot)
