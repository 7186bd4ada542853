"""Which changes of a page count, and which are noise that changes at every visit?

Noise is learned by spot (`records.ChangedSpot`), for all pages of a template together. Of each
spot a few pages are watched, those that showed a change there first: how often each was visited
since, and how often its words changed there. A spot is noise when

    it changed twice or more often in one page, and
    it changed at 70 % or more of the visits of the watched pages.

So an advertisement that rotates counts at the first two visits, and no more. An edit of a whole
site (a new address in every footer) counts on every page: no page shows it twice. A price that
changes now and then counts each time. What `policies/masks.py` masks is no spot at all.

Two facts always count: a status that differs, and a spot where many words changed. Pure: the state
keeps a `TemplateNoise` for each template, at most `MOST_SPOTS` * 40 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from gossamer.base.packing import pack, unpacker
from gossamer.records import ChangedSpot, PageChange

MOST_SPOTS: Final = 64  # of one template; the one with the fewest changes is dropped
_SHARE: Final = 0.7
_PAGE_BYTES: Final = 4
_MOST_PAGES: Final = 8
_MOST_VISITS: Final = 64  # then all numbers are halved: what was long ago counts less


class SpotNoise(Struct, array_like=True):
    """What is known of one side of a spot."""

    spot: int
    changes: int = 0
    visits: int = 0  # of the watched pages, since each showed its first change
    repeats: int = 0  # changes after the first of a page
    pages: bytes = b""  # the watched ones, 4 bytes of the key of each

    @property
    def is_noise(self) -> bool:
        return self.repeats > 0 and self.changes >= _SHARE * self.visits

    def has(self, page: bytes) -> bool:
        return page in self._watched()

    def note_change(self, page: bytes) -> None:
        """The page changed at this spot."""
        if self.has(page):
            self.repeats += 1
        elif len(self.pages) < _MOST_PAGES * _PAGE_BYTES:
            self.pages += page
        else:
            return
        self.changes += 1
        self.visits += 1
        self._halve()

    def note_rest(self) -> None:
        """A watched page was visited and is the same here."""
        self.visits += 1
        self._halve()

    def _watched(self) -> Iterator[bytes]:
        return (self.pages[at : at + _PAGE_BYTES] for at in range(0, len(self.pages), _PAGE_BYTES))

    def _halve(self) -> None:
        if self.visits > _MOST_VISITS:
            self.visits, self.changes = self.visits // 2, self.changes // 2
            self.repeats = (self.repeats + 1) // 2


class TemplateNoise(Struct, array_like=True):
    """What is known of all spots of one template, in the order in which they were first seen."""

    spots: list[SpotNoise] = []  # msgspec copies it for each value

    def encode(self) -> bytes:
        return pack(self)

    @classmethod
    def decode(cls, row: bytes | None) -> TemplateNoise:
        """Raises ValueError when these are no bytes of `encode`; nothing is known for None."""
        return _unpack(row) if row else cls()

    def is_noise(self, spot: ChangedSpot) -> bool:
        """Whether the spot changes at every visit, by what is on either side of it."""
        if spot.is_large:
            return False
        return any(one.is_noise for one in self.spots if one.spot in (spot.before, spot.after))

    def visited(self, key: bytes, change: PageChange | None) -> bool:
        """Learn from a visit of a page; without a change the page was the same. Whether anything
        was learned."""
        page = key[-_PAGE_BYTES:]
        changed = {
            side: None
            for spot in (change.spots if change is not None else ())
            if not spot.is_large
            for side in (spot.before, spot.after)
        }
        known = {one.spot for one in self.spots}
        learned = bool(changed)
        for one in self.spots:
            if one.spot in changed:
                one.note_change(page)
            elif one.has(page):
                one.note_rest()
                learned = True
        self.spots += [SpotNoise(side, 1, 1, 0, page) for side in changed if side not in known]
        self._drop()
        return learned

    def _drop(self) -> None:
        while len(self.spots) > MOST_SPOTS:
            fewest = min(self.spots, key=lambda one: (one.repeats, one.changes))
            self.spots.remove(fewest)


_unpack: Final = unpacker(TemplateNoise)


class RealChange(NamedTuple):
    """What is left of a change without its noise."""

    counts: bool
    words_added: int
    words_removed: int


def without_noise(change: PageChange | None, noise: TemplateNoise) -> RealChange:
    """Whether a change of a page counts, and its words without those of noise.

    A page whose versions could not be compared counts as changed. If nothing but noise changed,
    the words are those of the noise.
    """
    if change is None:
        return RealChange(True, 0, 0)
    noisy = [spot for spot in change.spots if noise.is_noise(spot)]
    if len(noisy) == len(change.spots) and not change.is_cut:
        return RealChange(False, change.words_added, change.words_removed)
    added = change.words_added - sum(spot.added for spot in noisy)
    removed = change.words_removed - sum(spot.removed for spot in noisy)
    return RealChange(True, max(0, added), max(0, removed))
